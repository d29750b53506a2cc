"""Teamtailor: every careers site has its jobs as a JSON feed, and as RSS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from gossamer import Page, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import at, child, children, first, host_of, place, posting, remote, rows, wage
from gossamer.packs.jobs.ats.base import Board
from gossamer.packs.jobs.model import Job
from gossamer.parse import clean, plain

__all__ = ["Teamtailor"]


class Teamtailor(Board):
    """Careers sites of Teamtailor. `board` is the name before teamtailor.com, or the company's own host."""

    system = "Teamtailor"
    #: "json", or "rss": departments are named only there.
    feed: ClassVar[str] = "json"

    def listing(self) -> Iterable[Request]:
        """The feed."""
        yield Request(f"https://{self.host('teamtailor.com')}/jobs.{'rss' if self.feed == 'rss' else 'json'}")

    def following(self, page: Page, found: int) -> Request | None:
        """The next part of the feed, if it names one of the same host."""
        if _is_rss(page):
            return None
        url = clean.url(at(page.json(), "next_url"), page.url)
        return Request(url) if url and host_of(url) == host_of(page.url) else None

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs of either feed."""
        if _is_rss(page):
            yield from _rss(page)
            return
        answer = self.answer(page)
        for row in rows(answer, "items"):
            said = row.get("_jobposting")
            where = [plain.place(one) for one in plain.each(at(said, "jobLocation"))]
            pay = at(said, "baseSalary")
            yield from posting(
                page,
                url=row.get("url"),
                title=first(row.get("title"), at(said, "title")),
                job_id=first(at(said, "identifier", "value"), row.get("id")),
                company=first(at(said, "hiringOrganization", "name"), answer.get("title")),
                location=[one for one in where if one],
                country_code=at(said, "jobLocation", 0, "address", "addressCountry"),
                job_type=at(said, "employmentType"),
                posted_date=first(row.get("date_published"), at(said, "datePosted")),
                closing_date=at(said, "validThrough"),
                remote=True if "TELECOMMUTE" in str(at(said, "jobLocationType")) else None,
                pay=wage(
                    at(pay, "value", "minValue"),
                    at(pay, "value", "maxValue"),
                    at(pay, "currency"),
                    at(pay, "value", "unitText"),
                ),
                description=first(row.get("content_html"), row.get("content_text"), at(said, "description")),
            )

    def details(self, job: Job, page: Page) -> Request | None:
        """The job's page, where the feed has no description."""
        here = host_of(job.url) == host_of(page.url)
        return Request(job.url) if job.description is None and here else None

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """acme.teamtailor.com."""
        board = address.below("teamtailor.com")
        return {"board": board} if board and board not in ("api", "app", "docs", "career.app") else None

    @classmethod
    def marked(cls, page: Page) -> dict[str, Any] | None:
        """A careers site at the company's own host."""
        here = Address.of(page.url)
        return {"board": here.host} if here and "teamtailor-cdn.com" in page.text[:500_000] else None


def _is_rss(page: Page) -> bool:
    return page.text[:200].lstrip("\ufeff \r\n\t").startswith(("<?xml", "<rss"))


def _rss(page: Page) -> Iterator[Job]:
    root = page.xml
    company = child(next(iter(children(root, "channel")), root), "title")
    for item in children(root, "item"):
        where = [
            place(child(one, "city"), child(one, "country")) or child(one, "name") for one in children(item, "location")
        ]
        yield from posting(
            page,
            url=child(item, "link", "guid"),
            title=child(item, "title"),
            job_id=child(item, "guid"),
            company=first(child(item, "company_name"), company),
            location=[one for one in where if one],
            department=child(item, "department"),
            posted_date=child(item, "pubDate"),
            remote=remote((child(item, "remoteStatus") or "").replace("none", "on-site")),
            description=child(item, "description"),
        )
