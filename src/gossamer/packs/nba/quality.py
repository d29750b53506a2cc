"""How good a record is, from 0 to 100: complete to 40 parts, consistent to 30, plausible to 30."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from gossamer import step
from gossamer.packs.nba import teams
from gossamer.packs.nba.seasons import season_of

__all__ = ["quality", "score"]

Record = dict[str, Any]
#: A rule says whether it holds; None where it does not apply.
Rule = Callable[[Record], bool | None]

COMPLETE, CONSISTENT, PLAUSIBLE = 0.4, 0.3, 0.3

_COUNTS: Final = [
    "points",
    *(f"{what}_{how}" for what in ("field_goals", "three_pointers", "free_throws") for how in ("made", "attempted")),
    *("offensive_rebounds", "defensive_rebounds", "rebounds"),
    *("assists", "steals", "blocks", "turnovers", "fouls"),
]
_GAME: Final = ["game_id", "date", "season", "season_type", "home_team", "away_team", "tipoff", "venue"]
_PLAYED: Final = [*_GAME, "home_score", "away_score", "overtimes", "attendance"]
_ABSENT: Final = ["player_id", "name", "team", "reason"]
#: Points of the most that ever were: a team's, and a player's.
_TEAM_MOST, _PLAYER_MOST = 200, 105


def score(record: Record) -> float | None:
    """The quality of a game, a player's line or a team's; None for any other record."""
    if "home_team" in record and "away_team" in record:
        over = record.get("status") == "final"
        return _scored(record, _PLAYED if over else _GAME, _GAME_RULES, _GAME_RANGES)
    if "player_id" in record and "did_not_play" in record:
        wanted = _ABSENT if record["did_not_play"] else ["player_id", "name", "team", "minutes", "starter", *_COUNTS]
        return _scored(record, wanted, _LINE_RULES, _PLAYER_RANGES)
    if "team" in record and "field_goals_made" in record:
        return _scored(record, ["game_id", "team", "opponent", "home", *_COUNTS], _LINE_RULES, _TEAM_RANGES)
    return None


@step
def quality(record: Record) -> Record:
    """Writes the quality of a record, and of those in it, into the field `quality`."""
    found = {name: _within(value) for name, value in record.items()}
    told = score(record)
    return found if told is None else {**found, "quality": told}


def _within(value: Any) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [_written(each) for each in value]
    return _written(value) if isinstance(value, dict) else value


def _written(record: Any) -> Any:
    told = score(record) if isinstance(record, dict) else None
    return record if told is None else {**record, "quality": told}


def _scored(record: Record, wanted: list[str], rules: Iterable[Rule], ranges: Iterable[Rule]) -> float:
    complete = sum(record.get(name) not in (None, "", [], ()) for name in wanted) / len(wanted)
    parts = COMPLETE * complete + CONSISTENT * _share(record, rules) + PLAUSIBLE * _share(record, ranges)
    return round(100 * parts, 1)


def _share(record: Record, rules: Iterable[Rule]) -> float:
    """Of the rules that apply, how many hold."""
    said = [each for rule in rules if (each := rule(record)) is not None]
    return sum(said) / len(said) if said else 1.0


# -- what belongs together ---------------------------------------------------------------------------------------


def _numbers(record: Record, *names: str) -> list[float] | None:
    """The values of fields; None if one is missing."""
    found = [record.get(name) for name in names]
    return found if all(isinstance(each, int | float) for each in found) else None  # type: ignore[return-value]


def _made_within(name: str) -> Rule:
    def rule(record: Record) -> bool | None:
        found = _numbers(record, f"{name}_made", f"{name}_attempted")
        return None if found is None else found[0] <= found[1]

    return rule


def _points_add_up(record: Record) -> bool | None:
    found = _numbers(record, "points", "field_goals_made", "three_pointers_made", "free_throws_made")
    return None if found is None else found[0] == 2 * found[1] + found[2] + found[3]


def _rebounds_add_up(record: Record) -> bool | None:
    found = _numbers(record, "rebounds", "offensive_rebounds", "defensive_rebounds")
    return None if found is None else found[0] == found[1] + found[2]


def _threes_are_goals(record: Record) -> bool | None:
    found = _numbers(record, "three_pointers_made", "field_goals_made")
    return None if found is None else found[0] <= found[1]


def _final_has_winner(record: Record) -> bool | None:
    if record.get("status") != "final":
        return record.get("home_score") is None and record.get("away_score") is None
    found = _numbers(record, "home_score", "away_score")
    return found is not None and found[0] != found[1]


def _periods_add_up(record: Record) -> bool | None:
    wrong = [
        sum(record[periods]) != record[total]
        for periods, total in (("home_periods", "home_score"), ("away_periods", "away_score"))
        if record.get(periods) and record.get(total) is not None
    ]
    return not any(wrong) if wrong else None


def _two_teams(record: Record) -> bool | None:
    return bool(record["home_team"] != record["away_team"])


def _season_fits(record: Record) -> bool | None:
    try:
        return season_of(str(record["date"])) == record["season"] if record.get("season") else None
    except (KeyError, ValueError):
        return None


# -- what can be -------------------------------------------------------------------------------------------------


def _between(name: str, least: float, most: float) -> Rule:
    def rule(record: Record) -> bool | None:
        found = _numbers(record, name)
        return None if found is None else least <= found[0] <= most

    return rule


def _known_team(name: str) -> Rule:
    def rule(record: Record) -> bool | None:
        if record.get("league", "NBA") != "NBA" or record.get("season_type") in ("all-star", "preseason"):
            return None
        return teams.team(record.get(name), record.get("season")) is not None

    return rule


_LINE_RULES: Final[tuple[Rule, ...]] = (
    *map(_made_within, ("field_goals", "three_pointers", "free_throws")),
    _points_add_up,
    _rebounds_add_up,
    _threes_are_goals,
)
_GAME_RULES: Final[tuple[Rule, ...]] = (_final_has_winner, _periods_add_up, _two_teams, _season_fits)
_GAME_RANGES: Final[tuple[Rule, ...]] = (
    _known_team("home_team"),
    _known_team("away_team"),
    _between("home_score", 15, _TEAM_MOST),
    _between("away_score", 15, _TEAM_MOST),
    _between("overtimes", 0, 6),
    _between("attendance", 0, 110_000),
)
#: 48 minutes, and 5 for each of six overtimes.
_PLAYER_RANGES: Final[tuple[Rule, ...]] = (
    _known_team("team"),
    _between("minutes", 0, 78),
    _between("points", 0, _PLAYER_MOST),
    _between("rebounds", 0, 60),
    _between("assists", 0, 35),
    _between("fouls", 0, 8),
)
_TEAM_RANGES: Final[tuple[Rule, ...]] = (
    _known_team("team"),
    _between("points", 15, _TEAM_MOST),
    _between("field_goals_attempted", 40, 160),
    _between("rebounds", 10, 120),
)
