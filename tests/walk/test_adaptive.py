"""A pace that heeds the host: slower when it is too much, never faster than promised, kept across restarts."""

from __future__ import annotations

import asyncio
import itertools
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from email.utils import formatdate
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gossamer import runs
from gossamer.fetch import addresses, retry
from gossamer.storage.store import SourceNote
from gossamer.testing import Answer, Hit, Site, SiteProcess
from gossamer.values import Notice
from tests.cli import ended, start, typed
from tests.walk import asked, crawl, gaps, links, why

#: What the way through two event loops and a socket may take from a gap.
JITTER = 0.04


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
    assert sum(after[-20:]) < sum(after[:20]) / 2
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
        crawl(*(site.url(f"/p/{n}") for n in range(7)), store=store, rate="10/s", per_host=4)
        between = slept(site.hits())
    assert len(between) == 7
    assert min(between) >= 0.1 - JITTER
    assert max(between) >= 0.2 - JITTER
    assert clean(store)


def test_nor_than_the_crawl_delay(store: str) -> None:
    code = '    site.robots("User-agent: *\\nCrawl-delay: 0.2")\n    site.page("/p/*", "<p>x</p>")\n'
    with served(code) as site:
        crawl(*(site.url(f"/p/{n}") for n in range(5)), store=store, per_host=4)
        between = slept(site.hits())
    assert len(between) == 4
    assert min(between) >= 0.2 - JITTER
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
    [(429, _in_seconds), (503, _in_seconds), (301, _in_seconds), (302, _as_a_date)],
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


def test_nor_by_a_kill(tmp_path: Path) -> None:
    """Two crawls at the same time, each killed when it has been told to wait."""
    with Site() as busy, Site() as moved:
        crawls = []
        for site, status in ((busy, 429), (moved, 302)):
            site.page("/", links("/busy", "/p/1"))
            pages(site, 2)
            answers = [Answer(status=status, headers={"Retry-After": "2", "Location": "/p/9"})]
            site.handler("/busy", partial(_at_first, answers))
            command = ["crawl", site.url("/"), "--store", f"{status}.db", "--rate", "none", "--per-host", "1", "-q"]
            crawls.append((site, f"{status}.db", command, start(*command, cwd=tmp_path)))
        for site, _, _, process in crawls:
            end = time.monotonic() + 15
            while not asked(site, "/busy"):
                assert time.monotonic() < end
                time.sleep(0.005)
            time.sleep(0.2)
            process.send_signal(signal.SIGKILL)
            ended(process)
        again = [start(*command, cwd=tmp_path) for _, _, command, _ in crawls]
        assert [ended(process).returncode for process in again] == [0, 0]
        for site, store, _, _ in crawls:
            refused = asked(site, "/busy")[0].at
            assert min(hit.at for hit in site.hits if hit.at > refused) - refused >= 2
            assert clean(str(tmp_path / store))


def _at_first(answers: list[Answer], hit: Hit) -> Answer:
    return answers.pop() if answers else Answer(body="<p>x</p>")


def test_one_host_that_is_held_holds_no_worker_and_no_other_host(site: Site, store: str) -> None:
    with Site("127.0.0.2") as other:
        site.flaky("/busy", status=429, retry_after="1")
        given = pages(other, 60)
        crawl(site.url("/busy"), *given, store=store, concurrency=1, robots=False)
        times = [hit.at for hit in other.hits]
        assert max(times) - min(times) < 0.9
        assert gaps(asked(site, "/busy"))[0] >= 1


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
    crawl(*given, store=store, rate="1/s")
    assert time.monotonic() - began < 4
    assert clean(store)


def test_a_retry_after_holds_the_domain(site: Site, store: str, sisters: Callable[[str], str]) -> None:
    site.flaky("/busy", status=429, retry_after="1")
    given = [sisters("www.shop.example") + "busy", sisters("api.shop.example") + "x"]
    crawl(*given, store=store, pace_per="domain", per_host=1, robots=False)
    refused = asked(site, "/busy")[0].at
    assert min([hit.at for hit in site.hits if hit.at > refused]) - refused >= 1
