"""OpenGraph, Twitter cards and their kin: what a page says of itself in <meta> for those who share it."""

from __future__ import annotations

import re
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from gossamer.parse import markup

__all__ = ["read"]

_METAS = "meta[property][content], meta[name][content]"
#: In `property` any prefix counts; in `name`, where everything else is written too, those that belong elsewhere.
_PROPERTY = re.compile(r"[a-z][\w-]*:[a-z]", re.IGNORECASE)
_NAME = re.compile(
    r"(?:og|twitter|article|product|fb|al|book|profile|music|video|place|business|restaurant):[a-z]", re.IGNORECASE
)
#: Metas read of one page.
_MOST = 2000


def read(tree: LexborHTMLParser) -> dict[str, Any]:
    """Property -> its text, or the list of its texts in document order. The names are in lower case."""
    found: dict[str, Any] = {}
    for node in markup.marked(tree, _METAS)[:_MOST]:
        given = node.attributes
        content = (given.get("content") or "").strip()
        if content:
            for name in _names(given.get("property"), given.get("name")):
                markup.add(found, name, content)
    return found


def _names(prop: str | None, name: str | None) -> list[str]:
    names = [token.lower() for token in (prop or "").split()[:5] if _PROPERTY.match(token)]
    return names or ([name.strip().lower()] if name and _NAME.match(name.strip()) else [])
