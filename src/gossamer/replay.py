"""Replay: every archived page of a scraper read again with today's code, no network, on all cores.

What comes out is held against what the store has. Nothing is written unless that is asked for.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

import msgspec

from gossamer import owners, registry, runs, urls
from gossamer.comparison import Comparison, Difference, State
from gossamer.errors import ConfigError
from gossamer.hands import Hands
from gossamer.importing import IMPORT, bring
from gossamer.rereading import Gave, Job, Order, Way
from gossamer.storage import opening
from gossamer.storage.archive import Archive
from gossamer.storage.store import Draft, Store, Wanted
from gossamer.storage.warc_reading import WarcReader
from gossamer.values import Lease, Run, RunState

#: Pages that a process reads at a time.
CHUNK = 100
#: Items written to the store in one transaction.
GROUP = 500
#: Reasons that are told apart, and examples that are kept of each field, and of links.
REASONS = 200
EXAMPLES = 3
LINKS = 20
#: What is new against the store, in the order it is told.
NEWS = (State.CHANGED, State.NEW, State.BACK, State.GONE)

_PLACES = re.compile(r"\[\d+\]")


class Asked(msgspec.Struct, frozen=True):
    """A replay that somebody asks for."""

    #: As for `gossamer run`, or the name that a run in the store has.
    scraper: str
    #: Only pages of this run; left out: of each request, what was fetched last.
    run: int | None = None
    #: Only pages whose URL this is found in.
    url: re.Pattern[str] | None = None
    #: At most so many pages.
    limit: int | None = None
    #: Processes; left out: one for each core.
    workers: int | None = None
    #: Write what is found into the store.
    apply: bool = False
    #: Scrapers known by name.
    listed: tuple[str, ...] = ()
    #: The pages of this WARC file instead of those of the archive.
    warc: str | None = None
    #: Parameters for the scraper, besides those that its runs had.
    params: dict[str, Any] = {}

    @property
    def whole(self) -> bool:
        """Whether all pages are read: only then is an item that none gives gone."""
        return self.url is None and self.limit is None


class FieldStory(msgspec.Struct):
    """What became of one field of one kind of item."""

    kind: str
    field: str
    changed: int = 0
    #: Of those: it had no value, or it has none any more.
    filled: int = 0
    emptied: int = 0
    #: A few of them: (key, before, after).
    examples: list[tuple[str, Any, Any]] = []


class Reason(msgspec.Struct, frozen=True):
    """Why pages could not be read, or records became no items."""

    why: str
    count: int
    #: Where it was met first.
    url: str


class Replayed(msgspec.Struct, kw_only=True):
    """How a replay went: what `--json` prints."""

    scraper: str
    pages: int = 0
    failed: int = 0
    #: No pages: redirects and errors in files of other tools.
    skipped: int = 0
    #: Records that were read, each key counted once.
    items: int = 0
    same: int = 0
    changed: int = 0
    new: int = 0
    back: int = 0
    gone: int = 0
    #: The store has them from later pages: they were not compared.
    older: int = 0
    rejected: int = 0
    #: URLs that pages lead to and that nobody has fetched, or tried to.
    links: int = 0
    new_links: list[str] = []
    fields: list[FieldStory] = []
    failures: list[Reason] = []
    rejects: list[Reason] = []
    seconds: float = 0.0
    pages_per_second: float = 0.0
    #: The run that wrote it into the store, if one did.
    run: int | None = None
    #: Whether items that are gone were, or would be, marked so.
    whole: bool = True
    #: A sentence if the WARC file breaks off.
    broken: str = ""


class Sight(msgspec.Struct):
    """How far a replay has come."""

    total: int
    done: int = 0
    failed: int = 0
    items: int = 0


Watcher = Callable[[Sight], None]
Teller = Callable[[Difference], None]


async def replay(store: str, asked: Asked, watch: Watcher = lambda _: None, tell: Teller | None = None) -> Replayed:
    """Read archived pages again, and compare. `tell` gets every difference, `watch` hears how far it has come.

    Raises ConfigError if there is nothing to read, or nothing to read it with.
    """
    async with AsyncExitStack() as stack:
        if asked.warc is not None:
            return await _replay_file(stack, store, asked, watch, tell)
        place = opening.archive(store)
        opened = await stack.enter_async_context(opening.working(store) if asked.apply else opening.reading(store))
        archive = await stack.enter_async_context(Archive(place, owner=False))
        job = await _job(opened, archive, asked)
        return await reread(opened, archive, job, asked, watch, tell)


async def _replay_file(
    stack: AsyncExitStack, store: str, asked: Asked, watch: Watcher, tell: Teller | None
) -> Replayed:
    """Read the pages of a WARC file, which are kept for as long as that takes."""
    assert asked.warc is not None
    if asked.apply or asked.run is not None:
        raise ConfigError(
            f"--warc goes without --run and --apply: `gossamer archive import {asked.warc} --scraper {asked.scraper}` "
            "puts the file into the archive, where they can be used"
        )
    found = registry.find(asked.scraper, asked.listed)
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="gossamer-warc-"))
    reader = WarcReader(asked.warc)
    opened = await stack.enter_async_context(_compared_with(store))
    archive = await stack.enter_async_context(Archive(os.path.join(folder, "pages.archive")))
    brought = await bring(archive, reader, found.scraper.name, 0)
    job = Job(archive.path, found.scraper.name, {0: Way(found.ref, asked.params, imported=True)})
    made = await reread(opened, archive, job, asked, watch, tell)
    made.broken = brought.broken
    return made


def _compared_with(store: str) -> AbstractAsyncContextManager[Store]:
    """The store that a file's pages are compared with: an empty one, where there is none."""
    return opening.reading(store) if opening.exists(store) else opening.working(opening.MEMORY)


async def reread(
    store: Store, archive: Archive, job: Job, asked: Asked, watch: Watcher, tell: Teller | None
) -> Replayed:
    """As `replay`, with what it needs."""
    began = time.monotonic()
    made = Replayed(scraper=job.scraper, whole=asked.whole)
    total = await archive.count(job.scraper, asked.run, matching=asked.url)
    total = min(total, asked.limit or total)
    async with Comparison() as comparison, Hands(job, min(asked.workers or _cores(), -(-total // CHUNK))) as hands:
        await _Round(archive, job, asked, comparison, hands, made, watch, total).all()
        await comparison.hold(store.items(Wanted(scraper=job.scraper, gone=True)))
        await _forget_known_links(store, comparison, job.scraper)
        made.seconds = round(time.monotonic() - began, 3)
        made.pages_per_second = round((made.pages + made.failed) / max(made.seconds, 1e-3), 1)
        await _sum_up(comparison, made, tell)
        if asked.apply:
            made.run = await _apply(store, comparison, job, asked)
    return made


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# -- what is read, and with what -------------------------------------------------------------------------------


async def _job(store: Store, archive: Archive, asked: Asked) -> Job:
    """Which pages are meant, and how those of each run are read. Raises ConfigError."""
    if asked.run is not None and await store.run(asked.run) is None:
        raise ConfigError(f"there is no run {asked.run}: `gossamer runs` lists them")
    try:
        found = registry.find(asked.scraper, asked.listed)
        name, ref = found.scraper.name, found.ref
    except ConfigError:
        # Whoever ran a file has its name from the table of runs.
        if asked.scraper not in (known := (await archive.stats()).scrapers):
            if not known or ":" in asked.scraper or "." in asked.scraper:
                raise
            raise ConfigError(
                f"no scraper is called {asked.scraper!r}: the archive has pages of {', '.join(sorted(known))}"
            ) from None
        name, ref = asked.scraper, None
    numbers = [asked.run] if asked.run is not None else await archive.runs(name)
    ways = {number: _way(await store.run(number), ref, asked.params) for number in numbers}
    if not await anext(aiter(archive.ids(name, asked.run, matching=asked.url, at_once=1)), None):
        some = f"of run {asked.run} " if asked.run is not None else ""
        some += "that --url matches " if asked.url is not None else ""
        raise ConfigError(
            f"the archive has no pages {some}of {name!r}: a run keeps what it reads, unless it is told archive = false"
        )
    return Job(archive.path, name, {number: way for number, way in ways.items() if way is not None})


def _way(run: Run | None, ref: str | None, params: dict[str, Any]) -> Way | None:
    if run is None:
        return Way(ref, params) if ref is not None else None
    return Way(ref or run.ref, {**run.params, **params}, IMPORT in run.options)


class _Round:
    """All pages of a replay, given out and taken back."""

    def __init__(
        self,
        archive: Archive,
        job: Job,
        asked: Asked,
        comparison: Comparison,
        hands: Hands,
        made: Replayed,
        watch: Watcher,
        total: int,
    ) -> None:
        self._archive = archive
        self._job = job
        self._asked = asked
        self._comparison = comparison
        self._hands = hands
        self._made = made
        self._watch = watch
        self._sight = Sight(total)
        self._left = asked.limit

    async def all(self) -> None:
        """Read every page that is meant."""
        imports = [run for run, way in self._job.ways.items() if way.imported]
        await self._work(self._archived(imports))
        for run in imports:
            await self._imported(run)

    async def _imported(self, run: int) -> None:
        """Pages of other tools: from what the scraper starts with, from link to link; then what nothing led to."""
        await self._work(_one(Order(start=run)))
        while pages := await self._comparison.led(self._allowed(CHUNK * 64)):
            self._spend(len(pages))
            await self._work(_each(pages))
        await self._work(self._unled(run))

    async def _archived(self, imports: list[int]) -> AsyncIterator[Order]:
        name, asked = self._job.scraper, self._asked
        async for some in self._archive.ids(name, asked.run, matching=asked.url, but=imports, at_once=CHUNK):
            meant = some[: self._allowed(CHUNK)]
            if not meant:
                return
            self._spend(len(meant))
            yield Order([(number, None) for number in meant])

    async def _unled(self, run: int) -> AsyncIterator[Order]:
        async for some in self._archive.ids(self._job.scraper, run, matching=self._asked.url, at_once=CHUNK):
            meant = (await self._comparison.unled(some))[: self._allowed(CHUNK)]
            if meant:
                self._spend(len(meant))
                yield Order([(number, None) for number in meant])

    def _allowed(self, most: int) -> int:
        """How many more pages may be read, of so many."""
        return most if self._left is None else min(most, self._left)

    def _spend(self, count: int) -> None:
        if self._left is not None:
            self._left -= count

    async def _work(self, orders: AsyncIterator[Order]) -> None:
        await self._hands.work(orders, self._take)

    async def _take(self, gave: Gave) -> None:
        made, sight = self._made, self._sight
        made.pages += gave.read
        made.failed += gave.failed
        made.skipped += gave.skipped
        made.rejected += gave.rejected
        made.failures = _merged(made.failures, gave.failures)
        made.rejects = _merged(made.rejects, gave.rejects)
        sight.done += gave.read + gave.failed + gave.skipped
        sight.failed += gave.failed
        sight.items += len(gave.items)
        await self._comparison.add(gave)
        self._watch(sight)


async def _one(order: Order) -> AsyncIterator[Order]:
    yield order


async def _each(pages: list[tuple[int, bytes | None]]) -> AsyncIterator[Order]:
    for first in range(0, len(pages), CHUNK):
        yield Order(pages[first : first + CHUNK])


def _merged(known: list[Reason], more: dict[str, tuple[str, int]]) -> list[Reason]:
    """Reasons with more of them, most frequent first."""
    if not more:
        return known
    by_why = {reason.why: reason for reason in known}
    for why, (url, count) in more.items():
        old = by_why.get(why)
        if old is not None:
            by_why[why] = Reason(why, old.count + count, old.url)
        elif len(by_why) < REASONS:
            by_why[why] = Reason(why, count, url)
    return sorted(by_why.values(), key=lambda reason: -reason.count)


# -- what comes out --------------------------------------------------------------------------------------------


async def _forget_known_links(store: Store, comparison: Comparison, scraper: str) -> None:
    """What a run met and dropped, or could not fetch, is no news, though the archive does not have it."""
    if not (await comparison.links(1))[0]:
        return
    known: list[str] = []
    async for page in store.pages(None, scraper):
        known.append(page["url"])
        if len(known) >= 10 * GROUP:
            await comparison.forget_links(known)
            known = []
    await comparison.forget_links(known)


async def _sum_up(comparison: Comparison, made: Replayed, tell: Teller | None) -> None:
    counts = await comparison.counts()
    made.same, made.changed, made.new = counts[State.SAME], counts[State.CHANGED], counts[State.NEW]
    made.back, made.gone, made.older = counts[State.BACK], counts[State.GONE], counts[State.OLDER]
    made.items = sum(counts.values()) - made.gone
    made.links, made.new_links = await comparison.links(LINKS)
    stories: dict[tuple[str, str], FieldStory] = {}
    async for each in comparison.differences(*(NEWS if tell is not None else (State.CHANGED, State.BACK))):
        _note(stories, each)
        if tell is not None:
            tell(each)
    made.fields = sorted(stories.values(), key=lambda story: (-story.changed, story.kind, story.field))


def _note(stories: dict[tuple[str, str], FieldStory], each: Difference) -> None:
    """Count a difference once for every field it is in."""
    met: set[str] = set()
    for delta in each.deltas:
        field = _PLACES.sub("[]", delta.path)
        if field in met:
            continue
        met.add(field)
        story = stories.setdefault((each.kind, field), FieldStory(each.kind, field))
        story.changed += 1
        story.filled += delta.before is None
        story.emptied += delta.after is None
        if len(story.examples) < EXAMPLES:
            story.examples.append((each.key, delta.before, delta.after))


# -- writing ---------------------------------------------------------------------------------------------------


async def _apply(store: Store, comparison: Comparison, job: Job, asked: Asked) -> int:
    """Write what was found into the store, as a run of its own. Returns its number."""
    told = {"run": asked.run, "url": asked.url.pattern if asked.url else None, "limit": asked.limit}
    given: dict[str, Any] = {name: value for name, value in told.items() if value is not None}
    way = next(iter(job.ways.values()))
    signature = urls.digest("replay", job.scraper, str(time.time()))
    reading = runs.reading_of(registry.load_all(way.ref)[0].scraper)
    run = await store.new_run(Draft(job.scraper, way.ref, signature, {}, {"replay": given}, reading))
    lease = await store.acquire(run.id, owners.me(), runs.LEASE_TTL)
    try:
        await _write(store, lease, comparison, lost=asked.whole)
        await store.end_run(lease, RunState.FINISHED, "replay")
    except asyncio.CancelledError:
        await asyncio.shield(store.end_run(lease, RunState.CANCELLED, "interrupted"))
        raise
    finally:
        await asyncio.shield(store.release(lease))
    return run.id


async def _write(store: Store, lease: Lease, comparison: Comparison, *, lost: bool) -> None:
    group: list[Difference] = []
    async for each in comparison.differences(State.CHANGED, State.NEW, State.BACK):
        group.append(each)
        if len(group) >= GROUP:
            await store.reread(lease, [found.reread() for found in group])
            group = []
    await store.reread(lease, [found.reread() for found in group])
    if not lost:
        return
    gone: list[tuple[str, str]] = []
    async for each in comparison.differences(State.GONE):
        gone.append((each.kind, each.key))
        if len(gone) >= GROUP:
            await store.lost(lease, gone)
            gone = []
    await store.lost(lease, gone)
