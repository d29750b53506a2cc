"""What a page was asked for, and what it is: everything a reader needs beside the page."""

from __future__ import annotations

from typing import Any

import msgspec

from gossamer import Page, ReadError
from gossamer.packs.nba.reference import values
from gossamer.packs.nba.reference.catalogue import Type


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a type, with the parameters it was asked for by."""

    type: Type
    args: dict[str, str]
    #: Whether rows that sum up others are wanted, and games that a player missed.
    combined: bool = False
    inactive: bool = True

    @property
    def league(self) -> str:
        """The league, as the catalogue calls it."""
        return self.type.league

    @property
    def season(self) -> int | None:
        """The season it is about, by the year in which it ends."""
        if given := self.args.get("season"):
            return int(given)
        on = self.args.get("date") or values.game_day(self.args.get("game_id", ""))
        return values.season_of(on, self.league)

    def team(self, text: str | None) -> str | None:
        """Our code for what the page calls a team."""
        return values.team(text, self.season, self.league)

    @property
    def common(self) -> dict[str, Any]:
        """What every record of the page says."""
        return {"source": values.SOURCE, "season": self.season}


def heading(page: Page) -> str:
    """What the page calls itself."""
    return (page.css("h1").text or page.title or "")[:300]


def refuse_wrong(page: Page, asked: Asked) -> None:
    """Raises ReadError if the site answered with another page: it says 200 also for what it does not have."""
    title = f"{page.title or ''} {heading(page)}"
    if "Page Not Found" in title or "404 error" in title:
        raise ReadError(f"the site has no such page ({asked.type.id}): it answered with 'Page Not Found'")
    canonical = page.css('link[rel="canonical"]').attr("href") or ""
    slug = asked.args.get("slug")
    if slug and canonical and slug not in canonical and slug not in page.url:
        raise ReadError(f"the site knows no player {slug!r}: it answered with {heading(page)!r}")
    if slug and canonical.rstrip("/").endswith("/players"):
        raise ReadError(f"the site knows no player {slug!r}: it answered with {heading(page)!r}")
