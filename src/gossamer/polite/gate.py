"""Politeness at the door: may this host be asked, and when?

One Gate serves all runs on a store, so that a host meets one pace whoever asks. Nothing here waits: a host
that may not be asked now says when it may be, and holds no worker until then.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection

import msgspec

from gossamer import clock, urls
from gossamer.errors import Broken, ConnectFailed, FetchError, TimedOut, TlsFailed
from gossamer.polite import breaker, orders, robots
from gossamer.polite.breaker import Breaker, Policy
from gossamer.polite.limits import LONGEST, LONGEST_IN_TROUBLE, Bucket
from gossamer.polite.robots import Robots
from gossamer.polite.sharing import Sharing
from gossamer.settings import ScraperConfig
from gossamer.storage.store import SourceNote, Store
from gossamer.telemetry import log
from gossamer.values import Notice

#: A remembered time further ahead than this is a clock that went backwards, not a promise to a site.
FARTHEST = 366 * 24 * 3600.0

#: Answers that say nothing of how well the host is: who is asked to log in or to wait learns no pace from it.
_NEUTRAL = frozenset({401, 403, 407, 408, 425, 451})
#: Answers that say: too much.
_TOO_MUCH = frozenset({429, 503})
#: Answers in the name of a host that is not there.
_DOWN = frozenset({502, 503, 504})
#: Errors that are the host's own. Others (a refused address, a proxy, a body too large) say nothing about it.
_ITS_OWN = (ConnectFailed, TimedOut, Broken, TlsFailed)


class Door:
    """One host, or one registered domain: its pace, its breaker, its robots rules, its open requests.

    Times are of `time.monotonic`. A request's way: `ready`, `enter`, `go`, then `answered` or `failed` with no await
    before or after `leave`.
    """

    __slots__ = (
        "_delay",
        "_dirty",
        "_free",
        "_held_until",
        "_notices",
        "_told",
        "breaker",
        "bucket",
        "hits",
        "host",
        "last_hit",
        "max_crawl_delay",
        "next_at",
        "open",
        "per_host",
        "robots",
        "waited",
        "why",
    )

    def __init__(self, host: str, dirty: set[Door], notices: list[Notice]) -> None:
        self.host = host
        self.bucket = Bucket()
        self.breaker = Breaker(_POLICY)
        self.per_host = 0
        #: When the host may be asked again: pace, hold and breaker together.
        self.next_at = 0.0
        self.last_hit = 0.0
        #: Requests being answered.
        self.open = 0
        self.hits = 0
        #: Seconds this host has been held by its answers (Retry-After and the like) and by its breaker.
        self.waited = 0.0
        #: Why the host is held until `next_at`, if it is more than its pace.
        self.why = ""
        #: The longest pause its robots.txt may ask for.
        self.max_crawl_delay = 0.0
        #: (origin, our name) -> rules; absent: not asked yet. The origins of one host are http and https.
        self.robots: dict[tuple[str, str], Robots] = {}
        #: What all of them together ask for, whether we keep it or less.
        self._delay = 0.0
        self._held_until = 0.0
        #: The learned interval that a notice told of.
        self._told = 0.0
        self._free: list[Callable[[], None]] | None = None
        self._dirty = dirty
        self._notices = notices

    @property
    def interval(self) -> float:
        """Least seconds between two requests: what was promised to the host, and what it taught us."""
        return self.bucket.interval

    @property
    def state(self) -> str:
        """The breaker: "closed", "open" or "half_open"."""
        return self.breaker.state

    def is_idle(self, now: float) -> bool:
        """Whether it is as if the host had never been asked: nothing is under way, held or waited for."""
        return self.open == 0 and self.next_at <= now and self.breaker.state == breaker.CLOSED

    @property
    def room(self) -> int:
        """Requests the host may be answering at the same time: one, while it is tried whether it is well again."""
        return self.per_host if self.breaker.state == breaker.CLOSED else 1

    # -- one request -------------------------------------------------------------------------------------------

    def ready(self, now: float) -> bool:
        """Whether the host may be asked at this moment."""
        return self.next_at <= now and self.open < self.room

    def enter(self, now: float) -> None:
        """Take the host's next turn. Call only when `ready` said so, with no await between."""
        self.open += 1
        self.hits += 1
        bucket = self.bucket
        bucket.take(now)
        self.next_at = bucket.next_at
        self.why = ""
        if self.breaker.state != breaker.CLOSED:
            self.breaker.acquire(now)
        self._dirty.add(self)

    def go(self, now: float) -> float:
        """The request of a turn leaves now, and what comes after it waits from here: 0.

        Or else it may not leave yet, and the seconds until it may: another request left too short ago, or the
        host was held since the turn was taken. Then ask again, or `leave` and let the request wait elsewhere.
        """
        if self._held_until > now:
            return self._held_until - now
        wait = self.bucket.go(now)
        if wait <= 0:
            self.left(now)
        return wait

    def left(self, now: float) -> None:
        """The request of a turn has left: what comes after it waits from here."""
        self.last_hit = now
        self.bucket.left(now)
        if self.bucket.next_at > self.next_at:
            self.next_at = self.bucket.next_at

    def leave(self) -> None:
        """A request has been answered, or given up."""
        self.open -= 1
        if self.breaker.state != breaker.CLOSED:
            self.breaker.release()
        if self._free:
            waiting, self._free = self._free, None
            for call in waiting:
                call()

    def when_free(self, call: Callable[[], None]) -> None:
        """Call once a request to this host ends."""
        if self._free is None:
            self._free = []
        self._free.append(call)

    # -- how it went -------------------------------------------------------------------------------------------

    def answered(self, status: int, elapsed: float, retry_after: float | None = None, fresh: bool = True) -> None:
        """The host answered. `fresh`: this request had not failed before."""
        now = time.monotonic()
        if status < 500 and status != 429:
            if retry_after and not 200 <= status < 300:
                self._asked_to_wait(status, retry_after)
            bucket = self.bucket
            if status not in _NEUTRAL:
                if bucket.learned:
                    self._dirty.add(self)
                if bucket.clean(now, elapsed):
                    self._slowed("its answers take ever longer")
            if self.breaker.success(now):
                self._closed()
            return
        if retry_after:
            self._asked_to_wait(status, retry_after)
        if status in _TOO_MUCH and self.bucket.slow(now, LONGEST if status == 429 else LONGEST_IN_TROUBLE):
            self._slowed(f"it answered with status {status}")
        # A site that says when to come again is held, and not broken; a page that always fails is no failing host.
        talks = status == 429 or (status == 503 and bool(retry_after))
        probed = self.breaker.state != breaker.CLOSED  # a probe that fails is a failure, whichever page it was for
        if not talks and (fresh or probed or status in _DOWN) and self.breaker.failure(now):
            self._opened(now, f"status {status}")

    def failed(self, error: FetchError, elapsed: float, fresh: bool = True) -> None:
        """No answer came, after some time. What is not the host's fault says nothing about it."""
        now = time.monotonic()
        if isinstance(error, TimedOut) and self.bucket.slow(now, LONGEST_IN_TROUBLE):
            self._slowed(f"no answer came in {elapsed:.3g} s")
        if isinstance(error, _ITS_OWN) and self.breaker.failure(now):
            self._opened(now, error.reason)

    def blocked(self, why: str) -> None:
        """The host answered, but not with the page: it takes us for too much."""
        if self.bucket.slow(time.monotonic()):
            self._slowed(why)

    def hold(self, seconds: float, why: str) -> None:
        """Ask nothing of this host for some time."""
        now = time.monotonic()
        until = now + min(seconds, FARTHEST)
        self._held_until = max(self._held_until, until)
        if until > self.next_at:
            self.waited += until - max(self.next_at, now)
            self.next_at = until
            self.why = why
            self._dirty.add(self)

    def _asked_to_wait(self, status: int, seconds: float) -> None:
        why = f"Retry-After: {seconds:g} s, sent with status {status}"
        self.hold(seconds, why)
        self._note("retry_after", min(seconds, FARTHEST), why)

    def _slowed(self, why: str) -> None:
        """The pace has become slower: what was taken before is waited for as well."""
        self.next_at = max(self.next_at, self.bucket.next_at)
        self._dirty.add(self)
        interval = self.bucket.interval
        if self._told > interval:
            self._told = 0.0  # it was faster since
        # Said when it becomes twice as slow, not each time it goes a little up and down.
        if interval >= 2 * self._told:
            self._told = interval
            self._note("slowed", interval, f"{why}: {interval:.3g} s between requests from now on")

    def _opened(self, now: float, last: str) -> None:
        wait = self.breaker.open_until - now
        why = f"{self.breaker.why} (the last: {last}): left alone for {wait:.3g} s"
        self.hold(wait, why)
        self._note("breaker_open", wait, why)
        log.warning("host.open", host=self.host, why=why)

    def _closed(self) -> None:
        self._dirty.add(self)
        self._note("breaker_closed", 0.0, "it answers again")
        log.info("host.closed", host=self.host)

    def _note(self, kind: str, seconds: float, detail: str) -> None:
        self._notices.append(Notice(self.host, clock.now(), kind, seconds, detail))

    # -- promises ----------------------------------------------------------------------------------------------

    def suit(self, config: ScraperConfig) -> None:
        """Be no less polite than a run asks for."""
        self.slow_to(config.rate.interval)
        self.per_host = min(self.per_host or config.per_host, config.per_host)
        self.max_crawl_delay = max(self.max_crawl_delay, config.max_crawl_delay)
        policy = _policy(config)
        known = self.breaker.policy
        self.breaker.policy = policy if known is _POLICY else known.stricter(policy)

    def slow_to(self, interval: float) -> None:
        """Never faster than this, from the last request on."""
        self.bucket.ask(interval)
        self.next_at = max(self.next_at, self.bucket.next_at)

    def obey(self, rules: Robots, origin: str) -> None:
        """Keep an origin's robots rules, and the pace that all rules together ask for."""
        old = self.robots.get((origin, rules.agent))
        self.robots[origin, rules.agent] = rules
        if rules.delay >= self._delay:
            self._delay = rules.delay
        elif old is not None and old.delay == self._delay:
            self._delay = max(each.delay for each in self.robots.values())
        asked, kept = self._delay, min(self._delay, self.max_crawl_delay)
        if kept == self.bucket.crawl_delay and kept == asked:
            return
        self.bucket.obey(kept)
        self.next_at = max(self.next_at, self.bucket.next_at)
        self._dirty.add(self)
        detail = (
            f"robots.txt asks for {asked:g} s between requests" if asked else "robots.txt asks for no pause any more"
        )
        if asked > kept:
            detail += f"; max_crawl_delay allows {kept:g} s"
            log.warning("robots.delay_clamped", host=self.host, asked=asked, kept=kept)
        self._note("crawl_delay", kept, detail)

    # -- across restarts ---------------------------------------------------------------------------------------

    def recall(self, note: SourceNote) -> None:
        """Keep what was promised before a restart."""
        now = time.monotonic()
        # Asked in the future? Then the clock was set back since, and all that was promised is waited from now.
        wall = max(time.time(), note.last_hit)
        self.bucket.recall(note.interval, note.latency)
        if note.last_hit:
            self.bucket.was_asked(now - (wall - note.last_hit))
            self.next_at = max(self.next_at, self.bucket.next_at)
        if note.crawl_delay > self.bucket.crawl_delay:
            self.bucket.obey(min(note.crawl_delay, self.max_crawl_delay))
        if note.breaker != breaker.CLOSED and self.breaker.state == breaker.CLOSED:
            left = note.open_until - wall
            self.breaker.recall(note.openings, now + min(max(0.0, left), breaker.LONGEST))
            self._wait_until(self.breaker.open_until, note.why)
        wait = note.ready_at - wall
        if 0 < wait <= FARTHEST:
            self._wait_until(now + wait, note.why)

    def _wait_until(self, until: float, why: str) -> None:
        if until > self.next_at:
            self._held_until = self.next_at = until
            self.why = why

    def note(self, wall: float, now: float) -> SourceNote:
        """What to remember of it."""
        bucket, state = self.bucket, self.breaker.state
        return SourceNote(
            host=self.host,
            last_hit=wall + self.last_hit - now if self.last_hit else 0.0,
            ready_at=wall + self.next_at - now,
            interval=bucket.learned,
            crawl_delay=bucket.crawl_delay,
            latency=bucket.latency,
            breaker=state,
            openings=self.breaker.openings,
            open_until=0.0 if state == breaker.CLOSED else wall + self.breaker.open_until - now,
            why=self.why,
        )


class Gate:
    """All doors of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        #: Host, or `*.` and a domain -> its door, for all that were met so far.
        self.doors: dict[str, Door] = {}
        self._dirty: set[Door] = set()
        self._notices: list[Notice] = []
        #: Hosts that share the door of their domain.
        self._shared: set[str] = set()
        #: What people said of hosts and URLs.
        self.orders = orders.NONE
        #: A pace that is kept together with other processes, where hosts are spread over them.
        self.shared: Sharing | None = None
        #: Doors of hosts that others may have asked since we knew of them.
        self._doubted: set[Door] = set()
        #: Shard -> the doors of its hosts.
        self._of_shard: defaultdict[int, set[Door]] = defaultdict(set)

    async def door(self, host: str, config: ScraperConfig) -> Door:
        """The door of a host, with what is remembered of it, no less polite than `config` asks."""
        key = self._key(host, config)
        door = self.doors.get(key) or await self._open(key, config)
        if door in self._doubted:
            note = await self._store.source(key)
            if note:
                door.recall(note)
            self._doubted.discard(door)  # not before: nobody may ask it on what we knew alone
        if key != host and host not in self._shared:
            await self._take_in(door, host)
            self._shared.add(host)
        door.suit(config)
        return door

    def known(self, host: str) -> Door | None:
        """The door of a host that was met already: its own, or the one it shares with its domain."""
        door = self.doors.get(host)
        if door is None and host in self._shared:
            door = self.doors.get(f"*.{urls.registered_domain(urls.hostname(f'http://{host}'))}")
        return door

    def doors_of(self, shard: int) -> Collection[Door]:
        """The doors of a shard's hosts, as far as they were met."""
        return self._of_shard.get(shard, ())

    def doubt(self, shard: int) -> None:
        """Others may have asked the hosts of a shard since: what they were promised then holds, besides what we know.

        Besides, for not all that we heard may have been written: a hold that was lost on its way still holds here. What
        holds nothing up any more is forgotten.
        """
        now = time.monotonic()
        for door in list(self.doors_of(shard)):
            if door in self._dirty or not door.is_idle(now):
                self._doubted.add(door)
                continue
            del self.doors[door.host]
            self._of_shard[shard].discard(door)
            self._doubted.discard(door)
            if door.host.startswith("*."):  # whoever shares the next one brings along what was promised to it
                self._shared = {host for host in self._shared if urls.shard(host) != shard}

    def _key(self, host: str, config: ScraperConfig) -> str:
        """Who has a door: the host, or its domain if this run, or another one now, keeps the pace for domains."""
        if config.pace_per != "domain" and not self._shared:
            return host
        domain = urls.registered_domain(urls.hostname(f"http://{host}"))
        key = f"*.{domain}"
        named = "." in domain and not domain.replace(".", "").isdigit() and not domain.startswith("[")
        return key if named and (config.pace_per == "domain" or key in self.doors) else host

    async def _open(self, key: str, config: ScraperConfig) -> Door:
        note = await self._store.source(key)
        door = self.doors.get(key)
        if door is None:
            door = self.doors[key] = Door(key, self._dirty, self._notices)
            self._of_shard[urls.shard(key.removeprefix("*."))].add(door)
            door.suit(config)
            if note:
                door.recall(note)
        return door

    async def _take_in(self, door: Door, host: str) -> None:
        """What was promised to a host before it came to share a door still holds."""
        own = self.doors.get(host)
        wall, now = time.time(), time.monotonic()
        note = own.note(wall, now) if own is not None else await self._store.source(host)
        if note:
            # But that one host of a domain fails does not mean that the others do.
            door.recall(msgspec.structs.replace(note, breaker=breaker.CLOSED))

    # -- robots.txt --------------------------------------------------------------------------------------------

    def learn(self, door: Door, url: str, rules: Robots) -> None:
        """Keep an origin's robots rules, and the pace they ask for.

        Where they could not be read, older ones are kept as long as they hold.
        """
        origin, now = urls.origin(url), clock.now()
        known = self.rules(door, origin, rules.agent)
        if rules.closed is not None and known is not None and known.closed is None:
            known.asked = now
            return
        door.obey(rules, origin)

    def rules(self, door: Door, origin: str, agent: str) -> Robots | None:
        """The rules of an origin for us (our name, as `robots.product` gives it), unless they are too old."""
        rules = door.robots.get((origin, agent))
        return None if rules is None or rules.expired(clock.now()) else rules

    async def recall_robots(self, door: Door, origin: str, agent: str) -> Robots | None:
        """The rules of an origin that an earlier run left in the store, kept from now on, unless they are too old."""
        notes = await self._store.robots(origin)
        # One that could not be read is asked for again by whoever starts anew.
        if not notes or notes[0].closed is not None:
            return None
        found = robots.of(notes[0], agent)
        known = self.rules(door, origin, found.agent)
        if known is not None or found.expired(clock.now()):
            return known
        door.obey(found, origin)
        return found

    # -- what to remember --------------------------------------------------------------------------------------

    def notes(self) -> list[SourceNote]:
        """What the store should remember: every host asked, held or learned of since the last call."""
        return self._noted(self._dirty)

    def notes_of(self, shard: int) -> list[SourceNote]:
        """The same of all hosts of a shard that were asked: for whoever asks them next."""
        return self._noted([door for door in self.doors_of(shard) if door.hits])

    def _noted(self, doors: Collection[Door]) -> list[SourceNote]:
        """What is in doubt is not told: others may know better."""
        wall, now = time.time(), time.monotonic()
        told = [door for door in doors if door not in self._doubted]
        self._dirty.difference_update(told)
        return [door.note(wall, now) for door in told]

    def notices(self) -> list[Notice]:
        """What happened since the last call that politeness depends on, in order."""
        notices = self._notices.copy()
        self._notices.clear()
        return notices


_POLICY = Policy()


def _policy(config: ScraperConfig) -> Policy:
    failures = config.breaker_failures
    return Policy(
        failures=failures,
        rate=None if failures is None else config.breaker_rate,
        window=config.breaker_window,
        wait=config.breaker_wait,
    )
