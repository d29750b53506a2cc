"""The numbers of a product: the shop's own, the manufacturer's, and that of the bar code.

A shop's own number stands in several places, and not all of them mean the same: what a buyer is shown counts most,
then structured data, then what the page's own forms send, and the address of the page speaks for any of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

if TYPE_CHECKING:
    from gossamer.parse.page import Page
    from gossamer.parse.storefront import Storefront

#: How much each place speaks for a number being the shop's own.
SHOWN, SHOWN_VAGUELY, STRUCTURED, STATE, NAMED, SENT, ADDRESS = 5.0, 3.0, 4.0, 3.0, 4.5, 1.5, 2.5
#: Less than this is not believed.
_ENOUGH = 2.0

_SKU_LABELS = r"""
sku|asin|item (?:no|number|code|id|\#)|article (?:no|number|code|id)
product (?:code|number|id|no|sku|ref(?:erence)?)|stock (?:code|no|number)|style (?:no|code|number|\#)
catalog(?:ue)? (?:no|number|code)|web ?id|listing id|ad id|post(?:ing)? id|offer id|lot (?:no|number)|dpci
product \#|item \#|model/sku|ebay item number|ebay-artikelnummer|numéro de l'objet ebay
artikel-?(?:nr|nummer|no|code)|art\.?-? ?nr|art\.?-?nummer|bestell-?(?:nr|nummer)|produkt-?(?:nr|nummer|code)
artikelnr|anzeigennummer|r[ée]f[ée]rence(?: produit| article| du produit)?|code (?:article|produit)
réf\.? produit|n° d'article|c[óo]digo (?:de |del |do )?(?:producto|produto|art[íi]culo|item)
n[úu]mero de (?:art[íi]culo|producto|modelo)|referencia(?: del producto)?|refer[êe]ncia(?: do produto)?
cod\. ?art\.?|codice (?:prodotto|articolo)|cod\.? (?:prodotto|articolo|produs)|codice art\.?|rif\.? articolo
productnummer|productcode|bestelnummer|artikelnummer|varenummer|varenr|art\.?nr|produktnummer|modellnummer
tuotenumero|tuotekoodi|tuotenro|vöru ?númer|numer (?:katalogowy|produktu|artykułu)|kod produktu
nr (?:produktu|kat(?:alogowy)?|art)|indeks(?: produktu)?|symbol(?: produktu)?|kod towaru
k[óo]d (?:tovaru|produktu|zbo[žz][íi]|výrobku)|číslo (?:produktu|zboží|tovaru|položky)
objednac[íi] (?:číslo|kód)|katalogov[ée] číslo|cikkszám|termékkód|termékazonosító|cod produs|cod articol
šifra(?: izdelka| proizvoda| artikla)?|kataloški broj|κωδικός(?: προϊόντος)?|ürün (?:kodu|no)|stok kodu|артикул
арт\.|код (?:товара|товару|продукта|изделия|производителя)|номер товара|номенклатурный номер|каталожен номер
код на продукт|קוד (?:מוצר|פריט)|מק["״']ט|מספר (?:מוצר|קטלוגי|פריט)|رمز المنتج|رقم المنتج|رقم الموديل|كود المنتج
کد محصول|شناسه محصول|商品番号|商品コード|品番|商品管理番号|管理番号|注文番号|カタログ品番|商品编号|商品編號
商品货号|商品貨號|货号|貨號|品號|料号|商品代碼|商品编码|상품 ?번호|상품 ?코드|제품 ?번호|제품 ?코드|딜 ?번호
품번|รหัสสินค้า|mã (?:sản phẩm|sp|hàng)|kode (?:produk|barang)
"""
#: Words that often stand for something else too.
_VAGUE_LABELS = r"""
ref(?:erence)?|réf|ref\.? ?n[°o]|item|code|id|product|code ?no|código|cod|cód|codice|kód|kod|код|no|nr|modelo
art|article|artikel|artículo|stock|number|numero|número
"""
_MPN_LABELS = r"""
mpn|model (?:no|number|code|\#|id)|item model number
manufacturer(?:'?s)? (?:part |model |ref(?:erence)? )?(?:no|number|code)|manufacturer ref(?:erence)?
part (?:no|number|\#)|mfr\.? (?:part )?(?:no|number|\#)|mfg (?:part )?(?:no|number)
hersteller-?(?:artikel)?-?(?:nr|nummer|art\.?-?nr)|modell-?(?:nr|nummer)|référence (?:fabricant|constructeur)
numéro (?:du|de) modèle|n[úu]mero de modelo|numero modello|numero (?:di )?modello articolo|codice produttore
kod producenta|part number \(pn\)|pn|p/n|výrobn[íéý] (?:číslo|kód)|kód výrobcu|kód výrobce|артикул производителя
код производителя|modellnummer|typenummer|型番|メーカー型番|型號|型号|모델명|номер модели|référence du fabricant
numero pezzo|partnumber|herstellerreferenz
"""
_GTIN_LABELS = r"""
gtin(?:-?\d+)?|ean(?:-?\d+)?(?:[ /-]?(?:code|gtin|upc))?|upc(?: ?code)?|isbn(?:-?1[03])?|bar ?code|strichcode
code[ -]barres?|c[óo]digo de barras|codice a barre|kod kreskowy|(?:č[áa]rov[ýy]|čiarový) kód|штрих-?код|vonalkód
jan(?:コード)?|바코드|条形码|條碼
"""
_BRAND_LABELS = r"""
brand(?: name)?|manufacturer|marke|hersteller|marque|fabricant|marca|fabricante|produttore|merk|märke
tillverkare|varemerke|mærke|merkki|valmistaja|marka|producent|značka|výrobce|výrobca|márka|gyártó|producător
brend|proizvođač|бренд|производитель|марка|торговая марка|виробник|μάρκα|κατασκευαστής|üretici|מותג|יצרן
العلامة التجارية|الماركة|الشركة المصنعة|برند|ブランド|メーカー|品牌|厂商|廠商|브랜드|제조사|ยี่ห้อ|แบรนด์
thương hiệu|hãng|merek
"""
_END = r"[\s.]*(?:[:：#№=\-–]|n[°o]\.?|nr\.?)*\s*"
_VALUE = re.compile(r"[#(]?([A-Za-z0-9][A-Za-z0-9._/\-]{1,39}?)[).,;:〉】」》]*")
_INVISIBLE = " \u200e\u200f\u202a\u202c"
_OPENING = "(•·-–*[〈【「《" + _INVISIBLE
_ATTRIBUTE_SKU = (
    "[data-sku], [data-product-sku], [data-product_sku], [data-product-code], [data-item-number], "
    "[data-article-number], [data-productcode], [data-product-number], [data-product-reference]"
)
_ATTRIBUTE_ID = (
    "[data-product-id], [data-productid], [data-product_id], [data-item-id], [data-itemid], "
    "[data-asin], [data-id-product], [data-pid], [data-prodid], [data-goods-id], [data-goods-no], [data-code]"
)
_INPUTS = (
    "input[name*=product i][value], input[name*=sku i][value], input[name*=asin i][value], input[name*=item i][value], "
    "input[name=id][value], input[name*=article i][value], input[name*=goods i][value], input[name=pid][value], "
    "input[id*=product i][value]"
)
_ID_NAME = re.compile(r"(?:id|code|sku|asin|number|no|nr|srl)$|^(?:product|item|add-to-cart|article)$", re.IGNORECASE)
_ELEMENTS = (
    "[itemprop=sku], [itemprop=productID], .sku, #sku, [class*=product-code i], [class*=productcode i], "
    "[class*=product-number i], [class*=product-reference i], [class*=productreference i], [class*=article-number i], "
    "[class*=articlenumber i], [class*=item-number i], [class*=itemnumber i], "
    "[class*=product-sku i], [class*=product_sku i], [class*=sku-value i], [class*=artnr i], "
    "[data-qa-qualifier*=reference i], [data-testid*=sku i], [data-qa*=sku i], "
    "[id*=product-code i], [id*=productcode i], [id*=product-number i], [id*=sku-value i]"
)
_QUERY = re.compile(r"(?:product|prod|item|goods|article|g|p)?_?(?:id|sku|code|no)|product|item", re.IGNORECASE)


def gtin(text: str | None) -> str | None:
    """The digits of a bar code, if a text is one: 8, 12, 13 or 14 of them, and the last one right."""
    digits = re.sub(r"[\s-]", "", text or "")
    if not digits.isascii() or not digits.isdigit() or len(digits) not in (8, 12, 13, 14) or not digits.strip("0"):
        return None
    total = sum(int(digit) * (3 if n % 2 == 0 else 1) for n, digit in enumerate(reversed(digits[:-1])))
    return digits if (10 - total % 10) % 10 == int(digits[-1]) else None


class Labelled:
    """The numbers that a page shows beside a word for them."""

    def __init__(self, front: Storefront) -> None:
        self.skus: list[tuple[str, float]] = []
        self.mpns: list[str] = []
        self.gtins: list[str] = []
        self.brands: list[str] = []
        pieces = front.pieces
        for at, piece in enumerate(pieces):
            if len(piece.text) > 90 or (label := _label(piece.text)) is None:
                continue
            kind, rest = label
            following = [after.text for after in pieces[at + 1 : at + 4]]
            self._take(kind, rest, following)

    def _take(self, kind: str, rest: str, following: list[str]) -> None:
        value = _value(rest) if rest else _next_value(following)
        if kind == "brand":
            name = (rest or "".join(following[:1])).strip(" :")
            if 1 < len(name) <= 40 and not name.isdigit() and not name.endswith((".", ":", "?")):
                self.brands.append(name)
        elif kind == "gtin":
            self.gtins += filter(None, [gtin(rest or "".join(following[:1]))])
        elif value is None or not any(char.isdigit() for char in value):
            return
        elif kind == "mpn":
            self.mpns.append(value)
        else:
            self.skus.append((value, SHOWN if kind == "sku" else SHOWN_VAGUELY))


def sku(page: Page, front: Storefront, labelled: Labelled, told: Iterable[tuple[str | None, float]]) -> str | None:
    """The shop's own number for the page's product: the one for which most speaks.

    `told` are the numbers that structured data and the like give, each with how much it says.
    """
    evidence: dict[str, float] = defaultdict(float)
    spelled: dict[str, str] = {}
    for source in (labelled.skus[:8], told, _named(page, front), _sent(page)):
        best: dict[str, float] = {}
        for value, weight in source:
            if value and (tidy := value.strip()) and len(tidy) <= 64:
                spelled.setdefault(tidy.lower(), tidy)
                best[tidy.lower()] = max(best.get(tidy.lower(), 0.0), weight)
        for key, weight in best.items():
            evidence[key] += weight
    for token, weight in _address(page.url):
        key = token.lower()
        spelled.setdefault(key, token)
        evidence[key] += weight
    for key in evidence:
        # A shop may go by the number of the bar code, but one of its own says more.
        evidence[key] -= 1.0 if gtin(key) else 0.0
    if not evidence:
        return None
    chosen = max(evidence, key=lambda key: evidence[key])
    return spelled[chosen] if evidence[chosen] >= _ENOUGH else None


# --- what is shown ---


@cache
def _labels() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Kind -> how a text begins that names it. What says most stands first."""
    kinds = (
        ("gtin", _GTIN_LABELS),
        ("mpn", _MPN_LABELS),
        ("sku", _SKU_LABELS),
        ("brand", _BRAND_LABELS),
        ("vague", _VAGUE_LABELS),
    )
    return tuple(
        (kind, re.compile(rf"(?:{'|'.join(listed.strip().splitlines())})(?![^\W\d_]){_END}", re.IGNORECASE))
        for kind, listed in kinds
    )


def _label(text: str) -> tuple[str, str] | None:
    """What a text names, and what it says after that."""
    text = text.lstrip(_OPENING)
    for kind, pattern in _labels():
        found = pattern.match(text)
        if found is None:
            continue
        rest = text[found.end() :].strip(_INVISIBLE)
        marked = found[0].rstrip()[-1:] in ":：#№=°"
        # A vague word is a label only with a colon: "Code: 123".
        if kind == "vague" and not marked:
            return None
        if kind == "brand":
            return (kind, rest) if marked or not rest else None
        if rest and not marked and not any(char.isdigit() for char in rest):
            return None
        return kind, rest
    return None


def _value(text: str) -> str | None:
    """The number that a text begins with, if it is little else."""
    head = text.split(" ", 1)[0]
    found = _VALUE.fullmatch(head)
    return found[1] if found and len(text) <= len(head) + 30 else None


def _next_value(following: list[str]) -> str | None:
    """The number in the text after a label; punctuation may stand between."""
    told = next((text for text in following if text.strip(":：#№ .-" + _INVISIBLE)), "")
    found = _VALUE.fullmatch(told.strip(_INVISIBLE).lstrip(":：#№ "))
    return found[1] if found else None


# --- what the markup holds ---


def _named(page: Page, front: Storefront) -> list[tuple[str, float]]:
    """Texts of elements that are called after the number. Where they differ, they are of several products."""
    found: dict[str, float] = {}
    for node in page.tree.css(_ELEMENTS)[:12]:
        text = " ".join((node.attributes.get("content") or node.text()[:120]).split())
        label = _label(text)
        value = _VALUE.fullmatch((label[1] if label else text).strip())
        if value and any(char.isdigit() for char in value[1]):
            shown = "content" not in node.attributes and front.starts_at(node) is not None
            found[value[1]] = NAMED if shown else SENT
    return list(found.items()) if len(found) == 1 else [(value, 1.0) for value in found]


def _sent(page: Page) -> Iterator[tuple[str, float]]:
    """What forms send and scripts read: hidden inputs and data attributes of the first elements that have them."""
    for selector, weight in ((_ATTRIBUTE_SKU, 2.5), (_ATTRIBUTE_ID, SENT)):
        names = re.findall(r"\[([\w-]+)\]", selector)
        for node in page.tree.css(selector)[:4]:
            given = node.attributes
            for name in names:
                if value := _plain(given.get(name)):
                    yield value, weight
    for node in page.tree.css(_INPUTS)[:40]:
        given = node.attributes
        if _ID_NAME.search(given.get("name") or given.get("id") or "") and (value := _plain(given.get("value"))):
            yield value, SENT


def _plain(text: str | None) -> str | None:
    found = _VALUE.fullmatch((text or "").strip())
    return found[1] if found and sum(char.isdigit() for char in found[1]) >= 2 else None


def _address(url: str) -> Iterator[tuple[str, float]]:
    """The parts of an address that look like a number of something, the last one first."""
    parts = urlsplit(url)
    segments = [segment for segment in unquote(parts.path).split("/") if segment]
    seen: set[str] = set()
    for place, segment in enumerate(reversed(segments[-3:])):
        stem = re.sub(r"\.(?:html?|php|aspx?|jsp|do)$", "", segment)
        for token in _tokens(stem):
            if token.lower() not in seen:
                seen.add(token.lower())
                yield token, ADDRESS if place == 0 else 1.5
    for name, value in parse_qsl(parts.query)[:30]:
        if _QUERY.fullmatch(name) and _plain(value) and value.lower() not in seen:
            yield value, ADDRESS


def _tokens(segment: str) -> list[str]:
    """What may be a number in a segment: all of it, its last words, and each word that is mostly digits."""
    words = re.split(r"[-_,]", segment)
    found = [segment, words[-1], "-".join(words[-2:]), *words]
    return [token for token in dict.fromkeys(found) if _number_like(token)]


def _number_like(token: str) -> bool:
    digits = sum(char.isdigit() for char in token)
    return 4 <= len(token) <= 32 and digits >= 3 and digits * 2 >= len(token.replace("-", "")) and token.isascii()
