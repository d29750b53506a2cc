"""Answers written by an enemy: whatever stands in them, an adapter reads what can be read, or says one sentence."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from gossamer import Page, ReadError
from gossamer.demo.jobs import ats as jobs_ats
from gossamer.demo.jobs import ats_details as jobs_ats_details
from gossamer.demo.jobs import ats_lists as jobs_ats_lists
from gossamer.demo.jobs import ats_pages as jobs_ats_pages
from gossamer.packs.jobs import ats
from gossamer.packs.jobs.ats import Board
from gossamer.packs.jobs.ats.answers import at, place, prose, remote, text, wage, whole
from gossamer.packs.jobs.model import Job
from gossamer.parse.pagedates import PageDates
from gossamer.testing import Hit
from tests.packs import page_of

JUNK: tuple[Any, ...] = (
    None,
    True,
    -7,
    1e308,
    "",
    "x" * 3_000,
    "<b>\u0000</b>",
    [],
    {},
    [None, 3],
    {"name": [1]},
    [[[]]],
)
#: System -> the answer of its demo board, and where a request for it would go.
LISTS = {
    "Workday": (jobs_ats_details.workday, "https://gannet.wd3.myworkdayjobs.com/wday/cxs/gannet/Careers/jobs"),
    "Greenhouse": (jobs_ats_lists.greenhouse, "https://boards-api.greenhouse.io/v1/boards/windhover/jobs"),
    "Lever": (jobs_ats_lists.lever, "https://api.lever.co/v0/postings/skerry"),
    "Ashby": (jobs_ats_lists.ashby, "https://api.ashbyhq.com/posting-api/job-board/petrel"),
    "OracleHCM": (jobs_ats_details.oracle, "https://turn.fa.em2.oraclecloud.com/hcmRestApi/?finder=x,offset=0"),
    "SmartRecruiters": (jobs_ats_details.smartrecruiters, "https://api.smartrecruiters.com/v1/postings"),
    "Phenom": (jobs_ats_details.phenom, "https://careers.brentgoose.example/widgets"),
    "Eightfold": (jobs_ats_details.eightfold, "https://kittiwake.eightfold.ai/api/pcsx/search"),
    "Recruitee": (jobs_ats_lists.recruitee, "https://fulmar.recruitee.com/api/offers/"),
    "Workable": (jobs_ats_details.workable, "https://apply.workable.com/api/v1/widget/accounts/redshank"),
    "Teamtailor": (jobs_ats_lists.teamtailor, "https://sanderling.teamtailor.com/jobs.json"),
    "BambooHR": (jobs_ats_details.bamboohr, "https://avocet.bamboohr.com/careers/list"),
    "Jibe": (jobs_ats_details.jibe, "https://careers.lapwing.example/api/jobs?page=1"),
    "Pinpoint": (jobs_ats_lists.pinpoint, "https://dotterel.pinpointhq.com/postings.json"),
    "Amazon": (jobs_ats_lists.amazon, "https://www.amazon.jobs/en/search.json"),
}
#: The same for the answers about one job.
DETAILS = {
    "Workday": "https://gannet.wd3.myworkdayjobs.com/wday/cxs/gannet/Careers/job/Skagen/Flight-Dispatcher_R-1001",
    "OracleHCM": "https://turn.fa.em2.oraclecloud.com/hcmRestApi/recruitingCEJobRequisitionDetails?finder=ById;Id=1001,x=1",
    "SmartRecruiters": "https://api.smartrecruiters.com/v1/companies/Whimbrel/postings/1001",
    "Eightfold": "https://kittiwake.eightfold.ai/api/pcsx/position_details?position_id=1001",
    "Workable": "https://apply.workable.com/api/v2/accounts/redshank/jobs/RS1001",
    "BambooHR": "https://avocet.bamboohr.com/careers/1001/detail",
}


def board(system: str) -> Board:
    made: type[Board] = type(f"Hostile{system}", (getattr(ats, system),), dict(jobs_ats.BOARDS[system]))
    return made()


def answer(function: Any, url: str) -> Any:
    path = "/" + url.partition("://")[2]
    return json.loads(function(Hit(method="GET", path=path, headers={})).body)


def spoilt(data: Any) -> Iterator[Any]:
    """The data, each value of its first objects replaced by junk, one at a time."""
    paths: list[tuple[Any, ...]] = [()]
    for path in paths:
        value = at(data, *path)
        if isinstance(value, dict):
            paths += [(*path, name) for name in value]
        elif isinstance(value, list) and value:
            paths.append((*path, 0))
    for path in paths[1:]:
        for junk in JUNK:
            copied = copy.deepcopy(data)
            at(copied, *path[:-1])[path[-1]] = junk
            yield copied
    yield from JUNK


@pytest.mark.parametrize("system", LISTS)
def test_a_list_with_anything_in_it_is_read_or_refused(system: str) -> None:
    scraper = board(system)
    function, url = LISTS[system]
    read = 0
    whole_answer = answer(function, url)
    short = _shortened(whole_answer)
    for data in spoilt(short):
        page = page_of(json.dumps(data), url, "application/json", at=0)
        try:
            found = list(scraper.jobs(page))
            scraper.following(page, len(found))
        except ReadError:
            continue
        read += 1
        for job in found:
            msgspec.convert(msgspec.to_builtins(job), Job)
            assert job.url.startswith("https://")
            assert len(job.title) <= 500
            scraper.details(job, page)
    assert read > 20


def _shortened(data: Any) -> Any:
    """Two rows are enough."""
    if isinstance(data, list):
        return [_shortened(one) for one in data[:2]]
    return {name: _shortened(one) for name, one in data.items()} if isinstance(data, dict) else data


@pytest.mark.parametrize("system", DETAILS)
def test_an_answer_for_a_job_with_anything_in_it_is_read_or_refused(system: str) -> None:
    scraper = board(system)
    url = DETAILS[system]
    carried = msgspec.to_builtins(Job(url="https://jobs.example/1", title="Flight Dispatcher", job_id="1001"))
    for data in spoilt(answer(LISTS[system][0], url)):
        page = page_of(json.dumps(data), url, "application/json", job=carried)
        try:
            found = [each for each in scraper.detail(page) if isinstance(each, Job)]
        except ReadError:
            continue
        assert [job.url for job in found] == ["https://jobs.example/1"]
        assert found[0].title


@pytest.mark.parametrize("system", ["Personio", "NEOGOV", "Teamtailor", "SuccessFactors"])
@pytest.mark.parametrize(
    "body",
    [
        "",
        "<",
        "<rss/>",
        "<workzag-jobs><position/></workzag-jobs>",
        "<rss><channel><item><title/></item></channel></rss>",
        "<Job-Listing><Job><ReqId>1</ReqId></Job></Job-Listing>",
        "<!DOCTYPE x [<!ENTITY a 'b'>]><rss><channel><item><title>&a;</title><link>x</link></item></channel></rss>",
        "<html><body>Hello</body></html>",
        '{"items": 3}',
    ],
)
def test_a_feed_that_is_none_is_read_or_refused(system: str, body: str) -> None:
    page = page_of(body, "https://feeds.example/xml", "application/xml")
    with suppress(ReadError):
        assert all(job.title for job in board(system).jobs(page))


@pytest.mark.parametrize("system", ["ICIMS", "Jobvite", "SuccessFactors", "PeopleClick", "Phenom"])
def test_pages_that_lead_elsewhere_or_nowhere_bring_nothing(system: str) -> None:
    body = (
        '<div class="iCIMS_JobCardItem"><a href="https://evil.example/jobs/1/x/job"><h3>Evil</h3></a></div>'
        '<table><tr class="data-row"><td><a class="jobTitle-link" href="https://evil.example/job/x/12345/">Evil</a></td></tr>'
        '<tr><td><a href="https://evil.example/knot/job/oEvil123">Evil</a></td></tr>'
        '<tr><td><a href="https://evil.example/d?jobPostId=12">Evil</a></td></tr><tr><td><a href="javascript:x()">x</a>'
        '</td></tr></table><script>phApp.ddo = {"refineSearch": {"data": {"jobs": [{"title": 3}]}}};</script>'
    )
    page = page_of(f"<html><body>{body}</body></html>", "https://careers.good.example/search")
    assert list(board(system).jobs(page)) == []


@pytest.mark.parametrize("system", ["ICIMS", "Jobvite", "SuccessFactors", "PeopleClick"])
def test_the_demo_pages_cut_short_are_read_as_far_as_they_go(system: str) -> None:
    function = getattr(jobs_ats_pages, system.lower())
    host = {"ICIMS": "careers-curlew.icims.com/jobs/search?pr=0", "Jobvite": "jobs.jobvite.com/knot/search?p=0"}.get(
        system, "jobs.smew.example/search/?startrow=0"
    )
    body = function(Hit(method="GET", path=f"/{host}", headers={})).body
    scraper = board(system)
    for end in range(0, len(body), 97):
        page = page_of(body[:end], f"https://{host}")
        try:
            found = list(scraper.jobs(page))
        except ReadError:
            continue
        assert len({job.url for job in found}) <= 3


def test_values_of_the_wrong_sort_are_none() -> None:
    for junk in (None, True, [], {}, [None], {"x": 1}, b"x"):
        assert text(junk) is None
        assert prose(junk) is None
        assert place(junk) is None
        assert wage(junk, junk, junk, junk, junk).least is None
    assert at({"a": [1]}, "a", 3) is None
    assert at("text", "a") is None
    assert whole("1,234") == 1234
    assert whole(-3) is None
    assert remote("on_site") is False
    assert remote("Fully remote") is True
    assert remote(None, "", "hybrid") is False
    assert remote("Oslo") is None


def test_of_a_hundred_thousand_jobs_those_are_read_that_a_run_follows() -> None:
    read = []

    class Endless(Board):
        def jobs(self, page: Page) -> Iterator[Job]:
            for number in range(100_000):
                read.append(number)
                yield Job(url=f"https://endless.example/{number}", title="Flight Dispatcher")

    made = list(Endless({"max_jobs": "40"}).parse(page_of("{}", "https://endless.example/")))
    assert len([one for one in made if isinstance(one, Job)]) == 40
    assert len(read) < 1_000


def test_how_a_page_writes_dates_is_asked_once() -> None:
    page = page_of("{}", "https://reed.example/")
    assert PageDates.of(page) is PageDates.of(page)


def test_links_in_no_row_have_no_row_to_be_read() -> None:
    links = "".join(f'<p><a href="jobDetails.do?jobPostId={n}">Pilot</a></p>' for n in range(300))
    page = page_of(f'<i class="location">Oslo</i>{links}', "https://careers.peopleclick.com/careerscp/client_x/x.html")
    found = list(board("PeopleClick").jobs(page))
    assert len(found) == 300
    assert {job.location for job in found} == {None}  # the page names a place, and says of no job that it is there
