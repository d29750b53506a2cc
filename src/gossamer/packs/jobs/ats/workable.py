"""Workable: the widget's answer has all jobs with their descriptions; the newer API gives them in pages, without."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

from gossamer import Page, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import at, first, merged, place, posting, remote, rows, text
from gossamer.packs.jobs.ats.base import SEARCHING, Board
from gossamer.packs.jobs.model import Job

__all__ = ["Workable"]

_HOST: Final = "https://apply.workable.com"


class Workable(Board):
    """Boards of apply.workable.com. `board` is the name in the address; `api = "v3"` for those without a widget."""

    system = "Workable"
    takes = SEARCHING
    #: "widget", or "v3": the API that the pages themselves ask, which can search.
    api: ClassVar[str] = "widget"

    def listing(self) -> Iterable[Request]:
        """All jobs at once; of the newer API, or in a search, the first page."""
        if self.api == "widget" and not self.query:
            yield Request(f"{_HOST}/api/v1/widget/accounts/{self.slug}?details=true")
        else:
            yield self._page(None)

    def _page(self, token: str | None) -> Request:
        asked = {"query": self.query, "location": [], "department": [], "worktype": [], "remote": []}
        if token:
            asked["token"] = token
        return Request(f"{_HOST}/api/v3/accounts/{self.slug}/jobs", json=asked)

    def following(self, page: Page, found: int) -> Request | None:
        """The next page, if the answer names one."""
        token = at(page.json(), "nextPage")
        return self._page(token) if isinstance(token, str) and token else None

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs of an answer of either API."""
        answer = self.answer(page)
        company = at(answer, "name")
        for row in rows(answer, "results" if at(answer, "jobs") is None else "jobs"):
            code = text(row.get("shortcode"))
            where = row.get("locations")
            places = [_place(one) for one in where[:20]] if isinstance(where, list) else []
            own = _place(row.get("location")) or place(row.get("city"), row.get("state"), row.get("country"))
            address = f"{_HOST}/{self.slug}/j/{code}/" if code else None
            yield from posting(
                page,
                url=first(row.get("url"), row.get("shortlink"), address),
                title=row.get("title"),
                job_id=first(code, row.get("id")),
                company=company,
                location=[own, *(one for one in places if one)],
                country_code=first(at(row, "locations", 0, "countryCode"), at(row, "location", "countryCode")),
                department=row.get("department"),
                job_type=first(row.get("employment_type"), row.get("type")),
                posted_date=first(row.get("published_on"), row.get("published"), row.get("created_at")),
                # The flag is false for what is half remote, too.
                remote=True
                if row.get("telecommuting") is True or row.get("remote") is True
                else remote(row.get("workplace")),
                description=[row.get("description"), row.get("benefits")],
                requirements=row.get("requirements"),
                apply_url=row.get("application_url"),
            )

    def details(self, job: Job, page: Page) -> Request | None:
        """The answer for one job, where the list has no description."""
        if job.description is not None or not job.job_id or not job.job_id.isalnum():
            return None
        return Request(f"{_HOST}/api/v2/accounts/{self.slug}/jobs/{job.job_id}")

    def detailed(self, page: Page, job: Job) -> Job:
        """A job with what its own answer says."""
        said = self.answer(page)
        more = posting(
            page,
            url=job.url,
            title=first(at(said, "title"), job.title),
            location=_place(at(said, "location")),
            posted_date=at(said, "published"),
            remote=remote(at(said, "workplace")),
            description=[at(said, "description"), at(said, "benefits")],
            requirements=at(said, "requirements"),
        )
        return merged(job, next(more, None))

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """apply.workable.com/acme, and acme.workable.com of older pages."""
        if address.host == "apply.workable.com":
            parts = address.parts
            board = parts[parts.index("accounts") + 1] if "accounts" in parts[:-1] else address.part(0)
            return {"board": board} if board and board not in ("api", "j") else None
        board = address.below("workable.com")
        return {"board": board} if board and board not in ("apply", "jobs", "help", "resources") else None


def _place(value: Any) -> str | None:
    return place(at(value, "city"), first(at(value, "region"), at(value, "state")), at(value, "country"))
