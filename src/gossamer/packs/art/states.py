"""The states, the district and the territories of the United States, and how places name them."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["BY_CODE", "NAMES", "place_in", "state_named", "state_of"]

BY_CODE: Final = {
    "AL": "Alabama", "AK": "Alaska", "AZ": "Arizona", "AR": "Arkansas", "CA": "California", "CO": "Colorado",
    "CT": "Connecticut", "DE": "Delaware", "FL": "Florida", "GA": "Georgia", "HI": "Hawaii", "ID": "Idaho",
    "IL": "Illinois", "IN": "Indiana", "IA": "Iowa", "KS": "Kansas", "KY": "Kentucky", "LA": "Louisiana",
    "ME": "Maine", "MD": "Maryland", "MA": "Massachusetts", "MI": "Michigan", "MN": "Minnesota", "MS": "Mississippi",
    "MO": "Missouri", "MT": "Montana", "NE": "Nebraska", "NV": "Nevada", "NH": "New Hampshire", "NJ": "New Jersey",
    "NM": "New Mexico", "NY": "New York", "NC": "North Carolina", "ND": "North Dakota", "OH": "Ohio",
    "OK": "Oklahoma", "OR": "Oregon", "PA": "Pennsylvania", "RI": "Rhode Island", "SC": "South Carolina",
    "SD": "South Dakota", "TN": "Tennessee", "TX": "Texas", "UT": "Utah", "VT": "Vermont", "VA": "Virginia",
    "WA": "Washington", "WV": "West Virginia", "WI": "Wisconsin", "WY": "Wyoming", "DC": "District of Columbia",
    "PR": "Puerto Rico", "GU": "Guam", "VI": "U.S. Virgin Islands", "AS": "American Samoa",
    "MP": "Northern Mariana Islands",
}  # fmt: skip
NAMES: Final = tuple(BY_CODE.values())
_BY_NAME: Final = {name.casefold(): name for name in NAMES} | {
    "virgin islands": "U.S. Virgin Islands",
    "us virgin islands": "U.S. Virgin Islands",
    "washington dc": "District of Columbia",
    "washington d.c": "District of Columbia",
    "washington, dc": "District of Columbia",
    "washington, d.c": "District of Columbia",
}
#: Letters of a place that are looked at.
_LONGEST: Final = 300
#: Codes that are words too, or short for a city.
_WORDS: Final = frozenset({"AL", "AS", "CO", "DE", "HI", "ID", "IN", "LA", "MA", "ME", "OH", "OK", "OR", "PA"})
_ENDS: Final = r"(?=\s{0,3}(?:$|[,;|)/–—-]|\d{5}\b|USA?\b|United States))"
#: After a comma, before a postcode, or, where it is no word, at the end.
_CODE: Final = re.compile(
    rf",\s{{0,3}}({'|'.join(BY_CODE)}){_ENDS}|(?<=\w)\s({'|'.join(BY_CODE)})(?=\s\d{{5}}\b)"
    rf"|(?:(?<=\w)\s|^)({'|'.join(sorted(set(BY_CODE) - _WORDS))}){_ENDS}"
)
#: The longest first: West Virginia is not Virginia.
_NAMED: Final = re.compile(
    rf"(?<![\w-])(?:{'|'.join(re.escape(name) for name in sorted(_BY_NAME, key=len, reverse=True))})(?!\w)",
    re.IGNORECASE,
)
#: Cities that are called after a state they do not lie in, or may not, and places abroad that share a name.
_ELSEWHERE: Final = re.compile(
    r"\b(?:kansas|michigan|nevada|missouri|arkansas|virginia) city\b|\bfort washington\b|\bmount vernon\b"
    r"|\b(?:tbilisi|batumi|kutaisi|republic of),? georgia\b|\bbritish virgin islands\b|\bwashington square\b",
    re.IGNORECASE,
)


#: "in Marfa, Texas", "at Fort Ross, CA": a town of up to three words, and a state.
_PLACE: Final = re.compile(
    rf"\b(?:[Ii]n|[Aa]t|[Nn]ear) ((?:[A-Z][\w.'’-]{{1,25}} ){{0,2}}[A-Z][\w'’-]{{1,25}}, ?"
    rf"(?:(?:{'|'.join(BY_CODE)})(?![\w'’])|(?:{'|'.join(map(re.escape, NAMES))})(?!\w)))"
)


def place_in(text: str) -> str | None:
    """The first town with its state that a sentence names: "Marfa, Texas"."""
    found = _PLACE.search(text)
    return found[1] if found else None


def state_named(text: str | None) -> str | None:
    """The state that a text is the name or the code of, and nothing else: "texas", "TX"."""
    tidy = " ".join((text or "")[:_LONGEST].split()).strip(" .,")
    return BY_CODE.get(tidy) or _BY_NAME.get(tidy.casefold())


def state_of(place: str | None) -> str | None:
    """The state a place lies in: "Ojai, CA 93023", "Austin TX", "rural Oregon"; None for what names none.

    A code counts in capitals only, after a comma or at the end: "in", "or", "me", "hi", "ok" and "la" are words.
    """
    text = " ".join((place or "")[:_LONGEST].split()).strip(" .")
    codes = [next(filter(None, found.groups())) for found in _CODE.finditer(text)]
    if codes:
        return BY_CODE[codes[-1]]
    found = _NAMED.search(_ELSEWHERE.sub(" ", text))
    return _BY_NAME[found[0].casefold()] if found else None
