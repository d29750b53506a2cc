"""Rows on their way from one store to another: made to fit their columns, and told by a digest."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import msgspec
import sqlalchemy as sa

from gossamer import urls
from gossamer.errors import StoreError
from gossamer.storage import rows as stored
from gossamer.storage.schema import metadata

Rows = list[tuple[Any, ...]]

#: Of processes that are no more: they have no place in another store.
LEFT_OUT = frozenset({"worker"})
#: What becomes of a lease on the way: nobody holds it.
_UNHELD: dict[str, Any] = {"owner": None, "until": 0.0, "ticket_at": None, "crashes": 0, "rest_until": 0.0}

_INT = (-(2**31), 2**31 - 1)
_BIG = (-(2**63), 2**63 - 1)
_NOTHING = type(None)
_encode = msgspec.msgpack.Encoder().encode


@dataclass(frozen=True, slots=True)
class Shape:
    """A table, as far as copying it goes."""

    name: str
    columns: tuple[str, ...]
    #: What each column holds: "text", "int", "big", "float" or "bytes".
    kinds: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def numbered(self) -> bool:
        """Whether the database numbers its rows."""
        return self.key == ("id",)


@cache
def shapes() -> tuple[Shape, ...]:
    """Every table that is copied, those that others refer to first."""
    return tuple(_shape(table) for table in metadata.sorted_tables if table.name not in LEFT_OUT)


def _shape(table: sa.Table) -> Shape:
    columns = tuple(table.columns)
    key = tuple(column.name for column in table.primary_key.columns)
    return Shape(table.name, tuple(c.name for c in columns), tuple(_kind(c.type) for c in columns), key)


def _kind(of: Any) -> str:
    kinds = {sa.BigInteger: "big", sa.Integer: "int", sa.Float: "float", sa.Text: "text", sa.LargeBinary: "bytes"}
    return next(kind for known, kind in kinds.items() if isinstance(of, known))


# -- fitting ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Fitting:
    """Makes rows what every store keeps; remembers what it had to alter."""

    #: Whether the new store is one that only one process can walk.
    alone: bool = False
    #: How many values of "table.column" could not be kept as they were.
    altered: Counter[str] = field(default_factory=Counter)

    def __call__(self, shape: Shape, rows: Sequence[Sequence[Any]]) -> Rows:
        """Rows as they are in the new store."""
        if not rows:
            return []
        columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
        for at, (name, kind) in enumerate(zip(shape.columns, shape.kinds, strict=True)):
            if not _fits(kind, columns[at]):
                columns[at] = self._fitted(f"{shape.name}.{name}", kind, columns[at])
        self._as_new(shape, columns)
        return list(zip(*columns, strict=True))

    def _fitted(self, place: str, kind: str, column: Sequence[Any]) -> list[Any]:
        made = [None if value is None else _FIT[kind](value, place) for value in column]
        self.altered[place] += sum(1 for old, new in zip(column, made, strict=True) if not _same(old, new))
        if not self.altered[place]:
            del self.altered[place]
        return made

    def _as_new(self, shape: Shape, columns: list[Sequence[Any]]) -> None:
        """What another store must not take over as it was."""
        if shape.name == "request":
            # The hosts of a shard are reckoned as they are today.
            columns[shape.columns.index("shard")] = [urls.shard(host) for host in columns[shape.columns.index("host")]]
        if shape.name == "run" and self.alone:
            columns[shape.columns.index("cluster")] = [0] * len(columns[0])
        if shape.name == "lease":
            for name, value in _UNHELD.items():
                columns[shape.columns.index(name)] = [value] * len(columns[0])


def _fits(kind: str, column: Sequence[Any]) -> bool:
    """Whether a column needs no work: nearly all of them."""
    found = set(map(type, column)) - {_NOTHING}
    if not found:
        return True
    if kind == "text":
        return found == {str} and _keeps("".join([text for text in column if text is not None]))
    if kind in ("int", "big"):
        low, high = _INT if kind == "int" else _BIG
        return found == {int} and all(low <= n <= high for n in column if n is not None)
    return found == {float if kind == "float" else bytes}


def _keeps(text: str) -> bool:
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(value: Any, place: str) -> str:
    if isinstance(value, bytes | bytearray):
        value = value.decode("utf-8", "replace")
    return str(stored.storable(value if isinstance(value, str) else str(value)))


def _whole(low: int, high: int) -> Callable[[Any, str], int]:
    def number(value: Any, place: str) -> int:
        return max(low, min(high, round(_number(value, place))))

    return number


def _float(value: Any, place: str) -> float:
    return float(_number(value, place))


def _number(value: Any, place: str) -> float | int:
    try:
        found: float | int = value if isinstance(value, int | float) else float(value)
    except (TypeError, ValueError):
        found = math.nan
    if math.isnan(found) or (math.isinf(found) and not isinstance(value, float)):
        raise StoreError(f"{place} holds {str(value)[:40]!r}, which is no number: mend it there, then copy again")
    return found


def _bytes(value: Any, place: str) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


_FIT: dict[str, Callable[[Any, str], Any]] = {
    "text": _text,
    "int": _whole(*_INT),
    "big": _whole(*_BIG),
    "float": _float,
    "bytes": _bytes,
}


def _same(old: Any, new: Any) -> bool:
    """Whether a value means what it did: 1 for 1.0 does, and the text of bytes."""
    if isinstance(old, bytes) and isinstance(new, str):
        return old == new.encode()
    return bool(old == new) or str(old) == str(new)


# -- telling by a digest ---------------------------------------------------------------------------------------


class Digest:
    """What tells whether two tables hold the same rows, in whatever order they are read."""

    def __init__(self) -> None:
        self.rows = 0
        self._sum = 0

    def add(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Count rows in."""
        for row in rows:
            self._sum += int.from_bytes(hashlib.blake2b(_encode(row), digest_size=16).digest(), "big")
            self.rows += 1

    def __str__(self) -> str:
        return f"{self._sum % 2**128:032x}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Digest) and (self.rows, str(self)) == (other.rows, str(other))

    __hash__ = None  # type: ignore[assignment]
