"""JSON-LD: what the scripts of a page say, as the page spells it."""

from __future__ import annotations

from typing import Any

import msgspec
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse import lenient

__all__ = ["document", "read"]

_SCRIPTS = 'script[type*="ld+json" i]'
#: Scripts read of one page: generators that write one for each product of a list come to some hundreds.
_MOST_SCRIPTS = 1000
#: What only JSON-LD says.
_KEYWORDS = ("@context", "@type", "@graph", "@id")


def read(tree: LexborHTMLParser) -> list[dict[str, Any]]:
    """Every object at the top of a JSON-LD script, in order; broken JSON is mended where it can be."""
    found: list[dict[str, Any]] = []
    left = lenient.LONGEST
    for script in tree.css(_SCRIPTS)[:_MOST_SCRIPTS]:
        text = script.text().strip().removesuffix(";")
        if not text:
            continue
        try:
            values = [msgspec.json.decode(text)]
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            # All broken scripts of a page together are mended up to one cap.
            left -= len(text)
            values = lenient.values(text) if left >= 0 else []
        found += _objects(values)
    return found


def document(value: Any) -> list[dict[str, Any]]:
    """The objects of a document that is JSON-LD itself; none of one that is only JSON."""
    return [one for one in _objects([value]) if not one.keys().isdisjoint(_KEYWORDS)]


def _objects(values: list[Any]) -> list[dict[str, Any]]:
    """The objects of a script; one in lists counts as if it stood alone."""
    found: list[dict[str, Any]] = []
    waiting = values[::-1]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            found.append(value)
        elif isinstance(value, list):
            waiting += value[::-1]
    return found
