"""hoopR's files: where each season of each dataset lies, and how to read one part by part.

A season of play-by-play has half a million rows. A part is read from the file on the disk, beginning at a mark that
the part before left: the memory that is needed is that of one part, and whoever was interrupted goes on at its mark.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import msgspec

from gossamer import Blocked, ConfigError, ReadError
from gossamer.packs.nba import answers

__all__ = [
    "DATASETS",
    "FIRST",
    "FORMATS",
    "LAYOUTS",
    "Mark",
    "Part",
    "has_parquet",
    "manifest_url",
    "need_parquet",
    "part",
    "rows_of",
    "url",
]

#: The first season there is.
FIRST: Final = 2002
#: Dataset -> what its files are called, and the folder they have among the releases.
DATASETS: Final = {
    "schedules": ("nba_schedule", "espn_nba_schedules"),
    "team_box": ("team_box", "espn_nba_team_boxscores"),
    "player_box": ("player_box", "espn_nba_player_boxscores"),
    "pbp": ("play_by_play", "espn_nba_pbp"),
}
FORMATS: Final = ("parquet", "csv")
_RAW: Final = "https://raw.githubusercontent.com/sportsdataverse"
#: Layout -> where files lie, and how they end: the repository of today, the downloads of its releases, the repository
#: of before.
LAYOUTS: Final[dict[str, dict[str, str]]] = {
    "repo": {"parquet": _RAW + "/hoopR-nba-data/main/nba/{dataset}/parquet/{name}_{season}.parquet"},
    "release": {
        each: f"https://github.com/sportsdataverse/sportsdataverse-data/releases/download/{{tag}}/{{name}}_{{season}}.{each}"
        for each in FORMATS
    },
    "old": {
        "parquet": _RAW + "/hoopR-data/main/nba/{dataset}/parquet/{name}_{season}.parquet",
        "csv": _RAW + "/hoopR-data/main/nba/{dataset}/csv/{name}_{season}.csv.gz",
    },
}
_MANIFEST: Final = _RAW + "/hoopR-nba-data/main/nba/{dataset}/nba_{dataset}_in_data_repo.csv"

#: Bytes of a line of a CSV file: more is no line.
LONGEST_LINE: Final = 1 << 20
MOST_COLUMNS: Final = 1_000
#: Letters of the name of a column, and of all names of a file: where all columns are wanted, each row says them again.
LONGEST_NAME: Final = 200
MOST_NAMES: Final = 10_000
#: Letters of one cell: a play is told in a sentence.
LONGEST_CELL: Final = 4_000
#: Bytes that are read for one part, however few rows that are.
PART_BYTES: Final = 32 << 20
#: Bytes that a group of rows of a Parquet file says it unpacks to; a whole season of plays has less.
GROUP_BYTES: Final = 2 << 30
#: Rows that are unpacked at a time.
BATCH: Final = 5_000
_GZIP: Final = b"\x1f\x8b"
_NOTHING: Final = frozenset({"", "NA", "NaN", "NULL", "null"})


def url(dataset: str, season: int, layout: str, form: str) -> str:
    """Where a season of a dataset lies. Raises ConfigError if that layout has no such files."""
    name, tag = DATASETS[dataset]
    if form not in LAYOUTS[layout]:
        others = ", ".join(each for each, forms in LAYOUTS.items() if form in forms)
        raise ConfigError(f"format={form} cannot be had from layout={layout}: take layout={others}")
    return LAYOUTS[layout][form].format(dataset=dataset, name=name, tag=tag, season=season)


def manifest_url(dataset: str) -> str:
    """Where the list of a dataset's seasons lies."""
    return _MANIFEST.format(dataset=dataset)


def has_parquet() -> bool:
    """Whether Parquet can be read here: a plain install cannot."""
    return find_spec("pyarrow") is not None


def need_parquet() -> None:
    """Raises ConfigError where Parquet cannot be read."""
    if not has_parquet():
        raise ConfigError("hoopR's Parquet files need gossamer[parquet]: install it, or say format=csv")


class Mark(msgspec.Struct, frozen=True):
    """Where a part begins: a row group and the rows of it that were read, or a place in a text file."""

    group: int = 0
    rows: int = 0
    place: int = 0


class Part(msgspec.Struct, frozen=True):
    """Some rows of a file, and where the next ones begin; None at its end."""

    rows: list[dict[str, Any]]
    next: Mark | None
    #: Where each of the rows begins, for whoever wants to end earlier.
    marks: list[Mark] = []


def part(file: Path, mark: Mark, most: int, columns: Sequence[str] | None = None) -> Part:
    """Up to so many rows of a file, from a mark on. Raises ReadError if it is no such file, or is damaged.

    `columns` are those that are wanted, of which a file may lack some; None: all there are.
    """
    if not file.is_file():
        raise ReadError(f"{file.name} is no longer where it was saved: run it again")
    with file.open("rb") as opened:
        beginning = opened.read(4)
    if beginning == b"PAR1":
        if not has_parquet():
            raise ReadError(f"{file.name} is Parquet, whatever was asked for: that needs gossamer[parquet]")
        return _of_parquet(file, mark, most, columns)
    if beginning.lstrip()[:1] in (b"<", b"{"):
        with file.open("rb") as opened:
            if answers.asks_to_log_in(opened.read(1 << 18)):
                raise Blocked(f"{file.name} is a page that asks to log in, in the place of a table")
        raise ReadError(f"{file.name} is a web page or an error in the place of a table")
    return _of_csv(file, mark, most, columns)


# -- Parquet -------------------------------------------------------------------------------------------------------


def _of_parquet(file: Path, mark: Mark, most: int, columns: Sequence[str] | None) -> Part:
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(file) as opened:
            names = _checked(opened.schema_arrow.names)
            wanted = names if columns is None else [name for name in columns if name in names]
            if not wanted:
                raise ValueError("it has none of the columns that are asked for")
            texts = [field.name for field in opened.schema_arrow if field.name in wanted and _is_text(field.type)]
        # Texts that stand in a file once, for many rows, are looked at before each row gets its own.
        with parquet.ParquetFile(file, read_dictionary=texts) as opened:
            groups = [opened.metadata.row_group(n) for n in range(opened.metadata.num_row_groups)]
            rows: list[dict[str, Any]] = []
            marks: list[Mark] = []
            at = mark
            while at.group < len(groups) and len(rows) < most:
                if groups[at.group].total_byte_size > GROUP_BYTES:
                    raise ValueError("its groups of rows are larger than any of hoopR's")
                some = _of_group(opened, at, most - len(rows), wanted)
                rows += some
                marks += [Mark(group=at.group, rows=at.rows + place) for place in range(len(some))]
                whole = not some or at.rows + len(some) >= groups[at.group].num_rows
                at = Mark(group=at.group + 1) if whole else Mark(group=at.group, rows=at.rows + len(some))
            return Part(rows, at if at.group < len(groups) else None, marks)
    except (pyarrow.ArrowException, OSError, ValueError) as why:
        raise ReadError(f"{file.name} cannot be read as Parquet: {str(why)[:200]}") from None


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind))


def _of_group(opened: Any, mark: Mark, most: int, wanted: list[str]) -> list[dict[str, Any]]:
    """Rows of one group. Its columns are unpacked batch by batch; those that were read are passed over."""
    skip = mark.rows
    rows: list[dict[str, Any]] = []
    for batch in opened.iter_batches(batch_size=BATCH, row_groups=[mark.group], columns=wanted):
        if skip >= batch.num_rows:
            skip -= batch.num_rows
            continue
        rows += _unpacked(batch.slice(skip, most - len(rows)))
        skip = 0
        if len(rows) >= most:
            break
    return rows


def _unpacked(batch: Any) -> list[dict[str, Any]]:
    """The rows of a batch. Raises ValueError for a text that is longer than any."""
    from pyarrow import compute, types

    columns = []
    for column in batch.columns:
        if types.is_dictionary(column.type):
            longest = compute.max(compute.binary_length(column.dictionary)).as_py() or 0
            if longest > LONGEST_CELL:
                raise ValueError(f"one of its cells has {longest:,} letters")
            columns.append(column.dictionary_decode().to_pylist())
        else:
            columns.append(column.to_pylist())
    return [dict(zip(batch.schema.names, values, strict=True)) for values in zip(*columns, strict=True)]


# -- CSV -----------------------------------------------------------------------------------------------------------


def _of_csv(file: Path, mark: Mark, most: int, columns: Sequence[str] | None) -> Part:
    try:
        with _opened(file) as stream:
            header, begin = _header(stream)
            wanted = [place for place, name in enumerate(header) if columns is None or name in columns]
            begin = at = max(mark.place, begin)
            stream.seek(begin)
            lines = _Lines(stream, begin)
            rows: list[dict[str, Any]] = []
            marks: list[Mark] = []
            for values in csv.reader(lines, strict=True):
                if values:
                    rows.append({header[place]: _cell(values[place]) for place in wanted if place < len(values)})
                    marks.append(Mark(place=at))
                at = lines.at
                if len(rows) >= most or at - begin >= PART_BYTES:
                    return Part(rows, Mark(place=at) if stream.read(1) else None, marks)
            return Part(rows, None, marks)
    except (csv.Error, OSError, EOFError, UnicodeDecodeError) as why:
        raise ReadError(f"{file.name} cannot be read as CSV: {str(why)[:200]}") from None


def rows_of(text: str, most: int = 100_000) -> list[dict[str, Any]]:
    """The rows of a small CSV file. Raises ReadError."""
    try:
        lines = csv.reader(io.StringIO(text), strict=True)
        header = _named(next(lines, []))
        return [dict(zip(header, map(_cell, row), strict=False)) for row, _ in zip(lines, range(most), strict=False)]
    except csv.Error as why:
        raise ReadError(f"the list cannot be read as CSV: {str(why)[:200]}") from None


def _opened(file: Path) -> io.BufferedIOBase:
    """The file unpacked, if it is packed: whatever its name says."""
    with file.open("rb") as raw:
        packed = raw.read(2) == _GZIP
    return gzip.open(file, "rb") if packed else file.open("rb")


def _header(stream: io.BufferedIOBase) -> tuple[list[str], int]:
    lines = _Lines(stream, 0)
    return _named(next(csv.reader(lines, strict=True), [])), lines.at


def _named(first: list[str]) -> list[str]:
    """The names of columns that a first line has."""
    if not 1 < len(first) <= MOST_COLUMNS:
        raise csv.Error(f"its first line has {len(first)} columns")
    try:
        return _checked([name.strip().removeprefix("\ufeff") for name in first])
    except ValueError as why:
        raise csv.Error(str(why)) from None


def _checked(names: list[str]) -> list[str]:
    """The names of columns, if they are such. Raises ValueError."""
    if len(names) > MOST_COLUMNS:
        raise ValueError(f"it has {len(names):,} columns")
    letters = [len(name) for name in names]
    if max(letters, default=0) > LONGEST_NAME or sum(letters) > MOST_NAMES:
        raise ValueError(f"its columns have names of up to {max(letters):,} letters, and {sum(letters):,} in all")
    return names


class _Lines:
    """The lines of a stream as text, and the place to which they were read."""

    def __init__(self, stream: io.BufferedIOBase, at: int) -> None:
        self._next: Callable[[int], bytes] = stream.readline
        self.at = at

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._next(LONGEST_LINE)
        if not line:
            raise StopIteration
        if len(line) >= LONGEST_LINE:
            raise csv.Error("one of its lines has no end")
        self.at += len(line)
        return line.decode()


def _cell(text: str) -> str | None:
    if len(text) > LONGEST_CELL:
        raise csv.Error(f"one of its cells has {len(text):,} letters")
    return None if text in _NOTHING else text
