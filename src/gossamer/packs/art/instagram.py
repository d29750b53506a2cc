"""Instagram: what is posted under hashtags of opportunities, in every shape that its answers have had."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, ClassVar, Final, NamedTuple

import msgspec

from gossamer import Blocked, ConfigError, Page, ReadError, Request
from gossamer.packs.art.found import Found
from gossamer.packs.art.source import ArtSource

__all__ = ["TAGS", "Instagram", "Listed", "listed"]

TAGS: Final = (
    "artopportunity",
    "artistopportunity",
    "artresidency",
    "artgrant",
    "artcall",
    "callforartists",
    "artistcall",
    "artexhibition",
    "artsubmission",
    "artcompetition",
)
_ROOT: Final = "https://www.instagram.com"
_TAG: Final = re.compile(r"\w{1,100}")
#: Posts of one answer, and pages of one hashtag, at most.
_MOST: Final = 500
_MOST_PAGES: Final = 20
#: Letters of a title: one line.
_LINE: Final = 80
_UNTITLED: Final = "Instagram Art Opportunity"
_WORDS: Final = re.compile(
    r"\b(?:opportunit(?:y|ies)|calls? for|submissions?|contests?|competitions?|residenc(?:y|ies)|grants?|fellowships?"
    r"|exhibitions?|apply|deadlines?|applications?|artists wanted|open calls?)\b",
    re.IGNORECASE,
)
_HASHTAG: Final = re.compile(r"#(\w+)")
_SHARED: Final = re.compile(r"window\._sharedData\s?=\s?")
_WALL: Final = "Instagram asks to log in: log in with a session of your own, or leave it out"


class Instagram(ArtSource):
    """Instagram (instagram.com): posts under ten hashtags that speak of something to apply for."""

    name = "art.instagram"
    takes: ClassVar = {
        "tags": "Hashtags to look at instead of the usual ten, with commas between.",
        "pages": f"Pages of each hashtag, up to {_MOST_PAGES}; one unless given.",
    }
    identity = "chrome"
    headers: ClassVar = {
        "Accept-Language": "en-US,en;q=0.9",
        "Upgrade-Insecure-Requests": "1",
        "Sec-Fetch-Dest": "document",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Site": "none",
        "Sec-Fetch-User": "?1",
        "Alt-Used": "www.instagram.com",
    }
    rate = "10/min"
    per_host = 1
    #: Who is asked to log in is asked so again.
    retries = 1
    revisit = "always"
    every = "2h"
    first_delay = "30s"
    jitter = "2m"

    def start(self) -> Iterable[Request]:
        """A page for each hashtag."""
        given = [tag.strip().lstrip("#") for tag in str(self.params.get("tags") or "").split(",") if tag.strip()]
        self._pages()
        for tag in given or TAGS:
            if not _TAG.fullmatch(tag):
                raise ConfigError(f"art.instagram: {tag[:40]!r} is no hashtag: write letters and digits")
            yield Request(f"{_ROOT}/explore/tags/{tag}/", carry={"tag": tag, "page": 1})

    def _pages(self) -> int:
        given = str(self.params.get("pages") or "1")
        if not given.isdigit() or not 1 <= int(given) <= _MOST_PAGES:
            raise ConfigError(f"art.instagram: pages={given[:20]!r} cannot be used: write a number up to {_MOST_PAGES}")
        return int(given)

    def validate(self, page: Page) -> None:
        """Raises Blocked where Instagram wants to know who asks, in any of the ways it says so."""
        if "/accounts/login" in page.url or "/challenge/" in page.url:
            raise Blocked(_WALL)
        data = _data(page)
        if data is None:
            raise Blocked(f"the page holds no data, as those for strangers do; {_WALL}")
        if _walled(data):
            raise Blocked(_WALL)

    def parse(self, page: Page) -> Any:
        """The posts of a hashtag that are about an opportunity, and the next page if it was asked for."""
        data = _data(page)
        answer = listed(data) if data is not None else None
        if answer is None:
            raise ReadError("Instagram's answer holds no hashtag: it may look otherwise now")
        for post in answer.posts[:_MOST]:
            if _WORDS.search(post.caption):
                yield from self.made(_found(post), page, source="Instagram", ad=True)
        number, tag = page.carry.get("page", 1), page.carry.get("tag")
        if answer.cursor and tag and number < self._pages():
            url = f"{_ROOT}/explore/tags/{tag}/?__a=1&max_id={answer.cursor}"
            yield Request(url, carry={"tag": tag, "page": number + 1})


def _found(post: Post) -> Found:
    lines = [line.strip() for line in post.caption.splitlines() if line.strip()]
    first = lines[0] if lines else _UNTITLED
    return Found(
        title=first if len(first) <= _LINE else first[: _LINE - 3] + "...",
        url=f"{_ROOT}/p/{post.code}/",
        description=post.caption,
        image=post.picture,
        posted=datetime.fromtimestamp(post.taken, UTC).isoformat() if post.taken else None,
        tags=tuple(_HASHTAG.findall(post.caption)),
    )


# --- shapes -----------------------------------------------------------------------------------------------------


class Post(NamedTuple):
    """One post, whichever shape it came in."""

    code: str
    caption: str
    picture: str | None
    taken: int | None


class Listed(NamedTuple):
    """The posts of a hashtag, newest first, and where the next ones begin."""

    posts: list[Post]
    cursor: str | None = None


def _data(page: Page) -> Any:
    """What a page says for machines: JSON, or what it shares with its scripts. None if there is nothing."""
    if page.kind == "json":
        return page.json()
    found = _SHARED.search(page.text)
    if found is None:
        return None
    try:
        return msgspec.json.decode(_object(page.text[found.end() :]))
    except (msgspec.DecodeError, RecursionError):
        return None


def _object(text: str) -> str:
    """The text of a script from its beginning to the end of its statement."""
    return text.partition("</script")[0].strip().rstrip(";")


def _walled(data: Any) -> bool:
    """Whether an answer says that one has to log in."""
    if not isinstance(data, dict):
        return False
    if data.get("require_login") or data.get("message") in ("login_required", "checkpoint_required"):
        return True
    entry = data.get("entry_data")
    return isinstance(entry, dict) and "TagPage" not in entry and ("LoginAndSignupPage" in entry or not entry)


def listed(data: Any) -> Listed | None:
    """The posts in an answer of any known shape; None for another."""
    for hashtag in _hashtags(data):
        edges = _dict(hashtag.get("edge_hashtag_to_media")) or _dict(hashtag.get("media"))
        if edges is not None:
            nodes = [_dict(edge.get("node")) for edge in _dicts(edges.get("edges"))] or _dicts(edges.get("nodes"))
            return Listed([post for node in nodes if node and (post := _post(node))], _cursor(edges))
        recent = _dict(hashtag.get("recent")) or _dict(hashtag.get("top"))
        if recent is not None and isinstance(recent.get("sections"), list):
            cursor = recent.get("next_max_id") if recent.get("more_available") else None
            return Listed(list(_of_sections(recent)), cursor if isinstance(cursor, str) else None)
    return None


def _hashtags(data: Any) -> Iterator[dict[str, Any]]:
    """Where an answer may keep its hashtag: on a page, as ?__a=1, as graphql/query, as the first version had it."""
    whole = _dict(data)
    if whole is None:
        return
    pages = _dicts((_dict(whole.get("entry_data")) or {}).get("TagPage"))
    for one in (*pages, whole):
        for holder in (one.get("graphql"), one.get("data"), one):
            inner = _dict(holder)
            if inner is not None:
                yield from filter(None, (_dict(inner.get("hashtag")), _dict(inner.get("tag"))))
                yield inner


def _of_sections(recent: dict[str, Any]) -> Iterator[Post]:
    for section in _dicts(recent.get("sections")):
        for media in _dicts((_dict(section.get("layout_content")) or {}).get("medias")):
            node = _dict(media.get("media"))
            if node and (post := _post(node)):
                yield post


def _post(node: dict[str, Any]) -> Post | None:
    code = node.get("shortcode") or node.get("code")
    if not isinstance(code, str) or not re.fullmatch(r"[\w-]{1,60}", code):
        return None
    taken = next((node[name] for name in ("taken_at_timestamp", "taken_at", "date") if name in node), None)
    # Numbers beyond these are no seconds since 1970 that a calendar knows.
    known = isinstance(taken, int) and not isinstance(taken, bool) and 0 < taken < 1 << 36
    return Post(code, _caption(node), _picture(node), taken if known else None)


def _caption(node: dict[str, Any]) -> str:
    said = node.get("edge_media_to_caption", node.get("caption"))
    if isinstance(said, dict):
        edges = _dicts(said.get("edges"))
        said = (_dict(edges[0].get("node")) or {}).get("text") if edges else said.get("text")
    return said[:20_000] if isinstance(said, str) else ""


def _picture(node: dict[str, Any]) -> str | None:
    versions = _dicts((_dict(node.get("image_versions2")) or {}).get("candidates"))
    urls = [node.get(name) for name in ("display_url", "display_src", "thumbnail_src")]
    urls += [one.get("url") for one in versions[:1]]
    return next((url for url in urls if isinstance(url, str) and url.startswith("http")), None)


def _cursor(edges: dict[str, Any]) -> str | None:
    info = _dict(edges.get("page_info")) or {}
    cursor = info.get("end_cursor") if info.get("has_next_page") else None
    return cursor if isinstance(cursor, str) and re.fullmatch(r"[\w=+/.-]{1,500}", cursor) else None


def _dict(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value[: 2 * _MOST] if isinstance(one, dict)] if isinstance(value, list) else []
