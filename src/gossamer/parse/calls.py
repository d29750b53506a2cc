"""What the text of an open call says: until when, for what fee, for what award, for whom, and what it is.

A call is full of dates: when it opens, when juries decide, when works are delivered and shown. Each date belongs to
the words nearest to it; the deadline is the one that belongs to words for a deadline.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from itertools import islice
from typing import Final, NamedTuple

from gossamer.parse import clean, prices
from gossamer.parse.pagedates import Dated, PageDates

__all__ = ["Call", "apply_by", "call", "kind_of", "speaks_of_calls"]

#: Letters of a text that are looked at.
LONGEST: Final = 30_000
#: Dates, words for a fee, and amounts of one text that are looked at: no call has so many.
_MOST: Final = 40


class Call(NamedTuple):
    """What a text says of a call; None for what it does not say."""

    opens: str | None = None
    deadline: str | None = None
    #: A decimal as text, "0" if it is free; and the currency of fee and award (ISO 4217).
    fee: str | None = None
    currency: str | None = None
    award: str | None = None
    eligibility: str | None = None
    #: How plainly it speaks of its deadline, from 0 to 5: 4 and more if in so many words.
    sure: int = 0


def call(text: str, dates: PageDates) -> Call:
    """What a text says of a call."""
    text = text[:LONGEST]
    opens, deadline, sure = _dates(text, dates)
    fee, currency = _fee(text, dates.country)
    award, other = _award(text, dates.country)
    return Call(opens, deadline, fee, currency or other, award, _eligibility(text), sure)


# --- dates ------------------------------------------------------------------------------------------------------

#: Words that say what a date is: how sure they are, or 0 for a date of another sort. The first that fits counts.
_CUES: Final = (
    ("other", 0, r"(?:notif\w+|delivery|drop[- ]?off|pick[- ]?up|shipping|installation|payment|response|decision"
     r"|results?)\s(?:deadline|date|due)s?"
     r"|deadline (?:to (?:deliver|ship|register for)|for (?:delivery|notification|shipping))"),
    ("deadline", 5, r"(?:deadline|closing date|date) (?:has been |is |was )?extended"
     r"|extended (?:deadline|to|until|through)"
     r"|(?:final|new|late) deadline|last (?:day|date) to (?:sign up|register|apply|enter|submit)|last date"),
    ("deadline", 5, r"(?:submissions?|applications?|entry|entries|proposals?|registration) deadline"
     r"|deadline (?:for|to) (?:all )?(?:submi\w+|appl\w+|ent(?:er|ry|ries)|proposals?)"),
    ("deadline", 2, r"postmark(?:ed)?(?: deadline| by)?|early[- ]?bird(?: deadline| entry| fee)?"
     r"|(?:priority|first) deadline"),
    ("deadline", 4, r"deadlines?|clos(?:ing|e) dates?|due dates?|bewerbungs(?:schluss|frist|ende)"
     r"|einsende(?:schluss|frist)|anmelde(?:schluss|frist)|abgabe(?:schluss|frist|termin)|dates? limites?|clôture"
     r"|échéance"
     r"|fecha (?:límite|limite|de cierre)|plazo|cierre|scadenza|termine ultimo|data limite|prazo|encerramento"
     r"|sluitingsdatum|uiterlijk|termin składania|締切|截止"),
    ("deadline", 3, r"(?:(?:is|are|must be)\s)?(?:due|received|submitted)"
     r"(?:\s(?:by|on|before|no later than|until|date))?"
     r"|(?:apply|submit|enter|register|rsvp|respond)(?:\s\w+){0,3}\s(?:by|before|until|no later than)"
     r"|clos(?:es?|ing|ed)(?: on| at| by)?|no(?:t)? later than|ends?(?: on)?(?! of)|expires?(?: on)?"
     r"|open (?:until|through|till)|bewerb\w+ bis|bis (?:zum|spätestens)|avant le|jusqu'au|hasta el|antes del|entro il"
     r"|entro e non oltre|até|t/m"),
    ("opens", 3, r"(?:will |now )?(?:opens?|opening|begins?|starts?|launch(?:es)?)(?: date| on| at| for)?"
     r"|open (?:from|since)|start date|ab dem|apertura|ouverture|accepting\s\w+\s(?:from|starting)"),
    ("other", 0, r"notif\w+|announce\w*|sent|e-?mailed|informed|contacted|hear back|award(?:ed|s) (?:on|by)|reception"
     r"|exhibit(?:ion|s|ed)?(?: dates?| runs?| is)?|shows?(?: dates?| runs?)?|on view|display\w*"
     r"|drop[- ]?off|deliver\w*"
     r"|ship\w*|pick[- ]?up|install\w*|residenc(?:y|ies)(?: dates?| runs?| takes?)?|event(?: dates?)?"
     r"|festival(?: dates?)?|conference|workshop|webinar|info(?:rmation)? session|orientation|q ?& ?a|when|takes? place"
     r"|held|publish\w*|posted|updated|jury\w*|interviews?|select\w*|winners?|results?|completed?|completion"
     r"|performances?|runs?|running|founded|since|created|copyright|©"),
    ("deadline", 1, r"until|through|thru|by|before|bis"),
)  # fmt: skip
_CUE: Final = tuple(
    (sort, sure, re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)) for sort, sure, words in _CUES
)
#: Letters before a date in which its words stand, and after it.
_BEFORE: Final = 110
_AFTER: Final = 40
_SENTENCE: Final = re.compile(r"[.!?](?=\s+[A-ZÄÖÜÉ\"])|\n\s*\n")
_RANGE: Final = re.compile(
    r",?\s{0,2}(?:[-–—]|to|through|until|and|bis|au|al)\s{0,2}(?:\w+day,?\s)?|[^\S\n]{2,3}", re.IGNORECASE
)
_WEEKDAY: Final = re.compile(r"[\s*•·a-z)\d.]{0,6}(?:\w{2,4}day,?|\w{3,5}\.,?)?\s*", re.IGNORECASE)


def _dates(text: str, dates: PageDates) -> tuple[str | None, str | None, int]:
    """When a call opens, its deadline, and how sure that is: of several the surest, and of those the last."""
    opens: str | None = None
    best: tuple[int, str] | None = None
    previous = 0
    sort, sure = "other", 0
    for found in islice(dates.all(text), _MOST):
        between = text[previous : found.start]
        if not (previous and _RANGE.fullmatch(between)):
            sort, sure = _sort(text, found, previous)
        elif sort == "opens":  # from one day to another: open until then
            sort, sure = "deadline", 2
        previous = found.end
        if sort == "opens":
            opens = opens or found.when
        elif sort == "deadline" and (best is None or (sure, found.when) > best):
            best = (sure, found.when)
    return opens, best[1] if best else None, best[0] if best else 0


def _sort(text: str, found: Dated, previous: int) -> tuple[str, int]:
    """What a date is, by the nearest words before it, or by those after it where it begins a line."""
    start = max(found.start - _BEFORE, previous)
    before = text[start : found.start]
    line = before.rpartition("\n")[2]
    after = text[found.end : found.end + _AFTER].partition("\n")[0].lstrip(" \t:–—-,()")
    if len(after) > 3 and _WEEKDAY.fullmatch(line):  # "June 1: deadline", in a list of dates
        return _nearest(after, backward=False) or ("other", 0)
    return _nearest(_last_sentence(before), backward=True) or _first_cue(after) or ("other", 0)


def _nearest(text: str, *, backward: bool) -> tuple[str, int] | None:
    """The words nearest to the end of a text, or to its beginning; such as "by" only where there are no others."""
    best: tuple[int, int, int] | None = None
    for rank, (_, _, words) in enumerate(_CUE[:-1]):
        for cue in words.finditer(text):
            # Of words at one place, those that stand first in the list are the more telling.
            here = (cue.end() // 4 if backward else -(cue.start() // 4), -rank, rank)
            best = here if best is None or here > best else best
    if best is not None:
        return _CUE[best[2]][:2]
    sort, sure, words = _CUE[-1]
    return (sort, sure) if words.search(text) else None


def _first_cue(text: str) -> tuple[str, int] | None:
    return next(((sort, sure) for sort, sure, words in _CUE[:6] if words.match(text)), None)


def _last_sentence(before: str) -> str:
    ends = [end.end() for end in _SENTENCE.finditer(before)]
    return before[ends[-1] :] if ends else before


#: "Apply by", "please send your application no later than", "applications close on": a date comes next.
_APPLY_BY: Final = re.compile(
    r"\b(?:apply|applying|applications?|submit|send|bewerb\w{1,12}|candidat\w{1,8}|postul\w{1,8}|solicit\w{1,8}"
    r"|inscri\w{1,8}|sollicit\w{1,8}|reageer)\b[^.!?\n]{0,80}?"
    r"\b(?:by|before|until|till|than|clos(?:es?|ing|ed)|ends?|due|deadline|bis|spätestens|avant|jusqu'au|hasta|antes"
    r"|entro|até|vóór|voor|uiterlijk)\b(?:\s(?:on|at|is|date|noon|midnight|the|zum|am|le|el|il|del|[^\W\d_]{2,10}(?:day|tag)"
    r"|\d{1,2}(?::\d\d)?\s?[ap]\.?m\.?))"
    r"{0,4}[\s,:]{0,3}",
    re.IGNORECASE,
)


def apply_by(text: str, dates: PageDates) -> str | None:
    """The last day to apply, where a text says so in words for that; for what asks to apply, and is no call."""
    text = text[:LONGEST]
    for words in _APPLY_BY.finditer(text):
        found = next(dates.all(text[words.end() : words.end() + _AFTER]), None)
        if found is not None and found.start <= 1:
            return found.when
    _, deadline, sure = _dates(text, dates)
    return deadline if sure >= 4 else None


# --- money ------------------------------------------------------------------------------------------------------

_MONEY: Final = re.compile(
    r"(?:US|CA|AU|NZ|C|A)?[$€£¥]\s?\d[\d,.]{0,12}(?:\s?[kK]\b)?|\b(?:USD|EUR|GBP|CAD|AUD|CHF)\s?\d[\d,.]{0,12}"
    r"|\b\d[\d,.]{0,12}\s?(?:€|£|USD|EUR|GBP|CAD|AUD|CHF|euros?|dollars)(?!\w)"
)
_FEE: Final = re.compile(
    r"(?:(?:entry|application|submission|processing|jury(?:ing)?|registration|participation|exhibition|booth|handling"
    r"|admin\w*|non-?refundable|per[- ]entry)\s){0,3}fees?(?!\w)|cost to (?:enter|apply|submit)"
    r"|(?:entry|application) (?:cost|price)|teilnahmegebühr|frais (?:d'inscription|de (?:dossier|participation))|cuota"
    r"|tasa de inscripción|quota d'iscrizione",
    re.IGNORECASE,
)
_FREE: Final = re.compile(
    r"\bno (?:(?:entry|application|submission|participation|jury|registration|processing|associated)\s)?"
    r"(?:fees?|cost|charge)\b|\bfree (?:to (?:apply|enter|submit|participate)|entry|application|submission|of charge)\b"
    r"|\b(?:entry|application|submission|participation|it|applying|applications?|to (?:apply|enter)) (?:is|are) free\b"
    r"|\bfees?\s?[:\n]\s?(?:none|free|no\b|n/a|0\b)|\bwithout (?:a |any )?fee|\bfree(?:\s\w+)? call|kostenlos"
    r"|keine (?:teilnahme)?gebühr|gratuite?\b|sin costo|gratis\b|gratuit[oa]\b",
    re.IGNORECASE,
)
#: Words near an amount that is no fee.
_NO_FEE: Final = re.compile(
    r"award|prize|stipend|honorari|budget|grant\b|sell|sale|price|commission|value|reimburs|insur|receive|paid|scholarship",
    re.IGNORECASE,
)
_AWARD: Final = re.compile(
    r"awards?|prizes?|stipends?|honorari(?:a|um)|grants?|budget|commission|scholarship|fellowship|funding|funds?|cash"
    r"|receive|best of show|first place|winners?|preisgeld|dotiert|bourse|premio|beca",
    re.IGNORECASE,
)


def _fee(text: str, country: str | None) -> tuple[str | None, str | None]:
    """What it costs to take part: the first amount that stands with words for a fee."""
    for cue in islice(_FEE.finditer(text), _MOST):
        before, after = text[max(cue.start() - 30, 0) : cue.start()], text[cue.end() : cue.end() + 90]
        if found := _FREE.search(text[max(cue.start() - 20, 0) : cue.end() + 12]):
            return "0", None
        found = _MONEY.search(after)
        if found and not _NO_FEE.search(after[: found.start()]) and after[: found.start()].count("\n") <= 1:
            return _amount(found[0], country)
        earlier = [*_MONEY.finditer(before)]
        if earlier and not _NO_FEE.search(before[earlier[-1].end() :]):
            return _amount(earlier[-1][0], country)
    return ("0", None) if _FREE.search(text) else (None, None)


def _award(text: str, country: str | None) -> tuple[str | None, str | None]:
    """What can be won, or is paid: the largest amount that stands with words for it."""
    found: list[tuple[Decimal, str, str | None]] = []
    for money in islice(_MONEY.finditer(text), _MOST):
        around = text[max(money.start() - 60, 0) : money.end() + 40]
        near = _last_sentence(text[max(money.start() - 30, 0) : money.start()]) + text[money.end() : money.end() + 15]
        if _AWARD.search(around) and not _FEE.search(near):
            amount, currency = _amount(money[0], country)
            if amount:
                found.append((Decimal(amount), amount, currency))
    best = max(found, default=None, key=lambda one: one[0])
    return (best[1], best[2]) if best else (None, None)


def _amount(text: str, country: str | None) -> tuple[str | None, str | None]:
    thousands = text[-1:] in "kK"
    amount, currency = prices.price(text.rstrip("kK., "), country=country)
    if amount and thousands:
        amount = str(Decimal(amount) * 1000)
    return amount, currency


# --- words ------------------------------------------------------------------------------------------------------

_ELIGIBLE: Final = re.compile(
    r"(?:^|\n)\s{0,5}(?:who (?:can|may) (?:apply|enter)|eligib\w{1,6}(?: requirements?| criteria)?|open to)"
    r"\s{0,5}[:?\n]\s{0,5}:?\s{0,5}"
    r"([^\n]{3,300})"
    r"|((?:this (?:call|opportunity|exhibition|competition) is |contest is |(?:applicants|artists) must be )?open to"
    r" (?:all |any )?[^.\n]{0,40}"
    r"(?:artists?|residents?|students?|makers|writers|photographers|women|ages?)[^.\n]{0,160})"
    r"|((?:artists|applicants) must (?:be|live|reside|have)[^.\n]{3,200})",
    re.IGNORECASE,
)


def _eligibility(text: str) -> str | None:
    found = _ELIGIBLE.search(text)
    return clean.strip(next((part for part in found.groups() if part), None), ".:") if found else None


#: Sorts of calls, the more special first: a residency with a stipend is a residency, a grant for a show a grant.
_KINDS: Final = {
    "residency": r"residenc(?:y|ies)|artist[s]?[- ]in[- ]residence|residenz|résidence|residencia",
    "fellowship": r"fellowships?",
    "scholarship": r"scholarships?|stipendium|bourse|beca",
    "grant": r"grants?|funding|förder\w+|subvention|microgrants?",
    "public art": r"public art|mural\w*|rfq|rfp|request for (?:qualifications|proposals)|commissions?",
    "competition": r"competitions?|contests?|prizes?|awards?|wettbewerb|concours|concurso|premio",
    "exhibition": r"exhibit(?:ion)?s?|group show|solo show|juried|gallery|showcase|ausstellung|exposition|exposición",
    "festival": r"festivals?|fairs?|art walk|market",
    "publication": r"magazine|anthology|journal|publication|zine",
    "workshop": r"workshops?|class(?:es)?|teaching artists?",
    "job": r"hiring|full[- ]time|part[- ]time|position|internships?",
    "call": r"calls?|open call|opportunit(?:y|ies)|submissions?|apply",
}  # fmt: skip
_KIND: Final = {name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for name, words in _KINDS.items()}
_SPEAKS: Final = re.compile(
    r"\b(?:call(?:s|ing)? (?:for|to)|open call|opportunit(?:y|ies)|submissions?|residenc(?:y|ies)|grants?|fellowships?"
    r"|scholarships?|commissions?|competitions?|contests?|juried|stipends?|awards?|exhibitions?|artists? wanted"
    r"|seeking artists|deadline|applications?|rf[pq]|ausschreibung|wettbewerb|appel à|convocatoria|bando"
    r"|open oproep)\b",
    re.IGNORECASE,
)


def kind_of(texts: Iterable[str | None]) -> str | None:
    """What sort of call it is: "residency", "grant", "competition" ...; by the first text that tells."""
    for text in texts:
        for name, words in _KIND.items():
            if text and words.search(text[:LONGEST]):
                return name
    return None


def speaks_of_calls(text: str) -> bool:
    """Whether a text may be of a call at all."""
    return _SPEAKS.search(text[:LONGEST]) is not None
