"""The drift gate over whole runs: a site changes between two of them, and the last good data stays current."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gossamer import Page, Report, Scraper, judging, runs
from gossamer.drift import Alarm
from gossamer.storage.store import Wanted
from gossamer.testing import Answer, Site
from tests.walk import __file__ as here
from tests.walk import items, run

PAGES, EACH = 4, 5
PRODUCT = '<li class=p><a href="/{n}">Thing {n}</a> <b class=price>£{n}.50</b> <i>in stock</i></li>'


def product(n: int) -> str:
    return PRODUCT.format(n=n)


def shop(site: Site, html: Any = product, status: int = 200) -> None:
    """Play the shop: pages of products, each made by `html(n)`."""
    for page in range(PAGES):
        things = "".join(html(n) for n in range(page * EACH, page * EACH + EACH))
        following = f'<a class=next href="/p{page + 1}">next</a>' if page + 1 < PAGES else ""
        body = f"<html><title>Shop</title><ul>{things}</ul>{following}</html>"
        answer = Answer(status=status, body=body)
        site.handler(f"/p{page}", lambda hit, answer=answer: answer)


def scraper(site: Site, **attributes: Any) -> type[Scraper]:
    def parse(self: Scraper, page: Page) -> Any:
        for each in page.css("li.p"):
            yield {
                "id": each.css("a::attr(href)").get(),
                "name": each.css("a").text,
                "price": each.css("b.price").text,
            }
        yield from page.follow("a.next")

    given = {"start_urls": [site.url("/p0")], "parse": parse, "key": "id", "kind": "product", "retries": 0}
    return type("Shop", (Scraper,), given | attributes)


def learned(site: Site, times: int = 3, **attributes: Any) -> type[Scraper]:
    """A scraper with good runs behind it."""
    made = scraper(site, **attributes)
    shop(site)
    for _ in range(times):
        assert run(made).exit_code == 0
    return made


def prices() -> set[str | None]:
    return {item["data"]["price"] for item in items()}


def alarm(run_id: int) -> Alarm:
    async def look() -> Alarm | None:
        async with runs.open_store("gossamer.db") as store:
            judged = await store.judgement(run_id)
            assert judged is not None
            return judging.alarm_of(judged)

    found = asyncio.run(look())
    assert found is not None
    return found


def decide(run_id: int | None, *, accept: bool) -> int:
    async def do() -> int:
        async with runs.open_parts("gossamer.db") as parts:
            return (await judging.decide(parts.store, run_id, accept=accept))[1]

    return asyncio.run(do())


def held(run_id: int) -> list[dict[str, Any]]:
    async def look() -> list[dict[str, Any]]:
        async with runs.open_store("gossamer.db") as store:
            return [item.record() async for item in store.items(Wanted(run=run_id, held=True))]

    return asyncio.run(look())


GOOD = {f"£{n}.50" for n in range(PAGES * EACH)}


# -- good runs -------------------------------------------------------------------------------------------------


def test_three_good_runs_are_learned_from_and_the_next_is_judged(site: Site) -> None:
    made = scraper(site)
    shop(site)
    assert [run(made).verdict for _ in range(5)] == ["learning", "learning", "learning", "good", "good"]
    assert len(items()) == PAGES * EACH
    assert {item["times_seen"] for item in items()} == {5}


def test_what_changes_without_breaking_the_pattern_comes_through(site: Site) -> None:
    made = learned(site)
    shop(site, lambda n: PRODUCT.format(n=n).replace(".50", ".99"))
    assert run(made).verdict == "good"
    assert prices() == {f"£{n}.99" for n in range(PAGES * EACH)}


def test_a_run_that_was_stopped_by_a_budget_is_judged_by_what_it_saw(site: Site) -> None:
    made = learned(site)
    shop(site, lambda n: PRODUCT.format(n=n).replace(".50", ".99"))
    report = run(made, max_pages=2)
    assert (report.status, report.verdict, report.items) == ("stopped", "good", 10)
    assert "£0.99" in prices()
    report = run(made)
    assert (report.status, report.verdict, report.items) == ("finished", "good", 20)
    assert prices() == {f"£{n}.99" for n in range(PAGES * EACH)}


# -- a layout changes ------------------------------------------------------------------------------------------


def dead_selector(n: int) -> str:
    return product(n).replace("class=price", "class=amount")


def half_gone(n: int) -> str:
    return product(n) if n % 2 else product(n).replace(f"£{n}.50", "")


def other_shape(n: int) -> str:
    return product(n).replace(f"£{n}.50", "Please call us for a price")


@pytest.mark.parametrize("html", [dead_selector, half_gone, other_shape])
def test_a_changed_layout_is_suspect_and_the_last_good_data_stays_current(site: Site, html: Any) -> None:
    made = learned(site)
    before = items()
    shop(site, html)
    report = run(made)
    assert (report.status, report.verdict, report.exit_code, report.items) == ("finished", "suspect", 4, 20)
    assert items() == before
    assert len(held(report.run)) == 20
    told = alarm(report.run)
    assert (told.cause, told.fields) == ("layout changed", ["price"])
    assert len(told.samples) == 3
    assert all(url.startswith(site.url("/p")) for url in told.samples)


def test_items_that_are_not_found_any_more_are_suspect_not_gone(site: Site) -> None:
    made = learned(site)
    shop(site, lambda n: product(n).replace("<li class=p>", "<li class=q>"))
    report = run(made)
    assert report.verdict == "suspect"
    assert len(items()) == PAGES * EACH
    told = alarm(report.run)
    assert told.cause == "layout changed"
    assert "0 items" in told.findings[0].told


def test_a_login_wall_is_suspect_and_said_to_be_a_block(site: Site) -> None:
    made = learned(site)
    shop(site, lambda n: "", status=403)
    report = run(made)
    assert report.verdict == "suspect"
    assert alarm(report.run).cause == "blocked"
    assert prices() == GOOD


def test_a_site_that_moved_is_suspect_and_said_to_have_moved(site: Site) -> None:
    made = learned(site)
    for page in range(PAGES):
        site.redirect(f"/p{page}", "https://elsewhere.example/")
    report = run(made)
    assert report.verdict == "suspect"
    assert alarm(report.run).cause == "moved"


def test_empty_pages_are_suspect_and_said_to_be_empty(site: Site) -> None:
    made = learned(site)
    site.page("/p0", "<p>back soon</p>")
    report = run(made)
    assert report.verdict == "suspect"
    assert alarm(report.run).cause == "empty"


def test_only_a_warning_if_that_is_asked_for(site: Site) -> None:
    made = learned(site, drift="warn")
    shop(site, dead_selector)
    assert run(made).verdict == "suspect"
    assert prices() == {None} or prices() == {""}


def test_nothing_is_judged_where_it_is_off(site: Site) -> None:
    made = learned(site, drift="off")
    shop(site, dead_selector)
    assert run(made).verdict == ""
    assert GOOD.isdisjoint(prices())


# -- a person's word -------------------------------------------------------------------------------------------


def test_what_is_accepted_comes_through_and_is_the_pattern_from_then_on(site: Site) -> None:
    made = learned(site)
    shop(site, dead_selector)
    report = run(made)
    assert decide(report.run, accept=True) == 20
    assert GOOD.isdisjoint(prices())
    assert run(made).verdict == "good"


def test_what_is_rejected_is_forgotten_and_the_next_run_is_judged_by_the_old_pattern(site: Site) -> None:
    made = learned(site)
    shop(site, dead_selector)
    report = run(made)
    assert decide(None, accept=False) == 0
    assert held(report.run) == []
    assert run(made).verdict == "suspect"
    shop(site)
    assert run(made).verdict == "good"
    assert prices() == GOOD


def test_what_an_accepted_run_did_not_see_is_gone(site: Site) -> None:
    made = learned(site)
    site.page("/p0", "<ul>" + "".join(product(n) for n in range(3)) + "</ul>")
    report = run(made)
    assert (report.verdict, len(items())) == ("suspect", 20)
    assert decide(report.run, accept=True) == 3
    assert len(items()) == 3


# -- kills -----------------------------------------------------------------------------------------------------


@pytest.mark.crash
def test_a_kill_while_items_come_through_loses_none(site: Site) -> None:
    made = learned(site)
    shop(site, lambda n: PRODUCT.format(n=n).replace(".50", ".99"))
    code = f"""
import os
import gossamer.storage.sqlite_items as module
module.GROUP = 7
real = module.SqliteItems._promote_group
def promote(self):
    if real(self) is not None:
        os.kill(os.getpid(), 9)
module.SqliteItems._promote_group = promote
from tests.walk.test_drift import scraper, run
class There:
    def url(self, path):
        return {site.url("")!r}.rstrip("/") + path
run(scraper(There()))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=".", env=_env(), timeout=50, capture_output=True)
    assert done.returncode == -9, done.stderr.decode()
    assert len({price for price in prices() if price and price.endswith(".99")}) == 7
    run(made)
    assert prices() == {f"£{n}.99" for n in range(PAGES * EACH)}


def _env() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(here).parents[2])}


# -- the command -----------------------------------------------------------------------------------------------


def gossamer(*words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "gossamer", *words], capture_output=True, text=True, timeout=50, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_the_command_shows_judges_and_decides(site: Site) -> None:
    made = learned(site)
    code, said, _ = gossamer("drift")
    assert (code, said.count("learning")) == (0, 3)
    shop(site, half_gone)
    report: Report = run(made)
    code, said, _ = gossamer("drift", str(report.run))
    assert code == 0
    for words in ("suspect", "layout changed", "product.price: filled in 50%", "look at http", "drift accept 4"):
        assert words in said
    told = msgspec.json.decode(gossamer("drift", "4", "--json")[1])
    assert (told["verdict"], told["alarm"]["cause"]) == ("suspect", "layout changed")
    assert gossamer("drift", "accept", "4")[0] == 0
    code, _, said = gossamer("drift", "reject", "4")
    assert (code, "not suspect but accepted" in said) == (2, True)
    for wrong in (["nonsense"], ["99"], ["accept", "99"], ["1", "2"]):
        code, _, said = gossamer("drift", *wrong)
        assert (code, said.startswith("gossamer: "), "Traceback" in said) == (2, True, False), said
