"""A site in Crawlee, as its documentation teaches it; what it collected is in its storage.

usage: manners_crawlee.py START_URL plain|polite|durable
"""

import asyncio
import logging
import sys
from typing import Any
from urllib.parse import urlsplit

from crawlee.configuration import Configuration
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.request_loaders import ThrottlingRequestManager
from crawlee.storages import RequestQueue


async def options(first: str, mode: str) -> dict[str, Any]:
    if mode == "durable":
        return {"configuration": Configuration(purge_on_start=False)}
    if mode == "plain":
        return {}
    domains = [urlsplit(first).hostname or ""]
    queue = await RequestQueue.open()
    throttled = ThrottlingRequestManager(queue, domains=domains, request_manager_opener=RequestQueue.open)
    return {"respect_robots_txt_file": True, "request_manager": throttled}


async def main(first: str, mode: str) -> None:
    crawler = ParselCrawler(configure_logging=False, **await options(first, mode))

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        await context.push_data({"url": context.request.url, "title": context.selector.css("title::text").get()})
        await context.enqueue_links()

    await crawler.run([first])


logging.disable(logging.CRITICAL)
asyncio.run(main(sys.argv[1], sys.argv[2]))
