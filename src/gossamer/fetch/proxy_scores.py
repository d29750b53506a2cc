"""How proxies behave: how often and how fast each one answers, and when it rests."""

from __future__ import annotations

import msgspec

#: Failures in a row after which a proxy rests, and for how long: at first, and at most.
FAILURES = 3
FIRST_REST = 30.0
LONGEST_REST = 600.0
#: A proxy back from its rest is tried by one request; if that is never heard of again, after this time by another.
TRIAL = 60.0
#: How much the newest report counts in a score.
NEWEST = 0.25
#: What is believed of a proxy before anything is known.
UNKNOWN_SUCCESS = 0.75
UNKNOWN_SECONDS = 1.0


class Score:
    """How one proxy behaves, overall or for one host."""

    __slots__ = ("hosts", "rest", "seconds", "sent", "streak", "success", "trying", "until")

    def __init__(self) -> None:
        #: Share of requests that went well, and how long those took; the newest count most.
        self.success = UNKNOWN_SUCCESS
        self.seconds: float | None = None
        self.sent = 0
        #: Failures in a row, and the hosts (up to two) they were for.
        self.streak = 0
        self.hosts: set[str] = set()
        #: How long it rests, and until when; 0: it does not.
        self.rest = 0.0
        self.until = 0.0
        #: Its rest is over, and one request is trying it, until when we wait to hear of that.
        self.trying = 0.0

    def fit(self, now: float) -> bool:
        """Whether a request may be sent."""
        return now >= self.ready

    @property
    def ready(self) -> float:
        """When the next request may be sent."""
        return max(self.until, self.trying)

    @property
    def weight(self) -> float:
        """How much it is to be preferred. One that is back from its rest counts as unknown, or nobody would try it."""
        success = UNKNOWN_SUCCESS if self.until else self.success
        return max(success, 0.01) ** 2 / (0.25 + (UNKNOWN_SECONDS if self.seconds is None else self.seconds))

    def begin(self, now: float) -> None:
        """A request is sent."""
        if self.until and self.fit(now):
            self.trying = now + TRIAL

    def well(self, seconds: float) -> None:
        """A request went well: it has recovered, if it was resting."""
        self._count(1.0)
        self.seconds = seconds if self.seconds is None else self.seconds + NEWEST * (seconds - self.seconds)
        self.streak, self.rest, self.until, self.trying = 0, 0.0, 0.0, 0.0
        self.hosts.clear()

    def badly(self, host: str) -> None:
        """A request failed."""
        self._count(0.0)
        self.streak += 1
        if len(self.hosts) < 2:
            self.hosts.add(host)

    def _count(self, went: float) -> None:
        self.sent += 1
        self.success += NEWEST * (went - self.success)

    def pause(self, now: float) -> None:
        """Rest, twice as long as last time."""
        if now < self.until:  # what was under way when the rest began says nothing new
            return
        self.rest = min(self.rest * 2 or FIRST_REST, LONGEST_REST)
        self.until, self.trying = now + self.rest, 0.0


class Standing(msgspec.Struct, frozen=True):
    """How one proxy stands, for people to look at."""

    label: str
    country: str | None
    #: Requests heard of, and the share that went well; the newest count most.
    sent: int
    success: float
    #: Of those that went well; None: none did.
    seconds: float | None
    #: Seconds it still rests; 0: it is in use.
    rests: float
