"""What the fields of many records are like, learned record by record in little memory: a type for each column.

A field is whole numbers, numbers, true or false, text, a list of one of these, or a struct of named ones. Where records
do not agree, or a struct has more fields than a table should, the field is kept as text: the JSON of its value.
"""

from __future__ import annotations

import enum
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec

from gossamer.errors import ConfigError

#: Columns of a table.
MOST = 2_000
#: Fields in all that one column may have inside, and how deep; beyond, it is text.
INSIDE = 200
DEEPEST = 12

#: Whole numbers that a float holds exactly, and that 64 bits hold.
_EXACT = 2**53
_WIDEST = 2**63

_BOOL, _INT, _WIDE, _FLOAT, _TEXT, _LIST, _STRUCT, _ODD = (1 << n for n in range(8))


class Form(enum.StrEnum):
    """What a column holds."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    TEXT = "text"
    #: Moments in UTC, from ISO 8601.
    TIME = "time"
    LIST = "list"
    STRUCT = "struct"
    #: Values of several forms, each as the text of its JSON.
    JSON = "json"


class Shape(msgspec.Struct, frozen=True):
    """A form, with the shapes inside it."""

    form: Form
    #: Of a list: what its elements are.
    element: Shape | None = None
    #: Of a struct: its fields, in the order they were met.
    fields: tuple[tuple[str, Shape], ...] = ()

    def without(self, names: Container[str]) -> Shape:
        """A struct that lacks some fields."""
        return Shape(self.form, fields=tuple((name, each) for name, each in self.fields if name not in names))


_SIMPLE = {
    0: Form.TEXT,  # nothing but nulls
    _BOOL: Form.BOOL,
    _INT: Form.INT,
    _INT | _WIDE: Form.INT,
    _FLOAT: Form.FLOAT,
    _INT | _FLOAT: Form.FLOAT,
    _TEXT: Form.TEXT,
}
_SCALARS: dict[type, int] = {bool: _BOOL, int: _INT, float: _FLOAT, str: _TEXT, type(None): 0}


class Column:
    """One field, as far as it is known."""

    __slots__ = ("_budget", "_deep", "_element", "_fields", "_met")

    def __init__(self, budget: list[int] | None = None, deep: int = 0) -> None:
        self._met = 0
        self._deep = deep
        #: Fields that may still be met inside the whole column.
        self._budget = [INSIDE] if budget is None else budget
        self._element: Column | None = None
        self._fields: dict[str, Column] = {}

    def learn(self, values: list[Any]) -> None:
        """Take more values into account."""
        for kind in set(map(type, values)):
            bit = _SCALARS.get(kind)
            if bit is not None:
                self._met |= bit
            elif kind is list:
                self._learn_lists([value for value in values if type(value) is list])
            else:
                self._learn_structs([value for value in values if isinstance(value, dict)])
        if self._met & _INT:
            self._learn_widths([value for value in values if type(value) is int])
        if self._met & (self._met - 1) and self._met & (_LIST | _STRUCT):
            self._give_up()

    def shape(self) -> Shape:
        """What the field is, after all that was met."""
        if self._met == _LIST and self._element is not None:
            return Shape(Form.LIST, element=self._element.shape())
        if self._met == _STRUCT and self._fields:
            return Shape(Form.STRUCT, fields=tuple((name, each.shape()) for name, each in self._fields.items()))
        return Shape(_SIMPLE.get(self._met, Form.JSON))

    def _learn_widths(self, numbers: list[int]) -> None:
        least, most = min(numbers, default=0), max(numbers, default=0)
        if least < -_EXACT or most > _EXACT:
            self._met |= _WIDE if least >= -_WIDEST and most < _WIDEST else _ODD

    def _learn_lists(self, lists: list[list[Any]]) -> None:
        self._met |= _LIST if self._deep < DEEPEST else _ODD
        if self._met == _LIST:
            if self._element is None:
                self._element = Column(self._budget, self._deep + 1)
            self._element.learn(list(chain.from_iterable(lists)))

    def _learn_structs(self, structs: list[Mapping[str, Any]]) -> None:
        self._met |= _STRUCT if self._deep < DEEPEST else _ODD
        if self._met != _STRUCT:
            return
        names = dict.fromkeys(chain.from_iterable(structs))
        self._budget[0] -= len(names.keys() - self._fields.keys())
        if self._budget[0] < 0:
            self._give_up()
            return
        for name in names:
            column = self._fields.get(name)
            if column is None:
                column = self._fields[name] = Column(self._budget, self._deep + 1)
            column.learn([struct.get(name) for struct in structs])

    def _give_up(self) -> None:
        """No one form fits: what is inside need not be known."""
        self._met |= _ODD
        self._element, self._fields = None, {}


class Columns:
    """The columns of a table of records."""

    def __init__(self, known: Iterable[str] = (), times: Iterable[str] = ()) -> None:
        """`known` are columns that the table has at any rate, first; `times` are those that hold moments."""
        self._columns = {name: Column() for name in known}
        self._times = frozenset(times)

    def learn(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Take more records into account. Raises ConfigError for more columns than a table can have."""
        for name in self.meet(records):
            self._columns[name].learn([record.get(name) for record in records])

    def meet(self, records: Iterable[Mapping[str, Any]]) -> Iterable[str]:
        """The same, for who wants to know no more than the names of columns; returns those of these records."""
        names = dict.fromkeys(chain.from_iterable(records))
        for name in [name for name in names if name not in self._columns]:
            if len(self._columns) >= MOST:
                raise ConfigError(
                    f"the items have more than {MOST:,} different fields, too many for the columns of a table: "
                    "choose some with --fields, --kind or --scraper, or write JSON lines"
                )
            self._columns[name] = Column()
        return names

    def add(self, name: str) -> None:
        """See to it that the table has a column."""
        self._columns.setdefault(name, Column())

    def names(self) -> list[str]:
        """The columns, in the order they were met."""
        return list(self._columns)

    def shape(self) -> Shape:
        """The whole table, as the struct that a record is."""
        made = (
            (name, Shape(Form.TIME) if name in self._times else column.shape())
            for name, column in self._columns.items()
        )
        return Shape(Form.STRUCT, fields=tuple(made))
