"""The arts councils of California and Arizona, which publish calls on boards of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gossamer import Page, Selection, urls
from gossamer.packs.art import labelled
from gossamer.packs.art.found import Found
from gossamer.packs.art.statewide import StateSource

__all__ = ["Arizona", "California"]

_SORT: Final = re.compile(
    r"\s[-–—]\s(?:temporary|part[- ]time|full[- ]time|freelance|internship|contract|volunteer|other)\s?,\s?(.{2,80})$",
    re.IGNORECASE,
)
_DEADLINE: Final = re.compile(r"\|?\s*deadline:?\s*(.*)$", re.IGNORECASE)


class California(StateSource):
    """The California Arts Council (arts.ca.gov): calls and grants, page by page; and those of Artwork Archive."""

    name = "art.california"
    state = "California"
    listing = "https://arts.ca.gov/opportunities/?fwp_job_category_tags=artist-calls%2Cgrants&fwp_paged={page}"
    entries = "li.job_listing"
    title = "h3"
    organization = "div.job_company"
    location = "div.location"
    shell = "ul.job_listings, .facetwp-template"
    part = "div.single_job_listing"
    every = "4h"
    first_delay = "2m"

    def card(self, entry: Selection, page: Page) -> Found | None:
        """ "Ojai | Deadline: 09/16/2026" is a place and a deadline; the sort of work and a category end the title."""
        href = entry.css("a").attr("href")
        place, _, rest = (entry.css(self.location).text or "").partition("|")
        deadline = _DEADLINE.search(rest or place)
        title = entry.css(self.title).text or ""
        sort = _SORT.search(title)
        return Found(
            title=title or None,
            url=urls.resolve(href, page.base_url) if href else None,
            organization=entry.css(self.organization).text or None,
            location=(place.strip() or None) if rest or not deadline else None,
            deadline=deadline[1].strip() or None if deadline else None,
            category=sort[1].strip() if sort else None,
        )

    def detail(self, page: Page) -> Found:
        """The text of the call. The old site wrote "Deadline: 01-03-2018" into it."""
        return labelled.read(page, "div.single_job_listing", "h1")


class Arizona(StateSource):
    """The Arizona Commission on the Arts (azarts.gov); and the calls of Artwork Archive."""

    name = "art.arizona"
    state = "Arizona"
    listing = "https://azarts.gov/opportunities/arts-opportunities/?sort_order=date+desc&sf_paged={page}"
    entries = "h3:has(a[href])"
    title = "a"
    nothing = r"no results found"
    every = "6h"
    first_delay = "4m"

    def cards(self, page: Page) -> Iterator[Found]:
        """Headings that lead to a call; on the page after the last they are those of other things."""
        return iter(()) if self.says_nothing(page) else super().cards(page)
