"""A whole site in Scrapy, as `gossamer crawl` does it; a JSON line a page on stdout.

usage: scrapy_site.py START_URL
"""

import hashlib
import json
import re
from collections.abc import AsyncIterator, Iterator
from sys import argv
from typing import Any
from urllib.parse import urljoin

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor

SETTINGS: dict[str, Any] = {
    "ROBOTSTXT_OBEY": True,
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "RETRY_TIMES": 5,
    # Breadth first, so that a page's depth is its distance from the start.
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    "LOG_LEVEL": "ERROR",
}


class Site(scrapy.Spider):
    name = "site"

    async def start(self) -> AsyncIterator[scrapy.Request]:
        yield scrapy.Request(argv[1])

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        if not isinstance(response, HtmlResponse):
            return
        digest = hashlib.sha256(response.body).hexdigest()
        depth = response.meta.get("depth", 0)
        print(json.dumps({"url": response.url, "status": response.status, "sha256": digest, "depth": depth}))
        for link in LINKS.extract_links(response):
            yield scrapy.Request(link.url)


# By its origin: `allow_domains` compares host and port together, and would match nothing here.
LINKS = LinkExtractor(
    allow=re.escape(urljoin(argv[1], "/")),
    deny_extensions=[],
    tags=("a", "area", "frame", "iframe"),
    attrs=("href", "src"),
)

process = CrawlerProcess(SETTINGS)
process.crawl(Site)
process.start()
