"""Adapter for the article suite: PYTHONPATH=tests/suites python .../article/run.py --adapter adapt_article:body"""

from __future__ import annotations

from typing import Any

from gossamer.parse.article import Article, read
from gossamer.parse.page import Page


def body(html: bytes, url: str) -> str | None:
    """The text of the page's article."""
    found = _article(html, url)
    return found.body if found else None


def meta(html: bytes, url: str) -> dict[str, Any]:
    """What else is known of it, under the names that the suite uses."""
    found = _article(html, url)
    if found is None:
        return {}
    return {
        "title": found.title,
        "byline": found.author,
        "lang": found.language,
        "siteName": found.site,
        "publishedTime": found.published,
    }


def _article(html: bytes, url: str) -> Article | None:
    return next(iter(read(Page.of(html, url or "https://page.test/"))), None)
