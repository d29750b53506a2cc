"""SAP SuccessFactors: careers sites with search pages, the same as a feed, and the feed of older sites."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final
from urllib.parse import quote

from gossamer import Page, ReadError, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import child, children, elements, first, host_of, place, posting, remote, whole
from gossamer.packs.jobs.ats.base import SEARCHING, Board, link
from gossamer.packs.jobs.model import Job
from gossamer.parse import clean

__all__ = ["SuccessFactors"]

#: What a job of a list stands in.
_LISTED: Final = "tr.data-row, li.job-tile"
#: Rows of one page.
_ROWS: Final = 1_000
_PATH: Final = re.compile(r"/job/(?:[^/?#]{1,300}/){1,3}(\d{4,15})(?:-[\w]{2,6})?/?(?:[?#]|$)|/job/(\d{4,15})/?$")
_OLD: Final = (
    ".successfactors.com",
    ".successfactors.eu",
    ".successfactors.cn",
    ".sapsf.com",
    ".sapsf.eu",
    ".sapsf.cn",
)
#: What every page of theirs loads, or is told by.
_MARKS: Final = re.compile(r"j2w|/platform/|searchresults|successfactors|sfcareer", re.IGNORECASE)
#: "Pilot (Oslo, NO)": feeds have the place in the title.
_IN_TITLE: Final = re.compile(r"\s*\([^()]{2,80}\)\s*$")


class SuccessFactors(Board):
    """Careers sites by SuccessFactors. `board` is their host: "jobs.acme.com"; of older sites host and company, as in
    their address: "career5.successfactors.eu/AcmeCo"."""

    system = "SuccessFactors"
    takes = SEARCHING
    #: A feed of a large company has all descriptions in one answer.
    max_body = "64MB"
    #: Read the feed of a site instead of its search pages: one request instead of hundreds.
    feed: ClassVar[bool] = False
    #: Where the search pages are, and where in the list one begins.
    search: ClassVar[str] = "/search/"

    @property
    def _company(self) -> str:
        """The company's name at an older site; empty for the others."""
        return quote(self.board.partition("/")[2], safe="")

    def listing(self) -> Iterable[Request]:
        """The feed, or the first of the search pages."""
        if self._company:
            asked = f"company={self._company}&career_ns=job_listing_summary&resultType=XML"
            yield Request(f"https://{self.host()}/career?{asked}")
        elif self.feed:
            yield Request(f"https://{self.host()}/sitemal.xml")
        else:
            yield self._page(0)

    def _page(self, row: int) -> Request:
        url = link(
            f"https://{self.host()}{self.search}",
            q=self.query,
            sortColumn="referencedate",
            sortDirection="desc",
            startrow=row,
        )
        return Request(url, carry={"at": row})

    def following(self, page: Page, found: int) -> Request | None:
        """The next of the search pages, until all rows have been seen."""
        if _is_feed(page):
            return None
        after = (whole(page.carry.get("at")) or 0) + (len(page.css(_LISTED)) or found)
        numbers = re.findall(r"\d[\d,.]{0,9}", page.css(".paginationLabel, .pagination-label-row").text or "")
        total = whole(numbers[-1].replace(",", "").replace(".", "")) if numbers else None
        return self._page(after) if total is None or after < total else None

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs of a search page, or of either feed."""
        if not _is_feed(page):
            yield from self._rows(page)
            return
        root = page.xml
        if "job" in str(root.tag).lower():
            yield from self._old_feed(root, page)
        elif "rss" in str(root.tag).lower():
            yield from _feed(root, page)
        else:
            raise ReadError(f"the feed begins with <{str(root.tag)[:40]}>: it is not one of SuccessFactors'")

    def _rows(self, page: Page) -> Iterator[Job]:
        rows = page.css(_LISTED)
        if not rows and not page.css("a[href*='/job/']") and not _MARKS.search(page.text[:500_000]):
            raise ReadError(
                "the page has no list of jobs: it is not one of SuccessFactors', or asks for another address"
            )
        for row in elements(page, _LISTED, _ROWS) or [page.css("body")]:
            for anchor in row.css("a.jobTitle-link, a.job-link, a[href*='/job/']")[: 5 if rows else _ROWS]:
                url = clean.url(anchor.attr("href"), page.base_url)
                number = _PATH.search(url) if url else None
                if url is None or number is None or host_of(url) != host_of(page.url):
                    continue
                own = row if len(rows) else anchor
                where = own.css(".jobLocation, [class*=section-field-location] [id*=value], [class*=location]").text
                yield from posting(
                    page,
                    url=url.partition("?")[0],
                    title=anchor.text,
                    job_id=number[1] or number[2],
                    location=where,
                    department=own.css(".jobDepartment, .jobFacility, [class*=department]").text,
                    posted_date=own.css(".jobDate, [class*=section-field-date] [id*=value]").text,
                    remote=remote(where),
                )

    def details(self, job: Job, page: Page) -> Request | None:
        """The job's page; the feeds have it all."""
        return None if _is_feed(page) else Request(job.url)

    def _old_feed(self, root: Any, page: Page) -> Iterator[Job]:
        for one in children(root, "Job"):
            number = child(one, "ReqId", "JobReqId", "Id")
            said = _facets(one)
            own = (
                f"https://{self.host()}/career?company={self._company}&career_ns=job_listing&career_job_req_id={number}"
            )
            where = first(child(one, "Location", "JobLocation"), said.get("posting location"), said.get("location"))
            yield from posting(
                page,
                url=own if number and number.isalnum() else None,
                title=child(one, "JobTitle", "Title"),
                job_id=number,
                location=where or place(said.get("city"), said.get("country")),
                department=first(child(one, "Department"), said.get("department"), _like(said, "function", "family")),
                job_type=first(said.get("type of employment"), _like(said, "employment", "contract")),
                posted_date=child(one, "Posted-Date", "PostedDate", "Date"),
                order="MDY",
                description=child(one, "Job-Description", "JobDescription", "Description"),
            )

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """career5.successfactors.eu/career?company=AcmeCo."""
        company = address.query.get("company")
        return {"board": f"{address.host}/{company}"} if address.host.endswith(_OLD) and company else None

    @classmethod
    def marked(cls, page: Page) -> dict[str, Any] | None:
        """A careers site at the company's own host, by its scripts."""
        here = Address.of(page.url)
        found = re.search(r"/platform/(?:js|css)/j2w/|/platform/csb", page.text[:500_000])
        return {"board": here.host} if here and found else None


def _is_feed(page: Page) -> bool:
    """Whether an answer is one of the feeds, whatever it says it is."""
    return bool(re.match(r"<\?xml|<rss\b|<Job-Listing\b", page.text[:200].lstrip("\ufeff \r\n\t"), re.IGNORECASE))


def _feed(root: Any, page: Page) -> Iterator[Job]:
    """The feed of a newer site: RSS, as Google's shops have it."""
    for item in children(root, "item"):
        where = child(item, "location")
        title = child(item, "title") or ""
        yield from posting(
            page,
            url=(child(item, "link") or "").partition("?")[0] or None,
            title=_IN_TITLE.sub("", title) or title,
            job_id=child(item, "id", "guid"),
            company=child(item, "employer"),
            location=where,
            department=child(item, "job_function"),
            job_type=child(item, "job_type"),
            posted_date=child(item, "pubDate", "publish_date"),
            closing_date=child(item, "expiration_date"),
            remote=remote(where),
            description=child(item, "description"),
        )


def _facets(job: Any) -> dict[str, str]:
    """The fields that a company has of its own, by their labels in small letters: their numbers mean nothing."""
    found = {}
    for one in list(job)[:100]:
        name, value = child(one, "label"), child(one, "value")
        if name and value:
            found[name.strip().lower()] = value
    return found


def _like(said: dict[str, str], *words: str) -> str | None:
    return next((value for name, value in said.items() if any(word in name for word in words)), None)
