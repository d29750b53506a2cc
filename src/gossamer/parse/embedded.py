"""State that pages carry in scripts for their own programs: JSON alone, after an assignment, or packed in a text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import msgspec

from gossamer.parse import lenient
from gossamer.parse.page import Page

__all__ = ["short", "states", "walk"]

#: Scripts read of one page, places in them where JSON is looked for, and letters read at these places.
MOST_SCRIPTS: Final = 500
MOST_TRIES: Final = 300
MOST_LETTERS: Final = 32 << 20
#: Objects and lists looked at in what was found, and how deep.
MOST_VALUES: Final = 300_000
DEEPEST: Final = 40
#: Values that are not quite JSON and are mended, of one page.
_MOST_MENDED: Final = 5

#: Where a value begins that a program keeps, or hands on: `x = {"`, `f([{"`, `"a": {` is none.
_OPENING: Final = re.compile(r"""(?:=|\(|,|\breturn|\|\|)\s{0,8}(?=\{\s{0,20}["'\w$}]|\[\s{0,20}[\[{"'])""")
#: How data begins, and code does not.
_DATA: Final = re.compile(r"""[\[{]\s{0,20}(?:"[^"\n]{1,80}"\s{0,9}[:,]|[\[{])""")
_PACKED: Final = re.compile(r"""JSON\.parse\(\s{0,8}(?:"((?:[^"\\]|\\.)*+)"|'((?:[^'\\]|\\.)*+)')""", re.DOTALL)
_HEX: Final = re.compile(r"\\x([0-9a-fA-F]{2})")
_MARKS: Final = re.compile(r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|[\[\]{}]""", re.DOTALL)
_SCRIPT: Final = "script:not([src])"
_SKIPPED: Final = ("ld+json", "importmap", "speculationrules", "template", "x-shader")


def states(page: Page) -> list[Any]:
    """The objects and lists in the scripts of a page, JSON-LD left out, in order. Never raises."""
    if page.kind != "html" or b"<script" not in page.body.lower():
        return []
    reading = _Reading()
    found: list[Any] = []
    for script in page.tree.css(_SCRIPT)[:MOST_SCRIPTS]:
        kind = (script.attributes.get("type") or "").lower()
        if not any(skipped in kind for skipped in _SKIPPED):
            found += reading.script(script.text() or "")
    return found


class _Reading:
    """What may still be tried on one page."""

    def __init__(self) -> None:
        self._letters = MOST_LETTERS
        self._tries = MOST_TRIES
        self._mended = 0
        self._decoder = json.JSONDecoder()

    def script(self, text: str) -> Iterator[Any]:
        text = text.strip()
        if text[:4] == "<!--":
            text = text[4:].removesuffix("-->").strip()
        if text[:1] in ("{", "["):
            value = _decoded(text)
            if value is not None:
                yield value
                return
        yield from self._packed(text)
        yield from self._assigned(text)

    def _packed(self, text: str) -> Iterator[Any]:
        """Values that are written as a text, for `JSON.parse`."""
        if "JSON.parse(" not in text:
            return
        for found in _PACKED.finditer(text):
            if not self._may(len(found[0])):
                return
            inner = _HEX.sub(r"\\u00\1", found[1] or (found[2] or "").replace("\\'", "'").replace('"', '\\"'))
            literal = _decoded(f'"{inner}"')
            value = _decoded(literal) if isinstance(literal, str) else None
            if isinstance(value, dict | list):
                yield value

    def _assigned(self, text: str) -> Iterator[Any]:
        end = 0
        for found in _OPENING.finditer(text):
            at = found.end()
            if at < end:
                continue
            if not self._may(1):
                return
            value, end = self._value(text, at)
            if isinstance(value, dict | list) and value:
                yield value

    def _value(self, text: str, at: int) -> tuple[Any, int]:
        """The value that begins at a place, and where it ends; None and the place if there is none."""
        try:
            value, end = self._decoder.raw_decode(text, at)
        except json.JSONDecodeError as why:
            self._letters -= why.pos - at
            if self._mended < _MOST_MENDED and _DATA.match(text, at):
                self._mended += 1
                return self._mend(text, at)
            return None, at
        except RecursionError:
            self._letters = 0
            return None, at
        self._letters -= end - at
        return value, end

    def _mend(self, text: str, at: int) -> tuple[Any, int]:
        end = _balanced(text, at)
        values = lenient.values(text[at:end]) if end else []
        return (values[0], end) if values else (None, at)

    def _may(self, letters: int) -> bool:
        self._tries -= 1
        self._letters -= letters
        return self._tries >= 0 and self._letters >= 0


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _balanced(text: str, at: int) -> int:
    """Where the bracket closes that opens at a place; 0 if it does not, near enough."""
    depth = 0
    for mark in _MARKS.finditer(text, at, at + lenient.LONGEST):
        sign = mark[0]
        if sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
            if depth == 0:
                return mark.end()
    return 0


@lru_cache(maxsize=8192)
def short(name: str) -> str:
    """A field's name in small letters and digits only, so that `jobTitle`, `job_title` and `Job-Title` are one.

    >>> short("job_Title")
    'jobtitle'
    """
    return _OTHERS.sub("", name[:100].lower())


_OTHERS: Final = re.compile(r"[^a-z0-9]+")


def walk(value: Any) -> Iterator[Any]:
    """Every object and list in a value, outermost first, as many as are looked at."""
    level, count = [value], 0
    for _ in range(DEEPEST):
        deeper: list[Any] = []
        for one in level:
            if count >= MOST_VALUES:
                return
            count += 1
            yield one
            inner = one.values() if isinstance(one, dict) else one
            deeper += [each for each in inner if isinstance(each, dict | list)]
        level = deeper
        if not level:
            return
