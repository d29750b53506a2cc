"""A PostgreSQL database as a store uses it: a bounded pool, transactions that are begun again, errors as sentences."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias, TypeVar

import asyncpg

from gossamer import redaction
from gossamer.errors import LeaseLost, StoreAway, StoreError
from gossamer.storage import naming, rows
from gossamer.storage.migrations import upgrade as migrations
from gossamer.telemetry import log
from gossamer.values import Lease

T = TypeVar("T")

#: Whatever the driver raises.
FAILURES = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)

Connection: TypeAlias = "asyncpg.Connection | asyncpg.pool.PoolConnectionProxy"

#: Seconds after which a transaction is told of.
SLOW = 1.0
#: Seconds that a database may be away, or in our way, before it is given up.
PATIENCE = 15.0
#: Seconds a connection may take to be made.
CONNECTING = 10.0
#: Seconds one statement may take on the server, and a little more on our side, where the network may be cut.
LONGEST = 120.0
#: Rows of a long reading handed out at once.
LINES = 1_000

#: The first number of our advisory locks, and what the second is for: writing items, and taking leases.
OURS = 7360
ITEMS, LEASES = 0, 1
#: The first number of the locks on the robots.txt of an origin.
ROBOTS = 7361

#: Words of a server that may work a little later: serialisation, deadlock, lock, idle too long in a transaction,
#: shut down or starting, too many connections. All of class 08 too: the connection is gone.
_TRANSIENT = frozenset({"40001", "40P01", "55P03", "25P03", "57P01", "57P02", "57P03", "57P05", "53300"})

# Nothing is joined in a transaction of ours that is not found by an index. Fresh tables have no statistics, and the
# planner would take a table of a million rows for an empty one that is best read as a whole.
_BEGIN = "begin; set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off"

_SETTINGS = {
    "application_name": "gossamer",
    # What is said to be settled must be, whatever somebody chose for the whole server.
    "synchronous_commit": "on",
    "statement_timeout": f"{LONGEST * 1000:.0f}",
    "lock_timeout": "10000",
    # A process that is stopped or cut off in the middle of a transaction must not keep what it locked; one that a
    # handler blocks (`runs.LONGEST_BLOCK`) may.
    "idle_in_transaction_session_timeout": "6000",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "2",
    "jit": "off",  # it takes longer to compile than our statements take to run
}

#: How our own end of a connection hears of a server that is gone: seconds, seconds, times, milliseconds.
_ALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 20_000}

FENCE = """
update lease set until = greatest(until, extract(epoch from clock_timestamp())::float8 + $5::float8)
where run_id = $1::bigint and shard = $2::int and token = $3::bigint and owner = $4::text
"""


# -- rows ------------------------------------------------------------------------------------------------------


def columns(made: Sequence[Sequence[Any]], width: int) -> list[list[Any]]:
    """Rows as the columns that `unnest` takes, with U+FFFD for the characters that no database keeps."""
    if not made:
        return [[] for _ in range(width)]
    return [storable(list(column)) for column in zip(*made, strict=True)]


def storable(column: list[Any]) -> list[Any]:
    """One column of values, as the database keeps them."""
    if not column or isinstance(column[0], int | float):
        return column
    return column if keeps("".join([each for each in column if isinstance(each, str)])) else rows.storable(column)


def keeps(text: str) -> bool:
    """Whether PostgreSQL keeps a text as it is."""
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:  # half a character
        return False
    return True


# -- the pool --------------------------------------------------------------------------------------------------


class _Attempt:
    """One try to write: what is known of it when the connection breaks at its very end."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.result: Any = None
        self.committing = False


class PostgresPool:
    """A database that is opened with `async with`.

    Opened to work (`owner=True`), it makes the tables of an empty database; opened to read, it changes nothing.
    """

    def __init__(self, url: str, *, owner: bool = True, most: int = 8) -> None:
        #: Never shown: `shown` is.
        self.url = url
        self.shown = naming.shown(url)
        self.owner = owner
        self.most = most
        self._pool: asyncpg.Pool | None = None
        #: Writes that were begun: they end, whoever stops waiting for them.
        self._doing: set[asyncio.Task[Any]] = set()
        self._hidden = naming.passwords(url)
        redaction.learn(*self._hidden)

    async def __aenter__(self) -> Self:
        try:
            await self._check_form()
            self._pool = await asyncpg.create_pool(
                self.url, min_size=0, max_size=self.most, init=_keep_alive, reset=_as_it_is, **self._options()
            )
        except ValueError:
            # What cannot be read of a URL may be any part of it, so the reader's own words are not told.
            raise StoreError(
                f"{self.shown} is no URL of a database: write postgresql://user:password@host/database"
            ) from None
        except FAILURES as error:
            raise self._spoken(error) from error
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pool, self._pool = self._pool, None
        if pool is None:
            return
        while self._doing:
            await asyncio.wait(self._doing)
        try:
            await asyncio.wait_for(pool.close(), CONNECTING)
        except BaseException as why:
            pool.terminate()
            if not isinstance(why, FAILURES):
                raise

    def _options(self) -> dict[str, Any]:
        settings = _SETTINGS if self.owner else {**_SETTINGS, "default_transaction_read_only": "on"}
        return {"timeout": CONNECTING, "command_timeout": LONGEST + CONNECTING, "server_settings": settings}

    @property
    def _open_pool(self) -> asyncpg.Pool:
        if self._pool is None:
            raise StoreError(f"the store {self.shown} is closed")
        return self._pool

    # -- the form of its tables --------------------------------------------------------------------------------

    async def _check_form(self) -> None:
        """Make the tables of an empty database; refuse one of another form, or of another program."""
        db = await self._connect()
        try:
            version = await migrations.form_of(db, self.shown)
        finally:
            await _let_go(db)
        if version in (None, migrations.BASE) and self.owner:
            await migrations.upgrade_postgres(self.url)  # of two who come at once, one makes them
            return
        migrations.refuse_newer(version, self.shown)
        if version in (None, migrations.BASE):
            raise StoreError(f"the store {self.shown} has no tables yet: a crawl or a run makes them")
        if version != migrations.HEAD:
            raise StoreError(f"the store {self.shown} has an old form: `gossamer db upgrade` brings it up to date")

    async def _connect(self) -> asyncpg.Connection:
        """A connection of its own, beside the pool. A server that is just starting is waited for."""
        patience = _Patience(self)
        while True:
            try:
                db = await asyncpg.connect(self.url, **self._options())
            except asyncpg.CannotConnectNowError as error:
                await patience.wait(error)
            else:
                await _keep_alive(db)
                return db

    # -- reading and writing -----------------------------------------------------------------------------------

    async def _read(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Read something; begun again if the database was away for a moment."""
        patience = _Patience(self)
        while True:
            try:
                async with self._open_pool.acquire() as db:
                    return await work(db)
            except FAILURES as error:
                await patience.wait(error)

    async def _write(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Write in one transaction; begun again from the start if it broke for a reason that passes.

        Once begun it completes, even if the caller is cancelled.
        """
        return await self._complete(self._write_again(work))

    async def _complete(self, doing: Coroutine[Any, Any, T]) -> T:
        """Wait for what must not be left half done, even if nobody waits for it any more."""
        return await asyncio.shield(self._begin(doing))

    def _begin(self, doing: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin something that closing the store waits for."""
        if self._pool is None:
            doing.close()
            raise StoreError(f"the store {self.shown} is closed")
        task = asyncio.get_running_loop().create_task(doing)
        self._doing.add(task)
        task.add_done_callback(self._doing.discard)
        return task

    async def _write_again(self, work: Callable[[Connection], Awaitable[T]], line: asyncio.Lock | None = None) -> T:
        """Write; each try stands in `line`, but not while it waits for the next."""
        pool = self._open_pool  # closing waits for us, and has forgotten it by then
        patience = _Patience(self)
        began = time.monotonic()
        while True:
            attempt = _Attempt()
            try:
                async with line or contextlib.nullcontext(), pool.acquire() as db:
                    await _transaction(db, work, attempt)
            except FAILURES as error:
                await patience.wait(error)
                if not attempt.committing or not await self._committed(pool, attempt, patience):
                    continue
            _tell_if_slow(self.shown, began)
            found: T = attempt.result
            return found

    async def _committed(self, pool: asyncpg.Pool, attempt: _Attempt, patience: _Patience) -> bool:
        """Whether a transaction happened whose connection broke before it said so."""
        while True:
            try:
                async with pool.acquire() as db:
                    status = await db.fetchval("select txid_status($1::bigint)", attempt.number)
            except FAILURES as error:
                await patience.wait(error)
                continue
            if status != "in progress":
                return bool(status == "committed")
            await asyncio.sleep(0.05)  # its process on the server has not heard of it yet

    async def _fence(self, db: Connection, lease: Lease) -> None:
        """Refuse to write for a lease that has passed on, and renew it."""
        done = await db.execute(FENCE, lease.run, lease.shard, lease.token, lease.owner, lease.ttl)
        if done != "UPDATE 1":
            raise LeaseLost(f"run {lease.run} was taken over by another process: nothing of ours was written")

    async def _long(self, statement: str, *args: Any) -> AsyncGenerator[list[Any], None]:
        """Rows that are read little by little, on a connection of their own: groups of them."""
        try:
            db = await self._connect()
        except FAILURES as error:
            raise self._spoken(error) from error
        try:
            # Whoever reads may take his time.
            await db.execute("set idle_in_transaction_session_timeout = 0; set statement_timeout = 0")
            async with db.transaction(readonly=True):
                log = await db.cursor(statement, *args)
                while found := await log.fetch(LINES):
                    yield found
        except FAILURES as error:
            raise self._spoken(error) from error
        finally:
            await _let_go(db)

    # -- errors ------------------------------------------------------------------------------------------------

    def _spoken(self, error: Exception) -> StoreError:
        """A driver's error as a sentence."""
        told = self._sentence(error)
        for secret in self._hidden:
            told = told.replace(secret, "***")
        return StoreAway(told) if is_transient(error) else StoreError(told)

    def _sentence(self, error: Exception) -> str:
        if isinstance(error, asyncpg.PostgresError):
            return _server_sentence(self.shown, error)
        if isinstance(error, TimeoutError):
            return f"PostgreSQL at {self.shown} does not answer in time: check the network, then try again"
        if isinstance(error, socket.gaierror):
            return (
                f"no machine is known by the name in {self.shown}: check it; a password with special characters has "
                "them percent-encoded (@ is %40)"
            )
        if isinstance(error, ConnectionError) and "SSL" in str(error):
            return f"PostgreSQL at {self.shown} speaks no TLS: leave sslmode out, or let the server have a certificate"
        if isinstance(error, OSError):
            why = error.strerror or type(error).__name__
            return f"no PostgreSQL answers at {self.shown} ({why}): start it, or check host and port"
        return f"the store {self.shown} failed: {_first_line(error)}"


class _Patience:
    """Waits between tries: a little longer each time, never at the same moment as others, and not for ever."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool
        self._until = 0.0
        self._pause = 0.02

    async def wait(self, error: Exception) -> None:
        """Wait before the next try, or raise what there is no use in trying again."""
        now = time.monotonic()
        if not self._until:
            self._until = now + PATIENCE
        if not is_transient(error) or now > self._until:
            raise self._pool._spoken(error) from error
        log.info("store.again", store=self._pool.shown, why=type(error).__name__)
        await asyncio.sleep(self._pause * random.uniform(0.5, 1.5))
        self._pause = min(2.0, 2 * self._pause)


async def _transaction(db: Connection, work: Callable[[Connection], Awaitable[Any]], attempt: _Attempt) -> None:
    await db.execute(_BEGIN)
    try:
        attempt.number = await db.fetchval("select txid_current()")
        attempt.result = await work(db)
    except BaseException:
        with contextlib.suppress(*FAILURES):  # a connection that is gone has rolled back by itself
            await db.execute("rollback")
        raise
    attempt.committing = True
    await db.execute("commit")


def is_transient(error: BaseException) -> bool:
    """Whether the same may work a little later."""
    if isinstance(error, asyncpg.PostgresError):
        state = getattr(error, "sqlstate", None) or ""
        # What was prepared before a migration fits no more: the driver forgets it and prepares it anew.
        return state in _TRANSIENT or state.startswith("08") or isinstance(error, asyncpg.InvalidCachedStatementError)
    if isinstance(error, asyncpg.InterfaceError):
        return any(word in str(error) for word in ("closed", "closing", "released"))
    # Refused, reset, cut, not answered in time; a server that listens at a socket has none while it starts.
    away = ConnectionError | TimeoutError | FileNotFoundError | socket.gaierror | asyncpg.InternalClientError
    return isinstance(error, away)


def _server_sentence(shown: str, error: asyncpg.PostgresError) -> str:
    state = getattr(error, "sqlstate", None) or ""
    told = _first_line(error)
    if state.startswith("28"):
        return f"PostgreSQL does not let us in at {shown}: check the user and the password"
    if state == "3D000":
        return f"there is no such database as {shown}: create it (`createdb`), or give another store"
    if state == "53300":
        return f"PostgreSQL at {shown} has no connection left: raise its max_connections, or start fewer processes"
    if state == "53100":
        return f"the disk of the store {shown} is full: free some space, then the same command goes on"
    if state == "42501":
        return f"the store {shown} cannot be used ({told}): give its user the right to do that"
    if state == "25006":
        return f"the store {shown} can only be read (is it a standby?): give the one that is written"
    if state == "57014":
        return f"the store {shown} took more than {LONGEST:.0f} s for one statement: look at what else it does"
    if is_transient(error):
        return f"PostgreSQL at {shown} was not to be had for {PATIENCE:.0f} s ({told}): see to it, then try again"
    return f"the store {shown} failed: {told}"


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def _tell_if_slow(shown: str, began: float) -> None:
    """Say that a transaction took long, with its wait for others: whoever wants to know why reads the log."""
    seconds = time.monotonic() - began
    if seconds > SLOW:
        log.info("store.slow", store=shown, seconds=round(seconds, 1))


async def _as_it_is(db: Connection) -> None:
    """Connections go back to the pool without a question to the server: nothing of ours outlives a transaction."""


async def _keep_alive(db: Connection) -> None:
    """Hear of a server that is gone without a word, within half a minute."""
    transport = getattr(db, "_transport", None)
    made = transport.get_extra_info("socket") if transport is not None else None
    if made is None or made.family not in (socket.AF_INET, socket.AF_INET6):
        return
    with contextlib.suppress(OSError):
        made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _ALIVE.items():
            if hasattr(socket, name):
                made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


async def _let_go(db: asyncpg.Connection) -> None:
    """Close a connection, politely if that is possible."""
    try:
        await db.close(timeout=CONNECTING)
    except FAILURES:
        db.terminate()
