"""Recruitee: one answer has all offers, with their descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gossamer import Page, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import at, first, place, posting, remote, rows, wage
from gossamer.packs.jobs.ats.base import Board
from gossamer.packs.jobs.model import Job

__all__ = ["Recruitee"]


class Recruitee(Board):
    """Boards of recruitee.com. `board` is the name before it, or the company's own host: "jobs.acme.com"."""

    system = "Recruitee"

    def listing(self) -> Iterable[Request]:
        """All jobs at once."""
        yield Request(f"https://{self.host('recruitee.com')}/api/offers/")

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs of an answer."""
        for row in rows(self.answer(page), "offers"):
            said = row.get("salary")
            where = first(row.get("location"), place(row.get("city"), row.get("country")))
            state = row.get("status")
            yield from posting(
                page,
                url=row.get("careers_url"),
                title=row.get("title"),
                job_id=row.get("id"),
                company=row.get("company_name"),
                location=where,
                country_code=row.get("country_code"),
                department=row.get("department"),
                job_type=row.get("employment_type_code"),
                posted_date=first(row.get("published_at"), row.get("created_at")),
                closing_date=row.get("close_at"),
                remote=True if row.get("remote") is True else remote(where),
                pay=wage(at(said, "min"), at(said, "max"), at(said, "currency"), at(said, "period")),
                description=row.get("description"),
                requirements=row.get("requirements"),
                apply_url=row.get("careers_apply_url"),
                status="closed" if state in ("closed", "archived") else "active",
            )

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """acme.recruitee.com."""
        board = address.below("recruitee.com")
        return {"board": board} if board and board not in ("api", "app", "docs") else None

    @classmethod
    def marked(cls, page: Page) -> dict[str, Any] | None:
        """A careers site at the company's own host."""
        here = Address.of(page.url)
        return {"board": here.host} if here and "recruiteecdn.com" in page.text[:500_000] else None
