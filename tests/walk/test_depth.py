"""What a depth limit leaves out does not depend on which page answers first."""

from __future__ import annotations

import asyncio

import pytest

from gossamer import crawl
from gossamer.testing import Answer, Site


@pytest.mark.parametrize(("a", "b"), [(0.0, 0.15), (0.15, 0.0)], ids=["redirect first", "link first"])
def test_a_redirect_and_a_link_to_one_page_give_the_same_crawl_in_any_order(
    site: Site, store: str, a: float, b: float
) -> None:
    """/x is one link deep by /a, which redirects to it, and two by /b: with depth 1 it is walked all the same."""
    site.page("/", '<a href="/a">a</a> <a href="/b">b</a>')
    site.handler("/a", lambda hit: Answer(status=301, headers={"Location": "/x"}, latency=a))
    site.page("/b", '<a href="/x">x</a> <a href="/deep">deep</a>', latency=b)
    site.page("/x", "<h1>x</h1>")

    report = asyncio.run(crawl(site.url("/"), store=store, depth=1, rate="none"))

    assert report.pages == 3
    assert site.paths()["/x"] == 1
    assert report.skipped == report.by_reason["depth"] == 1
    assert report.reason == "done"
