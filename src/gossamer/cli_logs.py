"""`gossamer logs`: what happened, from the store, or from the log files."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from gossamer import clock, events, settings, terminal
from gossamer.cli_options import StoreOption, amount, run_number
from gossamer.errors import ConfigError, NotFound
from gossamer.events import LEVELS, Kept
from gossamer.library import wait
from gossamer.logfiles import BACKUPS
from gossamer.storage import opening

#: Seconds between two looks for what is new.
LOOK = 0.5
#: Events that are shown to begin with, however many are asked for.
MOST_SHOWN = 100_000
#: Bytes read of a log file at a time while it is followed.
CHUNK = 1 << 20

_STYLES = {"debug": "dim", "info": "", "warning": "yellow", "error": "red", "critical": "bold red"}


class Wanted(msgspec.Struct, frozen=True):
    """Which events are asked for."""

    run: int | None
    level: str
    scraper: str
    most: int

    def fits(self, event: dict[str, Any]) -> bool:
        """Whether an event of a log file is one of them."""
        level = event.get("level")
        return (
            (self.run is None or event.get("run") == self.run)
            and (not self.scraper or event.get("scraper") == self.scraper)
            and (level not in LEVELS or LEVELS.index(level) >= LEVELS.index(self.level))
        )


def logs_command(
    run: Annotated[
        int | None, typer.Argument(parser=run_number, metavar="RUN", help="Only of this run [of all]")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on and show what comes, until Ctrl-C")] = False,
    level: Annotated[
        str, typer.Option(metavar="LEVEL", help="Least important to show: debug, info, warning, error")
    ] = "debug",
    scraper: Annotated[str, typer.Option(metavar="NAME", help="Only of this scraper")] = "",
    number: Annotated[int, typer.Option("-n", parser=amount, metavar="N", help="How many to begin with")] = 100,
    files: Annotated[
        bool, typer.Option("--files", help="Read the log files, which have every event, not the store")
    ] = False,
    store: StoreOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line")] = False,
) -> None:
    """Show what happened: warnings and errors, and how runs began and ended.

    \b
    gossamer logs
    gossamer logs 12 --follow
    gossamer logs --level error --scraper shop -n 20
    gossamer logs --files --json
    """
    level = {"warn": "warning"}.get(level, level)
    if level not in LEVELS:
        raise ConfigError(f"--level {level!r} cannot be used: write one of {', '.join(LEVELS[:-1])}")
    place = settings.read({"store": store} if store else {}).place
    wanted = Wanted(run, level, scraper, min(number, MOST_SHOWN))
    show = _as_json if as_json else _as_line()
    found = _from_files(place, wanted, follow) if files else _from_store(place.store, wanted, follow)

    async def tell() -> bool:
        any_shown = False
        async for event in found:
            any_shown = True
            show(event)
        return any_shown

    try:
        if not wait(tell()):
            typer.echo(_nothing(wanted, files=files), err=True)
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise typer.Exit(0) from None  # the way to end --follow


def _nothing(wanted: Wanted, *, files: bool) -> str:
    if wanted.run is None and not wanted.scraper and wanted.level == "debug":
        there = "the log files are empty" if files else "the store has no events yet"
        return f"{there}: `gossamer serve` writes them while it works"
    return "no event is like that: ask for another run, level or scraper, or look into --files"


# -- the store -----------------------------------------------------------------------------------------------------


async def _from_store(store: str, wanted: Wanted, follow: bool) -> AsyncIterator[dict[str, Any]]:
    async with opening.looking(store) as reader:
        if wanted.run is not None and not await reader.rows("select 1 from run where id = :run", run=wanted.run):
            raise NotFound(f"there is no run {wanted.run}: `gossamer runs` lists them")
        newest = (await reader.rows("select coalesce(max(id), 0) from event"))[0][0]
        found = await events.last(reader, wanted.run, level=wanted.level, scraper=wanted.scraper, most=wanted.most)
        for event in found:
            newest = max(newest, event.id)
            yield _shown(event)
        while follow:
            await asyncio.sleep(LOOK)
            for event in await events.tail(reader, wanted.run, newest, level=wanted.level, scraper=wanted.scraper):
                newest = max(newest, event.id)
                yield _shown(event)


def _shown(event: Kept) -> dict[str, Any]:
    """An event of the store as the log files have it."""
    told = {"timestamp": clock.iso(event.at), "level": event.level, "event": event.name, "run": event.run}
    return {**event.data, **told, "scraper": event.scraper or None, "message": event.message}


# -- log files -----------------------------------------------------------------------------------------------------


async def _from_files(place: settings.Place, wanted: Wanted, follow: bool) -> AsyncIterator[dict[str, Any]]:
    path = Path(place.log_dir or opening.beside(place.store, ".logs")) / "all.log"
    following = await asyncio.to_thread(_Following, path)
    try:
        for event in await asyncio.to_thread(_newest, path, wanted, following.at):
            yield event
        while follow:
            await asyncio.sleep(LOOK)
            for line in await asyncio.to_thread(following.lines):
                came = _decoded(line)
                if came is not None and wanted.fits(came):
                    yield came
    finally:
        following.close()


def _newest(path: Path, wanted: Wanted, until: int) -> list[dict[str, Any]]:
    """The newest events that fit, oldest first, from as few files as have them. `until` there, all.log is followed."""
    found: list[dict[str, Any]] = []
    for place in (path, *(Path(f"{path}.{n}") for n in range(1, BACKUPS["all"] + 1))):
        if len(found) >= wanted.most or not place.exists():
            break
        lines = _lines_of(place, until if place == path else None)
        found = [event for event in map(_decoded, lines) if event and wanted.fits(event)] + found
    return found[-wanted.most :]


def _lines_of(path: Path, until: int | None) -> Iterator[bytes]:
    try:
        with path.open("rb") as opened:
            for line in opened:
                if until is not None and opened.tell() > until:
                    return
                yield line
    except OSError as why:
        raise ConfigError(f"{path} cannot be read: {why.strerror or why}") from None


def _decoded(line: bytes) -> dict[str, Any] | None:
    try:
        found = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return None
    return found if isinstance(found, dict) else None


class _Following:
    """The end of a file that grows, and is turned over now and then. Raises ConfigError if there is no such folder."""

    def __init__(self, path: Path) -> None:
        if not path.parent.is_dir():
            raise ConfigError(
                f"there are no log files in {path.parent}: a service writes them, or whoever sets log_dir"
            )
        self._path = path
        self._file = self._open()
        #: Where it ended when we came.
        self.at: int = self._file.seek(0, os.SEEK_END) if self._file is not None else 0
        self._rest = b""

    def _open(self) -> Any:
        try:
            return self._path.open("rb")
        except FileNotFoundError:
            return None

    def lines(self) -> list[bytes]:
        """Whole lines that came since."""
        found = self._read()
        if self._file is None or self._is_turned_over():
            found += self._read()  # what was written until it was turned over
            self.close()
            self._file = self._open()
            found += self._read()
        return found

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def _is_turned_over(self) -> bool:
        mine = os.fstat(self._file.fileno())
        try:
            there = os.stat(self._path)
        except FileNotFoundError:
            return True
        return (mine.st_dev, mine.st_ino) != (there.st_dev, there.st_ino)

    def _read(self) -> list[bytes]:
        lines: list[bytes] = []
        while self._file is not None and (chunk := self._file.read(CHUNK)):
            *whole, self._rest = (self._rest + chunk).split(b"\n")
            lines += whole
        return lines


# -- what a person sees --------------------------------------------------------------------------------------------


def _as_json(event: dict[str, Any]) -> None:
    typer.echo(msgspec.json.encode(event).decode())


def _as_line() -> Callable[[dict[str, Any]], None]:
    out = Console(highlight=False, emoji=False, markup=False)

    def show(event: dict[str, Any]) -> None:
        out.print(_line(event), soft_wrap=True)
        sys.stdout.flush()

    return show


#: What stands at a place of its own.
_APART = frozenset({"timestamp", "level", "event", "run", "scraper", "message", "exception"})


def _line(event: dict[str, Any]) -> Text:
    """`2026-11-16 12:30:01 warning run 12 (shop) page.unreadable: no price`"""
    level = str(event.get("level", ""))
    text = Text()
    text.append(f"{_when(event.get('timestamp'))} ", style="dim")
    text.append(f"{_plain(level):<7} ", style=_STYLES.get(level, ""))
    of = f"run {event['run']} ({event.get('scraper')}) " if event.get("run") else ""
    text.append(_plain(of), style="cyan")
    text.append(_plain(event.get("event", "")), style="bold")
    told = event.get("message") or ", ".join(f"{name}={event[name]}" for name in event if name not in _APART)
    text.append(f": {_plain(told)}" if told else "", style="")
    for line in str(event.get("exception") or "").splitlines()[-3:]:
        text.append(f"\n    {_plain(line)}", style="dim")
    return text


def _plain(value: object) -> str:
    """A text that does nothing to a terminal."""
    text = str(value)
    return text if text.isprintable() else repr(text)[1:-1]


def _when(stamp: object) -> str:
    """A time stamp of the log in the reader's own time zone."""
    try:
        return terminal.moment(datetime.fromisoformat(str(stamp)).timestamp())
    except (ValueError, OverflowError, OSError):
        return "-"
