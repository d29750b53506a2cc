"""Extraction as data: what rules find, and how they are refused."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import msgspec
import pytest

from gossamer import ConfigError, Page, ReadError, Request, Response
from gossamer.parse import pipes, sources
from gossamer.parse.records import Record
from gossamer.parse.rules import Rules
from gossamer.values import Headers, Lacking

SHOP = """<html lang="en-GB"><head><title>Loom shop</title><base href="/shop/"></head><body>
<h1>Threads</h1>
<article class="thread" data-sku="A1">
  <h2>Red <b>silk</b></h2><a href="red.html">more</a>
  <p class="price">£ 1,200.50</p><p class="old">£1,300</p>
  <span class="tag">soft</span><span class="tag"> red </span><span class="tag">soft</span>
  <time>03/04/2024</time><p class="seller"><b>Ann</b> <i>Leeds</i></p>
  <ul><li>10 m<em>5.00</em></li><li>20 m<em>9.00</em></li></ul>
</article>
<article class="thread" data-sku="A2"><h2>Hemp</h2><p class="cost">12</p></article>
<table><tr class="row"><td>one</td><td>1</td></tr><tr class="row"><td>two</td><td>2</td></tr></table>
<script id="state">window.first = []; window.state = {"things": [{"n": 1, "of": {"x": "a"}}, {"n": 2}]};</script>
<script type="application/ld+json">{"name": "X", "offers": [{"price": 5}, {"price": 6}]}</script>
<li class="next"><a href="2.html">next</a></li>
</body></html>"""
API = '{"page": 2, "next": null, "threads": [{"id": 7, "name": "Red", "tags": ["a", "b"], "made": 1709632272}]}'


@pytest.fixture
def page() -> Page:
    return Page.of(SHOP, url="https://loom.example/shop/list.html")


def of_json(text: str = API) -> Page:
    return Page.of(text, url="https://loom.example/api", content_type="application/json")


def one(page: Page, rule: Any, each: str | None = "article") -> Any:
    """What a field holds in the first record."""
    rules = {"fields": {"x": rule, "there": "regex:."}, **({"each": each} if each else {})}
    found = Rules.of(rules).read(page)
    return found[0]["x"] if found else None  # type: ignore[index]


# -- where values come from ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("h2", "Red silk"),
        ("h2::text", "Red"),
        ("css:h2", "Red silk"),
        ("css: h2 b", "silk"),
        ("::attr(data-sku)", "A1"),
        ("a::attr(href)", "red.html"),
        ("a::attr(href) | url", "https://loom.example/shop/red.html"),
        ("xpath://h2/b", "silk"),
        ("xpath:./@data-sku", "A1"),
        ("xpath:count(.//li)", "2"),
        ("xpath://h2/b | //i", "silk"),
        ("xpath://h2/b | //i | upper", "SILK"),
        ("regex:£([\\d,]+)", "1,300"),
        ("regex:data-\\w+", "data-sku"),
        ("page:url", "https://loom.example/shop/list.html"),
        ("page:title", "Loom shop"),
        ("page:language", "en-GB"),
        ("page:status", 200),
        ("page:depth", 0),
        ("page:fetched", None),
        ({"css": "h2"}, "Red silk"),
        ({"xpath": "//i"}, "Leeds"),
        ({"regex": "£(\\d)"}, "1"),
        ({"page": "title"}, "Loom shop"),
        ({"value": "GBP"}, "GBP"),
        ({"value": {"a": [1, None]}}, {"a": [1, None]}),
        ({"value": "1,5", "type": "number"}, 1.5),
        ({"from": "h2 | lower"}, "red silk"),
        ({"json": "name", "script": "script[type*=ld]"}, "X"),
        ({"json": "$..price", "script": "script", "list": True}, [5, 6]),
        ({"json": "things[*].n", "script": "#state", "list": True}, [1, 2]),
        ("ul", "10 m5.00 20 m9.00"),
        (".seller", "Ann Leeds"),
        ("no-such-thing", None),
        ("json:$.a", None),
        ("xpath://nothing", None),
        ("regex:nothing", None),
    ],
)
def test_a_field_stands_somewhere(page: Page, rule: Any, value: Any) -> None:
    found = one(page, rule)
    assert found == value
    assert one(page, rule, each="xpath://article") == value


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        (["h9", ".cost", ".price"], "£ 1,200.50"),
        (["h9 | money", "xpath://p[@class='price'] | money"], {"amount": "1200.50", "currency": "GBP"}),
        ({"css": [".cost", ".old"], "type": "number"}, 1300),
        ({"from": ["h9", "xpath://i"], "type": "text"}, "Leeds"),
        ({"css": ["h9", "h8"], "default": "none"}, "none"),
        ({"css": "h2", "default": "none"}, "Red silk"),
        ({"css": ".price", "type": "date"}, None),
        ({"css": ["h2", ".price"], "type": "money"}, {"amount": "1200.50", "currency": "GBP"}),
    ],
)
def test_the_first_source_that_gives_something_wins(page: Page, rule: Any, value: Any) -> None:
    assert one(page, rule) == value


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ({"css": ".tag", "list": True}, ["soft", "red", "soft"]),
        ({"css": ".tag", "list": True, "clean": "unique"}, ["soft", "red"]),
        ({"css": ".tag", "clean": "unique | join(', ')"}, "soft, red"),
        ({"css": ".nothing", "list": True}, []),
        ({"css": ".nothing", "list": True, "default": ["x"]}, ["x"]),
        ({"css": "em", "list": True, "type": "number"}, [5.0, 9.0]),
        ({"css": ".tag, em", "list": True, "type": "number"}, [5.0, 9.0]),
        (".tag | last", "soft"),
        (".tag | first | upper", "SOFT"),
        (".tag | exists", True),
        (".nothing | exists", False),
        (".nothing | default('x')", "x"),
        (".nothing | default(0)", 0),
        ({"value": "a;b;;c", "list": True, "clean": "split(';')"}, ["a", "b", "c"]),
        ({"value": "a\nb", "list": True, "clean": "split('\\n')"}, ["a", "b"]),
        ("h2 | contains('SILK')", True),
        ("h2 | contains('wool')", False),
    ],
)
def test_lists(page: Page, rule: Any, value: Any) -> None:
    assert one(page, rule) == value


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ({"css": "h2", "type": "html"}, "<h2>Red <b>silk</b></h2>"),
        ("h2 | html | replace('h2', 'h3')", "<h3>Red <b>silk</b></h3>"),
        ("xpath://h2 | html", "<h2>Red <b>silk</b></h2>"),
        ("h2 | html | text", "Red silk"),
        ({"css": ".price", "type": "number"}, 1200.5),
        ({"value": "1.234", "clean": "number(',')"}, 1234),
        ({"css": "em", "type": "integer"}, 5),
        ({"value": "1.2K", "type": "count"}, 1200),
        ("time | date", "2024-04-03"),
        ("time | date('MDY')", "2024-03-04"),
        ({"css": "time", "clean": 'moment("MDY")'}, "2024-03-04"),
        ({"value": "yes", "type": "boolean"}, True),
        ({"value": "mailto:ann@loom.example", "type": "email"}, "ann@loom.example"),
        ({"value": "12", "clean": 'money("EUR")'}, {"amount": "12", "currency": "EUR"}),
        ({"value": '{"a": {"b": 2}}', "type": "json"}, {"a": {"b": 2}}),
        ({"value": '{"a": {"b": 2}}', "clean": "json('$.a.b')"}, 2),
        ({"value": "no json", "clean": "json('$.a.b')"}, None),
        ({"value": "by Ann | Blog", "clean": "after('by ') | before(' | ')"}, "Ann"),
        ({"value": "x (it's)", "clean": r"""regex("\((it's)\)") | title"""}, "It's"),
        ({"value": "a-b", "clean": r"regex('(\w)-(\w)', 2)"}, "b"),
        ({"value": " –a– ", "clean": "strip('–')"}, "a"),
        ({"value": 'say "hi"', "clean": r"""replace("\"", "'")"""}, "say 'hi'"),
        ({"value": "a,b", "clean": "replace(',')"}, "ab"),
    ],
)
def test_cleaning(page: Page, rule: Any, value: Any) -> None:
    assert one(page, rule) == value


def test_relative_dates_count_from_when_the_page_was_fetched() -> None:
    html = Headers([("content-type", "text/html")])
    page = Page(Request("https://a.org/"), Response("https://a.org/", 200, html, b"<p>yesterday", 1_709_632_272.0, 0.1))
    assert one(page, "p | date", each=None) == "2024-03-04"
    assert one(page, ["p | date", "page:fetched"], each="body") == "2024-03-04"
    assert one(page, "page:fetched", each="body") == "2024-03-05T09:51:12+00:00"


# -- records ---------------------------------------------------------------------------------------------------


def test_a_record_for_each_match_and_every_field_in_it(page: Page) -> None:
    rules = Rules.of({"each": "article", "fields": {"name": "h2", "tags": {"css": ".tag", "list": True}, "by": ".by"}})
    assert rules.read(page) == [
        {"name": "Red silk", "tags": ["soft", "red", "soft"], "by": None},
        {"name": "Hemp", "tags": [], "by": None},
    ]


def test_without_each_the_page_is_one_record(page: Page) -> None:
    rules = Rules.of({"fields": {"title": "h1", "next": ".next a::attr(href) | url", "url": "page:url"}})
    assert rules.read(page) == [
        {"title": "Threads", "next": "https://loom.example/shop/2.html", "url": "https://loom.example/shop/list.html"}
    ]
    assert rules.read(Page.of("<p>nothing of the kind")) == []


@pytest.mark.parametrize("each", ["tr.row", "xpath://tr", "xpath://tr[@class='row']"])
def test_rows_of_a_table_are_read_by_either_language(page: Page, each: str) -> None:
    fields = {"name": "td", "n": "xpath:./td[2] | integer", "m": "td:nth-child(2) | integer"}
    assert Rules.of({"each": each, "fields": fields}).read(page) == [
        {"name": "one", "n": 1, "m": 1},
        {"name": "two", "n": 2, "m": 2},
    ]


def test_a_match_in_which_nothing_is_found_is_no_record(page: Page) -> None:
    assert Rules.of({"each": "td, tr", "fields": {"b": "b", "url": "page:url"}}).read(page) == []
    every = Rules.of({"each": "td", "fields": {"url": "page:url"}}).read(page)
    assert every == [{"url": page.url}] * 4


def test_records_inside_of_records(page: Page) -> None:
    fields = {
        "seller": {"css": ".seller", "fields": {"name": "b", "city": "i"}},
        "sizes": {"each": "li", "fields": {"size": "::text", "price": {"css": "em", "type": "number"}}},
        "firsts": {"css": "li", "list": True, "fields": {"price": "em"}},
        "here": {"fields": {"sku": "::attr(data-sku)"}},
        "stock": {"css": ".stock", "fields": {"left": "b"}},
    }
    first, second = Rules.of({"each": "article", "fields": fields}).read(page)
    assert first == {
        "seller": {"name": "Ann", "city": "Leeds"},
        "sizes": [{"size": "10 m", "price": 5.0}, {"size": "20 m", "price": 9.0}],
        "firsts": [{"price": "5.00"}, {"price": "9.00"}],
        "here": {"sku": "A1"},
        "stock": None,
    }
    assert second == {"seller": None, "sizes": [], "firsts": [], "here": {"sku": "A2"}, "stock": None}


def test_a_record_that_lacks_a_required_field_is_kept_apart_with_what_it_lacks(page: Page) -> None:
    fields = {"name": {"css": "h2", "required": True}, "price": {"css": ".price", "type": "money", "required": True}}
    good, bad = Rules.of({"each": "article", "kind": "thread", "fields": fields}).read(page)
    assert good == {"name": "Red silk", "price": {"amount": "1200.50", "currency": "GBP"}}
    assert isinstance(bad, Lacking)
    assert (bad.record, bad.missing, bad.kind) == ({"name": "Hemp", "price": None}, ("price",), "thread")


def test_what_is_missing_inside_is_named_by_its_path(page: Page) -> None:
    fields = {
        "seller": {"css": ".seller", "fields": {"phone": {"css": ".phone", "required": True}}},
        "sizes": {"each": "li", "fields": {"x": {"css": "u", "required": True}}},
        "tags": {"css": ".none", "list": True, "required": True},
    }
    (first, second) = Rules.of({"each": "article", "fields": fields}).read(page)
    assert isinstance(first, Lacking)
    assert first.missing == ("seller.phone", "sizes[0].x", "sizes[1].x", "tags")
    assert isinstance(second, Lacking)
    assert second.missing == ("tags",)


def test_a_page_that_is_one_record_lacks_what_it_lacks() -> None:
    rules = Rules.of({"fields": {"title": {"css": "h1", "required": True}}})
    (found,) = rules.read(Page.of("<p>x"))
    assert isinstance(found, Lacking)
    assert found.reason == "it has no title"


def test_several_kinds_on_one_page(page: Page) -> None:
    rules = Rules.of(
        {
            "items": [
                {"kind": "thread", "each": "article", "key": "sku", "fields": {"sku": "::attr(data-sku)"}},
                {"kind": "row", "each": "tr", "fields": {"name": "td"}},
                {"each": "json:things[*]", "script": "#state", "fields": {"n": "json:n", "x": "json:of.x"}},
            ]
        }
    )
    found = rules.read(page)
    assert found == [
        {"sku": "A1"},
        {"sku": "A2"},
        {"name": "one"},
        {"name": "two"},
        {"n": 1, "x": "a"},
        {"n": 2, "x": None},
    ]
    told = [(record.kind, record.key) if isinstance(record, Record) else None for record in found]
    assert told == [("thread", ("sku",))] * 2 + [("row", None)] * 2 + [None] * 2
    assert msgspec.json.encode(found[0]) == b'{"sku":"A1"}'


# -- JSON ------------------------------------------------------------------------------------------------------


def test_a_body_of_json_keeps_its_types() -> None:
    fields = {
        "id": "json:$.id",
        "name": "json:name | upper",
        "tags": {"json": "tags", "list": True},
        "every": {"json": "tags[*]", "list": True},
        "raw": "json:tags",
        "made": "json:made | date",
        "page": "page:url",
        "html": "h1",
    }
    assert Rules.of({"each": "json:$.threads[*]", "fields": fields}).read(of_json()) == [
        {
            "id": 7,
            "name": "RED",
            "tags": ["a", "b"],
            "every": ["a", "b"],
            "raw": ["a", "b"],
            "made": "2024-03-05",
            "page": "https://loom.example/api",
            "html": None,
        }
    ]


def test_html_inside_of_json_is_read_by_css_and_xpath() -> None:
    page = of_json('{"rows": ["<li><b>a</b></li>", "<li><b>c</b></li>", 5, null]}')
    rules = Rules.of({"each": "json:rows[*]", "fields": {"x": "b", "y": "xpath://b", "z": "regex:<b>(.)"}})
    assert rules.read(page) == [
        {"x": "a", "y": "a", "z": "a"},
        {"x": "c", "y": "c", "z": "c"},
    ]


@pytest.mark.parametrize(
    "script",
    [
        '{"a": [1, 2]}',
        'window.__STATE__ = {"a": [1, 2]};',
        'var x = [], y = {}; self.push({"a": [1, 2]})',
        "<!-- \n" + '{"a": [1, 2]}' + "\n-->",
    ],
)
def test_json_is_found_inside_of_scripts(script: str) -> None:
    page = Page.of(f"<script>{script}</script><p>x")
    assert one(page, {"json": "a[*]", "script": "script", "list": True}, each=None) == [1, 2]


@pytest.mark.parametrize("script", ["", "no json", "[[[[", '{"a": ', "{" * 50_000, "[" * 50_000, '"a"', "7"])
def test_a_script_without_json_gives_nothing(script: str) -> None:
    page = Page.of(f"<script>{script}</script><p>x")
    assert one(page, {"json": "$..a", "script": "script"}, each="p") is None


def test_xml_is_read_by_xpath_and_css() -> None:
    feed = "<?xml version='1.0'?><rss><channel><item><title>A &amp; B</title><id>7</id></item></channel></rss>"
    page = Page.of(feed, content_type="application/rss+xml")
    fields = {"title": "xpath:title", "id": "xpath:./id | integer", "too": "title"}
    assert Rules.of({"each": "xpath://item", "fields": fields}).read(page) == [
        {"title": "A & B", "id": 7, "too": "A & B"}
    ]
    assert Rules.of({"each": "item", "fields": fields}).read(page) == [{"title": "A & B", "id": 7, "too": "A & B"}]


# -- links -----------------------------------------------------------------------------------------------------


def followed(page: Page, follow: Any, **more: Any) -> list[tuple[str, str]]:
    pages = {"thread": {"fields": {"name": "h1"}}}
    requests = Rules.of({"fields": {"x": "h1"}, "follow": follow, "pages": pages, **more}).follow(page)
    return [(request.url, request.handler) for request in requests]


def test_links_are_followed_each_once(page: Page) -> None:
    two = ("https://loom.example/shop/2.html", "parse")
    assert followed(page, ".next a") == [two]
    assert followed(page, [".next a", "a[href='2.html']::attr(href)"]) == [two, two]
    assert followed(page, "xpath://li/a") == [two]
    assert followed(page, {"css": "a", "to": "thread"}) == [
        ("https://loom.example/shop/red.html", "thread"),
        ("https://loom.example/shop/2.html", "thread"),
    ]
    assert followed(page, {"css": [".none a", ".next a"]}) == [two]
    assert followed(page, {"regex": 'href="(2[^"]+)'}) == [two]
    assert followed(page, ".none a") == []


def test_links_are_made_of_what_json_holds() -> None:
    page = of_json('{"next": "/api?page=3", "ids": [7, "a/b"], "none": null, "odd": {"a": 1}, "no": "mailto:x"}')
    assert followed(page, "json:next") == [("https://loom.example/api?page=3", "parse")]
    assert followed(page, {"json": "ids[*]", "url": "/thread/{}", "to": "thread"}) == [
        ("https://loom.example/thread/7", "thread"),
        ("https://loom.example/thread/a%2Fb", "thread"),
    ]
    for path in ("none", "odd", "no", "missing"):
        assert followed(page, f"json:{path}") == []


def test_a_page_is_read_by_the_rules_of_its_kind(page: Page) -> None:
    rules = Rules.of(
        {
            "follow": {"css": "article a", "to": "thread"},
            "pages": {"thread": {"fields": {"title": "h1"}, "follow": [".next a", {"css": "a", "to": "parse"}]}},
        }
    )
    assert rules.read(page) == []
    detail = Page(Request(page.url, to="thread"), page.response)
    assert rules.read(detail) == [{"title": "Threads"}]
    assert [request.handler for request in rules.follow(detail)] == ["thread", "parse", "parse"]


def test_what_is_followed_stays_in_its_session(page: Page) -> None:
    within = Page(Request(page.url, session="s1"), page.response)
    (request,) = Rules.of({"follow": ".next a", "fields": {"x": "h1"}}).follow(within)
    assert request.session == "s1"


# -- what cannot be used ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "complaint"),
    [
        ({"fields": {}}, "f: fields: there are no fields in it"),
        ({"fields": []}, "f: fields: [] cannot be used: write a table of fields"),
        ({"each": "p"}, "f: each: each has no fields beside it"),
        ({"feilds": {"a": "b"}}, "f: 'feilds' is no key of rules: did you mean 'fields'?"),
        ({"fields": {"a": "p["}}, "f: fields.a: 'p[' is not a CSS selector"),
        ({"fields": {"a": ""}}, "f: fields.a: '' cannot be used: write a selector"),
        ({"fields": {"a": 5}}, "f: fields.a: 5 cannot be used: write a selector, a list of selectors, or a table"),
        ({"fields": {"a": []}}, "f: fields.a: [] cannot be used: write a selector, a list"),
        ({"fields": {"a": ["p", 5]}}, "f: fields.a: ['p', 5] cannot be used"),
        ({"fields": {"": "p"}}, "f: fields: the name '' cannot be used"),
        ({"fields": {7: "p"}}, "f: fields: the name 7 is no text"),
        ({"fields": {"a": "xpath://p["}}, "f: fields.a: '//p[' is not an XPath expression"),
        ({"fields": {"a": "json:$["}}, "f: fields.a: '$[' is not a JSONPath"),
        ({"fields": {"a": "regex:("}}, "f: fields.a: '(' is not a regular expression"),
        ({"fields": {"a": "page:ulr"}}, "f: fields.a: 'ulr' is nothing a page has: write one of url, title"),
        ({"fields": {"a": "p | stripp"}}, "f: fields.a: 'stripp' is no cleaner: did you mean 'strip'?"),
        ({"fields": {"a": "p | xyzzy"}}, "f: fields.a: 'xyzzy' is no cleaner: there are text, html"),
        ({"fields": {"a": "p | strip | html"}}, "html stands first"),
        ({"fields": {"a": "p | replace"}}, "f: fields.a: replace has 0 arguments: write replace(old, new)"),
        ({"fields": {"a": "p | lower(1)"}}, "lower has 1 arguments: write lower alone"),
        ({"fields": {"a": "p | before('')"}}, "before has an empty text"),
        ({"fields": {"a": "p | before(5)"}}, "before takes texts: write before(mark), with quotes"),
        ({"fields": {"a": "p | before(x)"}}, "x stands without quotes: write 'x'"),
        ({"fields": {"a": "p | regex('(')"}}, "'(' is not a regular expression"),
        ({"fields": {"a": "p | regex('a', 2)"}}, "'a' has no group 2: it has 0"),
        ({"fields": {"a": "p | date('YDM')"}}, "date('YDM') cannot be used: write one of DMY, MDY, YMD"),
        ({"fields": {"a": "p | number(';')"}}, "number takes the decimal mark"),
        ({"fields": {"a": "p | json('$[')"}}, "'$[' is not a JSONPath"),
        ({"fields": {"a": {"css": "p[", "type": "text"}}}, "f: fields.a.css: 'p[' is not a CSS selector"),
        ({"fields": {"a": {"css": "p", "clean": "| strip"}}}, "f: fields.a.clean: "),
        ({"fields": {"a": {"css": "p", "clean": "not this!"}}}, "f: fields.a.clean: 'not this!' is no cleaner"),
        ({"fields": {"a": {"css": "p", "type": "price"}}}, "f: fields.a.type: 'price' is no type: write one of text"),
        ({"fields": {"a": {"css": "p", "requird": True}}}, "'requird' is no key of a field: did you mean 'required'?"),
        ({"fields": {"a": {"css": "p", "required": "yes"}}}, "f: fields.a.required: 'yes' cannot be used: write true"),
        ({"fields": {"a": {"css": "p", "list": 1}}}, "f: fields.a.list: 1 cannot be used"),
        ({"fields": {"a": {"css": "p", "xpath": "//p"}}}, "f: fields.a: has both css and xpath"),
        ({"fields": {"a": {"list": True}}}, "f: fields.a: says nowhere where it stands"),
        ({"fields": {"a": {"x": "p"}}}, "write a record inside a record as { fields = { ... } }"),
        ({"fields": {"a": {"css": "p", "script": "script"}}}, "f: fields.a.css: script is for JSON"),
        ({"fields": {"a": {"json": "$.a", "script": "s["}}}, "f: fields.a.script: 's[' is not a CSS selector"),
        ({"fields": {"a": {"css": "p", "default": object()}}}, "f: fields.a.default: <object object"),
        ({"fields": {"a": {"each": "p"}}}, "f: fields.a.each: has no fields beside it"),
        ({"fields": {"a": {"fields": {"b": "p["}}}}, "f: fields.a.fields.b: 'p[' is not a CSS selector"),
        ({"fields": {"a": {"fields": {"b": "p"}, "type": "text"}}}, "f: fields.a.type: stands beside fields"),
        ({"fields": {"a": {"fields": {"b": "p"}, "each": "p", "css": "q"}}}, "f: fields.a.css: stands beside each"),
        ({"fields": {"a": "p"}, "each": "p["}, "f: each: 'p[' is not a CSS selector"),
        ({"fields": {"a": "p"}, "each": 5}, "f: each: 5 cannot be used: write a text"),
        ({"fields": {"a": "p"}, "each": "p", "script": "script"}, "f: script: is for JSON"),
        ({"fields": {"a": "p"}, "kind": "two words"}, "f: kind: 'two words' cannot be used: write one word"),
        ({"fields": {"a": "p"}, "key": "b"}, "f: key: 'b' is none of the fields: a"),
        ({"items": [{"each": "p"}]}, "f: items[0].fields: None cannot be used: write a table of fields"),
        ({"items": ["p"]}, "f: items[0]: 'p' cannot be used: write a table with fields"),
        ({"items": [{"fields": {"a": "p"}, "follow": "a"}]}, "f: items[0]: 'follow' is no key of items"),
        ({"follow": 5}, "f: follow: 5 cannot be used: write a selector, or a table"),
        ({"follow": ["a", "b["]}, "f: follow[1]: 'b[' is not a CSS selector"),
        ({"follow": {"css": "a", "too": "x"}}, "f: follow: 'too' is no key of follow: did you mean 'to'?"),
        ({"follow": {"css": "a", "to": "detail"}}, "f: follow.to: 'detail' is no kind of page: below pages is none"),
        ({"follow": {"json": "a", "url": "/x"}}, "f: follow.url: '/x' cannot be used: write a URL with one {}"),
        ({"pages": {"Detail": {"fields": {"a": "p"}}}}, "f: pages.Detail: cannot be used as the name"),
        ({"pages": {"parse": {"fields": {"a": "p"}}}}, "f: pages.parse: cannot be used as the name"),
        ({"pages": {"d": {"pages": {}}}}, "f: pages.d: 'pages' is no key of the rules of a page"),
        ({"pages": {"d": {"fields": {"a": "p["}}}}, "f: pages.d.fields.a: 'p[' is not a CSS selector"),
        ({"pages": []}, "f: pages: [] cannot be used: write tables of rules, by name"),
        ({"fields": {"a": "p" * 3000}}, "a selector of 3,000 letters cannot be used"),
        ([], "f: [] cannot be used: write a table of rules"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_with_its_place(rules: Any, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Rules.of(rules, where="f")
    assert complaint in str(caught.value)
    assert str(caught.value).startswith("f: ")
    assert "\n" not in str(caught.value)


def test_records_inside_of_each_other_have_a_bottom() -> None:
    rules: dict[str, Any] = {"fields": {"a": "p"}}
    for _ in range(9):
        rules = {"fields": {"a": rules}}
    with pytest.raises(ConfigError, match="deep in each other"):
        Rules.of(rules)


def test_rules_that_hold_themselves_are_refused() -> None:
    rules: dict[str, Any] = {"fields": {}}
    rules["fields"]["a"] = rules
    with pytest.raises(ConfigError, match="deep in each other"):
        Rules.of(rules)
    wide = {"fields": {f"f{n}": "p" for n in range(3_000)}}
    with pytest.raises(ConfigError, match="more than 2,000 fields"):
        Rules.of(wide)


def test_an_expression_that_fails_on_a_page_fails_that_page() -> None:
    rules = Rules.of({"fields": {"x": "xpath:count('a')"}})
    with pytest.raises(ReadError, match="cannot be used on this page"):
        rules.read(Page.of("<p>x"))


# -- hostile pages ---------------------------------------------------------------------------------------------

EVERYTHING = {
    "fields": {
        "css": {"css": "p, a", "list": True},
        "html": {"css": "p", "type": "html"},
        "xpath": {"xpath": "//p", "list": True},
        "json": {"json": "$..a", "list": True},
        "script": {"json": "$..a", "script": "script"},
        "regex": {"regex": "<(a|b)", "list": True},
        "date": {"css": "p", "type": "date"},
        "money": {"css": "p", "type": "money"},
        "title": "page:title",
        "nest": {"each": "p", "fields": {"x": "b", "y": "xpath://b"}},
    },
    "follow": ["a", "xpath://a", "json:$..a"],
}


@pytest.mark.parametrize(
    "body",
    [
        "", " ", "\x00\x00", "<", "<p", "<p>" * 2_000, "<p>x</p>" * 2_000, "<a href='" * 5_000, "<!--" * 20_000,
        "<script>" + "{" * 50_000, "<script>{\"a\":" * 2_000, "a" * 500_000, "<p>" + "1 " * 50_000,
        "<html lang='" + "x-" * 50_000 + "'>", "[" * 50_000, '{"a":' * 50_000, '{"a":' * 400 + "1" + "}" * 400,
        "<?xml version='1.0'?><p>x</p>", "<base href='javascript:x'><a href=y>", "\ud7ff" * 1_000,
    ],
    ids=lambda body: repr(body[:8]),
)  # fmt: skip
@pytest.mark.parametrize("kind", ["text/html", "application/json", "application/xml", ""])
def test_any_body_is_read_or_refused_in_good_time(body: str, kind: str) -> None:
    rules = Rules.of(EVERYTHING)
    page = Page.of(body, content_type=kind)
    began = time.process_time()
    # One of the rules wants JSON: what is none is not a page without items, but one that could not be read.
    with contextlib.suppress(ReadError):
        for record in rules.read(page):
            msgspec.json.encode(record)
        rules.follow(page)
    assert time.process_time() - began < 30


def test_the_number_of_matches_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MOST", 10)
    page = Page.of("<p>x</p>" * 50)
    assert len(Rules.of({"each": "p", "fields": {"x": "::text"}}).read(page)) == 10
    assert len(one(page, {"xpath": "//p", "list": True}, each=None)) == 10
    assert len(one(page, {"regex": "<p>", "list": True}, each=None)) == 10


def test_a_regular_expression_sees_no_more_than_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "LONGEST", 10)
    monkeypatch.setattr(pipes, "LONGEST", 3)
    assert one(Page.of("<p>x</p>" * 50), {"regex": "<p>", "list": True}, each=None) == ["<p>", "<p>"][:1]
    assert one(Page.of("<p>xxxy"), "p | regex('y')", each=None) is None


@pytest.mark.parametrize(
    "script",
    [
        '{"name": "Lamp", "offers": {"price": "9.50"},}',
        '/* shop */ {"name": "Lamp", "offers": {"price": "9.50", "tags": [1, 2,]}}',
        'window.shop = {name: "Lamp", "offers": {"price": "9.50"}};',
        '<!-- {"name": "Lamp" "offers": {"price": "9.50"}} -->',
    ],
)
def test_json_that_is_broken_is_read_as_it_was_meant(script: str) -> None:
    page = Page.of(f"<script type='application/ld+json'>{script}</script><p>x")
    rule = {"json": "$.name", "script": "script[type='application/ld+json']"}
    assert one(page, rule, each=None) == "Lamp"
    assert one(page, {**rule, "json": "$.offers.price"}, each=None) == "9.50"


def test_a_block_of_a_program_is_not_taken_for_data() -> None:
    page = Page.of('<script>{ let n = 1; window.state = {"a": [1, 2]}; }</script><p>x')
    assert one(page, {"json": "a[*]", "script": "script", "list": True}, each=None) == [1, 2]
