"""Boards that list calls of everybody: artcall, ArtDeadline, Res Artis, Zapplication, ShowSubmit, SmarterEntry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from gossamer import Page, Request, Selection, urls
from gossamer.packs.art import labelled
from gossamer.packs.art.found import Found
from gossamer.packs.art.source import MOST, Board
from gossamer.parse import plain, structured

__all__ = ["ArtDeadline", "Artcall", "ResArtis", "ShowSubmit", "SmarterEntry", "Zapplication"]


class Artcall(Board):
    """ArtCall (artcall.org): every call is a site of its own, below its organizer's name."""

    name = "art.artcall"
    listing = "https://artcall.org/calls?page={page}"
    entries = "div.row.mb-5"
    title = "h3 a"
    shell = "main .container"
    part = None
    every = "1d"
    first_delay = "15m"

    def card(self, entry: Selection, page: Page) -> Found | None:
        """A row with labels; the state is a badge. Featured rows show calls again that are listed below."""
        link = entry.css("h3 > a")
        href = link.attr("href")
        url = urls.resolve(href, page.base_url) if href else None
        if url is None or entry.css(".featured") or "featured" in (entry.attr("class") or ""):
            return None
        name = urls.hostname(url).partition(".")[0]
        return Found(
            title=link.text or None,
            url=url,
            organization=name.replace("-", " ") if name not in ("www", "artcall") else None,
            state=entry.css("span.badge.bg-info").text or None,
            location=entry.css("span.badge.bg-info").text or None,
            description="\n".join(entry.css("p").texts()) or None,
            **labelled.of_entry(entry, "deadline", "fee", "eligibility", "event"),
        )


class ArtDeadline(Board):
    """ArtDeadline (artdeadline.com): competitions, public art and residencies."""

    name = "art.artdeadline"
    listing = "https://artdeadline.com/"
    entries = "ol.jobs li.job"
    title = "dd.title strong a"
    link = "dd.title strong a"
    shell = "ol.jobs"
    part = "main"
    every = "1d"
    first_delay = "20m"

    def onward(self, page: Page, found: list[Found], number: int) -> Iterator[Request]:
        """The page that the link to the next one leads to."""
        if found and number < self.most_pages:
            for request in page.follow(page.css("a.next.page-numbers")[:1]):
                yield request.evolve(carry={"page": number + 1}, revisit=True)

    def detail(self, page: Page) -> Found:
        """The page of a call: "Deadline: Month D, YYYY - ..." and a word for what it is."""
        said = labelled.read(page, "main, #content", "h1.title")
        return Found(category=page.css("span.type").text or None).over(said)


_OPEN_CALL: Final = "a[href*='/open-call/']"
_STARTS: Final = re.compile(
    r"\b(?:residency )?(start|end)s?(?: date)?\s{0,2}:?\s{0,2}(20\d\d[-/]\d{1,2}[-/]\d{1,2})", re.IGNORECASE
)
_APPLY: Final = re.compile(r"\bapplication deadline\s{0,2}:?\s{0,2}(20\d\d[-/]\d{1,2}[-/]\d{1,2})", re.IGNORECASE)


class ResArtis(Board):
    """Res Artis (resartis.org): open calls of residencies all over the world."""

    name = "art.resartis"
    listing = "https://resartis.org/open-calls/page/{page}/"
    entries = ".grid__item.postcard article"
    title = f"h2 {_OPEN_CALL}"
    link = f"h2 {_OPEN_CALL}"
    shell = ".grid"
    part = ".entry-content"
    every = "1d"
    first_delay = "25m"
    accept_status = (404,)

    def turn(self, number: int, before: str = "") -> Request:
        """The first page of the listing is the listing itself."""
        made = super().turn(number, before)
        return made.evolve(url="https://resartis.org/open-calls/") if number == 1 else made

    def parse(self, page: Page) -> Any:
        """A page of the listing; the one after the last is not there."""
        if page.status != 404:
            yield from super().parse(page)

    def call(self, page: Page) -> Any:
        """The page of a call, if it is still there."""
        if page.status != 404:
            yield from super().call(page)

    def detail(self, page: Page) -> Found:
        """A title, a text, and days under labels: when to apply, and from when to when one is there."""
        said = labelled.read(page, ".entry-content", ".entry-title")
        whole = said.description or ""
        days = {found[1].lower(): found[2] for found in _STARTS.finditer(whole[:20_000])}
        apply = _APPLY.search(whole[:20_000])
        event = " - ".join(days[name] for name in ("start", "end") if name in days)
        return Found(deadline=apply[1] if apply else None, event=event or None, category="Residencies").over(said)


class Zapplication(Board):
    """ZAPP (zapplication.org): art fairs and festivals, with what a booth costs."""

    name = "art.zapplication"
    listing = "https://www.zapplication.org/participating-events.php"
    entries = "a[href*='event-info.php?ID=']"
    shell = "#events, .event-list"
    part = "main, #content, .event-info"
    every = "1d"
    first_delay = "30m"

    def card(self, entry: Selection, page: Page) -> Found | None:
        """A link to an event."""
        href = entry.attr("href")
        return Found(title=entry.text or None, url=urls.resolve(href, page.base_url) if href else None)


class ShowSubmit(Board):
    """ShowSubmit (showsubmit.com): juried shows. Its listing names days without a year: the next such day is meant."""

    name = "art.showsubmit"
    listing = "https://www.showsubmit.com/open-calls"
    entries = ".show, .card, article"
    title = "h2, h3, h4"
    shell = ".shows, .open-calls"
    part = None
    every = "1d"
    first_delay = "35m"

    def cards(self, page: Page) -> Iterator[Found]:
        """What the page says for machines, where it does; else what its cards show."""
        made = [self._of_event(thing) for thing in structured.of_type(page, "Event")[:MOST]]
        said = [one for one in made if one.title and one.url]
        return iter(said) if said else super().cards(page)

    def _of_event(self, thing: dict[str, Any]) -> Found:
        """An Event of schema.org that is a call: its end is the deadline."""
        return Found(
            title=plain.name(thing.get("name")),
            url=next(plain.links(thing.get("url"), self.listing), None),
            organization=plain.name(thing.get("organizer")),
            location=next(filter(None, (plain.place(one) for one in plain.each(thing.get("location")))), None),
            deadline=plain.name(thing.get("endDate")),
            description=plain.prose(thing.get("description")),
            image=next(plain.links(thing.get("image"), self.listing), None),
            category="Exhibitions",
        )

    def card(self, entry: Selection, page: Page) -> Found | None:
        """A card with labels in lines."""
        one = super().card(entry, page)
        said = labelled.of_entry(entry, "deadline", "location", "organization", "fee", "event")
        return one.over(Found(category="Exhibitions", **said)) if one is not None else None


class SmarterEntry(Board):
    """SmarterEntry (smarterentry.com): calls with a host, a start, an end and a fee."""

    name = "art.smarterentry"
    listing = "https://client.smarterentry.com/calls"
    entries = "a[href*='/call/'], a[href*='/calls/']"
    shell = ".calls, #calls"
    part = "main, #content"
    every = "1d"
    first_delay = "40m"

    def card(self, entry: Selection, page: Page) -> Found | None:
        """A link to a call."""
        href = entry.attr("href")
        return Found(title=entry.text or None, url=urls.resolve(href, page.base_url) if href else None)
