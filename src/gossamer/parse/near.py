"""Why a selector finds nothing: which of its parts does, and what on the page is spelled nearly so."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from gossamer.errors import ReadError
from gossamer.parse.page import Page

__all__ = ["css", "json", "xpath"]

#: Elements whose classes are looked at, classes that are compared, and steps of a selector that are tried alone.
MOST = 20_000
MOST_CLASSES = 5000
MOST_STEPS = 12
_END = re.compile(r"::(?:text|attr\([^)]*\))\s*$")
_CLASS = re.compile(r"([\w-]*)\.(-?[A-Za-z_][\w-]*)")


def css(page: Page, selector: str) -> str:
    """For a CSS selector without matches: how often each of its steps matches alone.

    >>> css(Page.of('<div class="quote"><i class="text">x</i></div>'), "div.quote span.txt")
    'div.quote matches 1, span.txt none (there is i.text)'
    """
    told = []
    for step in _steps(_END.sub("", selector))[:MOST_STEPS]:
        try:
            found = len(page.css(step))
        except ReadError:
            continue
        told.append(f"{step} matches {found:,}" if found else f"{step} none{_alike(page, step)}")
    if not told or (len(told) == 1 and "(" not in told[0]):
        return "" if page.is_html else f"the page is {page.kind}, which has no elements"
    attribute = re.search(r"::attr\(\s*([^)\s]+)", selector)
    if attribute and all(" matches " in each for each in told[-1:]):
        return f"{', '.join(told)}, but without the attribute {attribute[1]}"
    # Said once, the rest is plain: "div.quote matches 10, span.txt none".
    return ", ".join(told)


def _steps(selector: str) -> list[str]:
    """The compounds of a selector, brackets and quotes in one piece."""
    steps, depth, quote, now = [], 0, "", ""
    for letter in f"{selector} ":
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif depth == 0 and letter in " >+~,\t\n":
            if now:
                steps.append(now)
            now = ""
            continue
        now += letter
    return list(dict.fromkeys(steps))


def _alike(page: Page, step: str) -> str:
    """Classes of the page that are spelled nearly like those of a step, or an element of another tag with its class."""
    match = _CLASS.search(step)
    if match is None:
        return ""
    classes: dict[str, str] = {}
    for tag, name in islice(_classes(page), MOST):
        if tag == match[1] or name not in classes:
            classes[name] = tag
    near = difflib.get_close_matches(match[2], list(classes)[:MOST_CLASSES], n=1, cutoff=0.6)
    return f" (there is {classes[near[0]]}.{near[0]})" if near else ""


def _classes(page: Page) -> Iterator[tuple[str, str]]:
    for node in page.tree.css("[class]")[:MOST]:
        for name in (node.attributes.get("class") or "")[:500].split():
            yield node.tag or "", name


def xpath(page: Page, expression: str) -> str:
    """For an XPath expression without matches: the longest beginning of it that has some."""
    ends = [m.start() for m in re.finditer(r"(?<!/)/", expression) if _closed(expression[: m.start()])]
    for end in reversed(ends[:MOST_STEPS]):
        begun = expression[:end]
        try:
            found = len(page.xpath(begun)) if begun else 0
        except ReadError:
            continue
        if found:
            return f"{begun} matches {found:,}"
    return ""


def _closed(text: str) -> bool:
    return text.count("[") == text.count("]") and text.count("(") == text.count(")") and text.count("'") % 2 == 0


def json(answer: Any) -> str:
    """For a JSONPath without matches: what stands at the top of an answer."""
    if isinstance(answer, dict):
        return f"the answer has {', '.join(list(map(str, answer))[:12]) or 'nothing'}"
    if isinstance(answer, list) and answer and isinstance(answer[0], dict):
        return f"the answer is a list of {len(answer):,}: the first has {', '.join(list(map(str, answer[0]))[:12])}"
    return f"the answer is a list of {len(answer):,}" if isinstance(answer, list) else f"the answer is {answer!r:.60}"
