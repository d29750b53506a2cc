"""How many shards a worker takes: more while all are used and nothing is short, fewer when something is.

`Pulse` measures the process, `Tuning` decides. It begins small and doubles, so that a strong machine is at work
after some seconds; after the first shortage it goes by ones. What was too much once is tried again later and later,
so a worker that has found its measure stays there.
"""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import msgspec

from gossamer import vitals

#: Shards that a worker begins with.
FIRST = 4
#: A loop later than this, in seconds, keeps its leases and hears its hosts too slowly; one that is CALM is well.
LATE = 0.1
CALM = 0.05
#: Shares of the one core that a loop can use: above HOT it has no more to give, below WARM there is room for more.
HOT = 0.9
#: Below this share a late loop is not late through its own work.
BUSY = 0.5
WARM = 0.8
#: Shares of the memory it may have: above TIGHT it takes fewer, below ROOMY it may take more.
TIGHT = 0.8
ROOMY = 0.7
#: Seconds in a row that make a shortage: late; hot and not calm.
LATE_FOR = 3
HOT_FOR = 5
#: Seconds in a row, all used and nothing short, after which it takes more: doubling at first, by one later.
QUICK = 2
STEADY = 5
#: Seconds before it takes fewer again, and before it takes more again: what was changed must show first.
AGAIN = 10.0
RECOVERY = 30.0
#: Seconds after which what was too much is tried again: twice as long each time.
PATIENCE = 60
LONGEST_PATIENCE = 600
#: Room that grows by ones is told of when it stays for this long, in seconds.
STANDING = 10.0


class Vital(msgspec.Struct, frozen=True):
    """How a worker was in the last second."""

    #: When, by a clock that nobody sets.
    now: float
    #: Cores that this process used.
    cpu: float
    #: Bytes it has in memory now.
    memory: int
    #: Seconds that its loop was late, at the worst.
    lag: float
    #: Shards that it holds.
    leases: int
    #: Whether tickets were refused for want of room.
    waiting: bool = False


class Tuning:
    """Says how many shards a worker may hold. It is told once a second how the worker is.

    `most` is never exceeded. `memory` is a soft limit in bytes: above it the worker is to `drain`. `cores` is what
    the process may use; a loop cannot use more than one.
    """

    def __init__(self, most: int, memory: int | None, cores: float) -> None:
        self._most = max(1, most)
        self._limit = memory
        self._core = min(1.0, cores) if cores > 0 else 1.0
        self._room = min(FIRST, self._most)
        #: Why it has the room it has; empty: it is what everybody begins with.
        self._because = ""
        #: Whether to hand all shards back and begin anew.
        self.drain = False
        self._vital: Vital | None = None
        #: Seconds in a row: late, hot, and all used with nothing short.
        self._late = self._hot = self._calm = 0
        self._quick = True
        self._shrunk = float("-inf")
        #: The room that was too much, and the seconds until it is tried again.
        self._edge = 0
        self._patience = PATIENCE
        self._told = 0
        self._changed = float("-inf")
        self._worked = False

    @property
    def room(self) -> int:
        """How many shards it may hold now."""
        return self._room

    @property
    def why(self) -> str:
        """Why it has the room it has, in one sentence for a person."""
        vital = self._vital
        shards = f"{self._room:,} shard{'s' if self._room != 1 else ''}"
        if vital is None:
            return f"takes {shards}: it has just begun"
        if self.drain:
            used = f"{_mb(vital.memory)} MB are more than the {_mb(self._limit or 0)} MB it may have"
            return f"takes no more shards: {used}, so it hands its shards back and begins anew"
        most = ", the most it may" if self._room == self._most else ""
        memory = f", {_mb(vital.memory)} of {_mb(self._limit)} MB" if self._limit else ""
        state = f"the loop is {vital.lag * 1000:.0f} ms late, {vital.cpu * 100:.0f} % of a core{memory}"
        because = self._because or "no more were needed yet"
        return f"takes {shards}{most}: {because}{' now ' if because.endswith(';') else ', '}{state}"

    def changed(self) -> bool:
        """Whether there is something new to print. Asked again, there is not."""
        if self.drain:
            new = self._told >= 0
            self._told = -1
            return new
        if self._room == self._told:
            return False
        now = self._vital.now if self._vital is not None else 0.0
        if self._told < self._room < 2 * self._told and now - self._changed < STANDING:
            return False  # on its way up by ones: each of them is no news
        self._told = self._room
        return True

    def note(self, vital: Vital) -> None:
        """Hear how the worker was in the last second."""
        self._vital = vital
        self._worked = self._worked or vital.leases > 0
        # Who is above the limit before any work would begin anew for ever.
        if self._limit and vital.memory > self._limit and self._worked:
            self.drain = True
        self._count(vital)
        shortage = self._shortage(vital)
        if shortage:
            self._shrink(vital, shortage)
        elif self._calm >= self._waits() and vital.now - self._shrunk >= RECOVERY:
            self._grow(vital)

    def _count(self, vital: Vital) -> None:
        lag = self._lag(vital)
        self._late = self._late + 1 if lag > LATE else 0
        self._hot = self._hot + 1 if vital.cpu > HOT * self._core and lag > CALM else 0
        used = vital.waiting or vital.leases >= self._room
        well = lag <= CALM and vital.cpu <= WARM * self._core and self._share(vital) <= ROOMY
        self._calm = self._calm + 1 if used and well else 0

    def _lag(self, vital: Vital) -> float:
        """How late the loop is through its own work: where others keep the machine busy, fewer shards are no help."""
        return vital.lag if vital.cpu > BUSY * self._core else 0.0

    def _share(self, vital: Vital) -> float:
        return vital.memory / self._limit if self._limit else 0.0

    def _shortage(self, vital: Vital) -> str:
        """What is short, as a clause; empty if nothing is that fewer shards would help."""
        since = vital.now - self._shrunk
        if not vital.leases or since < AGAIN or (vital.leases > self._room and since < RECOVERY):
            return ""  # what it hands back is not gone yet
        if self._share(vital) > TIGHT:
            return f"{_mb(vital.memory)} of {_mb(self._limit or 0)} MB were used"
        if self._late >= LATE_FOR:
            return f"the loop was {vital.lag * 1000:.0f} ms late"
        if self._hot >= HOT_FOR:
            return f"the loop used {vital.cpu * 100:.0f} % of a core and was late"
        return ""

    def _shrink(self, vital: Vital, shortage: str) -> None:
        if vital.leases >= self._room:
            if self._edge:
                self._patience = min(LONGEST_PATIENCE, 2 * self._patience)
            self._edge = self._room
        fewer = min(self._room - 1, max(1, self._room // 5))
        self._quick = False
        self._calm = self._late = self._hot = 0
        self._shrunk = vital.now
        self._because = f"{f'{fewer:,} fewer' if fewer else 'no more'} because {shortage};"
        self._set(vital, self._room - fewer)

    def _waits(self) -> int:
        """Seconds in a row that must be well before it takes more."""
        if self._quick:
            return QUICK
        return self._patience if self._edge and self._room + 1 == self._edge else STEADY

    def _grow(self, vital: Vital) -> None:
        if self._room >= self._most:
            return
        if self._edge and self._room >= self._edge:  # what was too much is well now
            self._edge, self._patience = 0, PATIENCE
        self._calm = 0
        self._because = "all were used"
        self._set(vital, min(self._most, self._room * 2 if self._quick else self._room + 1))

    def _set(self, vital: Vital, room: int) -> None:
        if room != self._room:
            self._changed = vital.now
        self._room = room


def _mb(size: int) -> str:
    return f"{size / (1 << 20):,.0f}"


class Pulse:
    """Measures this process: cores used, memory, and how late its loop is. To be entered on that loop."""

    #: Seconds between two looks at whether the loop is on time.
    BEAT = 0.1

    def __init__(self) -> None:
        self._worst = 0.0
        self._due = float("inf")
        self._taken = time.monotonic()
        self._cpu = time.process_time()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Pulse:
        self._taken, self._cpu = time.monotonic(), time.process_time()
        self._task = asyncio.create_task(self._beat(), name="pulse")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _beat(self) -> None:
        while True:
            self._due = time.monotonic() + self.BEAT
            await asyncio.sleep(self.BEAT)
            self._worst = max(self._worst, time.monotonic() - self._due)

    def take(self, leases: int, waiting: bool = False) -> Vital:
        """How the process was since this was last asked."""
        now, cpu = time.monotonic(), time.process_time()
        passed = max(now - self._taken, 1e-6)
        # A beat that is overdue counts already: this may be asked before it gets its turn.
        lag = max(self._worst, now - self._due, 0.0)
        vital = Vital(now, (cpu - self._cpu) / passed, resident(), lag, leases, waiting)
        self._taken, self._cpu, self._worst = now, cpu, 0.0
        return vital


def resident() -> int:
    """Bytes of this process that are in memory now; where nobody says, the most it has had."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return vitals.memory()


def cores() -> float:
    """Cores that this process may use: those it is bound to, and no more than its container has."""
    try:
        bound = float(len(os.sched_getaffinity(0)))
    except AttributeError:
        bound = float(os.cpu_count() or 1)
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return bound if quota == "max" else min(bound, int(quota) / int(period))
    except (OSError, ValueError, ZeroDivisionError):
        return bound
