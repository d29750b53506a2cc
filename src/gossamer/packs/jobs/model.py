"""What a job is, for every source of the pack; and a company whose name nobody has looked at yet."""

from __future__ import annotations

from typing import Final

import msgspec

#: What a company, and with it a job, can be about.
OPERATIONS: Final = (
    "passenger",
    "cargo",
    "business",
    "scheduled",
    "low_cost",
    "ad_hoc_charter",
    "helicopter",
    "mro",
    "ground_ops",
    "atc",
)


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One job posting. What a source does not say is None."""

    #: Where it can be read; the key of the item.
    url: str
    title: str
    #: The company as it writes itself, and under the one name we file it by.
    company: str | None = None
    company_name: str | None = None
    #: Who published it, if that is not the company: an agency, a job board.
    posted_by: str | None = None
    #: What the site calls the posting: a requisition number.
    job_id: str | None = None
    location: str | None = None
    #: ISO 3166-1, two letters.
    country_code: str | None = None
    #: One of OPERATIONS.
    operation_type: str | None = None
    #: active, closed or expired.
    status: str = "active"
    #: The scraper's short name: "signature".
    source: str | None = None
    is_senior_position: bool = False
    #: ISO 8601 dates.
    posted_date: str | None = None
    closing_date: str | None = None
    department: str | None = None
    #: full-time, part-time, contract, temporary, internship ...
    job_type: str | None = None
    contract_type: str | None = None
    contract_duration: str | None = None
    remote: bool | None = None
    travel_required: str | None = None
    shift_work: bool | None = None
    salary_min: float | None = None
    salary_max: float | None = None
    salary_currency: str | None = None
    salary_period: str | None = None
    #: Plain text, a line for each paragraph; at most 10,000 characters.
    description: str | None = None
    requirements: str | None = None
    qualifications: str | None = None
    responsibilities: str | None = None
    #: Where one applies; the posting itself unless it says otherwise.
    apply_url: str | None = None
    #: The title in small letters, white space tidied.
    normalized_title: str | None = None
    #: What the title filter made of it.
    filter_match: bool = False
    filter_score: float = 0.0
    #: high, medium or low; None where nothing matched.
    filter_level: str | None = None
    primary_category: str | None = None
    matched_categories: tuple[str, ...] = ()
    matched_keywords: tuple[str, ...] = ()


class Company(msgspec.Struct, frozen=True, kw_only=True):
    """A company that the mapping table does not know: a person says under which name it is filed."""

    #: The name we would file it by.
    company_name: str
    #: What two spellings of one company have in common; the key of the item.
    normalized_name: str
    #: As the first posting wrote it.
    written: str
    operation_type: str | None = None
    country_code: str | None = None
    auto_created: bool = True
    needs_review: bool = True
