"""ESPN on answers that were captured, where they are present, and on answers that somebody spoilt."""

from __future__ import annotations

import copy
import json
import random
import urllib.request
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from gossamer import ReadError
from gossamer.demo import nba as demo
from gossamer.demo.nba import league
from gossamer.packs.nba import teams
from gossamer.packs.nba.espn import api as espn_api
from gossamer.packs.nba.espn import columns as espn_columns
from gossamer.packs.nba.espn.scraper import Espn, read_schedule, read_summary
from gossamer.packs.nba.model import KINDS, Game
from gossamer.testing import Site
from tests.packs import answer, page_of

STATES = {"post": "final", "in": "live", "pre": "scheduled"}
SCHEDULES = (
    "scoreboard_nba_2023-24_day.json",
    "scoreboard_nba_live_one_game.json",
    "scoreboard_nba_scheduled_game.json",
    "team_schedule_nba.json",
)
STATS = {
    "totalRebounds": "rebounds",
    "offensiveRebounds": "offensive_rebounds",
    "defensiveRebounds": "defensive_rebounds",
    "assists": "assists",
    "steals": "steals",
    "blocks": "blocks",
    "turnovers": "turnovers",
    "totalTurnovers": "total_turnovers",
    "technicalFouls": "technical_fouls",
    "flagrantFouls": "flagrant_fouls",
    "turnoverPoints": "points_off_turnovers",
    "fastBreakPoints": "fast_break_points",
    "pointsInPaint": "points_in_paint",
    "fouls": "fouls",
    "largestLead": "largest_lead",
    "leadChanges": "lead_changes",
    "leadPercentage": "lead_percentage",
}
PAIRS = {
    "fieldGoalsMade-fieldGoalsAttempted": "field_goals",
    "threePointFieldGoalsMade-threePointFieldGoalsAttempted": "three_pointers",
    "freeThrowsMade-freeThrowsAttempted": "free_throws",
}


def facts(name: str) -> Any:
    return answer("nba_espn/expected_facts.json")[name]


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name: str) -> None:
    games, known = read_schedule(answer(f"nba_espn/{name}")), facts(name)
    assert [game.game_id for game in games] == [each["id"] for each in known["events"]]
    for game, fact in zip(games, known["events"], strict=True):
        assert game.status == STATES[fact["state"]]
        for place in ("home", "away"):
            full, score = fact["teams"][place]
            assert getattr(game, f"{place}_name") == full
            assert getattr(game, f"{place}_team") == teams.team(full, game.season).code  # type: ignore[union-attr]
            counted, running = getattr(game, f"{place}_score"), getattr(game, f"live_{place}_score")
            assert counted == (int(score) if game.status == "final" else None)
            assert running == (int(score) if game.status == "live" else None)


def test_a_day_is_that_of_the_east_coast() -> None:
    data = answer("nba_espn/scoreboard_nba_2023-24_day.json")
    assert {game.date for game in read_schedule(data)} == {data["day"]["date"]}


def test_a_game_whose_time_is_not_known_has_none() -> None:
    last = read_schedule(answer("nba_espn/team_schedule_nba.json"))[-1]
    assert (last.date, last.tipoff) == ("2026-05-18", None)


@pytest.mark.parametrize("name", ["summary_401810570.json", "summary_wnba_small.json"])
def test_lines_of_a_summary(name: str) -> None:
    found, known = read_summary(answer(f"nba_espn/{name}")), facts(name)
    for team, fact in known["players_per_team"].items():
        players = [each for each in found.players if each.team == team]
        assert (len(players), sum(each.did_not_play for each in players)) == (fact["listed"], fact["dnp"])
        points = known["points"][team]
        assert sum(each.points or 0 for each in players) == points["sum_points"]
        assert {tuple(each) for each in points["top3"]} <= {(each.points, each.name) for each in players}
    for team, fact in known["team_stats"].items():
        (line,) = (each for each in found.teams if each.team == team)
        for name_of, field in STATS.items():
            assert name_of not in fact or getattr(line, field) == int(fact[name_of])
        for name_of, field in PAIRS.items():
            shown = f"{getattr(line, f'{field}_made')}-{getattr(line, f'{field}_attempted')}"
            assert shown == fact[name_of]


def test_a_summary_that_was_captured_while_the_game_went_on() -> None:
    found, known = read_summary(answer("nba_espn/summary_401810570.json")), facts("summary_401810570.json")
    game = found.game
    assert game is not None
    assert (game.game_id, game.status, game.home_score, game.overtimes) == (known["game_id"], "live", None, None)
    assert (game.live_home_score, game.live_away_score) == (87, 100)
    assert (game.tipoff, game.date) == ("2026-02-03T03:00:00Z", "2026-02-02")
    assert len(found.plays) == known["plays"]
    assert sum(play.scoring is True for play in found.plays) == known["scoring_plays"]
    assert sum(play.points or 0 for play in found.plays) == 187
    for fact, play in ((known["first_play"], found.plays[0]), (known["last_play"], found.plays[-1])):
        told = {"id": play.play_id, "text": play.text, "homeScore": play.home_score, "awayScore": play.away_score}
        assert told == fact
    assert {line.team: line.points for line in found.teams} == {"LAC": 87, "PHI": 100}


def test_another_league_is_not_taken_for_this_one() -> None:
    found = read_summary(answer("nba_espn/summary_wnba_small.json"))
    assert found.game is None  # it says no day
    assert {(line.team, line.team_name) for line in found.teams} == {
        ("SEA", "Seattle Storm"),
        ("NY", "New York Liberty"),
    }


def test_a_game_that_is_not_there() -> None:
    with pytest.raises(ReadError, match="ESPN answers 404"):
        read_summary(answer("nba_espn/summary_404.json"))


def test_standings() -> None:
    lines = espn_api.standings(answer("nba_espn/standings_nba.json"))
    assert {line.team for line in lines} == {each.code for each in teams.current()}
    first = lines[0]
    assert (first.team, first.conference, first.wins, first.losses, first.seed) == ("DET", "East", 60, 22, 1)
    assert all(line.conference == teams.team(line.team).conference for line in lines)  # type: ignore[union-attr]
    assert sum(line.wins or 0 for line in lines) == sum(line.losses or 0 for line in lines) == 1230


def test_records_of_captured_answers_hold_against_their_models() -> None:
    found = read_summary(answer("nba_espn/summary_401810570.json"))
    for record in (found.game, *found.teams, *found.players, *found.plays):
        assert record is not None
        msgspec.convert(msgspec.to_builtins(record), type(record))


# -- our own answers, spoilt ---------------------------------------------------------------------------------------


def bodies() -> dict[str, Any]:
    """An answer of each sort, as the demo pages have them."""
    site = Site()
    demo.install(site)
    paths = {
        "scoreboard": "/site.api.espn.com/apis/site/v2/sports/basketball/nba/scoreboard?dates=20240115-20240121",
        "standings": "/site.api.espn.com/apis/v2/sports/basketball/nba/standings?season=2024",
        "summary": "/site.api.espn.com/apis/site/v2/sports/basketball/nba/summary?event=401900002",
        "teams": "/site.api.espn.com/apis/site/v2/sports/basketball/nba/teams?limit=100",
        "boxscore": "/www.espn.com/nba/boxscore/_/gameId/401900001&_xhr=1",
        "playbyplay": "/www.espn.com/nba/playbyplay/_/gameId/401900001&_xhr=1",
        "matchup": "/www.espn.com/nba/matchup/_/gameId/401900001&_xhr=1",
        "schedule": f"/www.espn.com/nba/schedule/_/date/{league.DAYS[0].replace('-', '')}&_xhr=1",
    }
    found = {}
    with site:
        for name, path in paths.items():
            with urllib.request.urlopen(site.url(path)) as given:
                found[name] = json.loads(given.read())
    return found


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    return bodies()


ODD: tuple[Any, ...] = (None, "", "x", -1, 10**30, 1e400, True, [], {}, [[]], [None, 3], {"id": None}, "9" * 5000)


def spoilt(data: Any, chance: random.Random) -> Any:
    """A copy in which something, somewhere, is something else or missing."""
    made = copy.deepcopy(data)
    for _ in range(chance.randint(1, 6)):
        place = made
        for _ in range(chance.randint(1, 9)):
            names = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not names:
                break
            name = chance.choice(names)
            if isinstance(place[name], dict | list) and place[name] and chance.random() < 0.8:
                place = place[name]
                continue
            if isinstance(place, dict) and chance.random() < 0.3:
                del place[name]
            else:
                place[name] = copy.deepcopy(chance.choice(ODD))
            break
    return made


@pytest.mark.parametrize(
    ("name", "handler"),
    [
        ("scoreboard", "parse"),
        ("teams", "parse"),
        ("standings", "parse"),
        ("schedule", "parse"),
        ("summary", "rows"),
        ("boxscore", "both"),
        ("playbyplay", "game"),
        ("matchup", "documents"),
    ],
)
def test_whatever_an_answer_holds_a_handler_yields_or_says_why_not(
    name: str, handler: str, ours: dict[str, Any]
) -> None:
    scraper, chance = Espn({"items": "both"}), random.Random(name)
    for _ in range(60):
        data = spoilt(ours[name], chance)
        page = page_of(msgspec.json.encode(data), "https://site.api.espn.com/x", "application/json")
        with suppress(ReadError):
            for each in getattr(scraper, handler)(page):
                assert not hasattr(each, "kind") or each.kind in KINDS


@pytest.mark.parametrize("body", ["null", "[]", "3", '"x"', "{}", '{"page": 1}', '{"header": {}}', '{"events": {}}'])
def test_an_answer_in_no_known_shape_is_refused(body: str) -> None:
    page = page_of(body, "https://site.api.espn.com/x", "application/json")
    for handler in (Espn().parse, Espn().rows):
        with pytest.raises(ReadError):
            list(handler(page))


# -- rules that no page shows ---------------------------------------------------------------------------------------


def test_columns_are_known_by_their_names() -> None:
    labels = ["MIN", "FG", "3PT", "FT", "PTS", "SOMETHING NEW"]
    line = espn_columns.line(None, labels, ["38", "8-14", "1-3", "2-2", "19", "7"])
    assert (line["minutes"], line["field_goals_made"], line["field_goals_attempted"]) == (38.0, 8, 14)
    assert line["points"] == 19
    # The keys say it where both are there, and agree with the values.
    assert espn_columns.line(["points"], ["MIN"], ["19"]) == {"points": 19}
    assert espn_columns.line(["points"], None, ["--"]) == {"points": None}


def event(**more: Any) -> dict[str, Any]:
    """One game as a scoreboard has it."""
    sides = [
        {
            "homeAway": "away",
            "score": "101",
            "team": {"id": "3", "displayName": "New Orleans Hornets", "abbreviation": "NO"},
        },
        {"homeAway": "home", "score": "99", "team": {"id": "25", "displayName": "Seattle SuperSonics"}},
    ]
    status = {"period": 4, "type": {"state": "post", "completed": True, "name": "STATUS_FINAL"}}
    game = {"id": "1", "date": "2005-01-08T03:00Z", "competitors": sides, "status": status}
    return {"events": [{"id": "1", "season": {"year": 2005, "type": 2}, "competitions": [{**game, **more}]}]}


def only(data: dict[str, Any]) -> Game:
    (game,) = read_schedule(data)
    return game


def test_teams_are_called_as_they_were_called_then() -> None:
    game = only(event())
    assert (game.away_team, game.home_team, game.game_key) == ("NOH", "SEA", "2005-01-07:NOH@SEA")


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ({"state": "post", "completed": False, "name": "STATUS_POSTPONED"}, "postponed"),
        ({"state": "post", "completed": False, "name": "STATUS_CANCELED"}, "canceled"),
        ({"state": "in", "name": "STATUS_HALFTIME"}, "live"),
        ({"state": "pre", "name": "STATUS_SCHEDULED"}, "scheduled"),
        ({}, "scheduled"),
    ],
)
def test_no_score_counts_unless_the_game_is_over(kind: dict[str, Any], status: str) -> None:
    game = only(event(status={"period": 2, "type": kind}))
    assert (game.status, game.home_score, game.overtimes) == (status, None, None)
    assert (game.live_home_score is not None) == (status == "live")


@pytest.mark.parametrize(
    ("number", "season_type"),
    [(1, "preseason"), (2, "regular"), (3, "playoffs"), (4, None), (5, "play-in"), ("x", None)],
)
def test_sorts_of_games(number: Any, season_type: str | None) -> None:
    data = event()
    data["events"][0]["season"]["type"] = number
    assert only(data).season_type == season_type


def test_the_final_of_the_cup_and_the_stars_are_no_regular_games() -> None:
    cup = event(notes=[{"headline": "In-Season Tournament Championship"}])
    assert only(cup).season_type == "cup-final"
    stars = event()
    for each, name in zip(stars["events"][0]["competitions"][0]["competitors"], ("West", "East"), strict=True):
        each["team"] = {"id": "9", "displayName": f"{name}ern Conf All-Stars", "abbreviation": name}
    assert (only(stars).season_type, only(stars).home_team) == ("all-star", "EAST")


def test_home_is_who_is_said_to_be_at_home_on_the_website(ours: dict[str, Any]) -> None:
    data = copy.deepcopy(ours["playbyplay"])
    package = data["page"]["content"]["gamepackage"]
    for team in package["gmStrp"]["tms"]:
        del team["isHome"]
    with pytest.raises(ReadError, match="who at home"):
        read_summary(data)
    package["shtChrt"]["tms"] = {"home": {"id": "17"}, "away": {"id": "2"}}
    found = read_summary(data)
    assert found.game is not None
    assert (found.game.home_team, found.game.away_team) == ("BKN", "BOS")
    assert found.plays[-1].home_score == found.game.home_score


def test_of_a_week_on_the_website_only_the_day_that_was_asked_for_counts(ours: dict[str, Any]) -> None:
    data = copy.deepcopy(ours["schedule"])
    (one,) = data["page"]["content"]["events"]
    later = {**one, "id": "401900099", "date": "2024-01-17T00:30Z"}
    data["page"]["content"]["events"] = {"20240115": [one], "20240116": [later]}
    assert [game.date for game in read_schedule(data)] == ["2024-01-15", "2024-01-16"]
    page = page_of(msgspec.json.encode(data), "https://www.espn.com/x", "application/json", day="2024-01-15")
    led: list[Any] = list(Espn({"format": "web"}).parse(page))
    assert {each.carry["game_id"] for each in led} == {"401900001"}


@pytest.mark.parametrize("odd", ["1&event=2", "../x", "12a", "", None, "９"])
def test_an_id_that_would_make_another_url_is_none(odd: Any) -> None:
    data = event(id=odd)
    data["events"][0]["id"] = odd
    with pytest.raises(ReadError, match="none of 1 games"):
        read_schedule(data)


def test_a_schedule_that_told_nonsense_of_a_game_does_no_harm_to_its_page(ours: dict[str, Any]) -> None:
    listed = {**msgspec.to_builtins(read_schedule(ours["scoreboard"])[1]), "attendance": -5}
    body = msgspec.json.encode(ours["summary"])
    page = page_of(body, "https://site.api.espn.com/x", "application/json", game_id="401900002", listed=listed)
    game = next(iter(Espn().rows(page))).record()
    assert (game["game_id"], game["attendance"]) == ("401900002", 17_071)
