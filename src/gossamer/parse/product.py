"""Products: what a shop's page offers, from all that it says of it.

Structured data is believed first, then meta tags, then what shop systems leave for their own scripts, and then what a
buyer sees. Each field comes from the first that knows it; only the shop's own number is weighed (see `identifiers`).
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import msgspec

from gossamer import urls
from gossamer.parse import clean, identifiers, offers, opengraph, prices, pricetags, shops, stock, structured
from gossamer.parse.goods import MOST_VARIANTS, Product, Variant, as_list, first, images_of, merged
from gossamer.parse.page import Page
from gossamer.parse.storefront import Storefront, ancestors, brief, names_of, words

__all__ = ["Product", "Variant", "read"]


def read(page: Page) -> list[Product]:
    """The page's product; all of them, where it lists several; none, where it sells nothing."""
    if not page.is_html:
        return []
    country = country_of(page)
    things = structured.things(page)
    told = _grouped(offers.read(things, page.base_url, country))
    metas = _metas(page, country)
    main = _main(page, told, metas)
    if main is None and len(told) > 1:
        return [_addressed(one, page) for one in told]
    loose = offers.of_offers([(offer, {}) for offer in offers.loose(things)], page.base_url, country)
    return _whole(page, [main] if main else [], loose, metas, things, country)


def _whole(
    page: Page, main: list[Product], loose: Product, metas: Product, things: list[dict[str, Any]], country: str | None
) -> list[Product]:
    """The one product of a page, from all sources."""
    name = main[0].name if main and main[0].name else metas.name
    state = shops.read(page, name or page.title, country)
    front = Storefront(page, name)
    seen = pricetags.find(page, front, country)
    labelled = identifiers.Labelled(front)
    if not (main or metas.price or state.products or _sells(page, front, seen, labelled)):
        return []
    shown = Product(
        url=page.url,
        name=front.title,
        price=seen.price,
        currency=seen.currency,
        regular_price=seen.regular,
        availability=_stock(page, front),
        mpn=labelled.mpns[0] if labelled.mpns else None,
        gtin=labelled.gtins[0] if labelled.gtins else None,
        brand=labelled.brands[0] if labelled.brands else None,
        category=_trail(things, name),
    )
    found = merged([*main, loose, metas, *state.products, shown])
    told = [(one.sku, identifiers.STRUCTURED) for one in [*main, loose]]
    told += [(one.sku, identifiers.STATE) for one in [metas, *state.products]]
    told += [(number, identifiers.SENT) for number in state.ids]
    sku = identifiers.sku(page, front, labelled, told)
    return [msgspec.structs.replace(found, sku=sku)]


def _sells(page: Page, front: Storefront, seen: pricetags.Found, labelled: identifiers.Labelled) -> bool:
    """Whether a page that nothing but its looks speak for is a product's."""
    if seen.price is None or seen.score < _LIKELY:
        return False
    if front.buttons or labelled.skus or labelled.gtins:
        return True
    return seen.score >= _SURELY and _stock(page, front) is not None


#: Scores of a price from which on it is a product's: where something else says so, and where only its stock does.
_LIKELY = 5
_SURELY = 9


def country_of(page: Page) -> str | None:
    """The country a shop is in, by its domain or the language of its page; two letters."""
    end = (urlsplit(page.url).hostname or "").rpartition(".")[2]
    if len(end) == 2 and end.isascii() and end.isalpha() and end not in _GENERIC:
        return "GB" if end == "uk" else end.upper()
    node = page.tree.css_first("html")
    language = (node.attributes.get("lang") or "" if node else "").replace("_", "-")
    region = re.search(r"-([A-Za-z]{2})$", language)
    if region:
        return region[1].upper()
    return _LANGUAGES.get(language[:2].lower())


#: Endings of two letters that are used by anybody.
_GENERIC = frozenset({"io", "co", "me", "tv", "ai", "cc", "ly", "fm", "to", "eu", "gg", "sh", "vc", "ws"})
_LANGUAGES = {
    "sv": "SE", "da": "DK", "nb": "NO", "no": "NO", "nn": "NO", "cs": "CZ", "pl": "PL", "hu": "HU", "ro": "RO",
    "ja": "JP", "ko": "KR", "he": "IL", "tr": "TR", "uk": "UA", "ru": "RU", "bg": "BG", "is": "IS", "th": "TH",
    "vi": "VN", "id": "ID",
}  # fmt: skip


# --- structured data ---


def _grouped(told: list[Product]) -> list[Product]:
    """Products, those that are the sizes and colours of one taken together."""
    groups: dict[Any, list[Product]] = {}
    for n, one in enumerate(told):
        key = (one.name.lower(), (one.brand or "").lower()) if one.name else n
        groups.setdefault(key, []).append(one)
    return [_group(group) for group in groups.values()]


def _group(group: list[Product]) -> Product:
    numbers = {(one.sku, one.gtin) for one in group if one.sku or one.gtin}
    if len(group) == 1 or len(numbers) <= 1:
        return merged(group)
    variants = [
        Variant(
            name=one.name, sku=one.sku, gtin=one.gtin, price=one.price, currency=one.currency,
            availability=one.availability, url=one.url,
        )
        for one in group[:MOST_VARIANTS]
    ]  # fmt: skip
    best = stock.best(one.availability for one in group)
    priced = [one for one in group if one.price and one.price != "0"] or group
    buyable = [one for one in priced if one.availability == best] or priced
    cheapest = min(buyable, key=lambda one: float(one.price or 0))
    whole = merged([cheapest, *group])
    return msgspec.structs.replace(whole, availability=best, sku=None, gtin=None, mpn=None, variants=tuple(variants))


def _main(page: Page, told: list[Product], metas: Product) -> Product | None:
    """The product that the page is about; None if it is about none or several."""
    if len(told) <= 1:
        return told[0] if told else None
    here = {urls.comparable(page.url), urls.comparable(metas.url or page.url)}
    for one in told:
        if one.url and urls.comparable(one.url) in here:
            return one
    heading = page.tree.css_first("h1")
    for title in (metas.name, brief(heading, 300) if heading else None):
        wanted = words(title or "")
        alike = [one for one in told if one.name and len(words(one.name) & wanted) >= 0.8 * len(words(one.name))]
        if len(alike) == 1:
            return alike[0]
    return None


def _addressed(one: Product, page: Page) -> Product:
    return one if one.url else msgspec.structs.replace(one, url=page.url)


# --- meta tags ---


def _metas(page: Page, country: str | None) -> Product:
    """What OpenGraph and its kin say."""
    given = opengraph.read(page.tree)

    def said(*names: str) -> str | None:
        return next((text for name in names if (text := clean.strip(first(given.get(name))))), None)

    hint = said(
        "product:price:currency", "og:price:currency", "product:currency", "og:currency", "product:sale_price:currency"
    )
    listed = prices.price(
        said("product:price:amount", "og:price:amount", "product:price", "og:price"), hint, country=country
    )
    reduced = prices.price(said("product:sale_price:amount", "og:sale_price:amount"), hint, country=country)
    before = said("product:original_price:amount", "og:price:standard_amount", "product:price:standard_amount")
    regular = listed[0] if reduced[0] else prices.price(before, hint, country=country)[0]
    amount, currency = reduced if reduced[0] else listed
    images = images_of(as_list(given.get("og:image")), page.base_url)
    reference = said("og:url")
    return Product(
        url=urls.resolve(reference, page.base_url) if reference else None,
        name=said("og:title", "twitter:title"),
        price=amount,
        currency=currency,
        regular_price=regular if regular != amount else None,
        availability=stock.word(said("product:availability", "og:availability")),
        sku=said("product:retailer_item_id", "product:sku", "og:sku"),
        mpn=said("product:mfr_part_no"),
        gtin=identifiers.gtin(said("product:ean", "product:upc", "product:gtin", "product:isbn")),
        brand=said("product:brand", "og:brand"),
        image=images[0] if images else None,
        images=images,
        description=said("og:description", "twitter:description"),
        category=said("product:category:path"),
        condition=(said("product:condition", "og:condition") or "").capitalize() or None,
    )


# --- what a buyer sees ---


def _stock(page: Page, front: Storefront) -> str | None:
    """Whether it can be bought: what elements named after it say, the button that buys, texts around that.

    A button that can be pressed outweighs a text that says no: shops keep such texts in the page for later.
    """
    title, button = front.title_at or 0, front.button_at
    said = [found for node in page.tree.css(_STOCK)[:60] if (found := _stock_said(front, node))]
    if said and said[0] != "OutOfStock":
        return said[0]
    if any(one.enabled and abs(one.at - title) < _NEAR for one in front.buttons):
        return "InStock"
    near = front.pieces[max(0, title - 20) : max(button or 0, title) + 40][: 2 * _NEAR]
    told = (stock.phrase(piece.text) for piece in near if len(piece.text) <= 60 and not _of_variant(piece.node))
    return next((word for word in (*said, *told) if word), None)


def _stock_said(front: Storefront, node: Any) -> str | None:
    text = brief(node, 200)
    if front.starts_at(node) is None or not text or len(text) > 120 or _of_variant(node):
        return None
    return stock.phrase(text)


def _of_variant(node: Any) -> bool:
    """Whether an element is one choice of several, or shown on demand: a size that is sold out is not the product."""
    return any(
        above.tag in ("li", "option", "label", "select", "button", "dialog") or _ON_DEMAND.search(names_of(above))
        for above in ancestors(node, 4)
    )


#: Texts from the title within which a button that buys is the product's.
_NEAR = 200
_ON_DEMAND = re.compile(r"dialog|popup|modal|overlay|tooltip|notify|variation|swatch", re.IGNORECASE)


_STOCK = (
    "[itemprop=availability], [class*=availab i], [id*=availab i], [class*=stock i], [id*=stock i], "
    "[class*=sold-out i], [class*=soldout i]"
)


def _trail(things: list[dict[str, Any]], name: str | None) -> str | None:
    """The breadcrumbs, from the widest to the narrowest, without the shop's first page and the product."""
    for thing in things:
        if thing.get("@type") != "BreadcrumbList":
            continue
        steps = thing.get("itemListElement")
        names = [_step(step) for step in as_list(steps)[:20]]
        kept = [text for text in names[1:] if text and text != name]
        if kept:
            return " > ".join(kept)
    return None


def _step(step: Any) -> str | None:
    if not isinstance(step, dict):
        return None
    item = step.get("item")
    text = step.get("name") or (item.get("name") if isinstance(item, dict) else None)
    return clean.strip(first(text))
