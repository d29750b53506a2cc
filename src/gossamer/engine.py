"""The walk: every request the frontier hands out is fetched, read and settled, until none is left."""

from __future__ import annotations

import asyncio
import dataclasses
import math
import os
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from gossamer import builtin, clock, redaction, telemetry, urls, visits
from gossamer.departure import Departure
from gossamer.errors import Blocked, FetchError, GossamerError, Held, Retry, first_error
from gossamer.fetch import hops, retry
from gossamer.fetch.fetcher import Fetcher
from gossamer.fetch.sessions import Session
from gossamer.fetch.way import Way
from gossamer.fetch.ways import Ways
from gossamer.frontier import Frontier, Turn
from gossamer.inquiry import Inquiry
from gossamer.parse import probe, walls
from gossamer.parse.page import LARGEST_BODY, Page
from gossamer.polite import robots
from gossamer.polite.gate import Gate
from gossamer.progress import Progress
from gossamer.reader import Reader
from gossamer.scope import Scope
from gossamer.settings import ScraperConfig
from gossamer.settler import ALONE, COUNTED, SHARED, Settler
from gossamer.storage.archive import Archive, Kept, Same
from gossamer.storage.store import Settled, Store
from gossamer.telemetry import log
from gossamer.tenure import Tenure
from gossamer.values import REDIRECTS, WHOLE, Drop, Ending, Fetch, Lease, Outcome, Request, Response, Visit
from gossamer.visits import Visits

#: Seconds that parsing a page may take.
PARSE_LIMIT = 10.0
#: Bytes of a body in a file up to which its markup is tried, whatever its type says.
TRIED = 32 << 20
#: Bytes of a sitemap: what its protocol allows.
MAX_SITEMAP = 50 << 20
#: Seconds between two looks at whether all that is left waits for hosts that are held.
LOOK = 0.5

#: Walks at the same time where a run is walked in shards, each of a few hosts.
WALKERS = 32

#: Into how many parts the rest of a budget is divided, of which each shard of a run may have one under way.
SHARES = 32

#: Statuses that a wall may stand behind.
_WALLED = frozenset({401, 403, 429, 503})


class Careful(Protocol):
    """Walks requests that may end the process, so that it is known which one did."""

    async def walk(self, turn: Turn, walk: Callable[[Turn], Awaitable[Outcome]]) -> Outcome:
        """Take one request to its outcome."""

    def settled(self, outcomes: Sequence[Outcome]) -> None:
        """A group of outcomes is in the store."""


class Engine:
    """One run of one scraper in this process."""

    def __init__(
        self,
        *,
        store: Store,
        gate: Gate,
        fetcher: Fetcher,
        ways: Ways,
        reader: Reader,
        config: ScraperConfig,
        scope: Scope,
        lease: Lease,
        progress: Progress,
        by_level: bool,
        archive: Archive | None = None,
        alone: bool = False,
        tenure: Tenure | None = None,
        begun: tuple[int, int] = (0, 0),
        elsewhere: Callable[[Collection[int]], None] = lambda shards: None,
    ) -> None:
        """With `alone`, pages are read for their items, and what they lead to is let be.

        Where others walk the run too, budgets count from the run's pages and items at its start (`begun`), and
        `elsewhere` hears of shards of theirs that got something to do.
        """
        self.progress = progress
        self._alone = alone
        self.tenure = tenure or Tenure(lease.ttl)
        #: The pace that is kept with other processes, where a host is spread over them.
        self._shared = gate.shared if config.spread > 1 and lease.shard != WHOLE else None
        self._begun = begun
        self._elsewhere = elsewhere
        #: Pages and items of the run since it was begun, by whoever walks it.
        self._run_pages, self._run_items = progress.pages - begun[0], progress.items - begun[1]
        if lease.shard == WHOLE:
            self._run_pages = self._run_items = 0
        #: Walks some requests with more care than others; None: there is no need.
        self.careful: Careful | None = None
        self._store = store
        self._gate = gate
        self._fetcher = fetcher
        self.ways = ways
        self._reader = reader
        self._config = config
        self._own_config = dataclasses.replace(
            config, content_types=(), max_body=max(config.max_body, MAX_SITEMAP), render=False
        )
        self._scope = scope
        self._lease = lease
        self._visits = Visits(store, progress.scraper, config) if config.revisit != "always" else None
        self.frontier = Frontier(
            store,
            gate,
            lease.run,
            config,
            by_level=by_level,
            visits=self._visits,
            starving=self._starving,
            allowed=self._within_budget,
            shard=lease.shard,
        )
        self._archive = archive if config.archive else None
        keep = self._keep if self._archive is not None else None
        self._walkers = config.concurrency if lease.shard == WHOLE else min(config.concurrency, WALKERS)
        budgeted = config.max_pages is not None or config.max_items is not None
        self._settler = Settler(
            store,
            gate,
            lease,
            self.frontier,
            self._walkers,
            self._settled,
            keep,
            claims=self._claims,
            tenure=self.tenure,
            tempo=ALONE if lease.shard == WHOLE else COUNTED if budgeted else SHARED,
        )
        ways.log = self._loaded
        ways.may = self._may_load
        self._inquiry = Inquiry(
            store, gate, fetcher, ways, self.frontier, config, self._settler, self.tenure, self._shared
        )
        self._calm = asyncio.Event()
        self._ended = asyncio.Event()
        self._failure: BaseException | None = None
        self._paused = False
        self._talkative = telemetry.heard("info")
        #: Why the run ended: "done", "max_pages", "max_items", "held", "paused", or what `stop` was told.
        self.reason = ""
        #: Requests that are being walked at this moment.
        self.walking = 0
        #: Seconds that walks under way have when it is stopped.
        self.grace = 0.0
        #: For "held": which host is waited for, until when and why.
        self.held = ""

    # -- the run -----------------------------------------------------------------------------------------------

    async def run(self, grace: float) -> str:
        """Walk until nothing is left, a budget is used up, or `stop` is called. Returns the reason.

        Whatever ends it, what was walked is settled. Raises what made going on impossible.
        """
        self.grace = grace
        settler = asyncio.create_task(self._settle(), name="settler")
        try:
            await self.frontier.open()
            await self._walk_all()
        except BaseExceptionGroup as group:
            self._failure = self._failure or first_error(group)
        finally:
            await self.frontier.aclose()
            self._settler.close()
            await asyncio.shield(settler)
        if self._failure is not None:
            raise self._failure
        return self.reason

    async def _settle(self) -> None:
        try:
            await self._settler.loop()
        except Exception as error:  # noqa: BLE001 - raised again by run()
            self._failure = error
            self.frontier.close()
            self._ended.set()

    async def _walk_all(self) -> None:
        """One task group owns all workers; after `stop` they have `grace` seconds to finish their walks."""
        async with asyncio.TaskGroup() as group:
            helpers = [
                group.create_task(self._supervise(), name="supervisor"),
                group.create_task(self._watch_holds(), name="patience"),
                group.create_task(self._watch_tenure(), name="tenure"),
            ]
            workers = [group.create_task(self._worker(), name=f"walker-{n}") for n in range(self._walkers)]
            await self._ended.wait()
            self.frontier.close()
            for helper in helpers:
                helper.cancel()
            _, late = await asyncio.wait(workers, timeout=min(self.grace, self.tenure.left))
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
            left = await self._store.pending(self._lease.run, self._lease.shard)
            if not self._at_rest():
                continue
            if left.waiting == 0:
                return self.stop("done")
            if stuck_at == self.frontier.turns:  # looked for it again already, and found nothing to hand out
                raise self.frontier.stalled(left.waiting)
            stuck_at = self.frontier.turns
            await self.frontier.reopen()
            self._calm.set()

    async def _watch_holds(self) -> None:
        """Stop, to be resumed, when all that is left waits for hosts that will be held for longer than we wait."""
        while True:
            await asyncio.sleep(LOOK)
            held = self.frontier.held(time.monotonic())
            if held is None or not self._settler.at_rest:
                continue
            seconds, lane = held
            if lane.host in self._gate.orders.paused:
                self.held = f"{lane.host} was paused by {self._gate.orders.paused[lane.host]}"
                log.warning("run.paused", host=lane.host, why=self.held)
                return self.stop("paused")
            if seconds > self._config.max_wait and lane.door is not None:
                why = lane.door.why or "its pace is that slow"
                self.held = f"{lane.host} is to be left alone for {seconds:,.0f} s: {why}"
                log.warning("run.held", host=lane.host, seconds=round(seconds), why=why)
                return self.stop("held")

    async def _watch_tenure(self) -> None:
        """Stop asking before somebody else may begin to: the store was not heard of for too long."""
        while self.tenure.ttl != math.inf:
            await asyncio.sleep(min(LOOK, self.tenure.ttl / 20))
            if not self.tenure.holds:
                log.warning("run.cut_off", run=self._lease.run, shard=self._lease.shard)
                self.stop("cut_off")
                return

    async def _keep(self, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
        """Archive the pages of a group; gives it back without them."""
        assert self._archive is not None
        run, scraper = self._lease.run, self.progress.scraper
        kept = [Kept(run, scraper, o.request, o.kept) for o in outcomes if o.kept is not None]
        same = [
            Same(run, scraper, o.request, o.started or time.time(), o.visit.sha256)
            for o in outcomes
            if o.reason in ("unchanged", "fresh") and o.visit is not None
        ]
        if kept:
            await self._archive.keep(kept)
        if same:
            await self._archive.same(same)
        return [o if o.kept is None else msgspec.structs.replace(o, kept=None) for o in outcomes]

    @property
    def written(self) -> bool:
        """Whether all that was walked is in the store."""
        return self._settler.at_rest

    def _at_rest(self) -> bool:
        return self.frontier.quiet and self.written

    def _starving(self) -> None:
        self._settler.starving()
        self._calm.set()

    def _within_budget(self) -> bool:
        """Whether one more walk may begin: not while paused, and never more than `max_pages` pages."""
        most = self._config.max_pages
        if self._paused or most is None:
            return not self._paused
        left = most - self._pages()
        if left > 0 and self._lease.shard != WHOLE:
            left = max(1, left // SHARES)  # others have some of it under way, and we hear of that a little late
        return self.frontier.flying < left

    def _pages(self) -> int:
        return max(self.progress.new_pages, self._run_pages)

    def _settled(self, outcomes: Sequence[Outcome], settled: Settled) -> None:
        if self._lease.shard != WHOLE:
            self._hear_of_others(settled)
        if self.careful is not None:
            self.careful.settled(outcomes)
        if outcomes:
            self.progress.tell(outcomes, settled)
            self._check_budget()
        self._calm.set()

    def _claims(self) -> Sequence[int]:
        """Requests under way, to be known should we die; who is careful has written them down before."""
        return self.frontier.in_flight() if self.careful is None else ()

    def _hear_of_others(self, settled: Settled) -> None:
        """What the run has come to by all who walk it, and the shards of others that got something to do."""
        self._run_pages = max(self._run_pages, settled.pages - self._begun[0])
        self._run_items = max(self._run_items, settled.total - self._begun[1])
        own, spread = self._lease.shard, self._config.spread
        shards = {(urls.shard(host) + n) % urls.SHARDS for host in settled.fresh for n in range(spread)} - {own}
        if shards:
            self._elsewhere(shards)

    def _check_budget(self) -> None:
        config = self._config
        if config.max_pages is not None and self._pages() >= config.max_pages:
            self.stop("max_pages")
        elif config.max_items is not None and max(self.progress.new_items, self._run_items) >= config.max_items:
            self.stop("max_items")

    def _loaded(self, fetch: Fetch) -> None:
        """A rendered page has loaded something: written down, and heeded if its host says that it is too much."""
        self._settler.log(fetch)
        door = self._gate.known(fetch.host)
        if door is not None and fetch.status in (429, 503):
            door.answered(fetch.status, fetch.elapsed, fetch.retry_after, fresh=False)

    def _may_load(self, url: str) -> bool:
        """Whether a rendered page may load a URL: where a host is held or its robots.txt known, that holds too."""
        door = self._gate.known(urls.host(url))
        if door is None:
            return True
        if door.why and door.next_at > time.monotonic():
            return False
        rules = door.robots.get((urls.origin(url), self.frontier.agent))
        return rules is None or not self._config.robots or rules.allows(url)

    def settle_soon(self) -> None:
        """Write what was walked without waiting for more."""
        self._settler.soon()

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
                await self._inquiry.ask(turn, turn.robots_url)
                continue
            outcome = await (self.walk(turn) if self.careful is None else self.careful.walk(turn, self.walk))
            if self._talkative:
                _tell(outcome)
            self._settler.done(outcome)
            await self._settler.room()

    async def walk(self, turn: Turn) -> Outcome:
        """Take one request to its outcome. Never raises for a bad site or a bad handler."""
        self.walking += 1
        try:
            return await self._walk(turn)
        finally:
            self.walking -= 1

    async def _walk(self, turn: Turn) -> Outcome:
        request, door = turn.request, turn.door
        if turn.refused is not None:
            return _refused(request, turn.refused)
        if turn.inactive:
            return Outcome(request, Ending.SKIPPED, "inactive", "somebody marked it as inactive")
        if turn.fresh and turn.visit is not None:
            return self._as_before(request, turn.visit, reason="fresh")
        config = self._own_config if builtin.is_builtin(request.handler) else self._config
        leave = Departure(self._store, self._gate, door, self.tenure, self._shared)
        way: Way | None = None
        try:
            asked = visits.conditions(turn.visit) if turn.visit is not None else {}
            way, session = self.ways.of(request, asked, leave)
            response = await self._fetcher.fetch(request, config, way)
            if leave.at:  # the pace counts from there: the log must tell the same moment
                response = msgspec.structs.replace(response, started=leave.at)
            door.answered(response.status, response.elapsed, retry.retry_after(response), fresh=request.attempts == 0)
        except Held as held:
            return Outcome(request, Ending.LATER, "held", str(held), not_before=clock.now() + held.seconds)
        except FetchError as error:
            if way is None or way.proxy is None:  # else it may be the proxy's fault, and says nothing about the host
                door.failed(error, leave.elapsed, fresh=request.attempts == 0)
            if way is not None:
                self.ways.failed(way, request.url, error, leave.elapsed)
            return self._logged(retry.failed(request, error, leave.at, leave.elapsed, config), way)
        finally:
            door.leave()
            if self._shared is not None:
                await leave.over()
        self.ways.heard(session, way, response)
        try:
            return await self._archived(self._logged(await self._answered(turn, response, way, session), way))
        finally:
            if response.file is not None and request.save is None:
                with suppress(OSError):
                    os.unlink(response.file)

    async def _archived(self, outcome: Outcome) -> Outcome:
        """A body in a file is archived at once, before the file is deleted; others are with their group."""
        kept = outcome.kept
        if kept is None or kept.file is None or self._archive is None:
            return outcome
        await self._archive.keep([Kept(self._lease.run, self.progress.scraper, outcome.request, kept)])
        return msgspec.structs.replace(outcome, kept=None)

    async def _answered(self, turn: Turn, response: Response, way: Way, session: Session) -> Outcome:
        """What an answer means for its request."""
        request, status = turn.request, response.status
        if turn.visit is not None and visits.unchanged(turn.visit, response):
            return self._as_before(request, turn.visit, response, reason="unchanged")
        if 200 <= status < 300 or status in self._config.accept_status or self._welcome(request, status):
            return await self._read(turn, response, way, session)
        if retry.retry_after(response):
            self._settler.soon()
        if status in REDIRECTS and "location" in response.headers:
            return self._redirected(request, response)
        if status in _WALLED and self._config.walls and (wall := walls.wall(Page(request, response))):
            return self._blocked(turn, response, way, session, Blocked(wall))
        return retry.refused(request, response, self._config)

    def _welcome(self, request: Request, status: int) -> bool:
        """Whether one of our own handlers makes sense of a status: a robots.txt or sitemap that is not there."""
        maybe = request.handler == builtin.SITEMAP and bool((request.carry or {}).get("maybe"))
        return 400 <= status < 500 and (maybe or request.handler == builtin.ROBOTS_SITEMAPS)

    async def _read(self, turn: Turn, response: Response, way: Way, session: Session) -> Outcome:
        """Hand the page to its handler."""
        request = turn.request
        if request.depth == 0 and self._lease.shard != WHOLE:
            # Another part of the run may have been redirected here, after we looked where it is at home.
            self._scope.start([request.url])
        facts = _facts(request, response)
        if response.unread:
            detail = f"its type {response.content_type or 'unknown'} is not one that is read"
            return Outcome(**facts, ending=Ending.SKIPPED, reason="content_type", detail=detail)
        page, ours = Page(request, response), builtin.is_builtin(request.handler)
        # What is saved as a file is there already.
        facts["kept"] = response if self._archive is not None and not ours and request.save is None else None
        try:
            if not ours and not await _parses(page):
                detail = f"its markup takes longer than {PARSE_LIMIT:g} s to parse"
                facts["kept"] = None  # to read it again would take as long
                return Outcome(**facts, ending=Ending.FAILED, reason="markup", detail=detail)
            await self._look_for_walls(page)
            read = await self._reader.read(page)
            items, yielded = read.items, read.found
            base = page.base_url if yielded and not ours and _may_have_base(page) else page.url
        except (Blocked, Retry) as error:
            return self._blocked(turn, response, way, session, error)
        except GossamerError as error:
            log.warning("page.unreadable", url=request.url, why=str(error))
            told = redaction.text(str(error))  # the author's own words may hold a secret
            return Outcome(**facts, ending=Ending.FAILED, reason=error.reason, detail=told)
        visit: Visit | None = None
        cut: str | None = None
        if not ours and len(yielded) > self._config.max_links:
            cut = f"it leads to {len(yielded):,} pages: the first {self._config.max_links:,} count (max_links)"
            log.warning("page.links_cut", url=request.url, why=cut)
            del yielded[self._config.max_links :]
        if self._visits is not None and (not ours or request.save is not None):
            yielded = _resolved(yielded, base)
            visit = visits.noted(request, response, items, yielded)
        reason = "ok" if not ours else request.handler.removeprefix("@")
        # However many sitemaps led to it, a page is one step from the start.
        depth = request.depth + (not builtin.is_found_sitemap(request))
        found, dropped = self._sift(yielded, base, depth)
        done = Outcome(**facts, ending=Ending.DONE, reason=reason, detail=cut, items=tuple(items), visit=visit)
        return msgspec.structs.replace(done, found=found, dropped=dropped, rejects=tuple(read.rejects))

    async def _look_for_walls(self, page: Page) -> None:
        """Raises Blocked or Retry for what is not the page, by our rules and by the scraper's own."""
        if builtin.is_builtin(page.request.handler):
            return
        if self._config.walls and (wall := walls.wall(page)):
            raise Blocked(wall)
        await self._reader.validate(page)

    def _blocked(self, turn: Turn, response: Response, way: Way, session: Session, error: Blocked | Retry) -> Outcome:
        """Something stood there instead of the page: try again, as somebody else if we were blocked."""
        request = turn.request
        if isinstance(error, Blocked):
            turn.door.blocked(str(error))
            self.ways.blocked(session, way, request.url, str(error))
        return retry.unusable(request, response, error, self._config)

    def _as_before(self, request: Request, visit: Visit, response: Response | None = None, *, reason: str) -> Outcome:
        """A page that need not be read again: what it led to and what it gave still hold."""
        now = time.time()
        facts = {"request": request} if response is None else _facts(request, response)
        found, dropped = self._sift(list(visit.found), request.url, request.depth + 1)
        # What nobody asked the site for was not checked.
        kept = visit if response is None else msgspec.structs.replace(visit, checked=now)
        return Outcome(
            **facts, ending=Ending.DONE, reason=reason, found=found, dropped=dropped, seen=visit.items, visit=kept
        )

    def _sift(self, yielded: list[Request], base: str, depth: int) -> tuple[tuple[Request, ...], tuple[Drop, ...]]:
        """Of what a page leads to, what the run does not know: to walk, and to drop by a rule."""
        known, scope = self.frontier.known, self._scope
        found: list[Request] = []
        dropped: list[Drop] = []
        if self._alone:
            return (), ()
        for request in yielded:
            plain = request.plain
            if plain and request.url in known:
                continue
            url = urls.resolve(request.url, base)
            if url is None or len(url) > urls.LONGEST or (plain and not known.add(url)):
                continue
            sitemap = request.to == builtin.SITEMAP
            link = request.evolve(url=url, depth=depth)
            rule = None if sitemap else scope.drops(url, depth, again=request.revisit)
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
            detail = f"it redirects to {urls.shown(response.headers['location'])[:200]}, which cannot be fetched"
            return Outcome(**facts, ending=Ending.FAILED, reason="redirect", detail=detail)
        # Who sets a cookie and sends us back wants to see it.
        again = target == request.url or target in request.via
        if again and not (self._config.cookies != "off" and "set-cookie" in response.headers):
            detail = f"it redirects to {target}, which leads back to it"
            return Outcome(**facts, ending=Ending.FAILED, reason="redirect_loop", detail=detail)
        if request.hops >= self._config.max_redirects:
            detail = f"more than {self._config.max_redirects} redirects, the last to {target}"
            return Outcome(**facts, ending=Ending.FAILED, reason="redirects", detail=detail)
        if request.depth == 0:
            # Whoever starts at example.org wants www.example.org, if that is where the site is.
            self._scope.start([target])
        # Where a sitemap lies does not matter, only where its pages do.
        rule = None if request.handler == builtin.SITEMAP else self._scope.leaves(target)
        # Like any start URL it need not be included; but what is excluded is excluded.
        if rule is not None and not (request.depth == 0 and rule == "include"):
            return Outcome(**facts, ending=Ending.SKIPPED, reason=rule, detail=f"it redirects to {target}")
        follow = hops.next_hop(request, response.status, target)
        follow = follow.evolve(priority=request.priority + 1, revisit=request.revisit or again)
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

    def _logged(self, outcome: Outcome, way: Way | None) -> Outcome:
        """An outcome with the proxy it went through.

        An attempt that will be followed by another is kept apart: its request's row tells only of the last.
        """
        if way is not None and way.proxy is not None:
            through = f"through {way.proxy.label}"
            told = f"{outcome.detail}; {through}" if outcome.detail else through
            outcome = msgspec.structs.replace(outcome, detail=told)
        if outcome.ending is Ending.LATER:
            request = outcome.request
            self._settler.log(
                Fetch(
                    request.url,
                    urls.host(request.url),
                    outcome.started,
                    outcome.elapsed,
                    outcome.status,
                    outcome.size,
                    outcome.reason,
                    request.id,
                    outcome.detail,
                )
            )
        return outcome


def _may_have_base(page: Page) -> bool:
    """Whether a <base> is looked for: what is in a file is read for it only if it is a page."""
    return page.response.file is None or (page.request.save is None and page.is_html)


async def _parses(page: Page) -> bool:
    """Whether a page can be parsed in good time. What is in a file is tried only if it may come to that."""
    response = page.response
    in_file = response.file is not None
    if in_file and (page.request.save is not None or response.file_size > (LARGEST_BODY if page.is_html else TRIED)):
        return True
    return not probe.suspicious(page.body) or await probe.parses(page.body, PARSE_LIMIT)


def _resolved(yielded: list[Request], base: str) -> list[Request]:
    """Requests with absolute URLs, each once unless it is to be fetched again; what cannot be fetched is left out."""
    found = {}
    for n, request in enumerate(yielded):
        url = urls.resolve(request.url, base)
        if url is not None and len(url) <= urls.LONGEST:
            made = request.evolve(url=url)
            found[url if made.plain else f"{n}" if made.revisit else made.fingerprint] = made
    return list(found.values())


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
    ending, reason = (Ending.FAILED, rules.reason) if rules.closed else (Ending.SKIPPED, "robots")
    return Outcome(request, ending, reason, rules.forbids(request.url))


def _facts(request: Request, response: Response) -> dict[str, Any]:
    return {
        "request": request,
        "status": response.status,
        "size": response.file_size or len(response.body),
        "started": response.started,
        "elapsed": response.elapsed,
    }
