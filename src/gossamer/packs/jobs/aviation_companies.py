"""Companies that hire on a site of their own: three of them on applicant tracking systems that others use too."""

from __future__ import annotations

from typing import Final

from gossamer import Page, ReadError, Request
from gossamer.packs.jobs.ats import OracleHCM, PeopleClick, SuccessFactors
from gossamer.packs.jobs.listing import Listing, Marks

__all__ = ["AirIndia", "Cargolux", "IndiGo", "Signature"]

#: When the companies are read that post a few jobs a week.
DAILY: Final = "0 1 * * *"


class Signature(OracleHCM):
    """Signature Aviation: private terminals, on Oracle Recruiting."""

    name = "jobs.signature"
    board = "hdbt.fa.us2.oraclecloud.com/CX_1"
    pages = "https://jobs.signatureaviation.com/en/sites/CX_1/job/"
    matches = r"^https?://jobs\.signatureaviation\.com/"
    company = "Signature Aviation"
    operation_type = "business"
    rate = "20/min"
    most = 80


class AirIndia(SuccessFactors):
    """Air India, on SAP SuccessFactors."""

    name = "jobs.airindia"
    board = "careers.airindia.com"
    matches = r"^https?://careers\.airindia\.com/"
    company = "Air India"
    operation_type = "passenger"
    rate = "20/min"
    most = 50
    every = None
    cron = DAILY


class IndiGo(Listing):
    """IndiGo. Its list is made by scripts, so a browser shows it first; ten postings at a time, the newest first."""

    name = "jobs.indigo"
    start_urls = ("https://www.goindigo.in/careers/job-search.html?type=&location=&department=",)
    matches = r"^https?://www\.goindigo\.in/careers"
    company = "IndiGo"
    operation_type = "low_cost"
    country_code = "IN"
    most = 40
    every = None
    cron = DAILY
    render = True
    postings = r"/careers/job-details/"
    number = r"/(\d+)\.html$"
    cards = Marks(
        card=".search-result__job-cards--card",
        link="a.card-head--title",
        title="a.card-head--title",
        location=".location-text, .location",
        posted="span.date-text",
        apply="a.apply-now-link",
    )
    shown = Marks(
        title="h1, .job-title",
        location=".location-text",
        posted=".date-text",
        department=".department-text",
        description=".job-description, [class*=job-desc]",
        apply="a.apply-now-link",
    )

    def start(self) -> list[Request]:
        """The list, once its cards are there."""
        return [Request(url, revisit=True, wait_for=self.cards.card) for url in self.start_urls]

    def check_empty(self, page: Page) -> None:
        """Raises ReadError, saying what is likely: the scripts did not run."""
        try:
            super().check_empty(page)
        except ReadError:
            raise ReadError("the list has no postings before its scripts have run: keep render = true") from None


class Cargolux(PeopleClick):
    """Cargolux, on PeopleClick: one list of everything that is open."""

    name = "jobs.cargolux"
    board = "client_cargolux"
    at_host = "careers.peopleclick.eu.com"
    matches = r"^https?://careers\.peopleclick\.eu\.com/careerscp/client_cargolux/"
    company = "Cargolux"
    operation_type = "cargo"
    rate = "20/min"
    most = 50
    every = None
    cron = DAILY
