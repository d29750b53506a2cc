"""What the routes of all nouns share: who may ask, pages of lists, and the forms of what is sent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from fastapi import Depends, Path, Query, Request, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from gossamer.api.security import BEARER, current, needs
from gossamer.errors import NotFound, Refused
from gossamer.registry import Found
from gossamer.storage.records import since_of
from gossamer.trail import Asker

if TYPE_CHECKING:
    from gossamer.service import Service

_MOMENT = re.compile(r"\d{1,12}(\.\d{1,9})?")

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

#: The largest number a store can be asked for.
MOST = 2**63 - 1
#: Rows of one page of a list.
MOST_ROWS = 200
#: Letters of a name, and of a URL.
LONGEST_NAME = 200
LONGEST_URL = 8_192


def service_of(request: Request) -> Service:
    """The service that an app is the door of."""
    service: Service = request.app.state.service
    return service


def scraper_of(service: Service, name: str) -> Found:
    """A scraper of the service. Raises NotFound, which says what there is."""
    found = service.catalog.get(name)
    if found is None:
        known = ", ".join(list(service.catalog.scrapers)[:20]) or "none"
        raise NotFound(f"there is no scraper {name[:80]!r}: there is {known}")
    return found


async def known_query(request: Request) -> None:
    """Refuse what a route does not take: a filter that is misspelled must not pass for no filter at all."""
    route = request.scope.get("route")
    known = sorted(each.alias for each in route.dependant.query_params) if isinstance(route, APIRoute) else []
    for name in request.query_params:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise Refused(f"there is no parameter {name[:80]!r} at this path: {takes}")


#: Who asks, for a route that only reads; that has to do with runs; that begins one; that changes how the service works.
Reads = Annotated[Asker, Depends(needs("read"))]
Runs = Annotated[Asker, Depends(needs("run"))]
Starts = Annotated[Asker, Depends(needs("run", limit="starts"))]
Rules = Annotated[Asker, Depends(needs("admin"))]

_reader = needs("read")


async def _maybe(
    request: Request, bearer: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)]
) -> Asker | None:
    known = request.headers.get("authorization") or await current(request) is not None
    return await _reader(request, bearer) if known else None


#: Who asks, if they say so, for a route that is open to everybody.
Anybody = Annotated[Asker | None, Depends(_maybe)]

#: What those who ask must have, for the document.
SCOPES = ((Reads, "read"), (Runs, "run"), (Starts, "run"), (Rules, "admin"))

Limit = Annotated[int, Query(ge=1, le=MOST_ROWS, description="Rows of this page.")]
Cursor = Annotated[str | None, Query(max_length=500, description="`next` of the page before; left out: the first.")]
RunId = Annotated[int, Path(ge=1, le=MOST, description="The number of a run.")]
Name = Annotated[str, Path(min_length=1, max_length=LONGEST_NAME)]


def filter_of(about: str, most: int = LONGEST_NAME) -> Any:
    """A text in the query that narrows a list down."""
    return Query(max_length=most, description=about)


#: Since when: an age, or a moment.
Since = Annotated[str | None, Query(max_length=50, description="An age like `6h` or `7d`, or seconds since 1970.")]


def moment_of(since: str | None) -> float | None:
    """The moment that somebody means. Raises ConfigError for what is none."""
    if not since:
        return None
    # Nobody means an age of three years when they write a number without a unit.
    if _MOMENT.fullmatch(since) and float(since) >= 1e8:
        return float(since)
    return since_of(since)


class Body(BaseModel):
    """What is sent to a route: nothing but the fields it names, each in its own form."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Rows(BaseModel, Generic[T]):
    """A page of a list."""

    rows: list[T]
    next: str | None = Field(description="Give it as `cursor` for the page after this one; null: this is the last.")


def answer(form: type[M], found: object) -> M:
    """What is sent back, from values of ours with the same names."""
    return form.model_validate(found, from_attributes=True)


def number_of(cursor: str | None) -> int | None:
    """A cursor that is the number of the last row. Raises Refused for what is none."""
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdigit() and 0 < int(cursor[:20]) <= MOST):
        raise Refused("this is no cursor: give what was `next` in the page before")
    return int(cursor)


class Done(BaseModel):
    """Something was done."""

    message: str = Field(description="What was done, in a sentence.")
    run: int | None = Field(default=None, description="The run it is about.")


#: Parameters of a run: JSON, and not much of it (`asking` says how much).
Params = Annotated[
    dict[Annotated[str, Field(max_length=100)], JsonValue],
    Field(default_factory=dict, max_length=100, description="Parameters of the scraper: a small JSON object."),
]
#: A number, or how people write it: `2/s`, `30s`, `none`.
Written = int | float | Annotated[str, Field(max_length=50)]


class Knobs(Body):
    """How a run behaves, as far as that may be said from here. Code, files, proxies and headers may not."""

    rate: Written | None = Field(
        default=None, description="Requests to one host: `2/s`, `30/min`; not faster than its file."
    )
    per_host: int | None = Field(default=None, ge=1, le=10_000, description="Requests to one host at the same time.")
    concurrency: int | None = Field(default=None, ge=1, le=10_000, description="Requests at the same time.")
    timeout: Written | None = Field(default=None, description="Seconds one request may take, or `30s`.")
    retries: int | None = Field(default=None, ge=0, le=1000, description="Times a failed request is tried again.")
    depth: int | None = Field(default=None, ge=0, le=MOST, description="Links to follow from a start URL.")
    max_pages: int | None = Field(default=None, ge=1, le=MOST, description="Stop after this many pages.")
    max_items: int | None = Field(
        default=None, ge=1, le=MOST, description="Stop after the page that brings this many items."
    )
    max_per_host: int | None = Field(default=None, ge=1, le=MOST, description="Pages walked of one host.")
    revisit: Written | None = Field(default=None, description="`always`, `never`, `changed`, or an age like `6h`.")
    max_wait: Written | None = Field(default=None, description="Longest a run waits for what is held, like `15m`.")
