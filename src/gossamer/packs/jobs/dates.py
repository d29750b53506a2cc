"""When a job was posted, and until when one may apply: in every way that job sites write it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from gossamer import Page
from gossamer.parse import clean

__all__ = ["closing", "day", "moment_of", "posted"]

#: A posting that is older, or dated further ahead, is a slip or another date.
OLDEST: Final = timedelta(days=3653)
AHEAD: Final = timedelta(days=30)
#: Letters of a text that are looked at.
_LONGEST: Final = 200

_SECONDS: Final = {
    "s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600,
    "d": 86_400, "day": 86_400, "w": 604_800, "wk": 604_800, "week": 604_800,
    "mo": 2_592_000, "mth": 2_592_000, "month": 2_592_000, "y": 31_536_000, "yr": 31_536_000, "year": 31_536_000,
}  # fmt: skip
_UNITS: Final = "|".join(sorted(_SECONDS, key=len, reverse=True))
_AGO: Final = re.compile(
    rf"\b(?P<count>an?|one|\d{{1,4}})\s?\+?\s?(?P<unit>{_UNITS}|m)s?\.?\s{{1,2}}ago\b", re.IGNORECASE
)
_WORDS: Final = (
    (re.compile(r"\b(?:just (?:now|posted)|moments? ago|today|few (?:seconds|minutes|hours) ago)\b", re.IGNORECASE), 0),
    (re.compile(r"\byesterday\b", re.IGNORECASE), 1),
)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED: Final = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
#: "2nd Dec 25", "2 Dec '25", "02-Dec-25": years of two digits, which a general reader takes for anything.
_SHORT_YEAR: Final = re.compile(
    rf"(?<!\d)(?P<day>\d{{1,2}})\s?(?:st|nd|rd|th)?[\s./-]{{1,2}}(?:of )?{_NAMED}[\s,./-]{{1,3}}"
    r"['’]?(?P<year>\d\d)(?![\d:]|\s?[ap]m)",
    re.IGNORECASE,
)
_SHORT_YEAR_LAST: Final = re.compile(
    rf"\b{_NAMED}\s{{1,2}}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s{{1,2}}['’](?P<year>\d\d)(?![\d:])", re.IGNORECASE
)
#: "2 nd December 2025": a page that raises the letters has a space before them.
_RAISED: Final = re.compile(r"(?<=\d)\s+(?=(?:st|nd|rd|th)\b)", re.IGNORECASE)


def posted(value: Any, now: datetime | float, order: str = "DMY") -> str | None:
    """The day a job was posted, as "2025-12-02"; None if it does not say, or says what cannot be.

    `now` is when the page was fetched: "3 days ago" is measured from there. `order` is how the site writes
    "03/04/2025": day first, unless it is told.

    >>> posted("Posted 3 days ago", datetime(2025, 12, 5, tzinfo=UTC))
    '2025-12-02'
    """
    base = moment_of(now)
    found = day(value, base, order)
    if found is None:
        return None
    when = datetime.fromisoformat(found).replace(tzinfo=UTC)
    return found if base - OLDEST <= when <= base + AHEAD else None


def closing(value: Any, now: datetime | float, order: str = "DMY") -> str | None:
    """The last day to apply. It may be as far ahead as a posting says, but not older than ten years."""
    base = moment_of(now)
    found = day(value, base, order)
    return found if found is not None and found >= (base - OLDEST).date().isoformat() else None


def day(value: Any, now: datetime | float, order: str = "DMY") -> str | None:
    """The day a text or a number tells of, whenever that is."""
    base = moment_of(now)
    if not isinstance(value, str):
        return clean.date(value, now=base)
    text = _RAISED.sub("", " ".join(value[: 2 * _LONGEST].split())[:_LONGEST])
    if not text:
        return None
    return _relative(text, base) or _short_year(text) or clean.date(text, now=base, order=order, language="en")


def moment_of(now: datetime | float | Page) -> datetime:
    """When something was fetched: a moment, a Unix time, or a page. A page that does not know was fetched now."""
    if isinstance(now, Page):
        now = now.response.started
    if isinstance(now, datetime):
        return now if now.tzinfo else now.replace(tzinfo=UTC)
    return datetime.fromtimestamp(now, UTC) if now > 0 else datetime.now(UTC)


def _relative(text: str, base: datetime) -> str | None:
    if found := _AGO.search(text):
        count = int(found["count"]) if found["count"].isdecimal() else 1
        unit = found["unit"].lower()
        # "5m ago" is minutes as chats write it; job boards that mean months write "5mo".
        seconds = 60 if unit == "m" else _SECONDS[unit]
        try:
            return (base - timedelta(seconds=count * seconds)).date().isoformat()
        except OverflowError:
            return None
    for pattern, days in _WORDS:
        if pattern.search(text):
            return (base - timedelta(days=days)).date().isoformat()
    return None


def _short_year(text: str) -> str | None:
    found = _SHORT_YEAR.search(text) or _SHORT_YEAR_LAST.search(text)
    if found is None:
        return None
    try:
        month = _MONTHS.index(found["month"].lower()) + 1
        return datetime(2000 + int(found["year"]), month, int(found["day"])).date().isoformat()
    except ValueError:
        return None
