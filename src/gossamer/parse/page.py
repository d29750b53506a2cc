"""A Response being read."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import msgspec
from selectolax.lexbor import LexborHTMLParser

from gossamer import urls
from gossamer.errors import ReadError
from gossamer.parse import encoding, selection
from gossamer.parse.selection import Selection, XPathSelection
from gossamer.values import PARSE, Headers, Request, Response

_LINKS = "a[href], area[href], frame[src], iframe[src]"
_HAS_BASE = re.compile(rb"<base[\s/]", re.IGNORECASE)
_HTML = frozenset({"text/html", "application/xhtml+xml"})
#: How a text given to `follow` looks if it is a URL and not a selector.
_URL_LIKE = re.compile(
    r"(?:https?:)?//|\.{0,2}/|\?|[^\s,>+~:\[]+\.(?:html?|php|aspx?|jsp|json|xml|txt|csv|pdf)(?:[?#]\S*)?$",
    re.IGNORECASE,
)


class Page:
    """What a handler reads. Text and tree are made when first asked for."""

    def __init__(self, request: Request, response: Response) -> None:
        #: What was asked for; `page.request.carry` is what an earlier handler handed on.
        self.request = request
        #: What came back.
        self.response = response

    @classmethod
    def of(cls, body: str | bytes, url: str = "https://example.org/", content_type: str = "text/html") -> Page:
        """A page from text, for trying a handler without a network."""
        raw = body.encode() if isinstance(body, str) else body
        kind = f"{content_type}; charset=utf-8" if isinstance(body, str) else content_type
        return cls(Request(url), Response(url, 200, Headers([("content-type", kind)]), raw, 0.0, 0.0))

    @property
    def url(self) -> str:
        """The URL that answered."""
        return self.response.url

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.response.status

    @property
    def headers(self) -> Headers:
        """The response's headers."""
        return self.response.headers

    @property
    def body(self) -> bytes:
        """The body as bytes, decompressed."""
        return self.response.body

    @property
    def depth(self) -> int:
        """How many links away from a start URL."""
        return self.request.depth

    @property
    def carry(self) -> dict[str, Any]:
        """What the handler that found this page handed on."""
        return self.request.carry or {}

    @cached_property
    def is_html(self) -> bool:
        """Whether the page says it is HTML, or says nothing and looks like it."""
        kind = self.response.content_type
        return kind in _HTML if kind else self.body[:512].lstrip()[:1] == b"<"

    @cached_property
    def encoding(self) -> str:
        """The body's encoding, found as browsers do: byte order mark, header, meta, guess."""
        return encoding.sniff(self.body, self.headers.get("content-type"))

    @cached_property
    def text(self) -> str:
        """The body as text."""
        return encoding.decode(self.body, self.headers.get("content-type"))[1]

    @cached_property
    def tree(self) -> LexborHTMLParser:
        """The body as a selectolax tree."""
        if self.encoding == "utf-8" or self.body.isascii():
            # A byte order mark left in would be text, which ends the head before it began.
            return LexborHTMLParser(self.body.removeprefix(codecs.BOM_UTF8))
        return LexborHTMLParser(self.text)

    def css(self, selector: str) -> Selection:
        """Elements that match a CSS selector; with `::text` or `::attr(name)` at its end, texts."""
        return Selection(selection.select(self.tree, selector))

    def xpath(self, expression: str) -> XPathSelection:
        """Nodes and texts that match an XPath expression (by lxml)."""
        return XPathSelection(selection.xpath(self._lxml, expression))

    @cached_property
    def _lxml(self) -> Any:
        from lxml import etree, html

        try:
            # The text declares an encoding of its own, which is no longer true of it.
            return html.document_fromstring(self.text.encode(), parser=html.HTMLParser(encoding="utf-8"))
        except (etree.ParserError, ValueError) as why:
            raise ReadError(f"the page has no markup that XPath could search: {why}") from None

    def json(self) -> Any:
        """The body read as JSON. Raises ReadError if it is not."""
        try:
            return msgspec.json.decode(self.body.removeprefix(codecs.BOM_UTF8))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as why:
            raise ReadError(f"the body is not JSON: {why}") from None

    @cached_property
    def base_url(self) -> str:
        """What relative links are relative to: the page's URL, unless a <base> says otherwise."""
        if _HAS_BASE.search(self.body) is None and not self.encoding.startswith("utf-16"):
            return self.url
        base = self.tree.css_first("base[href]")
        href = base.attributes.get("href") if base else None
        return (urls.resolve(href, self.url) if href else None) or self.url

    @cached_property
    def links(self) -> list[str]:
        """Absolute URLs of all links (a, area, frame, iframe), each once, in document order."""
        nodes = self.tree.css(_LINKS)
        hrefs = [node.attributes.get("href") or "" for node in nodes]
        if "" in hrefs:  # frames have a src instead
            hrefs = [_reference(node) or "" for node in nodes]
        # A manual has ten links into a page for one to it: without fragments there is little left to resolve.
        cut = dict.fromkeys([_without_fragment(href) if "#" in href else href for href in hrefs])
        base = self.base_url
        found = dict.fromkeys([urls.resolve(href, base) for href in cut])
        found.pop(None, None)
        return list(found)  # type: ignore[arg-type]

    @property
    def title(self) -> str | None:
        """The text of <title>, white space tidied."""
        head = self.tree.head
        node = head.css_first("title") if head else None
        return " ".join(node.text().split()) or None if node else None

    def follow(
        self,
        target: str | Selection | XPathSelection | Iterable[str],
        *,
        to: str | Callable[..., Any] = PARSE,
        priority: int = 0,
        carry: dict[str, Any] | None = None,
        revisit: bool = False,
    ) -> list[Request]:
        """Requests for what links point to, to be yielded: `yield from page.follow("li.next a")`.

        `target` is a CSS selector, a URL (absolute, or beginning with `/`, `./`, `../` or `?`, or a file name
        such as `next.html`), a Selection, or several URLs. Of elements, href or src counts. What is not
        http(s) is left out.
        """
        name = to if isinstance(to, str) else to.__name__
        return [Request(url, to=name, priority=priority, carry=carry, revisit=revisit) for url in self._targets(target)]

    def _targets(self, target: str | Selection | XPathSelection | Iterable[str]) -> Iterable[str]:
        if target is self.__dict__.get("links"):
            return self.links
        if isinstance(target, str):
            target = [target] if _URL_LIKE.match(target) else self.css(target)
        hrefs = _hrefs(target) if isinstance(target, Selection | XPathSelection) else target
        base = self.base_url
        return [url for url in dict.fromkeys(urls.resolve(href, base) for href in hrefs) if url]

    def __repr__(self) -> str:
        return f"<Page {self.status} {self.url}>"


def _reference(node: Any) -> str | None:
    attributes = node.attributes
    href: str | None = attributes.get("href")
    return attributes.get("src") if href is None else href


def _without_fragment(href: str) -> str:
    head = href.partition("#")[0]
    # White space before a fragment belongs to the path; at the end of a reference it would be trimmed.
    return href if head[-1:].isspace() else head


def _hrefs(found: Selection | XPathSelection) -> list[str]:
    """What each match points to; texts, as `::attr(href)` gives, point to themselves."""
    reference = _reference if isinstance(found, Selection) else _lxml_reference
    return [href for hit in found._found if (href := hit if isinstance(hit, str) else reference(hit)) is not None]


def _lxml_reference(node: Any) -> str | None:
    href: str | None = node.get("href", node.get("src"))
    return href
