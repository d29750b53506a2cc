"""`gossamer token`: keys with which programs use the API, and people log in before they have a password."""

from __future__ import annotations

import sys
import time
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from gossamer import clock, settings, terminal
from gossamer.accounts import Accounts, Token
from gossamer.cli_desk import at_desk, me
from gossamer.cli_options import StoreOption
from gossamer.errors import ConfigError

token_app = typer.Typer(
    name="token",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make, list and revoke the tokens with which programs use the service.",
)
err = Console(stderr=True, highlight=False, emoji=False)
out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line")]
ScopeOption = Annotated[
    str, typer.Option("--scope", metavar="read|run|admin", help="What it may do; each holds the ones before it")
]


@token_app.command("create")
def create_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is for: its name in the trail")],
    scope: ScopeOption = "read",
    expires: Annotated[str, typer.Option(metavar="TIME", help="How long it is good: 90d, 12h, none")] = "90d",
    store: StoreOption = None,
    as_json: AsJson = False,
) -> None:
    """Make a token, and print it: this one time, for only a digest of it is kept.

    \b
    gossamer token create ci --scope run --expires 90d
    gossamer token create grafana --expires none
    TOKEN=$(gossamer token create backup) && curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8600/api/runs
    """
    until = _until(expires)
    token, secret = at_desk(store, lambda desk: Accounts(desk).create_token(name, scope, until, me()), make=True)
    if as_json:
        typer.echo(msgspec.json.encode({"token": secret, **as_dict(token)}).decode())
        return
    typer.echo(secret)
    end = f"until {terminal.moment(token.expires)}" if token.expires else "for ever"
    err.print(f"the token {token.name} has the scope {token.scope} {end}; it is shown this once", markup=False)


@token_app.command("list")
def list_command(store: StoreOption = None, as_json: AsJson = False) -> None:
    """Show all tokens, the newest first: what they may do, and when they were used. Their secrets are not kept.

    \b
    gossamer token list
    gossamer token list --json
    """
    found = at_desk(store, lambda desk: Accounts(desk).tokens())
    if as_json:
        for token in found:
            typer.echo(msgspec.json.encode(as_dict(token)).decode())
        return
    if not found:
        err.print("there are no tokens yet: `gossamer token create NAME` makes one", markup=False)
        return
    now = time.time()
    rows = [
        (
            t.id,
            t.name,
            t.scope,
            t.state(now),
            terminal.moment(t.created),
            t.created_by,
            _end(t),
            terminal.moment(t.used),
        )
        for t in found
    ]
    columns = ("id", "name", "scope", "state", "created", "by", "expires", "used")
    out.print(terminal.table("", columns, rows, numbers=("id",)))


@token_app.command("revoke")
def revoke_command(
    token: Annotated[str, typer.Argument(metavar="NAME|ID", help="Its name, or its number in the list")],
    store: StoreOption = None,
    as_json: AsJson = False,
) -> None:
    """End a token, and every session that was begun with it. A running service knows within a second or two.

    \b
    gossamer token revoke ci
    gossamer token revoke 3
    """
    which: int | str = int(token) if token.isdecimal() and len(token) < 18 else token
    ended = at_desk(store, lambda desk: Accounts(desk).revoke_token(which, me()))
    if as_json:
        typer.echo(msgspec.json.encode({"id": ended.id, "name": ended.name, "state": "revoked"}).decode())
        return
    err.print(f"the token {ended.name} is revoked", markup=False)


def as_dict(token: Token) -> dict[str, Any]:
    """A token for programs."""
    times = ("created", "expires", "used", "revoked")
    kept = {"id": token.id, "name": token.name, "scope": token.scope, "state": token.state(time.time())}
    return {**kept, "created_by": token.created_by, **{name: clock.iso(getattr(token, name)) for name in times}}


def _end(token: Token) -> str:
    return terminal.moment(token.expires) if token.expires else "never"


def _until(expires: str) -> float | None:
    try:
        seconds = settings.optional(settings.duration)(expires)
    except ValueError as why:
        raise ConfigError(f"--expires = {expires!r} cannot be used: {why}, or none") from None
    return None if seconds is None else time.time() + seconds
