"""What every request to the API passes on its way in and out: one form of path, a cap on bodies, safe headers."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gossamer.api.errors import problem, unexpected

#: Bytes of body that a path takes; a list of URLs to submit is longer than anything else.
LARGEST = 1 << 20
LARGER: Mapping[str, int] = {"/api/urls/batch": 24 << 20}
#: Paths that end in a slash, as they always did; all others end in none.
SLASHED = "/api/scrapers/"
#: Answers are for who asked, now; a browser makes nothing else of them than what they are.
_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
]


class Layers:
    """Around the whole app; what is not the API's passes untouched."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope.get("path", "")
        if scope["type"] != "http" or not (path == "/api" or path.startswith("/api/")):
            await self._app(scope, receive, send)
            return
        scope = {**scope, "path": _canonical(path)}
        began = False

        async def answer(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
            await send(message)

        try:
            await self._app(scope, _capped(scope, receive), answer)
        except HTTPException as error:  # raised where nobody has begun to handle errors
            await problem(error.status_code, str(error.detail))(scope, receive, answer)
        except Exception as error:  # noqa: BLE001 - whatever it is: a person gets a sentence, the log gets the rest
            made = unexpected(error, path)
            if not began:
                await made(scope, receive, answer)


def _canonical(path: str) -> str:
    """The form of a path that has a route: whoever adds or forgets a slash is understood, without a redirect."""
    bare = path.rstrip("/")
    return f"{bare}/" if path.startswith(SLASHED) and bare != SLASHED.rstrip("/") else bare


def _capped(scope: Scope, receive: Receive) -> Receive:
    """The body, as far as it is read, up to what its path takes."""
    most = LARGER.get(scope["path"], LARGEST)
    told = dict(scope["headers"]).get(b"content-length", b"")
    # A length of more digits than any body has is not worth converting.
    declared = (int(told) if len(told) < 16 else most + 1) if told.isdigit() else 0
    read = 0

    async def receive_some() -> Message:
        nonlocal read
        message = await receive()
        if message["type"] == "http.request":
            read += len(message.get("body", b""))
        if read > most or (declared > most and message["type"] == "http.request"):
            raise HTTPException(413, f"the body is larger than {most:,} bytes: send it in several requests")
        return message

    return receive_some
