"""Rows of hoopR's files as games, lines and plays. hoopR has them from ESPN: ids and codes are ESPN's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Any, Final

import msgspec

from gossamer import Item
from gossamer.packs.nba import model, teams
from gossamer.packs.nba.model import Game, Play, PlayerLine, TeamLine

__all__ = [
    "COLUMNS",
    "KINDS",
    "HooprGame",
    "HooprRow",
    "HooprSeason",
    "day_of",
    "document",
    "raw",
    "record",
    "season_list",
]

SOURCE: Final = "hoopr"
Row = Mapping[str, Any]

_SEASON_TYPES: Final = {1: "preseason", 2: "regular", 3: "playoffs", 5: "play-in"}
_STATUS: Final = {
    "STATUS_SCHEDULED": "scheduled",
    "STATUS_FINAL": "final",
    "STATUS_POSTPONED": "postponed",
    "STATUS_CANCELED": "canceled",
}
#: What shots are called in team_box and player_box.
_SHOTS: Final = {
    "field_goals_made": ("field_goals_made",),
    "field_goals_attempted": ("field_goals_attempted",),
    "three_pointers_made": ("three_point_field_goals_made", "three_point_made"),
    "three_pointers_attempted": ("three_point_field_goals_attempted", "three_point_attempted"),
    "free_throws_made": ("free_throws_made",),
    "free_throws_attempted": ("free_throws_attempted",),
    "offensive_rebounds": ("offensive_rebounds",),
    "defensive_rebounds": ("defensive_rebounds",),
    "rebounds": ("rebounds", "total_rebounds"),
    "assists": ("assists",),
    "steals": ("steals",),
    "blocks": ("blocks",),
    "turnovers": ("turnovers",),
    "fouls": ("fouls",),
}
_COUNTS: Final = tuple(name for names in _SHOTS.values() for name in names)
_OF_GAME: Final = ("game_id", "season", "season_type", "game_date")
#: Columns that are read of each dataset; files of different years have some of them.
COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "schedules": (
        *("id", "game_id", "date", "game_date", "game_date_time", "season", "season_type", "attendance"),
        *("venue_full_name", "venue_address_city", "neutral_site", "notes_headline", "notes_type"),
        *("status_type_name", "status_type_completed", "status_type_state", "status_period"),
        *(f"{side}_{what}" for side in ("home", "away") for what in ("id", "abbreviation", "display_name", "score")),
    ),
    "team_box": (
        *_OF_GAME,
        *("team_id", "team_abbreviation", "team_display_name", "team_home_away", "team_score"),
        *("opponent_team_id", "opponent_team_abbreviation", *_COUNTS),
        *("total_turnovers", "technical_fouls", "flagrant_fouls", "turnover_points", "fast_break_points"),
        *("points_in_paint", "largest_lead", "lead_changes", "lead_percentage"),
    ),
    "player_box": (
        *_OF_GAME,
        *("athlete_id", "athlete_display_name", "athlete_position_abbreviation", "athlete_jersey"),
        *("team_id", "team_abbreviation", "opponent_team_id", "opponent_team_abbreviation", "home_away"),
        *("minutes", "points", "plus_minus", "starter", "ejected", "did_not_play", "reason", *_COUNTS),
    ),
    "pbp": (
        *("id", "game_id", "sequence_number", "season", "game_date", "type_id", "type_text", "text"),
        *("period_number", "qtr", "period", "clock_display_value", "time", "team_id", "wallclock"),
        *("athlete_id_1", "athlete_id_2", "athlete_id_3", "home_score", "away_score", "scoring_play", "score_value"),
        *("shooting_play", "points_attempted", "coordinate_x", "coordinate_y", "coordinate_x_raw", "coordinate_y_raw"),
        *("home_team_id", "home_team_abbrev", "away_team_id", "away_team_abbrev"),
    ),
}


class HooprRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a file, as it came."""

    dataset: str
    source: str = SOURCE
    season: int
    game_id: str | None = None
    values: dict[str, Any] = {}


class HooprGame(msgspec.Struct, frozen=True, kw_only=True):
    """All that a dataset has of one game: what is kept as one file in a bucket."""

    dataset: str
    source: str = SOURCE
    season: int
    game_id: str
    date: str | None = None
    #: Records, or rows with all their columns where these are wanted.
    rows: list[dict[str, Any]] = []


class HooprSeason(msgspec.Struct, frozen=True, kw_only=True):
    """A season of a dataset, as the list of what is there tells of it."""

    dataset: str
    source: str = SOURCE
    season: int
    rows: int | None = None
    #: When the file was made: ISO 8601, UTC.
    made: str | None = None
    #: What it was made from.
    made_from: str | None = None


KINDS: Final[dict[str, type[msgspec.Struct]]] = {
    **model.KINDS,
    "hoopr_row": HooprRow,
    "hoopr_game": HooprGame,
    "hoopr_season": HooprSeason,
}


def record(dataset: str, row: Row, season: int) -> Game | PlayerLine | TeamLine | Play | None:
    """A row as what it tells; None for one that lacks what makes it a record."""
    read = {"schedules": _game, "team_box": _team_line, "player_box": _player_line, "pbp": _play}[dataset]
    return read(row, model.count(row.get("season")) or season)


def day_of(made: Game | PlayerLine | TeamLine | Play) -> str | None:
    """The day of the game that a record is of, where its file says so."""
    if not isinstance(made, Play):
        return made.date
    return made.game_key.partition(":")[0] if made.game_key else None


def document(dataset: str, season: int, made: Sequence[Game | PlayerLine | TeamLine | Play], rows: list[Row]) -> Item:
    """The records of one game as one: or its rows, where these are given."""
    game = made[0].game_id
    told = [{name: _plain(value) for name, value in row.items()} for row in rows]
    whole = HooprGame(
        dataset=dataset,
        season=made[0].season or season,
        game_id=game,
        date=day_of(made[0]),
        rows=told or [msgspec.to_builtins(each) for each in made],
    )
    return Item("hoopr_game", f"{dataset}:{game}", msgspec.json.encode(whole).decode())


def raw(dataset: str, row: Row, season: int, number: int) -> Item:
    """A row with all its columns; `number` is its place in the file, for what names nothing else."""
    game = _id(row.get("game_id")) or (_id(row.get("id")) if dataset == "schedules" else None)
    values = {name: _plain(value) for name, value in row.items()}
    made = HooprRow(dataset=dataset, season=season, game_id=game, values=values)
    own = {"pbp": "id", "player_box": "athlete_id", "team_box": "team_id", "schedules": "id"}[dataset]
    key = f"{dataset}:{season}:{game}:{_id(row.get(own)) or number}"
    return Item("hoopr_row", key, msgspec.json.encode(made).decode())


def season_list(dataset: str, rows: list[dict[str, Any]]) -> list[HooprSeason]:
    """What there is of a dataset: of each season the line that was written last."""
    newest: dict[int, HooprSeason] = {}
    for row in rows:
        season = model.count(row.get("season"))
        if season is None or not 1947 <= season <= 2200:
            continue
        when = (model.text(row.get("generated_at_utc"), 40) or "").removesuffix(" UTC")
        made = HooprSeason(
            dataset=dataset,
            season=season,
            rows=model.count(row.get("row_count")),
            made=model.utc(when),
            made_from=model.text(row.get("source_endpoint"), 400),
        )
        if season not in newest or (newest[season].made or "") <= (made.made or ""):
            newest[season] = made
    return [newest[season] for season in sorted(newest)]


# -- one row -------------------------------------------------------------------------------------------------------


def _game(row: Row, season: int) -> Game | None:
    game_id, begins = _id(row.get("game_id")) or _id(row.get("id")), _moment(row.get("date"))
    when = _day(row.get("game_date")) or (model.eastern_date(begins) if begins else None)
    home, away = (_team(row.get(f"{side}_id"), row.get(f"{side}_abbreviation"), season) for side in ("home", "away"))
    if not game_id or not when or not home or not away:
        return None
    status, period = _status(row), model.count(row.get("status_period"))
    over = status == "final"
    scores = {side: model.count(row.get(f"{side}_score")) for side in ("home", "away")}
    return Game(
        game_id=game_id,
        source=SOURCE,
        game_key=model.game_key(when, away, home),
        date=when,
        tipoff=begins,
        season=season,
        season_type=_season_type(row),
        home_team=home,
        away_team=away,
        home_name=model.text(row.get("home_display_name"), 120),
        away_name=model.text(row.get("away_display_name"), 120),
        home_score=scores["home"] if over else None,
        away_score=scores["away"] if over else None,
        live_home_score=scores["home"] if status == "live" else None,
        live_away_score=scores["away"] if status == "live" else None,
        status=status,
        period=period,
        overtimes=max(0, period - 4) if over and period else None,
        attendance=model.count(row.get("attendance")),
        venue=model.text(row.get("venue_full_name"), 120),
        city=model.text(row.get("venue_address_city"), 80),
        neutral=_flag(row.get("neutral_site")),
        note=model.text(row.get("notes_headline"), 200),
    )


def _status(row: Row) -> str:
    known = _STATUS.get(str(row.get("status_type_name")))
    if known is not None:
        return known
    if _flag(row.get("status_type_completed")):
        return "final"
    return "live" if row.get("status_type_state") == "in" else "scheduled"


def _team_line(row: Row, season: int) -> TeamLine | None:
    game_id = _id(row.get("game_id"))
    code = _team(row.get("team_id"), row.get("team_abbreviation"), season)
    if not game_id or not code:
        return None
    return TeamLine(
        **_line(row, game_id, code, season, row.get("team_home_away")),
        team_id=_id(row.get("team_id")),
        team_name=model.text(row.get("team_display_name"), 120),
        points=model.count(row.get("team_score")),
        **_counts(row),
        total_turnovers=model.count(row.get("total_turnovers")),
        technical_fouls=model.count(row.get("technical_fouls")),
        flagrant_fouls=model.count(row.get("flagrant_fouls")),
        points_off_turnovers=model.count(row.get("turnover_points")),
        fast_break_points=model.count(row.get("fast_break_points")),
        points_in_paint=model.count(row.get("points_in_paint")),
        largest_lead=model.count(row.get("largest_lead")),
        lead_changes=model.count(row.get("lead_changes")),
        lead_percentage=model.number(row.get("lead_percentage")),
    )


def _player_line(row: Row, season: int) -> PlayerLine | None:
    game_id, player_id = _id(row.get("game_id")), _id(row.get("athlete_id"))
    name = model.text(row.get("athlete_display_name"), 120)
    code = _team(row.get("team_id"), row.get("team_abbreviation"), season)
    if not game_id or not player_id or not name or not code:
        return None
    played = model.minutes(row.get("minutes"))
    absent = _flag(row.get("did_not_play"))
    absent = played is None if absent is None else absent
    return PlayerLine(
        **_line(row, game_id, code, season, row.get("home_away")),
        player_id=player_id,
        name=name,
        position=model.text(row.get("athlete_position_abbreviation"), 10),
        jersey=_id(row.get("athlete_jersey")),
        starter=_flag(row.get("starter")),
        did_not_play=absent,
        reason=model.text(row.get("reason"), 200) if absent else None,
        ejected=_flag(row.get("ejected")),
        minutes=None if absent else played,
        points=None if absent else model.count(row.get("points")),
        plus_minus=None if absent else model.count(row.get("plus_minus")),
        **({} if absent else _counts(row)),
    )


def _line(row: Row, game_id: str, code: str, season: int, where: Any) -> dict[str, Any]:
    """What lines of players and teams have in common."""
    opponent = _team(row.get("opponent_team_id"), row.get("opponent_team_abbreviation"), season)
    when, home = _day(row.get("game_date")), {"home": True, "away": False}.get(str(where).lower())
    key = None
    if when and opponent and home is not None:
        key = model.game_key(when, *((opponent, code) if home else (code, opponent)))
    return {
        "game_id": game_id,
        "source": SOURCE,
        "game_key": key,
        "date": when,
        "season": season,
        "season_type": _season_type(row),
        "team": code,
        "opponent": opponent,
        "home": home,
    }


def _counts(row: Row) -> dict[str, Any]:
    return {
        ours: model.count(next((row[name] for name in theirs if row.get(name) is not None), None))
        for ours, theirs in _SHOTS.items()
    }


def _play(row: Row, season: int) -> Play | None:
    game_id, play_id = _id(row.get("game_id")), _id(row.get("id"))
    if not game_id or not play_id:
        return None
    home = _team(row.get("home_team_id"), row.get("home_team_abbrev"), season)
    away = _team(row.get("away_team_id"), row.get("away_team_abbrev"), season)
    when = _day(row.get("game_date"))
    scoring, shooting = _flag(row.get("scoring_play")), _flag(row.get("shooting_play"))
    value = model.count(row.get("score_value"))
    people = (_id(row.get(f"athlete_id_{n}")) for n in (1, 2, 3))
    return Play(
        game_id=game_id,
        source=SOURCE,
        game_key=model.game_key(when, away, home) if when and home and away else None,
        season=season,
        play_id=play_id,
        sequence=model.count(row.get("sequence_number")),
        period=model.count(_first(row, "period_number", "qtr", "period")),
        clock=model.seconds(_first(row, "clock_display_value", "time")),
        text=model.text(row.get("text")),
        type=model.text(row.get("type_text"), 120),
        type_id=_id(row.get("type_id")),
        team=_team(row.get("team_id"), None, season),
        player_ids=tuple(each for each in people if each),
        home_score=model.count(row.get("home_score")),
        away_score=model.count(row.get("away_score")),
        scoring=scoring,
        points=value if scoring else 0 if shooting else None,
        points_attempted=model.count(row.get("points_attempted")) or (value if shooting and value else None),
        shooting=shooting,
        x=_place(_first(row, "coordinate_x_raw", "coordinate_x")),
        y=_place(_first(row, "coordinate_y_raw", "coordinate_y")),
        wallclock=_moment(row.get("wallclock")),
    )


# -- values --------------------------------------------------------------------------------------------------------


def _first(row: Row, *names: str) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _id(value: Any) -> str | None:
    """A number that names something; where a column has gaps, its numbers are written with a point."""
    if isinstance(value, float):
        return str(int(value)) if abs(value) < 1e15 and value == int(value) else None
    found = model.text(value, 40)
    return found.removesuffix(".0") if found else None


@lru_cache(maxsize=8192)
def _known(team_id: str | None, short: str | None, season: int) -> str | None:
    found = (teams.of_espn(team_id, season) if team_id else None) or (teams.team(short, season) if short else None)
    return found.code if found else short


def _team(team_id: Any, short: Any, season: int) -> str | None:
    return _known(_id(team_id), model.text(short, 10), season)


def _season_type(row: Row) -> str | None:
    return _SEASON_TYPES.get(model.count(row.get("season_type")) or 0)


def _flag(value: Any) -> bool | None:
    if isinstance(value, bool) or value is None:
        return value
    return {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}.get(str(value).lower())


def _day(value: Any) -> str | None:
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    text = str(value)[:10] if isinstance(value, str) else ""
    try:
        return date.fromisoformat(text).isoformat() if text else None
    except ValueError:
        return None


def _moment(value: Any) -> str | None:
    return model.utc(value.isoformat() if isinstance(value, datetime) else value)


def _place(value: Any) -> float | None:
    """Where on the court; what has no place there comes as a number beyond all measure."""
    found = model.number(value)
    return found if found is not None and abs(found) < 10_000 else None


def _plain(value: Any) -> Any:
    """A value that JSON can hold; what a column has in place of a number becomes None."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, str | int | bool | None):
        return value
    return value.isoformat() if isinstance(value, date) else str(value)[:1_000]
