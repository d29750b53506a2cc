"""A slice: the hosts of one shard of one run, walked by one process for a bounded time, under one lease."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Collection
from contextlib import suppress

import structlog

from gossamer import runs, seeding
from gossamer.cluster.careful import CarefulWalk, Solo
from gossamer.engine import Engine
from gossamer.errors import ConfigError, GossamerError, LeaseLost, StoreError
from gossamer.fetch.ways import Ways
from gossamer.progress import Listener, Progress
from gossamer.reader import Reader
from gossamer.runs import Parts
from gossamer.scope import Scope
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
#: Seconds that a shard rests whose walk failed.
AFTER_TROUBLE = 5.0


class Cast:
    """What the slices of one run share in one process: the scraper, its settings, its sessions by shard."""

    def __init__(self, run: Run, place: Place) -> None:
        """Raises GossamerError, whatever is wrong with the scraper's file."""
        self.plan = runs.plan_of(run, place.store, archive=False)
        if self.spread and not (place.broker or "").startswith(("redis://", "rediss://")):
            raise ConfigError("spread needs a Redis as broker, which keeps one pace for all workers: leave spread out")
        self.scraper: Scraper = runs.made(self.plan)
        #: What it was made of: a run that is resumed may have other options.
        self.options = run.options
        self._ways: dict[int, Ways] = {}

    @property
    def spread(self) -> bool:
        """Whether its hosts are spread over shards."""
        return self.plan.settings.config.spread > 1

    async def ways(self, parts: Parts, run: int, shard: int) -> Ways:
        """How requests go out: hosts of one shard keep their cookies as long as this process has the run."""
        if shard not in self._ways:
            self._ways[shard] = await runs.ways_of(parts, self.plan, self.scraper, run)
        return self._ways[shard]


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
            except LeaseLost as why:
                log.warning("slice.lost", shard=self.lease.shard, why=str(why))
                return "lost"
            except StoreError as why:
                log.warning("slice.store", shard=self.lease.shard, why=str(why))
                return "lost"
            except GossamerError as why:
                log.error("slice.failed", shard=self.lease.shard, why=str(why))
                reason, self._rest = "failed", AFTER_TROUBLE
            except Exception as error:  # noqa: BLE001 - one shard's trouble is not that of others
                log.error("slice.failed", shard=self.lease.shard, exc_info=error)
                reason, self._rest = "failed", AFTER_TROUBLE
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
        scope = Scope(config, self._parts.gate.orders.budgets)
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
        await seeding.restore(self._store, run, cast.scraper, scope, ways, trusted=cast.plan.trusted)
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
