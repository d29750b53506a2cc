"""Politeness at the door: no host is asked sooner than was promised."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer import clock, urls
from gossamer.errors import (
    AddressRefused,
    Broken,
    ConnectFailed,
    FetchError,
    HeadersTooLarge,
    ProxyFailed,
    SlowStart,
    TimedOut,
    TlsFailed,
    TooLarge,
    Unsendable,
)
from gossamer.polite.gate import FARTHEST, Door, Gate
from gossamer.polite.robots import Robots
from gossamer.settings import ScraperConfig
from gossamer.storage.sqlite import SqliteStore
from gossamer.storage.store import RobotsNote, SourceNote
from gossamer.values import Notice

ORIGIN = "https://a.org"


def a_door(**knobs: Any) -> Door:
    """A door as a run without a pace meets it."""
    door = Door("a.org", set(), [])
    door.suit(ScraperConfig(**{"rate": "none", **knobs}))
    return door


def told(door: Door) -> list[Notice]:
    """What the door noticed."""
    return door._notices


def wait(door: Door) -> float:
    """Seconds until a host may be asked."""
    return max(0.0, door.next_at - time.monotonic())


spans = st.floats(0, 100)
steps = st.lists(
    st.one_of(
        st.just(("enter", 0.0)),
        st.tuples(st.sampled_from(["pass", "hold", "slow", "recall", "obey", "blocked"]), spans),
        st.tuples(st.sampled_from(["answered", "failed"]), spans),
    ),
    max_size=30,
)


@given(steps)
def test_no_two_requests_are_closer_than_the_pace_and_none_comes_while_a_host_is_held(
    todo: list[tuple[str, float]],
) -> None:
    door = a_door(per_host=1000, max_crawl_delay=50)
    now = time.monotonic()
    last: float | None = None
    promised = 0.0
    for verb, span in todo:
        if verb == "pass":
            now += span
        elif verb == "slow":
            door.slow_to(span)
        elif verb == "obey":
            door.obey(Robots("x", f"User-agent: *\nCrawl-delay: {span}".encode()), ORIGIN)
        elif verb == "enter":
            now = max(now, door.next_at)
            assert now >= promised
            door.enter(now)
            if door.go(now):
                now += door.go(now) + 1e-6
                assert door.go(now) == 0
            assert last is None or now - last >= door.interval - 1e-6
            last = now
        elif verb == "answered":
            door.answered(429 if span > 50 else 200, span / 100)
        elif verb == "failed":
            door.failed(TimedOut("late"), span)
        elif verb == "blocked":
            door.blocked("a captcha")
        else:
            promised = max(promised, time.monotonic() + span - 0.001)
            if verb == "hold":
                door.hold(span, "told to")
            else:
                door.recall(SourceNote("a.org", 0.0, time.time() + span))
    assert door.hits == door.open == sum(verb == "enter" for verb, _ in todo)


def test_a_promised_pace_only_ever_slows_down() -> None:
    door = a_door()
    door.slow_to(2.0)
    door.slow_to(1.0)
    assert door.interval == 2.0


def test_a_hold_says_why_until_the_next_request() -> None:
    door = a_door()
    door.hold(50, "Retry-After: 50 s")
    door.hold(10, "shorter, and so of no effect")
    assert door.why == "Retry-After: 50 s"
    assert door.waited == pytest.approx(50, abs=1)
    door.enter(door.next_at)
    assert door.why == ""


def test_who_waits_for_a_place_is_called_once_when_one_is_free() -> None:
    door = a_door()
    door.enter(0.0)
    door.enter(0.0)
    calls: list[int] = []
    door.when_free(lambda: calls.append(door.open))
    door.leave()
    door.leave()
    assert (calls, door.open) == ([1], 0)


def test_a_request_that_was_delayed_does_not_leave_on_the_heels_of_another() -> None:
    door = a_door(rate="1/s")
    now = time.monotonic()
    door.enter(now)
    door.enter(now + 1)
    assert door.go(now + 1.2) == 0
    assert door.go(now + 1.3) == pytest.approx(0.9)
    assert door.next_at == pytest.approx(now + 2.2)


def test_the_pace_counts_from_when_a_request_really_left() -> None:
    """It may be kept back a little after it was let go: for the turn of other processes, or by the system."""
    door = a_door(rate="20/s")
    now = time.monotonic()
    door.enter(now)
    assert door.go(now) == 0
    door.left(now + 0.03)
    assert door.go(now + 0.06) == pytest.approx(0.02)
    assert door.last_hit == now + 0.03
    assert door.go(now + 0.0801) == 0


def test_a_request_does_not_leave_when_the_host_was_held_meanwhile() -> None:
    door = a_door()
    now = time.monotonic()
    door.enter(now)
    door.hold(60, "Retry-After: 60 s")
    assert door.go(now) == pytest.approx(60, abs=1)


# --- Retry-After ---


@pytest.mark.parametrize("status", [301, 302, 403, 413, 429, 500, 503])
def test_retry_after_holds_the_host_for_exactly_as_long_as_asked(status: int) -> None:
    door = a_door()
    door.answered(status, 0.1, 7200.0)
    assert wait(door) == pytest.approx(7200, abs=1)
    assert door.why == f"Retry-After: 7200 s, sent with status {status}"
    (notice,) = [notice for notice in told(door) if notice.kind == "retry_after"]
    assert (notice.host, notice.seconds, notice.detail) == ("a.org", 7200.0, door.why)
    assert notice.at == pytest.approx(clock.now(), abs=1)


def test_only_a_year_is_waited_for_at_most_and_nothing_after_a_good_answer() -> None:
    door = a_door()
    door.answered(202, 0.1, 7200.0)
    assert (wait(door), told(door)) == (0.0, [])
    door.answered(503, 0.1, 1e300)
    assert wait(door) == pytest.approx(FARTHEST, abs=1)


# --- the learned pace ---


@pytest.mark.parametrize("status", [429, 503])
def test_a_host_that_says_too_much_is_asked_less_and_a_burst_counts_once(status: int) -> None:
    door = a_door(rate="2/s")
    for _ in range(4):
        door.answered(status, 0.1)
    assert door.interval == 1.0
    assert [(notice.kind, notice.seconds) for notice in told(door)] == [("slowed", 1.0)]
    assert told(door)[0].detail == f"it answered with status {status}: 1 s between requests from now on"


@pytest.mark.parametrize("error", [TimedOut("late"), SlowStart("late")])
def test_a_timeout_slows_and_so_does_a_captcha(error: FetchError) -> None:
    door, other = a_door(rate="2/s"), a_door(rate="2/s")
    door.failed(error, 30.0)
    other.blocked("a captcha")
    assert door.interval == other.interval == 1.0


def test_clean_answers_bring_the_pace_back_and_others_do_not() -> None:
    door = a_door(rate="2/s")
    door.answered(429, 0.1)
    for status in (401, 403, 408, 500, 501):
        door.answered(status, 0.1, fresh=False)
    assert door.interval == 1.0
    for status in (200, 304, 404, 410) * 50:
        door.answered(status, 0.1)
    assert door.interval == 0.5


# --- the breaker ---

TROUBLE = [ConnectFailed("refused"), TimedOut("late"), SlowStart("late"), Broken("reset"), TlsFailed("expired")]
OURS = [AddressRefused(""), Unsendable(""), TooLarge(""), HeadersTooLarge(""), ProxyFailed("")]


@pytest.mark.parametrize("error", TROUBLE, ids=lambda error: error.reason)
def test_a_host_that_gives_no_answer_is_left_alone_for_a_while(error: FetchError) -> None:
    door = a_door(breaker_failures=3, breaker_wait=40)
    for _ in range(3):
        assert door.state == "closed"
        door.failed(error, 0.1, fresh=False)
    assert (door.state, door.room) == ("open", 1)
    assert wait(door) == pytest.approx(40, abs=1)
    assert door.why == f"3 failures in a row (the last: {error.reason}): left alone for 40 s"
    assert told(door)[-1].kind == "breaker_open"


@pytest.mark.parametrize("error", OURS, ids=lambda error: error.reason)
def test_what_is_not_the_hosts_fault_counts_neither_way(error: FetchError) -> None:
    door = a_door(breaker_failures=2)
    door.failed(TimedOut(""), 0.1)
    for _ in range(5):
        door.failed(error, 0.1)
    assert door.state == "closed"
    door.failed(TimedOut(""), 0.1)
    assert door.state == "open"


@pytest.mark.parametrize(
    ("status", "retry_after", "fresh", "counts"),
    [
        (502, None, False, True),
        (503, None, False, True),
        (504, 5.0, False, True),
        (500, None, True, True),
        (500, None, False, False),
        (599, None, False, False),
        (503, 5.0, True, False),
        (503, 0.0, True, True),
        (429, None, True, False),
        (429, 5.0, True, False),
        (404, None, True, False),
        (403, None, True, False),
    ],
)
def test_which_answers_are_failures_of_the_host(
    status: int, retry_after: float | None, fresh: bool, counts: bool
) -> None:
    door = a_door(breaker_failures=2)
    for _ in range(2):
        door.answered(status, 0.1, retry_after, fresh)
    assert (door.state == "open") == counts


def test_any_answer_breaks_a_row_of_failures() -> None:
    door = a_door(breaker_failures=2)
    for _ in range(10):
        door.failed(Broken(""), 0.1)
        door.answered(404, 0.1)
    assert door.state == "closed"


def test_one_request_at_a_time_tries_whether_a_host_is_well_again() -> None:
    door = a_door(breaker_failures=1, per_host=4)
    door.enter(time.monotonic())
    door.failed(ConnectFailed("refused"), 0.1)
    then = door.next_at
    assert not door.ready(then)  # the old request is not back yet
    door.leave()
    assert not door.ready(then - 1)
    assert door.ready(then)
    door.enter(then)
    assert (door.state, door.room) == ("half_open", 1)
    assert not door.ready(then)
    door.leave()  # given up: it said nothing
    assert door.ready(then)
    door.enter(then)
    door.answered(200, 0.1)
    door.leave()
    assert (door.state, door.room) == ("closed", 4)
    assert [notice.kind for notice in told(door)] == ["breaker_open", "breaker_closed"]


def test_a_host_that_fails_again_is_left_alone_for_longer() -> None:
    door = a_door(breaker_failures=1, breaker_wait=30)
    door.failed(ConnectFailed(""), 0.1)
    door.enter(door.next_at)
    door.failed(ConnectFailed(""), 0.1)
    door.leave()
    assert told(door)[-1].seconds == pytest.approx(60)
    assert "it failed again when it was tried (the last: connect)" in door.why


def test_the_breaker_can_be_off() -> None:
    door = a_door(breaker_failures="none")
    for _ in range(100):
        door.failed(ConnectFailed(""), 0.1)
    assert door.state == "closed"


# --- across restarts ---


def test_a_time_remembered_from_a_clock_that_was_wrong_is_no_promise() -> None:
    door = a_door()
    door.recall(SourceNote("a.org", 0.0, time.time() + FARTHEST + 60))
    door.recall(SourceNote("a.org", 0.0, time.time() - 60))
    assert door.next_at == 0.0


def test_a_clock_set_back_keeps_a_hold_but_not_for_years() -> None:
    """Last asked a year ahead, held for a minute, open for a century: by its own times, and an hour at most."""
    door = a_door()
    ahead = time.time() + FARTHEST
    door.recall(SourceNote("a.org", ahead, ahead + 60, breaker="open", openings=2, open_until=ahead + 1e9))
    assert wait(door) == pytest.approx(3600, abs=1)
    assert door.state == "open"


def _with_store(store: str, work: Any) -> Any:
    async def main() -> Any:
        async with SqliteStore(store) as opened:
            return await work(opened)

    return asyncio.run(main())


def test_what_was_promised_to_a_host_holds_after_a_restart(store: str) -> None:
    async def first(opened: SqliteStore) -> None:
        gate = Gate(opened)
        door = await gate.door("a.org", ScraperConfig(rate="1/min"))
        door.enter(time.monotonic())
        held = await gate.door("b.org", ScraperConfig())
        held.hold(600, "Retry-After: 600 s")
        await gate.door("c.org", ScraperConfig())
        notes = gate.notes()
        assert sorted(note.host for note in notes) == ["a.org", "b.org"]
        assert gate.notes() == []
        await opened.remember(notes)

    async def second(opened: SqliteStore) -> dict[str, tuple[float, str]]:
        gate = Gate(opened)
        doors = [await gate.door(host, ScraperConfig(rate="none")) for host in ("a.org", "b.org", "c.org")]
        return {door.host: (round(wait(door), -1), door.why) for door in doors}

    _with_store(store, first)
    waits = _with_store(store, second)
    assert waits == {"a.org": (60, ""), "b.org": (600, "Retry-After: 600 s"), "c.org": (0, "")}


def test_what_was_learned_of_a_host_is_known_after_a_restart(store: str) -> None:
    async def first(opened: SqliteStore) -> None:
        gate = Gate(opened)
        door = await gate.door("a.org", ScraperConfig(rate="2/s"))
        door.answered(200, 0.25)
        door.answered(429, 0.1)
        gate.learn(door, ORIGIN, Robots("gossamer", b"User-agent: *\nCrawl-delay: 0.7"))
        dead = await gate.door("b.org", ScraperConfig(breaker_failures=1, breaker_wait=100))
        dead.failed(ConnectFailed("refused"), 0.1)
        tried = await gate.door("c.org", ScraperConfig(breaker_failures=1))
        tried.failed(ConnectFailed("refused"), 0.1)
        tried.enter(tried.next_at)
        assert tried.state == "half_open"
        await opened.remember(gate.notes())

    async def second(opened: SqliteStore) -> None:
        gate = Gate(opened)
        door = await gate.door("a.org", ScraperConfig(rate="none"))
        assert (door.interval, door.bucket.crawl_delay, door.bucket.latency) == (1.0, 0.7, 0.25)
        dead = await gate.door("b.org", ScraperConfig())
        assert (dead.state, dead.breaker.openings) == ("open", 1)
        assert 50 < wait(dead) <= 100
        assert "left alone for" in dead.why
        tried = await gate.door("c.org", ScraperConfig())
        assert (tried.state, tried.room, tried.breaker.openings) == ("open", 1, 1)

    _with_store(store, first)
    _with_store(store, second)


def test_a_host_that_others_asked_meanwhile_keeps_their_promise_and_ours(store: str) -> None:
    async def work(opened: SqliteStore) -> None:
        gate = Gate(opened)
        hosts = ("a.org", "b.org", "c.org")
        theirs, ours, apart = [await gate.door(host, ScraperConfig(rate="none")) for host in hosts]
        ours.hold(600, "Retry-After: 600 s")  # heard, but not written down
        theirs.hold(0.001, "a moment")
        for door in (theirs, ours):
            gate.doubt(urls.shard(door.host))
        await asyncio.sleep(0.01)
        until = time.time() + 300
        await opened.remember([SourceNote(host, time.time(), until, why="Retry-After: 300 s") for host in hosts])
        assert wait(theirs) == 0
        assert [await gate.door(host, ScraperConfig(rate="none")) for host in hosts] == [theirs, ours, apart]
        assert [round(wait(door), -1) for door in (theirs, ours, apart)] == [300, 600, 0]
        assert (theirs.why, ours.why) == ("Retry-After: 300 s", "Retry-After: 600 s")

    _with_store(store, work)


def test_what_is_in_doubt_is_not_told_over_what_others_told(store: str) -> None:
    async def work(opened: SqliteStore) -> None:
        gate = Gate(opened)
        door = await gate.door("a.org", ScraperConfig(rate="10/s"))
        door.enter(time.monotonic())
        door.leave()
        shard = urls.shard("a.org")
        gate.doubt(shard)  # somebody else has it now, and is told to wait
        held = SourceNote("a.org", time.time(), time.time() + 600, why="Retry-After: 600 s")
        await opened.remember([held])
        assert (gate.notes(), gate.notes_of(shard)) == ([], [])
        assert await gate.door("a.org", ScraperConfig(rate="10/s")) is door
        assert [round(note.ready_at - time.time(), -1) for note in gate.notes()] == [600]

    _with_store(store, work)


def test_a_host_that_holds_nothing_up_is_forgotten_and_then_remembered_by_what_others_told(store: str) -> None:
    async def work(opened: SqliteStore) -> None:
        gate = Gate(opened)
        door = await gate.door("a.org", ScraperConfig(rate="10/min"))
        gate.doubt(urls.shard("a.org"))
        assert (gate.known("a.org"), list(gate.doors_of(urls.shard("a.org")))) == (None, [])
        # They may ask it ten times as often as we: so we wait longer after they did.
        await opened.remember([SourceNote("a.org", time.time() - 1, time.time() - 0.9)])
        again = await gate.door("a.org", ScraperConfig(rate="10/min"))
        assert again is not door
        assert wait(again) == pytest.approx(5, abs=0.5)

    _with_store(store, work)


# --- who shares a door ---


def test_a_host_meets_the_slowest_pace_and_fewest_places_that_any_run_asks_for(store: str) -> None:
    async def work(opened: SqliteStore) -> None:
        gate = Gate(opened)
        door = await gate.door("a.org", ScraperConfig(rate="2/s", per_host=3))
        assert (door.interval, door.per_host) == (0.5, 3)
        assert await gate.door("a.org", ScraperConfig(rate="10/s", per_host=8, breaker_failures=2)) is door
        assert (door.interval, door.per_host, door.breaker.policy.failures) == (0.5, 3, 2)
        await gate.door("a.org", ScraperConfig(rate="1/s", per_host=1))
        assert (door.interval, door.per_host, door.breaker.policy.failures) == (1.0, 1, 2)
        assert (await gate.door("b.org", ScraperConfig(rate="none"))).interval == 0.0

    _with_store(store, work)


def test_hosts_of_one_domain_may_share_a_door(store: str) -> None:
    async def work(opened: SqliteStore) -> None:
        gate = Gate(opened)
        by_domain = ScraperConfig(pace_per="domain")
        door = await gate.door("a.example.co.uk", by_domain)
        assert door.host == "*.example.co.uk"
        for host in ("example.co.uk", "b.example.co.uk:8080"):
            assert await gate.door(host, by_domain) is door
        for alone in ("127.0.0.1:80", "[::1]:80", "localhost:80", "localhost"):
            assert (await gate.door(alone, by_domain)).host == alone
        # A run that knows nothing of it must not come in by another door.
        assert await gate.door("c.example.co.uk", ScraperConfig()) is door
        assert (await gate.door("c.other.co.uk", ScraperConfig())).host == "c.other.co.uk"
        door.enter(time.monotonic())
        assert [note.host for note in gate.notes()] == ["*.example.co.uk"]

    _with_store(store, work)


def test_a_hold_of_a_host_holds_for_the_domain_it_comes_to_share(store: str) -> None:
    async def work(opened: SqliteStore) -> None:
        gate = Gate(opened)
        await opened.remember([SourceNote("a.example.org", time.time(), time.time() + 500, why="Retry-After: 500 s")])
        (await gate.door("b.example.org", ScraperConfig())).hold(900, "Retry-After: 900 s")
        by_domain = ScraperConfig(pace_per="domain")
        door = await gate.door("a.example.org", by_domain)
        assert wait(door) == pytest.approx(500, abs=5)
        assert await gate.door("b.example.org", by_domain) is door
        assert wait(door) == pytest.approx(900, abs=5)

    _with_store(store, work)


# --- robots.txt ---


def test_a_crawl_delay_slows_every_run_and_rules_are_kept_by_origin_and_name(store: str) -> None:
    async def work(opened: SqliteStore) -> None:
        gate = Gate(opened)
        door = await gate.door("a.org", ScraperConfig(rate="10/s"))
        rules = Robots("gossamer/1", b"User-agent: *\nCrawl-delay: 5\nDisallow: /x")
        gate.learn(door, "https://a.org/some/page", rules)
        assert door.interval == 5.0
        assert gate.rules(door, ORIGIN, "gossamer") is rules
        assert gate.rules(door, "http://a.org", "gossamer") is None
        assert [(n.kind, n.seconds) for n in gate.notices()] == [("crawl_delay", 5.0)]
        assert gate.notices() == []
        # The other origin wants less, then this one no longer wants anything.
        gate.learn(door, "http://a.org/", Robots("gossamer", b"User-agent: *\nCrawl-delay: 2"))
        assert door.interval == 5.0
        gate.learn(door, ORIGIN, Robots("gossamer", b""))
        assert door.interval == 2.0
        gate.learn(door, "http://a.org/", Robots("gossamer", b""))
        assert door.interval == 0.1
        assert [n.detail for n in gate.notices()][-1] == "robots.txt asks for no pause any more"

    _with_store(store, work)


def test_a_crawl_delay_that_is_not_kept_is_said_so(store: str) -> None:
    async def work(opened: SqliteStore) -> None:
        gate = Gate(opened)
        door = await gate.door("a.org", ScraperConfig(max_crawl_delay="1m"))
        gate.learn(door, ORIGIN, Robots("gossamer", b"User-agent: *\nCrawl-delay: 3600"))
        assert door.interval == 60
        (notice,) = gate.notices()
        assert (notice.kind, notice.seconds) == ("crawl_delay", 60.0)
        assert notice.detail == "robots.txt asks for 3600 s between requests; max_crawl_delay allows 60 s"

    _with_store(store, work)


def test_old_rules_hold_while_new_ones_cannot_be_read(store: str) -> None:
    async def work(opened: SqliteStore) -> None:
        gate = Gate(opened)
        door = await gate.door("a.org", ScraperConfig())
        now = clock.now()
        old = Robots("gossamer", b"User-agent: *\nDisallow: /x", fetched=now - 21 * 3600)
        gate.learn(door, ORIGIN, old)
        assert old.aging(now)
        gate.learn(door, ORIGIN, Robots("gossamer", closed="no answer"))
        assert gate.rules(door, ORIGIN, "gossamer") is old
        assert not old.aging(now)  # asked just now
        assert old.aging(now + 3600)
        old.fetched = now - 25 * 3600
        gate.learn(door, ORIGIN, Robots("gossamer", closed="no answer"))
        rules = gate.rules(door, ORIGIN, "gossamer")
        assert rules is not None
        assert rules.closed == "no answer"

    _with_store(store, work)


def test_rules_are_taken_from_the_store_while_they_hold(store: str) -> None:
    async def work(opened: SqliteStore) -> None:
        now, body = time.time(), b"User-agent: *\nDisallow: /x\nCrawl-delay: 4"
        await opened.keep_robots(RobotsNote("https://a.org", now - 90000, now - 3600, 200, body))
        await opened.keep_robots(RobotsNote("https://old.org", now - 90000, now - 90000, 200, body))
        await opened.keep_robots(RobotsNote("https://shut.org", now - 900, now - 900, 503, b"", "no answer"))
        gate = Gate(opened)
        door = await gate.door("a.org", ScraperConfig(rate="none"))
        found = await gate.recall_robots(door, ORIGIN, "gossamer/1 (+x)")
        assert found is gate.rules(door, ORIGIN, "gossamer")
        assert found is not None
        assert (found.allows("https://a.org/x"), door.interval) == (False, 4.0)
        assert found.fetched == pytest.approx(now - 3600)
        assert await gate.recall_robots(door, ORIGIN, "gossamer") is found
        for origin in ("https://old.org", "https://shut.org", "https://never.org"):
            assert await gate.recall_robots(door, origin, "gossamer") is None

    _with_store(store, work)


def test_a_probe_that_fails_opens_the_breaker_again_whichever_page_it_was_for() -> None:
    door = a_door(breaker_failures=2, breaker_wait=0.01)
    for _ in range(2):
        door.enter(time.monotonic())
        door.answered(500, 0.1, fresh=True)
        door.leave()
    first = door.breaker.openings
    time.sleep(0.02)
    door.enter(time.monotonic())
    assert door.room == 1
    door.answered(500, 0.1, fresh=False)
    door.leave()
    assert (door.state, door.breaker.openings) == ("open", first + 1)


def test_a_host_is_known_by_the_door_it_shares_with_its_domain() -> None:
    async def main() -> None:
        async with SqliteStore(":memory:") as store:
            gate = Gate(store)
            shared = await gate.door("www.example.org", ScraperConfig(pace_per="domain"))
            assert gate.known("www.example.org") is shared
            assert gate.known("api.example.org") is None
            own = await gate.door("127.0.0.1:80", ScraperConfig())
            assert gate.known("127.0.0.1:80") is own

    asyncio.run(main())
