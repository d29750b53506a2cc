"""Importing: the pages of a WARC file as a run of a scraper, to be replayed like those we fetched ourselves."""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from itertools import count
from typing import Any

import msgspec

from gossamer import owners, runs, urls
from gossamer.errors import ConfigError
from gossamer.registry import Found
from gossamer.storage import opening
from gossamer.storage.archive import Archive, Kept
from gossamer.storage.store import Batch, Draft, Store
from gossamer.storage.warc_reading import WarcPage, WarcReader
from gossamer.values import Ending, Lease, Outcome, Request, RunState

#: Pages, and bytes of their bodies, that are kept at once.
GROUP = 200
HEAVY = 16 << 20
#: Digests of bodies remembered, for records that say "as before".
REMEMBERED = 500_000
#: How an imported request has ended, and what its run has in its options.
IMPORTED = "imported"
IMPORT = "import"

Watcher = Callable[[float, int], None]


class Imported(msgspec.Struct, kw_only=True):
    """How an import went: what `--json` prints."""

    file: str
    run: int = 0
    records: int = 0
    pages: int = 0
    #: Of the pages: their bodies could not be read, or are of an earlier page that is not in the file.
    bodiless: int = 0
    #: Answers that are no web pages: other protocols, other methods.
    strange: int = 0
    #: A sentence if the file breaks off: what was whole is kept.
    broken: str = ""
    seconds: float = 0.0


async def import_warc(
    store: str,
    file: str,
    found: Found,
    params: Mapping[str, Any] | None = None,
    watch: Watcher = lambda share, pages: None,
) -> Imported:
    """Put the pages of a WARC file into the archive of a store, as a run of a scraper.

    `watch` hears how much of the file is read, and how many pages came out. Raises ConfigError if it is no such file.
    """
    place = opening.archive(store)
    reader = WarcReader(file)
    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(opening.working(store))
        archive = await stack.enter_async_context(Archive(place))
        run = await opened.new_run(_draft(file, found, params or {}))
        lease = await opened.acquire(run.id, owners.me(), runs.LEASE_TTL)
        try:
            settled = _Settled(opened, archive, lease, found.scraper.name)
            made = await bring(archive, reader, found.scraper.name, run.id, settled, watch)
            if not made.pages and made.broken:
                raise ConfigError(f"{file} is no WARC file, or holds no page that is whole: {made.broken}")
            await opened.end_run(lease, RunState.FINISHED, IMPORT)
        except BaseException:
            await asyncio.shield(opened.end_run(lease, RunState.CANCELLED, "interrupted"))
            if not (await opened.pending(run.id)).settled:
                await asyncio.shield(opened.forget_run(run.id))
            raise
        finally:
            await asyncio.shield(opened.release(lease))
    return made


def _draft(file: str, found: Found, params: Mapping[str, Any]) -> Draft:
    place = os.path.abspath(file)
    signature = urls.digest(IMPORT, place, str(time.time()))
    reading = runs.reading_of(found.scraper)
    return Draft(found.scraper.name, found.ref, signature, dict(params), {IMPORT: place}, reading)


async def bring(
    archive: Archive,
    reader: WarcReader,
    scraper: str,
    run: int,
    numbered: _Settled | None = None,
    watch: Watcher = lambda share, pages: None,
) -> Imported:
    """Put the pages of a file into an archive; `numbered` writes them into a store too, and knows their numbers."""
    began = time.monotonic()
    made = Imported(file=reader.path, run=run)
    bodies: dict[str, str] = {}
    ids = count(1)
    async for group in _groups(reader):
        here: dict[str, bytes] = {}
        pages = [await _with_body(archive, page, bodies, here) for page in group]
        if numbered is None:
            requests: Sequence[Request] = [page.request.evolve(id=next(ids)) for page in pages]
        else:
            requests = await numbered.numbers(pages)
        kept = [
            Kept(run, scraper, request, page.response, page.missing)
            for page, request in zip(pages, requests, strict=True)
        ]
        await archive.keep(kept)
        if numbered is not None:
            await numbered.settle(kept)
        made.pages += len(kept)
        made.bodiless += sum(bool(page.missing) for page in kept)
        watch(reader.share, made.pages)
    made.records, made.strange, made.broken = reader.records, reader.strange, reader.broken
    made.seconds = round(time.monotonic() - began, 3)
    return made


async def _groups(reader: WarcReader) -> AsyncIterator[list[WarcPage]]:
    """Pages, some at a time, read on another thread."""
    pages = reader.pages()
    while group := await asyncio.to_thread(_some, pages):
        yield group


def _some(pages: Iterator[WarcPage]) -> list[WarcPage]:
    group: list[WarcPage] = []
    size = 0
    for page in pages:
        if len(page.request.url) > urls.LONGEST:
            continue
        group.append(page)
        size += len(page.response.body)
        if len(group) >= GROUP or size >= HEAVY:
            break
    return group


async def _with_body(archive: Archive, page: WarcPage, bodies: dict[str, str], here: dict[str, bytes]) -> WarcPage:
    """A page; one that says "as before" with the body it means: one in the archive, or `here`, on its way there."""
    if not page.revisit:
        if page.digest and not page.missing and len(bodies) < REMEMBERED:
            known = hashlib.sha256(page.response.body).hexdigest()
            bodies[page.digest], here[known] = known, page.response.body
        return page
    earlier = bodies.get(page.digest)
    body = here.get(earlier) if earlier else None
    if body is None and earlier:
        body = await archive.read(earlier)
    if body is None:
        page.missing = "its body is that of an earlier answer, which is not in the file"
    else:
        page.response = msgspec.structs.replace(page.response, body=body)
    return page


class _Settled:
    """Imported pages as requests of a run, which are done: so that items can say which page they are from."""

    def __init__(self, store: Store, archive: Archive, lease: Lease, scraper: str) -> None:
        self._store = store
        self._archive = archive
        self._lease = lease
        self._scraper = scraper

        #: Requests that were not done before.
        self._waiting: set[int] = set()

    async def numbers(self, pages: Sequence[WarcPage]) -> list[Request]:
        """The requests of pages, with their ids in the store: a URL that comes again keeps its first."""
        run = self._lease.run
        await self._store.add(self._lease, [page.request for page in pages])
        known: dict[str, int] = {}
        for host in {urls.host(page.request.url) for page in pages}:
            waiting = await self._store.peek(run, host, len(pages), ())
            known |= {request.fingerprint: request.id for request in waiting}
        self._waiting = set(known.values())
        again = [print_ for page in pages if (print_ := page.request.fingerprint) not in known]
        for digest, number in (await self._archive.pages_of(self._scraper, run, again)).items():
            earlier = await self._archive.page(number)
            if earlier is not None:
                known[digest] = earlier.request.id
        return [page.request.evolve(id=known.get(page.request.fingerprint, 0)) for page in pages]

    async def settle(self, pages: Sequence[Kept]) -> None:
        """Write down that these requests are done, each once."""
        fresh = {page.request.id: page for page in pages if page.request.id in self._waiting}
        outcomes = [
            # Nobody asked a site for it: what has no time is in no log of fetches.
            Outcome(page.request, Ending.DONE, IMPORTED, status=page.response.status, size=len(page.response.body))
            for page in fresh.values()
        ]
        if outcomes:
            await self._store.settle(self._lease, Batch(outcomes=outcomes))
