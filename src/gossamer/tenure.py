"""How long what we lease is ours for sure, by a clock that nobody can set.

Whoever is paused or cut off may not know that others have taken over: so nothing is asked of a host when a lease was
not renewed for four fifths of its time, and nothing is under way any more when it ends.
"""

from __future__ import annotations

import math

from gossamer import clock

#: Parts of a lease's time, since it was renewed: no new request leaves, and none may be under way.
LAST_REQUEST = 0.8
LAST_ANSWER = 0.95


class Tenure:
    """The time of one lease. It counts from before the question was sent, so that it never ends after the lease."""

    __slots__ = ("_renewed", "ttl")

    def __init__(self, ttl: float = math.inf, asked: float | None = None) -> None:
        self.ttl = ttl
        self._renewed = clock.steady() if asked is None else asked

    def renewed(self, asked: float) -> None:
        """The lease was renewed by what was asked of the store at some time of `clock.steady`."""
        self._renewed = max(self._renewed, asked)

    def end(self) -> None:
        """It is known to be somebody else's."""
        self._renewed = -math.inf

    @property
    def holds(self) -> bool:
        """Whether a request may leave now."""
        return clock.steady() < self._renewed + LAST_REQUEST * self.ttl

    @property
    def left(self) -> float:
        """Seconds in which what is under way has to end."""
        return max(0.0, self._renewed + LAST_ANSWER * self.ttl - clock.steady())


#: Of what nobody else can take.
FOREVER = Tenure()
