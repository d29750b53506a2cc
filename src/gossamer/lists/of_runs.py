"""Lists of runs, and one run with all there is to say about it."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from gossamer import redaction
from gossamer.lists import paging
from gossamer.lists.of_workers import anybody_works, object_of
from gossamer.lists.paging import Listing, Search
from gossamer.storage.desk import Desk, Row
from gossamer.values import RunState, Verdict

#: Waiting requests of a run are counted up to this.
MOST_COUNTED = 100_000
#: Starts of a run that are shown.
MOST_STARTS = 100

STATES = tuple(RunState)
VERDICTS = tuple(verdict for verdict in Verdict if verdict)
VIAS = ("cli", "api", "dashboard", "schedule")

_COLUMNS = (
    "run.scraper, run.state, run.reason, run.verdict, run.created, run.started, run.ended, run.seconds, "
    "run.settled, run.pages, run.items, run.new_items, run.failed, run.skipped, run.retried, run.rejected, run.size, "
    "run.asked_by, run.via, run.wanted, run.cluster, run.priority, run.workers, run.params, coalesce(lease.until, 0)"
)
_LEASED = "left join lease on lease.run_id = run.id and lease.shard = -1"
_RUN = f"""
select run.id, {_COLUMNS}, run.ref, run.options, run.reading, run.seeded, run.trusted
from run {_LEASED} where run.id = :run
"""  # noqa: S608
_REASONS = "select reason, n from run_reason where run_id = :run order by n desc, reason limit 200"
_STARTS = "select at, limits from start where run_id = :run order by id desc limit :n"
# In the orders of their indexes, so that those are read: where several walk a run, each of its shards has its own part.
_WAITING = """
select
    (select count(*) from (
        select host from request where run_id = :run and state = 0 and not_before = 0
        order by {shard} host, priority desc, id limit :n) as ready),
    (select count(*) from (
        select not_before from request where run_id = :run and state = 0 and not_before > 0
        order by {shard} not_before limit :n) as parked),
    (select min(not_before) from (
        select not_before from request where run_id = :run and state = 0 and not_before > 0
        order by {shard} not_before limit :n) as parked)
"""


class RunRow(msgspec.Struct, frozen=True):
    """A run in a list."""

    id: int
    scraper: str
    #: As in `RunState`: "killed" is a run that nobody walks, though nobody ended it.
    state: str
    reason: str
    verdict: str
    created: float
    started: float | None
    ended: float | None
    #: Seconds spent working, over all its starts.
    seconds: float
    settled: int
    pages: int
    items: int
    new_items: int
    failed: int
    skipped: int
    retried: int
    rejected: int
    size: int
    asked_by: str
    via: str
    #: What somebody wants of whoever walks it.
    wanted: str
    #: Whether workers share it, which of several such runs they take first, and how many of them at the same time.
    cluster: bool
    priority: int
    workers: int | None
    #: Without secrets: they are shown to whoever may read.
    params: dict[str, Any]


class RunStart(msgspec.Struct, frozen=True):
    """One start of a run, and the limits it promised to keep."""

    at: float
    limits: dict[str, Any]


class RunDetail(msgspec.Struct, frozen=True):
    """All there is to say about a run."""

    run: RunRow
    ref: str
    options: dict[str, Any]
    #: What its pages were read with.
    reading: dict[str, Any]
    #: Whether all its start requests are in.
    seeded: bool
    #: Whether the door it came through is the author's own.
    trusted: bool
    #: How often each reason ended a walk, the most frequent first.
    by_reason: dict[str, int]
    #: Requests that wait for their turn, and for a later time; counted up to MOST_COUNTED.
    waiting: int
    parked: int
    #: When the first of the parked ones is due.
    due: float | None
    #: Newest first.
    starts: list[RunStart]


async def runs(
    desk: Desk,
    *,
    scraper: str | None = None,
    state: str | None = None,
    via: str | None = None,
    asked_by: str | None = None,
    verdict: str | None = None,
    q: str | None = None,
    since: float | None = None,
    until: float | None = None,
    limit: int = paging.USUAL,
    cursor: str | None = None,
) -> Listing[RunRow]:
    """Runs, newest first. `q` is a run's number, or a text in its scraper, its reason or who asked for it."""
    alive = await anybody_works(desk)
    search = Search("run", _COLUMNS, joined=_LEASED)
    _narrow(search, paging.one_of(state, "state", STATES), paging.text(scraper, "scraper"), alive=alive)
    verdict = paging.one_of(verdict, "verdict", VERDICTS)
    if verdict is not None and not search.narrowed:
        search.within("run.verdict = :verdict", verdict=verdict)
    else:
        search.equal("run.verdict", verdict)
    search.equal("run.via", paging.one_of(via, "via", VIAS))
    search.equal("run.asked_by", paging.text(asked_by, "asked_by"))
    await _between(search, desk, paging.moment(since, "since"), paging.moment(until, "until"))
    wanted = paging.text(q, "q")
    first = await _numbered(search, desk, wanted, alive, cursor) if wanted and wanted.isdecimal() else []
    search.contains(wanted, "run.scraper", "run.reason", "run.asked_by")
    room = paging.checked_limit(limit) - len(first)
    if not room:
        return Listing(first, paging.cursor_text("runs", (paging.TOP,)), 1)
    found = await search.page(desk, "runs", lambda row: _row(row, alive), limit=room, cursor=cursor)
    return Listing(first + found.rows, found.next, found.looked + len(first))


def _narrow(search: Search, state: str | None, scraper: str | None, *, alive: bool) -> None:
    """The filters that have an index. Runs that go on are few: their index is the best."""
    # A run that goes on and one that was killed are the same in their rows: it is told by who walks them.
    stored = "running" if state == RunState.KILLED else state
    if stored in ("pending", "running"):
        search.within("run.state = :state", state=stored)
        search.equal("run.scraper", scraper)
    elif scraper is not None:
        search.within("run.scraper = :scraper", scraper=scraper)
        search.equal("run.state", stored)
    elif stored is not None:
        search.within("run.state = :state", state=stored)
    if state == RunState.KILLED:
        search.only("1 = 0" if alive else "run.cluster = 0 and coalesce(lease.until, 0) < :now", now=time.time())
    elif state == RunState.RUNNING and not alive:
        search.only("(run.cluster = 1 or lease.until >= :now)", now=time.time())


async def _between(search: Search, desk: Desk, since: float | None, until: float | None) -> None:
    if since is not None:
        search.end_with((await paging.first_since(desk, "run", "created", since),))
        search.only("run.created >= :since", since=since)
    if until is not None:
        search.begin_after((await paging.last_until(desk, "run", "created", until),))
        search.only("run.created < :until", until=until)


async def _numbered(search: Search, desk: Desk, q: str, alive: bool, cursor: str | None) -> list[RunRow]:
    """The run of a number, before those that have the number somewhere: only on the first page, and only there."""
    wanted = int(q[:20])
    if wanted >= paging.TOP:
        return []
    row = None
    if cursor is None:
        one = search.copy()
        one.begin_after((wanted + 1,))
        one.end_with((wanted,))
        found = await one.walk(desk, 1)
        row = found.rows[0] if found.rows else None
    search.only("run.id <> :wanted", wanted=wanted)
    return [_row(row, alive)] if row else []


async def run(desk: Desk, run_id: int) -> RunDetail | None:
    """One run; None if there is none of this number."""
    if not 0 < run_id <= paging.TOP:
        return None
    row = await desk.row(_RUN, run=run_id)
    if row is None:
        return None
    reasons = await desk.rows(_REASONS, run=run_id)
    starts = await desk.rows(_STARTS, run=run_id, n=MOST_STARTS)
    waiting = _WAITING.format(shard="shard," if desk.dialect.shared else "")
    left = await desk.row(waiting, run=run_id, n=MOST_COUNTED)
    ready, parked, due = left or (0, 0, None)
    ref, options, reading, seeded, trusted = row[-5:]
    return RunDetail(
        run=_row(row[:-5], await anybody_works(desk)),
        ref=ref,
        options=redaction.parameters(object_of(options)),
        reading=redaction.parameters(object_of(reading)),
        seeded=bool(seeded),
        trusted=bool(trusted),
        by_reason={reason: int(n) for reason, n in reasons},
        waiting=int(ready),
        parked=int(parked),
        due=due,
        starts=[RunStart(at, object_of(limits)) for at, limits in starts],
    )


def _row(row: Row, alive: bool) -> RunRow:
    *values, shared, priority, workers, params, leased = row
    # What workers share waits for the next one: only a run that one process walks can lose it.
    if values[2] == RunState.RUNNING and not shared and not alive and leased < time.time():
        values[2] = str(RunState.KILLED)
    return RunRow(*(*values, bool(shared), priority, workers, redaction.parameters(object_of(params))))
