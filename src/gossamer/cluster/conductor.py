"""Conducting a run that workers walk: to seed it, to deliver its items, to hear what people want, and to end it.

There is one conductor for a run, in one of the workers, under a lease of its own. It asks the store how the run stands,
and keeps nothing in memory that matters: if it dies, another goes on where it was.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress

import structlog

from gossamer import judging, redaction, runs, seeding
from gossamer.cluster.slices import Cast
from gossamer.delivery import Deliveries
from gossamer.errors import ConfigError, GossamerError, LeaseLost, ScraperAbsent, StoreError
from gossamer.runs import Parts
from gossamer.scope import Scope
from gossamer.settings import Place, ScraperConfig
from gossamer.sinks import sinks_of
from gossamer.storage.shared import Shared, Standing, Taken
from gossamer.storage.store import Batch
from gossamer.telemetry import log
from gossamer.tenure import Tenure
from gossamer.values import Run, RunState

#: Seconds between two looks at how the run stands: it ends no later than this after its last page.
LOOK = 0.4
#: Seconds between two looks for shards that nobody walks.
TICKETS = 1.0
#: Seconds after which the time that the run took is written down.
CLOCK = 2.0
#: Seconds that those who walk a run that is to end have for it, beyond their lease.
PATIENCE = 2.0

#: What is wanted of a run -> how it ends.
_WISHES = {"cancel": "cancelled", "pause": "paused"}


class Conductor:
    """One run, from its first request to its end."""

    def __init__(
        self,
        parts: Parts,
        store: Shared,
        place: Place,
        taken: Taken,
        *,
        asked: float,
        issue: Callable[[int, Collection[int]], None],
        hopeless: Callable[[int], Awaitable[bool]],
    ) -> None:
        """`issue` is told of shards that have something to do. `hopeless` is asked about a run whose scraper is not on
        this machine: whether it is on none."""
        self.lease = taken.lease
        self.tenure = Tenure(taken.lease.ttl, asked)
        self.since = time.time()
        self._parts = parts
        self._store = store
        self._place = place
        self._crashes = taken.crashes
        self._issue = issue
        self._hopeless = hopeless
        self._poked = asyncio.Event()
        self._leaving = False
        self._looked_for_work = 0.0
        self._last = time.monotonic()

    def stop(self, reason: str = "shutdown", *, soon: bool = True) -> None:
        """Leave the run to another conductor."""
        self._leaving = True
        self._poked.set()

    def lose(self) -> None:
        """The lease is somebody else's."""
        self.tenure.end()
        self.stop()

    def poke(self) -> None:
        """Something ended: look now."""
        self._poked.set()

    async def conduct(self) -> str:
        """Conduct until the run has ended, or somebody else is to go on. Returns how."""
        run_id = self.lease.run
        try:
            run = await self._store.run(run_id)
            if run is None:
                return "ended"
            with structlog.contextvars.bound_contextvars(run=run_id, scraper=run.scraper):
                return await self._conduct(run)
        except LeaseLost:
            return "lost"
        except StoreError as why:
            log.warning("conductor.store", run=run_id, why=str(why))
            return "lost"
        finally:
            if self.tenure.holds:
                try:
                    await asyncio.shield(self._store.give_back(self.lease))
                except StoreError as why:
                    log.debug("conductor.not_given_back", run=run_id, why=str(why))

    async def _conduct(self, run: Run) -> str:
        try:
            if self._crashes >= self._place.poison_kills:
                raise ConfigError(f"its start ended the worker that began it, {self._crashes} times")
            cast = await asyncio.to_thread(Cast, run, self._place)
            return await self._lead(run, cast)
        except (LeaseLost, StoreError):
            raise
        except GossamerError as why:
            if isinstance(why, ScraperAbsent) and not await self._hopeless(run.id):
                log.warning("run.left", why=f"{why}: it is left to workers that have it")
                return "left"
            log.error("run.failed", why=str(why))
            return await self._fail(run, f"{why.reason}: {why}")
        except Exception as error:  # noqa: BLE001 - an author's mistake costs its own run, and no other
            log.error("run.failed", exc_info=error)
            return await self._fail(run, f"error: {type(error).__name__}: {error}")

    async def _fail(self, run: Run, reason: str) -> str:
        await self._store.end_run(self.lease, RunState.FAILED, redaction.text(reason)[:500])
        return "failed"

    async def _lead(self, run: Run, cast: Cast) -> str:
        store, config = self._store, cast.plan.settings.config
        sinks = Deliveries(store, [(run.scraper, sink) for sink in sinks_of(config.sinks)])
        # Whoever writes requests down knows by the run's row how they are spread.
        options = {**run.options, "spread": config.spread} if cast.spread else run.options
        run = await store.begin(self.lease, runs.limits_of(config), config.workers, options)
        log.info("run.start", resumed=run.seeded, cluster=True)
        try:
            await store.promote()
            await judging.hold(store, self.lease, run, config)
            await sinks.start()
            seeded = await self._seed(run, cast)
            reason = await self._watch(run, config, sinks, seeded=seeded)
            if reason == "":
                return "left"
            return await self._end(run, config, sinks, reason)
        finally:
            await sinks.aclose()

    async def _seed(self, run: Run, cast: Cast) -> bool:
        """Put in what the run begins with. Returns whether that is all of it: somebody may not want it any more."""
        if run.seeded:
            return True
        unwanted = asyncio.Event()
        heeding = asyncio.create_task(self._heed(run.id, unwanted))
        try:
            await self._seed_all(run, cast, lambda: self._leaving or unwanted.is_set())
        finally:
            heeding.cancel()
        return not unwanted.is_set()

    async def _heed(self, run_id: int, unwanted: asyncio.Event) -> None:
        """Look whether somebody wants a run to end that has not begun: a start may take long."""
        while True:
            await asyncio.sleep(TICKETS)
            with suppress(StoreError):  # whoever seeds notices that, too
                standing = await self._store.standing(run_id)
                if standing is not None and standing.wanted in _WISHES:
                    return unwanted.set()

    async def _seed_all(self, run: Run, cast: Cast, stopped: Callable[[], bool]) -> None:
        scope = Scope(cast.plan.settings.config, self._parts.gate.orders.budgets)
        ways = await runs.ways_of(self._parts, cast.plan, cast.scraper, run.id)
        await seeding.seed(
            self._store,
            self.lease,
            run,
            cast.scraper,
            scope,
            ways,
            self._parts.watchdog,
            trusted=cast.plan.trusted,
            apart=True,
            stopped=stopped,
        )

    # -- while it is walked ------------------------------------------------------------------------------------

    async def _watch(self, run: Run, config: ScraperConfig, sinks: Deliveries, *, seeded: bool) -> str:
        """Look on until the run has ended: why, or "" if somebody else is to look on."""
        stopping, since, pages = "", 0.0, run.pages
        while not self._leaving:
            standing = await self._store.standing(run.id)
            if standing is None:
                return ""
            if standing.pages != pages:
                pages = standing.pages
                sinks.hear(())
            await self._count_time(at_least=CLOCK)
            if not standing.waits and seeded:
                return "done"
            why = stopping or _reason_to_stop(standing, config)
            if why and not stopping:
                stopping, since = why, time.monotonic()
                await self._store.hush(self.lease)
            late = time.monotonic() - since > self.lease.ttl + PATIENCE
            if stopping and (standing.walked == 0 or late):
                return stopping
            if not stopping:
                await self._look_for_work(run.id)
            await self._pause()
        return ""

    async def _count_time(self, at_least: float = 0.0) -> None:
        """Count the time that the run takes, however many walk it."""
        now = time.monotonic()
        if now - self._last >= at_least:
            lap, self._last = now - self._last, now
            await self._store.settle(self.lease, Batch(seconds=lap))

    async def _look_for_work(self, run_id: int) -> None:
        """Shards that got something to do, and whose ticket was lost, or whose worker died."""
        if time.monotonic() - self._looked_for_work >= TICKETS:
            self._looked_for_work = time.monotonic()
            ready = await self._store.ready(run_id)
            if ready:
                self._issue(run_id, ready)

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(LOOK):
                await self._poked.wait()
        except TimeoutError:
            pass
        self._poked.clear()

    # -- its end -----------------------------------------------------------------------------------------------

    async def _end(self, run: Run, config: ScraperConfig, sinks: Deliveries, reason: str) -> str:
        store = self._store
        await self._count_time()
        state, reason = await runs.ending(store, self.lease, reason)
        await judging.judge(store, self.lease, state, reason, config)
        ended = runs.report(await store.end_run(self.lease, state, reason))
        behind = sum(each.items for each in await sinks.finish(self._place.grace))
        tell = log.error if state is RunState.FAILED else log.info
        counts = {"pages": ended.pages, "items": ended.items, "failed": ended.failed, "undelivered": behind}
        tell("run.end", state=str(state), reason=ended.reason, **counts)
        return "ended"


def _reason_to_stop(standing: Standing, config: ScraperConfig) -> str:
    """Why a run is to end before its work is done; empty: it is not."""
    if standing.wanted in _WISHES:
        return _WISHES[standing.wanted]
    if config.max_pages is not None and standing.pages - standing.begun_pages >= config.max_pages:
        return "max_pages"
    if config.max_items is not None and standing.items - standing.begun_items >= config.max_items:
        return "max_items"
    if standing.walked == 0 and standing.rest > config.max_wait:
        return "held"
    return ""
