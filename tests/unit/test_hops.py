"""What a redirect asks for."""

from __future__ import annotations

import pytest

from gossamer import Request
from gossamer.fetch import hops

SECRET = {"Authorization": "Bearer x", "X-Api-Key": "x", "Accept": "text/html"}


@pytest.mark.parametrize(
    ("status", "method", "becomes"),
    [(301, "POST", "GET"), (302, "POST", "GET"), (303, "PUT", "GET"), (307, "POST", "POST"), (308, "PUT", "PUT")],
)
def test_the_method_and_the_body_of_the_next_hop(status: int, method: str, becomes: str) -> None:
    hop = hops.next_hop(Request("http://a.org/1", method, json={"q": 1}), status, "http://a.org/2")
    assert (hop.verb, hop.json) == (becomes, {"q": 1} if becomes == method else None)
    assert (hop.url, hop.hops, hop.via) == ("http://a.org/2", 1, ("http://a.org/1",))


@pytest.mark.parametrize(
    ("target", "stranger"),
    [
        ("https://a.org/2", False),
        ("https://b.org/2", True),
        ("https://a.org:444/2", True),
        ("http://a.org/2", True),
    ],
)
def test_no_stranger_sees_secrets(target: str, stranger: bool) -> None:
    hop = hops.next_hop(Request("https://a.org/1", headers=SECRET), 302, target)
    assert hop.headers == ({"Accept": "text/html"} if stranger else SECRET)
    assert hops.is_stranger(target, "https://a.org/1") is stranger
