"""Processes that read archived pages again, kept busy from one event loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType

import msgspec

from gossamer.errors import ConfigError, ReadError
from gossamer.rereading import Gave, Job, Order, framed

#: Orders that a process has ahead of it, so that it never waits for us.
AHEAD = 2
#: Processes that may die one after the other without having read a page.
PATIENCE = 3

_decode_answer = msgspec.msgpack.Decoder(Gave | str).decode

Take = Callable[[Gave], Awaitable[None]]


class Hands:
    """So many processes for one job. Use it as an async context manager: they begin to load, and end with it."""

    def __init__(self, job: Job, count: int) -> None:
        self._hands = [_Hand(job) for _ in range(count)]

    async def __aenter__(self) -> Hands:
        for hand in self._hands:
            await hand.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.shield(asyncio.gather(*(hand.end() for hand in self._hands)))

    async def work(self, orders: AsyncIterator[Order], take: Take) -> None:
        """Have all orders done; `take` gets what each gave. Raises what made one impossible."""
        turn = asyncio.Lock()

        async def next_order() -> Order | None:
            async with turn:
                return await anext(orders, None)

        try:
            async with asyncio.TaskGroup() as group:
                for hand in self._hands:
                    group.create_task(_serve(hand, next_order, take))
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None


async def _serve(hand: _Hand, next_order: Callable[[], Awaitable[Order | None]], take: Take) -> None:
    """Keep one process busy until no order is left."""
    waiting: deque[Order] = deque()
    while True:
        while len(waiting) < AHEAD and (order := await next_order()) is not None:
            waiting.append(order)
            await hand.send(order)
        if not waiting:
            return
        gave = await hand.answer()
        if gave is not None:
            waiting.popleft()
            await take(gave)
            continue
        await _page_by_page(hand, waiting.popleft(), take)
        for order in waiting:
            await hand.send(order)


async def _page_by_page(hand: _Hand, order: Order, take: Take) -> None:
    """A process died over an order: find the page that kills it, and read the others."""
    if not order.pages:
        raise ReadError("the process that asks the scraper what it starts with died: look at its start()")
    for page in order.pages:
        await hand.send(Order([page]))
        gave = await hand.answer()
        if gave is None:
            why = "the process that read it died: its handler or a library it uses crashed"
            gave = Gave(failed=1, failures={why: (f"page {page[0]} of the archive", 1)})
        await take(gave)


class _Hand:
    """One process, started when it is needed, and again when it died."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._process: asyncio.subprocess.Process | None = None
        #: Processes that died in a row.
        self._deaths = 0

    async def start(self) -> None:
        """Start the process, unless there is one."""
        if self._process is None:
            self._process = await self._start()

    async def send(self, order: Order) -> None:
        """Hand it an order. That it died meanwhile is heard from `answer`."""
        await self.start()
        assert self._process is not None
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(ConnectionError):
            stdin.write(framed(order))
            await stdin.drain()

    async def answer(self) -> Gave | None:
        """What the oldest order gave; None if the process died over it. Raises what it said made it impossible."""
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            length = int.from_bytes(await self._process.stdout.readexactly(4), "big")
            answer: Gave | str = _decode_answer(await self._process.stdout.readexactly(length))
        except asyncio.IncompleteReadError:
            await self.end()
            self._deaths += 1
            if self._deaths >= PATIENCE * 2:
                raise ReadError("the processes that read pages die, one after the other: see what they say") from None
            return None
        if isinstance(answer, str):
            raise ConfigError(answer)
        self._deaths = 0
        return answer

    async def end(self) -> None:
        """End the process, whatever it is doing."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        transport = getattr(process, "_transport", None)
        if transport is not None:
            transport.close()  # else its pipes stay open until they are collected

    async def _start(self) -> asyncio.subprocess.Process:
        command = [sys.executable, "-P", "-m", "gossamer.rereading"]
        paths = os.pathsep.join(path for path in sys.path if path)
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": paths},
            limit=1 << 20,
            start_new_session=True,  # Ctrl-C is for us, who then end it
        )
        assert process.stdin is not None
        process.stdin.write(framed(self._job))
        return process
