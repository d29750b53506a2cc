"""Politeness at the door: no host is asked sooner than was promised."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.polite.gate import FARTHEST, Door, Gate
from gossamer.polite.robots import Robots
from gossamer.settings import ScraperConfig
from gossamer.storage.sqlite import SqliteStore
from gossamer.storage.store import Batch, Draft, SourceNote

spans = st.floats(0, 100)
steps = st.lists(
    st.one_of(
        st.just(("enter", 0.0)),
        st.tuples(st.just("pass"), spans),
        st.tuples(st.just("hold"), spans),
        st.tuples(st.just("slow"), spans),
        st.tuples(st.just("recall"), spans),
    ),
    max_size=30,
)


@given(steps)
def test_no_two_requests_are_closer_than_the_pace_and_none_comes_while_a_host_is_held(
    todo: list[tuple[str, float]],
) -> None:
    door = Door("a.org", set())
    now = time.monotonic()
    last: float | None = None
    promised = 0.0
    for verb, span in todo:
        if verb == "pass":
            now += span
        elif verb == "slow":
            door.slow_to(span)
        elif verb == "enter":
            now = max(now, door.next_at)
            assert now >= promised
            assert last is None or now - last >= door.interval - 1e-6
            door.enter(now)
            last = now
        else:
            promised = max(promised, time.monotonic() + span - 0.001)
            if verb == "hold":
                door.hold(span, "told to")
            else:
                door.recall(SourceNote("a.org", 0.0, time.time() + span))
    assert door.hits == door.open == sum(verb == "enter" for verb, _ in todo)


def test_a_pace_only_ever_slows_down() -> None:
    door = Door("a.org", set())
    door.slow_to(2.0)
    door.slow_to(1.0)
    assert door.interval == 2.0


def test_a_hold_says_why_until_the_next_request() -> None:
    door = Door("a.org", set())
    door.hold(50, "Retry-After: 50 s")
    door.hold(10, "shorter, and so of no effect")
    assert door.why == "Retry-After: 50 s"
    assert door.waited == pytest.approx(50, abs=1)
    door.enter(door.next_at)
    assert door.why == ""


def test_who_waits_for_a_place_is_called_once_when_one_is_free() -> None:
    door = Door("a.org", set())
    door.enter(0.0)
    door.enter(0.0)
    calls: list[int] = []
    door.when_free(lambda: calls.append(door.open))
    door.leave()
    door.leave()
    assert (calls, door.open) == ([1], 0)


def test_a_time_remembered_from_a_clock_that_was_wrong_is_no_promise() -> None:
    door = Door("a.org", set())
    door.recall(SourceNote("a.org", 0.0, time.time() + FARTHEST + 60))
    door.recall(SourceNote("a.org", 0.0, time.time() - 60))
    assert door.next_at == 0.0


def _with_store(store: str, work: Any) -> Any:
    async def main() -> Any:
        async with SqliteStore(store) as opened:
            return await work(opened)

    return asyncio.run(main())


def test_a_host_meets_the_slowest_pace_and_fewest_places_that_any_run_asks_for(store: str) -> None:
    async def work(opened: SqliteStore) -> None:
        gate = Gate(opened)
        door = await gate.door("a.org", ScraperConfig(rate="2/s", per_host=3))
        assert (door.interval, door.per_host) == (0.5, 3)
        assert await gate.door("a.org", ScraperConfig(rate="10/s", per_host=8)) is door
        assert (door.interval, door.per_host) == (0.5, 3)
        await gate.door("a.org", ScraperConfig(rate="1/s", per_host=1))
        assert (door.interval, door.per_host) == (1.0, 1)
        assert (await gate.door("b.org", ScraperConfig(rate="none"))).interval == 0.0

    _with_store(store, work)


def test_a_crawl_delay_slows_every_run_and_rules_are_kept_by_origin_and_name(store: str) -> None:
    async def work(opened: SqliteStore) -> None:
        gate = Gate(opened)
        door = await gate.door("a.org", ScraperConfig(rate="10/s"))
        rules = Robots("gossamer/1", b"User-agent: *\nCrawl-delay: 5\nDisallow: /x")
        gate.learn(door, "https://a.org/some/page", rules)
        assert door.interval == 5.0
        assert door.robots == {("https://a.org", "gossamer"): rules}

    _with_store(store, work)


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
        run = await opened.new_run(Draft("s", "r", "x", {}, {}))
        lease = await opened.acquire(run.id, "me", 60)
        await opened.settle(lease, Batch(sources=notes))

    async def second(opened: SqliteStore) -> dict[str, float]:
        gate = Gate(opened)
        doors = [await gate.door(host, ScraperConfig(rate="none")) for host in ("a.org", "b.org", "c.org")]
        return {door.host: max(0.0, door.next_at - time.monotonic()) for door in doors}

    _with_store(store, first)
    waits = _with_store(store, second)
    assert waits == pytest.approx({"a.org": 60, "b.org": 600, "c.org": 0}, abs=10)
