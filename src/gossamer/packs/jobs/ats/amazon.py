"""Amazon: its own search answers with jobs a hundred at a time, descriptions included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from gossamer import Page, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import at, first, length, posting, rows, whole
from gossamer.packs.jobs.ats.base import SEARCHING, Board, link
from gossamer.packs.jobs.model import Job
from gossamer.parse import clean, plain

__all__ = ["Amazon"]

#: Jobs of one answer, and the last that the search gives.
SIZE: Final = 100
LAST: Final = 10_000
_SITE: Final = "https://www.amazon.jobs"


class Amazon(Board):
    """www.amazon.jobs. `board` is a country in three letters, "USA"; empty for all of them."""

    system = "Amazon"
    company = "Amazon"
    takes = SEARCHING

    def listing(self) -> Iterable[Request]:
        """The first page."""
        yield self._page(0)

    def _page(self, offset: int) -> Request:
        country = {"normalized_country_code[]": self.board.upper()} if self.board else {}
        url = link(
            f"{_SITE}/en/search.json", base_query=self.query, result_limit=SIZE, offset=offset, sort="recent", **country
        )
        return Request(url, carry={"at": offset})

    def following(self, page: Page, found: int) -> Request | None:
        """The next page, as far as the search goes."""
        after = (whole(page.carry.get("at")) or 0) + SIZE
        hits = whole(at(page.json(), "hits"))
        more = after < hits if hits is not None else length(page.json(), "jobs") >= SIZE
        return self._page(after) if more and after < LAST else None

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs of an answer."""
        for row in rows(self.answer(page), "jobs"):
            places = [found for one in plain.each(row.get("locations")) if isinstance(found := clean.json(one), dict)]
            yield from posting(
                page,
                url=clean.url(row.get("job_path"), f"{_SITE}/"),
                title=row.get("title"),
                job_id=first(row.get("id_icims"), row.get("id")),
                location=first([at(one, "normalizedLocation") for one in places[:20]], row.get("normalized_location")),
                country_code=at(places, 0, "countryIso2a"),
                department=first(row.get("job_category"), row.get("business_category")),
                job_type=row.get("job_schedule_type"),
                posted_date=row.get("posted_date"),
                remote=_anywhere(places),
                description=first(row.get("description"), row.get("description_short")),
                requirements=row.get("basic_qualifications"),
                qualifications=row.get("preferred_qualifications"),
                apply_url=row.get("url_next_step"),
            )

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """www.amazon.jobs."""
        return {"board": ""} if address.host in ("www.amazon.jobs", "amazon.jobs") else None


def _anywhere(places: list[dict[str, Any]]) -> bool | None:
    """Remote, if one of the places is none; not, if all of them are real."""
    kinds = {str(one.get("type", "")).upper() for one in places}
    return True if "VIRTUAL" in kinds else False if kinds == {"ONSITE"} else None
