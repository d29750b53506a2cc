"""Games and standings, from every answer of the NBA's that tells of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from gossamer.packs.nba import model
from gossamer.packs.nba.model import Game, Standing
from gossamer.packs.nba.stats.query import game_season, game_type, is_number, league_of
from gossamer.packs.nba.stats.shapes import Table
from gossamer.packs.nba.stats.values import SOURCE, About, day, flag, matchup, node, nodes, team_code, team_name

__all__ = ["of_headers", "of_logs", "of_mobile", "of_nested", "standings"]

_STATUS: Final = {1: "scheduled", 2: "live", 3: "final"}
#: Words with which a game that is not played is told, wherever its state should stand.
_OFF: Final = {"ppd": "postponed", "postponed": "postponed", "cncl": "canceled", "canceled": "canceled"}
#: Overtimes that sets of rows have columns for.
_OVERTIMES: Final = 10
_QUARTERS: Final = 4


def _game(game_id: str | None, date: str | None, home: Any, away: Any, **rest: Any) -> Game | None:
    """A game, if it is known which, when and whose; else None: a team may not have been found yet."""
    if not game_id or not is_number(game_id) or not date or not home or not away:
        return None
    status, period = rest.get("status", "scheduled"), rest.get("period")
    if status != "final":
        scores = {f"live_{side}_score": rest.pop(f"{side}_score", None) for side in ("home", "away")}
        rest |= scores if status == "live" else {}
    elif period is not None:
        rest["overtimes"] = max(0, period - rest.pop("regular", _QUARTERS))
    rest.pop("regular", None)
    return Game(
        game_id=game_id,
        source=SOURCE,
        game_key=model.game_key(date, away, home),
        league=league_of(game_id),
        date=date,
        season=game_season(game_id),
        season_type=game_type(game_id),
        home_team=home,
        away_team=away,
        **rest,
    )


def _status(number: Any, said: Any) -> str:
    word = str(said).strip().lower().split()[0] if isinstance(said, str) and said.strip() else ""
    return _OFF.get(word) or _STATUS.get(model.count(number) or 1, "scheduled")


# -- sets of rows --------------------------------------------------------------------------------------------------


def of_headers(tables: Mapping[str, Table]) -> Iterator[Game]:
    """Of a day's scoreboard, or a game's summary: a header for each game, and a line for each of its teams."""
    header = tables.get("GameHeader") or tables.get("GameSummary")
    scores = {(str(line.get("GAME_ID")), str(line.get("TEAM_ID"))): line for line in _records(tables.get("LineScore"))}
    info = next(_records(tables.get("GameInfo")), {})
    officials = _names(_records(tables.get("Officials")), "FIRST_NAME", "LAST_NAME")
    seen: set[str] = set()
    for record in _records(header):
        game_id = model.text(record.get("GAME_ID"), 20)
        if game_id and game_id not in seen:
            seen.add(game_id)
            made = _of_header(game_id, record, scores, info, officials)
            if made is not None:
                yield made


def _of_header(
    game_id: str,
    record: Mapping[str, Any],
    scores: Mapping[tuple[str, str], Mapping[str, Any]],
    info: Mapping[str, Any],
    officials: tuple[str, ...],
) -> Game | None:
    season, period = game_season(game_id), model.count(record.get("LIVE_PERIOD"))
    home_id, away_id = str(record.get("HOME_TEAM_ID")), str(record.get("VISITOR_TEAM_ID"))
    home, away = scores.get((game_id, home_id), {}), scores.get((game_id, away_id), {})
    return _game(
        game_id,
        day(record.get("GAME_DATE_EST")),
        team_code(home_id, home.get("TEAM_ABBREVIATION"), season),
        team_code(away_id, away.get("TEAM_ABBREVIATION"), season),
        home_name=_line_name(home),
        away_name=_line_name(away),
        home_score=model.count(home.get("PTS")),
        away_score=model.count(away.get("PTS")),
        status=_status(record.get("GAME_STATUS_ID"), record.get("GAME_STATUS_TEXT")),
        period=period,
        home_periods=_by_period(home, period),
        away_periods=_by_period(away, period),
        attendance=model.count(info.get("ATTENDANCE")),
        venue=model.text(record.get("ARENA_NAME"), 120),
        officials=officials,
    )


def _line_name(line: Mapping[str, Any]) -> str | None:
    return team_name(line.get("TEAM_CITY_NAME"), line.get("TEAM_NAME") or line.get("TEAM_NICKNAME"))


def _by_period(line: Mapping[str, Any], played: int | None) -> tuple[int, ...]:
    """Points by period, as many as were played: a row has columns for ten overtimes."""
    names = [f"PTS_QTR{n}" for n in range(1, _QUARTERS + 1)] + [f"PTS_OT{n}" for n in range(1, _OVERTIMES + 1)]
    return _points(line.get(name) for name in names[: min(played or 0, len(names))])


def _points(values: Iterable[Any]) -> tuple[int, ...]:
    found = tuple(model.count(value) for value in values)
    return tuple(value for value in found if value is not None) if None not in found else ()


def of_logs(records: Iterable[Mapping[str, Any]]) -> Iterator[Game]:
    """Of a log with a row for each team of each game: a game where both are there."""
    hosts: dict[str, Mapping[str, Any]] = {}
    guests: dict[str, Mapping[str, Any]] = {}
    for record in records:
        game_id = model.text(record.get("GAME_ID"), 20)
        sides = matchup(record, game_season(game_id)) if game_id else None
        if game_id and sides:
            (hosts if sides[2] else guests).setdefault(game_id, record)
    for game_id, home in hosts.items():
        away = guests.get(game_id)
        made = _of_rows(game_id, home, away) if away else None
        if made is not None:
            yield made


def _of_rows(game_id: str, home: Mapping[str, Any], away: Mapping[str, Any]) -> Game | None:
    season = game_season(game_id)
    return _game(
        game_id,
        day(home.get("GAME_DATE")),
        team_code(home.get("TEAM_ID"), home.get("TEAM_ABBREVIATION"), season),
        team_code(away.get("TEAM_ID"), away.get("TEAM_ABBREVIATION"), season),
        home_name=model.text(home.get("TEAM_NAME")),
        away_name=model.text(away.get("TEAM_NAME")),
        home_score=model.count(home.get("PTS")),
        away_score=model.count(away.get("PTS")),
        status="final" if model.text(home.get("WL")) else "live",
    )


def standings(records: Iterable[Mapping[str, Any]], about: About) -> Iterator[Standing]:
    """Where teams stand."""
    for record in records:
        season_id = model.text(record.get("SeasonID"), 8) or ""
        year = int(season_id[1:]) + 1 if season_id[1:].isdigit() and len(season_id) == 5 else about.season
        code = team_code(record.get("TeamID"), record.get("TeamName"), year)
        if code is None or year is None:
            continue
        yield Standing(
            team=code,
            source=SOURCE,
            season=year,
            season_type=about.season_type,
            team_id=model.text(record.get("TeamID"), 20),
            name=team_name(record.get("TeamCity"), record.get("TeamName")),
            conference=model.text(record.get("Conference"), 40),
            division=model.text(record.get("Division"), 40),
            seed=model.count(record.get("PlayoffRank")),
            wins=model.count(record.get("WINS")),
            losses=model.count(record.get("LOSSES")),
            win_percentage=model.number(record.get("WinPCT")),
            games_behind=model.number(record.get("ConferenceGamesBack")),
            points_for=model.number(record.get("PointsPG")),
            points_against=model.number(record.get("OppPointsPG")),
            streak=model.count(record.get("CurrentStreak")),
            home_record=model.text(record.get("HOME"), 20),
            away_record=model.text(record.get("ROAD"), 20),
            division_record=model.text(record.get("DivisionRecord"), 20),
            conference_record=model.text(record.get("ConferenceRecord"), 20),
            last_ten=model.text(record.get("L10"), 20),
            clinched=(model.text(record.get("ClinchIndicator"), 20) or "").strip("- ") or None,
        )


# -- objects within objects ----------------------------------------------------------------------------------------


def of_nested(found: Mapping[str, Any]) -> Iterator[Game]:
    """Of the scoreboards, the schedule, a summary or a box score of V3 and of the live files."""
    for name in ("scoreboard", "leagueSchedule", "boxScoreSummary", "game"):
        body = found.get(name)
        if isinstance(body, dict):
            games = _listed(body) if name in ("scoreboard", "leagueSchedule") else [body]
            yield from filter(None, map(_of_object, games))


def _listed(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from nodes(body.get("games"))
    for date in nodes(body.get("gameDates")):
        yield from nodes(date.get("games"))


def _of_object(record: Mapping[str, Any]) -> Game | None:
    game_id = model.text(record.get("gameId"), 20)
    home, away = node(record.get("homeTeam")), node(record.get("awayTeam"))
    if not game_id or not home or not away:
        return None
    season = game_season(game_id)
    begins = model.utc(record.get("gameTimeUTC") or record.get("gameDateTimeUTC"))
    arena = node(record.get("arena"))
    label = " - ".join(filter(None, (model.text(record.get(each), 80) for each in ("gameLabel", "gameSubLabel"))))
    return _game(
        game_id,
        day((model.text(record.get("gameCode"), 40) or "")[:8]) or (model.eastern_date(begins) if begins else None),
        team_code(home.get("teamId"), home.get("teamTricode"), season),
        team_code(away.get("teamId"), away.get("teamTricode"), season),
        tipoff=begins,
        home_name=team_name(home.get("teamCity"), home.get("teamName")),
        away_name=team_name(away.get("teamCity"), away.get("teamName")),
        home_score=model.count(home.get("score")),
        away_score=model.count(away.get("score")),
        status=_status(record.get("gameStatus"), record.get("gameStatusText")),
        period=model.count(record.get("period")),
        regular=model.count(record.get("regulationPeriods")) or _QUARTERS,
        home_periods=_points(each.get("score") for each in nodes(home.get("periods"))),
        away_periods=_points(each.get("score") for each in nodes(away.get("periods"))),
        attendance=model.count(record.get("attendance")),
        venue=model.text(arena.get("arenaName") or record.get("arenaName"), 120),
        city=model.text(arena.get("arenaCity") or record.get("arenaCity"), 80),
        neutral=flag(record.get("isNeutral")),
        officials=_names(nodes(record.get("officials")), "firstName", "familyName"),
        note=label or None,
    )


def of_mobile(found: Mapping[str, Any]) -> Iterator[Game]:
    """Of a game's file for the mobile apps."""
    game = node(found.get("g"))
    home, away = node(game.get("hls")), node(game.get("vls"))
    game_id = model.text(game.get("gid"), 20)
    if not game_id or not home or not away:
        return
    season, period = game_season(game_id), model.count(game.get("p"))
    referees = nodes(node(game.get("offs")).get("off"))
    made = _game(
        game_id,
        day(game.get("gdte")),
        team_code(home.get("tid"), home.get("ta"), season),
        team_code(away.get("tid"), away.get("ta"), season),
        tipoff=model.utc(f"{game.get('gdtutc')}T{game.get('utctm')}"),
        home_name=team_name(home.get("tc"), home.get("tn")),
        away_name=team_name(away.get("tc"), away.get("tn")),
        home_score=model.count(home.get("s")),
        away_score=model.count(away.get("s")),
        status=_status(game.get("st"), game.get("stt")),
        period=period,
        home_periods=_of_letters(home, period),
        away_periods=_of_letters(away, period),
        attendance=model.count(game.get("at")),
        venue=model.text(game.get("an"), 120),
        city=model.text(game.get("ac"), 80),
        officials=_names(referees, "fn", "ln"),
    )
    if made is not None:
        yield made


def _of_letters(team: Mapping[str, Any], played: int | None) -> tuple[int, ...]:
    names = [f"q{n}" for n in range(1, _QUARTERS + 1)] + [f"ot{n}" for n in range(1, _OVERTIMES + 1)]
    return _points(team.get(name) for name in names[: min(played or 0, len(names))])


# -- small things --------------------------------------------------------------------------------------------------


def _records(table: Table | None) -> Iterator[dict[str, Any]]:
    return table.records() if table is not None else iter(())


def _names(records: Iterable[Mapping[str, Any]], first: str, last: str) -> tuple[str, ...]:
    found = (team_name(record.get(first), record.get(last)) for record in records)
    return tuple(name for name in found if name)[:20]
