"""Which proxies are alive, found out through real ones."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from gossamer.errors import FetchError, ProxyFailed
from gossamer.fetch import proxy_check
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.agents import Identity
from gossamer.fetch.client import Client
from gossamer.fetch.proxies import Proxy, ProxyProvider, ProxyProviderFromList
from gossamer.fetch.proxy_check import Checked
from gossamer.fetch.proxy_scores import FIRST_REST
from gossamer.fetch.proxy_services import ProxyProviderFromProxyscrape, ProxyProviderFromWebshare
from gossamer.fetch.way import Way
from gossamer.settings import ScraperConfig
from gossamer.testing import Answer, Site
from gossamer.values import Request, Response
from tests.servers import HttpProxy, HttpsProxy, Socks5Proxy, TlsFront, dead_port

LOGIN = ("ann@home", "s3cret %/#é")
KINDS = (HttpProxy, Socks5Proxy)


def nobody(name: str) -> list[str]:
    """A resolver that knows no name: no test may ask a real one."""
    raise OSError(f"{name} is not known")


def check(provider: ProxyProvider, url: str, **how: Any) -> list[Checked]:
    async def do() -> list[Checked]:
        async with Client() as client:
            return await proxy_check.check(
                provider,
                url=url,
                fetcher=client,
                addresses=Addresses(private=True, resolver=nobody),
                **{"timeout": 5.0, **how},
            )

    return asyncio.run(do())


def fetch(url: str, proxy: Proxy, **knobs: Any) -> Response:
    async def do() -> Response:
        config = ScraperConfig(timeout=5, **knobs)
        async with Client() as client:
            way = Way(Identity(config.user_agent), Addresses(private=True, resolver=nobody), proxy=proxy)
            return await client.fetch(Request(url), config, way)

    return asyncio.run(do())


@pytest.fixture
def page(site: Site) -> str:
    site.page("/", "<p>hello</p>")
    return site.url("/")


# -- one fetch through one proxy


@pytest.mark.parametrize("login", [None, LOGIN], ids=["open", "credentials"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_page_comes_through_a_proxy(kind: type[HttpProxy], login: tuple[str, str] | None, page: str) -> None:
    with kind(login=login) as proxy:
        assert fetch(page, Proxy.of(proxy.url)).body == b"<p>hello</p>"
        (went,) = proxy.through
        assert went.ok
        assert went.target == page.split("/")[2]
        assert went.user == (login[0] if login else None)


@pytest.mark.parametrize("login", [None, LOGIN], ids=["open", "credentials"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_secure_page_comes_through_a_tunnel(
    kind: type[HttpProxy], login: tuple[str, str] | None, page: str, site: Site
) -> None:
    with TlsFront(site.authority) as front, kind(login=login) as proxy:
        got = fetch(f"{front.label}/", Proxy.of(proxy.url), insecure_hosts=("127.0.0.1",))
        assert got.body == b"<p>hello</p>"
        assert proxy.through[0].how == ("connect" if kind is HttpProxy else "socks5")


def test_a_proxy_behind_tls_must_show_a_good_certificate(page: str) -> None:
    with HttpsProxy() as proxy, pytest.raises(FetchError):
        fetch(page, Proxy.of(proxy.url))
    assert proxy.targets() == []


def test_a_proxy_behind_tls_is_used_if_its_certificate_need_not_be_good(page: str) -> None:
    with HttpsProxy(login=LOGIN) as proxy:
        assert fetch(page, Proxy.of(proxy.url), insecure_hosts=("127.0.0.1",)).status == 200
        assert proxy.through[0].user == LOGIN[0]


def test_names_are_looked_up_by_an_http_proxy_and_by_socks5h(site: Site, page: str) -> None:
    names = {"shop.example:80": site.authority}
    with HttpProxy(names=names) as http, Socks5Proxy(names=names) as socks:
        for proxy in (http, socks):
            label = proxy.label.replace("socks5:", "socks5h:")
            assert fetch("http://shop.example/", Proxy.of(label)).status == 200
            assert proxy.through[0].by_name


@pytest.mark.parametrize("kind", KINDS)
def test_a_proxy_that_does_not_do_its_part_is_blamed(kind: type[HttpProxy], page: str) -> None:
    with kind(login=LOGIN) as proxy:
        for wrong in (proxy.label, proxy.url.replace("s3cret", "wrong")):
            with pytest.raises(ProxyFailed) as caught:
                fetch(page, Proxy.of(wrong))
            assert "s3cret" not in str(caught.value)
            assert "wrong" not in str(caught.value)
    with pytest.raises(ProxyFailed) as caught:
        fetch(page, Proxy.of(proxy.url))
    assert "s3cret" not in str(caught.value)


# -- all of them


@pytest.fixture
def zoo() -> Iterator[dict[str, Any]]:
    """Proxies of every kind, and in every state."""
    with ExitStack() as stack:
        made: dict[str, Any] = {
            "http": HttpProxy(),
            "login": HttpProxy(login=LOGIN),
            "socks": Socks5Proxy(),
            "socks login": Socks5Proxy(login=LOGIN),
            "refusing": HttpProxy(),
            "resetting": HttpProxy(),
            "hanging": Socks5Proxy(),
            "garbage": HttpProxy(),
            "socks garbage": Socks5Proxy(),
            "slow": HttpProxy(),
        }
        for proxy in made.values():
            stack.enter_context(proxy)
        made["refusing"].fail(403)
        made["resetting"].fail("reset")
        made["hanging"].fail("hang")
        made["garbage"].fail("garbage")
        made["socks garbage"].fail("garbage")
        made["slow"].delay = 0.5
        yield made


def test_a_check_tells_the_living_from_the_dead(zoo: dict[str, Any], page: str) -> None:
    dead = f"http://127.0.0.1:{dead_port()}"
    provider = ProxyProviderFromList([*(proxy.url for proxy in zoo.values()), dead])
    told: list[Checked] = []
    began = time.monotonic()
    found = check(provider, page, timeout=1.5, tell=told.append)
    assert time.monotonic() - began < 4, "they are asked at the same time"
    alive = dict(zip([*zoo, "dead"], found, strict=True))
    assert [name for name, each in alive.items() if each.ok] == ["http", "login", "socks", "socks login", "slow"]
    assert alive["refusing"].status == 403
    assert alive["slow"].seconds >= 0.5
    assert all(each.why for each in found if not each.ok)
    assert all(each.status == 200 for each in found if each.ok)
    assert sorted(told, key=repr) == sorted(found, key=repr)
    assert told[-1] == alive["hanging"]
    assert "s3cret" not in repr(found)


def test_the_provider_hears_of_a_check(zoo: dict[str, Any], page: str) -> None:
    provider = ProxyProviderFromList([proxy.url for proxy in zoo.values()])
    check(provider, page, timeout=1.0)
    resting = {row.label for row in provider.standings() if row.rests > FIRST_REST / 2}
    dead = ("resetting", "hanging", "garbage", "socks garbage")
    assert resting == {zoo[name].label for name in dead}
    picks = {provider.pick(host="a.org") for _ in range(300)}
    assert {proxy.label for proxy in picks if proxy} == {p.label for name, p in zoo.items() if name not in dead}


def test_a_proxy_that_comes_back_to_life_is_used_again(page: str) -> None:
    now = 0.0
    with HttpProxy() as proxy:
        provider = ProxyProviderFromList([proxy.url], clock=lambda: now)
        proxy.stop()
        assert not check(provider, page)[0].ok
        assert provider.standings()[0].rests == FIRST_REST
        proxy.start()
        assert check(provider, page)[0].ok
        assert provider.standings()[0].rests == 0


def test_no_more_are_asked_at_once_than_was_said(site: Site) -> None:
    site.handler("/", lambda hit: Answer(body="ok", latency=0.05))
    with HttpProxy() as one, HttpProxy() as two:
        provider = ProxyProviderFromList(
            [f"{p.label.replace('://', f'://u{n}:p@')}" for p in (one, two) for n in range(10)]
        )
        assert sum(each.ok for each in check(provider, site.url("/"), concurrency=3)) == 20
    assert site.peak <= 3


def test_an_empty_list_is_quickly_checked() -> None:
    assert check(ProxyProviderFromList([]), "https://example.com/") == []


def test_a_dripping_answer_does_not_hold_a_check_up(site: Site) -> None:
    site.drip("/")
    with HttpProxy() as proxy:
        began = time.monotonic()
        (found,) = check(ProxyProviderFromList([proxy.url]), site.url("/"), timeout=0.5)
        assert not found.ok
        assert time.monotonic() - began < 15


# -- lists, loaded from a service that is played by a site


def load(provider: ProxyProvider) -> None:
    async def do() -> None:
        async with Client() as client:
            await provider.load(proxy_check.getter(client, Addresses(private=True, resolver=nobody)))

    asyncio.run(do())


def test_a_list_is_loaded_by_the_client(site: Site) -> None:
    site.page("/v2/", "1.2.3.4:80\r\n1.2.3.5:80\r\n", headers={"Content-Type": "text/plain"})
    provider = ProxyProviderFromProxyscrape(base=site.url("/"))
    load(provider)
    assert len(provider) == 2


def test_a_key_goes_out_in_a_header(site: Site) -> None:
    row = {"username": "ann", "password": "pw", "proxy_address": "1.2.3.4", "port": 80, "country_code": "US"}
    link = "/api/v2/proxy/list/"
    site.json(f"{link}?mode=direct&page=1&page_size=100", {"next": f"{site.url(link)}?page=2", "results": [row]})
    site.json(f"{link}?page=2", {"next": None, "results": [row | {"proxy_address": "1.2.3.5"}]})
    provider = ProxyProviderFromWebshare("the-key", base=site.url("/"))
    load(provider)
    assert [proxy.label for proxy in provider.proxies] == ["http://1.2.3.4:80", "http://1.2.3.5:80"]
    assert [hit.headers["authorization"] for hit in site.hits] == ["Token the-key"] * 2


def test_the_key_does_not_follow_a_redirect(site: Site) -> None:
    with Site() as other:
        site.redirect("/api/v2/proxy/list/", other.url("/"), status=302)
        with pytest.raises(ProxyFailed, match="status 302"):
            load(ProxyProviderFromWebshare("the-key", base=site.url("/")))
        assert other.hits == []
