"""Microformats, of today and classic."""

from __future__ import annotations

from typing import Any

import pytest

from gossamer.parse.page import Page
from gossamer.parse.structured import structured


def items(html: str) -> list[dict[str, Any]]:
    """The microformats of a page."""
    return structured(Page.of(html)).microformats


def properties(html: str) -> dict[str, Any]:
    """The properties of the only one."""
    (item,) = items(html)
    return dict(item["properties"])


def test_an_entry_with_its_author() -> None:
    """Texts, dates, URLs, markup, and an item as a property."""
    (entry,) = items(
        """<article class="h-entry"><h1 class="p-name">T &amp; U</h1><a class="u-url" href="/1">link</a>
        <p class="p-author h-card"><a class="p-name u-url" href="/ann">Ann</a></p>
        <time class="dt-published" datetime="2026-01-02">2 Jan</time>
        <b class="p-category">x</b><b class="p-category">y</b>
        <div class="e-content"><p>Hi <b>you</b></p></div></article>"""
    )
    assert entry == {
        "type": ["h-entry"],
        "properties": {
            "name": ["T & U"],
            "url": ["https://example.org/1"],
            "author": [
                {
                    "type": ["h-card"],
                    "properties": {"name": ["Ann"], "url": ["https://example.org/ann"]},
                    "value": "Ann",
                }
            ],
            "published": ["2026-01-02"],
            "category": ["x", "y"],
            "content": [{"html": "<p>Hi <b>you</b></p>", "value": "Hi you"}],
        },
    }


def test_items_below_that_are_no_property_are_children() -> None:
    """As the entries of a feed."""
    (feed,) = items(
        '<div class="h-feed"><b class="p-name">F</b><p class="h-entry">one</p><p class="h-entry">two</p></div>'
    )
    assert [child["properties"]["name"] for child in feed["children"]] == [["one"], ["two"]]


@pytest.mark.parametrize(
    ("html", "meant"),
    [
        ('<a class="h-card" href="/x">Jo</a>', {"name": ["Jo"], "url": ["https://example.org/x"]}),
        (
            '<p class="h-card"><a href="/x"><img src="/j.png" alt="Jo"></a></p>',
            {
                "name": ["Jo"],
                "photo": [{"value": "https://example.org/j.png", "alt": "Jo"}],
                "url": ["https://example.org/x"],
            },
        ),
        ('<abbr class="h-card" title="Jo Lee">JL</abbr>', {"name": ["Jo Lee"]}),
        ('<p class="h-card"><b class="p-tel">1</b></p>', {"tel": ["1"]}),
    ],
)
def test_what_goes_without_saying(html: str, meant: dict[str, Any]) -> None:
    """Name, photo and URL of an item that is nothing but a name, a photo or a link."""
    assert properties(html) == meant


@pytest.mark.parametrize(
    ("html", "meant"),
    [
        ('<i class="dt-start"><b class="value">2026-05-01</b> at <b class="value">7:30pm</b></i>', "2026-05-01 19:30"),
        ('<i class="dt-start"><b class="value-title" title="2026-05-01T10:00Z"></b></i>', "2026-05-01 10:00Z"),
        ('<abbr class="dt-start" title="2026-05-01">1 May</abbr>', "2026-05-01"),
        ('<i class="dt-start">tomorrow</i>', "tomorrow"),
    ],
)
def test_dates_in_pieces(html: str, meant: str) -> None:
    """A date and a time, each in an element of its own."""
    assert properties(f'<div class="h-event"><b class="p-name">E</b>{html}</div>')["start"] == [meant]


def test_values_in_pieces() -> None:
    """Pieces of a text are put together."""
    html = '<p class="h-card"><b class="p-tel"><i>home</i> <b class="value">+1</b><b class="value">23</b></b></p>'
    assert properties(html) == {"tel": ["+123"]}


@pytest.mark.parametrize(
    ("html", "kind", "meant"),
    [
        (
            """<article class="post hentry"><h1 class="entry-title"><a rel="bookmark" href="/p">T</a></h1>
            <span class="author vcard"><a class="url fn" href="/a">A</a></span>
            <time class="updated" datetime="2019-02-03">3</time><a rel="tag" href="/t/x">x</a></article>""",
            "h-entry",
            {
                "name": ["T"],
                "url": ["https://example.org/p"],
                "author": [
                    {
                        "type": ["h-card"],
                        "properties": {"url": ["https://example.org/a"], "name": ["A"]},
                        "value": "A",
                    }
                ],
                "updated": ["2019-02-03"],
                "category": ["x"],
            },
        ),
        (
            '<p class="vevent"><b class="summary">E</b><abbr class="dtstart" title="2026-05-01">1</abbr></p>',
            "h-event",
            {"name": ["E"], "start": ["2026-05-01"]},
        ),
        (
            '<p class="hproduct"><b class="fn">Lamp</b><b class="price">$9</b></p>',
            "h-product",
            {"name": ["Lamp"], "price": ["$9"]},
        ),
        (
            '<p class="vcard"><b class="fn">Bo</b><i class="adr"><b class="locality">Rome</b></i></p>',
            "h-card",
            {
                "name": ["Bo"],
                "adr": [{"type": ["h-adr"], "properties": {"locality": ["Rome"]}, "value": "Rome"}],
            },
        ),
    ],
)
def test_classic_ones_have_the_names_of_today(html: str, kind: str, meant: dict[str, Any]) -> None:
    """hentry, vevent, hproduct, vcard."""
    (item,) = items(html)
    assert item == {"type": [kind], "properties": meant}


@pytest.mark.parametrize("html", ['<p class="h-full h-4">x</p>', '<p class="three">x</p>', '<p class="p-name">x</p>'])
def test_boxes_and_stray_properties_are_none(html: str) -> None:
    """How tall a box is says nothing about what it is."""
    assert items(html) == []
