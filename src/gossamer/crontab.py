"""Cron strings as people know them: five fields, or a word like `@daily`.

They are read here, and not by the library that computes with them, for three reasons. A scraper with a cron string must
load where that library is not installed. To it, 0 is Monday; to crontab, 0 is Sunday. And it wants the day of the
month and the day of the week to fit both; crontab takes either, where both are given.
"""

from __future__ import annotations

import calendar
import re

import msgspec

_MONTHS = tuple(name.lower() for name in calendar.month_abbr)
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
#: (name, least, most, words for the numbers).
_FIELDS: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("weekday", 0, 7, _DAYS),
)
_WORDS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_PIECE = re.compile(r"(\*|(?P<first>[0-9]{1,2}|[a-z]{3})(-(?P<last>[0-9]{1,2}|[a-z]{3}))?)(/(?P<step>[0-9]{1,2}))?")
_LONGEST = 200
_HOW = "write minute, hour, day, month and weekday, like '0 6 * * mon-fri', or @daily"


class Crontab(msgspec.Struct, frozen=True):
    """A cron string that was read: what each field allows."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    #: 0 is Sunday.
    weekdays: tuple[int, ...]
    #: Whether a day fits that is one of `days` or of `weekdays`, instead of both.
    either: bool

    @property
    def hourly(self) -> bool:
        """Whether it means every hour, rather than some hours of the day."""
        return len(self.hours) == 24

    def fields(self, *, by_weekday: bool) -> dict[str, str]:
        """The fields as APScheduler writes them; one of the two ways for a day to fit, where either does."""
        weekdays = ",".join(_DAYS[day] for day in self.weekdays)
        return {
            "minute": _listed(self.minutes, 60),
            "hour": _listed(self.hours, 24),
            "day": "*" if self.either and by_weekday else _listed(self.days, 31),
            "month": _listed(self.months, 12),
            "day_of_week": "*" if len(self.weekdays) == 7 or (self.either and not by_weekday) else weekdays,
        }


def _listed(numbers: tuple[int, ...], all_of: int) -> str:
    return "*" if len(numbers) == all_of else ",".join(map(str, numbers))


def read(text: object) -> Crontab:
    """Read a cron string. Raises ValueError, saying what to write."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise ValueError(_HOW)
    written = text.strip().lower()
    if written.startswith("@") and written not in _WORDS:
        raise ValueError(f"write one of {', '.join(_WORDS)}, or five fields")
    pieces = _WORDS.get(written, written).split()
    if len(pieces) != len(_FIELDS):
        raise ValueError(_HOW)
    minutes, hours, days, months, weekdays = (_field(piece, *how) for piece, how in zip(pieces, _FIELDS, strict=True))
    weekdays = tuple(sorted({day % 7 for day in weekdays}))
    either = not pieces[2].startswith("*") and not pieces[4].startswith("*")
    if not either and all(day > calendar.monthrange(2024, month)[1] for day in days for month in months):
        raise ValueError("that day never comes")
    return Crontab(minutes, hours, days, months, weekdays, either)


def _field(text: str, name: str, least: int, most: int, words: tuple[str, ...]) -> tuple[int, ...]:
    """The numbers that one field allows, in order."""
    found: set[int] = set()
    for piece in text.split(","):
        match = _PIECE.fullmatch(piece)
        step = int(match["step"] or 1) if match else 0
        if match is None or step == 0:
            raise ValueError(f"{piece!r} is no {name}: {_HOW}")
        first = _number(match["first"], name, least, most, words) if match["first"] else least
        if match["last"]:
            last = _number(match["last"], name, least, most, words)
        else:
            # Sunday is both 0 and 7: what has no end given is not to have it twice.
            last = min(most, max(first, 6)) if name == "weekday" else most
            last = last if match["step"] or not match["first"] else first
        if first > last and name == "weekday":
            found.update(day % 7 for day in range(first, last + 8, step))
            continue
        if first > last:
            raise ValueError(f"{piece!r} runs backwards: write {last}-{first}, or two parts with a comma")
        found.update(range(first, last + 1, step))
    return tuple(sorted(found))


def _number(text: str, name: str, least: int, most: int, words: tuple[str, ...]) -> int:
    if text in words and text:
        return words.index(text)
    if not text.isdecimal() or not least <= int(text) <= most:
        known = f", or {words[-1]} and the like" if words else ""
        raise ValueError(f"{text!r} is no {name}: it goes from {least} to {most}{known}")
    return int(text)
