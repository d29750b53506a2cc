"""`gossamer jobs`: the names that a person should look at, and the system that a company's jobs are in."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import gossamer
from gossamer import ConfigError, registry
from gossamer.cli_jobs import jobs_app
from gossamer.demo.packs import PackSites
from gossamer.packs.jobs import AviationJobSearch, FlyGosh, Signature
from gossamer.testing import Site


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with the jobs of three scrapers."""
    monkeypatch.chdir(tmp_path)
    collect()
    return tmp_path / "jobs.db"


def collect() -> None:
    with PackSites() as sites:
        for scraper in (AviationJobSearch, FlyGosh, Signature):
            gossamer.run(scraper, store="jobs.db", revisit="always", **{**sites.knobs(), "rate": "none"})


def companies(*args: str) -> list[dict[str, Any]]:
    told = CliRunner().invoke(jobs_app, ["companies", "--store", "jobs.db", "--json", *args], catch_exceptions=False)
    assert told.exit_code == 0
    return [json.loads(line) for line in told.stdout.splitlines()]


def accept(*args: str) -> str:
    told = CliRunner().invoke(jobs_app, ["companies", "accept", *args], catch_exceptions=False)
    assert told.exit_code == 0
    return told.output


def test_a_review_from_the_list_to_the_next_run(store: Path) -> None:
    waiting = companies()
    assert [(one["company_name"], one["jobs"], one["active"]) for one in waiting] == [
        ("Harrier & Finch Airlines", 2, 2),
        ("Saltmarsh Airways", 2, 1),
        ("Nordlicht Air Cargo", 1, 1),
        ("Tarmac Bros", 1, 1),
    ]
    assert set(waiting[0]["written"]) == {"Harrier & Finch Airlines", "Harrier & Finch Airlines plc"}
    assert (waiting[0]["country_code"], waiting[2]["operation_type"]) == ("GB", "cargo")
    assert waiting[2]["last_job_date"] == "2026-10-12"

    assert "is in companies.toml" in accept("Saltmarsh Airways Ltd", "--as", "Salt", "--operation", "low_cost")
    accept("Tarmac Bros")
    assert [one["company_name"] for one in companies()] == ["Harrier & Finch Airlines", "Nordlicht Air Cargo"]
    known = {one["company_name"]: one for one in companies("--all")}
    assert known["Salt"]["jobs"] == 2
    assert not known["Signature Aviation"]["needs_review"]
    assert known["Signature Aviation"]["jobs"] == 28  # 27 of its own, and one of a board under another name

    collect()
    jobs = [job for job in gossamer.items("jobs.db", kind="job") if "Saltmarsh" in (job["company"] or "")]
    assert {(job["company_name"], job["operation_type"]) for job in jobs} == {("Salt", "low_cost")}


def test_the_list_for_people(store: Path) -> None:
    shown = CliRunner().invoke(jobs_app, ["companies", "--store", "jobs.db"], catch_exceptions=False)
    assert "Nordlicht Air Cargo" in shown.output
    assert "accept NAME" in shown.output


def test_a_store_without_jobs_has_nothing_to_review(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(jobs_app, ["companies", "--store", "none.db"])
    assert isinstance(told.exception, gossamer.StoreError)


def test_a_table_elsewhere_and_in_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    accept("Reed Air Ltd", "--country", "fr", "--companies", "mine.csv")
    assert (tmp_path / "mine.csv").read_text("utf-8") == "name,also,operation,country\nReed Air,Reed Air Ltd,,FR\n"
    accept("Reed Air Ltd")
    told = tomllib.loads((tmp_path / "companies.toml").read_text("utf-8"))
    assert told == {"company": [{"name": "Reed Air", "also": ["Reed Air Ltd"]}]}


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["Reed", "--operation", "ships"], "is none of passenger"),
        (["Reed", "--country", "France"], "write two letters"),
        (["Unknown"], "is no name of a company"),
        (["Reed", "--as", "n/a"], "is no name of a company"),
    ],
)
def test_what_cannot_be_accepted_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(jobs_app, ["companies", "accept", *args])
    assert isinstance(told.exception, ConfigError)
    assert says in str(told.exception)
    assert not list(tmp_path.iterdir())


def test_accept_says_what_a_store_has_of_a_company(store: Path) -> None:
    told = accept("Saltmarsh Airways Ltd", "--as", "Salt", "--store", "jobs.db")
    assert "2 of its jobs read by jobs.flygosh: `gossamer replay jobs.flygosh --store jobs.db --apply`" in told
    assert "replay" not in accept("Nobody's Jets", "--store", "jobs.db")


def test_options_before_accept_hold_for_it(store: Path) -> None:
    args = ["companies", "--store", "jobs.db", "--companies", "mine.csv", "accept", "Tarmac Bros"]
    told = CliRunner().invoke(jobs_app, args, catch_exceptions=False)
    assert "is in mine.csv" in told.output
    assert "gossamer replay jobs.aviationjobsearch --store jobs.db --param companies=mine.csv --apply" in told.output
    assert not (store.parent / "companies.toml").exists()


def test_a_store_that_is_not_there_is_told_of_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(jobs_app, ["companies", "accept", "Reed Air", "--store", "none.db"])
    assert isinstance(told.exception, gossamer.StoreError)
    assert not list(tmp_path.iterdir())


# --- detect ---


def detected(*args: str, code: int = 0) -> tuple[str, str]:
    told = CliRunner().invoke(jobs_app, ["detect", *args], catch_exceptions=False)
    assert told.exit_code == code
    return told.stdout, told.stderr


def test_detect_prints_a_file_and_says_what_to_do_with_it(tmp_path: Path) -> None:
    printed, told = detected("https://boards.greenhouse.io/windhover/jobs/1001")
    assert printed.splitlines()[-2:] == ["class Windhover(Greenhouse):", '    board = "windhover"']
    assert told == ("its jobs are in Greenhouse: save these lines as windhover.py, then `gossamer run windhover.py`\n")
    file = tmp_path / "windhover.py"
    file.write_text(printed, "utf-8")
    (found,) = registry.load_all(str(file))
    assert found.scraper.name == "jobs.windhover"


def test_the_name_of_a_class_is_no_word_of_python() -> None:
    assert "class CompanyNone(Greenhouse):" in detected("https://boards.greenhouse.io/none")[0]


@pytest.mark.parametrize("address", ["https://acme.example/careers", "http://[", "acme", "\x1b[31m"])
def test_an_address_of_no_known_system_is_one_sentence(address: str) -> None:
    printed, told = detected(address, code=1)
    assert not printed
    assert told.startswith("no system is known by this address: try --fetch")
    assert told.count("\n") == 1


def test_detect_looks_at_a_page_if_it_is_told_to() -> None:
    with Site() as site:
        site.page("/jobs", '<iframe src="https://boards.greenhouse.io/embed/job_board?for=acme"></iframe>')
        site.page("/none", "<p>Write to us.</p>")
        assert 'board = "acme"' in detected(site.url("/jobs"), "--fetch")[0]
        assert "links to" in detected(site.url("/none"), "--fetch", code=1)[1]
        assert "could not be read" in detected(site.url("/gone"), "--fetch", code=3)[1]
