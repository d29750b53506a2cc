"""The events worth keeping: written in groups, bounded, found again by run."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import structlog

from gossamer import events, runs, telemetry
from gossamer.errors import StoreError
from gossamer.events import Events, is_kept, last, tail
from gossamer.registry import load_all
from gossamer.storage import opening, postgres_desk, postgres_pool
from gossamer.storage.desk import Desk
from gossamer.telemetry import log
from gossamer.testing import Site
from tests import stores


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    level = logging.getLogger().level
    yield
    telemetry.close()
    structlog.reset_defaults()
    logging.getLogger().setLevel(level)


@asynccontextmanager
async def keeping(store: str, kept: int = events.KEPT) -> AsyncIterator[tuple[Desk, Events]]:
    """Events of this process, kept in a store."""
    async with opening.desk(store) as desk:
        made = Events(desk, kept)
        telemetry.configure("error", "human", lambda text: None, hear=made.hear)
        yield desk, made


@pytest.mark.parametrize(
    ("level", "name", "kept"),
    [
        ("info", "run.start", True),
        ("info", "run.cancelled", True),
        ("info", "schedule.fired", True),
        ("info", "breaker.open", True),
        ("info", "alert.sent", True),
        ("info", "drift.found", True),
        ("warning", "page.unreadable", True),
        ("critical", "anything", True),
        ("info", "walk.failed", False),
        ("debug", "run.end_not_written", False),
        ("info", "running", False),
    ],
)
def test_which_events_are_kept(level: str, name: str, kept: bool) -> None:
    assert is_kept({"level": level, "event": name}) is kept


async def _story(store: str) -> list[events.Kept]:
    async with keeping(store) as (desk, made):
        with structlog.contextvars.bound_contextvars(run=7, scraper="shop"):
            log.info("run.start", resumed=False)
            log.debug("walk.done", url="http://a.org/")
            log.warning("page.unreadable", url="http://u:p@a.org/", why="no\nprice \x1b[2J")
        log.error("sink.broken", sink="s3://bucket", why="no key: api_key=abc", exc_info=ValueError("x"))
        await made.flush()
        return await tail(desk)


def test_an_event_is_kept_with_its_run_and_without_its_secrets(store: str) -> None:
    first, second, third = asyncio.run(_story(store))
    assert (first.name, first.level, first.run, first.scraper) == ("run.start", "info", 7, "shop")
    assert (first.message, first.data) == ("resumed=False", {"resumed": False})
    assert second.message == r"no price \x1b[2J (url=http://***@a.org/)"
    assert second.data["url"] == "http://***@a.org/"
    assert (third.run, third.scraper, third.message) == (None, "", "no key: api_key=*** (sink=s3://bucket)")
    assert "ValueError: x" in third.data["exception"]
    assert first.id < second.id < third.id
    assert first.at <= second.at


def test_events_are_found_by_run_level_and_scraper_and_from_where_one_was(store: str) -> None:
    async def look() -> None:
        async with keeping(store) as (desk, made):
            for n in range(1, 7):
                log.info("run.start", run=n % 2 + 1, scraper="ab"[n % 2])
                log.warning("run.held", run=n % 2 + 1, scraper="ab"[n % 2], n=n)
            await made.flush()
            everything = await tail(desk)
            assert len(everything) == 12
            assert await tail(desk, after_id=everything[8].id) == everything[9:]
            assert await tail(desk, most=3) == everything[:3]
            assert await last(desk, most=3) == everything[-3:]
            assert {event.run for event in await tail(desk, 2)} == {2}
            assert await tail(desk, 2, everything[-1].id) == []
            assert [event.data["n"] for event in await last(desk, 1, level="warning", most=2)] == [4, 6]
            assert {event.scraper for event in await tail(desk, scraper="b")} == {"b"}
            assert await tail(desk, level="error") == []

    asyncio.run(look())


def test_they_are_written_in_the_background_and_at_the_end(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "EVERY", 0.01)

    async def work() -> list[str]:
        async with keeping(store) as (desk, made):
            task = asyncio.create_task(made.run())
            log.warning("a")
            while not await tail(desk):  # noqa: ASYNC110 - a store has no event
                await asyncio.sleep(0.01)
            monkeypatch.setattr(events, "EVERY", 60.0)
            await asyncio.sleep(0.05)
            log.warning("b")
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return [event.name for event in await tail(desk)]

    assert asyncio.run(work()) == ["a", "b"]


def test_any_thread_may_log(store: str) -> None:
    async def work() -> int:
        async with keeping(store) as (desk, made):

            def talk(name: str) -> None:
                for n in range(50):
                    log.warning(name, n=n)

            threads = [threading.Thread(target=talk, args=(f"thread.{n}",)) for n in range(8)]
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                await made.flush()
            await made.flush()
            return len(await tail(desk, most=10_000))

    assert asyncio.run(work()) == 400


def test_a_flood_is_told_of_and_does_not_drown_what_matters(store: str) -> None:
    async def work() -> tuple[int, list[events.Kept]]:
        async with keeping(store) as (desk, made):
            for n in range(5_000):
                log.warning("page.unreadable", run=1, scraper="shop", n=n)
            log.info("run.end", run=1, scraper="shop")
            log.warning("page.unreadable", run=2, scraper="other")
            await made.flush()
            await made.flush()
            return made.dropped, await tail(desk, most=10_000)

    dropped, kept = asyncio.run(work())
    names = [event.name for event in kept]
    assert dropped == 5_000 - events.A_MINUTE
    assert names.count("page.unreadable") == events.A_MINUTE + 1
    assert names[-3:] == ["run.end", "page.unreadable", "events.dropped"]
    assert kept[-1].data == {"events": dropped}
    assert "4,900 events were not kept" in kept[-1].message


def test_the_queue_is_bounded_even_if_nobody_writes(store: str) -> None:
    async def work() -> None:
        async with keeping(store) as (_, made):
            for n in range(20_000):
                log.warning(f"odd.{n}")
                log.info(f"run.{n}")
            assert made.dropped == 40_000 - 2 * events.WAITING

    asyncio.run(work())


def test_only_the_newest_are_kept(store: str) -> None:
    async def work() -> list[int]:
        async with keeping(store, kept=300) as (desk, made):
            for n in range(30):
                for m in range(100):
                    made.hear({"event": f"odd.{n}.{m}", "level": "warning", "n": 100 * n + m})
                await made.flush()
            return [event.data["n"] for event in await tail(desk, most=10_000)]

    numbers = asyncio.run(work())
    assert numbers == list(range(numbers[0], 3_000))
    assert 300 <= len(numbers) <= 300 + events.SWEEP


BRIEF = "begin; set local lock_timeout = 10; select pg_advisory_xact_lock(7361, 0)"


def test_a_store_that_cannot_be_written_now_gets_them_later(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else writes for too long: nothing is lost, and nobody who logs notices."""

    async def work() -> list[str]:
        async with keeping(store) as (desk, made):
            monkeypatch.setattr(postgres_pool, "PATIENCE", 0.0)
            if not stores.is_postgres():
                await desk.on_writer(lambda db: db.execute("pragma busy_timeout = 10"))  # type: ignore[attr-defined]
            async with opening.desk(store) as other, other.writing() as writing:
                await writing.run("delete from event where id < 0")
                if stores.is_postgres():
                    monkeypatch.setattr(postgres_desk, "_BEGIN", BRIEF)
                log.warning("a")
                await made.flush()
                log.warning("b")
                await made.flush()
            await made.flush()
            return [event.name for event in await tail(desk)]

    assert asyncio.run(work()) == ["a", "events.unwritten", "b"]


def test_what_cannot_be_kept_as_it_is_is_kept_as_it_can_be(store: str) -> None:
    async def work() -> list[events.Kept]:
        async with keeping(store) as (desk, made):
            made.hear({"event": "a\nb" + "x" * 1000, "level": "error", "run": "no number", "scraper": None, "why": ""})
            made.hear({"event": "big", "level": "error", "run": 1 << 70, "why": "w" * 9999, "many": {"x": "y" * 9999}})
            made.hear({"event": "odd", "level": "error", "n": 1 << 80, "half": "\ud800"})
            made.hear({"event": "keys", "level": "error", **{f"k{n}": "v" * 30 for n in range(500)}})
            await made.flush()
            return await tail(desk)

    kept = asyncio.run(work())
    assert [event.run for event in kept] == [None] * 4
    assert all(len(event.message) <= 2 * events.LONGEST and len(event.name) <= 200 for event in kept)
    assert all(len(str(event.data)) < 2 * events.MOST_FACTS for event in kept)
    assert all((event.name + event.message).isprintable() for event in kept)


def test_a_closed_store_ends_nothing(store: str) -> None:
    async def work() -> None:
        async with keeping(store) as (desk, made):
            pass
        log.warning("late")
        await made.flush()
        with pytest.raises(StoreError):
            await tail(desk)

    asyncio.run(work())


def test_a_real_run_leaves_its_beginning_its_trouble_and_its_end(site: Site, store: str, tmp_path: Path) -> None:
    site.page("/", "<p>x")
    (tmp_path / "shop.py").write_text(
        "from gossamer import Scraper\n"
        "class Shop(Scraper):\n"
        "    robots = False\n"
        f"    start_urls = [{site.url('/')!r}]\n"
        "    def parse(self, page):\n"
        "        raise ValueError('no price')\n"
    )

    async def work() -> list[Any]:
        async with runs.open_parts(store) as parts, keeping(store) as (desk, made):
            plan = runs.plan(load_all(str(tmp_path / "shop.py"))[0], {}, {"store": store})
            await runs.execute(parts, plan)
            await made.flush()
            return await tail(desk, 1)

    kept = asyncio.run(work())
    assert [(event.name, event.scraper) for event in kept] == [
        ("run.start", "shop"),
        ("page.unreadable", "shop"),
        ("run.end", "shop"),
    ]
    assert "no price" in kept[1].message
