"""A real HTTP/1.1 server on loopback which answers as it was told to, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from gossamer.testing.exchange import Cover, Handler, Hit
from gossamer.testing.http import Connection
from gossamer.testing.ledger import Ledger
from gossamer.testing.misbehave import Misbehaviour
from gossamer.testing.routes import Routes

_BACKLOG = 1024
#: Ports tried until one is free on every address.
_PORTS_TRIED = 50


class Site(Misbehaviour):
    """An HTTP/1.1 server on loopback which answers as it was told to, and remembers what it was asked.

    Paths match whole with their query first, then without it, then by the longest pattern ending in `*`; what
    nothing matches is a 404, /robots.txt included. A path told twice answers as told last. Every method gets
    the same answer; HEAD gets it without the body. Routes may be added before and after the start.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        also: Sequence[str] = (),
        remember: bool = True,
        log: Path | str | None = None,
        log_ends: bool = False,
    ) -> None:
        """Port 0 is any free one; `also` are more addresses to listen on, at the same port.

        `remember=False` keeps no hits; `log` gets a JSON line per request, and one more when its answer is out if
        `log_ends`.
        """
        self.host = host
        self._also = tuple(also)
        self._port = port
        self._log = log
        self._routes = Routes()
        self._ledger = Ledger(remember=remember, ends=log_ends)
        self._connections: set[Connection] = set()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop
        self._stopping: asyncio.Event
        self._bound: int | None = None

    # -- life

    def start(self) -> Self:
        """Bind and serve. OSError when the address or the log cannot be had."""
        if self._thread is not None:
            raise RuntimeError("this Site is already serving; stop() it first, or make another one")
        self._ledger.open_log(self._log)
        try:
            listeners = self._listen()
        except OSError:
            self._ledger.close_log()
            raise
        self._bound = listeners[0].getsockname()[1]
        self._loop = asyncio.SelectorEventLoop()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._run, args=(listeners,), name="gossamer-site", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Drop every connection, free the port, end the thread. Hits stay readable; twice does no harm."""
        if self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()
        self._thread = None
        self._ledger.close_log()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def _listen(self) -> list[socket.socket]:
        # In the caller's thread, so that a taken port raises there. Early clients wait in the backlog.
        for _ in range(_PORTS_TRIED - 1):
            try:
                return _listeners((self.host, *self._also), self._port)
            except OSError as error:
                # A port that is free on the first address may be taken on another one: then another port will do.
                if error.errno != errno.EADDRINUSE or self._port or not self._also:
                    raise
        return _listeners((self.host, *self._also), self._port)

    def _run(self, listeners: Sequence[socket.socket]) -> None:
        try:
            self._loop.run_until_complete(self._serve(listeners))
        finally:
            self._loop.close()

    async def _serve(self, listeners: Sequence[socket.socket]) -> None:
        servers = [
            await self._loop.create_server(self._connection, sock=listener, backlog=_BACKLOG) for listener in listeners
        ]
        await self._stopping.wait()
        # Closing a server while asyncio is still accepting for it leaks that socket (an assert in _attach).
        # So stop accepting first, then wait for the tasks that do it: there are no others on this loop.
        for listener in listeners:
            self._loop.remove_reader(listener)
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
        for server in servers:
            server.close()
        while self._connections:
            for connection in tuple(self._connections):
                connection.drop()
            await asyncio.sleep(0)
        for server in servers:
            await server.wait_closed()

    def _connection(self) -> Connection:
        return Connection(self._routes, self._ledger, self._connections)

    # -- where it is, and what it was asked

    @property
    def port(self) -> int:
        """The port in use. RuntimeError before the first start."""
        if self._bound is None:
            raise RuntimeError("this Site has no port yet; enter `with Site() as site:` or call start()")
        return self._bound

    @property
    def authority(self) -> str:
        """Host and port, as in a URL: `127.0.0.1:41234`."""
        return _authority(self.host, self.port)

    def url(self, path: str = "/") -> str:
        """The absolute URL of a path."""
        return f"http://{self.authority}{path}"

    def urls(self, path: str = "/") -> list[str]:
        """The absolute URL of a path on each address it listens on."""
        return [f"http://{_authority(host, self.port)}{path}" for host in (self.host, *self._also)]

    @property
    def hits(self) -> list[Hit]:
        """Every request so far, in the order they arrived; a copy."""
        return self._ledger.hits()

    def paths(self) -> Counter[str]:
        """How often each path (with its query) was asked for."""
        return Counter(hit.path for hit in self.hits)

    @property
    def peak(self) -> int:
        """The highest number of requests that were being answered at once since the last `clear`.

        An answer without latency is over the moment it begins: give pages some to see clients overlap.
        """
        return self._ledger.peak

    def clear(self) -> None:
        """Forget hits and peak; routes and their counts of faults stay."""
        self._ledger.clear()

    # -- what it answers: `handler` and `cover` are what all the others are made of

    def handler(self, path: str, func: Handler) -> None:
        """Answer by a function, called on the site's loop: it must not block. If it raises, that is a 500."""
        self._routes.add(path, func)

    def cover(self, path: str, func: Cover) -> None:
        """Lay a function over a path or a pattern: it is asked first, and gives None to let what is below answer."""
        self._routes.cover(path, func)


def loopback(count: int, first: int = 2) -> list[str]:
    """That many addresses of this machine, each as good as a host of its own: 127.0.0.2, 127.0.0.3 ..."""
    return [f"127.0.{number >> 8}.{number & 255}" for number in range(first, first + count)]


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _listeners(hosts: Sequence[str], port: int) -> list[socket.socket]:
    """One listening socket for each address, all at the same port."""
    with contextlib.ExitStack() as stack:
        made: list[socket.socket] = []
        for host in hosts:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
            made.append(stack.enter_context(listener))
            port = listener.getsockname()[1]
        stack.pop_all()
        return made
