"""`gossamer sinks`: how far sinks have come, and delivering what waits for them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from gossamer import delivery, registry, runs, settings, telemetry, terminal
from gossamer.cli_options import StoreOption
from gossamer.clock import iso
from gossamer.delivery import COUNTED, Behind, Deliveries
from gossamer.errors import ConfigError, GossamerError
from gossamer.library import wait
from gossamer.sinks import Sink, sink_of, sinks_of
from gossamer.storage.store import SinkNote, Store

#: Runs that are looked through for the one that named a sink.
LOOKED = 1_000

sinks_app = typer.Typer(
    no_args_is_help=False,
    invoke_without_command=True,
    rich_markup_mode=None,
    help="Where items go on to: how far sinks have come, and delivering what waits.",
)


@sinks_app.callback()
def sinks_command(
    context: typer.Context,
    store: StoreOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line")] = False,
) -> None:
    """List the sinks that a store remembers: what was delivered, what waits, and why.

    \b
    gossamer sinks
    gossamer sinks flush
    """
    if context.invoked_subcommand is not None:
        return
    found = wait(_look(_path(store)))
    if as_json:
        for note, waits in found:
            told = msgspec.structs.asdict(note) | {"waiting": waits, "updated": iso(note.updated)}
            typer.echo(msgspec.json.encode(told).decode())
        return
    if not found:
        typer.echo("no sink yet: `gossamer run --sink ./out` names one, or a scraper's `sinks`", err=True)
        return
    columns = ("sink", "scraper", "delivered", "objects", "waiting", "updated", "state")
    rows = [_row(note, waits) for note, waits in found]
    out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)
    out.print(terminal.table("", columns, rows, numbers=("delivered", "objects", "waiting")))


def _row(note: SinkNote, waits: int) -> tuple[Any, ...]:
    state = note.failing or ("waiting" if waits else "all is delivered")
    return note.name, note.scraper, note.delivered, note.objects, _many(waits), terminal.moment(note.updated), state


def _many(waits: int) -> str:
    return f"{waits:,}" if waits < COUNTED else f"{COUNTED:,} or more"


async def _look(path: str) -> list[tuple[SinkNote, int]]:
    async with runs.open_store(path) as store:
        return [
            (note, await delivery.waiting(store, sink_of(note.name), note.scraper, note.cursor))
            for note in await store.sinks()
        ]


@sinks_app.command("flush")
def flush_command(
    sinks: Annotated[
        list[str] | None, typer.Argument(metavar="[SINK]...", help="Only sinks whose name has this in it [all]")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Everything from the beginning, not only what waits")] = False,
    store: StoreOption = None,
) -> None:
    """Deliver what waits for sinks, without a run. Exit code 3: something still waits.

    \b
    gossamer sinks flush
    gossamer sinks flush s3://bucket
    gossamer sinks flush --again
    """
    place = settings.read({"store": store} if store else {}).place
    telemetry.configure(place.log_level, place.log_format)
    notes, behind = wait(_flush(place.store, sinks or (), again=again))
    for note in notes:
        typer.echo(f"{note.name} ({note.scraper}): {terminal.many(note.delivered, 'item')} delivered", err=True)
    for each in behind:
        typer.echo(f"{each.sink} ({each.scraper}): {_many(each.items)} still wait: {each.why}", err=True)
    if behind:
        raise typer.Exit(3)


async def _flush(path: str, words: Sequence[str], *, again: bool) -> tuple[list[SinkNote], list[Behind]]:
    """Deliver; returns what was delivered by it (a sink's note with that number), and what was not."""
    async with runs.open_store(path):
        pass  # raises if there is none: delivering makes no store
    async with runs.open_parts(path) as parts:
        store = parts.store
        before = [note for note in await store.sinks() if not words or any(word in note.name for word in words)]
        if not before:
            known = ", ".join(note.name for note in await store.sinks())
            raise ConfigError(f"no sink is called that: there are {known}" if known else "the store knows no sink yet")
        wanted = [(note.scraper, await _sink(store, note)) for note in before]
        if again:
            for note in before:
                await store.keep_sink(msgspec.structs.replace(note, cursor=0))
        deliveries = Deliveries(store, wanted)
        try:
            await deliveries.start()
            behind = await deliveries.finish(0.0, alone=True)
        finally:
            await deliveries.aclose()
        after = {(note.name, note.scraper): note for note in await store.sinks()}
        return [_since(note, after[note.name, note.scraper]) for note in before], behind


def _since(before: SinkNote, after: SinkNote) -> SinkNote:
    return msgspec.structs.replace(after, delivered=after.delivered - before.delivered)


async def _sink(store: Store, note: SinkNote) -> Sink:
    """The sink behind a note: as the scraper has it that named it, for it may hold credentials; else by its name."""
    named = sink_of(note.name)
    if not named.bucket:
        return named
    run = next((run for run in await store.runs(LOOKED) if run.scraper == note.scraper), None)
    try:
        config = runs.plan(registry.load_all(run.ref)[0], run.params, run.options).settings.config if run else None
        sinks = sinks_of(config.sinks) if config else ()
    except GossamerError:  # its file has gone, or is broken: what the environment says may do
        sinks = ()
    return next((sink for sink in sinks if sink.name == note.name), named)


def _path(store: str | None) -> str:
    return settings.read({"store": store} if store else {}).place.store
