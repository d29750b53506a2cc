"""The site that crash tests crawl, as a process of its own: `python -m tests.crash.site --log FILE`.

Under /p/ a graph of linked pages, under /shop/ a listing with details, redirects, an API that wants POST, dead
and forbidden pages. Every answer takes its time, and some fail on their first try. `/-/again` makes the first
tries of everything come again, so that two crawls meet the same site.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import zlib
from collections import Counter

from gossamer.testing import Answer, Handler, Hit, Site, graph_site

PAGES = 220
LISTS = 12
PER_LIST = 8
LATENCY = 0.02
FAULTS = 0.02
BRANDS = ("north", "south", "east", "west")
ROBOTS = "User-agent: *\nDisallow: /shop/secret/\n"


class Shop:
    """Answers under /shop/. What fails, and how, follows from the path, so that it is the same every time."""

    def __init__(self) -> None:
        self._tries: Counter[tuple[str, bytes]] = Counter()

    def __call__(self, hit: Hit) -> Answer:
        self._tries[hit.path, hit.body] += 1
        first = self._tries[hit.path, hit.body] == 1
        draw = zlib.crc32(hit.path.encode() + hit.body) % 100
        answer = self._answer(hit)
        if first and draw < 4 and "/clock" not in hit.path:
            return Answer(status=503, headers={"Retry-After": "0"}, latency=LATENCY)
        if first and 4 <= draw < 8 and "/clock" not in hit.path:
            return Answer(body=answer.body, latency=LATENCY, fault="reset" if draw % 2 else "truncate")
        return answer

    def _answer(self, hit: Hit) -> Answer:
        _, _, kind, name = hit.path.split("/", 3)
        number = int(name) if name.isdigit() else 0
        match kind:
            case "list":
                return _html(_listing(number))
            case "item" if number % 10 == 7:
                return Answer(status=301, headers={"Location": f"/shop/product/{number}"}, latency=LATENCY)
            case "item" if number % 10 == 3:
                return Answer(status=404, body="<h1>sold</h1>", latency=LATENCY)
            case "item" | "product":
                price = "soon" if number % 10 == 9 else str(100 + number)
                brand = f"<i class=brand>{BRANDS[number % 4]}</i>"
                return _html(
                    f"<h1>Thing {number}</h1><b class=price>{price}</b>{brand}<p class=review>fine {number}</p>"
                )
            case "stock" if json.loads(hit.body)["list"] % 4 == 0:
                return Answer(status=307, headers={"Location": "/shop/depot/0"}, latency=LATENCY)
            case "stock" | "depot":
                asked = json.loads(hit.body)["list"]
                body = json.dumps({"list": asked, "left": asked * 11, "asked": hit.method})
                return Answer(body=body, headers={"Content-Type": "application/json"}, latency=LATENCY)
            case "clock":
                return _html("<p class=tick>tick</p>")
        return Answer(status=404, latency=LATENCY)


def _listing(number: int) -> str:
    first = (number - 1) * PER_LIST
    things = "".join(f'<a class=thing href="/shop/item/{n}">{n}</a>' for n in range(first, first + PER_LIST))
    after = f'<a class=next href="/shop/list/{number + 1}">next</a>' if number < LISTS else ""
    return f"<h1>List {number}</h1>{things}<a class=thing href='/shop/secret/{number}'>staff</a>{after}"


def _html(body: str) -> Answer:
    return Answer(body=f"<!doctype html><title>shop</title>{body}", latency=LATENCY)


def build(site: Site) -> None:
    """Put everything in place; a second call makes all first tries come again."""
    graph_site(site, PAGES, latency=LATENCY, faults=FAULTS)
    shop: Handler = Shop()
    site.handler("/shop/*", shop)


def main() -> None:
    """Serve until stdin is closed: whoever started us is then gone, however it went."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", required=True)
    with Site(remember=False, log=parser.parse_args().log) as site:

        def again(hit: Hit) -> Answer:
            build(site)
            return Answer(body="ok")

        build(site)
        site.robots(ROBOTS)
        site.handler("/-/again", again)
        print(site.url(""), flush=True)
        closed = threading.Thread(target=sys.stdin.read)
        closed.start()
        closed.join()


if __name__ == "__main__":
    main()
