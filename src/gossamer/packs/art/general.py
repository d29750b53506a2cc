"""Pages of many sites that list calls, read by what they say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from gossamer import Page, Request
from gossamer.packs.art import candidates
from gossamer.packs.art.source import ArtSource

__all__ = ["General"]


class General(ArtSource):
    """Pages of many sites that list calls, grants and residencies, in whatever markup."""

    name = "art.general"
    start_urls = (
        "https://www.callforentry.org/",
        "https://artistsnetwork.org/art-competitions/",
        "https://www.artquest.org.uk/opportunities/",
        "https://www.artconnect.com/opportunities",
        "https://www.artrabbit.com/artist-opportunities",
        "https://www.artjobs.com/",
        "https://artistcommunities.org/residencies",
        "https://www.transartists.org/en/map",
        "https://www.arts.gov/grants",
        "https://creative-capital.org/open-opportunities/",
        "https://artopportunitiesmonthly.com/",
        "https://artistopportunities.org/",
        "https://www.seattle.gov/arts/opportunities",
        "https://www.austintexas.gov/department/art-grants",
        "https://www.submittable.com/discover",
    )
    takes: ClassVar = {"url": "The page to read instead of the usual ones; several with spaces between."}
    every = "1d"
    first_delay = "2h"
    jitter = "30m"
    revisit = "always"

    def start(self) -> Iterable[Request]:
        """The pages that were asked for, or the usual ones."""
        given = str(self.params.get("url") or "").split()
        return (Request(str(url)) for url in given or self.start_urls)

    def parse(self, page: Page) -> Any:
        """The calls of a page."""
        for found in candidates.read(page):
            yield from self.made(found, page)
