"""What all scrapers of the pack have in common: the shapes, the parameters, the pace, and how a job leaves them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, Final

from gossamer import ConfigError, Item, Rejected, Scraper, Step, step
from gossamer.packs.jobs import companies, titles
from gossamer.packs.jobs.finishing import finish
from gossamer.packs.jobs.model import Company, Job

__all__ = ["TAKES", "JobScraper", "matching"]

#: The parameters that every scraper of the pack knows.
TAKES: Final[Mapping[str, str]] = {
    "only": "matching: keep only jobs whose title the filter knows; all, the default, keeps every one with its score",
    "filter": "a file with a title filter of your own, JSON or TOML",
    "companies": "the file with the names of companies, TOML or CSV; companies.toml if there is one",
    "max_jobs": "how many jobs a run follows at most; 0 is no limit",
}
#: More than this is a slip of the finger.
MOST: Final = 100_000


@step
def matching(record: dict[str, Any]) -> dict[str, Any]:
    """Refuse jobs whose title the filter does not know."""
    if "filter_match" in record and not record["filter_match"]:
        raise Rejected(f"its title matches nothing the filter looks for: {str(record.get('title'))[:200]!r}")
    return record


class JobScraper(Scraper):
    """A source of jobs. Yield `self.leaving(job)` from a handler, and the rest of the pack's work is done."""

    kind = "job"
    key = "url"
    item: ClassVar[Any] = {"job": Job, "company": Company}
    #: Two spellings of one company are no news.
    volatile = ("written",)
    takes = TAKES
    local: ClassVar[tuple[str, ...]] = ("filter", "companies")
    #: Known postings are looked at again after a week, to see whether they are still open.
    revisit = "7d"
    #: A board that shows its newest fifty does not say that the others are gone.
    gone = "14d"
    rate = "20/min"
    per_host = 1
    every: ClassVar[str | float | None] = "3h"
    jitter = "10m"

    #: Whose jobs they are, where a site has those of one company.
    company: ClassVar[str | None] = None
    #: What that company does; and the country of places that name none.
    operation_type: ClassVar[str | None] = None
    country_code: ClassVar[str | None] = None
    #: Jobs that a run follows unless it is told otherwise; 0: all.
    most: ClassVar[int] = 50

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        super().__init__(params)
        only = str(self.params.get("only", "all"))
        if only not in ("all", "matching"):
            raise ConfigError(f"only={only[:80]!r} cannot be used: write only=matching, or only=all")
        #: Whether jobs are refused that the title filter does not know.
        self.picky = only == "matching"
        if self.picky:
            self.steps: tuple[Step, ...] = (*type(self).steps, matching)  # type: ignore[misc]
        companies.book_of(self.params)  # a file that cannot be read is told of now, not page by page
        titles.filter_of(self.params)
        _ = self.limit

    @cached_property
    def limit(self) -> int:
        """Jobs that this run follows at most."""
        text = str(self.params.get("max_jobs", self.most)).strip()
        if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) <= MOST):
            raise ConfigError(f"max_jobs={text[:80]!r} cannot be used: write a number up to {MOST:,}; 0 is no limit")
        return int(text) or MOST

    @property
    def short(self) -> str:
        """The name within the pack: "signature" of "jobs.signature"."""
        return self.name.rpartition(".")[2]

    def leaving(self, job: Job) -> Iterator[Job | Item]:
        """A job with all its fields; and its company, if the mapping table does not know it."""
        made = finish(job, self)
        yield made
        unknown = companies.to_review(made, self) if made.filter_match or not self.picky else None
        if unknown is not None:
            yield unknown
