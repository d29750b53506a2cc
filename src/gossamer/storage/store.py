"""The store contract: durable memory for runs, the frontier and items.

A second store must pass the same tests (`tests/contract`). What every verb promises:

* A verb that returns has happened; one that raises has changed nothing.
* `settle` is one transaction, in this order: fence the lease, insert what was found, upsert items, close the
  walked requests, count. Found requests are in before their page is closed, so "nothing waiting" means done.
* An item's old record is kept before a new one takes its place. Items of a run that `hold` was said of wait apart
  until `judge` or `decide` and `promote`; until then what was current stays current.
* A request is settled exactly once: settling it again, or under a lease that has passed on, raises LeaseLost.
* A crash needs no repair: a request that was being walked is still waiting.
* Text comes back as it went in. Only NUL and half characters (lone surrogates), for which databases have no
  place, come back as U+FFFD; in what is kept as JSON (records, bodies, `carry`) NUL has its place.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from gossamer.values import WHOLE, Fetch, Lease, Notice, Outcome, Pending, Request, Run, RunState, Start, Verdict, Visit

#: No limit of depth.
DEEPEST = 2**31 - 1
#: More requests of a host than are worth counting.
MANY = 1_000_000_000


class Draft(msgspec.Struct, frozen=True):
    """A run to be."""

    scraper: str
    ref: str
    signature: str
    params: dict[str, Any]
    options: dict[str, Any]
    #: What its pages are read with.
    reading: dict[str, Any] = {}
    #: Who asks for it, through which door, and whether that is the author's own.
    asked_by: str = ""
    via: str = "cli"
    trusted: bool = True


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
    #: Pages and items of the whole run by now, where several processes walk it; 0: nobody else does.
    pages: int = 0
    total: int = 0


class Wanted(msgspec.Struct, frozen=True):
    """Which items somebody asks for. Left as it is: all that are current, in the order first seen."""

    #: Seen by this run, gone or not.
    run: int | None = None
    scraper: str | None = None
    kind: str | None = None
    #: New or changed at or after this time, in seconds since 1970.
    since: float | None = None
    #: New, changed, gone or back after this place in the log of changes, in that order; gone ones are among them.
    after: int | None = None
    #: With those that are gone.
    gone: bool = False
    #: Those of `run` that the drift gate holds back, instead.
    held: bool = False
    #: By scraper, kind and key, in the order of their bytes, instead of the order first seen. Not with `after`.
    by_key: bool = False


class StoredItem(msgspec.Struct, frozen=True):
    """An item as the store has it."""

    id: int
    #: Its place in the log of changes; 0 for one that is held back.
    seq: int
    scraper: str
    kind: str
    key: str
    #: The page it was last seen on.
    url: str
    #: The record as a JSON object.
    data: str
    first_seen: float
    last_seen: float
    last_changed: float
    times_seen: int
    #: Since when it is gone, in seconds since 1970.
    gone: float | None = None

    def record(self) -> dict[str, Any]:
        """The record as a dict."""
        found: dict[str, Any] = msgspec.json.decode(self.data)
        return found


class Change(msgspec.Struct, frozen=True):
    """One thing that happened to an item."""

    at: float
    #: "new", "changed", "gone" or "back".
    what: str
    run: int | None
    scraper: str
    kind: str
    key: str
    url: str
    #: The record as JSON, before and after; None where there was none.
    before: str | None
    after: str | None


class Rejection(msgspec.Struct, frozen=True):
    """A record that became no item."""

    run: int
    scraper: str
    at: float
    #: The page it was read from.
    url: str
    kind: str
    step: str
    reason: str
    data: str


class Reread(msgspec.Struct, frozen=True):
    """An item that a page gave when it was read again."""

    kind: str
    key: str
    data: str
    url: str
    #: The request its page was fetched for, and when that was.
    request_id: int
    seen: float


class HandlerFacts(msgspec.Struct, frozen=True):
    """What the pages of one handler gave."""

    pages: int
    #: Of them, those that gave items.
    giving: int
    items: int


class RunFacts(msgspec.Struct, frozen=True):
    """What a run's pages were like, for the drift gate."""

    handlers: dict[str, HandlerFacts]
    #: Mean bytes of a page that was read.
    size: float
    #: Pages read without an item, by handlers that gave some elsewhere first: URLs, a few of them.
    barren: list[str]


class Judgement(msgspec.Struct, frozen=True):
    """What the drift gate wrote down about a run: its profile, and its alarm if it is suspect. Both JSON."""

    run: int
    verdict: Verdict
    at: float
    profile: str
    alarm: str | None


class SinkNote(msgspec.Struct, frozen=True):
    """How far a sink has come with the items of a scraper."""

    name: str
    scraper: str
    #: The place in the log of changes up to which all is delivered.
    cursor: int
    delivered: int = 0
    objects: int = 0
    #: Why it cannot deliver; empty if it can.
    failing: str = ""
    updated: float = 0.0


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
    #: Records that became no items: (step, reason).
    rejects: list[tuple[str, str]] = []
    #: Whether the items are held back by the drift gate.
    held: bool = False


class Mark(msgspec.Struct, frozen=True):
    """That somebody said a URL is not to be fetched any more."""

    by: str
    at: float


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

        It is over when all its start requests are in, none waits, somebody said how it ended, and its items do not
        wait to be judged; or when a person rejected it.
        """

    async def forget_run(self, run_id: int) -> None:
        """Take back a run that has no requests: it could not even start."""

    async def walked(self, run_id: int) -> str | None:
        """Who walks a run now; None if nobody does, so that a run called running was killed."""

    async def served(self, since: float) -> bool:
        """Whether a service has said, since some time, that it walks the runs of this store."""

    async def end_run(self, lease: Lease, state: RunState, reason: str) -> Run:
        """Say how a run ended, and count it for its scraper. It can be acquired again if requests still wait.

        Said to be PENDING, it has not ended: whoever looks for work goes on with it.
        """

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

    async def hosts(self, run_id: int, shard: int = WHOLE) -> Mapping[str, int]:
        """Host -> requests ready to be walked (parked ones left out); of a shard, MANY for more than are counted.

        A shard is named where several processes walk a run; a store that one process works on knows none.
        """

    async def peek(
        self, run_id: int, host: str, limit: int, but: Collection[int], level: int = DEEPEST, shard: int = WHOLE
    ) -> list[Request]:
        """The best ready requests of a host, best first: highest priority, then first found.

        None deeper than `level`, none with an id in `but`. Nothing is changed.
        """

    async def level(self, run_id: int, host: str, shard: int = WHOLE) -> int | None:
        """The least depth among a host's waiting requests, parked ones included; None if none waits."""

    async def roots(self, run_id: int, *, by_host: bool, hosts: Collection[str] | None = None) -> list[str]:
        """The start URLs of a run and what they redirected to; one for each host if `by_host`; of `hosts` only."""

    async def given_hosts(self, run_id: int) -> list[str]:
        """One start URL for each host that a run was given to start at; not those that redirects or pages led to."""

    async def wake(self, run_id: int, now: float, shard: int = WHOLE) -> tuple[Mapping[str, int], float | None]:
        """Make parked requests ready whose time has come: host -> how many, and when the next is due."""

    async def pending(self, run_id: int, shard: int = WHOLE) -> Pending:
        """What is left of a run, or of a shard of it."""

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

    async def mark(self, url: str) -> Mark | None:
        """Who said that a URL is not to be fetched any more; None: nobody did."""

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

    # -- items -------------------------------------------------------------------------------------------------

    def items(self, wanted: Wanted) -> AsyncIterator[StoredItem]:
        """Items with their provenance, in the order that is asked for."""

    async def item_cursor(self) -> int:
        """The newest place in the log of changes."""

    def changes(
        self, since: float, *, scraper: str | None = None, kind: str | None = None, key: str | None = None
    ) -> AsyncIterator[Change]:
        """What happened to items since a time, oldest first."""

    def rejects(self, run_id: int | None, scraper: str | None) -> AsyncIterator[Rejection]:
        """Records that became no items, in the order found."""

    async def mark_gone(self, of: Lease | int, rule: str | int | float) -> int:
        """At the end of a finished run, or when it is accepted by its number: mark items as gone that it did not see.

        Returns how many.

        `rule` is how many finished runs in a row (an int) or how many seconds (a float) an item must be missing;
        "never" marks none. Only runs that were asked for the same count. An item is not gone if the page it was on
        could not be read, or, in a run with failures, was not reached: 404 and 410 are no failures of that kind.
        """

    async def reread(self, lease: Lease, items: Sequence[Reread]) -> int:
        """Write what pages gave when they were read again. Returns how many items were new or changed."""

    async def lost(self, lease: Lease, keys: Sequence[tuple[str, str]]) -> int:
        """Mark items (kind, key) as gone, which pages no longer give. Returns how many were not gone before."""

    # -- the drift gate ----------------------------------------------------------------------------------------

    async def hold(self, lease: Lease) -> None:
        """Hold the items that a run finds from now on back until it is judged, with those it holds back already.

        Raises StoreError if a person has decided on it.
        """

    async def facts(self, run_id: int) -> RunFacts:
        """What a run's pages were like."""

    async def sample(self, run_id: int, limit: int) -> list[tuple[str, str, str]]:
        """Items of a run, spread evenly: (kind, URL of the page, record as JSON)."""

    async def judge(self, lease: Lease, verdict: Verdict, profile: str, alarm: str | None) -> None:
        """Write the verdict on a run, and what it rests on. Items of a good run come through by `promote`."""

    async def decide(self, run_id: int, verdict: Verdict) -> None:
        """A person's word on a suspect run: ACCEPTED lets its items through by `promote`, REJECTED discards them.

        Raises StoreError if the run is not suspect.
        """

    async def promote(self) -> int:
        """Let the held items of all good and accepted runs through; returns how many.

        Done in groups: if it is ended half-way, the next call does the rest. What is newer stays as it is.
        """

    async def judgement(self, run_id: int) -> Judgement | None:
        """What was written about a run."""

    async def past(self, run_id: int, limit: int) -> list[Judgement]:
        """Of good runs before this one that were asked for the same, newest first."""

    # -- sinks -------------------------------------------------------------------------------------------------

    async def sink(self, name: str, scraper: str) -> SinkNote | None:
        """How far a sink has come."""

    async def keep_sink(self, note: SinkNote) -> None:
        """Remember how far a sink has come."""

    async def sinks(self) -> list[SinkNote]:
        """Every sink that is remembered."""
