"""What executors fetch with: `context.session.get(url)`, in the way aiohttp has made familiar."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from gossamer import urls
from gossamer.errors import ConfigError, Unsendable
from gossamer.flow.desk import Desk, drop
from gossamer.flow.seat import Seat
from gossamer.parse.page import Page
from gossamer.values import Headers, Request, Response

#: Characters that would end a cookie.
_NO_COOKIE = frozenset(";,\r\n\0")


class AnswerHeaders(Headers):
    """Response headers: names are matched without regard to case; a name may come several times."""

    __slots__ = ()

    def getone(self, name: str) -> str:
        """The first value of a header; KeyError if it was not sent."""
        return self[name]


class Answer:
    """An answer, whole: its body has been read by the time it is there."""

    def __init__(self, request: Request, response: Response, *, accepted: bool) -> None:
        #: Whether the status is 2xx, or one that the setting `accept_status` names.
        self.accepted = accepted
        self.response = response
        self.status = response.status
        #: The URL that answered, after redirects.
        self.url = response.url
        self.headers = AnswerHeaders(response.headers.pairs())
        self._request = request

    @property
    def ok(self) -> bool:
        """Whether the status is below 400."""
        return self.status < 400

    @property
    def content_type(self) -> str:
        """The media type without its parameters, in lower case; empty if none was sent."""
        return self.response.content_type

    @property
    def page(self) -> Page:
        """The answer as a page: `css`, `xpath`, `links`, `json()`."""
        return Page(self._request, self.response)

    async def read(self) -> bytes:
        """The body."""
        if self.response.file is None:
            return self.response.body
        return await asyncio.to_thread(Path(self.response.file).read_bytes)

    async def text(self) -> str:
        """The body as text, in the encoding that it declares."""
        return self.page.text

    async def json(self) -> Any:
        """The body as JSON. Raises RuntimeError if it is none."""
        try:
            return msgspec.json.decode(await self.read())
        except msgspec.DecodeError as why:
            raise RuntimeError(f"{self.url} gave no JSON: {why}") from None

    def raise_for_status(self) -> None:
        """Raises RuntimeError for a status from 400."""
        if not self.ok:
            raise RuntimeError(f"HTTP response {self.status}")


class Asking:
    """A request that goes out when it is awaited, or entered with `async with`."""

    def __init__(self, fetch: Any) -> None:
        self._fetch = fetch
        self._answer: Answer | None = None

    def __await__(self) -> Generator[Any, None, Answer]:
        return self._fetch().__await__()  # type: ignore[no-any-return]

    async def __aenter__(self) -> Answer:
        self._answer = await self._fetch()
        return self._answer

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._answer is not None:
            drop(self._answer.response)


class Session:
    """Fetches for one task: at the same gate, under the same rules and through the same proxies as a run."""

    def __init__(self, desk: Desk, seat: Seat, url: str | None) -> None:
        """`url` is the task's own, which may lie at a private address and have a login in it."""
        self._desk = desk
        self._seat = seat
        self._url = url

    def get(self, url: str, **how: Any) -> Asking:
        """Send a GET. Keyword arguments are those of `request`."""
        return self.request("GET", url, **how)

    def post(self, url: str, **how: Any) -> Asking:
        """Send a POST. Keyword arguments are those of `request`."""
        return self.request("POST", url, **how)

    def head(self, url: str, **how: Any) -> Asking:
        """Send a HEAD. Keyword arguments are those of `request`."""
        return self.request("HEAD", url, **how)

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        data: str | bytes | dict[str, Any] | None = None,
        cookies: Mapping[str, str] | str | None = None,
        country: str | None = None,
    ) -> Asking:
        """Send a request when awaited; redirects are followed, and what may pass is tried again.

        `cookies` and secret headers go to this host only; `country` is that of the proxy. Raises FetchError, Blocked
        for a captcha or a login wall, or Held if the host is to be left alone for long.
        """

        async def fetch() -> Answer:
            bare = self._start(url)
            verb = None if method.upper() == "GET" and json is None and data is None else method
            request = Request(bare, verb, dict(headers) if headers else None, json, data, country=country)
            response = await self._desk.fetch(request, self._seat, _cookie(cookies))
            return Answer(request, response, accepted=self._desk.accepts(response.status))

        return Asking(fetch)

    def _start(self, url: str) -> str:
        """A URL as it is fetched. Raises Unsendable."""
        try:
            bare, login = urls.with_login(url)
        except (ConfigError, AttributeError, TypeError) as why:
            raise Unsendable(str(why) if isinstance(why, ConfigError) else f"{url!r:.80} is no URL") from None
        if url == self._url:
            self._desk.ways.start(bare, login)
        return bare


def _cookie(cookies: Mapping[str, str] | str | None) -> str:
    """Cookies as a header. Raises Unsendable."""
    if not cookies:
        return ""
    if isinstance(cookies, str):
        if not cookies.isprintable():
            raise Unsendable("the cookies have characters that no header has: write name=value; name=value")
        return cookies
    for name, value in cookies.items():
        if _NO_COOKIE & set(f"{name}{value}") or "=" in name or not f"{name}{value}".isprintable():
            raise Unsendable(f"the cookie {name!r:.40} has characters that no cookie has")
    return "; ".join(f"{name}={value}" for name, value in cookies.items())
