"""Phenom: careers sites whose pages ask `/widgets` for their jobs, and carry the first of them as state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, ClassVar, Final

from gossamer import ConfigError, Page, ReadError, Request
from gossamer.packs.jobs.ats import jibe
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import at, first, length, merged, place, posting, remote, rows, text, wage, whole
from gossamer.packs.jobs.ats.base import SEARCHING, Board, link
from gossamer.packs.jobs.model import Job
from gossamer.parse import embedded

__all__ = ["Phenom"]

#: Jobs that are asked for at a time; pages show ten.
SIZE: Final = 50
PAGE_SIZE: Final = 10
#: Under what an answer, or a page, keeps its list.
_LISTS: Final = ("refineSearch", "eagerLoadRefineSearch", "searchJobs")
_JOB: Final = re.compile(r"/job/([\w-]{1,200})", re.ASCII)
_LOCALE: Final = re.compile(r"[a-z]{2,20}/[a-z]{2}(?:-[a-z]{2})?")


class Phenom(Board):
    """Careers sites by Phenom. `board` is host, country and language as in the address: "careers.acme.com/us/en"."""

    system = "Phenom"
    takes = SEARCHING
    #: Read the pages for people instead of asking `/widgets`, which some sites answer only to their own pages.
    reads_pages: ClassVar[bool] = False

    @cached_property
    def _locale(self) -> tuple[str, str]:
        """Country and language."""
        told = self.board.partition("/")[2].strip("/").lower() or "us/en"
        if not _LOCALE.fullmatch(told):
            raise ConfigError(
                f"{type(self).__name__}.board = {self.board[:80]!r} cannot be used: write host, country and language, "
                'like board = "careers.acme.com/us/en"'
            )
        country, _, language = told.partition("/")
        return country, language

    def _asked(self, **more: Any) -> dict[str, Any]:
        country, language = self._locale
        return {
            "lang": f"{language}_{country}",
            "country": country,
            "deviceType": "desktop",
            "siteType": "external",
            **more,
        }

    def listing(self) -> Iterable[Request]:
        """The first page."""
        yield self._page(0)

    def _page(self, offset: int) -> Request:
        if self.reads_pages:
            home = f"https://{self.host()}/{'/'.join(self._locale)}/search-results"
            return Request(link(home, keywords=self.query, **{"from": str(offset)}, s=1), carry={"at": offset})
        asked = self._asked(
            ddoKey="refineSearch",
            pageName="search-results",
            jobs=True,
            counts=False,
            size=SIZE,
            keywords=self.query,
            clearAll=False,
            jdsource="facets",
            isSliderEnable=False,
            pageId="page20",
            sortBy="",
            subsearch="",
            selected_fields={},
            all_fields=[],
        )
        return Request(f"https://{self.host()}/widgets", json={**asked, "from": offset}, carry={"at": offset})

    def following(self, page: Page, found: int) -> Request | None:
        """The next page: it begins where this one, however long it was, ended."""
        state = self._state(page)
        here = max(length(state, "jobs"), *(length(state, name, "data", "jobs") for name in _LISTS))
        after = (whole(page.carry.get("at")) or 0) + here
        total = _total(state)
        return self._page(after) if (after < total if total is not None else here >= PAGE_SIZE) else None

    def _state(self, page: Page) -> Any:
        """The answer, or what a page carries instead."""
        if page.kind == "json":
            return self.answer(page)
        for state in embedded.states(page):
            if any(isinstance(at(state, name), dict) for name in _LISTS):
                return state
        raise ReadError("the page carries no list of jobs: it is not one of Phenom's, or asks for another language")

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs of an answer, or of a page."""
        state = self._state(page)
        holder = next((at(state, name) for name in _LISTS if isinstance(at(state, name), dict)), None)
        if holder is None and isinstance(at(state, "jobs", 0, "data"), dict):
            # Some sites have the list of the system behind them.
            for row in rows(state, "jobs"):
                yield from jibe.job_of(at(row, "data"), page, self.host())
            return
        for row in rows(holder, "data", "jobs"):
            yield from self._job(row, page)

    def _job(self, row: dict[str, Any], page: Page, url: str | None = None) -> Iterator[Job]:
        number = text(first(row.get("jobSeqNo"), row.get("jobId"), row.get("reqId")))
        own = f"https://{self.host()}/{'/'.join(self._locale)}/job/{number}"
        known = number and re.fullmatch(r"[\w-]{1,200}", number, re.ASCII)
        where = first(row.get("multi_location"), row.get("location"), row.get("cityStateCountry"))
        yield from posting(
            page,
            url=url or first(row.get("detailUrl"), own if known else None),
            title=row.get("title"),
            job_id=first(row.get("reqId"), row.get("jobId"), number),
            company=first(row.get("companyName"), row.get("company")),
            location=where or place(row.get("city"), row.get("state"), row.get("country")),
            department=first(row.get("department"), row.get("category"), row.get("multi_category")),
            job_type=first(row.get("type"), row.get("employmentType"), row.get("timeType")),
            posted_date=first(row.get("postedDate"), row.get("dateCreated")),
            closing_date=first(row.get("unpostedDate"), row.get("applicationDeadline")),
            remote=remote(row.get("RemoteType"), row.get("remote"), row.get("checkRemote"), row.get("workLocation")),
            pay=wage(said=first(row.get("salary"), row.get("salaryRange"))),
            description=first(row.get("description"), row.get("descriptionTeaser")),
            apply_url=row.get("applyUrl"),
        )

    def details(self, job: Job, page: Page) -> Request | None:
        """The answer for one job, or its page: the list has but a sentence or two of it."""
        number = _JOB.search(job.url)
        if number is None:
            return None
        if self.reads_pages:
            own = f"https://{self.host()}/"
            return Request(job.url) if job.url.startswith(own) else None
        asked = self._asked(ddoKey="jobDetail", pageName="job-details", jobSeqNo=number[1])
        return Request(f"https://{self.host()}/widgets", json=asked)

    def detailed(self, page: Page, job: Job) -> Job:
        """A job with what its own answer, or page, says."""
        if page.kind != "json":
            return super().detailed(page, job)
        said = at(self.answer(page), "jobDetail", "data", "job")
        if not isinstance(said, dict):
            raise ReadError("the answer for a job has no jobDetail.data.job: Phenom has changed")
        if not text(said.get("title")):
            return merged(job, next(posting(page, url=job.url, title=job.title, status="closed"), None))
        return merged(job, next(self._job(said, page, job.url), None))

    @classmethod
    def marked(cls, page: Page) -> dict[str, Any] | None:
        """A page that keeps its state where Phenom's pages do."""
        here = Address.of(page.url)
        head = page.text[:500_000]
        if here is None or not ("phApp.ddo" in head or "phenompeople.com" in head):
            return None
        locale = "/".join(here.parts[:2])
        return {"board": f"{here.host}/{locale}" if _LOCALE.fullmatch(locale) else here.host}


def _total(state: Any) -> int | None:
    holder = next((at(state, name) for name in _LISTS if isinstance(at(state, name), dict)), None)
    return whole(first(at(holder, "totalHits"), at(holder, "data", "totalHits"), at(state, "totalCount")))
