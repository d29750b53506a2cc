"""The way of a request: secrets go where the run starts, and nowhere less safe."""

from __future__ import annotations

import pytest

from gossamer.fetch.addresses import Addresses
from gossamer.fetch.ways import Ways
from gossamer.settings import ScraperConfig
from gossamer.values import Request


async def leave() -> None:
    """At once."""


def ways(*starts: str) -> Ways:
    made = Ways(ScraperConfig(), Addresses(), secrets={"X-Auth-Token": "hush"})
    for url in starts:
        made.start(url)
    return made


@pytest.mark.parametrize(
    ("start", "url", "trusted"),
    [
        ("https://a.org/", "https://a.org/x", True),
        ("http://a.org/", "http://a.org/x", True),
        ("http://a.org/", "https://a.org/x", True),
        ("https://a.org/", "http://a.org/x", False),
        ("https://a.org/", "https://a.org:444/x", False),
        ("https://a.org/", "https://b.org/x", False),
    ],
)
def test_secrets_go_where_the_run_starts_and_never_less_safely(start: str, url: str, trusted: bool) -> None:
    way, _ = ways(start).of(Request(url), {}, leave)
    assert way.trusted is trusted
    assert ("x-auth-token" in way.headers) is trusted
    assert "hush" not in repr(way)
