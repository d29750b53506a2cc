"""Codings undone: all of a body, and nothing that only looks like one."""

from __future__ import annotations

import gzip
import zlib

import pytest

from gossamer.errors import Broken
from gossamer.fetch.codings import Unpacker


def unpacked(coding: str, body: bytes, step: int = 1 << 20) -> bytes:
    unpacker = Unpacker(coding, cap=1 << 20, ratio=100)
    pieces = (body[n : n + step] for n in range(0, len(body), step))
    found = b"".join(bytes(part) for piece in pieces for part in unpacker.feed(piece))
    unpacker.end()
    return found


@pytest.mark.parametrize("step", [1, 7, 1 << 20])
def test_a_gzip_body_may_have_several_members(step: int) -> None:
    assert unpacked("gzip", gzip.compress(b"one ") + gzip.compress(b"two"), step) == b"one two"


def test_what_follows_the_end_is_no_part_of_it() -> None:
    assert unpacked("gzip", gzip.compress(b"one") + b"\0\0padding") == b"one"
    assert unpacked("deflate", zlib.compress(b"one") + b"more") == b"one"


@pytest.mark.parametrize("coding", ["br", "BR", "br, gzip", "zstd", "gzip, compress"])
def test_a_coding_that_cannot_be_undone_is_no_body(coding: str) -> None:
    with pytest.raises(Broken, match="which cannot be undone"):
        unpacked(coding, b"xxxx")


@pytest.mark.parametrize("coding", ["utf-8", "none", "identity", ""])
def test_what_is_no_coding_counts_as_none(coding: str) -> None:
    assert unpacked(coding, b"text") == b"text"
