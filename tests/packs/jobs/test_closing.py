"""Whether a posting is still open."""

from __future__ import annotations

import pytest

from gossamer import Page, Request, Response
from gossamer.packs.jobs import closing
from gossamer.values import Headers
from tests.packs import page_of

URL = "https://a.example/job/1"


def status(body: str, until: object = None) -> str:
    return closing.status_of(page_of(body, URL), until)


@pytest.mark.parametrize(
    "line",
    [
        "Sorry, this position has been filled.",
        "Position is filled",
        "This job is no longer available",
        "No longer accepting applications",
        "Application closed",
        "Job is closed",
        "Vacancy closed",
        "This vacancy is now closed.",
        "Role has been filled",
        "Good news! The role was filled.",
    ],
)
def test_a_page_that_says_it_is_closed(line: str) -> None:
    assert status(f"<h1>Load Planner</h1><p>{line}</p>") == "closed"


@pytest.mark.parametrize("line", ["Job expired", "The listing has expired", "This job has expired"])
def test_a_page_that_says_it_is_expired(line: str) -> None:
    assert status(f"<div>{line}</div>") == "expired"


@pytest.mark.parametrize(
    "body",
    [
        "<p>We take applications until the position is filled.</p>",
        "<p>Once the role has been filled, we tell everybody.</p>",
        "<p>If this job is no longer available, look at the others.</p>",
        "<script>var text = 'This job has expired';</script>",
        "<p hidden>This job has expired</p><p>Come and fly.</p>",
        "<p style='display: none'>This position has been filled.</p>",
        "<p>Engineer for closed loops: vacancy closed-loop control</p>",
        f"<p>{'We like people. ' * 30} The position was filled in 1999.</p>",
    ],
)
def test_a_page_that_only_speaks_of_it_is_open(body: str) -> None:
    assert status(body) == "active"


def test_the_last_day_counts_until_it_is_over_everywhere() -> None:
    assert closing.is_over("2025-12-03", 1_764_946_800)  # 2025-12-05 15:00
    assert not closing.is_over("2025-12-05", 1_764_946_800)
    assert not closing.is_over("2025-12-04", 1_764_900_000)  # half a day later, somewhere it is still the 4th
    assert not closing.is_over(None, 1_764_946_800)
    assert status("<p>Fly.</p>", "2019-01-01") == "expired"
    assert status("<p>Fly.</p>", "2199-01-01") == "active"
    assert status("<p>Fly.</p>", "whenever") == "active"


@pytest.mark.parametrize("code", [404, 410])
def test_a_page_that_is_not_there_is_closed(code: int) -> None:
    page = Page(Request(URL), Response(URL, code, Headers(), b"", 0.0, 0.0))
    assert closing.status_of(page) == "closed"


def test_an_answer_that_is_no_page_says_nothing() -> None:
    assert closing.status_of(page_of("{}", URL, "application/json")) == "active"
    assert closing.status_of(page_of("", URL)) == "active"
