"""The world's currencies: their ISO 4217 codes, decimals, countries, and the marks that people write for them."""

from __future__ import annotations

from functools import cache

import msgspec

#: code, decimals, countries that use it, marks. A mark that several currencies share stands in each of their lines.
_TABLE = """
AED 2 AE د.إ. د.إ دإ درهم Dhs Dh DH
AFN 2 AF ؋ Af افغانی
ALL 2 AL Lek lekë Lekë
AMD 2 AM դր. դր ֏ драм
ANG 2 CW,SX ƒ NAƒ
AOA 2 AO Kz kwz
ARS 2 AR $ AR$ ARS$
AUD 2 AU,KI,NR,TV $ AU$ A$ AUD$
AWG 2 AW ƒ Afl. Afl
AZN 2 AZ ₼ man. ман. manat
BAM 2 BA KM КМ км
BBD 2 BB $ Bds$ BBD$
BDT 2 BD ৳ Tk Tk. টাকা টকা
BGN 2 BG лв. лв lv lv.
BHD 3 BH د.ب. د.ب BD
BIF 0 BI FBu Fbu
BMD 2 BM $ BD$
BND 2 BN $ BN$ B$
BOB 2 BO Bs Bs. $b
BRL 2 BR R$ reais
BSD 2 BS $ B$
BTN 2 BT Nu. Nu
BWP 2 BW P
BYN 2 BY Br б.р. р. р Р руб. руб бел.руб. BYR
BZD 2 BZ $ BZ$
CAD 2 CA $ CA$ C$ CAN$ CAD$ CDN$
CDF 2 CD FC FrCD
CHF 2 CH,LI CHF Fr. Fr SFr. SFr sFr. francs ₣
CLP 0 CL $ CL$ CLP$
CNY 2 CN ¥ ￥ CN¥ RMB 元 圆 人民币 yuan
COP 2 CO $ CO$ COP$
CRC 2 CR ₡ colones
CUC 2 - CUC$
CUP 2 CU ₱ $ $MN
CVE 2 CV CV$ Esc $
CZK 2 CZ Kč kč KČ Kc korun
DJF 0 DJ Fdj
DKK 2 DK,FO,GL kr kr. Kr Kr. Dkr DKr
DOP 2 DO RD$ $
DZD 2 DZ د.ج. د.ج دج DA
EGP 2 EG ج.م. ج.م جنيه E£ LE L.E. EGP£ £
ERN 2 ER Nfk نافكا
ETB 2 ET Br ብር Birr birr
EUR 2 AD,AT,BE,CY,DE,EE,ES,FI,FR,GF,GP,GR,HR,IE,IT,LT,LU,LV,MC,ME,MQ,MT,NL,PT,RE,SI,SK,SM,VA € euro Euro euros евро eur
FJD 2 FJ $ FJ$
FKP 2 FK £
GBP 2 GB,UK,GG,IM,JE,GS £ ￡ GB£ UK£ pound pounds
GEL 2 GE ₾ ლ ლარი лари
GHS 2 GH ₵ GH₵ GHC GH¢
GIP 2 GI £
GMD 2 GM D
GNF 0 GN FG
GTQ 2 GT Q
GYD 2 GY $ G$
HKD 2 HK $ HK$ HKD$ 港幣
HNL 2 HN L L.
HTG 2 HT G
HUF 0 HU Ft Ft. ft forint
IDR 0 ID Rp Rp. rp
ILS 2 IL,PS ₪ ש"ח ש״ח ש''ח שח NIS
INR 2 IN ₹ Rs Rs. रु रु. र ₨ রু INR. rupees
IQD 0 IQ د.ع. د.ع ID دينار
IRR 0 IR ﷼ ریال تومان تومن
ISK 0 IS kr kr. Ikr
JMD 2 JM J$ $
JOD 3 JO د.أ. د.أ د.ا JD د.
JPY 0 JP ¥ ￥ JP¥ 円 yen 日元 日圓
KES 2 KE KSh Ksh KShs Kshs KES. KSh.
KGS 2 KG сом с som
KHR 2 KH ៛
KMF 0 KM CF
KPW 0 KP ₩
KRW 0 KR ₩ ￦ 원 won KRW원
KWD 3 KW د.ك. د.ك KD دك
KYD 2 KY $ CI$
KZT 2 KZ ₸ тңг. тңг тг. тг тенге T
LAK 0 LA ₭
LBP 0 LB ل.ل. ل.ل LB£ LL £
LKR 2 LK Rs Rs. SLRs රු රු. ₨ SL_Re
LRD 2 LR $ L$
LSL 2 LS L M
LYD 3 LY د.ل. د.ل LD
MAD 2 MA,EH د.م. د.م Dh DH Dhs درهم
MDL 2 MD L lei leu
MGA 0 MG Ar
MKD 2 MK ден. ден ден.
MMK 0 MM K Ks
MNT 2 MN ₮ төг
MOP 2 MO MOP$ 澳門幣
MRU 2 MR UM
MUR 2 MU Rs ₨ MURs
MVR 2 MV Rf MRf Rf. ރ
MWK 2 MW MK
MXN 2 MX $ MX$ Mex$ MXN$ MN$ pesos
MYR 2 MY RM
MZN 2 MZ MTn MT
NAD 2 NA N$ $
NGN 2 NG ₦ naira
NIO 2 NI C$
NOK 2 NO,SJ,BV kr kr. Kr Kr. Nkr NOK.
NPR 2 NP नेरू रू रु Rs NPRs ₨
NZD 2 NZ,CK,NU,PN,TK $ NZ$ NZD$
OMR 3 OM ر.ع. ر.ع RO
PAB 2 PA B/. B/
PEN 2 PE S/ S/. soles
PGK 2 PG K
PHP 2 PH ₱ Php PhP
PKR 0 PK Rs Rs. ₨ PKRs روپے
PLN 2 PL zł Zł ZŁ zl zł. złotych złote
PYG 0 PY ₲ Gs Gs.
QAR 2 QA ر.ق. ر.ق QR
RON 2 RO lei Lei LEI leu RON.
RSD 2 RS дин. дин din. din Дин динар динара Dinara dinara РСД
RUB 2 RU ₽ руб. руб р. р Р Руб. Руб РУБ rub. руб.
RWF 0 RW FRw RF
SAR 2 SA ر.س. ر.س رس ريال SR SAR.
SBD 2 SB $ SI$
SCR 2 SC ₨ SRe
SDG 2 SD ج.س. ج.س
SEK 2 SE kr kr. Kr Kr. Skr kronor
SGD 2 SG $ S$ SG$ SGD$
SHP 2 SH £
SLE 2 SL Le
SLL 2 - Sl
SOS 2 SO Ssh ش.ص
SRD 2 SR $ Sr$
SSP 2 SS SSP£
STN 2 ST Db
SVC 2 - SVC$
SYP 2 SY ل.س. ل.س SY£ £S
SZL 2 SZ L E
THB 2 TH ฿ บาท baht Baht
TJS 2 TJ сом. SM
TMT 2 TM TMT m
TND 3 TN د.ت. د.ت DT
TOP 2 TO T$
TRY 2 TR ₺ TL tl YTL
TTD 2 TT TT$ $
TWD 2 TW NT$ $ NT 元 新台幣 NTD TWD$ 台幣
TZS 0 TZ TSh Tsh TSh.
UAH 2 UA ₴ грн. грн ГРН грн.. hrn гривен
UGX 0 UG USh Ush
USD 2 US,AS,BQ,EC,FM,GU,IO,MH,MP,PR,PW,SV,TC,TL,UM,VG,VI,ZW $ US$ USD$ ＄ dollars dollar доллар $US U$D U$S u$s
UYU 2 UY $U $ UYU$
UZS 0 UZ сўм сум so'm so‘m soʻm Sʻ S'
VES 2 VE Bs Bs. Bs.F. Bs.S VEF
VND 0 VN ₫ đ Đ VNĐ vnđ đồng
VUV 0 VU VT Vt
WST 2 WS WS$ $ SAT
XAF 0 CM,CF,CG,GA,GQ,TD FCFA CFA
XCD 2 AG,DM,GD,KN,LC,MS,VC,AI $ EC$
XOF 0 BF,BJ,CI,GW,ML,NE,SN,TG CFA FCFA F.CFA
XPF 0 NC,PF,WF CFP FCFP
YER 2 YE ر.ي. ر.ي YR ﷼
ZAR 2 ZA R
ZMW 2 ZM ZK K
ZWL 2 - Z$ ZWD
BTC 8 - ₿ Ƀ
DEM 2 - DM D-Mark
FRF 2 - ₣
ITL 0 - ₤
ESP 0 - ₧ Ptas
HRK 2 - kn Kn
SKK 2 - Sk
"""
#: What a mark that several currencies share means, where nothing else is known. A mark that is missing here, as
#: "kr", says too little alone.
_USUAL = {
    "$": "USD", "£": "GBP", "¥": "JPY", "￥": "JPY", "₨": "INR", "Rs": "INR", "Rs.": "INR", "€": "EUR", "₩": "KRW",
    "руб.": "RUB", "руб": "RUB", "р.": "RUB", "р": "RUB", "Р": "RUB", "lei": "RON", "C$": "CAD", "元": "CNY",
    "₱": "PHP", "FCFA": "XOF", "CFA": "XOF", "Dhs": "AED", "DH": "AED", "Dh": "AED", "درهم": "AED", "Bs": "BOB",
    "Bs.": "BOB", "﷼": "IRR", "K": "ZMW", "Br": "BYN", "B$": "BND", "ƒ": "ANG", "₣": "CHF", "L": "HNL", "leu": "RON",
    "रु": "INR",
}  # fmt: skip
#: Codes that are words too: they count only next to a number.
_ALSO_WORDS = frozenset({"ALL", "BAM", "CUP", "GEL", "LAK", "MAD", "MOP", "PEN", "SOS", "TOP", "TRY", "ID"})


class Currency(msgspec.Struct, frozen=True, kw_only=True):
    """One currency."""

    code: str
    #: Digits after the point, as the currency is usually written.
    decimals: int
    countries: tuple[str, ...]
    marks: frozenset[str]


@cache
def currencies() -> dict[str, Currency]:
    """Every currency by its code."""
    found = {}
    for line in _TABLE.strip().splitlines():
        code, decimals, countries, *marks = line.split(" ")
        lands = () if countries == "-" else tuple(countries.split(","))
        found[code] = Currency(code=code, decimals=int(decimals), countries=lands, marks=frozenset({code, *marks}))
    return found


@cache
def by_mark() -> dict[str, tuple[str, ...]]:
    """The codes that each mark can stand for."""
    found: dict[str, list[str]] = {}
    for currency in currencies().values():
        for mark in currency.marks:
            found.setdefault(mark, []).append(currency.code)
    return {mark: tuple(codes) for mark, codes in found.items()}


@cache
def _by_country() -> dict[str, str]:
    return {country: currency.code for currency in currencies().values() for country in currency.countries}


def of_country(country: str) -> str | None:
    """The code of the currency of a country, given by its two letters."""
    return _by_country().get(country.upper())


def code(mark: str | None, *, likely: str | None = None, country: str | None = None) -> str | None:
    """The ISO 4217 code of a mark: `likely` (a code) or the currency of `country` where the mark can mean it.

    None for what is no mark of a currency, for a single letter of a country that is not known, and for a mark of
    too many currencies: "kr" alone may be four.
    """
    if not mark:
        return None
    mark = mark.strip().replace(" ", "")
    codes = by_mark().get(mark) or by_mark().get(mark.upper()) or ()
    local = of_country(country) if country else None
    for wanted in (likely, local):
        if wanted in codes:
            return wanted
    if len(mark) == 1 and mark.isascii() and mark.isalpha():
        return None  # "M14" is a screw
    return codes[0] if len(codes) == 1 else _USUAL.get(mark)


def decimals(code: str | None) -> int:
    """Digits after the point of a currency's amounts; two for one that is not known."""
    known = currencies().get(code or "")
    return known.decimals if known else 2


def is_sign(mark: str) -> bool:
    """Whether a mark means money wherever it stands, as "€" does; letters do so next to a number only."""
    letters = sum(char.isalpha() for char in mark)
    return not letters or any(char in "$£€¥₵" for char in mark)


def is_strong(mark: str) -> bool:
    """Whether letters are no usual word, so that they name a currency even away from the number."""
    return mark not in _ALSO_WORDS and (len(mark) >= 3 if mark.isascii() else len(mark.strip(".")) >= 2)
