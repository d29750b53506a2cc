"""Schedules as rows: what the files of scrapers declare, what people changed, and what came of it.

A row keeps both apart, so that a change made by hand outlives a change of the file, and the other way round. Whoever
fires (`scheduler.py`) moves `next_due` on, in the transaction that writes the firing.
"""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from gossamer import asking, health, timetable, trail
from gossamer.catalog import Catalog
from gossamer.errors import ConfigError, NotFound, NotPossible
from gossamer.health import Health
from gossamer.lists import paging
from gossamer.lists.paging import Listing, Search
from gossamer.storage.desk import Desk, Row, Writing
from gossamer.timetable import FIELDS, TRIGGERS, Schedule, fires_at, next_times
from gossamer.trail import Asker

__all__ = [
    "Entry",
    "Firing",
    "Schedule",
    "add",
    "change",
    "enable",
    "get",
    "history",
    "listed",
    "next_times",
    "page",
    "pause",
    "remove",
    "run_now",
    "sync",
]

#: Schedules that a store may have, those that files declare not counted.
MOST = 10_000
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class Entry(msgspec.Struct, frozen=True):
    """A schedule as it stands in the store."""

    schedule: Schedule
    #: What its scraper's file says.
    declared: dict[str, Any]
    #: What people changed.
    overrides: dict[str, Any]
    #: The due time that is to be fired next, jitter not counted; None: none is.
    next_due: float | None
    updated: float
    updated_by: str
    #: Why it is not fired though it is enabled; empty if it is.
    problem: str = ""
    #: When the next run is to begin; while its scraper is paused after failures, not before that is over.
    next_at: float | None = None
    #: Until when its scraper is paused after failures; None: it is not.
    held_until: float | None = None

    @property
    def by_hand(self) -> bool:
        """Whether somebody made it, and no file says when."""
        return not any(name in self.declared for name in TRIGGERS)


class Firing(msgspec.Struct, frozen=True):
    """One due time of a schedule, and what came of it."""

    schedule: str
    due: float
    #: When it was written.
    at: float
    #: "fired", "probe" (fired to see whether a failing scraper works again), "held" (it fails, and is left alone),
    #: "skipped" (it was at work), or "missed" (nobody was there).
    what: str
    #: The run that came of it; for one that was skipped, the run that was in the way.
    run: int | None
    detail: str
    #: The state of the run; empty if there is none.
    state: str = ""


# -- looking ---------------------------------------------------------------------------------------------------

_COLUMNS = "name, scraper, declared, overrides, anchor, next_due, updated, updated_by"
_ALL = f"select {_COLUMNS} from schedule order by name"  # noqa: S608
_ONE = f"select {_COLUMNS} from schedule where name = :name"  # noqa: S608
_NEWEST = "select what from firing where schedule = :name order by due desc limit 1"
_HISTORY = """
select due, at, what, run_id, detail, run.state
from firing left join run on run.id = firing.run_id
where schedule = :name and due < :before order by due desc limit :limit
"""


def entry_of(row: Row) -> Entry:
    """A row of the table."""
    name, scraper, declared, overrides, anchor, next_due, updated, updated_by = row
    said, changed = msgspec.json.decode(declared), msgspec.json.decode(overrides)
    schedule = timetable.overlaid(name, scraper, anchor, said, changed)
    return Entry(schedule, said, changed, next_due, updated, updated_by)


async def entries(desk: Desk) -> list[Entry]:
    """Every schedule, as it stands; for who fires them."""
    return [entry_of(row) for row in await desk.rows(_ALL)]


async def listed(desk: Desk, catalog: Catalog | None = None) -> list[Entry]:
    """Every schedule by name, with when it runs next, or why it does not."""
    return await _seen(desk, catalog, await entries(desk))


async def page(
    desk: Desk, catalog: Catalog | None = None, *, limit: int = paging.USUAL, cursor: str | None = None
) -> Listing[Entry]:
    """A page of them, by name."""
    search = Search("schedule", _COLUMNS.removeprefix("name, "), key=("name",), ascending=True)
    found = await search.page(desk, "schedules", entry_of, limit=limit, cursor=cursor, form=paging.NAME)
    return Listing(await _seen(desk, catalog, found.rows), found.next, found.looked)


async def _seen(desk: Desk, catalog: Catalog | None, found: list[Entry]) -> list[Entry]:
    """Schedules with when they run next, or why they do not."""
    odd = await health.odd_ones(desk)
    looked_at = [_looked_at(entry, catalog) for entry in found]
    return [await _heeding(desk, entry, odd.get(entry.schedule.scraper, Health())) for entry in looked_at]


async def get(desk: Desk, name: str, catalog: Catalog | None = None) -> Entry:
    """One schedule. Raises NotFound."""
    row = await desk.row(_ONE, name=name)
    if row is None:
        raise await unknown(desk, name)
    entry = _looked_at(entry_of(row), catalog)
    return await _heeding(desk, entry, await health.of(desk, entry.schedule.scraper))


def _looked_at(entry: Entry, catalog: Catalog | None) -> Entry:
    """With what is computed when somebody looks."""
    schedule = entry.schedule
    problem = ""
    if not schedule.trigger:
        problem = "nothing says when: set every or cron"
    elif catalog is not None and schedule.scraper not in catalog:
        problem = f"no file has a scraper {schedule.scraper!r}"
    next_at = None
    if entry.next_due is not None and not problem:
        next_at = fires_at(schedule, entry.next_due)
    return msgspec.structs.replace(entry, problem=problem, next_at=next_at)


async def _heeding(desk: Desk, entry: Entry, state: Health) -> Entry:
    """With what an open breaker means: what comes due meanwhile is held, and one run goes out when it is over."""
    if state.breaker != health.OPEN or state.open_until <= time.time():
        return entry
    next_at = entry.next_at
    if next_at is not None:
        newest = await desk.row(_NEWEST, name=entry.schedule.name)
        is_held = newest is not None and newest[0] == "held"
        next_at = state.open_until if is_held else max(next_at, state.open_until)
    return msgspec.structs.replace(entry, next_at=next_at, held_until=state.open_until)


async def unknown(desk: Desk, name: str, catalog: Catalog | None = None) -> NotFound:
    """What to say of a name that no schedule has, nor a scraper of the catalog."""
    names = [row[0] for row in await desk.rows("select name from schedule order by name limit 10000")]
    near = difflib.get_close_matches(name, [*names, *(catalog.scrapers if catalog else ())], n=1)
    hint = f"did you mean {near[0]!r}?" if near else "`gossamer schedule list` shows those there are"
    return NotFound(f"no schedule is called {name[:80]!r}: {hint}")


async def history(desk: Desk, name: str, before: float | None = None, limit: int = 50) -> list[Firing]:
    """What came of the due times of a schedule, newest first; those due before a time. Raises NotFound."""
    if await desk.row(_ONE, name=name) is None:
        raise await unknown(desk, name)
    found = await desk.rows(_HISTORY, name=name, before=9e15 if before is None else before, limit=limit)
    return [Firing(name, due, at, what, run, detail, state or "") for due, at, what, run, detail, state in found]


# -- what files declare ----------------------------------------------------------------------------------------

_ADD = """
insert into schedule (name, scraper, declared, overrides, anchor, next_due, updated, updated_by)
values (:name, :scraper, :declared, :overrides, :anchor, :next_due, :now, :by)
"""
_KEEP = """
update schedule set scraper = :scraper, declared = :declared, overrides = :overrides, next_due = :next_due,
    updated = :now, updated_by = :by where name = :name
"""


async def sync(desk: Desk, catalog: Catalog, now: float | None = None) -> bool:
    """Bring rows in line with what scrapers declare now; returns whether anything was to do.

    A scraper that is in no file any more keeps its row, and whatever people changed of it: it is not fired, and goes
    on where it was when the file is there again.
    """
    now = time.time() if now is None else now
    said = {name: timetable.declared(found.scraper) for name, found in catalog.scrapers.items()}
    if not any(True for _ in _differences(said, {entry.schedule.name: entry for entry in await entries(desk)})):
        return False
    async with desk.writing() as writing:
        known = {row[0]: entry_of(row) for row in await writing.rows(_ALL)}
        for name, scraper, declared in _differences(said, known):
            await _write(writing, known.get(name), name, scraper, declared=declared, now=now, by="file")
    return True


def _differences(
    said: Mapping[str, dict[str, Any]], known: Mapping[str, Entry]
) -> list[tuple[str, str, dict[str, Any]]]:
    """(name, scraper, what is declared) of rows that are not as files say."""
    found = []
    for name, entry in known.items():
        scraper = entry.schedule.scraper
        if scraper in said:
            declared = said[scraper]
            if name != scraper:  # made by hand: when it runs is not for the file to say, all else is
                declared = _besides(declared)
            found += [(name, scraper, declared)] if declared != entry.declared else []
    for name, declared in said.items():
        if name not in known and any(key in declared for key in TRIGGERS):
            found.append((name, name, declared))
    return found


def _besides(declared: Mapping[str, Any]) -> dict[str, Any]:
    """What a file says besides when its own schedule runs, and whether."""
    return {key: value for key, value in declared.items() if key not in (*TRIGGERS, "enabled")}


async def _write(
    writing: Writing,
    before: Entry | None,
    name: str,
    scraper: str,
    *,
    now: float,
    by: str,
    declared: dict[str, Any] | None = None,
    overrides: dict[str, Any] | None = None,
) -> Entry:
    """Write a schedule as it is to be, with when it is due next."""
    # In whole seconds, for due times are keys.
    anchor = before.schedule.anchor if before else float(int(now))
    said = declared if declared is not None else before.declared if before else {}
    changed = overrides if overrides is not None else before.overrides if before else {}
    schedule = timetable.overlaid(name, scraper, anchor, said, changed)
    next_due = _moved(before, schedule, now)
    names = {"name": name, "scraper": scraper, "next_due": next_due, "now": now, "by": by}
    names |= {"declared": _json(said), "overrides": _json(changed)}
    if before is None:
        await writing.run(_ADD, anchor=anchor, **names)
    else:
        await writing.run(_KEEP, **names)
    return _looked_at(Entry(schedule, said, changed, next_due, now, by), None)


def _moved(before: Entry | None, schedule: Schedule, now: float) -> float | None:
    """When a schedule that was changed is due next."""
    if not schedule.enabled or not schedule.trigger:
        return None
    if before is None:
        return timetable.due_after(schedule, schedule.anchor - 0.001)
    if before.next_due is not None and (_timing(before.schedule) == _timing(schedule) or before.next_due <= now):
        return before.next_due  # what is owed stays so, whatever is changed meanwhile
    return timetable.due_after(schedule, now)


def _timing(schedule: Schedule) -> tuple[Any, ...]:
    return schedule.every, schedule.cron, schedule.timezone, schedule.first_delay, schedule.anchor


def _json(value: dict[str, Any]) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


# -- what people change ----------------------------------------------------------------------------------------


def checked(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes as they are kept; None takes one back. Raises ConfigError for what cannot be."""
    for name in changes:
        if name not in FIELDS:
            near = difflib.get_close_matches(name, FIELDS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(FIELDS)}"
            raise ConfigError(f"a schedule has no {name[:40]!r}: {hint}")
    read = timetable.read_all({name: value for name, value in changes.items() if value is not None})
    asking.check_params(read.get("params") or {})
    return {**dict.fromkeys(changes), **read}


def _changed(overrides: Mapping[str, Any], changes: Mapping[str, Any], by: Asker) -> dict[str, Any]:
    """Overrides with changes made to them."""
    found = dict(overrides)
    for name, value in checked(changes).items():
        if name in TRIGGERS:  # one of them says when
            for each in TRIGGERS:
                found.pop(each, None)
        found.pop(name, None)
        # "none" is a word for no limit, and a change like any other.
        if value is not None or changes[name] is not None:
            found[name] = value
        if name == "params":
            found.pop("trusted", None)
            if value and by.via != "cli":
                found["trusted"] = False
    return found


async def change(desk: Desk, name: str, changes: Mapping[str, Any], *, by: Asker) -> Entry:
    """Change what a schedule says; None for a field takes a change back. Raises NotFound, ConfigError."""
    checked(changes)
    timetable.needs_apscheduler()
    async with desk.writing() as writing:
        row = await writing.row(_ONE, name=name)
        if row is not None:
            before = entry_of(row)
            overrides = _changed(before.overrides, changes, by)
            scraper = before.schedule.scraper
            after = await _write(writing, before, name, scraper, overrides=overrides, now=time.time(), by=by.name)
            await trail.note(writing, by, "schedule.change", name, changes=dict(changes))
            return after
    raise await unknown(desk, name)


async def add(desk: Desk, catalog: Catalog, name: str, scraper: str, changes: Mapping[str, Any], *, by: Asker) -> Entry:
    """Make one more schedule for a scraper. Raises NotFound, NotPossible, ConfigError."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name[:80]!r} cannot be a name: write small letters, digits, dots and dashes")
    found = catalog.get(scraper)
    if found is None:
        near = difflib.get_close_matches(scraper, catalog.scrapers, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "`gossamer list` shows those there are"
        raise NotFound(f"no scraper is called {scraper[:80]!r}: {hint}")
    overrides = _changed({}, changes, by)
    if not any(key in overrides for key in TRIGGERS):
        raise ConfigError("nothing says when it is to run: give every, like 6h, or cron, like '0 6 * * *'")
    if name != scraper and name in catalog:
        raise NotPossible(f"{name!r} is the name of another scraper: call the schedule otherwise")
    declared = timetable.declared(found.scraper)
    if name != scraper:
        declared = _besides(declared)
    timetable.needs_apscheduler()
    async with desk.writing() as writing:
        if await writing.row(_ONE, name=name) is not None:
            raise NotPossible(f"there is a schedule {name!r} already: change it, or give another name")
        count = await writing.row("select count(*) from schedule")
        if count is not None and count[0] >= MOST:
            raise NotPossible(f"there are {MOST:,} schedules already: remove some first")
        made = await _write(
            writing, None, name, scraper, declared=declared, overrides=overrides, now=time.time(), by=by.name
        )
        await trail.note(writing, by, "schedule.add", name, scraper=scraper, changes=dict(changes))
    return made


async def remove(desk: Desk, catalog: Catalog, name: str, *, by: Asker) -> None:
    """Remove a schedule that somebody made, or whose scraper is gone; with its history. Raises NotPossible."""
    entry = await get(desk, name)
    found = catalog.get(entry.schedule.scraper)
    if found is not None and name == found.scraper.name and not entry.by_hand:
        raise NotPossible(f"the file of {name} declares its schedule: pause it, or take it out of the file")
    async with desk.writing() as writing:
        await writing.run("delete from firing where schedule = :name", name=name)
        await writing.run("delete from schedule where name = :name", name=name)
        await trail.note(writing, by, "schedule.remove", name)


async def pause(desk: Desk, name: str, *, by: Asker) -> Entry:
    """Let a schedule start nothing until it is enabled again."""
    return await change(desk, name, {"enabled": False}, by=by)


async def enable(desk: Desk, name: str, *, by: Asker) -> Entry:
    """Let a schedule start runs again. What was missed while it was paused is not made up for."""
    ships_paused = not (await get(desk, name)).declared.get("enabled", True)
    return await change(desk, name, {"enabled": True if ships_paused else None}, by=by)


async def run_now(desk: Desk, catalog: Catalog, name: str, *, by: Asker) -> int:
    """Start what a schedule starts, at once; when it is due next does not change. Raises AlreadyActive, NotFound."""
    schedule = (await get(desk, name)).schedule
    found = catalog.get(schedule.scraper)
    if found is None:
        raise NotFound(f"no file has a scraper {schedule.scraper!r}: `gossamer list` shows those there are")
    draft = await asking.prepare(desk, found, params=schedule.params, trusted=schedule.trusted)
    async with desk.writing() as writing:
        run = await asking.begin(writing, msgspec.structs.replace(draft, trusted=schedule.trusted), by)
        if by.via == "cli":  # runs of the command line are walked by whoever typed it; this one is for the service
            await writing.run("update run set via = 'schedule' where id = :run", run=run)
        return run
