"""Parquet files: typed columns, row groups of a bounded size, folders by the values of a field."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

import msgspec

from gossamer.errors import ConfigError
from gossamer.storage.arrow import BATCH, Table, library

#: A row group ends at this many rows, or at this many bytes of Arrow data.
ROWS = 50_000
BYTES = 16 << 20
#: JSON held back in all for files that are not worth a row group yet, before the largest are written.
HELD = 32 << 20
#: Files that are open at the same time.
OPEN = 64
#: Folders that one export may make.
FOLDERS = 10_000
#: Bytes of a folder's name.
NAME = 240
#: The name that Hive and all after it give to "no value".
NOTHING = "__HIVE_DEFAULT_PARTITION__"

_OURS = re.compile(r"part-(\d{12})-\d{5}\.parquet")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode

Value = str | int | float | bool | None


class Sheet:
    """One Parquet file that is being written."""

    def __init__(self, file: BinaryIO, table: Table) -> None:
        self._pa = library("pyarrow", "parquet")
        self._table = table
        self._file = file
        self._writer = library("pyarrow.parquet", "parquet").ParquetWriter(file, table.schema, compression="zstd")
        self._waiting: list[dict[str, Any]] = []
        self._batches: list[Any] = []
        self._rows = self._bytes = 0

    def add(self, records: Iterable[dict[str, Any]]) -> None:
        """Take records; a row group is written when enough have come."""
        self._waiting += records
        while len(self._waiting) >= BATCH:
            self._pack(self._waiting[:BATCH])
            del self._waiting[:BATCH]

    def _pack(self, records: list[dict[str, Any]]) -> None:
        batch = self._table.batch(records)
        self._batches.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if self._rows >= ROWS or self._bytes >= BYTES:
            self._write()

    def _write(self) -> None:
        if self._batches:
            rows = self._pa.Table.from_batches(self._batches, self._table.schema)
            self._writer.write_table(rows, row_group_size=max(self._rows, 1))
        self._batches, self._rows, self._bytes = [], 0, 0

    def flush(self) -> None:
        """Write what has come so far."""
        if self._waiting:
            self._pack(self._waiting)
            self._waiting = []
        self._write()

    def close(self) -> None:
        """Complete the file."""
        self.flush()
        self._writer.close()
        self._file.close()

    def give_up(self) -> None:
        """Leave the file as it is."""
        self._batches, self._waiting = [], []
        with contextlib.suppress(Exception):
            self._writer.close()
        self._writer.is_open = False  # else it tries again when it is collected, and complains
        with contextlib.suppress(OSError):
            self._file.close()


# -- folders ---------------------------------------------------------------------------------------------------


class Level(msgspec.Struct, frozen=True):
    """One level of folders: `label=value`, by what records have in a column."""

    label: str
    column: str

    def folder(self, value: Value) -> str:
        """The name of the folder for a value. Raises ConfigError for one that no folder can be named after."""
        if value is None:
            told = NOTHING
        elif isinstance(value, bool):
            told = str(value).lower()
        elif isinstance(value, str | int | float):
            told = quote(str(value), safe=" ") or NOTHING
        else:
            raise ConfigError(f"folders cannot be named after {self.label!r}: it holds lists or objects")
        name = f"{quote(self.label, safe=' ')}={told}"
        if len(name) > NAME:
            raise ConfigError(
                f"folders cannot be named after {self.label!r}: {str(value)[:40]!r}... is too long a name"
            )
        return name


class Places:
    """Which folders there are; few enough."""

    def __init__(self, levels: Sequence[Level]) -> None:
        self.levels = levels
        self._known: dict[tuple[Any, ...], str] = {}

    def of(self, record: dict[str, Any]) -> str:
        """The folder a record belongs into. Raises ConfigError if it would be one too many."""
        values = [record.get(level.column) for level in self.levels]
        key = tuple((type(value), value) for value in values)  # 1 and True are equal, and have folders of their own
        try:
            return self._known[key]
        except (KeyError, TypeError):
            found = "/".join(level.folder(value) for level, value in zip(self.levels, values, strict=True))
        if len(self._known) >= FOLDERS:
            labels = ", ".join(level.label for level in self.levels)
            raise ConfigError(f"{labels} would make more than {FOLDERS:,} folders: choose a field with fewer values")
        self._known[key] = found
        return found


class Spread:
    """Files in many folders, of which only some are open, and only so much is held back for the others."""

    def __init__(self, folder: Path, prefix: str, table: Table, places: Places) -> None:
        self._folder = folder
        self._prefix = prefix
        self._table = table
        self._places = places
        self._open: OrderedDict[str, Sheet] = OrderedDict()
        self._held: dict[str, list[bytes]] = {}
        self._sizes: dict[str, int] = {}
        self._size = 0
        self.files = 0

    def add(self, records: Iterable[dict[str, Any]]) -> None:
        """Take records, each for the folder it belongs into."""
        for record in records:
            place = self._places.of(record)
            # As JSON a record takes a fifth of the memory.
            line = _encode(record)
            self._held.setdefault(place, []).append(line)
            self._sizes[place] = self._sizes.get(place, 0) + len(line) + 64
            self._size += len(line) + 64
            if len(self._held[place]) >= ROWS or self._sizes[place] >= BYTES:
                self._flush(place)
        if self._size >= HELD:
            for place in sorted(self._sizes, key=self._sizes.__getitem__, reverse=True):
                self._flush(place)
                if self._size < HELD // 2:
                    break

    def _flush(self, place: str) -> None:
        lines = self._held.pop(place)
        self._size -= self._sizes.pop(place)
        sheet = self._sheet(place)
        for start in range(0, len(lines), BATCH):
            sheet.add(_decode(line) for line in lines[start : start + BATCH])
        sheet.flush()

    def _sheet(self, place: str) -> Sheet:
        sheet = self._open.pop(place, None)
        if sheet is None:
            if len(self._open) >= OPEN:
                self._open.popitem(last=False)[1].close()
            path = self._folder / place / f"{self._prefix}{self.files:05d}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            sheet = Sheet(path.open("wb"), self._table)
            self.files += 1
        self._open[place] = sheet
        return sheet

    def close(self) -> None:
        """Complete all files."""
        for place in list(self._held):
            self._flush(place)
        while self._open:
            self._open.popitem()[1].close()

    def give_up(self) -> None:
        """Leave all files as they are."""
        while self._open:
            self._open.popitem()[1].give_up()


# -- a folder that gets its files when all are complete --------------------------------------------------------


def folder_of(output: Path, partition_by: Sequence[str]) -> Path | None:
    """The folder that an export fills; None if it fills a file."""
    return output.resolve() if partition_by or output.is_dir() else None


def prefix_of(after: int | None) -> str:
    """How the names of an export's files begin: by the place in the log of changes where it began."""
    return "part-" if after is None else f"part-{after:012d}-"


def check_folder(folder: Path, after: int | None) -> None:
    """Raises ConfigError if files of an export would come among others that they do not go with."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise ConfigError(f"{folder} is a file: give a folder")
    if after is None:
        if any(folder.iterdir()):
            raise ConfigError(f"the folder {folder} is not empty: give a new one, or add to it with --cursor")
        return
    for path in folder.rglob("*.parquet"):
        ours = _OURS.fullmatch(path.name)
        if (ours and int(ours[1]) > after) or (after == 0 and not ours):
            raise ConfigError(
                f"the folder {folder} has files that the cursor does not know, like {path.name}: "
                "give a new folder, or the cursor file that they were made with"
            )


@contextlib.contextmanager
def staged(folder: Path, after: int | None) -> Iterator[Path]:
    """A folder to write into, whose files then come into `folder`: all at once if it is new."""
    fresh = not folder.exists() or not any(folder.iterdir())
    base = folder.parent / f".{folder.name}.{os.getpid()}.part" if fresh else folder / f".{os.getpid()}.part"
    try:
        base.mkdir()
        yield base
        if fresh:
            if folder.exists():
                folder.rmdir()
            base.replace(folder)
        else:
            _move(base, folder, prefix_of(after))
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _move(base: Path, folder: Path, prefix: str) -> None:
    """Files into their places. What an earlier try left, which began at the same place, goes first."""
    for path in folder.rglob(f"{prefix}*.parquet"):
        if base not in path.parents:
            path.unlink()
    for path in sorted(base.rglob("*.parquet")):
        target = folder / path.relative_to(base)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)
