"""The store contract: durable memory for runs, the frontier and items.

A second store must pass the same tests (`tests/contract`). What every verb promises:

* A verb that returns has happened; one that raises has changed nothing.
* `settle` is one transaction, in this order: fence the lease, insert what was found, upsert items, close the
  walked requests, count. Found requests are in before their page is closed, so "nothing waiting" means done.
* A request is settled exactly once: settling it again, or under a lease that has passed on, raises LeaseLost.
* A crash needs no repair: a request that was being walked is still waiting.
* Text comes back as it went in. Only NUL and half characters (lone surrogates), for which databases have no
  place, come back as U+FFFD; in what is kept as JSON (records, bodies, `carry`) NUL has its place.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from gossamer.values import Fetch, Lease, Notice, Outcome, Pending, Request, Run, RunState, Start, Visit

#: No limit of depth.
DEEPEST = 2**31 - 1


class Draft(msgspec.Struct, frozen=True):
    """A run to be."""

    scraper: str
    ref: str
    signature: str
    params: dict[str, Any]
    options: dict[str, Any]


class SourceNote(msgspec.Struct, frozen=True):
    """What to remember of a host across runs and restarts."""

    host: str
    #: When it was last asked, in seconds since 1970.
    last_hit: float
    #: When it may be asked again, in seconds since 1970.
    ready_at: float
    #: The pace it taught us: least seconds between two requests; 0: none.
    interval: float = 0.0
    #: What its robots.txt asks for: least seconds between two requests; 0: nothing.
    crawl_delay: float = 0.0
    #: Its usual time to answer, in seconds; 0: not known.
    latency: float = 0.0
    #: The breaker: "closed", "open" or "half_open", how often it opened in a row, and until when it is open.
    breaker: str = "closed"
    openings: int = 0
    open_until: float = 0.0
    #: Why it is held until `ready_at`, if it is more than its pace.
    why: str = ""


class RobotsNote(msgspec.Struct, frozen=True):
    """One version of an origin's robots.txt."""

    origin: str
    #: When this version was first and last seen, in seconds since 1970.
    fetched: float
    checked: float
    #: The status of the answer; 0 if none came.
    status: int
    #: The first 500 KiB.
    body: bytes
    #: A sentence if nothing could be read, so that the site counts as closed until it is asked again.
    closed: str | None = None


class FetchLine(msgspec.Struct, frozen=True):
    """One exchange with a host, as the log has it."""

    run: int
    #: The request it was made for; 0 for robots.txt.
    request_id: int
    url: str
    host: str
    started: float
    elapsed: float
    status: int
    reason: str


class Batch(msgspec.Struct, frozen=True):
    """What one settle writes."""

    outcomes: Sequence[Outcome] = ()
    #: Requests being walked right now, by id: known as "in flight" should we die.
    claims: Sequence[int] = ()
    fetches: Sequence[Fetch] = ()
    sources: Sequence[SourceNote] = ()
    notices: Sequence[Notice] = ()
    #: Seconds worked since the last settle.
    seconds: float = 0.0


class Settled(msgspec.Struct, frozen=True):
    """What a settle brought."""

    #: Host -> new requests waiting for it.
    fresh: Mapping[str, int]
    #: Items this run had not seen before.
    items: int
    #: Rule -> links it dropped that were not known before. Below zero: links found again less deep, by a redirect.
    dropped: Mapping[str, int]


class UrlStory(msgspec.Struct, frozen=True):
    """All that one run knows of one URL."""

    run: int
    scraper: str
    run_state: str
    #: "waiting", "done", "skipped" or "failed".
    state: str
    url: str
    host: str
    handler: str
    method: str
    depth: int
    priority: int
    attempts: int
    claims: int
    in_flight: bool
    not_before: float
    reason: str | None
    detail: str | None
    status: int | None
    size: int | None
    started: float | None
    elapsed: float | None
    found_on: str | None
    #: Earlier fetches, oldest first: (started, elapsed, status, reason, detail).
    fetches: list[tuple[float, float, int, str, str | None]]
    #: Items that came out: (kind, key).
    items: list[tuple[str, str]]


class Store(Protocol):
    """Durable memory. Times are seconds since 1970."""

    # -- runs --------------------------------------------------------------------------------------------------

    async def new_run(self, draft: Draft) -> Run:
        """Write a run down, pending."""

    async def run(self, run_id: int) -> Run | None:
        """One run, with its counters as of the last settle."""

    async def runs(self, limit: int = 50) -> list[Run]:
        """The newest runs first."""

    async def unfinished(self, signature: str) -> Run | None:
        """The newest run with this signature, if it is not over; else None.

        It is over when all its start requests are in, none waits, and somebody said how it ended.
        """

    async def forget_run(self, run_id: int) -> None:
        """Take back a run that has no requests: it could not even start."""

    async def worker(self) -> str | None:
        """Who works on the store now; None if nobody does, so that a run called running was killed."""

    async def end_run(self, lease: Lease, state: RunState, reason: str) -> Run:
        """Say how a run ended. It can be acquired again if requests still wait."""

    # -- leases ------------------------------------------------------------------------------------------------

    async def acquire(self, run_id: int, owner: str, ttl: float, limits: Mapping[str, Any] | None = None) -> Lease:
        """Take the right to walk a run, which is then running. What a dead owner walked is waiting again.

        `limits` are what this start promises to keep: written down for `starts`. Raises StoreBusy if a living
        owner holds it.
        """

    async def release(self, lease: Lease) -> None:
        """Give the right back. Nothing happens if it has passed on already."""

    # -- the frontier ------------------------------------------------------------------------------------------

    async def add(self, lease: Lease, requests: Sequence[Request], *, last: bool = False) -> Mapping[str, int]:
        """Insert start requests the run does not know yet; returns host -> how many were new.

        `last` says that these were all: the run is seeded, and resuming it asks for no start requests again.
        """

    async def hosts(self, run_id: int) -> Mapping[str, int]:
        """Host -> requests ready to be walked (parked ones left out)."""

    async def peek(
        self, run_id: int, host: str, limit: int, but: Collection[int], level: int = DEEPEST
    ) -> list[Request]:
        """The best ready requests of a host, best first: highest priority, then first found.

        None deeper than `level`, none with an id in `but`. Nothing is changed.
        """

    async def level(self, run_id: int, host: str) -> int | None:
        """The least depth among a host's waiting requests, parked ones included; None if none waits."""

    async def roots(self, run_id: int, *, by_host: bool) -> list[str]:
        """The start URLs of a run and what they redirected to; one for each host if `by_host`."""

    async def given_hosts(self, run_id: int) -> list[str]:
        """One start URL for each host that a run was given to start at; not those that redirects or pages led to."""

    async def wake(self, run_id: int, now: float) -> tuple[Mapping[str, int], float | None]:
        """Make parked requests ready whose time has come: host -> how many, and when the next is due."""

    async def pending(self, run_id: int) -> Pending:
        """What is left of a run."""

    async def settle(self, lease: Lease, batch: Batch) -> Settled:
        """Write a group of outcomes down, in walk order. Raises LeaseLost.

        What a redirect leads to (a found request with hops) is no deeper than the redirect: if it is known to wait
        deeper, or was dropped as too deep, it is lifted.
        """

    # -- sources -----------------------------------------------------------------------------------------------

    async def remember(self, notes: Sequence[SourceNote]) -> None:
        """Keep notes on hosts at once, for those whose next turn is far: a kill must not shorten the wait."""

    async def source(self, host: str) -> SourceNote | None:
        """What is remembered of a host."""

    async def sources(self) -> list[SourceNote]:
        """What is remembered of every host, in the order of their names."""

    async def forget_source(self, host: str) -> bool:
        """Forget a host's pace, hold and breaker, and the robots.txt of its origins. Whether it was known."""

    async def robots(self, origin: str) -> list[RobotsNote]:
        """Every version of an origin's robots.txt, newest first."""

    async def keep_robots(self, note: RobotsNote) -> None:
        """Keep a robots.txt: a new version if status, body or `closed` differ from the newest, else only `checked`."""

    # -- visits ------------------------------------------------------------------------------------------------

    async def visits(self, scraper: str, digests: Sequence[str]) -> Mapping[str, Visit]:
        """What is remembered of earlier visits, by the fingerprints of requests; written by settle."""

    # -- reading -----------------------------------------------------------------------------------------------

    async def why(self, url: str) -> list[UrlStory]:
        """What each run knows of a URL, newest run first."""

    def fetch_log(self, run_id: int | None) -> AsyncIterator[FetchLine]:
        """Every exchange of a run (or of all runs), host by host, in the order they began."""

    async def starts(self, run_id: int | None) -> list[Start]:
        """Every start of a run (or of all runs), oldest first."""

    async def notices(self, host: str | None = None) -> list[Notice]:
        """What was noticed about a host (or all of them), oldest first."""

    async def host_counts(self, run_id: int) -> Mapping[str, int]:
        """Host -> requests of a run that were or will be walked: dropped links are not counted."""

    async def host_table(self, run_id: int) -> list[dict[str, Any]]:
        """Per host of a run: pages, failed, waiting, retried, and its pace as measured."""

    def pages(self, run_id: int | None, scraper: str | None) -> AsyncIterator[dict[str, Any]]:
        """Every URL of one run (or of all), in the order found."""

    def items(self, run_id: int | None, scraper: str | None) -> AsyncIterator[dict[str, Any]]:
        """Items with their provenance, in the order first seen."""
