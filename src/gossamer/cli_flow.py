"""`gossamer flow`: how the tasks of a flow stand, from their status files."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from gossamer import terminal

flow_app = typer.Typer(
    name="flow",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="See how the tasks of a flow stand.",
)
#: Lines shown; the JSON form has all.
MOST = 40


@flow_app.command("status")
def status_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that the flow works in")],
    failed: Annotated[bool, typer.Option("--failed", help="List the tasks that failed, and why")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line")] = False,
) -> None:
    """Show how often each executor of a flow ended in which way, or which tasks failed.

    \b
    gossamer flow status pages
    gossamer flow status pages --failed
    """
    from gossamer.flow.status import counted, statuses

    found = list(statuses(directory))
    if failed:
        columns: tuple[str, ...] = ("task", "executor", "status", "url")
        rows: list[tuple[Any, ...]] = list(_failures(found))
    else:
        columns = ("executor", "status", "tasks")
        rows = list(counted(found))
    if as_json:
        for row in rows:
            typer.echo(msgspec.json.encode(dict(zip(columns, row, strict=True))).decode())
        return
    out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)
    if rows:
        out.print(terminal.table("", columns, rows[:MOST], numbers=("tasks",)))
    if len(rows) > MOST:
        out.print(f"and {len(rows) - MOST:,} more lines: --json has all", markup=False)
    out.print(_verdict(found), markup=False)


def _failures(found: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str, str, Any]]:
    from gossamer.flow.status import recorded, told

    for status in found:
        if "unreadable" in status:
            yield status["name"], "", status["unreadable"], None
        for name in recorded(status):
            if told(status, name).startswith("ERROR"):
                yield status["name"], name, told(status, name), status["params"].get("url")


def _verdict(found: Sequence[dict[str, Any]]) -> str:
    """All tasks in one line."""
    from gossamer.flow.status import finished, recorded

    failed = {task for task, *_ in _failures(found)}
    names = {status["name"]: recorded(status) for status in found}
    passed = sum(1 for s in found if names[s["name"]] and all(finished(s, each) for each in names[s["name"]]))
    left = len(found) - len(failed) - passed
    return f"{terminal.many(len(found), 'task')}: {passed:,} passed, {len(failed):,} failed, {left:,} left"
