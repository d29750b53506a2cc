"""Steps that the contract's tests share. They speak to a store by its verbs alone."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from gossamer.storage.store import DEEPEST, Batch, Draft, Settled, Store, Wanted
from gossamer.values import Ending, Item, Lease, Outcome, Request

HOST = "a.example"
A = f"https://{HOST}/"


def played(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that is written as a coroutine, for pytest."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


def draft(scraper: str = "quotes", signature: str = "same") -> Draft:
    return Draft(scraper, "quotes.py:Quotes", signature, {"q": "art"}, {"depth": 3})


async def begin(store: Store, *requests: Request | str, scraper: str = "quotes", owner: str = "me") -> Lease:
    """A new run that is being walked, with all its start requests in."""
    run = await store.new_run(draft(scraper))
    lease = await store.acquire(run.id, owner, 60.0)
    await store.add(lease, [Request(r) if isinstance(r, str) else r for r in requests], last=True)
    return lease


async def ready(store: Store, lease: Lease, host: str = HOST, level: int = DEEPEST) -> list[Request]:
    """Every request of a host that may be walked now, best first."""
    return await store.peek(lease.run, host, 10_000, (), level)


async def ready_urls(store: Store, lease: Lease, host: str = HOST) -> list[str]:
    return [request.url for request in await ready(store, lease, host)]


async def settle(store: Store, lease: Lease, *outcomes: Outcome, **more: Any) -> Settled:
    return await store.settle(lease, Batch(outcomes=outcomes, **more))


def done(request: Request, *found: Request | str, items: tuple[Item, ...] = (), **more: Any) -> Outcome:
    """A page fetched and read, with what it led to."""
    links = tuple(Request(r, depth=request.depth + 1) if isinstance(r, str) else r for r in found)
    facts = {"status": 200, "size": 10, "started": 1000.0, "elapsed": 0.5} | more
    return Outcome(request, Ending.DONE, found=links, items=items, **facts)


def later(request: Request, not_before: float, *, attempt: bool = True) -> Outcome:
    """A walk that is to be done again."""
    return Outcome(request, Ending.LATER, "timeout", not_before=not_before, attempt=attempt, started=1000.0)


async def items_of(store: Store, **wanted: Any) -> list[dict[str, Any]]:
    """Items with their records decoded."""
    found = [item async for item in store.items(Wanted(**wanted))]
    return [{**msgspec.structs.asdict(item), "data": item.record()} for item in found]


async def everything(store: Store, lease: Lease) -> list[Any]:
    """All that can be asked of a store about one run: equal before and after what must change nothing."""
    run_id = lease.run
    pages = [page async for page in store.pages(run_id, None)]
    return [
        await store.run(run_id),
        await store.pending(run_id),
        await store.hosts(run_id),
        await store.roots(run_id, by_host=False),
        await store.host_table(run_id),
        pages,
        [await store.why(page["url"]) for page in pages],
        [item async for item in store.items(Wanted(gone=True))],
        [change async for change in store.changes(0.0)],
        [reject async for reject in store.rejects(None, None)],
        await store.sources(),
        await store.robots(A.rstrip("/")),
        await store.notices(),
        await store.starts(None),
        await store.host_counts(run_id),
        [line async for line in store.fetch_log(None)],
    ]
