"""What an opportunity is, and who may see it.

Words count whole: "post" is not in "postmark", "show" not in "shown", "call" not in "calligraphy". What the source
itself calls a thing says most, then its title, its tags, and last its text, in which every residency speaks of shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from gossamer import urls
from gossamer.packs.art.states import state_named, state_of

__all__ = ["LEVELS", "TIERS", "TYPES", "level_of", "sees", "state_named", "state_of", "type_of", "visible"]

TYPES: Final = ("social_media", "grant", "residency", "exhibition", "opportunity", "general")
LEVELS: Final = ("free", "supporter", "premium")
TIERS: Final = LEVELS
#: Letters of a text that are looked at.
_LONGEST: Final = 20_000

_PLATFORMS: Final = frozenset(
    {"instagram", "facebook", "twitter", "linkedin", "reddit", "tiktok", "threads", "x", "bluesky", "pinterest"}
)
_PLATFORM_DOMAINS: Final = frozenset(
    f"{name}.com" for name in ("instagram", "facebook", "twitter", "linkedin", "reddit", "tiktok", "x", "pinterest")
) | {"bsky.app", "threads.net"}

#: Words of titles, categories and tags; the first type that has one counts.
_SHORT: Final = {
    "grant": r"(?:micro-?)?grants?|funding|awards?|prizes?|scholarships?|fellowships?|bursar(?:y|ies)"
    r"|financial (?:aid|support|assistance)",
    "residency": r"residenc(?:y|ies)|artists?[ -]in[ -]residence|in[ -]residence",
    "exhibition": r"exhibitions?|exhibits?|galler(?:y|ies)|shows?|showcases?|museums?|bi-?ennials?|biennales?|juried",
    "opportunity": r"opportunit(?:y|ies)|calls?|applications?|apply|submit|submissions?|entr(?:y|ies)|competitions?"
    r"|contests?|commissions?|rf[pq]s?|public art|murals?|festivals?",
}  # fmt: skip
#: Words of longer texts, in which the shorter ones above are said of many things.
_LONG: Final = {
    "grant": r"(?:micro-?)?grants?|scholarships?|fellowships?|(?:cash|project|seed) funding"
    r"|funding for (?:artists|projects)",
    "residency": r"residenc(?:y|ies) (?:program\w*|opportunit\w+|at|in|for|will|is|offers?)"
    r"|artists?[ -]in[ -]residence",
    "exhibition": r"exhibitions?|juried show|(?:group|solo|art|members'?) shows?|biennials?|biennales?",
    "opportunity": r"opportunit(?:y|ies)|open calls?|calls? (?:for|to)|applications?|apply|submit|submissions?"
    r"|artists wanted|seeking artists",
}  # fmt: skip


def _compiled(words: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    return {name: re.compile(rf"(?<![\w-])(?:{one})(?![\w-])", re.IGNORECASE) for name, one in words.items()}


_IN_SHORT: Final = _compiled(_SHORT)
_IN_LONG: Final = _compiled(_LONG)


def type_of(
    title: str | None,
    description: str | None = None,
    *,
    source: str | None = None,
    category: str | None = None,
    tags: Iterable[str] = (),
) -> str:
    """One of `TYPES`: "social_media" by its source alone, the others by what is said of it."""
    if is_social(source):
        return "social_media"
    for text, words in (
        (category, _IN_SHORT),
        (title, _IN_SHORT),
        (" , ".join(tags), _IN_SHORT),
        (description, _IN_LONG),
    ):
        found = next((name for name, one in words.items() if one.search((text or "")[:_LONGEST])), None)
        # "Competition" says only that one can apply: the title may still say for what.
        if found is not None and not (found == "opportunity" and text is category):
            return found
    return "opportunity" if _IN_SHORT["opportunity"].search(category or "") else "general"


def is_social(source: str | None) -> bool:
    """Whether a source is a social platform: "Instagram", "www.reddit.com"."""
    name = (source or "").strip().casefold()
    return name in _PLATFORMS or ("." in name and urls.registered_domain(name) in _PLATFORM_DOMAINS)


def level_of(kind: str, state: str | None = None) -> str:
    """The lowest level of membership that sees an opportunity of a type, one of `LEVELS`."""
    if kind in ("social_media", "general"):
        return "free"
    return "supporter" if kind == "exhibition" and state else "premium"


def sees(tier: str, record: Mapping[str, Any], states: Iterable[str] = ()) -> bool:
    """Whether a member of a tier sees a record.

    Free members see what is free and what is social; supporters also what lies in the states they chose; premium
    members see all. A tier that is none sees what is free.
    """
    if tier == "premium" or record.get("membership_level") == "free" or record.get("type") == "social_media":
        return True
    return tier == "supporter" and record.get("state") is not None and record.get("state") in set(states)


def visible(records: Iterable[Mapping[str, Any]], tier: str, states: Iterable[str] = ()) -> list[Mapping[str, Any]]:
    """Of many records, those that a member of a tier sees."""
    chosen = frozenset(states)
    return [record for record in records if sees(tier, record, chosen)]
