"""The sites that are measured on, in a process of their own: `python -m gossamer.benching.far`.

They are the demo sites and those of the packs, far away: every answer takes some time. Beside them lie pages of
three sizes, which are not far, for there it is the walk that is measured. A server in our own interpreter would take
its time from whoever is measured.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Self

from gossamer import urls
from gossamer.demo import art, jobs, nba, sites
from gossamer.testing import Answer, Handler, Hit, Site
from gossamer.testing.exchange import path_of

#: Seconds the process may take to start, and to stop.
PATIENCE = 30.0
#: Bytes of the pages that are measured by their size.
SIZES = (10_000, 100_000, 1_000_000)
#: Links on each of them.
_LINKS = 10
#: About one element for every 200 bytes: that is neither an article nor a table, but in between.
_TEXT = "Threads of gossamer carry small spiders over open water, further than anyone would think possible. " * 7


class Far(Site):
    """A site each of whose answers takes some time more."""

    def __init__(self, latency: float) -> None:
        super().__init__(remember=False)
        self._latency = latency
        self.handler("/*", lambda hit: Answer(status=404, body=b"<h1>404 Not Found</h1>"))

    def handler(self, path: str, func: Handler) -> None:
        """Answer by a function, later."""

        def later(hit: Hit) -> Answer:
            answer = func(hit)
            return replace(answer, latency=answer.latency + self._latency)

        super().handler(path, later)


def page(size: int) -> bytes:
    """A page of about `size` bytes, with room for a number and links at its beginning."""
    head = "<!doctype html><html><head><title>A page</title></head><body><h1>A page</h1><ul></ul>"
    rows: list[str] = []
    left = size - len(head) - 20
    while left > 0:
        row = f'<div class="row"><h2>Part {len(rows)}</h2><p>{_TEXT}</p><span class="n">{len(rows)}</span></div>\n'
        rows.append(row)
        left -= len(row)
    return f"{head}{''.join(rows)}</body></html>".encode()


class Sizes:
    """Answers /size/BYTES/COUNT/NUMBER: one of so many pages, all of which can be reached from the first."""

    def __init__(self, sizes: Iterable[int]) -> None:
        # They lie ready: to write a page of a megabyte takes longer than to read one.
        self._bodies = {size: page(size) for size in sizes}

    def __call__(self, hit: Hit) -> Answer:
        try:
            size, count, number = (int(part) for part in path_of(hit).split("/")[2:5])
            body = self._bodies[size]
        except (ValueError, KeyError):
            return Answer(status=404)
        onward = [n for n in range(number * _LINKS + 1, number * _LINKS + _LINKS + 1) if n < count]
        links = "".join(f'<li><a href="/size/{size}/{count}/{n}">Page {n}</a></li>' for n in onward)
        return Answer(body=body.replace(b"<ul></ul>", f'<p id="number">{number}</p><ul>{links}</ul>'.encode(), 1))


def main() -> None:
    """Serve until standard input ends: with whoever started us."""
    latency = float(sys.argv[1])
    with contextlib.ExitStack() as stack:
        shop, weather, packs = (stack.enter_context(Far(latency)) for _ in range(3))
        sites.bookshop(shop)
        sites.weather(weather)
        for each in (art, jobs, nba):
            each.install(packs)
        near = stack.enter_context(Site(remember=False))
        near.handler("/size/*", Sizes(SIZES))
        told = {"bookshop": shop.url("/"), "weather": weather.url("/"), "packs": packs.url(""), "sizes": near.url("")}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
        sys.stdin.read()


class FarSites:
    """The process, as a context manager; gives where its sites are."""

    def __init__(self, latency: float) -> None:
        self._latency = latency
        self._process: subprocess.Popen[str] | None = None
        #: Name -> URL.
        self.urls: dict[str, str] = {}

    def __enter__(self) -> Self:
        # Its standard input is a pipe that ends with us: so does it, if we are killed.
        self._process = subprocess.Popen(  # noqa: S603 - our own module, in our own interpreter
            [sys.executable, "-m", "gossamer.benching.far", str(self._latency)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for us: we end it
        )
        assert self._process.stdout is not None
        try:
            line = self._process.stdout.readline()
        except BaseException:
            self._process.kill()
            self.__exit__()
            raise
        if not line:
            self.__exit__()
            raise RuntimeError("the sites did not start: their process says why on stderr")
        self.urls = json.loads(line)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._process is None:
            return
        try:
            self._process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
        self._process = None

    @property
    def stand_ins(self) -> dict[str, str]:
        """Where all hosts are, those of packs with their pages: none but ours is asked for anything."""
        ours = {urls.host(url): urls.origin(url) for url in self.urls.values()}
        return {**ours, "*": urls.origin(self.urls["packs"])}


if __name__ == "__main__":
    main()
