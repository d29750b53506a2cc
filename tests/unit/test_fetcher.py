"""One Request, one Response or a FetchError: the fetcher against a site that misbehaves."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import itertools
import math
import os
import ssl
import threading
import time
import zlib
from pathlib import Path
from typing import Any

import pytest
from wreq import exceptions as wrong

from gossamer.errors import (
    Bomb,
    Broken,
    ConnectFailed,
    FetchError,
    HeadersTooLarge,
    ProxyFailed,
    SlowStart,
    TimedOut,
    TlsFailed,
    TooLarge,
    Unsendable,
)
from gossamer.fetch import faults, lines
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.agents import Identity
from gossamer.fetch.client import Client, _send
from gossamer.fetch.proxies import Proxy
from gossamer.fetch.way import Way
from gossamer.settings import ScraperConfig
from gossamer.testing import Answer, Site
from gossamer.values import Request, Response
from tests.servers import HttpProxy, HttpsProxy, Socks5Proxy, certificate, dead_port

TEXT = b"<p>" + b"many words " * 500 + b"</p>"


def a_way(**how: Any) -> Way:
    """A way out that may lead to loopback, where our sites are."""
    return Way(Identity("tester/1"), Addresses(private=True), **how)


def fetch(url: str | Request, way: Way | None = None, **knobs: Any) -> Response:
    """One fetch with a client of its own."""
    request = Request(url) if isinstance(url, str) else url

    async def main() -> Response:
        async with Client() as client:
            return await client.fetch(request, ScraperConfig(**knobs), way or a_way())

    return asyncio.run(main())


def test_an_answer_comes_with_its_facts(site: Site) -> None:
    site.page("/x", TEXT, headers={"X-Two": ("a", "b"), "Content-Type": "Text/HTML; charset=x"}, latency=0.05)
    before = time.time()
    response = fetch(site.url("/x?q=1"))
    assert (response.url, response.status, response.body) == (site.url("/x?q=1"), 200, TEXT)
    assert response.headers.getall("x-two") == ["a", "b"]
    assert response.content_type == "text/html"
    assert before <= response.started <= time.time()
    assert 0.05 <= response.elapsed < 5


@pytest.mark.parametrize("status", [204, 301, 404, 410, 500, 503])
def test_any_status_is_an_answer(site: Site, status: int) -> None:
    site.page("/", "body", status=status, headers={"Location": "/elsewhere"})
    response = fetch(site.url("/"))
    assert (response.status, len(site.hits)) == (status, 1)


@pytest.mark.parametrize(
    ("name", "squeeze"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda body: zlib.compress(body, wbits=-15)),
    ],
)
def test_bodies_are_decompressed(site: Site, name: str, squeeze: Any) -> None:
    site.page("/", squeeze(TEXT), headers={"Content-Encoding": name})
    assert fetch(site.url("/")).body == TEXT


def test_a_stream_without_a_length_is_read_whole(site: Site) -> None:
    site.handler("/", lambda hit: Answer(stream=lambda: iter([TEXT, TEXT])))
    assert fetch(site.url("/")).body == TEXT * 2


@pytest.mark.parametrize("size", [99, 100, 101])
@pytest.mark.parametrize("streamed", [False, True])
def test_the_cap_is_exact(site: Site, size: int, streamed: bool) -> None:
    body = b"x" * size
    site.handler("/", lambda hit: Answer(stream=lambda: iter([body])) if streamed else Answer(body=body))
    if size <= 100:
        assert len(fetch(site.url("/"), max_body=100).body) == size
    else:
        with pytest.raises(TooLarge, match="100"):
            fetch(site.url("/"), max_body=100)


def test_a_bomb_is_cut_off_while_it_inflates(site: Site) -> None:
    site.bomb("/", megabytes=100)
    with pytest.raises(TooLarge):
        fetch(site.url("/"), max_body="1MB")


def test_an_endless_body_is_cut_off_at_the_cap(site: Site) -> None:
    site.handler("/", lambda hit: Answer(stream=lambda: itertools.repeat(b"x" * 65536)))
    with pytest.raises(TooLarge):
        fetch(site.url("/"), max_body="1MB", timeout=20)


@pytest.mark.parametrize("way", ["hang", "drip", "late", "slow"])
def test_the_timeout_is_for_the_whole_answer(site: Site, way: str) -> None:
    if way in ("hang", "drip"):
        getattr(site, way)("/")
    elif way == "late":
        site.page("/", "late", latency=20)
    else:
        site.handler("/", lambda hit: Answer(stream=lambda: itertools.repeat(b"x", 1000), every=0.05))
    started = time.monotonic()
    with pytest.raises(TimedOut, match=r"no complete answer within 0\.4 s"):
        fetch(site.url("/"), timeout=0.4)
    assert time.monotonic() - started < 3


@pytest.mark.parametrize("way", ["reset", "truncate"])
def test_an_answer_that_breaks_off_is_broken(site: Site, way: str) -> None:
    getattr(site, way)("/", times=math.inf, then=TEXT)
    with pytest.raises(Broken) as caught:
        fetch(site.url("/"))
    assert "wreq" not in str(caught.value)
    assert caught.value.transient


@pytest.mark.parametrize(
    "raw",
    [b"", b"hello\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", b"HTTP/1.1 xyz OK\r\n\r\n"],
)
def test_what_is_not_http_is_broken(site: Site, raw: bytes) -> None:
    site.handler("/", lambda hit: Answer(raw=raw))
    with pytest.raises(FetchError) as caught:
        fetch(site.url("/"))
    assert caught.value.reason == "broken"


def test_nobody_at_the_door() -> None:
    with Site() as gone:
        url = gone.url("/")
    with pytest.raises(ConnectFailed) as caught:
        fetch(url)
    assert "wreq" not in str(caught.value)


def test_a_name_nobody_has() -> None:
    with pytest.raises(ConnectFailed, match="not known"):
        fetch("http://no-such-host.invalid/")


def test_no_proxy_of_the_environment_is_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1/")
    site.page("/", "x")
    assert fetch(site.url("/")).status == 200


def test_an_unwanted_type_is_not_read_and_frees_its_connection(site: Site) -> None:
    site.handler(
        "/", lambda hit: Answer(stream=lambda: itertools.repeat(b"x" * 1000), headers={"Content-Type": "video/mp4"})
    )
    response = fetch(site.url("/"), content_types=("text/html",))
    assert (response.unread, response.body) == (True, b"")
    end = time.monotonic() + 5
    while site.hits[0].ended is None:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_an_error_page_is_read_whatever_its_type(site: Site) -> None:
    site.page("/", "sorry", status=404, headers={"Content-Type": "text/plain"})
    response = fetch(site.url("/"), content_types=("text/html",))
    assert (response.unread, response.body) == (False, b"sorry")


def test_a_connection_is_kept_for_the_next_request(site: Site) -> None:
    """A new connection for every page would be slow, and rude."""
    ports: list[int] = []
    way = a_way()
    site.page("/", "x")

    async def main() -> None:
        async with Client() as client:
            for _ in range(5):
                line, _ = await client._lines.to(site.url("/"), ScraperConfig(), way)
                answer = await _send(line, site.url("/"), Request(site.url("/")), ScraperConfig(), way)
                ports.append(answer.local_addr.port())
                await answer.bytes()

    asyncio.run(main())
    assert len(set(ports)) == 1


def test_a_cancelled_fetch_lets_go_of_the_site(site: Site) -> None:
    site.hang("/")

    async def main() -> None:
        async with Client() as client:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.fetch(Request(site.url("/")), ScraperConfig(), a_way()), 0.1)

    asyncio.run(main())
    end = time.monotonic() + 5
    while site.hits[0].ended is None:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_method_we_do_not_send_is_refused(site: Site) -> None:
    with pytest.raises(FetchError, match="'BREW'"):
        fetch(Request(site.url("/"), method="brew"))


@pytest.mark.parametrize(
    "url", ["", "nonsense", "/x", "ftp://127.0.0.1/", "file:///etc/passwd", "data:,x", "javascript:1"]
)
def test_only_http_leaves_the_machine(url: str) -> None:
    with pytest.raises(Unsendable):
        fetch(url)


@pytest.mark.parametrize("url", ["http:///x", "http://", "https://@/", "http://a b/", "http://[::1/"])
def test_a_url_without_a_host_that_can_be_read_is_refused(url: str) -> None:
    with pytest.raises(FetchError):
        fetch(url)


# -- caps, each with its own reason


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_body_may_not_unpack_to_many_times_its_size(site: Site, coding: Any) -> None:
    site.bomb("/", coding=coding, megabytes=5)
    with pytest.raises(Bomb, match="100 times its size"):
        fetch(site.url("/"))
    assert len(fetch(site.url("/"), max_ratio=2000).body) == 5 << 20


def test_a_small_body_may_unpack_to_any_ratio(site: Site) -> None:
    """An empty table compresses well."""
    site.bomb("/", megabytes=1)
    assert len(fetch(site.url("/")).body) == 1 << 20


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_packed_body_that_passes_the_cap_is_a_bomb(site: Site, coding: Any) -> None:
    site.bomb("/", coding=coding, megabytes=3)
    with pytest.raises(Bomb, match="max_body"):
        fetch(site.url("/"), max_body="2MB", max_ratio=100_000)


@pytest.mark.parametrize("layers", [2, 3, 4])
def test_no_layer_of_a_body_unpacks_to_many_times_its_size(site: Site, layers: int) -> None:
    site.bomb("/", megabytes=50, layers=layers)
    with pytest.raises(Bomb):
        fetch(site.url("/"))


def test_a_body_that_is_only_large_is_no_bomb(site: Site) -> None:
    site.huge("/", megabytes=3)
    with pytest.raises(TooLarge) as caught:
        fetch(site.url("/"), max_body="2MB")
    assert not isinstance(caught.value, Bomb)


def test_the_beginning_of_a_body_is_enough_for_some(site: Site) -> None:
    """robots.txt is read up to a size, however large it is, and however packed."""
    site.huge("/huge", megabytes=3)
    site.bomb("/bomb", megabytes=50)
    site.page("/known", b"x" * 3000)
    for path in ("/huge", "/bomb", "/known"):
        assert len(fetch(site.url(path), a_way(part=True), max_body=1000).body) == 1000


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("kilobytes", [70, 200, math.inf])
def test_headers_have_a_cap(site: Site, kilobytes: float, many: bool) -> None:
    site.huge_headers("/", kilobytes=kilobytes, many=many)
    with pytest.raises(HeadersTooLarge, match="max_headers"):
        fetch(site.url("/"))


def test_large_headers_can_be_allowed(site: Site) -> None:
    site.page("/", "x", headers={"X-Large": "a" * 100_000})
    assert fetch(site.url("/"), max_headers="128KB").status == 200
    site.page("/", "x", headers={"X-Large": "a" * 60_000})
    assert fetch(site.url("/")).status == 200


def test_an_answer_must_begin_in_time(site: Site) -> None:
    site.hang("/")
    started = time.monotonic()
    with pytest.raises(SlowStart, match=r"no answer began within 0\.2 s"):
        fetch(site.url("/"), first_byte=0.2)
    assert time.monotonic() - started < 3


def test_headers_that_drip_have_not_begun(site: Site) -> None:
    site.slow_head("/", every=0.05)
    with pytest.raises(SlowStart):
        fetch(site.url("/"), first_byte=0.3)


def test_an_answer_that_falls_silent_is_late_too(site: Site) -> None:
    site.handler("/", lambda hit: Answer(stream=lambda: iter([b"a", b"b"]), every=20))
    with pytest.raises(TimedOut, match="nothing more came") as caught:
        fetch(site.url("/"), first_byte=0.2)
    assert caught.value.reason == "timeout"


@pytest.mark.parametrize("status", [200, 304])
def test_an_answer_without_a_body_has_no_size(site: Site, status: int) -> None:
    """What HEAD and 304 say is the size of the body that they do not have."""
    site.page("/", b"" if status == 304 else b"x" * 2000, status=status, headers={"Content-Length": "2000"})
    request = Request(site.url("/"), method="HEAD" if status == 200 else None)
    assert fetch(request, max_body=1000).body == b""


# -- what is sent


def test_headers_of_an_attempt_count_most(site: Site) -> None:
    site.page("/", "x")
    request = Request(site.url("/"), headers={"X-B": "request", "x-c": "request"})
    own = {"X-A": "own", "X-B": "own", "X-C": "own"}
    fetch(request, a_way(headers={"X-C": "way", "cookie": "a=1"}), headers=own)
    told = site.hits[0].headers
    assert (told["x-a"], told["x-b"], told["x-c"], told["cookie"]) == ("own", "request", "way", "a=1")
    assert (told["user-agent"], told["accept-encoding"]) == ("tester/1", "gzip, br, zstd")


def test_secrets_go_to_hosts_that_are_trusted(site: Site) -> None:
    site.page("/", "x")
    secrets = {"Authorization": "s", "Cookie": "s", "X-Api-Key": "s", "X-Access-Token": "s", "My_Secret": "s"}
    fetch(site.url("/"), a_way(trusted=True), headers={**secrets, "Accept-Language": "en"})
    fetch(site.url("/"), a_way(trusted=False), headers={**secrets, "Accept-Language": "en"})
    trusted, other = (hit.headers for hit in site.hits)
    assert {name.lower() for name in secrets} <= set(trusted)
    assert not {name.lower() for name in secrets} & set(other)
    assert other["accept-language"] == "en"


def test_a_browser_is_played_with_its_own_headers(site: Site) -> None:
    site.page("/", gzip.compress(TEXT), headers={"Content-Encoding": "gzip"})
    way = Way(Identity("not sent", "Chrome149/Windows"), Addresses(private=True), headers={"cookie": "a=1"})
    assert fetch(site.url("/"), way).body == TEXT
    told = site.hits[0].headers
    assert "Chrome/149" in told["user-agent"]
    assert "Windows" in told["sec-ch-ua-platform"]
    assert told["cookie"] == "a=1"


# -- lines


def test_lines_not_used_for_longest_are_let_go(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """And their connections are closed, but for a request that is under way."""
    monkeypatch.setattr(lines, "MOST_LINES", 2)
    site.page("/", "x")
    site.page("/slow", "late", latency=0.3)
    way = Way(Identity("t/1"), Addresses(private=True, resolver=lambda name: ["127.0.0.1"]))

    async def main() -> None:
        async with Client() as client:

            def ask(name: str, path: str = "/") -> Any:
                return client.fetch(Request(f"http://{name}.test:{site.port}{path}"), ScraperConfig(), way)

            slow = asyncio.create_task(ask("slow", "/slow"))
            await asyncio.sleep(0.05)
            for n in range(10):
                await ask(f"n{n}")
            assert len(client._lines) == 2
            assert (await slow).body == b"late"
            del slow
            end = time.monotonic() + 5
            while open_connections(site) > 2:
                assert time.monotonic() < end
                await asyncio.sleep(0.01)

    asyncio.run(main())


def open_connections(site: Site) -> int:
    return len(site._connections)


def test_hosts_that_are_addresses_share_a_line() -> None:
    async def main() -> int:
        async with Client() as client:
            for n in range(1, 50):
                await client._lines.to(f"http://127.0.0.{n}/", ScraperConfig(), way)
            return len(client._lines)

    way = a_way()
    assert asyncio.run(main()) == 1


# -- TLS


@pytest.fixture
def secure() -> Any:
    """The port of a site that speaks TLS, with a certificate that nobody trusts."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate())
    loop = asyncio.new_event_loop()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
        await writer.drain()
        writer.close()

    loop.set_exception_handler(lambda loop, context: None)
    server = loop.run_until_complete(asyncio.start_server(answer, "127.0.0.1", 0, ssl=context))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield server.sockets[0].getsockname()[1]
    loop.call_soon_threadsafe(server.close)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.run_until_complete(asyncio.sleep(0.05))
    loop.close()


def test_certificates_are_verified_but_for_named_hosts(secure: int) -> None:
    with pytest.raises(TlsFailed, match="insecure_hosts"):
        fetch(f"https://127.0.0.1:{secure}/")
    with pytest.raises(TlsFailed):
        fetch(f"https://127.0.0.1:{secure}/", insecure_hosts=("localhost", "127.0.0.1:1"))
    for host in ("127.0.0.1", f"127.0.0.1:{secure}"):
        assert fetch(f"https://127.0.0.1:{secure}/", insecure_hosts=(host,)).body == b"hi"


# -- proxies

LOGIN = ("ann", "p@s:s/ö%41")


@pytest.mark.parametrize("kind", [HttpProxy, HttpsProxy, Socks5Proxy])
def test_a_request_goes_through_its_proxy(site: Site, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    site.page("/", TEXT)
    with kind(login=LOGIN) as proxy:
        insecure = ("127.0.0.1",) if kind is HttpsProxy else ()
        assert fetch(site.url("/"), a_way(proxy=Proxy(proxy.url)), insecure_hosts=insecure).body == TEXT
        assert [(each.target, each.user) for each in proxy.through] == [(site.authority, "ann")]


#: A plain request is forwarded by an HTTP proxy: of most faults nobody can tell whose they are.
FAULTS = [
    *itertools.product([Socks5Proxy], ["http", "https"], ["login", "dead", "reset", "garbage", "refuse"]),
    *itertools.product([HttpProxy], ["https"], ["login", "dead", "reset", "garbage", "refuse"]),
    *itertools.product([HttpProxy], ["http"], ["login", "dead"]),
]


@pytest.mark.parametrize(("kind", "scheme", "fault"), FAULTS)
def test_what_a_proxy_fails_to_do_is_its_own_failure(site: Site, kind: Any, scheme: str, fault: Any) -> None:
    with kind(login=LOGIN) as proxy:
        place = f"127.0.0.1:{dead_port() if fault == 'dead' else proxy.port}"
        url = f"{proxy.scheme}://ann:{'wr0ng' if fault == 'login' else 'p%40s%3As%2F%C3%B6%2541'}@{place}"
        if fault not in ("login", "dead"):
            proxy.fail(fault)
        with pytest.raises(ProxyFailed) as caught:
            fetch(f"{scheme}://{site.authority}/", a_way(proxy=Proxy(url)))
        assert place in str(caught.value)
        for secret in ("wr0ng", "p%40s", "p@s"):
            assert secret not in repr(caught.value)


def test_a_site_that_a_socks_proxy_cannot_reach_is_not_the_proxys_failure() -> None:
    raw = "ProxyConnect, source: Some(Socks(HostUnreachable)), connect_info: None"
    error = faults.ours(wrong.ProxyConnectionError(raw), ScraperConfig(), Proxy("socks5://u:pw@127.0.0.1:1"), 0.1)
    assert isinstance(error, ConnectFailed)
    assert str(error) == "no connection, says the proxy socks5://127.0.0.1:1: host unreachable"


# -- bodies in files


@pytest.mark.parametrize("streamed", [False, True])
def test_a_large_body_is_kept_in_a_file(site: Site, tmp_path: Path, streamed: bool) -> None:
    body = os.urandom(3 << 20)
    pieces = [body[at : at + 70_000] for at in range(0, len(body), 70_000)]
    site.handler("/", lambda hit: Answer(stream=lambda: iter(pieces)) if streamed else Answer(body=body))
    response = fetch(site.url("/"), a_way(spool=str(tmp_path)), spool_above="1MB")
    assert (response.body, response.file_size) == (b"", len(body))
    assert response.file is not None
    assert Path(response.file).read_bytes() == body
    assert Path(response.file).parent == tmp_path
    assert response.sha256 == hashlib.sha256(body).hexdigest()


def test_a_packed_body_is_unpacked_into_its_file(site: Site, tmp_path: Path) -> None:
    body = os.urandom(1 << 20) * 3
    site.page("/", gzip.compress(body), headers={"Content-Encoding": "gzip"})
    response = fetch(site.url("/"), a_way(spool=str(tmp_path)), spool_above="1MB")
    assert response.sha256 == hashlib.sha256(body).hexdigest()


def test_a_smaller_body_and_one_without_a_place_stay_in_memory(site: Site, tmp_path: Path) -> None:
    site.page("/", b"x" * 2000)
    assert fetch(site.url("/"), a_way(spool=str(tmp_path)), spool_above=2000).body == b"x" * 2000
    site.huge("/", megabytes=2)
    assert len(fetch(site.url("/"), a_way(), spool_above="1MB").body) == 2 << 20


@pytest.mark.parametrize("way", ["huge", "drip", "truncate"])
def test_nothing_is_left_of_a_large_body_that_failed(site: Site, tmp_path: Path, way: str) -> None:
    if way == "huge":
        site.huge("/", megabytes=5)
    elif way == "drip":
        site.drip("/", chunk=b"x" * 500_000, every=0.05)
    else:
        site.truncate("/", times=math.inf, then=b"x" * (3 << 20))
    with pytest.raises(FetchError):
        fetch(site.url("/"), a_way(spool=str(tmp_path)), spool_above="1MB", max_body="4MB", timeout=0.6)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fails_fails_the_page_alone(site: Site, tmp_path: Path) -> None:
    site.huge("/", megabytes=3)
    with pytest.raises(FetchError, match="cannot be kept"):
        fetch(site.url("/"), a_way(spool=str(tmp_path / "gone")), spool_above="1MB")
