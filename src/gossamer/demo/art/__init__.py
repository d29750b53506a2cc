"""Pages in the structure of the sites that the pack `art` reads. Everything in them is invented."""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import parse_qs

from gossamer.demo.art import calls, pages
from gossamer.demo.art.calls import Call
from gossamer.testing import Answer, Hit, Site

_GENERAL = (
    "www.callforentry.org",
    "artistsnetwork.org",
    "www.artquest.org.uk",
    "www.artconnect.com",
    "www.artrabbit.com",
    "www.artjobs.com",
    "artistcommunities.org",
    "www.transartists.org",
    "www.arts.gov",
    "creative-capital.org",
    "artopportunitiesmonthly.com",
    "artistopportunities.org",
    "www.seattle.gov",
    "www.austintexas.gov",
    "www.submittable.com",
)
_FEEDS = (
    "hyperallergic.com",
    "news.artnet.com",
    "www.artforum.com",
    "www.artnews.com",
    "www.artsjournal.com",
    "www.artsy.net",
    "www.theartnewspaper.com",
)
#: The hosts they stand in for.
HOSTS: tuple[str, ...] = (
    "www.instagram.com",
    "artist.callforentry.org",
    "arts.ca.gov",
    "azarts.gov",
    "www.nyfa.org",
    "www.arts.texas.gov",
    "floridaarts.org",
    "www.oregonartscommission.org",
    "www.artworkarchive.com",
    "artcall.org",
    "artdeadline.com",
    "resartis.org",
    "www.zapplication.org",
    "www.showsubmit.com",
    "client.smarterentry.com",
    "www.reddit.com",
    *_GENERAL,
    *_FEEDS,
)
#: What scrapers are asked for here, by name: the pages are of certain days.
PARAMS: Mapping[str, Mapping[str, str]] = {}

#: The hashtag that is behind a login wall.
WALLED = "artsubmission"
_XML = {"Content-Type": "application/rss+xml"}


def install(site: Site) -> None:
    """Add the pages to a site, each host below a path of its own name."""
    _councils(site)
    _archive(site)
    _boards(site)
    _cafe(site)
    _instagram(site)
    _general(site)
    _social(site)


def _councils(site: Site) -> None:
    query = "fwp_job_category_tags=artist-calls%2Cgrants&fwp_paged="
    for number, some in enumerate((calls.CALIFORNIA[:2], calls.CALIFORNIA[2:], ()), 1):
        site.page(f"/arts.ca.gov/opportunities/?{query}{number}", pages.california_list(some))
    for call in calls.CALIFORNIA:
        site.page(f"/arts.ca.gov/collective/{call.slug}/", pages.california_call(call))
    for number, listed in enumerate((calls.ARIZONA, ()), 1):
        url = f"/azarts.gov/opportunities/arts-opportunities/?sort_order=date+desc&sf_paged={number}"
        site.page(url, pages.arizona_list(listed))
    for call in calls.ARIZONA:
        site.page(f"/azarts.gov/opportunities/{call.slug}/", pages.arizona_call(call))
    site.page("/www.nyfa.org/opportunities/", pages.cards("Opportunities", calls.NEW_YORK))
    site.page("/www.arts.texas.gov/resources/jobs-opportunities/", pages.cards("Jobs and Opportunities", calls.TEXAS))
    # For a scraper of one's own, as the documentation shows one.
    site.page("/www.oregonartscommission.org/opportunities", pages.cards("Opportunities", calls.OREGON))
    site.page("/floridaarts.org/opportunities/", pages.paragraphs("Opportunities", calls.FLORIDA))


def _archive(site: Site) -> None:
    root = "/www.artworkarchive.com/call-for-entry"
    for number, some in enumerate((calls.ARCHIVED[:2], calls.ARCHIVED[2:], ()), 1):
        site.page(f"{root}?page={number}", pages.archive_list(some))
    for state in ("California", "New York", "Texas", "Florida", "Arizona", "Oregon"):
        listed = [call for call in calls.ARCHIVED if call.state == state]
        site.page(f"{root}/{state.lower().replace(' ', '-')}", pages.archive_list(listed))
    for call in calls.ARCHIVED:
        site.page(f"{root}/{call.slug}", pages.archive_call(call))


def _boards(site: Site) -> None:
    site.page("/artcall.org/calls?page=1", pages.artcall_list(calls.BOARDED))
    site.page("/artcall.org/calls?page=2", pages.artcall_list(()))
    site.page("/artdeadline.com/", pages.artdeadline_list(calls.LISTED[:1], "/page/2/"))
    site.page("/artdeadline.com/page/2/", pages.artdeadline_list(calls.LISTED[1:]))
    for call in calls.LISTED:
        site.page(f"/artdeadline.com/opportunities/{call.slug}/", pages.artdeadline_call(call))
    site.page("/resartis.org/open-calls/", pages.resartis_list(calls.ABROAD))
    for call in calls.ABROAD:
        site.page(f"/resartis.org/open-call/{call.slug}/", pages.resartis_call(call))
    site.page("/www.zapplication.org/participating-events.php", pages.zapplication_list(calls.FAIRS))
    for call in calls.FAIRS:
        site.page(f"/www.zapplication.org/event-info.php?ID={call.slug}", pages.zapplication_call(call))
    site.page("/www.showsubmit.com/open-calls", pages.showsubmit_list(calls.SHOWS))
    site.page("/client.smarterentry.com/calls", pages.smarterentry_list(calls.ENTRIES))
    for call in calls.ENTRIES:
        site.page(f"/client.smarterentry.com/call/{call.slug}", pages.smarterentry_call(call))


def _cafe(site: Site) -> None:
    """A search that is asked by POST, as a script of the page asks; others get the page."""
    listed = (calls.MURAL, *calls.TEXAS, *calls.BOARDED)

    def search(hit: Hit) -> Answer:
        if hit.method != "POST" or hit.headers.get("x-requested-with") != "XMLHttpRequest":
            return Answer(body=pages.html("CaFE", "<h1>Find calls</h1>"))
        asked = {name: values[0] for name, values in parse_qs(hit.body.decode("utf-8", "replace")).items()}
        regions = [number for number in asked.get("region[]", "").split(",") if number]
        answer = pages.cafe_answer(listed)
        answer["results"] = [
            row
            for row in answer["results"]
            if (not regions or row["fair_state"] in regions) and asked.get("keyword", "") in row["fair_name"].lower()
        ]
        answer["num-results"] = len(answer["results"])
        return Answer(body=json.dumps(answer), headers={"Content-Type": "application/json"})

    site.handler("/artist.callforentry.org/festivals-ajax.php", search)


def _instagram(site: Site) -> None:
    """Ten hashtags: most as pages, some as the answers that other doors gave, one behind a wall."""
    root = "/www.instagram.com/explore/tags"
    posted = (calls.MURAL, *calls.GENERAL)
    for tag in ("artopportunity", "artistopportunity", "artresidency", "artcall", "artexhibition"):
        entry = {"TagPage": [{"graphql": {"hashtag": pages.hashtag(tag, _some(tag, posted), "QVFD")}}]}
        site.page(f"{root}/{tag}/", pages.shared_page(tag, entry))
        more = {"graphql": {"hashtag": pages.hashtag(tag, calls.ABROAD)}}
        site.json(f"{root}/{tag}/?__a=1&max_id=QVFD", more)
    site.page(
        f"{root}/artgrant/", pages.shared_page("artgrant", {"TagPage": [pages.old_tag("artgrant", calls.TEXAS[1:])]})
    )
    site.json(f"{root}/artcompetition/", {"graphql": {"hashtag": pages.hashtag("artcompetition", calls.LISTED[1:])}})
    site.json(f"{root}/artistcall/", {"data": {"hashtag": pages.hashtag("artistcall", calls.SHOWS)}, "status": "ok"})
    site.json(f"{root}/callforartists/", pages.sections("callforartists", calls.FAIRS))
    site.page(f"{root}/{WALLED}/", pages.shared_page(WALLED, {"LoginAndSignupPage": [{"captcha": {"enabled": False}}]}))


def _some(tag: str, posted: tuple[Call, ...]) -> tuple[Call, ...]:
    """Two of the calls for each hashtag, others for others."""
    first = len(tag) % len(posted)
    return (posted[first], posted[(first + 1) % len(posted)])


def _general(site: Site) -> None:
    """Pages of many sites: calls on the first two, a word of welcome on the others."""
    site.page("/www.callforentry.org/", pages.cards("Call for Entry", calls.GENERAL[:1]))
    site.page("/www.artquest.org.uk/opportunities/", pages.paragraphs("Opportunities", calls.GENERAL[1:]))
    paths = {
        "artistsnetwork.org": "/art-competitions/",
        "www.artconnect.com": "/opportunities",
        "www.artrabbit.com": "/artist-opportunities",
        "artistcommunities.org": "/residencies",
        "www.transartists.org": "/en/map",
        "www.arts.gov": "/grants",
        "creative-capital.org": "/open-opportunities/",
        "www.seattle.gov": "/arts/opportunities",
        "www.austintexas.gov": "/department/art-grants",
        "www.submittable.com": "/discover",
    }
    quiet = pages.html("Welcome", "<main><h1>Welcome</h1><p>There is nothing to enter today.</p></main>")
    for host in _GENERAL:
        if host not in ("www.callforentry.org", "www.artquest.org.uk"):
            site.page(f"/{host}{paths.get(host, '/')}", quiet)


def _social(site: Site) -> None:
    """Feeds and forums; a call in some of them."""
    paths = {"www.artsy.net": "/rss/news", "www.theartnewspaper.com": "/rss.xml"}
    slashed = ("hyperallergic.com", "www.artforum.com", "www.artnews.com")
    for n, host in enumerate(_FEEDS):
        path = paths.get(host, "/feed/" if host in slashed else "/feed")
        site.page(f"/{host}{path}", pages.feed(host, calls.GENERAL[n : n + 1]), headers=_XML)
    for n, name in enumerate(("artbusiness", "artcommissions", "artists", "artjobs")):
        site.json(f"/www.reddit.com/r/{name}/new.json?limit=100", pages.forum(name, calls.SHOWS[n : n + 1]))
