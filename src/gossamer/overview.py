"""What there is on a page, before anybody has written a selector."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import Any

import msgspec

from gossamer import drafting, fitting
from gossamer.errors import ReadError
from gossamer.parse import pager, parsers, repeats, structured
from gossamer.parse.page import Page
from gossamer.parse.parsers import Parser
from gossamer.parse.repeats import Block

#: Parsers that read every page: that they fit says nothing.
_ALWAYS = frozenset({"generic", "structured"})
#: Parsers that are proposed.
_MOST_PARSERS = 3


class Repeat(msgspec.Struct, frozen=True):
    """Something that repeats on a page."""

    selector: str
    count: int
    fields: tuple[str, ...]


class Overview(msgspec.Struct, frozen=True):
    """A page at a glance."""

    url: str
    status: int
    title: str | None
    kind: str
    bytes: int
    encoding: str | None
    links: int
    #: Syntax of structured data -> how much of it: types for JSON-LD, microdata and RDFa, else a count.
    structured: dict[str, Any]
    #: Parser -> records it gives.
    parsers: dict[str, int]
    #: The parser that "auto" picks.
    auto: str
    #: Where the page does not say what it is about: the parsers that find what they look for, the best first.
    fits: tuple[str, ...]
    repeats: tuple[Repeat, ...]
    #: The selector of the links that lead on through a listing.
    next: str | None
    #: For JSON: the list of records in it, as a path, and the names in them.
    rows: dict[str, Any] | None = None


def overview(page: Page, known: Iterable[Parser]) -> Overview:
    """What there is on a page; `known` are the parsers there are."""
    every = list(known)
    html = page.is_html
    found = repeats.blocks(page) if html else []
    given = _given(page, every)
    auto = parsers.choose(page, every).name
    return Overview(
        url=page.url,
        status=page.status,
        title=page.title if html else None,
        kind=page.kind,
        bytes=len(page.body),
        encoding=page.encoding if html else None,
        links=len(page.links) if html else 0,
        structured=_structured(page) if html else {},
        parsers={name: len(records) for name, records in sorted(given.items())},
        auto=auto,
        fits=tuple(fit.name for fit in fitting.ranked(given)) if auto in _ALWAYS and not _is_listing(found) else (),
        repeats=tuple(Repeat(each.selector, each.count, tuple(slot.name for slot in each.slots)) for each in found),
        next=pager.next_links(page) if html else None,
        rows=_rows(page, every),
    )


def _structured(page: Page) -> dict[str, Any]:
    whole = structured.structured(page)
    told: dict[str, Any] = {}
    for syntax in ("jsonld", "microdata", "rdfa"):
        if getattr(whole, syntax):
            told[syntax] = len(getattr(whole, syntax))
    if types := list(dict.fromkeys(name for thing in structured.things(page) for name in _types(thing))):
        told["types"] = types[:20]
    for syntax in ("opengraph", "microformats", "dublincore"):
        if getattr(whole, syntax):
            told[syntax] = len(getattr(whole, syntax))
    return told


def _types(thing: dict[str, Any]) -> list[str]:
    given = thing.get("@type")
    return [name for name in (given if isinstance(given, list) else [given]) if isinstance(name, str)]


def _given(page: Page, known: Iterable[Parser]) -> dict[str, list[Any]]:
    """Parser -> the records it gives, where it gives any."""
    found: dict[str, list[Any]] = {}
    for parser in known:
        if parser.name in _ALWAYS:
            continue
        try:
            found[parser.name] = parsers.read(parser, page)
        except Exception:  # noqa: BLE001 - somebody else's parser: it costs only its own line
            found[parser.name] = []
    return {name: records for name, records in found.items() if records}


def _is_listing(found: list[Block]) -> bool:
    """Whether what repeats is what the page is for."""
    return bool(found) and found[0].score >= drafting.LEAST_SCORE and found[0].share >= 0.5


def _rows(page: Page, known: Iterable[Parser]) -> dict[str, Any] | None:
    if page.kind != "json":
        return None
    try:
        rows = drafting.sketch(page, known).rows
    except ReadError:
        return None
    return {"path": ".".join(rows.path or ()), "count": rows.count, "names": list(rows.names[:20])} if rows else None


def suggestions(found: Overview, target: str, origin: str = "") -> list[str]:
    """Commands that are worth a try next, the likeliest first; `target` is the page as a shell wants it.

    `origin` is what else `new` must be told of it.
    """
    fitting_ones = [found.auto] if found.auto not in _ALWAYS and found.parsers.get(found.auto) else found.fits
    best = [f"try {target} --parser {name}" for name in fitting_ones[:_MOST_PARSERS]]
    best += [f"try {target} --css {shlex.quote(each.selector)}" for each in found.repeats[:1]]
    if found.rows and re.fullmatch(r"[\w.]+", found.rows["path"]):
        best.append(f"try {target} --jsonpath {shlex.quote('$.' + found.rows['path'] + '[*]')}")
    return [*best, f"new NAME {target}{origin}"]
