"""`/api/scrapers/config/`: how scrapers are configured, as far as that may be done from here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, JsonValue

from gossamer import asking, schedules
from gossamer.api.common import MOST, Body, Knobs, Name, Reads, Rules, Written, scraper_of, service_of
from gossamer.api.errors import answers
from gossamer.api.scrapers import about, limits_of
from gossamer.clock import iso
from gossamer.errors import NotFound, Refused
from gossamer.registry import Found
from gossamer.trail import Asker

if TYPE_CHECKING:
    from gossamer.service import Service

router = APIRouter(prefix="/api/scrapers/config", tags=["scrapers"])


class Config(BaseModel):
    """How a scraper is configured, and what came of its runs."""

    scraper_name: str
    description: str
    enabled: bool
    max_jobs: int | None
    max_pages: int | None
    timeout: float = Field(description="Seconds one request may take.")
    retry_count: int
    schedule: str = Field(description="When it runs by itself: a cron string or `every 6h`; empty: it does not.")
    schedule_enabled: bool
    last_run: str | None
    total_runs: int
    successful_runs: int
    failed_runs: int
    total_jobs_found: int
    knobs: dict[str, JsonValue] = Field(description="What people set for it, by name.")


_STATISTICS = "select runs, successes, failures, items, last_ended from scraper where name = :name"


@router.get("/{name}/", summary="How a scraper is configured", responses=answers(404))
async def config(request: Request, name: Name, by: Reads) -> Config:
    """What holds for its next run: what people set, or else its file."""
    return await _config(service_of(request), scraper_of(service_of(request), name))


async def _config(service: Service, found: Found) -> Config:
    name = found.scraper.name
    enabled, knobs = await asking.configuration(service.desk, name)
    runs, good, bad, items, ended = await service.desk.row(_STATISTICS, name=name) or (0, 0, 0, 0, None)
    limits = limits_of(found, knobs)
    try:
        planned = (await schedules.get(service.desk, name)).schedule
    except NotFound:
        planned = None
    return Config(
        scraper_name=name,
        description=about(found),
        enabled=enabled,
        max_jobs=limits.max_items,
        max_pages=limits.max_pages,
        timeout=limits.timeout,
        retry_count=limits.retries,
        schedule=planned.trigger if planned else "",
        schedule_enabled=bool(planned and planned.enabled and planned.trigger),
        last_run=iso(ended),
        total_runs=runs,
        successful_runs=good,
        failed_runs=bad,
        total_jobs_found=items,
        knobs=knobs,
    )


class Reconfigured(Body):
    """What is to be different; what is left out stays, and null takes back what was set."""

    enabled: bool | None = None
    max_jobs: int | None = Field(default=None, ge=1, le=MOST)
    max_pages: int | None = Field(default=None, ge=1, le=MOST)
    timeout: Written | None = None
    retry_count: int | None = Field(default=None, ge=0, le=1000)
    schedule: str | None = Field(
        default=None, max_length=100, description="A cron string, or a time like `6h`; null: as its file says."
    )
    schedule_enabled: bool | None = None
    knobs: Knobs | None = Field(default=None, description="Anything else that may be set from here.")


@router.patch("/{name}/", summary="Configure a scraper", responses=answers(404))
async def configure(request: Request, name: Name, body: Reconfigured, by: Rules) -> Config:
    """Holds from the next run on. No field takes code, files, proxies or headers: those belong in files."""
    service = service_of(request)
    found = scraper_of(service, name)
    given = body.model_dump(exclude_unset=True)
    if not given:
        raise Refused("nothing is to be changed: give at least one field")
    changes = {knob: given[field] for field, knob in _KNOBS.items() if field in given}
    changes |= body.knobs.model_dump(exclude_unset=True) if body.knobs is not None else {}
    planned = _planned(given)
    schedules.checked(planned)  # before anything is written
    if changes or body.enabled is not None:
        await asking.configure(service.desk, found, changes, enabled=body.enabled, by=by)
    if planned:
        await _schedule(service, name, planned, by)
    return await _config(service, found)


#: What knobs are called here.
_KNOBS = {"max_jobs": "max_items", "max_pages": "max_pages", "timeout": "timeout", "retry_count": "retries"}


def _planned(given: Mapping[str, Any]) -> dict[str, Any]:
    """What is to be different about the schedule."""
    changes: dict[str, Any] = {}
    if "schedule" in given:
        when = given["schedule"]
        changes["cron" if when is not None and " " in when.strip() else "every"] = when
    if given.get("schedule_enabled") is not None:
        changes["enabled"] = given["schedule_enabled"]
    return changes


async def _schedule(service: Service, name: str, changes: Mapping[str, Any], by: Asker) -> None:
    try:
        await schedules.change(service.desk, name, changes, by=by)
    except NotFound:
        if all(value is None for value in changes.values()):
            return
        await schedules.add(service.desk, service.catalog, name, name, changes, by=by)
    service.scheduler.poke()


for _method, _verb in (("PUT", "put"), ("PATCH", "patch")):
    router.add_api_route(
        "/{name}/update/",
        configure,
        methods=[_method],
        name=f"configure_{_verb}",
        summary="Configure a scraper",
        responses=answers(404),
    )
