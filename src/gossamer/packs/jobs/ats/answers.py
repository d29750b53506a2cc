"""What applicant tracking systems answer, read without trust: a value of the wrong sort is as good as none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from gossamer import Page, ReadError, Selection
from gossamer.packs.jobs import places
from gossamer.packs.jobs.marks import apart
from gossamer.packs.jobs.model import Job
from gossamer.parse import clean, plain
from gossamer.parse.jobdata import is_remote, kind
from gossamer.parse.pagedates import PageDates
from gossamer.parse.pay import Pay, pay, period

__all__ = [
    "DESCRIPTION",
    "at",
    "child",
    "children",
    "first",
    "host_of",
    "length",
    "merged",
    "place",
    "posting",
    "prose",
    "remote",
    "rows",
    "text",
    "texts",
    "wage",
    "whole",
]

#: Postings read of one answer.
MOST: Final = 20_000
#: Letters that are kept of a description, a line, and a URL.
DESCRIPTION: Final = 10_000
LINE: Final = 500
URL: Final = 1_000
#: Letters of HTML that are read to find as many of text.
_MARKUP: Final = 200_000
#: Places of one job.
_PLACES: Final = 20

_LINES: Final = ("company", "job_id", "department", "contract_type", "contract_duration", "travel_required")
_PROSE: Final = ("description", "requirements", "qualifications", "responsibilities")
_COUNTRY: Final = re.compile(r"[A-Za-z]{2}")
#: What objects are called under, best first.
_NAMES: Final = ("name", "label", "descriptor", "text", "title", "location")
_STATUSES: Final = frozenset({"active", "closed", "expired"})


def at(value: Any, *path: str | int) -> Any:
    """What lies at a path of names and numbers; None where there is nothing of the sort.

    >>> at({"items": [{"Title": "Pilot"}]}, "items", 0, "Title")
    'Pilot'
    """
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def first(*values: Any) -> Any:
    """The first value that says something."""
    return next((value for value in values if value not in (None, "", [], {})), None)


def rows(value: Any, *path: str | int) -> list[dict[str, Any]]:
    """The objects of the list at a path. Raises ReadError if there is no list: the answer is of an unknown shape."""
    found = at(value, *path)
    if not isinstance(found, list):
        where = ".".join(map(str, path)) or "its top"
        raise ReadError(f"the answer has no list of jobs at {where}: the system has changed, or it is another one")
    return [row for row in found[:MOST] if isinstance(row, dict)]


def elements(page: Page, selector: str, most: int) -> list[Selection]:
    """Elements of a page that match, at most so many, and none that lies in many others: each is looked through."""
    return [Selection([node]) for node in apart(page.tree.css(selector)[:most])]


def length(value: Any, *path: str | int) -> int:
    """How many entries the list at a path has, of whatever sort: what could not be read counts too when pages do."""
    found = at(value, *path)
    return len(found) if isinstance(found, list) else 0


def whole(value: Any) -> int | None:
    """A count that an answer gives, as a number or a text."""
    found = clean.integer(value)
    return found if found is not None and 0 <= found < 10**9 else None


def text(value: Any) -> str | None:
    """A line of text, tidy and not too long; of an object its name, of a list its first."""
    return next(texts(value), None)


def texts(value: Any) -> Iterator[str]:
    """Lines of text: texts as they are, objects by what they are called, lists one by one."""
    for one in plain.each(value):
        said = first(*(one.get(name) for name in _NAMES)) if isinstance(one, dict) else one
        found = clean.text(said) if isinstance(said, str | int | float) and not isinstance(said, bool) else None
        if found:
            yield found[:LINE]


def prose(*values: Any) -> str | None:
    """Texts that may be HTML, one after the other as plain text, a line for each paragraph."""
    given = (one for value in values for one in plain.each(value) if isinstance(one, str))
    found = (said for one in given if (said := plain.prose(one[:_MARKUP])))
    return "\n".join(dict.fromkeys(found))[:DESCRIPTION].strip() or None


def place(*parts: Any) -> str | None:
    """A place in one line, from its parts: town, region, country; each once."""
    said = (found for part in parts if (found := text(part)))
    return ", ".join(dict.fromkeys(said))[:LINE] or None


def remote(*values: Any) -> bool | None:
    """Whether a job can be done from anywhere: the first of some values that tells."""
    for value in values:
        if isinstance(value, bool):
            return value
        for said in texts(value):
            if said.lower().replace("_", "").replace("-", "").replace(" ", "") in ("hybrid", "onsite", "inoffice"):
                return False
            if (found := is_remote(said.replace("_", " "))) is not None:
                return found
    return None


def wage(least: Any = None, most: Any = None, currency: Any = None, unit: Any = None, said: Any = None) -> Pay:
    """What a job pays: in numbers, or in a text."""
    low, high = clean.number(least), clean.number(most)
    money = text(currency)
    if (low or 0) > 0 or (high or 0) > 0:
        named = money.upper() if money and re.fullmatch(r"[A-Za-z]{3}", money) else None
        return Pay(low or high, high or low, named, period(unit.replace("-", " ") if isinstance(unit, str) else unit))
    line = text(said)
    return pay(line, sure=True) if line else Pay()


def posting(
    page: Page,
    *,
    url: Any,
    title: Any,
    location: Any = None,
    country_code: Any = None,
    posted_date: Any = None,
    closing_date: Any = None,
    job_type: Any = None,
    remote: bool | None = None,
    pay: Pay | None = None,
    apply_url: Any = None,
    status: str = "active",
    order: str | None = None,
    **others: Any,
) -> Iterator[Job]:
    """The job that some values tell of; nothing if they have no title, or no URL to read it at.

    `order` ("MDY") is how the system writes dates in numbers, where that is known.
    """
    link, called = clean.url(url, page.base_url), text(title)
    if link is None or called is None or len(link) > URL:
        return
    dates = PageDates.of(page)
    wages = pay or Pay()
    where = place_of(location)
    fields: dict[str, Any] = {name: text(others[name]) for name in _LINES if name in others}
    fields |= {name: prose(*plain.each(others[name])) for name in _PROSE if name in others}
    country = country_code.strip()[:100] if isinstance(country_code, str) else ""
    apply_at = clean.url(apply_url, page.base_url)
    yield Job(
        url=link,
        title=called,
        location=where,
        country_code=country.upper() if _COUNTRY.fullmatch(country) else places.country_code(country),
        posted_date=_day(posted_date, dates, order),
        closing_date=_day(closing_date, dates, order),
        job_type=next(filter(None, map(kind, texts(job_type))), None),
        remote=remote if remote is not None else (True if is_remote(where) else None),
        salary_min=wages.least,
        salary_max=wages.most,
        salary_currency=wages.currency if wages.least else None,
        salary_period=wages.period if wages.least else None,
        apply_url=apply_at if apply_at and len(apply_at) <= URL else None,
        status=status if status in _STATUSES else "active",
        **fields,
    )


def place_of(value: Any) -> str | None:
    """Where a job is, in one line: several places with semicolons between."""
    found = dict.fromkeys(text for one in plain.each(value) for text in texts(one))
    return "; ".join(list(found)[:_PLACES])[:LINE] or None


def _day(value: Any, dates: PageDates, order: str | None) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return clean.date(value, now=dates.now, order=order) if order else dates.day(value)


def merged(job: Job, more: Job | None) -> Job:
    """A job with what its own page adds to what the list said of it. Its URL and number stay those of the list."""
    if more is None:
        return job
    told = msgspec.structs.asdict(more)
    blank = msgspec.structs.asdict(Job(url=job.url, title=job.title))
    kept = {"url": job.url, "job_id": job.job_id or more.job_id}
    changes = {name: value for name, value in told.items() if value != blank[name] and value is not None}
    return msgspec.structs.replace(job, **{**changes, **kept})


def host_of(url: str) -> str:
    """The host of a URL, in small letters; empty if there is none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


# --- XML --------------------------------------------------------------------------------------------------------


def children(element: Any, name: str) -> list[Any]:
    """The elements of a name below an element, whatever its case and namespace, as many as are read."""
    wanted = _bare(name)
    found = []
    for one in element.iter():
        if one is not element and isinstance(one.tag, str) and _bare(one.tag) == wanted:
            found.append(one)
            if len(found) >= MOST:
                break
    return found


def child(element: Any, *names: str) -> str | None:
    """The text of the first element right below one that has one of the names, in the order of these."""
    said: dict[str, str] = {}
    for one in element:
        if isinstance(one.tag, str) and (inner := "".join(one.itertext()).strip()):
            said.setdefault(_bare(one.tag), inner)
    return next((said[bare] for name in names if (bare := _bare(name)) in said), None)


def _bare(tag: str) -> str:
    return re.sub(r"[^a-z0-9]", "", tag.rpartition("}")[2].lower())
