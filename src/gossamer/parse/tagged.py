"""XML as it is found: elements out of tags, whatever is wrong with them.

Half of the feeds of this world are not quite XML: entities of HTML, ampersands that stand alone, control characters,
tags of HTML that nobody closed, a file that breaks off. So this is no XML parser, but a reader of tags that goes once
over the text: it declares no entity, opens no file, and gives what comes before a mistake as well as what comes after.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from gossamer.errors import ReadError
from gossamer.parse.sitemaps import _attributes, _unescaped

__all__ = ["Element", "parse"]

#: Elements read of one text, and how deep they may lie in each other.
MOST_ELEMENTS: Final = 250_000
MOST_DEEP: Final = 100
#: Tags of all sorts that are looked at, and open elements that are looked through for the one that a tag ends.
MOST_STEPS: Final = 1_000_000
#: A text has no more < that begin nothing than this, or than it has elements; else it is no XML, however broken.
MOST_STRAYS: Final = 10_000

#: A < that may begin something. Others are text, and cost no more than any letter.
_MARK: Final = re.compile(r"<[A-Za-z_/!?]")
_TAG: Final = re.compile(
    r"""<(/?)([A-Za-z_][\w:.-]{0,99})((?:[\s/][^<>"']*+(?:"[^"<]*+"[^<>"']*+|'[^'<]*+'[^<>"']*+)*+)?)>"""
    r"""|<(/?)([A-Za-z_][\w:.-]{0,99})((?:[\s/][^<>]*+)?)>"""
)
_NAMESPACE: Final = re.compile(r"""\bxmlns(?::([\w.-]{1,40}))?\s*=\s*["']([^"'<>]{0,200})["']""")
#: What nobody may write in XML.
_ILLEGAL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]+")
#: Elements of HTML that have no end.
_VOID: Final = frozenset({"br", "img", "hr", "input", "meta", "wbr", "area", "embed"})
_CDATA: Final = "<![CDATA["
_CDATA_MARKS: Final = re.compile(r"<!\[CDATA\[|\]\]>")


class Element:
    """An element: its name in small letters, its attributes, the elements in it, its text."""

    __slots__ = ("_end", "_source", "_start", "_tag", "children", "name", "parent", "parts", "written")

    def __init__(self, name: str, tag: str, parent: Element | None, source: str, start: int, written: str = "") -> None:
        #: With the prefix that is usual for its namespace: "dc:date", whatever the file calls it.
        self.name = name
        #: What the file calls it.
        self.written = written
        self.parent = parent
        self.children: list[Element] = []
        #: Texts that stand directly in it.
        self.parts: list[str] = []
        self._tag = tag
        self._source = source
        self._start = start
        self._end = len(source)

    def attribute(self, name: str) -> str | None:
        """An attribute, its name in small letters; None if it has none, or an empty one."""
        return (_attributes(self._tag).get(name) or "").strip() or None if "=" in self._tag else None

    @property
    def text(self) -> str:
        """What stands directly in it, references resolved."""
        return "".join(self.parts).strip()

    @property
    def markup(self) -> str:
        """What stands in it as HTML: its text where that is all, else its source."""
        if not self.children:
            return self.text
        return _CDATA_MARKS.sub("", self._source[self._start : self._end]).strip()

    def all(self, *names: str) -> Iterator[Element]:
        """Its direct children of these names."""
        return (child for child in self.children if child.name in names)

    def first(self, *names: str) -> Element | None:
        """The first of its direct children that has the first of these names that any has."""
        return next((child for name in names for child in self.children if child.name == name), None)

    def below(self) -> Iterator[Element]:
        """All elements in it, outermost first."""
        stack = [self]
        while stack:
            at = stack.pop()
            stack.extend(reversed(at.children))
            if at is not self:
                yield at

    def ended(self, at: int) -> None:
        """It ends where its source does no longer."""
        self._end = at


def parse(text: str, prefixes: Mapping[str, str], units: frozenset[str] = frozenset()) -> Element:
    """An element without a name that holds all elements of a text.

    `prefixes` says how the names of a namespace begin: its URI -> "dc:", or "" for the language itself. One of the
    `units` is never inside another: where it is, somebody forgot to close the first. Raises ReadError for a text that
    is no XML at all: one of thousands of < that begin nothing.
    """
    return _Reading(_ILLEGAL.sub("", text), prefixes, units).all()


class _Reading:
    """A text on its way to elements."""

    def __init__(self, text: str, prefixes: Mapping[str, str], units: frozenset[str]) -> None:
        self._text = text
        self._known = prefixes
        self._units = units
        #: Prefix in the file -> the usual one.
        self._prefixes: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._open = [Element("", "", None, text, 0)]
        self._count = 0
        self._steps = 0
        self._strays = 0
        #: Whether there may be the end of a comment further on.
        self._comments_end = True

    def all(self) -> Element:
        text, at = self._text, 0
        while self._count < MOST_ELEMENTS and self._steps < MOST_STEPS:
            mark = _MARK.search(text, at)
            tag = mark.start() if mark else len(text)
            self._strays += text.count("<", at, tag)
            if self._strays > max(MOST_STRAYS, self._count):
                raise ReadError(f"it is no XML: {self._strays} times a < begins nothing")
            if mark is None:
                break
            if tag > at:
                self._open[-1].parts.append(_unescaped(text[at:tag]))
            at = self._one(tag)
            self._steps += 1
        return self._open[0]

    def _one(self, at: int) -> int:
        """Read what begins with a <; where it ends."""
        text = self._text
        found = _TAG.match(text, at)
        if found is not None:
            closing, name, rest = found.groups()[:3] if found[2] else found.groups()[3:]
            if closing:
                self._close(name.lower(), at)
            else:
                self._begin(name, rest, found.end())
            return found.end()
        if text.startswith(_CDATA, at):
            end = text.find("]]>", at)
            self._open[-1].parts.append(text[at + len(_CDATA) : end if end >= 0 else None])
            return end + 3 if end >= 0 else len(text)
        if text.startswith("<!--", at):
            end = text.find("-->", at + 4) if self._comments_end else -1
            self._comments_end = end >= 0
            return end + 3 if end >= 0 else at + 4
        if text.startswith(("<?", "<!"), at):
            return self._declaration(at)
        self._open[-1].parts.append("<")
        self._strays += 1
        return at + 1

    def _declaration(self, at: int) -> int:
        """Past a processing instruction or a document type with all that it declares: none of it is believed."""
        end = self._text.find(">", at)
        inner = self._text.find("[", at, end) if end >= 0 else -1
        if inner >= 0 and not self._count and self._text[at : at + 9].upper() == "<!DOCTYPE":
            closed = self._text.find("]", inner)
            self._count = 1  # there is one for a file
            end = self._text.find(">", closed) if closed >= 0 else end
        return end + 1 if end >= 0 else len(self._text)

    def _begin(self, name: str, rest: str, at: int) -> None:
        if "xmlns" in rest and self._count < 10_000:
            self._declare(rest)
        known = self._name(name, rest)
        if known in self._units:
            self._end_unit(at)
        parent = self._open[-1]
        made = Element(known, rest, parent, self._text, at, name.lower())
        parent.children.append(made)
        self._count += 1
        if rest.endswith("/") or known in _VOID:
            made.ended(at)
        elif len(self._open) < MOST_DEEP:
            self._open.append(made)

    def _end_unit(self, at: int) -> None:
        for depth in range(len(self._open) - 1, 0, -1):
            self._steps += 1
            if self._open[depth].name in self._units:
                self._pop(depth, at)
                return

    def _close(self, name: str, at: int) -> None:
        """End the innermost element of a name, and what its author forgot to close in it."""
        for depth in range(len(self._open) - 1, 0, -1):
            self._steps += 1
            if self._open[depth].written == name:
                self._pop(depth, at)
                return
            if self._open[depth].name in self._units:
                return  # a tag too many does not end what it lies in

    def _pop(self, depth: int, at: int) -> None:
        for element in self._open[depth:]:
            element.ended(at)
        del self._open[depth:]

    def _declare(self, rest: str) -> None:
        for prefix, uri in _NAMESPACE.findall(rest[:4096]):
            usual = self._known.get(uri.strip().lower())
            if prefix and usual is not None and len(self._prefixes) < 100:
                self._prefixes[prefix.lower()] = usual
                self._names.clear()

    def _name(self, name: str, rest: str) -> str:
        if "xmlns=" in rest and ":" not in name:
            default = next((uri for prefix, uri in _NAMESPACE.findall(rest[:4096]) if not prefix), "")
            return self._known.get(default.strip().lower(), "") + name.lower()
        found = self._names.get(name)
        if found is None:
            prefix, colon, local = name.lower().rpartition(":")
            usual = self._prefixes.get(prefix, prefix + colon)
            found = usual + local
            if len(self._names) < 10_000:
                self._names[name] = found
        return found
