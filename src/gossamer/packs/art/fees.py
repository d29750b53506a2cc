"""What it costs to apply."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final, NamedTuple

from gossamer.parse import calls, clean
from gossamer.parse.pagedates import PageDates

__all__ = ["Fee", "fee_in", "fee_of"]

_LONGEST: Final = 300
_FREE: Final = re.compile(
    r"^\W*(?:free|none|no\b|n/?a\b|without (?:a )?fee|nil|zero|not required|\$?0(?:\.0{1,2})?(?![\d.,]))", re.IGNORECASE
)
_MONEY: Final = re.compile(
    r"(?:US|CA|AU|C|A)?[$€£]\s?\d[\d,.]{0,12}|\b(?:USD|EUR|GBP|CAD|AUD)\s?\d[\d,.]{0,12}"
    r"|\d[\d,.]{0,12}\s?(?:€|£|USD|EUR|GBP|CAD|AUD|dollars|euros?)(?!\w)"
)
_PLAIN: Final = re.compile(r"^\s*\d{1,6}(?:\.\d{1,2})?(?!\d)")
#: "Artist fee" is what is paid to artists.
_PAID: Final = re.compile(
    r"\b(?:artists?['’]?s?|design|commission|speaker|performance|exhibitor) fees?\b"
    r"|\bfees? (?:for|to) (?:the |selected |chosen )?artists?\b",
    re.IGNORECASE,
)
#: An amount that is asked for each work, without the word fee.
_PRICED: Final = re.compile(
    r"(?:images?|works?|pieces?|artworks?|entr(?:y|ies))\b(?: of your work)? for ([$€£]\s?\d[\d,.]{0,12})"
    r"|(?:non-?refundable|early[- ]?bird)\s([$€£]\s?\d[\d,.]{0,12})"
    r"|([$€£]\s?\d[\d,.]{0,12}) (?:per|for (?:up to|one|two|three|four|five|the first|\d{1,2}))\s?(?:\w+\s){0,2}"
    r"(?:submissions?|entr(?:y|ies)|images?|works?|pieces?|artworks?|applications?)\b",
    re.IGNORECASE,
)


class Fee(NamedTuple):
    """What it costs to apply: "0" if it is free; the currency if it is known."""

    amount: str
    currency: str | None = None

    @property
    def due(self) -> bool:
        """Whether there is anything to pay."""
        return self.amount != "0"


def fee_of(text: object, currency: str | None = "USD") -> Fee | None:
    """The fee that stands under a label or in a field: "$35.00 USD per 10", "20.00", "None".

    `currency` is that of a number without one. None if it tells of no fee, free or not.
    """
    if isinstance(text, int | float) and not isinstance(text, bool):
        text = f"{text:.2f}" if 0 <= text < 1e6 else ""
    if not isinstance(text, str) or not text.strip():
        return None
    short = text[:_LONGEST]
    if _FREE.match(short):
        return Fee("0")
    if found := _MONEY.search(short):
        money = clean.money(found[0])
        return _fee(money.amount, money.currency or currency) if money else None
    plain = _PLAIN.match(short)
    return _fee(plain[0].strip(), currency) if plain else None


def _fee(amount: str, currency: str | None) -> Fee | None:
    try:
        value = Decimal(amount)
    except InvalidOperation:
        return None
    whole = value == value.to_integral_value()
    return Fee(str(int(value)) if whole else amount, currency) if value else Fee("0")


def fee_in(text: str | None, dates: PageDates, said: calls.Call | None = None) -> Fee | None:
    """The fee that a longer text tells of; `said` is what it says of its call, if that was read already."""
    if not text:
        return None
    text, paid = _PAID.subn("honorarium", text[: calls.LONGEST])
    said = calls.call(text, dates) if said is None or paid else said
    if said.fee and said.fee != "0":
        return _fee(said.fee, said.currency)
    found = _PRICED.search(text)
    money = clean.money(next(filter(None, found.groups()))) if found else None
    if money:
        return _fee(money.amount, money.currency)
    return Fee("0") if said.fee else None
