"""Values: what makes two Requests the same, and how answers are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.values import Ending, Headers, Item, Outcome, Request, Response


@pytest.mark.parametrize(
    ("request_", "verb", "body"),
    [
        (Request("u"), "GET", None),
        (Request("u", method="head"), "HEAD", None),
        (Request("u", json={"q": 1}), "POST", b'{"q":1}'),
        (Request("u", json=[]), "POST", b"[]"),
        (Request("u", json=0), "POST", b"0"),
        (Request("u", data={"a": "1 &2", "b": [1, 2]}), "POST", b"a=1+%262&b=1&b=2"),
        (Request("u", data="é"), "POST", "é".encode()),
        (Request("u", data=b"\xff", method="put"), "PUT", b"\xff"),
        (Request("u", data=""), "POST", b""),
    ],
)
def test_a_body_makes_a_post_unless_a_method_is_given(request_: Request, verb: str, body: bytes | None) -> None:
    assert (request_.verb, request_.body) == (verb, body)


def test_a_handler_is_named_by_name_or_method() -> None:
    class Shop:
        def detail(self) -> None: ...

    assert Request("u").handler == "parse"
    assert Request("u", to="detail").handler == "detail"
    assert Request("u", to=Shop().detail).handler == "detail"


same = Request("http://a.org/?a=1&b=2")


@pytest.mark.parametrize(
    "other",
    [
        Request("http://a.org/?b=2&a=1"),
        same.evolve(priority=5),
        same.evolve(depth=3, attempts=2, id=7, hops=1),
        same.evolve(carry={"x": 1}),
        same.evolve(headers={"X": "y"}),
    ],
)
def test_what_is_fetched_makes_two_requests_the_same(other: Request) -> None:
    assert other.fingerprint == same.fingerprint


def test_method_body_handler_and_url_make_two_requests_different() -> None:
    url = "http://a.org/"
    different = [
        Request(url),
        Request("http://a.org/x"),
        Request(url, method="HEAD"),
        Request(url, to="detail"),
        Request(url, json={"page": 1}),
        Request(url, json={"page": 2}),
        Request(url, json={"page": 2}, method="PUT"),
        Request(url, json={"page": 2}, to="detail"),
        Request(url, data=b"x"),
    ]
    assert len({request.fingerprint for request in different}) == len(different)


def test_a_request_cannot_be_changed_only_evolved() -> None:
    with pytest.raises(AttributeError):
        same.url = "x"  # type: ignore[misc]
    assert same.evolve(depth=2).depth == 2
    assert same.depth == 0


def test_header_names_have_no_case_and_may_come_twice() -> None:
    headers = Headers((("set-cookie", "a"), ("x", "1"), ("set-cookie", "b")))
    assert headers["Set-Cookie"] == "a"
    assert headers.getall("SET-COOKIE") == ["a", "b"]
    assert headers.get("none", "-") == "-"
    assert "X" in headers
    assert (list(headers), len(headers)) == (["set-cookie", "x"], 2)
    assert isinstance(headers, Mapping)
    with pytest.raises(KeyError):
        headers["y"]


@given(st.lists(st.tuples(st.text("ABcd-", min_size=1), st.text())))
def test_no_header_is_lost(pairs: list[tuple[str, str]]) -> None:
    headers = Headers(tuple((name.lower(), value) for name, value in pairs))
    for name, _ in pairs:
        assert headers.getall(name) == [value for key, value in pairs if key.lower() == name.lower()]
    assert [name for name, _ in headers.pairs()] == [name.lower() for name, _ in pairs]


@pytest.mark.parametrize(
    ("sent", "kind"), [("text/HTML; charset=x", "text/html"), (" a/b ", "a/b"), ("", ""), (None, "")]
)
def test_the_content_type_is_without_parameters(sent: str | None, kind: str) -> None:
    headers = Headers(() if sent is None else (("content-type", sent),))
    assert Response("u", 200, headers, b"", 0.0, 0.0).content_type == kind


@pytest.mark.parametrize(
    ("ending", "reason", "counts"),
    [(Ending.DONE, "ok", True), (Ending.DONE, "redirect", False), (Ending.FAILED, "ok", False)],
)
def test_a_page_is_what_was_fetched_and_read(ending: Ending, reason: str, counts: bool) -> None:
    assert Outcome(Request("u"), ending, reason).is_page is counts


json_values: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(st.dictionaries(st.text(), json_values, max_size=4))
def test_an_item_gives_its_record_back(record: dict[str, Any]) -> None:
    assert Item("item", "k", msgspec.json.encode(record).decode()).record() == record
