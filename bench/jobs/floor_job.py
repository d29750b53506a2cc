"""The least the job can cost in Python: the libraries Gossamer stands on, in a bare loop.

No robots.txt, no retries, no store, no second host. What a framework needs above this is its own doing.

usage: floor_job.py START_URL CONCURRENCY
"""

import asyncio
import json
import sys
import time

import uvloop
import wreq
from lexbor import origin, read


async def fetch(client: wreq.Client, url: str) -> bytes | None:
    """The body, if it is a page."""
    response = await client.get(url)
    body = bytes(await response.bytes())
    kind = response.headers.get("content-type") or b""
    return body if response.status.as_int() == 200 and b"html" in bytes(kind) else None


async def crawl(first: str, concurrency: int) -> int:
    """Walk every page of the host of `first`; returns how many there were."""
    inside = origin(first)
    client = wreq.Client(redirect=wreq.redirect.Policy.none())
    seen, pages = {first}, 0
    waiting: asyncio.Queue[str] = asyncio.Queue()
    waiting.put_nowait(first)

    async def worker() -> None:
        nonlocal pages
        while True:
            url = await waiting.get()
            try:
                if body := await fetch(client, url):
                    pages += 1
                    for link in read(url, body)["links"]:
                        if link not in seen and link.startswith(inside):
                            seen.add(link)
                            waiting.put_nowait(link)
            finally:
                waiting.task_done()

    workers = [asyncio.create_task(worker()) for _ in range(concurrency)]
    await waiting.join()
    for task in workers:
        task.cancel()
    # An error in a worker would otherwise only show as a missing page.
    ended = await asyncio.gather(*workers, return_exceptions=True)
    for why in ended:
        if not isinstance(why, asyncio.CancelledError):
            raise why
    return pages


def main() -> None:
    began = time.perf_counter()
    pages = uvloop.run(crawl(sys.argv[1], int(sys.argv[2])))
    seconds = time.perf_counter() - began
    print(json.dumps({"pages": pages, "items": pages, "seconds": seconds}))


main()
