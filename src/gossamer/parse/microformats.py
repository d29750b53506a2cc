"""Microformats: h-entry, h-card and their kin, and the classic hentry, vcard ..

Read as microformats.org describes, with one difference: only classes that somebody has defined begin a microformat,
because `h-full` on half of the pages of today says how tall a box is.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from gossamer.parse import classics, markup

__all__ = ["read"]

_ROOTS: Final = frozenset(
    (
        *("h-adr", "h-app", "h-card", "h-cite", "h-entry", "h-event", "h-feed", "h-geo", "h-item", "h-listing"),
        *("h-product", "h-recipe", "h-resume", "h-review", "h-review-aggregate"),
    )
)
#: These begin a microformat wherever they stand; an `adr` or a `geo` only where a property is one.
_CLASSIC: Final = classics.ROOTS.keys() - {"adr", "geo"}
#: Elements that may be the root of one: eight questions instead of two dozen.
_CANDIDATES: Final = ", ".join(
    [
        *('[class^="h-"]', '[class*=" h-"]'),
        *(f'[class*="{part}"]' for part in ("hentry", "hfeed", "hproduct", "hre", "vcard", "vevent")),
    ]
)

#: Items inside items, and properties inside properties, that are kept; what lies deeper is left out.
DEEPEST: Final = 16
#: Properties that one element can be.
_MOST_NAMES: Final = 10
#: Elements looked at.
MOST: Final = 50_000

_PROPERTY = re.compile(r"(p|u|dt|e)-((?:[a-z0-9]+-)?[a-z]+(?:-[a-z]+)*)", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}|\d{4}-\d{3}")
_TIME = re.compile(
    r"(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?\s?([ap]\.?m\.?)?(?![\d-])\s?(Z|[+-]\d{1,2}:?\d{2})?", re.IGNORECASE
)
_ZONE = re.compile(r"Z|[+-]\d{1,2}:?\d{2}")


class _Names(NamedTuple):
    """What the classes of an element say."""

    #: Prefix and name of each property it is.
    properties: list[tuple[str, str]]
    #: Types of the item it is; empty if it is none.
    types: list[str]
    #: Whether the item's own properties have classic names.
    classic: bool = False


_NOTHING: Final = _Names([], [])


def read(tree: LexborHTMLParser, base: str) -> list[dict[str, Any]]:
    """The microformats of a page: `{"type": ["h-entry"], "properties": {"name": [..]}}`, in document order."""
    roots = [node for node in markup.marked(tree, _CANDIDATES) if _names(node.attributes, None).types]
    reading = _Reading(base)
    return [reading.item(node, _names(node.attributes, None), 0) for node in _outermost(roots)]


def _outermost(roots: list[LexborNode]) -> list[LexborNode]:
    """Roots that lie in no other."""
    found: list[LexborNode] = []
    known = {node.mem_id: True for node in roots}
    for node in roots:
        above, passed = node.parent, []
        while above is not None and above.mem_id not in known:
            passed.append(above.mem_id)
            above = above.parent
        inside = above is not None and known[above.mem_id]
        known.update(dict.fromkeys(passed, inside))
        if not inside:
            found.append(node)
    return found


def _names(given: dict[str, str | None], around: str | None) -> _Names:
    """What an element's classes mean; `around` is the type of the classic microformat it stands in, if it does."""
    classes = (given.get("class") or "").split()
    if not classes and (around is None or "rel" not in given):
        return _NOTHING
    names = classes if around is None else _classic_names(given, classes, around)
    properties = list(dict.fromkeys((found[1], found[2]) for name in names if (found := _PROPERTY.fullmatch(name))))
    types = sorted({name for name in classes if name in _ROOTS or name.startswith("h-x-")})
    if types:
        return _Names(properties, types)
    types = sorted({classics.ROOTS[name] for name in classes if name in _CLASSIC})
    if types:
        return _Names(properties, types, True)
    # A property whose value is of a type: `author` alone is somebody, even without `vcard`.
    types = sorted({name for name in names if name in _ROOTS}) if around is not None else []
    return _Names(properties, types, types in (["h-adr"], ["h-geo"]))


def _classic_names(given: dict[str, str | None], classes: list[str], around: str) -> list[str]:
    rules, links = classics.PROPERTIES.get(around, {}), classics.LINKS.get(around, {})
    names = [new for name in classes if name in rules for new in rules[name].split()]
    return names + [links[name] for name in (given.get("rel") or "").split() if name in links]


class _Reading:
    """One page being read, up to a number of elements and of letters."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._texts = markup.Texts()
        self._left = MOST

    def item(self, root: LexborNode, names: _Names, depth: int) -> dict[str, Any]:
        """An item with all that is in it."""
        properties: dict[str, list[Any]] = {}
        children: list[dict[str, Any]] = []
        seen: set[str] = set()
        around = names.types[0] if names.classic else None
        # Each with the number of properties it lies in.
        waiting = [(node, 0) for node in markup.elements(root)[::-1]]
        while waiting and self._left > 0:
            self._left -= 1
            node, within = waiting.pop()
            said = _names(node.attributes, around)
            nested = self.item(node, said, depth + 1) if said.types and depth < DEEPEST else None
            if nested is not None and not said.properties:
                children.append(nested)
            for prefix, name in said.properties[:_MOST_NAMES] if within < DEEPEST else ():
                properties.setdefault(name, []).append(self._value(node, prefix, nested))
                seen.add(prefix)
            if said.types:
                seen.add("h")
            else:
                within += bool(said.properties)
                waiting += [(inner, within) for inner in markup.elements(node)[::-1]]
        if not names.classic:
            self._imply(root, properties, seen)
        item: dict[str, Any] = {"type": names.types, "properties": properties}
        return {**item, "children": children} if children else item

    # --- values ---

    def _value(self, node: LexborNode, prefix: str, nested: dict[str, Any] | None) -> Any:
        plain = self._plain(node, node.attributes, prefix)
        if nested is None:
            return plain
        told = nested["properties"].get({"p": "name", "u": "url"}.get(prefix, ""), [plain])[0]
        value = told if isinstance(told, str) else told.get("value", "") if isinstance(told, dict) else plain
        return {**nested, "value": value, **({"html": plain["html"]} if prefix == "e" else {})}

    def _plain(self, node: LexborNode, given: dict[str, str | None], prefix: str) -> Any:
        if prefix == "e":
            return {"html": self._texts.markup(node), "value": self._texts.of(node)}
        if prefix == "u":
            return self._url(node, given)
        parts = [] if node.first_child is None else self._parts(node)
        if prefix == "dt":
            return _moment(parts) if parts else self._told(node, given, "datetime")
        return "".join(parts) if parts else self._told(node, given, "alt")

    def _told(self, node: LexborNode, given: dict[str, str | None], attribute: str) -> str:
        """What an element says in an attribute made for it, else in its text."""
        for name in (attribute, "title" if node.tag in ("abbr", "link") else "", "value"):
            tags = {"datetime": ("time", "ins", "del"), "alt": ("img", "area"), "value": ("data", "input")}
            if name in given and (name == "title" or node.tag in tags.get(name, ())):
                return (given[name] or "").strip()
        return self._texts.of(node)

    def _url(self, node: LexborNode, given: dict[str, str | None]) -> Any:
        for name in ("href", "src", "poster", "data"):
            if (reference := given.get(name)) is not None:
                url = markup.join(self._base, reference) or self._base
                alt = given.get("alt") if node.tag == "img" else None
                return url if alt is None else {"value": url, "alt": alt.strip()}
        text = "".join(self._parts(node)) or self._told(node, given, "alt")
        return markup.join(self._base, text)

    def _parts(self, node: LexborNode) -> list[str]:
        """The texts of elements below with the class `value`: one value may be written in pieces."""
        found: list[str] = []
        for part in node.css(".value, .value-title")[:20]:
            given = part.attributes
            if "value-title" in (given.get("class") or "").split():
                found.append((given.get("title") or "").strip())
            else:
                found.append(self._told(part, given, "datetime" if part.tag in ("time", "ins", "del") else "alt"))
        return found

    # --- what goes without saying ---

    def _imply(self, root: LexborNode, properties: dict[str, list[Any]], seen: set[str]) -> None:
        """Give an item that names itself by what it is made of a name, a photo and a URL."""
        chain = [root, *_only_children(root)]
        if "name" not in properties and seen.isdisjoint({"p", "e", "h"}):
            properties["name"] = [self._implied_name(chain)]
        if seen.isdisjoint({"u", "h"}):
            for name, tags, attribute in (("photo", ("img",), "src"), ("url", ("a", "area"), "href")):
                node = _implied(chain, tags, attribute) if name not in properties else None
                if node is not None:
                    properties[name] = [self._url(node, node.attributes)]

    def _implied_name(self, chain: list[LexborNode]) -> str:
        for node in chain:
            told = {"img": "alt", "area": "alt", "abbr": "title"}.get(node.tag or "")
            if told and (text := node.attributes.get(told)):
                return text.strip()
        return self._texts.of(chain[0])


def _only_children(root: LexborNode) -> list[LexborNode]:
    """The only element in an item, and the only one in that; none that is an item itself."""
    found: list[LexborNode] = []
    node = root
    while len(found) < 2:
        inner = markup.elements(node)
        if len(inner) != 1 or _names(inner[0].attributes, None).types:
            break
        node = inner[0]
        found.append(node)
    return found


def _implied(chain: list[LexborNode], tags: tuple[str, ...], attribute: str) -> LexborNode | None:
    """The item itself, or the only element of a kind in it or in its only child."""
    if chain[0].tag in tags and chain[0].attributes.get(attribute):
        return chain[0]
    for node in chain[:2]:
        found = [inner for inner in markup.elements(node) if inner.tag in tags]
        if len(found) == 1 and found[0].attributes.get(attribute) and not _names(found[0].attributes, None).types:
            return found[0]
    return None


def _moment(parts: list[str]) -> str:
    """A date and a time that are written in pieces."""
    date = time = zone = ""
    for part in parts:
        found = _DATE.search(part)
        date = date or (found[0] if found else "")
        rest = part[found.end() :].lstrip("T ") if found else part
        if not time and (clock := _TIME.match(rest)) and (clock[2] or clock[4]):
            time, zone = _clock(clock), zone or clock[5] or ""
        elif _ZONE.fullmatch(rest):
            zone = zone or rest
    return " ".join(filter(None, (date, time + zone))) or "".join(parts)


def _clock(found: re.Match[str]) -> str:
    hour, half = int(found[1]), (found[4] or "")[:1].lower()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return f"{hour:02}:{found[2] or '00'}" + (f":{found[3]}" if found[3] else "")
