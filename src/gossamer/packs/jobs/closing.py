"""Whether a posting is still open: by its status, by what its page says, by its last day."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from gossamer import Page
from gossamer.packs.jobs import dates
from gossamer.parse.vacancies import says

__all__ = ["GONE", "is_over", "says", "status_of"]

#: Answers that say a posting is no longer there.
GONE: Final = (404, 410)


def status_of(page: Page, until: Any = None) -> str:
    """Whether the posting of a page is "active", "closed" or "expired". `until` is its last day, if one is known.

    A page that cannot be read says nothing: such a posting counts as active.
    """
    if page.status in GONE:
        return "closed"
    told = says(page)
    if told is not None:
        return told
    return "expired" if is_over(until, dates.moment_of(page)) else "active"


def is_over(until: Any, now: datetime | float) -> bool:
    """Whether a last day has passed. The day itself still counts, wherever on earth it is."""
    last = dates.day(until, now)
    return last is not None and last < (dates.moment_of(now) - timedelta(hours=12)).date().isoformat()
