"""The one place that counts. Terminal, stream and (later) dashboard listen here."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence

import msgspec

from gossamer.frontier import Lane
from gossamer.storage.store import Settled
from gossamer.values import Ending, Outcome, Run

Listener = Callable[[Sequence[Outcome]], None]

#: Pages a second are measured over this many seconds.
WINDOW = 10.0


class Bound(msgspec.Struct, frozen=True):
    """When a run can end at the earliest, and the host that keeps it from ending sooner."""

    seconds: float
    host: str
    #: The host's own pace, not our capacity, is what takes the time.
    by_pace: bool


class Progress:
    """Counts of one run, as settled."""

    def __init__(self, run: Run) -> None:
        self.run = run.id
        self.scraper = run.scraper
        self.pages, self.items = run.pages, run.items
        self.failed, self.skipped, self.retried = run.failed, run.skipped, run.retried
        self.size = run.size
        self.by_reason: Counter[str] = Counter(run.by_reason)
        #: Pages and items since this start, not counting earlier starts of a resumed run.
        self.new_pages = 0
        self.new_items = 0
        #: The first walk that failed, as an example.
        self.failure: Outcome | None = None
        self.started = time.monotonic()
        self._marks: deque[tuple[float, int]] = deque([(self.started, 0)])
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        """Hear of every group of outcomes once it is settled."""
        self._listeners.append(listener)

    def tell(self, outcomes: Sequence[Outcome], settled: Settled) -> None:
        """A group of outcomes has been settled."""
        for outcome in outcomes:
            ending = outcome.ending
            if ending is Ending.LATER:
                self.retried += outcome.attempt
            else:
                self.by_reason[outcome.reason] += 1
                if ending is Ending.FAILED:
                    self.failed += 1
                    self.failure = self.failure or outcome
                self.skipped += ending is Ending.SKIPPED
                self.new_pages += outcome.is_page
            self.size += outcome.size
        self.pages += sum(o.is_page for o in outcomes)
        self.items += settled.items
        self.new_items += settled.items
        self.skipped += sum(settled.dropped.values())
        self.by_reason.update(settled.dropped)
        self._mark()
        for listener in self._listeners:
            listener(outcomes)

    def _mark(self) -> None:
        now = time.monotonic()
        self._marks.append((now, self.new_pages))
        while len(self._marks) > 2 and self._marks[1][0] < now - WINDOW:
            self._marks.popleft()

    @property
    def rate(self) -> float:
        """Pages a second, lately."""
        then, pages = self._marks[0]
        passed = time.monotonic() - then
        return (self.new_pages - pages) / passed if passed > 0.05 else 0.0

    def bound(self, lanes: Iterable[Lane]) -> Bound | None:
        """What is known to wait, by host: the run ends no sooner than its slowest host does."""
        slowest: Bound | None = None
        total = 0
        for lane in lanes:
            left = lane.waiting + lane.parked + len(lane.flying)
            total += left
            door = lane.door
            if door is None or not left:
                continue
            held = max(0.0, door.next_at - time.monotonic())
            seconds = held + max(0, left - 1) * door.interval
            if slowest is None or seconds > slowest.seconds:
                slowest = Bound(seconds, lane.host, by_pace=True)
        by_rate = total / self.rate if self.rate else 0.0
        # What was lately measured lags behind: a host's pace is the reason unless it is clearly not.
        if slowest is None or by_rate > 2 * slowest.seconds:
            return Bound(by_rate, slowest.host if slowest else "", by_pace=False) if by_rate else slowest
        return slowest
