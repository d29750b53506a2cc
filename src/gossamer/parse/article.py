"""Articles: news, posts, essays, reports. What a page says of itself for machines counts before what it shows."""

from __future__ import annotations

import re

import msgspec

from gossamer.parse import bylines, clean, maintext
from gossamer.parse.maintext import MainText
from gossamer.parse.page import Page
from gossamer.parse.sayings import Sayings

__all__ = ["Article", "read"]

#: Letters of a body worth the name: on a page that says it is an article, and on any other.
SHORTEST_SAID = 50
SHORTEST = 250
#: The share of prose in the body of a page that is not described as an article, and of one that is only shared as one.
_PROSE = 0.4
_PROSE_SHARED = 0.15
#: How many times longer than what the page shows its machine-readable text must be to be the better one.
_LONGER = 1.5
#: Letters of it that are looked at, and the tags in it that end a line.
_LONGEST = 400_000
_BREAK = re.compile(r"<(?:/p|br|/div|/li|/h[1-6]|/blockquote)\b[^<>]{0,200}>", re.IGNORECASE)
_CUT_OFF = ("…", "...", "[…]", "[...]")


class Article(msgspec.Struct, frozen=True, kw_only=True):
    """An article. What its page does not tell is None or empty."""

    #: The URL that answered.
    url: str
    title: str | None = None
    #: Who wrote it, several names joined by ", ".
    author: str | None = None
    authors: tuple[str, ...] = ()
    #: When it was first published, in ISO 8601, as exactly as the page says.
    published: str | None = None
    #: When it was last changed, likewise.
    modified: str | None = None
    #: Its text without title and surroundings: plain, a line for each paragraph.
    body: str | None = None
    #: The absolute URL of the picture that stands for it.
    image: str | None = None
    #: Keywords, in the page's order.
    tags: tuple[str, ...] = ()
    #: The name of the site.
    site: str | None = None
    #: The language, as "en" or "pt-BR".
    language: str | None = None
    #: A sentence or two about it.
    description: str | None = None


def read(page: Page) -> list[Article]:
    """The article of a page; [] where it is none: no text worth the name, or a list of several articles."""
    if page.kind != "html":
        return []
    said = Sayings(page)
    if said.is_index:
        return []
    title = said.title
    body = _body(page, said, title)
    if body is None:
        return []
    authors = said.authors or bylines.shown(page)
    return [
        Article(
            url=page.url,
            title=title,
            author=", ".join(authors) or None,
            authors=authors,
            published=said.published,
            modified=said.modified,
            body=body,
            image=said.image,
            tags=said.tags,
            site=said.site,
            language=said.language,
            description=said.description,
        )
    ]


def _body(page: Page, said: Sayings, title: str | None) -> str | None:
    """The text, if it is worth the name: what the page shows, unless what it says is clearly more of it."""
    found = maintext.main_text(page)
    told = _told(page, said)
    if told and _is_better(told, found):
        found = MainText(told, 1.0)
    text = maintext.without_title(found.text, (title, *said.titles))
    marked = said.is_article or said.is_shared_as_article
    least = 0.0 if said.is_article else _PROSE_SHARED if marked else _PROSE
    return text if len(text) >= (SHORTEST_SAID if marked else SHORTEST) and found.prose >= least else None


def _told(page: Page, said: Sayings) -> str:
    """The text that the page gives to machines, a line for each paragraph."""
    given = said.first("articleBody")
    # Of an element that is marked as the body, the text is shown, and what is shown is read better.
    if not isinstance(given, str) or page.tree.css_first("[itemprop~=articleBody]") is not None:
        return ""
    lines = _BREAK.sub("\n", given[:_LONGEST]).split("\n")
    return "\n".join(line for line in map(clean.text, lines) if line)


def _is_better(told: str, found: MainText) -> bool:
    """Whether a text for machines is the whole one, and what the page shows is a part of it, or no text at all."""
    if len(told) < SHORTEST or told.endswith(_CUT_OFF):
        return False
    return len(told) > _LONGER * len(found.text) or found.prose < _PROSE_SHARED
