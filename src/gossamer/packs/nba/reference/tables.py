"""The tables of a page by their ids: cells under the names that the site itself gives to its columns.

Basketball Reference names every column in `data-stat`, repeats the header within the body, puts totals in <tfoot>, and
keeps many tables in HTML comments, for a script to show. Cells without a name (play by play, series, contracts) are
called by where they stand: `_0`, `_1` ...
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final
from weakref import WeakKeyDictionary

import msgspec

from gossamer import Page, ReadError

#: What is read of one page: tables, rows of a table, cells of a row, comments that may hold tables.
MOST_TABLES: Final = 500
MOST_ROWS: Final = 20_000
MOST_CELLS: Final = 300
MOST_COMMENTS: Final = 500
MOST_LINKS: Final = 50
#: Letters of one cell.
LONGEST: Final = 2_000
#: Letters of the id of a table, or of the name of a column.
LONGEST_NAME: Final = 200
#: The name under which a row has the id of its player.
SLUG: Final = "@slug"

_TABLE: Final = re.compile(r"<table[\s>]", re.IGNORECASE)
_SECTIONS: Final = frozenset({"thead", "tbody", "tfoot"})
_CELLS: Final = frozenset({"td", "th"})
#: How a row that sums up several others names itself: all teams of a player, or the league.
_COMBINED: Final = re.compile(r"TOT|[2-9]TM")
_LEAGUE: Final = "League Average"
#: Columns that name a team, and those that name a player.
TEAM: Final = ("team_name_abbr", "team_id", "team")
NAME: Final = ("name_display", "player")


class Row(msgspec.Struct, frozen=True):
    """One row of a table."""

    #: Column -> text; cells that the row does not have are left out. `@slug` is the id of its player.
    cells: dict[str, str]
    #: Column -> where the links of the cell go, as the page writes them.
    links: dict[str, tuple[str, ...]] = {}
    #: Column -> what the site sorts it by, which is often an id.
    sorts: dict[str, str] = {}
    #: The line above its part of the table: "Atlantic Division".
    group: str | None = None
    classes: str = ""

    def text(self, *names: str) -> str | None:
        """The first of these cells that says something."""
        return next((text for name in names if (text := self.cells.get(name))), None)

    def link(self, *names: str) -> str | None:
        """The first link in these cells."""
        return next((found[0] for name in names if (found := self.links.get(name))), None)

    @property
    def is_combined(self) -> bool:
        """Whether it sums up a player's rows (TOT, 2TM ...), or those of the league."""
        team = self.text(*TEAM) or ""
        return _COMBINED.fullmatch(team) is not None or self.text(*NAME) == _LEAGUE


class Table(msgspec.Struct, frozen=True):
    """One table of a page."""

    id: str
    caption: str | None
    #: Names of columns, in the order in which rows have them.
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    #: The rows of <tfoot>.
    footer: tuple[Row, ...] = ()
    #: Whether it stands in a comment.
    hidden: bool = False
    #: Column -> the header above its own, where there are two levels.
    over: dict[str, str] = {}
    #: What the first header row says, column -> text.
    heads: dict[str, str] = {}
    #: Header rows that stand within the body.
    repeated: int = 0
    #: Columns in which some row says something.
    counted: frozenset[str] = frozenset()

    def kept(self, *, combined: bool = False) -> tuple[Row, ...]:
        """Its rows, without those that sum up others unless asked for."""
        return self.rows if combined else tuple(row for row in self.rows if not row.is_combined)


#: What was read of pages that somebody still holds: several readers look at the same page.
_READ: Final[WeakKeyDictionary[Page, dict[str, Table]]] = WeakKeyDictionary()


def read(page: Page, *ids: str) -> dict[str, Table]:
    """The tables of a page by id, those in comments included: all, or those of these ids.

    >>> read(Page.of('<!--<table id="x"><tr><td data-stat="pts">7</table>-->'))["x"].rows[0].cells
    {'pts': '7'}
    """
    found = _READ.get(page)
    if found is None:
        found = _READ[page] = _all(page)
    return {name: table for name, table in found.items() if name in ids} if ids else dict(found)


def _all(page: Page) -> dict[str, Table]:
    found: dict[str, Table] = {}
    for node, hidden in _nodes(page):
        name = _name(node.attributes.get("id") or "")
        if name and name not in found:
            found[name] = _table(name, node, hidden=hidden)
        if len(found) >= MOST_TABLES:
            break
    return found


def first(page: Page, *ids: str) -> Table | None:
    """The first of these tables that a page has: layouts changed over the years, and ids with them."""
    found = read(page, *ids)
    return next((found[name] for name in ids if name in found), None)


def _nodes(page: Page) -> Iterator[tuple[Any, bool]]:
    for node in page.tree.css("table[id]"):
        yield node, False
    for comment in comments(page.text):
        for node in Page.of(comment, page.url).tree.css("table[id]"):
            yield node, True


def comments(text: str, with_text: str | None = None) -> Iterator[str]:
    """Comments with a table in them, or with this text."""
    at = 0
    for _ in range(20 * MOST_COMMENTS):
        at = text.find("<!--", at)
        end = text.find("-->", at + 4) if at >= 0 else -1
        if end < 0:
            return
        inside = text[at + 4 : end]
        if with_text in inside if with_text else _TABLE.search(inside):
            yield inside
        at = end + 3


def _table(name: str, node: Any, *, hidden: bool) -> Table:
    heads: list[Any] = []
    body: list[Row] = []
    footer: list[Row] = []
    group: str | None = None
    caption: str | None = None
    repeated = 0
    for section, each in _parts(node):
        classes = each.attributes.get("class") or ""
        if section == "caption":
            caption = _text(each) or None
        elif section == "thead":
            heads.append(each)
        elif section == "tfoot":
            footer.append(_row(each, classes, None))
        elif "thead" in classes.split():
            repeated += 1
            group = _group(each, heads) or group
            if not body:
                heads.append(each)
        elif each.css_first("table") is None:  # a row that only unfolds another table says nothing itself
            row = _row(each, classes, group)
            if row.cells:
                body.append(row)
        if len(body) + len(footer) >= MOST_ROWS:
            break
    columns = dict.fromkeys(column for row in body for column in row.cells)
    over, names = _headers(heads)
    counted = frozenset(column for row in body for column, text in row.cells.items() if text)
    return Table(name, caption, tuple(columns), tuple(body), tuple(footer), hidden, over, names, repeated, counted)


def _group(row: Any, heads: list[Any]) -> str | None:
    """What a header within the body says of the rows below it; None if it is only the header again."""
    said = [text for cell in _cells(row) if (text := _text(cell))]
    if len(said) == 1:
        return said[0]
    above = [_text(cell) for head in heads if head.parent.tag == "thead" for cell in _cells(head)]
    return said[0] if said and above and said[0] not in above else None


def _parts(table: Any) -> Iterator[tuple[str, Any]]:
    """(where it stands, row), the caption among them."""
    for child in table.iter():
        tag = child.tag
        if tag in _SECTIONS:
            yield from ((tag, row) for row in child.iter() if row.tag == "tr")
        elif tag == "caption":
            yield tag, child
        elif tag == "tr":
            yield "tbody", child


def _cells(row: Any) -> list[Any]:
    return [cell for cell in row.iter() if cell.tag in _CELLS][:MOST_CELLS]


def _row(node: Any, classes: str, group: str | None) -> Row:
    cells: dict[str, str] = {}
    links: dict[str, tuple[str, ...]] = {}
    sorts: dict[str, str] = {}
    for place, cell in enumerate(_cells(node)):
        given = cell.attributes
        name = _name(given.get("data-stat") or f"_{place}")
        cells[name] = _text(cell)
        if slug := given.get("data-append-csv"):
            cells[SLUG] = slug[:LONGEST]
        if csk := given.get("csk"):
            sorts[name] = csk[:LONGEST]
        hrefs = [each.attributes.get("href") for each in cell.css("a[href]")[:MOST_LINKS]]
        if hrefs:
            links[name] = tuple(href[:LONGEST] for href in hrefs if href)
    return Row(cells, links, sorts, group, classes)


def _headers(rows: list[Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Column -> the header above its own; and column -> its own header."""
    over: dict[str, str] = {}
    names: dict[str, str] = {}
    spans: list[str] = []
    for row in rows:
        cells = _cells(row)
        if "over_header" in (row.attributes.get("class") or "").split():
            spans = [_text(cell) for cell in cells for _ in range(_span(cell))]
            continue
        for place, cell in enumerate(cells):
            given = cell.attributes
            name = _name(given.get("data-stat") or f"_{place}")
            names.setdefault(name, _text(cell))
            above = given.get("data-over-header") or (spans[place] if place < len(spans) else "")
            if above:
                over.setdefault(name, " ".join(above.split())[:LONGEST])
    return over, names


def _name(text: str) -> str:
    """The id of a table, or the name of a column. Raises ReadError for one that is longer than any."""
    if len(text) > LONGEST_NAME:
        raise ReadError(f"the page has a name of {len(text):,} letters for a table or a column: {text[:40]!r} ...")
    return text


def _span(cell: Any) -> int:
    text = cell.attributes.get("colspan") or "1"
    return min(int(text), MOST_CELLS) if text.isascii() and text.isdigit() and len(text) < 6 else 1


def _text(node: Any) -> str:
    return " ".join(node.text().split())[:LONGEST]
