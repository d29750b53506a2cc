"""The door for Python programs and notebooks: `crawl`, `stream`, `run`."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from gossamer import runs, settings, telemetry
from gossamer.crawler import crawl_found, crawl_params
from gossamer.errors import ConfigError
from gossamer.registry import Found
from gossamer.runs import Plan, Report, Running
from gossamer.scraper import Scraper
from gossamer.storage.records import Unique
from gossamer.storage.store import Wanted
from gossamer.values import Outcome

T = TypeVar("T")
Items = list[dict[str, Any]]

#: Groups of items a stream holds for a slow reader before the run pauses.
AHEAD = 16


async def crawl(
    *urls: str, sitemaps: Sequence[str] = (), parser: str | None = None, fresh: bool = False, **knobs: Any
) -> Report:
    """Crawl sites, as `gossamer crawl` does; keyword arguments are its options (`store=`, `rate=` ...).

    `sitemaps` are URLs of sitemaps to start with, or ["auto"]. Raises ConfigError for a URL or option that cannot
    be used.
    """
    if not (urls or sitemaps) or not all(isinstance(url, str) for url in (*urls, *sitemaps)):
        raise ConfigError("crawl() needs URLs, one after the other: crawl('https://a.org', 'https://b.org')")
    params, logins = crawl_params(urls, [sitemaps] if isinstance(sitemaps, str) else sitemaps, parser)
    return await _execute(runs.plan(crawl_found(parser), params, knobs, fresh=fresh, prefix="", logins=logins))


async def stream(
    scraper: type[Scraper], *, params: Mapping[str, Any] | None = None, fresh: bool = False, **knobs: Any
) -> AsyncIterator[dict[str, Any]]:
    """Run a scraper and give its items one by one, each after it is safely stored.

    Breaking out of the loop stops the run, which can then be resumed.
    """
    arrived: asyncio.Queue[Items | None] = asyncio.Queue()
    running: list[Running] = []

    def hear(outcomes: Sequence[Outcome]) -> None:
        records = [item.record() for outcome in outcomes for item in outcome.items]
        if records:
            arrived.put_nowait(records)
        if arrived.qsize() >= AHEAD:
            running[0].engine.pause()

    def watch(started: Running) -> None:
        running.append(started)
        started.progress.listen(hear)

    async def work() -> None:
        try:
            await _execute(_plan(scraper, params, fresh, knobs), watch)
        finally:
            arrived.put_nowait(None)

    task = asyncio.create_task(work(), name="gossamer-stream")
    try:
        while (records := await arrived.get()) is not None:
            for record in records:
                yield record
            if arrived.empty() and running:
                running[0].engine.go_on()
        await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def items(
    store: str | None = None,
    *,
    run: int | None = None,
    scraper: str | None = None,
    kind: str | None = None,
    unique: str | None = None,
) -> list[dict[str, Any]]:
    """The records in a store, in the order first seen: of one run, scraper or kind, or all.

    `store` is a path; without it, the one the settings name. Of records that say the same in the field `unique`, the
    first seen is kept. Raises StoreError if there is no store.
    """
    only = Unique(unique) if unique is not None else None
    path = settings.read({"store": store} if store else {}, prefix="").place.store

    async def read() -> list[dict[str, Any]]:
        async with runs.open_store(path) as opened:
            found = [item.record() async for item in opened.items(Wanted(run=run, scraper=scraper, kind=kind))]
        return found if only is None else [record for record in found if only.first(record)]

    return call(read)


def run(
    scraper: type[Scraper], *, params: Mapping[str, Any] | None = None, fresh: bool = False, **knobs: Any
) -> Report:
    """Run a scraper to its end, and report. Works in a script, and in a notebook whose event loop runs.

    Ctrl-C stops it cleanly: what was walked is stored, and the same call goes on.
    """
    asked = _plan(scraper, params, fresh, knobs)
    return call(lambda: _execute(asked))


def _plan(scraper: type[Scraper], params: Mapping[str, Any] | None, fresh: bool, knobs: Mapping[str, Any]) -> Plan:
    if not (isinstance(scraper, type) and issubclass(scraper, Scraper)):
        raise ConfigError(f"{scraper!r} is not a scraper class: give the class, not an instance or a name")
    found = Found(scraper, _ref(scraper))
    return runs.plan(found, params, knobs, fresh=fresh, prefix="")


def _ref(scraper: type[Scraper]) -> str:
    """How to find a scraper again. One in a script is known by its file, as `gossamer run script.py` knows it."""
    script = getattr(sys.modules["__main__"], "__file__", None)
    if scraper.__module__ == "__main__" and script:
        return f"{Path(script).resolve()}:{scraper.__qualname__}"
    return f"{scraper.__module__}:{scraper.__qualname__}"


async def _execute(asked: Plan, watch: Callable[[Running], None] = lambda running: None) -> Report:
    telemetry.configure_unless_done()
    async with runs.open_parts(asked.store, archive=asked.settings.config.archive) as parts:
        return await runs.execute(parts, asked, watch)


def call(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end whether or not this thread has a running loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return wait(work())
    return _call_elsewhere(work)


def wait(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, on a loop of its own."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def _call_elsewhere(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine on a thread of its own; Ctrl-C here stops it there, cleanly."""
    ended: Future[T] = Future()
    cancel: list[Callable[[], object]] = []

    async def noted() -> T:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        cancel.append(partial(loop.call_soon_threadsafe, task.cancel))
        return await work()

    def elsewhere() -> None:
        try:
            ended.set_result(wait(noted()))
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            ended.set_exception(error)

    thread = threading.Thread(target=elsewhere, name="gossamer-run")
    thread.start()
    try:
        return ended.result()
    except KeyboardInterrupt:
        for call in cancel:
            call()
        raise
    finally:
        thread.join()
