"""What pages show is read once for everybody who looks, and only while somebody does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import Client, core
from nicegui.page import page

from gossamer.dashboard import feed as feeds
from gossamer.dashboard.feed import Feed
from gossamer.errors import StoreError


class Number:
    """Something that changes when it is told to, and counts how often it was read."""

    def __init__(self) -> None:
        self.value = 0
        self.read = 0
        self.broken = False

    async def load(self) -> int:
        self.read += 1
        if self.broken:
            raise StoreError("the store is busy")
        return self.value


def tried(work: Callable[[Feed], Awaitable[None]]) -> None:
    async def main() -> None:
        core.loop = asyncio.get_running_loop()
        feed = Feed()
        try:
            await work(feed)
        finally:
            await feed.close()
            for client in list(Client.instances.values()):
                client.delete()

    before, feeds.BEAT = feeds.BEAT, 0.02
    try:
        asyncio.run(main())
    finally:
        feeds.BEAT = before


def looker() -> Client:
    """A client of NiceGUI that has a connection, as far as it knows."""
    made = Client(page(""))
    made.tab_id = "tab"
    return made


def connect(client: Client) -> None:
    for handler in client.connect_handlers:
        client.safe_invoke(handler)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not true():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.01)


def test_many_who_look_at_the_same_share_one_reading() -> None:
    async def work(feed: Feed) -> None:
        number = Number()
        shown: list[list[int]] = [[] for _ in range(20)]
        clients = [looker() for _ in shown]
        for client, seen in zip(clients, shown, strict=True):
            await feed.watch(client, "number", number.load, seen.append, every=60)
        assert number.read == 1
        assert all(seen == [0] for seen in shown)
        number.value = 7
        feed.spoil("number")
        for client in clients:
            connect(client)
        await until(lambda: all(seen == [0, 7] for seen in shown))
        assert number.read == 2

    tried(work)


def test_what_did_not_change_is_not_shown_again() -> None:
    async def work(feed: Feed) -> None:
        number, seen = Number(), []
        client = looker()
        await feed.watch(client, "number", number.load, seen.append, every=0.01)
        connect(client)
        await until(lambda: number.read > 5)
        assert seen == [0]

    tried(work)


def test_nothing_is_read_while_nobody_looks() -> None:
    async def work(feed: Feed) -> None:
        number, seen = Number(), []
        client = looker()
        await feed.watch(client, "number", number.load, seen.append, every=0.01)
        connect(client)
        await until(lambda: number.read > 2)
        feed.seen(client, False)
        await asyncio.sleep(0.1)
        before = number.read
        await asyncio.sleep(0.2)
        assert number.read == before, "the tab is hidden"
        number.value = 3
        feed.seen(client, True)
        await until(lambda: seen == [0, 3])
        client.tab_id = None
        await asyncio.sleep(0.1)
        before = number.read
        await asyncio.sleep(0.2)
        assert number.read == before, "the browser is gone"

    tried(work)


def test_a_store_that_is_busy_leaves_what_is_shown() -> None:
    async def work(feed: Feed) -> None:
        number, seen = Number(), []
        client = looker()
        await feed.watch(client, "number", number.load, seen.append, every=0.01)
        number.broken = True
        connect(client)
        await until(lambda: number.read > 3)
        number.broken, number.value = False, 9
        await until(lambda: seen == [0, 9])

    tried(work)


def test_a_page_that_breaks_stops_only_itself() -> None:
    async def work(feed: Feed) -> None:
        number, seen = Number(), []
        first, second = looker(), looker()

        def break_at_one(value: int) -> None:
            if value:
                raise ValueError("a mistake of this page")

        await feed.watch(first, "number", number.load, break_at_one, every=0.01)
        await feed.watch(second, "number", number.load, seen.append, every=0.01)
        connect(first)
        connect(second)
        for value in (1, 2):
            number.value = value
            await until(lambda value=value: seen[-1] == value)

    tried(work)


def test_a_watch_that_was_stopped_is_read_no_more() -> None:
    async def work(feed: Feed) -> None:
        number: Any = Number()
        client = looker()
        watch = await feed.watch(client, "number", number.load, lambda _: None, every=0.01)
        connect(client)
        await until(lambda: number.read > 2)
        watch.stop()
        await asyncio.sleep(0.1)
        before = number.read
        await asyncio.sleep(0.2)
        assert number.read == before

    tried(work)
