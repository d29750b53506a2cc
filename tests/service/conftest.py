"""A service on a store of its own, at a real port on loopback, without anybody who walks runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
import uvicorn

from gossamer import schedules, service, settings, telemetry
from gossamer.api.app import make_app
from gossamer.api.limits import Limits
from gossamer.storage import opening
from gossamer.trail import Asker
from tests import stores
from tests.filling import fill

T = TypeVar("T")

TESTER = Asker("tester", "cli")
SCRAPERS = '''
"""Scrapers for the tests of the service."""

from gossamer import Scraper


class Quotes(Scraper):
    """What people said."""

    start_urls = ["http://quotes.test/"]
    rate = "2/s"

    def parse(self, page):
        yield {"title": page.title}


class Books(Scraper):
    """Books and their prices."""

    start_urls = ["http://books.test/"]
    every = "6h"

    def parse(self, page):
        yield {"title": page.title}
'''


class Served:
    """A service at its door: ask it over HTTP with `client`, or reach behind it with `call`."""

    def __init__(self, folder: Path, flags: dict[str, Any]) -> None:
        self.folder = folder
        self._flags = flags
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._error: BaseException | None = None
        self.tokens: dict[str, str] = {}
        self.url = ""

    def start(self) -> None:
        """Open it, and wait until it answers."""
        self._thread.start()
        assert self._ready.wait(30)
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Close it, and wait until it is."""
        self._server.should_exit = True
        self._thread.join(30)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:
            self._error = error
        finally:
            self._ready.set()
            self._loop.close()

    async def _serve(self) -> None:
        async with self._opened() as opened:
            self.service = opened
            for scope in ("read", "run", "admin"):
                _, self.tokens[scope] = await opened.accounts.create_token(f"the-{scope}", scope, None, TESTER)
            app = make_app(opened)
            app.state.limits = Limits({})
            self.app = app
            self._server = uvicorn.Server(
                uvicorn.Config(app, log_config=None, lifespan="on", timeout_graceful_shutdown=1)
            )
            with service.bound("127.0.0.1:0") as door:
                self.url = f"http://127.0.0.1:{door.getsockname()[1]}"
                serving = asyncio.create_task(self._server.serve(sockets=[door]))
                while not self._server.started and not serving.done():  # noqa: ASYNC110 - it has no event
                    await asyncio.sleep(0.01)
                self._ready.set()
                await serving

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[service.Service]:
        """Its parts, of which only those are at work that tell what goes on: nothing happens that no test asked for."""
        read = settings.read(self._flags)
        telemetry.configure_unless_done()
        async with opening.desk(read.place.store) as desk:
            opened = service.Service(read, desk, self.folder, None)
            async with opened.accounts:
                await schedules.sync(desk, opened.catalog)
                telling = asyncio.create_task(opened.live.run())
                try:
                    yield opened
                finally:
                    telling.cancel()
                    await asyncio.gather(telling, return_exceptions=True)

    def call(self, work: Callable[[service.Service], Awaitable[T]]) -> T:
        """Have something done by the service itself, on its loop."""

        async def do() -> T:
            return await work(self.service)

        return asyncio.run_coroutine_threadsafe(do(), self._loop).result(30)

    def rows(self, statement: str, **names: Any) -> list[tuple[Any, ...]]:
        """Rows of its store."""
        return self.call(lambda opened: opened.desk.rows(statement, **names))

    def write(self, statement: str, **names: Any) -> int:
        """Change its store behind its back."""

        async def do(opened: service.Service) -> int:
            async with opened.desk.writing() as writing:
                return await writing.run(statement, **names)

        return self.call(do)

    def fill(self, records: Sequence[dict[str, Any]], **options: Any) -> int:
        """A run that found these records, as whoever walks runs writes it."""
        return fill(self.service.settings.place.store, records, **options)

    def client(self, scope: str | None = "admin", **options: Any) -> httpx.Client:
        """Somebody who asks, with a token of a scope or with none."""
        headers = {"Authorization": f"Bearer {self.tokens[scope]}"} if scope else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False, **options)


#: Tests that always run on both kinds of store.
BOTH = (
    "test_accounts",
    "test_alerts",
    "test_api_lists",
    "test_api_runs",
    "test_api_scrapers",
    "test_asking",
    "test_events",
    "test_figures",
    "test_health",
    "test_lists",
    "test_live",
    "test_metrics",
    "test_of_drift",
    "test_scheduler",
    "test_schedules",
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run some tests once on each kind of store."""
    if metafunc.module.__name__.rpartition(".")[2] in BOTH and "kind_of_store" in metafunc.fixturenames:
        metafunc.parametrize("kind_of_store", stores.KINDS, indirect=True, scope="module")


@pytest.fixture(scope="module", autouse=True)
def kind_of_store(request: pytest.FixtureRequest) -> Iterator[str]:
    """What `stores.at` gives in this test."""
    kind: str = getattr(request, "param", stores.USUAL)
    stores.choose(kind)
    yield kind
    stores.choose(stores.USUAL)


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store that does not exist yet."""
    return stores.at(tmp_path / "store.db")


@pytest.fixture
def flags() -> dict[str, Any]:
    """What the service is started with; for tests to say more."""
    return {}


@pytest.fixture
def served(tmp_path: Path, flags: dict[str, Any]) -> Iterator[Served]:
    """A service with two scrapers, at a real port."""
    (tmp_path / "shelf.py").write_text(SCRAPERS)
    made = Served(tmp_path, {"store": stores.at(tmp_path / "store.db"), **flags})
    made.start()
    yield made
    made.stop()


@pytest.fixture
def api(served: Served) -> Iterator[httpx.Client]:
    """Somebody who may do everything."""
    with served.client() as client:
        yield client
