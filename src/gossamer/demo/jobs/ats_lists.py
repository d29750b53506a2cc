"""Boards whose list has it all: in one answer of JSON, or in a feed."""

from __future__ import annotations

import json
from html import escape

from gossamer.demo.jobs.ats_data import (
    Opening,
    as_html,
    as_json,
    as_xml,
    asked,
    found_in,
    last,
    matching,
    number,
    openings,
    structured,
)
from gossamer.testing import Answer, Hit


def greenhouse(hit: Hit) -> Answer:
    """Windhover Air."""
    rows = [
        {
            "absolute_url": f"https://job-boards.greenhouse.io/windhover/jobs/{job.number}",
            "id": job.number,
            "requisition_id": f"WH-{job.number}",
            "title": job.title,
            "company_name": "Windhover Air",
            "location": {"name": job.place},
            "departments": [{"id": 1, "name": job.department}],
            "offices": [{"name": job.city}],
            "first_published": f"{job.posted}T09:00:00-04:00",
            "updated_at": f"{job.posted}T10:00:00-04:00",
            "application_deadline": None,
            "metadata": [{"name": "Employment Type", "value": "Full-time"}],
            "pay_input_ranges": [
                {"min_cents": 5_200_000, "max_cents": 6_400_000, "currency_type": "EUR", "title": "Pay"}
            ],
            "content": escape(job.text),
        }
        for job in openings(3)
    ]
    return as_json({"jobs": rows, "meta": {"total": len(rows)}})


def lever(hit: Hit) -> Answer:
    """Skerry Cargo, with a hundred jobs a page: one page here."""
    rows = [
        {
            "id": f"00000000-0000-4000-8000-{job.number:012}",
            "text": job.title,
            "hostedUrl": f"https://jobs.lever.co/skerry/00000000-0000-4000-8000-{job.number:012}",
            "applyUrl": f"https://jobs.lever.co/skerry/00000000-0000-4000-8000-{job.number:012}/apply",
            "categories": {
                "commitment": "Full-time",
                "department": job.department,
                "location": f"{job.city}, {job.country}",
                "allLocations": [f"{job.city}, {job.country}", "Remote"][: 1 + job.number % 2],
            },
            "country": job.code,
            "workplaceType": "hybrid" if job.number % 2 else "onsite",
            "createdAt": 1_788_220_800_000 + (job.number - 1001) * 86_400_000,
            "description": job.text,
            "lists": [
                {"text": "What you'll do", "content": "<li>Keep the aircraft moving</li>"},
                {"text": "What we look for", "content": "<li>A calm voice</li>"},
            ],
            "additional": "<p>We fly at night.</p>",
            "salaryRange": {"min": 48_000, "max": 61_000, "currency": "EUR", "interval": "per-year-salary"},
        }
        for job in openings(2)
    ]
    return as_json(rows if number(asked(hit).get("skip")) == 0 else [])


def ashby(hit: Hit) -> Answer:
    """Petrel Dynamics, which keeps one job to itself."""
    rows = [
        {
            "id": f"11111111-0000-4000-8000-{job.number:012}",
            "title": job.title,
            "department": job.department,
            "employmentType": "FullTime",
            "location": job.city,
            "secondaryLocations": [{"location": "Remote (Europe)"}],
            "publishedAt": f"{job.posted}T08:00:00.000+00:00",
            "isListed": job.number != 1003,
            "isRemote": True,
            "workplaceType": "Remote",
            "address": {"postalAddress": {"addressCountry": job.country}},
            "jobUrl": f"https://jobs.ashbyhq.com/petrel/11111111-0000-4000-8000-{job.number:012}",
            "applyUrl": f"https://jobs.ashbyhq.com/petrel/11111111-0000-4000-8000-{job.number:012}/application",
            "descriptionHtml": job.text,
            "compensation": {
                "compensationTierSummary": "€50K - €60K",
                "summaryComponents": [
                    {
                        "compensationType": "Salary",
                        "interval": "1 YEAR",
                        "currencyCode": "EUR",
                        "minValue": 50_000,
                        "maxValue": 60_000,
                    }
                ],
            },
        }
        for job in openings(3)
    ]
    return as_json({"jobs": rows, "apiVersion": "1"})


def recruitee(hit: Hit) -> Answer:
    """Fulmar Ground Services."""
    rows = [
        {
            "id": job.number,
            "title": job.title,
            "slug": f"job-{job.number}",
            "careers_url": f"https://fulmar.recruitee.com/o/job-{job.number}",
            "careers_apply_url": f"https://fulmar.recruitee.com/o/job-{job.number}/c/new",
            "company_name": "Fulmar Ground Services",
            "location": job.place,
            "country_code": job.code,
            "department": job.department,
            "employment_type_code": "parttime_permanent",
            "published_at": f"{job.posted} 10:00:00 UTC",
            "close_at": None,
            "remote": False,
            "salary": {"min": "21.50", "max": "26", "period": "hour", "currency": "EUR"},
            "description": job.text,
            "requirements": "<p>A driving licence.</p>",
            "status": "published",
        }
        for job in openings(2)
    ]
    return as_json({"offers": rows})


def pinpoint(hit: Hit) -> Answer:
    """Dotterel Aero: the second of its postings is past its last day."""
    rows = [
        {
            "id": str(job.number),
            "title": job.title,
            "path": f"/en/postings/{job.number}",
            "description": job.text,
            "key_responsibilities": "<ul><li>Watch the weather</li></ul>",
            "skills_knowledge_expertise": "<p>Two years in operations.</p>",
            "benefits": "<p>Flights at cost.</p>",
            "workplace_type": "onsite",
            "employment_type_text": "Full Time",
            "compensation": "£30,000 - £36,000 / year",
            "compensation_minimum": 30_000,
            "compensation_maximum": 36_000,
            "compensation_currency": "GBP",
            "compensation_frequency": "year",
            "compensation_visible": job.number == 1001,
            "deadline_at": "2099-12-31T23:59:59Z" if job.number == 1001 else "2024-02-29T23:59:59Z",
            "job": {"requisition_id": f"DO-{job.number}", "department": {"name": job.department}},
            "location": {"name": f"{job.city}, {job.country}"},
        }
        for job in openings(2)
    ]
    return as_json({"data": rows})


def amazon(hit: Hit) -> Answer:
    """A search of a company that has a site of its own."""
    found = matching(openings(3), asked(hit).get("base_query"))
    rows = [
        {
            "id": f"aaaa-{job.number}",
            "id_icims": str(job.number),
            "title": job.title,
            "job_path": f"/en/jobs/{job.number}/{job.title.lower().replace(' ', '-')}",
            "company_name": "Amazon Demo Services",
            "location": f"{job.code}, {job.city}",
            "normalized_location": job.place,
            "locations": [
                json.dumps({"normalizedLocation": job.place, "countryIso2a": job.code, "type": "ONSITE"}),
            ],
            "job_category": job.department,
            "job_schedule_type": "full-time",
            "posted_date": f"September {int(job.posted[-2:])}, 2026",
            "description": job.text,
            "basic_qualifications": "- A licence",
            "preferred_qualifications": "- Another one",
            "url_next_step": f"https://account.amazon.com/jobs/{job.number}/apply",
        }
        for job in found
    ]
    return as_json({"error": None, "hits": len(found), "jobs": rows if not number(asked(hit).get("offset")) else []})


def teamtailor(hit: Hit) -> Answer:
    """Sanderling Jets: JSON and RSS; the second job's description is on its page only."""
    jobs = openings(2)
    if "/jobs/" in hit.path:
        job = found_in(jobs, last(hit).partition("-")[0])
        return Answer(status=404) if job is None else as_html(job.title, f"<h1>{job.title}</h1>", structured(job))
    if hit.path.endswith(".rss"):
        return as_xml(_tailor_rss(jobs), "application/rss+xml")
    rows = [
        {
            "id": f"22222222-0000-4000-8000-{job.number:012}",
            "title": job.title,
            "url": f"https://sanderling.teamtailor.com/jobs/{job.number}-job",
            "date_published": f"{job.posted}T09:26:20+01:00",
            **({"content_html": job.text} if job.number == 1001 else {}),
            "_jobposting": {
                "@type": "JobPosting",
                "title": job.title,
                "identifier": {"@type": "PropertyValue", "value": job.number},
                "employmentType": "FULL_TIME",
                "hiringOrganization": {"@type": "Organization", "name": "Sanderling Jets"},
                "jobLocation": [{"address": {"addressLocality": job.city, "addressCountry": job.code}}],
            },
        }
        for job in jobs
    ]
    return as_json({"version": "https://jsonfeed.org/version/1.1", "title": "Sanderling Jets", "items": rows})


def _tailor_rss(jobs: list[Opening]) -> str:
    items = "".join(
        f"<item><title>{job.title}</title><description>{escape(job.text)}</description>"
        f"<pubDate>Tue, {int(job.posted[-2:]):02} Sep 2026 09:00:00 +0200</pubDate>"
        f"<link>https://sanderling.teamtailor.com/jobs/{job.number}-job</link><remoteStatus>none</remoteStatus>"
        f"<guid>{job.number}</guid><tt:locations><tt:location><tt:name>HQ</tt:name><tt:city>{job.city}</tt:city>"
        f"<tt:country>{job.country}</tt:country></tt:location></tt:locations>"
        f"<tt:department>{job.department}</tt:department></item>"
        for job in jobs
    )
    space = 'xmlns:tt="https://teamtailor.com/locations"'
    return f'<rss version="2.0" {space}><channel><title>Sanderling Jets</title>{items}</channel></rss>'


def personio(hit: Hit) -> Answer:
    """Brachvogel Flugdienst."""
    rows = "".join(
        f"<position><id>{job.number}</id><subcompany>Brachvogel Flugdienst GmbH</subcompany><office>{job.city}</office>"
        f"<department>{job.department}</department><name>{job.title} (m/f/d)</name>"
        f"<jobDescriptions><jobDescription><name>Your tasks</name><value><![CDATA[{job.text}]]></value>"
        "</jobDescription></jobDescriptions><employmentType>permanent</employmentType><schedule>full-time</schedule>"
        f"<createdAt>{job.posted}T08:00:00+00:00</createdAt></position>"
        for job in openings(2)
    )
    return as_xml(f"<workzag-jobs>{rows}</workzag-jobs>")


def neogov(hit: Hit) -> Answer:
    """The airport authority of a county that is none."""
    rows = ""
    for job in openings(2):
        said = {
            "jobId": str(job.number),
            "advertiseFromDateUTC": f"Tue, {int(job.posted[-2:]):02} Sep 2026 05:00:00:0",
            "minimumSalary": "27.5",
            "maximumSalary": "33",
            "salaryCurrency": "USD",
            "salaryInterval": "Hour",
            "department": job.department,
            "location": "Duluth, Minnesota",
            "qualifications": "<p>A licence.</p>",
        }
        fields = "".join(f"<joblisting:{name}>{escape(value)}</joblisting:{name}>" for name, value in said.items())
        rows += (
            f"<item><link>https://www.governmentjobs.com/careers/plovercounty/jobs/{job.number}</link>"
            f"<title>{job.title}</title><description>{escape(job.text)}</description>{fields}</item>"
        )
    space = 'xmlns:joblisting="http://www.neogov.com/namespaces/JobListing"'
    channel = f"<channel><title>Plover County Airport, MN</title>{rows}</channel>"
    return as_xml(f'<rss version="2.0" {space}>{channel}</rss>', "application/rss+xml")


def old_successfactors(hit: Hit) -> Answer:
    """Merganser Air Services: the feed of an older site."""
    rows = "".join(
        f"<Job><JobTitle>{job.title}</JobTitle><ReqId>{job.number}</ReqId>"
        f"<Posted-Date>09/{job.posted[-2:]}/2026</Posted-Date><Job-Description><![CDATA[{job.text}]]></Job-Description>"
        f"<filter4><label>Posting Location</label><value>{job.place}</value></filter4>"
        f"<mfield1><label>Type of Employment</label><value>Full-time</value></mfield1></Job>"
        for job in openings(2)
    )
    return as_xml(f"<Job-Listing>{rows}</Job-Listing>")
