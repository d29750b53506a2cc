"""deploy/compose.yaml, brought up: what it starts works together, loses nothing, and can be backed up and restored."""

from __future__ import annotations

import base64
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.demo.sites import DemoSites
from tests.deploy.topology import PATIENCE, Container, Topology, can_contain, topology, understood
from tests.docs import reading

PAGE = reading.ROOT / "docs" / "deploy.md"
#: The demo scrapers, in a file as a user has one. A little slow, so that somebody can be killed meanwhile.
SCRAPERS = '''"""The demo scrapers, on sites of this test."""

from gossamer.demo import scrapers


class Books(scrapers.Books):
    name = "books"
    rate = "20/s"

    def start(self):
        return [{bookshop!r}]


class Weather(scrapers.Weather):
    name = "weather"

    def start(self):
        return [{weather!r} + "v1/stations?page=1"]
'''
#: What the sites have of each.
ITEMS = {"books": 96, "weather": 480}
_HOLDER = "select owner from lease where shard >= 0 and until > extract(epoch from now()) order by run_id limit 1"
#: What is collected: how much of it, and a digest of all.
_KEPT = "select count(*), md5(string_agg(data || coalesce(record::text, ''), '' order by data collate \"C\")) from item"
_HELD = "select count(*) from lease where until > extract(epoch from now())"


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Topology]:
    """Everything is up, and knows two scrapers."""
    with DemoSites() as sites:
        home = {"bookshop": sites.bookshop.url("/"), "weather": sites.weather.url("/")}
        files = {"demo_scrapers.py": SCRAPERS.format(**home), "gossamer.toml": 'lease = "10s"\n'}
        with topology(tmp_path, files) as made:
            made.up()
            yield made


def documented(name: str) -> str:
    """The commands that the page has for something."""
    [block] = [block for block in reading.blocks(PAGE) if block.told("topology") == name]
    return block.text


@pytest.mark.timeout(600)  # it starts a dozen processes, three times over
def test_what_the_compose_file_starts_works_together(up: Topology) -> None:
    told = up.containers["service"][0].run(["gossamer", "token", "create", "me", "--scope", "admin"])
    token = told.stdout.strip()
    runs = {name: start(up, name, token) for name in ITEMS}
    killed = kill_who_walks(up)
    started = up.start("worker", 3)  # `restart: always`, and --scale worker=3
    assert [each.name for each in started] == [killed.name, "worker-3"]
    for name, run in runs.items():
        assert finished(up, run, token)["items"] == ITEMS[name], name
    for each in started:
        each.wait_until_well()

    # A back-up is taken while a run goes on, which goes on from there.
    under_way = start(up, "books", token)
    kept = up.database.sql(_KEPT, "gossamer")
    up.documented(documented("back-up"))
    up.documented(documented("restore"))
    assert finished(up, under_way, token)["items"] == ITEMS["books"]
    assert up.database.sql(_KEPT, "gossamer") == kept, "the second time it found what was there"
    audited = up.containers["service"][0].run(["gossamer", "audit"])
    assert audited.returncode == 0, audited.stdout + audited.stderr

    nobody_can_read_a_password(up)
    up.stop("service", "worker")
    assert up.database.sql(_HELD, "gossamer") == "0", "who stops in good order gives back what it held"
    found = sorted(path.name for path in up.scrapers.iterdir())
    assert found == ["demo_scrapers.py", "gossamer.toml"], "nothing is written beside volumes"


@pytest.mark.timeout(180)
def test_flower_answers_who_has_its_login(tmp_path: Path) -> None:
    with topology(tmp_path, {}) as made:
        made.start("postgres")
        made.start("redis")
        [flower] = made.start("flower")
        flower.wait_until_well()
        home = f"http://127.0.0.1:{made.ports['flower']}/workers"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(home, timeout=30)
        login = base64.b64encode(made.secret("flower_login").encode()).decode()
        asked = urllib.request.Request(home, headers={"Authorization": f"Basic {login}"})
        with urllib.request.urlopen(asked, timeout=30) as answer:
            assert answer.status == 200
        assert not any(password in flower.said() + flower.command_lines() for password in made.passwords)
        flower.stop()


@pytest.mark.parametrize("name", ["back-up", "restore", "upgrade"])
def test_every_line_of_a_procedure_is_one_that_was_tried(name: str) -> None:
    for line in documented(name).strip().splitlines():
        assert understood(line), line


def start(up: Topology, scraper: str, token: str) -> int:
    """Start a run through the API; returns its number."""
    answer = up.call("POST", "/api/runs", {"scraper": scraper}, token=token)
    return int(answer["run"])


def finished(up: Topology, run: int, token: str) -> dict[str, object]:
    """Wait until a run is through."""
    until = time.monotonic() + 2 * PATIENCE
    while True:
        found: dict[str, object] = up.call("GET", f"/api/runs/{run}", token=token)
        if found["state"] == "finished":
            return found
        said = "\n".join(f"== {each.name}\n{each.said()}" for each in up.everybody())
        assert time.monotonic() < until, f"run {run} is {found['state']} with {found['items']} items\n{said}"
        time.sleep(0.2)


def kill_who_walks(up: Topology) -> Container:
    """Wait until a worker holds a shard, and kill it."""
    until = time.monotonic() + PATIENCE
    while not (owner := up.database.sql(_HOLDER, "gossamer")):
        assert time.monotonic() < until, "no worker took anything"
        time.sleep(0.05)
    workers = up.containers["worker"]
    walks = next(each for each in workers if owner.startswith(f"{each.name}:")) if can_contain() else workers[0]
    walks.kill()
    return walks


def nobody_can_read_a_password(up: Topology) -> None:
    """It stands in no log, no file of ours, and no list of processes."""
    shown = {str(each.log): each.log.read_text("utf-8", "replace") for each in up.everybody()}
    shown |= {f"the command line of {each.name}": each.command_lines() for each in up.everybody()}
    written = [path for path in up.data.rglob("*") if path.is_file()]
    shown |= {str(path): path.read_text("utf-8", "replace") for path in written}
    assert any("logs" in path.parts for path in written), "the service writes its logs to the volume"
    for where, text in shown.items():
        for password in up.passwords:
            assert password not in text, f"a password stands in {where}"
