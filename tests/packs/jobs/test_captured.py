"""The scrapers on pages that were captured from the real sites, where those are present."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from gossamer import Page, ReadError
from gossamer.packs.jobs import AirIndia, AviationJobSearch, IndiGo, LinkedIn, Signature
from gossamer.packs.jobs.listing import Listing
from gossamer.packs.jobs.marks import Marks
from gossamer.packs.jobs.model import Job
from gossamer.parse import walls
from tests.packs import answer, fixture, page_of


class Jora(Listing):
    """A board that is none of ours: a source of one's own takes this much."""

    start_urls = ("https://au.jora.com/j?q=quality+manager&l=Sydney+NSW",)
    postings = r"^/job/"
    country_code = "AU"
    cards = Marks(
        card=".job-card",
        link="a.job-link",
        title=".job-title a",
        company=".job-company",
        location=".job-location",
        posted=".job-listed-date",
    )

    def address(self, url: str | None) -> str | None:
        found = super().address(url)
        return found.partition("?")[0] if found else None


def finished(scraper: Any, job: Job, page: Page) -> Job:
    made = next(iter(scraper.done(job, page)))
    assert isinstance(made, Job)
    return made


def test_signatures_requisitions() -> None:
    expected = answer("jobs/signature_jobs_output_50.json")
    scraper, found = Signature(), []
    for offset in (0, 25, 50):
        body = fixture(f"jobs/derived/oracle_signature_20251125_offset{offset}.json")
        page = page_of(body, f"https://hdbt.fa.us2.oraclecloud.com/x?offset={offset}", "application/json", at=offset)
        jobs = list(scraper.jobs(page))
        found += [finished(scraper, job, page) for job in jobs]
        assert (scraper.following(page, len(jobs)) is None) == (offset > 0)
    assert len(found) == len(expected) == 50
    same = ("job_id", "title", "company", "source", "url", "apply_url", "location", "department", "posted_date")
    for job, want in zip(found, expected, strict=True):
        assert {name: getattr(job, name) for name in same} == {name: want[name] for name in same}
        assert job.closing_date == want["closing_date"]
        assert job.remote == {"Remote": True, "Hybrid": False, "On-site": False}.get(want["job_type"])
        assert job.description is not None
        assert job.description[:40] == " ".join(unescape(want["description"]).split())[:40]
        assert job.country_code is not None
        assert (job.company_name, job.operation_type) == ("Signature Aviation", "business")


def test_indigos_cards() -> None:
    expected = answer("jobs/indigo_search_page.expected.json")["cards"]
    page = page_of(fixture("jobs/indigo_search_page.html"), IndiGo.start_urls[0])
    found = IndiGo().listed(page)
    assert len(found) == len(expected) == 10
    for job, want in zip(found, expected, strict=True):
        assert job.url == f"https://www.goindigo.in/careers/{want['href']}"
        assert (job.title, job.job_id, job.location) == (want["title"], want["job_id"], want["location"])
        assert job.apply_url == want["apply_url"]
        assert job.posted_date is not None
        day, month, year = re.fullmatch(r"(\d+)\w\w (\w+) (\d\d)", want["date_text"]).groups()  # type: ignore[union-attr]
        assert job.posted_date == f"20{year}-{ {'Nov': 11, 'Dec': 12}[month] }-{day:0>2}"


def test_linkedins_fragment() -> None:
    expected = answer("jobs/linkedin_search.expected.json")["cards"]
    url = "https://www.linkedin.com/jobs-guest/jobs/api/seeMoreJobPostings/search?start=0"
    found = LinkedIn().listed(page_of(fixture("jobs/linkedin_search.html"), url))
    names = {"job_id": "job_id", "title": "title", "company": "company", "location": "location", "date": "posted_date"}
    told = [{ours: getattr(job, theirs) for ours, theirs in names.items()} | {"url": job.url} for job in found]
    assert told == expected


def test_a_board_that_is_none_of_ours() -> None:
    expected = answer("jobs/jora_search.expected.json")["cards"]
    found = Jora().listed(page_of(fixture("jobs/jora_search.html"), Jora.start_urls[0]))
    told = [
        {"title": job.title, "company": job.company, "location": job.location, "href": job.url.partition(".com")[2]}
        for job in found
    ]
    assert told == [{name: want[name] for name in told[0]} for want in expected]
    assert all(job.posted_date for job in found)
    assert len(told) == 15


def test_a_position_that_air_india_has_filled() -> None:
    url = "https://careers.airindia.com/job/x/48122944/"
    listed = {"url": url, "title": "Senior Associate - Loyalty Customer Service", "job_id": "48122944"}
    page = page_of(fixture("jobs/airindia_successfactors_filled.html"), url, job=listed)
    (job,) = AirIndia().detail(page)
    assert isinstance(job, Job)
    assert (job.status, job.title, job.company_name) == ("closed", listed["title"], "Air India")


@pytest.mark.parametrize("name", ["challenge_cloudflare_small.html", "blocked_aviationjobsearch_1.html"])
def test_a_page_that_was_blocked_is_no_empty_list(name: str) -> None:
    page = page_of(fixture(f"jobs/{name}"), AviationJobSearch.start_urls[0])
    assert walls.wall(page)
    with pytest.raises(ReadError, match="shows no postings"):
        list(AviationJobSearch().parse(page))
