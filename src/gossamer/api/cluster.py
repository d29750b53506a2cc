"""`/api/cluster`: the workers, what they hold, and what waits for one of them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from gossamer import lists
from gossamer.api.common import MOST, Cursor, Limit, Reads, Rows, answer, filter_of, service_of

router = APIRouter(prefix="/api/cluster", tags=["cluster"])


class ClusterWorker(BaseModel):
    """A process that walks runs, as its last heartbeat told."""

    name: str = Field(description="The process that walks: the owner of its leases.")
    called: str = Field(description="What its Celery worker is called (`--name`), as in Flower; may be empty.")
    host: str
    pid: int
    kind: str = Field(description="`worker` of a cluster, or `runner` of one service.")
    version: str
    pool: str = Field(description="How Celery runs it: `threads`, `gevent`, `solo`.")
    broker: str = Field(description="Where its tickets come from, without a password.")
    started: float
    at: float = Field(description="When it was last heard.")
    alive: bool
    leases: int = Field(description="Leases it holds by the store's rows.")
    room: int | None = Field(description="Shards it has room for now; null: it does not say.")
    most: int | None = Field(description="Shards it may have at most.")
    why: str = Field(description="Why it takes no more, or fewer, in a sentence.")
    cpu: float | None = Field(description="Cores it uses.")
    memory: int | None = Field(description="Bytes it has.")
    lag: float | None = Field(description="Seconds that its loop is late.")
    rate: float = Field(description="Pages a second, lately.")
    pages: int = Field(description="Pages since it started.")
    runs: list[int] = Field(description="Runs it is at.")


class Lease(BaseModel):
    """A part of a run that somebody holds, or that a ticket is out for."""

    run: int
    shard: int = Field(description="Whose hosts it is about; -1: the whole run, -2: its conductor.")
    state: str = Field(description="`leased`; `expired`: whoever held it is gone; `ticket`: it waits for a worker.")
    owner: str
    since: float | None
    ends_in: float | None = Field(description="Seconds until it ends unless it is renewed; below 0: since it ended.")
    ticket_at: float | None = Field(description="When a ticket for it was last issued.")
    crashes: int = Field(description="Owners in a row that died holding it.")


class Shards(BaseModel):
    """How many parts of runs are in which state."""

    leased: int = Field(description="Being walked.")
    ticketed: int = Field(description="A ticket is out: the next worker with room takes it.")
    free: int = Field(description="There is work, and no ticket yet.")
    parked: int = Field(description="All its work waits for a later time.")


class AtWork(BaseModel):
    """What one worker does for one run."""

    worker: str
    shards: int
    rate: float = Field(description="Pages a second, lately.")
    waiting: int
    flying: int


class ClusterRun(BaseModel):
    """A run that waits, goes on or is paused, and who is at it."""

    id: int
    scraper: str
    state: str
    wanted: str = Field(description="What somebody wants of it: `cancel`, `pause`, or nothing.")
    cluster: bool = Field(description="Whether workers share it; else one process walks it.")
    priority: int
    workers: int | None = Field(description="The most workers at the same time; null: no limit.")
    pages: int
    items: int
    failed: int
    started: float | None
    waiting: int = Field(description="Requests that could be walked now, counted up to 10,000.")
    more: bool = Field(description="Whether at least so many wait.")
    conductor: str = Field(description="Who seeds it, watches it and ends it, or walks it alone; empty: nobody now.")
    shards: Shards
    tickets: int = Field(description="Tickets that no worker has taken yet.")
    oldest_ticket: float | None = Field(description="Since when the first of them waits.")
    rate: float = Field(description="Pages a second, lately, over all workers.")
    at_work: list[AtWork]


class Cluster(BaseModel):
    """All of it, at one moment."""

    at: float = Field(description="When, by the store's clock.")
    shared: bool = Field(description="Whether workers can share this store; else one process walks it.")
    alive: int = Field(description="Workers that live.")
    leases: int
    tickets: int
    oldest_ticket: float | None
    shards: Shards
    rate: float = Field(description="Pages a second, lately, over all workers.")
    workers: list[ClusterWorker] = Field(description="Up to 200, those that live first.")
    runs: list[ClusterRun] = Field(description="Up to 50, those that go on first.")


@router.get("", summary="Workers, runs and shards at a glance")
async def overview(request: Request, by: Reads) -> Cluster:
    """On a SQLite store one process walks all runs: there are no shards, and `shared` is false."""
    return answer(Cluster, await lists.cluster(service_of(request).desk))


@router.get("/workers", summary="Workers, by name")
async def workers(
    request: Request,
    by: Reads,
    alive: Annotated[bool | None, Query(description="Only those that live, or do not.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Rows[ClusterWorker]:
    """Every process that walks runs, and those that did a while ago."""
    found = await lists.cluster_workers(service_of(request).desk, alive=alive, limit=limit, cursor=cursor)
    return answer(Rows[ClusterWorker], found)


@router.get("/leases", summary="Leases, by run and shard")
async def leases(
    request: Request,
    by: Reads,
    run: Annotated[int | None, Query(ge=1, le=MOST, description="Only of this run; left out: of all active.")] = None,
    worker: Annotated[str | None, filter_of("Only those that this worker holds.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Rows[Lease]:
    """Which part of which run is held by whom, and which waits for a worker."""
    found = await lists.leases(service_of(request).desk, run=run, worker=worker, limit=limit, cursor=cursor)
    return answer(Rows[Lease], found)
