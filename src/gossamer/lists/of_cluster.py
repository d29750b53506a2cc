"""A cluster as its rows tell it: who works, who holds which shard, what waits for somebody, and how fast it goes.

Every statement is answered by an index and reads a bounded number of rows, however many requests wait. Leases and
heartbeats are held against the store's own clock: no two machines need agree on the time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec

from gossamer import redaction
from gossamer.lists import paging
from gossamer.lists.of_leases import CONDUCTOR, clock, is_of
from gossamer.lists.of_workers import object_of, silent_after
from gossamer.lists.paging import Listing, Search
from gossamer.storage.desk import Desk, Row
from gossamer.values import WHOLE

#: Workers and runs that are told of at once; the lists have all.
MOST_WORKERS = 200
MOST_RUNS = 50
#: Stopped runs that are looked through for paused ones.
MOST_STOPPED = 500
#: Leases of one run: as many as there are shards, and those of its conductor and its only walker.
MOST_LEASES = 1_100
#: Requests of a run that wait are counted up to this.
MOST_WAITING = 10_000

_WORKERS = "select name, pid, started, at, data from worker order by at desc limit :n"
_OWNERS = """
select owner, count(*) from lease where owner is not null and until > :now and shard <> -2 group by owner limit 10000
"""
_RUN = "id, scraper, state, wanted, cluster, priority, workers, pages, items, failed, started"
_ACTIVE = f"select {_RUN} from run where state = :state order by id desc limit :n"  # noqa: S608 - only our own columns
# Of the many that stopped at a budget, only the newest are looked at.
_PAUSED = f"""
select {_RUN} from (select * from run where state = 'stopped' order by id desc limit :most) as run
where reason = 'paused' order by id desc limit :n
"""  # noqa: S608
_LEASES = """
select shard, owner, until, ticket_at, rest_until from lease where run_id = :run order by shard limit :n
"""
# From one shard to the next, without reading what lies between: one may have a million.
_SHARDS = """
with recursive each(shard) as (
    select (select shard from request where run_id = :run and state = 0 and {those} order by shard limit 1)
    union all
    select (
        select request.shard from request
        where run_id = :run and state = 0 and {those} and request.shard > each.shard order by request.shard limit 1
    ) from each where shard is not null
)
select shard, {due} from each where shard is not null limit 2000
"""
_READY = _SHARDS.format(those="not_before = 0", due="0")
_PARKED = _SHARDS.format(
    those="not_before > 0",
    due="""(
    select not_before from request
    where run_id = :run and state = 0 and not_before > 0 and request.shard = each.shard order by not_before limit 1
)""",
)
# In the order of the index that each kind of store has, so that it is read.
_WAITING = """
select count(*) from (
    select 1 as n from request where run_id = :run and state = 0 and not_before = 0 order by {order} limit :n
) as counted
"""
_COUNT_SHARED = _WAITING.format(order="shard, host, priority desc, id")
_COUNT_ALONE = _WAITING.format(order="host, priority desc, id")


class ClusterWorker(msgspec.Struct, frozen=True):
    """A process that walks shards of runs, as its heartbeat tells."""

    name: str
    host: str
    pid: int
    #: "worker" of a cluster, or "runner" of one service.
    kind: str
    version: str
    #: How Celery runs it: "threads", "gevent", "solo".
    pool: str
    #: Where its tickets come from, without a password.
    broker: str
    started: float
    #: Its last heartbeat.
    at: float
    alive: bool
    #: Leases it holds by the store's rows; a conductor's is not counted.
    leases: int
    #: Shards it has room for now, at most ever, and why, in a sentence; None: it does not say.
    room: int | None
    most: int | None
    why: str
    #: Cores it uses, bytes it has, and seconds its loop is late.
    cpu: float | None
    memory: int | None
    lag: float | None
    #: Pages a second, lately; and pages since it started.
    rate: float
    pages: int
    #: Runs it is at.
    runs: list[int]
    #: What its Celery worker is called, as in Flower; its own name is that of the process that walks.
    called: str = ""


class Shards(msgspec.Struct, frozen=True):
    """How many parts of runs are in which state."""

    #: Being walked.
    leased: int = 0
    #: A ticket for it is out: the next worker with room takes it.
    ticketed: int = 0
    #: There is work, and no ticket yet.
    free: int = 0
    #: All its work waits for a later time, or for hosts that are held.
    parked: int = 0

    @property
    def told(self) -> str:
        """Those there are, in words."""
        counts = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return ", ".join(f"{n:,} {name}" for name, n in counts if n)


class AtWork(msgspec.Struct, frozen=True):
    """What one worker does for one run."""

    worker: str
    shards: int
    rate: float
    waiting: int
    flying: int


class ClusterRun(msgspec.Struct, frozen=True):
    """A run that waits, goes on or is paused, and who is at it."""

    id: int
    scraper: str
    state: str
    wanted: str
    #: Whether workers share it; else one process walks it.
    cluster: bool
    priority: int
    #: The most workers at the same time; None: no limit.
    workers: int | None
    pages: int
    items: int
    failed: int
    started: float | None
    #: Requests that could be walked now; `more`: at least so many.
    waiting: int
    more: bool
    #: Who seeds it, watches it and ends it; or, of a run that is not shared, who walks it.
    conductor: str
    shards: Shards
    #: Tickets that no worker has taken yet, and since when the first of them waits.
    tickets: int
    oldest_ticket: float | None
    #: Pages a second, lately, over all workers.
    rate: float
    at_work: list[AtWork]

    @property
    def standing(self) -> str:
        """Its state in a word, also while what somebody wants of it is being done."""
        if self.state == "stopped":
            return "paused"
        return {"cancel": "cancelling", "pause": "pausing"}.get(self.wanted, self.state)


class Cluster(msgspec.Struct, frozen=True):
    """All of it, at one moment."""

    #: By the store's clock.
    at: float
    #: Whether workers can share this store; else one process walks it.
    shared: bool
    workers: list[ClusterWorker]
    runs: list[ClusterRun]
    leases: int
    tickets: int
    oldest_ticket: float | None
    shards: Shards
    rate: float

    @property
    def alive(self) -> int:
        """Workers that live."""
        return sum(worker.alive for worker in self.workers)


# -- all of it -------------------------------------------------------------------------------------------------


async def cluster(desk: Desk) -> Cluster:
    """How a cluster is now."""
    now = await clock(desk)
    leases: dict[str, int] = {owner: int(n) for owner, n in await desk.rows(_OWNERS, now=now)}
    told = await desk.rows(_WORKERS, n=MOST_WORKERS)
    workers = [_worker(row, leases, now) for row in told]
    alive = {worker.name for worker in workers if worker.alive}
    beats = {row[0]: object_of(row[4]) for row in told if row[0] in alive}
    runs = [await _run(desk, row, beats, now) for row in await _rows(desk)]
    return Cluster(
        at=now,
        shared=desk.dialect.shared,
        workers=sorted(workers, key=lambda worker: (not worker.alive, worker.name)),
        runs=runs,
        leases=sum(leases.values()),
        tickets=sum(run.tickets for run in runs),
        oldest_ticket=_oldest(run.oldest_ticket for run in runs),
        shards=Shards(*(sum(getattr(run.shards, name) for run in runs) for name in Shards.__struct_fields__)),
        rate=round(sum(worker.rate for worker in workers if worker.alive), 2),
    )


async def _rows(desk: Desk) -> list[Row]:
    """Runs worth telling of: those that go on first."""
    found: list[Row] = []
    for state in ("running", "pending"):
        found += await desk.rows(_ACTIVE, state=state, n=MOST_RUNS - len(found))
    return found + await desk.rows(_PAUSED, most=MOST_STOPPED, n=MOST_RUNS - len(found))


def _oldest(times: Iterable[float | None]) -> float | None:
    return min((at for at in times if at is not None), default=None)


# -- workers ---------------------------------------------------------------------------------------------------


async def cluster_workers(
    desk: Desk, *, alive: bool | None = None, limit: int = paging.USUAL, cursor: str | None = None
) -> Listing[ClusterWorker]:
    """Every worker that is remembered, by name."""
    now = await clock(desk)
    leases: dict[str, int] = {owner: int(n) for owner, n in await desk.rows(_OWNERS, now=now)}
    search = Search("worker", "worker.pid, worker.started, worker.at, worker.data", key=("name",), ascending=True)
    if alive is not None:
        search.keep(lambda row: _alive(row[3], object_of(row[4]), now) is alive)
    return await search.page(
        desk, "workers", lambda row: _worker(row, leases, now), limit=limit, cursor=cursor, form=paging.NAME
    )


def _alive(at: float, data: Mapping[str, Any], now: float) -> bool:
    return at > now - silent_after(data)


def _worker(row: Row, leases: Mapping[str, int], now: float) -> ClusterWorker:
    name, pid, started, at, given = row
    data = object_of(given)
    runs = data.get("runs")
    room, most, memory = (_number(data.get(word)) for word in ("room", "most", "memory"))
    alive = _alive(at, data, now)
    return ClusterWorker(
        name=name,
        host=_text(data.get("host")) or name.partition(":")[0],
        pid=pid,
        kind=_text(data.get("kind")) or "runner",
        version=_text(data.get("version")),
        pool=_text(data.get("pool")),
        broker=redaction.text(_text(data.get("broker"))),
        started=started,
        at=at,
        alive=alive,
        leases=sum(n for owner, n in leases.items() if is_of(owner, name)),
        room=None if room is None else int(room),
        most=None if most is None else int(most),
        why=_text(data.get("why")),
        cpu=_number(data.get("cpu")),
        memory=None if memory is None else int(memory),
        lag=_number(data.get("lag")),
        rate=_rate(data) if alive else 0.0,
        pages=_pages(data),
        runs=sorted(int(run) for run in runs if run.isdecimal())[:100] if isinstance(runs, dict) else [],
        called=_text(data.get("celery")),
    )


def _rate(data: Mapping[str, Any]) -> float:
    """Pages a second: as a worker says, or over its runs."""
    told = _number(data.get("rate"))
    if told is not None:
        return told
    runs = data.get("runs")
    each = [run.get("rate") for run in runs.values() if isinstance(run, dict)] if isinstance(runs, dict) else []
    return round(sum(_number(rate) or 0.0 for rate in each), 2)


def _pages(data: Mapping[str, Any]) -> int:
    """Pages since a worker started: as it says, or over its scrapers."""
    told = _number(data.get("pages"))
    if told is not None:
        return int(told)
    counters = data.get("counters")
    pages = counters.get("pages") if isinstance(counters, dict) else None
    return int(sum(_number(n) or 0.0 for n in pages.values())) if isinstance(pages, dict) else 0


def _text(value: object) -> str:
    return value[:500] if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if good else None  # type: ignore[arg-type]


# -- runs ------------------------------------------------------------------------------------------------------


async def _run(desk: Desk, row: Row, beats: Mapping[str, Mapping[str, Any]], now: float) -> ClusterRun:
    run, scraper, state, wanted, shared, priority, workers, pages, items, failed, started = row
    leases = await desk.rows(_LEASES, run=run, n=MOST_LEASES)
    live = {shard: owner for shard, owner, until, *_ in leases if owner is not None and until > now}
    tickets = {shard: at for shard, _, _, at, _ in leases if shard >= 0 and at is not None and shard not in live}
    resting = {shard for shard, *_, until in leases if until > now}
    tickets = tickets if state != "stopped" else {}
    waiting = await desk.row(_COUNT_SHARED if desk.dialect.shared else _COUNT_ALONE, run=run, n=MOST_WAITING)
    n = int(waiting[0]) if waiting is not None else 0
    return ClusterRun(
        id=run,
        scraper=scraper,
        state=state,
        wanted=wanted,
        cluster=bool(shared),
        priority=priority,
        workers=workers,
        pages=pages,
        items=items,
        failed=failed,
        started=started,
        waiting=n,
        more=n >= MOST_WAITING,
        conductor=live.get(CONDUCTOR, live.get(WHOLE, "")),
        # What is left of a run that rests waits for nobody.
        shards=await _shards(desk, run, live, tickets, resting, now) if shared and state != "stopped" else Shards(),
        tickets=len(tickets),
        oldest_ticket=_oldest(tickets.values()),
        rate=round(sum(each["rate"] for each in _told(run, beats).values()), 2),
        at_work=_at_work(run, live, beats),
    )


async def _shards(
    desk: Desk, run: int, live: Mapping[int, str], tickets: Collection[int], resting: set[int], now: float
) -> Shards:
    """In which state the parts of a run are. Work that was parked and is due counts as work."""
    work: set[int] = {shard for shard, _ in await desk.rows(_READY, run=run)}
    parked: set[int] = set()
    for shard, due in await desk.rows(_PARKED, run=run):
        (work if due <= now else parked).add(shard)
    taken = {shard for shard in live if shard >= 0} | set(tickets)
    return Shards(
        leased=sum(shard >= 0 for shard in live),
        ticketed=len(tickets),
        free=len(work - taken - resting),
        parked=len((parked - work | work & resting) - taken),
    )


def _told(run: int, beats: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Worker -> what it says of a run."""
    found = {}
    for name, data in beats.items():
        runs = data.get("runs")
        told = runs.get(str(run)) if isinstance(runs, dict) else None
        if isinstance(told, dict):
            found[name] = {word: _number(told.get(word)) or 0.0 for word in ("rate", "waiting", "flying")}
    return found


def _at_work(run: int, live: Mapping[int, str], beats: Mapping[str, Mapping[str, Any]]) -> list[AtWork]:
    """Those that hold shards of a run, or say that they are at it: the busiest first."""
    owners = Counter(owner for shard, owner in live.items() if shard != CONDUCTOR)
    held: Counter[str] = Counter()
    for owner, n in owners.items():
        held[next((name for name in beats if is_of(owner, name)), owner)] += n
    told = _told(run, beats)
    found = [
        AtWork(
            name,
            held[name],
            told.get(name, {}).get("rate", 0.0),
            int(told.get(name, {}).get("waiting", 0)),
            int(told.get(name, {}).get("flying", 0)),
        )
        for name in {*held, *told}
    ]
    return sorted(found, key=lambda each: (-each.rate, -each.shards, each.worker))[:MOST_WORKERS]
