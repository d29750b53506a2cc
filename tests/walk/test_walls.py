"""Walls in whole runs: captchas and login forms in the place of pages, found by us or by a scraper's `validate`."""

from __future__ import annotations

import asyncio
import itertools
import time
from typing import Any

import pytest

from gossamer import Blocked, Page, Retry, Scraper
from gossamer.testing import Answer, Hit, Site
from tests.walk import asked, crawl, fates, gaps, links, records, run, why


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again is tried soon: how long to wait is told elsewhere."""
    monkeypatch.setattr("gossamer.fetch.retry.FIRST_WAIT", 0.05)


def reader(site: Site, *paths: str, **attributes: Any) -> type[Scraper]:
    """A scraper that gives what some paths of the site say."""

    def parse(self: Scraper, page: Page) -> Any:
        yield {"path": page.url.removeprefix(site.url("")), "said": page.css("p").text}

    starts = [site.url(path) for path in paths or ("/x",)]
    return type("Walled", (Scraper,), {"start_urls": starts, "parse": parse, **attributes})


def said() -> dict[str, str]:
    """Path -> what its page said."""
    return {record["path"]: record["said"] for record in records()}


# -- walls we know ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "status", "named"),
    [
        ("login", 200, "a login form stands in the way"),
        ("captcha", 200, "a captcha stands in the way"),
        ("challenge", 200, "Cloudflare"),
        ("challenge", 403, "Cloudflare"),
        ("challenge", 503, "Cloudflare"),
        ("denied", 403, "a page that refuses us"),
        ("captcha", 429, "a captcha stands in the way"),
        ("login", 401, "a login form stands in the way"),
    ],
)
def test_a_wall_fails_its_page_as_blocked(site: Site, kind: Any, status: int, named: str) -> None:
    site.wall("/x", kind, status=status)
    report = run(reader(site), retries=0)
    assert (fates(site)["/x"], report.pages, report.items) == ("failed blocked", 0, 0)
    told = why(site.url("/x"))
    assert f"status {status}" in told
    assert "blocked, a captcha or a login wall stood there instead of the page" in told
    assert named in told


@pytest.mark.parametrize("status", [200, 403, 429, 503])
def test_a_wall_that_goes_away_costs_an_attempt(site: Site, status: int) -> None:
    site.wall("/x", "challenge", status=status, times=1, then="<p>here</p>")
    report = run(reader(site))
    assert (said(), report.retried, report.failed) == ({"/x": "here"}, 1, 0)
    assert f": blocked (status {status}) in" in why(site.url("/x"))


def test_a_wall_that_stays_is_tried_as_often_as_told(site: Site) -> None:
    site.wall("/x", "captcha")
    report = run(reader(site), retries=2)
    assert (len(asked(site, "/x")), report.retried) == (3, 2)
    told = why(site.url("/x"))
    assert "failed after 3 tries: blocked" in told
    assert told.count("attempt at") == 2


def test_a_wall_slows_the_host_down(site: Site) -> None:
    """Whoever shows a captcha has been asked too much."""
    site.page("/", links(*(f"/{n}" for n in range(6))))
    site.page("/*", "<p>x</p>")
    site.wall("/0", "captcha", times=1, then="<p>x</p>")
    crawl(site.url("/"), concurrency=1)
    assert f"host {site.authority}: it taught us to leave" in why(site.url("/0"))
    assert max(gaps(site.hits)) > 0.05


def test_no_wall_is_looked_for_where_nobody_wants_it(site: Site) -> None:
    site.wall("/x", "captcha")
    site.wall("/y", "denied")
    report = run(reader(site, "/x", "/y", walls=False), retries=0)
    assert report.by_reason == {"ok": 1, "http_403": 1}
    assert said()["/x"].startswith("Unusual traffic")


def test_a_refusal_that_is_no_wall_is_what_it_says(site: Site) -> None:
    site.page("/x", "<h1>403</h1><p>Members only.", status=403)
    site.page("/y", links(*(f"/{n}" for n in range(20))) + "captcha", status=429)
    report = run(reader(site, "/x", "/y"), retries=0)
    assert report.by_reason == {"http_403": 1, "http_429": 1}


def test_a_login_page_that_was_asked_for_is_a_page(site: Site) -> None:
    site.wall("/accounts/login/", "login")
    assert run(reader(site, "/accounts/login/")).pages == 1


def test_being_sent_to_a_login_page_is_being_blocked(site: Site) -> None:
    site.redirect("/x", "/login?next=/x", status=302)
    site.wall("/login", "login")
    run(reader(site), retries=0)
    assert fates(site) == {"/x": "done redirect", "/login?next=/x": "failed blocked"}
    assert f"asks to log in where {site.url('/x')} was asked for" in why(site.url("/login?next=/x"))


def test_a_wall_before_robots_txt_does_not_hide_its_pages(site: Site) -> None:
    """What is no robots.txt has no rules; what it means is said by its status."""
    site.wall("/robots.txt", "captcha")
    site.page("/x", "<p>here</p>")
    run(reader(site))
    assert said() == {"/x": "here"}


def test_a_wall_is_remembered_as_no_page(site: Site) -> None:
    site.wall("/x", "captcha", times=1, then="<p>here</p>")
    made = reader(site, revisit="never")
    assert run(made, retries=0).by_reason == {"blocked": 1}
    assert run(made, retries=0).by_reason == {"ok": 1}


# -- as somebody else ------------------------------------------------------------------------------------------


def test_the_next_attempt_has_no_cookies_and_another_face(site: Site) -> None:
    """The site marks whoever comes with a cookie, and shows a wall to whoever has been marked."""
    numbers = itertools.count(1)

    def guarded(hit: Hit) -> Answer:
        if "seen=" in hit.headers.get("cookie", ""):
            return Answer(body="<title>Are you a robot?</title><p>unusual traffic, solve the captcha")
        return Answer(body=f"<p>fine {next(numbers)}</p>", headers={"Set-Cookie": f"seen={next(numbers)}; Path=/"})

    site.handler("/*", guarded)
    site.page("/robots.txt", "", status=404)
    made = reader(site, *(f"/{n}" for n in range(4)), user_agents=["one/1", "two/2", "three/3"])
    report = run(made, concurrency=1)
    assert (report.pages, report.failed) == (4, 0)
    hits = [hit for hit in site.hits if hit.path != "/robots.txt"]
    first = next(n for n, hit in enumerate(hits) if "cookie" in hit.headers)
    assert "cookie" not in hits[first + 1].headers
    assert hits[first + 1].headers["user-agent"] != hits[first].headers["user-agent"]
    assert sum("cookie" in hit.headers for hit in hits) == report.retried


def test_walls_met_together_retire_their_session_once(site: Site) -> None:
    site.page("/", links(*(f"/{n}" for n in range(5))), headers={"Set-Cookie": "id=1; Path=/"})
    for n in range(5):
        site.handler(f"/{n}", _walled_if_known)
    report = crawl(site.url("/"), per_host=5, concurrency=5)
    assert report.pages == 6
    assert report.failed == 0


def _walled_if_known(hit: Hit) -> Answer:
    wall = "<title>Access Denied</title><p>You don't have permission. Reference #1"
    known = "id=1" in hit.headers.get("cookie", "")
    return Answer(status=403, body=wall, latency=0.05) if known else Answer(body="<p>x</p>")


# -- what a scraper knows --------------------------------------------------------------------------------------


def saying(error: Exception, times: float = 1) -> Any:
    """A `validate` that raises for the first so many pages."""
    tries = itertools.count()

    def validate(self: Scraper, page: Page) -> None:
        if next(tries) < times:
            raise error

    return validate


@pytest.mark.parametrize(
    ("error", "reason"), [(Blocked("prices are hidden"), "blocked"), (Retry("half of it"), "retry")]
)
def test_validate_asks_for_another_try(site: Site, error: Exception, reason: str) -> None:
    site.page("/x", "<p>here</p>")
    report = run(reader(site, validate=saying(error)))
    assert (said(), report.retried) == ({"/x": "here"}, 1)
    assert f"{reason} (status 200)" in why(site.url("/x"))
    assert str(error) in why(site.url("/x"))


@pytest.mark.parametrize(
    ("error", "reason"), [(Blocked("prices are hidden"), "blocked"), (Retry("half of it"), "retry")]
)
def test_what_validate_never_likes_fails_with_its_words(site: Site, error: Exception, reason: str) -> None:
    site.page("/x", "<p>here</p>")
    run(reader(site, validate=saying(error, times=99)), retries=1)
    assert (fates(site)["/x"], len(asked(site, "/x")), records()) == (f"failed {reason}", 2, [])
    told = why(site.url("/x"))
    assert "failed after 2 tries" in told
    assert f"because: {error}" in told


def test_blocked_burns_the_session_and_retry_does_not(site: Site) -> None:
    def cookies_of(error: Exception, path: str) -> list[str]:
        site.page("/robots.txt", "", status=404)
        site.page(path, "<p>x</p>", headers={"Set-Cookie": "id=1; Path=/"})
        run(reader(site, path, validate=saying(error), name=path.strip("/")))
        return [hit.headers.get("cookie", "") for hit in asked(site, path)]

    assert cookies_of(Retry("half"), "/retry") == ["", "id=1"]
    assert cookies_of(Blocked("wall"), "/blocked") == ["", ""]


def test_validate_that_goes_wrong_fails_its_page_only(site: Site) -> None:
    def validate(self: Scraper, page: Page) -> None:
        if page.url.endswith("/x"):
            raise KeyError("price")

    site.page("/*", "<p>here</p>")
    report = run(reader(site, "/x", "/y", validate=validate))
    assert (said(), report.retried, fates(site)["/x"]) == ({"/y": "here"}, 0, "failed handler")
    assert "KeyError: 'price'" in why(site.url("/x"))
    assert "test_walls.py" in why(site.url("/x"))


def test_validate_that_blocks_is_interrupted(site: Site) -> None:
    def validate(self: Scraper, page: Page) -> None:
        if page.url.endswith("/x"):
            time.sleep(20)

    site.page("/*", "<p>here</p>")
    started = time.monotonic()
    run(reader(site, "/x", "/y", validate=validate, handler_timeout="500ms"))
    assert (said(), fates(site)["/x"]) == ({"/y": "here"}, "failed handler_timeout")
    assert time.monotonic() - started < 25


def test_validate_that_ends_the_process_fails_its_page_only(site: Site) -> None:
    def validate(self: Scraper, page: Page) -> None:
        raise SystemExit(3)

    site.page("/x", "<p>here</p>")
    assert run(reader(site, validate=validate)).by_reason == {"handler": 1}


def test_an_async_validate_is_heard(site: Site) -> None:
    async def validate(self: Scraper, page: Page) -> None:
        await asyncio.sleep(0.01)
        if page.url.endswith("/x"):
            raise Blocked("an async wall")
        if page.url.endswith("/slow"):
            await asyncio.sleep(20)

    site.page("/*", "<p>here</p>")
    run(reader(site, "/x", "/y", "/slow", validate=validate, handler_timeout="500ms"), retries=0)
    assert said() == {"/y": "here"}
    assert (fates(site)["/x"], fates(site)["/slow"]) == ("failed blocked", "failed handler_timeout")


def test_a_handler_may_find_out_what_validate_did_not(site: Site) -> None:
    tries = itertools.count()

    def parse(self: Scraper, page: Page) -> Any:
        yield {"path": "too early", "said": ""}
        if next(tries) == 0:
            raise Blocked("no prices on it")
        yield {"path": "/x", "said": "prices"}

    site.page("/x", "<p>here</p>")
    report = run(reader(site, parse=parse))
    assert (report.retried, report.items) == (1, 2)


def test_validate_sees_what_is_accepted_and_nothing_else(site: Site) -> None:
    seen: list[tuple[str, int]] = []

    def validate(self: Scraper, page: Page) -> None:
        seen.append((page.url.removeprefix(site.url("")), page.status))

    site.page("/x", "<p>here</p>")
    site.page("/gone", "<p>gone</p>", status=404)
    site.page("/error", "<p>error</p>", status=500)
    site.redirect("/moved", "/x")
    site.page("/sitemap.xml", "<urlset/>", headers={"Content-Type": "application/xml"})
    made = reader(site, "/x", "/gone", "/error", "/moved", validate=validate, accept_status=[404])
    made.start_sitemaps = [site.url("/sitemap.xml")]
    run(made, retries=0)
    assert sorted(seen) == [("/gone", 404), ("/x", 200)]
