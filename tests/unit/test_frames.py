"""`to_frame`: items as pandas and polars have them."""

from __future__ import annotations

import asyncio
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from gossamer import ConfigError, StoreError, to_frame
from tests.filling import fill

THINGS: list[dict[str, Any]] = [
    {"id": 1, "name": "pen", "price": 2, "stock": 4, "sold": True, "tags": ["a"], "seen": "2026-05-01"},
    {"id": 2, "name": "ink", "price": 9.5, "stock": None, "sold": None, "maker": {"city": "Oslo"}, "seen": "soon"},
    {"id": 3, "name": None, "size": 4, "seen": "2026-05-01T12:00:00+02:00"},
    {"id": 4, "name": "nib", "size": "XL", "seen": 1777593600},
]


@pytest.fixture
def filled(store: str) -> str:
    fill(store, THINGS)
    return store


def test_pandas_has_sensible_types(filled: str) -> None:
    frame = to_frame(filled, engine="pandas")
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["id", "name", "price", "stock", "sold", "tags", "seen", "maker", "size"]
    kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
    assert (kinds["id"], kinds["price"], kinds["stock"], kinds["sold"]) == ("int64", "float64", "Int64", "boolean")
    assert frame["stock"][0] == 4
    assert frame["stock"].isna().tolist() == [False, True, True, True]
    assert frame["tags"][0] == ["a"]
    assert frame["maker"][1] == {"city": "Oslo"}
    assert frame["size"].tolist()[2:] == ["4", '"XL"']
    assert frame["price"].sum() == 11.5


def test_polars_has_sensible_types(filled: str) -> None:
    frame = to_frame(filled, engine="polars")
    assert isinstance(frame, pl.DataFrame)
    assert frame.schema["id"] == pl.Int64
    assert frame.schema["price"] == pl.Float64
    assert frame.schema["sold"] == pl.Boolean
    assert frame.schema["tags"] == pl.List(pl.String)
    assert frame.schema["maker"] == pl.Struct({"city": pl.String})
    assert frame.filter(pl.col("price") > 3)["name"].to_list() == ["ink"]


@pytest.mark.parametrize("engine", ["pandas", "polars"])
def test_dates_become_times(filled: str, engine: str) -> None:
    frame = to_frame(filled, engine=engine, dates=["seen"])
    seen = frame["seen"].tolist() if engine == "pandas" else frame["seen"].to_list()
    assert seen[0] == datetime(2026, 5, 1, tzinfo=UTC)
    assert seen[1] is None or pd.isna(seen[1])
    assert seen[2] == datetime(2026, 5, 1, 10, tzinfo=UTC)
    assert seen[3] == datetime(2026, 5, 1, tzinfo=UTC)
    assert "UTC" in str(frame.dtypes["seen"] if engine == "pandas" else frame.schema["seen"])


def test_items_are_chosen(filled: str) -> None:
    fill(filled, THINGS[:2])
    other = fill(filled, [{"id": 9}], scraper="other", kind="review")

    def ids(**chosen: Any) -> list[int]:
        found: list[int] = to_frame(filled, **chosen)["id"].tolist()
        return found

    assert ids() == [1, 2, 9]
    assert ids(gone=True, scraper="shop") == [1, 2, 3, 4]
    assert ids(kind="review") == ids(run=other) == ids(scraper="other") == [9]
    assert ids(where="price > 5 or id = 9") == [2, 9]
    assert ids(since="1h") == ids(since=time.time() - 60) == ids(since=datetime.now(UTC) - timedelta(hours=1))
    assert to_frame(filled, since=datetime.now(UTC) + timedelta(hours=1)).empty
    assert to_frame(filled, gone=True, scraper="shop")["_gone"].notna().tolist() == [False, False, True, True]


def test_fields_and_source(filled: str) -> None:
    frame = to_frame(filled, fields=["maker.city", "id"], source=True)
    assert list(frame.columns)[:3] == ["maker.city", "id", "_scraper"]
    assert frame["maker.city"][1] == "Oslo"
    assert str(frame["_first_seen"].dtype).startswith("datetime64")


def test_nothing_is_an_empty_frame(store: str) -> None:
    fill(store, [])
    assert to_frame(store, engine="pandas").shape == (0, 0)
    assert to_frame(store, engine="polars").is_empty()
    assert list(to_frame(store, fields=["a"], dates=["a"]).columns) == ["a"]


def test_it_takes_the_store_of_the_settings(filled: str) -> None:
    Path("gossamer.toml").write_text(f'store = "{filled}"')
    assert len(to_frame()) == 4


def test_it_works_where_a_loop_is_running(filled: str) -> None:
    async def notebook() -> int:
        return len(to_frame(filled))

    assert asyncio.run(notebook()) == 4


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({"engine": "excel"}, "engine 'excel' is not known: write 'pandas', 'polars' or 'auto'"),
        ({"where": "price >"}, "the filter 'price >' cannot be read"),
        ({"since": "yesterday"}, "write an age like 6h, 1d or 7d"),
        ({"dates": ["saen"]}, "no item has a field 'saen' to read dates from: there are id, name"),
        ({"dates": "seen"}, r"dates are names in a list: write dates=\['seen'\]"),
        ({"fields": "seen"}, "fields are names in a list"),
    ],
)
def test_what_cannot_be_asked_is_refused(filled: str, chosen: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        to_frame(filled, **chosen)


def test_a_store_that_is_not_there_is_told() -> None:
    with pytest.raises(StoreError, match="there is no store"):
        to_frame("nowhere.db")


@pytest.mark.parametrize(("engine", "missing"), [("pandas", "pandas"), ("polars", "polars"), ("auto", "pyarrow")])
def test_without_the_library_the_extra_is_named(
    filled: str, monkeypatch: pytest.MonkeyPatch, engine: str, missing: str
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(
        ConfigError, match=rf"needs {missing}, which is not installed: pip install 'gossamer\[frames\]'"
    ):
        to_frame(filled, engine=engine)


def test_auto_takes_what_is_there(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(to_frame(filled), pd.DataFrame)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(to_frame(filled), pl.DataFrame)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ConfigError, match="needs pandas or polars, and neither is installed"):
        to_frame(filled)
