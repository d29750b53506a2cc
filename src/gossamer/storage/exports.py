"""Out of the store: JSON lines, CSV and Parquet, written as they are read, in constant memory."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import msgspec

from gossamer.errors import ConfigError, StoreError
from gossamer.storage import arrow, cursors, parquet
from gossamer.storage.archive import archive_of
from gossamer.storage.arrow import Widened
from gossamer.storage.columns import Columns
from gossamer.storage.records import GONE, SOURCE, Choice, Rows, record_of
from gossamer.storage.store import Store

__all__ = ["Written", "pieces", "record_of", "refuse_store", "write"]

STYLES = ("jsonl", "csv", "parquet")
_NESTED = (list, dict)
#: What `--partition-by` says of items themselves, where they have no such field.
_OF_ITEMS = {"kind": "_kind", "scraper": "_scraper"}


class Written(msgspec.Struct, frozen=True):
    """What an export wrote."""

    rows: int
    files: int = 1
    #: Fields that were asked for and that nothing had.
    unmet: tuple[str, ...] = ()


async def write(
    store: Store,
    choice: Choice,
    style: str = "jsonl",
    output: Path | None = None,
    *,
    partition_by: Sequence[str] = (),
    cursor: Path | None = None,
) -> Written:
    """Write pages or items, to stdout or into a file that takes its name when it is complete.

    Parquet goes into a folder, if it is parted by fields or `output` is a folder. With a cursor file, only what is new,
    changed, back or gone since the last time is written. Raises ConfigError for what cannot be asked or written.
    """
    _check(choice, style, output, partition_by, cursor)
    upto = await store.item_cursor()
    kept = None
    if cursor is not None:
        kept = await cursors.read(cursor, store, choice)
        choice = msgspec.structs.replace(choice, after=kept.position)
    rows = Rows(store, choice, upto)
    if style == "parquet":
        assert output is not None
        written = await _parquet(rows, output, partition_by)
    else:
        written = await (_csv if style == "csv" else _jsonl)(rows, output)
    if cursor is not None and kept is not None:
        cursors.keep(cursor, kept, upto)
    return msgspec.structs.replace(written, unmet=(*written.unmet, *rows.unmet))


async def pieces(store: Store, choice: Choice, style: str = "jsonl") -> AsyncIterator[str]:
    """JSON lines or CSV, piece by piece, for whoever sends them on. Raises ConfigError before the first piece."""
    _check(choice, style, None, (), None)
    rows = Rows(store, choice, await store.item_cursor())
    if style == "jsonl":
        async for lines in rows.lines():
            yield "\n".join([*lines, ""])
        return
    columns = await _csv_columns(rows)
    names = columns.names()
    file = io.StringIO()
    writer = csv.writer(_Lines(file), lineterminator="\r\n")
    writer.writerow(names)
    yield file.getvalue()
    async for group in rows.groups():
        file.seek(0)
        file.truncate()
        writer.writerows([_cell(record.get(name)) for name in names] for record in group.records)
        yield file.getvalue()


def _check(choice: Choice, style: str, output: Path | None, partition_by: Sequence[str], cursor: Path | None) -> None:
    pages = choice.what == "pages"
    wrong = {
        "--held needs --run N: `gossamer drift` lists the runs that are held back": choice.held and choice.run is None,
        "--kind, --gone, --held, --source, --unique, --sort and --cursor are for items, not for pages": pages
        and (choice.kind or choice.gone or choice.held or choice.source or choice.unique or choice.sort or cursor),
        "--cursor gives what happened since, of whichever source: leave --unique out": cursor and choice.unique,
        "--cursor follows all that happens: leave --run, --since and --held out": cursor
        and (choice.run is not None or choice.since is not None or choice.held),
        "--cursor gives what happened since, in the order it happened: leave --sort out": cursor and choice.sort,
        "Parquet cannot be written to stdout: give a file with -o": style == "parquet" and output is None,
        "--partition-by is for Parquet: add --format parquet": style != "parquet" and partition_by,
        f"{output} is a folder: give a file": style != "parquet" and output is not None and output.is_dir(),
        "the cursor file and the output are the same file: give two": cursor
        and output is not None
        and cursor.resolve() == output.resolve(),
    }
    for sentence, is_so in wrong.items():
        if is_so:
            raise ConfigError(sentence)
    if cursor is not None:
        cursors.check(cursor)


def refuse_store(output: Path, store: str) -> None:
    """Raises ConfigError if writing `output` would destroy the store it is read from, or its archive."""
    for path in (store, archive_of(store)):
        for name in ("", "-wal", "-shm", "-journal", ".lock"):
            if output.resolve() == Path(path + name).resolve():
                raise ConfigError(f"{output} belongs to the store itself: give another file")


# -- files -----------------------------------------------------------------------------------------------------


@contextmanager
def _text(output: Path | None) -> Iterator[TextIO]:
    """Stdout, or a text file that takes its name only when it is complete."""
    if output is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    with _complete(output) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield file


@contextmanager
def _complete(output: Path) -> Iterator[Path]:
    """The name of a file that becomes `output` when it is complete and on the disk."""
    target = output.resolve()
    try:
        if target.exists() and not target.is_file():
            yield target  # a pipe or a device stays what it is
            return
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            yield part
            with part.open("rb") as file:
                os.fsync(file.fileno())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(f"{output} cannot be written: {error.strerror or error}") from None


# -- JSON lines ------------------------------------------------------------------------------------------------


async def _jsonl(rows: Rows, output: Path | None) -> Written:
    n = 0
    with _text(output) as file:
        async for lines in rows.lines():
            n += len(lines)
            file.write("\n".join([*lines, ""]))
    return Written(n)


# -- CSV -------------------------------------------------------------------------------------------------------


async def _csv(rows: Rows, output: Path | None) -> Written:
    """Two readings: the first to learn the columns, since items of one scraper need not have the same fields."""
    columns = await _csv_columns(rows)

    async def once() -> Written:
        with _text(output) as file:
            return await _csv_rows(rows, file, columns, again=output is not None)

    return await _until_it_fits(once, columns)


async def _csv_columns(rows: Rows) -> Columns:
    columns = arrow.known_columns(rows)
    if not rows.choice.fields and rows.choice.what == "items":
        async for group in rows.groups():
            columns.meet(group.records)
    if rows.choice.marks:
        columns.add(GONE)
    return columns


async def _csv_rows(rows: Rows, file: TextIO, columns: Columns, *, again: bool) -> Written:
    names = columns.names()
    # Only a line's own end is looked for by the writer before Python 3.13: this way it quotes both kinds.
    writer = csv.writer(_Lines(file), lineterminator="\r\n")
    writer.writerow(names)
    n = 0
    async for group in rows.groups():
        columns.meet(group.late)
        if again and len(columns.names()) != len(names):
            raise Widened(group.late)
        writer.writerows([_cell(record.get(name)) for name in names] for record in group.records)
        n += len(group.records)
    return Written(n)


class _Lines:
    """A file whose lines end as ours do."""

    def __init__(self, file: TextIO) -> None:
        self._write = file.write

    def write(self, line: str) -> int:
        return self._write(line[:-2] + "\n")


def _cell(value: Any) -> Any:
    return msgspec.json.encode(value).decode() if type(value) in _NESTED else value


# -- Parquet ---------------------------------------------------------------------------------------------------


async def _parquet(rows: Rows, output: Path, partition_by: Sequence[str]) -> Written:
    arrow.library("pyarrow.parquet", "parquet")
    folder = parquet.folder_of(output, partition_by)
    if folder is not None:
        return await _parquet_folder(rows, folder, partition_by)
    columns = arrow.known_columns(rows)
    await arrow.learned(rows, columns)

    async def once() -> Written:
        with _complete(output) as part, part.open("wb") as file:
            sheet = parquet.Sheet(file, arrow.Table(columns.shape()))
            return Written(await _fill(sheet, arrow.checked(rows, columns)))

    return await _until_it_fits(once, columns)


async def _parquet_folder(rows: Rows, output: Path, partition_by: Sequence[str]) -> Written:
    after, asked = rows.choice.after, rows.choice
    parquet.check_folder(output, after)
    rows = rows.of(_for_folders(asked, partition_by))
    columns = arrow.known_columns(rows)
    await arrow.learned(rows, columns)
    levels = _levels(rows, columns, partition_by)
    hidden = {level.column for level in levels} | _not_asked(rows.choice, asked)

    async def once() -> Written:
        shape = columns.shape().without(hidden)
        if not shape.fields and levels:
            raise ConfigError("no column is left beside those that name the folders: choose others")
        with parquet.staged(output, after) as folder:
            spread = parquet.Spread(folder, parquet.prefix_of(after), arrow.Table(shape), parquet.Places(levels))
            n = await _fill(spread, arrow.checked(rows, columns))
        return Written(n, spread.files, tuple(name for name in rows.unmet if name not in partition_by))

    return await _until_it_fits(once, columns)


def _for_folders(choice: Choice, partition_by: Sequence[str]) -> Choice:
    """A choice whose records have what names the folders."""
    if choice.what == "pages":
        extra: list[str] = []
    else:
        extra = [_OF_ITEMS.get(name, name) for name in partition_by if name in _OF_ITEMS or name in SOURCE]
    fields = (*choice.fields, *(name for name in partition_by if name not in (*choice.fields, *SOURCE)))
    return msgspec.structs.replace(choice, extra=tuple(extra), fields=fields if choice.fields else ())


def _not_asked(choice: Choice, asked: Choice) -> set[str]:
    """Columns that are there only to name folders."""
    return (set() if asked.source else set(choice.extra) - set(asked.fields)) | (set(choice.fields) - set(asked.fields))


def _levels(rows: Rows, columns: Columns, partition_by: Sequence[str]) -> list[parquet.Level]:
    """What names each level of folders. A field of the items comes before what the store says of them."""
    known = set(columns.names()) - set(rows.unmet)
    levels = [parquet.Level(name, name if name in known else _OF_ITEMS.get(name, name)) for name in partition_by]
    for level in levels:
        if level.column not in known and (rows.seen or rows.choice.what == "pages"):
            some = ", ".join(sorted(known - set(rows.choice.extra))[:20])
            raise ConfigError(f"nothing has a field {level.label!r} to name folders after: there are {some}")
    return levels


# -- both ------------------------------------------------------------------------------------------------------


async def _fill(sheet: parquet.Sheet | parquet.Spread, groups: AsyncIterator[list[dict[str, Any]]]) -> int:
    """Write all records; returns how many."""
    n = 0
    try:
        async for records in groups:
            sheet.add(records)
            n += len(records)
        sheet.close()
    except BaseException:
        sheet.give_up()
        raise
    return n


async def _until_it_fits(once: Callable[[], Awaitable[Written]], columns: Columns) -> Written:
    """Write, and begin anew if the store changed meanwhile so that its records no longer fit their columns."""
    for _ in range(arrow.TRIES):
        try:
            return await once()
        except Widened as found:
            columns.learn(found.records)
    raise StoreError(
        "the items in the store change faster than they can be written: try again later, or write JSON lines"
    )
