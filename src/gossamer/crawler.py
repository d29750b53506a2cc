"""The scrapers behind `gossamer crawl`: every HTML page of a site becomes an item, or what a parser finds on it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from gossamer import urls
from gossamer.declared import Declared
from gossamer.parse.page import Page
from gossamer.registry import Found
from gossamer.scraper import Scraper
from gossamer.values import Item, Request

_HEADINGS = "h1, h2, h3, h4, h5, h6"
# What a noscript holds is counted with it, not again.
_UNSEEN = ":is(script, style, noscript):not(noscript *)"


class Crawl(Scraper):
    """Follows every link in scope. Start URLs come as the parameter `urls`, sitemaps as `sitemaps`."""

    name = "crawl"
    key: ClassVar[str | tuple[str, ...] | None] = "url"
    kind = "page"
    volatile = ("fetched_at",)
    content_types: ClassVar[tuple[str, ...]] = ("text/html", "application/xhtml+xml")
    by_level = True

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        super().__init__(params)
        self.start_sitemaps = self.params.get("sitemaps", ())

    def start(self) -> Iterable[str]:
        return [urls.typed(url) for url in self.params["urls"]]

    def parse(self, page: Page) -> Iterator[dict[str, Any] | Item | Request]:
        if not page.is_html:
            return
        yield page_record(page)
        yield from page.follow(page.links)


class ParsedCrawl(Crawl):
    """As Crawl, but items are what the parser gives that the parameter `parser` names."""

    name = "crawl"
    key = None
    kind = "item"
    content_types = (
        *Crawl.content_types,
        "application/xml",
        "text/xml",
        "application/rss+xml",
        "application/atom+xml",
        "application/json",
        "application/feed+json",
    )

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        super().__init__(params)
        self._parsed = Declared(where="--", parser=self.params["parser"])

    def parse(self, page: Page) -> Iterator[Any]:
        yield from self._parsed.read(page)
        if page.is_html:
            yield from page.follow(page.links)


class Submitted(Scraper):
    """Reads URLs that somebody handed in with the parser that the parameter `parser` names, and follows no link."""

    name = "submitted"
    scope = "any"
    traps = False
    #: Each batch is another choice of pages: what one lacks is not gone, and says nothing about a site.
    gone = "never"
    drift = "off"

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        super().__init__(params)
        self._parsed = Declared(where="", parser=self.params.get("parser", "auto"))

    def parse(self, page: Page) -> Iterator[Any]:
        yield from self._parsed.read(page)


def page_record(page: Page) -> dict[str, Any]:
    """What `gossamer crawl` keeps of a page."""
    tree = page.tree
    body = tree.body
    root = tree.root
    return {
        "url": page.url,
        "status": page.status,
        "depth": page.depth,
        "title": page.title,
        "headings": page.css(_HEADINGS).texts(),
        "text_length": len(body.text()) - sum(len(node.text()) for node in body.css(_UNSEEN)) if body else 0,
        "links": page.links,
        "language": (root.attributes.get("lang") or None) if root else None,
        "sha256": hashlib.sha256(page.body).hexdigest(),
        "fetched_at": datetime.fromtimestamp(page.response.started, UTC).isoformat(timespec="seconds"),
    }


def crawl_found(parser: str | None = None) -> Found:
    """The scraper of a crawl; with a parser, the one that reads pages with it. Raises ConfigError for one unknown."""
    if parser is None:
        return Found(Crawl, "gossamer.crawler:Crawl")
    Declared(where="--", parser=parser)
    return Found(ParsedCrawl, "gossamer.crawler:ParsedCrawl")


def crawl_params(
    given: Iterable[str], sitemaps: Iterable[str] = (), parser: str | None = None
) -> tuple[dict[str, Any], dict[str, tuple[str, str]]]:
    """The parameters of a crawl, without the logins in its URLs; and those, by origin."""
    logins: dict[str, tuple[str, str]] = {}

    def bare(text: str) -> str:
        url, login = urls.typed_with_login(text)
        if login is not None:
            logins[urls.origin(url)] = login
        return url

    params: dict[str, Any] = {"urls": [bare(text) for text in given]}
    named = list(sitemaps)
    if named:
        params["sitemaps"] = "auto" if "auto" in named else [bare(text) for text in named]
    if parser is not None:
        params["parser"] = parser
    return params, logins
