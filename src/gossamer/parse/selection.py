"""What `page.css` and `page.xpath` give: a list of matches that can be read, or searched again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, overload

from selectolax.lexbor import SelectolaxError

from gossamer.errors import ReadError

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_PSEUDO = re.compile(r"(\s*)::(text|attr\(\s*([^)\s]+)\s*\))\s*$")


class Selection(Sequence["Selection"]):
    """Matches, in document order. Iterating gives one Selection a match.

    `.get()` is the first as text, `.getall()` all of them: with `::text` or `::attr(name)` that text,
    otherwise the element's HTML. `.text` and `.texts()` are what a reader sees.
    """

    __slots__ = ("_found",)

    def __init__(self, found: Sequence[Any]) -> None:
        #: Elements, or texts where the selector ended in ::text or ::attr().
        self._found = found

    def css(self, selector: str) -> Selection:
        """Search below each match."""
        return Selection([hit for node in self._elements() for hit in select(node, selector)])

    def get(self, default: str | None = None) -> str | None:
        """The first match as text; `default` if there is none."""
        return _out(self._found[0]) if self._found else default

    def getall(self) -> list[str]:
        """All matches as texts."""
        return [_out(hit) for hit in self._found]

    @property
    def text(self) -> str | None:
        """What a reader sees of the first match, white space tidied; None if there is none."""
        return _seen(self._found[0]) if self._found else None

    def texts(self) -> list[str]:
        """What a reader sees of each match, white space tidied."""
        return [_seen(hit) for hit in self._found]

    def attr(self, name: str, default: str | None = None) -> str | None:
        """An attribute of the first match."""
        for node in self._elements():
            value: str | None = node.attributes.get(name, default)
            return default if value is None else value
        return default

    @property
    def attributes(self) -> dict[str, str | None]:
        """All attributes of the first match."""
        for node in self._elements():
            return dict(node.attributes)
        return {}

    def _elements(self) -> list[Any]:
        return [hit for hit in self._found if not isinstance(hit, str)]

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> Selection: ...
    @overload
    def __getitem__(self, index: slice) -> Selection: ...
    def __getitem__(self, index: int | slice) -> Selection:
        return Selection(self._found[index] if isinstance(index, slice) else [self._found[index]])

    def __iter__(self) -> Iterator[Selection]:
        return (Selection([hit]) for hit in self._found)

    def __bool__(self) -> bool:
        return bool(self._found)

    def __repr__(self) -> str:
        shown = ", ".join(text[:60] for text in self.getall()[:3])
        return f"<Selection of {len(self)}: {shown}>"


def select(node: LexborNode | Any, selector: str) -> list[Any]:
    """Matches of a selector below a node or in a tree: elements, or texts for ::text and ::attr()."""
    parts = _parts(selector)
    if len(parts) == 1:
        return _select(node, *parts[0])
    return [hit for part in parts for hit in _select(node, *part)]


def _select(node: Any, css: str, wants: str, name: str) -> list[Any]:
    try:
        nodes: list[Any] = node.css(css)
    except (SelectolaxError, ValueError) as why:
        raise ReadError(f"{css!r} is not a CSS selector: {why}") from None
    if not wants:
        return nodes
    if wants == "attr":
        return [value for hit in nodes if (value := hit.attributes.get(name)) is not None]
    if wants == "deep":
        return [child.text_content for hit in nodes for child in hit.traverse(include_text=True) if _is_text(child)]
    return [child.text_content for hit in nodes for child in hit.iter(include_text=True) if _is_text(child)]


def _is_text(node: Any) -> bool:
    return node.tag == "-text" and node.text_content is not None


@lru_cache(maxsize=4096)
def _parts(selector: str) -> tuple[tuple[str, str, str], ...]:
    """(CSS, "" | "text" | "deep" | "attr", attribute) for each way to match; plain CSS stays in one piece."""
    if "::" not in selector:
        return ((selector, "", ""),)
    parts = []
    for part in _split(selector):
        match = _PSEUDO.search(part)
        if match is None:
            parts.append((part, "", ""))
            continue
        css = part[: match.start()].strip() or "*"
        if match[2].startswith("attr"):
            parts.append((css + (" *" if match[1] and css != "*" else ""), "attr", match[3].strip("\"'")))
        else:
            parts.append((css, "deep" if match[1] else "text", ""))
    if len({(wants, name) for _, wants, name in parts}) == 1:  # as one, they are found in document order
        return ((", ".join(css for css, _, _ in parts), *parts[0][1:]),)
    return tuple(parts)


def _split(selector: str) -> list[str]:
    """Split at commas that stand outside of brackets and quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for n, letter in enumerate(selector):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(selector[start:n].strip())
            start = n + 1
    return [*parts, selector[start:].strip()]


def _out(hit: Any) -> str:
    return hit if isinstance(hit, str) else hit.html or ""


def _seen(hit: Any) -> str:
    text = hit if isinstance(hit, str) else hit.text()
    return " ".join(text.split())


class XPathSelection(Sequence["XPathSelection"]):
    """Matches of an XPath expression: the same verbs as Selection."""

    __slots__ = ("_found",)

    def __init__(self, found: Sequence[Any]) -> None:
        self._found = found

    def xpath(self, expression: str) -> XPathSelection:
        """Search from each match."""
        return XPathSelection([hit for node in self._elements() for hit in xpath(node, expression)])

    def get(self, default: str | None = None) -> str | None:
        """The first match as text or HTML; `default` if there is none."""
        return _xml(self._found[0]) if self._found else default

    def getall(self) -> list[str]:
        """All matches as texts or HTML."""
        return [_xml(hit) for hit in self._found]

    @property
    def text(self) -> str | None:
        """What a reader sees of the first match, white space tidied; None if there is none."""
        return self.texts()[0] if self._found else None

    def texts(self) -> list[str]:
        """What a reader sees of each match, white space tidied."""
        return [" ".join((hit if isinstance(hit, str) else "".join(hit.itertext())).split()) for hit in self._found]

    def attr(self, name: str, default: str | None = None) -> str | None:
        """An attribute of the first match."""
        for node in self._elements():
            value: str | None = node.get(name, default)
            return value
        return default

    def _elements(self) -> list[Any]:
        return [hit for hit in self._found if not isinstance(hit, str)]

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, index: int) -> XPathSelection: ...
    @overload
    def __getitem__(self, index: slice) -> XPathSelection: ...
    def __getitem__(self, index: int | slice) -> XPathSelection:
        return XPathSelection(self._found[index] if isinstance(index, slice) else [self._found[index]])

    def __iter__(self) -> Iterator[XPathSelection]:
        return (XPathSelection([hit]) for hit in self._found)

    def __repr__(self) -> str:
        return f"<XPathSelection of {len(self)}>"


def xpath(node: Any, expression: str) -> list[Any]:
    """Matches of an XPath expression: elements and texts. Numbers and booleans come as text."""
    from lxml.etree import XPathError

    try:
        found = node.xpath(expression)
    except (XPathError, ValueError) as why:
        raise ReadError(f"{expression!r} is not an XPath expression: {why}") from None
    if isinstance(found, list):
        return [str(hit) if isinstance(hit, str) else hit for hit in found]
    return [f"{found:g}" if isinstance(found, float) else str(found)]


def _xml(hit: Any) -> str:
    if isinstance(hit, str):
        return hit
    from lxml.html import tostring

    text: str = tostring(hit, encoding="unicode", with_tail=False)
    return text
