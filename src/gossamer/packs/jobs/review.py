"""Which companies a person should look at, and what becomes of what they say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

import gossamer
from gossamer import ConfigError
from gossamer.packs.jobs import companies, company_table
from gossamer.packs.jobs.company_table import Entry

__all__ = ["Seen", "accept", "seen", "sources"]


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A company as the jobs in a store show it."""

    company_name: str
    normalized_name: str
    #: The ways it is written, the most frequent first.
    written: tuple[str, ...]
    jobs: int
    active: int
    #: The newest day on which one was posted.
    last_job_date: str | None
    operation_type: str | None
    country_code: str | None
    needs_review: bool


def seen(store: str | None, table: Path) -> list[Seen]:
    """The companies of a store, those with the most jobs first. What needs review was found unknown, and still is."""
    book = companies.book_of({"companies": str(table)} if table.exists() else {})
    unknown = {item.get("normalized_name") for item in gossamer.items(store, kind="company")}
    by_key: dict[str, list[dict[str, Any]]] = {}
    for job in gossamer.items(store, kind="job"):
        entry = book.find(job.get("company"))
        key = companies.key_of(entry.name if entry else job.get("company"))
        if key:
            by_key.setdefault(key, []).append(job)
    found = [_seen(key, jobs, book, key in unknown) for key, jobs in by_key.items()]
    return sorted(found, key=lambda one: (-one.jobs, one.company_name.casefold()))


def _seen(key: str, jobs: list[dict[str, Any]], book: companies.Book, unknown: bool) -> Seen:
    written = Counter(str(job["company"]) for job in jobs)
    first = written.most_common(1)[0][0]
    entry = book.find(first)
    return Seen(
        company_name=entry.name if entry else companies.proposed(first) or first,
        normalized_name=key,
        written=tuple(name for name, _ in written.most_common(10)),
        jobs=len(jobs),
        active=sum(job.get("status") == "active" for job in jobs),
        last_job_date=max((day for job in jobs if isinstance(day := job.get("posted_date"), str)), default=None),
        operation_type=(entry.operation if entry else None) or _usual(jobs, "operation_type"),
        country_code=(entry.country if entry else None) or _usual(jobs, "country_code"),
        needs_review=entry is None and unknown,
    )


def _usual(jobs: list[dict[str, Any]], field: str) -> str | None:
    counts = Counter(value for job in jobs if isinstance(value := job.get(field), str))
    return counts.most_common(1)[0][0] if counts else None


def sources(store: str | None, name: str) -> dict[str, int]:
    """How many jobs of a store are of a company, by the scrapers that brought them, the most first."""
    key = companies.key_of(name)
    jobs = gossamer.items(store, kind="job") if key is not None else []
    counts = Counter(str(job.get("source")) for job in jobs if companies.key_of(job.get("company")) == key)
    return dict(counts.most_common(20))


def accept(
    table: Path, name: str, called: str | None = None, operation: str | None = None, country: str | None = None
) -> Entry:
    """Write a company into a table: a name as postings write it, and the one it is filed by. Raises ConfigError."""
    written = " ".join(name.split())
    filed = " ".join((called or "").split()) or companies.proposed(written)
    if not filed or companies.key_of(filed) is None or companies.key_of(written) is None:
        raise ConfigError(f"{(called or name)[:80]!r} is no name of a company")
    also = () if written == filed else (written,)
    entry = Entry(filed, also, *company_table.checked(operation or None, country or None, filed))
    company_table.write(table, entry)
    return entry
