"""Bring a store's tables to the present form. Costs nothing when they already have it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer.errors import StoreBusy, StoreError, StoreTooNew
from gossamer.storage import naming

if TYPE_CHECKING:
    import asyncpg
    from sqlalchemy.ext.asyncio import AsyncConnection

#: Where the migrations are.
SCRIPTS = Path(__file__).parent

#: The state before the first migration.
BASE = ""

#: The newest migration. A test holds it against the scripts in `versions`.
HEAD = "0005"

#: Every migration there is, so that a newer store is told from an older one without loading Alembic.
REVISIONS = ("0001", "0002", "0003", "0004", HEAD)

#: What a PostgreSQL database says instead while a store is copied into it.
COPYING = "copying"

#: What processes that would change the tables of one PostgreSQL database take turns by.
TURN = "select pg_advisory_xact_lock(7362, 0)"

_VISIBLE = "select relname from pg_class where relname = any($1::text[]) and pg_table_is_visible(oid)"
_VERSION = "select version_num from alembic_version"
_WALKED = (
    "select run_id, owner from lease where owner is not null and until > extract(epoch from clock_timestamp()) limit 1"
)


def head_form() -> list[str]:
    """The statements that make an empty SQLite file a store in its present form.

    The same as applying every migration; a test holds them equal, and `make schema` writes them anew.
    """
    text = (SCRIPTS / "head.sql").read_text("utf-8")
    return [statement.strip() for statement in text.split(";\n") if statement.strip()]


@cache
def tables() -> frozenset[str]:
    """The names of a store's tables, Alembic's own left out."""
    return frozenset(re.findall(r'CREATE TABLE "?(\w+)', "\n".join(head_form()))) - {"alembic_version"}


def upgrade(connection: Any, to: str = "head") -> None:
    """Apply what is missing, on a SQLAlchemy connection, in the caller's transaction."""
    # Half a second to import: only a new or outdated store pays it.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, to)


# -- PostgreSQL ------------------------------------------------------------------------------------------------


async def form_of(db: asyncpg.Connection[Any], shown: str) -> str | None:
    """The migration a PostgreSQL database is at: None if nothing of ours is in it, BASE where none was applied yet.

    `shown` is what to call it. Raises StoreError if it has tables of our names that are not ours, or is not in UTF-8.
    """
    encoding = await db.fetchval("show server_encoding")
    if encoding != "UTF8":
        raise StoreError(
            f"{shown} keeps text as {encoding}, which has no room for most of the world's letters: "
            "make another database (createdb -E UTF8 -T template0 NAME)"
        )
    wanted = ["alembic_version", *sorted(tables())]
    found = {str(row[0]) for row in await db.fetch(_VISIBLE, wanted)}
    if not found:
        return None
    row = await db.fetchrow(_VERSION) if "alembic_version" in found else None
    if row is None and found == {"alembic_version"}:
        return BASE
    if row is None or "request" not in found:
        raise StoreError(
            f"{shown} has tables of another program ({', '.join(sorted(found)[:3])}): give another database, "
            "or a schema of its own by ?search_path=NAME"
        )
    return str(row[0])


def refuse_newer(version: str | None, shown: str) -> None:
    """Raises StoreTooNew for a form that this Gossamer does not know, StoreError for a copy that is not whole."""
    if version == COPYING:
        raise StoreError(
            f"a copy into {shown} is going on or broke off: `gossamer db copy SOURCE TARGET --resume` goes on with it"
        )
    if version not in (None, BASE, *REVISIONS):
        raise StoreTooNew(
            f"the store {shown} was written by a newer Gossamer (form {version}, "
            f"this one knows up to {HEAD}): upgrade Gossamer, or give another store"
        )


async def upgrade_postgres(url: str, *, to: str = HEAD, told: Callable[[str | None], None] | None = None) -> str | None:
    """Bring a PostgreSQL database to the present form, in one transaction; returns the form it had.

    Several processes may do it at once: the first one works, the others wait and find nothing to do. `told` hears
    the form it has before anything is changed. Raises StoreBusy while a run is being walked, for its tables change
    under it; errors of the database are raised as they come.
    """
    import asyncpg
    from sqlalchemy import text
    from sqlalchemy.ext.asyncio import create_async_engine
    from sqlalchemy.pool import NullPool

    async def connect() -> Any:
        # Nothing is prepared for later: the tables that it was prepared for change.
        return await asyncpg.connect(url, statement_cache_size=0)

    shown = naming.shown(url)
    engine = create_async_engine(
        "postgresql+asyncpg://?prepared_statement_cache_size=0", async_creator=connect, poolclass=NullPool
    )
    try:
        async with engine.begin() as connection:
            await connection.execute(text(TURN))
            before = await _form_before(connection, shown)
            if told is not None:
                told(before)
            if before != to:
                await connection.run_sync(upgrade, to)
            return before
    finally:
        await engine.dispose()


async def _form_before(connection: AsyncConnection, shown: str) -> str | None:
    """The form that is to be changed; raises if it must not be."""
    raw = (await connection.get_raw_connection()).driver_connection
    assert raw is not None
    version = await form_of(raw, shown)
    refuse_newer(version, shown)
    if await raw.fetchval("select current_schema()") is None:
        raise StoreError(f"none of the schemas that {shown} looks in exists: `create schema NAME` in it makes one")
    if version not in (None, BASE, HEAD):
        await refuse_walked(raw, shown)
    return version


async def refuse_walked(db: asyncpg.Connection[Any], shown: str) -> None:
    """Raises StoreBusy while a run is being walked."""
    walked = await db.fetchrow(_WALKED)
    if walked is not None:
        raise StoreBusy(
            f"run {walked[0]} of the store {shown} is being walked by {walked[1]}: stop the workers and services "
            "on it first, runs go on afterwards where they were"
        )
