"""Tables as rows: what a reader sees in the cells, under the names in the header.

Spans are laid out as browsers do, headers of several levels become one name a column, and headers that are repeated
within the body are left out. Tables inside HTML comments are read too: some sites keep most of theirs there, for a
script to show. What a page claims about itself (a thousand million columns) costs nothing: spans end where the cells
end, and there is a bound to the cells that are read of one page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

import msgspec

from gossamer.parse.grid import (
    MOST_COLUMNS,
    Budget,
    Cell,
    Place,
    Row,
    cells_of,
    laid_out,
    pieces,
    places,
    rows_of,
    selected,
    tidy,
)
from gossamer.parse.page import Page

__all__ = ["Table", "by_stat", "read", "records"]

#: Tables looked at on one page, those read of them, and cells, counting each as often as it spans columns and rows.
MOST_PLACES: Final = 5000
MOST_TABLES: Final = 2000
MOST_CELLS: Final = 500_000


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """One table of a page."""

    #: The page it is on, and which of the page's tables it is, from 0.
    url: str = ""
    n: int = 0
    id: str | None = None
    #: What it says above itself: its <caption>, or a first row that is one cell.
    caption: str | None = None
    #: The nearest heading before it.
    heading: str | None = None
    #: Names, each once: "Home W", "W 2" for a second "W", "column 3" where there is none.
    columns: tuple[str, ...] = ()
    #: Column -> what a reader sees; None where the row has no such cell.
    rows: tuple[dict[str, str | None], ...] = ()
    #: The rows of <tfoot>: totals, most often.
    footer: tuple[dict[str, str | None], ...] = ()
    #: For each row the line that stands above its part of the table ("Atlantic Division"); empty if there is none.
    groups: tuple[str | None, ...] = ()
    #: For each row, column -> where the first link of the cell goes; empty if there are no links.
    links: tuple[dict[str, str], ...] = ()
    #: Column -> its `data-stat` attribute, where the site names its columns so.
    stats: dict[str, str] = {}
    #: Whether it stands inside an HTML comment.
    hidden: bool = False
    #: Whether there was more of it than is read of one page.
    cut: bool = False


def read(page: Page, *, layout: bool = False) -> list[Table]:
    """Every table of a page, in the order of the page; those that only lay it out are left out, unless asked for.

    >>> read(Page.of("<table><tr><th>City<tr><td>Ulm</table>"))[0].rows
    ({'City': 'Ulm'},)
    """
    budget = Budget(MOST_CELLS)
    found: list[Table] = []
    for place in islice(places(page), MOST_PLACES):
        if budget.spent or len(found) >= MOST_TABLES:
            break
        table = _table(page, place, len(found), budget, layout=layout)
        if table is not None:
            found.append(table)
    return found


def records(page: Page, css: str | None = None, *, id: str | None = None) -> list[dict[str, str | None]]:  # noqa: A002
    """The rows of one table: the first that has the `id`, matches `css` or stands in what does; else the first of all.

    Gives [] if there is no such table. Raises ReadError for what is no CSS selector.
    """
    wanted: dict[int, set[int]] = {}
    for place in islice(places(page), MOST_PLACES):
        if id is not None and place.node.attributes.get("id") != id:
            continue
        if css is not None:
            root = place.tree
            if root.mem_id not in wanted:
                wanted[root.mem_id] = selected(root, css)
            if place.node.mem_id not in wanted[root.mem_id]:
                continue
        named = id is not None or css is not None
        table = _table(page, place, 0, Budget(MOST_CELLS), layout=named)
        if table is not None:
            return list(table.rows)
    return []


def by_stat(table: Table) -> list[dict[str, str]]:
    """The rows of a table by `data-stat` instead of by header; cells that a row does not have are left out."""
    names = {column: table.stats.get(column, column) for column in table.columns}
    return [{names[column]: text for column, text in row.items() if text is not None} for row in table.rows]


# --- rows to tables ---------------------------------------------------------------------------------------------


def _table(page: Page, place: Place, n: int, budget: Budget, *, layout: bool) -> Table | None:
    rows = laid_out(place, page.base_url, budget)
    if not rows or not (layout or _is_data(place, rows)):
        return None
    heads, body, foot = _parts(rows)
    width = min(max(row.width for row in rows), MOST_COLUMNS)
    caption = _caption(place.node)
    titles = [row for row in heads if _is_title(row, width)]
    heads = [row for row in heads if row not in titles]
    caption = caption or next((row.own[0].text for row in titles), None)
    columns = _Columns(heads, body, width)
    kept, groups = _grouped(body, columns)
    made = [columns.record(row) for row in _within(kept, width, budget)]
    footer = [columns.record(row) for row in _within(foot, width, budget)]
    return Table(
        url=page.url,
        n=n,
        id=place.node.attributes.get("id") or None,
        caption=caption,
        heading=place.heading,
        columns=tuple(columns.names),
        rows=tuple(columns.filled(row) for row, _ in made),
        footer=tuple(columns.filled(row) for row, _ in footer),
        groups=tuple(groups[: len(made)]) if any(groups) else (),
        links=tuple(links for _, links in made) if any(links for _, links in made) else (),
        stats=columns.stats,
        hidden=place.hidden,
        cut=budget.spent,
    )


def _within(rows: Sequence[Row], width: int, budget: Budget) -> Iterator[Row]:
    """As many rows as there are cells left for."""
    for row in rows:
        if budget.made <= 0:
            return
        budget.made -= width
        yield row


def _is_data(place: Place, rows: Sequence[Row]) -> bool:
    """Whether a table says something as a table: a header, or rows and columns with no other table in them."""
    if (place.node.attributes.get("role") or "") in ("presentation", "none"):
        return False
    if any(cell.is_header and cell.text for row in rows for cell in row.own):
        return True
    if any(row.section == "thead" for row in rows) or _caption(place.node):
        return True
    if len(rows) < 2 or max(row.width for row in rows) < 2:
        return False
    return not any(node.mem_id in place.holders for _, row in rows_of(place.node) for node in cells_of(row))


def _caption(table: Any) -> str | None:
    for child in table.iter():
        if child.tag == "caption":
            return tidy("".join(pieces(child))) or None
    return None


def _parts(rows: Sequence[Row]) -> tuple[list[Row], list[Row], list[Row]]:
    """Header, body and footer."""
    heads = [row for row in rows if row.section == "thead"]
    body = [row for row in rows if row.section == "tbody"]
    foot = [row for row in rows if row.section == "tfoot"]
    if heads and not body and len(heads) > 1:  # all of it stands in the header
        heads, body = _split(heads, bold=False)
        if not heads:
            heads, body = body[:1], body[1:]
    elif not heads:
        heads, body = _split(body, bold=True)
    return heads, body, foot


def _split(rows: list[Row], *, bold: bool) -> tuple[list[Row], list[Row]]:
    """The rows at the beginning that are headers, and the rest."""
    count = 0
    while count < len(rows) and (rows[count].all_headers or rows[count].is_mark):
        count += 1
    if count == len(rows):  # a table of headers only: the first names the columns, the others are rows
        count = min(1, len(rows) - 1)
    if not count and bold and len(rows) > 1:
        said = [cell for cell in rows[0].own if cell.text]
        below = [cell for cell in rows[1].own if cell.text]
        count = int(len(said) > 1 and all(cell.bold for cell in said) and not all(cell.bold for cell in below))
    return rows[:count], rows[count:]


def _is_title(row: Row, width: int) -> bool:
    """Whether a row of the header is one cell above all columns."""
    return width > 1 and len(row.own) == 1 and len(row.cells) == 1 and row.cells[0][1] >= width


class _Columns:
    """The names of a table's columns, and its rows under them."""

    def __init__(self, heads: Sequence[Row], body: Sequence[Row], width: int) -> None:
        levels = [_spread(row, width) for row in heads]
        stats = _stats(levels, body, width)
        self.names: list[str] = []
        #: Column -> data-stat.
        self.stats: dict[str, str] = {}
        self._taken: set[str] = set()
        #: What the lowest level of the header says.
        self.header = [cell.text if cell else "" for cell in levels[-1]] if levels else []
        for column in range(width):
            self._add(_name(levels, column) or stats[column] or f"column {column + 1}", stats[column])
        self._width = width
        self._by_stat = {stat: self.names[column] for column, stat in enumerate(stats) if stat}
        if len(self._by_stat) < sum(1 for stat in stats if stat):  # a name for two columns is none
            self._by_stat = {}

    def _add(self, name: str, stat: str | None) -> str:
        unique, count = name, 2
        while unique in self._taken:
            unique, count = f"{name} {count}", count + 1
        self._taken.add(unique)
        self.names.append(unique)
        if stat:
            self.stats[unique] = stat
        return unique

    def record(self, row: Row) -> tuple[dict[str, str | None], dict[str, str]]:
        """A row as column -> text, and its links."""
        texts: dict[str, str | None] = {}
        links: dict[str, str] = {}
        by_stat = self._by_stat
        for first, span, cell in row.cells:
            stat = cell.stat
            if stat and by_stat:  # the site says which column it is: better than where it stands
                name = by_stat.get(stat) or self._new(stat)
                texts[name] = cell.text
                if cell.link:
                    links[name] = cell.link
                continue
            for name in self.names[first : min(first + span, self._width)]:
                texts.setdefault(name, cell.text)
                if cell.link:
                    links.setdefault(name, cell.link)
        return texts, links

    def _new(self, stat: str) -> str:
        """A column that only some rows have: "reason", where others have numbers."""
        name = self._add(stat, stat) if len(self.names) < MOST_COLUMNS else self.names[-1]
        self._by_stat[stat] = name
        return name

    def filled(self, texts: dict[str, str | None]) -> dict[str, str | None]:
        """A row with all columns, in their order."""
        return {name: texts.get(name) for name in self.names}


def _spread(row: Row, width: int) -> list[Cell | None]:
    """The cell at each column."""
    found: list[Cell | None] = [None] * width
    for first, span, cell in row.cells:
        for column in range(first, min(first + span, width)):
            found[column] = cell
    return found


def _name(levels: Sequence[Sequence[Cell | None]], column: int) -> str:
    """The header above a column, from the top down; a cell that spans levels counts once."""
    seen: list[Cell] = []
    for level in levels:
        cell = level[column]
        if cell is not None and cell.text and not any(cell is other or cell.text == other.text for other in seen):
            seen.append(cell)
    return " ".join(cell.text for cell in seen)


def _stats(levels: Sequence[Sequence[Cell | None]], body: Sequence[Row], width: int) -> list[str | None]:
    """The `data-stat` of each column: the header's, unless the rows call the column something else."""
    named = [_lowest(levels, column) for column in range(width)]
    if body:
        first = [cell for cell in next(_plain(body)).cells if cell[1] == 1 and cell[0] < width and cell[2].stat]
        called, used = set(named), {cell.stat for _, _, cell in first}
        for column, _, cell in first:
            if cell.stat not in called and named[column] not in used:
                named[column] = cell.stat
    return named


def _lowest(levels: Sequence[Sequence[Cell | None]], column: int) -> str | None:
    for level in reversed(levels):
        cell = level[column]
        if cell is not None and cell.stat:
            return cell.stat
    return None


def _plain(body: Sequence[Row]) -> Iterator[Row]:
    """Rows that are no headers; the first row, if all are."""
    yield from (row for row in body if not row.is_mark and not row.all_headers)
    yield body[0]


def _grouped(body: Sequence[Row], columns: _Columns) -> tuple[list[Row], list[str | None]]:
    """The body without what is only its header again, and for each row the line above its part."""
    kept: list[Row] = []
    groups: list[str | None] = []
    group: str | None = None
    header = columns.header
    for row in body:
        texts = [cell.text for cell in row.own]
        if not any(texts) and len(texts) == 1:
            continue
        if not (row.is_mark or (header and (row.all_headers or texts == header))):
            kept.append(row)
            groups.append(group)
        elif (said := next(iter(filter(None, texts)), None)) and said not in header:
            group = said
    return kept, groups
