"""A page's elements in a row, with numbers for what is asked of them again and again.

An element's descendants follow it: those of element `i` are the numbers from `i + 1` up to `end[i]`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from gossamer.parse.page import Page

__all__ = ["Outline", "best_class", "is_telling", "words"]

#: Elements looked at: what a page has beyond them is not outlined.
MOST: Final = 30_000
#: Elements that nobody sees.
_UNSEEN = frozenset({"script", "style", "noscript", "template", "svg", "head", "iframe", "option"})
_USABLE = re.compile(r"-?[A-Za-z_][\w-]*")
#: Classes that say how something looks, or which of several it is, and not what it is.
_LOOKS = re.compile(
    r"(?:col|d|p|m|[mp][trblxy]|w|h|text|bg|flex|grid|gap|justify|items|align|float|pull|rounded|border|shadow|font|xs|sm"
    r"|md|lg|xl|is|has|js|fa|animate|order|offset|small|large)-.*"
    r"|row|col|container|wrapper|inner|outer|clearfix|first|last|odd|even|active|selected|current|flex|grid|block|hidden"
    r"|even-row|odd-row|d-flex|card-body|media|box|left|right|center|pull-left|pull-right|relative|absolute|sr-only|visually-hidden",
    re.IGNORECASE,
)
#: Classes that a build tool made up: `css-1x2k9z`, `sc-bdVaJa`, `jsx-2871`.
_MADE_UP = re.compile(r"(?:css|sc|jsx|emotion|svelte|styles?)-\w+|(?=\w*\d)(?=\w*[a-z])\w{7,}")


class Outline:
    """The visible elements of a page's body, in document order."""

    def __init__(self, page: Page) -> None:
        self.tags: list[str] = []
        self.nodes: list[Any] = []
        self.classes: list[tuple[str, ...]] = []
        self.parents: list[int] = []
        #: The first number after an element's descendants.
        self.end: list[int] = []
        #: Letters directly inside an element, and in all of it.
        self.own: list[int] = []
        self.letters: list[int] = []
        self._read(page)

    def _read(self, page: Page) -> None:
        body = page.tree.body
        if body is None:
            return
        places: dict[int, int] = {}
        for node in body.traverse(include_text=True):
            parent = places.get(node.parent.mem_id, -1) if node.parent is not None else -1
            if node.tag == "-text":
                if parent >= 0:
                    self.own[parent] += len((node.text_content or "").strip())
            elif node.tag and node.tag[:1] not in "-_!" and node.tag not in _UNSEEN and (parent >= 0 or not self.tags):
                if len(self.tags) >= MOST:
                    break
                places[node.mem_id] = len(self.tags)
                self._add(node, parent)
        self._sum()

    def _add(self, node: Any, parent: int) -> None:
        given = (node.attributes.get("class") or "")[:1000].split()
        self.tags.append(node.tag)
        self.nodes.append(node)
        self.classes.append(tuple(dict.fromkeys(each for each in given if _USABLE.fullmatch(each))))
        self.parents.append(parent)
        self.own.append(0)

    def _sum(self) -> None:
        self.letters = list(self.own)
        self.end = [n + 1 for n in range(len(self.tags))]
        for n in range(len(self.tags) - 1, 0, -1):
            above = self.parents[n]
            self.letters[above] += self.letters[n]
            self.end[above] = max(self.end[above], self.end[n])

    def __len__(self) -> int:
        return len(self.tags)

    def above(self, n: int) -> list[int]:
        """The elements around one, the nearest first."""
        found: list[int] = []
        while (n := self.parents[n]) >= 0 and len(found) < 200:
            found.append(n)
        return found

    def children(self, n: int) -> list[int]:
        """The elements directly inside one."""
        found: list[int] = []
        at = n + 1
        while at < self.end[n]:
            found.append(at)
            at = self.end[at]
        return found

    def name(self, n: int) -> str:
        """An element as a selector of one step: `li.book`, or `li` if no class of it says what it is."""
        telling = best_class(self.classes[n])
        return f"{self.tags[n]}.{telling}" if telling else self.tags[n]


def is_telling(name: str) -> bool:
    """Whether a class says what an element is."""
    return not _LOOKS.fullmatch(name) and not _MADE_UP.fullmatch(name)


def best_class(classes: tuple[str, ...]) -> str | None:
    """The class that says best what an element is; None if none does.

    >>> best_class(("col-md-4", "book")), best_class(("row",))
    ('book', None)
    """
    return next((each for each in classes if is_telling(each)), None)


def words(name: str) -> list[str]:
    """The words of a class or an attribute, in lower case.

    >>> words("productTitle"), words("price_color")
    (['product', 'title'], ['price', 'color'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", name[:100])]
