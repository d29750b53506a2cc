"""LinkedIn's jobs, as it shows them to people who are not logged in: a fragment of a list, and one for each posting."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, Final
from urllib.parse import urlencode, urlsplit, urlunsplit

import msgspec

from gossamer import Blocked, ConfigError, Page, Request
from gossamer.packs.jobs.listing import Listing, Marks
from gossamer.packs.jobs.model import Job
from gossamer.packs.jobs.scraper import TAKES
from gossamer.parse import jobdata, labels

__all__ = ["LinkedIn"]

_HOST: Final = "https://www.linkedin.com"
_LIST: Final = f"{_HOST}/jobs-guest/jobs/api/seeMoreJobPostings/search"
_POSTING: Final = f"{_HOST}/jobs-guest/jobs/api/jobPosting/"
#: What is searched for, and where, unless somebody says otherwise.
TERMS: Final = ("flight dispatcher",)
COUNTRIES: Final = (
    "United States",
    "United Kingdom",
    "Canada",
    "Germany",
    "United Arab Emirates",
    "India",
    "Singapore",
)
_MOST_SEARCHES: Final = 100
_LONGEST: Final = 100
#: Where LinkedIn sends people who should log in.
_WALLS: Final = re.compile(r"/(?:authwall|uas/login|login|signup|checkpoint)\b")


class LinkedIn(Listing):
    """Searches of LinkedIn: every term in every country."""

    name = "jobs.linkedin"
    takes: ClassVar[Mapping[str, str]] = {
        **TAKES,
        "keywords": "what to search for, several with | between; flight dispatcher",
        "location": "where, several with | between; seven countries",
    }
    matches = r"^https?://(?:\w+\.)?linkedin\.com/jobs"
    postings = r"^/jobs/view/"
    number = r"(\d{6,})/?$"
    scope = "domain"
    rate = "12/min"
    most = 100
    cards = Marks(
        card="div.base-search-card, a.base-search-card, div.job-search-card",
        link="a.base-card__full-link, a[href*='/jobs/view/']",
        title=".base-search-card__title",
        company=".base-search-card__subtitle",
        location=".job-search-card__location",
    )
    shown = Marks(
        title=".top-card-layout__title, .topcard__title, h1",
        company=".topcard__org-name-link, .top-card-layout__second-subline a",
        location=".topcard__flavor--bullet",
        posted=".posted-time-ago__text",
        description=".show-more-less-html__markup, .description__text",
    )

    def start(self) -> Iterable[Request]:
        """The first fragment of every search."""
        for words, place in self.searches:
            yield self._search(words, place, 0)

    @cached_property
    def searches(self) -> list[tuple[str, str]]:
        """What is searched for, and where."""
        terms = _several(self.params.get("keywords"), TERMS, "keywords")
        places = _several(self.params.get("location"), COUNTRIES, "location")
        found = [(term, place) for term in terms for place in places]
        if len(found) > _MOST_SEARCHES:
            raise ConfigError(f"{len(found)} searches are too many: give at most {_MOST_SEARCHES} terms and places")
        return found

    @property
    def share(self) -> int:
        """Every search brings as many."""
        return -(-self.limit // len(self.searches))

    def _search(self, words: str, place: str, start: int) -> Request:
        query = urlencode({"keywords": words, "location": place, "start": start})
        return Request(f"{_LIST}?{query}", revisit=True, carry={"words": words, "place": place})

    def following(self, page: Page, number: int, seen: int) -> list[Request]:
        """The fragment from the next posting on."""
        return [self._search(str(page.carry.get("words", "")), str(page.carry.get("place", "")), seen)]

    def validate(self, page: Page) -> None:
        """A wall is a wall, also where it answers as if all were well."""
        if _WALLS.search(urlsplit(page.url).path):
            raise Blocked("LinkedIn wants a login: come back later, or more slowly")

    def check_empty(self, page: Page) -> None:
        """A search that finds nothing answers with nothing."""
        if len(page.body.strip()) > _LONGEST:
            super().check_empty(page)

    def address(self, url: str | None) -> str | None:
        """A posting's address without what follows its reader from the search."""
        found = super().address(url)
        return urlunsplit((*urlsplit(found)[:3], "", "")) if found else None

    def asked(self, listed: Job) -> Request:
        """A posting is shown to guests as a fragment, by its number."""
        if listed.job_id is None:
            return super().asked(listed)
        return Request(f"{_POSTING}{listed.job_id}", to="posting", carry={"job": msgspec.to_builtins(listed)})

    def read_posting(self, page: Page, listed: Job) -> Job:
        """With what stands under the headings below the description."""
        found = super().read_posting(page, listed)
        told = dict(_criteria(page))
        kind = jobdata.kind(told.get("employment type"))
        return msgspec.structs.replace(
            found, job_type=kind or found.job_type, department=found.department or told.get("job function")
        )


def _criteria(page: Page) -> Iterator[tuple[str, str]]:
    for node in page.tree.css(".description__job-criteria-item")[:20]:
        bits = labels.bits(node)
        if len(bits) >= 2:
            yield bits[0].lower(), bits[1][:200]


def _several(given: Any, otherwise: tuple[str, ...], name: str) -> tuple[str, ...]:
    if given is None:
        return otherwise
    found = tuple(dict.fromkeys(text for part in str(given).split("|") if (text := " ".join(part.split()))))
    if not found or any(len(text) > _LONGEST for text in found):
        raise ConfigError(
            f"{name}={str(given)[:80]!r} cannot be used: write words to search for, with | between several"
        )
    return found
