"""A site that lists its postings in pages, with a page for each: what such sites have in common."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, ClassVar, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import msgspec

from gossamer import Item, Page, ReadError, Request
from gossamer.packs.jobs import closing, dates, marks
from gossamer.packs.jobs.marks import LINE, LONGEST_URL, Marks
from gossamer.packs.jobs.model import Job
from gossamer.packs.jobs.scraper import JobScraper
from gossamer.parse import clean, job, labels, structured

__all__ = ["Listing", "Marks"]

#: Cards and links of one page that are looked at, and steps up from a link.
MOST_CARDS: Final = 1_000
MOST_LINKS: Final = 3_000
MOST_STEPS: Final = 6
#: Pages of a list that a run goes through, whatever the site says.
MOST_PAGES: Final = 100
_NONE: Final = re.compile(
    r"\b(?:no|0) (?:\w+ ){0,3}(?:jobs?|vacanc(?:y|ies)|results?|positions?|openings?|opportunities|listings?)\b"
    r"|\bthere are (?:currently )?no\b|\bnothing found\b",
    re.IGNORECASE,
)
_TRACKING: Final = re.compile(r"utm_\w+|gclid|fbclid|trk|refid|trackingid", re.IGNORECASE)
_NO_TITLE: Final = re.compile(
    r"(?:apply|view|read|see|more|details?|save|share|next|prev(?:ious)?|back|log ?in|sign|search|all|browse|register"
    r"|quick|learn|find|home|click|job alerts?)\b.{0,25}|\d+",
    re.IGNORECASE,
)


class Listing(JobScraper):
    """A list of postings. A subclass says where it begins, and where things stand in it."""

    #: What a posting that is no longer there answers.
    accept_status: ClassVar[tuple[int, ...]] = closing.GONE
    #: In the cards of the list, and on a posting's own page.
    cards: ClassVar[Marks] = Marks()
    shown: ClassVar[Marks] = Marks(title="h1")
    #: What the path of a posting looks like, and its number in the URL.
    postings: ClassVar[str] = ""
    number: ClassVar[str] = r"(\d{3,})(?:\.html?)?/?$"
    #: The link to the next page of the list.
    after: ClassVar[str] = "a[rel~=next], .pagination .next a, .pagination a.next, li.next a, a.next-page"
    #: How the site writes dates in numbers.
    order: ClassVar[str] = "DMY"
    #: Who publishes the postings, if not the companies.
    agency: ClassVar[str | None] = None

    # -- the list ------------------------------------------------------------------------------------------------

    def start(self) -> Iterable[Request]:
        """The first page of the list: asked for by every run."""
        for url in self.start_urls:
            yield Request(url, revisit=True)

    def parse(self, page: Page) -> Iterator[Any]:
        """A page of the list: requests for the postings on it, and for the next page."""
        found = self.listed(page)
        number, seen = _count(page, "page") or 1, _count(page, "seen")
        if not found and number == 1:
            self.check_empty(page)
        digest = hashlib.sha256("\n".join(sorted(each.url for each in found)).encode()).hexdigest()[:16]
        if not found or page.carry.get("digest") == digest:
            return  # the end, or a site that shows its last page for ever
        for each in found[: max(0, self.share - seen)]:
            yield self.asked(each)
        seen += len(found)
        if seen < self.share and number < MOST_PAGES:
            carry = {**page.carry, "page": number + 1, "seen": seen, "digest": digest}
            yield from (request.evolve(carry=carry, revisit=True) for request in self.following(page, number, seen))

    @property
    def share(self) -> int:
        """Jobs that one list may bring: all that the run may follow, unless there are several lists."""
        return self.limit

    def following(self, page: Page, number: int, seen: int) -> list[Request]:
        """The next page of the list after page `number`, when `seen` postings were seen; empty after the last."""
        return page.follow(self.after)[:1]

    def check_empty(self, page: Page) -> None:
        """Raises ReadError for a first page without postings, unless it says that there are none."""
        if page.status in closing.GONE:
            raise ReadError(f"the list of jobs answered {page.status}: the site has moved it")
        if not _NONE.search(" ".join(labels.lines(page.tree.body)[:500]) if page.tree.body else ""):
            raise ReadError("the list shows no postings, and does not say that there are none: the site has changed")

    def asked(self, listed: Job) -> Request:
        """The request for a posting's own page."""
        return Request(listed.url, to="posting", carry={"job": msgspec.to_builtins(listed)})

    def listed(self, page: Page) -> list[Job]:
        """The postings of a page of the list, each once, with what its card says of them."""
        if page.status in closing.GONE:
            return []
        cards = page.tree.css(self.cards.card)[:MOST_CARDS] if self.cards.card else []
        found = self._once(cards, page)
        if not found and self.postings:
            found = self._once(self._around(page), page)
        return found or self.general(page)

    def _once(self, nodes: list[Any], page: Page) -> list[Job]:
        made: dict[str, Job] = {}
        for node in marks.apart(nodes):  # a card may lie in another one, which says more
            if (found := self.of_card(node, page)) is not None:
                made.setdefault(found.url, found)
        return list(made.values())

    def of_card(self, node: Any, page: Page) -> Job | None:
        """The posting that a card tells of; None if it leads to none."""
        named = marks.text_of(node, self.cards.title)
        for link in ([node] if node.tag == "a" else node.css(self.cards.link))[:20]:
            url = self.address(clean.url(link.attributes.get("href"), page.base_url))
            title = named or marks.line_of(link)
            if url and title and not _NO_TITLE.fullmatch(title):
                return self._card(node, page, url, title)
        return None

    def _card(self, node: Any, page: Page, url: str, title: str) -> Job:
        stands, now = self.cards, dates.moment_of(page)
        told = [line for line in labels.bits(node) if line != title and len(line) <= LINE][:40]
        found = re.search(self.number, urlsplit(url).path)
        apply_url = marks.href(node, stands.apply, page)
        said = marks.text_of(node, stands.posted) or marks.when(node)
        when = (day for line in told if (day := dates.posted(line, now, self.order)))
        return Job(
            url=url,
            title=title[:500],
            company=self.company or marks.text_of(node, stands.company),
            posted_by=self.agency,
            job_id=found[1] if found else None,
            location=marks.text_of(node, stands.location) or (None if stands.location else marks.place_of(told)),
            posted_date=dates.posted(said, now, self.order) if said else next(when, None),
            closing_date=dates.closing(marks.text_of(node, stands.closing), now, self.order),
            job_type=marks.kind_of(marks.text_of(node, stands.job_type), told),
            department=marks.text_of(node, stands.department),
            apply_url=apply_url if apply_url != url else None,
        )

    def address(self, url: str | None) -> str | None:
        """The URL a posting is known by: without what only follows its readers. None if it is not one of a posting."""
        if url is None or len(url) > LONGEST_URL:
            return None
        parts = urlsplit(url)
        if self.postings and not re.search(self.postings, parts.path):
            return None
        kept = [(name, value) for name, value in parse_qsl(parts.query, True) if not _TRACKING.fullmatch(name)]
        return urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(kept), ""))

    def _around(self, page: Page) -> list[Any]:
        """For each link to a posting, the largest block around it that leads to no other posting."""
        links = [
            (node, url)
            for node in page.tree.css(self.cards.link)[:MOST_LINKS]
            if (url := self.address(clean.url(node.attributes.get("href"), page.base_url)))
        ]
        leads: dict[int, set[str]] = {}
        for node, url in links:
            for above in islice(_above(node), 2 * MOST_STEPS):
                leads.setdefault(above.mem_id, set()).add(url)
        return [_block(node, url, leads) for node, url in links[:MOST_CARDS]]

    def general(self, page: Page) -> list[Job]:
        """What a page says in structured data, or what looks like postings to a general reader."""
        made: dict[str, Job] = {}
        for said in job.read(page)[:MOST_CARDS]:
            url = self.address(said.url)
            if url and said.title:
                made.setdefault(
                    url, _merged(Job(url=url, title=said.title, company=self.company), self._said(said, page))
                )
        return list(made.values())

    # -- a posting -----------------------------------------------------------------------------------------------

    def posting(self, page: Page) -> Iterator[Job | Item]:
        """A posting's own page: what the list said of it, and what it says itself."""
        try:
            listed = msgspec.convert(page.carry.get("job"), Job)
        except msgspec.ValidationError:
            raise ReadError(
                "a posting was asked for without what the list says of it: it cannot be read alone"
            ) from None
        if page.status in closing.GONE:
            yield from self.leaving(msgspec.structs.replace(listed, status="closed"))
            return
        told = closing.says(page)
        found = _merged(listed, self.read_posting(page, listed))
        if told is not None:
            found = msgspec.structs.replace(found, title=listed.title)
        over = closing.is_over(found.closing_date, dates.moment_of(page))
        status = told or ("expired" if over else "active")
        yield from self.leaving(msgspec.structs.replace(found, status=status))

    def read_posting(self, page: Page, listed: Job) -> Job:
        """What a posting's own page says: its structured data first, then what stands where we know it."""
        said = next((one for one in job.read(page)[:50] if _is_about(one, listed)), None)
        general = self._said(said, page) if said is not None else listed
        known = self._at_marks(page, listed)
        if structured.of_type(page, "JobPosting"):
            return msgspec.structs.replace(
                _merged(known, general), description=known.description or general.description
            )
        return _merged(general, known)

    def _at_marks(self, page: Page, listed: Job) -> Job:
        stands, now, body = self.shown, dates.moment_of(page), page.tree.body
        prose = page.tree.css_first(stands.description) if stands.description else None
        title = marks.text_of(body, stands.title) if body is not None else None
        return Job(
            url=listed.url,
            title=title if title and _is_same(title, listed.title) else listed.title,
            company=marks.text_of(body, stands.company),
            location=marks.text_of(body, stands.location),
            posted_date=dates.posted(marks.text_of(body, stands.posted), now, self.order),
            closing_date=dates.closing(marks.text_of(body, stands.closing), now, self.order),
            job_type=marks.kind_of(marks.text_of(body, stands.job_type), []),
            department=marks.text_of(body, stands.department),
            job_id=marks.text_of(body, stands.job_id),
            description="\n".join(labels.lines(prose)).strip() or None if prose is not None else None,
            apply_url=marks.href(body, stands.apply, page),
        )

    def _said(self, said: job.Job, page: Page) -> Job:
        """A posting as the general reader read it."""
        now = dates.moment_of(page)
        return Job(
            url=said.url or page.url,
            title=(said.title or "")[:500],
            company=said.organisation,
            job_id=said.id,
            location=said.location,
            department=said.department,
            remote=said.remote,
            job_type=said.employment_type,
            posted_date=dates.posted(said.posted, now, self.order),
            closing_date=dates.closing(said.deadline, now, self.order),
            salary_min=said.salary_min,
            salary_max=said.salary_max,
            salary_currency=said.salary_currency,
            salary_period=said.salary_period,
            description=said.description,
            apply_url=said.apply_url,
        )


def _above(node: Any) -> Iterator[Any]:
    """What lies around a link, the nearest first, up to what holds a whole list."""
    above = node.parent
    while above is not None and above.tag not in ("body", "main", "html", "ul", "ol", "table", "tbody"):
        yield above
        above = above.parent


def _block(node: Any, url: str, leads: dict[int, set[str]]) -> Any:
    for above in islice(_above(node), MOST_STEPS):
        if leads[above.mem_id] != {url}:
            break
        node = above
    return node


def _merged(one: Job, more: Job) -> Job:
    """A job with what another reading of it says besides. Its URL stays, and its number."""
    blank = msgspec.structs.asdict(Job(url=one.url, title=""))
    told = {name: value for name, value in msgspec.structs.asdict(more).items() if value != blank[name] and value}
    return msgspec.structs.replace(one, **{**told, "url": one.url, "job_id": one.job_id or more.job_id})


def _is_about(said: job.Job, listed: Job) -> bool:
    """Whether a posting on a page is the one the page is about, and not one that readers may like too."""
    if said.url == listed.url or (said.id and said.id == listed.job_id):
        return True
    return bool(said.title) and _is_same(said.title or "", listed.title)


def _is_same(one: str, two: str) -> bool:
    """Whether two titles are of one posting: lists cut long ones short, and pages add a place or a number."""
    one, two = (text.casefold().rstrip(" .…") for text in (one[:LINE], two[:LINE]))
    return bool(one and two) and (one in two or two in one)


def _count(page: Page, name: str) -> int:
    value = page.carry.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
