"""What every fetcher does, and which one a request goes to."""

from __future__ import annotations

from typing import Protocol

from gossamer.errors import NoBrowser
from gossamer.fetch.way import Way
from gossamer.settings import ScraperConfig
from gossamer.values import Request, Response


class Fetcher(Protocol):
    """Sends one Request, gives one Response."""

    async def fetch(self, request: Request, config: ScraperConfig, way: Way) -> Response:
        """Fetch, without following redirects. Raises FetchError."""


class Fetchers:
    """A Fetcher of two: plain requests go to the client, rendered ones to the browser."""

    def __init__(self, client: Fetcher, browser: Fetcher | None = None) -> None:
        self._client = client
        self._browser = browser

    async def fetch(self, request: Request, config: ScraperConfig, way: Way) -> Response:
        """Fetch, without following redirects. Raises FetchError."""
        if not rendered(request, config):
            return await self._client.fetch(request, config, way)
        if self._browser is None:
            raise NoBrowser("there is no browser to render pages with")
        return await self._browser.fetch(request, config, way)


def rendered(request: Request, config: ScraperConfig) -> bool:
    """Whether a browser shows the page before it is read."""
    return (config.render if request.render is None else request.render) and request.save is None
