"""Microdata: items as WHATWG reads them, in the shape of JSON-LD.

An item is `{"@type": .., "@id": .., property: value}`; several values of a property are a list. One without properties,
as in `<b itemprop="author" itemscope>Ann</b>`, says what it says in `value`. Which item a property
belongs to is asked upwards from the property, and every answer is remembered for all elements on the way: so the time
grows with the number of elements that are looked at, however they are nested and however often they are referred to.
"""

from __future__ import annotations

from typing import Any, Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from gossamer.parse import markup

__all__ = ["read"]

#: Items inside items that are kept; what lies deeper is left out.
DEEPEST: Final = 32
#: Items of one page, each counted wherever it is referred to.
MOST_ITEMS: Final = 20_000
#: Properties of one page, each counted for every item that refers to it.
MOST_PROPERTIES: Final = 50_000
#: Items that one element can belong to.
_MOST_OWNERS: Final = 100
#: Names that one property can have.
_MOST_NAMES: Final = 10

_URLS = {
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "track", "video"), "src"),
    **dict.fromkeys(("a", "area", "link"), "href"),
    "object": "data",
}
_VALUES = {"meta": "content", "data": "value", "meter": "value", "time": "datetime"}

#: Items that an element belongs to, each by its mem_id.
Owners = tuple[int, ...]


def read(tree: LexborHTMLParser, base: str) -> list[dict[str, Any]]:
    """The items of a page that are no property of another one, in document order."""
    return _Items(tree, base).top()


class _Items:
    """The items of one page: who owns which property."""

    def __init__(self, tree: LexborHTMLParser, base: str) -> None:
        self._base = base
        self._texts = markup.Texts()
        self._left = MOST_ITEMS
        self._nodes = {node.mem_id: node for node in markup.marked(tree, "[itemscope], [itemprop]")}
        self._attributes = {at: node.attributes for at, node in self._nodes.items()}
        #: Item -> its properties in document order.
        self._owned: dict[int, list[int]] = {at: [] for at, given in self._attributes.items() if "itemscope" in given}
        self._referring = self._references(tree)
        self._below: dict[int, Owners] = {}
        #: Items that stand alone.
        self._top: list[int] = []
        self._own(MOST_PROPERTIES)

    def _own(self, left: int) -> None:
        for at, given in self._attributes.items():
            owners = self._owners(at) if given.get("itemprop") else ()
            for owner in owners:
                self._owned[owner].append(at)
            if not owners and at in self._owned:
                self._top.append(at)
            left -= len(owners)
            if left < 0:
                return

    def top(self) -> list[dict[str, Any]]:
        """Items that stand alone."""
        return [item for at in self._top if (item := self._item(at, ())) is not None]

    def _references(self, tree: LexborHTMLParser) -> dict[int, Owners]:
        """Element -> the items that name it in their itemref."""
        naming: dict[str, list[int]] = {}
        for at in self._owned:
            for name in dict.fromkeys((self._attributes[at].get("itemref") or "").split()):
                naming.setdefault(name, []).append(at)
        referring: dict[int, Owners] = {}
        for node in markup.marked(tree, "[id]") if naming else ():
            # Of several elements with one id, the first has it.
            if items := naming.pop(node.id or "", None):
                referring[node.mem_id] = tuple(items[:_MOST_OWNERS])
        return referring

    def _owners(self, at: int) -> Owners:
        """The items that an element is a property of: the one it stands in, and those that refer to it."""
        return _both(self._owners_below(self._nodes[at].parent), self._referring.get(at, ()))

    def _owners_below(self, node: LexborNode | None) -> Owners:
        """The items that elements right below this one belong to."""
        passed: list[int] = []
        owners: Owners = ()
        while node is not None:
            at = node.mem_id
            if at in self._owned:
                owners = (at,)
                break
            if (known := self._below.get(at)) is not None:
                owners = known
                break
            passed.append(at)
            node = node.parent
        for at in reversed(passed):
            owners = self._below[at] = _both(owners, self._referring.get(at, ()))
        return owners

    def _item(self, at: int, around: Owners) -> dict[str, Any] | None:
        """An item with all that is in it; None for one that lies in itself, or too deep, or is one too many."""
        self._left -= 1
        if at in around or len(around) >= DEEPEST or self._left < 0:
            return None
        given, item = self._attributes[at], dict[str, Any]()
        if types := (given.get("itemtype") or "").split():
            item["@type"] = types[0] if len(types) == 1 else types
        if identity := given.get("itemid"):
            item["@id"] = markup.join(self._base, identity)
        for prop in self._owned[at]:
            value = self._item(prop, (*around, at)) if prop in self._owned else self._value(prop)
            if value is not None:
                for name in (self._attributes[prop]["itemprop"] or "").split()[:_MOST_NAMES]:
                    markup.add(item, name, value)
        if not self._owned[at] and (value := self._value(at)):
            item["value"] = value
        return item

    def _value(self, at: int) -> str | dict[str, Any]:
        node, given = self._nodes[at], self._attributes[at]
        tag = node.tag or ""
        if tag in ("input", "select", "textarea") and (given.get("itemprop") or "").endswith(("-input", "-output")):
            return _field(given)
        if (name := _URLS.get(tag)) and (reference := given.get(name)):
            return markup.join(self._base, reference)
        if (value := given.get(_VALUES.get(tag, "content"))) is not None:
            return value.strip()
        # No standard says so, but pages write `content` on any element, and everyone reads it.
        if (value := given.get("content")) is not None:
            return value.strip()
        return self._texts.of(node)


def _field(given: dict[str, str | None]) -> dict[str, Any]:
    """What a field of a form asks for, as actions of schema.org say it: `query-input`."""
    field: dict[str, Any] = {"@type": "https://schema.org/PropertyValueSpecification"}
    if "required" in given:
        field["valueRequired"] = True
    if name := given.get("name"):
        field["valueName"] = name
    return field


def _both(one: Owners, other: Owners) -> Owners:
    return tuple(dict.fromkeys((*one, *other)))[:_MOST_OWNERS] if other else one
