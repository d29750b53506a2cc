"""Small bodies that unpack to huge ones, in every coding that clients understand.

Gzip and deflate are made by zlib, a thousand times smaller than what they unpack to. Brotli and Zstandard are
written here bit by bit: of a repeated byte they need a few bytes for each 16 MB and 128 KB.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Literal, TypeAlias

Coding: TypeAlias = Literal["gzip", "deflate", "br", "zstd"]

MEGABYTE = 1 << 20
#: The most that one brotli metablock, and one Zstandard block, unpack to.
_METABLOCK = 1 << 24
_ZSTD_BLOCK = 128 << 10
_SPACE = 0x20


def bomb(coding: Coding, megabytes: int) -> bytes:
    """A body that unpacks to this many megabytes of spaces."""
    return _MAKERS[coding](megabytes * MEGABYTE)


def nested(megabytes: int, times: int) -> bytes:
    """A gzip bomb packed into gzip again and again: undone `times` over, it is this many megabytes of spaces."""
    body = _gzip(megabytes * MEGABYTE)
    for _ in range(times - 1):
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        body = packer.compress(body) + packer.flush()
    return body


def _zlib(size: int, window: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, window)
    block = b" " * MEGABYTE
    return b"".join(packer.compress(block) for _ in range(0, size, MEGABYTE)) + packer.flush()


def _gzip(size: int) -> bytes:
    return _zlib(size, 31)  # 31: the gzip container, largest window


def _deflate(size: int) -> bytes:
    return _zlib(size, 15)  # what deflate means in HTTP: the zlib container (RFC 9110, 8.4.1.2)


class _Bits:
    """Bits written the way brotli reads them: the least significant first."""

    def __init__(self) -> None:
        self._value = 0
        self._count = 0

    def put(self, value: int, count: int) -> None:
        self._value |= value << self._count
        self._count += count

    def bytes(self) -> bytes:
        return self._value.to_bytes((self._count + 7) // 8, "little")


def _brotli(size: int) -> bytes:
    """Metablocks of one command each (RFC 7932): insert one space, then copy the byte before, up to 16 MB on."""
    bits = _Bits()
    bits.put(0, 1)  # a window of 64 KB
    while size:
        length = min(size, _METABLOCK)
        _metablock(bits, length)
        size -= length
    bits.put(3, 2)  # the last metablock, which is empty
    return bits.bytes()


def _metablock(bits: _Bits, length: int) -> None:
    bits.put(0, 1)  # not the last
    bits.put(2, 2)  # the length has six nibbles
    bits.put(length - 1, 24)
    bits.put(0, 1)  # compressed
    bits.put(0, 3)  # one block type each for literals, commands and distances
    bits.put(0, 6)  # no postfix bits, no direct distances
    bits.put(0, 2)  # context mode of the literals
    bits.put(0, 2)  # one prefix code each for literals and distances
    # Prefix codes of a single symbol, which then takes no bits at all: the space; insert 1 and copy 2118 or more
    # (symbol 399); distance 1 or 2 (symbol 16).
    for symbol, width in ((_SPACE, 8), (399, 10), (16, 6)):
        bits.put(1, 2)
        bits.put(0, 2)
        bits.put(symbol, width)
    bits.put(length - 1 - 2118, 24)  # how much more than 2118 is copied
    bits.put(0, 1)  # distance 1


def _zstd(size: int) -> bytes:
    """A frame of blocks that say: this byte, 131,072 times (RFC 8878, 3.1.1.2)."""
    frame = bytearray(b"\x28\xb5\x2f\xfd\x00\x38")  # magic; no checksum, no length; a window of 128 KB
    for at in range(0, size, _ZSTD_BLOCK):
        last = at + _ZSTD_BLOCK >= size
        header = _ZSTD_BLOCK << 3 | 1 << 1 | last
        frame += header.to_bytes(3, "little") + bytes([_SPACE])
    return bytes(frame)


_MAKERS: dict[Coding, Callable[[int], bytes]] = {"gzip": _gzip, "deflate": _deflate, "br": _brotli, "zstd": _zstd}
