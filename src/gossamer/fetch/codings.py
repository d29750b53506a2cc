"""Content codings undone piece by piece, with a limit on how much a body may grow.

Brotli and Zstandard are undone by wreq; gzip and deflate here, where it is known how small the body came.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from gossamer.errors import Bomb, Broken

#: Nobody compresses a body more often who means well.
MOST_CODINGS = 4
#: A body may unpack to this size whatever its ratio: an empty table compresses well.
FREE = 1 << 20
#: Bytes unpacked at a time.
PIECE = 1 << 18

_ZIPPED = frozenset({"gzip", "x-gzip", "deflate"})
#: What wreq undoes, if a site writes it as it should, and what nobody does any longer.
_OTHERS = frozenset({"br", "zstd", "compress", "x-compress", "dcb", "dcz"})
_ANY_HEADER = 32 + zlib.MAX_WBITS
#: How every member of a gzip file begins.
_MEMBER = b"\x1f\x8b"


def ours(header: str) -> bool:
    """Whether we can undo all codings that a Content-Encoding header names."""
    return all(coding.strip() in _ZIPPED for coding in header.lower().split(","))


class Unpacker:
    """Undoes all codings of one body."""

    def __init__(self, codings: str, *, cap: int, ratio: int) -> None:
        """The codings are those of a Content-Encoding header. Raises Broken for one that cannot be undone.

        What is no coding at all ("utf-8", "none") counts as none, as in browsers.

        The `cap` is the most bytes that may come out of any of them, the `ratio` how many times the size that
        the body came in.
        """
        names = [coding.strip() for coding in codings.lower().split(",")] if codings else []
        if len(names) > MOST_CODINGS:
            raise Broken(f"the body is compressed {len(names)} times over")
        for name in names:
            if name in _OTHERS:
                raise Broken(f"the body is compressed as {codings[:50]!r}, which cannot be undone")
        self._layers = [_Layer() for name in names if name in _ZIPPED]
        self._cap = cap
        self._ratio = ratio
        self._came = 0

    @property
    def idle(self) -> bool:
        """Whether there is nothing to undo."""
        return not self._layers

    def feed(self, piece: bytes | memoryview) -> Iterator[bytes | memoryview]:
        """What a piece unpacks to. Raises Bomb or Broken."""
        self._came += len(piece)
        return self._through(len(self._layers), piece)

    def _through(self, layers: int, piece: bytes | memoryview) -> Iterator[bytes | memoryview]:
        """A piece with the last so many layers undone; the outermost is the last."""
        if layers == 0:
            yield piece
            return
        layer = self._layers[layers - 1]
        for part in layer.feed(piece):
            if layer.gave > self._cap:
                raise Bomb(f"the body unpacks to more bytes than max_body allows ({self._cap:,})")
            if layer.gave > FREE and layer.gave > self._ratio * self._came:
                raise Bomb(f"the body unpacks to more than {self._ratio} times its size, which max_ratio forbids")
            yield from self._through(layers - 1, part)

    def end(self) -> None:
        """No piece is left. Raises Broken if one should be."""
        if any(layer.waits for layer in self._layers):
            raise Broken("the compressed body broke off")


class _Layer:
    """One coding: gzip, or deflate with and without its zlib header."""

    def __init__(self) -> None:
        self.gave = 0
        self._held = b""
        self._reader: zlib._Decompress | None = None

    @property
    def waits(self) -> bool:
        """Whether it has begun and not ended."""
        return bool(self._held) if self._reader is None else not self._reader.eof

    def feed(self, piece: bytes | memoryview) -> Iterator[bytes]:
        if self._reader is None:
            piece = self._held + piece
            if len(piece) < 2:
                self._held = piece
                return
            headed = piece[:2] == b"\x1f\x8b" or (piece[0] & 15 == 8 and int.from_bytes(piece[:2], "big") % 31 == 0)
            self._held = b""
            self._reader = zlib.decompressobj(_ANY_HEADER if headed else -zlib.MAX_WBITS)
        while piece:
            reader = self._reader
            if reader.eof:
                piece, self._held = self._held + piece, b""
                if piece == _MEMBER[:1]:
                    self._held = piece
                    return
                if piece[:2] != _MEMBER:
                    return  # whatever follows the end is no part of the body
                reader = self._reader = zlib.decompressobj(_ANY_HEADER)
            try:
                part = reader.decompress(piece, PIECE)
            except zlib.error as error:
                raise Broken(f"the body is not compressed as it says: {error}") from error
            self.gave += len(part)
            piece = reader.unconsumed_tail or reader.unused_data
            if part:
                yield part
