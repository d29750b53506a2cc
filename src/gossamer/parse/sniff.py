"""What a body is: what its Content-Type says, unless that is missing, says nothing, or the bytes plainly deny it.

In the spirit of the MIME Sniffing standard (https://mimesniff.spec.whatwg.org). Two things differ from a browser,
because nothing is shown here and no script could run: JSON and XML that are sent as `text/html`, as PHP does unless
told otherwise, are known for what they are; and a page that stands where an image or a file should is a page.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import msgspec

__all__ = ["kind", "mime"]

#: How much of a body is looked at.
HEAD: Final = 1445
#: How far the root element of XML is looked for: generators and licences write long comments before it.
ROOT_REACH: Final = 8192
#: Longer headers are cut: a server chooses what the cache holds.
_LONGEST_HEADER: Final = 512

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_SPACE: Final = "\t\n\r "
_PARAMETER: Final = re.compile(r';[\t\n\r ]*+([^;=]*+)(?:=("(?:[^"\\]|\\.)*+(?:"|\\?$)[^;]*+|[^;]*+))?', re.DOTALL)
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*+(?:\\$)?)', re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


def mime(content_type: str) -> tuple[str, dict[str, str]]:
    """A media type and its parameters, as the standard reads them; ("", {}) where it is none.

    >>> mime('Text/HTML; Charset="utf-8"; charset=latin1')
    ('text/html', {'charset': 'utf-8'})
    """
    essence, parameters = _mime(content_type[:_LONGEST_HEADER])
    return essence, dict(parameters)


@lru_cache(maxsize=512)
def _mime(content_type: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    essence, semicolon, _ = content_type.partition(";")
    essence = essence.strip(_SPACE).lower()
    main, _, sub = essence.partition("/")
    if not (_TOKEN.fullmatch(main) and _TOKEN.fullmatch(sub)):
        return "", ()
    found: dict[str, str] = {}
    for name, given in _PARAMETER.findall(content_type, content_type.find(";")) if semicolon else ():
        quoted = given.startswith('"')
        value = _unquoted(given) if quoted else given.rstrip(_SPACE)
        usable = _TOKEN.fullmatch(name) and _VALUE.fullmatch(value) and (value or quoted)
        if usable and name.lower() not in found:  # of two, the first counts
            found[name.lower()] = value
    return essence, tuple(found.items())


def _unquoted(given: str) -> str:
    quoted = _QUOTED.match(given)
    return _ESCAPED.sub(r"\1", quoted[1]) if quoted else ""


def kind(content_type: str, body: bytes) -> str:
    """One word for what a body is: "html", "xml", "feed", "sitemap", "json", "text", "pdf", "image", "audio",
    "video", "font", "zip", "gzip", "binary" or "empty".

    Office documents, e-books and the like are "zip", for that is what they are.

    >>> kind("text/html", b"%PDF-1.7 ...")
    'pdf'
    """
    if not body:
        return "empty"
    declared = _declared(content_type[:_LONGEST_HEADER])
    if not declared:
        return _unknown(body)
    signed = _signed(body)
    if declared in _TEXTUAL:
        return _textual(declared, signed, body)
    if signed:
        # Of containers that hold sound or pictures, the server knows which.
        return declared if signed in _CONTAINERS and declared in _CONTAINERS else signed
    if declared in _PACKED:
        return _unknown(body)  # unpacked on its way to us, most often
    return "html" if _is_page(body) else declared


# --- what the header says ---------------------------------------------------------------------------------------

_TEXTUAL: Final = frozenset({"html", "xml", "feed", "json", "text"})
_PACKED: Final = frozenset({"gzip", "zip"})
_CONTAINERS: Final = frozenset({"audio", "video"})
#: Types that say "a file", and no more.
_GENERIC: Final = frozenset(
    {
        "application/octet-stream",
        "binary/octet-stream",
        "application/binary",
        "application/unknown",
        "application/x-unknown",
        "unknown/unknown",
        "*/*",
        "application/force-download",
        "application/x-download",
        "application/download",
    }
)
_NAMED: Final = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/rss+xml": "feed",
    "application/atom+xml": "feed",
    "application/rdf+xml": "xml",
    "text/xml": "xml",
    "application/xml": "xml",
    "application/pdf": "pdf",
    "application/x-pdf": "pdf",
    "application/gzip": "gzip",
    "application/x-gzip": "gzip",
    "application/zip": "zip",
    "application/x-zip-compressed": "zip",
    "application/ogg": "audio",
    "application/vnd.ms-fontobject": "font",
    "application/x-javascript": "text",
    "application/javascript": "text",
    "application/ecmascript": "text",
    "application/yaml": "text",
    "application/x-yaml": "text",
    "application/toml": "text",
    "application/sql": "text",
    "application/x-ndjson": "text",
    "application/x-www-form-urlencoded": "text",
}
_FAMILIES: Final = {"text": "text", "image": "image", "audio": "audio", "video": "video", "font": "font"}


@lru_cache(maxsize=512)
def _declared(content_type: str) -> str:
    """What a header says a body is; "" if it says nothing."""
    essence = _mime(content_type)[0]
    if not essence or essence in _GENERIC:
        return ""
    if essence in _NAMED:
        return _NAMED[essence]
    main, _, sub = essence.partition("/")
    if sub == "json" or sub.endswith("+json"):
        return "json"
    if main in _FAMILIES:
        return _FAMILIES[main]  # an SVG is an image before it is XML
    if sub.endswith("+xml"):
        return "xml"
    if sub.endswith("+zip"):
        return "zip"
    return "font" if sub.startswith(("font-", "x-font")) else "binary"


# --- what the bytes say -----------------------------------------------------------------------------------------

_STARTS: Final = {
    b"%PDF-": "pdf",
    b"\x89PNG\r\n\x1a\n": "image",
    b"GIF87a": "image",
    b"GIF89a": "image",
    b"\xff\xd8\xff": "image",
    b"II*\0": "image",
    b"MM\0*": "image",
    b"\0\0\x01\0": "image",
    b"\0\0\x02\0": "image",
    b"\0\0\0\x0cJXL ": "image",
    b"\xff\x0a": "image",
    b"ID3": "audio",
    b"OggS": "audio",
    b"fLaC": "audio",
    b"MThd\0\0\0\x06": "audio",
    b"#!AMR": "audio",
    b".snd": "audio",
    b"\x1aE\xdf\xa3": "video",
    b"FLV\x01": "video",
    b"\0\0\x01\xba": "video",
    b"\0\0\x01\xb3": "video",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"PK\x07\x08": "zip",
    b"\x1f\x8b\x08": "gzip",
    b"wOFF": "font",
    b"wOF2": "font",
    b"OTTO\0": "font",
    b"ttcf\0": "font",
    b"\0\x01\0\0\0": "font",
    b"Rar!\x1a\x07": "binary",
    b"7z\xbc\xaf\x27\x1c": "binary",
    b"\xfd7zXZ\0": "binary",
    b"(\xb5/\xfd": "binary",
    b"\x7fELF": "binary",
    b"SQLite format 3\0": "binary",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "binary",
}
_SIGNATURES: Final = tuple(_STARTS)
_RIFF: Final = {b"WEBPVP": "image", b"WAVE": "audio", b"AVI ": "video"}
_STILLS: Final = (b"avif", b"avis", b"heic", b"heix", b"mif1", b"msf1")


def _signed(body: bytes) -> str | None:
    """What the first bytes prove a body to be, else None."""
    if body.startswith(_SIGNATURES):
        return next(found for start, found in _STARTS.items() if body.startswith(start))
    if body.startswith(b"RIFF"):
        return next((found for mark, found in _RIFF.items() if body.startswith(mark, 8)), None)
    if body.startswith(b"ftyp", 4):
        return "image" if body[8:12] in _STILLS else "audio" if body[8:11] == b"M4A" else "video"
    if body.startswith(b"BM") and len(body) > 14 and body[6:10] == b"\0\0\0\0":
        return "image"
    if body.startswith((b"\xff\xfb", b"\xff\xf3", b"\xff\xf2", b"\xff\xf1", b"\xff\xf9")):
        return "audio"
    return None


_WIDE_BOMS: Final = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
_BOMS: Final = (b"\xef\xbb\xbf", *_WIDE_BOMS)
#: Bytes that no text has.
_BINARY: Final = bytes([*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_PAGE: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*+(?:<!--.{0,1000}?-->[\t\n\f\r ]*+){0,5}+"
    rb"<(?:!doctype[\t\n\f\r ]+html|html|head)[\t\n\f\r >/]",
    re.IGNORECASE | re.DOTALL,
)
_FIRST_TAG: Final = re.compile(rb"<([a-z][\w:.-]*+)[\t\n\f\r >/]", re.IGNORECASE)
_HTML_TAGS: Final = frozenset(
    b"html head body script style title meta link base iframe div span p a b i u br hr h1 h2 h3 h4 h5 h6 table tr td "
    b"th tbody thead ul ol li dl form input button select font center img section article header footer nav main aside "
    b"pre noscript blockquote strong em frameset label figure picture video audio canvas template small code".split()
)


def _is_page(body: bytes) -> bool:
    """Whether a body begins as only a page does."""
    return _PAGE.match(body[:ROOT_REACH]) is not None


def _is_binary(head: bytes) -> bool:
    if head.startswith(_BOMS):
        return False
    return len(head.translate(None, _BINARY)) != len(head) and not _wide_text(head)


def _wide_text(head: bytes) -> bool:
    """UTF-16 without a mark: markup or JSON in which every second byte is zero."""
    return head[:4] in (b"<\0?\0", b"\0<\0?", b"<\0!\0", b"\0<\0!", b'{\0"\0', b'\0{\0"')


def _textual(declared: str, signed: str | None, body: bytes) -> str:
    """A body that is said to be text of some sort."""
    head = body[:HEAD]
    if signed and (_is_binary(head) or signed == "pdf"):
        return signed
    if declared == "text":
        return "binary" if _is_binary(head) else "text"
    if declared == "html":
        return _said_html(head, body)
    if declared == "feed":
        return "html" if _is_page(body) else "feed"
    if declared == "json":
        return "html" if _is_page(body) else "json"
    return "html" if _is_page(body) else _xml_kind(body)


def _said_html(head: bytes, body: bytes) -> str:
    start = head.lstrip(b"\xef\xbb\xbf\t\n\f\r ")
    if start.startswith((b"<?xml", b"<rss", b"<feed", b"<urlset", b"<sitemapindex")):
        found = _xml_kind(body)
        return "html" if found == "xml" else found  # XHTML begins so too
    return "json" if start.startswith((b"{", b"[")) and _is_json(body) else "html"


def _unknown(body: bytes) -> str:
    """A body of which nobody said what it is."""
    if signed := _signed(body):
        return signed
    head = body[:HEAD]
    if _is_binary(head):
        return "binary"
    if body.startswith(_WIDE_BOMS) or _wide_text(head):
        body = body.lstrip(b"\xff\xfe").replace(b"\0", b"")
    start = body[:HEAD].lstrip(b"\xef\xbb\xbf\t\n\f\r ")
    if start.startswith(b"<"):
        return _markup(start, body)
    if start.startswith((b"{", b"[", b'"')) and _is_json(body):
        return "json"
    return "pdf" if b"%PDF-" in body[:1024] else "text"


def _markup(start: bytes, body: bytes) -> str:
    if _is_page(body):
        return "html"
    found = _xml_kind(body)
    if found != "xml" or start.startswith(b"<?xml"):
        return found
    first = _FIRST_TAG.search(start)
    return "html" if first is None or first[1].lower() in _HTML_TAGS else "xml"


_ROOT: Final = re.compile(rb"<(?:[a-z][\w.-]*+:)?([a-z][\w.-]*+)(?=[\s>/])", re.IGNORECASE)
_ROOTS: Final = {b"rss": "feed", b"feed": "feed", b"urlset": "sitemap", b"sitemapindex": "sitemap", b"html": "html"}


def _xml_kind(body: bytes) -> str:
    """Which XML it is, by its root element."""
    head = body[:ROOT_REACH]
    if head.startswith(_WIDE_BOMS) or b"<\0" in head[:4]:
        head = head.replace(b"\0", b"")
    for comment in range(8):  # a comment may speak of tags
        root = _ROOT.search(head)
        opened = head.find(b"<!--")
        if comment == 7 or root is None or opened < 0 or root.start() < opened:
            break
        closed = head.find(b"-->", opened + 4)
        head = head[closed + 3 :] if closed >= 0 else b""
    if root is None:
        return "xml"
    if root[1].lower() == b"rdf":
        return "feed" if b"purl.org/rss/1.0" in head else "xml"
    return _ROOTS.get(root[1].lower(), "xml")


def _is_json(body: bytes) -> bool:
    try:
        msgspec.json.decode(body.removeprefix(b"\xef\xbb\xbf"), type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
