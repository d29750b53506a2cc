"""The door of the pages: whoever is not logged in is sent to the log-in page.

Around all of the app stands the guard of the API (`api/guard.py`), with its rules for origins, sockets and headers.
"""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gossamer.api import security

#: Files that are the same for everybody.
OPEN = ("/_nicegui/", "/_gossamer/", "/favicon.ico")
#: Where pages stay connected: by a socket, or by requests.
SOCKETS = "/_nicegui_ws/"
#: The longest place that is come back to after logging in.
LONGEST_NEXT = 2_000


class Guard:
    """Around NiceGUI's app."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = await self._refuse(scope) if scope["type"] in ("http", "websocket") else None
        if refused is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await refused(scope, receive, send)
        else:
            await receive()
            await send({"type": "websocket.close", "code": 1008})

    async def _refuse(self, scope: Scope) -> Response | None:
        """What somebody gets who may not come in."""
        path: str = scope["path"]
        if path.startswith(OPEN):
            return None
        if path == "/api" or path.startswith("/api/"):
            return JSONResponse({"error": f"there is nothing at {path[:200]}: /docs lists what there is"}, 404)
        talks = scope["type"] == "websocket" or path.startswith(SOCKETS)
        if not talks and scope["method"] not in ("GET", "HEAD"):
            return JSONResponse({"error": "pages can only be read"}, 405, {"Allow": "GET, HEAD"})
        if await security.current(HTTPConnection(scope)) is not None:
            return None
        if talks:
            return JSONResponse({"error": "nobody is logged in here: log in at /login"}, 401)
        return RedirectResponse(login(path, scope.get("query_string", b"").decode("latin-1")), 303)


def login(path: str, query: str = "") -> str:
    """The log-in page, which leads back to a place.

    >>> login("/runs", "state=failed")
    '/login?next=/runs%3Fstate%3Dfailed'
    """
    place = f"{path}?{query}" if query else path
    return "/login" if place == "/" else f"/login?next={quote(place[:LONGEST_NEXT], safe='/')}"
