"""The keeper of one browser: a small process that ends the browser and removes its folder when we are gone.

Started as a script of its own, in a session of its own, so that whatever kills us does not kill it. It makes the
folder, says where it is, and waits for the end of its standard input, which comes when we close it, or die.
Every process of the browser has that folder as its TMPDIR: by this it is known, not by a number that another
process may have got meanwhile.

Only the standard library is used, and nothing of Gossamer: this must start in a few milliseconds, and do its
work when everything else is broken.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PREFIX = "gossamer-browser-"
#: Seconds that processes get to be gone after they were killed.
PATIENCE = 10.0
#: Seconds between two looks at whether our parent lives: someone else may hold the other end of our input.
LOOK = 2.0
#: A folder younger than this may have an owner who has not locked it yet.
YOUNG = 60.0

_PROC = Path("/proc")


def processes() -> Iterator[tuple[int, int, str]]:
    """(pid, parent's pid, when it began) of every process, where the system tells."""
    for entry in _PROC.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The name, in parentheses, may hold anything.
            fields = entry.read_text("utf-8", "replace").rpartition(")")[2].split()
            yield int(entry.parent.name), int(fields[1]), fields[19]


def is_driver(pid: int) -> bool:
    """Whether a process is Playwright's driver."""
    try:
        return b"run-driver" in (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def drivers_of(parent: int) -> list[int]:
    """Playwright's drivers among the children of a process."""
    return [pid for pid, its_parent, _ in processes() if its_parent == parent and is_driver(pid)]


def living(folder: str) -> set[int]:
    """The processes of the browser that works in a folder."""
    mark = b"TMPDIR=" + os.fsencode(folder)
    found = set()
    for entry in _PROC.glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in entry.read_bytes().split(b"\0"):
                found.add(int(entry.parent.name))
    return found


def end(folder: str, drivers: frozenset[tuple[int, str]] = frozenset()) -> None:
    """Kill what works in a folder, and the drivers behind it, then remove it."""
    for pid, _, began in list(processes()):
        if (pid, began) in drivers and is_driver(pid):
            _kill(pid)
    until = time.monotonic() + PATIENCE
    while (alive := living(folder)) and time.monotonic() < until:
        for pid in alive:
            _kill(pid)
        time.sleep(0.02)
    for _ in range(5):
        shutil.rmtree(folder, ignore_errors=True)
        if not Path(folder).exists():
            return
        time.sleep(0.1)


def _kill(pid: int) -> None:
    with contextlib.suppress(OSError):
        # A sandboxed child hides its environment, but stays in the group of the browser, which leads one.
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)


def sweep(parent: str) -> None:
    """Remove folders whose keepers were killed themselves, with what still works in them."""
    for path in Path(parent).glob(PREFIX + "*"):
        with contextlib.suppress(OSError):
            about = path.lstat()
            if not path.is_dir() or about.st_uid != os.getuid() or time.time() - about.st_mtime < YOUNG:
                continue
            if _locked(str(path)) is not None:
                end(str(path))


def _locked(folder: str) -> int | None:
    """The lock of a folder, held from now on; None if somebody else holds it."""
    lock = os.open(os.path.join(folder, "lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _wait(folder: str, drivers: set[tuple[int, str]]) -> None:
    """Until our parent closes our input, or dies. A line from it says that the browser runs."""
    parent = os.getppid()
    while os.getppid() == parent:
        if not select.select([0], [], [], LOOK)[0]:
            continue
        if not os.read(0, 4096):
            return
        alive = living(folder)
        known = {pid: (its_parent, began) for pid, its_parent, began in processes()}
        parents = {known[pid][0] for pid in alive if pid in known}
        drivers |= {(pid, known[pid][1]) for pid in parents if pid in known and is_driver(pid)}


def main() -> None:
    """Keep one browser."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    folder = tempfile.mkdtemp(prefix=PREFIX)
    drivers: set[tuple[int, str]] = set()
    try:
        _locked(folder)
        os.write(1, os.fsencode(folder) + b"\n")
        sweep(os.path.dirname(folder))
        _wait(folder, drivers)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end(folder, frozenset(drivers))


if __name__ == "__main__":
    main()
