"""`/api/proxies`: the proxies that the settings and the scrapers name, and which of them are alive."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from gossamer import proxy_pool
from gossamer.api.common import Cursor, Limit, Reads, Rows, Runs, answer, service_of
from gossamer.api.errors import answers
from gossamer.errors import NotPossible

router = APIRouter(prefix="/api/proxies", tags=["proxies"])


class ProxyRow(BaseModel):
    """A proxy, without its credentials."""

    of: str = Field(description="`settings`, or the scraper that brings it.")
    label: str = Field(description="The proxy without user and password.")
    country: str | None
    ok: bool | None = Field(description="Whether it answered; null: nobody asked it.")
    seconds: float | None
    status: int | None
    why: str = Field(description="Why it cannot be used.")


@router.get("", summary="The proxies there are")
async def listed(request: Request, by: Reads, limit: Limit = 100, cursor: Cursor = None) -> Rows[ProxyRow]:
    """Proxies come from files and the environment only. Nothing is asked for here."""
    service = service_of(request)
    found = await proxy_pool.page(service.settings, service.catalog, limit=limit, cursor=cursor)
    return answer(Rows[ProxyRow], found)


@router.post("/check", summary="Ask a page through each proxy", responses=answers(s409="A check is under way."))
async def check(request: Request, by: Runs) -> Rows[ProxyRow]:
    """Asks for one page of example.com through each of them, within a minute."""
    service, state = service_of(request), request.app.state
    if getattr(state, "checking_proxies", False):
        raise NotPossible("the proxies are being checked already: wait for that to end")
    state.checking_proxies = True
    try:
        found = await proxy_pool.check(service.settings, service.catalog)
    finally:
        state.checking_proxies = False
    return answer(Rows[ProxyRow], {"rows": found, "next": None})
