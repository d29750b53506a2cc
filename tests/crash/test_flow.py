"""kill -9 a flow at any moment: every file is whole, what was finished is not done again, and nothing stale stays."""

from __future__ import annotations

import hashlib
import json
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from gossamer.testing import Answer, Site
from tests.walk import asked

pytestmark = pytest.mark.crash

PAGES = 60
KILLS = 4
SCRIPT = """
    import asyncio, json, sys
    from gossamer.flow import execute, scrape, taskify

    @taskify
    async def parse(context, key, status):
        while (context.dir / "wait").exists():
            (context.dir / "waiting").touch()
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.005)
        text = (context.dir / f"{key}.scrape").read_text()
        return {"text": text, "content": status["scrape"]["content"]}

    @taskify
    async def publish(context, key, status):
        return {"said": status["parse"]["text"].upper()}

    tasks, force = json.loads(sys.argv[1])
    execute([scrape, parse, publish], "flow", tasks, force_executors=force, rate="none", max_parallelism=8, per_host=8)
    """


@pytest.fixture
def shop(site: Site) -> Site:
    """Pages that take a moment."""
    for n in range(PAGES):
        site.page(f"/{n}", f"<p>page {n}</p>", latency=0.02)
    return site


def start(tmp_path: Path, tasks: Any, force: list[str] | None = None) -> subprocess.Popen[bytes]:
    """A flow in a process of its own."""
    (tmp_path / "script.py").write_text(textwrap.dedent(SCRIPT))
    return subprocess.Popen([sys.executable, "script.py", json.dumps([tasks, force])], cwd=tmp_path)


def finish(tmp_path: Path, tasks: Any) -> None:
    """A flow that nobody kills."""
    with start(tmp_path, tasks) as running:
        assert running.wait(60) == 0


def left(tmp_path: Path) -> dict[str, dict[str, Any]]:
    """The status files, each of which must be whole; and so must be every body that one tells of."""
    found = {}
    for path in (tmp_path / "flow").glob("*.status.json"):
        status = found[path.name.removesuffix(".status.json")] = json.loads(path.read_bytes())
        if status.get("scrape_status") == "SUCCESS":
            body = path.with_name(f"{status['name']}.scrape").read_bytes()
            assert hashlib.md5(body).hexdigest() == status["scrape"]["content"]
    return found


def timeless(statuses: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What a flow leaves, without when."""
    return {
        key: {name: value for name, value in status.items() if not name.endswith("_last_run")}
        for key, status in statuses.items()
    }


def test_killed_again_and_again_it_ends_with_the_same_files(shop: Site, tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # shown if it fails
    draw = random.Random(seed)
    tasks = {f"t{n}": {"url": shop.url(f"/{n}")} for n in range(PAGES)}
    finished: dict[str, int] = {}
    for _ in range(KILLS):
        goal = len(shop.hits) + draw.randrange(1, PAGES // KILLS)
        with start(tmp_path, tasks) as running:
            while len(shop.hits) < goal and running.poll() is None:
                time.sleep(0.001)
            time.sleep(draw.random() * 0.02)
            running.kill()
        for key, status in left(tmp_path).items():
            if status.get("scrape_status") == "SUCCESS":
                finished.setdefault(key, len(asked(shop, f"/{key[1:]}")))
    finish(tmp_path, list(tasks))
    assert {key: len(asked(shop, f"/{key[1:]}")) for key in finished} == finished
    assert sum(len(asked(shop, f"/{n}")) - 1 for n in range(PAGES)) <= KILLS * 8
    quiet = tmp_path / "quiet"
    quiet.mkdir()
    finish(quiet, tasks)
    assert timeless(left(tmp_path)) == timeless(left(quiet))


def kill_in_parse(tmp_path: Path, tasks: Any, force: list[str] | None = None) -> None:
    """Kill a flow when the first executor has ended, and the second has begun."""
    folder = tmp_path / "flow"
    folder.mkdir(exist_ok=True)
    (folder / "wait").touch()
    with start(tmp_path, tasks, force) as running:
        while not (folder / "waiting").exists():
            time.sleep(0.005)
        running.kill()
        assert running.wait(30) == -signal.SIGKILL
    (folder / "wait").unlink()
    (folder / "waiting").unlink()


def test_killed_between_two_executors_it_goes_on_with_the_second(shop: Site, tmp_path: Path) -> None:
    kill_in_parse(tmp_path, {"a": {"url": shop.url("/1")}})
    status = left(tmp_path)["a"]
    assert status["scrape_status"] == "SUCCESS"
    assert "parse_status" not in status
    finish(tmp_path, ["a"])
    assert left(tmp_path)["a"]["publish"] == {"said": "<P>PAGE 1</P>"}
    assert len(asked(shop, "/1")) == 1


def test_killed_after_a_forced_executor_nothing_old_looks_new(shop: Site, tmp_path: Path) -> None:
    finish(tmp_path, {"a": {"url": shop.url("/1")}})
    shop.handler("/1", lambda hit: Answer(body="<p>new</p>"))
    kill_in_parse(tmp_path, ["a"], ["scrape"])
    status = left(tmp_path)["a"]
    assert (status["scrape_status"], status["parse_status"], status["publish_status"]) == ("SUCCESS", "STALE", "STALE")
    finish(tmp_path, ["a"])
    assert left(tmp_path)["a"]["publish"] == {"said": "<P>NEW</P>"}
    assert len(asked(shop, "/1")) == 2
