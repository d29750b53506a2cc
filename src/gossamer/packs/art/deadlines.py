"""Days in the ways that art sites write them: "June 15th", "8/25/20", "01-03-2018", "11/17/2019 12:00:00 AM (PT)".

They are sites of the United States: where digits could mean two days, the month comes first. A day without a year is
the next such day from the one on which the page was fetched.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Final, NamedTuple

from gossamer import Page
from gossamer.parse import calls, clean
from gossamer.parse.pagedates import PageDates

__all__ = ["Deadline", "dates_of", "day", "find", "last", "span", "today_of"]

#: Letters of a short text that are looked at.
_LONGEST: Final = 200
#: Words for a deadline that are looked at in one text.
_MOST: Final = 20
_NONE: Final = re.compile(r"^\W*(?:0000-00-00|0{1,2}/0{1,2}/0{2,4})")
_DIGIT: Final = re.compile(r"\d")
_MONTH: Final = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b",
    re.IGNORECASE,
)
#: A day with a month in letters, or one in digits. What is neither would be looked up in every language there is.
_NAMED_DAY: Final = re.compile(
    rf"{_MONTH.pattern}\.?[\s-]{{0,2}}\d{{1,2}}(?!\d)|(?<!\d)\d{{1,2}}(?:st|nd|rd|th)?\.?[\s-](?:of\s)?{_MONTH.pattern}",
    re.IGNORECASE,
)
_DAY: Final = re.compile(rf"\d[-/.]\s?\d{{1,2}}[-/.]\s?\d|(?<!\d)20\d{{6}}(?!\d)|{_NAMED_DAY.pattern}", re.IGNORECASE)
#: Between the two days of a range; a dash inside of a date has no space around it, or digits that go on.
_BETWEEN: Final = re.compile(
    r"\s+(?:[-–—]|to|through|thru|until|till)\s+|\s?[–—]\s?|(?<=/\d{2})\s?-\s?(?=\d)|(?<=/\d{4})\s?-\s?(?=\d)"
    r"|(?<=[a-z])\s?-\s?(?=[a-z])",
    re.IGNORECASE,
)
#: "June 1 - 3, 2026" and "June 1-3": one month, and perhaps one year, for two days.
_SAME_MONTH: Final = re.compile(
    rf"({_MONTH.pattern})\.?\s(\d{{1,2}})(?:st|nd|rd|th)?\s?[-–—]\s?(\d{{1,2}})(?:st|nd|rd|th)?(?!\d|[/:])(,?\s\d{{4}})?",
    re.IGNORECASE,
)
_SHORT_DAY: Final = re.compile(r"(?<![\d/.-])(\d{1,2})/(\d{1,2})(?![\d/.-])")
_YEAR: Final = re.compile(r"(?<![\d/.-])(20\d\d)(?!\d)|(?<=[/-])(\d{4}|\d{2})(?!\d|[/-])")
#: The words that name a deadline, and what stands behind them.
_LABEL: Final = re.compile(
    r"(?<!\w)(?:(?:final|extended|new|entry|entries|application|applications|submission|submissions|registration"
    r"|proposal|call)\s){0,3}(?:deadlines?|due(?:\s(?:by|date|on))?|closing dates?|close dates?|submit by|apply by"
    r"|enter by|respond by|end date)(?!\w)\s?(?:is|are|has been extended to|extended to|:|-|–)?\s{0,3}",
    re.IGNORECASE,
)
#: Letters behind a label in which its date begins.
_REACH: Final = 28


class Deadline(NamedTuple):
    """The last day to apply, and how the text said it."""

    day: date
    text: str


def today_of(page: Page) -> date | None:
    """The day a page was fetched on; None if that is not known."""
    started = page.response.started
    return datetime.fromtimestamp(started, UTC).date() if started > 0 else None


def dates_of(page: Page) -> PageDates:
    """Dates as an American page means them."""
    made = PageDates(page)
    made.order = "MDY"
    return made


def day(text: object, today: date | None = None) -> date | None:
    """The first day in a short text; None if there is none, or if it has no year and `today` is not known."""
    if isinstance(text, datetime):
        return text.date()
    if isinstance(text, date):
        return text
    if not isinstance(text, str) or _NONE.match(text):
        return None
    short = text[:_LONGEST]
    found = clean.date(short, order="MDY", language="en") if _DAY.search(short) else None
    if found:
        return _as_date(found)
    return _next(short, today) if today is not None else None


def _as_date(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _next(text: str, today: date) -> date | None:
    """The next day that a text without a year can mean: "June 15th", "6/15"."""
    named = _NAMED_DAY.search(text)
    digits = None if named else _SHORT_DAY.search(text)
    # In a leap year every day is one.
    written = f"{named[0]}, 2028" if named else f"{digits[0]}/2028" if digits else ""
    found = clean.date(written, order="MDY", language="en") if written else None
    meant = _as_date(found) if found else None
    if meant is None:
        return None
    for year in range(today.year, today.year + 9):  # as long as it may be until the next 29th of February
        with suppress(ValueError):
            if (then := meant.replace(year=year)) >= today:
                return then
    return None


def span(text: str | None, today: date | None = None) -> tuple[date | None, date | None]:
    """From when to when: "4/3/2020-4/24/2020", "June 1 - 3, 2026", "May 30 to June 2, 2026"; one day is a beginning."""
    if not text or _NONE.match(text):
        return None, None
    written = _SAME_MONTH.sub(r"\1 \2\4 to \1 \3\4", text[:_LONGEST])
    first, _, rest = _split(written)
    if not rest:
        return day(first, today), None
    if not _YEAR.search(first) and (found := _YEAR.search(rest)):  # a year that is said once is that of both
        first = f"{first.rstrip(' ,')}{_year_after(first, found[1] or found[2])}"
    start, end = day(first, today), day(rest, today)
    if start and end and end < start:  # from December to January: the year that is said is that of the end
        start = _a_year_before(start)
    return start, end if end != start else None


def _split(text: str) -> tuple[str, str, str]:
    found = _BETWEEN.search(text)
    return (text[: found.start()], found[0], text[found.end() :]) if found else (text, "", "")


def _year_after(text: str, year: str) -> str:
    return f"/{year}" if "/" in text else f", {year}"


def _a_year_before(when: date) -> date:
    try:
        return when.replace(year=when.year - 1)
    except ValueError:
        return when.replace(year=when.year - 1, day=28)


def last(text: str | None, today: date | None = None, event: date | None = None) -> date | None:
    """The deadline that a short text tells: the last day of a range, or the only one.

    Of a day without a year, that before the day on which it takes place is meant, if that is known; else the next one.
    """
    start, end = span(text)
    if not (start or end) and event is not None:
        start, end = span(text, _a_year_before(event) + timedelta(days=1))
    if not (start or end):
        start, end = span(text, today)
    return end or start


def find(
    text: str | None, dates: PageDates, today: date | None = None, said: calls.Call | None = None
) -> Deadline | None:
    """The deadline in a longer text: what stands behind words for one, as `calls` weighs it; of several the surest.

    `said` is what the text says of its call, if that was read already.
    """
    if not text:
        return None
    due = (said or calls.call(text, dates)).deadline
    if due and (found := _as_date(due)):
        written = next((text[one.start : one.end] for one in dates.all(text[: calls.LONGEST]) if one.when == due), due)
        return Deadline(found, " ".join(written.split()))
    for label in islice(_LABEL.finditer(text[: calls.LONGEST]), _MOST):
        after = text[label.end() : label.end() + 60]
        line = after.partition("\n")[0].strip() or after.strip().partition("\n")[0]
        when = last(line, today) if _begins(line) else None
        if when is not None:
            return Deadline(when, line[:60])
    return None


def _begins(line: str) -> bool:
    """Whether a date begins near the beginning of a line."""
    return bool(_DIGIT.search(line[:_REACH]) or _MONTH.search(line[:_REACH]))
