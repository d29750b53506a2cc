"""Job boards and agencies of aviation: sites with the jobs of many companies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from gossamer import Page, ReadError, Request
from gossamer.packs.jobs.listing import Listing, Marks
from gossamer.packs.jobs.model import Job
from gossamer.parse import clean

__all__ = ["Aap", "AviationIndeed", "AviationJobSearch", "FlyGosh", "Goose"]


class FlyGosh(Listing):
    """FlyGosh Jobs: pilots and operations, all regions."""

    name = "jobs.flygosh"
    start_urls = ("https://flygoshjobs.com/jobs/all/all-region/",)
    matches = r"^https?://(?:www\.)?flygoshjobs\.com/"
    postings = r"^/(?:jobs?|vacanc(?:y|ies))/[^/]+"
    most = 80
    agency = "FlyGosh Jobs"
    cards = Marks(
        card="[class*=job-card]",
        title="[class*=title], h2, h3",
        company="[class*=company], [class*=airline]",
        location="[class*=location]",
        posted="[class*=date], [class*=posted]",
        job_type="[class*=job-type]",
    )
    shown = Marks(
        title="h1",
        company=".job-company, .company-name",
        location=".job-location, .location",
        posted=".job-date, .date-posted",
        description=".job-description",
        apply="a.apply-button, a.job-apply",
    )

    def address(self, url: str | None) -> str | None:
        """Postings have a path of their own; the lists by region have not."""
        found = super().address(url)
        return None if found is None or "/jobs/all/" in found else found


class Aap(Listing):
    """AAP Aviation: crew and operations, leased and hired out."""

    name = "jobs.aap"
    start_urls = ("https://jobs.aapaviation.com/jobs",)
    matches = r"^https?://jobs\.aapaviation\.com/"
    postings = r"^/jobs?/[^/]+"
    number = r"/(\d{3,})-[^/]*/?$"
    most = 80
    agency = "AAP Aviation"
    cards = Marks(
        card=".job-card, .job-item, .listing-item",
        title=".job-title, h2, h3",
        company=".job-client, .company",
        location=".job-location, .location",
        posted=".job-date, .posted",
        department=".job-department, .department",
    )
    shown = Marks(
        title="h1",
        company=".job-client, .company",
        location=".job-location, .location",
        department=".department",
        description=".job-description, .job-body, [itemprop=description]",
        apply="a.apply, a[href*='/applications/new']",
    )


class AviationJobSearch(Listing):
    """Aviation Job Search: a large board of the United Kingdom and Europe."""

    name = "jobs.aviationjobsearch"
    start_urls = ("https://www.aviationjobsearch.com/en-GB/jobs",)
    matches = r"^https?://www\.aviationjobsearch\.com/"
    #: Four parts and more: "/en-GB/jobs/operations/flight-dispatcher-123".
    postings = r"^/[^/]+/jobs/[^/]+/[^/]+"
    most = 50
    agency = "Aviation Job Search"
    cards = Marks(
        link="a[href*='/jobs/']",
        title="[class*=title], h2, h3",
        company="[class*=company], [class*=employer], [class*=recruiter]",
        location="[class*=location]",
        posted="[class*=date], [class*=posted], time",
        job_type="[class*=contract], [class*=job-type]",
    )
    shown = Marks(
        title="h1",
        company="[class*=job-company], [class*=employer-name]",
        location="[class*=job-location]",
        posted="[class*=job-date]",
        closing="[class*=closing], [class*=expiry]",
        description="[class*=job-description]",
        apply="a[class*=apply]",
    )


class Goose(Listing):
    """Goose Recruitment: an agency for pilots, engineers and operations. The companies often go unnamed."""

    name = "jobs.goose"
    start_urls = ("https://www.goose-recruitment.com/jobs",)
    matches = r"^https?://www\.goose-recruitment\.com/"
    postings = r"^/job/[^/]+"
    most = 50
    agency = "Goose Recruitment"
    cards = Marks(
        link="a[href^='/job/']",
        title="h2, h3, [class*=title]",
        location="[class*=location]",
        posted="[class*=date], [class*=posted], time",
        job_type="[class*=type]",
    )
    shown = Marks(
        title="h1",
        company="[class*=client-name]",
        location="[class*=location]",
        job_type="[class*=job-type]",
        description="[class*=job-description], [class*=description]",
    )

    def address(self, url: str | None) -> str | None:
        """The posting, also where a link leads to its form."""
        found = super().address(url)
        return found.removesuffix("/").removesuffix("/apply") if found else None

    def read_posting(self, page: Page, listed: Job) -> Job:
        """One applies below the posting."""
        return msgspec.structs.replace(super().read_posting(page, listed), apply_url=f"{listed.url}/apply")


class AviationIndeed(Listing):
    """Aviation Indeed: its jobs are in a frame of CEIPAL's, as cards or as data."""

    name = "jobs.aviationindeed"
    start_urls = ("https://www.aviationindeed.com/ceipal/",)
    matches = r"^https?://www\.aviationindeed\.com/"
    paused = (
        "the frame with its jobs answers only to a key that the site draws anew, and has been empty for long: "
        "look at https://www.aviationindeed.com/ceipal/ first"
    )
    #: The frame is CEIPAL's.
    scope = "any"
    most = 80
    agency = "Aviation Indeed"
    number = r"/(\w{6,})/?$"
    cards = Marks(
        card=".job-item, .list-group-item",
        title=".job-title, h4, h5",
        location=".job-location",
        posted=".job-date",
        job_type=".job-type",
    )
    shown = Marks(title="h1, h2", location=".job-location", description=".job-description, #job-description")

    def parse(self, page: Page) -> Iterator[Any]:
        """The page with the frame, or the frame itself."""
        if page.depth == 0 and not page.tree.css_first(self.cards.card):
            frames = [url for node in page.tree.css("iframe[src]")[:20] if (url := _frame(node, page))]
            if not frames:
                raise ReadError("the page has no frame with jobs: the site has changed")
            yield Request(frames[0], revisit=True)
            return
        yield from super().parse(page)

    def listed(self, page: Page) -> list[Job]:
        """Cards, or the postings of an answer in JSON."""
        return self.general(page) if page.kind == "json" else super().listed(page)


#: Whose frames hold jobs.
_FRAMES: Final = ("ceipal.com", "ceipalmm.com")


def _frame(node: Any, page: Page) -> str | None:
    url = clean.url(node.attributes.get("src"), page.base_url)
    return url if url and any(host in url.split("/")[2] for host in _FRAMES) else None
