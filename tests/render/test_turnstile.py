"""The turnstile: nobody gets out without a pass, nor to where the pass does not lead."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import time

import pytest

from gossamer.errors import AddressRefused, Broken, ConnectFailed, HeadersTooLarge, ProxyFailed
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.proxy import Proxy
from gossamer.fetch.turnstile import Pass, Turnstile
from gossamer.testing import Answer, Site
from tests.servers import HttpProxy, Socks5Proxy, dead_port


def through(page: Pass, *requests: str, known: bool = True, login: str | None = None) -> list[bytes]:
    """What raw requests, each on its own connection, are answered with."""

    async def main() -> list[bytes]:
        async with Turnstile() as turnstile:
            if known:
                turnstile.admit(page)
            told = base64.b64encode((login or f"{page.name}:{page.secret}").encode()).decode()
            answers = await asyncio.gather(*(one(turnstile.port, request, told) for request in requests))
            await turnstile.dismiss(page)
            return answers

    async def one(port: int, request: str, told: str) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        line, _, rest = request.partition("\n")
        writer.write(f"{line} HTTP/1.1\r\nProxy-Authorization: Basic {told}\r\nHost: x\r\n{rest}\r\n".encode())
        try:
            if line.startswith("CONNECT"):
                head = await reader.readuntil(b"\r\n\r\n")
                if b" 200 " not in head[:20]:
                    return head
                writer.write(b"GET /tunnelled HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return await asyncio.wait_for(reader.read(), 10)
        finally:
            writer.close()

    return asyncio.run(main())


def anywhere(**how: object) -> Pass:
    return Pass(Addresses(private=True), **how)  # type: ignore[arg-type]


def test_plain_requests_and_tunnels_get_through(site: Site) -> None:
    site.page("/a?b=1", "plain")
    site.page("/tunnelled", "tunnelled")
    page = anywhere()
    plain, tunnelled = through(page, f"GET {site.url('/a?b=1')}\nX-Mine: 1\r\n", f"CONNECT {site.authority}")
    assert plain.endswith(b"plain")
    assert tunnelled.endswith(b"tunnelled")
    hit = next(hit for hit in site.hits if hit.path == "/a?b=1")
    assert hit.headers["x-mine"] == "1"
    assert "proxy-authorization" not in hit.headers
    assert page.remotes == {site.authority: "127.0.0.1"}
    assert page.moved > len(plain) + len(tunnelled)


def test_nobody_gets_through_without_a_pass(site: Site) -> None:
    page = anywhere()
    asked = (f"GET {site.url('/')}", f"CONNECT {site.authority}")
    answers = through(page, *asked, known=False) + through(page, *asked, login=f"{page.name}:guess")
    assert all(answer.startswith(b"HTTP/1.1 407 ") for answer in answers)
    assert site.hits == []
    assert page.secret not in repr(page)


def test_refused_addresses_are_not_connected_to(site: Site) -> None:
    page = Pass(Addresses())
    answers = through(page, f"GET {site.url('/')}", f"CONNECT {site.authority}", "CONNECT [::1]:443")
    assert all(answer.startswith(b"HTTP/1.1 403 ") for answer in answers)
    assert site.hits == []
    assert all(isinstance(page.failures[name], AddressRefused) for name in (site.authority, "[::1]"))


def test_nothing_but_http_gets_through(site: Site) -> None:
    odd = (
        "GET ftp://127.0.0.1/x",
        "GET /origin-form",
        "CONNECT a b:1",
        "CONNECT u@h:1",
        "CONNECT h:0",
        "CONNECT h/x:1",
    )
    assert all(answer.startswith(b"HTTP/1.1 400 ") for answer in through(anywhere(), *odd))


def test_why_there_was_no_answer_is_remembered(site: Site) -> None:
    gone = f"127.0.0.1:{dead_port()}"
    site.handler("/noise", lambda hit: Answer(raw=b"noise\r\n\r\n"))
    page = anywhere()
    answer, noise = through(page, f"GET http://{gone}/", f"GET {site.url('/noise')}")
    assert answer.startswith(b"HTTP/1.1 502 ")
    assert noise.startswith(b"HTTP/1.1 502 ")
    assert isinstance(page.failures[gone], ConnectFailed)
    assert isinstance(page.failures[site.authority], Broken)


def test_heads_without_end_are_cut_off(site: Site) -> None:
    site.handler("/", lambda hit: Answer(raw=b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000 + b"\r\n\r\n"))
    page = anywhere()
    assert through(page, f"GET {site.url('/')}")[0].startswith(b"HTTP/1.1 502 ")
    assert isinstance(page.failures[site.authority], HeadersTooLarge)


def test_a_site_cannot_ask_for_our_proxys_password(site: Site) -> None:
    site.page("/", "who?", status=407, headers={"Proxy-Authenticate": "Basic realm=x"})
    assert through(anywhere(), f"GET {site.url('/')}")[0].startswith(b"HTTP/1.1 502 ")


def test_a_pass_is_spent_at_its_cap(site: Site) -> None:
    site.huge("/", megabytes=20)
    spent: list[bool] = []
    page = anywhere(cap=1 << 20, spent=lambda: spent.append(True))
    assert len(through(page, f"GET {site.url('/')}")[0]) <= 1 << 20
    assert spent


def test_one_host_is_asked_by_per_host_at_a_time(site: Site) -> None:
    site.page("/*", "x", latency=0.05)
    answers = through(anywhere(per_host=2), *(f"GET {site.url(f'/{n}')}" for n in range(8)))
    assert all(answer.endswith(b"x") for answer in answers)
    assert site.peak == 2


def test_a_page_that_left_has_no_connection_left(site: Site) -> None:
    site.drip("/")

    async def main() -> float:
        page = anywhere()
        async with Turnstile() as turnstile:
            turnstile.admit(page)
            reader, writer = await asyncio.open_connection("127.0.0.1", turnstile.port)
            told = base64.b64encode(f"{page.name}:{page.secret}".encode()).decode()
            writer.write(f"GET {site.url('/')} HTTP/1.1\r\nProxy-Authorization: Basic {told}\r\n\r\n".encode())
            await reader.readuntil(b"\r\n\r\n")
            began = time.monotonic()
            await turnstile.dismiss(page)
            with contextlib.suppress(ConnectionError):
                while await reader.read(1 << 16):
                    pass
            writer.close()
            return time.monotonic() - began

    assert asyncio.run(main()) < 5


@pytest.mark.parametrize("kind", [HttpProxy, Socks5Proxy])
def test_a_pass_may_lead_through_a_proxy(site: Site, kind: type[HttpProxy]) -> None:
    site.page("/", "plain")
    site.page("/tunnelled", "tunnelled")
    asked = (f"GET {site.url('/')}", f"CONNECT {site.authority}")
    with kind(login=("ann", "s3cret")) as proxy:
        plain, tunnelled = through(anywhere(proxy=Proxy.of(proxy.url)), *asked)
        assert plain.endswith(b"plain")
        assert tunnelled.endswith(b"tunnelled")
        assert proxy.targets() == [site.authority] * 2
        refused = Pass(Addresses(), proxy=Proxy.of(proxy.url))
        assert all(answer.startswith(b"HTTP/1.1 403 ") for answer in through(refused, *asked))
        wrong = anywhere(proxy=Proxy.of(proxy.url.replace("s3cret", "wr0ng")))
        assert all(answer.startswith(b"HTTP/1.1 502 ") for answer in through(wrong, *asked))
        assert isinstance(wrong.failures[site.authority], ProxyFailed)
        assert "wr0ng" not in str(wrong.failures[site.authority])
