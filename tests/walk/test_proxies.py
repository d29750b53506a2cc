"""Whole walks through proxies: nothing goes out past them, and their failures cost no page."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gossamer import Request, Scraper
from gossamer.fetch import addresses, retry
from gossamer.fetch.proxies import ProxyProviderFromDict, ProxyProviderFromList
from gossamer.testing import Answer, Site
from tests.servers import HttpProxy, Socks5Proxy, dead_port
from tests.walk import crawl, fates, links, records, run, why

LOGIN = ("ann", "hunter2-s3cret")


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.02)


@pytest.fixture
def shop(site: Site) -> Site:
    """Twelve pages behind one."""
    site.page("/", links(*(f"/{n}" for n in range(12))))
    for n in range(12):
        site.page(f"/{n}", f"<h1>{n}</h1>")
    return site


@pytest.fixture(params=[HttpProxy, Socks5Proxy], ids=["http", "socks5"])
def proxy(request: pytest.FixtureRequest) -> Iterator[Any]:
    with request.param(login=LOGIN) as started:
        yield started


def test_everything_goes_through_the_proxy_robots_included(shop: Site, proxy: Any) -> None:
    report = crawl(shop.url("/"), proxies=[proxy.url])
    assert report.pages == 13
    assert set(proxy.targets()) == {shop.authority}
    assert {each.user for each in proxy.through} == {LOGIN[0]}
    assert shop.paths()["/robots.txt"] == 1


def test_no_credentials_are_kept_or_told(shop: Site, proxy: Any, store: str, capfd: pytest.CaptureFixture[str]) -> None:
    proxy.fail("reset", times=2)
    crawl(shop.url("/"), store=store, proxies=[proxy.url], retries=5)
    told = why(shop.url("/"), store)
    assert LOGIN[1] not in told
    with sqlite3.connect(store) as opened:
        dump = "\n".join(opened.iterdump())
    opened.close()
    assert LOGIN[1] not in dump
    assert LOGIN[1] not in "".join(capfd.readouterr())
    assert LOGIN[1] not in str([hit.headers for hit in shop.hits])


def test_dead_and_failing_proxies_cost_no_page(shop: Site) -> None:
    with HttpProxy() as good, HttpProxy() as resetting, Socks5Proxy() as refusing:
        resetting.fail("reset")
        refusing.fail("refuse")
        urls = [good.url, resetting.url, refusing.url, f"127.0.0.1:{dead_port()}"]
        report = crawl(shop.url("/"), proxies=urls, retries=10, per_host=1)
    assert report.pages == 13
    assert report.failed == 0
    assert len(good.targets()) == 14


def test_a_proxy_that_dies_on_the_way_costs_no_page(shop: Site) -> None:
    with HttpProxy() as one, HttpProxy() as other:
        shop.handler("/3", lambda hit: one.fail("reset") or Answer(body="<h1>3</h1>"))
        report = crawl(shop.url("/"), proxies=[one.url, other.url], retries=10)
    assert report.pages == 13
    assert other.targets()


def test_without_a_living_proxy_nothing_goes_out(shop: Site) -> None:
    report = crawl(shop.url("/"), proxies=[f"127.0.0.1:{dead_port()}"], retries=1)
    assert report.pages == 0
    assert shop.hits == []


def test_a_request_gets_a_proxy_in_its_country(site: Site, store: str) -> None:
    site.page("/", "<p>start</p>")
    site.page("/de", "<p>de</p>")
    site.page("/us", "<p>us</p>")
    with HttpProxy() as german, HttpProxy() as american, HttpProxy() as other:

        class Shop(Scraper):
            start_urls = (site.url("/"),)
            proxies = ProxyProviderFromDict({"DE": [german.url], "US": [american.url], "*": [other.url]})

            def parse(self, page: Any) -> Any:
                for country in ("de", "us", "fr"):
                    yield Request(f"/{country}", to=self.read, country=country.upper())

            def read(self, page: Any) -> Any:
                yield {"country": page.request.country}

        run(Shop, store, retries=0)
    assert sorted(record["country"] for record in records(store)) == ["DE", "US"]
    assert [len(each.targets()) for each in (german, american)] == [1, 1]
    assert site.paths()["/fr"] == 0
    assert "there is no proxy in FR" in why(site.url("/fr"), store)
    assert fates(site, store)["/fr"].endswith("proxy")


def test_a_session_keeps_its_proxy(site: Site, store: str) -> None:
    site.page("/", "<p>start</p>")
    site.page("/x/*", "<p>x</p>")
    seen: Counter[tuple[str, int]] = Counter()
    with HttpProxy() as one, HttpProxy() as two, HttpProxy() as three:
        all_of_them = (one, two, three)

        class Shop(Scraper):
            start_urls = (site.url("/"),)
            proxies = ProxyProviderFromList([each.url for each in all_of_them], seed=3)

            def parse(self, page: Any) -> Any:
                for n in range(20):
                    for name in ("ann", "bob", "cleo"):
                        yield Request(f"/x/{name}/{n}", to=self.read, session=name)

            def read(self, page: Any) -> Any:
                yield {"url": page.url}

        run(Shop, store)
    for number, each in enumerate(all_of_them):
        seen[("proxy", number)] = len(each.targets())
    # 60 requests in three sessions of 20, robots.txt and the start page by themselves.
    assert sum(seen.values()) == 62
    assert all(count % 20 <= 2 for count in seen.values())


def test_a_file_of_proxies_is_a_setting(shop: Site, proxy: Any, tmp_path: Path) -> None:
    (tmp_path / "proxies.txt").write_text(f"# ours\n{proxy.url} DE\n")
    report = crawl(shop.url("/"), proxies="proxies.txt")
    assert report.pages == 13
    assert proxy.targets()


def test_names_that_only_a_proxy_knows_can_be_crawled(shop: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(name: str) -> list[str]:
        raise OSError(f"{name} is not known")

    monkeypatch.setattr(addresses, "system_resolver", nobody)
    with HttpProxy(names={"shop.example:80": shop.authority}) as proxy:
        report = crawl("http://shop.example/", proxies=[proxy.url])
    assert report.pages == 13
    assert set(proxy.targets()) == {"shop.example:80"}
