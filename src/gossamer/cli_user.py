"""`gossamer user`: people who log in to the dashboard. A password is typed or piped, and never an argument."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console

from gossamer import clock, passwords, terminal
from gossamer.accounts import Account, Accounts
from gossamer.cli_desk import at_desk, me
from gossamer.cli_options import StoreOption
from gossamer.cli_token import AsJson, ScopeOption
from gossamer.errors import ConfigError

user_app = typer.Typer(
    name="user",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Let people log in to the dashboard with a password, and keep them out again.",
)
err = Console(stderr=True, highlight=False, emoji=False)
out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Whom")]
FromStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from the first line of stdin, and ask nobody")
]


@user_app.command("create")
def create_command(
    name: Name,
    scope: ScopeOption = "read",
    password_stdin: FromStdin = False,
    store: StoreOption = None,
    as_json: AsJson = False,
) -> None:
    """Let somebody log in. The password is asked for, twice: at least 10 characters, and not the name.

    \b
    gossamer user create anna --scope admin
    pass show gossamer/bert | gossamer user create bert --scope run --password-stdin
    """
    password = _password(name, from_stdin=password_stdin)
    made = at_desk(store, lambda desk: Accounts(desk).create_account(name, password, scope, me()), make=True)
    _told(made, f"{made.name} may log in, with the scope {made.scope}", as_json)


@user_app.command("list")
def list_command(store: StoreOption = None, as_json: AsJson = False) -> None:
    """Show everybody who may log in.

    \b
    gossamer user list
    gossamer user list --json
    """
    found = at_desk(store, lambda desk: Accounts(desk).accounts())
    if as_json:
        for account in found:
            typer.echo(msgspec.json.encode(as_dict(account)).decode())
        return
    if not found:
        err.print("nobody can log in with a password yet: `gossamer user create NAME` lets somebody", markup=False)
        return
    rows = [
        (a.name, a.scope, "disabled" if a.disabled else "good", terminal.moment(a.created), a.created_by, _seen(a))
        for a in found
    ]
    out.print(terminal.table("", ("name", "scope", "state", "created", "by", "seen"), rows))


@user_app.command("password")
def password_command(
    name: Name, password_stdin: FromStdin = False, store: StoreOption = None, as_json: AsJson = False
) -> None:
    """Give somebody another password, and log them out everywhere.

    \b
    gossamer user password anna
    openssl rand -base64 18 | tee anna.txt | gossamer user password anna --password-stdin
    """
    at_desk(store, lambda desk: Accounts(desk).account(name))  # before a password is typed for nobody
    password = _password(name, from_stdin=password_stdin)
    changed = _change(store, name, lambda accounts: accounts.change_password(name, password, me()))
    _told(changed, f"the password of {changed.name} is another one now; they are logged out everywhere", as_json)


@user_app.command("scope")
def scope_command(
    name: Name,
    scope: Annotated[str, typer.Argument(metavar="read|run|admin", help="What they may do from now on")],
    store: StoreOption = None,
    as_json: AsJson = False,
) -> None:
    """Let somebody do more, or less.

    \b
    gossamer user scope bert admin
    """
    changed = _change(store, name, lambda accounts: accounts.set_scope(name, scope, me()))
    _told(changed, f"{changed.name} has the scope {changed.scope} now", as_json)


@user_app.command("disable")
def disable_command(name: Name, store: StoreOption = None, as_json: AsJson = False) -> None:
    """Keep somebody out until you enable them again. A running service knows within a second or two.

    \b
    gossamer user disable bert
    """
    changed = _change(store, name, lambda accounts: accounts.disable(name, me()))
    _told(changed, f"{changed.name} is disabled, and logged out everywhere", as_json)


@user_app.command("enable")
def enable_command(name: Name, store: StoreOption = None, as_json: AsJson = False) -> None:
    """Let somebody in again who was disabled.

    \b
    gossamer user enable bert
    """
    changed = _change(store, name, lambda accounts: accounts.enable(name, me()))
    _told(changed, f"{changed.name} may log in again", as_json)


@user_app.command("remove")
def remove_command(name: Name, store: StoreOption = None, as_json: AsJson = False) -> None:
    """Remove somebody, and log them out everywhere. What they did stays in the trail.

    \b
    gossamer user remove bert
    """

    async def remove(accounts: Accounts) -> Account:
        gone = await accounts.account(name)
        await accounts.delete(name, me())
        return gone

    gone = at_desk(store, lambda desk: remove(Accounts(desk)))
    _told(gone, f"{gone.name} is removed, and logged out everywhere", as_json)


def _change(store: str | None, name: str, work: Callable[[Accounts], Awaitable[None]]) -> Account:
    """Change an account, and see what it is like then."""

    async def do(accounts: Accounts) -> Account:
        await work(accounts)
        return await accounts.account(name)

    return at_desk(store, lambda desk: do(Accounts(desk)))


def _told(account: Account, sentence: str, as_json: bool) -> None:
    if as_json:
        typer.echo(msgspec.json.encode(as_dict(account)).decode())
    else:
        err.print(sentence, markup=False)


def as_dict(account: Account) -> dict[str, Any]:
    """An account for programs."""
    times = {each: clock.iso(getattr(account, each)) for each in ("created", "disabled", "seen")}
    return {"name": account.name, "scope": account.scope, "created_by": account.created_by, **times}


def _seen(account: Account) -> str:
    return terminal.moment(account.seen)


def _password(name: str, *, from_stdin: bool) -> str:
    """A password from whoever types, or from stdin. Refused here, before anything else is done."""
    if from_stdin:
        password = sys.stdin.readline(4096).rstrip("\r\n")
    elif sys.stdin.isatty():
        password = typer.prompt(f"Password of {name}", hide_input=True, confirmation_prompt=True, err=True)
    else:
        raise ConfigError("there is no terminal to ask for the password at: pipe it in, with --password-stdin")
    passwords.check(password, name)
    return password
