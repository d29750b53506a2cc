"""`gossamer db`: the form of a store's tables, and a store moved to another database."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from gossamer import settings, terminal
from gossamer.cli_options import StoreOption, interrupted
from gossamer.library import wait
from gossamer.storage import forms, opening
from gossamer.storage.migrations import upgrade as migrations

#: Seconds between two lines where there is no terminal.
LINE = 10.0

db_app = typer.Typer(
    name="db",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="The tables of a store: their form, bringing them up to date, moving them to another database.",
)
err = Console(stderr=True, highlight=False, emoji=False)
out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress")]


@db_app.command("current")
def current_command(store: StoreOption = None, as_json: AsJson = False) -> None:
    """Show the form of a store's tables, and whether it is the newest one.

    \b
    gossamer db current
    gossamer db current --store postgresql://me@db.example/crawls
    """
    found = wait(forms.form(_store(store)))
    if as_json:
        told = {"store": found.store, "form": found.version, "newest": migrations.HEAD, "state": found.state}
        typer.echo(msgspec.json.encode(told).decode())
        return
    typer.echo(found.sentence)


@db_app.command("check")
def check_command(store: StoreOption = None, as_json: AsJson = False) -> None:
    """Check that a store has the newest form, and that its tables are as they should be: exit code 0, or 1.

    \b
    gossamer db check --store postgresql://me@db.example/crawls && systemctl start gossamer
    """
    given = _store(store)
    found = wait(forms.form(given))
    wrong = wait(forms.differences(given)) if found.state == "newest" else []
    good = found.state == "newest" and not wrong
    if as_json:
        told = {"store": found.store, "ok": good, "form": found.version, "state": found.state, "differences": wrong}
        typer.echo(msgspec.json.encode(told).decode())
    elif good:
        typer.echo(f"{found.sentence}, and its tables are as they should be")
    else:
        typer.echo(found.sentence if not wrong else f"the tables of {found.store} are not as they should be:")
        for each in wrong:
            typer.echo(f"  {each}")
        if wrong:
            typer.echo("  restore them from a back-up, or copy the store into an empty database: gossamer db copy")
    raise typer.Exit(0 if good else 1)


@db_app.command("upgrade")
@interrupted("nothing was changed, for it is done as a whole or not at all")
def upgrade_command(store: StoreOption = None, as_json: AsJson = False) -> None:
    """Bring a store to the newest form, with all that is in it; make the tables of an empty database.

    It is done as a whole or not at all. Runs go on afterwards where they were.

    \b
    gossamer db upgrade
    gossamer db upgrade --store postgresql://me@db.example/crawls
    """
    began = time.monotonic()

    def told(had: forms.Form) -> None:
        if had.state == "old" and not as_json:
            err.print(f"bringing {had.store} from form {had.version} to {migrations.HEAD}", markup=False)

    had = wait(forms.upgrade(_store(store), told))
    if as_json:
        made = {"store": had.store, "from": had.version, "to": migrations.HEAD}
        typer.echo(msgspec.json.encode(made).decode())
    elif had.state == "newest":
        typer.echo(f"{had.sentence}: nothing to do")
    else:
        what = "its tables were made" if had.state == "empty" else f"it had the form {had.version}"
        seconds = time.monotonic() - began
        typer.echo(f"the store {had.store} has the form {migrations.HEAD} now ({what}; {seconds:.1f} s)")


@db_app.command("copy")
@interrupted("the target says that it is incomplete; the same command with --resume goes on")
def copy_command(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A store: a path, sqlite:///path, postgresql://...")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="An empty database, or a path where no file is")],
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a copy that broke off")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Copy a whole store to another database, and compare every table by its count and a digest of its rows.

    Nobody may work on the source meanwhile; it is left as it is. Pages in the archive are files beside a store, and
    stay where they are.

    \b
    gossamer db copy sqlite:///gossamer.db postgresql://me@db.example/crawls
    gossamer db copy postgresql://me@db.example/crawls back.db
    """
    from gossamer.storage import copying

    began = time.monotonic()
    with _shown(quiet) as watch:
        made = wait(copying.copy(source, target, resume=resume, watch=watch))
    seconds = time.monotonic() - began
    if as_json:
        typer.echo(msgspec.json.encode({**msgspec.to_builtins(made), "seconds": round(seconds, 1)}).decode())
        return
    rows = [(name, f"{count:,}", made.digests[name]) for name, count in made.rows.items() if count]
    out.print(terminal.table("", ("table", "rows", "digest"), rows, numbers=("rows",)))
    total = terminal.many(sum(made.rows.values()), "row")
    err.print(
        f"{made.source} is copied to {made.target}: {total} in {seconds:.0f} s, the same on both sides",
        markup=False,
        soft_wrap=True,
    )
    for line in _notes(made.altered, source, target):
        err.print(line, markup=False, soft_wrap=True)


def _notes(altered: dict[str, int], source: str, target: str) -> list[str]:
    lines = [
        f"  {terminal.many(count, 'value')} of {place} had to be altered: no PostgreSQL keeps them as they were"
        for place, count in altered.items()
    ]
    pages = opening.archive(source)
    if Path(pages).exists():
        lines.append(f"  archived pages are in a file of their own: cp {pages} {opening.archive(target)}")
    return lines


def _store(given: str | None) -> str:
    return settings.read({"store": given} if given else {}).place.store


@contextmanager
def _shown(quiet: bool) -> Iterator[Any]:
    """What hears how far a copy is: a bar on a terminal, a line now and then elsewhere."""
    if quiet:
        yield lambda *_: None
    elif not err.is_terminal:
        yield _Lines()
    else:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
        with Progress(*columns, console=err, transient=True) as bar:
            task = bar.add_task("", total=1)
            yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)


class _Lines:
    """Says how far a copy is every few seconds."""

    def __init__(self) -> None:
        self._next = time.monotonic() + LINE

    def __call__(self, what: str, done: int, total: int) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE
            err.print(f"{done / max(total, 1):.0%}: {what}", markup=False)
