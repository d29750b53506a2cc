"""Sitemaps and feeds, as they are written, as they are broken, and as they are made to hurt."""

from __future__ import annotations

import codecs
import gzip
import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse import sitemaps
from gossamer.parse.sitemaps import Entry, entries, iter_entries, when

URL = "https://a.org/maps/sitemap.xml"
PLAIN = b"<urlset><url><loc>https://a.org/1</loc></url><url><loc>https://a.org/2</loc></url></urlset>"


def found(body: str | bytes, url: str = URL) -> list[str]:
    """The URLs of all entries, pages and sitemaps."""
    return [entry.url for entry in iter_entries(body.encode() if isinstance(body, str) else body, url)]


# --- as they are written ---


def test_a_sitemap_tells_pages_with_their_dates_priorities_and_translations() -> None:
    body = """<?xml version="1.0" encoding="UTF-8"?>
        <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
        <url><loc>https://a.org/en?a=1&amp;b=&#50;</loc><lastmod>2024-05-06T07:08:09+02:00</lastmod>
          <changefreq>daily</changefreq><priority>0.8</priority>
          <xhtml:link rel="alternate" hreflang="de" href="https://a.org/de?a=1&amp;b=2"/>
          <xhtml:link rel='alternate' hreflang='fr' href='/fr'></xhtml:link>
          <xhtml:link rel="alternate" hreflang="it"/><xhtml:link rel="next" hreflang="es" href="/es"/></url>
        <url><loc> /plain </loc><lastmod/><priority>high</priority></url>
        </urlset>"""
    read = entries(body.encode(), URL)
    assert (read.kind, read.sitemaps, read.cut) == ("urlset", [], None)
    assert read.urls == [
        Entry(
            "https://a.org/en?a=1&b=2",
            datetime(2024, 5, 6, 7, 8, 9, tzinfo=timezone(timedelta(hours=2))),
            0.8,
            {"de": "https://a.org/de?a=1&b=2", "fr": "https://a.org/fr"},
        ),
        Entry("https://a.org/plain"),
    ]


def test_an_index_tells_other_sitemaps_each_once() -> None:
    body = """<sitemapindex><sitemap><loc>a.xml.gz</loc><lastmod>2024-01-02</lastmod></sitemap>
        <sitemap><loc>https://b.org/b.xml</loc></sitemap><sitemap><loc>a.xml.gz</loc></sitemap></sitemapindex>"""
    read = entries(body.encode(), URL)
    assert (read.kind, read.urls) == ("index", [])
    assert read.sitemaps == ["https://a.org/maps/a.xml.gz", "https://b.org/b.xml"]


def test_images_and_videos_of_a_page_are_no_pages() -> None:
    body = """<urlset xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
        <url><loc>/page</loc><image:image><image:loc>/a.png</image:loc></image:image>
        <image><loc>/b.png</loc></image><video:video><video:url>/v</video:url></video:video></url>
        <url><image:image><image:loc>/c.png</image:loc></image:image><loc>/other</loc></url></urlset>"""
    assert found(body) == ["https://a.org/page", "https://a.org/other"]


def test_rss_tells_the_pages_of_its_items() -> None:
    body = """<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>News</title>
        <link>https://a.org/</link><image><url>/logo.png</url><link>https://a.org/</link></image>
        <item><title>One</title><link>https://a.org/1?a&amp;b</link><guid isPermaLink="false">x1</guid>
          <pubDate>Mon, 06 May 2024 07:08:09 GMT</pubDate><source url="https://b.org/rss">B</source></item>
        <item><link><![CDATA[ https://a.org/2?a&b ]]></link><dc:date>2024-05-06</dc:date></item>
        <item><guid>https://a.org/3</guid></item>
        <item><guid isPermaLink="false">https://a.org/no-page</guid></item>
        <item><title>no link</title></item></channel></rss>"""
    read = entries(body.encode(), URL)
    assert read.kind == "rss"
    assert [entry.url for entry in read.urls] == ["https://a.org/1?a&b", "https://a.org/2?a&b", "https://a.org/3"]
    assert read.urls[0].lastmod == datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
    assert read.urls[1].lastmod == datetime(2024, 5, 6, tzinfo=UTC)


def test_rss_1_is_rss_too() -> None:
    body = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
        <channel><link>/</link></channel><item rdf:about="x"><link>/1</link></item></rdf:RDF>"""
    assert (entries(body.encode(), URL).kind, found(body)) == ("rss", ["https://a.org/1"])


def test_atom_tells_the_pages_of_its_entries() -> None:
    body = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://b.org/blog/"><link href="https://a.org/"/>
        <entry><id>tag:1</id><link rel="self" href="/api/1"/><link rel="alternate" type="text/html" href="one"/>
          <link rel="enclosure" href="/1.mp3"/><published>2020-01-01T00:00:00Z</published>
          <updated>2024-05-06T07:08:09Z</updated>
          <source><id>https://c.org/</id><link href="https://c.org/elsewhere"/></source></entry>
        <entry><link href="/two"></link></entry>
        <entry><id>https://a.org/three</id></entry><entry><id>tag:4</id></entry></feed>"""
    read = entries(body.encode(), URL)
    assert read.kind == "atom"
    assert [entry.url for entry in read.urls] == ["https://b.org/blog/one", "https://b.org/two", "https://a.org/three"]
    assert read.urls[0].lastmod == datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n \t"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_a_list_of_urls_is_a_sitemap(end: str, mark: bytes) -> None:
    body = (
        mark
        + end.join(
            ["https://a.org/1", " HTTP://a.org/ü ", "# a remark", "", "ftp://a.org/", "https://a.org/2"]
        ).encode()
    )
    read = entries(body, URL)
    assert read.kind == "text"
    assert [entry.url for entry in read.urls] == ["https://a.org/1", "http://a.org/%C3%BC", "https://a.org/2"]


@pytest.mark.parametrize(
    "body", [b"", b" \n", b"Not found", b"{}", b"<", b"\x1f\x8b", b"\0\0\0", b"<!doctype html><html>"]
)
def test_what_is_no_sitemap_names_nothing(body: bytes) -> None:
    assert entries(body, URL).kind == "none"
    assert found(body) == []


def test_a_page_in_the_place_of_a_sitemap_names_nothing() -> None:
    assert found("<!DOCTYPE html><html><body><link href=/x><url><loc>/y</loc></url></body></html>") == []


# --- as they are packed ---


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_gzip_is_unpacked_whatever_its_name(layers: int) -> None:
    body = PLAIN
    for _ in range(layers):
        body = gzip.compress(body)
    assert found(body) == ["https://a.org/1", "https://a.org/2"]


def test_several_gzip_files_in_a_row_are_one_and_padding_is_none() -> None:
    body = gzip.compress(PLAIN[:40]) + gzip.compress(PLAIN[40:]) + b"\0" * 512
    read = entries(body, URL)
    assert (len(read.urls), read.cut) == (2, None)


def test_of_damaged_gzip_what_comes_before_is_read() -> None:
    many = b"<urlset>" + b"".join(b"<url><loc>/%d</loc></url>" % n for n in range(20_000))
    whole = gzip.compress(many)
    for body in (whole[: len(whole) // 2], whole[: len(whole) // 2] + b"\xff" * 5000):
        read = entries(body, URL)
        assert 1000 < len(read.urls) < 20_000
        assert "damaged or breaks off" in (read.cut or "")


# --- as they are broken ---


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ("\n\n \t<?xml version='1.0'?><urlset><url><loc>/1</loc></url></urlset>", ["/1"]),
        ("Warning: mysql_connect() in <b>x.php</b>\n<?xml version='1.0'?><urlset><url><loc>/1</loc></url>", ["/1"]),
        ("junk <urlset><url><loc>/1</loc></url></urlset>", ["/1"]),
        ("<urlset xmlns='wrong'><url xmlns=''><loc>/1</loc></url></urlset>", ["/1"]),
        ("<sm:urlset xmlns:sm='x'><sm:url><sm:loc>/1</sm:loc></sm:url></sm:urlset>", ["/1"]),
        ("<URLSET><Url><LOC>/1</LOC></Url></URLSET>", ["/1"]),
        ("<urlset><url><loc>/?a=1&b=2&copy=3&lt=4</loc></url></urlset>", ["/?a=1&b=2&copy=3&lt=4"]),
        ("<urlset><url><loc>/?a=1&amp;b&#38;c&#x26;d&apos;&eacute;</loc></url></urlset>", ["/?a=1&b&c&d%27%C3%A9"]),
        ("<urlset><url><loc><![CDATA[/?a&b=<1>]]></loc></url></urlset>", ["/?a&b=%3C1%3E"]),
        ("<urlset><url><loc>/a<![CDATA[/b]]>/c<!-- <loc>no</loc> -->/d</loc></url></urlset>", ["/a/b/c/d"]),
        ("<urlset><!-- <url><loc>/no</loc></url> --><url><loc>/1</loc></url></urlset>", ["/1"]),
        ("<urlset><url><loc>/1</loc><url><loc>/2</loc></url>", ["/1", "/2"]),
        ("<urlset><url><loc>/1</loc><loc>/2</loc></url></urlset>", ["/1", "/2"]),
        ("<urlset><loc>/1</loc><loc>/2</loc></urlset>", ["/1", "/2"]),
        ("<url><loc>/1</loc></url><url><loc>/2</loc></url>", ["/1", "/2"]),
        ("<urlset><url><loc>/1</loc></url><url><loc>/2</loc><lastmod>20", ["/1", "/2"]),
        ("<urlset><url><loc>/1</loc></url><url><loc>/not-who", ["/1"]),
        ("<urlset><url><loc>/1</loc></url><url><lo", ["/1"]),
        ("<urlset><url><loc>\n  /1\n</loc></url><url><loc>/a\n b</loc></url></urlset>", ["/1", "/a%20b"]),
        ("<urlset><url><loc/></url><url><loc></loc></url><url/><url><loc>mailto:x</loc></url></urlset>", []),
        ("<urlset><url><loc>/1#top</loc></url></urlset>", ["/1"]),
        ("<urlset><url><loc>/&#xD800;&#1114112;</loc></url></urlset>", ["/%EF%BF%BD%EF%BF%BD"]),
        ("<url>&k;", []),
    ],
)
def test_a_broken_sitemap_is_read_as_far_as_it_can_be(body: str, paths: list[str]) -> None:
    assert found(body) == [f"https://a.org{path}" for path in paths]


@pytest.mark.parametrize(
    ("declared", "real"),
    [
        ("utf-8", "utf-8"),
        ("utf-8", "latin-1"),
        ("iso-8859-1", "latin-1"),
        ("iso-8859-1", "utf-8"),
        ("utf-16", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-8", "utf-16-le"),
        ("no-such-thing", "utf-8"),
    ],
)
def test_a_sitemap_may_lie_about_its_encoding(declared: str, real: str) -> None:
    text = f'<?xml version="1.0" encoding="{declared}"?><urlset><url><loc>/café</loc></url></urlset>'
    assert found(text.encode(real)) == ["https://a.org/caf%C3%A9"]


def test_one_wrong_byte_does_not_spoil_the_rest() -> None:
    body = "<urlset><url><loc>/é</loc></url>".encode() + b"<url><loc>/\xe9</loc></url><url><loc>/x</loc></url></urlset>"
    assert found(body) == ["https://a.org/%C3%A9", "https://a.org/%C3%A9", "https://a.org/x"]


def test_a_big_sitemap_is_read_across_all_borders_of_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    row = "<url><loc>https://a.org/é/{0}?x&amp;y</loc><!-- < > --><lastmod><![CDATA[2024-01-02]]></lastmod></url>\n"
    body = ("<urlset>" + "".join(row.format(n) for n in range(50)) + "</urlset>").encode()
    whole = list(iter_entries(body, URL))
    assert len(whole) == 50
    for size in (1, 2, 3, 7, 64):
        monkeypatch.setattr(sitemaps, "_CHUNK", size)
        monkeypatch.setattr(sitemaps, "_HEAD", size)
        assert list(iter_entries(body, URL)) == whole
        assert list(iter_entries(gzip.compress(body), URL)) == whole


# --- as they are made to hurt ---


def test_entities_are_never_defined() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    body = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "lol">{laughs}<!ENTITY xxe SYSTEM "file:///etc/passwd">]>'
    assert found(body + "<urlset><url><loc>http://a.org/&l9;&xxe;</loc></url></urlset>") == ["http://a.org/"]


@pytest.mark.parametrize(
    "body",
    [
        b"<" * 300_000,
        b"<urlset>" + b"<a>" * 100_000 + b"<url><loc>/1</loc></url>",
        b"<urlset>" + b"<!--" * 80_000,
        b"<urlset><url><loc>" + b"<![CDATA[" * 100_000,
        b"<urlset><url><loc>/1</loc><link " + b"a='" * 100_000,
        b"<urlset><url><loc>/1</loc>" + (b"<link " + b"a " * 30_000 + b"href=/2 hreflang=de/>") * 10,
        b"<urlset><url><loc>/1" + b"&" * 300_000 + b"</loc></url>",
        b"<urlset><url><loc>/1</loc><" + b"x:" * 200_000 + b">",
    ],
)
def test_the_time_for_hostile_markup_grows_with_its_length_only(body: bytes) -> None:
    began = time.process_time()
    assert found(body) in ([], ["https://a.org/1"])
    assert time.process_time() - began < 12


def test_texts_and_tags_without_end_are_left_out() -> None:
    long = b"a" * 2_000_000
    body = b"<urlset><url><loc>/%b</loc></url><url><loc>/1</loc></url><%b><url><loc>/2</loc></url></urlset>" % (
        long,
        long,
    )
    assert found(body) == ["https://a.org/1", "https://a.org/2"]
    assert found(b"https://a.org/" + long + b"\nhttps://a.org/1") == ["https://a.org/1"]


def test_a_long_comment_or_section_ends_where_it_ends() -> None:
    long = b"a" * 300_000
    body = b"<urlset><!--%b--><url><loc>/1</loc></url><url><x><![CDATA[%b]]></x><loc>/2</loc></url></urlset>" % (
        long,
        long,
    )
    assert found(body) == ["https://a.org/1", "https://a.org/2"]


def test_a_bomb_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = gzip.compress(PLAIN[:-9] + b" " * 20_000_000)
    for body in (bomb, gzip.compress(bomb)):
        read = entries(body, URL)
        assert len(read.urls) == 2
        assert read.cut == "it unpacks to more than 200 times its size; the rest was left out"


@pytest.mark.parametrize(
    ("cap", "most", "cut"),
    [
        ("MOST_ENTRIES", 10, "it has more than 10 entries; the others were left out"),
        ("MOST_TAGS", 1000, "it has more than 1,000 tags; the rest was left out"),
        ("MOST_BYTES", 1 << 20, "it is larger than 1 MB; the rest was left out"),
    ],
)
def test_what_is_beyond_a_cap_is_left_out_and_told(
    monkeypatch: pytest.MonkeyPatch, cap: str, most: int, cut: str
) -> None:
    monkeypatch.setattr(sitemaps, cap, most)
    body = b"<urlset>" + b"".join(b"<url><loc>/%d</loc>%b</url>" % (n, b" " * 1000) for n in range(2000))
    read = entries(body, URL)
    assert len(read.urls) < 2000
    assert read.cut == cut


def test_alternates_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "_MOST_ALTERNATES", 3)
    links = "".join(f"<link rel=alternate hreflang=x{n} href=/{n} />" for n in range(10))
    assert len(entries(f"<urlset><url><loc>/</loc>{links}</url></urlset>".encode(), URL).urls[0].alternates) == 3


PIECES = """<urlset> <url> </url> <loc> </loc> <sitemap> </sitemap> <lastmod> </lastmod> <rss> <item> </item> <link>
    </link> <feed> <entry> </entry> <image:image> </image:image> <![CDATA[ ]]> <!-- --> <? ?> < > & &amp; &#0;
    &#x110000; http://a.org/x /y 2024-01-01 href= ' " hreflang=de \ufeff \0 é"""
pieces = st.lists(st.sampled_from(PIECES.split()) | st.text(max_size=5), max_size=40).map(" ".join)


@given(pieces, st.sampled_from(["utf-8", "utf-16", "latin-1"]), st.booleans())
def test_no_sitemap_raises_and_all_it_names_can_be_fetched(text: str, codec: str, packed: bool) -> None:
    body = text.encode(codec, "replace")
    read = entries(gzip.compress(body) if packed else body, URL)
    for entry in read.urls:
        assert entry.url.startswith(("http://", "https://"))
        assert entry.priority is None or 0 <= entry.priority <= 1
        assert all(to.startswith(("http://", "https://")) for to in entry.alternates.values())
    assert all(url.startswith(("http://", "https://")) for url in read.sitemaps)


@given(st.binary(max_size=200))
def test_no_bytes_raise(body: bytes) -> None:
    for start in (b"", b"\x1f\x8b", b"\x1f\x8b\x08\0\0\0\0\0\0\0", b"<urlset>", codecs.BOM_UTF16_BE):
        entries(start + body, URL)


# --- dates ---


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
        ("2024-5", datetime(2024, 5, 1, tzinfo=UTC)),
        ("2024-05-06", datetime(2024, 5, 6, tzinfo=UTC)),
        (" 2024-05-06T07:08Z ", datetime(2024, 5, 6, 7, 8, tzinfo=UTC)),
        ("2024-05-06 07:08:09.5", datetime(2024, 5, 6, 7, 8, 9, 500_000, tzinfo=UTC)),
        ("Mon, 06 May 2024 07:08:09 +0000", datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)),
        ("2024-13", None),
        ("0000", None),
        ("yesterday", None),
        ("", None),
        ("9" * 1000, None),
    ],
)
def test_dates_are_read_as_sitemaps_and_feeds_write_them(text: str, date: datetime | None) -> None:
    assert when(text) == date


@given(st.text(max_size=80))
def test_no_date_raises(text: str) -> None:
    assert when(text) is None or when(text).tzinfo is not None  # type: ignore[union-attr]
