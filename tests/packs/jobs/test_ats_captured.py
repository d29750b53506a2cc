"""The adapters on answers that were captured from the real systems, where those are present."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from gossamer.packs.jobs import ats
from gossamer.packs.jobs.ats import Board
from gossamer.packs.jobs.ats.answers import at
from gossamer.packs.jobs.model import Job
from tests.packs import answer, fixture, page_of

JSON = "application/json"


class AmazonAll(ats.Amazon):
    board = ""


class LinearBoard(ats.Ashby):
    board = "linear"


class Bamboo(ats.BambooHR):
    board = "acme"


class Pin(ats.Pinpoint):
    board = "acme"


class Tee(ats.Recruitee):
    board = "acme"


class Tailor(ats.Teamtailor):
    board = "career.acme.com"


class Flake(ats.Eightfold):
    board = "acme.eightfold.ai"


class House(ats.Greenhouse):
    board = "acme"


class Able(ats.Workable):
    board = "acme"


class Match(ats.Lever):
    board = "acme"


class Oracle(ats.OracleHCM):
    board = "abcd.fa.us2.oraclecloud.com/CX_1"
    pages = "https://jobs.signatureaviation.com/en/sites/CX_1/job/"


class Pep(ats.Phenom):
    board = "www.acmejobs.com"


class Snow(ats.Phenom):
    board = "careers.acme.com/us/en"


class Western(ats.SmartRecruiters):
    board = "WesternDigital"


class Day(ats.Workday):
    board = "acme.wd1.myworkdayjobs.com/External"


#: Captured answer -> the adapter that reads it, the address it came from, and how to come to it in the file.
ANSWERS: dict[str, tuple[type[Board], str, Callable[[Any], Any]]] = {
    "amazon_jobs_software.json": (AmazonAll, "https://www.amazon.jobs/en/search.json", lambda got: got),
    "ashby_linear.json": (LinearBoard, "https://api.ashbyhq.com/posting-api/job-board/linear", lambda got: got),
    "ck_bamboohr.json": (Bamboo, "https://acme.bamboohr.com/careers/list", lambda got: got),
    "ck_pinpoint.json": (Pin, "https://acme.pinpointhq.com/postings.json", lambda got: got),
    "ck_recruitee.json": (Tee, "https://acme.recruitee.com/api/offers/", lambda got: got),
    "ck_teamtailor.json": (Tailor, "https://career.acme.com/jobs.json", lambda got: got),
    "eightfold_snowflake.json": (Flake, "https://acme.eightfold.ai/api/pcsx/search", lambda got: got),
    "greenhouse_gitlab.json": (House, "https://boards-api.greenhouse.io/v1/boards/acme/jobs", lambda got: got),
    "jb_workable.json": (Able, "https://apply.workable.com/api/v1/widget/accounts/acme", lambda got: got["widget"]),
    "lever_matchgroup.json": (Match, "https://api.lever.co/v0/postings/acme", lambda got: got),
    "oracle_hcm.json": (Oracle, "https://abcd.fa.us2.oraclecloud.com/hcmRestApi/", lambda got: got),
    "phenom_pepsico.json": (Pep, "https://www.acmejobs.com/api/jobs", lambda got: got),
    "phenom_snowflake_response.json": (Snow, "https://careers.acme.com/widgets", lambda got: got),
    "smartrecruiters_western_digital.json": (Western, "https://api.smartrecruiters.com/v1/", lambda got: got),
    "workday_micron.json": (Day, "https://acme.wd1.myworkdayjobs.com/wday/cxs/acme/External/jobs", lambda got: got),
    "workday_saputo.json": (Day, "https://acme.wd1.myworkdayjobs.com/wday/cxs/acme/External/jobs", lambda got: got),
}
#: Where a captured answer says how many there are in all.
TOTALS = {
    "amazon_jobs_software.json": ("hits",),
    "greenhouse_gitlab.json": ("meta", "total"),
    "smartrecruiters_western_digital.json": ("totalFound",),
    "workday_micron.json": ("total",),
    "workday_saputo.json": ("total",),
}


def read(name: str) -> list[Job]:
    adapter, url, inner = ANSWERS[name]
    page = page_of(json.dumps(inner(answer(f"jobs/{name}"))), url, JSON)
    return list(adapter().jobs(page))


@pytest.mark.parametrize("name", ANSWERS)
def test_every_job_of_a_captured_answer_is_read_with_its_title(name: str) -> None:
    expected = answer("jobs/expected_facts.json")[name]
    found = read(name)
    if name == "oracle_hcm.json":  # the count is that of the first of its three lists
        assert len(found) == 3
        found = found[: expected["count"]]
    assert len(found) == expected["count"]
    if expected["titles"]:
        assert [job.title for job in found][: len(expected["titles"])] == expected["titles"]
    assert all(job.url.startswith("https://") for job in found)
    assert len({job.url for job in found}) == len(found)
    if expected.get("total") is not None:
        assert at(answer(f"jobs/{name}"), *TOTALS[name]) == expected["total"]


@pytest.mark.parametrize("name", ["workday_micron.json", "workday_saputo.json", "smartrecruiters_western_digital.json"])
def test_a_captured_answer_that_is_not_all_there_is_leads_to_the_next_page(name: str) -> None:
    adapter, url, _ = ANSWERS[name]
    page = page_of(fixture(f"jobs/{name}"), url, JSON, at=0)
    after = adapter().following(page, 20)
    assert after is not None
    assert after.carry is not None
    assert after.carry["at"] in (20, 100)


def test_fields_of_captured_answers() -> None:
    lever = read("lever_matchgroup.json")[0]
    assert (lever.location, lever.country_code, lever.job_type) == ("New York, New York", "US", "full-time")
    assert (lever.salary_min, lever.salary_max, lever.salary_currency, lever.salary_period) == (
        150000, 180000, "USD", "year",
    )  # fmt: skip
    assert lever.posted_date == "2026-05-19"
    assert lever.remote is False
    assert lever.responsibilities
    assert lever.requirements
    assert lever.description
    green = read("greenhouse_gitlab.json")[0]
    assert (green.location, green.department, green.posted_date) == ("Remote, Italy", "EMEA - Commercial", "2026-04-17")
    assert green.remote is True
    assert green.description
    assert "<" not in green.description[:200]
    offer = read("ck_recruitee.json")[0]
    assert (offer.salary_min, offer.salary_max, offer.salary_currency, offer.salary_period) == (
        60000, 75000, "EUR", "year",
    )  # fmt: skip
    assert (offer.country_code, offer.location) == ("DE", "Berlin, Berlin, Germany")
    pin = read("ck_pinpoint.json")
    assert [job.url for job in pin] == [
        "https://acme.pinpointhq.com/en/postings/post-001",
        "https://acme.pinpointhq.com/postings/post-002",
    ]
    assert [job.remote for job in pin] == [True, False]
    assert [job.salary_period for job in pin] == ["year", "hour"]
    assert pin[0].closing_date == "2026-08-28"
    amazon = read("amazon_jobs_software.json")[0]
    assert (amazon.country_code, amazon.job_id, amazon.posted_date) == ("US", "10401641", "2026-04-23")
    assert amazon.url.startswith("https://www.amazon.jobs/en/jobs/10401641/")
    pepsi = read("phenom_pepsico.json")[0]
    assert (pepsi.country_code, pepsi.closing_date, pepsi.job_type) == ("AU", "2026-06-25", "full-time")
    work = read("workday_micron.json")[0]
    assert work.job_id == "JR99331"
    assert work.url == (
        "https://acme.wd1.myworkdayjobs.com/External"
        "/job/Boise-ID---Main-Site/DRAM-Cloud-Systems-Enablement-Engineer_JR99331"
    )
    tailor = read("ck_teamtailor.json")
    assert [job.location for job in tailor] == ["Madrid, Europe, ES", "Stockholm, Sweden, SE; København, Europe, DK"]
    able = read("jb_workable.json")
    assert [job.remote for job in able] == [True, None, None]
    assert able[1].department == "Operations"


def test_the_pages_of_an_oracle_list_that_were_captured() -> None:
    expected = answer("jobs/signature_jobs_output_50.json")
    url = "https://abcd.fa.us2.oraclecloud.com/hcmRestApi/resources/latest/recruitingCEJobRequisitions"
    found: list[Job] = []
    more = []
    for offset in (0, 25, 50):
        page = page_of(fixture(f"jobs/derived/oracle_signature_20251125_offset{offset}.json"), url, JSON, at=offset)
        here = list(Oracle().jobs(page))
        more.append(Oracle().following(page, len(here)) is not None)
        found += here
    assert more == [True, False, False]
    assert len(found) == 50
    for job, wanted in zip(found, expected, strict=True):
        assert (job.job_id, job.title, job.url) == (wanted["job_id"], wanted["title"], wanted["url"])
        assert (job.location, job.posted_date) == (wanted["location"], wanted["posted_date"])


def test_captured_pages_for_people() -> None:
    class Wipfli(ats.ICIMS):
        board = "careers-wipfli"

    page = page_of(fixture("jobs/ck_icims.html"), "https://careers-wipfli.icims.com/jobs/search?ss=1&in_iframe=1&pr=0")
    cards = list(Wipfli().jobs(page))
    assert [(job.title, job.location, job.job_id) for job in cards] == [
        ("Payroll Tax Specialist", "US", "2026-8214"),
        ("Payroll Support Specialist", "US", "2026-8212"),
    ]
    assert cards[0].url == "https://careers-wipfli.icims.com/jobs/8214/payroll-tax-specialist/job"

    class Feeding(ats.Jobvite):
        board = "feedingamerica"

    page = page_of(fixture("jobs/ck_jobvite.html"), "https://jobs.jobvite.com/feedingamerica/search?p=0")
    rows = list(Feeding().jobs(page))
    assert [(job.title, job.location, job.job_id) for job in rows] == [
        ("Manager, Development (Chicago/Hybrid)", "Chicago, Illinois", "octxAfww"),
        ("Manager, Technology Vendor Management (Chicago/Hybrid)", "Chicago, Illinois", "ohAzAfwK"),
    ]

    class Site(ats.Phenom):
        board = "careers.acme.com/global/en"
        reads_pages = True

    page = page_of(fixture("jobs/ck_phenom.html"), "https://careers.acme.com/global/en/search-results", at=0)
    shown = list(Site().jobs(page))
    assert [(job.title, job.job_id, job.posted_date) for job in shown] == [
        ("Senior Project Manager(German Speaker)", "P-104461", "2026-04-09"),
        ("Revenue Development Representative", "P-104504", "2026-04-08"),
    ]
    after = Site().following(page, 2)
    assert after is not None
    assert "from=2" in after.url


def test_a_captured_feed_of_an_agency() -> None:
    class Agency(ats.NEOGOV):
        board = "exampleagency"

    url = "https://www.governmentjobs.com/SearchEngine/JobsFeed?agency=exampleagency"
    found = list(Agency().jobs(page_of(fixture("jobs/ck_neogov.xml"), url, "application/rss+xml")))
    assert [(job.title, job.job_id, job.salary_min, job.salary_max, job.salary_period) for job in found] == [
        ("Enterprise Applications Manager", "410001", 135000, 175000, "year"),
        ("CRM Project Consultant", "410002", 65, 85, "hour"),
    ]
    assert (found[0].posted_date, found[0].closing_date) == ("2026-08-19", "2026-09-20")
    assert (found[0].department, found[0].responsibilities) == (
        "Information Technology",
        "Own architecture and delivery governance.",
    )
    assert found[1].remote is True


def test_a_captured_page_of_a_filled_position_closes_the_job() -> None:
    class India(ats.SuccessFactors):
        board = "careers.airindia.com"

    url = "https://careers.airindia.com/job/Gurugram-Senior-Associate-Loyalty-Customer-Service/48122944/"
    job = Job(url=url, title="Senior Associate - Loyalty Customer Service", job_id="48122944")
    carried = {"job": msgspec.to_builtins(job)}
    page = page_of(fixture("jobs/airindia_successfactors_filled.html"), url, **carried)
    found = [each for each in India().detail(page) if isinstance(each, Job)]
    assert [(each.status, each.title) for each in found] == [("closed", job.title)]
    detected = ats.detect(page)
    assert detected is not None
    assert detected.lines == 'class Airindia(SuccessFactors):\n    board = "careers.airindia.com"'
