"""What a person sees: live progress while runs work, and tables afterwards. Everything goes to stderr."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sys
import time
from collections.abc import Iterable
from itertools import compress, zip_longest
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, JustifyMethod, RenderableType, RenderResult
from rich.live import Live
from rich.table import Table
from rich.text import Text

from gossamer import settings
from gossamer.errors import ConfigError
from gossamer.progress import Bound
from gossamer.runs import Report, Running
from gossamer.storage.naming import shown
from gossamer.values import Pending

#: Seconds between two pictures on a terminal, and between two lines where there is none.
FRAME = 0.2
LINE = 10.0
#: A run bound by a host's pace is worth a word if it takes longer than this.
LONG = 20.0
#: Letters that a column of words has room for, where it has more of them than there is room for.
NARROWEST = 24


class Screen:
    """Shows runs at work: a live picture on a terminal, now and then a line elsewhere, nothing if quiet.

    Not `live`: no picture even on a terminal, because something else is printed there.
    """

    def __init__(self, console: Console, *, quiet: bool, live: bool = True) -> None:
        self.console = console
        self._quiet = quiet
        self._pictured = live and console.is_terminal
        self._runs: list[Running] = []
        self._live: Live | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Screen:
        if not self._quiet:
            if self._pictured:
                self._live = Live(console=self.console, auto_refresh=False, transient=True)
                self._live.start()
            self._task = asyncio.create_task(self._refresh(), name="screen")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._live is not None:
            self._live.stop()

    def watch(self, running: Running) -> None:
        """Show one more run; say what is resumed."""
        self._runs.append(running)
        if running.resumed is not None:
            self.note(resuming(running.run.id, running.resumed))

    def note(self, text: str) -> None:
        """As `say`, unless quiet."""
        if not self._quiet:
            self.say(text)

    def say(self, text: str) -> None:
        """One line above the live picture."""
        self.console.print(Text(text), soft_wrap=True)

    async def _refresh(self) -> None:
        shown = time.monotonic()
        while True:
            await asyncio.sleep(FRAME)
            if self._live is not None:
                self._live.update(self._picture(), refresh=True)
            elif time.monotonic() - shown >= LINE:
                shown = time.monotonic()
                for running in self._runs:
                    if not _over(running):
                        self.say(_line(running))

    def _picture(self) -> RenderableType:
        lines, notes = [], []
        room = max(3, self.console.height - 5)
        # Those at work stand first; of a whole pack's runs there may be more than the terminal has lines.
        shown = sorted(self._runs, key=_over) if len(self._runs) > room else self._runs
        rows = [_cells(running) for running in shown[:room]]
        widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=False)]
        for running, cells in zip(shown, rows, strict=False):
            lines.append(_fit(cells, widths, self.console.width))
            bound = running.progress.bound(running.engine.frontier.lanes.values())
            if bound is not None and bound.by_pace and bound.seconds > LONG:
                notes.append(Text(_no_help(bound), style="yellow"))
        if rest := shown[room:]:
            pages, items = (sum(getattr(each.progress, name) for each in rest) for name in ("pages", "items"))
            notes.append(Text(f"and {many(len(rest), 'run')} more: {many(pages, 'page')}, {many(items, 'item')}"))
        return Group(*lines, *notes[:2], *notes[2:][-1:])


def _over(running: Running) -> bool:
    """Whether a run has nothing left to do."""
    return not any(lane.waiting + lane.parked for lane in running.engine.frontier.lanes.values())


def _cells(running: Running) -> list[Text]:
    progress, lanes = running.progress, running.engine.frontier.lanes.values()
    now = time.monotonic()
    held = sum(1 for lane in lanes if lane.waiting and lane.door and lane.door.next_at > now)
    bound = progress.bound(lanes)
    cells = [
        Text(f"{running.run.scraper} #{running.run.id}", style="bold cyan"),
        Text(many(progress.pages, "page"), style="bold"),
        Text(many(progress.items, "item"), style="green"),
        Text(f"{progress.failed:,} failed", style="red" if progress.failed else "dim"),
        Text(f"{progress.rate:.1f}/s"),
        Text(size(progress.size), style="dim"),
        Text(f"{sum(lane.waiting + lane.parked for lane in lanes):,} to go", style="dim"),
    ]
    failing = [lane.door for lane in lanes if lane.door is not None and lane.door.state != "closed" and lane.waiting]
    if failing:
        wait = max(0.0, min(door.next_at for door in failing) - now)
        cells.append(Text(f"{many(len(failing), 'host')} failing, next try in {span(wait)}", style="red"))
    elif held:
        cells.append(Text(f"{many(held, 'host')} waiting", style="yellow"))
    if bound is not None and bound.seconds >= 1:
        cells.append(Text(f"at least {span(bound.seconds)} left", style="dim"))
    return cells


def _fit(cells: list[Text], widths: list[int], width: int) -> Text:
    """As many cells as one line has room for, in columns: a picture that wraps would jump."""
    line = Text(no_wrap=True, overflow="crop")
    for cell, wide in zip_longest(cells, widths, fillvalue=0):
        if not isinstance(cell, Text):
            break
        cell.pad_right(max(0, int(wide) - cell.cell_len))
        if line.cell_len + cell.cell_len + 2 > width:
            break
        line.append_text(cell).append("  ")
    return line


def _line(running: Running) -> str:
    return "  ".join(str(cell) for cell in _cells(running))


def _no_help(bound: Bound) -> str:
    return f"more workers will not help: {bound.host} bounds this run at {span(bound.seconds)}"


def resuming(run: int, left: Pending) -> str:
    """One line on what a resumed run has and lacks."""
    waiting = left.waiting - left.in_flight
    return f"resuming run {run}: {left.settled:,} done, {waiting:,} waiting, {left.in_flight:,} were in flight"


def summary(report: Report, scraper: str) -> str:
    """One line on how a run went."""
    same = [f"{report.by_reason[word]:,} {word}" for word in _AS_BEFORE if word in report.by_reason]
    parts = [many(report.pages, "page"), *same, many(report.items, "item")]
    odd = ("rejected", "failed", "skipped", "retried")
    parts += [f"{getattr(report, name):,} {name}" for name in odd if getattr(report, name)]
    parts.append(size(report.bytes))
    took = f"{span(report.seconds)} ({report.pages_per_second:,.1f} pages/s)"
    return f"run {report.run} ({scraper}) {told_ending(report)}: {', '.join(parts)} in {took}"


#: Pages that were as an earlier run read them.
_AS_BEFORE = ("unchanged", "fresh")
#: Endings that nobody need look into.
_WELL = frozenset({"ok", "redirect", "sitemap", "robots_sitemaps", "file", *_AS_BEFORE})
_ENDINGS = {
    "done": "finished",
    "max_pages": "stopped at --max-pages",
    "max_items": "stopped at --max-items",
    "interrupted": "interrupted",
    "start_failed": "failed, no page was read",
    "held": "stopped, all that is left waits for hosts that are held or failing",
}


def told_ending(report: Report) -> str:
    """How a run ended, in a few words."""
    other = f"{report.status}: {report.reason}" if report.reason else report.status
    return _ENDINGS.get(report.reason, other)


def reasons(report: Report) -> str:
    """What ended walks other than well, most frequent first; empty if nothing did."""
    odd = {k: v for k, v in report.by_reason.items() if k not in _WELL}
    return ", ".join(f"{n:,} {reason}" for reason, n in sorted(odd.items(), key=lambda pair: -pair[1]))


def table(
    title: str,
    columns: Iterable[str],
    rows: Iterable[Iterable[Any]],
    *,
    numbers: Iterable[str] = (),
    least: Iterable[str] = (),
) -> Table:
    """A table; columns named in `numbers` are set to the right.

    Those named in `least`, the least important first, are left out where there is no room for all, and the others are
    then whole: only words in the last column, if it has any, go on in the next line.
    """
    made = _Fitting(list(columns), [[_cell(value) for value in row] for row in rows], set(numbers), list(least))
    made.title = title or None
    return made


class _Fitting(Table):
    """A table that knows which of its columns to leave out."""

    def __init__(self, columns: list[str], rows: list[list[Text]], numbers: set[str], least: list[str]) -> None:
        super().__init__(title_justify="left", title_style="bold", header_style="dim", box=None)
        self._given = (columns, rows, numbers, least)
        for column in columns:
            # Numbers, hosts and times are of no use in pieces.
            whole = column in numbers or column in ("host", "started") or (bool(least) and column != columns[-1])
            side: JustifyMethod = "right" if column in numbers else "left"
            self.add_column(column, justify=side, overflow="fold", no_wrap=whole)
        for row in rows:
            self.add_row(*row)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns, rows, numbers, _ = self._given
        out = self._without_room(options.max_width)
        if not out:
            yield from super().__rich_console__(console, options)
            return
        kept = [column not in out for column in columns]
        fewer = _Fitting(list(compress(columns, kept)), [list(compress(row, kept)) for row in rows], numbers, [])
        for column in fewer.columns[:-1]:
            column.no_wrap = True
        fewer.title = self.title
        yield from fewer.__rich_console__(console, options)
        yield Text(f" in a wider window: {', '.join(out)}", style="dim")

    def _without_room(self, room: int) -> list[str]:
        """The columns to leave out, in their order: of those that may be, the important ones stay first."""
        columns, _, _, least = self._given
        wide = self._widths()
        taken = sum(width for name, width in wide.items() if name not in least)
        stay = set(columns) - set(least)
        for name in reversed(least):
            if taken + wide[name] <= room:
                taken += wide[name]
                stay.add(name)
        return [name for name in columns if name not in stay]

    def _widths(self) -> dict[str, int]:
        """How wide each column is; of one that may go on in the next line, how wide at least."""
        columns, rows, numbers, _ = self._given
        found = {}
        for index, name in enumerate(columns):
            lengths = [cell_len(name), *(row[index].cell_len for row in rows)]
            if name == columns[-1] and name not in numbers and name != "started":
                lengths = [min(length, NARROWEST) for length in lengths]
            found[name] = max(lengths) + 2
        return found


def _cell(value: Any) -> Text:
    return value if isinstance(value, Text) else Text(_written(value))


def _written(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:,.1f}" if isinstance(value, float) else str(value)


def many(number: int, noun: str) -> str:
    """A number of things, in words."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def first_line(text: str | None) -> str:
    """The first line of a docstring."""
    return (text or "").strip().partition("\n")[0]


def size(number: float) -> str:
    """Bytes for people."""
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1000 or unit == "GB":
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    raise AssertionError


def span(seconds: float) -> str:
    """A time for people."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 86400 else f"{seconds / 86400:.1f} days"


def program() -> str:
    """How this command is called from where we are: `gossamer`, or its path where the shell would not find it."""
    if shutil.which("gossamer"):
        return "gossamer"
    path = Path(sys.argv[0])
    if path.name != "gossamer" or not path.exists():
        return "gossamer"
    near = os.path.relpath(path)
    return near if not near.startswith("..") else str(path)


def store_option(store: str, default: str = "gossamer.db") -> str:
    """` --store PATH`, as a shell wants it, without the password of a URL; empty where it goes without saying."""
    return "" if store in (default, _store_set()) else f" --store {shlex.quote(shown(store))}"


def _store_set() -> str | None:
    """The store that a command has which says nothing of it: that of gossamer.toml, or of the environment."""
    try:
        read = settings.read()
    except ConfigError:
        return None
    return read.place.store if "store" in read.origins else None


def moment(stamp: float | None) -> str:
    """A time stamp for people, in their own time zone."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(stamp)) if stamp else "-"
