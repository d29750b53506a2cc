"""Use cases: what the doors call. Every part is built here, in one exit stack."""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import msgspec
import structlog

from gossamer import judging, owners, redaction, registry, seeding, settings, urls
from gossamer.delivery import Deliveries
from gossamer.engine import Engine
from gossamer.errors import ConfigError, GossamerError, StoreBusy, StoreError
from gossamer.fetch import bodies, browser
from gossamer.fetch.addresses import Addresses, Resolver
from gossamer.fetch.client import Client
from gossamer.fetch.fetcher import Fetcher, Fetchers
from gossamer.fetch.proxies import provider_of
from gossamer.fetch.proxy_check import getter
from gossamer.fetch.ways import Ways
from gossamer.pipeline import Pipeline
from gossamer.polite import robots
from gossamer.polite.gate import Gate
from gossamer.progress import Progress
from gossamer.reader import Reader, Watchdog
from gossamer.registry import Found
from gossamer.scope import Scope
from gossamer.scraper import Scraper
from gossamer.settings import Place, ScraperConfig, Settings
from gossamer.sinks import sinks_of
from gossamer.storage import opening
from gossamer.storage.archive import Archive
from gossamer.storage.opening import MEMORY
from gossamer.storage.store import Draft, Store
from gossamer.telemetry import log
from gossamer.values import Lease, Pending, Run, RunState, Verdict

#: Seconds a lease lasts without being renewed; every settle renews it.
LEASE_TTL = 60.0
#: Knobs that bound a run; they count from each of its starts.
BUDGETS = ("max_pages", "max_items")
#: Knobs that say what a run is; the others may change when it is resumed.
_NOT_KEPT = ("headers", "proxies", *BUDGETS, "dry_run")
_IDENTITY = ("scope", "include", "exclude", "depth")
#: Seconds that a handler may block all other runs of its process, where nobody set `handler_timeout`.
LONGEST_BLOCK = 5.0
#: Why runs end that a service leaves for its next start.
SHUTDOWN = "shutdown"
#: Reasons of walks that read no page, and did what they should.
_AS_GOOD_AS_READ = ("unchanged", "fresh", "file")


class Report(msgspec.Struct, frozen=True):
    """How a run went: what `--json` prints."""

    run: int
    status: str
    reason: str
    pages: int
    items: int
    #: Records that became no items.
    rejected: int
    failed: int
    skipped: int
    retried: int
    bytes: int
    seconds: float
    pages_per_second: float
    by_reason: dict[str, int]
    #: What the drift gate says: "learning", "good", "suspect" ...; empty: nobody looked.
    verdict: str = ""
    #: Items that wait for a sink which could not take them.
    undelivered: int = 0

    @property
    def exit_code(self) -> int:
        """0 finished; 3 ended early; 4 suspect: its items are held back; 130 interrupted."""
        if self.reason == "interrupted":
            return 130
        if self.verdict == Verdict.SUSPECT:
            return 4
        return 0 if self.reason == "done" else 3


class Parts(msgspec.Struct, frozen=True):
    """What runs share: one store, one gate, one fetcher, one watchdog, one folder for large bodies."""

    store: Store
    gate: Gate
    fetcher: Fetcher
    watchdog: Watchdog
    spool: str
    #: Where pages are kept; None: nowhere.
    archive: Archive | None = None
    #: Who looks names up; left out: the system.
    resolver: Resolver | None = None


@asynccontextmanager
async def open_parts(store: str, *, archive: bool = False, most: int = opening.MOST) -> AsyncIterator[Parts]:
    """Open what runs need, to work on a store; with the archive of its pages, if that is asked for.

    `most` is how many connections to a database there may be.
    """
    async with AsyncExitStack() as stack:
        try:
            opened = await stack.enter_async_context(opening.working(store, most=most))
        except StoreBusy:
            if await _is_served(store):
                raise StoreBusy(
                    f"a service works on the store {opening.shown(store)}: `gossamer schedule run NAME` asks it for "
                    "a run, or give another store"
                ) from None
            raise
        kept: Archive | None = None
        if archive and opening.lasting(store):
            place = opening.archive(store)
            if not await opened.runs(1) and await _has_pages(place):
                set_aside(place)
            kept = await stack.enter_async_context(Archive(place))
        client = await stack.enter_async_context(Client())
        shown = await stack.enter_async_context(browser.Browser())
        watchdog = stack.enter_context(Watchdog())
        spool = stack.enter_context(bodies.spool())
        yield Parts(opened, Gate(opened), Fetchers(client, shown), watchdog, spool, kept)


async def _is_served(store: str) -> bool:
    """Whether the process that works on a store is a service's."""
    try:
        async with opening.reading(store) as beside:
            return await beside.served(time.time() - 10)
    except StoreError:
        return False


async def _has_pages(archive: str) -> bool:
    """Whether something is in an archive. It is closed in good order, so that all it has is in one file."""
    try:
        async with Archive(archive) as found:
            return await found.count(newest=False) > 0
    except StoreBusy:
        raise
    except StoreError:
        return True


def set_aside(archive: str) -> None:
    """Pages of a store that is no more would pass for pages of the new one, whose runs have the same numbers."""
    names = (f"{archive}.old{n if n > 1 else ''}" for n in itertools.count(1))
    name = next(name for name in names if not os.path.exists(name))
    log.warning("archive.set_aside", archive=archive, renamed=name, why="its store is gone")
    for ending in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.replace(archive + ending, name + ending)


@asynccontextmanager
async def open_store(store: str) -> AsyncIterator[Store]:
    """Open a store to read."""
    async with opening.reading(store) as opened:
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
    #: Whether a person asks for it, who may start at private addresses; what comes over the network may not.
    trusted: bool = True
    #: Origin -> login, as they stood in the URLs that were given. Never written anywhere.
    logins: dict[str, tuple[str, str]] = {}

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
    logins: Mapping[str, tuple[str, str]] | None = None,
) -> Plan:
    """Read the settings once, for one run. Raises ConfigError."""
    try:
        given = dict(params or {})
        msgspec.json.encode(given)
    except (TypeError, ValueError) as why:
        raise ConfigError(f"params must be a dict of JSON values: {why}") from None
    found.scraper.check_params(given)
    read = settings.read(flags, own=found.scraper.knobs(), owner=found.scraper.__name__, prefix=prefix)
    lacking = browser.missing() if read.config.render else None
    if lacking:
        raise ConfigError(lacking)
    sinks_of(read.config.sinks)
    return Plan(found, given, read, fresh, run, logins=dict(logins or {}))


class Running:
    """A run under way: its engine, its progress, and how to stop it."""

    def __init__(self, run: Run, engine: Engine, resumed: Pending | None, sinks: Deliveries) -> None:
        self.run = run
        self.engine = engine
        self._sinks = sinks
        self.progress: Progress = engine.progress
        #: What was left when it was resumed; None for a new run.
        self.resumed = resumed

    def stop(self, reason: str = "interrupted") -> None:
        """Take no more requests, let walks finish, settle, and end."""
        self.engine.stop(reason)
        self._sinks.stop()


Watcher = Callable[[Running], None]


async def execute(parts: Parts, asked: Plan, watch: Watcher = lambda running: None) -> Report:
    """Run a plan to its end: start it, or resume what the same plan left unfinished.

    `watch` is called once, before the first request goes out. Cancelling settles what was walked, marks the
    run cancelled, and raises CancelledError.
    """
    store, config = parts.store, asked.settings.config
    run, resumed = await find_or_make(store, asked)
    try:
        lease = await store.acquire(run.id, owners.me(), LEASE_TTL, limits_of(config))
    except StoreBusy:
        if resumed is None:
            await store.forget_run(run.id)
        raise
    lasting = asked.store != MEMORY
    sinks = Deliveries(store, [(run.scraper, sink) for sink in sinks_of(config.sinks) if lasting])
    ended: Report | None = None
    with structlog.contextvars.bound_contextvars(run=run.id, scraper=run.scraper):
        try:
            scraper = made(asked)
            if lasting:
                await store.promote()  # what a killed process did not get to
                await judging.hold(store, lease, run, config)
            scope = Scope(config, parts.gate.orders.budgets)
            ways = await ways_of(parts, asked, scraper, run.id)
            engine = Engine(
                store=store,
                gate=parts.gate,
                fetcher=parts.fetcher,
                ways=ways,
                reader=Reader(scraper, config.handler_timeout, parts.watchdog),
                config=config,
                scope=scope,
                lease=lease,
                progress=Progress(run),
                by_level=scraper.by_level,
                archive=parts.archive,
                alone="of" in run.options,
            )
            log.info("run.start", resumed=run.started is not None, store=opening.shown(asked.store))
            await sinks.start()
            engine.progress.listen(sinks.hear)
            watch(Running(run, engine, resumed, sinks))
            await seeding.seed(
                store,
                lease,
                run,
                scraper,
                scope,
                ways,
                parts.watchdog,
                trusted=asked.trusted,
                stopped=lambda: bool(engine.reason),
            )
            reason = await engine.run(asked.settings.place.grace)
            state, reason = await ending(store, lease, reason)
            if lasting and state is not RunState.PENDING:
                await judging.judge(store, lease, state, reason, config)
            # Last of all: who is killed before is resumed, and judged.
            ended = report(await store.end_run(lease, state, reason))
            if lasting:
                await prune(parts.archive, asked.settings.place)
            behind = sum(each.items for each in await sinks.finish(asked.settings.place.grace))
            tell = log.error if state is RunState.FAILED else log.info
            counts = {"pages": ended.pages, "items": ended.items, "failed": ended.failed}
            tell("run.end", state=str(state), reason=ended.reason, **counts)
            return msgspec.structs.replace(ended, undelivered=behind)
        except asyncio.CancelledError:
            if ended is None:
                await asyncio.shield(store.end_run(lease, RunState.CANCELLED, "interrupted"))
            raise
        except Exception as error:
            if ended is None:
                await end_failed(store, lease, error)
            if resumed is None:
                await _forget(store, lease)
            raise
        finally:
            await asyncio.shield(_let_go(store, lease))
            await sinks.aclose()


def made(asked: Plan) -> Scraper:
    """The scraper of a plan. Raises ConfigError, whatever the author's code raised."""
    try:
        return asked.found.scraper(asked.params)
    except GossamerError:
        raise
    except (Exception, SystemExit) as error:
        name = asked.found.scraper.__name__
        raise ConfigError(f"{name} cannot be made: {type(error).__name__}: {error}") from error


def limits_of(config: ScraperConfig) -> dict[str, Any]:
    """What a start promises to keep: `gossamer audit` holds the log against it."""
    return {
        "rate": config.rate.interval,
        "per_host": config.per_host,
        "robots": config.robots,
        "agent": robots.product(config.user_agent),
        "pace_per": config.pace_per,
        "max_crawl_delay": config.max_crawl_delay,
    }


async def ways_of(parts: Parts, asked: Plan, scraper: Scraper, run: int) -> Ways:
    """How the requests of a run go out: to each host with the same face, however often it is resumed."""
    config = asked.settings.config
    redaction.learn(*scraper.secrets.values(), *(password for _, password in asked.logins.values()))
    addresses = Addresses(private=config.allow_private, resolver=parts.resolver)
    provider = provider_of(config.proxies)
    if provider is not None and provider.stale:
        await provider.load(getter(parts.fetcher, addresses))
    ways = Ways(
        config,
        addresses,
        provider=provider,
        secrets=scraper.secrets,
        spool=parts.spool,
        seed=run,
        own_proxies=provider is not None and provider.typed and asked.trusted,
    )
    for origin, login in asked.logins.items():
        ways.start(origin, login, typed=asked.trusted)
    return ways


async def find_or_make(store: Store, asked: Plan) -> tuple[Run, Pending | None]:
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
    return await store.new_run(draft_of(asked)), None


def draft_of(asked: Plan) -> Draft:
    """A plan as it is written down."""
    scraper = asked.found.scraper
    # In one order, however they were given: runs with the same parameters are known by them.
    params = msgspec.json.decode(msgspec.json.encode(asked.params, order="deterministic"))
    # What gone means must be known when a run is accepted, long after it has ended.
    reading = {**reading_of(scraper), "gone": asked.settings.config.gone}
    return Draft(
        scraper.name,
        asked.found.ref,
        asked.signature,
        params,
        _options(asked.settings),
        reading,
        trusted=asked.trusted,
    )


def reading_of(scraper: type[Scraper]) -> dict[str, Any]:
    """What a run writes down about how its pages are read."""
    parser = {"parser": str(getattr(scraper.parser, "name", scraper.parser))} if scraper.parser is not None else {}
    return {**parser, **Pipeline(scraper).reading}


def _options(read: Settings) -> dict[str, Any]:
    """The knobs that were set by hand, to be set again when a run is resumed by its number.

    Headers are left out: they may hold secrets, and the store is no place for those. So are budgets: they are
    of one start, not of the run.
    """
    config = read.config
    given = [name for name, origin in read.origins.items() if origin.startswith("--") and name not in _NOT_KEPT]
    if not all(isinstance(sink, str) for sink in config.sinks):  # a Sink may hold secrets, and a text cannot tell all
        given = [name for name in given if name != "sinks"]
    return {name: _plain(getattr(config, name)) for name in given if hasattr(config, name)}


def _plain(value: Any) -> Any:
    if isinstance(value, settings.Pace):
        return str(value.per_second) if value.per_second else "none"
    return list(value) if isinstance(value, tuple) else value


async def ending(store: Store, lease: Lease, reason: str) -> tuple[RunState, str]:
    """How a run that does no more has ended, and why."""
    if reason in ("interrupted", "cancelled"):
        return RunState.CANCELLED, reason
    if reason == SHUTDOWN:  # the service ends, and goes on with it when it is started again
        return RunState.PENDING, reason
    run = await store.run(lease.run)
    assert run is not None
    if reason != "done" and run.seeded and (await store.pending(run.id)).waiting == 0:
        reason = "done"
    read = run.pages or any(word in run.by_reason for word in _AS_GOOD_AS_READ)
    if reason == "done" and not read:
        return RunState.FAILED, "start_failed"
    return RunState.FINISHED if reason == "done" else RunState.STOPPED, reason


async def end_failed(store: Store, lease: Lease, error: Exception) -> None:
    """Write down that a run could not go on; where even that is impossible, the first error is what matters."""
    try:
        await store.end_run(
            lease, RunState.FAILED, redaction.text(f"{getattr(error, 'reason', 'error')}: {error}")[:500]
        )
    except StoreError:
        log.debug("run.end_not_written", run=lease.run)


async def prune(archive: Archive | None, place: Place) -> None:
    """Make room in the archive, as its limits say."""
    if archive is not None and (place.archive_age is not None or place.archive_size is not None):
        await archive.prune(place.archive_age, place.archive_size)


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
        rejected=run.rejected,
        failed=run.failed,
        skipped=run.skipped,
        retried=run.retried,
        bytes=run.size,
        seconds=round(run.seconds, 3),
        pages_per_second=round(run.pages / run.seconds, 1) if run.seconds > 0 else 0.0,
        by_reason=dict(sorted(run.by_reason.items())),
        verdict=run.verdict,
    )


def knobs_of(run: Run) -> dict[str, Any]:
    """The knobs that a run was started with; what else its options say is no knob."""
    return {name: value for name, value in run.options.items() if name in settings.KNOBS}


def plan_of(run: Run, store: str, found: Found | None = None, **flags: Any) -> Plan:
    """The plan of a run that a process walks beside others, from what stands in its row. Raises ConfigError.

    `found` is its scraper, where it is not to be loaded from where the row says.
    """
    found = found or registry.load_all(run.ref)[0]
    given = {**knobs_of(run), "store": store, **flags}
    made = plan(found, run.params, given, run=run.id)
    if "handler_timeout" not in made.settings.origins:
        # All runs share one thread: while a handler blocks, none goes on.
        made = plan(found, run.params, {**given, "handler_timeout": LONGEST_BLOCK}, run=run.id)
    return msgspec.structs.replace(made, trusted=run.trusted)


async def resume_plan(store: Store, run_id: int | None, flags: Mapping[str, Any]) -> Plan:
    """The plan to continue a run: the newest unfinished one if none is named."""
    if run_id is None:
        candidates = [run for run in await store.runs() if await _waits(store, run)]
        if not candidates:
            raise ConfigError("no run is unfinished: nothing to resume")
        run = candidates[0]
    else:
        named = await store.run(run_id)
        if named is None:
            raise ConfigError(f"there is no run {run_id}: `gossamer runs` lists them")
        if named.verdict is Verdict.REJECTED:
            raise ConfigError(f"run {run_id} was rejected: start a new one with `gossamer run`")
        if named.seeded and not await _waits(store, named):
            raise ConfigError(f"run {run_id} has finished: nothing of it waits")
        run = named
    for what, how in (("replay", "replay"), ("import", "archive import")):
        if what in run.options:
            raise ConfigError(f"run {run.id} is no crawl: say the same `gossamer {how}` again, which does the rest")
    found = registry.load_all(run.ref)[0]
    return plan(found, run.params, {**knobs_of(run), **flags}, run=run.id)


async def _waits(store: Store, run: Run) -> bool:
    """Whether something is left of a run: pages to read, or items to judge."""
    if run.verdict in (Verdict.PENDING, Verdict.REJECTED):
        return run.verdict is Verdict.PENDING
    return (await store.pending(run.id)).waiting > 0
