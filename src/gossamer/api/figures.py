"""`/api/figures` and `/api/errors`: numbers for charts, and failures by cause."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from gossamer import figures, lists
from gossamer.api.common import Reads, answer, filter_of, service_of

router = APIRouter(tags=["figures"])


class Bucket(BaseModel):
    """What was settled in one step of time."""

    at: float = Field(description="Its beginning.")
    pages: int
    failed: int
    retried: int
    skipped: int
    items: int
    size: int


class Throughput(BaseModel):
    """What was settled in a period, oldest first; steps without anything are there too."""

    period: str
    step: float = Field(description="Seconds of one step.")
    buckets: list[Bucket]


class Total(BaseModel):
    """How many there are."""

    n: int
    exact: bool = Field(description="false: about so many.")


class Totals(BaseModel):
    """How much the store holds."""

    runs: Total
    urls: Total
    items: Total
    changes: Total
    hosts: Total
    alerts: Total


class Queue(BaseModel):
    """What is still to be done."""

    pending_runs: int
    running_runs: int
    waiting: int
    parked: int
    flying: int


class Example(BaseModel):
    """A URL that failed."""

    request: int
    run: int
    scraper: str
    url: str
    status: int | None
    detail: str | None
    at: float | None


class ErrorGroup(BaseModel):
    """Failures of one cause."""

    reason: str
    count: int
    share: float = Field(description="Of all failures, 0 to 1.")
    trend: list[int] = Field(description="How many in each hour, oldest first.")
    first: float
    last: float
    meaning: str
    advice: str
    examples: list[Example]


class ErrorGroups(BaseModel):
    """Failures by cause."""

    rows: list[ErrorGroup]


@router.get("/api/figures/throughput", summary="Pages, failures and items over time")
async def throughput(
    request: Request,
    by: Reads,
    period: Literal["hour", "day", "week"] = "hour",
    scraper: Annotated[str | None, filter_of("Only of this scraper.")] = None,
) -> Throughput:
    """Of the last hour by minute, day by ten minutes, or week by hour."""
    return answer(Throughput, await figures.throughput(service_of(request).desk, period, scraper or None))


@router.get("/api/figures/totals", summary="How much the store holds")
async def totals(request: Request, by: Reads) -> Totals:
    """Counted up to 20,000, and estimated beyond: it answers at once however much there is."""
    return answer(Totals, await figures.totals(service_of(request).desk))


@router.get("/api/figures/queue", summary="What is still to be done")
async def queue(request: Request, by: Reads) -> Queue:
    """Runs that wait and go on, and requests of those that go on."""
    return answer(Queue, await figures.queue(service_of(request).desk))


@router.get("/api/errors", summary="Failures by cause")
async def errors(
    request: Request,
    by: Reads,
    scraper: Annotated[str | None, filter_of("Only of this scraper.")] = None,
    hours: Annotated[int, Query(ge=1, le=336, description="Of the last hours.")] = 24,
) -> ErrorGroups:
    """The most frequent first, with a trend by hour, what it means, what to do, and examples."""
    found = await lists.errors(service_of(request).desk, scraper=scraper, hours=hours)
    return answer(ErrorGroups, {"rows": found})
