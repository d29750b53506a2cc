"""From text to values: pure functions that give None where a text holds no such thing.

None goes in, None comes out, and nothing here raises for what a page holds. The rules and every parser clean
with these; `PIPES` are those that a rule may name.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote

import msgspec
from selectolax.lexbor import LexborHTMLParser

from gossamer import urls
from gossamer.parse import expressions, prices
from gossamer.parse.dates import date as date
from gossamer.parse.dates import moment as moment

#: Letters in which a number, a price or an address is looked for.
LONGEST = 400
#: The largest integer that JSON readers and databases agree on.
LARGEST = 2**63 - 1

_TAG = re.compile(r"<[a-zA-Z/!]")
#: Elements that begin and end a line: words on either side do not belong together.
_BREAKS = re.compile(
    r"<(?=/?(?:p|div|br|li|[uod]l|d[td]|t[rdh]|table|h[1-6]|section|article|header|footer|blockquote|pre|hr|option)\b)",
    re.IGNORECASE,
)
_ANY_TAG = re.compile(r"<[^<>]*>")
_OPEN_OR_CLOSE = re.compile(r"</|<(?!(?:br|img|hr|input|meta|link|wbr|area|col|source)\b)[a-zA-Z]", re.IGNORECASE)
_DEEPEST = 1_000
#: Letters that nobody sees: zero width, soft hyphen, byte order mark, control characters.
_UNSEEN = {
    **dict.fromkeys((0xAD, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF)),
    **dict.fromkeys(code for code in range(32) if not chr(code).isspace()),
}


class Money(msgspec.Struct, frozen=True):
    """An amount of money. The amount is a decimal as text, so that no cent is lost; the currency is ISO 4217."""

    amount: str
    currency: str | None = None


# --- texts ---


def text(value: Any) -> str | None:
    """What a reader sees of a text that may hold HTML: tags out, entities resolved, white space tidied.

    >>> text("<p>Fish &amp;&nbsp;chips</p><p>today")
    'Fish & chips today'
    """
    found = _str(value)
    if found is None:
        return None
    if _TAG.search(found):
        found = _without_tags(found)
    elif "&" in found:
        found = html.unescape(found)
        if _TAG.search(found):  # escaped once too often, as in many feeds
            found = _without_tags(found)
    return strip(found)


def _without_tags(markup: str) -> str:
    if len(markup) > 2_000 and is_deep(markup):
        return html.unescape(_ANY_TAG.sub(" ", markup))
    tree = LexborHTMLParser(_BREAKS.sub(" <", markup))
    tree.strip_tags(["script", "style", "template", "noscript"])
    return tree.root.text() if tree.root else ""


def is_deep(markup: str) -> bool:
    """Whether elements are nested as nobody nests them: a parser's time grows with the square of it."""
    depth = 0
    for tag in _OPEN_OR_CLOSE.finditer(markup):
        depth += -1 if tag[0] == "</" else 1
        if depth > _DEEPEST:
            return True
    return False


def strip(value: Any, letters: str | None = None) -> str | None:
    """A text without white space around it and with single spaces inside, and without what nobody sees.

    With `letters`, these are taken off both ends too. An empty text is None.
    """
    found = _str(value)
    if found is None:
        return None
    tidy = found.isprintable() and "  " not in found  # as most are
    found = found.strip() if tidy else " ".join(found.translate(_UNSEEN).split())
    if letters:
        found = found.strip(letters + " ")
    return found or None


def lower(value: Any) -> str | None:
    """A text in small letters."""
    found = _str(value)
    return None if found is None else found.lower()


def upper(value: Any) -> str | None:
    """A text in capitals."""
    found = _str(value)
    return None if found is None else found.upper()


_WORD = re.compile(r"(?<![\w'’])\w+")


def title(value: Any) -> str | None:
    """A text with every word's first letter as a capital: "o'neill's café" becomes "O'neill's Café"."""
    found = _str(value)
    return (
        None
        if found is None
        else re.sub(r"(?<![\w'’])\w+", lambda word: word[0][0].upper() + word[0][1:].lower(), found)
    )


def replace(value: Any, old: str, new: str = "") -> str | None:
    """A text with every `old` replaced."""
    found = _str(value)
    return None if found is None else found.replace(old, new)


def before(value: Any, mark: str) -> str | None:
    """What stands before the first `mark`; all of it where there is none."""
    found = _str(value)
    return None if found is None else found.partition(mark)[0]


def after(value: Any, mark: str) -> str | None:
    """What stands after the first `mark`; all of it where there is none."""
    found = _str(value)
    if found is None:
        return None
    head, there, tail = found.partition(mark)
    return tail if there else head


def regex(value: Any, pattern: Any, group: int | str | None = None) -> str | None:
    """What a regular expression finds: its group (the first one, unless named), or all of it if it has no group."""
    found = _str(value)
    if found is None:
        return None
    match = next(expressions.found(expressions.compiled(pattern), found, 1), None)
    if match is None:
        return None
    hit: str | None = match[group] if group is not None else match[1 if match.re.groups else 0]
    return hit


def email(value: Any) -> str | None:
    """The first mail address in a text, or of a `mailto:` link."""
    found = _short(value)
    match = _EMAIL.search(unquote(found)) if found else None
    if match is None:
        return None
    name, _, host = match[0].rpartition("@")
    return f"{name}@{host.lower()}"


_EMAIL = re.compile(r"[\w.+'-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}\b")


def url(value: Any, base: str) -> str | None:
    """The absolute http(s) URL that a reference means on the page `base`."""
    return urls.resolve(value, base) if isinstance(value, str) and value.strip() else None


# --- lists ---


def first(values: Iterable[Any] | None) -> Any:
    """The first value that is one."""
    return next((value for value in values or () if value is not None), None)


def last(values: Iterable[Any] | None) -> Any:
    """The last value that is one."""
    return next((value for value in reversed(list(values or ())) if value is not None), None)


def join(values: Iterable[Any] | None, by: str = " ") -> str | None:
    """All texts as one."""
    texts = [found for value in values or () if (found := _str(value))]
    return by.join(texts) if texts else None


def unique(values: Iterable[Any] | None) -> list[Any]:
    """Each value once, in order."""
    seen: dict[str, Any] = {}
    for value in values or ():
        if value is not None:
            seen.setdefault(repr(value), value)
    return list(seen.values())


def split(value: Any, by: str | None = None) -> list[str]:
    """The parts of a text, stripped, empty ones left out; by white space unless told."""
    found = _str(value)
    return [] if found is None else [part for piece in found.split(by) if (part := piece.strip())]


def default(value: Any, otherwise: Any) -> Any:
    """`otherwise` where there is no value, or an empty one."""
    return otherwise if value is None or value == "" or value == [] else value


# --- numbers ---

_DIGITS = r"\d{1,3}(?:[\s'’]\d{3}(?!\d)){1,6}(?:[.,]\d{1,20})?|\d(?:[\d.,٫٬]{0,40}\d)?"
_NUMBER = re.compile(
    rf"(?P<minus>[-−–]\s?)?(?<!\d)(?P<digits>{_DIGITS}|[.,]\d{{1,30}})(?!\d)(?P<exponent>[eE][+-]?\d{{1,3}}(?!\w))?"
)
_MINUS_BEFORE = re.compile(r"[\w.,]$")
_SCALES = {
    "k": 1_000,
    "m": 1_000_000,
    "b": 1_000_000_000,
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
}
_COUNT = re.compile(rf"({_DIGITS})\s?(k|m|b|thousand|million|billion)\b", re.IGNORECASE)


def number(value: Any, decimal: str | None = None) -> float | None:
    """The first number in a text: "1,234.5", "1.234,5" and "1 234,5" are all 1234.5.

    With one mark only, a comma before three digits groups thousands ("1,234"), and a dot does not ("1.234").
    `decimal` ("." or ",") says which mark it is instead.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) <= 1e300 else None
    found = _short(value)
    match = _NUMBER.search(found) if found else None
    if found is None or match is None:
        return None
    amount = float(_decimal(match["digits"], decimal) + (match["exponent"] or ""))
    # A dash between two numbers or words is none of theirs: "10-12", "A-3".
    minus = match["minus"] and not _MINUS_BEFORE.search(found[: match.start()])
    return (-amount if minus else amount) if math.isfinite(amount) else None


def integer(value: Any) -> int | None:
    """The first number in a text, if it is a whole one."""
    amount = number(value)
    if amount is None or amount != int(amount):
        return None
    whole = value if type(value) is int else int(amount)
    if abs(amount) >= 2**53 and isinstance(value, str):  # a float is not exact any more: the digits are
        found = _NUMBER.search(_short(value) or "")
        if found and not found["exponent"]:
            digits = int(_decimal(found["digits"], None).partition(".")[0])
            whole = -digits if amount < 0 else digits
    return whole if abs(whole) <= LARGEST else None


def count(value: Any) -> int | None:
    """How many a text says there are, as sites shorten it: "1.2K" is 1200, "3,4M followers" 3400000."""
    found = _short(value) if isinstance(value, str) else None
    match = _COUNT.search(found) if found else None
    if match is None:
        return integer(value)
    amount = number(match[1])
    return None if amount is None else round(amount * _SCALES[match[2].lower()])


def money(value: Any, hint: str | None = None) -> Money | None:
    """The price a text names. `hint` is a text that tells the currency where the price does not."""
    if isinstance(value, Money):
        return value
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    amount, currency = prices.price(value[:LONGEST] if isinstance(value, str) else value, hint)
    return None if amount is None else Money(amount, currency)


def boolean(value: Any) -> bool | None:
    """Whether a text says yes or no: true, yes, on, 1, ✓, and their opposites; None for all else."""
    if isinstance(value, bool):
        return value
    word = (strip(value) or "").lower()
    return True if word in _YES else False if word in _NO else None


_YES = frozenset({"true", "yes", "y", "on", "1", "✓", "✔", "✅", "t"})
_NO = frozenset({"false", "no", "n", "off", "0", "✗", "✘", "❌", "f"})


def json(value: Any) -> Any:
    """The value that a text is the JSON of."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None


# --- inside ---


def _str(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.15g}"
    return str(value) if isinstance(value, int) and value.bit_length() < 1024 else None


def _short(value: Any) -> str | None:
    """As much of a text as is looked at, with digits and marks of other scripts in their Latin form."""
    found = _str(value)
    if found is None:
        return None
    found = found[:LONGEST].translate(_UNSEEN)
    return found if found.isascii() else "".join(str(int(x)) if x.isdecimal() else x for x in found)


def _decimal(digits: str, decimal: str | None) -> str:
    """Digits with marks between them, as Python writes the number."""
    digits = re.sub(r"[\s'’٬]", "", digits).replace("٫", ".")
    if decimal:
        other = "," if decimal == "." else "."
        return digits.replace(other, "").replace(decimal, ".")
    dot, comma = digits.rfind("."), digits.rfind(",")
    if dot >= 0 and comma >= 0:  # the later mark is the decimal one
        group, point = (",", ".") if dot > comma else (".", ",")
        whole = digits.replace(group, "")
        return whole.replace(point, ".") if whole.count(point) == 1 else whole.replace(point, "")
    mark = "." if dot >= 0 else ","
    if digits.count(mark) > 1:
        first, *groups = digits.split(mark)
        # Groups of three, or of two as in India; anything else is a list or a version.
        return digits.replace(mark, "") if len(groups[-1]) == 3 and {2, 3} >= set(map(len, groups)) else first
    grouped = mark == "," and re.fullmatch(r"[1-9]\d{0,2},\d{3}", digits)
    return digits.replace(",", "") if grouped else digits.replace(",", ".")
