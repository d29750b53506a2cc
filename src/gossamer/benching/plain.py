"""The plain way: a script that asks for one page after the other, on a connection it keeps, and reads each.

It calls the same handlers as Gossamer does, so that what is compared is the walk and not the reading. As scripts of
this kind do, it asks for no robots.txt, tries nothing twice, and keeps its items in memory.
"""

from __future__ import annotations

import hashlib
import http.client
import importlib.util
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from gossamer import runs, seeding, urls
from gossamer.benching.results import Took
from gossamer.builtin import HANDLERS
from gossamer.errors import GossamerError
from gossamer.library import wait
from gossamer.parse.page import Page
from gossamer.pipeline import Pipeline
from gossamer.reader import Watchdog
from gossamer.registry import Found
from gossamer.scope import Scope
from gossamer.scraper import as_iterable
from gossamer.settings import ScraperConfig
from gossamer.values import REDIRECTS, Headers, Item, Request, Response

#: Redirects followed.
MOST_HOPS = 10
#: Seconds for one answer.
TIMEOUT = 30.0

#: (status, headers, body).
Answered = tuple[int, list[tuple[str, str]], bytes]


def library() -> str:
    """What it is written with: requests, where that is installed."""
    if importlib.util.find_spec("requests") is None:
        return "http.client"
    from importlib.metadata import version

    return f"requests {version('requests')}"


class Sender(Protocol):
    """Sends requests on connections that it keeps."""

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Answered:
        """Send one, and read all of the answer. Raises OSError."""

    def close(self) -> None:
        """Hang up."""


class _Requests:
    def __init__(self) -> None:
        import requests

        self._session = requests.Session()
        self._session.trust_env = False  # no proxy between us and our own machine

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Answered:
        answer = self._session.request(
            method, url, headers=dict(headers), data=body, timeout=TIMEOUT, allow_redirects=False
        )
        return answer.status_code, list(answer.headers.items()), answer.content

    def close(self) -> None:
        self._session.close()


class _HttpClient:
    def __init__(self) -> None:
        self._lines: dict[str, http.client.HTTPConnection] = {}

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Answered:
        parts = urlsplit(url)
        line = self._lines.get(parts.netloc)
        if line is None:
            line = self._lines[parts.netloc] = http.client.HTTPConnection(parts.netloc, timeout=TIMEOUT)
        try:
            line.request(method, f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}", body, dict(headers))
            answer = line.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        except (http.client.HTTPException, OSError):
            self._lines.pop(parts.netloc).close()
            raise

    def close(self) -> None:
        for line in self._lines.values():
            line.close()


def sender() -> Sender:
    """How it sends."""
    return _HttpClient() if library() == "http.client" else _Requests()


class Script:
    """The script, for one scraper: its start requests, then all they lead to, in the order found."""

    def __init__(self, found: Found, params: Mapping[str, Any], flags: Mapping[str, Any], sender: Sender) -> None:
        plan = runs.plan(found, params, flags)
        self._config: ScraperConfig = plan.settings.config
        self._scraper = found.scraper(plan.params)
        self._pipeline = Pipeline(self._scraper)
        self._scope = Scope(self._config)
        self._sender = sender
        self._known: set[str] = set()
        self._waiting: deque[Request] = deque()
        self.pages = self.failed = 0
        self.items: set[tuple[str, str]] = set()

    def run(self, tell: Callable[[], None] = lambda: None) -> None:
        """Walk all."""
        for request in wait(self._starts()):
            self._scope.start([request.url])
            self._add(request)
        with tempfile.TemporaryDirectory(prefix="gossamer-bench-") as folder:
            while self._waiting:
                self._walk(self._waiting.popleft(), Path(folder))
                tell()

    async def _starts(self) -> list[Request]:
        with Watchdog() as watchdog:
            return [request async for request, _ in seeding.start_requests(self._scraper, watchdog)]

    def _add(self, request: Request) -> None:
        mark = request.fingerprint
        if mark not in self._known or request.revisit:
            self._known.add(mark)
            self._waiting.append(request)

    def _walk(self, request: Request, folder: Path) -> None:
        try:
            page = Page(request, self._fetched(request, folder))
            if page.status >= 300 and page.status not in self._config.accept_status:
                raise OSError(f"status {page.status}")
            self._scraper.validate(page)
            self._read(page)
        except (OSError, ValueError, http.client.HTTPException, GossamerError):
            self.failed += 1
        else:
            self.pages += 1

    def _fetched(self, request: Request, folder: Path) -> Response:
        headers = {"User-Agent": self._config.user_agent, **self._config.headers, **(request.headers or {})}
        if request.json is not None:
            headers.setdefault("Content-Type", "application/json")
        elif isinstance(request.data, dict):
            headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
        began, clock = time.time(), time.monotonic()
        url, (status, sent, body) = self._followed(request, headers)
        answer = Response(url, status, Headers(sent), body, began, time.monotonic() - clock)
        return _saved(answer, folder) if request.save is not None and status == 200 else answer

    def _followed(self, request: Request, headers: Mapping[str, str]) -> tuple[str, Answered]:
        """Where a request ended, and the answer there. Redirects, too, lead to what stands in for their host."""
        url, verb, body = request.url, request.verb, request.body
        for _ in range(MOST_HOPS + 1):
            instead = urls.stand_in(url, self._config.stand_ins)
            asked = instead + url.removeprefix(urls.origin(url)) if instead else url
            answered = self._sender.send(verb, asked, headers, body)
            onward = next((value for name, value in answered[1] if name.lower() == "location"), "")
            to = urls.resolve(onward, url) if answered[0] in REDIRECTS and onward else None
            if to is None:
                return url, answered
            if verb == "POST" and answered[0] in (301, 302, 303):  # as browsers do
                verb, body = "GET", None
            url = to
        raise OSError(f"more than {MOST_HOPS} redirects")

    def _read(self, page: Page) -> None:
        handler = HANDLERS.get(page.request.handler) or self._scraper.handler(page.request.handler)
        yielded: Any = handler(page)
        self._sort(as_iterable(yielded) if yielded is not None else (), page)

    def _sort(self, values: Iterable[Any], page: Page) -> None:
        for value in values:
            if isinstance(value, list | tuple):
                self._sort(value, page)
            elif isinstance(value, Request):
                url = urls.resolve(value.url, page.base_url)
                depth = page.depth + 1
                if url is not None and self._scope.drops(url, depth, again=value.revisit) is None:
                    self._add(value.evolve(url=url, depth=depth))
            else:
                item = self._pipeline.item(value, page)
                if isinstance(item, Item):
                    self.items.add((item.kind, item.key))


def _saved(answer: Response, folder: Path) -> Response:
    """An answer whose body lies in a file, as a download's does."""
    digest = hashlib.sha256(answer.body).hexdigest()
    path = folder / digest
    path.write_bytes(answer.body)
    return Response(
        answer.url,
        answer.status,
        answer.headers,
        b"",
        answer.started,
        answer.elapsed,
        file=str(path),
        file_size=len(answer.body),
        sha256=digest,
    )


def walk(
    scrapers: Iterable[tuple[Found, Mapping[str, Any]]],
    flags: Mapping[str, Any],
    tell: Callable[[], None] = lambda: None,
) -> Took:
    """Run scrapers one after the other, the plain way."""
    began = time.monotonic()
    pages = failed = items = 0
    with closing(sender()) as used:
        for found, params in scrapers:
            script = Script(found, params, flags, used)
            script.run(tell)
            pages, failed, items = pages + script.pages, failed + script.failed, items + len(script.items)
    return Took(library(), "sync", time.monotonic() - began, pages, failed, items)
