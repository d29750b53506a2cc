"""What the sources of the pack have in common, and the two sorts most of them are of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from gossamer import Page, ReadError, Request, Scraper, Selection, urls
from gossamer.packs.art import labelled
from gossamer.packs.art.found import Found, opportunity
from gossamer.packs.art.model import Opportunity
from gossamer.parse import labels

__all__ = ["ArtSource", "Board"]

#: Calls that are read of one page.
MOST = 2_000


class ArtSource(Scraper):
    """A source of opportunities. They are known by their URL, and all are of one kind."""

    kind = "opportunity"
    key = "url"
    item = Opportunity
    rate = "1/s"
    per_host = 2
    timeout = 40
    #: Pages of calls seldom change; listings are looked at each time.
    revisit = "1d"
    jitter = "5m"
    misfire = "coalesce"
    #: The state the source is at home in: where a call lies that names no other place.
    state: ClassVar[str | None] = None
    #: What a call is that no word tells the type of.
    otherwise: ClassVar[str] = "general"

    def made(self, found: Found, page: Page, **more: Any) -> Iterator[Opportunity]:
        """The opportunity of what was found, if it is one: `yield from self.made(found, page)`."""
        one = opportunity(found, page, self.name, state=self.state, **{"otherwise": self.otherwise, **more})
        if one is not None:
            yield one


class Board(ArtSource):
    """A site that lists calls page by page, and has a page for each.

    Say where the listing is, which elements are its entries, and override what does not fit.
    """

    #: The address of the listing, with {page} where the number of its page stands, if it has several.
    listing: ClassVar[str] = ""
    #: CSS of the entries, and within each of its title, its link, and whatever else it shows.
    entries: ClassVar[str] = "article"
    title: ClassVar[str] = "h1, h2, h3, h4"
    link: ClassVar[str] = "a[href]"
    organization: ClassVar[str] = ""
    location: ClassVar[str] = ""
    #: CSS of what a listing has even if it is empty, and words of one that is. Without either, it is no listing.
    shell: ClassVar[str] = ""
    nothing: ClassVar[str] = r"no (?:results|listings|calls|opportunities|open calls|events)\b"
    #: CSS of the text on the page of a call; empty: the main part. None: there is no page worth a visit.
    part: ClassVar[str | None] = ""
    most_pages: ClassVar[int] = 60
    otherwise = "opportunity"

    def start(self) -> Iterable[Request]:
        """The first page of the listing."""
        if self.listing:
            yield self.turn(1)

    def turn(self, number: int, before: str = "") -> Request:
        """A request for a page of the listing; `before` tells what was on the one before it."""
        url = self.listing.replace("{page}", str(number))
        return Request(url, carry={"page": number, "before": before}, revisit=True)

    def parse(self, page: Page) -> Any:
        """A page of the listing: its calls, and the page after it."""
        found = list(self.cards(page))[:MOST]
        number = page.carry.get("page", 1)
        if not found and number == 1 and not self._is_empty(page):
            raise ReadError(f"nothing on the page looks like a call ({self.entries}): the site may look otherwise now")
        for one in found:
            if self.part is None:
                yield from self.made(one, page)
            else:
                yield from page.follow([one.url or ""], to=self.call, carry=one.carry())
        yield from self.onward(page, found, number)

    def onward(self, page: Page, found: list[Found], number: int) -> Iterator[Request]:
        """The next page of the listing: none after one that is empty, or says the same as the one before it."""
        here = urls.digest(*(one.url or "" for one in found))
        if found and "{page}" in self.listing and number < self.most_pages and here != page.carry.get("before"):
            yield self.turn(number + 1, here)

    def cards(self, page: Page) -> Iterator[Found]:
        """The calls of a page of the listing."""
        for entry in page.css(self.entries)[:MOST]:
            one = self.card(entry, page)
            if one is not None and one.title and one.url:
                yield one

    def card(self, entry: Selection, page: Page) -> Found | None:
        """What an entry of the listing says of its call; None if it is none."""
        href = entry.css(self.link).attr("href") or entry.attr("href")
        return Found(
            title=entry.css(self.title).text or None,
            url=urls.resolve(href, page.base_url) if href else None,
            organization=(entry.css(self.organization).text if self.organization else None) or None,
            location=(entry.css(self.location).text if self.location else None) or None,
        )

    def call(self, page: Page) -> Any:
        """The page of a call. What the listing said of it counts; the page has the rest."""
        listed = Found.carried(page)
        yield from self.made(listed.over(self.detail(page)), page)

    def detail(self, page: Page) -> Found:
        """What the page of a call says."""
        return labelled.read(page, self.part or "")

    def _is_empty(self, page: Page) -> bool:
        """Whether a page is a listing that has nothing to list."""
        if self.shell and page.css(self.shell):
            return True
        return self.says_nothing(page)

    def says_nothing(self, page: Page) -> bool:
        """Whether a reader is told that there is nothing."""
        return any(re.search(self.nothing, line[:300], re.IGNORECASE) for line in labels.lines(page.tree.body))
