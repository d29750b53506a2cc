"""`gossamer list`: the scrapers that are known by name."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console

from gossamer import registry, settings, terminal, timetable
from gossamer.cli_options import complete_scraper
from gossamer.registry import Found

err = Console(stderr=True, highlight=False, emoji=False)
out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)


def list_command(
    scraper: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Show one, with its parameters", autocompletion=complete_scraper),
    ] = None,
) -> None:
    """List the scrapers that are known by name: your own, and those of the packs.

    \b
    gossamer list
    gossamer list nba.espn
    """
    listed = settings.read().place.scrapers
    if scraper:
        for found in registry.pack(scraper) if scraper in registry.packs() else registry.choose(scraper, listed):
            _describe(found)
        return
    known = registry.registered(listed)
    if known:
        rows = [(name, _pace(found), _when(found), found.ref) for name, found in known.items()]
        out.print(terminal.table("", ("name", "rate", "runs", "where"), rows))
    else:
        say('no scraper of yours is registered: list it in gossamer.toml, like scrapers = ["quotes.py"]')
    rest = [found for found in registry.in_packs() if found.scraper.name not in known]
    rows = [(each.scraper.name, _pace(each), _when(each), terminal.first_line(each.scraper.__doc__)) for each in rest]
    out.print(terminal.table("in packs", ("name", "rate", "runs", "what"), rows))
    say(f"one of them: {terminal.program()} list art.cafe; offline: {terminal.program()} run art.cafe --demo")


def _pace(found: Found) -> str:
    return str(settings.read(own=found.scraper.knobs(), owner=found.scraper.__name__).config.rate)


def _when(found: Found) -> str:
    """When a scraper runs under a service, in a few words."""
    name = found.scraper.name
    schedule = timetable.overlaid(name, name, 0.0, timetable.declared(found.scraper), {})
    return schedule.trigger if schedule.enabled else f"{schedule.trigger} (paused)".strip()


def _describe(found: Found) -> None:
    """What a scraper is, and what can be asked of it."""
    said = found.scraper
    facts = {
        "what": terminal.first_line(said.__doc__),
        "rate": _pace(found),
        "runs": _when(found),
        "paused": said.paused,
        "where": found.ref,
    }
    rows = [(name, text) for name, text in facts.items() if text]
    rows += [(f"--param {name}=", about) for name, about in said.takes.items()]
    out.print(terminal.table(said.name, ("", ""), rows))


def say(text: str) -> None:
    """One line to stderr, as it is."""
    err.print(text, markup=False, soft_wrap=True)
