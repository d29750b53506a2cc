"""Out of the store over HTTP: the same records as `gossamer export` writes, sent while they are read."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import httpx
import pytest

from tests.service.conftest import Served


@pytest.fixture
def filled(served: Served) -> Served:
    served.fill([{"id": n, "name": f"n{n}", "tags": ["a"]} for n in range(1200)], scraper="quotes")
    served.fill([{"id": 5, "title": "=1+1", "ü": None}], scraper="books", kind="book")
    return served


def test_json_lines_are_all_items(filled: Served, api: httpx.Client) -> None:
    answer = api.get("/api/export")
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    assert 'filename="items.jsonl"' in answer.headers["content-disposition"]
    records = [json.loads(line) for line in answer.text.splitlines()]
    assert len(records) == 1201
    assert records[0] == {"id": 0, "name": "n0", "tags": ["a"]}


def test_filters_are_those_of_the_command(filled: Served, api: httpx.Client) -> None:
    def got(**query: Any) -> list[dict[str, Any]]:
        answer = api.get("/api/export", params=query)
        assert answer.status_code == 200, answer.text
        return [json.loads(line) for line in answer.text.splitlines()]

    assert got(scraper="books") == [{"id": 5, "title": "=1+1", "ü": None}]
    assert got(kind="book", fields="title") == [{"title": "=1+1"}]
    assert [each["id"] for each in got(where="id >= 1198")] == [1198, 1199]
    assert got(run=2)[0]["id"] == 5
    assert got(kind="book", source="true")[0]["_scraper"] == "books"
    assert got(since="1h", kind="nothing") == []


def test_csv_has_every_column(filled: Served, api: httpx.Client) -> None:
    answer = api.get("/api/export?format=csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert list(rows[0]) == ["id", "name", "tags", "title", "ü"]
    assert (len(rows), rows[0]["tags"], rows[-1]["title"]) == (1201, '["a"]', "=1+1")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"


def test_parquet_is_whole(filled: Served, api: httpx.Client) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    answer = api.get("/api/export?format=parquet&scraper=quotes")
    assert answer.headers["content-type"] == "application/vnd.apache.parquet"
    assert parquet.read_table(io.BytesIO(answer.content)).num_rows == 1200


def test_pages_are_exported_too(filled: Served, api: httpx.Client) -> None:
    (page,) = (json.loads(line) for line in api.get("/api/export?what=pages&run=1").text.splitlines())
    assert (page["url"], page["state"]) == ("http://shop.example/", "done")


def test_nothing_at_all_is_an_empty_file(api: httpx.Client) -> None:
    assert api.get("/api/export").text == ""
    assert api.get("/api/export?format=csv").status_code == 200


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("where=price >", 400),
        ("since=whenever", 400),
        ("held=true", 400),
        ("what=pages&kind=x", 400),
        ("format=xlsx", 400),
        ("what=everything", 400),
        ("run=99", 404),
        ("fields=" + "a," * 2000, 400),
    ],
)
def test_what_cannot_be_exported_is_said_before_anything_is_sent(api: httpx.Client, query: str, status: int) -> None:
    answer = api.get(f"/api/export?{query}")
    assert answer.status_code == status
    assert answer.json()["error"]


def test_no_client_says_where_a_file_goes(served: Served, api: httpx.Client) -> None:
    before = sorted(path.name for path in served.folder.iterdir())
    for name in ("output", "cursor", "path", "file", "partition_by"):
        answer = api.get("/api/export", params={name: "/tmp/gossamer-evil", "format": "csv"})
        assert (answer.status_code, name in answer.json()["error"]) == (400, True)
    assert sorted(path.name for path in served.folder.iterdir()) == before


def test_who_hangs_up_leaves_nothing_behind(filled: Served, api: httpx.Client) -> None:
    for style in ("jsonl", "csv", "parquet"):
        for _ in range(6):
            with filled.client() as client, client.stream("GET", f"/api/export?format={style}") as answer:
                assert answer.status_code == 200
                next(answer.iter_raw())
    assert api.get("/api/export").status_code == 200
    assert filled.app.state.exports == 0


def test_only_a_few_exports_at_once(filled: Served, api: httpx.Client) -> None:
    filled.app.state.exports = 4
    answer = api.get("/api/export")
    assert (answer.status_code, "wait" in answer.json()["error"]) == (409, True)
