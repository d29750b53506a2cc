"""The job in Scrapy as its documentation teaches it: a spider with selectors, LinkExtractor and default settings.

usage: scrapy_plain.py START_URL CONCURRENCY -
"""

import json
import sys
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urljoin

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor


class Docs(scrapy.Spider):
    name = "docs"

    def __init__(self, first: str, **options: Any) -> None:
        super().__init__(**options)
        self.first = first
        self.extractor = LinkExtractor()
        self.inside = urljoin(first, "/")
        self.items: list[dict[str, Any]] = []

    async def start(self) -> AsyncIterator[scrapy.Request]:
        yield scrapy.Request(self.first)

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        if not isinstance(response, HtmlResponse):
            return
        links = self.extractor.extract_links(response)
        self.items.append(
            {
                "url": response.url,
                "title": response.css("title::text").get(),
                "headings": [h.xpath("string()").get() for h in response.css("h1,h2,h3,h4,h5,h6")],
                "links": [link.url for link in links],
            }
        )
        yield from response.follow_all([link for link in links if link.url.startswith(self.inside)])


def main() -> None:
    first, concurrency = sys.argv[1], int(sys.argv[2])
    process = CrawlerProcess(
        {
            "ROBOTSTXT_OBEY": True,
            "DOWNLOAD_DELAY": 0,
            "CONCURRENT_REQUESTS": concurrency,
            "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
            "LOG_LEVEL": "WARNING",
        }
    )
    crawler = process.create_crawler(Docs)
    process.crawl(crawler, first=first)
    began = time.perf_counter()
    process.start()
    seconds = time.perf_counter() - began
    items = crawler.spider.items
    print(json.dumps({"pages": len(items), "items": len(items), "seconds": seconds}))


main()
