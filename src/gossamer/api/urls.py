"""`/api/urls`: every URL that runs met, and what people ask of URLs."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from gossamer import asking, lists
from gossamer.api.common import (
    LONGEST_NAME,
    LONGEST_URL,
    MOST,
    Body,
    Cursor,
    Done,
    Limit,
    Reads,
    Rows,
    Runs,
    Starts,
    answer,
    filter_of,
    service_of,
)
from gossamer.api.errors import answers

router = APIRouter(prefix="/api/urls", tags=["urls"])

UrlState = Literal["waiting", "done", "skipped", "failed"]
Url = Annotated[str, Field(min_length=1, max_length=LONGEST_URL)]


# -- looking ---------------------------------------------------------------------------------------------------


class UrlRow(BaseModel):
    """What one run knows of one URL."""

    id: int
    run: int
    scraper: str
    url: str
    host: str
    state: UrlState
    reason: str | None
    why: str = Field(description="The same in a few words; /api/why tells all.")
    status: int | None
    size: int | None
    depth: int
    handler: str
    attempts: int
    started: float | None = Field(description="When it was last fetched.")
    elapsed: float | None
    inactive: bool = Field(description="Somebody said that it is not to be fetched any more.")


@router.get("", summary="URLs that runs met, the latest first")
async def listed(
    request: Request,
    by: Reads,
    run: Annotated[int | None, Query(ge=1, le=MOST, description="Only those of this run.")] = None,
    scraper: Annotated[str | None, filter_of("Only those of this scraper.")] = None,
    host: Annotated[str | None, filter_of("Only those of this host.", 300)] = None,
    state: Annotated[UrlState | None, Query(description="Only those in this state.")] = None,
    reason: Annotated[str | None, filter_of("Only those with this reason: `http_404`.")] = None,
    q: Annotated[str | None, filter_of("A text in the URL.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Rows[UrlRow]:
    """A page may have fewer rows than asked for, or none, and still a `next`: where filters let few through."""
    found = await lists.urls(
        service_of(request).desk,
        run=run,
        scraper=scraper,
        host=host,
        state=state,
        reason=reason,
        q=q,
        limit=limit,
        cursor=cursor,
    )
    return answer(Rows[UrlRow], found)


# -- what people ask -------------------------------------------------------------------------------------------


class Batch(Body):
    """URLs to be read."""

    urls: list[Annotated[str, Field(max_length=LONGEST_URL)]] = Field(min_length=1, max_length=asking.MOST_URLS)
    parser: str = Field(
        default="auto", min_length=1, max_length=LONGEST_NAME, description="What reads the pages: `article`, `auto`."
    )


class UrlVerdict(BaseModel):
    """What became of one URL of a batch."""

    url: str
    ok: bool = Field(description="Whether it will be fetched.")
    why: str = Field(description="Why not.")


class Submitted(BaseModel):
    """What became of a batch."""

    run: int | None = Field(description="The run that reads the good ones; null: there is none.")
    accepted: int
    refused: int
    verdicts: list[UrlVerdict] = Field(description="In the order they were sent.")


@router.post("/batch", summary="Hand in URLs to be read", status_code=202)
async def submit(request: Request, body: Batch, by: Starts) -> Submitted:
    """Up to 10,000 at once, in one run. Each gets a verdict; those that cannot be used do not keep the others back."""
    service = service_of(request)
    done = await asking.submit(service.desk, body.urls, body.parser, by=by)
    service.poke()
    good = sum(each.ok for each in done.verdicts)
    told = {"run": done.run, "accepted": good, "refused": len(done.verdicts) - good, "verdicts": done.verdicts}
    return answer(Submitted, told)


class OneUrl(Body):
    """A URL that some run has met."""

    url: Url


@router.post("/refetch", summary="Fetch a known URL again", status_code=202, responses=answers(404))
async def refetch(request: Request, body: OneUrl, by: Starts) -> Done:
    """As the newest run that met it did, whatever was said of its age; nothing else is fetched."""
    service = service_of(request)
    run = await asking.refetch(service.desk, body.url, by=by)
    service.poke()
    return Done(message=f"run {run} fetches it again: /api/runs/{run} says how it goes", run=run)


class Mark(Body):
    """Whether a URL is to be fetched."""

    url: Url
    active: bool


@router.put("/mark", summary="Say whether a URL is to be fetched")
async def mark(request: Request, body: Mark, by: Runs) -> Done:
    """One that is not active is skipped by every run, until it is active again."""
    service = service_of(request)
    await asking.mark_url(service.desk, body.url, body.active, by=by)
    return Done(message=f"it is {'fetched again' if body.active else 'not fetched any more'}, from now on")
