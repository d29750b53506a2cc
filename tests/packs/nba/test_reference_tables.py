"""Tables of Basketball Reference: those of our own making, and every one that was captured."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer import Page
from gossamer.packs.nba.reference import tables
from gossamer.packs.nba.reference.tables import Row, Table
from tests.packs import answer, fixture

TABLE = """<table id="totals_stats"><caption>Totals Table</caption>
<thead><tr class="over_header"><th colspan="2"></th><th colspan="2">Scoring</th></tr>
<tr><th data-stat="ranker">Rk</th><th data-stat="name_display">Player</th><th data-stat="team_name_abbr">Team</th>
<th data-stat="pts">PTS</th></tr></thead>
<tbody>
<tr><th data-stat="ranker" csk="1">1</th>
<td data-stat="name_display" data-append-csv="abernan01"><a href="/players/a/abernan01.html">Ansel
 Abernot</a>*</td><td data-stat="team_name_abbr">2TM</td><td data-stat="pts"><strong>90</strong></td></tr>
<tr><th data-stat="ranker" csk="1">1</th><td data-stat="name_display" data-append-csv="abernan01">Ansel Abernot*</td>
<td data-stat="team_name_abbr">BOS</td><td data-stat="pts">50</td></tr>
<tr class="thead"><th data-stat="ranker">Rk</th><th data-stat="name_display">Player</th>
<th data-stat="team_name_abbr">Team</th><th data-stat="pts">PTS</th></tr>
<tr><th data-stat="ranker"></th><td data-stat="name_display">League Average</td><td data-stat="team_name_abbr"></td>
<td data-stat="pts"></td></tr>
</tbody><tfoot><tr><th data-stat="ranker"></th><td data-stat="pts">140</td></tr></tfoot></table>"""


def only(body: str) -> Table:
    (table,) = tables.read(Page.of(body)).values()
    return table


@pytest.mark.parametrize("body", [TABLE, f"<div><!-- {TABLE} --></div>"])
def test_cells_are_called_as_the_site_calls_them(body: str) -> None:
    table = only(body)
    assert table.hidden is body.startswith("<div>")
    assert table.columns == ("ranker", "name_display", "@slug", "team_name_abbr", "pts")
    assert table.rows[0].cells == {
        "ranker": "1",
        "name_display": "Ansel Abernot*",
        "@slug": "abernan01",
        "team_name_abbr": "2TM",
        "pts": "90",
    }
    assert table.rows[0].link("name_display") == "/players/a/abernan01.html"
    assert table.rows[0].sorts == {"ranker": "1"}
    assert [row.cells["pts"] for row in table.footer] == ["140"]
    assert (table.repeated, table.caption) == (1, "Totals Table")
    assert table.over == {"team_name_abbr": "Scoring", "pts": "Scoring"}


def test_rows_that_sum_up_others_are_left_out_unless_asked_for() -> None:
    assert [row.text("team_name_abbr") for row in only(TABLE).kept()] == ["BOS"]
    assert len(only(TABLE).kept(combined=True)) == 3


@pytest.mark.parametrize(
    ("team", "combined"), [("TOT", True), ("2TM", True), ("5TM", True), ("TOR", False), ("", False)]
)
def test_what_sums_up(team: str, combined: bool) -> None:
    assert Row({"team_id": team, "player": "Bram Lunt"}).is_combined is combined


def test_cells_without_a_name_are_called_by_their_place() -> None:
    table = only(
        """<table id="pbp"><tr class="thead"><th colspan="6">1st Q</th></tr>
        <tr class="thead"><th>Time</th><th>Boston</th><th></th><th>Score</th><th></th><th>Brooklyn</th></tr>
        <tr><td>12:00.0</td><td colspan="5">Jump ball</td></tr>
        <tr><td>11:40.0</td><td>&nbsp;</td><td>&nbsp;</td><td>0-2</td><td>+2</td>
        <td><a href="/players/a/a01.html">A</a> to <a href="/players/b/b01.html">B</a></td></tr></table>"""
    )
    assert table.rows[0].cells == {"_0": "12:00.0", "_1": "Jump ball"}
    assert table.rows[1].cells == {"_0": "11:40.0", "_1": "", "_2": "", "_3": "0-2", "_4": "+2", "_5": "A to B"}
    assert table.rows[1].links["_5"] == ("/players/a/a01.html", "/players/b/b01.html")
    assert [row.group for row in table.rows] == ["1st Q", "1st Q"]


def test_a_header_within_the_body_says_what_is_below_it() -> None:
    head = '<tr><th data-stat="player">Starters</th><th data-stat="pts">PTS</th></tr>'
    again = head.replace("<tr>", '<tr class="thead">').replace("Starters", "Reserves")
    row = '<tr><th data-stat="player">{}</th><td data-stat="pts">2</td></tr>'
    body = row.format("A") + again + row.format("B") + again.replace("Reserves", "Starters") + row.format("C")
    table = only(f'<table id="box"><thead>{head}</thead><tbody>{body}</tbody></table>')
    assert [each.group for each in table.rows] == [None, "Reserves", "Reserves"]


def test_a_table_in_a_cell_is_no_row_of_the_outer_one() -> None:
    inner = '<table id="inner"><tr><td data-stat="x">1</td></tr></table>'
    found = tables.read(Page.of(f'<table id="outer"><tr><td>a</td></tr><tr><td>{inner}</td></tr></table>'))
    assert len(found["outer"].rows) == len(found["inner"].rows) == 1


def test_the_first_of_several_ids_wins() -> None:
    page = Page.of('<table id="old"><tr><td>1</td></tr></table>')
    found = tables.first(page, "new", "old")
    assert found is not None
    assert found.id == "old"
    assert tables.first(page, "new") is None


SOUP = ["<table id=a>", "<table id=b>", "<tr>", "<td data-stat=x>", "<th>", "</table>", "<!--", "-->", "<thead>", "x"]
SOUP += ["<tr class=thead>", "<tfoot>", "<td colspan=999999999>", "<tr class=over_header>", "<caption>"]


@given(st.lists(st.sampled_from(SOUP)))
def test_no_soup_is_too_bad(parts: list[str]) -> None:
    for table in tables.read(Page.of("".join(parts))).values():
        assert set().union(*(row.cells for row in table.rows)) == set(table.columns)


def _sum(rows: list[dict[str, str]], column: str) -> float:
    total = 0.0
    for row in rows:
        try:
            total += float(row.get(column) or "")
        except ValueError:
            continue
    return total


def _differs(table: Table, want: dict[str, Any]) -> list[str]:
    rows = [row.cells for row in table.rows]
    got = {
        "in_comment": table.hidden,
        "columns": list(table.columns),
        "body_rows": len(rows),
        "repeated_header_rows": table.repeated,
        "footer_rows": len(table.footer),
        "first": rows[: len(want["first"])],
        "last": rows[-1:],
    }
    wrong = [name for name, value in got.items() if value != want[name]]
    sums = want["numeric_column_sums"].items()
    return wrong + [f"sum of {name}" for name, total in sums if abs(_sum(rows, name) - total) > 0.01]


def test_every_captured_table_is_read_as_the_oracle_reads_it() -> None:
    oracle = answer("nba_bbref/tables.oracle.json")
    wrong: dict[tuple[str, str], list[str]] = {}
    read = 0
    for name, wanted in oracle.items():
        found = tables.read(Page.of(fixture(f"nba_bbref/{name}")))
        assert set(found) == set(wanted), name
        for each, want in wanted.items():
            read += 1
            if differs := _differs(found[each], want):
                wrong[name, each] = differs
    assert wrong == {}
    assert read == 140
