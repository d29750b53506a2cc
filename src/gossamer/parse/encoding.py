"""Bytes to text, in the order browsers use.

    byte order mark  >  HTTP header  >  <meta> or <?xml ...?>  >  a guess

Names are those of the WHATWG Encoding standard in lower case. Three things differ from a browser, because a
browser protects its user from scripts and we must not lose a page:

* UTF-32 is read, where a browser would show garbage.
* Labels the standard maps to "replacement" (hz-gb-2312, iso-2022-kr, ...) are ignored, and the page guessed.
* Shift_JIS keeps the JIS reading of six signs (see `_JIS_SIGNS`).

Nothing here raises for any input: a byte no encoding explains becomes U+FFFD.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import Final

__all__ = ["decode", "python_codec", "sniff"]

#: What a page is when nothing says otherwise: the standard's default for most locales.
FALLBACK: Final = "windows-1252"

#: How much the prescan reads, as the HTML standard advises.
PRESCAN_BYTES: Final = 1024

#: How far we look for a <meta> that comes too late; a browser meets it while parsing and starts over.
LATE_META_BYTES: Final = 32 * 1024

#: How much the detector reads: its time grows with this, so a hostile page cannot choose it.
GUESS_BYTES: Final = 16 * 1024

#: How far we look for text worth guessing from.
GUESS_REACH: Final = 1024 * 1024


def sniff(body: bytes, content_type: str | None) -> str:
    """The encoding of `body`, given the value of its Content-Type header (or None).

    >>> sniff(b'<meta charset="latin1">', "text/html")
    'windows-1252'
    """
    return (
        _from_bom(body) or _from_header(body, content_type) or _from_markup(body, _kind(content_type)) or _guess(body)
    )


def decode(body: bytes, content_type: str | None) -> tuple[str, str]:
    """The encoding of `body` and its text, without a byte order mark.

    >>> decode(b"caf\\xc3\\xa9", "text/html; charset=utf-8")
    ('utf-8', 'café')
    """
    name = sniff(body, content_type)
    return name, _text(body, name).removeprefix("\ufeff")


def python_codec(name: str) -> str:
    """The Python codec that comes closest to an encoding named by `sniff`.

    `decode` is more exact: it also repairs the few bytes that Python and the standard read differently.
    """
    return _PYTHON_CODECS.get(name, name)


# --- labels -----------------------------------------------------------------------------------------------

# One encoding a line, its name first (https://encoding.spec.whatwg.org/#names-and-labels). "replacement" is
# left out and utf-32 is added, see the top of the file.
_LABEL_TABLE: Final = """
utf-8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8
ibm866 866 cp866 csibm866
iso-8859-2 csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
iso-8859-3 csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3
iso-8859-4 csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4
iso-8859-5 csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988
iso-8859-6 arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i \
iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
iso-8859-7 csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 \
iso_8859-7:1987 sun_eu_greek
iso-8859-8 csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 \
iso_8859-8:1988 visual
iso-8859-8-i csiso88598i logical
iso-8859-10 csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6
iso-8859-13 iso8859-13 iso885913
iso-8859-14 iso8859-14 iso885914
iso-8859-15 csisolatin9 iso8859-15 iso885915 iso_8859-15 l9
iso-8859-16
koi8-r cskoi8r koi koi8 koi8_r
koi8-u koi8-ru
macintosh csmacintosh mac x-mac-roman
windows-874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620
windows-1250 cp1250 x-cp1250
windows-1251 cp1251 x-cp1251
windows-1252 ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 \
iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252
windows-1253 cp1253 x-cp1253
windows-1254 cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 \
latin5 x-cp1254
windows-1255 cp1255 x-cp1255
windows-1256 cp1256 x-cp1256
windows-1257 cp1257 x-cp1257
windows-1258 cp1258 x-cp1258
x-mac-cyrillic x-mac-ukrainian
gbk chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk
gb18030
big5 big5-hkscs cn-big5 csbig5 x-x-big5
euc-jp cseucpkdfmtjapanese x-euc-jp
iso-2022-jp csiso2022jp
shift_jis csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis
euc-kr cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949
utf-16be unicodefffe
utf-16le csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16
utf-32be
utf-32le utf-32
x-user-defined
"""

_LABELS: Final = {label: row[0] for row in map(str.split, _LABEL_TABLE.splitlines()) for label in row}

_PYTHON_CODECS: Final = {
    "big5": "big5hkscs",
    "euc-jp": "euc_jp",
    "euc-kr": "cp949",
    "gbk": "gb18030",
    "hz-gb-2312": "hz",
    "ibm855": "cp855",
    "ibm866": "cp866",
    "iso-2022-jp": "iso2022_jp_ext",  # adds the katakana set, which the standard has too
    "iso-2022-kr": "iso2022_kr",
    "iso-8859-8-i": "iso8859-8",
    "macintosh": "mac_roman",
    "shift_jis": "cp932",
    "utf-16be": "utf-16-be",
    "utf-16le": "utf-16-le",
    "utf-32be": "utf-32-be",
    "utf-32le": "utf-32-le",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac_cyrillic",
    "x-user-defined": "latin-1",
}

_WIDE: Final = frozenset({"utf-16le", "utf-16be", "utf-32le", "utf-32be"})


def _lookup(label: str) -> str | None:
    return _LABELS.get(label.strip("\t\n\f\r ").lower())


def _declared_in_ascii(label: bytes) -> str | None:
    """The encoding meant by a label that was itself readable as ASCII."""
    name = _lookup(label.decode("latin-1"))
    if name in _WIDE:  # we could not have read the label, had it been true
        return "utf-8"
    return FALLBACK if name == "x-user-defined" else name


# --- byte order mark --------------------------------------------------------------------------------------

_BOMS: Final = {
    b"\xef\xbb\xbf": "utf-8",
    b"\xff\xfe\0\0": "utf-32le",  # before utf-16le, of which it is a special case
    b"\0\0\xfe\xff": "utf-32be",
    b"\xff\xfe": "utf-16le",
    b"\xfe\xff": "utf-16be",
}
_BOM_STARTS: Final = tuple(_BOMS)


def _from_bom(body: bytes) -> str | None:
    if not body.startswith(_BOM_STARTS):
        return None
    return next(name for mark, name in _BOMS.items() if body.startswith(mark))


# --- HTTP header ------------------------------------------------------------------------------------------

# Quoted values are consumed whole, so that a "; charset=" inside one is not taken for a parameter.
_PARAMETER: Final = re.compile(r';[\t\n\r ]*+([^\s=;,"]++)=(?:"([^"]*+)"?|([^;,]*+))')
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_XML_TYPE: Final = re.compile(r"[/+]xml\b", re.IGNORECASE)
_PLAIN_TYPE: Final = re.compile(r"json|script|text/(?:plain|csv|css)", re.IGNORECASE)


@lru_cache(maxsize=512)
def _header_charset(content_type: str) -> str | None:
    for name, quoted, bare in _PARAMETER.findall(content_type):
        value = (quoted or bare).strip("\r\n")
        # The standard stops at the first, even at one that nobody knows; we would lose what a second one says.
        if name.lower() == "charset" and _VALUE.fullmatch(value) and (found := _lookup(value)):
            return found
    return None


@lru_cache(maxsize=512)
def _kind_of(content_type: str) -> str:
    essence = content_type.partition(";")[0]
    if _XML_TYPE.search(essence):
        return "xml"
    return "plain" if _PLAIN_TYPE.search(essence) else "html"


def _kind(content_type: str | None) -> str:
    return _kind_of(content_type[:256]) if content_type else "html"


def _from_header(body: bytes, content_type: str | None) -> str | None:
    # The cut bounds what the cache may hold: servers choose their headers.
    name = _header_charset(content_type[:256]) if content_type else None
    return _checked_wide(body[:PRESCAN_BYTES], name) if name in _WIDE else name


def _checked_wide(head: bytes, name: str) -> str | None:
    """The byte order as the bytes show it; None when the bytes cannot be UTF-16 or UTF-32 at all."""
    if head.isascii() and head and b"\0" not in head:
        return None  # plain ASCII, and some server's setting is wrong
    return f"{name[:6]}be" if head.startswith(b"\0") else name


# --- markup -----------------------------------------------------------------------------------------------

# The standard's "get an attribute" as one pattern. Possessive quantifiers (*+) keep it linear and, as the
# standard wants, make everything fail when the bytes run out within a tag.
_ATTRIBUTE: Final = rb"""
    [\t\n\f\r\ /]*+
    ([^\t\n\f\r\ />] [^\t\n\f\r\ />=]*+)
    (?: [\t\n\f\r\ ]*+ = [\t\n\f\r\ ]*+
        (?: "([^"]*+)" | '([^']*+)' | ([^\t\n\f\r\ >"'] [^\t\n\f\r\ >]*+) (?=[\t\n\f\r\ >]) | (?=>) )
      | (?! [\t\n\f\r\ ]*+ = )
    )
"""
_TAG_REST: Final = rb"(?:" + _ATTRIBUTE + rb")*+ [\t\n\f\r\ /]*+ >"

_ATTRIBUTES: Final = re.compile(_ATTRIBUTE, re.VERBOSE)
_NEXT_META: Final = re.compile(
    rb"""
    (?:
        [^<]++
      | <!-- (?> -?> | .*?--> )
      | < (?!meta[\t\n\f\r\ /]) /?+ [a-z] [^\t\n\f\r\ >]*+ """
    + _TAG_REST
    + rb"""
      | < (?: !(?!--) | \? | /(?![a-z]) ) [^>]*+ >
      | < (?![a-z!?/])
    )*+
    (?P<meta> <meta (?=[\t\n\f\r\ /]) """
    + _TAG_REST
    + rb""")""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_META_CONTENT: Final = re.compile(
    rb"""charset [\t\n\f\r\ ]*+ = [\t\n\f\r\ ]*+ (?: "([^"]*)" | '([^']*)' | ["'] | ([^\t\n\f\r\ ;]*) )""",
    re.VERBOSE | re.IGNORECASE,
)
_XML_DECLARATION: Final = re.compile(
    rb"""\s*+ <\?xml [^>]*? encoding [\0-\x20]*+ = [\0-\x20]*+ (["']) ([^\0-\x20"'>]++) \1 [^>]*+ >""",
    re.VERBOSE,
)


def _from_markup(body: bytes, kind: str) -> str | None:
    if kind == "plain":
        return None
    head = body[:PRESCAN_BYTES]
    if kind == "xml":
        return _xml_encoding(head)
    return _prescan(head) or _xml_encoding(head) or _late_meta(body)


def _late_meta(body: bytes) -> str | None:
    start = body[:LATE_META_BYTES]
    # The plain search is many times cheaper than the prescan, and most often fails.
    return _prescan(start) if len(body) > PRESCAN_BYTES and b"charset" in start.lower() else None


def _prescan(head: bytes) -> str | None:
    """What a <meta> in `head` declares, by the standard's "prescan a byte stream"."""
    position = 0
    while found := _NEXT_META.match(head, position):
        if name := _meta_encoding(found["meta"]):
            return name
        position = found.end()
    return None


def _meta_encoding(tag: bytes) -> str | None:
    attributes: dict[bytes, bytes] = {}
    for key, double, single, bare in _ATTRIBUTES.findall(tag, len(b"<meta")):
        attributes.setdefault(key.lower(), double or single or bare)  # of two the first counts
    if (charset := attributes.get(b"charset")) is not None:
        return _declared_in_ascii(charset)
    if attributes.get(b"http-equiv", b"").lower() != b"content-type":
        return None
    content = _META_CONTENT.search(attributes.get(b"content", b""))
    return _declared_in_ascii(content[1] or content[2] or content[3] or b"") if content else None


def _xml_encoding(head: bytes) -> str | None:
    if head.startswith(b"<\0?\0x\0"):
        return "utf-16le"
    if head.startswith(b"\0<\0?\0x"):
        return "utf-16be"
    declaration = _XML_DECLARATION.match(head)
    return _declared_in_ascii(declaration[2]) if declaration else None


# --- guess ------------------------------------------------------------------------------------------------

# The detector's names (left) we let it answer with, and ours. It knows fifty more, but the rare Latin, DOS
# and mainframe ones mostly win by mistake: on 164 real pages stripped of their declaration, leaving them out
# raised the hits from 150 to 159 and halved the time.
_GUESSES: Final = {
    "big5hkscs": "big5",
    "cp1250": "windows-1250",
    "cp1251": "windows-1251",
    "cp1252": "windows-1252",
    "cp1253": "windows-1253",
    "cp1254": "windows-1254",
    "cp1255": "windows-1255",
    "cp1256": "windows-1256",
    "cp1257": "windows-1257",
    "cp1258": "windows-1258",
    "cp855": "ibm855",
    "cp866": "ibm866",
    "cp874": "windows-874",
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "euc_jis_2004": "euc-jp",
    "euc_kr": "euc-kr",
    "gb18030": "gb18030",
    "hz": "hz-gb-2312",
    "iso2022_jp_2": "iso-2022-jp",
    "iso2022_jp_2004": "iso-2022-jp",
    "iso2022_jp_ext": "iso-2022-jp",
    "iso2022_kr": "iso-2022-kr",
    "iso8859-1": "windows-1252",
    "iso8859-2": "iso-8859-2",
    "iso8859-5": "iso-8859-5",
    "iso8859-6": "iso-8859-6",
    "iso8859-7": "iso-8859-7",
    "iso8859-8": "iso-8859-8",
    "iso8859-9": "windows-1254",
    "iso8859-13": "iso-8859-13",
    "johab": "johab",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "mac-cyrillic": "x-mac-cyrillic",
    "shift_jis_2004": "shift_jis",
    "tis-620": "windows-874",
    "utf-16-be": "utf-16be",
    "utf-16-le": "utf-16le",
    "utf-32-be": "utf-32be",
    "utf-32-le": "utf-32le",
}

#: What can stand in ASCII bytes and yet be another encoding: UTF-16 and -32, the escapes of ISO-2022, HZ.
_SEVEN_BIT_MARKS: Final = (b"\0", b"\x1b", b"~{")
_ASCII: Final = bytes(range(128))

# Bytes beyond ASCII with no more than 800 others in between.
_CLUSTER: Final = re.compile(rb"[\x80-\xff](?:[\0-\x7f]{0,800}+[\x80-\xff])*+")


def _guess(body: bytes) -> str:
    if body.isascii() and not any(mark in body for mark in _SEVEN_BIT_MARKS):
        return FALLBACK
    return "utf-8" if _is_utf8(body) else _detect(body)


def _is_utf8(body: bytes) -> bool:
    try:
        # Not "final": a page cut off within its last character is UTF-8 all the same.
        text, _ = codecs.utf_8_decode(body, "strict", False)
    except UnicodeDecodeError:
        return _is_damaged_utf8(body)
    return not text.isascii()


def _is_damaged_utf8(body: bytes) -> bool:
    """Whether valid sequences outnumber broken ones by far, which no other encoding does by chance."""
    text = body.decode("utf-8", "replace")
    beyond_ascii = len(text) - (len(body) - len(body.translate(None, _ASCII)))
    broken = text.count("\ufffd")
    return broken * 10 <= beyond_ascii - broken


def _detect(body: bytes) -> str:
    import chardet  # 50 ms, which most programs never need to pay

    try:
        found = chardet.detect(_sample(body), compat_names=False, include_encodings=_GUESSES)
    except (LookupError, RuntimeError, ValueError):  # releases up to 7.4.2 raised on some inputs
        return FALLBACK
    return _GUESSES.get(found["encoding"] or "", FALLBACK)


def _sample(body: bytes) -> bytes:
    """The telling parts of `body`: where scripts and styles make up most of a page, they drown its text."""
    if b"\0" in body[:PRESCAN_BYTES]:
        return body[:GUESS_BYTES]
    if body.isascii():
        start = min(found for mark in _SEVEN_BIT_MARKS if (found := body.find(mark)) >= 0)
        return body[start : start + GUESS_BYTES]
    clusters = _CLUSTER.finditer(body, 0, GUESS_REACH)
    return b"\n".join(body[max(0, c.start() - 400) : c.end() + 400] for c in clusters)[:GUESS_BYTES]


# --- text -------------------------------------------------------------------------------------------------

_SINGLE_BYTE: Final = re.compile(r"windows-|iso-8859-|koi8-|ibm8|mac|x-").match

#: Where Python's table has another character than the standard's.
_TABLE_FIXES: Final = {
    "koi8-u": {0xAE: "ў", 0xBE: "Ў"},
    "windows-1255": {0xCA: "\u05ba"},
}

# Six signs which cp932, and the standard, take from Microsoft. We keep those of JIS X 0208, as Python's
# EUC-JP and ISO-2022-JP do, so that a word comes out the same whichever of the three its page is written in.
_JIS_SIGNS: Final = dict(zip("～∥－￠￡￢", "〜‖−¢£¬", strict=True))

#: Text with more broken characters than either is junk, and not worth a Python call for each of them.
_REPAIRABLE: Final = 1000
_REPAIRABLE_SHARE: Final = 0.05


def _text(body: bytes, name: str) -> str:
    codec = python_codec(name)
    if name == "utf-8" or name in _WIDE:
        return body.decode(codec, "replace")
    if _SINGLE_BYTE(name):
        return _single_byte_text(body, name)
    text = _multi_byte_text(body, codec)
    if name == "shift_jis":
        for microsoft, jis in _JIS_SIGNS.items():
            text = text.replace(microsoft, jis)
    return text


def _single_byte_text(body: bytes, name: str) -> str:
    if body.isascii():
        return body.decode("ascii")
    return codecs.charmap_decode(body, "replace", _table(name))[0]


@lru_cache(maxsize=64)
def _table(name: str) -> str:
    """The 256 characters of a single-byte encoding; U+FFFE is charmap_decode's sign for "none"."""
    if name == "x-user-defined":
        return _ASCII.decode() + "".join(map(chr, range(0xF780, 0xF800)))
    fixes = _TABLE_FIXES.get(name, {})
    characters = bytes(range(256)).decode(python_codec(name), "surrogateescape")
    return "".join(
        fixes.get(byte) or (_unassigned(byte) if "\udc80" <= character <= "\udcff" else character)
        for byte, character in enumerate(characters)
    )


def _unassigned(byte: int) -> str:
    """The standard reads unassigned bytes below A0 as control characters, others not at all."""
    return chr(byte) if byte < 0xA0 else "\ufffe"


def _multi_byte_text(body: bytes, codec: str) -> str:
    try:
        return body.decode(codec)
    except UnicodeDecodeError:
        text = body.decode(codec, "replace")
    if text.count("\ufffd") > max(_REPAIRABLE, _REPAIRABLE_SHARE * len(text)):
        return text
    return body.decode(codec, _PAIR_ERRORS)


def _replace_pair(error: UnicodeError) -> tuple[str, int]:
    """Replace an unknown pair of bytes as one character.

    Python's "replace" skips only the first byte; the second then pairs up with the next character's first,
    and the rest of the line turns into other characters.
    """
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    if len(pair) < 2 or not (0x81 <= pair[0] <= 0xFE and pair[1] >= 0x80):
        return "\ufffd", error.end
    character = _vendor_character(pair) if error.encoding == "euc_jp" else "\ufffd"
    return character, max(error.end, error.start + 2)


def _vendor_character(pair: bytes) -> str:
    """Circled digits, Roman numerals, unit signs ...: in every Japanese page, but not in Python's EUC-JP."""
    row, cell = pair[0] - 0xA1, pair[1] - 0xA1
    if row < 0 or cell < 0:
        return "\ufffd"
    lead = row // 2 + (0x81 if row < 62 else 0xC1)
    trail = cell + (0x9F if row % 2 else 0x40 if cell < 63 else 0x41)
    return bytes((lead, trail)).decode("cp932", "replace")[:1]


_PAIR_ERRORS: Final = "gossamer.replace-pair"
codecs.register_error(_PAIR_ERRORS, _replace_pair)
