"""Which system a careers page is in, by its address and by its marks."""

from __future__ import annotations

import pytest

from gossamer import Page
from gossamer.demo.jobs import ats as jobs_ats
from gossamer.packs.jobs import ats
from gossamer.packs.jobs.ats import detect

KNOWN = {
    "https://boards.greenhouse.io/acme": ("Greenhouse", {"board": "acme"}),
    "https://job-boards.greenhouse.io/acme/jobs/4012": ("Greenhouse", {"board": "acme"}),
    "https://boards.greenhouse.io/embed/job_board?for=acme&b=x": ("Greenhouse", {"board": "acme"}),
    "jobs.lever.co/acme/123-abc": ("Lever", {"board": "acme"}),
    "https://jobs.eu.lever.co/acme": ("Lever", {"board": "acme", "eu": True}),
    "https://jobs.ashbyhq.com/Acme%20Air": ("Ashby", {"board": "Acme Air"}),
    "https://acme.wd5.myworkdayjobs.com/en-US/External/job/Oslo/X_R1": (
        "Workday",
        {"board": "acme.wd5.myworkdayjobs.com/External"},
    ),
    "https://wd3.myworkdaysite.com/en-US/recruiting/acme/Jobs": (
        "Workday",
        {"board": "wd3.myworkdaysite.com/Jobs", "tenant": "acme"},
    ),
    "https://abcd.fa.us2.oraclecloud.com/hcmUI/CandidateExperience/en/sites/CX_1/job/14847": (
        "OracleHCM",
        {"board": "abcd.fa.us2.oraclecloud.com/CX_1"},
    ),
    "https://careers.smartrecruiters.com/AcmeInc": ("SmartRecruiters", {"board": "AcmeInc"}),
    "https://jobs.smartrecruiters.com/AcmeInc/744000-pilot": ("SmartRecruiters", {"board": "AcmeInc"}),
    "https://career5.successfactors.eu/career?company=AcmeCo&x=1": (
        "SuccessFactors",
        {"board": "career5.successfactors.eu/AcmeCo"},
    ),
    "https://acme.eightfold.ai/careers?domain=acme-group.com": (
        "Eightfold",
        {"board": "acme.eightfold.ai", "domain": "acme-group.com"},
    ),
    "https://acme.recruitee.com/o/pilot": ("Recruitee", {"board": "acme"}),
    "https://apply.workable.com/acme/j/ABC123/": ("Workable", {"board": "acme"}),
    "https://acme.teamtailor.com/jobs": ("Teamtailor", {"board": "acme"}),
    "https://acme.bamboohr.com/careers/12": ("BambooHR", {"board": "acme"}),
    "https://careers-acme.icims.com/jobs/search?ss=1": ("ICIMS", {"board": "careers-acme"}),
    "https://jobs.jobvite.com/careers/acme/jobs": ("Jobvite", {"board": "acme"}),
    "https://acme.jobs.personio.de/job/12": ("Personio", {"board": "acme"}),
    "https://acme.jobs.personio.com/": ("Personio", {"board": "acme.jobs.personio.com"}),
    "https://acme.pinpointhq.com/en/postings/1": ("Pinpoint", {"board": "acme"}),
    "https://www.governmentjobs.com/careers/acme": ("NEOGOV", {"board": "acme"}),
    "https://www.schooljobs.com/careers/acme": ("NEOGOV", {"board": "acme", "at_host": "www.schooljobs.com"}),
    "https://www.amazon.jobs/en/search": ("Amazon", {"board": ""}),
    "https://careers.peopleclick.eu.com/careerscp/client_acme/external/search.do": (
        "PeopleClick",
        {"board": "client_acme", "at_host": "careers.peopleclick.eu.com"},
    ),
}


@pytest.mark.parametrize("url", KNOWN)
def test_a_board_is_known_by_its_address(url: str) -> None:
    found = detect(url)
    assert found is not None
    assert (found.adapter.__name__, found.arguments) == KNOWN[url]
    made = found.scraper()
    assert issubclass(made, found.adapter)
    assert list(made().start())


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://example.org/careers",
        "not a url",
        "https://",
        "ftp://boards.greenhouse.io/x",
        "http://[::1",
        "x" * 9_000,
    ],
)
def test_what_is_no_board_is_none(url: str) -> None:
    assert detect(url) is None


def test_the_two_lines() -> None:
    assert str(detect("https://careers-acme.icims.com/jobs")) == 'class Acme(ICIMS):\n    board = "careers-acme"'
    assert str(detect("https://jobs.eu.lever.co/acme-air")) == (
        'class AcmeAir(Lever):\n    board = "acme-air"\n    eu = True'
    )
    assert str(detect("https://wd3.myworkdaysite.com/recruiting/acme/Jobs")).startswith("class Acme(Workday):")
    assert str(detect("https://career5.successfactors.eu/career?company=AcmeCo")).startswith("class AcmeCo(Succ")
    assert str(detect("https://www.amazon.jobs/")) == "class Amazon(Amazon):\n    pass"


def page(body: str, url: str = "https://careers.acme.com/us/en/jobs") -> Page:
    return Page.of(f"<html><head></head><body>{body}</body></html>", url)


def test_a_company_s_own_page_is_known_by_what_it_leads_to() -> None:
    found = detect(
        page(
            '<a href="https://boards.greenhouse.io/acme/jobs/1">Pilot</a><a href="https://jobs.lever.co/other">x</a>'
            '<iframe src="https://boards.greenhouse.io/embed/job_board?for=acme"></iframe>'
        )
    )
    assert found is not None
    assert str(found) == 'class Acme(Greenhouse):\n    board = "acme"'
    escaped = detect(
        page('<script>var x = {"url":"https:\\/\\/acme.wd5.myworkdayjobs.com\\/External\\/job\\/1"}</script>')
    )
    assert escaped is not None
    assert escaped.arguments == {"board": "acme.wd5.myworkdayjobs.com/External"}


def test_a_company_s_own_page_is_known_by_its_marks() -> None:
    marks = {
        '<script src="/platform/js/j2w/min/x.js"></script>': ("SuccessFactors", "careers.acme.com"),
        "<script>phApp.ddo = {};</script>": ("Phenom", "careers.acme.com/us/en"),
        '<script src="https://app.jibecdn.com/x.js"></script>': ("Jibe", "careers.acme.com"),
        '<link href="https://assets-aws.teamtailor-cdn.com/x.css">': ("Teamtailor", "careers.acme.com"),
        '<div data-careersite="acme"></div>': ("Jobvite", "acme"),
        '<script src="https://static.vscdn.net/x.js">{"domain": "acme.com"}</script>': (
            "Eightfold",
            "careers.acme.com",
        ),
        '<img src="https://careers.recruiteecdn.com/x.png">': ("Recruitee", "careers.acme.com"),
    }
    for body, (adapter, board) in marks.items():
        found = detect(page(body))
        assert found is not None, body
        assert (found.adapter.__name__, found.arguments["board"]) == (adapter, board)
        assert found.name in ("Acme", "CareersAcmeCom"), body
    assert detect(page("<p>We hire. Write to us.</p>")) is None
    oracle = detect(
        page('<link href="https://abcd.fa.us2.oraclecloud.com:443/x">', "https://jobs.acme.com/en/sites/CX_1/jobs")
    )
    assert oracle is not None
    assert oracle.arguments == {
        "board": "abcd.fa.us2.oraclecloud.com/CX_1",
        "pages": "https://jobs.acme.com/en/sites/CX_1/job/",
    }


def test_what_is_detected_is_what_the_demo_boards_are_written_as() -> None:
    assert str(detect("https://job-boards.greenhouse.io/windhover/jobs/1001")) == (
        'class Windhover(Greenhouse):\n    board = "windhover"'
    )
    assert jobs_ats.BOARDS["Greenhouse"] == {"board": "windhover"}
    assert set(ats.ADAPTERS) == {getattr(ats, name) for name in jobs_ats.BOARDS}
