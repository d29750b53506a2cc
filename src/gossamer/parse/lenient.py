"""JSON as people paste it into pages: read as far as it can be understood.

Comments, trailing and missing commas, raw line ends and unescaped quotes in strings, single quotes, names without
quotes, NaN, wrappers of CDATA and `<!-- -->`, quotes written as `&quot;`, several values in a row, closing brackets
that never come. One pass over the text, with a stack of its own: time grows with the length, depth is capped, and
nothing is raised.
"""

from __future__ import annotations

import html
import re
from typing import Any, Final

__all__ = ["LONGEST", "values"]

#: A longer text is not mended: reading one costs up to a second.
LONGEST: Final = 1 << 19
#: What stands deeper is not read, nor what follows it.
DEEPEST: Final = 200

_SKIPPED = re.compile(
    r"(?:[\s;\x00-\x1f\ufeff]++|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?|<!--|-->|<!\[CDATA\[|\]\]>)++"
)
_WORD = re.compile(r"[^,\]}\n\"]+")
_KEY = re.compile(r"[\w$@.-]{1,200}+(?=\s{0,80}+:)")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,300})(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?(?=[\s,\]}/;]|$)")
_PLAIN = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
#: What comes behind the quote that ends a text: a quote before anything else was meant to be escaped.
_BEHIND_VALUE = re.compile(
    r"\s*+(?:[}\]]|$|//|/\*|-->|;|"
    r",\s*+(?:[\"'{\[}\]\-\d/<]|true\b|false\b|null\b|[\w@$]{1,80}+\s{0,80}+:|$)|"
    r"[\"'][^\"'\n]{1,80}+[\"']\s{0,80}+:)"
)
_OPENING = re.compile(r"[{\[]")
#: What stands where a name is expected, and is none.
_NO_KEY = re.compile(r"[^\"'{}\[\],:]*+.?", re.DOTALL)
_BEHIND_KEY = re.compile(r"\s{0,80}+:")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_WORDS = {"true": True, "false": False, "null": None, "undefined": None, "nan": None, "none": None, "": None}
#: Stands for "nothing was read here".
_NOTHING: Final = object()


def values(text: str) -> list[Any]:
    """Every object and array at the top of a text, in order; none if there is nothing like them in it.

    >>> values('{"a": "x", /* why */ b: [1, 2,],}{"c": NaN')
    [{'a': 'x', 'b': [1, 2]}, {'c': None}]
    """
    if len(text) > LONGEST:
        return []
    if "&quot;" in text and re.match(r"[\s\[{]*&quot;", text):
        text = html.unescape(text)
    return [value for value in _Reading(text).all() if isinstance(value, dict | list)]


class _Reading:
    """One text being read: where we are, and the values that are still open."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        #: Objects and arrays that are open, outermost first, and the name that waits for its value in each.
        self._open: list[tuple[Any, list[str]]] = []
        #: How many of them are objects, and how many arrays.
        self._counts: dict[type, int] = {dict: 0, list: 0}
        self._done: list[Any] = []

    def all(self) -> list[Any]:
        """Read to the end; what is open then counts as closed."""
        while self._skip():
            self._step()
        return self._done

    def _skip(self) -> bool:
        """Go on to the next thing that means something; False at the end."""
        if found := _SKIPPED.match(self._text, self._at):
            skipped = found[0]
            self._at = found.end()
            # In `[[1]]>` the brackets close arrays.
            if skipped.startswith("]]>") and self._open:
                self._at = found.start()
        return self._at < len(self._text)

    def _step(self) -> None:
        letter = self._text[self._at]
        if letter in "{[":
            self._begin({} if letter == "{" else [])
        elif letter in "}]":
            self._end(dict if letter == "}" else list)
        elif not self._open:
            self._junk()
        elif letter == ",":
            self._at += 1
            if self._open[-1][1]:  # a name whose value was forgotten
                self._put(None)
        elif self._wants_key():
            self._key(letter)
        elif letter == ":":
            self._at += 1
        else:
            self._put(self._value(letter))

    def _wants_key(self) -> bool:
        value, key = self._open[-1]
        return isinstance(value, dict) and not key

    def _junk(self) -> None:
        """Between values at the top: `var data =`, text, leftovers."""
        found = _OPENING.search(self._text, self._at)
        self._at = found.start() if found else len(self._text)

    def _begin(self, value: Any) -> None:
        self._at += 1
        if len(self._open) >= DEEPEST:
            self._at = len(self._text)
            return
        self._put(value)  # where a name was expected, there is none to keep it under: it is read, and left out
        self._open.append((value, []))
        self._counts[type(value)] += 1

    def _end(self, kind: type) -> None:
        self._at += 1
        # A bracket that closes nothing is left out; one that closes an outer value closes what is in it.
        while self._counts[kind]:
            closed = type(self._open.pop()[0])
            self._counts[closed] -= 1
            if closed is kind:
                return

    def _put(self, value: Any) -> None:
        if value is _NOTHING:
            return
        if not self._open:
            self._done.append(value)
            return
        holder, key = self._open[-1]
        if isinstance(holder, list):
            holder.append(value)
        elif key:
            holder[key.pop()] = value

    def _key(self, letter: str) -> None:
        if letter in "\"'":
            self._open[-1][1].append(self._string(letter, _BEHIND_KEY))
        elif found := _KEY.match(self._text, self._at):
            self._at = found.end()
            self._open[-1][1].append(found[0])
        elif found := _NO_KEY.match(self._text, self._at):
            self._at = max(found.end() - 1, self._at + 1)

    def _value(self, letter: str) -> Any:
        if letter in "\"'":
            return self._string(letter, _BEHIND_VALUE)
        if found := _NUMBER.match(self._text, self._at):
            self._at = found.end()
            return _number(found[0])
        if found := _WORD.match(self._text, self._at):
            self._at = found.end()
            word = found[0].strip()
            return _WORDS.get(word.lower(), word)
        self._at += 1
        return _NOTHING

    def _string(self, quote: str, behind: re.Pattern[str]) -> str:
        """A text, to the quote that ends it: the first one with something behind it that may follow a text."""
        text, parts, plain = self._text, [], _PLAIN[quote]
        self._at += 1
        while found := plain.match(text, self._at):
            parts.append(found[0])
            self._at = found.end()
            if self._at >= len(text):
                break
            if text[self._at] == "\\":
                parts.append(self._escape())
            elif behind.match(text, self._at + 1):
                self._at += 1
                break
            else:
                parts.append(quote)
                self._at += 1
        return _whole("".join(parts))

    def _escape(self) -> str:
        letter = self._text[self._at + 1 : self._at + 2]
        self._at += 2
        if letter == "u" and (code := _HEX.match(self._text, self._at)):
            self._at += 4
            return chr(int(code[0], 16))
        return _ESCAPES.get(letter, letter)


def _number(text: str) -> int | float:
    if text.lstrip("-").isdigit():
        return int(text)
    number = float(text)
    return number if abs(number) != float("inf") else 0.0


def _whole(text: str) -> str:
    """A text whose surrogates are paired: one that stands alone could not be written as UTF-8."""
    if text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
