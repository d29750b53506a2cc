"""The fields that follow from the others."""

from __future__ import annotations

from typing import Any

import pytest

from gossamer import ConfigError, Item, Rejected
from gossamer.packs.jobs.finishing import DESCRIPTION, finish, is_senior
from gossamer.packs.jobs.model import Job
from gossamer.packs.jobs.operations import operation_type
from gossamer.packs.jobs.scraper import JobScraper, matching


class Board(JobScraper):
    name = "jobs.reed"


class Own(JobScraper):
    name = "jobs.salt"
    company = "Salt Air"
    operation_type = "cargo"
    country_code = "GB"


def job(**fields: Any) -> Job:
    return Job(**{"url": "https://a.example/job/1", "title": "Flight Dispatcher", **fields})


def test_a_job_gets_what_can_be_told() -> None:
    made = finish(
        job(title="  Senior  Flight Dispatcher ", company="Signature Flight Support LLC", location="Luton, UK"), Board()
    )
    assert made.title == "Senior Flight Dispatcher"
    assert made.normalized_title == "senior flight dispatcher"
    assert made.is_senior_position
    assert (made.company, made.company_name) == ("Signature Flight Support LLC", "Signature Aviation")
    assert (made.country_code, made.operation_type) == ("GB", "business")
    assert made.source == "reed"
    assert made.apply_url == made.url
    assert (made.filter_match, made.filter_level) == (True, "high")


def test_what_a_source_says_is_kept() -> None:
    said = job(
        country_code="FR", operation_type="atc", apply_url="https://a.example/apply", location="Luton, UK", source="x"
    )
    made = finish(said, Own())
    assert (made.country_code, made.operation_type, made.source) == ("FR", "atc", "x")
    assert made.apply_url == "https://a.example/apply"


def test_what_the_class_says_of_its_company_fills_the_gaps() -> None:
    made = finish(job(location="Hangar 4"), Own())
    assert (made.company, made.company_name) == ("Salt Air", "Salt Air")
    assert (made.operation_type, made.country_code) == ("cargo", "GB")
    assert finish(job(location="Lyon, France"), Own()).country_code == "FR"


def test_what_nobody_says_is_none() -> None:
    made = finish(job(title="Cook", company="  ", description=" \n "), Board())
    unsaid = (made.company, made.company_name, made.country_code, made.operation_type, made.description, made.location)
    assert unsaid == (None,) * 6


def test_a_description_is_cut() -> None:
    made = finish(job(description="x" * 20_000, requirements="y" * 20_000), Board())
    assert made.description is not None
    assert made.requirements is not None
    assert (len(made.description), len(made.requirements)) == (DESCRIPTION, DESCRIPTION)


@pytest.mark.parametrize(
    ("title", "senior"),
    [
        ("Ramp Manager", True),
        ("Head of Crew Control", True),
        ("VP Operations", True),
        ("Vice-President Network", True),
        ("Sr. Dispatcher", True),
        ("Shift Lead", True),
        ("Leadership Trainee", False),
        ("Management Trainee", False),
        ("Overhead Crane Operator", False),
        ("Lead-Acid Battery Technician", False),
        ("Headset Repairer", False),
    ],
)
def test_seniority_is_told_by_whole_words(title: str, senior: bool) -> None:
    assert is_senior(title) is senior


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (("Cargo and Helicopter Pilot",), "cargo"),
        (("Helicopter Line Maintenance",), "helicopter"),
        (("Aircraft  Maintenance Planner",), "mro"),
        (("Ground-Handling Agent",), "ground_ops"),
        (("ATC Assistant",), "atc"),
        (("Private Jet Crew",), "business"),
        (("Low-cost carrier seeks pilots",), "low_cost"),
        (("Pilot", "Reed Airways"), "passenger"),
        (("Load Controller", "An airline of freighters"), "ground_ops"),
        (("Supercargoes wanted", "Fbox", None, 5), None),
        (("Escargot Chef",), None),
    ],
)
def test_operations_are_told_by_whole_words_in_an_order(texts: tuple[object, ...], kind: str | None) -> None:
    assert operation_type(*texts) == kind


def test_an_unknown_company_comes_along_for_review() -> None:
    _, item = Board().leaving(job(company="REEDBED AIRLINES GMBH"))
    assert isinstance(item, Item)
    assert (item.kind, item.key) == ("company", "reedbed airlines")
    record = item.record()
    assert (record["company_name"], record["operation_type"]) == ("Reedbed Airlines", "passenger")
    assert record["auto_created"]
    assert record["needs_review"]


def test_a_known_company_does_not() -> None:
    assert len(list(Board().leaving(job(company="Signature Flight Support")))) == 1
    assert len(list(Board().leaving(job(company=None)))) == 1
    assert len(list(Own().leaving(job()))) == 1


def test_only_matching_titles_on_request() -> None:
    with pytest.raises(Rejected, match="matches nothing"):
        matching({"title": "Cook", "filter_match": False})
    assert matching({"title": "Dispatcher", "filter_match": True})
    assert matching({"company_name": "Reed"})  # what is no job has no title
    assert matching in Board({"only": "matching"}).steps
    assert matching not in Board({"only": "all"}).steps


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"only": "some"}, "write only=matching"),
        ({"max_jobs": "many"}, "write a number"),
        ({"max_jobs": "-1"}, "write a number"),
        ({"filter": "nowhere.json"}, "no such file"),
        ({"companies": "nowhere.toml"}, "no such file"),
        ({"onyl": "matching"}, "did you mean 'only'"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_refused(params: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Board(params)
