"""Log files: one line of JSON an event, in four files that are turned over at 10 MB.

    all.log        every event
    errors.log     errors
    scrapers.log   what runs did, at info and above
    database.log   the store: leases, migrations, the archive, slow transactions

Several processes write to one folder: the service, its runner, and whoever crawls beside them. Each appends whole
lines while it holds the folder's lock, and turns a file over under the same lock, so that no line is torn, doubled or
written to a file that was turned over. A thread does it: nobody who logs waits for a disk. What cannot be written is
lost and counted; it never ends a crawl.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import json
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from gossamer.errors import ConfigError

#: Bytes after which a file is turned over.
LARGEST = 10 << 20
#: How many old ones are kept: all.log.1 is the newest of them.
BACKUPS: Mapping[str, int] = {"all": 5, "errors": 5, "scrapers": 10, "database": 5}
#: Bytes that wait for the disk; beyond them events are dropped, and counted.
MOST_WAITING = 8 << 20
#: Bytes of one line.
LONGEST_LINE = 64 << 10
#: Seconds in which events are gathered before they are written.
GATHER = 0.02
#: Seconds between two complaints about a disk.
COMPLAIN = 60.0
#: Seconds to wait at the end for what is not written yet.
PATIENCE = 2.0

#: How events about the store are called.
_DATABASE = ("store.", "lease.", "migration", "archive.", "desk.", "events.", "sqlite")
#: Libraries whose words are about the store.
_DATABASE_LOGGERS = ("sqlalchemy", "alembic", "sqlite")
#: How lines begin.
_FIRST = ("timestamp", "level", "event", "run", "scraper")
_NUMBERS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}


def files_for(event: Mapping[str, Any]) -> list[str]:
    """Which files an event goes into."""
    number = _NUMBERS.get(event.get("level", ""), 20)
    found = ["all"]
    if number >= _NUMBERS["error"]:
        found.append("errors")
    if number >= _NUMBERS["info"] and (event.get("scraper") or event.get("run")):
        found.append("scrapers")
    if str(event.get("event", "")).startswith(_DATABASE) or str(event.get("logger", "")).startswith(_DATABASE_LOGGERS):
        found.append("database")
    return found


def line(event: Mapping[str, Any]) -> bytes:
    """An event as one line of JSON. Whatever a page said, it stays one line, and does nothing to a terminal."""
    first = {name: event[name] for name in _FIRST if name in event}
    text = _json({**first, **event})
    if len(text) > LONGEST_LINE:
        kept = {name: value if isinstance(value, int) else str(value)[:200] for name, value in first.items()}
        text = _json({**kept, "cut": f"{len(text):,} characters"})
    if not text.isprintable():
        text = "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)
    return text.encode() + b"\n"


def _json(event: Mapping[str, Any]) -> str:
    try:
        return msgspec.json.encode(event, enc_hook=str).decode()
    except (TypeError, ValueError, OverflowError, RecursionError):  # halves of characters, numbers beyond 64 bits
        return json.dumps({str(name): _plain(value) for name, value in event.items()}, default=str)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


class LogFiles:
    """The log files of a folder, as one process writes them. `take` gives them an event and returns at once."""

    def __init__(self, folder: str | Path, *, largest: int = LARGEST, backups: Mapping[str, int] = BACKUPS) -> None:
        """Raises ConfigError if the folder cannot be made or written."""
        self.folder = Path(folder)
        self._largest = largest
        self._backups = backups
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as why:
            told = why.strerror or why
            raise ConfigError(f"the log folder {folder} cannot be used ({told}): give another as log_dir") from None
        self._files = {name: _File(self.folder / f"{name}.log", kept) for name, kept in backups.items()}
        self._make_all()
        self._waiting: deque[tuple[list[str], bytes]] = deque()
        self._size = 0
        # An event may be logged by what is collected while we count: so the lock can be taken twice.
        self._counting = threading.Condition(threading.RLock())
        self._taken = self._done = 0
        self._wake = threading.Event()
        self._closed = False
        self._complained = 0.0
        #: Events that were lost since the process began, because the disk was too slow or full.
        self.lost = 0
        self._told_lost = 0
        self._thread = threading.Thread(target=self._work, name="gossamer-logs", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def _make_all(self) -> None:
        """Have all files there from the start: who follows one need not wait for its first line."""
        with contextlib.suppress(OSError), self._alone():  # what is wrong is told when there is something to write
            for file in self._files.values():
                file.make()

    def take(self, event: Mapping[str, Any]) -> None:
        """Have an event written soon. Called from any thread; never waits, never raises."""
        if self._closed:
            return
        if self._size > MOST_WAITING:
            self.lost += 1
            return
        try:
            made = line(event)
        except Exception:  # noqa: BLE001 - an event that cannot be written must not end a crawl
            self.lost += 1
            return
        with self._counting:
            self._size += len(made)
            self._taken += 1
            self._waiting.append((files_for(event), made))
        self._wake.set()

    def flush(self) -> None:
        """Wait until what was taken so far is written, or lost; but for a stuck disk only so long."""
        self._wake.set()
        with self._counting:
            taken = self._taken
            self._counting.wait_for(lambda: self._done >= taken, PATIENCE)

    def close(self) -> None:
        """Write what waits, and end. Waits for a stuck disk only so long."""
        atexit.unregister(self.close)
        self._closed = True
        self._wake.set()
        self._thread.join(PATIENCE)

    # -- on the thread -----------------------------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            if not self._closed:
                time.sleep(GATHER)
            ending = self._closed
            self._write_waiting()
            if ending:
                break
        for file in self._files.values():
            file.close()
        os.close(self._lock)

    def _write_waiting(self) -> None:
        with self._counting:
            taken, size, self._waiting = self._waiting, self._size, deque()
        lines: dict[str, list[bytes]] = {}
        for names, made in taken:
            for name in names:
                lines.setdefault(name, []).append(made)
        if self.lost > self._told_lost:
            lines.setdefault("all", []).append(self._losses())
        try:
            with self._alone():
                for name, made_lines in lines.items():
                    self._files[name].append(b"".join(made_lines), self._largest)
            self._told_lost = self.lost
        except Exception as why:  # noqa: BLE001 - whatever it is, the next lines may do better
            self.lost += len(taken)
            self._complain(why)
        finally:
            with self._counting:
                self._size -= size
                self._done += len(taken)
                self._counting.notify_all()

    def _losses(self) -> bytes:
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        event = {"timestamp": at, "level": "warning", "event": "log.lost", "events": self.lost - self._told_lost}
        return line({**event, "why": "the disk was full, or slower than what was logged"})

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the folder's lock: no other process appends or turns over meanwhile."""
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    def _complain(self, why: Exception) -> None:
        now = time.monotonic()
        if self._complained and now - self._complained < COMPLAIN:
            return
        self._complained = now
        with contextlib.suppress(OSError, ValueError):
            told = getattr(why, "strerror", None) or why
            sys.stderr.write(f"gossamer: the log files in {self.folder} cannot be written ({told}): events are lost\n")


class _File:
    """One file and its old ones. Used under the folder's lock."""

    def __init__(self, path: Path, kept: int) -> None:
        self._path = path
        self._kept = kept
        self._handle: int | None = None

    def make(self) -> None:
        """Have the file there. Raises OSError."""
        self._opened()

    def append(self, made: bytes, largest: int) -> None:
        """Add lines, turning the file over first if they do not fit. Raises OSError; then none of them is there."""
        handle, size = self._opened()
        if size and size + len(made) > largest:
            self._turn_over()
            handle, size = self._opened()
        written = 0
        try:
            while written < len(made):
                written += os.write(handle, made[written:])
        except OSError:
            os.ftruncate(handle, size)  # we are alone here: half a line would be worse than none
            raise

    def _opened(self) -> tuple[int, int]:
        """The file that now has this name, which another process may have turned over, and its size."""
        if self._handle is not None:
            mine = os.fstat(self._handle)
            with contextlib.suppress(OSError):
                there = os.stat(self._path, follow_symlinks=False)
                if (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino):
                    return self._handle, mine.st_size
            self.close()
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._handle = os.open(self._path, flags, 0o600)
        size = os.fstat(self._handle).st_size
        if size and os.pread(self._handle, 1, size - 1) != b"\n":  # whoever wrote it was killed half-way
            size += os.write(self._handle, b"\n")
        return self._handle, size

    def _turn_over(self) -> None:
        self.close()
        for n in range(self._kept - 1, 0, -1):
            with contextlib.suppress(FileNotFoundError):
                os.replace(f"{self._path}.{n}", f"{self._path}.{n + 1}")
        with contextlib.suppress(FileNotFoundError):
            os.replace(self._path, f"{self._path}.1")

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
