"""A service whose store is a PostgreSQL database: as with a file, and its password is nowhere to be seen."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.testing import Site
from tests import databases, stores
from tests.service.serving import SCRAPER, Served

pytestmark = pytest.mark.timeout(300)
PAGES = 60


@pytest.fixture
def store() -> str:
    """An empty database, of somebody who needs a password."""
    server = databases.postgres()
    name = server.fresh().rpartition("/")[2]
    server.sql(f"alter database {name} owner to {databases.ROLE}; grant all on schema public to {databases.ROLE}", name)
    return server.url(name, password=True)


@pytest.fixture
def folder(tmp_path: Path, site: Site) -> Path:
    for n in range(PAGES):
        link = f'<a href="/{n + 1}">next</a>' if n < PAGES - 1 else ""
        site.page(f"/{n}" if n else "/", f'<p class="quote" data-n="{n}">said {n}</p>{link}')
    (tmp_path / "quotes.py").write_text(SCRAPER.format(name="quotes", url=site.url("/"), rate="20/s", more=""))
    return tmp_path


@pytest.fixture
def served(folder: Path, store: str) -> Iterator[Served]:
    service = Served(folder, GOSSAMER_STORE=store)
    try:
        yield service
    finally:
        service.kill()


def start(served: Served) -> int:
    status, answer = served.call("POST", "/api/scrapers/start/", {"scraper_name": "quotes"})
    assert status == 202, answer
    run: int = answer["job_id"]
    return run


def gossamer(folder: Path, store: str, *args: str, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "gossamer", *args],
        cwd=folder,
        env={**os.environ, "GOSSAMER_STORE": store},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def runners(service: int) -> list[int]:
    """The processes that walk runs for a service."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == service and b"gossamer.runner" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except (OSError, ValueError):
            continue
    return found


def test_it_walks_runs_and_every_command_works_beside_it(served: Served, folder: Path, store: str) -> None:
    run = start(served)
    ended = served.wait_for(run)
    assert (ended["state"], ended["pages"], ended["items"]) == ("finished", PAGES, PAGES)
    shown = [
        gossamer(folder, store, "runs"),
        gossamer(folder, store, "status"),
        gossamer(folder, store, "logs", str(run)),
        gossamer(folder, store, "schedule", "list"),
        gossamer(folder, store, "token", "list"),
        gossamer(folder, store, "token", "create", "another"),
        gossamer(folder, store, "user", "list"),
        gossamer(folder, store, "audit", str(run)),
        gossamer(folder, store, "settings"),
        gossamer(folder, store, "archive"),
    ]
    items = gossamer(folder, store, "export", "items").splitlines()
    assert sorted(int(json.loads(item)["n"]) for item in items if item.startswith("{")) == list(range(PAGES))
    assert "run.end" in shown[2]
    assert served.stop() == 0
    everything = "".join([*shown, *items, served.said()])
    everything += "".join(path.read_text() for path in folder.rglob("*.log"))
    assert ":***@" in served.told
    for secret in (databases.PASSWORD, databases.QUOTED):
        assert secret not in everything
        assert secret.encode() not in stores.kept(store)


def test_no_password_stands_in_what_its_processes_were_started_with(served: Served) -> None:
    until = time.monotonic() + 30
    while not (found := runners(served.pid)):
        assert time.monotonic() < until
        time.sleep(0.05)
    for pid in (served.pid, *found):
        told = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
        assert databases.PASSWORD not in told
        assert databases.QUOTED not in told


def test_it_ends_in_good_order_and_goes_on_at_the_next_start(served: Served, store: str) -> None:
    run = start(served)
    served.wait_for(run, "running")
    assert served.stop() == 0
    assert stores.rows(store, "select state from run where id = :run", run=run) == [("pending",)]
    served.start()
    assert served.wait_for(run)["pages"] == PAGES


def test_a_runner_that_is_killed_is_started_again_and_nothing_is_lost(served: Served, site: Site) -> None:
    run = start(served)
    served.wait_for(run, "running")
    for pid in runners(served.pid):
        os.kill(pid, signal.SIGKILL)
    ended = served.wait_for(run, "finished", seconds=120)
    assert (ended["pages"], ended["items"]) == (PAGES, PAGES)


def test_a_second_service_is_a_spare_and_takes_over_from_one_that_is_killed(
    served: Served, folder: Path, store: str
) -> None:
    (folder / "beside").mkdir()
    (folder / "beside" / "quotes.py").write_text((folder / "quotes.py").read_text())
    spare = Served(folder / "beside", GOSSAMER_STORE=store)
    try:
        spare.token = served.token
        run = start(served)
        served.wait_for(run, "running")
        served.kill()  # its runner notices, settles, and leaves the rest
        ended = spare.wait_for(run, "finished", seconds=120)
        assert (ended["pages"], ended["items"]) == (PAGES, PAGES)
    finally:
        spare.kill()


def test_a_run_by_hand_is_walked_on_the_same_store(folder: Path, store: str, site: Site) -> None:
    told = gossamer(folder, store, "run", "quotes.py")
    assert databases.QUOTED not in told
    assert stores.rows(store, "select state, pages, items from run") == [("finished", PAGES, PAGES)]
    assert "run 1" in gossamer(folder, store, "why", site.url("/1"))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda url: url.replace(databases.QUOTED, "wrong"), "check the user and the password"),
        (lambda url: url.rpartition("/")[0] + "/nowhere", "createdb"),
        (lambda url: f"postgresql://me:hush@127.0.0.1:{databases.free_port()}/x", "start it, or check host and port"),
        (lambda url: "mysql://me:hush@127.0.0.1/x", "no store of kind 'mysql'"),
    ],
)
def test_what_cannot_be_opened_is_told_in_a_sentence(folder: Path, store: str, change: object, told: str) -> None:
    assert callable(change)
    for command in (("runs",), ("schedule", "list"), ("serve", "--listen", "127.0.0.1:0")):
        said = gossamer(folder, change(store), *command, code=2)
        assert told in said.replace("\n", " ")
        assert "hush" not in said
        assert databases.QUOTED not in said
