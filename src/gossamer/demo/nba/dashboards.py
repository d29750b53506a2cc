"""Answers of the endpoints of stats.nba.com that nobody invented by hand: box scores of all sorts, dashboards, lists.

Their numbers mean nothing, but add up to what every answer of the sort has: who it is about, and some columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gossamer.demo.nba.league import Game, Line
from gossamer.packs.nba import teams
from gossamer.packs.nba.stats.catalogue import ENDPOINTS

__all__ = ["answer"]

_SEASON = 2024
#: What is in the name of a box score -> what it is called within nested answers, and some of what it tells.
_BOXES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "traditional": ("boxScoreTraditional", ("points", "assists", "reboundsTotal")),
    "advanced": ("boxScoreAdvanced", ("offensiveRating", "defensiveRating", "pace")),
    "fourfactors": ("boxScoreFourFactors", ("effectiveFieldGoalPercentage", "freeThrowAttemptRate")),
    "misc": ("boxScoreMisc", ("pointsOffTurnovers", "pointsFastBreak", "pointsPaint")),
    "scoring": ("boxScoreScoring", ("percentagePoints2pt", "percentagePoints3pt")),
    "usage": ("boxScoreUsage", ("usagePercentage", "percentageFieldGoalsAttempted")),
    "defensive": ("boxScoreDefensive", ("matchupMinutes", "defensiveRebounds", "switchesOn")),
    "playertrack": ("boxScorePlayerTrack", ("speed", "distance", "touches")),
    "hustle": ("boxScoreHustle", ("contestedShots", "deflections", "screenAssists")),
    "matchups": ("boxScoreMatchups", ("matchupMinutesSort", "partialPossessions", "playerPoints")),
}
#: Box scores of V2 that are nested nevertheless.
_NESTED = ("boxscoredefensivev2", "boxscorehustlev2")


def answer(name: str, given: Mapping[str, str], games: Sequence[Game]) -> dict[str, Any] | None:
    """What an endpoint of the catalogue answers; None for a game or somebody that is not of the invented season."""
    endpoint = ENDPOINTS[name]
    played = [game for game in games if game.status == "final"]
    if endpoint.scope == "game":
        game = next((each for each in games if each.nba_id == given.get("GameID")), None)
        return _of_game(name, game) if game is not None else None
    people = _people(played)
    if endpoint.scope == "player" and "PlayerID" in endpoint.needs:
        people = [each for each in people if each[0].player.id == given.get("PlayerID")]
    if endpoint.scope == "team":
        return _teams(name, [given.get("TeamID", "")])
    if "team" in name:
        return _teams(name, sorted({_id(team) for game in played for team in (game.home, game.away)}))
    rows = [[int(line.player.id), line.player.name, int(_id(team)), team, *_numbers(line)] for line, team in people]
    columns = ("PLAYER_ID", "PLAYER_NAME", "TEAM_ID", "TEAM_ABBREVIATION", "GP", "MIN", "PTS")
    return _sets(name, ("Invented", columns, rows))


def _of_game(name: str, game: Game) -> dict[str, Any]:
    about = next((each for each in _BOXES if each in name and name.startswith("boxscore")), None)
    if about is None:
        rows = [[game.nba_id, place, _id(team), team] for place, team in enumerate((game.home, game.away), 1)]
        return _sets(name, ("Invented", ("GAME_ID", "EVENT_NUM", "TEAM_ID", "TEAM_ABBREVIATION"), rows))
    called, columns = _BOXES[about]
    if name.endswith("v3") or name in _NESTED:
        sides = {
            side: {
                "teamId": int(_id(team)),
                "teamTricode": team,
                "players": [_player(line, columns) for line in game.lines.get(team, [])],
                "statistics": dict(zip(columns, _values(len(team), columns), strict=True)),
            }
            for side, team in (("homeTeam", game.home), ("awayTeam", game.away))
        }
        return {"meta": {"version": 1}, called: {"gameId": game.nba_id, **sides}}
    return _box_sets(name, game, columns)


def _box_sets(name: str, game: Game, columns: Sequence[str]) -> dict[str, Any]:
    """The same as sets of rows, as V2 has them."""
    own = tuple("PTS" if each == "points" else each.upper() for each in columns)
    head = ("GAME_ID", "TEAM_ID", "TEAM_ABBREVIATION")
    lines = [(team, line) for team in (game.home, game.away) for line in game.lines.get(team, [])]
    players = [
        [
            *(game.nba_id, int(_id(team)), team, int(line.player.id), line.player.name),
            line.player.position[-1] if line.starter else "",
            f"{line.minutes}:00" if line.played else None,
            *_values(line.points, columns),
        ]
        for team, line in lines
    ]
    sides = [
        [game.nba_id, int(_id(team)), team, f"{240 + 25 * game.overtimes}:00", *_values(game.score(team), columns)]
        for team in (game.home, game.away)
    ]
    return _sets(
        name,
        ("PlayerStats", (*head, "PLAYER_ID", "PLAYER_NAME", "START_POSITION", "MIN", *own), players),
        ("TeamStats", (*head, "MIN", *own), sides),
    )


def _player(line: Line, columns: Sequence[str]) -> dict[str, Any]:
    first, _, last = line.player.name.partition(" ")
    return {
        "personId": int(line.player.id),
        "firstName": first,
        "familyName": last,
        "position": line.player.position[-1] if line.starter else "",
        "statistics": {
            "minutes": f"{line.minutes}:00" if line.played else "",
            **dict(zip(columns, _values(line.points, columns), strict=True)),
        },
    }


def _values(number: int, columns: Sequence[str]) -> list[Any]:
    """The first is what it is about, the others are something of it."""
    return [number, *(round(number / (place + 2), 1) for place in range(len(columns) - 1))]


def _people(played: Sequence[Game]) -> list[tuple[Line, str]]:
    found = {line.player.id: (line, team) for game in played for team, lines in game.lines.items() for line in lines}
    return list(found.values())


def _numbers(line: Line) -> Iterator[int]:
    yield from (1 if line.played else 0, line.minutes if line.played else 0, line.points if line.played else 0)


def _teams(name: str, ids: Sequence[str]) -> dict[str, Any]:
    found = [teams.of_nba(each, _SEASON) for each in ids]
    rows = [[int(each.nba_id or 0), each.name, each.code, 82] for each in found if each is not None]
    return _sets(name, ("Invented", ("TEAM_ID", "TEAM_NAME", "TEAM_ABBREVIATION", "GP"), rows))


def _id(team: str) -> str:
    found = teams.team(team, _SEASON)
    return (found.nba_id if found else None) or "0"


def _sets(name: str, *sets: tuple[str, Sequence[str], list[list[Any]]]) -> dict[str, Any]:
    found = [{"name": title, "headers": list(headers), "rowSet": rows} for title, headers, rows in sets]
    return {"resource": name, "parameters": {}, "resultSets": found}
