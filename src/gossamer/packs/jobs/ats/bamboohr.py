"""BambooHR: a list without descriptions, and an answer for each job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from gossamer import Page, ReadError, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import at, first, merged, place, posting, rows, text, wage
from gossamer.packs.jobs.ats.base import JSON, Board
from gossamer.packs.jobs.model import Job

__all__ = ["BambooHR"]

#: What the number of a kind of place means: on site, remote, both.
_ANYWHERE: Final = {"0": False, "1": True, "2": False}


class BambooHR(Board):
    """Boards of bamboohr.com. `board` is the name before it."""

    system = "BambooHR"
    stays = True
    headers = JSON

    def listing(self) -> Iterable[Request]:
        """All jobs at once."""
        yield Request(f"https://{self.host('bamboohr.com')}/careers/list")

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs of an answer."""
        for row in rows(self.answer(page), "result"):
            number = text(row.get("id"))
            yield from posting(
                page,
                url=f"https://{self.host('bamboohr.com')}/careers/{number}" if number and number.isdigit() else None,
                job_id=number,
                **_said(row),
            )

    def details(self, job: Job, page: Page) -> Request | None:
        """The answer for one job."""
        return Request(f"{job.url}/detail")

    def detailed(self, page: Page, job: Job) -> Job:
        """A job with what its own answer says."""
        said = at(self.answer(page), "result", "jobOpening")
        if not isinstance(said, dict):
            raise ReadError("the answer for a job has no result.jobOpening: BambooHR has changed")
        told = _said(said)
        more = posting(
            page,
            url=job.url,
            **{**told, "title": first(told["title"], job.title)},
            posted_date=said.get("datePosted"),
            pay=wage(said=said.get("compensation")),
            description=said.get("description"),
            status="active" if text(said.get("jobOpeningStatus")) in (None, "Open") else "closed",
        )
        return merged(job, next(more, None))

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """acme.bamboohr.com/careers."""
        board = address.below("bamboohr.com")
        return {"board": board} if board and "." not in board else None


def _said(row: dict[str, Any]) -> dict[str, Any]:
    """What list and answer both say."""
    here, there = row.get("location"), row.get("atsLocation")
    where = [at(here, "city"), at(here, "state"), at(here, "addressCountry")]
    if not any(where):
        where = [at(there, "city"), first(at(there, "state"), at(there, "province")), at(there, "country")]
    flag = row.get("isRemote")
    return {
        "title": row.get("jobOpeningName"),
        "location": place(*where),
        "department": row.get("departmentLabel"),
        "job_type": first(row.get("employmentStatusLabel"), row.get("employmentType")),
        "remote": flag if isinstance(flag, bool) else _ANYWHERE.get(text(row.get("locationType")) or ""),
    }
