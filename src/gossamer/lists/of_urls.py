"""Lists of URLs: every request of every run, with what became of it."""

from __future__ import annotations

import time

import msgspec

from gossamer import explain
from gossamer import urls as addresses
from gossamer.lists import paging
from gossamer.lists.paging import Listing, Search
from gossamer.storage.desk import Desk, Row

#: How rows say what became of a request.
STATES = ("waiting", "done", "skipped", "failed")
#: Reasons of failures that are looked up one by one.
MOST_REASONS = 100

_COLUMNS = (
    "request.run_id, run.scraper, run.state, request.url, request.host, request.state, request.reason, "
    "request.detail, request.status, request.size, request.depth, request.handler, request.attempts, "
    "request.started, request.elapsed, request.not_before, request.token"
)
_OF_RUN = "join run on run.id = request.run_id"
# From one reason to the next, without reading what lies between.
_REASONS = """
with recursive each(reason) as (
    select min(reason) from request where state = 3
    union all
    select (select min(reason) from request where state = 3 and reason > each.reason) from each where reason is not null
)
select reason from each where reason is not null limit :n
"""


class UrlRow(msgspec.Struct, frozen=True):
    """What one run knows of one URL."""

    id: int
    run: int
    scraper: str
    url: str
    host: str
    #: "waiting", "done", "skipped" or "failed".
    state: str
    reason: str | None
    #: The same in a few words.
    why: str
    status: int | None
    size: int | None
    depth: int
    handler: str
    #: Tries that failed and were not the last.
    attempts: int
    #: When it was last fetched, and how long that took.
    started: float | None
    elapsed: float | None
    #: Somebody said that it is not to be fetched any more.
    inactive: bool


async def urls(
    desk: Desk,
    *,
    run: int | None = None,
    scraper: str | None = None,
    host: str | None = None,
    state: str | None = None,
    reason: str | None = None,
    q: str | None = None,
    limit: int = paging.USUAL,
    cursor: str | None = None,
) -> Listing[UrlRow]:
    """URLs, the ones found last first; of a scraper, those of its newest run first. `q` is a text in the URL."""
    limit = paging.checked_limit(limit)
    code = STATES.index(state) if paging.one_of(state, "state", STATES) and state else None
    scraper = paging.text(scraper, "scraper")
    reason = paging.text(reason, "reason")

    def of_run(number: int | None) -> Search:
        search = Search("request", _COLUMNS, joined=_OF_RUN)
        if number is not None:
            search.within("request.run_id = :run", run=number)
        search.equal("request.host", paging.text(host, "host"))
        search.contains(paging.text(q, "q"), "request.url")
        return search

    def tested(search: Search) -> Search:
        search.equal("request.state", code)
        search.equal("request.reason", reason)
        return search

    run = paging.number(run, "run")
    if scraper is not None and run is None:
        after = paging.place_of("urls.scraper", cursor, paging.RUN_AND_NUMBER)
        found = await paging.across_runs(desk, scraper, lambda number: tested(of_run(number)), limit, after)
        name = "urls.scraper"
    else:
        search = of_run(run)
        search.equal("run.scraper", scraper)
        name = "urls"
        if run is not None or state != "failed" or not await _by_reason(desk, search, reason):
            tested(search)
        found = await search.walk(desk, limit, paging.place_of(name, cursor, paging.NUMBER))
    place = None if found.next is None else paging.cursor_text(name, found.next)
    return Listing(await _rows(desk, found.rows), place, found.looked)


async def _by_reason(desk: Desk, search: Search, reason: str | None) -> bool:
    """Read failed requests by their index, which has them by reason. Not if there are too many reasons."""
    if reason is not None:
        search.within("request.state = 3 and request.reason = :reason", reason=reason)
        return True
    found = [row[0] for row in await desk.rows(_REASONS, n=MOST_REASONS + 1)]
    if len(found) > MOST_REASONS:
        return False
    scopes = [f"request.state = 3 and request.reason = :reason{n}" for n in range(len(found))]
    names = {f"reason{n}": each for n, each in enumerate(found)}
    search.within(*scopes, "request.state = 3 and request.reason is null", **names)
    return True


async def _rows(desk: Desk, rows: list[Row]) -> list[UrlRow]:
    inactive = await marked(desk, [row[4] for row in rows])
    return [_row(row, row[4] in inactive) for row in rows]


async def marked(desk: Desk, found: list[str]) -> set[str]:
    """Of these URLs, those that people said are not to be fetched."""
    digests = {url: addresses.digest(addresses.comparable(url)) for url in found}
    if not digests:
        return set()
    names = {f"d{n}": digest for n, digest in enumerate(dict.fromkeys(digests.values()))}
    among = ", ".join(f":{name}" for name in names)
    known = await desk.rows(f"select digest from mark where digest in ({among})", **names)  # noqa: S608
    said = {row[0] for row in known}
    return {url for url, digest in digests.items() if digest in said}


def _row(row: Row, inactive: bool) -> UrlRow:
    number, run, scraper, run_state, url, host, code, reason, detail, status, size, depth, handler, attempts = row[:14]
    started, elapsed, not_before, token = row[14:]
    state = STATES[code]
    why = _why(state, reason, detail, run_state, not_before, flying=token is not None)
    return UrlRow(
        number,
        run,
        scraper,
        url,
        host,
        state,
        reason,
        why,
        status or None,
        size,
        depth,
        handler,
        attempts,
        started or None,
        elapsed,
        inactive,
    )


def _why(state: str, reason: str | None, detail: str | None, run_state: str, not_before: float, *, flying: bool) -> str:
    """A few words about what became of a request, or what it waits for."""
    if state != "waiting":
        return detail or explain.meaning(reason or "") or ("" if reason == "ok" else reason or "")
    if flying and run_state == "running":
        return "being walked now"
    if not_before > time.time():
        return f"tried again in {max(1, round(not_before - time.time()))} s, after {reason}"
    return "waiting for its turn" if run_state == "running" else f"waiting: the run is {run_state}"
