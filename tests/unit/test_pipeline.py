"""From what a handler yields to an Item."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
from collections import UserDict
from types import MappingProxyType
from typing import Any

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import ReadError
from gossamer.pipeline import item_of
from gossamer.values import Item


@dataclasses.dataclass
class Book:
    title: str
    pages: int = 1


class Film(msgspec.Struct):
    title: str


class Song(pydantic.BaseModel):
    title: str
    when: datetime.date | None = None


@pytest.mark.parametrize(
    ("value", "kind", "data"),
    [
        ({"title": "x"}, "item", '{"title":"x"}'),
        (MappingProxyType({"title": "x"}), "item", '{"title":"x"}'),
        (UserDict({"title": "x"}), "item", '{"title":"x"}'),
        (Book("x"), "book", '{"title":"x","pages":1}'),
        (Film("x"), "film", '{"title":"x"}'),
        (Song(title="x", when=datetime.date(2026, 1, 2)), "song", '{"title":"x","when":"2026-01-02"}'),
        ({"song": Song(title="x")}, "item", '{"song":{"title":"x","when":null}}'),
        ({"at": datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)}, "item", '{"at":"2026-01-02T00:00:00Z"}'),
        ({"price": decimal.Decimal("1.10")}, "item", '{"price":"1.10"}'),
    ],
)
def test_items_are_dicts_dataclasses_structs_or_models(value: object, kind: str, data: str) -> None:
    item = item_of(value, None)
    assert (item.kind, item.data) == (kind, data)
    assert item_of(value, None, "thing").kind == "thing"


def test_an_item_made_by_hand_is_kept_as_it_is() -> None:
    item = Item("a", "b", '{"c":1}')
    assert item_of(item, "nothing") is item


@pytest.mark.parametrize("value", [None, 5, "text", b"x", [{"a": 1}], (1,), {1, 2}, object(), dict, lambda: 1])
def test_what_is_no_record_is_refused_by_what_it_is(value: object) -> None:
    with pytest.raises(ReadError) as refused:
        item_of(value, None)
    told = str(refused.value)
    assert f"({type(value).__name__}): yield a dict, a dataclass, a msgspec struct, a pydantic model" in told
    assert len(told) < 250


class Row(msgspec.Struct, array_like=True):
    a: int


class Numbers(pydantic.RootModel[list[int]]): ...


@pytest.mark.parametrize("value", [Row(1), Numbers([1, 2])])
@pytest.mark.parametrize("key", [None, "a"])
def test_a_record_without_named_fields_is_refused(value: object, key: str | None) -> None:
    with pytest.raises(ReadError, match="which has no named fields: yield a dict"):
        item_of(value, key)


@pytest.mark.parametrize("value", [Book, Song, Film])
def test_a_class_instead_of_its_instance_is_refused(value: object) -> None:
    with pytest.raises(ReadError):
        item_of(value, None)


def test_a_value_that_json_cannot_hold_is_named() -> None:
    with pytest.raises(ReadError, match="an item holds a object, which JSON cannot: '<object"):
        item_of({"a": object()}, None)
    circle: dict[str, Any] = {}
    circle["self"] = circle
    with pytest.raises(ReadError, match="an item cannot be written as JSON"):
        item_of(circle, None)
    with pytest.raises(ReadError, match="an item cannot be written as JSON"):
        item_of({"a": "\ud800"}, None)


# --- keys ---


def test_the_key_is_what_the_named_fields_hold() -> None:
    record = {"id": 7, "lang": "en", "at": {"b": 1, "a": 2}}
    assert item_of(record, "id").key == "7"
    assert item_of(record, "lang").key == "en"
    assert item_of(record, ("lang", "id")).key == "en|7"
    assert item_of(record, "at").key == '{"a":2,"b":1}'
    assert item_of(Book("x", 3), ("title", "pages")).key == "x|3"


@pytest.mark.parametrize("record", [{}, {"id": None}])
def test_an_item_without_its_key_is_refused(record: dict[str, Any]) -> None:
    with pytest.raises(ReadError, match="an item has no 'id', which its scraper names as key"):
        item_of(record, "id")


short = st.text("a|\\b", max_size=3)


@given(st.tuples(short, short), st.tuples(short, short))
def test_different_fields_never_make_the_same_key(one: tuple[str, str], other: tuple[str, str]) -> None:
    keys = [item_of({"a": a, "b": b}, ("a", "b")).key for a, b in (one, other)]
    assert (keys[0] == keys[1]) == (one == other)


@given(st.dictionaries(st.text("abc", max_size=2), st.integers() | st.text(), max_size=4), st.randoms())
def test_without_named_fields_equal_records_are_one_item(record: dict[str, Any], random: Any) -> None:
    pairs = list(record.items())
    random.shuffle(pairs)
    assert item_of(dict(pairs), None).key == item_of(record, None).key
    assert item_of({**record, "more": 1}, None).key != item_of(record, None).key


anything: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary()
    | st.complex_numbers()
    | st.decimals() | st.dates() | st.datetimes() | st.uuids() | st.builds(object) | st.builds(Book, st.text()),
    lambda inner: st.lists(inner, max_size=3)
    | st.tuples(inner, inner)
    | st.dictionaries(st.text(max_size=3) | st.integers() | st.binary() | st.tuples(st.integers()), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(anything, st.sampled_from([None, "a", ("a", "b")]))
def test_whatever_is_yielded_is_an_item_or_a_read_error(value: Any, key: Any) -> None:
    try:
        item = item_of(value, key)
    except ReadError:
        return
    assert isinstance(item.record(), dict)
    assert item.key
