"""The one place that counts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest

from gossamer.frontier import Lane
from gossamer.polite.gate import Door
from gossamer.progress import Progress
from gossamer.storage.store import Settled
from gossamer.values import Ending, Outcome, Request, Run, RunState


def _run(**counts: Any) -> Run:
    zero = dict.fromkeys(("settled", "pages", "items", "failed", "skipped", "retried", "size"), 0)
    return Run(7, "shop", "r", "s", {}, {}, RunState.RUNNING, "", 0.0, None, 0.0, True, **{**zero, **counts})


def _outcome(ending: Ending = Ending.DONE, reason: str = "ok", **facts: Any) -> Outcome:
    return Outcome(Request("http://a.org/"), ending, reason, **facts)


def _settled(items: int = 0, **dropped: int) -> Settled:
    return Settled({}, items, dropped)


OUTCOMES = [
    _outcome(size=100),
    _outcome(reason="redirect", size=5),
    _outcome(Ending.SKIPPED, "robots"),
    _outcome(Ending.FAILED, "http_404", size=10),
    _outcome(Ending.LATER, "http_503", attempt=True, size=1),
    _outcome(Ending.LATER, "held", attempt=False),
]


def test_every_outcome_is_counted_once() -> None:
    progress = Progress(_run())
    progress.tell(OUTCOMES, _settled(3, depth=2, scope=4))
    assert (progress.pages, progress.items, progress.failed, progress.skipped, progress.retried) == (1, 3, 1, 7, 1)
    assert progress.size == 116
    assert progress.by_reason == {"ok": 1, "redirect": 1, "robots": 1, "http_404": 1, "depth": 2, "scope": 4}
    assert progress.failure is OUTCOMES[3]


def test_a_resumed_run_counts_on_and_knows_what_is_new() -> None:
    progress = Progress(_run(pages=10, items=20, failed=1, skipped=2, retried=3, size=1000, by_reason={"ok": 10}))
    progress.tell([_outcome(size=1)], _settled(2))
    assert (progress.pages, progress.items, progress.failed, progress.size) == (11, 22, 1, 1001)
    assert (progress.new_pages, progress.new_items, progress.by_reason["ok"]) == (1, 2, 11)


def test_listeners_hear_every_group_after_it_is_counted() -> None:
    progress = Progress(_run())
    heard: list[tuple[int, int]] = []

    def listener(outcomes: Sequence[Outcome]) -> None:
        heard.append((len(outcomes), progress.pages))

    progress.listen(listener)
    progress.tell([_outcome(), _outcome()], _settled())
    progress.tell([_outcome()], _settled())
    assert heard == [(2, 2), (1, 3)]


def test_the_rate_is_pages_a_second_lately() -> None:
    progress = Progress(_run(pages=1000))
    assert progress.rate == 0.0
    time.sleep(0.1)
    progress.tell([_outcome()] * 10, _settled())
    passed = time.monotonic() - progress.started
    assert progress.rate == pytest.approx(10 / passed, rel=0.2)


# --- when it can end ---


def _lane(host: str, waiting: int, interval: float = 0.0, held: float = 0.0) -> Lane:
    lane = Lane(host)
    lane.waiting = waiting
    lane.door = Door(host, set(), [])
    lane.door.slow_to(interval)
    lane.door.hold(held, "held")
    return lane


def test_the_slowest_host_bounds_the_run() -> None:
    progress = Progress(_run())
    bound = progress.bound([_lane("a.org", 100, 0.1), _lane("slow.org", 73, 10.0), _lane("b.org", 1000)])
    assert bound is not None
    assert (bound.host, bound.by_pace) == ("slow.org", True)
    assert bound.seconds == pytest.approx(720, abs=1)


def test_a_held_host_adds_its_wait() -> None:
    bound = Progress(_run()).bound([_lane("a.org", 11, 1.0, held=60)])
    assert bound is not None
    assert bound.seconds == pytest.approx(70, abs=1)


def test_parked_and_flying_requests_count_as_left() -> None:
    lane = _lane("a.org", 1, 10.0)
    lane.parked, lane.flying = 1, {5}
    bound = Progress(_run()).bound([lane])
    assert bound is not None
    assert bound.seconds == pytest.approx(20, abs=1)


def test_without_a_pace_our_own_speed_bounds_the_run() -> None:
    progress = Progress(_run())
    time.sleep(0.1)
    progress.tell([_outcome()] * 10, _settled())
    bound = progress.bound([_lane("a.org", 1000)])
    assert bound is not None
    assert not bound.by_pace
    assert bound.seconds == pytest.approx(1000 / progress.rate, rel=0.5)


def test_nothing_left_is_no_bound() -> None:
    assert Progress(_run()).bound([]) is None
    assert Progress(_run()).bound([Lane("a.org"), _lane("b.org", 0, 5.0)]) is None
