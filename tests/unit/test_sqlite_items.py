"""Items in the SQLite store that are larger than a statement takes at once."""

from __future__ import annotations

import asyncio
import sqlite3

import msgspec
import pytest

from gossamer.storage import sqlite_items
from gossamer.storage.sqlite import SqliteStore
from gossamer.storage.store import Batch, Draft, Wanted
from gossamer.values import Ending, Item, Outcome, Reject, Request, Verdict

#: What a statement takes here; a gigabyte elsewhere.
ROOM = 1 << 20


def record(n: int, size: int) -> str:
    return msgspec.json.encode({"n": n, "text": "x" * size}).decode()


def test_large_records_among_small_ones_are_written_and_read(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = [10] * 700 + [300_000] * 12 + [10] * 700
    items = tuple(Item("item", f"{n}", record(n, size)) for n, size in enumerate(sizes))
    rejects = tuple(Reject("item", item.data, "model", "too large") for item in items)

    async def main() -> None:
        async with SqliteStore(store) as s:
            await s._do(lambda: s._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, ROOM))
            for hold in (False, True):
                run = await s.new_run(Draft("s", "s.py:S", f"{hold}", {}, {}))
                lease = await s.acquire(run.id, "me", 60.0)
                if hold:
                    await s.hold(lease)
                await s.add(lease, [Request("https://a.example/")], last=True)
                (request,) = await s.peek(run.id, "a.example", 1, ())
                outcome = Outcome(request, Ending.DONE, items=items, status=200, started=100.0)
                assert (await s.settle(lease, Batch(outcomes=[outcome]))).items == len(items)
                if hold:
                    assert [i.data async for i in s.items(Wanted(run=run.id, held=True))] == [i.data for i in items]
                    await s.judge(lease, Verdict.GOOD, "{}", None)
                    assert await s.promote() == len(items)
            for wanted in (Wanted(), Wanted(after=0), Wanted(run=1)):
                assert [i.data async for i in s.items(wanted)] == [i.data for i in items]
            assert len([c async for c in s.changes(0.0)]) == len(items)
            for n in range(0, len(rejects), 2):
                await s.add(lease, [Request(f"https://a.example/{n}")], last=True)
                (request,) = await s.peek(run.id, "a.example", 1, ())
                failed = Outcome(request, Ending.DONE, rejects=rejects[n : n + 2], status=200, started=100.0)
                await s.settle(lease, Batch(outcomes=[failed]))
            assert [r.data async for r in s.rejects(None, None)] == [r.data for r in rejects]

    monkeypatch.setattr(sqlite_items, "HEAVY", ROOM // 4)
    asyncio.run(main())
