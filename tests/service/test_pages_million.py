"""Pages of the dashboard on a million rows: each is built from lists that cost the same however long they are.

Counted in steps of SQLite's own machine, as in test_million.py: a page that reads all rows takes many millions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import nicegui
import pytest

from gossamer import schedules, service, settings
from gossamer.api.app import make_app
from gossamer.dashboard.app import mount
from gossamer.dashboard.shell import PLACES
from gossamer.trail import Asker
from tests.service import million
from tests.service.counting import CountingDesk

pytestmark = pytest.mark.timeout(300)

#: The most steps of one page: a few lists, some of which look through a window of rows.
MOST_STEPS = 2_000_000
SCRAPER = """
from gossamer import Scraper


class Five(Scraper):
    name = "s5"
    start_urls = ["http://shop.test/"]
    every = "6h"

    def parse(self, page):
        yield {"title": page.title}
"""
PAGES = (
    *(path for path, *_ in PLACES),
    "/scrapers?name=s5",
    "/runs?state=failed",
    "/runs?verdict=suspect",
    f"/runs?scraper={million.RARE}",
    "/runs?q=nowhere",
    "/runs?via=cli",
    f"/runs/{million.BIG_RUN}",
    "/runs/5",
    "/items?q=nowhere",
    f"/urls?run={million.BIG_RUN}",
    f"/logs?run={million.BIG_RUN}",
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("million") / "store.db"
    million.make(path)
    yield path
    path.unlink()


def test_every_page_costs_the_same_however_much_there_is(store: Path, tmp_path: Path) -> None:
    (tmp_path / "five.py").write_text(SCRAPER)
    costs = asyncio.run(_costs(store, tmp_path))
    assert {path: steps for path, (_, steps) in costs.items() if steps > MOST_STEPS} == {}
    assert {path: status for path, (status, _) in costs.items() if status != 200} == {}


async def _costs(store: Path, folder: Path) -> dict[str, tuple[int, int]]:
    """Page -> its status and its steps."""
    async with CountingDesk(str(store)) as desk:
        opened = service.Service(settings.read({"store": str(store)}), desk, folder, None)
        await schedules.sync(desk, opened.catalog)
        app = make_app(opened)
        mount(app, opened)
        _, token = await opened.accounts.create_token("looker", "admin", None, Asker("tester", "cli"))
        secret = await opened.accounts.log_in_with_token(token, "127.0.0.1")
        found = {}
        async with opened.accounts, app.router.lifespan_context(app), _client(app, secret) as client:
            for path in PAGES:
                nicegui.app.state.feed.spoil()
                desk.take()
                answer = await client.get(path)
                found[path] = (answer.status_code, desk.take()[0])
        return found


def _client(app: object, secret: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app)  # type: ignore[arg-type]
    return httpx.AsyncClient(
        transport=transport, base_url="http://127.0.0.1", cookies={"gossamer_session": secret}, timeout=60
    )
