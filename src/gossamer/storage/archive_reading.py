"""Reading an archive: what was kept of a page, and its body. No event loop, so that worker processes can."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from gossamer.errors import StoreError, StoreTooNew
from gossamer.storage import archive_sql as sql
from gossamer.storage import rows
from gossamer.storage.packing import Damaged, Packer
from gossamer.values import Headers, Request, Response, is_secret

#: What is kept of a page beside its body: the request as `rows` has it, the URL that answered if it is another,
#: headers, seconds, the address that answered, and a sentence if the body is missing.
_Head = tuple[msgspec.Raw, str | None, list[tuple[str, str]], float, str | None, str]
_decode_head = msgspec.json.Decoder(_Head).decode
_COOKIES = frozenset({"set-cookie", "set-cookie2"})


class ArchivedPage(msgspec.Struct, frozen=True):
    """A page that was kept."""

    id: int
    run: int
    scraper: str
    request: Request
    #: Its body is empty if only facts were asked for, or if it is `missing`.
    response: Response
    #: The SHA-256 of the body, in hex; empty if it is missing.
    digest: str
    #: Bytes of the body.
    size: int
    #: When it was put here, in seconds since 1970.
    kept: float
    #: A sentence, if the body was not kept.
    missing: str = ""
    #: Whether the same request was fetched again later.
    superseded: bool = False


class Stats(msgspec.Struct, frozen=True):
    """What an archive holds."""

    pages: int
    bodies: int
    #: Bytes of all bodies, each counted once, and what they take here.
    raw: int
    stored: int
    #: Bytes of the file.
    file: int
    dictionaries: int
    #: When the oldest and the newest page were put here, in seconds since 1970.
    oldest: float | None
    newest: float | None
    #: Scraper -> pages.
    scrapers: dict[str, int]


class Reading:
    """Read access to an archive's file. Close it, or use it as a context manager."""

    def __init__(self, path: str, connection: sqlite3.Connection | None = None) -> None:
        """Opens the file, unless a connection is given. Raises StoreError if it is no archive."""
        self.path = path
        with spoken(path):
            self._db = connection or _connect(path)
        self.packer = Packer(self._dictionary)

    def __enter__(self) -> Reading:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def ids(
        self,
        scraper: str | None = None,
        run: int | None = None,
        *,
        newest: bool = True,
        matching: re.Pattern[str] | None = None,
        but: Sequence[int] = (),
        after: int = 0,
        limit: int = 1000,
    ) -> list[int]:
        """The next ids of pages of a scraper or a run, of URLs in which an expression is found, `but` of some runs.

        `newest`: of each request, only what was fetched last.
        """
        wanted = self._wanted(scraper, run, newest, matching)
        return self._list(sql.IDS, {**wanted, "but": rows.as_json(but), "after": after, "limit": limit})

    def count(
        self,
        scraper: str | None = None,
        run: int | None = None,
        *,
        newest: bool = True,
        matching: re.Pattern[str] | None = None,
    ) -> int:
        """How many `ids` there are."""
        with spoken(self.path):
            found: int = self._db.execute(sql.COUNT, self._wanted(scraper, run, newest, matching)).fetchone()[0]
            return found

    def runs(self, scraper: str | None = None) -> list[int]:
        """The runs that pages of a scraper are of."""
        return self._list(sql.RUNS, {"scraper": scraper})

    def pages_of(self, scraper: str, run: int, digests: Sequence[str]) -> dict[str, int]:
        """Fingerprints of requests -> the pages of a run that answer them, where there are such."""
        named = {"scraper": scraper, "run": run, "digests": rows.as_json(digests)}
        return {digest: number for digest, number in self._list(sql.PAGES_OF, named) if number is not None}

    def _wanted(
        self, scraper: str | None, run: int | None, newest: bool, matching: re.Pattern[str] | None
    ) -> dict[str, Any]:
        search = matching.search if matching is not None else None
        self._db.create_function("matches", 1, lambda url: search is None or search(url) is not None)
        return {"scraper": scraper, "run": run, "newest": newest, "matching": matching is not None, "but": None}

    def ids_of(self, url: str, digest: str) -> list[int]:
        """Pages of a URL, newest first: by the digest of what plain requests for it are, else by its spelling."""
        return self._list(sql.BY_DIGEST, (digest,)) or self._list(sql.BY_URL, (url,))

    def has(self, scraper: str, digests: Sequence[str]) -> set[str]:
        """Of these fingerprints of requests, those that a page is kept of."""
        return set(self._list(sql.HAS, {"scraper": scraper, "digests": rows.as_json(digests)}))

    def pages(self, ids: Sequence[int], *, bodies: bool = True) -> list[ArchivedPage]:
        """Pages by their ids, in the order of those; what is no longer there is left out."""
        with spoken(self.path):
            found = self._db.execute(sql.READ, {"ids": rows.as_json(ids), "bodies": bodies})
            return [self._page(*row) for row in found]

    def read(self, sha256: str) -> bytes | None:
        """The body with this SHA-256 (in hex); None if it is not there."""
        with spoken(self.path):
            row = self._db.execute(sql.BODY, (bytes.fromhex(sha256),)).fetchone()
            return None if row is None else self.packer.unpack(*row)

    def samples(self, ids: Sequence[int]) -> list[bytes]:
        """Those of these bodies that are still there."""
        with spoken(self.path):
            found = self._db.execute(sql.SAMPLES, {"ids": rows.as_json(ids)}).fetchall()
            return [self.packer.unpack(*row) for row in found]

    def stats(self) -> Stats:
        """What there is."""
        with spoken(self.path):
            pages, bodies, raw, stored, dictionaries, oldest, newest, scrapers = self._db.execute(sql.STATS).fetchone()
        return Stats(
            pages=pages,
            bodies=bodies,
            raw=raw,
            stored=stored,
            file=size_of(self.path),
            dictionaries=dictionaries,
            oldest=oldest,
            newest=newest,
            scrapers=msgspec.json.decode(scrapers),
        )

    def _list(self, statement: str, given: Any) -> list[Any]:
        with spoken(self.path):
            found: list[Any] = msgspec.json.decode(self._db.execute(statement, given).fetchone()[0])
            return found

    def _dictionary(self, number: int) -> bytes:
        row = self._db.execute(sql.DICTIONARY, (number,)).fetchone()
        if row is None:
            raise StoreError(f"the archive {self.path} lacks its dictionary {number}: restore it, or delete the file")
        found: bytes = row[0]
        return found

    def _page(
        self,
        number: int,
        run: int,
        request: int,
        scraper: str,
        url: str,
        status: int,
        started: float,
        kept: float,
        size: int,
        head_dictionary: int,
        head: bytes,
        digest: str | None,
        dictionary: int | None,
        data: bytes | None,
        superseded: int,
    ) -> ArchivedPage:
        asked, answered, headers, elapsed, remote, missing = _decode_head(self.packer.unpack(head, head_dictionary))
        made = request_of(asked, request)
        body = b"" if data is None or dictionary is None else self.packer.unpack(data, dictionary)
        response = Response(answered or url, status, Headers(headers), body, started, elapsed, remote=remote)
        return ArchivedPage(
            id=number,
            run=run,
            scraper=scraper,
            request=made,
            response=response,
            digest=(digest or "").lower(),
            size=size,
            kept=kept,
            missing=missing,
            superseded=bool(superseded),
        )


def head_of(row: tuple[Any, ...], response: Response, missing: str = "") -> bytes:
    """What is kept of a page beside its body: its request, given as the row that `rows` makes of it, and headers."""
    headers = [pair for pair in response.headers.pairs() if not secret(pair[0])]
    answered = response.url if response.url != row[1] else None
    made = (msgspec.Raw(asked_of(row)), answered, headers, response.elapsed, response.remote, missing)
    return rows.as_text(made).encode()


def asked_of(row: tuple[Any, ...]) -> bytes:
    """A request as it is kept, from the row that `rows` makes of it."""
    _, url, _, _, handler, extras, depth, priority, hops, *_ = row
    return rows.as_text((url, handler, depth, priority, 0, hops, msgspec.Raw((extras or "null").encode()))).encode()


def request_of(asked: bytes | msgspec.Raw, number: int) -> Request:
    """A request as it was."""
    (made,) = rows.read_requests(f"[[{number},{bytes(asked)[1:].decode()}]")
    return made


@lru_cache(4096)
def secret(header: str) -> bool:
    """Whether a header is left out of the archive. Sites have the same few dozen names."""
    return header in _COOKIES or is_secret(header)


# -- files -----------------------------------------------------------------------------------------------------


def find(path: str, *, must_be_there: bool) -> None:
    """See that an archive can be at a path. Raises StoreError."""
    place = Path(path)
    if place.is_dir():
        raise StoreError(f"the archive {path} is a folder: move it away, or give another store")
    if not place.parent.is_dir():
        raise StoreError(f"the folder of the archive {path} does not exist: make it first")
    if must_be_there and not place.exists():
        raise StoreError(f"there is no archive at {path}: a run makes one, unless it is told archive = false")


def size_of(path: str) -> int:
    """Bytes on the disk, what is not yet in the file itself included."""
    found = 0
    for name in (path, f"{path}-wal"):
        with suppress(OSError):
            found += Path(name).stat().st_size
    return found


def _connect(path: str) -> sqlite3.Connection:
    """A connection that only reads."""
    find(path, must_be_there=True)
    uri = Path(path).absolute().as_uri() + "?mode=ro"
    if not os.access(Path(path).parent, os.W_OK) and not Path(f"{path}-wal").exists():
        # Readers share an index beside the file; where none can be made, nobody writes either.
        uri += "&immutable=1"
    db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    try:
        check(path, db)
    except BaseException:
        db.close()
        raise
    return db


def check(path: str, db: sqlite3.Connection) -> None:
    """See that a file is an archive of a form that is known. Raises StoreError."""
    if db.execute("pragma application_id").fetchone()[0] != sql.APPLICATION:
        raise StoreError(f"{path} is not a Gossamer archive: move it away, or give another store")
    form = db.execute("pragma user_version").fetchone()[0]
    if form > sql.FORM:
        raise StoreTooNew(
            f"the archive {path} was written by a newer Gossamer (form {form}, this one knows up to {sql.FORM}): "
            "upgrade Gossamer, or give another store"
        )


@contextmanager
def spoken(path: str) -> Iterator[None]:
    """Turn errors of SQLite and of what it keeps into sentences."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(_sentence(path, str(error))) from error
    except (Damaged, msgspec.MsgspecError) as error:
        raise StoreError(_sentence(path, f"malformed: {error}")) from error


def _sentence(path: str, told: str) -> str:
    if "full" in told:
        return f"the disk of the archive {path} is full: free some space, then the same command goes on"
    if "not a database" in told:
        return f"{path} is not a Gossamer archive ({told}): move it away, or give another store"
    if "malformed" in told:
        return f"the archive {path} is damaged ({told}): restore it, or move it away and a run begins a new one"
    if "readonly" in told or "unable to open" in told:
        return f"the archive {path} cannot be written ({told}): check the rights of the file and its folder"
    if "locked" in told:
        return f"the archive {path} is locked by another program: wait until it ends, or give another store"
    if "I/O" in told:
        return f"the archive {path} cannot be written ({told}; is the disk full?): then the same command goes on"
    return f"the archive {path} failed: {told}"
