"""`gossamer changes` and `gossamer rejects`: what happened to items, and what became none."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from gossamer import diff, runs, settings, terminal
from gossamer.cli_options import StoreOption, amount, run_number
from gossamer.clock import iso
from gossamer.errors import ConfigError
from gossamer.library import wait
from gossamer.storage.store import Change, Store

#: Letters of a value that a table shows.
WIDE = 60

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line")]


def changes_command(
    since: Annotated[str, typer.Option(help="How far back: 6h, 1d, 7d, or all", metavar="AGE")] = "1d",
    scraper: Annotated[str | None, typer.Option(help="Only of this scraper", metavar="NAME")] = None,
    kind: Annotated[str | None, typer.Option(help="Only of this kind", metavar="KIND")] = None,
    key: Annotated[str | None, typer.Option(help="Only of the item with this key: its history", metavar="KEY")] = None,
    what: Annotated[
        list[str] | None, typer.Option(help="Only new, changed, gone or back (repeatable)", metavar="WHAT")
    ] = None,
    limit: Annotated[int, typer.Option(parser=amount, help="How many a table shows, newest last", metavar="N")] = 100,
    store: StoreOption = None,
    as_json: AsJson = False,
) -> None:
    """Show what is new, changed or gone, field by field.

    \b
    gossamer changes --since 1d
    gossamer changes --since 7d --scraper books --what changed --json
    gossamer changes --since all --key 1000
    """
    start = _start(since)
    wanted = set(what or ())
    if wanted - {"new", "changed", "gone", "back"}:
        raise ConfigError(f"--what {' '.join(sorted(wanted))} cannot be used: write new, changed, gone or back")
    path = settings.read({"store": store} if store else {}).place.store

    async def look() -> None:
        async with runs.open_store(path) as opened:
            found = _wanted(opened.changes(start, scraper=scraper, kind=kind, key=key), wanted)
            await (_print_json(found) if as_json else _print_table(found, limit, since))

    wait(look())


def _start(since: str) -> float:
    if since == "all":
        return 0.0
    try:
        return time.time() - settings.duration(since)
    except ValueError:
        raise ConfigError(f"--since {since!r} cannot be used: write an age like 6h, 1d or 7d, or all") from None


async def _wanted(found: AsyncIterator[Change], wanted: set[str]) -> AsyncIterator[tuple[Change, list[diff.Delta]]]:
    async for change in found:
        if wanted and change.what not in wanted:
            continue
        before = msgspec.json.decode(change.before) if change.before else None
        after = msgspec.json.decode(change.after) if change.after else None
        deltas = diff.fields(before, after) if before is not None and after is not None else []
        if change.what == "changed" and not deltas:
            continue  # the same fields in another order
        yield change, deltas


async def _print_json(found: AsyncIterator[tuple[Change, list[diff.Delta]]]) -> None:
    async for change, deltas in found:
        told: dict[str, Any] = {
            "at": iso(change.at),
            "what": change.what,
            "run": change.run,
            "scraper": change.scraper,
            "kind": change.kind,
            "key": change.key,
            "url": change.url,
            "fields": {delta.path: [delta.before, delta.after] for delta in deltas},
            "record": msgspec.json.decode(change.after or change.before or "null"),
        }
        typer.echo(msgspec.json.encode(told).decode())


async def _print_table(found: AsyncIterator[tuple[Change, list[diff.Delta]]], limit: int, since: str) -> None:
    rows: list[tuple[Any, ...]] = []
    counts: dict[str, int] = {}
    async for change, deltas in found:
        counts[change.what] = counts.get(change.what, 0) + 1
        told = "; ".join(f"{d.path}: {_short(d.before)} → {_short(d.after)}" for d in deltas[:6])
        rows.append((terminal.moment(change.at), change.what, change.kind, change.key[:WIDE], told or "-"))
        del rows[:-limit]
    if not rows:
        typer.echo(f"nothing new, changed or gone{'' if since == 'all' else f' since {since}'}", err=True)
        return
    out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)
    out.print(terminal.table("", ("when", "what", "kind", "key", "fields"), rows))
    summary = ", ".join(f"{n:,} {what}" for what, n in sorted(counts.items()))
    shown = f" (the last {len(rows):,} are shown)" if sum(counts.values()) > len(rows) else ""
    typer.echo(f"{summary}{shown}", err=True)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= WIDE else text[: WIDE - 1] + "…"


def rejects_command(
    run: Annotated[
        int | None, typer.Argument(parser=run_number, metavar="RUN", help="Only of this run [all runs]")
    ] = None,
    scraper: Annotated[str | None, typer.Option(help="Only of this scraper", metavar="NAME")] = None,
    limit: Annotated[int, typer.Option(parser=amount, help="How many a table shows", metavar="N")] = 100,
    store: StoreOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the records that became no items: who refused them, why, and on which page they were.

    \b
    gossamer rejects
    gossamer rejects 12 --json
    """
    path = settings.read({"store": store} if store else {}).place.store

    async def look() -> None:
        async with runs.open_store(path) as opened:
            if run is not None and await opened.run(run) is None:
                raise ConfigError(f"there is no run {run}: `gossamer runs` lists them")
            await _print_rejects(opened, run, scraper, limit, as_json=as_json)

    wait(look())


async def _print_rejects(store: Store, run: int | None, scraper: str | None, limit: int, *, as_json: bool) -> None:
    rows: list[tuple[Any, ...]] = []
    n = 0
    async for each in store.rejects(run, scraper):
        n += 1
        if as_json:
            told = msgspec.structs.asdict(each) | {"at": iso(each.at), "data": msgspec.json.decode(each.data)}
            typer.echo(msgspec.json.encode(told).decode())
        elif n <= limit:
            rows.append((each.run, each.step, each.reason, _short(each.data), each.url))
    if as_json:
        return
    if not rows:
        typer.echo("no record was rejected", err=True)
        return
    out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)
    out.print(terminal.table("", ("run", "step", "why", "record", "page"), rows, numbers=("run",)))
    if n > len(rows):
        typer.echo(f"{n:,} in all: --json has every one", err=True)
