"""Feeds, as they are written, as they are broken, and as they are made to hurt."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import ReadError
from gossamer.parse.feeds import Enclosure, Entry, read
from gossamer.parse.page import Page

URL = "https://a.org/news/feed.xml"


def entries(body: str | bytes, kind: str = "application/xml") -> list[Entry]:
    return read(Page.of(body, URL, kind))


def item(inside: str, attributes: str = "") -> Entry:
    """The one entry of a feed with these elements in it."""
    (entry,) = entries(
        f"<rss version='2.0' {attributes}><channel><title>F</title><item>{inside}</item></channel></rss>"
    )
    return entry


# --- as they are written ---


def test_rss() -> None:
    body = """<?xml version="1.0"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"
        xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom">
        <channel><title>News &amp; more</title><link>https://a.org/</link><atom:link rel="self" href="/feed.xml"/>
        <item><title>One &lt;b&gt;bold&lt;/b&gt;</title><link> /1?a=1&amp;b=2 </link><guid isPermaLink="false">x1</guid>
          <dc:creator><![CDATA[Ann]]></dc:creator><dc:creator>Bob</dc:creator>
          <pubDate>Mon, 06 May 2024 07:08:09 +0200</pubDate><category>Art</category><category>Art</category>
          <category domain="x">Ulm</category><description><![CDATA[<p>Short &amp; sweet</p>]]></description>
          <content:encoded><![CDATA[<p>Long</p><img alt="" src="/p.jpg?a&amp;b">]]></content:encoded>
          <enclosure url="/s.mp3" type="audio/mpeg" length="123"/></item>
        <item><guid>https://a.org/2</guid><author>c@a.org (Cid)</author><description>plain</description></item>
        </channel></rss>"""
    one, two = entries(body)
    assert one == Entry(
        feed="News & more",
        url="https://a.org/1?a=1&b=2",
        id="x1",
        title="One bold",
        author="Ann, Bob",
        published="2024-05-06T07:08:09+02:00",
        summary="Short & sweet",
        content='<p>Long</p><img alt="" src="/p.jpg?a&amp;b">',
        tags=("Art", "Ulm"),
        image="https://a.org/p.jpg?a&b",
        enclosures=(Enclosure(url="https://a.org/s.mp3", type="audio/mpeg", length=123),),
    )
    assert (two.url, two.id, two.author, two.content) == ("https://a.org/2", "https://a.org/2", "Cid", None)


def test_atom() -> None:
    body = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://b.org/x/">
        <title type="html">A &amp;amp; B</title>
        <author><name>Feed Author</name></author><link href="https://b.org/"/>
        <entry xml:base="y/"><title>One</title><id>tag:b.org,2024:1</id><link rel="self" href="no"/>
          <link rel="alternate" type="application/json" href="no.json"/><link rel="alternate" href="1.html"/>
          <link rel="enclosure" href="1.ogg" type="audio/ogg"/>
          <published>2024-05-06T07:08:09Z</published><updated>2024-05-07</updated>
          <category term="t" label="Label"/><category term="u"/><summary>Sum</summary>
          <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Long &lt; wide</p></div></content></entry>
        <entry><title>Two</title><link href="2"/><author><name>Ann</name><email>a@b.org</email></author>
          <content type="html">&lt;p&gt;x&lt;/p&gt;</content></entry></feed>"""
    one, two = entries(body, "application/atom+xml")
    assert (one.feed, one.url, one.id, one.author) == (
        "A & B",
        "https://b.org/x/y/1.html",
        "tag:b.org,2024:1",
        "Feed Author",
    )
    assert (one.published, one.updated, one.tags) == ("2024-05-06T07:08:09+00:00", "2024-05-07", ("Label", "u"))
    assert one.summary == "Sum"
    assert one.content == '<div xmlns="http://www.w3.org/1999/xhtml"><p>Long &lt; wide</p></div>'
    assert one.enclosures == (Enclosure(url="https://b.org/x/y/1.ogg", type="audio/ogg"),)
    assert (two.url, two.author, two.content) == ("https://b.org/x/2", "Ann", "<p>x</p>")


def test_rss_1_0_has_its_items_beside_the_channel() -> None:
    body = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
        xmlns:d="http://purl.org/dc/elements/1.1/"><channel rdf:about="https://a.org/"><title>F</title>
        <items><rdf:Seq><rdf:li resource="https://a.org/1"/></rdf:Seq></items></channel>
        <item rdf:about="https://a.org/1"><title>One</title><d:date>2024-05-06</d:date><d:subject>s</d:subject></item>
        </rdf:RDF>"""
    (one,) = entries(body)
    assert (one.feed, one.url, one.id, one.title) == ("F", "https://a.org/1", "https://a.org/1", "One")
    assert (one.published, one.tags) == ("2024-05-06", ("s",))


def test_json_feed() -> None:
    feed: dict[str, Any] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "F",
        "authors": [{"name": "Ann"}],
        "items": [
            {
                "id": 7,
                "url": "/1",
                "title": "One",
                "content_html": "<p>x</p>",
                "date_published": "2024-05-06T07:08:09-02:00",
                "tags": ["a", 1],
                "image": "/p.jpg",
                "attachments": [{"url": "/a.mp3", "mime_type": "audio/mpeg", "size_in_bytes": 5}, {"url": 3}],
            },
            {"id": "x", "content_text": "only text", "author": {"name": "Bob"}},
            "junk",
        ],
    }
    one, two = entries(json.dumps(feed), "application/feed+json")
    assert one == Entry(
        feed="F",
        url="https://a.org/1",
        id="7",
        title="One",
        author="Ann",
        published="2024-05-06T07:08:09-02:00",
        content="<p>x</p>",
        tags=("a",),
        image="https://a.org/p.jpg",
        enclosures=(Enclosure(url="https://a.org/a.mp3", type="audio/mpeg", length=5),),
    )
    assert (two.id, two.url, two.summary, two.author) == ("x", None, "only text", "Bob")


def test_pictures_and_words_of_podcasts_and_news_sites() -> None:
    media = 'xmlns:m="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"'
    one = item(
        """<title>t</title><m:group><m:content url="/v.mp4" type="video/mp4" fileSize="9"/><m:thumbnail url="/t.jpg"/>
        </m:group><m:keywords>a, b</m:keywords><itunes:author>Ann</itunes:author>""",
        media,
    )
    assert (one.image, one.tags, one.author) == ("https://a.org/t.jpg", ("a", "b"), "Ann")
    assert one.enclosures == (Enclosure(url="https://a.org/v.mp4", type="video/mp4", length=9),)
    assert item('<title>t</title><itunes:image href="i.png"/>', media).image == "https://a.org/news/i.png"
    assert item("<title>t</title><enclosure url='/e.gif' type='image/gif'/>").image == "https://a.org/e.gif"


def test_the_original_link_counts_where_a_service_put_its_own() -> None:
    one = item(
        "<link>https://feeds.example/1</link><feedburner:origLink>https://a.org/1</feedburner:origLink>",
        'xmlns:feedburner="http://rssnamespace.org/feedburner/ext/1.0"',
    )
    assert one.url == "https://a.org/1"


@pytest.mark.parametrize(
    ("written", "want"),
    [
        ("Mon, 06 May 2024 07:08:09 GMT", "2024-05-06T07:08:09+00:00"),
        ("06 May 24 07:08 EST", "2024-05-06T07:08:00-05:00"),
        ("2024-05-06T07:08:09.5+01:00", "2024-05-06T07:08:09.500000+01:00"),
        ("2024-05-06", "2024-05-06"),
        ("soon", None),
        ("", None),
    ],
)
def test_dates(written: str, want: str | None) -> None:
    assert item(f"<title>t</title><pubDate>{written}</pubDate>").published == want


# --- as they are broken ---


@pytest.mark.parametrize(
    "body",
    [
        "<rss><channel><item><title>A & B</title><link>/1</link></item></channel></rss>",
        "<rss><channel><item><title>A &amp; B</title><link>/1</link>",
        "<rss><channel><item><title>A &amp; B</title><link>/1</item><item>",
        "\n\n<b>Warning</b>: php<?xml?><rss><channel><item><title>A\x08 &amp; B</title><link>/1</link></item>",
        "<!DOCTYPE rss [<!ENTITY b 'B'>]><rss><channel><item><title><![CDATA[A & B]]></title><link>/1</link></item>",
        "<rss><channel><item><title>A &#38; B</title><link>/1</link><description><p>x<br>y<p>z</description></item>",
        "<rss><channel><item><title>A &amp; B</title><link>/1</link><media:thumbnail url='x'></item></channel>",
    ],
)
def test_broken_feeds_are_read(body: str) -> None:
    one = entries(body)[0]
    assert (one.title, one.url) == ("A & B", "https://a.org/1")


def test_entries_that_nobody_closed_are_apart() -> None:
    body = "<rss><channel><item><title>1</title><item><title>2</title></item><item><title>3</channel></rss>"
    assert [entry.title for entry in entries(body)] == ["1", "2", "3"]


def test_markup_that_nobody_escaped_stays_in_its_field() -> None:
    one = item("<description>a<p>b<br>c<ul><li>d</description><title>t</title><link>/1</link>")
    assert (one.summary, one.title, one.url) == ("a b c d", "t", "https://a.org/1")


def test_entities_of_html_and_of_nobody() -> None:
    assert item("<title>caf&eacute;&nbsp;&bull; &nobody; x</title>").title == "café • x"


def test_a_prefix_that_nobody_declared_is_known_by_its_name() -> None:
    assert item("<title>t</title><dc:creator>Ann</dc:creator>").author == "Ann"


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1", "utf-16"])
def test_encodings(encoding: str) -> None:
    body = f"<?xml version='1.0' encoding='{encoding}'?><rss><channel><item><title>é</title></item></channel></rss>"
    assert entries(body.encode(encoding))[0].title == "é"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<html><body><p>no</p></body></html>", "text/html"),
        ("", "application/rss+xml"),
        ("<rss></rss>", "application/rss+xml"),
        ("<rss><channel><item></item></channel></rss>", "application/rss+xml"),
        ("<urlset><url><loc>x</loc></url></urlset>", "application/xml"),
        ('{"items": [{"id": 1}]}', "application/json"),
        ('{"version": "https://jsonfeed.org/version/1", "items": 3}', "application/json"),
        ("{not json", "application/feed+json"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
    ],
)
def test_what_is_no_feed_has_no_entries(body: str | bytes, kind: str) -> None:
    assert entries(body, kind) == []


# --- as they are made to hurt ---


def test_no_entity_is_expanded_and_no_file_is_read() -> None:
    bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    body = f"""<!DOCTYPE rss [<!ENTITY e0 "x"><!ENTITY file SYSTEM "file:///etc/passwd">{bomb}]>
        <rss><channel><item><title>a&e9;b&file;c</title></item></channel></rss>"""
    assert entries(body)[0].title == "abc"


@pytest.mark.parametrize(
    "body",
    [
        "<rss><channel>" + "<item>" * 50_000,
        "<rss><channel><item>" + "<a>" * 100_000,
        "<rss><channel><item>" + "<!--" * 100_000,
        "<rss><channel><item>" + "<![CDATA[" * 100_000,
        "<rss><channel><item><title>" + "&" * 200_000,
        "<rss><channel>" + "<a>" * 95 + "</b>" * 1_000_000,
        "<rss><channel>" + "<a>" * 99 + "<item>" * 500_000,
        "<rss><channel><item>" + "<!>" * 300_000,
        "<rss " + "a='" * 100_000 + ">",
        "<rss " + "xmlns:a='b' " * 50_000 + "><channel><item>",
        "<rss>" + "<!DOCTYPE [>" * 50_000,
        "<rss><channel><item><description>" + "&lt;img " * 50_000,
        "<rss><channel>" + "<item xml:base='a/'><link>x</link>" * 20_000,
    ],
)
def test_a_hostile_feed_costs_little(body: str) -> None:
    began = time.process_time()
    assert len(entries(body, "application/rss+xml")) <= 10_000
    assert time.process_time() - began < 24


@pytest.mark.parametrize("junk", ["<", "< ", "<1", "<a", "</", "<img "])
def test_what_goes_on_as_no_markup_is_no_feed(junk: str) -> None:
    body = "<rss><channel><item><title>" + junk * (9_000_000 // len(junk))
    began = time.process_time()
    with pytest.raises(ReadError, match="it is no XML"):
        entries(body, "application/rss+xml")
    assert time.process_time() - began < 6  # about 0.3 s; a step for each < would take 15


def test_a_sign_that_begins_nothing_is_text() -> None:
    assert item("<title>1 < 2 << 3 &lt; 4 <5</title>").title == "1 < 2 << 3 < 4 <5"
    code = "<description>" + "if a < b: c << d " * 5_000 + "</description>"
    assert "if a < b: c << d" in (item("<title>x</title>" * 20_000 + code).summary or "")


@given(
    st.lists(
        st.sampled_from(["<item>", "</item>", "<title>", "</title>", "<![CDATA[", "]]>", "<!--", "-->", "x", "&amp"])
    )
)
def test_no_soup_is_too_bad(parts: list[str]) -> None:
    entries("<rss><channel>" + "".join(parts), "application/rss+xml")
