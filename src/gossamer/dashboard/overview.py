"""`/`: what goes on now, how fast, what comes next, and what somebody should look at."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

import msgspec
from nicegui import ui

from gossamer import figures, lists
from gossamer.catalog import Broken
from gossamer.dashboard import bell, starting, words
from gossamer.dashboard import coming as upcoming
from gossamer.dashboard.charts import Chart, Line
from gossamer.dashboard.coming import Coming
from gossamer.dashboard.feed import Watch
from gossamer.dashboard.parts import Badge, Bar, Text, box, card, empty, link, note, stats, when
from gossamer.dashboard.run import active_runs, share
from gossamer.dashboard.shell import Here, page
from gossamer.figures import ScraperHealth, Throughput, Totals
from gossamer.lists import AlertRow, RunRow
from gossamer.live import ActiveRun

PERIODS = {"hour": "Hour", "day": "Day", "week": "Week"}
STEPS = {"hour": "minute", "day": "10 minutes", "week": "hour"}
#: Rows of each short list.
MOST = 8
#: Runs that go on which are shown one by one.
MOST_ACTIVE = 20


#: What the store holds, and what is counted.
COUNTED = {
    "items": "different things that were found, each counted once",
    "changes": "how often an item became another, went or came back; those that are new are not counted",
    "URLs walked": "each URL counts once for each run that met it",
    "runs": "runs that were not deleted",
    "hosts": "hosts that any run asked",
}


class Alarms(msgspec.Struct, frozen=True):
    """What somebody should look at."""

    alerts: list[AlertRow]
    suspect: list[RunRow]
    open: list[ScraperHealth]
    broken: list[Broken]

    @property
    def none(self) -> bool:
        """Whether all is well."""
        return not (self.alerts or self.suspect or self.open or self.broken)


# -- what goes on now --------------------------------------------------------------------------------------------


class ActiveLine:
    """One run that waits or goes on."""

    def __init__(self, run: ActiveRun) -> None:
        with box("g-stack q-mb-md") as self.element:
            with box("g-row"):
                link(f"{run.scraper} · run {run.id}", f"/runs/{run.id}", "g-wrap")
                self._state = Badge(run.state)
                Text("", "span", "g-space")
                self._eta = Text("", "span", "g-dim g-small")
            self._bar = Bar(f"progress of run {run.id}")
            self._line = Text("", "span", "g-dim g-small")
        self.show(run)

    def show(self, run: ActiveRun) -> None:
        """How far it is."""
        cancelling = run.wanted == "cancel"
        self._state.become("cancelling" if cancelling else run.state, "warn" if cancelling else None)
        self._bar.show(share(run.state, run))
        self._eta.text = f"about {words.duration(run.eta)} left" if run.eta and run.state == "running" else ""
        told = [words.plural(run.pages, "page"), words.plural(run.items, "item"), words.rate(run.rate)]
        if run.failed:
            told.append(f"{words.number(run.failed)} failed")
        self._line.text = " · ".join(told) if run.state == "running" else "waits for its turn"


class Now:
    """The runs that wait or go on."""

    def __init__(self, here: Here) -> None:
        self._here = here
        self._lines: dict[int, ActiveLine] = {}
        with card("Running now"):
            self._list = ui.element("div")
            self._more = Text("", "p", "g-dim")
            with ui.element("div") as self._nothing:
                _nothing_runs(here)

    def show(self, runs: list[ActiveRun]) -> None:
        """Those there are now."""
        shown = runs[:MOST_ACTIVE]
        for gone in set(self._lines) - {run.id for run in shown}:
            self._lines.pop(gone).element.delete()
        for run in shown:
            if run.id in self._lines:
                self._lines[run.id].show(run)
            else:
                with self._list:
                    self._lines[run.id] = ActiveLine(run)
        self._nothing.set_visibility(not runs)
        self._more.text = f"and {len(runs) - len(shown)} more" if len(runs) > len(shown) else ""


def _nothing_runs(here: Here) -> None:
    known = list(here.service.catalog.scrapers)
    if not known:
        empty("No scrapers yet: put a file into the folder of the service, or write one with ", "gossamer new NAME URL")
    else:
        empty("Nothing runs now.")


# -- charts ------------------------------------------------------------------------------------------------------


class Charts:
    """Throughput and errors, of the last hour, day or week."""

    def __init__(self, here: Here) -> None:
        self._here = here
        self._watch: Watch[Throughput] | None = None
        with box("g-grid"):
            with card() as first:
                with box("g-head"):
                    Text("Throughput", "h2")
                    self._per = Text("", "span", "g-dim g-small")
                    Text("", "span", "g-space")
                    self._period = ui.toggle(PERIODS, value="hour", on_change=self.follow).props(
                        'unelevated padding="2px 10px"'
                    )
                self._pages = Chart([Line("pages"), Line("items", "green")], "Pages and items over time")
            first.props["aria-label"] = "Throughput"
            with card("Errors"):
                lines = [Line("failed", "red", bars=True), Line("retried", "amber", bars=True)]
                self._errors = Chart(lines, "Failures and retries over time")

    async def follow(self) -> None:
        """Show the chosen period, and keep it current."""
        period, desk = str(self._period.value), self._here.desk
        if self._watch is not None:
            self._watch.stop()
        self._watch = await self._here.watch(
            ("throughput", period), lambda: figures.throughput(desk, period), self._show, every=5.0
        )

    def _show(self, found: Throughput) -> None:
        self._per.text = f"per {STEPS[found.period]}"
        rows = found.buckets
        self._pages.show([[(row.at, row.pages) for row in rows], [(row.at, row.items) for row in rows]])
        self._errors.show([[(row.at, row.failed) for row in rows], [(row.at, row.retried) for row in rows]])


# -- what comes next, and what is wrong --------------------------------------------------------------------------


class Lines:
    """A short list that is drawn anew when it changed."""

    def __init__(self) -> None:
        self._list = ui.element("div").classes("g-stack")

    def show(self, draw: Callable[[], None]) -> None:
        """Other lines."""
        self._list.clear()
        with self._list:
            draw()


def _draw_next(found: Coming) -> None:
    timed = [each for each in found.entries if each.next_at is not None]
    coming = sorted(timed, key=lambda each: each.next_at or 0)
    if not coming:
        empty("Nothing is scheduled: set when a scraper runs on its page, or write in its file ", 'every = "6h"')
    for entry in coming[:MOST]:
        with box("g-row"):
            link(entry.schedule.name, f"/scrapers?{urlencode({'name': entry.schedule.scraper})}", "g-wrap")
            Text(entry.schedule.trigger, "span", "g-dim g-small g-wrap")
            Text("", "span", "g-space")
            if entry.schedule.scraper in found.paused:
                Badge("paused", "bad").tip("it failed too often: it is left alone until then")
            when(entry.next_at)


def _draw_alarms(alarms: Alarms) -> None:
    if alarms.none:
        empty("All is well: no alert, no suspect run, no scraper that is left alone.")
    for broken in alarms.broken:
        note(f"{broken.ref} cannot be used: {words.cut(broken.why, 300)}", "bad")
    for scraper in alarms.open:
        with box("g-row"):
            Badge("paused", "bad")
            link(scraper.name, f"/scrapers?{urlencode({'name': scraper.name})}")
            Text(f"failed {words.plural(scraper.streak, 'time')} in a row; tried again", "span", "g-small g-wrap")
            when(scraper.open_until, "g-small")
    for run in alarms.suspect:
        with box("g-row"):
            Badge("suspect")
            link(f"run {run.id} of {run.scraper}", f"/drift?run={run.id}", "g-wrap")
            when(run.ended, "g-dim g-small")
    for alert in alarms.alerts:
        with box("g-row"):
            Badge(alert.kind, bell.tone_of(alert))
            target = f"/runs/{alert.run}" if alert.run is not None else "/logs"
            link(words.cut(alert.title, 160), target, "g-wrap")
            when(alert.at, "g-dim g-small")


async def alarms_of(here: Here) -> Alarms:
    """Everything that somebody should look at."""
    catalog = here.service.catalog
    health = await figures.scraper_health(here.desk, catalog.scrapers)
    well = {each.name for each in health if each.breaker == "closed" and not each.streak}
    unseen = (await lists.alerts(here.desk, seen=False, limit=bell.MOST)).rows
    return Alarms(
        alerts=[each for each in unseen if not bell.is_over(each, well)][:MOST],
        suspect=(await lists.runs(here.desk, verdict="suspect", limit=MOST)).rows,
        open=[each for each in health if each.breaker != "closed"][:MOST],
        broken=list(catalog.broken[:MOST]),
    )


def _total(total: figures.Total) -> str:
    return words.number(total.n) if total.exact else f"about {words.number(total.n)}"


@page("/", "Overview")
async def overview(here: Here) -> None:
    """The first page."""
    with box("g-title"):
        Text("Overview", "h1")
        alive = Badge("", "dim")
    first = ui.element("div")
    with box("g-grid"):
        now = Now(here)
        with card("Alarms"):
            alarms = Lines()
    charts = Charts(here)
    with box("g-grid"):
        with card("Next"):
            coming = Lines()
        with card("In the store"):
            numbers = stats(*COUNTED)
            for number, about in zip(numbers, COUNTED.values(), strict=True):
                number.tip(about)

    def show_totals(found: Totals) -> None:
        told = (found.items, found.changes, found.urls, found.runs, found.hosts)
        for stat, total in zip(numbers, told, strict=True):
            stat.show(_total(total))
        first.clear()
        if not found.runs.n:
            with first, card("Welcome"):
                _welcome(here)

    def show_active(runs: list[ActiveRun]) -> None:
        now.show(runs)
        walked = bool(here.service.live.workers)
        alive.become("at work" if walked else "nobody walks runs", "good" if walked else "warn")

    await here.watch("active", lambda: active_runs(here), show_active)
    await here.watch(
        "alarms", lambda: alarms_of(here), lambda found: alarms.show(lambda: _draw_alarms(found)), every=5.0
    )
    await here.watch(
        "schedules",
        lambda: upcoming.load(here),
        lambda found: coming.show(lambda: _draw_next(found)),
        every=5.0,
    )
    await here.watch("totals", lambda: figures.totals(here.desk), show_totals, every=10.0)
    await charts.follow()


def _welcome(here: Here) -> None:
    starting.teach(here, "No runs yet.")
    with box("g-row justify-center"):
        link("Or hand in URLs", "/submit")
