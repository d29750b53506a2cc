"""Values of schema.org as plain texts: a name where there is a thing, a line where there is an address."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any, Final

from selectolax.lexbor import LexborHTMLParser

from gossamer import urls
from gossamer.parse import clean
from gossamer.parse.markup import Texts

__all__ = ["address", "each", "link", "links", "name", "names", "place", "prose"]

#: Values of one property that are looked at.
_MOST: Final = 100
#: Letters of a text that is kept.
LONGEST: Final = 100_000
_STREET: Final = ("streetAddress",)
_TOWN: Final = ("addressLocality", "addressRegion", "addressCountry")
#: Elements that begin a line.
_BREAKS: Final = re.compile(
    r"<(?:p|br|div|li|[uod]l|dt|dd|h[1-6]|hr|tr|table|section|article|header|footer|main|aside|blockquote|pre)[\s/>]",
    re.IGNORECASE,
)
_TAG_OR_END: Final = re.compile(r"<[A-Za-z/!][^<>]*>|\n")
_NOTHING: Final = frozenset({"unavailable", "n/a", "none", "null", "-", "unknown"})


def each(value: Any) -> Iterator[Any]:
    """The values of a property: one, several or none."""
    if isinstance(value, list):
        yield from value[:_MOST]
    elif value is not None:
        yield value


def name(value: Any) -> str | None:
    """The first name in a value."""
    return next(names(value), None)


def names(value: Any) -> Iterator[str]:
    """Names: texts as they are, things by what they are called."""
    for one in each(value):
        if isinstance(one, dict):
            said = one.get("name") or one.get("legalName") or one.get("label") or one.get("title")
            found = clean.text(next(each(said), None))
        else:
            found = clean.text(one)
        if found:
            yield found


def address(value: Any, *, street: bool = False) -> str | None:
    """An address in one line: town, region, country, and the street if asked for."""
    for one in each(value):
        if not isinstance(one, dict):
            found = clean.strip(one, ",")
            if found:
                return found
            continue
        parts = [name(one.get(part)) for part in ((*_STREET, *_TOWN) if street else _TOWN)]
        kept = dict.fromkeys(part.strip(" ,") for part in parts if part and part.lower() not in _NOTHING)
        if kept:
            return ", ".join(part for part in kept if part)
    return None


def place(value: Any, *, venue: bool = False) -> str | None:
    """A place in one line: its address, else its name; with its name and street before, where the venue matters."""
    if not isinstance(value, dict):
        return clean.strip(clean.text(value), ",")
    said = value.get("address")
    if said is None and any(part in value for part in _TOWN):
        said = value
    where = address(said, street=venue)
    called = name(value.get("name"))
    if venue and called and where and called.lower() not in where.lower():
        return f"{called}, {where}"
    return where or called


def links(value: Any, base: str) -> Iterator[str]:
    """Absolute URLs in a value: texts, and things by their url, contentUrl or @id."""
    for one in each(value):
        said = [one] if not isinstance(one, dict) else [one.get(key) for key in ("url", "contentUrl", "@id")]
        for text in said:
            first = next(each(text), None)
            if isinstance(first, str) and (found := urls.resolve(first, base)):
                yield found
                break


def link(value: Any, base: str) -> str | None:
    """The first absolute URL in a value."""
    return next(links(value, base), None)


def prose(value: Any) -> str | None:
    """A text that may be HTML, as plain text: a line for each of its paragraphs."""
    first = next(each(value), None)
    if not isinstance(first, str):
        return None
    text = first[: LONGEST * 4]
    if "&lt;" in text and "<" not in text:
        text = html.unescape(text)
    if "<" in text or "&" in text:
        tree = LexborHTMLParser(text.replace("\n", " ") if _BREAKS.search(text) else _TAG_OR_END.sub(_marked, text))
        text = Texts().of(tree.body) if tree.body is not None else ""
    kept = "\n".join(filter(None, (" ".join(line.split()) for line in text.split("\n"))))
    return kept[:LONGEST] or None


def _marked(found: re.Match[str]) -> str:
    """The end of a line as an element: where no element makes lines, the text's own are meant. Tags stay as is."""
    return "<br>" if found[0] == "\n" else found[0]
