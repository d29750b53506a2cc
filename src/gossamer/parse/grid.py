"""The cells of a page's tables, and where each stands: spans laid out as browsers do, comments searched too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from gossamer import urls
from gossamer.parse import selection
from gossamer.parse.page import Page

#: Columns of one table, and rows that one cell may span: what browsers allow, and what is sane.
MOST_COLUMNS: Final = 1000
MOST_SPAN: Final = 10_000
#: Comments that are searched for tables.
_MOST_COMMENTS: Final = 1000
#: Steps up from a table or a link to the cell that it is in.
_MOST_STEPS: Final = 60


# --- where tables are -------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """A table of a document, and what stands before it."""

    node: Any
    tree: Any
    heading: str | None
    hidden: bool
    #: Cells with a table in them (by mem_id).
    holders: frozenset[int]
    #: Cell (by mem_id) -> the first link in it.
    links: dict[int, str]


class Budget:
    """How many cells may still be read."""

    def __init__(self, cells: int) -> None:
        #: Of the page, and of the rows that are made of it: a cell may be in many.
        self.left = cells
        self.made = cells

    @property
    def spent(self) -> bool:
        """Whether there is more than may be read."""
        return self.left <= 0 or self.made <= 0


_TABLE: Final = re.compile(r"<table[\s>/]", re.IGNORECASE)
_MARK: Final = "data-gossamer-comment"
_SEEN: Final = f"table, h1, h2, h3, h4, h5, h6, template[{_MARK}]"


def places(page: Page) -> Iterator[Place]:
    """Every table of a page in document order, those in comments included."""
    if page.kind not in ("html", "xml", "text") and not page.is_html:
        return
    text = page.text
    if _TABLE.search(text) is None:
        return
    marked, comments = _uncommented(text)
    tree = LexborHTMLParser(marked) if comments else page.tree
    yield from _in_tree(tree, comments)


def _in_tree(tree: LexborHTMLParser, comments: Sequence[str], heading: str | None = None) -> Iterator[Place]:
    """Tables of a tree; where a comment stood, those of the comment."""
    nodes = tree.css(_SEEN)
    holders = _holders([node for node in nodes if node.tag == "table"])
    links = _links(tree)
    for node in nodes:
        tag = node.tag
        if tag == "table":
            yield Place(node, tree.root, heading, False, holders, links)
        elif tag == "template":
            which = node.attributes.get(_MARK) or ""
            if which.isdecimal() and len(which) < 6 and int(which) < len(comments):
                inner = LexborHTMLParser(comments[int(which)])
                yield from (place._replace(hidden=True) for place in _in_tree(inner, (), heading))
        else:
            heading = tidy(node.text()) or heading


def _uncommented(text: str) -> tuple[str, list[str]]:
    """The text with a mark for each comment that has a table in it, and those comments."""
    parts: list[str] = []
    comments: list[str] = []
    done = at = 0
    while (at := text.find("<!--", at)) >= 0 and len(comments) < _MOST_COMMENTS:
        end = text.find("-->", at + 2)
        if end < 0:
            break
        inside = text[at + 4 : end]
        # Conditional comments hold the page's layout for programs of long ago.
        if _TABLE.search(inside) and not inside.startswith("["):
            parts += (text[done:at], f'<template {_MARK}="{len(comments)}"></template>')
            comments.append(inside)
            done = end + 3
        at = end + 3
    parts.append(text[done:])
    return "".join(parts), comments


def _holders(tables: Iterable[Any]) -> frozenset[int]:
    """The cells that have a table in them."""
    return frozenset(cell for table in tables if (cell := _cell_above(table)) is not None)


def _cell_above(node: Any) -> int | None:
    for _ in range(_MOST_STEPS):
        node = node.parent
        if node is None:
            return None
        if node.tag in _CELLS:
            found: int = node.mem_id
            return found
    return None


def selected(root: Any, css: str) -> set[int]:
    """The tables that match a selector, and the first of each match that is no table."""
    found = set()
    for node in selection.select(root, css):
        if not isinstance(node, str):
            table = node if node.tag == "table" else node.css_first("table")
            if table is not None:
                found.add(table.mem_id)
    return found


# --- cells and where they stand ---------------------------------------------------------------------------------

_CELLS: Final = frozenset({"td", "th"})
_SECTIONS: Final = frozenset({"thead", "tbody", "tfoot"})


class Cell(NamedTuple):
    text: str
    is_header: bool
    stat: str | None
    link: str | None
    bold: bool


class Row:
    """A row of cells: where each stands, and how many columns it takes."""

    __slots__ = ("cells", "classes", "own", "section")

    def __init__(self, section: str, classes: str) -> None:
        self.section = section
        self.classes = classes
        #: (first column, columns, cell), those that reach down from above included.
        self.cells: list[tuple[int, int, Cell]] = []
        #: Cells that begin in this row.
        self.own: list[Cell] = []

    @property
    def width(self) -> int:
        """Columns up to the beginning of its last cell: a last cell may claim more than there are."""
        return max((first + 1 for first, _, _ in self.cells), default=0)

    @property
    def all_headers(self) -> bool:
        """Whether it is header cells only, but for an empty corner."""
        cells = self.own if not self.own or self.own[0].is_header or self.own[0].text else self.own[1:]
        return any(cell.text for cell in cells) and all(cell.is_header for cell in cells)

    @property
    def is_mark(self) -> bool:
        """Whether it calls itself a header."""
        return "thead" in self.classes or "over_header" in self.classes


def laid_out(place: Place, base: str, budget: Budget) -> list[Row]:
    """The rows of a table, each cell at its column."""
    rows: list[Row] = []
    #: Cells that reach into the rows to come: first column -> (rows left, columns, cell).
    hanging: dict[int, tuple[int, int, Cell]] = {}
    section = ""
    for name, node in rows_of(place.node):
        if name != section:
            hanging, section = {}, name  # no cell reaches out of its part of the table
        row = Row(name, node.attributes.get("class") or "")
        hanging = _lay(row, hanging, [_cell(each, place, base) for each in cells_of(node)])
        budget.left -= 1 + len(row.own) + sum(span for _, span, _ in hanging.values())
        if row.own:
            rows.append(row)
        if budget.left <= 0:
            break
    return rows


def _lay(
    row: Row, hanging: dict[int, tuple[int, int, Cell]], given: list[tuple[Cell, int, int]]
) -> dict[int, tuple[int, int, Cell]]:
    """Put the cells of a row into the columns that are free; what hangs into the next row."""
    taken = {column for first, (_, span, _) in hanging.items() for column in range(first, first + span)}
    next_hanging = {}
    for first, (left, span, cell) in hanging.items():
        row.cells.append((first, span, cell))
        if left > 1:
            next_hanging[first] = (left - 1, span, cell)
    column = 0
    for cell, columns, rows in given:
        while column in taken:
            column += 1
        if column >= MOST_COLUMNS:
            break
        span = min(columns, MOST_COLUMNS - column)
        if taken and span > 1:
            span = next((n for n in range(1, span) if column + n in taken), span)
        row.cells.append((column, span, cell))
        row.own.append(cell)
        if rows > 1:
            next_hanging[column] = (rows - 1, span, cell)
        column += span
    row.cells.sort(key=_first)
    return next_hanging


def _first(placed: tuple[int, int, Cell]) -> int:
    return placed[0]


def rows_of(table: Any) -> Iterator[tuple[str, Any]]:
    """(part of the table, row), header first and footer last, wherever they stand."""
    parts: dict[str, list[Any]] = {"thead": [], "tbody": [], "tfoot": []}
    for child in table.iter():
        tag = child.tag
        if tag in _SECTIONS:
            parts[tag].append(child)
    for name, sections in parts.items():
        for each in sections:
            for node in each.iter():
                if node.tag == "tr":
                    yield name, node


def cells_of(row: Any) -> Iterator[Any]:
    return (node for node in row.iter() if node.tag in _CELLS)


_DIGITS: Final = re.compile(r"\s*+\+?(\d{1,9})")


def _span(text: str | None, most: int) -> int:
    if not text:
        return 1
    found = _DIGITS.match(text)
    number = int(found[1]) if found else 1
    if number == 0:  # to the end of this part of the table, for rows
        return most if most == MOST_SPAN else 1
    return min(number, most)


_BOLD: Final = frozenset({"b", "strong"})
#: Elements that stand within a line.
_INLINE: Final = frozenset(
    {"a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins"}
    | {"kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time"}
    | {"tt", "u", "var"}
)
#: What is not the text of a cell: what nobody sees, and other tables.
_UNSEEN: Final = frozenset({"table", "script", "style", "template", "noscript", "select"})


def _cell(node: Any, place: Place, base: str) -> tuple[Cell, int, int]:
    """A cell, and how many columns and rows it spans."""
    attributes = node.attributes
    simple, bold = _look(node)
    text = tidy(node.text() if simple else "".join(pieces(node)))
    href = place.links.get(node.mem_id)
    link = urls.resolve(href, base) if href else None
    cell = Cell(text, node.tag == "th", attributes.get("data-stat") or None, link, bold)
    return cell, _span(attributes.get("colspan"), MOST_COLUMNS), _span(attributes.get("rowspan"), MOST_SPAN)


def _look(node: Any) -> tuple[bool, bool]:
    """Whether all of a cell is one line, and whether all of it is bold."""
    first = node.child
    if first is None or (first.tag == "-text" and first.next is None):
        return True, False
    simple, bold, said = True, True, False
    for child in node.iter(include_text=True):
        tag = child.tag
        if tag == "-text":
            bold = bold and not (child.text_content or "").strip()
        elif tag in _BOLD:
            said = True
        else:
            bold = False
        if tag != "-text":
            inner = child.child
            if tag not in _INLINE or (inner is not None and (inner.tag != "-text" or inner.next is not None)):
                simple = False
    return simple, bold and said


def pieces(node: Any) -> Iterator[str]:
    """The texts of a cell, a space where a line ends; tables in it have rows of their own."""
    stack = [(node.child, "")]
    while stack:
        at, after = stack.pop()
        if at is None:
            yield after
            continue
        stack.append((at.next, after))
        tag = at.tag
        if tag == "-text":
            yield at.text_content or ""
        elif tag == "img":
            yield f" {at.attributes.get('alt') or ''} "
        else:
            space = "" if tag in _INLINE else " "
            yield space
            stack.append((None if tag in _UNSEEN else at.child, space))


def _links(tree: LexborHTMLParser) -> dict[int, str]:
    """Cell -> the first link in it."""
    found: dict[int, str] = {}
    for node in tree.css("td a[href], th a[href]"):
        cell = _cell_above(node)
        if cell is not None:
            found.setdefault(cell, node.attributes.get("href") or "")
    return found


def tidy(text: str) -> str:
    return " ".join(text.split())
