"""A pace that heeds the host: slower when it is too much, never faster than promised, kept across restarts."""

from __future__ import annotations

import asyncio
import itertools
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from gossamer import runs
from gossamer.fetch import addresses, retry
from gossamer.storage.sqlite import SqliteStore
from gossamer.storage.store import RobotsNote, SourceNote
from gossamer.testing import Answer, Hit, Site, SiteProcess
from gossamer.values import Notice
from tests.cli import ended, start, typed
from tests.walk import asked, crawl, fates, gaps, links, why

#: What the way through two event loops and a socket may take from a gap.
JITTER = 0.04
HOUR = 3600.0


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.01)


def source(store: str, host: str) -> SourceNote:
    """What is remembered of a host."""

    async def read() -> SourceNote | None:
        async with runs.open_store(store) as opened:
            return await opened.source(host)

    note = asyncio.run(read())
    assert note is not None
    return note


def notices(store: str, *kinds: str) -> list[Notice]:
    """What was noticed, of some kinds."""

    async def read() -> list[Notice]:
        async with runs.open_store(store) as opened:
            return [notice for notice in await opened.notices() if notice.kind in kinds]

    return asyncio.run(read())


def clean(store: str) -> bool:
    """Whether the fetch log holds to all that was promised."""
    done = typed("audit", "--store", store)
    assert done.returncode in (0, 1), done
    return done.returncode == 0


def pages(site: Site, n: int) -> list[str]:
    """Give a site some pages; returns their URLs."""
    site.page("/p/*", "<p>x</p>")
    return [site.url(f"/p/{k}") for k in range(n)]


def served(code: str, **how: Any) -> SiteProcess:
    """A site in its own process, filled by some lines of code: its clock is not blurred by our work."""
    Path("served.py").write_text("from gossamer.testing import *\nimport time\ndef fill(site):\n" + code)
    return SiteProcess("served:fill", **how)


def slept(hits: Sequence[Hit]) -> list[float]:
    """Seconds between one request and the next, as a site in a process of its own has them."""
    return gaps([hit for hit in hits if hit.path != "/robots.txt"])


# -- slower and faster -----------------------------------------------------------------------------------------


def test_a_storm_slows_the_host_down_and_it_recovers(site: Site, store: str) -> None:
    given = pages(site, 160)
    site.storm("/p/*", times=1)
    report = crawl(*given, store=store, per_host=1)
    assert (report.pages, report.failed, report.retried) == (160, 0, 1)
    (slowed,) = notices(store, "slowed")
    assert "it answered with status 429" in slowed.detail
    refused = next(hit.at for hit in site.hits if hit.status == 429)
    after = gaps([hit for hit in site.hits if hit.at >= refused])
    assert sum(after[:5]) >= 5 * 0.8 * slowed.seconds  # 4 % faster with each
    assert sum(after[-20:]) < sum(after[:20]) / 4
    assert source(store, site.authority).interval == 0
    assert clean(store)


def test_a_longer_storm_slows_it_down_more(site: Site, store: str) -> None:
    given = pages(site, 30)
    site.storm("/p/*", seconds=1.4, status=503)
    report = crawl(*given, store=store, per_host=1, retries=20, max_pages=6, breaker_failures="none")
    assert report.pages == 6
    paces = [notice.seconds for notice in notices(store, "slowed")]
    assert len(paces) >= 2
    assert all(after >= 2 * before for before, after in itertools.pairwise(paces))
    learned = source(store, site.authority).interval
    assert 0 < learned <= max(paces)
    assert f"slowed to {learned:.2g} s" in typed("sources", "--store", store).stdout
    assert f"it taught us to leave {learned:.2g} s between requests" in why(given[0], store)


def test_timeouts_slow_it_down_as_well(site: Site, store: str) -> None:
    site.page("/", links("/slow", "/p/1", "/p/2"))
    site.hang("/slow", times=1)
    pages(site, 3)
    assert crawl(site.url("/"), store=store, timeout=0.3, per_host=1).pages == 4
    (slowed,) = notices(store, "slowed")
    assert "no answer came in 0.3" in slowed.detail


def test_what_was_learned_outlives_a_restart(site: Site, store: str) -> None:
    given = pages(site, 30)
    site.storm("/p/*", times=1)
    assert crawl(*given, store=store, rate="5/s", per_host=1, max_pages=2).reason == "max_pages"
    learned = source(store, site.authority).interval
    assert 0.35 <= learned <= 0.4  # twice the interval, and a little faster since
    before = len(site.hits)
    crawl(*given, store=store, rate="5/s", per_host=1, max_pages=3)
    resumed = gaps(site.hits)[before - 1 :]
    assert min(resumed) >= learned * 0.96**3 - JITTER
    assert source(store, site.authority).interval < learned
    assert clean(store)


def test_it_is_never_faster_than_it_was_told(store: str) -> None:
    """However well the host answers: measured at the host, in a process of its own."""
    with served('    site.page("/p/*", "<p>x</p>")\n    site.storm("/p/*", times=1)\n') as site:
        crawl(*(site.url(f"/p/{n}") for n in range(14)), store=store, rate="10/s", per_host=4)
        between = slept(site.hits())
    assert len(between) == 14
    assert min(between) >= 0.1 - 0.01
    assert max(between) >= 0.2 - 0.01
    assert clean(store)


def test_nor_than_the_crawl_delay(store: str) -> None:
    code = '    site.robots("User-agent: *\\nCrawl-delay: 0.2")\n    site.page("/p/*", "<p>x</p>")\n'
    with served(code) as site:
        crawl(*(site.url(f"/p/{n}") for n in range(8)), store=store, per_host=4)
        between = slept(site.hits())
    assert len(between) == 7
    assert min(between) >= 0.2 - 0.01
    assert clean(store)


def test_a_slow_lookup_bunches_nothing_up(site: Site, store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits for the same name does not leave together once it is known."""

    def slow(name: str) -> list[str]:
        time.sleep(0.4)
        return ["127.0.0.1"]

    monkeypatch.setattr(addresses, "system_resolver", slow)
    monkeypatch.setattr(addresses, "KEPT", 0.5)  # so that it is looked up several times
    pages(site, 0)
    crawl(*(f"http://shop.example:{site.port}/p/{n}" for n in range(16)), store=store, rate="10/s", robots=False)
    assert len(site.hits) == 16
    assert min(gaps(site.hits)) >= 0.1 - JITTER


# -- Retry-After -----------------------------------------------------------------------------------------------


def _in_seconds() -> str:
    return "1"


def _as_a_date() -> str:
    """Two seconds from now, as HTTP writes dates: in whole seconds, so up to one less."""
    return formatdate(time.time() + 2, usegmt=True)


@pytest.mark.parametrize(
    ("status", "form"),
    [(429, _in_seconds), (503, _in_seconds), (301, _in_seconds), (302, _as_a_date), (429, _as_a_date)],
)
def test_retry_after_is_never_shortened(site: Site, store: str, status: int, form: Callable[[], str]) -> None:
    until: list[float] = []

    def busy(hit: Hit) -> Answer:
        if until:
            return Answer(body="<p>x</p>")
        asks = form()
        wait = float(asks) if asks.isdigit() else float(int(time.time() + 2)) - time.time()
        until.append(time.monotonic() + wait)
        return Answer(status=status, headers={"Retry-After": asks, "Location": "/p/9"})

    site.page("/", links("/busy", "/p/1", "/p/2"))
    pages(site, 3)
    site.handler("/busy", busy)
    report = crawl(site.url("/"), store=store, per_host=1)
    assert (report.failed, report.pages) == (0, 4)
    refused = asked(site, "/busy")[0].at
    later = [hit.at for hit in site.hits if hit.at > refused]
    assert min(later) >= until[0] - 0.001  # nothing of the host, not only of the page
    (notice,) = notices(store, "retry_after")
    assert f"sent with status {status}" in notice.detail
    assert clean(store)


@pytest.mark.parametrize("status", [429, 302])
def test_nor_by_a_kill(site: Site, tmp_path: Path, status: int) -> None:
    site.page("/", links("/busy", "/p/1"))
    pages(site, 2)
    refusals = [Answer(status=status, headers={"Retry-After": "2", "Location": "/p/9"})]
    site.handler("/busy", lambda hit: refusals.pop() if refusals else Answer(body="<p>x</p>"))
    command = ["crawl", site.url("/"), "--rate", "none", "--per-host", "1", "--quiet"]
    process = start(*command, cwd=tmp_path)
    end = time.monotonic() + 15
    while refusals:
        assert time.monotonic() < end
        time.sleep(0.005)
    time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    ended(process)
    assert ended(start(*command, cwd=tmp_path)).returncode == 0
    refused = asked(site, "/busy")[0].at
    assert min(hit.at for hit in site.hits if hit.at > refused) - refused >= 2
    assert clean(str(tmp_path / "gossamer.db"))


def test_one_host_that_is_held_holds_no_worker_and_no_other_host(site: Site, store: str) -> None:
    with Site("127.0.0.2") as other:
        site.flaky("/busy", status=429, retry_after="1")
        given = pages(other, 60)
        crawl(site.url("/busy"), *given, store=store, concurrency=1, robots=False)
        times = [hit.at for hit in other.hits]
        assert max(times) - min(times) < 0.9
        assert gaps(asked(site, "/busy"))[0] >= 1


# -- robots.txt, kept ------------------------------------------------------------------------------------------

RULES = "User-agent: *\nDisallow: /private\n"


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
    site.robots(RULES + "Crawl-delay: 0.3\n")
    site.page("/", links("/private/x", "/p/1"))
    pages(site, 1)
    for _ in range(2):
        report = crawl(site.url("/"), store=store, fresh=True)
        assert (report.pages, report.by_reason["robots"]) == (2, 1)
    assert site.paths()["/robots.txt"] == 1
    assert min(gaps(site.hits)) >= 0.3 - JITTER  # its Crawl-delay is kept with it
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
    given = pages(site, 3)
    done = typed("crawl", *given, "--store", store, "--rate", "none", GOSSAMER_MAX_CRAWL_DELAY="0.4s")
    assert done.returncode == 0
    assert min(gaps(site.hits)) >= 0.4 - JITTER
    assert "robots.delay_clamped" in done.stderr
    said = "robots.txt asks for 1000 s between requests; max_crawl_delay allows 0.4 s"
    (notice,) = notices(store, "crawl_delay")
    assert notice.detail == said
    assert said in why(given[0], store)
    assert "crawl-delay 0.4 s" in typed("sources", "--store", store).stdout
    assert clean(store)


def test_a_crawl_delay_is_kept_across_runs_that_do_not_ask(site: Site, store: str) -> None:
    site.robots("User-agent: *\nCrawl-delay: 0.4\n")
    given = pages(site, 4)
    crawl(*given[:2], store=store)
    crawl(*given[2:], store=store, robots=False)
    assert min(gaps(site.hits)) >= 0.4 - JITTER


# -- one pace for a domain -------------------------------------------------------------------------------------


@pytest.fixture
def sisters(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """Names under several domains that all lead to one site."""
    monkeypatch.setattr(addresses, "system_resolver", lambda name: ["127.0.0.1"])
    site.page("/*", "<p>x</p>")
    return lambda name: f"http://{name}:{site.port}/"


def test_hosts_of_one_domain_may_share_a_pace(site: Site, store: str, sisters: Callable[[str], str]) -> None:
    given = [sisters(name) for name in ("www.shop.example", "api.shop.example", "shop.example", "other.example")]
    report = crawl(*given, store=store, rate="4/s", pace_per="domain")
    assert report.pages == 4
    shared = [hit for hit in site.hits if "shop" in hit.headers["host"]]
    assert len(shared) == 6
    # By our log, in `clean`: a host's first request makes a client first, which takes some time.
    assert sum(gaps(shared)) >= 5 * 0.25 - 0.2
    assert max(hit.at for hit in site.hits if "other" in hit.headers["host"]) < max(hit.at for hit in shared) - 0.5
    assert source(store, "*.shop.example").last_hit > 0
    assert clean(store)


def test_else_each_host_has_its_own(site: Site, store: str, sisters: Callable[[str], str]) -> None:
    given = [sisters(name) for name in ("www.shop.example", "api.shop.example", "shop.example")]
    began = time.monotonic()
    crawl(*given, store=store, rate="2/s")
    assert time.monotonic() - began < 2
    assert clean(store)


def test_a_retry_after_holds_the_domain(site: Site, store: str, sisters: Callable[[str], str]) -> None:
    site.flaky("/busy", status=429, retry_after="1")
    given = [sisters("www.shop.example") + "busy", sisters("api.shop.example") + "x"]
    crawl(*given, store=store, pace_per="domain", per_host=1, robots=False)
    refused = asked(site, "/busy")[0].at
    assert min([hit.at for hit in site.hits if hit.at > refused]) - refused >= 1
