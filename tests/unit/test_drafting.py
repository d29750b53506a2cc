"""What repeats on a page, what its fields are called, where it goes on; and the scrapers that are made of it."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gossamer import Page, Request, draft_text, drafting, plugins, registry
from gossamer.parse import near, pager, repeats
from gossamer.parse.repeats import Block
from gossamer.values import Item

LAMPS = [
    ("Brass reading lamp", "/lamps/brass", "€49.50", "2026-01-05", ["brass", "desk"]),
    ("Paper moon", "/lamps/moon", "€1,250.80", "2026-02-11", ["paper"]),
    ("Harbour lantern", "/lamps/harbour", "€88.25", "2026-02-28", ["iron", "outdoor", "desk"]),
    ("Tin torch", "/lamps/tin", "€9.90", "2026-03-02", ["tin"]),
]
MENU = (
    '<nav><ul class="menu">'
    + "".join(f'<li><a href="/{w}">{w}</a></li>' for w in ("home", "shop", "help", "terms"))
    + "</ul></nav>"
)


def _lamp(name: str, href: str, price: str, date: str, tags: list[str]) -> str:
    return (
        f'<li class="col-md-4 lamp"><h3><a href="{href}">{name}</a></h3><img class="thumb" src="{href}.jpg">'
        f'<p class="price_now">{price}</p><time datetime="{date}">some time ago</time>'
        f'<p class="tags">{"".join(f"<a class=tag href=/t/{tag}>{tag}</a>" for tag in tags)}</p>'
        '<button class="buy">Add to basket</button></li>'
    )


def _page(main: str, url: str = "https://shop.example/lamps?page=1") -> Page:
    return Page.of(f"<title>Lamps</title><body>{MENU}<main>{main}</main><footer>Fine lamps</footer></body>", url)


SHOP = _page(
    f'<h1>Lamps</h1><ul class="row">{"".join(_lamp(*lamp) for lamp in LAMPS)}</ul>'
    '<ul class="pagination"><li>1</li><li><a href="?page=2">2</a></li>'
    '<li class="next"><a href="?page=2">Next ›</a></li></ul>'
)


def _best(page: Page) -> Block:
    return repeats.blocks(page)[0]


def _fields(block: Block) -> dict[str, str]:
    return {slot.name: f"{slot.selector}|{slot.take}" for slot in block.slots}


# --- what repeats ---


def test_the_entries_of_a_listing_are_found_with_their_fields_named() -> None:
    block = _best(SHOP)
    assert (block.selector, block.count) == ("li.lamp", 4)
    assert _fields(block) == {
        "title": "h3 a|text",
        "url": "h3 a|href",
        "image": "img.thumb|src",
        "price": "p.price_now|text",
        "date": "time|datetime",
        "tags": "a.tag|text",
    }
    assert {slot.name: slot.clean for slot in block.slots if slot.clean} == {
        "url": "url",
        "image": "url",
        "price": "money",
        "date": "date",
    }
    assert [slot.name for slot in block.slots if slot.many] == ["tags"]


def test_a_menu_is_not_what_a_person_comes_for() -> None:
    assert "menu" not in _best(SHOP).selector
    assert not [
        block for block in repeats.blocks(_page("<h1>One lamp</h1>" + "<p>It shines.</p>")) if block.score > 2.5
    ]


def test_entries_without_a_class_are_found_by_what_they_stand_in() -> None:
    rows = "".join(f"<li><a href='/{n}'>Report {n}</a> <em>{n} pages</em></li>" for n in range(5))
    block = _best(_page(f"<ol id='reports'>{rows}</ol>"))
    assert (block.selector, block.count) == ("#reports > li", 5)
    assert _fields(block) == {"title": "a|text", "url": "a|href", "text": "em|text"}


def test_rows_of_a_table_are_named_by_its_header() -> None:
    rows = "".join(f"<tr><td><a href='/{n}'>Town {n}</a></td><td>{n}00</td></tr>" for n in range(1, 6))
    block = _best(_page(f"<table class='towns'><tr><th>Town</th><th>People (2026)</th></tr>{rows}</table>"))
    assert (block.selector, block.count) == ("table.towns tr:has(td)", 5)
    assert {"town", "people_2026"} <= set(_fields(block))


def test_a_link_around_an_entry_is_its_url() -> None:
    cards = "".join(f"<a class='card' href='/{n}'><h2>Card {n}</h2><p>About {n}</p></a>" for n in range(4))
    block = _best(_page(f"<div>{cards}</div>"))
    assert block.selector == "a.card"
    assert _fields(block) == {"title": "h2|text", "url": "|href", "text": "p|text"}


def test_a_title_that_was_cut_is_read_where_it_is_whole() -> None:
    names = [f"A very long name of the book number {n}" for n in range(4)]
    entries = "".join(
        f"<article class='book'><h3><a href='/{n}' title='{n}'>{n[:12]}...</a></h3></article>" for n in names
    )
    assert _fields(_best(_page(entries)))["title"] == "h3 a|title"


def test_pictures_that_are_loaded_late_are_found_where_their_address_waits() -> None:
    entries = "".join(
        f"<article class='pic'><h3>Nr {n}</h3><img src='data:image/gif;x' data-src='/{n}.jpg'></article>"
        for n in range(4)
    )
    assert _fields(_best(_page(entries)))["image"] == "img|data-src"


def test_what_a_page_says_twice_for_narrow_screens_is_said_once() -> None:
    entries = "".join(
        f"<div class='job'><a class='name wide' href='/{n}'>Job {n}</a>"
        f"<a class='name narrow' href='/{n}?m'>Job {n}</a></div>"
        for n in range(4)
    )
    block = _best(_page(entries))
    assert [(slot.name, slot.many) for slot in block.slots] == [("title", False), ("url", False)]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<p>",
        "<div class='a'>" * 5000,
        "<li class='" + "x " * 3000 + "'>a</li>" * 3,
        "".join(f"<div class='c{n % 700} d'><p class='e{n}'>{n}</p></div>" for n in range(8000)),
        "<ul>" + "<li class=x><a href=/1>1</a>" * 20_000,
        "<table>" + "<tr>" + "<td>1" * 300 + "</tr>" * 200,
    ],
    ids=["empty", "tiny", "deep", "classes", "variety", "long", "wide"],
)
def test_hostile_pages_are_looked_at_in_bounded_time(body: str) -> None:
    page = Page.of(body)
    began = time.monotonic()
    repeats.blocks(page)
    pager.next_links(page)
    assert time.monotonic() - began < 8


# --- the way on ---


@pytest.mark.parametrize(
    ("html", "selector"),
    [
        ('<a rel="next" href="/2">on</a>', "a[rel~=next]"),
        ('<head><link rel="next" href="/2"></head>', "link[rel~=next]"),
        ('<li class="next"><a href="/2">x</a></li>', "li.next a"),
        ('<a class="btn next-page" href="/2">x</a>', "a.next-page"),
        ('<a aria-label="Next page" href="/2">x</a>', 'a[aria-label="Next page"]'),
        ('<div class="pager"><a href="/2">»</a></div>', "div.pager a"),
        ('<a class="more" href="/2">Older posts</a>', "a.more"),
        ('<nav class="pagination"><a href="/1">1</a><a href="/2">2</a></nav>', "nav.pagination a"),
        ('<a class="next" href="#">Next</a>', None),
        ('<a class="next" href="https://other.example/">Next</a>', None),
        ('<a href="/2">2</a> <a href="/3">3</a>', None),
        ("<ul>" + "<li><a class=item href=/2>Next</a></li>" * 9 + "</ul>", None),
        ("<p>no more</p>", None),
    ],
)
def test_the_link_to_the_next_page_is_found(html: str, selector: str | None) -> None:
    page = Page.of(html, "https://a.org/1")
    assert pager.next_links(page) == selector
    if selector:
        assert Request("https://a.org/2") in page.follow(page.css(selector))


# --- scrapers made of it ---


def _sketch(page: Page) -> drafting.Sketch:
    return drafting.sketch(page, plugins.parsers().values())


def _drafted(page: Page, tmp_path: Path, ending: str) -> list[Any]:
    """What a scraper gives for the page it was made from."""
    make = draft_text.python if ending == "py" else draft_text.toml
    (tmp_path / f"drafted.{ending}").write_text(make("drafted", _sketch(page)), "utf-8")
    found = registry.find(f"drafted.{ending}")
    return list(found.scraper().parse(page))


@pytest.mark.parametrize("ending", ["py", "toml"])
def test_a_draft_gives_what_is_on_its_page_and_goes_on(tmp_path: Path, ending: str) -> None:
    *lamps, onward = _drafted(SHOP, tmp_path, ending)
    assert onward == Request("https://shop.example/lamps?page=2")
    amounts = ["49.50", "1250.80", "88.25", "9.90"]
    for lamp, (name, href, _, date, tags), amount in zip(lamps, LAMPS, amounts, strict=True):
        money = lamp.pop("price")
        assert (money["amount"] if isinstance(money, dict) else money.amount) == amount
        assert lamp == {
            "title": name,
            "url": f"https://shop.example{href}",
            "image": f"https://shop.example{href}.jpg",
            "date": date,
            "tags": tags,
        }


ROWS = [{"id": n, "name": f"Lamp {n}", "maker": {"name": "Ada"}, "odd key": n} for n in range(3)]


@pytest.mark.parametrize("ending", ["py", "toml"])
@pytest.mark.parametrize(
    ("answer", "onward"),
    [
        ({"page": 1, "lamps": ROWS, "next": "/lamps?page=2"}, "https://a.org/lamps?page=2"),
        ({"data": {"lamps": ROWS}, "links": {"next": {"href": "?page=2"}}}, "https://a.org/lamps?page=2"),
        ({"tags": [{"id": 1}], "lamps": ROWS, "next": None}, None),
        (ROWS, None),
    ],
)
def test_a_draft_of_json_gives_its_rows(tmp_path: Path, ending: str, answer: Any, onward: str | None) -> None:
    import json

    page = Page.of(json.dumps(answer), "https://a.org/lamps?page=1", "application/json")
    rows = [dict(each) if isinstance(each, dict) else each for each in _drafted(page, tmp_path, ending)]
    assert rows == [*ROWS, *([Request(onward)] if onward else [])]
    assert registry.find(f"drafted.{ending}").scraper.key == "id"


def test_a_draft_of_json_counts_pages_where_the_answer_does(tmp_path: Path) -> None:
    body = '{"page": 2, "has_next": true, "quotes": [{"text": "x"}, {"text": "y"}]}'
    page = Page.of(body, "https://a.org/api?page=2", "application/json")
    assert _drafted(page, tmp_path, "py")[-1] == Request("https://a.org/api?page=3")
    assert _drafted(page, tmp_path, "toml") == [{"text": "x"}, {"text": "y"}]


def test_one_record_of_json_is_one_item(tmp_path: Path) -> None:
    page = Page.of('{"name": "Ada", "born": 1815}', "https://a.org/ada", "application/json")
    assert _drafted(page, tmp_path, "py") == [{"name": "Ada", "born": 1815}]
    assert [dict(each) for each in _drafted(page, tmp_path, "toml")] == [{"name": "Ada", "born": 1815}]


PRODUCT = (
    '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product", "name": "Lamp", '
    '"offers": {"@type": "Offer", "price": "9.50", "priceCurrency": "EUR"}}</script><h1>Lamp</h1>'
)


@pytest.mark.parametrize("ending", ["py", "toml"])
def test_a_page_that_says_what_it_is_gets_the_parser_for_it(tmp_path: Path, ending: str) -> None:
    page = _page(PRODUCT, "https://shop.example/lamp")
    assert _sketch(page).parser == "product"
    (item,) = _drafted(page, tmp_path, ending)
    assert isinstance(item, Item)
    assert (item.record()["name"], item.record()["price"]) == ("Lamp", "9.50")


def test_a_listing_counts_more_than_a_type_that_a_page_only_names() -> None:
    entries = "".join(_lamp(*lamp) for lamp in LAMPS * 2)
    named = '<meta property="og:type" content="product">'
    assert _sketch(_page(f"{named}<h1>Lamps</h1><ul>{entries}</ul>")).block is not None
    assert _sketch(_page(f"{PRODUCT}<ul>{entries}</ul>")).parser == "product"


def test_an_article_that_does_not_say_so_is_one_all_the_same() -> None:
    text = "".join(
        f"<p>Paragraph {n} tells at some length how a lamp is made, and by whom, and for whom.</p>" for n in range(30)
    )
    assert _sketch(_page(f"<article><h1>How lamps are made</h1>{text}</article>")).parser == "article"
    assert _sketch(_page("<h1>Hm</h1><p>Nothing much.</p>")).parser == "generic"


def test_a_feed_gets_the_parser_for_feeds(tmp_path: Path) -> None:
    rss = "<rss version='2.0'><channel><title>t</title><item><title>a</title><link>https://a.org/1</link></item></channel></rss>"
    page = Page.of(rss, "https://a.org/feed", "application/rss+xml")
    assert _sketch(page).parser == "feeds"
    assert [item.record()["title"] for item in _drafted(page, tmp_path, "py")] == ["a"]


def test_advertisements_between_the_entries_are_left_out() -> None:
    entries = [_lamp(*lamp) for lamp in LAMPS * 2]
    entries.insert(2, '<li class="lamp"><p class="ad">Buy curtains</p></li>')
    block = _sketch(_page(f"<ul>{''.join(entries)}</ul>")).block
    assert block is not None
    assert (block.selector, block.count) == ("li.lamp:has(h3 a)", 8)


def test_names_of_an_enemys_page_stay_texts(tmp_path: Path) -> None:
    evil = 'x"]); import os; os._exit(7) #'
    page = Page.of(
        f'{{"{evil.replace(chr(34), chr(92) + chr(34))}": [{{"a\\nb = 1": 1, "id": 2}}]}}',
        "https://a.org/",
        "application/json",
    )
    assert _drafted(page, tmp_path, "py") == [{"a\nb = 1": 1, "id": 2}]
    assert [dict(each) for each in _drafted(page, tmp_path, "toml")] == [{"id": 2}]
    url = 'https://a.org/"""+exit(7)+"""?q=\'"%22'
    sketch = drafting.Sketch(url, parser="tables")
    compile(draft_text.python("x", sketch), "x.py", "exec")
    assert tomllib.loads(draft_text.toml("x", sketch))["start_urls"] == [url]


@pytest.mark.parametrize(
    ("name", "made"), [("books", "Books"), ("a.b-c", "ABC"), ("24h", "Scraper24h"), ("scraper", "ScraperScraper")]
)
def test_a_scrapers_name_makes_a_class(name: str, made: str) -> None:
    assert draft_text.class_name(name) == made


@pytest.mark.parametrize("ending", ["py", "toml"])
def test_a_template_is_a_scraper(tmp_path: Path, ending: str) -> None:
    make = draft_text.python if ending == "py" else draft_text.toml
    (tmp_path / f"mine.{ending}").write_text(make("mine", None))
    scraper = registry.find(f"mine.{ending}").scraper
    page = Page.of("<h1>Hi</h1><a class=next href=/2>", "https://a.org/")
    record, onward = scraper().parse(page)
    assert (scraper.name, dict(record)) == ("mine", {"url": "https://a.org/", "title": "Hi"})
    assert onward == Request("https://a.org/2")


# --- what is near a selector that finds nothing ---


@pytest.mark.parametrize(
    ("selector", "told"),
    [
        ("div.quote span.txt", "div.quote matches 2, span.txt none (there is span.text)"),
        ("div.qoute > b", "div.qoute none (there is div.quote), b none"),
        (".quote .text::attr(href)", ".quote matches 2, .text matches 2, but without the attribute href"),
        ("article", ""),
        ("a:not(.x, [y='(']) i", "a:not(.x, [y='(']) matches 1, i none"),
    ],
)
def test_the_parts_of_a_selector_that_match_are_counted(selector: str, told: str) -> None:
    page = Page.of(
        "<div class=quote><span class=text>a</span></div><div class=quote><span class=text>b</span></div><a href=x>"
    )
    assert near.css(page, selector) == told


def test_the_beginning_of_an_xpath_that_matches_is_told() -> None:
    page = Page.of("<div class=quote><p>x</p></div>")
    assert near.xpath(page, "//div[@class='quote']/p/b") == "//div[@class='quote']/p matches 1"
    assert near.xpath(page, "//table//tr") == ""
