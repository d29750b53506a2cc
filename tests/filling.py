"""Stores filled without a site: for tests of what comes out of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from gossamer.pipeline import item_of
from gossamer.storage import opening
from gossamer.storage.store import Batch, Draft, Store
from gossamer.values import Ending, Outcome, Request
from tests.stores import at

T = TypeVar("T")


async def settle(
    store: Store,
    records: Sequence[dict[str, Any]],
    *,
    scraper: str = "shop",
    kind: str = "product",
    key: str = "id",
    held: bool = False,
) -> int:
    """A run that finds these records on one page; items it does not find are gone. Returns its number."""
    run = await store.new_run(Draft(scraper, "ref", scraper, {}, {}))
    lease = await store.acquire(run.id, "me", 60)
    if held:
        await store.hold(lease)
    await store.add(lease, [Request("http://shop.example/")], last=True)
    (page,) = await store.peek(run.id, "shop.example", 10, ())
    items = tuple(item_of(record, key, kind) for record in records)
    done = Outcome(page, Ending.DONE, status=200, size=5, started=time.time(), elapsed=0.25, items=items)
    await store.settle(lease, Batch([done]))
    if not held:
        await store.mark_gone(lease, 1)
    await store.release(lease)
    return run.id


def fill(path: str, records: Sequence[dict[str, Any]], **options: Any) -> int:
    """The same, on the store at a path."""
    return use(path, lambda store: settle(store, records, **options))


def use(path: str, work: Callable[[Store], Coroutine[Any, Any, T]]) -> T:
    """Open a store, and work with it."""

    async def main() -> T:
        async with opening.working(at(path)) as store:
            return await work(store)

    return asyncio.run(main())
