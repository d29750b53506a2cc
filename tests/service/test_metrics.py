"""What Prometheus reads, and what the dashboard in `deploy` asks for."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import httpx
import msgspec
import pytest
from fastapi import APIRouter, FastAPI
from prometheus_client.parser import text_string_to_metric_families
from starlette.responses import StreamingResponse

from gossamer import metrics
from gossamer.events import Events
from gossamer.metrics import ApiCounts, Watched, exposition, health
from gossamer.storage import opening
from gossamer.storage.desk import Desk

T = TypeVar("T")
ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"

Labels = frozenset[tuple[str, str]]


def with_desk(store: str, work: Callable[[Desk], Awaitable[T]]) -> T:
    async def do() -> T:
        async with opening.desk(store) as desk:
            return await work(desk)

    return asyncio.run(do())


def parsed(text: bytes) -> dict[str, dict[Labels, float]]:
    """Sample -> labels -> value, as Prometheus would read them; each series stands there once."""
    found: dict[str, dict[Labels, float]] = {}
    for family in text_string_to_metric_families(text.decode()):
        for sample in family.samples:
            series = found.setdefault(sample.name, {})
            labels = frozenset(sample.labels.items())
            assert labels not in series, f"{sample.name} {labels} is there twice"
            series[labels] = sample.value
    return found


def labels(**given: str) -> Labels:
    return frozenset(given.items())


def worker_data(pages: int = 10, **more: Any) -> str:
    """What a worker tells of itself, as in `vitals.py`."""
    counters = {
        "pages": {"shop": pages, "art": 3},
        "items": {"shop": 2 * pages},
        "bytes": {"shop": 1000 * pages},
        "outcomes": {"shop": {"ok": pages, "http_404": 2}},
        "suspect": {"shop": 1},
    }
    run = {"waiting": 5, "parked": 2, "flying": 1, "rate": 1.5, "eta": None, "slowest": "", "hosts": []}
    latency = {"buckets": [[0.1, 4], [1, 9]], "sum": 5.5, "count": 10}
    waits = {f"host{n}.example": float(n) for n in range(80)}
    data = {"runs": {"12": run, "13": run}, "counters": counters, "latency": latency, "waits": waits, "memory": 5 << 20}
    return msgspec.json.encode({**data, **more}).decode()


async def beat(desk: Desk, name: str, data: str, age: float = 0.0) -> None:
    async with desk.writing() as writing:
        await writing.run(
            "insert into worker (name, pid, started, at, data) values (:name, 1, 100, :at, :data) "
            "on conflict (name) do update set at = excluded.at, data = excluded.data",
            name=name,
            at=time.time() - age,
            data=data,
        )


def told(store: str, *workers: tuple[str, str, float], api: ApiCounts | None = None) -> dict[str, dict[Labels, float]]:
    async def look(desk: Desk) -> bytes:
        for name, data, age in workers:
            await beat(desk, name, data, age)
        return await exposition(desk, api or ApiCounts(), Events(desk))

    return parsed(with_desk(store, look))


# -- workers -----------------------------------------------------------------------------------------------------


def test_what_a_worker_counted(store: str) -> None:
    found = told(store, ("a:1", worker_data(), 2.0))
    shop = labels(worker="a:1", scraper="shop")
    assert found["gossamer_pages_total"] == {shop: 10, labels(worker="a:1", scraper="art"): 3}
    assert found["gossamer_items_total"] == {shop: 20}
    assert found["gossamer_downloaded_bytes_total"] == {shop: 10_000}
    assert found["gossamer_runs_suspect_total"] == {shop: 1}
    assert found["gossamer_outcomes_total"] == {
        labels(worker="a:1", scraper="shop", reason="ok"): 10,
        labels(worker="a:1", scraper="shop", reason="http_404"): 2,
    }
    assert found["gossamer_fetch_seconds_bucket"] == {
        labels(worker="a:1", le="0.1"): 4,
        labels(worker="a:1", le="1.0"): 9,
        labels(worker="a:1", le="+Inf"): 10,
    }
    assert found["gossamer_fetch_seconds_count"] == {labels(worker="a:1"): 10}
    assert found["gossamer_fetch_seconds_sum"] == {labels(worker="a:1"): 5.5}
    assert 2 <= found["gossamer_worker_heartbeat_seconds"][labels(worker="a:1")] < 60
    assert found["gossamer_worker_memory_bytes"] == {labels(worker="a:1"): 5 << 20}
    assert found["gossamer_queue_depth"] == {
        labels(state="waiting"): 10,
        labels(state="parked"): 4,
        labels(state="flying"): 2,
    }


def test_workers_are_told_apart_so_that_one_that_restarts_takes_nothing_away(store: str) -> None:
    before = told(store, ("a:1", worker_data(100), 0.0), ("b:2", worker_data(7), 0.0))
    after = told(store, ("a:1", worker_data(2), 0.0))
    shop = labels(worker="b:2", scraper="shop")
    assert (before["gossamer_pages_total"][shop], after["gossamer_pages_total"][shop]) == (7, 7)
    assert after["gossamer_pages_total"][labels(worker="a:1", scraper="shop")] == 2


def test_a_dead_worker_waits_for_nothing(store: str) -> None:
    found = told(store, ("a:1", worker_data(), 60.0))
    assert found["gossamer_worker_up"] == {labels(worker="a:1"): 0}
    assert found["gossamer_queue_depth"][labels(state="waiting")] == 0
    assert "gossamer_host_wait_seconds" not in found
    assert found["gossamer_pages_total"][labels(worker="a:1", scraper="shop")] == 10


def test_labels_are_bounded(store: str) -> None:
    many = {
        "pages": {f"s{n:04}": n for n in range(2_000)},
        "outcomes": {"shop": {f"reason{n:03}": 1 for n in range(500)}},
    }
    found = told(store, ("a:1", worker_data(counters=many), 0.0))
    assert len(found["gossamer_pages_total"]) == metrics.MOST_SCRAPERS + 1
    rest = sum(range(2_000 - metrics.MOST_SCRAPERS))
    assert found["gossamer_pages_total"][labels(worker="a:1", scraper="other")] == rest
    assert len(found["gossamer_outcomes_total"]) == metrics.MOST_REASONS + 1
    waits = found["gossamer_host_wait_seconds"]
    assert len(waits) == metrics.MOST_HOSTS
    assert min(waits.values()) == 30  # those that wait longest


@pytest.mark.parametrize(
    "data",
    [
        *("", "[]", "null", "{", '{"counters": {"pages": [1]}}'),
        '{"counters": 3, "runs": [], "latency": null, "waits": "x"}',
        '{"counters": {"pages": {"a\\n\\"b": "x"}, "outcomes": {"s": 1}}, "latency": {"buckets": [1, ["x", 2], [1]]}}',
    ],
)
def test_what_another_version_wrote_breaks_nothing(store: str, data: str) -> None:
    assert told(store, ("a:1", data, 0.0))["gossamer_worker_up"] == {labels(worker="a:1"): 1}


# -- the store ---------------------------------------------------------------------------------------------------


def test_what_the_store_knows_of_scrapers_and_runs(store: str) -> None:
    async def look(desk: Desk) -> bytes:
        async with desk.writing() as writing:
            await writing.run(
                "insert into scraper (name, runs, successes, failures, seconds, items, new_items, streak, breaker, "
                "last_ended, last_new) values ('shop', 10, 6, 3, 12.5, 400, 40, 2, 'open', 1700, 1600), "
                "('art', 0, 0, 0, 0, 0, 0, 0, 'closed', null, null)"
            )
            for state in ("pending", "running", "running", "finished"):
                await writing.run(
                    "insert into run (scraper, ref, signature, params, options, state, created) "
                    "values ('shop', '', '', '{}', '{}', :state, 0)",
                    state=state,
                )
        return await exposition(desk, ApiCounts())

    found = parsed(with_desk(store, look))
    shop = labels(scraper="shop")
    results = found["gossamer_scraper_runs_total"]
    assert [results[labels(scraper="shop", result=each)] for each in ("success", "failure", "other")] == [6, 3, 1]
    assert found["gossamer_scraper_failed_in_a_row"] == {shop: 2, labels(scraper="art"): 0}
    assert found["gossamer_scraper_breaker_open"] == {shop: 1, labels(scraper="art"): 0}
    assert found["gossamer_scraper_last_new_item_time_seconds"] == {shop: 1600}
    assert found["gossamer_scraper_run_items_total"][shop] == 400
    assert found["gossamer_runs"] == {labels(state="pending"): 1, labels(state="running"): 2}
    assert found["gossamer_disk_free_bytes"][labels()] > 0
    assert found["gossamer_store_bytes"][labels()] > 0
    assert found["gossamer_events_dropped_total"] == {labels(): 0}


# -- the API -----------------------------------------------------------------------------------------------------


def api() -> tuple[FastAPI, ApiCounts]:
    """A small API of the shapes ours has: routers, parameters, answers that go on, trouble."""
    app, counts, router = FastAPI(), ApiCounts(), APIRouter(prefix="/api/runs")

    @router.get("/{number}")
    async def run(number: int) -> int:
        return number

    @app.get("/broken")
    async def broken() -> None:
        raise ValueError("no")

    @app.get("/stream")
    async def stream() -> StreamingResponse:
        async def parts() -> Any:
            for _ in range(3):
                await asyncio.sleep(0.02)
                yield b"x"

        return StreamingResponse(parts())

    app.include_router(router)
    app.add_middleware(Watched, counts=counts)
    return app, counts


def ask(app: Any, *paths: str, method: str = "GET") -> None:
    async def do() -> None:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            for path in paths:
                await client.request(method, path)

    asyncio.run(do())


def test_answers_are_counted_by_route_and_not_by_path(store: str) -> None:
    app, counts = api()
    ask(app, *(f"/api/runs/{n}" for n in range(20)), "/api/runs/x", "/broken", "/stream")
    ask(app, *(f"/nowhere/{n}" for n in range(300)))
    ask(app, "/api/runs/1", method="BREW")
    found = told(store, api=counts)["gossamer_api_request_seconds_count"]
    by = {(dict(each)["method"], dict(each)["route"], dict(each)["status"]): n for each, n in found.items()}
    assert by.pop(("GET", "/api/runs/{number}", "2xx")) == 20
    assert by.pop(("GET", "/api/runs/{number}", "4xx")) == 1
    assert by.pop(("GET", "/broken", "5xx")) == 1
    assert by.pop(("GET", "/stream", "2xx")) == 1
    assert by.pop(("GET", "other", "4xx")) == 300
    assert [(method, status, n) for (method, _, status), n in by.items()] == [("other", "4xx", 1)]


def test_buckets_grow_and_end_with_all(store: str) -> None:
    counts = ApiCounts()
    for seconds in (0.001, 0.005, 0.3, 60.0):
        counts.note("GET", "/x", 200, seconds)
    found = told(store, api=counts)
    buckets = {dict(each)["le"]: n for each, n in found["gossamer_api_request_seconds_bucket"].items()}
    assert list(buckets.values()) == sorted(buckets.values())
    assert (buckets["0.005"], buckets["0.5"], buckets["10.0"], buckets["+Inf"]) == (2, 3, 3, 4)
    assert found["gossamer_api_request_seconds_sum"][labels(method="GET", route="/x", status="2xx")] == pytest.approx(
        60.306
    )


def test_routes_are_bounded() -> None:
    counts = ApiCounts()
    for n in range(1_000):
        counts.note("GET", f"/made/up/{n}", 200, 0.1)
    assert len(counts.answers) == metrics.MOST_ROUTES + 1


def test_what_is_not_http_passes_untouched() -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    asyncio.run(Watched(app, ApiCounts())({"type": "websocket"}, None, None))  # type: ignore[arg-type]
    assert seen == ["websocket"]


# -- health ------------------------------------------------------------------------------------------------------


def test_a_service_is_ready_with_a_store_a_worker_and_room(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def look(desk: Desk) -> list[metrics.Health]:
        found = [await health(desk)]
        await beat(desk, "a:1", "{}", 60.0)
        found.append(await health(desk))
        await beat(desk, "b:1", "{}", 1.0)
        found.append(await health(desk))
        monkeypatch.setattr(metrics, "LEAST_DISK", 1 << 62)
        found.append(await health(desk))
        return found

    never, dead, alive, full = with_desk(store, look)
    assert [each.ready for each in (never, dead, alive, full)] == [False, False, True, False]
    assert never.checks["worker"].told == "none was ever heard"
    assert dead.checks["worker"].told == "heard 60 s ago"
    assert all(check.ok for check in alive.checks.values())
    assert not full.checks["disk"].ok


def test_a_store_that_does_not_answer_is_not_ready(store: str) -> None:
    async def look() -> metrics.Health:
        async with opening.desk(store) as desk:
            pass
        return await health(desk)

    found = asyncio.run(look())
    assert (found.ready, found.checks["store"].ok) == (False, False)


# -- deploy ------------------------------------------------------------------------------------------------------

_NAME = re.compile(r"\bgossamer_[a-z_]+")


def queries(panels: Iterable[dict[str, Any]]) -> list[str]:
    found = []
    for panel in panels:
        found += [target["expr"] for target in panel.get("targets", ())]
        found += queries(panel.get("panels", ()))
    return found


def test_every_metric_that_the_grafana_dashboard_asks_for_is_there(store: str) -> None:
    async def fill(desk: Desk) -> None:
        async with desk.writing() as writing:
            await writing.run("insert into scraper (name, last_ended, last_new) values ('shop', 1, 1)")

    with_desk(store, fill)
    counts = ApiCounts()
    counts.note("GET", "/x", 200, 0.1)
    there = told(store, ("a:1", worker_data(), 0.0), api=counts)
    board = json.loads((DEPLOY / "grafana" / "gossamer.json").read_text("utf-8"))
    asked = queries(board["panels"])
    asked += [
        each["query"] if isinstance(each["query"], str) else each["query"]["query"]
        for each in board["templating"]["list"]
        if each["type"] == "query"
    ]
    names = {name for query in asked for name in _NAME.findall(query)}
    assert len(names) > 15
    assert names - set(there) == set()
    numbers = [panel["id"] for panel in board["panels"]]
    assert len(numbers) == len(set(numbers))
    assert all(panel["datasource"]["uid"] == "${datasource}" for panel in board["panels"] if panel["type"] != "row")


def test_every_metric_is_described_in_the_docs(store: str) -> None:
    there = {
        re.sub(r"_(bucket|sum|count|total)$", "", name)
        for name in told(store, ("a:1", worker_data(), 0.0), api=api()[1])
    }
    page = (ROOT / "docs" / "metrics.md").read_text("utf-8")
    described = {re.sub(r"_total$", "", name) for name in _NAME.findall(page)}
    assert there - described == set()


def test_the_example_for_prometheus_asks_our_door() -> None:
    yaml = pytest.importorskip("yaml")
    told = yaml.safe_load((DEPLOY / "prometheus.yml").read_text("utf-8"))
    job = told["scrape_configs"][0]
    assert (job["metrics_path"], job["static_configs"][0]["targets"]) == ("/metrics", ["127.0.0.1:8600"])
