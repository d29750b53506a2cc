"""A look at one page: fetched by a run of a single page that leaves nothing behind, or read from a file.

Robots, pace, addresses and walls are those of every run: it is one.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gossamer import clock, runs, urls
from gossamer.errors import ConfigError, GossamerError
from gossamer.fetch.way import Way
from gossamer.parse import sniff
from gossamer.parse.page import LARGEST_BODY, Page
from gossamer.registry import Found
from gossamer.runs import Running
from gossamer.scraper import Scraper
from gossamer.settings import ScraperConfig
from gossamer.values import PARSE, Ending, Headers, Outcome, Request, Response

#: Where a saved page is taken to come from, if nobody says.
NOWHERE = "https://saved.invalid/"
#: What the names of saved pages end in.
_ENDINGS = (".html", ".htm", ".xhtml", ".json", ".xml", ".rss")
#: Content types of what is told apart by its bytes.
_TYPES = {
    "html": "text/html",
    "json": "application/json",
    "xml": "application/xml",
    "feed": "application/xml",
    "sitemap": "application/xml",
}


class NotRead(GossamerError):
    """The page could not be had, or its handler failed."""

    reason = "not_read"


class Looked(msgspec.Struct, frozen=True):
    """A page, and what its walk gave."""

    page: Page
    outcome: Outcome


class _Silent(Scraper):
    """Reads nothing: the page itself is wanted."""

    name = "look"

    def parse(self, page: Page) -> None:
        return None


class _Given:
    """A Fetcher that has one answer."""

    def __init__(self, response: Response) -> None:
        self._response = response

    async def fetch(self, request: Request, config: ScraperConfig, way: Way) -> Response:
        """The answer, whatever was asked."""
        return self._response


async def look(
    url: str,
    flags: Mapping[str, Any] | None = None,
    *,
    scraper: type[Scraper] = _Silent,
    handler: str = PARSE,
    params: Mapping[str, Any] | None = None,
    saved: Response | None = None,
) -> Looked:
    """Walk one URL with a handler of a scraper. With a `saved` answer, nothing is fetched.

    Raises NotRead if the page cannot be had or read, ConfigError for what cannot be used.
    """
    address, login = urls.typed_with_login(url)
    pages: list[Page] = []
    outcomes: list[Outcome] = []
    given = {"retries": 0, **(flags or {}), "dry_run": True, "max_pages": 1}
    if saved is not None:
        given |= {"robots": False, "rate": "none"}
    found = Found(_only(scraper, Request(address, to=handler), pages), "gossamer.look")
    logins = {urls.origin(address): login} if login else {}
    asked = runs.plan(found, params, given, fresh=True, logins=logins)

    def watch(running: Running) -> None:
        running.progress.listen(outcomes.extend)

    async with runs.open_parts(asked.store) as parts:
        used = parts if saved is None else msgspec.structs.replace(parts, fetcher=_Given(saved))
        await runs.execute(used, asked, watch)
    last = next((each for each in reversed(outcomes) if each.reason != "redirect"), None)
    if last is None or last.ending is not Ending.DONE or not pages:
        raise NotRead(_told(address, last))
    return Looked(pages[-1], last)


def _only(scraper: type[Scraper], request: Request, pages: list[Page]) -> type[Scraper]:
    """A scraper that starts, whatever its own start is, with one request, and shows its pages."""

    def start(self: Scraper) -> list[Request]:
        return [request]

    def validate(self: Scraper, page: Page) -> Any:
        page.body  # noqa: B018 - a large one lies in a file that is gone after the walk
        pages.append(page)
        return scraper.validate(self, page)

    # What is wrong in an author's file is told with the author's names.
    names = {"__module__": scraper.__module__, "__qualname__": scraper.__qualname__, "name": scraper.name}
    made = {**names, "start": start, "start_sitemaps": (), "validate": validate}
    return type(scraper.__name__, (scraper,), made)


def _told(url: str, outcome: Outcome | None) -> str:
    """One sentence on a walk that brought no page."""
    if outcome is None:
        return f"{url} was not fetched: its host may not be asked now"
    why = outcome.detail or (f"it answered with status {outcome.status}" if outcome.status else outcome.reason)
    return f"{outcome.request.url} could not be read: {why}"


# -- saved pages -----------------------------------------------------------------------------------------------


def is_file(place: str) -> bool:
    """Whether a person who types this means a file: `-`, a file that is there, or what could be no URL."""
    if place == "-":
        return True
    if "://" in place:
        return False
    path = Path(place).expanduser()
    return path.is_file() or place.startswith((".", "/", "~")) or ("/" not in place and path.suffix in _ENDINGS)


def saved(place: str, url: str | None = None) -> Response:
    """A file, or for `-` what comes in, as the answer of a URL. Raises ConfigError if it cannot be read."""
    try:
        body = sys.stdin.buffer.read(LARGEST_BODY + 1) if place == "-" else _bytes(Path(place).expanduser())
    except OSError as why:
        raise ConfigError(f"{place} cannot be read: {why.strerror}") from None
    if len(body) > LARGEST_BODY:
        raise ConfigError(f"{place} is larger than {LARGEST_BODY >> 20} MB: give a part of it")
    address = urls.typed(url) if url else NOWHERE
    kind = "html" if place.endswith((".html", ".htm")) else sniff.kind("", body)
    if kind == "text" and b"<" in body[:2048]:  # a piece of a page
        kind = "html"
    headers = Headers([("content-type", _TYPES[kind])] if kind in _TYPES else [])
    return Response(address, 200, headers, body, clock.now(), 0.0)


def _bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST_BODY + 1)


def page_of(response: Response) -> Page:
    """A saved answer as a page."""
    return Page(Request(response.url), response)


def printable(text: str) -> str:
    """A text of a page as a terminal may see it: what would move the cursor or ring the bell is a question mark."""
    return "".join(letter if letter.isprintable() else " " if letter.isspace() else "?" for letter in text)


def records(outcome: Outcome) -> Sequence[dict[str, Any]]:
    """The records of the items that a walk gave."""
    return [item.record() for item in outcome.items]
