"""Settling: outcomes are written in groups, in walk order, as soon as writing is worth it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from gossamer import clock
from gossamer.frontier import Frontier
from gossamer.polite.gate import Gate
from gossamer.storage.store import Batch, Settled, Store
from gossamer.tenure import Tenure
from gossamer.values import WHOLE, Fetch, Lease, Outcome

#: Outcomes settled in one transaction, unless time or size says sooner.
GROUP = 64
#: Bytes of items and pages after which a group is settled at once.
HEAVY = 4 << 20
#: Seconds after which the lease is renewed, if no settle has done it.
RENEW = 20.0


class Tempo(msgspec.Struct, frozen=True):
    """How soon what was walked is written."""

    #: Longest time, in seconds, that an outcome waits for others to be settled with it.
    linger: float
    #: Seconds between two notes of what is in flight, where nothing else is written.
    heartbeat: float


#: For one process with a store of its own, and for many that share one: there each transaction is work for all.
ALONE = Tempo(linger=0.02, heartbeat=0.5)
SHARED = Tempo(linger=0.1, heartbeat=2.0)
#: For those who share a budget, and know what is left of it only by what each of them writes.
COUNTED = Tempo(linger=0.0, heartbeat=2.0)


class Settler:
    """Writes what one run's walks bring. `told` hears of every group once it is in the store."""

    def __init__(
        self,
        store: Store,
        gate: Gate,
        lease: Lease,
        frontier: Frontier,
        most: int,
        told: Callable[[Sequence[Outcome], Settled], None],
        keep: Callable[[Sequence[Outcome]], Awaitable[Sequence[Outcome]]] | None = None,
        *,
        claims: Callable[[], Sequence[int]],
        tenure: Tenure,
        tempo: Tempo = ALONE,
    ) -> None:
        self._claims = claims
        self._tenure = tenure
        self._tempo = tempo
        self._store = store
        self._gate = gate
        self._lease = lease
        self._frontier = frontier
        self._told = told
        #: Archives the pages of a group before it is settled, so that a settled page is always there.
        self._keep = keep
        #: Walks that may wait to be settled: with those under way, a kill costs at most twice `most` fetches.
        self._most = min(most, 4 * GROUP)
        self._unsettled: list[Outcome] = []
        self._weight = 0
        self._fetches: list[Fetch] = []
        self._settling: Sequence[Outcome] = ()
        self._some = asyncio.Event()
        self._flush = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._last = time.monotonic()
        self._closing = False
        #: What made settling impossible.
        self.failure: BaseException | None = None

    # -- what the walk says ------------------------------------------------------------------------------------

    def done(self, outcome: Outcome) -> None:
        """A walk has ended: settle it with others that end about now."""
        self._unsettled.append(outcome)
        self._weight += sum(len(item.data) for item in outcome.items)
        self._weight += len(outcome.kept.body) if outcome.kept is not None else 0
        self._some.set()
        full = not self._has_room()
        if full:
            self._room.clear()
        if full or len(self._unsettled) >= GROUP or self._weight >= HEAVY or self._nothing_flies():
            self._flush.set()

    def log(self, fetch: Fetch) -> None:
        """Keep an exchange that no settled request will tell of."""
        self._fetches.append(fetch)
        if len(self._fetches) >= GROUP:
            self.soon()

    def soon(self) -> None:
        """Write what there is without waiting for more."""
        self._some.set()
        self._flush.set()

    def starving(self) -> None:
        """Workers are idle: what waits to be settled may be what they wait for."""
        if self._unsettled and self._nothing_flies():
            self._flush.set()

    async def room(self) -> None:
        """Wait until one more walk may begin."""
        if not self._room.is_set():
            await self._room.wait()

    @property
    def at_rest(self) -> bool:
        """Whether nothing waits to be written."""
        return not self._unsettled and not self._settling

    def _has_room(self) -> bool:
        """Whether one more walk may begin: what is walked and not settled would have to be walked again."""
        if self.failure is not None:
            return True  # nothing will be settled any more: nobody need wait for it
        waiting = len(self._unsettled) + len(self._settling)
        return waiting < self._most and self._weight < 4 * HEAVY

    def _nothing_flies(self) -> bool:
        """Whether all that was handed out waits to be settled: then waiting for more is waiting for nothing."""
        return self._frontier.flying == len(self._unsettled) + len(self._settling)

    # -- writing -----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Nothing more comes: `loop` ends once all is written."""
        self._closing = True
        self.soon()

    async def loop(self) -> None:
        """Settle until closed and nothing is left. Raises what made settling impossible."""
        try:
            while not self._closing or self._unsettled or self._fetches:
                await _wait(self._some, self._tempo.heartbeat)
                if self._unsettled:
                    await _wait(self._flush, self._tempo.linger)
                self._some.clear()
                self._flush.clear()
                if self._unsettled or self._fetches or self._frontier.flying or self._lease_ages():
                    await self._settle()
        except Exception as error:
            self.failure = error
            self._room.set()
            raise

    async def _settle(self) -> None:
        outcomes, self._unsettled = self._unsettled, []
        fetches, self._fetches = self._fetches, []
        self._weight = 0
        self._settling = outcomes
        if self._keep is not None:
            outcomes = list(await self._keep(outcomes))
        asked = clock.steady()
        settled = await self._store.settle(
            self._lease,
            Batch(
                outcomes=outcomes,
                claims=self._claims(),
                fetches=fetches,
                sources=self._gate.notes(),
                notices=self._gate.notices(),
                seconds=self._lap(),
            ),
        )
        self._tenure.renewed(asked)
        self._settling = ()
        self._frontier.settled(outcomes, settled.fresh)
        if self._has_room():
            self._room.set()
        if self._unsettled:
            self._some.set()
        self._told(outcomes, settled)

    def _lease_ages(self) -> bool:
        return time.monotonic() - self._last > min(RENEW, self._lease.ttl / 3)

    def _lap(self) -> float:
        now = time.monotonic()
        lap, self._last = now - self._last, now
        return lap if self._lease.shard == WHOLE else 0.0  # of several who walk a run, the conductor has the clock


async def _wait(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, but not for ever."""
    if event.is_set():
        return
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass
