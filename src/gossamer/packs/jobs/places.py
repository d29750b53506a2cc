"""In which country a place is, as postings write places: names as whole words, codes only where they stand as codes.

"Germany" holds "man" and "Philadelphia" holds "del", which are Manchester's and Delhi's codes: nothing is looked for
inside a word. A place that could be in two countries is in none.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any, Final

from gossamer.packs.jobs.countries import AIRPORTS, CITIES, COUNTRIES, STATES, THREE_LETTERS

__all__ = ["country_code", "named"]

#: Letters of a place that are looked at, and parts of it.
_LONGEST: Final = 300
_MOST_PARTS: Final = 12
_PLACES: Final = re.compile(r"[;\n|•/]+|\s(?:or|and)\s")
_PARTS: Final = re.compile(r"\s*[,()\[\]]\s*|\s+[-–—]\s+")
_WORD: Final = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*\.?")
_CODE: Final = re.compile(r"(?<![\w.'’-])[A-Z]{3}(?![\w'’])")
_PAIR: Final = re.compile(r"(?<![\w.'’-])[A-Z]{2}(?![\w'’])(?:\s\d{5}(?:-\d{4})?)?$")
#: Words of the longest name in the table.
_MOST_WORDS: Final = 6
#: Letters that are a state and a large country both: without a city that is known, they could be either.
_EITHER: Final = frozenset({"CA", "DE", "IN", "IL"})


def country_code(place: Any) -> str | None:
    """The ISO 3166-1 code of the country a place is in; None if it does not say.

    >>> country_code("Cheektowaga, NY, United States"), country_code("Manila"), country_code("Philadelphia")
    ('US', 'PH', 'US')
    """
    if not isinstance(place, str):
        return None
    text = " ".join(place[: 4 * _LONGEST].replace("\n", ";").split())[:_LONGEST]
    whole = _names().get(" ".join(_words(text))) if " and " in text else _of_place(text)
    if whole is not None:
        return whole
    found = [code for one in _PLACES.split(text)[:_MOST_PARTS] if (code := _of_place(one)) is not None]
    return found[0] if found else None


def named(text: Any) -> str | None:
    """The country whose name stands in a text, as in a company's: "Air India" is in India."""
    if not isinstance(text, str):
        return None
    return _longest(_words(text[:_LONGEST]), _countries())


def _of_place(text: str) -> str | None:
    parts = [part for part in _PARTS.split(text.strip(" ,.-–")) if part][:_MOST_PARTS]
    if not parts or _PLACES.search(text):
        return None
    # What is written last says most: "Lima, Ohio, United States".
    for at in range(len(parts) - 1, -1, -1):
        found = _of_part(parts[at], parts[:at])
        if found is not None:
            return found
    return _by_code(text, parts)


def _of_part(part: str, before: list[str]) -> str | None:
    words = _words(part)
    name = " ".join(words)
    if name == "georgia":  # one of the United States, or a country: what stands before it tells
        return next(
            filter(None, (_longest(_words(one), _cities()) for one in reversed(before))), "GE" if not before else "US"
        )
    if found := _countries().get(name) or _states().get(name):
        return found
    if part in ("US", "USA"):
        return "US"
    if found := _by_pair(part, before):
        return found
    return _longest(words, _names())


def _by_pair(part: str, before: list[str]) -> str | None:
    """Two capitals at the end: "Greensboro, NC", "Berlin, DE", "Sydney NSW"."""
    last = part.rpartition(" ")[2]
    if last in STATES["AU"] and len(last) == 3:
        return "AU"
    found = _PAIR.search(part)
    if found is None:
        return None
    letters = found[0][:2]
    could = {country for country, states in STATES.items() if letters in states and country != "IN"}
    could |= {letters} if letters in COUNTRIES else {"GB"} if letters == "UK" else set()
    city = next(
        filter(None, (_longest(_words(one), _cities()) for one in (part[: found.start()], *reversed(before)))), None
    )
    if city in could:
        return city
    if len(could) == 1:
        return could.pop()
    if "US" in could:
        return None if letters in _EITHER else "US"
    return letters if letters in could else None


def _by_code(text: str, parts: list[str]) -> str | None:
    """Airports by three capitals: not in a text that is all capitals, where DEL may be a Spanish word."""
    spoken = any(letter.islower() for letter in text)
    for part in reversed(parts):
        for code in _CODE.findall(part):
            if (spoken or part == code) and code in _codes():
                return _codes()[code]
    return None


def _longest(words: list[str], table: dict[str, str]) -> str | None:
    """The country of the last name in the words that the table knows; longer names win over those they hold."""
    found = None
    at = 0
    while at < len(words):
        for size in range(min(_MOST_WORDS, len(words) - at), 0, -1):
            name = " ".join(words[at : at + size])
            if name in table:
                found = table[name]
                at += size - 1
                break
        at += 1
    return found


def _words(text: str) -> list[str]:
    return _WORD.findall(_folded(text).replace("-", " "))[:60]


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold().replace("ß", "ss").replace("ı", "i"))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def _table(given: dict[str, str]) -> dict[str, str]:
    return {" ".join(_words(name)): code for code, names in given.items() for name in names.split("|")}


@cache
def _countries() -> dict[str, str]:
    return _table(COUNTRIES)


@cache
def _states() -> dict[str, str]:
    found: dict[str, str] = {}
    for country, states in STATES.items():
        found |= _table({f"{country}": "|".join(states.values())})
    return found


@cache
def _cities() -> dict[str, str]:
    return _table(CITIES)


@cache
def _names() -> dict[str, str]:
    """All names. "UK" and its like are whole words too; a city goes before a state of the same name."""
    return {**_states(), **_cities(), **_countries()}


@cache
def _codes() -> dict[str, str]:
    airports = {code: country for country, codes in AIRPORTS.items() for code in codes.split()}
    return {**airports, **THREE_LETTERS}
