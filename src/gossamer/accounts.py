"""Who may come in: tokens for programs, accounts with passwords for people, and sessions of those who logged in.

Of a secret only its digest is kept, of a password only its hash: who reads the store can use neither. A scope is one
word, and each holds the ones before it: "read" looks, "run" also starts and stops, "admin" may do everything.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import msgspec

from gossamer import passwords, trail
from gossamer.errors import ConfigError, NotAdmitted, NotFound, NotPossible, StoreError, TooManyTries
from gossamer.lists import paging
from gossamer.lists.paging import Listing, Search
from gossamer.storage.desk import Desk, Row, Writing
from gossamer.telemetry import log
from gossamer.throttle import Throttle, network
from gossamer.trail import Asker

T = TypeVar("T")

#: From the least to the most.
SCOPES = ("read", "run", "admin")
#: How secrets begin, so that they are known for what they are: in a log, in a repository, in the wrong field.
TOKEN, SESSION = "gsm_", "gss_"
#: Seconds after which a session ends that nobody used, and after which every session ends.
IDLE = 12 * 3600.0
LONGEST = 14 * 86400.0
#: Sessions of one account; the one that was used least lately goes first.
SESSIONS = 20
#: Seconds for which what the store said is believed: how long a revoked token may still work, elsewhere.
BELIEVED = 1.0
#: Secrets that are remembered.
REMEMBERED = 10_000
#: Seconds between two notes that something was used.
NOTED = 60.0
#: Tokens or accounts in a list.
LISTED = 1_000
#: The name of the token that the first start makes.
FIRST = "first-start"

_NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,63}")
_TOKEN = re.compile(r"gsm_[A-Za-z0-9_-]{43}")
_SESSION = re.compile(r"gss_[A-Za-z0-9_-]{43}")


class Token(msgspec.Struct, frozen=True):
    """A key of a program, without its secret."""

    id: int
    name: str
    scope: str
    created: float
    created_by: str
    #: None: never.
    expires: float | None
    #: When it was used last, to the minute.
    used: float | None
    revoked: float | None

    def state(self, now: float) -> str:
        """In a word: "good", "expired" or "revoked"."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= now else "good"


class Account(msgspec.Struct, frozen=True):
    """A person who may log in."""

    name: str
    scope: str
    created: float
    created_by: str
    #: Since when it is.
    disabled: float | None
    #: When a session of theirs was used last, to the minute; None if there is none.
    seen: float | None = None


class Session(msgspec.Struct, frozen=True):
    """Somebody who is logged in."""

    #: The name of the account, or of the token.
    name: str
    scope: str
    #: "account" or "token": what they logged in with.
    kind: str
    created: float
    seen: float
    expires: float

    def good(self, now: float) -> bool:
        """Whether it has not ended by itself."""
        return now < self.expires and now < self.seen + IDLE


def may(scope: str, needed: str) -> bool:
    """Whether a scope holds another one.

    >>> may("admin", "read"), may("read", "run")
    (True, False)
    """
    return scope in SCOPES and SCOPES.index(scope) >= SCOPES.index(needed)


def digest(secret: str) -> str:
    """What is kept of a secret. It is random and long: nothing slower is needed to keep it from being guessed."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


_TOKENS = "select id, name, scopes, created, created_by, expires, used, revoked from token"
_LIVE = "revoked is null and (expires is null or expires > :now)"
_NEW_KEY = """
insert into token (name, digest, scopes, created, created_by, expires)
values (:name, :digest, :scope, :now, :by, :expires)
returning id, name, scopes, created, created_by, expires, used, revoked
"""
_TAKEN = """
select 'token' from token where name = :name and revoked is null and (expires is null or expires > :now)
union all
select 'account' from account where name = :name
"""
_ADMINS = """
select (select count(*) from account where scopes = 'admin' and disabled is null)
     + (select count(*) from token
        where scopes = 'admin' and revoked is null and (expires is null or expires > :now))
"""
_ACCOUNTS = """
select a.name, a.scopes, a.created, a.created_by, a.disabled,
       (select max(s.seen) from session s where s.account = a.name)
from account a
"""
_ADD_ACCOUNT = """
insert into account (name, hash, scopes, created, created_by) values (:name, :hash, :scope, :now, :by)
"""
_ADD_SESSION = """
insert into session (digest, account, created, seen, expires) values (:digest, :account, :now, :now, :expires)
"""
_OVER = "delete from session where expires <= :now or seen <= :idle"
_TOO_MANY = """
delete from session where account = :account and digest not in (
    select digest from session where account = :account order by seen desc, created desc limit :most
)
"""
_USED = "update token set used = :now where id = :id and (used is null or used < :before)"
_SEEN = "update session set seen = :now where digest = :digest and seen < :before"


class Accounts:
    """Tokens, people and sessions of a store. Every change leaves a line in the trail."""

    def __init__(self, desk: Desk, *, clock: Callable[[], float] = time.time) -> None:
        self.desk = desk
        self._clock = clock
        self._hasher = passwords.Hasher()
        # Whoever guesses at one name from everywhere is slowed to one try a minute; who tries every name from one
        # place, to four an hour. A token lets its owner in meanwhile.
        self._by_name = Throttle(5, 60.0, clock)
        self._by_address = Throttle(10, 900.0, clock)
        self._tokens: _Memory[Token] = _Memory()
        self._sessions: _Memory[Session] = _Memory()
        self._noted: _Memory[bool] = _Memory(NOTED)
        self._notes: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Wait until what is being noted is written: to be called before the desk is closed."""
        while self._notes:
            await asyncio.gather(*self._notes, return_exceptions=True)

    # -- tokens ------------------------------------------------------------------------------------------------

    async def create_token(self, name: str, scope: str, expires: float | None, by: Asker) -> tuple[Token, str]:
        """Make a token that is good until a moment, or for ever. Returns it and its secret, which nobody can see again.

        Raises ConfigError for a name or a scope that cannot be used, NotPossible if another has the name.
        """
        name, scope = _fit(name, "token"), _known_scope(scope)
        if expires is not None and expires <= self._clock():
            raise ConfigError("the token would be expired already: give a moment in the future")
        async with self.desk.writing() as writing:
            await self._want_free(writing, name)
            return await self._add_token(writing, name, scope, expires, by)

    async def first_token(self, by: Asker) -> str | None:
        """The secret of an admin token, made if there is no token and no account yet; else None.

        Of two services that start at once, one gets it.
        """
        async with self.desk.writing() as writing:
            if await writing.row("select 1 from token union all select 1 from account limit 1"):
                return None
            return (await self._add_token(writing, FIRST, "admin", None, by))[1]

    async def _add_token(
        self, writing: Writing, name: str, scope: str, expires: float | None, by: Asker
    ) -> tuple[Token, str]:
        secret = TOKEN + secrets.token_urlsafe(32)
        names = {"name": name, "digest": digest(secret), "scope": scope, "by": by.name, "expires": expires}
        row = await writing.row(_NEW_KEY, now=self._clock(), **names)
        assert row is not None
        token = Token(*row)
        await trail.note(writing, by, "token.create", name, id=token.id, scope=scope, expires=expires)
        return token, secret

    async def check_token(self, secret: str) -> Token | None:
        """The token of a secret, if it is a good one. Notes, at most once a minute, that it was used."""
        if not _TOKEN.fullmatch(secret):
            return None
        key = digest(secret)
        token = self._tokens.get(key)
        if token is None:
            row = await self.desk.row(f"{_TOKENS} where digest = :digest", digest=key)
            if row is None:
                return None
            token = Token(*row)
            self._tokens.put(key, token)
        now = self._clock()
        if token.state(now) != "good":
            return None
        if token.used is None or token.used < now - NOTED:
            self._note(f"token {token.id}", _USED, id=token.id, now=now, before=now - NOTED)
        return token

    async def tokens(self) -> list[Token]:
        """All tokens, the newest first; those that are over too."""
        return [Token(*row) for row in await self.desk.rows(f"{_TOKENS} order by id desc limit {LISTED}")]

    async def page_of_tokens(self, *, limit: int = paging.USUAL, cursor: str | None = None) -> Listing[Token]:
        """A page of them."""
        search = Search("token", "name, scopes, created, created_by, expires, used, revoked")
        return await search.page(self.desk, "tokens", lambda row: Token(*row), limit=limit, cursor=cursor)

    async def revoke_token(self, which: int | str, by: Asker) -> Token:
        """End a token, named by its number or, while it is good, by its name; and the sessions begun with it."""
        now = self._clock()
        async with self.desk.writing() as writing:
            token = await self._find_token(writing, which, now)
            if token.revoked is None:
                await writing.run("update token set revoked = :now where id = :id", id=token.id, now=now)
                await writing.run("delete from session where account = :account", account=_holder(token))
                if token.scope == "admin" and token.state(now) == "good":
                    await self._want_admin(writing, f"the token {token.name}")
                await trail.note(writing, by, "token.revoke", token.name, id=token.id)
        self._forget()
        return token

    async def _find_token(self, writing: Writing, which: int | str, now: float) -> Token:
        if isinstance(which, int):
            row = await writing.row(f"{_TOKENS} where id = :id", id=which)
        else:
            row = await writing.row(f"{_TOKENS} where name = :name and {_LIVE}", name=which.strip().lower(), now=now)
        if row is None:
            raise NotFound(f"there is no token {which}: `gossamer token list` shows those there are")
        return Token(*row)

    # -- people ------------------------------------------------------------------------------------------------

    async def create_account(self, name: str, password: str, scope: str, by: Asker) -> Account:
        """Let a person log in. Raises ConfigError for what cannot be used, NotPossible if the name is taken."""
        name, scope = _fit(name, "account"), _known_scope(scope)
        passwords.check(password, name)
        hashed = await self._hasher.hash(password)
        now = self._clock()
        async with self.desk.writing() as writing:
            await self._want_free(writing, name)
            await writing.run(_ADD_ACCOUNT, name=name, hash=hashed, scope=scope, now=now, by=by.name)
            await trail.note(writing, by, "account.create", name, scope=scope)
        return Account(name, scope, now, by.name, None)

    async def accounts(self) -> list[Account]:
        """Everybody who may log in, by name; those who are disabled too."""
        return [Account(*row) for row in await self.desk.rows(f"{_ACCOUNTS} order by a.name limit {LISTED}")]

    async def page_of_accounts(self, *, limit: int = paging.USUAL, cursor: str | None = None) -> Listing[Account]:
        """A page of them."""
        seen = "(select max(session.seen) from session where session.account = account.name)"
        columns = f"account.scopes, account.created, account.created_by, account.disabled, {seen}"
        search = Search("account", columns, key=("name",), ascending=True)
        form = paging.NAME
        return await search.page(self.desk, "users", lambda row: Account(*row), limit=limit, cursor=cursor, form=form)

    async def any_accounts(self) -> bool:
        """Whether somebody can log in with a password."""
        return await self.desk.row("select 1 from account limit 1") is not None

    async def account(self, name: str) -> Account:
        """One of them. Raises NotFound."""
        return _found(await self.desk.row(f"{_ACCOUNTS} where a.name = :name", name=name.strip().lower()), name)

    async def change_password(
        self, name: str, password: str, by: Asker, *, old: str | None = None, address: str = ""
    ) -> None:
        """Give somebody another password, and end their sessions. If they do it themselves, by their `old` one.

        Raises NotAdmitted if that is not it.
        """
        account = await self.account(name)
        passwords.check(password, account.name)
        if old is not None:
            await self._verify(account.name, old, address)
        hashed = await self._hasher.hash(password)
        async with self.desk.writing() as writing:
            names = {"name": account.name, "hash": hashed}
            if not await writing.run("update account set hash = :hash where name = :name", **names):
                raise _nobody(name)
            await self._end_all(writing, account.name)
            await trail.note(writing, by, "account.password", account.name)
        self._forget()

    async def set_scope(self, name: str, scope: str, by: Asker) -> None:
        """Let somebody do more, or less. Raises NotPossible if nobody would be admin."""
        scope = _known_scope(scope)
        async with self.desk.writing() as writing:
            before = await self._there(writing, name)
            await writing.run("update account set scopes = :scope where name = :name", name=before.name, scope=scope)
            if before.scope == "admin" and scope != "admin":
                await self._want_admin(writing, before.name)
            await trail.note(writing, by, "account.scope", before.name, before=before.scope, scope=scope)
        self._forget()

    async def disable(self, name: str, by: Asker) -> None:
        """Keep somebody out until they are enabled again, from this moment. Raises NotPossible for the last admin."""
        async with self.desk.writing() as writing:
            before = await self._there(writing, name)
            if before.disabled is None:
                now = self._clock()
                await writing.run("update account set disabled = :now where name = :name", name=before.name, now=now)
                await self._end_all(writing, before.name)
                await self._unless_last(writing, before)
                await trail.note(writing, by, "account.disable", before.name)
        self._forget()

    async def enable(self, name: str, by: Asker) -> None:
        """Let somebody in again who was disabled."""
        async with self.desk.writing() as writing:
            before = await self._there(writing, name)
            if before.disabled is not None:
                await writing.run("update account set disabled = null where name = :name", name=before.name)
                await trail.note(writing, by, "account.enable", before.name)

    async def delete(self, name: str, by: Asker) -> None:
        """Remove somebody. What they did stays in the trail. Raises NotPossible for the last admin."""
        async with self.desk.writing() as writing:
            before = await self._there(writing, name)
            await writing.run("delete from account where name = :name", name=before.name)
            await self._end_all(writing, before.name)
            await self._unless_last(writing, before)
            await trail.note(writing, by, "account.delete", before.name)
        self._forget()

    async def _there(self, writing: Writing, name: str) -> Account:
        return _found(await writing.row(f"{_ACCOUNTS} where a.name = :name", name=name.strip().lower()), name)

    async def _want_free(self, writing: Writing, name: str) -> None:
        """A name says in the trail who it was: it stands for one person or one program."""
        taken = await writing.row(_TAKEN, name=name, now=self._clock())
        if taken is not None:
            a = "a token" if taken[0] == "token" else "an account"
            raise NotPossible(f"there is {a} named {name} already: take another name")

    async def _unless_last(self, writing: Writing, before: Account) -> None:
        if before.scope == "admin" and before.disabled is None:
            await self._want_admin(writing, before.name)

    async def _want_admin(self, writing: Writing, who: str) -> None:
        """Raises NotPossible, which undoes what was done, if nobody is admin any more."""
        row = await writing.row(_ADMINS, now=self._clock())
        if row is None or not row[0]:
            raise NotPossible(
                f"{who} is the last with scope admin: give that to another first, so that somebody has it"
            )

    # -- sessions ----------------------------------------------------------------------------------------------

    async def log_in(self, name: str, password: str, address: str = "") -> str:
        """Begin a session with a password. Returns its secret, which goes into a cookie and nowhere else.

        Raises NotAdmitted, in the same time and the same words whatever was wrong, and TooManyTries.
        """
        account, hashed = await self._verify(name, password, address)
        renewed = await self._hasher.hash(password) if self._hasher.outdated(hashed) else hashed
        async with self.desk.writing() as writing:
            # It may have been changed or disabled while we compared.
            still = "update account set hash = :renewed where name = :name and hash = :hash and disabled is null"
            if not await writing.run(still, name=account, hash=hashed, renewed=renewed):
                raise _not_admitted()
            expires = self._clock() + LONGEST
            return await self._begin(writing, account, expires, Asker(account, "dashboard", address))

    async def log_in_with_token(self, secret: str, address: str = "") -> str:
        """Begin a session with the secret of a token: it ends when the token does. Raises as `log_in` does."""
        place = self._try(self._by_address, network(address), "too many tries from this address")
        token = await self.check_token(secret.strip())
        if token is None:
            log.warning("login.refused", address=address)
            raise NotAdmitted("this token is unknown, expired or revoked: `gossamer token create` makes another")
        self._by_address.forgive(place)
        now = self._clock()
        async with self.desk.writing() as writing:
            if not await writing.row(f"{_TOKENS} where id = :id and {_LIVE}", id=token.id, now=now):
                raise NotAdmitted("this token was revoked a moment ago")
            expires = min(now + LONGEST, token.expires or now + LONGEST)
            return await self._begin(writing, _holder(token), expires, Asker(token.name, "dashboard", address))

    async def _begin(self, writing: Writing, account: str, expires: float, by: Asker) -> str:
        secret, now = SESSION + secrets.token_urlsafe(32), self._clock()
        await writing.run(_OVER, now=now, idle=now - IDLE)
        await writing.run(_ADD_SESSION, digest=digest(secret), account=account, now=now, expires=expires)
        await writing.run(_TOO_MANY, account=account, most=SESSIONS)
        await trail.note(writing, by, "session.begin", by.name)
        return secret

    async def check_session(self, secret: str) -> Session | None:
        """Whose session it is, if it goes on. Notes, at most once a minute, that it was used."""
        if not _SESSION.fullmatch(secret):
            return None
        key = digest(secret)
        session = self._sessions.get(key)
        if session is None:
            session = await self._read_session(key)
            if session is None:
                return None
            self._sessions.put(key, session)
        now = self._clock()
        if not session.good(now):
            return None
        if session.seen < now - NOTED:
            self._note(f"session {key}", _SEEN, digest=key, now=now, before=now - NOTED)
        return session

    async def _read_session(self, key: str) -> Session | None:
        row = await self.desk.row("select account, created, seen, expires from session where digest = :key", key=key)
        if row is None:
            return None
        holder, created, seen, expires = row
        number = holder.partition(":")[2]
        if number:
            live = f"{_TOKENS} where id = :id and {_LIVE}"
            found = await self.desk.row(live, id=int(number), now=self._clock())
            token = Token(*found) if found else None
            return Session(token.name, token.scope, "token", created, seen, expires) if token else None
        enabled = "select name, scopes from account where name = :name and disabled is null"
        found = await self.desk.row(enabled, name=holder)
        return Session(found[0], found[1], "account", created, seen, expires) if found else None

    async def log_out(self, secret: str, address: str = "") -> None:
        """End a session, if it has not ended."""
        session = await self.check_session(secret)
        self._sessions.drop(digest(secret))
        if session is None:
            return
        async with self.desk.writing() as writing:
            await writing.run("delete from session where digest = :digest", digest=digest(secret))
            await trail.note(writing, Asker(session.name, "dashboard", address), "session.end", session.name)
        self._sessions.drop(digest(secret))

    async def _end_all(self, writing: Writing, account: str) -> None:
        await writing.run("delete from session where account = :account", account=account)

    async def _verify(self, name: str, password: str, address: str) -> tuple[str, str]:
        """The account and its hash, if the password is theirs."""
        name = name.strip().lower()[:100]
        place = self._try(self._by_address, network(address), "too many tries from this address")
        who = self._try(self._by_name, name, "too many tries with this name")
        row = await self.desk.row("select hash, disabled from account where name = :name", name=name)
        hashed = row[0] if row else None
        good = await self._hasher.matches(hashed, password)
        if not good or row is None or row[1] is not None:
            # Somebody may have typed a password where the name goes: only a name that is known is told.
            log.warning("login.refused", name=name if row else "", address=address)
            raise _not_admitted()
        self._by_name.forget(who)
        self._by_address.forgive(place)  # no more than that: an account of one's own must not buy guesses at others
        return name, row[0]

    def _try(self, throttle: Throttle, key: str, why: str) -> str:
        wait = throttle.wait(key)
        if wait:
            log.warning("login.throttled", seconds=round(wait, 1))
            raise TooManyTries(why, wait)
        throttle.count(key)
        return key

    # -- what is remembered ------------------------------------------------------------------------------------

    def _forget(self) -> None:
        """Something changed: ask the store again."""
        self._tokens.clear()
        self._sessions.clear()

    def _note(self, key: str, statement: str, **names: Any) -> None:
        """Write down that something was used, without keeping whoever asks waiting."""
        if self._noted.get(key):
            return
        self._noted.put(key, True)
        task = asyncio.create_task(self._write_note(statement, names), name="gossamer-used")
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)

    async def _write_note(self, statement: str, names: dict[str, Any]) -> None:
        try:
            async with self.desk.writing() as writing:
                await writing.run(statement, **names)
        except StoreError as why:
            log.warning("account.unnoted", why=str(why))


class _Memory(Generic[T]):
    """What was found under a key, for a while."""

    def __init__(self, seconds: float = BELIEVED) -> None:
        self._seconds = seconds
        self._known: dict[str, tuple[float, T]] = {}

    def get(self, key: str) -> T | None:
        until, value = self._known.get(key, (0.0, None))
        return value if time.monotonic() < until else None

    def put(self, key: str, value: T) -> None:
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        self._known[key] = (time.monotonic() + self._seconds, value)

    def drop(self, key: str) -> None:
        self._known.pop(key, None)

    def clear(self) -> None:
        self._known.clear()


def _fit(name: str, noun: str) -> str:
    """A name as it is kept: in small letters."""
    fit = name.strip().lower()
    if not _NAME.fullmatch(fit) or fit.isdecimal():
        raise ConfigError(
            f"this cannot be the name of {'an' if noun[0] in 'aeiou' else 'a'} {noun}: take up to 64 letters (a to z), "
            "digits and . _ @ + - between them"
        )
    return fit


def _known_scope(scope: str) -> str:
    if scope not in SCOPES:
        raise ConfigError(f"there is no scope {scope[:40]!r}: write one of {', '.join(SCOPES)}")
    return scope


def _holder(token: Token) -> str:
    """How a session tells that it was begun with a token. No account can have such a name."""
    return f"token:{token.id}"


def _found(row: Row | None, name: str) -> Account:
    if row is None:
        raise _nobody(name)
    return Account(*row)


def _nobody(name: str) -> NotFound:
    return NotFound(f"there is no account {name[:64]!r}: `gossamer user list` shows those there are")


def _not_admitted() -> NotAdmitted:
    return NotAdmitted("the name or the password is wrong: try again, or log in with a token")
