"""What pages show, read once for everybody who looks, and only while somebody does.

A page says what it shows and how that is read; pages that show the same thing share one reading of it. A client whose
browser tab is hidden, or who went away, costs nothing; a value that did not change is sent to nobody.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from nicegui import Client

from gossamer.errors import GossamerError
from gossamer.telemetry import log

T = TypeVar("T")

#: Seconds between two looks at what is due.
BEAT = 1.0
#: Seconds for which a reading that nobody watches is kept.
KEPT = 10.0


class Topic(Generic[T]):
    """One thing that pages show."""

    def __init__(self, load: Callable[[], Awaitable[T]], every: float) -> None:
        self.load = load
        self.every = every
        self.at = float("-inf")
        #: When somebody last asked for it.
        self.wanted = time.monotonic()
        #: Grows whenever the value changes.
        self.version = 0
        self.value: T | None = None
        self._reading: asyncio.Task[None] | None = None
        self._spoiled = False

    @property
    def due(self) -> bool:
        """Whether it was read too long ago."""
        return time.monotonic() - self.at >= self.every * 0.9

    @property
    def known(self) -> T:
        """What was read last. To be asked once something was."""
        return self.value  # type: ignore[return-value]  # None only if None was read

    async def refresh(self) -> None:
        """Read it, unless somebody is at it already: then wait for that."""
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read())
        await asyncio.shield(self._reading)

    def spoil(self) -> None:
        """What is known may be out of date, also if it is being read just now."""
        self.at = float("-inf")
        self._spoiled = True

    async def _read(self) -> None:
        begun, self._spoiled = time.monotonic(), False
        value = await self.load()
        self.at = float("-inf") if self._spoiled else begun
        if self.version == 0 or value != self.value:
            self.value = value
            self.version += 1


class Watch(Generic[T]):
    """One page that shows a topic."""

    def __init__(self, key: Hashable, topic: Topic[T], show: Callable[[T], None]) -> None:
        self.key = key
        self.topic = topic
        self._show = show
        self._shown = 0
        self.stopped = False

    @property
    def behind(self) -> bool:
        """Whether the page does not show what is known."""
        return not self.stopped and self._shown != self.topic.version

    def show(self) -> None:
        """Bring the page up to date. It may stop the watch."""
        self._shown = self.topic.version
        self._show(self.topic.known)

    def follow(self, topic: Topic[T]) -> None:
        """Watch another reading of the same thing: its own was dropped while nobody looked."""
        if topic is not self.topic:
            self.topic = topic
            self._shown = -1

    def stop(self) -> None:
        """Show no more of it: it will not change again."""
        self.stopped = True


class _Looker:
    """A client, and what its page shows."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.visible = True
        self.watches: list[Watch[Any]] = []

    @property
    def looking(self) -> bool:
        return self.visible and self.client.has_socket_connection


class Feed:
    """Every topic and everybody who watches one. Nothing runs while nobody does."""

    def __init__(self) -> None:
        self._topics: dict[Hashable, Topic[Any]] = {}
        self._lookers: dict[str, _Looker] = {}
        self._beating: asyncio.Task[None] | None = None
        #: How often anything was read, and how often a page was brought up to date.
        self.readings = 0
        self.showings = 0

    async def latest(self, key: Hashable, load: Callable[[], Awaitable[T]], every: float = BEAT) -> T:
        """What is known of something, read again if that was longer than `every` seconds ago."""
        return (await self._fresh(key, load, every)).known

    async def _fresh(self, key: Hashable, load: Callable[[], Awaitable[T]], every: float) -> Topic[T]:
        topic = self._topic(key, load, every)
        if topic.due:
            self.readings += 1
            await topic.refresh()
        return topic

    async def watch(
        self,
        client: Client,
        key: Hashable,
        load: Callable[[], Awaitable[T]],
        show: Callable[[T], None],
        every: float = BEAT,
    ) -> Watch[T]:
        """Show something on a page now, and again whenever it has changed, as long as somebody looks at it.

        `key` says what it is: whoever gives the same key gets the same reading.
        """
        made: Watch[T] = Watch(key, await self._fresh(key, load, every), show)
        made.show()
        self._looker(client).watches.append(made)
        return made

    def _topic(self, key: Hashable, load: Callable[[], Awaitable[T]], every: float) -> Topic[T]:
        topic = self._topics.get(key)
        if topic is None:
            topic = self._topics[key] = Topic(load, every)
        topic.wanted = time.monotonic()
        topic.load = load  # that of the newest page: an older one may belong to a client who left
        topic.every = min(topic.every, every)
        return topic

    def _looker(self, client: Client) -> _Looker:
        known = self._lookers.get(client.id)
        if known is None:
            known = self._lookers[client.id] = _Looker(client)
            client.on_connect(self._wake)
            client.on_delete(lambda: self._forget(client))
        return known

    def _forget(self, client: Client) -> None:
        self._lookers.pop(client.id, None)

    def seen(self, client: Client, visible: bool) -> None:
        """A browser says that its tab is looked at, or no longer."""
        looker = self._lookers.get(client.id)
        if looker is not None:
            looker.visible = visible
            self._wake()

    def spoil(self, *keys: Hashable) -> None:
        """Somebody changed something: what was read before is read again when it is next asked for, or looked at."""
        for key, topic in self._topics.items():
            if not keys or key in keys:
                topic.spoil()

    def _wake(self) -> None:
        if self._beating is None or self._beating.done():
            self._beating = asyncio.create_task(self._beat(), name="dashboard-feed")

    async def _beat(self) -> None:
        while looking := [each for each in self._lookers.values() if each.looking]:
            begun = time.monotonic()
            await self.tick(looking)
            await asyncio.sleep(max(0.1, BEAT - (time.monotonic() - begun)))
        self._drop_old(set())

    async def tick(self, looking: list[_Looker]) -> None:
        """Read what is due and watched, and bring pages up to date."""
        watched: dict[Hashable, Topic[Any]] = {}
        for watch in [watch for each in looking for watch in each.watches if not watch.stopped]:
            watch.follow(self._topics.setdefault(watch.key, watch.topic))
            watched[watch.key] = watch.topic
        for topic in watched.values():
            if topic.due:
                await self._refresh(topic)
        for each in looking:
            self._update(each)
            await asyncio.sleep(0)  # others on this loop have work to do too
        self._drop_old(set(watched))

    async def _refresh(self, topic: Topic[Any]) -> None:
        self.readings += 1
        try:
            await topic.refresh()
        except GossamerError as why:  # the store is busy, say: what was known stays on the page
            log.warning("dashboard.reading", why=str(why))
        except Exception:  # noqa: BLE001 - one page's mistake must not stop the others
            log.exception("dashboard.reading")

    def _update(self, looker: _Looker) -> None:
        looker.watches = [watch for watch in looker.watches if not watch.stopped]
        for watch in looker.watches:
            if not watch.behind or looker.client.is_deleted:
                continue
            self.showings += 1
            try:
                with looker.client:
                    watch.show()
            except Exception:  # noqa: BLE001 - as above
                log.exception("dashboard.showing")
                watch.stop()

    def _drop_old(self, watched: set[Hashable]) -> None:
        now = time.monotonic()
        for key, topic in list(self._topics.items()):
            if key not in watched and now - topic.wanted > KEPT:
                del self._topics[key]

    async def close(self) -> None:
        """Stop whatever runs."""
        if self._beating is not None:
            self._beating.cancel()
            with suppress(asyncio.CancelledError):
                await self._beating
