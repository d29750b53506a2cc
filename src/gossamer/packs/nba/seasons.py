"""Seasons, days and games as people write them, and as the sources of the pack want them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from gossamer import ConfigError

__all__ = [
    "FIRST",
    "bounds",
    "dates",
    "days",
    "game_ids",
    "last_days",
    "one_of",
    "season_of",
    "season_text",
    "season_year",
    "seasons",
    "today",
]

#: The first season, by the year in which it ended.
FIRST: Final = 1947
#: Most days of one range: a season and a bit.
MOST_DAYS: Final = 400
#: Most games that can be named in one parameter.
MOST_GAMES: Final = 2_000

_SEASON: Final = re.compile(r"(\d{4})(?:\s?[-/\u2013]\s?(\d{4}|\d{2}))?")
_DAY: Final = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})")
_RANGE: Final = re.compile(r"(\d{4}-?\d{2}-?\d{2})(?:\s{0,3}(?:\.\.|-|/|,|\bto\b)\s{0,3}(\d{4}-?\d{2}-?\d{2}))?")
_GAME: Final = re.compile(r"[A-Za-z0-9]{3,20}")

#: Seasons that did not begin in October and end in June: lockouts, and the year of the pandemic.
_ODD: Final[dict[int, tuple[date, date]]] = {
    1999: (date(1999, 1, 20), date(1999, 6, 30)),
    2012: (date(2011, 12, 9), date(2012, 6, 30)),
    2020: (date(2019, 9, 27), date(2020, 10, 12)),
    2021: (date(2020, 12, 8), date(2021, 7, 22)),
}


def today() -> date:
    """The day it is, in UTC."""
    return datetime.now(UTC).date()


def season_year(value: Any) -> int:
    """The year in which a season ends: 2024 for "2024", 2024 and "2023-24". Raises ConfigError.

    >>> season_year("2023-24")
    2024
    """
    match = _SEASON.fullmatch(str(value).strip())
    if match is None:
        raise _bad_season(value)
    year = int(match[1])
    if match[2]:
        if int(match[2]) != (year + 1) % (10 ** len(match[2])):
            raise ConfigError(f"season={value} is no season: {match[1]} is followed by {year + 1}, as in 2023-24")
        year += 1
    if not FIRST <= year <= today().year + 2:
        raise ConfigError(f"season={value} cannot be used: seasons go from {FIRST} to {today().year + 2}")
    return year


def _bad_season(value: Any) -> ConfigError:
    return ConfigError(f"season={str(value)[:40]} cannot be read: write the year it ends in, like 2024, or 2023-24")


def seasons(value: Any) -> list[int]:
    """Seasons, in order: of "2024", "2022..2024" or "2019,2024". Raises ConfigError."""
    first, dots, last = str(value).partition("..")
    if dots:
        begin, end = season_year(first), season_year(last)
        if end < begin:
            raise ConfigError(f"season={value} cannot be used: the first season comes after the last")
        return list(range(begin, end + 1))
    return sorted({season_year(each) for each in str(value).split(",")})


def season_text(season: int) -> str:
    """A season as the NBA writes it.

    >>> season_text(2000)
    '1999-00'
    """
    return f"{season - 1}-{season % 100:02d}"


def season_of(day: date | str) -> int:
    """The season that a day belongs to; the summer is the season to come.

    >>> season_of("2024-01-29")
    2024
    """
    when = date.fromisoformat(day) if isinstance(day, str) else day
    for season, (first, last) in _ODD.items():
        if first <= when <= last:
            return season
    return when.year + (when.month >= 8)


def bounds(season: int) -> tuple[date, date]:
    """The first and the last day on which a season has games, its preseason included."""
    return _ODD.get(season) or (date(season - 1, 10, 1), date(season, 6, 30))


def days(season: int, until: date | None = None) -> list[date]:
    """The days of a season, as far as they have come."""
    first, last = bounds(season)
    return between(first, min(last, until or today()))


def between(first: date, last: date) -> list[date]:
    """All days from one to another, both included."""
    return [first + timedelta(number) for number in range((last - first).days + 1)]


def last_days(number: int, until: date | None = None) -> list[date]:
    """So many days, the last of them today."""
    end = until or today()
    return between(end - timedelta(number - 1), end)


def dates(value: Any) -> list[date]:
    """The days that a parameter names: one, or a range. Raises ConfigError.

    >>> [day.isoformat() for day in dates("20240129..20240131")]
    ['2024-01-29', '2024-01-30', '2024-01-31']
    """
    match = _RANGE.fullmatch(str(value).strip())
    if match is None:
        raise ConfigError(
            f"date={str(value)[:40]} cannot be read: write a day like 2024-01-29, or days like 2024-01-29..2024-02-04"
        )
    first, last = _day(match[1]), _day(match[2] or match[1])
    if last < first:
        raise ConfigError(f"date={value} cannot be used: the first day comes after the last")
    if (last - first).days >= MOST_DAYS:
        raise ConfigError(f"date={value} cannot be used: at most {MOST_DAYS} days at once")
    return between(first, last)


def _day(text: str) -> date:
    match = _DAY.fullmatch(text)
    assert match is not None
    try:
        return date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        raise ConfigError(f"date={text} cannot be used: there is no such day") from None


def game_ids(value: Any) -> list[str]:
    """The games that a parameter names, each once: "401585285,401585286". Raises ConfigError."""
    found = list(dict.fromkeys(each.strip() for each in str(value).split(",") if each.strip()))
    for each in found:
        if not _GAME.fullmatch(each):
            raise ConfigError(f"game={each[:40]} cannot be used: write the id of a game, or several with commas")
    if not found or len(found) > MOST_GAMES:
        raise ConfigError(f"game cannot be used: it names {len(found)} games, and 1 to {MOST_GAMES} are possible")
    return found


def one_of(params: Mapping[str, Any], name: str, known: tuple[str, ...]) -> str:
    """A parameter that is one of a few words, the first unless given. Raises ConfigError."""
    given = str(params.get(name, known[0])).strip().lower()
    if given not in known:
        raise ConfigError(f"{name}={given[:40]} cannot be used: write {', '.join(known[:-1])} or {known[-1]}")
    return given
