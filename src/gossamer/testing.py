"""A local web site that misbehaves on request, for our tests and for yours.

    with Site() as site:
        site.page("/", "<h1>hi</h1>")
        site.flaky("/x", times=2, status=503, retry_after="1", then="<p>ok</p>")
        crawl(site.url("/"))
        assert site.paths()["/x"] == 3

It is a real HTTP/1.1 server on a real socket, on its own event loop in a daemon thread: synchronous tests,
asynchronous tests and crawls in other processes all speak to it in the same way. `graph_site` makes it a
linked site of any size, and `python -m gossamer.testing --pages 1000` serves that one from its own process.
"""

import argparse
import asyncio
import itertools
import json
import random
import signal
import socket
import struct
import sys
import threading
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from io import FileIO
from pathlib import Path
from types import FrameType
from typing import Literal, Self, TypeAlias

__all__ = ["Answer", "Handler", "Hit", "Site", "graph_site"]

Fault: TypeAlias = Literal["reset", "truncate", "hang"]

HTML = "text/html; charset=utf-8"
_MEGABYTE = 1 << 20
_BLOCK = b" " * (1 << 16)
_LONGEST_HEAD = 1 << 16
_BACKLOG = 1024
_REASONS = {status.value: status.phrase for status in HTTPStatus}
_BODILESS = frozenset({204, 304})
# Linger on, for zero seconds: close() then throws the connection away with a RST instead of a FIN.
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One request the site received."""

    method: str
    #: The target as sent, with its query; a client that takes us for a proxy sends a whole URL here.
    path: str
    #: Names in lower case; a name sent twice has its values joined by ", ".
    headers: Mapping[str, str]
    body: bytes = b""
    #: time.monotonic() when the request was complete.
    at: float = 0.0
    #: time.monotonic() when the last byte of the answer went out, or the client was gone; None until then.
    ended: float | None = None
    #: The status we answered; None for a reset and a hang, which send none.
    status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the site sends back for one `Hit`.

    `Answer(body="<p>hi</p>")` is an ordinary page. Content-Type (HTML), Content-Length and Connection are
    added unless `headers` has them.
    """

    status: int = 200
    #: Text is sent as UTF-8.
    body: str | bytes = b""
    #: A tuple sends the header once per value; the empty tuple keeps one of ours from being added.
    headers: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    #: Seconds before the first byte.
    latency: float = 0.0
    #: "reset": RST instead of an answer. "truncate": half the body, then FIN. "hang": nothing, ever.
    fault: Fault | None = None
    #: Sent chunk by chunk, without a length, instead of `body`; called once per request, may be endless.
    stream: Callable[[], Iterable[bytes]] | None = None
    #: Seconds between two chunks of `stream`.
    every: float = 0.0
    #: Exactly these bytes instead of all of the above but `latency` and `fault`, then FIN.
    raw: bytes | None = None


Handler: TypeAlias = Callable[[Hit], Answer]


class Site:
    """An HTTP/1.1 server on loopback which answers as it was told to, and remembers what it was asked.

    Paths match whole with their query first, then without it, then by the longest pattern ending in `*`; what
    nothing matches is a 404, /robots.txt included. A path told twice answers as told last. Every method gets
    the same answer; HEAD gets it without the body. Routes may be added before and after the start.
    """

    def __init__(
        self, host: str = "127.0.0.1", port: int = 0, *, remember: bool = True, log: Path | str | None = None
    ) -> None:
        """Port 0 is any free one; `remember=False` keeps no hits; `log` gets a JSON line per request."""
        self.host = host
        self._port = port
        self._log = log
        self._routes = _Routes()
        self._ledger = _Ledger(remember=remember)
        self._connections: set[_Connection] = set()
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
            listener = self._listen()
        except OSError:
            self._ledger.close_log()
            raise
        self._bound = listener.getsockname()[1]
        self._loop = asyncio.SelectorEventLoop()
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._run, args=(listener,), name="gossamer-site", daemon=True)
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

    def _listen(self) -> socket.socket:
        # In the caller's thread, so that a taken port raises there. Early clients wait in the backlog.
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        return socket.create_server((self.host, self._port), family=family, backlog=_BACKLOG)

    def _run(self, listener: socket.socket) -> None:
        try:
            self._loop.run_until_complete(self._serve(listener))
        finally:
            self._loop.close()

    async def _serve(self, listener: socket.socket) -> None:
        server = await self._loop.create_server(self._connection, sock=listener, backlog=_BACKLOG)
        await self._stopping.wait()
        # Closing a server while asyncio is still accepting for it leaks that socket (an assert in _attach).
        # So stop accepting first, then wait for the tasks that do it: there are no others on this loop.
        self._loop.remove_reader(listener)
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
        server.close()
        while self._connections:
            for connection in tuple(self._connections):
                connection.drop()
            await asyncio.sleep(0)
        await server.wait_closed()

    def _connection(self) -> "_Connection":
        return _Connection(self._routes, self._ledger, self._connections)

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
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def url(self, path: str = "/") -> str:
        """The absolute URL of a path."""
        return f"http://{self.authority}{path}"

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

    # -- what it answers

    def handler(self, path: str, func: Handler) -> None:
        """Answer by a function, called on the site's loop: it must not block. If it raises, that is a 500."""
        self._routes.add(path, func)

    def page(
        self,
        path: str,
        body: str | bytes,
        *,
        status: int = 200,
        headers: Mapping[str, str | tuple[str, ...]] | None = None,
        latency: float = 0.0,
    ) -> None:
        """Answer with a page: HTML in UTF-8 unless the headers say otherwise."""
        self._always(path, Answer(status=status, body=_encoded(body), headers=headers or {}, latency=latency))

    def json(self, path: str, data: object, *, status: int = 200, latency: float = 0.0) -> None:
        """Answer with JSON. TypeError if the data cannot be written as such."""
        body = json.dumps(data, ensure_ascii=False).encode()
        headers = {"Content-Type": "application/json"}
        self._always(path, Answer(status=status, body=body, headers=headers, latency=latency))

    def redirect(self, path: str, to: str, *, status: int = 301, latency: float = 0.0) -> None:
        """Send the client on to a path or URL, which goes out as it is written here."""
        self._always(path, Answer(status=status, headers={"Location": to}, latency=latency))

    def robots(self, text: str, *, status: int = 200) -> None:
        """Have a robots.txt; without one it is a 404, which allows everything."""
        self.page("/robots.txt", text, status=status, headers={"Content-Type": "text/plain; charset=utf-8"})

    def flaky(
        self,
        path: str,
        *,
        times: float = 1,
        status: int = 503,
        retry_after: str | None = None,
        then: str | bytes | Answer = "<p>ok</p>",
        latency: float = 0.0,
    ) -> None:
        """Fail with a status the first `times`, then be fine. `math.inf` fails for ever, here and below."""
        headers = {} if retry_after is None else {"Retry-After": retry_after}
        fine = then if isinstance(then, Answer) else Answer(body=_encoded(then), latency=latency)
        self._at_first(path, times, Answer(status=status, headers=headers, latency=latency), fine)

    def reset(self, path: str, *, times: float = 1, then: str | bytes | Answer = "<p>ok</p>") -> None:
        """Reset the connection (TCP RST) instead of answering the first `times`, then be fine."""
        fine = _as_answer(then)
        self._at_first(path, times, replace(fine, fault="reset"), fine)

    def truncate(self, path: str, *, times: float = 1, then: str | bytes | Answer = "<p>ok</p>") -> None:
        """Announce all of `then`, send half of it and close, the first `times`; then be fine."""
        fine = _as_answer(then)
        self._at_first(path, times, replace(fine, fault="truncate"), fine)

    def hang(self, path: str, *, times: float = float("inf"), then: str | bytes | Answer = "<p>ok</p>") -> None:
        """Take the request and never answer it, the first `times`; then be fine."""
        fine = _as_answer(then)
        self._at_first(path, times, replace(fine, fault="hang"), fine)

    def drip(self, path: str, *, chunk: bytes = b"x", every: float = 0.05) -> None:
        """Send a body that never ends, one chunk every so many seconds."""
        self._always(path, Answer(stream=lambda: itertools.repeat(chunk), every=every))

    def bomb(self, path: str, *, megabytes: int = 50) -> None:
        """Send a small gzip body which inflates to this many megabytes (a thousandth of them on the wire)."""
        self._always(path, Answer(body=_gzip_of_nothing(megabytes), headers={"Content-Encoding": "gzip"}))

    def huge(self, path: str, *, megabytes: int = 50) -> None:
        """Send this many megabytes without saying so in advance."""
        blocks = megabytes * _MEGABYTE // len(_BLOCK)
        self._always(path, Answer(stream=lambda: itertools.repeat(_BLOCK, blocks)))

    def _always(self, path: str, answer: Answer) -> None:
        self._routes.add(path, lambda _: answer)

    def _at_first(self, path: str, times: float, bad: Answer, fine: Answer) -> None:
        tries = itertools.count()
        self._routes.add(path, lambda _: bad if next(tries) < times else fine)


class _Routes:
    """Which function answers which path. Written by the test's thread, read by the site's.

    Nothing is locked: a write is one assignment, of a dict entry or a whole tuple, that a reader sees or not.
    """

    def __init__(self) -> None:
        self._exact: dict[str, Handler] = {}
        self._prefixes: tuple[tuple[str, Handler], ...] = ()

    def add(self, path: str, func: Handler) -> None:
        if not path.endswith("*"):
            self._exact[path] = func
            return
        prefixes = dict(self._prefixes)
        prefixes[path[:-1]] = func
        self._prefixes = tuple(sorted(prefixes.items(), key=lambda pair: -len(pair[0])))

    def answer(self, hit: Hit) -> Answer:
        """Never raises: a function that does is answered for with a 500 that shows its traceback."""
        func = self._find(hit.path)
        if func is None:
            return Answer(status=404, body=b"<h1>404 Not Found</h1>")
        try:
            return func(hit)
        except Exception:  # noqa: BLE001 - whatever the author's function raises, the client gets to read
            return Answer(status=500, body=traceback.format_exc(), headers={"Content-Type": "text/plain"})

    def _find(self, target: str) -> Handler | None:
        func = self._exact.get(target)
        if func is not None:
            return func
        path = _origin_form(target)
        func = self._exact.get(path) or self._exact.get(path.partition("?")[0])
        if func is not None:
            return func
        for prefix, func in self._prefixes:
            if path.startswith(prefix):
                return func
        return None


@dataclass(slots=True)
class _Exchange:
    """A hit and how far we are with it: the part of it that changes."""

    hit: Hit
    status: int | None = None
    ended: float | None = None

    def as_hit(self) -> Hit:
        return replace(self.hit, status=self.status, ended=self.ended)


class _Ledger:
    """What was asked, and how much of it at once. Written by the site's thread only, but for `clear`."""

    def __init__(self, *, remember: bool) -> None:
        self.peak = 0
        self._remember = remember
        self._exchanges: list[_Exchange] = []
        self._open = 0
        self._log: FileIO | None = None

    def begin(self, hit: Hit) -> _Exchange:
        exchange = _Exchange(hit)
        if self._remember:
            self._exchanges.append(exchange)
        self._open += 1
        if self._open > self.peak:
            self.peak = self._open
        return exchange

    def decided(self, exchange: _Exchange, answer: Answer) -> None:
        if answer.fault in (None, "truncate"):
            exchange.status = answer.status
        if self._log is not None:
            hit = exchange.hit
            entry = {"t": hit.at, "path": hit.path, "status": exchange.status, "fault": answer.fault}
            self._log.write(json.dumps(entry).encode() + b"\n")

    def end(self, exchange: _Exchange) -> None:
        exchange.ended = time.monotonic()
        self._open -= 1

    def hits(self) -> list[Hit]:
        return [exchange.as_hit() for exchange in self._exchanges.copy()]

    def clear(self) -> None:
        self._exchanges = []
        self.peak = self._open

    def open_log(self, path: Path | str | None) -> None:
        # Unbuffered: a line is with the kernel when write returns, and outlives a kill of this process.
        self._log = None if path is None else FileIO(path, "ab")

    def close_log(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None


@dataclass(frozen=True, slots=True)
class _Head:
    """The part of a request before its body."""

    method: str
    path: str
    headers: dict[str, str]
    keep: bool
    chunks_allowed: bool


class _Connection(asyncio.Protocol):
    """One client. Its requests are answered one after the other, however many it sends ahead."""

    def __init__(self, routes: _Routes, ledger: _Ledger, connections: "set[_Connection]") -> None:
        self._routes = routes
        self._ledger = ledger
        self._connections = connections
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._buffer = bytearray()
        self._head: _Head | None = None
        self._keep = False
        self._chunks_allowed = False
        self._exchange: _Exchange | None = None
        self._timer: asyncio.Handle | None = None
        self._stream: _Stream | None = None
        self._full = False

    # -- called by the loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        self._stream = None
        self._end()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._exchange is None:
            self._advance()

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        if self._stream is not None and self._timer is None:
            self._timer = self._loop.call_soon(self._pump)

    def drop(self) -> None:
        """Close now, whatever is under way."""
        self._transport.abort()

    # -- reading

    def _advance(self) -> None:
        """Answer what has arrived, until an answer takes its time or the rest is incomplete."""
        while self._exchange is None and not self._transport.is_closing():
            try:
                hit = self._next_hit()
            except ValueError:
                self._finish(_whole(Answer(status=400), "GET", keep=False), keep=False)
                return
            if hit is None:
                return
            self._begin(hit)

    def _next_hit(self) -> Hit | None:
        """The next whole request of the buffer, or None. ValueError if it is not HTTP."""
        head = self._head
        if head is None:
            head = self._head = _take_head(self._buffer)
            if head is None:
                return None
            if head.headers.get("expect", "").lower() == "100-continue":
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = _take_body(self._buffer, head.headers)
        if body is None:
            return None
        self._head = None
        self._keep = head.keep
        self._chunks_allowed = head.chunks_allowed
        return Hit(method=head.method, path=head.path, headers=head.headers, body=body, at=time.monotonic())

    # -- answering

    def _begin(self, hit: Hit) -> None:
        self._exchange = exchange = self._ledger.begin(hit)
        answer = self._routes.answer(hit)
        self._ledger.decided(exchange, answer)
        if answer.latency > 0:
            self._timer = self._loop.call_later(answer.latency, self._send_late, hit, answer)
        else:
            self._send(hit, answer)

    def _send_late(self, hit: Hit, answer: Answer) -> None:
        self._timer = None
        self._send(hit, answer)
        self._advance()

    def _send(self, hit: Hit, answer: Answer) -> None:
        if answer.fault == "hang":
            return
        if answer.fault == "reset":
            self._reset()
        elif answer.raw is not None:
            self._finish(answer.raw, keep=False)
        elif answer.stream is not None and hit.method != "HEAD":
            self._start_stream(answer, answer.stream())
        else:
            keep = self._keep and _keeps(answer)
            self._finish(_whole(answer, hit.method, keep=keep), keep=keep)

    def _reset(self) -> None:
        sock = self._transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._end()
        self._transport.abort()

    def _finish(self, data: bytes, *, keep: bool) -> None:
        # Ended before the bytes leave: a test that has read the answer finds the hit ended.
        self._end()
        self._transport.write(data)
        if not keep:
            self._transport.close()

    def _end(self) -> None:
        if self._exchange is not None:
            self._ledger.end(self._exchange)
            self._exchange = None

    # -- streaming

    def _start_stream(self, answer: Answer, chunks: Iterable[bytes]) -> None:
        chunked = self._chunks_allowed
        keep = self._keep and chunked and _keeps(answer)
        tail = b"0\r\n\r\n" if chunked and answer.fault is None else b""
        self._stream = _Stream(iter(chunks), answer.every, chunked, tail, keep)
        extra = {"Transfer-Encoding": "chunked"} if chunked else {}
        self._transport.write(_head(answer, extra, keep=keep))
        self._pump()

    def _pump(self) -> None:
        """Send one chunk and come back: a turn of the loop per chunk leaves the other clients their share."""
        self._timer = None
        stream = self._stream
        if stream is None or self._full:
            return
        try:
            data = stream.next()
        except Exception:  # noqa: BLE001 - the head is out: all that is left to say is a broken answer
            self.drop()
            return
        if data is None:
            self._stream = None
            self._finish(stream.tail, keep=stream.keep)
            self._advance()
            return
        self._transport.write(data)
        self._timer = self._loop.call_later(stream.every, self._pump)


@dataclass(slots=True)
class _Stream:
    """A body on its way."""

    chunks: Iterator[bytes]
    every: float
    chunked: bool
    tail: bytes
    keep: bool

    def next(self) -> bytes | None:
        """The next piece as it goes on the wire, None after the last."""
        # An empty chunk would be the end of a chunked body.
        data = next(filter(None, self.chunks), None)
        if data is None or not self.chunked:
            return data
        return b"%x\r\n%b\r\n" % (len(data), data)


# -- HTTP/1.1, as much of it as is needed


def _origin_form(target: str) -> str:
    """The path of a target that a client sent to its proxy; any other target as it is."""
    if target.startswith("/"):
        return target
    _, separator, rest = target.partition("://")
    return "/" + rest.partition("/")[2] if separator else target


def _take_head(buffer: bytearray) -> _Head | None:
    """Take the head of a request off the buffer; None if it is not all there. ValueError if it is not one."""
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        if len(buffer) > _LONGEST_HEAD:
            raise ValueError("no end of the head in sight")
        return None
    first, *lines = buffer[:end].decode("latin-1").split("\r\n")
    del buffer[: end + 4]
    method, path, version = first.split(" ")
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    modern = version == "HTTP/1.1"
    connection = headers.get("connection", "").lower()
    keep = "close" not in connection if modern else "keep-alive" in connection
    return _Head(method, path, headers, keep, modern)


def _take_body(buffer: bytearray, headers: Mapping[str, str]) -> bytes | None:
    """Take the body off the buffer; None if it is not all there. ValueError if its length is nonsense."""
    if "transfer-encoding" in headers:
        return _take_chunks(buffer)
    if "content-length" not in headers:
        return b""
    length = int(headers["content-length"])
    if length < 0:
        raise ValueError("negative length")
    if len(buffer) < length:
        return None
    body = bytes(buffer[:length])
    del buffer[:length]
    return body


def _take_chunks(buffer: bytearray) -> bytes | None:
    """Take a chunked body off the buffer, trailers thrown away; None if it is not all there."""
    pieces: list[bytes] = []
    at = 0
    while (end := buffer.find(b"\r\n", at)) >= 0:
        size = int(buffer[at:end].partition(b";")[0], 16)
        if size < 0:
            raise ValueError("negative length")
        if size == 0:
            return _end_chunks(buffer, end, pieces)
        pieces.append(bytes(buffer[end + 2 : end + 2 + size]))
        at = end + 2 + size + 2
    return None


def _end_chunks(buffer: bytearray, end: int, pieces: Sequence[bytes]) -> bytes | None:
    # From the line end of the last chunk's size on: with no trailers, the two line ends follow each other.
    last = buffer.find(b"\r\n\r\n", end)
    if last < 0:
        return None
    del buffer[: last + 4]
    return b"".join(pieces)


def _keeps(answer: Answer) -> bool:
    """Whether the connection can stay open after this answer."""
    if answer.fault is not None:
        return False
    return not any(name.lower() == "connection" and "close" in value for name, value in answer.headers.items())


def _whole(answer: Answer, method: str, *, keep: bool) -> bytes:
    """All bytes of an answer that has its body at hand."""
    body = _encoded(answer.body)
    if answer.stream is not None or answer.status in _BODILESS:
        return _head(answer, {}, keep=keep)
    length = len(body)
    if answer.fault == "truncate":
        length, body = max(length, 1), body[: length // 2]
    head = _head(answer, {"Content-Length": str(length)}, keep=keep)
    return head if method == "HEAD" else head + body


def _head(answer: Answer, extra: Mapping[str, str], *, keep: bool) -> bytes:
    """Status line and headers; ours only where the answer has none of the name."""
    lines = [f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, 'Unknown')}"]
    for name, value in answer.headers.items():
        lines += [f"{name}: {one}" for one in ((value,) if isinstance(value, str) else value)]
    told = {name.lower() for name in answer.headers}
    ours = {"Content-Type": HTML, **extra} if answer.status not in _BODILESS else dict(extra)
    if not keep:
        ours["Connection"] = "close"
    lines += [f"{name}: {value}" for name, value in ours.items() if name.lower() not in told]
    # Surrogate escapes let a test send any byte in a header.
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")


def _encoded(body: str | bytes) -> bytes:
    return body.encode() if isinstance(body, str) else body


def _as_answer(then: str | bytes | Answer) -> Answer:
    return then if isinstance(then, Answer) else Answer(body=_encoded(then))


def _gzip_of_nothing(megabytes: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)  # 31: the gzip container, largest window
    block = b" " * _MEGABYTE
    return b"".join(packer.compress(block) for _ in range(megabytes)) + packer.flush()


# -- a linked site of any size

_WORDS = """
    amber anchor archive autumn basin beacon birch canal candle cedar chapel cinder clover copper
    cradle delta ember fathom feather fern gable garden glacier granite harbour hazel hollow island
    ivory juniper kettle lantern ledger linen lumen marble meadow mercury mosaic north ochre orchard
    paper pebble quarry quill rafter raven river saffron sailor silver slate sparrow spindle tallow
    thicket timber upland valley velvet walnut weaver willow winter yarrow zephyr
"""
_FAULTS: tuple[Literal["busy", "reset", "truncate"], ...] = ("busy", "reset", "truncate")


def graph_site(
    site: Site,
    pages: int,
    *,
    links: int = 12,
    latency: float = 0,
    faults: float = 0,
    seed: int = 1,
) -> None:
    """Make `/p/0` to `/p/{pages - 1}` a linked site: a few KB of HTML each, the same for the same seed.

    Page i links to 2i+1 and 2i+2, so that every page can be reached in few steps, to random others up to
    `links`, and to its next. A share of `faults` of the pages fails on its first try only: with a 503 and
    `Retry-After: 0`, a reset or a truncated body, a third each. Pages are made when asked for; nothing is
    kept but how often the failing ones were.
    """
    site.handler("/p/*", _Graph(pages, links, latency, faults, seed))


class _Graph:
    """The handler behind `graph_site`."""

    def __init__(self, pages: int, links: int, latency: float, faults: float, seed: int) -> None:
        self._pages = pages
        self._links = links
        self._latency = latency
        self._faults = faults
        self._salt = _mix(seed)
        rng = random.Random(seed)
        words = _WORDS.split()
        self._paragraphs = [_paragraph(rng, words) for _ in range(64)]
        self._tries: Counter[int] = Counter()

    def __call__(self, hit: Hit) -> Answer:
        digits = _origin_form(hit.path).partition("?")[0].removeprefix("/p/")
        number = int(digits) if digits.isdecimal() else self._pages
        if number >= self._pages:
            return Answer(status=404, body=b"<h1>no such page</h1>", latency=self._latency)
        fault = self._fault(number)
        if fault == "busy":
            return Answer(status=503, headers={"Retry-After": "0"}, latency=self._latency)
        return Answer(body=self._page(number), latency=self._latency, fault=fault)

    def _fault(self, number: int) -> Literal["busy", "reset", "truncate"] | None:
        """What is wrong with this try of the page, if anything."""
        draw = _mix(self._salt ^ ~number)
        if draw % 1_000_000 >= self._faults * 1_000_000:
            return None
        self._tries[number] += 1
        return _FAULTS[(draw >> 32) % len(_FAULTS)] if self._tries[number] == 1 else None

    def _page(self, number: int) -> bytes:
        draw = _mix(self._salt ^ number)
        texts = [self._paragraphs[(draw >> shift) & 63] for shift in (0, 6, 12, 18, 24, 30)]
        anchors = "".join(f'<li><a href="/p/{to}">Page {to}</a></li>\n' for to in self._targets(number, draw))
        after = number + 1
        more = f'<a rel="next" href="/p/{after}">next</a>' if after < self._pages else ""
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>Page {number}</title></head>\n"
            f'<body><h1>Page {number}</h1>\n<p class="number" data-number="{number}">{draw % 10_000}</p>\n'
            f"<h2>First</h2>\n{''.join(texts[:3])}<h2>Second</h2>\n{''.join(texts[3:])}"
            f"<ul>\n{anchors}</ul>\n<nav>{more}</nav></body></html>\n"
        ).encode()

    def _targets(self, number: int, draw: int) -> list[int]:
        targets = [child for child in (2 * number + 1, 2 * number + 2) if child < self._pages]
        while len(targets) < self._links:
            draw = _mix(draw)
            targets.append(draw % self._pages)
        return targets


def _mix(value: int) -> int:
    """Splitmix64: a good 64-bit hash in half a microsecond, where a Random per page would take ten."""
    value = (value + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return value ^ (value >> 31)


def _paragraph(rng: random.Random, words: Sequence[str]) -> str:
    sentences = (" ".join(rng.choices(words, k=rng.randint(7, 14))).capitalize() for _ in range(5))
    return f"<p>{'. '.join(sentences)}.</p>\n"


# -- as a process of its own


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m gossamer.testing", description="Serve a generated site on loopback."
    )
    parser.add_argument("--pages", type=int, default=1000, help="how many pages the site has")
    parser.add_argument("--links", type=int, default=12, help="links on each page")
    parser.add_argument("--latency-ms", type=float, default=0, help="milliseconds before each answer")
    parser.add_argument("--faults", type=float, default=0, help="share of pages that fail at first, 0 to 1")
    parser.add_argument("--seed", type=int, default=1, help="another seed, another site")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=0, help="port to listen on; 0 is any free one")
    parser.add_argument("--log", type=Path, help="append a JSON line per request to this file")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Serve until SIGTERM or SIGINT. OSError when the port or the log cannot be had."""
    args = _arguments(argv)
    stop = threading.Event()

    def ask(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask)
    latency = args.latency_ms / 1000
    with Site(args.host, args.port, remember=False, log=args.log) as site:
        graph_site(site, args.pages, links=args.links, latency=latency, faults=args.faults, seed=args.seed)
        sys.stdout.write(f"serving {site.url('/p/0')}\n")
        sys.stdout.flush()
        stop.wait()


if __name__ == "__main__":
    main()
