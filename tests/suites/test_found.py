"""What the outside suites found wrong, or nearly missed: one test each, without the suites."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import zlib
from collections.abc import Callable

import pytest

from gossamer import urls
from gossamer.errors import Broken, FetchError, TooLarge
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.agents import Identity
from gossamer.fetch.client import Client
from gossamer.fetch.way import Way
from gossamer.settings import ScraperConfig
from gossamer.testing import Answer, Hit, Site
from gossamer.values import Request, Response

TEXT = b"<p>hello</p>" * 50
RAW_DEFLATE = zlib.compress(TEXT)[2:-4]


def fetch(*addresses: str, method: str = "GET", **knobs: object) -> Response:
    """The answer to the last of several requests, sent one after another by one client."""
    way = Way(Identity("t/1"), Addresses(private=True))

    async def main() -> Response:
        async with Client() as client:
            for url in addresses:
                response = await client.fetch(Request(url, method=method), ScraperConfig(**knobs), way)
            return response

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(TEXT)),
        ("GZIP", gzip.compress(TEXT)),
        ("x-gzip", gzip.compress(TEXT)),
        ("gzip, gzip", gzip.compress(gzip.compress(TEXT))),
        ("gzip, identity", gzip.compress(TEXT)),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", RAW_DEFLATE),
        ("deflate, gzip", gzip.compress(RAW_DEFLATE)),
        ("identity", TEXT),
        ("utf-8", TEXT),
    ],
)
def test_content_codings_are_undone_however_spelled(site: Site, coding: str, body: bytes) -> None:
    """In any case, several on top of each other, deflate with and without its zlib header."""
    site.page("/", body, headers={"Content-Encoding": coding})
    assert fetch(site.url()).body == TEXT


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "gzip, gzip", "deflate"])
def test_no_coding_inflates_past_max_body(site: Site, coding: str) -> None:
    """The cap holds for what comes out, not only for what goes over the wire."""
    zeros = bytes(4 << 20)
    bomb = zlib.compress(zeros) if coding == "deflate" else gzip.compress(zeros)
    site.page("/", gzip.compress(bomb) if "," in coding else bomb, headers={"Content-Encoding": coding})
    with pytest.raises(TooLarge):
        fetch(site.url(), max_body=1 << 20)


@pytest.mark.parametrize("body", [gzip.compress(TEXT)[:-9], b"plain text", b"\x1f\x8b"])
@pytest.mark.parametrize("coding", ["gzip", "GZIP"])
def test_a_body_that_does_not_inflate_is_broken(site: Site, coding: str, body: bytes) -> None:
    """Broken off or never compressed: an error, not half a page."""
    site.page("/", body, headers={"Content-Encoding": coding})
    with pytest.raises(Broken):
        fetch(site.url())


def closing(answers: int) -> Callable[[Hit], Answer]:
    """Answers so many requests, then resets the connection of the next one instead, and so on."""
    turns = itertools.cycle([*[None] * answers, "reset"])
    return lambda _: Answer(body=TEXT, fault=next(turns))  # type: ignore[arg-type]


def test_a_kept_connection_that_was_closed_is_an_error_like_any_other(site: Site) -> None:
    """Whoever asks again does it at the host's pace: a second request is not slipped in behind the first."""
    site.handler("/", closing(1))
    with pytest.raises(FetchError):
        fetch(site.url(), site.url())
    assert site.paths()["/"] == 2


def test_a_new_connection_that_is_closed_is_an_error(site: Site) -> None:
    """A server that closes without ever answering is asked once."""
    site.reset("/", times=2)
    with pytest.raises(FetchError):
        fetch(site.url())
    assert site.paths()["/"] == 1


def test_what_changes_the_site_is_not_sent_twice(site: Site) -> None:
    """A POST may have been carried out before its connection closed."""
    site.handler("/", closing(1))
    with pytest.raises(FetchError):
        fetch(site.url(), site.url(), method="POST")
    assert site.paths()["/"] == 2


@pytest.mark.parametrize(
    ("href", "base", "meant"),
    [
        ("http:?b=1", "http://a.org/x/y?a=1", "http://a.org/x/y?b=1"),
        ("http:#top", "http://a.org/x/y?a=1", "http://a.org/x/y?a=1"),
        ("HTTP:", "http://a.org/x/y?a=1", "http://a.org/x/y?a=1"),
        ("http:z", "http://a.org/x/y", "http://a.org/x/z"),
        ("z", "http://a.org", "http://a.org/z"),
        ("http://b.org/", "https://a.org", "http://b.org/"),
        ("?b=1", "https://a.org", "https://a.org/?b=1"),
        ("z", "https://a.org?next=/x/", "https://a.org/z"),
        ("z\tz", "https://a.org/x/y", "https://a.org/x/zz"),
    ],
)
def test_references_that_are_not_what_they_seem(href: str, base: str, meant: str) -> None:
    """A scheme without a host means the same page; a base may lack its path."""
    assert urls.resolve(href, base) == meant


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.org/do?&a=1", "http://a.org/do?a=1"),
        ("http://a.org/do?b=&c&a=2", "http://a.org/do?a=2&b=&c="),
        ("http://a.org/do?wsdl", "http://a.org/do?wsdl="),
        ("http://a.org/do?", "http://a.org/do"),
        ("http://a.org/do?=&b", "http://a.org/do?b"),
        ("http://a.org/do?q=a+b", "http://a.org/do?q=a%20b"),
    ],
)
def test_two_spellings_of_one_url_compare_equal(one: str, other: str) -> None:
    """Arguments without values and empty arguments make no other page."""
    assert urls.comparable(one) == urls.comparable(other)
    assert urls.comparable(urls.comparable(one)) == urls.comparable(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.org/x?a=1", "http://a.org/x?a=2"),
        ("http://a.org/x?a", "http://a.org/x?b"),
        ("http://a.org/x?a", "http://a.org/x"),
        ("http://a.org/x?a=%3D", "http://a.org/x?a"),
        ("http://a.org/x?a=1&a=2", "http://a.org/x?a=1"),
        ("http://a.org/a%2Fb", "http://a.org/a/b"),
        ("http://a.org/a+b", "http://a.org/a%20b"),
    ],
)
def test_different_urls_compare_different(one: str, other: str) -> None:
    """What may be another page is one."""
    assert urls.comparable(one) != urls.comparable(other)
