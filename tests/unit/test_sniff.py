"""What a body is, whatever its header says; and what a Content-Type header says."""

from __future__ import annotations

import gzip
import io
import json
import time
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse import sniff
from tests.conftest import corpora

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
GZIP = gzip.compress(b"x")
PAGE = b"<!DOCTYPE html><title>T</title>"
URLSET = b'<?xml version="1.0"?>\n<!-- <rss> --><urlset xmlns="x"><url/></urlset>'


def _zip() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        made.writestr("a", "b")
    return packed.getvalue()


KINDS = frozenset("html xml feed sitemap json text pdf image audio video font zip gzip binary empty".split())  # noqa: SIM905


@pytest.mark.parametrize(
    "content_type", ["", "application/octet-stream", "nonsense", "*/*", "binary/octet-stream; x=y"]
)
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "empty"),
        (PDF, "pdf"),
        (PNG, "image"),
        (b"GIF89a\x01\0", "image"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "image"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "image"),
        (b"\0\0\0\x1cftypavif\0\0\0\0", "image"),
        (b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0(\0", "image"),
        (b"ID3\x03\0", "audio"),
        (b"\xff\xfb\x90\x64\0", "audio"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "audio"),
        (b"\0\0\0\x20ftypisom\0\0\x02\0", "video"),
        (b"\x1aE\xdf\xa3\x01\0", "video"),
        (b"wOF2\0\x01\0\0", "font"),
        (GZIP, "gzip"),
        (_zip(), "zip"),
        (b"\x7fELF\x02\x01", "binary"),
        (b"\0\x01\x02\x03", "binary"),
        (b"words and \x07", "binary"),
        (PAGE, "html"),
        (b"\xef\xbb\xbf \n<!-- x --><HTML>", "html"),
        (b"  <p>words", "html"),
        (b"<section>words", "html"),
        (b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>", "html"),
        (b"<?xml version='1.0'?><note/>", "xml"),
        (b"<note xmlns='x'><to/></note>", "xml"),
        ("<?xml version='1.0'?><rss>".encode("utf-16"), "feed"),
        ("<?xml version='1.0'?><rss>".encode("utf-16-le"), "feed"),
        (b"<rss version='2.0'>", "feed"),
        (b"<feed xmlns='http://www.w3.org/2005/Atom'>", "feed"),
        (b"<rdf:RDF xmlns='http://purl.org/rss/1.0/'>", "feed"),
        (b"<rdf:RDF xmlns='x'>", "xml"),
        (URLSET, "sitemap"),
        (b"<sm:sitemapindex>", "sitemap"),
        (b' {"a": [1, 2]} ', "json"),
        (b"[]", "json"),
        (b"\xef\xbb\xbf[1]", "json"),
        (b"{not json}", "text"),
        (b"words", "text"),
        ("wörter".encode("latin-1"), "text"),
        ("words".encode("utf-16"), "text"),
    ],
)
def test_a_body_that_nobody_describes_is_known_by_its_bytes(content_type: str, body: bytes, kind: str) -> None:
    assert sniff.kind(content_type, body) == kind


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        # what the header says is trusted
        ("text/html; charset=utf-8", b"words", "html"),
        ("text/html", b"", "empty"),
        ("application/xhtml+xml", b"<?xml version='1.0'?><html>", "html"),
        ("text/plain", b"<p>words", "text"),
        ("text/plain", b'{"a": 1}', "text"),
        ("text/csv", b"a,b\n", "text"),
        ("application/javascript", b"a()", "text"),
        ("application/json", b"not json", "json"),
        ("application/ld+json", b"{}", "json"),
        ("application/rss+xml", b"words", "feed"),
        ("application/xml", b"<a/>", "xml"),
        ("text/xml", URLSET, "sitemap"),
        ("application/vnd.x+xml", b"<rss>", "feed"),
        ("image/svg+xml", b"<svg/>", "image"),
        ("image/png", b"no signature", "image"),
        ("application/pdf", b"\n\n%PDF-1.4", "pdf"),
        ("audio/ogg", b"OggS\0", "audio"),
        ("video/ogg", b"OggS\0", "video"),
        ("audio/mp4", b"\0\0\0\x20ftypisom\0\0\x02\0", "audio"),
        ("font/woff2", b"x", "font"),
        ("application/x-font-ttf", b"x", "font"),
        ("application/msword", b"words", "binary"),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", _zip(), "zip"),
        ("application/epub+zip", b"PK\x03\x04\0", "zip"),
        # unless the bytes plainly deny it
        ("text/html", PNG, "image"),
        ("text/html", PDF, "pdf"),
        ("text/html", b"%PDF-1.0 plain ascii", "pdf"),
        ("text/html", b"GIF89a is the name of a format", "html"),
        ("text/html", b"ID3 tags, a page without a tag", "html"),
        ("text/plain", GZIP, "gzip"),
        ("text/plain", b"\0\x01\x02", "binary"),
        ("text/plain", b"OTTO, a text", "text"),
        ("text/html", b'{"a": 1}', "json"),
        ("text/html", b"{{ a template }}", "html"),
        ("text/html", b"<rss><channel/></rss>", "feed"),
        ("text/html", URLSET, "sitemap"),
        ("text/html", b"<?xml version='1.0'?><note/>", "html"),
        ("application/json", PAGE, "html"),
        ("application/rss+xml", PAGE, "html"),
        ("text/xml", PAGE, "html"),
        ("image/jpeg", PAGE, "html"),
        ("image/jpeg", PDF, "pdf"),
        ("application/pdf", b" \n<html><body>Not found", "html"),
        ("application/pdf", _zip(), "zip"),
        ("application/gzip", URLSET, "sitemap"),
        ("application/x-gzip", GZIP, "gzip"),
        ("application/zip", b"words", "text"),
    ],
)
def test_a_header_is_trusted_unless_the_bytes_plainly_deny_it(content_type: str, body: bytes, kind: str) -> None:
    assert sniff.kind(content_type, body) == kind


markup = st.lists(
    st.sampled_from(
        [b"<", b"<!--", b"-->", b"<?xml", b"<rss", b"<html", b" ", b"{", b"[", b"\0", b"%PDF-", b"RIFF", b"PK"]
    )
    | st.binary(max_size=8),
    max_size=12,
).map(b"".join)


@given(st.text(max_size=30) | st.sampled_from(["text/html", "text/xml", "image/png", "application/gzip"]), markup)
def test_every_body_is_something(content_type: str, body: bytes) -> None:
    assert sniff.kind(content_type, body) in KINDS


@pytest.mark.parametrize(
    "body", [b"<!--" * 200_000, b"<" * 1_000_000, b"[" * 1_000_000, b" " * 1_000_000, b"<a" * 500_000]
)
def test_hostile_bodies_take_no_time(body: bytes) -> None:
    began = time.process_time()
    for content_type in ("", "text/html", "text/xml"):
        sniff.kind(content_type, body)
    assert time.process_time() - began < 3


# --- headers ---


@pytest.mark.parametrize(
    ("header", "essence", "parameters"),
    [
        ("text/html", "text/html", {}),
        (" Text/HTML ; Charset=UTF-8 ", "text/html", {"charset": "UTF-8"}),
        ('a/b; x="a;\\"b"; y=2; x=3', "a/b", {"x": 'a;"b', "y": "2"}),
        ('a/b; x="open', "a/b", {"x": "open"}),
        ('a/b; x=""; y=; z', "a/b", {"x": ""}),
        ("a/b;;;x=1", "a/b", {"x": "1"}),
        ("text", "", {}),
        ("", "", {}),
        ("te xt/html", "", {}),
        ("text/html, text/plain", "", {}),
    ],
)
def test_a_media_type_and_its_parameters(header: str, essence: str, parameters: dict[str, str]) -> None:
    assert sniff.mime(header) == (essence, parameters)


@given(st.text())
def test_no_header_raises(header: str) -> None:
    essence, parameters = sniff.mime(header)
    assert essence == essence.lower()
    assert essence or not parameters


@pytest.mark.parametrize("header", ["a/b;" + ";" * 100_000, 'a/b;x="' + "\\" * 100_000, "a/b;" + "x=" * 100_000])
def test_hostile_headers_take_no_time(header: str) -> None:
    began = time.process_time()
    sniff.mime(header)
    assert time.process_time() - began < 1.2


@pytest.mark.suite
def test_headers_are_parsed_as_the_standard_says() -> None:
    """All cases of the web platform tests, beyond the charset that the suite's runner counts."""
    told = (corpora("suites", "http") / "shared" / "mime.jsonl").read_text("utf-8")
    rows = [json.loads(row) for row in told.strip().split("\n")]
    wrong = [row["input"] for row in rows if _written(row["input"]) != row["output"]]
    assert not wrong
    assert len(rows) > 400


def _written(header: str) -> str | None:
    """A parsed header, as the standard writes it out."""
    essence, parameters = sniff.mime(header)
    plain = sniff._TOKEN.fullmatch
    quoted = {k: '"' + v.replace("\\", "\\\\").replace('"', '\\"') + '"' for k, v in parameters.items()}
    return essence + "".join(f";{k}={v if plain(v) else quoted[k]}" for k, v in parameters.items()) or None
