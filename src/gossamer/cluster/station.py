"""The process of a worker that walks: one asyncio loop, one gate, one fetcher, for all shards that it leases.

It is a child of a Celery worker, which carries tickets to it as lines of JSON (`bridge.py`). A ticket says that a shard
of a run has something to do. What it leases, it renews by a heartbeat; what it cannot renew, it stops asking for.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine
from contextlib import AsyncExitStack, suppress
from typing import Any, TypeVar, cast

import msgspec

import gossamer
from gossamer import clock, lists, owners
from gossamer.catalog import Catalog
from gossamer.cluster.bridge import NO_ROOM
from gossamer.cluster.careful import Solo
from gossamer.cluster.conductor import Conductor
from gossamer.cluster.slices import AFTER_TROUBLE, Cast, Slice
from gossamer.cluster.tuning import Pulse, Tuning, cores
from gossamer.errors import GossamerError, LeaseLost, ScraperAbsent, StoreError
from gossamer.ordering import Ordering
from gossamer.runs import Parts
from gossamer.scheduler import Scheduler
from gossamer.settings import Settings
from gossamer.storage import opening
from gossamer.storage.desk import Desk
from gossamer.storage.shared import Shared, Taken, Ticket
from gossamer.storage.store import MANY
from gossamer.telemetry import log
from gossamer.values import CONDUCTOR, Run, RunState
from gossamer.vitals import Vitals

T = TypeVar("T")

#: Seconds between two looks at what people want, and two words to the store that we live: at work, and idle.
LOOK = 1.0
BEAT = 2.0
IDLE_BEAT = 5.0
#: The exit code of a station that is to be started again at once.
AGAIN = 75
#: Seconds that a ticket waits for room.
PATIENCE = 2.0
#: Seconds that the store may take to answer before others are to do what tickets say.
SILENT = 3.0
#: Seconds after which a scraper that was not on this machine is looked for again.
ABSENT = 30.0
#: Seconds in which a shard is not asked about again for tickets: who looks for lost ones does so every second.
QUIET = 1.0


class Worker(msgspec.Struct, frozen=True):
    """What the Celery worker says about itself."""

    name: str = ""
    pool: str = "threads"
    concurrency: int = 16


class Station:
    """Leases, slices and conductors of one process."""

    def __init__(
        self,
        parts: Parts,
        desk: Desk,
        read: Settings,
        worker: Worker,
        say: Callable[[dict[str, Any]], None],
        stack: AsyncExitStack,
    ) -> None:
        self._stack = stack
        self._parts = parts
        self._store = cast(Shared, parts.store)
        self._desk = desk
        self._place = read.place
        self._worker = worker
        self._say = say
        self._name = owners.told(owners.me())
        self._started = time.time()
        self._slices: dict[tuple[int, int], Slice] = {}
        self._conductors: dict[int, Conductor] = {}
        self._casts: dict[int, Cast] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._solo = Solo()
        self._vitals = Vitals()
        self._ordering = Ordering(desk, parts.gate)
        self._tuning = Tuning(worker.concurrency, read.place.worker_memory, cores())
        #: Runs that only so many workers may walk, of which we are one.
        self._limited: set[int] = set()
        #: Runs whose scraper is not on this machine, until when that is believed.
        self._absent: dict[int, float] = {}
        #: Shards that are just being leased.
        self._taking = 0
        #: Since when the store was asked something that it has not answered yet.
        self._asking: list[float] = []
        self._refused = False
        #: Whether runs are walked, by us or by others, as far as we know.
        self._aware = False
        self._asked: dict[tuple[int, int], float] = {}
        self._scheduler: Scheduler | None = None
        self._ending = False
        self._over = asyncio.Event()
        self._vital: dict[str, Any] = {}
        self._pages = 0
        self._beaten = self._reconciled = 0.0
        #: What to exit with.
        self.code = 0

    # -- tickets -----------------------------------------------------------------------------------------------

    async def ticket(self, run: int, shard: int) -> str:
        """Do what a ticket says, if it can be done here. Returns why it is over with."""
        if self._ending:
            return "ended"
        if self._is_cut_off() or run in self._lacking():
            return NO_ROOM
        try:
            if shard == CONDUCTOR:
                return await self._conduct(run)
            if (held := self._slices.get((run, shard))) is not None:
                return _kept(held)
            if not await self._has_room():
                return NO_ROOM
            if (held := self._slices.get((run, shard))) is not None:
                return _kept(held)
            piece = await self._take(run, shard)
            return "taken" if piece is None else await self._walk(piece)
        except StoreError as why:
            log.warning("station.store", why=str(why))
            await asyncio.sleep(AFTER_TROUBLE)
            return NO_ROOM

    def _lacking(self) -> list[int]:
        """Runs whose scraper was not on this machine, when it was last looked for: their tickets are for others."""
        now = time.monotonic()
        self._absent = {run: until for run, until in self._absent.items() if until > now}
        return list(self._absent)

    async def _is_hopeless(self, run: int) -> bool:
        """Whether no worker that lives has the scraper of a run, for this one has not."""
        self._absent[run] = time.monotonic() + ABSENT
        await self._beat()
        return all(run in each.data.get("lacks", ()) for each in await lists.living(self._desk))

    def _is_cut_off(self) -> bool:
        """Whether the store is silent: a ticket that we keep is one that somebody does not get who could use it."""
        return bool(self._asking) and time.monotonic() - min(self._asking) > SILENT

    async def _answered(self, question: Awaitable[T]) -> T:
        """What the store answers; until then it is known that it did not."""
        since = time.monotonic()
        self._asking.append(since)
        try:
            return await question
        finally:
            self._asking.remove(since)

    async def _lease(self, run: int, shard: int) -> Taken | None:
        """Lease a shard, or a run to be conducted, if it can be had. Whoever ends waits for it."""
        self._taking += 1
        try:
            place = self._place
            return await self._answered(self._store.take(run, shard, owners.me(), place.lease, place.poison_kills))
        finally:
            self._taking -= 1

    async def _has_room(self) -> bool:
        """Whether one more shard may be walked, now or in a moment: a ticket that goes round costs something."""
        until = time.monotonic() + PATIENCE
        while len(self._slices) + self._taking >= self._tuning.room:
            self._refused = True
            if self._ending or time.monotonic() > until:
                return False
            await asyncio.sleep(0.1)
        return not self._ending

    async def _conduct(self, run: int) -> str:
        if (held := self._conductors.get(run)) is not None:
            return _kept(held)
        asked = clock.steady()
        taken = await self._lease(run, CONDUCTOR)
        if taken is None:
            return "taken"
        conductor = Conductor(
            self._parts,
            self._store,
            self._place,
            taken,
            asked=asked,
            issue=self._issue_soon,
            hopeless=self._is_hopeless,
        )
        self._conductors[run] = conductor
        if self._ending:
            conductor.stop()
        self._beside(self._conducted(conductor))  # no slot of the pool waits for it
        return "done"

    async def _conducted(self, conductor: Conductor) -> None:
        run = conductor.lease.run
        try:
            how = await conductor.conduct()
            log.info("conductor.over", run=run, how=how)
        finally:
            if self._conductors.get(run) is conductor:
                del self._conductors[run]
            if run in self._absent:
                self._issue_soon(run, [CONDUCTOR], at_once=True)
            self._drop_cast(run)

    async def _take(self, run: int, shard: int) -> Slice | None:
        """The slice of a shard that is ours from now on; None if it cannot be had."""
        asked = clock.steady()
        taken = await self._lease(run, shard)
        if taken is None:
            return None
        if not any(held == shard and piece.tenure.holds for (_, held), piece in self._slices.items()):
            self._parts.gate.doubt(shard)
        piece = Slice(
            self._parts,
            self._store,
            self._place,
            taken,
            self._solo,
            asked=asked,
            elsewhere=self._issue_soon,
            listeners=self._vitals.hear,
        )
        self._slices[run, shard] = piece
        return piece

    async def _walk(self, piece: Slice) -> str:
        run, shard = piece.lease.run, piece.lease.shard
        if self._ending:
            piece.stop("shutdown")
        why = "failed"
        try:
            found = await self._store.run(run)
            if found is None:
                raise LeaseLost(f"run {run} is no more")
            why = await piece.walk(found, await self._cast(found))
        except ScraperAbsent as error:
            log.warning("slice.left", run=run, shard=shard, why=str(error))
            self._absent[run] = time.monotonic() + ABSENT
            why = NO_ROOM  # the ticket goes on to somebody who has it
            with suppress(StoreError):
                await self._store.give_back(piece.lease)
        except GossamerError as error:
            log.error("slice.failed", run=run, shard=shard, why=str(error))
            with suppress(StoreError):
                await self._store.give_back(piece.lease, AFTER_TROUBLE)
        finally:
            if self._slices.get((run, shard)) is piece:
                del self._slices[run, shard]
            self._drop_cast(run)
        if why == "yielded":
            self._issue_soon(run, [shard], at_once=True)
        elif why in ("done", "ended"):
            self._look_again(run, shard)
        if run in self._conductors:
            self._conductors[run].poke()
        return why

    async def _cast(self, run: Run) -> Cast:
        """What slices of a run share here. Raises GossamerError for a scraper that cannot be loaded."""
        known = self._casts.get(run.id)
        if known is None or known.options != run.options:
            made = await asyncio.to_thread(Cast, run, self._place)
            known = self._casts.get(run.id)  # another slice of it may have been faster: all share one
            if known is None or known.options != run.options:
                known = self._casts[run.id] = made
        if known.spread and self._parts.gate.shared is None:
            await self._share_pace(self._place.broker or "")
        return known

    async def _share_pace(self, redis: str) -> None:
        """Keep one pace with other workers, for hosts that are spread over them."""
        from gossamer.cluster.shared_pace import SharedPace

        self._parts.gate.shared = await self._stack.enter_async_context(SharedPace(redis))

    def _drop_cast(self, run: int) -> None:
        """A run that nobody walks here any more need not be remembered for long: cookies may be needed again soon."""
        if len(self._casts) > 32 and run not in self._conductors and not any(r == run for r, _ in self._slices):
            self._casts.pop(run, None)

    # -- asking others -----------------------------------------------------------------------------------------

    def _issue_soon(self, run: int, shards: Collection[int], *, at_once: bool = False) -> None:
        """Have tickets issued for shards that got something to do, unless that was just done."""
        now = time.monotonic()
        wanted = [s for s in shards if at_once or now - self._asked.get((run, s), -QUIET) >= QUIET]
        for shard in wanted:
            self._asked[run, shard] = now
        if len(self._asked) > 100_000:
            self._asked.clear()
        if wanted:
            self._beside(self._issue(run, wanted))

    async def _issue(self, run: int, shards: Collection[int]) -> None:
        self._publish(await self._store.issue(run, shards, self._place.lease))

    def _look_again(self, run: int, shard: int) -> None:
        """Something may have come into a shard between our last look and giving it back."""

        async def look() -> None:
            left = await self._store.pending(run, shard)
            if left.waiting > left.parked:
                await self._issue(run, [shard])

        self._beside(look())

    def _publish(self, tickets: list[Ticket]) -> None:
        if tickets:
            self._say({"say": "tickets", "tickets": tickets})

    def _beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside; what is wrong with the store is said, and tried again by those who look for work."""

        async def run() -> None:
            try:
                await work
            except StoreError as why:
                log.warning("station.store", why=str(why))
            except Exception as error:  # noqa: BLE001 - the station lives on
                log.error("station.broke", exc_info=error)

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def reconcile(self) -> None:
        """Look for work that nobody does."""
        self._reconciled = time.monotonic()
        tickets = await self._store.reconcile(self._place.lease)
        self._aware = self._aware or bool(tickets)
        self._publish(tickets)

    async def tick(self) -> None:
        """Start the runs that are due."""
        if self._scheduler is None:
            self._scheduler = Scheduler(self._desk, Catalog(self._place.scrapers))
        await self._scheduler.look()
        await self.reconcile()

    # -- keeping on --------------------------------------------------------------------------------------------

    def end(self) -> None:
        """Settle what is walked, give all leases back, and end."""
        self._ending = True
        for each in self._holding():
            each.stop("shutdown")
        self._over.set()

    def _holding(self) -> list[Slice | Conductor]:
        return [*self._slices.values(), *self._conductors.values()]

    async def work(self) -> None:
        """Work until `end`."""
        async with Pulse() as pulse:
            beating = asyncio.create_task(self._heartbeat(), name="heartbeat")
            try:
                while not self._ending:
                    await self._once(pulse)
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._over.wait(), LOOK)
                await self._finish()
            finally:
                beating.cancel()

    async def _finish(self) -> None:
        """Wait for what is being settled: the heartbeat goes on until it is."""
        while self._slices or self._conductors or self._tasks or self._taking:  # noqa: ASYNC110 - at the end, for moments
            await asyncio.sleep(0.05)
        with suppress(StoreError):
            await self._store.depart(self._name)

    async def _heartbeat(self) -> None:
        """Renew all leases, three times in the time they last."""
        while True:
            await asyncio.sleep(self._place.lease / 3)
            held = self._holding()
            if not held:
                continue
            asked = clock.steady()
            try:
                kept = await self._store.renew([each.lease for each in held], self._place.lease)
            except StoreError as why:
                log.warning("station.unrenewed", leases=len(held), why=str(why))
                continue
            for each in held:
                if (each.lease.run, each.lease.shard) in kept:
                    each.tenure.renewed(asked)
                elif each in self._holding():  # else it was given back meanwhile
                    each.lose()

    async def _once(self, pulse: Pulse) -> None:
        self._tune(pulse)
        try:
            await self._look()
        except StoreError as why:
            log.warning("station.store", why=str(why))

    async def _look(self) -> None:
        if self._slices or self._conductors:
            await self._answered(self._ordering.read())
            await self._answered(self._heed())
            await self._answered(self._adopt())
            self._aware = True
        if self._aware:
            orphaned = await self._answered(self._store.orphaned())
            self._aware = orphaned is not None
            if orphaned:  # its conductor died, and with it perhaps all who look for lost work every second
                await self._answered(self.reconcile())
        if time.monotonic() - self._reconciled > max(5.0, self._place.lease / 3):
            await self._answered(self.reconcile())  # should whoever does it every second be dead
        if time.monotonic() - self._beaten >= (BEAT if self._slices or self._conductors else IDLE_BEAT):
            await self._answered(self._beat())

    def _tune(self, pulse: Pulse) -> None:
        vital = pulse.take(len(self._slices), self._refused)
        self._refused = False
        self._tuning.note(vital)
        self._vital = {"cpu": round(vital.cpu, 3), "memory": vital.memory, "lag": round(vital.lag, 4)}
        if self._tuning.changed():
            self._say({"say": "note", "text": self._tuning.why})
        if self._tuning.drain and not self._ending:
            self.code = AGAIN
            self.end()
        for piece in list(self._slices.values())[self._tuning.room :]:
            piece.stop("yielded", soon=False)

    async def _heed(self) -> None:
        """Stop walking runs that have ended, or of which something is wanted."""
        walked = {run for run, _ in self._slices}
        wishes = await self._store.wishes(walked) if walked else {}
        self._limited = {run for run, wish in wishes.items() if wish.workers is not None}
        for (run, _), piece in list(self._slices.items()):
            wish = wishes.get(run)
            if wish is None or wish.state != RunState.RUNNING or wish.wanted:
                piece.stop(wish.wanted if wish is not None and wish.wanted else "ended")

    async def _adopt(self) -> None:
        """Take what only we can: shards that we hold for one run have work for others too."""
        room = self._tuning.room - len(self._slices)
        if room <= 0:
            return
        shards = {shard for _, shard in self._slices}
        if not shards:
            return
        for run, shard, _ in (await self._store.wanting(shards, self._limited))[:room]:
            if (run, shard) not in self._slices:
                self._beside(self._adopted(run, shard))

    async def _adopted(self, run: int, shard: int) -> None:
        await self.ticket(run, shard)

    async def _beat(self) -> None:
        since, self._beaten = self._beaten, time.monotonic()
        told = self._vitals.told({}, self._parts.gate)
        pages = sum(told["counters"]["pages"].values())
        rate = (pages - self._pages) / max(0.001, self._beaten - since) if since else 0.0
        self._pages = pages
        told |= {
            "kind": "worker",
            "host": self._name.partition(":")[0],
            "celery": self._worker.name,
            "pool": self._worker.pool,
            "version": gossamer.__version__,
            "broker": opening.shown(self._place.broker or ""),
            "leases": [[each.lease.run, each.lease.shard, round(each.since, 1)] for each in self._holding()],
            "room": self._tuning.room,
            "most": self._worker.concurrency,
            "why": self._tuning.why,
            "rate": round(rate, 2),
            "pages": pages,
            "runs": self._runs_told(),
            "lacks": self._lacking(),
            **self._vital,
        }
        data = msgspec.json.encode(told).decode()
        await self._store.beat(self._name, os.getpid(), self._started, data)

    def _runs_told(self) -> dict[str, Any]:
        """What each run is at here; whoever looks on adds up what several workers say."""
        told: dict[str, dict[str, Any]] = {}
        for (run, _), piece in self._slices.items():
            if piece.engine is None:
                continue
            lanes = piece.engine.frontier.lanes.values()
            each = told.setdefault(str(run), {"waiting": 0, "parked": 0, "flying": 0, "rate": 0.0, "hosts": []})
            each["waiting"] += sum(min(lane.waiting, 1000) if lane.waiting < MANY // 2 else 1000 for lane in lanes)
            each["parked"] += sum(lane.parked for lane in lanes)
            each["flying"] += piece.engine.frontier.flying
            each["rate"] = round(each["rate"] + piece.engine.progress.rate, 2)
        return told


def _kept(held: Slice | Conductor) -> str:
    """What becomes of a ticket for what is ours: nothing, unless we slept past the lease, and are about to notice."""
    return "taken" if held.tenure.holds else NO_ROOM
