"""The adapters of applicant tracking systems, on demo boards and through the public door."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gossamer import ConfigError, Page, ReadError, Report, Request, Response, items, run
from gossamer.demo.jobs import ats as jobs_ats
from gossamer.packs.jobs import ats
from gossamer.packs.jobs.ats import Board
from gossamer.packs.jobs.model import Job
from gossamer.testing import Answer, Hit, Site
from gossamer.values import Headers


@pytest.fixture(scope="module")
def demo() -> Iterator[Site]:
    with Site() as site:
        jobs_ats.install(site)
        yield site


class Door:
    """Runs scrapers on the demo boards, each store its own."""

    def __init__(self, site: Site, store: Path) -> None:
        self.site = site
        self.store = store
        self.report: Report

    def run(self, scraper: type[Board], **params: str) -> list[dict[str, Any]]:
        stand_ins = {host: self.site.url(f"/{host}") for host in jobs_ats.HOSTS}
        self.site.clear()
        self.report = run(
            scraper,
            store=self.store,
            stand_ins=stand_ins,
            rate="none",
            params=params,
            retries=0,
            breaker_failures="none",
        )
        return [dict(item) for item in items(store=str(self.store), kind="job")]

    @property
    def asked(self) -> list[str]:
        return [hit.path.partition("/")[2] for hit in self.site.hits if not hit.path.endswith("/robots.txt")]


@pytest.fixture
def door(demo: Site, tmp_path: Path) -> Door:
    return Door(demo, tmp_path / "jobs.db")


def board(system: str, **more: Any) -> type[Board]:
    """Two lines, as a person would write them."""
    said = {**jobs_ats.BOARDS[system], **more}
    return type(f"Demo{system}", (getattr(ats, system),), said)


#: System -> jobs on its demo board, and requests for all of them the first time.
COUNTS = {
    "Workday": (23, 25),
    "Greenhouse": (3, 1),
    "Lever": (2, 1),
    "Ashby": (2, 1),
    "OracleHCM": (27, 29),
    "SmartRecruiters": (3, 4),
    "SuccessFactors": (5, 7),
    "Phenom": (12, 14),
    "Eightfold": (12, 14),
    "Recruitee": (2, 1),
    "Workable": (3, 1),
    "Teamtailor": (2, 2),
    "BambooHR": (3, 4),
    "ICIMS": (3, 5),
    "Jibe": (3, 1),
    "Jobvite": (3, 5),
    "Personio": (2, 1),
    "Pinpoint": (2, 1),
    "NEOGOV": (2, 1),
    "Amazon": (3, 1),
    "PeopleClick": (2, 3),
}


def test_every_adapter_has_a_demo_board() -> None:
    assert {adapter.__name__ for adapter in ats.ADAPTERS} == set(jobs_ats.BOARDS) == set(COUNTS)


@pytest.mark.parametrize("system", COUNTS)
def test_a_board_of_two_lines_brings_all_its_jobs(system: str, door: Door) -> None:
    found = door.run(board(system))
    assert door.report.failed == 0
    assert (len(found), len(door.asked)) == COUNTS[system]
    first = found[0]
    assert first["title"].startswith("Flight Dispatcher")
    assert first["status"] == "active"
    assert first["company"]
    assert "We look for a Flight Dispatcher in Skagen." in first["description"]
    assert first["filter_match"] is True
    assert first["url"].startswith("https://")
    assert first["country_code"] in ("DK", "US", None)
    if system not in ("Pinpoint",):
        assert first["posted_date"] == "2026-09-01"
    assert all(job["source"] == first["source"] for job in found)


def test_the_name_is_that_of_the_class(door: Door) -> None:
    class WindhoverAir(ats.Greenhouse):
        board = "windhover"

    assert WindhoverAir.name == "jobs.windhover-air"
    assert {job["source"] for job in door.run(WindhoverAir)} == {"windhover-air"}

    class Other(ats.Greenhouse):
        name = "mine"
        board = "windhover"

    assert Other.name == "mine"


def test_a_second_run_asks_for_the_list_alone(door: Door) -> None:
    scraper = board("SmartRecruiters")
    first = door.run(scraper)
    assert len(door.asked) == 4
    second = door.run(scraper)
    assert door.asked == ["api.smartrecruiters.com/v1/companies/Whimbrel/postings?limit=100&offset=0"]
    assert second == first
    assert door.report.items == 4  # three jobs and a company: what was read before stays current


def test_jobs_that_are_filled_gone_or_past_their_day_say_so(door: Door) -> None:
    def states(system: str) -> list[tuple[str, str]]:
        found = door.run(board(system))
        return [(job["job_id"], job["status"]) for job in sorted(found, key=lambda each: str(each["job_id"]))]

    assert states("SuccessFactors")[-1] == ("1005", "closed")
    door.store = door.store.with_name("b.db")
    assert states("BambooHR") == [("1001", "active"), ("1002", "active"), ("1003", "closed")]
    door.store = door.store.with_name("c.db")
    assert states("Pinpoint") == [("DO-1001", "active"), ("DO-1002", "expired")]
    door.store = door.store.with_name("d.db")
    assert states("OracleHCM")[-1] == ("1027", "closed")


def test_a_search_finds_what_it_is_asked_for(door: Door) -> None:
    for system in ("Workday", "SmartRecruiters", "Phenom", "Jibe", "Amazon", "Workable"):
        door.store = door.store.with_name(f"{system}.db")
        found = door.run(board(system), query="crew controller")
        assert found, system
        assert all("Crew Controller" in job["title"] for job in found), system


def test_what_a_run_may_take_at_most(door: Door) -> None:
    assert len(door.run(board("Workday"), max_jobs="5")) == 5
    assert len(door.asked) == 6
    door.store = door.store.with_name("b.db")
    assert len(door.run(board("Workday"), max_pages="1")) == 20
    door.store = door.store.with_name("c.db")
    assert len(door.run(board("Workday"), details="no")) == 23
    assert len(door.asked) == 2


def test_only_jobs_that_are_wanted_are_read_in_full(door: Door) -> None:
    found = door.run(board("SmartRecruiters"), only="matching")
    assert [job["title"] for job in found] == ["Flight Dispatcher", "Senior Crew Controller", "Load Control Agent"]
    door.store = door.store.with_name("b.db")
    found = door.run(board("Workday"), only="matching")
    assert all(job["filter_match"] for job in found)
    assert not any("Payroll" in job["title"] for job in found)
    assert not any("Payroll" in path for path in door.asked)


@pytest.mark.parametrize(
    ("system", "more"),
    [
        ("SuccessFactors", {"feed": True}),
        ("SuccessFactors", {"board": "career5.successfactors.eu/Merganser"}),
        ("Teamtailor", {"feed": "rss"}),
        ("Phenom", {"reads_pages": True}),
        ("Workable", {"api": "v3"}),
        ("Eightfold", {"board": "plover.eightfold.ai"}),
    ],
)
def test_the_other_way_to_read_a_system(system: str, more: dict[str, Any], door: Door) -> None:
    found = door.run(board(system, **more))
    assert door.report.failed == 0
    wanted = {"SuccessFactors": 5 if "feed" in more else 2, "Phenom": 12, "Workable": 3}.get(system, 2)
    assert len(found) == wanted
    assert all("We look for a" in job["description"] for job in found)
    assert {job["title"] for job in found} >= {"Flight Dispatcher", "Senior Crew Controller"}
    assert not any("(" in job["title"] for job in found)


def test_fields_that_only_some_systems_have(door: Door) -> None:
    lever = door.run(board("Lever"))[0]
    assert lever["responsibilities"] == "What you'll do\nKeep the aircraft moving"
    assert lever["requirements"] == "What we look for\nA calm voice"
    assert (lever["salary_min"], lever["salary_max"], lever["salary_currency"], lever["salary_period"]) == (
        48_000, 61_000, "EUR", "year",
    )  # fmt: skip
    door.store = door.store.with_name("b.db")
    day = {job["job_id"]: job for job in door.run(board("Workday"))}
    assert day["R-1005"]["location"] == "Darwin, Northern Territory, Australia; Reykjavik, Iceland"
    assert day["R-1001"]["company"] == "Gannet Airlines AS"
    door.store = door.store.with_name("c.db")
    bamboo = door.run(board("BambooHR"))[0]
    assert (bamboo["salary_min"], bamboo["salary_currency"], bamboo["salary_period"]) == (28, "USD", "hour")
    assert (bamboo["job_type"], bamboo["remote"]) == ("part-time", False)
    door.store = door.store.with_name("d.db")
    old = door.run(board("SuccessFactors", board="career5.successfactors.eu/Merganser"))[0]
    assert old["url"] == (
        "https://career5.successfactors.eu/career?company=Merganser&career_ns=job_listing&career_job_req_id=1001"
    )
    assert (old["location"], old["job_type"]) == ("Skagen, North Jutland, Denmark", "full-time")


def test_what_the_class_says_of_the_company(door: Door) -> None:
    class Petrel(ats.Ashby):
        board = "petrel"
        company = "Petrel Dynamics"
        operation_type = "mro"
        country_code = "NO"

    found = door.run(Petrel)
    assert {job["company"] for job in found} == {"Petrel Dynamics"}
    # What a job says itself goes before.
    assert {job["country_code"] for job in found} == {"DK", "IE"}


# --- what goes wrong --------------------------------------------------------------------------------------------


def test_a_board_that_does_not_exist_is_said(door: Door) -> None:
    class Nobody(ats.Greenhouse):
        board = "nobody"

    assert door.run(Nobody) == []
    assert door.report.failed == 1


def _answering(demo: Site, tmp_path: Path, answer: Answer, scraper: type[Board] | None = None) -> Report:
    with Site() as site:
        site.handler("/*", lambda hit: answer)
        host = "boards-api.greenhouse.io"
        chosen = scraper or board("Greenhouse")
        stand_ins = {host: site.url(f"/{host}"), "jobs.jobvite.com": site.url("/jobs.jobvite.com")}
        return run(chosen, store=tmp_path / "x.db", stand_ins=stand_ins, rate="none", retries=0, robots=False)


def test_an_unknown_shape_and_a_page_in_the_place_of_data_fail(demo: Site, tmp_path: Path) -> None:
    odd = Answer(body='{"openings": []}', headers={"Content-Type": "application/json"})
    assert _answering(demo, tmp_path, odd).failed == 1
    page = Answer(body="<html><body><h1>Welcome to our careers page</h1></body></html>")
    assert _answering(demo, tmp_path, page).failed == 1


def test_a_wall_is_blocked_and_not_empty(demo: Site, tmp_path: Path) -> None:
    script = "<script>window._cf_chl_opt={}</script>"
    wall = Answer(body=f"<html><head><title>Just a moment...</title></head><body>{script}</body></html>")
    report = _answering(demo, tmp_path, wall)
    assert report.items == 0
    assert report.by_reason.get("blocked") == 1


def test_an_empty_board_is_no_failure(demo: Site, tmp_path: Path) -> None:
    report = _answering(demo, tmp_path, Answer(body='{"jobs": []}', headers={"Content-Type": "application/json"}))
    assert (report.failed, report.items) == (0, 0)


def test_a_system_that_refuses_both_of_its_addresses_blocks_us(tmp_path: Path) -> None:
    with Site() as site:
        site.page("/*", '{"message": "Forbidden"}', status=403, headers={"Content-Type": "application/json"})
        stand_ins = {"kittiwake.eightfold.ai": site.url("/kittiwake.eightfold.ai")}
        report = run(
            board("Eightfold"), store=tmp_path / "x.db", stand_ins=stand_ins, rate="none", retries=0, robots=False
        )
    assert report.by_reason.get("blocked") == 1


def test_a_list_that_never_ends_is_left(tmp_path: Path) -> None:
    rows = [{"id": str(n), "name": f"Job {n}", "company": {"identifier": "W"}} for n in range(3)]
    asked: list[str] = []

    def same(hit: Hit) -> Answer:
        asked.append(hit.path)
        body = b'{"totalFound": 900, "content": ' + json.dumps(rows).encode() + b"}"
        return Answer(body=body, headers={"Content-Type": "application/json"})

    with Site() as site:
        site.handler("/*", same)
        stand_ins = {"api.smartrecruiters.com": site.url("/api.smartrecruiters.com")}
        report = run(
            board("SmartRecruiters"),
            store=tmp_path / "x.db",
            stand_ins=stand_ins,
            rate="none",
            robots=False,
            params={"details": "no"},
        )
    assert report.reason == "done"
    assert len(asked) == 2


def _sent_on(system: str, asked: str, came: str) -> None:
    response = Response(came, 200, Headers([("content-type", "text/html")]), b"<p>Welcome</p>", 0.0, 0.0)
    board(system)().check(Page(Request(came, via=(asked,)), response))


def test_a_board_that_sends_us_to_the_system_s_own_page_is_gone() -> None:
    with pytest.raises(ReadError, match="it is gone"):
        _sent_on("Jobvite", "https://jobs.jobvite.com/knot/search", "https://search.jobvite.com/?invalid=1")
    with pytest.raises(ReadError, match="it is gone"):
        _sent_on("BambooHR", "https://avocet.bamboohr.com/careers/list", "https://www.bamboohr.com/")
    _sent_on("Personio", "https://acme.jobs.personio.de/xml", "https://acme.jobs.personio.com/xml")
    _sent_on("Teamtailor", "https://acme.teamtailor.com/jobs.json", "https://careers.acme.com/jobs.json")


def test_a_row_that_cannot_be_read_does_not_end_the_list() -> None:
    rows = [{"text": f"Job {n}", "hostedUrl": f"https://jobs.lever.co/skerry/{n}"} for n in range(99)]
    page = Page.of(json.dumps([*rows, "junk"]), "https://api.lever.co/v0/postings/skerry", "application/json")
    found = list(board("Lever")().parse(page))
    assert sum(isinstance(each, Job) for each in found) == 99
    after = [each for each in found if isinstance(each, Request)]
    assert [each.url for each in after] == ["https://api.lever.co/v0/postings/skerry?mode=json&limit=100&skip=100"]
    assert after[0].revisit


def test_a_feed_in_parts_is_followed_on_its_own_host_alone() -> None:
    scraper = board("Teamtailor")()
    for after, wanted in (("/jobs.json?page=2", True), ("https://evil.example/jobs.json", False), (None, False)):
        body = json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": [], "next_url": after})
        page = Page.of(body, "https://sanderling.teamtailor.com/jobs.json", "application/feed+json")
        assert (scraper.following(page, 2) is not None) is wanted


@pytest.mark.parametrize(
    ("system", "name"),
    [
        ("Greenhouse", ""),
        ("Greenhouse", "a/../b"),
        ("Workday", "acme"),
        ("Workday", "acme.wd5.myworkdayjobs.com/a/b"),
        ("OracleHCM", "abcd.fa.us2.oraclecloud.com"),
        ("Recruitee", "http://x"),
        ("Phenom", "careers.acme.com/us/en/x"),
        ("SuccessFactors", "not a host"),
    ],
)
def test_a_board_that_cannot_be_one_is_refused(system: str, name: str) -> None:
    with pytest.raises(ConfigError, match="cannot be used"):
        list(board(system, board=name)().start())


@pytest.mark.parametrize("params", [{"max_jobs": "many"}, {"max_pages": "0"}, {"max_jobs": "-1"}, {"max_page": "2"}])
def test_parameters_that_cannot_be_used_are_refused(params: dict[str, str], door: Door) -> None:
    with pytest.raises(ConfigError):
        door.run(board("Greenhouse"), **params)
