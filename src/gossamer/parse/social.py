"""Social pages: profiles and posts, and the card that any page gives to be shared.

Where a site keeps its data in scripts, as Instagram, TikTok and others do, all posts of the page are read from there.
A login wall has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from gossamer import urls
from gossamer.errors import ReadError
from gossamer.parse import clean, embedded, opengraph, plain, socialdata, structured, walls
from gossamer.parse.page import Page
from gossamer.parse.pagedates import PageDates

__all__ = ["Social", "read"]


class Social(msgspec.Struct, frozen=True, kw_only=True):
    """A profile, a post, or the card of a page."""

    #: Where it can be seen.
    url: str | None = None
    #: "instagram", "tiktok", "x" ...; None for other sites.
    platform: str | None = None
    #: "profile", "post" or "card".
    type: str = "card"
    #: Of a post the first line of its text, if it has no title of its own.
    title: str | None = None
    description: str | None = None
    image: str | None = None
    #: What the site calls itself.
    site: str | None = None
    #: The name of who wrote it, or whose profile it is, and the name they have on the site.
    author: str | None = None
    handle: str | None = None
    followers: int | None = None
    following: int | None = None
    posts: int | None = None
    likes: int | None = None
    comments: int | None = None
    shares: int | None = None
    views: int | None = None
    #: ISO 8601.
    published: str | None = None
    #: All that a post says.
    text: str | None = None
    #: Without # and @.
    hashtags: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    #: Pictures and films.
    media: tuple[str, ...] = ()


#: Registered domain -> what the site is called here.
_PLATFORMS: Final = {
    "instagram.com": "instagram",
    "facebook.com": "facebook",
    "x.com": "x",
    "twitter.com": "x",
    "tiktok.com": "tiktok",
    "youtube.com": "youtube",
    "youtu.be": "youtube",
    "linkedin.com": "linkedin",
    "reddit.com": "reddit",
    "pinterest.com": "pinterest",
    "threads.net": "threads",
    "threads.com": "threads",
    "bsky.app": "bluesky",
    "bsky.social": "bluesky",
    "tumblr.com": "tumblr",
    "t.me": "telegram",
    "vk.com": "vk",
    "mastodon.social": "mastodon",
    "vimeo.com": "vimeo",
    "flickr.com": "flickr",
    "snapchat.com": "snapchat",
}
#: Where a post of a site is, by its id and its author's handle.
_POST_URLS: Final = {
    "instagram": "https://www.instagram.com/p/{id}/",
    "tiktok": "https://www.tiktok.com/@{handle}/video/{id}",
    "x": "https://x.com/{handle}/status/{id}",
    "youtube": "https://www.youtube.com/watch?v={id}",
}
_PROFILE_URLS: Final = {
    "instagram": "https://www.instagram.com/{handle}/",
    "tiktok": "https://www.tiktok.com/@{handle}",
    "x": "https://x.com/{handle}",
    "bluesky": "https://bsky.app/profile/{handle}",
}
#: Letters of a post's title, as many as fit one line.
_TITLE: Final = 80


def read(page: Page) -> list[Social]:
    """What a social page holds: its posts, its profile; of any other page its card. [] for a login wall."""
    reading = _Reading(page)
    if page.kind == "json":
        try:
            return reading.of_data([page.json()])
        except ReadError:
            return []
    if (page.kind != "html" and not page.is_html) or walls.wall(page) is not None:
        return []
    found = reading.of_data(embedded.states(page))
    return found or reading.declared() or reading.card()


class _Reading:
    """One page being read."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.platform = _PLATFORMS.get(urls.registered_domain(urls.hostname(page.url)))
        self.dates = PageDates(page)

    # -- data of the site itself ---------------------------------------------------------------------------------

    def of_data(self, values: list[Any]) -> list[Social]:
        """Profiles and posts in JSON: of an API, or of the scripts of a page."""
        made: dict[str, Social] = {}
        for value in values:
            if not isinstance(value, dict | list):
                continue
            for fields in self._profiles(value):
                profile = self._profile(fields)
                made.setdefault(f"@{(profile.handle or '').lower()}", profile)
            for fields in socialdata.posts(value, known=self.platform is not None):
                post = self._post(fields)
                made.setdefault(post.url or str(fields["id"]), post)
        return list(made.values())

    def _profiles(self, value: Any) -> Iterator[dict[str, Any]]:
        """The profile that the page is about; all of them in what an API answers."""
        found = list(socialdata.profiles(value))
        if self.page.kind == "json":
            yield from found
        elif self.platform is not None:
            path = self.page.url.lower().partition("?")[0].split("/")
            about = [one for one in found if one["handle"].lower().lstrip("@") in [part.lstrip("@") for part in path]]
            yield from about or (found if len(found) == 1 else [])

    def _profile(self, fields: dict[str, Any]) -> Social:
        handle = fields["handle"].lstrip("@")
        words, names = socialdata.tags(fields["description"])
        return Social(
            url=self._link(fields.get("link"), _PROFILE_URLS, "", handle) or self._own_url(),
            platform=self.platform,
            type="profile",
            title=fields["author"] or handle,
            description=fields["description"],
            image=clean.url(fields["picture"], self.page.url),
            site=self.platform,
            author=fields["author"],
            handle=handle,
            followers=fields["followers"],
            following=fields["following"],
            posts=fields["posts"],
            likes=fields["likes"],
            hashtags=words,
            mentions=names,
        )

    def _post(self, fields: dict[str, Any]) -> Social:
        text = fields["text"]
        words, names = socialdata.tags(text or fields["name"])
        return Social(
            url=self._link(fields.get("link"), _POST_URLS, fields["id"], fields["handle"]),
            platform=self.platform,
            type="post",
            title=fields["name"] or _headline(text),
            image=clean.url(fields["picture"], self.page.url),
            site=self.platform,
            author=fields["author"],
            handle=fields["handle"],
            likes=fields["likes"],
            comments=fields["comments"],
            shares=fields["shares"],
            views=fields["views"],
            published=self.dates.moment(fields["published"]),
            text=text,
            hashtags=words,
            mentions=names,
            media=tuple(url for one in fields["media"] if (url := clean.url(one, self.page.url))),
        )

    def _link(self, given: str | None, known: dict[str, str], name: str, handle: str | None) -> str | None:
        """Where something is: as the data says, else as the site builds its addresses."""
        shape = known.get(self.platform or "")
        if shape and ("{handle}" not in shape or handle) and ("{id}" not in shape or name):
            return urls.resolve(shape.format(id=name, handle=handle), self.page.url)
        return clean.url(given, self.page.url) if given and "/" in given else None

    def _own_url(self) -> str | None:
        return self.page.url if self.page.kind != "json" else None

    # -- schema.org ----------------------------------------------------------------------------------------------

    def declared(self) -> list[Social]:
        """Profiles and posts in JSON-LD, microdata or RDFa."""
        made = [self._of_profile(one) for one in structured.of_type(self.page, "ProfilePage")]
        kinds = ("SocialMediaPosting",) if self.platform else ("DiscussionForumPosting",)
        made += [self._of_posting(one) for one in structured.of_type(self.page, *kinds)]
        if not made and self.platform:
            people = structured.of_type(self.page, "Person", "Organization")
            made = [self._of_profile({"mainEntity": one}) for one in people if one.get("interactionStatistic")]
        return [one for one in made if one.title or one.text]

    def _of_profile(self, thing: dict[str, Any]) -> Social:
        who = next((one for one in plain.each(thing.get("mainEntity")) if isinstance(one, dict)), thing)
        counts = {**_counts(who), **_counts(thing)}
        about = plain.prose(who.get("description"))
        handle = plain.name(who.get("alternateName")) or plain.name(who.get("identifier"))
        words, names = socialdata.tags(about)
        return Social(
            url=plain.link(who.get("url"), self.page.base_url) or self.page.url,
            platform=self.platform,
            type="profile",
            title=plain.name(who.get("name")),
            description=about,
            image=plain.link(who.get("image"), self.page.base_url),
            site=self._site(),
            author=plain.name(who.get("name")),
            handle=handle.lstrip("@") if handle else None,
            followers=counts.get("follow"),
            following=_counts(who, "agentInteractionStatistic").get("follow"),
            posts=_counts(who, "agentInteractionStatistic").get("write") or counts.get("write"),
            likes=counts.get("like"),
            hashtags=words,
            mentions=names,
        )

    def _of_posting(self, thing: dict[str, Any]) -> Social:
        counts = _counts(thing)
        text = plain.prose(thing.get("articleBody") or thing.get("text") or thing.get("description"))
        who = next(plain.each(thing.get("author")), None)
        handle = plain.name(who.get("alternateName")) if isinstance(who, dict) else None
        words, names = socialdata.tags(text)
        comments = clean.integer(next(plain.each(thing.get("commentCount")), None))
        pictures = tuple(plain.links(thing.get("image") or thing.get("sharedContent"), self.page.base_url))
        return Social(
            url=plain.link(thing.get("url"), self.page.base_url) or self.page.url,
            platform=self.platform,
            type="post",
            title=plain.name(thing.get("headline")) or plain.name(thing.get("name")) or _headline(text),
            image=pictures[0] if pictures else None,
            site=self._site(),
            author=plain.name(who),
            handle=handle.lstrip("@") if handle else None,
            likes=counts.get("like"),
            comments=counts.get("comment") if comments is None else comments,
            shares=counts.get("share"),
            views=counts.get("watch") or counts.get("view"),
            published=self.dates.moment(next(plain.each(thing.get("datePublished") or thing.get("dateCreated")), None)),
            text=text,
            hashtags=words,
            mentions=names,
            media=pictures,
        )

    def _site(self) -> str | None:
        return plain.name(opengraph.read(self.page.tree).get("og:site_name")) or self.platform

    # -- OpenGraph and Twitter cards -----------------------------------------------------------------------------

    def card(self) -> list[Social]:
        """What the page gives to be shared."""
        og = opengraph.read(self.page.tree)

        def said(*names: str) -> str | None:
            return next((text for name in names if (text := plain.name(og.get(name)))), None)

        title, about = said("og:title", "twitter:title"), said("og:description", "twitter:description")
        if not title and not about:
            return []
        image = said("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src")
        told = _told(title, about) if self.platform else {}
        films = [said("og:video:secure_url", "og:video", "og:video:url", "twitter:player:stream")]
        creator = said("twitter:creator")
        account = said("profile:username") or (creator if creator and creator[0] == "@" else None)
        kind = "profile" if "followers" in told or said("og:type") == "profile" else "card"
        fields: dict[str, Any] = {
            "url": clean.url(said("og:url"), self.page.base_url) or self.page.url,
            "platform": self.platform,
            "type": kind,
            "title": title,
            "description": about,
            "image": clean.url(image, self.page.base_url),
            "site": said("og:site_name") or self.platform,
            "author": said("article:author", "author"),
            "handle": account.lstrip("@") if account else None,
            "published": said("article:published_time", "og:published_time"),
            "media": tuple(url for one in (*films, image) if (url := clean.url(one, self.page.base_url))),
        }
        fields["hashtags"], fields["mentions"] = socialdata.tags(told.get("text") or about)
        fields.update(told)
        return [Social(**{**fields, "published": self.dates.moment(fields["published"])})]


_COUNT: Final = r"([\d.,]{1,15}\s?[KMB]?)"
_PROFILE_LINE: Final = re.compile(
    rf"{_COUNT} Followers?,\s{_COUNT} Following,\s{_COUNT} Posts?(?:.{{0,120}}?@([\w.]{{1,40}}))?", re.IGNORECASE
)
_POST_LINE: Final = re.compile(
    rf"{_COUNT} likes?,\s{_COUNT} comments?\s-\s([\w.]{{1,40}}) (?:on|am|le) ([^:]{{4,40}}):\s[\"“](.*)",
    re.IGNORECASE | re.DOTALL,
)
_HANDLE: Final = re.compile(r"\(@([\w.]{1,40})\)")


def _told(title: str | None, about: str | None) -> dict[str, Any]:
    """What a site writes into the description of its cards: "12 Followers, 3 Following, 4 Posts - ..."."""
    if found := _PROFILE_LINE.search(about or ""):
        followers, following, posts = (clean.count(found[n]) for n in (1, 2, 3))
        handle = found[4] or next(iter(_HANDLE.findall(title or "")), None)
        return {"followers": followers, "following": following, "posts": posts, "handle": handle}
    if found := _POST_LINE.match(about or ""):
        text = found[5].rstrip().rstrip('."”').rstrip()
        counts = {"likes": clean.count(found[1]), "comments": clean.count(found[2])}
        return {"type": "post", **counts, "handle": found[3], "published": found[4], "text": text}
    return {}


def _headline(text: str | None) -> str | None:
    """The first line of a post, cut where it is long."""
    line = next(filter(None, (line.strip() for line in (text or "").split("\n"))), None)
    if line is None or len(line) <= _TITLE:
        return line
    return line[: _TITLE - 3] + "..."


_ACTIONS: Final = ("follow", "like", "comment", "share", "write", "watch", "view", "subscribe", "endorse")


def _counts(thing: dict[str, Any], name: str = "interactionStatistic") -> dict[str, int]:
    """Action -> how often, of InteractionCounters: {"like": 3}."""
    found: dict[str, int] = {}
    for one in plain.each(thing.get(name)):
        if not isinstance(one, dict):
            continue
        kind = next(plain.each(one.get("interactionType") or one.get("name")), None)
        said = str(kind.get("@type") if isinstance(kind, dict) else kind).lower()
        count = clean.count(next(plain.each(one.get("userInteractionCount")), None))
        action = next((word for word in _ACTIONS if word in said), None)
        if action and count is not None:
            found["follow" if action == "subscribe" else "like" if action == "endorse" else action] = count
    return found
