"""What whoever hands a run to workers hears: why nobody has begun it, and that a store which is away is waited for."""

from __future__ import annotations

import pytest

from gossamer.cluster import offering
from gossamer.errors import StoreAway
from gossamer.storage import opening
from gossamer.storage.desk import Desk
from gossamer.storage.postgres import PostgresStore
from gossamer.values import Run
from tests.cluster.staging import add_lease, add_run, beat
from tests.contract.steps import draft, played
from tests.databases import postgres_url

REDIS = "redis://127.0.0.1:6379/0"


@pytest.fixture
def url() -> str:
    return postgres_url()


async def why(desk: Desk, *, long: bool = True) -> str:
    return await offering._why_it_waits(desk, REDIS, long=long)


@played
async def test_why_a_run_waits(url: str) -> None:
    async with opening.desk(url) as desk:
        await add_run(desk, 1, "pending")
        assert await why(desk, long=False) == "no worker lives: start one with `gossamer worker`"
        await beat(desk, "left:1", kind="worker", broker="amqp://h//")
        assert await why(desk, long=False) == ""
        assert await why(desk) == f"workers hear of work at amqp://h//, not at {REDIS}: it takes longer"
        await beat(desk, "right:2", kind="worker", broker=REDIS)
        assert (await why(desk)).startswith("of 2 workers that live, none has begun it yet")
        await add_run(desk, 2, "running")
        await add_lease(desk, 2, -1, "desk:7:a:b:c")
        assert await why(desk, long=False) == "desk:7 walks this store by itself: workers begin when that has ended"


@played
async def test_a_store_that_is_away_is_waited_for(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offering, "LOOK", 0.01)
    async with PostgresStore(url) as store, opening.looking(url) as desk:
        run = await store.new_run(draft())

        async def away(number: int) -> Run | None:
            monkeypatch.undo()
            raise StoreAway("no PostgreSQL answers")

        monkeypatch.setattr(store, "run", away)
        looks = offering.follow(store, desk, run, REDIS)
        assert (await anext(looks)).why == "no PostgreSQL answers; workers go on as soon as it is back"
        assert (await anext(looks)).why == "no worker lives: start one with `gossamer worker`"
        await looks.aclose()
