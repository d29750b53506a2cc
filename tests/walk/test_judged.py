"""Runs that are judged, beside all else that a run can be: unchanged pages, budgets, errors, other runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gossamer import Page, Report, Scraper, judging, profiles, runs
from gossamer.errors import ConfigError
from gossamer.registry import Found
from gossamer.testing import Site
from tests.walk import items, run
from tests.walk.test_drift import (
    EACH,
    GOOD,
    PAGES,
    dead_selector,
    decide,
    held,
    learned,
    prices,
    product,
    scraper,
    shop,
)

ALL = PAGES * EACH


def mended(site: Site, **attributes: Any) -> type[Scraper]:
    """The scraper, once its author has seen the new layout."""

    def parse(self: Scraper, page: Page) -> Any:
        for each in page.css("li.p"):
            yield {
                "id": each.css("a::attr(href)").get(),
                "name": each.css("a").text,
                "price": each.css("b.amount").text,
            }
        yield from page.follow("a.next")

    return scraper(site, parse=parse, **attributes)


def raised(n: int) -> str:
    return product(n).replace(".50", ".99")


# -- unchanged pages -------------------------------------------------------------------------------------------


def test_unchanged_pages_keep_to_the_pattern(site: Site) -> None:
    made = learned(site, revisit="changed")
    report = run(made)
    assert (report.verdict, report.items, report.by_reason) == ("good", ALL, {"unchanged": PAGES})
    assert (prices(), {item["times_seen"] for item in items()}) == (GOOD, {4})


def test_a_page_whose_items_are_held_back_is_no_page_that_was_read(site: Site) -> None:
    """Else the next run would find it unchanged, and pass for good with the data of better days."""
    made = learned(site, revisit="changed")
    shop(site, dead_selector)
    for _ in range(2):
        report = run(made)
        assert (report.verdict, report.by_reason) == ("suspect", {"ok": PAGES})
    decide(5, accept=True)
    assert run(made).by_reason == {"unchanged": PAGES}
    assert GOOD.isdisjoint(prices())


def test_a_mended_scraper_reads_again_what_was_rejected(site: Site) -> None:
    made = learned(site, revisit="changed")
    shop(site, lambda n: dead_selector(n).replace(".50", ".99"))
    assert run(made).verdict == "suspect"
    decide(4, accept=False)
    report = run(mended(site, revisit="changed"))
    assert (report.verdict, report.by_reason) == ("good", {"ok": PAGES})
    assert prices() == {f"£{n}.99" for n in range(ALL)}


# -- runs that stop and go on ----------------------------------------------------------------------------------


def broken_and_stopped(site: Site) -> type[Scraper]:
    made = learned(site)
    shop(site, dead_selector)
    report = run(made, max_pages=2)
    assert (report.run, report.status, report.verdict, len(held(4))) == (4, "stopped", "suspect", 2 * EACH)
    return made


def test_a_suspect_run_goes_on_and_is_judged_as_a_whole(site: Site) -> None:
    made = broken_and_stopped(site)
    report = run(made)
    assert (report.run, report.status, report.verdict, report.items) == (4, "finished", "suspect", ALL)
    assert (prices(), len(held(4))) == (GOOD, ALL)


def test_a_run_that_looked_suspect_at_first_may_be_good_in_the_end(site: Site) -> None:
    made = learned(site)
    shop(site, lambda n: raised(n) if n >= 3 else dead_selector(n))
    assert run(made, max_pages=1).verdict == "suspect"
    report = run(made)
    assert (report.run, report.verdict, report.items) == (4, "good", ALL)
    assert "£5.99" in prices()


def test_an_accepted_run_goes_on_and_stays_accepted(site: Site) -> None:
    made = broken_and_stopped(site)
    assert decide(4, accept=True) == 2 * EACH
    report = run(made)
    assert (report.run, report.status, report.verdict, report.items) == (4, "finished", "accepted", ALL)
    assert GOOD.isdisjoint(prices())
    assert run(made).verdict == "good"


def test_a_rejected_run_is_over(site: Site) -> None:
    made = broken_and_stopped(site)
    decide(4, accept=False)
    shop(site)
    report = run(made)
    assert (report.run, report.verdict) == (5, "good")

    async def resume(run_id: int) -> None:
        async with runs.open_store("gossamer.db") as store:
            await runs.resume_plan(store, run_id, {})

    with pytest.raises(ConfigError, match="run 4 was rejected: start a new one"):
        asyncio.run(resume(4))


def test_a_run_that_could_not_be_judged_is_judged_when_it_is_resumed(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = learned(site)
    shop(site, raised)
    with monkeypatch.context() as patched:
        patched.setattr(profiles, "profile", lambda *a, **k: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(made)
    assert (prices(), len(held(4))) == (GOOD, ALL)
    report = run(made)
    assert (report.run, report.status, report.verdict) == (4, "finished", "good")
    assert GOOD.isdisjoint(prices())


def test_the_gate_may_be_turned_off_while_items_wait(site: Site) -> None:
    made = learned(site)
    shop(site, dead_selector)
    assert run(made, max_pages=1).verdict == "suspect"
    report = run(scraper(site, drift="off"))
    assert (report.run, report.status) == (4, "finished")


# -- other runs ------------------------------------------------------------------------------------------------


def test_a_broken_site_stays_suspect_however_often_it_is_asked(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging.drift, "COMPARED", 1)
    made = learned(site)
    shop(site, dead_selector)
    assert [run(made).verdict for _ in range(7)] == ["suspect"] * 7
    assert prices() == GOOD


def test_scrapers_on_one_store_leave_each_other_alone(site: Site) -> None:
    made = learned(site)
    other = type("Other", (made,), {"start_urls": [site.url("/p3")]})
    assert [run(other).verdict for _ in range(4)] == ["learning", "learning", "learning", "good"]
    assert len(items()) == ALL + EACH
    assert run(made).verdict == "good"


def test_a_narrower_run_is_another_pattern_and_takes_nothing_away(site: Site) -> None:
    made = learned(site)
    for verdict in ("learning", "learning", "learning", "good"):
        report = run(made, depth=1)
        assert (report.verdict, report.items) == (verdict, 2 * EACH)
    assert len(items()) == ALL
    assert run(made).verdict == "good"


def test_parameters_are_the_same_in_any_order(site: Site) -> None:
    made = scraper(site)
    shop(site)
    for params in ({"a": "1", "b": {"c": 1, "d": 2}}, {"b": {"d": 2, "c": 1}, "a": "1"}, {"a": "1"}):
        run(made, params=params)

    async def past() -> list[int]:
        async with runs.open_store("gossamer.db") as store:
            return [len(await store.past(n, 9)) for n in (1, 2, 3)]

    assert asyncio.run(past()) == [0, 1, 0]


def test_a_dry_run_is_not_judged(site: Site) -> None:
    made = learned(site)
    shop(site, dead_selector)
    report = run(made, dry_run=True)
    assert (report.verdict, report.items) == ("", ALL)
    assert prices() == GOOD


def test_a_budget_of_items_holds_where_they_are_held_back(site: Site) -> None:
    made = learned(site)
    report = run(made, max_items=7, per_host=1)
    assert (report.status, report.reason, report.items, report.verdict) == ("stopped", "max_items", 2 * EACH, "good")
    assert run(made).items == ALL


# -- what cannot begin -----------------------------------------------------------------------------------------


class Unmakeable(Scraper):
    start_urls = ("http://127.0.0.1:9/",)

    def __init__(self, params: Any = None) -> None:
        super().__init__(params)
        if "year" not in self.params:
            raise KeyError("year")

    def parse(self, page: Page) -> Any:
        return None


def test_a_scraper_that_cannot_be_made_leaves_nothing_behind(site: Site) -> None:
    async def twice() -> list[int]:
        async with runs.open_parts("gossamer.db") as parts:
            for _ in range(2):
                with pytest.raises(ConfigError, match="Unmakeable cannot be made: KeyError: 'year'"):
                    await runs.execute(parts, runs.plan(Found(Unmakeable, "u.py:Unmakeable"), flags={"rate": "none"}))
            return [each.id for each in await parts.store.runs()]

    assert asyncio.run(twice()) == []
    made = scraper(site)
    shop(site)
    report: Report = run(made)
    assert (report.run, report.status) == (1, "finished")


# -- the archive beside it -------------------------------------------------------------------------------------


def archived() -> list[str]:
    return sorted(
        str(path) for path in Path().glob("gossamer.db.archive*") if not path.name.endswith(("-wal", "-shm", ".lock"))
    )


def test_the_pages_of_a_store_that_is_no_more_are_set_aside_each_time(site: Site) -> None:
    made = scraper(site)
    shop(site)
    for _ in range(3):
        run(made)
        Path("gossamer.db").unlink()
    assert archived() == ["gossamer.db.archive", "gossamer.db.archive.old", "gossamer.db.archive.old2"]


def test_an_archive_without_pages_is_not_set_aside(site: Site) -> None:
    for _ in range(2):
        with pytest.raises(ConfigError):
            run(Unmakeable)
    assert archived() == ["gossamer.db.archive"]
