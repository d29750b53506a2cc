"""The desk: short statements on a store beside whoever walks its runs.

Schedules, people, alerts, logs and lists are rows that are read and written rarely, by any number of processes.
Their statements are written once, in SQL that every store understands (`:name` for values, no JSON functions), and
sent through a Desk. What one process does at a speed that matters, it does as a `Store`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import msgspec

Row = tuple[Any, ...]


class Dialect(msgspec.Struct, frozen=True):
    """Where stores do not understand the same SQL: words to put into a statement, most of them empty for SQLite."""

    #: At the end of a `select` in a transaction: whoever walks runs cannot change these rows before it ends.
    locked: str = ""
    #: Behind a text that is compared: by its bytes, whatever language the database is of.
    bytewise: str = ""
    #: Whether several processes may work on the store at the same time. Of a SQLite file there is one at most.
    shared: bool = False


SQLITE = Dialect()
POSTGRES = Dialect(locked=" for update", bytewise=' collate "C"', shared=True)


class Writing(Protocol):
    """A transaction. No other desk writes meanwhile, and in a file not even a crawl: only statements belong in it."""

    @property
    def dialect(self) -> Dialect:
        """The store's SQL."""

    async def run(self, statement: str, /, **names: Any) -> int:
        """Run a statement; returns how many rows it changed."""

    async def many(self, statement: str, rows: Sequence[Mapping[str, Any]], /) -> None:
        """Run a statement for each of many rows."""

    async def rows(self, statement: str, /, **names: Any) -> list[Row]:
        """Every row of a statement, which may also write (`returning`)."""

    async def row(self, statement: str, /, **names: Any) -> Row | None:
        """The first row."""


class Reading(Protocol):
    """Short statements that only read. Raises StoreError, in a sentence, whatever goes wrong."""

    @property
    def dialect(self) -> Dialect:
        """The store's SQL."""

    async def rows(self, statement: str, /, **names: Any) -> list[Row]:
        """Every row of a statement that only reads. To be limited by its `limit`."""

    async def row(self, statement: str, /, **names: Any) -> Row | None:
        """The first row."""


class Desk(Reading, Protocol):
    """Short statements on a store. Raises StoreError, in a sentence, whatever goes wrong."""

    def writing(self) -> AbstractAsyncContextManager[Writing]:
        """Begin a transaction: written when it is left, unless by an exception."""
