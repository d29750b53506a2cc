"""Opportunities: open calls, grants, residencies, competitions, with what they say of their deadline and their fee."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from gossamer import urls
from gossamer.errors import ReadError
from gossamer.parse import calls, cards, clean, labels, opengraph, plain, structured
from gossamer.parse.cards import Card
from gossamer.parse.embedded import short, walk
from gossamer.parse.page import Page
from gossamer.parse.pagedates import PageDates

__all__ = ["Opportunity", "read"]

#: Opportunities of one page.
MOST: Final = 2000
_TYPES: Final = ("Grant", "MonetaryGrant", "EducationalOccupationalProgram", "Scholarship", "FundingScheme")


class Opportunity(msgspec.Struct, frozen=True, kw_only=True):
    """One call, grant, residency or competition that people can apply to."""

    #: Where it can be read.
    url: str | None = None
    title: str | None = None
    #: Who calls.
    organisation: str | None = None
    location: str | None = None
    #: "residency", "fellowship", "scholarship", "grant", "public art", "competition", "exhibition", "festival",
    #: "publication", "workshop", "job" or "call".
    kind_of: str | None = None
    #: When it opens, and the last day to apply: ISO 8601, as exact as the page says.
    opens: str | None = None
    deadline: str | None = None
    #: What it costs to apply: a decimal as text, "0" if it is free.
    fee: str | None = None
    #: ISO 4217, of fee and award.
    currency: str | None = None
    #: What can be won or is paid, at most: a decimal as text.
    award: str | None = None
    #: Who may apply.
    eligibility: str | None = None
    #: As plain text, a line for each paragraph.
    description: str | None = None
    apply_url: str | None = None
    image: str | None = None


def read(page: Page) -> list[Opportunity]:
    """The opportunities of a page: of one that is about a call, of a list of calls, or of an API's answer in JSON."""
    if page.kind == "json":
        try:
            return _of_json(page.json(), page)
        except ReadError:
            return []
    if page.kind != "html" and not page.is_html:
        return []
    reading = _Reading(page)
    return reading.declared() or reading.listed() or reading.seen()


class _Reading:
    """One page being read."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.dates = PageDates(page)

    def declared(self) -> list[Opportunity]:
        """What the page says in JSON-LD, microdata or RDFa."""
        things = structured.of_type(self.page, *_TYPES)[:MOST]
        made = [self._of_thing(thing) for thing in things]
        return [one for one in made if one.title and (one.deadline or one.organisation or one.description)]

    def _of_thing(self, thing: dict[str, Any]) -> Opportunity:
        about = plain.prose(thing.get("description"))
        said = calls.call(about or "", self.dates)
        title = plain.name(thing.get("name"))
        who = thing.get("provider") or thing.get("funder") or thing.get("sponsor") or thing.get("organizer")
        money = next(plain.each(thing.get("amount") or thing.get("offers")), None)
        amount = money if isinstance(money, dict) else {"value": money}
        types = " ".join(map(str, plain.each(thing.get("@type"))))
        return Opportunity(
            url=plain.link(thing.get("url"), self.page.base_url) or self.page.url,
            title=title,
            organisation=plain.name(who),
            location=next(filter(None, (plain.place(one) for one in plain.each(thing.get("location")))), None),
            kind_of=calls.kind_of((title, re.sub(r"(?<=[a-z])(?=[A-Z])", " ", types), about)),
            opens=self._moment(thing.get("applicationStartDate")) or said.opens,
            deadline=self._moment(thing.get("applicationDeadline") or thing.get("validThrough")) or said.deadline,
            fee=said.fee,
            currency=clean.strip(amount.get("currency") or amount.get("priceCurrency")) or said.currency,
            award=_amount(amount.get("maxValue") or amount.get("value") or amount.get("price")) or said.award,
            eligibility=plain.name(thing.get("eligibility") or thing.get("programPrerequisites")) or said.eligibility,
            description=about,
            image=plain.link(thing.get("image"), self.page.base_url),
        )

    def _moment(self, value: Any) -> str | None:
        return self.dates.moment(next(plain.each(value), None))

    def listed(self) -> list[Opportunity]:
        """The cards of a list of calls."""
        if not calls.speaks_of_calls(self.page.text):
            return []
        return list({one.url: one for one in cards.best(self.page, self._of_card)}.values())[:MOST]

    def _of_card(self, card: Card) -> tuple[Opportunity, int] | None:
        if not card.title or not card.url or len(card.title) > 220:
            return None
        texts = [part.strip() for line in card.lines for part in _PARTS.split(line) if part.strip()]
        whole = "\n".join(texts)
        if not calls.speaks_of_calls(whole):
            return None
        pairs = labels.labelled(None, texts)
        said = calls.call(whole, self.dates)
        where = card.hinted(_WHERE, 200) or next(labels.values(pairs, _LABELS["location"]), None)
        made = Opportunity(
            url=card.url,
            title=card.title,
            organisation=card.hinted(_WHO) or next(labels.values(pairs, _LABELS["organisation"]), None),
            location=_PARTS.split(where)[0].strip() if where else None,
            kind_of=calls.kind_of((card.title, whole)),
            opens=said.opens,
            deadline=self._labelled_deadline(pairs) or said.deadline,
            fee=said.fee,
            currency=said.currency,
            award=said.award,
            eligibility=next(labels.values(pairs, _LABELS["eligibility"]), None) or said.eligibility,
            description=next((line for line in texts if len(line) > 80), None),
        )
        fields = (made.deadline, made.organisation, made.location, made.fee, made.eligibility)
        known = sum(value is not None for value in fields)
        # A deadline makes a call of a link; a list of news speaks of exhibitions too.
        return (made, known) if made.deadline or (known >= 2 and calls.kind_of((card.title,))) else None

    def _labelled_deadline(self, pairs: list[labels.Label]) -> str | None:
        for value in labels.values(pairs, _LABELS["deadline"]):
            if found := next((dated.when for dated in self.dates.all(value)), None) or self.dates.moment(value):
                return found
        return None

    def seen(self) -> list[Opportunity]:
        """What a reader sees of a page about one call."""
        body = self.page.tree.body
        texts = labels.lines(body) if body is not None else []
        whole = "\n".join(texts)
        title = self._title()
        if title is None or not calls.speaks_of_calls(whole):
            return []
        pairs = labels.labelled(body, texts)
        said = calls.call(self._main(whole), self.dates)
        labelled = self._labelled_deadline(pairs)
        kind = calls.kind_of((title,))
        # News speak of deadlines too: a call does so under a label, or asks to apply, or is called one.
        asks = said.sure >= 4 and len(set(map(str.lower, _ASKS.findall(whole)))) >= 3
        if not (labelled or asks or (kind and (said.deadline or said.fee))):
            return []
        deadline = labelled or said.deadline
        og = opengraph.read(self.page.tree)
        node = self.page.tree.css_first(_DESCRIPTION)
        made = Opportunity(
            url=self.page.url,
            title=title,
            organisation=next(labels.values(pairs, _LABELS["organisation"]), None),
            location=next(labels.values(pairs, _LABELS["location"]), None),
            kind_of=kind or calls.kind_of((whole,)),
            opens=said.opens,
            deadline=deadline,
            fee=said.fee,
            currency=said.currency,
            award=said.award,
            eligibility=next(labels.values(pairs, _LABELS["eligibility"]), None) or said.eligibility,
            description="\n".join(labels.lines(node)) or None if node is not None else None,
            apply_url=self._apply(),
            image=plain.link(og.get("og:image"), self.page.base_url),
        )
        return [made]

    def _main(self, whole: str) -> str:
        """The text of the page's main part, if it has one."""
        node = self.page.tree.css_first(_DESCRIPTION)
        text = "\n".join(labels.lines(node)) if node is not None else ""
        return text if len(text) > 100 else whole

    def _title(self) -> str | None:
        node = self.page.tree.css_first("h1")
        text = " ".join(labels.lines(node)) if node is not None else ""
        og = next(plain.each(opengraph.read(self.page.tree).get("og:title")), None)
        return clean.text(text or og or self.page.title)

    def _apply(self) -> str | None:
        for node in self.page.tree.css("a[href]")[:2000]:
            href = node.attributes.get("href") or ""
            if not href.startswith("#") and _APPLY.match(" ".join(labels.lines(node))):
                return urls.resolve(href, self.page.base_url)
        return None


_PARTS: Final = re.compile(r"\s[|•·]\s|\s{3,}")
_ASKS: Final = re.compile(
    r"\b(?:apply|applicants?|applications?|submit|submissions?|entries|entrants?|eligib\w{1,6}|artists?|jur(?:y|or|ied)|bewerb\w+)\b",
    re.IGNORECASE,
)
_WHO: Final = re.compile(r"company|organi[sz]|(?:^|[\s_-])(?:host|institution|presenter)(?:$|[\s_-])", re.IGNORECASE)
_WHERE: Final = re.compile(r"location|(?:^|[\s_-])(?:city|place|region|country)(?:$|[\s_-])", re.IGNORECASE)
_APPLY: Final = re.compile(
    r"(?:apply|enter|submit|jetzt bewerben|bewerben|postuler|candidater|participar|inscr\w+|partecipa)\b(?!.{40})",
    re.IGNORECASE,
)
_DESCRIPTION: Final = (
    "[itemprop=description], [class*=job_description i], [class*=description i],"
    " [class*=entry-content i], article, main"
)
_LABELS: Final = {
    "deadline": re.compile(
        r"(?:(?:submission|application|entry|final|call|registration)s? )?"
        r"(?:deadlines?|due(?: date)?|clos(?:es|ing|e)(?: date)?)"
        r"|apply by|submit by|entries (?:due|close)|end date|bewerbungs(?:schluss|frist)|einsendeschluss|date limite"
        r"|fecha límite|plazo|scadenza|sluitingsdatum|deadline (?:for|to) \w+"
    ),
    "location": re.compile(r"locations?|city|state|country|place|where|venue|ort|lieu|lugar|ubicación|luogo|sede"),
    "organisation": re.compile(
        r"organi[sz]ation(?:[/ ]company)?|company|host|sponsor|institution|organi[sz]er|gallery"
        rf"|veranstalter|organisateur|organiza|ente|{labels.ORGANISED_BY}"
    ),
    "eligibility": re.compile(r"eligib\w+(?: requirements| criteria)?|who (?:can|may) apply|open to|requirements?"),
}  # fmt: skip


# --- JSON -------------------------------------------------------------------------------------------------------

_NAMES: Final = {
    "title": "title name fairname callname eventname opportunitytitle",
    "url": "url fairurl link permalink detailurl href",
    "organisation": "organizationname organization organisation host company funder sponsor",
    "kind_of": "fairtype type category calltype opportunitytype",
    "opens": "opens opendate startdate applicationstartdate",
    "deadline": "fairdeadline deadline applicationdeadline submissiondeadline entrydeadline duedate"
    " closingdate closedate",
    "fee": "productcost entryfee fee applicationfee feeamount cost",
    "award": "award amount prize stipend budget",
    "eligibility": "faireligibility eligibility requirement requirements",
    "description": "fairdescription description fairshortdesc summary excerpt body content",
    "image": "imageurl image thumbnail",
    "apply_url": "applyurl applicationurl applylink",
}  # fmt: skip
_FIELDS: Final = {field: names.split() for field, names in _NAMES.items()}
_NO_DATE: Final = "0000-00-00"


def _of_json(data: Any, page: Page) -> list[Opportunity]:
    """Calls in data of whatever shape, by the names of its fields."""
    dates = PageDates(page)
    best: list[Opportunity] = []
    for values in walk(data) if isinstance(data, dict | list) else ():
        if isinstance(values, list):
            made = [_of_record(_tidied(one), page, dates) for one in values[:MOST] if isinstance(one, dict)]
            found = [one for one in made if one is not None]
            if len(found) > len(best):
                best = found
    return best


def _tidied(value: dict[str, Any]) -> dict[str, Any]:
    """Fields under names of letters and digits only; of two of one name, that which is a word and no number."""
    found: dict[str, Any] = {}
    for name, one in value.items():
        key = short(name)
        if one not in (None, "", _NO_DATE) and (key not in found or str(found[key]).isdigit()):
            found[key] = one
    return found


def _of_record(record: dict[str, Any], page: Page, dates: PageDates) -> Opportunity | None:
    given = {field: next((record[name] for name in names if name in record), None) for field, names in _FIELDS.items()}
    if not isinstance(given["title"], str) or not any("deadline" in name or "due" in name for name in record):
        return None
    about = plain.prose(given["description"])
    said = calls.call(about or "", dates)
    fee = clean.money(given["fee"])
    place = [record.get(name) for name in ("location", "faircity", "city", "fairstate", "state", "country")]
    where = dict.fromkeys(text for one in place if (text := plain.name(one)) and not text.isdigit())
    return Opportunity(
        url=clean.url(given["url"], page.base_url),
        title=clean.text(given["title"]),
        organisation=plain.name(given["organisation"]),
        location=", ".join(where) or None,
        kind_of=calls.kind_of((plain.name(given["kind_of"]), clean.text(given["title"]), about)),
        opens=dates.moment(given["opens"]) or said.opens,
        deadline=dates.moment(given["deadline"]) or said.deadline,
        fee=fee.amount if fee else said.fee,
        currency=(fee.currency if fee else None) or said.currency,
        award=_amount(given["award"]) or said.award,
        eligibility=plain.name(given["eligibility"]) or said.eligibility,
        description=about,
        apply_url=clean.url(given["apply_url"], page.base_url),
        image=clean.url(given["image"], page.base_url),
    )


def _amount(value: Any) -> str | None:
    found = clean.money(value) if not isinstance(value, dict | list) else None
    return found.amount if found else None
