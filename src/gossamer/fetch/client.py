"""The fetcher on wreq: sends one Request, gives one Response or raises FetchError.

Redirects are off (the engine follows them, each through the gate), a body is never read past its cap, and a
connection goes to an address that was checked, or not at all.
"""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from datetime import timedelta
from math import inf
from types import TracebackType
from typing import Any

import wreq

from gossamer import urls
from gossamer.errors import Bomb, FetchError, HeadersTooLarge, ProxyFailed, TimedOut, TooLarge, Unsendable
from gossamer.fetch import faults
from gossamer.fetch.addresses import Pinned
from gossamer.fetch.bodies import Download, Kept, Sink, target
from gossamer.fetch.codings import Unpacker
from gossamer.fetch.lines import Line, Lines
from gossamer.fetch.way import Way
from gossamer.settings import ScraperConfig
from gossamer.values import METHODS, Headers, Request, Response, is_secret

#: An unwanted body up to this size is read and thrown away, so that its connection can be used again.
CHEAP_TO_DRAIN = 64 << 10
#: A body up to this size is read in one piece.
ONE_PIECE = 1 << 20
#: Bytes per second below which a download is given up after `timeout`: one that drips would never end.
SLOWEST_DOWNLOAD = 1 << 10

_METHODS = {name: getattr(wreq.Method, name) for name in METHODS}
_BODILESS = frozenset({204, 304})
_FOR_EVER = timedelta(days=365)
#: Of a download wreq decodes nothing: its bytes are counted as they come.
_AS_IT_IS = {"gzip": False, "brotli": False, "zstd": False, "deflate": False}


class Client:
    """A Fetcher on wreq. Use as an async context manager."""

    def __init__(self) -> None:
        self._lines = Lines()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()

    async def fetch(self, request: Request, config: ScraperConfig, way: Way) -> Response:
        """Fetch, without following redirects. Raises FetchError."""
        if request.save is not None:
            return await self._fetch_file(request, request.save, config, way)
        url = _asked_at(request.url, config, way) if config.stand_ins else request.url
        line, pinned = self._lines.known(url, config, way) or await self._lines.to(url, config, way)
        if way.leave is not None:
            await way.leave()
        started, clock = time.time(), time.monotonic()
        answer = kept = None
        try:
            answer = await _send(line, url, request, config, way)
            remote, headers, status, length = _opened(answer, line, pinned, config, way)
            wanted = not config.content_types or not 200 <= status < 300 or _wanted(headers, config)
            if length <= config.max_body and wanted:
                body = bytes(await answer.bytes())
            else:
                bodiless = status in _BODILESS or (request.method is not None and request.verb == "HEAD")
                body, kept = await _read(answer, headers, config, way, wanted=wanted, bodiless=bodiless)
        except FetchError:
            await _release(answer)
            raise
        except faults.WRONG as error:
            raise faults.ours(error, config, way.proxy, time.monotonic() - clock) from error
        except faults.UNSENDABLE as error:
            raise faults.unsendable(error) from error
        elapsed = time.monotonic() - clock
        if kept is not None:
            return _response(request, status, headers, kept, started, elapsed, remote)
        return Response(request.url, status, headers, body, started, elapsed, not wanted, remote=remote)

    async def _fetch_file(self, request: Request, save: str, config: ScraperConfig, way: Way) -> Response:
        """A download: the same, with the body in a file. What is no file (404, a redirect) is as without."""
        path = target(config.files, save)
        url = _asked_at(request.url, config, way)
        line, pinned = await self._lines.to(url, config, way)
        if way.leave is not None:
            await way.leave()
        started, clock = time.time(), time.monotonic()
        answer = kept = None
        async with Download(path, request.url, cap=config.max_download) as download:
            try:
                extra = download.headers(resume=request.verb == "GET")
                answer = await _send(line, url, request, config, way, extra)
                remote, headers, status, _ = _opened(answer, line, pinned, config, way)
                if status in (200, 206):
                    body, kept = b"", await _save(answer, download, status, headers, config)
                else:
                    body, kept = await _read(answer, headers, config, way, wanted=True, bodiless=status in _BODILESS)
                    if status == 416 and "range" in extra:
                        kept, status = await download.end_complete(headers), 200
            except FetchError:
                await _release(answer)
                raise
            except faults.WRONG as error:
                raise faults.ours(error, config, way.proxy, None) from error
            except faults.UNSENDABLE as error:
                raise faults.unsendable(error) from error
        elapsed = time.monotonic() - clock
        if kept is not None:
            return _response(request, status, headers, kept, started, elapsed, remote)
        return Response(request.url, status, headers, body, started, elapsed, remote=remote)


# -- the request -------------------------------------------------------------------------------------------------


def _asked_at(url: str, config: ScraperConfig, way: Way) -> str:
    """Where a URL is really asked for: at what stands in for its host, if something does."""
    instead = urls.stand_in(url, config.stand_ins)
    if instead is None:
        return url
    way.addresses.allow(urls.host(instead))  # somebody typed it
    return instead + url.removeprefix(urls.origin(url))


def _send(
    line: Line, url: str, request: Request, config: ScraperConfig, way: Way, file: Mapping[str, str] | None = None
) -> Any:
    """What to await for the answer. For a `file`, its headers; it has no limit to its time but its pace."""
    headers = _headers(request, config, way)
    if file is None and request.method is None and request.json is None and request.data is None:
        return line.client.get(url, headers=headers)
    how: dict[str, Any] = {}
    if file is not None:
        headers.update(file)
        how = {"timeout": _FOR_EVER, "read_timeout": timedelta(seconds=config.first_byte), **_AS_IT_IS}
    body = request.body
    if body is not None:
        how["body"] = body
        headers.setdefault("content-type", _content_type(request))
    method = _METHODS.get(request.verb)
    if method is None:
        raise Unsendable(f"the method {request.verb!r} is not one we send")
    return line.client.request(method, url, headers=headers, **how)


def _headers(request: Request, config: ScraperConfig, way: Way) -> dict[str, str]:
    """The scraper's own headers, the request's, this attempt's: the last one counts."""
    # A browser that is played sends its own name, with its other headers and in its order.
    headers = {} if way.identity.browser else {"user-agent": way.identity.user_agent}
    for name, text in config.headers.items():
        if way.trusted or not is_secret(name):
            headers[name.lower()] = text
    if request.headers:
        headers.update((name.lower(), text) for name, text in request.headers.items())
    if way.headers:
        headers.update((name.lower(), text) for name, text in way.headers.items())
    return headers


def _content_type(request: Request) -> str:
    if request.json is not None:
        return "application/json"
    return "application/x-www-form-urlencoded" if isinstance(request.data, dict) else "text/plain; charset=utf-8"


# -- the answer --------------------------------------------------------------------------------------------------


def _opened(
    answer: Any, line: Line, pinned: Pinned, config: ScraperConfig, way: Way
) -> tuple[str | None, Headers, int, float]:
    """Who answered, headers and status; also the length of a body that can be read as it is in one piece, else inf.

    Raises AddressRefused, HeadersTooLarge, or ProxyFailed.
    """
    raw = answer.headers
    status = answer.status.as_int()
    remote = line.remote(answer, pinned)
    # Written out they are never shorter than they are: the sum is seldom needed.
    if len(str(raw)) > config.max_headers and sum(len(k) + len(v) for k, v in raw) > config.max_headers:
        raise HeadersTooLarge(f"the headers are more than max_headers allows ({config.max_headers:,} bytes)")
    if way.proxy is not None:
        remote = None  # it is the proxy's
        if status == 407:
            raise ProxyFailed(f"the proxy {way.proxy.label} wants other credentials")
    length = answer.content_length
    piece = ONE_PIECE if config.spool_above >= ONE_PIECE else config.spool_above
    plain = length is not None and length <= piece and "content-encoding" not in raw
    return remote, Headers.lazy(raw), status, length if plain else inf


async def _release(answer: Any) -> None:
    """An unread body would hold its connection until it is collected."""
    if answer is not None:
        await answer.__aexit__(None, None, None)


def _wanted(headers: Headers, config: ScraperConfig) -> bool:
    """Whether the body is of a type that the scraper reads."""
    if not config.content_types:
        return True
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return not kind or kind in config.content_types


async def _read(
    answer: Any, headers: Headers, config: ScraperConfig, way: Way, *, wanted: bool, bodiless: bool
) -> tuple[bytes, Kept | None]:
    """The body, in memory or in a file; nothing of one that is not wanted."""
    length = answer.content_length
    whole = False
    try:
        if bodiless or (not wanted and length is not None and length <= CHEAP_TO_DRAIN):
            await answer.bytes()
            whole = True
            return b"", None
        if not wanted:
            return b"", None
        if length is not None and length > config.max_body and not way.part:
            raise TooLarge(f"the body has {length:,} bytes, more than max_body allows ({config.max_body:,})")
        sink = Sink(above=config.spool_above, folder=way.spool)
        try:
            whole = await _pour(answer, headers, sink, config, part=way.part)
            return await sink.end()
        finally:
            sink.close()
    finally:
        if not whole:
            await _release(answer)


async def _pour(answer: Any, headers: Headers, sink: Sink, config: ScraperConfig, *, part: bool) -> bool:
    """The body into a sink, unpacked, up to its cap; whether that was all of it. Raises TooLarge, Bomb or Broken."""
    cap = config.max_body
    coding = headers.get("content-encoding", "")
    unpacker = Unpacker(coding, cap=sys.maxsize if part else cap, ratio=config.max_ratio)
    async with aclosing(_chunks(answer)) as chunks:
        async for chunk in chunks:
            for piece in unpacker.feed(chunk):
                room = cap - sink.size
                if len(piece) <= room:
                    await sink.take(piece)
                elif part:
                    await sink.take(piece[:room])
                    return False
                elif _undone(answer, headers):
                    raise Bomb(f"the body unpacks to more bytes than max_body allows ({cap:,})")
                else:
                    raise TooLarge(f"the body has more bytes than max_body allows ({cap:,})")
    unpacker.end()
    return True


async def _chunks(answer: Any, one_piece: int = ONE_PIECE) -> AsyncGenerator[memoryview, None]:
    """A body as it comes; a small one in one piece."""
    if answer.content_length is not None and answer.content_length <= one_piece:
        yield await answer.bytes()
        return
    async with answer.stream() as chunks:
        async for chunk in chunks:
            if isinstance(chunk, memoryview):  # others are trailers
                yield chunk


def _undone(answer: Any, headers: Headers) -> bool:
    """Whether wreq undid a coding. It takes away the headers that would say so: what tells is that none is left."""
    return (
        answer.content_length is None
        and answer.version == wreq.Version.HTTP_11
        and not {"transfer-encoding", "content-encoding", "content-length"} & {name for name, _ in headers.pairs()}
        and "close" not in headers.get("connection", "").lower()
    )


async def _save(answer: Any, download: Download, status: int, headers: Headers, config: ScraperConfig) -> Kept:
    """The body of a download into its file. Raises FetchError."""
    whole = False
    clock = time.monotonic()
    try:
        unpacker = Unpacker(download.coding(headers), cap=config.max_download, ratio=config.max_ratio)
        await download.begin(status, headers, answer.content_length)
        came = 0
        async with aclosing(_chunks(answer, 0)) as chunks:
            async for chunk in chunks:
                for piece in unpacker.feed(chunk):
                    await download.take(piece)
                came, took = came + len(chunk), time.monotonic() - clock
                if took > config.timeout and came < took * SLOWEST_DOWNLOAD:
                    raise TimedOut(f"the file came too slowly: {came:,} bytes in {took:.0f} s")
        unpacker.end()
        whole = True
        return await download.end()
    finally:
        if not whole:
            await _release(answer)


def _response(
    request: Request, status: int, headers: Headers, kept: Kept, started: float, elapsed: float, remote: str | None
) -> Response:
    """An answer whose body is in a file."""
    return Response(
        request.url,
        status,
        headers,
        b"",
        started,
        elapsed,
        file=kept.file,
        file_size=kept.size,
        sha256=kept.sha256,
        remote=remote,
    )
