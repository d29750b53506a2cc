"""A Response being read: text, tree, links, JSON, and what to follow."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import ReadError
from gossamer.values import Request
from tests.unit.pages import URL, page

# --- links ---


def test_links_are_absolute_each_once_in_document_order() -> None:
    body = """<a href=b.html>1</a><map><area href="../c"></map><a href="B.html#x">2</a><a href="b.html#y">1</a>
        <iframe src=//d.org/e></iframe><a href="?page=3">3</a><a href=" /f g ">4</a><a name=x>no</a><a href="">self</a>
        <a href="mailto:me@a.org">5</a><img src=no.png><link href=no.css><a href="http://[">bad</a>"""
    assert page(body).links == [
        "http://a.org/shop/b.html",
        "http://a.org/c",
        "http://a.org/shop/B.html",
        "http://d.org/e",
        "http://a.org/shop/list.html?page=3",
        "http://a.org/f%20g",
        URL,
    ]


def test_frames_are_links() -> None:
    body = "<frameset><frame src=menu.html><frame src=main.html></frameset>"
    assert page(body).links == ["http://a.org/shop/menu.html", "http://a.org/shop/main.html"]


@pytest.mark.parametrize(
    ("base", "link"),
    [
        ('<base href="/other/">', "http://a.org/other/x"),
        ('<BASE HREF="http://b.org/y/z">', "http://b.org/y/x"),
        ("<base target=_top><base href=/one/><base href=/two/>", "http://a.org/one/x"),
        ('<base href="mailto:x">', "http://a.org/shop/x"),
        ('<base href="">', "http://a.org/shop/x"),
        ("<base/href=/slash/>", "http://a.org/slash/x"),
        ("<!-- <base href=/comment/> -->", "http://a.org/shop/x"),
    ],
)
def test_a_base_changes_what_links_are_relative_to(base: str, link: str) -> None:
    read = page(f"<head>{base}</head><a href=x>")
    assert read.links == [link]
    assert [request.url for request in read.follow("a")] == [link]


def test_a_base_is_found_in_a_page_of_wide_letters() -> None:
    body = codecs.BOM_UTF16_LE + "<base href=/wide/><a href=x>".encode("utf-16-le")
    assert page(body, kind="text/html").links == ["http://a.org/wide/x"]


markup = st.lists(
    st.sampled_from(
        [b"<a href=", b"<base href=", b"'", b'"', b">", b"</a>", b"<frame src=", b"<svg>", b"<", b"&#xd800;"]
    )
    | st.binary(max_size=6),
    max_size=12,
).map(b"".join)


@given(markup, st.sampled_from(["text/html", "text/html; charset=utf-8", "text/html; charset=utf-16", None]))
def test_no_bytes_keep_a_page_from_being_read(body: bytes, kind: str | None) -> None:
    read = page(body, kind=kind)
    assert all(link.startswith(("http://", "https://")) for link in read.links)
    assert isinstance(read.text, str)
    assert read.title is None or read.title == " ".join(read.title.split())
    assert len(read.css("*").getall()) == len(read.css("*").texts())


# --- text and tree ---


def test_a_byte_order_mark_is_no_part_of_the_page() -> None:
    read = page(codecs.BOM_UTF8 + b"<html lang=de><head><title>T</title><base href=/x/></head><a href=y>")
    assert read.title == "T"
    assert read.links == ["http://a.org/x/y"]


def test_text_is_decoded_by_what_the_page_declares() -> None:
    body = '<meta charset="windows-1251"><title>Привет</title>'.encode("windows-1251")
    read = page(body, kind="text/html")
    assert (read.encoding, read.title) == ("windows-1251", "Привет")
    assert read.css("title::text").get() == read.xpath("//title/text()").get() == "Привет"


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("<title> A \n B </title>", "A B"),
        ("<title></title>", None),
        ("<p>no title", None),
        ("<title>&amp; &lt;b&gt;</title>", "& <b>"),
        ("<body><svg><title>drawing</title></svg>", None),
        ("<head><title>page</title></head><svg><title>drawing</title></svg>", "page"),
        ("", None),
    ],
)
def test_the_title_is_the_pages_own(body: str, title: str | None) -> None:
    assert page(body).title == title


@pytest.mark.parametrize(
    ("kind", "body", "html"),
    [
        ("text/html; charset=x", "", True),
        ("application/xhtml+xml", "", True),
        ("application/json", "<p>", False),
        (None, " \n<p>", True),
        (None, "{}", False),
        (None, "", False),
    ],
)
def test_a_page_is_html_if_it_says_so_or_says_nothing_and_looks_like_it(
    kind: str | None, body: str, html: bool
) -> None:
    assert page(body, kind=kind).is_html is html


def test_a_page_knows_where_it_comes_from() -> None:
    read = page("x", depth=3, carry={"a": 1})
    assert (read.url, read.status, read.depth, read.carry, read.body) == (URL, 200, 3, {"a": 1}, b"x")
    assert read.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page().carry == {}
    assert repr(read) == f"<Page 200 {URL}>"


# --- JSON ---


def test_json_is_read_with_or_without_a_byte_order_mark() -> None:
    assert page(b'{"a":[1,null]}').json() == {"a": [1, None]}
    assert page(codecs.BOM_UTF8 + b"[]").json() == []


@pytest.mark.parametrize("body", [b"", b"<html>", b"{", b'"\xff"', codecs.BOM_UTF16_LE + b"[\0]\0", b"[" * 100_000])
def test_what_is_no_json_is_a_read_error(body: bytes) -> None:
    with pytest.raises(ReadError, match="the body is not JSON: "):
        page(body).json()


# --- follow ---

LIST = """<ul><li><a href=1.html>1</a></li><li class=next><a href=2.html>2</a></li></ul>
    <iframe src=3.html></iframe><a href="mailto:x">mail</a><b id=b>no link</b>"""


@pytest.mark.parametrize(
    ("target", "paths"),
    [
        ("li.next a", ["/shop/2.html"]),
        ("li a, iframe", ["/shop/1.html", "/shop/2.html", "/shop/3.html"]),
        ("li a::attr(href)", ["/shop/1.html", "/shop/2.html"]),
        ("a", ["/shop/1.html", "/shop/2.html"]),
        ("#b", []),
        (".nothing", []),
        ("/x", ["/x"]),
        ("./x", ["/shop/x"]),
        ("../x", ["/x"]),
        ("?page=3", ["/shop/list.html?page=3"]),
        ("http://a.org/y", ["/y"]),
        ("HTTP://A.org/y", ["/y"]),
        (["x", "y", "x"], ["/shop/x", "/shop/y"]),
        ([], []),
    ],
)
def test_follow_takes_a_selector_a_url_or_several(target: str | list[str], paths: list[str]) -> None:
    assert [request.url for request in page(LIST).follow(target)] == [f"http://a.org{path}" for path in paths]


def test_follow_takes_what_css_and_xpath_found() -> None:
    read = page(LIST)
    wanted = ["http://a.org/shop/1.html", "http://a.org/shop/2.html"]
    for found in (read.css("li a"), read.css("li a::attr(href)"), read.xpath("//li/a"), read.xpath("//li/a/@href")):
        assert [request.url for request in read.follow(found)] == wanted
    assert [request.url for request in read.follow(read.xpath("//iframe | //b"))] == ["http://a.org/shop/3.html"]
    assert [request.url for request in read.follow(read.links)] == read.links


def test_follow_hands_on_what_the_request_needs() -> None:
    class Shop:
        def detail(self) -> None: ...

    made = page(LIST).follow("li.next a", to=Shop().detail, priority=2, carry={"a": 1}, revisit=True)
    assert made == [Request("http://a.org/shop/2.html", to="detail", priority=2, carry={"a": 1}, revisit=True)]


def test_a_selector_that_is_none_is_a_read_error() -> None:
    with pytest.raises(ReadError, match=r"'li\[' is not a CSS selector"):
        page(LIST).follow("li[")
