"""Dates and moments, from the ways people and machines write them.

What a text does not say is not made up: no day for "May 2024", no midnight for a date, no year for "5 March",
and no order for "03/04/2024" unless somebody says which comes first.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

#: Letters of a text that are looked at; a date stands in the first of them or is not meant.
LONGEST = 200
#: Letters of a text that is tried in other languages, which takes its time.
_LONGEST_FOREIGN = 60
_MOST_WORDS = 8
#: Unix times between 1990 and 2100 count as moments; other numbers do not.
_EPOCHS = (631_152_000, 4_102_444_800)

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH = r"(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:1\d|20|21)\d{2}|['’]\d{2}|(?<=-)\d{2}(?![:.]))(?!\d)"
_GAP = r"[\s,/-]{1,3}"
_OPTIONAL_YEAR = rf"(?:{_GAP}(?:of )?{_YEAR})?"

#: Year first, of any length that ISO 8601 allows: nothing about it is ambiguous.
_ISO = re.compile(r"(?<!\d)(?P<year>[12]\d{3})(?P<sep>[-/.])\s?(?P<month>\d{1,2})(?P=sep)\s?(?P<day>\d{1,2})(?!\d)")
_COMPACT = re.compile(r"(?<!\d)(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})(?=$|[T\s_-])")
_ASIAN = re.compile(r"(?P<year>[12]\d{3})\s?[年년]\s?(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日일]")
_NUMERIC = re.compile(r"(?<![\d./-])(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4}|\d{2})(?![\d/-]|\.\d)")
_DAY_MONTH = re.compile(rf"(?<!\d){_DAY}(?: of)?[\s.-]{{1,2}}(?:of )?{_MONTH}{_OPTIONAL_YEAR}", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"(?<!\d[\s.-])\b{_MONTH}[\s-]{{0,2}}{_DAY}(?![\d:]){_OPTIONAL_YEAR}", re.IGNORECASE)
_CTIME = re.compile(
    rf"\b{_MONTH}\s{{1,2}}{_DAY}\s(?:\d{{1,2}}:[\d:]{{2,5}})\s(?:[A-Z]{{2,4}}\s|[+-]\d{{4}}\s)?{_YEAR}", re.IGNORECASE
)
_YEAR_MONTH_DAY = re.compile(rf"(?<!\d){_YEAR}{_GAP}{_MONTH}{_GAP}{_DAY}(?!\d)", re.IGNORECASE)

_WITH_NAMES = (_YEAR_MONTH_DAY, _CTIME, _DAY_MONTH, _MONTH_DAY)
#: After a date without a year: digits that may be its year, or anything.
_LOOSE_YEAR = re.compile(r"\s?,?\s?\d{2}(?![\d:.]|\s?[ap]\.?m)", re.IGNORECASE)

_TIME = re.compile(
    r"(?<![\d:])(?P<hour>[01]?\d|2[0-4])[:.](?P<minute>[0-5]\d)(?:[:.](?P<second>[0-5]\d|60)(?:[.,](?P<part>\d{1,9}))?)?"
    r"(?![\d:])\s?(?P<half>[ap]\.?m\b\.?)?\s?(?P<zone>(?:UTC|GMT|Z)\b(?!\s?[+-])|(?:UTC|GMT)?\s?[+-]\d{2}:?\d{2}|E[SD]T\b|P[SD]T\b|C[SD]T\b|M[SD]T\b|CES?T\b)?",
    re.IGNORECASE,
)
_HOUR = re.compile(r"(?<![\d:.])(?P<hour>1[0-2]|0?\d)\s?(?P<half>[ap]\.?m\b\.?)", re.IGNORECASE)
_COMPACT_TIME = re.compile(
    r"T(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d)(?P<second>[0-5]\d)?(?P<zone>Z|[+-]\d{2}:?\d{2})?"
)
_ZONES = {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "cet": 1, "cest": 2}

_UNITS = {"second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "hr": 3600, "day": 86_400, "week": 604_800}
_AGO = re.compile(
    rf"\b(?P<count>an?|one|\d{{1,4}})\s?(?P<unit>{'|'.join(_UNITS)})s?\.? (?:ago|earlier)\b", re.IGNORECASE
)
_AHEAD = re.compile(rf"\bin (?P<count>an?|one|\d{{1,4}})\s?(?P<unit>{'|'.join(_UNITS)})s?\b", re.IGNORECASE)
_WORDS = re.compile(r"\b(?P<word>today|yesterday|tomorrow|just now|right now)\b", re.IGNORECASE)
_SHIFTS = {"yesterday": -1, "tomorrow": 1}

#: Languages whose countries write the month first in "03/04/2024". English alone says nothing: Britain does not.
_MONTH_FIRST = frozenset({"en-us", "en-ph", "es-us", "es-pr"})


def date(
    value: Any, *, now: datetime | float | None = None, order: str | None = None, language: str | None = None
) -> str | None:
    """The day a text tells of, as "2024-03-05"; None if it tells of none, or could mean two.

    `order` ("DMY", "MDY", "YMD") says what "03/04/2024" means; without it, the language's country does, if it is
    known; else such a date is None. `now` is needed for "yesterday" and for dates without a year.
    """
    found = moment(value, now=now, order=order, language=language)
    return found[:10] if found else None


def moment(
    value: Any, *, now: datetime | float | None = None, order: str | None = None, language: str | None = None
) -> str | None:
    """The moment a text tells of, in ISO 8601 and as exactly as the text does: with the offset from UTC if it is
    given, and as a plain date if there is no time. None if it tells of none, or could mean two.

    Numbers are Unix times, in seconds or milliseconds. The rest is as for `date`.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, int | float):
        return _of_epoch(value)
    if not isinstance(value, str):
        isoformat = getattr(value, "isoformat", None)
        return str(isoformat()) if callable(isoformat) else None
    text = " ".join(value[: LONGEST * 2].split())[:LONGEST]
    if not text:
        return None
    base = _base(now)
    return _plain(text, base, order, language) or _relative(text, base) or _foreign(text, base, order, language)


def _base(now: datetime | float | None) -> datetime | None:
    if now is None or isinstance(now, datetime):
        return now
    return datetime.fromtimestamp(now, UTC)


def _of_epoch(value: float) -> str | None:
    for unit in (1, 1_000, 1_000_000):
        seconds = value / unit
        if _EPOCHS[0] <= seconds < _EPOCHS[1]:
            return datetime.fromtimestamp(round(seconds, 6), UTC).isoformat()
    return None


def _plain(text: str, now: datetime | None, order: str | None, language: str | None) -> str | None:
    """Dates in digits, and with English months."""
    if text.isdigit() and len(text) in (10, 13):
        return _of_epoch(int(text))
    for pattern in (_ISO, _COMPACT, _ASIAN, *_WITH_NAMES):
        match = pattern.search(text)
        if match is None:
            continue
        month, year = match["month"].lower(), match["year"]
        if not year and now and not _LOOSE_YEAR.match(text, match.end()):
            year = str(now.year)
        day = _day(_full_year(year or ""), str(_MONTHS.get(month, month)), match["day"])
        if day:
            return _with_time_of(day, text) if pattern is _CTIME else _with_time(day, text, match)
    for numeric in _NUMERIC.finditer(text):
        day = _in_order(numeric, order or _usual_order(language))
        if day:
            return _with_time(day, text, numeric)
    return None


def _day(year: str, month: str, day: str) -> str | None:
    try:
        return datetime(int(year), int(month), int(day)).strftime("%Y-%m-%d")
    except ValueError:
        return None


def _usual_order(language: str | None) -> str | None:
    if not language:
        return None
    tag = language.lower().replace("_", "-")
    if tag in _MONTH_FIRST:
        return "MDY"
    return None if tag == "en" else "DMY"


def _in_order(match: re.Match[str], order: str | None) -> str | None:
    one, mark, two, three = match.groups()
    if order == "YMD" and len(three) == 2:
        return _day(_full_year(one), two, three)
    year = _full_year(three)
    day_first, month_first = _day(year, two, one), _day(year, one, two)
    if mark == "." or order == "DMY":  # nobody who writes dots puts the month first
        return day_first or month_first
    if order == "MDY":
        return month_first or day_first
    if day_first and month_first and day_first != month_first:
        return None
    return day_first or month_first


def _full_year(text: str) -> str:
    """Two digits mean the years from 1969 to 2068, as POSIX says."""
    text = text.lstrip("'’")
    if len(text) != 2:
        return text
    return f"{20 if int(text) < 69 else 19}{text}"


def _with_time(day: str, text: str, at: re.Match[str]) -> str:
    return _with_time_of(day, text[at.end() :], text[: at.start()])


def _with_time_of(day: str, text: str, before: str = "") -> str:
    match = _COMPACT_TIME.match(text) or _TIME.search(text) or _TIME.search(before)
    match = match or _HOUR.search(text) or _HOUR.search(before)
    if match is None:
        return day
    parts = match.groupdict()
    hour = int(parts["hour"])
    half = (parts.get("half") or "").lower()
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half[0] == "p" else 0)
    if hour > 23:
        return day
    second = min(int(parts.get("second") or 0), 59)
    part = parts.get("part")
    fraction = f".{part[:6].ljust(6, '0')}" if part and part.strip("0") else ""
    return f"{day}T{hour:02}:{parts.get('minute') or '00'}:{second:02}{fraction}{_offset(parts.get('zone'))}"


def _offset(zone: str | None) -> str:
    if not zone:
        return ""
    name = zone.lower().strip()
    if name in _ZONES:
        return f"{_ZONES[name]:+03}:00"
    digits = re.sub(r"[^\d+-]", "", name)
    return f"{digits[:3]}:{digits[3:]}" if digits else "+00:00"


def _relative(text: str, now: datetime | None) -> str | None:
    if now is None:
        return None
    for pattern, sign in ((_AGO, -1), (_AHEAD, 1)):
        match = pattern.search(text)
        if match:
            count = int(match["count"]) if match["count"].isdigit() else 1
            size = _UNITS[match["unit"].lower()]
            then = now + sign * timedelta(seconds=count * size)
            return then.strftime("%Y-%m-%d") if size >= 86_400 else then.isoformat(timespec="seconds")
    match = _WORDS.search(text)
    if match is None:
        return None
    then = now + timedelta(days=_SHIFTS.get(match["word"].lower(), 0))
    return _with_time(then.strftime("%Y-%m-%d"), text, match)


# --- other languages ---

_A_DAY = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
_A_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_A_WORD = re.compile(r"[^\W\d_]{2}")
#: The languages in which a text is tried, beside that of its page, by the letters it is written in. A new one costs
#: 10 milliseconds, and dateparser knows two hundred.
_TONGUES = (
    (re.compile(r"[\u0400-\u04ff]"), ("ru", "uk", "bg")),
    (re.compile(r"[\u0370-\u03ff]"), ("el",)),
    (re.compile(r"[\u0590-\u05ff]"), ("he",)),
    (re.compile(r"[\u0600-\u06ff]"), ("ar", "fa")),
    (re.compile(r"[\u0900-\u097f]"), ("hi",)),
    (re.compile(r"[\u0e00-\u0e7f]"), ("th",)),
    (re.compile(r"[\uac00-\ud7af]"), ("ko",)),
    (re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]"), ("ja", "zh")),
)
_LATIN = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "da", "nb", "fi", "cs", "tr")


def _foreign(text: str, now: datetime | None, order: str | None, language: str | None) -> str | None:
    """What only dateparser knows: months and relative words in other languages."""
    if len(text) > _LONGEST_FOREIGN or text.count(" ") >= _MOST_WORDS or not _A_WORD.search(text):
        return None
    # A miss costs milliseconds, and a page may hold ten thousand texts: only what looks like a date is tried.
    if not (_A_DAY.search(text) and (now or _A_YEAR.search(text))) and not (now and text.count(" ") < 3):
        return None
    if _NUMERIC.search(text) or _ISO.search(text):  # no such day, or one of two
        return None
    # The minute is as near as a relative date gets, and lets equal texts of one page be looked up once.
    minute = now.replace(second=0, microsecond=0, tzinfo=None) if now else None
    usual = next((tongues for letters, tongues in _TONGUES if letters.search(text)), _LATIN)
    own = language.lower().replace("_", "-").partition("-")[0] if language else None
    for tongues in ((own,) if own else (), usual):  # what a page says of its language is often not so
        found = _looked_up(text, minute, order or _usual_order(language) or "DMY", tongues) if tongues else None
        if found:
            return found
    return None


@lru_cache(maxsize=4096)
def _looked_up(text: str, now: datetime | None, order: str, tongues: tuple[str, ...]) -> str | None:
    from dateparser.conf import SettingValidationError
    from dateparser.date import DateDataParser

    settings: dict[str, Any] = {"DATE_ORDER": order, "PARSERS": ["absolute-time"], "REQUIRE_PARTS": ["day", "month"]}
    if now is None:
        settings["REQUIRE_PARTS"].append("year")
    else:
        settings.update(RELATIVE_BASE=now, PARSERS=["relative-time", "absolute-time"])
    try:
        # What was read before must not decide how this text is read: no locale is remembered.
        parser = DateDataParser(languages=list(tongues), try_previous_locales=False, settings=settings)
        found = parser.get_date_data(text)
    except (ValueError, TypeError, OverflowError, RecursionError, SettingValidationError):
        return None
    when = found.date_obj
    if when is None or found.period not in ("day", "time"):
        return None
    return _with_time_of(when.strftime("%Y-%m-%d"), text)
