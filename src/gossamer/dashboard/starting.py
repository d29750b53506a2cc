"""Starting a run by hand, as a form: parameters as lines, and when to stop."""

from __future__ import annotations

from typing import Any

import msgspec
from nicegui import ui

from gossamer import asking, terminal, timetable
from gossamer.dashboard import words
from gossamer.dashboard.parts import Text, box, dialogue, empty, link, note, toast
from gossamer.dashboard.shell import Here
from gossamer.errors import ConfigError
from gossamer.registry import Found

#: Lines of parameters.
MOST_LINES = 100


def parameters(text: str) -> dict[str, Any]:
    """Parameters as people write them: a line `name = value` each; a value that is JSON is taken as such.

    >>> parameters("city = Berlin\\npages=3")
    {'city': 'Berlin', 'pages': 3}
    """
    found: dict[str, Any] = {}
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > MOST_LINES:
        raise ConfigError(f"there are {len(lines)} parameters: give at most {MOST_LINES}")
    for line in lines:
        name, equals, value = line.partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not name.isidentifier():
            raise ConfigError(f"{line[:60]!r} is no parameter: write lines like  city = Berlin")
        try:
            found[name] = msgspec.json.decode(value)
        except msgspec.DecodeError:
            found[name] = value
    return found


def lines_of(params: dict[str, Any]) -> str:
    """Parameters as `parameters` reads them.

    >>> lines_of({"city": "Berlin", "pages": 3, "code": "12"})
    'city = Berlin\\npages = 3\\ncode = "12"'
    """
    return "\n".join(f"{name} = {_value(value)}" for name, value in params.items())


def _value(value: Any) -> str:
    written = msgspec.json.encode(value).decode()
    if not isinstance(value, str) or not value.strip() or "\n" in value or value != value.strip():
        return written
    try:
        msgspec.json.decode(value)
    except msgspec.DecodeError:
        return value
    return written


class Starter:
    """The dialog that starts a run of one scraper."""

    def __init__(self, here: Here, found: Found) -> None:
        self.here = here
        self.found = found

    def draw(self) -> ui.dialog:
        """The dialog, not yet open."""
        with dialogue() as self.dialog:
            Text(f"Run {self.found.scraper.name}", "h2", "g-wrap")
            self._params = ui.textarea("Parameters", placeholder="one a line:  city = Berlin").props(
                "outlined dense autogrow"
            )
            self._params.classes("full-width")
            with ui.element("div"):
                for name, about in self.found.scraper.takes.items():
                    if name not in self.found.scraper.local:  # nobody can give those from here
                        Text(f"{name}: {about}", "div", "g-small g-wrap")
            if self.found.scraper.paused:
                note(f"It ships paused: {self.found.scraper.paused}", "warn")
            with box("g-row"):
                self._pages = ui.number("Stop after pages", min=1, precision=0).props("outlined dense clearable")
                self._items = ui.number("Stop after items", min=1, precision=0).props("outlined dense clearable")
            self._wrong = note("", "bad")
            self._wrong.set_visibility(False)
            with box("g-row"):
                ui.button("Run", icon="play_arrow", on_click=self._start).props("unelevated")
                ui.button("Cancel", on_click=self.dialog.close, color=None).props("flat")
        self.dialog.on("hide", self.dialog.delete)
        return self.dialog

    async def _start(self) -> None:
        try:
            params = parameters(self._params.value or "")
        except ConfigError as why:
            self._wrong.text = words.quoted(str(why))
            self._wrong.set_visibility(True)
            return
        limits = {"max_pages": self._pages.value, "max_items": self._items.value}
        knobs = {name: int(value) for name, value in limits.items() if value}
        desk, found = self.here.desk, self.found
        run = await self.here.do("run", lambda by: asking.start(desk, found, params=params, knobs=knobs, by=by))
        if run is not None:
            self.dialog.close()
            ui.navigate.to(f"/runs/{run}")


def start(here: Here, name: str) -> None:
    """Open the form for a scraper."""
    found = here.service.catalog.get(name)
    if found is None:
        toast(f"there is no scraper {name!r} any more: its file was removed, or is broken", "negative")
        return
    Starter(here, found).draw().open()


def teach(here: Here, text: str) -> None:
    """What stands where nothing ran yet: what to press, and what to type beside a service that is up."""
    command = command_of(here)
    empty(f"{text} Press Run on the page of scrapers{', or type ' if command else '.'}", command)
    with box("g-row justify-center"):
        link("To the scrapers", "/scrapers")


def command_of(here: Here, name: str = "") -> str:
    """What starts a run from a terminal while the service is up; empty if no schedule is there to be started."""
    known = here.service.catalog.scrapers
    timed = (each for each, found in known.items() if set(timetable.declared(found.scraper)) & {"every", "cron"})
    wanted = next((each for each in timed if name in ("", each)), None)
    if wanted is None:
        return ""
    return f"gossamer schedule run {wanted}{terminal.store_option(here.service.settings.place.store)}"
