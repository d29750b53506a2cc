"""Pages and answers in the structure of the sites that the pack `art` reads, made of invented calls."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from gossamer.demo.art.calls import Call, slashed

#: When the posts of the hashtags were taken, in seconds since 1970: the first of September 2026.
TAKEN = 1_788_220_800


def html(title: str, body: str, head: str = "") -> str:
    """A whole page."""
    return (
        f'<!doctype html>\n<html lang="en-US"><head><meta charset="utf-8"><title>{escape(title)}</title>{head}</head>'
        f"<body>{body}</body></html>"
    )


# -- councils


def california_list(calls: Sequence[Call]) -> str:
    """A page of the board of the California Arts Council."""
    entries = "".join(
        f'<li class="job_listing type-job_listing"><a href="https://arts.ca.gov/collective/{call.slug}/">'
        f'<div class="position"><h3>{escape(call.title)} - Freelance, Artist Calls</h3>'
        f'<div class="job_company"><strong>{escape(call.who)}</strong></div></div>'
        f'<div class="location">{escape(call.city)} | Deadline: {call.us}</div></a></li>'
        for call in calls
    )
    return html("Opportunities", f'<main><h1>Opportunities</h1><ul class="job_listings">{entries}</ul></main>')


def california_call(call: Call) -> str:
    """The page of a call there."""
    body = (
        f'<div class="single_job_listing"><h1>{escape(call.title)} - Freelance, Artist Calls</h1>'
        f'<div class="job_description"><p>{escape(call.text)}</p></div></div>'
    )
    return html(call.title, body)


def arizona_list(calls: Sequence[Call]) -> str:
    """A page of the board of the Arizona Commission on the Arts; without calls, the one after the last."""
    entries = "".join(
        f'<div class="search-result"><h3><a href="/opportunities/{call.slug}/">{escape(call.title)}</a></h3></div>'
        for call in calls
    )
    return html("Arts Opportunities", f"<main><h1>Arts Opportunities</h1>{entries or '<p>No Results Found</p>'}</main>")


def arizona_call(call: Call) -> str:
    """The page of a call there."""
    body = (
        f"<main><h1>{escape(call.title)}</h1><p>Organization/Company: {escape(call.who)}</p>"
        f"<p>Deadline: {slashed(call.deadline)}</p><p>Location: {call.city}, AZ</p><p>{escape(call.text)}</p></main>"
    )
    return html(call.title, body)


def cards(title: str, calls: Sequence[Call]) -> str:
    """A page that lists calls in blocks within blocks: each is to be read once."""
    entries = "".join(
        f'<div class="row"><div class="card opportunity-card"><article class="post"><h2>'
        f'<a href="/opportunities/{call.slug}/">{escape(call.title)}</a></h2><p>{escape(call.text)}</p>'
        f"<p>Organization: {escape(call.who)}</p><p>Deadline: {call.long}</p>"
        f"<p>Location: {escape(call.city)}, {escape(call.state)}</p>"
        f'<a href="/opportunities/{call.slug}/">Learn more</a></article></div></div>'
        for call in calls
    )
    return html(title, f"<nav><div class='row'><a href='/'>Home</a></div></nav><main><h1>{title}</h1>{entries}</main>")


def paragraphs(title: str, calls: Sequence[Call]) -> str:
    """A page that lists calls under headings, in no markup of its own."""
    entries = "".join(
        f"<section><h3>Call for entries: {escape(call.title)}</h3><p>{escape(call.text)} In {call.city}, {call.state}."
        f" Applications due: {call.long}.</p>"
        f'<a href="/calls/{call.slug}">More info</a></section>'
        for call in calls
    )
    return html(title, f"<h1>{title}</h1>{entries}")


# -- Artwork Archive


def archive_list(calls: Sequence[Call]) -> str:
    """A page of calls: the first is featured."""
    entries = "".join(
        f'<a href="/call-for-entry/{call.slug}"><div class="call-container call-container-'
        f'{"basic" if n else "featured"}"><h3>{escape(call.title)}</h3><p>{escape(call.who)}</p></div></a>'
        for n, call in enumerate(calls)
    )
    return html("Calls for Entry", f'<main><div class="calls-container">{entries}</div></main>')


def archive_call(call: Call) -> str:
    """The page of a call there."""
    lines = {
        "Organization": call.who,
        "Submission Deadline": call.long,
        "Event Dates": call.runs,
        "Entry Fee": call.fee or "Free",
        "Type": call.sort,
        "Eligibility": call.eligibility,
        "Location": f"{call.city}, {call.state}",
    }
    said = "".join(f"<p><strong>{name}:</strong> {escape(value)}</p>" for name, value in lines.items() if value)
    body = (
        f'<main><div class="call-hero-container"><h2>{escape(call.title)}</h2>'
        f'<p class="call-date">{call.long}</p></div>'
        f"{said}<p>{escape(call.text)}</p></main>"
    )
    return html(call.title, body)


# -- boards


def artcall_list(calls: Sequence[Call]) -> str:
    """Rows of ArtCall; the first call is featured above, and listed again."""
    rows = [_artcall_row(call, "row mb-5") for call in calls]
    featured = [_artcall_row(call, "row mb-5 featured") for call in calls[:1]]
    return html("Calls", f'<main><div class="container">{"".join(featured + rows)}</div></main>')


def _artcall_row(call: Call, name: str) -> str:
    return (
        f'<div class="{name}"><h3><a href="https://{call.who}.artcall.org/">{escape(call.title)}</a></h3>'
        f'<span class="badge bg-info">{call.state}</span><p>{escape(call.text)}</p>'
        f'<div><span class="h6">Entry Deadline:</span> {call.long}</div>'
        f'<div><span class="h6">Entry Fee:</span> {call.fee}</div>'
        f'<div><span class="h6">Eligibility:</span> {call.eligibility}</div></div>'
    )


def artdeadline_list(calls: Sequence[Call], after: str = "") -> str:
    """A page of ArtDeadline, with a link to the next one."""
    entries = "".join(
        f'<li class="job"><dl><dd class="title"><strong><a href="/opportunities/{call.slug}/">{escape(call.title)}</a>'
        f"</strong></dd></dl></li>"
        for call in calls
    )
    more = f'<a class="next page-numbers" href="{after}">Next</a>' if after else ""
    return html("Art Deadline", f'<main><ol class="jobs">{entries}</ol>{more}</main>')


def artdeadline_call(call: Call) -> str:
    """The page of a call there."""
    body = (
        f'<main><h1 class="title">{escape(call.title)}</h1><span class="type">{call.sort}</span>'
        f"<p>Deadline: {call.long} - {escape(call.who)}</p><p>Organization: {escape(call.who)}</p>"
        f"<p>Location: {call.city}, {call.state}</p><p>{escape(call.text)}</p></main>"
    )
    return html(call.title, body)


def resartis_list(calls: Sequence[Call]) -> str:
    """The open calls of Res Artis."""
    entries = "".join(
        f'<div class="grid__item postcard"><article><h2><a href="/open-call/{call.slug}/">{escape(call.title)}</a></h2>'
        "</article></div>"
        for call in calls
    )
    return html("Open calls", f'<main><div class="grid">{entries}</div></main>')


def resartis_call(call: Call) -> str:
    """The page of a call there, with days as its form has them."""
    body = (
        f'<h1 class="entry-title">{escape(call.title)}</h1><div class="entry-content"><p>{escape(call.text)}</p>'
        f"<p>Organization: {escape(call.who)}</p><p>Application deadline {call.deadline:%Y-%m-%d}</p>"
        f"<p>Residency starts {call.starts:%Y/%m/%d}</p><p>Residency ends {call.ends:%Y/%m/%d}</p></div>"
    )
    return html(call.title, body)


def zapplication_list(calls: Sequence[Call]) -> str:
    """Events that take applications."""
    entries = "".join(f'<li><a href="event-info.php?ID={call.slug}">{escape(call.title)}</a></li>' for call in calls)
    return html("Participating Events", f'<main id="events"><ul>{entries}</ul></main>')


def zapplication_call(call: Call) -> str:
    """The page of an event there."""
    body = (
        f"<main><h1>{escape(call.title)}</h1><p>Application Deadline: {call.short}</p>"
        f"<p>Event Dates: {slashed(call.starts)} - {slashed(call.ends)}</p><p>Fee: {call.fee}</p>"
        f"<p>Location: {call.city}, IL</p><p>{escape(call.text)}</p></main>"
    )
    return html(call.title, body)


def showsubmit_list(calls: Sequence[Call]) -> str:
    """Shows, with deadlines that have no year."""
    entries = "".join(
        f'<div class="card show"><h3>{escape(call.title)}</h3><p>Organization: {escape(call.who)}</p>'
        f"<p>Deadline: {call.long.partition(',')[0]}</p><p>Exhibition dates: {call.runs}</p>"
        f"<p>Location: {call.city}, OH</p>"
        f'<a href="/show/{call.slug}">Details</a></div>'
        for call in calls
    )
    return html("Open calls", f'<main class="open-calls">{entries}</main>')


def smarterentry_list(calls: Sequence[Call]) -> str:
    """Calls of SmarterEntry."""
    entries = "".join(f'<li><a href="/call/{call.slug}">{escape(call.title)}</a></li>' for call in calls)
    return html("Calls", f'<main class="calls"><ul>{entries}</ul></main>')


def smarterentry_call(call: Call) -> str:
    """The page of a call there: days with an hour and a zone."""
    lines = {
        "Host": call.who,
        "Start Date": f"{call.starts:%m/%d/%Y} 12:00:00 AM (PT)",
        "End Date": f"{call.us} 11:59:00 PM (PT)",
        "Fee": call.fee,
    }
    said = "".join(f"<p>{name}: {escape(value)}</p>" for name, value in lines.items())
    return html(call.title, f"<main><h1>{escape(call.title)}</h1>{said}<p>{escape(call.text)}</p></main>")


# -- CaFE


def cafe_answer(calls: Iterable[Call]) -> dict[str, Any]:
    """What CaFE's search answers: all calls at once."""
    numbers = {"California": "5", "New York": "32", "Texas": "43", "Oregon": "37"}
    rows = [
        {
            "id": str(800 + n),
            "FairId": str(16_400 + n),
            "fair_name": f"Call for Artists: {call.title}",
            "organization_name": call.who,
            "fair_url": "",
            "fair_deadline": f"{call.deadline:%Y-%m-%d}" if call.deadline else "0000-00-00",
            "Deadline": call.short,
            "event_start": f"{call.starts:%Y-%m-%d}" if call.starts else "0000-00-00",
            "event_end": f"{call.ends:%Y-%m-%d}" if call.ends else "0000-00-00",
            "fair_city": call.city,
            "fair_state": numbers.get(call.state, "1"),
            "FairState": call.state,
            "FairType": {"Public Art": "Public Art", "Grant": "Grants"}.get(call.sort, "Exhibitions"),
            "FairEligibility": call.eligibility,
            "ProductCost": call.fee.lstrip("$") or None,
            "fair_short_desc": call.text[:40],
            "fair_description": f"<p>{escape(call.text)}</p>",
        }
        for n, call in enumerate(calls)
    ]
    return {"num-results": len(rows), "results": rows}


# -- Instagram: one builder for each shape


def _caption(n: int, call: Call, tag: str) -> str:
    return f"{call.title}\n{call.text}\nDeadline: {call.long}\n#{tag} #art{n}"


def node(n: int, call: Call, tag: str) -> dict[str, Any]:
    """A post, as graphql has it."""
    return {
        "__typename": "GraphImage",
        "id": str(310_000 + n),
        "shortcode": f"Dm{tag[:6]}{n}",
        "edge_media_to_caption": {"edges": [{"node": {"text": _caption(n, call, tag)}}]},
        "edge_media_to_comment": {"count": n},
        "edge_liked_by": {"count": 10 * n},
        "taken_at_timestamp": TAKEN + 3_600 * n,
        "display_url": f"https://pictures.example/{tag}/{n}.jpg",
        "is_video": False,
        "owner": {"id": str(70 + n)},
    }


def hashtag(tag: str, calls: Sequence[Call], cursor: str | None = None) -> dict[str, Any]:
    """A hashtag with its posts; among them one about lunch, and one without a word."""
    nodes = [node(n, call, tag) for n, call in enumerate(calls)]
    lunch = {
        **node(90, calls[0], tag),
        "edge_media_to_caption": {"edges": [{"node": {"text": "Lunch at the studio."}}]},
    }
    silent = {**node(91, calls[0], tag), "edge_media_to_caption": {"edges": []}}
    info = {"has_next_page": cursor is not None, "end_cursor": cursor}
    edges = [{"node": one} for one in (*nodes, lunch, silent)]
    return {"name": tag, "edge_hashtag_to_media": {"count": len(edges), "page_info": info, "edges": edges}}


def shared_page(tag: str, entry: dict[str, Any]) -> str:
    """A page that shares its data with its scripts."""
    data = {"config": {"viewer": None}, "entry_data": entry, "hostname": "www.instagram.com"}
    script = f'<script type="text/javascript">window._sharedData = {json.dumps(data)};</script>'
    return html(f"#{tag} hashtag on Instagram", f'<span id="react-root"></span>{script}')


def old_tag(tag: str, calls: Sequence[Call]) -> dict[str, Any]:
    """A hashtag as the first version had it."""
    nodes = [
        {
            "code": f"Bo{tag[:6]}{n}",
            "date": TAKEN + n,
            "display_src": f"https://pictures.example/{tag}/old{n}.jpg",
            "caption": _caption(n, call, tag),
        }
        for n, call in enumerate(calls)
    ]
    return {"tag": {"name": tag, "media": {"nodes": nodes, "page_info": {"has_next_page": False}}}}


def sections(tag: str, calls: Sequence[Call]) -> dict[str, Any]:
    """A hashtag as the newest answers have it."""
    medias = [
        {
            "media": {
                "code": f"Zn{tag[:6]}{n}",
                "taken_at": TAKEN + n,
                "caption": {"text": _caption(n, call, tag)},
                "image_versions2": {"candidates": [{"url": f"https://pictures.example/{tag}/new{n}.jpg"}]},
            }
        }
        for n, call in enumerate(calls)
    ]
    recent = {"sections": [{"layout_content": {"medias": medias}}], "more_available": False}
    return {"data": {"name": tag, "recent": recent}, "status": "ok"}


# -- feeds and forums


def feed(host: str, calls: Sequence[Call]) -> str:
    """An RSS feed: a piece of news that is no call, and a call."""
    entries = "".join(
        f"<item><title>Open Call: {escape(call.title)}</title><link>https://{host}/{call.slug}</link>"
        f"<description>{escape(call.text)} Apply by {call.long}.</description><category>Opportunities</category>"
        f"<pubDate>Tue, 01 Sep 2026 08:00:00 +0000</pubDate></item>"
        for call in calls
    )
    news = f"<item><title>A Museum Shows Its Drawings</title><link>https://{host}/news</link></item>"
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>{host}</title>{news}{entries}</channel></rss>'


def forum(name: str, calls: Sequence[Call]) -> dict[str, Any]:
    """A listing of Reddit: a rule that is pinned, a question, and calls."""
    posts: list[dict[str, Any]] = [
        {"title": "Rules of this place: apply here", "permalink": f"/r/{name}/comments/0/", "stickied": True},
        {"title": "How do you clean your brushes?", "permalink": f"/r/{name}/comments/1/", "selftext": "Asking."},
    ]
    posts += [
        {
            "title": f"[Call] {call.title}",
            "permalink": f"/r/{name}/comments/{call.slug}/",
            "selftext": f"{call.text}\nSubmission deadline: {call.long}",
            "created_utc": TAKEN + n,
            "link_flair_text": "Open call",
            "thumbnail": "self",
        }
        for n, call in enumerate(calls)
    ]
    children = [{"kind": "t3", "data": {"subreddit": name, **post}} for post in posts]
    return {"kind": "Listing", "data": {"after": None, "children": children}}
