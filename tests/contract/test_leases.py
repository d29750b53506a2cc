"""Who walks what, where several processes share a store: leases of shards, tickets, and what became of their owners."""

from __future__ import annotations

import asyncio

import pytest

from gossamer import urls
from gossamer.errors import LeaseLost, StoreBusy
from gossamer.storage.postgres import PostgresStore
from gossamer.storage.store import MANY, Batch
from gossamer.values import CONDUCTOR, Lease, Request, RunState
from tests.contract.steps import done, draft, played, ready, settle
from tests.contract.test_postgres import apart
from tests.databases import postgres_url

TTL = 30.0


@pytest.fixture
def url() -> str:
    return postgres_url()


async def offered(store: PostgresStore, *hosts: str, workers: int | None = None, scraper: str = "quotes") -> int:
    """A run that workers are to walk, begun and seeded."""
    run = await store.new_run(draft(scraper))
    await store.offer(run.id, {}, workers)
    taken = await store.take(run.id, CONDUCTOR, "conductor", TTL)
    assert taken is not None
    await store.begin(taken.lease, {"rate": 0.0})
    await store.add(taken.lease, [Request(f"https://{host}/") for host in hosts], last=True)
    return run.id


async def expire(store: PostgresStore, lease: Lease) -> None:
    """Its owner was not heard of for too long."""
    await store._write(
        lambda db: db.execute("update lease set until = 1 where run_id = $1 and shard = $2", lease.run, lease.shard)
    )


@played
async def test_a_shard_belongs_to_one_process_over_all_runs(url: str) -> None:
    (host,) = apart(1)
    shard = urls.shard(host)
    async with PostgresStore(url) as store:
        one, other = await offered(store, host), await offered(store, host, scraper="others")
        first = await store.take(one, shard, "a", TTL)
        assert first is not None
        assert (first.crashes, first.suspects, first.poison) == (0, frozenset(), frozenset())
        assert await store.take(one, shard, "b", TTL) is None
        assert await store.take(other, shard, "b", TTL) is None
        assert await store.take(other, shard, "a", TTL) is not None
        assert await store.wanting([shard], []) == []


@played
async def test_two_who_come_for_a_shard_at_once_do_not_both_get_it(url: str) -> None:
    (host,) = apart(1)
    async with PostgresStore(url) as store, PostgresStore(url) as beside:
        one, other = await offered(store, host), await offered(store, host, scraper="others")
        for _ in range(20):
            taken = await asyncio.gather(
                store.take(one, urls.shard(host), "a", TTL), beside.take(other, urls.shard(host), "b", TTL)
            )
            assert sum(each is not None for each in taken) == 1
            for each in taken:
                if each is not None:
                    await store.give_back(each.lease)


@played
async def test_one_process_and_workers_keep_each_other_off(url: str) -> None:
    (host,) = apart(1)
    async with PostgresStore(url) as store:
        run = await offered(store, host)
        taken = await store.take(run, urls.shard(host), "a", TTL)
        assert taken is not None
        alone = await store.new_run(draft("alone"))
        with pytest.raises(StoreBusy):
            await store.acquire(alone.id, "elsewhere:1", TTL)
        await store.give_back(taken.lease)
        await store.give_back(Lease(run, "conductor", 1, 0.0, CONDUCTOR, TTL))
        await store.acquire(alone.id, "elsewhere:1", TTL)
        assert await store.take(run, urls.shard(host), "a", TTL) is None
        assert await store.take(run, CONDUCTOR, "a", TTL) is None


@played
async def test_no_more_workers_take_shards_of_a_run_than_it_allows(url: str) -> None:
    hosts = apart(6)
    async with PostgresStore(url) as store, PostgresStore(url) as beside:
        run = await offered(store, *hosts, workers=1)
        asked = [
            (each.take(run, urls.shard(host), owner, TTL))
            for host, (each, owner) in zip(hosts, [(store, "a"), (beside, "b")] * 3, strict=True)
        ]
        taken = await asyncio.gather(*asked)
        assert len({each.lease.owner for each in taken if each is not None}) == 1


@played
async def test_what_is_not_renewed_is_taken_over_and_its_owner_writes_nothing(url: str) -> None:
    (host,) = apart(1)
    async with PostgresStore(url) as store:
        run = await offered(store, host)
        first = await store.take(run, urls.shard(host), "a", TTL)
        assert first is not None
        assert await store.renew([first.lease], TTL) == {(run, urls.shard(host))}
        await expire(store, first.lease)
        second = await store.take(run, urls.shard(host), "b", TTL)
        assert second is not None
        assert second.crashes == 1
        assert second.lease.token > first.lease.token
        assert await store.renew([first.lease], TTL) == set()
        with pytest.raises(LeaseLost):
            await store.settle(first.lease, Batch())
        (page,) = await store.peek(run, host, 10, (), shard=urls.shard(host))
        await settle(store, second.lease, done(page))
        standing = await store.standing(run)
        assert standing is not None
        assert (standing.waits, standing.walked, standing.pages) == (False, 1, 1)


@played
async def test_what_was_walked_alone_when_its_owner_died_is_poison(url: str) -> None:
    (host,) = apart(1)
    shard = urls.shard(host)
    async with PostgresStore(url) as store:
        run = await offered(store, host)
        owner = await store.take(run, shard, "a", TTL)
        assert owner is not None
        (page,) = await store.peek(run, host, 10, (), shard=shard)
        await store.claim(owner.lease, [page.id], alone=False)
        for death in range(1, 3):
            await expire(store, owner.lease)
            owner = await store.take(run, shard, f"b{death}", TTL, kills=3)
            assert owner is not None
            assert (owner.crashes, owner.suspects, owner.poison) == (death, frozenset({page.id}), frozenset())
            await store.claim(owner.lease, [page.id], alone=True)
        await expire(store, owner.lease)
        last = await store.take(run, shard, "c", TTL, kills=3)
        assert last is not None
        assert (last.suspects, last.poison) == (frozenset(), frozenset({page.id}))
        await store.calm(last.lease)
        await store.give_back(last.lease)
        again = await store.take(run, shard, "d", TTL)
        assert again is not None
        assert again.crashes == 0


@played
async def test_a_ticket_is_issued_once_while_it_is_fresh(url: str) -> None:
    hosts = apart(3)
    shards = {urls.shard(host) for host in hosts}
    async with PostgresStore(url) as store:
        run = await offered(store, *hosts)
        assert await store.ready(run) == shards
        assert {shard for _, shard, _ in await store.reconcile(TTL)} == shards
        assert await store.reconcile(TTL) == []
        assert {shard for _, shard, _ in await store.reconcile(0.0)} == shards
        taken = await store.take(run, min(shards), "a", TTL)
        assert taken is not None
        assert await store.issue(run, shards, 0.0) == [(run, shard, 0) for shard in sorted(shards - {min(shards)})]
        await store.give_back(taken.lease, 60.0)
        assert min(shards) not in {shard for _, shard, _ in await store.reconcile(0.0)}
        assert await store.take(run, min(shards), "a", TTL) is not None


@played
async def test_a_run_of_which_something_is_wanted_is_left_alone(url: str) -> None:
    (host,) = apart(1)
    async with PostgresStore(url) as store:
        run = await offered(store, host)
        await store.hush(Lease(run, "conductor", 1, 0.0, CONDUCTOR, TTL))
        assert await store.take(run, urls.shard(host), "a", TTL) is None
        assert [ticket for ticket in await store.reconcile(0.0) if ticket[1] != CONDUCTOR] == []
        assert (await store.wishes([run]))[run].wanted == "stop"
        ended = await store.end_run(Lease(run, "conductor", 1, 0.0, CONDUCTOR, TTL), RunState.STOPPED, "max_pages")
        assert (ended.state, ended.wanted) == (RunState.STOPPED, "")
        assert await store.take(run, CONDUCTOR, "b", TTL) is None
        await store.offer(run, {"max_pages": 9}, None)
        found = await store.run(run)
        assert found is not None
        assert (found.state, found.options) == (RunState.PENDING, {"max_pages": 9})


@played
async def test_hosts_of_a_shard_are_counted_as_far_as_it_is_worth_it(url: str) -> None:
    (host,) = apart(1)
    async with PostgresStore(url) as store:
        run = await offered(store, host)
        conductor = Lease(run, "conductor", 1, 0.0, CONDUCTOR, TTL)
        await store.add(conductor, [Request(f"https://{host}/{n}") for n in range(1_500)])
        assert await store.hosts(run, urls.shard(host)) == {host: MANY}
        assert await store.hosts(run) == {host: 1_501}
        assert len(await ready(store, conductor, host)) == 1_501
