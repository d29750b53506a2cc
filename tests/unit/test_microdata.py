"""Microdata, as WHATWG reads it."""

from __future__ import annotations

from typing import Any

import pytest

from gossamer.parse.page import Page
from gossamer.parse.structured import structured


def items(html: str, url: str = "https://example.org/shop/page") -> list[dict[str, Any]]:
    """The items of a page."""
    return structured(Page.of(html, url)).microdata


def value(html: str) -> Any:
    """The value of the one property `x`."""
    (item,) = items(f"<div itemscope>{html}</div>")
    return item["x"]


@pytest.mark.parametrize(
    ("html", "meant"),
    [
        ('<meta itemprop=x content=" c ">', "c"),
        ('<a itemprop=x href="../a?b#c">text</a>', "https://example.org/a?b#c"),
        ('<a itemprop=x href="mailto:me@a.org">text</a>', "mailto:me@a.org"),
        ("<a itemprop=x>text</a>", "text"),
        ('<link itemprop=x href="http://schema.org/InStock">', "http://schema.org/InStock"),
        ('<img itemprop=x src="/i.png">', "https://example.org/i.png"),
        ('<object itemprop=x data="o.swf"></object>', "https://example.org/shop/o.swf"),
        ('<time itemprop=x datetime="2026-01-02">yesterday</time>', "2026-01-02"),
        ("<time itemprop=x>2026-01-02</time>", "2026-01-02"),
        ('<data itemprop=x value="7">seven</data>', "7"),
        ('<meter itemprop=x value="3">three</meter>', "3"),
        ('<span itemprop=x content="USD">$</span>', "USD"),
        ("<p itemprop=x> one <b>two</b><script>no</script> </p>", "one two"),
        ("<div itemprop=x><p>one</p><p>two<br>three</p></div>", "one\ntwo\nthree"),
        ('<b itemprop=x>1</b><i itemprop="x y">2</i>', ["1", "2"]),
    ],
)
def test_the_value_depends_on_the_element(html: str, meant: Any) -> None:
    """An attribute that is made for it, a URL made absolute, or the text."""
    assert value(html) == meant


def test_items_in_items() -> None:
    """Of an item that is a property, its properties are its own."""
    (product,) = items(
        """<div itemscope itemtype="https://schema.org/Product" itemid="/p/1"><b itemprop="name">Lamp</b>
        <p itemprop="offers" itemscope itemtype="https://schema.org/Offer"><b itemprop="price">9</b></p></div>"""
    )
    assert product == {
        "@type": "https://schema.org/Product",
        "@id": "https://example.org/p/1",
        "name": "Lamp",
        "offers": {"@type": "https://schema.org/Offer", "price": "9"},
    }


def test_several_types_and_none() -> None:
    """Types are a text or a list; an item may have none."""
    assert items('<p itemscope itemtype="http://a.org/X http://a.org/Y"><b itemprop=n>1</b></p>')[0]["@type"] == [
        "http://a.org/X",
        "http://a.org/Y",
    ]
    assert items("<p itemscope><b itemprop=n>1</b></p>") == [{"n": "1"}]


def test_an_item_without_properties_says_its_text() -> None:
    """As pages write authors."""
    (post,) = items("<div itemscope><p itemprop=author itemscope itemtype=http://schema.org/Person>Ann Lee</p></div>")
    assert post["author"] == {"@type": "http://schema.org/Person", "value": "Ann Lee"}


def test_itemref_adds_properties_from_elsewhere() -> None:
    """In document order; of several elements with one id, the first; not what lies in another item there."""
    first, second = items(
        """<p id=a><b itemprop=name>Ann</b><i itemscope><b itemprop=name>Bo</b></i></p>
        <div itemscope itemref="a c nowhere"><b itemprop=age>7</b></div><p id=a itemprop=name>Cy</p>
        <p id=c itemprop=town>Rome</p>"""
    )
    assert first == {"name": "Bo"}
    assert list(second.items()) == [("name", "Ann"), ("age", "7"), ("town", "Rome")]


def test_one_element_may_belong_to_several_items() -> None:
    """Both the item it stands in and those that refer to it."""
    one, other = items("<div itemscope><b itemprop=n id=x>1</b></div><div itemscope itemref=x></div>")
    assert one == other == {"n": "1"}


def test_an_item_that_lies_in_itself_is_cut() -> None:
    """Circles of itemref end where they began."""
    (top,) = items(
        "<i itemscope itemref=a></i>"
        "<i id=a itemprop=x itemscope itemref=b></i><i id=b itemprop=y itemscope itemref=a></i>"
    )
    assert top == {"x": {"y": {}}}


def test_fields_of_forms_tell_what_they_ask_for() -> None:
    """As schema.org's actions have it."""
    (form,) = items('<form itemscope><input itemprop="query-input" name="q" required></form>')
    assert form["query-input"] == {
        "@type": "https://schema.org/PropertyValueSpecification",
        "valueRequired": True,
        "valueName": "q",
    }


def test_the_base_of_a_page_counts() -> None:
    """Relative URLs are relative to <base>."""
    (item,) = items('<base href="https://cdn.org/x/"><div itemscope><img itemprop=i src="a.png"></div>')
    assert item["i"] == "https://cdn.org/x/a.png"
