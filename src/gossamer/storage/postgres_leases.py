"""Leases of shards and tickets for them, in PostgreSQL: who walks what, by the database's clock."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from gossamer.errors import LeaseLost
from gossamer.storage import counting, rows
from gossamer.storage import postgres_lease_sql as sql
from gossamer.storage.postgres_items import PostgresItems
from gossamer.storage.postgres_pool import Connection
from gossamer.storage.shared import Standing, Taken, Ticket, Wish
from gossamer.values import CONDUCTOR, Lease, Run, RunState

#: Keys of advisory locks: who takes a shard, and who conducts a run. (SHARDS, -1) is held against WHOLE leases.
SHARDS, CONDUCTORS, LIMITS = 7363, 7364, 7365
#: Most tickets issued by one look.
MOST = 4_096


class PostgresLeases(PostgresItems):
    """The part of the store by which several processes share runs."""

    async def take(self, run_id: int, shard: int, owner: str, ttl: float, kills: int = 3) -> Taken | None:
        async def write(db: Connection) -> Taken | None:
            await db.execute(sql.LOCK_SHARED, SHARDS, -1)
            await db.execute(sql.LOCK, *((CONDUCTORS, run_id % 2**31) if shard == CONDUCTOR else (SHARDS, shard)))
            if shard != CONDUCTOR and await db.fetchval(sql.LIMITED, run_id):
                # Only so many workers may walk it: two of them must not both be the last.
                await db.execute(sql.LOCK, LIMITS, run_id % 2**31)
            if not await db.fetchval(sql.MAY_CONDUCT if shard == CONDUCTOR else sql.MAY_WALK, run_id, shard, owner):
                return None
            row = await db.fetchrow(sql.TAKE, run_id, shard, owner, ttl)
            if row is None:
                return None
            lease = Lease(run_id, owner, row["token"], row["until"], shard, ttl)
            if not row["crashes"] or shard == CONDUCTOR:
                return Taken(lease, row["crashes"])
            return await self._suspecting(db, lease, row["crashes"], kills)

        return await self._write(write)

    async def _suspecting(self, db: Connection, lease: Lease, crashes: int, kills: int) -> Taken:
        """What an owner was at when it died. Those that are poison keep their mark until they are settled."""
        found = await db.fetch(sql.CLAIMED, lease.run, lease.shard)
        poison = frozenset(row["id"] for row in found if row["token"] < 0 and crashes >= kills)
        suspects = frozenset(row["id"] for row in found) - poison
        await db.execute(sql.UNCLAIM, list(suspects))
        return Taken(lease, crashes, suspects, poison)

    async def give_back(self, lease: Lease, rest: float = 0.0) -> None:
        await self._write(lambda db: db.execute(sql.GIVE_BACK, lease.run, lease.shard, lease.token, lease.owner, rest))

    async def renew(self, leases: Collection[Lease], ttl: float) -> set[tuple[int, int]]:
        if not leases:
            return set()
        ordered = sorted(leases, key=lambda lease: (lease.run, lease.shard))
        columns = [[getattr(lease, name) for lease in ordered] for name in ("run", "shard", "token", "owner")]
        found = await self._write(lambda db: db.fetch(sql.RENEW, *columns, ttl))
        return {(row["run_id"], row["shard"]) for row in found}

    async def claim(self, lease: Lease, ids: Sequence[int], *, alone: bool) -> None:
        async def write(db: Connection) -> None:
            await self._fence(db, lease)
            await db.execute(sql.CLAIM, lease.run, sorted(ids), -lease.token if alone else lease.token)

        await self._write(write)

    async def calm(self, lease: Lease) -> None:
        await self._write(lambda db: db.execute(sql.CALM, lease.run, lease.shard, lease.token, lease.owner))

    # -- tickets -----------------------------------------------------------------------------------------------

    async def issue(self, run_id: int, shards: Collection[int], fresh: float) -> list[Ticket]:
        found = await self._write(lambda db: db.fetch(sql.ISSUE, run_id, sorted(shards), fresh))
        return [tuple(row) for row in found]

    async def offer(self, run_id: int, options: Mapping[str, Any], workers: int | None) -> None:
        async def write(db: Connection) -> None:
            if await db.fetchval(sql.STATE, run_id) in counting.ENDED:
                await self._uncount(db, run_id)
            await db.execute(sql.OFFER, run_id, rows.as_text(options), workers)

        await self._write(write)

    async def reconcile(self, fresh: float) -> list[Ticket]:
        async def look(db: Connection) -> Sequence[Any]:
            found: Sequence[Any] = await db.fetch(sql.ACTIVE)
            return found

        tickets: list[Ticket] = []
        for run_id, walked in await self._read(look):
            wanting = {CONDUCTOR}
            if walked:
                wanting |= await self.ready(run_id)
            tickets += await self.issue(run_id, wanting, fresh)
            if len(tickets) >= MOST:
                break
        return sorted(tickets, key=lambda ticket: -ticket[2])

    async def ready(self, run_id: int) -> set[int]:
        return {row[0] for row in await self._read(lambda db: db.fetch(sql.READY, run_id))}

    async def wanting(self, shards: Collection[int], limited: Collection[int]) -> list[Ticket]:
        async def look(db: Connection) -> Sequence[Any]:
            found = list(await db.fetch(sql.WANTING, sorted(shards))) if shards else []
            for run_id in limited:
                found += [(run_id, row[0], 0) for row in await db.fetch(sql.READY, run_id)]
            return found

        return [tuple(row) for row in await self._read(look)]

    # -- conducting --------------------------------------------------------------------------------------------

    async def begin(
        self,
        lease: Lease,
        limits: Mapping[str, Any],
        workers: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Run:
        async def write(db: Connection) -> None:
            await self._fence(db, lease)
            state = await db.fetchval(sql.STATE, lease.run)
            if state is None:
                raise LeaseLost(f"run {lease.run} is no more")
            if state == RunState.RUNNING:
                return
            if state in counting.ENDED:
                await self._uncount(db, lease.run)
            told = None if options is None else rows.as_text(options)
            await db.execute(sql.BEGIN, lease.run, workers, told)
            await db.execute(sql.START, lease.run, rows.as_text(limits))

        await self._write(write)
        run = await self.run(lease.run)
        assert run is not None
        return run

    async def hush(self, lease: Lease) -> None:
        await self._write(lambda db: db.execute(sql.HUSH, lease.run))

    async def standing(self, run_id: int) -> Standing | None:
        row = await self._read(lambda db: db.fetchrow(sql.STANDING, run_id))
        return None if row is None else msgspec.convert(dict(row), Standing)

    async def wishes(self, runs: Collection[int]) -> Mapping[int, Wish]:
        found = await self._read(lambda db: db.fetch(sql.WISHES, sorted(runs)))
        return {row["id"]: Wish(row["state"], row["wanted"], row["priority"], row["workers"]) for row in found}

    async def orphaned(self) -> bool | None:
        found: bool | None = await self._read(lambda db: db.fetchval(sql.ORPHANED))
        return found

    # -- workers -----------------------------------------------------------------------------------------------

    async def beat(self, name: str, pid: int, started: float, data: str) -> None:
        async def write(db: Connection) -> None:
            await db.execute(sql.BEAT, name, pid, started, data)
            await db.execute(sql.LONG_GONE)

        await self._write(write)

    async def depart(self, name: str) -> None:
        await self._write(lambda db: db.execute(sql.DEPART, name))

    # -- what the whole store brings ---------------------------------------------------------------------------

    if TYPE_CHECKING:

        async def run(self, run_id: int) -> Run | None:
            """One run."""

        async def _uncount(self, db: Connection, run_id: int) -> None:
            """Take an ended run out of what is counted for its scraper, for it goes on."""
