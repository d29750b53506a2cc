"""Mounting the dashboard on the app of the service: one process, one port, nothing loaded from anywhere else."""

from __future__ import annotations

import functools
import importlib
from pathlib import Path
from typing import TYPE_CHECKING

import nicegui
from fastapi import FastAPI
from nicegui import ui
from nicegui.page import page as nicegui_page
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount

from gossamer import __version__
from gossamer.dashboard.feed import Feed
from gossamer.dashboard.guard import Guard
from gossamer.dashboard.parts import Text, box, link

if TYPE_CHECKING:
    from gossamer.service import Service

STATIC = Path(__file__).parent / "static"
#: Modules of pages: importing one registers its pages.
PAGES = (
    "overview",
    "scrapers",
    "runs",
    "run",
    "cluster",
    "search",
    "items",
    "item",
    "urls",
    "sources",
    "errors",
    "drift",
    "submit",
    "proxies",
    "logs",
    "users",
    "settings",
)
#: Seconds for which a browser that lost its connection is waited for, before it has to load its page again.
RECONNECT = 10.0

_HEAD = f"""
<meta name="robots" content="noindex">
<link rel="stylesheet" href="/_gossamer/gossamer.css?{__version__}">
<script src="/_gossamer/gossamer.js?{__version__}"></script>
"""


def mount(app: FastAPI, service: Service) -> None:
    """Put the dashboard below `/` of an app: what has a route already keeps it. Call it last.

    NiceGUI has one app a process; a second mount, as tests have it, takes over from the first.
    """
    inner = nicegui.app
    inner.middleware_stack = None
    inner.user_middleware.clear()
    inner.state.service = service
    inner.state.feed = Feed()
    inner.state.outer = app
    _dress()
    for name in PAGES:
        if (Path(__file__).parent / f"{name}.py").exists():
            importlib.import_module(f"gossamer.dashboard.{name}")
    ui.run_with(
        app,
        title="Gossamer",
        favicon=STATIC / "favicon.svg",
        dark=None,
        language="en-US",
        binding_refresh_interval=None,
        reconnect_timeout=RECONNECT,
        message_history_length=200,
        tailwind=False,
        show_welcome_message=False,
    )
    door = next(route for route in reversed(app.router.routes) if isinstance(route, Mount) and route.app is inner)
    door.app = Guard(inner)


@functools.cache
def _dress() -> None:
    """What is said to NiceGUI once a process: our look, our files, our page for what is not there."""
    inner = nicegui.app
    inner.config.socket_io_js_transports = ["websocket", "polling"]
    inner.config.vue_config_script += "\n        gossamer.applyTheme();\n"
    inner.colors(primary="#1f5fcc", dark="#161b22", dark_page="#0e1217", positive="#14713f", negative="#b3242f")
    inner.add_static_files("/_gossamer", STATIC, max_cache_age=31_536_000)
    ui.add_head_html(_HEAD, shared=True)
    inner.add_exception_handler(404, _not_there)


async def _not_there(request: Request, error: Exception) -> Response:
    with nicegui.Client(nicegui_page("", title="Not found · Gossamer"), request=request) as client, box("g-card"):
        Text("There is no such page", "h1")
        Text("The address may be mistyped, or what it showed was deleted.", "p", "g-dim")
        link("To the overview", "/")
    return client.build_response(request, 404)
