"""What is owed when due times have come, and some of them long ago: what the misfire policy of a schedule says."""

from __future__ import annotations

import itertools

import msgspec

from gossamer.clock import iso
from gossamer.timetable import Schedule, dues, fires_at, last_due

#: A due time that is later than this was missed.
GRACE = 60.0
#: With misfire = "all", the due times that are made up for, the newest ones.
CAUGHT_UP = 24
#: Due times are counted up to here.
_COUNTED = 100


class Owed(msgspec.Struct, frozen=True):
    """What a schedule has to do about the due times that have come."""

    #: The due time to fire; None: there is none, they were missed.
    due: float | None
    #: What is to be said of it.
    detail: str = ""
    #: Whether it was missed, and is made up for.
    late: bool = False
    #: The last of those that are given up, and what is to be said of them.
    missed: float | None = None
    lost: str = ""

    @property
    def last(self) -> float:
        """The last due time that is done with by this."""
        found = self.due if self.due is not None else self.missed
        assert found is not None
        return found


def owed(schedule: Schedule, next_due: float, now: float, *, waited: bool = False) -> Owed:
    """What is to be done by a schedule whose `next_due` has come.

    `waited` says that it was not missed, though it is late: it waited for its scraper to be free.
    """
    last = _last_come(schedule, next_due, now)
    if schedule.misfire == "all":
        return _each(schedule, next_due, last, now)
    late = now - fires_at(schedule, last) > GRACE
    if schedule.misfire == "skip" and not waited:
        return _on_time(schedule, next_due, last, late=late)
    several = f"for {_many(schedule, next_due, last)} due times since {iso(next_due)}"
    return Owed(last, several if last > next_due else "", late)


def _last_come(schedule: Schedule, next_due: float, now: float) -> float:
    """The last due time whose run should have begun by now."""
    last = last_due(schedule, now)
    if last is not None and last > next_due and fires_at(schedule, last) > now:
        last = _before(schedule, last)
    return next_due if last is None else max(next_due, last)


def _before(schedule: Schedule, due: float) -> float | None:
    return last_due(schedule, due - 0.001)


def _on_time(schedule: Schedule, next_due: float, last: float, *, late: bool) -> Owed:
    """The last one if it is on time; whatever was before it, or itself if it is not, is given up."""
    if late:
        return Owed(None, late=late, missed=last, lost=_told(schedule, next_due, last))
    if last == next_due:
        return Owed(last)
    missed = max(next_due, _before(schedule, last) or next_due)
    return Owed(last, missed=missed, lost=_told(schedule, next_due, missed))


def _each(schedule: Schedule, next_due: float, last: float, now: float) -> Owed:
    """The first of them, so that each gets its turn; but no more than some."""
    newest = [last]
    while len(newest) <= CAUGHT_UP and newest[-1] > next_due:
        newest.append(max(next_due, _before(schedule, newest[-1]) or next_due))
    due = newest[min(len(newest), CAUGHT_UP) - 1]
    late = now - fires_at(schedule, due) > GRACE
    told = "made up for" if late else ""
    if len(newest) <= CAUGHT_UP:
        return Owed(due, told, late)
    missed = newest[CAUGHT_UP]
    lost = f"{_told(schedule, next_due, missed)}, and {CAUGHT_UP} at most are made up for"
    return Owed(due, told, late, missed, lost)


def _told(schedule: Schedule, first: float, last: float) -> str:
    many = _many(schedule, first, last)
    if many == "1":
        return "nobody was there to fire it"
    return f"nobody was there to fire {many} of them since {iso(first)}"


def _many(schedule: Schedule, first: float, last: float) -> str:
    """How many due times there are from one to another, in words."""
    after = itertools.takewhile(lambda due: due <= last, itertools.islice(dues(schedule, first), _COUNTED))
    found = 1 + sum(1 for _ in after)
    return str(found) if found <= _COUNTED else f"more than {_COUNTED}"
