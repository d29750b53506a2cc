"""A cluster as rows: workers, runs, leases and requests, written as those do that walk, for whoever looks at them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from gossamer.storage import opening
from gossamer.storage.desk import Desk
from tests import stores

T = TypeVar("T")

_RUN = """
insert into run (id, scraper, ref, signature, params, options, reading, state, reason, created, via, cluster, priority,
    workers, pages)
values (:id, :scraper, '', '', '{}', '{}', '{}', :state, :reason, 0, :via, :cluster, :priority, :workers, :pages)
"""
_LEASE = """
insert into lease (run_id, shard, owner, token, until, ticket_at, crashes, acquired, rest_until)
values (:run, :shard, :owner, 1, :until, :ticket_at, :crashes, :acquired, :rest_until)
"""
_REQUEST = """
insert into request (run_id, digest, url, host, shard, handler, depth, priority, hops, state, not_before)
values (:run, :digest, :url, :host, :shard, 'parse', 0, 0, 0, :state, :not_before)
"""
_BEAT = """
insert into worker (name, pid, started, at, data) values (:name, :pid, :started, :at, :data)
on conflict (name) do update set at = excluded.at, data = excluded.data
"""


def on(store: str, work: Callable[[Desk], Awaitable[T]]) -> T:
    """Do something with the desk of a store."""

    async def main() -> T:
        async with opening.desk(store) as desk:
            return await work(desk)

    return stores.aside(main)


async def add_run(desk: Desk, run: int, state: str = "running", **more: Any) -> None:
    """A run that workers share."""
    usual = {"scraper": "shop", "reason": "", "via": "api", "cluster": 1, "priority": 0, "workers": None, "pages": 0}
    async with desk.writing() as writing:
        await writing.run(_RUN, **{**usual, "id": run, "state": state, **more})


async def add_lease(desk: Desk, run: int, shard: int, owner: str | None, left: float = 600.0, **more: Any) -> None:
    """A part of a run that somebody has, or had."""
    now = time.time()
    usual = {"until": now + left if owner else 0.0, "ticket_at": None, "crashes": 0, "rest_until": 0.0}
    async with desk.writing() as writing:
        await writing.run(
            _LEASE, **{**usual, "acquired": now - 5.0, "run": run, "shard": shard, "owner": owner, **more}
        )


async def add_requests(
    desk: Desk, run: int, shard: int, n: int = 1, *, not_before: float = 0.0, state: int = 0
) -> None:
    """Requests of one shard of a run."""
    kind = "later" if not_before else "now"
    rows = [
        {
            "run": run,
            "digest": f"{kind}-{state}-{shard}-{each}",
            "url": f"https://host{shard}.example/{each}",
            "host": f"host{shard}.example",
            "shard": shard,
            "state": state,
            "not_before": not_before,
        }
        for each in range(n)
    ]
    async with desk.writing() as writing:
        await writing.many(_REQUEST, rows)


async def beat(desk: Desk, name: str, age: float = -600.0, **data: Any) -> None:
    """What a worker says of itself, so many seconds ago; usually late enough for it to live however slow a test is."""
    usual = {
        "kind": "worker",
        "host": name.partition(":")[0],
        "version": "1.0",
        "pool": "threads",
        "broker": "redis://broker.example/0",
        "room": 4,
        "most": 16,
        "why": "all cores are used",
        "cpu": 1.5,
        "memory": 200_000_000,
        "lag": 0.02,
        "rate": 12.5,
        "pages": 400,
        "runs": {},
        "leases": [],
    }
    told = msgspec.json.encode({**usual, **data}).decode()
    now = time.time()
    async with desk.writing() as writing:
        await writing.run(_BEAT, name=name, pid=7, started=now - 100.0, at=now - age, data=told)


async def stage(desk: Desk) -> None:
    """Run 1 is walked by two workers, a third is gone, a ticket is out, and some shards wait; run 2 is paused."""
    await add_run(desk, 1, priority=3, workers=4, pages=70)
    await add_run(desk, 2, "stopped", scraper="art", reason="paused")
    one = {"waiting": 30, "parked": 1, "flying": 4, "rate": 2.5, "eta": 10.0, "slowest": "a.example", "hosts": []}
    two = {"waiting": 12, "parked": 0, "flying": 2, "rate": 1.25, "eta": 90.0, "slowest": "b.example", "hosts": []}
    await beat(desk, "alpha:7:aaaa", runs={"1": one})
    await beat(desk, "beta:7:bbbb", runs={"1": two}, rate=1.25, room=0)
    await beat(desk, "gone:7:cccc", 3_000.0, runs={"1": one})
    for shard in (5, 6, 7):
        await add_lease(desk, 1, shard, "alpha:7:aaaa")
        await add_requests(desk, 1, shard, 10)
    await add_lease(desk, 1, 8, "beta:7:bbbb", crashes=1)
    await add_lease(desk, 1, -2, "beta:7:bbbb")
    await add_lease(desk, 1, 9, None, ticket_at=time.time() - 60.0)
    await add_requests(desk, 1, 9, 3)
    await add_lease(desk, 1, 10, "gone:7:cccc", -20.0)
    await add_requests(desk, 1, 10, 2)
    await add_requests(desk, 1, 11, 1, not_before=time.time() + 3_600.0)
    await add_requests(desk, 1, 12, 1, not_before=time.time() - 10.0)
    await add_requests(desk, 1, 13, 5, state=1)
