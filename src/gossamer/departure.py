"""The moment a request leaves, which is what a host's pace counts from."""

from __future__ import annotations

import asyncio
import time

from gossamer.errors import Held
from gossamer.polite.gate import Door, Gate
from gossamer.storage.store import Store

#: A host asked no more often than this, in seconds, has each of its turns written down before it is taken.
SLOW = 0.25
#: Seconds that a turn waits for its host's pace; for longer, its request goes back to the frontier.
MOMENT = 0.5


class Departure:
    """Awaited by whoever sends a request, last of all: names are looked up and browsers started by then.

    What came between a turn and its request would otherwise bring requests closer together than was promised.
    """

    __slots__ = ("_door", "_gate", "_store", "at", "began")

    def __init__(self, store: Store, gate: Gate, door: Door) -> None:
        self._store = store
        self._gate = gate
        self._door = door
        #: When the request left, in seconds since 1970; 0: it did not.
        self.at = 0.0
        self.began = time.monotonic()

    async def __call__(self) -> None:
        """Let the request go. Raises Held if its host was held meanwhile."""
        door = self._door
        if door.interval >= SLOW:
            # A kill must not shorten the host's wait.
            await self._store.remember(self._gate.notes())
        while (wait := door.go(time.monotonic())) > 0:
            if wait > MOMENT:
                raise Held(wait, door.why)
            await asyncio.sleep(wait)
        self.at, self.began = time.time(), time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since it left; since it was to leave, if it did not."""
        return time.monotonic() - self.began
