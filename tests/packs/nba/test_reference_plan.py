"""From parameters to pages, and what is said where something is missing."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gossamer import ConfigError, Request
from gossamer.packs.nba import seasons
from gossamer.packs.nba.reference import Reference, plan, scrape_tier

SITE = "https://www.basketball-reference.com"


def asked(**params: Any) -> dict[str, Request]:
    return {each.url.removeprefix(SITE): each for each in plan.pages(plan.wanted(params))}


def refused(**params: Any) -> str:
    with pytest.raises(ConfigError) as why:
        asked(**params)
    return str(why.value)


def test_a_game() -> None:
    found = asked(game="201810160GSW")
    assert list(found) == ["/boxscores/201810160GSW.html", "/boxscores/pbp/201810160GSW.html"]
    carry = found["/boxscores/201810160GSW.html"].carry
    assert carry == {"types": ["nba.box_score"], "args": {"game_id": "201810160GSW"}}


def test_a_category_or_several() -> None:
    found = asked(category="per_game,awards", season="2024")
    assert list(found) == ["/leagues/NBA_2024_per_game.html", "/awards/awards_2024.html"]
    assert len(asked(category="per_game", season="2022..2024")) == 3


def test_a_season_is_all_categories() -> None:
    found = asked(season="2023-24")
    assert len(found) == 17  # the playoffs have four pages
    assert "/leagues/NBA_2024_standings_by_date.html" in found


def test_a_player_with_and_without_a_season() -> None:
    assert list(asked(player="hardeja01")) == ["/players/h/hardeja01.html"]
    assert list(asked(player="hardeja01", season=2018))[1] == "/players/h/hardeja01/gamelog/2018"


@pytest.mark.parametrize("name", ["PHO", "PHX", "Suns", "Phoenix Suns"])
def test_a_team_is_called_as_the_site_calls_it(name: str) -> None:
    assert list(asked(team=name, season="2017")) == ["/teams/PHO/2017_games.html"]
    assert list(asked(team=name)) == ["/teams/PHO/"]


def test_a_team_of_another_time() -> None:
    assert list(asked(team="Nets", season="2001")) == ["/teams/NJN/2001_games.html"]


def test_days_lead_to_their_games() -> None:
    found = asked(date="2024-01-15..2024-01-16")
    assert list(found) == ["/boxscores/?month=1&day=15&year=2024", "/boxscores/?month=1&day=16&year=2024"]
    first = next(iter(found.values()))
    assert first.carry == {
        "types": ["nba.daily_scores"],
        "args": {"date": "2024-01-15"},
        "expand": {"day": ["nba.box_score", "nba.play_by_play"]},
    }
    assert first.revisit


def test_yesterday_is_what_nothing_means(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seasons, "today", lambda: seasons.dates("2024-01-16")[0])
    assert list(asked()) == ["/boxscores/?month=1&day=15&year=2024"]


def test_a_tier_begins_with_what_lists_the_rest() -> None:
    found = {each.url.removeprefix(SITE): each.carry for each in scrape_tier(1, season=2024)}
    assert list(found) == [
        "/leagues/NBA_2024_totals.html",
        "/leagues/NBA_2024_games.html",
        "/leagues/NBA_2024_tracking.html",
        "/leagues/NBA_2024.html",
    ]
    games = found["/leagues/NBA_2024_games.html"]
    assert games is not None
    assert games["expand"] == {"game_id": ["nba.play_by_play", "nba.shot_chart"]}


def test_a_tier_for_one_of_each() -> None:
    found = scrape_tier(1, season=2019, team="GSW", player="curryst01", game="201810160GSW")
    assert [each.url.removeprefix(SITE) for each in found] == [
        "/players/c/curryst01/gamelog/2019",
        "/boxscores/pbp/201810160GSW.html",
        "/boxscores/shot-chart/201810160GSW.html",
        "/leagues/NBA_2019_tracking.html",
        "/teams/GSW/2019/lineups/",
    ]


def test_types_that_share_a_page_share_a_request() -> None:
    found = asked(type="advanced_box,referees,box_score", game="201810160GSW")
    (request,) = found.values()
    assert request.carry is not None
    assert request.carry["types"] == ["nba.advanced_box", "nba.referees", "nba.box_score"]


def test_every_tier_can_be_begun() -> None:
    for n in range(1, 14):
        season = {9: 1970, 12: 2020}.get(n, 2022)
        if n == 7:
            with pytest.raises(ConfigError, match="worked out from play_by_play"):
                scrape_tier(n, season=season)
        else:
            assert scrape_tier(n, season=season)


def test_other_leagues() -> None:
    assert list(asked(league="wnba", type="standings", season="2020")) == ["/wnba/years/2020_standings.html"]
    assert list(asked(type="wnba.player_game_logs", season="2020")) == ["/wnba/years/2020_totals.html"]
    assert len(asked(league="baa", season="1948")) == 8


def test_a_search() -> None:
    (request,) = plan.pages(plan.wanted({"search": "bram lunt"}))
    assert (request.url, request.to) == (f"{SITE}/search/search.fcgi?search=bram+lunt", "searched")


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"tier": 1}, "nba.player_game_logs needs a season: add --param season=2024"),
        ({"tier": "x"}, "tier=x is none: there are 1 to 13"),
        ({"type": "lineups"}, "nba.lineups needs a season: add --param season=2024"),
        ({"type": "play_by_play"}, "nba.play_by_play needs a season: add --param season=2024"),
        ({"type": "daily_leaders"}, "nba.daily_leaders needs a date: add --param date=2024-01-29"),
        ({"type": "college.player"}, "college.player needs a player: add --param player=hardeja01"),
        ({"type": "play_by_play", "season": "1980"}, "nba.play_by_play began in 1997: there is none of 1980"),
        ({"type": "aba.season", "season": "1980"}, "aba.season began in 1968 and ended in 1976: there is none of 1980"),
        (
            {"type": "clutch", "season": "2020"},
            "there is no page to fetch for what was asked: clutch: it is worked out",
        ),
        ({"tier": "1", "category": "draft"}, "tier and category cannot be used together: name one of them"),
        ({"game": "401585285"}, "game=401585285 cannot be used: the site's ids are day, 0 and home team"),
        ({"player": "James Harden"}, "player=James Harden cannot be used: the site's ids are like hardeja01"),
        ({"team": "Wizzards"}, "team=Wizzards is no team of the NBA"),
        ({"season": "24"}, "season=24 cannot be read"),
        ({"type": "schedule_month", "season": "2020", "month": "oct"}, "month=oct cannot be used: write it in full"),
        ({"league": "nbl"}, "'nbl' is no league"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(params: dict[str, str], said: str) -> None:
    told = refused(**params)
    assert told.startswith(said)
    assert "\n" not in told


@pytest.mark.parametrize(("name", "value"), [("items", "all"), ("inactive", "maybe"), ("combined", "2TM")])
def test_words_that_are_none_are_refused_before_anything_is_fetched(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"{name}={value.lower()} cannot be used")):
        Reference({"game": "201810160GSW", name: value})


@pytest.mark.parametrize("n", [0, 14, -1])
def test_there_are_thirteen_tiers(n: int) -> None:
    with pytest.raises(ConfigError, match=f"tier={n} is none: there are 1 to 13"):
        scrape_tier(n, season=2024)


def test_what_is_missing_is_said_when_the_scraper_is_made() -> None:
    with pytest.raises(ConfigError, match="needs a season"):
        Reference({"type": "lineups"})
    with pytest.raises(ConfigError, match="is no league"):
        Reference({"league": "nbl"})
