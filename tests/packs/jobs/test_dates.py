"""When a job was posted, and until when one may apply."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gossamer.packs.jobs import dates
from tests.packs import page_of

NOW = datetime(2025, 12, 5, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("3 days ago", "2025-12-02"),
        ("Posted 4d ago", "2025-12-01"),
        ("30+ days ago", "2025-11-05"),
        ("Today", "2025-12-05"),
        ("Yesterday", "2025-12-04"),
        ("Just now", "2025-12-05"),
        ("Just posted", "2025-12-05"),
        ("an hour ago", "2025-12-05"),
        ("16 hours ago", "2025-12-04"),
        ("5 min ago", "2025-12-05"),
        ("2 weeks ago", "2025-11-21"),
        ("a month ago", "2025-11-05"),
        ("2mo ago", "2025-10-06"),
        ("1 year ago", "2024-12-05"),
        ("2nd Dec 25", "2025-12-02"),
        ("2 nd Dec 25", "2025-12-02"),
        ("28th Nov '25", "2025-11-28"),
        ("02-Dec-25", "2025-12-02"),
        ("Posted on 1st December 2025", "2025-12-01"),
        ("03/04/2025", "2025-04-03"),
        ("2025-11-24", "2025-11-24"),
        ("2025-11-24T08:00:00Z", "2025-11-24"),
        ("01 Dec 2024", "2024-12-01"),
        ("December 1, 2024", "2024-12-01"),
        (1_764_000_000, "2025-11-24"),
    ],
)
def test_every_way_to_write_it(text: object, day: str) -> None:
    assert dates.posted(text, NOW) == day


@pytest.mark.parametrize(
    "text",
    [None, "", "soon", "few days ago", "31/31/2025", "2011-01-01", "2026-03-01", "99 years ago", True, [], "9" * 999],
)
def test_what_is_no_day_or_cannot_be_is_none(text: object) -> None:
    assert dates.posted(text, NOW) is None


def test_a_site_may_write_the_month_first() -> None:
    assert dates.posted("03/04/2025", NOW, order="MDY") == "2025-03-04"


def test_the_last_day_may_be_far_ahead() -> None:
    assert dates.closing("2027-01-31", NOW) == "2027-01-31"
    assert dates.closing("2010-01-31", NOW) is None


def test_days_are_counted_from_the_fetch_of_the_page() -> None:
    page = page_of("<p>", "https://a.example/")
    assert abs((dates.moment_of(page) - datetime.now(UTC)).total_seconds()) < 60  # one that does not know is of now
    assert dates.moment_of(1_764_000_000).year == 2025
    assert dates.moment_of(datetime(2025, 1, 1)).tzinfo is UTC
