"""`gossamer doctor`: what is wrong with a machine, its settings, its store, its hosts and its scrapers."""

from __future__ import annotations

import asyncio
import io
import json
import os
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from gossamer import Scraper, cli_doctor, run, settings
from gossamer.demo.packs import PackSites
from gossamer.doctor import (
    browser,
    configured,
    database,
    examine,
    finding,
    machine,
    network,
    parent,
    program,
    store,
    trials,
)
from gossamer.doctor.finding import Finding, State
from gossamer.doctor.jobs import Known, Trial, Wanted
from gossamer.doctor.program import Requirement
from gossamer.fetch import browser as fetching
from gossamer.library import wait
from gossamer.storage import filelock
from gossamer.storage.migrations.upgrade import HEAD
from gossamer.testing import Answer, Site
from tests import databases
from tests.cli import interrupt, sentence, start, typed
from tests.servers import HttpProxy, TlsFront, dead_port

SECRET = "s3cret-hush"

SCRAPERS = """
import os
from gossamer import Scraper

class Good(Scraper):
    rate = "none"
    start_urls = ["{url}", "{url}second"]

    def parse(self, page):
        yield {{"title": page.title, "missing": None}}
        yield from page.follow("a")

class Wall(Good):
    start_urls = ["{url}wall"]

class Gone(Good):
    start_urls = ["{url}gone"]

class Forbidden(Good):
    start_urls = ["{url}private/"]

class Empty(Good):
    start_urls = ["{url}", "{url}second", "{url}third", "{url}fourth"]

    def parse(self, page):
        return None

class Late(Good):
    def parse(self, page):
        if page.url.endswith("second"):
            yield {{"title": page.title}}

class Raises(Good):
    def parse(self, page):
        raise ValueError("not what I thought\\x1b[31m")

class Needs(Good):
    def start(self):
        yield "{url}" + self.params["page"]

class Prints(Good):
    def parse(self, page):
        print("{{}}", flush=True)
        os.write(1, b'{{"index": 0}}\\n')
        yield {{"title": "x"}}

class Asleep(Good):
    paused = "it should sleep"
"""
#: What ends or stops the process that it runs in.
HOSTILE = """
import os, time
from gossamer import Scraper

class Exits(Scraper):
    start_urls = ["{url}"]
    rate = "none"

    def parse(self, page):
        os._exit(7)

class Good(Exits):
    def parse(self, page):
        yield {{"title": page.title}}
"""


@pytest.fixture
def place(site: Site, tmp_path: Path) -> Site:
    """A site with every kind of page, and scrapers for it."""
    site.robots("User-agent: *\nDisallow: /private/\n")
    for path in ("/", "/second", "/third", "/fourth"):
        site.page(path, f"<title>{path}</title><a href='/a'>a</a>")
    site.wall("/wall")
    (tmp_path / "some.py").write_text(SCRAPERS.format(url=site.url("/")))
    (tmp_path / "hostile.py").write_text(HOSTILE.format(url=site.url("/")))
    return site


@pytest.fixture
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser takes seconds to start, and has a test of its own."""

    async def look(*, wanted: bool) -> Finding:
        return Finding("browser", "chromium", State.OK, "not looked at")

    monkeypatch.setattr(browser, "look", look)


def _by_name(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in found}


def _doctor(*args: object, code: int = 0) -> Any:
    done = typed("doctor", *args, "--json")
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert SECRET not in done.stdout + done.stderr
    return json.loads(done.stdout)


# --- the command ---


def test_all_is_well_in_an_empty_folder(no_browser: None) -> None:
    found = _doctor("--offline")
    assert found["ok"] is True
    assert {each["area"] for each in found["checks"]} >= {"program", "settings", "scrapers", "store", "machine"}
    for each in found["checks"]:
        assert set(each) == {"area", "name", "state", "text", "fix"}
        assert bool(each["fix"]) == (each["state"] != "ok"), each
    assert not list(Path().iterdir()), "it left something behind"


def test_the_table_has_a_line_for_each_thing_and_a_fix_for_what_is_wrong(no_browser: None) -> None:
    Path("gossamer.toml").write_text("raet = '2/s'\n")
    done = typed("doctor", "--offline")
    assert done.returncode == 1
    assert "did you mean 'rate'?" in done.stdout
    assert "fix: mend it" in done.stdout
    assert "1 problem" in done.stderr
    # Settings that cannot be read are no reason not to look at the rest.
    assert "open files" in done.stdout


def test_names_and_demo_are_for_scrapers() -> None:
    for args in (["art"], ["--demo"], ["--param", "a=b"]):
        assert "--scrapers" in sentence(typed("doctor", *args), 2)


def test_a_look_that_fails_is_told_of_and_the_others_go_on(no_browser: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Iterator[Finding]:
        raise RuntimeError("nobody foresaw this")

    monkeypatch.setattr(machine, "look", broken)
    found = _doctor("--offline", code=1)
    assert "nobody foresaw this" in _by_name(found["checks"])["machine"]["text"]
    assert "python" in _by_name(found["checks"])


def test_it_works_as_a_process_of_its_own(gossamer: Any) -> None:
    done = gossamer("doctor", "--help")
    assert "--scrapers" in done.stdout
    assert "gossamer doctor --offline" in done.stdout


# --- the program ---


@pytest.mark.parametrize(
    ("version", "wanted", "fine"),
    [
        ("3.11.7", ">=3.11", True),
        ("3.10.9", ">=3.11", False),
        ("4.0", ">=4.0,<5", True),
        ("5.0.1", ">=4.0,<5", False),
        ("1.9", ">=1.60", False),
        ("2.0.0", "==2", True),
        ("2.0.1", "!=2.0.*", False),
        ("2.3", "~=2.1", True),
        ("3.0", "~=2.1", False),
        ("2.0rc1", ">=2", True),
        ("unknown", ">=2", True),
        ("1", "", True),
    ],
)
def test_versions_are_held_against_what_is_wanted(version: str, wanted: str, fine: bool) -> None:
    assert program.fits(version, wanted) is fine


def test_requirements_are_read_with_their_extra_and_their_system() -> None:
    assert program.requirement("uvloop>=0.22; sys_platform != 'nowhere'") == Requirement("uvloop", ">=0.22")
    assert program.requirement("uvloop>=0.22; sys_platform == 'nowhere'") is None
    assert program.requirement("moto[server]>=5; extra == 'x'") == Requirement("moto", ">=5", "x")
    names = {each.name for each in program.requirements() if not each.extra}
    assert {"wreq", "selectolax", "msgspec"} <= names
    assert {each.extra for each in program.requirements() if each.extra} == set(program.EXTRAS)


def test_an_old_python_is_a_problem() -> None:
    assert program.python((3, 10, 1), ">=3.11").state is State.PROBLEM
    assert program.python(sys.version_info[:3]).state is State.OK


def test_dependencies_that_lack_are_a_problem() -> None:
    missing = program.dependencies([Requirement("no-such-thing", ">=1")])
    assert missing.state is State.PROBLEM
    assert "no-such-thing is not installed" in missing.text
    old = program.dependencies([Requirement("msgspec", ">=999")])
    assert "999 is wanted" in old.text
    assert program.dependencies([Requirement("msgspec", ">=0.1")]).state is State.OK


def test_an_extra_that_nobody_has_is_no_problem_and_one_in_pieces_is_warned_of() -> None:
    whole = program.extra("images", [Requirement("pillow", ">=1", "images")])
    assert whole.state is State.OK
    none = program.extra("images", [Requirement("no-such-thing", ">=1", "images")])
    assert none.state is State.ABSENT
    assert "pip install 'gossamer[images]'" in none.fix
    half = program.extra("images", [Requirement("no-such-thing", ""), Requirement("pillow", "")])
    assert half.state is State.WARNING


# --- the machine ---


def test_too_few_open_files_are_a_problem_with_a_fix_that_helps() -> None:
    assert machine.open_files(64, 1024, 4096).state is State.OK
    assert machine.open_files(64, resource.RLIM_INFINITY, resource.RLIM_INFINITY).state is State.OK
    low = machine.open_files(1000, 1024, 4096)
    assert low.state is State.PROBLEM
    assert "ulimit -n 2096" in low.fix
    hard = machine.open_files(5000, 1024, 4096)
    assert "concurrency = 2000" in hard.fix


def test_little_memory_is_warned_of() -> None:
    assert machine.memory(8 << 30, render=True).state is State.OK
    assert machine.memory(500 << 20, render=True).state is State.WARNING
    assert machine.memory(100 << 20, render=False).state is State.WARNING
    assert machine.memory(None, render=False).state is State.OK


def test_a_clock_that_cannot_be_right_is_a_problem() -> None:
    now = 1_800_000_000.0
    assert machine.clock(now, now - 5, None).state is State.OK
    assert machine.clock(now, now + 86400, None).state is State.PROBLEM
    behind = machine.clock(now, now - 86400, now + 3600)
    assert behind.state is State.PROBLEM
    assert "1.0 h before the newest row" in behind.text
    assert machine.clock(now + 40 * 365 * 86400, now, None).state is State.WARNING


def test_a_clock_that_was_set_meanwhile_is_warned_of() -> None:
    assert machine.steady((100.0, 5.0), (102.0, 7.0)).state is State.OK
    assert machine.steady((100.0, 5.0), (202.0, 7.0)).state is State.WARNING


def test_the_clock_is_held_against_that_of_a_host() -> None:
    now = time.time()
    ok, late, far = (machine.against("a.org", formatdate(now + off, usegmt=True), now) for off in (0, 60, 86400))
    assert ok is not None
    assert ok.state is State.OK
    assert late is not None
    assert late.state is State.WARNING
    assert far is not None
    assert far.state is State.PROBLEM
    assert machine.against("a.org", "yesterday, about noon", now) is None


def test_time_zones_and_certificates_are_there() -> None:
    assert machine.time_zones().state is State.OK
    assert machine.certificates().state is State.OK


# --- the store ---


class Pages(Scraper):
    """Fills a store."""

    rate = "none"

    def start(self) -> list[str]:
        return [self.params["site"]]

    def parse(self, page: Any) -> Any:
        yield {"title": page.title, "text": "x" * 50_000}


@pytest.fixture
def filled(place: Site, store: str) -> Path:
    """A store that a run filled."""
    run(Pages, params={"site": place.url("/")}, store=store)
    return Path(store)


def _look(path: Path | str) -> dict[str, Finding]:
    return {each.name: each for each in store.look(str(path))}


def test_a_store_that_is_well(filled: Path) -> None:
    found = _look(filled)
    assert {each.state for each in found.values()} == {State.OK}
    assert {"disk", "file", "owner", "form", "integrity", "archive", "write-ahead log"} == set(found)
    newest = store.newest(str(filled))
    assert newest is not None
    assert abs(newest - time.time()) < 120
    assert store.newest("nowhere.db") is None


def test_a_store_that_is_not_there_yet_is_well(tmp_path: Path) -> None:
    assert "the first run makes it" in _look(tmp_path / "new.db")["file"].text


def test_a_store_where_none_can_be(tmp_path: Path) -> None:
    missing = _look(tmp_path / "no" / "such" / "x.db")["file"]
    assert missing.state is State.PROBLEM
    assert "mkdir -p" in missing.fix
    assert _look(tmp_path)["file"].state is State.PROBLEM
    assert "no store of kind 'mysql'" in _look("mysql://x/y")["file"].text


def test_a_store_somebody_works_on_names_the_process(filled: Path) -> None:
    lock = filelock.FileLock(str(filled))
    try:
        found = _look(filled)["owner"]
    finally:
        lock.close()
    assert found.state is State.WARNING
    assert f"process {os.getpid()}" in found.text


@pytest.mark.parametrize(
    ("form", "state", "fix"),
    [("0002", State.WARNING, "any crawl or run"), ("9999", State.PROBLEM, "upgrade"), (HEAD, State.OK, "")],
)
def test_the_form_of_a_store_is_held_against_ours(filled: Path, form: str, state: State, fix: str) -> None:
    with sqlite3.connect(filled) as db:
        db.execute("update alembic_version set version_num = ?", (form,))
    db.close()
    found = _look(filled)["form"]
    assert found.state is state
    assert fix in found.fix


def test_the_database_of_another_program_and_a_file_that_is_none(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as db:
        db.execute("create table song (name)")
    db.close()
    assert "another program" in _look(tmp_path / "other.db")["form"].text
    (tmp_path / "text.db").write_text("this is no database, and long enough to be looked at" * 40)
    found = _look(tmp_path / "text.db")
    assert found["form"].state is State.PROBLEM
    assert found["integrity"].state is State.PROBLEM


def test_a_damaged_store_is_found(filled: Path) -> None:
    with sqlite3.connect(filled) as db:
        db.execute("pragma wal_checkpoint(truncate)")
    db.close()
    raw = bytearray(filled.read_bytes())
    for page in range(4, len(raw) // 8192):
        raw[page * 8192 : page * 8192 + 200] = os.urandom(200)
    filled.write_bytes(raw)
    found = _look(filled)["integrity"]
    assert found.state is State.PROBLEM
    assert "recover" in found.fix


def test_a_look_through_a_large_store_ends_in_time(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "DEADLINE", 0.0)
    found = store.whole(filled)
    assert found.state is State.OK


def test_a_large_log_and_little_room_are_told_of(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "LARGE_WAL", 0)
    assert _look(filled)["write-ahead log"].state is State.WARNING
    monkeypatch.setattr(store, "ROOM", 1 << 60)
    assert _look(filled)["disk"].state is State.WARNING
    monkeypatch.setattr(store, "LEAST", 1 << 60)
    assert _look(filled)["disk"].state is State.PROBLEM


def test_a_disk_over_the_network_is_known_by_its_kind(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/a / ext4 rw 0 0\nserver:/x {tmp_path} nfs4 rw 0 0\nnonsense\n")
    assert store.kind_of_disk(tmp_path / "below", str(mounts)) == "nfs4"
    assert store.kind_of_disk(Path("/elsewhere"), str(mounts)) == "ext4"
    assert store.kind_of_disk(tmp_path, "/nowhere") == ""


# --- settings, proxies, servers ---


def test_proxies_are_tried_and_never_shown_with_their_password() -> None:
    with HttpProxy() as alive:
        places = [f"http://ann:{SECRET}@{alive.host}:{alive.port}", f"http://ann:{SECRET}@127.0.0.1:{dead_port()}"]
        both = wait(configured.proxies(settings.read({"proxies": places}), {}, offline=False))[0]
        dead = wait(configured.proxies(settings.read({"proxies": places[1:]}), {}, offline=False))[0]
    assert both.state is State.WARNING
    assert "1 cannot be reached" in both.text
    assert dead.state is State.PROBLEM
    assert SECRET not in both.text + dead.text


def test_a_proxy_of_the_environment_is_not_used_and_that_is_said() -> None:
    found = wait(configured.proxies(settings.read(), {"HTTPS_PROXY": f"http://u:{SECRET}@p:1"}, offline=True))[0]
    assert found.state is State.WARNING
    assert "GOSSAMER_PROXIES" in found.fix
    assert SECRET not in found.text + found.fix
    assert wait(configured.proxies(settings.read(), {}, offline=True))[0].state is State.OK


@pytest.mark.parametrize("scheme", ["postgresql+asyncpg", "redis", "rediss", "amqp"])
def test_servers_that_are_no_stores_are_told_of(scheme: str, site: Site, no_browser: None) -> None:
    alive = f"{scheme}://ann:{SECRET}@127.0.0.1:{site.port}/db"
    found = _by_name(_doctor("--store", alive, code=1)["checks"])
    server = found["PostgreSQL" if "postgres" in scheme else "RabbitMQ" if scheme == "amqp" else "Redis"]
    assert server["state"] == "problem"
    assert f"127.0.0.1:{site.port} can be reached, but it cannot be a store" in server["text"]


def test_a_store_in_postgresql_is_looked_at_closely() -> None:
    server = databases.postgres()
    url = databases.postgres_url()
    found = {each.name: each for each in wait(database.look(url, offline=False))}
    assert {each.state for each in found.values()} == {State.OK}
    assert found["form"].text == f"{HEAD}, the newest"
    assert {"database", "rights", "clock", "connections"} <= set(found)
    name = url.rpartition("/")[2]
    server.sql("update alembic_version set version_num = '0004'", name)
    (form,) = [each for each in wait(database.look(url, offline=False)) if each.name == "form"]
    assert (form.state, "gossamer db upgrade" in form.fix) == (State.PROBLEM, True)
    (closed,) = [
        each
        for each in wait(database.look(server.url(name, password=True), offline=False))
        if each.name in ("rights", "database") and each.state is State.PROBLEM
    ]
    assert databases.PASSWORD not in closed.text + closed.fix


@pytest.mark.parametrize(
    ("name", "told"), [("nowhere", "no such database"), ("postgres?user=keeper&password=wrong", "does not let us in")]
)
def test_a_database_that_cannot_be_opened_is_told_of(name: str, told: str) -> None:
    url = databases.postgres().url(name)
    if "?" in name:
        url = url.replace("postgres@", "")
    (found,) = [each for each in wait(database.look(url, offline=False)) if each.state is State.PROBLEM]
    assert told in found.text
    assert "wrong" not in found.text + found.fix


def test_a_broker_is_asked_whether_it_works() -> None:
    with databases.Redis() as redis:
        (found,) = wait(configured.servers(settings.read({"broker": redis.url}), offline=False))
        assert (found.state, found.name) == (State.OK, "Redis")
        locked = redis.url.replace("redis://", f"redis://:{SECRET}@")
        (found,) = wait(configured.servers(settings.read({"broker": locked}), offline=False))
        assert found.state is State.PROBLEM
        assert SECRET not in found.text + found.fix


def test_a_server_that_does_not_answer_is_told_of() -> None:
    read = settings.read({"broker": f"redis://127.0.0.1:{dead_port()}/0"})
    (found,) = wait(configured.servers(read, offline=False))
    assert "cannot be reached" in found.text
    (asked_not,) = wait(configured.servers(read, offline=True))
    assert "was not tried" in asked_not.text
    assert wait(configured.servers(settings.read(), offline=False)) == []


# --- hosts ---


def _hosts(*known: Known, hosts: tuple[str, ...] = ()) -> list[Finding]:
    return wait(network.look(network.targets(known, hosts)))


def test_a_host_that_answers_and_what_its_robots_txt_says(place: Site) -> None:
    good, verdict = _hosts(Known("a", "a", starts=[place.url("/")], agent="gossamer/1"))
    assert good.state is verdict.state is State.OK
    assert "lets gossamer begin" in verdict.text
    assert place.paths() == {"/robots.txt": 1}
    _, forbidden, *_ = _hosts(hosts=(place.url("/private/x"),))
    assert forbidden.state is State.PROBLEM
    assert "Disallow: /private/" in forbidden.text
    _, allowed, *_ = _hosts(Known("a", "a", starts=[place.url("/private/")], agent="gossamer/1", robots=False))
    assert allowed.state is State.WARNING


def test_one_host_is_asked_once_whoever_begins_there(place: Site) -> None:
    known = [Known(f"s{n}", "x", starts=[place.url(f"/{n}")], agent="gossamer/1") for n in range(5)]
    _hosts(*known)
    assert place.paths()["/robots.txt"] == 1
    place.clear()
    _hosts(Known("by-proxy", "x", starts=[place.url("/")], agent="gossamer/1", proxied=True))
    assert not place.hits


def test_hosts_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    (refused,) = _hosts(hosts=(f"http://127.0.0.1:{dead_port()}/",))
    assert refused.state is State.PROBLEM
    assert "refused" in refused.text.lower()

    monkeypatch.setattr(network, "_addresses", _no_name)
    (nowhere,) = _hosts(hosts=("https://nowhere.invalid/",))
    assert "its name is not found" in nowhere.text
    assert "DNS" in nowhere.fix


def test_without_a_network_that_is_said_once(monkeypatch: pytest.MonkeyPatch, place: Site) -> None:
    names = tuple(f"https://nowhere{n}.invalid/" for n in range(3))
    monkeypatch.setattr(network, "_addresses", _no_name)
    (none,) = _hosts(hosts=names)
    assert none.state is State.PROBLEM
    assert "none of 3 hosts can be reached" in none.text
    monkeypatch.undo()
    # What is on this machine says nothing of the network.
    dead = _hosts(hosts=tuple(f"http://127.0.0.1:{dead_port()}/" for _ in range(2)))
    assert all("refused" in each.text.lower() for each in dead)


async def _no_name(name: str) -> str:
    return "Name or service not known"


def test_a_certificate_that_nobody_trusts_is_a_problem(place: Site) -> None:
    with TlsFront(place.authority) as front:
        (found,) = _hosts(hosts=(f"https://127.0.0.1:{front.port}/",))
        assert found.state is State.PROBLEM
        assert "insecure_hosts" in found.fix
        trusted = Known("a", "a", starts=[f"https://127.0.0.1:{front.port}/"], agent="g", insecure=["127.0.0.1"])
        assert _hosts(trusted)[0].state is State.OK


def test_a_robots_txt_that_cannot_be_read_and_a_clock_that_is_wrong(site: Site) -> None:
    site.robots_fails(status=503)
    _, closed, *_ = _hosts(hosts=(site.url("/"),))
    assert closed.state is State.PROBLEM
    assert "counts as closed" in closed.text
    wrong = {"Date": formatdate(time.time() - 86400, usegmt=True)}
    site.handler("/robots.txt", lambda hit: Answer(status=404, headers=wrong))
    _, none, clock = _hosts(hosts=(site.url("/"),))
    assert none.state is State.OK
    assert clock.state is State.PROBLEM
    assert "ahead of" in clock.text


def test_a_host_that_one_for_all_stands_in_for(place: Site) -> None:
    known = Known("a", "a", starts=["https://real.example/x"], agent="g/1", stand_ins={"*": place.url("/h")})
    reached, *_ = _hosts(known)
    assert place.authority in reached.text
    assert place.paths() == {"/h/real.example/robots.txt": 1}


def test_a_host_that_another_one_stands_in_for(place: Site) -> None:
    known = Known("a", "a", starts=["https://real.example/x"], agent="g/1", stand_ins={"real.example": place.url("/h")})
    place.page("/h/robots.txt", "User-agent: *\nDisallow: /x\n", headers={"Content-Type": "text/plain"})
    reached, forbidden, *_ = _hosts(known)
    assert reached.name == "real.example"
    assert place.authority in reached.text
    assert "https://real.example/x" in forbidden.text
    assert place.paths() == {"/h/robots.txt": 1}


def test_listed_scrapers_have_their_hosts_looked_at_unless_offline(place: Site, no_browser: None) -> None:
    Path("gossamer.toml").write_text('scrapers = ["some.py:Good"]\n')
    found = _doctor()
    assert [each["name"] for each in found["checks"] if each["area"] == "robots"] == [place.authority]
    place.clear()
    _doctor("--offline")
    assert not place.hits


# --- scrapers that cannot be loaded ---


def test_scrapers_that_cannot_be_loaded_cost_only_themselves(place: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parent, "LOAD", 6.0)
    Path("syntax.py").write_text("print(1")
    Path("hangs.py").write_text("import time\ntime.sleep(1000)")
    Path("dies.py").write_text("import os\nos.kill(os.getpid(), 9)")
    Path("leaves.py").write_text("raise SystemExit(3)")
    names = ["syntax.py", "hangs.py", "some.py", "dies.py", "leaves.py", "nowhere.py", "art"]
    loaded = wait(parent.load([Wanted(name, name) for name in names]))
    errors = {each.wanted.label: each.error for each in loaded}
    assert errors["some.py"] == errors["art"] == ""
    assert "was never closed" in errors["syntax.py"]
    assert "not loaded within" in errors["hangs.py"]
    assert "SIGKILL" in errors["dies.py"]
    assert "SystemExit" in errors["leaves.py"]
    assert "there is no file" in errors["nowhere.py"]
    findings = list(examine.of_scrapers(loaded))
    assert finding.counts(findings)[State.PROBLEM] == 5
    good = next(each for each in loaded[2].scrapers if each.name == "good")
    assert good.starts == [place.url("/")]
    assert not place.hits


def test_a_start_that_blocks_is_interrupted() -> None:
    text = "from gossamer import Scraper\nclass A(Scraper):\n    def parse(self, page): pass\n    def start(self):\n"
    Path("a.py").write_text(text + "        while True: pass\n")
    (loaded,) = wait(parent.load([Wanted("a.py", "a.py")]))
    assert "blocked" in loaded.scrapers[0].unclear


# --- trying scrapers ---


def _trials(*names: str, code: int = 1, more: tuple[str, ...] = ()) -> dict[str, dict[str, Any]]:
    return _by_name(_doctor("--scrapers", *names, *more, code=code)["scrapers"])


def test_every_scraper_is_tried_on_one_page(place: Site) -> None:
    found = _trials("some.py")
    assert {name: each["status"] for name, each in found.items()} == {
        "good": "ok",
        "wall": "blocked",
        "gone": "http_404",
        "forbidden": "robots",
        "empty": "empty",
        "late": "ok",
        "raises": "handler",
        "needs": "needs",
        "prints": "ok",
        "asleep": "paused",
    }
    good = found["good"]
    assert (good["items"], good["found"], good["filled"], good["fields"]) == (1, 1, 1, 2)
    assert good["never"] == ["missing"]
    assert good["url"] == place.url("/")
    assert "\x1b" not in found["raises"]["why"]
    for each in found.values():
        assert bool(each["fix"]) == (each["status"] != "ok"), each
    # One page each; another only where the first gave nothing.
    pages = place.paths()
    assert "/a" not in pages
    assert pages["/private/"] == 0
    assert sorted(Path().glob("*.db*")) == []


def test_what_a_scraper_needs_can_be_given_and_a_paused_one_named(place: Site) -> None:
    Path("gossamer.toml").write_text('scrapers = ["some.py"]\n')
    found = _trials("needs", "asleep", code=0, more=("--param", "page=second"))
    assert found["needs"]["status"] == found["asleep"]["status"] == "ok"
    assert found["needs"]["url"] == place.url("/second")


def test_a_scraper_that_ends_its_process_costs_only_itself(place: Site) -> None:
    found = _trials("hostile.py")
    assert found["exits"]["status"] == "crashed"
    assert "exit code 7" in found["exits"]["why"]
    assert found["good"]["status"] == "ok"


def test_a_site_that_never_answers_costs_the_deadline(place: Site) -> None:
    place.hang("/")
    found = _trials("some.py:Good", more=("--deadline", "2s"))
    assert found["good"]["status"] == "timeout"


def test_the_report_is_a_table_with_what_to_do(place: Site) -> None:
    done = typed("doctor", "--scrapers", "some.py:Gone", "some.py:Good")
    assert done.returncode == 1
    assert "http_404" in done.stdout
    assert "fix: see whether the page has moved: gossamer try" in done.stdout
    assert "never filled: missing" in done.stdout
    assert "1 fine, 1 not" in done.stderr


def test_without_names_those_that_are_listed_are_tried(place: Site) -> None:
    assert "or name some" in sentence(typed("doctor", "--scrapers"), 2)
    Path("gossamer.toml").write_text('scrapers = ["some.py:Good", "nowhere.py"]\n')
    found = _trials()
    assert {name: each["status"] for name, each in found.items()} == {"good": "ok", "nowhere.py": "not_loaded"}


def test_a_bad_deadline_is_refused() -> None:
    assert "--deadline" in sentence(typed("doctor", "--scrapers", "art", "--deadline", "soon"), 2)


def test_packs_can_be_tried_on_the_demo_sites() -> None:
    with PackSites() as sites:
        hosts = set(sites.hosts)
    found = _by_name(json.loads(typed("doctor", "--scrapers", "art", "--demo", "--json").stdout)["scrapers"])
    assert "art.cafe" in found
    assert found["art.cafe"]["status"] == "ok"
    for each in found.values():
        assert not each["url"] or each["url"].split("/")[2] in hosts


@pytest.mark.parametrize(
    ("status", "fix"),
    [
        ("http_404", "has moved"),
        ("http_503", "try again later"),
        ("http_teapot", "see what came"),
        ("something_new", "see what came"),
        ("connect", "gossamer doctor --host a.example"),
        ("ok", ""),
    ],
)
def test_every_ending_has_something_to_do(status: str, fix: str) -> None:
    assert fix in trials.fix(Trial("x", status, "https://a.example/{0}?a=b&c"))


@pytest.mark.parametrize("status", [*trials._FIXES, "http_404", "something_new"])
def test_on_the_demo_sites_no_fix_leads_to_the_real_ones(status: str) -> None:
    fix = trials.fix(Trial("art.cafe", status, "https://a.example/x", why="rendering needs it: install it"), demo=True)
    assert "a.example" not in fix
    assert "gossamer try" not in fix
    assert "--scrapers" not in fix or "--demo" in fix
    assert bool(fix) == (status != "ok")


def test_there_are_no_demo_sites_for_a_scraper_of_ones_own(place: Site) -> None:
    assert "no demo sites for good" in sentence(typed("doctor", "--scrapers", "some.py:Good", "--demo"), 2)
    assert not place.hits


def test_at_80_columns_names_are_whole_and_commands_can_be_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "https://a.example/" + "long/" * 20
    told = io.StringIO()
    monkeypatch.setattr(cli_doctor, "_console", lambda: Console(file=told, width=80))
    tried = [Trial("jobs.aviationjobsearch", "http_404", url, why="it answered with status 404"), Trial("b.c", "ok")]
    cli_doctor._show_trials(tried, as_json=False, demo=False)
    lines = told.getvalue().splitlines()
    assert lines[1].startswith(" jobs.aviationjobsearch  http_404 ")
    assert f"  page: {url}" in lines
    assert f"  fix: see whether the page has moved: gossamer try {url}" in lines
    assert len(lines) == 7


def test_ctrl_c_is_one_line_and_leaves_no_child(place: Site, tmp_path: Path) -> None:
    (tmp_path / "sleeps.py").write_text("import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(1000)\n")
    command = start("doctor", "--scrapers", "sleeps.py", cwd=tmp_path)
    while not (pid := _written("pid")):
        assert command.poll() is None
        time.sleep(0.02)
    done = interrupt(command)
    assert sentence(done, 130) == "gossamer: interrupted: nothing was stored or changed"
    assert subprocess.run(["ps", "-p", pid], capture_output=True).returncode == 1


# --- the browser ---


@pytest.mark.skipif(fetching.missing() is not None, reason=str(fetching.missing()))
def test_the_browser_is_started_and_shows_a_page() -> None:
    assert wait(browser.look(wanted=True)).state is State.OK


def test_a_browser_that_lacks_is_a_problem_only_for_who_wants_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "missing", lambda: "rendering needs Chromium: install it with `apt install chromium`")
    assert wait(browser.look(wanted=False)).state is State.ABSENT
    wanted = wait(browser.look(wanted=True))
    assert wanted.state is State.PROBLEM
    assert "apt install chromium" in wanted.fix


def test_a_scraper_that_lacks_a_browser_says_so(place: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, package=None: None if name == 'playwright' else find(name, package)\n"
    )
    (tmp_path / "drawn.py").write_text(
        "from gossamer import Scraper\nclass Drawn(Scraper):\n    render = True\n    def parse(self, page): pass\n"
        f"    start_urls = [{place.url('/')!r}]\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    loaded = wait(parent.load([Wanted("drawn.py", "drawn.py")]))
    (known,) = loaded[0].scrapers
    assert known.render
    assert known.starts == [place.url("/")]
    _, lacks = examine.of_scrapers(loaded)
    assert (lacks.name, lacks.state) == ("drawn", State.PROBLEM)
    assert "needs a browser" in lacks.text
    assert lacks.fix == "pip install 'gossamer[browser]'"
    tried = _trials("drawn.py")["drawn"]
    assert (tried["status"], tried["fix"]) == ("browser", lacks.fix)


def test_a_child_is_gone_when_the_doctor_is() -> None:
    """Even one that sleeps for ever has been ended by the time its answer is known."""
    Path("sleeps.py").write_text(
        "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(1000)\n",
    )

    async def hurry() -> int:
        loading = asyncio.create_task(parent.load([Wanted("sleeps.py", "sleeps.py")]))
        while not (pid := _written("pid")):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        loading.cancel()
        await asyncio.gather(loading, return_exceptions=True)
        return int(pid)

    pid = wait(hurry())
    assert subprocess.run(["ps", "-p", str(pid)], capture_output=True).returncode == 1


def _written(name: str) -> str:
    return Path(name).read_text() if Path(name).exists() else ""
