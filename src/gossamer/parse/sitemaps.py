"""Sitemaps and feeds: the pages, and the other sitemaps, that a body names.

Read are `urlset` and `sitemapindex` in XML, RSS and Atom, and plain lists of URLs, each packed by gzip or not. Half of
the sitemaps of this world are not quite XML: namespaces are wrong, ampersands stand alone, the file breaks off. And any
of them may be made to hurt. So there is no XML parser here, but a scanner that knows tags, character data, comments
and CDATA sections, and cuts the text at each `<`: its time grows with the length of the text and with nothing else, it
declares no entity and opens no file, and what comes before a mistake is read as well as what comes after.
"""

from __future__ import annotations

import codecs
import email.utils
import html.entities
import itertools
import re
import zlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

import msgspec

from gossamer import urls
from gossamer.parse import encoding

__all__ = ["Entries", "Entry", "Sitemap", "entries", "iter_entries"]

#: Entries read of one sitemap. The protocol allows 50,000; generators that never read it write more.
MOST_ENTRIES: Final = 1_000_000
#: Bytes read of one sitemap, unpacked: as many as the protocol allows.
MOST_BYTES: Final = 50 << 20
#: Times its size that a packed sitemap of more than a megabyte may unpack to: real ones come to 10 or 30.
MOST_RATIO: Final = 200
_RATIO_FROM: Final = 1 << 20
#: A file that was packed twice is somebody's mistake; one packed five times is not.
_MOST_LAYERS: Final = 3
#: Tags read of one sitemap: 50 MB of entries have two million.
MOST_TAGS: Final = 5_000_000

_CHUNK: Final = 256 << 10
#: What decides how a sitemap is read: its encoding, and whether it is markup at all.
_HEAD: Final = 64 << 10
#: A tag or a text longer than this is no part of a sitemap, and is left out.
_LONGEST_PIECE: Final = 64 << 10
#: Translations of one page.
_MOST_ALTERNATES: Final = 1000


class Entry(msgspec.Struct, frozen=True):
    """One page, or one other sitemap, that a sitemap names."""

    #: Absolute.
    url: str
    #: When it was last changed, as the site says; in UTC if it names no zone.
    lastmod: datetime | None = None
    #: From 0 to 1, as the site says; None if it says nothing.
    priority: float | None = None
    #: The same page in other languages: language -> URL.
    alternates: dict[str, str] = {}
    #: Whether it is another sitemap, and no page.
    is_sitemap: bool = False


class Sitemap(msgspec.Struct, frozen=True):
    """What a sitemap says."""

    #: "urlset", "index", "rss", "atom" or "text"; "none" if it is no sitemap.
    kind: str
    urls: list[Entry]
    #: Other sitemaps, as an index names them.
    sitemaps: list[str]
    #: A sentence if not all of it was read.
    cut: str | None = None


def entries(body: bytes, url: str) -> Sitemap:
    """What the sitemap that was found at `url` says. Never raises: what cannot be read is left out.

    >>> entries(b"<urlset><url><loc>/a?b&c</loc></url></urlset>", "https://a.org/sitemap.xml").urls[0].url
    'https://a.org/a?b&c'
    """
    reading = Entries(body, url)
    pages: list[Entry] = []
    others: dict[str, None] = {}
    for entry in reading:
        if entry.is_sitemap:
            others[entry.url] = None
        else:
            pages.append(entry)
    return Sitemap(reading.kind, pages, list(others), reading.cut)


def iter_entries(body: bytes, url: str) -> Entries:
    """The same, one entry at a time and in little memory: for big ones."""
    return Entries(body, url)


class Entries(Iterable[Entry]):
    """A sitemap being read: iterate over it, once. `kind` and `cut` are known for good at the end."""

    def __init__(self, body: bytes, url: str) -> None:
        #: As in Sitemap.
        self.kind = "none"
        self.cut: str | None = None
        self._url = url
        self._body = body

    def __iter__(self) -> Iterator[Entry]:
        for count, entry in enumerate(self._entries()):
            if count >= MOST_ENTRIES:
                self.cut = f"it has more than {MOST_ENTRIES:,} entries; the others were left out"
                return
            yield entry

    def _entries(self) -> Iterator[Entry]:
        chunks = self._unpacked(_sliced(self._body), _MOST_LAYERS)
        head = b"".join(_taken(chunks, _HEAD))
        start = _markup_start(head)
        name = _encoding(head[max(start, 0) :])
        texts = _decoded(itertools.chain((head[max(start, 0) :],), chunks), name)
        if start < 0:
            yield from self._lines(texts)
        else:
            yield from _Markup(self, self._url).read(self._tokens(texts))

    # -- packing --------------------------------------------------------------------------------------------------

    def _unpacked(self, chunks: Iterator[bytes], layers: int) -> Iterator[bytes]:
        """The bytes below all packing, no more than may be read of them."""
        head = b"".join(_taken(chunks, 2))
        chunks = itertools.chain((head,), chunks)
        if head.startswith(b"\x1f\x8b") and layers:
            yield from self._unpacked(self._gunzipped(chunks), layers - 1)
            return
        left = MOST_BYTES
        for chunk in chunks:
            yield chunk[:left]
            left -= len(chunk)
            if left < 0:
                self.cut = f"it is larger than {MOST_BYTES >> 20} MB; the rest was left out"
                return

    def _gunzipped(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """One layer of gzip taken off; several files in a row are one."""
        first, unpacked = True, 0
        file, begun = zlib.decompressobj(wbits=31), False
        try:
            for chunk in chunks:
                left = chunk
                while left:
                    if not begun and not first and not left.startswith(b"\x1f"):
                        return  # what stands after the end is padding
                    out = file.decompress(left, _CHUNK)
                    unpacked += len(out)
                    yield out
                    if unpacked > _RATIO_FROM and unpacked > len(self._body) * MOST_RATIO:
                        self.cut = f"it unpacks to more than {MOST_RATIO} times its size; the rest was left out"
                        return
                    first = False
                    left, begun = file.unconsumed_tail, True
                    if file.eof:
                        left, begun = file.unused_data, False
                        file = zlib.decompressobj(wbits=31)
            yield file.flush()
        except zlib.error:
            begun = True
        if begun:
            self.cut = "its gzip data is damaged or breaks off; what comes before that was read"

    # -- text -----------------------------------------------------------------------------------------------------

    def _lines(self, texts: Iterator[str]) -> Iterator[Entry]:
        """A list of URLs, one a line."""
        rest = ""
        for text in itertools.chain(texts, ("\n",)):
            *lines, rest = (rest + text).replace("\r", "\n").split("\n")
            rest = rest[:_LONGEST_PIECE]
            for line in (each.strip(" \t\ufeff") for each in lines):
                if line[:8].lower().startswith(("http://", "https://")) and (url := self.resolve(line)):
                    self.kind = "text"
                    yield Entry(url)

    def _tokens(self, texts: Iterator[str]) -> Iterator[tuple[str, str]]:
        """Tags and the character data after each: (what stands between < and >, text).

        CDATA sections come as tags of the name "![CDATA[" with their content as text, as it stands.
        """
        rest, count, apart = "", 0, _Apart()
        for text in itertools.chain(texts, ("<",)):
            *pieces, rest = (rest + text).split("<")
            count += len(pieces)
            if count > MOST_TAGS:
                self.cut = f"it has more than {MOST_TAGS:,} tags; the rest was left out"
                return
            for piece in pieces:
                if apart.until or piece.startswith(("!--", "![CDATA[")):
                    yield from apart.read(piece)
                    continue
                tag, closed, after = piece.partition(">")
                if closed and tag:
                    yield tag, after
            if len(rest) > _LONGEST_PIECE:  # its beginning may be a tag's, and its ends those of a comment
                ends = [end for end in ("-->", "]]>") if end in rest]
                rest = "".join((rest[:1024], *ends, rest[-2:]))

    def resolve(self, reference: str, base: str | None = None) -> str | None:
        """An absolute URL that can be fetched, else None."""
        if len(reference) > urls.LONGEST:
            return None
        url = urls.resolve(reference, base or self._url)
        return url if url and len(url) <= urls.LONGEST else None


class _Apart:
    """A comment or a CDATA section being read, in which a < is a letter like any other."""

    def __init__(self) -> None:
        #: How it ends; "" while there is none.
        self.until = ""
        self._parts: list[str] = []
        self._size = 0

    def read(self, piece: str) -> Iterator[tuple[str, str]]:
        """Go on with the text from one < to the next: tokens, when the end is in it."""
        if self.until:
            text = f"<{piece}"
        elif piece.startswith("!--"):
            self.until, text = "-->", piece[3:]
        else:
            self.until, text = "]]>", piece[8:]
        inside, ended, after = text.partition(self.until)
        if self.until == "]]>" and self._size < _LONGEST_PIECE:
            self._parts.append(inside)
            self._size += len(inside)
        if ended:
            yield "![CDATA[", "".join(self._parts)
            yield "!", after
            self.until, self._parts, self._size = "", [], 0


# --- bytes to text ----------------------------------------------------------------------------------------------

_KNOWN_START: Final = re.compile(
    rb"<\?xml[\s?]|<(?:[a-z][\w.-]{0,20}:)?(?:urlset|sitemapindex|rss|feed|rdf)[\s>]", re.IGNORECASE
)
_WIDE_BOMS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _sliced(body: bytes) -> Iterator[bytes]:
    return (body[at : at + _CHUNK] for at in range(0, len(body), _CHUNK))


def _taken(chunks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Chunks until there are some bytes."""
    for chunk in chunks:
        yield chunk
        size -= len(chunk)
        if size <= 0:
            return


def _markup_start(head: bytes) -> int:
    """Where markup begins; -1 if it does not, and this is plain text."""
    if head.startswith(_WIDE_BOMS):
        return 0 if head[2:].replace(b"\0", b"").lstrip().startswith(b"<") else -1
    if head.removeprefix(codecs.BOM_UTF8).lstrip(b"\0\t\n\f\r ").startswith(b"<"):
        return 0
    found = _KNOWN_START.search(head)  # junk before it: a warning of the program that wrote it, most often
    return found.start() if found else -1


def _encoding(head: bytes) -> str:
    """The encoding of a sitemap: what it declares, unless its bytes are plainly UTF-8."""
    if name := encoding._from_bom(head):
        return name
    if b"\0" in head[:2]:
        return "utf-16be" if head.startswith(b"\0") else "utf-16le"
    name = encoding._xml_encoding(head[: encoding.PRESCAN_BYTES].lstrip())
    return "utf-8" if name is None or encoding._is_utf8(head) else name


def _decoded(chunks: Iterable[bytes], name: str) -> Iterator[str]:
    errors = _WESTERN if name == "utf-8" else "replace"
    decoder = codecs.getincrementaldecoder(encoding.python_codec(name))(errors)
    for chunk in chunks:
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def _as_western(error: UnicodeError) -> tuple[str, int]:
    """A byte that is not UTF-8 in a text that should be: what it means on most machines that make this mistake."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


_WESTERN: Final = "gossamer.as-western"
codecs.register_error(_WESTERN, _as_western)


# --- tags to entries --------------------------------------------------------------------------------------------

_ROOTS: Final = {"urlset": "urlset", "sitemapindex": "index", "rss": "rss", "rdf": "rss", "feed": "atom"}
#: What an entry is called, by the kind of sitemap. Some files have no root, and are known by their first entry.
_HOLDERS: Final = {
    "urlset": frozenset({"url", "sitemap"}),
    "index": frozenset({"url", "sitemap"}),
    "rss": frozenset({"item"}),
    "atom": frozenset({"entry"}),
    "none": frozenset({"url", "sitemap", "item", "entry"}),
}
_KINDS: Final = {"url": "urlset", "sitemap": "index", "item": "rss", "entry": "atom"}
#: Parts of an entry whose text is read; "date" is Dublin Core's, in feeds.
_FIELDS: Final = frozenset(
    {"loc", "lastmod", "priority", "link", "guid", "pubdate", "date", "updated", "published", "id"}
)
#: Parts of an entry that have a `loc` or `link` of their own.
_APART: Final = frozenset({"image", "video", "news", "source", "author", "group", "content"})
#: Fields of feeds that come from another vocabulary, and tags that are none.
_ANY_PREFIX: Final = frozenset({"date", "updated"})
_OTHERS: Final = frozenset({"!", "?", "html"})
_MATTERS: Final = _FIELDS | _APART | _HOLDERS["none"] | frozenset(_ROOTS)
_LONGEST_FIELD: Final = 4 * urls.LONGEST

_ATTRIBUTE: Final = re.compile(r"""(?<![\w:.-])([\w:.-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""")
_REFERENCE: Final = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")


class _Name(msgspec.Struct, frozen=True):
    """What a tag is called: `sm:loc` has the prefix `sm`."""

    whole: str
    prefix: str
    local: str
    #: Whether it ends an element, or is one by itself.
    closes: bool
    alone: bool
    matters: bool


def _name(tag: str) -> _Name:
    if tag[0] in "!?":
        return _Name("", "", tag[0], closes=False, alone=True, matters=False)
    closes, alone = tag[0] == "/", tag.endswith("/")
    whole = next(iter(tag[:256].strip("/").split()), "").lower()
    prefix, _, local = whole.rpartition(":")
    return _Name(whole, prefix, local, closes, alone, local in _MATTERS)


class _Markup:
    """Tags and texts put together to entries."""

    def __init__(self, owner: Entries, url: str) -> None:
        self._owner = owner
        self._base = url
        #: The element that is open as an entry, its prefix, and what was read of it.
        self._holder = ""
        self._prefix = ""
        self._read: dict[str, str] = {}
        self._alternates: dict[str, str] = {}
        #: The field whose text is being read, and its parts.
        self._field = ""
        self._parts: list[str] = []
        #: The element within which nothing belongs to the entry.
        self._apart = ""

    def read(self, tokens: Iterator[tuple[str, str]]) -> Iterator[Entry]:
        """Entries, in the order in which they end."""
        names: dict[str, _Name] = {}
        for tag, text in tokens:
            name = names.get(tag)
            if name is None:
                name = _name(tag)
                if len(names) < 1000 and len(tag) < 100:
                    names[tag] = name
            if name.local in _OTHERS:
                if name.local == "html" and self._owner.kind == "none":
                    return
                if self._field and text:  # it goes on after a comment
                    self._parts.append(text if tag == "![CDATA[" else _unescaped(text))
            elif name.matters:
                entry = self._closed(name) if name.closes else self._opened(name, tag, text)
                if entry is not None:
                    yield entry
        if entry := self._ended():  # the file broke off within it
            yield entry

    def _opened(self, name: _Name, tag: str, text: str) -> Entry | None:
        local = name.local
        if local in _ROOTS:
            if self._owner.kind == "none":
                self._owner.kind = _ROOTS[local]
                self._rebase(tag)
        elif local in _HOLDERS[self._owner.kind] and (name.prefix == self._prefix or not self._holder):
            return None if name.alone else self._begun(name)
        elif self._apart:
            pass
        elif local in _FIELDS and not name.alone and (name.prefix == self._prefix or local in _ANY_PREFIX):
            if not (local == "guid" and 'ispermalink="false"' in tag.lower()):
                self._field, self._parts = local, [_unescaped(text)]
        elif local in _APART and self._holder and not name.alone:
            self._apart = name.whole
        if local == "link" and not self._apart and "href" in tag:
            self._linked(tag)
        return None

    def _begun(self, name: _Name) -> Entry | None:
        before = self._ended()  # which its author forgot to close
        self._holder, self._prefix = name.local, name.prefix
        if self._owner.kind == "none":
            self._owner.kind = _KINDS[name.local]
        return before

    def _closed(self, name: _Name) -> Entry | None:
        if self._holder and name.local == self._holder and name.prefix == self._prefix:
            return self._ended()
        if self._apart:
            if name.whole == self._apart:
                self._apart = ""
        elif self._field and name.local == self._field:
            text = "".join(self._parts)[:_LONGEST_FIELD].strip()
            field, self._field = self._field, ""
            if field == "loc" and ("loc" in self._read or not self._holder):
                return self._another(text)
            if text:
                self._read.setdefault(field, text)
        return None

    def _another(self, loc: str) -> Entry | None:
        """A second `loc` in one entry, or one that stands alone: still a page that somebody wants found."""
        before = self._made() if self._holder else None
        self._read = {"loc": loc}
        if self._holder:
            return before
        self._holder = "sitemap" if self._owner.kind == "index" else "url"
        return self._ended()

    def _ended(self) -> Entry | None:
        """The entry that is open, if it is complete; none is open after it."""
        made = self._made() if self._holder else None
        self._holder, self._field, self._apart, self._read, self._alternates = "", "", "", {}, {}
        return made

    def _made(self) -> Entry | None:
        read, base = self._read, self._base
        found = read.get("loc") or read.get("href") or read.get("link")
        if not found:  # a feed's own name for the page, where that is an address
            found = next((name for name in (read.get("guid"), read.get("id")) if name and name[:4] == "http"), None)
        url = self._owner.resolve(found, base) if found else None
        if url is None:
            return None
        changed = next((read[name] for name in _DATES if name in read), None)
        alternates = {lang: to for lang, href in self._alternates.items() if (to := self._owner.resolve(href, base))}
        return Entry(
            url, when(changed) if changed else None, _share(read.get("priority")), alternates, self._holder == "sitemap"
        )

    def _linked(self, tag: str) -> None:
        """A link that is named by an attribute: a translation, or the page of a feed's entry."""
        said = _attributes(tag)
        href, language = said.get("href", "").strip(), said.get("hreflang", "").strip()
        if not href or not self._holder or said.get("rel", "alternate").lower() != "alternate":
            return
        if self._holder == "entry":
            self._read.setdefault("href", href)
        elif self._holder == "item":
            self._read.setdefault("id", href)
        elif language and len(language) < 64 and len(self._alternates) < _MOST_ALTERNATES:
            self._alternates.setdefault(language, href)

    def _rebase(self, tag: str) -> None:
        if "xml:base" in tag and (base := self._owner.resolve(_attributes(tag).get("xml:base", ""), self._base)):
            self._base = base


def _attributes(tag: str) -> dict[str, str]:
    found = _ATTRIBUTE.findall(tag[:_LONGEST_FIELD])
    return {name.lower(): _unescaped(double or single or bare) for name, double, single, bare in found}


def _unescaped(text: str) -> str:
    """References replaced; an ampersand that is none stands for itself, and what nobody defined for nothing."""
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(reference: re.Match[str]) -> str:
    name = reference[1]
    if name[0] != "#":
        return html.entities.html5.get(f"{name};", "")
    number = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"


_DATES: Final = ("lastmod", "updated", "pubdate", "date", "published")
_SHORT_DATE: Final = re.compile(r"(\d{4})(?:-(\d{1,2}))?")


def when(text: str) -> datetime | None:
    """A date as sitemaps (ISO 8601, or a part of it) and feeds (RFC 822) write it; None if it is none."""
    text = text.strip()[:64]
    found: datetime | None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = _other_date(text)
    return found if found is None or found.tzinfo else found.replace(tzinfo=UTC)


def _other_date(text: str) -> datetime | None:
    try:
        if short := _SHORT_DATE.fullmatch(text):
            return datetime(int(short[1]), int(short[2] or 1), 1, tzinfo=UTC)
        return email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _share(text: str | None) -> float | None:
    try:
        found = float((text or "").replace(",", ".")[:16])
    except ValueError:
        return None
    return found if 0 <= found <= 1 else None
