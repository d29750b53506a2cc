"""The shapes of the NBA's answers: tables of all of them, and a sentence for what is none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gossamer import Page, ReadError
from gossamer.packs.nba.stats.records import records
from gossamer.packs.nba.stats.shapes import Table, answer, shape, tables
from gossamer.packs.nba.stats.values import About, day, matchup, minutes


def page(data: Any, content_type: str = "application/json") -> Page:
    body = data if isinstance(data, str) else json.dumps(data)
    return Page.of(body, "https://stats.nba.com/stats/x", content_type)


SET = {"name": "Rows", "headers": ["A_ID", "B"], "rowSet": [[1, "x"], [2, "y"]]}


@pytest.mark.parametrize(
    "data",
    [
        {"resource": "x", "parameters": {}, "resultSets": [SET]},
        {"resource": "x", "resultSet": SET},
        {"resultSets": SET},
        {"resultSets": {"Rows": {"headers": SET["headers"], "rowSet": SET["rowSet"]}}},
        {"resultSets": {"Rows": {"headers": SET["headers"], "data": SET["rowSet"]}}},
    ],
)
def test_sets_of_rows(data: dict[str, Any]) -> None:
    assert shape(data) == "A"
    assert tables(data) == [Table("Rows", ("A_ID", "B"), [[1, "x"], [2, "y"]])]


def test_headers_that_span_columns() -> None:
    headers = [
        {"name": "ZONE", "columnsToSkip": 1, "columnSpan": 2, "columnNames": ["Mid-Range", "Left Corner 3"]},
        {"name": "columns", "columnSpan": 1, "columnNames": ["PLAYER_ID", "NICKNAME", "FGM", "FGA", "FGM", "FGA"]},
    ]
    (table,) = tables({"resultSets": {"name": "ShotLocations", "headers": headers, "rowSet": [[7, "Q", 1, 2, 3, 4]]}})
    assert table.columns == (
        *("PLAYER_ID", "NICKNAME"),
        *("MID_RANGE_FGM", "MID_RANGE_FGA", "LEFT_CORNER_3_FGM", "LEFT_CORNER_3_FGA"),
    )


def test_a_dict_of_lists() -> None:
    found = tables({"resultSets": {"Meta": {"videoUrls": [{"uuid": "a"}, {"uuid": "b"}]}, "playlist": [{"gi": "1"}]}})
    assert [(table.name, len(table.rows)) for table in found] == [("videoUrls", 2), ("playlist", 1)]


NESTED = {
    "meta": {"version": 1},
    "boxScoreMatchups": {
        "gameId": "0022300901",
        "homeTeam": {
            "teamId": 5,
            "teamTricode": "BKN",
            "players": [{"personId": 1, "statistics": {"points": 3}, "matchups": [{"personId": 9, "points": 2}]}],
            "statistics": {"points": 3},
        },
        "awayTeam": {"teamId": 6, "teamTricode": "BOS", "players": [], "statistics": {"points": 0}},
    },
}


def test_objects_within_objects() -> None:
    assert shape(NESTED) == "B"
    found = {table.name: [*table.records()] for table in tables(NESTED)}
    assert found["boxScoreMatchups"] == [{"gameId": "0022300901"}]
    assert [(each["side"], each["teamId"], each["points"]) for each in found["teams"]] == [
        ("home", 5, 3),
        ("away", 6, 0),
    ]
    assert found["players"] == [
        {"gameId": "0022300901", "side": "home", "teamId": 5, "teamTricode": "BKN", "personId": 1, "points": 3}
    ]
    assert found["matchups"][0]["personId"] == 9
    assert found["matchups"][0]["parentPersonId"] == 1


def test_live_and_mobile() -> None:
    assert shape({"meta": {"code": 200}, "game": {"gameId": "1"}}) == "C"
    mobile = {"g": {"gid": "1", "pd": [{"p": 1, "pla": [{"evt": 4}]}], "hls": {"tid": 5, "tstsg": {"fgm": 3}}}}
    assert shape(mobile) == "D"
    found = {table.name: [*table.records()] for table in tables(mobile)}
    assert found["actions"] == [{"gid": "1", "p": 1, "evt": 4}]
    assert found["teams"] == [{"gid": "1", "side": "home", "tid": 5, "fgm": 3}]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "a shape nobody knows"),
        ({"a": 1, "b": 2}, "a shape nobody knows: its fields are a, b"),
        ({"Message": "An error has occurred."}, "the NBA refused: An error has occurred."),
        ({"resultSets": None}, "no sets of rows"),
        ({"resultSets": [7]}, "set 1 of the answer is no object"),
        ({"resultSets": [{"name": "x"}]}, "no headers, or no rows"),
        ({"resultSets": [{"name": "x", "headers": ["A"], "rowSet": "rows"}]}, "no headers, or no rows"),
        ({"resultSets": [{"name": "x", "headers": [{"a": 1}], "rowSet": []}]}, "headers of a shape nobody knows"),
        ({"resultSets": [{"headers": ["A"] * 501, "rowSet": []}]}, "501 columns"),
    ],
)
def test_what_is_no_answer(data: dict[str, Any], said: str) -> None:
    with pytest.raises(ReadError, match=said):
        tables(answer(page(data)))


def test_what_is_no_data_at_all() -> None:
    with pytest.raises(ReadError, match="a web page came instead of data"):
        answer(page("<!doctype html><title>Access Denied</title>", "text/html"))
    with pytest.raises(ReadError, match="no object but a list"):
        answer(page([]))
    with pytest.raises(ReadError, match="nothing came"):
        answer(page("", "application/json"))
    with pytest.raises(ReadError, match="not JSON"):
        answer(page("{", "application/json"))


def test_an_endless_answer_ends() -> None:
    deep: dict[str, Any] = {"gameId": "1"}
    for _ in range(60):
        deep = {"players": [deep], "teamId": 1}
    with pytest.raises(ReadError, match="deeper"):
        tables({"meta": {}, "game": deep})


#: Values in the place of others: nothing may raise but a ReadError.
ODD: list[Any] = [None, 7, -3, "x", "", [], {}, [1], {"a": []}, True, 1e300, "999999999999999999999"]


@pytest.mark.parametrize("name", ["scoreboardv2", "boxscoretraditionalv2", "playbyplayv2", "leaguegamelog"])
def test_odd_values_in_rows_raise_nothing(name: str) -> None:
    columns = ["GAME_ID", "TEAM_ID", "PLAYER_ID", "PLAYER_NAME", "MATCHUP", "GAME_DATE", "GAME_DATE_EST", "MIN", "PTS"]
    columns += ["EVENTNUM", "EVENTMSGTYPE", "SCORE", "HOME_TEAM_ID", "VISITOR_TEAM_ID", "LIVE_PERIOD", "PLAYER1_ID"]
    rows = [[odd] * len(columns) for odd in ODD] + [[odd] for odd in ODD]
    for table in ("GameHeader", "LineScore", "PlayerStats", "TeamStats", "PlayByPlay", "LeagueGameLog"):
        sets = [{"name": table, "headers": columns, "rowSet": rows}]
        list(records({"resultSets": sets}, About(endpoint=name)))


@pytest.mark.parametrize("name", ["scoreboardv3", "boxscoretraditionalv3", "playbyplayv3", "liveboxscore"])
@pytest.mark.parametrize("odd", ODD, ids=str)
def test_odd_values_in_objects_raise_nothing(name: str, odd: Any) -> None:
    thing = dict.fromkeys(("gameId", "gameCode", "homeTeam", "awayTeam", "actionNumber", "clock", "period"), odd)
    team = {"teamId": odd, "teamTricode": odd, "players": [{"personId": odd, "firstName": odd}], "statistics": odd}
    whole = {**thing, "gameId": "0022300901", "gameCode": "20240115/BOSBKN", "homeTeam": team, "awayTeam": team}
    for body in (
        {"scoreboard": {"games": [thing, whole, odd]}},
        {"boxScoreTraditional": whole},
        {"game": {**whole, "actions": [thing, odd, {**thing, "actionNumber": 1}]}},
    ):
        list(records({"meta": {}, **body}, About(endpoint=name)))


def test_values() -> None:
    assert [day(text) for text in ("APR 14, 2024", "Friday, November 03, 2023", "20240115/BOSBKN", "2024-02-30")] == [
        "2024-04-14",
        "2023-11-03",
        "2024-01-15",
        None,
    ]
    assert (minutes("36.000000:42"), minutes("60:07"), minutes(None)) == (36.7, 60.12, None)
    assert matchup({"MATCHUP": "BOS vs. WAS", "TEAM_ID": 1610612738}, 2024) == ("BOS", "WAS", True)
    assert matchup({"MATCHUP": "LAL @ DEN", "TEAM_ABBREVIATION": "LAL"}, 2024) == ("LAL", "DEN", False)
    # On neutral ground both rows say the same.
    assert matchup({"MATCHUP": "MIA @ WAS", "TEAM_ABBREVIATION": "WAS"}, 2024) == ("WAS", "MIA", True)
    assert matchup({"MATCHUP": "nobody"}, 2024) is None


LONG = "x" * 300
WIDE = [f"{n:0190d}" for n in range(500)]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"resultSets": [{"name": "R", "headers": [LONG], "rowSet": [[1]]}]}, "a name of 300 letters"),
        ({"resultSets": [{"name": LONG, "headers": ["A"], "rowSet": [[1]]}]}, "a name of 300 letters"),
        ({"resultSets": {LONG: {"headers": ["A"], "rowSet": [[1]]}}}, "a name of 300 letters"),
        ({"resultSets": {LONG: [{"a": 1}]}}, "a name of 300 letters"),
        ({"resultSets": [{"name": "R", "headers": [["A"]], "rowSet": []}]}, "a list where the name"),
        ({"resultSets": [{"name": "R", "headers": ["A"] * 501, "rowSet": []}]}, "501 columns"),
        ({"resultSets": [{"name": "R", "headers": WIDE, "rowSet": [[1]] * 500}]}, "more rows and columns"),
        ({"g": {LONG: 1}}, "a name of 300 letters"),
        ({"g": {"a": {"b" * 150: {"c" * 150: 1}}}}, "a name of 302 letters|a name of 30"),
        ({"g": {"pla": [{f"{n % 500:0150d}": 1} for n in range(2_000)]}}, "more rows and columns"),
        ({"g": {**{f"{name}Id": 1 for name in WIDE}, "pla": [{"a": 1}] * 1_000}}, "more rows and columns"),
    ],
)
def test_what_would_grow_beyond_measure_is_refused(data: dict[str, Any], said: str) -> None:
    with pytest.raises(ReadError, match=said) as told:
        list(records(data, About(endpoint="leagueleaders")))
    assert len(str(told.value)) < 300


def test_only_small_values_are_told_again_and_again() -> None:
    found = {table.name: table for table in tables({"g": {"gid": "x" * 1_000, "tid": 7, "pla": [{"a": 1}]}})}
    assert next(found["actions"].records()) == {"tid": 7, "a": 1}
    assert next(found["game"].records())["gid"] == "x" * 1_000
