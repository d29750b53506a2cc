"""How often one who asks may change something: a bucket of turns for each, filled again as time passes."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping

import msgspec

#: Buckets that are remembered; the one that was used least lately goes first.
MOST = 10_000


class Limit(msgspec.Struct, frozen=True):
    """So many in a minute, and so many at once after a pause."""

    per_minute: float
    burst: int
    #: What is counted, for people.
    noun: str = "changes"

    @property
    def per_second(self) -> float:
        """Turns that come back each second."""
        return self.per_minute / 60


#: What is limited, by name: everything that changes something, and what begins a run.
DEFAULT: Mapping[str, Limit] = {"writes": Limit(60, 30), "starts": Limit(10, 10, "starts of runs")}


class Limits:
    """The buckets of a process. A limit that is not there does not limit: `Limits({})` is for tests."""

    def __init__(self, limits: Mapping[str, Limit] = DEFAULT, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = dict(limits)
        self._clock = clock
        #: (limit, who) -> turns left, and when that was. The latest is last.
        self._left: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._left)

    def take(self, name: str, who: str) -> float:
        """Take a turn. Returns 0, or, if none is left, the seconds until one is."""
        limit = self.limits.get(name)
        if limit is None:
            return 0.0
        now, key = self._clock(), (name, who)
        left, at = self._left.get(key, (float(limit.burst), now))
        left = min(float(limit.burst), left + max(0.0, now - at) * limit.per_second)
        wait = 0.0 if left >= 1 else (1 - left) / limit.per_second
        self._left[key] = (left if wait else left - 1, now)
        self._left.move_to_end(key)
        if len(self._left) > MOST:
            self._left.popitem(last=False)
        return wait

    def told(self, name: str, wait: float) -> str:
        """Why there is no turn, in a sentence."""
        limit = self.limits[name]
        return (
            f"that is more than {limit.per_minute:g} {limit.noun} in a minute: "
            f"come back in {max(1, math.ceil(wait))} s, or do several things in one request"
        )
