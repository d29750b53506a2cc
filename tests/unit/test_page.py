"""A Response being read: text, tree, links, JSON, and what to follow."""

from __future__ import annotations

import codecs
import contextlib
import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import ReadError
from gossamer.parse.page import Page
from gossamer.values import Headers, Request, Response
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
        (None, "<?xml version='1.0'?><rss/>", False),
        (None, "%PDF-1.7", False),
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


# --- XML ---


def test_xml_is_read_in_whatever_encoding_it_is() -> None:
    body = '<?xml version="1.0" encoding="windows-1251"?>\n<a b="1"><c>Привет</c></a>'
    root = page(body.encode("windows-1251"), kind="application/xml").xml
    assert (root.tag, root.get("b"), root.findtext("c")) == ("a", "1", "Привет")
    for raw in (b" \n<a>\xc3\xa9</a>", codecs.BOM_UTF8 + b"<a>\xc3\xa9</a>", "\ufeff<a>é</a>".encode("utf-16-le")):
        assert page(raw, kind="text/xml").xml.text == "é"
    assert page("<?xml version='1.0' encoding='latin-1'?><a>é</a>").xml.text == "é", "the header counts first"


@pytest.mark.parametrize("body", ["", "words", "<a>", "<a></b>", '{"a": 1}', "<a>" * 100_000, "<a>\0</a>"])
def test_what_is_no_xml_is_a_read_error(body: str) -> None:
    with pytest.raises(ReadError, match="the body is not XML: "):
        _ = page(body, kind="text/xml").xml


def test_xml_reads_no_files_and_grows_by_no_entities(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    declared = f'<!ENTITY x SYSTEM "{secret.as_uri()}"><!ENTITY y "yy">'
    root = page(f"<!DOCTYPE a [{declared}]><a>&x;&y;</a>", kind="text/xml").xml
    assert "secret" not in "".join(root.itertext())
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    for bomb in ("<a>&l11;</a>", '<a b="&l11;"/>'):
        read = page(f'<!DOCTYPE a [<!ENTITY l0 "lol">{laughs}]>{bomb}', kind="text/xml")
        with contextlib.suppress(ReadError):
            assert len("".join(read.xml.itertext())) < 1000


# --- files ---


def filed(path: Path, body: bytes, kind: str = "text/html", **facts: object) -> Page:
    """A page whose body is in a file."""
    path.write_bytes(body)
    known = {"file": str(path), "file_size": len(body), "sha256": hashlib.sha256(body).hexdigest(), **facts}
    headers = Headers([("content-type", kind)])
    return Page(Request(URL), Response(URL, 200, headers, b"", 0.0, 0.0, **known))  # type: ignore[arg-type]


def test_a_body_in_a_file_is_read_like_any_other(tmp_path: Path) -> None:
    read = filed(tmp_path / "body", b"<title>T</title><a href=x>")
    assert (read.title, read.links, read.kind) == ("T", ["http://a.org/shop/x"], "html")
    assert (read.file, read.sha256) == (tmp_path / "body", hashlib.sha256(read.body).hexdigest())
    assert filed(tmp_path / "body", b"[1]", kind="application/json").json() == [1]


def test_a_body_in_memory_has_no_file_but_a_digest() -> None:
    assert page("x").file is None
    assert page("x").sha256 == hashlib.sha256(b"x").hexdigest()


def test_a_file_too_large_for_memory_is_not_read_by_mistake(tmp_path: Path) -> None:
    read = filed(tmp_path / "film", b"\0\0\0\x20ftypisom", kind="video/mp4", file_size=5 << 30, sha256="5")
    assert (read.kind, read.sha256) == ("video", "5")
    with pytest.raises(ReadError, match=r"its body of 5120 MB is too large for memory: read it from page\.file"):
        _ = read.body


def test_a_file_that_is_gone_is_a_read_error(tmp_path: Path) -> None:
    read = filed(tmp_path / "gone", b"x")
    (tmp_path / "gone").unlink()
    with pytest.raises(ReadError, match=r"its body was kept in .*gone, which cannot be read: No such file"):
        _ = read.text


@pytest.mark.parametrize(
    ("kind", "body", "found"),
    [("text/html", "", "empty"), ("text/html", "%PDF-1", "pdf"), (None, "[1]", "json"), ("text/html", "words", "html")],
)
def test_a_page_knows_what_it_is(kind: str | None, body: str, found: str) -> None:
    assert page(body, kind=kind).kind == found


# --- downloads ---


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("report.pdf", "a.org/shop/report.pdf"),
        ("http://b.org/", "b.org/index"),
        ("http://b.org/docs/", "b.org/docs/index"),
        ("//b.org/r%C3%A9sum%C3%A9.pdf#page=2", "b.org/résumé.pdf"),
    ],
)
def test_a_download_is_named_by_its_url(url: str, path: str) -> None:
    made = page().download(url)
    assert (made.save, made.handler, made.verb) == (path, "@file", "GET")


@pytest.mark.parametrize(
    "urls",
    [
        ["/x?id=1", "/x?id=2", "/x"],
        ["/a%2Fb", "/a/b", "/a_b", "/a b", "/a:b"],
        ["/" + "x" * 300 + "1", "/" + "x" * 300 + "2"],
        ["/" + "d/" * 20 + "x", "/" + "d/" * 21 + "x"],
        ["/.htaccess", "/htaccess"],
        ["http://a.org:8080/x", "http://a.org/x"],
    ],
)
def test_downloads_of_different_urls_have_different_names(urls: list[str]) -> None:
    paths = [page().download(url).save or "" for url in urls]
    assert len(set(paths)) == len(urls)


@given(st.text(max_size=60), st.text(max_size=20))
def test_every_name_stays_below_its_folder_and_fits_into_a_file_system(path: str, query: str) -> None:
    made = page().download("http://a.org/" + path.replace("?", "") + "?" + query).save or ""
    parts = made.split("/")
    assert all(part and part not in (".", "..") and len(part.encode()) <= 255 for part in parts)
    assert parts[0] == "a.org"
    assert made.isprintable()
    assert len(parts) <= 12


@pytest.mark.parametrize(
    ("to", "path"),
    [("b.pdf", "b.pdf"), ("deep/er/b.pdf", "deep/er/b.pdf"), ("Ä b.pdf", "Ä b.pdf")],
)
def test_a_download_may_be_given_a_place(to: str, path: str) -> None:
    assert page().download("/a.pdf", to).save == path


def test_files_of_one_name_are_kept_apart_in_one_folder() -> None:
    one, other = (page().download(f"/{n}/a.pdf", "pdfs/").save for n in (1, 2))
    assert one is not None
    assert other is not None
    assert one != other
    assert all(re.fullmatch(r"pdfs/a-\w{8}\.pdf", path) for path in (one, other))


@pytest.mark.parametrize("to", ["", "/", "/etc/passwd", "../x", "a/../../x", "a//b", "./x", "a\0b", "a\nb", "x" * 300])
def test_a_place_outside_of_the_folder_is_refused(to: str) -> None:
    with pytest.raises(ReadError, match=r"a download cannot be saved as .*: give a path below the folder for files"):
        page().download("/a.pdf", to)


def test_a_download_hands_on_what_its_handler_needs() -> None:
    class Shop:
        def manual(self) -> None: ...

    made = page().download("/a.pdf", handler=Shop().manual, carry={"sku": 7})
    assert (made.url, made.to, made.carry) == ("http://a.org/a.pdf", "manual", {"sku": 7})
    assert page().download("/a.pdf", handler="manual").to == "manual"
    with pytest.raises(ReadError, match="'mailto:x' cannot be downloaded: only http and https URLs can"):
        page().download("mailto:x")


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


def test_what_is_followed_belongs_to_the_session_of_its_page() -> None:
    first = page()
    named = Page(first.request.evolve(session="alice"), first.response)
    assert [request.session for request in named.follow("/x")] == ["alice"]
    assert [request.session for request in named.follow("/x", session="bob")] == ["bob"]
    assert named.download("/a.pdf").session == "alice"
    assert [request.session for request in first.follow("/x")] == [None]


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (rb'{"a":"cut \ud83d"}', {"a": "cut \ufffd"}),
        (rb'{"a":"\udc00x"}', {"a": "\ufffdx"}),
        (rb'{"a":"\ud83d\ude00"}', {"a": "😀"}),
        (b'{"a":NaN,"b":[-Infinity]}', {"a": None, "b": [None]}),
    ],
)
def test_json_as_some_programs_write_it_is_read(body: bytes, read: Any) -> None:
    assert Page.of(body, content_type="application/json").json() == read
