"""Another server in the place of a host: the scraper has the real URLs, and notices nothing."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

import gossamer
from gossamer import ConfigError, Page, Request, Scraper
from gossamer.testing import Site
from tests.walk import run


def scraper(*starts: str, **attributes: Any) -> type[Scraper]:
    def parse(self: Scraper, page: Page) -> Any:
        yield {"url": page.url, "title": page.css("h1").text}
        yield from page.follow("a")

    return type("Far", (Scraper,), {"start_urls": starts, "parse": parse, "key": "url", "rate": "none"} | attributes)


def test_urls_stay_the_real_ones_whoever_answers(site: Site) -> None:
    site.page("/far.example/shop/", '<h1>shop</h1><a href="/shop/one?x=1">1</a><a href="/old">2</a>')
    site.page("/far.example/shop/one?x=1", "<h1>one</h1>")
    site.redirect("/far.example/old", "/new")
    site.page("/far.example/new", "<h1>new</h1>")
    report = run(scraper("https://far.example/shop/", stand_ins={"far.example": site.url("/far.example/")}))
    assert (report.exit_code, report.failed) == (0, 0)
    assert {(each["url"], each["title"]) for each in gossamer.items()} == {
        ("https://far.example/shop/", "shop"),
        ("https://far.example/shop/one?x=1", "one"),
        ("https://far.example/new", "new"),
    }


def test_its_robots_txt_is_the_one_that_is_obeyed(site: Site) -> None:
    site.page("/far.example/robots.txt", "User-agent: *\nDisallow: /shut", headers={"Content-Type": "text/plain"})
    site.page("/far.example/", '<h1>home</h1><a href="/shut">no</a>')
    site.page("/far.example/shut", "<h1>shut</h1>")
    run(scraper("https://far.example/", stand_ins={"far.example": site.url("/far.example")}))
    assert [each["title"] for each in gossamer.items()] == ["home"]
    assert "/far.example/shut" not in site.paths()


def test_forms_and_downloads_go_there_too(site: Site) -> None:
    class Files(Scraper):
        rate = "none"
        stand_ins: ClassVar[dict[str, str]] = {"far.example": site.url("/there")}

        def start(self) -> list[Request]:
            return [Request("https://far.example/search", data={"q": "x"})]

        def parse(self, page: Page) -> Any:
            yield page.download("/a.bin")

    site.page("/there/search", "<p>found</p>")
    site.page("/there/a.bin", b"12345", headers={"Content-Type": "application/octet-stream"})
    run(Files)
    (item,) = gossamer.items(kind="file")
    assert (item["url"], item["bytes"]) == ("https://far.example/a.bin", 5)


def test_only_the_host_that_is_named_and_no_other_private_address(site: Site) -> None:
    site.page("/far.example/", f'<h1>home</h1><a href="{site.url("/secret")}">in</a>')
    site.page("/secret", "<h1>secret</h1>")
    made = scraper("https://far.example/", stand_ins={"far.example": "http://localhost:1"}, scope="any", retries=0)
    assert run(made).failed == 1
    made = scraper("https://far.example/", stand_ins={"far.example": site.url("/far.example")}, scope="host")
    run(made, fresh=True)
    assert "/secret" not in site.paths()


@pytest.mark.parametrize("wrong", ["far.example", {"far.example": "127.0.0.1:80"}, {"a/b": "http://x"}, {"a": 3}])
def test_what_cannot_stand_in_is_refused(wrong: Any) -> None:
    with pytest.raises(ConfigError, match=r"stand_ins = .* cannot be used: write hosts with the URLs"):
        scraper("https://far.example/", stand_ins=wrong)


def test_a_star_stands_in_for_all_others(site: Site) -> None:
    site.page("/far.example/", '<h1>home</h1><a href="https://elsewhere.example/x">out</a>')
    run(scraper("https://far.example/", stand_ins={"*": site.url("")}, scope="any"))
    assert [each["url"] for each in gossamer.items()] == ["https://far.example/"]
    assert site.paths()["/elsewhere.example/x"] == 1
