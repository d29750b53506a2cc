"""Delivering: items go on to a sink as they are settled, at least once, under names that stay.

A delivery is all that is new, changed, gone or back behind the sink's cursor, up to a place in the log of changes
that is complete. Its objects are put, then its manifests, and only then the cursor moves: who is killed in between
delivers the same again, to the same names.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import msgspec

from gossamer.errors import GossamerError, Undelivered
from gossamer.parcels import Parcels
from gossamer.sinks import Sink
from gossamer.storage.objects import Objects, Parcel
from gossamer.storage.store import SinkNote, Store, StoredItem, Wanted
from gossamer.telemetry import log
from gossamer.values import Outcome

#: Bytes of records after which a piece is put, however few items it has.
HEAVY = 16 << 20
#: Seconds between two tries of a sink that fails: at first, at most, and at most while a run waits for it to end.
FIRST_WAIT = 0.25
LONGEST_WAIT = 60.0
LAST_WAIT = 5.0
#: Tries in a row without a single object put, after which a sink is said to fail.
PATIENT = 3
#: Seconds without progress after which the end of a run waits no longer.
PATIENCE = 30.0
#: Seconds between two looks at how deliveries get on, and after which a wait for them is said.
LOOK = 0.25
QUIET = 3.0
NEXT = "`gossamer sinks flush` delivers them, and so does the next run"
#: Items that are counted when somebody asks how many wait.
COUNTED = 100_000


class Delivery:
    """One sink, and the items of one scraper."""

    def __init__(self, store: Store, scraper: str, sink: Sink) -> None:
        self.sink = sink
        self.scraper = scraper
        self._store = store
        self._objects: Objects = sink.open()
        self._parcels = Parcels(sink, scraper)
        self._note = SinkNote(sink.name, scraper, 0)
        self._some, self._enough, self._closed = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._heard = 0
        #: When an object was last put.
        self.moved = time.monotonic()
        #: Why nothing gets through; empty if something does.
        self.trouble = ""
        #: That, once it was said.
        self._said = ""

    # -- what it is told ---------------------------------------------------------------------------------------

    def hear(self, outcomes: Sequence[Outcome]) -> None:
        """Something was settled: deliver it when a batch is full, or some seconds from now."""
        self._heard += sum(len(outcome.items) for outcome in outcomes)
        self._some.set()
        if self._heard >= self.sink.batch:
            self._enough.set()

    def close(self) -> None:
        """Nothing more is settled: `loop` ends once all is delivered."""
        self.moved = time.monotonic()
        for event in (self._some, self._enough, self._closed):
            event.set()

    # -- at work -----------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Take up where an earlier delivery ended; from now on the store knows of the sink."""
        known = await self._store.sink(self.sink.name, self.scraper)
        if known is None:
            await self._store.keep_sink(msgspec.structs.replace(self._note, updated=time.time()))
        self._note = known or self._note

    async def loop(self) -> None:
        """Deliver what waits, and then what comes, until closed and nothing is left."""
        try:
            while True:
                closing = self._closed.is_set()
                self._heard = 0
                self._some.clear()
                self._enough.clear()
                await self.deliver()
                if closing:
                    return
                await self._some.wait()
                await _wait(self._enough, self.sink.every)
        finally:
            self._objects.close()

    async def deliver(self) -> None:
        """Deliver all that waits now. Tries for ever where a sink fails: cancelling it loses nothing."""
        while await self._deliver_some():
            pass

    async def _deliver_some(self) -> bool:
        """One delivery; whether more waits."""
        start, newest = self._note.cursor, await self._store.item_cursor()
        piece: list[StoredItem] = []
        part = items = weight = 0
        more = False
        found: Any = self._store.items(Wanted(scraper=self.scraper, kind=self.sink.kind, after=start))
        async with aclosing(found):
            async for item in found:
                if len(piece) >= self.sink.batch or weight >= HEAVY:
                    # Rows of one transaction share their place, and the cursor can only stand between two places.
                    more = item.seq != piece[-1].seq
                    if more:
                        break
                    await self._put(await self._parcels.make(piece, start, part))
                    piece, weight, part = [], 0, part + 1
                piece.append(item)
                items, weight = items + 1, weight + len(item.data)
        reached = piece[-1].seq if piece else start
        if piece:
            await self._put(await self._parcels.make(piece, start, part, to=reached))
        # All was looked at up to the newest place there was: what is not ours need not be looked at again.
        await self._move(reached if more else max(reached, newest), items)
        return more

    async def _move(self, cursor: int, items: int) -> None:
        if cursor == self._note.cursor and not items:
            return
        note = self._note
        self._note = SinkNote(
            note.name,
            note.scraper,
            cursor,
            note.delivered + items,
            note.objects + self._parcels.took(),
            "",
            time.time(),
        )
        await self._store.keep_sink(self._note)

    # -- putting -----------------------------------------------------------------------------------------------

    async def _put(self, parcels: Sequence[Parcel]) -> None:
        """Put objects, and what tells of them after all others. Waits, longer each time, while nothing gets through."""
        told = [parcel for parcel in parcels if parcel.manifest]
        for group in ([parcel for parcel in parcels if not parcel.manifest], told):
            left, fruitless = deque(group), 0
            while left:
                before = len(left)
                trouble = await self._round(left)
                fruitless = fruitless + 1 if len(left) == before else 0
                if trouble is not None:
                    await self._troubled(trouble, fruitless)
        if self._said:
            log.info("sink.recovered", sink=self.sink.name)
        self.trouble = self._said = ""

    async def _round(self, left: deque[Parcel]) -> Undelivered | None:
        """Put what is left, some side by side, until each worker has failed once; what failed is left."""
        failed: list[Parcel] = []
        trouble: Undelivered | None = None

        async def worker() -> None:
            nonlocal trouble
            while left:
                some = [left.popleft() for _ in range(min(len(left), self._objects.together))]
                try:
                    await self._objects.put(some)
                except Undelivered as why:
                    trouble = why
                    failed.extend(some)
                    return
                self.moved = time.monotonic()

        async with asyncio.TaskGroup() as group:
            for _ in range(min(len(left), self.sink.concurrency)):
                group.create_task(worker())
        left.extend(failed)  # at the end: what can never be put keeps nothing else back
        return trouble

    async def _troubled(self, trouble: Undelivered, fruitless: int) -> None:
        """Say once that a sink fails, and wait before the next try."""
        self.trouble = str(trouble)
        if fruitless >= PATIENT and self.trouble != self._said:
            self._said = self.trouble
            log.warning("sink.failing", sink=self.sink.name, why=self.trouble)
            await self._keep_trouble()
        longest = LAST_WAIT if self._closed.is_set() else LONGEST_WAIT
        wait = random.uniform(0.5, 1.0) * min(FIRST_WAIT * 2 ** min(fruitless, 10), longest)
        if self._closed.is_set():
            await asyncio.sleep(wait)
        else:
            await _wait(self._closed, wait)

    async def _keep_trouble(self) -> None:
        self._note = msgspec.structs.replace(self._note, failing=self.trouble, updated=time.time())
        await self._store.keep_sink(self._note)

    async def left(self) -> int:
        """How many items it has not delivered, counted up to COUNTED; why is kept for who looks at the sinks."""
        if self.trouble != self._note.failing:
            await self._keep_trouble()
        return await waiting(self._store, self.sink, self.scraper, self._note.cursor)


class Behind(msgspec.Struct, frozen=True):
    """What a sink did not deliver in time."""

    sink: str
    scraper: str
    items: int
    why: str


class Deliveries:
    """Deliveries side by side: one that fails or is slow delays only itself."""

    def __init__(self, store: Store, wanted: Sequence[tuple[str, Sink]]) -> None:
        self._store = store
        self._wanted = wanted
        self._tasks: dict[asyncio.Task[None], Delivery] = {}
        self._stopped = asyncio.Event()

    async def start(self) -> None:
        """Begin to deliver. Raises ConfigError for a sink that cannot be opened."""
        for scraper, sink in self._wanted:
            delivery = Delivery(self._store, scraper, sink)
            await delivery.open()
            self._tasks[asyncio.create_task(_guarded(delivery), name=f"sink {sink.name}")] = delivery

    def hear(self, outcomes: Sequence[Outcome]) -> None:
        """Something was settled."""
        for delivery in self._tasks.values():
            delivery.hear(outcomes)

    def stop(self) -> None:
        """Somebody is in a hurry: `finish` waits no longer, or only for moments if it comes after this."""
        self._stopped.set()

    async def finish(self, grace: float, *, alone: bool = False) -> list[Behind]:
        """Deliver what is left, as long as that gets on; returns what could not be delivered. Never raises for a sink.

        After `stop`, it takes at most `grace` seconds. Unless it is all that is done (`alone`), a long wait is said.
        """
        for delivery in self._tasks.values():
            delivery.close()
        began, hurried, said = time.monotonic(), self._stopped.is_set(), alone
        while left := [task for task in self._tasks if not task.done()]:
            await asyncio.wait(left, timeout=LOOK)
            now = time.monotonic()
            if self._stopped.is_set() and (not hurried or now - began > grace):
                break
            if not said and now - began > QUIET and any(not task.done() for task in left):
                said = True
                log.warning("sink.waiting", sinks=len(left), hint="Ctrl-C ends the wait, and loses nothing")
            for task in left:
                if now - self._tasks[task].moved > PATIENCE:
                    task.cancel()
        await self.aclose()
        return [each for each in [await self._left(task) for task in self._tasks] if each is not None]

    async def _left(self, task: asyncio.Task[None]) -> Behind | None:
        """What one delivery left, said and returned."""
        delivery = self._tasks[task]
        if not task.cancelled() and task.exception() is None:
            return None
        try:
            items = await delivery.left()
        except GossamerError:  # the store fails too: its own door says so
            items = 0
        why = delivery.trouble or "it takes too long"
        log.warning("sink.behind", sink=delivery.sink.name, items=items, why=why, next=NEXT)
        return Behind(delivery.sink.name, delivery.scraper, items, why)

    async def aclose(self) -> None:
        """End all deliveries at once. What is not delivered waits."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _guarded(delivery: Delivery) -> None:
    """A delivery to its end; what ends it otherwise is said, and no run fails for it."""
    try:
        await delivery.loop()
    except Exception as error:
        told = str(error) if isinstance(error, GossamerError) else type(error).__name__
        delivery.trouble = delivery.trouble or told
        log.error("sink.broken", sink=delivery.sink.name, why=told, exc_info=not isinstance(error, GossamerError))
        raise


async def waiting(store: Store, sink: Sink, scraper: str, cursor: int) -> int:
    """How many items of a scraper wait behind a cursor; no more than COUNTED are counted."""
    n = 0
    found: Any = store.items(Wanted(scraper=scraper, kind=sink.kind, after=cursor))
    async with aclosing(found):
        async for _ in found:
            n += 1
            if n >= COUNTED:
                break
    return n


async def _wait(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, but not for ever."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass
