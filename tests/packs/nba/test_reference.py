"""Basketball Reference on pages of our own: the week of the invented league, through the public door."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import gossamer
from gossamer import Blocked, Page, ReadError, Report, Sink
from gossamer.demo.nba import league
from gossamer.demo.nba import reference as nba_reference
from gossamer.packs.nba import teams
from gossamer.packs.nba.reference import Reference, keys
from gossamer.testing import Site

WEEK = f"{league.DAYS[0]}..{league.DAYS[-1]}"
FINAL = [game for game in league.GAMES if game.status == "final"]


@pytest.fixture(scope="module")
def demo() -> Iterator[Site]:
    with Site() as site:
        nba_reference.install(site)
        yield site


def run(site: Site, store: Path, **params: str) -> Report:
    stand_ins = {host: site.url(f"/{host}") for host in nba_reference.HOSTS}
    return gossamer.run(
        Reference, params=params, store=str(store), stand_ins=stand_ins, rate="none", per_host=8, concurrency=8
    )


def items(store: Path, kind: str) -> list[dict[str, Any]]:
    return gossamer.items(str(store), kind=kind)


@pytest.fixture(scope="module")
def week(demo: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the whole week."""
    store = tmp_path_factory.mktemp("reference") / "week.db"
    report = run(demo, store, date=WEEK)
    assert (report.reason, report.failed, report.rejected) == ("done", 0, 0)
    assert report.pages == len(league.DAYS) + 2 * len(FINAL)
    return store


def test_every_game_that_was_played_is_there_once(week: Path) -> None:
    games = {each["game_key"]: each for each in items(week, "game")}
    assert len(games) == len(items(week, "game")) == len(FINAL)
    for number, planned in enumerate(league.GAMES):
        if planned.status != "final":
            continue
        game, played = games[f"{planned.date}:{planned.away}@{planned.home}"], league.game(number)
        home = teams.team(planned.home, 2024)
        assert home is not None
        assert game["game_id"] == f"{planned.date.replace('-', '')}0{home.reference_code}"
        assert game["tipoff"] == planned.begins.replace("Z", ":00Z")
        assert (game["away_score"], game["home_score"]) == (played.score(planned.away), played.score(planned.home))
        assert (game["home_periods"], game["overtimes"]) == (played.periods(planned.home), planned.overtimes)
        assert (game["attendance"], game["officials"]) == (
            planned.attendance,
            ["Perpetua Whistler", "Osric Callaway"],
        )


def test_lines_add_up(week: Path) -> None:
    lines, sides = items(week, "player_line"), items(week, "team_line")
    assert len(sides) == 2 * len(FINAL)
    for side in sides:
        own = [each for each in lines if (each["game_id"], each["team"]) == (side["game_id"], side["team"])]
        assert len(own) == 9
        assert sum(each["starter"] for each in own) == 5
        for name in ("points", "field_goals_made", "three_pointers_attempted", "rebounds", "fouls"):
            assert sum(each[name] or 0 for each in own) == side[name]
        (absent,) = [each for each in own if each["did_not_play"]]
        assert (absent["reason"], absent["minutes"], absent["points"]) == ("Did Not Play", None, None)
    assert max(each["minutes"] or 0 for each in lines) == 56  # two overtimes


def test_plays_are_in_order_and_end_with_the_score(week: Path) -> None:
    plays = items(week, "play")
    for game in items(week, "game"):
        own = sorted((each for each in plays if each["game_id"] == game["game_id"]), key=lambda each: each["sequence"])
        assert [each["sequence"] for each in own] == list(range(1, len(own) + 1))
        assert (own[-1]["home_score"], own[-1]["away_score"]) == (game["home_score"], game["away_score"])
        assert own[-1]["period"] == game["period"]
        assert sum(each["points"] or 0 for each in own) == game["home_score"] + game["away_score"]
        assert {each["team"] for each in own} == {None, game["home_team"], game["away_team"]}


def test_a_second_run_changes_nothing(demo: Site, week: Path) -> None:
    before = {each["game_id"]: each for each in items(week, "game")}
    report = run(demo, week, date=WEEK)
    assert report.pages == len(league.DAYS)  # games that are over are not asked for again
    assert {each["game_id"]: each for each in items(week, "game")} == before


def test_a_season_is_its_categories(demo: Site, tmp_path: Path) -> None:
    report = run(demo, tmp_path / "s.db", season="2024")
    # There are no playoffs in January, and no draft.
    assert (report.failed, report.rejected, report.pages) == (5, 0, 13)
    lines = items(tmp_path / "s.db", "player_season")
    played = {line.player.id for number in range(len(league.GAMES)) for side in league.game(number).lines.values()
              for line in side if league.game(number).status == "final"}  # fmt: skip
    by_table = Counter(each["table"] for each in lines)
    assert by_table == {name: len(played) + 1 for name in ("totals", "per_game", "advanced")}  # one of two teams
    assert not any(each["combined"] for each in lines)
    standings = {each["team"]: each for each in items(tmp_path / "s.db", "standing")}
    assert {each["conference"] for each in standings.values()} == {"East", "West"}
    assert (standings["BOS"]["division"], standings["BOS"]["wins"], standings["BOS"]["losses"]) == ("Atlantic", 2, 0)
    assert (standings["BOS"]["clinched"], standings["BOS"]["seed"], standings["BOS"]["games_behind"]) == ("x", 1, 0.0)
    games = {each["game_key"]: each for each in items(tmp_path / "s.db", "game")}
    assert len(games) == len(league.GAMES) + 1
    to_come = games["2024-02-01:BOS@PHX"]
    assert (to_come["status"], to_come["home_score"], to_come["tipoff"]) == ("scheduled", None, "2024-02-02T01:00:00Z")
    (move,) = items(tmp_path / "s.db", "transaction")
    assert (move["date"], move["teams"], len(move["player_ids"])) == ("2024-01-18", ["BOS", "PHX"], 1)
    awards = items(tmp_path / "s.db", "nba.awards")
    assert {each["award_type"] for each in awards} == {"mvp", "roy"}


def test_rows_that_sum_up_come_if_asked_for(demo: Site, tmp_path: Path) -> None:
    run(demo, tmp_path / "s.db", category="season_totals", season="2024", combined="yes")
    (both,) = [each for each in items(tmp_path / "s.db", "player_season") if each["combined"]]
    assert (both["team"], both["team_id"]) == (None, "2TM")


def test_a_tier_follows_what_lists_the_rest(demo: Site, tmp_path: Path) -> None:
    report = run(demo, tmp_path / "t.db", tier="1", season="2024")
    assert (report.failed, report.rejected) == (1, 0)  # there is no page of player tracking
    assert {each["game_id"] for each in items(tmp_path / "t.db", "play")} == {
        each["game_id"] for each in items(tmp_path / "t.db", "nba.shot_chart")
    }
    chart = items(tmp_path / "t.db", "nba.shot_chart")[0]
    assert {"team", "player_id", "period", "made", "x", "y"} <= set(chart["more"]["shots"][0])
    assert all(each["player_id"] for each in chart["more"]["shots"])
    lineups = items(tmp_path / "t.db", "nba.lineups")
    assert len(lineups) == len({each["team"] for each in lineups}) == 8
    assert lineups[0]["tables"]["lineups_5-man_"]["rows"][0]["diff_pts"] == 3.1
    logs = items(tmp_path / "t.db", "player_line")
    assert sum(each["did_not_play"] for each in logs) == 2 * len(FINAL)


@pytest.mark.parametrize(("inactive", "lines"), [("yes", 2), ("no", 0)])
def test_games_that_a_player_missed(demo: Site, tmp_path: Path, inactive: str, lines: int) -> None:
    ninth = next(slug for slug in nba_reference.slugs("BOS")[8:])
    run(demo, tmp_path / "p.db", player=ninth, season="2024", inactive=inactive)
    found = items(tmp_path / "p.db", "player_line")
    assert len(found) == lines
    assert all(each["did_not_play"] and each["reason"] == "Inactive" for each in found)


def test_a_player_and_a_team(demo: Site, tmp_path: Path) -> None:
    first = nba_reference.slugs("PHX")[0]
    run(demo, tmp_path / "p.db", player=first)
    (player,) = items(tmp_path / "p.db", "player")
    assert (player["player_id"], player["weight"], player["birth_date"]) == (first, 205, "1999-08-26")
    assert [each["season"] for each in player["seasons"]["totals"]] == ["2023-24", "Career"]
    run(demo, tmp_path / "t.db", team="Suns", season="2024")
    games = items(tmp_path / "t.db", "game")
    assert {each["game_key"] for each in games} == {"2024-01-16:GSW@PHX", "2024-01-19:PHX@LAL"}


def test_a_search_lists_players_or_leads_to_one(demo: Site, tmp_path: Path) -> None:
    run(demo, tmp_path / "s.db", search="bram")
    found = items(tmp_path / "s.db", "found_player")
    assert len(found) > 1
    assert all(each["name"].startswith("Bram ") for each in found)
    run(demo, tmp_path / "one.db", search=found[0]["name"])
    (player,) = items(tmp_path / "one.db", "player")
    assert player["player_id"] == found[0]["player_id"]


def test_what_the_site_does_not_have_is_a_failure_without_items(demo: Site, tmp_path: Path) -> None:
    report = run(demo, tmp_path / "n.db", category="per_game", season="1999")
    assert (report.pages, report.failed, report.items) == (0, 1, 0)
    report = run(demo, tmp_path / "n.db", player="nobodyx01", season="2024")
    assert (report.failed, report.items) == (2, 0)


def test_leaders_of_a_day_say_the_same_as_box_scores(demo: Site, week: Path, tmp_path: Path) -> None:
    run(demo, tmp_path / "d.db", type="daily_leaders", date=league.DAYS[0])
    lines = {(each["game_id"], each["player_id"]): each for each in items(week, "player_line")}
    found = items(tmp_path / "d.db", "player_line")
    assert len(found) == 16
    for each in found:
        line = lines[each["game_id"], each["player_id"]]
        assert [each[name] for name in ("points", "rebounds", "minutes", "team", "home")] == [
            line[name] for name in ("points", "rebounds", "minutes", "team", "home")
        ]


def test_documents_go_to_a_bucket_under_their_names(demo: Site, tmp_path: Path) -> None:
    wanted = [f"nba.{name}" for name in ("play_by_play", "shot_chart", "player_game_logs", "lineups", "awards")]
    stand_ins = {host: demo.url(f"/{host}") for host in nba_reference.HOSTS}

    class Lake(Reference):
        name = "lake"
        sinks = tuple(Sink(f"{tmp_path}/lake/{keys()[kind]}", kind=kind) for kind in wanted)

    params = {"type": ",".join(wanted), "season": "2024", "items": "documents"}
    report = gossamer.run(
        Lake, params=params, store=str(tmp_path / "l.db"), stand_ins=stand_ins, rate="none", per_host=8
    )
    assert (report.failed, report.undelivered) == (0, 0)
    root = tmp_path / "lake" / "basketball_reference" / "nba"
    pbp = json.loads((root / "play_by_play" / "2024" / "202401150BRK" / "pbp.json").read_bytes())
    assert (pbp["type"], pbp["season"], pbp["game_id"]) == ("nba.play_by_play", "2024", "202401150BRK")
    assert pbp["tables"]["pbp"]["columns"] == ["_0", "_1", "_2", "_3", "_4", "_5"]
    assert len(list(root.glob("shot_charts/2024/*/shots.json"))) == len(FINAL)
    assert len(list(root.glob("lineups/2024/*/lineups.json"))) == 8
    assert (root / "awards" / "mvp" / "2024.json").exists()
    assert not (tmp_path / "lake" / "_lacking").exists()


# --- what is not as it should be ---


def read(body: str, path: str) -> list[Any]:
    return list(Reference().parse(Page.of(body, f"https://www.basketball-reference.com{path}")))


@pytest.mark.parametrize(
    ("body", "path", "said"),
    [
        ("<h1>Nothing</h1>", "/boxscores/202401150BRK.html", "none of the tables of nba.advanced_box: there are none"),
        ("<h1>x</h1>", "/boxscores/pbp/202401150BRK.html", "none of the tables of nba.play_by_play"),
        ('<table id="pbp"><tr><td>1</table>', "/boxscores/pbp/202401150BRK.html", "this is no page of a game"),
        ("", "/nowhere/", "the catalogue has no such page"),
    ],
)
def test_a_shape_that_nobody_knows_is_one_sentence(body: str, path: str, said: str) -> None:
    with pytest.raises(ReadError, match=said.replace(".", r"\.")):
        read(body, path)


@pytest.mark.parametrize(
    "path",
    [
        "/leagues/NBA_2024_totals.html",
        "/leagues/NBA_2024_games.html",
        "/leagues/NBA_2024.html",
        "/boxscores/202401150BRK.html",
        "/boxscores/pbp/202401150BRK.html",
        "/boxscores/?month=1&day=15&year=2024",
        "/friv/dailyleaders.fcgi?month=1&day=15&year=2024",
        "/teams/PHO/2024_games.html",
        "/leagues/NBA_2024_transactions.html",
    ],
)
def test_a_page_that_is_torn_breaks_nothing(demo: Site, path: str) -> None:
    """Whatever is left of a page: records, or one sentence."""
    whole = _body(demo, path)
    for size in range(0, len(whole), max(1, len(whole) // 16)):
        for torn in (whole[:size], whole[:size] + whole[size + 300 :]):
            with suppress(ReadError):
                read(torn, path)


def test_a_page_that_says_we_are_too_fast_is_a_wall() -> None:
    with pytest.raises(Blocked, match="too fast"):
        Reference().validate(Page.of("<title>Rate Limited Request (429 error) | Basketball-Reference.com</title>"))


def test_a_login_is_a_wall_and_a_link_to_one_is_not(demo: Site) -> None:
    form = "<form><input type='password' name='p'></form>"
    with pytest.raises(Blocked, match="log in"):
        Reference().validate(Page.of(f"<title>Stathead</title>{form}"))
    Reference().validate(Page.of(_body(demo, "/boxscores/202401150BRK.html") + form))


@pytest.mark.parametrize("body", ['<table id="{}"><tr><td>1</table>', '<table id="x"><tr><td data-stat="{}">1</table>'])
def test_names_without_end_are_refused(body: str) -> None:
    with pytest.raises(ReadError, match="a name of 900 letters"):
        read(body.format("x" * 900), "/boxscores/pbp/202401150BRK.html")


def test_documents_do_not_keep_rows_from_being_made(demo: Site, tmp_path: Path) -> None:
    for wanted, kind in (("documents", "nba.box_score"), ("rows", "player_line"), ("both", "player_line")):
        report = run(demo, tmp_path / "s.db", date=league.DAYS[0], items=wanted)
        assert (report.failed, report.pages) == (0, 3)
        assert items(tmp_path / "s.db", kind)


def _body(site: Site, path: str) -> str:
    import urllib.request

    with urllib.request.urlopen(site.url(f"/www.basketball-reference.com{path}"), timeout=10) as answer:
        body: str = answer.read().decode()
    return body


def test_its_pace_is_what_the_site_bears() -> None:
    knobs = Reference.knobs()
    assert (knobs["rate"], knobs["per_host"], knobs["retries"]) == ("5/min", 1, 3)
    assert (Reference.cron, Reference.timezone) == ("0 4 * * *", "America/New_York")
    assert set(Reference.takes) >= {"tier", "category", "type", "season", "date", "game", "player", "team"}


def test_a_stream_gives_the_same(demo: Site) -> None:
    stand_ins = {host: demo.url(f"/{host}") for host in nba_reference.HOSTS}

    async def collect() -> list[Any]:
        found = gossamer.stream(
            Reference, params={"game": "202401150BRK"}, stand_ins=stand_ins, rate="none", dry_run=True
        )
        return [each async for each in found]

    assert len(asyncio.run(collect())) > 100
