"""Lever: the postings API gives jobs in pages, with their descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

from gossamer import Page, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import at, first, length, posting, remote, rows, text, wage
from gossamer.packs.jobs.ats.base import Board
from gossamer.packs.jobs.model import Job

__all__ = ["Lever"]

#: Jobs of one answer.
SIZE: Final = 100
_DUTIES: Final = re.compile(
    r"responsib|what you.{0,5}ll do|what you will do|your role|duties|day to day", re.IGNORECASE
)
_NEEDS: Final = re.compile(
    r"require|qualif|look(?:ing)? for|you have|you bring|your profile|must have|skills", re.IGNORECASE
)


class Lever(Board):
    """Boards of jobs.lever.co. `board` is the name in the address; `eu = True` for those of jobs.eu.lever.co."""

    system = "Lever"
    #: Whether the board is one of those kept in Europe, which have a host of their own.
    eu: ClassVar[bool] = False

    def listing(self) -> Iterable[Request]:
        """The first page."""
        yield self._page(0)

    def _page(self, skip: int) -> Request:
        host = "api.eu.lever.co" if self.eu else "api.lever.co"
        return Request(f"https://{host}/v0/postings/{self.slug}?mode=json&limit={SIZE}&skip={skip}", carry={"at": skip})

    def following(self, page: Page, found: int) -> Request | None:
        """The next page, unless this one was not full."""
        skipped = page.carry.get("at")
        after = (skipped if isinstance(skipped, int) else 0) + SIZE
        return self._page(after) if length(page.json()) >= SIZE else None

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs of an answer."""
        for row in rows(self.answer(page)):
            said = row.get("categories") if isinstance(row.get("categories"), dict) else {}
            duties, needs, rest = _lists(row.get("lists"))
            pay = row.get("salaryRange")
            yield from posting(
                page,
                url=row.get("hostedUrl"),
                title=row.get("text"),
                job_id=row.get("id"),
                location=first(at(said, "allLocations"), at(said, "location")),
                country_code=row.get("country"),
                department=first(at(said, "department"), at(said, "team")),
                job_type=at(said, "commitment"),
                posted_date=row.get("createdAt"),
                remote=remote(row.get("workplaceType"), at(said, "location")),
                pay=wage(at(pay, "min"), at(pay, "max"), at(pay, "currency"), at(pay, "interval")),
                description=[first(row.get("description"), row.get("descriptionPlain")), *rest, row.get("additional")],
                responsibilities=duties,
                requirements=needs,
                apply_url=row.get("applyUrl"),
            )

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """jobs.lever.co/acme."""
        if not address.host.endswith("lever.co") or not (board := address.part(0)):
            return None
        if address.host.startswith("api."):
            board = address.part(2) or ""
        return {"board": board, **({"eu": True} if ".eu." in f".{address.host}" else {})} if board else None


def _lists(value: Any) -> tuple[list[str], list[str], list[str]]:
    """What is to be done, what is asked for, and the other lists: each with its heading."""
    sorted_ones: tuple[list[str], list[str], list[str]] = ([], [], [])
    for one in value[:50] if isinstance(value, list) else []:
        heading, content = text(at(one, "text")) or "", at(one, "content")
        if not isinstance(content, str):
            continue
        which = 0 if _DUTIES.search(heading) else 1 if _NEEDS.search(heading) else 2
        sorted_ones[which].append(f"<p>{heading}</p>{content}")
    return sorted_ones
