"""The careers sites of the companies that the pack `jobs` reads: their structure, and invented jobs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from typing import Any
from urllib.parse import unquote

from gossamer.testing import Answer, Hit, Site

__all__ = ["HOSTS", "install"]

ORACLE = "hdbt.fa.us2.oraclecloud.com"
SUCCESS = "careers.airindia.com"
PEOPLECLICK = "careers.peopleclick.eu.com"
INDIGO = "www.goindigo.in"
HOSTS = (ORACLE, SUCCESS, PEOPLECLICK, INDIGO)

_JSON = {"Content-Type": "application/json"}
_PLACES = (
    "Quillan Bay, FL, United States",
    "Amber Falls, TX, United States",
    "Port Juniper, WA, United States",
    "Calgary, AB, Canada",
    "Teterboro, NJ, United States",
)
_ROLES = (
    "Line Service Lead",
    "Flight Support Coordinator",
    "Guest Desk Host",
    "Ramp Agent",
    "Terminal Manager",
    "Load Planner",
    "Aircraft Maintenance Technician",
    "Senior Flight Dispatcher",
    "Head of Flight Operations",
)


def install(site: Site) -> None:
    """Add the four sites."""
    _oracle(site)
    _success_factors(site)
    _peopleclick(site)
    _indigo(site)


# -- Oracle Recruiting: two pages of a list, and an answer for each job -----------------------------------------


def _requisitions() -> list[dict[str, Any]]:
    return [
        {
            "Id": str(20_000 + n),
            "Title": f"{_ROLES[n % len(_ROLES)]}, base {n}",
            "PostedDate": f"2026-10-{28 - n:02}",
            "PostingEndDate": None,
            "PrimaryLocation": _PLACES[n % len(_PLACES)],
            "WorkplaceType": ("On-site", "", "Remote")[n % 3],
            "Organization": None,
            "ShortDescriptionStr": f"You keep base {n} calm and its guests in time.",
        }
        for n in range(27)
    ]


def _oracle(site: Site) -> None:
    jobs = _requisitions()
    base = f"/{ORACLE}/hcmRestApi/resources/latest/"

    def listed(hit: Hit) -> Answer:
        found = re.search(r"offset=(\d+)", unquote(hit.path))
        at = int(found[1]) if found else 0
        page = {"TotalJobsCount": len(jobs), "Limit": 25, "Offset": at, "requisitionList": jobs[at : at + 25]}
        return Answer(body=json.dumps({"items": [page]}), headers=_JSON)

    def one(hit: Hit) -> Answer:
        found = re.search(r'Id="?(\d+)', unquote(hit.path))
        said = [_details(job) for job in jobs if found and job["Id"] == found[1]]
        return Answer(body=json.dumps({"items": said}), headers=_JSON)

    site.handler(f"{base}recruitingCEJobRequisitions", listed)
    site.handler(f"{base}recruitingCEJobRequisitionDetails", one)


def _details(job: dict[str, Any]) -> dict[str, Any]:
    text = (
        f"<p>{escape(job['ShortDescriptionStr'])}</p><p>We are open until the position is filled.</p>"
        "<ul><li>You like weather of every kind.</li><li>You write things down.</li></ul>"
    )
    return {
        "Id": job["Id"],
        "Title": job["Title"],
        "ExternalDescriptionStr": text,
        "ExternalQualificationsStr": "<p>A ramp licence, or the wish for one.</p>",
        "PrimaryLocation": job["PrimaryLocation"],
        "JobSchedule": "Full time",
    }


# -- SuccessFactors: rows of a search, and a page for each; one of them is filled --------------------------------

_SUCCESS = (
    ("Duty Manager - Integrated Operations Control", "Gurugram, HR, IN", "61001", "12 Oct 2026", False),
    ("Cabin Crew - Kochi Base", "Kochi, KL, IN", "61002", "9 Oct 2026", False),
    ("Flight Dispatcher", "New Delhi, IN", "61003", "1 Oct 2026", True),
)


def _success_factors(site: Site) -> None:
    rows = "".join(
        f'<tr class="data-row"><td class="colTitle"><span class="jobTitle"><a class="jobTitle-link" '
        f'href="/job/{_slug(title)}/{number}/">{escape(title)}</a></span></td>'
        f'<td class="colLocation"><span class="jobLocation">{place}</span></td>'
        f'<td class="colDate"><span class="jobDate">{posted}</span></td></tr>'
        for title, place, number, posted, _ in _SUCCESS
    )
    count = len(_SUCCESS)
    site.page(
        f"/{SUCCESS}/search/",
        f'<html lang="en"><title>Careers</title><span class="paginationLabel">Results 1 to {count} of {count}</span>'
        f'<table id="searchresults"><tbody>{rows}</tbody></table></html>',
    )
    for title, place, number, posted, filled in _SUCCESS:
        said = (
            "<p><strong>Sorry, this position has been filled.</strong></p>"
            if filled
            else f"<h1>{escape(title)}</h1><p>Location: {place}</p><p>Date: {posted}</p><p>Department: Operations</p>"
            f'<span class="jobdescription"><p>Keep two hundred flights of the day on their way.</p>'
            f'<p>Ref: {number}</p></span><a href="/talentcommunity/apply/{number}/">Apply now</a>'
        )
        head = f"<title>{escape(title)} Job Details | Careers</title>"
        site.page(
            f"/{SUCCESS}/job/{_slug(title)}/{number}/",
            f'<html lang="en">{head}<div class="jobDisplay"><div class="job">{said}</div></div></html>',
        )


# -- PeopleClick: a table, and a page for each ------------------------------------------------------------------

_CARGO = (
    ("Load Controller", "Luxembourg, Luxembourg", "7711", "15/10/2026"),
    ("Operations Control Supervisor", "Luxembourg, Luxembourg", "7712", "11/10/2026"),
    ("Payroll Accountant", "Prestwick, United Kingdom", "7713", "02/10/2026"),
)


def _peopleclick(site: Site) -> None:
    root = f"/{PEOPLECLICK}/careerscp/client_cargolux/external"
    rows = "".join(
        f'<tr><td><a href="../jobDetails/jobDetail.html?jobPostId={number}&amp;localeCode=en-us">{title}</a></td>'
        f"<td>{place}</td><td>{posted}</td></tr>"
        for title, place, number, posted in _CARGO
    )
    site.page(
        f"{root}/results/searchResult.html",
        '<html lang="en-GB"><title>Search results</title><table><tr><th>Job title</th><th>Location</th>'
        f"<th>Date posted</th></tr>{rows}</table></html>",
    )
    for title, place, number, _ in _CARGO:
        site.page(
            f"{root}/jobDetails/jobDetail.html?jobPostId={number}&localeCode=en-us",
            f'<html lang="en-GB"><title>{title}</title><h1>{title}</h1><p>Location: {place}</p>'
            "<p>Contract type: Full-time</p>"
            f'<div class="job-description"><p>Freighters leave at night. So do you.</p><p>Post {number}.</p></div>'
            f'<a href="apply.html?jobPostId={number}">Apply</a></html>',
        )


# -- IndiGo: cards as its scripts leave them --------------------------------------------------------------------

_CARDS = (
    ("Officer - Operations Control Centre", "9101", "14th Oct 26", "Gurgaon"),
    ("Manager - Crew Planning", "9102", "3rd Oct 26", "Gurgaon"),
    ("Executive - IT Service Desk", "9103", "1st Oct 26", "Bengaluru"),
)


def _indigo(site: Site) -> None:
    root = f"/{INDIGO}/careers"
    cards = "".join(_card(*card) for card in _CARDS)
    site.page(
        f"{root}/job-search.html",
        f'<html lang="en"><title>Job search</title><div class="search-result__job-cards">{cards}</div></html>',
    )
    for title, number, _, place in _CARDS:
        site.page(
            f"{root}/job-details/{_slug(title)}/{number}.html",
            f'<html lang="en"><title>{title}</title><h1>{title}</h1><span class="location-text">{place}</span>'
            '<div class="job-description"><p>An invented job on an invented page.</p><p>Shifts by day and night.</p>'
            f'</div><a class="apply-now-link" href="https://apply.example/req/{number}">Apply now</a></html>',
        )


def _card(title: str, number: str, posted: str, place: str) -> str:
    day, rest = re.split(r"(?<=\d)(?=[a-z])", posted, maxsplit=1)
    return (
        f'<div class="search-result__job-cards--card"><div class="card-head"><a class="card-head--title" '
        f'href="job-details/{_slug(title)}/{number}.html"> {title}</a></div><div class="job-details"><div class="date">'
        f'<span class="date-text">{day}<sup>{rest[:2]}</sup>{rest[2:]}</span></div><div class="location">'
        f'<span class="location-text"> <span>{place}</span></span></div></div>'
        f'<a class="apply-now-link" href="https://apply.example/req/{number}"><button>Apply now</button></a></div>'
    )


def _slug(text: str) -> str:
    return "-".join(_words(text))


def _words(text: str) -> Iterator[str]:
    return (found[0] for found in re.finditer(r"\w+", text))
