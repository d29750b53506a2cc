"""`kill -9` of a service while runs go on, schedules fire and batches come in: nothing is lost or run twice."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from gossamer.testing import Site
from tests.service.serving import SCRAPER, Served

pytestmark = [pytest.mark.crash, pytest.mark.timeout(240)]


@contextmanager
def service(folder: Path, *args: object, **env: str) -> Iterator[Served]:
    served = Served(folder, *args, **env)
    try:
        yield served
    finally:
        served.kill()


def rows(folder: Path, statement: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{folder / 'gossamer.db'}?mode=ro", uri=True, timeout=30)) as db:
        return db.execute(statement).fetchall()


def strike(served: Served, luck: random.Random) -> None:
    """Kill the service, its runner, or both, and start it again if it is gone."""
    runners = [pid for (pid,) in rows(served.folder, "select pid from worker order by at desc limit 1")]
    what = luck.choice(("service", "runner", "both"))
    if what != "service":
        for pid in runners:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    if what != "runner":
        served.kill()
        served.start()


def site_of(site: Site, pages: int) -> None:
    for n in range(pages):
        links = "".join(f'<a href="/{m}">{m}</a>' for m in (2 * n + 1, 2 * n + 2) if m < pages)
        site.page(f"/{n}" if n else "/", f'<p class="quote" data-n="{n}">said {n}</p>{links}')


def test_runs_go_on_after_every_kill_and_end_as_if_there_was_none(tmp_path: Path, site: Site) -> None:
    luck = random.Random(5)
    site_of(site, 150)
    for name in ("one", "two", "three"):
        text = SCRAPER.format(name=name, url=site.url("/"), rate="60/s", more="")
        (tmp_path / f"{name}.py").write_text(text)
    with service(tmp_path) as served:
        runs = []
        for name in ("one", "two", "three"):
            status, answer = served.call("POST", "/api/scrapers/start/", {"scraper_name": name})
            assert status == 202, answer
            runs.append(answer["job_id"])
        for _ in range(6):
            time.sleep(luck.uniform(0.3, 1.5))
            strike(served, luck)
        for run in runs:
            found = served.wait_for(run, seconds=120)
            assert (found["state"], found["pages"], found["items"]) == ("finished", 150, 150)
    assert rows(tmp_path, "select count(*) from run") == [(3,)], "a start is one run, however often it is resumed"
    assert rows(tmp_path, "select scraper, count(*), sum(times_seen) from item group by scraper order by scraper") == [
        (name, 150, 150) for name in ("one", "three", "two")
    ]
    assert rows(tmp_path, "select count(*) from request where state <> 1") == [(0,)]
    assert rows(tmp_path, "select name, runs, successes, items from scraper order by name") == [
        (name, 1, 1, 150) for name in ("one", "three", "two")
    ]


def test_a_schedule_fires_each_time_once(tmp_path: Path, site: Site) -> None:
    luck = random.Random(7)
    site_of(site, 3)
    more = 'every = "1s"\n    drift = "off"'
    (tmp_path / "often.py").write_text(SCRAPER.format(name="often", url=site.url("/"), rate="none", more=more))
    with service(tmp_path) as served:
        for _ in range(6):
            time.sleep(luck.uniform(0.8, 2.2))
            strike(served, luck)
        time.sleep(2)
        status, answer = served.call("PATCH", "/api/schedules/often", {"enabled": False})
        assert status == 200, answer
        until = time.monotonic() + 60
        while rows(tmp_path, "select count(*) from run where state in ('pending', 'running')") != [(0,)]:
            assert time.monotonic() < until
            time.sleep(0.2)
    firings = rows(tmp_path, "select due, what, run_id from firing order by due")
    fired = [run for _, what, run in firings if what == "fired"]
    assert len(fired) >= 4
    assert Counter(fired).most_common(1)[0][1] == 1
    assert sorted(fired) == [run for (run,) in rows(tmp_path, "select id from run order by id")]
    assert {state for (state,) in rows(tmp_path, "select state from run")} == {"finished"}


def test_a_batch_is_there_whole_or_not_at_all_and_once(tmp_path: Path, site: Site) -> None:
    luck = random.Random(11)
    site_of(site, 40)
    answered: dict[int, int] = {}
    over = threading.Event()

    def submit(served: Served) -> None:
        while not over.is_set():
            urls = [site.url(f"/{n}?of={random.random()}") for n in range(1, 40)]
            try:
                status, answer = served.call("POST", "/api/urls/batch", {"urls": urls, "parser": "generic"})
            except OSError:
                time.sleep(0.2)
                continue
            if status in (200, 201, 202):
                answered[answer["run"]] = sum(each["ok"] for each in answer["verdicts"])
            time.sleep(0.3)

    with service(tmp_path, GOSSAMER_ALLOW_PRIVATE="true", GOSSAMER_RATE="none") as served:
        thread = threading.Thread(target=submit, args=(served,))
        thread.start()
        try:
            for _ in range(4):
                time.sleep(luck.uniform(0.5, 1.5))
                strike(served, luck)
            time.sleep(1)
        finally:
            over.set()
            thread.join()
        until = time.monotonic() + 90
        while rows(tmp_path, "select count(*) from run where state in ('pending', 'running')") != [(0,)]:
            assert time.monotonic() < until, rows(tmp_path, "select id, state, pages from run")
            time.sleep(0.2)
    assert answered
    known = dict(rows(tmp_path, "select run_id, count(*) from request group by run_id"))
    assert answered.items() <= known.items(), "what was promised is there"
    assert set(known.values()) == {39}, "and nothing half"
    assert rows(tmp_path, "select distinct state, pages, items from run") == [("finished", 39, 39)]
