"""Tries that fail cost time: the more of them, the longer until the next one is heard."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable

#: Seconds after which what failed is forgotten.
MEMORY = 3600.0
#: Names or addresses that are remembered; the one that is longest ago goes first.
MOST = 10_000


class Throttle:
    """Counts failed tries by key. The first few are free; then the wait is a second, and doubles with each."""

    def __init__(self, free: int, longest: float, clock: Callable[[], float] = time.time) -> None:
        self.free = free
        #: The longest wait, in seconds.
        self.longest = longest
        self._clock = clock
        #: Key -> how many failed, and when the last one did. The latest is last.
        self._tries: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._tries)

    def wait(self, key: str) -> float:
        """Seconds until this one may try again; 0 for now."""
        tries, last = self._known(key)
        if tries < self.free:
            return 0.0
        pause = min(self.longest, 2.0 ** min(tries - self.free, 60))
        return max(0.0, min(pause, last + pause - self._clock()))  # not longer, if the clock was set back

    def count(self, key: str) -> None:
        """A try begins, and counts as failed until it is forgiven: a thousand at once are not one."""
        tries, _ = self._known(key)
        self._tries[key] = (tries + 1, self._clock())
        self._tries.move_to_end(key)
        if len(self._tries) > MOST:
            self._tries.popitem(last=False)

    def forgive(self, key: str) -> None:
        """It did not fail. What failed before still counts."""
        tries, last = self._known(key)
        if tries > 1:
            self._tries[key] = (tries - 1, last)
        else:
            self._tries.pop(key, None)

    def forget(self, key: str) -> None:
        """Nothing counts any more."""
        self._tries.pop(key, None)

    def _known(self, key: str) -> tuple[int, float]:
        tries, last = self._tries.get(key, (0, 0.0))
        return (0, 0.0) if self._clock() - last > MEMORY else (tries, last)


def network(address: str) -> str:
    """Whom an address stands for: itself, or, as one customer has billions of them, the /64 of an IPv6 one."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if isinstance(known, ipaddress.IPv6Address):
        if known.ipv4_mapped:
            return str(known.ipv4_mapped)
        return str(ipaddress.ip_network((known, 64), strict=False))
    return str(known)
