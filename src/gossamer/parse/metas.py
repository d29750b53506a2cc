"""What the head of a page says of it: its metas, its language, and the links that are meant for machines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gossamer import urls
from gossamer.parse import clean
from gossamer.parse.page import Page

__all__ = ["canonical", "feeds", "icon", "language", "links", "metas"]

#: Metas and links of one page that are read, and letters of what one of them says.
MOST: Final = 1_000
LONGEST: Final = 10_000

_FEEDS = frozenset({"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"})
_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,4}")


def metas(page: Page) -> dict[str, list[str]]:
    """What the metas of a page say, by their names in lower case, in document order.

    The name of a meta is its `name`, `property`, `http-equiv` or `itemprop`; one that says nothing is left out.
    """
    found: dict[str, list[str]] = {}
    for node in page.tree.css("meta[content]")[:MOST]:
        given = node.attributes
        content = clean.strip((given.get("content") or "")[:LONGEST])
        if content is None:
            continue
        for kind in ("name", "property", "http-equiv", "itemprop"):
            name = (given.get(kind) or "")[:200].strip().lower()
            if name:
                found.setdefault(name, []).append(content)
    return found


def language(page: Page, said: dict[str, list[str]]) -> str | None:
    """The language a page says it is written in, as "en" or "pt-BR": its <html>, else its metas, else its headers."""
    html = page.tree.root
    given = html.attributes if html is not None else {}
    told = [given.get("lang"), given.get("xml:lang"), *said.get("content-language", ()), *said.get("language", ())]
    told += [page.headers.get("content-language"), *said.get("og:locale", ())]
    return next((tag for text in told if (tag := as_language(text))), None)


def as_language(text: str | None) -> str | None:
    """A language as its tag is written; None if a text is none.

    >>> as_language("PT_br"), as_language("en, fr"), as_language("{{ lang }}")
    ('pt-BR', 'en', None)
    """
    first = (text or "")[:100].partition(",")[0].partition(".")[0].strip().replace("_", "-")
    if _TAG.fullmatch(first) is None:
        return None
    tongue, *rest = first.split("-")
    return "-".join([tongue.lower(), *(part.upper() if len(part) == 2 else part for part in rest)])


def links(page: Page) -> Iterator[tuple[frozenset[str], str, str]]:
    """The `link` elements of a page: what each is, its media type, and the absolute URL it leads to."""
    base = page.base_url
    for node in page.tree.css("link[rel][href]")[:MOST]:
        given = node.attributes
        if url := urls.resolve(given.get("href") or "", base):
            kind = (given.get("type") or "").partition(";")[0].strip().lower()
            yield frozenset((given.get("rel") or "").lower().split()), kind, url


def canonical(page: Page, said: dict[str, list[str]]) -> str | None:
    """The URL that a page gives as its own, absolute; None if it gives none."""
    told = [url for rel, _, url in links(page) if "canonical" in rel]
    told += [url for text in said.get("og:url", ()) if (url := urls.resolve(text, page.base_url))]
    return next(iter(told), None)


def icon(page: Page) -> str | None:
    """The URL of a page's icon, as it names it."""
    named = {name: url for rel, _, url in reversed(list(links(page))) for name in rel}
    return named.get("icon") or named.get("apple-touch-icon") or named.get("apple-touch-icon-precomposed")


def feeds(page: Page) -> list[str]:
    """The URLs of the feeds that a page names, each once."""
    return list(dict.fromkeys(url for rel, kind, url in links(page) if "alternate" in rel and kind in _FEEDS))
