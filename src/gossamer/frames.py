"""Items as a data frame, for pandas and polars."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from gossamer import runs, settings
from gossamer.errors import ConfigError, StoreError
from gossamer.library import call
from gossamer.storage import arrow
from gossamer.storage.columns import Columns
from gossamer.storage.records import Choice, Rows, since_of
from gossamer.storage.store import Store

EXTRA = "frames"
ENGINES = ("pandas", "polars")


def to_frame(
    store: str | None = None,
    *,
    run: int | None = None,
    scraper: str | None = None,
    kind: str | None = None,
    since: str | float | datetime | None = None,
    where: str | None = None,
    unique: str | None = None,
    fields: Iterable[str] = (),
    gone: bool = False,
    source: bool = False,
    engine: str = "auto",
    dates: Iterable[str] = (),
) -> Any:
    """The items in a store as a DataFrame, a column for each field, in the order first seen.

    `store` is a path; without it, the one the settings name. `where` is a filter such as "price > 10", `since` an age
    such as "1d" or a time; of items that say the same in the field `unique`, the first seen is kept. `dates` are fields
    whose texts become times, in UTC; what is no date becomes null there. With `source`, columns tell where items come
    from. `engine` is "pandas", "polars", or "auto" for the one that is installed. Raises ConfigError if it is not,
    StoreError if there is no store.
    """
    library = _engine(engine)
    choice = Choice(
        run=run,
        scraper=scraper,
        kind=kind,
        since=since_of(since),
        where=where,
        unique=unique,
        fields=_names("fields", fields),
        gone=gone,
        source=source,
    )
    path = settings.read({"store": store} if store else {}, prefix="").place.store
    wanted = _names("dates", dates)

    async def read() -> Any:
        async with runs.open_store(path) as opened:
            return await _table(opened, choice, wanted)

    table = call(read)
    return _pandas(library, table) if library.__name__ == "pandas" else library.from_arrow(table)


def _names(what: str, given: Iterable[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise ConfigError(f"{what} are names in a list: write {what}=[{given!r}]")
    return tuple(given)


def _engine(engine: str) -> Any:
    """The library that frames are made with. Raises ConfigError if it is not installed, or unknown."""
    if engine not in ("auto", *ENGINES):
        raise ConfigError(f"engine {engine!r} is not known: write 'pandas', 'polars' or 'auto'")
    arrow.library("pyarrow", EXTRA)
    if engine != "auto":
        return arrow.library(engine, EXTRA)
    for name in ENGINES:
        try:
            return arrow.library(name, EXTRA)
        except ConfigError:
            continue
    raise ConfigError(f"this needs pandas or polars, and neither is installed: pip install 'gossamer[{EXTRA}]'")


async def _table(store: Store, choice: Choice, dates: tuple[str, ...]) -> Any:
    """The items as one Arrow table, whose batches are made as they are read."""
    import pyarrow

    rows = Rows(store, choice, await store.item_cursor())
    columns = Columns(choice.fields, choice.times | set(dates))
    await arrow.learned(rows, columns)
    unknown = [name for name in dates if name not in columns.names()]
    if unknown and rows.seen:
        there = ", ".join(columns.names()[:20]) or "none"
        raise ConfigError(f"no item has a field {unknown[0]!r} to read dates from: there are {there}")
    for _ in range(arrow.TRIES):
        table = arrow.Table(columns.shape())
        try:
            batches = [table.batch(records) async for records in arrow.checked(rows, columns)]
        except arrow.Widened as found:
            columns.learn(found.records)
            continue
        return pyarrow.Table.from_batches(batches, table.schema)
    raise StoreError("the items in the store change faster than they can be read: try again later")


def _pandas(pandas: Any, table: Any) -> Any:
    """An Arrow table as pandas has it: whole numbers and booleans stay such beside nulls, lists and structs too."""
    import pyarrow

    names = table.column_names
    columns = table.columns
    del table
    made = {}
    nullable = {pyarrow.int64(): pandas.Int64Dtype(), pyarrow.bool_(): pandas.BooleanDtype()}
    for name in names:
        column = columns.pop(0)  # and its memory with it
        if pyarrow.types.is_nested(column.type):
            made[name] = pandas.Series(column.to_pylist(), dtype=object)
        else:
            made[name] = column.to_pandas(types_mapper=nullable.get if column.null_count else None)
    return pandas.DataFrame(made, columns=names, copy=False)
