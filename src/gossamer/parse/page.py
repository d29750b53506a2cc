"""A Response being read."""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec
from selectolax.lexbor import LexborHTMLParser

from gossamer import urls
from gossamer.errors import ReadError
from gossamer.parse import encoding, selection, sniff
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
#: The handler of a download that names none: it yields an item that tells of the file.
FILE = "@file"
#: A file larger than this is no body: it is read in parts, by whoever knows which.
LARGEST_BODY = 256 << 20


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
        """The body as bytes, decompressed; read from its file, where it is in one."""
        response = self.response
        return response.body if response.file is None else self._from_file

    @cached_property
    def _from_file(self) -> bytes:
        size, file = self.response.file_size, self.response.file
        if size > LARGEST_BODY:
            raise ReadError(f"its body of {size >> 20} MB is too large for memory: read it from page.file, in parts")
        try:
            return Path(file or "").read_bytes()
        except OSError as why:
            raise ReadError(f"its body was kept in {file}, which cannot be read: {why.strerror}") from None

    @property
    def file(self) -> Path | None:
        """The file that holds the body, where it was downloaded or is large; else None."""
        return Path(self.response.file) if self.response.file else None

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the body, in hex."""
        return self.response.sha256 or hashlib.sha256(self.body).hexdigest()

    @cached_property
    def kind(self) -> str:
        """What the body is, in one word: "html", "json", "xml", "feed", "pdf", "image" ... (see `parse.sniff`)."""
        return sniff.kind(self.headers.get("content-type", ""), self._beginning())

    def _beginning(self) -> bytes:
        """Of a body in a file, as much as tells what it is."""
        if self.response.file is None or "_from_file" in self.__dict__:
            return self.body
        try:
            with open(self.response.file, "rb") as file:
                return file.read(1 << 16)
        except OSError:
            return self.body

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
        return kind in _HTML if kind else self.kind == "html"

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
        body = self.body.removeprefix(codecs.BOM_UTF8)
        try:
            return msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as why:
            if not isinstance(why, RecursionError) and _OFTEN_WRONG.search(body):
                with suppress(ValueError, RecursionError):
                    return _as_written(body)
            raise ReadError(f"the body is not JSON: {why}") from None

    @cached_property
    def xml(self) -> Any:
        """The body as the root element of an lxml tree. Entities stay unread, and nothing is fetched for it.

        Raises ReadError if it is not XML.
        """
        from lxml import etree

        plain = self.encoding == "utf-8" or self.body.isascii()
        text = (self.body.removeprefix(codecs.BOM_UTF8) if plain else self.text.encode()).lstrip()
        parser = etree.XMLParser(encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False)
        try:
            return etree.fromstring(text, parser)
        except (etree.XMLSyntaxError, ValueError) as why:
            raise ReadError(f"the body is not XML: {why}") from None

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
        session: str | None = None,
    ) -> list[Request]:
        """Requests for what links point to, to be yielded: `yield from page.follow("li.next a")`.

        `target` is a CSS selector, a URL (absolute, or beginning with `/`, `./`, `../` or `?`, or a file name
        such as `next.html`), a Selection, or several URLs. Of elements, href or src counts. What is not
        http(s) is left out. They belong to the `session` of this page, unless you name another.
        """
        name = to if isinstance(to, str) else to.__name__
        whose = session or self.request.session
        return [
            Request(url, to=name, priority=priority, carry=carry, revisit=revisit, session=whose)
            for url in self._targets(target)
        ]

    def download(
        self,
        url: str,
        to: str | None = None,
        *,
        handler: str | Callable[..., Any] | None = None,
        carry: dict[str, Any] | None = None,
    ) -> Request:
        """A Request that saves what a link points to as a file, to be yielded: `yield page.download(href)`.

        `to` is its path below the scraper's `files` folder; ending in `/`, the folder it goes to; left out, it is
        made from the URL. `handler` gets a page with `page.file`; without one, an item of the kind "file" tells
        where it is. Raises ReadError for what cannot be fetched, and for a path that leaves the folder.
        """
        target = urls.resolve(url, self.base_url)
        if target is None:
            raise ReadError(f"{url[:200]!r} cannot be downloaded: only http and https URLs can")
        name = FILE if handler is None else handler if isinstance(handler, str) else handler.__name__
        return Request(target, to=name, carry=carry, session=self.request.session, save=_save_path(target, to))

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


#: What some programs write into JSON though it has no place there: halves of a character, NaN and infinity.
_OFTEN_WRONG = re.compile(rb"\\u[dD][89a-fA-F]|NaN|Infinity")


def _as_written(body: bytes) -> Any:
    """JSON as Python's own reader takes it: half a character becomes U+FFFD, a number that is none becomes null."""
    read = json.loads(body, parse_constant=lambda name: None)
    return json.loads(
        json.dumps(read, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )


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


# --- names of files ---

_UNSAFE = re.compile(r"[^\w.()+,@=~-]+")
#: Letters of a name, and folders of a path, that are made from a URL: every file system has room for these.
_LONGEST_NAME = 80
_MOST_FOLDERS = 8


def _save_path(url: str, to: str | None) -> str:
    if to is None:
        return _path_of(url)
    if to.endswith("/"):
        # Many folders of a site have an `1.jpg`, and all of them come into this one.
        to += _path_of(url, marked=True).rpartition("/")[2]
    parts = to.split("/")
    if not all(parts) or any(part in (".", "..") or len(part.encode()) > 255 for part in parts) or not to.isprintable():
        raise ReadError(f"a download cannot be saved as {to[:200]!r}: give a path below the folder for files")
    return to


def _path_of(url: str, *, marked: bool = False) -> str:
    """A path that is safe on any machine, and the same for no other URL: `a.org/docs/report.pdf`."""
    authority, _, path = url.partition("://")[2].partition("?")[0].partition("/")
    *folders, last = (unquote(part, errors="replace") for part in path.split("/"))
    given = [authority, *folders, last or "index"]
    safe = [_UNSAFE.sub("_", part)[:_LONGEST_NAME].strip(".~") or "_" for part in given]
    if marked or given != safe or "?" in url or len(given) > _MOST_FOLDERS + 2:  # another URL might come to the same
        stem, dot, end = safe[-1].rpartition(".")
        mark = urls.digest(url)[:8].replace("-", "_")
        safe[-1] = f"{stem}-{mark}.{end}" if dot and stem and len(end) <= 8 else f"{safe[-1]}-{mark}"
    return "/".join([*safe[: _MOST_FOLDERS + 1], safe[-1]] if len(safe) > _MOST_FOLDERS + 2 else safe)
