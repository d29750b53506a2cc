"""Lists that a page shows as cards: blocks of one kind, each about one thing, with a link to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any, Final, TypeVar

from gossamer import urls
from gossamer.parse.labels import Label, bits, labelled, lines
from gossamer.parse.page import Page

__all__ = ["Card", "best", "groups", "leads"]

T = TypeVar("T")

#: Links of a page from which cards are looked for, steps up from a link, kinds of blocks and cards that are read.
MOST_LINKS: Final = 5000
MOST_STEPS: Final = 10
MOST_GROUPS: Final = 60
MOST_CARDS: Final = 3000
#: Letters of one card's HTML, at most, and of all together: blocks that lie in each other are counted again.
LONGEST: Final = 60_000
MOST_LETTERS: Final = 40_000_000
_BLOCKS: Final = frozenset({"li", "article", "tr", "section", "div", "a", "dl", "td", "tbody"})
_HEADINGS: Final = "h1, h2, h3, h4, [itemprop=title], [itemprop=name]"
_MARKED: Final = "[class], [itemprop], [data-testid], [data-automation], [data-test], time"
_TITLED: Final = re.compile(r"(?:^|[\s_-])(?:title|name|heading|headline)(?:$|[\s_-])", re.IGNORECASE)
#: Texts of links that lead to the thing but do not name it.
_NO_TITLE: Final = re.compile(
    r"(?:apply|view|read|learn|see|find out|more|details?|info|save|share|next|prev|back|login|sign|here|click|jetzt"
    r"|mehr|voir|ver|postuler|bewerben|visit|go to|website|edit|delete|reply|log in|menu|home)\b",
    re.IGNORECASE,
)


class Card:
    """One block: what it is called, where it leads, and what it says besides."""

    def __init__(self, node: Any, base: str) -> None:
        self.node = node
        self._base = base

    @cached_property
    def lines(self) -> list[str]:
        """What a reader sees, text by text."""
        return bits(self.node)

    @cached_property
    def labels(self) -> list[Label]:
        """What stands under labels."""
        return labelled(self.node, self.lines)

    @cached_property
    def links(self) -> list[tuple[Any, str]]:
        """(link, where it goes)."""
        nodes = [self.node] if self.node.tag == "a" else []
        found = []
        for node in (*nodes, *self.node.css("a[href]")[:50]):
            href = node.attributes.get("href")
            url = urls.resolve(href, self._base) if href and not href.startswith("#") else None
            if url:
                found.append((node, url))
        return found

    @cached_property
    def _titled(self) -> tuple[str | None, str | None]:
        """Its title, and where that leads: a heading, an element that calls itself title, or the first link."""
        for node in self._candidates():
            text = _once(node)
            if 2 < len(text) <= 250 and not _NO_TITLE.fullmatch(text):
                return text, self._link_of(node, text)
        return None, None

    def _candidates(self) -> Iterator[Any]:
        yield from self.node.css(_HEADINGS)[:3]
        for node in self.node.css("[class], [data-testid]")[:40]:
            if _TITLED.search(_hint(node)):
                yield node
        for node, _ in self.links:
            if not _NO_TITLE.match(_text(node)):
                yield node
        yield from self.node.css("h5, h6")[:2]

    def _link_of(self, node: Any, text: str) -> str | None:
        inside = {each.mem_id for each in node.css("a[href]")} | {node.mem_id}
        around = node.parent
        near = {around.mem_id, around.parent.mem_id if around.parent else 0} if around is not None else set()
        for wanted in (inside, near):
            for link, url in self.links:
                if link.mem_id in wanted:
                    return url
        same = (url for link, url in self.links if _text(link) == text)
        return next(same, self.links[0][1] if self.links else None)

    @property
    def title(self) -> str | None:
        """What it is called."""
        return self._titled[0]

    @property
    def url(self) -> str | None:
        """Where it leads."""
        return self._titled[1]

    @cached_property
    def _marks(self) -> list[tuple[str, Any]]:
        return [(_hint(node), node) for node in self.node.css(_MARKED)[:200]]

    def hinted(self, words: re.Pattern[str], longest: int = 120) -> str | None:
        """The text of the first element whose class or name has one of these words."""
        for hint, node in self._marks:
            if words.search(hint):
                text = _text(node)
                if text and len(text) <= longest and text != self.title:
                    return text
        return None

    @cached_property
    def time(self) -> str | None:
        """When, as a <time> says."""
        for node in self.node.css("time")[:3]:
            if text := node.attributes.get("datetime") or _text(node):
                return str(text)
        return None


def groups(page: Page) -> list[list[Any]]:
    """Blocks with a link in them that look alike, two or more of a kind, the largest number first."""
    kinds: dict[tuple[str | None, ...], dict[int, Any]] = {}
    seen: set[int] = set()
    for link in page.tree.css("a[href]")[:MOST_LINKS]:
        node = link
        for _ in range(MOST_STEPS):
            above = node.parent
            if above is None or node.mem_id in seen:
                break
            seen.add(node.mem_id)
            if node.tag in _BLOCKS:
                name = _class(node)
                # Without a name of its own, a block is known by what it stands in.
                kind = (node.tag, name) if name else (node.tag, name, above.tag, _class(above))
                kinds.setdefault(kind, {})[node.mem_id] = node
            node = above
    found = [list(nodes.values()) for nodes in kinds.values() if len(nodes) > 1]
    return sorted(found, key=len, reverse=True)


def leads(page: Page, pattern: re.Pattern[str]) -> bool:
    """Whether two links or more of a page lead where a pattern says: without, there is no list to look for."""
    seen: set[str] = set()
    for node in page.tree.css("a[href]")[:MOST_LINKS]:
        href = node.attributes.get("href") or ""
        if len(href) < 2000 and pattern.search(href if "/" in href else f"/{href}"):
            seen.add(href)
            if len(seen) > 1:
                return True
    return False


def best(page: Page, make: Callable[[Card], tuple[T, int] | None]) -> list[T]:
    """What the cards of the page's main list are, in order.

    `make` gives what a card is about and how many of its fields are known; None for a card of another kind. The list
    with the most of them, and of equal ones that with the most fields, is the main one.
    """
    found: list[tuple[T, int]] = []
    cards, letters = MOST_CARDS, MOST_LETTERS
    for nodes in islice(groups(page), MOST_GROUPS):
        if min(cards, letters) <= 0 or len(nodes) < len(found):
            break
        made: list[tuple[T, int]] = []
        for node in nodes[:cards]:
            size = len(node.html or "")
            letters -= size
            if letters <= 0:
                break
            one = make(Card(node, page.base_url)) if size <= LONGEST else None
            if one is not None:
                made.append(one)
        cards -= len(nodes)
        if len(made) > 1 and _weight(made) > _weight(found):
            found = made
    return [record for record, _ in found]


def _weight(made: list[tuple[Any, int]]) -> tuple[int, int]:
    return len(made), sum(fields for _, fields in made)


def _class(node: Any) -> str:
    return next(iter((node.attributes.get("class") or "").split()), "")


def _hint(node: Any) -> str:
    given = node.attributes
    names = (given.get(name) for name in ("class", "itemprop", "data-testid", "data-automation", "data-test"))
    return " ".join(name for name in names if name)


def _once(node: Any) -> str:
    """The text of an element; that of its first link where there are several, for several sizes of screens."""
    links = node.css("a[href]") if node.tag != "a" else []
    return _text(links[0]) or _text(node) if len(links) > 1 else _text(node)


def _text(node: Any) -> str:
    return " ".join(lines(node))
