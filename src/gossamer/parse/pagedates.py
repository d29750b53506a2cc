"""The dates of one page: in the order its country writes them, and as seen on the day it was fetched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import Final, NamedTuple, Self

from gossamer import urls
from gossamer.parse import clean
from gossamer.parse.page import Page

__all__ = ["Dated", "PageDates"]

#: Letters of a page in which its way to write dates is looked for, and dates that are looked at.
_REACH: Final = 200_000
_MOST: Final = 200
_NUMERIC: Final = re.compile(r"\b(?<![./-])(\d{1,2})([/-])(\d{1,2})\2(?:\d{4}|\d{2})\b(?![/-])")
_YEAR: Final = re.compile(r"(?<![\d/.,$€£-])20[0-4]\d(?![\d,%])")
#: Names of two letters that tell of no country: those of languages, and those that anybody uses.
_NO_COUNTRY: Final = frozenset({"eu", "io", "co", "ai", "me", "tv", "cc", "en", "my", "go", "ws", "fm", "gg"})
#: Letters between a date without a year and one whose year it has too.
_NEAR: Final = 150
#: "4d ago", "30+ days ago": spelled out.
_SHORT_AGO: Final = re.compile(
    r"\b(\d{1,3})\+?\s?(mins?|hrs?|h|days?|d|weeks?|wks?|w|months?|mos?|years?|yrs?|y)\s+ago", re.IGNORECASE
)
#: Unit -> its name, and how many of it: a month is 30 days, as sites count.
_UNITS: Final = {
    "mi": ("minutes", 1),
    "h": ("hours", 1),
    "d": ("days", 1),
    "w": ("weeks", 1),
    "mo": ("days", 30),
    "y": ("days", 365),
}
_MONTHS: Final = (
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?"
)
#: Months in the languages of Europe that are written in Latin letters, January first.
_FOREIGN_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "januar jänner janvier enero gennaio janeiro januari stycznia",
            "februar février fevrier febrero febbraio fevereiro februari lutego",
            "märz mars marzo março maart marts marca",
            "avril abril aprile kwietnia",
            "mai mayo maggio maio mei maj maja",
            "juni juin junio giugno junho czerwca",
            "juli juillet julio luglio julho lipca",
            "août aout agosto augustus augusti sierpnia",
            "septembre septiembre setiembre settembre setembro września",
            "oktober octobre octubre ottobre outubro października",
            "novembre noviembre novembro listopada",
            "dezember décembre decembre diciembre dicembre dezembro grudnia",
        )
    )
    for name in names.split()
}
_FOREIGN: Final = re.compile(
    rf"(?<!\d)(\d{{1,2}})(?:\.|er|º)?\s{{1,2}}(?:de\s)?({'|'.join(_FOREIGN_MONTHS)})\b\.?"
    r"(?:\s(?:de\s|del\s)?(20\d\d))?",
    re.IGNORECASE,
)
_ENGLISH: Final = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
#: What may tell of a date at all.
_MAYBE: Final = re.compile(
    rf"(?:19|20)\d\d[-/.]\d|\d[./-]\s?\d{{1,2}}[./-]\s?\d|\b(?:{_MONTHS})\b|[年년]|\bago\b|^\s*\d{{8,13}}(?:\D|$)"
    r"|\b(?:today|yesterday|tomorrow|just now)\b",
    re.IGNORECASE,
)
#: Dates in a text, with or without a year.
_DATES: Final = re.compile(
    rf"""
    (?<![\w/.-])(?:
      20\d\d([-/.])\d{{1,2}}\1\d{{1,2}}(?:T[\d:.]{{4,15}}(?:Z|[+-]\d\d:?\d\d)?)?
      |\d{{1,2}}\s?([./-])\s?\d{{1,2}}\s?\2\s?(?:20)?\d\d(?!\d)
      |(?:{_MONTHS})\b\.?[\s]{{1,2}}\d{{1,2}}(?:st|nd|rd|th)?(?![\d:])(?:\s?,?\s{{0,2}}(?:20\d\d)(?!\d))?
      |\d{{1,2}}(?:st|nd|rd|th|\.)?\s{{1,2}}(?:of\s)?(?:{_MONTHS})\b\.?(?:,?\s{{1,2}}(?:20\d\d)(?!\d))?
      |\d{{1,2}}(?:\.|er|º)?\s{{1,2}}(?:de\s)?(?:{"|".join(_FOREIGN_MONTHS)})\b\.?(?:\s(?:de\s|del\s)?20\d\d)?
      |20\d\d\s?[年년]\s?\d{{1,2}}\s?[月월]\s?\d{{1,2}}\s?[日일]
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
#: "June 1-3, 2024" and "1.-3. June 2024": one month for two days.
_MONTH_FIRST: Final = re.compile(
    rf"\b({_MONTHS})\.?\s(\d{{1,2}})\s?[-–—]\s?(\d{{1,2}})(?:st|nd|rd|th)?,?\s(20\d\d)", re.IGNORECASE
)
_DAYS_FIRST: Final = re.compile(
    r"(?<![\d/.])(\d{1,2}\.?)\s?[-–—]\s?(\d{1,2}\.?)\s([^\W\d_]{3,12}\.?)\s(20\d\d)", re.IGNORECASE
)
#: A dash right between two dates in digits.
_TOUCHING: Final = re.compile(r"(?<=\d{2})\s?[-–—]\s?(?=\d{1,2}[/.]\d{1,2}[/.])")
_TIME_AFTER: Final = re.compile(
    r"""[\s,;(@–-]{0,4}(?:at|by|um|à|until|before)?\s{0,2}(?:\d{1,2}(?::\d\d)?\s?(?:[ap]\.?m\b\.?)|\d{1,2}[:.]\d\d(?![\d./])|midnight|noon)
    (?:\s?\(?(?:[ECMP][SD]?T|GMT|UTC|CES?T|BST)\b\)?)?""",
    re.IGNORECASE | re.VERBOSE,
)


#: Under this name a page keeps them.
_KEPT: Final = "_page_dates"


class Dated(NamedTuple):
    """A date in a text: where it begins and ends there, and what it means."""

    start: int
    end: int
    when: str


class PageDates:
    """Reads dates as one page means them."""

    def __init__(self, page: Page) -> None:
        self._page = page

    @classmethod
    def of(cls, page: Page) -> Self:
        """Those of a page, made once: its text is looked through for how it writes dates, however many jobs it has."""
        made: Self = page.__dict__.setdefault(_KEPT, cls(page))
        return made

    @cached_property
    def language(self) -> str | None:
        """The language that the page declares: "en-US"."""
        node = self._page.tree.root if self._page.kind == "html" else None
        return (node.attributes.get("lang") if node else None) or self._page.headers.get("content-language")

    @cached_property
    def country(self) -> str | None:
        """The country a page is for, by its host and its language: "AU" for au.example.com."""
        labels = urls.hostname(self._page.url).split(".")
        for name in (labels[-1], labels[0]):
            if len(name) == 2 and name.isalpha() and name not in _NO_COUNTRY:
                return "GB" if name == "uk" else name.upper()
        tail = (self.language or "").replace("_", "-").rpartition("-")[2]
        return tail.upper() if len(tail) == 2 and "-" in (self.language or "").replace("_", "-") else None

    @cached_property
    def now(self) -> datetime | None:
        """When the page was fetched, if that is known."""
        started = self._page.response.started
        return datetime.fromtimestamp(started, UTC) if started > 0 else None

    @cached_property
    def order(self) -> str | None:
        """Whether days or months come first, where numbers do not tell: by its other dates, then by its country."""
        days = months = 0
        for count, (one, _, two) in enumerate(_NUMERIC.findall(self._page.text[:_REACH])):
            if count > _MOST:
                break
            days += int(one) > 12 >= int(two)
            months += int(two) > 12 >= int(one)
        if days != months:
            return "DMY" if days > months else "MDY"
        host = urls.hostname(self._page.url)
        if host.endswith((".gov", ".mil", ".us")) or (self.language or "").lower() in ("en-us", "en_us"):
            return "MDY"
        return None if host.endswith((".com", ".org", ".net", ".edu")) and not self.language else self._by_language()

    def _by_language(self) -> str | None:
        tongue = (self.language or "").lower()
        return None if tongue in ("", "en") else "DMY"

    def moment(self, value: object, year: int | None = None) -> str | None:
        """The moment a text tells of, as `clean.moment`; `year` is that of dates without one."""
        base = datetime(year, 1, 1, tzinfo=UTC) if year else self.now
        if not isinstance(value, str):
            return clean.moment(value, now=base)
        text = _FOREIGN.sub(_in_english, _SHORT_AGO.sub(_spelled, value[:400]))
        if not _MAYBE.search(text) and (self.language or "en").lower().startswith("en"):
            return None  # what is no date would be looked up in every language there is, which takes its time
        return clean.moment(text, now=base, order=self.order, language=self.language or "en")

    def day(self, value: object, year: int | None = None) -> str | None:
        """The day a text tells of."""
        found = self.moment(value, year)
        return found[:10] if found else None

    def all(self, text: str) -> Iterator[Dated]:
        """The dates in a text, in order; those without a year are in the year of the nearest that has one."""
        found = list(islice(_DATES.finditer(text), _MOST))
        years = [_year(match[0]) for match in found]
        for n, match in enumerate(found):
            year = years[n] or self._nearest_year(found, years, n, text)
            time = _TIME_AFTER.match(text, match.end())
            when = self.moment(match[0] + (time[0] if time else ""), year) or self.moment(match[0], year)
            if when:
                yield Dated(match.start(), time.end() if time else match.end(), when)

    def span(self, text: str) -> tuple[str | None, str | None]:
        """From when to when, as a text says: "June 1-3, 2024", "4/3/2020-4/24/2020", "5 May 2024"."""
        spread = _DAYS_FIRST.sub(r"\1 \3 \4 - \2 \3 \4", _MONTH_FIRST.sub(r"\1 \2, \4 - \1 \3, \4", text[:500]))
        found = list(islice(self.all(_TOUCHING.sub(" - ", spread)), 2))
        if not found:
            return self.moment(text), None
        return found[0].when, found[1].when if len(found) > 1 and found[1].when > found[0].when else None

    def _nearest_year(self, found: list[re.Match[str]], years: list[int | None], n: int, text: str) -> int | None:
        """The year of a date that names none."""
        distances = [
            (min(abs(match.start() - found[n].end()), abs(found[n].start() - match.end())), years[at] or 0)
            for at, match in enumerate(found)
            if years[at]
        ]
        near, year = min(distances, default=(0, 0))
        if year and (near < _NEAR or self.now is None):
            return year
        if self.now is not None:
            return self._coming_year(found[n][0], self.now)
        said = _YEAR.findall(text[:_REACH])
        return max(map(int, set(said)), key=lambda one: (said.count(str(one)), one)) if said else None

    def _coming_year(self, date: str, now: datetime) -> int:
        """The year in which a date comes next, or was not long ago."""
        when = clean.date(date, now=now, order=self.order, language=self.language)
        return now.year + 1 if when and when < (now - timedelta(days=60)).strftime("%Y-%m-%d") else now.year


def _year(date: str) -> int | None:
    found = _YEAR.search(date)
    return int(found[0]) if found else None


def _spelled(found: re.Match[str]) -> str:
    unit = found[2].lower()
    name, size = _UNITS[unit[:2] if unit[:2] in _UNITS else unit[0]]
    return f"{int(found[1]) * size} {name} ago"


def _in_english(found: re.Match[str]) -> str:
    day, month, year = found.groups()
    return f"{day} {_ENGLISH[_FOREIGN_MONTHS[month.lower()]]} {year or ''}".strip()
