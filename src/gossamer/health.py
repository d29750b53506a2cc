"""The circuit breaker of a scraper: one that keeps failing is left alone for a while, longer each time.

After `pause_after` failed runs in a row the breaker opens: what its schedules ask for is held. When the pause is over,
one run goes out as a probe. If it succeeds the breaker closes, if it fails it opens again, for twice as long. Who
starts a run by hand is never held, and a success of theirs closes it too.

Failures are counted where runs end, in the row of the scraper; here is decided what that means.
"""

from __future__ import annotations

import msgspec

from gossamer.storage.desk import Desk, Row, Writing
from gossamer.telemetry import log

#: Seconds of the first pause; each further one is twice as long, up to the longest.
FIRST_PAUSE = 900.0
LONGEST_PAUSE = 86400.0

CLOSED, OPEN, HALF_OPEN = "closed", "open", "half_open"
GO, PROBE, HOLD = "go", "probe", "hold"


class Health(msgspec.Struct, frozen=True):
    """How a scraper does: its failures in a row, and its breaker."""

    #: Failed runs in a row; 0 after one that succeeded.
    streak: int = 0
    breaker: str = CLOSED
    #: How often in a row the breaker opened.
    openings: int = 0
    #: Until when what schedules ask for is held.
    open_until: float = 0.0
    #: How the last run ended, and when.
    last_state: str = ""
    last_ended: float | None = None


def pause(openings: int) -> float:
    """How long a breaker stays open that opens for the n-th time in a row, in seconds."""
    return float(min(FIRST_PAUSE * 2.0 ** min(max(openings, 1) - 1, 30), LONGEST_PAUSE))


def settled(health: Health, pause_after: int | None, *, busy: bool, now: float) -> Health:
    """What the runs that ended since mean for the breaker.

    `pause_after` is None for a scraper that never backs off; `busy` says whether it has a run that has not ended.
    """
    # Fewer failures in a row than opened it: one of the runs since was a success, perhaps one that nobody noticed.
    if pause_after is None or health.streak < pause_after:
        return _closed(health)
    if health.breaker == CLOSED:
        return _opened(health, now)
    if health.breaker == HALF_OPEN and not busy:
        if health.last_state == "cancelled":  # the probe said nothing: another may go out at once
            return msgspec.structs.replace(health, breaker=OPEN, open_until=min(health.open_until, now))
        return _opened(health, now)
    if health.breaker == OPEN and health.open_until > now + pause(health.openings):  # the clock was set back
        return msgspec.structs.replace(health, open_until=now + pause(health.openings))
    return health


def verdict(health: Health, now: float) -> str:
    """Whether a schedule may start a run: GO, PROBE (one, to see) or HOLD. To be asked of a settled one."""
    if health.breaker == CLOSED:
        return GO
    return PROBE if health.breaker == OPEN and now >= health.open_until else HOLD


def probing(health: Health) -> Health:
    """With a probe on its way."""
    return msgspec.structs.replace(health, breaker=HALF_OPEN)


def _opened(health: Health, now: float) -> Health:
    """Open, counted from the failure that was one too many."""
    since = now if health.last_ended is None else min(health.last_ended, now)
    openings = health.openings + 1
    return msgspec.structs.replace(health, breaker=OPEN, openings=openings, open_until=since + pause(openings))


def _closed(health: Health) -> Health:
    return msgspec.structs.replace(health, breaker=CLOSED, openings=0, open_until=0.0)


# -- rows ------------------------------------------------------------------------------------------------------

_COLUMNS = "streak, breaker, openings, open_until, last_state, last_ended"
_ONE = f"select {_COLUMNS} from scraper where name = :name"  # noqa: S608
_ODD = f"select name, {_COLUMNS} from scraper where streak > 0 or breaker <> 'closed' order by name"  # noqa: S608
_KEEP = """
update scraper set breaker = :breaker, openings = :openings, open_until = :open_until where name = :name
"""
# Runs of the command line are walked by whoever typed it, and may have been left behind by a kill.
_ACTIVE = "select id from run where scraper = :scraper and state = :state and via <> 'cli' order by id limit 1"


async def odd_ones(desk: Desk) -> dict[str, Health]:
    """The scrapers of which something is to be said, by name; all others are well."""
    return {row[0]: _health(row[1:]) for row in await desk.rows(_ODD)}


async def of(source: Desk | Writing, name: str) -> Health:
    """How a scraper does."""
    row = await source.row(_ONE, name=name)
    return _health(row) if row is not None else Health()


def _health(row: Row) -> Health:
    return Health(*row)


async def active(source: Desk | Writing, scraper: str) -> int | None:
    """The run of a scraper that waits or goes on."""
    for state in ("running", "pending"):
        row = await source.row(_ACTIVE, scraper=scraper, state=state)
        if row is not None:
            return int(row[0])
    return None


async def settle(writing: Writing, name: str, pause_after: int | None, now: float) -> tuple[Health, Health]:
    """Heed the runs of a scraper that ended since, in somebody's transaction: how it was before, and how it is.

    The caller says so (`tell`) when the transaction is written.
    """
    before = await of(writing, name)
    busy = before.breaker == HALF_OPEN and await active(writing, name) is not None
    after = settled(before, pause_after, busy=busy, now=now)
    if after != before:
        await keep(writing, name, after)
    return before, after


async def keep(writing: Writing, name: str, health: Health) -> None:
    """Write the breaker of a scraper down."""
    await writing.run(_KEEP, name=name, breaker=health.breaker, openings=health.openings, open_until=health.open_until)


def tell(name: str, before: Health, after: Health, now: float) -> None:
    """Say what happened to a breaker."""
    if after.breaker == CLOSED and before.breaker != CLOSED:
        log.info("scraper.recovered", scraper=name, pauses=before.openings)
    elif after.breaker == OPEN and after.openings > before.openings:
        held = max(0.0, after.open_until - now)
        log.warning("scraper.paused", scraper=name, failures=after.streak, pauses=after.openings, seconds=round(held))
