"""The fetcher on wreq: sends one Request, gives one Response or raises FetchError.

The only file that knows wreq. Redirects are off (the engine follows them, each through the gate), and a body
is never read past its cap.
"""

from __future__ import annotations

import datetime
import re
import time
import zlib
from types import TracebackType
from typing import Any, Protocol

import wreq
from wreq import exceptions as wrong

from gossamer.errors import Broken, ConnectFailed, FetchError, TimedOut, TlsFailed, TooLarge, Unsendable
from gossamer.settings import ScraperConfig
from gossamer.values import METHODS, Headers, Request, Response

#: An unwanted body up to this size is read and thrown away, so that its connection can be used again.
CHEAP_TO_DRAIN = 64 << 10
#: Nobody compresses a body more often who means well.
MOST_CODINGS = 4

_ZIPPED = frozenset({"gzip", "x-gzip", "deflate"})
_ANY_HEADER = 32 + zlib.MAX_WBITS

_METHODS = {name: getattr(wreq.Method, name) for name in METHODS}


class Fetcher(Protocol):
    """Sends one Request, gives one Response."""

    async def fetch(self, request: Request, config: ScraperConfig, *, part: bool = False) -> Response:
        """Fetch, without following redirects. Raises FetchError.

        A body larger than `max_body` is an error, unless its first `part` is enough.
        """


class Client:
    """A Fetcher on wreq. Use as an async context manager."""

    def __init__(self) -> None:
        self._client = wreq.Client(
            redirect=wreq.redirect.Policy.none(),
            no_proxy=True,
            referer=False,
            http1_options=wreq.Http1Options(max_headers=256, max_buf_size=256 << 10),
            deflate=False,  # wreq refuses the half of deflate bodies that lack a zlib header: we undo them
        )
        self._timeouts: dict[float, datetime.timedelta] = {}

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    async def fetch(self, request: Request, config: ScraperConfig, *, part: bool = False) -> Response:
        """Fetch, without following redirects. Raises FetchError."""
        started, clock = time.time(), time.monotonic()
        try:
            answer = await self._send(request, config)
            headers = Headers.lazy(answer.headers)
            status = answer.status.as_int()
            wanted = _wanted(headers, config) or not 200 <= status < 300
            read = False
            try:
                body, read = await _body(answer, headers, config.max_body, wanted=wanted, part=part)
            finally:
                if not read:
                    # An unread body would hold its connection until it is collected.
                    await answer.__aexit__(None, None, None)
        except _WRONG as error:
            raise _ours(error, config) from error
        except (TypeError, ValueError, RuntimeError, OverflowError) as error:
            # wreq's word for a request that it cannot even begin to send.
            raise Unsendable(f"the request cannot be sent: {' '.join(str(error).split())[:200]}") from error
        elapsed = time.monotonic() - clock
        return Response(request.url, status, headers, body, started, elapsed, not wanted)

    def _send(self, request: Request, config: ScraperConfig) -> Any:
        timeout = self._timeouts.get(config.timeout)
        if timeout is None:
            timeout = self._timeouts[config.timeout] = datetime.timedelta(seconds=config.timeout)
        headers = {"user-agent": config.user_agent, **config.headers}
        if request.plain and not request.headers:
            return self._client.get(request.url, headers=headers, timeout=timeout)
        extra: dict[str, Any] = {}
        body = request.body
        if body is not None:
            extra["body"] = body
            headers.setdefault("content-type", _content_type(request))
        headers.update(request.headers or {})
        method = _METHODS.get(request.verb)
        if method is None:
            raise Unsendable(f"the method {request.verb!r} is not one we send")
        return self._client.request(method, request.url, headers=headers, timeout=timeout, **extra)


def _content_type(request: Request) -> str:
    if request.json is not None:
        return "application/json"
    return "application/x-www-form-urlencoded" if isinstance(request.data, dict) else "text/plain; charset=utf-8"


def _wanted(headers: Headers, config: ScraperConfig) -> bool:
    """Whether the body is of a type that the scraper reads."""
    if not config.content_types:
        return True
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return not kind or kind in config.content_types


def _length(headers: Headers) -> int | None:
    """The length a server promised, if it makes sense."""
    told = headers.get("content-length", "")
    return int(told) if told.isascii() and told.isdigit() and len(told) < 16 else None


async def _body(answer: Any, headers: Headers, cap: int, *, wanted: bool, part: bool) -> tuple[bytes, bool]:
    """The body, and whether all of it was read."""
    known = None if "content-encoding" in headers else _length(headers)
    if not wanted:
        if known is None or known > CHEAP_TO_DRAIN:
            return b"", False
        await answer.bytes()
        return b"", True
    if known is not None and (known <= cap or not part):
        if known > cap:
            raise TooLarge(f"the body has {known:,} bytes, more than max_body allows ({cap:,})")
        return bytes(await answer.bytes()), True
    body = await _stream(answer, cap, part=part)
    # wreq takes the header away when it undoes a coding; it knows only one, spelled in lower case.
    codings = headers.get("content-encoding", "").lower().split(",")
    if len(codings) > MOST_CODINGS:
        raise Broken(f"the body is compressed {len(codings)} times over")
    for coding in reversed(codings):
        if coding.strip() in _ZIPPED and body:
            body = _unzipped(body, cap)
    return body, not part


def _unzipped(body: bytes, cap: int) -> bytes:
    """Undo gzip, or deflate with and without its zlib header; stop at the cap."""
    headed = body[:2] == b"\x1f\x8b" or (body[0] & 15 == 8 and int.from_bytes(body[:2], "big") % 31 == 0)
    reader = zlib.decompressobj(_ANY_HEADER if headed else -zlib.MAX_WBITS)
    try:
        read = reader.decompress(body, cap + 1)
    except zlib.error as error:
        raise Broken(f"the body is not compressed as it says: {error}") from error
    if len(read) > cap:
        raise TooLarge(f"the body has more bytes than max_body allows ({cap:,})")
    if not reader.eof:
        raise Broken("the compressed body broke off")
    return read


async def _stream(answer: Any, cap: int, *, part: bool) -> bytes:
    """Read a body whose size nobody promised; stop at the cap."""
    read = bytearray()
    async with answer.stream() as chunks:
        async for chunk in chunks:
            if not isinstance(chunk, memoryview):  # trailers
                continue
            read += chunk
            if len(read) > cap:
                if part:
                    break
                raise TooLarge(f"the body has more bytes than max_body allows ({cap:,})")
    return bytes(read[:cap])


_WRONG = (
    wrong.TimeoutError,
    wrong.TlsError,
    wrong.ConnectionError,
    wrong.ConnectionResetError,
    wrong.ProxyConnectionError,
    wrong.BodyError,
    wrong.DecodingError,
    wrong.RequestError,
    wrong.BuilderError,
    wrong.RedirectError,
    wrong.StatusError,
    wrong.UpgradeError,
)


_MESSAGES = (
    re.compile(r'message: "([^"]{1,200})"'),
    re.compile(r'Custom\([^"]*"([^"]{1,200})"'),
    re.compile(r'ConnectError\("([^"]{1,200})"'),
)


def _gist(told: str) -> str:
    """The few words of a wreq error that mean something to a person."""
    if "dns error" in told:
        return "the host name is not known"
    if "IncompleteBody" in told or "UnexpectedEof" in told:
        return "the body ended before it was complete"
    for pattern in _MESSAGES:
        if match := pattern.search(told):
            return match[1]
    return " ".join(told.split())[:200]


def _ours(error: Exception, config: ScraperConfig) -> FetchError:
    """A wreq error as one of ours."""
    told = _gist(str(error))
    if isinstance(error, wrong.TimeoutError) or "source: TimedOut" in str(error):  # while a body is being read
        return TimedOut(f"no complete answer within {config.timeout:g} s")
    if isinstance(error, wrong.TlsError) or "certificate" in told.lower():
        return TlsFailed(f"no secure connection: {told}")
    if isinstance(error, wrong.ConnectionResetError):
        return Broken("the connection was reset")
    if isinstance(error, wrong.ConnectionError | wrong.ProxyConnectionError):
        return ConnectFailed(f"no connection: {told}")
    return Broken(f"the answer broke off or was not HTTP: {told}")
