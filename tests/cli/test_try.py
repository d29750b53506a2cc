"""`gossamer try`: what a selector, rules, a parser or a scraper give for one page."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gossamer import cli_try, look
from gossamer.overview import overview
from gossamer.testing import Site
from tests.cli import sentence, typed
from tests.conftest import Cli, json_lines

QUOTES = [("Write it down.", "Cleo Inkwell"), ("Ask twice.", "Bo Spindle"), ("Count the knots.", "Ada Weaver")]
PAGE = (
    "<title>Quotes</title><h1>Quotes</h1>"
    + "".join(
        f'<div class="quote"><span class="text">{text}</span> <small class="author">{author}</small>'
        f'<a href="/by/{number}">(about)</a></div>'
        for number, (text, author) in enumerate(QUOTES)
    )
    + '<ul><li class="next"><a href="/2">Next</a></li></ul>'
)
LAMP = (
    '<title>Lamp</title><script type="application/ld+json">{"@context": "https://schema.org", "@type": "Product", '
    '"name": "Lamp", "offers": {"@type": "Offer", "price": "9.50", "priceCurrency": "EUR"}}</script><h1>Lamp</h1>'
)
SCRAPER = """
from gossamer import Scraper

class Quotes(Scraper):
    start_urls = ["https://nowhere.invalid/"]
    key = "text"

    def parse(self, page):
        for quote in page.css(".quote"):
            yield {"text": quote.css(".text").text}
        yield {"no": "key"}
        yield from page.follow("li.next a")

    def detail(self, page):
        yield {"text": page.title, "said": self.params.get("word")}
"""


@pytest.fixture
def quotes(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("GOSSAMER_RATE", "none")
    site.page("/", PAGE)
    site.page("/lamp", LAMP)
    site.json("/api", {"page": 1, "quotes": [{"text": text, "author": author} for text, author in QUOTES]})
    return site


def _lines(*args: object, code: int = 0) -> list[Any]:
    done = typed("try", *args)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return json_lines(done.stdout)


# --- selectors ---


def test_what_a_css_selector_matches_is_a_json_value_a_line(quotes: Site) -> None:
    assert _lines(quotes.url("/"), "--css", ".quote .text::text") == [text for text, _ in QUOTES]
    first, *_ = _lines(quotes.url("/"), "--css", "small.author")
    assert first == {"text": "Cleo Inkwell", "html": '<small class="author">Cleo Inkwell</small>'}
    done = typed("try", quotes.url("/"), "--css", "h1")
    assert done.stderr.strip() == f"1 match of h1 on {quotes.url('/')} (Quotes)"


def test_xpath_and_jsonpath_can_be_tried_too(quotes: Site) -> None:
    assert _lines(quotes.url("/"), "--xpath", "//small[1]/text()")[0] == "Cleo Inkwell"
    assert _lines(quotes.url("/api"), "--jsonpath", "$.quotes[*].author")[1] == "Bo Spindle"
    assert _lines(quotes.url("/api"), "--jsonpath", "quotes[0]") == [
        {"text": "Write it down.", "author": "Cleo Inkwell"}
    ]


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("/", "--css", "div.quote span.txt"), ": div.quote matches 3, span.txt none (there is span.text)"),
        (("/", "--xpath", "//div[@class='quote']/b"), ": //div[@class='quote'] matches 3"),
        (("/api", "--jsonpath", "$.lamps"), ": the answer has page, quotes"),
        (("/api", "--css", "p"), ": the page is json, which has no elements"),
    ],
)
def test_a_selector_without_matches_says_what_is_near(quotes: Site, args: tuple[str, ...], told: str) -> None:
    done = typed("try", quotes.url(args[0]), *args[1:])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip().endswith(told)


# --- rules, parsers, scrapers ---


def test_a_parser_is_tried_by_name_and_auto_says_which_it_picked(quotes: Site) -> None:
    (lamp,) = _lines(quotes.url("/lamp"), "--parser", "product")
    assert (lamp["name"], lamp["price"], lamp["currency"]) == ("Lamp", "9.50", "EUR")
    done = typed("try", quotes.url("/lamp"), "--parser", "auto")
    assert json_lines(done.stdout) == [lamp]
    assert "1 record of the parser 'product', which auto picked, on " in done.stderr
    nothing = typed("try", quotes.url("/lamp"), "--parser", "tables")
    assert (nothing.returncode, nothing.stdout) == (1, "")
    assert "the parser 'tables' finds nothing on " in nothing.stderr


def test_rules_are_tried_from_their_file(quotes: Site, tmp_path: Path) -> None:
    text = (
        'start_urls = ["https://nowhere.invalid/"]\neach = ".quote"\nfollow = "li.next a"\n[fields]\ntext = ".text"\n'
    )
    (tmp_path / "q.toml").write_text(text)
    assert _lines(quotes.url("/"), "--rules", "q.toml") == [{"text": text} for text, _ in QUOTES]
    (tmp_path / "bad.toml").write_text('start_urls = ["https://a.org/"]\n[fields]\ntext = "b | mony"\n')
    assert "did you mean 'money'?" in sentence(typed("try", quotes.url("/"), "--rules", "bad.toml"), 2)


def test_a_scraper_is_tried_on_one_page_with_one_of_its_handlers(quotes: Site, tmp_path: Path) -> None:
    (tmp_path / "q.py").write_text(SCRAPER)
    done = typed("try", quotes.url("/"), "--scraper", "q.py")
    assert done.returncode == 0
    assert json_lines(done.stdout) == [{"text": text} for text, _ in QUOTES]
    assert 'rejected by key: an item has no \'text\', which its scraper names as key: {"no":"key"}' in done.stderr
    assert f"Quotes.parse on {quotes.url('/')}: 3 items, 1 rejected, 1 request ({quotes.url('/2')})" in done.stderr
    detail = ("--scraper", "q.py:Quotes", "--handler", "detail", "--param", "word=hm")
    assert _lines(quotes.url("/"), *detail) == [{"text": "Quotes", "said": "hm"}]
    wrong = typed("try", quotes.url("/"), "--scraper", "q.py", "--handler", "nothing")
    assert "Quotes has no handler 'nothing'" in sentence(wrong, 2)


def test_nothing_is_stored_and_one_page_is_fetched_once(quotes: Site, tmp_path: Path) -> None:
    _lines(quotes.url("/"), "--css", "h1")
    assert quotes.paths() == {"/robots.txt": 1, "/": 1}
    assert list(tmp_path.iterdir()) == []


# --- without an option ---


def test_without_an_option_it_shows_what_is_there_and_what_to_try(quotes: Site) -> None:
    done = typed("try", quotes.url("/"))
    (found,) = json_lines(done.stdout)
    assert (found["title"], found["kind"], found["next"]) == ("Quotes", "html", "li.next a")
    assert found["repeats"][0] == {"selector": "div.quote", "count": 3, "fields": ["text", "author", "about_url"]}
    assert f"try {quotes.url('/')} --css div.quote" in done.stderr
    (lamp,) = _lines(quotes.url("/lamp"))
    assert (lamp["auto"], lamp["parsers"], lamp["structured"]) == (
        "product",
        {**lamp["parsers"], "product": 1},
        {"jsonld": 1, "types": ["Product"]},
    )
    (api,) = _lines(quotes.url("/api"))
    assert api["rows"] == {"path": "quotes", "count": 3, "names": ["text", "author"]}


# --- saved pages ---


def test_a_saved_page_is_read_without_a_network(tmp_path: Path, quotes: Site) -> None:
    (tmp_path / "saved.html").write_text(PAGE)
    (tmp_path / "q.py").write_text(SCRAPER)
    assert _lines("saved.html", "--css", "h1::text") == ["Quotes"]
    done = typed("try", "saved.html", "--url", "https://a.org/x", "--scraper", "q.py")
    assert len(json_lines(done.stdout)) == 3
    assert "Quotes.parse on https://a.org/x: 3 items, 1 rejected, 1 request (https://a.org/2)" in done.stderr
    assert not quotes.hits


def test_what_to_try_next_with_a_saved_page_names_no_address_that_nobody_gave(tmp_path: Path) -> None:
    (tmp_path / "saved.html").write_text(PAGE)
    told = typed("try", "saved.html").stderr
    assert "try saved.html --css div.quote\n" in told
    assert "new NAME saved.html --url URL\n" in told
    assert "saved.invalid" not in told
    told = typed("try", "saved.html", "--url", "https://a.org/x").stderr
    assert "try saved.html --url https://a.org/x --css div.quote\n" in told
    assert "new NAME saved.html --url https://a.org/x\n" in told


def test_rules_that_are_tried_need_no_start(tmp_path: Path) -> None:
    (tmp_path / "saved.html").write_text(PAGE)
    (tmp_path / "q.toml").write_text('each = ".quote"\n[fields]\ntext = ".text"\n')
    assert len(_lines("saved.html", "--rules", "q.toml")) == 3
    assert "has no start_urls" in sentence(typed("run", "q.toml", "--dry-run"), 2)
    assert "there is no file nowhere.toml" in sentence(typed("try", "saved.html", "--rules", "nowhere.toml"), 2)


def test_a_page_may_come_in_by_a_pipe(gossamer: Cli, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gossamer", "try", "-", "--url", "https://a.org/", "--css", "a::attr(href)"]
    done = subprocess.run(command, input=PAGE.encode(), capture_output=True, cwd=tmp_path, timeout=60)
    assert json_lines(done.stdout.decode()) == ["/by/0", "/by/1", "/by/2", "/2"]


@pytest.mark.parametrize(
    ("place", "file"),
    [
        ("-", True),
        ("page.html", True),
        ("./x", True),
        ("/tmp/x", True),
        ("example.org", False),
        ("example.org/page.html", False),
        ("https://example.org/page.html", False),
        ("localhost:8000", False),
    ],
)
def test_a_file_is_told_from_a_url(place: str, file: bool) -> None:
    assert look.is_file(place) is file


def test_a_file_named_like_a_host_is_a_file_if_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "example.org").write_text("<h1>x</h1>")
    assert look.is_file("example.org")
    assert look.page_of(look.saved("example.org")).css("h1").text == "x"


# --- politeness, failures, misuse ---


def test_robots_are_obeyed_unless_told_otherwise(quotes: Site) -> None:
    quotes.robots("User-agent: *\nDisallow: /\n")
    told = sentence(typed("try", quotes.url("/"), "--css", "h1"), 3)
    assert "robots.txt does not allow it" in told
    assert "/" not in quotes.paths()
    assert _lines(quotes.url("/"), "--css", "h1::text", "--no-robots") == ["Quotes"]


@pytest.mark.parametrize(("path", "told"), [("/gone", "it answered with status 404"), ("/wall", "Cloudflare")])
def test_a_page_that_cannot_be_had_is_told_of_in_a_sentence(quotes: Site, path: str, told: str) -> None:
    quotes.page(
        "/wall", '<title>Just a moment...</title><script src="/cdn-cgi/challenge-platform/x"></script>', status=403
    )
    assert told in sentence(typed("try", quotes.url(path)), 3)


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("https://a.org", "--css", "a", "--xpath", "//a"), "--css and --xpath were given: try one after the other"),
        (("nowhere.html",), "nowhere.html cannot be read: No such file or directory"),
        (("nowhere",), "'nowhere' is not a URL"),
        (("https://a.org", "--url", "https://b.org"), "--url says where a saved page comes from"),
        (("page.html", "--css", "a["), "'a[' is not a CSS selector"),
        (("page.html", "--xpath", "//["), "'//[' is not an XPath expression"),
        (("page.html", "--jsonpath", "$.x"), "the body is not JSON"),
        (("data.json", "--jsonpath", "$["), "'$[' is not a JSONPath"),
        (("page.html", "--parser", "artikle"), "no parser is called 'artikle': did you mean 'article'?"),
        (("page.html", "--scraper", "none.py"), "there is no file none.py: check the path"),
        (("page.html", "--rules", "none.toml"), "there is no file none.toml: check the path"),
    ],
)
def test_misuse_is_told_in_one_sentence(tmp_path: Path, args: tuple[str, ...], told: str) -> None:
    (tmp_path / "page.html").write_text(PAGE)
    (tmp_path / "data.json").write_text("{}")
    assert told in sentence(typed("try", *args), 2)


# --- on a terminal ---


def _shown(capsys: pytest.CaptureFixture[str], method: str, *args: Any) -> str:
    getattr(cli_try.Shown(lines=False), method)(*args)
    return capsys.readouterr().out


def test_on_a_terminal_matches_and_records_are_set_for_reading(capsys: pytest.CaptureFixture[str]) -> None:
    assert _shown(capsys, "values", ["a", {"text": "b", "html": "<b>b</b>"}]) == "  1  a\n  2  b\n"
    assert _shown(capsys, "records", [{"name": "Lamp", "tags": ["x"]}]) == (
        '1\n  name             Lamp\n  tags             ["x"]\n'
    )
    many = _shown(capsys, "values", ["x"] * 60)
    assert len(many.splitlines()) == cli_try.MOST_SHOWN


def test_what_a_page_says_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str], quotes: Site) -> None:
    evil = "\x1b[2J\x1b]0;owned\x07\r gone\u202e"
    assert _shown(capsys, "values", [evil]) == "  1  ?[2J?]0;owned?  gone?\n"
    assert "\x1b" not in _shown(capsys, "records", [{evil: evil}])
    quotes.page("/evil", "<title>\x1b[31mred</title>")
    assert "\x1b" not in typed("try", quotes.url("/evil"), "--css", "p").stderr


def test_a_password_in_a_url_is_shown_to_nobody(quotes: Site) -> None:
    done = typed("try", quotes.url("/").replace("://", "://me:hush@"))
    assert done.returncode == 0
    assert "hush" not in done.stdout + done.stderr
    assert {hit.headers.get("authorization") for hit in quotes.hits} > {None}


def test_the_overview_is_a_few_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PAGE.encode())))
    page = look.page_of(look.saved("-", "https://a.org/"))
    found = overview(page, [])
    told = _shown(capsys, "overview", found, ["new NAME https://a.org/"])
    assert told.splitlines()[0].split(None, 1) == ["page", "Quotes  https://a.org/"]
    assert any("div.quote (3): text, author, about_url" in line for line in told.splitlines())
    assert "li.next a" in told


# --- crawl --parser ---


def test_a_crawl_with_a_parser_keeps_its_items(site: Site, store: str) -> None:
    site.page("/", '<title>Shop</title><a href="/lamp">Lamp</a>')
    site.page("/lamp", LAMP)
    done = typed("crawl", site.url("/"), "--parser", "product", "--store", store, "--rate", "none", "-q")
    assert done.returncode == 0, done.stderr
    out = typed("export", "items", "--store", store, "--source").stdout
    (item,) = json_lines(out)
    assert (item["name"], item["_kind"], item["_key"]) == ("Lamp", "product", site.url("/lamp"))
    refused = sentence(typed("crawl", site.url("/"), "--parser", "prodct", "--store", store), 2)
    assert refused == "gossamer: --parser: no parser is called 'prodct': did you mean 'product'?"
    assert json.loads(typed("crawl", site.url("/"), "--store", store, "--fresh", "--json", "-q").stdout)["items"] == 2
