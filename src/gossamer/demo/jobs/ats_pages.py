"""Boards that are pages for people."""

from __future__ import annotations

from typing import Final

from gossamer.demo.jobs.ats_data import (
    Opening,
    as_html,
    as_xml,
    asked,
    found_in,
    last,
    number,
    openings,
    structured,
)
from gossamer.testing import Answer, Hit

_SUCCESS: Final = openings(5)


def successfactors(hit: Hit) -> Answer:
    """Smew Regional: three rows a page, one job that is filled, and all of it as a feed."""
    path = hit.path.partition("?")[0]
    if path.endswith("/sitemal.xml"):
        items = "".join(
            f"<item><title>{job.title} ({job.city}, {job.code})</title><link>{_success_url(job)}</link>"
            f"<g:id>{job.number}</g:id><g:location>{job.place}</g:location><g:employer>Smew Regional</g:employer>"
            f"<g:expiration_date>2099-01-31</g:expiration_date><g:job_function>{job.department}</g:job_function>"
            f"<description><![CDATA[{job.text}]]></description></item>"
            for job in _SUCCESS
        )
        return as_xml(f'<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>{items}</channel></rss>')
    if "/job/" in path:
        job = found_in(_SUCCESS, last(hit))
        return Answer(status=404) if job is None else _success_page(job)
    at = number(asked(hit).get("startrow"))
    shown = _SUCCESS[at : at + 3]
    rows = "".join(
        f'<tr class="data-row"><td class="colTitle"><span class="jobTitle"><a class="jobTitle-link" '
        f'href="{_success_url(job)}">{job.title}</a></span></td>'
        f'<td class="colLocation"><span class="jobLocation">{job.city}, {job.code}</span></td>'
        f'<td class="colDate"><span class="jobDate">Sep {int(job.posted[-2:])}, 2026</span></td></tr>'
        for job in shown
    )
    label = (
        f'<span class="paginationLabel">Results <b>{at + 1} – {at + len(shown)}</b> of <b>{len(_SUCCESS)}</b></span>'
    )
    script = '<script src="/platform/js/j2w/min/j2w.core.min.js"></script>'
    return as_html("Smew Regional Jobs", f'{label}<table id="searchresults">{rows}</table>', script)


def _success_url(job: Opening) -> str:
    return f"https://jobs.smew.example/job/{job.city}-{job.title.replace(' ', '-')}/{job.number}/"


def _success_page(job: Opening) -> Answer:
    if job.number == 1005:
        body = '<div class="jobDisplay"><div class="job"><p>Sorry, this position has been filled.</p></div></div>'
        return as_html(f"{job.title} Job Details | Smew Regional", body)
    body = (
        '<div class="jobDisplay" itemscope itemtype="http://schema.org/JobPosting">'
        f'<h1 itemprop="title">{job.title}</h1><span itemprop="jobLocation" itemscope itemtype="http://schema.org/Place">'
        '<span itemprop="address" itemscope itemtype="http://schema.org/PostalAddress">'
        f'<meta itemprop="addressLocality" content="{job.city}"><meta itemprop="addressCountry" content="{job.code}">'
        f'</span></span><meta itemprop="datePosted" content="{job.posted}">'
        f'<span itemprop="description">{job.text}</span></div>'
    )
    return as_html(f"{job.title} Job Details | Smew Regional", body)


_ICIMS: Final = openings(3)


def icims(hit: Hit) -> Answer:
    """Curlew Catering, in its frame: two cards a page."""
    if not hit.path.startswith("/careers-curlew.icims.com/jobs/search"):
        parts = hit.path.partition("?")[0].split("/")
        job = found_in(_ICIMS, parts[3] if len(parts) > 3 else "")
        return Answer(status=410) if job is None else as_html(job.title, f"<h1>{job.title}</h1>", structured(job))
    at = number(asked(hit).get("pr")) * 2
    cards = "".join(
        f'<li class="iCIMS_JobCardItem"><div class="row"><div class="col-xs-6 header left">'
        f'<span class="sr-only field-label">Job Locations</span><span>{job.code}-{job.region}-{job.city}</span></div>'
        f'<div class="col-xs-12 title"><a href="https://careers-curlew.icims.com/jobs/{job.number}/'
        f'{job.title.lower().replace(" ", "-")}/job?in_iframe=1" class="iCIMS_Anchor" '
        f'title="{job.number} - {job.title}"><span class="sr-only field-label">Job Title</span>'
        f"<h3>{job.title}</h3></a></div>"
        '<div class="col-xs-12 additionalFields"><dl class="iCIMS_JobHeaderGroup"><div class="iCIMS_JobHeaderTag">'
        '<dt class="iCIMS_JobHeaderField">Job ID</dt>'
        f'<dd class="iCIMS_JobHeaderData"><span>2026-{job.number}</span></dd></div></dl></div></div></li>'
        for job in _ICIMS[at : at + 2]
    )
    paging = f'<div class="iCIMS_Paging">Page {at // 2 + 1} of 2</div>'
    return as_html("Jobs", f'<div class="iCIMS_MainWrapper"><ul class="iCIMS_JobsTable">{cards}</ul>{paging}</div>')


_JOBVITE: Final = openings(3)


def jobvite(hit: Hit) -> Answer:
    """Knot Aerospace: two rows a page, with a link to the next; the second job says nothing for machines."""
    if "/job/" in hit.path:
        job = found_in(_JOBVITE, last(hit).removeprefix("oKnt"))
        if job is None:
            return Answer(status=404)
        body = f'<h2 class="jv-header">{job.title}</h2><div class="jv-job-detail-description">{job.text}</div>'
        return as_html(f"{job.title} - Knot Aerospace", body, "" if job.number == 1002 else structured(job))
    page = number(asked(hit).get("p"))
    shown = _JOBVITE[page * 2 : page * 2 + 2]
    rows = "".join(
        f'<tr><td class="jv-job-list-name"><a href="/knot/job/oKnt{job.number}">{job.title}</a></td>'
        f'<td class="jv-job-list-location">{job.city}, {job.country}</td></tr>'
        for job in shown
    )
    after = '<a href="/knot/search?p=1" class="jv-pagination-next">Next</a>' if page == 0 else ""
    return as_html("Knot Aerospace Careers", f'<table class="jv-job-list">{rows}</table>{after}')


_PEOPLE: Final = openings(2)


def peopleclick(hit: Hit) -> Answer:
    """Pintail Cargo."""
    if "jobDetail" in hit.path:
        job = found_in(_PEOPLE, asked(hit).get("jobPostId"))
        return Answer(status=404) if job is None else as_html(job.title, f"<h1>{job.title}</h1>", structured(job))
    rows = "".join(
        f'<tr><td><a href="../jobDetails/jobDetail.html?jobPostId={job.number}&amp;localeCode=en-us&amp;source=x">'
        f"{job.title}</a></td><td>{job.city}, {job.country}</td><td>{int(job.posted[-2:])} Sep 2026</td></tr>"
        for job in _PEOPLE
    )
    return as_html(
        "Search results", f"<table><tr><th>Job title</th><th>Location</th><th>Date posted</th></tr>{rows}</table>"
    )
