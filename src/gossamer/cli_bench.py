"""`gossamer bench`: how fast Gossamer is here, beside a plain script, and by the size of pages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from gossamer import settings, telemetry, terminal
from gossamer.cli_options import interrupted
from gossamer.errors import ConfigError

if TYPE_CHECKING:  # 100 ms to load: not for every other command
    from gossamer.benching.measure import Tell
    from gossamer.benching.results import Results

#: Where the picture goes if nobody says.
PLOT = "gossamer-bench.svg"
#: How long an answer takes in a hurry.
QUICK = "20ms"

err = Console(stderr=True, highlight=False, emoji=False)


@interrupted("the measurement was not finished")
def bench_command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer pages and sources, and shorter waits: to see that it works")
    ] = False,
    latency: Annotated[
        str | None, typer.Option(metavar="TIME", help="How long each page of a source takes to come [200ms]")
    ] = None,
    concurrency: Annotated[
        int, typer.Option(min=1, max=1000, metavar="N", help="Requests that Gossamer has under way at most")
    ] = 10,
    plot: Annotated[str, typer.Option(metavar="FILE", help="Where the picture goes: .svg or .png")] = PLOT,
    no_plot: Annotated[bool, typer.Option("--no-plot", help="Make no picture")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end, on stdout")] = False,
) -> None:
    """Measure on this machine: the demo sites by a plain script and by Gossamer, and pages of 10 KB, 100 KB and 1 MB.

    All sites are on this machine, in a process of their own; nobody else is asked for anything. Takes about two
    minutes, with --quick some seconds. What it shows of speed is what it was here and now: let nothing else run.

    \b
    gossamer bench
    gossamer bench --quick
    gossamer bench --plot bench.png
    gossamer bench --latency 50ms --concurrency 50 --json
    """
    from gossamer.benching import charts, measure, picture, results

    file = Path(plot)
    if not no_plot:
        picture.check(file)
    seconds = _seconds(latency or (QUICK if quick else "200ms"))
    telemetry.configure("error", "human", lambda text: None)
    with _progress(quiet=quiet) as tell:
        found = measure.measure(latency=seconds, concurrency=concurrency, quick=quick, tell=tell)
    if not no_plot:
        charts.picture(found).save(file)
    if as_json:
        typer.echo(msgspec.json.encode(results.told(found)).decode())
    else:
        _show(found)
    if not no_plot:
        err.print(f"the picture is in {file}", markup=False, soft_wrap=True)


def _seconds(text: str) -> float:
    try:
        found = settings.duration(text)
    except ValueError as why:
        raise ConfigError(f"--latency = {text!r} cannot be used: {why}") from None
    if found > 10:
        raise ConfigError(f"--latency = {text!r} cannot be used: write a time up to 10s")
    return found


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Tell]:
    """Shows what is being measured: a bar on a terminal, a line for each thing elsewhere."""
    if quiet:
        yield lambda what, done, of: None
        return
    if not err.is_terminal:
        said: set[str] = set()

        def line(what: str, done: int, of: int | None) -> None:
            if what not in said:
                said.add(what)
                err.print(f"measuring {what}", markup=False, soft_wrap=True)

        yield line
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("measuring {task.description}"), BarColumn(), TextColumn("{task.completed} pages"))
    with Progress(*columns, TimeElapsedColumn(), console=err, transient=True) as shown:
        task = shown.add_task("...", total=None)
        now = ""

        def move(what: str, done: int, of: int | None) -> None:
            nonlocal now
            if what != now:
                now = what
                shown.reset(task, description=what, total=of)
            shown.update(task, completed=done, total=of)

        yield move


# -- tables ----------------------------------------------------------------------------------------------------


def _show(found: Results) -> None:
    out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)
    out.print(_sources(found))
    out.print()
    out.print(_sizes(found))
    out.print()
    for aim in found.aims:
        mark = Text("met" if aim.met else "not met", style="green" if aim.met else "yellow")
        out.print(Text.assemble(mark, f": {aim.name}: {aim.got:.1f}, aimed at {aim.wanted:g}"), soft_wrap=True)
    out.print(Text(f"on {found.machine}", style="dim"), soft_wrap=True)
    if found.busy:
        text = f"the machine was busy when this began (load {found.load:g}): measure again when it is not"
        err.print(text, markup=False, soft_wrap=True, style="yellow")
    if found.quick:
        text = "--quick shows that it works; figures, and whether our aims are met, are for the full measurement"
        err.print(f"{text}: gossamer bench", markup=False, soft_wrap=True)


def _sources(found: Results) -> Any:
    columns = ("source", "engine", "type", "duration", "success", "pages", "items", "speedup")
    rows = []
    for each in found.sources:
        for took, speed in ((each.sync, None), (each.gossamer, f"{each.speedup:.1f}x")):
            share = f"{took.success:.1%}" if took.failed else "100%"
            cells = (took.engine, took.type, f"{took.seconds:.2f} s", share, took.pages, took.items, speed)
            rows.append((each.source if speed is None else "", *cells))
    title = f"every page takes {found.latency * 1000:g} ms; gossamer has {found.concurrency} requests under way at most"
    return terminal.table(title, columns, rows, numbers=columns[3:])


def _sizes(found: Results) -> Any:
    columns = ("page", "pages", "took", "pages/min", "promised", "times")
    rows = [
        (each.label, each.pages, f"{each.seconds:.2f} s", round(each.per_minute), each.claimed, f"{each.times:.1f}x")
        for each in found.sizes
    ]
    title = "the whole walk: fetched, read, settled, archived"
    return terminal.table(title, columns, rows, numbers=columns[1:])
