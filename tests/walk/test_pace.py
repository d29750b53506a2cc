"""Politeness as the sites see it: pace, concurrency, and hosts that wait without holding a worker."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest

import gossamer
from gossamer import Scraper, runs
from gossamer.registry import Found
from gossamer.testing import Answer, Hit, Site
from tests.walk import asked, crawl, gaps, links, why

#: What the way through two event loops and a socket may add to or take from a gap, on a busy machine.
JITTER = 0.06


@pytest.fixture
def hosts() -> Iterator[list[Site]]:
    """Three more sites, each on a host of its own."""
    started = [Site(f"127.0.0.{n}").start() for n in (2, 3, 4)]
    yield started
    for each in started:
        each.stop()


def pages(site: Site, n: int, latency: float = 0.0) -> list[str]:
    """Give a site some pages; returns their URLs."""
    site.page("/p/*", "<p>page</p>", latency=latency)
    return [site.url(f"/p/{k}") for k in range(n)]


def span(site: Site) -> float:
    """Seconds from the first to the last request a site got."""
    times = [hit.at for hit in site.hits]
    return max(times) - min(times)


@pytest.mark.parametrize(("rate", "interval", "n"), [("5/s", 0.2, 6), ("2/s", 0.5, 3), ("300/min", 0.2, 3)])
def test_a_host_is_asked_no_faster_than_the_rate(site: Site, rate: str, interval: float, n: int) -> None:
    crawl(*pages(site, n), rate=rate)
    assert len(site.hits) == n + 1  # robots.txt takes a turn like any other
    between = gaps(site.hits)
    assert min(between) >= interval - JITTER
    assert span(site) == pytest.approx(n * interval, abs=interval)


def test_rate_none_does_not_wait(site: Site) -> None:
    crawl(*pages(site, 50))
    assert span(site) < 1


def test_the_default_is_polite(site: Site) -> None:
    asyncio.run(gossamer.crawl(*pages(site, 2)))
    assert min(gaps(site.hits)) >= 0.5 - JITTER


def test_a_second_run_keeps_the_distance_to_the_first(site: Site) -> None:
    """The pace is the host's, not the run's: what was promised is kept over a restart."""
    first, second = pages(site, 2)
    crawl(first, rate="1/s")
    crawl(second, rate="1/s", robots=False)
    assert gaps(site.hits)[-1] >= 1 - JITTER


@pytest.mark.parametrize("per_host", [1, 3])
def test_no_more_than_per_host_requests_at_once(site: Site, per_host: int) -> None:
    crawl(*pages(site, 24, latency=0.02), per_host=per_host, concurrency=64)
    assert site.peak == per_host


def test_no_more_than_concurrency_requests_at_once(site: Site) -> None:
    crawl(*pages(site, 24, latency=0.02), per_host=64, concurrency=5)
    assert site.peak == 5


def test_a_crawl_delay_slows_the_pace(site: Site) -> None:
    site.robots("User-agent: *\nCrawl-delay: 0.4")
    crawl(*pages(site, 3), per_host=4)
    assert min(gaps(site.hits)) >= 0.4 - JITTER


def test_a_slower_rate_of_ours_beats_their_crawl_delay(site: Site) -> None:
    site.robots("User-agent: *\nCrawl-delay: 0.01")
    crawl(*pages(site, 2), rate="4/s")
    assert min(gaps(site.hits)) >= 0.25 - JITTER


def test_a_slow_host_does_not_slow_the_others(site: Site, hosts: list[Site]) -> None:
    slow = pages(site, 6, latency=0.5)
    quick = [url for host in hosts for url in pages(host, 30, latency=0.01)]
    crawl(*slow, *quick, per_host=2, concurrency=8)
    assert span(site) >= 1
    assert max(span(host) for host in hosts) < 1


def test_a_waiting_host_holds_no_worker(site: Site, hosts: list[Site]) -> None:
    """Two workers, three hosts, one of which wants half a second between requests: the others do not notice."""
    site.robots("User-agent: *\nCrawl-delay: 0.5")
    patient = pages(site, 4)
    quick = [url for host in hosts[:2] for url in pages(host, 40, latency=0.005)]
    crawl(*patient, *quick, concurrency=2)
    assert span(site) >= 2 - JITTER
    assert max(span(host) for host in hosts[:2]) < 1.5


def test_hosts_take_turns(hosts: list[Site]) -> None:
    """With one worker, no host is served to the end before the next has its turn."""
    crawl(*(url for host in hosts for url in pages(host, 20)), concurrency=1, robots=False)
    ends = [max(hit.at for hit in host.hits) for host in hosts]
    starts = [min(hit.at for hit in host.hits) for host in hosts]
    assert max(starts) < min(ends)


def test_retry_after_is_never_cut_short_and_holds_the_whole_host(site: Site) -> None:
    site.page("/", links("/busy", *[f"/p/{n}" for n in range(5)]))
    pages(site, 5)
    site.flaky("/busy", times=1, status=503, retry_after="1")
    report = crawl(site.url("/"), per_host=1)
    assert (report.pages, report.retried, report.failed) == (7, 1, 0)
    refused = asked(site, "/busy")[0]
    after = [hit.at for hit in site.hits if hit.at > refused.at]
    assert min(after) - refused.at >= 1


def test_retry_after_as_a_date(site: Site) -> None:
    answers: list[Answer] = []

    def busy(hit: Hit) -> Answer:
        if answers:
            return Answer(body="<p>ok</p>")
        stamp = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 2))
        answers.append(Answer(status=429, headers={"Retry-After": stamp}))
        return answers[0]

    site.handler("/", busy)
    assert crawl(site.url("/")).pages == 1
    assert gaps(asked(site, "/"))[0] >= 1  # the date names whole seconds


def test_a_run_that_would_wait_too_long_stops_and_the_wait_is_not_shortened(site: Site, store: str) -> None:
    site.flaky("/", times=1, status=503, retry_after="2")
    report = crawl(site.url("/"), store=store, max_wait=0.3)
    assert (report.status, report.reason, report.exit_code) == ("stopped", "held", 3)
    assert "Retry-After: 2 s" in why(site.url("/"), store)
    report = crawl(site.url("/"), store=store)
    assert (report.reason, report.pages) == ("done", 1)
    assert gaps(asked(site, "/"))[0] >= 2


def test_a_retry_after_outlives_a_restart(site: Site, store: str) -> None:
    site.flaky("/", times=1, status=503, retry_after="1")
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(gossamer.crawl(site.url("/"), store=store, rate="none"), 0.4))
    assert crawl(site.url("/"), store=store).pages == 1
    assert gaps(asked(site, "/"))[0] >= 1


class Left(Scraper):
    """One of two scrapers on one host."""

    def start(self):
        return self.params["urls"]

    def parse(self, page):
        yield {"url": page.url}


class Right(Left):
    """The other."""


def test_two_scrapers_share_a_hosts_door(site: Site, store: str) -> None:
    """One waits until the other's request is answered; that is waiting, not a stall."""
    urls = pages(site, 3, latency=0.3)

    async def both() -> list[runs.Report]:
        async with runs.open_parts(store) as parts:
            plans = [
                runs.plan(Found(scraper, f"tests:{scraper.name}"), {"urls": urls}, {"rate": "none", "per_host": 1})
                for scraper in (Left, Right)
            ]
            return await asyncio.gather(*(runs.execute(parts, plan) for plan in plans))

    assert [report.pages for report in asyncio.run(both())] == [3, 3]
    assert site.peak == 1


def test_two_scrapers_share_a_hosts_pace(site: Site, store: str) -> None:
    urls = pages(site, 2)

    async def both() -> None:
        async with runs.open_parts(store) as parts:
            plans = [
                runs.plan(Found(scraper, f"tests:{scraper.name}"), {"urls": urls}, {"rate": "5/s"})
                for scraper in (Left, Right)
            ]
            await asyncio.gather(*(runs.execute(parts, plan) for plan in plans))

    asyncio.run(both())
    assert min(gaps(site.hits)) >= 0.2 - JITTER
