"""nba.hoopr on files of our own: both formats, all layouts, part by part."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gossamer
from gossamer import Blocked, ConfigError, ReadError, Report
from gossamer.demo.nba import hoopr as nba_hoopr
from gossamer.demo.nba import league
from gossamer.packs.nba import lake
from gossamer.packs.nba.hoopr import files as hoopr_files
from gossamer.packs.nba.hoopr import records as hoopr_records
from gossamer.packs.nba.hoopr import scraper as hoopr
from gossamer.packs.nba.hoopr.files import Mark, Part, part
from gossamer.packs.nba.hoopr.scraper import Hoopr
from gossamer.testing import Site

GAMES = [league.game(number) for number in range(len(league.GAMES))]
FINAL = [game for game in GAMES if game.status == "final"]
SHOTS = sum(len(game.shots) for game in FINAL)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as started:
        nba_hoopr.install(started)
        yield started


def run(site: Site, folder: Path, params: dict[str, str], **knobs: Any) -> Report:
    stand_ins = {host: site.url(f"/{host}") for host in nba_hoopr.HOSTS}
    knobs = {"stand_ins": stand_ins, "rate": "none", "files": str(folder / "files"), **knobs}
    return gossamer.run(Hoopr, params={"season": "2024", **params}, store=str(folder / "h.db"), **knobs)


def items(folder: Path, kind: str) -> list[dict[str, Any]]:
    return gossamer.items(str(folder / "h.db"), kind=kind)


@pytest.mark.parametrize(
    ("layout", "form"), [("repo", "parquet"), ("release", "parquet"), ("release", "csv"), ("old", "parquet")]
)
def test_a_season_from_every_place(site: Site, tmp_path: Path, layout: str, form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    report = run(site, tmp_path, {"dataset": "all", "layout": layout, "format": form})
    assert (report.reason, report.failed, report.rejected) == ("done", 0, 0)
    games = {game["game_id"]: game for game in items(tmp_path, "game")}
    for planned in GAMES:
        game = games[planned.id]
        assert game["game_key"] == f"{planned.date}:{planned.away}@{planned.home}"
        assert (game["status"], game["season"], game["season_type"]) == (planned.status, 2024, "regular")
        final = planned.status == "final"
        assert game["home_score"] == (planned.score(planned.home) if final else None)
        assert game["overtimes"] == (planned.overtimes if final else None)
    lines = {(line["game_id"], line["player_id"]): line for line in items(tmp_path, "player_line")}
    for planned in FINAL:
        for team, some in planned.lines.items():
            for each in some:
                line = lines[planned.id, each.player.id]
                assert (line["team"], line["did_not_play"]) == (team, not each.played)
                assert line["points"] == (each.points if each.played else None)
                assert line["plus_minus"] == (each.plus_minus if each.played else None)
    teams = {(line["game_id"], line["team"]): line for line in items(tmp_path, "team_line")}
    assert len(teams) == 2 * len(FINAL)
    assert all(teams[game.id, game.home]["points"] == game.score(game.home) for game in FINAL)
    plays = items(tmp_path, "play")
    assert len(plays) == SHOTS
    assert sum(play["points"] for play in plays) == sum(game.score(t) for game in FINAL for t in (game.home, game.away))
    assert all((play["x"] is None) == (play["points"] == 1) for play in plays)  # a free throw has no place


def test_a_file_is_fetched_once_and_read_part_by_part(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hoopr, "PART", 50)
    site.clear()
    report = run(site, tmp_path, {"dataset": "pbp", "format": "csv"})
    parts = -(-SHOTS // 50)
    assert (report.failed, len(items(tmp_path, "play"))) == (0, SHOTS)
    files = [hit for hit in site.hits if "play_by_play" in hit.path and hit.status == 200]
    assert [hit.method for hit in files] == ["GET"] + ["HEAD"] * (parts - 1)


def test_it_goes_on_where_it_stopped(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hoopr, "PART", 50)
    first = run(site, tmp_path, {"dataset": "pbp", "format": "csv"}, max_pages=3)
    assert first.reason == "max_pages"
    some = len(items(tmp_path, "play"))
    assert 100 <= some < SHOTS
    site.clear()
    run(site, tmp_path, {"dataset": "pbp", "format": "csv"})
    assert len(items(tmp_path, "play")) == SHOTS
    assert not [hit for hit in site.hits if hit.method == "GET" and "play_by_play" in hit.path]


def test_a_file_that_broke_off_is_resumed(tmp_path: Path) -> None:
    body = ("id,game_id,sequence_number,team_id\n" + "".join(f"{n},401,{n},13\n" for n in range(3_000))).encode()
    path = "/sportsdataverse/hoopR-data/main/nba/pbp/csv/play_by_play_2024.csv.gz"
    with Site() as site:
        site.download(f"/raw.githubusercontent.com{path}", gzip.compress(body), cut=[3_000])
        report = run(site, tmp_path, {"dataset": "pbp", "format": "csv", "layout": "old"})
        ranges = [hit.headers.get("range") for hit in site.hits if hit.path.endswith(".gz")]
    assert (report.items, report.retried) == (3_000, 1)
    assert ranges == [None, "bytes=3000-"]


def test_only_some_games_and_all_columns(site: Site, tmp_path: Path) -> None:
    run(site, tmp_path, {"dataset": "player_box", "format": "csv", "game": FINAL[0].id, "columns": "all"})
    assert {line["game_id"] for line in items(tmp_path, "player_line")} == {FINAL[0].id}
    rows = items(tmp_path, "hoopr_row")
    assert len(rows) == len(items(tmp_path, "player_line")) == 18
    assert {"athlete_display_name", "opponent_team_id"} <= set(rows[0]["values"])


def test_the_list_of_what_there_is(site: Site, tmp_path: Path) -> None:
    run(site, tmp_path, {"dataset": "manifests"})
    found = items(tmp_path, "hoopr_season")
    assert {each["dataset"] for each in found} == set(hoopr_files.DATASETS)
    assert {(each["season"], each["rows"], each["made"]) for each in found} == {(2024, 2, "2024-01-22T09:00:00Z")}


def test_pace_and_places() -> None:
    knobs = Hoopr.knobs()
    assert (knobs["rate"], knobs["concurrency"], knobs["retries"]) == ("200/min", 20, 2)
    (request,) = Hoopr({"season": "2024", "dataset": "pbp", "format": "csv"}).start()
    assert request.url.endswith("/releases/download/espn_nba_pbp/play_by_play_2024.csv")
    assert request.save == "hoopr/release/pbp/play_by_play_2024.csv"
    assert hoopr_files.url("schedules", 2024, "repo", "parquet") == (
        "https://raw.githubusercontent.com/sportsdataverse/hoopR-nba-data/main/nba/schedules/parquet/nba_schedule_2024.parquet"
    )
    assert hoopr_files.url("pbp", 2022, "old", "csv").endswith("/hoopR-data/main/nba/pbp/csv/play_by_play_2022.csv.gz")


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"season": "2001"}, "hoopR begins with the season 2002"),
        ({"dataset": "shots"}, "dataset=shots cannot be used"),
        ({"dataset": ","}, "names none"),
        ({"format": "rds"}, "write parquet or csv"),
        ({"format": "csv", "layout": "repo"}, "take layout=release, old"),
        ({"game": "?"}, "write the id of a game"),
        ({"season": "2024", "date": "2024-01-15"}, "a date says its season"),
        ({"date": "1999-01-15"}, "hoopR begins with the season 2002"),
        ({"columns": "few"}, "write some or all"),
        ({"items": "all"}, "rows, documents or both"),
    ],
)
def test_what_cannot_be_asked(params: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Hoopr(params)


def test_in_a_plain_install_it_takes_csv(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hoopr_files, "find_spec", lambda name: None)
    (request,) = Hoopr({"season": "2024", "dataset": "pbp"}).start()
    assert request.url.endswith("/espn_nba_pbp/play_by_play_2024.csv")
    (request,) = Hoopr({"season": "2022", "dataset": "pbp", "layout": "old"}).start()
    assert request.url.endswith("/play_by_play_2022.csv.gz")
    report = run(site, tmp_path, {})
    assert (report.failed, len(items(tmp_path, "game"))) == (0, len(GAMES))
    for params in ({"format": "parquet"}, {"layout": "repo"}):
        with pytest.raises(ConfigError, match=r"need gossamer\[parquet\]: install it, or say format=csv"):
            Hoopr({"season": "2024", **params})
    with pytest.raises(ConfigError, match="season=abc cannot be read"):
        Hoopr({"season": "abc", "format": "parquet"})
    file = tmp_path / "x.csv"
    file.write_bytes(b"PAR1....")
    with pytest.raises(ReadError, match=r"that needs gossamer\[parquet\]"):
        part(file, Mark(), 10)


def test_the_games_of_some_days(site: Site, tmp_path: Path) -> None:
    days = f"{league.DAYS[0]}..{league.DAYS[1]}"
    report = run(site, tmp_path, {"date": days, "dataset": "all", "format": "csv", "season": ""})
    assert report.failed == 0
    mine = {game.id for game in GAMES if game.date in league.DAYS[:2]}
    for kind in ("game", "team_line", "player_line", "play"):
        found = {each["game_id"] for each in items(tmp_path, kind)}
        assert found == (mine if kind == "game" else mine & {game.id for game in FINAL}), kind
    (request,) = Hoopr({"date": "2021-07-20", "dataset": "pbp", "format": "csv"}).start()
    assert request.carry is not None
    assert request.carry["season"] == 2021  # the year of the pandemic


def test_a_file_without_days_says_so(tmp_path: Path) -> None:
    place = "/github.com/sportsdataverse/sportsdataverse-data/releases/download/espn_nba_pbp/play_by_play_2024.csv"
    with Site() as site:
        site.page(place, "id,game_id,sequence_number,team_id\n1,401,1,13\n")
        report = run(site, tmp_path, {"date": "2024-01-15", "dataset": "pbp", "format": "csv", "season": ""})
    assert (report.failed, report.items) == (1, 0)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_documents_are_games_whatever_the_parts(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(hoopr, "PART", 200)  # no game has more plays, and none ends there
    into = lake.sinks(str(tmp_path / "lake"), source="hoopr" if form == "parquet" else "hoopr-csv")
    report = run(site, tmp_path, {"dataset": "all", "format": form, "items": "documents"}, sinks=into)
    assert (report.failed, report.undelivered) == (0, 0)
    plays = {each["game_id"]: each["rows"] for each in items(tmp_path, "hoopr_game") if each["dataset"] == "pbp"}
    assert {game: len(rows) for game, rows in plays.items()} == {game.id: len(game.shots) for game in FINAL}
    assert all([each["sequence"] for each in rows] == [*range(1, len(rows) + 1)] for rows in plays.values())
    assert not items(tmp_path, "play")
    folder = tmp_path / "lake" / ("hoopr_parquet" if form == "parquet" else "hoopr_phase1")
    found = {each.relative_to(folder).as_posix() for each in folder.rglob("*.json") if "_manifest" not in str(each)}
    assert {f"{each}/2024/{FINAL[0].id}.json" for each in hoopr_files.DATASETS} <= found
    assert len(found) == len(GAMES) + 3 * len(FINAL)


# -- files ---------------------------------------------------------------------------------------------------------


def whole(file: Path, most: int, columns: tuple[str, ...] | None = None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    mark: Mark | None = Mark()
    while mark is not None:
        some: Part = part(file, mark, most, columns)
        assert len(some.rows) <= most
        found += some.rows
        mark = some.next
    return found


ROWS = [{"id": str(n), "text": f'line {n}, with "quotes"\nand a break', "none": None} for n in range(23)]


def as_csv() -> bytes:
    body = "".join(f'{row["id"]},"line {row["id"]}, with ""quotes""\nand a break",NA\n' for row in ROWS)
    return ("\ufeffid,text,none\n" + body).encode()


@pytest.mark.parametrize("most", [1, 7, 23, 100])
@pytest.mark.parametrize("packed", [False, True])
def test_csv_in_parts(tmp_path: Path, most: int, packed: bool) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(gzip.compress(as_csv()) if packed else as_csv())
    assert whole(file, most) == ROWS
    assert whole(file, most, ("id", "lacking")) == [{"id": row["id"]} for row in ROWS]


@pytest.mark.parametrize("most", [1, 7, 23, 100])
@pytest.mark.parametrize("group", [4, 23])
def test_parquet_in_parts(tmp_path: Path, most: int, group: int) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), file, row_group_size=group)
    assert whole(file, most) == ROWS
    assert whole(file, most, ("id", "lacking")) == [{"id": row["id"]} for row in ROWS]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "cannot be read as CSV: its first line has 0 columns"),
        (b"PAR1 and then nothing", "cannot be read as Parquet"),
        (b"<html>rate limited</html>", "a web page or an error"),
        (b'{"message": "no"}', "a web page or an error"),
        (b"\x1f\x8b broken", "cannot be read as CSV"),
        (b"id,text\n1,\xff\xfe\n", "cannot be read as CSV"),
        (b'id,text\n1,"never ends', "cannot be read as CSV"),
        (b"id,text\n1," + b"x" * (2 << 20), "no end"),
        (b"id\n1\n", "its first line has 1 columns"),
        (b"id," + b"x" * 900_000 + b"\n1,2\n", "names of up to|cannot be read as CSV"),
        (b"id," + b"x" * 900 + b"\n1,2\n", "names of up to 900 letters"),
        (b",".join(b"%0100d" % n for n in range(900)) + b"\n1,2\n", "and 90,000 in all"),
        (b"id,text\n1," + b"x" * 9_000 + b"\n", "one of its cells has 9,000 letters"),
    ],
)
def test_damaged_files(tmp_path: Path, body: bytes, said: str) -> None:
    if b"PAR1" in body:
        pytest.importorskip("pyarrow")
    file = tmp_path / "rows.csv"
    file.write_bytes(body)
    with pytest.raises(ReadError, match=said):
        part(file, Mark(), 10)
    with pytest.raises(ReadError, match="no longer where it was saved"):
        part(tmp_path / "gone.csv", Mark(), 10)


def test_a_login_in_the_place_of_a_file_is_a_wall(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("<html><title>Sign in to GitHub</title><form><input type='password' name='p'></form>")
    with pytest.raises(Blocked, match="asks to log in"):
        part(file, Mark(), 10)


def test_parquet_with_names_and_texts_that_are_too_long(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "rows.parquet"
    for rows, said in (
        ([{"id": "1", "x" * 500: "2"}], "names of up to 500 letters"),
        # The text is in the file once: unpacked it would be 50 GB.
        ([{"id": "1", "text": "x" * 1_000_000}] * 50_000, "one of its cells has 1,000,000 letters"),
    ):
        table = {name: pyarrow.array([row[name] for row in rows[:1]] * 1) for name in rows[0]}
        whole = pyarrow.table(
            {
                name: pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * len(rows), "int32"), column)
                for name, column in table.items()
            }
        )
        parquet.write_table(whole, file)
        with pytest.raises(ReadError, match=said):
            part(file, Mark(), 5_000)


def test_a_file_of_something_else_fails_its_page(tmp_path: Path) -> None:
    with Site() as site:
        site.page(
            "/github.com/sportsdataverse/sportsdataverse-data/releases/download/espn_nba_pbp/play_by_play_2024.csv",
            "city,mayor\nBruges,Ida\n",
        )
        report = run(site, tmp_path, {"dataset": "pbp", "format": "csv"})
    assert (report.failed, report.items) == (1, 0)


ODD: list[Any] = [None, "", "x", -1, 1e300, float("nan"), True, [], {}, "9" * 40, b"bytes"]


@pytest.mark.parametrize("dataset", hoopr_files.DATASETS)
def test_odd_values_raise_nothing(dataset: str) -> None:
    columns = hoopr_records.COLUMNS[dataset]
    for odd in ODD:
        hoopr_records.record(dataset, dict.fromkeys(columns, odd), 2024)
        named = {**dict.fromkeys(columns, odd), "game_id": 1, "id": 1, "athlete_id": 1, "team_id": 2}
        hoopr_records.record(dataset, named, 2024)
        hoopr_records.raw(dataset, named, 2024, 0)


def test_what_a_page_yields_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Of a file of many parts, one page holds one part."""

    async def most() -> int:
        with Site() as site:
            rows = "".join(f"{n},401,{n},13\n" for n in range(12_000))
            site.page(
                "/github.com/sportsdataverse/sportsdataverse-data/releases/download/espn_nba_pbp/play_by_play_2024.csv",
                "id,game_id,sequence_number,team_id\n" + rows,
            )
            report = await asyncio.to_thread(run, site, tmp_path, {"dataset": "pbp", "format": "csv"})
            assert (report.items, report.failed) == (12_000, 0)
            return report.pages

    assert asyncio.run(most()) == 3
