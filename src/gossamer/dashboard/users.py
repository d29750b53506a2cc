"""`/users`: people who may log in, and tokens of programs. For admins only; a secret is shown once, when it is made."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from gossamer import settings
from gossamer.accounts import SCOPES, Account, Token
from gossamer.dashboard import words
from gossamer.dashboard.parts import (
    Cell,
    Column,
    Row,
    Sheet,
    Table,
    Text,
    at,
    box,
    button,
    card,
    confirm,
    dialogue,
    empty,
    note,
)
from gossamer.dashboard.shell import Here, page
from gossamer.trail import Asker

PASSWORD, SCOPE, DISABLE, ENABLE, DELETE, REVOKE = "Password", "Scope", "Disable", "Enable", "Delete", "Revoke"
MEANINGS = {
    "read": "read: look at everything",
    "run": "run: start, cancel, submit, decide",
    "admin": "admin: rule hosts, people and tokens",
}
EXPIRIES = {"7d": "a week", "30d": "30 days", "90d": "90 days", "365d": "a year", "": "for ever"}
PEOPLE = (
    Column("Name"),
    Column("May"),
    Column("State"),
    Column("Seen"),
    Column("Made", minor=True),
    Column("By", minor=True),
)
TOKENS = (
    Column("Name"),
    Column("May"),
    Column("State"),
    Column("Used"),
    Column("Good until"),
    Column("Made", minor=True),
    Column("By", minor=True),
)
_TONES = {"read": "dim", "run": "info", "admin": "warn"}
#: Rows of a table at once.
ROWS = 50


def person_row(person: Account) -> Row:
    """A person as a row."""
    state = Cell("good", tone="good") if person.disabled is None else Cell("disabled", tone="bad")
    return Row(
        person.name,
        (
            person.name,
            Cell(person.scope, tone=_TONES.get(person.scope, "dim")),
            state,
            at(person.seen),
            at(person.created),
            person.created_by,
        ),
        acts=[PASSWORD, SCOPE, DISABLE if person.disabled is None else ENABLE, DELETE],
        danger=DELETE,
    )


def token_row(token: Token) -> Row:
    """A token as a row, without its secret."""
    state = token.state(time.time())
    return Row(
        str(token.id),
        (
            token.name,
            Cell(token.scope, tone=_TONES.get(token.scope, "dim")),
            Cell(state, tone="good" if state == "good" else "dim"),
            at(token.used),
            at(token.expires) if token.expires is not None else Cell("for ever"),
            at(token.created),
            token.created_by,
        ),
        acts=[REVOKE] if state == "good" else [],
        danger=REVOKE,
    )


class Form:
    """A dialog with a few fields. It stays open until what it asks for was done."""

    def __init__(self, title: str, about: str = "") -> None:
        with dialogue() as self.dialog:
            Text(title, "h2", "g-wrap")
            if about:
                Text(about, "p", "g-dim")
            self._fields = ui.element("div").classes("g-stack full-width")
            self._buttons = ui.element("div").classes("g-row")
        self.dialog.on("hide", self.dialog.delete)

    def text(self, label: str, *, secret: bool = False) -> ui.input:
        """A field to type into."""
        with self._fields:
            made = ui.input(label, password=secret, password_toggle_button=secret).props("outlined dense")
        made.props["autocomplete"] = "new-password" if secret else "off"
        made.props["maxlength"] = 1000 if secret else 100
        return made

    def choice(self, label: str, options: dict[str, str], value: str) -> ui.select:
        """A field to choose from."""
        with self._fields:
            return ui.select(options, label=label, value=value).props("outlined dense options-dense")

    def open(self, label: str, act: Callable[[], Awaitable[bool]]) -> None:
        """Show it; `act` says whether it can be closed again."""

        async def go() -> None:
            if await act():
                self.dialog.close()

        with self._buttons:
            ui.button(label, on_click=go).props("unelevated")
            ui.button("Cancel", on_click=self.dialog.close, color=None).props("flat")
        self.dialog.open()


class People:
    """Those who may log in."""

    def __init__(self, here: Here) -> None:
        self.here = here
        self.accounts = here.service.accounts
        with card():
            with box("g-head"):
                Text("People", "h2")
                Text("", "span", "g-space")
                button("New person", "person_add", self._new)
            self.table = Table(PEOPLE, self._load, nothing=self._nothing, act=self._act, label="People")

    def _nothing(self) -> None:
        empty("Nobody has a password yet: make a person here, or with ", "gossamer user create NAME")

    async def _load(self, cursor: Any) -> Sheet:
        await self.here.must("admin")
        first, found = cursor or 0, await self.accounts.accounts()
        shown = found[first : first + ROWS]
        return Sheet([person_row(each) for each in shown], first + ROWS if len(found) > first + ROWS else None)

    async def _do(self, deed: Callable[[Asker], Awaitable[object]], told: str) -> bool:
        done = await self.here.done("admin", deed, told)
        if done:
            await self.here.read(self.table.refresh())
        return done

    def _new(self) -> None:
        form = Form("New person", "They log in with this name and password, and can be given another later.")
        name, password = form.text("Name"), form.text("Password", secret=True)
        scope = form.choice("May", MEANINGS, "read")

        async def make() -> bool:
            return await self._do(
                lambda by: self.accounts.create_account(name.value, password.value, scope.value, by),
                f"{words.cut(name.value, 80)} may log in",
            )

        form.open("Create", make)

    async def _act(self, name: str, deed: str) -> None:
        if deed == PASSWORD:
            self._password(name)
        elif deed == SCOPE:
            self._scope(name)
        elif deed == ENABLE:
            await self._do(lambda by: self.accounts.enable(name, by), f"{name} may log in again")
        elif deed == DISABLE:
            if await confirm(f"Disable {name}?", DISABLE, detail="Their sessions end now. They can be enabled again."):
                await self._do(lambda by: self.accounts.disable(name, by), f"{name} is disabled")
        elif deed == DELETE and await confirm(f"Delete {name}?", DELETE, detail="What they did stays in the trail."):
            await self._do(lambda by: self.accounts.delete(name, by), f"{name} is deleted")

    def _password(self, name: str) -> None:
        form = Form(f"Another password for {name}", "Their sessions end, and they log in again.")
        password = form.text("New password", secret=True)

        async def change() -> bool:
            return await self._do(
                lambda by: self.accounts.change_password(name, password.value, by), f"{name} has another password"
            )

        form.open("Change", change)

    def _scope(self, name: str) -> None:
        form = Form(f"What {name} may do")
        scope = form.choice("May", MEANINGS, SCOPES[0])

        async def change() -> bool:
            return await self._do(
                lambda by: self.accounts.set_scope(name, scope.value, by), f"{name} may {scope.value} now"
            )

        form.open("Change", change)


class Tokens:
    """The keys of programs."""

    def __init__(self, here: Here) -> None:
        self.here = here
        self.accounts = here.service.accounts
        with card():
            with box("g-head"):
                Text("Tokens", "h2")
                Text("", "span", "g-space")
                button("New token", "key", self._new)
            self.table = Table(TOKENS, self._load, nothing=self._nothing, act=self._act, label="Tokens")

    def _nothing(self) -> None:
        empty("No tokens yet: make one here, or with ", "gossamer token create NAME")

    async def _load(self, cursor: Any) -> Sheet:
        await self.here.must("admin")
        first, found = cursor or 0, await self.accounts.tokens()
        shown = found[first : first + ROWS]
        return Sheet([token_row(each) for each in shown], first + ROWS if len(found) > first + ROWS else None)

    def _new(self) -> None:
        form = Form("New token", "For a program: it sends the token as Authorization: Bearer ...")
        name, scope = form.text("Name"), form.choice("May", MEANINGS, "read")
        good = form.choice("Good for", EXPIRIES, "90d")

        async def make() -> bool:
            until = time.time() + settings.duration(good.value) if good.value else None
            made = await self.here.do(
                "admin", lambda by: self.accounts.create_token(name.value, scope.value, until, by)
            )
            if made is None:
                return False
            await self.here.read(self.table.refresh())
            show_once(*made)
            return True

        form.open("Create", make)

    async def _act(self, row: str, deed: str) -> None:
        detail = "Programs that use it are kept out from now on, and so is who logged in with it."
        if deed == REVOKE and await confirm("Revoke this token?", REVOKE, detail=detail):
            token = await self.here.do("admin", lambda by: self.accounts.revoke_token(int(row), by), "it is revoked")
            if token is not None:
                await self.here.read(self.table.refresh())


def show_once(token: Token, secret: str) -> None:
    """The secret of a new token: it is in this dialog, and nowhere else."""
    with dialogue() as dialog:
        dialog.props("persistent")
        Text(f"The token {token.name}", "h2", "g-wrap")
        note("Copy it now: it is shown this once, and only a digest of it is kept.")
        Text(secret, "code", "g-wrap").props["id"] = "g-secret"
        with box("g-row"):
            copy = "() => navigator.clipboard.writeText(document.getElementById('g-secret').textContent)"
            ui.button("Copy", icon="content_copy", color=None).props("outline").on("click", js_handler=copy)
            ui.button("I have it", on_click=dialog.close).props("unelevated")
    dialog.on("hide", dialog.delete)
    dialog.open()


@page("/users", "Users", scope="admin")
async def users(here: Here) -> None:
    """People and tokens."""
    with box("g-title"):
        Text("Users and tokens", "h1")
    people, tokens = People(here), Tokens(here)
    await people.table.restart()
    await tokens.table.restart()
