"""The store that a test is about: a SQLite file, or a PostgreSQL database in its place.

Tests say `at(tmp_path / "store.db")` and get what fits the kind under test; the same path is the same store.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from gossamer.storage import opening
from gossamer.storage.desk import Desk
from tests import databases

T = TypeVar("T")

SQLITE, POSTGRES = "sqlite", "postgres"
KINDS = (SQLITE, POSTGRES)
#: What tests run on that do not say it themselves.
USUAL = os.environ.get("GOSSAMER_TEST_STORE", SQLITE)

_now = USUAL
_made: dict[str, str] = {}


def choose(kind: str) -> None:
    """Have `at` give stores of this kind from now on."""
    global _now
    _now = kind


def is_postgres() -> bool:
    """Whether the test is about PostgreSQL."""
    return _now == POSTGRES


def at(path: Path | str) -> str:
    """The store at a path, or the database that stands for it."""
    if "://" in str(path) or _now == SQLITE:
        return str(path)
    place = str(Path(path).absolute())
    if place not in _made:
        _made[place] = databases.postgres_url()
    return _made[place]


def aside(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Do something on a loop of its own, whether or not one is running here."""
    found: list[T] = []
    failed: list[BaseException] = []

    def call() -> None:
        try:
            found.append(asyncio.run(work()))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]


def at_desk(path: Path | str, work: Callable[[Desk], Coroutine[Any, Any, T]]) -> T:
    """Do something at the desk of a store, as another process does."""

    async def main() -> T:
        async with opening.desk(at(path)) as desk:
            return await work(desk)

    return aside(main)


def rows(path: Path | str, statement: str, **names: Any) -> list[tuple[Any, ...]]:
    """Rows of a store."""
    return at_desk(path, lambda desk: desk.rows(statement, **names))


def write(path: Path | str, statement: str, many: Sequence[Mapping[str, Any]] = ({},)) -> None:
    """Change a store behind everybody's back."""

    async def do(desk: Desk) -> None:
        async with desk.writing() as writing:
            await writing.many(statement, many)

    at_desk(path, do)


def kept(path: Path | str) -> bytes:
    """Everything that a store has on its disk."""
    store = at(path)
    if not opening.is_postgres(store):
        return b"".join(each.read_bytes() for each in Path(store).parent.glob(f"{Path(store).name}*") if each.is_file())

    async def read(desk: Desk) -> bytes:
        tables = await desk.rows("select cast(tablename as text) from pg_tables where schemaname = current_schema()")
        found = []
        for (table,) in tables:
            found += await desk.rows(f'select cast(t as text) from "{table}" as t')
        return "\n".join(text for (text,) in found).encode()

    return at_desk(store, read)
