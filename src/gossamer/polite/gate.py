"""Politeness at the door: may this host be asked, and when?

One Gate serves all runs on a store, so that a host meets one pace whoever asks. Nothing here waits: a host
that may not be asked now says when it may be, and holds no worker until then.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from gossamer import urls
from gossamer.polite.robots import Robots
from gossamer.settings import ScraperConfig
from gossamer.storage.store import SourceNote, Store

#: A remembered time further ahead than this is a clock that went backwards, not a promise to a site.
FARTHEST = 366 * 24 * 3600.0


class Door:
    """One host: its pace, its open requests, its robots rules. Times are of `time.monotonic`."""

    __slots__ = (
        "_dirty",
        "_free",
        "hits",
        "host",
        "interval",
        "last_hit",
        "next_at",
        "open",
        "per_host",
        "robots",
        "waited",
        "why",
    )

    def __init__(self, host: str, dirty: set[Door]) -> None:
        self.host = host
        #: Least seconds between two requests: the slowest that any run or the site itself asked for.
        self.interval = 0.0
        self.per_host = 0
        self.next_at = 0.0
        self.last_hit = 0.0
        #: Requests being answered.
        self.open = 0
        self.hits = 0
        #: Seconds this host has been held by its answers (Retry-After and the like).
        self.waited = 0.0
        #: Why the host is held until `next_at`, if it is more than its pace.
        self.why = ""
        #: (origin, our name) -> rules; absent: not asked yet. The origins of one host are http and https.
        self.robots: dict[tuple[str, str], Robots] = {}
        self._free: list[Callable[[], None]] = []
        self._dirty = dirty

    def ready(self, now: float) -> bool:
        """Whether the host may be asked at this moment."""
        return self.next_at <= now and self.open < self.per_host

    def enter(self, now: float) -> None:
        """Take the host's next turn. Call only when `ready` said so, with no await between."""
        self.open += 1
        self.hits += 1
        self.last_hit = now
        self.next_at = now + self.interval
        self.why = ""
        self._dirty.add(self)

    def go(self, now: float) -> None:
        """The turn begins only now: what comes after it waits from here."""
        self.last_hit = now
        self.next_at = max(self.next_at, now + self.interval)

    def leave(self) -> None:
        """A request has been answered, or given up."""
        self.open -= 1
        if self._free:
            waiting, self._free = self._free, []
            for call in waiting:
                call()

    def when_free(self, call: Callable[[], None]) -> None:
        """Call once a request to this host ends."""
        self._free.append(call)

    def hold(self, seconds: float, why: str) -> None:
        """Ask nothing of this host for some time."""
        until = time.monotonic() + seconds
        if until > self.next_at:
            self.waited += until - max(self.next_at, time.monotonic())
            self.next_at = until
            self.why = why
            self._dirty.add(self)

    def slow_to(self, interval: float) -> None:
        """Never faster than this, from the last request on."""
        if interval > self.interval:
            self.interval = interval
            if self.hits:
                self.next_at = max(self.next_at, self.last_hit + interval)

    def recall(self, note: SourceNote) -> None:
        """Keep what was promised before a restart."""
        # Asked in the future? Then the clock was set back since, and all that was promised is waited from now.
        wait = note.ready_at - max(time.time(), note.last_hit)
        if 0 < wait <= FARTHEST:
            self.next_at = max(self.next_at, time.monotonic() + wait)


class Gate:
    """All doors of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        #: Host -> its door, for every host met so far.
        self.doors: dict[str, Door] = {}
        self._dirty: set[Door] = set()

    async def door(self, host: str, config: ScraperConfig) -> Door:
        """The door of a host, with what is remembered of it, no less polite than `config` asks."""
        door = self.doors.get(host)
        if door is None:
            note = await self._store.source(host)
            door = self.doors.setdefault(host, Door(host, self._dirty))
            if note and not door.hits:
                door.recall(note)
        door.slow_to(config.rate.interval)
        door.per_host = min(door.per_host or config.per_host, config.per_host)
        return door

    def learn(self, door: Door, url: str, rules: Robots) -> None:
        """Keep an origin's robots rules, and the pace they ask for."""
        door.robots[urls.origin(url), rules.agent] = rules
        door.slow_to(rules.delay)

    def notes(self) -> list[SourceNote]:
        """What the store should remember: every host asked or held since the last call."""
        wall, now = time.time(), time.monotonic()
        notes = [
            SourceNote(host=d.host, last_hit=wall + d.last_hit - now, ready_at=wall + d.next_at - now)
            for d in self._dirty
        ]
        self._dirty.clear()
        return notes
