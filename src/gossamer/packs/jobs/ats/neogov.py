"""NEOGOV: agencies of governmentjobs.com have an RSS feed of their openings, with descriptions and pay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

from gossamer import Page, ReadError, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import child, children, first, posting, remote, wage
from gossamer.packs.jobs.ats.base import Board
from gossamer.packs.jobs.model import Job

__all__ = ["NEOGOV"]

_SITES: Final = ("governmentjobs.com", "schooljobs.com")


class NEOGOV(Board):
    """Agencies of www.governmentjobs.com/careers. `board` is the name in the address."""

    system = "NEOGOV"
    country_code = "US"
    #: "www.governmentjobs.com", or "www.schooljobs.com" for schools.
    at_host: ClassVar[str] = "www.governmentjobs.com"

    def listing(self) -> Iterable[Request]:
        """The feed."""
        yield Request(f"https://{self.at_host}/SearchEngine/JobsFeed?agency={self.slug}")

    def jobs(self, page: Page) -> Iterator[Job]:
        """The openings of the feed."""
        root = page.xml
        channel = next(iter(children(root, "channel")), None)
        if channel is None:
            raise ReadError("the feed has no channel: it is not one of NEOGOV's")
        agency = child(channel, "title")
        for item in children(channel, "item"):
            where = child(item, "location")
            yield from posting(
                page,
                url=child(item, "link", "guid"),
                title=child(item, "title"),
                job_id=child(item, "jobId", "jobNumber"),
                company=agency,
                location=where,
                department=first(child(item, "department"), child(item, "categories")),
                job_type=child(item, "jobType"),
                posted_date=first(child(item, "advertiseFromDateUTC"), child(item, "pubDate")),
                closing_date=child(item, "advertiseToDateTimeUTC"),
                remote=remote(where),
                pay=wage(
                    child(item, "minimumSalary"),
                    child(item, "maximumSalary"),
                    child(item, "salaryCurrency"),
                    child(item, "salaryInterval"),
                ),
                description=[child(item, "description"), child(item, "supplementalinformation")],
                responsibilities=child(item, "examplesofduties"),
                qualifications=child(item, "qualifications"),
            )

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """www.governmentjobs.com/careers/acme."""
        if not address.host.endswith(_SITES):
            return None
        board = address.query.get("agency") or (address.part(1) if address.part(0) == "careers" else None)
        more = {} if address.host.endswith(_SITES[0]) else {"at_host": "www.schooljobs.com"}
        return {"board": board, **more} if board else None
