"""The job in Scrapy, everything in memory, tuned. Gains in the comments are from two to four runs on a noisy
machine: enough to choose by, not to quote.

usage: scrapy_job.py START_URL CONCURRENCY parsel|lexbor
"""

import json
import sys
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urljoin

import scrapy
from lexbor import origin, read
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response

SETTINGS: dict[str, Any] = {
    "ROBOTSTXT_OBEY": True,
    "AUTOTHROTTLE_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
    # The default of 100 starts a hundred tasks per response; appending to a list needs one.
    "CONCURRENT_ITEMS": 1,
    # Everything this job has no use for (with the above about -20 % time on the PostgreSQL manual).
    "LOG_LEVEL": "ERROR",
    "LOGSTATS_INTERVAL": 0,
    "TELNETCONSOLE_ENABLED": False,
    "MEMUSAGE_ENABLED": False,
    "COOKIES_ENABLED": False,
    "REFERER_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "HTTPPROXY_ENABLED": False,
    "DOWNLOADER_STATS": False,
    "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
    # Left alone: the aiohttp download handler, which Scrapy calls experimental. It was not faster than this.
}


class Docs(scrapy.Spider):
    """Scrapy's own selectors (parsel)."""

    name = "docs"

    def __init__(self, first: str, **options: Any) -> None:
        super().__init__(**options)
        self.first = first
        self.inside = origin(first)
        self.items: list[dict[str, Any]] = []

    async def start(self) -> AsyncIterator[scrapy.Request]:
        # start_urls would bypass the duplicate filter and fetch the front page twice.
        yield scrapy.Request(self.first)

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        if not isinstance(response, HtmlResponse):
            return
        item = self.read(response)
        self.items.append(item)
        for link in item["links"]:
            if link.startswith(self.inside):
                yield scrapy.Request(link)

    def read(self, response: HtmlResponse) -> dict[str, Any]:
        # Fragments go before joining: a page of the Python manual has 300 links to 30 pages (-10 % CPU there).
        hrefs = dict.fromkeys(href.partition("#")[0] for href in response.xpath("//a/@href").getall())
        return {
            "url": response.url,
            "title": response.css("title::text").get(),
            "headings": [h.xpath("string()").get() for h in response.css("h1,h2,h3,h4,h5,h6")],
            "links": [urljoin(response.url, href) for href in hrefs],
        }


class LexborDocs(Docs):
    """The same with the parser Gossamer uses."""

    def read(self, response: HtmlResponse) -> dict[str, Any]:
        return read(response.url, response.body)


def main() -> None:
    first, concurrency, parser = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    width = {"CONCURRENT_REQUESTS": concurrency, "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency}
    process = CrawlerProcess({**SETTINGS, **width})
    crawler = process.create_crawler(LexborDocs if parser == "lexbor" else Docs)
    process.crawl(crawler, first=first)
    began = time.perf_counter()
    process.start()
    seconds = time.perf_counter() - began
    items = crawler.spider.items
    print(json.dumps({"pages": len(items), "items": len(items), "seconds": seconds}))


main()
