"""`/api/events/stream`: what happens, as it happens, by server-sent events."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import StreamingResponse

from gossamer.api.common import Reads, service_of
from gossamer.api.errors import answers
from gossamer.errors import NotPossible
from gossamer.live import LiveEvent

if TYPE_CHECKING:
    from gossamer.service import Service

router = APIRouter(prefix="/api/events", tags=["events"])

#: Seconds after which a stream ends, to be opened anew: a token that was revoked meanwhile opens none.
LONGEST = 600.0
#: Clients at the same time.
MOST_CLIENTS = 200
_SENT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A stream of events that ends after ten minutes; clients of server-sent events open it anew.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


@router.get(
    "/stream",
    summary="Live events",
    response_class=StreamingResponse,
    responses=_SENT | answers(s409="Too many clients listen already."),
)
async def stream(request: Request, by: Reads) -> StreamingResponse:
    """Each event has a kind (`event:`), a number (`id:`) and JSON (`data:`); a comment every 15 s shows life.

    Nothing is repeated: who was away asks `/api/runs` and `/api/logs` what was missed. Whoever reads too slowly
    misses events rather than keep them in our memory.
    """
    state = request.app.state
    if getattr(state, "listeners", 0) >= MOST_CLIENTS:
        raise NotPossible(f"{MOST_CLIENTS} clients listen already: close one, or ask /api/runs now and then")
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(_told(service_of(request), state), media_type="text/event-stream", headers=headers)


async def _told(service: Service, state: Any) -> AsyncIterator[bytes]:
    state.listeners = getattr(state, "listeners", 0) + 1
    until = time.monotonic() + LONGEST
    try:
        yield b"retry: 2000\n\n"
        async with service.live.listen() as events:
            while time.monotonic() < until:
                event = await anext(events)
                yield b": still here\n\n" if event is None else _line(event)
    finally:
        state.listeners -= 1


def _line(event: LiveEvent) -> bytes:
    """One event. JSON has no line ends of its own, and a kind is a word of ours."""
    return b"event: %s\nid: %d\ndata: %s\n\n" % (event.kind.encode(), event.id, msgspec.json.encode(event.data))
