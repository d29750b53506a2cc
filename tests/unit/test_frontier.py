"""The frontier over a real store: who goes next, and what it remembers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gossamer.frontier import Frontier, Known
from gossamer.polite.gate import Gate
from gossamer.settings import ScraperConfig
from gossamer.storage.sqlite import SqliteStore
from gossamer.storage.store import Batch, Draft
from gossamer.values import WHOLE, Ending, Lease, Outcome, Request


@asynccontextmanager
async def opened(
    *requests: Request, by_level: bool = False, **knobs: Any
) -> AsyncIterator[tuple[Frontier, SqliteStore, Lease]]:
    """A frontier over a store in memory that holds some requests."""
    config = ScraperConfig(**{"rate": "none", "robots": False, "per_host": 100, **knobs})
    async with SqliteStore(":memory:") as store:
        run = await store.new_run(Draft("test", "tests:Test", "signature", {}, {}))
        lease = await store.acquire(run.id, "me", 60)
        await store.add(lease, requests, last=True)
        frontier = Frontier(store, Gate(store), run.id, config, by_level=by_level)
        await frontier.open()
        yield frontier, store, lease
        await frontier.aclose()


def request(path: str, host: str = "a.org", **fields: Any) -> Request:
    return Request(f"http://{host}/{path}", **fields)


async def taken(frontier: Frontier, n: int) -> list[str]:
    """The next URLs handed out."""
    return [turn.request.url for turn in [await asyncio.wait_for(frontier.take(), 2) for _ in range(n)] if turn]


def check(main: Callable[[], Awaitable[None]]) -> None:
    """Run a test's coroutine, and never for long."""

    async def limited() -> None:
        await asyncio.wait_for(main(), 20)

    asyncio.run(limited())


def test_highest_priority_first_then_first_found() -> None:
    async def main() -> None:
        waiting = [request("a"), request("b", priority=5), request("c"), request("d", priority=9)]
        async with opened(*waiting) as (frontier, *_):
            assert await taken(frontier, 4) == [f"http://a.org/{x}" for x in "dbac"]

    check(main)


def test_hosts_take_turns() -> None:
    async def main() -> None:
        waiting = [request(str(n), host) for host in ("a.org", "b.org", "c.org") for n in range(3)]
        async with opened(*waiting) as (frontier, *_):
            first = await taken(frontier, 1)
            await asyncio.sleep(0.05)  # until every host's look-ahead has come from the store
            hosts = [url.split("/")[2] for url in first + await taken(frontier, 8)]
            assert len(set(hosts[1:4])) == len(set(hosts[4:7])) == 3

    check(main)


def test_nothing_is_handed_out_twice() -> None:
    async def main() -> None:
        async with opened(*(request(str(n)) for n in range(1000)), per_host=1000) as (frontier, *_):
            urls = await taken(frontier, 1000)
            assert len(set(urls)) == 1000
            assert frontier.flying == 1000
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(frontier.take(), 0.05)

    check(main)


def test_a_full_host_waits_for_a_free_place_and_is_not_at_rest_meanwhile() -> None:
    async def main() -> None:
        async with opened(request("a"), request("b"), per_host=1) as (frontier, *_):
            first = await frontier.take()
            assert first
            second = asyncio.create_task(frontier.take())
            await asyncio.sleep(0.02)
            assert not second.done()
            assert frontier.before_doors == 1
            assert not frontier.quiet
            first.door.leave()
            assert (await asyncio.wait_for(second, 2)).request.url == "http://a.org/b"
            assert frontier.before_doors == 0

    check(main)


def test_a_paced_host_waits_without_a_worker() -> None:
    async def main() -> None:
        slow = [request(str(n), "slow.org") for n in range(2)]
        async with opened(*slow, request("x", "fast.org"), rate="4/s") as (frontier, *_):
            started = time.monotonic()
            urls = await taken(frontier, 2)
            assert {url.split("/")[2] for url in urls} == {"slow.org", "fast.org"}
            assert time.monotonic() - started < 0.2
            await taken(frontier, 1)
            assert time.monotonic() - started >= 0.24

    check(main)


def test_a_closed_frontier_hands_out_nothing_and_lets_workers_go() -> None:
    async def main() -> None:
        async with opened() as (frontier, *_):
            idle = [asyncio.create_task(frontier.take()) for _ in range(3)]
            await asyncio.sleep(0.01)
            assert frontier.idle_workers == 3
            frontier.close()
            assert await asyncio.gather(*idle) == [None] * 3
            assert await frontier.take() is None

    check(main)


def test_a_cancelled_worker_takes_nothing() -> None:
    async def main() -> None:
        async with opened(request("a")) as (frontier, *_):
            worker = asyncio.create_task(frontier.take())
            await asyncio.sleep(0)
            worker.cancel()
            with pytest.raises(asyncio.CancelledError):
                await worker
            assert frontier.flying == 0
            assert await taken(frontier, 1) == ["http://a.org/a"]

    check(main)


def test_a_better_request_found_later_goes_first_on_whatever_host() -> None:
    async def main() -> None:
        waiting = [request("start", "b.org", priority=1), *(request(str(n)) for n in range(50))]
        async with opened(*waiting) as (frontier, store, lease):
            page = request("none")
            while page.url != "http://b.org/start":
                turn = await frontier.take()
                assert turn
                page = turn.request
            found = (request("urgent", priority=7), request("usual"))
            outcome = Outcome(page, Ending.DONE, found=found)
            settled = await store.settle(lease, Batch(outcomes=[outcome]))
            frontier.settled([outcome], settled.fresh)
            assert await taken(frontier, 1) == ["http://a.org/urgent"]

    check(main)


def test_a_parked_request_comes_back_at_its_time() -> None:
    async def main() -> None:
        async with opened(request("a")) as (frontier, store, lease):
            turn = await frontier.take()
            assert turn
            due = time.time() + 0.2
            outcome = Outcome(turn.request, Ending.LATER, "http_500", not_before=due, attempt=True)
            frontier.settled([outcome], (await store.settle(lease, Batch(outcomes=[outcome]))).fresh)
            assert not frontier.quiet
            again = await asyncio.wait_for(frontier.take(), 2)
            assert again
            assert time.time() >= due
            assert (again.request.id, again.request.attempts) == (turn.request.id, 1)

    check(main)


def test_level_by_level_waits_for_the_shallower_ones() -> None:
    async def main() -> None:
        waiting = [request("deep", depth=2, priority=9), request("a", depth=0), request("b", depth=0)]
        async with opened(*waiting, by_level=True) as (frontier, store, lease):
            turns = [await frontier.take() for _ in range(2)]
            assert {turn.request.depth for turn in turns if turn} == {0}
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(frontier.take(), 0.05)
            outcomes = [Outcome(turn.request, Ending.DONE) for turn in turns if turn]
            frontier.settled(outcomes, (await store.settle(lease, Batch(outcomes=outcomes))).fresh)
            assert await taken(frontier, 1) == ["http://a.org/deep"]

    check(main)


def test_a_resumed_level_that_is_parked_does_not_ask_the_store_in_circles() -> None:
    class Counting(SqliteStore):
        questions = 0

        async def level(self, run_id: int, host: str, shard: int = WHOLE) -> int | None:
            self.questions += 1
            return await super().level(run_id, host, shard)

    async def main() -> None:
        async with Counting(":memory:") as store:
            run = await store.new_run(Draft("test", "tests:Test", "signature", {}, {}))
            lease = await store.acquire(run.id, "me", 60)
            await store.add(lease, [request("parked", depth=1), request("deep", depth=2)], last=True)
            parked = (await store.peek(run.id, "a.org", 1, ()))[0]
            later = Outcome(parked, Ending.LATER, "http_500", not_before=time.time() + 0.3, attempt=True)
            await store.settle(lease, Batch(outcomes=[later]))
            config = ScraperConfig(rate="none", robots=False)
            frontier = Frontier(store, Gate(store), run.id, config, by_level=True)
            await frontier.open()
            assert await taken(frontier, 1) == ["http://a.org/parked"]
            assert store.questions < 10
            await frontier.aclose()

    check(main)


def test_an_error_of_the_store_reaches_the_workers() -> None:
    class Failing(SqliteStore):
        async def peek(self, *args: Any, **kwargs: Any) -> list[Request]:
            raise OSError("the disk is gone")

    async def main() -> None:
        async with Failing(":memory:") as store:
            run = await store.new_run(Draft("test", "tests:Test", "signature", {}, {}))
            lease = await store.acquire(run.id, "me", 60)
            await store.add(lease, [request("a")], last=True)
            frontier = Frontier(store, Gate(store), run.id, ScraperConfig(rate="none"))
            await frontier.open()
            with pytest.raises(OSError, match="the disk is gone"):
                await frontier.take()
            await frontier.aclose()

    check(main)


def test_a_stall_names_number_and_hosts() -> None:
    async def main() -> None:
        async with opened(request("a"), request("b", "b.org")) as (frontier, *_):
            told = str(frontier.stalled(2))
            assert "2 requests wait" in told
            assert "a.org, b.org" in told

    check(main)


def test_known_urls_are_remembered_within_bounds() -> None:
    known = Known(limit=100)
    assert all(known.add(str(n)) for n in range(1000))
    assert not known.add("999")
    assert "999" in known
    assert "950" in known  # the older generation counts too
    assert "1" not in known
    assert known.add("1")
    assert len(known._new) + len(known._old) <= 200
