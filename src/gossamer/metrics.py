"""What Prometheus reads at `/metrics`: what the workers counted, what the store knows, what the API answered.

Every answer is made anew from rows and from the counts of this process: nothing is kept in prometheus_client's own
global registry. Counters of a worker begin at 0 when it starts, so each worker has series of its own (`worker=`), and
`sum(rate(...))` over them is right whoever restarts.

What stands in labels is bounded: so many scrapers, hosts and routes, and the rest is `other`.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from gossamer import __version__, telemetry
from gossamer.errors import ConfigError, StoreError
from gossamer.events import Events
from gossamer.lists.of_cluster import Cluster, ClusterWorker, cluster
from gossamer.lists.of_workers import object_of, silent_after
from gossamer.storage.desk import Desk, Row

if TYPE_CHECKING:
    from prometheus_client.core import Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

#: Label values of one kind that are told apart.
MOST_SCRAPERS = 500
MOST_REASONS = 100
MOST_HOSTS = 50
MOST_ROUTES = 200
MOST_WORKERS = 200
#: Free bytes below which a service is not ready: a crawl would soon stop.
LEAST_DISK = 100 << 20
#: What is told where too much would have to be.
OTHER = "other"

#: Where the dashboard has its scripts and styles: a browser that loads them says nothing about the API.
ASSETS = ("/_nicegui", "/_gossamer")
#: Seconds that answers are sorted by.
CLASSES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 5.0, 10.0)
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


# -- the API ---------------------------------------------------------------------------------------------------------


class ApiCounts:
    """How often which route was asked, how it answered, and how long that took."""

    def __init__(self) -> None:
        #: (method, route, status class) -> answers by class of seconds; and the seconds in all.
        self.answers: dict[tuple[str, str, str], tuple[list[int], list[float]]] = {}
        self._routes: set[str] = set()

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answer."""
        if route not in self._routes:
            if len(self._routes) >= MOST_ROUTES:
                route = OTHER
            self._routes.add(route)
        what = (method if method in _METHODS else OTHER, route, f"{status // 100}xx")
        if what not in self.answers:
            self.answers[what] = ([0] * (len(CLASSES) + 1), [0.0])
        counts, total = self.answers[what]
        counts[bisect_left(CLASSES, seconds)] += 1
        total[0] += seconds


class Watched:
    """Middleware (ASGI) that counts answers. Seconds are those until the answer begins: some go on for hours."""

    def __init__(self, app: App, counts: ApiCounts) -> None:
        self._app = app
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(ASSETS):
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        told = False

        def note(status: int) -> None:
            nonlocal told
            if not told:
                told = True
                self._counts.note(scope["method"], _route(scope), status, time.perf_counter() - began)

        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                note(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except BaseException:
            note(500)
            raise


def _route(scope: Scope) -> str:
    """The path as it was declared, `/api/runs/{id}`: paths as they are asked for are without number."""
    path = getattr(scope.get("route"), "path", None)
    return path[:200] if isinstance(path, str) else OTHER


# -- what is told ----------------------------------------------------------------------------------------------------

_WORKERS = "select name, started, at, data from worker order by at desc limit :most"
_SCRAPERS = """
select name, enabled, runs, successes, failures, seconds, items, new_items, streak, breaker, last_ended, last_new
from scraper order by name limit :most
"""
_ACTIVE = "select state, count(*) from run where state in ('pending', 'running') group by state"
_SIZE = "select pg_database_size(current_database())"
_UNSENT = "select count(*) from dispatch where state = 'waiting'"


async def exposition(desk: Desk, api: ApiCounts, events: Events | None = None) -> bytes:
    """All metrics, as Prometheus reads them. Raises StoreError, and ConfigError if prometheus_client is missing."""
    try:
        from prometheus_client import CollectorRegistry, generate_latest
        from prometheus_client.registry import Collector
    except ImportError:
        raise ConfigError("prometheus_client is not installed: pip install 'gossamer[service]'") from None
    workers = [_Worker.of(row) for row in await desk.rows(_WORKERS, most=MOST_WORKERS)]
    scrapers = await desk.rows(_SCRAPERS, most=MOST_SCRAPERS)
    active: dict[str, int] = dict(await desk.rows(_ACTIVE))
    unsent = await desk.row(_UNSENT)
    shared = await cluster(desk)
    disk = await asyncio.to_thread(_disk, getattr(desk, "path", "."))
    if desk.dialect.shared:  # only a database knows how large it is
        row = await desk.row(_SIZE)
        disk = disk[0], int(row[0]) if row is not None else 0
    told = [
        *_of_workers(workers),
        *_of_cluster(shared),
        *_of_scrapers(scrapers),
        *_of_runs(workers, active),
        *_of_api(api),
        *_of_process(disk, events, unsent[0] if unsent else 0),
    ]

    class Told(Collector):
        """What was just read."""

        def collect(self) -> Iterable[Metric]:
            return told

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Told())
    return generate_latest(registry)


class _Worker(msgspec.Struct, frozen=True):
    """A worker's row, read with care: another version may have written it."""

    name: str
    started: float
    at: float
    data: dict[str, Any]

    @classmethod
    def of(cls, row: Row) -> _Worker:
        name, started, at, data = row
        try:
            found = msgspec.json.decode(data)
        except msgspec.DecodeError:
            found = {}
        return cls(name, started, at, found if isinstance(found, dict) else {})

    @property
    def alive(self) -> bool:
        """Whether it was heard lately."""
        return time.time() - self.at <= silent_after(self.data)

    def part(self, *names: str) -> dict[str, Any]:
        """An object in its data; empty if there is none."""
        found: Any = self.data
        for name in names:
            found = found.get(name) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else {}


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _top(counts: Mapping[str, Any], most: int) -> list[tuple[str, float]]:
    """The largest counts by label; the rest as one."""
    ranked = sorted(((name, _number(n)) for name, n in counts.items()), key=lambda pair: (-pair[1], pair[0]))
    rest = sum(n for _, n in ranked[most:])
    return ranked[:most] + ([(OTHER, rest)] if len(ranked) > most else [])


#: Counters of workers by scraper: the name in `worker.data`, the metric, what it means.
_COUNTED = (
    ("pages", "gossamer_pages", "Pages read"),
    ("items", "gossamer_items", "Items found on pages"),
    ("bytes", "gossamer_downloaded_bytes", "Bytes of pages fetched"),
    ("suspect", "gossamer_runs_suspect", "Runs that broke the pattern of earlier ones"),
)


def _of_workers(workers: list[_Worker]) -> list[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    found: list[Metric] = []
    for field, name, about in _COUNTED:
        counter = CounterMetricFamily(name, about, labels=("worker", "scraper"))
        for worker in workers:
            for scraper, n in _top(worker.part("counters", field), MOST_SCRAPERS):
                counter.add_metric((worker.name, scraper), n)
        found.append(counter)
    outcomes = CounterMetricFamily(
        "gossamer_outcomes", "Walks that ended, by reason", labels=("worker", "scraper", "reason")
    )
    for worker in workers:
        by_scraper = worker.part("counters", "outcomes")
        for scraper in list(by_scraper)[:MOST_SCRAPERS]:
            for reason, n in _top(worker.part("counters", "outcomes", scraper), MOST_REASONS):
                outcomes.add_metric((worker.name, scraper, reason), n)
    now = time.time()
    beat = GaugeMetricFamily("gossamer_worker_heartbeat_seconds", "Seconds since it was last heard", labels=("worker",))
    up = GaugeMetricFamily("gossamer_worker_up", "Whether a worker lives", labels=("worker",))
    started = GaugeMetricFamily("gossamer_worker_start_time_seconds", "When a worker started", labels=("worker",))
    memory = GaugeMetricFamily("gossamer_worker_memory_bytes", "Memory of a worker", labels=("worker",))
    for worker in workers:
        beat.add_metric((worker.name,), max(0.0, now - worker.at))
        up.add_metric((worker.name,), float(worker.alive))
        started.add_metric((worker.name,), worker.started)
        memory.add_metric((worker.name,), _number(worker.data.get("memory")))
    return [*found, outcomes, _fetches(workers), _waits(workers), beat, up, started, memory]


#: What is told of each worker of a cluster: the field, the metric, what it means.
_OF_WORKER = (
    ("leases", "leases", "Shards that a worker holds"),
    ("room", "room", "Shards that a worker has room for"),
    ("cpu", "cpu", "Cores that a worker uses"),
    ("lag", "lag_seconds", "Seconds that the loop of a worker is late"),
)


def _of_cluster(found: Cluster) -> list[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    workers = GaugeMetricFamily("gossamer_workers", "Processes that walk runs", labels=("kind",))
    for kind in ("worker", "runner"):
        workers.add_metric((kind,), sum(each.alive and each.kind == kind for each in found.workers))
    leases = GaugeMetricFamily("gossamer_leases", "Leases that somebody holds")
    leases.add_metric((), found.leases)
    tickets = GaugeMetricFamily("gossamer_tickets_waiting", "Tickets that no worker has taken yet")
    tickets.add_metric((), found.tickets)
    oldest = GaugeMetricFamily("gossamer_oldest_ticket_seconds", "How long the first of them has waited")
    oldest.add_metric((), max(0.0, found.at - found.oldest_ticket) if found.oldest_ticket is not None else 0.0)
    shards = GaugeMetricFamily("gossamer_shards", "Shards of active runs, by who has them", labels=("state",))
    for state in found.shards.__struct_fields__:
        shards.add_metric((state,), getattr(found.shards, state))
    pages = CounterMetricFamily("gossamer_worker_pages", "Pages a worker read since it started", labels=("worker",))
    for worker in found.workers[:MOST_WORKERS]:
        pages.add_metric((worker.name,), worker.pages)
    return [workers, leases, tickets, oldest, shards, pages, *_of_each(found.workers[:MOST_WORKERS])]


def _of_each(workers: list[ClusterWorker]) -> Iterable[Metric]:
    """What workers that live say of themselves; what one does not say is left out."""
    from prometheus_client.core import GaugeMetricFamily

    for field, name, about in _OF_WORKER:
        made = GaugeMetricFamily(f"gossamer_worker_{name}", about, labels=("worker",))
        for worker in workers:
            value = getattr(worker, field)
            if worker.alive and value is not None:
                made.add_metric((worker.name,), value)
        yield made


def _fetches(workers: list[_Worker]) -> Metric:
    from prometheus_client.core import HistogramMetricFamily

    made = HistogramMetricFamily("gossamer_fetch_seconds", "Seconds that fetches took", labels=("worker",))
    for worker in workers:
        latency = worker.part("latency")
        buckets = [
            (str(float(pair[0])), _number(pair[1]))
            for pair in latency.get("buckets", ())
            if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], int | float)
        ]
        if buckets:
            ends = [*buckets, ("+Inf", _number(latency.get("count")))]
            made.add_metric((worker.name,), ends, _number(latency.get("sum")))
    return made


def _waits(workers: list[_Worker]) -> Metric:
    from prometheus_client.core import GaugeMetricFamily

    made = GaugeMetricFamily(
        "gossamer_host_wait_seconds", "Seconds that a host is still left alone: the longest", labels=("host",)
    )
    waits: dict[str, float] = {}
    for worker in workers:
        if worker.alive:
            for host, seconds in worker.part("waits").items():
                waits[host] = max(waits.get(host, 0.0), _number(seconds))
    for host in sorted(waits, key=lambda host: (-waits[host], host))[:MOST_HOSTS]:
        made.add_metric((host[:255],), waits[host])
    return made


def _of_runs(workers: list[_Worker], active: Mapping[str, int]) -> list[Metric]:
    from prometheus_client.core import GaugeMetricFamily

    runs = GaugeMetricFamily("gossamer_runs", "Runs that wait or go on", labels=("state",))
    for state in ("pending", "running"):
        runs.add_metric((state,), active.get(state, 0))
    depth = GaugeMetricFamily("gossamer_queue_depth", "Requests of active runs, by what they do", labels=("state",))
    sums = dict.fromkeys(("waiting", "parked", "flying"), 0.0)
    for worker in workers:
        if worker.alive:
            for run in worker.part("runs"):
                told = worker.part("runs", run)
                sums = {state: n + _number(told.get(state)) for state, n in sums.items()}
    for state, n in sums.items():
        depth.add_metric((state,), n)
    return [runs, depth]


def _of_scrapers(rows: list[Row]) -> list[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    def counter(name: str, about: str) -> CounterMetricFamily:
        return CounterMetricFamily(f"gossamer_scraper_{name}", about, labels=("scraper",))

    def gauge(name: str, about: str) -> GaugeMetricFamily:
        return GaugeMetricFamily(f"gossamer_scraper_{name}", about, labels=("scraper",))

    results = CounterMetricFamily("gossamer_scraper_runs", "Runs that ended", labels=("scraper", "result"))
    seconds = counter("run_seconds", "Seconds spent in runs that ended")
    items = counter("run_items", "Items of runs that ended")
    new = counter("run_new_items", "Items that no run had seen before, of runs that ended")
    enabled = gauge("enabled", "Whether schedules may start it")
    streak = gauge("failed_in_a_row", "Failed runs since the last success")
    is_open = gauge("breaker_open", "Whether its breaker holds it back")
    ended = gauge("last_run_end_time_seconds", "When its last run ended")
    last_new = gauge("last_new_item_time_seconds", "When a run last brought something new")
    for row in rows:
        name, on, runs, good, bad, took, n_items, n_new, failed, breaker, last_ended, newest = row
        for result, n in (("success", good), ("failure", bad), ("other", runs - good - bad)):
            results.add_metric((name, result), n)
        seconds.add_metric((name,), took)
        items.add_metric((name,), n_items)
        new.add_metric((name,), n_new)
        enabled.add_metric((name,), float(bool(on)))
        streak.add_metric((name,), failed)
        is_open.add_metric((name,), float(breaker != "closed"))
        if last_ended is not None:
            ended.add_metric((name,), last_ended)
        if newest is not None:
            last_new.add_metric((name,), newest)
    return [results, seconds, items, new, enabled, streak, is_open, ended, last_new]


def _of_api(api: ApiCounts) -> list[Metric]:
    from prometheus_client.core import HistogramMetricFamily

    labels = ("method", "route", "status")
    made = HistogramMetricFamily("gossamer_api_request_seconds", "Seconds until an answer began", labels=labels)
    for what, (counts, total) in sorted(api.answers.items()):
        sums, buckets = 0, []
        for end, n in zip((*map(str, CLASSES), "+Inf"), counts, strict=True):
            sums += n
            buckets.append((end, float(sums)))
        made.add_metric(what, buckets, total[0])
    return [made]


def _of_process(disk: tuple[int, int], events: Events | None, unsent: int) -> list[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    info = GaugeMetricFamily("gossamer_info", "Which Gossamer this is", labels=("version",))
    info.add_metric((__version__,), 1)
    dropped = CounterMetricFamily("gossamer_events_dropped", "Events the store could not keep")
    dropped.add_metric((), events.dropped if events is not None else 0)
    lost = CounterMetricFamily("gossamer_log_lines_lost", "Events the log files could not take")
    lost.add_metric((), telemetry.lost())
    free = GaugeMetricFamily("gossamer_disk_free_bytes", "Free bytes where the store is")
    free.add_metric((), disk[0])
    size = GaugeMetricFamily("gossamer_store_bytes", "Bytes of the store, with its log")
    size.add_metric((), disk[1])
    waiting = GaugeMetricFamily("gossamer_alerts_unsent", "Alerts on their way to somebody")
    waiting.add_metric((), unsent)
    return [info, dropped, lost, free, size, waiting]


def _disk(path: str) -> tuple[int, int]:
    """Free bytes beside a store, and its own."""
    size = 0
    for ending in ("", "-wal"):
        try:
            size += os.stat(path + ending).st_size
        except OSError:
            continue
    try:
        free = shutil.disk_usage(Path(path).absolute().parent).free
    except OSError:
        free = 0
    return free, size


# -- health ----------------------------------------------------------------------------------------------------------


class Check(msgspec.Struct, frozen=True):
    """One thing a service needs."""

    ok: bool
    #: A few words for a person.
    told: str


class Health(msgspec.Struct, frozen=True):
    """Whether a service can do its work."""

    ready: bool
    checks: dict[str, Check]


async def health(desk: Desk, trouble: str | None = None) -> Health:
    """For `/readyz`: the store answers, a worker lives, there is room on the disk. That we answer is `/healthz`.

    In a cluster, `trouble` says why nothing can be carried to workers; it is "" if it can.
    """
    checks = {"store": Check(True, "it answers"), "worker": Check(False, "none was ever heard")}
    try:
        row = await desk.row("select at, data from worker order by at desc limit 1")
    except StoreError as why:
        checks["store"] = Check(False, str(why))
        row = None
    if row is not None:
        age = max(0.0, time.time() - row[0])
        checks["worker"] = Check(age <= silent_after(object_of(row[1])), f"heard {age:.0f} s ago")
    free, _ = await asyncio.to_thread(_disk, getattr(desk, "path", "."))
    checks["disk"] = Check(free >= LEAST_DISK, f"{free / 1e9:,.1f} GB free")
    if trouble is not None:
        checks["dispatcher"] = Check(not trouble, trouble or "it has work carried to workers")
    return Health(all(check.ok for check in checks.values()), checks)
