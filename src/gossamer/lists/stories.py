"""Why a URL was fetched, dropped, or waits: what each run knows of it, as values and in plain words."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import msgspec

from gossamer import explain, urls
from gossamer.lists import paging
from gossamer.lists.of_sources import note_of, robots_note
from gossamer.lists.of_urls import STATES
from gossamer.lists.of_workers import object_of
from gossamer.lists.paging import Found, Place, Search
from gossamer.storage.desk import Desk, Row
from gossamer.storage.store import Mark, RobotsNote, UrlStory

#: Runs that one call asks whether they know a URL, and stories it tells.
RUNS = 10_000
MOST_STORIES = 100
#: Fetches, items and rejects of a story.
_SOME = 50
#: Runs that are asked what they would have done with a URL that nobody met, and start URLs of one that are looked at.
_GUESSES = 5
_ROOTS = 1_000

_OLDEST = "select id from run where id < :run order by id desc limit 1 offset :skipped"
_BY_DIGEST = """
select request.run_id, request.id from (select id from run where id < :run order by id desc limit :runs) as newest
    join request on request.run_id = newest.id and request.digest = :digest
order by request.run_id desc limit :n
"""
_STORY = """
select request.run_id, run.scraper, run.state, request.state, request.url, request.host, request.handler, request.extra,
    request.depth, request.priority, request.attempts, request.claims, request.token, request.not_before,
    request.reason, request.detail, request.status, request.size, request.started, request.elapsed,
    (select url from request as parent where parent.id = request.found_on)
from request join run on run.id = request.run_id where request.id = :request
"""
_FETCHES = """
select started, elapsed, status, reason, detail from "fetch"
where request_id = :request and url = :url order by id limit :n
"""
_ITEMS = """
select item.kind, item.key from sighting join item on item.id = sighting.item_id
where sighting.request_id = :request limit :n
"""
_STAGED = "select kind, key from staged where request_id = :request limit :n"
_REJECTS = "select step, reason from reject where request_id = :request order by id limit :n"
_LIMITS = "select limits from start where run_id = :run and at <= :at order by id desc limit 1"
_FIRST_LIMITS = "select limits from start where run_id = :run order by id limit 1"
_ROBOTS = """
select origin, fetched, checked, status, body, closed from robots
where origin = :origin and fetched <= :at order by id desc limit 1
"""
_FIRST_ROBOTS = """
select origin, fetched, checked, status, body, closed from robots where origin = :origin order by id limit 1
"""
_MARK = "select by, at from mark where digest = :digest"
_NEWEST_RUNS = "select id, scraper, options from run order by id desc limit :n"
_PREFIXES = "select url from request where run_id = :run and depth = 0 limit :n"
# From one host to the next, without reading what lies between: a host may have a million.
_ROOT_OF_HOSTS = """
with recursive each(host) as (
    select min(host) from request where run_id = :run and depth = 0
    union all
    select (select min(host) from request where run_id = :run and depth = 0 and host > each.host)
    from each where host is not null
)
select (select url from request where run_id = :run and depth = 0 and host = each.host limit 1)
from each where host is not null limit :n
"""

#: How far both searches have come: runs by the digest, requests by the URL. None: it ended.
_Both = tuple[paging.Number | None, paging.Number | None]


class Told(msgspec.Struct, frozen=True):
    """What one run knows of a URL."""

    request: int
    story: UrlStory
    #: The same in plain words.
    sentences: list[str]


class Why(msgspec.Struct, frozen=True):
    """All that is known of a URL."""

    url: str
    #: Newest run first.
    stories: list[Told]
    #: How its host is treated, if it is not as usual.
    host: list[str]
    #: Where no run knows it: what the newest ones would have done with it.
    guesses: list[str]
    #: Somebody said that it is not to be fetched any more.
    inactive: bool
    #: The cursor of older runs; None: all were asked.
    next: str | None
    looked: int
    #: What holds of it whatever runs know, in plain words: that somebody said it is not to be fetched any more.
    notes: list[str] = []


async def why(desk: Desk, url: str, *, limit: int = 20, cursor: str | None = None) -> Why:
    """What runs know of a URL, however it is spelled; the newest are asked first, and `next` asks older ones.

    Requests that are more than their URL (a form, a page that is fetched again on purpose) are found by looking at the
    newest requests, and by `next` at all of them.
    """
    limit = min(paging.checked_limit(limit), MOST_STORIES)
    clean = urls.absolute(url)
    runs, requests = paging.place_of("why", cursor, _Both) or (paging.TOP, paging.TOP)
    digest = urls.digest(urls.comparable(clean))
    plain = await _by_digest(desk, digest, limit, runs) if runs is not None else Found([], None, 0)
    room = limit - len(plain.rows)
    other = Found([], None if requests is None else (requests,), 0)
    if requests is not None and room:
        other = await _by_url(desk, clean, digest, room, (requests,))
    found = sorted([*plain.rows, *[(row[1], row[0]) for row in other.rows]], key=lambda row: (-row[0], row[1]))
    stories = [told for _, request in found if (told := await _told(desk, request))]
    ended = plain.next is None and other.next is None
    host = stories[0].story.host if stories else urls.host(clean)
    note = await note_of(desk, host)
    mark = await desk.row(_MARK, digest=digest)
    return Why(
        clean,
        stories,
        explain.host_lines(*note) if note else [],
        await _guesses(desk, clean) if not stories and cursor is None else [],
        mark is not None,
        None if ended else paging.cursor_text("why", (*(plain.next or (None,)), *(other.next or (None,)))),
        plain.looked + other.looked,
        [explain.mark_line(Mark(*mark))] if mark is not None else [],
    )


async def _by_digest(desk: Desk, digest: str, limit: int, before: int) -> Found:
    """Plain requests: each run says in one step whether it knows them."""
    rows = await desk.rows(_BY_DIGEST, run=before, runs=RUNS, digest=digest, n=limit + 1)
    if len(rows) > limit:
        return Found(rows[:limit], (rows[limit - 1][0],), RUNS)
    oldest = await desk.row(_OLDEST, run=before, skipped=RUNS - 1)
    return Found(rows, (int(oldest[0]),) if oldest else None, RUNS)


async def _by_url(desk: Desk, url: str, digest: str, limit: int, after: Place) -> Found:
    search = Search("request", "request.run_id")
    search.only("request.url = :url and request.digest <> :digest", url=url, digest=digest)
    return await search.walk(desk, limit, after)


async def _told(desk: Desk, request: int) -> Told | None:
    row = await desk.row(_STORY, request=request)
    if row is None:
        return None  # its run was deleted this moment
    story = await _story(desk, request, row)
    verdict = await asyncio.to_thread(_robots_line, story, await _limits(desk, story), await _robots(desk, story))
    return Told(request, story, explain.sentences(story, verdict))


async def _story(desk: Desk, request: int, row: Row) -> UrlStory:
    run, scraper, run_state, state, url, host, handler, extra, depth, priority, attempts, claims, token, *rest = row
    fetches = await desk.rows(_FETCHES, request=request, url=url, n=_SOME)
    items = await desk.rows(_ITEMS, request=request, n=_SOME)
    staged = await desk.rows(_STAGED, request=request, n=_SOME)
    rejects = await desk.rows(_REJECTS, request=request, n=_SOME)
    names = ("not_before", "reason", "detail", "status", "size", "started", "elapsed", "found_on")
    return UrlStory(
        run=run,
        scraper=scraper,
        run_state=run_state,
        state=STATES[state],
        url=url,
        host=host,
        handler=handler,
        method=_method(object_of(extra)),
        depth=depth,
        priority=priority,
        attempts=attempts,
        claims=claims,
        in_flight=token is not None and state == 0,
        fetches=[(each[0], each[1], each[2], each[3], each[4]) for each in fetches],
        items=[(kind, key) for kind, key in [*items, *staged]][:_SOME],
        rejects=[(step, reason) for step, reason in rejects],
        held=bool(staged),
        **dict(zip(names, rest, strict=True)),
    )


def _method(extra: dict[str, Any]) -> str:
    body = any(extra.get(name) is not None for name in ("json", "data", "data64"))
    return str(extra.get("method") or ("POST" if body else "GET")).upper()


async def _limits(desk: Desk, story: UrlStory) -> dict[str, Any]:
    """The limits that held when it was fetched."""
    at = story.started or time.time()
    row = await desk.row(_LIMITS, run=story.run, at=at) or await desk.row(_FIRST_LIMITS, run=story.run)
    return object_of(row[0]) if row else {}


async def _robots(desk: Desk, story: UrlStory) -> RobotsNote | None:
    """The version of its robots.txt that held when it was fetched."""
    origin, at = urls.origin(story.url), story.started or time.time()
    row = await desk.row(_ROBOTS, origin=origin, at=at) or await desk.row(_FIRST_ROBOTS, origin=origin)
    return robots_note(row) if row else None


_reading = threading.Lock()


def _robots_line(story: UrlStory, limits: dict[str, Any], note: RobotsNote | None) -> str | None:
    """On a thread, since a large robots.txt takes a while; one at a time, since rules are kept for all."""
    with _reading:
        return explain.robots_line(story, limits, note)


async def _guesses(desk: Desk, url: str) -> list[str]:
    told = []
    for run, scraper, options in await desk.rows(_NEWEST_RUNS, n=_GUESSES):
        scope = explain.scope_of(object_of(options))
        roots = _PREFIXES if scope.kind == "prefix" else _ROOT_OF_HOSTS
        scope.start([row[0] for row in await desk.rows(roots, run=run, n=_ROOTS)])
        told.append(f"run {run} ({scraper}) {explain.guess(scope, url)}")
    return told
