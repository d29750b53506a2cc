"""Lists and postings that mean no good, or only look like ones."""

from __future__ import annotations

from typing import Any

import pytest

from gossamer import ConfigError, Page, ReadError, Request, Response
from gossamer.packs.jobs import AviationIndeed, Goose, IndiGo, LinkedIn
from gossamer.packs.jobs.listing import MOST_CARDS, MOST_PAGES, Listing
from gossamer.packs.jobs.marks import Marks, apart
from gossamer.packs.jobs.model import Job
from gossamer.values import Headers
from tests.packs import page_of

URL = "https://reed.example/jobs"


class Reed(Listing):
    name = "jobs.reed"
    start_urls = (URL,)
    postings = r"^/job/"
    cards = Marks(link="a[href*='/job/']")


def card(number: int, title: str = "Crew Planner", more: str = "") -> str:
    return f'<li><a href="/job/{number}">{title}</a>{more}</li>'


def read(body: str, **carry: Any) -> list[Request]:
    return [each for each in Reed().parse(page_of(body, URL, **carry)) if isinstance(each, Request)]


def test_cards_are_found_around_links_and_read_by_their_lines() -> None:
    more = "<i>Full-time</i><p>Oslo, Norway</p><p>3 days ago</p><a href='/job/7001?utm_source=x'>View</a>"
    (job,) = Reed().listed(page_of(f"<ul>{card(7001, more=more)}</ul>", URL))
    assert (job.url, job.title, job.job_id) == ("https://reed.example/job/7001", "Crew Planner", "7001")
    assert (job.location, job.job_type) == ("Oslo, Norway", "full-time")
    assert job.posted_date is not None


def test_links_that_lie_within_each_other_without_end_are_postings_all_the_same() -> None:
    body = "".join(f'<div><a href="/job/{number}">Crew Planner</a>' for number in range(5_000))
    found = Reed().listed(page_of(body, URL))
    assert len(found) == MOST_CARDS
    assert found[7].url == "https://reed.example/job/7"


def test_cards_within_cards_without_end_are_not_all_looked_through() -> None:
    page = page_of("<section><div>" * 300 + "<i>x</i>", URL)
    kept = apart([*page.tree.css("section"), *page.tree.css("section")])
    assert [node.mem_id for node in kept] == [node.mem_id for node in page.tree.css("section")[:5]]
    assert len(apart(page_of("<p>x</p>" * 300, URL).tree.css("p"))) == 300


def test_links_that_name_nothing_are_no_postings() -> None:
    body = "<a href='/job/1'>Apply now</a><a href='/job/2'>2</a><a href='/job/3'></a><a href='javascript:x()'>Boss</a>"
    assert Reed().listed(page_of(body, URL)) == []


def test_a_card_within_a_card_is_one() -> None:
    body = '<div class="c"><p class="c-t"><a href="/job/1">Pilot</a></p><b>Rome, Italy</b></div>'

    class Nested(Reed):
        cards = Marks(card="[class*=c]", link="a")

    (job,) = Nested().listed(page_of(body, URL))
    assert job.location == "Rome, Italy"


def test_structured_data_where_there_are_no_cards() -> None:
    thing = '{"@type": "JobPosting", "title": "Pilot", "url": "/job/9001", "datePosted": "2025-11-01"}'
    body = f'<script type="application/ld+json">{{"@context": "https://schema.org", "@graph": [{thing}]}}</script>'
    (job,) = Reed().listed(page_of(body, URL))
    assert (job.url, job.title) == ("https://reed.example/job/9001", "Pilot")


def test_a_list_that_shows_the_same_page_for_ever_ends() -> None:
    body = f"<ul>{card(1)}</ul><a rel=next href='?page=2'>Next</a>"
    first = read(body)
    assert [each.url for each in first] == ["https://reed.example/job/1", "https://reed.example/jobs?page=2"]
    assert first[-1].revisit
    assert read(body, **(first[-1].carry or {})) == []


def test_a_list_has_an_end_whatever_it_says() -> None:
    body = f"<ul>{card(1)}</ul><a rel=next href='?page=2'>Next</a>"
    assert len(read(body, page=MOST_PAGES, seen=1)) == 1
    assert read(body, seen=10**6) == []
    assert len(read(body, seen="many", page=None)) == 2


@pytest.mark.parametrize("code", [404, 410])
def test_a_list_that_is_gone_is_an_error(code: int) -> None:
    page = Page(Request(URL), Response(URL, code, Headers(), b"", 0.0, 0.0))
    with pytest.raises(ReadError, match="has moved it"):
        list(Reed().parse(page))


def test_a_posting_alone_cannot_be_read() -> None:
    with pytest.raises(ReadError, match="cannot be read alone"):
        list(Reed().posting(page_of("<h1>Pilot</h1>", URL)))
    with pytest.raises(ReadError, match="cannot be read alone"):
        list(Reed().posting(page_of("<h1>Pilot</h1>", URL, job={"url": 5})))


@pytest.mark.parametrize(
    "body",
    [
        "",
        "\x00\x01",
        "<" * 50_000,
        "<div>" * 5_000,
        "<script type='application/ld+json'>{]</script>",
        '<script type="application/ld+json">{"@type": "JobPosting", "title": {"a": []}, "validThrough": {}}</script>',
        f"<h1>{'x' * 100_000}</h1>",
    ],
)
def test_a_posting_of_nonsense_is_what_the_list_said_of_it(body: str) -> None:
    listed = {"url": "https://reed.example/job/1", "title": "Crew Planner", "location": "Oslo, Norway"}
    page = page_of(body, listed["url"], job=listed)
    job = next(iter(Reed().posting(page)))
    assert isinstance(job, Job)
    assert (job.url, job.title, job.location, job.status) == (*listed.values(), "active")


def test_other_postings_on_a_page_are_not_this_one() -> None:
    kind = '"@context": "https://schema.org", "@type": "JobPosting"'
    other = f'{{{kind}, "title": "Cook", "url": "/job/2", "description": "Soup"}}'
    listed = {"url": "https://reed.example/job/1", "title": "Crew Planner"}
    body = f"<h1>Crew Planner</h1><script type='application/ld+json'>{other}</script>"
    job = next(iter(Reed().posting(page_of(body, listed["url"], job=listed))))
    assert isinstance(job, Job)
    assert (job.title, job.description) == ("Crew Planner", None)


def test_long_urls_and_titles_are_not_kept() -> None:
    body = f"<a href='/job/{'9' * 2000}'>Pilot</a><a href='/job/1'>{'Pilot ' * 500}</a>"
    found = Reed().listed(page_of(body, URL))
    assert [len(job.title) <= 500 for job in found] == [True]


def test_goose_takes_the_form_for_the_posting() -> None:
    assert Goose().address("https://www.goose-recruitment.com/job/x/apply") == "https://www.goose-recruitment.com/job/x"


def test_indigo_says_that_scripts_have_not_run() -> None:
    with pytest.raises(ReadError, match="before its scripts have run"):
        list(IndiGo().parse(page_of("<div id=app></div>", IndiGo.start_urls[0])))


def test_aviationindeed_without_its_frame() -> None:
    page = page_of("<iframe src='https://ads.example/x'></iframe>", AviationIndeed.start_urls[0])
    with pytest.raises(ReadError, match="no frame with jobs"):
        list(AviationIndeed().parse(page))


def test_searches_that_cannot_be_made_are_refused() -> None:
    with pytest.raises(ConfigError, match="words to search for"):
        list(LinkedIn({"keywords": " | "}).start())
    with pytest.raises(ConfigError, match="too many"):
        list(LinkedIn({"keywords": "|".join(map(str, range(50)))}).start())
    assert len(list(LinkedIn({"keywords": "a|b", "location": "Oslo"}).start())) == 2
