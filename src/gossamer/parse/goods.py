"""What is known of a product for sale, and how what several sources know of it comes together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from gossamer import urls

#: Pictures and variants kept of one product.
MOST_IMAGES = 50
MOST_VARIANTS = 200


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """One size, colour or kind of a product that is sold under a number or price of its own."""

    name: str | None = None
    sku: str | None = None
    gtin: str | None = None
    price: str | None = None
    currency: str | None = None
    availability: str | None = None
    url: str | None = None


class Product(msgspec.Struct, frozen=True, kw_only=True):
    """A product as its page offers it. A field is None where the page does not tell."""

    url: str | None = None
    name: str | None = None
    #: What it costs now: a decimal as text, "12.50". Of variants that differ, the lowest one that can be bought.
    price: str | None = None
    #: ISO 4217.
    currency: str | None = None
    #: What it costs without the present reduction.
    regular_price: str | None = None
    #: The highest price, where variants differ.
    highest_price: str | None = None
    #: A word of schema.org: InStock, OutOfStock, PreOrder, BackOrder, SoldOut, Discontinued, LimitedAvailability ...
    availability: str | None = None
    #: The shop's own number for it.
    sku: str | None = None
    #: The manufacturer's number for it.
    mpn: str | None = None
    #: The number of its bar code: GTIN, EAN, UPC or ISBN.
    gtin: str | None = None
    brand: str | None = None
    #: The average of the reviews, and the best that can be given.
    rating: float | None = None
    rating_max: float | None = None
    reviews: int | None = None
    image: str | None = None
    images: tuple[str, ...] = ()
    description: str | None = None
    #: From the widest to the narrowest: "Home > Kitchen > Pans".
    category: str | None = None
    #: New, Used, Refurbished or Damaged.
    condition: str | None = None
    seller: str | None = None
    variants: tuple[Variant, ...] = ()


#: An amount and its currency belong together: they are taken from one source.
_MONEY = ("price", "currency", "regular_price", "highest_price")


def merged(sources: Iterable[Product]) -> Product:
    """One product from what several sources tell of it: each field from the first that knows it."""
    known: dict[str, Any] = {}
    sources = list(sources)
    for source in sources:
        for field in Product.__struct_fields__:
            value = getattr(source, field)
            if field not in _MONEY and field not in known and value is not None and value != ():
                known[field] = value
    known.update(_money(sources))
    return Product(**known)


def _money(sources: list[Product]) -> dict[str, Any]:
    """Price and currency of the first source that has a price above nothing; free only where all say so."""
    priced = [source for source in sources if source.price is not None]
    chosen = next((source for source in priced if source.price != "0"), priced[0] if priced else None)
    currency = next((source.currency for source in sources if source.currency), None)
    if chosen is None:
        return {"currency": currency}
    agreeing = [source for source in priced if source.price == chosen.price]
    regular = next((source.regular_price for source in agreeing if source.regular_price), None)
    return {
        "price": chosen.price,
        "currency": chosen.currency or currency,
        "regular_price": regular if regular != chosen.price else None,
        "highest_price": chosen.highest_price,
    }


def first(value: Any) -> Any:
    """The first of a list that is worth something, or the value itself."""
    if isinstance(value, list):
        return next((one for one in value if one not in (None, "", [], {})), None)
    return value


def as_list(value: Any) -> list[Any]:
    """A list as it is, nothing as an empty one, and one value as a list of it."""
    return value if isinstance(value, list) else [] if value is None else [value]


def images_of(values: Iterable[Any], base: str) -> tuple[str, ...]:
    """The URLs of pictures, each once."""
    found: dict[str, None] = {}
    for value in values:
        one = first(value)
        where = first(one.get("contentUrl") or one.get("url") or one.get("@id")) if isinstance(one, dict) else one
        url = urls.resolve(where, base) if isinstance(where, str) and where.strip() else None
        if url:
            found[url] = None
        if len(found) >= MOST_IMAGES:
            break
    return tuple(found)
