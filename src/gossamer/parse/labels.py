"""What a page says under a label: "Location: Ulm", a list of terms, a table of two columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from gossamer.parse.markup import Texts

__all__ = ["ORGANISED_BY", "Label", "bits", "labelled", "lines", "values"]

#: Labels and values longer than this are sentences.
_LONGEST_LABEL: Final = 45
LONGEST_VALUE: Final = 300
#: Letters of a line in which somebody is said to do something.
_LONGEST_SENTENCE: Final = 500
#: Lines and elements looked at.
_MOST: Final = 5000
_LINE: Final = re.compile(r"([^\W\d_][^:：\n]{0,44}?)\s?[:：](?!//)\s*(.*)")
_WORD: Final = r"(?:[^\W\da-z_]\.|(?:[^\W\da-z_]|\d)(?:[\w&'’-]|\.(?=\w)){0,40})"
#: Words that name who is behind something, in small letters.
ORGANISED_BY: Final = (
    r"(?:organi[sz]ed|hosted|presented|run|offered|sponsored|funded) by|(?:veranstaltet|organisiert|ausgerichtet) von"
    r"|(?:organisée?|proposée?) par|(?:organizad[oa]|convocad[oa]) por|organizzat[oa] da|georganiseerd door"
)
#: "Organised by Alder Arts Trust": a label within a sentence, and the name behind it.
_BY: Final = re.compile(
    rf"\b((?i:{ORGANISED_BY}))"
    rf"\s(?:(?i:the|der|die|das|dem|le|la|el|il|het|de)\s)?({_WORD}(?:\s(?:(?:of|for|and|the|in|&|de|du|des|der|für|und|et"
    rf"|y|e|van|von)\s){{0,2}}{_WORD}){{0,9}})"
)
_TERMS: Final = "dt, th, [class*=label i]"
_VALUES: Final = frozenset({"dd", "td"})


class Label(NamedTuple):
    """A label in small letters, without its colon, and what stands under it."""

    name: str
    value: str


def lines(node: Any) -> list[str]:
    """What a reader sees of an element, a line for each block in it."""
    return Texts().of(node).split("\n") if node is not None else []


#: Elements that only change how a text looks.
_LOOKS: Final = frozenset({"b", "i", "em", "strong", "sub", "sup", "small", "u", "mark", "font", "abbr", "s", "wbr"})
_UNSEEN: Final = frozenset({"script", "style", "template", "noscript", "svg", "select"})


def bits(node: Any) -> list[str]:
    """What a reader sees of an element, every text apart: in cards, spans stand side by side without a space."""
    found, line = [], ""
    waiting: list[Any] = [node.child]
    steps = _MOST
    while waiting and steps > 0:
        steps -= 1
        at = waiting.pop()
        if isinstance(at, str) or at is None:
            if at and (tidy := " ".join(line.split())):
                found.append(tidy)
            line = "" if at else line
            continue
        waiting.append(at.next)
        tag = at.tag
        if tag == "-text":
            line += at.text_content or ""
        elif tag not in _UNSEEN:
            if tag not in _LOOKS:
                waiting += ["end", at.child, "end"]
            else:
                waiting.append(at.child)
    tidy = " ".join(line.split())
    return [*found, tidy] if tidy else found


def labelled(node: Any, texts: Iterable[str] | None = None) -> list[Label]:
    """Everything that stands under a label in an element; `texts` are its lines, if they are known already."""
    found = [label for label in _of_elements(node) if label.value] if node is not None else []
    return found + list(_of_lines(list(lines(node) if texts is None else texts)))


def values(labels: Iterable[Label], pattern: re.Pattern[str]) -> Iterator[str]:
    """What stands under the labels that a pattern matches as a whole."""
    return (label.value for label in labels if pattern.fullmatch(label.name))


def _of_elements(node: Any) -> Iterator[Label]:
    """Terms of lists, heads of rows, and elements that call themselves a label: what comes next is the value."""
    texts = Texts()
    for term in node.css(_TERMS)[:_MOST]:
        name = texts.of(term)
        if not 0 < len(name) <= _LONGEST_LABEL or "\n" in name:
            continue
        after = _next(term)
        if after is None or (term.tag in ("dt", "th") and after.tag not in _VALUES):
            continue
        value = " ".join(texts.of(after).split("\n"))
        if len(value) <= LONGEST_VALUE:
            yield Label(_tidy(name), value)


def _next(node: Any) -> Any:
    """The element after one, or after what holds it alone."""
    for _ in range(2):
        after = node.next
        while after is not None and not after.is_element_node:
            if after.is_text_node and (after.text_content or "").strip(" \t\r\n:"):
                return None  # the value is plain text: a line with a colon, or none of ours
            after = after.next
        if after is not None:
            return after
        node = node.parent
        if node is None or node.tag in ("td", "tr", "dl", "ul", "table", "body"):
            return None
    return None


def _of_lines(texts: list[str]) -> Iterator[Label]:
    for n, line in enumerate(texts[:_MOST]):
        found = _LINE.match(line[: _LONGEST_LABEL + LONGEST_VALUE])
        if found is None:
            if line.lower() in _ALONE and n + 1 < len(texts):
                yield Label(_tidy(line), texts[n + 1][:LONGEST_VALUE])
            elif by := _BY.search(line[:_LONGEST_SENTENCE]):
                yield Label(_tidy(by[1]), by[2].rstrip("'’-"))
            continue
        value = found[2].strip()
        if not value and n + 1 < len(texts) and not _LINE.match(texts[n + 1][:_LONGEST_LABEL]):
            value = texts[n + 1]
        if value:
            yield Label(_tidy(found[1]), value[:LONGEST_VALUE].strip())


def _tidy(name: str) -> str:
    return " ".join(name.lower().strip(" :：*•-–|").split())


#: Lines that are a label without a colon: what it labels is the next line.
_ALONE: Final = frozenset(
    {"location", "locations", "salary", "deadline", "closing date", "job type", "employment type", "department"}
    | {"company", "date posted", "posted on", "posted", "application deadline", "entry deadline", "entry fee"}
    | {"eligibility", "apply by", "standort", "arbeitsort", "lieu", "ubicación", "ort", "pay", "work type"}
)
