"""Structured data: what a page says about itself for machines, in every syntax that pages use.

A page that has no marks of a syntax costs next to nothing: bytes without any of them are not even parsed, and a parsed
page is asked once for elements that have them.
"""

from __future__ import annotations

from typing import Any

import msgspec

from gossamer.errors import ReadError
from gossamer.parse import dublincore, jsonld, microdata, microformats, opengraph, rdfa, schemaorg
from gossamer.parse.page import Page
from gossamer.parse.things import inside, shaped

__all__ = ["Structured", "of_type", "read", "structured", "things"]

#: Kinds of pages that may have elements.
_MARKUP = frozenset({"html", "xml", "text"})
#: One of these is in the bytes of every page that describes things, and of every page that says anything at all.
_THING_MARKS = (b"ld+json", b"itemscope", b"property=", b"typeof=", b"vocab=")
_ANY_MARKS = (*_THING_MARKS, b"class=", b"<meta", b"<link")
#: Under this name a page keeps its things.
_KEPT = "_structured_things"


class Structured(msgspec.Struct, frozen=True, kw_only=True):
    """What a page says in each syntax, as it spells it."""

    #: The objects of its JSON-LD scripts.
    jsonld: list[dict[str, Any]] = []
    #: Microdata items, in the shape of JSON-LD: `{"@type": "https://schema.org/Product", "name": ..}`.
    microdata: list[dict[str, Any]] = []
    #: RDFa resources, in the shape of JSON-LD, properties as full URLs.
    rdfa: list[dict[str, Any]] = []
    #: OpenGraph, Twitter cards and their kin: `og:title` -> its text, or a list of texts.
    opengraph: dict[str, Any] = {}
    #: Microformats, as mf2 spells them: `{"type": ["h-entry"], "properties": {..}}`.
    microformats: list[dict[str, Any]] = []
    #: Dublin Core: `title` -> its text, or a list of texts.
    dublincore: dict[str, Any] = {}


def structured(page: Page) -> Structured:
    """Everything a page says in JSON-LD, microdata, RDFa, OpenGraph, microformats and Dublin Core."""
    if not _marked(page, _ANY_MARKS):
        return Structured(jsonld=_document(page))
    return Structured(
        jsonld=_jsonld(page),
        microdata=_microdata(page),
        rdfa=_rdfa(page),
        opengraph=opengraph.read(page.tree),
        microformats=microformats.read(page.tree, page.base_url),
        dublincore=dublincore.by_name(dublincore.read(page.tree)),
    )


def things(page: Page) -> list[dict[str, Any]]:
    """The things that JSON-LD, microdata and RDFa describe, in one shape. They are the page's: do not change them.

    A thing is `{"@type": "Product", "name": "Lamp", "offers": {"@type": "Offer", "price": "9.50"}}`.
    """
    # A page is asked for its things by whoever chooses a parser, and then by the parser.
    kept: list[dict[str, Any]] | None = page.__dict__.get(_KEPT)
    if kept is None:
        kept = page.__dict__[_KEPT] = _things(page)
    return kept


def _things(page: Page) -> list[dict[str, Any]]:
    if not _marked(page, _THING_MARKS):
        return shaped(_document(page))
    resources = [resource for resource in _rdfa(page) if _is_schemaorg(resource)]
    return shaped([*_jsonld(page), *_microdata(page), *resources])


def of_type(page: Page, *types: str) -> list[dict[str, Any]]:
    """The things of one of these types, or of a kind of it, at any depth, outermost first.

    A NewsArticle is an Article: `of_type(page, "Article")` finds both.
    """
    found: dict[object, dict[str, Any]] = {}
    for thing in inside(things(page)):
        if schemaorg.is_a(thing.get("@type"), types):
            # What is referred to stands in several places; different things with one id tell different names.
            name = thing.get("@id")
            told = (name, str(thing.get("name")), str(thing.get("url"))) if isinstance(name, str) else id(thing)
            found.setdefault(told, thing)
    return list(found.values())


def read(page: Page) -> list[dict[str, Any]]:
    """Every thing on the page; where there is none, what OpenGraph says of it, or its microformats."""
    if found := things(page):
        return found
    whole = structured(page)
    return [whole.opengraph] if whole.opengraph else whole.microformats


def _marked(page: Page, marks: tuple[bytes, ...]) -> bool:
    """Whether a page may hold one of these: asked of the bytes, as long as nobody needed the tree."""
    if page.kind not in _MARKUP:
        return False
    if "tree" in page.__dict__:
        return True
    text = page.text.encode() if page.encoding.startswith("utf-16") else page.body
    if any(mark in text for mark in marks):
        return True
    text = text.lower()
    return any(mark in text for mark in marks)


def _document(page: Page) -> list[dict[str, Any]]:
    """What a page without markup says: something, if it is JSON-LD."""
    if page.kind != "json":
        return []
    try:
        return jsonld.document(page.json())
    except ReadError:
        return []


def _jsonld(page: Page) -> list[dict[str, Any]]:
    return jsonld.read(page.tree)


def _microdata(page: Page) -> list[dict[str, Any]]:
    return microdata.read(page.tree, page.base_url) if page.tree.css_first("[itemscope]") is not None else []


def _rdfa(page: Page) -> list[dict[str, Any]]:
    # Nearly every page has metas with a property: they are read as OpenGraph.
    found = page.tree.css_first("[typeof], [vocab], body [property]")
    return rdfa.read(page.tree, page.base_url) if found is not None else []


def _is_schemaorg(resource: dict[str, Any]) -> bool:
    """Whether a resource has a type, or at least a property of schema.org: not only the name of a vocabulary."""
    return "@type" in resource or any(schemaorg.short(name) != name for name in resource)
