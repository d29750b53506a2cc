"""When a scraper runs by itself, as a form: what is meant is shown as the next five times before it is saved."""

from __future__ import annotations

import time
from typing import Any

from nicegui import ui

from gossamer import schedules, timetable
from gossamer.dashboard import words
from gossamer.dashboard.parts import Text, box, confirm, dialogue, note
from gossamer.dashboard.shell import Here
from gossamer.dashboard.starting import lines_of, parameters
from gossamer.errors import ConfigError
from gossamer.schedules import Entry
from gossamer.timetable import Schedule

#: Times that are shown before anything is saved.
PREVIEW = 5
#: What can be done with a schedule.
START, EDIT, PAUSE, RESUME, REMOVE = "Run now", "Edit", "Pause", "Resume", "Remove"
_FORMS = {"every": "Every so often", "cron": "By a cron string"}
_MISFIRE = {"coalesce": "one run for all of them", "skip": "none", "all": "each of them"}
_OVERLAP = {"skip": "leave the new one out", "queue": "let the new one wait"}


class Editor:
    """The dialog for one schedule of a scraper; without an entry, for a new one."""

    def __init__(self, here: Here, scraper: str, entry: Entry | None, name: str) -> None:
        self.here = here
        self.scraper = scraper
        self.entry = entry
        self.now = entry.schedule if entry is not None else Schedule(name=name, scraper=scraper, anchor=time.time())

    def draw(self) -> ui.dialog:
        """The dialog, not yet open."""
        with dialogue() as self.dialog:
            Text(f"When {self.scraper} runs by itself", "h2", "g-wrap")
            self._draw_fields()
            with ui.expansion("More").classes("full-width").props("dense"):
                self._draw_more()
            self._wrong = note("", "bad")
            Text("Next times", "strong")
            self._times = Text("", "pre", "g-log")
            self._times.props["aria-live"] = "polite"
            with box("g-row"):
                self._save = ui.button("Save", on_click=self._keep).props("unelevated")
                ui.button("Close", on_click=self.dialog.close, color=None).props("flat")
                if self.entry is not None and self.entry.overrides and not self.entry.by_hand:
                    ui.button("Back to what the file says", on_click=self._undo, color=None).props("flat")
        self.dialog.on("hide", self.dialog.delete)
        self._look()
        return self.dialog

    def _draw_fields(self) -> None:
        with box("g-row"):
            self._name = self._field("Name of the schedule", self.now.name, "nightly")
            self._name.set_enabled(self.entry is None)
        self._form = ui.radio(_FORMS, value="cron" if self.now.cron else "every", on_change=self._look).props("dense")
        with box("g-row"):
            self._every = self._field("Every", self.now.every or "6h", "6h, 30m, 1d")
            self._cron = self._field("Cron", self.now.cron or "0 6 * * *", "minute hour day month weekday")
            self._zone = self._field("Time zone", self.now.timezone, "Europe/Berlin")
            self._jitter = self._field("Random delay of up to", _span(self.now.jitter), "none, or 10m")
        self._enabled = ui.switch("Enabled", value=self.now.enabled, on_change=self._look)

    def _draw_more(self) -> None:
        now = self.now
        with box("g-row q-py-sm"):
            self._first = self._field("First run after", _span(now.first_delay), "as long as Every")
            self._pause = self._field("Failures before it is paused", str(now.pause_after or "none"), "3, or none")
            self._silence = self._field("Warn if nothing new for", _span(now.silence) or "none", "2d, or none")
        with box("g-row"):
            self._misfire = self._one_of("Runs missed while the service was down", _MISFIRE, now.misfire)
            self._overlap = self._one_of("If it is at work already", _OVERLAP, now.overlap)
        self._params = ui.textarea("Parameters", value=lines_of(now.params), placeholder="one a line:  city = Berlin")
        self._params.props("outlined dense autogrow debounce=300").classes("full-width q-mt-sm")
        self._params.on_value_change(self._look)

    def _field(self, label: str, value: str, placeholder: str) -> ui.input:
        made = ui.input(label, value=value, placeholder=placeholder).props("dense outlined debounce=300 maxlength=200")
        return made.on_value_change(self._look)

    def _one_of(self, label: str, options: dict[str, str], value: str) -> ui.select:
        made = ui.select(options, label=label, value=value, on_change=self._look)
        return made.props("dense outlined options-dense").style("min-width: min(280px, 100%)")

    def _changes(self) -> dict[str, Any]:
        """What the form says that does not hold yet; None takes a change back. Raises ConfigError."""
        wanted: dict[str, Any] = {
            "timezone": _text(self._zone) or "UTC",
            "jitter": _none_is(_text(self._jitter), "0"),
            "first_delay": _none_is(_text(self._first), None),
            "pause_after": _text(self._pause) or "none",
            "silence": _text(self._silence) or "none",
            "misfire": self._misfire.value,
            "overlap": self._overlap.value,
            "enabled": bool(self._enabled.value),
            "params": parameters(self._params.value or ""),
        }
        wanted[self._form.value] = _text(self._every if self._form.value == "every" else self._cron)
        read = {name: None if value is None else timetable.read(name, value) for name, value in wanted.items()}
        return {name: wanted[name] for name, value in read.items() if value != getattr(self.now, name)}

    def _wanted(self) -> Schedule:
        changes = self._changes()
        read = timetable.read_all({name: value for name, value in changes.items() if value is not None})
        changed = {**(self.entry.overrides if self.entry else {}), **read}
        for name in [name for name, value in changes.items() if value is None]:
            changed.pop(name, None)
        for name, other in (("every", "cron"), ("cron", "every")):
            if name in read:
                changed.pop(other, None)
        said = self.entry.declared if self.entry else {}
        return timetable.overlaid(self.now.name, self.scraper, self.now.anchor, said, changed)

    def _look(self) -> None:
        """Show what the form means, or what is wrong with it."""
        self._every.set_visibility(self._form.value == "every")
        self._cron.set_visibility(self._form.value == "cron")
        self._zone.set_visibility(self._form.value == "cron")
        try:
            wanted = self._wanted()
            times = timetable.next_times(wanted, time.time(), PREVIEW)
            told = "\n".join(f"{words.moment(each, wanted.timezone)}   {words.until(each)}" for each in times)
            self._say("", told if wanted.enabled else f"Paused. Enabled, it would run at\n{told}", good=True)
        except ConfigError as why:
            self._say(str(why), "", good=False)

    def _say(self, wrong: str, times: str, *, good: bool) -> None:
        self._wrong.text = words.quoted(wrong)
        self._wrong.set_visibility(bool(wrong))
        self._times.text = times or words.NOTHING
        self._save.set_enabled(good)

    async def _keep(self) -> None:
        try:
            changes = self._changes()
        except ConfigError as why:
            self._say(str(why), "", good=False)
            return
        await self._change(changes, "the schedule is saved")

    async def _undo(self) -> None:
        assert self.entry is not None
        await self._change(dict.fromkeys(self.entry.overrides), "the file says when again")

    async def _change(self, changes: dict[str, Any], told: str) -> None:
        service = self.here.service

        async def deed(by: Any) -> bool:
            if self.entry is None:
                given = {name: value for name, value in changes.items() if value is not None}
                await schedules.add(service.desk, service.catalog, _text(self._name), self.scraper, given, by=by)
            else:
                known = {name: value for name, value in changes.items() if name in timetable.FIELDS}
                await schedules.change(service.desk, self.entry.schedule.name, known, by=by)
            service.scheduler.poke()
            return True

        if await self.here.do("admin", deed, told):
            self.dialog.close()


# -- from a page ---------------------------------------------------------------------------------------------------


async def edit(here: Here, scraper: str) -> None:
    """Open the form for the schedule of a scraper; the page of one that has several has them all."""
    found = await _of(here, scraper)
    if len(found) > 1:
        ui.navigate.to(words.place("/scrapers", name=scraper))
        return
    Editor(here, scraper, found[0] if found else None, scraper).draw().open()


async def add(here: Here, scraper: str) -> None:
    """Open the form for one more schedule."""
    known = {each.schedule.name for each in await schedules.listed(here.desk)}
    names = [scraper, *(f"{scraper}-{n}" for n in range(2, len(known) + 3))]
    Editor(here, scraper, None, next(name for name in names if name not in known)).draw().open()


async def _of(here: Here, scraper: str) -> list[Entry]:
    found = await schedules.listed(here.desk, here.service.catalog)
    return [each for each in found if each.schedule.scraper == scraper]


def offered(here: Here, entry: Entry) -> list[str]:
    """What can be done with a schedule, by whoever looks."""
    found = [START] if here.may("run") and entry.schedule.scraper in here.service.catalog else []
    if here.may("admin"):
        found += [EDIT, PAUSE if entry.schedule.enabled else RESUME]
        declared = entry.schedule.name == entry.schedule.scraper and not entry.by_hand
        if not declared or entry.schedule.scraper not in here.service.catalog:
            found.append(REMOVE)
    return found


async def act(here: Here, name: str, deed: str) -> bool:
    """Do one of them; whether what is shown changed."""
    desk, catalog = here.desk, here.service.catalog
    if deed == EDIT:
        entry = await here.read(schedules.get(desk, name, catalog))
        if entry is not None:
            Editor(here, entry.schedule.scraper, entry, name).draw().open()
        return False
    if deed == START:
        run = await here.do("run", lambda by: schedules.run_now(desk, catalog, name, by=by))
        if run is not None:
            ui.navigate.to(f"/runs/{run}")
        return False
    if deed == REMOVE:
        if not await confirm(f"Remove the schedule {name}?", REMOVE, detail="Its history goes with it. Runs stay."):
            return False
        done = await here.done("admin", lambda by: schedules.remove(desk, catalog, name, by=by), f"{name} is removed")
    elif deed == PAUSE:
        done = await here.done("admin", lambda by: schedules.pause(desk, name, by=by), f"{name} is paused")
    else:
        done = await here.done("admin", lambda by: schedules.enable(desk, name, by=by), f"{name} runs again")
    here.service.scheduler.poke()
    return done


# -- how times are written -----------------------------------------------------------------------------------------


def _text(field: ui.input) -> str:
    return (field.value or "").strip()


def _none_is(text: str, otherwise: str | None) -> str | None:
    return otherwise if text in ("", "none") else text


def _span(seconds: float | None) -> str:
    """Seconds as a form takes them.

    >>> _span(600), _span(90), _span(None)
    ('10m', '90s', '')
    """
    if not seconds:
        return ""
    for length, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds % length == 0:
            return f"{seconds / length:g}{unit}"
    return f"{seconds:g}s"
