"""Feeds of art news, and forums: what is said there of something to apply for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from gossamer import Page, ReadError, Request
from gossamer.packs.art.found import Found
from gossamer.packs.art.source import ArtSource
from gossamer.parse import clean, feeds, plain

__all__ = ["FEEDS", "FORUMS", "Social"]

FEEDS: Final = (
    "https://hyperallergic.com/feed/",
    "https://news.artnet.com/feed",
    "https://www.artforum.com/feed/",
    "https://www.artnews.com/feed/",
    "https://www.artsjournal.com/feed",
    "https://www.artsy.net/rss/news",
    "https://www.theartnewspaper.com/rss.xml",
)
FORUMS: Final = ("artbusiness", "artcommissions", "artists", "artjobs")
_MOST: Final = 500
#: News speak of exhibitions, awards and grants every day: what can be applied for says so in other words.
_STRONG: Final = re.compile(
    r"\b(?:open calls?|calls? (?:for|to) (?:artists?|entr(?:y|ies)|art|submissions|proposals|applications|work)"
    r"|artists wanted|seeking artists|apply (?:by|now|here|for|to)|applications? (?:are )?(?:open|due|deadline)"
    r"|now accepting|accepting (?:applications|submissions)|submissions? (?:are )?(?:open|due|deadline)"
    r"|opportunities for artists|artists?['’]? opportunities|opportunities in \w+|(?:entry|submission) deadline)\b",
    re.IGNORECASE,
)
_WEAK: Final = re.compile(
    r"\b(residenc(?:y|ies)|grants?|fellowships?|competitions?|contests?|deadlines?|stipends?|commissions?|submissions?"
    r"|opportunit(?:y|ies)|apply|applications?|juried)\b",
    re.IGNORECASE,
)
#: Different words of the weaker sort that together make an opportunity of a post.
_ENOUGH: Final = 3


class Social(ArtSource):
    """Feeds of art news, and four forums of Reddit: posts that speak of something to apply for."""

    name = "art.social"
    rate = "10/min"
    per_host = 1
    revisit = "always"
    every = "2h"
    first_delay = "1m"
    jitter = "2m"
    start_urls = (*FEEDS, *(f"https://www.reddit.com/r/{name}/new.json?limit=100" for name in FORUMS))

    def start(self) -> Iterable[Request]:
        """The feeds, and the forums."""
        return (Request(str(url)) for url in self.start_urls)

    def parse(self, page: Page) -> Any:
        """What a feed or a forum says of opportunities."""
        for found in posts(page):
            if speaks(found.title or "", found.description or ""):
                yield from self.made(found, page, kind="social_media")


def speaks(title: str, text: str) -> bool:
    """Whether a post is about something one can apply for."""
    whole = f"{title}\n{text[:5_000]}"
    return bool(_STRONG.search(whole)) or len({word.lower() for word in _WEAK.findall(whole)}) >= _ENOUGH


def posts(page: Page) -> Iterator[Found]:
    """The posts of a feed, or of a listing of Reddit. Raises ReadError for what is neither."""
    if page.kind == "json":
        answer = page.json()
        listing = answer.get("data") if isinstance(answer, dict) and answer.get("kind") == "Listing" else None
        if isinstance(listing, dict) and isinstance(listing.get("children"), list):
            yield from _of_reddit(listing["children"][:_MOST])
            return
    entries = feeds.read(page)
    if not entries and page.kind != "feed":
        raise ReadError("the page is neither a feed nor a listing of posts: it may have moved")
    for entry in entries[:_MOST]:
        yield Found(
            title=entry.title,
            url=entry.url,
            description=plain.prose(entry.content) or entry.summary,
            image=entry.image,
            posted=entry.published,
            tags=entry.tags,
        )


def _of_reddit(children: list[Any]) -> Iterator[Found]:
    for child in children:
        post = child.get("data") if isinstance(child, dict) else None
        if not isinstance(post, dict) or post.get("stickied") or post.get("over_18"):
            continue
        path = post.get("permalink")
        flair = post.get("link_flair_text")
        picture = post.get("thumbnail")
        yield Found(
            title=plain.name(post.get("title")),
            url=f"https://www.reddit.com{path}" if isinstance(path, str) and path.startswith("/") else None,
            description=plain.prose(post.get("selftext")),
            image=picture if isinstance(picture, str) and picture.startswith("http") else None,
            posted=clean.moment(post.get("created_utc")),
            category=flair if isinstance(flair, str) else None,
        )
