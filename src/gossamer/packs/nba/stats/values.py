"""Values as the NBA's statistics write them: days, teams, counts, and how often something was done in a game."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

import msgspec

from gossamer.packs.nba import model, teams
from gossamer.packs.nba.stats.query import game_season, game_type

__all__ = [
    "SOURCE",
    "About",
    "day",
    "flag",
    "matchup",
    "minutes",
    "node",
    "nodes",
    "stats_of",
    "team_code",
    "team_name",
]

SOURCE: Final = "stats"

#: Our fields -> what sets of rows, nested answers, and the mobile files call them.
_FIELDS: Final = {
    "points": ("PTS", "points", "pts"),
    "field_goals_made": ("FGM", "fieldGoalsMade", "fgm"),
    "field_goals_attempted": ("FGA", "fieldGoalsAttempted", "fga"),
    "three_pointers_made": ("FG3M", "threePointersMade", "tpm"),
    "three_pointers_attempted": ("FG3A", "threePointersAttempted", "tpa"),
    "free_throws_made": ("FTM", "freeThrowsMade", "ftm"),
    "free_throws_attempted": ("FTA", "freeThrowsAttempted", "fta"),
    "offensive_rebounds": ("OREB", "reboundsOffensive", "oreb"),
    "defensive_rebounds": ("DREB", "reboundsDefensive", "dreb"),
    "rebounds": ("REB", "reboundsTotal", "reb"),
    "assists": ("AST", "assists", "ast"),
    "steals": ("STL", "steals", "stl"),
    "blocks": ("BLK", "blocks", "blk"),
    "turnovers": ("TO", "TOV", "turnovers", "tov"),
    "fouls": ("PF", "foulsPersonal", "pf"),
    "plus_minus": ("PLUS_MINUS", "plusMinusPoints", "pm"),
}
_MONTHS: Final[tuple[str, ...]] = ("%b %d, %Y", "%B %d, %Y", "%A, %B %d, %Y", "%m/%d/%Y")
_ISO: Final = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[T /].*)?", re.DOTALL)
_TENTHS: Final = re.compile(r"(\d{1,3})\.0{1,8}:(\d\d)")
_MATCHUP: Final = re.compile(r"\s*([A-Z0-9]{2,5})\s{1,3}(vs\.?|@)\s{1,3}([A-Z0-9]{2,5})\s*")


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an answer before it is read: what was asked for, and what led to the question."""

    endpoint: str
    season: int | None = None
    season_type: str | None = None
    league: str = "NBA"
    game_id: str | None = None
    team_id: str | None = None
    player_id: str | None = None
    player_name: str | None = None
    #: Of a game that a list of games led to.
    date: str | None = None
    home: str | None = None
    away: str | None = None
    #: What else was asked for, where that makes the answer another one: PerMode, MeasureType ...
    asked: Mapping[str, str] = {}

    def game(self, game: str | None) -> dict[str, Any]:
        """What the lines and plays of a game say of it, as far as it is known."""
        season = (game_season(game) if game else None) or self.season
        known = {"season": season, "source": SOURCE, "game_id": game or self.game_id}
        if self.date and self.home and self.away:
            known["game_key"] = model.game_key(self.date, self.away, self.home)
        return known

    def line(self, game: str | None) -> dict[str, Any]:
        """The same, with the day, and the part of the season."""
        return {**self.game(game), "date": self.date, "season_type": (game_type(game) if game else None)}


def day(value: Any) -> str | None:
    """A day as "2024-04-14": from that, "APR 14, 2024", "Friday, November 03, 2023" or "20241130/CLEBOS"."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    plain = " ".join(value.split()).title()
    match = _ISO.fullmatch(plain)
    text, forms = (f"{match[1]}-{match[2]}-{match[3]}", ("%Y-%m-%d",)) if match else (plain, _MONTHS)
    for form in forms:
        try:
            return datetime.strptime(text, form).date().isoformat()
        except ValueError:
            continue
    return None


def minutes(value: Any) -> float | None:
    """Minutes played; box scores of these years write "36.000000:42"."""
    match = _TENTHS.fullmatch(value) if isinstance(value, str) and len(value) < 20 else None
    return model.minutes(f"{match[1]}:{match[2]}" if match else value)


def flag(value: Any) -> bool | None:
    """Yes or no, from 1, "1", True; None for what says neither."""
    if isinstance(value, bool):
        return value
    return {"1": True, "0": False}.get(str(value))


def stats_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """The counts of a row or an object, by our names."""
    return {
        ours: model.count(next((record[name] for name in theirs if name in record), None))
        for ours, theirs in _FIELDS.items()
    }


@lru_cache(maxsize=4096)
def _known(team_id: str, season: int | None) -> teams.TeamInfo | None:
    return teams.of_nba(team_id, season)


def team_code(team_id: Any, short: Any, season: int | None) -> str | None:
    """Our code for a team: by its number; one of another league is called what the league calls it."""
    found = _known(str(team_id)[:20], season) if team_id else None
    return found.code if found else model.text(short, 10)


def team_name(city: Any, nickname: Any) -> str | None:
    """City and nickname in one."""
    return model.text(" ".join(filter(None, (model.text(city, 60), model.text(nickname, 60)))))


def matchup(record: Mapping[str, Any], season: int | None) -> tuple[str, str, bool] | None:
    """Whose row of a log it is, against whom, and whether at home: of "BOS vs. WAS", or "LAL @ DEN".

    The team that is named first is whose row it is, but for games on neutral ground, where both rows say the same.
    """
    text = record.get("MATCHUP")
    match = _MATCHUP.fullmatch(text) if isinstance(text, str) and len(text) < 40 else None
    if match is None:
        return None
    first, second, at_home = match[1], match[3], match[2] != "@"
    ours = (model.text(record.get("TEAM_ABBREVIATION"), 10), team_code(record.get("TEAM_ID"), None, season))
    if second in ours and first not in ours:
        first, second, at_home = second, first, not at_home
    return team_code(record.get("TEAM_ID"), first, season) or first, team_code(None, second, season) or second, at_home


def node(value: Any) -> Mapping[str, Any]:
    """An object of an answer; an empty one in the place of what is none."""
    return value if isinstance(value, dict) else {}


def nodes(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a list of an answer."""
    return (each for each in value if isinstance(each, dict)) if isinstance(value, list) else iter(())
