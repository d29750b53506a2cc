"""A company's job board: what the adapters of all applicant tracking systems have in common."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from keyword import iskeyword
from typing import Any, ClassVar, Final
from urllib.parse import quote, urlencode

import msgspec

from gossamer import ConfigError, Item, Page, ReadError, Request
from gossamer.packs.jobs import closing, dates
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.answers import host_of, merged, posting
from gossamer.packs.jobs.finishing import finish
from gossamer.packs.jobs.model import Job
from gossamer.packs.jobs.scraper import TAKES, JobScraper
from gossamer.parse import job as parsed
from gossamer.parse.pay import Pay

__all__ = ["JSON", "SEARCHING", "Board", "camel", "link"]

#: What the systems are asked for that have it in two forms.
JSON: Final = {"Accept": "application/json"}
#: More listing pages than this nobody means.
MOST_PAGES: Final = 10_000
#: Jobs that are read of a page beyond those that a run follows: it may have some of them twice.
_SPARE: Final = 500
#: What a board may be called, and what a host.
_NAME: Final = re.compile(r"[\w.~ &'()+-]{1,100}")
_HOST: Final = re.compile(r"(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,8}[a-z]{2,24}")


class Board(JobScraper):
    """The jobs of one company. A subclass for a system says where they are listed and how an answer is read;
    a subclass of that one, of two lines, is a company.

    A run asks for the list, page by page, until a page brings nothing new. Where the list lacks the descriptions,
    it asks for each job's own page too, if it is new or was not looked at for as long as `revisit` says.
    """

    takes: ClassVar[Mapping[str, str]] = {
        **TAKES,
        "max_pages": "how many pages of the list a run asks for at most",
        "details": "no: leave out what only the jobs' own pages say, and ask for nothing but the list",
    }
    #: The systems' answers are the company's word: a page of the list may lead to any of their hosts.
    scope = "any"
    accept_status: ClassVar[tuple[int, ...]] = closing.GONE
    rate = "1/s"
    per_host = 1
    most = 2_000

    #: What the system is called, for people.
    system: ClassVar[str] = ""
    #: What the board is called in the system: most often a name, "acme"; for some a host, or a host and a name.
    board: ClassVar[str] = ""
    #: Pages of the list that a run asks for unless it is told otherwise.
    most_pages: ClassVar[int] = 200
    #: Whether a list that is answered by another host than the one asked means that there is no such board.
    stays: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        if "name" not in cls.__dict__:
            cls.name = "jobs." + re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()
        super().__init_subclass__(**kwargs)

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        super().__init__(params)
        _ = self.page_limit

    # --- what an adapter says ---

    def listing(self) -> Iterable[Request]:
        """The first page of the list."""
        raise ConfigError(f"{type(self).__name__} has no listing: subclass the adapter of a system")

    def jobs(self, page: Page) -> Iterable[Job]:
        """The jobs of a page of the list, in its order."""
        raise ReadError(f"{type(self).__name__} cannot read a list: subclass the adapter of a system")

    def following(self, page: Page, found: int) -> Request | None:
        """The page of the list after one that had `found` jobs; None if that was the last."""
        return None

    def details(self, job: Job, page: Page) -> Request | None:
        """Where a job of the list `page` says the rest; None if the list has said it all."""
        return None

    def detailed(self, page: Page, job: Job) -> Job:
        """A job of the list, with what its own page says. By default that is a page for people."""
        return merged(job, next(self.shown(page, job), None))

    def worth_reading(self, job: Job) -> bool:
        """Whether a job's own page is worth asking for: not if the job is not wanted anyway, by its title."""
        return self.params.get("only") != "matching" or finish(job, self).filter_match

    @classmethod
    def known(cls, address: Address) -> dict[str, Any] | None:
        """What a subclass would have to say for the board at an address; None if it is not one of this system."""
        return None

    @classmethod
    def marked(cls, page: Page) -> dict[str, Any] | None:
        """The same, by marks in a page of the company's own site."""
        return None

    # --- what a run does ---

    def start(self) -> Iterator[Request]:
        """The first page of the list."""
        for request in self.listing():
            yield request.evolve(revisit=True)

    def parse(self, page: Page) -> Iterator[Job | Item | Request]:
        """A page of the list: its jobs, or requests for their own pages, and the next page."""
        number, seen = _count(page, "page") or 1, _count(page, "jobs")
        if number > 1 and page.status in closing.GONE:
            return  # some systems have no page after the last one
        self.check(page)
        # An answer may hold a hundred thousand: what the run would not follow is not read.
        found = list({job.url: job for job in islice(self.jobs(page), self.limit + _SPARE)}.values())
        digest = hashlib.sha256("\n".join(sorted(job.url for job in found)).encode()).hexdigest()[:16]
        if not found or page.carry.get("digest") == digest:
            return  # the end, or a system that sends its first page for ever
        for job in found[: max(0, self.limit - seen)]:
            yield from self._offered(job, page)
        seen += len(found)
        after = self.following(page, len(found)) if number < self.page_limit and seen < self.limit else None
        if after is not None:
            carry = {**(after.carry or {}), "page": number + 1, "jobs": seen, "digest": digest}
            yield after.evolve(revisit=True, carry=carry)

    def _offered(self, job: Job, page: Page) -> Iterator[Job | Item | Request]:
        asked = self.details(job, page) if self.reads_details and self.worth_reading(job) else None
        if asked is None:
            yield from self.done(job, page)
        else:
            carry = {**(asked.carry or {}), "job": msgspec.to_builtins(job)}
            yield asked.evolve(to="detail", carry=carry)

    def detail(self, page: Page) -> Iterator[Job | Item]:
        """A job's own page."""
        try:
            job = msgspec.convert(page.carry.get("job"), Job)
        except msgspec.ValidationError:
            raise ReadError("a job's own page was asked for without the job: it cannot be read alone") from None
        gone = page.status in closing.GONE
        found = msgspec.structs.replace(job, status="closed") if gone else self.detailed(page, job)
        yield from self.done(found, page)

    def done(self, job: Job, page: Page) -> Iterator[Job | Item]:
        """A job on its way out: whose it is, and whether it can still be had."""
        company = self.company or job.company or camel_words(type(self).__name__)
        late = job.status == "active" and closing.is_over(job.closing_date, dates.moment_of(page))
        changes = {"company": company, "status": "expired" if late else job.status}
        yield from self.leaving(msgspec.structs.replace(job, **changes))

    # --- what adapters use ---

    @cached_property
    def page_limit(self) -> int:
        """Pages of the list that this run asks for at most."""
        return min(self._number("max_pages", self.most_pages), MOST_PAGES)

    def _number(self, name: str, otherwise: int) -> int:
        text = str(self.params.get(name, otherwise)).strip()
        if not (text.isascii() and text.isdecimal() and len(text) < 9 and int(text) > 0):
            raise ConfigError(f"{name}={text[:80]!r} cannot be used: write a number from 1")
        return int(text)

    @cached_property
    def reads_details(self) -> bool:
        """Whether jobs' own pages are asked for."""
        return str(self.params.get("details", "yes")).strip().lower() not in ("no", "false", "0", "off")

    @property
    def query(self) -> str:
        """What to search for; empty for everything."""
        return " ".join(str(self.params.get("query", "")).split())[:200]

    @property
    def slug(self) -> str:
        """The board's name, as it stands in a URL. Raises ConfigError if it cannot be one."""
        if not _NAME.fullmatch(self.board):
            raise ConfigError(
                f"{type(self).__name__}.board = {self.board[:80]!r} cannot be used: write the company's name in "
                f'{self.system or "the system"}, like board = "acme"'
            )
        return quote(self.board, safe="")

    def host(self, domain: str = "") -> str:
        """The board's host: the board itself, or the board's name below the domain of its system."""
        name = self.board.partition("/")[0].lower()
        host = name if "." in name or not domain else f"{name}.{domain}"
        if not _HOST.fullmatch(host):
            raise ConfigError(
                f"{type(self).__name__}.board = {self.board[:80]!r} cannot be used: write a host, like "
                f'board = "{f"acme.{domain}" if domain else "careers.acme.com"}"'
            )
        return host

    def check(self, page: Page) -> None:
        """Raises ReadError for a list that is none: there is no such board."""
        if page.status in closing.GONE:
            raise ReadError(f"{self.system} knows no board {self.board!r}: look at the address of the company's jobs")
        asked = page.request.via[0] if page.request.via else page.url
        # Some systems have a board's name below several of their domains: that is still the board.
        if self.stays and host_of(asked).partition(".")[0] != host_of(page.url).partition(".")[0]:
            raise ReadError(f"{self.system} sends us from the board {self.board!r} to {host_of(page.url)}: it is gone")

    def answer(self, page: Page) -> Any:
        """The JSON of an answer. Raises ReadError, saying what may be wrong, if it is something else."""
        try:
            return page.json()
        except ReadError as why:
            if page.kind != "html":
                raise
            raise ReadError(
                f"{self.system} answered with a page where data was asked for: see whether {self.board!r} is right"
            ) from why

    def shown(self, page: Page, job: Job) -> Iterator[Job]:
        """What a page for people says of a job: by its structured data, or as a reader sees it."""
        over = closing.says(page)
        said = next(iter(parsed.read(page)), None) if page.is_html else None
        if said is None:
            if over:
                yield msgspec.structs.replace(job, status=over)
            return
        yield from posting(
            page,
            url=job.url,
            title=job.title if over else said.title or job.title,
            company=said.organisation,
            job_id=said.id,
            location=said.location,
            department=said.department,
            posted_date=said.posted,
            closing_date=said.deadline,
            job_type=said.employment_type,
            remote=said.remote,
            pay=Pay(said.salary_min, said.salary_max, said.salary_currency, said.salary_period),
            description=None if over else said.description,
            apply_url=said.apply_url,
            status=over or "active",
        )


#: The parameters of the systems that search.
SEARCHING: Final[Mapping[str, str]] = {**Board.takes, "query": "what to search for; all jobs, if it is left out"}


def link(base: str, **query: Any) -> str:
    """A URL with a query; what is None or empty is left out."""
    kept = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{base}?{urlencode(kept, quote_via=quote)}" if kept else base


def _count(page: Page, name: str) -> int:
    value = page.carry.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def camel(text: str) -> str:
    """A name for a class: "careers-acme air" becomes "CareersAcmeAir".

    >>> camel("acme air")
    'AcmeAir'
    """
    words = re.findall(r"[A-Za-z0-9]+", text)
    made = "".join(word[0].upper() + word[1:] for word in words)[:60]
    return made if made[:1].isalpha() and not iskeyword(made) else f"Company{made}"


def camel_words(name: str) -> str:
    """A class's name as words: "AcmeAir" becomes "Acme Air"."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
