"""Pages of Basketball Reference as they were captured, against what others read in them.

Where names differ, ours stand on the left of the tables below. What the normalised records leave out (the game score,
the minutes of a team) is compared with the tables that a document holds.
"""

from __future__ import annotations

import csv
import io
from typing import Any

import msgspec
import pytest

from gossamer import Item, Page, ReadError, Request
from gossamer.packs.nba import teams
from gossamer.packs.nba.model import Game, Play, PlayerLine, Standing, TeamLine
from gossamer.packs.nba.reference import Reference, catalogue, people, schedules, tables
from gossamer.packs.nba.reference.records import Player, PlayerSeason
from tests.packs import answer, fixture, page_of

SITE = "https://www.basketball-reference.com"
POSITIONS = {
    "PG": "POINT GUARD",
    "SG": "SHOOTING GUARD",
    "SF": "SMALL FORWARD",
    "PF": "POWER FORWARD",
    "C": "CENTER",
    "G": "GUARD",
    "F": "FORWARD",
}
#: Our names for what is counted, and theirs.
COUNTS = {
    "field_goals_made": "made_field_goals",
    "field_goals_attempted": "attempted_field_goals",
    "three_pointers_made": "made_three_point_field_goals",
    "three_pointers_attempted": "attempted_three_point_field_goals",
    "free_throws_made": "made_free_throws",
    "free_throws_attempted": "attempted_free_throws",
    "offensive_rebounds": "offensive_rebounds",
    "defensive_rebounds": "defensive_rebounds",
    "assists": "assists",
    "steals": "steals",
    "blocks": "blocks",
    "turnovers": "turnovers",
    "fouls": "personal_fouls",
}
ADVANCED = {
    "player_efficiency_rating": "player_efficiency_rating",
    "true_shooting_percentage": "true_shooting_percentage",
    "three_point_attempt_rate": "three_point_attempt_rate",
    "free_throw_attempt_rate": "free_throw_attempt_rate",
    "offensive_rebound_percentage": "offensive_rebound_percentage",
    "defensive_rebound_percentage": "defensive_rebound_percentage",
    "rebound_percentage": "total_rebound_percentage",
    "assist_percentage": "assist_percentage",
    "steal_percentage": "steal_percentage",
    "block_percentage": "block_percentage",
    "turnover_percentage": "turnover_percentage",
    "usage_percentage": "usage_percentage",
    "offensive_win_shares": "offensive_win_shares",
    "defensive_win_shares": "defensive_win_shares",
    "win_shares": "win_shares",
    "win_shares_per_48": "win_shares_per_48_minutes",
    "offensive_box_plus_minus": "offensive_box_plus_minus",
    "defensive_box_plus_minus": "defensive_box_plus_minus",
    "box_plus_minus": "box_plus_minus",
    "value_over_replacement": "value_over_replacement_player",
}


def captured(name: str, path: str) -> Page:
    """A captured page, as if it had been asked for by its address."""
    return page_of(fixture(f"nba_bbref/{name}.html"), SITE + path)


def read(name: str, path: str, **params: str) -> list[Item]:
    """What the scraper makes of a captured page."""
    return [each for each in Reference(params).parse(captured(name, path)) if isinstance(each, Item)]


def records(model: Any, items: list[Item]) -> list[Any]:
    """The records of one model, held against it."""
    kind = {"PlayerSeason": "player_season", "PlayerLine": "player_line", "TeamLine": "team_line"}
    name = kind.get(model.__name__, model.__name__.lower())
    return [msgspec.convert(each.record(), model) for each in items if each.kind == name]


def expected(name: str) -> Any:
    return answer(f"nba_bbref/{name}.expected.json")


def full(code: str | None, season: int) -> str:
    """A team as the others write it: they know but one name of the Clippers."""
    found = teams.team(code, season)
    assert found is not None, code
    return found.name.upper().replace("LA CLIPPERS", "LOS ANGELES CLIPPERS")


def positions(each: PlayerSeason) -> list[str]:
    return [POSITIONS[short] for short in each.positions]


# --- seasons ---


def test_the_totals_of_a_season() -> None:
    found = [each for each in _seasons("totals") if each.season_type == "regular"]
    got: list[dict[str, Any]] = [
        {
            "slug": each.player_id,
            "name": each.name,
            "positions": positions(each),
            "age": each.age,
            "team": full(each.team, 2001),
            "games_played": each.games,
            "games_started": each.games_started,
            "minutes_played": each.minutes,
            "points": each.stats["points"],
            **{theirs: each.stats[ours] for ours, theirs in COUNTS.items()},
        }
        for each in found
    ]
    want = expected("players_season_totals_2001")
    assert len(got) == len(want) == 490
    assert got == want
    rows = list(csv.DictReader(io.StringIO(fixture("nba_bbref/players_season_totals_2001.expected.csv").decode())))
    flat = [{name: str(value) for name, value in {**each, "positions": each["positions"][0]}.items()} for each in got]
    assert [{**each, "minutes_played": each["minutes_played"].removesuffix(".0")} for each in flat] == rows


def _seasons(which: str, **params: str) -> list[PlayerSeason]:
    file = {"totals": "players_season_totals_2001", "advanced": "players_advanced_2001"}[which]
    found: list[PlayerSeason] = records(PlayerSeason, read(file, f"/leagues/NBA_2001_{which}.html", **params))
    return found


def test_the_advanced_numbers_of_a_season() -> None:
    found = [each for each in _seasons("advanced") if each.season_type == "regular"]
    got = [
        {
            "slug": each.player_id,
            "name": each.name,
            "positions": positions(each),
            "age": each.age,
            "team": full(each.team, 2001),
            "games_played": each.games,
            "minutes_played": each.minutes,
            "is_combined_totals": each.combined,
            # What cannot be worked out is None with us: they write 0.
            **{theirs: each.stats[ours] or 0 for ours, theirs in ADVANCED.items()},
        }
        for each in found
    ]
    want = expected("players_advanced_2001")
    assert len(got) == len(want)
    assert got == want


def test_rows_that_sum_up_teams_come_if_they_are_asked_for() -> None:
    both = [each for each in _seasons("totals", combined="yes") if each.season_type == "regular"]
    assert len(both) == 537  # all but the league's average
    assert {each.team_id for each in both if each.combined} <= {"2TM", "3TM", "4TM", "TOT"}
    assert len({(each.player_id, each.team_id) for each in both}) == 537


def test_the_standings() -> None:
    found: list[Standing] = records(Standing, read("season_2019", "/leagues/NBA_2019.html"))
    got = [
        {
            "conference": {"East": "EASTERN", "West": "WESTERN"}[str(each.conference)],
            "division": str(each.division).upper(),
            "losses": each.losses,
            "team": full(each.team, 2019),
            "wins": each.wins,
        }
        for each in found
    ]
    assert got == expected("standings_2019")
    assert sum(each.clinched == "x" for each in found) == 16
    assert sorted(each.seed or 0 for each in found if each.conference == "West") == list(range(1, 16))


# --- schedules ---


def _scheduled(found: list[Game], season: int) -> list[dict[str, Any]]:
    return [
        {
            "away_team": full(each.away_team, season),
            "away_team_score": each.away_score,
            "home_team": full(each.home_team, season),
            "home_team_score": each.home_score,
            "start_time": str(each.tipoff).replace("Z", "+00:00"),
        }
        for each in found
    ]


def test_the_months_of_a_schedule() -> None:
    october: list[Game] = records(Game, read("schedule_2018_october", "/leagues/NBA_2018_games-october.html"))
    june: list[Game] = records(Game, read("schedule_2018_june", "/leagues/NBA_2018_games-june.html"))
    want = expected("schedule_2018")
    assert _scheduled(october, 2018) == want[:104]
    assert _scheduled(june, 2018) == want[-len(june) :]
    assert {each.season_type for each in october} == {"regular"}
    assert {each.season_type for each in june} == {"playoffs"}


def test_games_to_come_have_no_score() -> None:
    found: list[Game] = records(Game, read("schedule_upcoming-games", "/leagues/NBA_2019_games-april.html"))
    fact = answer("nba_bbref/expected_facts.json")["schedule_upcoming-games.html"]
    assert len(found) == fact["games"]
    first = found[0]
    assert (full(first.away_team, 2019), full(first.home_team, 2019)) == (fact["first"]["away"], fact["first"]["home"])
    assert first.tipoff == "2019-04-01T23:30:00Z"
    assert {(each.home_score, each.away_score, each.status) for each in found} == {(None, None, "scheduled")}


def test_a_schedule_leads_to_its_other_months() -> None:
    page = captured("schedule_2018_october", "/leagues/NBA_2018_games.html")
    assert list(schedules.month_links(page))[:2] == ["october", "november"]
    assert schedules.months_of(page) == {"october"}


def test_the_schedule_of_a_team() -> None:
    # The page is of Golden State, whatever it was asked for as.
    found: list[Game] = records(Game, read("team_schedule_PHO_2017", "/teams/PHO/2017_games.html"))
    want = expected("team_schedule_PHO_2017")["setup_method.results"]
    assert len(found) == 82 + 17
    game = found[want["game"] - 1]
    assert (game.game_id, game.date, game.season_type) == (want["boxscore_index"], "2016-10-28", "regular")
    assert (game.away_team, game.home_team, game.home_name) == ("GSW", want["opponent_abbr"], want["opponent_name"])
    assert (game.away_score, game.home_score) == (want["points_scored"], want["points_allowed"])
    assert game.tipoff == "2016-10-29T01:30:00Z"
    assert [each.season_type for each in found].count("playoffs") == 17


# --- days ---


@pytest.mark.parametrize(
    ("name", "path", "links"),
    [
        ("boxscores_2018-01-01_index", "?month=1&day=1&year=2018", ["BRK", "CHI", "MIN", "TOR"]),
        ("oldlayout_boxscores_2017-01-01_index", "?month=1&day=1&year=2017", ["ATL", "IND", "LAL", "MIA", "MIN"]),
    ],
)
def test_the_games_of_a_day(name: str, path: str, links: list[str]) -> None:
    found: list[Game] = records(Game, read(name, f"/boxscores/{path}"))
    year = path[-4:]
    assert [each.game_id for each in found] == [f"{year}01010{code}" for code in links]
    assert all(sum(each.home_periods) == each.home_score for each in found)
    if year == "2017":
        facts = answer("nba_bbref/expected_facts.json")["oldlayout_boxscores_2017-01-01_index.html"]["links"]
        assert [str(each.url).removeprefix(SITE) for each in found] == facts
        assert found[0].overtimes == 1


def test_the_scores_of_a_day() -> None:
    found: list[Game] = records(Game, read("boxscores_2020-02-22_index", "/boxscores/?month=2&day=22&year=2020"))
    want = expected("boxscores_2020-02-22")["2-22-2020"]
    got = []
    for each in found:
        home = (each.home_name, _code(each.home_team), each.home_score)
        away = (each.away_name, _code(each.away_team), each.away_score)
        won, lost = (home, away) if (each.home_score or 0) > (each.away_score or 0) else (away, home)
        got.append(
            {
                "home_name": home[0],
                "home_abbr": home[1],
                "home_score": home[2],
                "boxscore": each.game_id,
                "away_name": away[0],
                "away_abbr": away[1],
                "away_score": away[2],
                "winning_name": won[0],
                "winning_abbr": won[1],
                "losing_name": lost[0],
                "losing_abbr": lost[1],
            }
        )
    assert got == want


def _code(ours: str) -> str:
    found = teams.team(ours, 2020)
    assert found is not None
    return found.reference_code


def _line(each: PlayerLine, season: int) -> dict[str, Any]:
    return {
        "location": "HOME" if each.home else "AWAY",
        "opponent": full(each.opponent, season),
        "team": full(each.team, season),
        "plus_minus": each.plus_minus,
        "seconds_played": round((each.minutes or 0) * 60),
        **{theirs: getattr(each, ours) for ours, theirs in COUNTS.items()},
    }


def _scores(page: Page, *ids: str) -> list[float]:
    """The game scores, which our lines leave out."""
    found = tables.read(page, *ids)
    return [float(text) for table in found.values() for row in table.rows if (text := row.text("game_score"))]


def test_everybody_who_played_on_a_day() -> None:
    path = "/friv/dailyleaders.fcgi?month=1&day=1&year=2001"
    found: list[PlayerLine] = records(PlayerLine, read("dailyleaders_2001-01-01", path))
    page = captured("dailyleaders_2001-01-01", path)
    table = tables.read(page)["stats"]
    got = [
        {
            **_line(each, 2001),
            "name": each.name,
            "slug": each.player_id,
            "outcome": "WIN" if row.text("game_result") == "W" else "LOSS",
            "game_score": score,
        }
        for each, row, score in zip(found, table.rows, _scores(page, "stats"), strict=True)
    ]
    assert got == expected("dailyleaders_2001-01-01")


@pytest.mark.parametrize("day", ["2001-01-01", "2017-12-12", "2018-01-01"])
def test_blank_cells_of_a_day_are_zeros(day: str) -> None:
    facts = answer("nba_bbref/expected_facts.json")[f"dailyleaders_{day}.html"]
    year, month, number = day.split("-")
    path = f"/friv/dailyleaders.fcgi?month={int(month)}&day={int(number)}&year={year}"
    found: list[PlayerLine] = records(PlayerLine, read(f"dailyleaders_{day}", path))
    assert len(found) == facts["rows"]
    if "row_128" in facts:
        assert found[128].name == facts["row_128"]["name"]
        assert (found[128].three_pointers_made, found[128].three_pointers_attempted) == (0, 0)


# --- players ---


@pytest.mark.parametrize("inactive", ["yes", "no"])
def test_a_game_log(inactive: str) -> None:
    path = "/players/b/bradlav01/gamelog/2019"
    found: list[PlayerLine] = records(PlayerLine, read("gamelog_bradlav01_2019", path, inactive=inactive))
    want = expected(f"gamelog_bradlav01_2019.{'include' if inactive == 'yes' else 'exclude'}_inactive")
    assert len(found) == len(want) == {"yes": 81, "no": 63}[inactive]
    page = captured("gamelog_bradlav01_2019", path)
    rows = {row.text("date"): row for row in tables.read(page)["player_game_log_reg"].rows}
    got = []
    for each in found:
        row = rows[each.date]
        line = {
            **_line(each, 2019),
            "active": not each.did_not_play,
            "date": each.date,
            "outcome": "WIN" if str(row.text("game_result")).startswith("W") else "LOSS",
            "points_scored": each.points,
            "game_score": float(row.text("game_score") or 0),
        }
        got.append(line)
    # What was not played has no numbers with us; they leave the fields out, or write None.
    assert [_said(each) for each in got] == [_said(each) for each in want]
    assert {each.reason for each in found} <= {None, "Inactive", "Did Not Play", "Did Not Dress"}
    assert {each.player_id for each in found} == {"bradlav01"}
    assert {each.name for each in found} == {"Avery Bradley"}


def _said(line: dict[str, Any]) -> dict[str, Any]:
    if line["active"]:
        return line
    return {name: line[name] for name in ("active", "date", "location", "opponent", "outcome", "team")}


#: What they say of a season of a player -> the table, and what it is called there.
TOTALS = {
    "games_played": "games",
    "games_started": "games_started",
    "minutes_played": "minutes",
    "field_goals": "field_goals_made",
    "field_goal_attempts": "field_goals_attempted",
    "three_pointers": "three_pointers_made",
    "three_point_attempts": "three_pointers_attempted",
    "two_pointers": "two_pointers_made",
    "two_point_attempts": "two_pointers_attempted",
    "free_throws": "free_throws_made",
    "free_throw_attempts": "free_throws_attempted",
    "offensive_rebounds": "offensive_rebounds",
    "defensive_rebounds": "defensive_rebounds",
    "total_rebounds": "rebounds",
    "assists": "assists",
    "steals": "steals",
    "blocks": "blocks",
    "turnovers": "turnovers",
    "personal_fouls": "fouls",
    "points": "points",
}
SHARES = {
    "field_goal_percentage": "field_goal_percentage",
    "three_point_percentage": "three_point_percentage",
    "two_point_percentage": "two_point_percentage",
    "free_throw_percentage": "free_throw_percentage",
    "effective_field_goal_percentage": "effective_field_goal_percentage",
}
SHOOTING = {
    "shooting_distance": "avg_dist",
    "percentage_shots_two_pointers": "fg2a_pct_fga",
    "percentage_zero_to_three_footers": "pct_fga_00_03",
    "percentage_three_to_ten_footers": "pct_fga_03_10",
    "percentage_ten_to_sixteen_footers": "pct_fga_10_16",
    "percentage_sixteen_foot_plus_two_pointers": "pct_fga_16_xx",
    "percentage_shots_three_pointers": "fg3a_pct_fga",
    "field_goal_perc_zero_to_three_feet": "fg_pct_00_03",
    "field_goal_perc_three_to_ten_feet": "fg_pct_03_10",
    "field_goal_perc_ten_to_sixteen_feet": "fg_pct_10_16",
    "field_goal_perc_sixteen_foot_plus_two_pointers": "fg_pct_16_xx",
    "two_pointers_assisted_percentage": "fg2_pct_ast",
    "percentage_field_goals_as_dunks": "pct_fg2_dunk",
    "dunks": "fg2_dunk",
    "three_pointers_assisted_percentage": "fg3_pct_ast",
    "percentage_of_three_pointers_from_corner": "pct_fg3a_corner",
    "three_point_shot_percentage_from_corner": "fg3_pct_corner",
    "half_court_heaves": "fg3a_heave",
    "half_court_heaves_made": "fg3_heave",
}
BY_PLAY = {
    "point_guard_percentage": "pct_1",
    "shooting_guard_percentage": "pct_2",
    "small_forward_percentage": "pct_3",
    "power_forward_percentage": "pct_4",
    "center_percentage": "pct_5",
    "on_court_plus_minus": "plus_minus_on",
    "net_plus_minus": "plus_minus_net",
    "passing_turnovers": "tov_bad_pass",
    "lost_ball_turnovers": "tov_lost_ball",
    "other_turnovers": "tov_other",
    "shooting_fouls": "fouls_shooting",
    "blocking_fouls": "fouls_blocking",
    "offensive_fouls": "fouls_offensive",
    "take_fouls": "fouls_take",
    "points_generated_by_assists": "astd_pts",
    "shooting_fouls_drawn": "drawn_shooting",
    "and_ones": "and1s",
    "shots_blocked": "fga_blkd",
}
WHERE = {
    **{theirs: ("totals", ours) for theirs, ours in (TOTALS | SHARES).items()},
    **{theirs: ("advanced", ours) for ours, theirs in ADVANCED.items()},
    **{theirs: ("shooting", ours) for theirs, ours in SHOOTING.items()},
    **{theirs: ("advanced_pbp", ours) for theirs, ours in BY_PLAY.items()},
    **{f"{theirs}_per_poss": ("per_poss", ours) for theirs, ours in TOTALS.items()},
}


def test_the_page_of_a_player() -> None:
    (player,) = records(Player, read("player_hardeja01", "/players/h/hardeja01.html"))
    assert (player.player_id, player.name, player.full_name) == ("hardeja01", "James Harden", "James Edward Harden Jr.")
    assert (player.height, player.weight, player.birth_date, player.birth_country) == ("6-5", 220, "1989-08-26", "US")
    assert (player.positions, player.shoots, player.college) == (("PG", "SG"), "Left", "Arizona State University")
    want = expected("player_hardeja01")
    frame = "test_dataframe_returns_dataframe"
    seasons = dict(zip(want[f"{frame}.indices"], want[f"{frame}.dataframe"], strict=True))
    seasons |= {"Career": want["setup_method.results_career"], "2017-18": want["setup_method.results_2018"]}
    compared = 0
    for season, facts in seasons.items():
        for name, fact in facts.items():
            if name in WHERE:
                table, stat = WHERE[name]
                (row,) = [each for each in player.seasons[table] if each["season"] == season]
                # A blank percentage of a position is 0 to them.
                assert (row[stat] or 0) == (fact or 0), (season, name)
                compared += 1
        dollars = sum(player.salaries.values()) if season == "Career" else player.salaries[season]
        assert dollars == facts["salary"]
        if "contract" in facts:
            assert player.contract == {
                year: int(text.strip("$").replace(",", "")) for year, text in facts["contract"].items()
            }
    unread = {"player_id", "season", "name", "team_abbreviation", "position", "height", "weight", "birth_date"}
    unread |= {"nationality", "salary", "contract"}
    assert set(want["setup_method.results_2018"]) - set(WHERE) == unread
    assert compared == 854


def test_a_search() -> None:
    page = captured("search_kobe", "/search/search.fcgi?search=kobe")
    found = [each.record() for each in Reference().searched(page)]
    want = expected("search_kobe")["players"]
    assert [(each["player_id"], each["name"]) for each in found if each["group"] == "players"] == [
        (each["identifier"], each["name"]) for each in want
    ]
    assert {each["search"] for each in found} == {"kobe"}
    assert (found[0]["first_season"], found[0]["last_season"], found[0]["last_team"]) == (
        1997,
        2016,
        "Los Angeles Lakers",
    )


def test_a_search_that_leads_to_a_player() -> None:
    page = captured("player_hardeja01", "/players/h/hardeja01.html")
    assert people.is_player(page)
    (item,) = Reference().searched(page)
    assert (item.kind, item.record()["player_id"]) == ("player", "hardeja01")


# --- games ---


def test_all_plays_of_a_game() -> None:
    found: list[Play] = records(Play, read("pbp_200310290TOR", "/boxscores/pbp/200310290TOR.html"))
    assert len(found) == 457  # with jump balls, and the beginnings and ends of quarters
    got = [
        {
            "away_score": each.away_score,
            "away_team": "NEW JERSEY NETS",
            "description": each.text,
            "home_score": each.home_score,
            "home_team": "TORONTO RAPTORS",
            "period": each.period,
            "period_type": "QUARTER",
            "relevant_team": full(each.team, 2004),
            "remaining_seconds_in_period": each.clock,
        }
        for each in found
        if each.team
    ]
    assert got == expected("pbp_200310290TOR")
    assert {each.game_key for each in found} == {"2003-10-29:NJN@TOR"}


def test_the_plays_of_a_newer_game() -> None:
    found: list[Play] = records(Play, read("pbp_201810160GSW", "/boxscores/pbp/201810160GSW.html"))
    facts = answer("nba_bbref/expected_facts.json")["pbp_201810160GSW.html"]
    assert len([each for each in found if each.team]) == facts["plays"]
    assert (found[-1].away_score, found[-1].home_score) == (100, 108)
    made = [each for each in found if each.scoring]
    assert sum(each.points or 0 for each in made) == 208
    assert made[0].player_ids == ("curryst01", "duranke01")
    assert made[0].points_attempted == 3


TEAM_LINE = {**COUNTS, "points": "points"}


def test_the_box_scores_of_a_day() -> None:
    got = []
    for code in ("BRK", "CHI", "MIN", "TOR"):
        name = f"boxscore_201801010{code}"
        page = captured(name, f"/boxscores/201801010{code}.html")
        items = read(name, f"/boxscores/201801010{code}.html")
        (game,) = records(Game, items)
        players = records(PlayerLine, items)
        for line in records(TeamLine, items):
            other = game.home_score if line.team == game.away_team else game.away_score
            table = tables.read(page)[f"box-{line.team_id}-game-basic"]
            got.append(
                {
                    "minutes_played": int(str(table.footer[0].text("mp"))),
                    "outcome": "WIN" if (line.points or 0) > (other or 0) else "LOSS",
                    "team": full(line.team, 2018),
                    **{theirs: getattr(line, ours) for ours, theirs in TEAM_LINE.items()},
                }
            )
            own = [each for each in players if each.team == line.team]
            assert sum(each.points or 0 for each in own) == line.points
            assert sum(each.starter is True for each in own) == 5
        assert sum(game.home_periods) == game.home_score
        assert len(game.officials) == 3
    assert got == expected("team_box_scores_2018-01-01")


def test_the_box_score_of_an_older_layout() -> None:
    items = read("oldlayout_boxscore_201701010ATL", "/boxscores/201701010ATL.html")
    facts = answer("nba_bbref/expected_facts.json")["oldlayout_boxscore_201701010ATL.html"]
    names = {"field_goals_made": "fg", "field_goals_attempted": "fga", "three_pointers_made": "fg3"}
    names |= {"three_pointers_attempted": "fg3a", "free_throws_made": "ft", "free_throws_attempted": "fta"}
    names |= {"offensive_rebounds": "orb", "defensive_rebounds": "drb", "assists": "ast", "steals": "stl"}
    names |= {"blocks": "blk", "turnovers": "tov", "fouls": "pf", "points": "pts"}
    lines = records(TeamLine, items)
    assert [each.team for each in lines] == ["SAS", "ATL"]
    for each in lines:
        assert {theirs: getattr(each, ours) for ours, theirs in names.items()} == {
            name: fact for name, fact in facts[each.team].items() if name not in ("minutes", "outcome")
        }
    (game,) = records(Game, items)
    assert (game.away_score, game.home_score, game.overtimes) == (112, 114, 1)
    assert game.home_periods == (25, 19, 25, 31, 14)
    players = records(PlayerLine, items)
    assert sum(each.starter is True for each in players) == 10
    assert round(sum((each.minutes or 0) for each in players if each.team == "SAS")) == facts["SAS"]["minutes"]


# --- what leads to others ---


@pytest.mark.parametrize(
    ("name", "path", "need", "types", "asked"),
    [
        ("season_2019", "/leagues/NBA_2019.html", "team", ["nba.lineups", "nba.on_off"], 60),
        ("players_season_totals_2001", "/leagues/NBA_2001_totals.html", "slug", ["nba.player_game_logs"], 441),
        ("schedule_2018_october", "/leagues/NBA_2018_games.html", "game_id", ["nba.play_by_play"], 104 + 8),
        ("boxscores_2018-01-01_index", "/boxscores/?month=1&day=1&year=2018", "day", ["nba.box_score"], 4),
    ],
)
def test_a_list_leads_to_what_it_lists(name: str, path: str, need: str, types: list[str], asked: int) -> None:
    args = {"date": "2018-01-01"} if need == "day" else {"season": path.partition("_")[2][:4]}
    page = page_of(fixture(f"nba_bbref/{name}.html"), SITE + path, types=[], args=args, expand={need: types})
    found = [each for each in Reference().parse(page) if isinstance(each, Request)]
    assert len(found) == len({each.url for each in found}) == asked
    games = [each for each in found if each.carry and each.carry["types"]]
    assert all(set(each.carry["types"]) <= set(types) for each in games if each.carry)


# --- what is not there ---


def test_a_page_that_is_none_is_a_failure_without_items() -> None:
    with pytest.raises(ReadError, match="the site has no such page"):
        read("schedule_not-found", "/leagues/NBA_2999_games.html")
    with pytest.raises(ReadError, match="knows no player 'foobar': it answered with 'List of all"):
        read("gamelog_foobar_2020_notfound", "/players/f/foobar/gamelog/2020")


def test_a_page_of_another_shape_is_told_as_such() -> None:
    with pytest.raises(ReadError, match=r"none of the tables of nba\.season_totals: there are schedule"):
        read("schedule_2018_june", "/leagues/NBA_2018_totals.html")


@pytest.mark.parametrize(
    ("name", "path", "kind", "key"),
    [
        (
            *("pbp_201810160GSW", "/boxscores/pbp/201810160GSW.html"),
            *("nba.play_by_play", "play_by_play/2019/201810160GSW/pbp"),
        ),
        (
            *("gamelog_bradlav01_2019", "/players/b/bradlav01/gamelog/2019"),
            *("nba.player_game_logs", "player_game_logs/bradlav01/2019/gamelog"),
        ),
        ("schedule_2018_june", "/leagues/NBA_2018_games-june.html", "nba.schedule_month", "schedules/2018/june"),
        ("season_2019", "/leagues/NBA_2019.html", "nba.season_summary", "season_summary/2019/season_summary"),
    ],
)
def test_documents_are_called_as_the_catalogue_says(name: str, path: str, kind: str, key: str) -> None:
    (item,) = read(name, path, items="documents")
    assert item.kind == kind
    assert item.key.removeprefix("nba/") == f"{key}.json"
    template = catalogue().named(kind).key
    record = item.record()
    assert template.format(**record) == item.key  # it has every field that its name needs
    assert record["tables"]
