"""The ten scrapers through the public door, on our own pages."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gossamer
from gossamer import Report, Scraper
from gossamer.demo.packs import PackSites
from gossamer.packs.jobs import SCRAPERS, AviationJobSearch, FlyGosh, Goose, LinkedIn, Signature
from gossamer.testing import Answer

LEFT_OUT = "jobs.aviationindeed"


@pytest.fixture
def sites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PackSites]:
    monkeypatch.chdir(tmp_path)
    with PackSites(remember=True) as started:
        yield started


def go(scraper: type[Scraper], sites: PackSites, **knobs: Any) -> Report:
    return gossamer.run(scraper, store="jobs.db", **{**sites.knobs(), "rate": "none", **knobs})


def jobs(scraper: type[Scraper] | None = None) -> dict[str, dict[str, Any]]:
    name = scraper.name if scraper else None
    return {job["title"]: job for job in gossamer.items("jobs.db", scraper=name, kind="job")}


@pytest.mark.parametrize(
    ("name", "found", "companies"),
    [
        ("signature", 27, 0),
        ("linkedin", 4, 4),
        ("aviationjobsearch", 4, 2),
        ("flygosh", 3, 2),
        ("aap", 2, 1),
        ("indigo", 3, 0),
        ("goose", 2, 0),
        ("cargolux", 3, 0),
        ("airindia", 3, 0),
        ("aviationindeed", 1, 0),
    ],
)
def test_every_scraper_brings_its_jobs(sites: PackSites, name: str, found: int, companies: int) -> None:
    scraper = next(each for each in SCRAPERS if each.name == f"jobs.{name}")
    report = go(scraper, sites)
    assert (report.reason, report.failed, report.rejected) == ("done", 0, 0)
    made = gossamer.items("jobs.db", kind="job")
    assert len(made) == found
    assert len(gossamer.items("jobs.db", kind="company")) == companies
    for job in made:
        assert job["source"] == name
        assert job["posted_date"] is not None
        assert job["location"]
        assert job["country_code"] is not None
        assert job["apply_url"]
        assert job["description"] or job["status"] == "closed"
    assert not {value for job in made for value in job.values() if isinstance(value, str)} & {"", "Unknown", "None"}


@pytest.mark.parametrize("scraper", SCRAPERS, ids=lambda each: each.name)
def test_the_first_request_of_every_scraper_leads_to_jobs(sites: PackSites, scraper: type[Scraper]) -> None:
    class First(scraper):  # type: ignore[misc, valid-type]
        name = scraper.name

        def start(self) -> Any:
            return itertools.islice(super().start(), 1)

    go(First, sites)
    assert jobs()


def test_there_are_ten_and_one_is_paused() -> None:
    assert len(SCRAPERS) == 10
    assert [each.name for each in SCRAPERS if each.paused] == [LEFT_OUT]
    assert all(each.every == "3h" or each.cron == "0 1 * * *" for each in SCRAPERS)
    assert {each.name for each in SCRAPERS if each.cron} == {"jobs.indigo", "jobs.cargolux", "jobs.airindia"}
    paces = {each.name: each.knobs()["rate"] for each in SCRAPERS}
    assert set(paces.values()) <= {"20/min", "12/min"}  # a request every three to five seconds


def test_a_list_in_two_pages_and_a_posting_that_is_on_both(sites: PackSites) -> None:
    go(AviationJobSearch, sites)
    asked = sites.site.paths()
    assert asked["/www.aviationjobsearch.com/en-GB/jobs?page=2"] == 1
    assert sum(count for path, count in asked.items() if "b1-licensed-engineer-5503" in path) == 1
    found = jobs()
    assert found["Load Planner"]["company_name"] == "Signature Aviation"
    assert found["OCC Duty Manager"]["company_name"] == found["Network Controller"]["company_name"]


def test_postings_that_are_over(sites: PackSites) -> None:
    for scraper in (FlyGosh, Goose, LinkedIn):
        go(scraper, sites)
    assert jobs(FlyGosh)["Crew Controller"]["status"] == "expired"  # its last day has passed
    assert jobs(Goose)["Captain ATR 72"]["status"] == "closed"  # its page answers 410
    assert jobs(LinkedIn)["Senior Flight Dispatcher"]["status"] == "closed"  # its page says so
    assert jobs(FlyGosh)["Flight Dispatcher"]["status"] == "active"


def test_words_that_speak_of_filling_a_position_close_nothing(sites: PackSites) -> None:
    go(Signature, sites)
    assert {job["status"] for job in gossamer.items("jobs.db", kind="job")} == {"active"}


def test_only_matching_titles(sites: PackSites) -> None:
    report = go(LinkedIn, sites, params={"only": "matching"})
    assert set(jobs()) == {"Aircraft Dispatcher", "Flight Dispatcher", "Senior Flight Dispatcher"}
    assert report.rejected == 1
    companies = {each["company_name"] for each in gossamer.items("jobs.db", kind="company")}
    assert companies == {"Kranich Regional", "Prairie Wing", "Tropic"}


def test_a_limit(sites: PackSites) -> None:
    go(Signature, sites, params={"max_jobs": "4"})
    assert len(jobs()) == 4
    assert len([path for path in sites.site.paths() if "Details" in path]) == 4


def test_a_search_of_ones_own(sites: PackSites) -> None:
    go(LinkedIn, sites, params={"keywords": "dispatcher", "location": "Germany"})
    assert set(jobs()) == {"Flight Dispatcher", "Truck Dispatcher"}
    asked = [path for path in sites.site.paths() if "seeMoreJobPostings" in path]
    assert asked == [
        "/www.linkedin.com/jobs-guest/jobs/api/seeMoreJobPostings/search?keywords=dispatcher&location=Germany&start=0",
        "/www.linkedin.com/jobs-guest/jobs/api/seeMoreJobPostings/search?keywords=dispatcher&location=Germany&start=2",
    ]


def test_a_wall_is_blocked_and_not_empty(sites: PackSites) -> None:
    wall = "<html><title>Sign Up | LinkedIn</title><form action='/uas/login-submit'><input type=password></form></html>"
    there = Answer(status=302, headers={"Location": "https://www.linkedin.com/authwall?trk=x"})
    sites.site.cover("/www.linkedin.com/jobs-guest/*", lambda hit: there)
    sites.site.page("/www.linkedin.com/authwall", wall)
    report = go(LinkedIn, sites, params={"location": "Germany"}, retries=0)
    assert (report.items, report.by_reason.get("blocked")) == (0, 1)


@pytest.mark.parametrize(
    ("body", "failed"),
    [
        ("<html><title>Jobs</title><p>There are currently no vacancies.</p></html>", 0),
        ("<html><title>Welcome</title><p>A new and better site.</p></html>", 1),
        ("", 1),
    ],
)
def test_a_list_without_postings_says_so_or_has_changed(sites: PackSites, body: str, failed: int) -> None:
    sites.site.page("/flygoshjobs.com/jobs/all/all-region/", body)
    report = go(FlyGosh, sites, retries=0)
    assert (report.items, report.failed) == (0, failed)


def test_a_job_that_is_listed_again_is_seen_again_without_being_fetched(sites: PackSites) -> None:
    """`scrape_count` of the job board: how often a posting was met."""
    for _ in range(6):
        go(FlyGosh, sites)
    asked = sites.site.paths()
    assert asked["/flygoshjobs.com/jobs/all/all-region/"] == 6
    assert asked["/flygoshjobs.com/job/flight-dispatcher-nordlicht/"] == 1
    assert _times_seen("Flight Dispatcher") == 6


def _times_seen(title: str) -> int:
    connection = sqlite3.connect("jobs.db")
    try:
        (count,) = connection.execute(
            "select times_seen from item where kind = 'job' and data ->> 'title' = ?", (title,)
        ).fetchone()
    finally:
        connection.close()
    return int(count)
