"""Pages in the structure of the sites that the pack `nba` reads. Everything in them is invented."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from gossamer.demo.nba import league, reference, stats
from gossamer.demo.nba.league import DAYS, Game, Line, Shot
from gossamer.packs.nba import teams
from gossamer.testing import Answer, Hit, Site

_API, _WEB = "site.api.espn.com", "www.espn.com"
#: The hosts they stand in for.
HOSTS: tuple[str, ...] = (_API, _WEB, *reference.HOSTS, *stats.HOSTS)
#: What scrapers are asked for here, by name: the pages are of certain days.
PARAMS: Mapping[str, Mapping[str, str]] = {
    "nba.espn": {"date": f"{DAYS[0]}..{DAYS[-1]}"},
    "nba.reference": reference.PARAMS,
    **stats.PARAMS,
}

_BASE = f"/{_API}/apis/site/v2/sports/basketball/nba"
_SEASON = 2024
#: The columns of a box score, and those of years ago, which stood in another order.
_LABELS = ("MIN", "PTS", "FG", "3PT", "FT", "REB", "AST", "TO", "STL", "BLK", "OREB", "DREB", "PF", "+/-")
_OLD_LABELS = ("MIN", "FG", "3PT", "FT", "OREB", "DREB", "REB", "AST", "STL", "BLK", "TO", "PF", "+/-", "PTS")
_KEYS = {
    "MIN": "minutes",
    "PTS": "points",
    "FG": "fieldGoalsMade-fieldGoalsAttempted",
    "3PT": "threePointFieldGoalsMade-threePointFieldGoalsAttempted",
    "FT": "freeThrowsMade-freeThrowsAttempted",
    "REB": "rebounds",
    "AST": "assists",
    "TO": "turnovers",
    "STL": "steals",
    "BLK": "blocks",
    "OREB": "offensiveRebounds",
    "DREB": "defensiveRebounds",
    "PF": "fouls",
    "+/-": "plusMinus",
}
_STATUS = {
    "final": ("3", "STATUS_FINAL", "post", True, "Final"),
    "live": ("2", "STATUS_IN_PROGRESS", "in", False, "In Progress"),
    "scheduled": ("1", "STATUS_SCHEDULED", "pre", False, "Scheduled"),
    "postponed": ("6", "STATUS_POSTPONED", "post", False, "Postponed"),
}


def install(site: Site) -> None:
    """Add the pages to a site, each host below a path of its own name."""
    games = [league.game(number) for number in range(len(league.GAMES))]
    site.handler(f"{_BASE}/scoreboard", lambda hit: _json(_scoreboard(games, _asked(hit, "dates"))))
    for game in games:
        if game.status in ("final", "live"):
            site.json(f"{_BASE}/summary?event={game.id}", _summary(game))
    site.handler(f"{_BASE}/summary", _no_such_game)
    site.json(f"{_BASE}/teams?limit=100", _teams())
    site.handler(f"/{_API}/apis/v2/sports/basketball/nba/standings", lambda hit: _json(_standings(games)))
    _install_web(site, games)
    reference.install(site)
    stats.install(site)


def _json(data: Any, status: int = 200) -> Answer:
    return Answer(status=status, body=json.dumps(data), headers={"Content-Type": "application/json"})


def _asked(hit: Hit, name: str) -> str:
    return parse_qs(urlsplit(hit.path).query).get(name, [""])[0]


def _no_such_game(hit: Hit) -> Answer:
    number = _asked(hit, "event")[:20]
    told = f"Error invoking GET: http://sports.core.api.invented/v2/events/{number}, status=404, message=null"
    return _json({"code": 404, "message": told}, 404)


# -- the API -----------------------------------------------------------------------------------------------------


def _scoreboard(games: list[Game], days: str) -> dict[str, Any]:
    first, _, last = days.partition("-")
    these = [game for game in games if first <= game.date.replace("-", "") <= (last or first)]
    return {
        "leagues": [{"id": "46", "abbreviation": "NBA", "slug": "nba"}],
        "season": {"type": 2, "year": _SEASON},
        "day": {"date": f"{first[:4]}-{first[4:6]}-{first[6:8]}"},
        "events": [_event(game) for game in these],
    }


def _event(game: Game) -> dict[str, Any]:
    competition = {
        "id": game.id,
        "date": game.begins,
        "attendance": game.attendance,
        "timeValid": True,
        "neutralSite": False,
        "venue": _venue(game),
        "competitors": [_competitor(game, game.home), _competitor(game, game.away)],
        "notes": [],
        "status": _status(game),
    }
    return {
        "id": game.id,
        "uid": f"s:40~l:46~e:{game.id}",
        "date": game.begins,
        "name": f"{_team(game.away)['displayName']} at {_team(game.home)['displayName']}",
        "season": {"year": _SEASON, "type": 2, "slug": "regular-season"},
        "competitions": [competition],
        "links": [{"rel": ["summary", "event"], "href": f"https://www.espn.com/nba/game/_/gameId/{game.id}"}],
        "status": _status(game),
    }


def _team(code: str) -> dict[str, Any]:
    found = teams.team(code)
    assert found is not None
    return {
        "id": found.espn_id,
        "uid": f"s:40~l:46~t:{found.espn_id}",
        "location": found.city,
        "name": found.nickname,
        "abbreviation": found.espn_code,
        "displayName": found.name,
        "shortDisplayName": found.nickname,
        "isActive": True,
    }


def _venue(game: Game) -> dict[str, Any]:
    return {"fullName": game.venue, "address": {"city": game.city}}


def _competitor(game: Game, code: str) -> dict[str, Any]:
    return {
        "id": _team(code)["id"],
        "homeAway": "home" if code == game.home else "away",
        "team": _team(code),
        # A game that was not played has a score of "0" at ESPN.
        "score": str(game.score(code)),
        "linescores": [{"value": float(each), "displayValue": str(each)} for each in game.periods(code)],
    }


def _status(game: Game) -> dict[str, Any]:
    number, name, state, completed, words = _STATUS[game.status]
    kind = {"id": number, "name": name, "state": state, "completed": completed, "description": words, "detail": words}
    return {"clock": 0.0, "displayClock": "0.0", "period": len(game.periods(game.home)), "type": kind}


def _summary(game: Game) -> dict[str, Any]:
    competition = {
        "id": game.id,
        "date": game.begins,
        "neutralSite": False,
        # The other way round than on the scoreboard: only homeAway says who is at home.
        "competitors": [_competitor(game, game.away), _competitor(game, game.home)],
        "status": _status(game),
    }
    labels = _OLD_LABELS if game.overtimes else _LABELS
    return {
        "boxscore": {
            "teams": [_team_stats(game, code) for code in (game.away, game.home)],
            "players": [_players(game, code, labels) for code in (game.away, game.home)],
        },
        "gameInfo": {
            "venue": _venue(game),
            "attendance": game.attendance,
            "officials": [{"displayName": "Perpetua Whistler"}, {"displayName": "Osric Callaway"}],
        },
        "header": {
            "id": game.id,
            "uid": f"s:40~l:46~e:{game.id}",
            "season": {"year": _SEASON, "type": 2},
            "competitions": [competition],
            "league": {"id": "46", "abbreviation": "NBA"},
            "links": [{"href": f"https://www.espn.com/nba/game/_/gameId/{game.id}"}],
        },
        "plays": [_play(game, place, shot) for place, shot in enumerate(game.shots, 1)],
    }


def _pairs(lines: list[Line]) -> dict[str, str]:
    made, tried = (sum(each.field_goals[place] for each in lines) for place in (0, 1))
    threes, free = sum(each.threes for each in lines), sum(each.free_throws for each in lines)
    return {
        "FG": f"{made}-{tried}",
        "3PT": f"{threes}-{threes + sum(each.missed_threes for each in lines)}",
        "FT": f"{free}-{free + sum(each.missed_free_throws for each in lines)}",
    }


def _stats(game: Game, code: str) -> list[tuple[str, str]]:
    lines = game.lines[code]
    offensive, defensive = sum(each.offensive for each in lines), sum(each.defensive for each in lines)
    lost = sum(each.turnovers for each in lines)
    return [
        *((_KEYS[label], shown) for label, shown in _pairs(lines).items()),
        ("totalRebounds", str(offensive + defensive)),
        ("offensiveRebounds", str(offensive)),
        ("defensiveRebounds", str(defensive)),
        ("assists", str(sum(each.assists for each in lines))),
        ("steals", str(sum(each.steals for each in lines))),
        ("blocks", str(sum(each.blocks for each in lines))),
        ("turnovers", str(lost)),
        ("totalTurnovers", str(lost + 1)),
        ("fouls", str(sum(each.fouls for each in lines))),
        ("pointsInPaint", str(2 * sum(each.twos for each in lines))),
        ("largestLead", str(max(0, max(_leads(game, code), default=0)))),
    ]


def _leads(game: Game, code: str) -> list[int]:
    sign = 1 if code == game.home else -1
    return [sign * (shot.home_score - shot.away_score) for shot in game.shots]


def _team_stats(game: Game, code: str) -> dict[str, Any]:
    named = [{"name": name, "displayValue": shown} for name, shown in _stats(game, code)]
    return {"team": _team(code), "statistics": named, "homeAway": "home" if code == game.home else "away"}


def _cells(line: Line, labels: tuple[str, ...]) -> list[str]:
    values = {
        **_pairs([line]),
        "MIN": str(line.minutes),
        "PTS": str(line.points),
        "REB": str(line.offensive + line.defensive),
        "OREB": str(line.offensive),
        "DREB": str(line.defensive),
        "AST": str(line.assists),
        "TO": str(line.turnovers),
        "STL": str(line.steals),
        "BLK": str(line.blocks),
        "PF": str(line.fouls),
        "+/-": f"{line.plus_minus:+d}",
    }
    return [values[label] for label in labels]


def _players(game: Game, code: str, labels: tuple[str, ...]) -> dict[str, Any]:
    athletes = [
        {
            "athlete": {
                "id": line.player.id,
                "displayName": line.player.name,
                "jersey": line.player.jersey,
                "position": {"abbreviation": line.player.position},
            },
            "starter": line.starter,
            "didNotPlay": not line.played,
            "reason": "COACH'S DECISION",
            "ejected": False,
            "stats": _cells(line, labels) if line.played else [],
        }
        for line in game.lines[code]
    ]
    columns = {"labels": list(labels), "names": list(labels), "keys": [_KEYS[label] for label in labels]}
    return {"team": _team(code), "statistics": [{**columns, "athletes": athletes}]}


def _words(shot: Shot) -> tuple[str, str, str]:
    """What happened: the sort of play, its number, and the sentence."""
    kind = {1: ("Free Throw", "97"), 2: ("Layup", "110"), 3: ("Jump Shot", "92")}[shot.value]
    how = {1: "makes free throw 1 of 1", 2: "makes 2-foot layup", 3: "makes 26-foot three point jumper"}[shot.value]
    return *kind, f"{shot.player.name} {how}"


def _play(game: Game, place: int, shot: Shot) -> dict[str, Any]:
    kind, number, words = _words(shot)
    spot = {"x": -214748340, "y": -214748365} if shot.value == 1 else {"x": 25 - shot.value, "y": shot.value * 8}
    return {
        "id": f"{game.id}{place}",
        "sequenceNumber": str(place),
        "type": {"id": number, "text": kind},
        "text": words,
        "homeScore": shot.home_score,
        "awayScore": shot.away_score,
        "period": {"number": shot.period},
        "clock": {"displayValue": shot.clock},
        "scoringPlay": True,
        "scoreValue": shot.value,
        "pointsAttempted": shot.value,
        "shootingPlay": True,
        "team": {"id": _team(shot.team)["id"]},
        "participants": [{"athlete": {"id": shot.player.id}}],
        "coordinate": spot,
    }


def _teams() -> dict[str, Any]:
    listed = [{"team": _team(each.code)} for each in teams.current()]
    return {"sports": [{"leagues": [{"abbreviation": "NBA", "teams": listed}]}]}


def _standings(games: list[Game]) -> dict[str, Any]:
    wins: dict[str, int] = {}
    losses: dict[str, int] = {}
    for game in games:
        if game.status == "final":
            ranked = sorted((game.home, game.away), key=game.score)
            wins[ranked[1]] = wins.get(ranked[1], 0) + 1
            losses[ranked[0]] = losses.get(ranked[0], 0) + 1
    found = []
    for name, short in (("Eastern Conference", "East"), ("Western Conference", "West")):
        these = [each for each in teams.current() if each.conference == short]
        ranked_teams = sorted(these, key=lambda each: (-wins.get(each.code, 0), losses.get(each.code, 0), each.code))
        entries = [
            {"team": _team(each.code), "stats": _record(wins.get(each.code, 0), losses.get(each.code, 0), seed)}
            for seed, each in enumerate(ranked_teams, 1)
        ]
        listed = {"season": _SEASON, "seasonType": 2, "entries": entries}
        found.append({"name": name, "abbreviation": short, "isConference": True, "standings": listed})
    return {"name": "National Basketball Association", "season": {"year": _SEASON}, "children": found}


def _record(wins: int, losses: int, seed: int) -> list[dict[str, Any]]:
    share = wins / (wins + losses) if wins + losses else 0.0
    values = {"wins": wins, "losses": losses, "playoffSeed": seed, "winPercent": share}
    return [
        *({"name": name, "type": name.lower(), "value": value} for name, value in values.items()),
        {"name": "overall", "type": "total", "displayValue": f"{wins}-{losses}"},
    ]


# -- the website -------------------------------------------------------------------------------------------------


def _install_web(site: Site, games: list[Game]) -> None:
    """One game as the website tells it: in three pages, and with names of its own for everything."""
    game = games[0]
    for day in DAYS:
        listed = [_listed(each) for each in games if each.date == day == game.date]
        site.json(f"/{_WEB}/nba/schedule/_/date/{day.replace('-', '')}&_xhr=1", _content({"events": listed}))
    strip = _strip(game)
    pages = {
        "boxscore": {"bxscr": [_web_box(game, code) for code in (game.away, game.home)]},
        "playbyplay": _web_plays(game),
        "matchup": {"tmStats": {"home": _web_stats(game, game.home), "away": _web_stats(game, game.away)}},
    }
    info = {"attnd": game.attendance, "dtTm": game.begins, "venue": _venue(game), "refs": [{"dspNm": "Osric Callaway"}]}
    for page, part in pages.items():
        package = {"gmStrp": strip, "gmInfo": info, **part}
        site.json(f"/{_WEB}/nba/{page}/_/gameId/{game.id}&_xhr=1", _content({"gamepackage": package}))


def _content(content: dict[str, Any]) -> dict[str, Any]:
    return {"page": {"content": content, "type": "page"}}


def _web_team(game: Game, code: str) -> dict[str, Any]:
    team = _team(code)
    return {
        "id": team["id"],
        "abbrev": team["abbreviation"],
        "displayName": team["displayName"],
        "isHome": code == game.home,
        "score": str(game.score(code)),
        "linescores": [{"displayValue": str(each)} for each in game.periods(code)],
    }


def _listed(game: Game) -> dict[str, Any]:
    return {
        "id": game.id,
        "date": game.begins,
        "tbd": False,
        "competitors": [_web_team(game, game.home), _web_team(game, game.away)],
        "status": {"id": "3", "state": "post", "detail": "Final"},
        "venue": _venue(game),
    }


def _strip(game: Game) -> dict[str, Any]:
    return {
        "gid": game.id,
        "dt": game.begins,
        # The guest first: where a team stands in this list says nothing.
        "tms": [_web_team(game, game.away), _web_team(game, game.home)],
        "seasonType": 2,
        "status": {"id": "3", "state": "post", "desc": "Final", "det": "Final"},
        "neutralSite": False,
    }


def _web_box(game: Game, code: str) -> dict[str, Any]:
    team = _team(code)
    groups = []
    for kind, starts in (("starters", True), ("bench", False)):
        athletes: list[dict[str, Any]] = []
        for line in game.lines[code]:
            who = {"id": line.player.id, "dspNm": line.player.name, "jersey": line.player.jersey}
            if line.starter is starts:
                cells = {"stats": _cells(line, _OLD_LABELS)} if line.played else {"stats": [], "dnpRsn": "LEFT KNEE"}
                athletes.append({"athlt": {**who, "pos": line.player.position}, **cells})
        groups.append({"type": kind, "lbls": list(_OLD_LABELS), "keys": list(_OLD_LABELS), "athlts": athletes})
    return {"tm": {"id": team["id"], "abbrev": team["abbreviation"], "dspNm": team["displayName"]}, "stats": groups}


def _web_stats(game: Game, code: str) -> dict[str, Any]:
    shown = {name: {"n": name, "d": value} for name, value in _stats(game, code)}
    return {"t": {"id": _team(code)["id"], "dspNm": _team(code)["displayName"]}, "s": shown}


def _web_plays(game: Game) -> dict[str, Any]:
    groups: dict[int, list[dict[str, Any]]] = {}
    chart = []
    for place, shot in enumerate(game.shots, 1):
        kind, number, words = _words(shot)
        play = {
            "id": f"{game.id}{place}",
            "period": {"number": shot.period, "displayValue": f"Period {shot.period}"},
            "text": words,
            "homeAway": "home" if shot.team == game.home else "away",
            "homeScore": shot.home_score,
            "awayScore": shot.away_score,
            "clock": {"displayValue": shot.clock},
            "scoringPlay": True,
        }
        groups.setdefault(shot.period, []).append(play)
        if shot.value > 1:
            spot = {"x": 25 - shot.value, "y": shot.value * 8}
            who = {"id": shot.player.id, "name": shot.player.name}
            chart.append({**play, "type": {"id": number, "txt": kind}, "coordinate": spot, "athlete": who})
    return {"pbp": {"playGrps": list(groups.values())}, "shtChrt": {"plays": chart}}
