"""Writing an archive: pages and bodies in, room given back. No event loop: `Archive` has a thread that calls this."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from gossamer.storage import archive_sql as sql
from gossamer.storage import filelock, rows
from gossamer.storage.archive_reading import Reading, check, find, head_of, secret, size_of, spoken
from gossamer.storage.packing import LARGEST_SAMPLE, SAMPLES
from gossamer.values import Request, Response

#: A body in a larger file is not kept.
LARGEST = 64 << 20
#: The shelf of what is kept beside bodies; those are on the shelves of their hosts.
HEADS = ""
#: Shelves whose first bodies are remembered, until a dictionary can be made from them.
MOST_SHELVES = 10_000
#: Pages or bodies deleted in one transaction.
DELETED = 5_000


class Kept(msgspec.Struct, frozen=True):
    """A page to be kept."""

    run: int
    #: The scraper's name.
    scraper: str
    request: Request
    response: Response
    #: A sentence, if its body could not be had: then the page is kept without.
    missing: str = ""


class Same(msgspec.Struct, frozen=True):
    """A page that is as it was: what was kept of it stands for it again."""

    run: int
    scraper: str
    request: Request
    #: When it was asked for, in seconds since 1970.
    started: float
    #: Of the body, in hex.
    sha256: str


class Pruned(msgspec.Struct, frozen=True):
    """What was taken away."""

    pages: int = 0
    bodies: int = 0
    #: Bytes that the file is smaller by.
    freed: int = 0


class _Sheet(msgspec.Struct):
    """A page on its way into the file."""

    page: Kept
    #: The row of its request, as the store has it.
    row: tuple[Any, ...]
    digest: bytes
    #: None if it is not kept.
    content: bytes | None
    size: int
    missing: str = ""
    #: The body's row.
    body: int | None = None

    @property
    def shelf(self) -> str:
        return str(self.row[2])


class Writing(Reading):
    """An archive's file, locked for this process."""

    def __init__(self, path: str) -> None:
        """Makes the file if there is none. Raises StoreError, and StoreBusy if another process has it."""
        find(path, must_be_there=False)
        self._lock = filelock.FileLock(path)
        #: Shelf -> the dictionary it is packed with; 0: it was tried, and does not pay.
        self._dictionaries: dict[str, int] = {}
        #: Shelf -> bodies that a dictionary can be made from, of shelves that have none yet.
        self._samples: dict[str, list[int]] = {}
        self._heads: list[bytes] = []
        self._last_body = 0
        place = str(Path(path).absolute())  # never taken for one of SQLite's file: URLs
        with spoken(path):
            try:
                super().__init__(path, sqlite3.connect(place, isolation_level=None, check_same_thread=False))
                self._make()
                self._lock.seal()
                self._remember()
            except BaseException:
                self._let_go()
                raise

    def close(self) -> None:
        """Write down what was learned, and let go of the file."""
        made = [(shelf, rows.as_text(samples)) for shelf, samples in self._samples.items()]
        with suppress(sqlite3.Error):  # on a full disk: then it is learned again
            self._db.execute(sql.KEEP_SHELVES, {"rows": rows.as_json(made)})
        self._let_go()

    def _let_go(self) -> None:
        if "_db" in self.__dict__:
            self._db.close()
        self._lock.close()

    def _make(self) -> None:
        """Make the tables of a new file, or see that those of an old one are ours."""
        db = self._db
        fresh = db.execute("select count(*) from sqlite_master").fetchone()[0] == 0
        if fresh:
            db.executescript(sql.FIRST_PRAGMAS)
        else:
            check(self.path, db)
        db.executescript(sql.PRAGMAS)
        if fresh:
            with self._transaction():
                for statement in sql.TABLES:
                    db.execute(statement)

    def _remember(self) -> None:
        """What earlier processes learned."""
        self._dictionaries.clear()
        for shelf, number, samples in self._db.execute(sql.SHELVES):
            if number is not None:
                self._dictionaries[shelf] = number
            elif len(self._samples) < MOST_SHELVES:
                self._samples[shelf] = msgspec.json.decode(samples, type=list[int])
        self._last_body = max(self._last_body, self._db.execute(sql.LAST_BODY).fetchone()[0])

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        db = self._db
        db.execute("begin immediate")
        try:
            yield db
            db.execute("commit")
        except BaseException:
            if db.in_transaction:
                db.execute("rollback")
            raise

    # -- keeping -----------------------------------------------------------------------------------------------

    def keep(self, pages: Sequence[Kept], digests: Sequence[bytes]) -> None:
        """Keep pages whose bodies are in memory and have these digests, in one transaction."""
        self._write(
            [
                _sheet(page, b"" if page.missing else each, None if page.missing else page.response.body, page.missing)
                for page, each in zip(pages, digests, strict=True)
            ]
        )

    def keep_file(self, page: Kept) -> None:
        """Keep a page whose body is in a file; if it is too large or gone, the page alone, which then says so."""
        response = page.response
        assert response.file is not None
        content: bytes | None = None
        missing = f"its body of {response.file_size >> 20} MB is larger than the archive keeps"
        if response.file_size <= LARGEST:
            try:
                content = Path(response.file).read_bytes()
                missing = ""
            except OSError as why:
                missing = f"its body was in {response.file}, which cannot be read: {why.strerror}"
        digest = b"" if content is None else hashlib.sha256(content).digest()
        self._write([_sheet(page, digest, content, missing)])

    def _write(self, sheets: list[_Sheet]) -> None:
        self._lock.check()
        digests = b"".join(sheet.digest for sheet in sheets)
        fresh = self._find_bodies(sheets, digests)
        packer, shelves = self.packer, self._dictionaries
        bodies = packer.pack([sheet.content or b"" for sheet in fresh], [shelves.get(s.shelf, 0) for s in fresh])
        heads = [head_of(sheet.row, sheet.page.response, sheet.missing) for sheet in sheets]
        packed_heads = packer.pack(heads, [shelves.get(HEADS, 0)] * len(heads))
        body_rows, at = [], 1
        place = {sheet.digest: n for n, sheet in enumerate(s for s in sheets if s.digest)}
        for sheet, packed in zip(fresh, bodies, strict=True):
            stored = len(packed.data)
            body_rows.append((sheet.body, place[sheet.digest], sheet.size, at, stored, packed.dictionary))
            at += stored
        now, page_rows, at = time.time(), [], 1
        for sheet, packed in zip(sheets, packed_heads, strict=True):
            page_rows.append((*_facts(sheet, now), packed.dictionary, at, len(packed.data)))
            at += len(packed.data)
        with self._transaction() as db:
            if body_rows:
                made = rows.as_json(body_rows)
                db.execute(sql.BODIES, {"rows": made, "digests": digests})
                db.execute(sql.CONTENTS, {"rows": made, "data": b"".join(packed.data for packed in bodies)})
            db.execute(sql.PAGES, {"rows": rows.as_json(page_rows), "data": b"".join(p.data for p in packed_heads)})
        self._learn(fresh, heads)

    def _find_bodies(self, sheets: list[_Sheet], digests: bytes) -> list[_Sheet]:
        """Give every page the number of its body; returns those whose bodies are not there yet."""
        with_body = [sheet for sheet in sheets if sheet.digest]
        places = rows.as_json([*range(len(with_body))])
        found = self._db.execute(sql.KNOWN, {"places": places, "digests": digests}).fetchone()[0]
        numbers = {with_body[n].digest: number for n, number in msgspec.json.decode(found)}
        fresh = []
        for sheet in with_body:
            if sheet.digest not in numbers:
                self._last_body += 1
                numbers[sheet.digest] = self._last_body
                fresh.append(sheet)
            sheet.body = numbers[sheet.digest]
        return fresh

    def same(self, pages: Sequence[Same]) -> None:
        """Let what was kept of pages stand for them again."""
        if not pages:
            return
        made = [(p.run, p.request.id, p.scraper, _request_row(p.request)[rows.DIGEST], p.started) for p in pages]
        digests = b"".join(bytes.fromhex(page.sha256) for page in pages)
        self._db.execute(sql.SAME, {"rows": rows.as_json(made), "digests": digests, "now": time.time()})

    # -- dictionaries ------------------------------------------------------------------------------------------

    def _learn(self, fresh: Sequence[_Sheet], heads: Sequence[bytes]) -> None:
        """Make a dictionary for a shelf as soon as there is enough to make it from."""
        if HEADS not in self._dictionaries:
            self._heads += heads
            if len(self._heads) >= SAMPLES:
                self._shelve(HEADS, self._heads[:SAMPLES])
                self._heads.clear()
        for sheet in fresh:
            if sheet.shelf in self._dictionaries or not 0 < sheet.size <= LARGEST_SAMPLE:
                continue
            samples = self._samples.setdefault(sheet.shelf, [])
            samples.append(sheet.body or 0)
            if len(samples) >= SAMPLES:
                self._shelve(sheet.shelf, self.samples(samples))
            elif len(self._samples) > MOST_SHELVES:
                del self._samples[next(iter(self._samples))]

    def _shelve(self, shelf: str, samples: Sequence[bytes]) -> None:
        self._samples.pop(shelf, None)
        if len(samples) < SAMPLES // 2:  # the others were deleted since
            return
        made = self.packer.train(samples)
        with self._transaction() as db:
            number = 0 if made is None else db.execute(sql.ADD_DICTIONARY, (made,)).lastrowid or 0
            db.execute(sql.SHELVE, {"name": shelf, "number": number})
        self._dictionaries[shelf] = number

    # -- giving room back --------------------------------------------------------------------------------------

    def prune(self, age: float | None, size: int | None) -> Pruned:
        """As `Archive.prune`."""
        last, db = 0, self._db
        if age is not None:
            oldest = db.execute(sql.OLDEST).fetchone()
            if oldest is not None and oldest[0] < time.time() - age:
                last = db.execute(sql.BEFORE, (time.time() - age,)).fetchone()[0]
        if size is not None and self._used() > size:
            # What pages and bodies take is known; tables and their indexes take the rest.
            last = max(last, db.execute(sql.BEYOND, (max(0, size - (1 << 20)) * 0.95,)).fetchone()[0])
        return self._clean(sql.DELETE_PAGES, {"last": last, "most": DELETED}) if last else Pruned()

    def forget(self, run: int | None = None, scraper: str | None = None) -> Pruned:
        """Take away the pages of a run, or of a scraper."""
        if run is None and scraper is None:
            return Pruned()
        return self._clean(sql.FORGET, {"run": run, "scraper": scraper, "most": DELETED})

    def _clean(self, statement: str, named: dict[str, Any]) -> Pruned:
        """Delete pages, then bodies that none names, then give the room back to the disk."""
        db, before = self._db, size_of(self.path)
        pages = bodies = 0
        while gone := db.execute(statement, named).rowcount:
            pages += gone
        while (orphans := db.execute(sql.ORPHANS, {"most": DELETED}).fetchone()[0]) != "[]":
            with self._transaction():
                db.execute(sql.DELETE_CONTENTS, (orphans,))
                bodies += db.execute(sql.DELETE_BODIES, (orphans,)).rowcount
        idle = db.execute(sql.IDLE).fetchone()[0]
        if idle != "[]":
            with self._transaction():
                db.execute(sql.UNSHELVE, (idle,))
                db.execute(sql.DELETE_DICTIONARIES, (idle,))
            self._remember()
        db.executescript("pragma incremental_vacuum")  # which `execute` would leave after the first page
        db.execute("pragma wal_checkpoint(truncate)").fetchall()
        return Pruned(pages, bodies, max(0, before - size_of(self.path)))

    def _used(self) -> int:
        """Bytes of the file that hold something."""
        (pages,), (free,), (each,) = (
            self._db.execute(f"pragma {word}").fetchone() for word in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * each)


def _request_row(request: Request) -> tuple[Any, ...]:
    """A request as the store would have it: one to be fetched again whatever is known is the same as no other."""
    return rows.request_row(request, request.id, 0)


def _sheet(page: Kept, digest: bytes, content: bytes | None, missing: str = "") -> _Sheet:
    request, response = page.request, page.response
    if request.headers and any(map(secret, request.headers)):
        request = request.evolve(headers={k: v for k, v in request.headers.items() if not secret(k)} or None)
    size = response.file_size or len(response.body)
    return _Sheet(page, _request_row(request), digest, content, size, missing)


def _facts(sheet: _Sheet, now: float) -> tuple[Any, ...]:
    """The columns of a page that can be asked for."""
    page, response = sheet.page, sheet.page.response
    return (
        page.run,
        page.request.id,
        page.scraper,
        sheet.row[rows.DIGEST],
        page.request.url,
        response.status,
        response.started,
        now,
        sheet.size,
        sheet.body,
    )
