"""`/runs`: every run there was, newest first, with filters, and what can be done with them."""

from __future__ import annotations

import functools
from typing import Any
from urllib.parse import urlencode

import msgspec
from nicegui import ui

from gossamer import asking, lists
from gossamer.dashboard import deeds, starting, words
from gossamer.dashboard.feed import Watch
from gossamer.dashboard.parts import (
    TONES,
    Cell,
    Column,
    Row,
    Sheet,
    Table,
    Text,
    at,
    badge,
    box,
    button,
    confirm,
    dialogue,
    empty,
    toast,
)
from gossamer.dashboard.shell import Here, page
from gossamer.lists import Listing, RunRow

#: Rows of one page.
ROWS = 50
STATES = ("pending", "running", "finished", "stopped", "failed", "cancelled", "killed")
VIAS = ("cli", "api", "dashboard", "schedule")
VERDICTS = ("suspect", "good", "learning", "accepted", "rejected")
COLUMNS = (
    Column("Run"),
    Column("Scraper"),
    Column("State"),
    Column("Began"),
    Column("Took", "right", minor=True),
    Column("Pages", "right"),
    Column("Items", "right"),
    Column("New", "right", minor=True),
    Column("Failed", "right"),
    Column("Asked by", minor=True),
)


def row_of(here: Here, run: RunRow) -> Row:
    """A run as a row of a table."""
    judged = run.verdict if run.verdict in ("suspect", "rejected") else ""
    tip = f"{run.state}: {words.ending(run.reason)}" if run.reason else run.state
    found = deeds.offered(here, run)
    return Row(
        id=str(run.id),
        cells=(
            Cell(str(run.id), href=f"/runs/{run.id}"),
            Cell(run.scraper, href=f"/runs?{urlencode({'scraper': run.scraper})}"),
            msgspec.structs.replace(badge(run.state), tip=tip, also=judged, also_tone=TONES.get(judged, "warn")),
            at(run.started or run.created),
            words.duration(run.seconds) if run.started else words.NOTHING,
            words.number(run.pages),
            words.number(run.items),
            words.number(run.new_items),
            words.number(run.failed),
            _asker(run),
        ),
        acts=found,
        danger=deeds.DELETE,
    )


def _asker(run: RunRow) -> Cell:
    """Who asked, and through what; a schedule is no person."""
    if run.via == "schedule" or not run.asked_by:
        return Cell(run.via, tip=run.asked_by[:200])
    return Cell(f"{words.cut(run.asked_by, 24)} ({run.via})", tip=run.asked_by[:200])


class History:
    """The table, and what narrows it down."""

    def __init__(self, here: Here, given: dict[str, str]) -> None:
        self.here = here
        self.given = given
        self._watch: Watch[Listing[RunRow]] | None = None
        self._draw_filters()
        with box("g-card"):
            self.table = Table(COLUMNS, self._load, nothing=self._nothing, act=self._act, label="Runs")

    def _draw_filters(self) -> None:
        with box("g-card"), box("g-row"):
            names = sorted({*self.here.service.catalog.scrapers, *filter(None, [self.given["scraper"]])})
            self._choice("scraper", "Scraper", names)
            self._choice("state", "State", STATES)
            self._choice("via", "Asked through", VIAS)
            self._choice("verdict", "Verdict", VERDICTS)
            field = ui.input("Find", value=self.given["q"], placeholder="number, scraper, reason, who asked")
            field.props("dense outlined clearable debounce=400").classes("col-grow")
            field.on_value_change(lambda event: self._narrow("q", event.value))

    def _choice(self, name: str, label: str, options: Any) -> None:
        value = self.given[name] if self.given[name] in options else None
        made = ui.select(list(options), label=label, value=value, clearable=True)
        made.props("dense outlined options-dense").style("min-width: 165px")
        made.on_value_change(lambda event: self._narrow(name, event.value))

    async def _narrow(self, name: str, value: str | None) -> None:
        self.given[name] = value or ""
        told = urlencode({key: text for key, text in self.given.items() if text})
        ui.navigate.history.replace(f"/runs?{told}" if told else "/runs")
        await self.here.read(self.follow())

    async def follow(self) -> None:
        """Show the first page, and keep it current. Everybody who looks for the same shares one reading."""
        if self._watch is not None:
            self._watch.stop()
        self.table.rewind()
        narrowed: dict[str, Any] = {name: value or None for name, value in self.given.items()}
        load = functools.partial(lists.runs, self.here.desk, **narrowed, limit=ROWS)
        self._watch = await self.here.watch(("runs", *narrowed.items()), load, self._show, every=2.0)

    def _show(self, found: Listing[RunRow]) -> None:
        if self.table.first:
            self.table.show(self._sheet(found))

    def _sheet(self, found: Listing[RunRow]) -> Sheet:
        return Sheet([row_of(self.here, run) for run in found.rows], found.next)

    async def _load(self, cursor: Any) -> Sheet:
        narrowed: dict[str, Any] = {name: value or None for name, value in self.given.items()}
        return self._sheet(await lists.runs(self.here.desk, **narrowed, limit=ROWS, cursor=cursor))

    def _nothing(self) -> None:
        if any(self.given.values()):
            empty("No run is like that: clear a filter, or look on with Next.")
        else:
            starting.teach(self.here, "No runs yet.")

    async def _act(self, row: str, deed: str) -> None:
        if await deeds.do(self.here, int(row), deed):
            await self.table.refresh()


@page("/runs", "Runs")
async def runs(here: Here, scraper: str = "", state: str = "", via: str = "", verdict: str = "", q: str = "") -> None:
    """The history."""
    given = {"scraper": scraper, "state": state, "via": via, "verdict": verdict, "q": q}
    given = {name: value[:200] for name, value in given.items()}
    if state not in STATES:
        given["state"] = ""
    if via not in VIAS:
        given["via"] = ""
    if verdict not in VERDICTS:
        given["verdict"] = ""
    with box("g-title"):
        Text("Runs", "h1")
        Text("", "div", "g-space")
        if here.may("admin"):
            button("Delete old runs", "delete_sweep", lambda: _delete_old(here, history))
    history = History(here, given)
    await history.follow()


async def _delete_old(here: Here, history: History) -> None:
    with dialogue() as dialog:
        Text("Delete old runs", "h2")
        Text("Runs that ended before that; the ten newest of each scraper and suspect ones are kept. Items stay.", "p")
        days = ui.number("Days", value=30, min=1, max=36_500, precision=0).props("outlined dense")
        with box("g-row"):
            ui.button("Go on", on_click=lambda: dialog.submit(days.value)).props("unelevated")
            ui.button("Cancel", on_click=lambda: dialog.submit(None), color=None).props("flat")
    answer = await dialog
    dialog.delete()
    if not isinstance(answer, int | float) or not 1 <= answer <= 36_500:
        return
    if await confirm(f"Delete every run that ended more than {words.plural(int(answer), 'day')} ago?", "Delete"):
        deed = here.do("admin", lambda by: asking.delete_runs(here.desk, answer * 86_400.0, by=by))
        count = await deed
        if count is not None:
            toast(f"{words.plural(count, 'run')} deleted")
            await history.follow()
