"""The documents of the pack in a bucket, under the names that a data lake has for them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gossamer
from gossamer import ConfigError
from gossamer.demo.nba import league
from gossamer.demo.packs import PackSites
from gossamer.packs.nba import lake
from gossamer.packs.nba.espn.scraper import Espn
from tests.s3 import CREDENTIALS, S3

DAY = league.DAYS[1]
GAME = "401900002"
NAMES = {
    "flat": {
        f"espn_schedules/{DAY.replace('-', '')}.json",
        *(f"espn_{sort}/{GAME}.json" for sort in ("box_scores", "play_by_play", "team_stats")),
    },
    "nested": {
        f"espn/schedules/{DAY.replace('-', '')}.json",
        *(f"espn/{sort}/{GAME}.json" for sort in ("box_scores", "play_by_play", "team_stats")),
    },
    "local": {
        f"schedules/schedule_{DAY.replace('-', '')}.json",
        f"box_scores/box_score_{GAME}.json",
        f"play_by_play/pbp_{GAME}.json",
        f"team_stats/team_stats_{GAME}.json",
    },
}


@pytest.fixture(scope="module")
def sites() -> Iterator[PackSites]:
    with PackSites() as started:
        yield started


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with S3() as started:
        yield started


def knobs(sites: PackSites, store: Path) -> dict[str, Any]:
    params = {"date": DAY, "items": "documents"}
    return {"params": params, "store": str(store), "stand_ins": sites.stand_ins, "rate": "none"}


@pytest.mark.parametrize("layout", ["flat", "nested"])
def test_each_document_is_one_object(layout: str, sites: PackSites, s3: S3, tmp_path: Path) -> None:
    s3.make("nba-lake")
    into = lake.sinks("nba-lake", layout=layout, endpoint=s3.url)
    report = gossamer.run(Espn, **knobs(sites, tmp_path / "lake.db"), sinks=into)
    assert (report.reason, report.undelivered) == ("done", 0)
    objects = s3.data("nba-lake")
    assert set(objects) == NAMES[layout]
    box = json.loads(next(body for key, body in objects.items() if "box_scores" in key))
    assert (box["game_id"], box["game"]["home_team"], len(box["players"])) == (GAME, "PHX", 18)


def test_files_in_a_folder(sites: PackSites, tmp_path: Path) -> None:
    into = lake.sinks(str(tmp_path / "lake"), layout="local")
    gossamer.run(Espn, **knobs(sites, tmp_path / "lake.db"), sinks=into)
    found = {path.relative_to(tmp_path / "lake").as_posix() for path in (tmp_path / "lake").rglob("*.json")}
    assert {name for name in found if "_manifest" not in name} == NAMES["local"]


def test_a_dry_run_says_what_it_would_put(sites: PackSites, tmp_path: Path) -> None:
    async def told() -> list[dict[str, Any]]:
        return [each async for each in gossamer.stream(Espn, **knobs(sites, tmp_path / "dry.db"), dry_run=True)]

    said = set(lake.would_put(asyncio.run(told()), lake.sinks("s3://nba-lake/raw")))
    assert said == {f"would put s3://nba-lake/raw/{name}" for name in NAMES["flat"]}


def test_places_and_layouts_that_cannot_be_used_are_refused() -> None:
    for wanted in ({"layout": "round"}, {"source": "nobody"}):
        with pytest.raises(ConfigError, match="know"):
            lake.sinks(**wanted)
    with pytest.raises(ConfigError, match="name a bucket or a folder"):
        lake.sinks("s3://bucket/{day}")
    with pytest.raises(ConfigError, match="is no kind of espn"):
        lake.sinks(kinds=["box"])
    assert {sink.bucket for sink in lake.sinks()} == {lake.BUCKET}


def test_the_other_sources_have_names_too() -> None:
    stats, _ = lake.sinks("nba-lake", source="stats", layout="nested")
    assert str(stats) == "s3://nba-lake/nba_api/{folder}/{season}/{subject}.json?kind=stat_answer"
    (plays,) = lake.sinks("nba-lake", source="reference", kinds=["nba.play_by_play"])
    name = "basketball_reference/nba/play_by_play/{season}/{game_id}/pbp.json"
    assert str(plays) == f"s3://nba-lake/{name}?kind=nba.play_by_play"
    assert len(lake.keys(source="reference")) == 234
    whole, season = lake.sinks("nba-lake", source="hoopr")
    assert str(whole) == "s3://nba-lake/hoopr_parquet/{dataset}/{season}/{game_id}.json?kind=hoopr_game"
    assert str(season) == "s3://nba-lake/hoopr_parquet/{dataset}/season_{season}.json?kind=hoopr_season"
    whole, _ = lake.sinks("nba-lake", source="hoopr-csv")
    assert str(whole) == "s3://nba-lake/hoopr_phase1/{dataset}/{season}/{game_id}.json?kind=hoopr_game"
