"""A site in Scrapy, as its documentation teaches it; what it collected is in items.jsonl.

usage: manners_scrapy.py START_URL plain|polite|durable
"""

import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

QUIET = {"LOG_LEVEL": "CRITICAL", "TELNETCONSOLE_ENABLED": False}
MODES: dict[str, dict[str, Any]] = {
    "plain": {},
    # What `scrapy startproject` writes, and AutoThrottle.
    "polite": {
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": 1,
        "AUTOTHROTTLE_ENABLED": True,
        "AUTOTHROTTLE_START_DELAY": 1,
    },
    "durable": {"JOBDIR": "job"},
}


class Site(scrapy.Spider):
    name = "site"

    def __init__(self, first: str, **options: Any) -> None:
        super().__init__(**options)
        self.start_urls = [first]
        self.inside = urljoin(first, "/")

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url, "title": response.css("title::text").get()}
        yield from response.follow_all(css="a")


feeds = {"items.jsonl": {"format": "jsonlines", "overwrite": False}}
process = CrawlerProcess({**QUIET, **MODES[sys.argv[2]], "FEEDS": feeds})
process.crawl(Site, first=sys.argv[1])
process.start()
