"""When schedules really start something next: one whose scraper is left alone after failures waits for that to end."""

from __future__ import annotations

import time

import msgspec

from gossamer import health, lists, schedules
from gossamer.dashboard.shell import Here
from gossamer.schedules import Entry


class Coming(msgspec.Struct, frozen=True):
    """Every schedule, its `next_at` being when it is really tried."""

    entries: list[Entry]
    #: Scraper that is left alone -> until when.
    paused: dict[str, float]


async def load(here: Here) -> Coming:
    """Read them."""
    now = time.time()
    odd = await health.odd_ones(here.desk)
    paused = {
        name: state.open_until for name, state in odd.items() if state.breaker == health.OPEN and state.open_until > now
    }
    entries = await schedules.listed(here.desk, here.service.catalog)
    return Coming([await _tried(here, each, paused.get(each.schedule.scraper)) for each in entries], paused)


async def _tried(here: Here, entry: Entry, until: float | None) -> Entry:
    """A schedule with the time at which it is tried, if its scraper is left alone until some time."""
    if until is None or entry.next_at is None:
        return entry
    if entry.next_at > until:  # what was held is tried as soon as the pause is over
        newest = (await lists.firings(here.desk, schedule=entry.schedule.name, limit=1)).rows
        if not newest or newest[0].what != "held":
            return entry
    return msgspec.structs.replace(entry, next_at=until)
