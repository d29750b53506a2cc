"""The packs, on pages of our own and on captured ones where those are present."""

from __future__ import annotations

from typing import Any

import msgspec

from gossamer import Page, Request, Response
from gossamer.values import Headers
from tests.conftest import corpora


def fixture(name: str) -> bytes:
    """A captured page or answer; skips where the corpora are absent."""
    return corpora("fixtures", *name.split("/")).read_bytes()


def answer(name: str) -> Any:
    """A captured answer, decoded."""
    return msgspec.json.decode(fixture(name))


def page_of(body: bytes | str, url: str, content_type: str = "text/html; charset=utf-8", **carry: Any) -> Page:
    """A page as a handler gets it."""
    data = body.encode() if isinstance(body, str) else body
    request = Request(url, carry=carry or None)
    return Page(request, Response(url, 200, Headers([("content-type", content_type)]), data, 0.0, 0.0))
