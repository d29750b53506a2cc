"""The catalogue of the NBA's endpoints, and the questions that parameters make of it."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from gossamer import ConfigError
from gossamer.packs.nba.stats.catalogue import ENDPOINTS, GROUPS, SCOPES, Endpoint, chosen, endpoint
from gossamer.packs.nba.stats.query import Wish, game_id, game_season, game_type, league_of, queries, team_ids, url
from gossamer.packs.nba.stats.scraper import Stats

SUBJECTS = {"team": "1610612738", "player": "990101", "game": "0022300901", "date": "2024-01-15"}
#: What people ask the NBA for, group by group.
NAMED = [
    "boxscoretraditionalv2",
    "boxscoretraditionalv3",
    "boxscoreadvancedv2",
    "boxscoreadvancedv3",
    "boxscorefourfactorsv2",
    "boxscorefourfactorsv3",
    "boxscoremiscv2",
    "boxscoremiscv3",
    "boxscorescoringv2",
    "boxscorescoringv3",
    "boxscoreusagev2",
    "boxscoreusagev3",
    "boxscoredefensivev2",
    "boxscoreplayertrackv3",
    "boxscorehustlev2",
    "boxscorematchupsv3",
    "boxscoresummaryv2",
    "boxscoresummaryv3",
    "playerdashptpass",
    "playerdashptreb",
    "playerdashptshotdefend",
    "playerdashptshots",
    "leaguedashptstats",
    "leaguedashptdefend",
    "leaguedashplayerstats",
    "leaguedashteamstats",
    "leaguedashlineups",
    "leaguedashplayerbiostats",
    "leaguedashplayerclutch",
    "leaguedashteamclutch",
    "leagueleaders",
    "leaguestandingsv3",
    "leaguegamelog",
    "leaguegamefinder",
    "leaguehustlestatsplayer",
    "leaguehustlestatsteam",
    "synergyplaytypes",
    "playerdashboardbyclutch",
    "playerdashboardbygeneralsplits",
    "playerdashboardbylastngames",
    "playerdashboardbyshootingsplits",
    "playerdashboardbyteamperformance",
    "playerdashboardbyyearoveryear",
    "commonallplayers",
    "commonplayerinfo",
    "playercareerstats",
    "playergamelog",
    "shotchartdetail",
    "teamdashboardbygeneralsplits",
    "teamdashboardbyshootingsplits",
    "teamdashlineups",
    "teamdashptpass",
    "teamdashptreb",
    "teamdashptshots",
    "teamgamelog",
    "commonteamroster",
    "teaminfocommon",
    "teamyearbyyearstats",
    "playbyplayv2",
    "playbyplayv3",
    "gamerotation",
    "winprobabilitypbp",
    "scoreboardv2",
    "scoreboardv3",
    "scheduleleaguev2",
    "videodetails",
    "glalumboxscoresimilarityscore",
    "leaguedashplayerptshot",
    "leaguedashteamptshot",
    "leaguedashplayershotlocations",
    "leaguedashteamshotlocations",
    "leagueseasonmatchups",
    "matchupsrollup",
    "drafthistory",
    "draftcombinestats",
]


def test_every_endpoint_is_there() -> None:
    assert len(NAMED) == 75
    assert not set(NAMED) - set(ENDPOINTS)
    assert len(ENDPOINTS) >= 80  # those of the live and mobile apps are further ones


@pytest.mark.parametrize("one", ENDPOINTS.values(), ids=lambda each: str(each.name))
def test_an_endpoint_says_what_it_is(one: Endpoint) -> None:
    assert one.group in GROUPS
    assert one.scope in SCOPES
    assert not set(one.needs) & set(one.defaults)
    assert one.season not in one.defaults
    assert ("PerMode" in one.defaults) == bool(one.per)
    assert one.each is None or one.each[0] in one.defaults


@pytest.mark.parametrize("one", ENDPOINTS.values(), ids=lambda each: str(each.name))
def test_all_parameters_of_an_endpoint_are_sent(one: Endpoint) -> None:
    wish = Wish(more={"Person1Id": "1", "Person2Id": "2"}) if "Person1Id" in one.needs else Wish()
    for query in queries(one, wish, 2024, SUBJECTS.get(one.scope)):
        assert set(query) == one.knows
        asked = urlsplit(url(one, query))
        if not one.path:
            assert asked.netloc == "stats.nba.com"
            assert set(parse_qs(asked.query, keep_blank_values=True)) == one.knows
        assert "{" not in url(one, query)


def test_a_season_is_written_as_the_endpoint_wants_it() -> None:
    def season(name: str, wish: Wish) -> str:
        one = endpoint(name)
        return next(iter(queries(one, wish, 2024)))[one.season]

    assert season("leaguegamelog", Wish()) == "2023-24"
    assert season("leaguegamelog", Wish(league="10")) == "2024"
    assert season("synergyplaytypes", Wish()) == "2023-24"
    assert season("drafthistory", Wish()) == "2024"


def test_some_are_asked_once_for_each_sort() -> None:
    assert len(list(queries(endpoint("synergyplaytypes"), Wish(), 2024))) == 11
    assert len(list(queries(endpoint("leaguedashptstats"), Wish(), 2024))) == 12
    one = list(queries(endpoint("synergyplaytypes"), Wish(more={"PlayType": "Cut"}), 2024))
    assert [each["PlayType"] for each in one] == ["Cut"]


def test_live_files_have_a_url_of_their_own() -> None:
    def of(name: str) -> str:
        return url(endpoint(name), next(iter(queries(endpoint(name), Wish(), 2024, "0022300901"))))

    assert of("liveboxscore") == "https://cdn.nba.com/static/json/liveData/boxscore/boxscore_0022300901.json"
    assert of("livescoreboard").endswith("/scoreboard/todaysScoreboard_00.json")
    assert of("mobileplaybyplay").endswith("/mobile_teams/nba/2023/scores/pbp/0022300901_full_pbp.json")


@pytest.mark.parametrize(
    ("game", "season", "part", "league"),
    [
        ("0022300001", 2024, "regular", "NBA"),
        ("0042300155", 2024, "playoffs", "NBA"),
        ("0012300005", 2024, "preseason", "NBA"),
        ("0032300001", 2024, "all-star", "NBA"),
        ("0052300101", 2024, "play-in", "NBA"),
        ("0062300001", 2024, "cup-final", "NBA"),
        ("0024600001", 1947, "regular", "NBA"),
        ("1022500165", 2025, "regular", "WNBA"),
        ("2021900490", 2020, "regular", "G League"),
    ],
)
def test_what_the_id_of_a_game_says(game: str, season: int, part: str, league: str) -> None:
    assert game_id(game.lstrip("0")) == game
    assert (game_season(game), game_type(game), league_of(game)) == (season, part, league)


@pytest.mark.parametrize("bad", ["", "401585285x", "12", "9922300001", "00223000011", "none", "0002300001"])
def test_what_is_no_game(bad: str) -> None:
    with pytest.raises(ConfigError, match="no game of the NBA"):
        game_id(bad)


def test_teams_by_code_name_or_number() -> None:
    assert team_ids("BOS, Lakers,1610612740") == ["1610612738", "1610612747", "1610612740"]
    with pytest.raises(ConfigError, match="no team of the NBA"):
        team_ids("Harlem")


def test_endpoints_by_name_group_or_scope() -> None:
    assert [each.name for each in chosen("BoxScoreTraditionalV3, play-by-play-v3")] == [
        "boxscoretraditionalv3",
        "playbyplayv3",
    ]
    assert {each.group for each in chosen("team_dashboards")} == {"team_dashboards"}
    assert {each.scope for each in chosen("game")} == {"game"}
    assert len(chosen("all")) == len(ENDPOINTS)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"endpoint": "boxscoretraditionalv4"}, "did you mean 'boxscoretraditionalv"),
        ({"endpoint": " , "}, "names none"),
        ({"season": "2023-25"}, "no season"),
        ({"game": "401585285"}, "no game of the NBA"),
        ({"season_type": "summer"}, "season_type=summer cannot be used"),
        ({"league": "euro"}, "league=euro cannot be used"),
        ({"player": "LeBron"}, "numbers of players"),
        ({"date": "yesterday"}, "cannot be read"),
        ({"items": "all"}, "rows, documents or both"),
        ({"endpoint": "playercareerstats", "player": "1", "per_mode": "Per48"}, "did you mean 'Per36'"),
        ({"more": "MeasureTyp=Base"}, "did you mean 'MeasureType'"),
        ({"more": "what"}, "cannot be read"),
        ({"endpoint": "leaguedashlineups", "more": "GroupQuantity=7"}, "2 to 5"),
        ({"endpoint": "glalumboxscoresimilarityscore"}, "wants Person1Id"),
        ({"endpoint": "playerdashptshots", "per_mode": "Per48"}, "per_mode=Per48 cannot be used"),
    ],
)
def test_what_cannot_be_asked(params: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Stats(params)


def test_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean 'season'"):
        Stats({"saeson": "2024"})


def test_what_is_asked_where_nobody_names_endpoints() -> None:
    def asked(**params: str) -> list[str]:
        return [urlsplit(each.url).path.rpartition("/")[2] for each in Stats(params).start()]

    assert asked(game="0022300901") == ["boxscoresummaryv2", "boxscoretraditionalv3", "playbyplayv3"]
    assert asked(team="BOS", season="2024") == ["teamgamelog", "commonteamroster"]
    assert asked(date="2024-01-15..2024-01-16") == ["scoreboardv3", "scoreboardv3"]
    assert asked(season="2024")[0] == "leaguegamelog"


def test_lists_lead_to_what_was_not_named() -> None:
    (board,) = Stats({"endpoint": "boxscoreadvancedv3", "date": "2024-01-15"}).start()
    assert board.carry is not None
    assert (board.carry["endpoint"], board.carry["then"]) == ("scoreboardv3", ["boxscoreadvancedv3"])
    (players,) = Stats({"endpoint": "playerdashptshots", "season": "2024"}).start()
    assert players.carry is not None
    assert (players.carry["endpoint"], players.carry["then"]) == ("commonallplayers", ["playerdashptshots"])
    assert len(Stats({"endpoint": "teamdashptpass", "season": "2023..2024"}).start()) == 60


def test_everything_at_once() -> None:
    found = Stats({"endpoint": "all", "date": "2024-01-15", "season": "2024"}).start()
    names = {each.carry["endpoint"] for each in found if each.carry}
    led_to = {name for each in found if each.carry for name in each.carry.get("then", ())}
    assert names | led_to == set(ENDPOINTS) - {"glalumboxscoresimilarityscore"}
    assert len({each.url for each in found}) == len(found)
