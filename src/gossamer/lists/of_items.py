"""Lists of items, and one item with its history and where it was seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from gossamer import diff
from gossamer.lists import paging
from gossamer.lists.of_workers import object_of
from gossamer.lists.paging import Listing, Search
from gossamer.storage.desk import Desk, Row
from gossamer.storage.filters import Filter
from gossamer.storage.records import record_of
from gossamer.storage.store import StoredItem

#: Changes of one item that are shown, and runs that are asked whether they saw it.
MOST_CHANGES = 100
MOST_RUNS = 100

_COLUMNS = (
    "item.scraper, item.kind, item.key, item.url, item.data, item.first_seen, item.last_seen, item.last_changed, "
    "item.times_seen, item.gone, item.first_run, item.last_run, item.seq"
)
#: The place of the record among them.
_DATA = 4
_ITEM = f"select item.id, {_COLUMNS} from item where item.id = :item"  # noqa: S608
_CHANGES = """
select id, at, what, run_id, before from change where item_id = :item order by id desc limit :n
"""
# Which runs saw an item is told by asking each: nobody keeps that by item.
_SIGHTINGS = """
select newest.id, newest.created, request.id, request.url
from (select id, created from run where scraper = :scraper order by id desc limit :n) as newest
    join sighting on sighting.run_id = newest.id and sighting.item_id = :item
    left join request on request.id = sighting.request_id
order by newest.id desc
"""


class ItemRow(msgspec.Struct, frozen=True):
    """An item in a list."""

    id: int
    scraper: str
    kind: str
    key: str
    #: The page it was last seen on.
    url: str
    #: The record.
    data: dict[str, Any]
    first_seen: float
    last_seen: float
    last_changed: float
    times_seen: int
    #: Since when it is gone.
    gone: float | None
    #: The runs that saw it first and last; 0: nobody knows.
    first_run: int
    last_run: int
    #: Its place in the log of changes.
    seq: int


class ItemChange(msgspec.Struct, frozen=True):
    """One thing that happened to an item."""

    at: float
    #: "new", "changed", "gone" or "back".
    what: str
    run: int | None
    #: The record before and after; None where there was none.
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    #: The fields that differ.
    fields: list[diff.Delta]


class Sighting(msgspec.Struct, frozen=True):
    """A run that saw an item, and the page it saw it on."""

    run: int
    at: float
    request: int | None
    url: str | None


class ItemDetail(msgspec.Struct, frozen=True):
    """All there is to say about an item."""

    item: ItemRow
    #: What happened to it, newest first; the oldest are left out of a long history.
    history: list[ItemChange]
    whole: bool
    #: Who saw it, newest first, among the newest runs of its scraper.
    seen: list[Sighting]


async def items(
    desk: Desk,
    *,
    scraper: str | None = None,
    kind: str | None = None,
    run: int | None = None,
    q: str | None = None,
    since: float | None = None,
    gone: bool | None = False,
    where: str | None = None,
    limit: int = paging.USUAL,
    cursor: str | None = None,
) -> Listing[ItemRow]:
    """Items, newest first; with `since`, those that were new, changed, gone or back last are first.

    `gone` False: only current ones, True: only those that are gone, None: both. `run` is one that saw them. `q` is a
    text in the record, the key or the URL; `where` a filter such as `price > 10` (see `storage.filters`).
    """
    name, form, search = "items", paging.NUMBER, Search("item", _COLUMNS, heavy=_DATA)
    if since is not None:
        name, form, search = "items.since", paging.TWO_NUMBERS, Search("item", _COLUMNS, key=("seq", "id"), heavy=_DATA)
        search.only("item.last_changed >= :since", since=paging.moment(since, "since"))
    scraper = paging.text(scraper, "scraper")
    if run is not None:
        name, search = f"{name}.run", _of_run(search, paging.number(run, "run"), ordered=since is None)
    if scraper is not None and run is None and since is None:
        search.within("item.scraper = :scraper", scraper=scraper)
    else:
        search.equal("item.scraper", scraper)
    search.equal("item.kind", paging.text(kind, "kind"))
    if gone is not None:
        search.only(f"item.gone is {'not ' if gone else ''}null")
    search.contains(paging.text(q, "q"), "item.key", "item.url", json=["item.data"])
    if where is not None and where.strip():
        search.keep(_test(Filter(where), skip=1 if since is None else 2))
    make: Callable[[Row], ItemRow] = _row if since is None else lambda row: _row(row[1:])
    return await search.page(desk, name, make, limit=limit, cursor=cursor, form=form)


def _of_run(search: Search, run: int | None, *, ordered: bool) -> Search:
    """Items that a run saw: by what it saw, in the order of their numbers, or by asking each item."""
    if ordered:
        columns = _COLUMNS
        search = Search(
            "sighting", columns, joined="join item on item.id = sighting.item_id", key=("item_id",), heavy=_DATA
        )
        search.within("sighting.run_id = :run", run=run)
    else:
        search.only("exists (select 1 from sighting where run_id = :run and item_id = item.id)", run=run)
    return search


def _test(wanted: Filter, skip: int) -> Callable[[Row], bool]:
    """Whether a row's record, or what stands beside it under names like `_url`, fulfils a filter."""
    sourced = any(path.name.startswith("_") for path in wanted.paths)

    def holds(row: Row) -> bool:
        if not sourced:
            return wanted.holds(object_of(row[skip + _DATA]))
        scraper, kind, key, url, data, first, last, changed, times, gone, _, _, seq = row[skip:]
        stored = StoredItem(row[skip - 1], seq, scraper, kind, key, url, data, first, last, changed, times, gone)
        return wanted.holds(record_of(stored, source=True))

    return holds


def _row(row: Row) -> ItemRow:
    number, scraper, kind, key, url, data, *rest = row
    return ItemRow(number, scraper, kind, key, url, object_of(data), *rest)


async def item(desk: Desk, item_id: int) -> ItemDetail | None:
    """One item; None if there is none of this number."""
    if not 0 < item_id <= paging.TOP:
        return None
    row = await desk.row(_ITEM, item=item_id)
    if row is None:
        return None
    found = _row(row)
    changes = await desk.rows(_CHANGES, item=item_id, n=MOST_CHANGES + 1)
    seen = await desk.rows(_SIGHTINGS, scraper=found.scraper, item=item_id, n=MOST_RUNS)
    whole = len(changes) <= MOST_CHANGES
    return ItemDetail(
        found, _history(found, changes[:MOST_CHANGES], whole=whole), whole, [Sighting(*each) for each in seen]
    )


def _history(item: ItemRow, changes: list[Row], *, whole: bool) -> list[ItemChange]:
    """What an item became is what its next change, or the item itself, says."""
    told: list[ItemChange] = []
    after = item.data
    for _, at, what, run, data in changes:
        before = object_of(data)
        told.append(change_of(at, what, run, before, None if what == "gone" else after))
        after = before
    if whole:
        at = item.first_seen if changes else item.last_changed
        told.append(change_of(at, "new", item.first_run or None, None, after))
    return told


def change_of(
    at: float, what: str, run: int | None, before: dict[str, Any] | None, after: dict[str, Any] | None
) -> ItemChange:
    """One change, with the fields that differ where there is something to compare."""
    fields = diff.fields(before, after) if before is not None and after is not None else []
    return ItemChange(at, what, run, before, after, fields)
