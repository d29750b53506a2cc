"""Who writes about a host after whom: in the order in which they were told, however many connections there are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from types import TracebackType


class Turns:
    """The last turn of each host that somebody waits for."""

    def __init__(self) -> None:
        self._last: dict[str, Turn] = {}

    def take(self, hosts: Iterable[str] = ()) -> Turn:
        """A turn behind all who have one for these hosts. It must come: whoever takes one enters and leaves it."""
        turn = Turn(self._last)
        turn.join(hosts)
        return turn


class Turn:
    """A place in the line of some hosts: `async with` waits until those before it have left."""

    def __init__(self, last: dict[str, Turn]) -> None:
        self._last = last
        self._hosts: set[str] = set()
        self._before: set[asyncio.Future[None]] = set()
        self._left: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def join(self, hosts: Iterable[str]) -> None:
        """Stand in the line of more hosts; not after having entered."""
        for host in hosts:
            if host in self._hosts:
                continue
            before = self._last.get(host)
            if before is not None:
                self._before.add(before._left)
            self._last[host] = self
            self._hosts.add(host)

    async def __aenter__(self) -> None:
        if self._before:
            await asyncio.wait(self._before)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left.set_result(None)
        for host in self._hosts:
            if self._last.get(host) is self:
                del self._last[host]
