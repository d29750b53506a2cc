"""The store in one SQLite file: one writer thread, write-ahead log, group commit."""

from __future__ import annotations

import asyncio
import os
import threading
import time
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any

import msgspec

from gossamer import urls
from gossamer.errors import LeaseLost, StoreBusy, StoreError
from gossamer.storage import counting, filelock, rows
from gossamer.storage import statements as sql
from gossamer.storage.naming import MEMORY, path_of
from gossamer.storage.sqlite_items import SqliteItems
from gossamer.storage.store import DEEPEST, Batch, Draft, FetchLine, Mark, RobotsNote, Settled, SourceNote, UrlStory
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

__all__ = ["MEMORY", "SqliteStore", "path_of"]

#: Start requests handed to SQLite at once: bounds the memory that they take there.
ROWS = 5_000
#: Lines of the fetch log handed out at once.
LINES = 1_000

_decode_run = msgspec.json.Decoder(Run).decode
_decode_story = msgspec.json.Decoder(UrlStory).decode


class SqliteStore(SqliteItems):
    """Durable memory in one file. Open it with `async with SqliteStore(path)`.

    Opened to work (`owner=True`), it locks the file against other working processes; opened to read, it does
    not, and may look on while another process works.
    """

    def __init__(self, path: str, *, owner: bool = True) -> None:
        super().__init__(path, owner=owner)
        #: Runs that are walked in this process, and by whom.
        self._alive: set[tuple[int, str]] = set()
        #: Run -> its scraper.
        self._scrapers: dict[int, str] = {}
        #: Notes that wait for the thread, which more may join, and what their authors wait for.
        self._gathered: tuple[list[SourceNote], asyncio.Future[None]] | None = None
        self._gathering = threading.Lock()

    # -- runs --------------------------------------------------------------------------------------------------

    async def new_run(self, draft: Draft) -> Run:
        return await self._do(self._new_run, draft)

    def _new_run(self, draft: Draft) -> Run:
        row = {
            "scraper": draft.scraper,
            "ref": draft.ref,
            "signature": draft.signature,
            "params": rows.encode(draft.params).decode(),
            "options": rows.encode(draft.options).decode(),
            "reading": rows.encode(draft.reading).decode(),
            "now": time.time(),
            "asked_by": draft.asked_by,
            "via": draft.via,
            "trusted": draft.trusted,
        }
        with self._transaction() as db:
            made = db.execute(sql.NEW_RUN, row).lastrowid
            return _decode_run(self._one(sql.RUN, made))

    async def run(self, run_id: int) -> Run | None:
        found = await self._do(self._one, sql.RUN, run_id)
        return _decode_run(found) if found else None

    async def runs(self, limit: int = 50) -> list[Run]:
        def read() -> list[Run]:
            return [_decode_run(row) for (row,) in self._db.execute(sql.RUNS, (limit,))]

        return await self._do(read)

    async def unfinished(self, signature: str) -> Run | None:
        def read() -> Run | None:
            found = self._one(sql.NEWEST_RUN, signature)
            run = _decode_run(found) if found else None
            if run is None or run.verdict is Verdict.REJECTED:
                return None
            if not run.seeded or run.verdict is Verdict.PENDING or self._one(sql.ANY_WAITING, run=run.id):
                return run
            return run if run.state in (RunState.PENDING, RunState.RUNNING) else None

        return await self._do(read)

    async def forget_run(self, run_id: int) -> None:
        def write() -> None:
            with self._transaction() as db:
                db.execute(sql.FORGET_RUN, {"run": run_id})
                db.execute(sql.FORGET_LEASE, {"run": run_id})
                db.execute(sql.FORGET_STARTS, {"run": run_id})

        await self._do(write)

    async def walked(self, run_id: int) -> str | None:
        return f"process {os.getpid()}" if self.owner else await self._do(filelock.holder, self.path)

    async def served(self, since: float) -> bool:
        """Whether a service has said, since some time, that it walks the runs of this store."""
        return bool(await self._do(self._one, "select exists (select 1 from worker where at > ?)", since))

    async def end_run(self, lease: Lease, state: RunState, reason: str) -> Run:
        def write() -> Run:
            with self._transaction() as db:
                self._fence(lease)
                if state is RunState.PENDING:
                    db.execute(sql.RUN_STATE, {"run": lease.run, "state": state, "reason": reason, "ended": None})
                else:
                    self._count_end(lease.run, state, reason)
                return _decode_run(self._one(sql.RUN, lease.run))

        return await self._do(write)

    def _count_end(self, run_id: int, state: RunState, reason: str) -> None:
        """Write how a run ended, and count that for its scraper."""
        now = time.time()
        self._db.execute(sql.RUN_ENDED, {"run": run_id, "state": state, "reason": reason, "ended": now})
        run = _decode_run(self._one(sql.RUN, run_id))
        names = {"run": run_id, "state": state, "reason": reason, "now": now}
        self._db.execute(counting.KNOW, {"scraper": run.scraper})
        self._db.execute(counting.ADD, names | _counted(run))

    # -- leases ------------------------------------------------------------------------------------------------

    async def acquire(self, run_id: int, owner: str, ttl: float, limits: Mapping[str, Any] | None = None) -> Lease:
        return await self._do(self._acquire, run_id, owner, ttl, rows.as_text(limits or {}))

    def _acquire(self, run_id: int, owner: str, ttl: float, limits: str) -> Lease:
        until = time.time() + ttl
        with self._transaction() as db:
            held = db.execute(sql.LEASE, (run_id,)).fetchone()
            # We hold the file's lock: an owner outside this process is dead, whatever its lease says.
            if held and (run_id, held[0]) in self._alive and held[2] > time.time():
                raise StoreBusy(f"run {run_id} is already being walked in this process: wait for it to end")
            token = self._one(sql.TAKE_LEASE, run=run_id, owner=owner, until=until)
            db.execute(sql.UNCLAIM, (run_id,))
            db.execute(sql.REDATE, {"run": run_id, "now": time.time()})
            known = self._one(sql.RUN, run_id)
            if known and (run := _decode_run(known)).state in counting.ENDED:
                db.execute(counting.TAKE_BACK, _counted(run))
            db.execute(sql.RUN_STARTED, {"run": run_id, "now": time.time()})
            db.execute(sql.START, {"run": run_id, "now": time.time(), "limits": limits})
        self._alive.add((run_id, owner))
        return Lease(run=run_id, owner=owner, token=token, until=until)

    async def release(self, lease: Lease) -> None:
        def write() -> None:
            with self._transaction() as db:
                db.execute(sql.RELEASE, {"run": lease.run, "token": lease.token})
            self._alive.discard((lease.run, lease.owner))

        await self._do(write)

    # -- the frontier ------------------------------------------------------------------------------------------

    async def add(self, lease: Lease, requests: Sequence[Request], *, last: bool = False) -> Mapping[str, int]:
        # Rows are made here, so that the store's thread can write the last batch meanwhile.
        groups = []
        for first in range(0, len(requests), ROWS):
            made = [rows.request_row(request, 0, n) for n, request in enumerate(requests[first : first + ROWS], first)]
            groups.append(rows.as_json(made))
            await asyncio.sleep(0)

        def write() -> Mapping[str, int]:
            fresh: Counter[str] = Counter()
            with self._transaction() as db:
                self._fence(lease)
                for group in groups:
                    fresh.update(self._insert(lease.run, group)[0])
                if last:
                    db.execute(sql.SEEDED, (lease.run,))
            return fresh

        return await self._do(write)

    def _insert(
        self, run_id: int, found: str, hops: Sequence[tuple[str, int]] = ()
    ) -> tuple[dict[str, int], dict[str, int]]:
        """Insert what is not known: (host -> new requests, rule -> newly dropped links)."""
        before = self._one(sql.LAST_REQUEST)
        self._db.execute(sql.ADD, {"run": run_id, "rows": found})
        fresh: Counter[str] = Counter()
        dropped: Counter[str] = Counter()
        for host, state, reason, n in msgspec.json.decode(self._one(sql.ADDED, before)):
            if state == 0:
                fresh[host] += n
            else:
                dropped[reason] += n
        if hops:
            self._lift(run_id, hops, fresh, dropped)
        return fresh, dropped

    def _lift(self, run_id: int, hops: Sequence[tuple[str, int]], fresh: Counter[str], dropped: Counter[str]) -> None:
        """A redirect leads to its target without a link: what was met deeper, or dropped as too deep, is lifted.

        Which of the two was met first must not matter.
        """
        named = {"run": run_id, "rows": rows.as_json(hops)}
        revived: dict[str, int] = msgspec.json.decode(self._one(sql.REVIVED, **named))
        self._db.execute(sql.LIFT, named)
        fresh.update(revived)
        dropped.subtract({"depth": sum(revived.values())} if revived else {})

    async def hosts(self, run_id: int, shard: int = WHOLE) -> Mapping[str, int]:
        _all_of_it(shard)
        found: dict[str, int] = msgspec.json.decode(await self._do(self._one, sql.HOSTS, run_id))
        return found

    async def peek(
        self, run_id: int, host: str, limit: int, but: Collection[int], level: int = DEEPEST, shard: int = WHOLE
    ) -> list[Request]:
        _all_of_it(shard)
        skip = rows.encode(list(but)).decode()
        found = await self._do(self._one, sql.PEEK, run=run_id, host=host, limit=limit, but=skip, level=level)
        return rows.read_requests(found)

    async def level(self, run_id: int, host: str, shard: int = WHOLE) -> int | None:
        _all_of_it(shard)
        found: int | None = await self._do(self._one, sql.LEVEL, run=run_id, host=host)
        return found

    async def roots(self, run_id: int, *, by_host: bool, hosts: Collection[str] | None = None) -> list[str]:
        statement = sql.ROOTS_BY_HOST if by_host else sql.ROOTS
        found: list[str] = msgspec.json.decode(await self._do(self._one, statement, run=run_id))
        return found if hosts is None else [url for url in found if urls.host(url) in hosts]

    async def given_hosts(self, run_id: int) -> list[str]:
        found: list[str] = msgspec.json.decode(await self._do(self._one, sql.GIVEN_HOSTS, run=run_id))
        return found

    async def wake(self, run_id: int, now: float, shard: int = WHOLE) -> tuple[Mapping[str, int], float | None]:
        _all_of_it(shard)

        def write() -> tuple[Mapping[str, int], float | None]:
            with self._transaction() as db:
                woken = msgspec.json.decode(self._one(sql.DUE, run=run_id, now=now))
                db.execute(sql.WAKE, {"run": run_id, "now": now})
                return woken, self._one(sql.NEXT_DUE, run_id)

        return await self._do(write)

    async def pending(self, run_id: int, shard: int = WHOLE) -> Pending:
        _all_of_it(shard)

        def read() -> Pending:
            settled, ready, parked, due, in_flight = self._db.execute(sql.PENDING, {"run": run_id}).fetchone()
            return Pending(settled=settled or 0, waiting=ready + parked, parked=parked, due=due, in_flight=in_flight)

        return await self._do(read)

    async def settle(self, lease: Lease, batch: Batch) -> Settled:
        self._gathered = None  # a later note may not be written before an earlier one of this group
        return await self._do(self._settle, lease, batch)

    def _settle(self, lease: Lease, batch: Batch) -> Settled:
        run, outcomes = lease.run, batch.outcomes
        if self._lock is not None:
            self._lock.check()
        with self._transaction() as db:
            self._fence(lease)
            found = [row for o in outcomes for row in rows.found_rows(o)]
            hops = [(row[rows.DIGEST], row[rows.DEPTH]) for row in found if row[rows.HOPS]]
            fresh, dropped = self._insert(run, rows.as_json(found), hops) if found else ({}, {})
            items = self._upsert(run, outcomes)
            self._write(sql.CLAIM, batch.claims, token=lease.token)
            closed = self._write(sql.CLOSE, [rows.closing_row(o) for o in outcomes], run=run)
            if closed != len(outcomes):
                raise LeaseLost(f"run {run}: a request was settled twice; nothing of this group was written")
            self._write(sql.LOG, [rows.fetch_row(f) for f in batch.fetches], run=run)
            self._write(sql.REMEMBER, rows.fields(batch.sources))
            self._write(sql.NOTICE, rows.fields(batch.notices), run=run)
            counts = rows.counts(outcomes, items, dropped)
            db.execute(sql.COUNT, {"run": run, "seconds": batch.seconds} | counts)
            if outcomes:
                self._count_time(run, outcomes, counts)
            reasons = Counter(o.reason for o in outcomes if o.ending is not Ending.LATER)
            reasons.update(dropped)
            self._write(sql.COUNT_REASONS, reasons, run=run)
        return Settled(fresh=fresh, items=items, dropped=dropped)

    def _count_time(self, run: int, outcomes: Sequence[Outcome], counts: Mapping[str, int]) -> None:
        """Count a group for its minute and its hour."""
        scraper = self._scrapers.get(run)
        if scraper is None:
            scraper = self._scrapers[run] = self._about(run)[0]
        now = time.time()
        self._db.execute(sql.TICK, {"minute": int(now) // 60, "scraper": scraper, **counts})
        if counts["failed"]:
            causes = Counter(o.reason for o in outcomes if o.ending is Ending.FAILED)
            self._write(sql.CAUSES, causes, hour=int(now) // 3600, scraper=scraper)

    # -- sources -----------------------------------------------------------------------------------------------

    async def remember(self, notes: Sequence[SourceNote]) -> None:
        """As in `Store`. Notes that wait for the thread together are written together."""
        with self._gathering:
            if self._gathered is None:
                fresh: list[SourceNote] = []
                self._gathered = fresh, self._begin(self._remember, fresh)
            gathered, written = self._gathered
            gathered.extend(notes)
        await asyncio.shield(written)  # others wait for it too

    def _remember(self, notes: list[SourceNote]) -> None:
        with self._gathering:
            gathered = self._gathered
            if gathered is not None and gathered[0] is notes:
                self._gathered = None
        with self._transaction():
            self._write(sql.REMEMBER, rows.fields(notes))

    async def source(self, host: str) -> SourceNote | None:
        def read() -> SourceNote | None:
            row = self._db.execute(sql.SOURCE, (host,)).fetchone()
            return SourceNote(*row) if row else None

        return await self._do(read)

    async def sources(self) -> list[SourceNote]:
        return [SourceNote(*row) for row in await self._do(self._all, sql.SOURCES)]

    async def forget_source(self, host: str) -> bool:
        def write() -> bool:
            with self._transaction() as db:
                known = db.execute(sql.FORGET_SOURCE, (host,)).rowcount
                return known + db.execute(sql.FORGET_ROBOTS, {"host": host}).rowcount > 0

        self._gathered = None
        return await self._do(write)

    async def robots(self, origin: str) -> list[RobotsNote]:
        return [_robots_note(row) for row in await self._do(self._all, sql.ROBOTS, origin)]

    async def keep_robots(self, note: RobotsNote) -> None:
        closed = rows.storable(note.closed)

        def write() -> None:
            with self._transaction() as db:
                newest = db.execute(sql.NEWEST_ROBOTS, (note.origin,)).fetchone()
                if newest is not None:
                    old = _robots_note(newest)
                    if (old.status, old.body, old.closed) == (note.status, note.body, closed):
                        db.execute(sql.CHECK_ROBOTS, {"checked": note.checked, "id": newest[-1]})
                        return
                packed = zlib.compress(note.body)
                db.execute(sql.ADD_ROBOTS, (note.origin, note.fetched, note.checked, note.status, packed, closed))

        await self._do(write)

    # -- visits ------------------------------------------------------------------------------------------------

    async def visits(self, scraper: str, digests: Sequence[str]) -> Mapping[str, Visit]:
        if not digests:
            return {}
        found = await self._do(self._one, sql.VISITS, scraper=scraper, rows=rows.as_json(digests))
        return rows.read_visits(found)

    # -- reading -----------------------------------------------------------------------------------------------

    async def why(self, url: str) -> list[UrlStory]:
        def read() -> list[UrlStory]:
            names = {"digest": urls.digest(urls.comparable(url)), "url": url}
            return [_decode_story(row) for (row,) in self._db.execute(sql.STORIES, names)]

        return await self._do(read)

    async def mark(self, url: str) -> Mark | None:
        found = await self._do(self._all, sql.MARK, urls.digest(urls.comparable(url)))
        return Mark(*found[0]) if found else None

    async def fetch_log(self, run_id: int | None = None) -> AsyncIterator[FetchLine]:
        # Sorted by one statement: pages of it would each need an index to begin at, and every settle would pay for it.
        statement, names = (sql.FETCH_LOG, {}) if run_id is None else (sql.FETCH_LOG_OF_RUN, {"run": run_id})
        log = await self._do(self._long, statement, names)
        try:
            while lines := await self._do(log.fetchmany, LINES):
                for line in lines:
                    yield FetchLine(*line)
        finally:
            self._let_go(log)

    async def starts(self, run_id: int | None = None) -> list[Start]:
        of_run = (sql.STARTS,) if run_id is None else (sql.STARTS_OF_RUN, run_id)
        return [Start(run, at, msgspec.json.decode(limits)) for run, at, limits in await self._do(self._all, *of_run)]

    async def notices(self, host: str | None = None) -> list[Notice]:
        of_host = (sql.NOTICES,) if host is None else (sql.NOTICES_OF_HOST, host)
        return [Notice(*row) for row in await self._do(self._all, *of_host)]

    async def host_counts(self, run_id: int) -> Mapping[str, int]:
        found: dict[str, int] = msgspec.json.decode(await self._do(self._one, sql.HOST_COUNTS, run_id))
        return found

    async def host_table(self, run_id: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = msgspec.json.decode(await self._do(self._one, sql.HOST_TABLE, run_id))
        return found

    async def pages(self, run_id: int | None = None, scraper: str | None = None) -> AsyncIterator[dict[str, Any]]:
        after = 0
        while True:
            found = msgspec.json.decode(await self._do(self._one, sql.PAGES, after=after, run=run_id, scraper=scraper))
            if not found:
                return
            for row in found:
                after = row.pop("id")
                yield row


def _all_of_it(shard: int) -> None:
    """Whoever works on the file has all of it."""
    if shard != WHOLE:
        raise StoreError("a SQLite file is walked by one process: workers share a postgresql:// store")


def _robots_note(row: tuple[Any, ...]) -> RobotsNote:
    origin, fetched, checked, status, body, closed, _ = row
    return RobotsNote(origin, fetched, checked, status, zlib.decompress(body), closed)


def _counted(run: Run) -> dict[str, Any]:
    """What an ended run counts for its scraper."""
    success, failure = counting.counts_as(run.state, run.reason, run.verdict)
    sums = {"seconds": run.seconds, "items": run.items, "new": run.new_items}
    return {"scraper": run.scraper, "success": success, "failure": failure, **sums}
