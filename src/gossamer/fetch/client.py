"""The fetcher on wreq: sends one Request, gives one Response or raises FetchError.

The only file that knows wreq. Redirects are off (the engine follows them, each through the gate), and a body
is never read past its cap.
"""

from __future__ import annotations

import datetime
import re
import time
from types import TracebackType
from typing import Any, Protocol

import wreq
from wreq import exceptions as wrong

from gossamer.errors import Broken, ConnectFailed, FetchError, TimedOut, TlsFailed, TooLarge
from gossamer.settings import ScraperConfig
from gossamer.values import Headers, Request, Response

#: An unwanted body up to this size is read and thrown away, so that its connection can be used again.
CHEAP_TO_DRAIN = 64 << 10

_METHODS = {name: getattr(wreq.Method, name) for name in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")}


class Fetcher(Protocol):
    """Sends one Request, gives one Response."""

    async def fetch(self, request: Request, config: ScraperConfig) -> Response:
        """Fetch, without following redirects. Raises FetchError."""


class Client:
    """A Fetcher on wreq. Use as an async context manager."""

    def __init__(self) -> None:
        self._client = wreq.Client(
            redirect=wreq.redirect.Policy.none(),
            no_proxy=True,
            referer=False,
            http1_options=wreq.Http1Options(max_headers=256, max_buf_size=256 << 10),
        )
        self._timeouts: dict[float, datetime.timedelta] = {}

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    async def fetch(self, request: Request, config: ScraperConfig) -> Response:
        """Fetch, without following redirects. Raises FetchError."""
        started, clock = time.time(), time.monotonic()
        try:
            answer = await self._send(request, config)
            try:
                headers = Headers(_pairs(answer.headers))
                status = answer.status.as_int()
                wanted = _wanted(headers, config) or not 200 <= status < 300
                body = await _body(answer, headers, config.max_body, wanted=wanted)
            finally:
                # Without this an unread body would hold its connection until it is collected.
                await answer.__aexit__(None, None, None)
        except _WRONG as error:
            raise _ours(error, config) from error
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
            raise Broken(f"the method {request.verb!r} is not one we send")
        return self._client.request(method, request.url, headers=headers, timeout=timeout, **extra)


def _content_type(request: Request) -> str:
    if request.json is not None:
        return "application/json"
    return "application/x-www-form-urlencoded" if isinstance(request.data, dict) else "text/plain; charset=utf-8"


def _pairs(headers: Any) -> tuple[tuple[str, str], ...]:
    return tuple((str(k, "latin-1").lower(), _text(v)) for k, v in headers)


def _text(value: Any) -> str:
    """Header values are UTF-8 more often than the Latin-1 they should be."""
    try:
        return str(value, "utf-8")
    except UnicodeDecodeError:
        return str(value, "latin-1")


def _wanted(headers: Headers, config: ScraperConfig) -> bool:
    """Whether the body is of a type that the scraper reads."""
    if not config.content_types:
        return True
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return not kind or kind in config.content_types


async def _body(answer: Any, headers: Headers, cap: int, *, wanted: bool) -> bytes:
    length = headers.get("content-length", "")
    known = int(length) if length.isdigit() and len(length) < 16 and "content-encoding" not in headers else None
    if not wanted:
        if known is not None and known <= CHEAP_TO_DRAIN:
            await answer.bytes()
        return b""
    if known is not None:
        if known > cap:
            raise TooLarge(f"the body has {known:,} bytes, more than max_body allows ({cap:,})")
        return bytes(await answer.bytes())
    return await _stream(answer, cap)


async def _stream(answer: Any, cap: int) -> bytes:
    """Read a body whose size nobody promised; stop at the cap."""
    read = bytearray()
    async with answer.stream() as chunks:
        async for chunk in chunks:
            if not isinstance(chunk, memoryview):  # trailers
                continue
            read += chunk
            if len(read) > cap:
                raise TooLarge(f"the body has more bytes than max_body allows ({cap:,})")
    return bytes(read)


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
    for pattern in _MESSAGES:
        if match := pattern.search(told):
            return match[1]
    return " ".join(told.split())[:200]


def _ours(error: Exception, config: ScraperConfig) -> FetchError:
    """A wreq error as one of ours."""
    told = _gist(str(error))
    if isinstance(error, wrong.TimeoutError):
        return TimedOut(f"no complete answer within {config.timeout:g} s")
    if isinstance(error, wrong.TlsError) or "certificate" in told.lower():
        return TlsFailed(f"no secure connection: {told}")
    if isinstance(error, wrong.ConnectionResetError):
        return Broken("the connection was reset")
    if isinstance(error, wrong.ConnectionError | wrong.ProxyConnectionError):
        return ConnectFailed(f"no connection: {told}")
    return Broken(f"the answer broke off or was not HTTP: {told}")
