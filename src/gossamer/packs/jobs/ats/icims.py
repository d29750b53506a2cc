"""iCIMS: portals of icims.com, read as the pages that they show within a frame."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from gossamer import Page, ReadError, Request, Selection
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import elements, host_of, posting, remote, wage, whole
from gossamer.packs.jobs.ats.base import SEARCHING, Board, link
from gossamer.packs.jobs.model import Job
from gossamer.parse import clean

__all__ = ["ICIMS"]

#: Cards of one page, and fields of one card.
_CARDS: Final = 1_000
_FIELDS: Final = 40
_PATH: Final = re.compile(r"/jobs/(\d{1,12})/[^/?#]{1,300}/job\b")
_PAGES: Final = re.compile(r"\bpage\s{1,3}\d{1,5}\s{1,3}of\s{1,3}(\d{1,5})\b", re.IGNORECASE)
_PLACE: Final = re.compile(r"location|city", re.IGNORECASE)
_POSTED: Final = re.compile(r"posted|date", re.IGNORECASE)


class ICIMS(Board):
    """Portals of icims.com. `board` is what stands before it: "careers-acme"."""

    system = "iCIMS"
    takes = SEARCHING

    def listing(self) -> Iterable[Request]:
        """The first page."""
        yield self._page(0)

    def _page(self, number: int) -> Request:
        url = link(
            f"https://{self.host('icims.com')}/jobs/search", ss=1, searchKeyword=self.query, in_iframe=1, pr=number
        )
        return Request(url, carry={"number": number})

    def following(self, page: Page, found: int) -> Request | None:
        """The next page; where a page does not say how many there are, until one is empty."""
        number = (whole(page.carry.get("number")) or 0) + 1
        said = _PAGES.search(" ".join(page.css(".iCIMS_Paging, .iCIMS_SubHeader, h2")[:20].texts()))
        return self._page(number) if said is None or number < int(said[1]) else None

    def jobs(self, page: Page) -> Iterator[Job]:
        """The cards of a page of the list."""
        cards = elements(page, ".iCIMS_JobCardItem", _CARDS) or elements(page, ".iCIMS_JobsTable .row", _CARDS)
        if not cards and not page.css("[class*=iCIMS]"):
            raise ReadError("the page has nothing of a portal by iCIMS: see whether the board is right")
        for card in cards:
            yield from self._card(card, page)

    def _card(self, card: Selection, page: Page) -> Iterator[Job]:
        anchor = next((one for one in card.css("a[href]")[:20] if _PATH.search(one.attr("href") or "")), None)
        url = clean.url(anchor.attr("href") if anchor else None, page.base_url)
        if anchor is None or url is None or host_of(url) != host_of(page.url):
            return
        said = _said(card)
        number = _PATH.search(url)
        where = next((value for name, value in said.items() if _PLACE.search(name)), None)
        yield from posting(
            page,
            url=url.partition("?")[0],
            title=anchor.css("h2, h3, h4").text or (anchor.attr("title") or "").partition(" - ")[2] or anchor.text,
            job_id=said.get("job id") or said.get("id") or (number[1] if number else None),
            location=where.split(" | ") if where else None,
            department=said.get("category") or said.get("department"),
            job_type=said.get("type") or said.get("position type"),
            posted_date=next((value for name, value in said.items() if _POSTED.search(name)), None),
            remote=remote(said.get("remote"), where),
            pay=wage(said=said.get("min")) if said.get("min") else None,
        )

    def details(self, job: Job, page: Page) -> Request | None:
        """The job's page, as it is shown within a frame."""
        return Request(f"{job.url}?in_iframe=1")

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """careers-acme.icims.com."""
        board = address.below("icims.com")
        return {"board": board} if board and board not in ("www", "login", "media", "cdn") else None


def _said(card: Selection) -> dict[str, str]:
    """What stands under the labels of a card, by these in small letters."""
    found: dict[str, str] = {}
    for tag in card.css(".iCIMS_JobHeaderTag")[:_FIELDS]:
        name, value = tag.css("dt").text, tag.css("dd").text
        if name and value:
            found.setdefault(_label(name), value)
    for holder in card.css("[class*=header], [class*=additionalFields] > div")[:_FIELDS]:
        name = holder.css(".field-label").text
        dated = holder.css("span[title]").attr("title")
        spans = [text for text in holder.css("span:not(.field-label)")[:5].texts() if text]
        if name and (dated or spans):
            found.setdefault(_label(name), dated or spans[0])
    return found


def _label(name: str) -> str:
    """ "Location : Location" and "Job Locations:" as they are meant."""
    return name.partition(":")[0].strip().lower()
