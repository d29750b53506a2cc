"""`/items`: what was found, searched and filtered, with columns to choose, and a way to take it home."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlencode

import msgspec
from nicegui import ui

from gossamer import lists
from gossamer.dashboard import starting, words
from gossamer.dashboard.finding import ROWS, Finder, limited
from gossamer.dashboard.parts import Cell, Column, Row, Text, at, box, button, dialogue, empty, link, written
from gossamer.dashboard.shell import Here, page
from gossamer.errors import GossamerError
from gossamer.lists import ItemRow, Listing
from gossamer.storage.records import since_of

#: Fields that columns are made of at first, and that can be chosen from.
USUAL = 4
MOST_FIELDS = 200
MOST_CHOSEN = 20
#: Fields that say what an item is called, the best first.
NAMES = ("title", "name", "headline", "text")
GONE = {"no": "Still there", "only": "Gone", "all": "Both"}
SINCES = {"1h": "Last hour", "6h": "Last 6 hours", "1d": "Last day", "7d": "Last week", "30d": "Last 30 days"}
FORMATS = {"jsonl": "JSON lines", "csv": "CSV", "parquet": "Parquet"}
#: Between the names of columns in the address.
_BETWEEN = "|"


def told(value: Any, longest: int = 120) -> str:
    """A value of a record on one line.

    >>> told(["a", 1]), told(None), told(True)
    ('["a",1]', '', 'true')
    """
    if value is None:
        return ""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return words.cut(" ".join(text[: 4 * longest].split()), longest)


def name_of(item: ItemRow, longest: int = 90) -> str:
    """What an item is called: by its record, or by its key."""
    named = (item.data.get(name) for name in NAMES)
    found = next((value for value in named if isinstance(value, str) and value.strip()), item.key)
    return told(found, longest) or f"item {item.id}"


def fields_of(items: Iterable[ItemRow]) -> list[str]:
    """The fields that records have, those that most of them have first."""
    found: Counter[str] = Counter()
    for item in items:
        names = [name for name in item.data if name and len(name) <= 100 and _BETWEEN not in name]
        found.update(names[:MOST_FIELDS])
    return [name for name, _ in found.most_common(MOST_FIELDS)]


class Items:
    """The list, and what narrows it down."""

    def __init__(self, here: Here, given: dict[str, str]) -> None:
        self.here = here
        self.finder: Finder[ItemRow] = Finder(here, "/items", given, self._load)
        #: Fields that were met, and those that are shown; none: the first few.
        self.fields: list[str] = []
        self.chosen = [name for name in given["columns"].split(_BETWEEN) if name][:MOST_CHOSEN]
        self._drawn: list[str] = []
        self._draw_filters()
        self._list = ui.element("div").classes("g-card")

    def _draw_filters(self) -> None:
        finder, given = self.finder, self.finder.given
        with box("g-card"), box("g-row"):
            names = sorted({*self.here.service.catalog.scrapers, *filter(None, [given["scraper"]])})
            finder.choice("scraper", "Scraper", names)
            finder.text("kind", "Kind", "product, article").style("width: 130px")
            finder.choice("gone", "Still there", GONE)
            ages = SINCES | ({given["since"]: given["since"]} if given["since"] else {})
            finder.choice("since", "Changed since", {**ages, **SINCES})
            finder.text("q", "Find", "words in the record, its key or its URL", wide=True)
            finder.text("where", "Where", "price > 10 and name ~ 'chair'", wide=True)
            self._columns = ui.select([], label="Columns", multiple=True, on_change=self._choose)
            self._columns.props("dense outlined options-dense").style("min-width: 130px; max-width: 100%")

    async def begin(self) -> None:
        """Look at the first rows: they say which columns there are."""
        with suppress(GossamerError):  # the finder, which reads the same in a moment, says what is wrong
            self.fields = fields_of((await self.finder.peek()).rows)
        await self._draw_list()

    async def _draw_list(self) -> None:
        shown = self.chosen or self._usual()
        self.fields = list(dict.fromkeys([*self.fields, *shown]))
        self._drawn = shown
        self._columns.set_options(self.fields, value=shown)
        columns = [
            Column("Item", form="text"),
            *(Column(words.cut(name, 40), form="text") for name in shown),
            Column("Scraper", minor=True),
            Column("Kind", minor=True),
            Column("Changed"),
        ]
        self._list.clear()
        with self._list:
            self.finder.table(columns, self._row, nothing=self._nothing, label="Items")
        await self.finder.follow()

    def _usual(self) -> list[str]:
        """The first fields, without the one that names the item."""
        return [name for name in self.fields if name not in NAMES][:USUAL]

    async def _choose(self, event: Any) -> None:
        chosen = [name for name in event.value or [] if name in self.fields][:MOST_CHOSEN]
        if chosen == self._drawn:
            return
        self.chosen = chosen
        self.finder.given["columns"] = _BETWEEN.join(chosen)
        self.finder.remember()
        await self._draw_list()

    async def _load(self, given: dict[str, str], cursor: str | None) -> Listing[ItemRow]:
        return await lists.items(
            self.here.desk,
            scraper=given["scraper"],
            kind=given["kind"],
            q=given["q"],
            where=given["where"] or None,
            since=since_of(given["since"] or None),
            gone={"only": True, "all": None}.get(given["gone"], False),
            limit=ROWS,
            cursor=cursor,
        )

    def _row(self, item: ItemRow) -> Row:
        mark = "gone: " if item.gone is not None else ""
        return Row(
            str(item.id),
            (
                Cell(mark + name_of(item), href=f"/items/{item.id}", tip=told(item.key, 300)),
                *(self._field(item.data.get(name)) for name in self._drawn),
                Cell(item.scraper),
                Cell(words.cut(item.kind, 60)),
                at(item.last_changed),
            ),
        )

    def _field(self, value: Any) -> Cell:
        text = told(value)
        outside = isinstance(value, str) and value.startswith(("http://", "https://"))
        return Cell(text, href=value[:2000] if outside else "", mono=isinstance(value, list | dict))

    def _nothing(self) -> None:
        if any(value for name, value in self.finder.given.items() if name != "columns"):
            empty("No item is like that: clear a filter, or search on with Next.")
        else:
            starting.teach(self.here, "No items yet.")

    # -- taking them home ------------------------------------------------------------------------------------------

    def export(self) -> None:
        """Say what will be in the file, and link to it."""
        given = self.finder.given
        with dialogue() as dialog:
            Text("Export", "h2")
            Text("Every item that scraper, kind, time and Where let through, however many there are.", "p")
            if given["q"]:
                Text("The words under Find do not narrow a file down: write them as a Where, like name ~ 'chair'.", "p")
            if given["gone"] in ("only", "all"):
                Text("Items that are gone are in it, marked by _gone.", "p")
            with box("g-row"):
                for style, label in FORMATS.items():
                    if style == "parquet" and find_spec("pyarrow") is None:
                        continue
                    made = link(label, self.address(style), "g-export")
                    made.props["download"] = f"items.{style}"
            if find_spec("pyarrow") is None:
                written("For Parquet, have `pip install 'gossamer[parquet]'` run where the service is.", "p", "g-dim")
            if self._drawn and self.chosen:
                Text("With the columns that were chosen, in their order.", "p", "g-dim")
            ui.button("Close", on_click=dialog.close, color=None).props("flat")
        dialog.on("hide", dialog.delete)
        dialog.open()

    def address(self, style: str) -> str:
        """Where the file is."""
        given = self.finder.given
        asked = {"format": style, **{name: given[name] for name in ("scraper", "kind", "since", "where")}}
        if given["gone"] in ("only", "all"):
            asked["gone"] = "true"
        if self.chosen and not any("," in name for name in self.chosen):
            asked["fields"] = ",".join(self.chosen)
        return f"/api/export?{urlencode({name: value for name, value in asked.items() if value})}"


@page("/items", "Items")
async def items(
    here: Here,
    q: str = "",
    scraper: str = "",
    kind: str = "",
    gone: str = "",
    since: str = "",
    where: str = "",
    columns: str = "",
) -> None:
    """The list."""
    given = limited(q=q, scraper=scraper, kind=kind, gone=gone, since=since, where=where)
    with box("g-title"):
        Text("Items", "h1")
        Text("", "div", "g-space")
        buttons = ui.element("div")
    listed = Items(here, {**given, "columns": columns[:2000]})
    with buttons:
        button("Export", "download", listed.export)
    await listed.begin()
