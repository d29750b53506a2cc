"""The job in Crawlee as its documentation teaches it: ParselCrawler, push_data and enqueue_links.

usage: crawlee_plain.py START_URL CONCURRENCY memory|files
"""

import asyncio
import json
import logging
import sys
import time

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import FileSystemStorageClient, MemoryStorageClient


async def crawl(first: str, concurrency: int, storage: str) -> int:
    walk = ParselCrawler(
        storage_client=MemoryStorageClient() if storage == "memory" else FileSystemStorageClient(),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=concurrency, desired_concurrency=concurrency, max_concurrency=concurrency
        ),
        respect_robots_txt_file=True,
        configure_logging=False,
    )

    @walk.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        page = context.selector
        await context.push_data(
            {
                "url": context.request.url,
                "title": page.css("title::text").get(),
                "headings": [h.xpath("string()").get() for h in page.css("h1,h2,h3,h4,h5,h6")],
                "links": [str(link.url) for link in await context.extract_links(strategy="all")],
            }
        )
        await context.enqueue_links(strategy="same-origin")

    await walk.run([first])
    return (await walk.get_data(limit=1)).total


def main() -> None:
    first, concurrency, storage = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    logging.disable(logging.CRITICAL)
    began = time.perf_counter()
    pages = asyncio.run(crawl(first, concurrency, storage))
    seconds = time.perf_counter() - began
    print(json.dumps({"pages": pages, "items": pages, "seconds": seconds}))


main()
