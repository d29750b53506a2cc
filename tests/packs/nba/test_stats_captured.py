"""Captured answers of the NBA's: every shape, against what is known to be in them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest

from gossamer import Item
from gossamer.packs.nba import model
from gossamer.packs.nba.stats import plays as stats_plays
from gossamer.packs.nba.stats.catalogue import ENDPOINTS
from gossamer.packs.nba.stats.records import document, records
from gossamer.packs.nba.stats.scraper import Stats
from gossamer.packs.nba.stats.shapes import answer as read
from gossamer.packs.nba.stats.shapes import shape, tables
from gossamer.packs.nba.stats.values import About
from gossamer.pipeline import Pipeline
from gossamer.values import Reject
from tests.packs import answer, fixture, page_of

#: File -> the endpoint it is an answer of, its shape, and what it tells.
FILES: dict[str, tuple[str, str, dict[str, int]]] = {
    "boxscoreadvancedv3": ("boxscoreadvancedv3", "B", {"stat_row": 27}),
    "boxscorefourfactorsv3": ("boxscorefourfactorsv3", "B", {"stat_row": 27}),
    "boxscoreplayertrackv3": ("boxscoreplayertrackv3", "B", {"stat_row": 30}),
    "boxscoretraditionalv3": ("boxscoretraditionalv3", "B", {"player_line": 29, "team_line": 2}),
    "common_BoxScoreSummaryV2": ("boxscoresummaryv2", "A", {"game": 1, "stat_row": 12}),
    "common_LeagueDashPlayerStats": ("leaguedashplayerstats", "A", {"stat_row": 535}),
    "common_PlayerCareerStats": ("playercareerstats", "A", {"stat_row": 142}),
    "leaguedashteamstats_All_teams_2024_25_regular_season_base_stats": ("leaguedashteamstats", "A", {"stat_row": 30}),
    "leaguedashteamstats_Lakers_2023_24_playoffs": ("leaguedashteamstats", "A", {"stat_row": 1}),
    "leaguegamefinder_Recent_date_range": ("leaguegamefinder", "A", {"game": 104, "team_line": 208}),
    "pbpstats_game_details_data_0021600270": ("mobilegamedetail", "D", {"game": 1, "player_line": 30, "team_line": 2}),
    "pbpstats_game_details_live_0022000001": ("liveboxscore", "C", {"game": 1, "player_line": 34, "team_line": 2}),
    "pbpstats_game_details_stats_boxscore_0021600270": (
        "boxscoretraditionalv2",
        "A",
        {"player_line": 19, "team_line": 2, "stat_row": 4},
    ),
    "pbpstats_game_details_stats_boxscore_range_0021600270": (
        "boxscoretraditionalv2",
        "A",
        {"player_line": 11, "team_line": 2, "stat_row": 4},
    ),
    "pbpstats_game_details_stats_home_shots_0021600270": ("shotchartdetail", "A", {"stat_row": 115}),
    "pbpstats_game_details_stats_summary_0021600270": ("boxscoresummaryv2", "A", {"game": 1, "stat_row": 9}),
    "pbpstats_pbp_data_0021600270": ("mobileplaybyplay", "D", {"play": 538}),
    "pbpstats_pbp_live_0022000001": ("liveplaybyplay", "C", {"play": 610}),
    "pbpstats_pbp_stats_0021600270": ("playbyplayv2", "A", {"play": 540, "stat_row": 1}),
    "pbpstats_schedule_stats_gleague_02_25_2020": ("scoreboardv2", "A", {"game": 7, "stat_row": 70}),
    "playbyplayv3": ("playbyplayv3", "B", {"play": 475}),
    "playerdashptshotdefend_Basic_LeBron_2023_24_Lakers": ("playerdashptshotdefend", "A", {}),
    "scoreboardv2_2018-11-30": ("scoreboardv2", "A", {"game": 11, "stat_row": 96}),
    "scoreboardv3": ("scoreboardv3", "B", {"game": 11}),
    "scoreboardv3_Offseason_date_no_games_expected": ("scoreboardv3", "B", {}),
    "teamdashlineups": ("teamdashlineups", "A", {"stat_row": 2}),
    "teamdashlineups_Warriors_3_man_lineups_playoffs_2023_24": ("teamdashlineups", "A", {}),
    "teamgamelog_Celtics_2023_24_regular_season": ("teamgamelog", "A", {"team_line": 82}),
    "teamgamelog_Lakers_2023_24_playoffs": ("teamgamelog", "A", {"team_line": 5}),
}


def read_file(name: str) -> Any:
    return read(page_of(fixture(f"nba_stats/{name}.json"), "https://stats.nba.com/", "application/json"))


def told(name: str) -> list[Item]:
    return list(records(read_file(name), About(endpoint=FILES[name][0])))


def of(name: str, kind: str) -> list[dict[str, Any]]:
    return [each.record() for each in told(name) if each.kind == kind]


def test_no_file_is_left_out() -> None:
    facts = answer("nba_stats/expected_facts.json")
    assert {f"{name}.json" for name in FILES} == set(facts)
    assert {endpoint for endpoint, _, _ in FILES.values()} <= set(ENDPOINTS)


@pytest.mark.parametrize("name", FILES)
def test_shapes_and_tables(name: str) -> None:
    facts, found = answer("nba_stats/expected_facts.json")[f"{name}.json"], read_file(name)
    assert shape(found) == FILES[name][1]
    made = tables(found)
    if "result_sets" not in facts:
        body = next(value for key, value in found.items() if key != "meta")
        assert Counter(table.name for table in made)[_called(facts)] == 1
        assert _number(made, "players") == sum(len(team["players"]) for team in _teams(body, "players"))
        assert _number(made, "actions") == len(body.get("actions", ())) + sum(len(p["pla"]) for p in body.get("pd", ()))
        assert _number(made, "games") == len(body.get("games", ()))
        return
    assert [(table.name, len(table.columns), len(table.rows)) for table in made] == [
        (each["name"], each["columns"], each["rows"]) for each in facts["result_sets"]
    ]
    for table, each in zip(made, facts["result_sets"], strict=True):
        assert list(table.columns[: len(each["headers_head"])]) == each["headers_head"]
        first = each["first_row_head"]
        assert table.rows[0][: len(first)] == first if first is not None else not table.rows


def _called(facts: dict[str, Any]) -> str:
    name = next(key for key in facts["top_keys"] if key != "meta")
    return "game" if name == "g" else name


def _number(made: list[Any], name: str) -> int:
    return sum(len(table.rows) for table in made if table.name == name)


def _teams(body: dict[str, Any], field: str) -> list[dict[str, Any]]:
    sides = (body.get(name) for name in ("homeTeam", "awayTeam"))
    mobile = ({field: body[name].get("pstsg", ())} for name in ("hls", "vls") if name in body)
    return [*(team for team in sides if isinstance(team, dict) and field in team), *mobile]


@pytest.mark.parametrize("name", FILES)
def test_what_is_told(name: str) -> None:
    found = told(name)
    assert dict(Counter(each.kind for each in found)) == FILES[name][2]
    assert len({(each.kind, each.key) for each in found}) == len(found)
    # All of it passes the models, and a whole answer does too.
    pipeline = Pipeline(Stats({}))
    page = page_of(b"{}", "https://stats.nba.com/")
    whole = document(read_file(name), About(endpoint=FILES[name][0]))
    assert not [each for each in (*found, whole) if isinstance(pipeline.item(each, page), Reject)]


def test_one_game_is_the_same_in_three_forms() -> None:
    names = ("pbpstats_game_details_data_0021600270", "pbpstats_game_details_stats_summary_0021600270")
    games = [of(name, "game")[0] for name in names]
    for game in games:
        assert game["game_key"] == "2016-11-30:WAS@OKC"
        assert (game["home_score"], game["away_score"], game["overtimes"]) == (126, 115, 1)
        assert (game["home_periods"], game["away_periods"]) == ([32, 28, 24, 21, 21], [19, 34, 31, 21, 10])
        assert (game["attendance"], game["season"], game["season_type"]) == (18_203, 2017, "regular")
    mobile = {line["player_id"]: line for line in of(names[0], "player_line")}
    for line in of("pbpstats_game_details_stats_boxscore_0021600270", "player_line"):
        same = (
            "name",
            "team",
            "points",
            "rebounds",
            "assists",
            "turnovers",
            "minutes",
            "field_goals_made",
            "plus_minus",
        )
        assert {field: line[field] for field in same} == {field: mobile[line["player_id"]][field] for field in same}


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("pbpstats_pbp_stats_0021600270", {"OKC": 126, "WAS": 115}),
        ("pbpstats_pbp_data_0021600270", {"OKC": 126, "WAS": 115}),
        ("pbpstats_pbp_live_0022000001", {"BKN": 125, "GSW": 99}),
        ("playbyplayv3", {"ATL": 117, "BOS": 116}),
    ],
)
def test_the_points_of_plays_add_up_to_the_score(name: str, points: dict[str, int]) -> None:
    made: Counter[str] = Counter()
    last = {}
    for play in of(name, "play"):
        made[play["team"]] += play["points"] or 0
        last = play
    assert {team: made[team] for team in points} == points
    assert sorted((last["home_score"], last["away_score"])) == sorted(points.values())
    assert sum(made.values()) == sum(points.values())


def test_the_players_add_up_to_their_team() -> None:
    for name in ("boxscoretraditionalv3", "pbpstats_game_details_live_0022000001"):
        lines = of(name, "player_line")
        for team in of(name, "team_line"):
            mine = [line for line in lines if line["team"] == team["team"]]
            for field in ("points", "field_goals_made", "three_pointers_attempted", "assists", "steals", "fouls"):
                assert sum(line[field] or 0 for line in mine) == team[field], field
            assert sum(bool(line["starter"]) for line in mine) == 5
            assert any(line["did_not_play"] and line["points"] is None for line in mine)


def test_a_log_tells_games_on_neutral_ground_too() -> None:
    games = {game["game_id"]: game for game in of("leaguegamefinder_Recent_date_range", "game")}
    abroad = games["0022400147"]
    assert (abroad["game_key"], abroad["home_score"], abroad["away_score"]) == ("2024-11-02:MIA@WAS", 98, 118)
    for line in of("leaguegamefinder_Recent_date_range", "team_line"):
        game = games[line["game_id"]]
        assert line["points"] == game["home_score" if line["home"] else "away_score"]
        assert line["game_key"] == game["game_key"]


def test_teams_of_a_season_that_is_long_gone_have_their_name_of_then() -> None:
    rows = [{"GAME_ID": "0020700001", "EVENTNUM": 1, "EVENTMSGTYPE": 1, "PLAYER1_TEAM_ID": 1610612760}]
    (play,) = stats_plays.of_rows(rows, About(endpoint="playbyplayv2"))
    assert play.team == "SEA"


def test_a_document_has_the_names_that_its_key_is_made_of() -> None:
    about = About(endpoint="playercareerstats", season=2024, season_type="regular", player_id="2544")
    whole = document(read_file("common_PlayerCareerStats"), about).record()
    assert (whole["folder"], whole["season"], whole["subject"]) == ("player_dashboards", 2024, "player_2544")
    assert len(whole["tables"]["SeasonTotalsRegularSeason"]) == 23
    plays = document(read_file("playbyplayv3"), About(endpoint="playbyplayv3", game_id="0022400001"))
    assert (plays.kind, plays.key) == ("play_by_play", "0022400001")
    assert len(msgspec.convert(plays.record(), model.PlayByPlay).plays) == 475
