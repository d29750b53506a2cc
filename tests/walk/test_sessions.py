"""Cookies and sessions in whole runs: who shares them, who does not, and when they are thrown away."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from gossamer import Blocked, Page, Request, Scraper
from gossamer.testing import Answer, Hit, Site
from tests.walk import asked, crawl, fates, links, records, run


@pytest.fixture
def other() -> Iterator[Site]:
    """The same machine under another name: a second host."""
    with Site("127.0.0.2") as started:
        yield started


def walker(*starts: Any, **attributes: Any) -> type[Scraper]:
    """A scraper that walks these one after the other, those of one host that is."""

    def start(self: Scraper) -> Any:
        for n, each in enumerate(starts):
            request = each if isinstance(each, Request) else Request(each)
            yield request.evolve(priority=-n)

    def parse(self: Scraper, page: Page) -> Any:
        yield {"url": page.url, "session": page.request.session}

    made = {"start": start, "parse": parse, "concurrency": 1, "scope": "any", "robots": False, **attributes}
    return type("Walker", (Scraper,), made)


def chain(*urls: str, **attributes: Any) -> type[Scraper]:
    """A scraper that asks for one of these when it has read the one before, on whichever host."""
    onward = dict(itertools.pairwise(urls))

    def parse(self: Scraper, page: Page) -> Any:
        yield {"url": page.url}
        asked_for = page.request.via[0] if page.request.via else page.url
        if asked_for in onward:
            yield Request(onward[asked_for])

    return walker(urls[0], parse=parse, allow_private=True, **attributes)


def give(site: Site, path: str, *cookies: str, body: str = "<p>x</p>") -> None:
    """Have a page that sets cookies."""
    site.page(path, body, headers={"Set-Cookie": cookies})


def sent(site: Site, path: str) -> list[str]:
    """The cookies that came with each request for a path."""
    return [hit.headers.get("cookie", "") for hit in asked(site, path)]


# -- who shares cookies ----------------------------------------------------------------------------------------


def test_a_run_keeps_its_cookies_to_itself(site: Site) -> None:
    give(site, "/in", "id=7; Path=/", "theme=dark")
    site.page("/out", "<p>x</p>")
    for _ in range(2):
        run(walker(site.url("/in"), site.url("/out")))
    assert sent(site, "/out") == ["id=7; theme=dark"] * 2
    assert sent(site, "/in") == ["", ""]


@pytest.mark.parametrize(
    ("cookies", "same", "elsewhere"),
    [("off", "", ""), ("run", "id=7", "id=7"), ("host", "id=7", ""), ("session", "id=7", "id=7")],
)
def test_who_shares_cookies_is_chosen(site: Site, cookies: str, same: str, elsewhere: str) -> None:
    """Of one IP address at two ports, which cookies do not tell apart (RFC 6265, 8.5) and hosts do."""
    with Site(site.host) as port:
        give(site, "/in", "id=7; Path=/")
        for each in (site, port):
            each.page("/out", "<p>x</p>")
        run(chain(site.url("/in"), site.url("/out"), port.url("/out"), cookies=cookies))
        assert (sent(site, "/out"), sent(port, "/out")) == ([same], [elsewhere])


def test_cookies_go_to_nobody_else(site: Site, other: Site) -> None:
    give(site, "/in", "id=7; Path=/", f"wide=1; Domain={other.host}")
    other.page("/out", "<p>x</p>")
    site.redirect("/moved", other.url("/out?moved"))
    run(chain(site.url("/in"), other.url("/out"), site.url("/moved")))
    assert sent(other, "/out") == sent(other, "/out?moved") == [""]
    assert sent(site, "/moved") == ["id=7"]


def test_cookies_keep_to_their_path_age_and_lock(site: Site) -> None:
    give(site, "/in", "deep=1; Path=/deep", "old=1; Max-Age=0", "locked=1; Secure", "plain=1; Path=/")
    site.page("/deep/x", "<p>x</p>")
    site.page("/out", "<p>x</p>")
    run(walker(site.url("/in"), site.url("/deep/x"), site.url("/out")))
    assert (sent(site, "/deep/x"), sent(site, "/out")) == (["deep=1; plain=1"], ["plain=1"])


def test_cookies_of_refusals_and_redirects_count(site: Site) -> None:
    site.page("/refused", "no", status=404, headers={"Set-Cookie": "a=1; Path=/"})
    site.page("/moved", "", status=302, headers={"Set-Cookie": "b=2; Path=/", "Location": "/out"})
    site.page("/out", "<p>x</p>")
    run(walker(site.url("/refused"), site.url("/moved")))
    assert sent(site, "/out") == ["a=1; b=2"]


def test_a_cookie_of_the_author_is_sent_with_those_of_the_site(site: Site) -> None:
    def start(self: Scraper) -> Any:
        self.secrets["Cookie"] = "mine=1"
        return [site.url("/in"), site.url("/out")]

    give(site, "/*", "id=7; Path=/")
    run(walker(start=start))
    assert (sent(site, "/in"), sent(site, "/out")) == (["mine=1"], ["mine=1; id=7"])


def test_robots_txt_is_asked_without_cookies(site: Site, other: Site) -> None:
    give(site, "/in", "id=7; Path=/")
    give(site, "/robots.txt", "robot=1; Path=/", body="User-agent: *\nAllow: /")
    site.page("/out", "<p>x</p>")
    run(walker(site.url("/in"), site.url("/out"), robots=True))
    assert (sent(site, "/robots.txt"), sent(site, "/out")) == ([""], ["id=7"])


def test_cookies_are_in_no_store(site: Site) -> None:
    give(site, "/in", "id=verysecret; Path=/")
    site.page("/out", "<p>x</p>")
    run(walker(site.url("/in"), site.url("/out")))
    with open("gossamer.db", "rb") as file:
        assert b"verysecret" not in file.read()


def test_a_resumed_run_begins_with_empty_jars(site: Site) -> None:
    give(site, "/in", "id=7; Path=/")
    site.page("/out", "<p>x</p>")
    made = walker(site.url("/in"), site.url("/out"))
    assert run(made, max_pages=1).reason == "max_pages"
    assert run(made).run == 1
    assert sent(site, "/out") == [""]


# -- sites that want a cookie first ----------------------------------------------------------------------------


def test_a_site_that_sets_a_cookie_and_sends_back_is_read(site: Site) -> None:
    def guard(hit: Hit) -> Answer:
        if "ok=1" in hit.headers.get("cookie", ""):
            return Answer(body="<title>in</title>")
        return Answer(status=302, headers={"Location": hit.path, "Set-Cookie": "ok=1; Path=/"})

    site.handler("/", guard)
    report = crawl(site.url("/"))
    assert (report.pages, report.by_reason) == (1, {"ok": 1, "redirect": 1})
    assert [record["title"] for record in records()] == ["in"]


def test_a_detour_that_sets_a_cookie_is_taken_once_for_all_pages(site: Site) -> None:
    site.needs_cookie("/a")
    site.needs_cookie("/b")
    site.needs_cookie("/", then=links("/a", "/b"))  # where the detour leads back to
    report = crawl(site.url("/"))
    assert (report.pages, report.failed, site.paths()["/-/cookie"]) == (3, 0, 1)


def test_without_cookies_that_is_a_loop(site: Site) -> None:
    site.needs_cookie("/", then="<p>in</p>")
    report = crawl(site.url("/"), cookies="off")
    assert (report.pages, report.reason) == (0, "start_failed")
    assert fates(site)["/-/cookie"] == "failed redirect_loop"


def test_a_cookie_that_changes_nothing_is_a_loop_that_ends(site: Site) -> None:
    numbers = itertools.count()
    site.handler("/", lambda hit: Answer(status=302, headers={"Location": "/", "Set-Cookie": f"n={next(numbers)}"}))
    report = crawl(site.url("/"), max_redirects=4)
    assert (report.pages, report.reason, site.paths()["/"]) == (0, "start_failed", 5)


def test_a_killed_detour_does_not_become_a_loop(site: Site) -> None:
    """Resumed between the cookie and the page it is for, a run has no cookie: it takes the detour again."""
    site.needs_cookie("/x", then="<p>in</p>")
    site.page("/first", "<p>x</p>")
    made = walker(Request(site.url("/x")), site.url("/first"), per_host=1)
    site.flaky("/-/cookie", times=1, status=503, retry_after="2", then=Answer(status=404))
    assert run(made, max_wait="1s").reason == "held"
    site.needs_cookie("/x", then="<p>in</p>")
    assert run(made, max_wait="5s").reason == "done"
    assert {record["url"] for record in records()} == {site.url("/x"), site.url("/first")}


# -- named sessions --------------------------------------------------------------------------------------------


def shop(hit: Hit) -> Answer:
    """Greets whoever comes with a number of their own."""
    known = hit.headers.get("cookie", "")
    return Answer(body=f"<p>{known}</p>", headers={} if known else {"Set-Cookie": f"is={hit.path[1:]}; Path=/"})


def test_named_sessions_have_jars_of_their_own(site: Site) -> None:
    site.handler("/*", shop)
    names = ("ann", "bob", None)
    first = [Request(site.url(f"/{name}"), session=name) for name in names]
    again = [Request(site.url(f"/again-{name}"), session=name) for name in names]
    run(walker(*first, *again, cookies="session"))
    assert [sent(site, f"/again-{name}") for name in names] == [["is=ann"], ["is=bob"], ["is=None"]]


def test_a_session_is_the_same_on_every_host(site: Site, other: Site) -> None:
    agents = ["one/1", "two/2", "three/3", "four/4", "five/5"]
    for each in (site, other):
        each.page("/*", "<p>x</p>")
    names = ("ann", "bob", "cid", "dan")
    starts = [Request(each.url(f"/{name}"), session=name) for each in (site, other) for name in names]
    run(walker(*starts, cookies="session", user_agents=agents))
    for name in names:
        assert asked(site, f"/{name}")[0].headers["user-agent"] == asked(other, f"/{name}")[0].headers["user-agent"]
    assert len({hit.headers["user-agent"] for hit in site.hits}) > 1


def test_a_session_is_handed_on_by_redirects_and_retries(site: Site) -> None:
    site.handler("/*", shop)
    site.redirect("/moved", "/end")
    site.flaky("/end", times=1, status=500, then="<p>x</p>")
    run(walker(Request(site.url("/ann"), session="ann"), Request(site.url("/moved"), session="ann"), cookies="session"))
    assert (sent(site, "/moved"), sent(site, "/end")) == (["is=ann"], ["is=ann"] * 2)
    assert {record["session"] for record in records()} == {"ann"}


def test_a_blocked_session_is_retired_and_others_are_not(site: Site) -> None:
    def validate(self: Scraper, page: Page) -> None:
        if "is=ann" in page.text:
            raise Blocked("ann is known")

    site.handler("/*", shop)
    names = ("ann", "bob")
    starts = [Request(site.url(f"/{path}{name}"), session=name) for path in ("", "again-", "last-") for name in names]
    report = run(walker(*starts, cookies="session", validate=validate))
    assert (report.pages, report.failed) == (6, 0)
    assert sent(site, "/again-ann")[0] == "is=ann"
    assert "is=ann" not in sent(site, "/again-ann")[1:] + sent(site, "/last-ann")
    assert [sent(site, f"/{path}-bob") for path in ("again", "last")] == [["is=bob"], ["is=bob"]]


def test_where_the_run_shares_a_jar_only_the_host_that_blocked_us_is_forgotten(site: Site, other: Site) -> None:
    for each in (site, other):
        give(each, "/in", "id=7; Path=/")
        each.page("/out", "<p>x</p>")
    site.wall("/wall", "captcha", times=1)
    run(chain(site.url("/in"), other.url("/in"), site.url("/wall"), site.url("/out"), other.url("/out")))
    assert sent(site, "/wall") == ["id=7", ""]
    assert (sent(site, "/out"), sent(other, "/out")) == ([""], ["id=7"])
