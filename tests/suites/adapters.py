"""Adapters for the outside suites: each one gives a suite's runner the call it expects.

Run a suite with PYTHONPATH=tests/suites, for example

    python /work/shared/suites/encoding/run.py --split shared --adapter adapters:decode_page
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import ada_url

from gossamer import urls
from gossamer.errors import FetchError
from gossamer.fetch.client import Client
from gossamer.parse.encoding import decode
from gossamer.parse.page import Page
from gossamer.polite.robots import Robots as Rules
from gossamer.settings import ScraperConfig
from gossamer.values import Headers, Request, Response

_REDIRECTS = frozenset({301, 302, 303, 307, 308})


def decode_page(body: bytes, content_type: str | None) -> tuple[str, str]:
    """encoding: what a page's bytes say."""
    return decode(body, content_type)


def links(body: bytes, url: str) -> list[str]:
    """links: where a page leads. The suite counts `a` and `area` only, so frames are taken out first."""
    page = Page(Request(url), Response(url, 200, Headers((("content-type", "text/html"),)), body, 0.0, 0.0, False))
    for node in page.tree.css("frame, iframe"):
        node.decompose()
    return page.links


def resolve(href: str, base: str | None) -> str | None:
    """url: what a reference means. We drop fragments and the suite wants them: ada-url puts them back."""
    found = urls.resolve(href, base) if base else urls.absolute(href)
    if found is None:
        return None
    _, mark, fragment = ada_url.join_url(base or "", href).partition("#") if base else ada_url.normalize_url(href).partition("#")
    return found + mark + fragment


comparable = urls.comparable


async def fetcher() -> tuple[Callable[..., Awaitable[dict[str, Any]]], Callable[[], Awaitable[None]]]:
    """http: our client, with redirects followed as the engine does."""
    client = Client()

    async def fetch(
        url: str, timeout: float | None = None, follow: bool = False, max_body: int | None = None
    ) -> dict[str, Any]:
        config = ScraperConfig(timeout=timeout or 10.0, max_body=max_body or 10 << 20)
        for _ in range(config.max_redirects + 1):
            response = await client.fetch(Request(url), config)
            target = urls.resolve(response.headers.get("location", ""), url)
            if not follow or response.status not in _REDIRECTS or "location" not in response.headers or target is None:
                return {"status": response.status, "headers": list(response.headers.pairs()), "body": response.body}
            url = target
        raise FetchError("more redirects than are followed")

    async def aclose() -> None:
        await client.__aexit__(None, None, None)

    return fetch, aclose


class Robots:
    """robots: what a file allows."""

    def __init__(self, text: str) -> None:
        self._body = text.encode()
        self._rules: dict[str, Rules] = {}

    def _for(self, agent: str) -> Rules:
        if agent not in self._rules:
            self._rules[agent] = Rules(agent, self._body)
        return self._rules[agent]

    def allowed(self, url: str, agent: str) -> bool:
        return self._for(agent).forbids(url) is None

    def crawl_delay(self, agent: str) -> float | None:
        return self._for(agent).delay or None
