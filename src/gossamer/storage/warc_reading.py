"""WARC files, read: the answers in a file of any tool, with their codings undone. The file may be broken or hostile."""

from __future__ import annotations

import contextlib
import io
import os
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO

import msgspec

from gossamer import urls
from gossamer.errors import Broken, ConfigError, FetchError
from gossamer.fetch.codings import Unpacker
from gossamer.storage.archive_reading import request_of
from gossamer.storage.warc import OF_THE_WAY, REQUEST, missing
from gossamer.values import METHODS, Headers, Request, Response

#: Bytes of a body that are read, packed and unpacked, and how many times its size it may unpack to.
LARGEST = 64 << 20
RATIO = 1000
#: Bytes of a request's own body that are read.
LARGEST_REQUEST = 1 << 20

_CUT = "its last record is cut off"
_GZIP, _ZSTD, _ZSTD_DICTIONARY = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18"


class WarcPage(msgspec.Struct):
    """An answer in a WARC file."""

    request: Request
    response: Response
    #: A sentence if the body could not be read.
    missing: str = ""
    #: The digest of the payload as the file names it, where it does.
    digest: str = ""
    #: Whether the body is that of an earlier answer with the same digest.
    revisit: bool = False


class WarcReader:
    """Goes through the answers in a WARC (or ARC) file of any tool: compressed by gzip, zstd or not at all."""

    def __init__(self, path: str) -> None:
        """Raises ConfigError if there is no such file, or the library is not there."""
        if lacking := missing():
            raise ConfigError(lacking)
        self.path = path
        try:
            self._file = open(path, "rb")  # noqa: SIM115 - closed by `pages`
        except OSError as why:
            raise ConfigError(f"{path} cannot be read: {why.strerror}") from None
        self._size = max(1, os.fstat(self._file.fileno()).st_size)
        #: Records met, and answers that are no web pages (other protocols, other methods).
        self.records = 0
        self.strange = 0
        #: A sentence if the file breaks off.
        self.broken = ""

    @property
    def share(self) -> float:
        """How much of the file has been read, from 0 to 1."""
        return 1.0 if self._file.closed else self._file.tell() / self._size

    def pages(self) -> Iterator[WarcPage]:
        """Every answer. Of a file that breaks off, those that are whole. Raises ConfigError if it is no WARC file."""
        from warcio.archiveiterator import ArchiveIterator
        from warcio.exceptions import ArchiveLoadFailed

        class Records(ArchiveIterator):  # type: ignore[misc]
            INC_RECORD = ""  # what it would print about broken records

        paired = _Pairs()
        with self._file:
            stream = _plain(self._file)
            why = ""
            try:
                for record in Records(stream, arc2warc=True):
                    if not record.rec_type:
                        raise ValueError("it has lines that are no record")
                    if (page := paired.add(record, self._page)) is not None:
                        yield page
                    self.records += 1
                why = paired.cut() or getattr(stream, "broken", "")
            except (ArchiveLoadFailed, EOFError, OSError, ValueError, _zstd_error()) as error:
                why = getattr(stream, "broken", "") or " ".join(str(error).split())[:200] or type(error).__name__
        if not self.records:
            raise ConfigError(f"{self.path} is no WARC file: {why or 'there is no record in it'}")
        if paired.page is not None:
            yield paired.page
        if why:
            self.broken = f"{self.path} breaks off after {self.records:,} records: {why}"

    def _page(self, record: Any, url: str) -> WarcPage | None:
        """The answer in a record; None for what is no web page."""
        target = urls.resolve(url, url)
        head = record.http_headers
        status = _status(record)
        if target is None or status is None or (head is None and record.rec_type == "response"):
            self.strange += 1
            return None
        pairs = [(str(name), str(value)) for name, value in head.headers] if head is not None else []
        if record.rec_type == "resource":
            pairs = [("content-type", record.content_type or "application/octet-stream")]
        named = Headers(pairs)
        body, lacking = (b"", "") if record.rec_type == "revisit" else _body(record, named)
        kept = Headers([pair for pair in named.pairs() if pair[0] not in OF_THE_WAY])
        response = Response(target, status, kept, body, _stamp(record), 0.0)
        digest = record.rec_headers.get_header("WARC-Payload-Digest") or ""
        return WarcPage(Request(target), response, lacking, digest, record.rec_type == "revisit")


class _Pairs:
    """Puts answers and the records that belong to them together: they stand before or behind them."""

    def __init__(self) -> None:
        #: The last answer, whose other records may still come.
        self.page: WarcPage | None = None
        self._number = ""
        #: A request whose answer may still come: its record, its URL, and what was asked.
        self._ahead: tuple[str, str, Request | None] | None = None
        self._last: Any = None

    def add(self, record: Any, read: Callable[[Any, str], WarcPage | None]) -> WarcPage | None:
        """One more record; returns an answer that no more can come to. Raises EOFError if the record is cut off."""
        self._last = record
        headers = record.rec_headers
        number, url = headers.get_header("WARC-Record-ID") or "", headers.get_header("WARC-Target-URI") or ""
        belongs = headers.get_header("WARC-Concurrent-To") or headers.get_header("WARC-Refers-To") or ""
        if record.rec_type in ("response", "resource", "revisit"):
            page, (done, self.page) = read(record, url), (self.page, None)
            ahead, self._ahead = self._ahead, None
            if page is not None and ahead is not None and (ahead[0] == belongs or ahead[1] == url):
                page = _for(page, ahead[2])
            self._number, self.page = number, page
            return done
        mine = self.page is not None and (belongs == self._number or (not belongs and url == self.page.request.url))
        if record.rec_type == "request":
            asked = _request(record, url)
            if mine and self.page is not None:
                self.page = _for(self.page, asked)
            else:
                self._ahead = number, url, asked
        elif record.rec_type == "metadata" and mine and belongs and self.page is not None:
            self.page = _ours(self.page, record)
        return None

    def cut(self) -> str:
        """A sentence if the last record is not whole."""
        last = self._last
        return _CUT if last is not None and (last.length is None or getattr(last.raw_stream, "limit", 0) > 0) else ""


def _status(record: Any) -> int | None:
    if record.http_headers is None:
        return 200
    code = str(record.http_headers.get_statuscode())
    return int(code) if code.isdigit() and 100 <= int(code) < 1000 else None


def _stamp(record: Any) -> float:
    try:
        told = datetime.fromisoformat(record.rec_headers.get_header("WARC-Date") or "")
    except ValueError:
        return 0.0
    return (told if told.tzinfo else told.replace(tzinfo=UTC)).timestamp()


def _body(record: Any, headers: Headers) -> tuple[bytes, str]:
    """A body as it was meant, and a sentence if it cannot be had. Raises EOFError if the file breaks off in it."""
    raw = _read(record.raw_stream, LARGEST)
    if raw is None:
        return b"", f"its body is larger than the archive keeps ({LARGEST >> 20} MB)"
    if "chunked" in headers.get("transfer-encoding", "").lower():
        from warcio.bufferedreaders import ChunkedDataReader

        # A body that says it is chunked, and is not, is given back as it is.
        raw = ChunkedDataReader(io.BytesIO(raw), decomp_type=None).read(LARGEST)
    coding = headers.get("content-encoding", "").strip().lower()
    try:
        return _decoded(raw, coding), ""
    except FetchError as why:
        return b"", str(why)


def _read(stream: Any, most: int) -> bytes | None:
    """What is left of a record; None if it is more than we want. Raises EOFError if it is less than it says."""
    parts, left = [], most
    while piece := stream.read(min(1 << 18, left + 1)):
        parts.append(piece)
        left -= len(piece)
        if left < 0:
            return None
    if getattr(stream, "limit", 0) > 0:
        raise EOFError(_CUT)
    return b"".join(parts)


def _decoded(raw: bytes, coding: str) -> bytes:
    """A body with its codings undone. Many tools leave the header and undo the coding. Raises FetchError."""
    if not raw or not coding or coding == "identity":
        return raw
    if coding == "zstd" and raw.startswith(_ZSTD):
        import zstandard

        try:
            return zstandard.ZstdDecompressor().stream_reader(raw).read(LARGEST)
        except zstandard.ZstdError as why:
            raise Broken(f"the body is not compressed as it says: {why}") from None
    if coding == "br":
        return _unbrotlied(raw)
    if coding in ("gzip", "x-gzip") and not raw.startswith(_GZIP):
        return raw
    try:
        unpacker = Unpacker(coding, cap=LARGEST, ratio=RATIO)
        made = b"".join(unpacker.feed(raw))
        unpacker.end()
    except Broken:
        if _readable(raw):
            return raw
        raise
    return made


def _unbrotlied(raw: bytes) -> bytes:
    try:
        import brotli  # type: ignore[import-not-found]
    except ImportError:
        if _readable(raw):
            return raw
        raise Broken("its body is compressed as br: pip install brotli, and import the file again") from None
    unpacker, made, size = brotli.Decompressor(), [], 0
    try:
        for first in range(0, len(raw), 1 << 14):
            made.append(unpacker.process(raw[first : first + (1 << 14)]))
            size += len(made[-1])
            if size > LARGEST:
                raise Broken(f"the body unpacks to more than {LARGEST >> 20} MB")
    except brotli.error as why:
        if _readable(raw):
            return raw
        raise Broken(f"the body is not compressed as it says: {why}") from None
    return b"".join(made)


def _readable(raw: bytes) -> bool:
    """Whether bytes look like text, and not like something compressed."""
    try:
        beginning = raw[:4096].decode("utf-8", "strict" if len(raw) <= 4096 else "ignore")
    except UnicodeDecodeError:
        return False
    return (
        len(beginning) * 2 > min(len(raw), 4096) and "\0" not in beginning and sum(map(str.isprintable, beginning)) > 0
    )


def _request(record: Any, url: str) -> Request | None:
    """What was asked for; None for what has no page as an answer."""
    head = record.http_headers
    verb = str(head.protocol).upper() if head is not None else "GET"
    if verb not in METHODS or verb in ("HEAD", "OPTIONS"):
        return None
    if verb == "GET":
        return Request(url)
    return Request(url, method=verb, data=_read(record.raw_stream, LARGEST_REQUEST) or None)


def _for(page: WarcPage, asked: Request | None) -> WarcPage | None:
    """A page with what was asked for it."""
    if asked is None:
        return None
    if asked.method is not None:
        page.request = page.request.evolve(method=asked.method, data=asked.data)
    return page


def _ours(page: WarcPage, record: Any) -> WarcPage:
    """A page that we wrote ourselves: its request is known in full."""
    fields = (_read(record.raw_stream, LARGEST_REQUEST) or b"").decode("utf-8", "replace").split("\r\n")
    for line in fields:
        name, _, value = line.partition(": ")
        if name == REQUEST:
            with contextlib.suppress(msgspec.MsgspecError, ValueError, TypeError):
                request = request_of(value.encode(), 0)
                request.check()
                page.request = request
    return page


# -- compressed files ------------------------------------------------------------------------------------------


def _plain(file: BinaryIO) -> Any:
    """A file without its compression, whether each record is compressed by itself or all are together."""
    beginning = file.read(4)
    file.seek(0)
    if beginning.startswith(_GZIP):
        return _Gunzipped(file)
    if beginning in (_ZSTD, _ZSTD_DICTIONARY):
        return _Tellable(_zstd_stream(file, dictionary=beginning == _ZSTD_DICTIONARY))
    return file


class _Gunzipped:
    """The members of a gzip file, one after the other. Of a broken one, what comes before the break."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._member = zlib.decompressobj(zlib.MAX_WBITS + 16)
        self._packed = b""
        self._at = 0
        #: Why nothing more comes, if more should.
        self.broken = ""

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes; none at the end."""
        most = size if size > 0 else 1 << 18
        while not self.broken:
            if not self._packed and not (packed := self._file.read(1 << 16)):
                self.broken = "" if self._member.eof else _CUT
                break
            self._packed = self._packed or packed
            if self._member.eof:
                self._member = zlib.decompressobj(zlib.MAX_WBITS + 16)
            try:
                got = self._member.decompress(self._packed, most)
            except zlib.error as why:
                self.broken = f"its compression is damaged ({why})"
                break
            self._packed = self._member.unconsumed_tail or self._member.unused_data
            if got:
                self._at += len(got)
                return got
        return b""

    def tell(self) -> int:
        """How far it has come, unpacked."""
        return self._at


def _zstd_stream(file: BinaryIO, *, dictionary: bool) -> Any:
    import zstandard

    made = None
    if dictionary:  # as .warc.zst has it: a frame of its own before all others
        length = int.from_bytes(file.read(8)[4:], "little")
        raw = file.read(min(length, LARGEST_REQUEST))
        raw = zstandard.ZstdDecompressor().decompress(raw, LARGEST_REQUEST) if raw.startswith(_ZSTD) else raw
        made = zstandard.ZstdCompressionDict(raw)
    return zstandard.ZstdDecompressor(dict_data=made).stream_reader(file, read_across_frames=True)


def _zstd_error() -> type[Exception]:
    import zstandard

    return zstandard.ZstdError


class _Tellable:
    """A stream that cannot be wound, and knows how far it has come."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._at = 0

    def read(self, size: int = -1) -> bytes:
        got: bytes = self._stream.read(size)
        self._at += len(got)
        return got

    def tell(self) -> int:
        return self._at
