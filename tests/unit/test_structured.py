"""What a page says about itself for machines: every syntax, and the one shape they come to."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from gossamer.parse import structured as door
from gossamer.parse.page import Page
from gossamer.parse.structured import Structured, of_type, structured, things


def ld(*scripts: object) -> Page:
    """A page with JSON-LD scripts: texts as they are, everything else as JSON."""
    texts = [script if isinstance(script, str) else json.dumps(script) for script in scripts]
    return Page.of("".join(f'<script type="application/ld+json">{text}</script>' for text in texts))


LAMP = {
    "@context": "https://schema.org",
    "@type": "Product",
    "name": "Lamp",
    "offers": {"@type": "Offer", "price": 9.5},
}


# --- every syntax ---


def test_a_page_without_marks_says_nothing() -> None:
    """And is not even parsed."""
    page = Page.of("<p>Only words.</p>")
    assert structured(page) == Structured()
    assert things(page) == []
    assert "tree" not in page.__dict__


def test_all_syntaxes_of_one_page() -> None:
    """Each is found in its own place, as the page spells it."""
    page = Page.of(
        """<html prefix="og: http://ogp.me/ns#"><head>
        <meta property="og:title" content="A &amp; B"><meta name="twitter:card" content="summary">
        <meta property="og:image" content="/1.png"><meta property="og:image" content="/2.png">
        <meta name="DC.creator" content="Ann"><meta name="description" content="no part of it">
        <script type="application/ld+json">{"@type": "WebPage", "name": "W"}</script></head><body>
        <p itemscope itemtype="https://schema.org/Person"><b itemprop="name">Bo</b></p>
        <p vocab="https://schema.org/" typeof="Person"><b property="name">Cy</b></p>
        <p class="h-card">Di</p>"""
    )
    found = structured(page)
    assert found.jsonld == [{"@type": "WebPage", "name": "W"}]
    assert found.microdata == [{"@type": "https://schema.org/Person", "name": "Bo"}]
    assert {"@type": "https://schema.org/Person", "https://schema.org/name": "Cy"} in found.rdfa
    assert found.opengraph == {"og:title": "A & B", "twitter:card": "summary", "og:image": ["/1.png", "/2.png"]}
    assert found.microformats == [{"type": ["h-card"], "properties": {"name": ["Di"]}}]
    assert found.dublincore == {"creator": "Ann"}
    assert [thing["name"] for thing in things(page)] == ["W", "Bo", "Cy"]


def test_marks_are_found_in_any_case_and_encoding() -> None:
    """Attributes may be written in capitals, and a page in UTF-16."""
    html = '<P ITEMSCOPE ITEMTYPE="https://schema.org/Person"><B ITEMPROP=name>Bo</B></P>'
    assert things(Page.of(html)) == [{"@type": "Person", "name": "Bo"}]
    assert things(Page.of(html.encode("utf-16"))) == [{"@type": "Person", "name": "Bo"}]


def test_opengraph_of_any_namespace_in_property_but_not_in_name() -> None:
    """`property` is RDFa's and means what it says; in `name` only known prefixes are metas of this kind."""
    found = structured(
        Page.of(
            '<meta property="product:price:amount" content="3"><meta property="weather:degrees" content="4">'
            '<meta name="og:type" content="article"><meta name="a:b" content="5"><meta property="og:empty" content=" ">'
        )
    )
    assert found.opengraph == {"product:price:amount": "3", "weather:degrees": "4", "og:type": "article"}


def test_dublin_core_by_term() -> None:
    """A qualified name counts as its qualifier; links count as texts."""
    found = structured(
        Page.of(
            '<meta name="DC.Title" content="T"><meta name="dc:subject" content="a"><meta name="dc:subject" content="b">'
            '<meta name="DC.Date.modified" content="2001"><link rel="DCTERMS.replaces" href="http://a.org/old">'
        )
    )
    assert found.dublincore == {"title": "T", "subject": ["a", "b"], "modified": "2001", "replaces": "http://a.org/old"}


# --- one shape ---


def test_things_have_short_names_and_tidy_texts() -> None:
    """Prefixes of schema.org are cut, those of others stay; entities and white space are tidied, lines stay lines."""
    page = ld(
        {
            "@type": ["http://schema.org/Product", "schema:Thing"],
            "schema:name": " A &amp;\t B ",
            "description": "One\n\n  two ",
            "http://other.org/x": {"@value": "kept"},
            "tags": {"@list": ["a", "", None, "b"]},
            "nothing": "",
        }
    )
    assert things(page) == [
        {
            "@type": ["Product", "Thing"],
            "name": "A & B",
            "description": "One\ntwo",
            "http://other.org/x": "kept",
            "tags": ["a", "b"],
        }
    ]


def test_a_graph_is_flattened_and_references_are_resolved() -> None:
    """Where only an id stands, the thing itself is put, and in it the things it refers to."""
    page = ld(
        {
            "@graph": [
                {"@type": "Article", "@id": "#a", "author": {"@id": "#p"}, "publisher": {"@id": "#gone"}},
                {"@type": "Person", "@id": "#p", "name": "Ann", "worksFor": {"@type": "Organization", "@id": "#o"}},
                {"@type": "Organization", "@id": "#o", "name": "Org", "founder": {"@id": "#p"}},
            ]
        }
    )
    article, person, org = things(page)
    assert article["author"]["name"] == "Ann"
    assert article["author"]["worksFor"]["name"] == "Org"
    assert article["author"]["worksFor"]["founder"] == {"@id": "#p"}, "a circle is cut"
    assert article["publisher"] == {"@id": "#gone"}, "what is not on the page stays a reference"
    assert person["worksFor"]["name"] == org["name"] == "Org"


def test_keywords_may_lack_their_at_sign() -> None:
    """schema.org's own context calls `@type` also `type`."""
    assert things(ld({"type": "Country", "id": "#c", "name": "US"})) == [
        {"@type": "Country", "@id": "#c", "name": "US"}
    ]


def test_things_of_a_type_and_of_its_kinds() -> None:
    """At any depth, outermost first, each once."""
    page = ld(
        {"@type": "WebPage", "mainEntity": {"@type": "NewsArticle", "@id": "#n", "name": "inner"}},
        {"@type": "BlogPosting", "name": "outer"},
        {"@type": "Thing", "about": {"@id": "#n"}},
    )
    assert [thing["name"] for thing in of_type(page, "Article")] == ["outer", "inner"]
    assert [thing["name"] for thing in of_type(page, "NewsArticle", "Recipe")] == ["inner"]
    assert of_type(page, "Product") == []


def test_things_with_one_id_and_different_names_are_different() -> None:
    """Lists of products that all have the id of the page are not one product."""
    page = ld([{"@type": "Product", "@id": "#p", "name": name} for name in "ab"])
    assert [thing["name"] for thing in of_type(page, "Product")] == ["a", "b"]


def test_the_parser_gives_things_or_else_what_there_is() -> None:
    """Items for whoever names this parser: things, or OpenGraph, or microformats."""
    assert door.read(ld(LAMP))[0]["name"] == "Lamp"
    assert door.read(Page.of('<meta property="og:title" content="T">')) == [{"og:title": "T"}]
    assert door.read(Page.of('<p class="h-card">Di</p>'))[0]["type"] == ["h-card"]
    assert door.read(Page.of("<p>no")) == []


def test_a_page_is_read_once() -> None:
    """Whoever chooses a parser asks, and then the parser asks."""
    page = ld(LAMP)
    assert things(page) is things(page)


# --- JSON-LD, also broken ---


@pytest.mark.parametrize(
    "broken",
    [
        '{"@type": "Product", "name": "Lamp",}',
        '{"@type": "Product", "name": "Lamp"',
        '// told\n{"@type": "Product", /* by us */ "name": "Lamp"}',
        '<!-- {"@type": "Product", "name": "Lamp"} -->',
        '//<![CDATA[\n{"@type": "Product", "name": "Lamp"}\n//]]>',
        "{&quot;@type&quot;: &quot;Product&quot;, &quot;name&quot;: &quot;Lamp&quot;}",
        '{"@type": "Product" "name": "Lamp"}',
        "{'@type': 'Product', name: 'Lamp'};",
        '{"@type": "Product", "name": "Lamp", "price": NaN}',
        '{"@type": "Product", "name": "Lamp", "price": }',
        '[{"@type": "Product", "name": "Lamp"}',
        'var data = {"@type": "Product", "name": "Lamp"};',
        '{"@type": "Product", "name": "Lamp"}}',
        '\ufeff{"@type": "Product", "name": "Lamp\\u0000"}',
    ],
)
def test_broken_json_is_mended(broken: str) -> None:
    """Whatever was forgotten or left in, the product has its name."""
    (product,) = of_type(ld(broken), "Product")
    assert product["name"].rstrip("\0") == "Lamp"


@pytest.mark.parametrize(
    ("broken", "meant"),
    [
        ('{"name": "two\nlines\tand tabs"}', "two\nlines and tabs"),
        ('{"name": "a 12" disc", "sku": "1"}', 'a 12" disc'),
        ('{"name": "he said "no", then left", "sku": "1"}', 'he said "no", then left'),
        (r'{"name": "it\'s \x fine"}', "it's x fine"),
        (r'{"name": "half \ud83d pair"}', "half � pair"),
        ('{"name": "never ended', "never ended"),
        ('{"name": 1.234.5}', "1.234.5"),
    ],
)
def test_broken_texts_keep_their_words(broken: str, meant: str) -> None:
    """Quotes, line ends and escapes that JSON does not allow."""
    assert things(ld(broken))[0]["name"] == meant


def test_several_values_in_one_script_and_several_scripts() -> None:
    """All of them count, in order; a script that is hopeless does not hide the others."""
    page = ld('{"name": "a"}{"name": "b"}', "nothing like it", [[{"name": "c"}], {"name": "d"}])
    assert [thing["name"] for thing in things(page)] == ["a", "b", "c", "d"]


def test_scripts_of_other_types_and_in_comments_are_none() -> None:
    """Only what a browser would hold as a JSON-LD script."""
    page = Page.of(
        '<!-- <script type="application/ld+json">{"name": "x"}</script> -->'
        '<script type="application/json">{"name": "y"}</script>'
        '<script type="Application/LD+JSON; charset=utf-8">{"name": "z"}</script>'
    )
    assert things(page) == [{"name": "z"}]


def test_a_document_that_is_json_ld_itself() -> None:
    """As APIs answer; plain JSON describes no things, and what is no markup is not parsed."""
    lamp = Page.of(json.dumps(LAMP), content_type="application/ld+json")
    assert of_type(lamp, "Product")[0]["offers"] == {"@type": "Offer", "price": 9.5}
    assert structured(lamp).jsonld == [LAMP]
    assert things(Page.of('{"name": "<p itemscope>"}', content_type="application/json")) == []
    assert things(Page.of(b"%PDF-1.7 <p itemscope>", content_type="application/pdf")) == []


# --- hostile pages ---

DEEP = 4_000
HOSTILE = {
    "deep json": '<script type="application/ld+json">' + '{"a":' * DEEP,
    "deep valid json": '<script type="application/ld+json">' + '[{"a":' * 400 + "1" + "}]" * 400,
    "deep graph": '<script type="application/ld+json">' + '{"@graph":[' * 400 + "]}" * 400,
    "quotes": '<script type="application/ld+json">{"a":"' + '" ' * DEEP,
    "spaces": '<script type="application/ld+json">{"a":"' + ('"' + " " * 500) * 500,
    "closers": '<script type="application/ld+json">' + "[" * 199 + "}" * DEEP,
    "deep items": "<div itemscope itemprop=x>" * DEEP,
    "deep properties": "<div itemscope>" + "<b itemprop=x>" * 2000 + "y" * 100_000,
    "many names": f'<div itemscope><b itemprop="{" ".join(map(str, range(DEEP)))}">{"y" * 10_000}</b>',
    "items of everyone": "<div id=x>" + "<b itemprop=p>v</b>" * 500 + "</div>" + "<i itemscope itemref=x></i>" * 500,
    "branching items": "".join(
        f'<i itemscope itemref="a{n} b{n}"></i>'
        f'<i id=a{n} itemprop=x itemscope itemref="a{n + 1} b{n + 1}"></i>'
        f'<i id=b{n} itemprop=x itemscope itemref="a{n + 1} b{n + 1}"></i>'
        for n in range(40)
    ),
    "deep resources": '<div vocab="http://schema.org/" property=x typeof=Thing>' * DEEP,
    "many prefixes": "".join(f'<div typeof=x prefix="p{n}: http://x.org/{n}">' for n in range(2000)),
    "deep microformats": "<div class=h-entry>" * DEEP,
    "deep contents": "<div class=h-entry>" + '<div class="e-content p-name">' * 1000 + "y" * 100_000,
    "many metas": '<meta property="og:image" content="x">' * DEEP,
}


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_costs_little(name: str) -> None:
    """Nothing is raised, and what comes out is not much larger than what went in."""
    page = Page.of(HOSTILE[name])
    out = msgspec.json.encode((structured(page), things(page), of_type(page, "Thing")))
    assert len(out) < 12 << 20


def test_references_that_multiply_are_cut() -> None:
    """300 things that each refer to all of them do not become 300 to the third."""
    names = [str(n) for n in range(300)]
    refer: list[Any] = [{"@id": name} for name in names]
    page = ld({"@graph": [{"@type": "Thing", "@id": name, "x": refer} for name in names]})
    assert len(msgspec.json.encode(things(page))) < 20 << 20
