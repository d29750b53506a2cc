"""What sites answer that is not as it should be: walls, other shapes, wrong types, pages nobody knows."""

from __future__ import annotations

import contextlib
import itertools
import json
import time
from datetime import date
from typing import Any

import pytest

from gossamer import Blocked, Page, ReadError, Scraper
from gossamer.demo.art import pages
from gossamer.demo.art.calls import FAIRS, GENERAL, MURAL
from gossamer.packs.art import SCRAPERS, Opportunity, candidates
from gossamer.packs.art.cafe import Cafe
from gossamer.packs.art.councils import California
from gossamer.packs.art.instagram import Instagram, listed
from gossamer.packs.art.social import Social
from tests.packs import page_of

TAG = "https://www.instagram.com/explore/tags/artcall/"


def as_json(data: Any, url: str) -> Page:
    return page_of(json.dumps(data), url, "application/json")


def read(scraper: Scraper, page: Page) -> list[Opportunity]:
    scraper.validate(page)
    return [each for each in scraper.parse(page) if isinstance(each, Opportunity)]


# -- Instagram ---------------------------------------------------------------------------------------------------

HASHTAG = pages.hashtag("artcall", (MURAL,))


@pytest.mark.parametrize(
    "data",
    [
        {"entry_data": {"TagPage": [{"graphql": {"hashtag": HASHTAG}}]}},
        {"entry_data": {"TagPage": [pages.old_tag("artcall", (MURAL,))]}},
        {"graphql": {"hashtag": HASHTAG}},
        {"data": {"hashtag": HASHTAG}, "status": "ok"},
        pages.old_tag("artcall", (MURAL,)),
        pages.sections("artcall", (MURAL,)),
    ],
    ids=["page", "old page", "?__a=1", "graphql/query", "tag", "sections"],
)
def test_every_shape_gives_the_same_post(data: Any) -> None:
    (one,) = read(Instagram(), as_json(data, TAG))
    assert (one.title, one.type, one.is_ad) == (MURAL.title, "social_media", True)
    assert one.tags == ("artcall", "art0")
    assert one.deadline == MURAL.deadline
    assert one.posted_date is not None
    assert one.image_url is not None
    assert one.image_url.startswith("https://pictures.example/")


@pytest.mark.parametrize(
    "page",
    [
        page_of(pages.shared_page("artcall", {"LoginAndSignupPage": [{}]}), TAG),
        page_of(pages.shared_page("artcall", {}), TAG),
        page_of(pages.html("Login • Instagram", "<p>Log in</p>"), "https://www.instagram.com/accounts/login/?next=/x/"),
        page_of(pages.html("#artcall", "<div id=react-root></div>"), TAG),
        page_of("<script>window._sharedData = {broken</script>", TAG),
        page_of("", TAG),
        as_json({"message": "Please wait a few minutes", "require_login": True}, TAG),
        as_json({"message": "login_required", "status": "fail"}, TAG),
    ],
)
def test_a_login_wall_is_blocked_and_not_empty(page: Page) -> None:
    with pytest.raises(Blocked):
        read(Instagram(), page)


@pytest.mark.parametrize("data", [{}, [], None, 5, {"graphql": {}}, {"data": {"hashtag": None}}, {"tag": []}])
def test_an_answer_that_is_no_hashtag_is_said_to_be_none(data: Any) -> None:
    with pytest.raises((ReadError, Blocked)):
        read(Instagram(), as_json(data, TAG))


@pytest.mark.parametrize(
    "node",
    [
        None,
        "text",
        {},
        {"shortcode": 5},
        {"shortcode": "../../evil"},
        {"shortcode": "A1", "edge_media_to_caption": None},
        {"shortcode": "A1", "edge_media_to_caption": {"edges": [{"node": None}]}, "taken_at_timestamp": "soon"},
        {"shortcode": "A1", "caption": ["x"], "taken_at_timestamp": 1 << 70, "display_url": {}},
    ],
)
def test_posts_of_wrong_types_are_left_out(node: Any) -> None:
    found = listed({"graphql": {"hashtag": {"edge_hashtag_to_media": {"edges": [{"node": node}, 7], "page_info": 3}}}})
    assert found is not None
    assert all(post.caption == "" and post.taken is None for post in found.posts)
    assert read(Instagram(), as_json({"graphql": {"hashtag": {"media": {"nodes": [node]}}}}, TAG)) == []


def test_long_first_lines_are_cut() -> None:
    hashtag = pages.hashtag("artcall", (MURAL,))
    caption = hashtag["edge_hashtag_to_media"]["edges"][0]["node"]["edge_media_to_caption"]["edges"][0]["node"]
    caption["text"] = "Open call " + "x" * 100
    (one,) = read(Instagram(), as_json({"graphql": {"hashtag": hashtag}}, TAG))
    assert len(one.title) == 80
    assert one.title.endswith("xxx...")


# -- CaFE --------------------------------------------------------------------------------------------------------

CAFE = "https://artist.callforentry.org/festivals-ajax.php"


@pytest.mark.parametrize("data", [[], {}, {"results": None}, {"results": {"0": {}}}, "no"])
def test_an_answer_of_cafe_without_results_is_said_to_be_none(data: Any) -> None:
    with pytest.raises(ReadError, match="no list of results"):
        read(Cafe(), as_json(data, CAFE))


def test_an_empty_answer_of_cafe_is_empty() -> None:
    assert read(Cafe(), as_json({"num-results": 0, "results": []}, CAFE)) == []


def test_rows_of_wrong_types_are_read_as_far_as_they_go() -> None:
    odd: list[Any] = [5, None, [], {}, {"FairId": "x"}, {"FairId": None, "fair_name": "A"}]
    odd += [{"FairId": 7, "fair_name": ["B"], "ProductCost": {"a": 1}, "fair_deadline": 20261016, "FairState": [1]}]
    odd += [{"FairId": "8", "fair_name": "<b>C</b>", "fair_description": 3, "fair_deadline": "0000-00-00"}]
    found = read(Cafe(), as_json({"results": odd}, CAFE))
    assert [(one.title, one.deadline, one.fee_amount) for one in found] == [
        ("B", date(2026, 10, 16), None),
        ("C", None, None),
    ]


# -- boards ------------------------------------------------------------------------------------------------------


def test_a_listing_that_looks_otherwise_is_said_to() -> None:
    page = page_of(
        pages.html("Opportunities", "<main><div class='new-design'>Calls</div></main>"), "https://arts.ca.gov/"
    )
    with pytest.raises(ReadError, match="may look otherwise now"):
        list(California().parse(page))


def test_an_empty_listing_is_empty() -> None:
    assert list(California().parse(page_of(pages.california_list(()), "https://arts.ca.gov/opportunities/"))) == []


def test_a_board_that_shows_the_same_page_for_ever_is_left() -> None:
    scraper, page = California(), page_of(pages.california_list((MURAL,)), "https://arts.ca.gov/opportunities/")
    *_, onward = scraper.parse(page)
    again = Page(page.request.evolve(carry=onward.carry), page.response)
    assert [each.handler for each in scraper.parse(again)] == ["call"]


ODD = ("", "<html>", "{}", "[]", "null", '{"results": [[]]}', "<rss>", "\0\1", "<li class=job_listing><a>", "<article>")
KINDS = ("text/html", "application/json", "application/xml", "image/png")


@pytest.mark.parametrize("scraper", SCRAPERS, ids=lambda each: each.name)
def test_no_source_falls_over_a_page_that_nobody_knows(scraper: type[Scraper]) -> None:
    made = scraper()
    start = next(iter(made.start()))  # type: ignore[arg-type]
    url, handler = (start, "parse") if isinstance(start, str) else (start.url, start.handler)
    for body, kind in itertools.product(ODD, KINDS):
        page = page_of(body, url, kind)
        with contextlib.suppress(ReadError):  # which is what it is for; anything else is a fault of ours
            made.validate(page)
            assert [each for each in made.handler(handler)(page) if isinstance(each, Opportunity)] == []


# -- feeds and forums --------------------------------------------------------------------------------------------


def test_a_forum_of_wrong_types() -> None:
    odd = [
        1,
        {"data": None},
        {"data": {"title": 5, "permalink": 3}},
        {"data": {"title": "Open call", "permalink": "//evil"}},
    ]
    listing = {"kind": "Listing", "data": {"children": odd}}
    assert [one.url for one in read(Social(), as_json(listing, "https://www.reddit.com/r/x/new.json"))] in (
        [],
        ["https://www.reddit.com//evil"],
    )


def test_a_page_that_is_no_feed_is_said_to_be_none() -> None:
    with pytest.raises(ReadError, match="neither a feed"):
        read(Social(), page_of("<h1>Moved</h1>", "https://hyperallergic.com/feed/"))


# -- pages of any sort -------------------------------------------------------------------------------------------


def test_a_block_without_a_link_is_known_by_its_title() -> None:
    page = page_of(
        "<article><h3>Open call: Bells</h3><p>Deadline: June 3, 2026</p></article>", "https://a.example/x?y=1"
    )
    (one,) = candidates.read(page)
    assert one.url == "https://a.example/x?y=1#:~:text=Open%20call%3A%20Bells"


def test_navigation_and_words_in_passing_are_no_calls() -> None:
    html = """<nav><div class="item">Grants</div></nav><div class="card"><h3>About</h3><p>Grants and awards.</p></div>
    <div class="card"><h3>Tea</h3><p>apply</p></div><footer><div class="row"><h4>Open calls</h4>
    Deadline: May 1, 2027</div></footer>"""
    assert candidates.read(page_of(html, "https://a.example/")) == []


def test_a_call_with_sections_is_one_call() -> None:
    html = """<article><h2><a href="/bells">Bells in the Park</a></h2><h3>How to apply</h3><p>Apply by mail until the
    deadline: June 3, 2026.</p><h3>Who may apply</h3><p>All artists who live nearby.</p></article>"""
    (one,) = candidates.read(page_of(html, "https://a.example/"))
    assert (one.title, one.url, one.deadline) == ("Bells in the Park", "https://a.example/bells", "June 3, 2026")


def test_headings_alone_are_enough_where_there_are_no_blocks() -> None:
    found = candidates.read(page_of(pages.paragraphs("Calls", GENERAL), "https://a.example/"))
    assert [one.title for one in found] == [f"Call for entries: {call.title}" for call in GENERAL]


def test_what_is_said_for_machines_is_read_on_showsubmit() -> None:
    event = {
        "@type": "Event",
        "name": FAIRS[0].title,
        "url": "https://www.showsubmit.com/show/x",
        "endDate": "2026-10-01",
        "organizer": {"@type": "Organization", "name": "Linden Park Friends"},
    }
    data = {
        "@context": "https://schema.org",
        "@type": "ItemList",
        "itemListElement": [{"@type": "ListItem", "item": event}],
    }
    script = f'<script type="application/ld+json">{json.dumps(data)}</script>'
    (scraper,) = (each() for each in SCRAPERS if each.name == "art.showsubmit")
    (one,) = read(
        scraper, page_of(pages.html("Open calls", "<main></main>", script), "https://www.showsubmit.com/open-calls")
    )
    assert (one.title, str(one.deadline), one.organization) == (FAIRS[0].title, "2026-10-01", "Linden Park Friends")


@pytest.mark.parametrize(
    "body",
    [
        "<div class=row>" * 3_000 + "<h2>Open call x</h2>",
        "<div class=row><h2>Open call</h2><p>apply by June 1, 2026" * 2_000,
        "<div class=row>" + "<div class=card><h2>Open call</h2><p>apply</p></div>" * 5_000,
        "<div>" + "<h2>Open call</h2>" * 40_000,
        "<div class=post>" * 50 + "<h2>Open call</h2><p>x" * 30_000,
        "".join(f"<article><h2>Open call {n}</h2><p>{'$1 6/1/2026 fee ' * 40}</article>" for n in range(1_500)),
        "<ul>" + "<li class=listing>apply" * 100_000,
        "<article><h2>Open call</h2>" + "deadline: " * 50_000,
        "<article><h2>Open call</h2>" + "in Aa Bb Cc, " * 20_000,
    ],
)
def test_a_hostile_page_costs_little(body: str) -> None:
    began = time.process_time()
    candidates.read(page_of(body, "https://a.example/"))
    assert time.process_time() - began < 60
