"""One task's place among those at work, and its clock. Who waits for a host gives up the place and stops the clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf
from types import TracebackType


class Seat:
    """Held while a task works. Use as an async context manager, with each executor under `working`.

    A task that waits, for its host's turn or for the next try, rises: another may work meanwhile, and the wait
    costs none of its time. An executor may fetch several things at once: it is away while any of them waits.
    """

    __slots__ = ("_clock", "_holding", "_left", "_since", "_sitting", "_slots", "_waiting", "out_of_time")

    def __init__(self, slots: asyncio.Semaphore, seconds: float) -> None:
        self._slots = slots
        self._left = seconds
        self._clock: asyncio.Timeout | None = None
        #: When the clock was last started; None while it stands.
        self._since: float | None = None
        self._holding = False
        self._sitting = False
        self._waiting = 0
        #: Whether the time was up when the last work ended.
        self.out_of_time = False

    async def __aenter__(self) -> Seat:
        await self._slots.acquire()
        self._holding = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._give_up()

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Time that counts. Raises TimeoutError when the task has none left; `out_of_time` says whether it did."""
        try:
            async with asyncio.timeout(None) as self._clock:
                self._start()
                try:
                    yield
                finally:
                    self._stop()
        finally:
            self._clock = None

    @property
    def expiring(self) -> bool:
        """Whether the task is being cancelled because its time is up."""
        return self._clock is not None and self._clock.expired()

    def rise(self) -> None:
        """Begin to wait."""
        self._waiting += 1
        self._stop()
        self._give_up()

    async def sit(self) -> None:
        """Wait no longer; return when there is room to work."""
        if self._waiting == 1 and not self._holding and not self._sitting:
            self._sitting = True
            try:
                await self._slots.acquire()
                self._holding = True
            finally:
                self._sitting = False
        self.back()

    def back(self) -> None:
        """Wait no longer, and work whether or not there is room."""
        self._waiting -= 1
        if not self._waiting:
            self._start()

    def _give_up(self) -> None:
        if self._holding:
            self._holding = False
            self._slots.release()

    def _start(self) -> None:
        if self._clock is not None and not self._clock.expired() and self._since is None and self._left < inf:
            self._since = asyncio.get_running_loop().time()
            self._clock.reschedule(self._since + self._left)

    def _stop(self) -> None:
        if self._since is None or self._clock is None:
            return
        self._left -= asyncio.get_running_loop().time() - self._since
        self._since = None
        self.out_of_time = self._clock.expired()
        if not self.out_of_time:
            self._clock.reschedule(None)
