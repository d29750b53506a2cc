"""Boards that list their jobs in pages of JSON, and have an answer for each of them."""

from __future__ import annotations

import json
from html import escape
from typing import Any, Final

from gossamer.demo.jobs.ats_data import (
    Opening,
    as_html,
    as_json,
    asked,
    found_in,
    last,
    matching,
    number,
    openings,
    sent,
    structured,
)
from gossamer.testing import Answer, Hit

_WORKDAY: Final = openings(23)


def _workday_path(job: Opening) -> str:
    return f"/job/{job.city}/{job.title.replace(' ', '-')}_R-{job.number}"


def workday(hit: Hit) -> Answer:
    """Gannet Airlines: twenty a page, and the total only on the first."""
    if not hit.path.endswith("/jobs"):
        job = next((job for job in _WORKDAY if hit.path.endswith(_workday_path(job))), None)
        return as_json({"errorCode": "S21"}, 404) if job is None else _workday_job(job)
    told = sent(hit)
    found, at = matching(_WORKDAY, told.get("searchText")), number(told.get("offset"))
    rows = [
        {
            "title": job.title,
            "externalPath": _workday_path(job),
            "locationsText": job.place if job.number % 5 else "2 Locations",
            "postedOn": "Posted 30+ Days Ago",
            "timeType": "Full time",
            "bulletFields": [f"R-{job.number}"],
        }
        for job in found[at : at + 20]
    ]
    return as_json({"total": 0 if at else len(found), "jobPostings": rows, "facets": [], "userAuthenticated": False})


def _workday_job(job: Opening) -> Answer:
    said = {
        "title": job.title,
        "jobDescription": job.text,
        "location": job.place,
        "additionalLocations": [] if job.number % 5 else ["Reykjavik, Iceland"],
        "startDate": job.posted,
        "timeType": "Full time",
        "jobReqId": f"R-{job.number}",
        "country": {"descriptor": job.country, "alpha2Code": job.code},
        "posted": True,
    }
    return as_json({"jobPostingInfo": said, "hiringOrganization": {"name": "Gannet Airlines AS"}})


_ORACLE: Final = openings(27)


def oracle(hit: Hit) -> Answer:
    """Turnstone Handling: twenty-five a page; the last of its jobs has no answer any more."""
    told = dict(part.partition("=")[::2] for part in hit.path.replace(";", ",").split(","))
    if "Details" in hit.path:
        job = found_in(_ORACLE[:-1], told.get("Id", "").replace("%22", "").strip('"'))
        return as_json({"items": [_oracle_job(job)] if job else [], "count": 1 if job else 0})
    at = number(told.get("offset", "0").partition("&")[0])
    rows: list[dict[str, Any]] = [
        {
            "Id": str(job.number),
            "Title": job.title,
            "PostedDate": job.posted,
            "PostingEndDate": None,
            "PrimaryLocation": job.place,
            "PrimaryLocationCountry": job.code,
            "WorkplaceType": "On-site",
            "Organization": None,
            "ShortDescriptionStr": f"{job.title} wanted.",
            "secondaryLocations": [],
        }
        for job in _ORACLE[at : at + 25]
    ]
    page = {"TotalJobsCount": len(_ORACLE), "Limit": 25, "Offset": at, "requisitionList": rows}
    return as_json({"items": [page], "count": 1, "hasMore": False})


def _oracle_job(job: Opening) -> dict[str, Any]:
    return {
        "Id": str(job.number),
        "Title": job.title,
        "Category": job.department,
        "JobSchedule": "Full time",
        "PrimaryLocation": job.place,
        "PrimaryLocationCountry": job.code,
        "ExternalPostedStartDate": f"{job.posted}T00:00:00+00:00",
        "ExternalPostedEndDate": None,
        "ExternalDescriptionStr": job.text,
        "ExternalResponsibilitiesStr": "<ul><li>Greet guests</li></ul>",
        "ExternalQualificationsStr": "<p>A forklift licence.</p>",
    }


_SMART: Final = openings(3)


def smartrecruiters(hit: Hit) -> Answer:
    """Whimbrel Aviation."""
    job = found_in(_SMART, last(hit))
    if job is not None:
        sections = {
            "companyDescription": {"title": "Who we are", "text": "<p>We service small jets.</p>"},
            "jobDescription": {"title": "The job", "text": job.text},
            "qualifications": {"title": "You", "text": "<p>Patience.</p>"},
        }
        return as_json({**_smart_row(job), "active": True, "jobAd": {"sections": sections}})
    found = matching(_SMART, asked(hit).get("q"))
    return as_json({"totalFound": len(found), "offset": 0, "limit": 100, "content": [_smart_row(job) for job in found]})


def _smart_row(job: Opening) -> dict[str, Any]:
    return {
        "id": str(job.number),
        "name": job.title,
        "refNumber": f"REF{job.number}",
        "company": {"identifier": "Whimbrel", "name": "Whimbrel Aviation"},
        "releasedDate": f"{job.posted}T00:00:00.000Z",
        "location": {"city": job.city, "region": job.region, "country": job.code.lower(), "remote": False},
        "department": {"label": job.department},
        "typeOfEmployment": {"id": "permanent", "label": "Full-time"},
    }


_EIGHTFOLD: Final = openings(12)


def eightfold(hit: Hit) -> Answer:
    """Kittiwake Systems, at the newer address: ten a page."""
    told = asked(hit)
    if "position_details" in hit.path:
        job = found_in(_EIGHTFOLD, told.get("position_id"))
        return as_json({"data": {**_position(job), "jobDescription": job.text}} if job else {}, 200 if job else 404)
    at = number(told.get("start"))
    rows = [_position(job) for job in _EIGHTFOLD[at : at + 10]]
    return as_json({"status": 200, "data": {"positions": rows, "count": len(_EIGHTFOLD)}})


def _position(job: Opening) -> dict[str, Any]:
    return {
        "id": job.number,
        "displayJobId": f"K{job.number}",
        "name": job.title,
        "locations": [job.place],
        "department": job.department,
        "postedTs": 1_788_220_800 + job.number,
        "workLocationOption": "onsite",
        "positionUrl": f"/careers/job/{job.number}",
    }


def old_eightfold(hit: Hit) -> Answer:
    """Plover Parts, at the older address: the newer one answers that it is not enabled."""
    if "/pcsx/" in hit.path:
        return as_json({"message": "PCSX is not enabled for this user."}, 403)
    jobs = openings(2)
    job = found_in(jobs, last(hit))
    if job is not None:
        return as_json({**_old_position(job), "job_description": job.text})
    return as_json({"positions": [_old_position(one) for one in jobs], "count": len(jobs)})


def _old_position(job: Opening) -> dict[str, Any]:
    return {
        "id": job.number,
        "name": job.title,
        "location": job.place,
        "department": job.department,
        "t_create": 1_788_220_800,
        "canonicalPositionUrl": f"https://plover.eightfold.ai/careers/job/{job.number}",
    }


_WORKABLE: Final = openings(3)


def workable(hit: Hit) -> Answer:
    """Redshank Charter: the widget has all of it, the newer API two jobs a page."""
    if "/widget/" in hit.path:
        rows = [
            {
                "title": job.title,
                "shortcode": f"RS{job.number}",
                "employment_type": "Contract",
                "telecommuting": False,
                "department": job.department,
                "url": f"https://apply.workable.com/j/RS{job.number}",
                "application_url": f"https://apply.workable.com/j/RS{job.number}/apply",
                "published_on": job.posted,
                "city": job.city,
                "state": job.region,
                "country": job.country,
                "locations": [
                    {"city": job.city, "region": job.region, "country": job.country, "countryCode": job.code}
                ],
                "description": job.text,
            }
            for job in _WORKABLE
        ]
        return as_json({"name": "Redshank Charter", "description": None, "jobs": rows})
    job = found_in(_WORKABLE, last(hit).removeprefix("RS"))
    if job is not None:
        return as_json({**_workable_row(job), "description": job.text, "requirements": "<p>A visa.</p>"})
    told = sent(hit)
    found, at = matching(_WORKABLE, told.get("query")), number(told.get("token"))
    more = {"nextPage": str(at + 2)} if at + 2 < len(found) else {}
    return as_json({"total": len(found), "results": [_workable_row(job) for job in found[at : at + 2]], **more})


def _workable_row(job: Opening) -> dict[str, Any]:
    return {
        "id": job.number,
        "shortcode": f"RS{job.number}",
        "title": job.title,
        "location": {"city": job.city, "region": job.region, "country": job.country, "countryCode": job.code},
        "department": [job.department],
        "type": "contract",
        "workplace": "on_site",
        "published": f"{job.posted}T00:00:00.000Z",
    }


def bamboohr(hit: Hit) -> Answer:
    """Avocet Maintenance: the third of its jobs was taken down since the list was made."""
    jobs = openings(3)
    if hit.path.endswith("/list"):
        return as_json({"meta": {"totalCount": len(jobs)}, "result": [_bamboo_row(job) for job in jobs]})
    job = found_in(jobs[:2], hit.path.split("/")[-2])
    if job is None:
        return as_json({"error": "not found"}, 404)
    said = {**_bamboo_row(job), "description": job.text, "datePosted": job.posted, "jobOpeningStatus": "Open"}
    return as_json({"result": {"jobOpening": {**said, "compensation": "$28 - $34 an hour"}}})


def _bamboo_row(job: Opening) -> dict[str, Any]:
    return {
        "id": str(job.number),
        "jobOpeningName": job.title,
        "departmentLabel": job.department,
        "employmentStatusLabel": "Part-Time",
        "location": {"city": job.city, "state": job.region, "addressCountry": job.country},
        "atsLocation": {"city": None, "state": None, "country": None},
        "isRemote": None,
        "locationType": "0",
    }


_PHENOM: Final = openings(12)


def phenom(hit: Hit) -> Answer:
    """Brent Goose Air, whose pages show ten jobs and carry them as state."""
    if hit.path.partition("?")[0].endswith("/search-results"):
        state = {"eagerLoadRefineSearch": _phenom_list(number(asked(hit).get("from")), _PHENOM)}
        script = (
            f"<script>var phApp = phApp || {{}}; phApp.ddo = {json.dumps(state)}; phApp.siteType = 'external';</script>"
        )
        return as_html("Search results | Brent Goose Air", "<h1>Jobs</h1>", script)
    if "/job/" in hit.path:
        job = found_in(_PHENOM, last(hit).removeprefix("BGAUS"))
        return as_html("Gone", "<p>This job is no longer available.</p>") if job is None else _phenom_page(job)
    told = sent(hit)
    if told.get("ddoKey") == "jobDetail":
        job = found_in(_PHENOM, str(told.get("jobSeqNo", "")).removeprefix("BGAUS"))
        said = {**_phenom_row(job), "description": job.text} if job else {}
        return as_json({"jobDetail": {"status": 200, "data": {"job": said}}})
    found = matching(_PHENOM, told.get("keywords"))
    return as_json({"refineSearch": _phenom_list(number(told.get("from")), found)})


def _phenom_list(at: int, jobs: list[Opening]) -> dict[str, Any]:
    rows = [_phenom_row(job) for job in jobs[at : at + 10]]
    return {"status": 200, "hits": len(rows), "totalHits": len(jobs), "data": {"jobs": rows}}


def _phenom_row(job: Opening) -> dict[str, Any]:
    return {
        "jobSeqNo": f"BGAUS{job.number}",
        "reqId": f"R{job.number}",
        "jobId": f"R{job.number}",
        "title": job.title,
        "city": job.city,
        "country": job.country,
        "location": job.place,
        "category": job.department,
        "type": "Full-Time",
        "postedDate": f"{job.posted}T08:00:00.000+0000",
        "descriptionTeaser": f"{job.title} wanted.",
    }


def _phenom_page(job: Opening) -> Answer:
    return as_html(f"{job.title} | Brent Goose Air", f"<h1>{escape(job.title)}</h1>{job.text}", structured(job))


def jibe(hit: Hit) -> Answer:
    """Lapwing Logistics."""
    told = asked(hit)
    found = matching(openings(3), told.get("keywords"))
    rows = [
        {
            "data": {
                "slug": str(job.number),
                "req_id": str(job.number),
                "title": job.title,
                "city": job.city,
                "state": job.region,
                "country": job.country,
                "country_code": job.code,
                "full_location": job.place,
                "categories": [{"name": job.department}],
                "employment_type": "FULL_TIME",
                "hiring_organization": "Lapwing Logistics",
                "posted_date": f"{job.posted}T12:00:00+0000",
                "posting_expiry_date": "2099-06-25T18:30:00+0000",
                "apply_url": f"https://careers-lapwing.icims.com/jobs/{job.number}/login",
                "description": job.text,
            }
        }
        for job in found
    ]
    return as_json({"jobs": rows if told.get("page") == "1" else [], "totalCount": len(found)})
