"""Behaviour of whole runs, seen from outside: what the site was asked, and what the store says of it."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import msgspec

import gossamer
from gossamer import explain, runs
from gossamer.storage.store import StoredItem, Wanted
from gossamer.testing import Hit, Site


def crawl(*urls: str, store: str = "gossamer.db", **knobs: Any) -> gossamer.Report:
    """`crawl` in a loop of its own, without a pace unless one is given."""
    return asyncio.run(gossamer.crawl(*urls, store=store, **{"rate": "none", **knobs}))


def run(scraper: type[gossamer.Scraper], store: str = "gossamer.db", **knobs: Any) -> gossamer.Report:
    """`run` without a pace unless one is given."""
    return gossamer.run(scraper, store=store, **{"rate": "none", **knobs})


def items(store: str = "gossamer.db", run: int | None = None) -> list[dict[str, Any]]:
    """The items of a store, with where they came from."""

    async def read() -> list[dict[str, Any]]:
        async with runs.open_store(store) as opened:
            return [as_dict(item) async for item in opened.items(Wanted(run=run))]

    return asyncio.run(read())


def as_dict(item: StoredItem) -> dict[str, Any]:
    """An item with its record decoded."""
    return {**msgspec.structs.asdict(item), "data": item.record()}


def records(store: str = "gossamer.db", run: int | None = None) -> list[Any]:
    """What the handlers yielded."""
    return [item["data"] for item in items(store, run)]


def fates(site: Site, store: str = "gossamer.db", run: int | None = None) -> dict[str, str]:
    """Path -> how it ended, for every URL of a site that a store knows: "done ok", "skipped robots" ..."""

    async def read() -> dict[str, str]:
        async with runs.open_store(store) as opened:
            rows = [row async for row in opened.pages(run, None)]
        return {row["url"].removeprefix(site.url("")): f"{row['state']} {row['reason']}" for row in rows}

    return asyncio.run(read())


def why(url: str, store: str = "gossamer.db") -> str:
    """What `gossamer why` says."""

    async def read() -> str:
        async with runs.open_store(store) as opened:
            return (await explain.url_story(opened, url))[1]

    return asyncio.run(read())


def links(*hrefs: str) -> str:
    """A page that links to all of these."""
    return "<!doctype html><title>links</title>" + "".join(f'<p><a href="{href}">{href}</a></p>' for href in hrefs)


def asked(site: Site, path: str) -> list[Hit]:
    """The requests a site got for one path."""
    return [hit for hit in site.hits if hit.path == path]


def gaps(hits: list[Hit]) -> list[float]:
    """Seconds between one request and the next."""
    times = sorted(hit.at for hit in hits)
    return [after - before for before, after in itertools.pairwise(times)]
