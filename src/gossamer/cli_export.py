"""`gossamer export`: items and pages out of the store, as JSON lines, CSV or Parquet."""

from __future__ import annotations

import enum
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from gossamer import runs, settings
from gossamer.cli_options import StoreOption, run_number
from gossamer.errors import ConfigError
from gossamer.library import wait
from gossamer.storage import exports
from gossamer.storage.opening import beside
from gossamer.storage.records import Choice, since_of
from gossamer.storage.store import Store


class What(enum.StrEnum):
    """What can be exported."""

    pages = "pages"
    items = "items"


class Sort(enum.StrEnum):
    """What items can be sorted by."""

    key = "key"


class Format(enum.StrEnum):
    """How it can be written."""

    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"


def export_command(
    what: Annotated[What, typer.Argument(metavar="WHAT", help="pages: every URL and its fate; items: the data")],
    store: StoreOption = None,
    scraper: Annotated[str | None, typer.Option(help="Only of this scraper", metavar="NAME")] = None,
    run: Annotated[int | None, typer.Option(parser=run_number, help="Only of this run", metavar="N")] = None,
    kind: Annotated[str | None, typer.Option(help="Only items of this kind", metavar="KIND")] = None,
    since: Annotated[
        str | None, typer.Option(help="Only what is new or changed (pages: fetched) since: 6h, 1d", metavar="AGE")
    ] = None,
    where: Annotated[
        str | None, typer.Option(help="Only what fulfils a condition: \"price > 10 and name ~ 'x'\"", metavar="FILTER")
    ] = None,
    unique: Annotated[
        str | None,
        typer.Option(help="Of items that say the same in this field, only the first seen", metavar="NAME"),
    ] = None,
    fields: Annotated[
        str | None, typer.Option(help="Only these fields, in this order: title,offers.price", metavar="NAMES")
    ] = None,
    style: Annotated[
        Format | None,
        typer.Option("--format", help="jsonl, csv or parquet [by the name of the file, or jsonl]", metavar="FORMAT"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A file, or a folder for Parquet [stdout]", metavar="FILE|DIR"),
    ] = None,
    partition_by: Annotated[
        str | None,
        typer.Option(help="Parquet in folders by kind, scraper or a field: kind,brand", metavar="NAMES"),
    ] = None,
    gone: Annotated[bool, typer.Option("--gone", help="With items that are gone, marked by _gone")] = False,
    held: Annotated[bool, typer.Option("--held", help="What the drift gate holds back of --run, instead")] = False,
    source: Annotated[bool, typer.Option("--source", help="With items: add where each came from, as _fields")] = False,
    sort: Annotated[
        Sort | None,
        typer.Option(help="key: items by scraper, kind and key [in the order first seen]", metavar="key"),
    ] = None,
    cursor: Annotated[
        Path | None,
        typer.Option(
            help="Only what happened since the last export with this file, which is then moved on", metavar="FILE"
        ),
    ] = None,
) -> None:
    """Write pages or items out, as JSON lines, CSV or Parquet.

    \b
    gossamer export items > items.jsonl
    gossamer export items --scraper quotes -o quotes.csv
    gossamer export items --where "price < 10 and tags in ('new', 'sale')" --fields title,price
    gossamer export items --kind opportunity --unique fingerprint
    gossamer export items --format parquet --partition-by kind -o data
    gossamer export items --cursor last.json -o new.jsonl
    gossamer export pages --run 3 --format csv
    """
    choice = Choice(
        what=what,
        run=run,
        scraper=scraper,
        kind=kind,
        since=since_of(since),
        where=where,
        unique=unique,
        fields=_names(fields),
        gone=gone,
        held=held,
        source=source,
        sort=sort or "",
    )
    path = settings.read({"store": store} if store else {}).place.store
    for written in (output, cursor):
        if written is not None:
            exports.refuse_store(written, beside(path, ""))

    async def write() -> exports.Written:
        async with runs.open_store(path) as opened:
            await _check_known(opened, choice)
            chosen = style or _style_of(output)
            return await exports.write(opened, choice, chosen, output, partition_by=_names(partition_by), cursor=cursor)

    try:
        _tell(wait(write()), what, output, kind)
    except OSError as error:
        # What is left to be flushed when we end could not be written either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # then whoever read our output has seen enough
            raise ConfigError(f"what was to be written to stdout could not be: {error.strerror or error}") from None


def _names(given: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in (given or "").split(",") if name.strip()))


def _style_of(output: Path | None) -> str:
    """The format that the name of a file asks for."""
    ending = output.suffix.lower().removeprefix(".") if output is not None else ""
    if ending in ("json", "xlsx", "xls", "xml", "tsv", "html", "sqlite", "db", "arrow", "feather"):
        raise ConfigError(
            f"{output}: .{ending} is none of our formats: name it .jsonl, .csv or .parquet, or say --format"
        )
    return ending if ending in exports.STYLES else "jsonl"


async def _check_known(store: Store, choice: Choice) -> None:
    if choice.run is not None and await store.run(choice.run) is None:
        raise ConfigError(f"there is no run {choice.run}: `gossamer runs` lists them")
    if choice.scraper:
        names = {each.scraper for each in await store.runs(limit=10_000)}
        if choice.scraper not in names:
            there = ", ".join(sorted(names))
            raise ConfigError(f"no run of a scraper {choice.scraper!r} is in this store: there are {there}")


def _tell(written: exports.Written, what: str, output: Path | None, kind: str | None) -> None:
    if kind and not written.rows:
        typer.echo(f"note: there was no item of the kind {kind!r} to write: is it spelled so?", err=True)
    for name in written.unmet:
        typer.echo(f"note: nothing has a field {name!r}", err=True)
    if output is not None:
        files = f", in {written.files:,} files" if written.files != 1 else ""
        typer.echo(f"{written.rows:,} {what} written to {output}{files}", err=True)
