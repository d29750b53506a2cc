"""What is told of a cluster: in lists, the API, metrics, the terminal and events."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gossamer import lists, metrics
from gossamer.errors import ConfigError
from gossamer.live import Live
from gossamer.storage import opening
from gossamer.storage.desk import Desk
from tests.cluster.staging import add_lease, add_requests, add_run, beat, on, stage
from tests.conftest import Cli
from tests.service.conftest import SCRAPERS, Served

# -- the snapshot ------------------------------------------------------------------------------------------------


def test_workers_leases_and_shards_at_a_glance(store: str) -> None:
    async def work(desk: Desk) -> None:
        await stage(desk)
        found = await lists.cluster(desk)
        assert found.shared is desk.dialect.shared
        assert abs(found.at - time.time()) < 60
        assert [(each.name, each.alive, each.leases) for each in found.workers] == [
            ("alpha:7:aaaa", True, 3),
            ("beta:7:bbbb", True, 1),
            ("gone:7:cccc", False, 0),
        ]
        alpha = found.workers[0]
        assert (alpha.host, alpha.pid, alpha.kind, alpha.version, alpha.pool) == (
            "alpha",
            7,
            "worker",
            "1.0",
            "threads",
        )
        assert (alpha.room, alpha.most, alpha.why, alpha.broker) == (
            *(4, 16, "all cores are used"),
            "redis://broker.example/0",
        )
        assert (alpha.cpu, alpha.memory, alpha.lag, alpha.rate, alpha.pages) == (1.5, 200_000_000, 0.02, 12.5, 400)
        assert (found.alive, found.leases, found.tickets, found.rate) == (2, 4, 1, 13.75)
        run, paused = found.runs
        assert (run.id, run.cluster, run.priority, run.workers, run.pages) == (1, True, 3, 4, 70)
        assert (run.waiting, run.more, run.conductor, run.tickets) == (35, False, "beta:7:bbbb", 1)
        # 10: whoever held it is gone; 12: what was parked is due.
        assert run.shards == lists.Shards(leased=4, ticketed=1, free=2, parked=1)
        assert [(each.worker, each.shards, each.rate, each.flying) for each in run.at_work] == [
            ("alpha:7:aaaa", 3, 2.5, 4),
            ("beta:7:bbbb", 1, 1.25, 2),
        ]
        assert run.rate == 3.75
        assert run.oldest_ticket is not None
        assert 50 < found.at - run.oldest_ticket < 120
        assert (paused.id, paused.standing, paused.tickets) == (2, "paused", 0)

    on(store, work)


def test_an_empty_store_has_nobody_and_nothing(store: str) -> None:
    async def work(desk: Desk) -> None:
        found = await lists.cluster(desk)
        assert (found.workers, found.runs, found.leases, found.tickets, found.oldest_ticket) == ([], [], 0, 0, None)
        assert (await lists.leases(desk)).rows == []
        assert (await lists.cluster_workers(desk)).rows == []

    on(store, work)


def test_what_waits_is_counted_up_to_a_bound(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.lists.of_cluster.MOST_WAITING", 5)

    async def work(desk: Desk) -> None:
        await add_run(desk, 1)
        await add_requests(desk, 1, 3, 4)
        assert [(run.waiting, run.more) for run in (await lists.cluster(desk)).runs] == [(4, False)]
        await add_requests(desk, 1, 4, 4)
        assert [(run.waiting, run.more) for run in (await lists.cluster(desk)).runs] == [(5, True)]

    on(store, work)


def test_runs_of_one_process_have_a_walker_and_no_shards(store: str) -> None:
    async def work(desk: Desk) -> None:
        await add_run(desk, 1, cluster=0, via="cli")
        await add_lease(desk, 1, -1, "alpha:7:f00d")
        await add_requests(desk, 1, 3, 4)
        await beat(desk, "alpha:7", kind="runner", room=None, most=None)
        run = (await lists.cluster(desk)).runs[0]
        assert (run.conductor, run.shards, run.waiting) == ("alpha:7:f00d", lists.Shards(), 4)
        assert [(each.worker, each.shards) for each in run.at_work] == [("alpha:7", 1)]

    on(store, work)


def test_a_shard_that_rests_waits_for_nobody(store: str) -> None:
    async def work(desk: Desk) -> None:
        await add_run(desk, 1)
        for shard in (1, 2):
            await add_requests(desk, 1, shard)
        await add_lease(desk, 1, 1, None, rest_until=time.time() + 600.0)
        assert (await lists.cluster(desk)).runs[0].shards == lists.Shards(free=1, parked=1)

    on(store, work)


def test_one_who_beats_rarely_lives_longer(store: str) -> None:
    async def work(desk: Desk) -> None:
        await beat(desk, "slow:1", 20.0, beat=10.0)
        await beat(desk, "quick:1", 20.0)
        found = await lists.cluster(desk)
        assert [(each.name, each.alive) for each in found.workers] == [("slow:1", True), ("quick:1", False)]
        live = Live(desk)
        await live.look()
        assert live.workers == ["slow:1"]

    on(store, work)


@pytest.mark.parametrize("data", ["", "[]", "null", "{", '{"runs": [], "room": "x", "cpu": null, "leases": 3}'])
def test_what_another_version_wrote_breaks_nothing(store: str, data: str) -> None:
    async def work(desk: Desk) -> None:
        await stage(desk)
        async with desk.writing() as writing:
            await writing.run("update worker set data = :data where name = 'alpha:7:aaaa'", data=data)
        found = await lists.cluster(desk)
        assert found.workers[0].room is None
        assert found.runs[0].at_work[-1].worker == "alpha:7:aaaa"  # it holds leases, whatever it says
        live = Live(desk)
        await live.look()

    on(store, work)


def test_no_password_of_a_broker_is_told(store: str) -> None:
    async def work(desk: Desk) -> None:
        await beat(desk, "alpha:7", broker="redis://ann:s3cr3t@broker.example/0")
        told = repr(await lists.cluster(desk)) + repr(await lists.cluster_workers(desk))
        assert "broker.example" in told
        assert "s3cr3t" not in told

    on(store, work)


# -- lists -------------------------------------------------------------------------------------------------------


def test_leases_in_pages(store: str) -> None:
    async def work(desk: Desk) -> None:
        await stage(desk)
        whole = (await lists.leases(desk, limit=100)).rows
        assert [(each.run, each.shard, each.state, each.crashes) for each in whole] == [
            *((1, -2, "leased", 0), (1, 5, "leased", 0), (1, 6, "leased", 0), (1, 7, "leased", 0)),
            *((1, 8, "leased", 1), (1, 9, "ticket", 0), (1, 10, "expired", 0)),
        ]
        assert all(0 < (each.ends_in or 0) <= 600 for each in whole if each.state == "leased")
        found, cursor = [], None
        while True:
            page = await lists.leases(desk, limit=2, cursor=cursor)
            found += [each.shard for each in page.rows]
            cursor = page.next
            if cursor is None:
                break
        assert found == [each.shard for each in whole]
        held = (await lists.leases(desk, worker="alpha:7:aaaa")).rows
        assert [each.shard for each in held] == [5, 6, 7]
        assert (await lists.leases(desk, run=2)).rows == []
        with pytest.raises(ConfigError, match="none of this list"):
            await lists.leases(desk, cursor="nonsense")

    on(store, work)


def test_workers_in_pages(store: str) -> None:
    async def work(desk: Desk) -> None:
        for n in range(5):
            await beat(desk, f"w{n}:1", 3_000.0 if n % 2 else -600.0)
        found, cursor = [], None
        while True:
            page = await lists.cluster_workers(desk, limit=2, cursor=cursor)
            found += [each.name for each in page.rows]
            cursor = page.next
            if cursor is None:
                break
        assert found == [f"w{n}:1" for n in range(5)]
        alive = (await lists.cluster_workers(desk, alive=True)).rows
        assert [each.name for each in alive] == ["w0:1", "w2:1", "w4:1"]

    on(store, work)


# -- live --------------------------------------------------------------------------------------------------------


def test_what_several_workers_say_of_one_run_is_added_up(store: str) -> None:
    async def work(desk: Desk) -> None:
        await stage(desk)
        hosts = [{"host": f"h{n}.example", "waiting": n, "flying": 0} for n in range(15)]
        said = {"waiting": 30, "parked": 1, "flying": 4, "rate": 2.5, "eta": 10.0, "slowest": "a.example"}
        await beat(desk, "alpha:7:aaaa", runs={"1": {**said, "hosts": hosts}})
        await beat(desk, "delta:7:dddd", runs={"1": {**said, "eta": None, "hosts": hosts}})
        live = Live(desk)
        await live.look()
        run = next(each for each in live.active if each.id == 1)
        assert (run.workers, run.waiting, run.parked, run.flying, run.rate) == (3, 72, 2, 10, 6.25)
        assert (run.eta, run.slowest) == (90.0, "b.example")  # it ends when the last of them does
        assert [host["waiting"] for host in run.hosts[:4]] == [14, 14, 13, 13]
        assert len(run.hosts) == 20

    on(store, work)


# -- doors -------------------------------------------------------------------------------------------------------


def test_metrics_of_a_cluster(store: str) -> None:
    async def work(desk: Desk) -> bytes:
        await stage(desk)
        return await metrics.exposition(desk, metrics.ApiCounts())

    told: dict[str, dict[str, float]] = {}
    for family in text_string_to_metric_families(on(store, work).decode()):
        for sample in family.samples:
            key = sample.labels.get("worker") or sample.labels.get("state") or sample.labels.get("kind", "")
            told.setdefault(sample.name, {})[key] = sample.value
    assert told["gossamer_workers"] == {"worker": 2, "runner": 0}
    assert told["gossamer_leases"] == {"": 4}
    assert told["gossamer_tickets_waiting"] == {"": 1}
    assert told["gossamer_oldest_ticket_seconds"][""] > 50
    assert told["gossamer_shards"] == {"leased": 4, "ticketed": 1, "free": 2, "parked": 1}
    assert told["gossamer_worker_leases"] == {"alpha:7:aaaa": 3, "beta:7:bbbb": 1}
    assert told["gossamer_worker_room"] == {"alpha:7:aaaa": 4, "beta:7:bbbb": 0}
    assert told["gossamer_worker_cpu"]["alpha:7:aaaa"] == 1.5
    assert told["gossamer_worker_lag_seconds"]["alpha:7:aaaa"] == 0.02
    assert told["gossamer_worker_memory_bytes"]["alpha:7:aaaa"] == 200_000_000
    assert told["gossamer_worker_pages_total"]["gone:7:cccc"] == 400
    assert told["gossamer_store_bytes"][""] > 0


@pytest.fixture
def served(store: str, tmp_path: Path) -> Iterator[Served]:
    """A service on a store of each kind."""
    (tmp_path / "shelf.py").write_text(SCRAPERS)
    made = Served(tmp_path, {"store": store})
    made.start()
    yield made
    made.stop()


def test_the_api_tells_all_of_it(served: Served) -> None:
    served.call(lambda service: stage(service.desk))
    with served.client("read") as api:
        told = api.get("/api/cluster").json()
        assert (told["alive"], told["leases"], told["tickets"]) == (2, 4, 1)
        assert told["shards"] == {"leased": 4, "ticketed": 1, "free": 2, "parked": 1}
        assert [run["id"] for run in told["runs"]] == [1, 2]
        workers = api.get("/api/cluster/workers", params={"alive": True, "limit": 1}).json()
        assert [each["name"] for each in workers["rows"]] == ["alpha:7:aaaa"]
        after = api.get("/api/cluster/workers", params={"alive": True, "cursor": workers["next"]}).json()
        assert [each["name"] for each in after["rows"]] == ["beta:7:bbbb"]
        leases = api.get("/api/cluster/leases", params={"run": 1, "limit": 3}).json()
        assert [each["shard"] for each in leases["rows"]] == [-2, 5, 6]
        after = api.get("/api/cluster/leases", params={"run": 1, "cursor": leases["next"]}).json()
        assert [each["shard"] for each in after["rows"]] == [7, 8, 9, 10]
        for path in ("/api/cluster?x=1", "/api/cluster/leases?run=0", "/api/cluster/leases?cursor=x"):
            answer = api.get(path)
            assert (answer.status_code, list(answer.json())[:1]) == (400, ["error"]), path
    with served.client(None) as nobody:
        assert nobody.get("/api/cluster").status_code == 401


def test_the_terminal_tells_it_in_tables_and_as_json(store: str, gossamer: Cli) -> None:
    none = gossamer("cluster", "status", "--store", _made(store))
    assert (none.returncode, "no worker was heard of" in none.stdout) == (1, True)
    assert ("one process walks this store" in none.stdout) == (not opening.is_postgres(store))
    on(store, stage)
    shown = gossamer("cluster", "status", "--store", store)
    assert shown.returncode == 0, shown.stderr
    assert "2 workers, 4 leases" in shown.stdout
    for word in (
        "alpha:7",
        "4 of 16",
        "150 %",
        "all cores are used",
        "4 leased, 1 ticketed, 2 free, 1 parked",
        "paused",
    ):
        assert word in shown.stdout
    assert "aaaa" not in shown.stdout
    told = json.loads(gossamer("cluster", "status", "--json", "--store", store).stdout)
    assert (told["alive"], [run["id"] for run in told["runs"]]) == (2, [1, 2])


def _made(store: str) -> str:
    """The store, which exists from now on."""
    on(store, lists.cluster)
    return store


# -- cost --------------------------------------------------------------------------------------------------------

#: What takes time in a plan of PostgreSQL: a table that is read from one end to the other, or sorted as a whole.
_COSTLY = ("Seq Scan", "Sort ")


def test_every_look_at_a_large_frontier_is_answered_by_an_index(store: str) -> None:
    """On PostgreSQL, with statistics that say how large it is: no statement reads or sorts a table."""
    if not opening.is_postgres(store):
        pytest.skip("the plans of SQLite say nothing about those of PostgreSQL")
    asyncio.run(_plans(store))


async def _plans(store: str) -> None:
    import asyncpg

    from gossamer.lists import of_cluster, of_runs

    db = await asyncpg.connect(store)
    try:
        await db.execute(
            "insert into run (scraper, ref, signature, params, options, reading, state, created) "
            "select 'shop', '', '', '{}', '{}', '{}', case when n % 9 = 0 then 'running' else 'stopped' end, 0 "
            "from generate_series(1, 9000) as n"
        )
        await db.execute(
            "insert into lease (run_id, shard, owner, token, until) "
            "select 1 + n / 1000, n % 1000, case when n < 50 then 'alpha:7' end, 1, 0 "
            "from generate_series(1, 30000) as n"
        )
        await db.execute(
            "insert into request (run_id, digest, url, host, shard, handler, depth, priority, hops, state, not_before) "
            "select 1 + n % 2, n::text, 'https://x.example/', 'h' || n % 500, n % 1024, '', 0, 0, 0, "
            "case when n % 3 = 0 then 0 else 1 end, case when n % 30 = 0 then 1e10 else 0 end "
            "from generate_series(1, 60000) as n"
        )
        await db.execute("analyze")
        waiting = of_runs._WAITING.format(shard="shard,")
        asked = [
            *(of_cluster._READY, of_cluster._PARKED, of_cluster._COUNT_SHARED, of_cluster._LEASES),
            *(of_cluster._ACTIVE, of_cluster._PAUSED, of_cluster._OWNERS, waiting),
        ]
        for statement in asked:
            text = statement
            for name, value in ((":run", "1"), (":now", "1"), (":n", "100"), (":most", "500"), (":state", "'running'")):
                text = text.replace(name, value)
            plan = "\n".join(row[0] for row in await db.fetch(f"explain {text}"))
            assert not any(word in plan for word in _COSTLY), f"{statement}\n{plan}"
    finally:
        await db.close()
