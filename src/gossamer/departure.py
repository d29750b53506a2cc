"""The moment a request leaves, which is what a host's pace counts from."""

from __future__ import annotations

import asyncio
import time

from gossamer.errors import Held
from gossamer.polite.gate import Door, Gate
from gossamer.polite.sharing import Sharing
from gossamer.storage.store import Store
from gossamer.tenure import FOREVER, Tenure

#: A host asked no more often than this, in seconds, has each of its turns written down before it is taken.
SLOW = 0.25
#: Seconds that a turn waits for its host's pace; for longer, its request goes back to the frontier.
MOMENT = 0.5
#: Seconds between two looks at whether other processes have room.
BRIEFLY = 0.02


class Departure:
    """Awaited by whoever sends a request, last of all: names are looked up and browsers started by then.

    What came between a turn and its request would otherwise bring requests closer together than was promised.
    """

    __slots__ = ("_door", "_entered", "_gate", "_shared", "_store", "_tenure", "at", "began")

    def __init__(
        self, store: Store, gate: Gate, door: Door, tenure: Tenure = FOREVER, shared: Sharing | None = None
    ) -> None:
        self._store = store
        self._gate = gate
        self._door = door
        self._tenure = tenure
        self._shared = shared
        self._entered = False
        #: When the request left, in seconds since 1970; 0: it did not.
        self.at = 0.0
        self.began = time.monotonic()

    async def __call__(self) -> None:
        """Let the request go. Raises Held if its host was held meanwhile, or may be somebody else's by now."""
        door = self._door
        if door.interval >= SLOW:
            # A kill must not shorten the host's wait.
            await self._store.remember(self._gate.notes())
        while (wait := door.go(time.monotonic())) > 0:
            if wait > MOMENT:
                raise Held(wait, door.why)
            await asyncio.sleep(wait)
        if self._shared is not None:
            await self._wait_for_others(self._shared)
        if not self._tenure.holds:
            raise Held(0.0, "whoever walks it now was not heard of by the store")
        # The system may have taken its time since it was let go: the next one waits from when it really leaves.
        self.at, self.began = time.time(), time.monotonic()
        door.left(self.began)

    async def _wait_for_others(self, shared: Sharing) -> None:
        """Take the host's turn among all who ask it. Raises Held if that takes longer than a moment."""
        door, until = self._door, time.monotonic() + MOMENT
        while not await shared.enter(door.host, door.room):
            if time.monotonic() > until:
                raise Held(MOMENT, "other workers have as many requests open as it may answer")
            await asyncio.sleep(BRIEFLY)
        self._entered = True
        while door.interval and (wait := await shared.turn(door.host, door.interval)) > 0:
            if wait > MOMENT:
                raise Held(wait, door.why or "other workers ask it as often as they may")
            await asyncio.sleep(wait)

    async def over(self) -> None:
        """The request was answered, or given up: others who ask the host may know."""
        if self._shared is None or not self._entered:
            return
        self._entered = False
        await self._shared.leave(self._door.host)
        left = self._door.next_at - time.monotonic()
        if self._door.why and left > 0:
            await self._shared.hold(self._door.host, left, self._door.why)

    @property
    def elapsed(self) -> float:
        """Seconds since it left; since it was to leave, if it did not."""
        return time.monotonic() - self.began
