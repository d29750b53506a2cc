"""Numbers for charts and health pages, from what was counted while it happened: none of them counts old rows again."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from gossamer import lists
from gossamer.errors import ConfigError
from gossamer.lists import RunRow
from gossamer.lists.of_workers import object_of
from gossamer.storage.desk import Desk, Row

#: Period -> (minutes of one step, steps).
PERIODS = {"hour": (1, 60), "day": (10, 144), "week": (60, 168)}
#: Seconds after which what was settled in a minute is written for good.
LATE = 120.0
#: Runs that a trend shows.
TREND = 20
#: Scrapers that are asked for at once, and that are known at most.
_GROUP = 50
_MOST = 2_000
#: Rows of a table that are counted one by one; of longer ones the numbers of the rows tell it.
COUNTED = 20_000

_TICKS = """
select minute / :step, sum(pages), sum(failed), sum(retried), sum(skipped), sum(items), sum(size)
from tick where minute >= :first and minute < :end group by minute / :step
"""
_TICKS_OF_SCRAPER = """
select minute / :step, sum(pages), sum(failed), sum(retried), sum(skipped), sum(items), sum(size)
from tick where minute >= :first and minute < :end and scraper = :scraper group by minute / :step
"""
_SCRAPER = (
    "name, enabled, config, runs, successes, failures, seconds, items, new_items, last_run, last_state, last_reason, "
    "last_ended, last_new, streak, breaker, openings, open_until"
)
_SCRAPERS = f"select {_SCRAPER} from scraper order by name limit :n"  # noqa: S608
_RECENT = "select id, scraper, state, items, new_items, pages, failed, seconds, ended, verdict from run"


#: Desk -> (minutes of a step, scraper) -> what is over, which is not summed up again for everybody who looks.
_past: WeakKeyDictionary[Desk, dict[tuple[int, str | None], dict[int, Bucket]]] = WeakKeyDictionary()

# -- over time -------------------------------------------------------------------------------------------------


class Bucket(msgspec.Struct, frozen=True):
    """What was settled in one step of time."""

    #: Its beginning, in seconds since 1970.
    at: float
    pages: int = 0
    failed: int = 0
    retried: int = 0
    skipped: int = 0
    items: int = 0
    size: int = 0


class Throughput(msgspec.Struct, frozen=True):
    """What was settled in a period, step by step, oldest first; steps without anything are there too."""

    period: str
    #: Seconds of one step.
    step: float
    buckets: list[Bucket]


async def throughput(desk: Desk, period: str, scraper: str | None = None) -> Throughput:
    """Pages, failures and items of the last hour, day or week, of all scrapers or one."""
    if period not in PERIODS:
        raise ConfigError(f"period {period[:40]!r} cannot be used: write hour, day or week")
    step, count = PERIODS[period]
    last = int(time.time() - LATE) // 60 // step
    now = int(time.time()) // 60 // step
    first = now - count + 1
    known = _past.setdefault(desk, {}).setdefault((step, scraper), {})
    begin = next((n for n in range(first, last) if n not in known), last)
    read = await _read(desk, step, begin, now + 1, scraper)
    for n in range(begin, last):
        known[n] = read.get(n) or Bucket(float(n * step * 60))
    for n in [n for n in known if n < first]:
        del known[n]
    buckets = [known.get(n) or read.get(n) or Bucket(float(n * step * 60)) for n in range(first, now + 1)]
    return Throughput(period, step * 60.0, buckets)


async def _read(desk: Desk, step: int, first: int, end: int, scraper: str | None) -> dict[int, Bucket]:
    statement = _TICKS if scraper is None else _TICKS_OF_SCRAPER
    names: dict[str, Any] = {"step": step, "first": first * step, "end": end * step, "scraper": scraper}
    return {
        int(n): Bucket(float(n * step * 60), *(int(value or 0) for value in sums))
        for n, *sums in await desk.rows(statement, **names)
    }


# -- scrapers --------------------------------------------------------------------------------------------------


class TrendPoint(msgspec.Struct, frozen=True):
    """One of the last runs of a scraper."""

    run: int
    state: str
    items: int
    new_items: int
    pages: int
    failed: int
    seconds: float
    ended: float | None
    verdict: str


class ScraperHealth(msgspec.Struct, frozen=True):
    """How a scraper has been doing."""

    name: str
    enabled: bool
    #: What people changed of its knobs.
    config: dict[str, Any]
    runs: int
    successes: int
    failures: int
    #: From 0 to 1; None if no run ended well or badly yet.
    success_rate: float | None
    #: Mean seconds of a run; None if there was none.
    mean_seconds: float | None
    items: int
    new_items: int
    last_run: int | None
    last_state: str
    last_reason: str
    last_ended: float | None
    #: When it last brought something new.
    last_new: float | None
    #: Failed runs in a row.
    streak: int
    #: "closed", "open" or "half_open", how often it opened in a row, and until when it is open.
    breaker: str
    openings: int
    open_until: float
    #: Its last runs, oldest first.
    trend: list[TrendPoint]


async def scraper_health(desk: Desk, names: Iterable[str] | None = None) -> list[ScraperHealth]:
    """How each of these scrapers has been doing, in their order; left out: all that ever ran, by name.

    One that never ran has nothing but zeros.
    """
    wanted = None if names is None else list(dict.fromkeys(names))[:_MOST]
    found = {row[0]: row for row in await _scraper_rows(desk, wanted)}
    order = list(found) if wanted is None else wanted
    trends = await _trends(desk, order)
    return [_health(name, found.get(name), trends.get(name, [])) for name in order]


async def _scraper_rows(desk: Desk, names: Sequence[str] | None) -> list[Row]:
    if names is None:
        return await desk.rows(_SCRAPERS, n=_MOST)
    found: list[Row] = []
    for group in _groups(names):
        among = ", ".join(f":{slot}" for slot in group)
        found += await desk.rows(f"select {_SCRAPER} from scraper where name in ({among})", **group)  # noqa: S608
    return found


async def _trends(desk: Desk, names: Sequence[str]) -> dict[str, list[TrendPoint]]:
    """The last runs of scrapers, each by its index."""
    trends: dict[str, list[TrendPoint]] = {}
    for group in _groups(names):
        newest = " union all ".join(
            f"select * from ({_RECENT} where scraper = :{slot} order by id desc limit :n) as {slot}"  # noqa: S608
            for slot in group
        )
        for run, name, *rest in await desk.rows(newest, **group, n=TREND):
            trends.setdefault(name, []).append(TrendPoint(*(run, *rest)))
    for points in trends.values():
        points.sort(key=lambda point: point.run)
    return trends


def _groups(names: Sequence[str]) -> Iterable[dict[str, str]]:
    for first in range(0, len(names), _GROUP):
        yield {f"s{n}": name for n, name in enumerate(names[first : first + _GROUP])}


def _health(name: str, row: Row | None, trend: list[TrendPoint]) -> ScraperHealth:
    values = row or (name, 1, "{}", 0, 0, 0, 0.0, 0, 0, None, "", "", None, None, 0, "closed", 0, 0.0)
    _, enabled, config, runs, successes, failures, seconds, items, new_items, *last = values
    ended = successes + failures
    rate = successes / ended if ended else None
    mean = seconds / runs if runs else None
    first = (name, bool(enabled), object_of(config), runs, successes, failures, rate, mean, items, new_items)
    return ScraperHealth(*(*first, *last, trend))


# -- all together ----------------------------------------------------------------------------------------------


class Total(msgspec.Struct, frozen=True):
    """How many rows a table has. Of a long one it is about so many: rows that were deleted count too."""

    n: int
    exact: bool


class Totals(msgspec.Struct, frozen=True):
    """How much a store holds."""

    runs: Total
    urls: Total
    items: Total
    changes: Total
    hosts: Total
    alerts: Total


async def totals(desk: Desk) -> Totals:
    """How much a store holds, in constant time."""
    tables = ("run", "request", "item", "change", "alert")
    counted = {table: await _total(desk, table) for table in tables}
    hosts = await _counted(desk, "source")
    return Totals(
        runs=counted["run"],
        urls=counted["request"],
        items=counted["item"],
        changes=counted["change"],
        hosts=Total(min(hosts, COUNTED), hosts <= COUNTED),
        alerts=counted["alert"],
    )


async def _counted(desk: Desk, table: str) -> int:
    row = await desk.row(f"select count(*) from (select 1 from {table} limit :n) as counted", n=COUNTED + 1)  # noqa: S608
    return int(row[0]) if row else 0


async def _total(desk: Desk, table: str) -> Total:
    counted = await _counted(desk, table)
    if counted <= COUNTED:
        return Total(counted, True)
    row = await desk.row(f"select (select max(id) from {table}) - (select min(id) from {table}) + 1")  # noqa: S608
    return Total(int(row[0]) if row else counted, False)


class Stats(msgspec.Struct, frozen=True):
    """What came out of all runs together, as `stats/` tells it."""

    total_runs: int
    completed_runs: int
    failed_runs: int
    #: In percent.
    success_rate: float
    total_items: int
    total_new_items: int
    #: Scraper -> items.
    by_source: dict[str, int]
    #: Mean seconds of a run.
    avg_execution_time: float
    #: The newest runs.
    recent: list[RunRow]


async def scraper_stats(desk: Desk, scraper: str | None = None) -> Stats:
    """What came out of all runs, of all scrapers or one, and the ten newest of them."""
    found = await scraper_health(desk, None if scraper is None else [scraper])
    recent = await lists.runs(desk, scraper=scraper, limit=10)
    runs = sum(each.runs for each in found)
    successes, failures = sum(each.successes for each in found), sum(each.failures for each in found)
    seconds = sum((each.mean_seconds or 0.0) * each.runs for each in found)
    return Stats(
        total_runs=runs,
        completed_runs=successes,
        failed_runs=failures,
        success_rate=round(100 * successes / (successes + failures), 2) if successes + failures else 0.0,
        total_items=sum(each.items for each in found),
        total_new_items=sum(each.new_items for each in found),
        by_source={each.name: each.items for each in found if each.items},
        avg_execution_time=seconds / runs if runs else 0.0,
        recent=recent.rows,
    )


# -- the queue -------------------------------------------------------------------------------------------------


class Queue(msgspec.Struct, frozen=True):
    """What is still to be done."""

    #: Runs that wait to be walked, and that are walked; counted up to COUNTED.
    pending_runs: int
    running_runs: int
    #: Of the runs that are walked, as their workers tell it: requests that wait, wait for a later time, and fly.
    waiting: int
    parked: int
    flying: int


_OF_STATE = "select count(*) from (select 1 from run where state = :state limit :n) as counted"


async def queue(desk: Desk) -> Queue:
    """How deep the queue is."""
    pending = await desk.row(_OF_STATE, state="pending", n=COUNTED)
    running = await desk.row(_OF_STATE, state="running", n=COUNTED)
    sums = {"waiting": 0, "parked": 0, "flying": 0}
    for worker in await lists.workers(desk):
        told = worker.data.get("runs") if worker.alive else None
        for run in told.values() if isinstance(told, dict) else ():
            for name in sums:
                value = run.get(name) if isinstance(run, dict) else None
                sums[name] += value if isinstance(value, int) else 0
    return Queue(pending[0] if pending else 0, running[0] if running else 0, **sums)
