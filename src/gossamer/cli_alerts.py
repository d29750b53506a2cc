"""`gossamer alerts`: what people should hear of, whether it reaches them, and saying that it was seen."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.console import Console

from gossamer import settings, telemetry, terminal
from gossamer.cli_desk import at_desk, me
from gossamer.cli_options import StoreOption, alert_number
from gossamer.clock import iso
from gossamer.errors import ConfigError
from gossamer.library import wait

if TYPE_CHECKING:  # loaded when one of these commands is called: most are not
    from gossamer.alerts import Alert
    from gossamer.storage.desk import Desk

alerts_app = typer.Typer(
    name="alerts",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="What people should hear of: failures, recoveries, drift, silence and pauses.",
)

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line")]


@alerts_app.command("list")
def list_command(
    unseen: Annotated[bool, typer.Option("--unseen", help="Only those that nobody has acknowledged")] = False,
    limit: Annotated[int, typer.Option(min=1, max=500, help="How many", metavar="N")] = 20,
    before: Annotated[
        int | None, typer.Option(parser=alert_number, help="Only those before this one: the next page", metavar="ALERT")
    ] = None,
    store: StoreOption = None,
    as_json: AsJson = False,
) -> None:
    """List alerts, newest first, and whether they have reached their receivers.

    \b
    gossamer alerts list
    gossamer alerts list --unseen --json
    """
    from gossamer import alerts

    found = at_desk(store, lambda desk: alerts.listed(desk, before=before, limit=limit, unseen_only=unseen))
    if as_json:
        for each in found:
            told = msgspec.to_builtins(each) | {"at": iso(each.at), "seen": iso(each.seen)}
            typer.echo(msgspec.json.encode(told).decode())
        return
    if not found:
        typer.echo("no alerts: `gossamer serve` raises them when runs fail, drift or fall silent", err=True)
        return
    rows = [
        (each.id, terminal.moment(each.at), each.kind, each.title, _reached(each), "yes" if each.seen else "no")
        for each in found
    ]
    out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)
    out.print(terminal.table("", ("alert", "when", "kind", "what", "sent", "seen"), rows, numbers=("alert",)))
    for each in found:
        for dispatch in each.dispatches:
            if dispatch.error:
                typer.echo(f"alert {each.id}, {dispatch.target}: {dispatch.state}: {dispatch.error}", err=True)


def _reached(alert: Alert) -> str | None:
    if not alert.dispatches:
        return None
    sent = sum(dispatch.state == "sent" for dispatch in alert.dispatches)
    return f"{sent} of {len(alert.dispatches)}"


@alerts_app.command("test")
def try_command(as_json: AsJson = False) -> None:
    """Send a test to every receiver that is set, and show what came of it. Exit code 1: one was not reached.

    \b
    gossamer alerts test
    """
    from gossamer import alerts

    place = settings.read().place
    telemetry.configure(place.log_level, place.log_format)
    told = wait(alerts.test(place))
    for each in told:
        if as_json:
            typer.echo(msgspec.json.encode(each).decode())
        else:
            typer.echo(f"{each.target}: {f'told in {each.seconds:.1f} s' if each.ok else f'not reached: {each.why}'}")
    raise typer.Exit(0 if all(each.ok for each in told) else 1)


@alerts_app.command("ack")
def ack_command(
    numbers: Annotated[
        list[int] | None, typer.Argument(metavar="[ALERT]...", parser=alert_number, help="Which ones, by number")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that there are")] = False,
    store: StoreOption = None,
    as_json: AsJson = False,
) -> None:
    """Acknowledge alerts: they count as seen.

    \b
    gossamer alerts ack 12 13
    gossamer alerts ack --all
    """
    from gossamer import alerts

    if bool(numbers) == everything:
        raise ConfigError("say which alerts: their numbers, or --all")
    which: Sequence[int | None] = numbers or (None,)

    async def work(desk: Desk) -> int:
        return sum([await alerts.acknowledge(desk, each, by=me()) for each in which])

    seen = at_desk(store, work)
    if as_json:
        typer.echo(msgspec.json.encode({"acknowledged": seen}).decode())
    else:
        typer.echo(f"{terminal.many(seen, 'alert')} acknowledged", err=True)
