"""Greenhouse: one answer of boards-api has all jobs, with their descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gossamer import Page, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import at, first, posting, remote, rows, text, wage
from gossamer.packs.jobs.ats.base import Board
from gossamer.packs.jobs.model import Job
from gossamer.parse.pay import Pay

__all__ = ["Greenhouse"]


class Greenhouse(Board):
    """Boards of boards.greenhouse.io and job-boards.greenhouse.io. `board` is the name in the address."""

    system = "Greenhouse"

    def listing(self) -> Iterable[Request]:
        """All jobs at once."""
        base = f"https://boards-api.greenhouse.io/v1/boards/{self.slug}/jobs"
        yield Request(f"{base}?content=true&pay_transparency=true")

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs of an answer."""
        for row in rows(self.answer(page), "jobs"):
            where = first(at(row, "location", "name"), row.get("offices"))
            said = _metadata(row)
            yield from posting(
                page,
                url=row.get("absolute_url"),
                title=row.get("title"),
                job_id=first(row.get("requisition_id"), row.get("id")),
                company=row.get("company_name"),
                location=where,
                department=row.get("departments"),
                posted_date=first(row.get("first_published"), row.get("updated_at")),
                closing_date=row.get("application_deadline"),
                job_type=said.get("employment type"),
                remote=remote(said.get("workplace type"), where),
                pay=_pay(row),
                description=row.get("content"),
            )

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """boards.greenhouse.io/acme, and the address of what a company's own site shows in a frame."""
        if not address.host.endswith("greenhouse.io"):
            return None
        board = address.query.get("for") if address.part(0) == "embed" else address.part(0)
        if address.host.startswith(("boards-api.", "api.")):
            board = address.part(2)
        return {"board": board} if board else None


def _metadata(row: dict[str, Any]) -> dict[str, str]:
    """What a company adds of its own, by its name in small letters."""
    said = row.get("metadata")
    found = {}
    for one in said[:100] if isinstance(said, list) else []:
        name, value = text(at(one, "name")), text(at(one, "value"))
        if name and value:
            found[name.lower()] = value
    return found


def _pay(row: dict[str, Any]) -> Pay:
    least, most = at(row, "pay_input_ranges", 0, "min_cents"), at(row, "pay_input_ranges", 0, "max_cents")
    if not isinstance(least, int) or not isinstance(most, int):
        return Pay()
    named = at(row, "pay_input_ranges", 0, "title")
    found = wage(least / 100, most / 100, at(row, "pay_input_ranges", 0, "currency_type"), named)
    # It does not say for how long; by the hour nobody gets thousands, and by the year nobody tens.
    return found if found.period or not found.most else found._replace(period="hour" if found.most < 500 else "year")
