"""The columns of ESPN's box scores, by their names: their order has changed over the years."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from gossamer.packs.nba.model import count, made_attempted, minutes, number

#: What a column is called, in ESPN's keys and in its labels -> our field. Two fields: "8-14" is split.
_FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "minutes": ("minutes",),
    "points": ("points",),
    "fieldGoalsMade-fieldGoalsAttempted": ("field_goals_made", "field_goals_attempted"),
    "threePointFieldGoalsMade-threePointFieldGoalsAttempted": ("three_pointers_made", "three_pointers_attempted"),
    "freeThrowsMade-freeThrowsAttempted": ("free_throws_made", "free_throws_attempted"),
    "rebounds": ("rebounds",),
    "totalRebounds": ("rebounds",),
    "offensiveRebounds": ("offensive_rebounds",),
    "defensiveRebounds": ("defensive_rebounds",),
    "assists": ("assists",),
    "steals": ("steals",),
    "blocks": ("blocks",),
    "turnovers": ("turnovers",),
    "fouls": ("fouls",),
    "plusMinus": ("plus_minus",),
}
_LABELS: Final = {
    "MIN": "minutes",
    "PTS": "points",
    "FG": "fieldGoalsMade-fieldGoalsAttempted",
    "3PT": "threePointFieldGoalsMade-threePointFieldGoalsAttempted",
    "3P": "threePointFieldGoalsMade-threePointFieldGoalsAttempted",
    "FT": "freeThrowsMade-freeThrowsAttempted",
    "REB": "rebounds",
    "OREB": "offensiveRebounds",
    "DREB": "defensiveRebounds",
    "AST": "assists",
    "STL": "steals",
    "BLK": "blocks",
    "TO": "turnovers",
    "PF": "fouls",
    "+/-": "plusMinus",
}
#: What only a team has.
_OF_TEAMS: Final[dict[str, tuple[str, ...]]] = {
    "totalTurnovers": ("total_turnovers",),
    "technicalFouls": ("technical_fouls",),
    "flagrantFouls": ("flagrant_fouls",),
    "turnoverPoints": ("points_off_turnovers",),
    "fastBreakPoints": ("fast_break_points",),
    "pointsInPaint": ("points_in_paint",),
    "largestLead": ("largest_lead",),
    "leadChanges": ("lead_changes",),
    "leadPercentage": ("lead_percentage",),
}


def line(keys: Any, labels: Any, values: Any) -> dict[str, Any]:
    """The fields of a player's or team's line. Columns are known by their key, or else by their label."""
    found: dict[str, Any] = {}
    cells = values[:60] if isinstance(values, list) else []
    for place, value in enumerate(cells):
        key = _named(keys, place) or _named(labels, place)
        if key is not None:
            found |= {name: each for name, each in _read(_FIELDS[key], value).items() if name not in found}
    return found


def stats(pairs: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    """The fields of a team's statistics: names and what is shown for them."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        fields = (_FIELDS.get(name) or _OF_TEAMS.get(name)) if isinstance(name, str) else None
        if fields and fields[0] not in ("points", "minutes", "plus_minus"):
            found |= _read(fields, value)
    return found


def _named(names: Any, place: int) -> str | None:
    name = names[place] if isinstance(names, list) and place < len(names) else None
    if not isinstance(name, str):
        return None
    return name if name in _FIELDS else _LABELS.get(name.strip().upper())


def _read(fields: tuple[str, ...], value: Any) -> dict[str, Any]:
    if len(fields) == 2:
        return dict(zip(fields, made_attempted(value), strict=True))
    name = fields[0]
    read = minutes(value) if name == "minutes" else number(value) if name == "lead_percentage" else count(value)
    return {name: read}
