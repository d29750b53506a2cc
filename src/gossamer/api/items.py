"""`/api/items`: what was collected, and the history of each item."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from gossamer import lists
from gossamer.api.common import MOST, Cursor, Limit, Reads, Rows, Since, answer, filter_of, moment_of, service_of
from gossamer.api.errors import answers
from gossamer.errors import NotFound

router = APIRouter(prefix="/api/items", tags=["items"])

#: Whether items are wanted that are gone: none of them, with the others, or nothing else.
_GONE = {"no": False, "yes": None, "only": True}


class ItemRow(BaseModel):
    """An item in a list."""

    id: int
    scraper: str
    kind: str
    key: str = Field(description="Tells it from the others of its kind.")
    url: str = Field(description="The page it was last seen on.")
    data: dict[str, Any] = Field(description="The record.")
    first_seen: float
    last_seen: float
    last_changed: float
    times_seen: int
    gone: float | None = Field(description="Since when it is gone.")
    first_run: int
    last_run: int
    seq: int = Field(description="Its place in the log of changes.")


class Delta(BaseModel):
    """One field that differs."""

    path: str
    before: Any
    after: Any


class ItemChange(BaseModel):
    """One thing that happened to an item."""

    at: float
    what: str = Field(description="`new`, `changed`, `gone` or `back`.")
    run: int | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    fields: list[Delta] = Field(description="The fields that differ.")


class Sighting(BaseModel):
    """A run that saw an item, and the page it saw it on."""

    run: int
    at: float
    request: int | None
    url: str | None


class ItemDetail(BaseModel):
    """All there is to say about an item."""

    item: ItemRow
    history: list[ItemChange] = Field(description="Newest first.")
    whole: bool = Field(description="Whether that is the whole history; the oldest of a long one are left out.")
    seen: list[Sighting] = Field(description="Who saw it, newest first, among the newest runs of its scraper.")


@router.get("", summary="Items, the newest first")
async def listed(
    request: Request,
    by: Reads,
    scraper: Annotated[str | None, filter_of("Only of this scraper.")] = None,
    kind: Annotated[str | None, filter_of("Only of this kind.")] = None,
    run: Annotated[int | None, Query(ge=1, le=MOST, description="Only those that this run saw.")] = None,
    q: Annotated[str | None, filter_of("A text anywhere in the record, its key or its URL.")] = None,
    since: Since = None,
    gone: Annotated[Literal["no", "yes", "only"], Query(description="Whether with those that are gone.")] = "no",
    where: Annotated[str | None, filter_of("A condition: `price > 10 and name ~ 'x'`.", 2000)] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Rows[ItemRow]:
    """With `since`, those that are new or changed since. `/api/export` gives all of them at once."""
    found = await lists.items(
        service_of(request).desk,
        scraper=scraper,
        kind=kind,
        run=run,
        q=q,
        since=moment_of(since),
        gone=_GONE[gone],
        where=where or None,
        limit=limit,
        cursor=cursor,
    )
    return answer(Rows[ItemRow], found)


@router.get("/{item}", summary="One item, with its history", responses=answers(404))
async def one(request: Request, item: Annotated[int, Path(ge=1, le=MOST)], by: Reads) -> ItemDetail:
    """What it was before each change, and which runs saw it."""
    found = await lists.item(service_of(request).desk, item)
    if found is None:
        raise NotFound(f"there is no item {item}: /api/items lists them")
    return answer(ItemDetail, found)
