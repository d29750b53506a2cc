"""`gossamer token` and `gossamer user`: as a person types them, beside a service that runs."""

from __future__ import annotations

import asyncio
import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.accounts import Accounts, Session, Token
from gossamer.errors import NotAdmitted
from gossamer.storage.sqlite_desk import SqliteDesk
from tests.cli import sentence, typed
from tests.conftest import json_lines

PASSWORD = "correct horse battery"


def checked(secret: str) -> Token | None:
    async def main() -> Token | None:
        async with SqliteDesk("gossamer.db") as desk, Accounts(desk) as accounts:
            return await accounts.check_token(secret)

    return asyncio.run(main())


def logged_in(name: str, password: str) -> Session | None:
    async def main() -> Session | None:
        async with SqliteDesk("gossamer.db") as desk, Accounts(desk) as accounts:
            try:
                return await accounts.check_session(await accounts.log_in(name, password))
            except NotAdmitted:
                return None

    return asyncio.run(main())


def trail() -> list[tuple[object, ...]]:
    async def main() -> list[tuple[object, ...]]:
        async with SqliteDesk("gossamer.db") as desk:
            return await desk.rows("select via, action, target from trail order by id")

    return asyncio.run(main())


def piped(monkeypatch: pytest.MonkeyPatch, text: str, *args: object) -> subprocess.CompletedProcess[str]:
    """A command with something on stdin."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    return typed(*args)


def test_a_token_is_printed_once_alone_on_stdout() -> None:
    done = typed("token", "create", "ci", "--scope", "run", "--expires", "90d")
    assert done.returncode == 0
    secret = done.stdout.strip()
    assert done.stdout == f"{secret}\n"
    assert done.stderr.startswith("the token ci has the scope run until 20")
    assert secret not in done.stderr
    token = checked(secret)
    assert token is not None
    assert (token.name, token.scope) == ("ci", "run")
    assert token.expires is not None
    assert abs(token.expires - token.created - 90 * 86400) < 60
    listed = typed("token", "list")
    assert listed.stdout.split()[:8] == ["id", "name", "scope", "state", "created", "by", "expires", "used"]
    assert secret not in listed.stdout
    assert secret.encode() not in b"".join(path.read_bytes() for path in Path().glob("gossamer.db*"))


def test_a_token_is_listed_and_revoked_by_name_or_number() -> None:
    made = [json_lines(typed("token", "create", f"t{n}", "--expires", "none", "--json").stdout)[0] for n in range(2)]
    assert [each["expires"] for each in made] == [None, None]
    assert typed("token", "revoke", "t0").stderr == "the token t0 is revoked\n"
    assert json_lines(typed("token", "revoke", made[1]["id"], "--json").stdout) == [
        {"id": made[1]["id"], "name": "t1", "state": "revoked"}
    ]
    listed = json_lines(typed("token", "list", "--json").stdout)
    assert [(each["name"], each["state"]) for each in listed] == [("t1", "revoked"), ("t0", "revoked")]
    assert [checked(each["token"]) for each in made] == [None, None]
    assert trail() == [
        ("cli", "token.create", "t0"),
        ("cli", "token.create", "t1"),
        ("cli", "token.revoke", "t0"),
        ("cli", "token.revoke", "t1"),
    ]


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["token", "create", "a b"], "cannot be the name of a token"),
        (["token", "create", "x", "--scope", "root"], "no scope 'root': write one of read, run, admin"),
        (["token", "create", "x", "--expires", "soon"], "--expires = 'soon' cannot be used"),
        (["token", "revoke", "nobody"], "no token nobody: `gossamer token list`"),
        (["token", "revoke", "9" * 40], "no token 999"),
        (["user", "disable", "nobody"], "no account 'nobody': `gossamer user list`"),
        (["user", "create", "anna"], "no terminal to ask for the password at: pipe it in, with --password-stdin"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(args: list[str], why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    typed("token", "create", "admin-token", "--scope", "admin")
    assert why in sentence(piped(monkeypatch, "", *args), 2)


def test_looking_makes_no_store() -> None:
    for args in (["token", "list"], ["user", "list"], ["token", "revoke", "x"], ["user", "remove", "x"]):
        assert "there is no store at gossamer.db" in sentence(typed(*args), 2)
    assert not Path("gossamer.db").exists()


def test_a_person_is_let_in_and_kept_out(monkeypatch: pytest.MonkeyPatch) -> None:
    typed("token", "create", "keeper", "--scope", "admin")
    assert typed("user", "list").stderr.startswith("nobody can log in with a password yet")
    made = piped(monkeypatch, f"{PASSWORD}\n", "user", "create", "Anna", "--scope", "admin", "--password-stdin")
    assert made.stderr == "anna may log in, with the scope admin\n"
    session = logged_in("anna", PASSWORD)
    assert session is not None
    assert session.scope == "admin"
    other = piped(monkeypatch, "another horse battery\r\n", "user", "password", "anna", "--password-stdin")
    assert other.returncode == 0
    assert logged_in("anna", PASSWORD) is None
    assert logged_in("anna", "another horse battery") is not None
    assert typed("user", "scope", "anna", "run").returncode == 0
    assert typed("user", "disable", "anna").returncode == 0
    assert logged_in("anna", "another horse battery") is None
    (shown,) = json_lines(typed("user", "list", "--json").stdout)
    assert (shown["name"], shown["scope"], bool(shown["disabled"])) == ("anna", "run", True)
    assert typed("user", "enable", "anna").returncode == 0
    assert logged_in("anna", "another horse battery") is not None
    assert "anna" in typed("user", "list").stdout
    assert json_lines(typed("user", "remove", "anna", "--json").stdout)[0]["name"] == "anna"
    assert logged_in("anna", "another horse battery") is None


def test_a_bad_password_is_refused_before_anything_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("short\n", "", "anna\n"):
        done = piped(monkeypatch, text, "user", "create", "anna", "--password-stdin")
        assert "the password is too short" in sentence(done, 2)
    assert not Path("gossamer.db").exists()


def test_a_password_is_typed_twice_and_never_shown(tmp_path: Path) -> None:
    """On a terminal, as a person does."""
    ours, theirs = pty.openpty()
    command = subprocess.Popen(
        [sys.executable, "-m", "gossamer", "user", "create", "anna"],
        cwd=tmp_path,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    os.close(theirs)
    shown = b""
    for question in (b"Password of anna: ", b"Repeat for confirmation: "):
        while not shown.endswith(question):
            shown += os.read(ours, 1024)
        os.write(ours, f"{PASSWORD}\n".encode())
    while b"may log in" not in shown:
        shown += os.read(ours, 1024)
    assert command.wait(20) == 0
    os.close(ours)
    assert PASSWORD.encode() not in shown
    assert logged_in("anna", PASSWORD) is not None


def test_no_password_and_no_token_can_be_an_argument() -> None:
    for command in (["user", "create"], ["user", "password"], ["token", "create"]):
        told = typed(*command, "--help").stdout
        assert "--password " not in told
        assert "gossamer " + " ".join(command) in told


def test_tokens_are_made_while_somebody_works_on_the_store() -> None:
    async def main() -> None:
        async with SqliteDesk("gossamer.db") as desk, Accounts(desk) as accounts:
            done = await asyncio.to_thread(
                subprocess.run,
                [sys.executable, "-m", "gossamer", "token", "create", "beside"],
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done
            assert await accounts.check_token(done.stdout.strip()) is not None

    asyncio.run(main())
