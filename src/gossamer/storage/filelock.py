"""The lock beside a store's file: one process works on it at a time."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress

from gossamer.errors import StoreBusy, StoreError

#: Seconds between two looks at whether the files are still in their place.
LOOK = 1.0


class FileLock:
    """A store held for this process. The system lets go of it when the process dies, however it dies."""

    def __init__(self, path: str) -> None:
        """Raises StoreBusy if another process holds it."""
        self.path = path
        self._file = os.path.realpath(path)  # one file, one lock, whichever name it is called by
        self._name = f"{self._file}.lock"
        self._handle = _take(path, self._name)
        #: Which file the store is, once it is there.
        self._store: os.stat_result | None = None
        self._next_look = 0.0

    def seal(self) -> None:
        """Remember which file it is that is worked on."""
        self._store = os.stat(self._file)

    def check(self) -> None:
        """Raises StoreError if the store or its lock was taken away from under us. Costs nothing most of the time."""
        now = time.monotonic()
        if now < self._next_look or self._store is None:
            return
        if not _is(self._file, self._store):
            raise StoreError(
                f"the store {self.path} was deleted, moved or replaced while it was being worked on: "
                "put it back and give the same command again, or give another store"
            )
        if not _is(self._name, os.fstat(self._handle)):
            raise StoreError(
                f"the lock {self.path}.lock was deleted or replaced while the store was being worked on, so that "
                "another process may have begun to: see that none does, then the same command goes on"
            )
        self._next_look = now + LOOK

    def close(self) -> None:
        """Let go."""
        os.close(self._handle)


def holder(path: str) -> str | None:
    """The process that holds a store; None if none does."""
    try:
        handle = os.open(os.path.realpath(path) + ".lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return None if _flock(handle, fcntl.LOCK_SH) else f"process {_written(handle)}"
    finally:
        os.close(handle)


def _take(path: str, name: str) -> int:
    try:
        handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreError(f"the store {path} cannot be written: {error.strerror}; check its folder's rights") from None
    if not _flock(handle, fcntl.LOCK_EX):
        pid = _written(handle) or "unknown"
        os.close(handle)
        who = "this process" if pid == str(os.getpid()) else f"process {pid}"
        raise StoreBusy(f"the store {path} is in use by {who}: wait until it ends, or give another store") from None
    with suppress(OSError):  # on a full disk the lock holds all the same, only without saying for whom
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
    return handle


def _flock(handle: int, kind: int) -> bool:
    """Take a lock, unless somebody keeps it. Whoever only looks (`holder`) has it for a blink: hence the tries."""
    for _ in range(5):
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except OSError:
            time.sleep(0.02)
        else:
            return True
    return False


def _written(handle: int) -> str:
    """The process that a lock names."""
    return os.pread(handle, 32, 0).decode("ascii", "replace").strip()


def _is(name: str, known: os.stat_result) -> bool:
    """Whether a name still stands for a file."""
    try:
        found = os.stat(name)
    except FileNotFoundError:
        return False
    except OSError:  # nothing is known; if it matters, SQLite will say so
        return True
    return (found.st_dev, found.st_ino) == (known.st_dev, known.st_ino)
