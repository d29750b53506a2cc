"""Feeds: the entries of RSS 0.9 to 2.0, Atom and JSON Feed, with what podcasts and news sites add to them.

For the links of a feed alone, `parse.sitemaps` is quicker.
"""

from __future__ import annotations

import email.utils
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

import msgspec

from gossamer import urls
from gossamer.errors import ReadError
from gossamer.parse import clean, tagged
from gossamer.parse.page import Page
from gossamer.parse.tagged import Element

__all__ = ["Enclosure", "Entry", "read"]

#: Entries read of one feed, and letters of it.
MOST_ENTRIES: Final = 10_000
MOST_LETTERS: Final = 50 << 20
#: Tags, files and authors of one entry.
_MOST_PARTS: Final = 100


class Enclosure(msgspec.Struct, frozen=True, kw_only=True):
    """A file that belongs to an entry: the sound of a podcast, a picture."""

    url: str
    type: str | None = None
    #: Bytes, as the feed says.
    length: int | None = None


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a feed."""

    #: The title of the feed.
    feed: str | None = None
    #: Where the entry can be read; absolute.
    url: str | None = None
    #: What the feed calls it for good: its guid or id, else its URL.
    id: str | None = None
    title: str | None = None
    #: Names; several with commas between.
    author: str | None = None
    #: ISO 8601, as exact as the feed says.
    published: str | None = None
    updated: str | None = None
    #: As plain text.
    summary: str | None = None
    #: All of it, as HTML.
    content: str | None = None
    tags: tuple[str, ...] = ()
    #: A picture: named by the feed, or the first in the content.
    image: str | None = None
    enclosures: tuple[Enclosure, ...] = ()


def read(page: Page) -> list[Entry]:
    """The entries of a feed, in its order; [] if the page is none. What is broken is read as far as it can be.

    Raises ReadError for what begins as a feed and goes on as no markup at all: thousands of < that begin nothing.

    >>> read(Page.of("<rss><channel><item><title>A & B</title><link>/1</link>", "https://a.org/feed"))[0].url
    'https://a.org/1'
    """
    if page.kind not in _KINDS and not page.is_html:
        return []
    text = page.text[:MOST_LETTERS].lstrip("\ufeff \t\r\n\0")
    if text.startswith(("{", "[")):
        return _json_feed(page)
    start = _ROOT.search(text, 0, _ROOT_WITHIN)
    if start is None or (page.kind == "html" and _PAGE.match(text)):
        return []
    feed = _Feed(tagged.parse(text[start.start() :], _PREFIXES, _UNITS), page.url)
    return [entry for item in islice(feed.items(), MOST_ENTRIES) if (entry := feed.entry(item)) is not None]


_KINDS: Final = frozenset({"feed", "xml", "text", "json", "html"})
_ROOT: Final = re.compile(r"<(?:[a-z][\w.-]{0,20}:)?(?:rss|feed|rdf)(?=[\s>])", re.IGNORECASE)
#: Pages have licences in RDF, and elements of their own that are called feed.
_PAGE: Final = re.compile(r"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_ROOT_WITHIN: Final = 20_000
_UNITS: Final = frozenset({"item", "entry"})
_PREFIXES: Final = {
    "http://www.w3.org/2005/atom": "",
    "http://purl.org/atom/ns#": "",
    "http://purl.org/rss/1.0/": "",
    "http://my.netscape.com/rdf/simple/0.9/": "",
    "http://channel.netscape.com/rdf/simple/0.9/": "",
    "http://backend.userland.com/rss2": "",
    "http://blogs.law.harvard.edu/tech/rss": "",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf:",
    "http://purl.org/dc/elements/1.1/": "dc:",
    "http://purl.org/dc/terms/": "dcterms:",
    "http://purl.org/rss/1.0/modules/content/": "content:",
    "http://search.yahoo.com/mrss/": "media:",
    "http://search.yahoo.com/mrss": "media:",
    "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes:",
    "http://www.itunes.com/dtds/podcast-1.0.dtd/": "itunes:",
    "http://rssnamespace.org/feedburner/ext/1.0": "feedburner:",
    "http://www.w3.org/1999/xhtml": "",
}


class _Feed:
    """A feed in XML."""

    def __init__(self, root: Element, url: str) -> None:
        self._url = url
        top = root.first("rss", "feed", "rdf:rdf", "rdf") or root
        self._channel = top.first("channel") or top
        self._top = top
        self._title = _plain(self._channel.first("title"))
        self._authors = self._names(self._channel) if self._channel.name == "feed" else []
        #: Elements -> the URL that references in them are relative to.
        self._bases: dict[int, str] = {}

    def items(self) -> Iterator[Element]:
        """Entries: in the channel, or beside it as in RSS 1.0."""
        holders = [self._channel] if self._channel is self._top else [self._channel, self._top]
        for holder in holders:
            for child in holder.children:
                if child.name in _UNITS:
                    yield child
                elif child.name == "items":  # RSS 0.90 and its imitators
                    yield from child.all("item")

    def entry(self, item: Element) -> Entry | None:
        """An entry; None if it says nothing."""
        url, about = self._link(item), item.first("guid", "id")
        content = self._content(item)
        enclosures = tuple(islice(self._enclosures(item), _MOST_PARTS))
        made = Entry(
            feed=self._title,
            url=url,
            id=(clean.strip(about.text) if about else None) or item.attribute("rdf:about") or url,
            title=_plain(item.first("title", "media:title", "dc:title", "itunes:title")),
            author=", ".join(self._names(item) or self._authors) or None,
            published=_date(item, "pubdate", "published", "issued", "dc:date", "dcterms:issued", "dcterms:created"),
            updated=_date(item, "updated", "modified", "dcterms:modified"),
            summary=_plain(item.first("summary", "description", "itunes:summary", "media:description")),
            content=content,
            tags=tuple(islice(dict.fromkeys(_tags(item)), _MOST_PARTS)),
            image=self._image(item, enclosures, content),
            enclosures=enclosures,
        )
        return made if made != Entry(feed=self._title) else None

    def _resolved(self, reference: str | None, at: Element) -> str | None:
        return urls.resolve(reference.strip(), self._base(at)) if reference and reference.strip() else None

    def _base(self, at: Element | None) -> str:
        """What is relative to what: the feed's URL, unless an xml:base says otherwise."""
        if at is None:
            return self._url
        if id(at) not in self._bases:
            base = self._base(at.parent)
            said = at.attribute("xml:base")
            self._bases[id(at)] = (urls.resolve(said, base) if said else None) or base
        return self._bases[id(at)]

    def _link(self, item: Element) -> str | None:
        original = item.first("feedburner:origlink")
        if original and (found := self._resolved(original.text, original)):
            return found
        links = list(item.all("link"))
        ranked = sorted(links, key=_rank)
        for link in ranked:
            if _rank(link) < _NO_PAGE and (found := self._resolved(link.text or link.attribute("href"), link)):
                return found
        guid = item.first("guid", "id")
        if guid and guid.text[:4].lower() == "http" and guid.attribute("ispermalink") != "false":
            return self._resolved(guid.text, guid)
        return self._resolved(item.attribute("rdf:about"), item)

    def _names(self, item: Element) -> list[str]:
        found = [_person(each) for each in item.all("author", "dc:creator", "dc:author", "itunes:author")]
        if not any(found) and (source := item.first("source")) is not None:
            found = [_person(each) for each in source.all("author")]
        names = dict.fromkeys(name for name in found[:_MOST_PARTS] if name)
        return list(names)

    def _content(self, item: Element) -> str | None:
        for each in item.all("content:encoded", "content", "xhtml:body", "body"):
            if each.name == "content" and (each.attribute("src") or each.attribute("url")):
                continue
            if found := each.markup:
                return found
        # A description that has markup is, most often, all there is to read.
        about = item.first("description")
        return about.markup if about and "<" in about.markup else None

    def _enclosures(self, item: Element) -> Iterator[Enclosure]:
        seen = set()
        for each in item.below():
            reference = _file(each)
            url = self._resolved(reference, each) if reference else None
            if url and url not in seen:
                seen.add(url)
                length = each.attribute("length") or each.attribute("filesize")
                yield Enclosure(url=url, type=each.attribute("type"), length=_size(length))

    def _image(self, item: Element, enclosures: Iterable[Enclosure], content: str | None) -> str | None:
        for each in item.below():
            reference = _picture(each)
            if reference and (url := self._resolved(reference, each)):
                return url
        for file in enclosures:
            if (file.type or "").startswith("image/"):
                return file.url
        about = item.first("description", "summary")
        for html in (content, about.markup if about else None):
            found = _IMG.search(html) if html and "<" in html else None
            if found:
                return self._resolved(clean.text(found[1] or found[2] or found[3]), item)
        return None


_IMG: Final = re.compile(
    r"""<img\b[^<>]{0,2000}?\ssrc\s{0,9}=\s{0,9}(?:"([^"<>]{1,2000})"|'([^'<>]{1,2000})'|([^\s"'<>]{1,2000}))""",
    re.IGNORECASE,
)
#: From this rank on, a link does not lead to the entry itself.
_NO_PAGE: Final = 3


def _rank(link: Element) -> int:
    """How likely a link is the entry's page: written out, then alternate in HTML, then other alternates."""
    if link.text:
        return 0
    relation = (link.attribute("rel") or "alternate").lower()
    if relation != "alternate":
        return _NO_PAGE
    return 1 if (link.attribute("type") or "text/html") in ("text/html", "application/xhtml+xml") else 2


def _plain(element: Element | None) -> str | None:
    return clean.text(element.markup) if element is not None else None


_MAIL_NAME: Final = re.compile(r"[^\s@()]{1,100}@[^\s@()]{1,100}\s{1,5}\(([^()]{1,200})\)")


def _person(element: Element) -> str | None:
    """A name: of an Atom person, or as RSS writes it, after a mail address."""
    name = element.first("name", "foaf:name")
    text = clean.text((name or element).text)
    found = _MAIL_NAME.fullmatch(text) if text else None
    return found[1] if found else text


def _date(item: Element, *names: str) -> str | None:
    for name in names:
        for each in item.all(name):
            if found := _moment(each.text):
                return found
    return None


def _moment(text: str) -> str | None:
    """A date as feeds write it; those of RFC 822 may have years of two digits."""
    if found := clean.moment(text):
        return found
    try:
        return email.utils.parsedate_to_datetime(text[:100]).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _tags(item: Element) -> Iterator[str]:
    for each in item.children:
        if each.name in ("category", "dc:subject"):
            found = each.attribute("label") or each.attribute("term") or each.text or each.attribute("text")
            if tidy := clean.text(found):
                yield tidy
        elif each.name in ("media:keywords", "itunes:keywords"):
            yield from (tidy for word in each.text.split(",") if (tidy := clean.text(word)))


def _file(element: Element) -> str | None:
    """Where a file is that an element of an entry names."""
    if element.name in ("enclosure", "media:content"):
        return element.attribute("url") or element.attribute("rdf:resource")
    if element.name == "link" and (element.attribute("rel") or "").lower() == "enclosure":
        return element.attribute("href")
    return None


def _picture(element: Element) -> str | None:
    """Where a picture is that an element of an entry names."""
    name = element.name
    if name == "media:thumbnail":
        return element.attribute("url")
    if name == "itunes:image":
        return element.attribute("href")
    if name == "media:content":
        kind = element.attribute("medium") or (element.attribute("type") or "").partition("/")[0]
        return element.attribute("url") if kind == "image" else None
    if name == "image" and element.parent is not None and element.parent.name in _UNITS:
        inner = element.first("url")
        return inner.text if inner else element.attribute("href") or element.text or None
    return None


def _size(text: Any) -> int | None:
    found = clean.integer(text)
    return found if found and found > 0 else None


# --- JSON Feed --------------------------------------------------------------------------------------------------


def _json_feed(page: Page) -> list[Entry]:
    try:
        feed = page.json()
    except ReadError:
        return []
    if not isinstance(feed, dict) or "jsonfeed.org" not in str(feed.get("version")):
        return []
    items = feed.get("items")
    made = (_json_entry(item, feed, page.url) for item in (items if isinstance(items, list) else [])[:MOST_ENTRIES])
    return [entry for entry in made if entry is not None]


def _json_entry(item: Any, feed: dict[str, Any], base: str) -> Entry | None:
    if not isinstance(item, dict):
        return None
    url = clean.url(item.get("url"), base) or clean.url(item.get("external_url"), base)
    name = item.get("id")
    tags = item.get("tags")
    return Entry(
        feed=clean.text(feed.get("title")),
        url=url,
        id=clean.strip(str(name)) if isinstance(name, str | int | float) else url,
        title=clean.text(item.get("title")),
        author=_json_author(item) or _json_author(feed),
        published=_moment(str(item.get("date_published") or "")),
        updated=_moment(str(item.get("date_modified") or "")),
        summary=clean.text(item.get("summary")) or clean.text(item.get("content_text")),
        content=clean.first(each for each in (item.get("content_html"),) if isinstance(each, str)),
        tags=tuple(tag for tag in (tags if isinstance(tags, list) else []) if isinstance(tag, str))[:_MOST_PARTS],
        image=clean.url(item.get("image"), base) or clean.url(item.get("banner_image"), base),
        enclosures=tuple(_attachments(item, base)),
    )


def _json_author(holder: dict[str, Any]) -> str | None:
    given = holder.get("authors") or [holder.get("author")]
    names = [clean.text(each.get("name")) for each in _list(given) if isinstance(each, dict)]
    return ", ".join(name for name in names if name) or None


def _attachments(item: dict[str, Any], base: str) -> Iterator[Enclosure]:
    for each in _list(item.get("attachments")):
        if isinstance(each, dict) and (url := clean.url(each.get("url"), base)):
            kind = each.get("mime_type")
            yield Enclosure(
                url=url, type=kind if isinstance(kind, str) else None, length=_size(each.get("size_in_bytes"))
            )


def _list(value: Any) -> list[Any]:
    return value[:_MOST_PARTS] if isinstance(value, list) else []
