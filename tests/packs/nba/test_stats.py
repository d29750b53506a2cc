"""nba.stats on answers of our own: the week of the invented season, through the public door."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import gossamer
from gossamer import Report
from gossamer.demo.nba import league
from gossamer.demo.nba import stats as nba_stats
from gossamer.packs.nba import lake
from gossamer.packs.nba.stats.scraper import Stats
from gossamer.testing import Answer, Hit, Site

WEEK = f"{league.DAYS[0]}..{league.DAYS[-1]}"
GAMES = [league.game(number) for number in range(len(league.GAMES))]
FINAL = [game for game in GAMES if game.status == "final"]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as started:
        nba_stats.install(started)
        yield started


def run(site: Site, store: Path, params: dict[str, str], **knobs: Any) -> Report:
    stand_ins = {host: site.url(f"/{host}") for host in nba_stats.HOSTS}
    return gossamer.run(Stats, params=params, store=str(store), stand_ins=stand_ins, rate="none", **knobs)


def asked(site: Site) -> Counter[str]:
    return Counter(urlsplit(hit.path).path.rpartition("/")[2] for hit in site.hits if "robots" not in hit.path)


@pytest.fixture(scope="module")
def demo(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with what the demo asks for."""
    store = tmp_path_factory.mktemp("stats") / "demo.db"
    report = run(site, store, dict(nba_stats.PARAMS["nba.stats"]))
    assert (report.reason, report.failed, report.rejected) == ("done", 0, 0)
    return store


def test_every_form_becomes_what_it_tells(demo: Path) -> None:
    count = {
        kind: len(gossamer.items(str(demo), kind=kind)) for kind in ("game", "team_line", "player_line", "standing")
    }
    assert count == {"game": 3, "team_line": 6, "player_line": 54, "standing": 8}
    tables = Counter((row["endpoint"], row["table"]) for row in gossamer.items(str(demo), kind="stat_row"))
    assert tables["leagueleaders", "LeagueLeaders"] == 12
    assert tables["leaguedashplayershotlocations", "ShotLocations"] == 12
    assert tables["videodetails", "playlist"] == 5 * 2 * 8  # who plays is on film in each game that is over


def test_games_lines_and_plays_are_those_of_the_week(demo: Path) -> None:
    games = {game["game_id"]: game for game in gossamer.items(str(demo), kind="game")}
    plays = gossamer.items(str(demo), kind="play")
    for planned in FINAL[:3]:
        game = games[planned.nba_id]
        assert game["game_key"] == f"{planned.date}:{planned.away}@{planned.home}"
        assert (game["home_score"], game["away_score"]) == (planned.score(planned.home), planned.score(planned.away))
        assert (game["overtimes"], game["home_periods"]) == (planned.overtimes, planned.periods(planned.home))
        mine = [play for play in plays if play["game_id"] == planned.nba_id]
        assert len(mine) == len(planned.shots)
        assert sum(play["points"] for play in mine) == sum(shot.value for shot in planned.shots)
        assert {play["game_key"] for play in mine} == {game["game_key"]}
    lines = {(line["game_id"], line["player_id"]): line for line in gossamer.items(str(demo), kind="player_line")}
    for planned in FINAL[:3]:
        for team, some in planned.lines.items():
            for each in some:
                line = lines[planned.nba_id, each.player.id]
                assert (line["name"], line["team"], line["home"]) == (each.player.name, team, team == planned.home)
                assert line["points"] == (each.points if each.played else None)
                assert (line["minutes"], line["did_not_play"]) == (
                    each.minutes if each.played else None,
                    not each.played,
                )


def test_columns_below_spanning_headers(demo: Path) -> None:
    row = next(row for row in gossamer.items(str(demo), kind="stat_row") if row["table"] == "ShotLocations")
    assert {"PLAYER_ID", "RESTRICTED_AREA_FGM", "ABOVE_THE_BREAK_3_FG_PCT"} <= set(row["values"])
    assert (row["season"], row["season_type"], row["league"]) == (2024, "regular", "NBA")


def test_a_season_leads_to_its_games_and_each_is_asked_for_once(site: Site, tmp_path: Path) -> None:
    site.clear()
    report = run(site, tmp_path / "s.db", {"endpoint": "boxscoretraditionalv3,leaguegamelog", "season": "2024"})
    assert (report.reason, report.failed, report.pages) == ("done", 0, 1 + len(FINAL))
    assert asked(site) == {"leaguegamelog": 1, "boxscoretraditionalv3": len(FINAL)}
    lines = gossamer.items(str(tmp_path / "s.db"), kind="team_line")
    assert {line["date"] for line in lines} == {game.date for game in FINAL}


def test_what_was_read_lately_is_not_asked_again(site: Site, tmp_path: Path) -> None:
    params = {"endpoint": "playbyplayv3", "date": league.DAYS[0]}
    run(site, tmp_path / "s.db", params)
    site.clear()
    run(site, tmp_path / "s.db", params)
    assert asked(site) == {"scoreboardv3": 1}


def test_players_of_a_season_and_their_names(site: Site, tmp_path: Path) -> None:
    run(site, tmp_path / "s.db", {"endpoint": "playergamelog", "season": "2024"})
    lines = gossamer.items(str(tmp_path / "s.db"), kind="player_line")
    played = [line for game in FINAL for some in game.lines.values() for line in some if line.played]
    assert len(lines) == len(played)
    assert {line["name"] for line in lines} == {line.player.name for line in played}
    assert all(line["opponent"] and line["home"] is not None for line in lines)


def test_games_that_are_not_over(site: Site, tmp_path: Path) -> None:
    run(site, tmp_path / "s.db", {"endpoint": "scoreboardv2", "date": WEEK})
    games = {game["game_id"]: game for game in gossamer.items(str(tmp_path / "s.db"), kind="game")}
    assert {game["status"] for game in games.values()} == {"final", "postponed", "live", "scheduled"}
    for planned in GAMES:
        game = games[planned.nba_id]
        assert game["status"] == planned.status
        if planned.status != "final":
            assert (game["home_score"], game["overtimes"]) == (None, None)
        if planned.status == "live":
            assert game["live_home_score"] == planned.score(planned.home)


def test_documents_have_the_keys_of_the_lake(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "lake"

    class Nightly(Stats):
        name = "nightly"
        sinks = lake.sinks(str(folder), source="stats", layout="nested")

    stand_ins = {host: site.url(f"/{host}") for host in nba_stats.HOSTS}
    params = {"endpoint": "boxscoretraditionalv3,playbyplayv3", "game": FINAL[0].nba_id, "items": "documents"}
    gossamer.run(Nightly, params=params, store=str(tmp_path / "s.db"), stand_ins=stand_ins, rate="none")
    found = sorted(str(each.relative_to(folder)) for each in folder.rglob("*.json") if "_manifest" not in str(each))
    game = FINAL[0].nba_id
    assert found == [f"nba_api/game_advanced/2024/game_{game}.json", f"nba_api/play_by_play/2024/game_{game}.json"]
    assert not gossamer.items(str(tmp_path / "s.db"), kind="player_line")


def test_it_comes_as_the_host_wants_it(site: Site, tmp_path: Path) -> None:
    site.clear()
    run(site, tmp_path / "s.db", {"endpoint": "leagueleaders", "season": "2024"})
    hit = next(hit for hit in site.hits if "/stats/" in hit.path)
    assert "Mozilla/5.0" in hit.headers["user-agent"]
    assert hit.headers["referer"] == "https://www.nba.com/"
    assert hit.headers["origin"] == "https://www.nba.com"
    assert (hit.headers["x-nba-stats-origin"], hit.headers["x-nba-stats-token"]) == ("stats", "true")


def test_it_ships_paused_and_slow() -> None:
    assert "data centres" in Stats.paused
    knobs = Stats.knobs()
    assert (knobs["rate"], knobs["per_host"], knobs["retries"], knobs["timeout"]) == ("30/min", 3, 4, 60)
    assert (knobs["breaker_failures"], knobs["breaker_wait"]) == (3, 300)


@pytest.mark.parametrize(
    ("answer", "reason", "said"),
    [
        ({"body": '{"Message": "An error has occurred."}'}, "handler", "the NBA refused: An error has occurred."),
        ({"body": '{"a": 1, "b": 2}'}, "handler", "a shape nobody knows"),
        ({"body": "<html><title>Stats</title><h1>Stats</h1></html>"}, "handler", "a web page came instead of data"),
    ],
)
def test_what_is_no_answer_fails_its_page(tmp_path: Path, answer: dict[str, Any], reason: str, said: str) -> None:
    kind = "text/html" if answer["body"].startswith("<") else "application/json"
    with Site() as site:
        site.handler("/stats.nba.com/stats/*", lambda hit: Answer(**answer, headers={"Content-Type": kind}))
        report = run(site, tmp_path / "s.db", {"endpoint": "leagueleaders", "season": "2024"})
    assert (report.failed, report.items, report.by_reason) == (1, 0, {reason: 1})
    # What was said is kept with the page.
    assert said in (tmp_path / "s.db").read_bytes().decode("latin-1") + _wal(tmp_path / "s.db")


def test_a_game_with_a_bad_id_does_not_lose_the_others(tmp_path: Path) -> None:
    def games(hit: Hit) -> Answer:
        board = nba_stats._scoreboard(league.DAYS[0])
        (good,) = board["scoreboard"]["games"]
        bad = [{**good, "gameId": each} for each in ("../../etc/passwd", "9922300901", "", None, 7)]
        body = json.dumps({"meta": {"version": 1}, "scoreboard": {"games": [*bad, good]}})
        if "scoreboard" not in hit.path:
            body = json.dumps({"resultSets": [{"name": "R", "headers": ["A"], "rowSet": [[1]]}]})
        return Answer(body=body, headers={"Content-Type": "application/json"})

    with Site() as site:
        site.handler("/stats.nba.com/stats/*", games)
        report = run(site, tmp_path / "s.db", {"endpoint": "boxscoreadvancedv2", "date": league.DAYS[0]})
        assert asked(site) == {"scoreboardv3": 1, "boxscoreadvancedv2": 1}
    assert (report.failed, report.pages) == (0, 2)
    found = {each["game_id"] for each in gossamer.items(str(tmp_path / "s.db"), kind="game")}
    assert found == {FINAL[0].nba_id, "9922300901", "7"}


def test_rows_do_not_keep_documents_from_being_made(site: Site, tmp_path: Path) -> None:
    params = {"endpoint": "boxscoretraditionalv3", "date": league.DAYS[0]}
    for wanted, kind in (("documents", "stat_answer"), ("rows", "player_line")):
        run(site, tmp_path / "s.db", {**params, "items": wanted})
        assert gossamer.items(str(tmp_path / "s.db"), kind=kind)
    assert {each["endpoint"] for each in gossamer.items(str(tmp_path / "s.db"), kind="stat_answer")} == {
        "scoreboardv3",
        "boxscoretraditionalv3",
    }


def test_every_box_score_of_a_day(site: Site, tmp_path: Path) -> None:
    report = run(site, tmp_path / "s.db", {"endpoint": "box_scores", "date": league.DAYS[0]})
    assert (report.failed, report.rejected, report.pages) == (0, 0, 19)


@pytest.mark.parametrize("title", ["Sign in", "Log in to the NBA", "Welcome"])
def test_a_login_in_the_place_of_an_answer_is_a_wall(tmp_path: Path, title: str) -> None:
    form = f"<html><title>{title}</title><form action='/login'><input type='password' name='p'></form></html>"
    with Site() as site:
        site.handler("/stats.nba.com/stats/*", lambda hit: Answer(body=form, headers={"Content-Type": "text/html"}))
        report = run(site, tmp_path / "s.db", {"endpoint": "leagueleaders", "season": "2024"}, retries=0)
    assert report.by_reason == {"blocked": 1}


def _wal(store: Path) -> str:
    wal = store.with_name(f"{store.name}-wal")
    return wal.read_bytes().decode("latin-1") if wal.exists() else ""
