"""The store: whether its file can be read and written, is whole, is of the present form, and has room."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from gossamer import terminal
from gossamer.doctor.finding import Area, Finding, told
from gossamer.errors import ConfigError
from gossamer.storage import filelock
from gossamer.storage.archive import archive_of
from gossamer.storage.migrations import upgrade as migrations
from gossamer.storage.naming import path_of

_area = Area("store")

#: Seconds that a look through a whole file may take.
DEADLINE = 10.0
#: Bytes that should be free on its disk; and those without which nothing goes.
ROOM = 1 << 30
LEAST = 100 << 20
#: A log of this size has not been taken into the store for long. SQLite itself begins at about 200 MB.
LARGE_WAL = 1 << 30
#: Kinds of disks on which a file that several processes map cannot be trusted.
_FAR = ("nfs", "cifs", "smb", "sshfs", "fuse.sshfs", "9p", "afs", "fuse.s3fs", "fuse.gcsfuse")


def look(store: str) -> Iterator[Finding]:
    """The file of a store, the archive beside it, and the disk they are on."""
    try:
        path = Path(path_of(store))
    except ConfigError as error:
        yield _area.problem("file", str(error), "write a path, like store = 'gossamer.db'")
        return
    folder = path.absolute().parent
    if not folder.is_dir():
        yield _area.problem("file", f"the folder {folder} does not exist", f"make it: mkdir -p {folder}")
        return
    yield from disk(folder)
    if path.is_dir():
        yield _area.problem("file", f"{path} is a folder", f"give a file, like {path / 'gossamer.db'}")
        return
    if not path.exists():
        yield _new(path, folder)
        return
    yield rights(path)
    yield owner(path)
    yield form(path)
    yield whole(path)
    yield log_of(path)
    archive = Path(archive_of(str(path)))
    if archive.exists():
        yield whole(archive, "archive")


def _new(path: Path, folder: Path) -> Finding:
    if not os.access(folder, os.W_OK | os.X_OK):
        return _area.problem(
            "file", f"there is no {path} yet, and {folder} cannot be written to", f"give yourself rights to {folder}"
        )
    return _area.ok("file", f"there is no {path} yet; the first run makes it")


def rights(path: Path) -> Finding:
    """Whether we may read and write it, and the files that SQLite puts beside it."""
    if not os.access(path, os.R_OK):
        return _area.problem("file", f"{path} cannot be read", f"give yourself the right: chmod u+rw {path}")
    beside = [Path(f"{path}{ending}") for ending in ("-wal", "-shm", ".lock")]
    closed = [each for each in (path, *beside) if each.exists() and not os.access(each, os.W_OK)]
    if closed:
        names = " ".join(str(each) for each in closed)
        return _area.problem("file", f"{names} cannot be written", f"give yourself the right: chmod u+w {names}")
    if not os.access(path.absolute().parent, os.W_OK):
        return _area.problem(
            "file",
            f"{path} can be written, but not its folder, where SQLite keeps two more files",
            f"give yourself rights to {path.absolute().parent}",
        )
    return _area.ok("file", f"{path}, {terminal.size(path.stat().st_size)}, can be read and written")


def owner(path: Path) -> Finding:
    """Who works on it."""
    who = filelock.holder(str(path))
    if who is None:
        return _area.ok("owner", "no process works on it")
    return _area.warning(
        "owner", f"{who} works on it: others may look, not run", "wait until it ends, or give other runs another store"
    )


def form(path: Path) -> Finding:
    """Whether its tables are of the form that this Gossamer knows."""
    try:
        with contextlib.closing(_connect(path)) as db:
            version = _version(db)
    except sqlite3.Error as error:
        return _area.problem("form", f"{path} is no store ({told(error)})", "give another store, or restore a backup")
    if version is None:
        return _area.ok("form", "empty; the first run makes its tables")
    if version == migrations.HEAD:
        return _area.ok("form", f"{version}, the newest")
    if version == migrations.BASE or version in migrations.REVISIONS:
        return _area.warning(
            "form",
            f"{version or 'none'}, and this Gossamer writes {migrations.HEAD}",
            "any crawl or run brings it up to date; copy the file first if you may want to go back",
        )
    if not version.isdecimal():
        return _area.problem("form", f"{path} is the database of another program", "give another store")
    return _area.problem(
        "form",
        f"{version}, written by a newer Gossamer; this one knows up to {migrations.HEAD}",
        "upgrade: pip install --upgrade gossamer",
    )


def _version(db: sqlite3.Connection) -> str | None:
    """The migration a file is at; None for an empty one, a word for a stranger's."""
    tables = {name for (name,) in db.execute("select name from sqlite_master where type = 'table'")}
    if not tables:
        return None
    row = None
    if "alembic_version" in tables:
        row = db.execute("select version_num from alembic_version").fetchone()
    if row is None and tables == {"alembic_version"}:
        return migrations.BASE
    return "another" if row is None or "request" not in tables else str(row[0])


def whole(path: Path, name: str = "integrity") -> Finding:
    """Whether a file is not damaged, as far as that can be told in a few seconds."""
    check = f"sqlite3 {path} 'pragma quick_check'"
    began = time.monotonic()
    try:
        with contextlib.closing(_connect(path)) as db, _interrupted_after(db, DEADLINE):
            said = [str(row[0]) for row in db.execute("pragma quick_check(3)")]
    except sqlite3.OperationalError as error:
        if "interrupted" not in str(error):
            return _area.problem(name, f"{path} cannot be looked through: {told(error)}", _restore(path))
        size = terminal.size(path.stat().st_size)
        return _area.ok(
            name, f"no damage seen in {DEADLINE:g} s; {size} take longer: `{check}` looks through all of it"
        )
    except sqlite3.Error as error:
        return _area.problem(name, f"{path} is damaged: {told(error)}", _restore(path))
    if said != ["ok"]:
        return _area.problem(name, f"{path} is damaged: {'; '.join(said)}", _restore(path))
    return _area.ok(name, f"{path} is whole ({time.monotonic() - began:.1f} s)")


def _restore(path: Path) -> str:
    return f"restore a backup, or save what can be read: sqlite3 {path} .recover | sqlite3 saved.db"


def log_of(path: Path) -> Finding:
    """The size of the log that SQLite takes into the file from time to time."""
    wal = Path(f"{path}-wal")
    size = wal.stat().st_size if wal.exists() else 0
    if size >= LARGE_WAL:
        return _area.warning(
            "write-ahead log",
            f"{terminal.size(size)} have not been taken into the store: some process reads from it all the time",
            "end what reads the store, then any run takes it in",
        )
    return _area.ok("write-ahead log", terminal.size(size))


def disk(folder: Path) -> Iterator[Finding]:
    """Room on the disk, and whether it is one of this machine."""
    free = shutil.disk_usage(folder).free
    text = f"{terminal.size(free)} free at {folder}"
    if free < LEAST:
        yield _area.problem("disk", text, "free some space, or give a store on another disk")
    elif free < ROOM:
        yield _area.warning("disk", text, "free some space: `gossamer archive prune` makes some, too")
    else:
        yield _area.ok("disk", text)
    kind = kind_of_disk(folder)
    if kind.startswith(_FAR):
        yield _area.warning(
            "kind of disk",
            f"{folder} is on {kind}: SQLite's log cannot be trusted over a network",
            "put the store on a disk of this machine",
        )


def kind_of_disk(folder: Path, mounts: str = "/proc/mounts") -> str:
    """The file system that a folder is on; empty where nobody says."""
    found, longest = "", -1
    try:
        lines = Path(mounts).read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    for line in lines:
        _, place, kind, *_ = [*line.split(" "), "", "", ""]
        place = place.replace("\\040", " ")
        if len(place) >= longest and folder.is_relative_to(place):
            found, longest = kind, len(place)
    return found


def newest(store: str) -> float | None:
    """The newest moment that a store remembers; None if it remembers none."""
    try:
        path = Path(path_of(store))
        if not path.is_file():
            return None
        with contextlib.closing(_connect(path)) as db:
            (found,) = db.execute("select max(coalesce(ended, created)) from run").fetchone()
            (hit,) = db.execute("select max(last_hit) from source").fetchone()
    except (ConfigError, sqlite3.Error):
        return None
    return max((each for each in (found, hit) if isinstance(each, int | float)), default=None)


def _connect(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing. Where no index can be put beside the file, nobody writes to it either."""
    uri = path.absolute().as_uri() + "?mode=ro"
    if not os.access(path.absolute().parent, os.W_OK) and not Path(f"{path}-wal").exists():
        uri += "&immutable=1"
    return sqlite3.connect(uri, uri=True, timeout=2.0, check_same_thread=False)


@contextlib.contextmanager
def _interrupted_after(db: sqlite3.Connection, seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, db.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
