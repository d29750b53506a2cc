"""The app: every route, one form of error, and the document that describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_type_hints

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse
from starlette.routing import compile_path

from gossamer import __version__
from gossamer.api import (
    alerts,
    changes,
    cluster,
    configuration,
    docs,
    events,
    export,
    figures,
    health,
    items,
    logs,
    proxies,
    runs,
    schedules,
    scrapers,
    security,
    settings,
    sources,
    tokens,
    urls,
    users,
    why,
)
from gossamer.api.common import SCOPES, known_query
from gossamer.api.errors import MEANINGS, handle_errors
from gossamer.api.layers import Layers
from gossamer.metrics import ApiCounts, Watched

if TYPE_CHECKING:
    from gossamer.service import Service

ABOUT = """\
Everything the dashboard does, for programs. Send a token with each request: `Authorization: Bearer gsm_...`. \
`gossamer token create NAME --scope read` makes one; the scopes are `read`, `run` and `admin`, each with those before.

An error is `{"error": "one sentence, with what to do next"}`, perhaps with `details` that name the fields. \
What was sent in a wrong form is 400, never 422.

Lists come in pages: `?limit=50`, then `?cursor=` with what was `next` in the page before. Times are in seconds since \
1970."""
ROUTERS: tuple[APIRouter, ...] = (
    scrapers.router,
    configuration.router,
    runs.router,
    cluster.router,
    items.router,
    changes.router,
    urls.router,
    why.router,
    sources.router,
    schedules.router,
    figures.router,
    alerts.router,
    logs.router,
    events.router,
    export.router,
    proxies.router,
    settings.router,
    tokens.router,
    users.router,
    health.router,
)
#: What older programs and libraries ask, sometimes with parameters of their own (`?fresh`, `?_=1700000000`).
LENIENT = (scrapers.router, configuration.router, events.router, health.router)
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


def make_app(service: Service) -> FastAPI:
    """The app of a service. What else is to be served is mounted on it afterwards."""
    app = FastAPI(
        title="Gossamer",
        version=__version__,
        description=ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: f"{route.endpoint.__module__.rpartition('.')[2]}_{route.name}",
    )
    app.state.service = service
    app.state.counts = ApiCounts()
    handle_errors(app)
    for router in ROUTERS:
        app.include_router(router, dependencies=[] if router in LENIENT else [Depends(known_query)])
    _describe(app)
    app.add_api_route("/api/{rest:path}", _nothing_here, methods=list(_METHODS), include_in_schema=False)
    app.add_middleware(Watched, counts=app.state.counts)
    app.add_middleware(Layers)
    security.install(app)
    return app


def _describe(app: FastAPI) -> None:
    """The document and its page. They say what every service can do, and nothing of this one: they are open."""

    async def document() -> dict[str, Any]:
        return described(app)

    async def page() -> HTMLResponse:
        headers = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
        return HTMLResponse(docs.page(described(app)), headers=headers)

    app.add_api_route("/openapi.json", document, include_in_schema=False)
    app.add_api_route("/docs", page, include_in_schema=False)


def described(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document: made once, with the answers that every route can give."""
    if app.openapi_schema is None:
        document = app.openapi()
        scopes = _scopes()
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                _complete(path, method, operation)
                operation["x-scope"] = scopes.get((method, path), "none")
        schemas = document["components"]["schemas"]
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
    return app.openapi()


def _complete(path: str, method: str, operation: dict[str, Any]) -> None:
    """Add what is true of every route: it may be refused, limited, or fail."""
    given = operation["responses"]
    given.pop("422", None)
    common = [500, 503] if path.startswith("/api/") else []
    if operation.get("security"):
        common += [400, 401, 403, 503]
        common += [429] if method != "get" else []
    common += [413] if "requestBody" in operation else []
    schema = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for status in common:
        given.setdefault(str(status), {"description": MEANINGS[status], "content": schema})
    operation["responses"] = dict(sorted(given.items()))


def _scopes() -> dict[tuple[str, str], str]:
    """(method, path) -> the scope that a route needs, as the form of its `by` says."""
    found: dict[tuple[str, str], str] = {}
    for route in (route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)):
        by = get_type_hints(route.endpoint, include_extras=True).get("by")
        scope = next((scope for form, scope in (*SCOPES, (health.Watches, "read")) if form == by), "none")
        found |= {(method.lower(), route.path): scope for method in route.methods or ()}
    return found


async def _nothing_here(request: Request) -> None:
    """What no route of the API takes, said as the API says it, whatever else is mounted on the app."""
    path = request.scope["path"]
    allowed = [
        method.upper()
        for pattern, operations in described(request.app)["paths"].items()
        if compile_path(pattern)[0].fullmatch(path)
        for method in operations
    ]
    if allowed:
        raise HTTPException(405, headers={"Allow": ", ".join(sorted(allowed))})
    raise HTTPException(404)
