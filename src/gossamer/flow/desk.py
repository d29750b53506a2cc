"""Where executors fetch: one request at a time, at the same gate and by the same rules as those of a run.

A run hands requests out from a queue; here somebody waits for each of them. So the order is the one in which they
come to a host's door, and whoever is cancelled takes his request with him. What may be asked and when (gate,
robots.txt), the way out (identity, cookies, proxies, addresses) and what is worth another try are a run's own.
"""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from math import inf

import msgspec

from gossamer import clock, urls
from gossamer.departure import Departure
from gossamer.errors import Blocked, FetchError, GossamerError, Held, TimedOut
from gossamer.fetch import hops, retry
from gossamer.fetch.sessions import Session
from gossamer.fetch.way import Way
from gossamer.fetch.ways import Ways
from gossamer.flow.seat import Seat
from gossamer.frontier import Frontier, Lane, Turn
from gossamer.inquiry import Inquiry
from gossamer.parse import walls
from gossamer.parse.page import Page
from gossamer.polite.gate import Door
from gossamer.polite.robots import Robots, product
from gossamer.runs import Parts
from gossamer.settings import ScraperConfig
from gossamer.telemetry import log
from gossamer.values import REDIRECTS, Ending, Fetch, Outcome, Request, Response


class Forbidden(FetchError):
    """The site's robots.txt does not allow it."""

    reason = "robots"
    transient = False


class Closed(FetchError):
    """The site's robots.txt cannot be read, and mostly nothing else there can: it counts as closed."""

    reason = "closed"
    transient = False


class Misled(FetchError):
    """Redirects that lead nowhere: too many, in a circle, or to what cannot be fetched."""

    reason = "redirect"
    transient = False


class Answered(msgspec.Struct, frozen=True):
    """One attempt that brought an answer."""

    response: Response
    way: Way
    session: Session


class Desk:
    """Fetches for all tasks of a flow."""

    def __init__(self, parts: Parts, config: ScraperConfig, ways: Ways, slots: asyncio.Semaphore) -> None:
        self.ways = ways
        self._store = parts.store
        self._gate = parts.gate
        self._fetcher = parts.fetcher
        self._config = config
        self._slots = slots
        self._agent = product(config.user_agent)
        # It hands nothing out here: it keeps what inquiries learn about robots.txt files.
        self._frontier = Frontier(parts.store, parts.gate, 0, config)
        self._inquiry = Inquiry(parts.store, parts.gate, parts.fetcher, ways, self._frontier, config, _Unlogged())
        #: Who waits before a door, in the order of coming; and who asks for an origin's robots.txt.
        self._lines: dict[Door, asyncio.Lock] = {}
        self._inquiries: dict[str, asyncio.Lock] = {}

    async def fetch(self, request: Request, seat: Seat, cookie: str = "") -> Response:
        """Fetch, through redirects, and again where that is worth it. Whatever status the last answer has.

        `cookie` goes to the host of the request and to no other. Raises FetchError, Blocked, or Held if the host is
        to be left alone for longer than `max_wait`.
        """
        home = request.url
        wait = 0.0
        while True:
            door = await self._come_in(request, seat, wait)
            mine = cookie if not hops.is_stranger(request.url, home) else ""
            try:
                ended = await self._attempt(request, door, seat, mine)
            except Held:  # between its turn and its leaving: it waits for another turn
                wait = 0.0
                continue
            if isinstance(ended, Outcome):
                request, wait = _again(ended)
                continue
            response = ended.response
            if response.status in REDIRECTS and "location" in response.headers:
                request, wait = self._redirected(request, response), 0.0
            elif (later := self._unusable(request, door, ended)) is not None:
                request, wait = _again(later)
            else:
                return response
            drop(response)

    def accepts(self, status: int) -> bool:
        """Whether an answer of this status is one that was hoped for."""
        return 200 <= status < 300 or status in self._config.accept_status

    # -- the turn ----------------------------------------------------------------------------------------------

    async def _come_in(self, request: Request, seat: Seat, wait: float) -> Door:
        """Wait for a request's turn, and take it. Raises Forbidden or Held."""
        door = await self._gate.door(urls.host(request.url), self._config)
        seat.rise()
        try:
            if wait:
                await asyncio.sleep(wait)
            if self._config.robots:
                rules = await self._rules(request, door)
                if (why := rules.forbids(request.url)) is not None:
                    raise (Closed if rules.closed else Forbidden)(why)
            await self._enter(door, seat)
        except GossamerError:
            await seat.sit()
            raise
        except asyncio.CancelledError:
            seat.back()
            raise
        return door

    async def _enter(self, door: Door, seat: Seat) -> None:
        """Wait before a door, behind those who came earlier, then go in and sit."""
        async with self._lines.setdefault(door, asyncio.Lock()):
            while True:
                await self._until_ready(door)
                await seat.sit()
                if door.ready(time.monotonic()):
                    break
                seat.rise()  # until there was room, somebody closed it
            door.enter(time.monotonic())

    async def _until_ready(self, door: Door) -> None:
        """Return when a host may be asked. Raises Held if that takes longer than anyone waits."""
        while not door.ready(now := time.monotonic()):
            if door.next_at > now:
                seconds = door.next_at - now
                if seconds > self._config.max_wait:
                    why = door.why or "its pace is that slow"
                    raise Held(seconds, f"{door.host} is to be left alone for {seconds:,.0f} s: {why}")
                await asyncio.sleep(seconds)
            else:
                free = asyncio.Event()
                door.when_free(free.set)
                await free.wait()

    async def _rules(self, request: Request, door: Door) -> Robots:
        """The robots.txt rules for a request; asked for, if they are not known."""
        origin = urls.origin(request.url)
        while (rules := await self._known(door, origin)) is None:
            async with self._inquiries.setdefault(origin, asyncio.Lock()):
                if await self._known(door, origin) is None:
                    await self._ask(request, door, origin)
        return rules

    async def _known(self, door: Door, origin: str) -> Robots | None:
        rules = self._gate.rules(door, origin, self._agent) or self._frontier.barred.get(origin)
        return rules or await self._gate.recall_robots(door, origin, self._agent)

    async def _ask(self, request: Request, door: Door, origin: str) -> None:
        """Ask for a robots.txt once: it may take several times."""
        self._frontier.lanes.setdefault(urls.host(request.url), Lane(urls.host(request.url)))
        url = self._frontier.robots_at.get(origin, origin + "/robots.txt")
        # Of no task's time: whoever came first would pay for all.
        async with Seat(self._slots, inf) as seat:
            seat.rise()
            await self._enter(door, seat)
            await self._inquiry.ask(Turn(request, door, robots_url=url), url)

    # -- the attempt -------------------------------------------------------------------------------------------

    async def _attempt(self, request: Request, door: Door, seat: Seat, cookie: str) -> Answered | Outcome:
        """Send a request once: the answer, or when to try again. Raises FetchError if that is of no use."""
        leave = Departure(self._store, self._gate, door)
        fresh = request.attempts == 0
        way: Way | None = None

        def failed(error: FetchError) -> None:
            if way is None or way.proxy is None:  # else it may be the proxy's fault, and says nothing about the host
                door.failed(error, leave.elapsed, fresh=fresh)
            if way is not None:
                self.ways.failed(way, request.url, error, leave.elapsed)

        try:
            way, session = self.ways.of(request, {"cookie": cookie} if cookie else {}, leave)
            response = await self._fetcher.fetch(request, self._config, way)
            door.answered(response.status, response.elapsed, retry.retry_after(response), fresh=fresh)
        except asyncio.CancelledError:
            if leave.at and seat.expiring:
                failed(TimedOut("no answer came while the task had time"))
            raise
        except FetchError as error:
            failed(error)
            outcome = retry.failed(request, error, leave.at, leave.elapsed, self._config)
            if outcome.ending is not Ending.LATER:
                raise
            return outcome
        finally:
            door.leave()
        self.ways.heard(session, way, response)
        return Answered(response, way, session)

    def _unusable(self, request: Request, door: Door, got: Answered) -> Outcome | None:
        """When to try again, if the answer is none to be content with. Raises Blocked if that was the last try."""
        response, config = got.response, self._config
        wall = walls.wall(Page(request, response)) if config.walls and response.file is None else None
        if wall is not None:
            error = Blocked(wall)
            door.blocked(wall)
            self.ways.blocked(got.session, got.way, request.url, wall)
            outcome = retry.unusable(request, response, error, config)
            if outcome.ending is not Ending.LATER:
                raise error
            return outcome
        if response.status in config.accept_status or not retry.worth_retrying(response.status):
            return None
        outcome = retry.refused(request, response, config)
        return outcome if outcome.ending is Ending.LATER else None

    def _redirected(self, request: Request, response: Response) -> Request:
        """The request that a redirect asks for. Raises Misled."""
        target = urls.resolve(response.headers["location"], response.url)
        if target is None or len(target) > urls.LONGEST:
            where = urls.shown(response.headers["location"])[:200]
            raise Misled(f"it redirects to {where}, which cannot be fetched")
        # Who sets a cookie and sends us back wants to see it.
        again = target == request.url or target in request.via
        if again and not (self._config.cookies != "off" and "set-cookie" in response.headers):
            raise Misled(f"it redirects to {target}, which leads back to it")
        if request.hops >= self._config.max_redirects:
            raise Misled(f"more than {self._config.max_redirects} redirects, the last to {target}")
        return hops.next_hop(request, response.status, target)

    async def aclose(self) -> None:
        """Let the store remember what hosts have asked for."""
        await self._store.remember(self._gate.notes())


def _again(later: Outcome) -> tuple[Request, float]:
    """The next try, and the seconds until then."""
    request = later.request
    log.info("flow.later", url=request.url, reason=later.reason, status=later.status)
    return request.evolve(attempts=request.attempts + 1), max(0.0, later.not_before - clock.now())


def drop(response: Response) -> None:
    """Remove the file of a body that was too large for memory, once it has been read."""
    if response.file is not None:
        with suppress(OSError):
            os.unlink(response.file)


class _Unlogged:
    """Exchanges of a flow belong to no run, and no log tells of them."""

    def log(self, fetch: Fetch) -> None:
        """Keep nothing."""

    def soon(self) -> None:
        """There is nothing to write."""
