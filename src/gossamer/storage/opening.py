"""Opening a store, whatever kind it is of: to work on it, to read it, or to sit at its desk.

Who names a store's class anywhere else ties it to one kind.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path

from gossamer.errors import ConfigError
from gossamer.storage.archive import archive_of
from gossamer.storage.desk import Desk, Reading
from gossamer.storage.naming import MEMORY, beside, is_postgres, path_of, shown
from gossamer.storage.seat import FileSeat, Seat
from gossamer.storage.sqlite import SqliteStore
from gossamer.storage.sqlite_desk import SqliteDesk, SqliteReader
from gossamer.storage.store import Store

__all__ = [
    "MEMORY",
    "archive",
    "beside",
    "desk",
    "exists",
    "is_postgres",
    "lasting",
    "looking",
    "reading",
    "seat",
    "shown",
    "working",
]

#: Connections of one process to a PostgreSQL store, where nobody said how many.
MOST = 8


def working(store: str, *, most: int = MOST) -> AbstractAsyncContextManager[Store]:
    """A store to work on. Raises ConfigError if it cannot be one."""
    if not is_postgres(store):
        return SqliteStore(path_of(store))
    _want_driver()
    from gossamer.storage.postgres import PostgresStore

    return PostgresStore(store, most=most)


def reading(store: str) -> AbstractAsyncContextManager[Store]:
    """A store that is only looked at, whoever works on it."""
    if not is_postgres(store):
        return SqliteStore(path_of(store), owner=False)
    _want_driver()
    from gossamer.storage.postgres import PostgresStore

    return PostgresStore(store, owner=False)


def desk(store: str) -> AbstractAsyncContextManager[Desk]:
    """The desk of a store, beside whoever works on it."""
    if not is_postgres(store):
        return SqliteDesk(path_of(store))
    _want_driver()
    from gossamer.storage.postgres_desk import PostgresDesk

    return PostgresDesk(store)


def looking(store: str) -> AbstractAsyncContextManager[Reading]:
    """The desk of a store for somebody who changes nothing there."""
    if not is_postgres(store):
        return SqliteReader(path_of(store))
    _want_driver()
    from gossamer.storage.postgres_desk import PostgresDesk

    return PostgresDesk(store, owner=False)


def seat(store: str) -> AbstractAsyncContextManager[Seat]:
    """The seat of whoever walks a store's runs for a service. Entering it raises StoreBusy if it is taken."""
    if not is_postgres(store):
        return FileSeat()
    _want_driver()
    from gossamer.storage.postgres_seat import PostgresSeat

    return PostgresSeat(store)


def lasting(store: str) -> bool:
    """Whether a store is still there when it was closed."""
    return is_postgres(store) or path_of(store) != MEMORY


def exists(store: str) -> bool:
    """Whether a store may be there: of a database, only who opens it finds out."""
    return is_postgres(store) or (lasting(store) and Path(path_of(store)).exists())


def archive(store: str) -> str:
    """The file that pages of a store are kept in, on this machine. Raises ConfigError for a store in memory."""
    if not lasting(store):
        raise ConfigError("a store in memory has no archive: give the path of one")
    return archive_of(beside(store, ""))


def _want_driver() -> None:
    try:
        import asyncpg  # noqa: F401
    except ImportError:
        raise ConfigError(
            "a postgresql:// store needs the driver asyncpg: pip install 'gossamer[cluster]', or give a path"
        ) from None
