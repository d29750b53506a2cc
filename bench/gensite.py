"""A site of any size that costs next to nothing to serve: page i is made when asked for.

Page i links to 2i+1 and 2i+2 (so a crawl from /0.html reaches all of them in log2(N) steps) and to eight
pages drawn from i (so most links found are already known, as on real sites).

usage: python -m bench.gensite PAGES      prints its port, serves until killed
"""

import asyncio
import sys
from typing import Any

import uvloop

TEXT = "Threads of gossamer carry small spiders over open water, further than anyone would think. " * 3
BODY = (
    "<!doctype html><html><head><title>Page %d of the generated site</title></head><body>"
    "<h1>Page %d</h1><h2>About %d</h2><p>" + TEXT + "</p><h2>Onward from %d</h2><ul>%s</ul></body></html>"
)
HEAD = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
ROBOTS = b"User-agent: *\nAllow: /\n"
RANDOM_LINKS = 8
MASK = (1 << 64) - 1


def links(i: int, pages: int) -> list[int]:
    """Where page i leads: the same on every visit."""
    found = [child for child in (2 * i + 1, 2 * i + 2) if child < pages]
    state = i
    for _ in range(RANDOM_LINKS):
        state = (state * 6364136223846793005 + 1442695040888963407) & MASK
        found.append((state >> 33) % pages)
    return found


def page(i: int, pages: int) -> bytes:
    listed = "".join([f'<li><a href="/{n}.html">page {n}</a>' for n in links(i, pages)])
    return (BODY % (i, i, i, i, listed)).encode()


def answer(path: bytes, pages: int) -> bytes:
    name = path[1:].removesuffix(b".html")
    if name.isdigit() and int(name) < pages:
        body = page(int(name), pages)
        return HEAD % (b"200 OK", b"text/html; charset=utf-8", len(body)) + body
    if path == b"/robots.txt":
        return HEAD % (b"200 OK", b"text/plain", len(ROBOTS)) + ROBOTS
    return HEAD % (b"404 Not Found", b"text/plain", 0)


class Site(asyncio.Protocol):
    """HTTP/1.1 with keep-alive and pipelining, as far as GET needs it."""

    def __init__(self, pages: int) -> None:
        self.pages = pages
        self.unread = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        *requests, self.unread = (self.unread + data).split(b"\r\n\r\n")
        self.transport.write(b"".join([answer(r.split(b" ", 2)[1], self.pages) for r in requests]))


async def serve(pages: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Site(pages), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
