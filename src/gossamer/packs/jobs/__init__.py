"""Jobs of aviation: from job boards, agencies and the companies' own sites."""

from __future__ import annotations

from gossamer import Scraper
from gossamer.packs.jobs.aviation_boards import Aap, AviationIndeed, AviationJobSearch, FlyGosh, Goose
from gossamer.packs.jobs.aviation_companies import AirIndia, Cargolux, IndiGo, Signature
from gossamer.packs.jobs.aviation_linkedin import LinkedIn
from gossamer.packs.jobs.listing import Listing
from gossamer.packs.jobs.marks import Marks
from gossamer.packs.jobs.model import Company, Job
from gossamer.packs.jobs.scraper import JobScraper

__all__ = [
    "SCRAPERS",
    "Aap",
    "AirIndia",
    "AviationIndeed",
    "AviationJobSearch",
    "Cargolux",
    "Company",
    "FlyGosh",
    "Goose",
    "IndiGo",
    "Job",
    "JobScraper",
    "LinkedIn",
    "Listing",
    "Marks",
    "Signature",
]

#: The most important first.
SCRAPERS: tuple[type[Scraper], ...] = (
    Signature,
    LinkedIn,
    AviationJobSearch,
    FlyGosh,
    Aap,
    IndiGo,
    Goose,
    Cargolux,
    AirIndia,
    AviationIndeed,
)
