"""What is still to be walked: which request goes next, and when.

The store holds the queue; the frontier holds a short look-ahead for each host that has something waiting, and
hands out the best request of a host that may be asked *now*. A host that may not costs a heap entry, no worker.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import count

import msgspec

from gossamer import clock, urls
from gossamer.errors import Stalled
from gossamer.fetch.retry import LONGEST_WAIT
from gossamer.polite.gate import Door, Gate
from gossamer.polite.robots import Robots, product
from gossamer.settings import ScraperConfig
from gossamer.storage.store import DEEPEST, Store
from gossamer.values import WHOLE, Ending, Outcome, Request, Visit
from gossamer.visits import Visits

#: Look-ahead for a host without a limit; a slow host needs only a few, and then heeds new priorities sooner.
LOOK_AHEAD = 256
#: Look-ahead of all hosts together, where there are many; at least one each.
LOOK_AHEAD_ALL = 32_768
#: Hosts whose next requests are asked of the store at the same time.
LOOKERS = 16
#: URLs remembered to spare the store a question: twice this many at most, some 40 MB.
REMEMBERED = 131_072
#: A URL longer than this is remembered by its digest.
LONG = 256
#: Seconds between two looks at whether a paused host goes on.
PAUSE = 1.0


class Turn(msgspec.Struct, frozen=True):
    """A request handed out, and the door it goes through.

    What to do with it: walk it, unless one of `robots_url`, `refused` and `fresh` says otherwise.
    """

    request: Request
    door: Door
    #: Ask this robots.txt, which stands in its way; or, where old rules still hold, beside it.
    robots_url: str | None = None
    refreshing: bool = False
    #: Skip it, for what these rules say.
    refused: Robots | None = None
    #: What an earlier run found there.
    visit: Visit | None = None
    #: That is recent enough: it need not be fetched.
    fresh: bool = False
    #: Somebody marked it as one not to be fetched.
    inactive: bool = False


class Known:
    """URLs lately seen by this run: a bounded memory in two generations, the older forgotten when full."""

    __slots__ = ("_limit", "_new", "_old")

    def __init__(self, limit: int = REMEMBERED) -> None:
        self._limit = limit
        self._new: set[str] = set()
        self._old: set[str] = set()

    def add(self, key: str) -> bool:
        """Whether the key was not remembered; it is now."""
        if len(key) > LONG:
            key = urls.digest(key)
        if key in self._new:
            return False
        fresh = key not in self._old
        self._new.add(key)
        if len(self._new) >= self._limit:
            self._old, self._new = self._new, set()
        return fresh

    def __contains__(self, key: str) -> bool:
        if len(key) > LONG:
            key = urls.digest(key)
        return key in self._new or key in self._old


class Lane:
    """One host of one run."""

    __slots__ = (
        "ahead",
        "door",
        "flying",
        "host",
        "level",
        "looking",
        "parked",
        "queued",
        "refreshing",
        "refusing",
        "visits",
        "waiting",
    )

    def __init__(self, host: str) -> None:
        self.host = host
        self.door: Door | None = None
        #: Peeked requests, best first.
        self.ahead: deque[Request] = deque()
        #: Ready in the store and not handed out.
        self.waiting = 0
        #: Handed out and not settled.
        self.flying: set[int] = set()
        #: Waiting for a later time.
        self.parked = 0
        #: Whether it stands in the ready queue or the timer heap, or waits for its door.
        self.queued = False
        #: Whether the store is being asked for more.
        self.looking = False
        #: Whether its robots.txt is being asked, and nothing goes on until it is read.
        self.refusing = False
        #: Whether it is being asked again while the old rules still hold.
        self.refreshing = False
        #: Request id -> what an earlier run found there, for what is in `ahead`.
        self.visits: Mapping[int, Visit] = {}
        #: Requests deeper than this wait until the shallower ones are settled.
        self.level = DEEPEST


class Frontier:
    """The queue of one run. `take` waits for the next turn; `settled` hears what became of turns."""

    def __init__(
        self,
        store: Store,
        gate: Gate,
        run_id: int,
        config: ScraperConfig,
        *,
        by_level: bool = False,
        visits: Visits | None = None,
        starving: Callable[[], None] = lambda: None,
        allowed: Callable[[], bool] = lambda: True,
        shard: int = WHOLE,
    ) -> None:
        """With a shard, only its hosts are walked: others are somebody else's."""
        self._store = store
        self._gate = gate
        self._run = run_id
        self._shard = shard
        self._config = config
        #: The name that robots.txt files know us by.
        self.agent = product(config.user_agent)
        self._by_level = by_level or config.depth is not None
        self._visits = visits
        #: Called when workers are idle and nothing is ready: whoever holds outcomes back should settle them.
        self._starving = starving
        #: Whether one more request may be handed out at all: the run's budget.
        self._allowed = allowed
        self.known = Known()
        self.lanes: dict[str, Lane] = {}
        self._ready: deque[Lane] = deque()
        self._timers: list[tuple[float, int, Lane]] = []
        self._ties = count()
        self._idle: deque[asyncio.Future[None]] = deque()
        self._wake_handle: asyncio.TimerHandle | None = None
        #: When the first parked request is due: by the steady clock, and as the store has it.
        self._due: tuple[float, float] | None = None
        self._helpers: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None
        self.closed = False
        #: Requests handed out and not settled.
        self.flying = 0
        #: Requests handed out since the start.
        self.turns = 0
        #: Robots.txt being asked.
        self.asking = 0
        #: Lanes that wait for a look into the store.
        self._unseen: deque[Lane] = deque()
        self._lookers = 0
        #: The least priority ever looked ahead to: what is no better cannot come before anything.
        self._least = 0
        #: Lanes that wait for an answer to somebody else's request.
        self.before_doors = 0
        #: Origin -> where its robots.txt was redirected to.
        self.robots_at: dict[str, str] = {}
        #: Origins that this run may not ask or does not get through to, whatever others know of them.
        self.barred: dict[str, Robots] = {}

    # -- filling -----------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Take up what waits in the store."""
        for host, waiting in (await self._store.hosts(self._run, self._shard)).items():
            self._more(host, waiting)
        due = (await self._store.pending(self._run, self._shard)).due
        if due is not None:
            self._expect(due)

    async def reopen(self) -> None:
        """Count again what waits, and look for it again."""
        for lane in self.lanes.values():
            lane.waiting = 0
            lane.ahead.clear()
        await self.open()

    def in_flight(self) -> list[int]:
        """Requests handed out and not settled, by id."""
        return [row for lane in self.lanes.values() if lane.flying for row in lane.flying]

    def added(self, fresh: Mapping[str, int]) -> None:
        """Requests have come into the store: host -> how many."""
        for host, n in fresh.items():
            if self.ours(host):
                self._more(host, n)

    def ours(self, host: str) -> bool:
        """Whether a host is ours to walk, or a part of it that is spread over shards."""
        return self._shard == WHOLE or (self._shard - urls.shard(host)) % urls.SHARDS < self._config.spread

    def _more(self, host: str, n: int) -> None:
        lane = self.lanes.get(host)
        if lane is None:
            lane = self.lanes[host] = Lane(host)
        lane.waiting += n
        self._consider(lane)

    # -- handing out -------------------------------------------------------------------------------------------

    async def take(self) -> Turn | None:
        """The next turn; None when the run is over or the frontier was closed."""
        # A cancelled worker must not begin one more request.
        await asyncio.sleep(0)
        while not self.closed:
            if self._failure is not None:
                raise self._failure
            turn = self._take_now()
            if turn is not None:
                return turn
            idle = asyncio.get_running_loop().create_future()
            self._idle.append(idle)
            self._starving()
            await idle
        return None

    def _take_now(self) -> Turn | None:
        now = time.monotonic()
        while self._ready and self._allowed():
            lane = self._ready.popleft()
            lane.queued = False
            turn = self._turn(lane, now)
            if turn is not None:
                return turn
        return None

    def _turn(self, lane: Lane, now: float) -> Turn | None:
        """This lane's turn, if its host may be asked now; else the lane waits for what it needs."""
        door = lane.door
        if door is None or not lane.ahead:
            self._look(lane)
            return None
        request = lane.ahead[0]
        if self._gate.orders.forbids(request.url):
            return self._hand_out(lane, Turn(request, door, inactive=True))
        if lane.host in self._gate.orders.paused:
            self._at(now + PAUSE, lane)
            return None
        rules = None
        if self._config.robots:
            origin = urls.origin(request.url)
            rules = door.robots.get((origin, self.agent))
            if self.barred and (rules is None or rules.expired(clock.now())):
                rules = self.barred.get(origin)
            if rules is not None and rules.expired(clock.now()):
                rules = None
            if rules is not None and not rules.allows(request.url):
                return self._hand_out(lane, Turn(request, door, refused=rules))
            if rules is None and lane.refusing:
                return None  # comes back when the robots.txt has been read
        visit = lane.visits.get(request.id) if lane.visits else None
        if visit is not None and self._visits is not None and self._visits.fresh(visit):
            return self._hand_out(lane, Turn(request, door, visit=visit, fresh=True))
        if door.next_at > now:
            self._at(door.next_at, lane)
            return None
        if door.open >= door.room:
            self._stand_before(lane, door)
            return None
        door.enter(now)
        if self._config.robots and (rules is None or (rules.aging(clock.now()) and not lane.refreshing)):
            return self._ask(lane, request, door, refreshing=rules is not None)
        return self._hand_out(lane, Turn(request, door, visit=visit))

    def _ask(self, lane: Lane, request: Request, door: Door, *, refreshing: bool) -> Turn:
        """Have the robots.txt before a request asked: by itself first, or while its old rules still hold."""
        self.asking += 1
        if refreshing:
            lane.refreshing = True
            self._consider(lane)
        else:
            lane.refusing = True
        origin = urls.origin(request.url)
        at = self.robots_at.get(origin, origin + "/robots.txt")
        return Turn(request, door, robots_url=at, refreshing=refreshing)

    def _hand_out(self, lane: Lane, turn: Turn) -> Turn:
        lane.ahead.popleft()
        lane.waiting -= 1
        lane.flying.add(turn.request.id)
        self.flying += 1
        self.turns += 1
        self._consider(lane)
        return turn

    # -- hearing back ------------------------------------------------------------------------------------------

    def robots_known(self, turn: Turn) -> None:
        """The robots.txt in the way of a turn has been read, or must be asked again later."""
        lane = self.lanes[urls.host(turn.request.url)]
        if turn.refreshing:
            lane.refreshing = False
        else:
            lane.refusing = False
        self.asking -= 1
        self._consider(lane)

    def settled(self, outcomes: Iterable[Outcome], fresh: Mapping[str, int]) -> None:
        """A group of outcomes is in the store."""
        touched = set()
        for outcome in outcomes:
            lane = self.lanes[urls.host(outcome.request.url)]
            lane.flying.discard(outcome.request.id)
            self.flying -= 1
            touched.add(lane)
            if outcome.ending is Ending.LATER:
                lane.parked += 1
                self._expect(outcome.not_before)
            self._heed(outcome.found)
        self.added(fresh)
        for lane in touched:
            self._consider(lane)
        self.wake_workers()

    def _heed(self, found: Iterable[Request]) -> None:
        """Where something better than a host's look-ahead was found, look again."""
        for request in found:
            if request.priority > self._least:  # hardly ever true: most scrapers give no priorities
                lane = self.lanes.get(urls.host(request.url))
                if lane is not None and lane.ahead and request.priority > lane.ahead[-1].priority:
                    lane.ahead.clear()

    # -- waiting -----------------------------------------------------------------------------------------------

    def _consider(self, lane: Lane) -> None:
        """Put a lane that has something to do into the ready queue."""
        if lane.queued or lane.looking or lane.refusing or lane.waiting <= 0:
            return
        lane.queued = True
        self._ready.append(lane)
        self._wake(1)

    def _requeue(self, lane: Lane) -> None:
        lane.queued = False
        self._consider(lane)

    def _stand_before(self, lane: Lane, door: Door) -> None:
        """Wait until a request to the host is answered, which may be one of another run."""

        def free() -> None:
            self.before_doors -= 1
            self._requeue(lane)

        lane.queued = True
        self.before_doors += 1
        door.when_free(free)

    def _at(self, when: float, lane: Lane) -> None:
        lane.queued = True
        heapq.heappush(self._timers, (when, next(self._ties), lane))
        self._set_timer()

    def _expect(self, due: float) -> None:
        """A parked request becomes ready at some time: a far one comes of a clock set back, and is not waited for."""
        at = time.monotonic() + min(max(0.0, due - clock.now()), LONGEST_WAIT)
        if self._due is None or at < self._due[0]:
            self._due = (at, due)
            self._set_timer()

    def _set_timer(self) -> None:
        """One timer for whatever comes first: a host's next turn, or a parked request's time."""
        loop = asyncio.get_running_loop()
        times = [self._timers[0][0]] if self._timers else []
        if self._due is not None:
            times.append(self._due[0])
        if self._wake_handle is not None:
            self._wake_handle.cancel()
        if times:
            self._wake_handle = loop.call_later(max(0.0, min(times) - time.monotonic()), self._tick)

    def _tick(self) -> None:
        now = time.monotonic()
        while self._timers and self._timers[0][0] <= now:
            self._requeue(heapq.heappop(self._timers)[2])
        if self._due is not None and self._due[0] <= now:
            (_, due), self._due = self._due, None
            self._help(self._wake_parked(max(due, clock.now())))
        self._set_timer()

    async def _wake_parked(self, now: float) -> None:
        woken, due = await self._store.wake(self._run, now, self._shard)
        for host, n in woken.items():
            lane = self.lanes.setdefault(host, Lane(host))
            lane.parked = max(0, lane.parked - n)
        self.added(woken)
        if due is not None:
            self._expect(due)
        self.wake_workers()

    # -- looking ahead -----------------------------------------------------------------------------------------

    def _look(self, lane: Lane) -> None:
        lane.looking = True
        self._unseen.append(lane)
        if self._lookers < LOOKERS:
            self._lookers += 1
            self._help(self._look_on())

    async def _look_on(self) -> None:
        """Look ahead for one lane after another: with many thousand hosts, not for all at once."""
        try:
            while self._unseen and not self.closed:
                await self._look_ahead(self._unseen.popleft())
        finally:
            self._lookers -= 1

    async def _look_ahead(self, lane: Lane) -> None:
        """Fetch a lane's next requests from the store; step to the next level when this one is settled."""
        try:
            if lane.door is None:
                lane.door = await self._gate.door(lane.host, self._config)
                if self._by_level:
                    lane.level = await self._store.level(self._run, lane.host, self._shard) or 0
            limit = LOOK_AHEAD if lane.door.interval < 0.01 else 8
            limit = max(1, min(limit, LOOK_AHEAD_ALL // len(self.lanes)))
            while lane.waiting > 0:
                found = await self._store.peek(self._run, lane.host, limit, lane.flying, lane.level, self._shard)
                await self._recall(lane, lane.door, found)
                # What was handed out while we asked is not to be handed out again.
                lane.ahead = deque(r for r in found if r.id not in lane.flying)
                self._least = min([self._least, *(r.priority for r in found[-1:])])
                if lane.ahead or lane.flying or lane.parked or not self._by_level:
                    break
                level = await self._store.level(self._run, lane.host, self._shard)
                if level is None or level <= lane.level:
                    break
                lane.level = level
        finally:
            lane.looking = False
        if lane.ahead:
            self._consider(lane)

    async def _recall(self, lane: Lane, door: Door, found: Sequence[Request]) -> None:
        """What the store remembers of these requests: the robots.txt before them, and earlier visits."""
        if self._config.robots:
            for origin in {urls.origin(request.url) for request in found}:
                if (origin, self.agent) not in door.robots:
                    await self._gate.recall_robots(door, origin, self.agent)
        if self._visits is not None:
            lane.visits = await self._visits.of(found)

    def _help(self, work: Awaitable[None]) -> None:
        """Run a question to the store beside the workers; its failure reaches them."""

        async def run() -> None:
            try:
                await work
            except Exception as error:  # noqa: BLE001 - raised again by take()
                self._failure = error
                self.wake_workers()

        task = asyncio.ensure_future(run())
        self._helpers.add(task)
        task.add_done_callback(self._helped)

    def _helped(self, task: asyncio.Task[None]) -> None:
        self._helpers.discard(task)
        if self.quiet:
            self._starving()

    # -- workers -----------------------------------------------------------------------------------------------

    def _wake(self, n: int) -> None:
        while self._idle and n > 0:
            idle = self._idle.popleft()
            if not idle.done():
                idle.set_result(None)
                n -= 1

    def wake_workers(self) -> None:
        """Let every idle worker look again."""
        self._wake(len(self._idle))

    @property
    def idle_workers(self) -> int:
        """Workers that wait for a turn."""
        return len(self._idle)

    @property
    def quiet(self) -> bool:
        """Whether nothing is going on here: nothing handed out, nothing asked, no door to open, no timer."""
        busy = self.flying or self.asking or self.before_doors or self._helpers
        return not (busy or self._ready or self._timers or self._due is not None)

    def rests(self, now: float) -> float | None:
        """Seconds until something can be done again, infinite if nothing will; None if something is being done."""
        if self.flying or self.asking or self.before_doors or self._helpers or self._ready:
            return None
        times = [self._timers[0][0]] if self._timers else []
        times += [self._due[0]] if self._due is not None else []
        return max(0.0, min(times) - now) if times else math.inf

    def held(self, now: float) -> tuple[float, Lane] | None:
        """If all that is left waits for hosts to be ready: seconds until the first may be, and whose lane it is."""
        if self.flying or self.asking or self.before_doors or self._helpers or self._ready or not self._timers:
            return None
        when, _, lane = self._timers[0]
        if lane.host in self._gate.orders.paused:
            going_on = [each for each in self._timers if each[2].host not in self._gate.orders.paused]
            if not going_on:
                return math.inf, lane
            when, _, lane = min(going_on)
        if self._due is not None and self._due[0] < when:
            return None  # something parked comes first, and may be another host's
        return when - now, lane

    def close(self) -> None:
        """Hand out nothing any more."""
        self.closed = True
        if self._wake_handle is not None:
            self._wake_handle.cancel()
        self.wake_workers()

    async def aclose(self) -> None:
        """Close, and wait for questions under way."""
        self.close()
        if self._helpers:
            await asyncio.gather(*self._helpers, return_exceptions=True)

    def stalled(self, waiting: int) -> Stalled:
        """The error for requests that nothing will ever make ready."""
        hosts = ", ".join(sorted(host for host, lane in self.lanes.items() if lane.waiting > 0)[:3]) or "no host"
        return Stalled(
            f"{waiting} requests wait and nothing is due (hosts: {hosts}); this is a defect: please report it"
        )
