"""The local site that plays the real one: every saved page, with the faults drawn for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from urllib.parse import parse_qs

import msgspec

from gossamer.chaos import faults
from gossamer.chaos.faults import MOST_TRIES, Draw
from gossamer.chaos.saved import Saved, key_of
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.fetcher import Fetcher
from gossamer.fetch.way import Way
from gossamer.polite.gate import Door, Gate
from gossamer.polite.limits import Bucket
from gossamer.settings import ScraperConfig
from gossamer.testing import Answer, Hit, Site
from gossamer.testing.exchange import path_of
from gossamer.values import Request, Response

#: A storm over all pages: requests it takes, and the name it has in the report.
STORM, STORM_NAME = 3, "storm"

NOT_SAVED = Answer(status=404, body=b"<h1>this page was not saved</h1>")
GONE = Answer(status=410, body=b"<h1>gone</h1>")


class Weather(msgspec.Struct, frozen=True):
    """How bad it gets: shares of the pages."""

    seed: int = 1
    #: Of pages with a fault that passes, and with one that does not.
    share: float = 0.5
    hard: float = 0.04
    #: Whether faults are served at all. Without, pages drawn for a hard one are gone, and all others fine.
    faults: bool = True


class Stage:
    """Answers for the real site: a handler for a Site."""

    def __init__(self, pages: Mapping[str, Saved], weather: Weather) -> None:
        self._pages = pages
        self._weather = weather
        self._tries: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._hits = 0
        #: The storm begins when a third of the pages could have been read.
        self._storm = range(len(pages) // 3, len(pages) // 3 + STORM) if weather.faults and weather.share else range(0)
        #: Fault -> URL -> how often it was served.
        self.served: dict[str, Counter[str]] = {}

    def __call__(self, hit: Hit) -> Answer:
        """The page of a key, or what is wrong with it now."""
        key = path_of(hit).lstrip("/")
        told = parse_qs(hit.path.partition("?")[2])
        page = self._pages.get(key)
        if page is None:
            return NOT_SAVED
        self._hits += 1
        fine = Answer(status=page.status, body=page.body(), headers=_headers(page))
        if "marked" in told:
            return fine
        drawn = faults.draw(
            key,
            page.url,
            seed=self._weather.seed,
            share=self._weather.share,
            hard=self._weather.hard,
            start="start" in told,
        )
        if not self._weather.faults:
            return GONE if drawn is not None and drawn.hard else fine
        return self._disturbed(key, page.url, fine, drawn)

    def _disturbed(self, key: str, url: str, fine: Answer, drawn: Draw | None) -> Answer:
        if drawn is not None and drawn.hard:
            return self._serve(drawn.fault.name, url, drawn.fault.answer(fine, url, drawn.number))
        if self._hits in self._storm and self._failed[key] < MOST_TRIES:
            self._failed[key] += 1
            return self._serve(STORM_NAME, url, Answer(status=429, headers={"Retry-After": "1"}))
        if drawn is None or self._tries[key] >= drawn.times or self._failed[key] >= MOST_TRIES:
            return fine
        self._tries[key] += 1
        self._failed[key] += drawn.fault.fails
        return self._serve(drawn.fault.name, url, drawn.fault.answer(fine, url, drawn.number))

    def _serve(self, name: str, url: str, answer: Answer) -> Answer:
        self.served.setdefault(name, Counter())[url] += 1
        return answer


def _headers(page: Saved) -> dict[str, str | tuple[str, ...]]:
    told: dict[str, str | tuple[str, ...]] = dict(page.headers)
    # A page that came without a type has none here either.
    return told if "content-type" in told else {**told, "Content-Type": ()}


class Rerouted:
    """A Fetcher that sends every request to the local site, whatever host it names."""

    def __init__(self, inner: Fetcher, site: Site) -> None:
        self._inner = inner
        self._site = site
        self._addresses = Addresses(private=True)

    async def fetch(self, request: Request, config: ScraperConfig, way: Way) -> Response:
        """Fetch from the local site, as if the real one had answered. Raises FetchError."""
        real = faults.unmarked(request.url)
        asked = f"/{key_of(request.evolve(url=real))}?depth={request.depth}"
        asked += "&start=1" if request.depth == 0 else ""
        asked += "&marked=1" if real != request.url else ""
        local = request.evolve(url=self._site.url(asked), render=False)
        # Nothing that is meant for the real site goes with it: no secrets, no proxy.
        here = msgspec.structs.replace(way, addresses=self._addresses, proxy=None, headers={}, trusted=False)
        response = await self._inner.fetch(local, config, here)
        return msgspec.structs.replace(response, url=request.url)


def here(name: str) -> tuple[str, ...]:
    """Every name is this machine's: nobody else is asked where it is."""
    return ("127.0.0.1",)


class Hasty(Bucket):
    """A pace that learns nothing: a local site is in no trouble, and waiting for it would take hours."""

    __slots__ = ()

    def slow(self, now: float, longest: float = 0.0) -> bool:
        """Never."""
        return False

    def clean(self, now: float, elapsed: float) -> bool:
        """Never."""
        return False


class HastyGate(Gate):
    """A gate that holds, breaks and asks robots.txt as ever, and learns no pace."""

    async def door(self, host: str, config: ScraperConfig) -> Door:
        """The door of a host, no less polite than `config` asks."""
        door = await super().door(host, config)
        if not isinstance(door.bucket, Hasty):
            door.bucket = Hasty(door.bucket.interval)
        return door


#: Knobs of a replay: nobody is there to be polite to, and what hangs is given up soon.
QUICK = {
    "rate": "none",
    "max_crawl_delay": "1ms",
    "timeout": "6s",
    "first_byte": "2s",
    "breaker_wait": "200ms",
    "max_wait": "1m",
    "proxies": "none",
    "allow_private": True,
    "render": False,
    "dry_run": False,
}
