"""Handlers of our own: what a run may begin with besides pages, and what becomes of downloads.

A Request names them with an @, which no method's name begins with.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from gossamer import urls
from gossamer.errors import ReadError
from gossamer.parse import sitemaps
from gossamer.parse.page import FILE, Page
from gossamer.polite import robots
from gossamer.telemetry import log
from gossamer.values import Item, Request

#: Reads a sitemap, or an index of them, or a feed.
SITEMAP = "@sitemap"
#: Reads the sitemaps that a robots.txt names; where it names none, the usual place is tried.
ROBOTS_SITEMAPS = "@robots_sitemaps"
#: Sitemaps within sitemaps: an index may name sitemaps, and nobody goes deeper who means well.
DEEPEST = 3
#: Entries of a sitemap read before others have a turn.
BREATH = 500


def is_builtin(handler: str) -> bool:
    """Whether a handler is one of ours."""
    return handler.startswith("@")


def is_found_sitemap(request: Request) -> bool:
    """Whether this is a sitemap that another one, or a robots.txt, led to."""
    return request.handler == SITEMAP and "level" in (request.carry or {})


async def _sitemap(page: Page) -> AsyncIterator[Request]:
    if page.status != 200:
        return
    level = page.carry.get("level", 0)
    found = sitemaps.iter_entries(page.body, page.url)
    for n, entry in enumerate(found, 1):
        if n % BREATH == 0:
            await asyncio.sleep(0)  # a million entries take seconds, and other pages want their turn
        if not entry.is_sitemap:
            yield Request(entry.url)
        elif level < DEEPEST:
            yield Request(entry.url, to=SITEMAP, carry={"level": level + 1}, priority=1)
    if found.kind == "none" and not page.carry.get("maybe"):
        raise ReadError("it is no sitemap, feed or list of URLs: give the URL of one")
    if found.cut:
        log.warning("sitemap.cut", url=page.url, why=found.cut)


def _robots_sitemaps(page: Page) -> Iterator[Request]:
    named = robots.Robots("*", page.body).sitemaps if page.status == 200 else []
    for url in named or [urls.origin(page.url) + "/sitemap.xml"]:
        # Where nobody said that there is one, there need not be one.
        yield Request(url, to=SITEMAP, carry={"level": 0} | ({} if named else {"maybe": True}), priority=1)


def _file(page: Page) -> Iterator[Item]:
    if page.file is None:  # 204, or a status that the scraper accepts
        raise ReadError(f"there is nothing to save: the answer, with status {page.status}, brought no file")
    record = {
        "url": page.url,
        "file": page.request.save,
        "bytes": page.response.file_size,
        "sha256": page.response.sha256,
        "content_type": page.response.content_type or None,
    }
    yield Item.of({**record, **page.carry}, key=page.url, kind="file")


HANDLERS: dict[str, Callable[[Page], Any]] = {
    SITEMAP: _sitemap,
    ROBOTS_SITEMAPS: _robots_sitemaps,
    FILE: _file,
}
