"""A look at a page that is enough for a first scraper: what repeats on it, what it says it is, where it goes on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import msgspec

from gossamer import fitting, urls
from gossamer.errors import ReadError
from gossamer.parse import pager, parsers, repeats
from gossamer.parse.page import Page
from gossamer.parse.parsers import Parser
from gossamer.parse.repeats import Block

#: What repeats counts as a listing from this score on; below it are menus and lists of facts.
LEAST_SCORE: Final = 2.5
#: Cells from which on a page is about its tables.
MANY_CELLS: Final = 30
#: How deep in JSON the list of records is looked for, and values on the way.
DEEPEST: Final = 6
MOST: Final = 20_000
#: Names of what tells one record from another, in JSON.
_KEYS = ("id", "uuid", "guid", "key", "code", "slug", "sku", "url", "link")
#: Names of what leads to the next part, in JSON.
_NEXT = ("next", "next_url", "nextUrl", "next_page_url", "nextPageUrl", "nextLink", "@odata.nextLink", "next_link")
#: Types that nearly every page has things of: they say nothing about this one.
_EVERYWHERE = frozenset(
    {
        *(
            "WebSite",
            "WebPage",
            "CollectionPage",
            "Organization",
            "Corporation",
            "NewsMediaOrganization",
            "OnlineStore",
        ),
        *("BreadcrumbList", "ItemList", "ListItem", "SearchAction", "ReadAction", "ImageObject", "Person"),
        *("SiteNavigationElement", "WPHeader", "WPFooter", "WPSideBar"),
    }
)


class Rows(msgspec.Struct, frozen=True):
    """A list of records in JSON."""

    #: The keys on the way to it; empty: the body is the list. None: there is no list, the body is one record.
    path: tuple[str, ...] | None
    count: int
    #: The names in the records, in order.
    names: tuple[str, ...]
    #: The name that tells one from another, if there is one.
    key: str | None
    #: The keys on the way to the URL of the next part, if there is one.
    next: tuple[str, ...] | None = None
    #: The argument of the URL that counts pages, if the answer tells its number as `page`, and `has_next`.
    counted: str | None = None


class Sketch(msgspec.Struct, frozen=True):
    """What a first scraper can be made of: a block, a parser, or rows of JSON."""

    url: str
    block: Block | None = None
    parser: str | None = None
    rows: Rows | None = None
    #: The selector of the links that lead on.
    follow: str | None = None
    #: Whether the parser was chosen by what it finds: the page does not say what it is about.
    guessed: bool = False

    @property
    def told(self) -> str:
        """What becomes of a page, in a sentence."""
        onward = self.follow
        if self.block is not None:
            fields = ", ".join(slot.name for slot in self.block.slots)
            said = f"each {self.block.selector} ({self.block.count} on the page) is an item: {fields}"
        elif self.rows is not None:
            onward = ".".join(self.rows.next or ()) or self.rows.counted
            place = ".".join(self.rows.path or ()) or "the answer"
            said = f"each of {place} ({self.rows.count}) is an item" if self.rows.path is not None else "it is one item"
        else:
            said = f"it is read by the parser {self.parser!r}"
        return f"{said}; goes on by {onward}" if onward else said


def sketch(page: Page, known: Iterable[Parser]) -> Sketch:
    """What a page offers to a first scraper; `known` are the parsers there are."""
    chosen = parsers.choose(page, known)
    if page.kind == "json" and chosen is parsers.GENERIC:
        return Sketch(page.url, rows=_rows(page))
    found = repeats.blocks(page, most=1) if page.is_html else []
    block = found[0] if found and found[0].score >= LEAST_SCORE else None
    follow = pager.next_links(page) if page.is_html else None
    if chosen is not parsers.GENERIC and (found_by := records(chosen, page)):
        if _says_so(page, chosen) or not _is_listing(block, len(found_by)):
            return Sketch(page.url, parser=chosen.name, follow=follow)
    elif guess := _guess(page, block):
        return Sketch(page.url, parser=guess, follow=follow, guessed=True)
    if block is not None and not _is_tables(block):
        return Sketch(page.url, block=_whole(page, block), follow=follow)
    return Sketch(page.url, parser=_fallback(page), follow=follow)


def records(parser: Parser, page: Page) -> list[Any]:
    """What a parser gives for a page; nothing where it cannot read it."""
    try:
        return parsers.read(parser, page)
    except ReadError:
        return []


def _says_so(page: Page, chosen: Parser) -> bool:
    """Whether a page describes a thing that a parser is for, rather than only naming a type, as many front pages do."""
    from gossamer.parse import structured

    return not page.is_html or bool(chosen.types and structured.of_type(page, *chosen.types))


def _guess(page: Page, block: Block | None) -> str | None:
    """The parser for a page that does not say what it is about, if one clearly fits; articles are left for the last."""
    if not page.is_html or (block is not None and block.share >= 0.5):
        return None
    best = next(iter(fitting.ranked(given(page))), None)
    # A page that speaks of other things is seldom a job's, and often sells something.
    if (
        best is None
        or best.name == "article"
        or (best.name != "product" and (block is not None or telling_types(page)))
    ):
        return None
    return best.name if best.clear else None


def given(page: Page) -> dict[str, list[Any]]:
    """What the parsers for one sort of thing give for a page."""
    return {name: records(parsers.BUILTIN[name], page) for name in fitting.FIELDS}


def _is_listing(block: Block | None, given: int) -> bool:
    """Whether what repeats is more of what a page is about than the few records that a parser gave."""
    return block is not None and block.count >= 4 and block.share >= 0.5 and given < block.count / 2


def _whole(page: Page, block: Block) -> Block:
    """A block without those that lack the link to what they are about: among entries stand advertisements."""
    link = next((slot.selector for slot in block.slots if slot.name == "url"), "")
    if not link:
        return block
    selector = f"{block.selector}:has({link})"
    whole = len(page.css(selector))
    if not 0 < whole < len(page.css(block.selector)):
        return block
    return msgspec.structs.replace(block, selector=selector, count=whole)


def _is_tables(block: Block) -> bool:
    """Whether what repeats is whole tables."""
    return sum("td" in slot.selector.split(":")[0].split() for slot in block.slots if slot.many) > 1


def _fallback(page: Page) -> str:
    """The parser for a page on which nothing repeats, and which says of itself nothing that a parser is for."""
    if not page.is_html:
        return parsers.GENERIC.name
    cells = sum(len(table.rows) * len(table.columns) for table in records(parsers.BUILTIN["tables"], page))
    if cells < MANY_CELLS and _is_article(page):
        return "article"
    if cells > 1:
        return "tables"
    return "structured" if telling_types(page) else parsers.GENERIC.name


def _is_article(page: Page) -> bool:
    found = records(parsers.BUILTIN["article"], page)
    return len(found) == 1 and bool(found[0].title) and len(found[0].body or "") >= fitting.LONG


def telling_types(page: Page) -> list[str]:
    """The types of the things that a page says it is about, without those that nearly every page names."""
    from gossamer.parse import structured

    types = [name for thing in structured.things(page) for name in _listed(thing.get("@type"))]
    return list(dict.fromkeys(name for name in types if isinstance(name, str) and name not in _EVERYWHERE))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


# -- JSON ------------------------------------------------------------------------------------------------------


def _rows(page: Page) -> Rows:
    """The list in a JSON answer that holds most; the answer itself, if it holds none."""
    answer = page.json()
    found = max(_lists(answer), key=lambda each: each[2], default=None)
    if found is None:
        return Rows(None, 1, tuple(answer) if isinstance(answer, dict) else (), None)
    path, rows, _ = found
    key = next((name for name in _KEYS if _tells(rows, name)), None)
    names = dict.fromkeys([*([key] if key else []), *(name for row in rows[:100] for name in row)])
    return Rows(path, len(rows), tuple(names), key, _next(answer, path, page), _counted(answer, page))


def _lists(answer: Any) -> Iterator[tuple[tuple[str, ...], list[dict[str, Any]], int]]:
    """Lists of objects in an answer: the way there, the list, and how much is in it."""
    level: list[tuple[tuple[str, ...], Any]] = [((), answer)]
    left = MOST
    for depth in range(DEEPEST):
        deeper: list[tuple[tuple[str, ...], Any]] = []
        for path, value in level:
            if isinstance(value, list) and value and all(isinstance(row, dict) for row in value[:1000]):
                # What stands further out counts more: the tags of a record are lists too.
                yield path, [row for row in value if isinstance(row, dict)], len(value) * (1 + len(value[0])) >> depth
            elif isinstance(value, dict):
                deeper += [((*path, name), inner) for name, inner in value.items() if isinstance(inner, dict | list)]
        left -= len(deeper)
        if left < 0:
            return
        level = deeper


def _tells(rows: Sequence[dict[str, Any]], name: str) -> bool:
    values = [row.get(name) for row in rows]
    plain = all(isinstance(value, str | int) and not isinstance(value, bool) and value != "" for value in values)
    return plain and len(set(values)) == len(values)


def _next(answer: Any, path: tuple[str, ...], page: Page) -> tuple[str, ...] | None:
    """The way to the URL of the next part: beside the rows, around them, or among links."""
    around: list[tuple[tuple[str, ...], Any]] = [((), answer)]
    for name in path[:-1]:
        around.append(((*around[-1][0], name), around[-1][1][name]))
    for way, place in reversed(around):
        if not isinstance(place, dict):
            continue
        inside = [((*way, name), place.get(name)) for name in ("links", "_links", "paging", "meta")]
        for at, value in [(way, place), *inside]:
            if not isinstance(value, dict):
                continue
            for name in _NEXT:
                found = value.get(name)
                if isinstance(found, dict) and _is_link(found.get("href"), page):
                    return (*at, name, "href")
                if _is_link(found, page):
                    return (*at, name)
    return None


def _is_link(value: Any, page: Page) -> bool:
    if not isinstance(value, str) or not value.startswith(("http:", "https:", "/", "?")):
        return False
    return urls.resolve(value, page.url) not in (None, page.url)


def _counted(answer: Any, page: Page) -> str | None:
    """The argument that counts pages, where the answer says which it is, and that there is another."""
    if not isinstance(answer, dict) or answer.get("has_next") is not True or not isinstance(answer.get("page"), int):
        return None
    given = parse_qsl(urlsplit(page.url).query, keep_blank_values=True)
    return given[0][0] if len(given) == 1 and given[0][1] == str(answer["page"]) else None
