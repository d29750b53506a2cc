"""The dashboard in a real Chromium, before a real service: the shell, overview, scrapers, runs."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from gossamer.testing import Site
from tests.service.browsing import HOSTILE, LURE, PATIENCE, PHONE, Visitor, chromium, rows, write
from tests.service.serving import SCRAPER, Served

__all__ = ["chromium"]

expect.set_options(timeout=PATIENCE)
#: Every page of the shell that this file is about.
PAGES = ("/", "/scrapers", "/scrapers?name=quotes", "/runs", "/runs/1")
_BROKEN = """
from gossamer import Scraper


class Bad(Scraper):
    name = {}['''HERE''']
"""


@pytest.fixture(scope="module")
def shop() -> Iterator[Site]:
    """A site with twenty pages that answer at once, and many that take their time."""
    with Site() as site:
        for n in range(20):
            link = f'<a href="/{n + 1}">next</a>' if n < 19 else ""
            site.page(f"/{n}" if n else "/", f'<p class="quote" data-n="{n}">said {n}</p>{link}')
        links = "".join(f'<a href="/slow/{n}">{n}</a>' for n in range(500))
        site.page("/slow/", links)
        site.page("/slow/*", '<p class="quote" data-n="s">slow</p>', latency=0.2)
        yield site


@pytest.fixture(scope="module")
def served(shop: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One service for all tests here: nobody walks what no test asked for."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "quotes.py").write_text(SCRAPER.format(name="quotes", url=shop.url("/"), rate="none", more=""))
    (folder / "slow.py").write_text(SCRAPER.format(name="slow", url=shop.url("/slow/"), rate="20/s", more=""))
    (folder / "broken.py").write_text(_BROKEN.replace("HERE", HOSTILE))
    made = Served(folder)
    yield made
    made.stop()


@pytest.fixture
def anna(chromium: Browser, served: Served) -> Iterator[Visitor]:
    """Somebody who is logged in with everything; her pages must have done nothing strange."""
    made = Visitor(chromium, served.url).log_in(served.token)
    yield made
    assert made.strange == []
    made.close()


def started(served: Served, scraper: str, **more: Any) -> int:
    """A run, asked for through the API."""
    status, answer = served.call("POST", "/api/runs", {"scraper": scraper, **more})
    assert status == 202, answer
    run: int = answer["run"]
    return run


def cancelled(served: Served, run: int) -> None:
    served.call("POST", f"/api/runs/{run}/cancel")
    served.wait_for(run)


def button(page: Page | Locator, name: str) -> Any:
    return page.get_by_role("button", name=name, exact=True)


# -- coming in -----------------------------------------------------------------------------------------------------


def test_who_is_not_logged_in_sees_the_log_in_page_and_comes_back(chromium: Browser, served: Served) -> None:
    visitor = Visitor(chromium, served.url)
    visitor.page.goto(f"{served.url}/runs?state=failed")
    assert visitor.path() == "/login?next=/runs%3Fstate%3Dfailed"
    visitor.page.fill("#token", served.token)
    button(visitor.page, "Log in").click()
    expect(visitor.page.get_by_role("heading", name="Runs")).to_be_visible()
    assert visitor.path() == "/runs?state=failed"
    visitor.close()


def test_the_overview_teaches_when_there_is_nothing_yet(anna: Visitor) -> None:
    page = anna.go("/")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    expect(page.get_by_text("No runs yet. Press Run on the page of scrapers.")).to_be_visible()
    assert page.get_by_text("gossamer run").count() == 0, "the service refuses that while it is up"
    expect(page.get_by_text("Nothing is scheduled")).to_be_visible()


def test_logging_out_ends_every_tab(anna: Visitor) -> None:
    page = anna.go("/runs")
    page.get_by_role("button", name="Who is logged in").click()
    expect(page.get_by_text("first-start")).to_be_visible()
    button(page, "Log out").click()
    page.wait_for_url("**/login")
    page.goto(f"{anna.url}/runs")
    assert anna.path().startswith("/login")


# -- running and watching ------------------------------------------------------------------------------------------


def test_a_run_is_started_and_watched_until_it_ends_without_a_reload(anna: Visitor, served: Served) -> None:
    page = anna.go("/scrapers")
    page.get_by_role("button", name="Run quotes").click()
    page.get_by_label("Stop after pages").fill("15")
    page.get_by_role("dialog").get_by_role("button", name="Run").click()
    page.wait_for_url("**/runs/*")
    page.evaluate("window.same = true")
    expect(page.locator(".g-badge").get_by_text("stopped")).to_be_visible()
    assert page.evaluate("window.same") is True
    run = int(page.url.rpartition("/")[2])
    expect(page.get_by_role("status")).to_contain_text("Stopped: it has as many pages as it was to read")
    assert served.get(f"/api/runs/{run}")["via"] == "dashboard"
    expect(page.get_by_text("first-start, through dashboard")).to_be_visible()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()


def test_the_overview_shows_a_run_while_it_goes_on_and_stops_when_it_ends(anna: Visitor, served: Served) -> None:
    page = anna.go("/")
    page.evaluate("window.same = true")
    run = started(served, "slow")
    line = page.get_by_role("link", name=f"slow · run {run}")
    expect(line).to_be_visible()
    bar = page.get_by_role("progressbar", name=f"progress of run {run}")
    expect(bar).to_have_attribute("aria-valuenow", re.compile(r"\d+"))
    cancelled(served, run)
    expect(line).to_have_count(0)
    expect(page.get_by_text("Nothing runs now.")).to_be_visible()
    assert page.evaluate("window.same") is True


def test_a_run_is_cancelled_and_resumed_from_its_page(anna: Visitor, served: Served) -> None:
    run = started(served, "slow")
    page = anna.go(f"/runs/{run}")
    expect(page.locator(".g-badge").get_by_text("running")).to_be_visible()
    expect(page.get_by_role("group", name="Hosts")).to_contain_text("127.0.0.1")
    button(page, "Cancel").click()
    expect(page.locator(".g-badge").get_by_text("cancelled")).to_be_visible()
    assert served.wait_for(run)["state"] == "cancelled"
    button(page, "Resume").click()
    expect(page.locator(".g-badge").get_by_text("running")).to_be_visible()
    cancelled(served, run)
    expect(page.locator(".g-badge").get_by_text("cancelled")).to_be_visible()
    told = rows(served, "select action, who, via from trail where target = :run order by id", run=str(run))
    assert ("run.cancel", "first-start", "dashboard") in told
    assert ("run.resume", "first-start", "dashboard") in told


def test_runs_are_narrowed_down_and_the_address_says_so(anna: Visitor, served: Served) -> None:
    run = started(served, "quotes")
    served.wait_for(run)
    page = anna.go("/runs")
    expect(page.get_by_role("link", name=str(run), exact=True)).to_be_visible()
    page.get_by_label("State").click()
    page.get_by_role("option", name="cancelled").click()
    page.wait_for_url("**/runs?state=cancelled")
    expect(page.get_by_role("link", name=str(run), exact=True)).to_have_count(0)
    page.goto(f"{anna.url}/runs?scraper=quotes&state=finished")
    expect(page.get_by_role("link", name=str(run), exact=True)).to_be_visible()
    page.get_by_label("Find").fill("no such thing")
    expect(page.get_by_text("No run is like that")).to_be_visible()


def test_new_runs_come_into_the_list_by_themselves(anna: Visitor, served: Served) -> None:
    page = anna.go("/runs")
    run = started(served, "quotes")
    expect(page.get_by_role("link", name=str(run), exact=True)).to_be_visible()


def test_a_hidden_tab_is_left_alone_and_catches_up(anna: Visitor, served: Served) -> None:
    page = anna.go("/runs")
    look = "(hidden) => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });"
    look += " document.dispatchEvent(new Event('visibilitychange')); }"
    page.evaluate(look, True)
    page.wait_for_timeout(500)
    run = started(served, "quotes")
    served.wait_for(run)
    page.wait_for_timeout(4_000)
    assert page.get_by_role("link", name=str(run), exact=True).count() == 0
    page.evaluate(look, False)
    expect(page.get_by_role("link", name=str(run), exact=True)).to_be_visible()


def test_deleting_asks_first(anna: Visitor, served: Served) -> None:
    run = started(served, "quotes")
    served.wait_for(run)
    page = anna.go(f"/runs/{run}")
    button(page, "Delete").click()
    expect(page.get_by_text(f"Delete run {run}?")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert served.call("GET", f"/api/runs/{run}")[0] == 200
    button(page, "Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.wait_for_url("**/runs")
    assert served.call("GET", f"/api/runs/{run}")[0] == 404
    page.goto(f"{anna.url}/runs/{run}")
    expect(page.get_by_text(f"there is no run {run}")).to_be_visible()


# -- scrapers and schedules ----------------------------------------------------------------------------------------


def test_a_schedule_is_previewed_saved_and_paused(anna: Visitor, served: Served) -> None:
    page = anna.go("/scrapers")
    page.get_by_role("button", name="Schedule quotes").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("By a cron string").click()
    dialog.get_by_role("textbox", name="Cron").fill("99 * * * *")
    expect(dialog.get_by_text("cannot be used")).to_be_visible()
    expect(button(dialog, "Save")).to_be_disabled()
    dialog.get_by_role("textbox", name="Cron").fill("30 6 * * *")
    dialog.get_by_label("Time zone").fill("Asia/Tokyo")
    expect(dialog.locator("pre")).to_have_text(re.compile(r"(\d{4}-\d\d-\d\d 06:30:00 Asia/Tokyo .*\n?){5}"))
    button(dialog, "Save").click()
    expect(page.get_by_role("cell", name="30 6 * * * (Asia/Tokyo)")).to_be_visible()
    page.get_by_role("button", name="Schedule quotes").click()
    page.get_by_role("dialog").get_by_text("Enabled").click()
    button(page.get_by_role("dialog"), "Save").click()
    expect(page.get_by_role("cell", name="paused")).to_be_visible()


def test_every_schedule_of_a_scraper_is_shown_and_in_hand(anna: Visitor, served: Served) -> None:
    page = anna.go("/scrapers?name=slow")
    for name, every in (("slow", "6h"), ("slow-2", "1d")):
        button(page, "Add a schedule").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_label("Name of the schedule")).to_have_value(name)
        dialog.get_by_role("textbox", name="Every").fill(every)
        if name == "slow-2":
            dialog.get_by_text("More", exact=True).click()
            dialog.get_by_label("First run after").fill("90")
            dialog.get_by_label("Failures before it is paused").fill("none")
            dialog.get_by_label("Warn if nothing new for").fill("2d")
            dialog.get_by_label("Parameters").fill("city = Berlin")
        button(dialog, "Save").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.get_by_role("cell", name=f"every {every}")).to_be_visible()
    made = served.get("/api/schedules/slow-2")
    assert (made["first_delay"], made["pause_after"], made["silence"]) == (90, None, 172_800)
    assert made["params"] == {"city": "Berlin"}
    button(page, "Edit slow-2").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("More", exact=True).click()
    expect(dialog.get_by_label("Warn if nothing new for")).to_have_value("2d")
    dialog.get_by_label("First run after").fill("")
    dialog.get_by_label("Parameters").fill("")
    button(dialog, "Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    made = served.get("/api/schedules/slow-2")
    assert (made["first_delay"], made["params"], made["silence"]) == (None, {}, 172_800)
    button(page, "Pause slow-2").click()
    expect(button(page, "Resume slow-2")).to_be_visible()
    assert not served.get("/api/schedules/slow-2")["enabled"]
    button(page, "Remove slow-2").click()
    button(page.get_by_role("dialog"), "Remove").click()
    expect(page.get_by_role("cell", name="slow-2", exact=True)).to_have_count(0)
    expect(page.get_by_role("cell", name="every 6h")).to_be_visible()
    button(page, "Remove slow").click()
    button(page.get_by_role("dialog"), "Remove").click()
    expect(page.get_by_text("Only when somebody starts it.")).to_be_visible()


def test_what_is_left_alone_says_when_it_is_really_tried(anna: Visitor, served: Served) -> None:
    made = served.call("POST", "/api/schedules", {"name": "often", "scraper": "slow", "every": "2h"})
    assert made[0] == 201, made
    breaker = "insert into scraper (name, breaker, streak, openings, open_until) values ('slow', 'open', 3, 20, :until)"
    breaker += " on conflict (name) do update set breaker = 'open', streak = 3, openings = 20, open_until = :until"
    write(served, breaker, until=time.time() + 5 * 3600 + 60)
    page = anna.go("/scrapers?name=slow")
    expect(page.get_by_role("row").filter(has_text="often")).to_contain_text("in 5 h")
    page = anna.go("/")
    line = page.locator(".g-row").filter(has=page.get_by_role("link", name="often"))
    expect(line).to_contain_text("paused")
    expect(line).to_contain_text("in 5 h")
    write(served, "update scraper set breaker = 'closed', streak = 0, open_until = 0 where name = 'slow'")
    served.call("DELETE", "/api/schedules/often")


def test_a_scraper_is_disabled_and_enabled(anna: Visitor, served: Served) -> None:
    page = anna.go("/scrapers")
    page.get_by_role("switch", name="quotes enabled").click()
    expect(page.get_by_role("cell", name="disabled")).to_be_visible()
    assert served.call("POST", "/api/runs", {"scraper": "quotes"})[0] == 409
    page.get_by_role("switch", name="quotes enabled").click()
    expect(page.get_by_role("cell", name="disabled")).to_have_count(0)


def test_bad_parameters_are_said_where_they_are_written(anna: Visitor) -> None:
    page = anna.go("/scrapers?name=quotes")
    button(page, "Run").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Parameters").fill("no equals sign")
    dialog.get_by_role("button", name="Run").click()
    expect(dialog.get_by_text("is no parameter")).to_be_visible()


# -- who may do what -----------------------------------------------------------------------------------------------


def test_who_may_only_read_is_offered_nothing(chromium: Browser, served: Served) -> None:
    _, made = served.call("POST", "/api/tokens", {"name": "reader", "scope": "read"})
    reader = Visitor(chromium, served.url).log_in(made["token"])
    page = reader.go("/scrapers")
    expect(page.get_by_role("link", name="quotes")).to_be_visible()
    assert page.get_by_role("button", name=re.compile("Run|Schedule")).count() == 0
    reader.close()


def test_a_scope_that_was_taken_away_holds_at_once(chromium: Browser, served: Served) -> None:
    password = "correct horse battery staple"
    made = served.call("POST", "/api/users", {"name": "ben", "password": password, "scope": "run"})
    assert made[0] == 201, made
    ben = Visitor(chromium, served.url).log_in_as("ben", password)
    run = started(served, "slow")
    page = ben.go(f"/runs/{run}")
    expect(button(page, "Cancel")).to_be_visible()
    changed = served.call("PATCH", "/api/users/ben", {"scope": "read"})
    assert changed[0] == 200, changed
    button(page, "Cancel").click()
    expect(page.get_by_text("this needs the scope run")).to_be_visible()
    assert served.get(f"/api/runs/{run}")["state"] in ("pending", "running")
    cancelled(served, run)
    ben.close()


def test_a_session_that_was_ended_leaves_the_page(chromium: Browser, served: Served) -> None:
    password = "correct horse battery staple"
    served.call("POST", "/api/users", {"name": "cleo", "password": password, "scope": "run"})
    cleo = Visitor(chromium, served.url).log_in_as("cleo", password)
    page = cleo.go("/scrapers?name=quotes")
    assert served.call("DELETE", "/api/users/cleo")[0] == 200
    page.wait_for_url("**/login**", timeout=40_000)
    cleo.close()


# -- hostile texts -------------------------------------------------------------------------------------------------


def test_nothing_that_others_wrote_becomes_markup(anna: Visitor, served: Served) -> None:
    run = started(served, "quotes", params={"city": HOSTILE, "link": LURE})
    served.wait_for(run)
    now = time.time()
    write(
        served,
        "update run set reason = :bad, asked_by = :bad, state = 'failed', options = :options where id = :run",
        bad=HOSTILE,
        options=json.dumps({":title": "window.pwned='key'", "x": HOSTILE}),
        run=run,
    )
    write(served, "insert into run_reason (run_id, reason, n) values (:run, :bad, 3)", run=run, bad=HOSTILE)
    write(
        served,
        "insert into alert (key, kind, scraper, run_id, at, title) values ('k', :bad, :bad, :run, :at, :bad)",
        bad=HOSTILE,
        run=run,
        at=now,
    )
    write(
        served,
        "insert into event (at, level, name, run_id, message) values (:at, 'error', 'bad', :run, :bad)",
        at=now,
        run=run,
        bad=HOSTILE,
    )
    for path in (f"/runs/{run}", "/runs", "/scrapers", "/scrapers?name=quotes", "/"):
        page = anna.go(path)
        expect(page.get_by_text("<img src=x").first).to_be_visible()
        page.wait_for_timeout(1500)
        assert anna.pwned() is None, path
        assert page.locator("img[src=x], svg[onload], a[href^=javascript]").count() == 0, path
    page.get_by_role("button", name="Alerts").click()
    expect(page.get_by_text("<img src=x").last).to_be_visible()
    page.wait_for_timeout(500)
    assert anna.pwned() is None
    button(page, "Mark all as seen").click()
    write(served, "update run set reason = 'x', asked_by = 'x', options = '{}' where id = :run", run=run)


def test_hostile_queries_are_only_texts(anna: Visitor) -> None:
    for path in (
        f"/runs?q={HOSTILE}&scraper={HOSTILE}",
        f"/scrapers?name={HOSTILE}",
        f"/{HOSTILE}",
        f"/search?q={LURE}",
    ):
        anna.page.goto(anna.url + path)
        anna.page.wait_for_timeout(800)
        assert anna.pwned() is None, path
    anna.strange.clear()  # a page that is not there is a 404, and says so


# -- everywhere ----------------------------------------------------------------------------------------------------


def test_a_phone_needs_no_scrolling_sideways(chromium: Browser, served: Served) -> None:
    phone = Visitor(chromium, served.url, viewport=PHONE, has_touch=True, is_mobile=True).log_in(served.token)
    served.wait_for(started(served, "quotes"))
    for path in PAGES:
        page = phone.go(path)
        page.wait_for_timeout(700)
        assert phone.overflow() <= 0, path
    expect(page.get_by_role("navigation", name="Pages")).not_to_be_in_viewport()
    page.get_by_role("button", name="Navigation").click()
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Runs").click()
    page.wait_for_url("**/runs")
    assert phone.strange == []
    phone.close()


def test_the_dark_follows_the_system_and_can_be_chosen(chromium: Browser, served: Served) -> None:
    visitor = Visitor(chromium, served.url, color_scheme="dark").log_in(served.token)
    page = visitor.go("/")

    def dark() -> Any:
        return page.evaluate("document.body.classList.contains('body--dark')")

    assert dark()
    theme = page.get_by_role("button", name=re.compile("Theme"))
    theme.click()
    assert not dark()
    visitor.go("/runs")
    assert not dark(), "what was chosen is remembered"
    page.get_by_role("button", name=re.compile("Theme")).click()
    page.emulate_media(color_scheme="light")
    visitor.go("/")
    assert dark()
    assert visitor.strange == []
    visitor.close()


def test_the_keyboard_searches_jumps_and_helps(anna: Visitor, served: Served) -> None:
    run = started(served, "quotes")
    page = anna.go("/")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type(str(run))
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{run}")
    anna.go(f"/runs/{run}")
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/scrapers")
    anna.go("/scrapers")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog").get_by_text("Keyboard")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("/")
    page.keyboard.type("quotes")
    page.keyboard.press("Enter")
    page.wait_for_url("**/scrapers?name=quotes")


def test_buttons_and_fields_have_names(anna: Visitor) -> None:
    for path in PAGES:
        page = anna.go(path)
        nameless = page.evaluate(
            """[...document.querySelectorAll('button, a, input, [role=progressbar]')].filter((each) =>
                each.offsetParent && !(each.innerText.trim() || each.ariaLabel || each.labels?.length || each.title))
                .map((each) => each.outerHTML.slice(0, 120))"""
        )
        assert nameless == [], path


def test_everything_comes_from_here(anna: Visitor) -> None:
    with anna.page.expect_response(lambda answer: answer.url == f"{anna.url}/") as found:
        anna.go("/")
    policy = found.value.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "gossamer_session" not in anna.page.content()


def test_the_search_box_knows_what_is_meant() -> None:
    from gossamer.dashboard.search import place

    assert place(" 12 ", ()) == "/runs/12"
    assert place("run 12", ()) == "/runs/12"
    assert place("HTTPS://example.org/a b", ()) == "/items?q=HTTPS%3A%2F%2Fexample.org%2Fa+b"
    assert place("Art", ("art",)) == "/scrapers?name=art"
    assert place("//evil.example", ()) == "/items?q=%2F%2Fevil.example"
    assert place("", ()) == "/"


def test_static_files_are_part_of_the_package() -> None:
    from gossamer import dashboard

    folder = Path(dashboard.__file__).parent / "static"
    assert {path.name for path in folder.iterdir()} >= {"gossamer.css", "gossamer.js", "favicon.svg"}
