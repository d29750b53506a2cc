"""The scraper whose runs are judged in crash tests. What SEASON is decides what it finds in the shop."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from gossamer import Item, Page, Request, Scraper
from gossamer.steps import require

SEASON = os.environ.get("SEASON", "")


class Stall(Scraper):
    """Reads the shop of tests/crash/site.py, whose address is the parameter `at`."""

    name = "stall"
    kind = "thing"
    key = "thing"
    steps = (require("name"),)
    #: Refused and unreadable pages would make it depend on luck which items are gone.
    robots = False

    def start(self) -> Iterator[Request]:
        yield Request(self.params["at"] + "/shop/list/1", priority=10)

    def parse(self, page: Page) -> Iterator[Any]:
        """A list: the things that stand in it, but for dead and unreadable ones."""
        for link in page.css("a.thing"):
            number = int(link.css("::text").get() or 0) if link.css("::text").get() != "staff" else 3
            if number % 10 not in (3, 9):
                yield Request(link.css("::attr(href)").get() or "", to=self.detail)
        yield from page.follow("a.next", priority=10)

    def detail(self, page: Page) -> Iterator[Any]:
        """A thing, as the season wants it."""
        number = int(page.url.rpartition("/")[2])
        if SEASON == "sale" and number % 16 == 5:
            return  # no longer for sale
        price: int | None = 100 + number - 7 * (SEASON == "sale" and number % 3 == 0)
        yield {"thing": number, "name": page.css("h1::text").get(), "price": None if SEASON == "broken" else price}
        yield Item("brand", page.css(".brand::text").get() or "", '{"brand": true}')
        yield {"thing": -number, "name": None}
