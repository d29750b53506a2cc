"""Events: concerts, exhibitions, lectures, matches; from schema.org, microformats, OpenGraph or the page itself.

Open calls, grants and residencies are in `parse.opportunity`, and can be had from here too.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from gossamer.parse import cards, clean, labels, opengraph, plain, structured
from gossamer.parse.cards import Card
from gossamer.parse.opportunity import Opportunity
from gossamer.parse.opportunity import read as read_opportunities
from gossamer.parse.page import Page
from gossamer.parse.pagedates import PageDates

__all__ = ["Event", "Opportunity", "read", "read_opportunities"]

#: Events of one page.
MOST: Final = 2000


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One event."""

    #: Where it can be read.
    url: str | None = None
    title: str | None = None
    #: Who organises it.
    organisation: str | None = None
    #: The venue and its address, in one line.
    location: str | None = None
    #: ISO 8601, as exact as the page says.
    starts: str | None = None
    ends: str | None = None
    #: As plain text, a line for each paragraph.
    description: str | None = None
    #: The lowest price: a decimal as text, "0" if it is free.
    price: str | None = None
    #: ISO 4217.
    currency: str | None = None
    #: "scheduled", "cancelled", "postponed", "rescheduled", "moved online" or "sold out".
    status: str | None = None
    image: str | None = None
    #: Whether one can take part from anywhere; None if it does not say.
    online: bool | None = None


def read(page: Page) -> list[Event]:
    """The events of a page: of one that is about an event, or of a calendar."""
    if page.kind != "html" and not page.is_html:
        return []
    reading = _Reading(page)
    found = reading.declared() or reading.marked() or reading.shared() or reading.listed() or reading.seen()
    return list({(one.title, one.starts, one.location): one for one in found}.values())[:MOST]


class _Reading:
    """One page being read."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.dates = PageDates(page)
        self.likely = bool(_EVENT_URL.search(page.url))

    # -- schema.org ----------------------------------------------------------------------------------------------

    def declared(self) -> list[Event]:
        """What the page says in JSON-LD, microdata or RDFa."""
        things = structured.of_type(self.page, "Event")[:MOST]
        made = [self._of_thing(thing, alone=len(things) == 1) for thing in things]
        return [one for one in made if one.title and (one.starts or one.location or one.url)]

    def _of_thing(self, thing: dict[str, Any], *, alone: bool) -> Event:
        base = self.page.base_url
        plan = next((one for one in plain.each(thing.get("eventSchedule")) if isinstance(one, dict)), {})
        price, currency, sold = _offer(thing)
        places = list(plain.each(thing.get("location")))
        virtual = [one for one in places if isinstance(one, dict) and "VirtualLocation" in str(one.get("@type"))]
        real = [one for one in places if one not in virtual]
        return Event(
            url=plain.link(thing.get("url"), base) or (self.page.url if alone else None),
            title=plain.name(thing.get("name")) or plain.name(thing.get("headline")),
            organisation=plain.name(thing.get("organizer")),
            location=next(filter(None, (plain.place(one, venue=True) for one in real)), None),
            starts=self._moment(thing.get("startDate")) or self._moment(plan.get("startDate")),
            ends=self._moment(thing.get("endDate")) or self._moment(plan.get("endDate")),
            description=plain.prose(thing.get("description")),
            price=price,
            currency=currency,
            status=_status(thing.get("eventStatus")) or ("sold out" if sold else None),
            image=plain.link(thing.get("image"), base),
            online=_online(thing.get("eventAttendanceMode"), bool(virtual), bool(real)),
        )

    def _moment(self, value: Any) -> str | None:
        return self.dates.moment(next(plain.each(value), None))

    # -- microformats and OpenGraph ------------------------------------------------------------------------------

    def marked(self) -> list[Event]:
        """What the page says in microformats."""
        body = self.page.body.lower()
        if b"h-event" not in body and b"vevent" not in body:
            return []
        found: list[Event] = []
        waiting = list(structured.structured(self.page).microformats)
        while waiting and len(found) < MOST:
            item = waiting.pop()
            if isinstance(item, dict):
                if "h-event" in (item.get("type") or ()):
                    found.append(self._of_item(item.get("properties") or {}))
                waiting += item.get("children") or []
        return [one for one in found if one.title and one.starts]

    def _of_item(self, said: dict[str, Any]) -> Event:
        place = next(plain.each(said.get("location")), None)
        if isinstance(place, dict):
            place = place.get("value")
        about = next(plain.each(said.get("content") or said.get("description") or said.get("summary")), None)
        return Event(
            url=plain.link(said.get("url"), self.page.base_url),
            title=clean.text(next(plain.each(said.get("name") or said.get("summary")), None)),
            organisation=_value(said.get("organizer")),
            location=clean.text(place),
            starts=self._moment(said.get("start")),
            ends=self._moment(said.get("end")),
            description=plain.prose(about.get("html") if isinstance(about, dict) else about),
            image=plain.link(_value(said.get("photo")), self.page.base_url),
        )

    def shared(self) -> list[Event]:
        """What the page says for those who share it."""
        og = opengraph.read(self.page.tree)
        starts = self._moment(og.get("event:start_time") or og.get("event:start_date"))
        if starts is None:
            return []
        made = Event(
            url=plain.link(og.get("og:url"), self.page.base_url) or self.page.url,
            title=plain.name(og.get("og:title")) or self.page.title,
            location=plain.name(og.get("event:location")),
            starts=starts,
            ends=self._moment(og.get("event:end_time") or og.get("event:end_date")),
            description=plain.name(og.get("og:description")),
            image=plain.link(og.get("og:image"), self.page.base_url),
        )
        return [made] if made.title else []

    # -- what a reader sees --------------------------------------------------------------------------------------

    def listed(self) -> list[Event]:
        """The cards of a calendar."""
        if not self.likely and not cards.leads(self.page, _EVENT_URL):
            return []
        return cards.best(self.page, self._of_card)

    def _of_card(self, card: Card) -> tuple[Event, int] | None:
        if not card.title or not card.url or len(card.title) > 220:
            return None
        if not (self.likely or _EVENT_URL.search(card.url)):
            return None
        starts, ends = self._when(card)
        if starts is None:
            return None
        where = card.hinted(_WHERE, 200) or next(labels.values(card.labels, _LABELS["location"]), None)
        price = next((line for line in card.lines if len(line) < 60 and _PRICED.search(line)), None)
        money = clean.money(price) if price else None
        made = Event(
            url=card.url,
            title=card.title,
            organisation=next(labels.values(card.labels, _LABELS["organisation"]), None),
            location=where,
            starts=starts,
            ends=ends,
            description=next((line for line in card.lines if len(line) > 80), None),
            price=money.amount if money else None,
            currency=money.currency if money else None,
            status=_status(next((line for line in card.lines if len(line) < 30 and _status(line)), None)),
        )
        return made, 1 + bool(where) + bool(ends)

    def _when(self, card: Card) -> tuple[str | None, str | None]:
        stamps = [node.attributes.get("datetime") for node in card.node.css("time[datetime]")[:2]]
        found = [when for stamp in stamps if (when := self.dates.moment(stamp))]
        if found:
            return found[0], found[1] if len(found) > 1 and found[1] != found[0] else None
        texts = (card.hinted(_WHEN), *labels.values(card.labels, _LABELS["when"]), " ".join(card.lines)[:500])
        return next(filter(lambda span: span[0], (self.dates.span(text) for text in texts if text)), (None, None))

    def seen(self) -> list[Event]:
        """What a reader sees of a page about one event."""
        body = self.page.tree.body
        node = self.page.tree.css_first("h1")
        title = " ".join(labels.lines(node)) if node is not None else ""
        if body is None or not title:
            return []
        pairs = labels.labelled(body)
        said = {name: next(labels.values(pairs, pattern), None) for name, pattern in _LABELS.items()}
        starts, ends = self.dates.span(said["when"] or "")
        if starts is None or not (said["location"] or (said["price"] and self.likely)):
            return []
        money = clean.money(said["price"]) if said["price"] else None
        og = opengraph.read(self.page.tree)
        made = Event(
            url=self.page.url,
            title=title,
            organisation=said["organisation"],
            location=said["location"],
            starts=starts,
            ends=ends,
            description=plain.prose(og.get("og:description")),
            price=money.amount if money else None,
            currency=money.currency if money else None,
            image=plain.link(og.get("og:image"), self.page.base_url),
        )
        return [made]


def _offer(thing: dict[str, Any]) -> tuple[str | None, str | None, bool]:
    """The lowest price, its currency, and whether all is sold."""
    found: list[tuple[float, str, str | None]] = []
    offers = [one for one in plain.each(thing.get("offers")) if isinstance(one, dict)]
    for offer in offers:
        said = next(plain.each(offer.get("lowPrice", offer.get("price"))), None)
        money = clean.money(said, clean.strip(next(plain.each(offer.get("priceCurrency")), None)))
        if money is not None:
            found.append((float(money.amount), money.amount, money.currency))
    sold = bool(offers) and all("soldout" in str(offer.get("availability")).lower() for offer in offers)
    if found:
        _, amount, currency = min(found, key=lambda one: one[0])
        return amount, currency, sold
    free = next(plain.each(thing.get("isAccessibleForFree")), None)
    return ("0" if clean.boolean(free) else None), None, sold


_STATES: Final = {
    "cancelled": "cancelled",
    "canceled": "cancelled",
    "abgesagt": "cancelled",
    "annulé": "cancelled",
    "postponed": "postponed",
    "rescheduled": "rescheduled",
    "movedonline": "moved online",
    "soldout": "sold out",
    "ausverkauft": "sold out",
    "scheduled": "scheduled",
}


def _status(value: Any) -> str | None:
    text = re.sub(r"[\s_-]", "", str(next(plain.each(value), "") or "")).lower()
    return next((state for word, state in _STATES.items() if word in text), None)


def _online(mode: Any, virtual: bool, real: bool) -> bool | None:
    text = str(next(plain.each(mode), "") or "").lower()
    if "offline" in text:
        return False
    if "online" in text or "mixed" in text or virtual:
        return True
    return None


def _value(value: Any) -> str | None:
    first = next(plain.each(value), None)
    return clean.text(first.get("value") if isinstance(first, dict) else first)


_EVENT_URL: Final = re.compile(
    r"/(?:[\w-]*events?[\w-]*|calendar|concerts?|gigs?|shows?|exhibitions?|whats-?on|what-s-on|programme?|agenda|tickets?"
    r"|performances?|veranstaltung\w*|termine?|kalender|ausstellung\w*|spielplan|evenements?|manifestations?|expositions?"
    r"|eventos?|conciertos?|exposiciones?|eventi|mostre|evenementen|festivals?|conferences?|workshops?|lectures?)(?:[/?.]|$)",
    re.IGNORECASE,
)
_WHERE: Final = re.compile(r"venue|location|(?:^|[\s_-])(?:place|city|ort|lieu|where)(?:$|[\s_-])", re.IGNORECASE)
_WHEN: Final = re.compile(r"(?:^|[\s_-])(?:date|dates|when|time|datetime|datum)(?:$|[\s_-])", re.IGNORECASE)
_PRICED: Final = re.compile(r"[$€£]\s?\d|\d\s?[€£]|\bfree\b|\beintritt frei\b|\bgratuit\b", re.IGNORECASE)
_LABELS: Final = {
    "when": re.compile(
        r"when|(?:event |exhibition |show |start )?(?:dates?|time)(?: (?:and|&) time)?"
        r"|wann|datum|termin|beginn|quand|fecha|cuándo|data|quando|wanneer"
    ),
    "location": re.compile(
        r"where|venue|location|place|address|wo|ort|veranstaltungsort|lieu|où|lugar|dónde|luogo|dove|waar"
    ),
    "price": re.compile(
        r"(?:ticket |entry )?(?:price|cost|fee|admission|tickets?)s?|eintritt|preis|tarifs?|prix|precio|entrada|prezzo"
    ),
    "organisation": re.compile(
        rf"organi[sz](?:er|ation)|host|presenter|veranstalter|organisateur|organiza\w*|{labels.ORGANISED_BY}"
    ),
}  # fmt: skip
