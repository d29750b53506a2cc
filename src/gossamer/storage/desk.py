"""The desk: short statements on a store beside whoever walks its runs.

Schedules, people, alerts, logs and lists are rows that are read and written rarely, by any number of processes.
Their statements are written once, in SQL that every store understands (`:name` for values, no JSON functions), and
sent through a Desk. What one process does at a speed that matters, it does as a `Store`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

Row = tuple[Any, ...]


class Writing(Protocol):
    """A transaction. Nobody else writes meanwhile, not even a crawl: nothing but statements belongs in it."""

    async def run(self, statement: str, /, **names: Any) -> int:
        """Run a statement; returns how many rows it changed."""

    async def many(self, statement: str, rows: Sequence[Mapping[str, Any]], /) -> None:
        """Run a statement for each of many rows."""

    async def rows(self, statement: str, /, **names: Any) -> list[Row]:
        """Every row of a statement, which may also write (`returning`)."""

    async def row(self, statement: str, /, **names: Any) -> Row | None:
        """The first row."""


class Desk(Protocol):
    """Short statements on a store. Raises StoreError, in a sentence, whatever goes wrong."""

    async def rows(self, statement: str, /, **names: Any) -> list[Row]:
        """Every row of a statement that only reads. To be limited by its `limit`."""

    async def row(self, statement: str, /, **names: Any) -> Row | None:
        """The first row."""

    def writing(self) -> AbstractAsyncContextManager[Writing]:
        """Begin a transaction: written when it is left, unless by an exception."""
