"""`gossamer jobs`: which system a company's jobs are in, and what the companies are called that jobs were found of."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
import typer
from rich.console import Console

from gossamer import look, telemetry, terminal
from gossamer.cli_options import StoreOption
from gossamer.library import wait
from gossamer.look import NotRead
from gossamer.parse.page import Page

if TYPE_CHECKING:
    from gossamer.packs.jobs.review import Seen

__all__ = ["jobs_app"]

jobs_app = typer.Typer(
    name="jobs", no_args_is_help=True, rich_markup_mode=None, help="Work on what the pack `jobs` collects."
)
companies_app = typer.Typer(
    name="companies",
    invoke_without_command=True,
    rich_markup_mode=None,
    help="List the companies that nobody has looked at yet; say what they are called.",
)
jobs_app.add_typer(companies_app)

TableOption = Annotated[
    Path, typer.Option("--companies", metavar="PATH", help="Your table of companies: .toml, or .csv")
]


@companies_app.callback()
def companies_command(
    context: typer.Context,
    store: StoreOption = None,
    table: TableOption = Path("companies.toml"),
    every: Annotated[bool, typer.Option("--all", help="Also those whose names are known")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line")] = False,
) -> None:
    """List the companies that nobody has looked at yet, those with the most jobs first.

    \b
    gossamer jobs companies
    gossamer jobs companies --all --json
    """
    if context.invoked_subcommand is not None:
        return
    from gossamer.packs.jobs.review import seen  # with a pack's scrapers comes a second of imports

    found = [one for one in seen(store, table) if every or one.needs_review]
    if as_json:
        for one in found:
            typer.echo(msgspec.json.encode(one).decode())
        return
    _show(found, every=every)


def _show(found: list[Seen], *, every: bool) -> None:
    out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 160)
    if not found:
        typer.echo(
            "there are no jobs of companies here" if every else "every company has a name that is known", err=True
        )
        return
    columns = ("company", "jobs", "active", "newest", "operation", "country", "written as")
    rows = [
        (
            _plain(one.company_name),
            one.jobs,
            one.active,
            one.last_job_date,
            one.operation_type,
            one.country_code,
            _plain("; ".join(one.written)),
        )
        for one in found
    ]
    out.print(terminal.table("", columns, rows, numbers=("jobs", "active")))
    if any(one.needs_review for one in found):
        typer.echo('`gossamer jobs companies accept NAME [--as "ITS NAME"]` says what one is called', err=True)


def _plain(text: str) -> str:
    """A name that a page wrote, without what would mean something to a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


@companies_app.command("accept")
def accept_command(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The company, as a posting writes it")],
    called: Annotated[str | None, typer.Option("--as", metavar="NAME", help="The name it is filed by")] = None,
    operation: Annotated[
        str | None, typer.Option("--operation", metavar="KIND", help="What it does: cargo, passenger, mro ...")
    ] = None,
    country: Annotated[
        str | None, typer.Option("--country", metavar="CODE", help="Where it is, in two letters")
    ] = None,
    store: Annotated[
        str | None, typer.Option("--store", metavar="PATH", help="Say which scrapers of this store have jobs of it")
    ] = None,
    table: TableOption = Path("companies.toml"),
) -> None:
    """Write down what a company is called. Jobs are filed by that name as they are read; `gossamer replay --apply`
    does it for those that were read before.

    \b
    gossamer jobs companies accept "Kranich Regional GmbH" --as Kranich --country DE
    gossamer jobs companies accept "Tropic Air" --operation cargo --store jobs.db
    """
    from gossamer.packs.jobs.review import accept, sources

    table, store = Path(_said(context, "table", table)), _said(context, "store", store)
    found = sources(store, name) if store is not None else {}  # a store that is not there is told of before
    entry = accept(table, name, called, operation, country)
    also = f" (also {', '.join(entry.also)})" if entry.also else ""
    typer.echo(f"{entry.name}{also} is in {table}", err=True)
    for source, jobs in found.items():
        typer.echo(f"{jobs} of its jobs read by jobs.{_plain(source)}: `{_replay(source, store, table)}`", err=True)


def _replay(source: str, store: Any, table: Path) -> str:
    """The command that files the jobs of a scraper anew."""
    other = ["--param", f"companies={table}"] if table != Path("companies.toml") else []
    return shlex.join(["gossamer", "replay", f"jobs.{_plain(source)}", "--store", str(store), *other, "--apply"])


def _said(context: typer.Context, name: str, value: Any) -> Any:
    """What an option is told: after `accept`, or before it, as it is for the list."""
    source = context.get_parameter_source(name)
    if context.parent is None or (source is not None and source.name != "DEFAULT"):
        return value
    return context.parent.params.get(name, value)


@jobs_app.command("detect")
def detect_command(
    url: Annotated[str, typer.Argument(metavar="URL", help="A company's jobs: the address of its list, or of a job")],
    fetch: Annotated[bool, typer.Option("--fetch", help="Ask for the page, and look at what it links to")] = False,
) -> None:
    """Tell which applicant-tracking system a company's jobs are in, and print the scraper that reads them.

    By the address alone, unless --fetch is given. Exit code 1: it is no system that is known; 3: the page cannot be
    had.

    \b
    gossamer jobs detect https://boards.greenhouse.io/acme/jobs/4012
    gossamer jobs detect https://acme.example/careers --fetch
    gossamer jobs detect https://jobs.lever.co/acme > acme.py
    """
    from gossamer.packs.jobs.ats import detect

    try:
        found = detect(_page(url) if fetch else url)
    except NotRead as why:
        typer.echo(look.printable(f"gossamer: {why}"), err=True)
        raise typer.Exit(3) from None
    if found is None:
        typer.echo(_UNKNOWN_PAGE if fetch else _UNKNOWN_ADDRESS, err=True)
        raise typer.Exit(1)
    typer.echo(f"from gossamer.packs.jobs.ats import {found.adapter.__name__}\n\n\n{found.lines}")
    file = f"{found.name.lower()}.py"
    typer.echo(
        f"its jobs are in {found.adapter.system or found.adapter.__name__}: save these lines as {file}, then"
        f" `gossamer run {file}`",
        err=True,
    )


_UNKNOWN_ADDRESS: Final = (
    "no system is known by this address: try --fetch, which looks at the page, or the address that a job of it opens"
)
_UNKNOWN_PAGE: Final = (
    "no system is known that this page links to: try the address that a job of it opens, or write a `Listing` of your"
    " own (docs/packs/jobs.md)"
)


def _page(url: str) -> Page:
    """The page, fetched as by `gossamer try`: once, politely, and nothing is stored."""
    telemetry.configure("error", "human")
    return wait(look.look(url)).page
