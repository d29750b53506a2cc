"""Jobs in the JSON of applicant tracking systems: known by the names of their fields, whichever system it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from gossamer import urls
from gossamer.parse import clean, plain
from gossamer.parse.embedded import short, walk
from gossamer.parse.pagedates import PageDates
from gossamer.parse.pay import Pay, pay, period

__all__ = ["fields", "is_remote", "kind", "records"]

#: What a field may be called, letters and digits only, best first.
_NAMES: Final = {
    "title": "title jobtitle jobopeningname positiontitle postingtitle jobname requisitiontitle text name",
    "url": "absoluteurl joburl hostedurl careersurl url canonicalpositionurl detailurl externalurl joblink link"
    " permalink jobpath externalpath path shortlink ref",
    "apply_url": "applyurl applicationurl careersapplyurl applylink urlnextstep",
    "id": "id jobid reqid requisitionid shortcode jobseqno refnumber externalid uuid slug",
    "organisation": "companyname company hiringorganization organizationname organisation employer employername",
    "department": "department departmentname departmentlabel departments jobcategory category categories jobfamily"
    " jobfunction function team",
    "location": "location locationstext primarylocation locationname normalizedlocation fulllocation joblocation city"
    " offices",
    "locations": "multilocation locations secondarylocations alllocations otherlocations",
    "remote": "isremote remote telecommuting workplacetype workplace worktype locationtype",
    "employment_type": "employmenttype typeofemployment employmenttypecode employmentstatuslabel jobscheduletype"
    " timetype jobtype commitment contracttype schedule type",
    "posted": "publishedat publishedon firstpublished posteddate dateposted postedon postedat releaseddate"
    " datepublished publicationdate publishdate createdat creationdate tcreate createddate pubdate",
    "deadline": "applicationdeadline deadline deadlineat closingdate closedate closesat postingenddate"
    " postingexpirydate validthrough expirationdate expirydate expiresat enddate",
    "description": "content descriptionhtml description jobdescription externaldescriptionstr descriptionbody body"
    " descriptionplain fulldescription shortdescription descriptionshort descriptionteaser summary",
}
_FIELDS: Final = {field: names.split() for field, names in _NAMES.items()}
#: Fields that other records have too: a title and an id make no job.
_TELLING: Final = ("location", "locations", "department", "employment_type", "apply_url", "remote", "deadline")
_COMMON: Final = ("url", "id", "description", "posted", "organisation")
#: What a list of jobs is called.
_LISTS: Final = re.compile(r"job|posting|offer|position|requisition|opening|vacanc|career", re.IGNORECASE)


def records(data: Any) -> list[dict[str, Any]]:
    """The objects in data that are jobs: those of the list that has most of them, or data itself if it is one."""
    if not isinstance(data, dict | list):
        return []
    best: list[dict[str, Any]] = []
    groups: dict[str, list[dict[str, Any]]] = {}
    for holder in walk(data):
        if isinstance(holder, dict):
            for name, value in holder.items():
                if isinstance(value, list) and value:
                    # Several lists of one name are one list, told in parts.
                    groups.setdefault(name, []).extend(_jobs(value, bool(_LISTS.search(name))))
    if isinstance(data, list):
        groups["$"] = _jobs(data, named=False)
    for found in groups.values():
        if len(found) > len(best):
            best = found
    if not best and isinstance(data, dict):
        best = _jobs([data], named=False)
    return best


def _jobs(values: list[Any], named: bool) -> list[dict[str, Any]]:
    found = [job for value in values[:5000] if isinstance(value, dict) and (job := _job(value, named)) is not None]
    return found if len(found) * 2 >= len(values) else []


def _job(value: dict[str, Any], named: bool) -> dict[str, Any] | None:
    """An object as a record of known fields; None if it is no job."""
    thing = next((one for one in value.values() if isinstance(one, dict) and one.get("@type") == "JobPosting"), None)
    if value.get("@type") == "JobPosting":
        thing = value
    if thing is not None:
        return {**value, "_thing": thing}
    record = _tidied(value)
    inner = [one for one in value.values() if isinstance(one, dict)]
    if "title" not in record and "jobtitle" not in record and len(inner) == 1 and len(value) == 1:
        record = _tidied(inner[0])
    if not isinstance(_first(record, "title"), str):
        return None
    telling = sum(_first(record, field) is not None for field in _TELLING)
    common = sum(_first(record, field) is not None for field in _COMMON)
    enough = telling >= 1 and telling + common >= 2 if named else telling >= 2 and telling + common >= 3
    return record if enough else None


def _tidied(value: dict[str, Any], *, inside: bool = False) -> dict[str, Any]:
    """The fields of an object under names of letters and digits only; those of `categories` are its own."""
    found: dict[str, Any] = {}
    for name, one in value.items():
        key = short(name)
        if isinstance(one, dict) and key in ("categories", "job") and not inside:
            inner = _tidied(one, inside=True)
            found = {**{name: each for name, each in inner.items() if name not in ("id", "title")}, **found}
        elif one is not None and one != "" and one != []:
            found.setdefault(key, one)
    return found


def _first(record: dict[str, Any], field: str) -> Any:
    return next((record[name] for name in _FIELDS[field] if name in record), None)


def fields(record: dict[str, Any], url: str, dates: PageDates) -> dict[str, Any]:
    """What a record says, by the names of Job's fields."""
    where = _where(record)
    wage = _pay(record)
    department = next(_labels(_first(record, "department")), None)
    posted, deadline = _first(record, "posted"), _first(record, "deadline")
    return {
        "url": _link(record, url),
        "id": clean.strip(_identity(record)),
        "title": clean.text(_first(record, "title")),
        "organisation": next(_labels(_first(record, "organisation")), None),
        "department": department,
        "location": "; ".join(where) or None,
        "locations": where,
        "remote": _remote(record, where),
        "employment_type": kind(next(_labels(_first(record, "employment_type")), None)),
        "posted": dates.moment(posted) if isinstance(posted, str | int) else None,
        "deadline": dates.moment(deadline) if isinstance(deadline, str | int) else None,
        "salary_min": wage.least,
        "salary_max": wage.most,
        "salary_currency": wage.currency,
        "salary_period": wage.period,
        "description": plain.prose(_first(record, "description")),
        "apply_url": clean.url(_first(record, "apply_url"), url),
    }


def _identity(record: dict[str, Any]) -> Any:
    found = _first(record, "id")
    bullets = record.get("bulletfields")
    return found if found is not None else bullets[0] if isinstance(bullets, list) and bullets else None


_WORKDAY: Final = re.compile(r"(https?://[^/]+)/wday/cxs/[^/]+/([^/]+)/jobs")


def _link(record: dict[str, Any], base: str) -> str | None:
    path = record.get("externalpath")
    workday = _WORKDAY.match(base)
    if isinstance(path, str) and workday:  # the API stands at another path than the pages it tells of
        return urls.resolve(f"{workday[1]}/{workday[2]}{path}", base)
    given = (record[name] for name in _FIELDS["url"] if isinstance(record.get(name), str))
    return next(filter(None, (clean.url(one, base) for one in given if "/" in one)), None)


# --- places -----------------------------------------------------------------------------------------------------

_PLACE_PARTS: Final = ("city", "addresslocality", "state", "region", "addressregion", "country", "addresscountry")
_PLACE_NAMES: Final = ("name", "location", "fulllocation", "label", "normalizedlocation")
_ELSEWHERE: Final = re.compile(r"\d+ locations?", re.IGNORECASE)


def _where(record: dict[str, Any]) -> tuple[str, ...]:
    """Where a job is: in one place or several, each in one line."""
    said = _first(record, "location")
    found = list(_spots(said)) if said is not None and "city" not in _named(record, said) else []
    if not found:
        found = list(_spots({name: record[name] for name in ("city", "state", "country") if name in record}))
    more = _first(record, "locations")
    others = [spot for spot in _spots(more) if not _ELSEWHERE.fullmatch(spot)] if more is not None else []
    if len(others) > 1 and len(found) == 1 and all(spot in found[0] for spot in others):
        found = []  # "Oslo; Bergen" and both of them
    every = dict.fromkeys((*found, *others))
    return tuple(spot for spot in every if not any(spot in other for other in every if other != spot))[:50]


def _named(record: dict[str, Any], value: Any) -> str:
    return next((name for name in _FIELDS["location"] if record.get(name) is value), "")


def _spots(value: Any) -> Iterator[str]:
    for given in plain.each(value):
        one = clean.json(given) if isinstance(given, str) and given.startswith("{") else given
        if isinstance(one, str):
            text = clean.text(one)
            if text:
                yield text
        elif isinstance(one, dict):
            parts = {short(name): part for name, part in one.items()}
            whole = next(
                (parts[n] for n in ("name", "location", "fulllocation", "label", "normalizedlocation") if n in parts),
                None,
            )
            line = [clean.text(parts.get(name)) for name in _PLACE_PARTS]
            joined = ", ".join(dict.fromkeys(part for part in line if part))
            text = clean.text(whole) if isinstance(whole, str) else None
            if found := text or joined:
                yield found


# --- words ------------------------------------------------------------------------------------------------------

_REMOTE: Final = re.compile(
    r"\b(?:remote|télétravail|homeoffice|home[ -]office|teletrabajo|work from home|anywhere|distributed|telecommut\w+"
    r"|thuiswerk\w*|smart working|remoto|distans|zdalna)\b",
    re.IGNORECASE,
)
_ON_SITE: Final = re.compile(
    r"\b(?:on-?site|in[ -]?office|no remote|not remote|vor ort|sur site|presencial)\b", re.IGNORECASE
)


#: Letters in which a place, or how one is employed, is looked for.
_LONGEST: Final = 1_000


def is_remote(text: str | None) -> bool | None:
    """Whether a place is everywhere; None where a text does not say."""
    if not text:
        return None
    text = text[:_LONGEST]
    return False if _ON_SITE.search(text) else True if _REMOTE.search(text) else None


def _remote(record: dict[str, Any], where: tuple[str, ...]) -> bool | None:
    for name in _FIELDS["remote"]:
        said = record.get(name)
        if isinstance(said, bool):
            return said
        if isinstance(said, str) and (found := is_remote(said)) is not None:
            return found
    location = record.get("location")
    if isinstance(location, dict) and isinstance(location.get("remote"), bool):
        return bool(location["remote"])
    return True if any(map(is_remote, where)) else None


_KINDS: Final = {
    "full-time": r"full[\s_-]?time|vollzeit|temps plein|tiempo completo|jornada completa|tempo pieno|voltijd|heltid",
    "part-time": r"part[\s_-]?time|teilzeit|temps partiel|tiempo parcial|media jornada|deeltijd|deltid",
    "internship": r"intern(?:ship)?s?\b|praktik|stage\b|stagiaire|prácticas|tirocinio|apprentic|ausbildung|co-?op\b",
    "temporary": r"temp(?:orary)?\b|seasonal|befristet|cdd\b|temporal|intérim|interim|fixed[\s_-]?term|casual",
    "contract": r"contract(?:or|ed)?\b|consultant|freiberuf|\bself[\s_-]?employed",
    "freelance": r"freelance|independent",
    "permanent": r"permanent|unbefristet|festanstellung|cdi\b|indefinido|indeterminato|vast\b",
    "volunteer": r"volunteer|ehrenamt|bénévol|voluntari",
    "per-diem": r"per[\s_-]?diem",
}  # fmt: skip
_KIND: Final = {name: re.compile(words, re.IGNORECASE) for name, words in _KINDS.items()}


def kind(text: Any, known: bool = False) -> str | None:
    """How one is employed: "full-time", "contract" ..., several with commas; else the text itself, unless it must be
    one that is known."""
    tidy = clean.text(text[:_LONGEST] if isinstance(text, str) else text)
    if not tidy:
        return None
    spelled = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", tidy)
    found = [name for name, words in _KIND.items() if words.search(spelled)]
    if found:
        return ", ".join(found)
    elsewhere = is_remote(tidy) is not None or "hybrid" in tidy.lower()  # that is where, not how much
    return None if known or elsewhere or len(tidy) > 60 else tidy


def _labels(value: Any) -> Iterator[str]:
    """Names of things, which some systems call labels."""
    for one in plain.each(value):
        said = one
        if isinstance(one, dict):
            said = one.get("name") or one.get("label") or one.get("title") or one.get("identifier")
        if found := clean.text(said):
            yield found


# --- pay --------------------------------------------------------------------------------------------------------

_PAY: Final = ("salary", "salaryrange", "compensation", "payrange", "pay", "basesalary")
_LEAST: Final = ("compensationminimum", "minimumsalary", "salarymin", "minsalary", "min", "minvalue", "from", "minimum")
_MOST: Final = ("compensationmaximum", "maximumsalary", "salarymax", "maxsalary", "max", "maxvalue", "to", "maximum")
_CURRENCY: Final = ("compensationcurrency", "salarycurrency", "currency", "currencycode")
_PERIOD: Final = (
    "compensationfrequency",
    "salaryinterval",
    "salaryperiod",
    "period",
    "interval",
    "unittext",
    "frequency",
)


def _pay(record: dict[str, Any]) -> Pay:
    """What a job pays: in fields of its own, in an object, or in a text."""
    given = next((record[name] for name in _PAY if name in record), None)
    holders = [record] + ([_tidied(given)] if isinstance(given, dict) else [])
    for holder in holders[::-1]:
        least, most = _number(holder, _LEAST), _number(holder, _MOST)
        if least or most:
            unit = next((holder[name] for name in _PERIOD if name in holder), None)
            currency = next((holder[name] for name in _CURRENCY if name in holder), None)
            return Pay(least or most, most or least, clean.strip(currency), period(unit))
    texts = [given] if isinstance(given, str) else list(holders[-1].values()) if isinstance(given, dict) else []
    return next((found for text in texts if isinstance(text, str) and (found := pay(text)).least), Pay())


def _number(holder: dict[str, Any], names: tuple[str, ...]) -> float | None:
    found = next((holder[name] for name in names if name in holder), None)
    return clean.number(found) or None
