"""Who asks: a program with a token, or a person who logged in and looks. Each route says which scope it needs."""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

from fastapi import FastAPI, HTTPException, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import HTTPConnection

from gossamer.accounts import SCOPES, Session, may
from gossamer.api.limits import Limits
from gossamer.settings import Place
from gossamer.trail import Asker

if TYPE_CHECKING:
    from gossamer.service import Service

#: The cookie of those who are logged in. The secret in it is in no URL, no page and no log.
COOKIE = "gossamer_session"
#: Methods that change nothing.
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
#: Where the guard puts the service, so that it is found from apps that are mounted in ours too.
SERVICE = "gossamer.service"

BEARER = HTTPBearer(
    auto_error=False,
    scheme_name="token",
    description=(
        "A token, made with `gossamer token create NAME --scope read|run|admin`. It goes into the header "
        "`Authorization: Bearer gsm_...`, never into the URL. Each scope holds the ones before it."
    ),
)
_HOST = re.compile(r"(?P<name>\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::(?P<port>[0-9]{1,5}))?")


def install(app: FastAPI) -> None:
    """Guard an app, and let people log in. To be called when all else is added: the guard must be outermost."""
    from gossamer.api import login
    from gossamer.api.guard import Guard

    app.include_router(login.router)
    app.state.limits = Limits()
    app.add_middleware(Guard)


def needs(scope: str, *, limit: str | None = None, open_on_loopback: bool = False) -> Callable[..., Awaitable[Asker]]:
    """A dependency that gives who asks, if they have a scope; else the answer is 401 or 403, with a sentence.

    What changes something counts for the limit on writes, and for `limit` too if one is named. `open_on_loopback`:
    nobody is asked who they are where only this machine can ask.
    """
    assert scope in SCOPES

    async def asker(
        request: Request, bearer: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)]
    ) -> Asker:
        if (
            open_on_loopback
            and not request.headers.get("authorization")
            and private(service_of(request).settings.place)
        ):
            return Asker("anyone", "api", address(request))
        by, has = await _who(request, bearer)
        if not may(has, scope):
            raise HTTPException(403, _lacking(by, has, scope))
        _turn(request, by, limit)
        return by

    return asker


async def _who(request: Request, bearer: HTTPAuthorizationCredentials | None) -> tuple[Asker, str]:
    """Who asks, and their scope. A header that is no good is not made up for by a cookie."""
    if request.headers.getlist("authorization"):
        token = None
        if bearer is not None and len(request.headers.getlist("authorization")) == 1:
            token = await service_of(request).accounts.check_token(bearer.credentials)
        if token is None:
            raise _unknown("this token is unknown, expired or revoked: `gossamer token create` makes another", bad=True)
        return Asker(token.name, "api", address(request)), token.scope
    session = await current(request)
    if session is None:
        raise _unknown(
            "this needs a token: send it as `Authorization: Bearer gsm_...` (`gossamer token create` makes one), "
            "or log in at /login to look at it in a browser"
        )
    if request.method not in SAFE:
        raise _unknown("who is logged in may only look here: to change something, send a token in the header")
    return Asker(session.name, "dashboard", address(request)), session.scope


def _unknown(why: str, *, bad: bool = False) -> HTTPException:
    told = 'Bearer realm="gossamer"' + (', error="invalid_token"' if bad else "")
    return HTTPException(401, why, {"WWW-Authenticate": told})


def _lacking(by: Asker, has: str, scope: str) -> str:
    if by.via == "api":
        better = f"`gossamer token create NAME --scope {scope}` makes one that has it"
    else:
        better = "ask an admin for it"
    return f"this needs the scope {scope}, and {by.name} has {has}: {better}"


def _turn(request: Request, by: Asker, limit: str | None) -> None:
    """Take a turn of the limits that hold for a request; 429 if there is none."""
    if request.method in SAFE:
        return
    limits: Limits = request.app.state.limits
    for name in ("writes", limit):
        wait = limits.take(name, f"{by.via} {by.name}") if name else 0.0
        if name and wait:
            raise HTTPException(429, limits.told(name, wait), {"Retry-After": str(max(1, math.ceil(wait)))})


# -- sessions ----------------------------------------------------------------------------------------------------


async def current(connection: HTTPConnection) -> Session | None:
    """Who is logged in, if somebody is. For pages: what they may do is `session.scope`."""
    secret = connection.cookies.get(COOKIE, "")
    return await service_of(connection).accounts.check_session(secret) if secret else None


def asker(connection: HTTPConnection, session: Session) -> Asker:
    """Who asks by way of a page."""
    return Asker(session.name, "dashboard", address(connection))


# -- where a request comes from ----------------------------------------------------------------------------------


def service_of(connection: HTTPConnection) -> Service:
    """The service that an app is the door of."""
    found: Service = connection.scope.get(SERVICE) or connection.app.state.service
    return found


def address(connection: HTTPConnection) -> str:
    """The address of whoever asks. What a header says of it counts only if a proxy of ours writes it.

    Of several, the last was added by the proxy in front of us; the ones before may be invented.
    """
    peer = connection.client.host if connection.client else ""
    if not service_of(connection).settings.place.behind_proxy:
        return peer
    told = last(connection, "x-forwarded-for")
    told = told[1:].partition("]")[0] if told.startswith("[") else told
    told = told.partition(":")[0] if told.count(":") == 1 else told
    try:
        return str(ipaddress.ip_address(told))
    except ValueError:
        return peer


def secure(connection: HTTPConnection) -> bool:
    """Whether the browser speaks TLS, with us or with the proxy in front of us."""
    if connection.url.scheme in ("https", "wss"):
        return True
    if not service_of(connection).settings.place.behind_proxy:
        return False
    told = last(connection, "x-forwarded-proto").lower()
    # A proxy that does not say: then the browser does, where it sends a form.
    return told == "https" if told else connection.headers.get("origin", "").startswith("https://")


def last(connection: HTTPConnection, header: str) -> str:
    """What the nearest proxy wrote into a header that each of them adds to."""
    values = connection.headers.getlist(header)
    return values[-1].rpartition(",")[2].strip() if values else ""


def split_host(text: str) -> tuple[str, int | None] | None:
    """Name and port, as they stand in a Host header; None for what is not one.

    >>> split_host("Example.org:8600"), split_host("[::1]"), split_host("evil/@")
    (('example.org', 8600), ('[::1]', None), None)
    """
    match = _HOST.fullmatch(text)
    if match is None:
        return None
    return match["name"].lower().rstrip("."), int(match["port"]) if match["port"] else None


def on_loopback(place: Place) -> bool:
    """Whether a service listens where only this machine can reach it."""
    name = place.listen.rpartition(":")[0].strip("[]").lower()
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def private(place: Place) -> bool:
    """Whether nobody on another machine can ask, not even by way of a proxy."""
    return on_loopback(place) and not place.behind_proxy
