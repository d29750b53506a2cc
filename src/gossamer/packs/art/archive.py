"""Artwork Archive: calls for entry, page by page and by state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gossamer import Page, urls
from gossamer.packs.art import labelled
from gossamer.packs.art.found import Found
from gossamer.packs.art.source import MOST, Board
from gossamer.parse import labels

__all__ = ["ArtworkArchive", "cards", "detail", "of_state"]

_ROOT: Final = "https://www.artworkarchive.com/call-for-entry"
_CARD: Final = ".call-container"
_STEPS: Final = 4


class ArtworkArchive(Board):
    """Artwork Archive (artworkarchive.com): its calls for entry, whatever the state."""

    name = "art.artworkarchive"
    listing = f"{_ROOT}?page={{page}}"
    entries = _CARD
    part = "main"
    shell = ".call-for-entry, .calls-container"
    every = "1d"
    first_delay = "10m"

    def cards(self, page: Page) -> Iterator[Found]:
        """The calls of a page of the listing."""
        return cards(page)

    def detail(self, page: Page) -> Found:
        """What the page of a call says."""
        return detail(page)


def of_state(state: str) -> str:
    """The page that lists the calls of a state."""
    return f"{_ROOT}/{state.lower().replace('.', '').replace(' ', '-')}"


def cards(page: Page) -> Iterator[Found]:
    """The calls of a listing: blocks, featured or plain, each inside of a link."""
    for block in page.tree.css(_CARD)[:MOST]:
        href = _href(block)
        url = urls.resolve(href, page.base_url) if href else None
        head = block.css_first("h1, h2, h3, h4, .call-title")
        title = " ".join(labels.lines(head)) if head is not None else None
        if url and title:
            said = labelled.fields(labels.labelled(block))
            yield Found(title=title, url=url, **{name: said[name] for name in said if name in ("deadline", "location")})


def _href(block: Any) -> str | None:
    """Where a block leads: the link around it, or the first in it."""
    node = block
    for _ in range(_STEPS):
        if node is None:
            break
        if node.tag == "a" and node.attributes.get("href"):
            return str(node.attributes["href"])
        node = node.parent
    inside = block.css_first("a[href]")
    return inside.attributes.get("href") if inside is not None else None


def detail(page: Page) -> Found:
    """What the page of a call says: a head with its name and its date, and lines with labels."""
    said = labelled.read(page, "main", ".call-hero-container h2, .call-hero-container h1")
    date = page.css("p.call-date").text
    return said.over(Found(deadline=date or None))
