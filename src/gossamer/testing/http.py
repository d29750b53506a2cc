"""HTTP/1.1 on one connection: as much of it as a misbehaving site needs."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from gossamer.testing.exchange import Answer, Hit, encoded
from gossamer.testing.ledger import Exchange, Ledger
from gossamer.testing.routes import Routes

HTML = "text/html; charset=utf-8"
_LONGEST_HEAD = 1 << 16
_REASONS = {status.value: status.phrase for status in HTTPStatus}
_BODILESS = frozenset({204, 304})
# Linger on, for zero seconds: close() then throws the connection away with a RST instead of a FIN.
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_BEFORE_RESET = 0.05


@dataclass(frozen=True, slots=True)
class _Head:
    """The part of a request before its body."""

    method: str
    path: str
    headers: dict[str, str]
    keep: bool
    chunks_allowed: bool


class Connection(asyncio.Protocol):
    """One client. Its requests are answered one after the other, however many it sends ahead."""

    def __init__(self, routes: Routes, ledger: Ledger, connections: set[Connection]) -> None:
        self._routes = routes
        self._ledger = ledger
        self._connections = connections
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport
        self._address = ""
        self._buffer = bytearray()
        self._head: _Head | None = None
        self._keep = False
        self._chunks_allowed = False
        self._exchange: Exchange | None = None
        self._timer: asyncio.Handle | None = None
        self._stream: _Stream | None = None
        self._full = False

    # -- called by the loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._address = transport.get_extra_info("sockname")[0]
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
                self._finish(whole(Answer(status=400), "GET", keep=False), keep=False)
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
        at = time.monotonic()
        return Hit(method=head.method, path=head.path, headers=head.headers, body=body, at=at, address=self._address)

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
            self._send_raw(answer, answer.raw)
        elif answer.stream is not None and hit.method != "HEAD":
            self._start_stream(answer, answer.stream())
        else:
            keep = self._keep and _keeps(answer)
            data = whole(answer, hit.method, keep=keep)
            if answer.fault == "abort":
                self._transport.write(data)
                # Sent at once, the reset would overtake what was written.
                self._timer = self._loop.call_later(_BEFORE_RESET, self._reset)
            else:
                self._finish(data, keep=keep)

    def _send_raw(self, answer: Answer, raw: bytes | Callable[[], Iterable[bytes]]) -> None:
        if isinstance(raw, bytes):
            self._finish(raw, keep=False)
            return
        self._stream = _Stream(iter(raw()), answer.every, chunked=False, tail=b"", keep=False)
        self._pump()

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
        self._transport.write(head_of(answer, extra, keep=keep))
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


# -- requests from bytes, answers to bytes


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


def whole(answer: Answer, method: str, *, keep: bool) -> bytes:
    """All bytes of an answer that has its body at hand."""
    body = encoded(answer.body)
    if answer.stream is not None or answer.status in _BODILESS:
        return head_of(answer, {}, keep=keep)
    length = len(body)
    if answer.fault in ("truncate", "abort"):
        length, body = max(length, 1), body[: length // 2]
    head = head_of(answer, {"Content-Length": str(length)}, keep=keep)
    return head if method == "HEAD" else head + body


def head_of(answer: Answer, extra: Mapping[str, str], *, keep: bool) -> bytes:
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
