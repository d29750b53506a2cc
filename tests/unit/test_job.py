"""Jobs, from schema.org, from the JSON of applicant tracking systems, and from what a page shows."""

from __future__ import annotations

import json
import time
from typing import Any

import msgspec
import pytest

from gossamer import urls
from gossamer.parse.job import Job, read
from gossamer.parse.page import Page
from gossamer.parse.pay import pay
from gossamer.values import Headers, Request, Response
from tests.conftest import corpora

URL = "https://jobs.example.org/job/17"
#: 2026-06-15, when a page was fetched.
NOW = 1_781_500_000.0


def jobs(body: str, url: str = URL, kind: str = "text/html", started: float = 0.0) -> list[Job]:
    headers = Headers([("content-type", f"{kind}; charset=utf-8")])
    return read(Page(Request(url), Response(url, 200, headers, body.encode(), started, 0.0)))


def one(body: str, **more: Any) -> Job:
    (job,) = jobs(body, **more)
    return job


def posting(**fields: Any) -> str:
    said = {"@context": "https://schema.org", "@type": "JobPosting", "title": "Baker", **fields}
    return f'<html><body><script type="application/ld+json">{json.dumps(said)}</script></body></html>'


def api(data: Any, **more: Any) -> list[Job]:
    return jobs(json.dumps(data), kind="application/json", **more)


# --- schema.org ---


def test_a_posting_in_json_ld() -> None:
    page = posting(
        url="/job/17?full",
        identifier={"@type": "PropertyValue", "name": "Acme", "value": 4711},
        hiringOrganization={"@type": "Organization", "name": "Acme &amp; Sons", "department": {"name": "Bread"}},
        jobLocation={
            "@type": "Place",
            "address": {"addressLocality": "Ulm", "addressRegion": "BW", "addressCountry": {"name": "Germany"}},
        },
        employmentType=["FULL_TIME", "TEMPORARY"],
        datePosted="2026-05-06",
        validThrough="2026-06-30T23:59:00+02:00",
        baseSalary={
            "@type": "MonetaryAmount",
            "currency": "EUR",
            "value": {"@type": "QuantitativeValue", "minValue": 30000, "maxValue": "36000.50", "unitText": "YEAR"},
        },
        description="&lt;p&gt;Bake.&lt;/p&gt;&lt;ul&gt;&lt;li&gt;Bread&lt;/li&gt;&lt;li&gt;Cake&lt;/li&gt;&lt;/ul&gt;",
    )
    assert one(page) == Job(
        url="https://jobs.example.org/job/17?full",
        id="4711",
        title="Baker",
        organisation="Acme & Sons",
        department="Bread",
        location="Ulm, BW, Germany",
        locations=("Ulm, BW, Germany",),
        employment_type="full-time, temporary",
        posted="2026-05-06",
        deadline="2026-06-30T23:59:00+02:00",
        salary_min=30000.0,
        salary_max=36000.5,
        salary_currency="EUR",
        salary_period="year",
        description="Bake.\nBread\nCake",
    )


def test_a_posting_in_microdata() -> None:
    html = """<div itemscope itemtype="https://schema.org/JobPosting"><h1 itemprop="title">Cook</h1>
        <span itemprop="hiringOrganization" itemscope itemtype="https://schema.org/Organization">
          <b itemprop="name">Acme</b></span>
        <span itemprop="jobLocation" itemscope itemtype="https://schema.org/Place"><span itemprop="address" itemscope
          itemtype="https://schema.org/PostalAddress"><i itemprop="addressLocality">Bonn</i></span></span>
        <meta itemprop="salaryCurrency" content="EUR"><span itemprop="baseSalary">15.50</span>
        <a href="/apply/3">Apply now</a></div>"""
    job = one(html)
    assert (job.title, job.organisation, job.location, job.url) == ("Cook", "Acme", "Bonn", URL)
    assert (job.salary_min, job.salary_currency, job.apply_url) == (15.5, "EUR", "https://jobs.example.org/apply/3")


@pytest.mark.parametrize(
    ("said", "want"),
    [
        ({"jobLocationType": "TELECOMMUTE", "applicantLocationRequirements": {"name": "Spain"}}, ("Spain", True)),
        ({"jobLocation": "Remote, US"}, ("Remote, US", True)),
        ({"jobLocation": [{"address": "Ulm"}, {"name": "Bonn"}, {"address": "Ulm"}]}, ("Ulm; Bonn", None)),
        ({"jobLocation": {"address": {"addressLocality": "Ulm", "addressRegion": "Ulm"}}}, ("Ulm", None)),
        ({"jobLocation": {}}, (None, None)),
    ],
)
def test_places(said: dict[str, Any], want: tuple[str | None, bool | None]) -> None:
    job = one(posting(**said))
    assert (job.location, job.remote) == want


@pytest.mark.parametrize(
    ("said", "want"),
    [
        ({"baseSalary": 42000, "salaryCurrency": "USD"}, (42000, 42000, "USD", None)),
        ({"baseSalary": "$20 - $25 an hour"}, (20, 25, "USD", "hour")),
        ({"baseSalary": {"currency": "GBP", "value": "30,000"}}, (30000, 30000, "GBP", None)),
        ({"baseSalary": {"currency": "GBP", "minValue": 1, "maxValue": 2, "unitText": "HOUR"}}, (1, 2, "GBP", "hour")),
        ({"baseSalary": {"value": {"value": 9.5, "unitText": "hour"}}}, (9.5, 9.5, None, "hour")),
        ({"baseSalary": {"value": {"minValue": 0, "maxValue": 0}}}, (None, None, None, None)),
        ({"baseSalary": "competitive"}, (None, None, None, None)),
        ({"baseSalary": []}, (None, None, None, None)),
    ],
)
def test_salaries(said: dict[str, Any], want: tuple[Any, ...]) -> None:
    job = one(posting(**said))
    assert (job.salary_min, job.salary_max, job.salary_currency, job.salary_period) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("£30,000 to £35,000 per annum", (30000, 35000, "GBP", "year")),
        ("60 000 - 75 000 EUR brutto/Jahr", (60000, 75000, "EUR", "year")),
        ("€60k–75k / year", (60000, 75000, "EUR", "year")),
        ("45.000 € pro Monat", (45000, 45000, "EUR", "month")),
        ("₹5,00,000 a year", (500000, 500000, "INR", "year")),
        ("12,50 € / Stunde", (12.5, 12.5, "EUR", "hour")),
        ("401(k) and 10 days", (None, None, None, None)),
        ("", (None, None, None, None)),
        (None, (None, None, None, None)),
    ],
)
def test_pay_as_people_write_it(text: str | None, want: tuple[Any, ...]) -> None:
    assert tuple(pay(text)) == want


def test_a_list_of_postings_gives_all_once() -> None:
    items = [{"@type": "JobPosting", "title": f"Job {n}", "url": f"/job/{n % 2}"} for n in (1, 2, 2)]
    said = {"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "item": item} for item in items]}
    found = jobs(f'<script type="application/ld+json">{json.dumps(said)}</script>')
    assert [job.title for job in found] == ["Job 1", "Job 2"]


# --- JSON of applicant tracking systems ---


def test_jobs_of_an_api_are_known_by_their_fields() -> None:
    (job,) = api(
        {
            "meta": {"total": 1},
            "jobs": [
                {
                    "id": 7,
                    "title": "Cook",
                    "absolute_url": "https://x.example/jobs/7",
                    "location": {"name": "Ulm"},
                    "departments": [{"id": 1, "name": "Kitchen"}],
                    "company_name": "Acme",
                    "first_published": "2026-05-06T07:08:09-04:00",
                    "application_deadline": "2026-07-01",
                    "content": "&lt;p&gt;Cook.&lt;/p&gt;",
                    "salaryRange": {"min": 10, "max": 12, "currency": "EUR", "interval": "per-hour-wage"},
                    "isRemote": False,
                    "employmentType": "PartTime",
                    "applyUrl": "/apply/7",
                }
            ],
        }
    )
    assert job == Job(
        url="https://x.example/jobs/7",
        id="7",
        title="Cook",
        organisation="Acme",
        department="Kitchen",
        location="Ulm",
        locations=("Ulm",),
        remote=False,
        employment_type="part-time",
        posted="2026-05-06T07:08:09-04:00",
        deadline="2026-07-01",
        salary_min=10.0,
        salary_max=12.0,
        salary_currency="EUR",
        salary_period="hour",
        description="Cook.",
        apply_url="https://jobs.example.org/apply/7",
    )


def test_dates_that_are_counted_back_need_the_day_of_the_fetch() -> None:
    data = {
        "jobPostings": [
            {"title": "Cook", "locationsText": "Ulm", "postedOn": "Posted 30+ Days Ago", "externalPath": "/j"}
        ]
    }
    url = "https://acme.wd1.myworkdayjobs.com/wday/cxs/acme/External/jobs"
    assert api(data, url=url)[0].posted is None
    (found,) = api(data, url=url, started=NOW)
    assert (found.posted, found.url) == ("2026-05-16", "https://acme.wd1.myworkdayjobs.com/External/j")


@pytest.mark.parametrize(
    "data",
    [
        {"products": [{"id": 1, "title": "Lamp", "url": "/1", "category": "Light"}]},
        {"articles": [{"title": "News", "published_at": "2026-01-01", "url": "/n", "id": 3}]},
        {"jobs": []},
        {"jobs": [1, None, "x", {"title": 3}]},
        [],
        3,
        None,
    ],
)
def test_other_data_has_no_jobs(data: Any) -> None:
    assert api(data) == []


def test_jobs_in_the_state_of_a_page() -> None:
    state = {
        "search": {"data": {"jobs": [{"title": "Cook", "reqId": "R1", "location": "Ulm", "type": "Full-Time"}] * 2}}
    }
    html = f"<body><p>Loading</p><script>var app = {{}}; app.state = {json.dumps(state)}; app.run();</script>"
    assert [(job.title, job.id, job.employment_type) for job in jobs(html)] == [("Cook", "R1", "full-time")] * 2


# --- what a page shows ---

CARD = """<div class="job-card"><h2><a href="/job/{n}-cook?ref=a">Cook {n}</a></h2><span class="company">Acme</span>
    <span class="job-location">Ulm</span><span>$20 - $25 an hour</span><span>Part time</span>
    <span class="posted">3d ago</span><a href="/apply/{n}">Apply now</a></div>"""


def test_a_list_of_cards() -> None:
    html = "<nav><a href=/jobs/>Jobs</a><a href=/about>About</a></nav>" + "".join(CARD.format(n=n) for n in (101, 102))
    first, second = jobs(f"<html lang=en-US><body>{html}", started=NOW)
    assert first == Job(
        url="https://jobs.example.org/job/101-cook?ref=a",
        title="Cook 101",
        organisation="Acme",
        location="Ulm",
        locations=("Ulm",),
        employment_type="part-time",
        posted="2026-06-12",
        salary_min=20.0,
        salary_max=25.0,
        salary_currency="USD",
        salary_period="hour",
        apply_url="https://jobs.example.org/apply/101",
    )
    assert second.title == "Cook 102"


def test_a_page_about_one_job_is_read_by_its_labels() -> None:
    html = """<html lang="de"><head><title>Koch | Acme</title><meta property="og:site_name" content="Acme"></head>
        <body><h1>Koch (m/w/d)</h1><dl><dt>Arbeitsort</dt><dd>Ulm</dd><dt>Anstellungsart</dt><dd>Teilzeit</dd></dl>
        <p><b>Gehalt:</b> 2.500 € pro Monat</p><p>Bewerbungsschluss: 31.12.2026</p>
        <div class="job-description"><p>Kochen.</p><p>Backen.</p></div><a href="/bewerben">Jetzt bewerben</a></body>"""
    assert one(html, url="https://acme.example/stellenangebote/koch") == Job(
        url="https://acme.example/stellenangebote/koch",
        title="Koch (m/w/d)",
        organisation="Acme",
        location="Ulm",
        locations=("Ulm",),
        employment_type="part-time",
        deadline="2026-12-31",
        salary_min=2500.0,
        salary_max=2500.0,
        salary_currency="EUR",
        salary_period="month",
        description="Kochen.\nBacken.",
        apply_url="https://acme.example/bewerben",
    )


def test_a_filled_position_is_closed() -> None:
    html = "<title>Cook Job Details | Acme Careers</title><body><p>Sorry, this position has been filled.</p>"
    job = one(html)
    assert (job.title, job.closed) == ("Cook", True)
    assert one(posting() + "<p>This job is no longer available</p>").closed
    assert not one(posting()).closed


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<h1>About us</h1><p>We bake. Location: Ulm</p>",
        "<ul><li><a href=/a>Lamp</a> 3 EUR</li><li><a href=/b>Chair</a> 4 EUR</li></ul>",
        "<ul><li><a href=/jobs/sales>Sales</a></li><li><a href=/jobs/it>IT</a></li></ul>",
    ],
)
def test_other_pages_have_no_jobs(html: str) -> None:
    assert jobs(html, url="https://example.org/about") == []


@pytest.mark.parametrize(
    "html",
    [
        "<div class=a>" * 3000 + "<a href=/job/1>x</a>" * 500,
        "<li><a href=/job/1>x</a>" * 20_000,
        "<script>x = " + "{" * 50_000 + "</script>",
        "<script>" + 'x = {"a": ' * 20_000 + "</script>",
        "<p>Location: " * 20_000,
    ],
)
def test_a_hostile_page_costs_little(html: str) -> None:
    began = time.process_time()
    jobs(html)
    assert time.process_time() - began < 40


# --- outside ---

API_FILES = [
    "amazon_jobs_software",
    "ashby_linear",
    "ck_pinpoint",
    "ck_recruitee",
    "ck_teamtailor",
    "eightfold_snowflake",
    "greenhouse_gitlab",
    "jb_workable",
    "lever_matchgroup",
    "phenom_snowflake_response",
    "signature_jobs_output_50",
    "smartrecruiters_western_digital",
    "workday_micron",
    "workday_saputo",
]


@pytest.mark.suite
@pytest.mark.parametrize("name", API_FILES)
def test_answers_of_applicant_tracking_systems(name: str) -> None:
    folder = corpora("fixtures", "jobs")
    want = json.loads((folder / "expected_facts.json").read_bytes())[f"{name}.json"]
    found = jobs((folder / f"{name}.json").read_text(), kind="application/json")
    assert len(found) == want["count"]
    assert [job.title for job in found][:5] == want["titles"][:5]
    assert all(job.location and job.id for job in found)


@pytest.mark.suite
@pytest.mark.parametrize("name", ["indigo_search_page", "jora_search", "linkedin_search"])
def test_lists_of_jobs_as_sites_show_them(name: str) -> None:
    folder = corpora("fixtures", "jobs")
    want = json.loads((folder / f"{name}.expected.json").read_bytes())["cards"]
    base = "https://www.goindigo.in/careers/job-search.html" if name[0] == "i" else "https://au.jora.com/j"
    found = {(job.url or "").partition("?")[0]: job for job in jobs((folder / f"{name}.html").read_text(), url=base)}
    assert len(found) == len(want)
    fields = {
        "title": "title",
        "company": "organisation",
        "location": "location",
        "apply_url": "apply_url",
        "date": "posted",
    }
    for card in want:
        job = found[(urls.resolve(card.get("url") or card["href"], base) or "").partition("?")[0]]
        said = {name: card[name] for name in fields if name in card}
        assert {name: getattr(job, fields[name]) for name in said} == said


@pytest.mark.suite
def test_a_filled_position_as_a_site_shows_it() -> None:
    folder = corpora("fixtures", "jobs")
    (job,) = jobs(
        (folder / "airindia_successfactors_filled.html").read_text(), url="https://careers.airindia.com/job/x/1"
    )
    assert (job.title, job.closed) == ("Senior Associate - Loyalty Customer Service", True)
    assert jobs((folder / "challenge_cloudflare_small.html").read_text()) == []


def test_fields_have_defaults_so_that_columns_are_stable() -> None:
    assert set(msgspec.to_builtins(Job())) == set(Job.__struct_fields__)


@pytest.mark.parametrize(
    ("said", "want"),
    [
        ("Apply by 30 June 2026.", "2026-06-30"),
        ("We bind books by hand. To apply, write to us by 5pm on 30 June 2026.", "2026-06-30"),
        ("Applications close on Friday 3 July 2026", "2026-07-03"),
        ("Please send your CV no later than 3 July 2026", "2026-07-03"),
        ("Closing date 4 April 2026", "2026-04-04"),
        ("Bewerben Sie sich bis zum 30.06.2026", "2026-06-30"),
        ("The contract ends on 31 May 2027. Apply now!", None),
        ("Apply today. We have been here since 3 May 1999.", None),
    ],
)
def test_the_last_day_to_apply_may_stand_in_a_sentence(said: str, want: str | None) -> None:
    page = Page.of(
        f"<title>Bookbinder</title><main><h1>Bookbinder</h1><p>Location: Bristol</p><p>Salary: £30,000 per year</p>"
        f"<p>{said}</p><a href=/apply>Apply</a></main>",
        "https://press.example/jobs/7",
    )
    (found,) = read(page)
    assert (found.title, found.deadline) == ("Bookbinder", want)


# --- what is over, and what only speaks of it ---


@pytest.mark.parametrize(
    ("line", "closed"),
    [
        ("Sorry, this position has been filled.", True),
        ("Diese Stelle ist bereits besetzt.", True),
        ("L'offre a expiré", True),
        ("No longer accepting applications", True),
        ("We take applications until the position is filled.", False),
        ("Once the role has been filled, we tell everybody.", False),
        ("Open until the position is filled. Apply today.", False),
        ("We know the way. This job is closed.", True),
    ],
)
def test_whether_a_posting_is_over(line: str, closed: bool) -> None:
    said = posting().replace("</body>", f"<p>{line}</p></body>")
    assert one(said).closed is closed


def test_a_line_that_a_page_hides_closes_nothing() -> None:
    said = posting().replace("</body>", "<p hidden>This job has expired</p><p>Come and bake.</p></body>")
    assert one(said).closed is False
    assert one(said.replace("Come and bake.", "This job is no longer available")).closed is True


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("<p>Bake.</p>\n<p>Sell\nbread.</p>", "Bake.\nSell bread."),
        ("Bake & sell.\nClean.", "Bake & sell.\nClean."),
        ("Bake <b>bread</b>.\n\nSell <a\nhref='/x'>it</a>.", "Bake bread.\nSell it."),
        ("Bake.<br>\nSell.", "Bake.\nSell."),
        ("Fewer than 3 < 5\nof us", "Fewer than 3 < 5\nof us"),
    ],
)
def test_a_description_has_a_line_for_each_paragraph(text: str, want: str) -> None:
    assert one(posting(description=text)).description == want
