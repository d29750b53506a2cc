"""`/healthz`, `/readyz`, `/metrics`: for whoever watches over the process."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, Response

from gossamer import metrics
from gossamer.api.common import Anybody, service_of
from gossamer.api.security import needs
from gossamer.trail import Asker

router = APIRouter(tags=["health"])

#: Prometheus on the same machine needs no token, where nobody else can ask.
Watches = Annotated[Asker, Depends(needs("read", open_on_loopback=True))]


class Alive(BaseModel):
    """The process lives."""

    status: Literal["ok"]


class Check(BaseModel):
    """One thing a service needs."""

    ok: bool
    told: str


class Ready(BaseModel):
    """Whether the service can do its work."""

    status: Literal["ready", "not ready"]
    checks: dict[str, Check] | None = Field(default=None, description="What is looked at; for who has a token.")


@router.get("/healthz", summary="Whether the process lives")
async def healthz() -> Alive:
    """It answers: it lives. Nothing else is looked at, so that a busy store gets nobody killed."""
    return Alive(status="ok")


@router.get(
    "/readyz",
    summary="Whether the service can do its work",
    response_model=Ready,
    response_model_exclude_none=True,
    responses={503: {"model": Ready, "description": "It cannot: see `checks`, with a token."}},
)
async def readyz(request: Request, by: Anybody) -> Any:
    """The store answers, a process that walks runs was heard of within ten seconds, and there is room on the disk.

    In a cluster, the broker takes work for the workers too.
    """
    service = service_of(request)
    found = await metrics.health(service.desk, service.trouble)
    told = Ready(status="ready" if found.ready else "not ready")
    if by is not None:
        told.checks = {name: Check(ok=each.ok, told=each.told) for name, each in found.checks.items()}
    return JSONResponse(told.model_dump(exclude_none=True), 200 if found.ready else 503)


@router.get(
    "/metrics",
    summary="Metrics, as Prometheus reads them",
    response_class=Response,
    responses={200: {"description": "Metrics.", "content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics_told(request: Request, by: Watches) -> Response:
    """Needs a token with scope read, unless the service listens on loopback only."""
    service = service_of(request)
    told = await metrics.exposition(service.desk, request.app.state.counts, service.events)
    return Response(told, media_type=metrics.CONTENT_TYPE)
