"""`gossamer cluster`: who works on a store together, what waits for them, and which run goes first."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from gossamer import terminal
from gossamer.cli_desk import at_desk, me
from gossamer.cli_options import StoreOption, interrupted, run_number
from gossamer.errors import ConfigError

if TYPE_CHECKING:  # loaded when one of these commands is called: most are not
    from gossamer.lists import Cluster, ClusterRun, ClusterWorker
    from gossamer.storage.desk import Desk

cluster_app = typer.Typer(
    name="cluster",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Workers that share a store: how they are, and what they do first.",
)

#: Seconds between two looks of --watch.
LOOK = 1.0
#: How a worker is started, for where there is none.
START = "`gossamer worker` starts one, on any machine that reaches the store and the broker"
ALONE = "one process walks this store: a file cannot be shared; `--store postgresql://...` can"

RunArgument = Annotated[int, typer.Argument(metavar="RUN", parser=run_number, help="The run, by its number")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object, on stdout")]


# -- looking ---------------------------------------------------------------------------------------------------


@cluster_app.command("status")
@interrupted("nothing was changed")
def status_command(
    store: StoreOption = None,
    as_json: AsJson = False,
    watch: Annotated[bool, typer.Option("--watch", help="Look again each second, until Ctrl-C")] = False,
) -> None:
    """Show the workers of a store, what they hold, and the runs that go on, wait or are paused.

    Exit code 1: no worker lives.

    \b
    gossamer cluster status --store postgresql://db.example/gossamer
    gossamer cluster status --watch
    gossamer cluster status --json
    """
    from gossamer import lists

    if watch:
        _watch(store, as_json=as_json)
    found = at_desk(store, lists.cluster)
    if as_json:
        typer.echo(_json(found))
    else:
        out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)
        out.print(_picture(found))
    raise typer.Exit(0 if found.alive else 1)


def _json(found: Cluster) -> str:
    return msgspec.json.encode({"alive": found.alive, **msgspec.to_builtins(found)}).decode()


def _watch(store: str | None, *, as_json: bool) -> None:
    """Look until somebody has seen enough; what goes wrong ends it with its sentence."""
    from gossamer import lists

    out = Console(highlight=False, emoji=False)

    async def work(desk: Desk) -> None:
        if as_json or not out.is_terminal:
            while True:
                found = await lists.cluster(desk)
                typer.echo(_json(found) if as_json else _headline(found))
                await asyncio.sleep(LOOK)
        with Live(console=out, auto_refresh=False, transient=False) as live:
            while True:
                live.update(_picture(await lists.cluster(desk)), refresh=True)
                await asyncio.sleep(LOOK)

    at_desk(store, work)


def _picture(found: Cluster) -> RenderableType:
    parts: list[RenderableType] = [Text(_headline(found), style="bold")]
    parts.append(_workers(found) if found.workers else Text(f"no worker was heard of: {START}", style="yellow"))
    parts.append(_runs(found) if found.runs else Text("no run waits or goes on", style="dim"))
    if not found.shared:
        parts.append(Text(ALONE, style="dim"))
    return Group(*parts)


def _workers(found: Cluster) -> RenderableType:
    columns = ("worker", "pool", "heard", "shards", "room", "cpu", "memory", "lag", "pages", "rate", "why")
    rows = [list(_worker(each, found.at)) for each in found.workers]
    numbers = ("shards", "room", "cpu", "memory", "lag", "pages", "rate")
    return terminal.table("", columns, rows, numbers=numbers, least=("pool", "lag", "memory", "why", "heard", "cpu"))


def _runs(found: Cluster) -> RenderableType:
    columns = ("run", "scraper", "state", "priority", "most", "workers", "waiting", "pages", "rate", "shards")
    rows = [list(_run(each)) for each in found.runs]
    numbers = ("run", "priority", "most", "workers", "waiting", "pages", "rate")
    return terminal.table("", columns, rows, numbers=numbers, least=("most", "priority", "pages", "shards"))


def _headline(found: Cluster) -> str:
    """All of it in one line."""
    shards = found.shards
    told = [terminal.many(found.alive, "worker"), terminal.many(found.leases, "lease")]
    if found.shared:
        waits = f" (the first for {terminal.span(found.at - found.oldest_ticket)})" if found.oldest_ticket else ""
        told.append(f"{terminal.many(found.tickets, 'ticket')} waiting{waits}")
        told.append(f"shards: {shards.leased:,} leased, {shards.free:,} free, {shards.parked:,} parked")
    told.append(f"{found.rate:,.1f} pages/s")
    return ", ".join(told)


def _worker(worker: ClusterWorker, now: float) -> Iterator[object]:
    name = worker.called or ":".join(worker.name.split(":")[:2])
    heard = terminal.span(max(0.0, now - worker.at))
    yield Text(name, style="" if worker.alive else "red")
    yield worker.pool or worker.kind
    yield Text(f"{heard} ago" if worker.alive else f"silent for {heard}", style="" if worker.alive else "red")
    yield worker.leases
    yield f"{worker.room} of {worker.most}" if worker.room is not None and worker.most is not None else worker.room
    yield None if worker.cpu is None else f"{100 * worker.cpu:.0f} %"
    yield None if worker.memory is None else terminal.size(worker.memory)
    yield None if worker.lag is None else f"{1000 * worker.lag:,.0f} ms"
    yield worker.pages
    yield f"{worker.rate:,.1f}/s"
    yield worker.why


def _run(run: ClusterRun) -> Iterator[object]:
    yield run.id
    yield run.scraper
    yield run.standing
    yield run.priority
    yield run.workers
    yield len(run.at_work)
    yield f"{'>= ' if run.more else ''}{run.waiting:,}"
    yield run.pages
    yield f"{run.rate:,.1f}/s"
    yield run.shards.told or "-"


# -- asking ----------------------------------------------------------------------------------------------------


def _done(store: str | None, run: int, told: str, deed: Callable[[Desk], Awaitable[None]], *, as_json: bool) -> None:
    at_desk(store, deed)
    if as_json:
        typer.echo(msgspec.json.encode({"run": run, "message": told}).decode())
    else:
        typer.echo(told, err=True)


@cluster_app.command("pause")
def pause_command(run: RunArgument, store: StoreOption = None, as_json: AsJson = False) -> None:
    """Have a run rest: walks under way end and are kept, no more begin, until somebody resumes it.

    \b
    gossamer cluster pause 12
    """
    from gossamer import asking

    told = f"run {run} rests as soon as its walks have ended; `gossamer cluster resume {run}` goes on with it"
    _done(store, run, told, lambda desk: asking.pause_run(desk, run, by=me()), as_json=as_json)


@cluster_app.command("resume")
def resume_command(run: RunArgument, store: StoreOption = None, as_json: AsJson = False) -> None:
    """Go on with a run that was paused, cancelled or stopped: the workers take it up.

    \b
    gossamer cluster resume 12
    """
    from gossamer import asking

    told = f"run {run} goes on where it ended, as soon as a worker has room"
    _done(store, run, told, lambda desk: asking.resume(desk, run, by=me()), as_json=as_json)


@cluster_app.command("cancel")
def cancel_command(run: RunArgument, store: StoreOption = None, as_json: AsJson = False) -> None:
    """Stop a run wherever it is walked: walks under way end and are kept. It can be resumed.

    \b
    gossamer cluster cancel 12
    """
    from gossamer import asking

    told = f"run {run} ends as soon as its walks have ended; it can be resumed"
    _done(store, run, told, lambda desk: asking.cancel(desk, run, by=me()), as_json=as_json)


@cluster_app.command("priority", context_settings={"ignore_unknown_options": True})
def priority_command(
    run: RunArgument,
    priority: Annotated[str, typer.Argument(metavar="N", help="From -9 to 9: the highest goes first; usual is 0")],
    store: StoreOption = None,
    as_json: AsJson = False,
) -> None:
    """Say which of several runs workers take first.

    \b
    gossamer cluster priority 12 5
    gossamer cluster priority 12 -3
    """
    from gossamer import asking

    n = _whole(priority, f"a priority: write a number from -{asking.MOST_PRIORITY} to {asking.MOST_PRIORITY}")
    told = f"run {run} has the priority {n}"
    _done(store, run, told, lambda desk: asking.set_priority(desk, run, n, by=me()), as_json=as_json)


@cluster_app.command("workers")
def workers_command(
    run: RunArgument,
    most: Annotated[str, typer.Argument(metavar="N|none", help="The most at the same time, or none for no limit")],
    store: StoreOption = None,
    as_json: AsJson = False,
) -> None:
    """Limit how many workers walk a run at the same time.

    \b
    gossamer cluster workers 12 2
    gossamer cluster workers 12 none
    """
    from gossamer import asking

    n = None if most.lower() == "none" else _whole(most, "a number of workers: write one from 1, or none")
    limit = "as many workers as there are" if n is None else f"at most {terminal.many(n, 'worker')}"
    told = f"run {run} may have {limit}"
    _done(store, run, told, lambda desk: asking.set_workers(desk, run, n, by=me()), as_json=as_json)


def _whole(text: str, wanted: str) -> int:
    """A number as somebody typed it. Raises ConfigError."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 10):
        raise ConfigError(f"{text[:80]!r} is not {wanted}")
    return int(text)
