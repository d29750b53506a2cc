"""Lists of sources: the hosts we know, how each is treated, and what its robots.txt says."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable

import msgspec

from gossamer.lists import paging
from gossamer.lists.paging import Listing, Search
from gossamer.storage.desk import Desk, Row
from gossamer.storage.store import RobotsNote, SourceNote
from gossamer.values import Notice

BREAKERS = ("closed", "open", "half_open")
#: Versions of a robots.txt, and notices, that are shown of one host.
MOST_VERSIONS = 20
MOST_NOTICES = 100
#: Letters of a robots.txt that are shown.
SHOWN = 100_000
#: Notices among which the one about the crawl delay is looked for.
_SOME = 200
#: Hosts whose robots.txt and last notice are read at once.
_GROUP = 100

_COLUMNS = (
    "source.last_hit, source.ready_at, source.interval, source.crawl_delay, source.latency, source.breaker, "
    "source.openings, source.open_until, source.why, source.paused, source.budget, source.ruled_by"
)
_SOURCE = f"select source.host, {_COLUMNS} from source where source.host = :host"  # noqa: S608
_VERSIONS = """
select origin, fetched, checked, status, body, closed from robots where origin = :origin order by id desc limit :n
"""
_NOTICES = "select host, at, kind, seconds, detail from notice where host = :host order by id desc limit :n"
_DELAY = """
select detail from (select id, kind, detail from notice where host = :host order by id desc limit :n) as newest
where kind = 'crawl_delay' order by id desc limit 1
"""


class SourceRow(msgspec.Struct, frozen=True):
    """A host in a list."""

    host: str
    #: When it was last asked.
    last_hit: float | None
    #: Least seconds between two requests that it taught us, and that its robots.txt asks for; 0: none.
    interval: float
    crawl_delay: float
    #: Its usual seconds to answer; 0: not known.
    latency: float
    #: "closed", "open" or "half_open", and how often it opened in a row.
    breaker: str
    openings: int
    #: Until when it is left alone, and why, if it is now.
    held_until: float | None
    why: str
    #: What people said of it.
    paused: bool
    budget: int | None
    ruled_by: str
    #: What its robots.txt is: "rules", "none", "closed" or "unknown", and when it was last asked for.
    robots: str
    robots_at: float | None
    #: The last thing that was noticed about it.
    notice: Notice | None


class RobotsVersion(msgspec.Struct, frozen=True):
    """One version of a robots.txt."""

    origin: str
    #: When it was first and last seen.
    fetched: float
    checked: float
    status: int
    text: str
    #: Why the site counts as closed, if it does.
    closed: str | None


class SourceDetail(msgspec.Struct, frozen=True):
    """All there is to say about a host."""

    source: SourceRow
    #: Newest first, of https and http.
    robots: list[RobotsVersion]
    #: What it asked for and what we decided, newest first.
    notices: list[Notice]


async def sources(
    desk: Desk,
    *,
    q: str | None = None,
    paused: bool | None = None,
    breaker: str | None = None,
    limit: int = paging.USUAL,
    cursor: str | None = None,
) -> Listing[SourceRow]:
    """Hosts in the order of their names. `q` is a text in the name."""
    search = Search("source", _COLUMNS, key=("host",), ascending=True)
    if paused is True:
        search.within("(source.paused = 1 or source.budget is not null)")  # as its index has it
        search.only("source.paused = 1")
    elif paused is False:
        search.only("source.paused = 0")
    search.equal("source.breaker", paging.one_of(breaker, "breaker", BREAKERS))
    search.contains(paging.text(q, "q"), "source.host")
    found = await search.page(desk, "sources", tuple, limit=limit, cursor=cursor, form=paging.NAME)
    return Listing(await _rows(desk, found.rows), found.next, found.looked)


async def _rows(desk: Desk, rows: list[Row]) -> list[SourceRow]:
    hosts = [row[0] for row in rows]
    robots: dict[str, Row] = {}
    notices: dict[str, Notice] = {}
    for first in range(0, len(hosts), _GROUP):
        group = hosts[first : first + _GROUP]
        robots |= await _robots(desk, group)
        notices |= await _last_notices(desk, group)
    return [_row(row, robots.get(row[0]), notices.get(row[0])) for row in rows]


async def _robots(desk: Desk, hosts: Iterable[str]) -> dict[str, Row]:
    """Host -> (when its robots.txt was last asked for, status, why it counts as closed), of the scheme asked last."""
    origins = {f"o{n}": origin for n, origin in enumerate(each for host in hosts for each in _origins(host))}
    newest = " union all ".join(
        f"select * from (select origin, checked, status, closed from robots where origin = :{name} "  # noqa: S608
        f"order by id desc limit 1) as {name}"
        for name in origins
    )
    found: dict[str, Row] = {}
    for origin, checked, status, closed in await desk.rows(newest, **origins):
        host = origin.partition("://")[2]
        if host not in found or checked > found[host][0]:
            found[host] = (checked, status, closed)
    return found


async def _last_notices(desk: Desk, hosts: Iterable[str]) -> dict[str, Notice]:
    names = {f"h{n}": host for n, host in enumerate(hosts)}
    newest = " union all ".join(
        f"select * from (select host, at, kind, seconds, detail from notice where host = :{name} "  # noqa: S608
        f"order by id desc limit 1) as {name}"
        for name in names
    )
    return {row[0]: Notice(*row) for row in await desk.rows(newest, **names)}


def _origins(host: str) -> tuple[str, str]:
    return f"https://{host}", f"http://{host}"


def _row(row: Row, robots: Row | None, notice: Notice | None) -> SourceRow:
    host, last_hit, ready_at, interval, delay, latency, breaker, openings, open_until, why, *ruled = row
    paused, budget, ruled_by = ruled
    held = max(ready_at if why else 0.0, open_until if breaker != "closed" else 0.0)
    now = held > time.time()
    return SourceRow(
        host=host,
        last_hit=last_hit or None,
        interval=interval,
        crawl_delay=delay,
        latency=latency,
        breaker=breaker,
        openings=openings,
        held_until=held if now else None,
        why=why if now else "",
        paused=bool(paused),
        budget=budget,
        ruled_by=ruled_by,
        robots=_robots_word(robots),
        robots_at=robots[0] if robots else None,
        notice=notice,
    )


def _robots_word(found: Row | None) -> str:
    if found is None:
        return "unknown"
    _, status, closed = found
    return "closed" if closed else "rules" if 200 <= status < 300 else "none"


async def source(desk: Desk, host: str) -> SourceDetail | None:
    """One host; None if it is not known."""
    row = await desk.row(_SOURCE, host=paging.text(host, "host") or "")
    if row is None:
        return None
    (told,) = await _rows(desk, [row])
    notes = [note for origin in _origins(told.host) for note in await robots_notes(desk, origin, MOST_VERSIONS)]
    versions = [_version(note) for note in notes]
    versions.sort(key=lambda version: -version.checked)
    notices = await desk.rows(_NOTICES, host=told.host, n=MOST_NOTICES)
    return SourceDetail(told, versions, [Notice(*each) for each in notices])


def _version(note: RobotsNote) -> RobotsVersion:
    body = note.body.decode("utf-8", "replace")[:SHOWN]
    return RobotsVersion(note.origin, note.fetched, note.checked, note.status, body, note.closed)


async def robots_notes(desk: Desk, origin: str, most: int) -> list[RobotsNote]:
    """The newest versions of an origin's robots.txt, newest first."""
    return [robots_note(row) for row in await desk.rows(_VERSIONS, origin=origin, n=most)]


def robots_note(row: Row) -> RobotsNote:
    """A version of a robots.txt from its row."""
    origin, fetched, checked, status, body, closed = row
    return RobotsNote(origin, fetched, checked, status, zlib.decompress(body), closed)


async def note_of(desk: Desk, host: str) -> tuple[SourceNote, str] | None:
    """What is remembered of a host, and what was noticed of its crawl delay; None if it is not known."""
    row = await desk.row(_SOURCE, host=host)
    if row is None:
        return None
    note = SourceNote(*row[:10])
    noticed = await desk.row(_DELAY, host=host, n=_SOME)
    return note, noticed[0] if noticed else f"robots.txt asks for {note.crawl_delay:g} s between requests"
