"""RDFa in HTML."""

from __future__ import annotations

from typing import Any

import pytest

from gossamer.parse.page import Page
from gossamer.parse.structured import structured, things

URL = "https://example.org/a/page"


def resources(html: str) -> list[dict[str, Any]]:
    """The resources of a page, without the page's word about its vocabularies."""
    found = [dict(one) for one in structured(Page.of(html, URL)).rdfa]
    for one in found:
        one.pop("http://www.w3.org/ns/rdfa#usesVocabulary", None)
    return [one for one in found if set(one) != {"@id"}]


def test_lite() -> None:
    """What nearly all pages write: a vocabulary, a type, properties, and things in things."""
    page = Page.of(
        """<div vocab="https://schema.org/" typeof="Product"><h1 property="name">Lamp</h1>
        <a property="url" href="/lamp"><img property="image" src="l.png"></a>
        <div property="offers" typeof="Offer"><span property="price" content="9.50">9,50</span>
        <link property="availability" href="https://schema.org/InStock"></div></div>""",
        URL,
    )
    assert things(page) == [
        {
            "@type": "Product",
            "name": "Lamp",
            "url": "https://example.org/lamp",
            "image": "https://example.org/a/l.png",
            "offers": {"@type": "Offer", "price": "9.50", "availability": "https://schema.org/InStock"},
        }
    ]


def test_things_with_urls_of_their_own() -> None:
    """They stand at the top and are referred to; as things they stand in each other again."""
    html = """<div vocab="http://schema.org/" resource="#me" typeof="Person"><b property="name">Ann</b>
        <p property="knows" resource="#you" typeof="Person"><b property="name">Bo</b></p></div>"""
    me, you = resources(html)
    assert me["http://schema.org/knows"] == {"@id": you["@id"]} == {"@id": URL + "#you"}
    assert things(Page.of(html, URL))[0]["knows"]["name"] == "Bo"


@pytest.mark.parametrize(
    ("html", "value"),
    [
        ("<b property=x>text <i>more</i></b>", "text more"),
        ('<b property=x content="c">text</b>', "c"),
        ('<time property=x datetime="2026-01-02">then</time>', "2026-01-02"),
        ('<data property=x value="7">seven</data>', "7"),
        ('<a property=x href="tel:+1">call</a>', "tel:+1"),
        ('<b property=x resource="/r">text</b>', "https://example.org/r"),
        ('<b property=x datatype="xsd:date">2026-01-02</b>', "2026-01-02"),
        ('<b property="x y">both</b>', "both"),
        ("<b property=x>1</b><b property=x>2</b><b property=x>1</b>", ["1", "2"]),
    ],
)
def test_the_value_depends_on_the_attributes(html: str, value: Any) -> None:
    """Content before link before text."""
    one = next(one for one in resources(f'<div vocab="http://v.org/" typeof=T>{html}</div>') if "@type" in one)
    assert one["http://v.org/x"] == value


def test_names_by_prefix() -> None:
    """Declared, known everywhere, whole URLs; without a vocabulary a bare name means nothing."""
    (one,) = resources(
        """<div prefix="ex: http://ex.org/ other: http://o.org#" about="ex:thing" typeof="foaf:Person Nothing">
        <b property="ex:a">1</b><b property="dc:title">2</b><b property="http://full.org/b">3</b><b property=bare>4</b>
        <b property="other:c">5</b></div>"""
    )
    assert one == {
        "@id": "http://ex.org/thing",
        "@type": "http://xmlns.com/foaf/0.1/Person",
        "http://ex.org/a": "1",
        "http://purl.org/dc/terms/title": "2",
        "http://full.org/b": "3",
        "http://o.org#c": "5",
    }


def test_a_vocabulary_may_lack_its_slash() -> None:
    """As on every tenth page."""
    page = Page.of('<p vocab="https://schema.org" typeof="Person"><b property="name">Ann</b></p>')
    assert things(page) == [{"@type": "Person", "name": "Ann"}]


def test_links_by_rel_and_rev() -> None:
    """To a URL, to what stands below, and back; links of HTML are no statements."""
    found = resources(
        """<div vocab="http://v.org/" about="#me"><a rel="knows nofollow" href="#you">you</a>
        <div rel="owns"><p typeof="Cat"><b property="name">Tom</b></p><p><b property="colour">red</b></p></div>
        <a rev="made" href="#maker">m</a><link rel="stylesheet" href="s.css"></div>"""
    )
    me, maker = (next(one for one in found if one.get("@id") == URL + name) for name in ("#me", "#maker"))
    assert me["http://v.org/knows"] == URL + "#you"
    assert {"@type": "http://v.org/Cat", "http://v.org/name": "Tom"} in me["http://v.org/owns"]
    assert {"http://v.org/colour": "red"} in me["http://v.org/owns"]
    assert maker["http://v.org/made"] == {"@id": me["@id"]}
    assert not any("stylesheet" in name or "nofollow" in name for one in found for name in one)


def test_nameless_things_that_speak_of_each_other() -> None:
    """Nobody is lost, and nobody lies in himself."""
    found = resources(
        '<div vocab="http://v.org/"><i about="_:a" rel="x" resource="_:b"></i>'
        '<i about="_:b" rel="y" resource="_:a"></i><b about="_:a" property="name">A</b></div>'
    )
    assert found == [{"http://v.org/x": {}, "http://v.org/name": "A"}]


def test_the_body_speaks_of_the_page() -> None:
    """A type on <body> is the page's."""
    (one,) = resources('<body vocab="http://v.org/" typeof="WebPage"><h1 property="name">T</h1></body>')
    assert one == {"@id": URL, "@type": "http://v.org/WebPage", "http://v.org/name": "T"}


def test_metas_alone_are_left_to_opengraph() -> None:
    """Nearly every page has them: they are not read twice."""
    assert structured(Page.of('<meta property="og:title" content="T"><p>x')).rdfa == []
    assert resources('<h1 property="http://purl.org/dc/terms/title">T</h1>') == [
        {"@id": URL, "http://purl.org/dc/terms/title": "T"}
    ]


def test_before_version_1_1_markup_was_a_value() -> None:
    """As Drupal 7 wrote it."""
    (one,) = resources(
        '<html version="XHTML+RDFa 1.0" xmlns:ex="http://ex.org/"><head><link rel="shortcut icon" href="/i.ico"></head>'
        '<body><div property="ex:body"><p>Hi <b>you</b></p></div></body></html>'
    )
    assert one["http://ex.org/body"] == '<p xmlns:ex="http://ex.org/">Hi <b>you</b></p>'
    assert one["http://www.w3.org/1999/xhtml/vocab#icon"] == "https://example.org/i.ico"
