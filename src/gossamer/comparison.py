"""What pages give when they are read again, held against what the store has.

A million items are not held in memory: both sides meet in a file of their own, which is deleted afterwards.
"""

from __future__ import annotations

import asyncio
import enum
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

import msgspec

from gossamer.diff import Delta, fields
from gossamer.errors import StoreError
from gossamer.rereading import Gave
from gossamer.storage import rows
from gossamer.storage.store import Reread, StoredItem

P = ParamSpec("P")
T = TypeVar("T")

#: Items read at once.
GROUP = 500
#: Seconds by which an item may have been seen later than its page was fetched, if nobody fetched it again: a page that
#: is not asked for again counts as seen when that is settled.
MOMENT = 60.0
#: Seconds by which a time may differ from itself, after its way through JSON.
BLINK = 0.001


class State(enum.IntEnum):
    """What a record that was read again is to the store."""

    NEW = 0
    SAME = 1
    CHANGED = 2
    #: It was taken for gone, and a page that was fetched since has it.
    BACK = 3
    #: The store has it from a page that was fetched later: two pages differ here, not two readings.
    OLDER = 4
    #: The store has it, and the page it was last seen on no longer gives it.
    GONE = 5


_TABLES = """
pragma journal_mode = off;
pragma synchronous = off;
pragma cache_size = -16384;
pragma temp_store = file;
create table item (
    kind text not null, key text not null, data text not null, url text not null, request integer not null,
    seen real not null, superseded integer not null, page integer not null, state integer not null default 0,
    before text, unique (kind, key)
);
create table page (url text primary key, seen real not null, superseded integer not null) without rowid;
create table link (url text primary key) without rowid;
create table led (page integer primary key, request blob, read integer not null default 0);
"""
# Whichever page was fetched last has the last word, whenever it happens to be read. Beside an idle loop, a statement
# for each row is cheaper than one over all of them as JSON.
_ADD = """
insert into item (page, kind, key, data, url, request, seen, superseded) values (?, ?, ?, ?, ?, ?, ?, ?)
on conflict (kind, key) do update set data = excluded.data, url = excluded.url, request = excluded.request,
    seen = excluded.seen, superseded = excluded.superseded, page = excluded.page
where (excluded.seen, excluded.page) >= (item.seen, item.page)
"""
_ADD_PAGE = """
insert into page values (?, ?, ?) on conflict (url) do update set
    seen = max(seen, excluded.seen), superseded = min(superseded, excluded.superseded)
"""
_ADD_LINK = "insert or ignore into link values (?)"
_DROP_LINK = "delete from link where url = ?"
# Of the store's items: 1 kind, 2 key, 3 data, 4 url, 5 last seen, 6 gone.
_COMPARE = f"""
update item set before = iif(data = ?3, null, ?3), state = case
    when ?6 is not null then iif(seen > ?5 + {BLINK}, {State.BACK:d}, {State.OLDER:d})
    when seen < ?5 - iif(url = ?4 and not superseded, {MOMENT}, {BLINK}) then {State.OLDER:d}
    when data = ?3 then {State.SAME:d} else {State.CHANGED:d} end
where kind = ?1 and key = ?2
"""  # noqa: S608 - only our own numbers are put in
_MISSING = f"""
insert into item (page, kind, key, data, url, request, seen, superseded, state)
select 0, ?1, ?2, ?3, ?4, 0, ?5, 0, {State.GONE:d}
where ?6 is null and exists (
    select 1 from page where url = ?4 and seen >= ?5 - iif(superseded, {BLINK}, {MOMENT})
) on conflict do nothing
"""  # noqa: S608
_SAME = "update item set state = 1 where rowid in (select value from json_each(?))"
_OUT = """
select rowid, state, kind, key, url, data, before, request, seen from item
where state = ? and rowid > ? order by rowid limit ?
"""
_COUNTS = "select state, count(*) from item group by state"
_LEAD = "insert or ignore into led (page, request) values (?, ?)"
_LED = "select page, request from led where read = 0 order by page limit ?"
_READ = "update led set read = 1 where page in (select value from json_each(?))"
_UNLED = "select json_group_array(value) from json_each(?) where not exists (select 1 from led where page = value)"


class Difference(msgspec.Struct, frozen=True):
    """A record that is not as the store has it."""

    state: State
    kind: str
    key: str
    url: str
    #: The record as JSON, in the store and read again; None where there is none.
    before: str | None
    after: str | None
    #: The fields that differ.
    deltas: list[Delta]
    #: The request its page was fetched for, and when that was.
    request: int
    seen: float

    def reread(self) -> Reread:
        """As the store takes it."""
        assert self.after is not None
        return Reread(self.kind, self.key, self.after, self.url, self.request, self.seen)


class Comparison:
    """Both sides of a replay. Open it with `async with Comparison()`."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="gossamer-comparison")
        self._folder = tempfile.TemporaryDirectory(prefix="gossamer-replay-")
        self._db: sqlite3.Connection

    async def __aenter__(self) -> Comparison:
        await self._do(self._open)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await asyncio.shield(self._do(self._close))
        finally:
            self._thread.shutdown()

    def _open(self) -> None:
        place = Path(self._folder.name) / "comparison.db"
        self._db = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
        self._db.executescript(_TABLES)

    def _close(self) -> None:
        self._db.close()
        self._folder.cleanup()

    async def _do(self, verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        def call() -> T:
            try:
                return verb(*args, **kwargs)
            except sqlite3.Error as error:
                raise StoreError(
                    f"what was read again cannot be compared in {self._folder.name} ({error}): "
                    "free some space there, or set TMPDIR to a folder that has some"
                ) from error

        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._db.execute("begin")
        yield self._db
        self._db.execute("commit")

    # -- what was read -----------------------------------------------------------------------------------------

    async def add(self, gave: Gave) -> None:
        """Add what pages gave."""

        def write() -> None:
            with self._transaction() as db:
                db.executemany(_ADD, gave.items)
                db.executemany(_ADD_PAGE, gave.urls)
                db.executemany(_ADD_LINK, [(url,) for url in gave.links])
                db.executemany(_LEAD, gave.led)

        await self._do(write)

    async def led(self, most: int) -> list[tuple[int, bytes | None]]:
        """Some of the imported pages that something leads to; each is told once."""

        def take() -> list[tuple[int, bytes | None]]:
            found = self._db.execute(_LED, (most,)).fetchall()
            self._db.execute(_READ, (rows.as_json([page for page, _ in found]),))
            return found

        return await self._do(take)

    async def unled(self, pages: Sequence[int]) -> list[int]:
        """Those of these pages that nothing led to."""

        def read() -> list[int]:
            found: list[int] = msgspec.json.decode(self._db.execute(_UNLED, (rows.as_json(pages),)).fetchone()[0])
            return found

        return await self._do(read)

    # -- what the store has ------------------------------------------------------------------------------------

    async def hold(self, stored: AsyncIterator[StoredItem]) -> None:
        """Hold the store's items against what was read."""
        group: list[tuple[Any, ...]] = []
        async for item in stored:
            group.append((item.kind, item.key, item.data, item.url, item.last_seen, item.gone))
            if len(group) >= GROUP:
                await self._do(self._hold, group)
                group = []
        await self._do(self._hold, group)
        await self._do(self._look_closer)

    def _hold(self, group: list[tuple[Any, ...]]) -> None:
        with self._transaction() as db:
            db.executemany(_COMPARE, group)
            db.executemany(_MISSING, group)

    def _look_closer(self) -> None:
        """The same record may be written in two ways: with its fields in another order."""
        last = 0
        while found := self._db.execute(_OUT, (State.CHANGED, last, GROUP)).fetchall():
            last = found[-1][0]
            alike = [row[0] for row in found if not _deltas(row[6], row[5])]
            if alike:
                self._db.execute(_SAME, (rows.as_json(alike),))

    async def forget_links(self, urls: Sequence[str]) -> None:
        """These URLs are known after all."""
        await self._do(lambda: self._db.executemany(_DROP_LINK, [(url,) for url in urls]))

    # -- the result --------------------------------------------------------------------------------------------

    async def counts(self) -> dict[State, int]:
        """How many records there are of each state."""
        found = dict(await self._do(lambda: self._db.execute(_COUNTS).fetchall()))
        return {state: found.get(state, 0) for state in State}

    async def links(self, most: int) -> tuple[int, list[str]]:
        """How many URLs pages lead to that nobody knew, and some of them."""

        def read() -> tuple[int, list[str]]:
            few = self._db.execute("select url from link limit ?", (most,)).fetchall()
            return self._db.execute("select count(*) from link").fetchone()[0], [url for (url,) in few]

        return await self._do(read)

    async def differences(self, *states: State) -> AsyncIterator[Difference]:
        """Records of these states, in the order their pages were read."""
        for state in states:
            last = 0
            while found := await self._do(lambda since: self._db.execute(_OUT, since).fetchall(), (state, last, GROUP)):
                for row in found:
                    yield _difference(*row)
                last = found[-1][0]


def _difference(
    _: int, state: int, kind: str, key: str, url: str, data: str, before: str | None, request: int, seen: float
) -> Difference:
    after: str | None = data
    if state == State.GONE:
        before, after = data, None
    elif state == State.NEW:
        before = None
    elif before is None:
        before = data
    deltas = _deltas(before, after) if before is not None and after is not None else []
    return Difference(State(state), kind, key, url, before, after, deltas, request, seen)


def _deltas(before: str, after: str) -> list[Delta]:
    return fields(msgspec.json.decode(before), msgspec.json.decode(after))
