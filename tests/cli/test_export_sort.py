"""`gossamer export --sort key`: the same items make the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli import sentence, typed
from tests.conftest import json_lines
from tests.filling import fill

KEYS = ["b", "a", "B", "10", "9", "é", "a b"]
SORTED = ["10", "9", "B", "a", "a b", "b", "é"]


def _fill(store: str, keys: list[str]) -> None:
    fill(store, [{"id": key, "of": key, **({"odd": 1} if key == "9" else {})} for key in keys])


@pytest.mark.parametrize("style", ["jsonl", "csv", "parquet"])
def test_items_found_in_another_order_make_the_same_file(style: str) -> None:
    for store, keys in (("one.db", KEYS), ("two.db", KEYS[::-1])):
        _fill(store, keys)
        done = typed("export", "items", "--store", store, "--sort", "key", "-o", f"{store}.{style}")
        assert done.stderr == f"7 items written to {store}.{style}\n"
    assert Path(f"one.db.{style}").read_bytes() == Path(f"two.db.{style}").read_bytes()


def test_items_are_sorted_by_the_bytes_of_their_keys() -> None:
    _fill("gossamer.db", KEYS)
    assert [row["id"] for row in json_lines(typed("export", "items").stdout)] == KEYS
    assert [row["id"] for row in json_lines(typed("export", "items", "--sort", "key").stdout)] == SORTED
    first = typed("export", "items", "--sort", "key", "--unique", "odd", "--where", "id > 'a'", "--fields", "id")
    assert [row["id"] for row in json_lines(first.stdout)] == SORTED[4:]


def test_what_has_no_key_or_an_order_of_its_own_is_not_sorted() -> None:
    _fill("gossamer.db", KEYS)
    assert "are for items, not for pages" in sentence(typed("export", "pages", "--sort", "key"), 2)
    assert "leave --sort out" in sentence(typed("export", "items", "--sort", "key", "--cursor", "c"), 2)
    assert not Path("c").exists()
    assert typed("export", "items", "--sort", "name").returncode == 2
