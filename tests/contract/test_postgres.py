"""What only a PostgreSQL store promises: many who write at the same time, servers that go away, plans that scale."""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
import time
import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import asyncpg
import pytest

from gossamer import owners, urls
from gossamer.errors import LeaseLost, StoreBusy, StoreError, StoreTooNew
from gossamer.storage import postgres_pool
from gossamer.storage.migrations.upgrade import upgrade_postgres
from gossamer.storage.postgres import PostgresStore
from gossamer.storage.store import MANY, Batch, Draft, SourceNote
from gossamer.values import Ending, Fetch, Item, Lease, Notice, Outcome, Request, Visit
from tests import databases
from tests.cluster.kills.wire import Wire
from tests.contract.steps import A, begin, done, draft, later, played, ready, settle


@pytest.fixture
def url() -> str:
    return databases.postgres_url()


@pytest.fixture
def failures(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    """Every error after which something was begun again, or given up."""
    met: list[Exception] = []
    wait = postgres_pool._Patience.wait

    async def noted(self: Any, error: Exception) -> None:
        met.append(error)
        await wait(self, error)

    monkeypatch.setattr(postgres_pool._Patience, "wait", noted)
    return met


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[asyncpg.Connection[Any]]:
    db = await asyncpg.connect(url)
    try:
        yield db
    finally:
        await db.close()


async def deadlocks(url: str) -> int:
    """How many the server broke in this database, by those who have left it."""
    async with connected(url) as db:
        found: int = await db.fetchval("select deadlocks from pg_stat_database where datname = current_database()")
        return found


async def shared(store: PostgresStore, *hosts: str, scraper: str = "quotes") -> list[Lease]:
    """A run with one start page on each host, and a lease on the shard of each."""
    run = await store.new_run(draft(scraper))
    lease = await store.acquire(run.id, "me", 60.0)
    await store.add(lease, [Request(f"https://{host}/", depth=5) for host in hosts], last=True)
    await store.release(lease)
    made = []
    async with connected(store.url) as db:
        for host in hosts:
            await db.execute(
                "insert into lease (run_id, shard, owner, token, until) values ($1, $2, 'me', 1, 9e9)",
                run.id,
                urls.shard(host),
            )
            made.append(Lease(run.id, "me", 1, 9e9, urls.shard(host), 60.0))
    return made


async def first(store: PostgresStore, lease: Lease, host: str) -> Request:
    return (await store.peek(lease.run, host, 1, (), shard=lease.shard))[0]


def apart(n: int) -> list[str]:
    """Hosts in as many shards."""
    found: dict[int, str] = {}
    for number in range(10_000):
        host = f"h{number}.example"
        found.setdefault(urls.shard(host), host)
        if len(found) == n:
            break
    return list(found.values())


# -- those who write at the same time --------------------------------------------------------------------------


class Slow(PostgresStore):
    """A store whose settles wait in the middle."""

    #: For another that has inserted what it found, too.
    both: asyncio.Barrier | None = None
    #: When all is written but the counters: said, and waited for.
    closed: asyncio.Event | None = None
    go_on: asyncio.Event | None = None

    async def _insert(self, *args: Any) -> Any:
        made = await super()._insert(*args)
        if self.both is not None:
            await asyncio.wait_for(self.both.wait(), 5.0)
        return made

    async def _count(self, *args: Any) -> Any:
        if self.closed is not None and self.go_on is not None:
            self.closed.set()
            await self.go_on.wait()
        return await super()._count(*args)


@played
async def test_two_who_find_each_others_pages_while_they_close_their_own_end_both(
    url: str, failures: list[Exception]
) -> None:
    async with Slow(url) as one, PostgresStore(url) as other:
        here, there = apart(2)
        a, b = await shared(one, here, there)
        one.closed, one.go_on = closed, waits = asyncio.Event(), asyncio.Event()
        mine, theirs = await first(one, a, here), await first(other, b, there)
        settling = asyncio.ensure_future(settle(one, a, done(mine, theirs.url, f"{mine.url}x")))
        await closed.wait()  # its own row is closed, and not committed
        crossing = asyncio.ensure_future(settle(other, b, done(theirs, mine.url, f"{mine.url}x")))
        async with connected(url) as db:
            await _until_somebody_waits(db)
        waits.set()
        assert (await settling).fresh == {here: 1}
        assert (await crossing).fresh == {}
        run = await one.run(a.run)
        assert run is not None
        assert run.pages == 2
    assert failures == []
    assert await deadlocks(url) == 0


@pytest.mark.parametrize("claiming", [False, True])
@played
async def test_redirects_that_cross_lift_each_others_pages(url: str, failures: list[Exception], claiming: bool) -> None:
    here, there = apart(2)
    async with Slow(url) as store:
        for _ in range(5):
            a, b = await shared(store, here, there)
            mine, theirs = await first(store, a, here), await first(store, b, there)
            claims = [mine.id, theirs.id] if claiming else []
            store.both = asyncio.Barrier(2)
            await asyncio.gather(
                settle(store, a, done(mine, Request(theirs.url, depth=1, hops=1)), claims=claims),
                settle(store, b, done(theirs, Request(mine.url, depth=1, hops=1)), claims=claims[::-1]),
            )
            store.both = None
            assert (await store.pending(a.run)).waiting == 0
    assert failures == []
    assert await deadlocks(url) == 0


@played
async def test_eight_who_write_at_the_same_time_never_wait_in_a_circle(url: str, failures: list[Exception]) -> None:
    hosts = apart(8)
    until = time.monotonic() + 3.0
    walked = []

    async def walk(store: PostgresStore, lease: Lease, host: str, seed: int) -> None:
        dice = random.Random(seed)
        n = 0
        while time.monotonic() < until:
            requests = await store.peek(lease.run, host, 8, (), shard=lease.shard)
            outcomes = []
            for request in requests:
                n += 1
                links = [
                    Request(
                        f"https://{dice.choice(hosts)}/{dice.randrange(4000)}",
                        depth=dice.randrange(4),
                        hops=dice.random() < 0.2,
                    )
                    for _ in range(10)
                ]
                item = Item("item", str(dice.randrange(500)), json.dumps({"n": dice.randrange(3)}))
                outcomes.append(done(request, *links, f"https://{host}/own{seed}x{n}", items=(item,)))
            notes = [SourceNote(name, 1.0, 2.0) for name in dice.sample(hosts, 3)]
            claims = [r.id for r in await store.peek(lease.run, host, 20, (), shard=lease.shard)]
            await settle(store, lease, *outcomes, sources=notes, claims=claims)
            walked.append(len(outcomes))

    async with AsyncExitStack() as stack:
        stores = [await stack.enter_async_context(PostgresStore(url, most=2)) for _ in range(8)]
        leases = await shared(stores[0], *hosts)
        await asyncio.gather(*(walk(*each, n) for n, each in enumerate(zip(stores, leases, hosts, strict=True))))
        run = await stores[0].run(leases[0].run)
        assert run is not None
        assert run.pages == run.by_reason["ok"] == sum(walked) > 0
    assert failures == []
    assert await deadlocks(url) == 0


@played
async def test_what_is_told_after_a_settle_is_all_that_the_run_has_by_then(url: str) -> None:
    async with PostgresStore(url) as store:
        here, there = apart(2)
        a, b = await shared(store, here, there)
        item = Item("item", "k", "{}")
        one = await settle(store, a, done(await first(store, a, here), items=(item,)))
        two = await settle(store, b, done(await first(store, b, there)))
        assert [(one.pages, one.total), (two.pages, two.total)] == [(1, 1), (2, 1)]


# -- servers that go away --------------------------------------------------------------------------------------


@played
async def test_a_settle_survives_the_end_of_its_connection_and_happens_once(
    url: str, failures: list[Exception]
) -> None:
    async with PostgresStore(url) as store, connected(databases.postgres().url()) as server:
        lease = await begin(store, *(f"{A}{n}" for n in range(60)))
        database = url.rpartition("/")[2]

        async def kill() -> None:
            for _ in range(12):
                await asyncio.sleep(random.uniform(0.0, 0.1))
                await server.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", database
                )

        killing = asyncio.ensure_future(kill())
        for request in await ready(store, lease):
            await settle(store, lease, done(request, f"{request.url}/next", items=(Item("i", request.url, "{}"),)))
        await killing
        run = await store.run(lease.run)
        assert run is not None
        assert (run.pages, run.items) == (60, 60)
        assert (await store.pending(lease.run)).waiting == 60
        assert failures


@played
async def test_one_who_is_cut_off_in_line_does_not_hold_others_up_for_long(url: str) -> None:
    """The server does not hear of it: whoever was in line there comes to his turn, and then keeps it."""
    port = databases.postgres().port
    hosts = apart(7)
    with Wire(port) as wire:
        gone, there = PostgresStore(url.replace(f":{port}/", f":{wire.port}/")), PostgresStore(url)
        async with there:
            await gone.__aenter__()
            leases = await shared(there, *hosts)
            requests = [await first(there, lease, host) for lease, host in zip(leases, hosts, strict=True)]
            groups = [done(request, items=(Item("item", request.url, "{}"),)) for request in requests]
            async with connected(url) as db:
                await db.execute("select pg_advisory_lock(7360, 0)")
                waiting = [
                    asyncio.ensure_future(settle(gone, *each)) for each in zip(leases[1:], groups[1:], strict=True)
                ]
                await _until_somebody_waits(db)
                await asyncio.sleep(0.5)
                wire.cut()
            began = time.monotonic()
            await settle(there, leases[0], groups[0])
            assert time.monotonic() - began < 15
            assert gone._pool is not None
            gone._pool.terminate()
            for task in [*waiting, *gone._doing]:
                task.cancel()
            await asyncio.gather(*waiting, *gone._doing, return_exceptions=True)


async def _until_somebody_waits(db: asyncpg.Connection[Any]) -> None:
    while not await db.fetchval("select exists (select 1 from pg_locks where not granted)"):  # noqa: ASYNC110
        await asyncio.sleep(0.01)


@played
async def test_a_commit_that_was_not_heard_of_is_not_done_again(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection ends after the server has committed, and before we are told."""
    execute = asyncpg.Connection.execute
    lost = 0

    async def cut(self: Any, query: str, *args: Any, **more: Any) -> str:
        nonlocal lost
        told = await execute(self, query, *args, **more)
        if query == "commit" and not lost:
            lost += 1
            self.terminate()
            raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")
        return told

    async with PostgresStore(url) as store:
        lease = await begin(store, A)
        request = (await ready(store, lease))[0]
        monkeypatch.setattr(asyncpg.Connection, "execute", cut)
        assert (await settle(store, lease, done(request, f"{A}next"))).fresh == {"a.example": 1}
        assert lost == 1
        run = await store.run(lease.run)
        assert run is not None
        assert run.pages == 1


@played
async def test_a_restart_of_the_server_is_waited_for() -> None:
    server = databases.Postgres()
    with server:
        server.sql("alter database postgres set synchronous_commit = on")  # as everywhere but in tests
        async with PostgresStore(server.url()) as store:
            lease = await begin(store, A)
            request = (await ready(store, lease))[0]
            restarting = asyncio.ensure_future(asyncio.to_thread(server.restart))
            while not restarting.done():
                assert await store.run(lease.run) is not None
                await asyncio.sleep(0.01)
            await restarting
            await settle(store, lease, done(request))


@played
async def test_what_is_no_trouble_of_the_moment_is_said_at_once(url: str, failures: list[Exception]) -> None:
    async with PostgresStore(url) as store, connected(url) as db:
        await db.execute("drop table mark")
        with pytest.raises(StoreError, match=r"^the store postgresql://.* failed: ") as told:
            await store.mark(A)
        assert "\n" not in str(told.value)
    assert len(failures) == 1
    with pytest.raises(StoreError, match="is closed"):
        await store.run(1)
    with pytest.raises(StoreError, match="is closed"):
        await store.new_run(draft())


@played
async def test_a_write_that_nobody_waits_for_any_more_happens_all_the_same(url: str) -> None:
    async with PostgresStore(url) as store:
        lease = await begin(store, A)
        settling = asyncio.ensure_future(settle(store, lease, done((await ready(store, lease))[0])))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        settling.cancel()
        with suppress(asyncio.CancelledError):
            await settling
    async with PostgresStore(url) as store:
        run = await store.run(lease.run)
        assert run is not None
        assert run.pages == 1


# -- opening ---------------------------------------------------------------------------------------------------


def _with_password(url: str, **changes: str) -> str:
    place = url.partition("@")[2]
    user, password = changes.get("user", databases.ROLE), changes.get("password", databases.QUOTED)
    return f"postgresql://{user}:{password}@{changes.get('place', place)}"


def _told(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + repr(error)


@played
async def test_no_password_is_ever_told(url: str) -> None:
    port = databases.free_port()
    secret = "geheim%2Fwort"
    wrong = {
        "does not let us in": _with_password(url, password=secret),
        "no such database": _with_password(url, place=url.partition("@")[2].rpartition("/")[0] + "/nowhere"),
        "no PostgreSQL answers": _with_password(url, password=secret, place=f"127.0.0.1:{port}/x"),
        "is no URL of a database": _with_password(url, password=secret, place="127.0.0.1:port/x"),
    }
    for sentence, given in wrong.items():
        with pytest.raises(StoreError, match=sentence) as told:
            async with PostgresStore(given):
                pass
        for password in ("geheim", "s3cret", databases.PASSWORD, databases.QUOTED):
            assert password not in _told(told.value)
        assert ":***@" in str(told.value)
        assert len(str(told.value).splitlines()) == 1


@played
async def test_a_store_that_fails_later_tells_no_password_either(url: str) -> None:
    name = url.rpartition("/")[2]
    databases.postgres().sql(f"grant all on all tables in schema public to {databases.ROLE}", name)
    async with PostgresStore(_with_password(url)) as store:
        assert databases.PASSWORD not in store.shown
        with pytest.raises(StoreError, match="give its user the right") as told:
            await store.new_run(draft())  # it may not draw from the sequence
        assert "s3cret" not in _told(told.value)


@played
async def test_an_empty_database_gets_its_tables_from_whoever_comes_first() -> None:
    url = databases.postgres_url(empty=True)
    with pytest.raises(StoreError, match="no tables yet"):
        async with PostgresStore(url, owner=False):
            pass

    async def come() -> None:
        async with PostgresStore(url) as store:
            await store.new_run(draft())

    await asyncio.gather(*(come() for _ in range(3)))
    async with PostgresStore(url, owner=False) as store:
        assert len(await store.runs()) == 3
        with pytest.raises(StoreError, match="can only be read"):
            await store.new_run(draft())


@played
async def test_a_database_that_has_no_room_for_all_letters_is_refused() -> None:
    server = databases.postgres()
    server.sql("create database latin template template0 encoding 'LATIN1' locale 'C'")
    try:
        for ask in (PostgresStore(server.url("latin")).__aenter__, lambda: upgrade_postgres(server.url("latin"))):
            with pytest.raises(StoreError, match=r"keeps text as LATIN1.*createdb -E UTF8"):
                await ask()
    finally:
        server.sql("drop database latin")


@played
async def test_a_process_has_no_more_connections_than_it_may(url: str) -> None:
    async with PostgresStore(url, most=3) as store, connected(url) as db:
        run = await store.new_run(draft())
        wants = [asyncio.create_task(store.run(run.id)) for _ in range(200)]
        wants += [asyncio.create_task(store.remember([SourceNote(f"h{n}.example", 1.0, 2.0)])) for n in range(50)]
        await asyncio.gather(*wants)
        assert 1 <= await db.fetchval(MINE) <= 3


@played
async def test_another_form_is_refused(url: str) -> None:
    async with connected(url) as db:
        await db.execute("update alembic_version set version_num = '0004'")
        with pytest.raises(StoreError, match="gossamer db upgrade"):
            await PostgresStore(url).__aenter__()
        await db.execute("update alembic_version set version_num = '9999'")
        with pytest.raises(StoreTooNew):
            await PostgresStore(url).__aenter__()


# -- leases of whole runs --------------------------------------------------------------------------------------


@played
async def test_one_process_walks_a_store_by_itself(url: str) -> None:
    async with PostgresStore(url) as one, PostgresStore(url) as other:
        lease = await begin(one, A, owner="elsewhere:7:somewhere:1:abcd")
        mine, another = await other.new_run(draft()), await other.new_run(draft())
        with pytest.raises(StoreBusy, match=f"^run {mine.id} .*elsewhere:7 is at work.* s more"):
            await other.acquire(mine.id, owners.me(), 60.0)
        with pytest.raises(StoreBusy, match="elsewhere:7"):
            await other.acquire(lease.run, owners.me(), 60.0)
        assert await other.walked(lease.run) == "elsewhere:7"
        await one.release(lease)
        assert await other.walked(lease.run) is None
        await other.acquire(mine.id, owners.me(), 60.0)
        await other.acquire(another.id, owners.me(), 60.0)  # another name of the same process
        with pytest.raises(StoreBusy, match="in this process"):
            await other.acquire(another.id, owners.me(), 60.0)


@played
async def test_what_a_dead_process_of_this_machine_held_is_free_at_once(url: str) -> None:
    code = "from gossamer import owners; print(owners.me())"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    dead = (await process.communicate())[0].decode().strip()
    async with PostgresStore(url) as store:
        lease = await begin(store, A, owner=dead)
        store._alive.clear()
        assert await store.walked(lease.run) is None
        assert (await store.acquire(lease.run, owners.me(), 60.0)).token > lease.token
        with pytest.raises(LeaseLost):
            await settle(store, lease)


@played
async def test_a_lease_is_renewed_by_its_own_length_and_never_shortened(url: str) -> None:
    async with PostgresStore(url) as store, connected(url) as db:
        run = await store.new_run(draft())
        lease = await store.acquire(run.id, "me", 100.0)
        until = "select until - extract(epoch from clock_timestamp()) from lease"
        await db.execute("update lease set until = 0")
        await store.settle(lease, Batch())
        assert 90 < await db.fetchval(until) <= 100
        await db.execute("update lease set until = until + 1000")
        await store.settle(lease, Batch())
        assert await db.fetchval(until) > 1000


# -- shards ----------------------------------------------------------------------------------------------------


@played
async def test_a_shard_is_a_part_of_a_run(url: str) -> None:
    async with PostgresStore(url) as store:
        here, there = apart(2)
        a, b = await shared(store, here, there)
        found = [f"https://{here}/{n}" for n in range(1200)] + [f"https://{there}/{n}" for n in range(3)]
        await settle(store, a, later(await first(store, a, here), 5.0))
        await settle(store, b, done(await first(store, b, there), *found))
        assert await store.hosts(a.run) == {here: 1200, there: 3}
        assert await store.hosts(a.run, a.shard) == {here: MANY}
        assert await store.hosts(a.run, b.shard) == {there: 3}
        assert await store.peek(a.run, here, 5, (), shard=b.shard) == []
        assert len(await store.peek(a.run, here, 5, (), shard=a.shard)) == 5
        assert (await store.level(a.run, here, a.shard), await store.level(a.run, here, b.shard)) == (5, None)
        pending = await store.pending(a.run, a.shard)
        assert (pending.waiting, pending.parked, pending.due) == (1201, 1, 5.0)
        assert (await store.pending(a.run, b.shard)).waiting == 3
        assert await store.wake(a.run, 9.0, b.shard) == ({}, None)
        assert await store.wake(a.run, 4.0, a.shard) == ({}, 5.0)
        assert await store.wake(a.run, 9.0, a.shard) == ({here: 1}, None)


@played
async def test_one_huge_host_can_be_spread_over_shards(url: str) -> None:
    async with PostgresStore(url) as store, connected(url) as db:
        run = await store.new_run(Draft("quotes", "quotes.py:Quotes", "same", {}, {"spread": 4}))
        lease = await store.acquire(run.id, "me", 60.0)
        await store.add(lease, [Request(f"{A}{n}", priority=n % 3) for n in range(200)], last=True)
        base = urls.shard("a.example")
        found = await db.fetch("select distinct shard from request")
        assert {row[0] for row in found} == {(base + n) % urls.SHARDS for n in range(4)}
        best = await ready(store, lease)
        assert [(r.priority, r.id) for r in best] == sorted(
            ((r.priority, r.id) for r in best), key=lambda x: (-x[0], x[1])
        )
        assert len(best) == 200
        await settle(store, lease, done(best[0], *(f"{A}more{n}" for n in range(50))))
        assert await store.hosts(run.id) == {"a.example": 249}
        parts = [await store.hosts(run.id, (base + n) % urls.SHARDS) for n in range(4)]
        assert sum(part["a.example"] for part in parts) == 249


# -- plans -----------------------------------------------------------------------------------------------------

ROWS = 50_000
#: Blocks that one statement may read; a table of so many rows has more than a thousand.
BLOCKS = 600
#: How many connections a store has to this database.
MINE = "select count(*) from pg_stat_activity where application_name = 'gossamer' and datname = current_database()"
#: What is asked once, or when all is idle, or is no query.
SELDOM = re.compile(
    r"^\s*(begin|commit|rollback|set |explain|insert into run |with recursive|select min)|pg_|alembic", re.I
)
#: Tables with many rows.
FILL = f"""
insert into run (id, scraper, ref, signature, params, options, state, created)
select 1000000 + n, 's' || n, 'r', 'g' || n, '{{}}', '{{}}', 'finished', n from generate_series(1, {ROWS}) as n;
insert into request
    (run_id, digest, url, host, shard, handler, depth, priority, hops, state, not_before, token, started)
select 1, md5(n::text), 'https://h' || n % 500 || '.example/' || n, 'h' || n % 500 || '.example', n % 500,
    'parse', n % 20, n % 3, 0, case when n % 4 = 0 then 1 else 0 end, case when n % 5 = 0 then 2e9 else 0 end,
    case when n % 100 = 0 then 1 end, n from generate_series(1, {ROWS}) as n;
insert into item (scraper, kind, key, data, url, first_seen, last_seen, last_changed, seq)
select 'quotes', 'item', 'x' || n, '{{}}', 'u', n, n, n, n from generate_series(1, {ROWS}) as n;
insert into sighting (run_id, item_id, request_id) select 1000000, n, n from generate_series(1, {ROWS}) as n;
insert into change (item_id, run_id, at, what, before)
select n, 1, n, 'changed', '{{}}' from generate_series(1, {ROWS}) as n;
insert into staged (run_id, kind, key, data, url, request_id, seen)
select 1000000, 'item', 'x' || n, '{{}}', 'u', n, n from generate_series(1, {ROWS}) as n;
insert into reject (run_id, request_id, kind, data, step, reason, at)
select 1000000, n, 'item', '{{}}', 'model', 'no', n from generate_series(1, {ROWS}) as n;
insert into "fetch" (run_id, request_id, url, host, started, elapsed, status, size, reason)
select 1000000, n, 'u', 'h', n, 1, 200, 1, 'ok' from generate_series(1, {ROWS}) as n;
insert into source (host, last_hit, ready_at) select 'h' || n || '.example', n, n from generate_series(1, {ROWS}) as n;
insert into visit (scraper, digest, fetched, checked, sha256, gave)
select 'quotes', md5(n::text), n, n, '', '' from generate_series(1, {ROWS}) as n;
insert into robots (origin, fetched, checked, status, body)
select 'https://h' || n || '.example', n, n, 200, '' from generate_series(1, {ROWS}) as n;
insert into notice (host, at, kind, seconds, detail)
select 'h', n, 'slowed', 1, '' from generate_series(1, {ROWS}) as n;
insert into run_reason (run_id, reason, n) select 1000000 + n, 'ok', 1 from generate_series(1, {ROWS}) as n;
insert into tick (minute, scraper) select n, 'quotes' from generate_series(1, {ROWS}) as n;
insert into cause (hour, scraper, reason) select n, 'quotes', 'timeout' from generate_series(1, {ROWS}) as n;
insert into start (run_id, at, limits) select 1000000 + n, n, '{{}}' from generate_series(1, {ROWS}) as n;
insert into mark (digest, url, at) select md5(n::text), 'u', n from generate_series(1, {ROWS}) as n;
insert into lease (run_id, shard, token, until)
select 1000001 + n / 1000, n % 1000, 1, 0 from generate_series(0, {ROWS - 1}) as n;
"""


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[Any, ...]]:
    """Every statement that went to the server, with its values."""
    heard: dict[str, tuple[Any, ...]] = {}
    for name in ("execute", "fetch", "fetchrow", "fetchval"):

        def hear(method: Any) -> Any:
            async def heard_of(self: Any, query: str, *args: Any, **more: Any) -> Any:
                heard.setdefault(query, args)
                return await method(self, query, *args, **more)

            return heard_of

        monkeypatch.setattr(asyncpg.Connection, name, hear(getattr(asyncpg.Connection, name)))
    return heard


async def _walk(store: PostgresStore, a: Lease, b: Lease, here: str, there: str) -> None:
    """All that a walk asks of a store again and again."""
    one = await first(store, a, here)
    for _ in range(2):  # planned for any value, and for these
        await settle(store, a, claims=[one.id], fetches=[Fetch(A, here, 1.0, 0.1, 200, 1, "ok", one.id)])
    visit = Visit(one.fingerprint, 1.0, 1.0, None, None, "x", (Request(A),), (("item", "k"),))
    items = (Item("item", "k", "{}"), Item("item", "x5", '{"new": 1}'))
    found = (f"https://{here}/a", Request(f"https://{there}/", depth=1, hops=1))
    await settle(
        store,
        a,
        done(one, *found, items=items, visit=visit),
        sources=[SourceNote(here, 1.0, 2.0)],
        notices=[Notice(here, 1.0, "slowed", 2.0)],
        seconds=1.0,
    )
    two = await first(store, b, there)
    await settle(store, b, Outcome(two, Ending.FAILED, "timeout", seen=(("item", "k"),), started=1.0))
    await settle(store, a, later(await first(store, a, here), 5.0))
    await store.hosts(a.run, a.shard)
    await store.level(a.run, here, a.shard)
    await store.pending(a.run, a.shard)
    await store.wake(a.run, 9.0, a.shard)
    await store.wake(a.run, 9.0)
    await store.roots(a.run, by_host=True)
    for each in (True, False):
        await store.roots(a.run, by_host=each, hosts=[here, there])
    await store.given_hosts(a.run)
    await store.run(a.run)
    await store.unfinished("same")
    await store.walked(a.run)
    await store.remember([SourceNote(here, 1.0, 2.0)])
    await store.source(here)
    await store.robots(A)
    await store.visits("quotes", [one.fingerprint])
    await store.mark(A)
    await store.renew([a, b], 30.0)
    await store.reconcile(10.0)
    await store.wanting([a.shard], [a.run])
    await store.standing(a.run)
    await store.wishes([a.run])
    await store.orphaned()


def _scans(plan: dict[str, Any]) -> Iterator[str]:
    """The tables that a plan reads from end to end."""
    if plan["Node Type"] == "Seq Scan":
        yield plan["Relation Name"]
    for part in plan.get("Plans", ()):
        yield from _scans(part)


async def _explained(db: asyncpg.Connection[Any], text: str, *args: Any) -> tuple[set[str], int]:
    """What a statement reads from end to end, and how many blocks it reads. It is taken back."""
    doing = db.transaction()
    await doing.start()
    try:
        told = await db.fetchval(f"explain (analyze, buffers, format json) {text}", *args)
    finally:
        await doing.rollback()
    plan = json.loads(told)[0]["Plan"]
    return set(_scans(plan)), plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


@pytest.mark.parametrize("fresh", [False, True], ids=["analyzed", "never analyzed"])
@played
async def test_nothing_that_a_walk_asks_reads_a_table_from_end_to_end(
    url: str, said: dict[str, tuple[Any, ...]], fresh: bool
) -> None:
    """With statistics; and without, as in the first minute of a store, where the planner is held to indexes."""
    here, there = apart(2)
    async with PostgresStore(url) as store, connected(url) as db:
        await db.execute("alter table request set (autovacuum_enabled = off)")
        a, b = await shared(store, here, there)
        assert a.run == 1  # which has all the rows
        await db.execute(FILL)
        await db.execute(
            "set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off" if fresh else "analyze"
        )
        said.clear()
        await _walk(store, a, b, here, there)
        asked = {text: args for text, args in said.items() if not SELDOM.search(text)}
        assert len(asked) > 30
        assert (await _explained(db, "select 1 from request where url = 'x'"))[0] == {"request"}
        found = {text: await _explained(db, text, *args) for text, args in asked.items()}
    assert {text: scans for text, (scans, _) in found.items() if scans and not fresh} == {}
    assert {text: blocks for text, (_, blocks) in found.items() if blocks > BLOCKS} == {}
