"""What every job passes before it leaves a scraper: the fields that follow from the others."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from gossamer import Scraper
from gossamer.packs.jobs import companies, titles
from gossamer.packs.jobs.company_table import Entry
from gossamer.packs.jobs.model import Job
from gossamer.packs.jobs.operations import operation_type
from gossamer.packs.jobs.places import country_code

__all__ = ["DESCRIPTION", "finish", "is_senior", "normalized"]

#: Letters that are kept of a description, and of a line.
DESCRIPTION: Final = 10_000
LINE: Final = 500

_SENIOR: Final = re.compile(
    r"\b(?:manager|head|director|senior|vp|vice[ -]president|superintendent|lead|chief|principal|supervisor|sr)\b",
    re.IGNORECASE,
)
#: "Head" and "lead" as parts of other things.
_NOT_SENIOR: Final = re.compile(r"\b(?:cylinder|print|shower|lead[ -](?:acid|time|generation))\b", re.IGNORECASE)
_PROSE: Final = ("description", "requirements", "qualifications", "responsibilities")
_LINES: Final = ("title", "company", "location", "department", "contract_type", "contract_duration", "travel_required")


def finish(job: Job, board: Scraper) -> Job:
    """The job with the fields that can be told from the others: title, company, country, operation, score.

    What a source said itself is kept. `board` is the scraper that read it: its name, its parameters, and what it says
    of the company whose jobs they are.
    """
    job = _tidied(job)
    if job.company is None and (whose := getattr(board, "company", None)):
        job = msgspec.structs.replace(job, company=whose)
    known = companies.book_of(board.params).find(job.company)
    changes: dict[str, Any] = {
        "source": job.source or board.name.rpartition(".")[2],
        "company_name": job.company_name or (known.name if known else companies.proposed(job.company)),
        "normalized_title": normalized(job.title),
        "is_senior_position": job.is_senior_position or is_senior(job.title),
        "country_code": job.country_code or country_code(job.location) or getattr(board, "country_code", None),
        "operation_type": _operation(job, board, known),
        "apply_url": job.apply_url or job.url,
    }
    return msgspec.structs.replace(job, **changes, **titles.filter_of(board.params).fields(job.title))


def normalized(title: str) -> str:
    """A title in small letters, white space tidied."""
    return " ".join(title.lower().split())


def is_senior(title: str) -> bool:
    """Whether a title says that others are led: by whole words, so that a "Leadership Trainee" is none."""
    return bool(_SENIOR.search(_NOT_SENIOR.sub(" ", title)))


def _tidied(job: Job) -> Job:
    """Texts within their limits; what is empty says nothing."""
    changes: dict[str, Any] = {}
    for name in (*_LINES, *_PROSE):
        value = getattr(job, name)
        if not isinstance(value, str):
            continue
        tidy = " ".join(value.split())[:LINE] if name in _LINES else value.strip()[:DESCRIPTION].rstrip()
        if tidy != value:
            changes[name] = tidy if tidy or name == "title" else None
    return msgspec.structs.replace(job, **changes) if changes else job


def _operation(job: Job, board: Scraper, known: Entry | None) -> str | None:
    """What the company does, where that is known; else by words, those of the title first."""
    return (
        job.operation_type
        or (known.operation if known else None)
        or getattr(board, "operation_type", None)
        or operation_type(job.title, job.department, job.company, job.description)
    )
