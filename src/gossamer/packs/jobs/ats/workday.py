"""Workday: a list asked for by POST, twenty jobs at a time, and an answer for each job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, ClassVar, Final

from gossamer import ConfigError, Page, ReadError, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import at, first, length, merged, posting, remote, rows, texts, whole
from gossamer.packs.jobs.ats.base import JSON, SEARCHING, Board
from gossamer.packs.jobs.model import Job

__all__ = ["Workday"]

#: Jobs of one answer: it refuses to give more.
SIZE: Final = 20


class Workday(Board):
    """Boards of myworkdayjobs.com. `board` is host and site: "acme.wd5.myworkdayjobs.com/External"."""

    system = "Workday"
    takes = SEARCHING
    headers = JSON
    #: The company's name in the system, where that is not the first word of its host.
    tenant: ClassVar[str] = ""

    @cached_property
    def _site(self) -> tuple[str, str, str]:
        """Host, tenant and site."""
        host, _, site = self.board.partition("/")
        if "." in host and not host.endswith((".com", ".net")):
            host += ".myworkdayjobs.com"
        tenant = self.tenant or host.partition(".")[0]
        if "." not in host or not site or "/" in site or not site.replace("-", "").replace("_", "").isalnum():
            raise ConfigError(
                f"{type(self).__name__}.board = {self.board[:80]!r} cannot be used: write host and site, like "
                'board = "acme.wd5.myworkdayjobs.com/External"'
            )
        return host, tenant, site

    @property
    def _front(self) -> str:
        """Where the pages for people begin."""
        host, tenant, site = self._site
        return f"https://{host}/recruiting/{tenant}/{site}" if "myworkdaysite" in host else f"https://{host}/{site}"

    def listing(self) -> Iterable[Request]:
        """The first page."""
        yield self._page(0, None)

    def _page(self, offset: int, total: int | None) -> Request:
        host, tenant, site = self._site
        asked = {"appliedFacets": {}, "limit": SIZE, "offset": offset, "searchText": self.query}
        url = f"https://{host}/wday/cxs/{tenant}/{site}/jobs"
        return Request(url, json=asked, carry={"at": offset, "total": total})

    def following(self, page: Page, found: int) -> Request | None:
        """The next page. Only the first one tells how many jobs there are: later ones say none."""
        offset, total = whole(page.carry.get("at")) or 0, whole(page.carry.get("total"))
        if total is None:
            total = whole(at(page.json(), "total"))
        after = offset + SIZE
        return (
            self._page(after, total)
            if (after < total if total else length(page.json(), "jobPostings") >= SIZE)
            else None
        )

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs of an answer."""
        for row in rows(self.answer(page), "jobPostings"):
            path = row.get("externalPath")
            where = row.get("locationsText")
            yield from posting(
                page,
                url=f"{self._front}{path}" if isinstance(path, str) and path.startswith("/") else None,
                title=row.get("title"),
                job_id=_number(row, path),
                location=None if isinstance(where, str) and where.lower().endswith(" locations") else where,
                job_type=row.get("timeType"),
                posted_date=row.get("postedOn"),
                remote=remote(row.get("remoteType"), where),
            )

    def details(self, job: Job, page: Page) -> Request | None:
        """The answer for one job: at the API's address, with the path of the page for people."""
        host, tenant, site = self._site
        path = job.url.removeprefix(self._front)
        return Request(f"https://{host}/wday/cxs/{tenant}/{site}{path}") if path.startswith("/") else None

    def detailed(self, page: Page, job: Job) -> Job:
        """A job with what its own answer says."""
        answer = self.answer(page)
        said = at(answer, "jobPostingInfo")
        if not isinstance(said, dict):
            raise ReadError("the answer for a job has no jobPostingInfo: Workday has changed")
        more = posting(
            page,
            url=job.url,
            title=first(said.get("title"), job.title),
            job_id=said.get("jobReqId"),
            company=at(answer, "hiringOrganization", "name"),
            location=[said.get("location"), *texts(said.get("additionalLocations"))],
            country_code=_country(said),
            job_type=said.get("timeType"),
            posted_date=first(said.get("startDate"), said.get("postedOn")),
            closing_date=said.get("endDate"),
            remote=remote(said.get("remoteType"), said.get("location")),
            description=said.get("jobDescription"),
            status="closed" if said.get("posted") is False else "active",
        )
        return merged(job, next(more, None))

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """acme.wd5.myworkdayjobs.com/en-US/External, and wd5.myworkdaysite.com/recruiting/acme/External."""
        parts = address.without_language()
        if address.host.endswith(".myworkdayjobs.com"):
            site = address.part(3) if address.parts[:2] == ("wday", "cxs") else parts[0] if parts else None
            return {"board": f"{address.host}/{site}"} if site else None
        if address.host.endswith(".myworkdaysite.com"):
            parts = parts[1:] if parts[:1] == ("recruiting",) else parts
            return {"board": f"{address.host}/{parts[1]}", "tenant": parts[0]} if len(parts) > 1 else None
        return None


def _number(row: dict[str, Any], path: Any) -> str | None:
    """The requisition: the end of the path, which is sure, or a bullet that looks like it."""
    end = path.rpartition("_")[2] if isinstance(path, str) and "_" in path else None
    bullets = list(texts(row.get("bulletFields")))
    return next((one for one in bullets if end and end.startswith(one)), None) or end or next(iter(bullets), None)


def _country(said: dict[str, Any]) -> Any:
    return first(at(said, "jobRequisitionLocation", "country", "alpha2Code"), at(said, "country", "alpha2Code"))
