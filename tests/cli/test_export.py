"""`gossamer export`: what a person types, and what is then in the files."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli import sentence, typed
from tests.conftest import json_lines
from tests.filling import fill

THINGS = [
    {"id": 1, "name": "pen", "price": 2.5, "tags": ["new"]},
    {"id": 2, "name": "ink", "price": 9, "tags": []},
    {"id": 3, "name": "nib", "price": 20},
]


@pytest.fixture(autouse=True)
def _filled() -> None:
    fill("gossamer.db", THINGS)


def test_items_are_chosen_by_options() -> None:
    done = typed(
        "export", "items", "--where", "price < 10 and not tags = 'new'", "--fields", "name, price", "--kind", "product"
    )
    assert json_lines(done.stdout) == [{"name": "ink", "price": 9}]
    assert done.stderr == ""
    assert json_lines(typed("export", "items", "--since", "1d", "--fields", "id").stdout) == [
        {"id": 1},
        {"id": 2},
        {"id": 3},
    ]


def test_the_name_of_a_file_tells_its_format() -> None:
    for name in ("out.csv", "out.parquet", "out.jsonl", "out.txt"):
        assert typed("export", "items", "-o", name).stderr == f"3 items written to {name}\n"
    assert Path("out.csv").read_text().splitlines()[0] == "id,name,price,tags"
    assert pq.read_table("out.parquet")["price"].to_pylist() == [2.5, 9.0, 20.0]
    assert Path("out.txt").read_text() == Path("out.jsonl").read_text()
    typed("export", "items", "-o", "other.csv", "--format", "jsonl")
    assert Path("other.csv").read_text() == Path("out.jsonl").read_text()


def test_parquet_in_folders() -> None:
    done = typed("export", "items", "--format", "parquet", "--partition-by", "kind, name", "-o", "out")
    assert done.stderr == "3 items written to out, in 3 files\n"
    assert sorted(path.name for path in Path("out/kind=product").iterdir()) == ["name=ink", "name=nib", "name=pen"]


def test_a_cursor_gives_what_is_new() -> None:
    def new() -> list[object]:
        return [(each["id"], "_gone" in each) for each in json_lines(typed("export", "items", "--cursor", "c").stdout)]

    assert new() == [(1, False), (2, False), (3, False)]
    fill("gossamer.db", [THINGS[0], {**THINGS[1], "price": 8}])
    assert new() == [(2, False), (3, True)]
    assert new() == []


def test_gone_and_held_items_are_given_when_they_are_asked_for() -> None:
    fill("gossamer.db", THINGS[:1])
    assert len(json_lines(typed("export", "items").stdout)) == 1
    assert len(json_lines(typed("export", "items", "--gone").stdout)) == 3
    run = fill("gossamer.db", [{"id": 5}], held=True)
    assert json_lines(typed("export", "items", "--held", "--run", run).stdout) == [{"id": 5}]


def test_a_field_that_nothing_has_is_noted() -> None:
    done = typed("export", "items", "--fields", "nmae", "--where", "id = 1")
    assert json_lines(done.stdout) == [{"nmae": None}]
    assert done.stderr == "note: nothing has a field 'nmae'\n"


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["items", "--where", "price >> 3"], "the filter 'price >> 3' cannot be read before '> 3'"),
        (["items", "--where", ""], "the filter is empty: write conditions like"),
        (["items", "--since", "yesterday"], "write an age like 6h, 1d or 7d"),
        (["items", "--held"], "--held needs --run N"),
        (["items", "--held", "--run", "9"], "there is no run 9"),
        (["items", "--scraper", "nobody"], "no run of a scraper 'nobody' is in this store: there are shop"),
        (["items", "--format", "parquet"], "give a file with -o"),
        (["items", "--partition-by", "kind", "-o", "x"], "--partition-by is for Parquet: add --format parquet"),
        (["items", "-o", "."], ". is a folder: give a file"),
        (["items", "--cursor", "gossamer.db"], "belongs to the store itself"),
        (["items", "-o", "gossamer.db.archive"], "belongs to the store itself"),
        (["items", "--cursor", "no/where"], "the cursor file no/where cannot be written"),
        (["pages", "--cursor", "c"], "are for items, not for pages"),
        (["items", "--format", "xml"], "xml"),
    ],
)
def test_what_cannot_be_asked_is_said(args: list[str], told: str) -> None:
    before = Path("gossamer.db").read_bytes()
    done = typed("export", *args)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert told in done.stderr
    assert Path("gossamer.db").read_bytes() == before


def test_no_file_is_left_behind_by_what_failed() -> None:
    sentence(typed("export", "items", "--format", "parquet", "--partition-by", "tags", "-o", "out"), 2)
    assert sorted(path.name for path in Path().iterdir() if not path.name.startswith("gossamer.db")) == []


def test_a_name_that_tells_another_format_is_refused() -> None:
    for name in ("out.json", "out.xlsx"):
        assert "is none of our formats" in sentence(typed("export", "items", "-o", name), 2)
        assert not Path(name).exists()
