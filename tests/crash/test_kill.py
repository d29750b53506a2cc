"""kill -9 at any moment, start again: the final data equals the uninterrupted run's."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.chaos import Job, Left, Place, Quiet, jobs, rounds_of_kills
from tests.crash.site import PAGES

pytestmark = pytest.mark.crash

KILLS = 8


@pytest.mark.parametrize("which", [0, 1], ids=["crawl", "scraper"])
def test_killed_again_and_again_it_ends_with_the_same_data(
    place: Place, quiet: Callable[[Job], Quiet], tmp_path: Path, which: int
) -> None:
    """Same pages, same items, none twice, equal counters, and fetched again at most what was in flight."""
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # shown if it fails
    job = jobs(place)[which]
    rounds = list(rounds_of_kills(job, place, quiet(job), tmp_path, random.Random(seed), KILLS))
    assert [r.differences for r in rounds] == [[]] * len(rounds)
    assert sum(r.kills for r in rounds) == KILLS


def test_quiet_runs_meet_what_can_go_wrong(place: Place, quiet: Callable[[Job], Quiet]) -> None:
    """What kills are compared with is worth comparing: pages fail, are skipped, redirected, tried again."""
    crawl, shop = (quiet(job) for job in jobs(place))
    assert crawl.left.counters["pages"] == PAGES
    assert crawl.left.counters["waiting"] == 0
    assert max(crawl.asked.values()) == 2
    by_reason = shop.left.counters["by_reason"]
    assert by_reason.keys() == {"ok", "redirect", "robots", "http_404", "handler"}
    kinds = {kind for kind, _, _ in shop.left.items}
    assert kinds == {"item", "brand", "stock"}
    assert shop.asked["/shop/clock/0"] == 12


def test_a_difference_is_told(place: Place, quiet: Callable[[Job], Quiet]) -> None:
    """The comparison itself: a lost page, a double item and a wrong counter are each named."""
    job = jobs(place)[1]
    good = quiet(job).left
    page, item = next(iter(good.pages)), next(iter(good.items))
    bad = Left(
        pages=good.pages - Counter([page]), items=good.items + Counter([item]), counters=good.counters | {"pages": 0}
    )
    told = bad.differs(good)
    assert [line.partition(":")[0] for line in told] == ["pages", "items", "pages"]
    assert good.differs(good) == []
