"""robots.txt between runs: kept in the store, asked again when it is old, in the background while it ages."""

from __future__ import annotations

import asyncio
import time

import pytest

from gossamer import runs
from gossamer.fetch import retry
from gossamer.storage.sqlite import SqliteStore
from gossamer.storage.store import RobotsNote
from gossamer.testing import Site
from tests.cli import typed
from tests.walk import asked, crawl, fates, gaps, links, why
from tests.walk.test_adaptive import JITTER, clean, notices, pages

HOUR = 3600.0
RULES = "User-agent: *\nDisallow: /private\n"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.01)


def remember(store: str, site: Site, age: float, body: str = RULES) -> None:
    """Let the store have a robots.txt that was fetched some time ago."""

    async def write() -> None:
        then = time.time() - age
        async with SqliteStore(store) as opened:
            await opened.keep_robots(RobotsNote(site.url(""), then, then, 200, body.encode()))

    asyncio.run(write())


def kept(store: str, site: Site) -> list[RobotsNote]:
    """The versions of a site's robots.txt that the store has, newest first."""

    async def read() -> list[RobotsNote]:
        async with runs.open_store(store) as opened:
            return await opened.robots(site.url(""))

    return asyncio.run(read())


def test_it_is_asked_once_for_two_runs(site: Site, store: str) -> None:
    site.robots(RULES + "Crawl-delay: 0.2\n")
    site.page("/", links("/private/x", "/p/1"))
    pages(site, 1)
    for _ in range(2):
        report = crawl(site.url("/"), store=store, fresh=True)
        assert (report.pages, report.by_reason["robots"]) == (2, 1)
    assert site.paths()["/robots.txt"] == 1
    assert min(gaps(site.hits)) >= 0.2 - JITTER  # its Crawl-delay is kept with it
    assert clean(store)


def test_other_names_of_ours_read_the_same_file(site: Site, store: str) -> None:
    site.robots("User-agent: other\nDisallow: /\n")
    site.page("/", "<p>x</p>")
    assert crawl(site.url("/"), store=store, fresh=True).pages == 1
    report = crawl(site.url("/"), store=store, fresh=True, user_agent="other/1.0")
    assert (report.pages, site.paths()["/robots.txt"]) == (0, 1)


@pytest.mark.parametrize("age", [25 * HOUR, 400 * HOUR, -2 * HOUR], ids=["old", "very old", "from the future"])
def test_it_is_asked_again_when_it_is_old(site: Site, store: str, age: float) -> None:
    remember(store, site, age)
    site.robots("User-agent: *\nDisallow: /other\n")
    site.page("/*", links("/private/x", "/other/y"))
    crawl(site.url("/"), store=store)
    assert site.hits[0].path == "/robots.txt"  # before anything else
    assert (fates(site, store)["/private/x"], fates(site, store)["/other/y"]) == ("done ok", "skipped robots")
    assert site.paths()["/robots.txt"] == 1


def test_while_it_ages_it_is_asked_in_the_background(site: Site, store: str) -> None:
    """The old rules hold until the new ones are there, and nobody waits."""
    remember(store, site, 21 * HOUR)
    site.page("/robots.txt", "User-agent: *\nDisallow: /p/9\n", headers={"Content-Type": "text/plain"}, latency=0.4)
    site.page("/", links("/private/x", *(f"/p/{n}" for n in range(10)), "/p/last"))
    site.page("/p/*", "<p>x</p>", latency=0.1)
    report = crawl(site.url("/"), store=store, per_host=2)
    (robots,) = asked(site, "/robots.txt")
    assert robots.ended is not None
    assert len([hit for hit in site.hits if robots.at < hit.at < robots.ended]) >= 2
    told = fates(site, store)
    assert (told["/private/x"], told["/p/9"], told["/p/last"]) == ("skipped robots", "skipped robots", "done ok")
    assert report.pages == 11
    new, old = kept(store, site)
    assert (old.body, b"/p/9" in new.body) == (RULES.encode(), True)


@pytest.mark.parametrize("status", [500, 429])
def test_one_that_cannot_be_read_again_holds_on_until_it_is_too_old(site: Site, store: str, status: int) -> None:
    remember(store, site, 21 * HOUR)
    site.robots_fails(status=status)
    site.page("/", links("/private/x", *(f"/p/{n}" for n in range(10))))
    pages(site, 0)
    report = crawl(site.url("/"), store=store, per_host=1, retries=1)
    assert (report.pages, report.by_reason["robots"], report.failed) == (11, 1, 0)
    assert site.paths()["/robots.txt"] == 2
    assert [note.closed for note in kept(store, site)] == [None]


def test_one_that_is_the_same_is_one_version(site: Site, store: str) -> None:
    remember(store, site, 21 * HOUR)
    site.robots(RULES)
    site.page("/", links("/p/1", "/p/2"))
    pages(site, 0)
    crawl(site.url("/"), store=store, per_host=1)
    (only,) = kept(store, site)
    assert only.checked - only.fetched == pytest.approx(21 * HOUR, abs=60)
    assert "robots.txt of" in why(site.url("/p/1"), store)


def test_a_site_that_counted_as_closed_is_asked_again_by_and_by(site: Site, store: str) -> None:
    async def write() -> None:
        async with SqliteStore(store) as opened:
            then = time.time() - 700
            await opened.keep_robots(RobotsNote(site.url(""), then, then, 503, b"", "it could not be read"))

    asyncio.run(write())
    site.page("/", "<p>x</p>")
    assert crawl(site.url("/"), store=store).pages == 1
    assert site.paths()["/robots.txt"] == 1


# -- Crawl-delay -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["Crawl-delay: 1000", "Request-rate: 1/1000s"])
def test_a_crawl_delay_beyond_all_bounds_is_cut_and_that_is_said(site: Site, store: str, line: str) -> None:
    site.robots(f"User-agent: *\n{line}\n")
    given = pages(site, 2)
    done = typed("crawl", *given, "--store", store, "--rate", "none", GOSSAMER_MAX_CRAWL_DELAY="0.4s")
    assert done.returncode == 0
    assert min(gaps(site.hits)) >= 0.4 - JITTER
    assert "robots.delay_clamped" in done.stderr
    said = "robots.txt asks for 1000 s between requests; max_crawl_delay allows 0.4 s"
    (notice,) = notices(store, "crawl_delay")
    assert notice.detail == said
    assert said in why(given[0], store)
    assert "max_crawl_delay allows 0.4 s" in typed("sources", "--store", store).stdout
    assert clean(store)


def test_a_crawl_delay_is_kept_across_runs_that_do_not_ask(site: Site, store: str) -> None:
    site.robots("User-agent: *\nCrawl-delay: 0.4\n")
    given = pages(site, 4)
    crawl(*given[:2], store=store)
    crawl(*given[2:], store=store, robots=False)
    assert min(gaps(site.hits)) >= 0.4 - JITTER
