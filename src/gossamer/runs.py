"""Use cases: what the doors call. Every part is built here, in one exit stack."""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import msgspec
import structlog

from gossamer import registry, settings, urls
from gossamer.engine import Engine
from gossamer.errors import ConfigError, ReadError, StoreError
from gossamer.fetch.client import Client
from gossamer.polite.gate import Gate
from gossamer.progress import Progress
from gossamer.reader import Reader, Watchdog
from gossamer.registry import Found
from gossamer.scope import Scope
from gossamer.scraper import Scraper, each
from gossamer.settings import Settings
from gossamer.storage.sqlite import MEMORY, SqliteStore, path_of
from gossamer.storage.store import Draft, Store
from gossamer.telemetry import log
from gossamer.values import Lease, Pending, Request, Run, RunState

#: Seconds a lease lasts without being renewed; every settle renews it.
LEASE_TTL = 60.0
#: Seconds that start() may take for one URL.
START_LIMIT = 60.0
#: Start requests after which Ctrl-C is heard.
BREATH = 1_000
#: Start requests written in one transaction: digests are spread evenly, so each transaction writes nearly
#: every page of their index, and few big ones write a third of what many small ones do.
SEEDS = 50_000
#: Knobs that say what a run is; the others may change when it is resumed.
_NOT_KEPT = ("headers", "max_pages", "max_items", "dry_run")
_IDENTITY = ("scope", "include", "exclude", "depth")


class Report(msgspec.Struct, frozen=True):
    """How a run went: what `--json` prints."""

    run: int
    status: str
    reason: str
    pages: int
    items: int
    failed: int
    skipped: int
    retried: int
    bytes: int
    seconds: float
    pages_per_second: float
    by_reason: dict[str, int]

    @property
    def exit_code(self) -> int:
        """0 finished; 3 ended early; 130 interrupted."""
        if self.reason == "interrupted":
            return 130
        return 0 if self.reason == "done" else 3


class Parts(msgspec.Struct, frozen=True):
    """What runs share: one store, one gate, one fetcher, one watchdog."""

    store: Store
    gate: Gate
    fetcher: Client
    watchdog: Watchdog


@asynccontextmanager
async def open_parts(store: str) -> AsyncIterator[Parts]:
    """Open what runs need, to work on a store."""
    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(SqliteStore(path_of(store)))
        fetcher = await stack.enter_async_context(Client())
        watchdog = stack.enter_context(Watchdog())
        yield Parts(opened, Gate(opened), fetcher, watchdog)


@asynccontextmanager
async def open_store(store: str) -> AsyncIterator[Store]:
    """Open a store to read."""
    async with SqliteStore(path_of(store), owner=False) as opened:
        yield opened


class Plan(msgspec.Struct, frozen=True):
    """A run somebody asks for."""

    found: Found
    params: dict[str, Any]
    settings: Settings
    #: Begin anew even if an earlier run of the same command did not finish.
    fresh: bool = False
    #: Continue this run.
    run: int | None = None

    @property
    def store(self) -> str:
        """Where it is written: nowhere lasting, for a dry run."""
        return MEMORY if self.settings.config.dry_run else self.settings.place.store

    @property
    def signature(self) -> str:
        """Equal for plans that mean the same run."""
        config = self.settings.config
        identity = {name: getattr(config, name) for name in _IDENTITY}
        made = msgspec.json.encode([self.found.ref, self.params, identity], order="sorted")
        return urls.digest(made)


def plan(
    found: Found,
    params: Mapping[str, Any] | None = None,
    flags: Mapping[str, Any] | None = None,
    *,
    fresh: bool = False,
    run: int | None = None,
    prefix: str = "--",
) -> Plan:
    """Read the settings once, for one run. Raises ConfigError."""
    try:
        given = dict(params or {})
        msgspec.json.encode(given)
    except (TypeError, ValueError) as why:
        raise ConfigError(f"params must be a dict of JSON values: {why}") from None
    read = settings.read(flags, own=found.scraper.knobs(), owner=found.scraper.__name__, prefix=prefix)
    return Plan(found, given, read, fresh, run)


class Running:
    """A run under way: its engine, its progress, and how to stop it."""

    def __init__(self, run: Run, engine: Engine, resumed: Pending | None) -> None:
        self.run = run
        self.engine = engine
        self.progress: Progress = engine.progress
        #: What was left when it was resumed; None for a new run.
        self.resumed = resumed

    def stop(self, reason: str = "interrupted") -> None:
        """Take no more requests, let walks finish, settle, and end."""
        self.engine.stop(reason)


Watcher = Callable[[Running], None]


async def execute(parts: Parts, asked: Plan, watch: Watcher = lambda running: None) -> Report:
    """Run a plan to its end: start it, or resume what the same plan left unfinished.

    `watch` is called once, before the first request goes out. Cancelling settles what was walked, marks the
    run cancelled, and raises CancelledError.
    """
    store, config = parts.store, asked.settings.config
    run, resumed = await _find_or_make(store, asked)
    lease = await store.acquire(run.id, _owner(), LEASE_TTL)
    scraper = asked.found.scraper(asked.params)
    with structlog.contextvars.bound_contextvars(run=run.id, scraper=run.scraper):
        try:
            scope = Scope(config)
            engine = Engine(
                store=store,
                gate=parts.gate,
                fetcher=parts.fetcher,
                reader=Reader(scraper, config.handler_timeout, parts.watchdog),
                config=config,
                scope=scope,
                lease=lease,
                progress=Progress(run),
                by_level=scraper.by_level,
            )
            log.info("run.start", resumed=resumed is not None, store=asked.store)
            watch(Running(run, engine, resumed))
            await _seed(store, lease, run, scraper, scope, engine, parts.watchdog)
            reason = await engine.run(asked.settings.place.grace)
            ended = report(await _end(store, lease, reason))
            log.info("run.end", reason=ended.reason, pages=ended.pages, items=ended.items, failed=ended.failed)
            return ended
        except asyncio.CancelledError:
            await asyncio.shield(store.end_run(lease, RunState.CANCELLED, "interrupted"))
            raise
        except Exception as error:
            await _end_failed(store, lease, error)
            if resumed is None:
                await _forget(store, lease)
            raise
        finally:
            await asyncio.shield(_let_go(store, lease))


async def _find_or_make(store: Store, asked: Plan) -> tuple[Run, Pending | None]:
    """The run a plan means: the one it names, the unfinished one, or a new one."""
    run: Run | None = None
    if asked.run is not None:
        run = await store.run(asked.run)
        if run is None:
            raise ConfigError(f"there is no run {asked.run}: `gossamer runs` lists them")
    elif not asked.fresh:
        run = await store.unfinished(asked.signature)
    if run is not None:
        return run, await store.pending(run.id)
    scraper = asked.found.scraper
    draft = Draft(scraper.name, asked.found.ref, asked.signature, asked.params, _options(asked.settings))
    return await store.new_run(draft), None


def _options(read: Settings) -> dict[str, Any]:
    """The knobs that were set by hand, to be set again when a run is resumed by its number.

    Headers are left out: they may hold secrets, and the store is no place for those. So are budgets: they are
    of one start, not of the run.
    """
    given = [name for name, origin in read.origins.items() if origin.startswith("--") and name not in _NOT_KEPT]
    config = read.config
    return {name: _plain(getattr(config, name)) for name in given if hasattr(config, name)}


def _plain(value: Any) -> Any:
    if isinstance(value, settings.Pace):
        return str(value.per_second) if value.per_second else "none"
    return list(value) if isinstance(value, tuple) else value


def _owner() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


async def _seed(
    store: Store,
    lease: Lease,
    run: Run,
    scraper: Scraper,
    scope: Scope,
    engine: Engine | None = None,
    watchdog: Watchdog | None = None,
) -> None:
    """Put the start requests in, unless an earlier start of this run put in all of them."""
    if run.seeded:
        scope.start(await store.roots(run.id, by_host=scope.kind != "prefix"))
        return
    batch: list[Request] = []
    async with _Behind() as behind:
        async for request in _start_requests(scraper, watchdog):
            scope.start([request.url])
            batch.append(request)
            if len(batch) % BREATH == 0:
                await asyncio.sleep(0)  # a start that never ends can be stopped here
                if engine is not None and engine.reason:
                    return
            if len(batch) >= SEEDS:
                await behind.begin(store.add(lease, batch))
                batch = []
    await store.add(lease, batch, last=True)
    if (await store.pending(run.id)).waiting == 0:
        raise ConfigError(f"the scraper {scraper.name!r} has nothing to start with: give it start_urls")


class _Behind:
    """One write to the store under way while the next is prepared: on the thread that writes, both go on at once."""

    def __init__(self) -> None:
        self._under_way: asyncio.Future[Any] | None = None

    async def __aenter__(self) -> _Behind:
        return self

    async def begin(self, write: Coroutine[Any, Any, Any]) -> None:
        """Begin a write, once the last one has ended."""
        if self._under_way is not None:
            await self._under_way
        self._under_way = asyncio.ensure_future(write)
        await asyncio.sleep(0)  # lets it begin

    async def __aexit__(self, *_: object) -> None:
        if self._under_way is not None:
            await self._under_way


async def _start_requests(scraper: Scraper, watchdog: Watchdog | None) -> AsyncIterator[Request]:
    known: set[str] = set()
    try:
        async for yielded in _watched_start(scraper, watchdog):
            request = _start_request(yielded, scraper)
            if request.handler not in known:
                scraper.handler(request.handler)
                known.add(request.handler)
            yield request
    except (ConfigError, asyncio.CancelledError, GeneratorExit):
        raise
    except (ReadError, ValueError) as error:
        raise ConfigError(f"{scraper.name}.start(): {error}") from None
    except KeyError as error:
        raise ConfigError(f"the scraper {scraper.name!r} needs the parameter {error}: give --param") from error
    except (Exception, SystemExit) as error:
        raise ConfigError(f"{scraper.name}.start() failed: {type(error).__name__}: {error}") from error


async def _watched_start(scraper: Scraper, watchdog: Watchdog | None) -> AsyncIterator[Any]:
    """What start() yields. A plain one that blocks is interrupted, as a handler is."""
    yielded = scraper.start()
    if watchdog is None or not isinstance(yielded, Iterator):
        async for value in each(yielded):
            yield value
        return
    over = object()
    while True:
        with watchdog.guard("start()", START_LIMIT):
            value = next(yielded, over)
        if value is over:
            return
        yield value


def _start_request(yielded: Any, scraper: Scraper) -> Request:
    if isinstance(yielded, str):
        return Request(urls.absolute(yielded))
    if not isinstance(yielded, Request):
        raise ConfigError(f"{scraper.name}.start() yielded {yielded!r:.80}: yield URLs or Requests")
    yielded.check()
    return yielded.evolve(url=urls.absolute(yielded.url), depth=0)


async def _end(store: Store, lease: Lease, reason: str) -> Run:
    """Write down how a run ended."""
    run = await store.run(lease.run)
    assert run is not None
    if reason == "interrupted":
        return await store.end_run(lease, RunState.CANCELLED, reason)
    if reason != "done" and (await store.pending(run.id)).waiting == 0:
        reason = "done"
    if reason == "done" and not run.pages:
        return await store.end_run(lease, RunState.FAILED, "start_failed")
    return await store.end_run(lease, RunState.FINISHED if reason == "done" else RunState.STOPPED, reason)


async def _end_failed(store: Store, lease: Lease, error: Exception) -> None:
    """Write down that a run could not go on; where even that is impossible, the first error is what matters."""
    try:
        await store.end_run(lease, RunState.FAILED, f"{getattr(error, 'reason', 'error')}: {error}"[:500])
    except StoreError:
        log.debug("run.end_not_written", run=lease.run)


async def _forget(store: Store, lease: Lease) -> None:
    """A run that has not one request never began: whoever mends what was wrong starts a new one."""
    with suppress(StoreError):
        await store.forget_run(lease.run)


async def _let_go(store: Store, lease: Lease) -> None:
    try:
        await store.release(lease)
    except StoreError:
        log.debug("lease.not_released", run=lease.run)


def report(run: Run) -> Report:
    """A run as a report."""
    return Report(
        run=run.id,
        status=run.state,
        reason=run.reason,
        pages=run.pages,
        items=run.items,
        failed=run.failed,
        skipped=run.skipped,
        retried=run.retried,
        bytes=run.size,
        seconds=round(run.seconds, 3),
        pages_per_second=round(run.pages / run.seconds, 1) if run.seconds > 0 else 0.0,
        by_reason=dict(sorted(run.by_reason.items())),
    )


async def resume_plan(store: Store, run_id: int | None, flags: Mapping[str, Any]) -> Plan:
    """The plan to continue a run: the newest unfinished one if none is named."""
    if run_id is None:
        candidates = [run for run in await store.runs() if (await store.pending(run.id)).waiting]
        if not candidates:
            raise ConfigError("no run is unfinished: nothing to resume")
        run = candidates[0]
    else:
        named = await store.run(run_id)
        if named is None:
            raise ConfigError(f"there is no run {run_id}: `gossamer runs` lists them")
        if not (await store.pending(run_id)).waiting and named.seeded:
            raise ConfigError(f"run {run_id} has finished: nothing of it waits")
        run = named
    found = registry.load_all(run.ref)[0]
    return plan(found, run.params, {**run.options, **flags}, run=run.id)
