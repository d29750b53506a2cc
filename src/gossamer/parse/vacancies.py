"""Whether a page says that a job is no longer to be had: in a sentence that says so, and does not only speak of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from gossamer.parse import labels
from gossamer.parse.page import Page

__all__ = ["of_line", "says"]

#: Longer lines are sentences of a description, which tell of all sorts of things.
_LONGEST: Final = 240
_MOST_LINES: Final = 3000
_JOB: Final = r"(?:position|role|job|vacancy|posting|opportunity|listing|advert(?:isement)?|requisition|opening|offer)"
_SAYS: Final = re.compile(
    rf"(?:this |the |that )?{_JOB}(?: posting| listing| advert| opening)? (?:has(?: now| already)?(?: been)?|is|was)"
    r"(?: now| already| currently)? (?:filled|closed(?! to\b)|expired"
    r"|no longer (?:available|active|open|accepting|posted|exists?)|withdrawn|removed"
    r"|not (?:available|active|open)|archived)(?![\w-])"
    rf"|{_JOB} (?:expired|closed|filled)(?=\s*(?:$|[.!,:;)]|on\b))"
    r"|(?:we are |is )?no longer accepting applications"
    r"|applications? (?:period |window )?(?:is |are |has |have )?(?:now |been )?closed"
    r"|(?:you are looking for|page|job|requested) (?:does not|doesn't) exist"
    r"|stelle ist (?:bereits )?(?:besetzt|nicht mehr)|stellenangebot ist nicht mehr"
    r"|offre (?:n'est plus|a expiré|est pourvue)|oferta (?:ya no está|ha caducado|cerrada)"
    r"|annuncio (?:è )?scaduto|vacature is (?:vervuld|gesloten|verlopen)",
    re.IGNORECASE,
)
_EXPIRED: Final = re.compile(r"expir|caducad|scadut|verlopen", re.IGNORECASE)
#: What comes before it in "we take applications until the position is filled".
_UNLESS: Final = re.compile(
    r"\b(?:until|till|unless|once|when|whenever|if|after|before|as soon as|should|may be|might be|will be|"
    r"in case|where|not yet|bis|sobald|falls|wenn|jusqu|lorsque|hasta|cuando|finché|quando|totdat|zodra)\b",
    re.IGNORECASE,
)
#: Elements that nobody sees.
_HIDDEN: Final = "[hidden], [style*='display:none' i], [style*='display: none' i], .hidden, .d-none, dialog:not([open])"
_MOST_HIDDEN: Final = 200
#: Letters of hidden elements that are looked at: one may lie within the other, two hundred deep.
_MOST_UNSEEN: Final = 2_000_000
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+")


def says(page: Page, lines: Sequence[str] | None = None) -> str | None:
    """ "closed" or "expired", where a reader of the page is told so. `lines` are those of its body, if known."""
    if not page.is_html or page.tree.body is None:
        return None
    given = labels.lines(page.tree.body) if lines is None else lines
    told = {line: found for line in given[:_MOST_LINES] if (found := of_line(line)) is not None}
    hidden = _unseen(page, told) if told else set()
    return next((found for line, found in told.items() if line not in hidden), None)


def of_line(line: str) -> str | None:
    """ "closed" or "expired", if a line says so.

    >>> of_line("Sorry, this position has been filled."), of_line("Open until the position is filled.")
    ('closed', None)
    """
    if len(line) > _LONGEST:
        return None
    for sentence in _SENTENCES.split(line):
        found = _SAYS.search(sentence)
        if found is not None and not _UNLESS.search(sentence[: found.start()]):
            return "expired" if _EXPIRED.search(found[0]) else "closed"
    return None


def _unseen(page: Page, told: Iterable[str]) -> set[str]:
    """Those of some lines that a page keeps ready for later: what it would say if the posting were closed."""
    wanted, found, left = set(told), set[str](), _MOST_UNSEEN
    for node in page.tree.css(_HIDDEN)[:_MOST_HIDDEN]:
        lines = labels.lines(node)
        found |= wanted.intersection(lines)
        left -= sum(map(len, lines))
        if left < 0 or len(found) == len(wanted):
            break
    return found
