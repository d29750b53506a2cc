"""What happened to items, and records that became none."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from gossamer import diff
from gossamer.lists import paging
from gossamer.lists.of_items import ItemChange, change_of
from gossamer.lists.of_workers import object_of
from gossamer.lists.paging import Found, Listing, Place, Search
from gossamer.storage.desk import Desk, Row

WHATS = ("new", "changed", "gone", "back")

# What an item became is what its next change, or the item itself, says.
_AFTER = """coalesce((
    select later.before from change as later where later.item_id = change.item_id and later.id > change.id
    order by later.id limit 1), item.data)"""
_FIRST = """coalesce((
    select before from change where change.item_id = item.id order by change.id limit 1), item.data)"""
# What was found while it was held back, or when a page was read again, is new once it is current.
_NEW = """case when exists (select 1 from change where change.item_id = item.id)
    then item.first_seen else item.last_changed end"""
_OF_ITEM = "item.id, item.scraper, item.kind, item.key, item.url"
_CHANGED = f"change.at, change.what, change.run_id, {_OF_ITEM}, change.before, {_AFTER}"
_ADDED = f"{_NEW}, 'new', item.first_run, {_OF_ITEM}, null, {_FIRST}"
#: Where both have the time, after their keys.
_AT = 0

_REJECTED = (
    "reject.run_id, run.scraper, reject.at, reject.request_id, request.url, reject.kind, reject.step, reject.reason, "
    "reject.data"
)
_OF_RUN = "join run on run.id = reject.run_id left join request on request.id = reject.request_id"


class ChangeRow(msgspec.Struct, frozen=True):
    """One thing that happened to an item."""

    at: float
    #: "new", "changed", "gone" or "back".
    what: str
    run: int | None
    item: int
    scraper: str
    kind: str
    key: str
    url: str
    #: The record before and after; None where there was none.
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    #: The fields that differ.
    fields: list[diff.Delta]


class RejectRow(msgspec.Struct, frozen=True):
    """A record that became no item."""

    id: int
    run: int
    scraper: str
    at: float
    request: int
    #: The page it was read from.
    url: str | None
    kind: str
    step: str
    reason: str
    data: dict[str, Any]


#: How far each of the two streams has come: the last change by time and number, and the last new item. None: it ended.
_Both = tuple[float | None, paging.Number | None, paging.Number | None]
#: Before all others: no row has such a time and number.
_BEGIN = (sys.float_info.max, paging.TOP)


async def changes(
    desk: Desk,
    *,
    since: float | None = None,
    scraper: str | None = None,
    kind: str | None = None,
    what: str | None = None,
    limit: int = paging.USUAL,
    cursor: str | None = None,
) -> Listing[ChangeRow]:
    """What is new, changed, gone or back, newest first.

    Two streams make it, new items and changes, each in an order of its own that never changes. Where filters let few of
    one through, its rows may come a page later than their time says.
    """
    limit = paging.checked_limit(limit)
    what = paging.one_of(what, "what", WHATS)
    changed, added = await _streams(
        desk, paging.moment(since, "since"), paging.text(scraper, "scraper"), paging.text(kind, "kind"), what
    )
    at, change, item = paging.place_of("changes", cursor, _Both) or (*_BEGIN, paging.TOP)
    begun: list[Place | None] = [
        None if at is None or change is None or what == "new" else (at, change),
        None if item is None or what not in ("new", None) else (item,),
    ]
    found = [
        Found([], None, 0) if place is None else await search.walk(desk, limit, place)
        for search, place in zip((changed, added), begun, strict=True)
    ]
    rows, nexts = _merged(found, begun, limit)
    ended = nexts == [None, None]
    place = None if ended else paging.cursor_text("changes", (*(nexts[0] or (None, None)), *(nexts[1] or (None,))))
    return Listing([_change(row) for row in rows], place, sum(each.looked for each in found))


async def _streams(
    desk: Desk, since: float | None, scraper: str | None, kind: str | None, what: str | None
) -> tuple[Search, Search]:
    changed = Search("change", _CHANGED, joined="join item on item.id = change.item_id", key=("at", "id"), heavy=9)
    added = Search("item", _ADDED, heavy=9)
    if since is not None:
        changed.end_with((since, 0))
        if what in ("new", None):
            # An item was added no later than it last changed.
            added.end_with((await paging.first_since(desk, "item", "last_changed", since),))
            added.only(f"{_NEW} >= :since", since=since)
    if scraper is not None:
        changed.equal("item.scraper", scraper)
        added.within("item.scraper = :scraper", scraper=scraper)
    changed.equal("item.kind", kind)
    added.equal("item.kind", kind)
    changed.equal("change.what", what)
    return changed, added


def _merged(found: list[Found], begun: list[Place | None], limit: int) -> tuple[list[Row], list[Place | None]]:
    """The newest of both, without their keys, and how far each has come with that."""
    widths = (2, 1)
    taken = [0, 0]
    rows: list[Row] = []
    while len(rows) < limit:
        heads = [(each.rows[taken[n]][widths[n] + _AT], n) for n, each in enumerate(found) if taken[n] < len(each.rows)]
        if not heads:
            break
        n = max(heads)[1]
        rows.append(found[n].rows[taken[n]][widths[n] :])
        taken[n] += 1
    nexts: list[Place | None] = []
    for n, each in enumerate(found):
        if taken[n] == len(each.rows):
            nexts.append(each.next)
        else:
            nexts.append(each.rows[taken[n] - 1][: widths[n]] if taken[n] else begun[n])
    return rows, nexts


def _change(row: Row) -> ChangeRow:
    at, what, run, item, scraper, kind, key, url, before, after = row
    told: ItemChange = change_of(
        at, what, run or None, object_of(before) if before else None, None if what == "gone" else object_of(after)
    )
    return ChangeRow(at, what, told.run, item, scraper, kind, key, url, told.before, told.after, told.fields)


async def rejects(
    desk: Desk,
    *,
    run: int | None = None,
    scraper: str | None = None,
    limit: int = paging.USUAL,
    cursor: str | None = None,
) -> Listing[RejectRow]:
    """Records that became no items, newest first; of a scraper, those of its newest run first."""
    scraper = paging.text(scraper, "scraper")
    if scraper is None or run is not None:
        search = _rejects(paging.number(run, "run"))
        search.equal("run.scraper", scraper)
        return await search.page(desk, "rejects", _reject, limit=limit, cursor=cursor)
    after = paging.place_of("rejects.scraper", cursor, paging.RUN_AND_NUMBER)
    limit = paging.checked_limit(limit)
    found = await paging.across_runs(desk, scraper, _rejects, limit, after, "run.rejected > 0")
    place = None if found.next is None else paging.cursor_text("rejects.scraper", found.next)
    return Listing([_reject(row) for row in found.rows], place, found.looked)


def _rejects(run: int | None) -> Search:
    search = Search("reject", _REJECTED, joined=_OF_RUN, heavy=8)
    if run is not None:
        search.within("reject.run_id = :run", run=run)
    return search


def _reject(row: Row) -> RejectRow:
    *values, data = row
    return RejectRow(*(*values, object_of(data)))
