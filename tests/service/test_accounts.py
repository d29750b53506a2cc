"""Tokens, people and sessions, on a real store: who gets in, for how long, and what of it can be read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from argon2 import PasswordHasher

from gossamer import accounts as module
from gossamer import passwords
from gossamer.accounts import IDLE, LONGEST, Accounts, may
from gossamer.errors import ConfigError, NotAdmitted, NotFound, NotPossible, TooManyTries
from gossamer.passwords import QUEUE, Hasher
from gossamer.storage import opening
from gossamer.throttle import MEMORY, MOST, Throttle, network
from gossamer.trail import Asker
from tests import stores

pytestmark = pytest.mark.usefixtures("quick")

ME = Asker("tester", "cli")
PASSWORD = "correct horse battery"


class Clock:
    """The time, which tests move."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords that are hashed with little work: here it only matters which they are."""
    made = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    monkeypatch.setattr(passwords, "_argon", lambda: made)


@asynccontextmanager
async def opened(store: str, clock: Callable[[], float] = time.time) -> AsyncIterator[Accounts]:
    async with opening.desk(store) as desk, Accounts(desk, clock=clock) as accounts:
        yield accounts


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(main())


async def actions(accounts: Accounts) -> list[tuple[Any, ...]]:
    return await accounts.desk.rows("select who, via, action, target from trail order by id")


# -- tokens ------------------------------------------------------------------------------------------------------


def test_a_token_is_good_until_it_is_revoked(store: str) -> None:
    async def main() -> None:
        async with opened(store) as accounts:
            await accounts.create_token("keeper", "admin", None, ME)
            token, secret = await accounts.create_token(" CI ", "run", None, ME)
            assert (token.name, token.scope, token.created_by) == ("ci", "run", "tester")
            assert secret.startswith("gsm_")
            assert len(secret) == 47
            found = await accounts.check_token(secret)
            assert found is not None
            assert found.id == token.id
            assert (await accounts.revoke_token("ci", ME)).id == token.id
            assert await accounts.check_token(secret) is None
            assert [each.state(time.time()) for each in await accounts.tokens()] == ["revoked", "good"]
            await accounts.revoke_token(token.id, ME)  # twice is once
            with pytest.raises(NotFound, match="no token ci"):
                await accounts.revoke_token("ci", ME)
            # The name is free again.
            again, _ = await accounts.create_token("ci", "read", None, ME)
            assert again.id != token.id
            assert await actions(accounts) == [
                ("tester", "cli", "token.create", "keeper"),
                ("tester", "cli", "token.create", "ci"),
                ("tester", "cli", "token.revoke", "ci"),
                ("tester", "cli", "token.create", "ci"),
            ]

    run(main)


def test_a_token_ends_when_it_expires_even_while_it_is_remembered(store: str) -> None:
    async def main() -> None:
        clock = Clock()
        async with opened(store, clock) as accounts:
            _, secret = await accounts.create_token("short", "read", clock.now + 60, ME)
            assert await accounts.check_token(secret) is not None
            clock.now += 61
            assert await accounts.check_token(secret) is None
            with pytest.raises(ConfigError, match="expired already"):
                await accounts.create_token("late", "read", clock.now - 1, ME)

    run(main)


@pytest.mark.parametrize(
    "secret",
    ["", "gsm_", "gsm_" + "x" * 43, "x" * 10_000_000, "gsm_" + "é" * 43, "gsm_\0" + "x" * 42, "' or 1=1 --", "\ud800"],
    ids=range(8),
)
def test_what_is_not_a_token_opens_nothing(store: str, secret: str) -> None:
    async def main() -> None:
        async with opened(store) as accounts:
            await accounts.create_token("one", "admin", None, ME)
            assert await accounts.check_token(secret) is None
            assert await accounts.check_session(secret) is None

    run(main)


def test_a_revocation_by_another_process_holds_within_two_seconds(store: str) -> None:
    async def main() -> None:
        async with opened(store) as here, opened(store) as elsewhere:
            await here.create_token("keeper", "admin", None, ME)
            _, secret = await here.create_token("ci", "read", None, ME)
            assert await here.check_token(secret) is not None
            await elsewhere.revoke_token("ci", ME)
            await asyncio.sleep(module.BELIEVED + 0.1)
            assert await here.check_token(secret) is None

    run(main)


def test_a_token_that_is_used_a_lot_is_not_looked_up_and_noted_each_time(store: str) -> None:
    async def main() -> None:
        clock = Clock()
        async with opened(store, clock) as accounts:
            token, secret = await accounts.create_token("busy", "read", None, ME)
            reads, writes = 0, 0
            row, writing = accounts.desk.row, accounts.desk.writing

            def counted_row(statement: str, /, **names: Any) -> Any:
                nonlocal reads
                reads += 1
                return row(statement, **names)

            def counted_writing() -> Any:
                nonlocal writes
                writes += 1
                return writing()

            accounts.desk.row, accounts.desk.writing = counted_row, counted_writing  # type: ignore[method-assign]
            began = time.monotonic()
            for _ in range(2_000):
                assert await accounts.check_token(secret) is not None
            await accounts.aclose()
            assert reads <= 2 + (time.monotonic() - began) / module.BELIEVED
            assert writes == 1
            (listed,) = await accounts.tokens()
            assert (listed.id, listed.used) == (token.id, clock.now)

    run(main)


@pytest.mark.parametrize("name", ["", " ", "7", "a b", "../etc", "a" * 65, "-x", "é", "token:1", "a\n", "<b>"])
def test_a_name_that_could_be_taken_for_something_else_is_refused(store: str, name: str) -> None:
    async def main() -> None:
        async with opened(store) as accounts:
            if name.strip() == "a":
                return  # blanks around a name are nobody's
            with pytest.raises(ConfigError, match="cannot be the name of a token"):
                await accounts.create_token(name, "read", None, ME)
            with pytest.raises(ConfigError, match="cannot be the name of an account"):
                await accounts.create_account(name, PASSWORD, "read", ME)

    run(main)


def test_a_name_stands_for_one_person_or_one_program(store: str) -> None:
    async def main() -> None:
        async with opened(store) as accounts:
            await accounts.create_token("anna", "read", None, ME)
            with pytest.raises(NotPossible, match="a token named anna"):
                await accounts.create_token("anna", "read", None, ME)
            with pytest.raises(NotPossible, match="a token named anna"):
                await accounts.create_account("Anna", PASSWORD, "read", ME)
            await accounts.create_account("bert", PASSWORD, "read", ME)
            with pytest.raises(NotPossible, match="an account named bert"):
                await accounts.create_token("bert", "read", None, ME)
            with pytest.raises(ConfigError, match="no scope 'root'"):
                await accounts.create_token("c", "root", None, ME)

    run(main)


def test_the_first_start_makes_one_token_also_where_several_services_start_at_once(store: str) -> None:
    async def main() -> None:
        async with opened(store) as one, opened(store) as two, opened(store) as three:
            made = await asyncio.gather(*(each.first_token(ME) for each in (one, two, three) for _ in range(3)))
            (secret,) = [each for each in made if each is not None]
            token = await two.check_token(secret)
            assert token is not None
            assert (token.scope, token.expires) == ("admin", None)
            assert await one.first_token(ME) is None

    run(main)


def test_there_is_no_first_token_where_somebody_has_an_account(store: str) -> None:
    async def main() -> None:
        async with opened(store) as accounts:
            await accounts.create_account("anna", PASSWORD, "admin", ME)
            assert await accounts.first_token(ME) is None

    run(main)


def test_scopes_are_nested() -> None:
    table = [[may(has, needed) for needed in ("read", "run", "admin")] for has in ("read", "run", "admin", "", "root")]
    assert table == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
        [False, False, False],
        [False, False, False],
    ]


# -- people and sessions -----------------------------------------------------------------------------------------


def test_who_logs_in_is_known_until_they_log_out(store: str) -> None:
    async def main() -> None:
        async with opened(store) as accounts:
            await accounts.create_account("anna", PASSWORD, "run", ME)
            secret = await accounts.log_in(" Anna", PASSWORD, "10.0.0.1")
            session = await accounts.check_session(secret)
            assert session is not None
            assert (session.name, session.scope, session.kind) == ("anna", "run", "account")
            other = await accounts.log_in("anna", PASSWORD)
            assert other != secret
            await accounts.log_out(secret)
            assert await accounts.check_session(secret) is None
            assert await accounts.check_session(other) is not None
            await accounts.log_out(secret)
            told = await actions(accounts)
            assert told[1:] == [
                ("anna", "dashboard", "session.begin", "anna"),
                ("anna", "dashboard", "session.begin", "anna"),
                ("anna", "dashboard", "session.end", "anna"),
            ]

    run(main)


def test_a_session_ends_when_nobody_uses_it_and_in_the_end_anyway(store: str) -> None:
    async def main() -> None:
        clock = Clock()
        async with opened(store, clock) as accounts:
            await accounts.create_account("anna", PASSWORD, "read", ME)
            idle = await accounts.log_in("anna", PASSWORD)
            used = await accounts.log_in("anna", PASSWORD)
            began = clock.now
            while clock.now < began + LONGEST - IDLE:
                clock.now += IDLE / 2
                accounts._forget()
                accounts._noted.clear()
                assert await accounts.check_session(used) is not None
                await accounts.aclose()
            assert await accounts.check_session(idle) is None
            clock.now = began + LONGEST + 1
            assert await accounts.check_session(used) is None
            # The next log-in sweeps.
            await accounts.log_in("anna", PASSWORD)
            assert await accounts.desk.row("select count(*) from session") == (1,)

    run(main)


def test_a_new_password_ends_all_sessions_and_the_old_one(store: str) -> None:
    async def main() -> None:
        async with opened(store) as accounts:
            await accounts.create_account("anna", PASSWORD, "read", ME)
            await accounts.create_account("bert", PASSWORD, "admin", ME)
            mine = [await accounts.log_in("anna", PASSWORD) for _ in range(2)]
            other = await accounts.log_in("bert", PASSWORD)
            with pytest.raises(NotAdmitted):
                await accounts.change_password("anna", "another horse", ME, old="wrong horse battery")
            await accounts.change_password("anna", "another horse", ME, old=PASSWORD)
            assert [await accounts.check_session(each) for each in mine] == [None, None]
            assert await accounts.check_session(other) is not None
            with pytest.raises(NotAdmitted):
                await accounts.log_in("anna", PASSWORD)
            await accounts.log_in("anna", "another horse")
            with pytest.raises(NotFound, match="no account 'nobody'"):
                await accounts.change_password("nobody", "another horse", ME)

    run(main)


def test_who_is_disabled_or_removed_is_out_at_once(store: str) -> None:
    async def main() -> None:
        async with opened(store) as accounts:
            await accounts.create_account("anna", PASSWORD, "admin", ME)
            await accounts.create_account("bert", PASSWORD, "admin", ME)
            for way, back in ((accounts.disable, accounts.enable), (accounts.delete, None)):
                secret = await accounts.log_in("bert", PASSWORD)
                assert await accounts.check_session(secret) is not None
                await way("bert", ME)
                assert await accounts.check_session(secret) is None
                with pytest.raises(NotAdmitted, match="the name or the password is wrong"):
                    await accounts.log_in("bert", PASSWORD)
                if back is not None:
                    await back("bert", ME)
                    assert await accounts.check_session(secret) is None  # what was ended stays so
            assert [each.name for each in await accounts.accounts()] == ["anna"]
            done = [action for _, _, action, _ in await actions(accounts)]
            assert [each for each in done if each.startswith("account.")] == [
                *("account.create", "account.create"),
                *("account.disable", "account.enable", "account.delete"),
            ]

    run(main)


def test_a_session_begun_with_a_token_ends_with_the_token(store: str) -> None:
    async def main() -> None:
        clock = Clock()
        async with opened(store, clock) as accounts:
            await accounts.create_token("keeper", "admin", None, ME)
            _, secret = await accounts.create_token("mine", "run", clock.now + 3600, ME)
            begun = await accounts.log_in_with_token(f" {secret}\n", "10.0.0.1")
            session = await accounts.check_session(begun)
            assert session is not None
            assert (session.name, session.scope, session.kind) == ("mine", "run", "token")
            assert session.expires == clock.now + 3600
            await accounts.revoke_token("mine", ME)
            assert await accounts.check_session(begun) is None
            with pytest.raises(NotAdmitted, match="unknown, expired or revoked"):
                await accounts.log_in_with_token(secret, "10.0.0.1")

    run(main)


def test_the_last_admin_cannot_be_locked_out_by_accident(store: str) -> None:
    async def main() -> None:
        clock = Clock()
        async with opened(store, clock) as accounts:
            await accounts.create_account("anna", PASSWORD, "admin", ME)
            await accounts.create_account("bert", PASSWORD, "run", ME)
            for deed in (
                accounts.disable("anna", ME),
                accounts.delete("anna", ME),
                accounts.set_scope("anna", "run", ME),
            ):
                with pytest.raises(NotPossible, match="anna is the last with scope admin"):
                    await deed
            assert (await accounts.account("anna")).scope == "admin"
            await accounts.log_in("anna", PASSWORD)
            # A token of an admin counts, as long as it is good.
            await accounts.create_token("spare", "admin", clock.now + 60, ME)
            await accounts.disable("anna", ME)
            with pytest.raises(NotPossible, match="the token spare is the last"):
                await accounts.revoke_token("spare", ME)
            await accounts.enable("anna", ME)
            clock.now += 61
            with pytest.raises(NotPossible, match="anna is the last"):
                await accounts.disable("anna", ME)
            await accounts.set_scope("bert", "admin", ME)
            await accounts.delete("anna", ME)

    run(main)


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("short", "too short"),
        ("e\u0301" * 6, "too short"),  # six letters, however they are composed
        ("x" * 1_001, "too long"),
        ("Annabella.Long", "the password is the name"),
        ("aaaaaaaaaaaa", "repeats the same characters"),
    ],
)
def test_a_password_that_is_easy_to_guess_is_refused(store: str, password: str, why: str) -> None:
    async def main() -> None:
        async with opened(store) as accounts:
            with pytest.raises(ConfigError, match=why):
                await accounts.create_account("annabella.long", password, "read", ME)
            assert await accounts.accounts() == []

    run(main)


def test_a_password_may_be_composed_of_anything(store: str) -> None:
    async def main() -> None:
        async with opened(store) as accounts:
            await accounts.create_account("anna", "Käse und Wein \ud800 🍷", "read", ME)
            await accounts.log_in("anna", "Ka\u0308se und Wein \ud800 🍷")

    run(main)


def test_hashes_are_slow_to_make_and_older_ones_are_renewed_at_a_log_in(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with opened(store) as accounts:
            await accounts.create_account("anna", PASSWORD, "read", ME)
            monkeypatch.undo()
            for _ in range(2):
                await accounts.log_in("anna", PASSWORD)
            row = await accounts.desk.row("select hash from account")
            assert row is not None
            assert row[0].startswith("$argon2id$v=19$m=65536,t=3,p=4$")

    run(main)


# -- throttling --------------------------------------------------------------------------------------------------


def test_guesses_at_one_name_are_slowed_more_and_more_whether_it_is_known_or_not(store: str) -> None:
    async def main() -> None:
        clock = Clock()
        async with opened(store, clock) as accounts:
            await accounts.create_account("anna", PASSWORD, "read", ME)
            for name in ("anna", "nobody"):
                told = []
                for n in range(5):
                    with pytest.raises(NotAdmitted) as error:
                        await accounts.log_in(name, "a wrong password", f"10.0.{n}.1")
                    told.append(str(error.value))
                assert set(told) == {"the name or the password is wrong: try again, or log in with a token"}
                waits = []
                for n in range(8):
                    with pytest.raises(TooManyTries, match="too many tries with this name") as slowed:
                        await accounts.log_in(name, PASSWORD, f"10.1.{n}.1")
                    waits.append(round(slowed.value.seconds))
                    clock.now += slowed.value.seconds + 0.01
                    with pytest.raises(NotAdmitted):
                        await accounts.log_in(name, "a wrong password", f"10.2.{n}.1")
                assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
            # Who waits gets in, and starts anew.
            clock.now += 61
            await accounts.log_in("anna", PASSWORD, "10.9.0.1")
            with pytest.raises(NotAdmitted, match="wrong"):
                await accounts.log_in("anna", "a wrong password", "10.9.0.1")

    run(main)


def test_guesses_from_one_address_are_slowed_and_an_account_of_ones_own_buys_none(store: str) -> None:
    async def main() -> None:
        async with opened(store) as accounts:
            await accounts.create_account("mallory", PASSWORD, "read", ME)
            for n in range(10):
                await accounts.log_in("mallory", PASSWORD, "2001:db8::2")
                with pytest.raises(NotAdmitted, match="wrong"):
                    await accounts.log_in(f"name{n}", "a wrong password", "2001:db8::1")
            with pytest.raises(TooManyTries, match="from this address"):
                await accounts.log_in("mallory", PASSWORD, "2001:db8::2")
            with pytest.raises(TooManyTries, match="from this address"):
                await accounts.log_in_with_token("gsm_" + "x" * 43, "2001:db8:0:0:ffff::1")
            await accounts.log_in("mallory", PASSWORD, "2001:db8:0:1::1")

    run(main)


def test_many_guesses_at_the_same_moment_are_many(store: str) -> None:
    async def main() -> None:
        async with opened(store) as accounts:
            await accounts.create_account("anna", PASSWORD, "read", ME)
            guesses = [accounts.log_in("anna", f"wrong password {n}", f"10.0.{n}.1") for n in range(100)]
            ends = await asyncio.gather(*guesses, return_exceptions=True)
            assert sum(isinstance(end, TooManyTries) for end in ends) == 95

    run(main)


def test_what_is_slow_on_purpose_has_a_queue_with_an_end() -> None:
    async def main() -> None:
        hasher = Hasher()
        ends = await asyncio.gather(*(hasher.hash(f"a password {n}") for n in range(QUEUE + 5)), return_exceptions=True)
        assert sum(isinstance(end, TooManyTries) for end in ends) == 5
        assert await hasher.matches(next(end for end in ends if isinstance(end, str)), "a password 0")

    run(main)


def test_a_throttle_forgets_and_stays_small() -> None:
    clock = Clock()
    throttle = Throttle(2, 100.0, clock)
    for n in range(MOST + 500):
        throttle.count(f"name {n}")
    assert len(throttle) == MOST
    for _ in range(5_000):
        throttle.count("a")
    assert throttle.wait("a") == 100.0
    clock.now -= 50_000  # the clock is set back: nobody waits longer for that
    assert throttle.wait("a") <= 100.0
    clock.now += 50_000 + MEMORY + 1
    assert throttle.wait("a") == 0.0


def test_an_address_stands_for_its_owner() -> None:
    assert network("10.0.0.1") == network("::ffff:10.0.0.1") == "10.0.0.1"
    assert network("2001:db8::1") == network("2001:db8::ffff") != network("2001:db8:0:1::1")
    assert network("what is this" * 100) == ("what is this" * 100)[:64]


# -- what can be read ----------------------------------------------------------------------------------------------


def test_no_secret_is_in_the_store_or_in_what_is_logged(store: str, capfd: pytest.CaptureFixture[str]) -> None:
    planted: list[str] = []

    async def main() -> None:
        async with opened(store) as accounts:
            first = await accounts.first_token(ME)
            assert first is not None
            planted.append(first)
            for n in range(5):
                _, secret = await accounts.create_token(f"t{n}", "run", None, Asker("tester", "api", "10.0.0.1"))
                password = f"planted-pässwörd-{n}"
                await accounts.create_account(f"user{n}", password, "run", ME)
                planted.extend((secret, password))
                planted.append(await accounts.log_in(f"user{n}", password, "10.0.0.1"))
                planted.append(await accounts.log_in_with_token(secret, "10.0.0.1"))
                await accounts.check_token(secret)
                changed = f"planted-chänged-{n}"
                planted.append(changed)
                await accounts.change_password(f"user{n}", changed, ME, old=password)
            wrong, misplaced = "planted-wrong-pass", "planted-in-the-name"
            planted.extend((wrong, misplaced))
            for name, password in (("user1", wrong), (misplaced, wrong)):
                with pytest.raises(NotAdmitted):
                    await accounts.log_in(name, password, "10.0.0.9")
            with pytest.raises(NotAdmitted):
                await accounts.log_in_with_token("gsm_" + "planted" * 7, "10.0.0.9")
            planted.append("planted" * 7)
            look(stores.kept(store))

    def look(read: bytes) -> None:
        assert b"argon2id" in read
        for secret in planted:
            assert secret.encode() not in read, secret
            assert secret.removeprefix("gsm_").removeprefix("gss_").encode() not in read

    run(main)
    look(stores.kept(store))
    said = "".join(capfd.readouterr())
    assert "login.refused" in said
    for secret in planted:
        assert secret not in said
