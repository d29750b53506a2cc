"""Elements read the same way by all syntaxes that sit in attributes: their texts, their places, their URLs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import ada_url

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["Texts", "add", "elements", "join", "marked"]

#: Letters of text taken from one page. Properties may lie in each other a thousand deep, each with the text of all.
MOST_TEXT: Final = 3 << 20
#: What it costs to look at an element, in letters.
_NODE: Final = 16
#: Elements of one syntax read of one page.
MOST_MARKED: Final = 50_000

_HAS_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_UNSEEN = frozenset({"script", "style", "template", "noscript", "head"})
_BREAKING = frozenset(
    (
        *("address", "article", "aside", "blockquote", "br", "caption", "dd", "div", "dl", "dt", "fieldset"),
        *("figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main"),
        *("nav", "ol", "p", "pre", "section", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"),
    )
)


class Texts:
    """Gives what a reader sees of elements, until a page's share of letters is used up."""

    def __init__(self) -> None:
        self._left = MOST_TEXT

    def of(self, node: LexborNode) -> str:
        """The text of an element, white space tidied, a line for each block in it."""
        first = node.first_child
        if first is None or self._left <= 0:
            return ""
        if first.is_text_node and first.next is None:
            text = " ".join((first.text_content or "").split())
            self._left -= len(text) + _NODE
            return text
        return _lines(self._pieces(node))

    def markup(self, node: LexborNode) -> str:
        """What stands in an element, as HTML."""
        inner = (node.inner_html or "").strip() if self._left > 0 else ""
        self._left -= len(inner) + _NODE
        return inner

    def _pieces(self, node: LexborNode) -> list[str]:
        """The texts below an element in order, with a line end before and after each block."""
        pieces: list[str] = []
        waiting: list[LexborNode | None] = _children(node)[::-1]
        while waiting and self._left > 0:
            child = waiting.pop()
            if child is None:
                pieces.append("\n")
                continue
            self._left -= _NODE
            if child.is_text_node:
                text = child.text_content or ""
                pieces.append(text.replace("\n", " "))
                self._left -= len(text)
            elif (tag := child.tag) not in _UNSEEN:
                if tag in _BREAKING:
                    pieces.append("\n")
                    waiting.append(None)
                waiting += _children(child)[::-1]
        return pieces


def _children(node: LexborNode) -> list[LexborNode | None]:
    children: list[LexborNode | None] = []
    child = node.first_child
    while child is not None:
        children.append(child)
        child = child.next
    return children


def _lines(pieces: Iterable[str]) -> str:
    tidied = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return "\n".join(line for line in tidied if line)


def elements(node: LexborNode) -> list[LexborNode]:
    """The elements right below one."""
    return list(node.iter())


def marked(tree: LexborHTMLParser | LexborNode, selector: str) -> list[LexborNode]:
    """Elements that match, each once, in document order."""
    return list({node.mem_id: node for node in tree.css(selector)[:MOST_MARKED]}.values())


def join(base: str, reference: str) -> str:
    """The URL a reference means, of any scheme and with its fragment. One that is whole stays as the page spells it."""
    reference = reference.strip()
    if not reference or _HAS_SCHEME.match(reference):
        return reference
    try:
        return str(ada_url.join_url(base, reference))
    except ValueError:
        return reference


def add(thing: dict[str, Any], name: str, value: Any) -> None:
    """Give a thing one more value of a property: the first stands alone, several are a list."""
    if name not in thing:
        thing[name] = value
    elif isinstance(thing[name], list):
        thing[name].append(value)
    else:
        thing[name] = [thing[name], value]
