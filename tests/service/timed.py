"""What tests of schedules share: scrapers in files, a store, a clock that can be set, and runs that end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from gossamer.catalog import Catalog
from gossamer.scheduler import Scheduler
from gossamer.schedules import Firing, history
from gossamer.storage import opening
from gossamer.storage.desk import Desk
from gossamer.trail import Asker
from gossamer.values import RunState
from tests import stores

T = TypeVar("T")

ME = Asker("me", "cli")
HOUR, DAY = 3600.0, 86400.0


def stamp(text: str, zone: str = "UTC") -> float:
    """A time as a clock in a zone shows it, in seconds since 1970."""
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def write(folder: Path, *scrapers: str, name: str = "shelf.py", **says: str) -> Path:
    """A file with scrapers, all of which say the same: `write(tmp_path, "art", every='"6h"')`."""
    lines = ["from gossamer import Scraper", ""]
    for scraper in scrapers:
        lines += [f"class C{scraper.replace('-', '_')}(Scraper):", f'    name = "{scraper}"']
        lines += ['    start_urls = ["http://shelf.test/"]']
        lines += [f"    {attribute} = {value}" for attribute, value in says.items()]
        lines += ["    def parse(self, page):", "        yield {}", ""]
    path = folder / name
    path.write_text("\n".join(lines))
    return path


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, at: float) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at


class Stage:
    """A store, the scrapers of one file, and a scheduler with a clock that can be set."""

    def __init__(self, desk: Desk, catalog: Catalog, at: float, store: str) -> None:
        self.store = store
        self.desk = desk
        self.catalog = catalog
        self.clock = Clock(at)
        self.poked = 0
        self.scheduler = self.another()

    def another(self) -> Scheduler:
        """One more service on the same store; or the same one, started again."""
        return Scheduler(self.desk, self.catalog, self._poke, clock=self.clock)

    def _poke(self) -> None:
        self.poked += 1

    async def look(self, at: float | None = None, *, times: int = 1) -> None:
        """Set the clock, and look."""
        self.clock.at = self.clock.at if at is None else at
        for _ in range(times):
            await self.scheduler.look()
        async with self.desk.writing() as writing:  # what it started, it started now
            await writing.run(
                "update run set created = :at where state = 'pending' and created > :at", at=self.clock.at
            )

    async def firings(self, name: str = "art") -> list[Firing]:
        """What came of the due times of a schedule, the first one first."""
        return (await history(self.desk, name, limit=10_000))[::-1]

    async def told(self, name: str = "art") -> list[tuple[float, str]]:
        return [(firing.due, firing.what) for firing in await self.firings(name)]

    async def runs(self, name: str = "art") -> list[tuple[Any, ...]]:
        return await self.desk.rows("select id, state from run where scraper = :name order by id", name=name)

    async def end(self, state: RunState = RunState.FINISHED, reason: str = "done", name: str = "art") -> int:
        """End the newest run of a scraper, as the runner does."""
        run_id: int = (await self.runs(name))[-1][0]
        async with opening.working(self.store) as store:
            lease = await store.acquire(run_id, "test", 60.0)
            await store.end_run(lease, state, reason)
            await store.release(lease)
        # It ended when the clock of the test says so.
        async with self.desk.writing() as writing:
            await writing.run("update scraper set last_ended = :at where name = :name", at=self.clock.at, name=name)
            await writing.run("update run set ended = :at where id = :run", at=self.clock.at, run=run_id)
        return run_id

    async def fail(self, name: str = "art") -> int:
        return await self.end(RunState.FAILED, "start_failed", name)

    async def breaker(self, name: str = "art") -> tuple[Any, ...]:
        row = await self.desk.row("select breaker, openings, open_until from scraper where name = :name", name=name)
        assert row is not None
        return row


@asynccontextmanager
async def stage(path: Path, at: float, store: str = "store.db") -> AsyncIterator[Stage]:
    """A stage with the scrapers of a file, at some time."""
    place = stores.at(path.parent / store)
    async with opening.desk(place) as desk:
        yield Stage(desk, Catalog((str(path),)), at, place)
