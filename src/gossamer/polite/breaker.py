"""The breaker of one host: after too many failures it is left alone for a while, then tried with one request.

Pure state; every time is passed in.
"""

from __future__ import annotations

import msgspec

CLOSED, OPEN, HALF_OPEN = "closed", "open", "half_open"

#: Longest time, in seconds, that a host is left alone before it is tried again.
LONGEST = 3600.0
#: The window is counted in this many slices.
_SLICES = 10


class Policy(msgspec.Struct, frozen=True):
    """When a breaker opens, and for how long."""

    #: Failures in a row; None: however many.
    failures: int | None = 5
    #: Share of failures over the window; None: whatever it is.
    rate: float | None = 0.5
    #: The window, in seconds.
    window: float = 60.0
    #: Requests in the window below which a share says nothing.
    least: int = 20
    #: Seconds it is open the first time; twice as long each time it opens again without having closed.
    wait: float = 30.0
    #: Good answers that close it, one after the other.
    successes: int = 1
    #: Requests tried at the same time while it is half-open.
    probes: int = 1

    def stricter(self, other: Policy) -> Policy:
        """One that opens whenever one of the two would, and for the longer time."""
        if self == other:
            return self
        return msgspec.structs.replace(
            self,
            failures=_least(self.failures, other.failures),
            rate=_least(self.rate, other.rate),
            window=max(self.window, other.window),
            wait=max(self.wait, other.wait),
        )


def _least(one: float | None, other: float | None) -> float | None:
    return min((n for n in (one, other) if n is not None), default=None)


class Breaker:
    """Closed: requests pass, failures are counted. Open: none pass until `open_until`. Half-open: one at a time."""

    __slots__ = ("_good", "_out", "_row", "_slice", "_slices", "open_until", "openings", "policy", "state", "why")

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.state = CLOSED
        #: How often it opened since it was last closed.
        self.openings = 0
        self.open_until = 0.0
        #: Why it opened, in a few words.
        self.why = ""
        #: Failures in a row.
        self._row = 0
        #: In half-open: good answers so far, and requests being tried.
        self._good = 0
        self._out = 0
        #: The slice of time being counted, and the counts of all slices: requests, then failures.
        self._slice = 0
        self._slices: list[int] | None = None

    # -- asking ------------------------------------------------------------------------------------------------

    def acquire(self, now: float) -> bool:
        """Whether a request may pass now. One that passes must be followed by what became of it, or by `release`."""
        if self.state == CLOSED:
            return True
        if self.state == OPEN:
            if now < self.open_until:
                return False
            self.state, self._good, self._out = HALF_OPEN, 0, 0
        if self._out >= self.policy.probes:
            return False
        self._out += 1
        return True

    def release(self) -> None:
        """A request that passed says nothing about the host: it was given up, or failed for reasons of ours."""
        if self._out:
            self._out -= 1

    # -- hearing -----------------------------------------------------------------------------------------------

    def success(self, now: float) -> bool:
        """The host answered. Whether this closed the breaker."""
        if self.state == CLOSED:
            self._row = 0
            # Here and not in a method of its own: every good answer passes.
            at = int(now * _SLICES / self.policy.window)
            if at != self._slice or self._slices is None:
                self._turn_to(at)
            self._slices[at % _SLICES] += 1  # type: ignore[index]
            return False
        self.release()
        if self.state == OPEN:
            return False  # asked before it opened: no news
        self._good += 1
        if self._good < self.policy.successes:
            return False
        self.close()
        return True

    def failure(self, now: float) -> bool:
        """The host failed. Whether this opened the breaker."""
        if self.state == OPEN:
            return False  # asked before it opened: no news
        if self.state == HALF_OPEN:
            self.open(now, "it failed again when it was tried")
            return True
        self._row += 1
        calls, bad = self._count_failure(now)
        policy = self.policy
        if policy.failures is not None and self._row >= policy.failures:
            self.open(now, f"{self._row} failures in a row" if self._row > 1 else "it failed")
        elif policy.rate is not None and calls >= policy.least and bad >= policy.rate * calls:
            self.open(now, f"{bad} of {calls} requests failed within {policy.window:g} s")
        return self.state == OPEN

    def _count_failure(self, now: float) -> tuple[int, int]:
        """Requests and failures in the window, this one included."""
        at = int(now * _SLICES / self.policy.window)
        slices = self._turn_to(at)
        slices[at % _SLICES] += 1
        slices[at % _SLICES + _SLICES] += 1
        return sum(slices[:_SLICES]), sum(slices[_SLICES:])

    def _turn_to(self, at: int) -> list[int]:
        """The counts, with the slices emptied that have gone by since the last one."""
        if self._slices is None or not 0 <= at - self._slice < _SLICES:
            self._slices = [0] * (2 * _SLICES)
        else:
            for gone in range(self._slice + 1, at + 1):
                self._slices[gone % _SLICES] = self._slices[gone % _SLICES + _SLICES] = 0
        self._slice = at
        return self._slices

    # -- by hand -----------------------------------------------------------------------------------------------

    def open(self, now: float, why: str = "") -> None:
        """Let nothing pass for a while."""
        wait = min(self.policy.wait * 2.0 ** min(self.openings, 30), max(LONGEST, self.policy.wait))
        self.openings += 1
        self.state, self.open_until, self.why = OPEN, now + wait, why
        self._forget()

    def close(self) -> None:
        """Let everything pass."""
        self.state, self.open_until, self.openings, self.why = CLOSED, 0.0, 0, ""
        self._forget()

    def recall(self, openings: int, until: float) -> None:
        """Be open as before a restart."""
        self.state, self.openings, self.open_until = OPEN, max(1, openings), until

    def _forget(self) -> None:
        self._row = self._good = self._out = 0
        self._slices = None
