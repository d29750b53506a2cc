"""Records as they leave the store: chosen, perhaps with their source, in groups, as often as they are needed."""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncIterator
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from gossamer import settings
from gossamer.clock import iso
from gossamer.errors import ConfigError
from gossamer.storage.filters import MISSING, Filter, Path
from gossamer.storage.store import Store, StoredItem, Wanted

#: Records handed on at once.
GROUP = 500

_SOURCE = ("scraper", "kind", "key", "url")
_TIMES = ("first_seen", "last_seen", "last_changed")
#: The mark of an item that is gone: since when.
GONE = "_gone"
#: What `source` adds to a record, and which of it are times.
SOURCE = tuple(f"_{name}" for name in (*_SOURCE, *_TIMES))
SOURCE_TIMES = frozenset(f"_{name}" for name in _TIMES) | {GONE}
#: The columns of pages, and which of them are times.
PAGE_COLUMNS: dict[str, type] = {
    "run": int,
    "url": str,
    "state": str,
    "reason": str,
    "status": int,
    "depth": int,
    "fetches": int,
    "bytes": int,
    "fetched_at": str,
    "seconds": float,
    "detail": str,
}
PAGE_TIMES = frozenset({"fetched_at"})


@lru_cache(4096)  # what was on one page was seen at one time
def source_of(item: StoredItem) -> dict[str, Any]:
    """Where an item comes from, under names that begin with _; `_gone` only if it is gone."""
    source = {f"_{name}": getattr(item, name) for name in _SOURCE}
    source |= {f"_{name}": iso(getattr(item, name)) for name in _TIMES}
    if item.gone is not None:
        source[GONE] = iso(item.gone)
    return source


def record_of(item: StoredItem, source: bool = False) -> dict[str, Any]:
    """The record of an item, with its source if that is asked for."""
    return item.record() | source_of(item) if source else item.record()


def since_of(given: str | float | datetime | None) -> float | None:
    """Seconds since 1970 of a time, or of an age such as 6h or 1d. Raises ConfigError for what is neither."""
    if isinstance(given, datetime):
        return given.timestamp()
    if given is None or isinstance(given, int | float):
        return given
    try:
        return None if given == "all" else time.time() - settings.duration(given)
    except ValueError:
        raise ConfigError(f"since {given!r} cannot be used: write an age like 6h, 1d or 7d, or all") from None


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What is to leave the store. Left as it is: all current items, as they are."""

    #: "items" or "pages".
    what: str = "items"
    run: int | None = None
    scraper: str | None = None
    kind: str | None = None
    #: New or changed (pages: fetched) at or after this time, in seconds since 1970.
    since: float | None = None
    #: A filter: see `filters`.
    where: str | None = None
    #: A field or path: of items that say the same there, the first seen.
    unique: str | None = None
    #: Fields or paths to keep, in this order; none: all.
    fields: tuple[str, ...] = ()
    #: With items that are gone, marked as `_gone`.
    gone: bool = False
    #: What the drift gate holds back of `run`, instead.
    held: bool = False
    #: With where each item comes from.
    source: bool = False
    #: What to add of where each item comes from, if not all of it: "_kind", "_scraper".
    extra: tuple[str, ...] = ()
    #: New, changed, back or gone after this place in the log of changes; from 0, those that are gone are left out.
    after: int | None = None
    #: "": in the order first seen; "key": by scraper, kind and key, which is the same order wherever they were found.
    sort: str = ""

    @property
    def marks(self) -> bool:
        """Whether items that are gone are among the others, and have to be told from them."""
        return self.what == "items" and (self.gone or self.after is not None)

    @property
    def times(self) -> frozenset[str]:
        """Columns that are times: those that are ours."""
        if self.what == "pages":
            return PAGE_TIMES
        if self.source:
            return SOURCE_TIMES
        return frozenset({GONE} if self.marks else ()) | (SOURCE_TIMES & set(self.fields))


class Unique:
    """Tells the first record that says something in a field from those that say the same after it."""

    def __init__(self, name: str) -> None:
        """Raises ConfigError for no name."""
        if not name.strip():
            raise ConfigError("unique wants the name of a field, like fingerprint or offers.sku")
        self.path = Path(name)
        self._met: set[bytes] = set()

    def first(self, record: dict[str, Any]) -> bool:
        """Whether nobody said the same before. Records without the field, or with nothing in it, are all first."""
        value = self.path.find(record)
        if value is MISSING or value is None or value == "" or value == []:
            return True
        # 16 bytes of each value are enough to know it again, and all that is kept of it.
        known = hashlib.blake2b(msgspec.json.encode(value, order="deterministic"), digest_size=16).digest()
        if known in self._met:
            return False
        self._met.add(known)
        return True


class Group(msgspec.Struct, frozen=True):
    """Some records."""

    records: list[dict[str, Any]]
    #: Of them, those that may not have been so, or not at all, in an earlier reading.
    late: list[dict[str, Any]]


class Rows:
    """The records of a choice, read from the store each time `groups` is called."""

    def __init__(self, store: Store, choice: Choice, upto: int) -> None:
        """`upto` is the newest place in the log of changes now. Raises ConfigError for a filter that is none."""
        self.choice = choice
        self._store = store
        self._upto = upto
        self._filter = Filter(choice.where) if choice.where is not None else None
        self._fields = [Path(name) for name in choice.fields]
        self._unique = Unique(choice.unique) if choice.unique is not None else None
        looked_at = (*(self._filter.paths if self._filter else ()), *((self._unique.path,) if self._unique else ()))
        self._unmet = {path.name: path for path in (*self._fields, *looked_at)}
        #: Whether there was any record, chosen or not.
        self.seen = False
        self._sourced = choice.source or bool(choice.extra) or any(name.startswith("_") for name in self._unmet)

    @property
    def unmet(self) -> list[str]:
        """Fields that were asked for and that no record had so far, if there was any record."""
        return [name for name in self._unmet if self.seen and name not in (*SOURCE, GONE)]

    def of(self, choice: Choice) -> Rows:
        """The records of another choice, from the same store at the same time."""
        return Rows(self._store, choice, self._upto)

    async def groups(self) -> AsyncIterator[Group]:
        """Records that were chosen, in the order of the store."""
        if self.choice.unique is not None:
            self._unique = Unique(self.choice.unique)  # each reading begins anew
        if self.choice.what == "pages":
            async for group in self._pages():
                yield group
            return
        async for items in self._stored():
            made = [(item, record) for item in items if (record := self._record(item)) is not None]
            if made:
                records = [record for _, record in made]
                late = [record for item, record in made if item.seq > self._upto or self.choice.held]
                yield Group(records, late)

    async def lines(self) -> AsyncIterator[list[str]]:
        """The same as JSON."""
        if self.choice.what == "pages" or self._filter or self._fields or self._sourced or self._unique:
            encode = msgspec.json.Encoder().encode
            async for group in self.groups():
                yield [encode(record).decode() for record in group.records]
            return
        async for items in self._stored():
            yield [self._line(item) for item in items]

    def _line(self, item: StoredItem) -> str:
        """An item as it is stored: it is JSON on one line already."""
        if self.choice.marks and item.gone is not None:
            return msgspec.json.encode(item.record() | {GONE: iso(item.gone)}).decode()
        return item.data if "\n" not in item.data else msgspec.json.encode(item.record()).decode()

    async def _stored(self) -> AsyncIterator[list[StoredItem]]:
        choice = self.choice
        wanted = Wanted(
            run=choice.run,
            scraper=choice.scraper,
            kind=choice.kind,
            since=choice.since,
            after=choice.after,
            gone=choice.gone,
            held=choice.held,
            by_key=choice.sort == "key",
        )
        items: list[StoredItem] = []
        async for item in self._store.items(wanted):
            if choice.after is not None and item.seq > self._upto:
                break  # what came since is for the next time
            items.append(item)
            if len(items) == GROUP:
                yield self._current(items)
                items = []
        yield self._current(items)

    def _current(self, items: list[StoredItem]) -> list[StoredItem]:
        """Items without those that the store cannot leave out."""
        choice = self.choice
        if choice.after == 0 and not choice.gone:
            items = [item for item in items if item.gone is None]
        if choice.held and choice.since is not None:
            items = [item for item in items if item.last_changed >= choice.since]
        return items

    def _record(self, item: StoredItem) -> dict[str, Any] | None:
        """What is to be known of an item; None if it does not pass the filter."""
        choice = self.choice
        made = item.record()
        source = source_of(item) if self._sourced else {}
        whole = made | source if source else made
        if not self._passes(whole):
            return None
        # What is gone does not stand for what is still there.
        if self._unique is not None and item.gone is None and not self._unique.first(whole):
            return None
        if self._fields:
            made = self._cut(whole)
        if choice.source:
            made |= source
        elif choice.extra:
            made |= {name: source[name] for name in choice.extra}
        if choice.marks and item.gone is not None:
            made[GONE] = iso(item.gone)
        return made

    async def _pages(self) -> AsyncIterator[Group]:
        choice = self.choice
        rows: list[dict[str, Any]] = []
        async for row in self._store.pages(choice.run, choice.scraper):
            if choice.since is not None and (row["fetched_at"] or 0.0) < choice.since:
                continue
            row["fetched_at"] = iso(row["fetched_at"])
            if self._passes(row):
                rows.append(self._cut(row) if self._fields else row)
            if len(rows) == GROUP:
                yield Group(rows, [])
                rows = []
        yield Group(rows, [])

    def _passes(self, whole: dict[str, Any]) -> bool:
        self.seen = True
        if self._unmet:
            self._unmet = {name: path for name, path in self._unmet.items() if path.find(whole) is MISSING}
        return self._filter is None or self._filter.holds(whole)

    def _cut(self, whole: dict[str, Any]) -> dict[str, Any]:
        """What was asked for of a record."""
        found = ((path.name, path.find(whole)) for path in self._fields)
        return {name: None if value is MISSING else value for name, value in found}
