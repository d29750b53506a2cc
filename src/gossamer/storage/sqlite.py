"""The store in one SQLite file: one writer thread, write-ahead log, group commit."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

import msgspec

from gossamer import urls
from gossamer.errors import ConfigError, LeaseLost, StoreBusy, StoreError, StoreTooNew
from gossamer.storage import filelock, rows
from gossamer.storage import statements as sql
from gossamer.storage.migrations import upgrade as migrations
from gossamer.storage.store import DEEPEST, Batch, Draft, FetchLine, RobotsNote, Settled, SourceNote, UrlStory
from gossamer.values import Ending, Lease, Notice, Outcome, Pending, Request, Run, RunState, Start, Visit

P = ParamSpec("P")
T = TypeVar("T")

MEMORY = ":memory:"
#: Start requests handed to SQLite at once: bounds the memory that they take there.
ROWS = 5_000
#: Lines of the fetch log handed out at once.
LINES = 1_000

_decode_run = msgspec.json.Decoder(Run).decode
_decode_story = msgspec.json.Decoder(UrlStory).decode


def path_of(store: str) -> str:
    """The file behind `--store`: a path, or sqlite:///path."""
    if store.startswith("sqlite:///"):
        store = store.removeprefix("sqlite:///")
    elif "://" in store:
        scheme = store.partition("://")[0]
        raise ConfigError(f"no store of kind {scheme!r} is known: give a path like gossamer.db")
    if not store:
        raise ConfigError("the store's path is empty: give a path like gossamer.db")
    return store


class SqliteStore:
    """Durable memory in one file. Open it with `async with SqliteStore(path)`.

    Opened to work (`owner=True`), it locks the file against other working processes; opened to read, it does
    not, and may look on while another process works.
    """

    def __init__(self, path: str, *, owner: bool = True) -> None:
        self.path = path
        self.owner = owner
        self._lock: filelock.FileLock | None = None
        self._connection: sqlite3.Connection | None = None
        self._thread: ThreadPoolExecutor | None = None
        #: Owners of leases that live in this process.
        self._alive: set[str] = set()
        #: Notes that wait for the thread, which more may join, and what their authors wait for.
        self._gathered: tuple[list[SourceNote], asyncio.Future[None]] | None = None
        self._gathering = threading.Lock()

    async def __aenter__(self) -> SqliteStore:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="gossamer-store")
        try:
            await self._do(self._open)
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    # -- opening and closing -----------------------------------------------------------------------------------

    def _open(self) -> None:
        if self.path != MEMORY:
            self._find()
        with self._spoken():
            if not self.owner and self.path != MEMORY:
                self._connection = self._reader()
                self._check_version()
                return
            self._lock = None if self.path == MEMORY else filelock.FileLock(self.path)
            # An absolute path is never taken for one of SQLite's file: URLs.
            place = self.path if self.path == MEMORY else str(Path(self.path).absolute())
            self._connection = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
            self._upgrade()
            if self._lock is not None:
                self._lock.seal()

    def _reader(self) -> sqlite3.Connection:
        """A connection that only reads."""
        uri = Path(self.path).absolute().as_uri() + "?mode=ro"
        if not os.access(Path(self.path).parent, os.W_OK) and not Path(self.path + "-wal").exists():
            # Readers share an index beside the file; where none can be made, nobody writes either.
            uri += "&immutable=1"
        return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)

    def _find(self) -> None:
        path = Path(self.path)
        if path.is_dir():
            raise StoreError(f"the store {self.path} is a folder: give a file, like {path / 'gossamer.db'}")
        if not path.parent.is_dir():
            raise StoreError(f"the folder of the store {self.path} does not exist: make it first")
        if not self.owner and not path.exists():
            raise StoreError(f"there is no store at {self.path}: a crawl or a run makes one, or give another path")

    def _upgrade(self) -> None:
        """Create the tables, or bring them to the present form, in one transaction."""
        db = self._db
        version = self._version()  # first, for what is not ours is left as it is
        db.execute("pragma page_size = 8192")
        db.executescript(sql.PRAGMAS)
        if version == migrations.HEAD:
            return
        self._check_version(outdated_ok=True)
        if version is not None:
            self._migrate()
            return
        # A new store gets the present form at once: loading Alembic for it would take half a second.
        with self._transaction():
            for statement in migrations.head_form():
                db.execute(statement)

    def _migrate(self) -> None:
        from sqlalchemy import create_engine
        from sqlalchemy.pool import StaticPool

        engine = create_engine("sqlite://", creator=lambda: self._db, poolclass=StaticPool)
        # SQLAlchemy rolls back when it connects and when it is left: the transaction is begun and ended inside.
        with engine.connect() as connection:
            connection.exec_driver_sql("begin immediate")
            migrations.upgrade(connection)
            connection.commit()

    def _version(self) -> str | None:
        """The migration the file is at: None for an empty file, BASE for one where none was applied yet."""
        tables = {name for (name,) in self._db.execute("select name from sqlite_master where type = 'table'")}
        if not tables:
            return None
        row = None
        if "alembic_version" in tables:
            row = self._db.execute("select version_num from alembic_version").fetchone()
        if row is None and tables == {"alembic_version"}:
            return migrations.BASE
        if row is None or "request" not in tables:
            raise StoreError(f"{self.path} is the database of another program: give another store")
        return str(row[0])

    def _check_version(self, *, outdated_ok: bool = False) -> None:
        version = self._version()
        if version not in (None, migrations.BASE, *migrations.REVISIONS):
            raise StoreTooNew(
                f"the store {self.path} was written by a newer Gossamer (form {version}, "
                f"this one knows up to {migrations.HEAD}): upgrade Gossamer, or give another store"
            )
        if version != migrations.HEAD and not outdated_ok:
            raise StoreError(f"the store {self.path} has an old form: any crawl or run on it brings it up to date")

    async def _close(self) -> None:
        if self._thread is None:
            return
        thread, self._thread = self._thread, None
        try:
            await asyncio.shield(asyncio.get_running_loop().run_in_executor(thread, self._shut))
        finally:
            thread.shutdown()  # waits, so that even a cancelled close has let go of the file

    def _shut(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # -- calling the thread ------------------------------------------------------------------------------------

    @property
    def _db(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"the store {self.path} is closed")
        return self._connection

    async def _do(self, verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a verb on the store's thread. Once begun it completes, even if the caller is cancelled."""
        return await self._begin(verb, *args, **kwargs)

    def _begin(self, verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[T]:
        """Queue a verb for the store's thread, which takes one after the other."""
        if self._thread is None:
            raise StoreError(f"the store {self.path} is closed")

        def call() -> T:
            with self._spoken():
                return verb(*args, **kwargs)

        return asyncio.get_running_loop().run_in_executor(self._thread, call)

    @contextmanager
    def _spoken(self) -> Iterator[None]:
        """Turn SQLite's errors into sentences."""
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(_sentence(self.path, error)) from error

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        db = self._db
        db.execute("begin immediate")
        try:
            yield db
            db.execute("commit")
        except BaseException:
            if db.in_transaction:
                db.execute("rollback")
            raise

    def _one(self, statement: str, *args: Any, **named: Any) -> Any:
        """The first column of the first row."""
        with closing(self._db.execute(statement, named or args)) as cursor:
            row = cursor.fetchone()
        return None if row is None else row[0]

    def _all(self, statement: str, *args: Any) -> list[Any]:
        """Every row: only for what is few."""
        return self._db.execute(statement, args).fetchall()

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
            "now": time.time(),
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
            if run is None or not run.seeded or self._one(sql.ANY_WAITING, run=run.id):
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

    async def worker(self) -> str | None:
        return f"process {os.getpid()}" if self.owner else await self._do(filelock.holder, self.path)

    async def end_run(self, lease: Lease, state: RunState, reason: str) -> Run:
        def write() -> Run:
            with self._transaction() as db:
                self._fence(lease)
                db.execute(sql.RUN_STATE, {"run": lease.run, "state": state, "reason": reason, "ended": time.time()})
                return _decode_run(self._one(sql.RUN, lease.run))

        return await self._do(write)

    # -- leases ------------------------------------------------------------------------------------------------

    async def acquire(self, run_id: int, owner: str, ttl: float, limits: Mapping[str, Any] | None = None) -> Lease:
        return await self._do(self._acquire, run_id, owner, ttl, rows.as_text(limits or {}))

    def _acquire(self, run_id: int, owner: str, ttl: float, limits: str) -> Lease:
        until = time.time() + ttl
        with self._transaction() as db:
            held = db.execute(sql.LEASE, (run_id,)).fetchone()
            # We hold the file's lock: an owner outside this process is dead, whatever its lease says.
            if held and held[0] in self._alive and held[2] > time.time():
                raise StoreBusy(f"run {run_id} is already being walked in this process: wait for it to end")
            token = self._one(sql.TAKE_LEASE, run=run_id, owner=owner, until=until)
            db.execute(sql.UNCLAIM, (run_id,))
            db.execute(sql.REDATE, {"run": run_id, "now": time.time()})
            db.execute(sql.RUN_STATE, {"run": run_id, "state": RunState.RUNNING, "reason": "", "ended": None})
            db.execute(sql.START, {"run": run_id, "now": time.time(), "limits": limits})
        self._alive.add(owner)
        return Lease(run=run_id, owner=owner, token=token, until=until)

    async def release(self, lease: Lease) -> None:
        def write() -> None:
            with self._transaction() as db:
                db.execute(sql.RELEASE, {"run": lease.run, "token": lease.token})
            self._alive.discard(lease.owner)

        await self._do(write)

    def _fence(self, lease: Lease) -> None:
        """Refuse to write for a lease that has passed on."""
        ttl = max(lease.until - time.time(), 60.0)
        names = {"run": lease.run, "token": lease.token, "owner": lease.owner, "until": time.time() + ttl}
        if self._db.execute(sql.FENCE, names).rowcount != 1:
            raise LeaseLost(f"run {lease.run} was taken over by another process: nothing of ours was written")

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

    async def hosts(self, run_id: int) -> Mapping[str, int]:
        found: dict[str, int] = msgspec.json.decode(await self._do(self._one, sql.HOSTS, run_id))
        return found

    async def peek(
        self, run_id: int, host: str, limit: int, but: Collection[int], level: int = DEEPEST
    ) -> list[Request]:
        skip = rows.encode(list(but)).decode()
        found = await self._do(self._one, sql.PEEK, run=run_id, host=host, limit=limit, but=skip, level=level)
        return rows.read_requests(found)

    async def level(self, run_id: int, host: str) -> int | None:
        found: int | None = await self._do(self._one, sql.LEVEL, run=run_id, host=host)
        return found

    async def roots(self, run_id: int, *, by_host: bool) -> list[str]:
        statement = sql.ROOTS_BY_HOST if by_host else sql.ROOTS
        found: list[str] = msgspec.json.decode(await self._do(self._one, statement, run=run_id))
        return found

    async def given_hosts(self, run_id: int) -> list[str]:
        found: list[str] = msgspec.json.decode(await self._do(self._one, sql.GIVEN_HOSTS, run=run_id))
        return found

    async def wake(self, run_id: int, now: float) -> tuple[Mapping[str, int], float | None]:
        def write() -> tuple[Mapping[str, int], float | None]:
            with self._transaction() as db:
                woken = msgspec.json.decode(self._one(sql.DUE, run=run_id, now=now))
                db.execute(sql.WAKE, {"run": run_id, "now": now})
                return woken, self._one(sql.NEXT_DUE, run_id)

        return await self._do(write)

    async def pending(self, run_id: int) -> Pending:
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
            db.execute(sql.COUNT, {"run": run, "seconds": batch.seconds} | rows.counts(outcomes, items, dropped))
            reasons = Counter(o.reason for o in outcomes if o.ending is not Ending.LATER)
            reasons.update(dropped)
            self._write(sql.COUNT_REASONS, reasons, run=run)
        return Settled(fresh=fresh, items=items, dropped=dropped)

    def _write(self, statement: str, made: Collection[Any], **named: Any) -> int:
        """Run a statement over rows; returns how many it changed."""
        if not made:
            return 0
        return self._db.execute(statement, {"rows": rows.as_json(made), **named}).rowcount

    def _upsert(self, run: int, outcomes: Sequence[Outcome]) -> int:
        """Write items and visits; returns how many of the items this run had not seen."""
        items = rows.item_rows(outcomes)
        seen = rows.seen_rows(outcomes, time.time())
        visits, blobs = rows.visit_rows([o.visit for o in outcomes if o.visit is not None])
        if not items and not seen and not visits:
            return 0
        scraper = self._one("select scraper from run where id = ?", run)
        self._write(sql.ITEMS, items, scraper=scraper)
        self._write(sql.SEEN, seen, scraper=scraper)
        self._write(sql.KEEP_VISITS, visits, scraper=scraper, blobs=blobs)
        return self._write(sql.SIGHTINGS, [row[:3] for row in (*items, *seen)], run=run, scraper=scraper)

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

    async def fetch_log(self, run_id: int | None = None) -> AsyncIterator[FetchLine]:
        log = await self._do(self._open_log, run_id)
        try:
            while lines := await self._do(log.fetchmany, LINES):
                for line in lines:
                    yield FetchLine(*line)
        finally:
            # Behind what the thread may still read for us, and without waiting: we may be ended at any time.
            if self._thread is None:
                self._close_log(log)
            else:
                self._thread.submit(self._close_log, log)

    def _open_log(self, run_id: int | None) -> sqlite3.Cursor:
        """Sorted by one statement on a connection of its own, which does it in a file, however long the log is.

        Pages of it would each need an index to begin at, and every settle would pay for that.
        """
        db = self._db if self.path == MEMORY else self._reader()
        if run_id is None:
            return db.execute(sql.FETCH_LOG)
        return db.execute(sql.FETCH_LOG_OF_RUN, {"run": run_id})

    def _close_log(self, log: sqlite3.Cursor) -> None:
        if self.path != MEMORY:
            log.connection.close()
        elif self._connection is not None:
            log.close()

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

    async def items(self, run_id: int | None = None, scraper: str | None = None) -> AsyncIterator[dict[str, Any]]:
        after = 0
        while True:
            found = msgspec.json.decode(
                await self._do(self._one, sql.ITEMS_OUT, after=after, run=run_id, scraper=scraper)
            )
            if not found:
                return
            after = found[-1][0]
            for _, name, kind, key, url, first, last, changed, data in found:
                yield {
                    "scraper": name,
                    "kind": kind,
                    "key": key,
                    "url": url,
                    "first_seen": first,
                    "last_seen": last,
                    "last_changed": changed,
                    "data": msgspec.json.decode(data),
                }


def _robots_note(row: tuple[Any, ...]) -> RobotsNote:
    origin, fetched, checked, status, body, closed, _ = row
    return RobotsNote(origin, fetched, checked, status, zlib.decompress(body), closed)


def _sentence(path: str, error: sqlite3.Error) -> str:
    told = str(error)
    if "full" in told:
        return f"the disk of the store {path} is full: free some space, then the same command goes on"
    if "not a database" in told or "malformed" in told:
        return f"{path} is not a Gossamer store ({told}): give another store"
    if "readonly" in told or "unable to open" in told:
        return f"the store {path} cannot be written ({told}): check the rights of the file and its folder"
    if "locked" in told:
        return f"the store {path} is locked by another program: wait until it ends, or give another store"
    if "I/O" in told:
        return f"the store {path} cannot be written ({told}; is the disk full?): then the same command goes on"
    return f"the store {path} failed: {told}"
