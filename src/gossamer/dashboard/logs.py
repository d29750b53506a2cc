"""`/logs`: what happened, as it happens; and for admins, who did what."""

from __future__ import annotations

from urllib.parse import urlencode

import msgspec
from nicegui import ui

from gossamer import lists
from gossamer.dashboard import words
from gossamer.dashboard.finding import ROWS, Finder, limited, number_of
from gossamer.dashboard.parts import Cell, Column, Row, Text, at, badge, box, empty, link
from gossamer.dashboard.shell import Here, page
from gossamer.lists import EventRow, Listing, TrailRow

LEVELS = {"debug": "All", "info": "Info and worse", "warning": "Warnings and worse", "error": "Errors and worse"}
COLUMNS = (
    Column("When"),
    Column("Level"),
    Column("Event"),
    Column("What happened", form="text"),
    Column("Scraper", minor=True),
    Column("Run", "right"),
)
TRAIL = (
    Column("When"),
    Column("Who"),
    Column("Through", minor=True),
    Column("Did what"),
    Column("To what", form="text"),
    Column("Detail", form="text"),
    Column("From", minor=True),
)


def event_row(event: EventRow) -> Row:
    """An event as a row."""
    data = msgspec.json.encode(event.data).decode() if event.data else ""
    message = event.message if event.message and event.message != event.name else data
    return Row(
        str(event.id),
        (
            at(event.at),
            badge(event.level),
            Cell(words.cut(event.name, 60), mono=True),
            Cell(words.cut(message, 300), tip=words.cut(data, 1_500)),
            words.cut(event.scraper, 60),
            Cell(str(event.run), href=f"/runs/{event.run}") if event.run else Cell(words.NOTHING),
        ),
    )


def trail_row(deed: TrailRow) -> Row:
    """A line of the trail as a row."""
    detail = msgspec.json.encode(deed.detail).decode() if deed.detail else ""
    return Row(
        str(deed.id),
        (
            at(deed.at),
            words.cut(deed.who, 80),
            deed.via,
            Cell(words.cut(deed.action, 60), mono=True),
            words.cut(deed.target, 120),
            Cell(words.cut(detail, 200), tip=words.cut(detail, 1_500), mono=True),
            words.cut(deed.address, 60),
        ),
    )


class Events:
    """What happened."""

    def __init__(self, here: Here, given: dict[str, str]) -> None:
        self.here = here
        self.finder: Finder[EventRow] = Finder(here, "/logs", given, self._load, every=1.0)
        with box("g-card"), box("g-row"):
            self.finder.choice("level", "Level", LEVELS)
            names = sorted({*here.service.catalog.scrapers, *filter(None, [given["scraper"]])})
            self.finder.choice("scraper", "Scraper", names)
            self.finder.text("run", "Run", "12").style("width: 110px")
            self.finder.text("q", "Find", "words in an event", wide=True)
            live = ui.switch("Live", value=True)
            live.on_value_change(lambda event: self.finder.pause(not event.value))
        with box("g-card"):
            self.finder.table(COLUMNS, event_row, nothing=self._nothing, label="Events")

    async def _load(self, given: dict[str, str], cursor: str | None) -> Listing[EventRow]:
        return await lists.events(
            self.here.desk,
            run=number_of(given["run"], "run"),
            level=given["level"] or None,
            scraper=given["scraper"],
            q=given["q"],
            limit=ROWS,
            cursor=cursor,
        )

    def _nothing(self) -> None:
        if self.finder.narrowed:
            empty("No event is like that: clear a filter, or search on with Next.")
        else:
            empty(
                "Nothing was logged yet: what happens shows up here by itself. In a terminal: ",
                "gossamer logs --follow",
            )


class Trail:
    """Who did what. Whether somebody may see it is looked at with every page."""

    def __init__(self, here: Here, given: dict[str, str]) -> None:
        self.here = here
        self.finder: Finder[TrailRow] = Finder(here, "/logs", {"tab": "trail", **given}, self._load, every=None)
        with box("g-card"), box("g-row"):
            self.finder.text("who", "Who", "a name")
            self.finder.text("action", "Did what", "run, run.start, token")
            self.finder.text("target", "To what", "a run's number, a URL, a name", wide=True)
        with box("g-card"):
            self.finder.table(TRAIL, trail_row, nothing=self._nothing, label="Trail")

    async def _load(self, given: dict[str, str], cursor: str | None) -> Listing[TrailRow]:
        await self.here.must("admin")
        return await lists.trail(
            self.here.desk,
            who=given["who"],
            action=given["action"],
            target=given["target"],
            limit=ROWS,
            cursor=cursor,
        )

    def _nothing(self) -> None:
        empty("Nobody did anything like that. Whatever people and programs change leaves a line here.")


def _draw_tabs(here: Here, shown: str) -> None:
    if not here.may("admin"):
        return
    with box("g-tabs", "nav") as tabs:
        tabs.props["aria-label"] = "Logs"
        for tab, label in (("events", "Events"), ("trail", "Trail: who did what")):
            made = link(label, f"/logs?{urlencode({'tab': tab})}")
            if tab == shown:
                made.props["aria-current"] = "page"


@page("/logs", "Logs")
async def logs(
    here: Here,
    tab: str = "",
    level: str = "",
    scraper: str = "",
    run: str = "",
    q: str = "",
    who: str = "",
    action: str = "",
    target: str = "",
) -> None:
    """Events, or the trail."""
    with box("g-title"):
        Text("Logs", "h1")
    shown = "trail" if tab == "trail" else "events"
    _draw_tabs(here, shown)
    if shown == "trail":
        await here.must("admin")
        await Trail(here, limited(who=who, action=action, target=target)).finder.follow()
    else:
        await Events(here, limited(level=level, scraper=scraper, run=run, q=q)).finder.follow()
