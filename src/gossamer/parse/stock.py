"""Whether something can be bought: the words of schema.org, and what shops write in their own language."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

#: How well each word of schema.org speaks for buying: of several offers the best one counts.
RANK = {
    "InStock": 9, "LimitedAvailability": 8, "OnlineOnly": 7, "InStoreOnly": 6, "MadeToOrder": 5, "PreOrder": 4,
    "PreSale": 4, "BackOrder": 3, "Reserved": 2, "SoldOut": 1, "OutOfStock": 1, "Discontinued": 0,
}  # fmt: skip
_WORDS = {
    **{word.lower(): word for word in RANK},
    "instockonline": "InStock", "available": "InStock", "availablefororder": "InStock", "true": "InStock",
    "instocklimited": "LimitedAvailability", "lowstock": "LimitedAvailability", "limitedstock": "LimitedAvailability",
    "oos": "OutOfStock", "outstock": "OutOfStock", "unavailable": "OutOfStock", "notavailable": "OutOfStock",
    "false": "OutOfStock", "notinstock": "OutOfStock", "nostock": "OutOfStock", "availablefororderpreorder": "PreOrder",
    "preorderable": "PreOrder", "backorderable": "BackOrder", "backordered": "BackOrder", "pending": "PreOrder",
}  # fmt: skip
_LONGEST = 120
#: Questions, and what is missing but not sold.
_NOT_STOCK = re.compile(r"[?？؟]|image|photo|bild|foto|vid[eé]o|size guide|review|cookie|javascript")

_OUT = """
out of stock|sold out|not in stock|no longer available|not available|currently unavailable
temporarily unavailable|unavailable|notify me when|email me when|back in stock soon|ausverkauft
nicht (?:mehr )?(?:auf lager|verfügbar|lieferbar|vorrätig|erhältlich)|vergriffen|nicht auf lager|épuisée?
rupture de stock|en rupture|indisponible|plus disponible|non disponible|agotado|sin stock|sin existencias
no disponible|fuera de stock|no hay stock|esgotad[oa]|indispon[íi]vel|sem estoque|sem stock|fora de estoque
avise-me quando|esaurito|non disponibile|non è disponibile|uitverkocht|niet op voorraad|niet leverbaar
niet beschikbaar|tijdelijk uitverkocht|slutsåld|ej i lager|slut i lager|utsolgt|udsolgt|ikke på lager
loppu(?:unmyyty)?|ei (?:ole )?(?:saatavilla|varastossa)|brak w magazynie|niedostępn[yae]|wyprzedan[ye]
brak towaru|produkt niedostępny|vyprod[áa]n[oé]|není skladem|nedostupn[éý]|vypredan[éý]|nie je skladom
momentálne nedostupn|elfogyott|nincs raktáron|nincs készleten|nem rendelhető|nem elérhető|stoc epuizat
indisponibil|nu este în stoc|нет в наличии|распродано?|закончил(?:ся|ась|ись)|нет на складе|отсутствует
товар недоступен|нет в продаже|немає в наявності|відсутній|немає на складі|изчерпан[ао]?|няма наличност
не е наличен|εξαντλημένο|εξαντλήθηκε|μη διαθέσιμο|δεν είναι διαθέσιμο|tükendi|stokta yok|stokta bulunmuyor
rasprodano|nije dostupn|ni na zalogi|trenutno nedostupn|אזל|לא במלאי|חסר במלאי|غير متوفر|غير متاح|نفذت? |نفدت
نفد|売り切れ|売切れ|在庫なし|在庫切れ|品切れ|完売|入荷待ち|缺货|缺貨|售罄|已售完|售完|无货|無貨|无库存|無庫存
補貨中|补货中|销售一空|품절|매진|재고 ?없음|일시품절|판매종료|판매 ?중지|สินค้าหมด|หมดสต็อก|hết hàng|stok habis
stok kosong|habis terjual
"""
_IN = """
in stock|available now|available for (?:delivery|shipping|pickup)|in-stock|ready to ship
ships (?:today|within|in)|auf lager|sofort (?:lieferbar|verfügbar)|lieferbar|verfügbar|vorrätig|versandfertig
en stock|disponible|en existencia|hay existencias|em estoque|em stock|dispon[íi]vel|disponibile
disponibilità immediata|op voorraad|leverbaar|beschikbaar|i lager|på lager|varastossa|saatavilla|heti saatavilla
dostępn[yae]|w magazynie|na stanie|skladem|skladom|na sklad[eě]|dostupn[éýo]|raktáron|készleten|rendelhető
în stoc|in stoc|disponibil|в наличии|есть на складе|на складе|є в наявності|в наявності|в наличност|на склад
διαθέσιμο|σε απόθεμα|άμεσα διαθέσιμ|stokta|stokta var|na zalogi|dostupno|na lageru|na stanju|במלאי|قيد التوفر
متوفر|متاح|在庫あり|在庫有|即納|有货|有貨|现货|現貨|재고 ?있음|พร้อมส่ง|มีสินค้า|còn hàng|stok tersedia|tersedia
"""
_PRE = """
pre-?order|coming soon|vorbestell|précommande|pré-commande|preventa|pre-venta|pré-venda|preordin|pre-ordin
предзаказ|передзамовлення|予約受付|予約注文|预售|預購|预购|예약 ?판매|przedsprzedaż|předobjedn|predobjedn
forudbestil|förbeställ
"""
_BACK = (
    "back-?order|on order|auf bestellung|sur commande|bajo pedido|sob encomenda|su ordinazione|под заказ|na objednávku"
)
_LIMITED = (
    r"only \d+ left|nur noch \d+|plus que \d+|solo quedan \d+|only a few left|low stock|wenige verfügbar|"
    r"últimas unidades|ostatni[ea]? sztuk"
)
_CART = """
add to (?:\\w+ )?(?:cart|bag|basket|trolley)|buy (?:it )?now|^buy$|^purchase$|in den (?:warenkorb|einkaufswagen)
jetzt kaufen|zum warenkorb|ajouter au panier|acheter|añadir (?:al carrito|a la (?:cesta|bolsa))
agregar al (?:carro|carrito)|^comprar|adicionar ao carrinho|aggiungi al (?:carrello|la borsa)|^acquista
compra ora|in (?:mijn )?winkel(?:wagen|mand|mandje)|lägg (?:i|till i) (?:varukorg|kundvagn)|^köp
legg i handle(?:kurv|vogn)|^kjøp|læg i (?:indkøbs)?kurv|^køb|lisää (?:ostos)?kori|do koszyka|kup teraz
do košík[ua]|^kúpiť|^koupit|kosárba|megveszem|adaug[ăa] [îi]n co[șşs]|в корзину|^купить|заказать|в кошик|^купити
в количката|στο καλάθι|αγορά|sepete ekle|satın al|u košaricu|u korpu|v košarico|הוסף לסל|הוספה לסל|הוסף לעגלה
לקנייה|^קנה|أضف (?:إلى|الى)|اضف (?:إلى|الى)|اشتر|カートに入れる|カゴに入れる|購入手続き|今すぐ買う|加入购物车
加入購物車|放入購物車|立即购买|立即購買|直接購買|장바구니|구매하기|바로 ?구매|바로구매|ใส่ตะกร้า|เพิ่มลงตะกร้า
thêm vào giỏ|mua ngay|\\+ ?keranjang|beli sekarang
"""


def word(value: object) -> str | None:
    """The word of schema.org for an availability: a word or URL of schema.org, its usual misspellings, a phrase."""
    if isinstance(value, bool):
        return "InStock" if value else "OutOfStock"
    if not isinstance(value, str) or not value.strip():
        return None
    last = value.strip().rstrip("/").rpartition("/")[2].rpartition("#")[2][:_LONGEST]
    known = _WORDS.get(re.sub(r"[^a-z]", "", last.lower()))
    return known or phrase(value)


def phrase(text: str) -> str | None:
    """What a short text in one of some thirty languages says of the stock; None if it says nothing."""
    text = " ".join(text[:_LONGEST].split()).lower()
    if _NOT_STOCK.search(text):
        return None
    for status, pattern in _patterns().items():
        if pattern.search(text):
            return status
    return None


def buys(text: str) -> bool:
    """Whether a text is that of a button that buys: short, since a sentence tells of buying."""
    return 1 < len(text) <= 30 and _cart().search(" ".join(text.split()).lower()) is not None


def best(words: Iterable[str | None]) -> str | None:
    """Of the availabilities of several offers the one that speaks most for buying."""
    known = [one for one in words if one in RANK]
    return max(known, key=lambda one: RANK[one]) if known else None


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Status -> its phrases. Those that deny stand first: "not in stock" holds "in stock"."""
    return {
        status: _phrases(listed)
        for status, listed in (
            ("PreOrder", _PRE),
            ("OutOfStock", _OUT),
            ("LimitedAvailability", _LIMITED),
            ("InStock", _IN),
            ("BackOrder", _BACK),
        )
    }


@cache
def _cart() -> re.Pattern[str]:
    return _phrases(_CART)


def _phrases(listed: str) -> re.Pattern[str]:
    """Phrases that stand alone: letters of an alphabet do not touch them on the left."""
    joined = "|".join(line for line in listed.strip().splitlines())
    return re.compile(rf"(?<![a-zà-žа-я])(?:{joined})")
