"""The job in Crawlee, in memory or on its file storage, tuned. Gains in the comments are from one to three runs
on a noisy machine: enough to choose by, not to quote.

usage: crawlee_job.py START_URL CONCURRENCY memory|files
"""

import asyncio
import json
import logging
import sys
import time

import uvloop
from crawlee import ConcurrencySettings
from crawlee.configuration import Configuration
from crawlee.crawlers import HttpCrawler, HttpCrawlingContext
from crawlee.events import LocalEventManager
from crawlee.storage_clients import FileSystemStorageClient, MemoryStorageClient
from lexbor import origin, read


def crawler(concurrency: int, storage: str) -> HttpCrawler:
    """Crawlee without what this job has no use for.

    HttpCrawler with lexbor was the quickest we tried: ParselCrawler takes 1.1 to 2 times the CPU,
    BeautifulSoupCrawler (lxml) about 8 times. Leaving out the session pool made no clear difference.
    """
    configuration = Configuration(storage_dir="storage")
    return HttpCrawler(
        configuration=configuration,
        event_manager=LocalEventManager.from_config(configuration),
        storage_client=MemoryStorageClient() if storage == "memory" else FileSystemStorageClient(),
        # All three: otherwise the pool starts lower and scales up over the whole crawl.
        concurrency_settings=ConcurrencySettings(
            min_concurrency=concurrency, desired_concurrency=concurrency, max_concurrency=concurrency
        ),
        respect_robots_txt_file=True,
        use_session_pool=False,
        retry_on_blocked=False,
        configure_logging=False,
    )


async def crawl(first: str, concurrency: int, storage: str) -> int:
    inside = origin(first)
    walk = crawler(concurrency, storage)

    @walk.router.default_handler
    async def handle(context: HttpCrawlingContext) -> None:
        if "html" not in (context.http_response.headers.get("content-type") or ""):
            return
        item = read(context.request.loaded_url or first, await context.http_response.read())
        await context.push_data(item)
        # add_requests on links we have anyway: enqueue_links reads the page again (about +35 % CPU with parsel).
        await context.add_requests([link for link in item["links"] if link.startswith(inside)])

    await walk.run([first])
    return (await walk.get_data(limit=1)).total


def main() -> None:
    first, concurrency, storage = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    logging.disable(logging.CRITICAL)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        began = time.perf_counter()
        pages = runner.run(crawl(first, concurrency, storage))
        seconds = time.perf_counter() - began
    print(json.dumps({"pages": pages, "items": pages, "seconds": seconds}))


main()
