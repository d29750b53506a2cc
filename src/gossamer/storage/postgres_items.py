"""Items in the PostgreSQL store: written with their history, held back, marked as gone, read."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import msgspec

from gossamer.errors import StoreError
from gossamer.storage import postgres_item_sql as sql
from gossamer.storage import rows
from gossamer.storage.postgres_pool import Connection, PostgresPool, columns
from gossamer.storage.store import Change, Judgement, Rejection, Reread, RunFacts, SinkNote, StoredItem, Wanted
from gossamer.values import Lease, Outcome, Verdict

#: Held items let through in one transaction, and bytes of them: others, who write items too, wait so long.
GROUP = 10_000
AT_ONCE = 32 << 20
#: Items marked as gone in one transaction.
MARKED = 10_000
#: Bytes of items handed to PostgreSQL, or taken from it, at once.
HEAVY = 16 << 20
#: Bytes of records that a sample of a run's items may have.
SAMPLE_BYTES = 64 << 20
#: More runs than anybody will have: an item that must be missing from more is never gone.
MOST_RUNS = 1 << 32
#: The highest number of all.
LAST = (1 << 63) - 1
#: Items handed out at once: at first, and at most.
FIRST_ROWS = 20
MOST_ROWS = 500
#: Seconds that looking through all pages of a run may take.
LOOKING = 3600.0

_decode_facts = msgspec.json.Decoder(RunFacts).decode


class _Writing(msgspec.Struct, frozen=True):
    """For which run items are written, and how."""

    run: int
    scraper: str
    #: Their place in the log of changes.
    seq: int
    volatile: tuple[str, ...]
    #: When they change, if not when their page was fetched.
    now: float | None = None
    #: Whether they were held back, and whether the scraper ran again since.
    late: bool = False
    newer: bool = False
    #: Whether they were seen now, and not read again.
    seen: bool = True

    @property
    def values(self) -> tuple[Any, ...]:
        """In the order of the statements."""
        how = (self.now, self.late, self.newer, int(self.seen), list(self.volatile))
        return (self.run, self.scraper, self.seq, *how)


class PostgresItems(PostgresPool):
    """The part of the store that knows what became of items."""

    # -- writing -----------------------------------------------------------------------------------------------

    async def _upsert(self, db: Connection, run: int, outcomes: Sequence[Outcome]) -> int:
        """Write items, rejects and visits; returns how many of the items this run had not seen."""
        items = rows.item_rows(outcomes)
        seen = rows.seen_rows(outcomes, time.time())
        visits = [o.visit for o in outcomes if o.visit is not None]
        if rejects := rows.reject_rows(outcomes, time.time()):
            await db.execute(sql.REJECT, run, *columns(rejects, 6))
        if not items and not seen and not visits:
            return 0
        await db.execute(sql.LOCK)
        scraper, verdict, volatile = await self._about(db, run)
        held = verdict == Verdict.PENDING
        if visits:
            # What a page gave that was held back holds for later runs only once it comes through.
            await db.execute(sql.KEEP_VISITS, f"@{run}" if held else scraper, *_visit_columns(*rows.visit_rows(visits)))
        if not items and not seen:
            return 0
        writing = _Writing(run, scraper, await db.fetchval(sql.NEXT_SEQ), volatile)
        unknown = await self._fresh(db, items, seen, writing) if held else 0
        # A page that did not change gives what it gave, and that is current already: only its sighting is new.
        fresh: int = await db.fetchval(sql.SEE, run, scraper, writing.seq, *columns(seen, 4)) if seen else 0
        if held:
            for wave in _waves(items):
                await db.execute(sql.STAGE, run, *wave)
            return unknown
        return fresh + (await self._put(db, items, writing))[0]

    async def _fresh(self, db: Connection, items: Sequence[Any], seen: Sequence[Any], writing: _Writing) -> int:
        """How many of the items that are to be held back, or are current on unchanged pages, the run has not met."""
        met = [(row[1], row[2], False) for row in items] + [(row[1], row[2], True) for row in seen]
        found: int = await db.fetchval(sql.FRESH, writing.run, writing.scraper, *columns(met, 3))
        return found

    async def _about(self, db: Connection, run: int) -> tuple[str, str, tuple[str, ...]]:
        """A run's scraper, its verdict, and the fields that make no item another one."""
        scraper, verdict, volatile = await db.fetchrow(sql.ABOUT, run)
        return scraper, verdict, tuple(msgspec.json.decode(volatile) or ()) if volatile else ()

    async def _put(self, db: Connection, items: Sequence[Any], writing: _Writing) -> tuple[int, int]:
        """Write items and what they were before; how many this run had not seen, how many are new or changed."""
        fresh = other = 0
        for wave in _waves(items):
            found = await db.fetchrow(sql.PUT, *writing.values, *wave)
            fresh += found["fresh"]
            other += found["changed"] + found["made"]
        return fresh, other

    async def reread(self, lease: Lease, items: Sequence[Reread]) -> int:
        made = [(i.request_id, i.kind, i.key, i.data, i.url, i.seen) for i in items]

        async def write(db: Connection) -> int:
            await self._fence(db, lease)
            await db.execute(sql.LOCK)
            scraper, _, volatile = await self._about(db, lease.run)
            seq = await db.fetchval(sql.NEXT_SEQ)
            writing = _Writing(lease.run, scraper, seq, volatile, now=time.time(), seen=False)
            return (await self._put(db, made, writing))[1]

        return await self._write(write)

    # -- gone --------------------------------------------------------------------------------------------------

    async def lost(self, lease: Lease, keys: Sequence[tuple[str, str]]) -> int:
        async def write(db: Connection) -> int:
            await self._fence(db, lease)
            await db.execute(sql.LOCK)
            scraper = await db.fetchval(sql.SCRAPER, lease.run)
            ids = await db.fetchval(sql.IDS, scraper, *columns(keys, 2))
            return await self._mark(db, lease.run, ids) if ids else 0

        return await self._write(write)

    async def mark_gone(self, of: Lease | int, rule: str | int | float) -> int:
        """As in `Store`. What is found missing is marked in groups, beside others who write items meanwhile."""
        if rule == "never":
            return 0
        lease, run = (of, of.run) if isinstance(of, Lease) else (None, of)

        async def find(db: Connection) -> tuple[list[int], int, float]:
            async with db.transaction(readonly=True):
                return await self._missing(db, run, rule)

        # Looking may take long, and changes nothing: only marking is done under the lease.
        ids, before, until = await self._read(find)
        marked = 0
        for first in range(0, max(1, len(ids)), MARKED):

            async def write(db: Connection, group: Sequence[int] = ids[first : first + MARKED]) -> int:
                if lease is not None:
                    await self._fence(db, lease)
                if not group:
                    return 0
                await db.execute(sql.LOCK)
                return await self._mark(db, run, group, before, until)

            marked += await self._write(write)
        return marked

    async def _missing(self, db: Connection, run: int, rule: str | int | float) -> tuple[list[int], int, float]:
        """The items that are missing by a rule, and since which run and which time none of them may have been seen."""
        by_runs = isinstance(rule, int)
        scraper = await db.fetchval(sql.SCRAPER, run)
        alike = await db.fetchval(sql.ALIKE, run)
        until = math.inf if by_runs else time.time() - float(rule)
        before = await db.fetchval(sql.NTH_RUN, run, alike, min(int(rule), MOST_RUNS) - 1) if by_runs else run
        if before is None:
            return [], 0, until
        await db.execute(sql.AT_LARGE)
        clean = await db.fetchval(sql.CLEAN, run, timeout=LOOKING)
        values = (run, scraper, before, until, alike, clean)
        return await db.fetchval(sql.MISSING, *values, timeout=LOOKING), before, until

    async def _mark(
        self, db: Connection, run: int, ids: Sequence[int], before: int = LAST, until: float = math.inf
    ) -> int:
        seq = await db.fetchval(sql.NEXT_SEQ)
        marked: int = await db.fetchval(sql.MARK, run, time.time(), seq, ids, before, until)
        return marked

    # -- the drift gate ----------------------------------------------------------------------------------------

    async def hold(self, lease: Lease) -> None:
        async def write(db: Connection) -> None:
            await self._fence(db, lease)
            if await db.execute(sql.HOLD, lease.run) != "UPDATE 1":
                raise StoreError(f"run {lease.run} was decided on already: start a new one")

        await self._write(write)

    async def facts(self, run_id: int) -> RunFacts:
        async def read(db: Connection) -> str:
            async with db.transaction(readonly=True):
                await db.execute(sql.AT_LARGE)
                found: str = await db.fetchval(sql.FACTS, run_id, timeout=LOOKING)
                return found

        return _decode_facts(await self._read(read))

    async def sample(self, run_id: int, limit: int) -> list[tuple[str, str, str]]:
        async def read(db: Connection) -> list[tuple[str, str, str]]:
            async with db.transaction(readonly=True):
                await db.execute(sql.ONE_BY_ONE)
                items = await db.fetchval(sql.ITEMS_OF_RUN, run_id) or 0
                mean = await db.fetchval(sql.MEAN_SIZE, run_id, _share(100, items), 100)
                most = min(limit, max(100, int(SAMPLE_BYTES / max(1.0, mean))))
                return [tuple(row) for row in await db.fetch(sql.SAMPLE, run_id, _share(most, items), most)]

        return await self._read(read)

    async def judge(self, lease: Lease, verdict: Verdict, profile: str, alarm: str | None) -> None:
        async def write(db: Connection) -> None:
            await self._fence(db, lease)
            kept = (rows.storable(profile), rows.storable(alarm))
            await db.execute(sql.KEEP_PROFILE, lease.run, time.time(), *kept)
            await db.execute(sql.VERDICT, lease.run, verdict)

        await self._write(write)

    async def decide(self, run_id: int, verdict: Verdict) -> None:
        async def write(db: Connection) -> None:
            if verdict is Verdict.REJECTED:
                await db.execute(sql.LOCK)
            if await db.execute(sql.DECIDE, run_id, verdict) != "UPDATE 1":
                raise StoreError(f"run {run_id} is not suspect: there is nothing to decide")
            if verdict is Verdict.REJECTED:
                await db.execute(sql.DISCARD, run_id)
                await db.execute(sql.FORGET_VISITS, f"@{run_id}", None)

        await self._write(write)

    async def promote(self) -> int:
        through = 0
        while (group := await self._write(self._promote_group)) is not None:
            through += group
        return through

    async def _promote_group(self, db: Connection) -> int | None:
        """Let one group through; None if none waits."""
        if await db.fetchrow(sql.READY) is None:
            return None  # the lock is not even asked for
        await db.execute(sql.LOCK)
        ready = await db.fetchrow(sql.READY)
        if ready is None:
            return None
        run, _, newer = ready
        scraper, verdict, volatile = await self._about(db, run)
        first, last = await db.fetchrow(sql.GROUP, run, GROUP, AT_ONCE)
        if first is None:
            await self._keep_visits(db, run, scraper, newer=newer)
            return 0
        # What a person lets through changes when they say so, however long it waited for that.
        now = time.time() if verdict == Verdict.ACCEPTED else None
        seq = await db.fetchval(sql.NEXT_SEQ)
        writing = _Writing(run, scraper, seq, volatile, now=now, late=True, newer=newer)
        # A key stands once in what is held of a run, so these need no waves.
        await db.execute(sql.PUT_HELD, *writing.values, first, last)
        return _count(await db.execute(sql.UNSTAGE, run, first, last))

    async def _keep_visits(self, db: Connection, run: int, scraper: str, *, newer: bool) -> None:
        """The pages of a run whose items came through need not be read again while they stay as they are."""
        held = f"@{run}"
        last = await db.fetchval(sql.LAST_VISIT, held, GROUP)
        await db.execute(sql.MOVE_VISITS, scraper, held, last, newer)
        await db.execute(sql.FORGET_VISITS, held, last)

    async def judgement(self, run_id: int) -> Judgement | None:
        found = await self._read(lambda db: db.fetchrow(sql.JUDGEMENT, run_id))
        return None if found is None else _judgement(found)

    async def past(self, run_id: int, limit: int) -> list[Judgement]:
        return [_judgement(row) for row in await self._read(lambda db: db.fetch(sql.PAST, run_id, limit))]

    # -- sinks -------------------------------------------------------------------------------------------------

    async def sink(self, name: str, scraper: str) -> SinkNote | None:
        found = await self._read(lambda db: db.fetchrow(sql.SINK, rows.storable(name), rows.storable(scraper)))
        return SinkNote(*found) if found else None

    async def sinks(self) -> list[SinkNote]:
        return [SinkNote(*row) for row in await self._read(lambda db: db.fetch(sql.SINKS))]

    async def keep_sink(self, note: SinkNote) -> None:
        values = rows.storable(msgspec.structs.astuple(note))

        async def write(db: Connection) -> None:
            await db.execute(sql.KEEP_SINK, *values)

        await self._write(write)

    # -- reading -----------------------------------------------------------------------------------------------

    async def items(self, wanted: Wanted) -> AsyncIterator[StoredItem]:
        read = self._by_key if wanted.by_key else self._in_order
        async with aclosing(read(wanted)) as pieces:
            async for found in pieces:
                for row in found:
                    yield StoredItem(*row)

    async def _in_order(self, wanted: Wanted) -> AsyncGenerator[list[Any], None]:
        """Items in the order first seen, or of the log of changes."""
        if wanted.held:
            conditions, values = _conditions(wanted, 5, of="staged")
            page, place, more = sql.held_page(conditions), [0], [wanted.run, *values]
        elif wanted.after is not None:
            conditions, values = _conditions(wanted, 5)
            page, place, more = sql.log_page(conditions), [wanted.after, LAST], values
        elif wanted.run is not None:
            conditions, values = _conditions(wanted, 5, run=False)
            page, place, more = sql.items_page(conditions, by_run=True), [0], [wanted.run, *values]
        else:
            conditions, values = _conditions(wanted, 4)
            page, place, more = sql.items_page(conditions, by_run=False), [0], values
        async with aclosing(self._pages_of(page, place, more)) as pieces:
            async for found in pieces:
                yield found
                place[:] = [found[-1]["seq"], found[-1]["id"]] if len(place) > 1 else [found[-1]["id"]]

    async def _pages_of(self, page: str, place: list[int], more: list[Any]) -> AsyncGenerator[list[Any], None]:
        """Rows of a statement, some at a time. `place` is read anew each time: who takes them says where to go on."""
        n = FIRST_ROWS
        while True:
            values = (HEAVY, n, *place, *more)
            found = await self._read(lambda db, values=values: db.fetch(page, *values))  # type: ignore[misc]
            if not found:
                return
            yield found
            n = min(MOST_ROWS, 4 * n)

    async def _by_key(self, wanted: Wanted) -> AsyncGenerator[list[Any], None]:
        """Items by their names. They are sorted once, by one statement that hands out only their numbers."""
        if wanted.held:
            conditions, values = _conditions(wanted, 2, of="staged")
            numbers = self._long(sql.held_ids_by_key(["staged.run_id = $1::bigint", *conditions]), wanted.run, *values)
        else:
            conditions, values = _conditions(wanted, 1)
            numbers = self._long(sql.ids_by_key(conditions), *values)
        listed = sql.HELD_LISTED if wanted.held else sql.LISTED
        async with aclosing(numbers) as groups:
            async for group in groups:
                async with aclosing(self._listed(listed, [[number for (number,) in group]])) as pieces:
                    async for found in pieces:
                        yield [tuple(row)[1:] for row in found]

    async def _listed(self, statement: str, lists: list[list[Any]]) -> AsyncGenerator[list[Any], None]:
        """Rows for lists that say of which: as many at a time as are neither many nor heavy."""
        first, n = 0, FIRST_ROWS
        while first < len(lists[0]):
            values = [each[first : first + n] for each in lists]
            found = await self._read(lambda db, values=values: db.fetch(statement, HEAVY, *values))  # type: ignore[misc]
            if found:
                yield found
            first += found[-1]["ord"] if found else n
            n = min(MOST_ROWS, 4 * n)

    async def item_cursor(self) -> int:
        found: int = await self._read(lambda db: db.fetchval(sql.CURSOR))
        return found

    async def changes(
        self, since: float, *, scraper: str | None = None, kind: str | None = None, key: str | None = None
    ) -> AsyncIterator[Change]:
        conditions, values = _equal({"item.scraper": scraper, "item.kind": kind, "item.key": key}, 2)
        async with aclosing(self._long(sql.changes_by_time(conditions), since, *values)) as groups:
            async for group in groups:
                lists = [list(column) for column in zip(*group, strict=True)]
                async with aclosing(self._listed(sql.CHANGES, lists)) as pieces:
                    async for found in pieces:
                        for row in found:
                            yield Change(*tuple(row)[1:])

    async def rejects(self, run_id: int | None, scraper: str | None) -> AsyncIterator[Rejection]:
        conditions, values = _equal({"reject.run_id": run_id, "run.scraper": scraper}, 4)
        place = [0]
        async with aclosing(self._pages_of(sql.rejects_page(conditions), place, values)) as pieces:
            async for found in pieces:
                for row in found:
                    yield Rejection(*tuple(row)[1:])
                place[0] = found[-1]["id"]


def _conditions(wanted: Wanted, first: int, *, of: str = "item", run: bool = True) -> tuple[list[str], list[Any]]:
    """What is asked of items, as conditions whose values are numbered from `first` on."""
    if of == "staged":
        return _equal({"staged.kind": wanted.kind}, first)
    conditions, values = _equal({"item.scraper": wanted.scraper, "item.kind": wanted.kind}, first)
    if wanted.since is not None:
        conditions.append(f"item.last_changed >= ${first + len(values)}::float8")
        values.append(wanted.since)
    if wanted.run is not None and run:
        conditions.append(sql.SEEN_BY.format(run=f"${first + len(values)}::bigint"))
        values.append(wanted.run)
    if not wanted.gone and wanted.run is None and wanted.after is None:
        conditions.append("item.gone is null")
    return conditions, values


def _equal(asked: Mapping[str, str | int | None], first: int) -> tuple[list[str], list[Any]]:
    """Conditions for those of some columns that something is asked of."""
    given = {name: rows.storable(value) for name, value in asked.items() if value is not None}
    types = ["bigint" if isinstance(value, int) else "text" for value in given.values()]
    conditions = [f"{name} = ${n}::{type_}" for n, (name, type_) in enumerate(zip(given, types, strict=True), first)]
    return conditions, list(given.values())


def _waves(items: Sequence[Any]) -> Iterator[list[list[Any]]]:
    """Groups in which no item stands twice, as columns."""
    # As the database keeps them: two keys may become one by the characters that it does not keep.
    kept = list(zip(*columns(items, 6), strict=True))
    for wave in rows.waves(kept, HEAVY):
        yield [list(column) for column in zip(*wave, strict=True)]


def _visit_columns(made: Sequence[Sequence[Any]], blobs: bytes) -> list[list[Any]]:
    """Visits as columns; of two to one page the later."""
    *told, first, length = columns(made, 8)
    gave = [blobs[begin - 1 : begin - 1 + n] for begin, n in zip(first, length, strict=True)]
    last = {row[0]: row for row in zip(*told, gave, strict=True)}
    return [list(column) for column in zip(*last.values(), strict=True)]


def _judgement(row: Any) -> Judgement:
    run, verdict, at, profile, alarm = row
    return Judgement(run, Verdict(verdict), at, profile, alarm)


def _share(wanted: int, of: int) -> int:
    """The part of all hashes that gives so many of so many."""
    return (1 << 32) * wanted // max(wanted, of)


def _count(told: str) -> int:
    """How many rows a statement changed, by what the server says: "DELETE 7"."""
    return int(told.rpartition(" ")[2])
