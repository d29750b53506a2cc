"""The audit: honest logs pass, and every promise that is broken on purpose is named."""

from __future__ import annotations

import io
import math
import random
import tracemalloc
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from gossamer import cli_audit
from gossamer.audit import MOST_TOLD, TOLERANCE, Audit, Auditor, HostAudit, audit
from gossamer.storage.store import FetchLine, RobotsNote
from gossamer.values import Notice, Start

T0 = 1_800_000_000.0
HOST = "a.example"
ORIGIN = f"https://{HOST}"
FORBIDS = b"User-agent: *\nDisallow: /private/\n"


def line(
    at: float, path: str = "/x", *, host: str = HOST, run: int = 1, elapsed: float = 0.01, **more: Any
) -> FetchLine:
    """One request, `at` seconds after the beginning of all times."""
    told = {"request_id": 1, "status": 200, "reason": "ok", **more}
    return FetchLine(run=run, url=f"https://{host}{path}", host=host, started=T0 + at, elapsed=elapsed, **told)


def start(at: float = -1.0, *, run: int = 1, **limits: Any) -> Start:
    """A start with no limits but those given."""
    told = {"rate": 0.0, "per_host": 0, "robots": False, "agent": "gossamer", "pace_per": "host"}
    return Start(run, T0 + at, {**told, "max_crawl_delay": 300.0, **limits})


def version(
    at: float, body: bytes = FORBIDS, *, origin: str = ORIGIN, status: int = 200, closed: str | None = None
) -> Any:
    return RobotsNote(origin, T0 + at, T0 + at, status, body, closed)


def audited(
    lines: Sequence[FetchLine],
    starts: Sequence[Start] = (),
    notices: Sequence[Notice] = (),
    robots: Sequence[RobotsNote] = (),
) -> Audit:
    return audit(lines, starts or [start()], notices, lambda origin: [n for n in robots if n.origin == origin])


def rules(found: Audit) -> list[str]:
    return [breach.rule for breach in found.breaches]


def only(found: Audit) -> HostAudit:
    (host,) = found.hosts
    return host


# -- rate


def test_requests_at_their_pace_are_clean() -> None:
    found = audited([line(n * 0.5) for n in range(100)], [start(rate=0.5)])
    host = only(found)
    assert found.clean
    assert (host.fetches, host.in_a_second, host.in_a_minute) == (100, 2, 100)
    assert host.shortest_gap == pytest.approx(0.5)
    assert host.asked_gap == 0.5
    assert host.spare == pytest.approx(0, abs=1e-5)


def test_one_request_too_soon_is_named_with_both_urls_and_times() -> None:
    times = [0, 0.5, 1.0, 1.3, 1.8]
    found = audited([line(at, f"/{n}") for n, at in enumerate(times)], [start(rate=0.5)])
    (breach,) = found.breaches
    assert (breach.host, breach.rule, breach.run, breach.at) == (HOST, "rate", 1, T0 + 1.3)
    assert breach.urls == (f"{ORIGIN}/2", f"{ORIGIN}/3")
    assert f"{HOST} was asked for {ORIGIN}/3 at " in breach.text
    assert f"0.300 s after {ORIGIN}/2: the rate asks for 0.5 s between two requests" in breach.text
    assert not found.clean


def test_what_a_timer_is_off_is_no_breach_but_what_adds_up_is() -> None:
    off = TOLERANCE * 0.8
    assert audited([line(0), line(0.5 - off), line(1.0 - off)], [start(rate=0.5)]).clean
    found = audited([line(n * (0.5 - off), f"/{n}") for n in range(4)], [start(rate=0.5)])
    breach = found.breaches[0]
    assert "got 3 requests within 0.992 s" in breach.text
    assert "the limits ask for 1.000 s between the first and the last" in breach.text
    assert breach.urls == (f"{ORIGIN}/0", f"{ORIGIN}/2")


def test_a_pause_earns_no_burst() -> None:
    found = audited([line(0), line(100), line(100.1)], [start(rate=0.5)])
    assert rules(found) == ["rate"]


def test_the_limits_of_the_start_before_a_request_hold() -> None:
    lines = [line(0), line(0.5), line(11), line(11.1)]
    assert audited(lines, [start(rate=0.5), start(10, rate=0.1)]).clean
    assert rules(audited(lines, [start(rate=0.5), start(10, rate=0.2)])) == ["rate"]


def test_a_slow_run_is_kept_at_a_distance_by_a_quick_one_and_keeps_it() -> None:
    slow, quick = start(-1, run=1, rate=10.0), start(-1, run=2)
    assert audited([line(0, run=1), line(10, run=2), line(20, run=1)], [slow, quick]).clean
    assert rules(audited([line(0, run=1), line(5, run=2)], [slow, quick])) == ["rate"]
    assert rules(audited([line(0, run=2), line(5, run=1)], [slow, quick])) == ["rate"]
    # What happened before a run began was none of its business.
    late = start(3, run=1, rate=10.0)
    assert audited([line(0, run=2), line(5, run=1)], [late, quick]).clean


def test_hosts_do_not_share_a_pace() -> None:
    assert audited([line(0, host="a.org"), line(0.1, host="b.org")], [start(rate=0.5)]).clean


def test_hosts_of_a_domain_share_a_pace_if_told_so() -> None:
    lines = [line(0, host="a.site.org"), line(1, host="a.site.org"), line(0.5, host="b.site.org")]
    shared = [start(rate=0.5, pace_per="domain")]
    found = audited(lines, shared)
    assert found.clean
    (domain,) = found.domains
    assert (domain.host, domain.fetches, domain.shortest_gap) == ("site.org", 3, pytest.approx(0.5))
    broken = audited([*lines, line(1.2, host="b.site.org", run=1)], shared)
    (breach,) = broken.breaches
    assert (breach.rule, breach.host, breach.run) == ("rate", "site.org", 1)
    assert "asked for b.site.org at" in breach.text
    assert audited([*lines, line(1.2, host="b.site.org")], [start(rate=0.5)]).clean


# -- concurrency


def test_too_many_at_once_are_named() -> None:
    lines = [line(0, "/0", elapsed=1), line(0.1, "/1", elapsed=1), line(0.2, "/2", elapsed=1), line(1.25, "/3")]
    assert only(audited(lines)).at_once == 3
    assert audited(lines, [start(per_host=3)]).clean
    (breach,) = audited(lines, [start(per_host=2)]).breaches
    assert breach.rule == "concurrency"
    assert f"had 3 requests under way when {ORIGIN}/2 left" in breach.text
    assert set(breach.urls) == {f"{ORIGIN}/{n}" for n in range(3)}


def test_one_that_leaves_as_another_ends_is_not_beside_it() -> None:
    assert audited([line(0, elapsed=1), line(1 - TOLERANCE / 2)], [start(per_host=1)]).clean
    assert rules(audited([line(0, elapsed=1), line(1 - TOLERANCE * 2)], [start(per_host=1)])) == ["concurrency"]


# -- Retry-After


def told(at: float, seconds: float, kind: str = "retry_after", host: str = HOST) -> Notice:
    return Notice(host, T0 + at, kind, seconds, "sent with status 429")


def test_a_retry_after_that_is_kept() -> None:
    found = audited([line(0, status=429), line(30.2)], notices=[told(0.2, 30)])
    (wait,) = only(found).retry_after
    assert found.clean
    assert (wait.seconds, wait.next, wait.kept) == (30, T0 + 30.2, True)


def test_a_retry_after_that_is_not() -> None:
    found = audited([line(0, status=429), line(12, "/early"), line(40)], notices=[told(0.2, 30)])
    (breach,) = found.breaches
    assert breach.rule == "retry_after"
    assert "to come back after 30 s" in breach.text
    assert f"asked for {ORIGIN}/early after 11.800 s" in breach.text
    (wait,) = only(found).retry_after
    assert (wait.next, wait.kept) == (T0 + 12, False)


def test_what_was_on_its_way_when_it_was_heard_is_no_breach() -> None:
    assert audited([line(0, status=429), line(0.203)], notices=[told(0.2, 30)]).clean


def test_a_retry_after_of_another_host_says_nothing() -> None:
    assert audited([line(5)], notices=[told(0, 30, host="b.example")]).clean


def test_a_retry_after_of_a_domain_holds_for_runs_that_pace_by_domain() -> None:
    heard = [told(0, 30, host="*.site.org")]
    lines = [line(5, host="www.site.org")]
    assert audited(lines, notices=heard).clean
    assert rules(audited(lines, [start(pace_per="domain")], notices=heard)) == ["retry_after"]


def test_a_retry_after_nothing_came_after() -> None:
    (wait,) = only(audited([line(0)], notices=[told(0.2, 30)])).retry_after
    assert (wait.next, wait.kept) == (None, True)


# -- Crawl-delay


def delayed(body: str = "User-agent: *\nCrawl-delay: 3\n") -> list[RobotsNote]:
    return [version(0.1, body.encode())]


def test_a_crawl_delay_is_a_floor_for_the_pace() -> None:
    asked = line(0, "/robots.txt", request_id=0, reason="robots")
    obeys = [start(robots=True, rate=0.5)]
    assert audited([asked, line(3), line(6)], obeys, robots=delayed()).clean
    found = audited([asked, line(3), line(4, "/early")], obeys, robots=delayed())
    (breach,) = found.breaches
    assert breach.rule == "crawl_delay"
    assert f"asked for {ORIGIN}/early" in breach.text
    assert "its Crawl-delay asks for 3 s" in breach.text
    assert rules(audited([asked, line(0.6)], obeys, robots=delayed())) == ["crawl_delay"]


def test_a_crawl_delay_is_clamped_as_the_run_said_and_ignored_where_robots_are() -> None:
    lines = [line(0, "/robots.txt", request_id=0), line(2), line(4)]
    assert audited(lines, [start(robots=True, max_crawl_delay=2.0)], robots=delayed()).clean
    assert audited(lines, [start(robots=False)], robots=delayed()).clean


def test_a_crawl_delay_that_went_away_is_not_asked_for() -> None:
    versions = [*delayed(), version(10, b"User-agent: *\nDisallow:\n")]
    lines = [line(0, "/robots.txt", request_id=0), line(3), line(11.5), line(11.6)]
    assert audited(lines, [start(robots=True)], robots=versions).clean


def test_without_a_robots_txt_the_notice_counts() -> None:
    heard = [told(0, 3.0, "crawl_delay")]
    found = audited([line(1), line(2)], [start(robots=True)], notices=heard)
    assert rules(found) == ["crawl_delay"]
    assert [delay.seconds for delay in only(found).crawl_delays] == [3.0]


# -- robots


def test_every_url_is_held_against_the_robots_of_its_time() -> None:
    lines = [line(1, "/private/a"), line(10, "/open"), line(11, "/private/b")]
    versions = [version(0, b"User-agent: *\nDisallow: /other/\n"), version(5)]
    found = audited(lines, [start(robots=True)], robots=versions)
    (breach,) = found.breaches
    assert breach.rule == "robots"
    assert f"asked for {ORIGIN}/private/b" in breach.text
    assert "line 2: Disallow: /private/" in breach.text
    decisions = [(d.fetched - T0, d.allowed, d.because, d.count) for d in only(found).decisions]
    assert (0, True, "", 1) in decisions
    assert (5, True, "", 1) in decisions
    assert (5, False, "line 2: Disallow: /private/", 1) in decisions


def test_the_agent_of_the_run_is_the_one_that_counts() -> None:
    body = b"User-agent: mybot\nAllow: /\n\nUser-agent: *\nDisallow: /\n"
    lines = [line(1)]
    assert audited(lines, [start(robots=True, agent="mybot")], robots=[version(0, body)]).clean
    assert rules(audited(lines, [start(robots=True)], robots=[version(0, body)])) == ["robots"]


def test_a_site_that_was_closed_may_not_be_asked() -> None:
    closed = version(0, b"", status=503, closed="status 503: it could not be read")
    (breach,) = audited([line(2)], [start(robots=True)], robots=[closed]).breaches
    assert "status 503: it could not be read" in breach.text


def test_rules_hold_for_a_day_even_if_they_cannot_be_read_again() -> None:
    closed = version(10, b"", status=503, closed="status 503: it could not be read")
    lines = [line(20, "/open"), line(30, "/private/"), line(24 * 3600 + 5, "/open")]
    found = audited(lines, [start(robots=True)], robots=[version(0), closed])
    assert [breach.urls[0] for breach in found.breaches] == [f"{ORIGIN}/private/", f"{ORIGIN}/open"]


def test_robots_txt_itself_may_always_be_asked_for() -> None:
    nothing = version(0, b"User-agent: *\nDisallow: /\n")
    asked = line(2, "/robots.txt", request_id=0, reason="robots")
    assert audited([asked], [start(robots=True)], robots=[nothing]).clean


def test_a_request_on_its_way_is_not_held_against_rules_that_came_meanwhile() -> None:
    versions = [version(0, b""), version(5)]
    assert audited([line(5.2, "/private/")], [start(robots=True)], robots=versions).clean
    assert not audited([line(6.2, "/private/")], [start(robots=True)], robots=versions).clean


def test_runs_told_not_to_obey_are_exempt_and_said_to_be() -> None:
    found = audited([line(1, "/private/")], [start(robots=False)], robots=[version(0)])
    assert found.clean
    assert only(found).exempt == 1
    assert "told not to obey robots.txt" in found.notes[0]


def test_what_cannot_be_proven_is_said() -> None:
    found = audited([line(1, run=9)])
    assert (found.clean, only(found).unproven) == (True, 1)
    assert "cannot be judged" in found.notes[0]
    found = audited([line(1)], [start(robots=True)])
    assert (found.clean, only(found).unproven) == (True, 1)
    assert [d.because for d in only(found).decisions] == ["no robots.txt of that time is in the store"]


# -- logs of any kind


def test_lines_must_come_host_by_host_and_in_order() -> None:
    with pytest.raises(ValueError, match="do not stand together"):
        audited([line(0), line(1, host="b.org"), line(2)])
    with pytest.raises(ValueError, match="not in the order"):
        audited([line(1), line(0)])


def test_an_empty_log_is_clean() -> None:
    found = audited([])
    assert (found.clean, found.hosts, found.fetches) == (True, [], 0)


def test_many_breaches_are_counted_and_some_told() -> None:
    found = audited([line(n * 0.1) for n in range(101)], [start(rate=0.5)])
    assert (found.breach_count, len(found.breaches)) == (100, MOST_TOLD)


@given(
    seed=st.integers(0, 2**32),
    interval=st.floats(0.02, 30),
    count=st.integers(2, 60),
    data=st.data(),
)
def test_an_honest_bucket_is_never_accused_and_a_shortened_gap_always_found(
    seed: int, interval: float, count: int, data: st.DataObject
) -> None:
    times = _honest(random.Random(seed), interval, count)
    lines = [line(at, f"/{n}", elapsed=0.0) for n, at in enumerate(times)]
    assert audited(lines, [start(rate=interval)]).clean
    where = data.draw(st.integers(1, count - 1))
    gap = data.draw(st.floats(0, interval - TOLERANCE * 1.5))
    shift = times[where] - times[where - 1] - gap
    early = [line(at - (shift if n >= where else 0), f"/{n}", elapsed=0.0) for n, at in enumerate(times)]
    found = audited(early, [start(rate=interval)])
    assert f"{ORIGIN}/{where}" in {url for breach in found.breaches for url in breach.urls}


def _honest(rng: random.Random, interval: float, count: int) -> list[float]:
    """Times at which a bucket of one token lets requests go: never early, often late."""
    at, times = 0.0, []
    for _ in range(count):
        at += rng.choice([0.0, 0.0, rng.random() * interval, rng.random() * 10])
        times.append(at)
        at += interval
    return times


@given(
    seed=st.integers(0, 2**32),
    interval=st.floats(0.05, 5),
    count=st.integers(3, 40),
)
def test_windows_are_found_whichever_pair_they_are_of(seed: int, interval: float, count: int) -> None:
    """One pass finds a breach exactly where comparing every pair finds one."""
    rng = random.Random(seed)
    gaps = [interval + rng.uniform(-0.9, 1.5) * TOLERANCE for _ in range(count)]
    times = [sum(gaps[:n]) for n in range(count + 1)]
    found = audited([line(at, elapsed=0.0) for at in times], [start(rate=interval)])
    pairs = [times[j] - times[i] - (j - i) * interval for i in range(count) for j in range(i + 1, count + 1)]
    worst = min(pairs)
    if not math.isclose(worst, -TOLERANCE, abs_tol=1e-6):
        assert found.clean == (worst >= -TOLERANCE)
    if found.clean:
        assert only(found).spare == pytest.approx(worst, abs=1e-5)


@given(seed=st.integers(0, 2**32), count=st.integers(1, 80))
def test_counts_are_those_of_looking_at_everything(seed: int, count: int) -> None:
    rng = random.Random(seed)
    times = sorted(rng.random() * 90 for _ in range(count))
    lines = [line(at, elapsed=rng.random() * 3) for at in times]
    host = only(audited(lines))
    starts = [each.started for each in lines]
    for seconds, most in ((1, host.in_a_second), (60, host.in_a_minute)):
        assert most == max(sum(at - seconds < other <= at for other in starts) for at in starts)
    ends = [each.started + each.elapsed for each in lines]
    together = [1 + sum(ends[i] > starts[j] + TOLERANCE for i in range(j)) for j in range(count)]
    assert host.at_once == max(together)


def test_a_long_log_takes_little_memory() -> None:
    def log() -> Iterator[FetchLine]:
        for n in range(60_000):
            yield line(n * 0.5, f"/{n}", elapsed=1.2)

    auditor = Auditor([start(rate=0.5, per_host=4, robots=True)], [], lambda origin: [version(-5)])
    for each in log():
        auditor.feed(each)
        if each.url.endswith("/10000"):
            tracemalloc.start()
            before = tracemalloc.get_traced_memory()[0]
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert auditor.result().clean
    assert grown < 1 << 20


# -- shown


def shown(found: Audit) -> str:
    console = Console(width=200, file=io.StringIO())
    console.print(cli_audit.render(found))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_clean_audit_says_so() -> None:
    lines = [line(0, "/robots.txt", request_id=0), line(3), line(40)]
    found = audited(lines, [start(robots=True, rate=0.5, per_host=4)], [told(3.1, 30)], delayed())
    text = shown(found)
    assert "kept: 3 requests to 1 host, no limit exceeded (to 5 ms)" in text
    assert f"{HOST}: Retry-After heard 1 time, up to 30.0 s, kept 1 of 1" in text
    assert "3.000 s" in text
    assert shown(audited([])).strip() == "nothing was fetched: there is nothing to audit"


def test_a_broken_promise_is_shown_with_its_rule() -> None:
    text = shown(audited([line(n * 0.1) for n in range(101)], [start(rate=0.5)]))
    assert "breach of rate, run 1: a.example was asked for" in text
    assert "and 80 more breaches" in text
    assert "broken: 101 requests to 1 host, 100 breaches" in text


def test_an_audit_can_be_written_as_json_and_read_again() -> None:
    found = audited([line(0), line(0.1)], [start(rate=0.5)])
    again = msgspec.json.decode(msgspec.json.encode(found), type=Audit)
    assert again.breaches == found.breaches
