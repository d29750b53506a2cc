"""An opportunity for artists: one call, grant, residency, exhibition or post, whichever site it was found on."""

from __future__ import annotations

from datetime import date

import msgspec

__all__ = ["Opportunity"]


class Opportunity(msgspec.Struct, frozen=True, kw_only=True):
    """One opportunity. What the source does not say is None."""

    title: str
    #: Where it can be read, and what tells it from others of the same scraper.
    url: str
    #: As plain text, a line for each paragraph.
    description: str | None = None
    #: The last day to apply.
    deadline: date | None = None
    #: What the source wrote of the deadline.
    deadline_text: str | None = None
    #: The first day to apply.
    opens: date | None = None
    #: When the show, the festival or the residency takes place.
    event_start: date | None = None
    event_end: date | None = None
    #: Who calls.
    organization: str | None = None
    location: str | None = None
    #: A state, the district or a territory of the United States, by its full name.
    state: str | None = None
    #: What the source itself calls it: "Public Art", "Artist Calls".
    category: str | None = None
    tags: tuple[str, ...] = ()
    #: "social_media", "grant", "residency", "exhibition", "opportunity" or "general".
    type: str = "general"
    #: Which members may see it: "free", "supporter" or "premium".
    membership_level: str = "premium"
    #: Who may apply.
    eligibility: str | None = None
    #: Whether it costs something to apply.
    fee_to_apply: bool | None = None
    #: What it costs: a decimal as text, "0" if it is free.
    fee_amount: str | None = None
    #: ISO 4217.
    fee_currency: str | None = None
    #: What can be won or is paid, at most: a decimal as text.
    amount: str | None = None
    amount_currency: str | None = None
    image_url: str | None = None
    #: When it was posted: ISO 8601, as exact as the source says.
    posted_date: str | None = None
    #: The host it was found on, or the name of the platform.
    source: str
    #: The page it was found on.
    source_url: str
    #: The name of the scraper.
    engine: str
    #: Whether it is a post on a social platform, which anybody may have written.
    is_ad: bool = False
    #: The same for one call on several sites: made of title, deadline and organization. None if too little is known.
    fingerprint: str | None = None
