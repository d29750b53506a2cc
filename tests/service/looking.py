"""What tests of lists share: a store with a desk that stays open, and every row of a list, page by page."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Self, TypeVar

from gossamer.lists import Listing
from gossamer.storage import opening
from gossamer.storage.desk import Desk
from tests import stores

T = TypeVar("T")


class Looking:
    """A desk on a store, and a loop to use it on: tests stay plain functions."""

    def __init__(self, path: Path, kind: Callable[[str], AbstractAsyncContextManager[Any]] = opening.desk) -> None:
        self.path = path
        self.store = stores.at(path)
        self._runner = asyncio.Runner()
        self._open = kind(self.store)
        self.desk: Any = self.wait(self._entered())

    async def _entered(self) -> Desk:
        entered: Desk = await self._open.__aenter__()
        return entered

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wait(self._left())
        self._runner.close()

    async def _left(self) -> None:
        await self._open.__aexit__(None, None, None)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something, and give what came of it."""
        return self._runner.run(work)

    def write(self, statement: str, rows: list[dict[str, Any]] | None = None) -> None:
        """Write rows, as another process does."""
        if stores.is_postgres():
            stores.write(self.path, statement, rows if rows is not None else [{}])
            return
        db = sqlite3.connect(self.path)
        with db:
            db.executemany(statement, rows if rows is not None else [{}])
        db.close()

    def insert(self, table: str, *rows: dict[str, Any]) -> None:
        """Write rows of a table, each a mapping of the same columns."""
        names = list(rows[0])
        slots = ", ".join(f":{name}" for name in names)
        columns = ", ".join(f'"{name}"' for name in names)
        self.write(f"insert into {table} ({columns}) values ({slots})", list(rows))

    def all_pages(
        self,
        listing: Callable[..., Coroutine[Any, Any, Listing[T]]],
        between: Callable[[], None] | None = None,
        **filters: Any,
    ) -> list[T]:
        """Every row of a list, page by page; `between` is called after each page."""
        found: list[T] = []
        cursor = None
        for _ in range(10_000):
            page = self.wait(listing(self.desk, **filters, cursor=cursor))
            assert len(page.rows) <= filters.get("limit", 50)
            found += page.rows
            if page.next is None:
                return found
            assert page.next != cursor
            cursor = page.next
            if between is not None:
                between()
        raise AssertionError("a list without an end")
