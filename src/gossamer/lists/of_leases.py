"""Who holds which part of which run, and which parts wait for somebody to take them."""

from __future__ import annotations

import time
from datetime import datetime

import msgspec

from gossamer.lists import paging
from gossamer.lists.paging import Listing, Search
from gossamer.storage.desk import Desk, Row

#: The lease of whoever seeds a run, watches it and ends it.
CONDUCTOR = -2
#: Runs that go on whose leases are looked through.
MOST_RUNS = 100

_RUNS = "select id from run where state = :state order by id desc limit :n"
_COLUMNS = "lease.owner, lease.until, lease.ticket_at, lease.crashes, lease.acquired"
#: The place in the list: a run, and one of its shards.
_PLACE = tuple[paging.Number, int]


class LeaseRow(msgspec.Struct, frozen=True):
    """A part of a run that somebody holds, or that a ticket is out for."""

    run: int
    #: The shard, whose hosts it is about; -1: the whole run, -2: its conductor.
    shard: int
    #: "leased", "expired" (whoever held it is gone) or "ticket" (it waits for a worker).
    state: str
    owner: str
    since: float | None
    #: Seconds until it ends, unless it is renewed; below 0: since it ended.
    ends_in: float | None
    #: When a ticket for it was last issued.
    ticket_at: float | None
    #: Owners in a row that died holding it.
    crashes: int


async def clock(desk: Desk) -> float:
    """What time it is where leases are written; a file has no clock but ours."""
    row = await desk.row("select current_timestamp")
    now = row[0] if row is not None else None
    return now.timestamp() if isinstance(now, datetime) else time.time()


def is_of(owner: str | None, worker: str) -> bool:
    """Whether the owner of a lease is a worker: it may add a word of its own to its name."""
    return owner is not None and (owner == worker or owner.startswith(f"{worker}:"))


async def leases(
    desk: Desk,
    *,
    run: int | None = None,
    worker: str | None = None,
    limit: int = paging.USUAL,
    cursor: str | None = None,
) -> Listing[LeaseRow]:
    """What is held of runs, or waits for somebody to take it, by run and shard: of those that go on, or of one."""
    now = await clock(desk)
    paging.checked_limit(limit)
    place = paging.place_of("leases", cursor, _PLACE)
    runs = [run] if paging.number(run, "run") is not None else await _active(desk)
    if not runs:
        return Listing([], None, 0)
    search = Search("lease", _COLUMNS, key=("run_id", "shard"), ascending=True)
    names = {f"run{n}": each for n, each in enumerate(runs)}
    search.within(*(f"lease.run_id = :{name}" for name in names), **names)
    search.only("(lease.owner is not null or lease.ticket_at is not null)")
    wanted = paging.text(worker, "worker")
    if wanted is not None:
        search.keep(lambda row: is_of(row[2], wanted))
    found = await search.walk(desk, limit, place)
    after = None if found.next is None else paging.cursor_text("leases", found.next)
    return Listing([_lease(row, now) for row in found.rows], after, found.looked)


async def _active(desk: Desk) -> list[int]:
    """Runs that go on or wait: only of those somebody holds anything."""
    return [row[0] for state in ("running", "pending") for row in await desk.rows(_RUNS, state=state, n=MOST_RUNS)]


def _lease(row: Row, now: float) -> LeaseRow:
    run, shard, owner, until, ticket_at, crashes, acquired = row
    state = "ticket" if owner is None else "leased" if until > now else "expired"
    return LeaseRow(
        run=run,
        shard=shard,
        state=state,
        owner=owner or "",
        since=acquired if owner is not None and acquired else None,
        ends_in=round(until - now, 1) if owner is not None else None,
        ticket_at=ticket_at,
        crashes=crashes,
    )
