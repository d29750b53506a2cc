"""Reading a site again: what an earlier run found, and whether that still holds."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Mapping, Sequence

from gossamer.settings import ScraperConfig
from gossamer.storage.store import Store
from gossamer.values import Item, Request, Response, Visit

#: Links remembered of one page: beyond this, a page is read again rather than remembered.
MOST_LINKS = 20_000
#: Servers send a few dozen letters; what is longer is not worth sending back.
LONGEST_VALIDATOR = 1024


class Visits:
    """The memory of one scraper's earlier runs, for `revisit` other than "always"."""

    def __init__(self, store: Store, scraper: str, config: ScraperConfig) -> None:
        self._store = store
        self._scraper = scraper
        self._again: str | float = config.revisit
        self._files = config.files

    async def of(self, requests: Sequence[Request]) -> Mapping[int, Visit]:
        """Earlier visits, by the ids of these requests."""
        known = {request.fingerprint: request.id for request in requests if self._useful(request)}
        found = await self._store.visits(self._scraper, list(known))
        return {known[digest]: visit for digest, visit in found.items()}

    def _useful(self, request: Request) -> bool:
        """Whether an earlier visit can stand for a request: not if its file has been moved away since."""
        there = request.save is None or os.path.isfile(os.path.join(self._files, request.save))
        return there and not request.revisit

    def fresh(self, visit: Visit) -> bool:
        """Whether what was found then holds without asking the site."""
        if isinstance(self._again, str):
            return self._again == "never"
        # Checked in the future? Then the clock was set back, and nobody knows how old it is.
        return 0 <= time.time() - visit.checked < self._again


def conditions(visit: Visit) -> dict[str, str]:
    """Headers that ask for the page only if it is no longer as it was."""
    headers = {}
    if visit.etag:
        headers["if-none-match"] = visit.etag
    if visit.modified:
        headers["if-modified-since"] = visit.modified
    return headers


def unchanged(visit: Visit, response: Response) -> bool:
    """Whether an answer says that the page is as it was, by its status or by its bytes."""
    return response.status == 304 or (response.status == 200 and digest(response) == visit.sha256)


def digest(response: Response) -> str:
    """The SHA-256 of a body, in hex."""
    return response.sha256 or hashlib.sha256(response.body).hexdigest()


def noted(request: Request, response: Response, items: Iterable[Item], found: Sequence[Request]) -> Visit | None:
    """What to remember of a page that was read; None if that is too much."""
    if len(found) > MOST_LINKS:
        return None
    # A condition on a POST means something else: its server answers 412 where a GET gets a 304.
    conditional = request.verb in ("GET", "HEAD")
    return Visit(
        digest=request.fingerprint,
        fetched=response.started,
        checked=response.started,
        etag=_validator(response, "etag") if conditional else None,
        modified=_validator(response, "last-modified") if conditional else None,
        sha256=digest(response),
        found=tuple(found),
        items=tuple(dict.fromkeys((item.kind, item.key) for item in items)),
    )


def _validator(response: Response, name: str) -> str | None:
    value: str | None = response.headers.get(name)
    return value if value and len(value) <= LONGEST_VALIDATOR and value.isprintable() else None
