"""Three short scrapers for the demo sites: a listing with detail pages, a JSON API, and a slow, moody host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gossamer.parse.page import Page
from gossamer.scraper import Scraper
from gossamer.values import Request

Yields = Iterator[dict[str, Any] | Request]


class Books(Scraper):
    """A paginated listing, and a page for each book."""

    name = "demo.books"
    key = "upc"
    kind = "book"
    rate = "25/s"

    def start(self) -> list[str]:
        return [self.params["site"]]

    def parse(self, page: Page) -> Yields:
        yield from page.follow("a.catalogue, a.next")  # first: the next page comes while the books of this one do
        yield from page.follow(".book a", to=self.book)
        yield from page.follow("footer a")  # /admin/, which robots.txt forbids

    def book(self, page: Page) -> Yields:
        yield {
            "upc": page.css(".facts td").text,
            "title": page.css("h1").text,
            "price": page.css(".price").text,
            "stock": page.css(".stock").text,
        }


class Weather(Scraper):
    """A JSON API that is read page by page."""

    name = "demo.weather"
    key = ("station", "at")
    kind = "reading"
    rate = "25/s"

    def start(self) -> list[str]:
        return [self.params["site"] + "v1/stations?page=1"]

    def parse(self, page: Page) -> Yields:
        answer = page.json()
        for station in answer["stations"]:
            yield from page.follow(station["readings"], to=self.readings, carry={"name": station["name"]})
        if answer["next"]:
            yield from page.follow(answer["next"])

    def readings(self, page: Page) -> Yields:
        answer = page.json()
        for reading in answer["readings"]:
            yield {"station": answer["station"], **page.carry, **reading}


class Museum(Scraper):
    """A slow host that sometimes asks to be left alone for a second."""

    name = "demo.museum"
    key = "url"
    kind = "exhibit"
    rate = "10/s"

    def start(self) -> list[str]:
        return [self.params["site"]]

    def parse(self, page: Page) -> Yields:
        yield from page.follow("a.exhibit", to=self.exhibit)
        yield from page.follow("a.room")

    def exhibit(self, page: Page) -> Yields:
        yield {
            "url": page.url,
            "title": page.css("h1").text,
            "artist": page.css(".artist").text,
            "year": page.css(".year").text,
            "room": page.css(".location").text,
        }
