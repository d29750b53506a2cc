"""One Request, one Response or a FetchError: the fetcher against a site that misbehaves."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import math
import time
import zlib
from typing import Any

import pytest

from gossamer.errors import Broken, ConnectFailed, FetchError, TimedOut, TooLarge
from gossamer.fetch.client import Client
from gossamer.settings import ScraperConfig
from gossamer.testing import Answer, Site
from gossamer.values import Request, Response

TEXT = b"<p>" + b"many words " * 500 + b"</p>"


def fetch(url: str | Request, **knobs: Any) -> Response:
    """One fetch with a client of its own."""
    request = Request(url) if isinstance(url, str) else url

    async def main() -> Response:
        async with Client() as client:
            return await client.fetch(request, ScraperConfig(**knobs))

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
    site.page("/", "x")

    async def main() -> None:
        async with Client() as client:
            for _ in range(5):
                answer = await client._send(Request(site.url("/")), ScraperConfig())
                ports.append(answer.local_addr.port())
                await answer.bytes()

    asyncio.run(main())
    assert len(set(ports)) == 1


def test_a_cancelled_fetch_lets_go_of_the_site(site: Site) -> None:
    site.hang("/")

    async def main() -> None:
        async with Client() as client:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.fetch(Request(site.url("/")), ScraperConfig()), 0.1)

    asyncio.run(main())
    end = time.monotonic() + 5
    while site.hits[0].ended is None:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_method_we_do_not_send_is_refused(site: Site) -> None:
    with pytest.raises(FetchError, match="'BREW'"):
        fetch(Request(site.url("/"), method="brew"))
