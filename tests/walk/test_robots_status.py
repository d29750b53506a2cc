"""What a robots.txt means by how it is answered: the outside suite's rows (`fetch_status.jsonl`), served for real."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from gossamer.testing import Site
from tests.conftest import corpora
from tests.walk import asked, crawl

pytestmark = pytest.mark.suite

PLAIN = {"Content-Type": "text/plain"}


@pytest.fixture
def sites() -> Iterator[ExitStack]:
    """Where sites are started that the test's end stops."""
    with ExitStack() as started:
        yield started


def rows() -> list[dict[str, Any]]:
    """The suite's rows."""
    text = corpora("suites", "robots", "shared", "fetch_status.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def served(row: dict[str, Any], sites: ExitStack) -> tuple[Site, str]:
    """A site that answers as a row says, and the path that the row asks about."""
    site, path = sites.enter_context(Site()), row.get("url", "/page")
    site.page(path, "<p>page</p>")
    if "status" in row:
        site.robots("User-agent: *\nDisallow: /nothing", status=row["status"])
    elif "redirects" in row:
        elsewhere = sites.enter_context(Site())
        at, name = site, "/robots.txt"
        for hop in range(1, row["redirects"] + 1):
            to = elsewhere if at is site else site
            at.redirect(name, to.url(f"/hop/{hop}"))
            at, name = to, f"/hop/{hop}"
        at.page(name, row["robots"], headers=PLAIN)
    else:
        padding = ("#" * 99 + "\n") * (row["pad_bytes"] // 100)
        site.robots(padding + row["robots"])
    return site, path


def test_every_row_is_understood(sites: ExitStack) -> None:
    """All at once: each row has a host of its own, and is asked for one page."""
    told = {row["id"]: (row["allowed"], *served(row, sites)) for row in rows()}
    assert len(told) == 30
    crawl(*(site.url(path) for _, site, path in told.values()), retries=0, allow_private=True)
    wrong = {
        name: f"{'' if allowed else 'not '}allowed, and asked {len(asked(site, path))} times"
        for name, (allowed, site, path) in told.items()
        if len(asked(site, path)) != allowed
    }
    assert not wrong
    assert all(asked(site, "/robots.txt") for _, site, _ in told.values())


def test_one_redirect_more_than_five_is_no_robots_txt(sites: ExitStack) -> None:
    rules = "User-agent: *\nDisallow: /private\n"
    site, path = served({"redirects": 6, "robots": rules, "url": "/private/x"}, sites)
    crawl(site.url(path), retries=0, allow_private=True)
    assert len(asked(site, path)) == 1
