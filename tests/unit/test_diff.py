"""Records compared field by field."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.diff import Delta, fields

json = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
records = st.dictionaries(st.sampled_from("abc"), json, max_size=3)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
        ({"a": 1}, {"a": 2}, [Delta("a", 1, 2)]),
        ({"a": 1}, {}, [Delta("a", 1, None)]),
        ({}, {"a": 1}, [Delta("a", None, 1)]),
        (None, {"a": 1}, [Delta("a", None, 1)]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, [Delta("a.c", 2, 3)]),
        ({"a": [1, 2]}, {"a": [1, 3]}, [Delta("a[1]", 2, 3)]),
        ({"a": [1, 2]}, {"a": [1]}, [Delta("a", [1, 2], [1])]),
        ({"a": "1"}, {"a": 1}, [Delta("a", "1", 1)]),
    ],
)
def test_what_differs_is_named(before: Any, after: Any, expected: list[Delta]) -> None:
    assert fields(before, after) == expected


@given(records)
def test_a_record_does_not_differ_from_itself(record: dict[str, Any]) -> None:
    assert fields(record, dict(reversed(record.items()))) == []


@given(records, records)
def test_records_that_differ_say_where(before: dict[str, Any], after: dict[str, Any]) -> None:
    def full(record: dict[str, Any]) -> dict[str, Any]:
        return {name: record.get(name) for name in "abc"}

    # A field that is null and one that is not there count as the same.
    assert bool(fields(before, after)) or full(before) == full(after) or _only_nulls(before, after)


def _only_nulls(before: Any, after: Any) -> bool:
    if isinstance(before, dict) and isinstance(after, dict):
        return all(_only_nulls(before.get(n), after.get(n)) for n in {*before, *after})
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return all(_only_nulls(a, b) for a, b in zip(before, after, strict=True))
    return bool(before == after)


def test_what_is_nested_beyond_reason_is_told_as_a_whole() -> None:
    def nest(n: int, inner: Any) -> Any:
        return inner if n == 0 else {"a": nest(n - 1, inner)}

    (delta,) = fields(nest(200, 1), nest(200, 2))
    assert delta.path.count("a") == 9
