"""Posts and profiles in the data of social sites: known by the names of their fields, whichever site it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from gossamer.parse import clean, plain
from gossamer.parse.embedded import short, walk

__all__ = ["posts", "profiles", "tags"]

#: Posts taken of one page.
MOST: Final = 5000
#: What a field may be called, letters and digits only, best first.
_NAMES: Final = {
    "text": "edgemediatocaption caption fulltext selftext text desc content message commentary body",
    "title": "title headline",
    "likes": "edgelikedby edgemediapreviewlike likecount favoritecount favouritescount diggcount likes ups score"
    " numlikes reactioncount",
    "comments": "edgemediatocomment commentcount numcomments repliescount replycount comments numreplies",
    "shares": "sharecount retweetcount reblogscount repostcount numshares",
    "views": "videoviewcount playcount viewcount views viewscount",
    "published": "takenattimestamp takenat createdutc createtime createdat publishedat timestamp date",
    "author": "owner author user account channel",
    "image": "displayurl displaysrc mediaurlhttps thumbnailsrc thumbnailurl coverurl imageversions2 cover"
    " thumbnail image",
    "video": "videourl playaddr",
    "id": "shortcode code idstr videoid uniquepostid id uri name",
    "url": "permalink url link shareurl",
    "handle": "username screenname uniqueid handle acct preferredusername vanityname",
    "called": "fullname displayname nickname name title",
    "about": "biography signature note description bio summary",
    "followers": "edgefollowedby followercount followerscount followedby followers subscribercount",
    "following": "edgefollow followingcount friendscount followscount follows following",
    "count": "edgeownertotimelinemedia mediacount statusescount postscount videocount media",
    "portrait": "profilepicurlhd profilepicurl avatarlarger avatar profileimageurlhttps avatarstatic",
}
_FIELDS: Final = {field: names.split() for field, names in _NAMES.items()}
#: Objects within a post or a profile whose fields are its own.
_OWN: Final = ("legacy", "record", "stats", "statistics", "data", "core", "publicmetrics", "counts")
_HASHTAG: Final = re.compile(r"(?<![\w&/])#(\w{1,100})")
_MENTION: Final = re.compile(r"(?<![\w./])@([A-Za-z0-9_](?:[\w.]{0,48}\w)?)")


def tags(text: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The #tags and the @names in a text, each once, without their signs."""
    short = (text or "")[:50_000]
    words = dict.fromkeys(word for word in _HASHTAG.findall(short) if not word.isdigit())
    return tuple(words)[:200], tuple(dict.fromkeys(_MENTION.findall(short)))[:200]


def posts(data: Any, *, known: bool) -> Iterator[dict[str, Any]]:
    """The posts in data, each once, as fields of Social, and `id`; `known` if the data is of a social site.

    Of other data only what has all the marks of a post is one: a comment of a shop has a text and likes too.
    """
    seen: set[str] = set()
    for value in walk(data):
        if isinstance(value, dict) and (post := _post(value, known)) is not None:
            name = str(post.get("id") or post.get("link") or post.get("text"))
            if name not in seen and len(seen) < MOST:
                seen.add(name)
                yield post


def profiles(data: Any) -> Iterator[dict[str, Any]]:
    """The profiles in data that tell their followers, each once, as fields of Social."""
    seen: set[str] = set()
    for value in walk(data):
        if not isinstance(value, dict):
            continue
        record = _tidied(value)
        handle = _text(record, "handle")
        followers = _count(record, "followers")
        if handle and followers is not None and handle.lower() not in seen and len(seen) < MOST:
            seen.add(handle.lower())
            yield {
                "handle": handle,
                "author": _text(record, "called"),
                "description": plain.prose(_said(record, "about")),
                "followers": followers,
                "following": _count(record, "following"),
                "posts": _count(record, "count"),
                "likes": _count(record, "likes") if "heartcount" not in record else _number(record["heartcount"]),
                "picture": _picture(record, "portrait"),
                "link": _text(record, "url"),
            }


def _post(value: dict[str, Any], known: bool) -> dict[str, Any] | None:
    if not any(isinstance(one, str | int | dict) for one in value.values()) or len(value) < 4:
        return None
    record = _tidied(value)
    counts = {name: _count(record, name) for name in ("likes", "comments", "shares", "views")}
    told = sum(count is not None for count in counts.values())
    published = next((record[name] for name in _FIELDS["published"] if name in record), None)
    identity = next((record[name] for name in _FIELDS["id"] if isinstance(record.get(name), str | int)), None)
    if not told or published is None or identity is None or _count(record, "followers") is not None:
        return None
    text, title = _caption(record), clean.text(_said(record, "title"))
    picture = _picture(record, "image")
    author = record.get(next((name for name in _FIELDS["author"] if name in record), ""), None)
    if not known and not (text and told >= 2 and author):
        return None
    if text is None and picture is None and title is None:
        return None
    return {
        **counts,
        "id": str(identity),
        "text": text,
        "name": title,
        "published": published,
        "picture": picture,
        "media": tuple(dict.fromkeys(_media(value, record, picture))),
        "link": _text(record, "url"),
        **_author(author),
    }


def _tidied(value: dict[str, Any]) -> dict[str, Any]:
    """Fields under names of letters and digits only, those of its parts that are its own included."""
    found: dict[str, Any] = {}
    for name, one in value.items():
        key = short(name)
        if key in _OWN and isinstance(one, dict):
            for inner, each in one.items():
                found.setdefault(short(inner), each)
        elif one is not None and one != "":
            found[key] = one
    return found


def _said(record: dict[str, Any], field: str) -> Any:
    return next((record[name] for name in _FIELDS[field] if isinstance(record.get(name), str)), None)


def _text(record: dict[str, Any], field: str) -> str | None:
    return clean.strip(_said(record, field))


def _caption(record: dict[str, Any]) -> str | None:
    """What a post says, its lines as they are."""
    for name in _FIELDS["text"]:
        said = record.get(name)
        if isinstance(said, dict):
            edges = said.get("edges")
            if isinstance(edges, list):
                node = edges[0].get("node") if edges and isinstance(edges[0], dict) else None
                said = node.get("text") if isinstance(node, dict) else None
            else:
                said = said.get("text")
        if isinstance(said, str) and said.strip():
            return plain.prose(said) if "</" in said else "\n".join(line.rstrip() for line in said.strip().split("\n"))
    return None


def _number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    found = clean.count(value) if isinstance(value, str) else clean.integer(value)
    return found if found is not None and found >= 0 else None


def _count(record: dict[str, Any], field: str) -> int | None:
    """A number of likes, followers and so on: plain, or as the count of an object."""
    for name in _FIELDS[field]:
        said = record.get(name)
        if isinstance(said, dict):
            said = said.get("count")
        if isinstance(said, int | str) and not isinstance(said, bool):
            found = _number(said)
            if found is not None:
                return found
    return None


def _picture(record: dict[str, Any], field: str) -> str | None:
    for name in _FIELDS[field]:
        said = record.get(name)
        if isinstance(said, dict):
            said = said.get("candidates") or said.get("thumbnails") or said.get("url")
        if isinstance(said, list) and said:
            one = said[0] if name == "imageversions2" else said[-1]
            said = one.get("url") if isinstance(one, dict) else one
        if isinstance(said, str) and said[:4] == "http":
            return said
    return None


def _media(value: dict[str, Any], record: dict[str, Any], picture: str | None) -> Iterator[str]:
    """All pictures and films of a post: its own, and those of an album."""
    if film := next((record[name] for name in _FIELDS["video"] if isinstance(record.get(name), str)), None):
        yield film
    album = value.get("edge_sidecar_to_children") or value.get("carousel_media") or value.get("media_attachments")
    parts = album.get("edges") if isinstance(album, dict) else album
    for part in parts[:50] if isinstance(parts, list) else ():
        node = part.get("node", part) if isinstance(part, dict) else None
        inner = _tidied(node) if isinstance(node, dict) else {}
        for found in (inner.get("videourl"), _picture(inner, "image"), inner.get("url")):
            if isinstance(found, str):
                yield found
                break
    if picture:
        yield picture


def _author(author: Any) -> dict[str, Any]:
    if isinstance(author, str):
        return {"handle": author.lstrip("@"), "author": None}
    if not isinstance(author, dict):
        return {"handle": None, "author": None}
    record = _tidied(author)
    return {"handle": _text(record, "handle"), "author": _text(record, "called")}
