"""`gossamer serve` as a process: how it starts, what it outlives, how it ends."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gossamer.testing import Site
from tests.service.serving import SCRAPER, Served

pytestmark = pytest.mark.timeout(180)
EXITER = """
import os
from gossamer import Scraper

class Exiter(Scraper):
    start_urls = ["{url}bad"]

    def parse(self, page):
        os._exit(3)
"""


@pytest.fixture
def folder(tmp_path: Path, site: Site) -> Path:
    for n in range(60):
        link = f'<a href="/{n + 1}">next</a>' if n < 59 else ""
        site.page(f"/{n}" if n else "/", f'<p class="quote" data-n="{n}">said {n}</p>{link}')
    site.page("/bad", "<p>bad</p>")
    (tmp_path / "quotes.py").write_text(SCRAPER.format(name="quotes", url=site.url("/"), rate="20/s", more=""))
    return tmp_path


@pytest.fixture
def served(folder: Path) -> Iterator[Served]:
    service = Served(folder)
    try:
        yield service
    finally:
        service.kill()


def start(served: Served, name: str) -> int:
    status, answer = served.call("POST", "/api/scrapers/start/", {"scraper_name": name})
    assert status == 202, answer
    run: int = answer["job_id"]
    return run


def test_a_scraper_that_ends_its_process_fails_and_the_others_go_on(folder: Path, site: Site) -> None:
    (folder / "exiter.py").write_text(EXITER.format(url=site.url("/")))
    served = Served(folder)
    try:
        good = start(served, "quotes")
        bad = start(served, "exiter")
        found = served.wait_for(bad, seconds=90)
        assert found["state"] == "failed"
        assert "ended the process" in found["reason"]
        assert served.wait_for(good, seconds=90)["pages"] == 60
        health = {each["name"]: each for each in served.get("/api/scrapers/list/")["scrapers"]}
        assert set(health) == {"exiter", "quotes"}
        (row,) = rows(folder, "select failures, streak from scraper where name = 'exiter'")
        assert row == (1, 1)
    finally:
        served.kill()


def rows(folder: Path, statement: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{folder / 'gossamer.db'}?mode=ro", uri=True, timeout=30)) as db:
        return db.execute(statement).fetchall()


@pytest.mark.parametrize("delay", [0.0, 0.3])
def test_a_runner_whose_service_is_killed_at_once_ends_too(folder: Path, delay: float) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "gossamer", "serve", "--listen", "0"], cwd=folder, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 30
    while not (runners := children(process.pid)):
        assert time.monotonic() < until
        time.sleep(0.01)
    time.sleep(delay)
    process.kill()
    process.wait()
    until = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in runners):
        assert time.monotonic() < until, "the runner lives on"
        time.sleep(0.1)


def children(pid: int) -> list[int]:
    """The runners of a service."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                ours = b"gossamer.runner" in (entry / "cmdline").read_bytes()
            except (OSError, ValueError):
                continue
            if parent == pid and ours:
                found.append(int(entry.name))
    return found


def test_who_says_nothing_is_not_waited_for(served: Served) -> None:
    host, _, port = served.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as silent:
        silent.sendall(b"GET / HTTP/1.1\r\nHost: loc")
        silent.settimeout(60)
        assert silent.recv(100) == b""


def test_it_ends_in_good_order_and_leaves_nothing_behind(served: Served) -> None:
    run = start(served, "quotes")
    served.wait_for(run, "running")
    runners = children(served.pid)
    assert served.stop() == 0
    assert not any(Path(f"/proc/{pid}").exists() for pid in runners)
    assert rows(served.folder, f"select state from run where id = {run}") == [("pending",)]
    assert (served.folder / "gossamer.db").stat().st_mode & 0o077 == 0
    served.start()
    assert served.wait_for(run)["pages"] == 60


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--tls-cert", "missing.pem", "--tls-key", "missing.key"), "missing.pem"),
        (("--tls-cert", "missing.pem"), "go together"),
        (("--listen", "nonsense"), "host:port"),
        (("--listen", "256.1.1.1:80"), "cannot be listened on"),
        (("--store", "/nowhere/at/all.db"), "folder of the store"),
        (("--max-runs", "0"), "whole number"),
    ],
)
def test_what_cannot_be_served_is_told_in_a_sentence(tmp_path: Path, args: tuple[str, ...], told: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gossamer", "serve", *args], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_told(served: Served, tmp_path: Path) -> None:
    port = served.url.rpartition(":")[2]
    done = subprocess.run(
        [sys.executable, "-m", "gossamer", "serve", "--listen", port, "--store", "other.db"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "give another --listen" in done.stderr


def test_a_run_beside_a_service_is_told_whom_to_ask(served: Served) -> None:
    time.sleep(1.5)
    done = subprocess.run(
        [sys.executable, "-m", "gossamer", "run", "quotes.py"],
        cwd=served.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "gossamer schedule run" in done.stderr
    os.kill(served.pid, signal.SIGTERM)
    assert served.stop() == 0


def test_the_demo_serves_the_packs_on_demo_sites(tmp_path: Path) -> None:
    service = Served(tmp_path, "--demo")
    try:
        listed = {each["name"]: each for each in service.get("/api/scrapers/list/")["scrapers"]}
        assert {"demo.books", "art.cafe", "nba.espn", "jobs.signature"} <= set(listed)
        assert listed["nba.espn"]["takes"]["season"]
        assert listed["nba.espn"]["description"]
        assert listed["nba.stats"]["paused"]
        status, started = service.call("POST", "/api/scrapers/start/", {"scraper_name": "nba.espn"})
        assert status == 202
        ended = service.wait_for(started["job_id"])
        assert (ended["state"], ended["items"] > 100) == ("finished", True), service.said()
    finally:
        service.stop()
