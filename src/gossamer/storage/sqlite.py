"""The store in one SQLite file: one writer thread, write-ahead log, group commit."""

from __future__ import annotations

import asyncio
import base64
import fcntl
import os
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

import msgspec

from gossamer import urls
from gossamer.errors import ConfigError, LeaseLost, StoreBusy, StoreError, StoreTooNew
from gossamer.storage import statements as sql
from gossamer.storage.migrations import upgrade as migrations
from gossamer.storage.store import DEEPEST, Batch, Draft, Settled, SourceNote, UrlStory
from gossamer.values import Ending, Lease, Outcome, Pending, Request, Run, RunState

P = ParamSpec("P")
T = TypeVar("T")

MEMORY = ":memory:"
#: Start requests handed to SQLite at once: bounds the memory that they take there.
ROWS = 5_000
#: How a row says how its request ended; 0 is waiting.
STATES = {Ending.DONE: 1, Ending.SKIPPED: 2, Ending.FAILED: 3, Ending.LATER: 0}

#: Where a row of `_row` has these.
_DIGEST, _DEPTH, _HOPS = 0, 6, 8

_encode = msgspec.json.Encoder(enc_hook=str).encode
_Row = tuple[int, str, str, int, int, int, int, dict[str, Any] | None]
_decode_rows = msgspec.json.Decoder(list[_Row]).decode
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
        self._lock: int | None = None
        self._connection: sqlite3.Connection | None = None
        self._thread: ThreadPoolExecutor | None = None
        #: Owners of leases that live in this process.
        self._alive: set[str] = set()

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
            if self.owner or self.path == MEMORY:
                self._lock = None if self.path == MEMORY else _lock(self.path)
                # An absolute path is never taken for one of SQLite's file: URLs.
                place = self.path if self.path == MEMORY else str(Path(self.path).absolute())
                self._connection = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
                self._upgrade()
            else:
                uri = Path(self.path).absolute().as_uri() + "?mode=ro"
                if not os.access(Path(self.path).parent, os.W_OK) and not Path(self.path + "-wal").exists():
                    # Readers share an index beside the file; where none can be made, nobody writes either.
                    uri += "&immutable=1"
                self._connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
                self._check_version()

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
            os.close(self._lock)
            self._lock = None

    # -- calling the thread ------------------------------------------------------------------------------------

    @property
    def _db(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"the store {self.path} is closed")
        return self._connection

    async def _do(self, verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a verb on the store's thread. Once begun it completes, even if the caller is cancelled."""
        if self._thread is None:
            raise StoreError(f"the store {self.path} is closed")

        def call() -> T:
            with self._spoken():
                return verb(*args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

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

    # -- runs --------------------------------------------------------------------------------------------------

    async def new_run(self, draft: Draft) -> Run:
        return await self._do(self._new_run, draft)

    def _new_run(self, draft: Draft) -> Run:
        row = {
            "scraper": draft.scraper,
            "ref": draft.ref,
            "signature": draft.signature,
            "params": _encode(draft.params).decode(),
            "options": _encode(draft.options).decode(),
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

        await self._do(write)

    async def worker(self) -> str | None:
        return f"process {os.getpid()}" if self.owner else await self._do(_holder, self.path)

    async def end_run(self, lease: Lease, state: RunState, reason: str) -> Run:
        def write() -> Run:
            with self._transaction() as db:
                self._fence(lease)
                db.execute(sql.RUN_STATE, {"run": lease.run, "state": state, "reason": reason, "ended": time.time()})
                return _decode_run(self._one(sql.RUN, lease.run))

        return await self._do(write)

    # -- leases ------------------------------------------------------------------------------------------------

    async def acquire(self, run_id: int, owner: str, ttl: float) -> Lease:
        return await self._do(self._acquire, run_id, owner, ttl)

    def _acquire(self, run_id: int, owner: str, ttl: float) -> Lease:
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
            rows = [_row(request, 0, n) for n, request in enumerate(requests[first : first + ROWS], first)]
            groups.append(_json(rows))
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
        self, run_id: int, rows: str, hops: Sequence[tuple[str, int]] = ()
    ) -> tuple[dict[str, int], dict[str, int]]:
        """Insert what is not known: (host -> new requests, rule -> newly dropped links)."""
        before = self._one(sql.LAST_REQUEST)
        self._db.execute(sql.ADD, {"run": run_id, "rows": rows})
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
        rows = {"run": run_id, "rows": _json(hops)}
        revived: dict[str, int] = msgspec.json.decode(self._one(sql.REVIVED, **rows))
        self._db.execute(sql.LIFT, rows)
        fresh.update(revived)
        dropped.subtract({"depth": sum(revived.values())} if revived else {})

    async def hosts(self, run_id: int) -> Mapping[str, int]:
        found: dict[str, int] = msgspec.json.decode(await self._do(self._one, sql.HOSTS, run_id))
        return found

    async def peek(
        self, run_id: int, host: str, limit: int, but: Collection[int], level: int = DEEPEST
    ) -> list[Request]:
        skip = _encode(list(but)).decode()
        rows = await self._do(self._one, sql.PEEK, run=run_id, host=host, limit=limit, but=skip, level=level)
        return [_request(*row) for row in _decode_rows(rows)]

    async def level(self, run_id: int, host: str) -> int | None:
        found: int | None = await self._do(self._one, sql.LEVEL, run=run_id, host=host)
        return found

    async def roots(self, run_id: int, *, by_host: bool) -> list[str]:
        statement = sql.ROOTS_BY_HOST if by_host else sql.ROOTS
        found: list[str] = msgspec.json.decode(await self._do(self._one, statement, run=run_id))
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
        return await self._do(self._settle, lease, batch)

    def _settle(self, lease: Lease, batch: Batch) -> Settled:
        run, outcomes = lease.run, batch.outcomes
        with self._transaction() as db:
            self._fence(lease)
            found = [row for o in outcomes for row in _found_rows(o)]
            hops = [(row[_DIGEST], row[_DEPTH]) for row in found if row[_HOPS]]
            fresh, dropped = self._insert(run, _json(found), hops) if found else ({}, {})
            items = self._upsert(run, outcomes)
            self._write(sql.CLAIM, batch.claims, token=lease.token)
            closed = self._write(sql.CLOSE, [_closing_row(o) for o in outcomes], run=run)
            if closed != len(outcomes):
                raise LeaseLost(f"run {run}: a request was settled twice; nothing of this group was written")
            self._write(sql.LOG, [_fetch_row(f) for f in batch.fetches], run=run)
            self._remember(batch.sources)
            db.execute(sql.COUNT, {"run": run, "seconds": batch.seconds} | _counts(outcomes, items, dropped))
            reasons = Counter(o.reason for o in outcomes if o.ending is not Ending.LATER)
            reasons.update(dropped)
            self._write(sql.COUNT_REASONS, reasons, run=run)
        return Settled(fresh=fresh, items=items, dropped=dropped)

    def _write(self, statement: str, rows: Collection[Any], **named: Any) -> int:
        """Run a statement over rows; returns how many it changed."""
        if not rows:
            return 0
        return self._db.execute(statement, {"rows": _json(rows), **named}).rowcount

    def _upsert(self, run: int, outcomes: Sequence[Outcome]) -> int:
        """Write items; returns how many this run had not seen."""
        rows = [(o.request.id, i.kind, i.key, i.data, o.request.url, o.started) for o in outcomes for i in o.items]
        if not rows:
            return 0
        scraper = self._one("select scraper from run where id = ?", run)
        self._write(sql.ITEMS, rows, scraper=scraper)
        return self._write(sql.SIGHTINGS, [row[:3] for row in rows], run=run, scraper=scraper)

    # -- sources -----------------------------------------------------------------------------------------------

    async def remember(self, notes: Sequence[SourceNote]) -> None:
        def write() -> None:
            with self._transaction():
                self._remember(notes)

        await self._do(write)

    def _remember(self, notes: Sequence[SourceNote]) -> None:
        self._write(sql.REMEMBER, [(note.host, note.last_hit, note.ready_at) for note in notes])

    async def source(self, host: str) -> SourceNote | None:
        def read() -> SourceNote | None:
            row = self._db.execute(sql.SOURCE, (host,)).fetchone()
            return SourceNote(*row) if row else None

        return await self._do(read)

    # -- reading -----------------------------------------------------------------------------------------------

    async def why(self, url: str) -> list[UrlStory]:
        def read() -> list[UrlStory]:
            names = {"digest": urls.digest(urls.comparable(url)), "url": url}
            rows = self._db.execute(sql.STORIES, names).fetchall()
            return [_decode_story(row) for (row,) in rows]

        return await self._do(read)

    async def host_table(self, run_id: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = msgspec.json.decode(await self._do(self._one, sql.HOST_TABLE, run_id))
        return found

    async def pages(self, run_id: int | None = None, scraper: str | None = None) -> AsyncIterator[dict[str, Any]]:
        after = 0
        while True:
            rows = msgspec.json.decode(await self._do(self._one, sql.PAGES, after=after, run=run_id, scraper=scraper))
            if not rows:
                return
            for row in rows:
                after = row.pop("id")
                yield row

    async def items(self, run_id: int | None = None, scraper: str | None = None) -> AsyncIterator[dict[str, Any]]:
        after = 0
        while True:
            rows = msgspec.json.decode(
                await self._do(self._one, sql.ITEMS_OUT, after=after, run=run_id, scraper=scraper)
            )
            if not rows:
                return
            after = rows[-1][0]
            for _, name, kind, key, url, first, last, changed, data in rows:
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


# -- rows ------------------------------------------------------------------------------------------------------


def _json(rows: Collection[Any]) -> str:
    """Rows as SQLite takes them, without the characters that it would cut a text off at."""
    made = _text(rows)
    return made if "\\u0000" not in made else _text(_storable(rows))


def _text(value: Any) -> str:
    try:
        return _encode(value).decode()
    except UnicodeEncodeError:  # half a character, which is in no encoding
        return _encode(_storable(value)).decode()


def _storable(value: Any) -> Any:
    """A value with U+FFFD for the characters that no store keeps."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_storable(key): _storable(each) for key, each in value.items()}
    return [_storable(each) for each in value] if isinstance(value, list | tuple) else value


def _row(request: Request, parent: int, ordinal: int, state: int = 0, reason: str | None = None) -> tuple[Any, ...]:
    """A request as the row it becomes."""
    host = urls.host(request.url)
    key = request.fingerprint
    if request.revisit or (request.hops and request.verb != "GET"):
        # Not the same thing as any other request; but the same when its page is walked again.
        key = urls.digest(key, str(parent), str(ordinal))
    return (
        key,
        request.url,
        host,
        urls.shard(host),
        request.handler,
        _extra(request),
        request.depth,
        request.priority,
        request.hops,
        parent or None,
        state,
        reason,
    )


def _found_rows(outcome: Outcome) -> Iterator[tuple[Any, ...]]:
    parent = outcome.request.id
    for n, request in enumerate(outcome.found):
        yield _row(request, parent, n)
    for n, drop in enumerate(outcome.dropped):
        yield _row(drop.request, parent, n, STATES[Ending.SKIPPED], drop.reason)


def _extra(request: Request) -> str | None:
    """What a request has beyond its URL, as JSON; None for the plain ones."""
    extra: dict[str, Any] = {}
    for name in ("method", "headers", "json", "carry"):
        value = getattr(request, name)
        if value is not None:
            extra[name] = value
    if request.revisit:
        extra["revisit"] = True
    if request.via:
        extra["via"] = request.via
    if isinstance(request.data, bytes):
        extra["data64"] = base64.b64encode(request.data).decode()
    elif request.data is not None:
        extra["data"] = request.data
    return _text(extra) if extra else None


def _request(
    row: int,
    url: str,
    handler: str,
    depth: int,
    priority: int,
    attempts: int,
    hops: int,
    extra: dict[str, Any] | None,
) -> Request:
    more = extra or {}
    if "via" in more:
        more["via"] = tuple(more["via"])
    if "data64" in more:
        more["data"] = base64.b64decode(more.pop("data64"))
    return Request(url, to=handler, id=row, depth=depth, priority=priority, attempts=attempts, hops=hops, **more)


def _closing_row(outcome: Outcome) -> tuple[Any, ...]:
    return (
        outcome.request.id,
        STATES[outcome.ending],
        outcome.not_before if outcome.ending is Ending.LATER else 0.0,
        int(outcome.attempt),
        outcome.reason,
        outcome.detail,
        outcome.status,
        outcome.size,
        outcome.started,
        outcome.elapsed,
    )


def _fetch_row(fetch: Any) -> tuple[Any, ...]:
    return (
        fetch.request_id or None,
        fetch.url,
        fetch.host,
        fetch.started,
        fetch.elapsed,
        fetch.status,
        fetch.size,
        fetch.reason,
    )


def _counts(outcomes: Sequence[Outcome], items: int, dropped: Mapping[str, int]) -> dict[str, int]:
    endings = Counter(o.ending for o in outcomes)
    return {
        "settled": len(outcomes) - endings[Ending.LATER],
        "pages": sum(o.is_page for o in outcomes),
        "items": items,
        "failed": endings[Ending.FAILED],
        "skipped": endings[Ending.SKIPPED] + sum(dropped.values()),
        "retried": sum(o.attempt for o in outcomes),
        "size": sum(o.size for o in outcomes),
    }


# -- the file --------------------------------------------------------------------------------------------------


def _flock(handle: int, kind: int) -> bool:
    """Take a lock, unless somebody keeps it. Whoever only looks (`_holder`) has it for a blink: hence the tries."""
    for _ in range(5):
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except OSError:
            time.sleep(0.02)
        else:
            return True
    return False


def _holder(path: str) -> str | None:
    """The process that holds a store; None if none does."""
    try:
        handle = os.open(path + ".lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return (
            None if _flock(handle, fcntl.LOCK_SH) else f"process {os.pread(handle, 32, 0).decode('ascii', 'replace')}"
        )
    finally:
        os.close(handle)


def _lock(path: str) -> int:
    """Hold the store for this process. The system lets go of it when the process dies, however it dies."""
    name = os.path.realpath(path) + ".lock"  # one file, one lock, whichever name it is called by
    try:
        handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreError(f"the store {path} cannot be written: {error.strerror}; check its folder's rights") from None
    if not _flock(handle, fcntl.LOCK_EX):
        holder = os.pread(handle, 32, 0).decode("ascii", "replace").strip() or "unknown"
        os.close(handle)
        who = "this process" if holder == str(os.getpid()) else f"process {holder}"
        raise StoreBusy(f"the store {path} is in use by {who}: wait until it ends, or give another store") from None
    with suppress(OSError):  # on a full disk the lock holds all the same, only without saying for whom
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
    return handle


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
