"""Oracle Recruiting (HCM Cloud): a list of requisitions in pages, and an answer for each of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, ClassVar, Final
from urllib.parse import quote

from gossamer import ConfigError, Page, ReadError, Request
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import at, first, length, merged, posting, remote, rows, text, whole
from gossamer.packs.jobs.ats.base import JSON, SEARCHING, Board
from gossamer.packs.jobs.model import Job

__all__ = ["OracleHCM"]

#: Jobs of one answer.
SIZE: Final = 25
_FACETS: Final = "LOCATIONS;WORK_LOCATIONS;WORKPLACE_TYPES;TITLES;CATEGORIES;ORGANIZATIONS;POSTING_DATES;FLEX_FIELDS"
_EXPANDED: Final = "requisitionList.workLocation,requisitionList.otherWorkLocations,requisitionList.secondaryLocations"
_SITE: Final = re.compile(r"[\w-]{1,60}", re.ASCII)
_ID: Final = re.compile(r"[\w.-]{1,60}", re.ASCII)


class OracleHCM(Board):
    """Sites of Oracle's Candidate Experience. `board` is host and site: "abcd.fa.us2.oraclecloud.com/CX_1"."""

    system = "Oracle Recruiting"
    takes = SEARCHING
    headers = JSON
    #: Where people read the jobs, up to their number, if that is a host of the company's own:
    #: "https://jobs.acme.com/en/sites/CX_1/job/".
    pages: ClassVar[str] = ""

    @cached_property
    def _site(self) -> tuple[str, str]:
        """Host and site number."""
        site = self.board.partition("/")[2]
        if not _SITE.fullmatch(site):
            raise ConfigError(
                f"{type(self).__name__}.board = {self.board[:80]!r} cannot be used: write host and site, like "
                'board = "abcd.fa.us2.oraclecloud.com/CX_1"'
            )
        return self.host(), site

    def _api(self, resource: str, query: str) -> str:
        return f"https://{self._site[0]}/hcmRestApi/resources/latest/{resource}?onlyData=true&{query}"

    def listing(self) -> Iterable[Request]:
        """The first page."""
        yield self._page(0)

    def _page(self, offset: int) -> Request:
        asked = f"findReqs;siteNumber={self._site[1]},facetsList={_FACETS},limit={SIZE},sortBy=POSTING_DATES_DESC"
        if self.query:
            asked += f',keyword="{quote(self.query.replace(chr(34), " "))}"'
        url = self._api("recruitingCEJobRequisitions", f"expand={_EXPANDED}&finder={asked},offset={offset}")
        return Request(url, carry={"at": offset})

    def following(self, page: Page, found: int) -> Request | None:
        """The next page, unless this one was not full or all have been seen."""
        after = (whole(page.carry.get("at")) or 0) + SIZE
        total = whole(at(page.json(), "items", 0, "TotalJobsCount"))
        items = at(page.json(), "items")
        here = sum(length(one, "requisitionList") for one in items[:SIZE]) if isinstance(items, list) else 0
        return self._page(after) if here >= SIZE and (total is None or after < total) else None

    def jobs(self, page: Page) -> Iterator[Job]:
        """The jobs of an answer."""
        for item in rows(self.answer(page), "items"):
            for row in rows(item, "requisitionList"):
                yield from posting(
                    page,
                    url=first(row.get("ExternalURL"), self._address(row.get("Id"))),
                    title=row.get("Title"),
                    job_id=row.get("Id"),
                    location=[row.get("PrimaryLocation"), *_names(row.get("secondaryLocations"))],
                    country_code=row.get("PrimaryLocationCountry"),
                    department=first(row.get("Organization"), row.get("JobFunction"), row.get("JobFamily")),
                    job_type=first(row.get("JobSchedule"), row.get("JobType"), row.get("WorkerType")),
                    posted_date=row.get("PostedDate"),
                    closing_date=row.get("PostingEndDate"),
                    remote=remote(row.get("WorkplaceType"), row.get("PrimaryLocation")),
                    description=first(row.get("ShortDescriptionStr"), row.get("ShortDescription")),
                )

    def _address(self, number: Any) -> str | None:
        named = text(number)
        if named is None or not _ID.fullmatch(named):
            return None
        host, site = self._site
        return f"{self.pages or f'https://{host}/hcmUI/CandidateExperience/en/sites/{site}/job/'}{named}"

    def details(self, job: Job, page: Page) -> Request | None:
        """The answer for one job: the list has but a sentence or two of it."""
        if not job.job_id or not _ID.fullmatch(job.job_id):
            return None
        asked = f"expand=all&finder=ById;Id=%22{job.job_id}%22,siteNumber={self._site[1]}"
        return Request(self._api("recruitingCEJobRequisitionDetails", asked))

    def detailed(self, page: Page, job: Job) -> Job:
        """A job with what its own answer says; one that has no answer is no longer there."""
        found = rows(self.answer(page), "items")
        if not found:
            return merged(job, next(posting(page, url=job.url, title=job.title, status="closed"), None))
        said = found[0]
        if not text(said.get("Title")) and not text(said.get("Id")):
            raise ReadError("the answer for a job has neither Title nor Id: Oracle has changed")
        more = posting(
            page,
            url=job.url,
            title=first(said.get("Title"), job.title),
            location=[said.get("PrimaryLocation"), *_names(said.get("secondaryLocations"))],
            country_code=said.get("PrimaryLocationCountry"),
            department=first(said.get("Organization"), said.get("Category"), said.get("JobFunction")),
            job_type=first(said.get("JobSchedule"), said.get("JobType")),
            contract_type=said.get("ContractType"),
            posted_date=said.get("ExternalPostedStartDate"),
            closing_date=said.get("ExternalPostedEndDate"),
            remote=remote(said.get("WorkplaceType")),
            description=[said.get("ExternalDescriptionStr"), said.get("CorporateDescriptionStr")],
            responsibilities=said.get("ExternalResponsibilitiesStr"),
            qualifications=said.get("ExternalQualificationsStr"),
        )
        return merged(job, next(more, None))

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """abcd.fa.us2.oraclecloud.com/hcmUI/CandidateExperience/en/sites/CX_1."""
        if not address.host.endswith(".oraclecloud.com"):
            return None
        named = [part for before, part in zip(address.parts, address.parts[1:], strict=False) if before == "sites"]
        finder = re.search(r"siteNumber=([\w-]+)", address.query.get("finder", ""))
        site = named[0] if named else finder[1] if finder else None
        return {"board": f"{address.host}/{site}"} if site else None

    @classmethod
    def marked(cls, page: Page) -> dict[str, Any] | None:
        """A page of the company's own host: it names the host of the API, and its own address has the site."""
        here = Address.of(page.url)
        host = re.search(r"https://([a-z0-9.-]{1,100}\.oraclecloud\.com)\b", page.text[:500_000])
        if here is None or host is None or "sites" not in here.parts[:-1]:
            return None
        site = here.parts[here.parts.index("sites") + 1]
        return {"board": f"{host[1]}/{site}", "pages": f"https://{here.host}/en/sites/{site}/job/"}


def _names(value: Any) -> list[Any]:
    return [at(one, "Name") for one in value[:20]] if isinstance(value, list) else []
