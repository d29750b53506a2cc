"""The picture of what was measured: seconds per source, and pages a minute by size."""

from __future__ import annotations

import math

from gossamer.benching.picture import Picture, Words
from gossamer.benching.results import Results

WIDTH = 900
#: Where labels end and bars begin, and the room that bars have.
_LEFT = 110
_ROOM = 560
_GREY = "#9aa4b0"
_TEAL = "#0f766e"
_FAINT = "#57606a"
_LINE = "#e5e7eb"


def picture(results: Results) -> Picture:
    """All of it in one picture."""
    made = Picture(WIDTH)
    y = 30.0
    if results.sources:
        y = _sources(made, results, y)
    if results.sizes:
        y = _sizes(made, results, y)
    made.words(Words(20, y + 10, results.machine, 11, _FAINT))
    return made


def _heading(made: Picture, y: float, title: str, about: str) -> float:
    made.words(Words(20, y, title, 17, bold=True))
    made.words(Words(20, y + 22, about, 12, _FAINT))
    return y + 48


def _legend(made: Picture, y: float, first: str, second: str) -> float:
    made.bar(_LEFT, y - 6, 12, 12, _GREY)
    made.words(Words(_LEFT + 18, y, first, 12))
    made.bar(_LEFT + 230, y - 6, 12, 12, _TEAL)
    made.words(Words(_LEFT + 248, y, second, 12))
    return y + 24


def _sources(made: Picture, results: Results, y: float) -> float:
    first = results.sources[0]
    about = (
        f"seconds, less is better; every page takes {results.latency * 1000:g} ms to come, "
        f"Gossamer has {results.concurrency} requests under way at most"
    )
    y = _heading(made, y, "One page after the other, and Gossamer", about)
    y = _legend(made, y, f"{first.sync.engine}, sync", f"{first.gossamer.engine}, async")
    longest = max(each.sync.seconds for each in results.sources) or 1.0
    for each in results.sources:
        made.words(Words(_LEFT - 10, y + 14, each.source, 13, anchor="end", bold=each.source == "all"))
        for n, (took, colour) in enumerate(((each.sync, _GREY), (each.gossamer, _TEAL))):
            width = _ROOM * took.seconds / longest
            made.bar(_LEFT, y + 15 * n, width, 13, colour)
            told = f"{took.seconds:.1f} s" + (f", {each.speedup:.1f} times as fast" if n else "")
            made.words(Words(_LEFT + max(width, 1) + 8, y + 15 * n + 6.5, told, 12, bold=bool(n)))
        y += 42
    return y + 16


def _sizes(made: Picture, results: Results, y: float) -> float:
    about = "pages a minute through the whole walk: fetched, read, settled, archived; each line is ten times the last"
    y = _heading(made, y, "Pages a minute, by their size", about)
    y = _legend(made, y, "what crawlers of this kind promise", "measured here")
    most = max(max(each.per_minute, each.claimed) for each in results.sizes)
    decades = max(1, math.ceil(math.log10(max(most, 10))))
    top = y
    for n in range(decades + 1):
        made.bar(_LEFT + _ROOM * n / decades, top - 4, 1, 42 * len(results.sizes), _LINE)
        made.words(
            Words(_LEFT + _ROOM * n / decades, top + 42 * len(results.sizes) + 8, f"{10**n:,}", 11, _FAINT, "middle")
        )
    for each in results.sizes:
        made.words(Words(_LEFT - 10, y + 14, each.label, 13, anchor="end"))
        for n, (count, colour) in enumerate(((each.claimed, _GREY), (each.per_minute, _TEAL))):
            width = _ROOM * math.log10(max(count, 1)) / decades
            made.bar(_LEFT, y + 15 * n, width, 13, colour)
            told = f"{count:,.0f}" + (f", {each.times:.1f} times" if n else "")
            made.words(Words(_LEFT + max(width, 1) + 8, y + 15 * n + 6.5, told, 12, bold=bool(n)))
        y += 42
    return y + 36
