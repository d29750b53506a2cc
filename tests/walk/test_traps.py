"""URL spaces without an end: left after a while, each link for a reason that `why` tells, and the rest is walked."""

from __future__ import annotations

import asyncio
import time

import pytest

from gossamer import ConfigError, runs
from gossamer.testing import Answer, Hit, Site
from tests.cli import typed
from tests.walk import crawl, fates, links, why


def dropped(site: Site, reason: str, store: str = "gossamer.db") -> list[str]:
    """The links that a rule dropped, the first found first."""
    return [path for path, fate in fates(site, store).items() if fate == f"skipped {reason}"]


# -- traps -----------------------------------------------------------------------------------------------------


def test_an_endless_calendar(site: Site) -> None:
    """Years that somebody may plan for are walked, those beyond for a while."""

    def month(hit: Hit) -> Answer:
        year, number = map(int, hit.path.removeprefix("/events/").split("/"))
        after = year * 12 + number  # months are counted from 0
        return Answer(body=links(f"/events/{after // 12:04d}/{after % 12 + 1:02d}", "/about"))

    soon = time.gmtime().tm_year + 9
    site.page("/", links(f"/events/{soon}/10"))
    site.page("/about", "<p>us</p>")
    site.handler("/events/*", month)
    report = crawl(site.url("/"))
    assert (report.reason, report.by_reason["trap_path"]) == ("done", 1)
    assert report.pages == 2 + 3 + 200
    assert fates(site)["/about"] == "done ok"
    (last,) = dropped(site, "trap_path")
    assert last.startswith("/events/20")
    told = why(site.url(last))
    assert "skipped: its path" in told
    assert "traps" in told


def test_an_endless_calendar_in_the_query(site: Site) -> None:
    far = time.gmtime().tm_year + 12

    def month(hit: Hit) -> Answer:
        year, number = map(int, hit.path.partition("month=")[2].split("-"))
        after = year * 12 + number
        return Answer(body=links(f"/events?month={after // 12:04d}-{after % 12 + 1:02d}"))

    site.page("/", links(f"/events?month={far}-01"))
    site.handler("/events", month)
    report = crawl(site.url("/"))
    assert (report.reason, report.pages, report.by_reason["trap_query"]) == ("done", 201, 1)
    assert "skipped: its query" in why(site.url(dropped(site, "trap_query")[0]))


def test_a_path_that_grows(site: Site) -> None:
    """A link that lacks its slash: the folder is in the path once more on each page."""

    def folder(hit: Hit) -> Answer:
        return Answer(body=links(f"{hit.path}shop/", "/about"))

    site.page("/about", "<p>us</p>")
    site.handler("/shop/*", folder)
    report = crawl(site.url("/shop/"))
    assert (report.reason, report.pages, report.by_reason["trap_path"]) == ("done", 4, 1)
    (last,) = dropped(site, "trap_path")
    assert last == "/shop/shop/shop/shop/"
    assert "its path is of an endless URL space: it repeats itself" in why(site.url(last))


def test_several_folders_that_repeat_each_other(site: Site) -> None:
    site.trap("/shop/list", "path")
    report = crawl(site.url("/shop/list/"), robots=False)
    assert report.reason == "done"
    assert 0 < report.pages < 3000
    assert report.by_reason["trap_path"] > 0


def test_a_query_that_explodes(site: Site) -> None:
    site.trap("/search", "query")
    report = crawl(site.url("/search"), max_queries=40)
    assert report.reason == "done"
    # One parameter says nothing; of those with several, so many are followed.
    assert report.pages == 1 + 6 + 40
    left = dropped(site, "trap_query")
    assert len(left) == report.by_reason["trap_query"] > 50
    assert "its query is one of too many on one path (max_queries)" in why(site.url(left[0]))


def test_a_session_in_the_url(site: Site) -> None:
    site.trap("/shop", "session")
    report = crawl(site.url("/shop"))
    assert (report.reason, report.pages) == ("done", 3)
    assert report.by_reason["trap_query"] > 0


def test_a_redirect_that_never_ends(site: Site) -> None:
    site.redirect_endless("/on")
    site.page("/", links("/on"))
    report = crawl(site.url("/"))
    assert (report.reason, report.by_reason["redirects"]) == ("done", 1)


def test_who_wants_to_go_in_may(site: Site) -> None:
    site.handler("/shop/*", lambda hit: Answer(body=links(f"{hit.path}shop/")))
    report = crawl(site.url("/shop/"), traps=False, max_pages=30)
    assert (report.reason, report.pages) == ("max_pages", 30)


def test_an_honest_site_loses_nothing(site: Site) -> None:
    honest = [
        "/2024/01/02/a-story",
        "/blog/2031/12/",
        "/docs/api/v1/api/docs/",
        "/a/b/a/b/",
        "/search?q=a&page=2&sort=up",
        "/list?page=3",
        "/shop?color=red&color=blue&color=green",
        "/x?sid=12",
    ]
    site.page("/", links(*(path.replace("&", "&amp;") for path in honest)))
    site.page("/*", "<p>x</p>")
    report = crawl(site.url("/"))
    assert (report.pages, report.skipped) == (len(honest) + 1, 0)


# -- budgets ---------------------------------------------------------------------------------------------------


def numbered(site: Site, n: int) -> str:
    """A page with `n` links; returns its URL."""
    site.page("/", links(*(f"/p/{k}" for k in range(n))))
    site.page("/p/*", "<p>x</p>")
    return site.url("/")


def test_a_host_has_a_budget_of_pages(site: Site) -> None:
    report = crawl(numbered(site, 20), max_per_host=5)
    assert (report.reason, report.pages, report.by_reason["host_budget"]) == ("done", 5, 16)
    left = dropped(site, "host_budget")
    assert left == [f"/p/{n}" for n in range(4, 20)]
    assert "enough pages of its host are walked (max_per_host)" in why(site.url("/p/9"))


def test_each_host_has_its_own_budget(site: Site) -> None:
    with Site("127.0.0.2") as other:
        given = [numbered(site, 20), numbered(other, 20)]
        report = crawl(*given, max_per_host=5)
        assert report.pages == 10
        assert len([path for path in other.paths() if path != "/robots.txt"]) == 5


@pytest.mark.parametrize("first", [1, 3])
def test_a_budget_is_of_the_run_however_often_it_is_resumed(site: Site, store: str, first: int) -> None:
    def page(hit: Hit) -> Answer:
        n = int(hit.path.removeprefix("/p/"))
        return Answer(body=links(*(f"/p/{k}" for k in range(10 * n + 1, 10 * n + 4))))

    site.handler("/p/*", page)
    assert crawl(site.url("/p/0"), store=store, max_per_host=8, max_pages=first).reason == "max_pages"
    report = crawl(site.url("/p/0"), store=store, max_per_host=8)
    assert (report.run, report.reason, report.pages) == (1, "done", 8)
    assert len([path for path in site.paths() if path != "/robots.txt"]) == 8


def test_a_budget_given_by_hand_is_kept_by_resume(site: Site, store: str) -> None:
    url = numbered(site, 20)
    assert crawl(url, store=store, max_per_host=5, max_pages=2).reason == "max_pages"
    assert typed("resume", "1", "--store", store, "--quiet").returncode == 0

    async def pages() -> int:
        async with runs.open_store(store) as opened:
            return (await opened.runs())[0].pages

    assert asyncio.run(pages()) == 5


def test_a_budget_does_not_turn_the_guard_on(site: Site) -> None:
    site.handler("/shop/*", lambda hit: Answer(body=links(f"{hit.path}shop/")))
    report = crawl(site.url("/shop/"), traps=False, max_per_host=12)
    assert (report.pages, report.by_reason["host_budget"]) == (12, 1)


def test_what_is_dropped_by_another_rule_costs_no_budget(site: Site) -> None:
    site.page("/", links(*(f"/no/{n}" for n in range(20)), "/p/1", "/p/2"))
    site.page("/p/*", "<p>x</p>")
    report = crawl(site.url("/"), max_per_host=3, exclude=["/no/"])
    assert (report.pages, report.by_reason["exclude"]) == (3, 20)


@pytest.mark.parametrize("knob", ["max_per_host", "max_queries"])
def test_a_budget_of_nothing_is_refused(site: Site, knob: str) -> None:
    with pytest.raises(ConfigError, match=f"{knob} = 0 cannot be used"):
        crawl(site.url("/"), **{knob: 0})
