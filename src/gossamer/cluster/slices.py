"""A slice: the hosts of one shard of one run, walked by one process for a bounded time, under one lease."""

from __future__ import annotations

import asyncio
import math
import socket
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path

import structlog

from gossamer import registry, runs, seeding, urls
from gossamer.catalog import Catalog
from gossamer.cluster.careful import CarefulWalk, Solo
from gossamer.engine import Engine
from gossamer.errors import ConfigError, GossamerError, LeaseLost, ScraperAbsent, StoreAway, StoreError
from gossamer.fetch.ways import Ways
from gossamer.progress import Listener, Progress
from gossamer.reader import Reader
from gossamer.registry import Found
from gossamer.runs import Parts
from gossamer.scope import Home, Scope
from gossamer.scraper import Scraper
from gossamer.settings import Place
from gossamer.storage.shared import Shared, Taken
from gossamer.telemetry import log
from gossamer.tenure import Tenure
from gossamer.values import Run

#: Seconds between two looks at whether a slice has had its time, or has nothing to do.
LOOK = 0.25
#: A shard that has nothing to do for longer than this, in seconds, is given back until it has.
IDLE = 1.0
#: Seconds after which it is looked at again where a run is at home.
HOME = 5.0
#: Shards of a run whose cookies are remembered, besides those that are walked.
MOST_WAYS = 256
#: Seconds that a shard rests whose walk failed: at first, and at most.
AFTER_TROUBLE, LONGEST_TROUBLE = 5.0, 300.0


def _found(run: Run, place: Place) -> Found:
    """The scraper of a run: from where whoever asked for the run has it, or by its name among those of this machine.

    Raises ScraperAbsent if it is not here, and ConfigError if it cannot be loaded.
    """
    try:
        return registry.load_all(run.ref)[0]
    except ScraperAbsent as why:
        known = Catalog(place.scrapers, Path.cwd()).get(run.scraper)
        if known is None:
            here = f"{socket.gethostname()} knows no scraper {run.scraper!r} either (in {Path.cwd()})"
            raise ScraperAbsent(f"{why}; {here}") from None
        return known


class Cast:
    """What the slices of one run share in one process: the scraper, its settings, its sessions by shard."""

    def __init__(self, run: Run, place: Place) -> None:
        """Raises GossamerError, whatever is wrong with the scraper's file; ScraperAbsent if there is none here."""
        self.plan = runs.plan_of(run, place.store, _found(run, place), archive=False)
        if self.spread and not (place.broker or "").startswith(("redis://", "rediss://")):
            raise ConfigError("spread needs a Redis as broker, which keeps one pace for all workers: leave spread out")
        self.scraper: Scraper = runs.made(self.plan)
        #: What it was made of: a run that is resumed may have other options.
        self.options = run.options
        self._ways: dict[int, Ways] = {}
        self._given: dict[int, list[str]] | None = None
        self._home, self._home_until = Home(self.plan.settings.config.scope), 0.0
        #: Shards whose walks failed here, and how often in a row.
        self._troubles: Counter[int] = Counter()

    def well(self, shard: int) -> None:
        """The walk of a shard ended as it should."""
        del self._troubles[shard]

    def trouble(self, shard: int) -> float:
        """The walk of a shard failed: the seconds it rests, longer each time in a row."""
        self._troubles[shard] += 1
        return min(LONGEST_TROUBLE, AFTER_TROUBLE * 2.0 ** min(10, self._troubles[shard] - 1))

    @property
    def spread(self) -> bool:
        """Whether its hosts are spread over shards."""
        return self.plan.settings.config.spread > 1

    async def home(self, store: Shared, run: Run, shard: int) -> Home:
        """Where the run starts. All of it is looked at now and then; what is in the shard always: a redirect may have
        led there since."""
        began = time.monotonic()
        if began >= self._home_until:
            self._home.widen(await seeding.roots(store, run, self._home.kind))
            now = time.monotonic()
            self._home_until = now + max(HOME, 20 * (now - began))
        elif self._home.kind != "any":
            here = await store.hosts(run.id, shard)
            self._home.widen(await seeding.roots(store, run, self._home.kind, here))
        return self._home

    async def given(self, store: Shared, run: Run, shard: int) -> Sequence[str]:
        """A start URL of each host of a shard that the run was given. They are known when a run is walked."""
        if self._given is None:
            found: dict[int, list[str]] = {}
            for url in await seeding.given(store, run):
                base = urls.shard(urls.host(url))
                for n in range(self.plan.settings.config.spread):
                    found.setdefault((base + n) % urls.SHARDS, []).append(url)
            self._given = found
        return self._given.get(shard, ())

    async def ways(self, parts: Parts, run: int, shard: int) -> Ways:
        """How requests go out: hosts of one shard keep their cookies as long as this process has the run."""
        known = self._ways.pop(shard, None) or await runs.ways_of(parts, self.plan, self.scraper, run)
        while len(self._ways) >= MOST_WAYS:
            del self._ways[next(iter(self._ways))]  # that of the shard which was walked longest ago
        self._ways[shard] = known
        return known


class Slice:
    """One lease at work. `walk` ends when nothing is left, time is up, or `stop` is called."""

    def __init__(
        self,
        parts: Parts,
        store: Shared,
        place: Place,
        taken: Taken,
        solo: Solo,
        *,
        asked: float,
        elsewhere: Callable[[int, Collection[int]], None],
        listeners: Callable[[str], Listener],
    ) -> None:
        self.lease = taken.lease
        self.tenure = Tenure(taken.lease.ttl, asked)
        self.since = time.time()
        self.engine: Engine | None = None
        self._parts = parts
        self._store = store
        self._place = place
        self._taken = taken
        self._solo = solo
        self._elsewhere = elsewhere
        self._listeners = listeners
        self._stopped = ""
        self._rest = 0.0

    def stop(self, reason: str, *, soon: bool = True) -> None:
        """Take no more, settle what is walked, and give the lease back; `soon`: do not wait long for answers."""
        self._stopped = self._stopped or reason
        if self.engine is not None:
            if soon:
                self.engine.grace = min(self.engine.grace, self._place.grace)
            self.engine.stop(reason)

    def lose(self) -> None:
        """The lease is somebody else's: nothing more is asked, and nothing of ours is written."""
        self.tenure.end()
        self.stop("lost")

    async def walk(self, run: Run, cast: Cast) -> str:
        """Walk, and give the lease back. Returns why it ended: "done", "yielded", "rests", "lost" ..."""
        with structlog.contextvars.bound_contextvars(run=self.lease.run, scraper=cast.scraper.name):
            try:
                reason = await self._walk(run, cast)
                cast.well(self.lease.shard)
            except LeaseLost as why:
                log.warning("slice.lost", shard=self.lease.shard, why=str(why))
                return "lost"
            except StoreAway as why:
                log.warning("slice.store", shard=self.lease.shard, why=str(why))
                return "lost"
            except GossamerError as why:  # also a store that refuses what is to be written: nobody died of it
                log.error("slice.failed", shard=self.lease.shard, why=str(why))
                reason, self._rest = "failed", cast.trouble(self.lease.shard)
            except Exception as error:  # noqa: BLE001 - one shard's trouble is not that of others
                log.error("slice.failed", shard=self.lease.shard, exc_info=error)
                reason, self._rest = "failed", cast.trouble(self.lease.shard)
            if reason == "cut_off":
                # It may have been renewed in the same moment: then it is ours, and nobody walks it.
                with suppress(StoreError):
                    await self._store.give_back(self.lease)
            if reason in ("cut_off", "lost"):
                return "lost"
            # Whoever conducts it is about to end it; or somebody paused its hosts, and may say that they go on.
            if reason in ("max_pages", "max_items", "paused"):
                self._rest = AFTER_TROUBLE
            await self._give_back()
            return reason

    async def _walk(self, run: Run, cast: Cast) -> str:
        standing = await self._store.standing(run.id)
        if standing is None:
            return "ended"
        config = cast.plan.settings.config
        ways = await cast.ways(self._parts, run.id, self.lease.shard)
        scope = Scope(config, self._parts.gate.orders.budgets, await cast.home(self._store, run, self.lease.shard))
        engine = Engine(
            store=self._store,
            gate=self._parts.gate,
            fetcher=self._parts.fetcher,
            ways=ways,
            reader=Reader(cast.scraper, config.handler_timeout, self._parts.watchdog),
            config=config,
            scope=scope,
            lease=self.lease,
            progress=Progress(run),
            by_level=cast.scraper.by_level,
            alone="of" in run.options,
            tenure=self.tenure,
            begun=(standing.begun_pages, standing.begun_items),
            elsewhere=lambda shards: self._elsewhere(run.id, shards),
        )
        if self._taken.crashes:
            engine.careful = CarefulWalk(self._store, self._taken, engine, self._solo)
        engine.progress.listen(self._listeners(run.scraper))
        hosts = await cast.given(self._store, run, self.lease.shard)
        await seeding.restore(self._store, run, cast.scraper, scope, ways, trusted=cast.plan.trusted, hosts=hosts)
        self.engine = engine
        async with self._solo.among(engine):
            if self._stopped:
                return self._stopped
            watching = asyncio.create_task(self._watch(engine))
            try:
                return await engine.run(config.timeout)
            finally:
                watching.cancel()

    async def _watch(self, engine: Engine) -> None:
        """End the slice when its time is up, or when it would only wait."""
        until = time.monotonic() + self._place.slice
        while True:
            await asyncio.sleep(LOOK)
            rests = engine.frontier.rests(time.monotonic())
            if rests is not None and rests != math.inf and rests > IDLE and engine.written:
                self._rest = rests
                return engine.stop("rests")
            if time.monotonic() > until:
                return engine.stop("yielded")

    async def _give_back(self) -> None:
        """Remember how its hosts stand, for whoever asks them next, and give the lease back."""
        try:
            if notes := self._parts.gate.notes_of(self.lease.shard):
                await self._store.remember(notes)
            await self._store.give_back(self.lease, self._rest)
        except StoreError as why:
            log.warning("slice.not_given_back", shard=self.lease.shard, why=str(why))
