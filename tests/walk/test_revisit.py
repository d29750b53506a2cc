"""Reading a site again: what an earlier run read is fetched, asked about or left alone, as `revisit` says."""

from __future__ import annotations

import hashlib
import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gossamer import Page, Request, Scraper
from gossamer.testing import Answer, Hit, Site
from tests.walk import asked, crawl, fates, items, links, records, run, why


def reader(site: Site, **attributes: Any) -> type[Scraper]:
    """A scraper of titles that follows every link from the site's front page."""

    def parse(self: Scraper, page: Page) -> Any:
        yield {"url": page.url, "title": page.title}
        yield from page.follow("a")

    return type("Titles", (Scraper,), {"start_urls": [site.url("/")], "key": "url", "parse": parse, **attributes})


def page(title: str, *hrefs: str) -> str:
    """A page with a title and links."""
    return links(*hrefs).replace("<title>links", f"<title>{title}")


def titles(site: Site, run: int | None = None) -> dict[str, str]:
    """Path -> title, of the items a run saw."""
    return {record["url"].removeprefix(site.url("")): record["title"] for record in records(run=run)}


# -- what "always", "never", an age and "changed" mean ---------------------------------------------------------


def test_always_asks_without_conditions(site: Site) -> None:
    home = site.versioned("/", [page("home")])
    for _ in range(2):
        assert run(reader(site)).by_reason == {"ok": 1}
    assert home.unchanged == 0
    assert [hit.headers.keys() & {"if-none-match", "if-modified-since"} for hit in asked(site, "/")] == [set(), set()]


@pytest.mark.parametrize("validators", [{"modified": False}, {"etag": False}, {}], ids=["etag", "modified", "both"])
def test_a_304_settles_the_page_as_unchanged(site: Site, validators: dict[str, bool]) -> None:
    home = site.versioned("/", [page("home", "/a"), page("new", "/a")], **validators)
    site.page("/a", page("a"))
    first = run(reader(site, revisit="changed"))
    assert (first.by_reason, home.unchanged) == ({"ok": 2}, 0)
    again = run(reader(site, revisit="changed"))
    assert (again.by_reason, home.unchanged) == ({"unchanged": 2}, 1)
    assert (again.status, again.reason, again.exit_code) == ("finished", "done", 0)
    assert "as an earlier run read it" in why(site.url("/"))


def test_the_same_bytes_without_validators_are_unchanged(site: Site) -> None:
    read = []

    def parse(self: Scraper, page: Page) -> Any:
        read.append(page.url)
        yield {"url": page.url}

    site.page("/", page("home"))
    for _ in range(2):
        run(reader(site, revisit="changed", parse=parse))
    assert (site.paths()["/"], read) == (2, [site.url("/")])
    assert fates(site, run=2) == {"/": "done unchanged"}


def test_a_page_that_changed_is_read_again(site: Site) -> None:
    home = site.versioned("/", [page("one"), page("two")])
    run(reader(site, revisit="changed"))
    home.turn()
    assert run(reader(site, revisit="changed")).by_reason == {"ok": 1}
    assert titles(site) == {"/": "two"}
    # And what it is now is what the next run compares with.
    assert run(reader(site, revisit="changed")).by_reason == {"unchanged": 1}


def test_a_page_that_changes_back_is_read_again(site: Site) -> None:
    home = site.versioned("/", [page("one"), page("two")], etag=False, modified=False)
    for title in ("one", "two", "one"):
        assert run(reader(site, revisit="changed")).by_reason == {"ok": 1}
        assert titles(site) == {"/": title}
        home.turn()


def test_never_asks_for_nothing_it_has_read(site: Site) -> None:
    home = site.versioned("/", [page("home", "/a"), page("new", "/a", "/b")])
    site.page("/*", page("else"))
    run(reader(site), robots=False)  # remembers nothing: "always" has no use for it
    run(reader(site, revisit="never"), robots=False)
    home.turn()
    site.clear()
    report = run(reader(site, revisit="never"), robots=False)
    assert (report.by_reason, report.reason, report.exit_code) == ({"fresh": 2}, "done", 0)
    assert site.hits == []
    assert "read it recently enough" in why(site.url("/"))
    assert titles(site, run=3) == {"/": "home", "/a": "else"}


def test_never_fetches_what_failed_the_last_time(site: Site) -> None:
    site.page("/", page("home", "/a", "/b"))
    site.page("/b", page("b"))
    run(reader(site, revisit="never"))
    site.page("/a", page("a"))
    report = run(reader(site, revisit="never"))
    assert report.by_reason == {"fresh": 2, "ok": 1}
    assert titles(site, run=2) == {"/": "home", "/a": "a", "/b": "b"}


def test_an_age_decides_by_the_time_of_the_last_check(site: Site) -> None:
    home = site.versioned("/", [page("home")])
    age = reader(site, revisit="3s")
    run(age)
    checked = time.monotonic()
    assert run(age).by_reason == {"fresh": 1}
    time.sleep(max(0.0, 3.1 - (time.monotonic() - checked)))
    assert run(age).by_reason == {"unchanged": 1}
    # It was looked at just now, though not read: that counts.
    assert run(age).by_reason == {"fresh": 1}
    assert (site.paths()["/"], home.unchanged) == (2, 1)


def test_a_fresh_page_does_not_become_fresher(site: Site) -> None:
    """What nobody asked the site for was not checked: or else a run each hour would never look again."""
    site.page("/", page("home"))
    age = reader(site, revisit="900ms")
    run(age)
    ended = time.monotonic() + 1.0
    while time.monotonic() < ended:
        run(age)
    assert site.paths()["/"] == 2


# -- links -----------------------------------------------------------------------------------------------------


def test_links_of_an_unchanged_page_are_followed_as_they_were(site: Site) -> None:
    """What was found once is found again: handler, priority, carry, body, and the base it was relative to."""

    def parse(self: Scraper, page: Page) -> Any:
        yield from page.follow("a", to="detail", carry={"from": page.title}, priority=5)
        yield Request("search", json={"q": "ü"}, to="detail", headers={"x-own": "1"})
        yield Request("raw", data=b"\xff\x00", to="detail")
        yield {"url": page.url, "title": page.title}

    def detail(self: Scraper, page: Page) -> Any:
        yield {"url": page.url, "title": str(page.carry.get("from")), "body": page.text}

    site.page("/", f'<base href="/below/">{page("home", "x")}')
    site.handler("/below/*", lambda hit: Answer(body=f"{hit.method} {hit.body!r} {hit.headers.get('x-own')}"))
    made = reader(site, parse=parse, detail=detail, revisit="changed")
    run(made)
    first, sent = records(), [(hit.path, hit.method, hit.body) for hit in site.hits]
    site.clear()
    assert run(made).by_reason == {"unchanged": 4}
    assert records(run=2) == records() == first
    assert sorted(set(sent)) == sorted({*((hit.path, hit.method, hit.body) for hit in site.hits), sent[0]})
    assert {hit.headers.get("x-own") for hit in asked(site, "/below/search")} == {"1"}


def test_a_page_that_is_linked_no_more_is_walked_no_more(site: Site) -> None:
    home = site.versioned("/", [page("home", "/list"), page("home", "/list")], modified=False)
    listed = site.versioned("/list", [page("list", "/a", "/b"), page("list", "/b", "/c")])
    site.page("/a", page("a", "/below-a"))
    for path in ("/b", "/c", "/below-a"):
        site.page(path, page(path))
    run(reader(site, revisit="changed"))
    listed.turn()
    site.clear()
    report = run(reader(site, revisit="changed"))
    assert report.by_reason == {"unchanged": 2, "ok": 2}
    assert home.unchanged == 1
    assert sorted(fates(site, run=2)) == ["/", "/b", "/c", "/list"]
    assert (site.paths()["/a"], site.paths()["/below-a"]) == (0, 0)
    assert sorted(titles(site, run=2)) == ["/", "/b", "/c", "/list"]


def test_the_rules_of_this_run_hold_for_old_links(site: Site) -> None:
    site.page("/", page("home", "/a", "/b", "/c"))
    for path in ("/a", "/b", "/c"):
        site.page(path, page(path, "/deep"))
    site.page("/deep", page("deep"))
    run(reader(site, revisit="never"))
    site.clear()
    run(reader(site, revisit="never"), exclude=["/b$"], depth=1)
    assert fates(site, run=2) == {
        "/": "done fresh",
        "/a": "done fresh",
        "/b": "skipped exclude",
        "/c": "done fresh",
        "/deep": "skipped depth",
    }


def test_old_links_are_held_to_robots_txt_as_it_is_now(site: Site) -> None:
    site.page("/", page("home", "/a"))
    site.page("/a", page("a"))
    run(reader(site, revisit="never"), robots=False)
    site.robots("User-agent: *\nDisallow: /a")
    assert run(reader(site, revisit="changed")).by_reason == {"unchanged": 1, "robots": 1}
    assert titles(site, run=2) == {"/": "home"}


# -- items -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("revisit", ["changed", "never"])
def test_items_of_unchanged_pages_stay_current(site: Site, revisit: str) -> None:
    home = site.versioned("/", [page("home", "/a")])
    site.page("/a", page("a"))
    run(reader(site, revisit=revisit))
    before = {item["key"]: item for item in items()}
    time.sleep(0.01)
    report = run(reader(site, revisit=revisit))
    after = {item["key"]: item for item in items(run=2)}
    assert report.items == 2
    assert before.keys() == after.keys()
    for key, item in after.items():
        assert item["last_seen"] > before[key]["last_seen"]
        assert item["first_seen"] == before[key]["first_seen"]
        assert (item["last_changed"], item["data"]) == (before[key]["last_changed"], before[key]["data"])
    assert f"items: item {site.url('/')}" in why(site.url("/"))
    assert home.at == 0


def test_an_item_that_left_a_changed_page_is_not_seen_by_that_run(site: Site) -> None:
    def parse(self: Scraper, page: Page) -> Any:
        for text in page.css("li").texts():
            yield {"url": text}

    shown = site.versioned("/", ["<li>a<li>b", "<li>b<li>c"])
    made = reader(site, parse=parse, revisit="changed")
    run(made)
    shown.turn()
    run(made)
    run(made)
    seen = [sorted(record["url"] for record in records(run=n)) for n in (1, 2, 3)]
    assert seen == [["a", "b"], ["b", "c"], ["b", "c"]]
    assert sorted(record["url"] for record in records()) == ["b", "c"]


# -- what is not a page any more -------------------------------------------------------------------------------


def test_a_page_that_is_gone_fails_and_is_known_when_it_returns(site: Site) -> None:
    site.page("/", page("home", "/a"))
    site.page("/a", page("a"))
    made = reader(site, revisit="changed")
    run(made)
    site.page("/a", "gone", status=410)
    assert run(made).by_reason == {"unchanged": 1, "http_410": 1}
    assert sorted(titles(site, run=2)) == ["/"]
    site.page("/a", page("a"))
    assert run(made).by_reason == {"unchanged": 2}
    assert sorted(titles(site, run=3)) == ["/", "/a"]


def test_a_304_that_nobody_asked_for_is_no_page(site: Site) -> None:
    site.page("/", page("home", "/a"))
    site.page("/a", "", status=304)
    assert run(reader(site, revisit="changed")).by_reason == {"ok": 1, "http_304": 1}


def test_an_error_page_that_was_accepted_is_not_the_page(site: Site) -> None:
    """Compared are pages, not apologies: a page that shows again the bytes of its 404 is read."""
    site.page("/", page("sorry"), status=404)
    made = reader(site, revisit="changed", accept_status=[404])
    run(made)
    assert run(made).by_reason == {"ok": 1}


def test_a_page_that_could_not_be_read_is_read_again(site: Site) -> None:
    tries = itertools.count()

    def parse(self: Scraper, page: Page) -> Any:
        if next(tries) == 0:
            raise ValueError("not today")
        yield {"url": page.url, "title": page.title}

    site.versioned("/", [page("home")])
    made = reader(site, parse=parse, revisit="changed")
    assert run(made).by_reason == {"handler": 1}
    assert run(made).by_reason == {"ok": 1}


# -- other requests --------------------------------------------------------------------------------------------


def test_a_redirect_is_followed_again_and_its_target_unchanged(site: Site) -> None:
    site.page("/", page("home", "/old"))
    site.redirect("/old", "/new")
    new = site.versioned("/new", [page("new")])
    made = reader(site, revisit="changed")
    assert run(made).by_reason == {"ok": 2, "redirect": 1}
    assert run(made).by_reason == {"unchanged": 2, "redirect": 1}
    assert new.unchanged == 1
    site.redirect("/old", "/newer")
    site.page("/newer", page("newer"))
    assert run(made).by_reason == {"unchanged": 1, "redirect": 1, "ok": 1}
    assert sorted(titles(site, run=3)) == ["/", "/newer"]


def test_a_page_that_now_redirects_is_followed(site: Site) -> None:
    site.versioned("/", [page("home", "/a")])
    site.versioned("/a", [page("a")])
    made = reader(site, revisit="changed")
    run(made)
    site.redirect("/a", "/b")
    site.page("/b", page("b"))
    assert run(made).by_reason == {"unchanged": 1, "redirect": 1, "ok": 1}
    assert sorted(titles(site, run=2)) == ["/", "/b"]


def test_a_post_is_asked_without_conditions_and_known_by_its_body(site: Site) -> None:
    """On a POST, If-None-Match means something else: a server that has the page answers 412."""

    def start(self: Scraper) -> Any:
        yield Request(site.url("/api"), json={"page": 1})
        yield Request(site.url("/api"), json={"page": 2})

    def answer(hit: Hit) -> Answer:
        tag = f'"{hashlib.sha256(hit.body).hexdigest()[:8]}"'
        if hit.headers.get("if-none-match") == tag:
            return Answer(status=412)
        return Answer(body=hit.body, headers={"ETag": tag, "Content-Type": "application/json"})

    def parse(self: Scraper, page: Page) -> Any:
        yield {"url": str(page.json()["page"])}

    site.handler("/api", answer)
    made = reader(site, start=start, parse=parse, revisit="changed")
    assert run(made).by_reason == {"ok": 2}
    assert run(made).by_reason == {"unchanged": 2}
    assert sorted(record["url"] for record in records(run=2)) == ["1", "2"]


def test_requests_that_ask_for_it_are_always_fetched(site: Site) -> None:
    def parse(self: Scraper, page: Page) -> Any:
        yield {"url": page.url}
        if not page.request.revisit:
            yield Request(page.url, revisit=True)

    site.versioned("/", [page("home")])
    made = reader(site, parse=parse, revisit="never")
    run(made)
    assert run(made).by_reason == {"fresh": 1, "ok": 1}
    assert "if-none-match" not in asked(site, "/")[-1].headers


def test_one_url_asked_for_several_times_is_fetched_as_often_when_its_page_is_unchanged(site: Site) -> None:
    def parse(self: Scraper, page: Page) -> Any:
        for reader in ("ann", "bob"):
            yield Request("/price", to="price", revisit=True, session=reader)

    def price(self: Scraper, page: Page) -> Any:
        yield {"url": str(page.request.session)}

    site.page("/*", page("home"))
    made = reader(site, parse=parse, price=price, revisit="changed")
    for reasons in ({"ok": 3}, {"unchanged": 1, "ok": 2}):
        assert run(made).by_reason == reasons
    assert [sorted(record["url"] for record in records(run=n)) for n in (1, 2)] == [["ann", "bob"]] * 2


def test_two_scrapers_share_no_visits(site: Site) -> None:
    home = site.versioned("/", [page("home")])
    run(reader(site, revisit="never"))
    assert run(reader(site, revisit="never", name="other")).by_reason == {"ok": 1}
    assert home.unchanged == 0
    assert [item["scraper"] for item in items()] == ["titles", "other"]


def test_two_handlers_share_no_visits(site: Site) -> None:
    def parse(self: Scraper, page: Page) -> Any:
        yield from page.follow(site.url("/"), to="other")
        yield {"url": "parse"}

    def other(self: Scraper, page: Page) -> Any:
        yield {"url": "other"}

    site.versioned("/", [page("home")])
    made = reader(site, parse=parse, other=other, revisit="changed")
    run(made)
    assert run(made).by_reason == {"unchanged": 2}
    assert sorted(record["url"] for record in records(run=2)) == ["other", "parse"]


def test_a_validator_longer_than_any_is_not_sent_back(site: Site) -> None:
    site.page("/", page("home"), headers={"ETag": '"' + "x" * 5000 + '"', "Last-Modified": "yesterday"})
    made = reader(site, revisit="changed")
    run(made)
    assert run(made).by_reason == {"unchanged": 1}
    assert "if-none-match" not in asked(site, "/")[1].headers


def test_crawls_revisit_too(site: Site) -> None:
    home = site.versioned("/", [page("home", "/a")])
    site.page("/a", page("a"))
    first = crawl(site.url("/"), revisit="changed")
    again = crawl(site.url("/"), revisit="changed")
    assert (first.by_reason, again.by_reason, home.unchanged) == ({"ok": 2}, {"unchanged": 2}, 1)
    assert [record["depth"] for record in records(run=2)] == [0, 1]


# -- budgets, stops and kills ----------------------------------------------------------------------------------


def test_a_stopped_run_goes_on_with_what_it_has_not_walked(site: Site) -> None:
    versions = {f"/{n}": site.versioned(f"/{n}", [page(f"{n}"), page(f"new {n}")]) for n in range(6)}
    site.page("/", page("home", *versions))
    made = reader(site, revisit="changed", concurrency=1)
    run(made)
    for version in list(versions.values())[::2]:
        version.turn()
    report = run(made, max_pages=1)
    assert (report.reason, report.pages) == ("max_pages", 1)
    report = run(made)
    assert (report.run, report.reason) == (2, "done")
    assert report.by_reason == {"ok": 3, "unchanged": 4}
    assert len(titles(site, run=2)) == 7
    assert sum(version.unchanged for version in versions.values()) == 3


KILLED = """
import gossamer, os, sys

class Titles(gossamer.Scraper):
    start_urls = [sys.argv[1]]
    key = "url"
    revisit = "changed"
    rate = "none"
    per_host = concurrency = 2

    def parse(self, page):
        yield {"url": page.url, "title": page.title}
        yield from page.follow("a")

print(gossamer.run(Titles, store=sys.argv[2]).reason, flush=True)
"""


def test_killed_in_between_it_ends_as_if_it_had_not_been(site: Site, tmp_path: Path) -> None:
    paths = [f"/{n}" for n in range(30)]
    versions = [site.versioned(path, [page(path), page(f"new {path}")]) for path in paths]
    site.page("/", page("home", *paths))
    (tmp_path / "killed.py").write_text(KILLED)
    command = [sys.executable, "killed.py", site.url("/"), "gossamer.db"]
    assert subprocess.run(command, capture_output=True, text=True, timeout=30).stdout.strip() == "done"
    for version in versions[::3]:
        version.turn()
    site.cover("/*", _slower)
    site.clear()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while len(site.hits) < 12:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
    assert subprocess.run(command, capture_output=True, text=True, timeout=30).stdout.strip() == "done"
    found = titles(site, run=2)
    assert found == {"/": "home"} | {path: f"new {path}" if n % 3 == 0 else path for n, path in enumerate(paths)}
    counted = list(fates(site, run=2).values())
    # What was read and not settled when the kill came is asked about again, and is then still not read by that run.
    assert (counted.count("done ok"), counted.count("done unchanged")) == (10, 21)
    assert max(site.paths()[path] for path in paths) <= 2


def _slower(hit: Hit) -> Answer | None:
    time.sleep(0.01)  # on the site's own thread: one answer after the other
    return None
