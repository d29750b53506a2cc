"""Adapter for the product suite: PYTHONPATH=tests/suites python .../product/run.py --adapter adapt_product:product"""

from __future__ import annotations

from typing import Any

from gossamer.parse import prices
from gossamer.parse.page import Page
from gossamer.parse.product import read

_GONE = frozenset({"OutOfStock", "SoldOut", "Discontinued"})


def product(html: bytes, url: str) -> dict[str, Any]:
    """What the page's product costs, its number, and whether it can be bought.

    The suite knows two answers: what does not say that it is sold out counts as in stock, as with the peer.
    """
    found = read(Page.of(html, url))
    if not found:
        return {"availability": "InStock"}
    main = found[0]
    availability = "OutOfStock" if main.availability in _GONE else "InStock"
    return {"price": main.price, "sku": main.sku, "currency": main.currency, "availability": availability}


def price(text: str | None, hint: str | None) -> tuple[str | None, str | None]:
    """Amount and currency of a price string. The suite wants the currency's mark as written, not its code."""
    return prices.written(text or "", hint)
