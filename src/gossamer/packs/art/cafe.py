"""CaFE (callforentry.org): all open calls in one answer."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

from gossamer import ConfigError, Page, ReadError, Request
from gossamer.packs.art.classify import state_named
from gossamer.packs.art.found import Found
from gossamer.packs.art.source import ArtSource
from gossamer.parse import plain

__all__ = ["Cafe"]

#: Calls that are read of one answer, and letters of their texts: there are some five hundred calls at a time. Nearly
#: all of the work is looking for dates and fees in the texts, and a run should not stand still for it.
MOST: Final = 3_000
MOST_LETTERS: Final = 4 << 20
_LOG: Final = logging.getLogger(__name__)
_NO_DATE: Final = "0000-00-00"
_ROOT: Final = "https://artist.callforentry.org"
_REGIONS: Final = re.compile(r"\d{1,4}(?:,\d{1,4}){0,80}")
_UNSAID: Final = frozenset({"", "unspecified", "none", "null"})


class Cafe(ArtSource):
    """CaFE (artist.callforentry.org): calls for entry of all states, asked for as its own search page asks."""

    name = "art.cafe"
    takes: ClassVar = {
        "region": "Only of these regions: CaFE's own numbers of states, with commas between.",
        "keyword": "Only calls that match this word.",
        "state": "Only calls of this state, by its name or its two letters.",
    }
    headers: ClassVar = {"X-Requested-With": "XMLHttpRequest", "Accept": "application/json"}
    otherwise = "opportunity"
    every = "4h"
    first_delay = "5m"

    def start(self) -> Iterable[Request]:
        """One question; the answer holds all."""
        form = {"start-index": "0", "keyword": str(self.params.get("keyword") or "")[:200], "show-only-fair-id": ""}
        region = str(self.params.get("region") or "").replace(" ", "")
        if region:
            if not _REGIONS.fullmatch(region):
                raise ConfigError(f"art.cafe: region={region[:40]!r} cannot be used: write numbers, like 5 or 5,32")
            form["region[]"] = region
        if self.params.get("state") and self._state() is None:
            raise ConfigError(
                f"art.cafe: state={self.params['state']!r} is no state: write its name, or its two letters"
            )
        yield Request(f"{_ROOT}/festivals-ajax.php", data=form, revisit=True)

    def _state(self) -> str | None:
        given = str(self.params.get("state") or "")
        return state_named(given) or state_named(given.upper())

    def parse(self, page: Page) -> Any:
        """All calls of the answer."""
        answer = page.json()
        rows = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(rows, list):
            raise ReadError("CaFE's answer has no list of results: it may look otherwise now")
        only, texts = self._state(), 0
        for n, row in enumerate(rows):
            texts += _length(row)
            if n >= MOST or texts > MOST_LETTERS:
                _LOG.warning("art.cafe: the answer holds %d calls: the first %d are read", len(rows), n)
                break
            found = read(row) if isinstance(row, dict) else None
            if found is not None and (only is None or state_named(found.state) == only):
                yield from self.made(found, page, free_unless_said=row.get("ProductCost", "") is None)


def read(row: dict[str, Any]) -> Found | None:
    """One call of the answer."""
    number = _text(row, "FairId") or _text(row, "id")
    if number is None or not number.isdigit():
        return None
    city, state = _text(row, "fair_city"), _text(row, "FairState")
    dates = [day for name in ("event_start", "event_end") if (day := _day(row, name))]
    return Found(
        title=plain.name(row.get("fair_name")),
        url=f"{_ROOT}/festivals_unique_info.php?ID={number}",
        organization=plain.name(row.get("organization_name")),
        location=", ".join(_each(city, state)) or None,
        state=state,
        deadline=_day(row, "fair_deadline") or _day(row, "Deadline"),
        event=" - ".join(dates) or None,
        fee=_text(row, "ProductCost"),
        eligibility=_text(row, "FairEligibility"),
        category=_text(row, "FairType"),
        description=plain.prose(row.get("fair_description")) or plain.prose(row.get("fair_short_desc")),
    )


def _length(row: Any) -> int:
    """Letters of the texts of a call that are looked at."""
    texts = (row.get("fair_description"), row.get("fair_short_desc")) if isinstance(row, dict) else ()
    return sum(min(len(text), plain.LONGEST) for text in texts if isinstance(text, str))


def _text(row: dict[str, Any], name: str) -> str | None:
    value = row.get(name)
    text = str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    return None if text.casefold() in _UNSAID else text[:500]


def _day(row: dict[str, Any], name: str) -> str | None:
    text = _text(row, name)
    return None if text is None or text.startswith(_NO_DATE) else text


def _each(*parts: str | None) -> Iterator[str]:
    return (part for part in dict.fromkeys(parts) if part)
