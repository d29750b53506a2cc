"""Which parsers there are, which one a page gets, and what a scraper that names one does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
import structlog
from structlog.testing import capture_logs

from gossamer import Item, Page, Parser, Request, Scraper, plugins, registry
from gossamer.crawler import ParsedCrawl, crawl_found, crawl_params
from gossamer.errors import ConfigError, ReadError
from gossamer.parse import parsers
from gossamer.parse.parsers import BUILTIN
from gossamer.values import Lacking

NAMES = ["article", "event", "feeds", "generic", "job", "opportunity", "product", "social", "structured", "tables"]


def _about(*things: dict[str, Any], head: str = "") -> Page:
    scripts = "".join(f'<script type="application/ld+json">{json.dumps(thing)}</script>' for thing in things)
    return Page.of(f"<head>{head}{scripts}</head><body><h1>x</h1></body>", "https://a.org/x")


def _thing(name: str, **more: Any) -> dict[str, Any]:
    return {"@context": "https://schema.org", "@type": name, "name": "x", **more}


def _chosen(page: Page, *others: Parser) -> str:
    return parsers.choose(page, [*BUILTIN.values(), *others]).name


def _fake(name: str = "fake", given: Any = (), **more: Any) -> Parser:
    return Parser(name, lambda page: given, **more)


# --- the built-in ones ---


def test_the_built_in_parsers_are_known_by_name_and_say_what_they_are_for() -> None:
    assert sorted(BUILTIN) == NAMES
    for name, parser in BUILTIN.items():
        parser.check()
        assert parser.name == name
        assert parser.about


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("body", ["", "<p>nothing here", "\x00<<<", '{"a": 1}'])
def test_every_built_in_parser_gives_a_list_for_any_page(name: str, body: str) -> None:
    assert isinstance(parsers.read(BUILTIN[name], Page.of(body)), list)


# --- choosing ---


@pytest.mark.parametrize(
    ("types", "name"),
    [
        (["Product"], "product"),
        (["ProductGroup"], "product"),
        (["JobPosting"], "job"),
        (["MusicEvent"], "event"),
        (["NewsArticle"], "article"),
        (["BlogPosting"], "article"),
        (["DiscussionForumPosting"], "social"),
        (["ProfilePage"], "social"),
        (["Organization", "WebSite", "BreadcrumbList"], "generic"),
        (["Organization", "Product"], "product"),
        (["Article", "Product"], "product"),
        ([], "generic"),
    ],
)
def test_a_page_gets_the_parser_for_what_it_says_it_is_about(types: list[str], name: str) -> None:
    assert _chosen(_about(*map(_thing, types))) == name


def test_the_outermost_things_count() -> None:
    assert _chosen(_about(_thing("Article", about=_thing("Product")))) == "article"
    assert _chosen(_about(_thing("WebPage", mainEntity=_thing("Product", review=_thing("Article"))))) == "product"


def test_og_type_decides_between_two_and_stands_in_where_there_is_none() -> None:
    both = (_thing("Article"), _thing("Product"))
    assert _chosen(_about(*both, head='<meta property="og:type" content="article">')) == "article"
    assert _chosen(_about(head='<meta property="og:type" content="product.item">')) == "product"
    assert _chosen(_about(head='<meta property="og:type" content="website">')) == "generic"


@pytest.mark.parametrize(
    ("body", "kind", "name"),
    [
        ("<rss version='2.0'><channel><item><title>x</title></item></channel></rss>", "application/rss+xml", "feeds"),
        ('{"version": "https://jsonfeed.org/version/1.1", "items": []}', "application/json", "feeds"),
        ('{"version": "https:\\/\\/jsonfeed.org\\/version\\/1.1"}', "application/feed+json", "feeds"),
        ('{"items": []}', "application/json", "generic"),
        ("%PDF-1.7", "application/pdf", "generic"),
    ],
)
def test_what_is_no_html_is_known_by_what_it_is(body: str, kind: str, name: str) -> None:
    assert _chosen(Page.of(body, content_type=kind)) == name


def test_a_url_pattern_comes_before_all_and_another_package_before_ours() -> None:
    page = _about(_thing("Product"))
    assert _chosen(page, _fake(urls=(r"a\.org/x$",))) == "fake"
    assert _chosen(page, _fake(urls=(r"b\.org",))) == "product"
    assert _chosen(page, _fake(types=("Product",))) == "fake"
    assert _chosen(_about(_thing("Recipe")), _fake(types=("Recipe",))) == "fake"


def test_a_page_of_a_million_types_is_chosen_for_in_no_time() -> None:
    many = [_thing(f"T{n}", part=[_thing("A", part=_thing("B"))] * 3) for n in range(2000)]
    assert _chosen(_about({"@graph": [*many, _thing("Product")]})) in ("product", "generic")


# --- what may be a parser ---


def _reads(page: Page) -> list[dict[str, Any]]:
    """Reads things.

    At length.
    """
    return [{"url": page.url}]


def test_a_function_is_made_a_parser() -> None:
    made = parsers.as_parser(_reads, "mine")
    assert (made.name, made.about, parsers.read(made, Page.of(""))) == (
        "mine",
        "Reads things.",
        [{"url": "https://example.org/"}],
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (7, "7 is no parser: write a function of a page, or a gossamer.Parser"),
        (dict, "<class 'dict'> is no parser"),
        (Parser("a b", _reads), "a parser cannot be called 'a b'"),
        (Parser("auto", _reads), "a parser cannot be called 'auto'"),
        (Parser("x", 3), "the parser 'x' has no function that reads a page"),  # type: ignore[arg-type]
        (Parser("x", _reads, urls=("(",)), "the parser 'x' has '(' as URL pattern: "),
        (Parser("x", _reads, types="Product"), "the types of the parser 'x' are 'Product': write a tuple"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_parser_is_refused_in_a_sentence(given: object, told: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parsers.as_parser(given, "mine")
    assert str(refused.value).startswith(told)


def test_a_parser_may_give_one_record_or_none_but_no_text() -> None:
    assert parsers.read(_fake(given={"a": 1}), Page.of("")) == [{"a": 1}]
    assert parsers.read(_fake(given=None), Page.of("")) == []
    with pytest.raises(ReadError, match="the parser 'fake' gave 'abc': it should give a list of records"):
        parsers.read(_fake(given="abc"), Page.of(""))


# --- installed packages ---

Install = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Packages as pip leaves them: `install("name = module:thing", "the module's text")`."""
    monkeypatch.syspath_prepend(tmp_path / "lib")

    def do(entry: str, text: str) -> None:
        module = entry.partition("=")[2].strip().partition(":")[0]
        folder = tmp_path / "lib" / f"{module}-1.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1\n")
        (folder / "entry_points.txt").write_text(f"[gossamer.parsers]\n{entry}\n")
        (tmp_path / "lib" / f"{module}.py").write_text(text)

    yield do
    plugins._offered.cache_clear()


def test_a_package_offers_a_parser_as_a_function_or_whole(install: Install) -> None:
    install("plain = shop_a:read", "def read(page):\n    '''Plain.'''\n    return []\n")
    whole = "from gossamer import Parser\nWHOLE = Parser('whole', lambda page: [], types=('Sofa',))\n"
    install("whole = shop_b:WHOLE", whole)
    known = registry.parsers()
    assert sorted(known) == sorted([*NAMES, "plain", "whole"])
    assert known["plain"].about == "Plain."
    assert registry.parser("whole").types == ("Sofa",)


def test_a_broken_package_costs_only_itself_and_is_told_of_once(install: Install) -> None:
    install("broken = shop_c:read", "1 / 0\n")
    install("gone = shop_d:nothing", "")
    install("odd = shop_e:ODD", "ODD = 7\n")
    install("article = shop_f:read", "def read(page): return []\n")
    install("fine = shop_g:read", "def read(page): return []\n")
    structlog.reset_defaults()  # whatever a test before this one wanted to hear
    with capture_logs() as logged:
        assert sorted(registry.parsers()) == sorted([*NAMES, "fine"])
        assert registry.parsers()["article"] is BUILTIN["article"]
    told = {line["name"]: line["why"] for line in logged}
    assert len(logged) == 4
    assert told["broken"] == ("the parser 'broken' of shop_c cannot be used: ZeroDivisionError: division by zero")
    assert told["article"] == "the parser 'article' of shop_f cannot be used: another parser has its name"
    with pytest.raises(ConfigError, match="the parser 'odd' of shop_e cannot be used: 7 is no parser"):
        registry.parser("odd")


def test_an_unknown_parser_suggests_a_near_one() -> None:
    with pytest.raises(ConfigError) as refused:
        registry.parser("artikle")
    assert str(refused.value) == "no parser is called 'artikle': did you mean 'article'?"
    with pytest.raises(ConfigError, match=r"no parser is called 'zzz': there are article, event, .*, and auto"):
        registry.parser("zzz")


# --- scrapers that name one ---

TABLE = "<table><tr><th>a</th></tr><tr><td>1</td></tr></table>"


class Lamp(msgspec.Struct):
    name: str
    url: str | None = None


def _scraper(given: Any = (), **attributes: Any) -> Scraper:
    made: Scraper = type("Lamps", (Scraper,), {"parser": _fake("lamps", given), **attributes})()
    return made


def _read(scraper: Scraper, page: Page) -> list[Any]:
    return list(scraper.parse(page))


def test_a_scraper_may_name_a_parser_and_links_instead_of_writing_parse() -> None:
    class Shop(Scraper):
        parser = "tables"
        follow = ("a.next", "a.more")

    page = Page.of(f'{TABLE}<a class="more" href="/m">m</a><a class="next" href="/2">2</a>', "https://a.org/")
    item, *links = _read(Shop(), page)
    assert (item.kind, item.key, item.record()["rows"]) == ("table", "https://a.org/|0", [{"a": "1"}])
    assert links == [Request("https://a.org/2"), Request("https://a.org/m")]
    assert Shop().handler("parse")


def test_an_item_alone_on_its_page_goes_by_its_address() -> None:
    page = Page.of("", "https://a.org/lamp?ref=mail")
    told = {
        "https://a.org/lamp": "https://a.org/lamp",
        "/lamp": "https://a.org/lamp",
        # A page may claim any address: that of another site's item is not its to take.
        "https://b.org/lamp": "https://a.org/lamp?ref=mail",
        None: "https://a.org/lamp?ref=mail",
    }
    for own, key in told.items():
        (item,) = _read(_scraper([Lamp("x", own)]), page)
        assert (item.kind, item.key) == ("lamp", key)


def test_several_items_of_a_page_are_told_apart_by_what_they_hold() -> None:
    page = Page.of("", "https://a.org/")
    first, second = _read(_scraper([Lamp("x"), Lamp("y")]), page)
    assert first.key != second.key
    assert _read(_scraper([Lamp("x"), Lamp("z")]), page)[0].key == first.key
    named = Parser("lamps", lambda page: [{"id": n, "name": "x"} for n in (1, 2)], key=("id",))
    assert [(item.kind, item.key) for item in _read(_scraper(parser=named), page)] == [("lamps", "1"), ("lamps", "2")]


def test_a_scrapers_own_key_and_kind_count() -> None:
    given = [{"name": "x"}]
    assert _read(_scraper(given, key="name"), Page.of("")) == given  # as it is: the key is taken later
    assert _read(_scraper(given, kind="light"), Page.of(""))[0].kind == "light"


def test_auto_reads_with_what_is_for_the_page_and_else_as_any_page(monkeypatch: pytest.MonkeyPatch) -> None:
    class Any_(Scraper):
        name = "any"
        parser = "auto"

    product = _about(_thing("Product", offers={"@type": "Offer", "price": "9.50", "priceCurrency": "EUR"}))
    (item,) = _read(Any_(), product)
    assert (item.kind, item.record()["price"]) == ("product", "9.50")
    # One that says it is a job, and is none, is still a page.
    (item,) = _read(Any_(), Page.of('<meta property="og:type" content="profile"><title>Hm</title><p>x'))
    assert item.kind in ("page", "social")


def test_rules_may_stand_on_the_class() -> None:
    class Quotes(Scraper):
        rules: ClassVar = {
            "items": [
                {"each": ".quote", "kind": "quote", "key": "text", "fields": {"text": ".text"}},
                {"each": ".quote", "kind": "author", "key": "name", "fields": {"name": ".author", "said": ".text"}},
            ],
            "follow": "li.next a",
        }

    page = Page.of('<div class="quote"><b class="text">Hm</b></div><li class="next"><a href="/2">', "https://a.org/")
    assert _read(Quotes(), page) == [
        Item("quote", "Hm", '{"text":"Hm"}'),
        Lacking({"name": None, "said": "Hm"}, ("name",), "author", "key"),
        Request("https://a.org/2"),
    ]


@pytest.mark.parametrize(
    ("attributes", "told"),
    [
        ({"parser": "artikle"}, "Shop.parser: no parser is called 'artikle': did you mean 'article'?"),
        ({"parser": 7}, "Shop.parser: 7 is no parser: write a function of a page, or a gossamer.Parser"),
        ({"rules": "x"}, "Shop.rules = 'x' cannot be used: write a dict of fields"),
        ({"parser": "tables", "follow": 7}, "Shop.follow = 7 cannot be used: write CSS selectors of links"),
        ({"parser": "tables", "follow": ("",)}, "Shop.follow = ('',) cannot be used: write CSS selectors of links"),
    ],
)
def test_what_cannot_be_used_is_refused_when_the_class_is_made(attributes: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as refused:
        type("Shop", (Scraper,), attributes)
    assert str(refused.value) == told


def test_a_scraper_with_a_parse_of_its_own_may_call_its_attributes_as_it_likes() -> None:
    class Own(Scraper):
        parser: ClassVar = object()
        rules = "mine"  # type: ignore[assignment]
        follow = 3  # type: ignore[assignment]

        def parse(self, page: Page) -> Any:
            yield {"x": 1}

    assert _read(Own(), Page.of("")) == [{"x": 1}]


def test_a_parse_of_its_own_may_still_ask_the_parser() -> None:
    class Both(Scraper):
        parser = "tables"

        def parse(self, page: Page) -> Any:
            yield from super().parse(page)
            yield {"x": 1}

    assert len(_read(Both(), Page.of(TABLE))) == 2


def test_a_broken_plugin_is_told_of_when_the_scraper_starts_and_not_page_by_page(install: Install) -> None:
    install("broken = shop_h:read", "1 / 0\n")

    class Shop(Scraper):
        parser = "broken"

    with pytest.raises(ConfigError, match=r"Shop\.parser: the parser 'broken' of shop_h cannot be used: ZeroDivision"):
        Shop()


# --- scrapers by file and by URL ---


def test_a_file_of_rules_is_a_scraper(tmp_path: Path) -> None:
    text = 'start_urls = ["https://a.org/"]\neach = "li"\n[fields]\ntext = "b"\n'
    (tmp_path / "list.toml").write_text(text)
    found = registry.find("list.toml")
    assert (found.scraper.name, found.ref) == ("list", f"{tmp_path}/list.toml")
    assert registry.load_all(found.ref)[0].scraper.name == "list"
    assert list(registry.registered(("list.toml",))) == ["list"]
    assert _read(found.scraper(), Page.of("<li><b>x</b>")) == [{"text": "x"}]
    with pytest.raises(ConfigError, match=r"there is no file nowhere\.yaml: check the path"):
        registry.find("nowhere.yaml")


def test_a_registered_scraper_is_found_by_url_and_the_longest_pattern_counts(tmp_path: Path) -> None:
    shops = "from gossamer import Scraper\n"
    for name, pattern in (("Wide", r"a\.org/"), ("Narrow", r"a\.org/shop/"), ("Broken", "("), ("Odd", 7)):
        shops += f"class {name}(Scraper):\n    matches = ({pattern!r},)\n"
    (tmp_path / "shops.py").write_text(shops)
    listed = ("shops.py",)
    assert registry.find("https://a.org/x", listed).scraper.__name__ == "Wide"
    assert registry.find("https://a.org/shop/1", listed).scraper.__name__ == "Narrow"
    with pytest.raises(ConfigError, match=r"no registered scraper is for https://b.org/: `gossamer list` shows them"):
        registry.find("https://b.org/", listed)


# --- gossamer crawl --parser ---


def test_a_crawl_with_a_parser_gives_its_items_and_follows_every_link() -> None:
    params, _ = crawl_params(["https://a.org/"], parser="tables")
    assert params == {"urls": ["https://a.org/"], "parser": "tables"}
    assert crawl_found("tables").ref == "gossamer.crawler:ParsedCrawl"
    crawl = ParsedCrawl(params)
    item, link = crawl.parse(Page.of(f'{TABLE}<a href="/b">b</a>', "https://a.org/"))
    assert (item.kind, link) == ("table", Request("https://a.org/b"))
    assert list(crawl.parse(Page.of("{}", content_type="application/json"))) == []
    with pytest.raises(ConfigError, match="--parser: no parser is called 'tabels': did you mean 'tables'"):
        crawl_found("tabels")
