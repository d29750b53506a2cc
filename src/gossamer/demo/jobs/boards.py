"""The job boards that the pack `jobs` reads: their structure, and invented jobs of invented companies."""

from __future__ import annotations

import json
from html import escape
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from gossamer.testing import Answer, Hit, Site

__all__ = ["HOSTS", "install"]

FLYGOSH = "flygoshjobs.com"
AAP = "jobs.aapaviation.com"
SEARCH = "www.aviationjobsearch.com"
GOOSE = "www.goose-recruitment.com"
LINKEDIN = "www.linkedin.com"
INDEED = "www.aviationindeed.com"
CEIPAL = "jobsapi.ceipal.com"
HOSTS = (FLYGOSH, AAP, SEARCH, GOOSE, LINKEDIN, INDEED, CEIPAL)


class _Job(NamedTuple):
    slug: str
    title: str
    company: str
    place: str
    posted: str
    text: str = "An invented job, in the words of an invented company."


def install(site: Site) -> None:
    """Add the six boards, and the frame of one of them."""
    _flygosh(site)
    _aap(site)
    _search(site)
    _goose(site)
    _linkedin(site)
    _indeed(site)


def _page(title: str, body: str, *, lang: str = "en-GB", head: str = "") -> str:
    top = f"<head><title>{escape(title)}</title>{head}</head>"
    return f'<!doctype html><html lang="{lang}">{top}<body>{body}</body></html>'


# -- FlyGosh: cards of lines; postings with structured data, one of which is over --------------------------------

_FLYGOSH = (
    _Job(
        "flight-dispatcher-nordlicht", "Flight Dispatcher", "NORDLICHT AIR CARGO GMBH", "Leipzig, Germany", "2026-10-12"
    ),
    _Job(
        "first-officer-saltmarsh",
        "First Officer A320",
        "Saltmarsh Airways Ltd",
        "Norwich, United Kingdom",
        "2026-10-10",
    ),
    _Job("crew-controller-saltmarsh", "Crew Controller", "Saltmarsh Airways", "Norwich, United Kingdom", "2026-09-02"),
)


def _flygosh(site: Site) -> None:
    cards = "".join(
        f'<div class="job-card"><a href="/job/{job.slug}/"><h3 class="job-card-title">{job.title}</h3></a>'
        f'<span class="job-card-company">{job.company}</span><span class="job-card-location">{job.place}</span>'
        f'<span class="job-card-date">Posted {job.posted}</span></div>'
        for job in _FLYGOSH
    )
    site.page(f"/{FLYGOSH}/jobs/all/all-region/", _page("All jobs", f"<main>{cards}</main>"))
    for job in _FLYGOSH:
        # The crew controller's last day has been.
        until = "2026-09-20" if job.slug.startswith("crew") else "2099-12-31"
        thing = {
            "@context": "https://schema.org",
            "@type": "JobPosting",
            "title": job.title,
            "datePosted": job.posted,
            "validThrough": until,
            "employmentType": "FULL_TIME",
            "hiringOrganization": {"@type": "Organization", "name": job.company},
            "jobLocation": {"@type": "Place", "address": job.place},
        }
        marked = f'<script type="application/ld+json">{json.dumps(thing)}</script>'
        said = f'<h1>{job.title}</h1><div class="job-description"><p>{job.text}</p><p>Night shifts.</p></div>'
        site.page(f"/{FLYGOSH}/job/{job.slug}/", _page(job.title, said, head=marked))


# -- AAP Aviation: cards by class --------------------------------------------------------------------------------

_AAP = (
    _Job("4410021-operations-controller", "Operations Controller", "Fjordline Jets AS", "Oslo, Norway", "3 days ago"),
    _Job("4410022-cabin-crew-member", "Cabin Crew Member", "Fjordline Jets", "Copenhagen, Denmark", "30+ days ago"),
)


def _aap(site: Site) -> None:
    cards = "".join(
        f'<li class="job-item"><a href="/jobs/{job.slug}"><h3>{job.title}</h3></a>'
        f'<span class="company">{job.company}</span><span class="location">{job.place}</span>'
        f'<span class="posted">{job.posted}</span></li>'
        for job in _AAP
    )
    site.page(f"/{AAP}/jobs", _page("Jobs", f"<ul>{cards}</ul>"))
    for job in _AAP:
        said = (
            f'<h1>{job.title}</h1><span class="location">{job.place}</span>'
            f'<div class="job-body"><p>{job.text}</p></div>'
            f'<a href="/jobs/{job.slug}/applications/new">Apply for this job</a>'
        )
        site.page(f"/{AAP}/jobs/{job.slug}", _page(job.title, said))


# -- Aviation Job Search: two pages of links; a posting is on both -----------------------------------------------

_SEARCH = (
    _Job("operations/occ-duty-manager-5501", "OCC Duty Manager", "Harrier & Finch Airlines", "Luton, UK", "Yesterday"),
    _Job(
        "operations/network-controller-5502", "Network Controller", "Harrier & Finch Airlines plc", "Luton, UK", "Today"
    ),
    _Job("engineering/b1-licensed-engineer-5503", "B1 Licensed Engineer", "Tarmac Bros", "Exeter, UK", "2 weeks ago"),
    _Job(
        "operations/load-planner-5504", "Load Planner", "Signature Flight Support LLC", "Farnborough, UK", "01/10/2026"
    ),
)


def _search(site: Site) -> None:
    root = f"/{SEARCH}/en-GB/jobs"

    def cards(jobs: tuple[_Job, ...], mark: str) -> str:
        return "".join(
            f'<li><article><h2 class="result-title"><a href="/en-GB/jobs/{job.slug}{mark}">{job.title}</a></h2>'
            f'<p class="result-company">{escape(job.company)}</p><p class="result-location">{job.place}</p>'
            f'<p class="result-date">{job.posted}</p><a href="/en-GB/jobs/{job.slug}{mark}">View job</a></article></li>'
            for job in jobs
        )

    first = f'<ul>{cards(_SEARCH[:3], "")}</ul><a rel="next" href="/en-GB/jobs?page=2">Next</a>'
    site.page(root, _page("Aviation jobs", first))
    # The same posting again, by a link that tells where it was found.
    site.page(f"{root}?page=2", _page("Aviation jobs", f"<ul>{cards(_SEARCH[2:], '?utm_source=page2')}</ul>"))
    for job in _SEARCH:
        said = (
            f'<h1>{job.title}</h1><p class="job-company">{escape(job.company)}</p>'
            f'<p class="job-location">{job.place}</p><div class="job-description"><p>{job.text}</p></div>'
            f'<a class="btn-apply" href="/apply/{job.slug[-4:]}">Apply</a>'
        )
        site.page(f"{root}/{job.slug}", _page(job.title, said))


# -- Goose Recruitment: an agency; a posting that is no longer there ---------------------------------------------

_GOOSE = (
    _Job("helicopter-operations-officer-881", "Helicopter Operations Officer", "", "Aberdeen, UK", "12 Oct 2026"),
    _Job("captain-atr-72-882", "Captain ATR 72", "", "Riga, Latvia", "December 1, 2025"),
)


def _goose(site: Site) -> None:
    cards = "".join(
        f'<div class="result"><h3><a href="/job/{job.slug}">{job.title}</a></h3>'
        f'<span class="job-location">{job.place}</span><span class="job-date">{job.posted}</span>'
        f'<a href="/job/{job.slug}/apply">Apply</a></div>'
        for job in _GOOSE
    )
    site.page(f"/{GOOSE}/jobs", _page("Jobs", f"<main>{cards}</main>"))
    job = _GOOSE[0]
    said = (
        f'<h1>{job.title}</h1><p class="location">{job.place}</p><div class="job-description"><p>{job.text}</p></div>'
    )
    site.page(f"/{GOOSE}/job/{job.slug}", _page(job.title, said))
    gone = Answer(status=410, body=_page("Gone", "<h1>Gone</h1>"))
    site.handler(f"/{GOOSE}/job/{_GOOSE[1].slug}", lambda hit: gone)


# -- LinkedIn: fragments for guests ------------------------------------------------------------------------------

_LINKEDIN = {
    "United States": (
        _Job(
            "aircraft-dispatcher-at-prairie-4900000004",
            "Aircraft Dispatcher",
            "Prairie Wing",
            "Tulsa, OK",
            "2026-10-14",
        ),
    ),
    "Germany": (
        _Job(
            "flight-dispatcher-at-kranich-4900000001", "Flight Dispatcher", "Kranich Regional", "Bremen", "2026-10-13"
        ),
        _Job(
            "truck-dispatcher-at-abel-4900000002", "Truck Dispatcher", "Spedition Abel", "Mainz, Germany", "2026-10-11"
        ),
    ),
    "Singapore": (
        _Job(
            "dispatcher-at-tropic-4900000003", "Senior Flight Dispatcher", "Tropic Pte. Ltd.", "Singapore", "2026-10-05"
        ),
    ),
}


def _linkedin(site: Site) -> None:
    api = f"/{LINKEDIN}/jobs-guest/jobs/api"

    def listed(hit: Hit) -> Answer:
        asked = parse_qs(urlsplit(hit.path).query)
        jobs = _LINKEDIN.get(asked.get("location", [""])[0], ())
        start = int(asked.get("start", ["0"])[0])
        return Answer(body="".join(_fragment(job) for job in jobs[start : start + 10]))

    site.handler(f"{api}/seeMoreJobPostings/search", listed)
    for job in (each for some in _LINKEDIN.values() for each in some):
        number = job.slug[-10:]
        over = '<figure class="closed-job"><figcaption>No longer accepting applications</figcaption></figure>'
        said = (
            f'<h2 class="top-card-layout__title">{job.title}</h2><a class="topcard__org-name-link">{job.company}</a>'
            f'<span class="topcard__flavor topcard__flavor--bullet">{job.place}</span>'
            f"{over if number.endswith('3') else ''}"
            f'<div class="show-more-less-html__markup"><p>{job.text}</p></div><ul>'
            '<li class="description__job-criteria-item"><h3>Employment type</h3><span>Full-time</span></li>'
            '<li class="description__job-criteria-item"><h3>Job function</h3><span>Transportation</span></li></ul>'
        )
        site.page(f"{api}/jobPosting/{number}", _page(job.title, said, lang="en"))


def _fragment(job: _Job) -> str:
    number = job.slug[-10:]
    where = f"https://de.linkedin.com/jobs/view/{job.slug}?position=1&amp;refId=abc%3D&amp;trackingId=x"
    return (
        f'<li><div class="base-card base-search-card job-search-card" data-entity-urn="urn:li:jobPosting:{number}">'
        f'<a class="base-card__full-link" href="{where}"><span class="sr-only">{job.title}</span></a>'
        f'<h3 class="base-search-card__title">{job.title}</h3><h4 class="base-search-card__subtitle">{job.company}</h4>'
        f'<span class="job-search-card__location">{job.place}</span>'
        f'<time class="job-search-card__listdate" datetime="{job.posted}">1 week ago</time></div></li>'
    )


# -- Aviation Indeed: a frame of CEIPAL's ------------------------------------------------------------------------


def _indeed(site: Site) -> None:
    frame = f'<iframe src="https://{CEIPAL}/jobs/board"></iframe>'
    site.page(f"/{INDEED}/ceipal/", _page("Jobs", f"<h1>Jobs</h1>{frame}", lang="en-US"))
    card = (
        '<div class="job-item"><a href="/jobs/view/q1w2e3r4"><h5 class="job-title">Aircraft Dispatcher</h5></a>'
        '<span class="job-location">Tulsa, OK</span><span class="job-date">2 Oct 2026</span></div>'
    )
    site.page(f"/{CEIPAL}/jobs/board", _page("Board", card, lang="en-US"))
    said = '<h2>Aircraft Dispatcher</h2><p class="job-location">Tulsa, OK</p><p class="job-description">Invented.</p>'
    site.page(f"/{CEIPAL}/jobs/view/q1w2e3r4", _page("Aircraft Dispatcher", said, lang="en-US"))
