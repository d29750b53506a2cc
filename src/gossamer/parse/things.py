"""Things in one shape, whichever syntax they were written in.

A thing is `{"@type": "Product", "name": .., "offers": {..}}`: schema.org's prefixes are cut from types and properties,
texts are tidied, `@graph` is flattened, and where a thing is only referred to by its `@id`, the thing itself is put in
its place, unless that would put it into itself.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from typing import Any, Final

from gossamer.parse import schemaorg

__all__ = ["inside", "shaped", "tidied"]

#: Objects inside objects that are kept; what lies deeper is left out.
DEEPEST: Final = 40
#: Objects kept of one page, each counted wherever it is referred to.
MOST: Final = 50_000
#: References that are followed one after another.
_FOLLOWED: Final = 3

_REFERENCE = frozenset({"@id", "@type"})
_LEFT_OUT = frozenset({"@context", "@graph", "@index", "@included"})
#: What schema.org calls these in its own context.
_KEYWORDS = {"type": "@type", "id": "@id"}
_WRAPPERS = ("@value", "@list", "@set")


def shaped(found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Objects as JSON-LD spells them, as things. Those that say nothing are left out."""
    shaping = _Shaping()
    tops = [thing for value in found for thing in shaping.top(value) if not thing.keys() <= {"@id"}]
    known = _identified(tops)
    if not known:
        return tops
    resolving = _Resolving(known)
    return [resolving.inner(thing, (), 0) for thing in tops]


class _Shaping:
    """One page's objects being shaped, as many as a page may have."""

    def __init__(self) -> None:
        self._left = MOST

    def top(self, value: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The thing an object at the top is, and those in its graph."""
        waiting: list[Any] = [value]
        while waiting:
            part = waiting.pop()
            if isinstance(part, list):
                waiting += part[::-1]
            elif isinstance(part, dict):
                if (thing := self.thing(part, 0)) is not None:
                    yield thing
                waiting.append(part.get("@graph"))

    def thing(self, value: dict[str, Any], depth: int) -> dict[str, Any] | None:
        """An object as a thing; None if it says nothing, lies too deep or is one too many."""
        self._left -= 1
        if depth > DEEPEST or self._left < 0:
            return None
        thing: dict[str, Any] = {}
        for spelled, given in value.items():
            name = _named(spelled, given, value)
            kept = _types(given) if name == "@type" else self._value(given, depth + 1)
            if kept is not None and name not in _LEFT_OUT:
                thing[name] = kept
        return thing or None

    def _value(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return tidied(value) or None
        if depth > DEEPEST:
            return None
        if isinstance(value, dict):
            for wrapper in _WRAPPERS:
                if wrapper in value:
                    return self._value(value[wrapper], depth + 1)
            return self.thing(value, depth)
        if isinstance(value, list):
            return [one for one in (self._value(one, depth + 1) for one in value) if one is not None] or None
        return value


def _named(name: str, given: Any, value: dict[str, Any]) -> str:
    if name[:1] == "@":
        return name
    keyword = _KEYWORDS.get(name)
    return keyword if keyword and keyword not in value and isinstance(given, str) else schemaorg.short(name)


def _types(given: Any) -> str | list[str] | None:
    names = [schemaorg.short(name) for name in (given if isinstance(given, list) else [given]) if isinstance(name, str)]
    return names[0] if len(names) == 1 else names or None


def tidied(text: str) -> str:
    """A text without entities and without white space that says nothing; its lines stay lines."""
    if "&" in text:
        text = html.unescape(text)
    if "\n" not in text:
        return " ".join(text.split())
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.split("\n"))))


def _identified(tops: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Id -> the thing that says most under it."""
    known: dict[str, dict[str, Any]] = {}
    for thing in inside(tops):
        name = thing.get("@id")
        if isinstance(name, str) and not thing.keys() <= _REFERENCE and len(thing) > len(known.get(name, ())):
            known[name] = thing
    return known


class _Resolving:
    """Puts things in the place of references to them, as many as a page may have."""

    def __init__(self, known: dict[str, dict[str, Any]]) -> None:
        self._known = known
        self._left = MOST

    def value(self, value: Any, around: tuple[str, ...], followed: int) -> Any:
        """A value with things in it instead of references."""
        if isinstance(value, list):
            return [self.value(one, around, followed) for one in value]
        if not isinstance(value, dict):
            return value
        name = value.get("@id")
        if isinstance(name, str) and value.keys() <= _REFERENCE:
            if name in around or name not in self._known or followed >= _FOLLOWED or self._left < 0:
                return value
            return self.inner(self._known[name], around, followed + 1)
        return self.inner(value, around, followed)

    def inner(self, thing: dict[str, Any], around: tuple[str, ...], followed: int) -> dict[str, Any]:
        """A thing with things in it; no reference in it leads to itself, nor to what it lies in."""
        self._left -= 1
        name = thing.get("@id")
        if isinstance(name, str):
            around = (*around, name)
        return {
            key: self.value(one, around, followed) if isinstance(one, dict | list) else one
            for key, one in thing.items()
        }


def inside(values: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Things and the things in them: first all that stand outside, then what is in them, and so on."""
    level = [value for value in values if isinstance(value, dict | list)]
    while level:
        deeper: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                yield value
                deeper += [one for one in value.values() if isinstance(one, dict | list)]
            else:
                deeper += [one for one in value if isinstance(one, dict | list)]
        level = deeper
