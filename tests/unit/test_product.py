"""Products read from pages: structured data, meta tags, shop systems, and plain markup."""

from __future__ import annotations

import json
import time
from typing import Any

import msgspec
import pytest

from gossamer.parse import stock
from gossamer.parse.page import Page
from gossamer.parse.product import Product, read


def page(body: str, url: str = "https://shop.example/lamps/blue-lamp") -> Page:
    return Page.of(f"<html><head><title>Blue Lamp</title></head><body>{body}</body></html>", url)


def ld(*things: dict[str, Any]) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(thing)}</script>' for thing in things)


def one(body: str, url: str = "https://shop.example/lamps/blue-lamp") -> Product:
    (found,) = read(page(body, url))
    return found


# --- structured data ---


def test_a_product_in_json_ld() -> None:
    """Every field that schema.org has for it."""
    thing = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": "Blue Lamp",
        "sku": "BL-1",
        "mpn": "LMP-77",
        "gtin13": "4006381333931",
        "brand": {"@type": "Brand", "name": "Lumen"},
        "image": ["/a.jpg", {"@type": "ImageObject", "url": "/b.jpg"}],
        "description": "A <b>lamp</b> that is blue.",
        "category": "Home/Lamps",
        "aggregateRating": {"@type": "AggregateRating", "ratingValue": "4,5", "bestRating": 5, "reviewCount": "12"},
        "offers": {
            "@type": "Offer",
            "price": "1.299,00",
            "priceCurrency": "EUR",
            "availability": "https://schema.org/InStock",
            "itemCondition": "https://schema.org/UsedCondition",
            "seller": {"@type": "Organization", "name": "Lamps Inc."},
        },
    }
    assert one(ld(thing)) == Product(
        url="https://shop.example/lamps/blue-lamp",
        name="Blue Lamp",
        price="1299",
        currency="EUR",
        availability="InStock",
        sku="BL-1",
        mpn="LMP-77",
        gtin="4006381333931",
        brand="Lumen",
        rating=4.5,
        rating_max=5.0,
        reviews=12,
        image="https://shop.example/a.jpg",
        images=("https://shop.example/a.jpg", "https://shop.example/b.jpg"),
        description="A lamp that is blue.",
        category="Home > Lamps",
        condition="Used",
        seller="Lamps Inc.",
    )


def test_the_best_of_several_offers() -> None:
    """The lowest price that can be had; sold out only if all are."""
    offers = [
        {"@type": "Offer", "sku": "S", "price": 5, "priceCurrency": "USD", "availability": "OutOfStock"},
        {"@type": "Offer", "sku": "M", "price": 9, "priceCurrency": "USD", "availability": "InStock"},
        {"@type": "Offer", "sku": "L", "price": 7, "priceCurrency": "USD", "availability": "http://schema.org/InStock"},
    ]
    found = one(ld({"@type": "Product", "name": "Blue Lamp", "sku": "LAMP-1", "offers": offers}))
    assert (found.price, found.highest_price, found.availability) == ("7", "9", "InStock")
    assert [variant.sku for variant in found.variants] == ["S", "M", "L"]
    assert found.sku == "LAMP-1"


def test_an_aggregate_offer() -> None:
    """Its lowest and highest price."""
    offers = {"@type": "AggregateOffer", "lowPrice": "502.20", "highPrice": "558.00", "priceCurrency": "BYN"}
    found = one(ld({"@type": "Product", "name": "Blue Lamp", "offers": offers}))
    assert (found.price, found.highest_price, found.currency) == ("502.20", "558", "BYN")


def test_a_group_of_variants() -> None:
    """A ProductGroup is one product, and so are products that differ only in their number."""
    variants = [
        {
            "@type": "Product",
            "name": "Blue Lamp",
            "sku": f"BL-{size}",
            "offers": {"@type": "Offer", "price": price, "priceCurrency": "EUR", "availability": state},
        }
        for size, price, state in (("S", "10", "OutOfStock"), ("L", "12", "InStock"))
    ]
    group = {"@type": "ProductGroup", "name": "Blue Lamp", "productGroupID": "BL", "hasVariant": variants}
    for found in (one(ld(group)), one(ld(*variants))):
        assert (found.price, found.availability) == ("12", "InStock")
        assert [variant.sku for variant in found.variants] == ["BL-S", "BL-L"]


def test_price_specifications() -> None:
    """What it costs now, and what it is measured against."""
    specifications = [
        {"@type": "UnitPriceSpecification", "priceType": "https://schema.org/ListPrice", "price": 80},
        {"@type": "UnitPriceSpecification", "price": 60, "priceCurrency": "GBP"},
    ]
    offer = {"@type": "Offer", "priceSpecification": specifications}
    found = one(ld({"@type": "Product", "name": "Blue Lamp", "offers": offer}))
    assert (found.price, found.regular_price, found.currency) == ("60", "80", "GBP")


def test_microdata_and_small_letters() -> None:
    """Types as shops misspell them, prices as texts."""
    found = one(
        '<div itemscope itemtype="http://schema.org/Product"><h1 itemprop="name">Blue Lamp</h1>'
        '<div itemprop="offers" itemscope itemtype="http://schema.org/Offer">'
        '<span itemprop="price">71,91 €</span><link itemprop="availability" href="http://schema.org/SoldOut"></div></div>'
    )
    assert (found.price, found.currency, found.availability) == ("71.91", "EUR", "SoldOut")
    small = {
        "@type": "product",
        "name": "Blue Lamp",
        "offers": {"@type": "offer", "price": "3", "priceCurrency": "USD"},
    }
    assert one(ld(small)).price == "3"


def test_a_listing_gives_all_its_products() -> None:
    """Several products, none of which the page is about."""
    items = [
        {
            "@type": "ListItem",
            "position": n,
            "item": {
                "@type": "Product",
                "name": name,
                "url": f"/p/{n}",
                "offers": {"@type": "Offer", "price": n, "priceCurrency": "EUR"},
            },
        }
        for n, name in enumerate(("Red chair", "Green table", "White shelf"), 1)
    ]
    found = read(page(ld({"@type": "ItemList", "itemListElement": items}), "https://shop.example/all"))
    assert [(one.name, one.price, one.url) for one in found] == [
        ("Red chair", "1", "https://shop.example/p/1"),
        ("Green table", "2", "https://shop.example/p/2"),
        ("White shelf", "3", "https://shop.example/p/3"),
    ]


def test_related_products_are_not_the_page_s() -> None:
    """Of several products the one whose address or name the page has."""
    lamp = {"@type": "Product", "name": "Blue Lamp", "offers": {"@type": "Offer", "price": "9", "priceCurrency": "EUR"}}
    chair = {
        "@type": "Product",
        "name": "Red chair",
        "offers": {"@type": "Offer", "price": "99", "priceCurrency": "EUR"},
    }
    assert one(ld(chair, lamp) + "<h1>Blue Lamp</h1>").price == "9"
    assert one(ld({**lamp, "isRelatedTo": chair})).price == "9"
    here = {**lamp, "name": "Lampe bleue", "url": "https://shop.example/lamps/blue-lamp"}
    assert one(ld(chair, here)).name == "Lampe bleue"


def test_what_a_template_left_unfilled_is_nothing() -> None:
    """Placeholders are no values."""
    found = one(ld({"@type": "Product", "name": "Blue Lamp", "brand": "{{ brand }}", "sku": "$sku", "gtin": "123"}))
    assert (found.brand, found.sku, found.gtin) == (None, None, None)


def test_breadcrumbs_are_the_category() -> None:
    """Without the first page and the product itself."""
    trail = [
        {"@type": "ListItem", "position": n, "name": name}
        for n, name in enumerate(("Home", "Lamps", "Desk", "Blue Lamp"))
    ]
    found = one(ld({"@type": "Product", "name": "Blue Lamp"}, {"@type": "BreadcrumbList", "itemListElement": trail}))
    assert found.category == "Lamps > Desk"


# --- meta tags ---


def test_meta_tags() -> None:
    """OpenGraph's product, with a reduction."""
    names = {
        "og:type": "product",
        "og:title": "Blue Lamp",
        "product:price:amount": "20.00",
        "product:price:currency": "GBP",
        "product:sale_price:amount": "15.00",
        "product:availability": "in stock",
        "product:brand": "Lumen",
        "product:condition": "new",
        "product:retailer_item_id": "BL-1",
    }
    found = one("".join(f'<meta property="{name}" content="{value}">' for name, value in names.items()))
    assert (found.price, found.regular_price, found.currency) == ("15", "20", "GBP")
    assert (found.availability, found.brand, found.condition, found.sku) == ("InStock", "Lumen", "New", "BL-1")


def test_fields_come_from_whoever_knows_them() -> None:
    """Structured data first; what it lacks from the others; a price of nothing is no price."""
    thing = {
        "@type": "Product",
        "name": "Blue Lamp",
        "offers": {"@type": "Offer", "price": "0.00", "priceCurrency": "EUR"},
    }
    found = one(
        ld(thing)
        + '<meta property="product:price:amount" content="8.50"><meta property="product:price:currency" content="EUR">'
        "<h1>Blue Lamp</h1><p>Brand: Lumen</p><table><tr><td>EAN</td><td>4006381333931</td></tr></table>"
    )
    assert (found.price, found.currency, found.brand, found.gtin) == ("8.50", "EUR", "Lumen", "4006381333931")


# --- shop systems ---


def test_shopify() -> None:
    """Its own scripts count in cents."""
    meta = {
        "product": {
            "id": 77,
            "vendor": "Lumen",
            "variants": [
                {"id": 1, "price": 4990, "name": "Blue Lamp - S", "public_title": "S", "sku": "BL-S"},
                {"id": 2, "price": 5990, "name": "Blue Lamp - L", "public_title": "L", "sku": "BL-L"},
            ],
        },
        "page": {"pageType": "product"},
    }
    found = one(f"<h1>Blue Lamp</h1><script>var meta = {json.dumps(meta)};</script>")
    assert (found.price, found.highest_price, found.brand) == ("49.90", "59.90", "Lumen")
    assert [variant.sku for variant in found.variants] == ["BL-S", "BL-L"]


def test_woocommerce_variations() -> None:
    """They stand in an attribute of the form."""
    variations = [
        {"sku": "W-1", "display_price": 19.9, "display_regular_price": 25, "is_in_stock": False},
        {"sku": "W-2", "display_price": 21.9, "display_regular_price": 25, "is_in_stock": True},
    ]
    attribute = json.dumps(variations).replace('"', "&quot;")
    found = one(f'<h1>Blue Lamp</h1><form class="variations_form cart" data-product_variations="{attribute}"></form>')
    assert (found.price, found.availability) == ("19.90", "InStock")
    assert [variant.availability for variant in found.variants] == ["OutOfStock", "InStock"]


def test_magento_prices() -> None:
    """The final price and the old one are told apart by an attribute."""
    found = one(
        '<h1 class="page-title">Blue Lamp</h1><div class="price-box price-final_price">'
        '<span class="special-price"><b data-price-type="finalPrice"><span class="price">71,91 €</span></b></span>'
        '<span class="old-price"><span class="price-container price-final_price"><span data-price-type="oldPrice">'
        '<span class="price">79,90 €</span></span></span></span></div>'
        '<form data-product-sku="MAG-24"><button title="Comprar">Comprar</button></form>'
    )
    assert (found.price, found.regular_price, found.currency, found.sku) == ("71.91", "79.90", "EUR", "MAG-24")


def test_a_tag_manager_s_data_layer() -> None:
    """Written as JavaScript, with comments and single quotes."""
    script = """dataLayer.push({ // for the shop's statistics
        'event': 'view', 'ecommerce': {'currencyCode': 'CZK', 'detail': {'products': [
        {'name': 'Blue Lamp', 'id': '52679', 'price': '1319', 'brand': 'Lumen'}, ]}}});"""
    found = one(f"<h1>Blue Lamp</h1><script>{script}</script>")
    assert (found.price, found.currency, found.brand) == ("1319", "CZK", "Lumen")


def test_the_state_of_a_page_made_by_javascript() -> None:
    """The object that has the product's name, not those beside it."""
    state = {
        "props": {
            "related": [{"name": "Red chair", "price": 1, "sku": "R-1"}],
            "product": {
                "name": "Blue Lamp",
                "sku": "BL-1",
                "price": {"value": 12.5, "currency": "EUR"},
                "originalPrice": {"value": 15, "currency": "EUR"},
                "inStock": True,
            },
        }
    }
    found = one(f'<h1>Blue Lamp</h1><script id="__NEXT_DATA__" type="application/json">{json.dumps(state)}</script>')
    assert (found.price, found.currency, found.regular_price) == ("12.50", "EUR", "15")
    assert (found.sku, found.availability) == ("BL-1", "InStock")


# --- what a buyer sees ---


@pytest.mark.parametrize(
    ("title", "label", "number", "price", "button", "expected"),
    [
        ("Blue Lamp", "Product code:", "AB-1234", "£24.99", "Add to basket", ("24.99", "GBP")),
        ("Blaue Lampe", "Artikelnummer", "AB-1234", "24,99 €", "In den Warenkorb", ("24.99", "EUR")),
        ("Lampe bleue", "Référence :", "AB-1234", "24,99 €", "Ajouter au panier", ("24.99", "EUR")),
        ("Modrá lampa", "Kód produktu:", "AB-1234", "1 249 Kč", "Vložit do košíku", ("1249", "CZK")),
        ("Синяя лампа", "Артикул:", "AB-1234", "1 249 ₽", "В корзину", ("1249", "RUB")),
        ("מנורה כחולה", "קוד מוצר:", "AB-1234", "₪ 249", "הוסף לסל", ("249", "ILS")),
        ("青いランプ", "商品番号：", "AB-1234", "1,249円", "カートに入れる", ("1249", "JPY")),
        ("파란 램프", "상품번호 :", "AB-1234", "12,490원", "구매하기", ("12490", "KRW")),
    ],
)
def test_plain_markup(title: str, label: str, number: str, price: str, button: str, expected: tuple[str, str]) -> None:
    """A page that says nothing for machines, in several languages."""
    found = one(
        f"<nav><a href=/>All lamps from 1 €</a></nav><h1>{title}</h1><p><span>{label}</span> <span>{number}</span></p>"
        f"<div><b>{price}</b></div><button>{button}</button>"
        "<div class=related><h2>Other</h2><span class=price>1,00 €</span></div>"
    )
    assert (found.name, found.sku, found.availability) == (title, number, "InStock")
    assert (found.price, found.currency) == expected


def test_a_reduced_price() -> None:
    """What is struck through is what it cost before; shipping, savings and rates are no prices."""
    found = one(
        "<h1>Blue Lamp</h1><div class=prices><del>$100.00</del> <span class=sale-price>$80.00</span>"
        "<span class=you-save>You save $20.00</span></div><p>Shipping: <b>$4.90</b></p><p>or $7.50 / month</p>"
        "<button>Add to cart</button>"
    )
    assert (found.price, found.regular_price) == ("80", "100")


def test_cents_in_an_element_of_their_own() -> None:
    """The mark, the whole and the cents, each in its own."""
    found = one("<h1>Blue Lamp</h1><p class=price><i>$</i><span>24</span><sup>99</sup></p><button>Add to cart</button>")
    assert (found.price, found.currency) == ("24.99", "USD")


def test_a_page_that_sells_nothing() -> None:
    """No product in an article that names a price, in an empty page, in what is no HTML."""
    assert read(page("<h1>Lamps are getting dearer</h1><p>A lamp costs $24.99 now, says the union.</p>")) == []
    assert read(page("")) == []
    assert read(Page.of("{}", content_type="application/json")) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('<p class="stock">Currently out of stock</p>', "OutOfStock"),
        ('<p class="stock">Auf Lager</p>', "InStock"),
        ('<div id="availability">Nur noch 3 auf Lager</div>', "LimitedAvailability"),
        ("<p>Нет в наличии</p>", "OutOfStock"),
        ("<button>Add to cart</button>", "InStock"),
        ('<button disabled>Add to cart</button><p class="stock">Sold out</p>', "OutOfStock"),
        ('<ul><li class="stock">Size S: sold out</li></ul><button>Add to cart</button>', "InStock"),
        ('<div class="popup"><p class="stock">Sold out</p></div>', None),
        ("<p>Made of wood.</p>", None),
    ],
)
def test_whether_it_can_be_bought(body: str, expected: str | None) -> None:
    """Texts, and the button that buys."""
    thing = {
        "@type": "Product",
        "name": "Blue Lamp",
        "offers": {"@type": "Offer", "price": "9", "priceCurrency": "EUR"},
    }
    assert one(ld(thing) + f"<h1>Blue Lamp</h1>{body}").availability == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("https://schema.org/InStock", "InStock"),
        ("in_stock", "InStock"),
        ("OOS", "OutOfStock"),
        ("http://schema.org/PreOrder/", "PreOrder"),
        (True, "InStock"),
        ("nicht lieferbar", "OutOfStock"),
        ("rupture de stock", "OutOfStock"),
        ("在庫切れ", "OutOfStock"),
        ("no idea", None),
        (None, None),
        ("", None),
    ],
)
def test_words_for_the_stock(said: object, expected: str | None) -> None:
    """One vocabulary for all of them."""
    assert stock.word(said) == expected


def test_the_shop_s_own_number() -> None:
    """What a buyer is shown outweighs what machines are told; the address speaks for any of them."""
    thing = {"@type": "Product", "name": "Blue Lamp", "sku": "internal-99", "offers": {"@type": "Offer", "price": "9"}}
    assert one(ld(thing) + "<h1>Blue Lamp</h1><p>Item no.: 46286401</p>").sku == "46286401"
    assert one(ld(thing) + "<h1>Blue Lamp</h1>").sku == "internal-99"
    bare = ld({"@type": "Product", "name": "Blue Lamp", "offers": {"@type": "Offer", "price": "9"}})
    sent = '<h1>Blue Lamp</h1><input type=hidden name=product_id value="112949990">'
    assert one(bare + sent, "https://shop.example/blue-lamp-112949990").sku == "112949990"
    assert one(bare).sku is None


def test_the_country_of_the_shop_names_its_dollar() -> None:
    """By its domain, or by the language of the page."""
    body = "<h1>Blue Lamp</h1><p class=price>$24.990</p><button>Comprar</button>"
    assert one(body, "https://tienda.cl/lamp").currency == "CLP"
    told = Page.of(f"<html lang=sv>{body.replace('$24.990', '249 kr')}</html>", "https://butik.example/lampa")
    assert read(told)[0].currency == "SEK"


def test_a_product_can_be_written_as_json() -> None:
    """Its fields are always the same ones."""
    found = one(ld({"@type": "Product", "name": "Blue Lamp"}))
    assert msgspec.json.decode(msgspec.json.encode(found)).keys() == {*Product.__struct_fields__}


@pytest.mark.parametrize(
    "body",
    [
        "<h1>Lamp</h1>" + "".join(f"<span class=price>${n}.99</span>" for n in range(20_000)),
        "<h1>Lamp</h1>" + "<p>Sku</p><p>Article number</p>" * 15_000,
        "<div><h2>" * 2000 + "lamp " * 50_000,
        '<h1>Lamp</h1><script type="application/json">{"price":' + "[" * 100_000 + "</script>",
        "<h1>Lamp</h1>" + "<script>dataLayer.push({'ecommerce': {price: [[[{</script>" * 2000,
        ld(
            *[
                {"@type": "Product", "name": f"p{n}", "offers": [{"@type": "Offer", "price": m} for m in range(60)]}
                for n in range(200)
            ]
        ),
        '<script type="application/ld+json">' + '{"@type":"Product","offers":' * 3000 + "</script>",
    ],
    ids=["prices", "labels", "headings", "brackets", "layers", "offers", "depth"],
)
def test_a_hostile_page_costs_bounded_time(body: str) -> None:
    """However much of anything there is."""
    began = time.process_time()
    read(page(body))
    assert time.process_time() - began < 18


def test_a_price_and_its_stock_are_enough_for_a_page_without_a_button() -> None:
    shown = (
        "<title>Brass lamp</title><main class=product_page><h1>Brass lamp</h1><p class=price>£49.50</p>"
        "<p class='availability'>In stock (3 available)</p><p>A lamp of brass.</p></main>"
    )
    (found,) = read(Page.of(shown, "https://lamps.example/brass"))
    assert (found.name, found.price, found.currency, found.availability) == ("Brass lamp", "49.50", "GBP", "InStock")
    assert read(Page.of("<h1>News</h1><p>The ticket costs £49.50, says the mayor.</p>", "https://news.example/")) == []
