"""Which form the tables of a store have, whether they are as they should be, and how they are brought up to date."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer.errors import ConfigError, StoreError, StoreTooNew
from gossamer.storage import naming
from gossamer.storage.migrations import upgrade as migrations
from gossamer.storage.sqlite_file import SqliteFile, spoken

#: What SQLAlchemy and PostgreSQL call the same.
_SAME = {"FLOAT": "DOUBLE PRECISION"}


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a store's tables."""

    #: The store, as it may be shown.
    store: str
    #: The last migration that was applied; None if there are no tables.
    version: str | None

    @property
    def state(self) -> str:
        """How it stands to this Gossamer: "newest", "old", "newer", "copying" or "empty"."""
        if self.version is None:
            return "empty"
        if self.version == migrations.COPYING:
            return "copying"
        if self.version == migrations.HEAD:
            return "newest"
        return "old" if self.version in (migrations.BASE, *migrations.REVISIONS) else "newer"

    @property
    def sentence(self) -> str:
        """What to tell people."""
        newest = migrations.HEAD
        return {
            "newest": f"the store {self.store} has the form {newest}, the newest one",
            "old": f"the store {self.store} has the form {self.version or 'before the first'}, the newest is {newest}: "
            "`gossamer db upgrade` brings it up to date",
            "newer": f"the store {self.store} has the form {self.version}, this Gossamer knows up to {newest}: "
            "upgrade Gossamer",
            "copying": f"a copy into {self.store} is going on or broke off: "
            "`gossamer db copy SOURCE TARGET --resume` goes on with it",
            "empty": f"{self.store} has no tables yet: the first crawl or run makes them",
        }[self.state]


async def form(store: str) -> Form:
    """The form of a store. Raises StoreError if it is no store, or cannot be reached."""
    if not naming.is_postgres(store):
        return await asyncio.to_thread(_sqlite_form, naming.path_of(store))
    db = _database(store)
    connection = await db.connect()
    try:
        with db.spoken():
            return Form(db.shown, await migrations.form_of(connection, db.shown))
    finally:
        await connection.close()


async def upgrade(store: str, told: Callable[[Form], None]) -> Form:
    """Bring a store to the newest form, or make its tables; returns the form it had, which `told` hears before.

    Raises StoreBusy while somebody works on it, StoreTooNew if it is a newer one's.
    """
    if naming.is_postgres(store):
        db = _database(store)
        with db.spoken():
            had = await migrations.upgrade_postgres(store, told=lambda version: told(Form(db.shown, version)))
        return Form(db.shown, had)
    path = naming.path_of(store)
    before = await asyncio.to_thread(_sqlite_form, path)
    migrations.refuse_newer(before.version, path)
    told(before)
    async with SqliteFile(path):  # who opens it to work brings it up to date
        return before


async def differences(store: str) -> list[str]:
    """What is not as the newest form has it: missing tables, columns and indexes, other types. More may be there."""
    if not naming.is_postgres(store):
        return await asyncio.to_thread(_sqlite_differences, naming.path_of(store))
    from sqlalchemy.ext.asyncio import create_async_engine
    from sqlalchemy.pool import NullPool

    db = _database(store)
    engine = create_async_engine("postgresql+asyncpg://", async_creator=db.connect, poolclass=NullPool)
    try:
        with db.spoken():
            async with engine.connect() as connection:
                return await connection.run_sync(_postgres_differences)
    finally:
        await engine.dispose()


def _database(store: str) -> Any:
    with driver():
        from gossamer.storage.copy_postgres import Database
    return Database(store)


@contextmanager
def driver() -> Iterator[None]:
    """Say what to install where PostgreSQL's driver is missing."""
    try:
        yield
    except ImportError as error:
        raise ConfigError(
            f"a postgresql:// store needs {error.name or 'asyncpg'}: pip install 'gossamer[cluster]', or give a path"
        ) from None


# -- SQLite ----------------------------------------------------------------------------------------------------


def _sqlite_form(path: str) -> Form:
    with closing(_opened(path)) as db, spoken(path):
        return Form(path, sqlite_version(db, path))


def _opened(path: str) -> sqlite3.Connection:
    if path == naming.MEMORY or not Path(path).is_file():
        raise StoreError(f"there is no store at {path}: a crawl or a run makes one, or give another path")
    with spoken(path):
        return sqlite3.connect(Path(path).absolute().as_uri() + "?mode=ro", uri=True)


def sqlite_version(db: sqlite3.Connection, path: str) -> str | None:
    """The migration a file is at: None for an empty one, BASE where none was applied yet."""
    found = {str(name) for (name,) in db.execute("select name from sqlite_master where type = 'table'")}
    if not found:
        return None
    row = db.execute("select version_num from alembic_version").fetchone() if "alembic_version" in found else None
    if row is None and found == {"alembic_version"}:
        return migrations.BASE
    if row is None or "request" not in found:
        raise StoreError(f"{path} is the database of another program: give another store")
    return str(row[0])


def _sqlite_differences(path: str) -> list[str]:
    with closing(sqlite3.connect(":memory:")) as made:
        for statement in migrations.head_form():
            made.execute(statement)
        wanted = _words(made)
    with closing(_opened(path)) as db, spoken(path):
        found = _words(db)
        broken = [str(row[0]) for row in db.execute("pragma quick_check(3)") if row[0] != "ok"]
    missing = [f"the {kind} {name} is missing" for (kind, name) in wanted if (kind, name) not in found]
    other = [
        f"the {kind} {name} is not as it should be"
        for (kind, name), words in wanted.items()
        if found.get((kind, name), words) != words
    ]
    return [*missing, *other, *(f"the file is damaged: {told}" for told in broken)]


def _words(db: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """Tables and indexes, as SQLite wrote them down."""
    rows = db.execute("select type, name, sql from sqlite_master where sql is not null order by rowid")
    return {(kind, name): " ".join(sql.split()) for kind, name, sql in rows}


# -- PostgreSQL ------------------------------------------------------------------------------------------------


def _postgres_differences(connection: Any) -> list[str]:
    import sqlalchemy as sa

    from gossamer.storage.schema import RECORD, metadata

    found = sa.inspect(connection)
    there = set(found.get_table_names())
    told: list[str] = []
    for table in metadata.sorted_tables:
        if table.name not in there:
            told.append(f"the table {table.name} is missing")
            continue
        columns = {column["name"]: column for column in found.get_columns(table.name)}
        wanted = {column.name: (_typed(column.type, connection), column.nullable) for column in table.columns}
        if table.name == "item":
            wanted[RECORD] = ("JSONB", True)
        told += _columns_differ(table.name, wanted, columns, connection)
        told += _key_differs(table, found)
        told += _indexes_differ(table, {index["name"]: index for index in found.get_indexes(table.name)})
    return told


def _typed(of: Any, connection: Any) -> str:
    name = str(of.compile(connection.dialect))
    return _SAME.get(name, name)


def _columns_differ(table: str, wanted: dict[str, Any], found: dict[str, Any], connection: Any) -> list[str]:
    told = []
    for name, (typed, nullable) in wanted.items():
        if name not in found:
            told.append(f"the column {table}.{name} is missing")
            continue
        has = _typed(found[name]["type"], connection)
        if has != typed:
            told.append(f"the column {table}.{name} is of the type {has.lower()}, not {typed.lower()}")
        if found[name]["nullable"] != nullable:
            told.append(f"the column {table}.{name} {'must' if nullable else 'must not'} be able to hold nothing")
    strange = [name for name, column in found.items() if name not in wanted and _needed(column)]
    return [*told, *(f"the column {table}.{name} is not ours, and needs a value" for name in strange)]


def _needed(column: Any) -> bool:
    return not column["nullable"] and column.get("default") is None


def _key_differs(table: Any, found: Any) -> list[str]:
    key = [column.name for column in table.primary_key.columns]
    return (
        []
        if found.get_pk_constraint(table.name)["constrained_columns"] == key
        else [f"the primary key of the table {table.name} is not ({', '.join(key)})"]
    )


def _indexes_differ(table: Any, found: dict[str, Any]) -> list[str]:
    told = []
    for index in sorted(table.indexes, key=lambda index: str(index.name)):
        if getattr(index, "_ddl_if", None) is not None and index._ddl_if.dialect != "postgresql":
            continue
        has = found.get(index.name)
        if has is None:
            told.append(f"the index {index.name} is missing")
        elif bool(has["unique"]) != bool(index.unique) or _parts(has) != _wanted_parts(index):
            told.append(f"the index {index.name} is not as it should be")
    return told


def _parts(found: Any) -> tuple[list[str], bool]:
    """What an index is on, and whether only of some rows."""
    names = found.get("expressions") or found["column_names"]
    return [str(name) for name in names], bool(found.get("dialect_options", {}).get("postgresql_where"))


def _wanted_parts(index: Any) -> tuple[list[str], bool]:
    names = [str(getattr(part, "name", None) or part) for part in index.expressions]
    partial = index.dialect_options["postgresql"]["where"] is not None
    return [name.removesuffix(" desc") for name in names], partial


def refuse_unless_newest(found: Form) -> None:
    """Raises StoreError unless a store has the newest form."""
    if found.state == "newer":
        raise StoreTooNew(found.sentence)
    if found.state != "newest":
        raise StoreError(found.sentence)
