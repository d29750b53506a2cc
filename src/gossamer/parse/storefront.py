"""A shop's page as a buyer sees it: its texts in order, where the title is, where the button that buys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse import stock
from gossamer.parse.page import Page

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

#: Texts and elements looked at on one page.
MOST_PIECES = 15_000
#: What is not shown as text, or leads elsewhere.
_UNSEEN = frozenset(
    {"script", "style", "noscript", "template", "head", "title", "svg", "option", "textarea", "iframe", "nav", "footer"}
)
#: Other products, shown beside the one that the page is about, and what belongs to every page of a shop.
_OTHERS = re.compile(
    r"related|recommend|similar|up-?sell|cross-?sell|also-?(?:bought|viewed|like)|recently|mini-?cart|mini-?basket|"
    r"(?:^|[\s_-])recs?(?:[\s_-]|$)|suggest(?:ion|ed)|accessor|bundle|frequently|sponsored|comparison|history|footer|"
    r"breadcrumb|popup-?cart|wishlist-?list|reviews?-?list|navbar|navigation|mega-?menu"
)
_TITLES = (
    "h1, h2, [itemprop=name], [class*=product-title i], [class*=product-name i], [class*=productname i], "
    "[id*=producttitle i]"
)
_BUTTONS = "button, input[type=submit], input[type=button], input[type=image], [role=button]"
_BUYS = re.compile(
    r"add-?_?to-?_?(?:cart|bag|basket|trolley)|addcart|buy-?_?(?:now|button|btn|box)|btn-?_?(?:buy|cart)|cart-?_?(?:button|btn|add)",
    re.IGNORECASE,
)
_OFF = re.compile(r"\b(?:disabled|is-disabled|sold-?out|out-?of-?stock|unavailable)\b", re.IGNORECASE)


class Piece(NamedTuple):
    """One text of the page, and the element it stands in."""

    text: str
    node: LexborNode


class Button(NamedTuple):
    """A button that buys."""

    #: The piece at which it stands.
    at: int
    enabled: bool


class Storefront:
    """What a buyer sees of one page."""

    def __init__(self, page: Page, name: str | None = None) -> None:
        self._page = page
        #: What the page's product is called, where that is known.
        self._name = name
        #: Element -> the first piece that stands in or after it; only elements that speak of the product.
        self._starts: dict[int, int] = {}
        self.pieces: list[Piece] = self._read()

    def _read(self) -> list[Piece]:
        """The texts that speak of the product, in order: not navigation, not other products, not what is hidden."""
        body = self._page.tree.body
        if body is None:
            return []
        around = {node.mem_id for node in ancestors(self._title_node, 200)} if self._title_node else set()
        hidden: set[int] = set()
        apart: dict[str, bool] = {}
        pieces: list[Piece] = []
        for node in body.traverse(include_text=True):
            parent = node.parent
            inside = parent is not None and parent.mem_id in hidden
            if not node.is_text_node:
                if inside or (node.mem_id not in around and _is_apart(node, apart)):
                    hidden.add(node.mem_id)
                else:
                    self._starts[node.mem_id] = len(pieces)
            elif parent is not None and not inside and (text := " ".join(node.text().split())):
                pieces.append(Piece(text, parent))
                if len(pieces) >= MOST_PIECES:
                    break
        return pieces

    @cached_property
    def _title_node(self) -> LexborNode | None:
        """The heading that names the product: the one most like its name, else the first."""
        nodes = self._page.tree.css(_TITLES)[:200]
        wanted = words(self._name or self._page.title or "")
        single = sum(node.tag == "h1" for node in nodes) == 1
        best, most = None, 0.0
        for node in nodes:
            found = words(brief(node, 300))
            alike = (
                2
                * len(found & wanted)
                / (len(found) + len(wanted) or 1)
                * (1.3 if single and node.tag == "h1" else 1.0)
            )
            if found and alike > most:
                best, most = node, alike
        return best or next((node for node in nodes if node.tag == "h1" and brief(node, 300)), None)

    @cached_property
    def title(self) -> str | None:
        """The heading that names the product."""
        node = self._title_node
        return brief(node, 500) or None if node else None

    @cached_property
    def title_at(self) -> int | None:
        """The piece at which the title stands."""
        if self._title_node is not None:
            return self._starts.get(self._title_node.mem_id)
        wanted = words(self._name or self._page.title or "")
        alike = ((len(words(piece.text) & wanted), -at) for at, piece in enumerate(self.pieces) if len(piece.text) > 10)
        most, at = max(alike, default=(0, 0))
        return -at if most >= 2 else None

    @cached_property
    def buttons(self) -> list[Button]:
        """The buttons that buy, in order: texts that say so, and elements that are named so."""
        found = {at: self._enabled(piece.node) for at, piece in enumerate(self.pieces) if stock.buys(piece.text)}
        for node in self._page.tree.css(_BUTTONS)[:2000]:
            at = self._starts.get(node.mem_id)
            said = node.attributes.get("value") or node.attributes.get("aria-label") or ""
            if at is not None and at not in found and (stock.buys(said) or _BUYS.search(names_of(node))):
                found[at] = self._enabled(node) and stock.phrase(said or brief(node, 60)) != "OutOfStock"
        return [Button(at, enabled) for at, enabled in sorted(found.items())][:50]

    def _enabled(self, node: LexborNode) -> bool:
        """Whether nothing on an element, or on those right around it, says that it is switched off."""
        for above in ancestors(node, 3):
            given = above.attributes
            if "disabled" in given or given.get("aria-disabled") == "true" or _OFF.search(given.get("class") or ""):
                return False
        return True

    @cached_property
    def button_at(self) -> int | None:
        """The piece of the first button that buys after the title; before it, where there is none after."""
        places = [button.at for button in self.buttons]
        title = self.title_at or 0
        after = [at for at in places if at >= title]
        return after[0] if after else places[-1] if places else None

    def starts_at(self, node: LexborNode) -> int | None:
        """The first piece that stands in or after an element; None if the element speaks of something else."""
        return self._starts.get(node.mem_id)


def brief(node: LexborNode, most: int) -> str:
    """The first letters of an element's text, white space tidied; however much there is below it."""
    parts, left = [], most
    for step, below in enumerate(node.traverse(include_text=True)):
        if below.is_text_node and (text := " ".join(below.text()[: most * 4].split())):
            parts.append(text)
            left -= len(text) + 1
        if left <= 0 or step > 400:
            break
    return " ".join(parts)[:most]


def names_of(node: LexborNode) -> str:
    """The class and id of an element, for searching."""
    given = node.attributes
    return f"{given.get('class') or ''} {given.get('id') or ''}"


def _is_apart(node: LexborNode, known: dict[str, bool]) -> bool:
    """Whether an element holds something else than the product; `known` are the names that were looked at."""
    tag = node.tag or ""
    if tag in _UNSEEN:
        return True
    if tag in ("body", "main", "html", "form"):
        return False
    given = node.attributes
    if "hidden" in given or (tag == "header" and node.parent is not None and node.parent.tag == "body"):
        return True
    names = f"{given.get('class') or ''} {given.get('id') or ''}".lower()
    if names not in known:
        known[names] = len(names) > 1 and _OTHERS.search(names) is not None
    return known[names]


def ancestors(node: LexborNode, most: int) -> Iterator[LexborNode]:
    """An element and those it stands in, from the inside out."""
    above: LexborNode | None = node
    while above is not None and most:
        yield above
        above = above.parent
        most -= 1


def words(text: str) -> set[str]:
    """The words of a text in small letters, for comparing; of scripts without spaces, pairs of letters."""
    found = set(re.findall(r"\w+", text.lower()))
    return {pair for word in found for pair in ([word] if word.isascii() or len(word) < 6 else _pairs(word))}


def _pairs(word: str) -> list[str]:
    return [word[n : n + 2] for n in range(len(word) - 1)][:100]
