"""`/api/alerts`: what people should hear of, and whether somebody has."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field

from gossamer import alerts
from gossamer.api.common import MOST, Cursor, Limit, Reads, Rows, Runs, answer, number_of, service_of
from gossamer.api.errors import answers

router = APIRouter(prefix="/api/alerts", tags=["alerts"])


class DispatchRow(BaseModel):
    """An alert on its way to one receiver."""

    target: str
    state: str = Field(description="`waiting`, `sent` or `failed`.")
    attempts: int
    at: float = Field(description="When it is tried next, or was sent or given up.")
    error: str


class AlertRow(BaseModel):
    """Something that people should hear of."""

    id: int
    kind: str
    scraper: str
    run: int | None
    at: float
    title: str
    body: str
    seen: float | None = Field(description="When somebody acknowledged it.")
    dispatches: list[DispatchRow]


class Seen(BaseModel):
    """Alerts that are acknowledged."""

    seen: int = Field(description="How many were not before.")
    message: str


@router.get("", summary="Alerts, the newest first")
async def listed(
    request: Request,
    by: Reads,
    unseen: Annotated[bool, Query(description="Only those that nobody has acknowledged.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Rows[AlertRow]:
    """With what became of each at each receiver."""
    before = number_of(cursor)
    found = await alerts.listed(service_of(request).desk, before=before, limit=limit, unseen_only=unseen)
    return answer(Rows[AlertRow], {"rows": found, "next": str(found[-1].id) if len(found) == limit else None})


@router.post("/ack", summary="Acknowledge all alerts")
async def acknowledge_all(request: Request, by: Runs) -> Seen:
    """They stay in the list, and are not shown as open any more."""
    n = await alerts.acknowledge(service_of(request).desk, None, by=by)
    return Seen(seen=n, message=f"{n:,} alerts are acknowledged")


@router.post("/{alert}/ack", summary="Acknowledge an alert", responses=answers(404))
async def acknowledge(request: Request, alert: Annotated[int, Path(ge=1, le=MOST)], by: Runs) -> Seen:
    """It stays in the list, and is not shown as open any more."""
    n = await alerts.acknowledge(service_of(request).desk, alert, by=by)
    return Seen(seen=n, message=f"alert {alert} is acknowledged" if n else f"alert {alert} was acknowledged before")
