"""SmartRecruiters: the posting API gives jobs a hundred at a time, and an answer for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from gossamer import Page, ReadError, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import at, first, length, merged, place, posting, remote, rows, text, wage, whole
from gossamer.packs.jobs.ats.base import SEARCHING, Board, link
from gossamer.packs.jobs.model import Job

__all__ = ["SmartRecruiters"]

#: Jobs of one answer.
SIZE: Final = 100
_API: Final = "https://api.smartrecruiters.com/v1/companies"


class SmartRecruiters(Board):
    """Boards of careers.smartrecruiters.com and jobs.smartrecruiters.com. `board` is the name in the address."""

    system = "SmartRecruiters"
    takes = SEARCHING

    def listing(self) -> Iterable[Request]:
        """The first page."""
        yield self._page(0)

    def _page(self, offset: int) -> Request:
        url = link(f"{_API}/{self.slug}/postings", limit=SIZE, offset=offset, q=self.query)
        return Request(url, carry={"at": offset})

    def following(self, page: Page, found: int) -> Request | None:
        """The next page, until all that were found have been seen."""
        after = (whole(page.carry.get("at")) or 0) + SIZE
        total = whole(at(page.json(), "totalFound"))
        return (
            self._page(after)
            if (after < total if total is not None else length(page.json(), "content") >= SIZE)
            else None
        )

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs of an answer."""
        for row in rows(self.answer(page), "content"):
            number = text(row.get("id"))
            company = first(at(row, "company", "identifier"), self.board)
            yield from posting(
                page,
                url=f"https://jobs.smartrecruiters.com/{company}/{number}" if number else None,
                title=row.get("name"),
                job_id=number,
                company=at(row, "company", "name"),
                **_where(row),
                department=first(row.get("department"), row.get("function")),
                job_type=row.get("typeOfEmployment"),
                posted_date=row.get("releasedDate"),
            )

    def details(self, job: Job, page: Page) -> Request | None:
        """The answer for one job."""
        number = job.job_id or ""
        return Request(f"{_API}/{self.slug}/postings/{number}") if number.replace("-", "").isalnum() else None

    def detailed(self, page: Page, job: Job) -> Job:
        """A job with what its own answer says."""
        said = self.answer(page)
        parts = at(said, "jobAd", "sections")
        if not isinstance(parts, dict):
            raise ReadError("the answer for a job has no jobAd.sections: SmartRecruiters has changed")
        pay = at(said, "compensation")
        texts = {name: at(parts, name, "text") for name in parts}
        more = posting(
            page,
            url=job.url,
            title=first(at(said, "name"), job.title),
            **_where(said),
            job_type=at(said, "typeOfEmployment"),
            posted_date=at(said, "releasedDate"),
            pay=wage(at(pay, "min"), at(pay, "max"), at(pay, "currency"), at(pay, "period")),
            description=[
                texts.get("jobDescription"),
                texts.get("additionalInformation"),
                texts.get("companyDescription"),
            ],
            qualifications=texts.get("qualifications"),
            apply_url=at(said, "applyUrl"),
            status="closed" if at(said, "active") is False else "active",
        )
        return merged(job, next(more, None))

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """careers.smartrecruiters.com/Acme."""
        if not address.host.endswith("smartrecruiters.com"):
            return None
        board = address.part(2) if address.host.startswith("api.") else address.part(0)
        return {"board": board} if board else None


def _where(row: Any) -> dict[str, Any]:
    """Place, country and whether it matters."""
    said = at(row, "location")
    country = text(at(said, "country")) or ""
    named = country.upper() if len(country) == 2 else country
    line = first(at(said, "fullLocation"), place(at(said, "city"), at(said, "region"), named))
    # It says false both where a job is on site and where nobody said.
    anywhere = True if at(said, "remote") is True else False if at(said, "hybrid") is True else remote(line)
    return {"location": line, "country_code": named, "remote": anywhere}
