"""Adapter for the suite of structured data."""

from __future__ import annotations

from typing import Any

from gossamer.parse import dublincore, rdfa
from gossamer.parse.page import Page
from gossamer.parse.structured import structured
from gossamer.values import Headers, Request, Response

_HTML = Headers((("content-type", "text/html; charset=utf-8"),))


def everything(body: bytes, url: str) -> list[dict[str, Any]]:
    """structured: what a page says in every syntax, one after another.

    RDFa is read also where only metas have it, which `structured` leaves to OpenGraph.
    """
    page = Page(Request(url), Response(url, 200, _HTML, body, 0.0, 0.0))
    found = structured(page)
    resources = rdfa.read(page.tree, page.base_url)
    return [*found.jsonld, *found.microdata, *resources, found.opengraph, *found.microformats, *_terms(page)]


def _terms(page: Page) -> list[dict[str, Any]]:
    """Dublin Core with the attributes that it was written with."""
    return [
        {
            "rel" if term.link else "name": term.name,
            "href" if term.link else "content": term.content,
            "hreflang" if term.link else "lang": term.lang,
            "scheme": term.scheme,
            "URI": term.uri,
        }
        for term in dublincore.read(page.tree)
    ]
