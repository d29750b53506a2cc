"""What happened in the service: events, the trail of what people did, firings of schedules, and alerts."""

from __future__ import annotations

from typing import Any

import msgspec

from gossamer import redaction
from gossamer.lists import paging
from gossamer.lists.of_workers import object_of
from gossamer.lists.paging import Listing, Search
from gossamer.storage.desk import Desk, Row

LEVELS = ("debug", "info", "warning", "error", "critical")

_EVENT = "event.at, event.level, event.name, event.run_id, event.scraper, event.message, event.data"
_TRAIL = "trail.at, trail.who, trail.via, trail.action, trail.target, trail.detail, trail.address"
_FIRING = "firing.what, firing.run_id, firing.detail"
_ALERT = "alert.kind, alert.scraper, alert.run_id, alert.at, alert.title, alert.body, alert.seen"

#: What the places of firings are made of.
_FIRED = tuple[float, paging.Name, float]
_DUE = tuple[float]


class EventRow(msgspec.Struct, frozen=True):
    """An event that was worth keeping."""

    id: int
    at: float
    level: str
    name: str
    run: int | None
    scraper: str
    message: str
    data: dict[str, Any]


class TrailRow(msgspec.Struct, frozen=True):
    """Who did what."""

    id: int
    at: float
    who: str
    via: str
    action: str
    target: str
    detail: dict[str, Any]
    address: str


class FiringRow(msgspec.Struct, frozen=True):
    """One time that a schedule came due."""

    schedule: str
    due: float
    at: float
    what: str
    run: int | None
    detail: str


class Dispatch(msgspec.Struct, frozen=True):
    """An alert on its way to one receiver."""

    target: str
    state: str
    attempts: int
    next_at: float
    error: str


class AlertRow(msgspec.Struct, frozen=True):
    """Something that people should hear of."""

    id: int
    kind: str
    scraper: str
    run: int | None
    at: float
    title: str
    body: str
    #: When somebody said that it was seen.
    seen: float | None
    sent: list[Dispatch]


async def events(
    desk: Desk,
    *,
    run: int | None = None,
    level: str | None = None,
    scraper: str | None = None,
    q: str | None = None,
    since: float | None = None,
    after: int | None = None,
    limit: int = paging.USUAL,
    cursor: str | None = None,
) -> Listing[EventRow]:
    """Events, newest first. `level` is the least; `after` asks for those above a number, as a tail does."""
    search = Search("event", _EVENT, heavy=6)
    levels = LEVELS[LEVELS.index(level) :] if paging.one_of(level, "level", LEVELS) and level else ()
    names = {f"level{n}": each for n, each in enumerate(levels)}
    scraper = paging.text(scraper, "scraper")
    if run is not None:
        search.within("event.run_id = :run", run=paging.number(run, "run"))
        search.equal("event.scraper", scraper)
    elif scraper is not None:
        search.within("event.scraper = :scraper", scraper=scraper)
    elif levels:
        search.within(*(f"event.level = :{name}" for name in names), **names)
    if levels and (run is not None or scraper is not None):
        search.only(f"event.level in ({', '.join(f':{name}' for name in names)})", **names)
    if after is not None:
        search.end_with(((paging.number(after, "event") or 0) + 1,))
    await _since(desk, search, "event", since)
    search.contains(paging.text(q, "q"), "event.name", "event.message", json=["event.data"])
    return await search.page(desk, "events", _event, limit=limit, cursor=cursor)


def _event(row: Row) -> EventRow:
    *values, data = row
    return EventRow(*(*values, object_of(data)))


async def _since(desk: Desk, search: Search, table: str, since: float | None) -> None:
    """Only what happened since a time: no further back than that."""
    if paging.moment(since, "since") is not None and since is not None:
        search.end_with((await paging.first_since(desk, table, "at", since),))
        search.only(f"{table}.at >= :since", since=since)


async def trail(
    desk: Desk,
    *,
    who: str | None = None,
    action: str | None = None,
    target: str | None = None,
    since: float | None = None,
    limit: int = paging.USUAL,
    cursor: str | None = None,
) -> Listing[TrailRow]:
    """Who did what, newest first. An `action` such as "run" stands for all that begin with it: "run.start"."""
    search = Search("trail", _TRAIL)
    search.equal("trail.who", paging.text(who, "who"))
    search.equal("trail.target", paging.text(target, "target"))
    action = paging.text(action, "action")
    if action is not None:
        search.only(
            "(trail.action = :action or trail.action like :noun escape '!')",
            action=action,
            noun=paging.beginning(f"{action}."),
        )
    await _since(desk, search, "trail", since)
    return await search.page(desk, "trail", _deed, limit=limit, cursor=cursor)


def _deed(row: Row) -> TrailRow:
    number, at, who, via, action, target, detail, address = row
    told = redaction.parameters(object_of(detail))  # lines of older versions may hold secrets
    return TrailRow(number, at, who, via, action, redaction.text(target), told, address)


async def firings(
    desk: Desk,
    *,
    schedule: str | None = None,
    what: str | None = None,
    limit: int = paging.USUAL,
    cursor: str | None = None,
) -> Listing[FiringRow]:
    """Each time a schedule came due, the last first; of one schedule, in the order of when it was due."""
    schedule = paging.text(schedule, "schedule")
    if schedule is None:
        search = Search("firing", _FIRING, key=("at", "schedule", "due"))
        search.equal("firing.what", paging.text(what, "what"))
        return await search.page(desk, "firings", _fired, limit=limit, cursor=cursor, form=_FIRED)
    search = Search("firing", f"firing.schedule, firing.at, {_FIRING}", key=("due",))
    search.within("firing.schedule = :schedule", schedule=schedule)
    search.equal("firing.what", paging.text(what, "what"))
    return await search.page(desk, "firings.schedule", _due, limit=limit, cursor=cursor, form=_DUE)


def _fired(row: Row) -> FiringRow:
    at, schedule, due, *rest = row
    return FiringRow(schedule, due, at, *rest)


def _due(row: Row) -> FiringRow:
    due, schedule, *rest = row
    return FiringRow(schedule, due, *rest)


async def alerts(
    desk: Desk,
    *,
    kind: str | None = None,
    scraper: str | None = None,
    seen: bool | None = None,
    limit: int = paging.USUAL,
    cursor: str | None = None,
) -> Listing[AlertRow]:
    """Alerts, newest first, each with how far it has come to its receivers."""
    search = Search("alert", _ALERT)
    search.equal("alert.kind", paging.text(kind, "kind"))
    search.equal("alert.scraper", paging.text(scraper, "scraper"))
    if seen is False:
        search.within("alert.seen is null")
    elif seen:
        search.only("alert.seen is not null")
    found = await search.page(desk, "alerts", list, limit=limit, cursor=cursor)
    sent: dict[int, list[Dispatch]] = {}
    if found.rows:
        names = {f"a{n}": row[0] for n, row in enumerate(found.rows)}
        among = ", ".join(f":{name}" for name in names)
        told = await desk.rows(
            "select alert_id, target, state, attempts, next_at, error from dispatch "  # noqa: S608
            f"where alert_id in ({among}) order by alert_id, target limit 5000",
            **names,
        )
        for alert, *rest in told:
            sent.setdefault(alert, []).append(Dispatch(*rest))
    return Listing([AlertRow(*(*row, sent.get(row[0], []))) for row in found.rows], found.next, found.looked)
