"""What a job pays: amounts, currency and period, out of a text."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from gossamer.parse import clean, prices

__all__ = ["Pay", "pay", "period"]


class Pay(NamedTuple):
    """From what to what, in which currency (ISO 4217), for how long ("hour", "day", "week", "month", "year")."""

    least: float | None = None
    most: float | None = None
    currency: str | None = None
    period: str | None = None


#: Letters of a text in which a salary is looked for.
_LONGEST: Final = 300
_AMOUNT: Final = re.compile(
    r"(?<![\w.,])(\d{1,2}(?:,\d{2}){1,3},\d{3}|\d{1,3}(?:[ .,'’\u202f]\d{3})+(?:[.,]\d{1,2})?|\d{1,9}(?:[.,]\d{1,2})?)"
    r"(\s?[kK]\b)?(?![\d%])"
)
#: Words for a period that mean nothing else, and those that do so only after "per".
_PERIODS: Final = {
    "hour": ("hours?|hourly|stunde|stündlich|heure|p\\.h\\.", "hr?s?|hora|ora|uur|std"),
    "day": ("days?|daily|per diem|p\\.d\\.", "tag|jour|día|dia|giorno|dag"),
    "week": ("weeks?|weekly|woche|semaine|semana|settimana|p\\.w\\.", "wk|week"),
    "month": ("months?|monthly|monat|monatlich|mois|mensuel|maand|p\\.c\\.m\\.|p\\.m\\.", "mo|mes|mês|mese|mnd"),
    "year": ("years?|yearly|annual(?:ly)?|annum|jahr|jährlich|année|annuel|p\\.a\\.", "yr|an|año|ano|anno|jaar|år|a"),
}
_PERIOD: Final = re.compile(
    "|".join(
        rf"(?P<{name}>\b(?:{plain})(?![\w.])|(?:/\s?|\b(?:per|pro|par|por|al|all'|je|each)\s)(?:{short})\b)"
        for name, (plain, short) in _PERIODS.items()
    ),
    re.IGNORECASE,
)


def period(text: Any) -> str | None:
    """The period that a text names: "HOUR", "per annum", "Monat"; None if it names none."""
    found = _PERIOD.search(text[:_LONGEST].replace("_", " ")) if isinstance(text, str) else None
    return found.lastgroup if found else None


def pay(text: Any, currency: str | None = None, *, country: str | None = None, sure: bool = False) -> Pay:
    """What a text says a job pays; a Pay of nothing if it says nothing.

    `country`, of two letters, decides between the currencies that share a sign. `sure` is for what stands under a
    label: there an amount is pay even if no currency is named.

    >>> pay("$57 - $67.50 an hour")
    Pay(least=57.0, most=67.5, currency='USD', period='hour')
    """
    if not isinstance(text, str):
        return Pay()
    text = text[:_LONGEST]
    known = currency or prices.price(text, country=country)[1]
    if known is None and not sure:
        return Pay()
    amounts = [_amount(found) for found in _AMOUNT.finditer(text)][:2]
    found_amounts = [amount for amount in amounts if amount is not None and amount > 0]
    if not found_amounts:
        return Pay()
    if len(found_amounts) == 2 and "k" in text.lower() and found_amounts[0] * 500 < found_amounts[1]:
        found_amounts[0] *= 1000  # "60-75k"
    least, most = min(found_amounts), max(found_amounts)
    return Pay(least, most, known, period(text))


def _amount(found: re.Match[str]) -> float | None:
    amount = clean.number(re.sub(r"(?<=\d)[ .,'’\u202f](?=\d{3}(?!\d)|\d\d,)", "", found[1]))
    return amount * 1000 if amount is not None and found[2] else amount
