"""Personio: every board has an XML feed of all positions, with their descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from gossamer import Page, ReadError, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import child, children, first, posting, remote
from gossamer.packs.jobs.ats.base import Board, link
from gossamer.packs.jobs.model import Job

__all__ = ["Personio"]


class Personio(Board):
    """Boards of jobs.personio.de. `board` is the name before it; for .com the whole host, "acme.jobs.personio.com"."""

    system = "Personio"
    stays = True
    #: The language of the descriptions, where a position has several.
    language: ClassVar[str] = "en"

    def listing(self) -> Iterable[Request]:
        """The feed."""
        yield Request(link(f"https://{self.host('jobs.personio.de')}/xml", language=self.language))

    def jobs(self, page: Page) -> Iterator[Job]:
        """The positions of the feed."""
        root = page.xml
        if "jobs" not in str(root.tag).lower():
            raise ReadError(f"the feed begins with <{str(root.tag)[:40]}>, not with <workzag-jobs>: it is another one")
        for one in children(root, "position"):
            number = child(one, "id")
            offices = [child(one, "office"), *(office.text for office in _additional(one))]
            parts = [
                f"<p>{child(part, 'name') or ''}</p>{child(part, 'value') or ''}"
                for part in children(one, "jobDescription")[:50]
            ]
            yield from posting(
                page,
                url=f"https://{self.host('jobs.personio.de')}/job/{number}" if number and number.isdigit() else None,
                title=child(one, "name"),
                job_id=number,
                company=child(one, "subcompany"),
                location=[office for office in offices if office],
                department=first(child(one, "department"), child(one, "recruitingCategory")),
                job_type=first(child(one, "schedule"), child(one, "employmentType")),
                contract_type=child(one, "employmentType"),
                posted_date=child(one, "createdAt"),
                remote=remote(child(one, "office")),
                description=parts,
            )

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """acme.jobs.personio.de."""
        if board := address.below("jobs.personio.de"):
            return {"board": board}
        return {"board": address.host} if address.below("jobs.personio.com") else None


def _additional(position: Any) -> list[Any]:
    """The offices besides the first."""
    holder = next(iter(children(position, "additionalOffices")), None)
    return children(holder, "office")[:20] if holder is not None else []
