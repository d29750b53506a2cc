"""`gossamer archive`: what is kept of pages, room given back, and WARC files written and read."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from gossamer import __version__, importing, registry, settings, terminal
from gossamer.cli_options import StoreOption, run_number
from gossamer.errors import ConfigError
from gossamer.importing import Imported
from gossamer.library import wait
from gossamer.storage import exports, opening
from gossamer.storage.archive import Archive, ArchivedPage, Pruned, Stats
from gossamer.storage.warc import WarcWriter

#: Pages written to a file at once.
GROUP = 50

archive_app = typer.Typer(
    name="archive",
    no_args_is_help=False,
    invoke_without_command=True,
    rich_markup_mode=None,
    help="What is kept of pages, so that `gossamer replay` can read them again.",
)
err = Console(stderr=True, highlight=False, emoji=False)
out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress")]
ScraperOption = Annotated[str | None, typer.Option(help="Only pages of this scraper", metavar="NAME")]
RunOption = Annotated[int | None, typer.Option(parser=run_number, help="Only pages of this run", metavar="N")]


@archive_app.callback()
def archive_command(context: typer.Context, store: StoreOption = None, as_json: AsJson = False) -> None:
    """Show what the archive beside a store holds.

    \b
    gossamer archive
    gossamer archive prune --age 90d --size 5GB
    gossamer archive export site.warc.gz --scraper quotes
    gossamer archive import site.warc.gz --scraper quotes.py
    """
    if context.invoked_subcommand is None:
        stats_command(store, as_json)


@archive_app.command("stats")
def stats_command(store: StoreOption = None, as_json: AsJson = False) -> None:
    """Show what the archive holds: pages, bodies, and the room they take."""

    async def look() -> Stats:
        async with Archive(_path(store), owner=False) as archive:
            return await archive.stats()

    found = wait(look())
    if as_json:
        typer.echo(msgspec.json.encode(found).decode())
        return
    packed = f", {found.raw / found.stored:.1f} times smaller" if found.stored else ""
    rows = [
        ("pages", f"{found.pages:,}"),
        ("bodies", f"{found.bodies:,}: {terminal.size(found.raw)}, kept in {terminal.size(found.stored)}{packed}"),
        ("file", f"{_path(store)}: {terminal.size(found.file)}"),
        ("dictionaries", f"{found.dictionaries:,}"),
        ("oldest", terminal.moment(found.oldest)),
        ("newest", terminal.moment(found.newest)),
        *((f"of {name}", terminal.many(n, "page")) for name, n in sorted(found.scrapers.items())),
    ]
    out.print(terminal.table("", ("", ""), rows))


@archive_app.command("prune")
def prune_command(
    age: Annotated[str | None, typer.Option(help="Take away what was kept longer ago: 90d", metavar="AGE")] = None,
    size: Annotated[str | None, typer.Option(help="Then the oldest, down to this size: 5GB", metavar="SIZE")] = None,
    run: RunOption = None,
    scraper: ScraperOption = None,
    store: StoreOption = None,
    as_json: AsJson = False,
) -> None:
    """Take pages away: the old ones, the oldest of too many, or those of a run or a scraper.

    Without an option, as the settings archive_age and archive_size say.

    \b
    gossamer archive prune
    gossamer archive prune --age 90d
    gossamer archive prune --scraper quotes
    """
    place = settings.read({"store": store} if store else {}).place
    given = {"archive_age": age} if age else {}
    given |= {"archive_size": size} if size else {}
    limits = settings.read(given).place if given else place
    if (run is not None or scraper is not None) and given:
        raise ConfigError("--run and --scraper go without --age and --size: they take away all of their pages")

    path = _path(store)
    if not Path(path).exists():
        raise ConfigError(f"there is no archive at {path}: nothing to take away")

    async def prune() -> Pruned:
        async with Archive(path) as archive:
            if run is not None or scraper is not None:
                return await archive.forget(run, scraper)
            kept_for = limits.archive_age if age or not given else None
            room = limits.archive_size if size or not given else None
            return await archive.prune(kept_for, room)

    pruned = wait(prune())
    if as_json:
        typer.echo(msgspec.json.encode(pruned).decode())
        return
    told = (
        f"{terminal.many(pruned.pages, 'page')} and {terminal.many(pruned.bodies, 'body').replace('bodys', 'bodies')}"
    )
    err.print(f"took away {told}: {terminal.size(pruned.freed)} given back", markup=False)


@archive_app.command("export")
def export_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write: site.warc.gz, or site.warc")],
    scraper: ScraperOption = None,
    run: RunOption = None,
    newest: Annotated[bool, typer.Option("--newest", help="Of each page, only what was fetched last")] = False,
    store: StoreOption = None,
    quiet: Quiet = False,
) -> None:
    """Write archived pages as a WARC file, which other tools read.

    \b
    gossamer archive export site.warc.gz
    gossamer archive export site.warc.gz --scraper quotes --newest
    """
    exports.refuse_store(file, opening.beside(settings.read({"store": store} if store else {}).place.store, ""))
    written, left = wait(_export(_path(store), str(file), scraper, run, newest=newest, quiet=quiet))
    without = f"; {left:,} without a body were left out" if left else ""
    err.print(f"{terminal.many(written, 'page')} written to {file}{without}", markup=False)


async def _export(
    path: str, file: str, scraper: str | None, run: int | None, *, newest: bool, quiet: bool
) -> tuple[int, int]:
    """Returns how many pages were written, and how many have no body."""
    async with Archive(path, owner=False) as archive:
        total = await archive.count(scraper, run, newest=newest)
        if not total:
            raise ConfigError("the archive has no such pages: `gossamer archive` shows what it has")
        written = left = 0
        with _bar("writing", quiet) as bar, WarcWriter(file, f"gossamer/{__version__}") as writer:
            task = bar.add_task("", total=total)
            group: list[ArchivedPage] = []
            async for page in archive.pages(scraper, run, newest=newest):
                if page.missing:
                    left += 1
                    continue
                group.append(page)
                if len(group) >= GROUP:
                    await _write(writer, group)
                    written += len(group)
                    group = []
                    bar.update(task, completed=written + left)
            await _write(writer, group)
        return written + len(group), left


async def _write(writer: WarcWriter, pages: list[ArchivedPage]) -> None:
    def write() -> None:
        for page in pages:
            writer.write(page)

    try:
        await asyncio.to_thread(write)
    except OSError as why:
        raise ConfigError(f"{writer.path} cannot be written: {why.strerror}") from None


@archive_app.command("import")
def import_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A WARC or ARC file, compressed or not")],
    scraper: Annotated[
        str, typer.Option(help="Whose pages they are: file.py, module:Class, or a registered name", metavar="SCRAPER")
    ],
    param: Annotated[
        list[str] | None, typer.Option(help="A parameter for the scraper (repeatable)", metavar="K=V")
    ] = None,
    store: StoreOption = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Put the pages of a WARC file into the archive, as a run of a scraper: `gossamer replay` then reads them.

    \b
    gossamer archive import site.warc.gz --scraper quotes.py
    gossamer replay quotes.py --apply
    """
    place = settings.read({"store": store} if store else {}).place
    found = registry.find(scraper, place.scrapers)
    with _bar("reading", quiet) as bar:
        task = bar.add_task("", total=1.0)

        def watch(share: float, pages: int) -> None:
            bar.update(task, completed=share, description=f"{pages:,} pages")

        made = wait(importing.import_warc(place.store, str(file), found, settings.params(param), watch))
    if as_json:
        typer.echo(msgspec.json.encode(made).decode())
        return
    for line in _told(made, scraper, terminal.store_option(place.store)):
        err.print(line, markup=False, soft_wrap=True)


def _told(made: Imported, scraper: str, option: str) -> list[str]:
    lines = [f"{terminal.many(made.pages, 'page')} of {made.file} kept, as run {made.run}"]
    if made.bodiless:
        lines.append(f"  {made.bodiless:,} of them without a body, which could not be read")
    if made.strange:
        lines.append(f"  {made.strange:,} records were left out: they are no answers of web sites")
    if made.broken:
        lines.append(f"  {made.broken}; what was whole is kept")
    return [*lines, f"  read them: {terminal.program()} replay {scraper}{option}"]


def _bar(what: str, quiet: bool) -> Any:
    """A progress bar of rich's."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    return Progress(
        *columns, TextColumn("{task.description}"), console=err, transient=True, disable=quiet or not err.is_terminal
    )


def _path(store: str | None) -> str:
    return opening.archive(settings.read({"store": store} if store else {}).place.store)
