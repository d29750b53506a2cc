"""One pace for a host that several workers ask at the same time: limits that Redis keeps for all of them.

Turns are counted by pyrate-limiter's GCRA, by the clock of Redis: workers need no clocks that agree. Nothing here
waits for more than a moment. Who may not ask now hears when to come again, and has taken nothing.

Redis holds nothing that matters, and may be lost at any time. Then this errs on the polite side: while it is gone
nobody asks; when it is back without its data, everybody waits until each worker has said again what it has open and
which hosts are held, and a host waits for one interval at least, since nobody knows any more when it was last asked.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import os
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any
from urllib.parse import quote

from pyrate_limiter import GCRA, Rate
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from gossamer import redaction
from gossamer.errors import ConfigError
from gossamer.telemetry import log

PREFIX = "gossamer:pace:"
#: Since when Redis has kept our keys.
SINCE = f"{PREFIX}since"
#: Seconds until Redis is asked again after it could not be reached.
LOST = 1.0
#: Seconds that Redis has for an answer, and to take a connection.
ANSWER = 2.0
CONNECT = 1.0
#: Seconds between two times that a worker says what it has open and which hosts are held.
BEAT = 1.0
#: Seconds that a turn may be given ahead of its time; whoever gets it sleeps so long at most.
LEAD = 0.015
#: Seconds that a request may leave after its turn; a later one asks whether it still may, so often at most.
LATE = 0.004
TRIES = 3
#: Seconds after which Redis is asked again, however long it said that a host waits: somebody may have ended that.
AFRESH = 5.0
#: Seconds until who was not the first of its worker to ask for a turn looks again.
SOON = 0.05
#: Seconds that a new Redis, or one that lost its data, lets nobody ask: each worker has said its part by then.
GRACE = 3.0
#: Seconds after which the open requests of a worker that says nothing any more count as over.
SLOT_LIFE = 15.0
#: Connections of one worker to Redis.
CONNECTIONS = 8
#: No hold is longer than this, in seconds; the reason for one has this many characters at most.
LONGEST = 366 * 24 * 3600.0
LONGEST_WHY = 500

#: What a person reads about a host that waits for Redis.
WHY_LOST = "the Redis that its workers share a pace by cannot be reached"

# How long Redis has known us: 'since' is lost with everything else. Times are in milliseconds, by the clock of Redis.
_AGE = """
local clock = redis.call('TIME')
local now = clock[1] * 1000 + clock[2] / 1000
local since = redis.call('GET', KEYS[1])
if not since then
    since = string.format('%.0f', now)
    redis.call('SET', KEYS[1], since)
end
local age = math.max(0, now - tonumber(since))
"""

# A turn that is due within the lead is given now, for when it is due: who gets it sleeps until then. So turns are as
# far apart as promised and no further, however late those are who come for them.
_TURN = (
    """
local function pyrate(KEYS)
"""
    + (GCRA().redis_script() or "")
    + """
end
"""
    + _AGE
    + """
local grace, lead, interval = tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[5] / 1000
local held = redis.call('PTTL', KEYS[3])
local fresh = math.max(grace, interval) - age
if held > 0 or fresh > 0 then
    return {0, math.ceil(math.max(held, fresh) * 1000)}
end
local due = (redis.call('HGET', KEYS[2], 'tat1') or 0) / 1000
local ahead = math.max(0, due - now)
ARGV[1] = string.format('%.3f', now + math.min(ahead, lead) + 0.001)
local taken = pyrate({KEYS[2]})[1] < 0
return {taken and 1 or 0, math.ceil(ahead * 1000), redis.call('HGET', KEYS[2], 'tat1')}
"""
)

# Who got a turn comes too late for it: it is theirs from now on, unless somebody has got the next one.
_LATE = """
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local next = tonumber(redis.call('HGET', KEYS[1], 'tat1') or 0)
if next > tonumber(ARGV[3]) then
    return {0, math.max(0, next - now)}
end
next = string.format('%.0f', now + ARGV[1])
redis.call('HSET', KEYS[1], 'tat1', next)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {1, 0, next}
"""

_ENTER = (
    _AGE
    + """
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if age < tonumber(ARGV[4]) or redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[2]) then
    return 0
end
redis.call('ZADD', KEYS[2], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1
"""
)

# What a worker has open, said again: the life of a slot, then the slots.
_KEEP = """
local clock = redis.call('TIME')
local ends = clock[1] * 1000 + clock[2] / 1000 + ARGV[1]
for i = 2, #ARGV do
    redis.call('ZADD', KEYS[1], ends, ARGV[i])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
"""

# The longer of two holds is kept.
_HOLD = """
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then
    redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[1])
end
"""

_HELD = "return {redis.call('PTTL', KEYS[1]), redis.call('GET', KEYS[1])}"


class SharedPace:
    """The pace of hosts over all processes that use the same Redis. An async context.

    A request's way: `enter` until it says True, `turn` until it says 0, and `leave` when it is answered or given up. In
    this order: a turn that is taken and not used is lost to all.
    """

    def __init__(self, redis_url: str, *, grace: float = GRACE) -> None:
        #: How its Redis is called in front of people.
        self.shown = redaction.url(redis_url)
        self._redis = _client(redis_url, self.shown)
        self._grace = grace
        self._turn = self._redis.register_script(_TURN)
        self._late = self._redis.register_script(_LATE)
        self._enter = self._redis.register_script(_ENTER)
        self._keep = self._redis.register_script(_KEEP)
        self._hold = self._redis.register_script(_HOLD)
        self._held = self._redis.register_script(_HELD)
        self._slot_names = (f"{os.getpid():x}-{os.urandom(6).hex()}-{n:x}" for n in itertools.count())
        #: Host -> the slots of its open requests.
        self._open: dict[str, list[str]] = {}
        #: Host -> until when it is held, by our own clock, and why: what this worker heard itself.
        self._holds: dict[str, tuple[float, str]] = {}
        #: Host -> when its next turn may be, by our own clock, and until when nobody needs to ask Redis about that.
        self._next: dict[str, tuple[float, float]] = {}
        self._asking: set[str] = set()
        #: Until when Redis is not asked, since it did not answer.
        self._lost_until = 0.0
        self._lost = False
        self._beat: asyncio.Task[None] | None = None

    async def __aenter__(self) -> SharedPace:
        self._beat = asyncio.create_task(self._keep_beating(), name="shared pace")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._beat is not None:
            self._beat.cancel()
            with suppress(asyncio.CancelledError):
                await self._beat
        for host, slots in list(self._open.items()):
            await self._give_back(host, *slots)
        self._open.clear()
        with suppress(RedisError, OSError):
            await self._redis.aclose()

    # -- turns -------------------------------------------------------------------------------------------------

    async def turn(self, host: str, interval: float) -> float:
        """Take the host's next turn among all workers: 0 if a request may leave now.

        Else the seconds until it may be asked again, and nothing is taken. `interval` is the least time between two
        requests to the host, in seconds.
        """
        now = time.monotonic()
        known, believed = self._next.get(host, (0.0, 0.0))
        wait = max(known if now < believed else 0.0, self._holds.get(host, (0.0, ""))[0]) - now
        if wait > 0:
            return wait
        if host in self._asking:
            # Somebody of this worker asks for the same turn just now, and it is given once.
            return min(max(interval, 0.001), SOON)
        self._asking.add(host)
        try:
            wait = await self._take(host, max(interval, 1e-6))
        finally:
            self._asking.discard(host)
        return wait

    async def _take(self, host: str, interval: float) -> float:
        algorithm, rates, lead = GCRA(), [_rate(interval)], min(LEAD, interval / 2)
        args = [0, 1, _life(interval), len(rates), *algorithm.redis_args(rates), self._grace * 1000, lead * 1000]
        keys = [SINCE, _key(host, "turn"), _key(host, "hold")]
        began = time.monotonic()
        answer = await self._ask(lambda: self._turn(keys=keys, args=args))
        if answer is None:
            return LOST
        taken, ahead = bool(answer[0]), int(answer[1]) / 1e6
        if taken:
            # Redis answered at some time between: at the end of it, so that nobody leaves too early.
            await asyncio.sleep(ahead)
            taken, ahead = await self._on_time(host, interval, began + ahead, answer[2])
        # Come a little before it is due: the turn is given then, for when it is due.
        wait = max((interval if taken else ahead) - 0.8 * lead, 0.0005)
        now = time.monotonic()
        self._next[host] = now + wait, now + AFRESH
        return 0.0 if taken else wait

    async def _on_time(self, host: str, interval: float, due: float, after: bytes) -> tuple[bool, float]:
        """Whether a turn is taken in time; if not, the seconds until the next. A late one would crowd the next one.

        `after` is when the next may be, as Redis said it with the turn: another time says that somebody has it.
        """
        for _ in range(TRIES):
            now = time.monotonic()
            if now - due <= LATE:
                break
            answer = await self._ask_again(host, interval, after)
            if answer is None or not answer[0]:
                return False, LOST if answer is None else int(answer[1]) / 1e6
            due, after = now, answer[2]
        # A machine that is never in time lets its turn go: nobody is asked too early for that.
        return (True, 0.0) if time.monotonic() - due <= LATE else (False, interval)

    async def _ask_again(self, host: str, interval: float, after: bytes) -> Any:
        args: list[bytes | int] = [math.ceil(interval * 1e6), _life(interval), after]
        return await self._ask(lambda: self._late(keys=[_key(host, "turn")], args=args))

    # -- holds -------------------------------------------------------------------------------------------------

    async def hold(self, host: str, seconds: float, why: str) -> None:
        """Nobody asks the host for so long: one worker heard it (429, Retry-After), and it is true for all."""
        seconds = min(seconds, LONGEST)
        until = time.monotonic() + seconds
        if seconds <= 0 or until <= self._holds.get(host, (0.0, ""))[0]:
            return
        self._holds[host] = until, why[:LONGEST_WHY]
        await self._say_hold(host)

    async def held(self, host: str) -> tuple[float, str]:
        """For how many seconds the host is held, by whoever heard it, and why; 0 and nothing if it is not."""
        until, own_why = self._holds.get(host, (0.0, ""))
        own = max(0.0, until - time.monotonic())
        answer = await self._ask(lambda: self._held(keys=[_key(host, "hold")]))
        if answer is None:
            return (own, own_why) if own else (LOST, WHY_LOST)
        seconds = max(0, int(answer[0])) / 1000
        if own >= seconds:
            return own, own_why if own else ""
        return seconds, (answer[1] or b"").decode("utf-8", "replace")

    async def _say_hold(self, host: str) -> None:
        until, why = self._holds[host]
        left = math.ceil((until - time.monotonic()) * 1000)
        if left > 0:
            text = why.encode("utf-8", "replace")
            await self._ask(lambda: self._hold(keys=[_key(host, "hold")], args=[left, text]))

    # -- open requests -----------------------------------------------------------------------------------------

    async def enter(self, host: str, most: int) -> bool:
        """Open a request to the host; False if `most` are open over all workers.

        A worker that died is forgotten after some seconds, and its open requests with it.
        """
        slot = next(self._slot_names)
        args: list[str | int] = [slot, most, round(SLOT_LIFE * 1000), round(self._grace * 1000)]
        try:
            entered = bool(await self._ask(lambda: self._enter(keys=[SINCE, _key(host, "open")], args=args)))
        except asyncio.CancelledError:
            await asyncio.shield(self._give_back(host, slot))  # nobody knows whether it was given
            raise
        if entered:
            self._open.setdefault(host, []).append(slot)
        return entered

    async def leave(self, host: str) -> None:
        """One of this worker's requests to the host was answered, or given up."""
        slots = self._open.get(host)
        if not slots:
            return
        slot = slots.pop()
        if not slots:
            del self._open[host]
        await self._give_back(host, slot)

    async def _give_back(self, host: str, *slots: str) -> None:
        await self._ask(lambda: self._redis.zrem(_key(host, "open"), *slots))

    async def _say_open(self, host: str) -> None:
        said = list(self._open.get(host, ()))
        if not said:
            return
        args: list[str | int] = [round(SLOT_LIFE * 1000), *said]
        await self._ask(lambda: self._keep(keys=[_key(host, "open")], args=args))
        # Given back by another connection meanwhile, they may have come after that.
        over = set(said).difference(self._open.get(host, ()))
        if over:
            await self._give_back(host, *over)

    # -- Redis -------------------------------------------------------------------------------------------------

    async def _ask(self, command: Callable[[], Any]) -> Any:
        """What Redis answers; None if it cannot be asked."""
        if time.monotonic() < self._lost_until:
            return None
        try:
            answer = await command()
        except (RedisError, OSError) as error:
            self._lost_until = time.monotonic() + LOST
            if not self._lost:
                self._lost = True
                log.warning("pace.lost", redis=self.shown, why=str(error), then="hosts that workers share wait for it")
            return None
        if self._lost:
            self._lost = False
            log.info("pace.back", redis=self.shown)
        return answer

    async def _keep_beating(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            try:
                await self._say_all()
            except Exception as error:  # noqa: BLE001 - what is open must be said again, whatever went wrong once
                log.error("pace.unsaid", exc_info=error)

    async def _say_all(self) -> None:
        """Say what is open and which hosts are held, as far as this worker knows."""
        now = time.monotonic()
        self._next = {host: known for host, known in self._next.items() if min(known) > now}
        self._holds = {host: told for host, told in self._holds.items() if told[0] > now}
        for host in list(self._open):
            await self._say_open(host)
        for host in list(self._holds):
            await self._say_hold(host)


def _client(url: str, shown: str) -> Redis:
    try:
        # One retry, at once: a connection may have been closed while nobody used it.
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=CONNECTIONS,
            timeout=ANSWER,
            socket_timeout=ANSWER,
            socket_connect_timeout=CONNECT,
            retry=Retry(NoBackoff(), 1),
        )
    except ValueError:
        raise ConfigError(f"a host is spread over workers by Redis, and {shown} is none: use redis://... ") from None
    return Redis.from_pool(pool)  # which is closed with it


def _rate(interval: float) -> Rate:
    """One turn an interval, to the microsecond: a rate is said in milliseconds, so it is of a thousand turns."""
    return Rate(1000, math.ceil(interval * 1e6), burst=1)


def _life(interval: float) -> int:
    """Milliseconds for which a turn matters, and some more."""
    return math.ceil(2000 * interval) + 1000


def _key(host: str, what: str) -> str:
    return f"{PREFIX}{what}:{quote(host, safe='', errors='replace')}"
