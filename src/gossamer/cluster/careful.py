"""Walking with care where a process died: so that the URL that ends processes is known, and no other is blamed for it.

Each request is written down before it is walked. What was under way when the process died is walked alone, while
nothing else goes on in the process: whoever ends it then did it. What did so often enough is never walked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from gossamer.engine import Engine
from gossamer.frontier import Turn
from gossamer.storage.shared import Shared, Taken
from gossamer.telemetry import log
from gossamer.values import Ending, Outcome

#: Walks after which the harm is over: what was under way when a process died comes first.
ENOUGH = 256
#: Seconds until what is under way must have ended, for one request to be walked alone.
PATIENCE = 60.0
#: Seconds between two looks at whether all is at rest.
LOOK = 0.02


class CarefulWalk:
    """Walks the requests of one slice after its shard's last owner died."""

    def __init__(self, store: Shared, taken: Taken, engine: Engine, solo: Solo) -> None:
        self._store = store
        self._lease = taken.lease
        self._suspects = taken.suspects
        self._poison = taken.poison
        self._engine = engine
        self._solo = solo
        self._left = max(ENOUGH, len(taken.suspects))

    async def walk(self, turn: Turn, walk: Callable[[Turn], Awaitable[Outcome]]) -> Outcome:
        """As in `engine.Careful`."""
        row = turn.request.id
        if row in self._poison:
            log.error("page.poison", url=turn.request.url, run=self._lease.run)
            if not (turn.refused or turn.inactive or turn.fresh):
                turn.door.leave()
            told = "it ended the worker that walked it, each time it was tried"
            return Outcome(turn.request, Ending.FAILED, "poison", told)
        if row not in self._suspects:
            await self._store.claim(self._lease, [row], alone=False)
            return await walk(turn)
        return await self._walk_alone(turn, walk)

    async def _walk_alone(self, turn: Turn, walk: Callable[[Turn], Awaitable[Outcome]]) -> Outcome:
        async with self._solo.alone(self._engine, turn.request.id):
            await self._store.claim(self._lease, [turn.request.id], alone=True)
            log.info("page.alone", url=turn.request.url, run=self._lease.run)
            return await walk(turn)

    def settled(self, outcomes: Sequence[Outcome]) -> None:
        """As in `engine.Careful`."""
        self._left -= len(outcomes)
        self._solo.settled(outcomes)
        if self._left <= 0 and self._engine.careful is self:
            self._engine.careful = None
            self._solo.later(self._store.calm(self._lease))


class Solo:
    """One for a process: lets one request be walked while nothing else is."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._engines: set[Engine] = set()
        #: The request that is walked alone, until it is settled, and whose it is.
        self._alone: int | None = None
        self._of: Engine | None = None
        self._over = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def among(self, engine: Engine) -> AsyncIterator[None]:
        """An engine is at work: it pauses while a request of another is walked alone."""
        self._engines.add(engine)
        if self._turn.locked():
            engine.pause()
        try:
            yield
        finally:
            self._engines.discard(engine)
            if self._of is engine:  # it will settle no more
                self._over.set()

    @asynccontextmanager
    async def alone(self, engine: Engine, row: int) -> AsyncIterator[None]:
        """While nothing else is walked in this process, and until the request's outcome is in the store."""
        await self._turn.acquire()
        try:
            self._pause()
            await self._quiet()
            self._alone, self._of = row, engine
            self._over.clear()
            yield
        except BaseException:
            self._go_on()
            raise
        # The others wait until it is settled: a death in between is still its own.
        engine.settle_soon()
        self.later(self._until_settled())

    async def _until_settled(self) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                await self._over.wait()
        except TimeoutError:
            pass
        finally:
            self._go_on()

    def settled(self, outcomes: Sequence[Outcome]) -> None:
        """A group of outcomes is in the store."""
        if self._alone is not None and any(outcome.request.id == self._alone for outcome in outcomes):
            self._over.set()

    def _pause(self) -> None:
        for each in self._engines:
            each.pause()

    def _go_on(self) -> None:
        self._alone = self._of = None
        self._turn.release()
        if not self._turn.locked():
            for each in self._engines:
                each.go_on()

    async def _quiet(self) -> None:
        """Wait until nothing is walked but what waits for its turn to be walked alone."""
        for each in self._engines:
            each.settle_soon()
        try:
            async with asyncio.timeout(PATIENCE):
                while any(each.walking for each in self._engines):  # noqa: ASYNC110 - many engines, and rarely
                    await asyncio.sleep(LOOK)
        except TimeoutError:
            log.warning("page.not_alone", why="what else is walked takes too long")

    def later(self, work: Awaitable[None]) -> None:
        """Do something beside, and keep it from being lost."""

        async def run() -> None:
            await work

        task = asyncio.ensure_future(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
