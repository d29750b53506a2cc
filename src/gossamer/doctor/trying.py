"""Trying scrapers on one page each: a dry run of the first request that each begins with."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gossamer import registry, runs
from gossamer.doctor.finding import plain
from gossamer.doctor.jobs import Job, Line, Trial
from gossamer.errors import ConfigError, GossamerError
from gossamer.fetch import browser
from gossamer.reader import Watchdog
from gossamer.registry import Found
from gossamer.runs import Parts, Running
from gossamer.scraper import Scraper, as_iterable, each
from gossamer.storage.opening import MEMORY
from gossamer.values import Ending, Item, Outcome

#: Scrapers that are tried at the same time.
AT_ONCE = 16
#: Names of fields that are told of.
MOST_FIELDS = 50
#: What a trial is, whatever the settings say: nothing is stored, delivered or tried twice.
_KNOBS = {"dry_run": True, "max_pages": 1, "retries": 0, "sinks": "none", "revisit": "always"}


async def try_all(job: Job, tell: Callable[[Line], None]) -> None:
    """Try all scrapers of a job, side by side: the hosts that they share are asked no faster than any of them says."""
    room = asyncio.Semaphore(AT_ONCE)

    async def one(parts: Parts, index: int, name: str, ref: str) -> None:
        async with room:
            tell(Line(begun=index))
            tell(Line(index=index, tried=await _try(parts, name, ref, job)))

    async with runs.open_parts(MEMORY) as parts:
        await asyncio.gather(*(one(parts, index, *scraper) for index, scraper in enumerate(job.scrapers)))


async def _try(parts: Parts, name: str, ref: str, job: Job) -> Trial:
    """One scraper on one page; where that gave nothing, on the next that it begins with, a few times.

    Never raises for what the scraper or its site does.
    """
    began = time.monotonic()
    params = job.params or job.usual.get(name, {})
    tried = Trial(name, "error")
    for skip in range(job.tries):
        left = max(1.0, job.deadline - (time.monotonic() - began))
        now = await _try_one(parts, name, ref, params, {**job.flags, **_KNOBS}, left, skip)
        if not skip or now.status == "ok":  # of pages that gave nothing, the first is told of
            tried = now
        if now.status != "empty":
            break
    return msgspec.structs.replace(tried, seconds=round(time.monotonic() - began, 3))


async def _try_one(
    parts: Parts, name: str, ref: str, params: Mapping[str, Any], flags: Mapping[str, Any], deadline: float, skip: int
) -> Trial:
    outcomes: list[Outcome] = []
    running: list[Running] = []

    def watch(started: Running) -> None:
        running.append(started)
        started.progress.listen(outcomes.extend)

    status, why = "", ""
    try:
        found = next(f for f in registry.load_all(ref) if f.scraper.name == name)
        taken = {k: v for k, v in params.items() if not found.scraper.takes or k in found.scraper.takes}
        limits = {"max_wait": f"{deadline}s", "handler_timeout": f"{deadline / 2}s"}
        only = beginning(found, parts.watchdog, deadline / 2, skip=skip)
        asked = runs.plan(only, taken, {**flags, **limits}, fresh=True)
        async with asyncio.timeout(deadline):
            await runs.execute(parts, asked, watch)
    except TimeoutError:
        status, why = "timeout", f"no page was read within {deadline:.0f} s"
    except ConfigError as error:
        why = str(error)
        status = "browser" if why == browser.missing() else "needs" if "--param" in why else "config"
    except GossamerError as error:
        status, why = error.reason, str(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it is an author's code that we call
        status, why = "error", f"{type(error).__name__}: {error}"
    return _report(name, outcomes, status, why, running[0].engine.held if running else "")


def beginning(found: Found, watchdog: Watchdog, seconds: float, most: int = 1, skip: int = 0) -> Found:
    """A scraper that begins with some of its requests, the first unless told, each known within some seconds."""
    scraper = found.scraper

    def start(self: Scraper) -> Any:
        with watchdog.guard("start()", seconds):
            given: Any = scraper.start(self)
        if inspect.isawaitable(given) or isinstance(given, AsyncIterator):
            return _some_async(given, skip, most)
        return _some(as_iterable(given), watchdog, seconds, skip, most)

    sitemaps = scraper.start_sitemaps
    # What is wrong in an author's file is told with the author's names.
    names = {"__module__": scraper.__module__, "__qualname__": scraper.__qualname__, "name": scraper.name}
    few = sitemaps if isinstance(sitemaps, str) else tuple(sitemaps)[:1]
    made = {**names, "start": start, "start_sitemaps": few}
    return Found(type(scraper.__name__, (scraper,), made), found.ref)


def _some(given: Iterator[Any], watchdog: Watchdog, seconds: float, skip: int, most: int) -> Iterator[Any]:
    for number in range(skip + most):
        with watchdog.guard("start()", seconds):
            some = list(itertools.islice(given, 1))
        if not some:
            return
        if number >= skip:
            yield some[0]


async def _some_async(given: Any, skip: int, most: int) -> AsyncIterator[Any]:
    number = 0
    async for request in each(given):
        if number >= skip:
            yield request
        number += 1
        if number >= skip + most:
            return


def _report(name: str, outcomes: Sequence[Outcome], status: str, why: str, held: str) -> Trial:
    last = next((o for o in reversed(outcomes) if o.is_page), None)
    if last is None:
        last = next((o for o in reversed(outcomes) if o.reason not in ("redirect", "sitemap", "robots_sitemaps")), None)
    if last is None:
        return Trial(name, status or "held", why=plain(why or held or "its host may not be asked now"))
    url = last.request.url
    if last.ending is not Ending.DONE or not last.is_page:
        answered = f"it answered with status {last.status}" if last.status else last.reason
        return Trial(name, last.reason, url, why=plain(last.detail or held or answered))
    fields, never = _fields(last.items)
    return Trial(
        name,
        "ok" if last.items or last.found else "rejected" if last.rejects else "empty",
        url,
        items=len(last.items),
        found=len(last.found),
        rejected=len(last.rejects),
        fields=len(fields),
        filled=len(fields) - len(never),
        never=never[:MOST_FIELDS],
        why=plain(f"{last.rejects[0].step}: {last.rejects[0].reason}" if last.rejects and not last.items else ""),
    )


def _fields(items: Sequence[Item]) -> tuple[list[str], list[str]]:
    """The fields of some items, and those in which none of them has a value."""
    filled: dict[str, bool] = {}
    for item in items:
        for name, value in item.record().items():
            filled[str(name)] = filled.get(str(name), False) or value not in (None, "", [], {})
    return list(filled), [name for name, some in filled.items() if not some]
