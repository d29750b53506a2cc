"""The process that walks runs, with nothing but a store between it and who asks."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gossamer import asking, registry
from gossamer.registry import Found
from gossamer.storage import opening
from gossamer.storage.desk import Desk
from gossamer.testing import Site
from gossamer.trail import Asker
from tests.service.serving import SCRAPER

ANNA = Asker("anna", "api")


@contextmanager
def runner(store: str, **flags: str) -> Iterator[subprocess.Popen[bytes]]:
    """A runner on a store, which ends when its standard input does."""
    command = [sys.executable, "-m", "gossamer.runner", json.dumps({"store": store, **flags})]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield process
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(timeout=30)
        finally:
            process.kill()
            assert process.stderr is not None
            process.stderr.close()


def on(store: str, work: Callable[[Desk], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        async with opening.desk(store) as desk:
            return await work(desk)

    return asyncio.run(main())


def scraper(site: Site, folder: Path, name: str = "quotes", rate: str = "none", more: str = "") -> Found:
    file = folder / f"{name}.py"
    file.write_text(SCRAPER.format(name=name, url=site.url("/"), rate=rate, more=more))
    return registry.load_all(str(file))[0]


def quotes(site: Site, pages: int) -> None:
    for n in range(pages):
        link = f'<a href="/{n + 1}">next</a>' if n + 1 < pages else ""
        site.page(f"/{n}" if n else "/", f'<p class="quote" data-n="{n}">said {n}</p>{link}')


def ended(store: str, run: int, *states: str, seconds: float = 30) -> tuple[Any, ...]:
    """Wait until a run is in one of some states: (state, reason, pages, items)."""

    async def look(desk: Desk) -> tuple[Any, ...]:
        until = time.monotonic() + seconds
        while True:
            row = await desk.row("select state, reason, pages, items from run where id = :run", run=run)
            assert row is not None
            if row[0] in (states or ("finished", "failed", "stopped", "cancelled")):
                return row
            assert time.monotonic() < until, row
            await asyncio.sleep(0.05)

    found: tuple[Any, ...] = on(store, look)
    return found


def start(store: str, found: Found, **knobs: Any) -> int:
    run: int = on(store, lambda desk: asking.start(desk, found, knobs=knobs, by=ANNA))
    return run


def test_a_pending_run_is_walked_and_counted(store: str, site: Site, tmp_path: Path) -> None:
    quotes(site, 5)
    run = start(store, scraper(site, tmp_path))
    with runner(store):
        assert ended(store, run) == ("finished", "done", 5, 5)
    assert on(store, lambda desk: desk.row("select runs, successes, items, new_items, last_run from scraper")) == (
        1,
        1,
        5,
        5,
        run,
    )


def test_a_run_that_goes_on_is_cancelled_and_resumed(store: str, site: Site, tmp_path: Path) -> None:
    quotes(site, 30)
    found = scraper(site, tmp_path, rate="20/s")
    run = start(store, found)
    with runner(store):
        ended(store, run, "running")
        time.sleep(0.5)
        on(store, lambda desk: asking.cancel(desk, run, by=ANNA))
        state, reason, pages, _ = ended(store, run)
        assert (state, reason) == ("cancelled", "cancelled")
        assert pages < 30
        on(store, lambda desk: asking.resume(desk, run, by=ANNA))
        assert ended(store, run, "finished") == ("finished", "done", 30, 30)
    assert [hit.path for hit in site.hits if hit.path != "/robots.txt"] == ["/", *(f"/{n}" for n in range(1, 30))]


def test_a_runner_that_ends_leaves_its_runs_for_the_next(store: str, site: Site, tmp_path: Path) -> None:
    quotes(site, 30)
    run = start(store, scraper(site, tmp_path, rate="20/s"))
    with runner(store):
        ended(store, run, "running")
        time.sleep(0.4)
    assert ended(store, run, "pending")[0] == "pending"
    with runner(store) as process:
        ended(store, run, "running")
        time.sleep(0.4)
        process.kill()
        process.wait()
    assert ended(store, run, "running")[0] == "running", "nobody was left to say otherwise"
    with runner(store):
        assert ended(store, run, "finished") == ("finished", "done", 30, 30)


def test_a_second_runner_waits_for_the_first_and_takes_over(store: str, site: Site, tmp_path: Path) -> None:
    quotes(site, 40)
    run = start(store, scraper(site, tmp_path, rate="20/s"))
    with runner(store) as first:
        ended(store, run, "running")
        with runner(store):
            time.sleep(0.5)
            first.kill()
            first.wait()
            assert ended(store, run, "finished") == ("finished", "done", 40, 40)


def test_a_paused_host_stops_its_run_and_an_inactive_url_is_skipped(store: str, site: Site, tmp_path: Path) -> None:
    quotes(site, 30)
    run = start(store, scraper(site, tmp_path, rate="20/s"))
    host = site.url("/").split("/")[2]
    with runner(store):
        ended(store, run, "running")
        on(store, lambda desk: asking.pause_host(desk, host, True, by=ANNA))
        state, reason, pages, _ = ended(store, run)
        assert (state, reason) == ("stopped", "paused")
        assert pages < 30
        on(store, lambda desk: asking.mark_url(desk, site.url("/29"), False, by=ANNA))
        on(store, lambda desk: asking.pause_host(desk, host, False, by=ANNA))
        assert ended(store, run, "finished")[2] == 29, "it goes on by itself"
    row = on(store, lambda desk: desk.row("select state, reason from request where url = :u", u=site.url("/29")))
    assert row == (2, "inactive")


def test_a_scraper_that_cannot_be_loaded_fails_its_run_alone(store: str, site: Site, tmp_path: Path) -> None:
    quotes(site, 3)
    broken, good = scraper(site, tmp_path, "broken"), scraper(site, tmp_path, "good")
    first, second = start(store, broken), start(store, good)
    (tmp_path / "broken.py").write_text("this is no Python")
    with runner(store):
        state, reason, _, _ = ended(store, first)
        assert state == "failed"
        assert "broken.py, line 1" in reason
        assert ended(store, second)[0] == "finished"
    assert on(store, lambda desk: desk.row("select failures, streak from scraper where name = 'broken'")) == (1, 1)


def test_a_scraper_that_ends_the_process_costs_no_other_run(store: str, site: Site, tmp_path: Path) -> None:
    """It is met again each time, but the others go on meanwhile."""
    quotes(site, 2)
    more = "def validate(self, page):\n        import os; os._exit(7)"
    bad = start(store, scraper(site, tmp_path, "bad", more=more))
    with runner(store) as process:
        assert process.wait(timeout=30) == 7
    assert ended(store, bad, "running")[0] == "running"


def test_a_heartbeat_tells_what_goes_on(store: str, site: Site, tmp_path: Path) -> None:
    quotes(site, 60)
    run = start(store, scraper(site, tmp_path, rate="10/s"))
    with runner(store):
        ended(store, run, "running")
        time.sleep(2.5)
        (data,) = on(store, lambda desk: desk.row("select data from worker"))
        told = json.loads(data)
        assert told["runs"][str(run)]["rate"] > 0
        assert told["runs"][str(run)]["hosts"][0]["host"] == site.url("/").split("/")[2]
        assert told["counters"]["pages"]["quotes"] > 3
        assert told["latency"]["count"] > 3
        on(store, lambda desk: asking.cancel(desk, run, by=ANNA))
        ended(store, run)
    assert on(store, lambda desk: desk.rows("select * from worker")) == [], "who ends in good order says so"


@pytest.mark.parametrize("accept", [True, False])
def test_a_suspect_run_is_decided_on(store: str, site: Site, tmp_path: Path, accept: bool) -> None:
    quotes(site, 12)
    found = scraper(site, tmp_path)
    with runner(store):
        for _ in range(4):
            ended(store, start(store, found))
        for n in range(12):  # the site is made anew, and the texts are gone
            link = f'<a href="/{n + 1}">next</a>' if n < 11 else ""
            site.page(f"/{n}" if n else "/", f'<p class="quote" data-n="{n}"></p>{link}')
        run = start(store, found)
        ended(store, run)
        assert on(store, lambda desk: desk.row("select verdict from run where id = :r", r=run)) == ("suspect",)
        on(store, lambda desk: asking.decide(desk, run, accept=accept, by=ANNA))
        until = time.monotonic() + 20
        word = "accepted" if accept else "rejected"
        while on(store, lambda desk: desk.row("select verdict, wanted from run where id = :r", r=run)) != (word, ""):
            assert time.monotonic() < until
            time.sleep(0.1)


def test_a_page_of_any_handler_is_fetched_again_alone(store: str, site: Site, tmp_path: Path) -> None:
    site.page("/", '<a href="/one">one</a>')
    site.page("/one", '<h1>One</h1><a href="/two">two</a>')
    site.page("/two", "<h1>Two</h1>")
    more = """
    def parse(self, page):
        yield from page.follow("a", to=self.thing)

    def thing(self, page):
        yield {"n": page.url, "title": page.css("h1").text}
        yield from page.follow("a", to=self.thing)
"""
    text = SCRAPER.format(name="things", url=site.url("/"), rate="none", more="").split("    def parse")[0] + more
    (tmp_path / "things.py").write_text(text)
    found = registry.load_all(str(tmp_path / "things.py"))[0]
    with runner(store):
        ended(store, start(store, found))
        site.clear()
        run = on(store, lambda desk: asking.refetch(desk, site.url("/one"), by=ANNA))
        assert ended(store, run) == ("finished", "done", 1, 1)
    assert site.paths()["/two"] == 0
    assert on(store, lambda desk: desk.rows("select url from request where run_id = :r", r=run)) == [
        (site.url("/one"),)
    ]


def test_a_run_that_is_not_reached_holds_nothing_back(store: str, site: Site, tmp_path: Path) -> None:
    quotes(site, 3)
    found = scraper(site, tmp_path, more="retries = 0")
    with runner(store):
        for _ in range(4):
            ended(store, start(store, found))
        site.page("/", "down", status=500)
        run = start(store, found)
        assert ended(store, run)[:2] == ("failed", "start_failed")
    assert on(store, lambda desk: desk.row("select verdict from run where id = :r", r=run)) == ("",)
