"""Articles read from pages: the text, and what the page says of it."""

from __future__ import annotations

import json
import logging
import time

import pytest

from gossamer.parse import bylines
from gossamer.parse.article import Article, read
from gossamer.parse.page import Page
from tests.conftest import corpora

URL = "https://www.gazette.test/news/harbour-wall.html"
SENTENCE = "The harbour wall has stood for two hundred years, and the council means to keep it standing for longer. "
PARAGRAPHS = [f"Paragraph {n} begins here. {SENTENCE * 2}".strip() for n in range(4)]
BODY = "".join(f"<p>{text}</p>" for text in PARAGRAPHS)


def page(head: str = "", body: str = BODY, *, url: str = URL, around: str = "") -> Page:
    menu = "<nav><ul>" + "".join(f"<li><a href='/s{n}'>Section {n}</a></li>" for n in range(8)) + "</ul></nav>"
    return Page.of(
        f"<!doctype html><html lang='en-gb'><head>{head}</head><body>{menu}{around}"
        f"<article><h1>Harbour wall to be mended</h1>{body}</article>"
        f"<footer><p>All rights reserved</p></footer></body></html>",
        url,
    )


def ld(**fields: object) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@context": "https://schema.org", **fields})}</script>'


def one(given: Page) -> Article:
    (found,) = read(given)
    return found


# --- the text ---


def test_the_body_is_the_text_without_title_and_surroundings() -> None:
    """A line a paragraph; no menu, no footer, no headline."""
    found = one(page())
    assert found.body == "\n".join(PARAGRAPHS)
    assert found.title == "Harbour wall to be mended"
    assert found.url == URL


def test_line_ends_in_markup_are_not_paragraphs() -> None:
    """What is one paragraph in HTML is one line, however it is written."""
    found = one(page(body="".join(f"<p>{text.replace('. ', '.' + chr(10))}</p>" for text in PARAGRAPHS)))
    assert found.body == "\n".join(PARAGRAPHS)


def test_paragraphs_that_only_lead_elsewhere_are_left_out() -> None:
    """A link that is a paragraph, and "Read more: ..", are no part of the text."""
    lead = "<p><a href='/other'>COUNCIL LEADER SPEAKS ABOUT THE BRIDGE</a></p>"
    more = "<p>Read more: <a href='/bridge'>What became of the old bridge in the valley</a></p>"
    first, rest = f"<p>{PARAGRAPHS[0]}</p>", "".join(f"<p>{text}</p>" for text in PARAGRAPHS[1:])
    assert one(page(body=first + lead + more + rest)).body == "\n".join(PARAGRAPHS)


def test_links_inside_a_sentence_stay() -> None:
    """A paragraph that holds links among its words is text."""
    body = f"<p>{SENTENCE}As the <a href='/x'>Harbour Board</a> said on Monday, it will be dear.</p>" + BODY
    assert "As the Harbour Board said on Monday" in (one(page(body=body)).body or "")


def test_a_table_that_is_layout_is_read_as_blocks() -> None:
    """An old page that stands in a table gives its paragraphs, not a row."""
    given = Page.of(
        f"<html><body><table><tr><td><a href='/'>Home</a></td><td><h1>Harbour wall to be mended</h1>{BODY}</td></tr>"
        "</table></body></html>",
        URL,
    )
    assert one(given).body == "\n".join(PARAGRAPHS)


def test_a_table_of_data_keeps_its_rows() -> None:
    """The cells of a row stay together."""
    table = "<table><tr><th>Year</th><th>Cost</th></tr><tr><td>1990</td><td>12,000</td></tr></table>"
    assert "\n1990 | 12,000\n" in (one(page(body=f"<p>{PARAGRAPHS[0]}</p>{table}{BODY}")).body or "")


def test_text_for_machines_counts_where_the_page_shows_only_the_lead() -> None:
    """Behind a wall, articleBody has the whole text, here with tags in it."""
    whole = "".join(f"<p>{text}</p>" for text in PARAGRAPHS)
    found = one(page(ld(**{"@type": "NewsArticle", "articleBody": whole}), body=f"<p>{SENTENCE}</p>"))
    assert found.body == "\n".join(PARAGRAPHS)


def test_text_for_machines_that_is_cut_off_does_not_count() -> None:
    """An articleBody that ends in dots is a teaser, however long."""
    found = one(page(ld(**{"@type": "NewsArticle", "articleBody": SENTENCE * 20 + "and…"})))
    assert found.body == "\n".join(PARAGRAPHS)


# --- what is no article ---


@pytest.mark.parametrize(
    "given",
    [
        Page.of("", URL),
        Page.of("<html><body></body></html>", URL),
        Page.of('{"a": 1}', URL, content_type="application/json"),
        Page.of(b"%PDF-1.7 ...", URL, content_type="application/pdf"),
        Page.of("<html><body><h1>Sign in</h1><form><input name=user></form></body></html>", URL),
        Page.of("<ul>" + "".join(f"<li><a href='/{n}'>Item number {n}</a></li>" for n in range(80)) + "</ul>", URL),
    ],
    ids=["empty", "blank", "json", "pdf", "form", "menu"],
)
def test_what_is_no_article_gives_nothing(given: Page) -> None:
    assert read(given) == []


def test_a_list_of_articles_is_none() -> None:
    """The front page of a blog describes many posts, and none of them is the page."""
    posts = [
        {"@type": "BlogPosting", "headline": f"Post about thing {n}", "url": f"https://www.gazette.test/p/{n}"}
        for n in range(5)
    ]
    assert read(page(ld(**{"@graph": posts}))) == []


def test_of_several_articles_the_own_one_counts() -> None:
    """The one with the page's URL, though others stand before it."""
    others = [
        {"@type": "NewsArticle", "headline": f"Other thing {n}", "author": "Wrong Name", "url": f"https://x.test/{n}"}
        for n in range(4)
    ]
    own = {"@type": "NewsArticle", "headline": "Wall to be mended soon", "author": "Ada Byron", "url": URL}
    found = one(page(ld(**{"@graph": [*others, own]})))
    assert (found.title, found.author) == ("Wall to be mended soon", "Ada Byron")


def test_a_short_text_counts_where_the_page_says_it_is_an_article() -> None:
    """Brief news are news; three lines on any page are not."""
    body = f"<p>{SENTENCE}</p>"
    assert read(page(body=body)) == []
    assert one(page('<meta property="og:type" content="article">', body)).body == SENTENCE.strip()


# --- what is said of it ---


def test_structured_data_tells_everything() -> None:
    head = ld(
        **{
            "@type": "NewsArticle",
            "headline": "Harbour wall: council votes &amp; pays",
            "author": [{"@type": "Person", "name": "Ada Byron"}, {"@type": "Person", "name": "By Charles Babbage"}],
            "datePublished": "2024-03-05T09:30:00+01:00",
            "dateModified": "2024-03-06T10:00:00Z",
            "image": {"@type": "ImageObject", "url": "/img/wall.jpg"},
            "keywords": "harbour, council, Harbour",
            "publisher": {"@type": "Organization", "name": "The Gazette"},
            "inLanguage": "en_GB",
            "description": "Two hundred years <b>and counting</b>.",
        }
    )
    found = one(page(head))
    assert found.title == "Harbour wall: council votes & pays"
    assert found.authors == ("Ada Byron", "Charles Babbage")
    assert found.author == "Ada Byron, Charles Babbage"
    assert found.published == "2024-03-05T09:30:00+01:00"
    assert found.modified == "2024-03-06T10:00:00+00:00"
    assert found.image == "https://www.gazette.test/img/wall.jpg"
    assert found.tags == ("harbour", "council")
    assert found.site == "The Gazette"
    assert found.language == "en-GB"
    assert found.description == "Two hundred years and counting."


def test_metas_tell_what_structured_data_does_not() -> None:
    found = one(
        page(
            '<title>Wall news - The Gazette</title><meta property="og:title" content="Wall news | The Gazette">'
            '<meta property="og:site_name" content="The Gazette">'
            '<meta name="author" content="by Ada Byron and Al Turing"><meta name="keywords" content="a; b">'
            '<meta property="article:published_time" content="2024-03-05">'
            '<meta property="article:modified_time" content="2024-03-07"><meta property="og:image" content="wall.png">'
            '<meta name="description" content="About the wall.">'
        )
    )
    assert (found.title, found.site) == ("Wall news", "The Gazette")
    assert found.authors == ("Ada Byron", "Al Turing")
    assert (found.published, found.modified) == ("2024-03-05", "2024-03-07")
    assert found.image == "https://www.gazette.test/news/wall.png"
    assert found.tags == ("a", "b")
    assert found.description == "About the wall."
    assert found.language == "en-GB"


def test_what_a_page_shows_tells_the_rest() -> None:
    """A byline, a date near the title, tags at the end."""
    body = (
        "<div class='story-byline'>By Ada Byron, Staff Writer</div><time datetime='2024-03-05T08:00'>5 March</time>"
        f"{BODY}<a rel='tag' href='/t/sea'>Sea</a>"
    )
    found = one(page(body=body))
    assert (found.author, found.published, found.tags) == ("Ada Byron", "2024-03-05T08:00:00", ("Sea",))


def test_a_line_about_the_page_tells_its_author_if_it_begins_so() -> None:
    line = "<p class='story-meta'>{}</p>" + BODY
    assert one(page(body=line.format("By Ada Byron on Monday, March 4th, 2024"))).author == "Ada Byron"
    assert one(page(body=line.format("Harbour News"))).author is None


@pytest.mark.parametrize(
    ("url", "day"),
    [
        ("https://a.test/2024/03/05/wall", "2024-03-05"),
        ("https://a.test/2024/mar/5/wall", "2024-03-05"),
        ("https://a.test/2024-03-05-wall", "2024-03-05"),
        ("https://a.test/2024/99/05/wall", None),
        ("https://a.test/wall-20240305", None),
    ],
)
def test_a_url_tells_the_day(url: str, day: str | None) -> None:
    assert one(page(url=url)).published == day


def test_the_day_of_the_url_counts_before_a_day_that_is_shown() -> None:
    """An article shows days of other things too."""
    body = "<p class='date'>He said on 1 January 2020</p>" + BODY
    assert one(page(body=body, url="https://a.test/2024/03/05/wall")).published == "2024-03-05"


def test_a_headline_cut_for_search_engines_is_completed() -> None:
    full = "The wall of the old harbour is to be mended with stone from the quarry it came from two hundred years ago"
    head = ld(**{"@type": "NewsArticle", "headline": full[:70]}) + f'<meta property="og:title" content="{full}">'
    given = Page.of(page(head).text.replace("Harbour wall to be mended", full), URL)
    assert one(given).title == full


def test_a_site_with_a_dash_in_its_titles_keeps_them() -> None:
    """Only the name of the site is taken off."""
    assert one(page('<meta property="og:title" content="Walls - a history">')).title == "Walls - a history"


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("By Jane Doe", ("Jane Doe",)),
        ("JANE DOE, AP Sports Writer", ("JANE DOE",)),
        ("Jane Doe, John Roe and Al Poe", ("Jane Doe", "John Roe", "Al Poe")),
        ("Doe, Jane", ("Doe, Jane",)),
        ("Von Jane Doe | 5. März 2024", ("Jane Doe",)),
        ("https://www.facebook.com/jane", ()),
        ("admin", ()),
        ("", ()),
        ("Jane Doe; John Roe", ("Jane Doe", "John Roe")),
        ("<a href='/j'>Jane Doe</a> & John Roe", ("Jane Doe", "John Roe")),
        ("한지희", ("한지희",)),
    ],
)
def test_names_of_authors(said: str, found: tuple[str, ...]) -> None:
    assert bylines.names([said]) == found


# --- enemies ---


@pytest.mark.parametrize(
    "markup",
    [
        "<article>" + "<p>a b c</p>" * 60_000,
        "<article><p>" + "<span>word</span> " * 60_000,
        "<article>" + "<h3>word</h3> word " * 40_000,
        "<article>" + "<p><span>" * 5_000 + SENTENCE,
        "<article>" + "<table><tr><td>" * 5_000 + SENTENCE,
        "<article><p>" + "x" * 5_000_000,
        '<script type="application/ld+json">{"@type":"Article","articleBody":"' + "<div>" * 60_000 + '"}</script>',
        "<p>\0</p>" * 1_000,
        "<article>" + "<div><p><a href='/x'>link</a></p>" * 200 + f"<p>{SENTENCE * 50}</p>" * 500,
    ],
    ids=["paragraphs", "spans", "headings", "deep", "tables", "letters", "body", "zeros", "nested"],
)
def test_hostile_pages_cost_bounded_time(markup: str) -> None:
    """What takes trafilatura minutes is cut down before."""
    began = time.process_time()
    read(Page.of('<meta property="og:type" content="article">' + markup, URL))
    assert time.process_time() - began < 40


@pytest.mark.parametrize(
    "head",
    [
        ld(**{"@type": "Article", "headline": 5, "author": {"name": ["x", {}]}, "image": [[]], "keywords": {"a": 1}}),
        ld(**{"@type": "Article", "headline": ["A b", "C"], "author": [[], None, 7], "datePublished": [None, "x", 3]}),
        ld(**{"@type": ["Article", None], "mainEntityOfPage": {"@id": 9}, "inLanguage": [{}], "articleBody": ["x"]}),
        '<meta property="og:image" content="javascript:alert(1)"><meta name="date" content="99999999999999">',
        '<meta property="og:title" content="|"><meta name="author" content="' + "a, b and " * 5_000 + '">',
    ],
)
def test_what_is_said_wrongly_is_left_out(head: str) -> None:
    """Nothing a page says makes a parser raise."""
    found = one(page(head))
    assert found.body == "\n".join(PARAGRAPHS)
    assert found.image is None
    assert found.published is None


def test_wild_pages_are_read_without_a_word() -> None:
    """Whatever is in the fixtures, articles or not: nothing is raised, and what is found is an article."""
    pages = [path for path in sorted(corpora("fixtures").rglob("*.html")) if path.stat().st_size < 130_000]
    assert len(pages) > 40
    for path in pages[::2]:
        for found in read(Page.of(path.read_bytes(), URL)):
            assert found.body


def test_nothing_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """What trafilatura thinks of a page is its own business."""
    with caplog.at_level(logging.DEBUG):
        read(Page.of("<html><body><p>x</p></body></html>", URL))
        read(page())
    assert not caplog.records
