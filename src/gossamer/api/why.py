"""`/api/why?url=`: everything that is known of a URL, in plain words and as values."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from gossamer import lists, urls
from gossamer.api.common import LONGEST_URL, Cursor, Reads, service_of
from gossamer.errors import ConfigError, Refused
from gossamer.lists import Told

router = APIRouter(prefix="/api/why", tags=["urls"])


class Story(BaseModel):
    """What one run knows of a URL."""

    request: int
    run: int
    scraper: str
    state: str
    reason: str | None
    detail: str | None
    status: int | None
    depth: int
    attempts: int
    not_before: float
    started: float | None
    elapsed: float | None
    found_on: str | None
    items: list[tuple[str, str]] = Field(description="Kind and key of what came out.")
    held: bool = Field(description="Whether that is held back by the drift gate.")
    sentences: list[str] = Field(description="The same in plain words.")


class Why(BaseModel):
    """All that is known of a URL."""

    url: str
    known: bool = Field(description="Whether a run has met it.")
    notes: list[str] = Field(description="What holds whatever runs know: that somebody took it out, and when.")
    stories: list[Story] = Field(description="The newest run first.")
    host: list[str] = Field(description="How its host is treated, if it is not as usual.")
    guesses: list[str] = Field(description="Where no run knows it: what the newest ones would have done with it.")
    inactive: bool = Field(description="Somebody said that it is not to be fetched any more.")
    next: str | None


@router.get("", summary="Why a URL was fetched, dropped, or waits")
async def why(
    request: Request,
    by: Reads,
    url: Annotated[str, Query(min_length=1, max_length=LONGEST_URL)],
    limit: Annotated[int, Query(ge=1, le=100, description="Runs to be told of.")] = 20,
    cursor: Cursor = None,
) -> Why:
    """As `gossamer why URL` tells it: which run met it, what became of it, by which rule, and what came out."""
    try:
        clean, _ = urls.with_login(url)
    except (ConfigError, ValueError):
        raise Refused("this is no URL: write one that begins with https:// or http://") from None
    found = await lists.why(service_of(request).desk, clean, limit=limit, cursor=cursor)
    return Why(
        url=found.url,
        known=bool(found.stories),
        notes=found.notes,
        stories=[_story(each) for each in found.stories],
        host=found.host,
        guesses=found.guesses,
        inactive=found.inactive,
        next=found.next,
    )


def _story(told: Told) -> Story:
    kept = [name for name in Story.model_fields if hasattr(told.story, name)]
    values = {name: getattr(told.story, name) for name in kept}
    return Story.model_validate({**values, "request": told.request, "sentences": told.sentences})
