"""Prices as people write them: "1.299,- €", "NT$ 1,160", "12 590 Kč", "٩٩ ر.س"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import NamedTuple

from gossamer.parse import currencies

#: A price is short; what is longer is a text that may hold one at its beginning.
LONGEST = 300
#: Digits of the largest amount that is believed.
_MOST_DIGITS = 15
_SPACES = re.compile(r"\s+")
#: Marks of the direction of writing, and characters that are not there at all.
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad]")
_NUMBER = re.compile(
    r"""
    (?:\d{1,3}(?:\ \d{3})+(?!\d)(?:\ ?[.,]\ ?\d{1,2}(?!\d))?   # groups with spaces between
      |\.?\d(?:[\d.,'’]*\d)?(?:[.,]\ \d\d(?!\d))?             # any other
    )
    """,
    re.VERBOSE,
)
_POINTS = re.compile(r"[.,]")
_DATE = re.compile(r"\d{1,2}([./-])\d{1,2}\1(?:19|20)\d\d(?!\d)|(?:19|20)\d\d-\d\d-\d\d(?!\d)|\d\d?:\d\d(?!\d)")
_FREE = re.compile(
    r"\b(?:free|gratis|gratuite?|kostenlos|kostenfrei|grátis|gratuito|бесплатно|darmowe|zdarma|ingyenes|ücretsiz)\b"
    r"|無料|免费|免費|무료",
    re.IGNORECASE,
)
#: "Free shipping" is no price.
_FREE_OF = re.compile(
    r"\bfree\s+(?:\w+\s+)?(?:shipping|delivery|returns?|gift|postage)|versand|livraison|env[íi]o|spedizione|доставк|送料|배송",
    re.IGNORECASE,
)
#: What may stand between a number and the mark after it: "12,- €".
_AFTER = re.compile(r" ?(?:[.,] ?[-–—]{1,2} ?)?")
_EURO_BETWEEN = re.compile(r"(\d)\s?€\s?(\d\d)(?![\d.,]|\s?[€%])")
_DIGITS = {
    **{first + n: str(n) for first in (0x0660, 0x06F0, 0x0966, 0x09E6, 0xFF10) for n in range(10)},
    0x066B: ".", 0x066C: ",", 0xFF0C: ",", 0xFF0E: ".",
}  # fmt: skip


class Written(NamedTuple):
    """A price as it stands in a text."""

    #: A decimal number, as text.
    amount: str | None
    #: The mark of the currency, in the text's own spelling.
    mark: str | None


def price(text: object, hint: str | None = None, *, country: str | None = None) -> tuple[str | None, str | None]:
    """The amount (a decimal as text) and the ISO 4217 code that a text tells; None for what it does not.

    `hint` is a text that may name the currency where `text` does not, or says which "$" is meant: a code, or what
    stands beside the price. `country` is of two letters, and decides between the currencies that share a mark.
    """
    likely = known_code(hint)
    if isinstance(text, int | float | Decimal) and not isinstance(text, bool):
        return plain(text), likely
    if not isinstance(text, str):
        return None, likely
    found = written(text, hint, country=country)
    return found.amount, currencies.code(found.mark, likely=likely, country=country) or likely


def written(text: str, hint: str | None = None, *, country: str | None = None) -> Written:
    """The price in a text, with its currency's mark as written there or, failing that, in the hint."""
    tidy = _tidy(text)
    marks = list(_marks(tidy))
    mark = _best(tidy, marks) or (_mark_of(hint) if hint else None)
    code = currencies.code(mark, likely=known_code(hint), country=country)
    number = _number(tidy, marks)
    if number is not None:
        return Written(amount(number, code), mark)
    return Written("0" if _FREE.search(tidy) and not _FREE_OF.search(tidy) else None, mark)


def amount(number: str, currency: str | None = None) -> str | None:
    """The decimal that digits with points, commas, spaces and apostrophes mean; None if they mean none.

    Three digits after a single point or comma are a group of thousands, unless the currency has three decimals.
    """
    digits = re.sub(r"[\s'’]", "", number).rstrip(".,")
    if len(_POINTS.findall(digits)) > 1:
        digits = digits.lstrip(".,")
    point = _decimal_point(digits, currencies.decimals(currency))
    if point is None:
        return plain(_POINTS.sub("", digits))
    whole = _POINTS.sub("", digits[:point])
    return plain(f"{whole}.{digits[point + 1 :]}")


def plain(value: object) -> str | None:
    """A number in its one plain spelling: "79", "12.50", "0.125"; None for what is not a finite number >= 0."""
    try:
        number = Decimal(str(value).strip())
    except (InvalidOperation, ValueError):
        return None
    if not number.is_finite() or number < 0 or number.adjusted() > _MOST_DIGITS:
        return None
    whole, _, fraction = f"{round(number, 6):f}".partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction:0<2}" if fraction else whole


def known_code(text: str | None) -> str | None:
    """The currency that a text names by its ISO 4217 code alone."""
    code = text.strip().upper() if text and len(text) < 12 else ""
    return code if code in currencies.currencies() else None


def _decimal_point(digits: str, decimals: int) -> int | None:
    """Where the decimal point of a number is, by what stands around it."""
    at = max(digits.rfind("."), digits.rfind(","))
    if at < 0:
        return None
    before, after, sign = digits[:at], len(digits) - at - 1, digits[at]
    other = "," if sign == "." else "."
    if after != 3:
        # "1,234,56" is a slip, but the last group can be nothing else.
        return at
    if sign in before or not before:
        return None
    return at if other in before or decimals == 3 or before == "0" or len(before) > 3 else None


def _tidy(text: str) -> str:
    text = _SPACES.sub(" ", _INVISIBLE.sub("", text[: LONGEST * 4])).strip()
    text = text[:LONGEST].translate(_DIGITS)
    # French shops write the cents after the sign.
    return _EURO_BETWEEN.sub(r"\1.\2€", text) if text.count("€") == 1 else text


# --- which number, which mark ---


class _Mark(NamedTuple):
    text: str
    start: int
    end: int
    #: Whether a number stands right before or after it.
    beside: bool


@cache
def _mark_pattern() -> re.Pattern[str]:
    """Any mark, the longest first; letters only where no other letters touch them."""
    known = sorted(currencies.by_mark(), key=len, reverse=True)
    signs = "|".join(re.escape(mark) for mark in known if currencies.is_sign(mark))
    words = "|".join(re.escape(mark) for mark in known if not currencies.is_sign(mark))
    return re.compile(
        rf"(?<![A-Za-z])(?:AU|CA|US|NZ|HK|SG|NT|C|A|S)\ \$|(?:{signs})|(?<![^\W\d_])(?:{words})(?![^\W\d_])|(?<!\w)руб",
    )


@cache
def _code_pattern() -> re.Pattern[str]:
    codes = "|".join(currencies.currencies())
    return re.compile(rf"(?<![^\W\d_])(?:{codes})(?![^\W\d_])", re.IGNORECASE)


def _marks(text: str) -> Iterator[_Mark]:
    for found in _mark_pattern().finditer(text):
        before, after = text[: found.start()].rstrip(" "), text[found.end() :].lstrip(" :")
        beside = after[:1].isdigit() or before[-1:].isdigit() or before[-2:] in (",-", ".-", ",–", ".–")
        yield _Mark(found[0], found.start(), found.end(), beside)


def _best(text: str, marks: list[_Mark]) -> str | None:
    """The mark that tells most: a code with "D" says which dollar is meant."""
    sure = [mark for mark in marks if mark.beside or currencies.is_sign(mark.text) or currencies.is_strong(mark.text)]
    if "$" in text and (code := next((m.text for m in sure if len(m.text) == 3 and m.text.endswith("D")), None)):
        return code
    chosen = next((mark for mark in sure if mark.beside), None) or next(iter(sure), None)
    if chosen:
        return chosen.text
    # Codes in small letters are words as often as not.
    small = next((m for m in _code_pattern().finditer(text) if _touches_number(text, m)), None)
    return small[0] if small else None


def _touches_number(text: str, found: re.Match[str]) -> bool:
    return text[found.end() :].lstrip(" :")[:1].isdigit() or text[: found.start()].rstrip()[-1:].isdigit()


def _mark_of(hint: str) -> str | None:
    tidy = _tidy(hint)
    if tidy in currencies.by_mark() or known_code(tidy):
        return tidy
    return _best(tidy, list(_marks(tidy)))


def _number(text: str, marks: list[_Mark]) -> str | None:
    """The number beside a mark, or the first that is no date and no percentage."""
    dates = [found.span() for found in _DATE.finditer(text)]
    numbers = [
        found
        for found in _NUMBER.finditer(text)
        if text[found.end() :].lstrip()[:1] != "%" and not any(a <= found.start() < b for a, b in dates)
    ]
    if len(numbers) > 1:
        starts = {mark.end for mark in marks if mark.beside}
        ends = {mark.start for mark in marks if mark.beside}
        for found in numbers:
            before = len(text[: found.start()].rstrip(" :"))
            after = _AFTER.match(text, found.end()).end()  # type: ignore[union-attr]
            if before in starts or after in ends:
                return _first_of_range(text, numbers, found)
    return numbers[0][0] if numbers else None


def _first_of_range(text: str, numbers: list[re.Match[str]], chosen: re.Match[str]) -> str:
    """Of "12,99 - 15,99 €" the lower price, which has no mark of its own."""
    for found in numbers:
        between = text[found.end() : chosen.start()].strip()
        if (
            found.end() < chosen.start()
            and between
            and between in "-–—~"
            and _has_cents(found[0]) == _has_cents(chosen[0])
        ):
            return found[0]
    return chosen[0]


def _has_cents(number: str) -> bool:
    return number[-3:-2] in (".", ",")
