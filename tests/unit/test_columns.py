"""What the fields of many records are like."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import ConfigError
from gossamer.storage import columns
from gossamer.storage.columns import Columns, Form, Shape


def shape(*values: Any) -> Shape:
    """What a column is after it met these values, one after the other."""
    learned = Columns()
    for value in values:
        learned.learn([{"a": value}])
    return learned.shape().fields[0][1]


@pytest.mark.parametrize(
    ("values", "form"),
    [
        ([None, None], Form.TEXT),
        (["a", None], Form.TEXT),
        ([1, 2, None], Form.INT),
        ([1, 2.5], Form.FLOAT),
        ([2.5, 1], Form.FLOAT),
        ([True, False], Form.BOOL),
        ([True, 1], Form.JSON),
        ([1, "a"], Form.JSON),
        ([2**53, 0.5], Form.FLOAT),
        ([2**53 + 1], Form.INT),
        ([2**53 + 1, 0.5], Form.JSON),
        ([2**63 - 1, -(2**63)], Form.INT),
        ([2**63], Form.JSON),
        ([-(2**63) - 1], Form.JSON),
        ([["a"], "a"], Form.JSON),
        (["a", ["a"]], Form.JSON),
        ([["a"], {"a": 1}], Form.JSON),
        ([{"a": 1}, "a"], Form.JSON),
        ([{}], Form.JSON),
        ([{}, None], Form.JSON),
    ],
)
def test_a_column_has_the_form_that_fits_all_its_values(values: list[Any], form: Form) -> None:
    assert shape(*values).form == form
    learned = Columns()
    learned.learn([{"a": value} for value in values])
    assert learned.shape().fields[0][1].form == form


def test_lists_and_structs_have_forms_inside() -> None:
    assert shape([1], [], [2.5, None]) == Shape(Form.LIST, element=Shape(Form.FLOAT))
    assert shape([]) == Shape(Form.LIST, element=Shape(Form.TEXT))
    assert shape({"x": 1}, {"y": ["a"]}, {}) == Shape(
        Form.STRUCT, fields=(("x", Shape(Form.INT)), ("y", Shape(Form.LIST, element=Shape(Form.TEXT))))
    )
    assert shape([{"x": 1}, {"x": "a"}]).element == Shape(Form.STRUCT, fields=(("x", Shape(Form.JSON)),))


def test_a_struct_with_names_without_end_is_text() -> None:
    assert shape({str(n): n for n in range(columns.INSIDE)}).form == Form.STRUCT
    assert shape({str(n): n for n in range(columns.INSIDE + 1)}).form == Form.JSON
    assert shape(*({str(n): n} for n in range(columns.INSIDE + 1))).form == Form.JSON
    deep = shape({"by_day": {str(n): n for n in range(columns.INSIDE + 1)}, "name": "x"})
    assert deep.form == Form.STRUCT
    assert dict(deep.fields)["by_day"].form == Form.JSON


def test_what_is_nested_too_deep_is_text() -> None:
    value: Any = 1
    for _ in range(900):
        value = [value]
    found: Shape | None = shape(value)
    forms = []
    while found is not None:
        forms.append(found.form)
        found = found.element
    assert forms == [Form.LIST] * columns.DEEPEST + [Form.JSON]


def test_too_many_columns_are_refused() -> None:
    learned = Columns()
    with pytest.raises(ConfigError, match="more than 2,000 different fields"):
        learned.learn([{str(n): n} for n in range(columns.MOST + 1)])
    with pytest.raises(ConfigError, match="write JSON lines"):
        learned.meet([{"one more": 1}])


def test_columns_keep_their_order_and_can_be_given() -> None:
    learned = Columns(["z"], times=["t"])
    learned.learn([{"b": 1, "t": "x"}, {"a": 1, "b": "y"}])
    learned.add("_gone")
    learned.meet([{"c": 1}])
    assert learned.names() == ["z", "b", "t", "a", "_gone", "c"]
    assert [each.form for _, each in learned.shape().fields] == ["text", "json", "time", "int", "text", "text"]
    assert [name for name, _ in learned.shape().without({"z", "c"}).fields] == ["b", "t", "a", "_gone"]


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(_values, max_size=6))
def test_it_does_not_matter_whether_values_come_one_by_one_or_together(values: list[Any]) -> None:
    together = Columns()
    together.learn([{"a": value} for value in values] or [{"a": None}])
    assert together.shape().fields[0][1] == shape(*(values or [None]))
