"""iCIMS Career Sites (formerly Jibe): sites at companies' own hosts, with a JSON list in pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from gossamer import Page, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import at, first, length, place, posting, remote, rows, text, wage, whole
from gossamer.packs.jobs.ats.base import SEARCHING, Board, link
from gossamer.packs.jobs.model import Job

__all__ = ["Jibe"]

#: Jobs of one answer.
SIZE: Final = 100


class Jibe(Board):
    """Careers sites that are made of iCIMS's JSON. `board` is the site's host: "careers.acme.com"."""

    system = "iCIMS Career Sites"
    takes = SEARCHING

    def listing(self) -> Iterable[Request]:
        """The first page."""
        yield self._page(1)

    def _page(self, number: int) -> Request:
        url = link(f"https://{self.host()}/api/jobs", page=number, limit=SIZE, keywords=self.query)
        return Request(url, carry={"number": number})

    def following(self, page: Page, found: int) -> Request | None:
        """The next page, until the total is reached."""
        number = whole(page.carry.get("number")) or 1
        total = whole(at(page.json(), "totalCount"))
        return (
            self._page(number + 1)
            if (number * SIZE < total if total is not None else length(page.json(), "jobs") >= SIZE)
            else None
        )

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs of an answer."""
        for row in rows(self.answer(page), "jobs"):
            yield from job_of(at(row, "data"), page, self.host())

    @classmethod
    def marked(cls, page: Page) -> dict[str, Any] | None:
        """A page that loads its scripts."""
        here = Address.of(page.url)
        return {"board": here.host} if here and "jibecdn.com" in page.text[:500_000] else None


def job_of(row: Any, page: Page, host: str) -> Iterator[Job]:
    """The job in one row."""
    if not isinstance(row, dict):
        return
    slug = text(first(row.get("slug"), row.get("req_id")))
    where = first(row.get("full_location"), place(row.get("city"), row.get("state"), row.get("country")))
    known = slug is not None and slug.replace("-", "").replace("_", "").isalnum()
    yield from posting(
        page,
        url=f"https://{host}/jobs/{slug}" if known else None,
        title=row.get("title"),
        job_id=first(row.get("req_id"), slug),
        company=row.get("hiring_organization"),
        location=where,
        country_code=row.get("country_code"),
        department=first(row.get("department"), row.get("category"), row.get("categories")),
        job_type=row.get("employment_type"),
        posted_date=row.get("posted_date"),
        closing_date=row.get("posting_expiry_date"),
        remote=remote(row.get("location_type") if row.get("location_type") != "LAT_LNG" else None, where),
        pay=wage(row.get("salary_min_value"), row.get("salary_max_value"), row.get("salary_currency"), "year"),
        description=row.get("description"),
        responsibilities=row.get("responsibilities"),
        qualifications=row.get("qualifications"),
        apply_url=row.get("apply_url"),
    )
