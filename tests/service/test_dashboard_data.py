"""The pages of data in a real Chromium, before a real service: items, URLs, sources, errors, drift, submit, people."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from gossamer import urls
from gossamer.testing import Site
from tests.service.browsing import HOSTILE, LURE, PATIENCE, PHONE, Visitor, chromium, rows, write
from tests.service.serving import Served

__all__ = ["chromium"]

expect.set_options(timeout=PATIENCE)

_SHOP = """
import json

from gossamer import Scraper


class Shop(Scraper):
    name = "shop"
    start_urls = ["{url}"]
    key = "sku"
    rate = "none"
    gone = "never"
    retries = 0

    def parse(self, page):
        for node in page.css(".thing"):
            yield json.loads(node.attributes["data-json"])
        yield from page.follow("a")


class Odd(Scraper):
    name = "odd"
    start_urls = ["{url}odd"]
    key = "sku"
    rate = "none"

    def parse(self, page):
        for node in page.css(".thing"):
            yield json.loads(node.attributes["data-json"])
"""
#: Words that are written from right to left, and a text nobody could read.
TURNED = "\u202eabc\u202d \u05d0\u05d1"
LONG = "long" * 5_000
ODD = {
    "sku": HOSTILE,
    "name": HOSTILE,
    "link": LURE,
    "turned": TURNED,
    "long": LONG,
    ":title": "window.pwned='key'",
    "<img src=x onerror=\"window.pwned='field'\">": HOSTILE,
    "__proto__": {"x": HOSTILE},
    "nested": {":style": "window.pwned='nested'", "deep": [HOSTILE, {"a": LURE}]},
}


def thing(record: dict[str, Any]) -> str:
    return f'<p class="thing" data-json="{html.escape(json.dumps(record))}">a thing</p>'


def shelf(site: Site, **changed: Any) -> None:
    """Twelve things on the start page, and links that lead to no good."""
    things = [{"sku": f"s{n}", "name": f"Chair {n}", "price": 10 + n, "tags": ["oak"], **changed} for n in range(12)]
    links = '<a href="/secret">secret</a><a href="/missing">missing</a><a href="/page">page</a>'
    site.page("/", "".join(map(thing, things)) + links)


@pytest.fixture(scope="module")
def shop() -> Iterator[Site]:
    with Site() as site:
        site.page("/robots.txt", "User-agent: *\nDisallow: /secret\n# <script>window.pwned='robots'</script>\n")
        site.page("/page", "<title>A page</title>")
        site.page("/odd", thing(ODD))
        site.page("/article", "<title>News</title><article><h1>News</h1>" + "<p>Words of news.</p>" * 30 + "</article>")
        shelf(site)
        yield site


@pytest.fixture(scope="module")
def served(shop: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One service for all tests here: three good runs, then one that breaks their pattern, and one with odd things."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "shop.py").write_text(_SHOP.format(url=shop.url("/")))
    (folder / "gossamer.toml").write_text("allow_private = true\n")
    made = Served(folder)
    for n in range(4):
        shelf(shop, price=20 + n)
        ran(made, "shop")
    shelf(shop, price=None)
    assert ran(made, "shop")["verdict"] == "suspect"
    ran(made, "odd")
    yield made
    made.stop()


def ran(served: Served, scraper: str) -> dict[str, Any]:
    """A run from its start to its end."""
    status, answer = served.call("POST", "/api/runs", {"scraper": scraper})
    assert status == 202, answer
    return served.wait_for(answer["run"])


@pytest.fixture
def anna(chromium: Browser, served: Served) -> Iterator[Visitor]:
    """Somebody who is logged in with everything; her pages must have done nothing strange."""
    made = Visitor(chromium, served.url).log_in(served.token)
    yield made
    assert made.strange == []
    made.close()


def button(page: Any, name: str) -> Any:
    return page.get_by_role("button", name=name, exact=True)


def choose(page: Page, label: str, option: str) -> None:
    """Pick something from a list."""
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def item_of(served: Served, key: str) -> int:
    number: int = rows(served, "select id from item where key = :key", key=key)[0][0]
    return number


# -- items ---------------------------------------------------------------------------------------------------------


def test_an_item_is_found_and_tells_its_history_field_by_field(anna: Visitor, served: Served) -> None:
    page = anna.go("/items")
    expect(page.get_by_role("link", name="Chair 11", exact=True)).to_be_visible()
    page.get_by_label("Find").fill("chair 7")
    expect(page.get_by_role("link", name="Chair 11", exact=True)).to_have_count(0)
    page.wait_for_url("**/items?q=chair+7")
    page.get_by_role("link", name="Chair 7", exact=True).click()
    page.wait_for_url(f"**/items/{item_of(served, 's7')}")
    expect(page.get_by_role("heading", name="Chair 7")).to_be_visible()
    first = page.locator(".g-change").first
    expect(first.locator(".g-badge")).to_have_text("changed")
    row = first.get_by_role("row").filter(has_text="price")
    expect(row.locator(".g-was")).to_have_text("22")
    expect(row.locator(".g-is")).to_have_text("23")
    expect(page.locator(".g-change").last.get_by_text("found for the first time")).to_be_visible()
    expect(page.get_by_role("group", name="Seen by").get_by_role("link", name="4", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="why it was fetched")).to_be_visible()


def test_items_are_filtered_and_columns_are_chosen(anna: Visitor) -> None:
    page = anna.go("/items?scraper=shop")
    expect(page.get_by_role("columnheader", name="price")).to_be_visible()
    page.get_by_label("Where").fill("sku = 's3'")
    expect(page.get_by_role("link", name="Chair 3", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Chair 4", exact=True)).to_have_count(0)
    page.get_by_label("Where").fill("sku >")
    expect(page.get_by_text("cannot be read")).to_be_visible()
    anna.go("/items?scraper=shop&columns=tags")
    expect(page.get_by_role("columnheader", name="tags")).to_be_visible()
    expect(page.get_by_role("columnheader", name="price")).to_have_count(0)
    page.get_by_label("Columns").click()
    page.get_by_role("option", name="price", exact=True).click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("columnheader", name="price")).to_be_visible()
    page.wait_for_url(re.compile("columns=tags%7Cprice"))
    anna.go("/items?gone=only")
    expect(page.get_by_text("No item is like that")).to_be_visible()


def test_new_items_come_in_without_a_reload(anna: Visitor, served: Served) -> None:
    page = anna.go("/items")
    page.evaluate("window.same = true")
    expect(page.get_by_role("link", name="Chair 11", exact=True)).to_be_visible()
    write(
        served,
        "insert into item (scraper, kind, key, data, url, first_seen, last_seen, last_changed) "
        """values ('shop', 'thing', 'late', '{"name": "A late table"}', 'http://x.test/', 1, 1, 1)""",
    )
    expect(page.get_by_role("link", name="A late table")).to_be_visible()
    assert page.evaluate("window.same") is True
    write(served, "delete from item where key = 'late'")


def test_what_lies_far_back_is_found_by_searching_on(anna: Visitor, served: Served) -> None:
    write(
        served,
        "insert into item (scraper, kind, key, data, url, first_seen, last_seen, last_changed) "
        "with recursive n(id) as (select 1 union all select id + 1 from n where id < 30000) "
        """select 'bulk', 'thing', id, '{"name": "one of many"}', 'http://x.test/', 1, 1, 1 from n""",
    )
    page = anna.go("/items?q=chair+7")
    expect(page.get_by_text("rows were searched so far: Next searches on.")).to_be_visible()
    expect(page.get_by_text("No item is like that: clear a filter, or search on with Next.")).to_be_visible()
    for _ in range(100):
        button(page, "Next").click()
        page.wait_for_timeout(300)
        if page.get_by_role("link", name="Chair 7", exact=True).is_visible():
            break
    expect(page.get_by_role("link", name="Chair 7", exact=True)).to_be_visible()
    expect(page.get_by_text("rows were searched so far")).to_be_hidden()
    button(page, "Previous").click()
    expect(page.get_by_text("rows were searched so far")).to_be_visible()
    write(served, "delete from item where scraper = 'bulk'")


@pytest.mark.parametrize("style", ["JSON lines", "CSV", "Parquet"])
def test_an_export_has_what_the_filters_let_through(anna: Visitor, style: str, tmp_path: Path) -> None:
    page = anna.go("/items?scraper=shop&where=" + quote("sku = 's3' or sku = 's4'"))
    button(page, "Export").click()
    with page.expect_download() as found:
        page.get_by_role("link", name=style).click()
    target = tmp_path / "export"
    found.value.save_as(target)
    if style == "JSON lines":
        assert [json.loads(line)["sku"] for line in target.read_text().splitlines()] == ["s3", "s4"]
    elif style == "CSV":
        assert [line.partition(",")[0] for line in target.read_text().splitlines()] == ["sku", "s3", "s4"]
    else:
        assert target.read_bytes()[:4] == b"PAR1"


# -- URLs ----------------------------------------------------------------------------------------------------------


def test_why_a_url_was_skipped_is_told_in_words(anna: Visitor, shop: Site) -> None:
    page = anna.go("/urls?state=skipped")
    url = shop.url("/secret")
    page.get_by_role("link", name=url).first.click()
    page.wait_for_url("**/urls?url=*")
    expect(page.get_by_text("skipped: robots.txt").first).to_be_visible()
    expect(page.get_by_text("found on").first).to_be_visible()
    outside = page.get_by_role("link", name="Open the page")
    expect(outside).to_have_attribute("href", url)
    expect(outside).to_have_attribute("rel", re.compile("noopener noreferrer"))


def test_a_url_nobody_met_and_one_that_is_none(anna: Visitor) -> None:
    page = anna.go("/urls?url=" + quote("https://elsewhere.example/x"))
    expect(page.get_by_text("No run has met it")).to_be_visible()
    page = anna.go("/urls?url=" + quote("not a url"))
    expect(page.locator(".g-note")).to_be_visible()


def test_urls_are_narrowed_down(anna: Visitor, shop: Site) -> None:
    page = anna.go("/urls")
    choose(page, "State", "failed")
    expect(page.get_by_role("link", name=shop.url("/missing")).first).to_be_visible()
    expect(page.get_by_role("link", name=shop.url("/secret"))).to_have_count(0)
    page.get_by_label("Run", exact=True).fill("2")
    page.wait_for_url("**/urls?state=failed&run=2")
    expect(page.get_by_role("link", name=shop.url("/missing"))).to_have_count(1)
    page.get_by_label("Run", exact=True).fill("two")
    expect(page.get_by_text("is no run")).to_be_visible()


def test_a_url_is_deactivated_and_activated_and_that_asks_first(anna: Visitor, served: Served, shop: Site) -> None:
    url = shop.url("/page")
    page = anna.go("/urls?url=" + quote(url))
    button(page, "Deactivate").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(url)
    button(dialog, "Cancel").click()
    expect(dialog).to_have_count(0)
    assert rows(served, "select count(*) from mark") == [(0,)]
    button(page, "Deactivate").click()
    button(dialog, "Deactivate").click()
    expect(page.get_by_text("every run skips it")).to_be_visible()
    assert rows(served, "select url, by from mark") == [(url, "first-start")]
    anna.go("/urls?q=/page")
    expect(page.get_by_role("cell", name="inactive").first).to_be_visible()
    page.get_by_role("button", name=re.compile("^Activate")).first.click()
    expect(page.get_by_role("cell", name="inactive")).to_have_count(0)
    assert rows(served, "select count(*) from mark") == [(0,)]
    told = rows(served, "select who, via from trail where action = 'url.deactivate' and target = :url", url=url)
    assert told == [("first-start", "dashboard")]


def test_a_url_is_fetched_again_and_what_came_of_it_is_shown(anna: Visitor, shop: Site) -> None:
    page = anna.go("/urls?url=" + quote(shop.url("/page")))
    before = page.locator(".g-story").count()
    button(page, "Fetch again").click()
    expect(page.get_by_text("fetches it again")).to_be_visible()
    expect(page.locator(".g-head .g-badge").get_by_text("finished").first).to_be_visible()
    expect(page.locator(".g-story")).to_have_count(before + 1)


# -- sources -------------------------------------------------------------------------------------------------------


def test_a_host_is_paused_given_a_budget_and_resumed(anna: Visitor, served: Served, shop: Site) -> None:
    host = shop.url("/").split("/")[2]
    page = anna.go("/sources")
    expect(page.get_by_role("cell", name="rules")).to_be_visible()
    page.get_by_role("button", name=f"Pause {host}").click()
    expect(page.get_by_role("cell", name="paused")).to_be_visible()
    assert rows(served, "select paused, ruled_by from source where host = :host", host=host) == [(1, "first-start")]
    page.get_by_role("button", name=f"Budget {host}").click()
    page.get_by_label("Pages of one run").fill("500")
    button(page.get_by_role("dialog"), "Save").click()
    expect(page.get_by_role("cell", name="500")).to_be_visible()
    page.get_by_role("link", name=host).click()
    page.wait_for_url("**/sources?host=*")
    expect(page.get_by_text("Disallow: /secret")).to_be_visible()
    button(page, "Resume").click()
    expect(button(page, "Pause")).to_be_visible()
    button(page, "Budget").click()
    page.get_by_label("Pages of one run").fill("")
    button(page.get_by_role("dialog"), "Save").click()
    expect(page.get_by_text("no limit", exact=True)).to_be_visible()
    assert rows(served, "select paused, budget from source where host = :host", host=host) == [(0, None)]


def test_a_host_nobody_asked_yet(anna: Visitor) -> None:
    page = anna.go("/sources?host=never.example")
    expect(page.get_by_text("No run has asked this host yet")).to_be_visible()


# -- errors --------------------------------------------------------------------------------------------------------


def test_failures_are_grouped_by_cause_with_examples_and_what_to_do(anna: Visitor, shop: Site) -> None:
    page = anna.go("/errors")
    group = page.locator("section").filter(has=page.get_by_role("heading", name="The page does not exist any more"))
    expect(group).to_contain_text("100 % of all in this time")
    expect(group).to_contain_text("http_404")
    expect(group).to_contain_text("What to do: nothing, unless it is most pages")
    expect(group.get_by_role("img", name="The page does not exist any more: failures by the hour")).to_be_visible()
    group.get_by_role("link", name="All of them").click()
    page.wait_for_url("**/urls?state=failed&reason=http_404")
    expect(page.get_by_role("link", name=shop.url("/missing")).first).to_be_visible()
    anna.go("/errors")
    group.get_by_role("link", name=shop.url("/missing")).first.click()
    page.wait_for_url("**/urls?url=*")
    anna.go("/errors?scraper=odd")
    expect(page.get_by_text("Nothing failed in this time")).to_be_visible()


# -- drift ---------------------------------------------------------------------------------------------------------


def test_a_suspect_run_is_shown_beside_the_last_good_and_accepted(anna: Visitor, served: Served) -> None:
    page = anna.go("/drift")
    expect(page.get_by_role("cell", name="layout changed")).to_be_visible()
    page.get_by_role("link", name="5", exact=True).click()
    page.wait_for_url("**/drift?run=5")
    expect(page.get_by_role("heading", name="Beside the last good run, 4")).to_be_visible()
    row = page.get_by_role("row").filter(has=page.get_by_role("cell", name="price", exact=True))
    expect(row).to_contain_text("100% number")
    expect(row).to_contain_text("0%")
    expect(row).to_contain_text("emptier")
    expect(page.get_by_role("group", name="Items that are held back").get_by_text("Chair 0").first).to_be_visible()
    expect(page.get_by_role("link", name="All that is held back")).to_be_visible()
    button(page, "Accept").click()
    button(page.get_by_role("dialog"), "Cancel").click()
    assert served.get("/api/runs/5")["verdict"] == "suspect"
    button(page, "Accept").click()
    button(page.get_by_role("dialog"), "Accept").click()
    expect(page.locator(".g-title .g-badge")).to_have_text("accepted")
    expect(button(page, "Accept")).to_have_count(0)
    anna.go(f"/items/{item_of(served, 's1')}")
    expect(page.locator(".g-change").first.locator(".g-is")).to_have_text("(nothing)")
    anna.go("/drift?verdict=accepted")
    expect(page.get_by_role("cell", name="accepted")).to_be_visible()


# -- submit --------------------------------------------------------------------------------------------------------


def test_a_batch_is_submitted_and_watched(anna: Visitor, served: Served, shop: Site) -> None:
    page = anna.go("/submit")
    url = shop.url("/article")
    page.locator("#g-urls").fill(f"{url}\n{url}\nftp://x.test/\nnonsense {HOSTILE}\n# {shop.url('/never')}")
    choose(page, "Parser", re.compile("^article"))  # type: ignore[arg-type]
    button(page, "Submit").click()
    expect(page.get_by_text("it is in the batch already")).to_be_visible()
    expect(page.get_by_text("it is no URL").first).to_be_visible()
    expect(page.locator(".g-head .g-badge").get_by_text("finished")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="1 page")).to_be_visible()
    run = int(page.get_by_role("link", name=re.compile(r"^Run \d+$")).inner_text().split()[1])
    assert served.get(f"/api/runs/{run}")["pages"] == 1
    assert anna.pwned() is None


def test_ten_thousand_urls_in_a_file(anna: Visitor, served: Served, tmp_path: Path, shop: Site) -> None:
    file = tmp_path / "urls.txt"
    file.write_text("\n".join(f"{shop.url('/many/')}{n}?{'x' * 60}" for n in range(10_000)))
    page = anna.go("/submit")
    page.locator("#g-file").set_input_files(file)
    expect(page.locator("#g-urls")).to_have_value(re.compile(r"/9999\?"))
    button(page, "Submit").click()
    expect(page.get_by_role("heading", name="10,000 taken, 0 refused")).to_be_visible()
    run = int(page.get_by_role("link", name=re.compile(r"^Run \d+$")).inner_text().split()[1])
    served.call("POST", f"/api/runs/{run}/cancel")
    served.wait_for(run)
    assert rows(served, "select count(*) from request where run_id = :run", run=run) == [(10_000,)]
    paste(page, "\n".join(f"http://x.test/{n}" for n in range(10_001)))
    button(page, "Submit").click()
    expect(page.get_by_text("10,001 URLs are too many at once")).to_be_visible()
    page.locator("#g-urls").evaluate("(field) => { field.value = 'x'.repeat(5_000_000) }")
    button(page, "Submit").click()
    expect(page.get_by_text("that is too much at once")).to_be_visible()
    page.locator("#g-urls").fill("   ")
    button(page, "Submit").click()
    expect(page.get_by_text("no URL was given")).to_be_visible()


def paste(page: Page, text: str) -> None:
    """As somebody does who copied it elsewhere."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    page.locator("#g-urls").evaluate("(field) => { field.value = '' }")
    page.locator("#g-urls").focus()
    page.keyboard.press("Control+V")
    expect(page.locator("#g-urls")).to_have_value(re.compile(re.escape(text[-10:])))


# -- logs, proxies, settings ---------------------------------------------------------------------------------------


def test_events_come_in_live_and_are_filtered(anna: Visitor, served: Served) -> None:
    page = anna.go("/logs?level=error")
    page.evaluate("window.same = true")
    statement = "insert into event (at, level, name, run_id, scraper, message) values (:at, :level, :n, 3, 'shop', :m)"
    write(served, statement, at=time.time(), level="error", n="test.late", m="the roof is on fire")
    expect(page.get_by_text("the roof is on fire")).to_be_visible()
    assert page.evaluate("window.same") is True
    write(served, statement, at=time.time(), level="info", n="test.calm", m="all is calm")
    page.wait_for_timeout(2_000)
    expect(page.get_by_text("all is calm")).to_have_count(0)
    anna.go("/logs?run=3")
    expect(page.get_by_text("all is calm")).to_be_visible()
    page.get_by_role("switch", name="Live").click()
    write(served, statement, at=time.time(), level="info", n="test.still", m="nobody hears this")
    page.wait_for_timeout(2_500)
    expect(page.get_by_text("nobody hears this")).to_have_count(0)
    page.get_by_role("switch", name="Live").click()
    expect(page.get_by_text("nobody hears this")).to_be_visible()


def test_the_trail_is_for_admins(anna: Visitor, chromium: Browser, served: Served) -> None:
    page = anna.go("/logs")
    page.get_by_role("link", name="Trail: who did what").click()
    expect(page.get_by_role("cell", name="run.start").first).to_be_visible()
    page.get_by_label("Did what").fill("token")
    expect(page.get_by_role("cell", name="token.create").first).to_be_visible()
    expect(page.get_by_role("cell", name="run.start")).to_have_count(0)
    _, made = served.call("POST", "/api/tokens", {"name": "looker", "scope": "run"})
    ben = Visitor(chromium, served.url).log_in(made["token"])
    page = ben.go("/logs")
    expect(page.get_by_role("heading", name="Logs")).to_be_visible()
    assert page.get_by_role("link", name=re.compile("Trail")).count() == 0
    for path in ("/logs?tab=trail", "/users"):
        page = ben.go(path)
        expect(page.get_by_text("This page cannot be shown")).to_be_visible()
        expect(page.get_by_text("needs the scope admin")).to_be_visible()
    page = ben.go("/sources")
    assert page.get_by_role("button", name=re.compile("Pause|Budget")).count() == 0
    ben.close()


def test_a_scope_that_was_taken_away_shows_nothing_more_of_the_trail(chromium: Browser, served: Served) -> None:
    password = "correct horse battery staple"
    made = served.call("POST", "/api/users", {"name": "eve", "password": password, "scope": "admin"})
    assert made[0] == 201, made
    eve = Visitor(chromium, served.url).log_in_as("eve", password)
    tab = eve.new_page()
    tab.goto(f"{served.url}/users")
    tab.wait_for_function("window.did_handshake === true")
    page = eve.go("/logs?tab=trail")
    expect(page.get_by_role("cell", name="run.start").first).to_be_visible()
    assert served.call("PATCH", "/api/users/eve", {"scope": "read"})[0] == 200
    page.get_by_label("Did what").fill("token")
    expect(page.get_by_text("this needs the scope admin")).to_be_visible()
    expect(page.get_by_role("cell", name="token.create")).to_have_count(0)
    button(tab, "New token").click()
    tab.get_by_role("dialog").get_by_label("Name").fill("stolen")
    button(tab.get_by_role("dialog"), "Create").click()
    expect(tab.get_by_text("this needs the scope admin, and eve has read")).to_be_visible()
    assert rows(served, "select count(*) from token where name = 'stolen'") == [(0,)]
    assert served.call("DELETE", "/api/users/eve")[0] == 200
    eve.close()


def test_settings_workers_and_proxies(anna: Visitor) -> None:
    page = anna.go("/settings")
    expect(page.get_by_role("cell", name="alive")).to_be_visible()
    page.get_by_label("Find").fill("allow_private")
    row = page.get_by_role("row").filter(has_text="allow_private")
    expect(row).to_contain_text("true")
    expect(row).to_contain_text("gossamer.toml")
    page = anna.go("/proxies")
    expect(page.get_by_text("No proxies yet")).to_be_visible()
    button(page, "Check all").click()
    expect(page.get_by_text("0 proxies of 0 answered")).to_be_visible()


# -- people and tokens ---------------------------------------------------------------------------------------------


def test_a_token_is_made_shown_once_used_and_revoked(anna: Visitor, served: Served) -> None:
    page = anna.go("/users")
    button(page, "New token").click()
    page.get_by_role("dialog").get_by_label("Name").fill("robot")
    button(page.get_by_role("dialog"), "Create").click()
    secret = page.locator("#g-secret").inner_text()
    assert served.call("GET", "/api/runs", token=secret)[0] == 200
    assert served.call("POST", "/api/runs", {"scraper": "shop"}, token=secret)[0] == 403
    button(page, "I have it").click()
    expect(page.locator("#g-secret")).to_have_count(0)
    row = page.get_by_role("row").filter(has=page.get_by_role("cell", name="robot", exact=True))
    expect(row).to_contain_text("good")
    assert secret not in page.content()
    row.get_by_role("button", name=re.compile("^Revoke")).click()
    button(page.get_by_role("dialog"), "Revoke").click()
    expect(row).to_contain_text("revoked")
    assert served.call("GET", "/api/runs", token=secret)[0] == 401


def test_a_person_is_made_changed_disabled_and_deleted(anna: Visitor, chromium: Browser, served: Served) -> None:
    page = anna.go("/users")
    button(page, "New person").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("dora")
    dialog.get_by_label("Password", exact=True).fill("short")
    button(dialog, "Create").click()
    expect(page.get_by_role("alert").first).to_be_visible()
    dialog.get_by_label("Password", exact=True).fill("correct horse battery staple")
    button(dialog, "Create").click()
    expect(page.get_by_role("cell", name="dora", exact=True)).to_be_visible()
    Visitor(chromium, served.url).log_in_as("dora", "correct horse battery staple").close()

    page.get_by_role("button", name="Password dora").click()
    page.get_by_role("dialog").get_by_label("New password").fill("another horse battery staple")
    button(page.get_by_role("dialog"), "Change").click()
    expect(page.get_by_text("dora has another password")).to_be_visible()
    dora = Visitor(chromium, served.url).log_in_as("dora", "another horse battery staple")
    dora.close()

    page.get_by_role("button", name="Scope dora").click()
    page.get_by_role("dialog").get_by_label("May").click()
    page.get_by_role("option", name=re.compile("^run")).click()
    button(page.get_by_role("dialog"), "Change").click()
    row = page.get_by_role("row").filter(has=page.get_by_role("cell", name="dora", exact=True))
    expect(row.get_by_role("cell", name="run", exact=True)).to_be_visible()

    page.get_by_role("button", name="Disable dora").click()
    button(page.get_by_role("dialog"), "Disable").click()
    expect(row).to_contain_text("disabled")
    page.get_by_role("button", name="Enable dora").click()
    expect(row).to_contain_text("good")
    page.get_by_role("button", name="Delete dora").click()
    button(page.get_by_role("dialog"), "Delete").click()
    expect(page.get_by_role("cell", name="dora", exact=True)).to_have_count(0)
    done = [row[0] for row in rows(served, "select action from trail where target = 'dora' order by id")]
    assert [each for each in done if each.startswith("account.")] == [
        "account.create",
        "account.password",
        "account.scope",
        "account.disable",
        "account.enable",
        "account.delete",
    ]


# -- hostile texts -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def odd(served: Served) -> Iterator[list[str]]:
    """Everything hostile that rows can hold, and the pages that show it."""
    run = rows(served, "select id from run where scraper = 'odd'")[0][0]
    bad, now = {"bad": HOSTILE, "lure": LURE, "at": time.time(), "run": run}, time.time()
    host = f"{TURNED}{HOSTILE}"
    known = urls.absolute(f"http://x.test/{TURNED}{HOSTILE}")
    write(
        served,
        "insert into source (host, last_hit, ready_at, why, paused, ruled_by) values (:host, 1, :at + 9999, "
        ":bad, 0, :bad)",
        host=host.lower()[:200],
        at=now,
        bad=HOSTILE,
    )
    write(
        served,
        "insert into notice (host, at, kind, seconds, detail) values (:host, :at, :bad, 1, :bad)",
        host=host.lower()[:200],
        at=now,
        bad=HOSTILE,
    )
    for n, (state, url) in enumerate([(2, LURE), (3, f"http://x.test/{HOSTILE}{LONG}"), (3, known)]):
        write(
            served,
            "insert into request (run_id, digest, url, host, shard, handler, depth, priority, hops, state, "
            "reason, detail, status, started, elapsed) values (:run, :digest, :url, :host, 1, :bad, 0, 0, 0, :state, "
            ":bad, :bad, 200, :at, 1)",
            run=run,
            digest=urls.digest(urls.comparable(url)) if url == known else f"odd{n}",
            url=url,
            host=host,
            state=state,
            bad=HOSTILE,
            at=now,
        )
    write(
        served,
        "insert into cause (hour, scraper, reason, n) values (:hour, 'odd', :bad, 3)",
        hour=int(now) // 3600,
        bad=HOSTILE,
    )
    write(
        served,
        "insert into event (at, level, name, run_id, scraper, message, data) values "
        "(:at, 'error', :bad, :run, :bad, :bad, :data)",
        at=now,
        bad=HOSTILE,
        run=run,
        data=json.dumps({":title": "window.pwned='key'", "x": HOSTILE}),
    )
    write(
        served,
        "insert into trail (at, who, via, action, target, detail, address) values "
        "(:at, :bad, :bad, :bad, :lure, :data, :bad)",
        **{**bad, "data": json.dumps({HOSTILE: LURE})},
    )
    write(
        served,
        "insert into worker (name, pid, started, at, data) values (:bad, 1, :at, :at, '{}')",
        at=now,
        bad=HOSTILE,
    )
    alarm = {
        "cause": HOSTILE,
        "because": HOSTILE,
        "samples": [LURE, f"http://x.test/{HOSTILE}"],
        "findings": [{"what": "filled", "kind": HOSTILE, "field": HOSTILE, "was": 1, "now": 0, "told": HOSTILE}],
    }
    field = {"filled": 1.0, "types": {HOSTILE: 1.0}, "shapes": {HOSTILE: 1.0}}
    profile = {
        "items": 1,
        "rejected": 0,
        "pages": 1,
        "size": 1.0,
        "endings": {},
        "handlers": {},
        "kinds": {HOSTILE: {"n": 1, "fields": {HOSTILE: field, ":title": field}}},
    }
    write(
        served,
        "insert or replace into profile (run_id, scraper, params, at, data, alarm) values "
        "(:run, 'odd', '{}', :at, :data, :alarm)",
        run=run,
        at=now,
        data=json.dumps(profile),
        alarm=json.dumps(alarm),
    )
    write(served, "update run set verdict = 'suspect' where id = :run", run=run)
    write(
        served,
        "insert into staged (run_id, kind, key, data, url, request_id, seen) values "
        "(:run, :bad, :bad, :data, :lure, 0, :at)",
        **bad | {"data": json.dumps(ODD)},
    )
    yield [
        "/items",
        "/items?scraper=odd&columns=" + quote("|".join(ODD)),
        f"/items/{item_of(served, HOSTILE)}",
        "/urls",
        f"/urls?run={run}",
        "/urls?url=" + quote(known),
        "/sources",
        "/sources?host=" + quote(host.lower()[:200]),
        "/errors",
        "/drift",
        f"/drift?run={run}",
        "/submit",
        "/proxies",
        "/logs",
        "/logs?tab=trail",
        "/users",
        "/settings",
    ]
    write(served, "delete from worker where name = :bad", bad=HOSTILE)
    write(served, "update run set verdict = '' where id = :run", run=run)


def test_nothing_that_a_site_wrote_becomes_markup(anna: Visitor, odd: list[str]) -> None:
    silent = ("/submit", "/proxies", "/users")
    for path in odd:
        page = anna.go(path)
        if path not in silent:
            expect(page.get_by_text("window.pwned='img'").first, path).to_be_attached()
        page.wait_for_timeout(600)
        assert anna.pwned() is None, path
        assert page.locator("img[src=x], svg[onload], a[href^=javascript]").count() == 0, path
        assert page.evaluate("({}).x === undefined"), path


def test_a_phone_needs_no_scrolling_sideways(chromium: Browser, served: Served, odd: list[str]) -> None:
    phone = Visitor(chromium, served.url, viewport=PHONE, has_touch=True, is_mobile=True).log_in(served.token)
    for path in odd:
        page = phone.go(path)
        page.wait_for_timeout(500)
        assert phone.overflow() <= 0, path
        assert phone.pwned() is None, path
    assert phone.strange == []
    phone.close()


def test_hostile_queries_are_only_texts(anna: Visitor) -> None:
    names = (
        "q scraper kind gone since where columns state run host reason url verdict hours level tab who action target"
    )
    for path in ("/items", "/urls", "/sources", "/errors", "/drift", "/logs"):
        for value in (HOSTILE, LURE, "'" * 300, "%00\u202e"):
            query = "&".join(f"{name}={quote(value)}" for name in names.split() if name not in ("url", "host", "run"))
            anna.page.goto(f"{anna.url}{path}?{query}")
            anna.page.wait_for_timeout(200)
            assert anna.pwned() is None, path
    for path in (f"/urls?url={quote(HOSTILE)}", f"/sources?host={quote(HOSTILE)}", f"/urls?url={quote(LURE)}"):
        anna.page.goto(anna.url + path)
        anna.page.wait_for_timeout(300)
        assert anna.pwned() is None, path
        assert anna.page.locator("a[href^=javascript]").count() == 0


def test_buttons_and_fields_have_names(anna: Visitor, odd: list[str]) -> None:
    for path in odd:
        page = anna.go(path)
        nameless = page.evaluate(
            """[...document.querySelectorAll('button, a, input, textarea, [role=progressbar]')].filter((each) =>
                each.offsetParent && !(each.innerText.trim() || each.ariaLabel || each.labels?.length || each.title))
                .map((each) => each.outerHTML.slice(0, 120))"""
        )
        assert nameless == [], path


def test_pages_that_have_nothing_yet_teach(chromium: Browser, tmp_path: Path) -> None:
    served = Served(tmp_path)
    visitor = Visitor(chromium, served.url).log_in(served.token)
    for path, told in {
        "/items": "No items yet",
        "/urls": "No URLs yet",
        "/sources": "No hosts yet",
        "/errors": "Nothing failed in this time",
        "/drift": "After three good runs",
        "/proxies": "No proxies yet",
        "/users": "Nobody has a password yet",
    }.items():
        expect(visitor.go(path).get_by_text(told)).to_be_visible()
    for path in ("/items/1", "/drift?run=1", "/drift?run=x"):
        expect(visitor.go(path).get_by_text("This page cannot be shown")).to_be_visible()
    visitor.close()
    served.stop()
