"""How well parsers fit a page that does not say what it is about: by how much of what they look for is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

#: Parser -> what makes a record of its kind: what it must have, and what most have; of those with a bar, one is enough.
FIELDS: Final[Mapping[str, tuple[str, str]]] = {
    "product": ("name price", "currency availability brand sku|gtin|mpn image|description"),
    "job": (
        "title",
        "organisation location employment_type deadline|posted salary_min department|id apply_url description",
    ),
    "event": ("title starts location", "ends organisation price description|image"),
    "opportunity": ("title deadline", "organisation location fee|award eligibility apply_url description"),
    "article": ("title body", "author published image|description"),
}
#: Of what most have: how many a record must have for nobody to take it for something else.
_CLEAR: Final[Mapping[str, int]] = {"product": 1, "job": 4, "event": 1, "opportunity": 3, "article": 2}
#: And of several records, how much they must have of it on the whole; beside what a page is about, others are sold.
_CLEAR_SHARE: Final = 0.6
#: Letters from which on a text is an article, whatever else is known of it.
LONG: Final = 800


class Fit(msgspec.Struct, frozen=True):
    """A parser that gives something for a page."""

    name: str
    #: How much of what it looks for is there, from 0 to 1.
    share: float
    #: Whether a page like this can hardly be anything else.
    clear: bool


def ranked(given: Mapping[str, Sequence[Any]]) -> list[Fit]:
    """The parsers that fit, the best first; `given` are the records that each gave for the page."""
    found = [fit for name in FIELDS if (fit := _fit(name, given.get(name, ()))) is not None]
    if _is_job(given.get("opportunity", ())) and any(fit.name == "job" for fit in found):
        found = [fit for fit in found if fit.name != "opportunity"]
    # What sells or invites is described in prose, too: an article is what is left.
    return sorted(found, key=lambda fit: (not fit.clear, fit.name == "article", -fit.share))


def _fit(name: str, records: Sequence[Any]) -> Fit | None:
    """How well a parser fits; None where what it gave lacks what makes it one of its kind."""
    must, often = (names.split() for names in FIELDS[name])
    good = [record for record in records if all(_has(record, field) for field in must)]
    if not good:
        return None
    counts = [sum(_has(record, field) for field in often) for record in good]
    share = sum(len(must) + count for count in counts) / (len(records) * (len(must) + len(often)))
    clear = counts[0] >= _CLEAR[name] if len(records) == 1 else share >= _CLEAR_SHARE and name != "product"
    if name == "article":
        clear = clear and len(good[0].body) >= LONG
    return Fit(name, round(share, 2), clear)


def _has(record: Any, field: str) -> bool:
    return any(getattr(record, name, None) not in (None, "", ()) for name in field.split("|"))


def _is_job(calls: Sequence[Any]) -> bool:
    """Whether what invites to apply is a job."""
    return len(calls) == 1 and getattr(calls[0], "kind_of", None) == "job"
