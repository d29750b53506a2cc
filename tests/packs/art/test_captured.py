"""The pack on captured pages and answers, where those are present."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

import pytest

from gossamer import Blocked, Page, urls
from gossamer.packs.art import Opportunity, classify, deadlines, fees, fingerprints
from gossamer.packs.art.cafe import Cafe
from gossamer.packs.art.councils import California
from gossamer.packs.art.instagram import Instagram
from gossamer.packs.art.states import BY_CODE
from tests.packs import answer, fixture, page_of

pytestmark = pytest.mark.suite

DATES = deadlines.dates_of(Page.of("", "https://arts.ca.gov/"))


def _day(text: str) -> date:
    return datetime.strptime(text, "%m/%d/%Y").date()


def _texts(name: str) -> list[tuple[dict[str, Any], str]]:
    return [(row, row["description"].replace("\\n", "\n")) for row in answer(f"art/ca_arts_council_{name}.json")]


def test_the_board_of_california() -> None:
    scraper, found = California(), []
    for name in ("p1", "p2", "p3_empty"):
        page = page_of(
            fixture(f"art/derived/arts_ca_gov_opportunities_{name}.html"), "https://arts.ca.gov/opportunities/", page=2
        )
        found += [one for card in scraper.cards(page) for one in scraper.made(card, page)]
        assert bool(list(scraper.parse(page))) == (name != "p3_empty")
    want = answer("art/derived/arts_ca_gov.expected.json")
    assert [(one.organization, one.location, one.deadline_text, str(one.deadline), one.url) for one in found] == [
        tuple(row[name] for name in ("organization", "location", "deadline_text", "deadline", "url")) for row in want
    ]
    assert [one.title for one in found] == [" ".join(row["title"].split()) for row in want]


def test_the_page_of_a_call_there() -> None:
    scraper = California()
    listing = page_of(fixture("art/derived/arts_ca_gov_opportunities_p1.html"), "https://arts.ca.gov/opportunities/")
    listed = next(scraper.cards(listing))
    page = page_of(fixture("art/derived/arts_ca_gov_detail.html"), listed.url or "")
    (one,) = scraper.call(Page(page.request.evolve(carry=listed.carry()), page.response))
    assert (str(one.deadline), str(one.opens), one.fee_amount) == ("2025-09-16", "2025-08-15", "15")
    assert one.description.startswith("Cura Contemporary is thrilled")
    assert one.eligibility.startswith("Artists must be 18+")


def test_a_hashtag() -> None:
    page = page_of(
        fixture("instagram/derived/tag_artcall.html"), "https://www.instagram.com/explore/tags/artcall/", tag="artcall"
    )
    scraper = Instagram()
    scraper.validate(page)
    found = [each for each in scraper.parse(page) if isinstance(each, Opportunity)]
    want = answer("instagram/derived/tag_artcall.expected.json")
    assert [(one.url, one.image_url, one.posted_date, list(one.tags), one.source) for one in found] == [
        tuple(row[name] for name in ("url", "image_url", "posted_date", "tags", "source")) for row in want
    ]
    assert [one.title for one in found] == [" ".join(row["title"].split()) for row in want]


def test_the_wall_before_a_hashtag() -> None:
    page = page_of(fixture("instagram/derived/login_wall.html"), "https://www.instagram.com/explore/tags/artcall/")
    with pytest.raises(Blocked):
        Instagram().validate(page)


def test_the_answer_of_cafe() -> None:
    page = page_of(
        fixture("art/derived/cafe_festivals-ajax.json"), "https://artist.callforentry.org/x", "application/json"
    )
    rows = answer("art/derived/cafe_festivals-ajax.json")["results"]
    found: list[Opportunity] = list(Cafe().parse(page))
    assert len(found) == len(rows)
    for one, row in zip(found, rows, strict=True):
        assert one.title == " ".join(row["fair_name"].split())
        assert (one.organization, one.state) == (row["organization_name"], row["FairState"])
        assert str(one.deadline) == row["fair_deadline"]
        assert one.fee_amount == str(int(float(row["ProductCost"] or 0)))
        assert one.fee_to_apply == (row["ProductCost"] is not None)


def test_deadlines_out_of_texts() -> None:
    """Of 96 texts that name one, 89 agree with the listing, to a day; of the others most name another year."""
    right = wrong = 0
    for row, text in (*_texts("calls"), *_texts("processed_100")):
        found = deadlines.find(text, DATES)
        if found is not None:
            near = abs((found.day - _day(row["deadline"])).days) <= 1
            right, wrong = right + near, wrong + (not near)
    assert right >= 89
    assert wrong <= 7


def test_fees_out_of_texts() -> None:
    """Where texts name a fee, it is the one a reader noted; where they name none, readers noted $0."""
    equal = other = unsaid = 0
    for row, text in _texts("processed_100"):
        found, noted = fees.fee_in(text, DATES), fees.fee_of(row["fees"])
        if found is None and noted is not None and not noted.due:
            unsaid += 1
        else:
            same = (found.amount if found else None) == (noted.amount if noted else None)
            equal, other = equal + same, other + (not same)
    assert (equal, other, unsaid) == (46, 0, 54)


def test_one_call_in_two_lists_has_one_fingerprint() -> None:
    """Both lists are of one board, months apart: what is in both is the same call."""
    prints: dict[str, set[str | None]] = {}
    for name in ("calls", "processed_100"):
        for row, _ in _texts(name):
            mark = fingerprints.fingerprint(row["title"], _day(row["deadline"]), row["organization"])
            prints.setdefault(f"{row['title']}|{row['deadline']}|{row['organization']}", set()).add(mark)
    assert all(len(each) == 1 for each in prints.values())
    assert len({mark for each in prints.values() for mark in each}) == len(prints)


def test_noisy_records_of_several_sites_are_not_one_call() -> None:
    """As if all had one deadline, and nobody said whose they are."""
    sites: dict[str, set[str]] = {}
    for row in answer("art/proletto_opportunities_sample.json"):
        mark = fingerprints.fingerprint(row["title"], date(2026, 1, 1), None)
        if mark is not None:
            sites.setdefault(mark, set()).add(urls.hostname(row["url"]).removeprefix("www."))
    assert len(sites) > 400
    assert not [each for each in sites.values() if len(each) > 1]


def test_places_of_a_thousand_noisy_records_are_states_only_if_they_name_one() -> None:
    rows = answer("art/proletto_opportunities_sample.json")
    for row in rows:
        state = classify.state_of(row["location"])
        if state is not None:
            code = next(code for code, name in BY_CODE.items() if name == state)
            assert state in row["location"] or re.search(rf", {code}\b", row["location"]), row["location"]
    assert sum(classify.state_of(row["location"]) is not None for row in rows) == 19


def test_types_of_a_thousand_noisy_records() -> None:
    rows = answer("art/proletto_opportunities_sample.json")
    kinds = [classify.type_of(row["title"], row["description"], source=row["source"]) for row in rows]
    assert set(kinds) == set(classify.TYPES) - {"social_media"}
    assert kinds.count("general") > len(rows) / 2, "most of them are links of menus"
    for row, kind in zip(rows, kinds, strict=True):
        words = {"residency": "residen", "grant": "grant|fund|award|prize|scholar|fellow|bursar|financial"}.get(
            kind, ""
        )
        assert re.search(words, f"{row['title']} {row['description']}", re.IGNORECASE)
