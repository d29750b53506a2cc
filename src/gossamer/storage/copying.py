"""Copying a whole store to another database, and seeing that everything arrived."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from gossamer.errors import StoreError
from gossamer.storage import forms, naming
from gossamer.storage.copy_ends import Source, SqliteSource, SqliteTarget, Target
from gossamer.storage.copy_values import Digest, Fitting, Shape, shapes

#: Hears what is being done, how many rows are through, and of how many.
Watch = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What a copy brought over."""

    source: str
    target: str
    #: How many rows each table has, on both sides.
    rows: dict[str, int]
    #: What tells them, on both sides.
    digests: dict[str, str]
    #: Values that could not be kept as they were, by "table.column".
    altered: dict[str, int] = field(default_factory=dict)


async def copy(source: str, target: str, *, resume: bool = False, watch: Watch = lambda *_: None) -> Copied:
    """Copy a store to where none is; `resume` goes on with a copy that broke off.

    Nobody may work on the source meanwhile. Until everything is there and was compared, the target says of itself
    that it is incomplete. Raises StoreError, with the tables that differ if any do.
    """
    if source == target:
        raise StoreError("a store cannot be copied to itself: give another target")
    async with source_of(source) as old, target_of(target) as new:
        journey = _Journey(old, new, watch)
        await new.begin(resume=resume)
        for shape in shapes():
            journey.total += 2 * await old.count(shape)
        before = {shape.name: await journey.copy(shape) for shape in shapes()}
        watch("making the indexes", journey.done, journey.total)
        await new.settle()
        after = {shape.name: await journey.verify(shape) for shape in shapes()}
        _compare(before, after, naming.shown(target))
        await new.finish()
    return Copied(
        source=naming.shown(source),
        target=naming.shown(target),
        rows={name: digest.rows for name, digest in before.items()},
        digests={name: str(digest) for name, digest in before.items()},
        altered=dict(journey.fitting.altered),
    )


class _Journey:
    """One copy on its way."""

    def __init__(self, old: Source, new: Target, watch: Watch) -> None:
        self.old, self.new, self.watch = old, new, watch
        self.fitting = Fitting(alone=new.alone)
        self.done = self.total = 0

    async def copy(self, shape: Shape) -> Digest:
        """Bring a table over; what is there already is only counted in. Returns what tells its rows."""
        digest = Digest()
        # Rows travel in the order of their keys, so that those that have arrived are the first ones.
        arrived = await self.new.count(shape)

        def prepared(rows: list[Any]) -> list[Any]:
            made = self.fitting(shape, rows)
            digest.add(made)
            return made

        async for rows in _ahead(self.old.read(shape), prepared):
            left, arrived = rows[arrived:], max(0, arrived - len(rows))
            if left:
                await self.new.write(shape, left)
            self._tell(f"copying {shape.name}", len(rows))
        return digest

    async def verify(self, shape: Shape) -> Digest:
        """What tells the rows that arrived."""
        digest = Digest()
        async for rows in self.new.read(shape):
            await asyncio.to_thread(digest.add, rows)
            self._tell(f"comparing {shape.name}", len(rows))
        return digest

    def _tell(self, what: str, rows: int) -> None:
        self.done += rows
        self.watch(what, self.done, self.total)


async def _ahead(groups: AsyncIterator[list[Any]], prepared: Callable[[list[Any]], list[Any]]) -> AsyncIterator[Any]:
    """Groups of rows, the next of which is read and prepared while one is written."""

    async def following() -> list[Any] | None:
        rows = await anext(groups, None)
        return None if rows is None else await asyncio.to_thread(prepared, rows)

    coming = asyncio.ensure_future(following())
    try:
        while (rows := await coming) is not None:
            coming = asyncio.ensure_future(following())
            yield rows
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)


def _compare(before: dict[str, Digest], after: dict[str, Digest], shown: str) -> None:
    for name, digest in before.items():
        if digest != after[name]:
            why = (
                f"{digest.rows:,} rows there, {after[name].rows:,} here"
                if digest.rows != after[name].rows
                else f"{digest.rows:,} rows on both sides, with other values"
            )
            raise StoreError(
                f"the copy in {shown} differs from its source in the table {name} ({why}), and stays marked as "
                "incomplete: copy again into an empty database, while nobody works on either"
            )


def source_of(store: str) -> AbstractAsyncContextManager[Source]:
    """A store to copy from. Raises ConfigError."""
    if not naming.is_postgres(store):
        return SqliteSource(naming.path_of(store))
    with forms.driver():
        from gossamer.storage.copy_postgres import PostgresSource
    return PostgresSource(store)


def target_of(store: str) -> AbstractAsyncContextManager[Target]:
    """Where a store is copied to. Raises ConfigError."""
    if not naming.is_postgres(store):
        return SqliteTarget(naming.path_of(store))
    with forms.driver():
        from gossamer.storage.copy_postgres import PostgresTarget
    return PostgresTarget(store)
