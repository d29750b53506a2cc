"""What the ends of runs count for their scraper, and what each minute and hour brought."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from gossamer.storage.sqlite import SqliteStore
from gossamer.storage.sqlite_desk import SqliteDesk
from gossamer.storage.store import Batch, Draft
from gossamer.values import Ending, Item, Lease, Outcome, Request, RunState, Verdict

A = "https://a.example/"


async def begun(store: SqliteStore, *urls: str, run: int | None = None) -> tuple[Lease, list[Request]]:
    number = run or (await store.new_run(Draft("s", "s.py:S", "sig", {}, {}))).id
    lease = await store.acquire(number, "me", 60.0)
    await store.add(lease, [Request(A + url) for url in urls], last=True)
    return lease, await store.peek(number, "a.example", 100, ())


async def ended(store: SqliteStore, lease: Lease, state: RunState, reason: str = "done") -> None:
    await store.end_run(lease, state, reason)
    await store.release(lease)


async def told(path: str, columns: str = "runs, successes, failures, streak, items, new_items") -> tuple[Any, ...]:
    async with SqliteDesk(path) as desk:
        row = await desk.row(f"select {columns} from scraper where name = 's'")
        assert row is not None
        return row


def page(request: Request, key: str) -> Outcome:
    return Outcome(request, Ending.DONE, status=200, started=1.0, items=(Item("quote", key, "{}"),))


def test_a_run_is_counted_once_however_often_it_goes_on(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store) as mine:
            lease, (one, two) = await begun(mine, "1", "2")
            await mine.settle(lease, Batch(outcomes=[page(one, "a")], seconds=1.5))
            await ended(mine, lease, RunState.STOPPED, "max_pages")
            assert await told(store) == (1, 1, 0, 0, 1, 1)
            lease, _ = await begun(mine, run=lease.run)
            assert await told(store) == (0, 0, 0, 0, 0, 0), "it goes on, and counts when it ends again"
            await mine.settle(lease, Batch(outcomes=[page(two, "b")], seconds=2.0))
            await ended(mine, lease, RunState.FINISHED)
            assert await told(store) == (1, 1, 0, 0, 2, 2)
            assert await told(store, "seconds, last_run, last_state, last_reason") == (
                3.5,
                lease.run,
                "finished",
                "done",
            )

    asyncio.run(main())


@pytest.mark.parametrize(
    ("state", "reason", "success", "failure"),
    [
        (RunState.FINISHED, "done", 1, 0),
        (RunState.STOPPED, "max_items", 1, 0),
        (RunState.STOPPED, "held", 0, 1),
        (RunState.STOPPED, "paused", 0, 0),
        (RunState.FAILED, "start_failed", 0, 1),
        (RunState.CANCELLED, "cancelled", 0, 0),
    ],
)
def test_what_counts_as_a_success_and_what_as_a_failure(
    store: str, state: RunState, reason: str, success: int, failure: int
) -> None:
    async def main() -> None:
        async with SqliteStore(store) as mine:
            lease, _ = await begun(mine, "1")
            await ended(mine, lease, state, reason)
        assert (await told(store))[:4] == (1, success, failure, failure)

    asyncio.run(main())


def test_failures_in_a_row_end_with_a_success_and_not_with_a_cancel(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store) as mine:
            streaks = []
            for state in ("failed", "failed", "cancelled", "failed", "finished", "failed"):
                lease, _ = await begun(mine, "1")
                await ended(mine, lease, RunState(state))
                streaks.append((await told(store, "streak"))[0])
            assert streaks == [1, 2, 2, 3, 0, 1]

    asyncio.run(main())


def test_a_suspect_run_is_no_success(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store) as mine:
            lease, _ = await begun(mine, "1")
            await mine.judge(lease, Verdict.SUSPECT, "{}", "{}")
            await ended(mine, lease, RunState.FINISHED)
        assert (await told(store))[:3] == (1, 0, 0)

    asyncio.run(main())


def test_new_items_are_those_no_run_had_seen(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store) as mine:
            for keys in (("a", "b"), ("a", "b", "c"), ("a",)):
                lease, requests = await begun(mine, *keys)
                await mine.settle(lease, Batch(outcomes=[page(r, k) for r, k in zip(requests, keys, strict=True)]))
                await ended(mine, lease, RunState.FINISHED)
            assert [run.new_items for run in await mine.runs()] == [0, 1, 2]
        assert await told(store, "items, new_items") == (6, 3)

    asyncio.run(main())


def test_a_run_that_is_left_for_the_next_start_has_not_ended(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store) as mine:
            lease, _ = await begun(mine, "1")
            run = await mine.end_run(lease, RunState.PENDING, "shutdown")
            assert (run.state, run.ended) == (RunState.PENDING, None)
            assert run.started is not None
        async with SqliteDesk(store) as desk:
            assert await desk.rows("select runs from scraper") in ([], [(0,)])

    asyncio.run(main())


def test_minutes_and_hours_are_counted(store: str) -> None:
    async def main() -> None:
        async with SqliteStore(store) as mine:
            lease, (one, two, three) = await begun(mine, "1", "2", "3")
            bad = Outcome(two, Ending.FAILED, "http_500", size=5, started=1.0)
            await mine.settle(lease, Batch(outcomes=[page(one, "a")]))
            await mine.settle(lease, Batch(outcomes=[bad, Outcome(three, Ending.SKIPPED, "robots")]))
        async with SqliteDesk(store) as desk:
            found = await desk.rows("select sum(pages), sum(failed), sum(skipped), sum(items), sum(size) from tick")
            assert found == [(1, 1, 1, 1, 5)]
            ((minute,),) = await desk.rows("select max(minute) from tick")
            assert abs(minute * 60 - time.time()) < 120
            assert await desk.rows("select scraper, reason, n from cause") == [("s", "http_500", 1)]

    asyncio.run(main())


def test_a_desk_rolls_back_what_failed_and_waits_for_nobody_who_reads(store: str) -> None:
    async def main() -> None:
        async with SqliteDesk(store) as desk, SqliteDesk(store) as other:
            with pytest.raises(ZeroDivisionError):
                await _failing(desk, other)
            assert await desk.rows("select name from scraper") == []
            async with desk.writing() as writing:
                await writing.many("insert into scraper (name) values (:name)", [{"name": n} for n in "abc"])
            assert await other.rows("select name from scraper order by name") == [("a",), ("b",), ("c",)]
            task = asyncio.create_task(_long(desk))
            await asyncio.sleep(0.05)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert await other.row("select count(*) from scraper") == (3,), "a cancelled transaction leaves nothing"

    async def _failing(desk: SqliteDesk, other: SqliteDesk) -> None:
        async with desk.writing() as writing:
            await writing.run("insert into scraper (name) values ('x')")
            assert await other.rows("select name from scraper") == []
            raise ZeroDivisionError

    async def _long(desk: SqliteDesk) -> None:
        async with desk.writing() as writing:
            await writing.run("delete from scraper")
            await asyncio.sleep(30)

    asyncio.run(main())
