"""Teams, seasons and values that all sources of the pack share."""

from __future__ import annotations

from datetime import date

import msgspec
import pytest

from gossamer import ConfigError
from gossamer.packs.nba import model, quality, seasons, teams
from tests.packs import fixture


def test_thirty_teams_play_today() -> None:
    found = teams.current()
    assert len(found) == len({each.code for each in found}) == len({each.nba_id for each in found}) == 30
    assert len({each.espn_id for each in found}) == 30
    assert sorted(each.conference or "" for each in found) == ["East"] * 15 + ["West"] * 15


def test_the_table_agrees_with_a_crosswalk_that_others_made() -> None:
    lines = [line.split(",") for line in fixture("nba_hoopr/nba_teams.csv").decode().splitlines()]
    names = [name.strip('"') for name in lines[0]]
    rows = [dict(zip(names, (cell.strip('"') for cell in line), strict=False)) for line in lines[1:] if len(line) > 15]
    assert len(rows) == 30
    for row in rows:
        found = teams.of_nba(row["TeamID"])
        assert found is not None
        assert (found.espn_id, found.espn_code, found.name) == (
            row["espn_team_id"],
            row["abbreviation"],
            row["display_name"],
        )
        assert (found.conference, found.division) == (row["Conference"], row["Division"])
        assert teams.of_espn(row["espn_team_id"]) == found == teams.team(row["TeamNameFull"])


@pytest.mark.parametrize(
    ("name", "season", "code"),
    [
        *((name, None, "LAL") for name in ("LAL", "Lakers", "L.A. Lakers", "LA Lakers", "los angeles lakers")),
        *((name, 2024, "BKN") for name in ("BKN", "BRK", "Brooklyn", "Nets", "Brooklyn Nets")),
        *((name, 2024, "PHX") for name in ("PHO", "PHX", "Phoenix Suns")),
        *((name, 2024, "CHA") for name in ("CHO", "CHA", "Hornets")),
        *((each, None, code) for each, code in (("GS", "GSW"), ("NO", "NOP"), ("NY", "NYK"), ("SA", "SAS"))),
        *((each, None, code) for each, code in (("UTAH", "UTA"), ("WSH", "WAS"), ("LA Clippers", "LAC"))),
        ("NO", 2010, "NOH"),
        ("NO", 2007, "NOK"),
        ("NOP", 2004, "NOH"),
        ("CHA", 2001, "CHH"),
        ("Hornets", 2010, "NOH"),
        ("Hornets", 1999, "CHH"),
        ("CHA", 2010, "CHA"),
        ("BKN", 2012, "NJN"),
        ("NJ", 2005, "NJN"),
        ("OKC", 2008, "SEA"),
        ("Sonics", None, "SEA"),
        ("VAN", None, "VAN"),
        ("MEM", 2001, "VAN"),
        ("WAS", 1990, "WSB"),
        ("Washington Bullets", None, "WSB"),
        ("SAC", 1980, "KCK"),
        ("San Diego Clippers", None, "SDC"),
        ("Philadelphia", 1960, "PHW"),
        ("1610612747", None, "LAL"),
    ],
)
def test_names_mean_one_team(name: str, season: int | None, code: str) -> None:
    assert teams.code(name, season) == code


@pytest.mark.parametrize(
    "name", ["Los Angeles", "LA", "EAST", "Seattle Storm", "Team Giannis", "", None, 7, "x" * 1000]
)
def test_what_may_mean_two_or_is_no_team_means_none(name: object) -> None:
    assert teams.team(name) is None


def test_every_season_of_a_franchise_has_one_name() -> None:
    for season in range(1950, 2027):
        playing = [
            each for code in teams.current() if (each := teams.of_nba(code.nba_id, season)) and each.played(season)
        ]
        assert len({each.code for each in playing}) == len(playing)


@pytest.mark.parametrize("given", ["2024", 2024, "2023-24", "2023-2024", "2023/24", " 2024 "])
def test_seasons_are_called_by_the_year_in_which_they_end(given: object) -> None:
    assert seasons.season_year(given) == 2024
    assert seasons.season_text(2024) == "2023-24"


def test_several_seasons() -> None:
    assert seasons.seasons("2022..2024") == [2022, 2023, 2024]
    assert seasons.seasons("2024,2019-20") == [2020, 2024]
    with pytest.raises(ConfigError, match="after the last"):
        seasons.seasons("2024..2020")


@pytest.mark.parametrize("given", ["", "24", "2023-26", "99999", "1946", "2024-01-01", None, "2024; drop"])
def test_what_is_no_season_is_refused(given: object) -> None:
    with pytest.raises(ConfigError):
        seasons.season_year(given)


@pytest.mark.parametrize(
    ("day", "season"),
    [("2024-01-29", 2024), ("2023-10-24", 2024), ("2024-06-17", 2024), ("2020-10-11", 2020), ("2020-12-22", 2021)],
)
def test_days_belong_to_seasons(day: str, season: int) -> None:
    assert seasons.season_of(day) == season
    first, last = seasons.bounds(season)
    assert first <= date.fromisoformat(day) <= last


@pytest.mark.parametrize(
    "given", ["2024-01-29..2024-01-31", "20240129-20240131", "2024-01-29-2024-01-31", "20240129..20240131"]
)
def test_ranges_of_days(given: str) -> None:
    assert [f"{day}" for day in seasons.dates(given)] == ["2024-01-29", "2024-01-30", "2024-01-31"]


@pytest.mark.parametrize(
    ("given", "said"),
    [("38", 38.0), ("38:24", 38.4), ("60:07", 60.12), ("PT36M30.00S", 36.5), ("", None), ("DNP", None), (-3, None)],
)
def test_minutes(given: object, said: float | None) -> None:
    assert model.minutes(given) == said


@pytest.mark.parametrize(
    ("given", "said"),
    [("11:39", 699.0), ("23.4", 23.4), ("0.0", 0.0), ("PT11M39.00S", 699.0), ("PT", None), (None, None)],
)
def test_clocks(given: object, said: float | None) -> None:
    assert model.seconds(given) == said


def test_counts() -> None:
    assert [
        model.count(each) for each in ("+7", "-3", 107.0, "1,234", "4.5", True, None, "x", float("nan"), 10**400)
    ] == [
        *(7, -3, 107, 1234),
        *([None] * 6),
    ]
    assert model.made_attempted("8-14") == (8, 14)
    assert model.made_attempted("--") == model.made_attempted(None) == (None, None)


def game(**more: object) -> dict[str, object]:
    record = {
        "game_id": "1",
        "source": "espn",
        "date": "2024-01-29",
        "season": 2024,
        "season_type": "regular",
        "home_team": "BOS",
        "away_team": "LAL",
        "tipoff": "2024-01-30T00:00:00Z",
        "venue": "Garden",
        "status": "final",
        "home_score": 110,
        "away_score": 100,
        "overtimes": 0,
        "attendance": 19_000,
    }
    return {**record, **more}


@pytest.mark.parametrize("field", ["home_score", "attendance", "overtimes"])
def test_nothing_is_counted_below_zero(field: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(game(**{field: -1}), model.Game)


def test_quality_is_a_hundred_where_nothing_is_amiss() -> None:
    assert quality.score(game()) == 100.0


@pytest.mark.parametrize(
    "amiss",
    [
        {"attendance": None},
        {"home_score": 100},
        {"home_team": "LAL"},
        {"season": 2022},
        {"home_score": 900},
        {"away_team": "XXX"},
        {"home_periods": [1, 2, 3, 4]},
        {"status": "scheduled"},
    ],
)
def test_quality_falls_with_whatever_is_amiss(amiss: dict[str, object]) -> None:
    told = quality.score(game(**amiss))
    assert told is not None
    assert 50 < told < 100


def test_quality_weighs_completeness_consistency_and_accuracy() -> None:
    line = {"player_id": "1", "name": "A B", "team": "BOS", "did_not_play": True, "reason": None}
    assert quality.score(line) == 90.0  # of four fields one is missing: a quarter of 40
    assert quality.score({"some": "record"}) is None
    assert quality.quality({"teams": [], "game": game()})["game"]["quality"] == 100.0
