"""Tables as rows: headers, spans, comments, and tables made to hurt."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import ReadError
from gossamer.parse.page import Page
from gossamer.parse.tables import Table, by_stat, read, records
from tests.conftest import corpora

CITIES = """<h2>Cities</h2><p>Of <b>note</b>.</p><table id="cities"><caption>Largest</caption>
<thead><tr><th>Name<th>People<th>River</thead>
<tbody><tr><th>Ulm<td>126,000<td><a href="/danube">Danube</a> <a href="/iller">Iller</a>
<tr><th>Bonn<td>330,000</tbody><tfoot><tr><td>Sum<td>456,000<td></tfoot></table>"""


def one(html: str, **asked: bool) -> Table:
    (table,) = read(Page.of(html, "https://a.org/x/"), **asked)
    return table


# --- as they are written ---


def test_a_table_tells_its_columns_rows_links_and_what_stands_above_it() -> None:
    table = one(CITIES)
    assert table == Table(
        url="https://a.org/x/",
        id="cities",
        caption="Largest",
        heading="Cities",
        columns=("Name", "People", "River"),
        rows=(
            {"Name": "Ulm", "People": "126,000", "River": "Danube Iller"},
            {"Name": "Bonn", "People": "330,000", "River": None},
        ),
        footer=({"Name": "Sum", "People": "456,000", "River": ""},),
        links=({"River": "https://a.org/danube"}, {}),
    )


def test_a_row_of_header_cells_is_a_header_without_thead() -> None:
    table = one("<table><tr><td></td><th>A</th><th>B</th></tr><tr><th>x</th><td>1</td><td>2</td></tr></table>")
    assert table.rows == ({"column 1": "x", "A": "1", "B": "2"},)


def test_a_first_row_in_bold_is_a_header() -> None:
    table = one("<table><tr><td><b>A</b><td><strong> B</strong><tr><td>1<td>2<tr><td>3<td>4</table>")
    assert table.columns == ("A", "B")
    assert len(table.rows) == 2


def test_headers_of_two_levels_become_one_name() -> None:
    table = one(
        """<table><thead><tr><th rowspan=2>Team<th colspan=2>Home<th colspan=2>Road</tr>
        <tr><th>W<th>L<th>W<th>L</tr></thead><tr><td>Ulm<td>1<td>2<td>3<td>4</table>"""
    )
    assert table.columns == ("Team", "Home W", "Home L", "Road W", "Road L")
    assert list(table.rows[0].values()) == ["Ulm", "1", "2", "3", "4"]


def test_a_first_row_that_is_one_cell_is_a_caption() -> None:
    table = one("<table><tr><th colspan=2>Results</tr><tr><th>A<th>B</tr><tr><td>1<td>2</tr></table>")
    assert (table.caption, table.columns) == ("Results", ("A", "B"))


def test_columns_of_the_same_name_and_of_none_get_names_of_their_own() -> None:
    table = one("<table><tr><th>W<th>W<th><th>W</tr><tr><td>1<td>2<td>3<td>4</table>")
    assert table.columns == ("W", "W 2", "column 3", "W 3")


def test_spans_fill_the_places_they_cover() -> None:
    table = one(
        """<table><tr><th>A<th>B<th>C<tr><td rowspan=2>1<td>2<td>3<tr><td colspan=2>4
        <tr><td>5<td rowspan=0>6<td>7<tr><td>8<td>9</table>"""
    )
    assert [list(row.values()) for row in table.rows] == [
        ["1", "2", "3"],
        ["1", "4", "4"],
        ["5", "6", "7"],
        ["8", "6", "9"],
    ]


def test_headers_repeated_in_the_body_are_left_out_and_lines_between_become_groups() -> None:
    table = one(
        """<table><thead><tr><th>Team<th>W</thead><tbody><tr class=thead><th colspan=2>East</tr>
        <tr><th>Ulm<td>1<tr class="thead"><th>Team<th>W</tr><tr><td>Bonn<td>2
        <tr><th colspan=2>West</tr><tr><td>Team<td>W<tr><td>Trier<td>3</tbody></table>"""
    )
    assert [row["Team"] for row in table.rows] == ["Ulm", "Bonn", "Trier"]
    assert table.groups == ("East", "East", "West")


def test_a_table_of_names_and_values_has_rows_without_a_header() -> None:
    table = one("<table><tr><th>Weight<td>3 kg<tr><th>Length<td>2 m</table>")
    assert table.rows == ({"column 1": "Weight", "column 2": "3 kg"}, {"column 1": "Length", "column 2": "2 m"})


def test_cells_say_what_a_reader_sees() -> None:
    table = one(
        "<table><tr><th>A<tr><td>one<br>two<script>no()</script><p>th<b>r</b>ee</p><img alt=four>"
        "<tr><td>H<sub>2</sub>O<!-- no --></table>"
    )
    assert [row["A"] for row in table.rows] == ["one two three four", "H2O"]


def test_a_table_in_a_table_is_a_table_of_its_own() -> None:
    html = "<table><tr><th>A<th>B<tr><td>1<td>x<table><tr><th>C<tr><td>2</table>y</table>"
    outer, inner = read(Page.of(html))
    assert outer.rows == ({"A": "1", "B": "x y"},)
    assert inner.rows == ({"C": "2"},)
    assert (outer.n, inner.n) == (0, 1)


def test_tables_that_only_lay_out_a_page_are_left_out_unless_asked_for() -> None:
    html = """<table><tr><td>menu</td><td><table><tr><th>A</th></tr><tr><td>1</td></tr></table></td></tr>
        <tr><td>a</td><td>b</td></tr></table><table role=presentation><tr><th>x</table><table><tr><td>one</table>"""
    assert [table.columns for table in read(Page.of(html))] == [("A",)]
    assert len(read(Page.of(html), layout=True)) == 4


# --- comments and data-stat ---


def test_tables_in_comments_are_found_where_they_stand() -> None:
    html = f"""<h2>One</h2><table><tr><th>A<tr><td>1</table><h2>Two</h2><!-- not <table me -->
        <div><!--\n<div>{CITIES.replace("<h2>Cities</h2>", "")}</div>--></div>
        <h2>Three</h2><table><tr><th>B<tr><td>2</table><!--[if mso]><table><tr><th>C<tr><td>3</table><![endif]-->"""
    tables = read(Page.of(html))
    assert [(table.heading, table.hidden, table.columns[0]) for table in tables] == [
        ("One", False, "A"),
        ("Two", True, "Name"),
        ("Three", False, "B"),
    ]


def test_cells_go_where_data_stat_says_and_rows_can_be_had_by_it() -> None:
    table = one(
        """<table><thead><tr><th data-stat=player>Starters<th data-stat=mp>MP<th data-stat=at></thead>
        <tr><th data-stat=player>Ann<td data-stat=mp>12<td data-stat=at>@
        <tr><th data-stat=player>Bob<td data-stat=reason colspan=2>Did Not Play</table>"""
    )
    assert table.columns == ("Starters", "MP", "at", "reason")
    assert table.rows[1] == {"Starters": "Bob", "MP": None, "at": None, "reason": "Did Not Play"}
    assert by_stat(table) == [
        {"player": "Ann", "mp": "12", "at": "@"},
        {"player": "Bob", "reason": "Did Not Play"},
    ]


def test_rows_may_call_their_columns_otherwise_than_the_header() -> None:
    table = one("<table><tr><th data-stat=fg>FG<th data-stat=w>W<tr><td data-stat=opp_fg>1<td data-stat=w>2</table>")
    assert by_stat(table) == [{"opp_fg": "1", "w": "2"}]


def test_records_are_the_rows_of_one_table() -> None:
    page = Page.of(
        f"<table><tr><th>A<tr><td>1</table><div class=x>{CITIES}</div><!-- {CITIES.replace('cities', 'h')} -->"
    )
    assert records(page) == [{"A": "1"}]
    assert records(page, id="cities") == records(page, ".x") == records(page, "div.x table") == records(page, id="h")
    assert records(page, id="other") == records(page, "p.x") == []
    with pytest.raises(ReadError):
        records(page, "[[")


def test_what_is_no_html_has_no_tables() -> None:
    assert read(Page.of('{"a": "<table><tr><th>x"}', content_type="application/json")) == []
    assert read(Page.of("")) == read(Page.of("<p>none</p>")) == []


def test_a_page_in_utf_16_is_read() -> None:
    page = Page.of("﻿<table><tr><th>A<tr><td>é</table>".encode("utf-16-le"), content_type="text/html")
    assert read(page)[0].rows == ({"A": "é"},)


# --- as they are made to hurt ---


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td>" * 10_000 + "x",
        "<table><tr><th>a<th>b</tr>" + "<tr><td colspan=1000000000>x</td></tr>" * 5_000,
        "<table>" + "<tr><td rowspan=65000 colspan=1000>x</td></tr>" * 5_000,
        "<table><tr>" + "<td rowspan=65000>x</td>" * 900 + "<tr><td>y" * 1_000,
        "<table><!--" * 20_000,
        "<!--<table>-->" * 20_000,
        "<table><tr>" + "<th>a" * 20_000,
        "<table><tr><th>a<tr><td>b</table>" * 10_000,
        "<table><tr><td>" + "<span>" * 300 + "<a href=x>y</a>" * 5_000,
    ],
    ids=["nested", "colspan", "spans", "rowspan", "open comments", "comments", "wide", "many", "links"],
)
def test_a_hostile_table_costs_little(html: str) -> None:
    began = time.process_time()
    read(Page.of(html), layout=True)
    assert time.process_time() - began < 30


def test_what_is_too_large_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.parse.tables.MOST_CELLS", 100)
    table = one("<table><tr><th>a<th>b" + "<tr><td>1<td>2" * 200 + "</table>")
    assert table.cut
    assert 20 < len(table.rows) < 60
    assert not one(CITIES).cut


def test_a_colspan_beyond_all_cells_makes_no_columns() -> None:
    table = one("<table><tr><th>a<th>b<tr><td colspan=99999999999999>note<tr><td colspan=-2>1<td colspan=x>2</table>")
    assert table.columns == ("a", "b")
    assert table.rows[1] == {"a": "1", "b": "2"}


SOUP = [
    "<table>",
    "<tr>",
    "<td>",
    "<th>",
    "</table>",
    "<!--",
    "-->",
    "<thead>",
    "x",
    "<td colspan=3>",
    "<td rowspan=2>",
]


@given(st.lists(st.sampled_from(SOUP)))
def test_no_soup_is_too_bad(parts: list[str]) -> None:
    for table in read(Page.of("".join(parts)), layout=True):
        assert all(set(row) == set(table.columns) for row in table.rows)


# --- outside ---


def _sum(rows: list[dict[str, str]], column: str) -> float:
    total = 0.0
    for row in rows:
        try:
            total += float(row.get(column) or "")
        except ValueError:
            continue
    return total


def _differs(table: Table | None, want: dict[str, Any]) -> list[str]:
    """What a table has that is not as the oracle says."""
    if table is None:
        return ["missing"]
    positional = want["columns"][0] == "_0"
    rows = by_stat(table)
    if positional:
        rows = [{f"_{n}": text or "" for n, text in enumerate(row.values())} for row in table.rows]
    wrong = [] if table.hidden == want["in_comment"] else ["hidden"]
    if (len(rows), len(table.footer)) != (want["body_rows"], want["footer_rows"]):
        wrong.append(f"{len(rows)} rows, {len(table.footer)} in the footer")
    for there, row in [*zip(want["first"], rows, strict=False), *zip(want["last"], rows[-1:], strict=False)]:
        texts = {
            name: text for name, text in there.items() if not name.startswith("@") and (positional or name[0] != "_")
        }
        wrong += [f"{name}: {row.get(name)!r}, not {text!r}" for name, text in texts.items() if row.get(name) != text]
    sums = want["numeric_column_sums"].items()
    return wrong + [f"sum of {name}" for name, total in sums if abs(_sum(rows, name) - total) > 0.01]


@pytest.mark.suite
def test_basketball_reference_is_read_as_the_oracle_reads_it() -> None:
    folder = corpora("fixtures", "nba_bbref")
    oracle = json.loads((folder / "tables.oracle.json").read_bytes())
    wrong = {}
    for name, tables in oracle.items():
        found = {table.id: table for table in read(Page.of((folder / name).read_bytes()))}
        wrong.update({(name, id_): bad for id_, want in tables.items() if (bad := _differs(found.get(id_), want))})
    # Its first row is a header of two levels, which the oracle takes for one of the body.
    assert list(wrong) == [("oldlayout_boxscore_201701010ATL.html", "line_score")]


@pytest.mark.suite
def test_a_season_has_as_many_players_as_were_counted() -> None:
    folder = corpora("fixtures", "nba_bbref")
    page = Page.of((folder / "players_season_totals_2001.html").read_bytes())
    (table, _) = read(page)
    want = json.loads((folder / "players_season_totals_2001.expected.json").read_bytes())
    rows = [
        row for row in by_stat(table) if row["name_display"] != "League Average" and "TOT" not in row["team_name_abbr"]
    ]
    rows = [row for row in rows if not row["team_name_abbr"].endswith("TM")]
    assert [row["name_display"].rstrip("*") for row in rows] == [player["name"] for player in want]
    assert [int(row["pts"]) for row in rows] == [player["points"] for player in want]
