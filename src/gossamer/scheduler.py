"""Fires schedules: when one comes due a pending run is written, once, however many services look at the store.

A firing and its run are written in one transaction, together with the step of the schedule to its next due time. Who is
killed before has done nothing, who is killed after has done all; and of two services that find the same due time,
the second finds it gone. Nothing is kept in memory that matters.

The clock on the wall says what is due, so it may be set: what it jumps over counts as missed, and when it is set back,
due times that were fired are not fired again, for their rows are there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import msgspec

from gossamer import asking, health, schedules, timetable
from gossamer.catalog import Catalog
from gossamer.clock import iso
from gossamer.errors import ConfigError, NotPossible, StoreError
from gossamer.misfires import Owed, owed
from gossamer.schedules import Entry
from gossamer.storage.desk import Desk, Writing
from gossamer.storage.store import Draft
from gossamer.telemetry import log
from gossamer.timetable import Schedule, due_after, fires_at
from gossamer.trail import Asker

#: Seconds between two looks at the store, for others may change it.
LOOK = 1.0
#: Two clocks that differ by less do not make one another believe that it was set back.
SKEW = 300.0
#: How long firings are kept, and the seconds between two clean-ups.
KEPT = 400 * 86400.0
CLEANING = 3600.0

_MOVE_BACK = "update schedule set next_due = :next_due where name = :name and next_due = :before"
_NEWEST = "select due, what from firing where schedule = :schedule order by due desc limit 1"
_CLEAN = "delete from firing where at < :before"


class Scheduler:
    """Fires the schedules of one store, beside any number of others that do."""

    def __init__(
        self,
        desk: Desk,
        catalog: Catalog,
        poke: Callable[[], None] = lambda: None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`poke` is called when there is a new run to walk."""
        self._desk = desk
        self._catalog = catalog
        self._poke = poke
        self._clock = clock
        self._woken = asyncio.Event()
        #: The scrapers that the rows were last brought in line with.
        self._synced: Mapping[str, object] | None = None
        #: Scraper -> after how many failed runs it backs off.
        self._limits: Mapping[str, int] = {}
        #: Schedule -> how it was at the last look, and when its next run begins: that is not computed each second.
        self._times: dict[str, tuple[Entry, float]] = {}
        self._looked = 0.0
        self._cleaned = 0.0
        #: Why the last look failed.
        self._trouble = ""

    def poke(self) -> None:
        """Something changed: look now."""
        self._woken.set()

    async def run(self) -> None:
        """Fire what comes due, until cancelled. Raises ConfigError if APScheduler is not installed."""
        timetable.needs_apscheduler()
        while True:
            wait = await self._look_again()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), max(0.01, min(wait, LOOK)))
            self._woken.clear()

    async def _look_again(self) -> float:
        """Look, whatever went wrong the last time; and say what does, once."""
        wait, trouble = LOOK, ""
        try:
            wait = await self.look()
        except StoreError as why:  # a full disk, a locked file: it may pass
            trouble = str(why)
            if trouble != self._trouble:
                log.warning("scheduler.store", why=trouble)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one look, others follow
            trouble = repr(error)
            if trouble != self._trouble:
                log.error("scheduler.broke", exc_info=error)
        self._trouble = trouble
        return wait

    async def look(self) -> float:
        """Fire all that is due now. Returns how many seconds there are until something is."""
        now = self._clock()
        scrapers = self._catalog.scrapers
        if scrapers is not self._synced:
            await schedules.sync(self._desk, self._catalog, now)
            self._synced = scrapers
        entries = [entry for entry in await schedules.entries(self._desk) if entry.schedule.scraper in scrapers]
        self._limits = _limits(entries)
        await self._heed_runs(now)
        soonest = now + LOOK
        for at, entry in sorted(await self._dated(entries, now), key=lambda pair: pair[0]):
            if at > now:
                soonest = min(soonest, at)
            elif await self._fire_apart(entry, now):
                soonest = now  # it may owe more
        await self._probe(entries, now)
        await self._clean(now)
        return soonest - self._clock()

    async def _dated(self, entries: Sequence[Entry], now: float) -> list[tuple[float, Entry]]:
        """Schedules that are to be fired, and when."""
        if now < self._looked:  # the clock was set back
            self._times.clear()
        self._looked = now
        times: dict[str, tuple[Entry, float]] = {}
        for entry in entries:
            if not entry.schedule.enabled or not entry.schedule.trigger or entry.next_due is None:
                continue
            seen = self._times.get(entry.schedule.name)
            if seen is None or seen[0].schedule != entry.schedule or seen[0].next_due != entry.next_due:
                dated = await self._brought_back(entry, now)
                if dated.next_due is None:
                    continue
                seen = dated, fires_at(dated.schedule, dated.next_due)
            times[entry.schedule.name] = seen
        self._times = times
        return [(at, entry) for entry, at in times.values()]

    async def _brought_back(self, entry: Entry, now: float) -> Entry:
        """A schedule whose next due time is where it should be: a clock that was wrong may have taken it along.

        What was fired by that clock has its rows, and is not fired again.
        """
        assert entry.next_due is not None
        sooner = due_after(entry.schedule, now + SKEW) if entry.next_due > now + SKEW else None
        if sooner is None or sooner >= entry.next_due:
            return entry
        name, next_due = entry.schedule.name, due_after(entry.schedule, now)
        async with self._desk.writing() as writing:
            await writing.run(_MOVE_BACK, name=name, next_due=next_due, before=entry.next_due)
        log.warning("schedule.clock_set_back", schedule=name, next_due=iso(next_due))
        return msgspec.structs.replace(entry, next_due=next_due)

    # -- firing ------------------------------------------------------------------------------------------------

    async def _fire_apart(self, entry: Entry, now: float) -> bool:
        """As `fire`; what is wrong with one schedule holds up no other."""
        try:
            return await self.fire(entry, now)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - an author's code may raise anything
            log.error("schedule.broke", schedule=entry.schedule.name, exc_info=error)
            return False

    async def fire(self, entry: Entry, now: float) -> bool:
        """Do what a schedule owes now. Whether that was done here: not if it waits, or somebody else was faster."""
        draft, why = await self._drafted(entry)
        async with self._desk.writing() as writing:
            turn = _Turn(writing, entry.schedule, now, draft, why)
            done = await turn.still_due(entry) and await turn.take(entry, self._limits.get(entry.schedule.scraper))
        turn.tell()
        if turn.run is not None:
            self._poke()
        return done

    async def _drafted(self, entry: Entry) -> tuple[Draft | None, str]:
        """The run that a schedule asks for, or why there can be none."""
        found = self._catalog.get(entry.schedule.scraper)
        if found is None:
            return None, f"no file has a scraper {entry.schedule.scraper!r}"
        try:
            draft = await asking.prepare(
                self._desk, found, params=entry.schedule.params, trusted=entry.schedule.trusted
            )
        except ConfigError as why:
            if not isinstance(why, NotPossible):
                log.warning("schedule.refused", schedule=entry.schedule.name, why=str(why))
            return None, str(why)
        return msgspec.structs.replace(draft, trusted=entry.schedule.trusted), ""

    # -- the breaker -------------------------------------------------------------------------------------------

    async def _heed_runs(self, now: float) -> None:
        """Open and close the breakers of scrapers whose runs ended since the last look."""
        for name, seen in (await health.odd_ones(self._desk)).items():
            limit = self._limits.get(name)
            busy = seen.breaker == health.HALF_OPEN and await health.active(self._desk, name) is not None
            if health.settled(seen, limit, busy=busy, now=now) == seen:
                continue
            async with self._desk.writing() as writing:
                before, after = await health.settle(writing, name, limit, now)
            health.tell(name, before, after, now)

    async def _probe(self, entries: Sequence[Entry], now: float) -> None:
        """Where a pause is over and something was held meanwhile: let it go, to see whether it works again."""
        for name, state in (await health.odd_ones(self._desk)).items():
            if health.verdict(state, now) != health.PROBE:
                continue
            enabled = [entry for entry in entries if entry.schedule.scraper == name and entry.next_due is not None]
            held = [(due, entry) for entry in enabled if (due := await self._held(entry)) is not None]
            if held:
                due, entry = max(held, key=lambda pair: pair[0])
                await self._release(entry, due, now)

    async def _held(self, entry: Entry) -> float | None:
        """The newest due time of a schedule, if it was held."""
        row = await self._desk.row(_NEWEST, schedule=entry.schedule.name)
        return float(row[0]) if row is not None and row[1] == "held" else None

    async def _release(self, entry: Entry, due: float, now: float) -> None:
        """Let a due time go that was held."""
        draft, why = await self._drafted(entry)
        async with self._desk.writing() as writing:
            turn = _Turn(writing, entry.schedule, now, draft, why)
            await turn.release(due, self._limits.get(entry.schedule.scraper))
        turn.tell()
        if turn.run is not None:
            self._poke()

    async def _clean(self, now: float) -> None:
        """Forget firings of long ago."""
        if not 0 <= now - self._cleaned < CLEANING:
            async with self._desk.writing() as writing:
                await writing.run(_CLEAN, before=now - KEPT)
            self._cleaned = now


def _limits(entries: Sequence[Entry]) -> dict[str, int]:
    """Scraper -> after how many failed runs it backs off; the strictest of its schedules that are enabled."""
    found: dict[str, int] = {}
    for entry in entries:
        schedule = entry.schedule
        if schedule.enabled and schedule.trigger and schedule.pause_after is not None:
            found[schedule.scraper] = min(schedule.pause_after, found.get(schedule.scraper, schedule.pause_after))
    return found


# -- one transaction -------------------------------------------------------------------------------------------

_ROW = """
select name, scraper, declared, overrides, anchor, next_due, updated, updated_by from schedule where name = :name
"""
_CLAIM = """
insert into firing (schedule, due, at, what, run_id, detail) values (:schedule, :due, :at, :what, :run, :detail)
on conflict (schedule, due) do nothing
"""
_RELEASE = """
update firing set what = 'probe', at = :at, detail = :detail
where schedule = :schedule and due = :due and what = 'held'
"""
_RAN = "update firing set run_id = :run where schedule = :schedule and due = :due"
_MOVE = "update schedule set next_due = :next_due where name = :name"
_LAST_RUNS = "select created, ended from run where scraper = :scraper order by id desc limit 20"


class _Turn:
    """What a schedule does about its due times, in one transaction."""

    def __init__(self, writing: Writing, schedule: Schedule, now: float, draft: Draft | None, why: str) -> None:
        """`draft` is the run to start; if there can be none, `why` says so."""
        self._writing = writing
        self._schedule = schedule
        self._now = now
        self._draft = draft
        self._why = why
        #: The run that was started.
        self.run: int | None = None
        self._health = health.Health()
        #: What is said when all of it is written.
        self._said: list[Callable[[], None]] = []

    def tell(self) -> None:
        """Say what was done. To be called when the transaction is over."""
        for say in self._said:
            say()

    async def still_due(self, entry: Entry) -> bool:
        """Whether a schedule is as it was when somebody looked: nobody fired or changed it meanwhile."""
        row = await self._writing.row(_ROW, name=entry.schedule.name)
        known = schedules.entry_of(row) if row is not None else None
        return known is not None and known.schedule == entry.schedule and known.next_due == entry.next_due

    async def take(self, entry: Entry, limit: int | None) -> bool:
        """Do what is owed, and move on; not if it waits for the scraper to be free."""
        assert entry.next_due is not None
        schedule = self._schedule
        await self._settle_health(limit)
        active = await health.active(self._writing, schedule.scraper)
        waited = schedule.overlap == "queue" and await self._was_busy(entry.next_due)
        what = owed(schedule, entry.next_due, self._now, waited=waited)
        in_turn = schedule.overlap == "queue" or (schedule.misfire == "all" and what.late)
        if active is not None and in_turn and what.due is not None:
            return False
        if what.missed is not None:
            await self._claim(what.missed, "missed", detail=what.lost)
        if what.due is not None:
            await self._start(what, what.due, active)
        await self._writing.run(_MOVE, name=schedule.name, next_due=due_after(schedule, what.last))
        return True

    async def release(self, due: float, limit: int | None) -> None:
        """Start what was held, as a probe, if that is still the thing to do."""
        await self._settle_health(limit)
        if health.verdict(self._health, self._now) != health.PROBE or self._draft is None:
            return
        if await health.active(self._writing, self._schedule.scraper) is not None:
            return
        names = {"schedule": self._schedule.name, "due": due, "at": self._now}
        if await self._writing.run(_RELEASE, detail=f"held until {iso(self._now)}", **names):
            await self._begin(due, self._draft, probe=True)

    async def _settle_health(self, limit: int | None) -> None:
        scraper, now = self._schedule.scraper, self._now
        before, after = await health.settle(self._writing, scraper, limit, now)
        self._health = after
        self._said.append(lambda: health.tell(scraper, before, after, now))

    async def _was_busy(self, due: float) -> bool:
        """Whether the scraper was at work when a due time came: then it was not missed, it waited."""
        at = fires_at(self._schedule, due)
        found = await self._writing.rows(_LAST_RUNS, scraper=self._schedule.scraper)
        return any(created <= at and (ended is None or ended >= at) for created, ended in found)

    async def _start(self, what: Owed, due: float, active: int | None) -> None:
        """Write the firing of a due time, and its run if there is to be one."""
        scraper, state = self._schedule.scraper, self._health
        verdict = health.verdict(state, self._now)
        if active is not None:
            await self._claim(due, "skipped", active, f"run {active} was still going on")
        elif verdict == health.HOLD:
            told = f"{scraper} failed {state.streak} times in a row: held until {iso(state.open_until)}"
            await self._claim(due, "held", detail=told)
            self._say("schedule.held", due)
        elif self._draft is None:
            await self._claim(due, "skipped", detail=self._why)
            self._say("schedule.skipped", due)
        else:
            probe = verdict == health.PROBE
            # If it is there, the clock was set back: it was fired before.
            if await self._claim(due, "probe" if probe else "fired", detail=what.detail):
                await self._begin(due, self._draft, probe=probe)

    async def _begin(self, due: float, draft: Draft, *, probe: bool) -> None:
        schedule = self._schedule
        self.run = await asking.begin(self._writing, draft, Asker(schedule.name, "schedule"))
        await self._writing.run(_RAN, schedule=schedule.name, due=due, run=self.run)
        if probe:
            await health.keep(self._writing, schedule.scraper, health.probing(self._health))
        self._say("schedule.probe" if probe else "schedule.fired", due)

    async def _claim(self, due: float, what: str, run: int | None = None, detail: str = "") -> bool:
        """Write a firing; whether it was not there before."""
        names = {"schedule": self._schedule.name, "due": due, "at": self._now, "what": what}
        return await self._writing.run(_CLAIM, run=run, detail=detail, **names) > 0

    def _say(self, event: str, due: float) -> None:
        facts: dict[str, object] = {"schedule": self._schedule.name, "scraper": self._schedule.scraper}
        facts |= {"due": iso(due)} | ({} if self.run is None else {"run": self.run})
        self._said.append(lambda: log.info(event, **facts))
