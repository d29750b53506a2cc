"""A world that lies: each hostile answer costs its own page, and no more."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gossamer import Page, Scraper
from gossamer.engine import PARSE_LIMIT
from gossamer.parse import probe
from gossamer.testing import Answer, Site
from tests.walk import crawl, links, run, why
from tests.walk.test_scrapers import scraper


@pytest.mark.parametrize(
    "body",
    [b"<div>" * 400_000, b"<p " + b" ".join(b"a%d" % n for n in range(400_000)) + b">"],
    ids=["nested", "attributes"],
)
def test_markup_made_to_hang_a_parser_fails_its_page_only(
    site: Site, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    monkeypatch.setattr("gossamer.engine.PARSE_LIMIT", 1.0)
    site.page("/", links("/bad", "/good"))
    zipped = gzip.compress(body)
    site.page("/bad", zipped, headers={"Content-Encoding": "gzip", "Content-Type": "text/html"})
    site.page("/good", "<p>x</p>")
    report = crawl(site.url("/"), max_ratio=10_000)
    assert (report.pages, report.by_reason.get("markup")) == (2, 1)
    assert "takes longer than" in why(site.url("/bad"))


def test_a_long_but_honest_page_is_read(site: Site) -> None:
    rows = "".join(f"<tr><td>{n}<td><a href='/{n % 3}'>x</a>" for n in range(15_000))
    assert probe.suspicious(rows.encode())
    site.page("/", f"<table>{rows}</table>")
    site.page("/*", "<p>x</p>")
    assert crawl(site.url("/")).pages == 4
    assert PARSE_LIMIT >= 5


def test_a_page_with_more_links_than_anyone_wrote_is_cut_and_says_so(site: Site) -> None:
    site.page("/", links(*(f"/{n}" for n in range(50))))
    site.page("/*", "<p>x</p>")
    assert crawl(site.url("/"), max_links=20).pages == 21
    assert "it leads to 50 pages: the first 20 count (max_links)" in why(site.url("/"))


def test_an_everyday_page_is_not_suspicious() -> None:
    assert not probe.suspicious(b"<p class='a b'>some words</p>" * 5_000)


def test_a_robots_txt_that_is_redirected_waits_for_the_host_it_is_redirected_to() -> None:
    """Ten sites point their robots.txt to one host: it is asked at its own pace, not at theirs."""
    with Site() as target:
        target.page("/rules", "User-agent: *\nAllow: /", headers={"Content-Type": "text/plain"})
        others = [Site().start() for _ in range(6)]
        try:
            for other in others:
                other.redirect("/robots.txt", target.url("/rules"))
                other.page("/", "<p>x</p>")
            report = crawl(*[other.url("/") for other in others], rate="5/s", allow_private=True)
        finally:
            for other in others:
                other.stop()
        assert report.pages == 6
        assert len(target.hits) == 6
        # By our log: this many sites in one process answer too unevenly to be a clock.
        with contextlib.closing(sqlite3.connect("gossamer.db")) as db:
            sent = [row[0] for row in db.execute("select started from fetch where host = ?", [target.authority])]
        gaps = [later - earlier for earlier, later in itertools.pairwise(sorted(sent))]
        assert len(gaps) == 5
        assert min(gaps) > 0.19
        arrived = [hit.at for hit in target.hits]
        assert max(arrived) - min(arrived) > 5 * 0.2 - 0.1


def test_a_huge_robots_txt_is_read_as_far_as_it_must_be(site: Site) -> None:
    rules = b"User-agent: *\nDisallow: /private\n" + b"# filler\n" * 500_000
    site.handler("/robots.txt", lambda hit: Answer(body=rules, headers={"Content-Type": "text/plain"}))
    site.page("/", links("/private", "/open"))
    site.page("/open", "<p>x</p>")
    report = crawl(site.url("/"))
    assert (report.pages, report.by_reason["robots"]) == (2, 1)


def test_retry_after_is_heeded_also_where_the_handler_wants_the_answer(site: Site) -> None:
    site.page("/", links("/a", "/b"))
    for path in ("/a", "/b"):
        site.handler(path, lambda hit: Answer(status=429, body=b"<p>slow</p>", headers={"Retry-After": "1"}))
    report = run(scraper(site, parse=lambda self, page: page.follow("a"), accept_status=[429], per_host=1))
    assert report.pages == 3
    a, b = (hit.at for hit in site.hits if hit.path in ("/a", "/b"))
    assert b - a >= 0.99


def test_urls_too_long_for_any_server_are_left_out(site: Site) -> None:
    site.page("/", links("/" + "x" * 9_000, "/ok"))
    site.page("/ok", "<p>x</p>")
    assert crawl(site.url("/")).pages == 2


def test_what_is_carried_is_what_it_was_when_it_was_yielded(site: Site) -> None:
    seen: list[Any] = []

    class Numbered(Scraper):
        start_urls = (site.url("/"),)
        rate = "none"

        def parse(self, page: Page) -> Any:
            shared = {"n": 0}
            for n in range(3):
                shared["n"] = n
                yield from page.follow(f"/{n}", to=self.detail, carry=shared)

        def detail(self, page: Page) -> None:
            seen.append((page.url[-1], page.carry["n"]))

    site.page("/*", "<p>x</p>")
    run(Numbered)
    assert sorted(seen) == [("0", 0), ("1", 1), ("2", 2)]


def test_a_handler_that_catches_its_interruption_is_interrupted_again(site: Site) -> None:
    def parse(self: Scraper, page: Page) -> Any:
        for _ in range(2):
            with contextlib.suppress(BaseException):
                time.sleep(30)
        yield {"a": 1}
        time.sleep(30)

    site.page("/", "<p>x</p>")
    began = time.monotonic()
    report = run(scraper(site, parse=parse, handler_timeout=0.3))
    assert report.by_reason == {"handler_timeout": 1}
    assert time.monotonic() - began < 15


def test_a_kill_does_not_shorten_the_wait_of_a_slow_host(site: Site, tmp_path: Path) -> None:
    """Killed the moment a request has gone out, and started again: the host is left alone as long as it was told."""
    site.page("/", "<p>x</p>")
    command = [sys.executable, "-m", "gossamer", "crawl", site.url("/"), "--rate", "40/min", "--quiet"]
    for n in (1, 2):
        with subprocess.Popen(command, cwd=tmp_path) as child:
            while len(site.hits) < n:
                time.sleep(0.005)
            child.kill()
    first, second = (hit.at for hit in site.hits[:2])
    assert second - first >= 1.45
