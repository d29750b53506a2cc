"""What a store does besides, that several processes walk at the same time: leases of shards, and tickets for them.

A ticket says that a shard of a run has something to do; whoever gets it may take the shard's lease. Tickets are carried
by others and may be lost, late or doubled: the rows here are what holds. Times are those of the store's own clock.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from gossamer.storage.store import Store
from gossamer.values import Lease, Run

#: A run, one of its shards (or CONDUCTOR), and the run's priority.
Ticket = tuple[int, int, int]


class Taken(msgspec.Struct, frozen=True):
    """A lease that was taken, and what became of the one before it."""

    lease: Lease
    #: Owners in a row that died holding it.
    crashes: int = 0
    #: Requests, by id, that were being walked when an owner died; and those that ended it for certain.
    suspects: frozenset[int] = frozenset()
    poison: frozenset[int] = frozenset()


class Standing(msgspec.Struct, frozen=True):
    """How a run of a cluster stands, for who conducts it."""

    state: str
    wanted: str
    pages: int
    items: int
    #: Pages and items when somebody last started it: budgets count from there.
    begun_pages: int
    begun_items: int
    #: Whether a request waits.
    waits: bool
    #: Shards that are being walked.
    walked: int
    #: Seconds until a request may be walked, as far as those who walked last could say; 0: one may be now.
    rest: float


class Wish(msgspec.Struct, frozen=True):
    """What somebody wants of a run."""

    state: str
    wanted: str
    priority: int
    #: Most workers that may walk it at the same time.
    workers: int | None = None


class Shared(Store, Protocol):
    """A store that several processes walk."""

    async def take(self, run_id: int, shard: int, owner: str, ttl: float, kills: int = 3) -> Taken | None:
        """Take the lease of a shard, or of the conductor; None if it cannot be had, or there is no need.

        A shard belongs to one process over all runs, so that its hosts meet one gate. What was walked alone when
        its owner died is poison after `kills` deaths.
        """

    async def give_back(self, lease: Lease, rest: float = 0.0) -> None:
        """Give a lease back in good order; with `rest`, its shard has nothing to do for so many seconds."""

    async def renew(self, leases: Collection[Lease], ttl: float) -> set[tuple[int, int]]:
        """Renew leases at once; returns those (run, shard) that are still ours."""

    async def claim(self, lease: Lease, ids: Sequence[int], *, alone: bool) -> None:
        """Write down that requests are about to be walked, before they are; `alone`: while nothing else is."""

    async def calm(self, lease: Lease) -> None:
        """Forget that earlier owners of a lease died: what they walked last was walked, and did no harm."""

    async def issue(self, run_id: int, shards: Collection[int], fresh: float) -> list[Ticket]:
        """Tickets for shards that nobody walks, if none was issued in the last `fresh` seconds."""

    async def offer(self, run_id: int, options: Mapping[str, Any], workers: int | None) -> None:
        """Have workers walk a run: one that waits or goes on is left as it is, one that has ended goes on."""

    async def reconcile(self, fresh: float) -> list[Ticket]:
        """Tickets for all that waits, in all runs, and that nobody walks."""

    async def ready(self, run_id: int) -> set[int]:
        """Shards of a run in which something may be walked now, and which nobody walks for any run."""

    async def hush(self, lease: Lease) -> None:
        """Have nobody begin to walk a run any more, which is about to end."""

    async def begin(
        self,
        lease: Lease,
        limits: Mapping[str, Any],
        workers: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Run:
        """The conductor begins: the run is running from now on, with these limits and options, if it was not already.

        `workers` holds unless somebody said otherwise.
        """

    async def standing(self, run_id: int) -> Standing | None:
        """How a run stands."""

    async def wishes(self, runs: Collection[int]) -> Mapping[int, Wish]:
        """What is wanted of runs, by their numbers."""

    async def orphaned(self) -> bool | None:
        """Whether a run is walked that nobody conducts; None if none is walked."""

    async def wanting(self, shards: Collection[int], limited: Collection[int]) -> list[Ticket]:
        """What others than the holder of these shards cannot do: shards of other runs among them, and free shards of
        runs that only so many workers may walk (`limited`, which we are one of)."""

    async def beat(self, name: str, pid: int, started: float, data: str) -> None:
        """Say that a worker lives, and what it is at. Those that have not been heard of for long are forgotten."""

    async def depart(self, name: str) -> None:
        """A worker ends in good order."""
