"""Where things stand on a page, and what is read there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from gossamer import Page
from gossamer.packs.jobs.places import country_code
from gossamer.parse import clean, jobdata, labels

__all__ = ["LINE", "LONGEST_URL", "Marks", "apart", "href", "kind_of", "line_of", "place_of", "text_of", "when"]

#: Letters of a line, and of a URL.
LINE: Final = 300
LONGEST_URL: Final = 1_000
#: Cards that may lie around a card: rows of tables within tables.
_AROUND: Final = 5


class Marks(msgspec.Struct, frozen=True, kw_only=True):
    """Where things stand, as CSS selectors: in a card of a list, or on a posting's own page. Empty: nowhere."""

    #: The cards themselves; without it, what lies around each link to a posting.
    card: str = ""
    link: str = "a[href]"
    title: str = ""
    company: str = ""
    location: str = ""
    posted: str = ""
    closing: str = ""
    job_type: str = ""
    department: str = ""
    job_id: str = ""
    description: str = ""
    apply: str = ""


def apart(nodes: Iterable[Any]) -> list[Any]:
    """Each of some elements once, without those that lie in many of the others.

    Each is looked through as a whole: a thousand within each other would be a page a thousand times.
    """
    given = {node.mem_id: node for node in nodes}
    around: dict[int, int] = {}
    kept = []
    for key, node in given.items():
        path = [node]
        while (above := path[-1].parent) is not None and above.mem_id not in around:
            path.append(above)
        count = around[above.mem_id] if above is not None else 0
        for at in reversed(path):
            count += at.mem_id in given
            around[at.mem_id] = count
        if around[key] <= _AROUND:
            kept.append(node)
    return kept


def line_of(node: Any) -> str | None:
    """What a reader sees of an element, in one line."""
    # Each text once: many links hold their text twice, for narrow and for wide screens.
    found = " ".join(dict.fromkeys(labels.bits(node)))
    return found[:LINE] or None


def text_of(node: Any, selector: str) -> str | None:
    """The text of the first match that has one."""
    for found in node.css(selector)[:5] if selector and node is not None else ():
        if line := line_of(found):
            return line
    return None


def href(node: Any, selector: str, page: Page) -> str | None:
    """Where the first match leads."""
    found = node.css_first(selector) if selector and node is not None else None
    url = clean.url(found.attributes.get("href"), page.base_url) if found is not None else None
    return url if url and len(url) <= LONGEST_URL else None


def when(node: Any) -> str | None:
    """The moment that an element declares for machines."""
    found = node.css_first("time[datetime]")
    return found.attributes.get("datetime") if found is not None else None


def place_of(lines: list[str]) -> str | None:
    """The line of a card that names a place: where nothing else says which it is."""
    return next((line for line in lines if len(line) <= 100 and country_code(line) is not None), None)


def kind_of(said: str | None, lines: list[str]) -> str | None:
    """How much one works: as the site says it, or as a line says just that."""
    if said:
        return jobdata.kind(said)
    return next((kind for line in lines if len(line) < 30 and (kind := jobdata.kind(line, known=True))), None)
