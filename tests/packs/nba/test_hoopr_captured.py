"""hoopR's own small files, where they are present."""

from __future__ import annotations

import re

import pytest

from gossamer.packs.nba import model, teams
from gossamer.packs.nba.hoopr import files as hoopr_files
from gossamer.packs.nba.hoopr import records as hoopr_records
from gossamer.packs.nba.stats.catalogue import ENDPOINTS
from tests.packs import fixture


@pytest.mark.parametrize(("name", "rows"), [("draft", 60), ("standings", 690)])
def test_manifests(name: str, rows: int) -> None:
    lines = hoopr_files.rows_of(fixture(f"nba_hoopr/hoopr_{name}_manifest.csv").decode())
    found = hoopr_records.season_list(name, lines)
    assert [each.season for each in found] == sorted({model.count(line["season"]) or 0 for line in lines})
    newest = next(each for each in found if each.season == 2026)
    mine = [line for line in lines if line["season"] == "2026"]
    assert newest.rows == rows == model.count(mine[-1]["row_count"])
    assert newest.made == max(model.utc((line["generated_at_utc"] or "")[:19]) or "" for line in mine)
    assert (newest.made_from or "").endswith(f"/nba/{name}/json/2026.json")


def test_the_thirty_teams_are_called_what_we_call_them() -> None:
    rows = hoopr_files.rows_of(fixture("nba_hoopr/nba_teams.csv").decode())
    assert len(rows) == 30
    for row in rows:
        theirs, ours = teams.of_espn(row["espn_team_id"]), teams.of_nba(row["TeamID"])
        assert theirs is not None
        assert theirs == ours == teams.team(row["abbreviation"]) == teams.team(row["display_name"])
        assert (theirs.conference, theirs.division) == (row["Conference"], row["Division"])


def test_hoopr_knows_the_parameters_of_the_catalogue() -> None:
    text = fixture("nba_hoopr/hoopR_nba_stats_params.csv").decode()
    listed = {line.strip('"').replace("_", "") for line in text.splitlines()[1:]}
    ours = {re.sub(r"[^a-z0-9]", "", name.lower()) for each in ENDPOINTS.values() for name in each.knows}
    # But for what leaguegamefinder takes to look for numbers that are just so many, which hoopR leaves out.
    assert {name for name in ours - listed if not name.startswith("eq")} == set()
    assert len(ours & listed) >= 130
