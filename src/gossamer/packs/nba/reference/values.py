"""From the texts of cells to values. What is none is None; nothing here raises for what a page holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from gossamer.packs.nba import model, seasons, teams
from gossamer.packs.nba.reference.tables import Row, Table

SOURCE: Final = "reference"
#: Our names for what the site counts.
COUNTS: Final = {
    "fg": "field_goals_made",
    "fga": "field_goals_attempted",
    "fg3": "three_pointers_made",
    "fg3a": "three_pointers_attempted",
    "fg2": "two_pointers_made",
    "fg2a": "two_pointers_attempted",
    "ft": "free_throws_made",
    "fta": "free_throws_attempted",
    "orb": "offensive_rebounds",
    "drb": "defensive_rebounds",
    "trb": "rebounds",
    "ast": "assists",
    "stl": "steals",
    "blk": "blocks",
    "tov": "turnovers",
    "pf": "fouls",
    "pts": "points",
}
#: And for what it works out.
RATES: Final = {
    "fg_pct": "field_goal_percentage",
    "fg3_pct": "three_point_percentage",
    "fg2_pct": "two_point_percentage",
    "ft_pct": "free_throw_percentage",
    "efg_pct": "effective_field_goal_percentage",
    "per": "player_efficiency_rating",
    "ts_pct": "true_shooting_percentage",
    "fg3a_per_fga_pct": "three_point_attempt_rate",
    "fta_per_fga_pct": "free_throw_attempt_rate",
    "orb_pct": "offensive_rebound_percentage",
    "drb_pct": "defensive_rebound_percentage",
    "trb_pct": "rebound_percentage",
    "ast_pct": "assist_percentage",
    "stl_pct": "steal_percentage",
    "blk_pct": "block_percentage",
    "tov_pct": "turnover_percentage",
    "usg_pct": "usage_percentage",
    "ows": "offensive_win_shares",
    "dws": "defensive_win_shares",
    "ws": "win_shares",
    "ws_per_48": "win_shares_per_48",
    "obpm": "offensive_box_plus_minus",
    "dbpm": "defensive_box_plus_minus",
    "bpm": "box_plus_minus",
    "vorp": "value_over_replacement",
    "off_rtg": "offensive_rating",
    "def_rtg": "defensive_rating",
    "tpl_dbl": "triple_doubles",
}
#: Box lines have no shots from inside the arc of their own, nor rates.
LINE: Final = {stat: name for stat, name in COUNTS.items() if stat not in ("fg2", "fg2a")}

_EASTERN: Final = ZoneInfo("America/New_York")
_NUMBER: Final = re.compile(r"[-+]?(?:\d{1,12}(?:\.\d{0,12})?|\.\d{1,12})")
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d\d)\s?([ap])\.?m?", re.IGNORECASE)
_GAME: Final = re.compile(r"(\d{4})(\d\d)(\d\d)\d([A-Z]{3})")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY: Final = re.compile(r"([A-Za-z]{3})[a-z]{0,6}\.?\s(\d{1,2}),?\s(\d{4})")


def number(text: str | None) -> float | None:
    """A number as the site writes it: ".402", "+5", "1,234", "45%".

    >>> number(".402")
    0.402
    """
    plain = (text or "").strip()[:40].replace(",", "").rstrip("%").replace("\N{MINUS SIGN}", "-")
    return float(plain) if _NUMBER.fullmatch(plain) else None


def whole(text: str | None) -> int | None:
    """A whole number; None for what is none."""
    found = number(text)
    return int(found) if found is not None and found == int(found) else None


def value(text: str) -> str | float | int | None:
    """A cell as JSON has it: a number, a text, or None where it is empty."""
    found = number(text) if text[:1] in "+-.0123456789" else None
    if found is None:
        return text or None
    return int(found) if found == int(found) and "." not in text else found


def played(row: Row, table: Table) -> dict[str, Any]:
    """What somebody who played did: a blank cell is a zero, but for what nobody on the page has a number for. That was
    not counted in those days, and is None."""
    counted = table.counted
    return {
        name: whole(row.cells.get(stat)) if stat not in counted else whole(row.cells.get(stat)) or 0
        for stat, name in LINE.items()
    }


def minutes(text: str | None) -> float | None:
    """Minutes of "27:56", or of "240"."""
    return model.minutes(text)


def day(text: str | None) -> str | None:
    """The day that a text names, as ISO 8601: "Tue, Oct 17, 2017", "January 1, 2018", "2018-10-17"."""
    plain = (text or "")[:200]
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", plain.strip()):
            return date.fromisoformat(plain.strip()).isoformat()
        for match in _DAY.finditer(plain):
            if match[1].lower() in _MONTHS:
                return date(int(match[3]), _MONTHS.index(match[1].lower()) + 1, int(match[2])).isoformat()
    except ValueError:
        return None
    return None


def tipoff(on: str | None, clock: str | None) -> str | None:
    """When a game begins, in UTC: the site tells the time of the east coast, "8:01p" or "7:30 PM".

    >>> tipoff("2017-10-17", "8:01p")
    '2017-10-18T00:01:00Z'
    """
    match = _CLOCK.search((clock or "")[:40])
    if on is None or match is None or not 1 <= int(match[1]) <= 12 or int(match[2]) > 59:
        return None
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0)
    when = datetime.fromisoformat(on).replace(hour=hour, minute=int(match[2]), tzinfo=_EASTERN)
    return f"{when.astimezone(UTC):%Y-%m-%dT%H:%M:%S}Z"


def game_id(*texts: str | None) -> str | None:
    """The id of a game in the first of these that has one: a link, or what the site sorts by."""
    for text in texts:
        if text and (match := _GAME.search(text[:200])):
            return match[0]
    return None


def game_day(game: str) -> str | None:
    """The day of a game, which its id begins with."""
    match = _GAME.fullmatch(game)
    return day(f"{match[1]}-{match[2]}-{match[3]}") if match else None


def season_of(on: str | None, league: str = "nba") -> int | None:
    """The season that a day belongs to; that of a league that plays in summer is its year."""
    if on is None:
        return None
    return int(on[:4]) if league == "wnba" else seasons.season_of(on)


def team(text: str | None, season: int | None, league: str = "nba") -> str | None:
    """Our code for what the site calls a team; its own where we have none, as for other leagues."""
    plain = (text or "").strip().rstrip("*").strip()
    if not plain:
        return None
    return (teams.code(plain, season) if league == "nba" else None) or plain[:60]


def team_in(href: str | None) -> str | None:
    """The site's code of the team that a link leads to: "/teams/BRK/2018.html" is BRK."""
    match = re.search(r"/teams/([A-Z]{3})/", (href or "")[:200])
    return match[1] if match else None


def player_in(href: str | None) -> str | None:
    """The id of the player that a link leads to."""
    match = re.search(r"/players/(?:[a-z]/)?([a-z0-9.'-]{3,60}?)(?:\.html|/|$)", (href or "")[:200])
    return match[1] if match else None


def players_in(hrefs: Iterable[str]) -> tuple[str, ...]:
    """The ids of players that links lead to, each once."""
    return tuple(dict.fromkeys(found for href in hrefs if (found := player_in(href))))


def name(text: str | None) -> str:
    """A name without the mark of the hall of fame."""
    return (text or "").rstrip("*").strip()


def overtimes(text: str | None) -> int:
    """How many overtimes "OT", "2OT" or "1OT" are."""
    match = re.search(r"(\d?)OT", (text or "")[:20])
    return int(match[1] or 1) if match else 0
