"""Sources of one state: its council's pages, and what Artwork Archive lists for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from gossamer import ConfigError, Page, Request
from gossamer.packs.art import archive, candidates
from gossamer.packs.art.classify import state_named
from gossamer.packs.art.found import Found
from gossamer.packs.art.source import Board

__all__ = ["Florida", "NewYork", "StateSource", "Texas"]


class StateSource(Board):
    """The calls of one state: a name, the state, and the pages that list them are all that a new one needs.

    `start_urls` are read by what they say, whatever they look like; a board with a markup of its own has a `listing`
    and `entries`, as any Board.
    """

    #: Whether the state's page of Artwork Archive is read too.
    on_artwork_archive: ClassVar[bool] = True
    every = "6h"
    first_delay = "3m"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # Without a name and without pages it is there to be built upon.
        is_whole = "name" in cls.__dict__ or cls.listing or cls.start_urls
        super().__init_subclass__(**kwargs)
        if cls.state is None and is_whole:
            raise ConfigError(f"{cls.__name__} has no state: write state = 'Oregon', or build on Board")
        if cls.state is not None and state_named(cls.state) != cls.state:
            raise ConfigError(f"{cls.__name__}.state = {cls.state!r} is no state: write its full name, like 'New York'")

    def start(self) -> Iterable[Request]:
        """The state's own pages, and that of Artwork Archive."""
        yield from super().start()
        for url in self.start_urls:
            yield Request(url, to=self.listed, revisit=True)
        if self.on_artwork_archive and self.state:
            yield Request(archive.of_state(self.state), to=self.on_archive, revisit=True)

    def listed(self, page: Page) -> Any:
        """A page that lists calls, in whatever markup."""
        for found in candidates.read(page):
            yield from self.made(found, page, otherwise="general")

    def on_archive(self, page: Page) -> Any:
        """The page of Artwork Archive for the state."""
        for found in archive.cards(page):
            yield from page.follow([found.url or ""], to=self.archived_call, carry=found.carry())

    def archived_call(self, page: Page) -> Any:
        """The page of a call on Artwork Archive."""
        yield from self.made(Found.carried(page).over(archive.detail(page)), page)


class NewYork(StateSource):
    """The New York Foundation for the Arts; and the calls of Artwork Archive."""

    name = "art.newyork"
    state = "New York"
    start_urls = ("https://www.nyfa.org/opportunities/",)
    every = "4h"


class Texas(StateSource):
    """The Texas Commission on the Arts; and the calls of Artwork Archive."""

    name = "art.texas"
    state = "Texas"
    start_urls = ("https://www.arts.texas.gov/resources/jobs-opportunities/",)


class Florida(StateSource):
    """Florida's Division of Arts and Culture; and the calls of Artwork Archive."""

    name = "art.florida"
    state = "Florida"
    start_urls = ("https://floridaarts.org/opportunities/",)
