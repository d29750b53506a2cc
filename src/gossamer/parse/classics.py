"""Classic microformats: what their classes and links are called in microformats2 (microformats.org, compatibility)."""

from __future__ import annotations

from typing import Final

__all__ = ["LINKS", "PROPERTIES", "ROOTS"]

#: Class of a root -> the type it is.
ROOTS: Final = {
    "adr": "h-adr",
    "geo": "h-geo",
    "hentry": "h-entry",
    "hfeed": "h-feed",
    "hproduct": "h-product",
    "hrecipe": "h-recipe",
    "hresume": "h-resume",
    "hreview": "h-review",
    "hreview-aggregate": "h-review-aggregate",
    "vcard": "h-card",
    "vevent": "h-event",
}


def _same(prefix: str, *names: str) -> dict[str, str]:
    return {name: prefix + name for name in names}


_ADDRESS = _same(
    "p-", "street-address", "extended-address", "post-office-box", "locality", "region", "postal-code", "country-name"
)
_PLACE = _same("p-", "latitude", "longitude")
_REVIEW = {
    **_same("p-", "rating", "best", "worst", "description"),
    "summary": "p-name",
    "dtreviewed": "dt-reviewed",
    "reviewer": "p-author h-card",
    "item": "p-item h-item",
}

#: Type of a root -> class of a property -> what it is, and what type its value has.
PROPERTIES: Final[dict[str, dict[str, str]]] = {
    "h-adr": _ADDRESS,
    "h-geo": _PLACE,
    "h-entry": {
        "entry-title": "p-name",
        "entry-summary": "p-summary",
        "entry-content": "e-content",
        "published": "dt-published",
        "updated": "dt-updated",
        "author": "p-author h-card",
        "category": "p-category",
        "geo": "p-geo h-geo",
    },
    "h-feed": {"site-title": "p-name", "site-description": "p-summary", "category": "p-category"},
    "h-product": {
        **_same("p-", "brand", "category", "description", "price"),
        **_same("u-", "identifier", "photo", "url"),
        "fn": "p-name",
        "review": "p-review h-review",
    },
    "h-recipe": {
        **_same("p-", "category", "ingredient", "nutrition", "summary", "yield"),
        "fn": "p-name",
        "author": "p-author h-card",
        "photo": "u-photo",
        "duration": "dt-duration",
        "published": "dt-published",
        "instructions": "e-instructions",
    },
    "h-resume": {
        **_same("p-", "skill", "summary"),
        "contact": "p-contact h-card",
        "affiliation": "p-affiliation h-card",
        "education": "p-education h-event",
        "experience": "p-experience h-event",
    },
    "h-review": {
        **_REVIEW,
        "fn": "p-item h-item",
    },
    "h-review-aggregate": {
        **_REVIEW,
        **_same("p-", "average", "count", "votes"),
        **_same("u-", "photo", "url"),
        "fn": "p-item h-item",
    },
    "h-card": {
        **_ADDRESS,
        **_PLACE,
        **_same("p-", "additional-name", "category", "family-name", "given-name", "honorific-prefix"),
        **_same("p-", "honorific-suffix", "label", "nickname", "note", "org", "organization-name"),
        **_same("p-", "organization-unit", "role", "tel"),
        **_same("u-", "email", "key", "logo", "photo", "uid", "url"),
        "adr": "p-adr h-adr",
        "bday": "dt-bday",
        "fn": "p-name",
        "geo": "p-geo h-geo",
        "title": "p-job-title",
    },
    "h-event": {
        **_same("p-", "attendee", "category", "contact", "description", "location", "organizer"),
        "dtend": "dt-end",
        "dtstart": "dt-start",
        "duration": "dt-duration",
        "geo": "p-location h-geo",
        "summary": "p-name",
        "url": "u-url",
    },
}

#: Type of a root -> what a link says in `rel` -> the property that its URL is.
LINKS: Final[dict[str, dict[str, str]]] = {
    "h-entry": {"bookmark": "u-url", "tag": "p-category"},
    "h-feed": {"tag": "p-category"},
    "h-recipe": {"tag": "p-category"},
    "h-review": {"bookmark": "u-url", "tag": "p-category"},
}
