"""The store in a PostgreSQL database: for one process by itself, or for many that share its runs."""

from __future__ import annotations

import asyncio
import contextlib
import time
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Any

import msgspec

from gossamer import owners, urls
from gossamer.errors import LeaseLost, StoreBusy
from gossamer.storage import counting, placeholders, rows
from gossamer.storage import postgres_sql as sql
from gossamer.storage.postgres_leases import SHARDS, PostgresLeases
from gossamer.storage.postgres_pool import FAILURES, ROBOTS, Connection, columns
from gossamer.storage.store import (
    DEEPEST,
    MANY,
    Batch,
    Draft,
    FetchLine,
    Mark,
    RobotsNote,
    Settled,
    SourceNote,
    UrlStory,
)
from gossamer.storage.turns import Turn, Turns
from gossamer.values import (
    WHOLE,
    Ending,
    Lease,
    Notice,
    Outcome,
    Pending,
    Request,
    Run,
    RunState,
    Start,
    Verdict,
    Visit,
)

__all__ = ["PostgresStore"]

#: Start requests handed over at once: bounds the memory that they take there.
ROWS = 5_000
#: Where a row of `rows.request_row`, and one of `rows.closing_row`, has these.
_URL, _SHARD, _REASON = 1, 3, 4
#: Letters of a reason that are kept: it is a word, by which is looked up and counted, and indexes take no books.
WORD = 300
_STATES = ("waiting", "done", "skipped", "failed")

_decode_run = msgspec.json.Decoder(Run).decode
_decode_rows = msgspec.json.Decoder(list[tuple[Any, ...]]).decode


class _Gathered:
    """Notes that are written together, by whom all who told them wait for."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.notes: list[SourceNote] = []
        self.written: asyncio.Task[None] | None = None


class _Found:
    """What walks led to, as columns, and what of it redirects led to: made once, however often it is written."""

    def __init__(self, made: Iterable[tuple[Any, ...]], spread: int) -> None:
        hops: dict[str, int] = {}
        known: dict[str, tuple[Any, ...]] = {}
        for row in made:
            known.setdefault(row[rows.DIGEST], row)  # of what is met twice, the first counts
            if row[rows.HOPS]:
                hops[row[rows.DIGEST]] = min(row[rows.DEPTH], hops.get(row[rows.DIGEST], DEEPEST))
        given = list(known.values())
        self.columns = columns(given, len(sql.REQUEST)) if given else []
        if spread > 1 and given:
            self.columns[_SHARD] = [_spread_shard(row[_SHARD], row[_URL], spread) for row in given]
        self.digests, self.depths = list(hops), list(hops.values())


class PostgresStore(PostgresLeases):
    """Durable memory in a database. Open it with `async with PostgresStore("postgresql://...")`."""

    def __init__(self, url: str, *, owner: bool = True, most: int = 8) -> None:
        super().__init__(url, owner=owner, most=most)
        #: Run -> who walks the whole of it, by a lease that was taken here.
        self._alive: dict[int, str] = {}
        #: Run -> its scraper, and over how many shards each of its hosts is spread.
        self._scrapers: dict[int, str] = {}
        self._spreads: dict[int, int] = {}
        #: Notes that more may join, and one writer of them at a time.
        self._gathered: _Gathered | None = None
        self._remembering = asyncio.Lock()
        #: One at a time of all here who write items: all others of the cluster would wait for each of them, should
        #: this process be cut off while they stand in line.
        self._items = asyncio.Lock()
        self._turns = Turns()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Whoever closes the store walks nothing any more: others need not wait until the leases run out."""
        if self._alive and self._pool is not None:
            with contextlib.suppress(*FAILURES):
                async with self._pool.acquire(timeout=1.0) as db:
                    await db.execute(sql.LEAVE, sorted(set(self._alive.values())))
            self._alive.clear()
        await super().__aexit__(kind, error, trace)

    # -- runs --------------------------------------------------------------------------------------------------

    async def new_run(self, draft: Draft) -> Run:
        made = rows.storable([draft.scraper, draft.ref, draft.signature])
        made += [rows.encode(given).decode() for given in (draft.params, draft.options, draft.reading)]
        made += [time.time(), *rows.storable([draft.asked_by, draft.via]), int(draft.trusted)]

        async def write(db: Connection) -> Run:
            return _decode_run(await db.fetchval(sql.RUN, await db.fetchval(sql.NEW_RUN, *made)))

        return await self._write(write)

    async def run(self, run_id: int) -> Run | None:
        found = await self._read(lambda db: db.fetchval(sql.RUN, run_id))
        return _decode_run(found) if found else None

    async def runs(self, limit: int = 50) -> list[Run]:
        return [_decode_run(row[0]) for row in await self._read(lambda db: db.fetch(sql.RUNS, limit))]

    async def unfinished(self, signature: str) -> Run | None:
        async def read(db: Connection) -> Run | None:
            found = await db.fetchval(sql.NEWEST_RUN, rows.storable(signature))
            run = _decode_run(found) if found else None
            if run is None or run.verdict is Verdict.REJECTED:
                return None
            if not run.seeded or run.verdict is Verdict.PENDING or await db.fetchval(sql.ANY_WAITING, run.id):
                return run
            return run if run.state in (RunState.PENDING, RunState.RUNNING) else None

        return await self._read(read)

    async def forget_run(self, run_id: int) -> None:
        async def write(db: Connection) -> None:
            if await db.fetchval(sql.FORGOTTEN, run_id):
                for statement in sql.FORGET_RUN:
                    await db.execute(statement, run_id)

        await self._write(write)

    async def walked(self, run_id: int) -> str | None:
        found = await self._read(lambda db: db.fetch(sql.WALKED, run_id))
        alive = next((owners.told(row[0]) for row in found if not owners.dead(row[0])), None)
        # Between two workers a run of a cluster waits, and goes on by itself.
        return alive or await self._read(lambda db: db.fetchval(sql.OF_WORKERS, run_id))

    async def served(self, since: float) -> bool:
        """Whether a service has said, since some time, that it walks the runs of this store."""
        return bool(await self._read(lambda db: db.fetchval(sql.SERVED, since)))

    async def end_run(self, lease: Lease, state: RunState, reason: str) -> Run:
        told = rows.storable(reason)

        async def write(db: Connection) -> Run:
            await self._fence(db, lease)
            if state is RunState.PENDING:
                await db.execute(sql.RUN_STATE, lease.run, state, told)
            else:
                await self._count_end(db, lease.run, state, told)
            return _decode_run(await db.fetchval(sql.RUN, lease.run))

        return await self._write(write)

    async def _count_end(self, db: Connection, run_id: int, state: RunState, reason: str) -> None:
        """Write how a run ended, and count that for its scraper."""
        now = time.time()
        await db.execute(sql.RUN_ENDED, run_id, state, reason, now)
        run = _decode_run(await db.fetchval(sql.RUN, run_id))
        names = {"run": run_id, "state": str(state), "reason": reason, "now": now}
        await _named(db, counting.KNOW, {"scraper": run.scraper})
        await _named(db, counting.ADD, names | _counted(run))

    async def _uncount(self, db: Connection, run_id: int) -> None:
        """Take an ended run out of what is counted for its scraper, for it goes on."""
        await _named(db, counting.TAKE_BACK, _counted(_decode_run(await db.fetchval(sql.RUN, run_id))))

    # -- leases ------------------------------------------------------------------------------------------------

    async def acquire(self, run_id: int, owner: str, ttl: float, limits: Mapping[str, Any] | None = None) -> Lease:
        promised, known_as = rows.as_text(limits or {}), rows.storable(owner)

        async def write(db: Connection) -> Lease:
            await db.execute(sql.TURN, SHARDS, -1)
            for row in await db.fetch(sql.HELD, run_id):
                self._refuse_if_busy(run_id, known_as, row)
            token, until = await db.fetchrow(sql.TAKE_LEASE, run_id, known_as, ttl)
            now = time.time()
            await db.execute(sql.UNCLAIM, run_id)
            await db.execute(sql.REDATE, run_id, now)
            known = await db.fetchval(sql.RUN, run_id)
            if known and _decode_run(known).state in counting.ENDED:
                await self._uncount(db, run_id)
            await db.execute(sql.RUN_STARTED, run_id, now)
            await db.execute(sql.START, run_id, now, promised)
            return Lease(run_id, known_as, token, until, WHOLE, ttl)

        lease = await self._write(write)
        self._alive[run_id] = known_as
        return lease

    def _refuse_if_busy(self, run_id: int, owner: str, held: Mapping[str, Any]) -> None:
        """A run is walked by one, and a store by one process: or else workers share all of it."""
        holder: str = held["owner"]
        if holder == owner or holder in self._alive.values() or _same_process(holder, owner):
            if (held["run_id"], held["shard"]) == (run_id, WHOLE):
                raise StoreBusy(f"run {run_id} is already being walked in this process: wait for it to end")
        elif not owners.dead(holder):
            raise StoreBusy(
                f"run {run_id} has to wait: {owners.told(holder)} is at work on the store {self.shown}, for at least "
                f"{max(1.0, held['seconds']):.0f} s more: let it end, or let workers share the runs (--cluster)"
            )

    async def release(self, lease: Lease) -> None:
        await self._write(lambda db: db.execute(sql.RELEASE, lease.run, lease.shard, lease.token))
        if self._alive.get(lease.run) == lease.owner and lease.shard == WHOLE:
            del self._alive[lease.run]

    # -- the frontier ------------------------------------------------------------------------------------------

    async def add(self, lease: Lease, requests: Sequence[Request], *, last: bool = False) -> Mapping[str, int]:
        spread = await self._spread(lease.run)
        groups = []
        for first in range(0, len(requests), ROWS):
            part = requests[first : first + ROWS]
            groups.append(_Found((rows.request_row(request, 0, n) for n, request in enumerate(part, first)), spread))
            await asyncio.sleep(0)

        async def write(db: Connection) -> Mapping[str, int]:
            fresh: Counter[str] = Counter()
            await self._fence(db, lease)
            for group in groups:
                fresh.update((await self._insert(db, lease.run, group))[0])
            if last:
                await db.execute(sql.SEEDED, lease.run)
            return fresh

        return await self._write(write)

    async def _spread(self, run_id: int) -> int:
        """Over how many shards each host of a run is spread."""
        known = self._spreads.get(run_id)
        if known is None:
            options = await self._read(lambda db: db.fetchval(sql.OPTIONS, run_id))
            given = msgspec.json.decode(options).get("spread") if options else None
            known = self._spreads[run_id] = given if isinstance(given, int) and given > 1 else 1
        return known

    async def _shards(self, run_id: int, host: str, shard: int) -> list[int]:
        """The shards in which requests of a host may be."""
        if shard != WHOLE:
            return [shard]
        base = urls.shard(host)
        return [(base + n) % urls.SHARDS for n in range(await self._spread(run_id))]

    async def _insert(self, db: Connection, run_id: int, found: _Found) -> tuple[Counter[str], Counter[str]]:
        """Insert what is not known: (host -> new requests, rule -> newly dropped links)."""
        fresh: Counter[str] = Counter()
        dropped: Counter[str] = Counter()
        if found.columns:
            for host, state, reason, n in await db.fetch(sql.ADD, run_id, *found.columns):
                if state == 0:
                    fresh[host] += n
                else:
                    dropped[reason] += n
        return fresh, dropped

    async def hosts(self, run_id: int, shard: int = WHOLE) -> Mapping[str, int]:
        if shard == WHOLE:
            return dict(await self._read(lambda db: db.fetch(sql.HOSTS, run_id)))
        found = await self._read(lambda db: db.fetch(sql.HOSTS_OF_SHARD, run_id, shard))
        return {host: n if n <= sql.COUNTED else MANY for host, n in found}

    async def peek(
        self, run_id: int, host: str, limit: int, but: Collection[int], level: int = DEEPEST, shard: int = WHOLE
    ) -> list[Request]:
        shards = await self._shards(run_id, host, shard)
        found = await self._read(lambda db: db.fetchval(sql.PEEK, run_id, shards, host, level, list(but), limit))
        return rows.read_requests(found)

    async def level(self, run_id: int, host: str, shard: int = WHOLE) -> int | None:
        shards = await self._shards(run_id, host, shard)
        found: int | None = await self._read(lambda db: db.fetchval(sql.LEVEL, run_id, shards, host))
        return found

    async def roots(self, run_id: int, *, by_host: bool, hosts: Collection[str] | None = None) -> list[str]:
        if hosts is None:
            asked: tuple[Any, ...] = (sql.ROOTS_BY_HOST if by_host else sql.ROOTS, run_id)
        else:
            asked = (sql.ROOTS_BY_HOST_OF_HOSTS if by_host else sql.ROOTS_OF_HOSTS, run_id, sorted(hosts))
        return [row[0] for row in await self._read(lambda db: db.fetch(*asked))]

    async def given_hosts(self, run_id: int) -> list[str]:
        return [row[0] for row in await self._read(lambda db: db.fetch(sql.GIVEN_HOSTS, run_id))]

    async def wake(self, run_id: int, now: float, shard: int = WHOLE) -> tuple[Mapping[str, int], float | None]:
        of = (run_id,) if shard == WHOLE else (run_id, shard)
        next_due, wake = (sql.NEXT_DUE, sql.WAKE) if shard == WHOLE else (sql.NEXT_DUE_OF_SHARD, sql.WAKE_OF_SHARD)
        due: float | None = await self._read(lambda db: db.fetchval(next_due, *of))
        if due is None or due > now:
            return {}, due

        async def write(db: Connection) -> tuple[Mapping[str, int], float | None]:
            woken = dict(await db.fetch(wake, *of, now))
            return woken, await db.fetchval(next_due, *of)

        return await self._write(write)

    async def pending(self, run_id: int, shard: int = WHOLE) -> Pending:
        statement, of = (sql.PENDING, (run_id,)) if shard == WHOLE else (sql.PENDING_OF_SHARD, (run_id, shard))
        settled, ready, parked, due, in_flight = await self._read(lambda db: db.fetchrow(statement, *of))
        return Pending(settled=settled or 0, waiting=ready + parked, parked=parked, due=due, in_flight=in_flight)

    # -- settling ----------------------------------------------------------------------------------------------

    async def settle(self, lease: Lease, batch: Batch) -> Settled:
        notes = _one_each(batch.sources)
        if notes:
            self._gathered = None  # a later note may not be written before an earlier one of this group
        return await self._complete(self._settle_in_turn(lease, batch, notes, self._turns.take(notes)))

    async def _settle_in_turn(self, lease: Lease, batch: Batch, notes: Mapping[str, SourceNote], turn: Turn) -> Settled:
        async with turn:
            spread = await self._spread(lease.run)
            found = _Found((row for o in batch.outcomes for row in rows.found_rows(o)), spread)
            closed = columns([rows.closing_row(o) for o in batch.outcomes], len(sql.CLOSED))
            closed[_REASON] = [_word(reason) for reason in closed[_REASON]]
            logged = columns([rows.fetch_row(f) for f in batch.fetches], len(sql.FETCH))
            made = (found, closed, logged, _note_columns(notes))
            line = self._items if _with_items(batch.outcomes) else None
            return await self._write_again(lambda db: self._settle(db, lease, batch, made), line)

    async def _settle(
        self, db: Connection, lease: Lease, batch: Batch, made: tuple[_Found, list[Any], list[Any], list[Any]]
    ) -> Settled:
        run, outcomes = lease.run, batch.outcomes
        found, closed, logged, notes = made
        await self._fence(db, lease)
        fresh, dropped = await self._insert(db, run, found)
        # Whoever writes items waits for others who do before he locks a request, and so never holds one up meanwhile.
        items = await self._upsert(db, run, outcomes)
        await self._lock(db, run, [*batch.claims, *closed[0]], found, fresh, dropped)
        if batch.claims:
            await db.execute(sql.CLAIM, lease.token, list(batch.claims))
        if outcomes and await db.execute(sql.CLOSE, run, *closed) != f"UPDATE {len(outcomes)}":
            raise LeaseLost(f"run {run}: a request was settled twice; nothing of this group was written")
        if batch.fetches:
            await db.execute(sql.LOG, run, *logged)
        if batch.sources:
            await db.execute(sql.REMEMBER, *notes)
        if batch.notices:
            await db.execute(sql.NOTICE, run, *columns(rows.fields(batch.notices), len(sql.NOTICES_OF)))
        counts = rows.counts(outcomes, items, dropped)
        pages, total = await self._count(db, run, batch, counts, dropped)
        told = {"pages": pages, "total": total} if lease.shard != WHOLE else {}
        return Settled(fresh=fresh, items=items, dropped=dropped, **told)

    async def _lock(
        self, db: Connection, run: int, own: list[int], found: _Found, fresh: Counter[str], dropped: Counter[str]
    ) -> None:
        """Lock all requests that are to be changed, in one order; then lift those that redirects led to.

        A redirect leads to its target without a link: what was met deeper, or dropped as too deep, is lifted. Which
        of the two was met first must not matter.
        """
        if not found.digests:
            if own:
                await db.execute(sql.LOCK, own)
            return
        await db.execute(sql.LOCK_DEEPER, own, run, found.digests, found.depths)
        revived = dict(await db.fetch(sql.LIFT, run, found.digests, found.depths))
        fresh.update(revived)
        dropped.subtract({"depth": sum(revived.values())} if revived else {})

    async def _count(
        self, db: Connection, run: int, batch: Batch, counts: Mapping[str, int], dropped: Mapping[str, int]
    ) -> tuple[int, int]:
        """Count a group for its run, and for its minute and hour; returns pages and items of the run by now."""
        outcomes = batch.outcomes
        reasons = Counter(_word(o.reason) for o in outcomes if o.ending is not Ending.LATER)
        reasons.update(dropped)
        causes = Counter(_word(o.reason) for o in outcomes if o.ending is Ending.FAILED)
        minutes: list[int] = []
        scrapers: list[str] = []
        if outcomes:
            minutes, scrapers = [int(time.time()) // 60], [await self._scraper(db, run)]
        found = await db.fetchrow(
            sql.COUNT,
            run,
            *(
                counts[name]
                for name in ("settled", "pages", "items", "failed", "skipped", "retried", "size", "rejected")
            ),
            batch.seconds,
            *_in_order(reasons),
            minutes,
            scrapers,
            int(time.time()) // 3600,
            *_in_order(causes),
        )
        return (found[0], found[1]) if found else (0, 0)

    async def _scraper(self, db: Connection, run: int) -> str:
        known = self._scrapers.get(run)
        if known is None:
            known = self._scrapers[run] = (await self._about(db, run))[0]
        return known

    # -- sources -----------------------------------------------------------------------------------------------

    async def remember(self, notes: Sequence[SourceNote]) -> None:
        """As in `Store`. Notes that wait for the same connection are written together."""
        if not notes:
            return
        gathered = self._gathered
        if gathered is None:
            gathered = self._gathered = _Gathered(self._turns.take())
            gathered.written = self._begin(self._remember(gathered))
        gathered.turn.join(rows.storable(note.host) for note in notes)
        gathered.notes.extend(notes)
        assert gathered.written is not None
        await asyncio.shield(gathered.written)  # others wait for it too

    async def _remember(self, gathered: _Gathered) -> None:
        async with self._remembering:
            if self._gathered is gathered:
                self._gathered = None
            async with gathered.turn:
                made = _note_columns(_one_each(gathered.notes))
                await self._write_again(lambda db: db.execute(sql.REMEMBER, *made))

    async def source(self, host: str) -> SourceNote | None:
        row = await self._read(lambda db: db.fetchrow(sql.SOURCE, host))
        return SourceNote(*row) if row else None

    async def sources(self) -> list[SourceNote]:
        return [SourceNote(*row) for row in await self._read(lambda db: db.fetch(sql.SOURCES))]

    async def forget_source(self, host: str) -> bool:
        async def write(db: Connection) -> bool:
            known = [await db.execute(statement, host) for statement in (sql.FORGET_SOURCE, sql.FORGET_ROBOTS)]
            return known != ["DELETE 0", "DELETE 0"]

        async def in_turn(turn: Turn) -> bool:
            async with turn:
                return await self._write_again(write)

        self._gathered = None
        return await self._complete(in_turn(self._turns.take([host])))

    async def robots(self, origin: str) -> list[RobotsNote]:
        return [_robots_note(row) for row in await self._read(lambda db: db.fetch(sql.ROBOTS, origin))]

    async def keep_robots(self, note: RobotsNote) -> None:
        closed = rows.storable(note.closed)
        packed = zlib.compress(note.body)

        async def write(db: Connection) -> None:
            await db.execute(sql.ROBOTS_TURN, ROBOTS, note.origin)
            newest = await db.fetchrow(sql.NEWEST_ROBOTS, note.origin)
            if newest is not None:
                old = _robots_note(newest)
                if (old.status, old.body, old.closed) == (note.status, note.body, closed):
                    await db.execute(sql.CHECK_ROBOTS, newest["id"], note.checked)
                    return
            await db.execute(sql.ADD_ROBOTS, note.origin, note.fetched, note.checked, note.status, packed, closed)

        await self._write(write)

    # -- visits ------------------------------------------------------------------------------------------------

    async def visits(self, scraper: str, digests: Sequence[str]) -> Mapping[str, Visit]:
        if not digests:
            return {}
        found = await self._read(lambda db: db.fetchval(sql.VISITS, rows.storable(scraper), list(digests)))
        return rows.read_visits(found)

    # -- reading -----------------------------------------------------------------------------------------------

    async def why(self, url: str) -> list[UrlStory]:
        names = urls.digest(urls.comparable(url)), rows.storable(url)
        return [_story(row) for row in await self._read(lambda db: db.fetch(sql.STORIES, *names))]

    async def mark(self, url: str) -> Mark | None:
        row = await self._read(lambda db: db.fetchrow(sql.MARK, urls.digest(urls.comparable(url))))
        return Mark(*row) if row else None

    async def fetch_log(self, run_id: int | None = None) -> AsyncIterator[FetchLine]:
        # Sorted by one statement: pages of it would each need an index to begin at, and every settle would pay for it.
        lines = self._long(sql.FETCH_LOG) if run_id is None else self._long(sql.FETCH_LOG_OF_RUN, run_id)
        async with aclosing(lines):
            async for found in lines:
                for line in found:
                    yield FetchLine(*line)

    async def starts(self, run_id: int | None = None) -> list[Start]:
        of_run = (sql.STARTS,) if run_id is None else (sql.STARTS_OF_RUN, run_id)
        found = await self._read(lambda db: db.fetch(*of_run))
        return [Start(run, at, msgspec.json.decode(limits)) for run, at, limits in found]

    async def notices(self, host: str | None = None) -> list[Notice]:
        of_host = (sql.NOTICES,) if host is None else (sql.NOTICES_OF_HOST, host)
        return [Notice(*row) for row in await self._read(lambda db: db.fetch(*of_host))]

    async def host_counts(self, run_id: int) -> Mapping[str, int]:
        return dict(await self._read(lambda db: db.fetch(sql.HOST_COUNTS, run_id)))

    async def host_table(self, run_id: int) -> list[dict[str, Any]]:
        return [dict(row) for row in await self._read(lambda db: db.fetch(sql.HOST_TABLE, run_id))]

    async def pages(self, run_id: int | None = None, scraper: str | None = None) -> AsyncIterator[dict[str, Any]]:
        statement, only = sql.PAGES, []
        if scraper is not None:
            statement, only = sql.PAGES_OF_SCRAPER, [run_id, rows.storable(scraper)]
        elif run_id is not None:
            statement, only = sql.PAGES_OF_RUN, [run_id]
        after = [0]
        while found := await self._read(lambda db: db.fetch(statement, *after, *only)):
            for row in found:
                yield _page(row)
            after[0] = found[-1]["id"]


# -- values and rows -------------------------------------------------------------------------------------------


def _spread_shard(shard: int, url: str, spread: int) -> int:
    """The shard of one request of a host that is spread over several."""
    return (shard + zlib.crc32(url.encode("utf-8", "surrogatepass")) % spread) % urls.SHARDS


def _same_process(one: str, other: str) -> bool:
    """Whether two owners are one process under two names."""
    ours, theirs = one.split(":")[:4], other.split(":")[:4]
    return len(ours) == 4 and ours == theirs


def _one_each(notes: Sequence[SourceNote]) -> dict[str, SourceNote]:
    """Host -> the last note on it, in the order of hosts: that in which they are locked."""
    last = {rows.storable(note.host): note for note in notes}
    return {host: last[host] for host in sorted(last)}


def _note_columns(notes: Mapping[str, SourceNote]) -> list[list[Any]]:
    return columns(rows.fields(list(notes.values())), len(sql.SOURCE_OF))


def _in_order(counts: Mapping[str, int]) -> tuple[list[str], list[int]]:
    """Counts as two columns, in the order in which they are locked."""
    ordered = sorted(counts.items())
    return [name for name, _ in ordered], [n for _, n in ordered]


async def _named(db: Connection, statement: str, values: Mapping[str, Any]) -> None:
    """Run a statement that is written with names, as those are that every store has in common."""
    text, args = placeholders.of_one(statement, values)
    await db.execute(text, *args)


def _with_items(outcomes: Sequence[Outcome]) -> bool:
    """Whether something is written that all writers of items take turns for."""
    return any(outcome.items or outcome.seen or outcome.visit is not None for outcome in outcomes)


def _word(reason: str) -> str:
    """A reason as it is counted."""
    kept: str = rows.storable(reason[:WORD])
    return kept


def _robots_note(row: Sequence[Any]) -> RobotsNote:
    origin, fetched, checked, status, body, closed, _ = row
    return RobotsNote(origin, fetched, checked, status, zlib.decompress(body), closed)


def _counted(run: Run) -> dict[str, Any]:
    """What an ended run counts for its scraper."""
    success, failure = counting.counts_as(run.state, run.reason, run.verdict)
    sums = {"seconds": run.seconds, "items": run.items, "new": run.new_items}
    return {"scraper": run.scraper, "success": success, "failure": failure, **sums}


def _method(extra: str | None) -> str:
    """The method of a request, by what it has beyond its URL."""
    extras = msgspec.json.decode(extra) if extra else {}
    if extras.get("method"):
        return str(extras["method"]).upper()
    return "GET" if extras.keys().isdisjoint(("json", "data", "data64")) else "POST"


def _story(row: Mapping[str, Any]) -> UrlStory:
    told = dict(row)
    told["run"] = told.pop("run_id")
    told["state"] = _STATES[told["state"]]
    told["method"] = _method(told.pop("extra"))
    for name in ("fetches", "items", "rejects"):
        told[name] = _decode_rows(told[name])
    return UrlStory(**told)


def _page(row: Mapping[str, Any]) -> dict[str, Any]:
    """One URL of an export."""
    walked = row["state"] != 0 and (row["started"] or 0) > 0
    return {
        "run": row["run_id"],
        "url": row["url"],
        "state": _STATES[row["state"]],
        "reason": row["reason"],
        "status": row["status"] or None,
        "depth": row["depth"],
        "fetches": row["attempts"] + walked,
        "bytes": row["size"],
        "fetched_at": row["started"],
        "seconds": None if row["elapsed"] is None else round(row["elapsed"], 4),
        "detail": row["detail"],
    }
