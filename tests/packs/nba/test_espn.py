"""ESPN on pages of our own: a week of games, through the public door."""

from __future__ import annotations

import asyncio
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gossamer
from gossamer import ConfigError, Report
from gossamer.demo.nba import league
from gossamer.demo.packs import PackSites
from gossamer.packs.nba import model, teams
from gossamer.packs.nba.espn import shape
from gossamer.packs.nba.espn.scraper import Espn
from gossamer.testing import Answer, Site

WEEK = f"{league.DAYS[0]}..{league.DAYS[-1]}"


@pytest.fixture(scope="module")
def sites() -> Iterator[PackSites]:
    with PackSites(remember=True) as started:
        yield started


def run(sites: PackSites, store: Path, **params: str) -> Report:
    return gossamer.run(Espn, params=params, store=str(store), stand_ins=sites.stand_ins, rate="none")


def items(store: Path, kind: str) -> list[dict[str, Any]]:
    return gossamer.items(str(store), kind=kind)


@pytest.fixture(scope="module")
def week(sites: PackSites, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the whole week."""
    store = tmp_path_factory.mktemp("espn") / "week.db"
    report = run(sites, store, date=WEEK)
    assert (report.reason, report.failed, report.rejected) == ("done", 0, 0)
    return store


def test_every_game_of_the_week_is_there_once(week: Path) -> None:
    games = {each["game_id"]: each for each in items(week, "game")}
    assert list(games)
    assert len(games) == len(league.GAMES) == len(items(week, "game"))
    for number, planned in enumerate(league.GAMES):
        game, played = games[planned.id], league.game(number)
        assert (game["date"], game["away_team"], game["home_team"]) == (planned.date, planned.away, planned.home)
        assert game["status"] == planned.status
        assert game["game_key"] == f"{planned.date}:{planned.away}@{planned.home}"
        assert (game["season"], game["season_type"]) == (2024, "regular")
        if planned.status == "final":
            assert (game["home_score"], game["away_score"]) == (
                played.score(game["home_team"]),
                played.score(game["away_team"]),
            )
            assert sum(game["home_periods"]) == game["home_score"]
            assert (game["overtimes"], game["attendance"]) == (planned.overtimes, planned.attendance)
            assert game["quality"] == 100.0


def test_scores_count_only_when_a_game_is_over(week: Path) -> None:
    games = {each["status"]: each for each in items(week, "game") if each["status"] != "final"}
    assert set(games) == {"live", "scheduled", "postponed"}
    assert all(each["home_score"] is None and each["away_score"] is None for each in games.values())
    assert games["live"]["live_home_score"] == league.game(6).score("WAS")
    assert games["scheduled"]["live_home_score"] is None
    assert games["scheduled"]["overtimes"] is None


def test_a_late_game_in_the_west_is_of_the_evening_before(week: Path) -> None:
    game = next(each for each in items(week, "game") if each["game_id"] == "401900002")
    assert (game["date"], game["tipoff"]) == ("2024-01-16", "2024-01-17T03:00:00Z")


def test_lines_add_up_to_the_score_whatever_the_order_of_their_columns(week: Path) -> None:
    games = {each["game_id"]: each for each in items(week, "game")}
    lines = items(week, "player_line")
    for team_line in items(week, "team_line"):
        game = games[team_line["game_id"]]
        score = game["home_score"] if team_line["home"] else game["away_score"]
        players = [each for each in lines if (each["game_id"], each["team"]) == (game["game_id"], team_line["team"])]
        assert team_line["points"] == score == sum(each["points"] or 0 for each in players)
        for name in ("field_goals_made", "three_pointers_attempted", "rebounds", "assists"):
            assert team_line[name] == sum(each[name] or 0 for each in players), name
        assert team_line["opponent"] in (game["home_team"], game["away_team"])
        assert team_line["opponent"] != team_line["team"]


def test_who_did_not_play_has_a_reason_and_no_numbers(week: Path) -> None:
    lines = items(week, "player_line")
    absent = [each for each in lines if each["did_not_play"]]
    assert len(absent) == 10  # one of each team in five games
    assert all(each["reason"] == "COACH'S DECISION" and each["points"] is each["minutes"] is None for each in absent)
    assert all(each["reason"] is None and each["minutes"] for each in lines if not each["did_not_play"])


def test_overtime_makes_more_than_48_minutes(week: Path) -> None:
    longest = max(items(week, "player_line"), key=lambda each: each["minutes"] or 0)
    assert (longest["game_id"], longest["minutes"]) == ("401900002", 56.0)
    assert longest["quality"] == 100.0


def test_plays_tell_the_game_to_its_end(week: Path) -> None:
    plays = [each for each in items(week, "play") if each["game_id"] == "401900002"]
    plays.sort(key=lambda each: each["sequence"])
    game = league.game(1)
    assert (plays[-1]["home_score"], plays[-1]["away_score"]) == (game.score("PHX"), game.score("GSW"))
    assert sum(each["points"] for each in plays) == game.score("PHX") + game.score("GSW")
    assert {each["period"] for each in plays} == {1, 2, 3, 4, 5, 6}
    assert all(0 <= each["clock"] <= 720 and each["player_ids"] and each["team"] in ("PHX", "GSW") for each in plays)
    # A free throw has no place on the court, whatever number ESPN writes there.
    assert all((each["x"] is None) == (each["type"] == "Free Throw") for each in plays)


def test_teams_and_standings_come_under_our_codes(week: Path) -> None:
    listed = {each["source_code"]: each["team"] for each in items(week, "team")}
    assert len(listed) == 30
    assert (listed["GS"], listed["NO"], listed["UTAH"], listed["WSH"]) == ("GSW", "NOP", "UTA", "WAS")
    standings = items(week, "standing")
    assert len(standings) == 30
    assert sum(each["wins"] for each in standings) == sum(each.status == "final" for each in league.GAMES)
    assert {each["conference"] for each in standings} == {"East", "West"}


def test_a_second_run_changes_nothing_and_asks_for_no_game_again(sites: PackSites, tmp_path: Path) -> None:
    store = tmp_path / "twice.db"
    run(sites, store, date=WEEK)
    before = len(sites.site.hits)
    report = run(sites, store, date=WEEK)
    asked = [hit.path for hit in sites.site.hits[before:]]
    assert not [path for path in asked if "summary" in path]
    assert report.items == sum(len(items(store, kind)) for kind in model.KINDS)
    assert len(items(store, "play")) == sum(len(league.game(number).shots) for number in (0, 1, 2, 4, 5))


def test_the_website_tells_the_same_game(sites: PackSites, week: Path, tmp_path: Path) -> None:
    store = tmp_path / "web.db"
    report = run(sites, store, date=league.DAYS[0], format="web")
    assert (report.reason, report.failed, report.rejected) == ("done", 0, 0)
    (web,) = items(store, "game")
    api = next(each for each in items(week, "game") if each["game_id"] == web["game_id"])
    differing = {name for name in api if api[name] != web[name]}
    assert differing <= {"officials", "url"}
    for kind, ignored in (("team_line", set()), ("player_line", {"reason", "ejected"})):
        mine = {(each["game_id"], each["team"], each.get("name")): each for each in items(week, kind)}
        found = items(store, kind)
        assert len(found) == {"team_line": 2, "player_line": 18}[kind]
        for each in found:
            other = mine[(each["game_id"], each["team"], each.get("name"))]
            assert {name for name in other if other[name] != each[name]} <= ignored
    plays, others = items(store, "play"), [each for each in items(week, "play") if each["game_id"] == web["game_id"]]
    assert Counter((each["play_id"], each["points"], each["home_score"], each["team"]) for each in plays) == Counter(
        (each["play_id"], each["points"], each["home_score"], each["team"]) for each in others
    )


def test_documents_hold_what_the_rows_hold(sites: PackSites, week: Path, tmp_path: Path) -> None:
    store = tmp_path / "documents.db"
    run(sites, store, date=WEEK, items="documents")
    assert not items(store, "game")
    assert not items(store, "play")
    boxes = items(store, "box_score")
    assert len(boxes) == len(items(store, "play_by_play")) == len(items(store, "team_stats")) == 5
    rows = {(each["game_id"], each["player_id"]): each for each in items(week, "player_line")}
    assert all(rows[each["game_id"], each["player_id"]] == each for box in boxes for each in box["players"])
    schedules = {each["day"]: each for each in items(store, "schedule")}
    assert sorted(schedules) == [day.replace("-", "") for day in league.DAYS]
    assert [len(each["games"]) for _, each in sorted(schedules.items())] == [1, 1, 1, 1, 1, 1, 2]


def test_documents_are_made_although_the_rows_are_fresh(sites: PackSites, tmp_path: Path) -> None:
    store = tmp_path / "both.db"
    run(sites, store, date=league.DAYS[0])
    run(sites, store, date=league.DAYS[0], items="documents")
    assert len(items(store, "box_score")) == 1


def test_a_game_that_is_being_played_can_be_asked_for(sites: PackSites, tmp_path: Path) -> None:
    store = tmp_path / "live.db"
    report = run(sites, store, game="401900007")
    assert (report.reason, report.pages) == ("done", 1)
    (game,) = items(store, "game")
    assert (game["status"], game["home_score"], game["period"]) == ("live", None, 2)
    assert len(items(store, "player_line")) == 18


def test_a_game_that_is_not_there_fails_and_makes_no_record(sites: PackSites, tmp_path: Path) -> None:
    report = run(sites, tmp_path / "none.db", game="401999999")
    assert (report.failed, report.items, report.by_reason) == (1, 0, {"http_404": 1})


def test_a_refusal_with_status_200_fails_too(sites: PackSites, tmp_path: Path) -> None:
    path = "/site.api.espn.com/apis/site/v2/sports/basketball/nba/summary?event=444"
    sites.site.json(path, {"code": 404, "message": "no"})
    report = run(sites, tmp_path / "refused.db", game="444")
    assert (report.failed, report.items, report.by_reason) == (1, 0, {"handler": 1})


def test_an_answer_about_another_game_is_none(sites: PackSites, tmp_path: Path) -> None:
    path = "/site.api.espn.com/apis/site/v2/sports/basketball/nba/summary?event="
    with urllib.request.urlopen(sites.site.url(f"{path}401900001")) as answer:
        sites.site.page(f"{path}555", answer.read(), headers={"Content-Type": "application/json"})
    report = run(sites, tmp_path / "other.db", game="555")
    assert (report.failed, report.items, report.by_reason) == (1, 0, {"handler": 1})


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"season": "24"}, "write the year it ends in"),
        ({"season": "2023-25"}, "2023 is followed by 2024"),
        ({"season": "1901"}, "seasons go from 1947"),
        ({"date": "yesterday"}, "write a day like"),
        ({"date": "2024-02-30"}, "there is no such day"),
        ({"date": "2024-02-03..2024-02-01"}, "the first day comes after the last"),
        ({"date": "2020-01-01..2024-01-01"}, "at most 400 days"),
        ({"game": "0x1;"}, "write the id of a game"),
        ({"game": "202401010LAL"}, "its ids are numbers"),
        ({"format": "xml"}, "write api or web"),
        ({"items": "all"}, "write rows, documents or both"),
        ({"season": "2024", "date": "2024-01-01"}, "cannot be used together"),
        ({"team": "Globetrotters"}, "is no team of the league"),
    ],
)
def test_parameters_that_cannot_be_used_are_refused_in_one_sentence(params: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as told:
        Espn(params)
    assert "\n" not in str(told.value)


def test_what_is_asked_for() -> None:
    season = [each.url for each in Espn({"season": "2023-24"}).start()]  # type: ignore[union-attr]
    assert sum("scoreboard" in url for url in season) == 274
    assert season[-1].endswith("standings?season=2024")
    usual = [each.url for each in Espn().start()]  # type: ignore[union-attr]
    assert sum("scoreboard" in url for url in usual) == 14
    team = [each.url for each in Espn({"team": "L.A. Lakers", "season": "2024"}).start()]  # type: ignore[union-attr]
    assert len(team) == 4
    assert all("/teams/13/schedule?season=2024&seasontype=" in url for url in team)
    web = [each.url for each in Espn({"game": "1000", "format": "web"}).start()]  # type: ignore[union-attr]
    assert web[0] == "https://www.espn.com/nba/boxscore/_/gameId/1000&_xhr=1"


def test_every_kind_has_a_model_and_codes_are_known(week: Path) -> None:
    assert set(model.KINDS) >= {"game", "player_line", "team_line", "play", "team", "standing"}
    assert all(teams.team(each["team"]) for each in items(week, "player_line"))


def test_a_dry_run_stores_nothing(sites: PackSites, tmp_path: Path) -> None:
    async def found() -> list[dict[str, Any]]:
        params = {"game": "401900001"}
        told = gossamer.stream(
            Espn, params=params, store=str(tmp_path / "dry.db"), stand_ins=sites.stand_ins, rate="none", dry_run=True
        )
        return [each async for each in told]

    assert len(asyncio.run(found())) > 100


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("<html><title>ESPN</title><form><input name=p type=password></form></html>", "blocked"),
        ("<html><title>Log In | ESPN</title><p>Welcome back.</html>", "blocked"),
        ("<html><title>ESPN: scores and news</title><h1>Scores</h1></html>", "handler"),
    ],
)
def test_a_web_page_in_the_place_of_data(tmp_path: Path, body: str, reason: str) -> None:
    with Site() as site:
        site.handler("/site.api.espn.com/*", lambda hit: Answer(body=body, headers={"Content-Type": "text/html"}))
        stand_ins = {"site.api.espn.com": site.url("/site.api.espn.com")}
        store, params = str(tmp_path / "e.db"), {"game": "401585285"}
        report = gossamer.run(Espn, params=params, store=store, stand_ins=stand_ins, rate="none", retries=0)
    assert (report.by_reason, report.items) == ({reason: 1}, 0)


def test_a_day_that_is_none_loses_one_game_only() -> None:
    assert shape.moment("abcd-ef-gh") == (None, None)
    assert shape.moment("2024-02-31") == (None, None)
    assert shape.moment("2024-02-29") == ("2024-02-29", None)
