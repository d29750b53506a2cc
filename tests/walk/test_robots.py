"""robots.txt: obeyed by default, asked politely, and what its absence means."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from gossamer.fetch import retry
from gossamer.testing import Answer, Site
from tests.walk import asked, crawl, fates, gaps, links, why

RULES = "User-agent: *\nDisallow: /private\nAllow: /private/open\n"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries that fail are followed by others at once."""
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.02)


@pytest.fixture
def pages(site: Site) -> Site:
    """A site with open and private pages."""
    site.page("/", links("/a", "/private/x", "/private/open"))
    site.page("/*", "<p>page</p>")
    site.page("/robots.txt", "gone", status=404)
    return site


@pytest.fixture
def other() -> Iterator[Site]:
    """A second site, on another host."""
    with Site("127.0.0.2") as started:
        yield started


def test_what_is_disallowed_is_never_asked_for(pages: Site) -> None:
    pages.robots(RULES)
    report = crawl(pages.url("/"))
    assert (report.pages, report.by_reason["robots"]) == (3, 1)
    assert pages.hits[0].path == "/robots.txt"
    assert pages.paths()["/robots.txt"] == 1
    assert pages.paths()["/private/x"] == 0
    assert "robots.txt" in why(pages.url("/private/x"))


def test_no_robots_asks_for_none(pages: Site) -> None:
    pages.robots(RULES)
    assert crawl(pages.url("/"), robots=False).pages == 4
    assert pages.paths()["/robots.txt"] == 0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_no_rules_allow_everything(pages: Site, status: int) -> None:
    pages.robots("User-agent: *\nDisallow: /", status=status)
    assert crawl(pages.url("/")).pages == 4


@pytest.mark.parametrize(
    ("agent", "count"),
    [("gossamer/1.0 (+https://example.org)", 1), ("other-bot/2.0", 4), ("Gossamer", 1)],
)
def test_the_group_for_our_name_is_the_one_that_counts(pages: Site, agent: str, count: int) -> None:
    pages.robots("User-agent: gossamer\nDisallow: /a\nDisallow: /private\n\nUser-agent: *\nAllow: /\n")
    assert crawl(pages.url("/"), user_agent=agent).pages == count
    assert {hit.headers["user-agent"] for hit in pages.hits} == {agent}


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_robots_txt_in_trouble_is_asked_again_and_then_obeyed(pages: Site, status: int) -> None:
    rules = Answer(body=RULES, headers={"Content-Type": "text/plain"})
    pages.flaky("/robots.txt", times=2, status=status, then=rules)
    assert crawl(pages.url("/")).pages == 3
    assert pages.paths()["/robots.txt"] == 3
    assert min(asked(pages, "/"), key=lambda hit: hit.at).at > asked(pages, "/robots.txt")[-1].at


def test_a_robots_txt_that_resets_is_asked_again(pages: Site) -> None:
    pages.reset("/robots.txt", times=1, then=Answer(body=RULES, headers={"Content-Type": "text/plain"}))
    assert crawl(pages.url("/")).pages == 3


def test_a_robots_txt_in_trouble_for_good_closes_the_site(pages: Site) -> None:
    pages.flaky("/robots.txt", times=math.inf, status=500)
    report = crawl(pages.url("/"), retries=2)
    assert (report.status, report.reason, report.exit_code) == ("failed", "start_failed", 3)
    assert dict(pages.paths()) == {"/robots.txt": 3}
    assert "could not be read in 3 tries" in why(pages.url("/"))


def test_a_retry_after_of_robots_txt_is_kept(pages: Site) -> None:
    pages.flaky("/robots.txt", times=1, status=503, retry_after="1", then="User-agent: *")
    crawl(pages.url("/"))
    assert gaps(pages.hits)[0] >= 1


def test_a_robots_txt_may_lie_elsewhere(pages: Site, other: Site) -> None:
    pages.redirect("/robots.txt", "/r2")
    pages.redirect("/r2", other.url("/rules"))
    other.page("/rules", RULES, headers={"Content-Type": "text/plain"})
    assert crawl(pages.url("/"), allow_private=True).pages == 3
    assert fates(pages)["/private/x"] == "skipped robots"


def test_a_robots_txt_that_redirects_in_circles_has_no_rules(pages: Site) -> None:
    pages.redirect("/robots.txt", "/robots.txt")
    assert crawl(pages.url("/")).pages == 4
    assert pages.paths()["/robots.txt"] == 6


def test_an_endless_robots_txt_costs_bounded_time(pages: Site) -> None:
    pages.huge("/robots.txt", megabytes=50)
    report = crawl(pages.url("/"), retries=0, timeout=5)
    assert report.exit_code in (0, 3)


def test_every_host_is_asked_for_its_own(pages: Site, other: Site) -> None:
    pages.page("/", links(other.url("/private/x"), "/private/x"))
    other.robots(RULES)
    other.page("/*", "<p>page</p>")
    crawl(pages.url("/"), scope="any", allow_private=True)
    assert pages.paths()["/private/x"] == 1
    assert other.paths() == {"/robots.txt": 1}
