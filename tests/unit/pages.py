"""Pages for tests, made without a network."""

from __future__ import annotations

from typing import Any

from gossamer.parse.page import Page
from gossamer.values import Headers, Request, Response

URL = "http://a.org/shop/list.html?page=2"


def response(body: str | bytes = b"", *, url: str = URL, status: int = 200, **headers: str) -> Response:
    """An answer; header names are written with underscores."""
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Response(url, status, Headers(pairs), body.encode() if isinstance(body, str) else body, 1000.5, 0.1)


def page(
    body: str | bytes = b"", *, url: str = URL, kind: str | None = "text/html; charset=utf-8", **request: Any
) -> Page:
    """A page with this body; `request` are fields of the Request that asked for it."""
    headers = {} if kind is None else {"content_type": kind}
    return Page(Request(url, **request), response(body, url=url, **headers))
