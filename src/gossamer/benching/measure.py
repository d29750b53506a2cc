"""The measurements: sources by a plain script and by Gossamer, and pages of three sizes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from gossamer import __version__, registry, runs, settings
from gossamer.benching import plain
from gossamer.benching.far import FarSites
from gossamer.benching.results import Compared, Results, Sized, Took, load, machine
from gossamer.demo import packs
from gossamer.demo.scrapers import Books, Weather
from gossamer.errors import ConfigError
from gossamer.fetch.fetcher import Fetcher
from gossamer.fetch.way import Way
from gossamer.library import wait
from gossamer.parse.page import Page
from gossamer.registry import Found
from gossamer.runs import Plan, Report, Running
from gossamer.scraper import Scraper
from gossamer.settings import ScraperConfig
from gossamer.values import Request, Response

#: label, bytes, pages a minute that crawlers of this kind promise, pages measured, and measured in a hurry.
SIZES = (
    ("10 KB", 10_000, 500, 3_000, 150),
    ("100 KB", 100_000, 200, 1_000, 40),
    ("1 MB", 1_000_000, 50, 200, 10),
)
#: Both ask for the same pages, and for those once: no robots.txt and no browser, which a script does not
#: know, and nothing twice.
#: No pace either, for nobody is bothered by requests to our own sites on this machine.
ALIKE = {"robots": False, "retries": 0, "render": False, "rate": "none", "breaker_failures": "none"}

#: Hears what is measured now, how much of it is done, and of how much; None: nobody knows.
Tell = Callable[[str, int, int | None], None]


class Source(msgspec.Struct, frozen=True):
    """What is measured by itself: a site with its scraper, or a pack with all of its own."""

    name: str
    scrapers: list[tuple[Found, dict[str, Any]]]


def measure(
    *, latency: float, concurrency: int, quick: bool = False, sizes: bool = True, sources: bool = True, tell: Tell
) -> Results:
    """Measure all of it. Politeness is lifted, for sites of our own on this machine, and for those alone."""
    before = load()
    with FarSites(latency) as far, _folder() as folder, _undisturbed(folder):
        compared = _compare(far, concurrency, folder, tell, quick=quick) if sources else []
        sized = [_sized(far, each, folder, tell, quick=quick) for each in SIZES] if sizes else []
        return Results(machine(), latency, concurrency, quick, before, compared, sized)


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder here, if that can be had: /tmp may be in memory, and a store there is no durable one."""
    try:
        made = tempfile.TemporaryDirectory(prefix=".gossamer-bench-", dir=".")
    except OSError:
        made = tempfile.TemporaryDirectory(prefix="gossamer-bench-")
    with made as folder:
        yield Path(folder).absolute()


@contextmanager
def _undisturbed(folder: Path) -> Iterator[None]:
    """Work in a folder without settings, whatever the user's say: no proxies, no sinks, no headers of theirs."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(settings.PREFIX)}
    try:
        for name in kept:
            del os.environ[name]
        with contextlib.chdir(folder):
            yield
    finally:
        os.environ.update(kept)


# -- sources ---------------------------------------------------------------------------------------------------


class Bookshop(Books):
    """The demo site's scraper, with the next page of the catalogue before the books of this one.

    Requests of a host go out in the order they were found: whoever finds the next page last waits for it longest.
    """

    name = "bench.books"

    def parse(self, page: Page) -> Iterator[Any]:
        """The catalogue first."""
        yield from page.follow("a.catalogue, a.next")
        yield from page.follow(".book a", to=self.book)


def sources(far: FarSites, *, quick: bool = False) -> list[Source]:
    """The demo sites, and the packs on theirs."""
    found = [
        Source("bookshop", [(_found(Bookshop), {"site": far.urls["bookshop"]})]),
        Source("weather", [(_found(Weather), {"site": far.urls["weather"]})]),
    ]
    if quick:
        return found
    for name in registry.packs():
        try:
            some = registry.choose(name)
        except ConfigError:  # somebody else's pack, which is broken
            continue
        on_demo = [(each, packs.params(each)) for each in some if each.scraper.__module__.startswith("gossamer.packs.")]
        if on_demo:
            found.append(Source(name, list(on_demo)))
    return found


def _found(scraper: type[Scraper]) -> Found:
    return Found(scraper, f"{scraper.__module__}:{scraper.__name__}")


def _compare(far: FarSites, concurrency: int, folder: Path, tell: Tell, *, quick: bool) -> list[Compared]:
    """Each source by both, then all of them at once; a script does them one after the other, as it did before."""
    flags = {**ALIKE, "stand_ins": far.stand_ins, "per_host": concurrency, "concurrency": concurrency}
    rows = []
    known = sources(far, quick=quick)
    for source in known:
        pages = 0

        def step(source: Source = source) -> None:
            nonlocal pages
            pages += 1
            tell(f"{source.name}, sync", pages, None)

        sync = plain.walk(source.scrapers, flags, step)
        fast = _gossamer(source, flags, concurrency, folder, tell, sync.pages + sync.failed)
        rows.append(Compared(source.name, sync, fast))
    if len(rows) > 1:
        everything = Source("all", [each for source in known for each in source.scrapers])
        sync = _sum([row.sync for row in rows])
        rows.append(
            Compared("all", sync, _gossamer(everything, flags, concurrency, folder, tell, sync.pages + sync.failed))
        )
    return rows


def _sum(some: Sequence[Took]) -> Took:
    first = some[0]
    return Took(
        first.engine,
        first.type,
        sum(each.seconds for each in some),
        sum(each.pages for each in some),
        sum(each.failed for each in some),
        sum(each.items for each in some),
    )


class _Narrow:
    """A Fetcher that has no more than so many requests under way, of all runs together."""

    def __init__(self, fetcher: Fetcher, width: int) -> None:
        self._fetcher = fetcher
        self._room = asyncio.Semaphore(width)

    async def fetch(self, request: Request, config: ScraperConfig, way: Way) -> Response:
        """Fetch, when there is room."""
        async with self._room:
            return await self._fetcher.fetch(request, config, way)


def _gossamer(
    source: Source, flags: Mapping[str, Any], concurrency: int, folder: Path, tell: Tell, pages: int | None
) -> Took:
    """Run the scrapers of a source side by side, with so many requests under way in all."""
    store = str(folder / f"{source.name}.db")
    plans = [runs.plan(found, params, {**flags, "store": store}, fresh=True) for found, params in source.scrapers]
    began = time.monotonic()
    reports = wait(_run(plans, store, concurrency, lambda n: tell(f"{source.name}, gossamer", n, pages)))
    seconds = time.monotonic() - began
    done, failed = sum(each.pages for each in reports), sum(each.failed for each in reports)
    return Took(f"gossamer {__version__}", "async", seconds, done, failed, sum(each.items for each in reports))


async def _run(plans: Sequence[Plan], store: str, concurrency: int, tell: Callable[[int], None]) -> list[Report]:
    seen = 0

    def watch(running: Running) -> None:
        def hear(outcomes: Sequence[Any]) -> None:
            nonlocal seen
            seen += sum(each.is_page for each in outcomes)
            tell(seen)

        running.progress.listen(hear)

    async with runs.open_parts(store, archive=True) as parts:
        narrow = msgspec.structs.replace(parts, fetcher=_Narrow(parts.fetcher, concurrency))
        return await asyncio.gather(*(runs.execute(narrow, asked, watch) for asked in plans))


# -- sizes -----------------------------------------------------------------------------------------------------


class Sizes(Scraper):
    """Reads a page as scrapers do: its title, its headings and its rows, and the links to more."""

    name = "bench.sizes"
    key = "number"
    kind = "page"

    def start(self) -> list[str]:
        """The first of them."""
        return [self.params["site"]]

    def parse(self, page: Page) -> Iterator[Any]:
        """What a page has, and where it leads."""
        yield {
            "number": page.css("#number").text,
            "title": page.title,
            "headings": len(page.css("h2")),
            "rows": len(page.css("div.row")),
            "last": page.css("div.row:last-child span.n").text,
        }
        yield from page.follow("li a")


def _sized(far: FarSites, size: tuple[str, int, int, int, int], folder: Path, tell: Tell, *, quick: bool) -> Sized:
    label, count, claimed, many, few = size
    pages = few if quick else many
    store = str(folder / f"size-{count}.db")
    flags = {"store": store, "rate": "none", "per_host": 10, "concurrency": 10}
    site = f"{far.urls['sizes']}/size/{count}/{pages}/0"
    asked = runs.plan(_found(Sizes), {"site": site}, flags, fresh=True)
    began = time.monotonic()
    (report,) = wait(_run([asked], store, 10, lambda n: tell(f"pages of {label}", n, pages)))
    return Sized(label, count, report.pages, report.items, time.monotonic() - began, claimed)
