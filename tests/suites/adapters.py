"""Adapters for the outside suites: each one gives a suite's runner the call it expects.

Run a suite with PYTHONPATH=tests/suites, for example

    python /work/shared/suites/encoding/run.py --split shared --adapter adapters:decode_page
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import ada_url

from gossamer import urls
from gossamer.errors import Broken, FetchError
from gossamer.fetch import retry
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.agents import Identity
from gossamer.fetch.client import Client
from gossamer.fetch.cookies import Jar
from gossamer.fetch.way import Way
from gossamer.parse import encoding, sitemaps
from gossamer.parse.page import Page
from gossamer.polite import breaker
from gossamer.polite.limits import Bucket
from gossamer.polite.robots import Robots as Rules
from gossamer.settings import USER_AGENT, ScraperConfig
from gossamer.values import Headers, Request, Response

_HTML = Headers((("content-type", "text/html"),))
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


def decode_page(body: bytes, content_type: str | None) -> tuple[str, str]:
    """encoding: what a page's bytes say."""
    return encoding.decode(body, content_type)


def charset(content_type: str) -> str | None:
    """http/mime: the encoding a Content-Type header names."""
    return encoding._header_charset(content_type)


def links(body: bytes, url: str) -> list[str]:
    """links: where a page leads. The suite counts `a` and `area` only, so frames are taken out first."""
    page = Page(Request(url), Response(url, 200, _HTML, body, 0.0, 0.0))
    for node in page.tree.css("frame, iframe"):
        node.decompose()
    return page.links


def resolve(href: str, base: str | None) -> str | None:
    """url: what a reference means. We drop fragments and the suite wants them: ada-url puts them back."""
    # Gossamer takes a login out of a URL; how it is joined and written is another matter.
    found = urls.join(base or "about:blank", href)
    if found is None:
        return None
    whole = ada_url.join_url(base, href) if base else ada_url.normalize_url(href)
    _, mark, fragment = whole.partition("#")
    return found + mark + fragment


def comparable(url: str) -> str | None:
    """url: the key by which we know a URL again. A relative one is read as if it stood on a page."""
    form = urls.join("http://page.test/", url)
    return urls.comparable(form) if form else None


async def fetcher() -> tuple[Callable[..., Awaitable[dict[str, Any]]], Callable[[], Awaitable[None]]]:
    """http: our client, with redirects followed, and a broken connection tried once more, as the engine does."""
    client = Client()
    way = Way(Identity(USER_AGENT), Addresses(private=True))

    async def ask(url: str, config: ScraperConfig) -> Response:
        try:
            return await client.fetch(Request(url), config, way)
        except Broken:
            return await client.fetch(Request(url), config, way)

    async def fetch(
        url: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the runner's contract
        follow: bool = False,
        max_body: int | None = None,
    ) -> dict[str, Any]:
        config = ScraperConfig(timeout=timeout or 10.0, max_body=max_body or 10 << 20)
        for _ in range(config.max_redirects + 1):
            response = await ask(url, config)
            if not (follow and response.status in _REDIRECTS and "location" in response.headers):
                return {"status": response.status, "headers": response.headers.pairs(), "body": response.body}
            target = urls.resolve(response.headers["location"], url)
            if target is None:
                raise FetchError("it redirects to what cannot be fetched")
            url = target
        raise FetchError("more redirects than are followed")

    async def aclose() -> None:
        await client.__aexit__(None, None, None)

    return fetch, aclose


class Robots:
    """robots: what a file allows to an agent."""

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

    @property
    def sitemaps(self) -> list[str]:
        return self._for("*").sitemaps


class Breaker:
    """resilience: the breaker of a host, with its clock."""

    def __init__(self, config: dict[str, Any], clock: Callable[[], float]) -> None:
        probes = config.get("half_open_calls", 1)
        self._clock = clock
        self._breaker = breaker.Breaker(
            breaker.Policy(
                failures=config.get("fail_max"),
                rate=config.get("failure_rate"),
                window=config.get("window_seconds", 60.0),
                least=config.get("min_calls", 1),
                wait=config.get("reset_timeout") or config.get("open_seconds") or 30.0,
                successes=config.get("success_threshold", probes),
                probes=probes,
            )
        )

    @property
    def state(self) -> str:
        return self._breaker.state

    def try_acquire(self) -> bool:
        return self._breaker.acquire(self._clock())

    def on_success(self) -> None:
        self._breaker.success(self._clock())

    def on_failure(self) -> None:
        self._breaker.failure(self._clock())

    def on_ignored(self) -> None:
        self._breaker.release()

    def release(self) -> None:
        self._breaker.release()

    def open(self) -> None:
        self._breaker.open(self._clock())

    def close(self) -> None:
        self._breaker.close()


class Limiter:
    """resilience: a bucket with as many tokens as the rate says, and somebody who waits for them."""

    def __init__(self, rate: float, per: float) -> None:
        self._bucket = Bucket(per / rate, capacity=int(rate))

    async def acquire(self, tokens: int = 1) -> None:
        now = asyncio.get_running_loop().time
        while (wait := self._bucket.ready_at(tokens) - now()) > 0:  # noqa: ASYNC110 - it is time that is waited for
            await asyncio.sleep(wait)
        self._bucket.take(now(), tokens)


def retry_after(value: str, now: datetime) -> float | None:
    """resilience: what a Retry-After header says."""
    return retry.seconds_asked(value, now.timestamp())


def backoff(attempt: int, base: float, factor: float, longest: float | None, least: float) -> float:
    """resilience: the longest wait before a try; ours is a random part of it."""
    return retry.ceiling(attempt, base, factor, longest, least)


def cookie(set_cookies: list[str], url: str, next_url: str) -> str:
    """cookies: the header for `next_url` after an answer from `url`."""
    jar = Jar()
    jar.take(set_cookies, urls.absolute(url))
    return jar.header(urls.absolute(next_url))


def locations(body: bytes) -> list[str]:
    """sitemaps: what a body names, pages and other sitemaps, in order."""
    return [entry.url for entry in sitemaps.iter_entries(body, "http://sitemaps.test/sitemap.xml")]
