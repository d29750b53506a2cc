"""The catalogue of Basketball Reference: whole, without contradictions, and with the addresses of the site."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from gossamer import ConfigError
from gossamer.packs.nba.reference import catalogue, keys
from gossamer.packs.nba.reference.catalogue import PLACES, Type, filled
from gossamer.packs.nba.reference.scraper import READERS

ALL = catalogue()
#: What every place of a pattern may hold.
ARGS = {
    "season": "2001",
    "team": "PHO",
    "slug": "hardeja01",
    "game_id": "201810160GSW",
    "date": "2018-01-09",
    "month": "october",
    "letter": "h",
    "award_type": "mvp",
}


def test_it_has_all_types_categories_and_tiers() -> None:
    leagues = Counter(each.league for each in ALL.types)
    assert leagues == {"nba": 119, "wnba": 16, "gleague": 10, "aba": 12, "baa": 8, "international": 39, "college": 30}
    assert len(ALL.types) == 234
    assert ALL.categories == (
        *("advanced_totals", "awards", "coaches", "draft", "per_game", "play_by_play", "playoffs", "schedules"),
        *("season_totals", "shooting", "standings", "standings_by_date", "team_ratings", "transactions"),
    )
    assert [each.n for each in ALL.tiers] == list(range(1, 14))
    assert [each.priority for each in ALL.tiers] == [
        *("immediate", "immediate", "high", "high", "medium", "medium", "medium", "low", "low"),
        *("execute", "execute", "optional", "optional"),
    ]
    assert [len(ALL.of_tier(n)) for n in range(1, 14)] == [5, 4, 3, 4, 3, 4, 4, 3, 3, 16, 10, 39, 30]


def test_names_are_given_once() -> None:
    ids = Counter(each.id for each in ALL.types)
    assert [each for each, count in ids.items() if count > 1] == []
    shared = Counter(each.key for each in ALL.types)
    assert [each for each, count in shared.items() if count > 1] == ["schedules/{season}/{month}.json"]


@pytest.mark.parametrize("each", ALL.types, ids=lambda each: each.id)
def test_a_type_is_sound(each: Type) -> None:
    assert each.key.endswith(".json")
    assert not each.key.startswith("/")
    assert (each.url is None) == (each.why is not None)
    assert each.reads is None or each.reads == "shots" or each.reads in READERS
    assert 1936 <= each.first <= (each.last or 2100)
    for pattern in filter(None, (each.url, each.also, each.key)):
        assert set(re.findall(r"\{(\w+)\}", pattern)) <= set(PLACES)
        assert "{" not in filled(pattern, ARGS)
    if each.url:
        assert each.url.startswith("/")
        found = ALL.of_url(each.address(ARGS))
        assert found is not None
        assert found[0].url == each.url
        assert found[1] == {need: ARGS[need] for need in each.needs}


def test_types_without_a_page_say_why() -> None:
    without = {each.name: each.why for each in ALL.types if each.url is None}
    assert set(without) == {
        *("synergy", "plus_minus", "era_adjusted", "projections"),
        *("clutch", "rest_fatigue", "strength_of_schedule", "travel_timezone"),
    }


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("player_game_logs", "/players/h/hardeja01/gamelog/2001"),
        ("play_by_play", "/boxscores/pbp/201810160GSW.html"),
        ("shot_chart", "/boxscores/shot-chart/201810160GSW.html"),
        ("player_tracking", "/leagues/NBA_2001_tracking.html"),
        ("lineups", "/teams/PHO/2001/lineups/"),
        ("on_off", "/teams/PHO/2001/on-off/"),
        ("advanced_totals", "/leagues/NBA_2001_advanced.html"),
        ("season_play_by_play", "/leagues/NBA_2001_play-by-play.html"),
        ("standings_by_date", "/leagues/NBA_2001_standings_by_date.html"),
        ("daily_scores", "/boxscores/?month=1&day=9&year=2018"),
        ("aba.season", "/leagues/ABA_2001.html"),
        ("baa.season", "/leagues/BAA_2001.html"),
        ("wnba.season", "/wnba/years/2001.html"),
        ("gleague.rosters", "/gleague/teams/PHO/2001.html"),
        ("international.acb_players", "/international/spain-liga-acb/2001_per_game.html"),
    ],
)
def test_addresses(name: str, path: str) -> None:
    assert ALL.named(name).address(ARGS) == f"https://www.basketball-reference.com{path}"


def test_college_has_a_host_of_its_own() -> None:
    assert ALL.named("college.season").address(ARGS) == "https://www.sports-reference.com/cbb/seasons/men/2001.html"


def test_names_in_a_bucket() -> None:
    found = keys()
    assert len(found) == 234
    assert found["nba.player_game_logs"] == "basketball_reference/nba/player_game_logs/{slug}/{season}/gamelog.json"
    assert found["nba.lineups"] == "basketball_reference/nba/lineups/{season}/{team}/lineups.json"
    assert found["gleague.standings"] == "basketball_reference/gleague/standings/{season}/standings.json"
    assert found["nba.award_mvp"] == "basketball_reference/nba/awards/mvp/all_years.json"


def test_a_wrong_name_is_told_with_a_near_one() -> None:
    with pytest.raises(ConfigError, match="'per_gam' is no category: did you mean 'per_game'"):
        ALL.of_category("per_gam")
    with pytest.raises(ConfigError, match="'lineup' is no type of league nba: did you mean 'lineups'"):
        ALL.named("lineup")
    with pytest.raises(ConfigError, match="tier=14 is none: there are 1 to 13"):
        ALL.of_tier(14)
    with pytest.raises(ConfigError, match="no league: there are aba"):
        ALL.league("zzz")


def test_links_name_teams_players_and_games() -> None:
    nba = ALL.league("nba").indexes
    hrefs = [
        "/teams/BOS/2024.html",
        "/teams/BOS/2023.html",
        "/teams/BOS/2024.html#x",
        "/teams/",
        "/players/a/ab01.html",
    ]
    assert nba["team"].named(hrefs, {"season": "2024"}) == [{"team": "BOS"}]
    assert nba["slug"].named(hrefs, {"season": "2024"}) == [{"initial": "a", "slug": "ab01"}]
    game = "https://www.basketball-reference.com/boxscores/202401150BRK.html"
    assert nba["game_id"].named([game, "/boxscores/"], {}) == [{"game_id": "202401150BRK"}]
