"""Ashby: one answer of the posting API has all jobs, with their descriptions and what they pay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gossamer import Page, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import at, first, posting, remote, rows, text, wage
from gossamer.packs.jobs.ats.base import Board
from gossamer.packs.jobs.model import Job
from gossamer.parse.pay import Pay

__all__ = ["Ashby"]


class Ashby(Board):
    """Boards of jobs.ashbyhq.com. `board` is the name in the address, capitals as they are."""

    system = "Ashby"

    def listing(self) -> Iterable[Request]:
        """All jobs at once."""
        yield Request(f"https://api.ashbyhq.com/posting-api/job-board/{self.slug}?includeCompensation=true")

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs of an answer that the company shows."""
        for row in rows(self.answer(page), "jobs"):
            if row.get("isListed") is False:
                continue
            others = row.get("secondaryLocations")
            places = [at(one, "location") for one in others[:20]] if isinstance(others, list) else []
            yield from posting(
                page,
                url=row.get("jobUrl"),
                title=row.get("title"),
                job_id=row.get("id"),
                location=[row.get("location"), *places],
                country_code=at(row, "address", "postalAddress", "addressCountry"),
                department=first(row.get("department"), row.get("team")),
                job_type=row.get("employmentType"),
                posted_date=row.get("publishedAt"),
                remote=remote(row.get("isRemote"), row.get("workplaceType"), row.get("location")),
                pay=_pay(row.get("compensation")),
                description=first(row.get("descriptionHtml"), row.get("descriptionPlain")),
                apply_url=row.get("applyUrl"),
            )

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """jobs.ashbyhq.com/acme."""
        if not address.host.endswith("ashbyhq.com"):
            return None
        board = address.part(2) if address.host.startswith("api.") else address.part(0)
        return {"board": board} if board else None


def _pay(said: Any) -> Pay:
    """The salary among the parts of what a job pays; shares and bonuses are not counted."""
    parts = at(said, "summaryComponents")
    for one in parts[:20] if isinstance(parts, list) else []:
        if "salary" in (text(at(one, "compensationType")) or "").lower():
            found = wage(at(one, "minValue"), at(one, "maxValue"), at(one, "currencyCode"), at(one, "interval"))
            if found.least:
                return found
    summary = first(at(said, "scrapeableCompensationSalarySummary"), at(said, "compensationTierSummary"))
    return wage(said=summary)
