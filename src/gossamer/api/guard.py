"""The guard at the door: what a browser can be tricked into is refused before any route hears of it.

A page of a stranger, open in the browser of somebody who is logged in, can send requests to us: under a name of its own
that leads to our address (DNS rebinding), with our cookies (CSRF), over a socket (which browsers let everybody open).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gossamer.api import layers, security
from gossamer.api.errors import problem, unexpected
from gossamer.errors import StoreError
from gossamer.settings import Place

#: Bytes of a body, where the path does not take more.
LARGEST = 8 << 20
#: Where NiceGUI speaks with its pages, over sockets or, where those do not pass, over requests. It lets all origins in.
SOCKETS = "/_nicegui_ws"
#: Files that anybody may see and browsers may keep.
STATIC = "/_nicegui/"
#: Where programs ask.
API = "/api/"
#: Forms that are sent before anybody has a cookie.
FORMS = ("/login", "/logout")

# NiceGUI compiles templates and runs handlers in the browser, from scripts in the page: it does not work without
# `unsafe-inline` and `unsafe-eval`. What is left forbids scripts, images and connections of strangers, and frames.
CSP = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)
# With `no-referrer`, browsers would send forms with `Origin: null`.
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"content-security-policy", CSP.encode()),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
_PORTS = {"http": 80, "https": 443}
_OPENED = '0{"sid":"","upgrades":[],"pingInterval":25000,"pingTimeout":20000}'
_NOT_KNOWN = '44{"message":"Implicit handshake failed"}'
#: The code of a socket that is closed because a rule wants it.
_POLICY = 1008
#: Seconds that a page has to say hello before it is told to load anew.
_HELLO = 10.0


class Guard:
    """Around the whole app, sockets and mounted apps included."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        scope[security.SERVICE] = scope["app"].state.service
        connection = HTTPConnection(scope)
        place: Place = scope["app"].state.service.settings.place
        refused = _wrong_host(connection, place) or _wrong_origin(connection, place)
        if refused is None and _speaks_with_pages(scope) and not await _logged_in(connection):
            refused = (401, "nobody is logged in here: log in at /login")
        if scope["type"] == "websocket":
            await self._socket(connection, receive, send, refused)
        else:
            await self._request(scope, receive, send, refused)

    async def _request(self, scope: Scope, receive: Receive, send: Send, refused: tuple[int, str] | None) -> None:
        began = gone = False

        async def hear() -> Message:
            nonlocal gone
            message = await receive()
            gone = gone or message["type"] == "http.disconnect"
            return message

        async def answer(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                message = {**message, "headers": _dressed(message.get("headers", ()), scope["path"])}
            await send(message)

        most = max(LARGEST, layers.LARGER.get(scope["path"].rstrip("/"), 0))
        if refused is None and _declared(scope) > most:
            refused = (413, _too_large(most))
        if refused is not None:
            # What else is sent is read and thrown away: whoever sends it would not hear us if we hung up.
            await problem(*refused)(scope, receive, answer)
            return
        try:
            await self._app(scope, _capped(hear, most), answer)
        except HTTPException as error:  # raised by a body that is too large, where nobody handles errors
            if not began:
                await problem(error.status_code, str(error.detail))(scope, receive, answer)
        except Exception as error:  # noqa: BLE001 - whatever it is: a person gets a sentence, the log gets the rest
            if gone and not began:
                return  # whoever asked has left: what could not be answered is no mistake
            made = unexpected(error, scope["path"])
            if not began:
                await made(scope, receive, answer)

    async def _socket(
        self, connection: HTTPConnection, receive: Receive, send: Send, refused: tuple[int, str] | None
    ) -> None:
        if refused is not None:
            await receive()
            if refused[0] == 401 and connection.scope["path"].startswith(f"{SOCKETS}/socket.io"):
                await _send_home(receive, send)
            await send({"type": "websocket.close", "code": _POLICY})
            return

        async def hear() -> Message:
            """The next message, as long as the session goes on. Pages send a sign of life every few seconds."""
            message = await receive()
            if message["type"] == "websocket.receive" and not await _logged_in(connection):
                await send({"type": "websocket.close", "code": _POLICY})
                return {"type": "websocket.disconnect", "code": _POLICY}
            return message

        await self._app(connection.scope, hear, send)


async def _logged_in(connection: HTTPConnection) -> bool:
    try:
        return await security.current(connection) is not None
    except StoreError:  # who cannot be known is not let in
        return False


async def _send_home(receive: Receive, send: Send) -> None:
    """Have an open page load anew, which leads to the log-in: else what it shows would stay there for ever.

    It is said in the words of socket.io: we open, the page connects, and what it hears then makes it load. A socket
    that is refused instead would be tried again and again. Nothing that is sent here reaches NiceGUI.
    """
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.send", "text": _OPENED})
    try:
        async with asyncio.timeout(_HELLO):
            heard = await receive()
    except TimeoutError:
        return
    if heard["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": _NOT_KNOWN})


def _speaks_with_pages(scope: Scope) -> bool:
    """Whether it is a page of the dashboard that speaks with us: nobody else has sockets."""
    path: str = scope["path"]
    return scope["type"] == "websocket" or path.startswith(SOCKETS)


def _wrong_host(connection: HTTPConnection, place: Place) -> tuple[int, str] | None:
    """On loopback, somebody who asks for another name was led here by that name's owner."""
    told = connection.headers.getlist("host")
    host = security.split_host(told[0]) if len(told) == 1 else None
    if host is None:
        return 400, "the Host header cannot be used: send one, with the name of this service"
    if not security.private(place):
        return None
    name = host[0]
    own = place.listen.rpartition(":")[0].lower()
    if name in ("localhost", "127.0.0.1", "[::1]", own) or name.endswith(".localhost"):
        return None
    return 400, (
        f"this service listens on loopback, where it is not called {name}: ask for localhost, or set behind_proxy if a "
        "proxy in front of it forwards that name"
    )


def _wrong_origin(connection: HTTPConnection, place: Place) -> tuple[int, str] | None:
    """What a browser does with our cookies for the page of somebody else is not what the person wants."""
    scope = connection.scope
    pages = _speaks_with_pages(scope)
    if not pages:
        if scope["method"] in security.SAFE:
            # Pages may be linked to from elsewhere. What the API says is for pages of ours, or for who has a token.
            cookies = scope["path"].startswith(API) and security.COOKIE in connection.cookies
        else:
            cookies = "cookie" in connection.headers or scope["path"] in FORMS
        if not cookies:
            return None
    told = connection.headers.getlist("origin")
    site = connection.headers.get("sec-fetch-site", "same-origin")
    same = all(_same(origin, connection, place) for origin in told)
    if same and site in ("same-origin", "none"):
        return None
    return 403, "this came from a page of another site: open this service in a tab of its own and try again"


def _same(origin: str, connection: HTTPConnection, place: Place) -> bool:
    """Whether an origin is the one that this request asks for."""
    told = (security.last(connection, "x-forwarded-host") if place.behind_proxy else "") or connection.headers["host"]
    asked = security.split_host(told)
    try:
        parts = urlsplit(origin)
        theirs = security.split_host(parts.netloc)
    except ValueError:
        return False
    if parts.scheme not in _PORTS or theirs is None or asked is None:
        return False
    if security.secure(connection) and parts.scheme != "https":
        return False
    usual = _PORTS[parts.scheme]
    return theirs[0] == asked[0] and (theirs[1] or usual) == (asked[1] or usual)


def _dressed(headers: Iterable[tuple[bytes, bytes]], path: str) -> list[tuple[bytes, bytes]]:
    """Headers of an answer, with those that it does not say otherwise."""
    given = list(headers)
    names = {name.lower() for name, _ in given}
    more = [*_HEADERS] if path.startswith(STATIC) else [*_HEADERS, (b"cache-control", b"no-store")]
    return given + [(name, value) for name, value in more if name not in names]


def _declared(scope: Scope) -> int:
    told = dict(scope["headers"]).get(b"content-length", b"")
    # A length of more digits than any body has is not worth converting.
    return (int(told) if len(told) < 16 else 1 << 60) if told.isdigit() else 0


def _capped(receive: Receive, most: int) -> Receive:
    """The body, as far as it is read."""
    read = 0

    async def receive_some() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            raise HTTPException(413, _too_large(most))
        return message

    return receive_some


def _too_large(most: int) -> str:
    return f"the body is larger than {most:,} bytes: send it in several requests"
