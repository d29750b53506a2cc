"""Pages of long tables, each in constant time.

A list is cut by a key that has an index (mostly the row number, newest first), never by an offset that grows. A filter
that has an index narrows what is read (`within`). Any other filter (`only`) looks at no more than a window of rows,
then gives what it found together with `next`, from where the next call searches on: an answer costs the same however
many rows there are, and whoever follows `next` misses nothing. Rows that are added meanwhile have higher numbers, so
that none is given twice.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import copy
import math
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar

import msgspec

from gossamer.errors import ConfigError
from gossamer.storage import rows
from gossamer.storage.desk import Desk, Row

T = TypeVar("T")

#: Rows of one page.
MOST = 500
USUAL = 50
#: Rows that one call looks at: in steps that grow, since what is asked for is mostly near.
STEPS = (500, 1_500, 3_000, 5_000, 10_000)
WINDOW = sum(STEPS)
#: Seconds after which no further step is begun, where rows are heavy or the disk is slow.
PATIENCE = 0.1
#: Characters of the records on one page, beyond which it ends early.
HEAVY = 4_000_000
#: Rows that may be heavy, read at once; and rows that a filter of ours looks at, read at once.
LIGHT = 50
LOOKED_AT = 250
#: Letters of a text that is searched for.
LONGEST = 300
#: Rows are numbered in the order of time, but for pages that were slow and clocks that were set back by less than this.
ROUGHLY = 3_600.0
#: The largest number that a store knows.
TOP = 2**63 - 1
#: Row numbers that need not be told apart when looking for a time.
NEAR = 256

#: A place in a list: the key of the last row that was given or looked at.
Place = tuple[Any, ...]
Number = Annotated[int, msgspec.Meta(ge=0, le=TOP)]
_AS_TEXT = "|| ''"
#: What keys are made of, by the order of their columns.
NUMBER = tuple[Number]
TWO_NUMBERS = tuple[Number, Number]
TIME_AND_NUMBER = tuple[float, Number]
Name = Annotated[str, msgspec.Meta(max_length=300)]
NAME = tuple[Name]


class Listing(msgspec.Struct, Generic[T], frozen=True):
    """A page of a list."""

    rows: list[T]
    #: The cursor of the page after this one; None: there is none.
    next: str | None
    #: Rows that were looked at for this page, about.
    looked: int


class Found(msgspec.Struct, frozen=True):
    """Rows as they came, and where to go on; None: nothing is left."""

    rows: list[Row]
    next: Place | None
    looked: int


# -- what callers give -----------------------------------------------------------------------------------------


def checked_limit(limit: int) -> int:
    """The rows of a page. Raises ConfigError."""
    if not 1 <= limit <= MOST:
        raise ConfigError(f"limit {limit} cannot be used: write a number from 1 to {MOST}")
    return limit


def text(value: str | None, name: str) -> str | None:
    """A text to look for, None if it is empty. Raises ConfigError for one that is too long."""
    if value is None or not value.strip():
        return None
    if len(value) > LONGEST:
        raise ConfigError(f"{name} has {len(value):,} letters: write no more than {LONGEST}")
    found: str = rows.storable(value.strip())
    return found


def one_of(value: str | None, name: str, known: Sequence[str]) -> str | None:
    """A word out of a few. Raises ConfigError, which says them."""
    if value is None or value in known:
        return value
    raise ConfigError(f"{name} {value[:40]!r} cannot be used: write {', '.join(known[:-1])} or {known[-1]}")


def number(value: int | None, name: str) -> int | None:
    """The number of a row. Raises ConfigError for what cannot be one."""
    if value is not None and not 0 <= value <= TOP:
        raise ConfigError(f"{name} cannot be used: write the number of a {name}")
    return value


def moment(value: float | None, name: str) -> float | None:
    """Seconds since 1970. Raises ConfigError for what is no time."""
    if value is not None and not math.isfinite(value):
        raise ConfigError(f"{name} cannot be used: write seconds since 1970")
    return value


# -- cursors ---------------------------------------------------------------------------------------------------


def cursor_text(name: str, place: Place) -> str:
    """A place in the list of this name, as callers get it."""
    return base64.urlsafe_b64encode(msgspec.json.encode([name, *place])).rstrip(b"=").decode()


def place_of(name: str, cursor: str | None, form: Any) -> Any:
    """The place that a cursor means, a tuple of this form. Raises ConfigError for what no call gave."""
    if cursor is None:
        return None
    try:
        told = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        values = msgspec.json.decode(told, type=list[Any])
        if not values or values[0] != name:
            raise ValueError(name)
        return msgspec.convert(values[1:], form)
    except (ValueError, binascii.Error, msgspec.DecodeError, RecursionError):
        raise ConfigError(
            f"the cursor {cursor[:40]!r} is none of this list: give `next` of the page before, or none to begin"
        ) from None


# -- searching -------------------------------------------------------------------------------------------------


class Search:
    """One list, with the filters it is asked for: which rows are read by an index, which ones are looked at."""

    def __init__(
        self,
        table: str,
        columns: str,
        *,
        joined: str = "",
        key: Sequence[str] = ("id",),
        ascending: bool = False,
        heavy: int | None = None,
    ) -> None:
        """`columns` and `joined` are SQL; `key` are columns of the table that an index has in this order.

        `heavy` is the place among the columns of a text that may be long: a page of many such ends early.
        """
        self._table = table
        self._key = ", ".join(f"{table}.{name}" for name in key)
        self._width = len(key)
        self._columns = f"{self._key}, {columns}"
        self._joined = joined
        self._order = ", ".join(f"{table}.{name}{'' if ascending else ' desc'}" for name in key)
        self._ascending = ascending
        self._heavy = None if heavy is None else heavy + self._width
        self._scopes: list[str] = []
        self._first: Place | None = None
        self._last: Place | None = None
        self._tests: list[str] = []
        self._keep: Callable[[Row], bool] | None = None
        self.names: dict[str, Any] = {}

    def copy(self) -> Search:
        """The same search, which can be narrowed further on its own."""
        made = copy.copy(self)
        made._scopes, made._tests = [*self._scopes], [*self._tests]
        made.names = {**self.names}
        return made

    @property
    def narrowed(self) -> bool:
        """Whether an index narrows what is read already."""
        return bool(self._scopes)

    def within(self, *conditions: str, **names: Any) -> None:
        """Read only rows that meet one of these conditions: each has an index that goes on with the key."""
        self._scopes = list(conditions)
        self.names |= names

    def begin_after(self, place: Place) -> None:
        """Leave out rows at this place and before it. Of two such places the later one counts."""
        self._first = place if self._first is None or self._later(place, self._first) else self._first

    def end_with(self, place: Place) -> None:
        """Go no further than this place. Of two such places the earlier one counts."""
        self._last = place if self._last is None or self._later(self._last, place) else self._last

    def _later(self, place: Place, other: Place) -> bool:
        """Whether a place comes after another in this list."""
        return place > other if self._ascending else place < other

    def only(self, condition: str, **names: Any) -> None:
        """Give only rows that meet this, which no index tells."""
        self._tests.append(condition)
        self.names |= names

    def equal(self, column: str, value: Any) -> None:
        """Give only rows with this value, if there is one."""
        if value is not None:
            name = column.replace(".", "_")
            # As an expression: an index of this column is none that goes on with the key.
            self.only(f"{column} {'+ 0' if isinstance(value, int) else _AS_TEXT} = :{name}", **{name: value})

    def contains(self, value: str | None, *columns: str, json: Sequence[str] = ()) -> None:
        """Give only rows that have this text in one of the columns, whatever its case; some of them are JSON."""
        if value is None:
            return
        tests = [f"lower({column}) like lower(:contains) escape '!'" for column in columns]
        tests += [f"lower({column}) like lower(:contains_json) escape '!'" for column in json]
        written = msgspec.json.encode(value).decode()[1:-1]
        self.only(f"({' or '.join(tests)})", contains=_pattern(value), contains_json=_pattern(written))

    def keep(self, test: Callable[[Row], bool]) -> None:
        """Give only rows (as they come, key first) that a function says yes to. It is called on another thread."""
        self._keep = test

    async def page(
        self, desk: Desk, name: str, make: Callable[[Row], T], *, limit: int, cursor: str | None, form: Any = NUMBER
    ) -> Listing[T]:
        """The page after a cursor; `form` is what its key is made of."""
        found = await self.walk(desk, checked_limit(limit), place_of(name, cursor, form))
        place = None if found.next is None else cursor_text(name, found.next)
        return Listing([make(row) for row in found.rows], place, found.looked)

    async def walk(self, desk: Desk, limit: int, after: Place | None = None) -> Found:
        """The first rows after a place, the key first in each."""
        if self._first is not None and (after is None or self._later(self._first, after)):
            after = self._first
        if not self._tests and self._keep is None:
            return await self._read(desk, limit, after, None, math.inf)
        until = time.monotonic() + PATIENCE
        given: list[Row] = []
        looked = 0
        for step in STEPS:
            edge = await self._edge(desk, after, step)
            found = await self._read(desk, limit - len(given), after, edge, until)
            given += found.rows
            looked += step if edge else await self._left(desk, after, step)
            if found.next is not None:
                return Found(given, found.next, looked)
            after = edge
            if after is None or len(given) == limit or time.monotonic() > until:
                break
        return Found(given, after, looked)

    async def _read(self, desk: Desk, limit: int, after: Place | None, edge: Place | None, until: float) -> Found:
        """Rows between two places, by groups where they are heavy or have to be looked at here."""
        given: list[Row] = []
        weight = 0
        while True:
            asked = limit + 1 - len(given) if self._heavy is None else min(LIGHT, limit + 1 - len(given))
            asked = asked if self._keep is None else LOOKED_AT
            rows = await desk.rows(self._statement(after, edge), **self._names(after, edge), n=asked)
            kept = rows if self._keep is None else await asyncio.to_thread(lambda now: [*filter(self._keep, now)], rows)
            given += kept
            if len(given) > limit:
                return Found(given[:limit], self.place(given[limit - 1]), limit)
            if len(rows) < asked:
                return Found(given, None, len(given))
            after = self.place(rows[-1])
            weight += 0 if self._heavy is None else sum(len(row[self._heavy] or "") for row in kept)
            if weight > HEAVY or time.monotonic() > until:
                return Found(given, after, len(given))

    def place(self, row: Row) -> Place:
        """The key of a row."""
        return row[: self._width]

    # -- statements --------------------------------------------------------------------------------------------

    def _where(self, scope: str, after: Place | None, edge: Place | None = None, *, tested: bool = False) -> str:
        conditions = [scope] if scope else []
        beyond, until = (">", "<=") if self._ascending else ("<", ">=")
        conditions += [f"{self._tuple(self._key)} {beyond} {self._slots('after')}"] if after else []
        # Never two conditions for one end: only one of them would be looked up, and all between them be read.
        end = "edge" if edge else "last" if self._last else ""
        conditions += [f"{self._tuple(self._key)} {until} {self._slots(end)}"] if end else []
        conditions += self._tests if tested else []
        return f"where {' and '.join(conditions)}" if conditions else ""

    def _tuple(self, names: str) -> str:
        return f"({names})" if self._width > 1 else names

    def _slots(self, name: str) -> str:
        return self._tuple(", ".join(f":{name}{n}" for n in range(self._width)))

    def _names(self, after: Place | None, edge: Place | None = None) -> dict[str, Any]:
        places = {"after": after, "edge": edge, "last": self._last}
        slots = {f"{name}{n}": value for name, place in places.items() for n, value in enumerate(place or ())}
        return {**self.names, **slots}

    def _statement(self, after: Place | None, edge: Place | None) -> str:
        """Rows between two places. Of several scopes each is read by its index, and they are put in order then."""
        parts = [
            f"select {self._columns} from {self._table} {self._joined} "  # noqa: S608 - only our own SQL is put in
            f"{self._where(scope, after, edge, tested=True)} order by {self._order} limit :n"
            for scope in self._scopes or [""]
        ]
        if len(parts) == 1:
            return parts[0]
        order = ", ".join(f"{n + 1}{'' if self._ascending else ' desc'}" for n in range(self._width))
        return f"{_union(parts)} order by {order} limit :n"

    async def _edge(self, desk: Desk, after: Place | None, step: int) -> Place | None:
        """The place up to which a step goes; None: to the end."""
        parts = [
            f"select {self._key} from {self._table} "  # noqa: S608
            f"{self._where(scope, after)} order by {self._order} limit 1 offset :skipped"
            for scope in self._scopes or [""]
        ]
        skipped = max(1, step // len(parts)) - 1
        found = await desk.rows(_union(parts), **self._names(after), skipped=skipped)
        # The scope that got least far says how far all of them are searched.
        return (min(found) if self._ascending else max(found)) if found else None

    async def _left(self, desk: Desk, after: Place | None, step: int) -> int:
        """How many rows the last step looked at."""
        parts = [
            f"select 1 as n from {self._table} {self._where(scope, after)}"  # noqa: S608
            for scope in self._scopes or [""]
        ]
        row = await desk.row(
            f"select count(*) from (select * from ({' union all '.join(parts)}) as found limit :n) as counted",  # noqa: S608
            **self._names(after),
            n=step,
        )
        return int(row[0]) if row else 0


def _union(parts: Sequence[str]) -> str:
    """Statements that have their own order and limit, as one."""
    if len(parts) == 1:
        return parts[0]
    return " union all ".join(f"select * from ({part}) as part{n}" for n, part in enumerate(parts))  # noqa: S608


def beginning(value: str) -> str:
    """A pattern for `like ... escape '!'`: texts that begin so."""
    for mark in "!%_":
        value = value.replace(mark, f"!{mark}")
    return f"{value}%"


def _pattern(value: str) -> str:
    return f"%{beginning(value)}"


# -- times -----------------------------------------------------------------------------------------------------


async def first_since(desk: Desk, table: str, at: str, since: float) -> int:
    """A row number below which every row is older than this, by halving: no index of times is needed.

    `at` is SQL for the time of a row, or for one that is later; it must not be earlier.
    """
    top = await desk.row(f"select max(id) from {table}")  # noqa: S608
    low, high = 0, int(top[0] or 0) + 1 if top else 0
    probe = f"select id, {at} from {table} where id <= :middle order by id desc limit 1"  # noqa: S608
    while high - low > NEAR:
        middle = (low + high) // 2
        row = await desk.row(probe, middle=middle)
        if row is None or row[1] < since - ROUGHLY:
            low = middle
        else:
            high = min(middle, int(row[0]))
    return low


async def last_until(desk: Desk, table: str, at: str, until: float) -> int:
    """A row number above which every row is newer than this. `at` must be the time of a row, or earlier."""
    top = await desk.row(f"select max(id) from {table}")  # noqa: S608
    low, high = 0, int(top[0] or 0) + 1 if top else 0
    probe = f"select id, {at} from {table} where id >= :middle order by id limit 1"  # noqa: S608
    while high - low > NEAR:
        middle = (low + high) // 2
        row = await desk.row(probe, middle=middle)
        if row is None or row[1] > until + ROUGHLY:
            high = middle
        else:
            low = max(middle, int(row[0]))
    return high


# -- by runs ---------------------------------------------------------------------------------------------------

#: Runs of a scraper that one call looks into.
RUNS = 50
#: What the places of `across_runs` are made of: a run, and the number of a row of it.
RUN_AND_NUMBER = tuple[Number, Number]


async def across_runs(
    desk: Desk,
    scraper: str,
    of_run: Callable[[int], Search],
    limit: int,
    after: tuple[int, int] | None,
    having: str = "",
) -> Found:
    """Rows that belong to the runs of a scraper, the newest run first: for tables that know no more than their run.

    `having` tells which runs have any, if their own rows tell it.
    """
    until = time.monotonic() + PATIENCE
    first, row = after or (TOP - 1, TOP)
    search = Search("run", "run.scraper")
    search.within("run.scraper = :scraper", scraper=scraper)
    if having:
        search.only(having)
    runs = await search.walk(desk, RUNS, (first + 1,))
    given: list[Row] = []
    looked = 0
    for run, _ in runs.rows:
        if len(given) == limit or looked >= WINDOW or (looked and time.monotonic() > until):
            return Found(given, (run, TOP), looked)
        found = await of_run(run).walk(desk, limit - len(given), (row,) if run == first else None)
        given += found.rows
        looked += found.looked
        if found.next is not None:
            return Found(given, (run, found.next[0]), looked)
    return Found(given, (runs.next[0] - 1, TOP) if runs.next else None, looked + runs.looked)
