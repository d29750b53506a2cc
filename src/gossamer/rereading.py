"""Reading archived pages again, in a process of its own: `python -m gossamer.rereading` serves one replay.

It is told on stdin which pages to read, and answers on stdout; what handlers print goes to stderr. A process of its
own and not a fork: nothing of the caller's is in it, and a page that kills it costs that page.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Iterable
from typing import Any, BinaryIO

import msgspec

from gossamer import builtin, registry, settings, telemetry, urls
from gossamer.engine import PARSE_LIMIT
from gossamer.errors import Blocked, ConfigError, GossamerError, ReadError
from gossamer.parse import probe, walls
from gossamer.parse.page import Page
from gossamer.reader import Reader, Watchdog
from gossamer.scraper import Scraper
from gossamer.seeding import start_requests
from gossamer.settings import ScraperConfig
from gossamer.storage import rows
from gossamer.storage.archive_reading import ArchivedPage, Reading, asked_of, request_of
from gossamer.values import PARSE, REDIRECTS, Request

#: URLs whose place in the archive is remembered, so that links that every page has are looked up once.
REMEMBERED = 200_000
#: Different reasons told for one order.
REASONS = 100


class Way(msgspec.Struct, frozen=True):
    """How the pages of a run are read."""

    #: The scraper, as `registry.load_all` finds it.
    ref: str
    params: dict[str, Any] = {}
    #: Whether they came from a file of another tool: then it is found out by reading which handler each is for.
    imported: bool = False


class Job(msgspec.Struct, frozen=True):
    """What a process needs to know before it reads the first page."""

    archive: str
    #: The name that the pages are archived under.
    scraper: str
    ways: dict[int, Way]


class Order(msgspec.Struct, frozen=True):
    """Pages to read, by id; each with the request that led to it, where that is not what was archived."""

    pages: list[tuple[int, bytes | None]] = []
    #: Or the imported run whose first pages are asked for: those that the scraper starts with.
    start: int | None = None


#: An item: (page, kind, key, data, url, request, fetched, superseded).
Row = tuple[int, str, str, str, str, int, float, bool]


class Gave(msgspec.Struct, kw_only=True):
    """What pages gave when they were read again."""

    #: Pages read, and those that were no pages: redirects and errors in files of other tools.
    read: int = 0
    skipped: int = 0
    items: list[Row] = []
    #: URLs of the pages that were read, when each was fetched, and whether it was fetched again later.
    urls: list[tuple[str, float, bool]] = []
    #: URLs that they lead to, and that are not in the archive.
    links: list[str] = []
    #: Imported pages that they lead to, each with its request.
    led: list[tuple[int, bytes]] = []
    failed: int = 0
    #: Why pages could not be read: a sentence, the URL of one, and of how many.
    failures: dict[str, tuple[str, int]] = {}
    rejected: int = 0
    #: Why records became no items, in the same way.
    rejects: dict[str, tuple[str, int]] = {}


class Rereader:
    """Reads pages of one archive with today's code."""

    def __init__(self, job: Job, watchdog: Watchdog) -> None:
        """Raises ConfigError if a scraper cannot be loaded, StoreError if there is no archive."""
        self._job = job
        self._watchdog = watchdog
        refs = {way.ref for way in job.ways.values()}
        self._classes = {ref: registry.load_all(ref)[0].scraper for ref in refs}
        self._archive = Reading(job.archive)
        self._readers: dict[int, tuple[Reader, ScraperConfig]] = {}
        #: URLs that plain requests were met for; False: they are not in the archive.
        self._known: set[str] = set()

    def close(self) -> None:
        """Let go of the archive."""
        self._archive.close()

    async def read(self, order: Order) -> Gave:
        """Read pages. Raises StoreError if the archive cannot be read, and nothing for a bad page."""
        gave = Gave()
        if order.start is not None:
            await self._start(order.start, gave)
            return gave
        led = dict(order.pages)
        found: list[tuple[ArchivedPage, Request]] = []
        for kept in self._archive.pages([number for number, _ in order.pages]):
            request = led[kept.id]
            archived = kept if request is None else _for(request, kept)
            reader, config = self._reader(archived.run)
            status = archived.response.status
            try:
                if not (200 <= status < 300 or status in config.accept_status):
                    gave.skipped += 1
                    found += [(archived, hop) for hop in _hop(archived)]
                    continue
                await self._page(archived, reader, config, gave, found)
            except GossamerError as error:
                gave.failed += 1
                _count(gave.failures, str(error), archived.request.url)
                continue
            gave.read += 1
            gave.urls.append((archived.request.url, archived.response.started, archived.superseded))
        self._follow(found, gave)
        return gave

    async def _page(
        self,
        archived: ArchivedPage,
        reader: Reader,
        config: ScraperConfig,
        gave: Gave,
        found: list[tuple[ArchivedPage, Request]],
    ) -> None:
        if archived.missing:
            raise ReadError(archived.missing)
        request, page = archived.request, Page(archived.request, archived.response)
        if not builtin.is_builtin(request.handler):
            if probe.suspicious(page.body) and not await probe.parses(page.body, PARSE_LIMIT):
                raise ReadError(f"its markup takes longer than {PARSE_LIMIT:g} s to parse")
            # What we archived ourselves was no wall.
            if self._job.ways[archived.run].imported and config.walls and (wall := walls.wall(page)):
                raise Blocked(wall)
            await reader.validate(page)
        read = await reader.read(page)
        of_page = request.url, request.id, archived.response.started, archived.superseded
        gave.items += [(archived.id, item.kind, item.key, item.data, *of_page) for item in read.items]
        gave.rejected += len(read.rejects)
        for each in read.rejects:
            _count(gave.rejects, f"{each.kind}, {each.step}: {each.reason}", request.url)
        if read.found:
            self._sift(archived, page, read.found, found)

    def _sift(
        self, archived: ArchivedPage, page: Page, yielded: list[Request], found: list[tuple[ArchivedPage, Request]]
    ) -> None:
        """Of what a page leads to, what was not met before."""
        known, base = self._known, page.base_url
        if len(known) > REMEMBERED:
            known.clear()
        for request in yielded:
            plain = request.plain
            if plain and request.url in known:
                continue
            url = urls.resolve(request.url, base)
            if url is None or len(url) > urls.LONGEST or (plain and url in known):
                continue
            if plain:
                known.add(url)
            found.append((archived, request.evolve(url=url, depth=page.depth + 1)))

    def _follow(self, found: list[tuple[ArchivedPage, Request]], gave: Gave) -> None:
        """Sort what pages lead to: imported pages, pages that are archived, and others."""
        if not found:
            return
        digests = [request.fingerprint for _, request in found]
        there = self._archive.has(self._job.scraper, list(dict.fromkeys(digests)))
        for run, way in self._job.ways.items():
            if way.imported:
                mine = [request for page, request in found if page.run == run]
                plain = {_as_imported(request): request for request in reversed(mine)}
                for digest, number in self._archive.pages_of(self._job.scraper, run, list(plain)).items():
                    gave.led.append((number, asked_of(rows.request_row(plain[digest], 0, 0))))
                    there.add(plain[digest].fingerprint)
        pairs = zip(found, digests, strict=True)
        gave.links = [request.url for (_, request), digest in pairs if digest not in there]

    async def _start(self, run: int, gave: Gave) -> None:
        """The imported pages that a run of the scraper would begin with. Raises ConfigError."""
        scraper = self._scraper(self._job.ways[run])
        asked = {_as_imported(each): each async for each, _ in start_requests(scraper, self._watchdog)}
        for digest, number in self._archive.pages_of(self._job.scraper, run, list(asked)).items():
            gave.led.append((number, asked_of(rows.request_row(asked[digest], 0, 0))))

    def _scraper(self, way: Way) -> Scraper:
        made = self._classes[way.ref]
        try:
            return made(way.params)
        except GossamerError:
            raise
        except Exception as error:
            raise ConfigError(f"{made.__name__} cannot be made: {type(error).__name__}: {error}") from error

    def _reader(self, run: int) -> tuple[Reader, ScraperConfig]:
        made = self._readers.get(run)
        if made is None:
            scraper = self._scraper(self._job.ways[run])
            config = settings.read(own=scraper.knobs(), owner=type(scraper).__name__).config
            made = self._readers[run] = Reader(scraper, config.handler_timeout, self._watchdog), config
        return made


def _count(reasons: dict[str, tuple[str, int]], why: str, url: str) -> None:
    """Count a reason, with the first URL it was met at."""
    if why in reasons or len(reasons) < REASONS:
        first, n = reasons.get(why, (url, 0))
        reasons[why] = first, n + 1


def _for(request: bytes, archived: ArchivedPage) -> ArchivedPage:
    """A page with the request that led to it."""
    return msgspec.structs.replace(archived, request=request_of(request, archived.request.id))


def _as_imported(request: Request) -> str:
    """The fingerprint under which a page is imported, whose handler nobody knows yet."""
    return request.evolve(to=PARSE, revisit=False).fingerprint


def _hop(archived: ArchivedPage) -> Iterable[Request]:
    """Where an archived redirect leads."""
    response, request = archived.response, archived.request
    location = response.headers.get("location")
    target = urls.resolve(location, response.url) if location and response.status in REDIRECTS else None
    if target is not None and target not in request.via and target != request.url:
        yield request.evolve(url=target, hops=request.hops + 1, via=(*request.via, request.url))


# -- the process -----------------------------------------------------------------------------------------------

_encode = msgspec.msgpack.Encoder().encode
_decode_job = msgspec.msgpack.Decoder(Job).decode
_decode_order = msgspec.msgpack.Decoder(Order).decode


def framed(message: Any) -> bytes:
    """A message as it is sent: its length, then itself."""
    raw = _encode(message)
    return len(raw).to_bytes(4, "big") + raw


def main() -> None:
    """Serve one replay until stdin ends. Answers errors as texts."""
    orders, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what handlers print must not get among our answers
    telemetry.configure_unless_done()
    with Watchdog() as watchdog:
        asyncio.run(_serve(orders, answers, watchdog))


async def _serve(orders: BinaryIO, answers: BinaryIO, watchdog: Watchdog) -> None:
    """Nothing else goes on in this process: it may wait for its orders with all it has."""

    def answer(message: Gave | str) -> None:
        answers.write(framed(message))
        answers.flush()

    try:
        rereader = Rereader(_decode_job(_received(orders) or b""), watchdog)
        gc.collect()
        gc.freeze()  # modules and classes stay: to look for garbage among them takes a tenth of the time
        while order := _received(orders):
            answer(await rereader.read(_decode_order(order)))
        rereader.close()
    except GossamerError as error:
        answer(str(error))


def _received(stream: BinaryIO) -> bytes | None:
    length = stream.read(4)
    return stream.read(int.from_bytes(length, "big")) if len(length) == 4 else None


if __name__ == "__main__":
    main()
