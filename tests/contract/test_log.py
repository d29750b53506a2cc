"""The log: every exchange with every host, what each start of a run promised, and how many walks a host has."""

from __future__ import annotations

import time

from gossamer.storage.store import FetchLine, Store
from gossamer.values import Drop, Ending, Fetch, Outcome, Request
from tests.contract.conftest import Opener
from tests.contract.steps import HOST, A, begin, done, draft, later, played, ready, settle

B = "https://b.example/"


async def log(store: Store, run: int | None = None) -> list[FetchLine]:
    return [line async for line in store.fetch_log(run)]


# -- exchanges -------------------------------------------------------------------------------------------------


@played
async def test_every_exchange_is_in_the_log_host_by_host_in_the_order_they_began(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A, f"{A}2", B)
        first, second = await ready(s, lease)
        (other,) = await ready(s, lease, "b.example")
        robots = Fetch(f"{A}robots.txt", HOST, 5.5, 0.1, 404, 0, "robots")
        await settle(s, lease, done(other, started=6.0), done(first, started=8.0, elapsed=0.25), fetches=[robots])
        await settle(s, lease, Outcome(second, Ending.FAILED, "timeout", started=7.0, elapsed=30.0))
        assert await log(s, lease.run) == [
            FetchLine(lease.run, 0, f"{A}robots.txt", HOST, 5.5, 0.1, 404, "robots"),
            FetchLine(lease.run, second.id, f"{A}2", HOST, 7.0, 30.0, 0, "timeout"),
            FetchLine(lease.run, first.id, A, HOST, 8.0, 0.25, 200, "ok"),
            FetchLine(lease.run, other.id, B, "b.example", 6.0, 0.5, 200, "ok"),
        ]


@played
async def test_what_never_left_is_not_in_the_log(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A, f"{A}2", f"{A}3")
        first, second, _ = await ready(s, lease)
        held = Fetch(A, HOST, 0.0, 0.0, 0, 0, "held", first.id)
        skipped = Outcome(second, Ending.SKIPPED, "robots", dropped=(Drop(Request(f"{A}no"), "exclude"),))
        await settle(s, lease, Outcome(first, Ending.LATER, "held", not_before=9.0), skipped, fetches=[held])
        assert await log(s) == []


@played
async def test_each_attempt_is_told_once_whether_its_request_waits_again_or_is_settled(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        (request,) = await ready(s, lease)
        times = [1000.0]
        attempt = Fetch(A, HOST, 1000.0, 0.0, 0, 0, "timeout", request.id)
        await settle(s, lease, later(request, 5000.0), fetches=[attempt])
        assert [line.started for line in await log(s)] == times
        await s.wake(lease.run, 1e9)
        await settle(s, lease, done(request, started=2000.125))
        assert [(line.started, line.reason) for line in await log(s)] == [(1000.0, "timeout"), (2000.125, "ok")]
        assert {line.request_id for line in await log(s)} == {request.id}


@played
async def test_the_log_of_one_run_or_of_all(lasting: Opener) -> None:
    async with lasting() as s:
        one, two = await begin(s, A), await begin(s, A, owner="other")
        robots = [Fetch(f"{A}robots.txt", HOST, at, 0.1, 200, 0, "robots") for at in (1.0, 2.0)]
        await settle(s, one, done((await ready(s, one))[0], started=4.0), fetches=robots[:1])
        await settle(s, two, done((await ready(s, two))[0], started=3.0), fetches=robots[1:])
    async with lasting() as s:
        assert [line.started for line in await log(s, one.run)] == [1.0, 4.0]
        assert [line.started for line in await log(s, two.run)] == [2.0, 3.0]
        assert [(line.run, line.started) for line in await log(s)] == [
            (one.run, 1.0),
            (two.run, 2.0),
            (two.run, 3.0),
            (one.run, 4.0),
        ]
        assert await log(s, 4711) == []


@played
async def test_a_long_log_is_told_to_its_end_while_others_read_and_write(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, *(f"https://{n % 7}.example/{n}" for n in range(3_500)))
        for host in await s.hosts(lease.run):
            walked = await ready(s, lease, host)
            await settle(s, lease, *(done(r, started=10_000.0 - r.id) for r in walked))
        lines = []
        async for line in s.fetch_log(lease.run):
            lines.append(line)
            if len(lines) % 500 == 0:
                await s.add(lease, [Request(f"{A}{len(lines)}")])
                assert await s.run(lease.run) is not None
        assert len(lines) == 3_500
        assert lines == sorted(lines, key=lambda line: (line.host, line.started))


@played
async def test_a_log_that_is_not_read_to_its_end_is_in_nobodys_way(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A, f"{A}2")
        await settle(s, lease, *(done(r) for r in await ready(s, lease)))
        for _ in range(3):
            lines = s.fetch_log(None)
            await anext(aiter(lines))
            await lines.aclose()  # type: ignore[attr-defined]
        await s.add(lease, [Request(f"{A}3")])
        unread = s.fetch_log(None)
        await anext(aiter(unread))
    await unread.aclose()  # type: ignore[attr-defined]


# -- starts ----------------------------------------------------------------------------------------------------


@played
async def test_each_start_of_a_run_is_kept_with_what_it_promised(lasting: Opener) -> None:
    limits = [{"rate": 0.5, "per_host": 2, "robots": True, "agent": "gossamer/1 🕸"}, {"rate": 1.0, "max": None}]
    async with lasting() as s:
        assert await s.starts(None) == []
        before = time.time()
        run, other = await s.new_run(draft()), await s.new_run(draft())
        await s.release(await s.acquire(run.id, "me", 60.0, limits[0]))
        await s.acquire(other.id, "me", 60.0)
    async with lasting() as s:
        await s.acquire(run.id, "heir", 60.0, limits[1])
        assert [(start.run, start.limits) for start in await s.starts(run.id)] == [(run.id, each) for each in limits]
        told = await s.starts(None)
        assert [start.run for start in told] == [run.id, other.id, run.id]
        assert told[1].limits == {}
        assert before - 1 <= told[0].at <= told[1].at <= told[2].at <= time.time() + 1
        assert await s.starts(4711) == []


@played
async def test_the_starts_of_a_run_that_was_taken_back_are_forgotten(store: Opener) -> None:
    """Its number may be given to another."""
    async with store() as s:
        run = await s.new_run(draft())
        await s.acquire(run.id, "me", 60.0, {"rate": 1.0})
        await s.forget_run(run.id)
        assert await s.starts(None) == []
        assert await s.starts((await s.new_run(draft())).id) == []


# -- walks -----------------------------------------------------------------------------------------------------


@played
async def test_a_hosts_walks_are_counted_without_dropped_links(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, *(f"{A}{n}" for n in range(5)), B)
        one, two, three, four, _ = await ready(s, lease)
        drops = (Drop(Request(f"{A}no"), "exclude"), Drop(Request("https://c.example/"), "scope"))
        await settle(
            s,
            lease,
            done(one, f"{A}found", dropped=drops),
            Outcome(two, Ending.SKIPPED, "robots"),
            Outcome(three, Ending.FAILED, "timeout"),
            later(four, 5000.0),
        )
        assert await s.host_counts(lease.run) == {HOST: 6, "b.example": 1}
        assert await s.host_counts(4711) == {}
