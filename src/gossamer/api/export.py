"""`/api/export`: items and pages, sent while they are read, so that any number of them needs little memory."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from gossamer import runs
from gossamer.api.common import MOST, Reads, filter_of, service_of
from gossamer.api.errors import answers
from gossamer.errors import NotFound, NotPossible, Refused
from gossamer.storage import exports
from gossamer.storage.desk import Desk
from gossamer.storage.records import Choice, since_of

router = APIRouter(prefix="/api/export", tags=["export"])

#: Exports that go on at the same time: each reads the whole store.
MOST_AT_ONCE = 4
#: Bytes of a file that are sent at once.
PIECE = 256 << 10
MEDIA = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
_SENT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The records, in the format that was asked for.",
        "content": {media.partition(";")[0]: {"schema": {"type": "string"}} for media in MEDIA.values()},
    }
}


class Export(StreamingResponse):
    """An answer whose source is closed when it was sent, or when nobody reads it any more."""

    def __init__(self, first: bytes, source: AsyncGenerator[bytes, None], media_type: str, name: str) -> None:
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        super().__init__(_all(first, source), media_type=media_type, headers=headers)
        self._source = source

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._source.aclose()


@router.get(
    "",
    summary="Items or pages as JSON lines, CSV or Parquet",
    response_class=StreamingResponse,
    responses=_SENT | answers(404, s409="Too many exports go on: wait for one to end."),
)
async def export(
    request: Request,
    by: Reads,
    what: Literal["items", "pages"] = "items",
    style: Annotated[Literal["jsonl", "csv", "parquet"], Query(alias="format")] = "jsonl",
    scraper: Annotated[str | None, filter_of("Only of this scraper.")] = None,
    run: Annotated[int | None, Query(ge=1, le=MOST, description="Only of this run.")] = None,
    kind: Annotated[str | None, filter_of("Only items of this kind.")] = None,
    since: Annotated[str | None, filter_of("Only what is new or changed since: `6h`, `1d`.")] = None,
    where: Annotated[str | None, filter_of("Only what fulfils a condition: `price > 10 and name ~ 'x'`.", 2000)] = None,
    fields: Annotated[str | None, filter_of("Only these fields, in this order: `title,offers.price`.", 2000)] = None,
    gone: Annotated[bool, Query(description="With items that are gone, marked by `_gone`.")] = False,
    held: Annotated[bool, Query(description="What the drift gate holds back of `run`, instead.")] = False,
    source: Annotated[bool, Query(description="With where each item came from, as `_fields`.")] = False,
) -> Export:
    """Written as it is read: it begins at once, and a million records need no more memory than a thousand.

    Filters are those of `gossamer export`. The file is named by the service; nothing is written to its disk but, for
    Parquet, a file that is gone when it was sent.
    """
    service = service_of(request)
    choice = Choice(
        what=what,
        run=run,
        scraper=scraper or None,
        kind=kind or None,
        since=since_of(since or None),
        where=where or None,
        fields=tuple(dict.fromkeys(name.strip() for name in (fields or "").split(",") if name.strip())),
        gone=gone,
        held=held,
        source=source,
    )
    await _check(service.desk, choice, style)
    store = service.settings.place.store
    made = _counted(request.app.state, _parquet(store, choice) if style == "parquet" else _text(store, choice, style))
    # What is wrong with the question is known before the answer begins.
    first = await anext(made, b"")
    return Export(first, made, MEDIA[style], f"{what}.{style}")


async def _all(first: bytes, source: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in source:
        yield piece


async def _check(desk: Desk, choice: Choice, style: str) -> None:
    if choice.held and choice.run is None:
        raise Refused("held needs run: say which run's items, as in ?held=true&run=12")
    if choice.what == "pages" and (choice.kind or choice.gone or choice.held or choice.source):
        raise Refused("kind, gone, held and source are for items: leave them out, or say what=items")
    if style == "parquet" and find_spec("pyarrow") is None:
        raise Refused("Parquet needs gossamer[parquet] where the service runs: ask for csv or jsonl")
    if choice.run is not None and await desk.row("select 1 from run where id = :run", run=choice.run) is None:
        raise NotFound(f"there is no run {choice.run}: look at /api/runs")


async def _counted(state: Any, source: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """A source, unless there are too many of them already."""
    if getattr(state, "exports", 0) >= MOST_AT_ONCE:
        raise NotPossible(f"{MOST_AT_ONCE} exports go on already: wait for one to end")
    state.exports = getattr(state, "exports", 0) + 1
    try:
        async for piece in source:
            yield piece
    finally:
        state.exports -= 1
        await source.aclose()


async def _text(store: str, choice: Choice, style: str) -> AsyncGenerator[bytes, None]:
    async with runs.open_store(store) as opened:
        async for piece in exports.pieces(opened, choice, style):
            yield piece.encode()


async def _parquet(store: str, choice: Choice) -> AsyncGenerator[bytes, None]:
    """Its end names its beginning, so it is written whole first: into a file, which needs no memory."""
    with tempfile.TemporaryDirectory(prefix="gossamer-export-") as folder:
        output = Path(folder) / "export.parquet"
        async with runs.open_store(store) as opened:
            await exports.write(opened, choice, "parquet", output)
        with output.open("rb") as file:
            while piece := await asyncio.to_thread(file.read, PIECE):
                yield piece
