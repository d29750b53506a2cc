"""What can be said of any page."""

from __future__ import annotations

import time

import msgspec
import pytest

from gossamer.parse.generic import MOST_HEADINGS, MOST_LINKS, Heading, Link, PageSummary, read
from gossamer.parse.page import Page
from gossamer.values import Headers, Request, Response

URL = "https://shop.test/a/page.html"
SENTENCE = "The lamp on the desk was made in a small workshop by the sea, and nobody remembers who bought it first. "


def one(markup: str | bytes, content_type: str = "text/html", url: str = URL) -> PageSummary:
    (found,) = read(Page.of(markup, url, content_type))
    return found


def test_the_head_of_a_page() -> None:
    found = one(
        "<html lang='pt_br'><head><title> Lamps \n & more </title><base href='/base/'>"
        "<meta name='Description' content=' All  lamps '><meta property='og:image' content='/i.png'>"
        "<meta property='article:published_time' content='2024-03-05T10:00:00Z'><meta name='empty' content=''>"
        "<link rel='canonical' href='lamps'><link rel='shortcut icon' href='/f.ico'>"
        "<link rel='alternate' type='application/rss+xml' href='feed.xml'>"
        "<link rel='alternate' hreflang='de' href='/de'></head><body></body></html>"
    )
    assert found.title == "Lamps & more"
    assert found.description == "All lamps"
    assert found.canonical == "https://shop.test/base/lamps"
    assert found.language == "pt-BR"
    assert found.published == "2024-03-05T10:00:00+00:00"
    assert found.icon == "https://shop.test/f.ico"
    assert found.feeds == ("https://shop.test/base/feed.xml",)
    assert found.meta == {
        "description": "All lamps",
        "og:image": "/i.png",
        "article:published_time": "2024-03-05T10:00:00Z",
    }
    assert found.text is None


def test_headings_and_links() -> None:
    found = one(
        "<h1>Lamps</h1><h2>Desk <i>lamps</i></h2><h3> </h3><a href='/x' rel='nofollow next'>X</a><a href='/y'></a>"
        "<a href='#top'>up</a><a href='/y'>Why</a><a href='mailto:a@b.test'>mail</a>"
        "<a href='/p'><img src='p.png' alt='A picture'></a><a href='http://[bad'>bad</a>"
    )
    assert found.headings == (Heading(level=1, text="Lamps"), Heading(level=2, text="Desk lamps"))
    assert found.links == (
        Link(url="https://shop.test/x", text="X", rel="nofollow next"),
        Link(url="https://shop.test/y", text="Why"),
        Link(url=URL, text="up"),
        Link(url="https://shop.test/p", text="A picture"),
    )


def test_the_text_is_the_main_text_where_there_is_one() -> None:
    menu = "<nav><a href='/'>Home</a> <a href='/b'>Basket</a></nav>"
    article = "".join(f"<p>Part {n}. {SENTENCE * 2}</p>" for n in range(4))
    found = one(f"<html><body>{menu}<main><h1>Lamps</h1>{article}</main><footer>Imprint</footer></body></html>")
    assert found.text is not None
    assert "Part 3." in found.text
    assert "Basket" not in found.text
    assert "Imprint" not in found.text


def test_the_text_of_other_pages_is_what_they_show() -> None:
    """A line a block; nothing of what nobody sees."""
    found = one("<div>Home</div><script>var hidden = 1</script><ul><li>One<li>Two</ul><p>12 <b>EUR</b></p>")
    assert found.text == "Home\nOne\nTwo\n12 EUR"


@pytest.mark.parametrize(
    ("html", "headers", "language"),
    [
        ("<html lang='de'>", {"content-language": "fr"}, "de"),
        ("<meta http-equiv='Content-Language' content='fr-ca, en'>", {"content-language": "de"}, "fr-CA"),
        ("<p>x", {"content-language": "nl"}, "nl"),
        ("<html lang='{{lang}}'>", {}, None),
        ("<meta property='og:locale' content='es_MX'>", {}, "es-MX"),
        ("<p>x", {}, None),
    ],
)
def test_language(html: str, headers: dict[str, str], language: str | None) -> None:
    told = Headers([("content-type", "text/html; charset=utf-8"), *headers.items()])
    (found,) = read(Page(Request(URL), Response(URL, 200, told, html.encode(), 0.0, 0.0)))
    assert found.language == language


def test_other_texts_give_their_text() -> None:
    assert one("one\ntwo\n", "text/plain").text == "one\ntwo"
    assert one('{"a":[1,2]}', "application/json").text == '{\n  "a": [\n    1,\n    2\n  ]\n}'
    assert one('{"a":', "application/json").text == '{"a":'
    assert one("<a><b>x</b></a>", "application/xml").text == "<a><b>x</b></a>"
    assert one("x", "text/plain").title is None


@pytest.mark.parametrize(("body", "kind"), [(b"%PDF-1.7", "application/pdf"), (b"\x89PNG\r\n\x1a\n", "image/png")])
def test_what_is_no_text_gives_nothing(body: bytes, kind: str) -> None:
    assert read(Page.of(body, URL, kind)) == []


def test_an_empty_page_gives_nothing() -> None:
    assert read(Page.of("", URL)) == []


def test_it_can_be_written_as_json_and_read_again() -> None:
    found = one("<html lang=en><title>T</title><h1>H</h1><a href=/x>X</a><p>text")
    assert msgspec.json.decode(msgspec.json.encode(found), type=PageSummary) == found


@pytest.mark.parametrize(
    "markup",
    [
        "".join(f"<a href='/{n}'>link {n}</a>" for n in range(8_000)),
        "<h2>heading</h2>" * 8_000,
        "<div><h1>x" * 2_000,
        "<a href='/x'>" * 8_000,
        "<meta name=x content=y>" * 8_000,
        "".join(f"<meta name=x{n} content=y>" for n in range(8_000)),
        "<p>" + "word " * 500_000,
    ],
    ids=["links", "headings", "nested headings", "nested links", "metas", "names", "words"],
)
def test_hostile_pages_are_bounded(markup: str) -> None:
    began = time.process_time()
    found = one(markup)
    assert time.process_time() - began < 40
    assert len(found.links) <= MOST_LINKS
    assert len(found.headings) <= MOST_HEADINGS
    assert len(found.meta) <= 300
    assert len(found.text or "") <= 500_000
