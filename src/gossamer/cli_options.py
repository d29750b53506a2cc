"""Options that commands in several files share, and how all of them are shown."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from gossamer import registry, settings
from gossamer.errors import ConfigError, GossamerError

#: The largest number a store can be asked for.
MOST = 2**63 - 1

StoreOption = Annotated[
    str | None,
    typer.Option("--store", metavar="STORE", help="The store: a path, or postgresql://user@host/name [gossamer.db]"),
]


def run_number(text: str) -> int:
    """The number of a run, as somebody typed it. Raises ConfigError."""
    return _number(text, "is no run's number: `gossamer runs` lists them")


def amount(text: str) -> int:
    """How many, as somebody typed it. Raises ConfigError."""
    return _number(text, "cannot be used: write a number from 1")


def alert_number(text: str) -> int:
    """The number of an alert, as somebody typed it. Raises ConfigError."""
    return _number(text, "is no alert's number: `gossamer alerts list` shows them")


def _number(text: str, why: str) -> int:
    text = str(text)
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and 1 <= int(text) <= MOST):
        raise ConfigError(f"{text[:80]!r} {why}")
    return int(text)


@contextlib.contextmanager
def interrupted(words: str) -> Iterator[None]:
    """Ctrl-C in a command is one line and exit code 130. To be used as its decorator."""
    try:
        yield
    except (KeyboardInterrupt, asyncio.CancelledError):
        typer.echo(f"gossamer: interrupted: {words}", err=True)
        raise typer.Exit(130) from None


_TWICE = re.compile(r"\[(\[.*\](?:\.\.\.)?)\](?:\.\.\.)?")
_BRACED = re.compile(r"\{(.*)\}(\.\.\.)?")


class Command(TyperCommand):
    """A command whose usage is written as everywhere: `NAME`, `[URL]...`, and not `{NAME}`, `[[URL]...]...`."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words of the line."""
        return [_BRACED.sub(r"\1\2", _TWICE.sub(r"\1", piece)) for piece in super().collect_usage_pieces(ctx)]


def plainly_shown(app: typer.Typer) -> None:
    """Have all commands of an app, and of the groups in it, show their usage so. To be called when all are there."""
    for command in app.registered_commands:
        command.cls = Command
    for group in app.registered_groups:
        if group.typer_instance is not None:
            plainly_shown(group.typer_instance)


def complete_scraper(typed: str) -> list[str]:
    """Names of scrapers and packs that begin as something typed does."""
    with contextlib.suppress(GossamerError):
        return [name for name in registry.names(settings.read().place.scrapers) if name.startswith(typed)]
    return []
