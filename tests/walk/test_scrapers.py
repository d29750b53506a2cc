"""The scraper API in whole runs: what handlers may yield, ask for, and do wrong."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from typing import Any, ClassVar

import msgspec
import pydantic
import pytest

from gossamer import ConfigError, Page, Request, Scraper, ScraperConfig
from gossamer.testing import Answer, Hit, Site
from tests.walk import asked, fates, items, links, records, run, why

#: The line on which the handlers below go wrong, told to `why` by a number after this mark.
HERE = __file__.rpartition("/")[2]


@dataclasses.dataclass
class Book:
    title: str
    price: float


class Film(msgspec.Struct):
    title: str
    year: int


class Song(pydantic.BaseModel):
    title: str
    tags: list[str] = []


def scraper(site: Site, **attributes: Any) -> type[Scraper]:
    """A scraper class that starts at the site's front page."""
    return type("Made", (Scraper,), {"start_urls": [site.url("/")], **attributes})


# -- items -----------------------------------------------------------------------------------------------------


def test_items_of_every_shape(site: Site) -> None:
    def parse(self: Scraper, page: Page) -> Any:
        yield {"title": "dict"}
        yield Book("dataclass", 1.5)
        yield Film("msgspec", 1999)
        yield Song(title="pydantic", tags=["a"])

    site.page("/", "<p>x</p>")
    report = run(scraper(site, parse=parse))
    assert (report.pages, report.items) == (1, 4)
    assert {item["kind"]: item["data"] for item in items()} == {
        "item": {"title": "dict"},
        "book": {"title": "dataclass", "price": 1.5},
        "film": {"title": "msgspec", "year": 1999},
        "song": {"title": "pydantic", "tags": ["a"]},
    }


@pytest.mark.parametrize(
    "value", [{"title": "x"}, Book("x", 1), Film("x", 1), Song(title="x"), [{"title": "x"}]], ids=str
)
def test_a_handler_may_return_instead_of_yield(site: Site, value: Any) -> None:
    site.page("/", "<p>x</p>")
    assert run(scraper(site, parse=lambda self, page: value)).items == 1


def test_a_key_tells_items_apart_and_a_later_sighting_updates(site: Site) -> None:
    def parse(self: Scraper, page: Page) -> Any:
        yield {"id": 7, "shop": "a", "from": page.url}
        yield from page.follow("a")

    site.page("/", links("/2"))
    site.page("/2", "<p>x</p>")
    report = run(scraper(site, parse=parse, key=("shop", "id")))
    assert report.items == 1
    (item,) = items()
    assert (item["key"], item["data"]["from"]) == ("a|7", site.url("/2"))


def test_without_a_key_equal_records_are_one_item(site: Site) -> None:
    def parse(self: Scraper, page: Page) -> Any:
        yield {"a": 1, "b": 2}
        yield {"b": 2, "a": 1}
        yield {"a": 1, "b": 3}

    site.page("/", "<p>x</p>")
    assert run(scraper(site, parse=parse)).items == 2


def test_a_record_without_its_key_is_kept_apart_and_costs_no_other(site: Site) -> None:
    site.page("/", "<p>x</p>")
    report = run(scraper(site, parse=lambda self, page: [{"name": "x"}, {"id": 1}], key="id"))
    assert (report.pages, report.items, report.rejected) == (1, 1, 1)
    assert "has no 'id'" in why(site.url("/"))


# -- requests --------------------------------------------------------------------------------------------------


def test_bodies_and_headers_reach_the_site(site: Site) -> None:
    class Sender(Scraper):
        headers: ClassVar = {"x-all": "1"}
        user_agent = "tester/9"

        def start(self) -> Any:
            yield Request(site.url("/json"), json={"q": ["ä", 1]}, headers={"X-One": "2"})
            yield Request(site.url("/form"), data={"a": "1 2", "b": ["x", "y"]})
            yield Request(site.url("/text"), data="plain ü", method="PUT", headers={"Content-Type": "text/x-own"})
            yield Request(site.url("/bytes"), data=b"\x00\xff", method="PATCH")
            yield Request(site.url("/delete"), method="delete")

        def parse(self, page: Page) -> Any:
            yield {"url": page.url, "verb": page.request.verb}

    site.page("/*", "<p>ok</p>")
    site.page("/robots.txt", "", status=404)
    assert run(Sender).pages == 5
    seen = {hit.path: hit for hit in site.hits if hit.path != "/robots.txt"}
    assert {path: (hit.method, hit.body) for path, hit in seen.items()} == {
        "/json": ("POST", '{"q":["ä",1]}'.encode()),
        "/form": ("POST", b"a=1+2&b=x&b=y"),
        "/text": ("PUT", "plain ü".encode()),
        "/bytes": ("PATCH", b"\x00\xff"),
        "/delete": ("DELETE", b""),
    }
    assert seen["/json"].headers["content-type"] == "application/json"
    assert seen["/json"].headers["x-one"] == "2"
    assert seen["/form"].headers["content-type"] == "application/x-www-form-urlencoded"
    assert seen["/text"].headers["content-type"] == "text/x-own"
    assert {(hit.headers["x-all"], hit.headers["user-agent"]) for hit in site.hits} == {("1", "tester/9")}


def test_posts_to_one_url_differ_by_their_bodies(site: Site) -> None:
    class Pages(Scraper):
        def start(self) -> Any:
            for number in (1, 2, 2, 3):
                yield Request(site.url("/api"), json={"page": number})

        def parse(self, page: Page) -> Any:
            yield {"page": page.json()["page"]}

    site.handler("/api", lambda hit: Answer(body=hit.body, headers={"Content-Type": "application/json"}))
    run(Pages)
    assert sorted(record["page"] for record in records()) == [1, 2, 3]
    assert len(asked(site, "/api")) == 3


def test_a_retried_post_sends_the_same_again(site: Site) -> None:
    class Once(Scraper):
        def start(self) -> Any:
            yield Request(site.url("/"), json={"a": 1}, headers={"x-one": "1"}, carry={"b": 2}, to=self.read)

        def read(self, page: Page) -> Any:
            yield {"carried": page.carry}

    site.flaky("/", times=1, status=500)
    run(Once)
    first, second = asked(site, "/")
    assert (first.method, first.body, first.headers["x-one"]) == (second.method, second.body, second.headers["x-one"])
    assert records() == [{"carried": {"b": 2}}]


def test_follow_names_a_handler_and_carries_on(site: Site) -> None:
    class Shop(Scraper):
        start_urls = (site.url("/"),)

        def parse(self, page: Page) -> Any:
            for row in page.css("li"):
                yield from page.follow(row.css("a"), to=self.detail, carry={"rank": row.css("b::text").get()})
            yield from page.follow("/about", to="about")
            yield from page.follow("?page=2")

        def detail(self, page: Page) -> Any:
            yield {"title": page.title, **page.carry}

        def about(self, page: Page) -> Any:
            yield {"about": page.xpath("//p/text()").get()}

    site.page("/", "<li><b>1</b><a href='/x'>x</a></li><li><b>2</b><a href='/y'>y</a></li>")
    site.page("/?page=2", "<p>second</p>")
    site.page("/x", "<title>X</title>")
    site.page("/y", "<title>Y</title>")
    site.page("/about", "<p>us</p>")
    assert run(Shop).pages == 5
    assert sorted(map(str, records())) == sorted(
        map(str, [{"title": "X", "rank": "1"}, {"title": "Y", "rank": "2"}, {"about": "us"}])
    )


def test_one_url_for_two_handlers_is_read_by_both(site: Site) -> None:
    class Two(Scraper):
        start_urls = (site.url("/"),)

        def parse(self, page: Page) -> Any:
            yield from page.follow("/x", to=self.one)
            yield from page.follow("/x", to=self.two)
            yield from page.follow("/x", to=self.two)

        def one(self, page: Page) -> Any:
            yield {"by": "one"}

        def two(self, page: Page) -> Any:
            yield {"by": "two"}

    site.page("/*", "<p>x</p>")
    run(Two)
    assert sorted(record["by"] for record in records()) == ["one", "two"]


def test_higher_priorities_go_first(site: Site) -> None:
    class Ranked(Scraper):
        start_urls = (site.url("/"),)
        concurrency = 1

        def parse(self, page: Page) -> Any:
            if page.url == site.url("/"):
                for n in (3, -1, 9, 0, 5, *range(-9, -1)):
                    yield Request(f"/{n}", priority=n)
            if page.url == site.url("/9"):
                yield Request("/urgent", priority=100)

    site.page("/*", "<p>x</p>")
    run(Ranked, robots=False)
    paths = [hit.path for hit in site.hits]
    # What a page leads to is settled while the next is already being fetched.
    assert paths.index("/urgent") <= paths.index("/9") + 3
    paths.remove("/urgent")
    assert paths == ["/", "/9", "/5", "/3", *[f"/{n}" for n in range(0, -10, -1)]]


def test_a_page_of_one_host_may_hurry_another_host(site: Site) -> None:
    with Site("127.0.0.2") as other:

        class Across(Scraper):
            scope = "any"
            concurrency = 1

            def start(self) -> Any:
                yield Request(other.url("/0"), priority=50)
                yield from (Request(other.url(f"/{n}")) for n in range(1, 40))
                yield site.url("/")

            def parse(self, page: Page) -> Any:
                if page.url == site.url("/"):
                    yield Request(other.url("/urgent"), priority=100)

        site.page("/", "<p>x</p>")
        other.page("/*", "<p>x</p>")
        run(Across, robots=False)
        assert [hit.path for hit in other.hits].index("/urgent") < 10


def test_revisit_fetches_a_known_url_again(site: Site) -> None:
    class Poll(Scraper):
        start_urls = (site.url("/"),)

        def parse(self, page: Page) -> Any:
            yield {"n": page.json()}
            if page.json() < 3:
                yield Request(page.url, revisit=True)
                yield Request(page.url)

    counter = iter(range(1, 10))
    site.handler("/", lambda hit: Answer(body=str(next(counter)), headers={"Content-Type": "application/json"}))
    assert run(Poll).pages == 3
    assert [record["n"] for record in records()] == [1, 2, 3]


def test_accept_status_shows_a_handler_what_failed(site: Site) -> None:
    site.page("/", "<p>gone</p>", status=404)
    report = run(scraper(site, parse=lambda self, page: {"status": page.status}, accept_status=(404,)))
    assert (report.pages, records()) == (1, [{"status": 404}])


def test_max_items_stops_after_the_page_that_brings_them(site: Site) -> None:
    def parse(self: Scraper, page: Page) -> Any:
        for n in range(5):
            yield {"n": n, "url": page.url}
        yield from page.follow("a")

    for n in range(10):
        site.page(f"/{n or ''}", links(f"/{n + 1}"))
    report = run(scraper(site, parse=parse), max_items=12)
    assert (report.items, report.pages, report.reason, report.exit_code) == (15, 3, "max_items", 3)


# -- kinds of handlers and starts ------------------------------------------------------------------------------


def test_async_handlers_and_starts_work(site: Site) -> None:
    class Slow(Scraper):
        async def start(self) -> Any:
            await asyncio.sleep(0)
            yield site.url("/")

        async def parse(self, page: Page) -> Any:
            await asyncio.sleep(0.01)
            yield {"url": page.url}
            for request in page.follow("a", to=self.plain):
                yield request

        async def plain(self, page: Page) -> Any:
            await asyncio.sleep(0)
            return [{"url": page.url}]

    site.page("/", links("/a"))
    site.page("/a", "<p>a</p>")
    report = run(Slow)
    assert (report.pages, report.items) == (2, 2)


def test_params_reach_the_scraper(site: Site) -> None:
    class Asked(Scraper):
        def start(self) -> Any:
            yield site.url(f"/{self.params['year']}")

        def parse(self, page: Page) -> Any:
            yield {"year": self.params["year"]}

    site.page("/2026", "<p>x</p>")
    run(Asked, params={"year": 2026})
    assert records() == [{"year": 2026}]
    with pytest.raises(ConfigError, match="needs the parameter 'year'"):
        run(Asked)


@pytest.mark.parametrize(
    ("start", "told"),
    [
        ((), "nothing to start with"),
        (["not a url"], "is not a URL"),
        (["ftp://x/"], "only http and https"),
        ([7], "yield URLs or Requests"),
        ("http://x/", "write a list"),
    ],
)
def test_a_start_that_cannot_be_used_is_refused_in_words(site: Site, start: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        run(scraper(site, start_urls=start, parse=lambda self, page: None))


def test_a_start_that_raises_is_refused_in_words(site: Site) -> None:
    def start(self: Scraper) -> Any:
        yield site.url("/")
        raise ZeroDivisionError("oh")

    with pytest.raises(ConfigError, match="ZeroDivisionError: oh"):
        run(scraper(site, start=start, parse=lambda self, page: None))


@pytest.mark.parametrize(
    ("knobs", "told"),
    [
        ({"rate": "fast"}, "rate"),
        ({"per_host": 0}, "per_host"),
        ({"robots": "perhaps"}, "robots"),
        ({"timeout": -1}, "timeout"),
        ({"name": "No Spaces"}, "name"),
    ],
)
def test_a_wrong_knob_is_refused_when_the_class_is_made(knobs: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        type("Wrong", (Scraper,), knobs)


def test_config_groups_the_knobs(site: Site) -> None:
    site.page("/", "<p>x</p>")
    run(scraper(site, parse=lambda self, page: None, config=ScraperConfig(user_agent="grouped/1", robots=False)))
    assert [(hit.path, hit.headers["user-agent"]) for hit in site.hits] == [("/", "grouped/1")]


# -- handlers that misbehave -----------------------------------------------------------------------------------


def raises(self: Scraper, page: Page) -> Any:
    yield {"never": "stored"}
    raise KeyError("missing-field")  # raises


def rubbish(self: Scraper, page: Page) -> Any:
    yield 42  # rubbish


def text(self: Scraper, page: Page) -> Any:
    yield "http://example.org/"  # text


def unwritable(self: Scraper, page: Page) -> Any:
    yield {"handle": object()}  # unwritable


def no_json(self: Scraper, page: Page) -> Any:
    yield page.json()  # no_json


def bad_selector(self: Scraper, page: Page) -> Any:
    yield {"x": page.css("a[[").get()}  # bad_selector


def blocks(self: Scraper, page: Page) -> Any:
    yield time.sleep(30)  # blocks


def spins(self: Scraper, page: Page) -> Any:
    yield [n for n in iter(int, 1) if n]  # spins


def leaves(self: Scraper, page: Page) -> Any:
    yield {}
    raise SystemExit(5)  # leaves


async def raises_late(self: Scraper, page: Page) -> Any:
    await asyncio.sleep(0)
    yield {"never": "stored"}
    raise KeyError("missing-field")  # raises_late


async def rubbish_late(self: Scraper, page: Page) -> Any:
    yield 42  # rubbish_late


async def waits(self: Scraper, page: Page) -> Any:
    await asyncio.sleep(30)  # waits
    yield {}


nap = time.sleep


async def blocks_late(self: Scraper, page: Page) -> Any:
    yield {}
    yield nap(30)  # blocks_late


def endless(self: Scraper, page: Page) -> Any:
    while True:
        yield {"x": time.monotonic()}  # endless


def marked_line(name: str) -> int:
    """The line of this file that carries a handler's mark."""
    with open(__file__, encoding="utf-8") as file:
        return next(n for n, line in enumerate(file, 1) if line.rstrip().endswith(f"  # {name}"))


@pytest.mark.parametrize(
    ("handler", "reason", "told"),
    [
        (raises, "handler", "KeyError: 'missing-field'"),
        (rubbish, "handler", "yielded 42"),
        (text, "handler", "yielded the text"),
        (unwritable, "handler", "an item holds a object"),
        (no_json, "handler", "not JSON"),
        (bad_selector, "handler", "CSS selector"),
        (blocks, "handler_timeout", "longer than"),
        (spins, "handler_timeout", "longer than"),
        (leaves, "handler", "SystemExit"),
        (raises_late, "handler", "KeyError: 'missing-field'"),
        (rubbish_late, "handler", "yielded 42"),
        (waits, "handler_timeout", "longer than"),
        (blocks_late, "handler_timeout", "longer than"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_handler_that_goes_wrong_fails_only_its_page(site: Site, handler: Any, reason: str, told: str) -> None:
    """The other pages are read, nothing of the bad one is kept, and `why` names the error and the line."""

    def parse(self: Scraper, page: Page) -> Any:
        yield {"url": page.url}
        yield from page.follow("a.bad", to="handler_")
        yield from page.follow("a.good", to="good")

    def good(self: Scraper, page: Page) -> Any:
        yield {"url": page.url}

    site.page("/", "<a class=bad href=/bad>b</a>" + "".join(f"<a class=good href=/{n}>g</a>" for n in range(5)))
    site.page("/*", "<p>not json</p>")
    made = scraper(site, parse=parse, good=good, handler_=handler, handler_timeout=0.6)
    # Handlers made here belong to this module, as an author's do to theirs.
    made.__module__ = __name__
    report = run(made)
    assert (report.status, report.pages, report.failed, report.items) == ("finished", 6, 1, 6)
    assert fates(site)["/bad"] == f"failed {reason}"
    story = why(site.url("/bad"))
    assert told in story
    assert f"{HERE}, line {marked_line(handler.__name__)}" in story


def test_an_endless_handler_is_stopped(site: Site) -> None:
    site.page("/", "<p>x</p>")
    run(scraper(site, parse=endless, handler_timeout=0.5))
    assert fates(site)["/"] == "failed handler_timeout"


@pytest.mark.parametrize("name", ["no_such", "_private"])
def test_an_unknown_handler_is_told_by_name_before_anything_is_fetched_for_it(site: Site, name: str) -> None:
    def parse(self: Scraper, page: Page) -> Any:
        yield Request("/x", to=name)

    site.page("/*", "<p>x</p>")
    report = run(scraper(site, parse=parse))
    assert (report.pages, report.failed) == (0, 1)
    assert f"has no handler '{name}'" in why(site.url("/"))
    assert "/x" not in site.paths()


def test_a_scraper_without_parse_is_refused_before_anything_is_fetched(site: Site) -> None:
    site.page("/", "<p>x</p>")
    with pytest.raises(ConfigError, match="has no parse method"):
        run(scraper(site))
    assert not site.hits


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        (Request("/x", headers={"Cookie": "a\n"}), "its header Cookie"),
        (Request("/x", headers={"X-N": 5}), "its header X-N"),  # type: ignore[dict-item]
        (Request("/x", headers={"a b": "c"}), "no header name"),
        (Request("/x", method="FOO BAR"), "its method"),
        (Request("/x", json={}, data="x"), "both json and data"),
        (Request("/x", carry={"a": object()}), "must be JSON values"),
        (Request("/x", data=5), "its data is a int"),  # type: ignore[arg-type]
        (Request("/x", priority="high"), "its priority"),  # type: ignore[arg-type]
        (Request("/x", priority=2**70), "its priority"),
        (Request(5), "no text"),  # type: ignore[arg-type]
    ],
)
def test_a_request_that_cannot_be_sent_fails_the_page_that_yields_it(site: Site, request_: Request, told: str) -> None:
    site.page("/", "<p>x</p>")
    report = run(scraper(site, parse=lambda self, page: iter([request_])))
    assert (report.pages, report.failed) == (0, 1)
    assert told in why(site.url("/"))


def test_a_list_of_requests_may_be_yielded_as_one(site: Site) -> None:
    """`yield page.follow(...)` where `yield from` was meant does what was meant."""

    def parse(self: Scraper, page: Page) -> Any:
        yield page.follow("a")

    site.page("/", links("/a", "/b"))
    site.page("/*", "<p>x</p>")
    assert run(scraper(site, parse=parse)).pages == 3


def test_a_redirect_that_leads_back_has_failed(site: Site) -> None:
    site.page("/", links("/loop", "/one"))
    site.redirect("/loop", "/loop")
    site.redirect("/one", "/two")
    site.redirect("/two", "/one")
    report = run(scraper(site, parse=lambda self, page: page.follow("a")))
    assert report.by_reason == {"ok": 1, "redirect": 1, "redirect_loop": 2}
    assert "leads back to it" in why(site.url("/loop"))


def test_a_handler_may_not_change_what_the_next_page_sees(site: Site) -> None:
    def hit_twice(hit: Hit) -> Answer:
        return Answer(body=links("/a", "/b"))

    site.handler("/*", hit_twice)
    site.page("/robots.txt", "", status=404)

    def parse(self: Scraper, page: Page) -> Any:
        page.links.clear()
        yield from page.follow("a")

    assert run(scraper(site, parse=parse)).pages == 3
