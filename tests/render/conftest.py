"""What rendering tests share: one browser for all of them, on a loop of its own, since starting one takes seconds."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import pytest

from gossamer.fetch import browser, rendering
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.agents import Identity
from gossamer.fetch.browser import Browser
from gossamer.fetch.proxy import Proxy
from gossamer.fetch.way import Way
from gossamer.settings import ScraperConfig
from gossamer.values import Fetch, Request, Response

T = TypeVar("T")
AGENT = "gossamer-tests/1.0 (+https://example.org)"


class Renderer:
    """A Browser that plain tests can use."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="renderer", daemon=True)
        self._thread.start()
        self.heard: list[Fetch] = []
        self.browser = Browser(heard=lambda fetch: self.heard.append(fetch))
        self.run(self.browser.__aenter__())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for something on the browser's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(50)

    def close(self) -> None:
        self.run(self.browser.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def fetch(self, url: str | Request, **how: Any) -> Response:
        """Render one page. `addresses`, `proxy`, `headers`, `trusted` and `part` are its way.

        The rest are knobs, `own_headers` among them: the scraper's `headers`.
        """
        return self.run(self.fetching(url, **how))

    def fetch_all(self, *urls: str, **how: Any) -> list[Response]:
        """Render several pages at the same time."""

        async def gather() -> list[Response]:
            return await asyncio.gather(*(self.fetching(url, **how) for url in urls))

        return self.run(gather())

    async def fetching(self, url: str | Request, **how: Any) -> Response:
        proxy = how.pop("proxy", None)
        way = Way(
            Identity(AGENT),
            how.pop("addresses", None) or Addresses(private=True),
            proxy=Proxy.of(proxy) if proxy else None,
            **{name: how.pop(name) for name in ("headers", "trusted", "part") if name in how},
        )
        if "own_headers" in how:
            how["headers"] = how.pop("own_headers")
        request = Request(url) if isinstance(url, str) else url
        return await self.browser.fetch(request, ScraperConfig(**{"timeout": 20, "render_pages": 6, **how}), way)

    def told(self) -> dict[str, Fetch]:
        """What was heard of, by URL."""
        return {fetch.url: fetch for fetch in self.heard}


@pytest.fixture(scope="session")
def chromium() -> None:
    """Skips, saying why, where no page can be rendered."""
    why = browser.missing()
    if why is not None:
        pytest.skip(why)


@pytest.fixture(scope="session")
def shared_renderer(chromium: None) -> Iterator[Renderer]:
    made = Renderer()
    yield made
    made.close()


@pytest.fixture
def renderer(shared_renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> Renderer:
    """The shared browser, with nothing heard yet."""
    shared_renderer.heard.clear()
    # Half a second is for sites far away, and there are a hundred pages to show.
    monkeypatch.setattr(rendering, "QUIET", 0.2)
    return shared_renderer
