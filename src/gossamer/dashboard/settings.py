"""`/settings`: what the service was started with and where each value comes from, versions, and who walks runs."""

from __future__ import annotations

import platform
import sqlite3
from importlib import metadata

from nicegui import ui

from gossamer import __version__, lists
from gossamer.api import security
from gossamer.dashboard import words
from gossamer.dashboard.parts import Badge, Cell, Column, Pairs, Row, Sheet, Table, Text, at, box, card, empty, when
from gossamer.dashboard.shell import Here, page
from gossamer.lists import WorkerRow
from gossamer.storage import naming

#: Libraries whose version explains what may differ between two machines.
LIBRARIES = ("nicegui", "fastapi", "uvicorn", "apscheduler", "wreq", "selectolax", "playwright", "pyarrow")
KNOBS = (Column("Setting"), Column("Value", form="text"), Column("From"), Column("Means", minor=True, form="text"))
WORKERS = (
    Column("Worker"),
    Column("State"),
    Column("Heard"),
    Column("Runs", "right"),
    Column("Memory", "right"),
    Column("Since", minor=True),
    Column("Process", "right", minor=True),
)


def worker_row(worker: WorkerRow) -> Row:
    """A worker as a row."""
    runs = worker.data.get("runs")
    memory = worker.data.get("memory")
    return Row(
        worker.name,
        (
            words.cut(worker.name, 80),
            Cell("alive", tone="good") if worker.alive else Cell("silent", tone="dim"),
            at(worker.at),
            words.number(len(runs) if isinstance(runs, dict) else None),
            words.size(memory if isinstance(memory, int | float) else None),
            at(worker.started),
            str(worker.pid),
        ),
    )


class Knobs:
    """Every setting, and a field that finds one."""

    def __init__(self, here: Here) -> None:
        self._all = here.service.settings.shown()
        field = ui.input("Find", placeholder="rate, proxies, GOSSAMER_").props("dense outlined clearable debounce=200")
        field.on_value_change(lambda event: self.show(event.value or ""))
        self._own = ui.switch("Only those that were set", on_change=lambda: self.show(field.value or ""))
        self._table = Table(KNOBS, nothing=lambda: empty("No setting is like that."), label="Settings")
        self.show("")

    def show(self, wanted: str) -> None:
        """Those that have a text in their name, value or origin."""
        wanted = wanted.strip().lower()
        found = [each for each in self._all if any(wanted in part.lower() for part in each)]
        if self._own.value:
            found = [each for each in found if each[2] != "default"]
        self._table.show(Sheet([_knob(*each) for each in found]))


#: Settings that are a number of bytes.
SIZES = ("archive_size", "max_body", "max_headers", "max_download", "spool_above")


def _knob(name: str, value: str, origin: str, about: str) -> Row:
    tone = "dim" if origin == "default" else "info"
    if origin == "--scrapers":  # what `gossamer serve` found, or was told as an argument: there is no such option
        origin = "command line"
    shown = words.size(int(value)) if name in SIZES and value.isdecimal() else words.cut(value, 300)
    given = Cell(shown, mono=True, tip=value[:300] if shown != value else "")
    return Row(name, (Cell(name, mono=True), given, Cell(origin, tone=tone), words.quoted(about)))


def _draw_about(here: Here) -> None:
    service, place = here.service, here.service.settings.place
    about = Pairs()
    about.add("Gossamer", __version__)
    about.add("Store", naming.shown(place.store)).classes("g-mono")
    about.add("Folder", str(service.folder)).classes("g-mono")
    about.add("Listens on", place.listen).classes("g-mono")
    with about.holding("Connections"):
        safe = "encrypted (TLS)" if service.secure else "only from this machine" if security.on_loopback(place) else ""
        Badge(safe or "not encrypted", "good" if safe else "warn")
    with about.holding("Started"):
        when(service.started)
    about.add("Scrapers", f"{len(service.catalog.scrapers)} ({len(service.catalog.broken)} cannot be used)")
    about.add("Python", f"{platform.python_version()}, SQLite {sqlite3.sqlite_version}")
    about.add("Libraries", ", ".join(filter(None, map(_version, LIBRARIES))))


def _version(name: str) -> str:
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return ""


@page("/settings", "Settings")
async def settings(here: Here) -> None:
    """All of it."""
    with box("g-title"):
        Text("Settings", "h1")
    with box("g-grid"):
        with card("This service", "g-wide"):
            _draw_about(here)
        with card("Workers", "g-wide"):
            told = "Nobody walks runs: the runner starts with the service, so look at the logs."
            workers = Table(WORKERS, nothing=lambda: empty(told), label="Workers")
    with card("Settings"):
        Text(
            "They are changed in gossamer.toml, the environment or on the command line, and hold after a restart.", "p"
        )
        Knobs(here)

    def show(found: list[WorkerRow]) -> None:
        workers.show(Sheet([worker_row(each) for each in found]))

    await here.watch("workers", lambda: lists.workers(here.desk), show, every=2.0)
