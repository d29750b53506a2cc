"""What css and xpath give."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import ReadError
from tests.unit.pages import page

BODY = """<div class=q id=one><p class=t>Be <b>bold</b>  now</p><a href=/1 title="">x</a></div>
<div class=q id=two data-n=2><p class=t>Stay</p></div><p>last</p>"""
PAGE = page(BODY)


@pytest.mark.parametrize(
    ("selector", "texts"),
    [
        (".t::text", ["Be ", "  now", "Stay"]),
        (".t ::text", ["Be ", "bold", "  now", "Stay"]),
        ("#two .t::text", ["Stay"]),
        (".q::attr(id)", ["one", "two"]),
        (".q::attr( data-n )", ["2"]),
        (".q::attr('id')", ["one", "two"]),
        ("#one ::attr(href)", ["/1"]),
        ("a::attr(title)", [""]),
        ("a::attr(none)", []),
        (".none::text", []),
        ("b::text, a::text", ["bold", "x"]),
        ("a::text, b::text", ["bold", "x"]),
        ("a::attr(href), b::text", ["/1", "bold"]),
        ("b, a", ["<b>bold</b>", '<a href="/1" title="">x</a>']),
        ('a[href="::text,"]::text', []),
    ],
)
def test_a_selector_gives_html_texts_or_attributes(selector: str, texts: list[str]) -> None:
    found = PAGE.css(selector)
    assert found.getall() == texts
    assert found.get("-") == (texts[0] if texts else "-")
    assert (len(found), bool(found)) == (len(texts), bool(texts))


def test_a_match_can_be_searched_again() -> None:
    rows = [(q.attr("id"), q.css(".t").text, q.css("a::attr(href)").get()) for q in PAGE.css(".q")]
    assert rows == [("one", "Be bold now", "/1"), ("two", "Stay", None)]
    assert PAGE.css(".q").css("p").texts() == ["Be bold now", "Stay"]
    assert PAGE.css(".q::attr(id)").css("p").getall() == []


def test_a_search_below_a_match_stays_below_it() -> None:
    assert PAGE.css("#two").css("p ::text").getall() == ["Stay"]


def test_attributes_are_those_of_the_first_match() -> None:
    found = PAGE.css("a")
    assert found.attributes == {"href": "/1", "title": ""}
    assert found.attr("title", "-") == ""
    assert found.attr("none", "-") == "-"
    assert PAGE.css(".none").attr("id") is None
    assert PAGE.css(".none").attributes == {}
    assert page("<input disabled>").css("input").attr("disabled", "-") == "-"


def test_a_selection_is_a_sequence() -> None:
    found = PAGE.css(".q")
    assert found[1].attr("id") == "two"
    assert found[-1:].attr("id") == "two"
    assert len(found[:5]) == 2
    assert repr(PAGE.css("a::text")) == "<Selection of 1: x>"
    assert PAGE.css(".none").text is None
    with pytest.raises(IndexError):
        found[2]


@pytest.mark.parametrize(
    "selector", ["", "p[", "p::", "p::before", "::text p", "p >", ":nope(1)", "a::attr()", "\ud800"]
)
def test_what_is_no_selector_is_refused_as_written(selector: str) -> None:
    with pytest.raises(ReadError, match="is not a CSS selector: ") as refused:
        PAGE.css(selector)
    assert "\n" not in str(refused.value)


pieces = [
    "p",
    "a",
    ".t",
    "#one",
    "*",
    "[",
    "]",
    "(",
    ")",
    ":",
    "::",
    "::text",
    "::attr(",
    "href",
    ",",
    ">",
    "+",
    "~",
    " ",
]
pieces += [
    "=",
    '"',
    "'",
    "\\",
    ":not(",
    ":is(",
    ":has(",
    ":nth-child(",
    "2n+1",
    ":first-child",
    "|",
    "-1",
    "\0",
    "é",
    "/*",
]


@given(st.lists(st.sampled_from(pieces), max_size=8).map("".join) | st.text(max_size=12))
def test_a_random_selector_matches_or_is_a_read_error(selector: str) -> None:
    for search in (PAGE.css, PAGE.css("div").css):
        try:
            found = search(selector)
        except ReadError:
            continue
        assert len(found.getall()) == len(found.texts()) == len(found)


# --- xpath ---


@pytest.mark.parametrize(
    ("expression", "texts"),
    [
        ("//p[@class='t']/text()", ["Be ", "  now", "Stay"]),
        ("//div/@id", ["one", "two"]),
        ("//b", ["<b>bold</b>"]),
        ("count(//div)", ["2"]),
        ("string(//b)", ["bold"]),
        ("//b = 'bold'", ["True"]),
        ("//none", []),
    ],
)
def test_an_xpath_gives_html_texts_attributes_or_values(expression: str, texts: list[str]) -> None:
    found = PAGE.xpath(expression)
    assert found.getall() == texts
    assert found.get("-") == (texts[0] if texts else "-")
    assert len(found) == len(texts)


def test_an_xpath_match_can_be_searched_again() -> None:
    rows = [(q.attr("id"), q.xpath("./p").text, q.xpath("./a/@href").get()) for q in PAGE.xpath("//div")]
    assert rows == [("one", "Be bold now", "/1"), ("two", "Stay", None)]
    assert PAGE.xpath("//div")[1:].attr("id") == "two"
    assert PAGE.xpath("//div")[0].attr("none", "-") == "-"
    assert PAGE.xpath("//none").text is None
    assert PAGE.xpath("//none").attr("x") is None
    assert repr(PAGE.xpath("//div")) == "<XPathSelection of 2>"


@pytest.mark.parametrize("expression", ["", "//[", "//a[", "nope()", "x:y()", "\0"])
def test_what_is_no_xpath_is_refused_as_written(expression: str) -> None:
    with pytest.raises(ReadError, match="is not an XPath expression: "):
        PAGE.xpath(expression)


@pytest.mark.parametrize("body", ["", "   "])
def test_xpath_on_nothing_is_a_read_error(body: str) -> None:
    with pytest.raises(ReadError, match="the page has no markup that XPath could search"):
        page(body).xpath("//a")
