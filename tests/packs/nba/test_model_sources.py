"""Four sources tell of the same week: under the same names, with the same numbers."""

from __future__ import annotations

from typing import Any

import pytest

import gossamer
from gossamer.demo import nba
from gossamer.demo.packs import PackSites
from gossamer.packs.nba import SCRAPERS


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with what all sources tell."""
    path = tmp_path_factory.mktemp("sources") / "nba.db"
    with PackSites() as sites:
        for scraper in SCRAPERS:
            params = nba.PARAMS[scraper.name]
            knobs: dict[str, Any] = {
                "stand_ins": sites.stand_ins,
                "files": str(path.with_name("files")),
                "rate": "none",
            }
            report = gossamer.run(scraper, params=params, store=str(path), **knobs)
            assert (report.reason, report.rejected) == ("done", 0)
    return str(path)


def told(store: str, kind: str, scraper: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Records by what is the same in every source."""
    by = {"game": ("game_key",), "player_line": ("game_key", "name"), "team_line": ("game_key", "team")}[kind]
    found = gossamer.items(store, kind=kind, scraper=scraper)
    return {tuple(each[name] for name in by): each for each in found}


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("game", ("date", "season", "home_team", "away_team", "home_score", "away_score", "overtimes", "status")),
        ("team_line", ("points", "field_goals_made", "three_pointers_attempted", "rebounds", "assists", "home")),
        ("player_line", ("team", "points", "free_throws_made", "assists", "starter", "did_not_play")),
    ],
)
@pytest.mark.parametrize(("scraper", "games"), [("nba.reference", 5), ("nba.stats", 3), ("nba.hoopr", 5)])
def test_games_and_lines_match_by_day_and_teams(
    store: str, scraper: str, games: int, kind: str, fields: tuple[str, ...]
) -> None:
    espn, other = told(store, kind, "nba.espn"), told(store, kind, scraper)
    shared = {key for key in espn.keys() & other.keys() if kind != "game" or espn[key]["status"] == "final"}
    assert len(shared) >= games * {"game": 1, "team_line": 2, "player_line": 16}[kind]
    for key in shared:
        assert {name: espn[key][name] for name in fields} == {name: other[key][name] for name in fields}


def test_the_pack_has_its_four_scrapers_and_one_ships_paused() -> None:
    assert [each.name for each in SCRAPERS] == ["nba.espn", "nba.reference", "nba.stats", "nba.hoopr"]
    assert [each.name for each in SCRAPERS if each.paused] == ["nba.stats"]
    assert {each.name: each.cron for each in SCRAPERS if each.cron} == {
        "nba.espn": "0 2 * * *",
        "nba.hoopr": "0 3 * * *",
        "nba.reference": "0 4 * * *",
    }
    for each in SCRAPERS:
        assert {"season", "game"} <= set(each.takes)
