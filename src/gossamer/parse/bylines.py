"""Who wrote something: names out of what sites write where a name should be."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from gossamer.parse import clean
from gossamer.parse.markup import Texts
from gossamer.parse.page import Page

__all__ = ["names", "shown"]

#: Names that are kept, letters of one, and words.
MOST: Final = 20
LONGEST: Final = 80
_MOST_WORDS: Final = 8
#: Elements that are looked at for a byline.
_MOST_LOOKED_AT: Final = 40

#: Where pages show who wrote them, the surest first.
_PLACES: Final = (
    "[rel~=author]",
    "[itemprop~=author] [itemprop~=name]",
    "[itemprop~=author]",
    ".p-author .p-name, .p-author",
    "[class*=author][class*=name], [class*=byline][class*=name], a[class*=author], a[href*='/author/']",
    "[class*=byline] a, [class*=byline], [class*=by-line], .author a, .author",
)
#: Where anything about a page may stand: a name, if it begins with "By".
_ANYTHING: Final = "[class*=meta]"
_BY = re.compile(
    r"(?:(?:written|posted|published|reported|reviewed|story|text|words|article|edited)\s+)?(?:by|von|por|par|di|af|av)\b"
    r"[:\s]+|(?:author|autor|auteur|autore|redacción|by)\s*:\s*",
    re.IGNORECASE,
)
#: What follows a name in its line: a date, a place, the name of the site, a role.
_AFTER = re.compile(
    r"\s*(?:[|•·/\\>\n]|\s[-–—]\s|\s(?:on|at|for)\s|\b\d{1,2}[./:-]\d|\b(?:19|20)\d\d\b|\(|@\w).*", re.DOTALL
)
_BETWEEN = re.compile(r"\s*(?:;|\s(?:and|und|et|y|e|og|och|en)\s|&|\s\+\s)\s*", re.IGNORECASE)
_URL = re.compile(r"(?:https?:|www\.)\S*", re.IGNORECASE)
_LINK = re.compile(r"https?:|www\.|//|\w@\w|[{}<>=]")
#: What somebody is, and not what they are called.
_ROLE = re.compile(
    r"\b(?:writer|reporter|correspondent|editor|columnist|contributor|producer|staff|press|photographer|journalist"
    r"|redakteur(?:in)?|reportera?|periodista)s?\b",
    re.IGNORECASE,
)
#: Words of names that begin with a small letter.
_PARTICLES = frozenset(
    (
        *("de", "da", "do", "dos", "das", "del", "della", "di", "du", "la", "le", "van", "von", "der", "den", "ter"),
        *("ten", "zu", "af", "av", "bin", "ibn", "al", "el", "y", "e", "i"),
    )
)
_NO_NAME = frozenset(
    (
        *("admin", "administrator", "author", "authors", "editor", "staff", "user", "guest", "anonymous", "unknown"),
        *(
            "none",
            "null",
            "webmaster",
            "root",
            "by",
            "follow",
            "more",
            "view all posts",
            "read more",
            "n/a",
            "undefined",
        ),
    )
)


def names(texts: Iterable[str | None]) -> tuple[str, ...]:
    """The names in texts that tell an author: without "By", links and what follows a name, each once."""
    found: dict[str, str] = {}
    for text in texts:
        for name in _split(text or ""):
            if _is_name(name):
                found.setdefault(name.lower(), name)
            if len(found) >= MOST:
                return tuple(found.values())
    return tuple(found.values())


def shown(page: Page) -> tuple[str, ...]:
    """The names in the byline that a page shows."""
    texts = Texts()
    left = _MOST_LOOKED_AT
    for place in (*_PLACES, _ANYTHING):
        nodes = page.tree.css(place)[:left]
        left -= len(nodes)
        for node in nodes:
            line = texts.of(node)[: 4 * LONGEST]
            if place is _ANYTHING and _BY.match(line) is None:
                continue
            found = names([line])
            # A page ends with the authors of others: the first that has a name is its own.
            if found and all(_looks_like_name(name) for name in found):
                return found
    return ()


def _split(text: str) -> list[str]:
    line = _URL.sub(" ", clean.text(text[: 10 * LONGEST]) or "").strip()
    line = _AFTER.sub("", _BY.sub("", line[: 5 * LONGEST], count=1))
    parts = [part for piece in _BETWEEN.split(line) for part in _at_commas(piece)]
    parts = [part for n, part in enumerate(parts) if n == 0 or not _ROLE.search(part)]
    return [clean.strip(part, ",.:;-–—*\"'") or "" for part in parts]


def _at_commas(piece: str) -> list[str]:
    """Names with commas between them; "Smith, Jane" is one."""
    parts = [part.strip() for part in piece.split(",") if part.strip()]
    return parts if all(" " in part for part in parts) else parts[:1] if len(parts) > 1 and " " in parts[0] else [piece]


def _looks_like_name(text: str) -> bool:
    """Whether a text that stands where a name could be is one: few words, with capitals where a script has them."""
    parts = text.split()
    if len(parts) > 5 or any(letter.isdigit() for letter in text):
        return False
    return all(not part[0].islower() or part.lower() in _PARTICLES for part in parts) and not parts[0].islower()


def _is_name(text: str) -> bool:
    if not 2 <= len(text) <= LONGEST or len(text.split()) > _MOST_WORDS or text.lower() in _NO_NAME:
        return False
    return _LINK.search(text) is None and any(letter.isalpha() for letter in text)
