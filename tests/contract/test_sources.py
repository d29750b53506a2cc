"""Hosts: what is remembered of their pace, their robots.txt, and what was noticed about them."""

from __future__ import annotations

import asyncio

import pytest

from gossamer.storage.store import RobotsNote, SourceNote
from gossamer.values import Notice
from tests.contract.conftest import Opener
from tests.contract.steps import HOST, A, begin, draft, played, settle

ORIGIN = "https://a.example"
#: A note with something in every field.
LEARNED = SourceNote(
    HOST,
    last_hit=1.5,
    ready_at=2.5,
    interval=0.75,
    crawl_delay=10.0,
    latency=0.25,
    breaker="half_open",
    openings=3,
    open_until=99.5,
    why="Retry-After: 60 s — 🕸",
)


# -- pace ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_settling", [True, False])
@played
async def test_all_that_was_learned_of_a_host_comes_back(lasting: Opener, by_settling: bool) -> None:
    async with lasting() as s:
        await (settle(s, await begin(s), sources=[LEARNED]) if by_settling else s.remember([LEARNED]))
    async with lasting() as s:
        assert await s.source(HOST) == LEARNED


@played
async def test_a_note_stands_for_all_that_is_known_then(store: Opener) -> None:
    """What it does not say is not so any more."""
    async with store() as s:
        await s.remember([LEARNED])
        await s.remember([SourceNote(HOST, 5.0, 6.0)])
        assert await s.source(HOST) == SourceNote(HOST, 5.0, 6.0)


@played
async def test_sources_come_in_the_order_of_their_names(store: Opener) -> None:
    async with store() as s:
        assert await s.sources() == []
        notes = [SourceNote(host, 1.0, 2.0) for host in ("b.example", "a.example:8443", "a.example")]
        await s.remember(notes)
        assert await s.sources() == notes[::-1]


@played
async def test_many_notes_at_once_are_all_kept_when_their_callers_are_told_so(lasting: Opener) -> None:
    async with lasting() as s:

        async def one(n: int) -> None:
            for time in range(5):
                note = SourceNote(f"{n}.example", float(time), float(n))
                await s.remember([note])
                assert await s.source(note.host) == note

        await asyncio.gather(*(one(n) for n in range(40)))
    async with lasting() as s:
        assert {note.last_hit for note in await s.sources()} == {4.0}
        assert len(await s.sources()) == 40


@played
async def test_the_last_note_told_is_the_one_that_is_kept(store: Opener) -> None:
    """Whichever verbs tell them, and however many wait: an older note never comes after a newer one."""
    async with store() as s:
        lease = await begin(s)
        told = []
        for n in range(0, 30, 3):
            told.append(asyncio.ensure_future(s.remember([SourceNote(HOST, float(n), 0.0)])))
            told.append(asyncio.ensure_future(settle(s, lease, sources=[SourceNote(HOST, n + 1.0, 0.0)])))
            told.append(asyncio.ensure_future(s.remember([SourceNote(HOST, n + 2.0, 0.0)])))
        await asyncio.gather(*told)
        assert await s.source(HOST) == SourceNote(HOST, 29.0, 0.0)


@played
async def test_a_caller_who_is_cancelled_takes_nobody_elses_note_with_it(store: Opener) -> None:
    async with store() as s:
        tasks = [asyncio.ensure_future(s.remember([SourceNote(f"{n}.example", 1.0, 1.0)])) for n in range(5)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        told = await asyncio.gather(*tasks, return_exceptions=True)
        assert told[1:] == [None] * 4
        assert {f"{n}.example" for n in range(1, 5)} <= {note.host for note in await s.sources()}


@played
async def test_a_host_can_be_forgotten(lasting: Opener) -> None:
    async with lasting() as s:
        await s.remember([LEARNED, SourceNote("b.example", 1.0, 2.0)])
        for origin in (ORIGIN, "http://a.example", "https://b.example", "https://a.example:8443"):
            await s.keep_robots(RobotsNote(origin, 1.0, 1.0, 200, b"User-agent: *"))
        assert await s.forget_source(HOST) is True
        assert await s.forget_source(HOST) is False
        assert await s.forget_source("nobody.example") is False
    async with lasting() as s:
        assert [note.host for note in await s.sources()] == ["b.example"]
        assert await s.source(HOST) is None
        assert await s.robots(ORIGIN) == await s.robots("http://a.example") == []
        assert len(await s.robots("https://b.example")) == len(await s.robots("https://a.example:8443")) == 1


@played
async def test_a_host_of_which_only_robots_txt_is_known_is_known(store: Opener) -> None:
    async with store() as s:
        await s.keep_robots(RobotsNote(ORIGIN, 1.0, 1.0, 200, b""))
        assert await s.forget_source(HOST) is True


# -- robots.txt ------------------------------------------------------------------------------------------------

BODIES = {
    "empty": b"",
    "rules": b"User-agent: *\nDisallow: /private\n",
    "every byte": bytes(range(256)),
    "the longest": b"Disallow: /\xc3\xa6\n" * 35_000,
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
@played
async def test_a_robots_txt_comes_back_as_it_was(lasting: Opener, body: bytes) -> None:
    note = RobotsNote(ORIGIN, 100.5, 101.5, 200, body)
    async with lasting() as s:
        assert await s.robots(ORIGIN) == []
        await s.keep_robots(note)
    async with lasting() as s:
        assert await s.robots(ORIGIN) == [note]
        assert await s.robots("http://a.example") == []


@played
async def test_the_same_again_is_only_checked(store: Opener) -> None:
    async with store() as s:
        await s.keep_robots(RobotsNote(ORIGIN, 1.0, 1.0, 200, b"x"))
        await s.keep_robots(RobotsNote(ORIGIN, 2.0, 3.0, 200, b"x"))
        assert await s.robots(ORIGIN) == [RobotsNote(ORIGIN, 1.0, 3.0, 200, b"x")]


@played
async def test_every_change_is_a_version_and_the_newest_comes_first(store: Opener) -> None:
    async with store() as s:
        versions = [
            RobotsNote(ORIGIN, 1.0, 1.0, 200, b"x"),
            RobotsNote(ORIGIN, 2.0, 2.0, 200, b"y"),
            RobotsNote(ORIGIN, 3.0, 3.0, 404, b"y"),
            RobotsNote(ORIGIN, 4.0, 4.0, 503, b"", "it answered 503 \ufffd 🕸"),
            RobotsNote(ORIGIN, 5.0, 5.0, 0, b"", "it could not be reached"),
            RobotsNote(ORIGIN, 6.0, 6.0, 200, b"x"),
        ]
        for note in versions:
            await s.keep_robots(note)
            await s.keep_robots(note)
        assert await s.robots(ORIGIN) == versions[::-1]


# -- notices ---------------------------------------------------------------------------------------------------


@played
async def test_notices_come_oldest_first_of_one_host_or_of_all(lasting: Opener) -> None:
    first = Notice(HOST, 10.0, "retry_after", 60.0, 'it said "Retry-After: 60"')
    second = Notice("b.example", 11.0, "crawl_delay", 5.0)
    third = Notice(HOST, 12.5, "breaker_open", 30.0, "5 failures 🕸")
    async with lasting() as s:
        assert await s.notices() == []
        lease = await begin(s, A)
        await settle(s, lease, notices=[third, second])
        await settle(s, lease, notices=[first])
    async with lasting() as s:
        assert await s.notices() == [first, second, third]
        assert await s.notices(HOST) == [first, third]
        assert await s.notices("nobody.example") == []


@played
async def test_what_was_noticed_outlives_the_run_that_noticed_it(store: Opener) -> None:
    async with store() as s:
        run = await s.new_run(draft())
        lease = await s.acquire(run.id, "me", 60.0)
        await settle(s, lease, notices=[Notice(HOST, 1.0, "slowed", 2.0)])
        await s.forget_run(run.id)
        assert len(await s.notices(HOST)) == 1
