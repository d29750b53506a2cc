"""Both ends of a copy as PostgreSQL databases: read as they were at one moment, written by COPY."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any, Self

from gossamer.errors import StoreBusy, StoreError
from gossamer.storage import forms
from gossamer.storage.copy_ends import GROUP, count_of, quoted, select_of, want_newest
from gossamer.storage.copy_values import Rows, Shape, shapes
from gossamer.storage.migrations import upgrade as migrations
from gossamer.storage.postgres_pool import FAILURES, PostgresPool

_CREATE = re.compile(r"^CREATE (UNIQUE )?INDEX ")
_WHOLE_FORM = "update alembic_version set version_num = $1::text"
#: What is left to do when all rows are there. It is in the database, so that a copy that broke off can go on.
_TODO = "gossamer_copying"
_INDEXES = """
select indexname, indexdef from pg_indexes i
where schemaname = current_schema() and tablename = any($1::text[])
  and not exists (select 1 from pg_constraint c where c.conname = i.indexname and c.contype in ('p', 'u'))
"""
_SEQUENCE = "select setval(pg_get_serial_sequence($1::text, 'id'), greatest($2::bigint, 1), $2::bigint > 0)"


class Database(PostgresPool):
    """A database that is spoken to without limits of time: an index of many rows takes long."""

    def _options(self) -> dict[str, Any]:
        unlimited = {"statement_timeout": "0", "lock_timeout": "0", "idle_in_transaction_session_timeout": "0"}
        return {"timeout": 10.0, "server_settings": {"application_name": "gossamer", "jit": "off", **unlimited}}

    async def connect(self) -> Any:
        """One connection. Raises StoreError."""
        with self.spoken():
            return await self._connect()

    @contextlib.contextmanager
    def spoken(self) -> Iterator[None]:
        """Turn the driver's errors into sentences, those that SQLAlchemy wraps too."""
        from sqlalchemy.exc import DBAPIError

        try:
            yield
        except DBAPIError as error:
            why = error.orig.__cause__ if error.orig is not None else None
            raise self._spoken(why if isinstance(why, Exception) else error) from error
        except FAILURES as error:
            raise self._spoken(error) from error
        except ValueError as error:
            raise StoreError(f"{self.shown} is no URL of a database: write postgresql://user@host/name") from error


class PostgresSource:
    """A PostgreSQL database, read as it was at one moment."""

    def __init__(self, url: str) -> None:
        self.database = Database(url)
        self.shown: str = self.database.shown
        self._db: Any = None

    async def __aenter__(self) -> Self:
        self._db = await self.database.connect()
        try:
            await self._enter()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        with contextlib.suppress(Exception):
            await self._db.close(timeout=5)

    async def _enter(self) -> None:
        with self.database.spoken():
            want_newest(forms.Form(self.shown, await migrations.form_of(self._db, self.shown)))
            await migrations.refuse_walked(self._db, self.shown)
            await self._db.execute("begin isolation level repeatable read read only")

    async def count(self, shape: Shape) -> int:
        """How many rows a table has."""
        with self.database.spoken():
            return int(await self._db.fetchval(count_of(shape)))

    async def read(self, shape: Shape) -> AsyncIterator[list[Any]]:
        """The rows of a table in the order of their keys, in groups."""
        async for rows in self._read(select_of(shape)):
            yield rows

    async def _read(self, statement: str) -> AsyncIterator[list[Any]]:
        with self.database.spoken():
            cursor = await self._db.cursor(statement)
            while rows := await cursor.fetch(GROUP):
                yield [tuple(row) for row in rows]


class PostgresTarget(PostgresSource):
    """A PostgreSQL database that is filled by COPY, without indexes until all rows are there."""

    alone = False

    async def _enter(self) -> None:
        with self.database.spoken():
            if not await self._db.fetchval("select pg_try_advisory_lock(7362, 1)"):
                raise StoreBusy(f"another process is copying into {self.shown}: wait until it ends")

    async def begin(self, *, resume: bool) -> None:
        """Make the tables, or find those of a copy that broke off."""
        with self.database.spoken():
            version = await migrations.form_of(self._db, self.shown)
            if version != migrations.COPYING:
                migrations.refuse_newer(version, self.shown)
            if version == migrations.COPYING and not resume:
                raise StoreError(
                    f"{self.shown} holds a copy that broke off: --resume goes on with it, or give an empty database"
                )
            if version == migrations.HEAD:
                await self._want_empty()
            elif version in (None, migrations.BASE):
                await migrations.upgrade_postgres(self.database.url)
            elif version != migrations.COPYING:
                raise StoreError(f"{self.shown} has tables of an old form: give an empty database")
            if version != migrations.COPYING:
                await self._mark()

    async def _want_empty(self) -> None:
        for shape in shapes():
            if await self._db.fetchval(f"select exists (select 1 from {quoted(shape.name)})"):  # noqa: S608
                raise StoreError(f"{self.shown} is a store that has something in it: give an empty database")

    async def _mark(self) -> None:
        """Say that it is incomplete, and take the indexes away: they cost less when they are made at the end."""
        async with self._db.transaction():
            await self._db.execute(_WHOLE_FORM, migrations.COPYING)
            await self._db.execute(f"create table if not exists {_TODO} (statement text not null)")
            for name, made in await self._db.fetch(_INDEXES, sorted(migrations.tables())):
                again = _CREATE.sub(lambda found: f"create {found[1] or ''}index if not exists ", made)
                await self._db.execute(f"insert into {_TODO} values ($1::text)", again)  # noqa: S608
                await self._db.execute(f"drop index {quoted(name)}")

    async def write(self, shape: Shape, rows: Rows) -> None:
        """Add rows to a table: all of them or none."""
        with self.database.spoken():
            await self._db.copy_records_to_table(shape.name, records=rows, columns=shape.columns)

    async def settle(self) -> None:
        """Make the indexes, and let numbers go on from those that are there."""
        with self.database.spoken():
            await self._db.execute("set maintenance_work_mem = '256MB'")
            for (statement,) in await self._db.fetch(f"select statement from {_TODO}"):  # noqa: S608
                await self._db.execute(statement)
            for shape in shapes():
                if shape.numbered:
                    most = await self._db.fetchval(f"select coalesce(max(id), 0) from {quoted(shape.name)}")  # noqa: S608
                    await self._db.execute(_SEQUENCE, shape.name, most)
            await self._db.execute("analyze " + ", ".join(quoted(shape.name) for shape in shapes()))

    async def read(self, shape: Shape) -> AsyncIterator[list[Any]]:
        """The rows of a table as they lie there, in groups."""
        async with self._db.transaction(readonly=True):
            async for rows in self._read(select_of(shape, ordered=False)):
                yield rows

    async def finish(self) -> None:
        """It is a store from now on."""
        with self.database.spoken():
            async with self._db.transaction():
                await self._db.execute(f"drop table {_TODO}")
                await self._db.execute(_WHOLE_FORM, migrations.HEAD)
