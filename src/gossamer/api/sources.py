"""`/api/sources`: hosts, how they are treated, and what people rule about them."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from gossamer import asking, lists, urls
from gossamer.api.common import Body, Cursor, Limit, Reads, Rows, Rules, answer, filter_of, service_of
from gossamer.api.errors import answers
from gossamer.errors import NotFound, Refused
from gossamer.storage.desk import Desk

router = APIRouter(prefix="/api/sources", tags=["sources"])

Host = Annotated[str, Path(min_length=1, max_length=300, description="A host as runs name it: `example.org:8080`.")]


class Notice(BaseModel):
    """What a host asked for, or what was decided about it."""

    at: float
    kind: str
    seconds: float
    detail: str


class SourceRow(BaseModel):
    """A host in a list."""

    host: str
    last_hit: float | None
    interval: float = Field(description="Least seconds between two requests that it taught us; 0: none.")
    crawl_delay: float = Field(description="Least seconds that its robots.txt asks for; 0: none.")
    latency: float = Field(description="Its usual seconds to answer; 0: not known.")
    breaker: str = Field(description="`closed`: it is asked; `open`: it failed, and is left alone.")
    openings: int
    held_until: float | None
    why: str
    paused: bool
    budget: int | None = Field(description="The most pages of it that one run may walk.")
    ruled_by: str
    robots: str = Field(description="What its robots.txt is: `rules`, `none`, `closed` or `unknown`.")
    robots_at: float | None
    notice: Notice | None = Field(description="The last thing that was noticed about it.")


class RobotsVersion(BaseModel):
    """One version of a robots.txt."""

    origin: str
    fetched: float
    checked: float
    status: int
    text: str
    closed: str | None


class SourceDetail(BaseModel):
    """All there is to say about a host."""

    source: SourceRow
    robots: list[RobotsVersion] = Field(description="Newest first.")
    notices: list[Notice] = Field(description="Newest first.")


@router.get("", summary="Hosts, by name")
async def listed(
    request: Request,
    by: Reads,
    q: Annotated[str | None, filter_of("A text in the name.")] = None,
    paused: Annotated[bool | None, Query(description="Only those that are paused, or are not.")] = None,
    breaker: Annotated[Literal["closed", "open", "half_open"] | None, Query(description="Only those.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Rows[SourceRow]:
    """Pace, breaker, robots.txt and what people ruled."""
    desk = service_of(request).desk
    found = await lists.sources(desk, q=q, paused=paused, breaker=breaker, limit=limit, cursor=cursor)
    return answer(Rows[SourceRow], found)


@router.get("/{host}", summary="One host", responses=answers(404))
async def one(request: Request, host: Host, by: Reads) -> SourceDetail:
    """With every version of its robots.txt, and what was noticed about it."""
    return await _detail(service_of(request).desk, host)


async def _detail(desk: Desk, host: str) -> SourceDetail:
    found = await lists.source(desk, host)
    if found is None:
        raise NotFound(f"no run has met the host {host[:80]!r}: /api/sources lists those there are")
    return answer(SourceDetail, found)


class Ruled(Body):
    """What is to be different; what is left out stays."""

    paused: bool | None = Field(default=None, description="true: it is left alone, whatever runs want of it.")
    budget: int | None = Field(default=None, ge=1, le=2**31 - 1, description="Most pages of one run; null: no limit.")


@router.patch("/{host}", summary="Pause a host, or limit its pages", responses=answers(404))
async def rule(request: Request, host: Host, body: Ruled, by: Rules) -> SourceDetail:
    """A pause holds at once, a budget for runs that begin later; also of a host that no run has met yet."""
    service = service_of(request)
    given = body.model_dump(exclude_unset=True)
    if not given or given.get("paused", False) is None:
        raise Refused("nothing is to be changed: give paused (true or false) or budget")
    if "paused" in given:
        await asking.pause_host(service.desk, host, given["paused"], by=by)
    if "budget" in given:
        await asking.set_budget(service.desk, host, given["budget"], by=by)
    service.poke()
    # However it was spelled: it was written down as runs name it.
    return await _detail(service.desk, urls.host(urls.absolute(f"http://{host.strip()}/")))
