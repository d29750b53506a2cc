"""Rules in whole runs: a scraper that is a file, or a dict, from the first request to the stored items."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

from gossamer import Scraper
from gossamer.rulefile import scraper_from
from gossamer.testing import Site
from tests.walk import asked, fates, items, records, run, why


def quote(text: str, author: str | None, *tags: str) -> str:
    by = f"<small class=author>{author}</small>" if author else ""
    return f"<div class=quote><span class=text>{text}</span>{by}{''.join(f'<a class=tag>{t}</a>' for t in tags)}</div>"


def listing(site: Site) -> None:
    """Two pages of quotes, the second of which has one by nobody."""
    more = "<li class=next><a href=/2>more</a></li>"
    site.page("/", quote("A thread", "Ann", "x", "y") + quote("A knot", "Bo") + more)
    site.page("/2", quote("A map", "Ann", "y") + quote("A rumour", None))


def written(site: Site, folder: Path, text: str, name: str = "quotes.toml") -> type[Scraper]:
    path = folder / name
    path.write_text(text.replace("SITE", site.url("").rstrip("/")), "utf-8")
    return scraper_from(path)


TOML = """
start_urls = ["SITE/"]
kind = "quote"
key = "text"
each = ".quote"
follow = "li.next a"

[fields]
text = ".text"
author = { css = ".author", required = true }
tags = { css = ".tag", list = true }
from = "page:url"
"""


def test_a_file_is_a_whole_scraper(site: Site, tmp_path: Path) -> None:
    listing(site)
    report = run(written(site, tmp_path, TOML))
    assert (report.reason, report.pages, report.items, report.failed) == ("done", 2, 3, 0)
    assert report.rejected == 1
    assert {(item["kind"], item["key"]) for item in items()} == {("quote", t) for t in ("A thread", "A knot", "A map")}
    assert {"text": "A thread", "author": "Ann", "tags": ["x", "y"], "from": site.url("/")} in records()


def test_the_knobs_of_a_file_are_kept(site: Site, tmp_path: Path) -> None:
    listing(site)
    report = run(written(site, tmp_path, 'max_pages = 1\nuser_agent = "loom/1"\n' + TOML))
    assert report.pages == 1
    assert {hit.headers["user-agent"] for hit in asked(site, "/")} == {"loom/1"}


def test_links_lead_to_pages_of_another_kind(site: Site, tmp_path: Path) -> None:
    site.page("/", "<a class=book href=/b/1>1</a><a class=book href=/b/2>2</a><li class=next><a href=/p2>n</a></li>")
    site.page("/p2", "<a class=book href=/b/2>2</a>")
    for number in (1, 2):
        site.page(
            f"/b/{number}", f"<h1>Book {number}</h1><p class=price>£{number}.50</p><a class=book href=/b/9>no</a>"
        )
    yaml = """
start_urls: [SITE/]
key: title
follow: [li.next a, {css: a.book, to: book}]
pages:
  book:
    kind: book
    fields: {title: h1, price: .price | money}
"""
    report = run(written(site, tmp_path, yaml, "books.yaml"))
    assert (report.pages, report.items) == (4, 2)
    assert "/b/9" not in fates(site)
    assert sorted(records(), key=str) == [
        {"title": "Book 1", "price": {"amount": "1.50", "currency": "GBP"}},
        {"title": "Book 2", "price": {"amount": "2.50", "currency": "GBP"}},
    ]
    assert {item["kind"] for item in items()} == {"book"}


def test_an_api_is_walked_by_rules(site: Site, tmp_path: Path) -> None:
    site.json("/api", {"next": "/api/2", "ids": [7], "rows": [{"id": 7, "name": "Red"}]})
    site.json("/api/2", {"next": None, "ids": [], "rows": [{"id": 8, "name": "Hemp", "tags": ["a"]}]})
    site.json("/thread/7", {"length": "1,200 m"})
    rules = """
{"start_urls": ["SITE/api"], "each": "json:$.rows[*]",
 "fields": {"id": "json:id", "name": "json:name", "tags": {"json": "tags", "list": true}},
 "follow": ["json:next", {"json": "ids[*]", "url": "/thread/{}", "to": "thread"}],
 "pages": {"thread": {"kind": "length", "fields": {"length": "json:length | number"}}}}
"""
    assert run(written(site, tmp_path, rules, "api.json")).items == 3
    assert sorted(records(), key=str) == [
        {"id": 7, "name": "Red", "tags": []},
        {"id": 8, "name": "Hemp", "tags": ["a"]},
        {"length": 1200.0},
    ]


def test_rules_may_stand_in_a_class(site: Site) -> None:
    listing(site)

    class Quotes(Scraper):
        start_urls: ClassVar = [site.url("/")]
        rules: ClassVar[dict[str, Any]] = {
            "each": ".quote",
            "fields": {"text": ".text"},
            "follow": {"css": "li.next a", "to": "rest"},
            "pages": {"rest": {"each": ".quote", "fields": {"rest": ".text"}}},
        }

    assert run(Quotes).items == 4
    assert {"rest": "A map"} in records()


@pytest.mark.parametrize("key", ['key = "author"', ""])
def test_kinds_of_one_page_have_keys_of_their_own(site: Site, tmp_path: Path, key: str) -> None:
    listing(site)
    rules = f"""
start_urls = ["SITE/"]
[[items]]
kind = "quote"
each = ".quote"
key = "text"
fields = {{ text = ".text", tags = {{ css = ".tag", list = true }} }}
[[items]]
kind = "person"
each = ".author"
{key}
fields = {{ author = "::text" }}
"""
    assert run(written(site, tmp_path, rules)).items == 4
    assert {(item["kind"], item["key"]) for item in items() if item["kind"] == "quote" or key} >= {
        ("quote", "A thread"),
        ("quote", "A knot"),
    }
    assert {item["data"]["author"] for item in items() if item["kind"] == "person"} == {"Ann", "Bo"}


def test_a_json_body_that_broke_off_fails_its_page_and_loses_no_item(site: Site) -> None:
    rules = {"each": "json:$.quotes[*]", "fields": {"text": "json:text"}}
    made = type("Cut", (Scraper,), {"start_urls": [site.url("/api")], "rules": rules, "key": "text", "rate": "none"})
    whole = '{"quotes":[{"text":"a"},{"text":"b"}]}'
    site.page("/api", whole, headers={"content-type": "application/json"})
    assert run(made).items == 2
    site.page("/api", whole[:-12], headers={"content-type": "application/json"})
    report = run(made)
    assert (report.status, report.failed) == ("failed", 1)
    assert len(items()) == 2


def test_an_expression_that_a_page_makes_run_for_ever_is_ended(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.parse.expressions.LIMIT", 0.2)
    site.page("/", "a" * 40 + "!")
    made = type("Slow", (Scraper,), {"start_urls": [site.url("/")], "rules": {"fields": {"x": "regex:(a|aa)+$"}}})
    assert run(made).by_reason == {"handler": 1}
    assert "takes longer than" in why(site.url("/"))
