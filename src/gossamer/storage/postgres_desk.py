"""A desk on a PostgreSQL database: a few connections, one transaction at a time among all desks there are."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import asyncpg

from gossamer.storage import placeholders
from gossamer.storage.desk import POSTGRES, Row
from gossamer.storage.postgres_pool import FAILURES, LONGEST, Connection, PostgresPool, _Patience

T = TypeVar("T")

#: Connections that read at the same time, and one that writes.
READERS = 4
#: Seconds a statement may read before it is given up.
LONGEST_READ = 20.0

#: The advisory lock of desks.
DESK = (7361, 0)
# In SQLite whoever begins to write shuts all others out, and statements of a desk rest on that: the first token is
# made once, a scraper has one active run, a schedule fires once, an alert is told once. Here all desks of a database
# take one lock, so that they shut each other out. It also gives rows of a desk their numbers in the order in which
# they are committed: who reads on from the last number misses none. Whoever walks runs takes no such lock: what rests
# on a run that stays as it was read has to lock its row (`dialect.locked`).
_BEGIN = f"""
begin; set local statement_timeout = {LONGEST * 1000:.0f}; select pg_advisory_xact_lock({DESK[0]}, {DESK[1]})
"""
# Statements of a desk find their rows by an index, or read a table that is small. Tables that were filled just now
# have no statistics, and the planner would take them for empty ones.
_PLANS = {"enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off"}


class PostgresDesk(PostgresPool):
    """Opened with `async with`, beside whoever works on the database. Makes the tables of an empty one."""

    dialect = POSTGRES

    def __init__(self, url: str, *, owner: bool = True) -> None:
        super().__init__(url, owner=owner, most=READERS + 1)
        self._turn = asyncio.Lock()

    def _options(self) -> dict[str, Any]:
        made = super()._options()
        limits = {"statement_timeout": f"{LONGEST_READ * 1000:.0f}"}
        return {**made, "server_settings": {**made["server_settings"], **_PLANS, **limits}}

    def _sentence(self, error: Exception) -> str:
        if isinstance(error, asyncpg.QueryCanceledError):
            return f"the store {self.shown} took too long to find that: ask for less, or look at what else it does"
        return super()._sentence(error)

    # -- reading -----------------------------------------------------------------------------------------------

    async def rows(self, statement: str, /, **names: Any) -> list[Row]:
        """As in `Desk`."""
        text, values = placeholders.of_one(statement, names)
        return [tuple(row) for row in await self._read(lambda db: db.fetch(text, *values))]

    async def row(self, statement: str, /, **names: Any) -> Row | None:
        """As in `Desk`."""
        text, values = placeholders.of_one(statement, names)
        found = await self._read(lambda db: db.fetchrow(text, *values))
        return None if found is None else tuple(found)

    # -- writing -----------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[_Writing]:
        """As in `Desk`."""
        async with self._turn:
            pool = self._open_pool
            db = await self._begun(pool)
            try:
                made = _Writing(self, db)
                yield made
                await made.do(lambda: db.execute("commit"))
            except BaseException:
                await asyncio.shield(_roll_back(db))
                raise
            finally:
                await asyncio.shield(pool.release(db))

    async def _begun(self, pool: asyncpg.Pool) -> Connection:
        """A connection in a transaction that has the lock; begun again if the database was away for a moment."""
        patience = _Patience(self)
        while True:
            db: Connection | None = None
            try:
                db = await pool.acquire()
                await db.execute(_BEGIN)
            except BaseException as error:
                if db is not None:
                    await asyncio.shield(_roll_back(db))
                    await asyncio.shield(pool.release(db))
                if not isinstance(error, FAILURES):
                    raise
                await patience.wait(error)
            else:
                return db


async def _roll_back(db: Connection) -> None:
    """End a transaction that came to nothing. Where that cannot be said, the connection is given up."""
    try:
        if not db.is_closed():
            await db.execute("rollback")
    except FAILURES:
        with contextlib.suppress(*FAILURES):
            db.terminate()


class _Writing:
    """A transaction on one connection."""

    dialect = POSTGRES

    def __init__(self, desk: PostgresDesk, db: Connection) -> None:
        self._desk = desk
        self._db = db

    async def do(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do something with the connection. Raises StoreError."""
        try:
            return await work()
        except FAILURES as error:
            raise self._desk._spoken(error) from error

    async def run(self, statement: str, /, **names: Any) -> int:
        text, values = placeholders.of_one(statement, names)
        done = await self.do(lambda: self._db.execute(text, *values))
        count = done.rpartition(" ")[2]
        return int(count) if count.isdecimal() else 0

    async def many(self, statement: str, rows: Sequence[Mapping[str, Any]], /) -> None:
        if rows:
            text, values = placeholders.of_many(statement, rows)
            await self.do(lambda: self._db.executemany(text, values))

    async def rows(self, statement: str, /, **names: Any) -> list[Row]:
        text, values = placeholders.of_one(statement, names)
        return [tuple(row) for row in await self.do(lambda: self._db.fetch(text, *values))]

    async def row(self, statement: str, /, **names: Any) -> Row | None:
        found = await self.rows(statement, **names)
        return found[0] if found else None
