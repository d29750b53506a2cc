"""A run that cannot go on says so, by name, instead of waiting for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

import pytest

from gossamer import Page, Request, Scraper, runs
from gossamer.errors import Stalled
from gossamer.fetch.client import Client
from gossamer.polite.gate import Gate
from gossamer.reader import Watchdog
from gossamer.registry import Found
from gossamer.storage.sqlite import SqliteStore
from gossamer.storage.store import DEEPEST
from gossamer.testing import Site
from gossamer.values import WHOLE


class Forgetful(SqliteStore):
    """A store that counts a request but never gives it out: nothing we know of does this, which is the point."""

    async def peek(
        self, run_id: int, host: str, limit: int, but: Collection[int], level: int = DEEPEST, shard: int = WHOLE
    ) -> list[Request]:
        return [r for r in await super().peek(run_id, host, limit, but, level, shard) if "lost" not in r.url]


class Plain(Scraper):
    def start(self) -> Any:
        return self.params["urls"]

    def parse(self, page: Page) -> Any:
        yield {"url": page.url}


class Levels(Plain):
    by_level = True


@pytest.mark.parametrize("scraper", [Plain, Levels])
def test_requests_that_nothing_will_make_ready_end_the_run(site: Site, store: str, scraper: type[Scraper]) -> None:
    site.page("/*", "<p>x</p>")
    urls = [site.url("/fine"), site.url("/lost")]

    async def main() -> None:
        async with Forgetful(store) as opened, Client() as client:
            with Watchdog() as watchdog:
                parts = runs.Parts(opened, Gate(opened), client, watchdog, "")
                plan = runs.plan(Found(scraper, "tests:x"), {"urls": urls}, {"rate": "none", "robots": False})
                await runs.execute(parts, plan)

    with pytest.raises(Stalled, match=f"1 requests? waits?.*{site.authority}"):
        asyncio.run(asyncio.wait_for(main(), 10))

    async def look() -> tuple[str, str, int]:
        async with runs.open_store(store) as opened:
            (run,) = await opened.runs()
            return run.state, run.reason, run.pages

    state, reason, pages = asyncio.run(look())
    assert (state, pages) == ("failed", 1)
    assert reason.startswith("stalled")
    assert site.paths() == {"/fine": 1}
