"""`/api/logs` and `/api/trail`: what happened, and who did what."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from gossamer import lists
from gossamer.api.common import MOST, Cursor, Limit, Reads, Rows, Rules, Since, answer, filter_of, moment_of, service_of

router = APIRouter(tags=["logs"])

Level = Literal["debug", "info", "warning", "error", "critical"]


class EventRow(BaseModel):
    """Something worth keeping that happened."""

    id: int
    at: float
    level: str
    name: str = Field(description="What: `run.end`, `host.slowed`.")
    run: int | None
    scraper: str
    message: str
    data: dict[str, Any]


class TrailRow(BaseModel):
    """Something that somebody did."""

    id: int
    at: float
    who: str
    via: str
    action: str = Field(description="A noun and a verb: `run.start`.")
    target: str
    detail: dict[str, Any]
    address: str


@router.get("/api/logs", summary="Events, the newest first")
async def logs(
    request: Request,
    by: Reads,
    run: Annotated[int | None, Query(ge=1, le=MOST, description="Only of this run.")] = None,
    level: Annotated[Level | None, Query(description="This level and above.")] = None,
    scraper: Annotated[str | None, filter_of("Only of this scraper.")] = None,
    q: Annotated[str | None, filter_of("A text in its name, message or data.")] = None,
    since: Since = None,
    after: Annotated[int | None, Query(ge=0, le=MOST, description="Only those above this number, as a tail.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Rows[EventRow]:
    """The important ones; all of them are in the log files, which `gossamer logs` shows."""
    found = await lists.events(
        service_of(request).desk,
        run=run,
        level=level,
        scraper=scraper,
        q=q,
        since=moment_of(since),
        after=after,
        limit=limit,
        cursor=cursor,
    )
    return answer(Rows[EventRow], found)


@router.get("/api/trail", summary="Who did what")
async def trail(
    request: Request,
    by: Rules,
    who: Annotated[str | None, filter_of("Only what this person, token or schedule did.")] = None,
    action: Annotated[str | None, filter_of("Only this: `run.start`, or `run` for all that begins so.")] = None,
    target: Annotated[str | None, filter_of("Only what was done to this.")] = None,
    since: Since = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Rows[TrailRow]:
    """Every change made through a door, in the transaction of the change itself. The newest first."""
    found = await lists.trail(
        service_of(request).desk,
        who=who,
        action=action,
        target=target,
        since=moment_of(since),
        limit=limit,
        cursor=cursor,
    )
    return answer(Rows[TrailRow], found)
