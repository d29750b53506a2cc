"""Any page: what can be said of it without knowing what it is."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from gossamer import urls
from gossamer.errors import ReadError
from gossamer.parse import maintext, metas
from gossamer.parse.markup import Texts
from gossamer.parse.page import Page
from gossamer.parse.sayings import Sayings

__all__ = ["Heading", "Link", "PageSummary", "read"]

#: Headings, links and metas of a page that are kept.
MOST_HEADINGS: Final = 500
MOST_LINKS: Final = 5_000
MOST_METAS: Final = 300
#: Letters of the text, and of the text of one heading or link.
LONGEST: Final = 500_000
_LONGEST_LINE: Final = 500
#: A main text with less prose than this is not what the page is about: all that it shows is.
_PROSE: Final = 0.4
_SHORTEST: Final = 250
_HEADINGS: Final = "h1, h2, h3, h4, h5, h6"
_TEXTUAL: Final = frozenset({"text", "json", "xml", "feed", "sitemap"})


class Heading(msgspec.Struct, frozen=True, kw_only=True):
    """A heading."""

    #: 1 to 6.
    level: int
    text: str


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """Where a page leads."""

    #: Absolute.
    url: str
    #: What the link says, or the picture in it.
    text: str | None = None
    #: What the page says the link is: "nofollow", "next" ..
    rel: str | None = None


class PageSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A page. What it does not tell is None or empty."""

    #: The URL that answered.
    url: str
    title: str | None = None
    description: str | None = None
    #: The URL that the page gives as its own, absolute.
    canonical: str | None = None
    #: The language, as "en" or "pt-BR".
    language: str | None = None
    #: When it was published, in ISO 8601, if it says so.
    published: str | None = None
    headings: tuple[Heading, ...] = ()
    #: The main text, a line for each paragraph; of a page without one, all that it shows.
    text: str | None = None
    #: Each URL once, in document order.
    links: tuple[Link, ...] = ()
    #: What the metas say, by their names in lower case.
    meta: dict[str, str] = {}
    #: The URL of the page's icon.
    icon: str | None = None
    #: The URLs of the feeds that the page names.
    feeds: tuple[str, ...] = ()


def read(page: Page) -> list[PageSummary]:
    """What can be said of a page: of HTML all of it, of other text the text; [] of what is neither."""
    if page.kind in _TEXTUAL:
        return [PageSummary(url=page.url, language=_declared_language(page), text=_plain(page))]
    if page.kind != "html":
        return []
    texts = Texts()
    said = metas.metas(page)
    about = Sayings(page, said)
    return [
        PageSummary(
            url=page.url,
            title=page.title,
            description=about.description,
            canonical=metas.canonical(page, said),
            language=metas.language(page, said),
            published=about.said_published,
            headings=_headings(page, texts),
            text=_text(page),
            links=_links(page, texts),
            meta={name: told[0] for name, told in list(said.items())[:MOST_METAS]},
            icon=metas.icon(page),
            feeds=tuple(metas.feeds(page)),
        )
    ]


def _declared_language(page: Page) -> str | None:
    return metas.as_language(page.headers.get("content-language"))


def _plain(page: Page) -> str | None:
    """The text of what is no page; JSON is laid out to be read."""
    if page.kind == "json":
        try:
            return msgspec.json.format(msgspec.json.encode(page.json()), indent=2).decode()[:LONGEST]
        except (ReadError, msgspec.MsgspecError, RecursionError):
            pass
    return page.text[:LONGEST].strip() or None


def _text(page: Page) -> str | None:
    found = maintext.main_text(page, twice=False)
    text = found.text
    if found.prose < _PROSE or len(text) < _SHORTEST:
        body = page.tree.body
        text = (Texts().of(body) if body is not None else "") or text
    return text[:LONGEST] or None


def _headings(page: Page, texts: Texts) -> tuple[Heading, ...]:
    nodes = page.tree.css(_HEADINGS)[: 2 * MOST_HEADINGS]
    told = ((int((node.tag or "h6")[1]), _one_line(texts.of(node))) for node in nodes)
    return tuple(Heading(level=level, text=text) for level, text in told if text)[:MOST_HEADINGS]


def _links(page: Page, texts: Texts) -> tuple[Link, ...]:
    found: dict[str, Link] = {}
    base = page.base_url
    for node in page.tree.css("a[href], area[href]")[: 4 * MOST_LINKS]:
        given = node.attributes
        url = urls.resolve(given.get("href") or "", base)
        if url is None or (url in found and found[url].text):
            continue
        if url not in found and len(found) >= MOST_LINKS:
            break
        rel = " ".join((given.get("rel") or "").lower().split())[:100]
        found[url] = Link(url=url, text=_link_text(node, texts), rel=rel or None)
    return tuple(found.values())


def _link_text(node: Any, texts: Texts) -> str | None:
    if text := _one_line(texts.of(node)):
        return text
    picture = node.css_first("img[alt]")
    given = node.attributes
    told = given.get("aria-label") or given.get("title") or given.get("alt")
    return _one_line(told or (picture.attributes.get("alt") if picture else None) or "") or None


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST_LINE]
