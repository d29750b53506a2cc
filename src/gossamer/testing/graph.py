"""A linked site of any size, the same every time."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from gossamer.testing.exchange import Answer, Hit, path_of

if TYPE_CHECKING:
    from gossamer.testing.site import Site

_WORDS = """
    amber anchor archive autumn basin beacon birch canal candle cedar chapel cinder clover copper
    cradle delta ember fathom feather fern gable garden glacier granite harbour hazel hollow island
    ivory juniper kettle lantern ledger linen lumen marble meadow mercury mosaic north ochre orchard
    paper pebble quarry quill rafter raven river saffron sailor silver slate sparrow spindle tallow
    thicket timber upland valley velvet walnut weaver willow winter yarrow zephyr
"""
_FAULTS: tuple[Literal["busy", "reset", "truncate"], ...] = ("busy", "reset", "truncate")


def graph_site(
    site: Site,
    pages: int,
    *,
    links: int = 12,
    latency: float = 0,
    faults: float = 0,
    seed: int = 1,
) -> None:
    """Make `/p/0` to `/p/{pages - 1}` a linked site: a few KB of HTML each, the same for the same seed.

    Page i links to 2i+1 and 2i+2, so that every page can be reached in few steps, to random others up to
    `links`, and to its next. A share of `faults` of the pages fails on its first try only: with a 503 and
    `Retry-After: 0`, a reset or a truncated body, a third each. Pages are made when asked for; nothing is
    kept but how often the failing ones were.
    """
    site.handler("/p/*", Graph(pages, links, latency, faults, seed))


class Graph:
    """The handler behind `graph_site`."""

    def __init__(self, pages: int, links: int, latency: float, faults: float, seed: int) -> None:
        self._pages = pages
        self._links = links
        self._latency = latency
        self._faults = faults
        self._salt = _mix(seed)
        rng = random.Random(seed)
        words = _WORDS.split()
        self._paragraphs = [_paragraph(rng, words) for _ in range(64)]
        self._tries: Counter[int] = Counter()

    def __call__(self, hit: Hit) -> Answer:
        digits = path_of(hit).removeprefix("/p/")
        number = int(digits) if digits.isdecimal() else self._pages
        if number >= self._pages:
            return Answer(status=404, body=b"<h1>no such page</h1>", latency=self._latency)
        fault = self._fault(number)
        if fault == "busy":
            return Answer(status=503, headers={"Retry-After": "0"}, latency=self._latency)
        return Answer(body=self._page(number), latency=self._latency, fault=fault)

    def _fault(self, number: int) -> Literal["busy", "reset", "truncate"] | None:
        """What is wrong with this try of the page, if anything."""
        draw = _mix(self._salt ^ ~number)
        if draw % 1_000_000 >= self._faults * 1_000_000:
            return None
        self._tries[number] += 1
        return _FAULTS[(draw >> 32) % len(_FAULTS)] if self._tries[number] == 1 else None

    def _page(self, number: int) -> bytes:
        draw = _mix(self._salt ^ number)
        texts = [self._paragraphs[(draw >> shift) & 63] for shift in (0, 6, 12, 18, 24, 30)]
        anchors = "".join(f'<li><a href="/p/{to}">Page {to}</a></li>\n' for to in self._targets(number, draw))
        after = number + 1
        more = f'<a rel="next" href="/p/{after}">next</a>' if after < self._pages else ""
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>Page {number}</title></head>\n"
            f'<body><h1>Page {number}</h1>\n<p class="number" data-number="{number}">{draw % 10_000}</p>\n'
            f"<h2>First</h2>\n{''.join(texts[:3])}<h2>Second</h2>\n{''.join(texts[3:])}"
            f"<ul>\n{anchors}</ul>\n<nav>{more}</nav></body></html>\n"
        ).encode()

    def _targets(self, number: int, draw: int) -> list[int]:
        targets = [child for child in (2 * number + 1, 2 * number + 2) if child < self._pages]
        while len(targets) < self._links:
            draw = _mix(draw)
            targets.append(draw % self._pages)
        return targets


def _mix(value: int) -> int:
    """Splitmix64: a good 64-bit hash in half a microsecond, where a Random per page would take ten."""
    value = (value + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return value ^ (value >> 31)


def _paragraph(rng: random.Random, words: Sequence[str]) -> str:
    sentences = (" ".join(rng.choices(words, k=rng.randint(7, 14))).capitalize() for _ in range(5))
    return f"<p>{'. '.join(sentences)}.</p>\n"
