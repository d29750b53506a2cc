"""`/items/ID`: one item: what it says, what it said before, field by field, and where it was seen."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import msgspec
from nicegui import ui

from gossamer import lists
from gossamer.dashboard import words
from gossamer.dashboard.items import name_of, told
from gossamer.dashboard.parts import (
    Badge,
    Cell,
    Column,
    Pairs,
    Row,
    Sheet,
    Table,
    Text,
    at,
    box,
    card,
    empty,
    link,
    note,
    outside,
    when,
    written,
)
from gossamer.dashboard.shell import Here, page
from gossamer.errors import NotFound
from gossamer.lists import ItemChange, ItemDetail, ItemRow, Sighting

#: Fields of a record, changes, and fields of one change that are shown.
MOST_FIELDS = 300
MOST_CHANGES = 30
MOST_DELTAS = 50
#: Letters of a value that are shown.
LONGEST = 4_000
TONES = {"new": "info", "changed": "warn", "gone": "bad", "back": "good"}


def value_of(value: Any, longest: int = LONGEST) -> Text:
    """A value of a record, as text: a link where it is a web address, laid out where it is a record itself."""
    if value is None:
        return Text("(nothing)", "span", "g-dim")
    if isinstance(value, str):
        if value.startswith(("http://", "https://")) and not any(letter.isspace() for letter in value):
            return outside(value, 300)
        return Text(words.cut(value, longest), "span", "g-wrap g-lines")
    if isinstance(value, list | dict):
        short = told(value, 101)
        if len(short) <= 100:
            return Text(short, "span", "g-mono g-wrap")
        laid_out = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
        return Text(words.cut(laid_out, longest), "pre", "g-log")
    return Text(told(value), "span", "g-mono")


def _draw_about(item: ItemRow) -> None:
    about = Pairs()
    with about.holding("Scraper"):
        link(item.scraper, f"/items?{urlencode({'scraper': item.scraper})}")
    about.add("Kind", words.cut(item.kind, 200))
    about.add("Key", words.cut(item.key, 500)).classes("g-mono")
    with about.holding("Page"), box("g-row"):
        outside(item.url, 200)
        link("why it was fetched", f"/urls?{urlencode({'url': item.url})}", "g-small")
    for label, moment, run in (
        ("First seen", item.first_seen, item.first_run),
        ("Last seen", item.last_seen, item.last_run),
        ("Last changed", item.last_changed, 0),
    ):
        with about.holding(label), box("g-row"):
            when(moment)
            if run:
                link(f"run {run}", f"/runs/{run}", "g-small")
    about.add("Times seen", words.number(item.times_seen))
    if item.gone is not None:
        with about.holding("Gone since"):
            when(item.gone)


def _draw_fields(record: dict[str, Any]) -> None:
    if not record:
        empty("The record is empty.")
    fields = Pairs()
    for name, value in list(record.items())[:MOST_FIELDS]:
        with fields.holding(words.cut(name, 100) or "(no name)"):
            value_of(value)
    if len(record) > MOST_FIELDS:
        note(f"and {words.number(len(record) - MOST_FIELDS)} fields more: export the item to see them all")


def _draw_change(change: ItemChange) -> None:
    with box("g-stack g-change"):
        with box("g-row"):
            Badge(change.what, TONES.get(change.what))
            when(change.at)
            if change.run:
                link(f"run {change.run}", f"/runs/{change.run}", "g-small")
        if change.what == "new":
            Text("It was found for the first time.", "span", "g-dim")
        elif not change.fields:
            Text("No field differs.", "span", "g-dim")
        else:
            _draw_deltas(change)


def _draw_deltas(change: ItemChange) -> None:
    with box("g-scroll"), ui.element("table").classes("g-plain g-diff"):
        with ui.element("tr"):
            for label in ("Field", "Before", "After"):
                Text(label, "th")
        for delta in change.fields[:MOST_DELTAS]:
            with ui.element("tr"):
                Text(words.cut(delta.path, 100), "th")
                with ui.element("td").classes("g-was"):
                    value_of(delta.before, 1_000)
                with ui.element("td").classes("g-is"):
                    value_of(delta.after, 1_000)
    if len(change.fields) > MOST_DELTAS:
        Text(f"and {len(change.fields) - MOST_DELTAS} fields more", "span", "g-dim")


def _draw_history(found: ItemDetail) -> None:
    for change in found.history[:MOST_CHANGES]:
        _draw_change(change)
    if len(found.history) > MOST_CHANGES or not found.whole:
        written("Older changes are not shown here: `gossamer changes` tells them all.", "p", "g-dim")


def _sighting(seen: Sighting) -> Row:
    url = seen.url or ""
    where = Cell(words.cut(url, 120), href=f"/urls?{urlencode({'url': url})}", tip=url[:2000]) if url else Cell("–")
    return Row(str(seen.run), (Cell(str(seen.run), href=f"/runs/{seen.run}"), at(seen.at), where))


@page("/items/{item}", "Item")
async def item(here: Here, item: int) -> None:
    """One item."""
    found = await lists.item(here.desk, item)
    if found is None:
        raise NotFound(f"there is no item {item}: it may have been deleted")
    here.client.title = f"{name_of(found.item, 60)} · Gossamer"
    with box("g-title"):
        link("Items", "/items", "g-dim")
        Text(name_of(found.item, 200), "h1", "g-wrap")
        if found.item.gone is not None:
            Badge("gone", "bad")
    with box("g-grid"):
        with card("What it says", "g-wide"):
            _draw_fields(found.item.data)
        with card("About it"):
            _draw_about(found.item)
        with card("Where it was seen"):
            columns = (Column("Run"), Column("Began"), Column("Page", form="line"))
            table = Table(
                columns, nothing=lambda: empty("None of the newest runs of its scraper saw it."), label="Seen by"
            )
            table.show(Sheet([_sighting(each) for each in found.seen]))
    with card("History"):
        _draw_history(found)
