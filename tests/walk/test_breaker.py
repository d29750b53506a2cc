"""Hosts that fail: left alone for a while, tried with one request, and no burden for the others."""

from __future__ import annotations

import asyncio
import itertools
import math
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gossamer import Report, runs
from gossamer.fetch import retry
from gossamer.storage.store import SourceNote
from gossamer.testing import Answer, Hit, Site
from gossamer.values import Notice
from tests.cli import ended, start, typed
from tests.servers import dead_port
from tests.walk import asked, crawl, fates, gaps, links, why


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.01)


def shop(site: Site, n: int, fails: Callable[[int, Hit], bool], status: int = 502, latency: float = 0.0) -> str:
    """A front page and `n` pages behind it; `fails` says which of the requests for those do, counted from 1."""
    numbers = itertools.count(1)
    site.page("/", links(*(f"/p/{k}" for k in range(n))))

    def answer(hit: Hit) -> Answer:
        bad = fails(next(numbers), hit)
        return Answer(status=status if bad else 200, body="" if bad else "<p>x</p>", latency=0 if bad else latency)

    site.handler("/p/*", answer)
    return site.url("/")


def behind(site: Site) -> list[Hit]:
    """The requests for the pages behind the front page."""
    return [hit for hit in site.hits if hit.path.startswith("/p/")]


def told(store: str) -> tuple[list[Notice], list[SourceNote]]:
    """What was noticed about hosts, and what is remembered of them."""

    async def read() -> tuple[list[Notice], list[SourceNote]]:
        async with runs.open_store(store) as opened:
            return await opened.notices(), await opened.sources()

    return asyncio.run(read())


def openings(store: str) -> list[str]:
    """What the breaker said each time it opened or closed."""
    return [notice.detail for notice in told(store)[0] if notice.kind.startswith("breaker")]


def walk(url: str, store: str, **knobs: Any) -> Report:
    """A crawl, one request after the other, with a breaker that waits for half a second."""
    return crawl(url, store=store, **{"per_host": 1, "breaker_wait": 0.5, **knobs})


# -- opening and closing ---------------------------------------------------------------------------------------


def test_a_host_that_fails_again_and_again_is_left_alone_and_then_tried(site: Site, store: str) -> None:
    report = walk(shop(site, 12, lambda n, hit: n <= 5), store)
    assert (report.pages, report.failed, report.retried) == (13, 0, 5)
    between = gaps(behind(site))
    assert between[4] >= 0.5  # after the fifth failure
    assert max(between[5:]) < 0.5
    opened, closed = openings(store)
    assert opened.startswith("5 failures in a row (the last: status 502): left alone for 0.5 s")
    assert closed == "it answers again"
    assert told(store)[1][0].breaker == "closed"


@pytest.mark.parametrize("kind", ["reset", "hang", "truncate", "garbage"])
def test_whatever_the_way_it_fails_in(site: Site, store: str, kind: str) -> None:
    site.page("/", links(*(f"/p/{k}" for k in range(8))))
    getattr(site, kind)("/p/*", times=3)
    report = walk(site.url("/"), store, breaker_failures=3, timeout=0.2)
    assert (report.pages, report.failed) == (9, 0)
    assert gaps(behind(site))[2] >= 0.5
    assert len(openings(store)) == 2


def test_urls_that_wait_for_a_failing_host_cost_no_attempts(site: Site, store: str) -> None:
    """With one retry each, forty pages outlive a host that is down for far longer than that."""
    back = math.inf
    url = shop(site, 40, lambda n, hit: time.monotonic() < back)
    back = time.monotonic() + 1.2
    report = walk(url, store, retries=1, breaker_wait=0.4)
    assert report.pages + report.failed == 41
    # Five to see that it is down, one or two to see that it still is: some of those may be the same page.
    assert (report.failed <= 2, report.retried <= 7) == (True, True)
    assert len(behind(site)) <= 40 + 8
    assert "attempt" not in why(site.url("/p/30"), store)


def test_each_time_it_fails_again_the_wait_is_twice_as_long(site: Site, store: str) -> None:
    report = walk(shop(site, 8, lambda n, hit: n <= 7), store, breaker_wait=0.2, retries=5)
    assert (report.pages, report.failed) == (9, 0)
    between = gaps(behind(site))
    assert between[4] >= 0.2
    assert between[5] >= 0.4
    assert between[6] >= 0.8
    first, again, once_more, closed = openings(store)
    assert first.startswith("5 failures in a row")
    assert "it failed again when it was tried" in again
    assert "left alone for 0.8 s" in once_more
    assert closed == "it answers again"


def test_it_is_tried_with_one_request_at_a_time(site: Site, store: str) -> None:
    seen: list[float] = []

    def fails(n: int, hit: Hit) -> bool:
        """Until it has been left alone for a while."""
        seen.append(hit.at)
        return not any(after - before > 0.4 for before, after in itertools.pairwise(seen))

    url = shop(site, 12, fails, latency=0.2)
    report = walk(url, store, per_host=4)
    assert report.pages == 13
    probe, *rest = sorted(hit.at for hit in behind(site) if hit.status == 200)
    assert min(rest) - probe >= 0.2
    assert len([at for at in rest if at - rest[0] < 0.15]) >= 3  # then as many as before


def test_it_opens_by_the_share_of_failures_as_well(site: Site, store: str) -> None:
    """Never three failures in a row, but two of three requests."""
    report = walk(
        shop(site, 60, lambda n, hit: n <= 40 and n % 3 > 0, status=500), store, retries=2, breaker_failures=4
    )
    assert report.pages + report.failed == 61
    first = openings(store)[0]
    assert "requests failed within 60 s" in first
    bad, _, calls = first.split()[:3]
    assert int(calls) >= 20
    assert int(bad) / int(calls) >= 0.5


def test_a_rate_that_is_higher_lets_it_stay_closed(site: Site, store: str) -> None:
    url = shop(site, 40, lambda n, hit: n % 3 > 0, status=500)
    walk(url, store, retries=0, breaker_failures=4, breaker_rate=0.9)
    assert openings(store) == []


def test_a_breaker_can_be_off(site: Site, store: str) -> None:
    report = walk(shop(site, 12, lambda n, hit: True), store, retries=0, breaker_failures="none")
    assert (report.failed, report.reason, openings(store)) == (12, "done", [])


# -- what is no failing host -----------------------------------------------------------------------------------


def test_a_few_pages_that_always_fail_are_no_failing_host(site: Site, store: str) -> None:
    """Not even when, at the end, nothing but their retries is left."""
    report = walk(shop(site, 40, lambda n, hit: hit.path.endswith(("3", "7")), status=500), store, retries=3)
    assert (report.pages, report.failed, report.retried) == (33, 8, 24)
    assert openings(store) == []


@pytest.mark.parametrize(("status", "after"), [(404, None), (403, None), (410, None), (429, None), (429, "0")])
def test_answers_that_say_no_are_answers(site: Site, store: str, status: int, after: str | None) -> None:
    site.page("/", links(*(f"/p/{k}" for k in range(12))))
    site.flaky("/p/*", times=math.inf, status=status, retry_after=after)
    report = walk(site.url("/"), store, retries=0)
    assert (report.failed, openings(store)) == (12, [])


def test_a_host_that_says_when_to_come_again_is_held_and_not_broken(site: Site, store: str) -> None:
    site.page("/", links(*(f"/p/{k}" for k in range(8))))
    site.page("/p/*", "<p>x</p>")
    site.storm("/p/*", times=1, status=503, retry_after="1")
    report = walk(site.url("/"), store, breaker_failures=1)
    assert (report.pages, openings(store)) == (9, [])


# -- across restarts -------------------------------------------------------------------------------------------


def test_a_run_whose_only_host_is_open_says_so_and_stops_to_be_resumed(site: Site, store: str) -> None:
    url = shop(site, 12, lambda n, hit: n <= 5)
    report = walk(url, store, breaker_wait=5, max_wait=0.3)
    assert (report.status, report.reason, report.exit_code) == ("stopped", "held", 3)
    assert report.seconds < 5
    (note,) = told(store)[1]
    assert (note.breaker, note.openings) == ("open", 1)
    host = site.authority
    for shown in (typed("status", "--store", store).stdout, typed("sources", "--store", store).stdout):
        assert host in shown
        assert "breaker open" in shown
    story = why(site.url("/p/9"), store)
    assert "waiting: the run is stopped; `gossamer resume 1` goes on" in story
    assert f"host {host}: its breaker is open until" in story
    assert "5 failures in a row" in story
    # The same command goes on, after what is left of the wait, with one request to begin with.
    report = walk(url, store, breaker_wait=5)
    assert (report.run, report.reason, report.pages, report.failed) == (1, "done", 13, 0)
    assert gaps(behind(site))[4] >= 5
    assert told(store)[1][0].breaker == "closed"


def test_the_command_says_which_host_it_is(site: Site, store: str) -> None:
    url = shop(site, 8, lambda n, hit: True)
    env = {"GOSSAMER_BREAKER_WAIT": "60s", "GOSSAMER_MAX_WAIT": "1s"}
    done = typed("crawl", url, "--store", store, "--rate", "none", "--per-host", "1", **env)
    assert done.returncode == 3
    assert f"{site.authority} is to be left alone for" in done.stderr
    assert "5 failures in a row" in done.stderr
    assert "go on: the same command" in done.stderr


def test_what_it_learned_outlives_a_kill(site: Site, tmp_path: Path) -> None:
    url = shop(site, 8, lambda n, hit: n <= 5)
    env = {"GOSSAMER_BREAKER_WAIT": "2s"}
    command = ["crawl", url, "--rate", "none", "--per-host", "1", "--quiet"]
    process = start(*command, cwd=tmp_path, **env)
    end = time.monotonic() + 15
    while len(behind(site)) < 5:
        assert time.monotonic() < end
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    ended(process)
    assert told(str(tmp_path / "gossamer.db"))[1][0].breaker == "open"
    assert ended(start(*command, cwd=tmp_path, **env)).returncode == 0
    assert gaps(behind(site))[4] >= 2
    assert set(fates(site, str(tmp_path / "gossamer.db")).values()) == {"done ok"}


def test_it_can_be_forgotten_by_hand(site: Site, store: str) -> None:
    url = shop(site, 8, lambda n, hit: n <= 5)
    assert walk(url, store, breaker_wait="1h", max_wait=0.3).reason == "held"
    assert typed("sources", "forget", site.authority, "--store", store).returncode == 0
    assert walk(url, store).pages == 9


# -- the others ------------------------------------------------------------------------------------------------


def test_a_dead_host_and_a_failing_one_cost_the_others_nothing(store: str) -> None:
    with Site("127.0.0.2") as fine, Site("127.0.0.3") as failing:
        fine.page("/*", "<p>x</p>")
        failing.page("/*", "", status=503)
        dead = f"http://127.0.0.4:{dead_port()}"
        given = [f"{where}/{n}" for n in range(60) for where in (dead, failing.url(""), fine.url(""))]
        report = crawl(*given, store=store, robots=False, concurrency=8, breaker_wait="1h", max_wait=0.3, retries=1)
        assert (report.reason, report.pages) == ("held", 60)
        times = [hit.at for hit in fine.hits]
        assert max(times) - min(times) < 1.5
        # Those that were under way when it opened.
        assert len(failing.hits) <= 5 + 4
        assert sorted(note.breaker for note in told(store)[1]) == ["closed", "open", "open"]


def test_a_host_that_fails_does_not_end_a_run_that_has_other_work(site: Site, store: str) -> None:
    with Site("127.0.0.2") as failing:
        failing.page("/*", "", status=502)
        site.page("/*", "<p>x</p>", latency=0.02)
        given = [f"{failing.url('')}/{n}" for n in range(8)] + [f"{site.url('')}/{n}" for n in range(60)]
        report = crawl(*given, store=store, robots=False, per_host=1, breaker_wait="1h", max_wait=0.2)
        assert (report.reason, report.pages) == ("held", 60)
        assert len(asked(site, "/59")) == 1
