"""`/api/changes` and `/api/rejects`: what happened to items, and records that became none."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from gossamer import lists
from gossamer.api.common import MOST, Cursor, Limit, Reads, Rows, Since, answer, filter_of, moment_of, service_of
from gossamer.api.items import ItemChange

router = APIRouter(tags=["items"])


class ChangeRow(ItemChange):
    """One thing that happened to an item."""

    item: int
    scraper: str
    kind: str
    key: str
    url: str


class RejectRow(BaseModel):
    """A record that became no item."""

    id: int
    run: int
    scraper: str
    at: float
    request: int
    url: str | None = Field(description="The page it was read from.")
    kind: str
    step: str = Field(description="Who refused it: `model`, `key`, or the name of a step.")
    reason: str
    data: dict[str, Any]


@router.get("/api/changes", summary="What is new, changed, gone or back")
async def changes(
    request: Request,
    by: Reads,
    since: Since = None,
    scraper: Annotated[str | None, filter_of("Only of this scraper.")] = None,
    kind: Annotated[str | None, filter_of("Only of items of this kind.")] = None,
    what: Annotated[Literal["new", "changed", "gone", "back"] | None, Query(description="Only this.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Rows[ChangeRow]:
    """The newest first, with the record before and after and the fields that differ."""
    found = await lists.changes(
        service_of(request).desk,
        since=moment_of(since),
        scraper=scraper,
        kind=kind,
        what=what,
        limit=limit,
        cursor=cursor,
    )
    return answer(Rows[ChangeRow], found)


@router.get("/api/rejects", summary="Records that became no items, and why")
async def rejects(
    request: Request,
    by: Reads,
    run: Annotated[int | None, Query(ge=1, le=MOST, description="Only of this run.")] = None,
    scraper: Annotated[str | None, filter_of("Only of this scraper.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Rows[RejectRow]:
    """The newest first."""
    desk = service_of(request).desk
    return answer(Rows[RejectRow], await lists.rejects(desk, run=run, scraper=scraper, limit=limit, cursor=cursor))
