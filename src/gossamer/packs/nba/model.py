"""What games, box lines, plays, teams and standings are, for every source of the pack."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

import msgspec

from gossamer import Item

__all__ = [
    "KINDS",
    "BoxScore",
    "Game",
    "Play",
    "PlayByPlay",
    "PlayerLine",
    "Schedule",
    "Standing",
    "Team",
    "TeamLine",
    "TeamStats",
    "count",
    "eastern_date",
    "game_key",
    "item",
    "made_attempted",
    "minutes",
    "number",
    "seconds",
    "text",
    "utc",
]

#: What is counted is never below zero.
Count = Annotated[int, msgspec.Meta(ge=0)]
Minutes = Annotated[float, msgspec.Meta(ge=0, le=200)]
Year = Annotated[int, msgspec.Meta(ge=1947, le=2200)]
Percent = Annotated[float, msgspec.Meta(ge=0, le=100)]
Day = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\d$")]

#: The league's days are those of the east coast: a game that begins at 03:00 UTC is of the evening before.
_EASTERN: Final = ZoneInfo("America/New_York")


class Game(msgspec.Struct, frozen=True, kw_only=True):
    """One game, to come, being played or over. What a source does not say is None."""

    #: What the source calls it; ids differ between sources.
    game_id: str
    #: espn, reference, stats or hoopr.
    source: str
    #: The same for the same game in every source: "2024-01-29:NYK@CHA".
    game_key: str | None = None
    #: NBA, WNBA ...
    league: str = "NBA"
    #: The day of the game where the league counts days, in the east of the US.
    date: Day
    #: When it begins: ISO 8601, UTC.
    tipoff: str | None = None
    #: The year in which the season ends.
    season: Year | None = None
    #: preseason, regular, playoffs, play-in, all-star or cup-final.
    season_type: str | None = None
    #: Our one code for each team, as the NBA writes it: BKN, CHA, PHX, GSW.
    home_team: str
    away_team: str
    home_name: str | None = None
    away_name: str | None = None
    #: What counts: None until the game is over.
    home_score: Count | None = None
    away_score: Count | None = None
    #: How it stands while it is being played; None before and after.
    live_home_score: Count | None = None
    live_away_score: Count | None = None
    #: scheduled, live, final, postponed or canceled.
    status: str = "scheduled"
    #: The period it is in, or ended in.
    period: Count | None = None
    #: Overtimes that were played; None until the game is over.
    overtimes: Count | None = None
    #: Points of each period.
    home_periods: tuple[Count, ...] = ()
    away_periods: tuple[Count, ...] = ()
    attendance: Count | None = None
    venue: str | None = None
    city: str | None = None
    neutral: bool | None = None
    officials: tuple[str, ...] = ()
    #: What is special about it: "NBA Finals - Game 7".
    note: str | None = None
    url: str | None = None
    #: How complete, consistent and plausible the record is: 0 to 100.
    quality: Percent | None = None


class PlayerLine(msgspec.Struct, frozen=True, kw_only=True):
    """What one player did in one game."""

    game_id: str
    source: str
    game_key: str | None = None
    date: Day | None = None
    season: Year | None = None
    season_type: str | None = None
    player_id: str
    name: str
    team: str
    opponent: str | None = None
    home: bool | None = None
    position: str | None = None
    jersey: str | None = None
    starter: bool | None = None
    did_not_play: bool = False
    #: Why not: "COACH'S DECISION".
    reason: str | None = None
    ejected: bool | None = None
    #: More than 48 where there was overtime.
    minutes: Minutes | None = None
    points: Count | None = None
    field_goals_made: Count | None = None
    field_goals_attempted: Count | None = None
    three_pointers_made: Count | None = None
    three_pointers_attempted: Count | None = None
    free_throws_made: Count | None = None
    free_throws_attempted: Count | None = None
    offensive_rebounds: Count | None = None
    defensive_rebounds: Count | None = None
    rebounds: Count | None = None
    assists: Count | None = None
    steals: Count | None = None
    blocks: Count | None = None
    turnovers: Count | None = None
    fouls: Count | None = None
    plus_minus: int | None = None
    quality: Percent | None = None


class TeamLine(msgspec.Struct, frozen=True, kw_only=True):
    """What one team did in one game."""

    game_id: str
    source: str
    game_key: str | None = None
    date: Day | None = None
    season: Year | None = None
    season_type: str | None = None
    #: Our code, and what the source calls the team.
    team: str
    team_id: str | None = None
    team_name: str | None = None
    opponent: str | None = None
    home: bool | None = None
    #: The score of the game: sources leave it out of what they call team statistics.
    points: Count | None = None
    field_goals_made: Count | None = None
    field_goals_attempted: Count | None = None
    three_pointers_made: Count | None = None
    three_pointers_attempted: Count | None = None
    free_throws_made: Count | None = None
    free_throws_attempted: Count | None = None
    offensive_rebounds: Count | None = None
    defensive_rebounds: Count | None = None
    rebounds: Count | None = None
    assists: Count | None = None
    steals: Count | None = None
    blocks: Count | None = None
    #: Those of players; with those of nobody, it is total_turnovers.
    turnovers: Count | None = None
    total_turnovers: Count | None = None
    fouls: Count | None = None
    technical_fouls: Count | None = None
    flagrant_fouls: Count | None = None
    points_off_turnovers: Count | None = None
    fast_break_points: Count | None = None
    points_in_paint: Count | None = None
    largest_lead: Count | None = None
    lead_changes: Count | None = None
    #: Of the time of the game, how much the team led.
    lead_percentage: Percent | None = None
    quality: Percent | None = None


class Play(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a game's play-by-play."""

    game_id: str
    source: str
    game_key: str | None = None
    season: Year | None = None
    play_id: str
    #: Its place in the game, where the source counts.
    sequence: Count | None = None
    period: Count | None = None
    #: Seconds left in the period.
    clock: Annotated[float, msgspec.Meta(ge=0)] | None = None
    text: str | None = None
    #: What happened, in the source's words: "Jump Shot".
    type: str | None = None
    type_id: str | None = None
    #: Whose play it is.
    team: str | None = None
    #: Who took part: first the one it is about.
    player_ids: tuple[str, ...] = ()
    #: The score after it.
    home_score: Count | None = None
    away_score: Count | None = None
    scoring: bool | None = None
    #: Points made, and points that were tried for.
    points: Count | None = None
    points_attempted: Count | None = None
    shooting: bool | None = None
    #: Where on the court, as the source measures.
    x: float | None = None
    y: float | None = None
    #: When it was: ISO 8601, UTC.
    wallclock: str | None = None


class Team(msgspec.Struct, frozen=True, kw_only=True):
    """One team, as a source lists it."""

    #: Our code.
    team: str
    source: str
    #: What the source calls it.
    team_id: str
    name: str
    city: str | None = None
    nickname: str | None = None
    #: The source's own short name.
    source_code: str | None = None
    conference: str | None = None
    division: str | None = None
    #: The current code of the franchise, where it had others.
    franchise: str | None = None
    active: bool | None = None
    url: str | None = None


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Where one team stands in one season."""

    team: str
    source: str
    season: Year
    season_type: str | None = None
    team_id: str | None = None
    name: str | None = None
    conference: str | None = None
    division: str | None = None
    #: The place in the conference that decides the playoffs.
    seed: Count | None = None
    wins: Count | None = None
    losses: Count | None = None
    #: Of all games, how many were won: 0 to 1.
    win_percentage: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    games_behind: float | None = None
    #: Of a game, on average.
    points_for: float | None = None
    points_against: float | None = None
    #: Above zero: wins in a row; below: losses.
    streak: int | None = None
    home_record: str | None = None
    away_record: str | None = None
    division_record: str | None = None
    conference_record: str | None = None
    last_ten: str | None = None
    #: What is decided: "z" for the best of the conference.
    clinched: str | None = None


class BoxScore(msgspec.Struct, frozen=True, kw_only=True):
    """A game with the lines of both teams and all players: one document for each game."""

    game_id: str
    source: str
    season: Year | None = None
    date: Day | None = None
    game: Game
    teams: tuple[TeamLine, ...] = ()
    players: tuple[PlayerLine, ...] = ()


class TeamStats(msgspec.Struct, frozen=True, kw_only=True):
    """The lines of both teams: one document for each game."""

    game_id: str
    source: str
    season: Year | None = None
    date: Day | None = None
    teams: tuple[TeamLine, ...] = ()


class PlayByPlay(msgspec.Struct, frozen=True, kw_only=True):
    """All plays of a game: one document for each game."""

    game_id: str
    source: str
    season: Year | None = None
    date: Day | None = None
    plays: tuple[Play, ...] = ()


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """The games of one day: one document for each day."""

    date: Day
    source: str
    #: The day as keys of files write it: 20240129.
    day: str
    season: Year | None = None
    games: tuple[Game, ...] = ()


#: What the items of each model are filed as, and the fields that make their key.
KEYS: Final[dict[type[msgspec.Struct], tuple[str, tuple[str, ...]]]] = {
    Game: ("game", ("game_id",)),
    PlayerLine: ("player_line", ("game_id", "player_id")),
    TeamLine: ("team_line", ("game_id", "team")),
    Play: ("play", ("game_id", "play_id")),
    Team: ("team", ("team_id",)),
    Standing: ("standing", ("season", "team")),
    BoxScore: ("box_score", ("game_id",)),
    TeamStats: ("team_stats", ("game_id",)),
    PlayByPlay: ("play_by_play", ("game_id",)),
    Schedule: ("schedule", ("date",)),
}

#: What a scraper of the pack holds its records against: `item = KINDS`.
KINDS: Final[dict[str, type[msgspec.Struct]]] = {kind: model for model, (kind, _) in KEYS.items()}


def item(record: msgspec.Struct) -> Item:
    """A record of one of the models above as an item, under the kind and key it has in every scraper of the pack."""
    kind, fields = KEYS[type(record)]
    key = ":".join(str(getattr(record, name)) for name in fields)
    return Item(kind, key, msgspec.json.encode(record).decode())


def game_key(date: str, away: str, home: str) -> str:
    """What a game is called in every source: its day, and who played whom.

    >>> game_key("2024-01-29", "NYK", "CHA")
    '2024-01-29:NYK@CHA'
    """
    return f"{date}:{away}@{home}"


# -- reading values ----------------------------------------------------------------------------------------------

_NUMBER: Final = re.compile(r"[-+]?\d{1,12}(?:\.\d{1,12})?")
_CLOCK: Final = re.compile(r"(\d{1,4}):(\d{1,2}(?:\.\d{1,6})?)")
_ISO_DURATION: Final = re.compile(r"PT(?:(\d{1,5})M)?(?:(\d{1,5}(?:\.\d{1,6})?)S)?")
_PAIR: Final = re.compile(r"\s{0,4}(\d{1,5})\s{0,4}[-/]\s{0,4}(\d{1,5})\s{0,4}")
#: Letters of a text that is kept.
LONGEST: Final = 2_000


def text(value: Any, longest: int = LONGEST) -> str | None:
    """A text or number as tidy text; None for anything else, and for nothing."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return " ".join(str(value)[: longest * 2].split())[:longest].rstrip() or None


def number(value: Any) -> float | None:
    """A number, from one or from its text ("1,234", "+7", "45%"); None for what is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e12 else None  # neither is nan
    if not isinstance(value, str):
        return None
    plain = value.strip()[:40].replace(",", "").rstrip("%").replace("\N{MINUS SIGN}", "-")
    return float(plain) if _NUMBER.fullmatch(plain) else None


def count(value: Any) -> int | None:
    """A whole number, from one or from its text: "21", 107.0, "+7"; None for what is none."""
    found = number(value)
    return int(found) if found is not None and found == int(found) else None


def made_attempted(value: Any) -> tuple[int | None, int | None]:
    """What "8-14" says: 8 made, 14 attempted.

    >>> made_attempted("8-14")
    (8, 14)
    """
    match = _PAIR.fullmatch(value) if isinstance(value, str) and len(value) < 40 else None
    return (int(match[1]), int(match[2])) if match else (None, None)


def seconds(value: Any) -> float | None:
    """Seconds of a clock: "11:39", "23.4", "PT11M39.00S" or 699."""
    if isinstance(value, str) and len(value) < 40:
        plain = value.strip()
        if match := _CLOCK.fullmatch(plain):
            return int(match[1]) * 60 + float(match[2])
        if plain != "PT" and (match := _ISO_DURATION.fullmatch(plain)):
            return int(match[1] or 0) * 60 + float(match[2] or 0)
        if plain.startswith(":"):
            return number(plain[1:])
    found = number(value)
    return found if found is not None and found >= 0 else None


def minutes(value: Any) -> float | None:
    """Minutes played: 38, "38", "38:24", "PT38M24.00S". More than 48 where there was overtime.

    >>> minutes("60:07")
    60.12
    """
    if isinstance(value, str) and (":" in value or value.strip().startswith("PT")):
        found = seconds(value)
        return None if found is None else round(found / 60, 2)
    found = number(value)
    return found if found is not None and 0 <= found <= 200 else None


def utc(value: Any) -> str | None:
    """A moment as ISO 8601 in UTC: "2024-01-30T00:00:00Z". One without a zone is taken for UTC."""
    if not isinstance(value, str) or not 16 <= len(value.strip()) <= 40:
        return None
    try:
        when = datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
        when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return f"{when:%Y-%m-%dT%H:%M:%S}Z"


def eastern_date(moment: str) -> str | None:
    """The day of a moment where the league counts days.

    >>> eastern_date("2024-01-30T00:00:00Z")
    '2024-01-29'
    """
    try:
        when = datetime.fromisoformat(moment.replace("Z", "+00:00"))
        return when.astimezone(_EASTERN).date().isoformat()
    except (ValueError, OverflowError):
        return None
