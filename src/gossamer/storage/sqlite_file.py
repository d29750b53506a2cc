"""One SQLite file as a store uses it: opened, locked, brought to its present form, written by one thread."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from gossamer.errors import LeaseLost, StoreError, StoreTooNew
from gossamer.storage import filelock, rows
from gossamer.storage import statements as sql
from gossamer.storage.migrations import upgrade as migrations
from gossamer.storage.naming import MEMORY
from gossamer.telemetry import log
from gossamer.values import Lease

P = ParamSpec("P")
T = TypeVar("T")

#: Seconds after which a transaction is told of.
SLOW = 1.0


class SqliteFile:
    """A file that is opened with `async with`.

    Opened to work (`owner=True`), it locks the file against other working processes; opened to read, it does
    not, and may look on while another process works.
    """

    def __init__(self, path: str, *, owner: bool = True) -> None:
        self.path = path
        self.owner = owner
        self._lock: filelock.FileLock | None = None
        self._connection: sqlite3.Connection | None = None
        self._thread: ThreadPoolExecutor | None = None

    async def __aenter__(self) -> Self:
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
        with spoken(self.path):
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
            with spoken(self.path):
                return verb(*args, **kwargs)

        return asyncio.get_running_loop().run_in_executor(self._thread, call)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        db = self._db
        began = time.monotonic()
        db.execute("begin immediate")
        try:
            yield db
            db.execute("commit")
        except BaseException:
            if db.in_transaction:
                db.execute("rollback")
            raise
        tell_if_slow(self.path, began)

    def _one(self, statement: str, *args: Any, **named: Any) -> Any:
        """The first column of the first row."""
        with closing(self._db.execute(statement, named or args)) as cursor:
            row = cursor.fetchone()
        return None if row is None else row[0]

    def _all(self, statement: str, *args: Any) -> list[Any]:
        """Every row: only for what is few."""
        return self._db.execute(statement, args).fetchall()

    def _long(self, statement: str, names: Mapping[str, Any]) -> sqlite3.Cursor:
        """Rows that are read little by little, on a connection of their own, which sorts them in a file."""
        db = self._db if self.path == MEMORY else self._reader()
        return db.execute(statement, names)

    def _let_go(self, cursor: sqlite3.Cursor) -> None:
        """Close what `_long` opened."""
        # Behind what the thread may still read for us, and without waiting: we may be ended at any time.
        if self._thread is None:
            self._close_cursor(cursor)
        else:
            self._thread.submit(self._close_cursor, cursor)

    def _close_cursor(self, cursor: sqlite3.Cursor) -> None:
        if self.path != MEMORY:
            cursor.connection.close()
        elif self._connection is not None:
            cursor.close()

    def _write(self, statement: str, made: Collection[Any], **named: Any) -> int:
        """Run a statement over rows; returns how many it changed."""
        if not made:
            return 0
        return self._db.execute(statement, {"rows": rows.as_json(made), **named}).rowcount

    def _fence(self, lease: Lease) -> None:
        """Refuse to write for a lease that has passed on."""
        ttl = max(lease.until - time.time(), 60.0)
        names = {"run": lease.run, "token": lease.token, "owner": lease.owner, "until": time.time() + ttl}
        if self._db.execute(sql.FENCE, names).rowcount != 1:
            raise LeaseLost(f"run {lease.run} was taken over by another process: nothing of ours was written")


def tell_if_slow(path: str, began: float) -> None:
    """Say that a transaction took long, with its wait for others: whoever wants to know why reads the log."""
    seconds = time.monotonic() - began
    if seconds > SLOW:
        log.info("store.slow", store=path, seconds=round(seconds, 1))


@contextmanager
def spoken(path: str) -> Iterator[None]:
    """Turn SQLite's errors into sentences."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(_sentence(path, error)) from error


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
