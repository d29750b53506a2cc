"""What a run begins with, where start() is called on a thread: as it is called on the loop, whatever kind it is of."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from gossamer import Scraper, seeding
from gossamer.errors import ConfigError
from gossamer.reader import Watchdog

URLS = [f"http://a.example/{n}" for n in range(2_500)]


class Reads(Scraper):
    def parse(self, page: Any) -> Iterator[dict[str, Any]]:
        yield {}


class Plain(Reads):
    def start(self) -> Iterator[str]:
        yield from URLS


class Whole(Reads):
    def start(self) -> list[str]:
        return URLS


class Later(Reads):
    async def start(self) -> AsyncIterator[str]:
        for url in URLS:
            yield url


class Times(Reads):
    def start(self) -> Iterator[str]:
        yield URLS[0]
        raise TimeoutError("the socket's own")


class Leaves(Reads):
    def start(self) -> Iterator[str]:
        raise SystemExit(3)


class Blocks(Reads):
    def start(self) -> Iterator[str]:
        time.sleep(1.0)
        yield URLS[0]


def begun(scraper: type[Any]) -> list[str]:
    async def main() -> list[str]:
        return [request.url async for request, _ in seeding.start_requests(scraper({}), Watchdog(), apart=True)]

    return asyncio.run(main())


@pytest.mark.parametrize("scraper", [Plain, Whole, Later])
def test_all_of_it_in_its_order(scraper: type[Scraper]) -> None:
    assert begun(scraper) == URLS


@pytest.mark.parametrize(("scraper", "told"), [(Times, "TimeoutError: the socket's own"), (Leaves, "SystemExit: 3")])
def test_what_it_raises_is_told_as_it_is(scraper: type[Scraper], told: str) -> None:
    with pytest.raises(ConfigError, match=rf"start\(\) failed: {told}"):
        begun(scraper)


def test_one_that_blocks_holds_nobody_up_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeding, "START_LIMIT", 0.2)
    monkeypatch.setattr(seeding, "AT_ONCE", 0.1)
    ticks = 0

    async def main() -> None:
        nonlocal ticks

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        beside = asyncio.create_task(tick())
        with pytest.raises(ConfigError, match=r"start\(\) blocked for longer than 0.2 s"):
            async for _ in seeding.start_requests(Blocks({}), Watchdog(), apart=True):
                pass
        beside.cancel()

    asyncio.run(main())
    assert ticks > 5
