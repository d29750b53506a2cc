"""Eightfold: a search in pages of ten, and an answer for each job; older sites have another address for both."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

from gossamer import Blocked, Page, ReadError, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import at, first, length, merged, posting, remote, rows, text, whole
from gossamer.packs.jobs.ats.base import SEARCHING, Board, link
from gossamer.packs.jobs.closing import GONE
from gossamer.packs.jobs.model import Job
from gossamer.parse import clean

__all__ = ["Eightfold"]

#: Jobs of one answer: it gives no more.
SIZE: Final = 10
_NEW: Final = "/api/pcsx/"


class Eightfold(Board):
    """Careers sites by Eightfold. `board` is their host: "acme.eightfold.ai", or one of the company's own."""

    system = "Eightfold"
    takes = SEARCHING
    #: A site of the older sort answers with 403, and says that the newer one is not enabled.
    accept_status = (403, *GONE)
    #: The company's domain, which names it in the system; if left out, that of the board: "acme.com".
    domain: ClassVar[str] = ""

    @property
    def _domain(self) -> str:
        host = self.host("eightfold.ai")
        name = host.removesuffix(".eightfold.ai")
        return self.domain or (f"{name}.com" if name != host else ".".join(host.split(".")[-2:]))

    def listing(self) -> Iterable[Request]:
        """The first page."""
        yield self._page(0, new=True)

    def _page(self, start: int, *, new: bool) -> Request:
        host = f"https://{self.host('eightfold.ai')}"
        if new:
            url = link(f"{host}{_NEW}search", domain=self._domain, query=self.query, start=start, sort_by="timestamp")
        else:
            url = link(
                f"{host}/api/apply/v2/jobs",
                domain=self._domain,
                query=self.query,
                start=start,
                num=SIZE,
                sort_by="timestamp",
            )
        return Request(url, carry={"at": start})

    def parse(self, page: Page) -> Iterator[Any]:
        """A page of the list. Where the newer search is not enabled, the older one is asked."""
        if page.status != 403:
            yield from super().parse(page)
        elif _NEW in page.url and b"not enabled" in page.body[:10_000].lower():
            yield self._page(0, new=False).evolve(revisit=True)
        else:
            raise Blocked(f"Eightfold refuses us the jobs of {self.board}: ask more slowly")

    def following(self, page: Page, found: int) -> Request | None:
        """The next page."""
        answer = page.json()
        here = length(answer, "data", "positions") or length(answer, "positions")
        after = (whole(page.carry.get("at")) or 0) + here
        total = whole(first(at(answer, "data", "count"), at(answer, "count")))
        more = after < total if total is not None else here >= SIZE
        return self._page(after, new=_NEW in page.url) if more else None

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs of an answer of either search."""
        answer = self.answer(page)
        for row in rows(first(at(answer, "data"), answer), "positions"):
            yield from self._job(row, page)

    def _job(self, row: dict[str, Any], page: Page, url: str | None = None) -> Iterator[Job]:
        number = text(row.get("id"))
        host = f"https://{self.host('eightfold.ai')}"
        own = f"{host}/careers/job/{number}" if number and number.isalnum() else None
        given = clean.url(first(row.get("canonicalPositionUrl"), row.get("positionUrl")), f"{host}/")
        where = first(row.get("locations"), row.get("location"), row.get("standardizedLocations"))
        yield from posting(
            page,
            url=url or given or own,
            title=first(row.get("name"), row.get("posting_name")),
            job_id=number,
            location=where,
            department=first(row.get("department"), row.get("business_unit")),
            job_type=first(row.get("type"), row.get("employmentType")),
            posted_date=first(row.get("postedTs"), row.get("t_create"), row.get("creationTs")),
            remote=remote(row.get("workLocationOption"), row.get("work_location_option"), where),
            description=first(row.get("jobDescription"), row.get("job_description"), row.get("description")),
        )

    def details(self, job: Job, page: Page) -> Request | None:
        """The answer for one job, from the system that gave the list."""
        if job.description is not None or not job.job_id or not job.job_id.isalnum():
            return None
        host = f"https://{self.host('eightfold.ai')}"
        if _NEW in page.url:
            return Request(link(f"{host}{_NEW}position_details", position_id=job.job_id, domain=self._domain))
        return Request(link(f"{host}/api/apply/v2/jobs/{job.job_id}", domain=self._domain))

    def detailed(self, page: Page, job: Job) -> Job:
        """A job with what its own answer says."""
        if page.status == 403:
            raise Blocked(f"Eightfold refuses us a job of {self.board}: ask more slowly")
        answer = self.answer(page)
        said = first(at(answer, "data"), answer)
        if not isinstance(said, dict):
            raise ReadError("the answer for a job is no object: Eightfold has changed")
        row = {**said, "name": first(said.get("name"), job.title)}
        return merged(job, next(self._job(row, page, job.url), None))

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """acme.eightfold.ai/careers?domain=acme.com."""
        board = address.below("eightfold.ai")
        if not board or board in ("app", "static", "www", "static.vscdn"):
            return None
        domain = address.query.get("domain", "")
        return {"board": address.host, **({"domain": domain} if domain not in ("", f"{board}.com") else {})}

    @classmethod
    def marked(cls, page: Page) -> dict[str, Any] | None:
        """A careers site at the company's own host, which says under which domain it is known."""
        here = Address.of(page.url)
        head = page.text[:500_000]
        if here is None or not re.search(r"eightfold\.ai|vscdn\.net", head):
            return None
        named = re.search(r'"domain"\s{0,5}:\s{0,5}"([a-z0-9.-]{3,80})"', head)
        return {"board": here.host, "domain": named[1]} if named else None
