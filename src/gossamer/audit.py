"""Was every host treated as promised? Recomputed from the log of what was fetched, and from nothing else.

The limits of a run are what it wrote down when it started. Times in the log are those at which a request left this
process; what a busy machine and its timers may be off is `TOLERANCE`. Robots rules that changed less than `ON_ITS_WAY`
before a request left are not held against it.

Lines come host by host, in the order they began: of one host only what overlaps is kept in memory, and of a run that
keeps its pace per domain 32 bytes for each request.
"""

from __future__ import annotations

import heapq
import math
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from gossamer import urls
from gossamer.polite import robots as rules
from gossamer.polite.robots import Robots
from gossamer.storage.store import FetchLine, RobotsNote
from gossamer.values import Notice, Start

#: Seconds by which a request may be early: what the timers of a busy machine are off.
TOLERANCE = 0.005
#: Seconds that a request may have been on its way when new robots rules came.
ON_ITS_WAY = 1.0
#: Breaches of one rule that are told for each host; the others are counted.
MOST_TOLD = 20
#: Robots decisions kept apart for each host; the rest is counted under the first.
MOST_DECISIONS = 200
#: The windows that are counted, in seconds.
SECOND, MINUTE = 1.0, 60.0

RobotsOf = Callable[[str], Sequence[RobotsNote]]


#: How the log calls what a rendered page loaded.
LOADED = "render"


class Breach(msgspec.Struct, frozen=True):
    """One promise that was not kept."""

    host: str
    #: "rate", "crawl_delay", "concurrency", "retry_after" or "robots".
    rule: str
    #: When, in seconds since 1970.
    at: float
    run: int
    #: A sentence that names host, rule, times and URLs.
    text: str
    urls: tuple[str, ...] = ()


class Limit(msgspec.Struct, frozen=True):
    """What one start of a run promised."""

    run: int
    #: From when on, in seconds since 1970.
    since: float
    #: Least seconds between two requests; 0: no limit.
    interval: float = 0.0
    #: Requests at the same time; 0: no limit.
    per_host: int = 0
    robots: bool = True
    agent: str = "gossamer"
    per_domain: bool = False
    max_crawl_delay: float = math.inf


class Wait(msgspec.Struct):
    """A Retry-After that was heard, and what came after it."""

    at: float
    seconds: float
    detail: str
    #: When the first request after it left; None: none did.
    next: float | None = None
    kept: bool = True


class Delay(msgspec.Struct, frozen=True):
    """A Crawl-delay as it was heard: from when on, and how long."""

    at: float
    seconds: float
    detail: str


class Decision(msgspec.Struct):
    """What one version of a robots.txt said about URLs that were fetched."""

    origin: str
    #: When this version was read, in seconds since 1970; 0: no version is known.
    fetched: float
    allowed: bool
    #: The line that decided; empty: none forbids.
    because: str
    count: int = 0


class HostAudit(msgspec.Struct):
    """How one host was treated. Of a domain whose hosts share a pace: how they were together."""

    host: str
    fetches: int = 0
    first: float = 0.0
    last: float = 0.0
    #: Most requests within any second, and any minute.
    in_a_second: int = 0
    in_a_minute: int = 0
    #: Shortest time between two requests, and what was asked for between those two; None: fewer than two.
    shortest_gap: float | None = None
    asked_gap: float = 0.0
    #: Over all windows: the least time that one of them was longer than its requests needed; None: no limit.
    spare: float | None = None
    #: Most requests under way at the same time.
    at_once: int = 0
    limits: list[Limit] = []
    retry_after: list[Wait] = []
    crawl_delays: list[Delay] = []
    decisions: list[Decision] = []
    #: Requests of runs that were told not to obey robots.txt.
    exempt: int = 0
    #: What rendered pages loaded: held to addresses, robots.txt and `per_host`, but not to a pace.
    loaded: int = 0
    #: Requests of which the limits, or the robots.txt of the time, are not known any more.
    unproven: int = 0
    breaches: list[Breach] = []
    #: All of them, those not told included.
    breach_count: int = 0


class Audit(msgspec.Struct):
    """How all hosts were treated."""

    hosts: list[HostAudit]
    #: Registered domains whose hosts shared a pace.
    domains: list[HostAudit]
    fetches: int
    breach_count: int
    tolerance: float
    #: What the reader should know: who was exempt, what cannot be proven.
    notes: list[str]

    @property
    def clean(self) -> bool:
        """Whether every promise was kept."""
        return self.breach_count == 0

    @property
    def breaches(self) -> list[Breach]:
        """Those that are told, oldest first."""
        return sorted((b for host in (*self.hosts, *self.domains) for b in host.breaches), key=lambda b: b.at)


def audit(lines: Iterable[FetchLine], starts: Sequence[Start], notices: Sequence[Notice], robots: RobotsOf) -> Audit:
    """Hold a log against what was promised. `robots` gives all versions of an origin's robots.txt, in any order."""
    auditor = Auditor(starts, notices, robots)
    for line in lines:
        auditor.feed(line)
    return auditor.result()


class Auditor:
    """The audit as lines come in, for those who cannot have them all at once."""

    def __init__(self, starts: Sequence[Start], notices: Sequence[Notice], robots: RobotsOf) -> None:
        self._limits = _Limits(starts)
        self._notices: dict[str, list[Notice]] = {}
        for notice in sorted(notices, key=lambda n: n.at):
            self._notices.setdefault(notice.host, []).append(notice)
        self._robots = robots
        self._hosts: dict[str, HostAudit] = {}
        self._domains: dict[str, _Domain] = {}
        self._now: _Host | None = None

    def feed(self, line: FetchLine) -> None:
        """One more line. ValueError if they do not come host by host, in the order they began."""
        if self._now is None or line.host != self._now.audit.host:
            self._turn_to(line)
        assert self._now is not None
        if line.reason == LOADED:
            self._now.audit.loaded += 1
            return
        limit = self._limits.of(line)
        self._now.feed(line, limit)
        if limit is not None and limit.per_domain and limit.interval:
            domain = urls.registered_domain(urls.hostname(line.url))
            self._domains.setdefault(domain, _Domain(domain)).feed(line, limit)

    def _turn_to(self, line: FetchLine) -> None:
        self._close()
        if line.host in self._hosts:
            raise ValueError(f"the lines of {line.host} do not stand together")
        # A domain whose hosts share a pace is known as `*.example.org`.
        shared = self._notices.get(f"*.{urls.registered_domain(urls.hostname(line.url))}", [])
        self._now = _Host(line.host, self._notices.get(line.host, []), shared, self._robots)

    def _close(self) -> None:
        if self._now is not None:
            self._hosts[self._now.audit.host] = self._now.close()
            self._now = None

    def result(self) -> Audit:
        """How all hosts were treated."""
        self._close()
        hosts = list(self._hosts.values())
        domains = [domain.close() for domain in self._domains.values()]
        return Audit(
            hosts=hosts,
            domains=domains,
            fetches=sum(host.fetches for host in hosts),
            breach_count=sum(host.breach_count for host in (*hosts, *domains)),
            tolerance=TOLERANCE,
            notes=_notes(hosts),
        )


def _notes(hosts: Sequence[HostAudit]) -> list[str]:
    exempt, unproven = sum(h.exempt for h in hosts), sum(h.unproven for h in hosts)
    notes = []
    if loaded := sum(h.loaded for h in hosts):
        notes.append(f"{loaded:,} things were loaded by rendered pages: counted, and exempt from pace and concurrency")
    if exempt:
        notes.append(f"{exempt:,} requests were made by runs told not to obey robots.txt: no rule was checked for them")
    if unproven:
        notes.append(f"{unproven:,} requests cannot be judged in full: their limits or robots.txt are not in the store")
    return notes


class _Limits:
    """What was promised, by run and time."""

    def __init__(self, starts: Sequence[Start]) -> None:
        self._of: dict[int, list[Limit]] = {}
        for start in sorted(starts, key=lambda s: s.at):
            self._of.setdefault(start.run, []).append(_limit(start))

    def of(self, line: FetchLine) -> Limit | None:
        """What the start before a request promised; None if it wrote nothing down."""
        promised = self._of.get(line.run, [])
        place = bisect_right(promised, line.started + TOLERANCE, key=lambda limit: limit.since)
        return promised[place - 1] if place else None


def _limit(start: Start) -> Limit:
    told: dict[str, Any] = start.limits
    longest = told.get("max_crawl_delay")
    return Limit(
        run=start.run,
        since=start.at,
        interval=float(told.get("rate") or 0.0),
        per_host=int(told.get("per_host") or 0),
        robots=bool(told.get("robots", True)),
        agent=str(told.get("agent") or "gossamer"),
        per_domain=told.get("pace_per") == "domain",
        max_crawl_delay=math.inf if longest is None else float(longest),
    )


class _Host:
    """The audit of one host, line by line: what every rule needs to remember."""

    def __init__(self, host: str, own: Sequence[Notice], shared: Sequence[Notice], robots: RobotsOf) -> None:
        self.audit = HostAudit(host, limits=[], retry_after=[], crawl_delays=[], decisions=[], breaches=[])
        self._told = _Told(self.audit)
        self._windows = (_Window(SECOND), _Window(MINUTE))
        self._pace = _Pace(self.audit, self._told)
        self._open = _Open(self.audit, self._told)
        self._waits = _Waits(self.audit, self._told, own, shared)
        self._law = _Law(self.audit, self._told, robots, own)
        self.audit.crawl_delays += [Delay(n.at, n.seconds, n.detail) for n in own if n.kind == "crawl_delay"]

    def feed(self, line: FetchLine, limit: Limit | None) -> None:
        audit = self.audit
        audit.fetches += 1
        audit.first = audit.first or line.started
        if line.started < audit.last:
            raise ValueError(f"the lines of {line.host} are not in the order they began")
        audit.last = line.started
        if limit is not None and limit not in audit.limits:
            audit.limits.append(limit)
        for window in self._windows:
            window.feed(line.started)
        delay = self._law.feed(line, limit)
        self._pace.feed(line, limit, delay)
        self._open.feed(line, limit)
        self._waits.feed(line, limit)

    def close(self) -> HostAudit:
        audit = self.audit
        audit.in_a_second, audit.in_a_minute = (window.most for window in self._windows)
        audit.decisions = self._law.decisions()
        return audit


class _Told:
    """Breaches of one host: counted all, told a few of each rule."""

    def __init__(self, audit: HostAudit) -> None:
        self._audit = audit
        self._of: dict[str, int] = {}

    def add(self, rule: str, line: FetchLine, text: str, *others: str) -> None:
        self._audit.breach_count += 1
        count = self._of[rule] = self._of.get(rule, 0) + 1
        if count <= MOST_TOLD:
            found = Breach(self._audit.host, rule, line.started, line.run, text, (*others, line.url))
            self._audit.breaches.append(found)


class _Window:
    """The most requests within a window that slides over all of them."""

    def __init__(self, seconds: float) -> None:
        self.most = 0
        self._seconds = seconds
        self._inside: deque[float] = deque()

    def feed(self, at: float) -> None:
        inside = self._inside
        inside.append(at)
        while inside[0] <= at - self._seconds:
            inside.popleft()
        self.most = max(self.most, len(inside))


class _Pace:
    """Gaps between requests, and windows of many of them.

    Of n requests that each ask for a distance to the one before, the last may leave no sooner than the sum of those
    distances after the first. `_slack` adds up how much more time there was than that, and the window to look at
    begins where it was highest: so one pass looks at every pair.
    """

    def __init__(self, audit: HostAudit, told: _Told) -> None:
        self._audit = audit
        self._told = told
        self._before: FetchLine | None = None
        self._limit: Limit | None = None
        #: Time gained or lost against the limits so far, the most it was, and the request when that was.
        self._slack = 0.0
        self._most = 0.0
        self._since: FetchLine | None = None
        self._count = 0

    def feed(self, line: FetchLine, limit: Limit | None, delay: float) -> None:
        before, self._before = self._before, line
        last, self._limit = self._limit, limit
        if before is None:
            self._since, self._count = line, 1
            return
        gap = line.started - before.started
        asked = _between(before, last, limit)
        rule = "crawl_delay" if delay > asked else "rate"
        asked = max(asked, delay)
        self._note_gap(gap, asked)
        self._slack += gap - asked
        self._count += 1
        spare = self._slack - self._most
        if asked:
            self._audit.spare = spare if self._audit.spare is None else min(spare, self._audit.spare)
        if gap < asked - TOLERANCE:
            self._told.add(rule, line, _too_soon(self._audit.host, before, line, gap, asked, rule), before.url)
            self._begin_window(line)
        elif spare < -TOLERANCE:
            self._told.add(rule, line, self._too_many(line, spare), self._since.url if self._since else "")
            self._begin_window(line)
        elif spare >= 0:
            self._begin_window(line)

    def _note_gap(self, gap: float, asked: float) -> None:
        audit = self._audit
        if audit.shortest_gap is None or gap < audit.shortest_gap:
            audit.shortest_gap, audit.asked_gap = gap, asked

    def _begin_window(self, line: FetchLine) -> None:
        self._most, self._since, self._count = self._slack, line, 1

    def _too_many(self, line: FetchLine, spare: float) -> str:
        assert self._since is not None
        window = line.started - self._since.started
        return (
            f"{self._audit.host} got {self._count} requests within {window:.3f} s, from {_when(self._since.started)} "
            f"({self._since.url}) to {_when(line.started)} ({line.url}); "
            f"the limits ask for {window - spare:.3f} s between the first and the last"
        )


def _between(before: FetchLine, last: Limit | None, limit: Limit | None) -> float:
    """Seconds that had to lie between two requests, by what the runs that made them promised.

    A run keeps its distance after each request it makes, and before each of its own, since it began.
    """
    after = last.interval if last is not None else 0.0
    if limit is not None and before.started >= limit.since - TOLERANCE:
        return max(after, limit.interval)
    return after


def _too_soon(host: str, before: FetchLine, line: FetchLine, gap: float, asked: float, rule: str) -> str:
    whose = "its Crawl-delay asks" if rule == "crawl_delay" else "the rate asks"
    return (
        f"{host} was asked for {line.url} at {_when(line.started)}, {gap:.3f} s after {before.url}: "
        f"{whose} for {asked:g} s between two requests"
    )


class _Open:
    """Requests under way at the same time."""

    def __init__(self, audit: HostAudit, told: _Told) -> None:
        self._audit = audit
        self._told = told
        #: (when it ended, number, URL) of what had not ended when the last request left.
        self._under_way: list[tuple[float, int, str]] = []

    def feed(self, line: FetchLine, limit: Limit | None) -> None:
        under_way = self._under_way
        while under_way and under_way[0][0] <= line.started + TOLERANCE:
            heapq.heappop(under_way)
        others = [url for _, _, url in under_way[:4]]
        heapq.heappush(under_way, (line.started + line.elapsed, self._audit.fetches, line.url))
        count = len(under_way)
        self._audit.at_once = max(self._audit.at_once, count)
        if limit is not None and limit.per_host and count > limit.per_host:
            text = (
                f"{self._audit.host} had {count} requests under way when {line.url} left at {_when(line.started)}: "
                f"at most {limit.per_host} may be, and {', '.join(others)} had not ended"
            )
            self._told.add("concurrency", line, text, *others)


class _Waits:
    """Every Retry-After: nothing may leave before it is over."""

    def __init__(self, audit: HostAudit, told: _Told, own: Sequence[Notice], shared: Sequence[Notice]) -> None:
        self._audit = audit
        self._told = told
        waits = [(notice, False) for notice in own] + [(notice, True) for notice in shared]
        heard = sorted((pair for pair in waits if pair[0].kind == "retry_after"), key=lambda pair: pair[0].at)
        self._coming = deque((Wait(n.at, n.seconds, n.detail), domain) for n, domain in heard)
        self._holding: list[tuple[Wait, bool]] = []
        audit.retry_after += [wait for wait, domain in self._coming if not domain]

    def feed(self, line: FetchLine, limit: Limit | None) -> None:
        # What left within the tolerance after it was heard was on its way.
        while self._coming and self._coming[0][0].at + TOLERANCE < line.started:
            self._holding.append(self._coming.popleft())
        if not self._holding:
            return
        still: list[tuple[Wait, bool]] = []
        for wait, domain in self._holding:
            if domain and not (limit is not None and limit.per_domain):
                still.append((wait, domain))
                continue
            wait.next = line.started if wait.next is None else wait.next
            if line.started < wait.at + wait.seconds - TOLERANCE:
                self._breach(wait, line)
                still.append((wait, domain))
        self._holding = still

    def _breach(self, wait: Wait, line: FetchLine) -> None:
        wait.kept = False
        text = (
            f"{self._audit.host} said at {_when(wait.at)} to come back after {wait.seconds:g} s, and was asked for "
            f"{line.url} after {line.started - wait.at:.3f} s, at {_when(line.started)}"
        )
        self._told.add("retry_after", line, text)


class _Law:
    """Every request against the robots.txt that was in force when it left."""

    def __init__(self, audit: HostAudit, told: _Told, robots: RobotsOf, notices: Sequence[Notice]) -> None:
        self._audit = audit
        self._told = told
        self._robots = robots
        self._delays = [(n.at, n.seconds) for n in notices if n.kind == "crawl_delay"]
        #: Origin -> its versions, oldest first.
        self._versions: dict[str, list[RobotsNote]] = {}
        self._read: dict[tuple[str, float, str], Robots] = {}
        self._decisions: dict[tuple[str, float, bool, str], Decision] = {}

    def feed(self, line: FetchLine, limit: Limit | None) -> float:
        """Check one request; the Crawl-delay it had to keep."""
        if limit is None:
            self._audit.unproven += 1
            return 0.0
        if not limit.robots:
            self._audit.exempt += 1
            return 0.0
        origin = urls.origin(line.url)
        in_force = self._in_force(origin, line.started)
        choices = [self._rules(note, limit.agent) for note in self._choices(origin, line.started, in_force)]
        if line.request_id:
            self._judge(line, in_force, choices)
        delay = min((found.delay for found in choices), default=self._noticed(line.started))
        return min(delay, limit.max_crawl_delay)

    def _in_force(self, origin: str, at: float) -> RobotsNote | None:
        versions = self._versions.get(origin)
        if versions is None:
            versions = self._versions[origin] = sorted(self._robots(origin), key=lambda note: note.fetched)
        place = bisect_right(versions, at, key=lambda note: note.fetched)
        return versions[place - 1] if place else None

    def _choices(self, origin: str, at: float, in_force: RobotsNote | None) -> list[RobotsNote]:
        """What a request could go by: the version in force first, then those that were still good enough."""
        if in_force is None:
            return []
        found = [in_force, self._in_force(origin, at - ON_ITS_WAY)]
        if in_force.closed is not None:
            # Rules that were read hold for a day, even while they cannot be read again.
            found += [note for note in self._versions[origin] if note.closed is None and note.fetched <= at]
            found = [note for note in found if note is in_force or (note and at - note.checked < rules.HOLDS)]
        return [note for n, note in enumerate(found) if note is not None and note not in found[:n]]

    def _rules(self, note: RobotsNote, agent: str) -> Robots:
        key = (note.origin, note.fetched, agent)
        found = self._read.get(key)
        if found is None:
            found = self._read[key] = rules.of(note, agent)
        return found

    def _judge(self, line: FetchLine, note: RobotsNote | None, choices: Sequence[Robots]) -> None:
        if note is None:
            self._audit.unproven += 1
            self._count(urls.origin(line.url), 0.0, True, "no robots.txt of that time is in the store")
            return
        verdict = choices[0].verdict(line.url)
        allowed = verdict.allowed or any(found.allows(line.url) for found in choices[1:])
        because = choices[0].closed or verdict.because
        self._count(note.origin, note.fetched, allowed, because)
        if not allowed:
            text = (
                f"{self._audit.host} was asked for {line.url} at {_when(line.started)}, which its robots.txt as of "
                f"{_when(note.fetched)} does not allow: {because or 'no line says so'}"
            )
            self._told.add("robots", line, text)

    def _count(self, origin: str, fetched: float, allowed: bool, because: str) -> None:
        key = (origin, fetched, allowed, because)
        found = self._decisions.get(key)
        if found is None:
            if len(self._decisions) >= MOST_DECISIONS:
                key = next(iter(self._decisions))
                found = self._decisions[key]
            else:
                found = self._decisions[key] = Decision(origin, fetched, allowed, because)
        found.count += 1

    def _noticed(self, at: float) -> float:
        """The Crawl-delay last heard of, where no robots.txt is kept."""
        return next((seconds for heard, seconds in reversed(self._delays) if heard + TOLERANCE <= at), 0.0)

    def decisions(self) -> list[Decision]:
        return sorted(self._decisions.values(), key=lambda d: (d.origin, d.fetched, d.allowed, -d.count))


class _Domain:
    """The pace of all hosts of a domain together, whose lines do not come in order: times, put in order at the end."""

    def __init__(self, domain: str) -> None:
        self._domain = domain
        self._times = array("d")
        self._intervals = array("d")
        self._runs = array("L")
        self._names = array("L")
        self._hosts: dict[str, int] = {}
        self._limits: list[Limit] = []

    def feed(self, line: FetchLine, limit: Limit) -> None:
        self._times.append(line.started)
        self._intervals.append(limit.interval)
        self._runs.append(line.run)
        self._names.append(self._hosts.setdefault(line.host, len(self._hosts)))
        if limit not in self._limits:
            self._limits.append(limit)

    def close(self) -> HostAudit:
        """The domain as if it were one host; its requests are named by their hosts."""
        audit = HostAudit(self._domain, limits=self._limits, retry_after=[], crawl_delays=[], decisions=[], breaches=[])
        told, windows = _Told(audit), (_Window(SECOND), _Window(MINUTE))
        pace, names = _Pace(audit, told), list(self._hosts)
        since = min(limit.since for limit in self._limits)
        for n in sorted(range(len(self._times)), key=self._times.__getitem__):
            at, limit = self._times[n], Limit(0, since, self._intervals[n])
            audit.fetches += 1
            audit.first, audit.last = audit.first or at, at
            for window in windows:
                window.feed(at)
            name = names[self._names[n]]
            pace.feed(FetchLine(self._runs[n], 0, name, self._domain, at, 0.0, 0, ""), limit, 0.0)
        audit.in_a_second, audit.in_a_minute = (window.most for window in windows)
        return audit


def _when(stamp: float) -> str:
    """A time to the millisecond, in the zone of whoever reads it."""
    return datetime.fromtimestamp(stamp).astimezone().strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
