"""The shapes that the NBA's answers have, as plain tables.

A   {"resultSets": [{"name", "headers", "rowSet"}]}: a list of sets, one set, or a dict of them; or "resultSet".
    Shot locations have two rows of headers, the upper spanning several columns of the lower.
B   {"meta", "boxScoreTraditional": {...}}: objects within objects, of what is called V3.
C   {"meta", "game": {...}}: the same, of the live files.
D   {"g": {...}}: the files of the mobile apps, with names of a few letters.

B, C and D become one table for each sort of thing in them: the game, its teams, their players, its actions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

import msgspec

from gossamer import Page, ReadError
from gossamer.packs.nba import answers

__all__ = ["Table", "answer", "shape", "tables"]

#: Rows and columns of one answer that are read, and how deep it may go: more is nothing the NBA ever sent.
MOST_ROWS: Final = 200_000
MOST_COLUMNS: Final = 500
MOST_TABLES: Final = 200
DEEPEST: Final = 12
#: Letters in the name of a table or column: every row says them again.
LONGEST_NAME: Final = 200
#: Letters that the names of columns take in all rows of an answer together. A log of all players of a season has 8
#: million.
MOST_NAMES: Final = 32_000_000

_SIDES: Final = {"homeTeam": "home", "awayTeam": "away", "hls": "home", "vls": "away"}
#: Objects that only group what belongs to their owner: their names say nothing.
_GROUPING: Final = frozenset({"statistics", "tstsg", "offs", "gsts"})
#: What lists of the mobile files are called elsewhere.
_CALLED: Final = {"pstsg": "players", "pd": "periods", "pla": "actions", "off": "officials"}
#: What a row is told of the objects around it, besides whatever ends in Id.
_TOLD: Final = frozenset({"teamTricode", "side", "gid", "tid", "ta", "p", "gameDate"})
_NOT_WORD: Final = re.compile(r"[^A-Za-z0-9]+")


class Table(msgspec.Struct, frozen=True):
    """One table of an answer."""

    name: str
    columns: tuple[str, ...]
    rows: list[list[Any]]

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows as dicts; of a name that stands twice, the first counts."""
        places: dict[str, int] = {}
        for place, name in enumerate(self.columns):
            places.setdefault(name, place)
        for row in self.rows:
            yield {name: row[place] for name, place in places.items() if place < len(row)}


def answer(page: Page) -> Mapping[str, Any]:
    """The answer of a page. Raises ReadError for a web page, and for JSON that is no object."""
    if page.kind == "empty":
        raise ReadError("nothing came: the NBA answers so where it has no data, or where a parameter is missing")
    found = answers.data(page, "the NBA does not know the address, or keeps us out")
    if not isinstance(found, dict):
        raise ReadError(f"the answer is no object but a {type(found).__name__}: no shape of the NBA's is like that")
    return found


def shape(found: Mapping[str, Any]) -> str:
    """Which of the shapes an answer has: A, B, C or D. Raises ReadError, with what the NBA said instead."""
    if "resultSets" in found or "resultSet" in found:
        return "A"
    if isinstance(found.get("g"), dict):
        return "D"
    body = _body(found)
    if body:
        meta = found.get("meta")
        return "C" if isinstance(meta, dict) and "code" in meta else "B"
    said = found.get("Message") or found.get("message") or found.get("error")
    if isinstance(said, str):
        raise ReadError(f"the NBA refused: {' '.join(said[:200].split())}")
    raise ReadError(f"an answer of a shape nobody knows: its fields are {', '.join(sorted(found))[:200] or 'none'}")


def tables(found: Mapping[str, Any]) -> list[Table]:
    """The tables of an answer, whatever its shape. Raises ReadError for a shape that nobody knows."""
    kind = shape(found)
    if kind == "A":
        made = _sets(found["resultSets"] if "resultSets" in found else found["resultSet"])
        return _bounded(islice(made, MOST_TABLES))
    nest = _Nest()
    name, body = ("game", found["g"]) if kind == "D" else _body(found)[0]
    nest.add(name, body, {}, 0)
    return nest.tables()


def _bounded(given: Iterator[Table]) -> list[Table]:
    """Tables that can be told row by row. Raises ReadError where that would be far more than what came."""
    kept: list[Table] = []
    letters = 0
    for table in given:
        letters += len(table.rows) * sum(len(name) + 1 for name in table.columns)
        if letters > MOST_NAMES:
            raise _too_much()
        kept.append(table)
    return kept


def _too_much() -> ReadError:
    return ReadError("the answer has more rows and columns than any of the NBA's")


def _name(value: Any) -> str:
    """The name of a table or column. Raises ReadError for what is none, or longer than any."""
    if not isinstance(value, str | int | float | None):
        raise ReadError(f"the answer has a {type(value).__name__} where the name of a column should stand")
    name = str(value)
    if len(name) > LONGEST_NAME:
        raise ReadError(f"the answer has a name of {len(name):,} letters: {name[:40]!r} ...")
    return name


def _body(found: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The one object beside `meta`; nothing, if there is no such."""
    rest = [(name, value) for name, value in found.items() if name != "meta"]
    objects = [(name, value) for name, value in rest if isinstance(value, dict) and value]
    return objects if len(objects) == 1 and ("meta" in found or len(rest) == 1) else []


# -- A: sets of rows -----------------------------------------------------------------------------------------------


def _sets(given: Any) -> Iterator[Table]:
    if isinstance(given, dict) and not ("headers" in given and ("rowSet" in given or "data" in given)):
        for name, value in given.items():
            yield from _named_set(name, value)
        return
    found = [given] if isinstance(given, dict) else given
    if not isinstance(found, list):
        raise ReadError("the answer has no sets of rows where it should")
    for number, each in enumerate(found[:MOST_TABLES], 1):
        if not isinstance(each, dict):
            raise ReadError(f"set {number} of the answer is no object")
        yield _set(each, f"set{number}")


def _named_set(name: str, value: Any) -> Iterator[Table]:
    """One entry of a dict of sets: a set, or objects in a list."""
    if isinstance(value, dict) and "headers" in value:
        yield _set(value, name)
        return
    nest = _Nest()
    nest.add(_name(name), value if isinstance(value, dict) else {name: value}, {}, 0)
    yield from nest.tables()


def _set(given: Mapping[str, Any], name: str) -> Table:
    called = given.get("name")
    headers, rows = given.get("headers"), given.get("rowSet", given.get("data"))
    if not isinstance(headers, list) or not isinstance(rows, list | None):
        shown = called if isinstance(called, str) and called else name
        raise ReadError(f"the set {shown[:60]!r} of the answer has no headers, or no rows")
    columns = _two_levels(headers) if headers and isinstance(headers[0], dict) else _columns(headers)
    good = [row for row in (rows or [])[:MOST_ROWS] if isinstance(row, list)]
    return Table(_name(called if isinstance(called, str) and called else name), tuple(columns), good)


def _columns(names: list[Any]) -> list[str]:
    if len(names) > MOST_COLUMNS:
        raise ReadError(f"a set of the answer has {len(names):,} columns: none of the NBA's has so many")
    return [_name(each) for each in names]


def _two_levels(headers: list[Any]) -> list[str]:
    """Columns below headers that span several of them: `RESTRICTED_AREA_FGM`."""
    levels = [level for level in headers if isinstance(level, dict) and isinstance(level.get("columnNames"), list)]
    if not levels:
        raise ReadError("a set of the answer has headers of a shape nobody knows")
    columns = _columns(levels[-1]["columnNames"])
    for level in reversed(levels[:-1]):
        names, told = _columns(level["columnNames"]), level.get("columnSpan")
        span = told if isinstance(told, int) else 0
        # What `columnsToSkip` says was not always true of the columns that came.
        skip = len(columns) - len(names) * span
        if span < 1 or skip < 0:
            raise ReadError("a set of the answer has headers that do not fit its columns")
        above = [names[(place - skip) // span] if place >= skip else "" for place in range(len(columns))]
        columns = [
            _name(f"{_word(name)}_{column}") if name else column for name, column in zip(above, columns, strict=True)
        ]
    return columns


def _word(text: str) -> str:
    return _NOT_WORD.sub("_", text).strip("_").upper()


# -- B, C and D: objects within objects ----------------------------------------------------------------------------


class _Nest:
    """Objects within objects, taken apart into tables."""

    def __init__(self) -> None:
        self._found: dict[str, list[dict[str, Any]]] = {}
        self._rows = 0
        self._letters = 0

    def tables(self) -> list[Table]:
        made = []
        for name, records in self._found.items():
            columns = tuple(dict.fromkeys(field for record in records for field in record))[:MOST_COLUMNS]
            # Rows of one table may have little in common: each then has a place for what all others have.
            self._count(len(records) * sum(len(column) + 1 for column in columns))
            made.append(Table(name, columns, [[record.get(column) for column in columns] for record in records]))
        return made

    def _count(self, letters: int) -> None:
        self._letters += letters
        if self._letters > MOST_NAMES:
            raise _too_much()

    def add(self, name: str, node: dict[str, Any], around: Mapping[str, Any], depth: int) -> None:
        """One object: a row of the table `name`, and rows of others for what is inside."""
        self._rows += 1
        if depth > DEEPEST or self._rows > MOST_ROWS:
            raise ReadError("the answer is deeper, or longer, than any of the NBA's")
        row: dict[str, Any] = {}
        inside: list[tuple[str, dict[str, Any]]] = []
        _apart(node, "", row, inside, depth)
        told = {_other(field) if field in row else field: value for field, value in around.items()}
        if row and (len(self._found) < MOST_TABLES or name in self._found):
            self._found.setdefault(_name(name), []).append({**told, **row})
            self._count(sum(map(len, told)))
        own = {name: value for name, value in row.items() if _is_told(name, value)}
        for called, each in inside:
            self.add(called, each, {**told, **own}, depth + 1)


def _is_told(name: str, value: Any) -> bool:
    """Whether what is inside an object is told this of it. Only small values: they are told again and again."""
    if name not in _TOLD and (not name.endswith("Id") or "." in name):
        return False
    return len(value) <= LONGEST_NAME if isinstance(value, str) else isinstance(value, int | float | None)


def _apart(
    node: Mapping[str, Any], before: str, row: dict[str, Any], inside: list[tuple[str, dict[str, Any]]], depth: int
) -> None:
    """What of an object is in its row, and what are things of their own."""
    if depth > DEEPEST:
        raise ReadError("the answer is deeper than any of the NBA's")
    for field, value in node.items():
        name = _name(f"{before}{field}")
        if isinstance(value, dict):
            if field in _SIDES:
                inside.append(("teams", {"side": _SIDES[field], **value}))
            else:
                _apart(value, before if field in _GROUPING else f"{name}.", row, inside, depth + 1)
        elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
            inside += [(_CALLED.get(field, field), each) for each in value if isinstance(each, dict)]
        elif len(row) < MOST_COLUMNS and value != []:  # of what, nobody can say
            row[name] = value


def _other(field: str) -> str:
    """What something around is called in a row that has one of that name itself: `parentPersonId`."""
    return f"parent{field[:1].upper()}{field[1:]}"
