"""Where a run may go, and which rule says no."""

from __future__ import annotations

from typing import Any

import pytest

from gossamer.scope import Scope
from gossamer.settings import ScraperConfig


def _scope(*start: str, **knobs: Any) -> Scope:
    made = Scope(ScraperConfig(**knobs))
    made.start(start)
    return made


@pytest.mark.parametrize(
    ("kind", "inside", "outside"),
    [
        (
            "host",
            ["http://a.org/x", "https://a.org/y"],
            ["http://www.a.org/", "http://a.org:81/", "http://a.org.evil/"],
        ),
        (
            "domain",
            ["http://www.a.org/", "http://x.y.a.org:81/", "https://a.org/"],
            ["http://b.org/", "http://ba.org/"],
        ),
        ("prefix", ["http://a.org/docs/b", "http://a.org/docs/x/y?z"], ["http://a.org/", "https://a.org/docs/b"]),
        ("any", ["http://b.org/", "https://c.net/"], []),
    ],
)
def test_scope_is_host_domain_prefix_or_any(kind: str, inside: list[str], outside: list[str]) -> None:
    scope = _scope("http://a.org/docs/index.html?x=/y/", scope=kind)
    assert [url for url in inside if scope.leaves(url)] == []
    assert [scope.leaves(url) for url in outside] == ["scope"] * len(outside)


def test_a_domain_is_what_somebody_registered() -> None:
    scope = _scope("http://www.shop.co.uk/", scope="domain")
    assert scope.leaves("http://img.shop.co.uk/") is None
    assert scope.leaves("http://other.co.uk/") == "scope"
    assert _scope("http://127.0.0.1:81/", scope="domain").leaves("http://1.0.0.1/") == "scope"


def test_every_start_url_widens_the_scope() -> None:
    scope = _scope("http://a.org/x/", "http://b.org/y/", scope="prefix")
    assert scope.leaves("http://b.org/y/z") is None
    assert scope.leaves("http://b.org/x/z") == "scope"
    scope.start(["http://b.org/x/"])
    assert scope.leaves("http://b.org/x/z") is None


def test_without_a_start_url_nothing_is_inside() -> None:
    assert _scope(scope="prefix").leaves("http://a.org/") == "scope"


def test_exclude_beats_include() -> None:
    scope = _scope("http://a.org/", include=["/docs/", r"\.html$"], exclude=["print"])
    assert scope.leaves("http://a.org/docs/a") is None
    assert scope.leaves("http://a.org/a.html") is None
    assert scope.leaves("http://a.org/docs/print") == "exclude"
    assert scope.leaves("http://a.org/a") == "include"


def test_depth_counts_links_from_a_start_url() -> None:
    scope = _scope("http://a.org/", depth=1)
    assert scope.drops("http://a.org/x", 1) is None
    assert scope.drops("http://a.org/x", 2) == "depth"
    assert scope.leaves("http://a.org/x") is None
    assert _scope("http://a.org/", depth=0).drops("http://a.org/x", 1) == "depth"
    assert _scope("http://a.org/").drops("http://a.org/x", 10**6) is None
