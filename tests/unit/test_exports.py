"""Out of the store: JSON lines and CSV."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from gossamer.errors import ConfigError
from gossamer.pipeline import item_of
from gossamer.storage import exports
from gossamer.storage.sqlite import SqliteStore
from gossamer.storage.store import Batch, Draft
from gossamer.values import Ending, Outcome, Request

RECORDS = [
    {"title": 'A "quoted", title\nin two lines', "price": 1.5, "tags": ["x", "é"]},
    {"title": "B", "more": {"deep": None}, "sold": True, "left": None},
]


def _exported(store: str, *args: Any, **options: Any) -> int:
    """Fill a store with a run that has one page with two items and one failure, then export from it."""

    async def main() -> int:
        async with SqliteStore(store) as opened:
            if not await opened.runs():
                await _fill(opened, "shop", RECORDS)
                await _fill(opened, "other", [{"title": "C"}])
            return await exports.write(opened, *args, **options)

    return asyncio.run(main())


async def _fill(store: SqliteStore, scraper: str, records: list[dict[str, Any]]) -> None:
    run = await store.new_run(Draft(scraper, "r", scraper, {}, {}))
    lease = await store.acquire(run.id, "me", 60)
    await store.add(lease, [Request("http://a.org/"), Request("http://a.org/gone")], last=True)
    page, gone = await store.peek(run.id, "a.org", 10, ())
    items = tuple(item_of(record, "title") for record in records)
    done = Outcome(page, Ending.DONE, status=200, size=5, started=1000.5, elapsed=0.25, items=items)
    failed = Outcome(gone, Ending.FAILED, "http_404", status=404, started=1001.0)
    await store.settle(lease, Batch([done, failed]))
    await store.release(lease)


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline="")))


def test_items_come_out_as_they_went_in(store: str, tmp_path: Path) -> None:
    out = tmp_path / "items.jsonl"
    assert _exported(store, "items", "jsonl", out, scraper="shop") == 2
    assert [json.loads(line) for line in out.read_text("utf-8").splitlines()] == RECORDS


def test_csv_has_every_column_of_every_item(store: str, tmp_path: Path) -> None:
    out = tmp_path / "items.csv"
    assert _exported(store, "items", "csv", out, scraper="shop") == 2
    first, second = _rows(out)
    assert list(first) == ["title", "price", "tags", "more", "sold", "left"]
    assert first == {
        "title": RECORDS[0]["title"],
        "price": "1.5",
        "tags": '["x","é"]',
        "more": "",
        "sold": "",
        "left": "",
    }
    assert (second["more"], second["left"]) == ('{"deep":null}', "")


def test_items_are_chosen_by_run_or_scraper(store: str, tmp_path: Path) -> None:
    out = tmp_path / "items.jsonl"
    assert _exported(store, "items", "jsonl", out) == 3
    assert _exported(store, "items", "jsonl", out, run=2) == 1
    assert json.loads(out.read_text()) == {"title": "C"}
    assert _exported(store, "items", "jsonl", out, scraper="nobody") == 0
    assert out.read_text() == ""


def test_items_can_tell_where_they_come_from(store: str, tmp_path: Path) -> None:
    out = tmp_path / "items.jsonl"
    _exported(store, "items", "jsonl", out, run=2, source=True)
    record = json.loads(out.read_text())
    assert record["title"] == "C"
    assert (record["_kind"], record["_key"]) == ("item", "C")
    assert {"_first_seen", "_last_seen", "_last_changed"} <= record.keys()
    assert record["_first_seen"].endswith("+00:00")


@pytest.mark.parametrize("style", ["jsonl", "csv"])
def test_pages_tell_how_every_url_ended(store: str, tmp_path: Path, style: str) -> None:
    out = tmp_path / "pages"
    assert _exported(store, "pages", style, out, run=1) == 2
    rows = [json.loads(line) for line in out.read_text().splitlines()] if style == "jsonl" else _rows(out)
    assert [(row["url"], row["state"], str(row["status"]), row["reason"]) for row in rows] == [
        ("http://a.org/", "done", "200", "ok"),
        ("http://a.org/gone", "failed", "404", "http_404"),
    ]
    assert rows[0]["fetched_at"] == "1970-01-01T00:16:40.500+00:00"


def test_without_a_file_it_goes_to_stdout(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    _exported(store, "items", "jsonl", None, run=2)
    assert json.loads(capsys.readouterr().out) == {"title": "C"}


def test_a_file_that_cannot_be_written_is_refused(store: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        _exported(store, "items", "jsonl", tmp_path / "no" / "where.jsonl")
    assert str(refused.value) == f"{tmp_path}/no/where.jsonl cannot be written: No such file or directory"


def test_no_time_is_no_text() -> None:
    assert exports.iso(None) is None
    assert exports.iso(0.25) == "1970-01-01T00:00:00.250+00:00"
