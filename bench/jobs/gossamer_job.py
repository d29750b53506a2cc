"""The job in Gossamer. Run by `gossamer run` with the durable store on."""

from collections.abc import Iterator
from typing import Any

from gossamer import Scraper


class Docs(Scraper):
    name = "docs"
    content_types = ("text/html",)

    def start(self) -> Iterator[Any]:
        yield self.params["start"]

    def parse(self, page: Any) -> Iterator[Any]:
        yield {
            "url": page.url,
            "title": page.css("title::text").get(),
            "headings": page.css("h1,h2,h3,h4,h5,h6").texts(),
            "links": page.links,
        }
        yield from page.follow(page.links)
