"""Products as schema.org describes them, with offers in all the shapes that shops give them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from gossamer import urls
from gossamer.parse import clean, identifiers, prices, schemaorg, stock
from gossamer.parse.goods import MOST_VARIANTS, Product, Variant, as_list, first, images_of, merged

_PRODUCT = frozenset(name.lower() for name in schemaorg.subtypes("Product"))
_OFFER = frozenset(name.lower() for name in schemaorg.subtypes("Offer"))
#: Where products stand inside things that are none.
_HOLDERS = ("mainEntity", "mainEntityOfPage", "itemListElement", "item", "itemOffered", "about", "hasPart", "offers")
_DEEPEST = 6
#: Products and offers read of one page.
_MOST = 500
_MOST_OFFERS = 2000
#: What a reduction is measured against.
_REGULAR = re.compile(r"listprice|strikethrough|msrp|srp|regularprice|suggestedretail", re.IGNORECASE)
#: Left where a template was not filled in.
_UNFILLED = re.compile(r"^(?:\$\w|\{\{|\$\{|%%|\[\[|<%|undefined$|null$|none$|n/a$|-+$)", re.IGNORECASE)


def is_product(thing: dict[str, Any]) -> bool:
    """Whether a thing is a product, of whatever kind; small letters, as many shops write them, count too."""
    return _is(thing, _PRODUCT)


def read(things: Iterable[dict[str, Any]], base: str, country: str | None = None) -> list[Product]:
    """The products among things, not those that are only related to one."""
    found: list[Product] = []
    left = _MOST_OFFERS
    for one in islice((one for thing in things for one in _within(thing, 0)), _MOST):
        found.append(product(one, base, country))
        left -= 1 + len(found[-1].variants)
        if left <= 0:
            break
    return found


def loose(things: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Offers that stand alone at the top: of the page's product, which does not hold them."""
    return [thing for thing in things if _is(thing, _OFFER) and "itemOffered" not in thing][:_MOST]


def product(thing: dict[str, Any], base: str, country: str | None = None) -> Product:
    """What one thing tells of a product."""
    variants = [one for one in as_list(thing.get("hasVariant")) if isinstance(one, dict)][:MOST_VARIANTS]
    offers = _offers(thing, thing)
    for variant in variants:
        offers += _offers(variant, variant)
    rating = first(thing.get("aggregateRating"))
    rating = rating if isinstance(rating, dict) else {}
    images = images_of([*as_list(thing.get("image")), *as_list(thing.get("photo"))], base)
    reference = _text(thing.get("url"))
    return merged(
        [
            Product(
                url=urls.resolve(reference, base) if reference else None,
                name=_text(thing.get("name")),
                sku=_text(thing.get("sku")),
                mpn=_text(thing.get("mpn")),
                gtin=gtin(thing),
                brand=_name(thing.get("brand")) or _name(thing.get("manufacturer")),
                rating=clean.number(first(rating.get("ratingValue"))),
                rating_max=clean.number(first(rating.get("bestRating"))),
                reviews=clean.integer(first(rating.get("reviewCount") or rating.get("ratingCount"))),
                image=images[0] if images else None,
                images=images,
                description=clean.text(_text(thing.get("description"))),
                category=_category(thing.get("category")),
                condition=_condition(thing.get("itemCondition")),
            ),
            of_offers(offers, base, country),
        ]
    )


def of_offers(offers: list[tuple[dict[str, Any], dict[str, Any]]], base: str, country: str | None = None) -> Product:
    """What offers tell, each given with the thing it offers: the lowest price of those that can be bought best."""
    read = [variant for offer, whose in offers[:MOST_VARIANTS] if (variant := _variant(offer, whose, base, country))]
    availability = stock.best(variant.availability for variant in read)
    priced = [variant for variant in read if variant.price and variant.price != "0"] or [v for v in read if v.price]
    buyable = [variant for variant in priced if variant.availability == availability] or priced
    cheapest = min(buyable, key=lambda variant: float(variant.price or 0), default=None)
    highest = [_high(offer, country) for offer, _ in offers] + [variant.price for variant in priced]
    top = max((price for price in highest if price), key=float, default=None)
    several = len({(variant.sku, variant.name, variant.gtin) for variant in read}) > 1
    return Product(
        price=cheapest.price if cheapest else None,
        currency=next((v.currency for v in [*buyable, *read] if v.currency), None),
        regular_price=next((price for offer, _ in offers if (price := _regular(offer, country))), None),
        highest_price=top if cheapest and top != cheapest.price else None,
        availability=availability,
        sku=read[0].sku if read and not several else None,
        gtin=read[0].gtin if read and not several else None,
        condition=next((c for offer, _ in offers if (c := _condition(offer.get("itemCondition")))), None),
        seller=next((name for offer, _ in offers if (name := _name(offer.get("seller")))), None),
        variants=tuple(read) if several else (),
    )


def gtin(thing: dict[str, Any]) -> str | None:
    """The number of the bar code, if it is one."""
    for name in ("gtin13", "gtin", "gtin14", "gtin12", "gtin8", "isbn", "ean", "upc"):
        if found := identifiers.gtin(_text(thing.get(name))):
            return found
    product_id = _text(thing.get("productID"))
    return identifiers.gtin(product_id.partition(":")[2]) if product_id and ":" in product_id else None


# --- finding ---


def _within(thing: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > _DEEPEST:
        return
    for one in as_list(thing):
        if not isinstance(one, dict):
            continue
        if is_product(one):
            yield one
        else:
            for name in _HOLDERS:
                if isinstance(one.get(name), dict | list):
                    yield from _within(one[name], depth + 1)


def _is(thing: dict[str, Any], types: frozenset[str]) -> bool:
    return any(isinstance(name, str) and name.lower() in types for name in as_list(thing.get("@type")))


def _offers(
    thing: dict[str, Any], whose: dict[str, Any], depth: int = 0
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Every offer of a thing with the thing it offers; an offer of offers gives those too."""
    found: list[tuple[dict[str, Any], dict[str, Any]]] = []
    if depth > _DEEPEST:
        return found
    for offer in [*as_list(thing.get("offers")), *as_list(thing.get("offer"))][:MOST_VARIANTS]:
        if isinstance(offer, dict):
            offered = first(offer.get("itemOffered"))
            item = offered if isinstance(offered, dict) else whose
            found.append((offer, item))
            found += _offers(offer, item, depth + 1)
    return found


# --- reading ---


def _variant(offer: dict[str, Any], whose: dict[str, Any], base: str, country: str | None) -> Variant | None:
    price, currency = _price(offer, country)
    availability = stock.word(_text(offer.get("availability")))
    if price is None and availability is None:
        return None
    reference = _text(offer.get("url")) or _text(whose.get("url"))
    return Variant(
        name=_text(offer.get("name")) or _text(whose.get("name")),
        sku=_text(offer.get("sku")) or _text(whose.get("sku")),
        gtin=gtin(offer) or gtin(whose),
        price=price,
        currency=currency,
        availability=availability,
        url=urls.resolve(reference, base) if reference else None,
    )


def _price(offer: dict[str, Any], country: str | None) -> tuple[str | None, str | None]:
    hint = _text(offer.get("priceCurrency"))
    for name in ("price", "lowPrice"):
        amount, currency = _amount(offer.get(name), hint, country)
        if amount is not None:
            return amount, currency
    for specification in _specifications(offer):
        if not _REGULAR.search(str(specification.get("priceType"))):
            amount, currency = _amount(
                _specified(specification), _text(specification.get("priceCurrency")) or hint, country
            )
            if amount is not None:
                return amount, currency
    return None, prices.known_code(hint)


def _regular(offer: dict[str, Any], country: str | None) -> str | None:
    for specification in _specifications(offer):
        if _REGULAR.search(str(specification.get("priceType"))):
            return _amount(_specified(specification), _text(specification.get("priceCurrency")), country)[0]
    return None


def _high(offer: dict[str, Any], country: str | None) -> str | None:
    return _amount(offer.get("highPrice"), _text(offer.get("priceCurrency")), country)[0]


def _specifications(offer: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in as_list(offer.get("priceSpecification"))[:20] if isinstance(one, dict)]


def _specified(specification: dict[str, Any]) -> Any:
    return first(specification.get("price") or specification.get("minPrice"))


def _amount(value: Any, hint: str | None, country: str | None) -> tuple[str | None, str | None]:
    value = first(value)
    if isinstance(value, str):
        # An element read as a text may hold a line for each spelling of the price.
        value = value.strip().partition("\n")[0]
    return prices.price(value, hint, country=country)


def _condition(value: Any) -> str | None:
    text = _text(value)
    last = text.rstrip("/").rpartition("/")[2].lower() if text else ""
    return next((word for word in ("New", "Used", "Refurbished", "Damaged") if word.lower() in last), None)


def _category(value: Any) -> str | None:
    value = first(value)
    if isinstance(value, dict):
        return _text(value.get("name"))
    text = _text(value)
    return " > ".join(filter(None, (part.strip() for part in re.split(r"[>/›»]", text)))) or None if text else None


def _name(value: Any) -> str | None:
    value = first(value)
    return _text(value.get("name")) if isinstance(value, dict) else _text(value)


def _text(value: Any) -> str | None:
    """A value as a text of its own; None for what holds other things, or was never filled in."""
    value = first(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value).strip()
    return text if text and not _UNFILLED.match(text) else None
