"""`/api/runs`: what runs, what ran, and what people ask of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from gossamer import asking, lists, settings
from gossamer.api.common import (
    LONGEST_NAME,
    Body,
    Cursor,
    Done,
    Knobs,
    Limit,
    Params,
    Reads,
    Rows,
    Rules,
    RunId,
    Runs,
    Since,
    Starts,
    answer,
    filter_of,
    moment_of,
    scraper_of,
    service_of,
)
from gossamer.api.errors import answers
from gossamer.errors import NotFound, Refused
from gossamer.values import RunState

router = APIRouter(prefix="/api/runs", tags=["runs"])

Verdicts = Literal["learning", "pending", "good", "suspect", "accepted", "rejected"]
Vias = Literal["cli", "api", "dashboard", "schedule"]

_ACTIVE = "Its scraper has a run that waits or goes on: `active_run` is its number."


# -- looking ---------------------------------------------------------------------------------------------------


class RunRow(BaseModel):
    """A run in a list."""

    id: int
    scraper: str
    state: str = Field(description="`killed` is a run that nobody walks, though nobody ended it.")
    reason: str
    verdict: str = Field(description="What the drift gate says of it; `suspect`: its items are held back.")
    created: float
    started: float | None
    ended: float | None
    seconds: float = Field(description="Seconds spent working, over all its starts.")
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
    wanted: str = Field(description="What somebody wants of whoever walks it: `cancel`, `pause`.")
    cluster: bool = Field(description="Whether workers share it; else one process walks it.")
    priority: int = Field(description="Which of several runs workers take first: the highest, from -9 to 9.")
    workers: int | None = Field(description="The most workers at the same time; null: no limit.")
    params: dict[str, Any]


class RunHost(BaseModel):
    """A host that a run is at."""

    host: str
    waiting: int
    flying: int
    next_in: float | None = Field(description="Seconds until it may be asked again.")
    why: str
    interval: float | None
    hits: int | None


class Progress(BaseModel):
    """How a run that goes on does just now."""

    share: float = Field(description="How much of what is known was done: 0 to 1.")
    rate: float = Field(description="Pages a second, lately.")
    eta: float | None = Field(description="Seconds that what is known to wait will take; null: nobody can say.")
    flying: int
    slowest: str = Field(description="The host that keeps it from ending sooner.")


class RunStart(BaseModel):
    """One start of a run, and the limits it promised to keep."""

    at: float
    limits: dict[str, Any] = Field(
        description="`rate` is in seconds between two requests to a host: 0.05 are 20 requests a second."
    )


class RunDetail(RunRow):
    """All there is to say about a run."""

    options: dict[str, Any] = Field(description="The knobs it was started with.")
    reading: dict[str, Any] = Field(description="What its pages were read with.")
    seeded: bool
    trusted: bool = Field(description="Whether it may start at private addresses.")
    by_reason: dict[str, int] = Field(description="How often each reason ended a walk, the most frequent first.")
    waiting: int = Field(description="Requests that wait for their turn, counted up to 100,000.")
    parked: int = Field(description="Requests that wait for a later time, counted up to 100,000.")
    due: float | None = Field(description="When the first of those is due.")
    starts: list[RunStart]
    progress: Progress | None = Field(description="null: it does not go on.")
    hosts: list[RunHost] = Field(description="While it goes on: the 20 hosts with the most to do.")


@router.get("", summary="Runs, the newest first")
async def listed(
    request: Request,
    by: Reads,
    scraper: Annotated[str | None, filter_of("Only of this scraper.")] = None,
    state: Annotated[RunState | None, Query(description="Only in this state.")] = None,
    verdict: Annotated[Verdicts | None, Query(description="Only those the drift gate says this of.")] = None,
    via: Annotated[Vias | None, Query(description="Only those asked for through this door.")] = None,
    asked_by: Annotated[str | None, filter_of("Only those that this person, token or schedule asked for.")] = None,
    q: Annotated[str | None, filter_of("A run's number, or a text in its scraper, reason or who asked.")] = None,
    since: Since = None,
    until: Since = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Rows[RunRow]:
    """Filters can be combined."""
    found = await lists.runs(
        service_of(request).desk,
        scraper=scraper,
        state=state,
        verdict=verdict,
        via=via,
        asked_by=asked_by,
        q=q,
        since=moment_of(since),
        until=moment_of(until),
        limit=limit,
        cursor=cursor,
    )
    return answer(Rows[RunRow], found)


@router.get("/{run}", summary="One run", responses=answers(404))
async def one(request: Request, run: RunId, by: Reads) -> RunDetail:
    """Its numbers, why its walks ended, and, while it goes on, how far it is and where it waits."""
    service = service_of(request)
    found = await lists.run(service.desk, run)
    if found is None:
        raise NotFound(f"there is no run {run}: /api/runs lists them")
    told = {name: getattr(found, name) for name in RunDetail.model_fields if hasattr(found, name)}
    told |= {name: getattr(found.run, name) for name in RunRow.model_fields}
    live = next((each for each in service.live.active if each.id == run and each.state == "running"), None)
    told |= {"progress": live, "hosts": [_host(each) for each in live.hosts] if live else []}
    return answer(RunDetail, told)


def _host(told: Mapping[str, Any]) -> dict[str, Any]:
    """A host as a worker tells of it; what an older one leaves out is not known."""
    usual = {"waiting": 0, "flying": 0, "next_in": None, "why": "", "interval": None, "hits": None}
    return {**usual, **told}


# -- starting --------------------------------------------------------------------------------------------------


class Start(Body):
    """A run to be started."""

    scraper: str = Field(min_length=1, max_length=LONGEST_NAME, description="The scraper, by its name.")
    params: Params
    knobs: Knobs = Field(default_factory=Knobs)


class Started(BaseModel):
    """A run that was asked for."""

    run: int
    scraper: str
    state: str
    message: str


@router.post("", summary="Start a run", status_code=202, responses=answers(404, s409=_ACTIVE))
async def start(request: Request, body: Start, by: Starts) -> Started:
    """One run is written down, and whoever walks runs is told. It is walked as soon as there is room."""
    service = service_of(request)
    found = scraper_of(service, body.scraper)
    knobs = body.knobs.model_dump(exclude_none=True)
    run = await asking.start(service.desk, found, params=body.params, knobs=knobs, by=by)
    service.poke()
    name = found.scraper.name
    told = f"run {run} of {name} waits for its turn: /api/runs/{run} says how it goes"
    return Started(run=run, scraper=name, state="pending", message=told)


# -- what becomes of a run -------------------------------------------------------------------------------------


@router.post(
    "/{run}/cancel", summary="Stop a run", status_code=202, responses=answers(404, s409="It has ended already.")
)
async def cancel(request: Request, run: RunId, by: Runs) -> Done:
    """Walks under way end and are kept, no more begin. It can be resumed."""
    service = service_of(request)
    await asking.cancel(service.desk, run, by=by)
    service.poke()
    return Done(message=f"run {run} ends as soon as its walks have ended; it can be resumed", run=run)


@router.post(
    "/{run}/pause",
    summary="Have a run rest",
    status_code=202,
    responses=answers(404, s409="It has ended, is being cancelled, or is walked in a terminal."),
)
async def pause(request: Request, run: RunId, by: Runs) -> Done:
    """As a cancel, but it ends as `stopped` with the reason `paused`: somebody means to go on with it."""
    service = service_of(request)
    await asking.pause_run(service.desk, run, by=by)
    service.poke()
    return Done(message=f"run {run} rests as soon as its walks have ended; resume goes on with it", run=run)


@router.post(
    "/{run}/resume",
    summary="Go on with a run",
    status_code=202,
    responses=answers(404, s409="It goes on, has finished, or another run of its scraper does: `active_run`."),
)
async def resume(request: Request, run: RunId, by: Starts) -> Done:
    """A run that was cancelled, stopped or failed goes on where it ended."""
    service = service_of(request)
    await asking.resume(service.desk, run, by=by)
    service.poke()
    return Done(message=f"run {run} goes on where it ended", run=run)


class Priority(Body):
    """Which of several runs goes first."""

    priority: int = Field(ge=-asking.MOST_PRIORITY, le=asking.MOST_PRIORITY, description="Higher goes first; usual: 0.")


@router.patch("/{run}/priority", summary="Say which run goes first", responses=answers(404))
async def prioritise(request: Request, run: RunId, body: Priority, by: Runs) -> Done:
    """Workers with room take shards of the run with the highest priority. What they hold already they walk on."""
    service = service_of(request)
    await asking.set_priority(service.desk, run, body.priority, by=by)
    service.poke()
    return Done(message=f"run {run} has the priority {body.priority}", run=run)


class Workers(Body):
    """How many workers a run may have."""

    workers: int | None = Field(
        ge=1, le=asking.MOST_WORKERS, description="The most at the same time; null: as many as there are."
    )


@router.patch("/{run}/workers", summary="Limit the workers of a run", responses=answers(404))
async def limit_workers(request: Request, run: RunId, body: Workers, by: Runs) -> Done:
    """Those beyond the limit give its shards back when their slices end."""
    service = service_of(request)
    await asking.set_workers(service.desk, run, body.workers, by=by)
    service.poke()
    n = body.workers
    told = "as many workers as there are" if n is None else f"at most {n:,} worker{'' if n == 1 else 's'}"
    return Done(message=f"run {run} may have {told}", run=run)


class Retried(Done):
    """URLs that are walked again."""

    urls: int = Field(description="How many.")


@router.post(
    "/{run}/retry",
    summary="Walk the URLs again that failed",
    status_code=202,
    responses=answers(404, s409="No URL of it failed, or its scraper has a run that goes on."),
)
async def retry(request: Request, run: RunId, by: Starts) -> Retried:
    """The same run goes on with the URLs of it that failed."""
    service = service_of(request)
    n = await asking.retry_failed(service.desk, run, by=by)
    service.poke()
    return Retried(message=f"run {run} walks {n:,} of its URLs again", run=run, urls=n)


@router.post(
    "/{run}/accept",
    summary="Let the items of a suspect run through",
    status_code=202,
    responses=answers(404, s409="It is not suspect, or has not ended."),
)
async def accept(request: Request, run: RunId, by: Runs) -> Done:
    """The run broke the pattern of those before it, and is right: its items become current."""
    service = service_of(request)
    await asking.decide(service.desk, run, accept=True, by=by)
    service.poke()
    return Done(message=f"the items of run {run} come through", run=run)


@router.post(
    "/{run}/reject",
    summary="Discard the items of a suspect run",
    status_code=202,
    responses=answers(404, s409="It is not suspect, or has not ended."),
)
async def reject(request: Request, run: RunId, by: Runs) -> Done:
    """The run broke the pattern of those before it, and is wrong: its items are dropped."""
    service = service_of(request)
    await asking.decide(service.desk, run, accept=False, by=by)
    service.poke()
    return Done(message=f"the items of run {run} are dropped", run=run)


# -- deleting --------------------------------------------------------------------------------------------------


class Deleted(BaseModel):
    """Runs that are no more."""

    deleted: int
    message: str


@router.delete("/{run}", summary="Delete a run", responses=answers(404, s409="It has not ended, or holds items back."))
async def delete(request: Request, run: RunId, by: Rules) -> Deleted:
    """With what it knew of URLs. The items that it found stay."""
    await asking.delete_run(service_of(request).desk, run, by=by)
    return Deleted(deleted=1, message=f"run {run} is deleted; its items stay")


@router.delete("", summary="Delete old runs")
async def delete_old(
    request: Request,
    by: Rules,
    older_than: Annotated[str, Query(min_length=1, max_length=50, description="How long ago they ended: `30d`.")],
) -> Deleted:
    """Ended runs, but the ten newest of each scraper and those that hold items back. The items stay."""
    try:
        age = settings.duration(older_than)
    except ValueError as why:
        raise Refused(f"older_than = {older_than!r} cannot be used: {why}") from None
    n = await asking.delete_runs(service_of(request).desk, age, by=by)
    return Deleted(deleted=n, message=f"{n:,} runs are deleted; their items stay")
