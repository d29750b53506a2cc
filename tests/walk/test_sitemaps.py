"""Sitemaps as the start of whole runs: named, found by robots.txt, absent, broken, and made to hurt."""

from __future__ import annotations

import gzip
import itertools
import time
from typing import Any

import pytest

from gossamer import ConfigError, Page, Request, Scraper
from gossamer.testing import Answer, Hit, Site
from tests.walk import asked, crawl, fates, links, records, run, why

XML = {"Content-Type": "application/xml"}


def urlset(*locs: str) -> str:
    """A sitemap that names these."""
    entries = "".join(f"<url><loc>{loc}</loc></url>" for loc in locs)
    return f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'


def index(*locs: str) -> str:
    """A sitemap that names other sitemaps."""
    entries = "".join(f"<sitemap><loc>{loc}</loc></sitemap>" for loc in locs)
    return f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</sitemapindex>'


def listed(site: Site, path: str, *paths: str) -> None:
    """Have a sitemap that names these paths, and pages there that link to no other."""
    site.page(path, urlset(*map(site.url, paths)), headers=XML)
    for each in paths:
        site.page(each, f"<title>{each}</title>")


def reader(site: Site, **attributes: Any) -> type[Scraper]:
    """A scraper that notes each page, and starts with the site's sitemap."""

    def parse(self: Scraper, page: Page) -> Any:
        yield {"url": page.url.removeprefix(site.url("")), "depth": page.depth}

    return type("Mapped", (Scraper,), {"start_sitemaps": [site.url("/sitemap.xml")], "parse": parse, **attributes})


def pages(run: int | None = None) -> list[str]:
    """The paths that were read."""
    return sorted(record["url"] for record in records(run=run))


# -- named -----------------------------------------------------------------------------------------------------


def test_a_scraper_starts_with_the_pages_of_its_sitemaps(site: Site) -> None:
    listed(site, "/sitemap.xml", "/a", "/b")
    listed(site, "/more.xml", "/c")
    report = run(reader(site, start_sitemaps=[site.url("/sitemap.xml"), site.url("/more.xml")]))
    assert pages() == ["/a", "/b", "/c"]
    assert (report.pages, report.items, report.by_reason) == (3, 3, {"ok": 3, "sitemap": 2})
    assert fates(site)["/sitemap.xml"] == "done sitemap"
    assert f"found on {site.url('/sitemap.xml')}, 1 link from a start" in why(site.url("/a"))


def test_sitemaps_stand_next_to_start_urls(site: Site) -> None:
    listed(site, "/sitemap.xml", "/a", "/b")
    site.page("/", "<p>home</p>")
    run(reader(site, start_urls=[site.url("/"), site.url("/b")]))
    assert pages() == ["/", "/a", "/b"]
    assert site.paths()["/b"] == 1


def test_a_crawl_starts_with_sitemaps_and_follows_links(site: Site) -> None:
    listed(site, "/sitemap.xml", "/a")
    site.page("/a", links("/linked"))
    site.page("/linked", "<p>x</p>")
    report = crawl(sitemaps=[site.url("/sitemap.xml")])
    assert report.pages == 2
    assert {record["url"]: record["depth"] for record in records()} == {site.url("/a"): 1, site.url("/linked"): 2}


def test_depth_counts_from_the_sitemap_through_any_index(site: Site) -> None:
    site.page("/index.xml", index(site.url("/deep.xml")), headers=XML)
    site.page("/deep.xml", index(site.url("/sitemap.xml")), headers=XML)
    listed(site, "/sitemap.xml", "/a")
    site.page("/a", links("/linked"))
    crawl(sitemaps=[site.url("/index.xml")], depth=1)
    assert [(record["url"], record["depth"]) for record in records()] == [(site.url("/a"), 1)]
    assert fates(site)["/linked"] == "skipped depth"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (lambda a: gzip.compress(urlset(a).encode()), "application/gzip"),
        (lambda a: f"{a}\n", "text/plain"),
        (lambda a: f"<rss version='2.0'><channel><item><link>{a}</link></item></channel></rss>", "application/rss+xml"),
        (lambda a: f"<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='{a}'/></entry></feed>", "text/html"),
    ],
    ids=["gz", "text", "rss", "atom"],
)
def test_every_form_is_read_whatever_types_the_scraper_reads(site: Site, body: Any, kind: str) -> None:
    listed(site, "/x", "/a")
    site.page("/sitemap.xml.gz", body(site.url("/a")), headers={"Content-Type": kind})
    run(reader(site, start_sitemaps=[site.url("/sitemap.xml.gz")], content_types=["text/html"], max_body="64"))
    assert pages() == ["/a"]


def test_a_page_named_twice_is_walked_once(site: Site) -> None:
    listed(site, "/one.xml", "/a", "/b")
    listed(site, "/two.xml", "/b", "/a")
    site.page("/sitemap.xml", index(*map(site.url, ("/one.xml", "/two.xml", "/one.xml"))), headers=XML)
    run(reader(site))
    assert pages() == ["/a", "/b"]
    assert {site.paths()[path] for path in ("/a", "/b", "/one.xml", "/two.xml", "/sitemap.xml")} == {1}


def test_a_sitemap_may_be_a_page_of_its_own(site: Site) -> None:
    """Whoever links to a sitemap, as sites do in their footers, hides it neither from the run nor from its reader."""
    listed(site, "/sitemap.xml", "/a")
    site.page("/", links("/sitemap.xml"))

    def parse(self: Scraper, page: Page) -> Any:
        yield {"url": page.url.removeprefix(site.url("")), "depth": page.depth}
        yield from page.follow(page.links if page.is_html else [])

    run(reader(site, start_urls=[site.url("/")], parse=parse))
    assert pages() == ["/", "/a", "/sitemap.xml"]


# -- found by itself -------------------------------------------------------------------------------------------


def test_auto_finds_what_robots_txt_names(site: Site) -> None:
    site.robots(f"User-agent: *\nDisallow: /b\nSitemap: {site.url('/one.xml')}\nsitemap: {site.url('/two.xml')}\n")
    listed(site, "/one.xml", "/a", "/b")
    listed(site, "/two.xml", "/c")
    listed(site, "/sitemap.xml", "/not-named")
    run(reader(site, start_sitemaps="auto", start_urls=[site.url("/home"), site.url("/other")]))
    assert pages() == ["/a", "/c"]
    assert (fates(site)["/b"], fates(site)["/robots.txt"]) == ("skipped robots", "done robots_sitemaps")
    # The start URLs only say which hosts are meant.
    assert {site.paths()[path] for path in ("/home", "/other", "/sitemap.xml")} == {0}


def test_auto_looks_at_the_usual_place(site: Site) -> None:
    listed(site, "/sitemap.xml", "/a")
    report = crawl(site.url("/"), sitemaps=["auto"])
    assert [record["url"] for record in records()] == [site.url("/a")]
    assert report.by_reason == {"ok": 1, "robots_sitemaps": 1, "sitemap": 1}


def test_auto_asks_every_host_that_it_starts_at(site: Site) -> None:
    with Site("127.0.0.2") as other:
        listed(site, "/sitemap.xml", "/a")
        listed(other, "/sitemap.xml", "/b")
        run(reader(site, start_sitemaps="auto", start_urls=[site.url("/x"), other.url("/x")]))
        assert pages() == ["/a", other.url("/b")]


def test_where_there_is_none_nothing_fails_but_the_start(site: Site) -> None:
    report = crawl(site.url("/"), sitemaps=["auto"])
    assert fates(site) == {"/robots.txt": "done robots_sitemaps", "/sitemap.xml": "done sitemap"}
    assert (report.failed, report.reason, report.exit_code) == (0, "start_failed", 3)


def test_a_sitemap_that_was_named_and_is_not_there_has_failed(site: Site) -> None:
    listed(site, "/sitemap.xml", "/a")
    report = run(reader(site, start_sitemaps=[site.url("/sitemap.xml"), site.url("/gone.xml")]))
    assert (pages(), report.failed) == (["/a"], 1)
    assert fates(site)["/gone.xml"] == "failed http_404"


def test_a_request_with_a_handler_of_its_own_is_not_replaced_by_a_sitemap(site: Site) -> None:
    def start(self: Scraper) -> Any:
        yield site.url("/ignored")
        yield Request(site.url("/api"), to="api")

    listed(site, "/sitemap.xml", "/a")
    site.page("/api", "<p>x</p>")
    run(reader(site, start_sitemaps="auto", start=start, api=lambda self, page: {"url": "api"}))
    assert pages() == ["/a", "api"]


def test_auto_asks_whole_hosts_and_says_so_where_a_prefix_is_meant(site: Site) -> None:
    with pytest.raises(ConfigError, match="choose pages by `include`"):
        crawl(site.url("/docs/"), sitemaps=["auto"], scope="prefix")
    assert site.hits == []


def test_a_redirected_robots_txt_and_sitemap_are_followed(site: Site) -> None:
    site.redirect("/robots.txt", "/real-robots.txt")
    site.page("/real-robots.txt", f"Sitemap: {site.url('/moved.xml')}", headers={"Content-Type": "text/plain"})
    site.redirect("/moved.xml", "/sitemaps/all.xml")
    listed(site, "/sitemaps/all.xml", "/a")
    run(reader(site, start_sitemaps="auto", start_urls=[site.url("/")]))
    assert pages() == ["/a"]


# -- rules -----------------------------------------------------------------------------------------------------


def test_pages_of_other_hosts_are_outside(site: Site) -> None:
    with Site("127.0.0.2") as other:
        other.page("/a", "<p>x</p>")
        site.page("/sitemap.xml", urlset(site.url("/a"), other.url("/a")), headers=XML)
        site.page("/a", "<p>x</p>")
        run(reader(site))
        assert (pages(), other.hits) == (["/a"], [])
        assert fates(site)[other.url("/a")] == "skipped scope"


def test_a_sitemap_on_another_host_may_not_lead_to_private_addresses(site: Site) -> None:
    """An index may name sitemaps of other hosts, as the protocol says; but not of our own network."""
    with Site("127.0.0.2") as other:
        listed(other, "/sitemap.xml", "/b")
        site.page("/sitemap.xml", index(other.url("/sitemap.xml")), headers=XML)
        run(reader(site, scope="any"))
        assert other.hits == []
        assert fates(site)[other.url("/sitemap.xml")] == "failed address"


@pytest.mark.parametrize("moved", [False, True], ids=["named", "redirected"])
def test_where_a_sitemap_lies_says_nothing_of_where_a_run_may_go(site: Site, moved: bool) -> None:
    """Not when it is read, nor when the run is resumed."""
    with Site("127.0.0.2") as other:
        for each in (site, other):
            each.page("/*", "<p>x</p>")
            each.page("/robots.txt", "", status=404)
        listing = Answer(body=urlset(*map(site.url, ("/a", "/b"))) + urlset(other.url("/a")), headers=XML)
        other.handler("/all.xml", lambda hit: listing)
        site.redirect("/moved.xml", other.url("/all.xml"))
        site.page("/sitemap.xml", index(site.url("/moved.xml") if moved else other.url("/all.xml")), headers=XML)
        site.page("/a", links(other.url("/linked")))
        site.page("/b", links(other.url("/linked")))
        made = reader(site, allow_private=True, parse=lambda self, page: [{"url": page.url}, page.follow("a")])
        run(made, max_pages=1, concurrency=1)
        report = run(made)
        assert (report.run, report.pages, report.reason) == (1, 2, "done")
        assert set(other.paths()) == {"/robots.txt", "/all.xml"}
        assert {fates(site)[other.url(path)] for path in ("/a", "/linked")} == {"skipped scope"}


def test_include_and_exclude_hold_for_pages_and_not_for_sitemaps(site: Site) -> None:
    site.page("/sitemap.xml", index(site.url("/maps/one.xml")), headers=XML)
    listed(site, "/maps/one.xml", "/keep/a", "/keep/b", "/drop/c")
    run(reader(site, include=["/keep/"], exclude=["/b$", "xml"]))
    assert pages() == ["/keep/a"]
    assert {fates(site)[path] for path in ("/keep/b", "/drop/c")} == {"skipped exclude", "skipped include"}


def test_budgets_count_pages_and_no_sitemaps(site: Site) -> None:
    listed(site, "/sitemap.xml", *(f"/{n}" for n in range(9)))
    report = run(reader(site), max_pages=3)
    assert (report.pages, report.reason, len(pages())) == (3, "max_pages", 3)
    report = run(reader(site))
    assert (report.run, report.pages, report.reason) == (1, 9, "done")
    assert site.paths()["/sitemap.xml"] == 1


def test_a_run_that_ended_before_its_sitemap_was_read_goes_on(site: Site) -> None:
    listed(site, "/two.xml", "/b", "/c")
    site.page("/sitemap.xml", index(site.url("/one.xml"), site.url("/two.xml")), headers=XML)
    listed(site, "/one.xml", "/a")
    site.flaky("/two.xml", times=1, status=503, retry_after="2", then=Answer(body=urlset(site.url("/b"))))
    report = run(reader(site, max_wait="1s"))
    assert report.reason == "held"
    time.sleep(1.5)
    report = run(reader(site, max_wait="5s"))
    assert (report.run, report.reason, pages()) == (1, "done", ["/a", "/b"])


def test_links_and_maps_of_a_resumed_run_are_in_scope(site: Site) -> None:
    listed(site, "/sitemap.xml", "/a", "/b")
    site.page("/a", links("/linked"))
    site.page("/b", links("/linked"))
    site.page("/linked", "<p>x</p>")
    crawl(sitemaps=[site.url("/sitemap.xml")], max_pages=1, concurrency=1)
    report = crawl(sitemaps=[site.url("/sitemap.xml")])
    assert (report.run, report.pages, report.reason) == (1, 3, "done")


def test_revisited_sitemaps_are_read_anew(site: Site) -> None:
    listed(site, "/sitemap.xml", "/a", "/b")
    made = reader(site, revisit="never")
    run(made)
    listed(site, "/sitemap.xml", "/b", "/c")
    report = run(made)
    assert report.by_reason == {"sitemap": 1, "fresh": 1, "ok": 1}
    assert pages(run=2) == ["/b", "/c"]


# -- trouble ---------------------------------------------------------------------------------------------------


def test_indexes_that_name_each_other_end(site: Site) -> None:
    site.page("/sitemap.xml", index(site.url("/other.xml"), site.url("/pages.xml")), headers=XML)
    site.page("/other.xml", index(site.url("/sitemap.xml"), site.url("/other.xml")), headers=XML)
    listed(site, "/pages.xml", "/a")
    run(reader(site))
    assert (pages(), site.paths()["/other.xml"]) == (["/a"], 1)


def test_indexes_without_end_are_left_at_some_depth(site: Site) -> None:
    numbers = itertools.count(1)

    def onward(hit: Hit) -> Answer:
        return Answer(body=index(site.url(f"/map/{next(numbers)}.xml")), headers=XML)

    site.handler("/map/*", onward)
    site.page("/map/0.xml", index(site.url("/map/first.xml"), site.url("/pages.xml")), headers=XML)
    listed(site, "/pages.xml", "/a")
    report = run(reader(site, start_sitemaps=[site.url("/map/0.xml")]))
    assert (pages(), report.reason) == (["/a"], "done")
    assert len(site.hits) < 10


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x00\xff" * 1000,
        b"<html><title>404</title><p>no sitemap here",
        b"<urlset>" * 50_000,
        b"<urlset><url><loc>javascript:alert(1)</loc></url><url><loc>file:///etc/passwd</loc></url></urlset>",
        b"\x1f\x8b" + b"\x00" * 500,
    ],
    ids=["empty", "binary", "html", "nested", "schemes", "broken-gz"],
)
def test_what_is_no_sitemap_names_nothing_and_harms_nothing(site: Site, body: bytes) -> None:
    site.page("/sitemap.xml", body, headers=XML)
    site.page("/", "<p>home</p>")
    report = run(reader(site, start_urls=[site.url("/")]))
    told = report.failed == 0 or "is no sitemap, feed or list of URLs" in why(site.url("/sitemap.xml"))
    assert (pages(), told) == (["/"], True)
    assert set(site.paths()) == {"/robots.txt", "/sitemap.xml", "/"}


def test_entities_are_not_expanded(site: Site) -> None:
    dtd = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
    site.page("/sitemap.xml", f"{dtd}<urlset><url><loc>/&b;</loc></url><url><loc>/&c;</loc></url></urlset>")
    run(reader(site))
    assert set(site.paths()) == {"/robots.txt", "/sitemap.xml", "/&b;", "/&c;"}


def test_a_bomb_costs_its_sitemap_only(site: Site) -> None:
    packed = gzip.compress(urlset(site.url("/b")).encode() + b" " * (60 << 20), compresslevel=1)
    site.page("/packed.xml.gz", packed, headers={"Content-Type": "application/gzip"})
    site.bomb("/bomb.xml", megabytes=200)
    listed(site, "/sitemap.xml", "/a")
    site.page("/b", "<p>x</p>")
    started = time.monotonic()
    run(reader(site, start_sitemaps=[site.url(f"/{name}") for name in ("sitemap.xml", "bomb.xml", "packed.xml.gz")]))
    # What stands before the mistake is read.
    assert pages() == ["/a", "/b"]
    assert fates(site)["/bomb.xml"] == "failed bomb"
    assert time.monotonic() - started < 25


def test_a_large_sitemap_is_no_suspicious_page(site: Site) -> None:
    """Read as HTML, tags like these would nest ten thousands deep, which no parser does in time."""
    entry = "<url><loc>/{}</loc><xhtml:link rel='alternate' hreflang='de' href='/de'/><video/></url>"
    body = "<urlset><base href='https://elsewhere.example/'/>" + "".join(entry.format(n % 20) for n in range(60_000))
    site.page("/sitemap.xml", body, headers=XML)
    site.page("/*", "<p>x</p>")
    report = run(reader(site))
    assert (report.pages, report.by_reason["sitemap"], report.failed) == (20, 1, 0)


def test_many_pages_are_all_walked(site: Site) -> None:
    paths = [f"/p/{n}" for n in range(600)]
    site.page("/sitemap.xml", urlset(*map(site.url, paths)), headers=XML)
    site.page("/p/*", "<p>x</p>")
    report = run(reader(site))
    assert (report.pages, report.items) == (600, 600)
    assert len(asked(site, "/p/7")) == 1


@pytest.mark.parametrize(
    ("value", "told"),
    [("https://a.org/sitemap.xml", "write a list"), (["ftp://a/b"], "only http and https"), ((), "nothing to start")],
)
def test_sitemaps_that_cannot_be_used_are_refused_in_words(site: Site, value: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        run(reader(site, start_sitemaps=value))


def test_logins_in_sitemap_urls_are_sent_and_not_kept(site: Site) -> None:
    with_login = site.url("/sitemap.xml").replace("://", "://me:open%20sesame@")
    listed(site, "/sitemap.xml", "/a")
    crawl(sitemaps=[with_login])
    assert {hit.headers.get("authorization") for hit in asked(site, "/sitemap.xml")} == {"Basic bWU6b3BlbiBzZXNhbWU="}
    with open("gossamer.db", "rb") as file:
        assert b"sesame" not in file.read()
    assert "sesame" not in why(site.url("/sitemap.xml"))
