"""The walk: every request the frontier hands out is fetched, read and settled, until none is left."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Sequence
from typing import Any

from gossamer import clock, telemetry, urls
from gossamer.errors import FetchError, GossamerError, first_error
from gossamer.fetch import retry
from gossamer.fetch.client import Fetcher
from gossamer.frontier import Frontier, Turn
from gossamer.parse import probe
from gossamer.parse.page import Page
from gossamer.polite import robots
from gossamer.polite.gate import Door, Gate
from gossamer.progress import Progress
from gossamer.reader import Reader
from gossamer.scope import Scope
from gossamer.settings import ScraperConfig
from gossamer.storage.store import Batch, Store
from gossamer.telemetry import log
from gossamer.values import Drop, Ending, Fetch, Lease, Outcome, Request, Response

#: Outcomes settled in one transaction, unless time or size says sooner.
GROUP = 64
#: Longest time, in seconds, that an outcome waits for others to be settled with it.
LINGER = 0.02
#: Bytes of items after which a group is settled at once.
HEAVY = 4 << 20
#: Seconds between two notes of what is in flight, where nothing else is written.
HEARTBEAT = 0.5
#: Seconds after which the lease is renewed, if no settle has done it.
RENEW = 20.0
#: A host asked no more often than this, in seconds, has each of its turns written down before it is taken.
SLOW = 0.25
#: Seconds that parsing a page may take.
PARSE_LIMIT = 10.0
#: Redirects followed to a robots.txt (RFC 9309, 2.3.1.2).
MAX_ROBOTS_HOPS = 5

_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class Engine:
    """One run of one scraper in this process."""

    def __init__(
        self,
        *,
        store: Store,
        gate: Gate,
        fetcher: Fetcher,
        reader: Reader,
        config: ScraperConfig,
        scope: Scope,
        lease: Lease,
        progress: Progress,
        by_level: bool,
    ) -> None:
        self._store = store
        self._gate = gate
        self._fetcher = fetcher
        self._reader = reader
        self._config = config
        self._scope = scope
        self._lease = lease
        self.progress = progress
        self.frontier = Frontier(
            store,
            gate,
            lease.run,
            config,
            by_level=by_level,
            starving=self._starving,
            allowed=self._within_budget,
        )
        self._unsettled: list[Outcome] = []
        self._weight = 0
        self._fetches: list[Fetch] = []
        self._settling: Sequence[Outcome] = ()
        #: Walks that may wait to be settled: with those under way, a kill costs at most twice `concurrency` fetches.
        self._most_unsettled = min(config.concurrency, 4 * GROUP)
        self._some = asyncio.Event()
        self._flush = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._calm = asyncio.Event()
        self._ended = asyncio.Event()
        self._last_settle = time.monotonic()
        self._robots_tries: dict[str, int] = {}
        self._robots_config = dataclasses.replace(config, max_body=robots.MAX_ROBOTS, content_types=())
        self._failure: BaseException | None = None
        self._closing = False
        self._paused = False
        self._talkative = telemetry.heard("info")
        #: Why the run ended: "done", "max_pages", "max_items", or what `stop` was told.
        self.reason = ""

    # -- the run -----------------------------------------------------------------------------------------------

    async def run(self, grace: float) -> str:
        """Walk until nothing is left, a budget is used up, or `stop` is called. Returns the reason.

        Whatever ends it, what was walked is settled. Raises what made going on impossible.
        """
        settler = asyncio.create_task(self._settle_loop(), name="settler")
        try:
            await self.frontier.open()
            await self._walk_all(grace)
        except BaseExceptionGroup as group:
            self._failure = self._failure or first_error(group)
        finally:
            await self.frontier.aclose()
            self._closing = True
            self._some.set()
            self._flush.set()
            await asyncio.shield(settler)
        if self._failure is not None:
            raise self._failure
        return self.reason

    async def _walk_all(self, grace: float) -> None:
        """One task group owns all workers; after `stop` they have `grace` seconds to finish their walks."""
        async with asyncio.TaskGroup() as group:
            supervisor = group.create_task(self._supervise(), name="supervisor")
            workers = [group.create_task(self._worker(), name=f"walker-{n}") for n in range(self._config.concurrency)]
            await self._ended.wait()
            self.frontier.close()
            supervisor.cancel()
            _, late = await asyncio.wait(workers, timeout=grace)
            for worker in late:
                worker.cancel()

    def stop(self, reason: str) -> None:
        """Take no more; let walks finish."""
        self.reason = self.reason or reason
        self._ended.set()

    async def _supervise(self) -> None:
        """End the run when the store says nothing is left."""
        stuck_at: int | None = None
        while True:
            await self._calm.wait()
            self._calm.clear()
            if not self._at_rest():
                continue
            left = await self._store.pending(self._lease.run)
            if not self._at_rest():
                continue
            if left.waiting == 0:
                return self.stop("done")
            if stuck_at == self.frontier.turns:  # looked for it again already, and found nothing to hand out
                raise self.frontier.stalled(left.waiting)
            stuck_at = self.frontier.turns
            await self.frontier.reopen()
            self._calm.set()

    def _at_rest(self) -> bool:
        return self.frontier.quiet and not self._unsettled and not self._settling

    def _within_budget(self) -> bool:
        """Whether one more walk may begin: not while paused, and never more than `max_pages` pages."""
        most = self._config.max_pages
        return not self._paused and (most is None or self.progress.new_pages + self.frontier.flying < most)

    def pause(self) -> None:
        """Begin no walk until `go_on`."""
        self._paused = True

    def go_on(self) -> None:
        """Begin walks again."""
        self._paused = False
        self.frontier.wake_workers()

    # -- the walk ----------------------------------------------------------------------------------------------

    async def _worker(self) -> None:
        while (turn := await self.frontier.take()) is not None:
            if turn.robots_url is not None:
                await self._ask_robots(turn, turn.robots_url)
                continue
            if turn.refused is not None:
                outcome = _refused(turn.request, turn.refused)
            else:
                outcome = await self.walk(turn)
            self._done(outcome)
            if not self._room.is_set():
                await self._room.wait()

    async def walk(self, turn: Turn) -> Outcome:
        """Take one request to its outcome. Never raises for a bad site or a bad handler."""
        request = turn.request
        try:
            await self._promise(turn.door)
            started, began = time.time(), time.monotonic()
            response = await self._fetcher.fetch(request, self._config)
        except FetchError as error:
            outcome = retry.failed(request, error, started, time.monotonic() - began, self._config)
            self._log_attempt(outcome)
            return outcome
        finally:
            turn.door.leave()
        status = response.status
        if 200 <= status < 300:
            return await self._read(request, response)
        self._heed_retry_after(turn.door, response)
        if status in self._config.accept_status:
            return await self._read(request, response)
        if status in _REDIRECTS and "location" in response.headers:
            return self._redirected(request, response)
        outcome = retry.refused(request, response, self._config)
        self._log_attempt(outcome)
        return outcome

    async def _read(self, request: Request, response: Response) -> Outcome:
        """Hand the page to its handler."""
        facts = _facts(request, response)
        if response.unread:
            detail = f"its type {response.content_type or 'unknown'} is not one that is read"
            return Outcome(**facts, ending=Ending.SKIPPED, reason="content_type", detail=detail)
        if probe.suspicious(response.body) and not await probe.parses(response.body, PARSE_LIMIT):
            detail = f"its markup takes longer than {PARSE_LIMIT:g} s to parse"
            return Outcome(**facts, ending=Ending.FAILED, reason="markup", detail=detail)
        try:
            page = Page(request, response)
            items, yielded = await self._reader.read(page)
        except GossamerError as error:
            log.warning("page.unreadable", url=request.url, why=str(error))
            return Outcome(**facts, ending=Ending.FAILED, reason=error.reason, detail=str(error))
        found, dropped = self._sift(yielded, page, request.depth + 1)
        return Outcome(**facts, ending=Ending.DONE, items=tuple(items), found=found, dropped=dropped)

    def _sift(self, yielded: list[Request], page: Page, depth: int) -> tuple[tuple[Request, ...], tuple[Drop, ...]]:
        """Of what a page leads to, what the run does not know: to walk, and to drop by a rule."""
        known, scope = self.frontier.known, self._scope
        found: list[Request] = []
        dropped: list[Drop] = []
        for request in yielded:
            plain = request.plain
            if plain and request.url in known:
                continue
            url = urls.resolve(request.url, page.base_url)
            if url is None or len(url) > urls.LONGEST or (plain and not known.add(url)):
                continue
            link = request.evolve(url=url, depth=depth)
            rule = scope.drops(url, depth)
            if rule is None:
                found.append(link)
            else:
                dropped.append(Drop(link, rule))
        return tuple(found), tuple(dropped)

    def _redirected(self, request: Request, response: Response) -> Outcome:
        """Follow a redirect: its target is one more request, through scope, robots and gate like any other."""
        facts = _facts(request, response)
        target = urls.resolve(response.headers["location"], response.url)
        if target is None:
            detail = f"it redirects to {response.headers['location'][:200]!r}, which cannot be fetched"
            return Outcome(**facts, ending=Ending.FAILED, reason="redirect", detail=detail)
        if target == request.url or target in request.via:
            detail = f"it redirects to {target}, which leads back to it"
            return Outcome(**facts, ending=Ending.FAILED, reason="redirect_loop", detail=detail)
        if request.hops >= self._config.max_redirects:
            detail = f"more than {self._config.max_redirects} redirects, the last to {target}"
            return Outcome(**facts, ending=Ending.FAILED, reason="redirects", detail=detail)
        if request.depth == 0:
            # Whoever starts at example.org wants www.example.org, if that is where the site is.
            self._scope.start([target])
        rule = self._scope.leaves(target)
        # Like any start URL it need not be included; but what is excluded is excluded.
        if rule is not None and not (request.depth == 0 and rule == "include"):
            return Outcome(**facts, ending=Ending.SKIPPED, reason=rule, detail=f"it redirects to {target}")
        follow = _next_hop(request, response.status, target)
        if follow.plain:
            # Others are known by more than their URL: remembering that would hide the URL from other handlers.
            self.frontier.known.add(target)
        return Outcome(
            **facts,
            ending=Ending.DONE,
            reason="redirect",
            detail=f"it redirects to {target}",
            found=(follow,),
        )

    def _heed_retry_after(self, door: Door, response: Response) -> None:
        wait = retry.retry_after(response)
        if wait:
            wait = min(wait, self._config.max_retry_after)
            door.hold(wait, f"Retry-After: {wait:g} s, sent with status {response.status}")
            self._settle_soon()

    async def _promise(self, door: Door) -> None:
        """Before a slow host is asked, write down when it may be asked again: a kill must not shorten its wait."""
        if door.interval >= SLOW:
            await self._store.remember(self._gate.notes())
            door.go(time.monotonic())

    def _settle_soon(self) -> None:
        self._some.set()
        self._flush.set()

    # -- robots.txt --------------------------------------------------------------------------------------------

    async def _ask_robots(self, turn: Turn, url: str) -> None:
        """Fetch the robots.txt that stands before a turn; after a few failures the site counts as closed."""
        door = await self._robots_door(turn, url)
        if door is None:
            return
        response: Response | None = None
        try:
            await self._promise(door)
            started, began = time.time(), time.monotonic()
            response = await self._fetcher.fetch(Request(url), self._robots_config, part=True)
            why = f"status {response.status}"
        except FetchError as error:
            why = str(error)
            log.info("robots.unreachable", url=url, why=why)
        finally:
            door.leave()
        status, size = (response.status, len(response.body)) if response else (0, 0)
        self._fetches.append(Fetch(url, urls.host(url), started, time.monotonic() - began, status, size, "robots"))
        self._learn_robots(turn, door, url, response, why)
        self._settle_soon()
        self.frontier.robots_known(turn)

    async def _robots_door(self, turn: Turn, url: str) -> Door | None:
        """The door a robots.txt is behind, entered: another host's, if it was redirected there.

        None if that host may not be asked now: the turn comes again when it may.
        """
        if urls.host(url) == turn.door.host:
            return turn.door
        turn.door.leave()
        door = await self._gate.door(urls.host(url), self._config)
        now = time.monotonic()
        if door.ready(now):
            door.enter(now)
            return door
        turn.door.hold(max(door.next_at - now, LINGER), f"{url} stands before it, on a host that is not ready")
        self.frontier.robots_known(turn)
        return None

    def _learn_robots(self, turn: Turn, door: Door, url: str, response: Response | None, why: str) -> None:
        """Rules to keep, a redirect to follow, or a wait before the next try."""
        origin = urls.origin(turn.request.url)
        tries = self._robots_tries[origin] = self._robots_tries.get(origin, 0) + 1
        if response is not None and response.status in _REDIRECTS and tries <= MAX_ROBOTS_HOPS:
            target = urls.resolve(response.headers.get("location", ""), url)
            if target is not None:
                self.frontier.robots_at[origin] = target
                return
            response = None  # a redirect to nowhere is no answer
        if response is not None and response.status < 500 and response.status != 429:
            self._gate.learn(turn.door, turn.request.url, robots.read(response, self._config.user_agent))
        elif tries > self._config.retries:
            times = "1 try" if tries == 1 else f"{tries} tries"
            closed = f"{why}: {url} could not be read in {times}, so the site counts as closed"
            self._gate.learn(turn.door, turn.request.url, robots.Robots(self._config.user_agent, closed=closed))
        else:
            turn.door.hold(retry.backoff(tries), f"{url} gives no answer")
            if response is not None:
                self._heed_retry_after(door, response)
                turn.door.hold(door.next_at - time.monotonic(), door.why)

    # -- settling ----------------------------------------------------------------------------------------------

    def _done(self, outcome: Outcome) -> None:
        """A walk has ended: settle it with others that end about now."""
        if self._talkative:
            _tell(outcome)
        self._unsettled.append(outcome)
        self._weight += sum(len(item.data) for item in outcome.items)
        self._some.set()
        full = not self._has_room()
        if full:
            self._room.clear()
        if full or len(self._unsettled) >= GROUP or self._weight >= HEAVY or self._nothing_flies():
            self._flush.set()

    def _has_room(self) -> bool:
        """Whether one more walk may begin: what is walked and not settled would have to be walked again."""
        if self._failure is not None:
            return True  # nothing will be settled any more: nobody need wait for it
        waiting = len(self._unsettled) + len(self._settling)
        return waiting < self._most_unsettled and self._weight < 4 * HEAVY

    def _nothing_flies(self) -> bool:
        """Whether all that was handed out waits to be settled: then waiting for more is waiting for nothing."""
        return self.frontier.flying == len(self._unsettled) + len(self._settling)

    def _starving(self) -> None:
        if self._unsettled and self._nothing_flies():
            self._flush.set()
        self._calm.set()

    def _log_attempt(self, outcome: Outcome) -> None:
        """Keep an attempt that will be followed by another: its request's row tells only of the last."""
        if outcome.ending is Ending.LATER:
            request = outcome.request
            self._fetches.append(
                Fetch(
                    request.url,
                    urls.host(request.url),
                    outcome.started,
                    outcome.elapsed,
                    outcome.status,
                    outcome.size,
                    outcome.reason,
                    request.id,
                )
            )

    async def _settle_loop(self) -> None:
        """Settle in groups, in walk order, until the run has ended and nothing is left to settle."""
        try:
            while not self._closing or self._unsettled or self._fetches:
                await _wait(self._some, HEARTBEAT)
                if self._unsettled:
                    await _wait(self._flush, LINGER)
                self._some.clear()
                self._flush.clear()
                if self._unsettled or self._fetches or self.frontier.flying or self._lease_ages():
                    await self._settle_group()
        except Exception as error:  # noqa: BLE001 - raised again by run()
            self._failure = error
            self.frontier.close()
            self._room.set()
            self._ended.set()

    async def _settle_group(self) -> None:
        outcomes, self._unsettled = self._unsettled, []
        fetches, self._fetches = self._fetches, []
        self._weight = 0
        self._settling = outcomes
        settled = await self._store.settle(
            self._lease,
            Batch(
                outcomes=outcomes,
                claims=self.frontier.in_flight(),
                fetches=fetches,
                sources=self._gate.notes(),
                seconds=self._lap(),
            ),
        )
        self._settling = ()
        self.frontier.settled(outcomes, settled.fresh)
        if self._has_room():
            self._room.set()
        if self._unsettled:
            self._some.set()
        if outcomes:
            self.progress.tell(outcomes, settled)
            self._check_budget()
        self._calm.set()

    def _lease_ages(self) -> bool:
        return time.monotonic() - self._last_settle > RENEW

    def _lap(self) -> float:
        now = time.monotonic()
        lap, self._last_settle = now - self._last_settle, now
        return lap

    def _check_budget(self) -> None:
        config, progress = self._config, self.progress
        if config.max_pages is not None and progress.new_pages >= config.max_pages:
            self.stop("max_pages")
        elif config.max_items is not None and progress.new_items >= config.max_items:
            self.stop("max_items")


async def _wait(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, but not for ever."""
    if event.is_set():
        return
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass


def _tell(outcome: Outcome) -> None:
    """How a walk ended, as an event: at info what did not go well, at debug the rest."""
    say = log.debug if outcome.ending is Ending.DONE else log.info
    facts: dict[str, Any] = {"url": outcome.request.url, "reason": outcome.reason, "status": outcome.status}
    if outcome.ending is Ending.LATER:
        facts["wait"] = round(max(0.0, outcome.not_before - clock.now()), 2)
    if outcome.detail:
        facts["detail"] = outcome.detail
    say(f"walk.{outcome.ending}", **facts, seconds=round(outcome.elapsed, 3))


def _refused(request: Request, rules: robots.Robots) -> Outcome:
    """What robots.txt forbids is skipped; what waited for one that cannot be read has failed."""
    ending, reason = (Ending.FAILED, "robots_unreachable") if rules.closed else (Ending.SKIPPED, "robots")
    return Outcome(request, ending, reason, rules.forbids(request.url))


def _next_hop(request: Request, status: int, target: str) -> Request:
    """The request a redirect asks for: 303 is a GET, 301 and 302 turn a POST into one; else the same again."""
    hop = request.evolve(
        url=target,
        id=0,
        attempts=0,
        hops=request.hops + 1,
        via=(*request.via, request.url),
        priority=request.priority + 1,
    )
    if request.verb in ("GET", "HEAD") or status in (307, 308) or (status != 303 and request.verb != "POST"):
        return hop
    return hop.evolve(method="GET", json=None, data=None)


def _facts(request: Request, response: Response) -> dict[str, Any]:
    return {
        "request": request,
        "status": response.status,
        "size": len(response.body),
        "started": response.started,
        "elapsed": response.elapsed,
    }
