"""From text to values: what people write, and what an enemy writes."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse import clean
from gossamer.parse.clean import Money

#: Tuesday, 5 March 2024, 09:51:12 UTC.
NOW = 1_709_632_272.0


# -- texts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("  two\n\t words\xa0here ", "two words here"),
        ("Fish &amp; chips", "Fish & chips"),
        ("<p>Fish &amp;&nbsp;chips</p><p>today", "Fish & chips today"),
        ("one<br>two", "one two"),
        ("un<b>broken</b>", "unbroken"),
        ("a<!-- not seen --><script>nor(this)</script><style>b{}</style>b", "ab"),
        ("&lt;p&gt;escaped&lt;/p&gt; twice", "escaped twice"),
        ("5 < 6 > 4", "5 < 6 > 4"),
        ("zero\u200bwidth soft\u00adhyphen\ufeff", "zerowidth softhyphen"),
        ("nul\x00 byte", "nul byte"),
        (" \n ", None),
        ("<p></p>", None),
        (None, None),
        (7, "7"),
        (0.1, "0.1"),
        (["list"], None),
    ],
)
def test_text_is_what_a_reader_sees(written: Any, read: str | None) -> None:
    assert clean.text(written) == read


@pytest.mark.parametrize(
    ("done", "value"),
    [
        (clean.strip(" a  b"), "a b"),  # noqa: B005 - it is ours
        (clean.strip("– By Ann –", "– "), "By Ann"),
        (clean.strip("***", "*"), None),
        (clean.lower("ÄB"), "äb"),
        (clean.upper("äß"), "ÄSS"),
        (clean.title("o'neill's OLD café"), "O'neill's Old Café"),
        (clean.replace("1,2,3", ",", ""), "123"),
        (clean.before("Ann | Blog", " | "), "Ann"),
        (clean.before("Ann", "|"), "Ann"),
        (clean.after("by: Ann", ": "), "Ann"),
        (clean.after("Ann", ": "), "Ann"),
        (clean.regex("ISBN 123-4", r"\d+"), "123"),
        (clean.regex("ISBN 123-4", r"(\d+)-(\d+)"), "123"),
        (clean.regex("ISBN 123-4", r"(\d+)-(\d+)", 2), "4"),
        (clean.regex("none", r"\d"), None),
        (clean.regex("a", r"(b)?a"), None),
        (clean.email("write to Ann.B+x@Example.ORG, please"), "Ann.B+x@example.org"),
        (clean.email("mailto:ann%40example.org?subject=hi"), "ann@example.org"),
        (clean.email("ann at example"), None),
        (clean.url(" ../b?x=1#top ", "https://a.org/x/y/"), "https://a.org/x/b?x=1"),
        (clean.url("javascript:alert(1)", "https://a.org/"), None),
        (clean.url("", "https://a.org/"), None),
        (clean.url(None, "https://a.org/"), None),
        (clean.first([None, 0, 1]), 0),
        (clean.last([1, 2, None]), 2),
        (clean.first([]), None),
        (clean.last(None), None),
        (clean.join(["a", None, "", "b"], ", "), "a, b"),
        (clean.join([None]), None),
        (clean.unique(["b", "a", "b", None, ["a"], ["a"]]), ["b", "a", ["a"]]),
        (clean.split("a, b,,c", ","), ["a", "b", "c"]),
        (clean.split(" a  b "), ["a", "b"]),
        (clean.split(None), []),
        (clean.default(None, 1), 1),
        (clean.default("", 1), 1),
        (clean.default(0, 1), 0),
        (clean.json('{"a": [1]}'), {"a": [1]}),
        (clean.json("{broken"), None),
        (clean.json("[" * 100_000), None),
        (clean.json({"a": 1}), {"a": 1}),
    ],
)
def test_texts_and_lists(done: Any, value: Any) -> None:
    assert done == value


@pytest.mark.parametrize("function", [clean.strip, clean.lower, clean.upper, clean.title, clean.email, clean.text])
def test_none_goes_in_and_none_comes_out(function: Any) -> None:
    assert function(None) is None


# -- numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("1,234.5", 1234.5),
        ("1.234,5", 1234.5),
        ("1 234,5", 1234.5),
        ("1\u202f234,5 €", 1234.5),
        ("1'234.50", 1234.5),
        ("1,234", 1234.0),
        ("1.234", 1.234),
        ("0,123", 0.123),
        ("1,5", 1.5),
        ("1234,567", 1234.567),
        ("1.234.567", 1_234_567.0),
        ("12,34,567.8", 1_234_567.8),
        ("1,234,567", 1_234_567.0),
        ("1,2,3", 1.0),
        (".5", 0.5),
        ("-5", -5.0),
        ("−5.5", -5.5),
        ("10-12", 10.0),
        ("A-3", 3.0),
        ("12%", 12.0),
        ("about 3 of 5", 3.0),
        ("3 120", 3120.0),
        ("3 12", 3.0),
        ("6.02e23", 6.02e23),
        ("٣٫٥", 3.5),
        ("१२", 12.0),
        ("none", None),
        ("", None),
        (None, None),
        (True, None),
        (3, 3.0),
        (float("nan"), None),
        (float("inf"), None),
        pytest.param(10**5000, None, id="huge"),
        pytest.param("9" * 10_000, None, id="long"),
        ("1e999", None),
    ],
)
def test_number(written: Any, read: float | None) -> None:
    assert clean.number(written) == read


def test_a_decimal_mark_can_be_said() -> None:
    assert clean.number("1.234", decimal=",") == 1234
    assert clean.number("1,234", decimal=",") == 1.234
    assert clean.number("1,234.5", decimal=".") == 1234.5


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("In stock (22 available)", 22),
        ("1,234", 1234),
        ("3.0", 3),
        ("3.7", None),
        ("-4", -4),
        ("9007199254740993", 9_007_199_254_740_993),
        ("9,223,372,036,854,775,807", 2**63 - 1),
        ("9223372036854775808", None),
        (7, 7),
        (7.0, 7),
        (7.5, None),
        (2**63, None),
        (False, None),
        ("x", None),
        (None, None),
    ],
)
def test_integer(written: Any, read: int | None) -> None:
    found = clean.integer(written)
    assert found == read
    assert type(found) is type(read)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("1.2K", 1200),
        ("3,4M followers", 3_400_000),
        ("2 billion", 2_000_000_000),
        ("12,345 views", 12_345),
        ("5 km", 5),
        (12, 12),
        ("many", None),
        (None, None),
    ],
)
def test_count(written: Any, read: int | None) -> None:
    assert clean.count(written) == read


@pytest.mark.parametrize(
    ("written", "hint", "read"),
    [
        ("£51.77", None, Money("51.77", "GBP")),
        ("1.234,50 EUR", None, Money("1234.50", "EUR")),
        ("51.77", "GBP", Money("51.77", "GBP")),
        ("51.77", None, Money("51.77", None)),
        (51, "EUR", Money("51", "EUR")),
        (Money("1", "EUR"), None, Money("1", "EUR")),
        ("call us", None, None),
        (None, "EUR", None),
        (True, None, None),
        ([], None, None),
    ],
)
def test_money(written: Any, hint: str | None, read: Money | None) -> None:
    assert clean.money(written, hint) == read


@pytest.mark.parametrize(
    ("written", "read"),
    [("Yes", True), (" true ", True), ("1", True), ("✓", True), (1, True), (True, True), ("off", False), ("No", False),
     ("0", False), (False, False), ("maybe", None), ("", None), (None, None)],
)  # fmt: skip
def test_boolean(written: Any, read: bool | None) -> None:
    assert clean.boolean(written) is read


# -- dates -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2024-03-05", "2024-03-05"),
        ("2024/3/5", "2024-03-05"),
        ("2024. 3. 5.", "2024-03-05"),
        ("20240305", "2024-03-05"),
        ("2024年3月5日", "2024-03-05"),
        ("5 March 2024", "2024-03-05"),
        ("5th of March, 2024", "2024-03-05"),
        ("March 5th, 2024", "2024-03-05"),
        ("Mar. 5 2024", "2024-03-05"),
        ("05-Mar-2024", "2024-03-05"),
        ("05-MAR-24", "2024-03-05"),
        ("Mar 5, '99", "1999-03-05"),
        ("2024 Mar 5", "2024-03-05"),
        ("Posted on 5 March 2024 by Ann", "2024-03-05"),
        ("5.3.2024", "2024-03-05"),
        ("05.03.24", "2024-03-05"),
        ("25/12/2024", "2024-12-25"),
        ("12/25/2024", "2024-12-25"),
        ("4/4/2024", "2024-04-04"),
        ("03/04/2024", None),  # two days, and nobody says which
        ("03-04-24 10:00 EST", None),
        ("31/02/2024", None),
        ("2024-02-30", None),
        ("2024-13-45, that is 5 May 2024", "2024-05-05"),
        ("May 2024", None),
        ("2024-05", None),
        ("5 March", None),
        ("5 Mar 23", None),
        ("yesterday", None),
        ("version 1.2.3", None),
        ("call 555-1234", None),
        ("", None),
        (None, None),
        (True, None),
        (12, None),
        (1_709_632_272, "2024-03-05"),
        (1_709_632_272_000, "2024-03-05"),
        ("1709632272", "2024-03-05"),
        (datetime(2024, 3, 5, 1, 2, 3, tzinfo=UTC), "2024-03-05"),
        (datetime(2024, 3, 5).date(), "2024-03-05"),
    ],
)
def test_date(written: Any, read: str | None) -> None:
    assert clean.date(written) == read


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("5 mars 2024", "2024-03-05"),
        ("12 de enero de 2023", "2023-01-12"),
        ("3. März 2022", "2022-03-03"),
        ("5 марта 2024 г.", "2024-03-05"),
        ("5 listopada 2023", "2023-11-05"),
        ("3 août 2022", "2022-08-03"),
    ],
)
def test_dates_of_other_languages_whatever_the_page_says_it_is_in(written: str, read: str) -> None:
    assert clean.date(written) == clean.date(written, language="en") == clean.date(written, language="xx") == read


@pytest.mark.parametrize(
    ("how", "read"),
    [
        ({"order": "DMY"}, "2024-04-03"),
        ({"order": "MDY"}, "2024-03-04"),
        ({"language": "en-US"}, "2024-03-04"),
        ({"language": "en-GB"}, "2024-04-03"),
        ({"language": "de"}, "2024-04-03"),
        ({"language": "en"}, None),
        ({"language": "de", "order": "MDY"}, "2024-03-04"),
    ],
)
def test_what_comes_first_is_said_by_the_order_or_the_country(how: dict[str, str], read: str | None) -> None:
    assert clean.date("03/04/2024", **how) == read  # type: ignore[arg-type]


def test_a_year_of_two_digits_comes_first_only_if_told() -> None:
    assert clean.date("24/03/05", order="YMD") == "2024-03-05"
    assert clean.date("24/03/05") == "2005-03-24"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2024-03-05T10:11:12Z", "2024-03-05T10:11:12+00:00"),
        ("2024-03-05 10:11:12.123+0200", "2024-03-05T10:11:12.123000+02:00"),
        ("2024-03-05T10:11", "2024-03-05T10:11:00"),
        ("20240305T101112Z", "2024-03-05T10:11:12+00:00"),
        ("Tue, 05 Mar 2024 10:00:00 GMT", "2024-03-05T10:00:00+00:00"),
        ("Wed Oct 10 20:19:24 +0000 2018", "2018-10-10T20:19:24+00:00"),
        ("March 5, 2024 at 3:05 pm", "2024-03-05T15:05:00"),
        ("12:30 a.m., 5 March 2024", "2024-03-05T00:30:00"),
        ("June 3, 2021, 10:00 AM PDT", "2021-06-03T10:00:00-07:00"),
        ("Sept. 5, 2021 7 p.m.", "2021-09-05T19:00:00"),
        ("5 mai 2024 à 10:30", "2024-05-05T10:30:00"),
        ("2024-03-05", "2024-03-05"),  # no midnight is made up
        ("2024-03-05T24:30", "2024-03-05"),
        (1_709_632_272.5, "2024-03-05T09:51:12.500000+00:00"),
        ("10:30", None),
    ],
)
def test_moment_is_as_exact_as_its_text(written: Any, read: str | None) -> None:
    assert clean.moment(written) == read


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("yesterday", "2024-03-04"),
        ("Today at 8:15", "2024-03-05T08:15:00"),
        ("tomorrow", "2024-03-06"),
        ("3 days ago", "2024-03-02"),
        ("posted 2 hours ago", "2024-03-05T07:51:12+00:00"),
        ("an hour ago", "2024-03-05T08:51:12+00:00"),
        ("in 2 weeks", "2024-03-19"),
        ("just now", "2024-03-05"),
        ("vor 3 Tagen", "2024-03-02"),
        ("hier", "2024-03-04"),
        ("5 March", "2024-03-05"),
        ("5 mars", "2024-03-05"),
        ("5 Mar 23", "2023-03-05"),
        ("March 2024", None),
    ],
)
def test_with_a_now_relative_dates_and_those_without_a_year_are_read(written: str, read: str | None) -> None:
    assert clean.moment(written, now=NOW) == read
    assert clean.moment(written, now=datetime.fromtimestamp(NOW, UTC)) == read


def test_what_was_read_before_does_not_change_what_is_read_now() -> None:
    first = [clean.date(text) for text in ("10 mai 2024", "3 abril 2020", "1 lis 2023")]
    assert [clean.date(text) for text in ("1 lis 2023", "3 abril 2020", "10 mai 2024")] == first[::-1]


# -- whatever comes --------------------------------------------------------------------------------------------

CLEANERS = (
    clean.text, clean.strip, clean.lower, clean.upper, clean.title, clean.number, clean.integer, clean.count,
    clean.money, clean.boolean, clean.email, clean.split, clean.json, clean.date, clean.moment,
)  # fmt: skip
ANYTHING = st.one_of(st.text(max_size=60), st.integers(), st.floats(), st.booleans(), st.none(), st.lists(st.text()))


@given(ANYTHING)
def test_nothing_raises_and_everything_can_be_written_as_json(value: Any) -> None:
    for function in CLEANERS:
        if function is not clean.json:  # which gives what it was given
            found = function(value)
            assert isinstance(found, str | int | float | bool | list | Money | None)
            if isinstance(found, int | float | Money):
                msgspec.json.encode(found)


@given(st.text(alphabet="0123456789.,'- e", max_size=30))
def test_numbers_of_any_form_are_read_or_not(value: str) -> None:
    found = clean.number(value)
    assert found is None or abs(found) < float("inf")
    clean.integer(value)
    clean.date(value)


@pytest.mark.parametrize(
    "hostile",
    [
        "<" * 200_000,
        "<!--" * 50_000,
        "<p " * 70_000,
        "&" * 200_000,
        "&#x" * 70_000,
        "1 " * 100_000,
        "1," * 100_000,
        "1" * 200_000,
        "- " * 100_000,
        "a@" * 100_000,
        "a." * 100_000,
        "@a." * 70_000,
        " " * 200_000,
        "mar " * 50_000,
        "12/12/" * 30_000,
        "10:10:" * 30_000,
        "\u200b" * 200_000,
        "<div>" * 40_000,
        "<b>" * 40_000 + "<p>" * 40_000,
    ],
    ids=lambda text: repr(text[:6]),
)
def test_a_hostile_text_costs_little_time(hostile: str) -> None:
    for function in CLEANERS:
        began = time.process_time()
        function(hostile)
        assert time.process_time() - began < 6, function.__name__


def test_texts_that_only_look_like_dates_cost_little_time() -> None:
    clean.date("5 mars 2024")  # dateparser is loaded once
    began = time.process_time()
    for number in range(2_000):
        clean.date(f"lorem {number} ipsum dolor")
    assert time.process_time() - began < 6


@pytest.mark.parametrize(
    ("written", "language"),
    [("5 Μαρτίου 2024", None), ("5 березня 2024", None), ("5 kovo 2024", "lt"), ("5 martie 2024", "ro")],
)
def test_dates_are_tried_in_the_language_of_the_page_and_in_those_of_its_letters(
    written: str, language: str | None
) -> None:
    assert clean.date(written, language=language) == "2024-03-05"


def test_what_is_no_date_is_not_tried_in_every_language_there_is() -> None:
    clean.date("Room 12 in house 2024")  # the languages are loaded once
    began = time.process_time()
    for number in range(100):
        assert clean.date(f"Room {number % 28 + 1} in house {1900 + number}") is None
    assert time.process_time() - began < 7.2
