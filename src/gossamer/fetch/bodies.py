"""Bodies that go to files: those too large for memory, and downloads, which are resumed where they broke off.

A download grows as `<target>.part`, beside it a small file that says what a resume must know; when it is
complete, it gets its name in one step. Files are written in threads, a megabyte at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import email.utils
import fcntl
import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import TypeVar

import msgspec

from gossamer.errors import Broken, FetchError, TooLarge, Unsendable
from gossamer.fetch import codings
from gossamer.values import Headers

#: Bytes written at a time.
BLOCK = 1 << 20
#: Leftovers of processes that were killed are removed when they are older than this, in seconds.
LEFT = 60.0

_PREFIX = "gossamer-bodies-"
_LOCK = "lock"
_PART = ".part"
_SIDECAR = ".part.json"
#: What is packed itself, and served as if that were only for the way.
_PACKED = frozenset({".gz", ".tgz", ".svgz", ".z"})
_PACKED_TYPES = frozenset({"application/gzip", "application/x-gzip", "application/x-tgz"})
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)")
_WHOLE = re.compile(r"bytes \*/(\d{1,18})")

T = TypeVar("T")
Buffer = bytes | bytearray | memoryview


class Kept(msgspec.Struct, frozen=True):
    """A body in a file."""

    file: str
    size: int
    #: In hex.
    sha256: str


# -- a file that is being written ------------------------------------------------------------------------------


class _Writer:
    """Writes a file in order and hashes what it writes; blocks nobody but its thread."""

    def __init__(self, handle: int) -> None:
        self.size = 0
        self._handle = handle
        self._held = bytearray()
        self._hash = hashlib.sha256()

    @property
    def taken(self) -> int:
        """All bytes, those too that are not written yet."""
        return self.size + len(self._held)

    async def take(self, piece: Buffer) -> None:
        self._held += piece
        if len(self._held) >= BLOCK:
            await self.flush()

    async def flush(self) -> None:
        held, self._held = self._held, bytearray()
        if held:
            await in_thread(self._write, held)

    def _write(self, held: bytearray) -> None:
        left = memoryview(held)
        while left:
            left = left[os.write(self._handle, left) :]
        self._hash.update(held)
        self.size += len(held)

    def read_back(self, size: int) -> None:
        """Take up a file that has these many bytes already."""
        os.lseek(self._handle, 0, os.SEEK_SET)
        while self.size < size:
            block = os.read(self._handle, min(BLOCK, size - self.size))
            if not block:
                raise OSError("it became shorter")
            self._hash.update(block)
            self.size += len(block)

    def restart(self) -> None:
        """Begin with an empty file."""
        os.ftruncate(self._handle, 0)
        os.lseek(self._handle, 0, os.SEEK_SET)

    def sync(self) -> None:
        os.fsync(self._handle)

    def digest(self) -> str:
        return self._hash.hexdigest()


async def in_thread(func: Callable[..., T], *args: object) -> T:
    """As asyncio.to_thread; but when it returns or is cancelled, the thread is done with its file."""
    task = asyncio.ensure_future(asyncio.to_thread(func, *args))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        if not task.cancelled():
            task.exception()
        raise


# -- bodies too large for memory -------------------------------------------------------------------------------


class Sink:
    """Takes a body piece by piece: in memory, and from a size on in a file."""

    def __init__(self, *, above: int, folder: str | None) -> None:
        self.size = 0
        self._above = above
        self._folder = folder
        self._held = bytearray()
        self._path: str | None = None
        self._handle = -1
        self._writer: _Writer | None = None

    async def take(self, piece: Buffer) -> None:
        """One more piece. Raises FetchError if it cannot be written."""
        self.size += len(piece)
        if self._writer is None:
            self._held += piece
            if self.size <= self._above or self._folder is None:
                return
            piece, self._held = self._held, bytearray()
            with _telling("a large body cannot be kept"):
                self._handle, self._path = await in_thread(_new_file, self._folder)
            self._writer = _Writer(self._handle)
        with _telling("a large body cannot be kept"):
            await self._writer.take(piece)

    async def end(self) -> tuple[bytes, Kept | None]:
        """All of it, in memory or in a file."""
        if self._writer is None or self._path is None:
            return bytes(self._held), None
        with _telling("a large body cannot be kept"):
            await self._writer.flush()
        kept = Kept(self._path, self._writer.size, self._writer.digest())
        self._path = None
        return b"", kept

    def close(self) -> None:
        """Let go; what was not ended is removed."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
        if self._path is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._path)


def _new_file(folder: str) -> tuple[int, str]:
    return tempfile.mkstemp(prefix="body-", dir=folder)


@contextlib.contextmanager
def _telling(what: str) -> Iterator[None]:
    """A disk that fails is an error like others: the page fails, not the run."""
    try:
        yield
    except OSError as error:
        raise FetchError(f"{what}: {error.strerror or error}") from error


@contextlib.contextmanager
def spool() -> Iterator[str]:
    """A folder for bodies too large for memory, removed afterwards; also those that killed processes left."""
    place = Path(tempfile.gettempdir())
    for left in place.glob(f"{_PREFIX}*"):
        _sweep(left)
    folder = tempfile.mkdtemp(prefix=_PREFIX, dir=place)
    with open(os.path.join(folder, _LOCK), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _sweep(folder: Path) -> None:
    """Remove a folder that no process holds any longer."""
    with contextlib.suppress(OSError):
        if folder.is_symlink() or time.time() - folder.stat().st_mtime < LEFT:
            return
        with open(folder / _LOCK, "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


# -- downloads -------------------------------------------------------------------------------------------------


def target(files: str, save: str) -> Path:
    """Where a download goes: below the folder `files`, wherever its name came from. Raises Unsendable."""
    why = _misnamed(save)
    if why is None:
        top = os.path.realpath(files)
        path = os.path.join(top, *PurePosixPath(save).parts)
        if os.path.commonpath([top, os.path.realpath(os.path.dirname(path))]) == top and not os.path.isdir(path):
            return Path(path)
        why = "leads out of the folder, or is a folder itself"
    raise Unsendable(f"the file cannot be saved as {save[:200]!r}: that name {why}; write one like 'books/1.pdf'")


def _misnamed(save: str) -> str | None:
    """What is wrong with the name of a file, if anything."""
    parts = save.split("/")
    if not save or save.endswith("/") or parts[-1] == ".":
        return "names no file"
    if _UNPRINTABLE.search(save):
        return "has characters that no file name should"
    if save.startswith("/") or "\\" in save or re.match(r"[A-Za-z]:", save):
        return "is not relative to the folder"
    if ".." in parts:
        return "leads out of the folder"
    if save.endswith((_PART, _SIDECAR)):
        return "is one that unfinished downloads have"
    if any(len(os.fsencode(part)) > 200 for part in parts) or len(save) > 1000:
        return "is too long"
    return None


class _Known(msgspec.Struct, frozen=True):
    """What a resume must know of the body that a part is of."""

    url: str
    #: What the server calls this version: an ETag, or when it was last modified.
    version: str
    #: Its size in bytes, if it was told.
    total: int | None


class Download:
    """One file that is being fetched. Use as an async context manager."""

    def __init__(self, path: Path, url: str, *, cap: int) -> None:
        self._path, self._url, self._cap = path, url, cap
        self._part = Path(f"{path}{_PART}")
        self._sidecar = Path(f"{path}{_SIDECAR}")
        self._handle = -1
        self._known: _Known | None = None
        self._writer: _Writer | None = None
        #: Bytes that are there already.
        self.offset = 0
        self._expected: int | None = None
        self._named = False

    async def __aenter__(self) -> Download:
        with _telling(f"the file {self._path} cannot be written"):
            await in_thread(self._open)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let go. An unfinished part stays, if it can be resumed."""
        try:
            if self._known is not None and self._writer is not None:
                with contextlib.suppress(OSError):
                    await self._writer.flush()
        finally:
            if self._known is None and not self._named:
                self.forget()
            os.close(self._handle)

    def _open(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._handle = os.open(self._part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever had the lock may have finished it meanwhile: then this is no part any longer.
            if not os.path.samestat(os.stat(self._part), os.fstat(self._handle)):
                raise OSError
        except OSError:
            os.close(self._handle)
            raise OSError("another download is writing it") from None
        size = os.fstat(self._handle).st_size
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            known = msgspec.json.decode(self._sidecar.read_bytes(), type=_Known)
            if known.url == self._url and 0 < size <= (known.total or size):
                self._known, self.offset = known, size

    def headers(self, *, resume: bool = True) -> dict[str, str]:
        """What to ask for: the file as it is, and only what is missing of it."""
        asked = {"accept-encoding": "identity"}
        if self._known is not None and resume:
            asked |= {"range": f"bytes={self.offset}-", "if-range": self._known.version}
        return asked

    async def begin(self, status: int, headers: Headers, length: int | None) -> None:
        """The answer has come, its body has not: 200 is all of it, 206 the rest. Raises FetchError."""
        writer = self._writer = _Writer(self._handle)
        with _telling(f"the file {self._path} cannot be written"):
            if status == 206:
                self._expected = self._fitting(headers)
                await in_thread(writer.read_back, self.offset)
            else:
                self.offset, self._known = 0, None
                self._expected = length if "content-encoding" not in headers else None
                await in_thread(self._restart, writer, headers)
        if self._expected is not None and self._expected > self._cap:
            self.forget()
            raise TooLarge(f"the file has {self._expected:,} bytes, more than max_download allows ({self._cap:,})")

    def _restart(self, writer: _Writer, headers: Headers) -> None:
        self._sidecar.unlink(missing_ok=True)
        writer.restart()
        version = _version(headers)
        if version is None or "content-encoding" in headers:
            return
        self._known = _Known(self._url, version, self._expected)
        fresh = Path(f"{self._sidecar}.new")
        fresh.write_bytes(msgspec.json.encode(self._known))
        fresh.replace(self._sidecar)

    def _fitting(self, headers: Headers) -> int | None:
        """The size of the whole, if this is the part we lack. Raises Broken if it is not."""
        found = _RANGE.fullmatch(headers.get("content-range", "").strip())
        known = self._known
        if known is not None and found and int(found[1]) == self.offset <= int(found[2]) and self._same(headers):
            total = known.total if found[3] == "*" else int(found[3])
            if (known.total is None or total == known.total) and (total is None or int(found[2]) < total):
                return total if total is not None else int(found[2]) + 1
        self.forget()
        raise Broken("the site sent another part of the file than the one that was missing: it is fetched anew")

    def _same(self, headers: Headers) -> bool:
        """Whether the answer is of the version that we have a part of; one that does not say so is believed."""
        known = self._known
        if known is None:
            return False
        told = headers.get("etag" if known.version.startswith('"') else "last-modified")
        return told is None or told == known.version

    def coding(self, headers: Headers) -> str:
        """The codings to undo, where a site packs what was asked for as it is. Raises Broken."""
        coding: str = headers.get("content-encoding", "").strip().lower()
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if coding in ("", "identity") or self._path.suffix in _PACKED or kind in _PACKED_TYPES:
            return ""
        if not codings.ours(coding):
            raise Broken(f"the file comes packed as {coding[:50]!r}, which was not asked for")
        return coding

    async def take(self, piece: Buffer) -> None:
        """One more piece. Raises TooLarge, or FetchError if it cannot be written."""
        writer = self._writer
        assert writer is not None
        with _telling(f"the file {self._path} cannot be written"):
            await writer.take(piece)
        if writer.taken > self._cap:
            self.forget()
            raise TooLarge(f"the file has more bytes than max_download allows ({self._cap:,})")

    async def end(self) -> Kept:
        """All of it has come: give it its name. Raises Broken if something is missing."""
        writer = self._writer
        assert writer is not None
        with _telling(f"the file {self._path} cannot be written"):
            await writer.flush()
            if self._expected is not None and writer.size != self._expected:
                raise Broken(f"the file has {writer.size:,} bytes and should have {self._expected:,}")
            await in_thread(self._name_it, writer)
        return Kept(str(self._path), writer.size, writer.digest())

    async def end_complete(self, headers: Headers) -> Kept:
        """Nothing was missing (416): what we have is all of it, if the site agrees. Raises Broken if not."""
        found = _WHOLE.fullmatch(headers.get("content-range", "").strip())
        known = self._known
        whole = found is not None and int(found[1]) == self.offset
        if known is None or not whole or known.total not in (None, self.offset) or not self._same(headers):
            self.forget()
            raise Broken("the part of the file that we have does not fit any longer: it is fetched anew")
        self._writer = _Writer(self._handle)
        with _telling(f"the file {self._path} cannot be read"):
            await in_thread(self._writer.read_back, self.offset)
        return await self.end()

    def _name_it(self, writer: _Writer) -> None:
        writer.sync()
        self._part.replace(self._path)
        self._named = True
        self._sidecar.unlink(missing_ok=True)
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def forget(self) -> None:
        """Begin anew the next time."""
        self._known = None
        for path in (self._part, self._sidecar):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def _version(headers: Headers) -> str | None:
    """What tells this version of a body from all others, if anything does (RFC 9110, 8.8)."""
    etag: str = headers.get("etag", "").strip()
    if etag:
        return etag if re.fullmatch(r'"[\x21\x23-\x7e\x80-\xff]*"', etag) else None
    modified: str = headers.get("last-modified", "").strip()
    try:
        then = email.utils.parsedate_to_datetime(modified).timestamp()
        now = email.utils.parsedate_to_datetime(headers["date"]).timestamp() if "date" in headers else time.time()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    # Within one second, a file can change twice and have the same date.
    return modified if then < now - 1 and modified.isprintable() else None
