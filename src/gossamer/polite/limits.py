"""The pace of one host: how soon after one request the next may leave. Pure state; every time is passed in."""

from __future__ import annotations

import math

#: How much longer the interval gets when a host says that it is too much, and when its answers take ever longer.
SLOWER = 2.0
SLUGGISH = 1.25
#: What is left of the learned part after a clean answer.
FASTER = 0.9
#: A learned part below this, in seconds, is gone.
GONE = 0.001
#: The first interval for a host that had none.
FIRST = 0.05
#: The longest interval that is learned, in seconds: from a host that says we are too fast, and from one in trouble.
LONGEST = 60.0
LONGEST_IN_TROUBLE = 10.0
#: What came in flight together counts once: seconds between two slow-downs, or the interval if that is longer.
ONCE = 1.0
#: A host is sluggish whose latency of late is this many times its usual one, and this many seconds above it.
TIMES, ABOVE = 3.0, 0.5
#: Weights of one answer in the latency of late and in the usual one.
_LATE, _USUAL = 1 / 4, 1 / 64


class Bucket:
    """A token bucket: a token comes every `interval`, and a request takes one.

    A host's bucket holds one token, so that no two requests are closer than the interval, however long nothing was
    asked. The interval has two parts. The base is a promise: the slowest pace that any run was told to keep, or the
    Crawl-delay of the site, whichever is longer; nothing goes faster. What is learned comes on top: it doubles when
    the host says that it is too much, and goes by a tenth with each clean answer, until nothing is left of it.
    """

    __slots__ = (
        "_asked",
        "_capacity",
        "_full_at",
        "_late",
        "_left_at",
        "_slowed_at",
        "_sluggish_at",
        "_taken_at",
        "crawl_delay",
        "interval",
        "latency",
        "learned",
    )

    def __init__(self, interval: float = 0.0, capacity: int = 1) -> None:
        self._capacity = capacity
        #: The slowest that any run asked for.
        self._asked = interval
        #: What robots.txt asks for.
        self.crawl_delay = 0.0
        #: The interval that the host taught us; 0: none.
        self.learned = 0.0
        #: Least seconds between two requests, all in all.
        self.interval = interval
        #: Its usual seconds to answer; 0: not known.
        self.latency = 0.0
        self._late = 0.0
        #: When the bucket is full again, if nothing more is taken.
        self._full_at = -math.inf
        #: When the last turn was taken, and the last request left.
        self._taken_at = -math.inf
        self._left_at = -math.inf
        self._slowed_at = -math.inf
        self._sluggish_at = -math.inf

    # -- taking turns ------------------------------------------------------------------------------------------

    @property
    def next_at(self) -> float:
        """When the next turn may be taken."""
        return self.ready_at(1)

    def ready_at(self, tokens: int) -> float:
        """When this many tokens may be taken together."""
        if tokens > self._capacity:
            raise ValueError(f"{tokens} turns together are more than {self._capacity}")
        return self._full_at + (tokens - self._capacity) * self.interval

    def take(self, now: float, tokens: int = 1) -> None:
        """Take a turn. Call only when its time has come."""
        self._taken_at = now
        self._full_at = (self._full_at if self._full_at > now else now) + tokens * self.interval

    def go(self, now: float) -> float:
        """The request of a turn leaves now: 0. Or else another left too short ago: seconds until it may.

        Something may come between taking a turn and leaving, and not every turn is delayed by the same; so the
        distance is kept here once more, between what really leaves.
        """
        wait = self._left_at + self.interval - now
        if wait > 0:
            return wait
        self.left(now)
        return 0.0

    def left(self, now: float) -> None:
        """A request really left now: it may have been kept back a little after it was let go."""
        self._left_at = now
        self._keep_distance(now)

    def was_asked(self, when: float) -> None:
        """Somebody else asked the host then: we keep our distance to that, too."""
        if when > self._left_at:
            self.left(when)

    def _keep_distance(self, since: float) -> None:
        self._full_at = max(self._full_at, since + self.interval)

    # -- promises ----------------------------------------------------------------------------------------------

    @property
    def base(self) -> float:
        """The interval that was promised: no turn comes sooner, whatever is learned."""
        return self._asked if self._asked > self.crawl_delay else self.crawl_delay

    def ask(self, interval: float) -> None:
        """A run wants no less than this between requests."""
        if interval > self._asked:
            self._asked = interval
            self._fit()

    def obey(self, crawl_delay: float) -> None:
        """What robots.txt asks for now: more or less than it did before."""
        self.crawl_delay = crawl_delay
        self._fit()

    def recall(self, learned: float, latency: float) -> None:
        """Take up what was learned before a restart."""
        self.learned = min(max(self.learned, learned), LONGEST)
        self.latency = self._late = self.latency or latency
        self._fit()

    def _fit(self) -> None:
        before, base = self.interval, self.base
        if self.learned - base < GONE:
            self.learned = 0.0
        self.interval = max(base, self.learned)
        if self.interval > before:
            self._keep_distance(max(self._taken_at, self._left_at))

    # -- learning ----------------------------------------------------------------------------------------------

    def slow(self, now: float, longest: float = LONGEST) -> bool:
        """The host says that it is too much: twice the interval, up to `longest`. Whether anything changed."""
        if now - self._slowed_at < max(ONCE, self.interval):
            return False
        self._slowed_at = now
        return self._lengthen(SLOWER, longest)

    def clean(self, now: float, elapsed: float) -> bool:
        """The host answered as it should, in some time: a little faster. Whether it became slower, being sluggish."""
        usual = self.latency
        if not usual:
            self.latency = self._late = elapsed
        else:
            # One slow page is no slow host: only several in a row bring the latency of late far above the usual.
            late = self._late
            most = 2 * late + ABOVE
            self._late = late = late + ((elapsed if elapsed < most else most) - late) * _LATE
            self.latency = usual + (late - usual) * _USUAL
            if late > ABOVE and late > TIMES * usual and late > usual + ABOVE:
                return self._sluggish(now)
        if self.learned:
            self.learned = self.base + (self.learned - self.base) * FASTER
            self._fit()
        return False

    def _sluggish(self, now: float) -> bool:
        if now - self._sluggish_at < max(ONCE, self.interval):
            return False
        self._sluggish_at = now
        return self._lengthen(SLUGGISH, LONGEST_IN_TROUBLE)

    def _lengthen(self, factor: float, longest: float) -> bool:
        before = self.interval
        # A host without any pace goes by its answers first: no sooner than it usually takes for one.
        least = max(FIRST, self.latency) if before == 0 else FIRST
        self.learned = min(max(before * factor, least), max(longest, before))
        self._fit()
        return self.interval > before
