"""PeopleClick: pages of results of careers.peopleclick.com and its kin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, ClassVar, Final

from gossamer import Page, ReadError, Request, Selection
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import elements, host_of, posting
from gossamer.packs.jobs.ats.base import Board
from gossamer.packs.jobs.model import Job
from gossamer.parse import clean

__all__ = ["PeopleClick"]

#: Links of one page that are looked at, and cells of one row.
_LINKS: Final = 2_000
_CELLS: Final = 30
_NUMBER: Final = re.compile(r"[?&;](?:jobPostId|jobId)=(\d{1,15})", re.IGNORECASE)
#: What a page says whose list is empty.
_EMPTY: Final = re.compile(r"peopleclick|careerscp|\bno (?:jobs|results|openings|positions|vacancies)\b", re.IGNORECASE)
_LANGUAGE: Final = re.compile(r"[?&;]localeCode=([\w-]{2,10})", re.IGNORECASE)


class PeopleClick(Board):
    """Sites of peopleclick.com. `board` is the client in the address: "client_acme"."""

    system = "PeopleClick"
    #: "careers.peopleclick.com", or "careers.peopleclick.eu.com" for Europe.
    at_host: ClassVar[str] = "careers.peopleclick.com"

    def listing(self) -> Iterable[Request]:
        """The page of results."""
        yield Request(f"https://{self.at_host}/careerscp/{self.slug}/external/results/searchResult.html")

    def following(self, page: Page, found: int) -> Request | None:
        """The next page of results, where there is a link to it."""
        for anchor in page.css("a[rel=next], a.next, li.next a, a[class*=next], a[title*=Next]")[:5]:
            url = clean.url(anchor.attr("href"), page.base_url)
            if url and url != page.url and host_of(url) == host_of(page.url):
                return Request(url)
        return None

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs that a page of results links to."""
        if not page.css("a[href*='obId='], a[href*='obPostId=']") and not _EMPTY.search(page.text[:500_000]):
            raise ReadError("the page has no list of jobs: it is not one of PeopleClick's, or it has changed")
        heads = [text.lower() for text in page.css("th")[:_CELLS].texts()]
        seen: set[str] = set()
        linked = "a[href*='obId='], a[href*='obPostId=']"
        rows = ((row, anchor) for row in elements(page, "tr", _LINKS) for anchor in row.css(linked)[:3])
        # What stands in no row says only what the link says.
        alone = ((anchor, anchor) for anchor in page.css(linked)[:_LINKS])
        for row, anchor in chain(rows, alone):
            number = _NUMBER.search(anchor.attr("href") or "")
            if number is None or number[1] in seen:
                continue
            seen.add(number[1])
            yield from self._job(anchor, row, heads, number[1], page)

    def _job(self, anchor: Selection, row: Selection, heads: list[str], number: str, page: Page) -> Iterator[Job]:
        cells = row.css("td")
        said = dict(zip(heads, cells.texts(), strict=True)) if len(cells) == len(heads) else {}
        url = clean.url(anchor.attr("href"), page.base_url) or ""
        tongue = _LANGUAGE.search(url)
        # Its links carry the session and the search they were found by: the number alone tells one job from another.
        base = f"{url.partition('?')[0].partition(';')[0]}?jobPostId={number}"
        yield from posting(
            page,
            url=base + (f"&localeCode={tongue[1]}" if tongue else "") if host_of(url) == host_of(page.url) else None,
            title=anchor.text or anchor.attr("title"),
            job_id=number,
            location=_like(said, "location", "city") or row.css("[class*=location]").text,
            department=_like(said, "department", "category", "function"),
            job_type=_like(said, "type"),
            posted_date=_like(said, "posted", "date") or row.css("[class*=date]").text,
            closing_date=_like(said, "closing", "deadline", "expir"),
        )

    def details(self, job: Job, page: Page) -> Request | None:
        """The job's page."""
        return Request(job.url)

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """careers.peopleclick.com/careerscp/client_acme/external/search.do."""
        if not re.search(r"(?:^|\.)peopleclick\.(?:com|eu\.com)$", address.host) or not (board := address.part(1)):
            return None
        own = {} if address.host == "careers.peopleclick.com" else {"at_host": address.host}
        return {"board": board, **own}


def _like(said: dict[str, str], *words: str) -> str | None:
    return next((value for name, value in said.items() if value and any(word in name for word in words)), None)
