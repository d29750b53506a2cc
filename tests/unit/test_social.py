"""Profiles, posts and cards: from the data of social sites, from schema.org, and from what pages give to be shared."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from gossamer.parse.embedded import states
from gossamer.parse.page import Page
from gossamer.parse.social import Social, read
from tests.conftest import corpora

INSTAGRAM = "https://www.instagram.com/explore/tags/art/"


def social(body: str, url: str = "https://example.org/a", kind: str = "text/html") -> list[Social]:
    return read(Page.of(body, url, kind))


def api(data: Any, url: str = "https://example.org/api") -> list[Social]:
    return social(json.dumps(data), url, "application/json")


def script(data: Any, before: str = "window._sharedData = ") -> str:
    return f"<html><body><div id=root></div><script>{before}{json.dumps(data)};</script></body></html>"


def node(**more: Any) -> dict[str, Any]:
    """A post as Instagram's pages have it."""
    return {
        "__typename": "GraphImage",
        "id": "32",
        "shortcode": "Cabc",
        "edge_media_to_caption": {"edges": [{"node": {"text": "First line\nwith #art and @ann.b.\n#art #Ulm"}}]},
        "edge_media_to_comment": {"count": 3},
        "edge_liked_by": {"count": 41},
        "taken_at_timestamp": 1_700_000_000,
        "display_url": "https://cdn.example/1.jpg",
        "owner": {"id": "7", "username": "roxy", "full_name": "Roxy"},
        "is_video": False,
        **more,
    }


POST = Social(
    url="https://www.instagram.com/p/Cabc/",
    platform="instagram",
    type="post",
    title="First line",
    image="https://cdn.example/1.jpg",
    site="instagram",
    author="Roxy",
    handle="roxy",
    likes=41,
    comments=3,
    published="2023-11-14T22:13:20+00:00",
    text="First line\nwith #art and @ann.b.\n#art #Ulm",
    hashtags=("art", "Ulm"),
    mentions=("ann.b",),
    media=("https://cdn.example/1.jpg",),
)


# --- data of sites ---


def test_posts_of_a_page_with_its_state_in_a_script() -> None:
    edges = [{"node": node()}, {"node": node(shortcode="Cdef", edge_media_to_caption={"edges": []})}, {"node": node()}]
    state = {"entry_data": {"TagPage": [{"graphql": {"hashtag": {"edge_hashtag_to_media": {"edges": edges}}}}]}}
    first, second = social(script(state), INSTAGRAM)
    assert first == POST
    assert (second.url, second.title, second.text) == ("https://www.instagram.com/p/Cdef/", None, None)


@pytest.mark.parametrize(
    "data",
    [
        {"graphql": {"hashtag": {"edge_hashtag_to_media": {"edges": [{"node": node()}]}}}},
        {"data": {"hashtag": {"edge_hashtag_to_media": {"edges": [{"node": node()}]}}}},
    ],
)
def test_answers_of_an_api(data: Any) -> None:
    assert api(data, INSTAGRAM) == [POST]


def test_an_older_shape() -> None:
    nodes = [{"code": "Cabc", "date": 1_700_000_000, "display_src": "https://cdn.example/1.jpg", "caption": "Hi #art",
              "likes": {"count": 1}, "comments": {"count": 2}}]  # fmt: skip
    (post,) = api({"tag": {"media": {"nodes": nodes}}}, INSTAGRAM)
    assert (post.url, post.text, post.likes, post.comments) == ("https://www.instagram.com/p/Cabc/", "Hi #art", 1, 2)


def test_a_profile_and_its_posts() -> None:
    user = {
        "username": "roxy",
        "full_name": "Roxy Ulm",
        "biography": "Club in #ulm",
        "edge_followed_by": {"count": 1200},
        "edge_follow": {"count": 30},
        "edge_owner_to_timeline_media": {"count": 99, "edges": [{"node": node()}]},
        "profile_pic_url": "https://cdn.example/me.jpg",
    }
    other = {"username": "guest", "edge_followed_by": {"count": 5}}
    page = script({"entry_data": {"ProfilePage": [{"graphql": {"user": user, "suggested": [other]}}]}})
    profile, post = social(page, "https://www.instagram.com/roxy/")
    assert profile == Social(
        url="https://www.instagram.com/roxy/",
        platform="instagram",
        type="profile",
        title="Roxy Ulm",
        description="Club in #ulm",
        image="https://cdn.example/me.jpg",
        site="instagram",
        author="Roxy Ulm",
        handle="roxy",
        followers=1200,
        following=30,
        posts=99,
        hashtags=("ulm",),
    )
    assert post == POST


def test_an_album_has_all_its_pictures() -> None:
    children = [{"node": {"display_url": f"https://cdn.example/{n}.jpg"}} for n in (1, 2)]
    video = {"node": {"video_url": "https://cdn.example/3.mp4", "display_url": "https://cdn.example/3.jpg"}}
    (post,) = api({"items": [node(edge_sidecar_to_children={"edges": [*children, video]})]}, INSTAGRAM)
    assert post.media == ("https://cdn.example/1.jpg", "https://cdn.example/2.jpg", "https://cdn.example/3.mp4")


def test_posts_of_other_sites() -> None:
    counts = {"diggCount": 5, "commentCount": 6, "shareCount": 7, "playCount": 8}
    author = {"uniqueId": "ann", "nickname": "Ann"}
    video = {"id": "71", "desc": "Dance #fun", "createTime": "1700000000", "author": author, "stats": counts}
    (post,) = social(script({"itemStruct": video}, "x("), "https://www.tiktok.com/@ann/video/71")
    assert (post.url, post.handle, post.author) == ("https://www.tiktok.com/@ann/video/71", "ann", "Ann")
    assert (post.likes, post.comments, post.shares, post.views) == (5, 6, 7, 8)
    tweet = {"legacy": {"id_str": "9", "full_text": "Hello @bob", "favorite_count": 1, "retweet_count": 2,
                        "created_at": "2026-05-06T07:08:09Z"}, "rest_id": "9", "a": 1, "b": 2}  # fmt: skip
    (post,) = api({"result": tweet}, "https://x.com/i/api")
    assert (post.text, post.likes, post.shares, post.mentions) == ("Hello @bob", 1, 2, ("bob",))
    toot = {"id": "1", "url": "https://social.example/@ann/1", "content": "<p>Hi <b>all</b></p><p>#go</p>",
            "account": {"acct": "ann", "display_name": "Ann"}, "created_at": "2026-05-06T07:08:09Z",
            "favourites_count": 3, "reblogs_count": 1, "replies_count": 0}  # fmt: skip
    (post,) = api([toot], "https://social.example/api/v1/timelines")
    assert (post.text, post.likes, post.shares, post.url) == ("Hi all\n#go", 3, 1, "https://social.example/@ann/1")


@pytest.mark.parametrize(
    "data",
    [
        {"reviews": [{"id": 1, "text": "Nice lamp", "likes": 3, "date": "2026-01-01"}]},
        {"users": [{"username": "ann", "id": 3}]},
        {"items": "x"},
        [],
        None,
    ],
)
def test_other_data_is_nothing_social(data: Any) -> None:
    assert api(data) == []


# --- schema.org ---


def test_a_profile_page_in_json_ld() -> None:
    said = {
        "@context": "https://schema.org",
        "@type": "ProfilePage",
        "mainEntity": {
            "@type": "Person",
            "name": "Ann",
            "alternateName": "@ann",
            "description": "I paint",
            "image": "/ann.jpg",
            "interactionStatistic": [
                {
                    "@type": "InteractionCounter",
                    "interactionType": "https://schema.org/FollowAction",
                    "userInteractionCount": 7,
                },
                {
                    "@type": "InteractionCounter",
                    "interactionType": {"@type": "LikeAction"},
                    "userInteractionCount": "1.2K",
                },
            ],
            "agentInteractionStatistic": {"interactionType": "WriteAction", "userInteractionCount": 3},
        },
    }
    (one,) = social(f'<script type="application/ld+json">{json.dumps(said)}</script>')
    assert (one.type, one.title, one.handle, one.description) == ("profile", "Ann", "ann", "I paint")
    assert (one.followers, one.likes, one.posts, one.image) == (7, 1200, 3, "https://example.org/ann.jpg")


def test_a_post_in_json_ld() -> None:
    said = {
        "@context": "https://schema.org",
        "@type": "DiscussionForumPosting",
        "headline": "How to?",
        "text": "I ask #this",
        "author": {"@type": "Person", "name": "Ann"},
        "datePublished": "2026-05-06T07:08:09Z",
        "commentCount": 4,
        "interactionStatistic": {"interactionType": "https://schema.org/LikeAction", "userInteractionCount": 2},
    }
    (one,) = social(f'<script type="application/ld+json">{json.dumps(said)}</script>')
    assert (one.type, one.title, one.text, one.author) == ("post", "How to?", "I ask #this", "Ann")
    assert (one.comments, one.likes, one.published) == (4, 2, "2026-05-06T07:08:09+00:00")


# --- cards ---


def meta(**said: str) -> str:
    tags = "".join(f'<meta property="{name.replace("_", ":", 1)}" content="{text}">' for name, text in said.items())
    return f"<html><head>{tags}</head></html>"


def test_the_card_of_any_page() -> None:
    html = meta(
        og_title="A &amp; B", og_description="About #it", og_image="/p.jpg", og_site_name="Site", og_url="/canonical"
    )
    html += '<meta name="twitter:creator" content="@ann"><meta property="og:video" content="/v.mp4">'
    assert social(html) == [
        Social(
            url="https://example.org/canonical",
            title="A & B",
            description="About #it",
            image="https://example.org/p.jpg",
            site="Site",
            handle="ann",
            hashtags=("it",),
            media=("https://example.org/v.mp4", "https://example.org/p.jpg"),
        )
    ]
    assert social('<meta name="twitter:title" content="Only Twitter">')[0].title == "Only Twitter"


def test_numbers_in_the_cards_of_sites() -> None:
    about = "1,234 Followers, 56 Following, 7 Posts - See photos from Ann (@ann.b)"
    (one,) = social(meta(og_title="Ann (@ann.b)", og_description=about), "https://www.instagram.com/ann.b/")
    assert (one.type, one.followers, one.following, one.posts, one.handle) == ("profile", 1234, 56, 7, "ann.b")
    about = "12K likes, 34 comments - ann.b on May 6, 2024: &quot;Hello #you&quot;. "
    (one,) = social(meta(og_title="Ann", og_description=about), "https://www.instagram.com/p/C1/")
    assert (one.type, one.likes, one.comments, one.published) == ("post", 12000, 34, "2024-05-06")
    assert (one.text, one.hashtags) == ("Hello #you", ("you",))
    assert social(meta(og_title="x", og_description=about))[0].type == "card"


def test_a_login_wall_is_nothing() -> None:
    wall = script({"config": {}, "entry_data": {"LoginAndSignupPage": [{}]}})
    assert social("<title>Instagram</title>" + wall, INSTAGRAM) == []


@pytest.mark.parametrize("html", ["", "<p>nothing</p>", "<title>Only a title</title>"])
def test_a_page_without_a_card_is_nothing(html: str) -> None:
    assert social(html) == []


# --- state in scripts ---


def test_state_is_found_wherever_a_script_keeps_it() -> None:
    html = r"""<script id="__NEXT_DATA__" type="application/json">{"a": 1}</script>
        <script>var x = 1; window.__STATE__ = {"b": {"c": "}"}}; f([{"d": 2}]);</script>
        <script>load(JSON.parse("{\"e\": [\"\\u0041\"]}"))</script><script>y = {"f": undefined, "g": 'x', "h": 1,
        "long": "................................................................................................"};
        </script><script type="application/ld+json">{"no": 1}</script><script src="x.js">z = {"no": 1}</script>"""
    long = "." * 96
    assert states(Page.of(html)) == [
        {"a": 1},
        {"b": {"c": "}"}},
        [{"d": 2}],
        {"e": ["A"]},
        {"f": None, "g": "x", "h": 1, "long": long},
    ]


@pytest.mark.parametrize(
    "html",
    [
        "<script>x = " + "[" * 100_000 + "</script>",
        "<script>x = " + '{"a":' * 100_000 + "</script>",
        "<script>" + 'x = {"a": 1, ' * 50_000 + "</script>",
        '<script>JSON.parse("' + "\\" * 200_001 + "</script>",
        "<script>x = " + json.dumps([node(shortcode=str(n)) for n in range(3_000)]) + "</script>",
        "<script>x = " + '{"a": "' + "x" * 300_000 + "</script>",
    ],
)
def test_a_hostile_script_costs_little(html: str) -> None:
    began = time.process_time()
    social(html, INSTAGRAM)
    assert time.process_time() - began < 36


# --- outside ---


@pytest.mark.suite
def test_a_hashtag_page_of_instagram() -> None:
    folder = corpora("fixtures", "instagram", "derived")
    found = {one.url: one for one in social((folder / "tag_artcall.html").read_text(), INSTAGRAM)}
    want = json.loads((folder / "tag_artcall.expected.json").read_bytes())
    assert len(found) == 24
    for row in want:
        post = found[row["url"]]
        assert (post.title, post.image, post.published) == (row["title"], row["image_url"], row["posted_date"])
        assert list(post.hashtags) == row["tags"]
    assert social((folder / "login_wall.html").read_text(), INSTAGRAM) == []
