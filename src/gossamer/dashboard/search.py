"""`/search`: where what somebody typed into the search box leads."""

from __future__ import annotations

import re
from urllib.parse import urlencode

from starlette.responses import RedirectResponse

from gossamer.dashboard.shell import Here, page

_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_RUN = re.compile(r"(?:run\s*)?#?\s*(\d{1,18})", re.IGNORECASE)
LONGEST = 2_000


def place(text: str, scrapers: tuple[str, ...]) -> str:
    """The page that shows it: a run's number, a URL, the name of a scraper, or words in items.

    >>> place("12", ()), place("https://example.org/a", ()), place("art", ("art",)), place("red chair", ())
    ('/runs/12', '/urls?url=https%3A%2F%2Fexample.org%2Fa', '/scrapers?name=art', '/items?q=red+chair')
    """
    text = text.strip()[:LONGEST]
    if not text:
        return "/"
    if run := _RUN.fullmatch(text):
        return f"/runs/{int(run[1])}"
    if _URL.fullmatch(text):
        return f"/urls?{urlencode({'url': text})}"
    named = [name for name in scrapers if name.lower() == text.lower()]
    if named:
        return f"/scrapers?{urlencode({'name': named[0]})}"
    return f"/items?{urlencode({'q': text[:200]})}"


@page("/search", "Search")
async def search(here: Here, q: str = "") -> RedirectResponse:
    """Lead on."""
    return RedirectResponse(place(q, tuple(here.service.catalog.scrapers)), 303)
