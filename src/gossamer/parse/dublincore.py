"""Dublin Core: what a page says of itself in `DC.` and `DCTERMS.` metas and links."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse import markup

__all__ = ["Term", "by_name", "read"]

_TERM = re.compile(r"(dc|dcterms)[.:](\S{1,100})", re.IGNORECASE)
_ELEMENTS_URL = "http://purl.org/dc/elements/1.1/"
_TERMS_URL = "http://purl.org/dc/terms/"
#: The names that stand in Dublin Core's first vocabulary; all others are in the second.
_ELEMENTS = frozenset(
    (
        *("contributor", "coverage", "creator", "date", "description", "format", "identifier", "language"),
        *("publisher", "relation", "rights", "source", "subject", "title", "type"),
    )
)
_MOST = 1000


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is said."""

    #: As the page spells it: `DC.Date.modified`.
    name: str
    #: What it is: `modified`.
    term: str
    #: The same as a URL.
    uri: str
    #: What is said: a text, or of a link where it leads.
    content: str
    #: Whether it is a link.
    link: bool = False
    #: How the content is to be read: `DCTERMS.W3CDTF`.
    scheme: str | None = None
    lang: str | None = None


def read(tree: LexborHTMLParser) -> list[Term]:
    """What is said, in document order."""
    nodes = markup.marked(tree, "meta[name][content], link[rel][href]")[: 10 * _MOST]
    return [term for node in nodes if (term := _term(node.attributes)) is not None][:_MOST]


def by_name(terms: list[Term]) -> dict[str, Any]:
    """Term -> its text, or the list of its texts."""
    found: dict[str, Any] = {}
    for term in terms:
        markup.add(found, term.term, term.content)
    return found


def _term(given: dict[str, str | None]) -> Term | None:
    link = "href" in given and "name" not in given
    name = (given.get("rel" if link else "name") or "").strip()
    content = (given.get("href" if link else "content") or "").strip()
    found = _TERM.fullmatch(name)
    if found is None or not content:
        return None
    # A qualified name is the name of its qualifier: DC.Date.modified is dcterms:modified.
    term = found[2].rpartition(".")[2]
    term = term[:1].lower() + term[1:]
    first = found[1].lower() == "dc" and term in _ELEMENTS
    uri = (_ELEMENTS_URL if first else _TERMS_URL) + term
    lang = given.get("hreflang" if link else "lang")
    return Term(name=name, term=term, uri=uri, content=content, link=link, scheme=given.get("scheme"), lang=lang)
