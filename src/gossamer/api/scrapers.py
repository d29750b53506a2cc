"""`/api/scrapers/`: scrapers and their runs under the paths and names that the teams' programs know.

What the newer paths call a run is a job here, and its items are the jobs found: programs written for these paths go
on working. Times are ISO texts here, and seconds since 1970 everywhere else.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field, JsonValue

from gossamer import asking, lists, redaction, settings
from gossamer.api.common import (
    LONGEST_NAME,
    MOST,
    Anybody,
    Body,
    Params,
    Reads,
    RunId,
    Runs,
    Starts,
    filter_of,
    scraper_of,
    service_of,
)
from gossamer.api.errors import answers, problem
from gossamer.clock import iso
from gossamer.errors import NotFound, NotPossible, Refused, StoreError
from gossamer.lists import ItemRow
from gossamer.registry import Found
from gossamer.storage.desk import Desk, Row
from gossamer.values import RunState

if TYPE_CHECKING:
    pass

router = APIRouter(prefix="/api/scrapers", tags=["scrapers"])

#: Jobs of one page of the history, and how far back pages of numbers go: /api/runs goes all the way.
MOST_JOBS = 100
DEEPEST = 10_000

Status = Literal["pending", "running", "completed", "failed", "cancelled"]


class Job(BaseModel):
    """One run of a scraper."""

    id: int
    job_id: int = Field(description="The same as `id`.")
    scraper_name: str
    status: Status
    created_at: str | None
    started_at: str | None
    completed_at: str | None
    execution_time: float = Field(description="Seconds of work.")
    jobs_found: int = Field(description="Items it saw.")
    jobs_new: int = Field(description="Of them, those no run had seen before; known when it has ended.")
    jobs_duplicate: int = Field(description="Of them, those that were known.")
    pages: int
    failed: int
    error_message: str = Field(description="Why it ended as it did, where that is not plain.")
    triggered_by: str
    parameters: dict[str, JsonValue]


_JOB = """
select id, scraper, state, created, started, ended, seconds, items, new_items, pages, failed, reason, asked_by, via,
    params
from run
"""
_STATUS: Mapping[str, Status] = {
    RunState.PENDING: "pending",
    RunState.RUNNING: "running",
    RunState.FINISHED: "completed",
    RunState.STOPPED: "completed",
    RunState.FAILED: "failed",
    RunState.CANCELLED: "cancelled",
}


def _job(row: Row) -> Job:
    number, scraper, state, created, started, ended, seconds, items, new, pages, failed, reason, who, via, params = row
    over = state not in asking.ACTIVE
    return Job(
        id=number,
        job_id=number,
        scraper_name=scraper,
        status=_STATUS[state],
        created_at=iso(created),
        started_at=iso(started),
        completed_at=iso(ended),
        execution_time=round(seconds, 3),
        jobs_found=items,
        jobs_new=new,
        jobs_duplicate=max(0, items - new) if over else 0,
        pages=pages,
        failed=failed,
        error_message=reason if over and reason not in ("done", "ok") else "",
        triggered_by=who or via,
        parameters=redaction.parameters(msgspec.json.decode(params)),
    )


# -- looking ---------------------------------------------------------------------------------------------------


class Health(BaseModel):
    """Whether the service is well. Only who has a token sees more than that."""

    status: Literal["healthy", "unhealthy"]
    database: Literal["connected", "disconnected"] | None = None
    scrapers_available: int | None = None
    total_jobs: int | None = Field(default=None, description="Items, about: the highest number given to one.")
    total_urls: int | None = Field(
        default=None, description="URLs met by runs, about: the highest number given to one."
    )


@router.get("/health/", summary="Whether the service is well", response_model_exclude_none=True)
async def health(request: Request, by: Anybody) -> Health:
    """Open to everybody, and then no more than one word."""
    service = service_of(request)
    try:
        row = await service.desk.row("select (select max(id) from item), (select max(id) from request)")
    except StoreError:
        return Health(status="unhealthy", database="disconnected" if by else None)
    if by is None:
        return Health(status="healthy")
    items, urls = row or (0, 0)
    return Health(
        status="healthy",
        database="connected",
        scrapers_available=len(service.catalog.scrapers),
        total_jobs=items or 0,
        total_urls=urls or 0,
    )


class Listed(BaseModel):
    """A scraper."""

    name: str
    display_name: str
    description: str
    enabled: bool
    base_url: str | None = Field(description="Its first start URL, without a login; secrets of its query are hidden.")
    max_jobs: int | None = Field(description="Items after which a run stops; null: no limit.")
    max_pages: int | None
    takes: dict[str, str] = Field(description="The parameters it knows, and what each says; empty: any.")
    paused: str = Field(
        description="Why it ships paused: its schedule waits for somebody to resume it. Empty: it does not."
    )


class BrokenFile(BaseModel):
    """A file of scrapers that cannot be loaded."""

    file: str
    why: str


class ScraperList(BaseModel):
    """The scrapers there are."""

    scrapers: list[Listed]
    broken: list[BrokenFile] = Field(description="What should be scrapers and cannot be loaded, and why.")


@router.get("/list/", summary="The scrapers there are")
async def listed(request: Request, by: Reads) -> ScraperList:
    """By name, with those whose files cannot be loaded and why."""
    service = service_of(request)
    rows = await service.desk.rows("select name, enabled, config from scraper order by name limit 10000")
    known = {name: (bool(enabled), msgspec.json.decode(config)) for name, enabled, config in rows}
    found = [_listed(each, *known.get(name, (True, {}))) for name, each in service.catalog.scrapers.items()]
    broken = [BrokenFile(file=each.ref.rpartition("/")[2], why=each.why) for each in service.catalog.broken]
    return ScraperList(scrapers=found, broken=broken)


def _listed(found: Found, enabled: bool, config: Mapping[str, Any]) -> Listed:
    limits = limits_of(found, config)
    return Listed(
        name=found.scraper.name,
        display_name=found.scraper.name.replace("-", " ").replace("_", " ").title(),
        description=about(found),
        enabled=enabled,
        base_url=_base_url(found),
        max_jobs=limits.max_items,
        max_pages=limits.max_pages,
        takes=dict(found.scraper.takes),
        paused=found.scraper.paused,
    )


def limits_of(found: Found, config: Mapping[str, Any]) -> settings.ScraperConfig:
    """The knobs of its next run."""
    return settings.read(config, own=found.scraper.knobs(), owner=found.scraper.__name__).config


def about(found: Found) -> str:
    """The first line of what its author wrote about it."""
    text = inspect.cleandoc(found.scraper.__dict__.get("__doc__") or "")
    return text.partition("\n")[0][:500]


def _base_url(found: Found) -> str | None:
    urls = found.scraper.start_urls
    first = urls[0] if isinstance(urls, list | tuple) and urls else None
    return redaction.url(first, 2000) if isinstance(first, str) else None


class ActiveJobs(BaseModel):
    """Runs that have not ended."""

    active_jobs: list[Job]
    count: int


@router.get("/active/", summary="Runs that wait or go on")
async def active(request: Request, by: Reads) -> ActiveJobs:
    """The newest first."""
    desk = service_of(request).desk
    found = [
        _job(row)
        for state in asking.ACTIVE
        for row in await desk.rows(f"{_JOB} where state = :state order by id desc limit 1000", state=state)
    ]
    found.sort(key=lambda job: -job.id)
    return ActiveJobs(active_jobs=found, count=len(found))


class Stats(BaseModel):
    """All runs together."""

    total_runs: int
    completed_runs: int
    failed_runs: int
    success_rate: float = Field(description="In percent, of the runs that were not cancelled.")
    total_jobs_scraped: int
    total_new_jobs: int
    jobs_by_source: dict[str, int] = Field(description="Scraper -> items, of all its runs.")
    avg_execution_time: float
    recent_jobs: list[Job]


@router.get("/stats/", summary="All runs together, in numbers")
async def stats(request: Request, by: Reads) -> Stats:
    """Counted when a run ends: nothing is cached, and nothing is slow."""
    desk = service_of(request).desk
    rows = await desk.rows(
        "select name, runs, successes, failures, seconds, items, new_items from scraper order by name limit 10000"
    )
    runs, good, bad, seconds = (sum(row[n] for row in rows) for n in (1, 2, 3, 4))
    recent = await desk.rows(f"{_JOB} order by id desc limit 10")
    return Stats(
        total_runs=runs,
        completed_runs=good,
        failed_runs=bad,
        success_rate=round(100 * good / (good + bad), 1) if good + bad else 0.0,
        total_jobs_scraped=sum(row[5] for row in rows),
        total_new_jobs=sum(row[6] for row in rows),
        jobs_by_source={row[0]: row[5] for row in rows},
        avg_execution_time=round(seconds / runs, 3) if runs else 0.0,
        recent_jobs=[_job(row) for row in recent],
    )


class Pagination(BaseModel):
    """Where a page stands."""

    page: int
    page_size: int
    total: int = Field(description=f"Runs there are; {DEEPEST:,} may be more.")
    pages: int


class History(BaseModel):
    """A page of runs."""

    jobs: list[Job]
    pagination: Pagination


@router.get("/history/", summary="Runs by page number, the newest first")
async def history(
    request: Request,
    by: Reads,
    scraper: Annotated[str | None, filter_of("Only of this scraper.")] = None,
    page: Annotated[int, Query(ge=1, le=DEEPEST)] = 1,
    limit: Annotated[int, Query(ge=1, le=MOST_JOBS)] = 20,
) -> History:
    """Page numbers reach 10,000 runs back; `/api/runs` goes all the way, by cursor."""
    desk = service_of(request).desk
    if page * limit > DEEPEST:
        raise Refused(f"pages reach {DEEPEST:,} runs back, not further: use /api/runs, which has cursors")
    where = "where scraper = :scraper" if scraper else ""
    names = {"scraper": scraper} if scraper else {}
    count = f"select count(*) from (select 1 from run {where} limit {DEEPEST}) as counted"  # noqa: S608 - a clause of ours
    (total,) = await desk.row(count, **names) or (0,)
    found = await desk.rows(
        f"{_JOB} {where} order by id desc limit :limit offset :skip", limit=limit, skip=(page - 1) * limit, **names
    )
    pagination = Pagination(page=page, page_size=limit, total=total, pages=-(-total // limit))
    return History(jobs=[_job(row) for row in found], pagination=pagination)


class FoundItem(BaseModel):
    """Something a scraper found."""

    id: int
    source: str = Field(description="The scraper.")
    kind: str
    url: str
    first_scraped: str | None
    last_scraped: str | None
    last_changed: str | None
    scrape_count: int
    is_active: bool = Field(description="Whether it is still there.")
    job_data: dict[str, Any] = Field(description="The record.")


class RecentJobs(BaseModel):
    """What was found lately."""

    jobs: list[FoundItem]
    count: int


@router.get("/recent-jobs/", summary="Items found lately")
async def recent_jobs(
    request: Request,
    by: Reads,
    source: Annotated[str | None, filter_of("Only of this scraper.")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_JOBS)] = 50,
) -> RecentJobs:
    """The newest first. `/api/items` has filters, and goes all the way."""
    listing = await lists.items(service_of(request).desk, scraper=source, gone=None, limit=limit)
    found = [_found(row) for row in listing.rows]
    return RecentJobs(jobs=found, count=len(found))


def _found(row: ItemRow) -> FoundItem:
    return FoundItem(
        id=row.id,
        source=row.scraper,
        kind=row.kind,
        url=row.url,
        first_scraped=iso(row.first_seen),
        last_scraped=iso(row.last_seen),
        last_changed=iso(row.last_changed),
        scrape_count=row.times_seen,
        is_active=row.gone is None,
        job_data=row.data,
    )


@router.get("/status/{job_id}/", summary="How a run goes", responses=answers(404))
async def status(request: Request, job_id: RunId, by: Reads) -> Job:
    """`/api/runs/{run}` tells more."""
    return await _one(service_of(request).desk, job_id)


async def _one(desk: Desk, run: int) -> Job:
    row = await desk.row(f"{_JOB} where id = :run", run=run)
    if row is None:
        raise NotFound(f"there is no run {run}: /api/runs lists them")
    return _job(row)


# -- starting and stopping -------------------------------------------------------------------------------------


class Start(Body):
    """A run to be started."""

    scraper_name: str = Field(min_length=1, max_length=LONGEST_NAME)
    max_jobs: int | None = Field(
        default=None, ge=1, le=MOST, description="Stop after the page that brings this many items."
    )
    max_pages: int | None = Field(default=None, ge=1, le=MOST, description="Stop after this many pages.")
    params: Params


class Started(BaseModel):
    """A run that was asked for."""

    job_id: int
    scraper_name: str
    status: Literal["pending"] = "pending"
    message: str


@router.post(
    "/start/",
    summary="Start a run",
    status_code=202,
    responses=answers(404, s409="It has a run that waits or goes on: `active_run` is its number."),
)
async def start(request: Request, body: Start, by: Starts) -> Started:
    """One run is written down, and whoever walks runs is told. It is walked as soon as there is room."""
    service = service_of(request)
    found = scraper_of(service, body.scraper_name)
    knobs = {"max_items": body.max_jobs, "max_pages": body.max_pages}
    given = {name: value for name, value in knobs.items() if value is not None}
    run = await asking.start(service.desk, found, params=body.params, knobs=given, by=by)
    service.poke()
    told = f"run {run} of {found.scraper.name} waits for its turn: /api/scrapers/status/{run}/ says how it goes"
    return Started(job_id=run, scraper_name=found.scraper.name, message=told)


class StartedAll(BaseModel):
    """What became of starting every scraper."""

    message: str
    started: dict[str, int] = Field(description="Scraper -> its new run.")
    refused: dict[str, str] = Field(description="Scraper -> why none was started.")


@router.post("/start-all/", summary="Start a run of every scraper", status_code=202)
async def start_all(request: Request, by: Starts) -> StartedAll:
    """Scrapers that are disabled, or have a run that waits or goes on, are left out and told of."""
    service = service_of(request)
    told = await asking.start_all(service.desk, service.catalog, by=by)
    service.poke()
    started = {name: run for name, run in told.items() if isinstance(run, int)}
    refused = {name: why for name, why in told.items() if isinstance(why, str)}
    return StartedAll(message=f"{len(started)} of {len(told)} were started", started=started, refused=refused)


class Cancelled(BaseModel):
    """A run that is being stopped."""

    job_id: int
    status: Status
    message: str


@router.delete(
    "/cancel/{job_id}/",
    summary="Stop a run",
    response_model=Cancelled,
    responses=answers(404, s400="It has ended: there is nothing to stop."),
)
async def cancel(request: Request, job_id: RunId, by: Runs) -> Any:
    """Walks under way end and are kept, no more begin. `POST /api/runs/{run}/resume` goes on with it."""
    service = service_of(request)
    try:
        await asking.cancel(service.desk, job_id, by=by)
    except NotPossible as why:
        return problem(400, str(why))
    service.poke()
    job = await _one(service.desk, job_id)
    told = "was cancelled" if job.status == "cancelled" else "ends as soon as its walks have ended"
    return Cancelled(job_id=job_id, status=job.status, message=f"run {job_id} {told}; it can be resumed")
