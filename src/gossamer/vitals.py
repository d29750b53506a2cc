"""How a process that walks runs is: what it counted since it began, and what each run is at."""

from __future__ import annotations

import heapq
import resource
import sys
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gossamer.frontier import Lane
from gossamer.polite.gate import Gate
from gossamer.runs import Running
from gossamer.values import Ending, Outcome

#: Upper ends of the classes that fetches are counted in, in seconds.
CLASSES = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
#: Hosts told of: those of a run with the most to do, and those that are held longest.
MOST_HOSTS = 20
MOST_WAITS = 50
#: With more hosts than this, they are looked at only now and then.
MANY = 5_000
NOW_AND_THEN = 10.0


class Vitals:
    """Counts since the process began, for `worker.data`."""

    def __init__(self) -> None:
        self._pages: Counter[str] = Counter()
        self._items: Counter[str] = Counter()
        self._size: Counter[str] = Counter()
        self._suspect: Counter[str] = Counter()
        self._outcomes: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._latency = [0] * (len(CLASSES) + 1)
        self._latency_sum = 0.0
        #: Run -> when its hosts were looked at, and what was seen.
        self._hosts: dict[int, tuple[float, list[dict[str, Any]]]] = {}

    def hear(self, scraper: str) -> Callable[[Sequence[Outcome]], None]:
        """A listener for the progress of one run."""
        outcomes_of, latency = self._outcomes[scraper], self._latency

        def listen(outcomes: Sequence[Outcome]) -> None:
            for outcome in outcomes:
                if outcome.ending is not Ending.LATER:
                    outcomes_of[outcome.reason] += 1
                if outcome.started:
                    latency[bisect_left(CLASSES, outcome.elapsed)] += 1
                    self._latency_sum += outcome.elapsed
            self._pages[scraper] += sum(o.is_page for o in outcomes)
            self._items[scraper] += sum(len(o.items) for o in outcomes)
            self._size[scraper] += sum(o.size for o in outcomes)

        return listen

    def suspect(self, scraper: str) -> None:
        """A run broke the pattern."""
        self._suspect[scraper] += 1

    def told(self, running: Mapping[int, Running], gate: Gate) -> dict[str, Any]:
        """All of it, as JSON has it."""
        self._hosts = {run: seen for run, seen in self._hosts.items() if run in running}
        counted = 0
        buckets = []
        for end, n in zip(CLASSES, self._latency, strict=False):
            counted += n
            buckets.append([end, counted])
        now = time.monotonic()
        held = ((door.next_at - now, host) for host, door in gate.doors.items() if door.next_at > now + 1)
        return {
            "runs": {str(run): self._run(run, each) for run, each in running.items()},
            "counters": {
                "pages": dict(self._pages),
                "items": dict(self._items),
                "bytes": dict(self._size),
                "outcomes": {scraper: dict(reasons) for scraper, reasons in self._outcomes.items()},
                "suspect": dict(self._suspect),
            },
            "latency": {"buckets": buckets, "sum": round(self._latency_sum, 3), "count": counted + self._latency[-1]},
            "waits": {host: round(seconds, 1) for seconds, host in heapq.nlargest(MOST_WAITS, held)},
            "memory": memory(),
        }

    def _run(self, run_id: int, running: Running) -> dict[str, Any]:
        frontier, progress = running.engine.frontier, running.progress
        lanes = frontier.lanes
        seen = self._hosts.get(run_id)
        now = time.monotonic()
        if seen is None or len(lanes) <= MANY or now - seen[0] > NOW_AND_THEN:
            busiest = heapq.nlargest(MOST_HOSTS, lanes.values(), key=lambda lane: lane.waiting + lane.parked)
            seen = self._hosts[run_id] = now, [_host(lane, now) for lane in busiest if _left(lane)]
        bound = progress.bound(lanes.values()) if len(lanes) <= MANY else None
        return {
            "waiting": sum(lane.waiting for lane in lanes.values()) if len(lanes) <= MANY else 0,
            "parked": sum(lane.parked for lane in lanes.values()) if len(lanes) <= MANY else 0,
            "flying": frontier.flying,
            "rate": round(progress.rate, 2),
            "eta": round(bound.seconds, 1) if bound else None,
            "slowest": bound.host if bound else "",
            "hosts": seen[1],
        }


def _left(lane: Lane) -> int:
    return lane.waiting + lane.parked + len(lane.flying)


def _host(lane: Lane, now: float) -> dict[str, Any]:
    door = lane.door
    return {
        "host": lane.host,
        "waiting": lane.waiting + lane.parked,
        "flying": len(lane.flying),
        "next_in": round(max(0.0, door.next_at - now), 2) if door else 0.0,
        "why": door.why if door else "",
        "interval": round(door.interval, 3) if door else 0.0,
        "hits": door.hits if door else 0,
    }


def memory() -> int:
    """The most bytes this process has had."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
