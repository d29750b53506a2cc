"""Lines of players and teams, from box scores and logs of the NBA's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gossamer.packs.nba import model
from gossamer.packs.nba.model import PlayerLine, TeamLine
from gossamer.packs.nba.stats.query import game_season, game_type
from gossamer.packs.nba.stats.values import (
    SOURCE,
    About,
    day,
    flag,
    matchup,
    minutes,
    node,
    nodes,
    stats_of,
    team_code,
    team_name,
)

__all__ = ["nested", "of_log", "players", "teams"]


def players(records: Iterable[Mapping[str, Any]], about: About) -> Iterator[PlayerLine]:
    """The rows of a box score that are players."""
    rows = list(records)
    both = _codes(rows)
    for record in rows:
        game_id, player_id = model.text(record.get("GAME_ID"), 20), model.text(record.get("PLAYER_ID"), 20)
        name, why = model.text(record.get("PLAYER_NAME"), 120), model.text(record.get("COMMENT"), 200)
        season = game_season(game_id or "")
        code = team_code(record.get("TEAM_ID"), record.get("TEAM_ABBREVIATION"), season)
        if not game_id or not player_id or not name or not code:
            continue
        played = minutes(record.get("MIN"))
        position = model.text(record.get("START_POSITION"), 10)
        yield PlayerLine(
            **about.line(game_id),
            player_id=player_id,
            name=name,
            team=code,
            opponent=_other(code, both),
            home=code == about.home if about.home else None,
            position=position,
            starter=position is not None,
            did_not_play=played is None,
            reason=why,
            minutes=played,
            **(stats_of(record) if played is not None else {}),
        )


def teams(records: Iterable[Mapping[str, Any]], about: About) -> Iterator[TeamLine]:
    """The rows of a box score that are teams."""
    rows = list(records)
    both = _codes(rows)
    for record in rows:
        game_id = model.text(record.get("GAME_ID"), 20)
        code = team_code(record.get("TEAM_ID"), record.get("TEAM_ABBREVIATION"), game_season(game_id or ""))
        if not game_id or not code:
            continue
        counts = stats_of(record)
        counts.pop("plus_minus")
        yield TeamLine(
            **about.line(game_id),
            team=code,
            team_id=model.text(record.get("TEAM_ID"), 20),
            team_name=team_name(record.get("TEAM_CITY"), record.get("TEAM_NAME")),
            opponent=_other(code, both),
            home=code == about.home if about.home else None,
            **counts,
        )


def _codes(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Both teams of a game, if just two are there."""
    found = {
        team_code(each.get("TEAM_ID"), each.get("TEAM_ABBREVIATION"), game_season(str(each.get("GAME_ID"))))
        for each in rows
    }
    known = sorted(each for each in found if each)
    return known if len(known) == 2 else []


def _other(code: str, both: list[str]) -> str | None:
    return next((each for each in both if each != code), None)


# -- logs ----------------------------------------------------------------------------------------------------------


def of_log(record: Mapping[str, Any], about: About) -> PlayerLine | TeamLine | None:
    """A row of a log of games: a player's if it has one, else a team's; None where it is neither."""
    game_id, when = model.text(record.get("GAME_ID"), 20), day(record.get("GAME_DATE"))
    season = game_season(game_id or "") or about.season
    sides = matchup(record, season)
    if not game_id or not sides:
        return None
    code, opponent, home = sides
    known: dict[str, Any] = {
        "game_id": game_id,
        "source": SOURCE,
        "season": season,
        "season_type": game_type(game_id),
        "date": when,
        "game_key": model.game_key(when, *((opponent, code) if home else (code, opponent))) if when else None,
        "team": code,
        "opponent": opponent,
        "home": home,
    }
    counts = stats_of(record)
    player_id = model.text(record.get("PLAYER_ID"), 20)
    if player_id is None:
        counts.pop("plus_minus")
        number, name = model.text(record.get("TEAM_ID"), 20), model.text(record.get("TEAM_NAME"), 120)
        return TeamLine(**known, team_id=number, team_name=name, **counts)
    player = model.text(record.get("PLAYER_NAME"), 120) or about.player_name
    if player is None:  # a log of one player does not say who it is
        return None
    played = minutes(record.get("MIN"))
    return PlayerLine(**known, player_id=player_id, name=player, minutes=played, **counts)


# -- objects within objects ----------------------------------------------------------------------------------------


def nested(body: Mapping[str, Any], about: About) -> Iterator[PlayerLine | TeamLine]:
    """The lines of a box score of V3, of the live files or of the mobile ones."""
    game_id = model.text(body.get("gameId") or body.get("gid"), 20)
    if game_id is None:
        return
    season = game_season(game_id)
    home, away = (_side(body, *names) for names in (("homeTeam", "hls"), ("awayTeam", "vls")))
    codes = [_code(each, season) for each in (home, away)]
    for side, team in enumerate((home, away)):
        code = codes[side]
        if code is None:
            continue
        known = {**about.line(game_id), "team": code, "opponent": codes[1 - side], "home": side == 0}
        yield _team(team, known)
        for player in nodes(team.get("players") or team.get("pstsg")):
            line = _player(player, known)
            if line is not None:
                yield line


def _code(team: Mapping[str, Any], season: int | None) -> str | None:
    short = team.get("teamTricode") or team.get("ta")
    return team_code(team.get("teamId") or team.get("tid"), short, season)


def _team(team: Mapping[str, Any], known: Mapping[str, Any]) -> TeamLine:
    counted = node(team.get("statistics") or team.get("tstsg"))
    counts = stats_of(counted)
    counts.pop("plus_minus")
    score = model.count(team.get("score", team.get("s")))
    return TeamLine(
        **{**known, **counts, "points": counts["points"] if counts["points"] is not None else score},
        team_id=model.text(team.get("teamId") or team.get("tid"), 20),
        team_name=team_name(team.get("teamCity") or team.get("tc"), team.get("teamName") or team.get("tn")),
        total_turnovers=model.count(counted.get("turnoversTotal")),
        points_off_turnovers=model.count(counted.get("pointsFromTurnovers", counted.get("potov"))),
        fast_break_points=model.count(counted.get("pointsFastBreak", counted.get("fbpts"))),
        points_in_paint=model.count(counted.get("pointsInThePaint", counted.get("pip"))),
        largest_lead=model.count(counted.get("biggestLead", counted.get("ble"))),
        technical_fouls=model.count(counted.get("foulsTechnical", counted.get("tf"))),
    )


def _player(player: Mapping[str, Any], known: Mapping[str, Any]) -> PlayerLine | None:
    player_id = model.text(player.get("personId") or player.get("pid"), 20)
    first, last = player.get("firstName") or player.get("fn"), player.get("familyName") or player.get("ln")
    name = team_name(first, last) or model.text(player.get("name"), 120)
    if not player_id or not name:
        return None
    counted = node(player.get("statistics")) or player
    played = _played(player, counted)
    position = model.text(player.get("position") or player.get("pos"), 10)
    return PlayerLine(
        **known,
        player_id=player_id,
        name=name,
        position=position,
        jersey=model.text(player.get("jerseyNum") or player.get("num"), 4),
        starter=_starter(player, position),
        did_not_play=played is None,
        reason=model.text(player.get("comment") or player.get("notPlayingDescription") or player.get("memo"), 200),
        minutes=played,
        **(stats_of(counted) if played is not None else {}),
    )


def _played(player: Mapping[str, Any], counted: Mapping[str, Any]) -> float | None:
    """Minutes on the court; None for who was not on it."""
    if "totsec" in counted:
        total = model.count(counted["totsec"])
        return round(total / 60, 2) if total else None
    if flag(player.get("played")) is False:
        return None
    return minutes(counted.get("minutes"))


def _starter(player: Mapping[str, Any], position: str | None) -> bool | None:
    """Whether a player began: the box scores of V3 name a position of those only."""
    if "starter" in player:
        return flag(player["starter"])
    return position is not None if "statistics" in player else None


def _side(body: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    return next((each for each in (node(body.get(name)) for name in names) if each), {})
