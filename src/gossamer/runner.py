"""The process that walks runs for a service: it takes pending ones from the store, and heeds what people want of them.

It is a child of `gossamer serve`, so that a scraper that blocks or crashes does not stop the service, and the service
does not slow a crawl. Only rows of the store pass between the two; a line on standard input means "look now", and
its end that the service is gone.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from contextlib import AsyncExitStack, suppress

import msgspec

from gossamer import judging, owners, redaction, runs, settings, telemetry
from gossamer.errors import GossamerError, StoreBusy, StoreError
from gossamer.events import Events
from gossamer.ordering import Ordering
from gossamer.runs import Parts, Running
from gossamer.settings import Settings
from gossamer.storage import opening
from gossamer.storage.desk import Desk, Writing
from gossamer.telemetry import log
from gossamer.values import Run, RunState, Verdict
from gossamer.vitals import Vitals

#: Seconds between two looks at the store, unless somebody says that there is something new.
LOOK = 1.0
#: The exit code of a runner that gives up by itself: no scraper is to blame.
OURS = 70
#: Seconds that a run which may have ended the process is walked alone.
TRIAL = 10.0
#: Seconds between two tries to get a store that another process works on.
PATIENCE = 1.0
#: Looks in a row that the store may refuse.
MOST_TROUBLES = 30
#: Seconds between two looks for runs that another process left in flight.
FREEING = 5.0
#: Seconds between two clean-ups, and how long counts by the minute are kept.
CLEANING = 3600.0
KEPT_TICKS = 40 * 86400.0
#: What people want of a run that goes on -> the reason it ends with.
STOPS = {"cancel": "cancelled", "pause": "paused"}

# Runs that workers share are left to them.
_PENDING = "select id from run where state = 'pending' and via <> 'cli' and cluster = 0 order by id limit :n"
#: Runs in flight when a process died of something inside come first, and alone: then it is known whose fault it is.
_CRASHED = """
select id from run where state = 'pending' and crashes > 0 and alone = 0 and via <> 'cli' and cluster = 0
order by id limit 1
"""
_GUILTY = "select id, crashes from run where state = 'pending' and alone = 2 and cluster = 0 limit 100"
_UNTRIED = "update run set alone = 0 where state = 'pending' and alone = 1 and cluster = 0"
_ALONE = "update run set alone = :alone where id = :run"
_CLEARED = "update run set crashes = 0, alone = 0 where id = :run"
_WISHES = """
select id, state, wanted from run where wanted <> '' and (cluster = 0 or state not in ('pending', 'running'))
order by id limit 100
"""
_IN_FLIGHT = "update run set state = 'pending' where state = 'running' and via <> 'cli' and cluster = 0"
# Where several processes work on a store, by the clock of the store: who holds what is in flight.
_HELD = """
select run.id, lease.owner from run
    left join lease on lease.run_id = run.id and lease.until > extract(epoch from clock_timestamp())
where run.state = 'running' and run.via <> 'cli' and run.cluster = 0 order by run.id for update of run
"""
_FREE = "update run set state = 'pending' where id = :run"
_UNWISH = "update run set wanted = '' where id = :run"
_BEAT = """
insert into worker (name, pid, started, at, data) values (:name, :pid, :started, :at, :data)
on conflict (name) do update set at = excluded.at, data = excluded.data
"""
_DEAD = "delete from worker where at < :before"


class Runner:
    """Walks the runs of one store."""

    def __init__(self, parts: Parts, desk: Desk, read: Settings) -> None:
        self._parts = parts
        self._desk = desk
        self._settings = read
        self._name = f"{socket.gethostname()}:{os.getpid()}"
        self._started = time.time()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._running: dict[int, Running] = {}
        #: Runs that are to end before they have begun, and why.
        self._unwanted: dict[int, str] = {}
        self._vitals = Vitals()
        self._ordering = Ordering(desk, parts.gate)
        self._look = asyncio.Event()
        #: The run that is walked alone, and until when.
        self._trial: tuple[int, float] | None = None
        self._ending = False
        self._cleaned = self._freed = 0.0

    def look(self) -> None:
        """There may be something new in the store."""
        self._look.set()

    def end(self) -> None:
        """Stop all runs, to go on with them at the next start."""
        self._ending = True
        for running in self._running.values():
            running.stop(runs.SHUTDOWN)
        self._look.set()

    async def work(self) -> None:
        """Walk what is asked for until `end` is called. Raises StoreError if the store is gone."""
        async with self._desk.writing() as writing:
            await self._free(writing)
            await writing.run(_UNTRIED)  # it was killed from outside, and is tried again
        for run_id, crashes in await self._desk.rows(_GUILTY):
            await self._fail(run_id, f"crash: its code ended the process that walked it ({crashes} times)")
        troubles = 0
        while not self._ending:
            try:
                await self._once()
                troubles = 0
            except StoreError as why:  # a full disk passes; what does not is for who starts us again
                log.warning("runner.store", why=str(why))
                troubles += 1
                if troubles > MOST_TROUBLES:
                    raise
            with suppress(TimeoutError):
                await asyncio.wait_for(self._look.wait(), LOOK)
            self._look.clear()
        if self._tasks:
            await asyncio.wait(self._tasks.values())
        async with self._desk.writing() as writing:
            await writing.run("delete from worker where name = :name", name=self._name)

    async def _free(self, writing: Writing) -> None:
        """Have runs wait again that were in flight when the process died that walked them."""
        if not self._desk.dialect.shared:
            await writing.run(_IN_FLIGHT)  # the store's lock is ours: whoever walked them is dead
            return
        held = await writing.rows(_HELD)
        alive = {run_id for run_id, owner in held if owner is not None and not owners.dead(owner)}
        for run_id in {run_id for run_id, _ in held} - alive - self._tasks.keys():
            await writing.run(_FREE, run=run_id)

    async def _once(self) -> None:
        await self._ordering.read()
        await self._heed()
        if not await self._on_trial():
            free = self._settings.place.max_runs - len(self._tasks)
            pending = await self._desk.rows(_PENDING, n=max(0, free) + len(self._tasks)) if free > 0 else []
            for (run_id,) in pending:
                if len(self._tasks) < self._settings.place.max_runs:
                    self._begin(run_id)
        await self._beat()

    def _begin(self, run_id: int) -> None:
        if run_id not in self._tasks:
            self._tasks[run_id] = asyncio.create_task(self._one(run_id), name=f"run-{run_id}")

    async def _on_trial(self) -> bool:
        """Whether the others wait: one run that may have ended the process before is walked alone for a while."""
        if self._trial is not None:
            run_id, until = self._trial
            if run_id in self._tasks and time.monotonic() < until:
                return True
            async with self._desk.writing() as writing:
                await writing.run(_CLEARED, run=run_id)
            self._trial = None
        row = await self._desk.row(_CRASHED)
        if row is None:
            return False
        if not self._tasks:
            async with self._desk.writing() as writing:
                await writing.run(_ALONE, run=row[0], alone=1)
            self._trial = row[0], time.monotonic() + TRIAL
            self._begin(row[0])
        return True

    # -- what people want --------------------------------------------------------------------------------------

    async def _heed(self) -> None:
        """Carry out wishes: cancel what goes on, decide on what ended."""
        for run_id, state, wanted in await self._desk.rows(_WISHES):
            if state not in (RunState.PENDING, RunState.RUNNING):
                await self._decide(run_id, wanted)
            elif wanted in STOPS and run_id in self._running:
                self._running[run_id].stop(STOPS[wanted])
            elif wanted in STOPS:
                self._unwanted[run_id] = STOPS[wanted]

    async def _decide(self, run_id: int, wanted: str) -> None:
        try:
            if wanted in ("accept", "reject"):
                _, items = await judging.decide(self._parts.store, run_id, accept=wanted == "accept")
                log.info("run.decided", run=run_id, wanted=wanted, items=items)
        except GossamerError as why:
            log.warning("run.undecided", run=run_id, wanted=wanted, why=str(why))
        async with self._desk.writing() as writing:
            await writing.run(_UNWISH, run=run_id)

    # -- one run -----------------------------------------------------------------------------------------------

    async def _one(self, run_id: int) -> None:
        try:
            run = await self._parts.store.run(run_id)
            if run is None or run.state is not RunState.PENDING:
                return
            await self._walk(run)
        except StoreBusy as busy:  # somebody runs something by hand: it waits for its turn
            log.debug("run.waits", run=run_id, why=str(busy))
            await asyncio.sleep(PATIENCE)
        except StoreError as error:
            log.error("run.store", run=run_id, why=str(error))
            await asyncio.sleep(PATIENCE)  # it is tried again: not as fast as a full disk can refuse it
        finally:
            self._running.pop(run_id, None)
            self._unwanted.pop(run_id, None)
            self._tasks.pop(run_id, None)
            self._look.set()

    async def _walk(self, run: Run) -> None:
        def watch(running: Running) -> None:
            self._running[run.id] = running
            running.progress.listen(self._vitals.hear(run.scraper))
            if self._ending or run.id in self._unwanted:
                running.stop(runs.SHUTDOWN if self._ending else self._unwanted[run.id])

        try:
            report = await runs.execute(self._parts, runs.plan_of(run, self._settings.place.store), watch)
            if report.verdict == Verdict.SUSPECT:
                self._vitals.suspect(run.scraper)
        except StoreError:
            raise
        except GossamerError as why:
            log.error("run.failed", run=run.id, scraper=run.scraper, why=str(why))
            await self._fail(run.id, f"{why.reason}: {why}")
        except Exception as error:  # noqa: BLE001 - an author's mistake costs its own run, and no other
            log.error("run.failed", run=run.id, scraper=run.scraper, exc_info=error)
            await self._fail(run.id, f"error: {type(error).__name__}: {error}")

    async def _fail(self, run_id: int, reason: str) -> None:
        """End a run that could not even begin; `execute` has ended those that had."""
        store = self._parts.store
        run = await store.run(run_id)
        if run is None or run.state not in (RunState.PENDING, RunState.RUNNING):
            return
        lease = await store.acquire(run_id, owners.me(), runs.LEASE_TTL)
        try:
            await store.end_run(lease, RunState.FAILED, redaction.text(reason)[:500])
        finally:
            await store.release(lease)

    # -- heartbeat ---------------------------------------------------------------------------------------------

    async def _beat(self) -> None:
        now = time.time()
        told = msgspec.json.encode(self._vitals.told(self._running, self._parts.gate)).decode()
        async with self._desk.writing() as writing:
            if self._desk.dialect.shared and now - self._freed > FREEING:
                await self._free(writing)  # a machine that was cut off leaves its runs when its leases have run out
                self._freed = now
            await writing.run(_BEAT, name=self._name, pid=os.getpid(), started=self._started, at=now, data=told)
            if now - self._cleaned > CLEANING:
                await writing.run(_DEAD, before=now - 600)
                await writing.run("delete from tick where minute < :m", m=int(now - KEPT_TICKS) // 60)
                await writing.run("delete from cause where hour < :h", h=int(now - KEPT_TICKS) // 3600)
                self._cleaned = now


async def run(flags: dict[str, str]) -> None:
    """Get the store, and walk its runs until the service ends or a signal comes."""
    read = settings.read(flags)
    _speak(read)
    telemetry.catch_crashes()
    over = asyncio.Event()
    runners: list[Runner] = []
    loop = asyncio.get_running_loop()

    def end() -> None:
        over.set()
        for runner in runners:
            runner.end()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    listening = asyncio.create_task(_listen(runners, end), name="runner-stdin")
    try:
        while not over.is_set():
            try:
                await _hold_and_work(read, runners, over)
                return
            except StoreBusy as busy:
                log.debug("runner.waits", why=str(busy))
                with suppress(TimeoutError):
                    await asyncio.wait_for(over.wait(), PATIENCE)
    finally:
        listening.cancel()
        telemetry.close()


def _speak(read: Settings, events: Events | None = None) -> None:
    """Say where events go: to the service's log files, and to the store once it is ours."""
    place, secrets = read.place, redaction.secrets_of(read)
    hear = events.hear if events is not None else None
    telemetry.configure(place.log_level, place.log_format, folder=place.log_dir, hear=hear, secrets=secrets)


async def _hold_and_work(read: Settings, runners: list[Runner], over: asyncio.Event) -> None:
    async with AsyncExitStack() as stack:
        seat = await stack.enter_async_context(opening.seat(read.place.store))
        parts = await stack.enter_async_context(
            runs.open_parts(read.place.store, archive=True, most=read.place.pool_size)
        )
        desk = await stack.enter_async_context(opening.desk(read.place.store))
        events = Events(desk)
        _speak(read, events)
        keeping = asyncio.create_task(events.run(), name="events")
        runner = Runner(parts, desk, read)
        runners.append(runner)
        if over.is_set():  # the service went while we opened the store
            return
        losing = asyncio.create_task(seat.lost(), name="seat")
        losing.add_done_callback(lambda _: runner.end())
        log.info("runner.ready", store=opening.shown(read.place.store), pid=os.getpid())
        try:
            await runner.work()
            if losing.done() and not over.is_set():
                raise StoreBusy("another service has taken over: this one waits beside it")
        finally:
            runners.clear()
            losing.cancel()
            keeping.cancel()
            await asyncio.gather(losing, keeping, return_exceptions=True)


async def _listen(runners: list[Runner], end: object) -> None:
    """Hear the service: each line says "look"; the end of it says that it is gone."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.readline():
        for runner in runners:
            runner.look()
    assert callable(end)
    end()


def main() -> None:
    """`python -m gossamer.runner JSON`: the flags of the service, as JSON."""
    flags = msgspec.json.decode(sys.argv[1]) if len(sys.argv) > 1 else {}
    with suppress(ImportError):
        import uvloop

        uvloop.install()
    try:
        asyncio.run(run(flags))
    except Exception as error:  # noqa: BLE001 - whoever started us starts us again
        log.error("runner.gave_up", exc_info=error)
        telemetry.close()
        sys.exit(OURS)


if __name__ == "__main__":
    main()
