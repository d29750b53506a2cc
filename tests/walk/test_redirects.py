"""Redirects: each hop is one more request, through scope, robots and gate."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gossamer import Request, Scraper
from gossamer.testing import Answer, Hit, Site
from tests.walk import asked, crawl, fates, links, records, run, why


@pytest.fixture
def other() -> Iterator[Site]:
    """A second site, on another host."""
    with Site("127.0.0.2") as started:
        yield started


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_chain_leads_to_its_page(site: Site, status: int) -> None:
    site.page("/", links("/a"))
    site.redirect("/a", "/b", status=status)
    site.redirect("/b", "c?d=1", status=status)
    site.page("/c", "<title>end</title>")
    report = crawl(site.url("/"))
    assert (report.pages, report.by_reason) == (2, {"ok": 2, "redirect": 2})
    page = next(record for record in records() if record["url"] == site.url("/c?d=1"))
    assert (page["title"], page["depth"]) == ("end", 1)
    assert f"it redirects to {site.url('/b')}" in why(site.url("/a"))


def test_a_loop_ends(site: Site) -> None:
    site.page("/", links("/a", "/self"))
    site.redirect("/a", "/b")
    site.redirect("/b", "/a")
    site.redirect("/self", "/self")
    report = crawl(site.url("/"))
    assert (report.pages, report.reason) == (1, "done")
    assert [site.paths()[path] for path in ("/a", "/b", "/self")] == [1, 1, 1]


def test_a_start_that_only_loops_is_a_failed_start(site: Site) -> None:
    site.redirect("/", "/b")
    site.redirect("/b", "/")
    report = crawl(site.url("/"))
    assert (report.status, report.reason, report.exit_code) == ("failed", "start_failed", 3)


@pytest.mark.parametrize(("hops", "pages"), [(10, 2), (11, 1)])
def test_ten_hops_are_followed_and_no_more(site: Site, hops: int, pages: int) -> None:
    site.page("/", links("/r/0"))
    for n in range(hops):
        site.redirect(f"/r/{n}", f"/r/{n + 1}")
    site.page(f"/r/{hops}", "<p>end</p>")
    report = crawl(site.url("/"))
    assert report.pages == pages
    if pages == 1:
        assert site.paths()["/r/11"] == 0
        assert fates(site)["/r/10"] == "failed redirects"
        assert "more than 10 redirects" in why(site.url("/r/10"))


def test_a_hop_out_of_scope_is_not_taken(site: Site, other: Site) -> None:
    site.page("/", links("/out", "/print"))
    site.redirect("/out", other.url("/"))
    site.redirect("/print", "/print/view")
    site.page("/print/view", "<p>view</p>")
    report = crawl(site.url("/"), exclude=["/print/"])
    assert (report.pages, report.skipped) == (1, 2)
    assert (fates(site)["/out"], fates(site)["/print"]) == ("skipped scope", "skipped exclude")
    assert (other.hits, site.paths()["/print/view"]) == ([], 0)
    assert f"it redirects to {other.url('/')}" in why(site.url("/out"))


def test_a_start_that_redirects_to_another_host_moves_the_scope_there(site: Site, other: Site) -> None:
    site.redirect("/", other.url("/"))
    other.page("/", links("/a"))
    other.page("/a", "<p>a</p>")
    report = crawl(site.url("/"), allow_private=True)
    assert report.pages == 2
    assert other.paths()["/a"] == 1


def test_a_start_that_redirects_is_inside_whatever_include_says(site: Site) -> None:
    """The start itself is exempt from --include; where the site really begins is as much the start."""
    site.redirect("/", "/home")
    site.page("/home", links("/blog/1", "/about"))
    site.page("/*", "<p>page</p>")
    report = crawl(site.url("/"), include=["/blog/"])
    assert report.pages == 2
    assert site.paths()["/blog/1"] == 1
    assert site.paths()["/about"] == 0


def test_a_target_reached_from_many_sides_is_fetched_once(site: Site) -> None:
    site.page("/", links("/old1", "/old2", "/new"))
    site.redirect("/old1", "/new")
    site.redirect("/old2", "/new")
    site.page("/new", "<p>new</p>")
    assert crawl(site.url("/")).pages == 2
    assert site.paths()["/new"] == 1


def test_a_forbidden_target_is_not_fetched(site: Site, other: Site) -> None:
    site.page("/", links("/go", "/away"))
    site.redirect("/go", "/private")
    site.redirect("/away", other.url("/private"))
    site.robots("User-agent: *\nDisallow: /private")
    other.robots("User-agent: *\nDisallow: /private")
    crawl(site.url("/"), scope="any", allow_private=True)
    assert fates(site)["/private"] == "skipped robots"
    assert site.paths()["/private"] == 0
    assert set(other.paths()) == {"/robots.txt"}


def test_a_redirect_nobody_can_follow_fails_its_page(site: Site) -> None:
    site.page("/", links("/mail", "/none"))
    site.redirect("/mail", "mailto:someone@example.org")
    site.page("/none", "", status=302)
    crawl(site.url("/"))
    assert (fates(site)["/mail"], fates(site)["/none"]) == ("failed redirect", "failed http_302")


class Poster(Scraper):
    """Posts a form and reads what comes of it."""

    def start(self):
        yield Request(self.params["url"], data={"a": "1"}, headers={"x-mine": "yes"})

    def parse(self, page):
        yield {"url": page.url, "body": page.text}


def _echo(hit: Hit) -> Answer:
    return Answer(body=f"{hit.method} {hit.body.decode()}")


@pytest.mark.parametrize(
    ("status", "seen"), [(301, "GET "), (302, "GET "), (303, "GET "), (307, "POST a=1"), (308, "POST a=1")]
)
def test_a_post_becomes_a_get_unless_told_to_stay_one(site: Site, status: int, seen: str) -> None:
    site.redirect("/form", "/result", status=status)
    site.handler("/result", _echo)
    run(Poster, params={"url": site.url("/form")})
    assert records() == [{"url": site.url("/result"), "body": seen}]
    (hit,) = asked(site, "/result")
    assert hit.headers["x-mine"] == "yes"
    assert ("content-type" in hit.headers) == (status in (307, 308))


class Mixed(Scraper):
    """Asks for one page plainly, and gets there by a redirect of a request to another handler."""

    def parse(self, page):
        yield {"read_by": "parse", "url": page.url}
        yield from page.follow("a.detail", to=self.detail, priority=1)
        yield from page.follow("a.late")

    def detail(self, page):
        yield {"read_by": "detail", "url": page.url}


def test_a_redirect_for_one_handler_does_not_hide_its_target_from_another(site: Site) -> None:
    class Both(Mixed):
        start_urls = (site.url("/"),)
        per_host = 1

    site.page("/", '<a class="detail" href="/moved">d</a><a class="late" href="/next">n</a>')
    site.redirect("/moved", "/target")
    site.page("/next", '<a class="late" href="/target">t</a>')
    site.page("/target", "<p>t</p>")
    run(Both)
    readers = {record["read_by"] for record in records() if record["url"] == site.url("/target")}
    assert readers == {"detail", "parse"}


def test_a_get_after_a_post_is_the_same_page_as_a_link_to_it(site: Site) -> None:
    class Form(Scraper):
        def start(self):
            yield Request(site.url("/form"), data={"a": "1"})
            yield Request(site.url("/result"), method="get")
            yield Request(site.url("/result"), to=self.parse)
            yield site.url("/result")

        def parse(self, page):
            yield {"url": page.url}

    site.redirect("/form", "/result", status=303)
    site.page("/result", "<p>r</p>")
    run(Form)
    assert site.paths()["/result"] == 1
