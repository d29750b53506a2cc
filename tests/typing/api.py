"""The public API as an author would use it, for the type checker. Never run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, assert_type

import gossamer
from gossamer import Item, Pace, Page, Parser, Report, Request, Response, Scraper, ScraperConfig, Selection


@dataclass
class Quote:
    text: str | None
    author: str | None


class Quotes(Scraper):
    name = "quotes"
    start_urls = ("https://quotes.toscrape.com/",)
    key = ("author", "text")
    config = ScraperConfig(rate="2/s", per_host=2, depth=None, headers={"Accept-Language": "en"})

    def parse(self, page: Page) -> Iterator[Quote | Request]:
        for quote in page.css(".quote"):
            assert_type(quote, Selection)
            yield Quote(quote.css(".text::text").get(), quote.css(".author::text").get("unknown"))
        yield from page.follow("li.next a")
        yield from page.follow(page.css("a.author"), to=self.author, priority=1, carry={"from": page.url})
        yield from page.follow(page.xpath("//a/@href"), to="author")
        yield from page.follow(page.links, revisit=True)
        yield from page.follow(["/a", "/b"])

    async def author(self, page: Page) -> AsyncIterator[dict[str, Any] | Item | Request]:
        yield {"name": page.css("h3").text, "born": page.xpath("//b/text()").get(), "from": page.carry["from"]}
        yield Item(kind="author", key=page.url, data="{}")
        yield Request(page.url, method="POST", json={"page": 1}, headers={"X": "y"}, to=self.parse)
        yield Request(page.url, data={"q": "x"}, to="parse", priority=-1, revisit=True)


class Search(Scraper):
    rate = "30/min"
    max_pages = 10

    def start(self) -> Iterator[Request | str]:
        yield "https://example.org/"
        yield Request("https://example.org/search", json={"q": self.params["q"]})

    def parse(self, page: Page) -> Any:
        return page.json()


class Later(Scraper):
    async def start(self) -> AsyncIterator[str]:
        yield "https://example.org/"


def lamps(page: Page) -> list[dict[str, Any]]:
    return [{"url": page.url}]


class Declared(Scraper):
    parser = "article"
    follow = "li.next a"
    matches = (r"^https://example\.org/",)


class DeclaredByParts(Scraper):
    parser = Parser("lamps", lamps, "lamps", types=("Product",), urls=(r"/lamps/",), key=("url",))
    rules: ClassVar[dict[str, Any]] = {"each": ".lamp", "fields": {"name": "h2"}}
    follow = ("li.next a", ".lamp a")

    def parse(self, page: Page) -> Iterator[Any]:
        yield from super().parse(page)


async def programs() -> None:
    report = await gossamer.crawl("https://example.org/", store="x.db", rate="none", fresh=True)
    assert_type(report, Report)
    async for item in gossamer.stream(Quotes, params={"q": "x"}, max_items=5):
        assert_type(item, dict[str, Any])
    assert_type(gossamer.run(Quotes, params={"q": "x"}, dry_run=True), Report)
    assert_type(report.pages, int)
    assert_type(report.by_reason, dict[str, int])
    assert_type(report.exit_code, int)


def reading(page: Page) -> None:
    assert_type(page.css("a").get(), str | None)
    assert_type(page.css("a").getall(), list[str])
    assert_type(page.css("a").texts(), list[str])
    assert_type(page.css("a")[0], Selection)
    assert_type(page.css("a")[1:], Selection)
    assert_type(page.css("a").attr("href"), str | None)
    assert_type(page.xpath("//a").getall(), list[str])
    assert_type(page.links, list[str])
    assert_type(page.title, str | None)
    assert_type(page.text, str)
    assert_type(page.response, Response)
    assert_type(page.headers["content-type"], str)
    assert_type(page.request.evolve(depth=1), Request)
    assert_type(Pace.of("2/s").interval, float)


def failing() -> None:
    try:
        gossamer.run(Quotes)
    except (gossamer.ConfigError, gossamer.StoreError) as error:
        assert_type(error.reason, str)
    except (gossamer.FetchError, gossamer.ReadError, gossamer.GossamerError):
        raise


def refused() -> None:
    """An ignore that ignores nothing is itself an error under --strict."""
    Request()  # type: ignore[call-arg]
    ScraperConfig(ratee="2/s")  # type: ignore[call-arg]
    ScraperConfig(per_host="four")  # type: ignore[arg-type]
    gossamer.run(Quotes())  # type: ignore[arg-type]
    gossamer.__version__ + 1  # type: ignore[operator]
