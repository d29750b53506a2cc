"""`/runs/ID`: one run, live while it goes on: how far it is, which hosts hold it up, what failed, what it logs."""

from __future__ import annotations

import functools
from typing import Any
from urllib.parse import urlencode

import msgspec
from nicegui import ui

from gossamer import lists
from gossamer.dashboard import deeds, words
from gossamer.dashboard.feed import Watch
from gossamer.dashboard.parts import (
    Badge,
    Bar,
    Cell,
    Column,
    Pairs,
    Row,
    Sheet,
    Table,
    Text,
    box,
    button,
    card,
    empty,
    link,
    note,
    point_in_time,
    stats,
    when,
)
from gossamer.dashboard.shell import Here, page
from gossamer.errors import NotFound
from gossamer.lists import EventRow, RunDetail, RunRow
from gossamer.live import ActiveRun

#: Lines of the log that are shown.
LINES = 50
#: What is counted, as `RunRow` calls it.
COUNTED = ("pages", "items", "new_items", "failed", "skipped", "retried", "rejected")
#: States of a run that has not ended.
ACTIVE = ("pending", "running")
#: What is being done to a run that somebody wants something of.
DOING = {"cancel": "cancelling", "pause": "pausing"}
#: How the bar of a run that ended is painted.
BARS = {"finished": "good", "failed": "bad", "killed": "bad", "cancelled": "dim", "stopped": "warn"}
#: Seconds between two looks at what takes more to read.
EVERY = 3.0
_HOSTS = (
    Column("Host"),
    Column("Waiting", "right"),
    Column("Flying", "right"),
    Column("Next in", "right"),
    Column("Pace", "right"),
    Column("Why it waits", minor=True, form="text"),
)


class Moment(msgspec.Struct, frozen=True):
    """What is known of a run now: its row, and what whoever walks it says."""

    detail: RunDetail | None
    active: ActiveRun | None


async def moment(here: Here, run: int) -> Moment:
    """Read both, for a page that shows a run beside other things."""
    detail = await lists.run(here.desk, run)
    if detail is None or detail.run.state not in ACTIVE:
        return Moment(detail, None)
    found = await here.feed.latest("active", lambda: active_runs(here))
    return Moment(detail, next((each for each in found if each.id == run), None))


class RunPage:
    """The page of one run."""

    def __init__(self, here: Here, run: int) -> None:
        self.here = here
        self.run = run
        self._detail: RunDetail | None = None
        self._active: ActiveRun | None = None
        self._offered: list[str] | None = None
        self._watches: list[Watch[Any]] = []

    async def load(self) -> RunDetail | None:
        """All there is to say, for everybody who looks at this run."""
        return await lists.run(self.here.desk, self.run)

    async def log(self) -> list[EventRow]:
        """The last lines of its log, oldest first."""
        found = await lists.events(self.here.desk, run=self.run, limit=LINES)
        return list(reversed(found.rows))

    async def draw(self) -> None:
        """All of it."""
        first = await self.here.feed.latest(self._key, self.load, EVERY)
        if first is None:
            raise NotFound(f"there is no run {self.run}: it may have been deleted")
        self._draw_title(first)
        self._draw_progress()
        with box("g-grid"):
            with card("Hosts", "g-wide") as self._host_card:
                self._hosts = Table(_HOSTS, nothing=lambda: empty("No host has anything waiting."), label="Hosts")
            with card("What became of its URLs"):
                columns = (Column("What", form="text"), Column("URLs", "right"))
                self._reasons = Table(columns, nothing=self._draw_nothing, label="Reasons")
            with card("About this run"):
                self._draw_about(first)
        with card("Log"):
            self._log = Text("", "pre", "g-log")
            self._log.props["tabindex"] = "0"
            self._log.props["aria-label"] = "The last lines of the log"
            link("All lines", f"/logs?run={self.run}", "g-small")
        await self._follow()

    @property
    def _key(self) -> tuple[str, int]:
        return "run", self.run

    async def _follow(self) -> None:
        """Keep it current: what whoever walks it says each second, and what takes more to read now and then."""
        self._stop()
        watch = self.here.watch
        self._watches = [
            await watch(("log", self.run), self.log, self._show_log, EVERY),
            await watch("active", lambda: active_runs(self.here), self._show_active),
            await watch(self._key, self.load, self._show, EVERY),
        ]

    def _draw_title(self, detail: RunDetail) -> None:
        with box("g-title"):
            Text(f"Run {self.run}", "h1")
            link(detail.run.scraper, f"/scrapers?{urlencode({'name': detail.run.scraper})}", "g-wrap")
            self._state = Badge(detail.run.state)
            self._verdict = link("", f"/drift?run={self.run}")
            Text("", "div", "g-space")
            self._buttons = ui.element("div").classes("g-row")

    def _draw_progress(self) -> None:
        with card():
            self._told = note("", "warn")
            self._bar = Bar(f"progress of run {self.run}")
            self._line = Text("", "p", "g-dim")
            self._line.props["role"] = "status"
            self._stats = stats(
                "pages", "items", "new items", "failed", "skipped", "retried", "rejected", "downloaded", "took"
            )

    def _draw_nothing(self) -> None:
        with box("g-empty"):
            self._nothing_yet = Text("")

    def _draw_about(self, detail: RunDetail) -> None:
        run, about = detail.run, Pairs()
        about.add("Asked by", f"{run.asked_by or 'somebody'}, through {run.via}")
        with about.holding("Asked"):
            when(run.created)
        with about.holding("Began"):
            self._began = when(run.started)
        with about.holding("Ended"):
            self._ended = when(run.ended)
        self._why = about.add("Why it ended", _why(run))
        if run.cluster:
            with about.holding("Walked by"):
                link("workers of the cluster", "/cluster")
            limit = "no limit" if run.workers is None else f"at most {words.plural(run.workers, 'worker')}"
            about.add("Priority", f"{run.priority}, {limit}")
        about.add("Parameters", _json(run.params)).classes("g-mono")
        about.add("Options", _json(detail.options)).classes("g-mono")
        about.add("Code", detail.ref).classes("g-mono")
        told = "; ".join(f"{name}: {_plain(value)}" for name, value in detail.reading.items() if name != "gone")
        if told:
            about.add("Pages were read with", words.cut(told, 600)).classes("g-small")
        about.add("Starts", ", ".join(words.moment(start.at) for start in detail.starts[:5]) or words.NOTHING)
        with about.holding("URLs"):
            link("those of this run", f"/urls?run={self.run}")

    def _show(self, detail: RunDetail | None) -> None:
        self._detail = detail
        if detail is None:
            self._line.text = "This run was deleted."
            self._buttons.clear()
            self._stop()
            return
        run = detail.run
        doing = DOING.get(run.wanted) if run.state in ACTIVE else None
        self._state.become(doing or run.state, "warn" if doing else None)
        judged = run.verdict not in ("", "pending")
        self._verdict.text = f"drift: {run.verdict}" if judged else ""
        self._verdict.set_visibility(judged)
        self._told.set_visibility(run.verdict == "suspect" or run.state in ("failed", "killed"))
        self._told.text = words.quoted(_warning(detail))
        self._show_buttons(detail)
        self._show_progress(detail, self._active)
        self._reasons.show(Sheet([self._reason(reason, n) for reason, n in detail.by_reason.items() if n]))
        point_in_time(self._began, run.started)
        point_in_time(self._ended, run.ended)
        self._why.text = _why(run)
        if run.state not in ACTIVE:
            self._stop_soon()

    def _show_active(self, runs: list[ActiveRun]) -> None:
        before, self._active = self._active, next((each for each in runs if each.id == self.run), None)
        now = self._active
        self._hosts.show(Sheet([_host(each) for each in (now.hosts if now else [])]))
        self._host_card.set_visibility(now is not None)
        if (before is None) != (now is None) or (before and now and before.state != now.state):
            self.here.feed.spoil(self._key)  # it begins, or has ended: the rest is worth reading now
        elif self._detail is not None and now is not None:
            self._show_progress(self._detail, now)

    def _show_progress(self, detail: RunDetail, active: ActiveRun | None) -> None:
        run: RunRow | ActiveRun = detail.run
        if active is not None and detail.run.state in ACTIVE:
            run = active
        for stat, name in zip(self._stats, COUNTED, strict=False):
            stat.show(words.number(getattr(run, name, None) or getattr(detail.run, name)))
        self._stats[-2].show(words.size(run.size))
        self._stats[-1].show(words.duration(run.seconds))
        self._bar.show(share(detail.run.state, active), BARS.get(detail.run.state, ""))
        self._nothing_yet.text = "They are counted in a moment." if run.pages or run.failed else "Nothing was read yet."
        self._line.text = _progress(detail, active if active is not None and active.state == "running" else None)

    def _show_buttons(self, detail: RunDetail) -> None:
        found = deeds.offered(self.here, detail.run)
        if found == self._offered:
            return
        self._offered = found
        self._buttons.clear()
        with self._buttons:
            for deed in found:
                button(deed, deeds.ICONS[deed], functools.partial(self._do, deed), danger=deed == deeds.DELETE)

    async def _do(self, deed: str) -> None:
        if await deeds.do(self.here, self.run, deed):
            if deed == deeds.DELETE:
                ui.navigate.to("/runs")
                return
            self._offered = None
            await self._follow()

    def _reason(self, reason: str, n: int) -> Row:
        href = f"/urls?{urlencode({'run': self.run, 'reason': reason})}"
        meant = words.became(reason)
        return Row(reason, (Cell(f"{meant[:1].upper()}{meant[1:]}", href=href, tip=reason), words.number(n)))

    def _show_log(self, lines: list[EventRow]) -> None:
        told = [f"{words.moment(each.at)[11:19]} {each.level:<7} {each.name}  {each.message}" for each in lines]
        self._log.text = "\n".join(told) or "Nothing was logged yet."

    def _stop_soon(self) -> None:
        """It has ended: what is shown stays. The last lines of its log come a moment later."""
        ui.timer(2 * EVERY, functools.partial(_stop_all, list(self._watches)), once=True)

    def _stop(self) -> None:
        _stop_all(self._watches)


def _stop_all(watches: list[Watch[Any]]) -> None:
    for watch in watches:
        watch.stop()


def share(state: str, active: ActiveRun | None) -> float | None:
    """How far a run is, of one; None while nobody knows."""
    if state not in ACTIVE:
        return 1.0
    if active is None or state == "pending" or not active.settled:
        return None if state == "running" else 0.0
    return active.share


def _progress(detail: RunDetail, now: ActiveRun | None) -> str:
    run = detail.run
    if run.state == "pending":
        return "Waits for its turn."
    if run.state != "running":
        return f"{run.state.capitalize()}: {words.ending(run.reason or 'done')}."
    if now is None:
        return "Goes on; whoever walks it has not said how far it is."
    left = now.waiting + now.parked + now.flying
    told = [f"{words.number(now.settled)} of {words.number(now.settled + left)} known URLs", words.rate(now.rate)]
    if now.workers > 1:
        told.append(words.plural(now.workers, "worker"))
    if now.eta is not None and left:
        told.append(f"about {words.duration(now.eta)} left" + (f", held by {now.slowest}" if now.slowest else ""))
    if now.parked:
        told.append(f"{words.number(now.parked)} wait for a later time")
    return " · ".join(told)


def _warning(detail: RunDetail) -> str:
    run = detail.run
    if run.verdict == "suspect":
        return "Its items are held back: they break the pattern of the runs before it. Look at Drift, and decide."
    if run.state == "killed":
        return "Whoever walked it is gone. The service goes on with its own runs by itself; others are resumed by hand."
    return f"It failed: {words.ending(run.reason)}. Resume goes on where it ended."


def _host(told: dict[str, Any]) -> Row:
    interval = float(told.get("interval") or 0)
    pace = f"one in {words.duration(interval)}" if interval > 1 else words.rate(1 / interval) if interval else "free"
    return Row(
        str(told.get("host", "")),
        (
            Cell(str(told.get("host", "")), href=f"/sources?{urlencode({'host': told.get('host', '')})}"),
            words.number(told.get("waiting")),
            words.number(told.get("flying")),
            words.duration(told["next_in"]) if told.get("next_in") else words.NOTHING,
            pace,
            str(told.get("why", "")),
        ),
    )


def _why(run: RunRow) -> str:
    """Why it ended, in plain words."""
    return words.sentence(words.ending(run.reason)) if run.reason and run.state not in ACTIVE else words.NOTHING


def _plain(value: Any) -> str:
    """A list or a table of names on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=0).decode() if value else words.NOTHING


async def active_runs(here: Here) -> list[ActiveRun]:
    """What waits or goes on, read once for everybody."""
    await here.service.live.look()
    return here.service.live.active


@page("/runs/{run}", "Run")
async def run(here: Here, run: int) -> None:
    """One run."""
    here.client.title = f"Run {run} · Gossamer"
    await RunPage(here, run).draw()
