"""A store in PostgreSQL: whether it lets us in, is of the present form, keeps our time, and may be written."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer import terminal
from gossamer.doctor import store as files
from gossamer.doctor.finding import Area, Finding, told
from gossamer.errors import ConfigError, GossamerError
from gossamer.storage import naming, opening
from gossamer.storage.migrations import upgrade as migrations

if TYPE_CHECKING:
    import asyncpg

_area = Area("store")

#: Seconds that the server may take to answer.
DEADLINE = 8.0
#: The oldest PostgreSQL that all of this was tried on.
OLDEST = 15
#: Seconds by which the clocks may differ; and by which leases cannot be trusted any more.
SKEW, LARGE_SKEW = 2.0, 15.0
#: Connections that should be left for us.
ROOM = 20

_SERVER = """
select current_setting('server_version_num')::int, current_setting('server_version'), pg_is_in_recovery(),
    pg_encoding_to_char(encoding), extract(epoch from clock_timestamp())::float8,
    pg_database_size(datname)::bigint, current_setting('max_connections')::int,
    (select count(*) from pg_stat_activity), current_user, current_schema(),
    coalesce(has_schema_privilege(current_schema(), 'create'), false)
from pg_database where datname = current_database()
"""
_TABLES = "select array_agg(tablename::text) from pg_tables where schemaname = current_schema()"
_VERSION = "select max(version_num) from alembic_version"
_CLOSED = """
select min(tablename::text) from pg_tables, unnest(array['select', 'insert', 'update', 'delete']) as deed
where schemaname = current_schema() and not has_table_privilege(format('%I.%I', schemaname, tablename), deed)
"""
_NEWEST = """
select greatest((select max(coalesce(ended, created)) from run), (select max(last_hit) from source))
"""


async def look(store: str, *, offline: bool) -> list[Finding]:
    """The database of a store, and the disk that pages and logs of this machine are put on."""
    found = list(files.disk(Path.cwd()))
    if offline:
        return [*found, _area.ok("database", f"{naming.shown(store)} was not tried")]
    return [*found, *await _asked(store)]


async def newest(store: str) -> float | None:
    """The newest moment that a store remembers; None if it remembers none, or cannot be asked."""
    try:
        async with asyncio.timeout(DEADLINE), opening.looking(store) as desk:
            row = await desk.row(_NEWEST)
    except (GossamerError, TimeoutError):
        return None
    return None if row is None else row[0]


async def _asked(store: str) -> list[Finding]:
    try:
        db = await _connected(store)
    except ConfigError as why:
        return [_area.problem("database", str(why), "pip install 'gossamer[cluster]'")]
    except GossamerError as why:
        said, _, fix = str(why).rpartition(": ")
        return [_area.problem("database", said, fix)]
    try:
        before = time.time()
        server = await db.fetchrow(_SERVER)
        after = time.time()
        tables = set(await db.fetchval(_TABLES) or ())
        version = await db.fetchval(_VERSION) if "alembic_version" in tables else None
        closed = await db.fetchval(_CLOSED)
    except Exception as error:  # noqa: BLE001 - whatever the server says is what there is to tell
        return [_area.problem("database", f"{naming.shown(store)} cannot be asked: {told(error)}", "see to the server")]
    finally:
        db.terminate()
    return [
        _age(store, server),
        _form(tables, version),
        _rights(server, closed),
        _clock(server[4], before, after),
        _room(server),
    ]


async def _connected(store: str) -> asyncpg.Connection:
    """A connection, made as the store makes its own. Raises GossamerError in its words."""
    desk: Any = opening.looking(store)  # raises ConfigError where the driver is missing
    from gossamer.storage.postgres_pool import FAILURES

    try:
        async with asyncio.timeout(DEADLINE):
            made: asyncpg.Connection = await desk._connect()
            return made
    except (*FAILURES, ValueError) as error:
        raise desk._spoken(error) from error


def _age(store: str, server: Any) -> Finding:
    number, name, asleep, encoding, _, size, *_ = server
    place = f"PostgreSQL {name} lets us in at {naming.shown(store)}, which has {terminal.size(size)}"
    if number < OLDEST * 10_000:
        return _area.problem("database", place, f"upgrade it: {OLDEST} is the oldest that all of this was tried on")
    if encoding != "UTF8":
        return _area.problem("database", f"{place}, in {encoding}", "make another: createdb -E UTF8 -T template0 NAME")
    if asleep:
        return _area.problem("database", f"{place}, and can only be read: it is a standby", "give the one it copies")
    return _area.ok("database", place)


def _form(tables: set[str], version: str | None) -> Finding:
    if not tables:
        return _area.ok("form", "empty; the first run makes its tables")
    if version is None and tables != {"alembic_version"}:
        return _area.problem("form", "it has tables of another program", "create a database for Gossamer alone")
    if version == migrations.HEAD:
        return _area.ok("form", f"{version}, the newest")
    if version is None or version in migrations.REVISIONS:
        return _area.problem(
            "form",
            f"{version or 'none'}, and this Gossamer writes {migrations.HEAD}",
            "back it up (pg_dump), then: gossamer db upgrade",
        )
    return _area.problem(
        "form",
        f"{version}, written by a newer Gossamer; this one knows up to {migrations.HEAD}",
        "upgrade: pip install --upgrade gossamer",
    )


def _rights(server: Any, closed: str | None) -> Finding:
    user, schema, may_create = server[8:11]
    if schema is None:
        return _area.problem("rights", f"{user} sees no schema of it", "create the schema that search_path names")
    if closed is not None:
        return _area.problem(
            "rights",
            f"{user} may not read and write the table {closed}",
            f"let the owner of the tables be {user}, or: grant all on all tables in schema {schema} to {user}",
        )
    if not may_create:
        return _area.warning(
            "rights",
            f"{user} may read and write, but make no tables in {schema}",
            f"grant create on schema {schema} to {user}: the next upgrade needs it",
        )
    return _area.ok("rights", f"{user} may read, write and make tables")


def _clock(there: float, before: float, after: float) -> Finding:
    """Our clock beside the server's, as far as the way there lets us tell."""
    apart = max(before - there, there - after, 0.0)
    text = f"the clocks of this machine and the database are {apart:.1f} s apart"
    if apart > LARGE_SKEW:
        return _area.problem("clock", text, "set both by NTP: leases, schedules and paces rest on them")
    if apart > SKEW:
        return _area.warning("clock", text, "set both by NTP")
    return _area.ok("clock", text)


def _room(server: Any) -> Finding:
    most, used = server[6:8]
    text = f"{used} of {most} connections are in use"
    if most - used < ROOM:
        return _area.warning("connections", text, "raise its max_connections, or lower pool_size")
    return _area.ok("connections", text)
