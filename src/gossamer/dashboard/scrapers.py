"""`/scrapers`: how each scraper does, run now, when it runs by itself, enable and disable."""

from __future__ import annotations

from urllib.parse import urlencode

import msgspec

from gossamer import asking, figures, lists
from gossamer.catalog import Broken
from gossamer.dashboard import coming, runs, scheduling, starting, words
from gossamer.dashboard.charts import Chart, Line
from gossamer.dashboard.parts import (
    Badge,
    Cell,
    Column,
    Row,
    Sheet,
    Table,
    Text,
    at,
    box,
    button,
    card,
    empty,
    link,
    note,
    stats,
)
from gossamer.dashboard.shell import Here, page
from gossamer.errors import NotFound
from gossamer.figures import ScraperHealth
from gossamer.lists import FiringRow, Listing, RunRow
from gossamer.schedules import Entry

RUN, SCHEDULE = "Run", "Schedule"
#: Schedules of one scraper that are shown.
MOST_SCHEDULES = 50
COLUMNS = (
    Column("Scraper"),
    Column("Health"),
    Column("Success", "right"),
    Column("Items per run"),
    Column("Last run"),
    Column("Ended", minor=True),
    Column("Next run"),
    Column("Schedule", minor=True),
    Column("Enabled"),
)


SCHEDULES = (Column("Schedule"), Column("When", form="text"), Column("Next run"), Column("Says who", form="text"))
FIRINGS = (
    Column("Due"),
    Column("Schedule"),
    Column("What"),
    Column("Run"),
    Column("Detail", minor=True, form="text"),
)
#: What came of a due time: how it is painted, and what it means.
FIRED = {"fired": "good", "probe": "info", "held": "bad", "skipped": "warn", "missed": "warn"}
MEANT = {
    "probe": "started to see whether it works again",
    "held": "not started: it fails, and is left alone for a while",
    "skipped": "not started: it was at work already",
    "missed": "not started: the service was not there",
}


class State(msgspec.Struct, frozen=True):
    """What the list shows."""

    scrapers: list[ScraperHealth]
    #: Scraper -> its schedules.
    schedules: dict[str, list[Entry]]
    broken: list[Broken]


async def load(here: Here) -> State:
    """Every scraper that a file has, how it does and when it runs."""
    catalog = here.service.catalog
    health = await figures.scraper_health(here.desk, catalog.scrapers)
    by_scraper: dict[str, list[Entry]] = {}
    for entry in (await coming.load(here)).entries:
        by_scraper.setdefault(entry.schedule.scraper, []).append(entry)
    return State(health, by_scraper, list(catalog.broken))


def health_of(scraper: ScraperHealth) -> Cell:
    """In one word how a scraper does."""
    if not scraper.enabled:
        return Cell("disabled", tone="dim")
    if scraper.breaker != "closed":
        return Cell("paused", tone="bad", tip=_paused(scraper))
    if scraper.streak:
        return Cell("failing", tone="bad", tip=f"failed {words.plural(scraper.streak, 'time')} in a row")
    if scraper.trend and scraper.trend[-1].verdict == "suspect":
        return Cell("suspect", tone="warn", tip="its last run breaks the pattern: look at Drift")
    return Cell("good", tone="good") if scraper.successes else Cell("new", tone="info")


def _paused(scraper: ScraperHealth) -> str:
    """What an open breaker means."""
    failed = f"{scraper.name} failed {words.plural(scraper.streak, 'time')} in a row"
    if scraper.breaker == "half_open":
        return f"{failed}: a run is on its way to see whether it works again"
    return f"{failed}: its schedules leave it alone until {words.moment(scraper.open_until)}. Run it to try at once"


def next_run(scraper: ScraperHealth, entries: list[Entry]) -> Cell:
    """When a scraper runs next by itself: what it is left alone for after failures is counted in."""
    times = [entry.next_at for entry in entries if entry.next_at is not None]
    if times and not scraper.enabled:
        return Cell("disabled", tone="dim", tip="its schedules start nothing until it is enabled")
    if times:
        found = at(min(times))
        return found if scraper.breaker == "closed" else msgspec.structs.replace(found, tip=_paused(scraper))
    if any(not entry.schedule.enabled for entry in entries):
        return Cell("paused", tone="dim")
    return Cell(next((entry.problem for entry in entries if entry.problem), "by hand"), tone="")


def row_of(here: Here, scraper: ScraperHealth, entries: list[Entry]) -> Row:
    """A scraper as a row of the list."""
    items = [float(point.items) for point in scraper.trend]
    last = Cell(words.NOTHING)
    if scraper.last_run is not None:
        last = Cell(f"{scraper.last_run}: {scraper.last_state}", href=f"/runs/{scraper.last_run}")
    trigger = ", ".join(entry.schedule.trigger for entry in entries if entry.schedule.trigger)
    return Row(
        scraper.name,
        (
            Cell(scraper.name, href=f"/scrapers?{urlencode({'name': scraper.name})}"),
            health_of(scraper),
            words.percent(scraper.success_rate),
            Cell(words.number(items[-1]) if items else words.NOTHING, trend=items, tip=_trend_label(items)),
            last,
            at(scraper.last_ended),
            next_run(scraper, entries),
            Cell(trigger or words.NOTHING),
            Cell("", switch=scraper.enabled, tip=f"{scraper.name} enabled")
            if here.may("admin")
            else Cell("yes" if scraper.enabled else "no"),
        ),
        acts=[RUN] * here.may("run") + [SCHEDULE] * here.may("admin"),
    )


def _trend_label(items: list[float]) -> str:
    return "items of the last runs: " + ", ".join(words.number(value) for value in items)


async def act(here: Here, name: str, deed: str) -> bool:
    """What a row's buttons do; whether something changed at once."""
    if deed == RUN:
        starting.start(here, name)
    elif deed == SCHEDULE:
        await scheduling.edit(here, name)
    elif deed in ("on", "off"):
        await _enable(here, name, deed == "on")
    return deed in ("on", "off")


async def _enable(here: Here, name: str, enabled: bool) -> None:
    found = here.service.catalog.get(name)
    if found is not None:
        told = f"{name} is {'enabled' if enabled else 'disabled'}"
        await here.do("admin", lambda by: asking.configure(here.desk, found, {}, enabled=enabled, by=by), told)


@page("/scrapers", "Scrapers")
async def scrapers(here: Here, name: str = "") -> None:
    """The list, or one of them."""
    if name:
        await _one(here, name[:200])
        return
    with box("g-title"):
        Text("Scrapers", "h1")
    with box("g-stack") as broken:
        pass

    async def pressed(row: str, deed: str) -> None:
        if await act(here, row, deed):
            show(await load(here))

    with card():
        table = Table(COLUMNS, nothing=_nothing, act=pressed, label="Scrapers")

    def show(state: State) -> None:
        table.show(Sheet([row_of(here, each, state.schedules.get(each.name, [])) for each in state.scrapers]))
        broken.clear()
        with broken:
            for each in state.broken:
                note(f"{each.ref} cannot be used: {words.cut(each.why, 500)}", "bad")
            for scraper in state.scrapers:
                if scraper.breaker != "closed" and scraper.enabled:
                    note(_paused(scraper), "bad")

    await here.watch("scrapers", lambda: load(here), show, every=2.0)


def _nothing() -> None:
    empty("No scrapers yet: put a Python file with a scraper into the folder of the service, or write one with ")
    empty("", "gossamer new NAME URL")


# -- one scraper ---------------------------------------------------------------------------------------------------


class One(msgspec.Struct, frozen=True):
    """What the page of one scraper shows."""

    health: ScraperHealth
    entries: list[Entry]
    runs: Listing[RunRow]
    firings: list[FiringRow]


async def _load_one(here: Here, name: str) -> One:
    health = (await figures.scraper_health(here.desk, [name]))[0]
    entries = [each for each in (await coming.load(here)).entries if each.schedule.scraper == name]
    found = await lists.runs(here.desk, scraper=name, limit=10)
    firings: list[FiringRow] = []
    for entry in entries[:MOST_SCHEDULES]:
        firings += (await lists.firings(here.desk, schedule=entry.schedule.name, limit=10)).rows
    firings.sort(key=lambda each: -each.due)
    return One(health, entries, found, firings[:10])


async def _one(here: Here, name: str) -> None:
    found = here.service.catalog.get(name)
    first = await _load_one(here, name)
    if found is None and not first.health.runs and not first.runs.rows:
        raise NotFound(f"there is no scraper {name!r}: the list has those there are")
    view = _View(here, name, first)
    await here.watch(("scraper", name), lambda: _load_one(here, name), view.show, every=2.0)


class _View:
    """The page of one scraper."""

    def __init__(self, here: Here, name: str, first: One) -> None:
        self.here, self.name = here, name
        with box("g-title"):
            link("Scrapers", "/scrapers", "g-dim")
            Text(name, "h1", "g-wrap")
            self._health = Badge("")
            Text("", "div", "g-space")
            self._draw_buttons(first)
        self._told = note("", "warn")
        with card():
            self._stats = stats("runs", "success", "mean time", "items", "new items", "failed in a row")
        with box("g-grid"):
            with card("Items per run", "g-wide"):
                self._chart = Chart([Line("items", "green"), Line("new items")], f"Items per run of {name}")
            with card(classes="g-wide") as when_it_runs:
                self._draw_when()
            when_it_runs.props["aria-label"] = "When it runs"
        with card("When it came due"):
            self._firings = Table(FIRINGS, nothing=lambda: empty("It never came due."), label="When it came due")
        command = starting.command_of(here, name)
        never = f"It never ran: press Run{', or type ' if command else '.'}"
        with card("Last runs"):
            self._runs = Table(runs.COLUMNS, nothing=lambda: empty(never, command), label="Last runs")
            link("All its runs", f"/runs?{urlencode({'scraper': name})}", "g-small")

    def _draw_buttons(self, first: One) -> None:
        if self.here.service.catalog.get(self.name) is None:
            Badge("no file has it", "bad")
        elif self.here.may("run"):
            button(RUN, "play_arrow", lambda: act(self.here, self.name, RUN), main=True)
        if self.here.may("admin"):
            self._switch = button("", "power_settings_new", self._flip)
            self._enabled = first.health.enabled

    async def _flip(self) -> None:
        await _enable(self.here, self.name, not self._enabled)
        self.show(await _load_one(self.here, self.name))

    def _draw_when(self) -> None:
        with box("g-head"):
            Text("When it runs", "h2")
            Text("", "span", "g-space")
            if self.here.may("admin") and self.name in self.here.service.catalog:
                button("Add a schedule", "add", lambda: scheduling.add(self.here, self.name))
        self._schedules = Table(
            SCHEDULES, nothing=lambda: empty("Only when somebody starts it."), act=self._act, label="Schedules"
        )
        self._knobs = note("", "dim")

    async def _act(self, schedule: str, deed: str) -> None:
        if await scheduling.act(self.here, schedule, deed):
            self.show(await _load_one(self.here, self.name))

    def show(self, now: One) -> None:
        """How it does now."""
        health, word = now.health, health_of(now.health)
        self._health.become(word.text, word.tone)
        self._told.text = word.tip
        self._told.set_visibility(bool(word.tip))
        told = (words.number(health.runs), words.percent(health.success_rate), words.duration(health.mean_seconds))
        numbers = (words.number(health.items), words.number(health.new_items), words.number(health.streak))
        for stat, text in zip(self._stats, (*told, *numbers), strict=True):
            stat.show(text)
        ended = [point for point in health.trend if point.ended is not None]
        self._chart.show(
            [[(point.ended or 0, getattr(point, what)) for point in ended] for what in ("items", "new_items")]
        )
        self._show_when(now)
        self._runs.show(Sheet([msgspec.structs.replace(runs.row_of(self.here, run), acts=()) for run in now.runs.rows]))
        if self.here.may("admin"):
            self._enabled = health.enabled
            self._switch.text = "Disable" if health.enabled else "Enable"

    def _show_when(self, now: One) -> None:
        self._schedules.show(Sheet([_schedule(self.here, now.health, each) for each in now.entries[:MOST_SCHEDULES]]))
        changed = ", ".join(f"{name} = {words.cut(str(value), 60)}" for name, value in now.health.config.items())
        self._knobs.text = f"Its options were changed through the API: {changed}"
        self._knobs.set_visibility(bool(changed))
        self._firings.show(Sheet([_firing(each) for each in now.firings]))


def _firing(firing: FiringRow) -> Row:
    run = Cell(str(firing.run), href=f"/runs/{firing.run}") if firing.run is not None else Cell(words.NOTHING)
    what = Cell(firing.what, tone=FIRED.get(firing.what, "dim"), tip=MEANT.get(firing.what, ""))
    return Row(f"{firing.schedule} {firing.due}", (at(firing.due), firing.schedule, what, run, firing.detail))


def _schedule(here: Here, health: ScraperHealth, entry: Entry) -> Row:
    """A schedule as a row, with who says so."""
    schedule = entry.schedule
    changed = ", ".join(name for name in entry.overrides if name != "trusted")
    origin = f"made by {entry.updated_by}" if entry.by_hand else "the file"
    if changed and not entry.by_hand:
        origin = f"the file; {entry.updated_by} changed {changed}"
    return Row(
        schedule.name,
        (
            schedule.name,
            schedule.trigger or entry.problem,
            next_run(health, [entry]),
            Cell(origin, tip=f"changed {words.moment(entry.updated)}"),
        ),
        acts=scheduling.offered(here, entry),
        danger=scheduling.REMOVE,
    )
