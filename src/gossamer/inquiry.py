"""Asking for robots.txt: when it stands in a request's way, and again while its old rules still hold."""

from __future__ import annotations

import dataclasses
import time
from typing import Protocol

from gossamer import urls
from gossamer.departure import Departure
from gossamer.errors import AddressRefused, FetchError, Held, ProxyFailed, TlsFailed
from gossamer.fetch import retry
from gossamer.fetch.fetcher import Fetcher
from gossamer.fetch.way import Way
from gossamer.fetch.ways import Ways
from gossamer.frontier import Frontier, Turn
from gossamer.polite import robots
from gossamer.polite.gate import Door, Gate
from gossamer.polite.sharing import Sharing
from gossamer.settings import ScraperConfig
from gossamer.storage.store import RobotsNote, Store
from gossamer.telemetry import log
from gossamer.tenure import FOREVER, Tenure
from gossamer.values import REDIRECTS, Fetch, Request, Response

#: Redirects followed to a robots.txt (RFC 9309, 2.3.1.2).
MAX_HOPS = 5
#: Seconds until a host is looked at again whose robots.txt lies with another host that is not ready.
ASIDE = 0.02


class Log(Protocol):
    """Where exchanges are written down."""

    def log(self, fetch: Fetch) -> None:
        """Keep an exchange."""

    def soon(self) -> None:
        """Write it without waiting for more."""


class Inquiry:
    """Asks for the robots.txt files that one run needs."""

    def __init__(
        self,
        store: Store,
        gate: Gate,
        fetcher: Fetcher,
        ways: Ways,
        frontier: Frontier,
        config: ScraperConfig,
        log: Log,
        tenure: Tenure = FOREVER,
        shared: Sharing | None = None,
    ) -> None:
        self._store = store
        self._gate = gate
        self._fetcher = fetcher
        self._ways = ways
        self._frontier = frontier
        self._retries = config.retries
        self._agent = config.user_agent
        self._config = dataclasses.replace(config, max_body=robots.MAX_ROBOTS, content_types=(), render=False)
        self._log = log
        self._tenure = tenure
        self._shared = shared
        #: Origin -> fetches that brought no answer, and redirects followed, since it was last read.
        self._tries: dict[str, int] = {}
        self._hops: dict[str, int] = {}

    async def ask(self, turn: Turn, url: str) -> None:
        """Fetch the robots.txt of a turn; after a few failures the site counts as closed."""
        door = await self._door(turn, url)
        if door is None:
            return
        response: Response | None = None
        failure: FetchError | None = None
        way: Way | None = None
        leave = Departure(self._store, self._gate, door, self._tenure, self._shared)
        try:
            way = self._ways.plain(urls.host(url), leave)
            response = await self._fetcher.fetch(Request(url), self._config, way)
            door.answered(response.status, response.elapsed, retry.retry_after(response), fresh=True)
        except Held:
            self._frontier.robots_known(turn)
            return
        except FetchError as error:
            failure = error
            if way is None or way.proxy is None:
                door.failed(error, leave.elapsed, fresh=True)
            if way is not None:
                self._ways.failed(way, url, error, leave.elapsed)
            log.info("robots.unreachable", url=url, why=str(error))
        finally:
            door.leave()
            await leave.over()
        status, size = (response.status, len(response.body)) if response else (0, 0)
        self._log.log(Fetch(url, urls.host(url), leave.at, leave.elapsed, status, size, "robots"))
        through = way is not None and way.proxy is not None
        await self._learn(turn, door, url, response, failure, through_proxy=through)
        self._log.soon()
        self._frontier.robots_known(turn)

    async def _door(self, turn: Turn, url: str) -> Door | None:
        """The door a robots.txt is behind, entered: another host's, if it was redirected there.

        None if that host may not be asked now: the turn comes again when it may.
        """
        door = await self._gate.door(urls.host(url), self._config)
        if door is turn.door:
            return door
        turn.door.leave()
        now = time.monotonic()
        if door.ready(now):
            door.enter(now)
            return door
        turn.door.hold(max(door.next_at - now, ASIDE), f"{url} stands before it, on a host that is not ready")
        self._frontier.robots_known(turn)
        return None

    async def _learn(
        self,
        turn: Turn,
        door: Door,
        url: str,
        response: Response | None,
        failure: FetchError | None,
        *,
        through_proxy: bool,
    ) -> None:
        """Rules to keep, a redirect to follow, or a wait before the next try."""
        origin = urls.origin(turn.request.url)
        if response is not None and response.status in REDIRECTS and self._redirected(origin, url, response):
            return
        self._frontier.robots_at.pop(origin, None)
        hops = self._hops.pop(origin, 0)
        if response is not None and (response.status in REDIRECTS or robots.is_answer(response)):
            # More redirects than anyone means are as good as no file (RFC 9309, 2.3.1.2).
            await self._keep(turn, origin, 404 if hops > MAX_HOPS else response.status, response.body)
            return
        tries = self._tries[origin] = self._tries.get(origin, 0) + 1
        if isinstance(failure, AddressRefused | TlsFailed):
            self._bar(turn, origin, failure, f"{url}: {failure}")
        elif tries > self._retries:
            times = "1 try" if tries == 1 else f"{tries} tries"
            why = failure or f"status {response.status if response else 0}"
            closed = f"{why}: {url} could not be read in {times}, so the site counts as closed"
            if failure is not None and (through_proxy or isinstance(failure, ProxyFailed)):
                self._bar(turn, origin, failure, closed)
            else:
                await self._keep(turn, origin, response.status if response else 0, b"", closed)
        else:
            turn.door.hold(retry.backoff(tries), f"{url} gives no answer")
            if door is not turn.door:
                turn.door.hold(door.next_at - time.monotonic(), door.why)

    def _redirected(self, origin: str, url: str, response: Response) -> bool:
        """Whether there is a redirect to follow."""
        hops = self._hops[origin] = self._hops.get(origin, 0) + 1
        target = urls.resolve(response.headers.get("location", ""), url)
        if target is None or hops > MAX_HOPS:
            return False
        self._frontier.robots_at[origin] = target
        return True

    def _bar(self, turn: Turn, origin: str, failure: FetchError, closed: str) -> None:
        """The site itself was not asked, by what this run may do or goes through: that is no news for other runs."""
        self._tries.pop(origin, None)
        if turn.refreshing:  # the old rules hold on
            self._gate.learn(turn.door, turn.request.url, robots.Robots(self._agent, closed=closed))
            return
        self._frontier.barred[origin] = rules = robots.Robots(self._agent, closed=closed)
        rules.reason = failure.reason

    async def _keep(self, turn: Turn, origin: str, status: int, body: bytes, closed: str | None = None) -> None:
        """Go by these rules from now on, in this run and, from the store, in others."""
        self._tries.pop(origin, None)
        now = time.time()
        note = RobotsNote(origin, now, now, status, body if 200 <= status < 300 else b"", closed)
        if closed is None or not turn.refreshing:  # else the old rules hold on
            await self._store.keep_robots(note)
        self._gate.learn(turn.door, turn.request.url, robots.of(note, self._agent))
