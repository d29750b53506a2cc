"""The page record of `gossamer crawl`, field by field."""

from __future__ import annotations

import hashlib

import pytest

from gossamer.crawler import Crawl, page_record
from gossamer.errors import ConfigError
from gossamer.values import Request
from tests.unit.pages import page

BODY = """<!doctype html><html lang="en-GB"><head><title> A  shop </title><base href="/eu/"><style>p{}</style></head>
<body><h2>Second <i>comes</i>
first</h2><h1>Title</h1><h6>six</h6><script>var x = "not seen";</script><p>abc</p>
<a href=one>1</a><map><area href=two></map><iframe src=three></iframe><a href=one#x>1</a></body></html>"""


def test_a_page_becomes_a_record_with_every_field() -> None:
    record = page_record(page(BODY, depth=2))
    assert record.pop("text_length") > 0
    assert record == {
        "url": "http://a.org/shop/list.html?page=2",
        "status": 200,
        "depth": 2,
        "title": "A shop",
        "headings": ["Second comes first", "Title", "six"],
        "links": ["http://a.org/eu/one", "http://a.org/eu/two", "http://a.org/eu/three"],
        "language": "en-GB",
        "sha256": hashlib.sha256(BODY.encode()).hexdigest(),
        "fetched_at": "1970-01-01T00:16:40+00:00",
    }


@pytest.mark.parametrize(
    ("body", "length"),
    [
        ("<body>abc</body>", 3),
        ("<body>a<b>b</b>c", 3),
        ("<body>abc<script>xyz</script><style>p{}</style>", 3),
        ("<body>abc<noscript>no <style>p{}</style><div><script>x</script></div></noscript>", 3),
        ("<body>abc<noscript>x<noscript>y</noscript></noscript>", 3),
        ("<body>abc<template>hidden<script>x</script></template>", 3),
        ("<head><title>not counted</title></head><body>abc", 3),
        ("<body>\u65e5\u672c", 2),
        ("<frameset><frame src=x></frameset>", 0),
        ("", 0),
    ],
)
def test_the_text_length_counts_what_a_reader_sees(body: str, length: int) -> None:
    assert page_record(page(body))["text_length"] == length


@pytest.mark.parametrize(
    ("body", "language"),
    [("<html lang=de>", "de"), ("<html lang=''>", None), ("<html lang>", None), ("<p lang=fr>", None), ("", None)],
)
def test_the_language_is_what_the_page_says_it_is(body: str, language: str | None) -> None:
    assert page_record(page(body))["language"] == language


def test_the_title_of_a_drawing_is_not_the_pages() -> None:
    assert page_record(page("<body><svg><title>drawing</title></svg><h1>x</h1>"))["title"] is None


def test_every_link_is_followed_and_only_html_is_kept() -> None:
    record, *found = Crawl().parse(page(BODY))
    assert isinstance(record, dict)
    assert found == [Request(link) for link in record["links"]]
    assert list(Crawl().parse(page("{}", kind="application/json"))) == []


def test_a_crawl_starts_with_what_a_person_typed() -> None:
    assert list(Crawl({"urls": ["example.org", "localhost:81/x"]}).start()) == [
        "https://example.org/",
        "http://localhost:81/x",
    ]
    with pytest.raises(ConfigError, match="'nowhere' is not a URL"):
        Crawl({"urls": ["nowhere"]}).start()
