"""A service has work carried to workers: tickets for all that waits, and only where there are workers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer import metrics, settings, urls
from gossamer.cluster.dispatcher import Dispatcher
from gossamer.errors import StoreError
from gossamer.service import Service
from gossamer.storage.postgres import PostgresStore
from gossamer.storage.postgres_desk import PostgresDesk
from gossamer.storage.shared import Ticket
from gossamer.values import CONDUCTOR
from tests.contract.steps import draft, played
from tests.contract.test_leases import offered
from tests.contract.test_postgres import apart
from tests.databases import postgres_url


@pytest.fixture
def url() -> str:
    return postgres_url()


@played
async def test_tickets_are_published_once_there_is_a_worker(url: str) -> None:
    (host,) = apart(1)
    published: list[Ticket] = []
    async with PostgresStore(url) as store, PostgresDesk(url) as desk:
        dispatcher = Dispatcher(store, desk, published.extend, 30.0)
        run = await offered(store, host)
        waiting = await store.new_run(draft("others"))
        await store.offer(waiting.id, {}, None)
        await dispatcher.look()
        assert published == []
        await store.beat("here:1", 1, time.time(), '{"kind":"worker"}')
        await dispatcher.look()
        assert sorted(published) == [(run, urls.shard(host), 0), (waiting.id, CONDUCTOR, 0)]
        await dispatcher.look()
        assert len(published) == 2


@played
async def test_a_broker_that_is_away_is_told_of_until_it_is_back(url: str) -> None:
    published: list[Ticket] = []
    away = True

    def publish(tickets: list[Ticket]) -> None:
        if away:
            raise StoreError("no broker answers at redis://nowhere")
        published.extend(tickets)

    async with PostgresStore(url) as store, PostgresDesk(url) as desk:
        dispatcher = Dispatcher(store, desk, publish, 30.0)
        service = Service(settings.read({"store": url}), desk, Path(), dispatcher)
        await offered(store, *apart(1))
        await store.beat("here:1", 1, time.time(), '{"kind":"worker"}')
        looking = asyncio.ensure_future(dispatcher.run())
        await _until(lambda: service.trouble)
        await asyncio.sleep(2.5)  # it looked again, and there was no new ticket
        found = await metrics.health(desk, service.trouble)
        assert (found.ready, found.checks["dispatcher"].told) == (False, "no broker answers at redis://nowhere")
        away = False
        await _until(lambda: published and not service.trouble)
        assert (await metrics.health(desk, service.trouble)).ready
        looking.cancel()


async def _until(what: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not what():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@played
async def test_two_dispatchers_issue_no_ticket_twice(url: str) -> None:
    hosts = apart(5)
    published: list[Ticket] = []
    async with PostgresStore(url) as store, PostgresDesk(url) as desk:
        run = await offered(store, *hosts)
        await store.beat("here:1", 1, time.time(), '{"kind":"worker"}')
        for _ in range(2):
            await Dispatcher(store, desk, published.extend, 30.0).look()
        assert sorted(published) == sorted((run, urls.shard(host), 0) for host in hosts)
