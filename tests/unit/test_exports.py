"""Out of the store: JSON lines and CSV, chosen, followed by a cursor, complete or not at all."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

import gossamer
from gossamer import clock
from gossamer.errors import ConfigError
from gossamer.pipeline import item_of
from gossamer.storage import exports
from gossamer.storage.records import Choice
from gossamer.storage.sqlite import SqliteStore
from gossamer.storage.store import Batch, Draft, Wanted
from gossamer.values import Ending, Outcome, Request
from tests.filling import fill, settle, use

RECORDS = [
    {"title": 'A "quoted", title\nin two lines', "price": 1.5, "tags": ["x", "é"]},
    {"title": "B", "more": {"deep": None}, "sold": True, "left": None},
]


def _exported(store: str, what: str, *args: Any, **options: Any) -> int:
    """Fill a store with a run that has one page with two items and one failure, then export from it."""

    async def main() -> int:
        async with SqliteStore(store) as opened:
            if not await opened.runs():
                await _fill(opened, "shop", RECORDS)
                await _fill(opened, "other", [{"title": "C"}])
            return (await exports.write(opened, Choice(what=what, **options), *args)).rows

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
    assert clock.iso(None) is None
    assert clock.iso(0.25) == "1970-01-01T00:00:00.250+00:00"


# -- choosing --------------------------------------------------------------------------------------------------

THINGS: list[dict[str, Any]] = [
    {"id": 1, "name": "pen", "price": 2, "maker": {"city": "Oslo"}},
    {"id": 2, "name": "ink", "price": 9.5, "tags": ["new"]},
    {"id": 3, "name": "nib", "price": None},
]


def lines(store: str, **options: Any) -> list[Any]:
    """What is exported as JSON lines."""
    return [json.loads(line) for line in text(store, "jsonl", **options).splitlines()]


def text(store: str, style: str, **options: Any) -> str:
    out = Path("out")
    written(store, style, out, **options)
    return out.read_text("utf-8")


def written(store: str, style: str, out: Path | None, *, cursor: Path | None = None, **options: Any) -> exports.Written:
    return use(store, lambda opened: exports.write(opened, Choice(**options), style, out, cursor=cursor))


def test_items_are_chosen_by_a_filter_and_cut_to_fields(store: str) -> None:
    fill(store, THINGS)
    assert [each["id"] for each in lines(store, where="price > 3 or name = 'nib'")] == [2, 3]
    assert lines(store, fields=("maker.city", "name"), where="id < 3") == [
        {"maker.city": "Oslo", "name": "pen"},
        {"maker.city": None, "name": "ink"},
    ]
    assert text(store, "csv", fields=("name", "price")) == "name,price\npen,2\nink,9.5\nnib,\n"


def test_items_are_chosen_by_kind_and_age(store: str) -> None:
    fill(store, THINGS[:1])
    fill(store, [{"id": 7}], kind="review", scraper="other")
    assert lines(store, kind="review") == [{"id": 7}]
    assert len(lines(store, since=time.time() - 60)) == 2
    assert lines(store, since=time.time() + 60) == []


def test_a_filter_and_fields_may_ask_where_an_item_comes_from(store: str) -> None:
    fill(store, THINGS[:1])
    fill(store, [{"id": 7}], kind="review", scraper="other")
    assert lines(store, where="_kind = 'review'") == [{"id": 7}]
    assert lines(store, where="_url ~ 'shop' and _scraper = 'shop'", fields=("_key", "id")) == [{"_key": "1", "id": 1}]
    (found,) = lines(store, where="_last_changed > '2020' and _kind = 'product'", fields=("id",), source=True)
    assert list(found) == [
        "id", "_scraper", "_kind", "_key", "_url", "_first_seen", "_last_seen", "_last_changed",
    ]  # fmt: skip


def test_fields_that_nothing_has_are_told(store: str) -> None:
    fill(store, THINGS)
    told = written(store, "jsonl", Path("out"), where="prize > 3", fields=("name", "nmae", "tags", "_gone"))
    assert (told.rows, told.unmet) == (0, ("nmae", "prize"))
    assert written(store, "jsonl", Path("out"), scraper="nobody", fields=("nmae",)).unmet == ()


def test_items_that_are_gone_are_left_out_or_marked(store: str) -> None:
    fill(store, THINGS)
    fill(store, THINGS[:2])
    assert [each["id"] for each in lines(store)] == [1, 2]
    everything = lines(store, gone=True)
    assert [(each["id"], "_gone" in each) for each in everything] == [(1, False), (2, False), (3, True)]
    assert everything[2]["_gone"].endswith("+00:00")
    rows = list(csv.DictReader(io.StringIO(text(store, "csv", gone=True))))
    assert [bool(row["_gone"]) for row in rows] == [False, False, True]
    assert text(store, "csv", gone=True, where="id = 1", fields=("id",)) == "id,_gone\n1,\n"
    assert lines(store, gone=True, where="_gone is not null", fields=("id",)) == [{"id": 3, "_gone": ANY}]


def test_what_the_drift_gate_holds_back(store: str) -> None:
    fill(store, THINGS[:1])
    run = fill(store, [{"id": 1, "name": "PEN"}], held=True)
    assert lines(store, held=True, run=run) == [{"id": 1, "name": "PEN"}]
    assert lines(store, held=True, run=run, kind="other") == []
    assert lines(store, held=True, run=run, since=time.time() + 60) == []
    assert lines(store) == THINGS[:1]
    assert text(store, "csv", held=True, run=run, source=True).startswith("id,name,_scraper,_kind,_key,_url")


def test_pages_are_chosen_and_cut(store: str) -> None:
    run = fill(store, THINGS)
    assert lines(store, what="pages", run=run, fields=("url", "status"), where="status = 200") == [
        {"url": "http://shop.example/", "status": 200}
    ]
    assert lines(store, what="pages", since=time.time() + 60) == []
    assert text(store, "csv", what="pages", run=run, where="status = 404").startswith("run,url,state,reason,status")


@pytest.mark.parametrize(
    ("style", "options", "told"),
    [
        ("jsonl", {"held": True}, "--held needs --run N"),
        ("jsonl", {"what": "pages", "kind": "x"}, "are for items, not for pages"),
        ("jsonl", {"what": "pages", "gone": True}, "are for items, not for pages"),
        ("jsonl", {"what": "pages", "cursor": Path("c")}, "are for items, not for pages"),
        ("jsonl", {"run": 1, "cursor": Path("c")}, "leave --run, --since and --held out"),
        ("jsonl", {"since": 1.0, "cursor": Path("c")}, "leave --run, --since and --held out"),
        ("jsonl", {"cursor": Path("out")}, "are the same file"),
        ("jsonl", {"where": "price >"}, "the filter 'price >' cannot be read at its end"),
    ],
)
def test_what_cannot_be_asked_is_refused(store: str, style: str, options: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(told)):
        written(store, style, Path("out"), **options)
    assert not Path("out").exists()


def test_an_empty_store_gives_an_empty_file(store: str) -> None:
    assert text(store, "jsonl") == ""
    assert text(store, "csv") == "\n"
    assert text(store, "csv", fields=("a", "b")) == "a,b\n"


# -- cursors ---------------------------------------------------------------------------------------------------


def test_a_cursor_gives_only_what_happened_since(store: str) -> None:
    def new() -> list[tuple[int, bool]]:
        return [(each["id"], "_gone" in each) for each in lines(store, cursor=Path("c.json"))]

    fill(store, THINGS)
    assert new() == [(1, False), (2, False), (3, False)]
    assert new() == []
    fill(store, [THINGS[0], {**THINGS[1], "price": 1}, {"id": 4}])
    assert new() == [(2, False), (4, False), (3, True)]
    assert new() == []
    fill(store, THINGS)
    assert new() == [(2, False), (3, False), (4, True)]


def test_a_new_cursor_leaves_out_what_is_gone_already(store: str) -> None:
    fill(store, THINGS)
    fill(store, THINGS[:1])
    assert [each["id"] for each in lines(store, cursor=Path("a"))] == [1]
    assert [each["id"] for each in lines(store, cursor=Path("b"), gone=True)] == [1, 2, 3]


@pytest.mark.parametrize("style", ["jsonl", "csv"])
def test_what_comes_while_an_export_runs_is_for_the_next(store: str, style: str) -> None:
    """Neither lost nor given twice, though an item changes between the two readings."""

    async def work(opened: SqliteStore) -> None:
        await settle(opened, THINGS)
        busy = Busy(opened, [{**THINGS[0], "price": "sold", "more": 1}, *THINGS[1:], {"id": 4}])
        busy.at = 2 if style == "csv" else 1
        await exports.write(busy, Choice(), style, Path("first"), cursor=Path("c"))
        await exports.write(opened, Choice(), style, Path("second"), cursor=Path("c"))

    use(store, work)
    first, second = (Path(name).read_text() for name in ("first", "second"))
    assert ("pen" in first) == (style == "jsonl")  # by the second reading it was another one
    assert "sold" not in first
    assert "sold" in second
    assert ("ink" in first, "ink" in second) == (True, False)


class Busy:
    """A store in which a run settles while it is read for the n-th time."""

    def __init__(self, store: SqliteStore, records: list[dict[str, Any]]) -> None:
        self._store, self._records = store, records
        self.at = 2
        self._times = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def items(self, wanted: Wanted) -> Any:
        self._times += 1
        found = [item async for item in self._store.items(wanted)] if self._times < self.at else None
        if self._times == self.at and self._times > 1:
            await settle(self._store, self._records)
        for item in found or [item async for item in self._store.items(wanted)]:
            yield item
        if self._times == self.at == 1:
            await settle(self._store, self._records)


def test_columns_that_come_while_an_export_runs_are_not_lost(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    async def work(opened: SqliteStore) -> None:
        await settle(opened, THINGS)
        await exports.write(Busy(opened, [*THINGS, {"id": 4, "late": "x"}]), Choice(), "csv", Path("out"))

    use(store, work)
    assert [row["late"] for row in _rows(Path("out"))] == ["", "", "", "x"]


def test_a_cursor_is_kept_only_when_the_output_is_complete(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, THINGS)
    with pytest.raises(ConfigError, match="cannot be written"):
        written(store, "jsonl", Path("no/where"), cursor=Path("c"))
    assert not Path("c").exists()
    assert len(lines(store, cursor=Path("c"))) == 3


def test_a_cursor_knows_its_store_and_its_question(store: str, tmp_path: Path) -> None:
    fill(store, THINGS)
    lines(store, cursor=Path("c"), kind="product", where="price > 1")
    for options in ({}, {"kind": "product"}, {"kind": "product", "where": "price > 2"}, {"scraper": "shop"}):
        with pytest.raises(ConfigError, match="belongs to an export of --kind product --where price > 1, not of"):
            written(store, "jsonl", Path("out"), cursor=Path("c"), **options)
    other = str(tmp_path / "other.db")
    fill(other, THINGS)
    with pytest.raises(ConfigError, match="belongs to another store"):
        written(other, "jsonl", Path("out"), cursor=Path("c"), kind="product", where="price > 1")
    moved = Path("moved.db")
    Path(store).rename(moved)
    assert lines(str(moved), cursor=Path("c"), kind="product", where="price > 1", fields=("id",)) == []


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"store": "x"}', "\xff\xfe"])
def test_a_file_that_is_no_cursor_is_left_as_it_is(store: str, content: str) -> None:
    fill(store, THINGS)
    Path("notes").write_text(content, "latin-1")
    with pytest.raises(ConfigError, match="notes is no cursor file"):
        written(store, "jsonl", Path("out"), cursor=Path("notes"))
    assert Path("notes").read_text("latin-1") == content


# -- files -----------------------------------------------------------------------------------------------------


def test_a_file_keeps_its_old_content_until_the_new_one_is_complete(store: str) -> None:
    fill(store, THINGS)
    Path("out").write_text("old")

    class Broken(Busy):
        async def items(self, wanted: Wanted) -> Any:
            async for item in self._store.items(wanted):
                yield item
                raise RuntimeError("the store went away")

    async def work(opened: SqliteStore) -> None:
        await exports.write(Broken(opened, []), Choice(), "jsonl", Path("out"))

    with pytest.raises(RuntimeError):
        use(store, work)
    assert [(path.name, path.read_text()) for path in Path().glob("*out*")] == [("out", "old")]


def test_a_link_leads_to_the_file_that_is_written(store: str) -> None:
    fill(store, THINGS)
    Path("folder").mkdir()
    Path("latest").symlink_to("folder/real")
    written(store, "jsonl", Path("latest"))
    assert Path("latest").is_symlink()
    assert Path("folder/real").read_text().count("\n") == 3


def test_a_pipe_stays_a_pipe(store: str) -> None:
    fill(store, THINGS)
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:
        written(store, "jsonl", Path("pipe"))
        assert reader.communicate(timeout=20)[0].count(b"\n") == 3
    assert not Path("pipe").is_file()


def test_a_full_disk_is_told(store: str) -> None:
    fill(store, THINGS)
    with pytest.raises(ConfigError, match="/dev/full cannot be written: No space left on device"):
        written(store, "jsonl", Path("/dev/full"))


@pytest.mark.parametrize("name", ["", "-wal", "-shm", ".lock", ".archive", ".archive-wal"])
def test_the_store_and_its_archive_are_not_written_over(store: str, name: str) -> None:
    with pytest.raises(ConfigError, match="belongs to the store itself"):
        exports.refuse_store(Path(store + name), store)
    Path("link").symlink_to(store + name)
    with pytest.raises(ConfigError, match="belongs to the store itself"):
        exports.refuse_store(Path("link"), store)


def test_every_kind_of_line_end_survives_csv(store: str) -> None:
    odd = ["a\rb", "a\nb", "a\r\nb", "\r", 'q"q', "a,b", " x ", "", "é\u2028\0"]
    fill(store, [{"id": n, "text": each} for n, each in enumerate(odd)])
    written(store, "csv", Path("out"))
    with Path("out").open(encoding="utf-8", newline="") as file:
        assert [row["text"] for row in csv.DictReader(file)] == odd
    assert b"\r\n0" not in Path("out").read_bytes()


# -- one of each -----------------------------------------------------------------------------------------------

CALLS = [
    {"id": 1, "print": "a", "at": {"site": "x"}},
    {"id": 2, "print": None, "at": {"site": "y"}},
    {"id": 3, "print": "a", "at": {"site": "x"}},
    {"id": 4, "at": {}},
    {"id": 5, "print": "b", "at": {"site": "y"}},
    {"id": 6, "print": ["b"]},
    {"id": 7, "print": ""},
]


@pytest.mark.parametrize("style", ["jsonl", "csv", "parquet"])
def test_of_items_that_say_the_same_in_a_field_the_first_seen_is_written(store: str, style: str) -> None:
    fill(store, CALLS[:3])
    fill(store, CALLS[3:], scraper="other")
    assert written(store, style, Path("out"), unique="print").rows == 6
    ids = [1, 2, 4, 5, 6, 7]
    if style == "jsonl":
        assert [json.loads(line)["id"] for line in Path("out").read_text().splitlines()] == ids
    assert [each["id"] for each in gossamer.items(store, unique="print")] == ids


def test_one_of_each_looks_at_what_the_filter_left_and_where_a_path_leads(store: str) -> None:
    fill(store, CALLS)
    written(store, "jsonl", Path("out"), unique="at.site", where="id > 1", fields=("id",))
    assert Path("out").read_text().split() == ['{"id":2}', '{"id":3}', '{"id":4}', '{"id":6}', '{"id":7}']
    written(store, "jsonl", Path("out"), unique="_kind")
    assert Path("out").read_text().count("\n") == 1
    assert written(store, "jsonl", Path("out"), unique="no-such").unmet == ("no-such",)
    assert gossamer.to_frame(store, unique="at.site")["id"].tolist() == [1, 2, 4, 6, 7]


def test_what_is_gone_does_not_stand_for_what_is_there(store: str) -> None:
    fill(store, CALLS[:1])
    fill(store, CALLS[1:2])
    fill(store, CALLS[2:3], scraper="other")
    assert written(store, "jsonl", Path("out"), unique="print", gone=True).rows == 3


def test_one_of_each_is_refused_where_it_cannot_be_kept(store: str) -> None:
    fill(store, CALLS)
    with pytest.raises(ConfigError, match="--unique out"):
        written(store, "jsonl", Path("out"), cursor=Path("c"), unique="print")
    with pytest.raises(ConfigError, match="are for items"):
        written(store, "jsonl", Path("out"), what="pages", unique="print")
    with pytest.raises(ConfigError, match="name of a field"):
        gossamer.items(store, unique=" ")


# -- memory ----------------------------------------------------------------------------------------------------

MEASURE = """
import asyncio, sys
from pathlib import Path
from gossamer.storage import exports
from gossamer.storage.records import Choice
from gossamer.storage.sqlite import SqliteStore

async def export(store, style):
    async with SqliteStore(store, owner=False) as opened:
        # What is held and when a row group ends is for larger stores than this one.
        exports.parquet.BYTES, exports.parquet.HELD = 2 << 20, 4 << 20
        for name, parts in (("one", ()), ("parted", ("shelf",))) if style == "parquet" else (("one", ()),):
            await exports.write(opened, Choice(), style, Path(f"{name}-{style}-{Path(store).stem}"), partition_by=parts)
    told = Path("/proc/self/status").read_text()
    return int(told.partition("VmHWM:")[2].split()[0]) / 1024

few, many, style = sys.argv[1:]
before = asyncio.run(export(few, style))
print(asyncio.run(export(many, style)) - before)
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A store with little and one with 45 MB in it."""
    folder = tmp_path_factory.mktemp("large")
    few, many = str(folder / "few.db"), str(folder / "many.db")

    async def work(store: SqliteStore, groups: int) -> None:
        for group in range(groups):
            made = [
                {"id": f"{group}-{n}", "shelf": n % 9, "text": f"{n} " * 1_000, "tags": ["x"]} for n in range(1_000)
            ]
            await settle(store, made, scraper=f"shop {group}")

    use(few, lambda store: work(store, 1))
    use(many, lambda store: work(store, 11))
    return few, many


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is told by /proc, which is not here")
@pytest.mark.parametrize("style", ["jsonl", "csv", "parquet"])
def test_memory_does_not_grow_with_the_store(large: tuple[str, str], style: str) -> None:
    command = [sys.executable, "-c", MEASURE, *large, style]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert float(done.stdout) < 30, "megabytes more for 10,000 items of 4 KB more"
