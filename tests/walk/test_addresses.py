"""Private addresses: what was typed may be there, and nothing else leads there, however it is written or found."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

import gossamer
from gossamer import Page, Request, Scraper, runs
from gossamer.fetch import addresses
from gossamer.fetch.proxies import ProxyProvider, ProxyProviderFromList
from gossamer.registry import Found
from gossamer.testing import Answer, Hit, Site
from tests.cli import typed
from tests.servers import HttpProxy, Socks5Proxy
from tests.walk import asked, crawl, fates, links, run, why

REFUSED = "failed address"


@pytest.fixture
def victim() -> Iterator[Site]:
    """A site at another address of this machine, which nobody typed."""
    with Site("127.0.0.2") as started:
        started.page("/*", "<p>secret</p>")
        yield started


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], list[str]]]:
    """Names of our own: what each leads to when it is looked up."""
    known: dict[str, Callable[[], list[str]]] = {}

    def look_up(name: str) -> list[str]:
        if name not in known:
            raise OSError(f"{name} is not known")
        return known[name]()

    monkeypatch.setattr(addresses, "system_resolver", look_up)
    return known


def refused(url: str, store: str = "gossamer.db") -> bool:
    """Whether a URL was refused for its address, with a sentence that says so and what to do."""
    told = why(url, store)
    return ": address, its address is a private one" in told and "--allow-private" in told


# -- links -----------------------------------------------------------------------------------------------------


def test_a_typed_start_may_be_at_home_and_its_links_lead_nowhere_else(site: Site, victim: Site) -> None:
    with Site() as neighbour:  # the same address at another port
        site.page("/", links("/in", victim.url("/a"), neighbour.url("/b"), f"http://localhost:{site.port}/c"))
        site.page("/in", "<p>in</p>")
        report = crawl(site.url("/"), scope="any")
        assert (report.pages, report.by_reason["address"]) == (2, 3)
        assert refused(victim.url("/a"))
        assert refused(neighbour.url("/b"))
        assert f"{victim.authority} is not a public address (loopback)" in why(victim.url("/a"))
        assert f"localhost:{site.port} leads to 127.0.0.1, which is not a public address" in why(
            f"http://localhost:{site.port}/c"
        )
        assert (victim.hits, neighbour.hits, site.paths()["/c"]) == ([], [], 0)


def test_an_address_that_is_refused_is_refused_at_once(site: Site, victim: Site) -> None:
    """Nothing is tried again, and no host counts as failing, for what is a rule of ours."""
    site.page("/", links(*(victim.url(f"/{n}") for n in range(20))))
    report = crawl(site.url("/"), scope="any")
    assert (report.by_reason["address"], report.retried) == (20, 0)
    assert report.seconds < 2
    assert "breaker" not in why(victim.url("/1"))


SPELLINGS = (
    "127.1",
    "127.0.1",
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0x7F.0.0.1",
    "0177.0.0.01",
    "127.0.0.1.",
    "%31%32%37.0.0.1",
    "127%2e0%2e0%2e1",
    "１２７.０.０.１",
    "127。0。0。1",
    "①②⑦.0.0.1",
    "127.0.0.2",
    "127.255.255.254",
    "0",
    "0.0.0.0",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::1]",
    "[fe80::5efe:127.0.0.1]",
    "[fd00:ec2::254]",
    "169.254.169.254",
    "0xA9FEA9FE",
    "10.0.0.1",
    "100.100.100.200",
    "224.0.0.1",
    "255.255.255.255",
    "localhost",
    "LOCALHOST.",
    "shop.localhost",
    "user:pw@127.0.0.1",
)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_each_spelling_of_an_address_is_known_for_what_it_is(victim: Site, spelling: str) -> None:
    with Site() as target:  # where most of them would lead
        victim.page("/", links(f"http://{spelling}:{target.port}/x"))
        report = crawl(victim.url("/"), scope="any")
        assert (report.by_reason.get("address"), report.pages, target.hits) == (1, 1, [])


def test_also_where_no_robots_txt_is_asked_first(victim: Site) -> None:
    with Site() as target:
        victim.page("/", links(*(f"http://{spelling}:{target.port}/{n}" for n, spelling in enumerate(SPELLINGS))))
        report = crawl(victim.url("/"), scope="any", robots=False)
        assert (report.by_reason.get("address"), report.pages, target.hits) == (len(SPELLINGS), 1, [])


def test_another_spelling_of_what_was_typed_is_what_was_typed(site: Site) -> None:
    site.page("/", links(f"http://2130706433:{site.port}/x", f"//127.1:{site.port}/y"))
    site.page("/*", "<p>x</p>")
    assert crawl(f"http://0x7f.1:{site.port}/").pages == 3


# -- all that leads elsewhere ----------------------------------------------------------------------------------


def test_a_redirect_leads_there_no_more_than_a_link_does(site: Site, victim: Site) -> None:
    site.page("/", links("/go"))
    site.redirect("/go", "/on")
    site.redirect("/on", victim.url("/admin"))
    report = crawl(site.url("/"), scope="any")
    assert (report.pages, report.by_reason["address"]) == (1, 1)
    assert refused(victim.url("/admin"))
    assert victim.hits == []


@pytest.mark.parametrize("robots", [True, False])
def test_a_start_that_redirects_there_is_no_start_there(site: Site, victim: Site, robots: bool) -> None:
    site.redirect("/", victim.url("/admin"))
    report = crawl(site.url("/"), robots=robots)
    assert (report.status, report.reason) == ("failed", "start_failed")
    assert refused(victim.url("/admin"))
    assert victim.hits == []


def test_nor_does_one_that_is_resumed(site: Site, victim: Site, store: str) -> None:
    """What a redirect led to is a start of the scope, and never one that somebody typed."""
    site.redirect("/", victim.url("/admin"))
    victim.flaky("/admin", status=503, retry_after="3")
    assert crawl(site.url("/"), store=store, allow_private=True, max_wait=0.3).reason == "held"
    report = crawl(site.url("/"), store=store)
    assert (report.run, report.pages, report.by_reason["address"]) == (1, 0, 1)
    assert refused(victim.url("/admin"), store)
    assert victim.paths()["/admin"] == 1


def test_a_start_is_still_one_when_it_is_resumed(site: Site, victim: Site, store: str) -> None:
    site.page("/", links("/a", "/b", victim.url("/x")))
    site.page("/*", "<p>x</p>")
    assert crawl(site.url("/"), store=store, scope="any", max_pages=1).reason == "max_pages"
    report = crawl(site.url("/"), store=store, scope="any")
    assert (report.run, report.pages, report.by_reason["address"]) == (1, 3, 1)


def test_a_robots_txt_may_not_lie_there(site: Site, victim: Site) -> None:
    site.redirect("/robots.txt", victim.url("/rules"))
    site.page("/", "<p>x</p>")
    report = crawl(site.url("/"))
    assert (report.pages, report.by_reason) == (0, {"address": 1})
    assert victim.url("/rules") in why(site.url("/"))
    assert refused(site.url("/"))
    assert victim.hits == []


def test_a_refusal_is_no_news_for_the_next_run(site: Site, victim: Site, store: str) -> None:
    """That one run may not ask a robots.txt does not close the site for one that may."""
    site.page("/", links(victim.url("/x")))
    site.redirect("/robots.txt", victim.url("/rules"))
    victim.page("/rules", "User-agent: *\nDisallow: /no", headers={"Content-Type": "text/plain"})
    assert crawl(site.url("/"), store=store, scope="any").pages == 0
    assert crawl(site.url("/"), store=store, scope="any", fresh=True, allow_private=True).pages == 2


def test_a_sitemap_leads_there_no_more_than_a_link_does(site: Site, victim: Site) -> None:
    def listed(kind: str, *places: str) -> Answer:
        inner = "".join(f"<{kind}><loc>{place}</loc></{kind}>" for place in places)
        around = {"url": "urlset", "sitemap": "sitemapindex"}[kind]
        return Answer(
            body=f'<{around} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{inner}</{around}>',
            headers={"Content-Type": "application/xml"},
        )

    site.handler("/index.xml", lambda hit: listed("sitemap", site.url("/map.xml"), victim.url("/map.xml")))
    site.handler("/map.xml", lambda hit: listed("url", site.url("/a"), victim.url("/b")))
    site.page("/a", "<p>a</p>")
    asyncio.run(gossamer.crawl(sitemaps=[site.url("/index.xml")], rate="none", scope="any"))
    told = fates(site)
    assert (told["/a"], told[victim.url("/b")], told[victim.url("/map.xml")]) == ("done ok", REFUSED, REFUSED)
    assert victim.hits == []


def test_a_sitemap_that_a_robots_txt_names_may_not_lie_there(site: Site, victim: Site) -> None:
    site.robots(f"Sitemap: {victim.url('/map.xml')}\n")
    asyncio.run(gossamer.crawl(site.url("/"), sitemaps=["auto"], rate="none"))
    assert fates(site)[victim.url("/map.xml")] == REFUSED
    assert victim.hits == []


def test_a_download_may_not_come_from_there(site: Site, victim: Site) -> None:
    class Files(Scraper):
        start_urls = (site.url("/"),)

        def parse(self, page: Page) -> Any:
            yield page.download(victim.url("/file.bin"), to="file.bin")

    site.page("/", "<p>x</p>")
    report = run(Files, scope="any")
    assert (report.by_reason["address"], victim.hits) == (1, [])


def test_a_request_with_a_body_may_not_go_there(site: Site, victim: Site) -> None:
    class Poster(Scraper):
        start_urls = (site.url("/"),)

        def parse(self, page: Page) -> Any:
            yield Request(victim.url("/admin"), json={"delete": "all"})

    site.page("/", "<p>x</p>")
    report = run(Poster, scope="any")
    assert (report.by_reason["address"], victim.hits) == (1, [])


# -- names -----------------------------------------------------------------------------------------------------


def test_a_name_is_judged_by_where_it_leads(site: Site, names: dict[str, Any]) -> None:
    names["evil.example"] = lambda: ["127.0.0.1"]
    names["mixed.example"] = lambda: ["203.0.113.7", "127.0.0.1"]
    names["six.example"] = lambda: ["::ffff:127.0.0.1"]
    bad = [f"http://{name}:{site.port}/x" for name in names]
    site.page("/", links(*bad))
    report = crawl(site.url("/"), scope="any")
    assert (report.pages, report.by_reason["address"], site.paths()["/x"]) == (1, 3, 0)
    assert f"evil.example:{site.port} leads to 127.0.0.1, which is not a public address (loopback)" in why(bad[0])


def test_a_typed_name_may_lead_home_but_only_at_its_port(site: Site, names: dict[str, Any]) -> None:
    names["intranet.example"] = lambda: ["127.0.0.1"]
    with Site() as neighbour:
        home = f"http://intranet.example:{site.port}"
        away = f"http://intranet.example:{neighbour.port}/x"
        site.page("/", links("/in", away, site.url("/by-address")))
        site.page("/in", "<p>in</p>")
        report = crawl(f"{home}/", scope="any")
        assert (report.pages, report.by_reason["address"], neighbour.hits) == (2, 2, [])
        assert {hit.headers["host"] for hit in site.hits} == {f"intranet.example:{site.port}"}


def test_a_typed_name_whose_answer_changes_does_not_lead_elsewhere(
    names: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every third lookup gives another address, which was not there at first: not one byte goes there."""
    monkeypatch.setattr(addresses, "KEPT", 0.0)
    answers = itertools.cycle([["127.0.0.1"], ["127.0.0.1"], ["127.0.0.2"]])
    names["flip.example"] = lambda: next(answers)
    with Site(also=["127.0.0.2"]) as both:
        both.page("/", links(*(f"/{n}" for n in range(10))))
        both.page("/*", "<p>x</p>")
        url = f"http://flip.example:{both.port}"
        report = crawl(f"{url}/", robots=False, per_host=1)
        assert report.pages + report.by_reason["address"] == 11
        assert min(report.pages, report.by_reason["address"]) >= 3
        assert {hit.address for hit in both.hits} == {"127.0.0.1"}
        told = [told for n in range(10) if "now leads to 127.0.0.2" in (told := why(f"{url}/{n}"))]
    assert len(told) == report.by_reason["address"]
    assert "did not when the run began" in told[0]


def test_a_typed_name_that_was_public_may_not_come_home(names: dict[str, Any]) -> None:
    """A site of the outside whose name leads to this machine while the run goes on."""
    rules = addresses.Addresses()
    rules.allow("shop.example")
    names["shop.example"] = lambda: ["93.184.216.34"]
    assert asyncio.run(rules.resolve("shop.example")).text == "93.184.216.34"
    names["shop.example"] = lambda: ["127.0.0.1"]
    rules._answers.clear()
    rules._checked.clear()
    with pytest.raises(gossamer.errors.AddressRefused, match=r"now leads to 127\.0\.0\.1"):
        asyncio.run(rules.resolve("shop.example"))


# -- proxies ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [HttpProxy, Socks5Proxy], ids=["http", "socks5"])
def test_a_proxy_is_no_way_around(site: Site, victim: Site, kind: Any) -> None:
    site.page("/", links(victim.url("/x"), f"http://localhost:{victim.port}/y"))
    with kind() as proxy:
        report = crawl(site.url("/"), scope="any", proxies=[proxy.url])
        assert (report.pages, report.by_reason["address"]) == (1, 2)
        assert set(proxy.targets()) == {site.authority}


def test_a_proxy_that_nobody_typed_may_not_be_at_home(site: Site) -> None:
    site.page("/", "<p>x</p>")
    with HttpProxy() as proxy:
        report = crawl(site.url("/"), proxies=ProxyProvider([proxy.url]))
        assert (report.pages, report.by_reason) == (0, {"address": 1})
        assert refused(site.url("/"))
        assert crawl(site.url("/"), proxies=ProxyProviderFromList([proxy.url]), fresh=True).pages == 1
        assert len(proxy.targets()) == 2
    assert len(site.hits) == 2


# -- who allows it ---------------------------------------------------------------------------------------------


def test_allow_private_allows_it(site: Site, victim: Site) -> None:
    site.page("/", links(victim.url("/x"), f"http://localhost:{victim.port}/y"))
    site.redirect("/robots.txt", victim.url("/rules"))
    assert crawl(site.url("/"), scope="any", allow_private=True, retries=0).pages == 2
    assert len(asked(victim, "/x")) == 1


def test_a_scraper_may_say_so_itself(site: Site, victim: Site) -> None:
    def parse(self: Scraper, page: Page) -> Any:
        return page.follow("a")

    site.page("/", links(victim.url("/x")))
    told = {"start_urls": [site.url("/")], "parse": parse, "scope": "any"}
    assert run(type("Careful", (Scraper,), told)).pages == 1
    assert run(type("Trusting", (Scraper,), {**told, "allow_private": True})).pages == 2


def test_from_the_command_line(site: Site, victim: Site) -> None:
    site.page("/", links(victim.url("/x")))
    command = ["crawl", site.authority, "--scope", "any", "--rate", "none", "--quiet", "--fresh"]
    assert typed(*command).returncode == 0
    assert victim.hits == []
    told = typed("why", victim.url("/x")).stdout
    assert "its address is a private one, which nobody allowed" in told
    assert f"{victim.authority} is not a public address (loopback): start there, give --allow-private" in told
    assert typed(*command, "--allow-private").returncode == 0
    assert len(asked(victim, "/x")) == 1


class Asked(Scraper):
    """Starts wherever it is told to."""

    def start(self) -> Any:
        return self.params["urls"]

    def parse(self, page: Page) -> Any:
        yield {"url": page.url}


@pytest.mark.parametrize("robots", [True, False])
def test_what_nobody_typed_may_not_even_start_there(site: Site, store: str, robots: bool) -> None:
    """A plan that came over the network."""
    site.page("/", "<p>x</p>")
    with HttpProxy() as proxy:
        knobs = {"rate": "none", "robots": robots}
        planned = [
            runs.plan(Found(Asked, "tests:asked"), {"urls": [site.url("/"), f"http://localhost:{site.port}/"]}, knobs),
            runs.plan(Found(Asked, "tests:asked"), {"urls": [site.url("/")]}, {**knobs, "proxies": [proxy.url]}),
        ]

        async def main() -> list[runs.Report]:
            async with runs.open_parts(store) as parts:
                return [await runs.execute(parts, msgspec.structs.replace(each, trusted=False)) for each in planned]

        straight, through = asyncio.run(main())
        assert (straight.reason, straight.by_reason) == ("start_failed", {"address": 2})
        assert (through.reason, through.by_reason) == ("start_failed", {"address": 1})
        assert (site.hits, proxy.through) == ([], [])


def test_one_run_that_may_and_one_that_may_not_share_a_gate(site: Site, victim: Site, store: str) -> None:
    site.page("/", links(victim.url("/x")))

    def parse(self: Scraper, page: Page) -> Any:
        return page.follow("a")

    made = [
        type(name, (Scraper,), {"start_urls": [site.url("/")], "parse": parse, "allow_private": allow})
        for name, allow in (("Careful", False), ("Trusting", True))
    ]

    async def main() -> list[runs.Report]:
        async with runs.open_parts(store) as parts:
            plans = [
                runs.plan(Found(each, f"tests:{each.name}"), {}, {"rate": "none", "scope": "any"}) for each in made
            ]
            return [await runs.execute(parts, plan) for plan in [*plans, *plans]]

    reports = asyncio.run(main())
    assert [(report.pages, report.by_reason.get("address")) for report in reports] == [(1, 1), (2, None)] * 2


def test_the_address_that_answered_is_the_one_that_was_typed(site: Site) -> None:
    seen: list[str | None] = []

    def parse(self: Scraper, page: Page) -> None:
        seen.append(page.response.remote)

    site.handler("/", lambda hit: Answer(body=_host(hit)))
    run(type("Made", (Scraper,), {"start_urls": [site.url("/")], "parse": parse}))
    assert seen == ["127.0.0.1"]


def _host(hit: Hit) -> str:
    return f"<p>{hit.headers['host']}</p>"
