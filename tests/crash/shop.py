"""The scraper that crash tests run: items with and without a key, POSTs, revisits, priorities, redirects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gossamer import Item, Page, Request, Scraper


class Shop(Scraper):
    """Reads the shop of tests/crash/site.py, whose address is the parameter `at`."""

    name = "shop"

    def start(self) -> Iterator[Request]:
        yield Request(self.params["at"] + "/shop/list/1", priority=10)
        yield Request(self.params["at"] + "/shop/item/1007", to=self.detail)

    def parse(self, page: Page) -> Iterator[Any]:
        """A list: its things, its stock, a look at the clock, and the next list."""
        number = int(page.url.rpartition("/")[2])
        yield from page.follow("a.thing", to=self.detail, priority=number % 3)
        yield Request("/shop/stock/0", json={"list": number}, to=self.stock)
        yield Request("/shop/clock/0", to=self.clock, revisit=True, carry={"list": number})
        yield from page.follow("a.next", priority=10)

    def detail(self, page: Page) -> Iterator[Any]:
        """A thing. Some have no price yet, and then the page cannot be read."""
        number = int(page.url.rpartition("/")[2])
        yield {"thing": number, "name": page.css("h1::text").get(), "price": int(page.css(".price::text").get() or "")}
        yield {"review": page.css(".review::text").get()}
        # The same for many things: one item, whoever brings it first.
        yield Item("brand", page.css(".brand::text").get() or "", '{"brand": true}')

    async def stock(self, page: Page) -> Any:
        """What is left of a list's things."""
        yield Item("stock", str(page.json()["list"]), page.text)

    def clock(self, page: Page) -> Iterator[Any]:
        """The same URL, asked for by every list."""
        yield {"tick": page.css(".tick::text").get(), "list": page.carry["list"]}
