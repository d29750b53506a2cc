"""What a run begins with: the scraper's start requests and sitemaps, put into the frontier."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar

from gossamer import builtin, urls
from gossamer.errors import ConfigError, HandlerTimeout, ReadError
from gossamer.fetch.ways import Ways
from gossamer.reader import Watchdog
from gossamer.scope import Scope
from gossamer.scraper import Scraper, as_iterable, each
from gossamer.storage.store import Store
from gossamer.values import Lease, Request, Run

T = TypeVar("T")

#: Seconds that start() may take for one URL.
START_LIMIT = 60.0
#: Seconds for which start requests are gathered on a thread before they are taken over.
AT_ONCE = 0.5
#: Start requests after which Ctrl-C is heard.
BREATH = 1_000
#: Start requests written in one transaction: digests are spread evenly, so each transaction writes nearly
#: every page of their index, and few big ones write a third of what many small ones do.
SEEDS = 50_000

#: A start request, and the login that stood in its URL.
Start = tuple[Request, tuple[str, str] | None]


async def roots(store: Store, run: Run, kind: str, hosts: Collection[str] | None = None) -> list[str]:
    """What the scope of a run goes by: where it starts, and where that redirected to; all of it, or on some hosts."""
    return [] if kind == "any" else await store.roots(_goes_as(run), by_host=kind != "prefix", hosts=hosts)


async def given(store: Store, run: Run) -> list[str]:
    """One start URL of each host that a run was given. When it is seeded, no more of them come."""
    return await store.given_hosts(_goes_as(run))


def _goes_as(run: Run) -> int:
    """A run that fetches again what another one knew goes where that one went."""
    return int(run.options.get("of", run.id))


async def restore(
    store: Store,
    run: Run,
    scraper: Scraper,
    scope: Scope,
    ways: Ways,
    *,
    trusted: bool,
    hosts: Iterable[str] | None = None,
) -> None:
    """What seeding a run told of where it goes, told again from the store.

    Who walks a part of it says which of the given `hosts` are there, and has told its scope already.
    """
    if hosts is None:
        scope.start(await roots(store, run, scope.kind))
    for url in await given(store, run) if hosts is None else hosts:
        ways.start(url, typed=trusted)
    for url, told in _logins(scraper):
        ways.start(url, told, typed=trusted)
    for host, n in (await store.host_counts(run.id)).items() if scope.budgeted else ():
        scope.count(host, n)


async def seed(
    store: Store,
    lease: Lease,
    run: Run,
    scraper: Scraper,
    scope: Scope,
    ways: Ways,
    watchdog: Watchdog,
    *,
    trusted: bool,
    apart: bool = False,
    stopped: Callable[[], bool] = lambda: False,
) -> None:
    """Put the start requests in, unless an earlier start of this run put in all of them.

    With `apart`, a start() that blocks does so on a thread of its own: others walk on this loop.
    """
    if run.seeded:
        await restore(store, run, scraper, scope, ways, trusted=trusted)
        return
    if scope.kind == "prefix" and scraper.start_sitemaps == "auto":
        # It would ask the whole host, where a part of it was meant.
        raise ConfigError('scope = "prefix" does not go with sitemaps found by themselves: choose pages by `include`')
    batch: list[Request] = []
    some = False
    async with _Behind() as behind:
        async for request, login in start_requests(scraper, watchdog, apart=apart):
            scope.start([request.url])
            scope.count(urls.host(request.url))
            ways.start(request.url, login, typed=trusted)
            batch.append(request)
            some = True
            if len(batch) % BREATH == 0:
                await asyncio.sleep(0)  # a start that never ends can be stopped here
                if stopped():
                    return
            if len(batch) >= SEEDS:
                await behind.begin(store.add(lease, batch))
                batch = []
    await store.add(lease, batch, last=True)
    if not some:
        raise ConfigError(f"the scraper {scraper.name!r} has nothing to start with: give it start_urls")


class _Behind:
    """One write to the store under way while the next is prepared: on the thread that writes, both go on at once."""

    def __init__(self) -> None:
        self._under_way: asyncio.Future[Any] | None = None

    async def __aenter__(self) -> _Behind:
        return self

    async def begin(self, write: Coroutine[Any, Any, Any]) -> None:
        """Begin a write, once the last one has ended."""
        if self._under_way is not None:
            await self._under_way
        self._under_way = asyncio.ensure_future(write)
        await asyncio.sleep(0)  # lets it begin

    async def __aexit__(self, *_: object) -> None:
        if self._under_way is not None:
            await self._under_way


async def start_requests(scraper: Scraper, watchdog: Watchdog, *, apart: bool = False) -> AsyncIterator[Start]:
    """What a scraper begins with. Raises ConfigError, whatever its start() raised."""
    known: set[str] = set()
    try:
        async for yielded in _start_apart(scraper) if apart else _watched_start(scraper, watchdog):
            for request, login in _begin_with(_start_request(yielded, scraper), scraper):
                if request.handler not in known and request.handler not in builtin.HANDLERS:
                    scraper.handler(request.handler)
                known.add(request.handler)
                yield request, login
        for url in _sitemaps(scraper):
            request, login = _start_request(url, scraper)
            yield request.evolve(to=builtin.SITEMAP), login
    except (ConfigError, asyncio.CancelledError, GeneratorExit):
        raise
    except (ReadError, ValueError) as error:
        raise ConfigError(f"{scraper.name}.start(): {error}") from None
    except KeyError as error:
        raise ConfigError(f"the scraper {scraper.name!r} needs the parameter {error}: give --param") from error
    except (Exception, SystemExit) as error:
        raise ConfigError(f"{scraper.name}.start() failed: {type(error).__name__}: {error}") from error


def _sitemaps(scraper: Scraper) -> Iterable[str]:
    """The sitemaps a scraper names itself."""
    given = scraper.start_sitemaps
    if isinstance(given, str):
        if given != "auto":
            raise ConfigError(f'{type(scraper).__name__}.start_sitemaps is one text: write a list of URLs, or "auto"')
        return ()
    return given


def _begin_with(start: Start, scraper: Scraper) -> Iterator[Start]:
    """A start request; or, where sitemaps are to be found by themselves, those of its host instead."""
    request, login = start
    if scraper.start_sitemaps == "auto" and request.plain:
        place = urls.origin(request.url) + "/robots.txt"
        yield Request(place, to=builtin.ROBOTS_SITEMAPS), login
    else:
        yield start


def _logins(scraper: Scraper) -> Iterator[tuple[str, tuple[str, str]]]:
    """The logins in the URLs that a scraper names, which no store has: a run that goes on needs them again."""
    for given in (scraper.start_urls, scraper.start_sitemaps):
        for text in given if isinstance(given, list | tuple) else ():
            if isinstance(text, str) and "@" in text:
                url, login = urls.with_login(text)
                if login is not None:
                    yield url, login


async def _watched_start(scraper: Scraper, watchdog: Watchdog) -> AsyncIterator[Any]:
    """What start() yields. A plain one that blocks is interrupted, as a handler is."""
    yielded = scraper.start()
    if not isinstance(yielded, Iterator):
        async for value in each(yielded):
            yield value
        return
    over = object()
    while True:
        with watchdog.guard("start()", START_LIMIT):
            value = next(yielded, over)
        if value is over:
            return
        yield value


async def _start_apart(scraper: Scraper) -> AsyncIterator[Any]:
    """What start() yields, while others walk on this loop: a plain one is called on a thread."""
    made = await _in_time(scraper.start)
    if inspect.isawaitable(made) or isinstance(made, AsyncIterator) or made is None:
        async for value in each(made):
            yield value
        return
    values, over = as_iterable(made), False
    while not over:
        some, over = await _in_time(partial(_some, values))
        for value in some:
            yield value


async def _in_time(call: Callable[[], T]) -> T:
    """What a call on a thread gives. Raises HandlerTimeout; the thread itself nobody can end."""
    try:
        async with asyncio.timeout(START_LIMIT + AT_ONCE) as limit:
            return await asyncio.to_thread(call)
    except TimeoutError:
        if not limit.expired():  # it is the author's own: of a socket, say
            raise
        raise HandlerTimeout(f"start() blocked for longer than {START_LIMIT:g} s") from None


def _some(values: Iterator[Any]) -> tuple[list[Any], bool]:
    """What comes within a moment, and whether that was all."""
    until = time.monotonic() + AT_ONCE
    some: list[Any] = []
    for value in values:
        some.append(value)
        if len(some) >= BREATH or time.monotonic() > until:
            return some, False
    return some, True


def _start_request(yielded: Any, scraper: Scraper) -> Start:
    if isinstance(yielded, str):
        url, login = urls.with_login(yielded)
        return Request(url), login
    if not isinstance(yielded, Request):
        raise ConfigError(f"{scraper.name}.start() yielded {yielded!r:.80}: yield URLs or Requests")
    yielded.check()
    url, login = urls.with_login(yielded.url)
    return yielded.evolve(url=url, depth=0), login
