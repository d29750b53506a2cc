"""Figures: what charts and health pages show is what was counted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gossamer import figures
from gossamer.errors import ConfigError
from gossamer.storage import opening
from gossamer.storage.store import Batch, Draft, Store
from gossamer.values import Ending, Outcome, Request, RunState
from tests.service.looking import Looking


@pytest.fixture
def looking(tmp_path: Path) -> Iterator[Looking]:
    with Looking(tmp_path / "store.db") as made:
        yield made


def tick(minutes_ago: int, scraper: str, pages: int, **more: int) -> dict[str, Any]:
    sums = {"failed": 0, "retried": 0, "skipped": 0, "items": 0, "size": 0} | more
    return {"minute": int(time.time()) // 60 - minutes_ago, "scraper": scraper, "pages": pages} | sums


# -- over time -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("period", "step", "count"), [("hour", 60, 60), ("day", 600, 144), ("week", 3600, 168)])
def test_a_period_has_all_its_steps(looking: Looking, period: str, step: float, count: int) -> None:
    found = looking.wait(figures.throughput(looking.desk, period))
    assert (found.period, found.step, len(found.buckets)) == (period, step, count)
    times = [bucket.at for bucket in found.buckets]
    assert times == [times[0] + n * step for n in range(count)]
    assert times[-1] <= time.time() < times[-1] + step + 60
    assert {bucket.pages for bucket in found.buckets} == {0}


@pytest.mark.parametrize("period", ["hour", "day", "week"])
def test_what_was_settled_is_in_its_step(looking: Looking, period: str) -> None:
    ticks = [
        tick(0, "art", 5, items=2, size=700),
        tick(0, "jobs", 7, failed=1),
        tick(30, "art", 11, retried=3, skipped=4),
        tick(8 * 24 * 60, "art", 1000),
    ]
    looking.insert("tick", *ticks)
    found = looking.wait(figures.throughput(looking.desk, period)).buckets
    assert sum(bucket.pages for bucket in found) == 23
    for each in ticks[:3]:
        (bucket,) = [bucket for bucket in found if bucket.at <= each["minute"] * 60 < bucket.at + 60 * _minutes(period)]
        assert bucket.pages >= each["pages"]
    for name, n in {"failed": 1, "retried": 3, "skipped": 4, "items": 2, "size": 700}.items():
        assert sum(getattr(bucket, name) for bucket in found) == n
    only = looking.wait(figures.throughput(looking.desk, period, "art")).buckets
    assert (sum(bucket.pages for bucket in only), sum(bucket.failed for bucket in only)) == (16, 0)
    assert sum(bucket.pages for bucket in looking.wait(figures.throughput(looking.desk, period, "none")).buckets) == 0


def _minutes(period: str) -> int:
    return figures.PERIODS[period][0]


def test_what_is_settled_meanwhile_is_there_when_asked_again(looking: Looking) -> None:
    looking.insert("tick", tick(30, "art", 11))
    for n in range(1, 4):
        looking.insert("tick", tick(0, f"s{n}", 5))
        for period in ("hour", "day", "week"):
            found = looking.wait(figures.throughput(looking.desk, period)).buckets
            assert sum(bucket.pages for bucket in found) == 11 + 5 * n


def test_a_period_that_is_none_is_refused(looking: Looking) -> None:
    with pytest.raises(ConfigError, match="hour, day or week"):
        looking.wait(figures.throughput(looking.desk, "year"))


# -- scrapers --------------------------------------------------------------------------------------------------


async def walk(store: Store, scraper: str, pages: int, state: RunState, reason: str = "done") -> int:
    """A run with some pages, of which the last one fails."""
    run = await store.new_run(Draft(scraper, "r", f"{scraper}{time.time()}", {}, {}))
    lease = await store.acquire(run.id, "me", 60)
    await store.add(lease, [Request(f"http://a.example/{n}") for n in range(pages)], last=True)
    found = await store.peek(run.id, "a.example", pages, ())
    outcomes = [Outcome(page, Ending.DONE, "ok", status=200, size=100, started=1.0, elapsed=1.0) for page in found[1:]]
    outcomes.append(Outcome(found[0], Ending.FAILED, "timeout", started=1.0, elapsed=1.0))
    await store.settle(lease, Batch(outcomes, seconds=4.0))
    await store.end_run(lease, state, reason)
    await store.release(lease)
    return run.id


def test_health_is_what_the_store_counted(looking: Looking) -> None:
    async def work() -> list[int]:
        async with opening.working(looking.store) as store:
            return [
                await walk(store, "art", 3, RunState.FINISHED),
                await walk(store, "art", 5, RunState.FAILED, "error"),
                await walk(store, "art", 2, RunState.FAILED, "error"),
            ]

    numbers = looking.wait(work())
    looking.write("update scraper set enabled = 0, breaker = 'open', openings = 1, open_until = 99")
    art, never = looking.wait(figures.scraper_health(looking.desk, ["art", "never"]))
    assert (art.runs, art.successes, art.failures, art.streak) == (3, 1, 2, 2)
    assert art.success_rate == pytest.approx(1 / 3)
    assert art.mean_seconds == pytest.approx(4.0)
    assert (art.last_run, art.last_state, art.last_reason) == (numbers[-1], "failed", "error")
    assert (art.enabled, art.breaker, art.openings, art.open_until) == (False, "open", 1, 99)
    assert [(point.run, point.pages, point.state) for point in art.trend] == [
        (numbers[0], 2, "finished"),
        (numbers[1], 4, "failed"),
        (numbers[2], 1, "failed"),
    ]
    assert (never.name, never.runs, never.success_rate, never.mean_seconds, never.trend) == ("never", 0, None, None, [])
    assert never.enabled
    assert [each.name for each in looking.wait(figures.scraper_health(looking.desk))] == ["art"]


def test_a_trend_has_the_last_twenty_runs(looking: Looking) -> None:
    row = {"ref": "r", "signature": "s", "params": "{}", "options": "{}", "state": "finished", "created": 1.0}
    names = [f"s{n}" for n in range(120)]
    looking.insert("run", *({"id": n, "scraper": names[n % 120], "items": n} | row for n in range(1, 3000)))
    found = looking.wait(figures.scraper_health(looking.desk, names))
    assert [each.name for each in found] == names
    for n, each in enumerate(found):
        assert [point.items for point in each.trend] == [item for item in range(1, 3000) if item % 120 == n][-20:]


def test_statistics_over_all_scrapers(looking: Looking) -> None:
    counts = {"seconds": 30.0, "items": 50, "new_items": 20, "runs": 10}
    looking.insert(
        "scraper",
        {"name": "art", "successes": 6, "failures": 2} | counts,
        {"name": "jobs", "successes": 2, "failures": 0} | counts | {"items": 0},
    )
    stats = looking.wait(figures.scraper_stats(looking.desk))
    assert (stats.total_runs, stats.completed_runs, stats.failed_runs, stats.success_rate) == (20, 8, 2, 80.0)
    assert (stats.total_items, stats.total_new_items, stats.by_source) == (50, 40, {"art": 50})
    assert stats.avg_execution_time == pytest.approx(3.0)
    assert stats.recent == []
    assert looking.wait(figures.scraper_stats(looking.desk, "jobs")).total_runs == 10
    assert looking.wait(figures.scraper_stats(looking.desk, "none")).success_rate == 0.0


# -- all together ----------------------------------------------------------------------------------------------


def test_totals_are_exact_while_they_are_small(looking: Looking, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"ref": "r", "signature": "s", "params": "{}", "options": "{}", "state": "finished", "created": 1.0}
    looking.insert("run", *({"id": n, "scraper": "art"} | row for n in (1, 2, 5, 9)))
    looking.insert("source", *({"host": f"h{n}", "last_hit": 0, "ready_at": 0} for n in range(5)))
    totals = looking.wait(figures.totals(looking.desk))
    assert (totals.runs, totals.hosts, totals.items) == (
        figures.Total(4, True),
        figures.Total(5, True),
        figures.Total(0, True),
    )
    monkeypatch.setattr(figures, "COUNTED", 3)
    totals = looking.wait(figures.totals(looking.desk))
    assert (totals.runs, totals.hosts) == (figures.Total(9, False), figures.Total(3, False))


def test_the_depth_of_the_queue(looking: Looking) -> None:
    row = {"ref": "r", "signature": "s", "params": "{}", "options": "{}", "created": 1.0, "scraper": "art"}
    states = ["pending", "pending", "running", "finished"]
    looking.insert("run", *({"state": state} | row for state in states))
    told = '{"runs": {"3": {"waiting": 70, "parked": 2, "flying": 5, "hosts": []}, "4": {"waiting": 1}, "5": "odd"}}'
    worker = {"pid": 1, "started": 0, "data": told}
    looking.insert(
        "worker",
        {"name": "living", "at": time.time()} | worker,
        {"name": "dead", "at": time.time() - 60} | worker,
    )
    found = looking.wait(figures.queue(looking.desk))
    assert (found.pending_runs, found.running_runs) == (2, 1)
    assert (found.waiting, found.parked, found.flying) == (71, 2, 5)
