"""Parquet: typed columns, bounded row groups, folders by value, files that come when all are complete."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import ConfigError
from gossamer.storage import arrow, columns, exports, parquet
from gossamer.storage.records import Choice
from gossamer.storage.sqlite import SqliteStore
from tests.filling import fill, settle, use
from tests.unit.test_exports import Busy

THINGS: list[dict[str, Any]] = [
    {"id": 1, "name": "pen", "price": 2, "sold": True, "size": 4, "tags": ["a", "b"], "maker": {"city": "Oslo"}},
    {"id": 2, "name": "ink", "price": 9.5, "sold": None, "size": "XL", "tags": [], "maker": {"since": 1990}},
    {"id": 3, "name": None, "offers": [{"price": 1, "by": "x"}, {"price": 2.5}], "empty": {}, "none": None},
]


def write(
    store: str, out: str | Path, partition_by: tuple[str, ...] = (), cursor: Path | None = None, **chosen: Any
) -> exports.Written:
    """Export as Parquet."""
    choice = Choice(**chosen)
    return use(
        store,
        lambda opened: exports.write(opened, choice, "parquet", Path(out), partition_by=partition_by, cursor=cursor),
    )


def table(path: str | Path) -> Any:
    return pq.ParquetFile(path).read()


def parted(path: str | Path) -> list[dict[str, Any]]:
    """All rows below a folder, with what the folders tell as text."""
    found = []
    for file in sorted(Path(path).rglob("*.parquet")):
        told = dict(part.split("=", 1) for part in file.relative_to(path).parts[:-1])
        found += [row | told for row in table(file).to_pylist()]
    return found


# -- types -----------------------------------------------------------------------------------------------------


def test_columns_are_typed(store: str) -> None:
    fill(store, THINGS)
    assert write(store, "out.parquet").rows == 3
    found = table("out.parquet")
    assert {field.name: str(field.type) for field in found.schema} == {
        "id": "int64",
        "name": "string",
        "price": "double",
        "sold": "bool",
        "size": "string",
        "tags": "list<element: string>",
        "maker": "struct<city: string, since: int64>",
        "offers": "list<element: struct<price: double, by: string>>",
        "empty": "string",
        "none": "string",
    }
    rows = found.to_pylist()
    assert rows[0]["maker"] == {"city": "Oslo", "since": None}
    assert rows[2]["offers"] == [{"price": 1.0, "by": "x"}, {"price": 2.5, "by": None}]
    assert (rows[1]["tags"], rows[2]["tags"]) == ([], None)


def test_mixed_values_are_json_and_the_schema_says_so(store: str) -> None:
    fill(store, THINGS)
    write(store, "out.parquet")
    found = table("out.parquet")
    assert [value and json.loads(value) for value in found["size"].to_pylist()] == [4, "XL", None]
    assert found["empty"].to_pylist() == [None, None, "{}"]
    assert found.schema.field("size").metadata[b"gossamer"] == b"json"
    assert b"gossamer" not in (found.schema.field("name").metadata or {})


def test_mixed_values_inside_lists_and_structs(store: str) -> None:
    fill(store, [{"id": 1, "a": [{"x": 1}, {"x": "y"}]}, {"id": 2, "a": [None, {"x": [1]}]}])
    write(store, "out.parquet")
    assert table("out.parquet")["a"].to_pylist() == [[{"x": "1"}, {"x": '"y"'}], [None, {"x": "[1]"}]]


def test_large_numbers_are_kept_exactly(store: str) -> None:
    fill(store, [{"id": 1, "a": 2**63 - 1, "b": 2**63, "c": 2**53 + 1}, {"id": 2, "a": -1, "b": 1, "c": 0.5}])
    write(store, "out.parquet")
    found = table("out.parquet")
    assert found["a"].to_pylist() == [2**63 - 1, -1]
    assert found["b"].to_pylist() == ["9223372036854775808", "1"]
    assert found["c"].to_pylist() == ["9007199254740993", "0.5"]


def test_times_of_ours_are_times(store: str) -> None:
    fill(store, THINGS)
    fill(store, THINGS[:1])
    write(store, "out.parquet", source=True, gone=True)
    found = table("out.parquet")
    for name in ("_first_seen", "_last_seen", "_last_changed", "_gone"):
        assert str(found.schema.field(name).type) == "timestamp[us, tz=UTC]"
    gone = found["_gone"].to_pylist()
    assert gone[0] is None
    assert abs((gone[1] - datetime.now(UTC)).total_seconds()) < 60
    assert found["_kind"].to_pylist() == ["product"] * 3


def test_pages_have_their_types_even_where_there_are_none(store: str) -> None:
    run = fill(store, THINGS)
    for where, count in ((None, 1), ("status = 404", 0)):
        write(store, "out.parquet", what="pages", run=run, where=where)
        found = table("out.parquet")
        assert found.num_rows == count
        assert {field.name: str(field.type) for field in found.schema} == {
            "run": "int64",
            "url": "string",
            "state": "string",
            "reason": "string",
            "status": "int64",
            "depth": "int64",
            "fetches": "int64",
            "bytes": "int64",
            "fetched_at": "timestamp[us, tz=UTC]",
            "seconds": "double",
            "detail": "string",
        }


def test_nothing_is_a_file_without_rows(store: str) -> None:
    assert write(store, "out.parquet").rows == 0
    assert table("out.parquet").num_rows == 0
    write(store, "some.parquet", fields=("a", "b"))
    assert table("some.parquet").column_names == ["a", "b"]


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text(max_size=3), _values, max_size=4), max_size=5))
def test_any_records_fit_what_was_learned_of_them(records: list[dict[str, Any]]) -> None:
    learned = columns.Columns()
    learned.learn(records)
    made = arrow.Table(learned.shape())
    batch = made.batch(records)
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_batches([batch]), sink)
    back = pq.ParquetFile(pa.BufferReader(sink.getvalue())).read()
    for name, shape in learned.shape().fields:
        for record, value in zip(records, back[name].to_pylist(), strict=True):
            given_value = record.get(name)
            assert (value is None) == (given_value is None)
            if given_value is not None and shape.form == "json":
                assert json.loads(value) == given_value
            elif shape.form in ("int", "text", "bool", "float"):
                assert value == given_value


# -- row groups ------------------------------------------------------------------------------------------------


def test_row_groups_are_bounded_by_rows_and_by_bytes(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, [{"id": n, "text": "x" * 100} for n in range(5_000)])
    monkeypatch.setattr(parquet, "ROWS", 4_000)
    write(store, "rows.parquet")
    assert _groups("rows.parquet") == [4_000, 1_000]
    monkeypatch.setattr(parquet, "BYTES", 100_000)
    write(store, "bytes.parquet")
    assert _groups("bytes.parquet") == [2_000, 2_000, 1_000]


def _groups(path: str) -> list[int]:
    told = pq.ParquetFile(path).metadata
    return [told.row_group(n).num_rows for n in range(told.num_row_groups)]


# -- folders ---------------------------------------------------------------------------------------------------


def test_items_come_into_folders_by_kind_and_field(store: str) -> None:
    fill(store, THINGS)
    fill(store, [{"id": 9, "name": "good"}], kind="review", scraper="reviews")
    told = write(store, "out", ("kind", "name"))
    assert (told.rows, told.files) == (4, 4)
    assert sorted(str(path.parent) for path in Path("out").rglob("*.parquet")) == [
        "out/kind=product/name=__HIVE_DEFAULT_PARTITION__",
        "out/kind=product/name=ink",
        "out/kind=product/name=pen",
        "out/kind=review/name=good",
    ]
    (first,) = Path("out/kind=product/name=pen").iterdir()
    assert "name" not in table(first).column_names
    assert "_kind" not in table(first).column_names
    read = ds.dataset("out", partitioning="hive").to_table()
    assert sorted((row["id"], row["kind"], row["name"]) for row in read.to_pylist() if row["name"]) == [
        (1, "product", "pen"),
        (2, "product", "ink"),
        (9, "review", "good"),
    ]


def test_all_files_have_the_same_columns(store: str) -> None:
    fill(store, THINGS)
    write(store, "out", ("id",))
    schemas = {str(pq.read_schema(path)) for path in Path("out").rglob("*.parquet")}
    assert len(schemas) == 1


def test_a_field_of_the_items_comes_before_what_the_store_says(store: str) -> None:
    fill(store, [{"id": 1, "kind": "soft"}])
    write(store, "own", ("kind",))
    assert [path.name for path in Path("own").iterdir()] == ["kind=soft"]
    assert parted("own") == [{"id": 1, "kind": "soft"}]
    write(store, "ours", ("_kind",))
    assert [path.name for path in Path("ours").iterdir()] == ["_kind=product"]
    assert parted("ours") == [{"id": 1, "kind": "soft", "_kind": "product"}]


def test_folders_go_with_chosen_fields_and_with_the_source(store: str) -> None:
    fill(store, THINGS[:1])
    write(store, "a", ("name", "kind"), fields=("id",))
    assert parted("a") == [{"id": 1, "name": "pen", "kind": "product"}]
    assert write(store, "noted", ("kind",), fields=("id", "nmae")).unmet == ("nmae",)
    write(store, "b", ("kind",), fields=("id",), source=True)
    (row,) = parted("b")
    assert (row["id"], row["kind"], row["_scraper"]) == (1, "product", "shop")
    with pytest.raises(ConfigError, match="no column is left"):
        write(store, "c", ("id",), fields=("id",))


def test_the_names_of_folders_are_safe(store: str) -> None:
    odd = ["../../etc", "a/b", "a=b", ".", "..", "é ü", "100%", "a\\b", "\0", "", None, True, 1, 1.5, "line\nend"]
    fill(store, [{"id": n, "a/b": value} for n, value in enumerate(odd)])
    write(store, "out", ("a/b",))
    folders = sorted(path.name for path in Path("out").iterdir())
    assert all(path.is_dir() and len(path.relative_to("out").parts) == 1 for path in Path("out").iterdir())
    assert "a%2Fb=..%2F..%2Fetc" in folders
    assert {"a%2Fb=true", "a%2Fb=1", "a%2Fb=1.5", "a%2Fb=__HIVE_DEFAULT_PARTITION__"} <= set(folders)
    assert len(parted("out")) == len(odd)
    read = ds.dataset("out", partitioning=ds.partitioning(pa.schema([("a/b", pa.string())]), flavor="hive"))
    told = {row["id"]: row["a/b"] for row in read.to_table().to_pylist()}
    assert [told[n] for n in range(9)] == odd[:9]


@pytest.mark.parametrize(
    ("partition_by", "told"),
    [
        ("tags", "folders cannot be named after 'tags': it holds lists or objects"),
        ("brnad", "nothing has a field 'brnad' to name folders after: there are id, long, maker, tags"),
        ("long", "is too long a name"),
    ],
)
def test_what_cannot_name_folders_is_refused(store: str, partition_by: str, told: str) -> None:
    fill(store, [{"id": 1, "tags": ["a"], "maker": {}, "long": "é" * 100}])
    with pytest.raises(ConfigError, match=told):
        write(store, "out", (partition_by,))
    assert not Path("out").exists()
    assert not list(Path().glob(".out*"))


def test_too_many_folders_are_refused(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "FOLDERS", 20)
    fill(store, [{"id": n, "name": n % 20} for n in range(40)])
    write(store, "out", ("name",))
    with pytest.raises(ConfigError, match="id would make more than 20 folders: choose a field with fewer values"):
        write(store, "other", ("id",))
    assert not Path("other").exists()


def test_few_files_are_open_and_little_is_held(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders in the worst order: each record belongs into another one than the last."""
    monkeypatch.setattr(parquet, "OPEN", 3)
    monkeypatch.setattr(parquet, "HELD", 20_000)
    most = 0

    class Counted(parquet.Spread):
        def add(self, records: Any) -> None:
            nonlocal most
            super().add(records)
            most = max(most, len(self._open))
            assert self._size <= 20_000

    monkeypatch.setattr(parquet, "Spread", Counted)
    fill(store, [{"id": n, "name": n % 10, "text": "x" * 50} for n in range(2_000)])
    told = write(store, "out", ("name",))
    assert told.rows == 2_000
    assert most == 3
    assert told.files > 10
    assert sorted(row["id"] for row in parted("out")) == list(range(2_000))
    assert all(row["id"] % 10 == int(row["name"]) for row in parted("out"))


# -- complete or not at all ------------------------------------------------------------------------------------


def test_a_folder_that_has_something_in_it_is_left_alone(store: str) -> None:
    fill(store, THINGS)
    Path("out").mkdir()
    write(store, "out", ("kind",))  # an empty one is filled
    with pytest.raises(ConfigError, match="is not empty: give a new one, or add to it with --cursor"):
        write(store, "out", ("kind",))
    Path("file").write_text("x")
    with pytest.raises(ConfigError, match="file is a file: give a folder"):
        write(store, "file", ("kind",))


def test_a_folder_without_partitions(store: str) -> None:
    fill(store, THINGS)
    Path("out").mkdir()
    write(store, "out")
    assert [path.name for path in Path("out").iterdir()] == ["part-00000.parquet"]


def test_folders_grow_by_a_cursor(store: str) -> None:
    fill(store, THINGS)
    write(store, "out", ("kind",), Path("c"))
    fill(store, [THINGS[0], {**THINGS[1], "price": 1}])
    write(store, "out", ("kind",), Path("c"))
    rows = parted("out")
    assert [(row["id"], row["_gone"] is not None) for row in rows] == [
        (1, False),
        (2, False),
        (3, False),
        (2, False),
        (3, True),
    ]
    assert write(store, "out", ("kind",), Path("c")).rows == 0
    assert len(parted("out")) == 5


def test_what_an_export_left_that_did_not_end_is_written_again(store: str) -> None:
    fill(store, THINGS)
    write(store, "out", ("kind",), Path("c"))
    before = Path("c").read_bytes()
    fill(store, [*THINGS, {"id": 4}])
    write(store, "out", ("kind",), Path("c"))
    Path("c").write_bytes(before)  # as if it was killed before the cursor moved on
    fill(store, [*THINGS, {"id": 4}, {"id": 5}])
    write(store, "out", ("kind",), Path("c"))
    assert [row["id"] for row in parted("out")] == [1, 2, 3, 4, 5]


def test_files_that_a_cursor_does_not_know_are_told(store: str) -> None:
    fill(store, THINGS)
    write(store, "out", ("kind",), Path("c"))
    fill(store, THINGS[:1])
    write(store, "out", ("kind",), Path("c"))
    Path("c").unlink()
    with pytest.raises(ConfigError, match="has files that the cursor does not know"):
        write(store, "out", ("kind",), Path("c"))
    write(store, "plain", ("kind",))
    with pytest.raises(ConfigError, match="has files that the cursor does not know"):
        write(store, "plain", ("kind",), Path("d"))


@pytest.mark.parametrize("folders", [(), ("kind",)])
def test_types_that_change_while_an_export_runs(store: str, folders: tuple[str, ...]) -> None:
    async def work(opened: SqliteStore) -> None:
        await settle(opened, THINGS)
        busy = Busy(opened, [{**THINGS[0], "price": "sold", "more": [1]}, *THINGS[1:], {"id": 4, "late": 1}])
        await exports.write(busy, Choice(), "parquet", Path("out"), partition_by=folders)

    use(store, work)
    rows = parted("out") if folders else table("out").to_pylist()
    assert [row["price"] for row in rows] == ['"sold"', "9.5", None, None]
    assert (rows[0]["more"], rows[3]["late"]) == ([1], 1)


def test_types_that_change_unseen_while_an_export_runs(store: str) -> None:
    """A field that makes no item another one may change without a trace in the log of changes."""

    class Silent(Busy):
        async def items(self, wanted: Any) -> Any:
            self._times += 1
            async for item in self._store.items(wanted):
                yield item if self._times == 1 else type(item)(**_with(item, data='{"id":1,"seen":"much"}'))

    async def work(opened: SqliteStore) -> None:
        await settle(opened, [{"id": 1, "seen": 5}])
        await exports.write(Silent(opened, []), Choice(), "parquet", Path("out"))

    use(store, work)
    assert table("out").to_pylist() == [{"id": 1, "seen": '"much"'}]


def _with(item: Any, **other: Any) -> dict[str, Any]:
    return {name: getattr(item, name) for name in item.__struct_fields__} | other


def test_a_disk_that_is_full_is_told(store: str) -> None:
    fill(store, THINGS)
    with pytest.raises(ConfigError, match="/dev/full cannot be written: No space left on device"):
        write(store, "/dev/full")
    with pytest.raises(ConfigError, match="no/where cannot be written: No such file or directory"):
        write(store, "no/where", ("kind",))


def test_stdout_takes_no_parquet(store: str) -> None:
    with pytest.raises(ConfigError, match="Parquet cannot be written to stdout: give a file with -o"):
        use(store, lambda opened: exports.write(opened, Choice(), "parquet", None))
    with pytest.raises(ConfigError, match="--partition-by is for Parquet"):
        use(store, lambda opened: exports.write(opened, Choice(), "csv", Path("x"), partition_by=("kind",)))


def test_without_the_library_the_extra_is_named(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    fill(store, THINGS)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ConfigError, match=r"needs pyarrow, which is not installed: pip install 'gossamer\[parquet\]'"):
        write(store, "out.parquet")
