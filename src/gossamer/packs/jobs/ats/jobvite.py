"""Jobvite: pages of fifty jobs in tables of many makes, which have but the addresses of the jobs in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from gossamer import Page, ReadError, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import elements, host_of, posting, prose
from gossamer.packs.jobs.ats.base import SEARCHING, Board, link
from gossamer.packs.jobs.model import Job
from gossamer.parse import clean

__all__ = ["Jobvite"]

#: Links of one page that are looked at.
_LINKS: Final = 3_000
_JOB: Final = re.compile(r"/job/([A-Za-z0-9]{4,20})(?:[/?#]|$)")
_WHERE: Final = ".jv-job-list-location, .jv-featured-job-location, [class*=job-list-location]"


class Jobvite(Board):
    """Boards of jobs.jobvite.com. `board` is the name in the address."""

    system = "Jobvite"
    takes = SEARCHING
    #: Who is no longer a customer sends us to a page of Jobvite's own.
    stays = True

    def listing(self) -> Iterable[Request]:
        """The first page of the search: `/jobs` leaves some out."""
        yield Request(link(f"https://jobs.jobvite.com/{self.slug}/search", q=self.query, p=0))

    def following(self, page: Page, found: int) -> Request | None:
        """The next page, by its link."""
        url = clean.url(page.css("a.jv-pagination-next").attr("href"), page.base_url)
        return Request(url) if url and host_of(url) == host_of(page.url) else None

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs that a page of the list links to."""
        if not page.css("a[href*='/job/'], [class*=jv-], [onclick*='/job/']"):
            raise ReadError("the page has nothing of a board by Jobvite: see whether the board is right")
        seen: set[str] = set()
        for row in elements(page, "tr, li, .tr, .jv-featured-job", _LINKS):
            yield from self._linked(row, page, seen)
        for anchor in page.css("a[href*='/job/']")[:_LINKS]:
            yield from self._linked(anchor, page, seen, alone=True)

    def _linked(self, row: Any, page: Page, seen: set[str], *, alone: bool = False) -> Iterator[Job]:
        """The job of a row, or of a link that stands alone."""
        anchors = [row] if alone else list(row.css("a[href*='/job/']")[:3])
        anchor = anchors[0] if len(anchors) == 1 else None
        href = anchor.attr("href") if anchor is not None else None if alone else _clicked(row)
        number = _JOB.search(href or "")
        url = clean.url(href, page.base_url)
        if number is None or url is None or number[1] in seen or host_of(url) != host_of(page.url):
            return
        seen.add(number[1])
        holder = anchor if anchor is not None else row
        named = row.css(".jv-job-list-name, .jv-featured-job-title").text or holder.css("h2, h3, h4").text
        yield from posting(
            page,
            url=url.partition("?")[0],
            title=named or holder.text,
            job_id=number[1],
            location=None if alone else row.css(_WHERE).text,
            department=None if alone else row.css(".jv-job-list-department, .jv-job-list-category").text,
            job_type=None if alone else row.css(".jv-job-list-type").text,
        )

    def details(self, job: Job, page: Page) -> Request | None:
        """The job's page."""
        return Request(job.url)

    def detailed(self, page: Page, job: Job) -> Job:
        """A job with what its page says; some have no structured data, and say it to readers only."""
        found = super().detailed(page, job)
        if found.description is None and found.status == "active":
            said = prose(page.css(".jv-job-detail-description").get())
            found = msgspec.structs.replace(found, description=said)
        return found

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """jobs.jobvite.com/acme, jobs.jobvite.com/careers/acme."""
        if address.host not in ("jobs.jobvite.com", "careers.jobvite.com"):
            return None
        parts = address.parts[1:] if address.parts[:1] == ("careers",) else address.parts
        return {"board": parts[0]} if parts and parts[0] != "api" else None

    @classmethod
    def marked(cls, page: Page) -> dict[str, Any] | None:
        """A company's own page that shows the board in a frame."""
        board = page.css("[data-careersite]").attr("data-careersite")
        return {"board": board} if board else None


def _clicked(row: Any) -> str | None:
    """Where a row leads that has a script instead of a link."""
    found = re.search(r"['\"]([^'\"]{1,300}/job/[A-Za-z0-9]{4,20})['\"]", row.attr("onclick") or "")
    return found[1] if found else None
