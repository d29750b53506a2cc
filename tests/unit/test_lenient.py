"""JSON as people paste it: what is valid is read as it is meant, and nothing is ever raised."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse import lenient

TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)
PLAIN = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXTS
TREES: Any = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)


@given(st.dictionaries(TEXTS, TREES, max_size=4) | st.lists(TREES, max_size=4))
def test_valid_json_is_read_as_it_is(value: Any) -> None:
    """Whatever a text says, as long as its quotes are escaped."""
    assert lenient.values(json.dumps(value)) == [value]
    assert lenient.values(json.dumps(value, indent=1)) == [value]


@given(st.text(st.sampled_from("{}[]\"':,/*\\ \nau01-<!>;&"), max_size=60))
def test_nothing_is_raised(text: str) -> None:
    """All that comes are objects and arrays, and they can be written as JSON."""
    found = lenient.values(text)
    assert all(isinstance(value, dict | list) for value in found)
    json.dumps(found).encode()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a": 1, "b": [2, 3', [{"a": 1, "b": [2, 3]}]),
        ('{"a": [1, 2}', [{"a": [1, 2]}]),
        ('{"a": 1}}]{"b": 2}', [{"a": 1}, {"b": 2}]),
        ('{"a": , "b": 2}', [{"a": None, "b": 2}]),
        ('{"a": undefined, "b": True}', [{"a": None, "b": True}]),
        ('{"url": http://a.org/b, "c": 1}', [{"url": "http://a.org/b", "c": 1}]),
        ('{"a": "b", {"c": 1}}', [{"a": "b"}]),
        ("<![CDATA[[[1]]]]>", [[[1]]]),
        ('{"a": 1e400, "b": -0.5}', [{"a": 0.0, "b": -0.5}]),
        ("no value at all", []),
        ('"text" 12', []),
    ],
)
def test_what_is_missing_is_guessed_as_people_would(text: str, values: list[Any]) -> None:
    """Brackets, values and quotes."""
    assert lenient.values(text) == values


def test_what_is_too_long_is_left_alone() -> None:
    """Mending is for mistakes, not for megabytes."""
    assert lenient.values("[1," + " " * lenient.LONGEST) == []
