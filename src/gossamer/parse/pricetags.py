"""The price of a product in the markup of its page: of all amounts that a buyer sees, the one that is asked for."""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal
from typing import NamedTuple

from gossamer.parse import currencies, prices
from gossamer.parse.page import Page
from gossamer.parse.storefront import Piece, Storefront, ancestors

#: Amounts looked at on one page.
_MOST = 400
_MOST_TRIED = 1500
_LONGEST = 48
_HAS_NUMBER = re.compile(r"\d")
#: A text that is at most a price and a few words.
_SHAPE = re.compile(
    r"[^\d]{0,28}\d[\d.,'’ ]{0,16}(?:[^\d]{0,6}[-–—~][^\d]{0,6}\d[\d.,'’ ]{0,16})?[^\d]{0,24}(?:\d{1,2}[^\d]{0,6})?"
)
_CENTS = re.compile(r"[.,]?\d\d")
_WHOLE = re.compile(r"(?<![.,\d])\d{1,6}[.,]?$")
_PRICE = re.compile(
    r"price|preis|prix|precio|prezzo|pre[cç]o|cena|cijena|prijs|hinta|fiyat|tsena|(?:^|[\s_-])(?:pr|pris|ar|ár|amount|cost)(?:[\s_-]|$)",
    re.IGNORECASE,
)
#: A price, but not the one that is asked for.
_OLD = re.compile(
    r"(?<![a-z])old|(?:^|[\s_-])(?:was|rrp|msrp|uvp|before|regular|retail)(?:[\s_-]|price|$)|(?:list|full|base|std)[\s_-]?price|"
    r"strike|cross(?:ed|-?out)|origin|compare-?at|previous|line-?through|barr[eé]|tachado|(?:^|[\s_-])del(?:[\s_-]|$)",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"shipping|delivery|versand|livraison|saving|savings|yousave|you-?save|(?:^|[\s_-])save|unit-?price|per-?unit|"
    r"base-?price|grundpreis|basispreis|install?ment|monthly|month|credit|leasing|finance|bonus|points|voucher|coupon|"
    r"deposit|insurance|warranty|total|subtotal|filter|slider|range|tax-?only|gift|reward|loyalty|percent",
    re.IGNORECASE,
)
_CURRENT = re.compile(
    r"current|final|sale|special|now|our|actual|buy|selling|sell|deal|main|offer|discount|today|promo|aktuell|"
    r"new-?price|price-?new|red",
    re.IGNORECASE,
)
#: Words before or after an amount that make it another one.
_SAID_OTHER = re.compile(
    r"shipping|delivery|versand|livraison|env[ií]o|spedizione|доставк|save|sparen|économ|ahorr|risparmi|скидк|"
    r"/ ?(?:mo|month|monat|mois|mes|мес)|per month|monatlich|pro monat|par mois|al mes|al mese|/мес|"
    r"installment|raten?\b|cuotas|rate da|в кредит|рассрочк|free over|orders over|ab einem|"
    r"(?:pro|per|je|/) ?(?:\d+ )?(?:kg|g|l|ml|m|m²|st|stk|stück|unit|unité|piece|item)\b|off\b|折|rabatt|remise|sconto|"
    r"coupon|gutschein|voucher|每期|取貨|宅配|郵寄|運費|运费|手續費|紅利|点|포인트|적립|배송",
    re.IGNORECASE,
)
_SAID_OLD = re.compile(
    r"^(?:was|rrp|msrp|list price|regular|reg\.|uvp|statt|instead|au lieu|antes|prima|prix conseillé|pvp|"
    r"старая цена|原價|原价|市價|市价|建議售價|定價|정가|通常価格|メーカー希望|běžná|pôvodn|"
    r"původn|avant|vorher|before|former|typical|listenpreis|m\.?r\.?p)",
    re.IGNORECASE,
)
#: "price": "12.50", salePrice = 12.5, data-price='12'. The first letter is left open: capitals stand for it too.
_IN_SCRIPTS = re.compile(rb"rice\w{0,14}[\"']?\s{0,3}[:=]\s{0,3}[\"']?(\d[\d.,]{0,14})")


class Tag(NamedTuple):
    """An amount on the page that may be the price."""

    at: int
    amount: str
    currency: str | None
    text: str
    #: Whether it is struck through, or said to be what it cost before.
    old: bool = False
    score: float = 0.0


class Found(NamedTuple):
    """What the markup says a product costs."""

    price: str | None = None
    currency: str | None = None
    regular: str | None = None
    #: How sure it is: from 5 on it may be believed where nothing else speaks for a product.
    score: float = 0.0


def find(page: Page, front: Storefront, country: str | None = None) -> Found:
    """The price that a buyer would take for the product's."""
    tags = _scored(page, front, _amounts(front, country))
    asked = [tag for tag in tags if not tag.old and tag.score > 2]
    if not asked:
        return Found()
    best = max(asked, key=lambda tag: (tag.score, -tag.at))
    before = [
        tag for tag in tags if tag.old and abs(tag.at - best.at) < 12 and Decimal(tag.amount) > Decimal(best.amount)
    ]
    nearest = min(before, key=lambda tag: abs(tag.at - best.at), default=None)
    return Found(best.amount, best.currency, nearest.amount if nearest else None, best.score)


def _amounts(front: Storefront, country: str | None) -> list[Tag]:
    """Every short text that is little more than an amount of money."""
    found: list[Tag] = []
    tried = 0
    for at, piece in enumerate(front.pieces):
        if len(piece.text) > _LONGEST or not _HAS_NUMBER.search(piece.text):
            continue
        text = _phrase(front.pieces, at)
        tried += 1
        if tried > _MOST_TRIED:
            break
        if not _SHAPE.fullmatch(text):
            continue
        amount, currency = prices.price(text, country=country)
        if amount and amount != "0":
            found.append(Tag(at, amount, currency, text))
            if len(found) >= _MOST:
                break
    return found


def _scored(page: Page, front: Storefront, tags: list[Tag]) -> list[Tag]:
    """The amounts that may be a price, each with what speaks for it."""
    spoken = _spoken(page)
    often = Counter(tag.amount for tag in tags)
    seen: Counter[str] = Counter()
    found: list[Tag] = []
    for tag in tags:
        piece = front.pieces[tag.at]
        around = _around(piece)
        is_price = bool(_PRICE.search(around.names))
        if tag.currency is None and not is_price:
            continue
        score = 3.0 * (tag.currency is not None) + 4.0 * is_price + _named(around.names) + _nearness(front, tag.at)
        score += 2.0 * (tag.amount in spoken) + 1.0 * (1 < often[tag.amount] <= 4) - 1.5 * ("a" in around.tags)
        score -= _said(front, tag)
        name = piece.node.attributes.get("class") or ""
        if name and tag.at >= (front.title_at or 0):
            # The product's own price comes first; those of the same kind that follow are of other products.
            score -= min(seen[name], 4)
            seen[name] += 1
        found.append(tag._replace(old=_is_old(front, tag, around), score=score))
    return found


def _named(names: str) -> float:
    return 1.0 * bool(_CURRENT.search(names)) - 5.0 * bool(_OTHER.search(names))


def _said(front: Storefront, tag: Tag) -> float:
    """What the words in and before an amount say against it."""
    before = front.pieces[tag.at - 1].text if tag.at else ""
    said = f"{before[-40:]} {tag.text}" if 2 < len(before) < 60 else tag.text
    # A sentence that names an amount is seldom the price.
    letters = sum(char.isalpha() for char in tag.text)
    return 4.0 * bool(_SAID_OTHER.search(said)) + min(3.0, max(0, letters - 8) / 4)


def _is_old(front: Storefront, tag: Tag, around: _Around) -> bool:
    """Whether an amount is what it cost before: struck through, named so by the nearest element, or said so."""
    if around.tags & {"del", "s", "strike"} or "line-through" in around.style:
        return True
    before = front.pieces[tag.at - 1].text if tag.at else ""
    if _SAID_OLD.search(before) or _SAID_OLD.search(tag.text):
        return True
    for names in around.levels:
        old, current = bool(_OLD.search(names)), bool(_CURRENT.search(names))
        if old or current:
            return old
    return False


def _nearness(front: Storefront, at: int) -> float:
    """Prices stand below the title and above the button that buys; where the button comes first, beside it."""
    title, button = front.title_at, front.button_at
    if title is None:
        return max(0.0, 3.0 - abs(at - button) / 10) if button is not None else 0.0
    if button is not None and title <= at <= button:
        return 3.0 + max(0.0, 2.0 - (at - title) / 40)
    beside = max(0.0, 3.0 - abs(at - button) / 6) if button is not None else 0.0
    below = max(0.0, 3.0 - (at - title) / 40) if at >= title else max(-3.0, -1.0 - (title - at) / 40)
    return max(beside, below)


class _Around(NamedTuple):
    """The elements around a text."""

    #: The names of the nearest ones, from the inside out.
    levels: list[str]
    tags: set[str]
    style: str

    @property
    def names(self) -> str:
        return " ".join(self.levels[:3])


_NAMING = ("class", "id", "itemprop", "data-testid", "data-test", "data-qa", "data-price-type", "aria-label")


def _around(piece: Piece) -> _Around:
    levels, tags, style = [], set(), ""
    for level, node in enumerate(ancestors(piece.node, 5)):
        given = node.attributes
        tags.add(node.tag or "")
        levels.append(" ".join(filter(None, (given.get(name) for name in _NAMING)))[:300])
        style += given.get("style") or "" if level < 3 else ""
    return _Around(levels, tags, style)


def _phrase(pieces: list[Piece], at: int) -> str:
    """A text with what stands beside it and belongs to the amount: a mark of currency, the cents."""
    text = pieces[at].text
    after = pieces[at + 1].text if at + 1 < len(pieces) else ""
    if _CENTS.fullmatch(after) and _WHOLE.search(text):
        # The cents stand in an element of their own.
        text = f"{text.rstrip('.,')}.{after.lstrip('.,')}"
        after = pieces[at + 2].text if at + 2 < len(pieces) else ""
    if len(after) <= 12 and _is_mark(after):
        text = f"{text} {after}"
    before = pieces[at - 1].text if at else ""
    # "12 EUR 34": the mark belongs to the number it follows.
    free = at < 2 or not pieces[at - 2].text[-1:].isdigit()
    return f"{before} {text}" if free and text[:1].isdigit() and len(before) <= 8 and _is_mark(before) else text


def _is_mark(text: str) -> bool:
    return text.strip(" :*~/-,.") in currencies.by_mark() or text.strip() in currencies.by_mark()


def _spoken(page: Page) -> Counter[str]:
    """The amounts that scripts call prices."""
    found: Counter[str] = Counter()
    for match in _IN_SCRIPTS.finditer(page.body):
        amount = prices.amount(match[1].decode())
        if amount:
            found[amount] += 1
        if len(found) > 1000:
            break
    return found
