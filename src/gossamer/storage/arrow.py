"""Records as Arrow batches: what Parquet files and data frames are made of."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from gossamer.errors import ConfigError
from gossamer.storage.columns import Columns, Form, Shape
from gossamer.storage.records import GONE, PAGE_COLUMNS, Rows

#: Records that become one batch.
BATCH = 2_000
#: How often what was learned may turn out too narrow, because the store changed meanwhile.
TRIES = 8

Convert = Callable[[Any], Any]

_encode = msgspec.json.Encoder().encode


class Widened(Exception):
    """Records came that do not fit what was learned from an earlier reading."""

    def __init__(self, records: Sequence[dict[str, Any]]) -> None:
        super().__init__()
        #: What has to be learned.
        self.records = records


def library(name: str, extra: str) -> Any:
    """A library of an extra. Raises ConfigError if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise ConfigError(f"this needs {package}, which is not installed: pip install 'gossamer[{extra}]'") from None


# -- learning --------------------------------------------------------------------------------------------------


def known_columns(rows: Rows) -> Columns:
    """The columns as far as they are known before anything is read."""
    choice = rows.choice
    times = choice.times
    if choice.what == "pages":
        columns = Columns(choice.fields or PAGE_COLUMNS, times)
        # What every page has is known; a path into it leads nowhere.
        columns.learn([{name: _EXAMPLES[PAGE_COLUMNS[name]] for name in columns.names() if name in PAGE_COLUMNS}])
        return columns
    return Columns(choice.fields, times)


_EXAMPLES: dict[type, Any] = {int: 0, str: "", float: 0.5}


async def learned(rows: Rows, columns: Columns) -> None:
    """Read everything once to learn what the columns are. Those of pages are known."""
    if rows.choice.what == "items":
        async for group in rows.groups():
            columns.learn(group.records)
    if rows.choice.marks:
        columns.add(GONE)


async def checked(rows: Rows, columns: Columns) -> AsyncIterator[list[dict[str, Any]]]:
    """Read everything again, in groups. Raises Widened if the store changed so that records no longer fit."""
    async for group in rows.groups():
        if group.late:
            before = columns.shape()
            columns.learn(group.late)
            if columns.shape() != before:
                raise Widened(group.late)
        yield group.records


# -- batches ---------------------------------------------------------------------------------------------------


class Table:
    """A table's schema, and the way records take into it."""

    def __init__(self, shape: Shape) -> None:
        self._pa = library("pyarrow", "parquet")
        self.schema: Any = self._pa.schema([_field(self._pa, name, each) for name, each in shape.fields])
        self._columns = [(name, _type(self._pa, each), _convert(each)) for name, each in shape.fields]

    def batch(self, records: Sequence[dict[str, Any]]) -> Any:
        """Records as one RecordBatch. Raises Widened if they do not fit."""
        try:
            arrays = [self._array(records, *column) for column in self._columns]
        except (self._pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise Widened(records) from error
        return self._pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _array(self, records: Sequence[dict[str, Any]], name: str, type_: Any, convert: Convert | None) -> Any:
        values = [record.get(name) for record in records]
        return self._pa.array(values if convert is None else list(map(convert, values)), type_)


def _type(pa: Any, shape: Shape) -> Any:
    match shape.form:
        case Form.BOOL:
            return pa.bool_()
        case Form.INT:
            return pa.int64()
        case Form.FLOAT:
            return pa.float64()
        case Form.TIME:
            return pa.timestamp("us", tz="UTC")
        case Form.LIST:
            assert shape.element is not None
            return pa.list_(_field(pa, "element", shape.element))
        case Form.STRUCT:
            return pa.struct([_field(pa, name, each) for name, each in shape.fields])
        case _:
            return pa.string()


def _field(pa: Any, name: str, shape: Shape) -> Any:
    # Whoever reads the table may want to know which texts are JSON.
    return pa.field(name, _type(pa, shape), metadata={"gossamer": "json"} if shape.form == Form.JSON else None)


def _convert(shape: Shape) -> Convert | None:
    """What makes of a value what Arrow takes; None if it takes it as it is."""
    match shape.form:
        case Form.JSON:
            return lambda value: None if value is None else _encode(value).decode()
        case Form.TIME:
            return moment
        case Form.LIST:
            assert shape.element is not None
            inner = _convert(shape.element)
            return inner and (lambda values: None if values is None else [inner(value) for value in values])
        case Form.STRUCT:
            inners = {name: found for name, each in shape.fields if (found := _convert(each)) is not None}
            return _struct(inners) if inners else None
        case _:
            return None


def _struct(inners: dict[str, Convert]) -> Convert:
    def convert(value: Any) -> Any:
        if value is None:
            return None
        return value | {name: inner(value[name]) for name, inner in inners.items() if name in value}

    return convert


def moment(value: Any) -> datetime | None:
    """The moment that a text or a number of seconds tells of, in UTC; None if it tells of none."""
    made = _parsed(value) if isinstance(value, str) else None
    if made is None and value is not None:
        from gossamer.parse import dates

        made = _parsed(dates.moment(value))
    return made.replace(tzinfo=UTC) if made is not None and made.tzinfo is None else made


def _parsed(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
