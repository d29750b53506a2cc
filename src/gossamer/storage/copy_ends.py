"""The two ends of a copy, a store that is read and one that is made; and both as SQLite files."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Protocol, Self

from gossamer.errors import StoreError
from gossamer.storage import filelock, forms, naming, statements
from gossamer.storage.copy_values import Rows, Shape
from gossamer.storage.migrations import upgrade as migrations
from gossamer.storage.sqlite_file import spoken

#: Rows that travel together.
GROUP = 20_000

#: For a file that is thrown away if anything goes wrong.
_HASTY = """
pragma page_size = 8192;
pragma journal_mode = off;
pragma synchronous = off;
pragma cache_size = -262144;
"""


class Source(Protocol):
    """A store that is read. It is opened with `async with`, and nobody works on it meanwhile."""

    async def count(self, shape: Shape) -> int:
        """How many rows a table has."""
        ...

    def read(self, shape: Shape) -> AsyncIterator[list[Any]]:
        """The rows of a table in the order of their keys, in groups."""
        ...


class Target(Source, Protocol):
    """A store that is made. Until `finish`, it says of itself that it is incomplete."""

    #: Whether only one process can walk it.
    alone: bool

    async def begin(self, *, resume: bool) -> None:
        """Make the tables, or find those of a copy that broke off."""
        ...

    async def write(self, shape: Shape, rows: Rows) -> None:
        """Add rows to a table: all of them or none."""
        ...

    async def settle(self) -> None:
        """What is done once all rows are there: indexes, numbers that go on from them."""
        ...

    async def finish(self) -> None:
        """It is verified, and a store from now on."""
        ...


def count_of(shape: Shape) -> str:
    """The statement that counts a table."""
    return f"select count(*) from {quoted(shape.name)}"  # noqa: S608 - names of our own tables


def select_of(shape: Shape, *, ordered: bool = True) -> str:
    """The statement that reads a table."""
    columns, key = (", ".join(map(quoted, names)) for names in (shape.columns, shape.key))
    return f"select {columns} from {quoted(shape.name)}" + (f" order by {key}" if ordered else "")  # noqa: S608


def quoted(name: str) -> str:
    """A name as SQL takes it, even where it is a word of SQL."""
    return f'"{name}"'


def want_newest(found: forms.Form) -> None:
    """Raises StoreError unless a store has the form that is copied."""
    if found.state == "empty":
        raise StoreError(f"{found.store} is empty: there is nothing to copy")
    forms.refuse_unless_newest(found)


# -- SQLite ----------------------------------------------------------------------------------------------------


class SqliteSource:
    """A SQLite file, locked against whoever would work on it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._open = contextlib.ExitStack()
        self._db: sqlite3.Connection

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._enter)
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._open.close()

    def _enter(self) -> None:
        if self.path == naming.MEMORY or not Path(self.path).is_file():
            raise StoreError(f"there is no store at {self.path}: give the path of one")
        with contextlib.ExitStack() as open_, spoken(self.path):
            open_.callback(filelock.FileLock(self.path).close)
            uri = Path(self.path).absolute().as_uri() + "?mode=ro"
            self._db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
            open_.callback(self._db.close)
            self._db.text_factory = _lenient
            self._db.execute("begin")  # one picture of it, whatever the service beside it notes meanwhile
            want_newest(forms.Form(self.path, forms.sqlite_version(self._db, self.path)))
            self._open = open_.pop_all()

    async def count(self, shape: Shape) -> int:
        """How many rows a table has."""
        with spoken(self.path):
            return int(self._db.execute(count_of(shape)).fetchone()[0])

    async def read(self, shape: Shape) -> AsyncIterator[list[Any]]:
        """The rows of a table in the order of their keys, in groups."""
        with spoken(self.path):
            cursor = self._db.execute(select_of(shape))
        while rows := await asyncio.to_thread(self._fetch, cursor):
            yield rows

    def _fetch(self, cursor: sqlite3.Cursor) -> list[Any]:
        with spoken(self.path):
            return cursor.fetchmany(GROUP)


class SqliteTarget(SqliteSource):
    """A SQLite file that is made under another name, and gets its own when it is whole."""

    alone = True

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._made = f"{path}.copying"

    def _enter(self) -> None:
        if not Path(self.path).parent.is_dir():
            raise StoreError(f"the folder of the store {self.path} does not exist: make it first")
        if Path(self.path).exists() and Path(self.path).stat().st_size:
            raise StoreError(f"{self.path} is there already: a store is copied to where none is")
        self._open.callback(filelock.FileLock(self.path).close)

    async def begin(self, *, resume: bool) -> None:
        """Make the tables. A copy into a file that broke off is begun anew."""
        await asyncio.to_thread(self._begin)

    def _begin(self) -> None:
        with spoken(self.path):
            Path(self._made).unlink(missing_ok=True)
            self._db = sqlite3.connect(self._made, isolation_level=None, check_same_thread=False)
            self._open.callback(self._db.close)
            self._db.executescript(_HASTY)
            for statement in migrations.head_form():
                if not _is_index(statement):
                    self._db.execute(statement)

    async def write(self, shape: Shape, rows: Rows) -> None:
        """Add rows to a table."""
        await asyncio.to_thread(self._write, shape, rows)

    def _write(self, shape: Shape, rows: Rows) -> None:
        columns, marks = ", ".join(map(quoted, shape.columns)), ", ".join("?" * len(shape.columns))
        with spoken(self.path):
            self._db.execute("begin")
            self._db.executemany(f"insert into {quoted(shape.name)} ({columns}) values ({marks})", rows)  # noqa: S608
            self._db.execute("commit")

    async def settle(self) -> None:
        """Make the indexes."""
        await asyncio.to_thread(self._settle)

    def _settle(self) -> None:
        with spoken(self.path):
            for statement in filter(_is_index, migrations.head_form()):
                self._db.execute(statement)
            self._db.execute("analyze")

    async def finish(self) -> None:
        """Give the file its name."""
        with spoken(self.path):
            self._db.executescript(statements.PRAGMAS)
            self._db.close()
        handle = os.open(self._made, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
        os.replace(self._made, self.path)


def _is_index(statement: str) -> bool:
    return statement.startswith(("CREATE INDEX", "CREATE UNIQUE INDEX"))


def _lenient(text: bytes) -> str:
    """SQLite keeps whatever it was given as text; what is none stays strange, and is made to fit, and told of."""
    return text.decode("utf-8", "surrogateescape")
