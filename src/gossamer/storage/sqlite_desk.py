"""A desk on a SQLite file: one connection that writes, a few that read, none of them in anybody's way for long."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from gossamer.errors import StoreBusy, StoreError
from gossamer.storage import statements as sql
from gossamer.storage.desk import SQLITE, Row
from gossamer.storage.naming import MEMORY
from gossamer.storage.sqlite_file import SqliteFile, spoken, tell_if_slow

T = TypeVar("T")

#: Threads that read at the same time.
READERS = 4
#: Seconds a statement may read before it is given up.
LONGEST_READ = 20.0
#: SQLite's steps between two looks at the clock.
STEPS = 100_000


class SqliteDesk:
    """Opened with `async with`, beside a process that works on the file, or alone. Makes the file if need be."""

    dialect = SQLITE

    def __init__(self, path: str) -> None:
        if path == MEMORY:
            raise StoreError("a service needs a store that lasts: give a path like gossamer.db")
        self.path = path
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="gossamer-desk")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="gossamer-read")
        self._reading: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        self._db: sqlite3.Connection | None = None
        self._turn = asyncio.Lock()
        self._closed = False

    async def __aenter__(self) -> Self:
        try:
            await self._bring_up_to_date()
            self._db = await self._on(self._writer, self._connect)
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def _bring_up_to_date(self) -> None:
        """As whoever works on the file does when it opens it. If somebody is, it was done."""
        try:
            async with SqliteFile(self.path):
                return
        except StoreBusy:
            async with SqliteFile(self.path, owner=False):  # says so if it has another form
                return

    def _connect(self) -> sqlite3.Connection:
        place = Path(self.path).absolute().as_uri() + "?mode=rw"
        db = sqlite3.connect(place, uri=True, isolation_level=None, check_same_thread=False)
        db.executescript(sql.PRAGMAS)
        db.execute("pragma cache_size = -8192")
        return db

    async def _close(self) -> None:
        self._closed = True
        async with self._turn:
            await asyncio.to_thread(self._shut)

    def _shut(self) -> None:
        self._readers.shutdown()
        self._writer.shutdown()
        while not self._reading.empty():
            self._reading.get_nowait().close()
        if self._db is not None:
            self._db.close()
            self._db = None

    # -- reading -----------------------------------------------------------------------------------------------

    async def rows(self, statement: str, /, **names: Any) -> list[Row]:
        """As in `Desk`."""
        return await self.read(lambda db: db.execute(statement, names).fetchall())

    async def row(self, statement: str, /, **names: Any) -> Row | None:
        """As in `Desk`."""

        def first(db: sqlite3.Connection) -> Row | None:
            with closing(db.execute(statement, names)) as cursor:
                found: Row | None = cursor.fetchone()
                return found

        return await self.read(first)

    async def read(self, look: Callable[[sqlite3.Connection], T]) -> T:
        """Have a connection that only reads looked at, on a thread."""

        def work() -> T:
            db = self._borrow()
            until = time.monotonic() + LONGEST_READ
            db.set_progress_handler(lambda: time.monotonic() > until, STEPS)
            try:
                return look(db)
            finally:
                self._reading.put(db)

        return await self._on(self._readers, work)

    def _borrow(self) -> sqlite3.Connection:
        try:
            return self._reading.get_nowait()
        except queue.Empty:
            db = self._connect()
            db.execute("pragma query_only = on")
            return db

    # -- writing -----------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[_Writing]:
        """As in `Desk`."""
        async with self._turn:
            made = _Writing(self)
            began = time.monotonic()
            await made.run("begin immediate")
            try:
                yield made
                await made.run("commit")
                tell_if_slow(self.path, began)
            except BaseException:
                await asyncio.shield(self.on_writer(self._roll_back))
                raise

    def _roll_back(self, db: sqlite3.Connection) -> None:
        if db.in_transaction:
            db.execute("rollback")

    async def on_writer(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do something with the connection that writes, on its thread. Once begun it completes."""

        def call() -> T:
            assert self._db is not None
            return work(self._db)

        return await self._on(self._writer, call)

    async def _on(self, threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        if self._closed:
            raise StoreError(f"the store {self.path} is closed")

        def call() -> T:
            with spoken(self.path):
                return work()

        return await asyncio.get_running_loop().run_in_executor(threads, call)


class SqliteReader(SqliteFile):
    """A file that is only looked at: no more than the reading part of a desk, which changes nothing, not its form."""

    dialect = SQLITE

    def __init__(self, path: str) -> None:
        super().__init__(path, owner=False)

    async def rows(self, statement: str, /, **names: Any) -> list[Row]:
        """As in `Desk`."""
        return await self._do(lambda: self._db.execute(statement, names).fetchall())

    async def row(self, statement: str, /, **names: Any) -> Row | None:
        """As in `Desk`."""
        found = await self.rows(statement, **names)
        return found[0] if found else None


class _Writing:
    """A transaction on the connection that writes."""

    dialect = SQLITE

    def __init__(self, desk: SqliteDesk) -> None:
        self._desk = desk

    async def run(self, statement: str, /, **names: Any) -> int:
        return await self._desk.on_writer(lambda db: db.execute(statement, names).rowcount)

    async def many(self, statement: str, rows: Sequence[Mapping[str, Any]], /) -> None:
        await self._desk.on_writer(lambda db: db.executemany(statement, rows))

    async def rows(self, statement: str, /, **names: Any) -> list[Row]:
        return await self._desk.on_writer(lambda db: db.execute(statement, names).fetchall())

    async def row(self, statement: str, /, **names: Any) -> Row | None:
        found = await self.rows(statement, **names)
        return found[0] if found else None
