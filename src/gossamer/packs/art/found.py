"""What a source says of one call, in its own words; and how that becomes an Opportunity."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from gossamer import Page, urls
from gossamer.packs.art import classify, deadlines, fees, fingerprints
from gossamer.packs.art.model import Opportunity
from gossamer.parse import calls, clean

__all__ = ["Found", "opportunity"]

#: Letters that are kept of titles and names, of descriptions, and of what is handed on to the next page.
_NAME: Final = 300
_LONG: Final = 20_000
_CARRIED: Final = 4_000
_MOST_TAGS: Final = 30


class Found(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call as a page tells of it: texts, unread. Whatever is not there is None."""

    title: str | None = None
    url: str | None = None
    organization: str | None = None
    location: str | None = None
    #: A state by name, where the source has a field for it.
    state: str | None = None
    deadline: str | None = None
    opens: str | None = None
    #: When it takes place: a day, or from when to when.
    event: str | None = None
    fee: str | None = None
    award: str | None = None
    eligibility: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    description: str | None = None
    image: str | None = None
    posted: str | None = None

    def over(self, other: Found) -> Found:
        """This, with what only the other one says."""
        missing = {
            name: value
            for name in other.__struct_fields__
            if (value := getattr(other, name)) and not getattr(self, name)
        }
        return msgspec.structs.replace(self, **missing) if missing else self

    def carry(self) -> dict[str, Any]:
        """As a Request hands it on to the page of the call."""
        short = self if len(self.description or "") <= _CARRIED else msgspec.structs.replace(self, description=None)
        made: dict[str, Any] = msgspec.to_builtins(short)
        return made

    @classmethod
    def carried(cls, page: Page) -> Found:
        """What the page that led here said of it."""
        return msgspec.convert(page.carry, cls)


def opportunity(
    found: Found,
    page: Page,
    engine: str,
    *,
    state: str | None = None,
    source: str | None = None,
    free_unless_said: bool = False,
    kind: str | None = None,
    otherwise: str = "general",
    ad: bool = False,
) -> Opportunity | None:
    """An Opportunity of what was found on a page; None without a title and a URL.

    `state` is where the source is at home, and holds where the call names no place of its own; `source` its name, if
    that is not its host; `kind` its type, if the source alone says it, and `otherwise` its type where no word does.
    `free_unless_said`: the source has a field for fees, and an empty one means none.
    """
    title, url = _name(found.title), clean.url(found.url, page.base_url)
    if not title or not url:
        return None
    about = _prose(found.description)
    today, dates = deadlines.today_of(page), deadlines.dates_of(page)
    said = calls.call(about or "", dates)
    starts, ends = deadlines.span(found.event, today)
    deadline = deadlines.last(found.deadline, today, deadlines.span(found.event)[0])
    in_text = deadlines.find(about, dates, today, said) if deadline is None else None
    fee = fees.fee_of(found.fee) or (fees.Fee("0") if free_unless_said else fees.fee_in(about, dates, said))
    location = _name(found.location)
    where = classify.state_named(found.state) or classify.state_of(location) or (state if _may_be(location) else None)
    host = source or urls.hostname(page.url).removeprefix("www.")
    category, tags = _name(found.category), _tags(found.tags)
    kind = kind or classify.type_of(title, about, source=host, category=category, tags=tags)
    kind = otherwise if kind == "general" else kind
    who = _name(found.organization)
    due = deadline or (in_text.day if in_text else None)
    award = clean.money(found.award) if found.award else None
    opens = deadlines.day(found.opens, today) or deadlines.day(said.opens)
    return Opportunity(
        title=title,
        url=url,
        description=about,
        deadline=due,
        deadline_text=_name(found.deadline) or (in_text.text if in_text else None),
        # What begins after the deadline is what one applies for.
        opens=opens if opens is None or due is None or opens <= due else None,
        event_start=starts,
        event_end=ends,
        organization=who,
        location=location or state,
        state=where,
        category=category,
        tags=tags,
        type=kind,
        membership_level=classify.level_of(kind, where),
        eligibility=_name(found.eligibility) or said.eligibility,
        fee_to_apply=fee.due if fee else None,
        fee_amount=fee.amount if fee else None,
        fee_currency=fee.currency if fee else None,
        amount=award.amount if award else said.award,
        amount_currency=(award.currency if award else said.currency) if award or said.award else None,
        image_url=clean.url(found.image, page.base_url),
        posted_date=_name(found.posted),
        source=host,
        source_url=page.url,
        engine=engine,
        is_ad=ad,
        fingerprint=fingerprints.fingerprint(title, due, who),
    )


#: Places that are nowhere, or everywhere: a call of a state's council that says "Other" is of no state.
_NOWHERE: Final = frozenset(
    {"other", "international", "national", "virtual", "online", "remote", "worldwide", "anywhere", "various"}
    | {"united states", "usa", "us", "multiple locations", "see post for details"}
)


def _may_be(location: str | None) -> bool:
    """Whether a place may lie in the state of its source: it names no other, and is no word for everywhere."""
    return location is None or location.casefold() not in _NOWHERE


def _name(text: str | None) -> str | None:
    found = clean.strip(text[:_LONG]) if isinstance(text, str) else None
    return found[:_NAME] if found else None


def _prose(text: str | None) -> str | None:
    """A text with its lines, without what nobody sees."""
    lines = (clean.strip(line) for line in text[: 2 * _LONG].splitlines()) if isinstance(text, str) else ()
    return "\n".join(line for line in lines if line)[:_LONG] or None


def _tags(given: Iterable[str]) -> tuple[str, ...]:
    found = (clean.strip(tag) for tag in given)
    return tuple(dict.fromkeys(tag[:100] for tag in found if tag))[:_MOST_TAGS]
