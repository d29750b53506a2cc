"""`/api/schedules`: when scrapers run by themselves, and what came of it."""

from __future__ import annotations

import re
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, JsonValue

from gossamer import redaction, schedules
from gossamer.api.common import (
    LONGEST_NAME,
    Body,
    Cursor,
    Done,
    Limit,
    Name,
    Reads,
    Rows,
    Rules,
    Starts,
    Written,
    answer,
    service_of,
)
from gossamer.api.errors import answers
from gossamer.errors import Refused
from gossamer.schedules import Entry

router = APIRouter(prefix="/api/schedules", tags=["schedules"])

_NUMBER = re.compile(r"\d{1,12}(\.\d{1,12})?")


class ScheduleRow(BaseModel):
    """When a scraper runs by itself."""

    name: str
    scraper: str
    enabled: bool
    trigger: str = Field(description="When it comes due, in a few words.")
    every: str
    cron: str
    timezone: str
    jitter: float
    first_delay: float | None
    misfire: str
    overlap: str
    pause_after: int | None
    silence: float | None
    params: dict[str, JsonValue]
    next_at: float | None = Field(description="When the next run is to begin, breakers heeded.")
    held_until: float | None = Field(description="Until when its scraper is paused after failures; null: it is not.")
    problem: str = Field(description="Why it starts nothing though it is enabled; empty if it does.")
    by_hand: bool = Field(description="Whether somebody made it, and no file says when.")
    changed: list[str] = Field(description="What people changed of what the file says.")
    updated: float
    updated_by: str


def _row(entry: Entry) -> dict[str, object]:
    said = entry.schedule
    kept = (name for name in ScheduleRow.model_fields if name in said.__struct_fields__)
    changed = sorted(name for name in entry.overrides if name in ScheduleRow.model_fields)
    names = ("next_at", "held_until", "problem", "by_hand", "updated", "updated_by")
    about = {name: getattr(entry, name) for name in names}
    about |= {"trigger": said.trigger, "changed": changed, "params": redaction.parameters(said.params)}
    return {**{name: getattr(said, name) for name in kept}, **about}


class Changes(Body):
    """What is to be different. null takes a change back: what the file says holds again."""

    every: Written | None = Field(default=None, description="Time between two runs: `6h`.")
    cron: str | None = Field(default=None, max_length=100, description="When, as cron has it: `0 6 * * *`.")
    timezone: str | None = Field(default=None, max_length=64, description="What the hours of `cron` mean.")
    jitter: Written | None = Field(default=None, description="Runs are put off by up to so much: `5m`.")
    first_delay: Written | None = Field(default=None, description="Time before the first run.")
    misfire: Literal["coalesce", "skip", "all"] | None = None
    overlap: Literal["skip", "queue"] | None = None
    pause_after: Written | None = Field(default=None, description="Failed runs before it backs off, or `none`.")
    silence: Written | None = Field(default=None, description="Time without new items to be told of, or `none`.")
    enabled: bool | None = None
    params: dict[str, JsonValue] | None = Field(default=None, max_length=100, description="Parameters of the scraper.")


class NewSchedule(Changes):
    """A schedule to be. One of `every` and `cron` says when."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    scraper: str = Field(min_length=1, max_length=LONGEST_NAME)


class FiringRow(BaseModel):
    """One due time of a schedule, and what came of it."""

    schedule: str
    due: float
    at: float
    what: str = Field(description="`fired`, `probe`, `held`, `skipped` or `missed`.")
    run: int | None
    state: str = Field(description="The state of the run.")
    detail: str


@router.get("", summary="All schedules")
async def listed(request: Request, by: Reads, limit: Limit = 100, cursor: Cursor = None) -> Rows[ScheduleRow]:
    """By name, with when each runs next, or why it does not."""
    service = service_of(request)
    found = await schedules.page(service.desk, service.catalog, limit=limit, cursor=cursor)
    rows = [_row(entry) for entry in found.rows]
    return Rows[ScheduleRow].model_validate({"rows": rows, "next": found.next})


@router.get("/{name}", summary="One schedule", responses=answers(404))
async def one(request: Request, name: Name, by: Reads) -> ScheduleRow:
    """With when it runs next, or why it does not."""
    service = service_of(request)
    return ScheduleRow.model_validate(_row(await schedules.get(service.desk, name, service.catalog)))


@router.post("", summary="Make a schedule", status_code=201, responses=answers(404, s409="The name is taken."))
async def add(request: Request, body: NewSchedule, by: Rules) -> ScheduleRow:
    """One more for a scraper, besides what its file declares."""
    service = service_of(request)
    changes = body.model_dump(exclude={"name", "scraper"}, exclude_none=True)
    made = await schedules.add(service.desk, service.catalog, body.name, body.scraper, changes, by=by)
    service.scheduler.poke()
    return ScheduleRow.model_validate(_row(made))


@router.patch("/{name}", summary="Change a schedule", responses=answers(404))
async def change(request: Request, name: Name, body: Changes, by: Rules) -> ScheduleRow:
    """Only what is given changes. A change outlives a change of the file."""
    service = service_of(request)
    changes = body.model_dump(exclude_unset=True)
    if not changes:
        raise Refused("nothing is to be changed: give at least one field")
    await schedules.change(service.desk, name, changes, by=by)
    service.scheduler.poke()
    return ScheduleRow.model_validate(_row(await schedules.get(service.desk, name, service.catalog)))


@router.delete("/{name}", summary="Remove a schedule", responses=answers(404, s409="The scraper's file declares it."))
async def remove(request: Request, name: Name, by: Rules) -> Done:
    """With its history. One that a file declares can only be paused: `{"enabled": false}`."""
    service = service_of(request)
    await schedules.remove(service.desk, service.catalog, name, by=by)
    service.scheduler.poke()
    return Done(message=f"the schedule {name} is removed")


@router.post(
    "/{name}/run",
    summary="Start now what a schedule starts",
    status_code=202,
    responses=answers(404, s409="Its scraper has a run that waits or goes on: `active_run` is its number."),
)
async def run_now(request: Request, name: Name, by: Starts) -> Done:
    """When it is due next does not change."""
    service = service_of(request)
    run = await schedules.run_now(service.desk, service.catalog, name, by=by)
    service.poke()
    return Done(message=f"run {run} waits for its turn: /api/runs/{run} says how it goes", run=run)


@router.get("/{name}/history", summary="What came of a schedule's due times", responses=answers(404))
async def history(request: Request, name: Name, by: Reads, limit: Limit = 50, cursor: Cursor = None) -> Rows[FiringRow]:
    """The newest first."""
    if cursor is not None and not _NUMBER.fullmatch(cursor):
        raise Refused("this is no cursor: give what was `next` in the page before")
    before = float(cursor) if cursor is not None else None
    found = await schedules.history(service_of(request).desk, name, before, limit)
    following = f"{found[-1].due:.6f}" if len(found) == limit else None
    return answer(Rows[FiringRow], {"rows": found, "next": following})
