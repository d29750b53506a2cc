"""Answers in the shapes of the NBA's statistics: the week of the invented season again, and hoopR's files of it.

The host is as particular as the real one: who leaves a parameter out, or comes without the headers of a browser, gets
nothing that could be read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

from gossamer.demo.nba import dashboards, hoopr, league
from gossamer.demo.nba.league import DAYS, Game, Line
from gossamer.packs.nba import teams
from gossamer.packs.nba.stats.catalogue import ENDPOINTS
from gossamer.testing import Answer, Hit, Site

_STATS, _LIVE, _MOBILE = "stats.nba.com", "cdn.nba.com", "data.nba.com"
#: The hosts they stand in for.
HOSTS: tuple[str, ...] = (_STATS, _LIVE, _MOBILE, *hoopr.HOSTS)
_ASKED = (
    "scoreboardv3,boxscoresummaryv2,boxscoretraditionalv3,playbyplayv3,liveboxscore,mobileplaybyplay,leaguestandingsv3,"
    "leagueleaders,leaguedashplayershotlocations,videodetails"
)
#: What scrapers are asked for here, by name.
PARAMS: Mapping[str, Mapping[str, str]] = {
    "nba.stats": {"endpoint": _ASKED, "date": f"{DAYS[0]}..{DAYS[2]}"},
    "nba.hoopr": hoopr.PARAMS,
}
_SEASON = 2024
_STATUS = {"scheduled": 1, "postponed": 1, "live": 2, "final": 3}
_SAID = {"final": "Final", "live": "Halftime", "scheduled": "8:30 pm ET", "postponed": "PPD"}


def install(site: Site) -> None:
    """Add the answers and files to a site, each host below a path of its own name."""
    site.handler(f"/{_STATS}/stats/*", _stats)
    live = f"/{_LIVE}/static/json/liveData"
    site.json(f"{live}/scoreboard/todaysScoreboard_00.json", {"meta": {"code": 200}, **_scoreboard(DAYS[-1])})
    for played in _games():
        site.json(f"{live}/boxscore/boxscore_{played.nba_id}.json", _live_box(played))
        site.json(f"{live}/playbyplay/playbyplay_{played.nba_id}.json", _actions(played, live=True))
        scores = f"/{_MOBILE}/data/v2015/json/mobile_teams/nba/{_SEASON - 1}/scores"
        site.json(f"{scores}/gamedetail/{played.nba_id}_gamedetail.json", _mobile_game(played))
        site.json(f"{scores}/pbp/{played.nba_id}_full_pbp.json", _mobile_plays(played))
    hoopr.install(site)


@cache
def _games() -> tuple[Game, ...]:
    return tuple(league.game(number) for number in range(len(league.GAMES)))


def _played() -> list[Game]:
    return [each for each in _games() if each.status == "final"]


def _id(team: str) -> int:
    found = teams.team(team, _SEASON)
    return int(found.nba_id or 0) if found else 0


def _names(team: str) -> tuple[str, str]:
    found = teams.team(team, _SEASON)
    return (found.city, found.nickname) if found else ("", "")


# -- stats.nba.com -------------------------------------------------------------------------------------------------


def _stats(hit: Hit) -> Answer:
    asked = urlsplit(hit.path)
    name = asked.path.rpartition("/")[2]
    given = {key: values[0] for key, values in parse_qs(asked.query, keep_blank_values=True).items()}
    if "nba.com" not in hit.headers.get("referer", ""):
        return Answer(fault="hang")
    missing = sorted(ENDPOINTS[name].knows - set(given)) if name in ENDPOINTS else []
    if missing:
        return Answer(
            status=400, body=f"The {missing[0]} property is required.", headers={"Content-Type": "text/plain"}
        )
    made = _ANSWERS.get(name)
    if made is None and name not in ENDPOINTS:
        return _json({"Message": "No such thing was invented for the demo."})
    found = made(given) if made else dashboards.answer(name, given, _games())
    return _json(found) if found is not None else Answer(status=500, body="{}")


def _json(data: object) -> Answer:
    return Answer(body=json.dumps(data), headers={"Content-Type": "application/json; charset=utf-8"})


def _sets(name: str, *sets: tuple[str, Sequence[str], list[list[Any]]]) -> dict[str, Any]:
    found = [{"name": title, "headers": list(headers), "rowSet": rows} for title, headers, rows in sets]
    return {"resource": name, "parameters": {}, "resultSets": found}


def _one(given: Mapping[str, str]) -> Game | None:
    return next((each for each in _games() if each.nba_id == given.get("GameID")), None)


def _scoreboard(day: str) -> dict[str, Any]:
    games = [_nested_game(each) for each in _games() if each.date == day]
    return {"scoreboard": {"gameDate": day, "leagueId": "00", "leagueName": "Invented League", "games": games}}


def _nested_game(game: Game) -> dict[str, Any]:
    teams_of = {
        side: {
            **_nested_team(team),
            "score": game.score(team),
            "wins": 20,
            "losses": 21,
            "periods": _periods(game, team),
        }
        for side, team in (("homeTeam", game.home), ("awayTeam", game.away))
    }
    return {
        "gameId": game.nba_id,
        "gameCode": f"{game.date.replace('-', '')}/{game.away}{game.home}",
        "gameStatus": _STATUS[game.status],
        "gameStatusText": _SAID[game.status],
        "period": len(game.periods(game.home)),
        "gameClock": "",
        "gameTimeUTC": f"{game.begins[:-1]}:00Z",
        "regulationPeriods": 4,
        "gameLabel": "",
        "gameSubLabel": "",
        "isNeutral": False,
        **teams_of,
    }


def _nested_team(team: str) -> dict[str, Any]:
    city, nickname = _names(team)
    return {"teamId": _id(team), "teamCity": city, "teamName": nickname, "teamTricode": team}


def _periods(game: Game, team: str) -> list[dict[str, Any]]:
    made = game.periods(team)
    return [
        {"period": n, "periodType": "REGULAR" if n <= 4 else "OVERTIME", "score": points}
        for n, points in enumerate(made, 1)
    ]


_LINE_SCORE = (
    *("GAME_DATE_EST", "GAME_SEQUENCE", "GAME_ID", "TEAM_ID", "TEAM_ABBREVIATION", "TEAM_CITY_NAME", "TEAM_NAME"),
    *(f"PTS_QTR{n}" for n in range(1, 5)),
    *(f"PTS_OT{n}" for n in range(1, 11)),
    "PTS",
)
_HEADER = (
    *("GAME_DATE_EST", "GAME_SEQUENCE", "GAME_ID", "GAME_STATUS_ID", "GAME_STATUS_TEXT", "GAMECODE"),
    *("HOME_TEAM_ID", "VISITOR_TEAM_ID", "SEASON", "LIVE_PERIOD"),
)


def _headers_and_scores(games: list[Game]) -> tuple[list[list[Any]], list[list[Any]]]:
    headers, scores = [], []
    for n, game in enumerate(games, 1):
        day, code = f"{game.date}T00:00:00", f"{game.date.replace('-', '')}/{game.away}{game.home}"
        status, period = _STATUS[game.status], len(game.periods(game.home))
        home, away = _id(game.home), _id(game.away)
        headers.append([day, n, game.nba_id, status, _SAID[game.status], code, home, away, "2023", period])
        for team in (game.away, game.home):
            made = game.periods(team)
            total = game.score(team) if made else None
            points = [*made, *([0] * (14 - len(made)))] if made else [None] * 14
            scores.append([day, n, game.nba_id, _id(team), team, *_names(team), *points, total])
    return headers, scores


def _scoreboard_v2(given: Mapping[str, str]) -> dict[str, Any]:
    headers, scores = _headers_and_scores([each for each in _games() if each.date == given["GameDate"]])
    return _sets("scoreboardV2", ("GameHeader", _HEADER, headers), ("LineScore", _LINE_SCORE, scores))


def _summary(given: Mapping[str, str]) -> dict[str, Any] | None:
    game = _one(given)
    if game is None:
        return None
    headers, scores = _headers_and_scores([game])
    return _sets(
        "boxscoresummary",
        ("GameSummary", _HEADER, headers),
        ("Officials", ("OFFICIAL_ID", "FIRST_NAME", "LAST_NAME", "JERSEY_NUM"), [[9001, "Quill", "Marrow", "7"]]),
        ("GameInfo", ("GAME_DATE", "ATTENDANCE", "GAME_TIME"), [[game.date, game.attendance, "2:21"]]),
        ("LineScore", _LINE_SCORE, scores),
    )


def _summary_v3(given: Mapping[str, str]) -> dict[str, Any] | None:
    game = _one(given)
    return {"meta": {"version": 1}, "boxScoreSummary": _nested_game(game)} if game else None


def _schedule(given: Mapping[str, str]) -> dict[str, Any]:
    dates = [
        {"gameDate": f"{day} 00:00:00", "games": [_nested_game(each) for each in _games() if each.date == day]}
        for day in DAYS
    ]
    return {"meta": {"version": 1}, "leagueSchedule": {"seasonYear": "2023-24", "leagueId": "00", "gameDates": dates}}


# -- box scores ----------------------------------------------------------------------------------------------------

#: What a line is called in nested answers, and in the files of mobile apps.
_CALLED = {
    "fieldGoalsMade": "fgm",
    "fieldGoalsAttempted": "fga",
    "threePointersMade": "tpm",
    "threePointersAttempted": "tpa",
    "freeThrowsMade": "ftm",
    "freeThrowsAttempted": "fta",
    "reboundsOffensive": "oreb",
    "reboundsDefensive": "dreb",
    "reboundsTotal": "reb",
    "assists": "ast",
    "steals": "stl",
    "blocks": "blk",
    "turnovers": "tov",
    "foulsPersonal": "pf",
    "points": "pts",
}


def _counts(lines: Sequence[Line]) -> dict[str, int]:
    return {
        "fieldGoalsMade": sum(line.field_goals[0] for line in lines),
        "fieldGoalsAttempted": sum(line.field_goals[1] for line in lines),
        "threePointersMade": sum(line.threes for line in lines),
        "threePointersAttempted": sum(line.threes + line.missed_threes for line in lines),
        "freeThrowsMade": sum(line.free_throws for line in lines),
        "freeThrowsAttempted": sum(line.free_throws + line.missed_free_throws for line in lines),
        "reboundsOffensive": sum(line.offensive for line in lines),
        "reboundsDefensive": sum(line.defensive for line in lines),
        "reboundsTotal": sum(line.offensive + line.defensive for line in lines),
        "assists": sum(line.assists for line in lines),
        "steals": sum(line.steals for line in lines),
        "blocks": sum(line.blocks for line in lines),
        "turnovers": sum(line.turnovers for line in lines),
        "foulsPersonal": sum(line.fouls for line in lines),
        "points": sum(line.points for line in lines),
    }


def _box(given: Mapping[str, str]) -> dict[str, Any] | None:
    game = _one(given)
    if game is None or not game.lines:
        return None
    sides = {
        side: {
            **_nested_team(team),
            "players": [_box_player(line) for line in game.lines[team]],
            "statistics": {"minutes": f"{240 + 25 * game.overtimes}:00", **_counts(game.lines[team])},
        }
        for side, team in (("homeTeam", game.home), ("awayTeam", game.away))
    }
    body = {"gameId": game.nba_id, "awayTeamId": _id(game.away), "homeTeamId": _id(game.home), **sides}
    return {"meta": {"version": 1}, "boxScoreTraditional": body}


def _box_v2(given: Mapping[str, str]) -> dict[str, Any] | None:
    """The same game as sets of rows."""
    game = _one(given)
    if game is None or not game.lines:
        return None
    head, counts = ("GAME_ID", "TEAM_ID", "TEAM_ABBREVIATION"), _LOG[9:]
    players, sides = [], []
    for team in (game.home, game.away):
        own = [game.nba_id, _id(team), team]
        for line in game.lines[team]:
            who = [int(line.player.id), line.player.name, line.player.position[-1] if line.starter else ""]
            said = [f"{line.minutes}:00", None] if line.played else [None, "DNP - Coach's Decision"]
            players.append([*own, *who, *said, *_counts([line] if line.played else []).values()])
        sides.append([*own, f"{240 + 25 * game.overtimes}:00", *_counts(game.lines[team]).values()])
    return _sets(
        "boxscore",
        ("PlayerStats", (*head, "PLAYER_ID", "PLAYER_NAME", "START_POSITION", "MIN", "COMMENT", *counts), players),
        ("TeamStats", (*head, "MIN", *counts), sides),
    )


def _box_player(line: Line) -> dict[str, Any]:
    first, _, last = line.player.name.partition(" ")
    return {
        "personId": int(line.player.id),
        "firstName": first,
        "familyName": last,
        "position": line.player.position[-1] if line.starter else "",
        "comment": "" if line.played else "DNP - Coach's Decision",
        "jerseyNum": line.player.jersey,
        "statistics": {
            "minutes": f"{line.minutes}:00" if line.played else "",
            **_counts([line] if line.played else []),
            "plusMinusPoints": float(line.plus_minus),
        },
    }


def _live_box(game: Game) -> dict[str, Any]:
    found = _nested_game(game)
    for side, team in (("homeTeam", game.home), ("awayTeam", game.away)):
        lines = game.lines.get(team, [])
        found[side] |= {
            "players": [
                {**_box_player(line), "starter": str(int(line.starter)), "played": str(int(line.played))}
                for line in lines
            ],
            "statistics": {**_counts(lines), "biggestLead": 11, "pointsFastBreak": 8},
        }
    arena = {"arenaName": game.venue, "arenaCity": game.city}
    return {"meta": {"version": 1, "code": 200}, "game": {**found, "attendance": game.attendance, "arena": arena}}


def _mobile_game(game: Game) -> dict[str, Any]:
    sides = {}
    for side, team in (("hls", game.home), ("vls", game.away)):
        city, nickname = _names(team)
        made = [*game.periods(team), *([0] * 14)][:14]
        names = [*(f"q{n}" for n in range(1, 5)), *(f"ot{n}" for n in range(1, 11))]
        counts = _counts(game.lines.get(team, []))
        sides[side] = {
            **dict(zip(names, made, strict=True)),
            "s": game.score(team),
            "ta": team,
            "tn": nickname,
            "tc": city,
            "tid": _id(team),
            "tstsg": {_CALLED[name]: value for name, value in counts.items()},
            "pstsg": [_mobile_player(line) for line in game.lines.get(team, [])],
        }
    return {
        "g": {
            "gid": game.nba_id,
            "gdte": game.date,
            "gdtutc": game.begins[:10],
            "utctm": game.begins[11:16],
            "st": _STATUS[game.status],
            "stt": _SAID[game.status],
            "p": len(game.periods(game.home)),
            "an": game.venue,
            "ac": game.city,
            "at": game.attendance,
            **sides,
            "offs": {"off": [{"fn": "Quill", "ln": "Marrow", "num": "7"}]},
        }
    }


def _mobile_player(line: Line) -> dict[str, Any]:
    first, _, last = line.player.name.partition(" ")
    counts = {_CALLED[name]: value for name, value in _counts([line] if line.played else []).items()}
    total = line.minutes * 60 if line.played else 0
    return {
        "fn": first,
        "ln": last,
        "num": line.player.jersey,
        "pos": line.player.position,
        "pid": int(line.player.id),
        "totsec": total,
        "pm": line.plus_minus,
        "memo": "" if line.played else "DNP - Coach's Decision",
        **counts,
    }


# -- play-by-play --------------------------------------------------------------------------------------------------


def _actions(game: Game, *, live: bool) -> dict[str, Any]:
    actions: list[dict[str, Any]] = []
    for n, shot in enumerate(game.shots, 1):
        minutes, _, seconds = shot.clock.rpartition(":")
        free = shot.value == 1
        kind = ("freethrow" if free else f"{shot.value}pt") if live else "Free Throw" if free else "Made Shot"
        action = {
            "actionNumber": n * 3,
            "clock": f"PT{int(minutes or 0):02d}M{float(seconds):05.2f}S",
            "period": shot.period,
            "teamId": _id(shot.team),
            "teamTricode": shot.team,
            "personId": int(shot.player.id),
            "actionType": kind,
            "subType": "" if free else "Jump Shot",
            "isFieldGoal": 0 if free else 1,
            "scoreHome": str(shot.home_score),
            "scoreAway": str(shot.away_score),
            "description": f"{shot.player.name} makes {shot.value}",
            "xLegacy": 40 + n % 90,
            "yLegacy": n % 120,
        }
        own = {"orderNumber": n * 10_000, "shotResult": "Made", "timeActual": f"{game.begins[:-1]}:00.0Z"}
        actions.append({**action, **(own if live else {"actionId": n, "shotValue": 0 if free else shot.value})})
    return {
        "meta": {"version": 1, **({"code": 200} if live else {})},
        "game": {"gameId": game.nba_id, "actions": actions},
    }


def _plays_v3(given: Mapping[str, str]) -> dict[str, Any] | None:
    game = _one(given)
    return _actions(game, live=False) if game else None


def _mobile_plays(game: Game) -> dict[str, Any]:
    periods: dict[int, list[dict[str, Any]]] = {}
    for n, shot in enumerate(game.shots, 1):
        periods.setdefault(shot.period, []).append(
            {
                "evt": n * 3,
                "cl": shot.clock,
                "etype": 3 if shot.value == 1 else 1,
                "locX": n % 90,
                "locY": n % 120,
                "de": f"[{shot.team}] {shot.player.name} {'3pt Shot' if shot.value == 3 else 'Shot'}: Made",
                "tid": _id(shot.team),
                "pid": int(shot.player.id),
                "opid": "",
                "epid": "",
                "hs": shot.home_score,
                "vs": shot.away_score,
            }
        )
    return {"g": {"gid": game.nba_id, "pd": [{"p": period, "pla": plays} for period, plays in periods.items()]}}


# -- lists of a season ---------------------------------------------------------------------------------------------

_LOG = (
    *("SEASON_ID", "TEAM_ID", "TEAM_ABBREVIATION", "TEAM_NAME", "GAME_ID", "GAME_DATE", "MATCHUP", "WL", "MIN"),
    *("FGM", "FGA", "FG3M", "FG3A", "FTM", "FTA", "OREB", "DREB", "REB", "AST", "STL", "BLK", "TOV", "PF", "PTS"),
)


def _game_log(given: Mapping[str, str]) -> dict[str, Any]:
    rows = []
    for game in _played():
        for team, other, sign in ((game.home, game.away, "vs."), (game.away, game.home, "@")):
            won = "W" if game.score(team) > game.score(other) else "L"
            counts = list(_counts(game.lines[team]).values())
            names = ["22023", _id(team), team, " ".join(_names(team)), game.nba_id, game.date, f"{team} {sign} {other}"]
            rows.append([*names, won, 240 + 25 * game.overtimes, *counts])
    return _sets("leaguegamelog", ("LeagueGameLog", _LOG, rows))


def _player_log(given: Mapping[str, str]) -> dict[str, Any]:
    rows = []
    for game, team, other, line in _all_lines():
        if line.player.id == given["PlayerID"] and line.played:
            sign = "vs." if team == game.home else "@"
            counts = list(_counts([line]).values())
            rows.append(
                ["22023", int(line.player.id), game.nba_id, game.date, f"{team} {sign} {other}", line.minutes, *counts]
            )
    columns = ("SEASON_ID", "Player_ID", "Game_ID", "GAME_DATE", "MATCHUP", "MIN", *_LOG[9:])
    return _sets("playergamelog", ("PlayerGameLog", columns, rows))


def _all_lines() -> Iterator[tuple[Game, str, str, Line]]:
    for game in _played():
        for team, other in ((game.home, game.away), (game.away, game.home)):
            for line in game.lines[team]:
                yield game, team, other, line


def _players(given: Mapping[str, str]) -> dict[str, Any]:
    found = {line.player.id: (line.player, team) for _, team, _, line in _all_lines()}
    rows = [[int(player.id), player.name, 1, _id(team), team] for player, team in found.values()]
    columns = ("PERSON_ID", "DISPLAY_FIRST_LAST", "ROSTERSTATUS", "TEAM_ID", "TEAM_ABBREVIATION")
    return _sets("commonallplayers", ("CommonAllPlayers", columns, rows))


def _standings(given: Mapping[str, str]) -> dict[str, Any]:
    found = sorted({team for game in _games() for team in (game.home, game.away)})
    rows = []
    for place, team in enumerate(found, 1):
        info = teams.team(team, _SEASON)
        assert info is not None
        own = [
            f"{20 + place}-{20 - place}",
            place,
            " - ",
            20 + place,
            20 - place,
            (20 + place) / 40,
            "12-8",
            "9-11",
            -2,
        ]
        rows.append(["00", "22023", _id(team), info.city, info.nickname, info.conference, info.division, *own])
    columns = (
        *("LeagueID", "SeasonID", "TeamID", "TeamCity", "TeamName", "Conference", "Division", "ConferenceRecord"),
        *("PlayoffRank", "ClinchIndicator", "WINS", "LOSSES", "WinPCT", "HOME", "ROAD", "CurrentStreak"),
    )
    return _sets("leaguestandings", ("Standings", columns, rows))


def _totals() -> list[tuple[Line, str, int]]:
    """Each player with the team, and the points of the week."""
    points: dict[str, int] = {}
    found: dict[str, tuple[Line, str]] = {}
    for _, team, _, line in _all_lines():
        points[line.player.id] = points.get(line.player.id, 0) + line.points * line.played
        found[line.player.id] = (line, team)
    ranked = sorted(found, key=lambda each: (-points[each], each))
    return [(*found[each], points[each]) for each in ranked]


def _leaders(given: Mapping[str, str]) -> dict[str, Any]:
    rows = [
        [int(line.player.id), place, line.player.name, _id(team), team, points]
        for place, (line, team, points) in enumerate(_totals()[:12], 1)
    ]
    headers = ["PLAYER_ID", "RANK", "PLAYER", "TEAM_ID", "TEAM", "PTS"]
    return {
        "resource": "leagueleaders",
        "parameters": {},
        "resultSet": {"name": "LeagueLeaders", "headers": headers, "rowSet": rows},
    }


_ZONES = ("Restricted Area", "In The Paint (Non-RA)", "Mid-Range", "Left Corner 3", "Above the Break 3")


def _shot_locations(given: Mapping[str, str]) -> dict[str, Any]:
    columns = ["PLAYER_ID", "PLAYER_NAME", "TEAM_ID", "TEAM_ABBREVIATION", *("FGM", "FGA", "FG_PCT") * len(_ZONES)]
    rows = []
    for line, team, points in _totals()[:12]:
        zones = [
            value for n in range(len(_ZONES)) for value in (n + points % 3, n + 4, round((n + points % 3) / (n + 4), 3))
        ]
        rows.append([int(line.player.id), line.player.name, _id(team), team, *zones])
    headers = [
        # The real host skips one column less than there are: a nickname was put in later.
        {"name": "SHOT_CATEGORY", "columnsToSkip": 3, "columnSpan": 3, "columnNames": list(_ZONES)},
        {"name": "columns", "columnSpan": 1, "columnNames": columns},
    ]
    found = {"name": "ShotLocations", "headers": headers, "rowSet": rows}
    return {"resource": "leaguedashplayershotlocations", "parameters": {}, "resultSets": found}


def _videos(given: Mapping[str, str]) -> dict[str, Any]:
    games = [game for game, _, _, line in _all_lines() if line.player.id == given["PlayerID"] and line.played]
    urls = [{"uuid": f"film-{game.nba_id}", "dur": 9_000, "lurl": None} for game in games]
    listed = [{"gi": game.nba_id, "ei": 7, "dsc": "a shot that was never filmed"} for game in games]
    return {
        "resource": "videodetails",
        "parameters": {},
        "resultSets": {"Meta": {"videoUrls": urls}, "playlist": listed},
    }


def _dash(given: Mapping[str, str]) -> dict[str, Any]:
    rows = [[int(line.player.id), line.player.name, _id(team), team, points] for line, team, points in _totals()]
    columns = ("PLAYER_ID", "PLAYER_NAME", "TEAM_ID", "TEAM_ABBREVIATION", "PTS")
    return _sets("leaguedashplayerstats", ("LeagueDashPlayerStats", columns, rows))


_ANSWERS: Mapping[str, Callable[[Mapping[str, str]], dict[str, Any] | None]] = {
    "scoreboardv2": _scoreboard_v2,
    "scoreboardv3": lambda given: {"meta": {"version": 1}, **_scoreboard(given["GameDate"])},
    "boxscoresummaryv2": _summary,
    "boxscoresummaryv3": _summary_v3,
    "boxscoretraditionalv2": _box_v2,
    "boxscoretraditionalv3": _box,
    "playbyplayv3": _plays_v3,
    "leaguegamelog": _game_log,
    "scheduleleaguev2": _schedule,
    "playergamelog": _player_log,
    "commonallplayers": _players,
    "leaguestandingsv3": _standings,
    "leagueleaders": _leaders,
    "leaguedashplayershotlocations": _shot_locations,
    "leaguedashplayerstats": _dash,
    "videodetails": _videos,
}
