"""What shop systems leave in a page for their own scripts: Shopify, WooCommerce, Magento, PrestaShop, tag managers, and
the state that pages made by JavaScript start with (Next.js and its kin)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from gossamer.parse import identifiers, lenient, prices, stock
from gossamer.parse.goods import MOST_VARIANTS, Product, Variant, first
from gossamer.parse.page import Page
from gossamer.parse.storefront import words

#: Letters of scripts that are read on one page, and objects that are looked at in them.
_MOST_LETTERS = 6 << 20
_MOST_OBJECTS = 30_000
_DEEPEST = 25
#: A script in which values are not strictly JSON is mended: that is slow, so of a short piece only.
_LONGEST_MENDED = 16_000
_MOST_MENDED = 12

_STATE = re.compile(
    r"(?:ShopifyAnalytics\.meta|\bvar meta|window\.__[A-Z_]{4,40}__|__APOLLO_STATE__|__NUXT__|__remixContext|"
    r"(?:window|self)\.(?:product\w{0,20}|pageData|initialState|__data)|"
    r"var (?:product\w{0,20}|pageData))\s{0,3}=\s{0,3}(?=[{\[])"
)
_LAYER = re.compile(
    r"dataLayer\w{0,10}\s{0,3}(?:\.push\s{0,3}\(|=\s{0,3}\[?)\s{0,3}(?={)|gtag\(\s{0,3}[\"']event[\"'],\s{0,3}[\"']view_item[\"'],\s{0,3}(?={)"
)
_NAMES = ("name", "title", "productName", "product_name", "displayName", "item_name", "productTitle")
_PRICES = (
    "price", "salePrice", "sale_price", "currentPrice", "current_price", "finalPrice", "final_price", "sellingPrice",
    "price_amount", "priceValue", "display_price", "offerPrice", "minPrice", "prices", "pricing",
)  # fmt: skip
_AMOUNTS = (
    "amount",
    "value",
    "current",
    "price",
    "now",
    "raw",
    "sale",
    "selling",
    "final",
    "centAmount",
    "discounted",
    "min",
)
_BEFORE = (
    "compare_at_price", "compareAtPrice", "regularPrice", "regular_price", "listPrice", "list_price", "originalPrice",
    "original_price", "oldPrice", "old_price", "wasPrice", "display_regular_price", "basePrice",
)  # fmt: skip
_SKUS = (
    "sku", "skuId", "sku_id", "SKU", "productCode", "product_code", "articleNumber", "article_number", "itemNumber",
    "productNumber", "partNumber", "displayReference", "reference", "articleId", "item_number",
)  # fmt: skip
_IDS = ("id", "productId", "product_id", "itemId", "item_id", "productID", "code", "dealNo", "goodsNo", "goods_id")
_GTINS = ("gtin", "gtin13", "ean", "ean13", "EAN", "upc", "barcode", "isbn")
_STOCKS = (
    "availability", "stockStatus", "stock_status", "availabilityStatus", "available", "inStock", "in_stock",
    "isInStock", "is_in_stock", "isAvailable", "quantity_available", "soldOut", "isSoldOut",
)  # fmt: skip


class State(NamedTuple):
    """What scripts know of the page's product."""

    products: list[Product]
    #: Numbers by which scripts know it; the shop's own number may be among them.
    ids: list[str]


def read(page: Page, name: str | None, country: str | None = None) -> State:
    """What the scripts of a page know of the product of this name."""
    found: list[Product] = []
    ids: list[str] = []
    scripts = _Scripts(page)
    wanted = words(name or "")
    for value in scripts.values():
        for one, cents in scripts.about(value, wanted):
            product = _product(one, cents, country)
            if product.price or product.sku:
                found.append(product)
                ids += _ids(one)
        if len(found) >= 5:
            break
    return State(found[:5], list(dict.fromkeys(ids))[:10])


# --- where it stands ---

_ATTRIBUTES = (
    ("form.variations_form[data-product_variations]", "data-product_variations"),
    ("#product-details[data-product]", "data-product"),
    ("[data-product-json]", "data-product-json"),
    ("[data-product-details]", "data-product-details"),
)


class _Scripts:
    """The scripts of one page, read until the page's share of letters and objects is used up."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._letters = _MOST_LETTERS
        self._objects = _MOST_OBJECTS
        self._mended = _MOST_MENDED

    def values(self) -> Iterator[Any]:
        """Values that attributes and scripts hold, those that say most of a product first."""
        for selector, attribute in _ATTRIBUTES:
            for node in self._page.tree.css(selector)[:3]:
                yield self._decoded(node.attributes.get(attribute) or "", 0)
        for node in self._page.tree.css("script") if b"rice" in self._page.body else []:
            given = node.attributes
            kind = (given.get("type") or "").lower()
            if "src" in given or "ld+json" in kind or self._letters <= 0:
                continue
            text = node.text()
            if "rice" not in text:
                continue
            self._letters -= len(text)
            if "json" in kind:
                yield self._decoded(text, 0)
            else:
                yield from self._inline(text)

    def _inline(self, text: str) -> Iterator[Any]:
        for found in islice(_STATE.finditer(text), 5):
            yield self._decoded(text, found.end())
        if "ecommerce" in text or "view_item" in text:
            for found in islice(_LAYER.finditer(text), 10):
                piece = text[found.end() : found.end() + _LONGEST_MENDED]
                if "ecommerce" in piece or "items" in piece:
                    yield _layer(self._decoded(text, found.end()))

    def _decoded(self, text: str, at: int) -> Any:
        """The value that begins at a place; None if it cannot be understood."""
        try:
            start = _SPACE.match(text, at)
            return json.JSONDecoder(strict=False).raw_decode(text, start.end() if start else at)[0]
        except (ValueError, RecursionError):
            pass
        self._mended -= 1
        return first(lenient.values(_balanced(text, at))) if self._mended >= 0 else None

    def about(self, value: Any, wanted: set[str]) -> Iterator[tuple[dict[str, Any], bool]]:
        """Objects that are about the product, each with whether its prices are in cents."""
        known = _of_system(value)
        if known is not None:
            yield known
            return
        matching = [
            one for one in self._inside(value) if _named_like(one, wanted) and _has(one, (*_PRICES, "variants"))
        ]
        # One that also tells its number tells more.
        matching.sort(key=lambda one: not _has(one, _SKUS))
        for one in matching[:2]:
            yield one, "compare_at_price" in one and isinstance(one.get("price"), int)

    def _inside(self, value: Any) -> Iterator[dict[str, Any]]:
        """Every object in a value, the outer ones first, as many as are looked at."""
        level = [value]
        for _ in range(_DEEPEST):
            deeper: list[Any] = []
            for one in level:
                self._objects -= 1
                if self._objects < 0:
                    return
                if isinstance(one, dict):
                    yield one
                    deeper += [inner for inner in one.values() if isinstance(inner, dict | list)]
                elif isinstance(one, list):
                    deeper += [inner for inner in one if isinstance(inner, dict | list)]
            level = deeper


_SPACE = re.compile(r"\s*")
_BRACE = re.compile(r"[{}]")


def _balanced(text: str, at: int) -> str:
    """A piece of script up to the bracket that closes the first one, as far as brackets tell."""
    depth = 0
    for found in _BRACE.finditer(text, at, at + _LONGEST_MENDED):
        depth += 1 if found[0] == "{" else -1
        if depth <= 0:
            return text[at : found.end()]
    return text[at : at + _LONGEST_MENDED]


def _layer(value: Any) -> Any:
    """Of what is told to a tag manager, the product that is looked at; not those shown beside it."""
    if not isinstance(value, dict):
        return None
    commerce = value.get("ecommerce")
    commerce = commerce if isinstance(commerce, dict) else value
    detail = commerce.get("detail")
    listed = detail.get("products") if isinstance(detail, dict) else commerce.get("items")
    one = listed[0] if isinstance(listed, list) and len(listed) == 1 else None
    currency = commerce.get("currencyCode") or commerce.get("currency")
    return {"currency": currency, **one, "@layer": True} if isinstance(one, dict) else None


# --- which object it is ---


def _of_system(value: Any) -> tuple[dict[str, Any], bool] | None:
    """The product in what a system is known to write: Shopify, WooCommerce, a tag manager."""
    if isinstance(value, list) and value and isinstance(value[0], dict) and "display_price" in value[0]:
        return {"variants": value}, False
    if not isinstance(value, dict):
        return None
    if value.get("@layer"):
        return value, False
    product = value.get("product")
    variants = product.get("variants") if isinstance(product, dict) else None
    if isinstance(product, dict) and "vendor" in product and isinstance(variants, list) and variants:
        return product, True
    return None


def _named_like(one: dict[str, Any], wanted: set[str]) -> bool:
    """Whether an object has the product's name: nearly all of its words, and not by a word or two alone."""
    name = next((one[key] for key in _NAMES if isinstance(one.get(key), str)), "")
    found = words(name[:300]) if wanted and len(name) > 3 else set()
    return bool(found) and len(found & wanted) >= max(1, 0.8 * len(found)) and len(found) * 3 >= len(wanted)


def _has(one: dict[str, Any], names: Iterable[str]) -> bool:
    return any(one.get(name) not in (None, "", [], {}) for name in names)


# --- what it says ---


def _product(one: dict[str, Any], cents: bool, country: str | None) -> Product:
    price, currency = _price(one, cents, country)
    variants = tuple(_variants(one, cents, currency, country))
    amounts = sorted((variant.price for variant in variants if variant.price), key=float)
    numbers = {variant.sku for variant in variants if variant.sku}
    return Product(
        price=amounts[0] if cents and amounts else price or (amounts[0] if amounts else None),
        currency=currency or next((variant.currency for variant in variants if variant.currency), None),
        regular_price=_before(one, cents, country),
        highest_price=amounts[-1] if amounts and amounts[-1] != amounts[0] else None,
        availability=stock.best(variant.availability for variant in variants) or _stock(one),
        sku=_said(one, _SKUS) or (next(iter(numbers)) if len(numbers) == 1 else None),
        gtin=next((code for key in _GTINS if (code := identifiers.gtin(_text(one.get(key))))), None),
        brand=_brand(one),
        variants=variants if len(variants) > 1 else (),
    )


def _variants(one: dict[str, Any], cents: bool, currency: str | None, country: str | None) -> Iterator[Variant]:
    listed = one.get("variants")
    for variant in listed[:MOST_VARIANTS] if isinstance(listed, list) else []:
        if isinstance(variant, dict):
            price, own = _price(variant, cents, country)
            yield Variant(
                name=_said(variant, ("public_title", "title", "name")),
                sku=_said(variant, _SKUS),
                gtin=next((code for key in _GTINS if (code := identifiers.gtin(_text(variant.get(key))))), None),
                price=price,
                currency=own or currency,
                availability=_stock(variant),
            )


def _price(one: dict[str, Any], cents: bool, country: str | None) -> tuple[str | None, str | None]:
    hint = _said(one, ("currency", "priceCurrency", "currencyCode", "currency_code", "currencyIso"))
    for name in _PRICES:
        amount, currency = _amount(one.get(name), hint, cents, country, 0)
        if amount and amount != "0":
            return amount, currency
    return None, prices.known_code(hint)


def _amount(
    value: Any, hint: str | None, cents: bool, country: str | None, depth: int
) -> tuple[str | None, str | None]:
    value = first(value)
    if isinstance(value, dict) and depth < 3:
        hint = _said(value, ("currency", "currencyCode", "currency_code", "currencyIso")) or hint
        for name in _AMOUNTS:
            small = name == "centAmount" or cents
            amount, currency = _amount(value.get(name), hint, small, country, depth + 1)
            if amount:
                return amount, currency
    if isinstance(value, int) and cents and not isinstance(value, bool):
        return prices.plain(f"{value // 100}.{value % 100:02}"), prices.known_code(hint)
    return prices.price(value, hint, country=country) if isinstance(value, str | int | float) else (None, None)


def _before(one: dict[str, Any], cents: bool, country: str | None) -> str | None:
    for name in _BEFORE:
        amount, _ = _amount(one.get(name), None, cents, country, 0)
        if amount and amount != "0":
            return amount
    return None


def _stock(one: dict[str, Any]) -> str | None:
    for name in _STOCKS:
        value = one.get(name)
        if isinstance(value, bool):
            return stock.word(value != name.lower().endswith("soldout"))
        if isinstance(value, str) and (word := stock.word(value)):
            return word
    return None


def _brand(one: dict[str, Any]) -> str | None:
    for name in ("brand", "vendor", "brandName", "item_brand", "manufacturer_name"):
        value = one.get(name)
        text = _text(value.get("name")) if isinstance(value, dict) else _text(value)
        if text and len(text) < 80 and not text.isdigit():
            return text
    return None


def _ids(one: dict[str, Any]) -> list[str]:
    return [text for name in (*_SKUS, *_IDS) if (text := _text(one.get(name))) and len(text) <= 40]


def _said(one: dict[str, Any], names: Iterable[str]) -> str | None:
    return next((text for name in names if (text := _text(one.get(name)))), None)


def _text(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value).strip() or None
