"""Pinpoint: one answer has all postings, with their descriptions and what they pay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gossamer import Page, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import at, first, posting, remote, rows, wage
from gossamer.packs.jobs.ats.base import JSON, Board
from gossamer.packs.jobs.model import Job
from gossamer.parse.pay import Pay

__all__ = ["Pinpoint"]


class Pinpoint(Board):
    """Boards of pinpointhq.com. `board` is the name before it, or the company's own host."""

    system = "Pinpoint"
    headers = JSON

    def listing(self) -> Iterable[Request]:
        """All jobs at once."""
        yield Request(f"https://{self.host('pinpointhq.com')}/postings.json")

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs of an answer."""
        for row in rows(self.answer(page), "data"):
            yield from posting(
                page,
                url=first(row.get("url"), row.get("path")),
                title=row.get("title"),
                job_id=first(at(row, "job", "requisition_id"), row.get("id")),
                location=row.get("location"),
                department=first(at(row, "job", "department"), row.get("department"), at(row, "job", "division")),
                job_type=first(row.get("employment_type_text"), row.get("employment_type")),
                closing_date=row.get("deadline_at"),
                remote=remote(row.get("workplace_type"), row.get("workplace_type_text")),
                pay=_pay(row),
                description=[row.get("description"), row.get("benefits")],
                responsibilities=row.get("key_responsibilities"),
                requirements=row.get("skills_knowledge_expertise"),
            )

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """acme.pinpointhq.com."""
        board = address.below("pinpointhq.com")
        return {"board": board} if board else None


def _pay(row: dict[str, Any]) -> Pay:
    """What a posting pays, if the company wants it to be seen."""
    if row.get("compensation_visible") is False:
        return Pay()
    return wage(
        row.get("compensation_minimum"),
        row.get("compensation_maximum"),
        row.get("compensation_currency"),
        row.get("compensation_frequency"),
        row.get("compensation"),
    )
