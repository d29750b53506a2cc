"""Statements of a desk for PostgreSQL: `:name` becomes `$1`, each value with the type that it has in Python.

SQLite takes values as they come; PostgreSQL wants to know their types beforehand, and guesses wrong where a statement
does not tell. What is None stands in the statement itself, as `null`, which is of every type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from gossamer.errors import StoreError
from gossamer.storage import rows

#: What is left as it is: texts, quoted names, comments and casts. Then the names of values.
_TOKEN = re.compile(r"""('(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/|::)|:([A-Za-z_]\w*)""", re.DOTALL)

#: By the type in Python, in the order in which one takes the place of another.
_TYPES: Mapping[type, str] = {int: "bigint", float: "double precision", str: "text", bytes: "bytea"}


class Placed(msgspec.Struct, frozen=True):
    """A statement with numbers for its values, and which value has which number."""

    text: str
    names: tuple[str, ...]


def type_of(value: object) -> str | None:
    """What PostgreSQL calls the type of a value; None for None."""
    if value is None:
        return None
    for kind, name in _TYPES.items():
        if isinstance(value, kind):  # bool is an int
            return name
    raise StoreError(f"a value of type {type(value).__name__} has no place in a statement")


def types_of(values: Iterable[object]) -> str | None:
    """The type that all of some values fit into; None if all are None."""
    found = {type_of(value) for value in values} - {None}
    if len(found) > 1 and found != {"bigint", "double precision"}:
        raise StoreError("values of one column are of several types")
    return "double precision" if len(found) > 1 else next(iter(found), None)


@lru_cache(maxsize=2048)
def placed(statement: str, types: tuple[tuple[str, str | None], ...]) -> Placed:
    """A statement for values of these types, by name.

    >>> placed("select ':a'::text where id = :id or :gone", (("id", "bigint"), ("gone", None))).text
    "select ':a'::text where id = $1::bigint or null"
    """
    known = dict(types)
    names: dict[str, int] = {}

    def one(match: re.Match[str]) -> str:
        if match[2] is None:
            return match[0]
        kind = known.get(match[2], "")
        if kind == "":
            raise StoreError(f"the statement needs a value for {match[2]}")
        if kind is None:
            return "null"
        return f"${names.setdefault(match[2], len(names) + 1)}::{kind}"

    text = _TOKEN.sub(one, statement)
    return Placed(text, tuple(names))


def of_one(statement: str, values: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """A statement and its values in order."""
    made = placed(statement, tuple((name, type_of(value)) for name, value in values.items()))
    return made.text, [_sent(values[name]) for name in made.names]


def of_many(statement: str, many: Sequence[Mapping[str, Any]]) -> tuple[str, list[list[Any]]]:
    """A statement and its values in order, for each of many rows that have the same names."""
    made = placed(statement, tuple((name, types_of(row[name] for row in many)) for name in many[0]))
    return made.text, [[_sent(row[name]) for name in made.names] for row in many]


def _sent(value: Any) -> Any:
    if isinstance(value, str):
        return rows.storable(value)
    return int(value) if isinstance(value, bool) else value
