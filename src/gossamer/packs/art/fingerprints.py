"""What one call has in common with itself on another site."""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from typing import Final

from gossamer import urls
from gossamer.packs.art.titlewords import GENERIC, THEMES

__all__ = ["fingerprint", "tidy_title"]

_LONGEST: Final = 500
#: What boards put behind a title: the sort of work, and their own category.
_BEHIND: Final = re.compile(
    r"\s[-–—|]\s(?:temporary|part[- ]time|full[- ]time|freelance|internship|contract|volunteer|other)\s?,.*$"
    r"|\s[-–—|]\s(?:artist calls?|calls? (?:for (?:entr(?:y|ies)|artists|art)|to artists)|open calls?)\s*$"
    r"|\s\(?(?:deadline )?extended!?\)?\s*$",
    re.IGNORECASE,
)
#: What some put before it, and others do not.
_BEFORE: Final = re.compile(
    r"^\W{0,3}(?:(?:open )?calls? (?:for|to) (?:artists?|entr(?:y|ies)|art|submissions|proposals|applications)"
    r"|open calls?|calls?|opportunity|deadline extended|extended)"
    # A colon, a bracket that ends, a dash with a space, pictures: but no hyphen within a word.
    r"(?:\s?[^\w\s\"“”'‘’(&,./#@+*-]{1,4}\s{0,2}|\s-\s?|-\s)(?=\S+\s\S)",
    re.IGNORECASE,
)
_COMPANY: Final = re.compile(r"^the\s|\s(?:inc|llc|ltd|corp|co)$")
_WORDS: Final = re.compile(r"[^\W_]+")
#: Years and ordinals: of the day to apply, the year is known anyhow.
_NUMBER: Final = re.compile(r"\d+(?:st|nd|rd|th)?|[ivx]+")


def tidy_title(title: str) -> str:
    """A title without what the boards put around it: "Call for Artists: Mural - Temporary, Artist Calls" is "Mural"."""
    text = _BEHIND.sub("", title[:_LONGEST])
    return _BEFORE.sub("", text).strip() or title[:_LONGEST]


def fingerprint(title: str | None, deadline: date | None, organization: str | None) -> str | None:
    """The same for records of one call, however their sites write it; None where what is known would fit many calls.

    Case, accents, punctuation, "&" and the words that boards add do not count. A title that tells a call from others
    needs only its deadline, as posts seldom say whose call it is; any other is one of its organization.
    """
    name, who = _folded(tidy_title(title)) if title else "", _company(organization)
    if not name or not (deadline or who):
        return None
    own, shared = _telling(name)
    if deadline and own and own + shared > 1:
        who = ""
    elif not own and not who:
        return None
    return urls.digest(name, deadline.isoformat() if deadline else "", who)


def _telling(name: str) -> tuple[int, int]:
    """How many words of a title are its own, and how many are of themes that many calls have."""
    words = {word for word in name.split() if len(word) > 1 and not _NUMBER.fullmatch(word)} - GENERIC
    themes = words & THEMES
    return len(words) - len(themes), len(themes)


def _company(organization: str | None) -> str:
    return _COMPANY.sub("", _folded((organization or "")[:_LONGEST])).strip()


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold().replace("&", " and "))
    return " ".join(_WORDS.findall("".join(c for c in plain if not unicodedata.combining(c)).replace("'", "")))
