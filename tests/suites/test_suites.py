"""The outside suites through our code: no change may score less than the last one did.

The floors are the scores of today (bench/SCORES.md has them next to the peers'). Raise one when a change earns
it; to lower one, say in the commit which cases were given up and why.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from bench.prepare import KEPT, PrepareError, unpack

from tests.conftest import corpora
from tests.suites import runners, sites

pytestmark = pytest.mark.suite

FLOORS: dict[str, tuple[Callable[..., runners.Scores], str, dict[str, int]]] = {
    "links": (runners.links, "links", {"identical": 123, "scrapy-lx default-ctor cases": 15}),
    "encoding": (
        runners.encoding,
        "decode_page",
        {"html5lib-meta": 42, "whatwg-labels": 119, "w3lib-html_to_unicode": 32, "chardet-corpus": 187},
    ),
    "url": (
        runners.url,
        "resolve",
        {"whatwg/http/href": 125, "whatwg/http/failure": 99, "whatwg/other/failure": 30, "toascii.jsonl": 87},
    ),
    "canonical": (
        runners.canonical,
        "comparable",
        {"w3lib-canonicalize/same-key": 36, "w3lib_canonicalize.jsonl/distinct-kept": 39},
    ),
    "http": (
        runners.http,
        "fetcher",
        {
            "must": 28,
            "should": 3,
            "retry-after": 5,
            "llhttp-strict": 19,
            "wpt-browser-consensus": 12,
            "wpt-odd": 10,
        },
    ),
    "mime": (runners.mime, "charset", {"mime": 18}),
    "robots": (
        runners.robots,
        "Robots",
        {
            "rfc9309": 98,
            "google-only": 70,
            "protego": 317,
            "crawl-delay": 6,
            "sitemaps": 3,
            "corpus-vs-google": 17695,
        },
    ),
    "resilience": (
        runners.resilience,
        "Breaker",
        {"breaker": 12, "limiter": 5, "retry-after": 8, "backoff": 23},
    ),
    "article": (runners.article, "adapt_article:body", {"F1": 975, "precision": 964, "recall": 987, "exact": 28}),
    "cookies": (runners.cookies, "cookie", {"cookies/shared: exact": 84}),
    "product": (
        runners.product,
        "adapt_product:product",
        {"price": 935, "sku": 925, "availability": 979, "amount": 541, "amount+currency": 541},
    ),
    "sitemaps": (runners.sitemaps, "locations", {"scrapy-sitemap": 11}),
    "structured": (
        runners.structured,
        "adapt_structured:everything",
        {
            "extruct-cases/dublincore": 34,
            "extruct-cases/json-ld": 220,
            "extruct-cases/microdata": 254,
            "extruct-cases/microformat": 9,
            "extruct-cases/opengraph": 21,
            "extruct-cases/rdfa": 93,
            "schemaorg/JSON": 3027,
            "schemaorg/MICRODATA": 1171,
            "schemaorg/RDFA": 1168,
        },
    ),
}


@pytest.mark.parametrize("name", FLOORS)
def test_no_score_falls(name: str) -> None:
    """A suite finds at least as many right as it did."""
    run, adapter, floors = FLOORS[name]
    scores = run(corpora("suites"), adapter if ":" in adapter else f"adapters:{adapter}")
    fallen = {part: (scores.get(part), floor) for part, floor in floors.items() if scores.get(part, (0,))[0] < floor}
    assert not fallen


def test_a_manual_is_crawled_whole_through_faults(tmp_path: Path) -> None:
    """Every page, at its depth, with its bytes, none fetched twice, although 3 % of the URLs fail at first."""
    suites = corpora("suites")
    (manual,) = (m for m in sites.MANUALS if m.package == "git-doc")
    unpacked = KEPT / "docs" / manual.package
    try:
        unpack(manual.package, unpacked)
    except PrepareError as why:
        pytest.skip(str(why))
    if reason := manual.differs(suites, unpacked):
        pytest.skip(reason)
    found = sites.score(manual, suites, unpacked, tmp_path, sites.gossamer)
    wrong = {name: n for name, n in found.items() if name not in ("oracle", "covered", "coverage") and n}
    assert found["covered"] == found["oracle"] == 218
    assert not wrong
