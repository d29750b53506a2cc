"""Where a crawl goes: scope, rules, depth and budget."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest

from gossamer.testing import Site, graph_site
from tests.walk import crawl, fates, items, links, records, why


@pytest.fixture
def other() -> Iterator[Site]:
    """A second site, on another host."""
    with Site("127.0.0.2") as started:
        started.page("/", links("/deep"))
        started.page("/deep", "<p>deep</p>")
        yield started


@pytest.fixture
def neighbour() -> Iterator[Site]:
    """A second site, on another port of the same host."""
    with Site() as started:
        started.page("/", "<p>next door</p>")
        yield started


def test_a_page_becomes_an_item_with_every_field(site: Site) -> None:
    body = (
        '<!doctype html><html lang="en-GB"><head><title> A  title </title><base href="/base/">'
        "<style>p{}</style></head><body><h1>One</h1><h2>Two <b>bold</b></h2><p>text</p><script>x()</script>"
        '<a href="a#top">a</a><a href="a">again</a><map><area href="/area"></map><iframe src="i"></iframe>'
        '<a href="mailto:x@y.z">m</a><a href="http://elsewhere.example/">out</a></body></html>'
    )
    site.page("/", body)
    crawl(site.url("/"), depth=0)
    (item,) = items()
    assert (item["kind"], item["key"], item["scraper"]) == ("page", site.url("/"), "crawl")
    page = item["data"]
    assert page.pop("fetched_at").endswith("+00:00")
    assert page.pop("text_length") in range(15, 60)
    assert page == {
        "url": site.url("/"),
        "status": 200,
        "depth": 0,
        "title": "A title",
        "headings": ["One", "Two bold"],
        "links": [site.url("/base/a"), site.url("/area"), site.url("/base/i"), "http://elsewhere.example/"],
        "language": "en-GB",
        "sha256": hashlib.sha256(body.encode()).hexdigest(),
    }


def test_frames_are_links_too(site: Site) -> None:
    site.page("/", '<html><frameset><frame src="/left"><frame src="/right"></frameset></html>')
    site.page("/left", "<p>l</p>")
    site.page("/right", "<p>r</p>")
    assert crawl(site.url("/")).pages == 3


def test_scope_host_stays_on_host_and_port(site: Site, other: Site, neighbour: Site) -> None:
    site.page("/", links(other.url("/"), neighbour.url("/"), "/in"))
    site.page("/in", "<p>in</p>")
    report = crawl(site.url("/"))
    assert (report.pages, report.skipped, report.by_reason["scope"]) == (2, 2, 2)
    assert other.hits == []
    assert neighbour.hits == []
    assert "outside the run's scope" in why(other.url("/"))


def test_scope_domain_takes_every_name_under_the_registered_one(site: Site) -> None:
    port = site.port
    home, sister, stranger = (f"http://{name}:{port}/" for name in ("www.a.localhost", "b.a.localhost", "c.localhost"))
    site.handler("/", lambda hit: _page_of(hit.headers["host"]))

    def _page_of(host: str):
        from gossamer.testing import Answer

        return Answer(body=links(sister, stranger) if host.startswith("www") else "<p>leaf</p>")

    crawl(home, scope="domain", allow_private=True)
    assert {hit.headers["host"] for hit in site.hits} == {f"www.a.localhost:{port}", f"b.a.localhost:{port}"}


def test_scope_prefix_stays_under_the_start_folder(site: Site) -> None:
    site.page("/docs/v2/index.html", links("/docs/v2/a", "/docs/v2/sub/b", "/docs/v1/c", "/docs/v2x"))
    site.page("/docs/*", "<p>page</p>")
    crawl(site.url("/docs/v2/index.html"), scope="prefix")
    assert set(site.paths()) == {"/robots.txt", "/docs/v2/index.html", "/docs/v2/a", "/docs/v2/sub/b"}


def test_scope_any_goes_wherever_links_lead(site: Site, other: Site) -> None:
    site.page("/", links(other.url("/")))
    report = crawl(site.url("/"), scope="any", allow_private=True)
    assert report.pages == 3
    assert other.paths()["/deep"] == 1


def test_include_and_exclude_choose_links_but_never_the_start(site: Site) -> None:
    site.page("/", links("/keep/1", "/keep/2", "/keep/print/3", "/drop/4"))
    site.page("/*", "<p>page</p>")
    report = crawl(site.url("/"), include=["/keep/", "/also/"], exclude=["/print/", "nothing"])
    assert set(site.paths()) == {"/robots.txt", "/", "/keep/1", "/keep/2"}
    assert (report.by_reason["include"], report.by_reason["exclude"]) == (1, 1)
    assert "--exclude expression matches it" in why(site.url("/keep/print/3"))
    assert "no --include expression matches it" in why(site.url("/drop/4"))


@pytest.mark.parametrize(("depth", "pages"), [(0, 1), (1, 2), (2, 3)])
def test_depth_counts_links_from_the_start(site: Site, depth: int, pages: int) -> None:
    for n in range(5):
        site.page(f"/{n}", links(f"/{n + 1}"))
    assert crawl(site.url("/0"), depth=depth).pages == pages
    assert site.paths()[f"/{pages}"] == 0
    assert "deeper than --depth" in why(site.url(f"/{pages}"))


def test_depth_is_that_of_the_shortest_way_however_slow_it_is(site: Site) -> None:
    """The long way round is found first, since the short way has to be retried; the page is still at depth 2."""
    site.page("/", links("/short", "/long1"))
    site.flaky("/short", times=1, status=500, then=links("/goal"))
    site.page("/long1", links("/long2"))
    site.page("/long2", links("/goal"))
    site.page("/goal", "<p>goal</p>")
    crawl(site.url("/"))
    depths = {record["url"]: record["depth"] for record in records()}
    assert depths[site.url("/goal")] == 2


@pytest.mark.parametrize("limit", [1, 7, 40])
def test_max_pages_is_exact_at_any_concurrency(site: Site, limit: int) -> None:
    graph_site(site, 200, latency=0.01)
    report = crawl(site.url("/p/0"), max_pages=limit, concurrency=64, per_host=64)
    assert (report.pages, report.reason, report.exit_code) == (limit, "max_pages", 3)
    assert sum(hit.path.startswith("/p/") for hit in site.hits) == limit


def test_pages_that_fail_do_not_use_up_max_pages(site: Site) -> None:
    site.page("/", links(*[f"/gone/{n}" for n in range(10)], *[f"/here/{n}" for n in range(10)]))
    site.page("/here/*", "<p>here</p>")
    report = crawl(site.url("/"), max_pages=5, concurrency=64, per_host=64)
    assert report.pages == 5


def test_a_budget_as_large_as_the_site_is_no_early_end(site: Site) -> None:
    site.page("/", links("/a"))
    site.page("/a", "<p>a</p>")
    report = crawl(site.url("/"), max_pages=2)
    assert (report.reason, report.exit_code) == ("done", 0)


def test_many_spellings_of_one_url_are_fetched_once(site: Site) -> None:
    site.page("/", links("/a?x=1&y=2", "/a?y=2&x=1", "/a?x=1&y=2#part", "/%7euser", "/~user", "/b/../a?x=1&y=2"))
    site.page("/*", "<p>page</p>")
    assert crawl(site.url("/"), site.url("/#again")).pages == 3


def test_links_that_are_no_pages_are_left_alone(site: Site) -> None:
    site.page("/", links("javascript:x()", "tel:1", "data:text/html,x", "http://", "http://[bad/", "ftp://x/y", ""))
    report = crawl(site.url("/"))
    assert (report.pages, report.failed, report.skipped) == (1, 0, 0)
    assert set(fates(site)) == {"/"}
