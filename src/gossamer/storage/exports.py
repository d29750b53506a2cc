"""Out of the store: JSON lines and CSV, written as they are read, in constant memory."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import msgspec

from gossamer.errors import ConfigError
from gossamer.storage.store import Store


async def write(
    store: Store,
    what: str,
    style: str,
    output: Path | None,
    *,
    run: int | None = None,
    scraper: str | None = None,
    source: bool = False,
) -> int:
    """Write pages or items; returns how many. Raises ConfigError if the file cannot be written."""

    def rows() -> AsyncIterator[dict[str, Any]]:
        return _pages(store, run, scraper) if what == "pages" else _items(store, run, scraper, source)

    with _opened(output) as file:
        return await (_csv(rows, file) if style == "csv" else _jsonl(rows, file))


@contextmanager
def _opened(output: Path | None) -> Iterator[TextIO]:
    """Stdout, or a file that takes its name only when it is complete."""
    if output is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    part = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            yield file
        part.replace(output)
    except OSError as error:
        raise ConfigError(f"{output} cannot be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def refuse_store(output: Path, store: str) -> None:
    """Raises ConfigError if writing `output` would destroy the store it is read from."""
    for name in ("", "-wal", "-shm", ".lock"):
        kept = Path(store + name)
        if output.resolve() == kept.resolve():
            raise ConfigError(f"{output} belongs to the store itself: give another file")


async def _jsonl(rows: Any, file: TextIO) -> int:
    n = 0
    async for row in rows():
        file.write(msgspec.json.encode(row).decode() + "\n")
        n += 1
    return n


async def _csv(rows: Any, file: TextIO) -> int:
    """Two readings: the first to learn the columns, since items of one scraper need not have the same fields."""
    columns: dict[str, None] = {}
    async for row in rows():
        columns.update(dict.fromkeys(row))
    writer = csv.DictWriter(file, list(columns), lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    n = 0
    async for row in rows():
        writer.writerow({key: _cell(value) for key, value in row.items()})
        n += 1
    return n


def _cell(value: Any) -> Any:
    return msgspec.json.encode(value).decode() if isinstance(value, list | dict) else value


async def _pages(store: Store, run: int | None, scraper: str | None) -> AsyncIterator[dict[str, Any]]:
    async for row in store.pages(run, scraper):
        row["fetched_at"] = iso(row["fetched_at"])
        yield row


async def _items(store: Store, run: int | None, scraper: str | None, source: bool) -> AsyncIterator[dict[str, Any]]:
    async for row in store.items(run, scraper):
        record: dict[str, Any] = row.pop("data")
        if source:
            times = {f"_{name}": iso(row.pop(name)) for name in ("first_seen", "last_seen", "last_changed")}
            record = {**record, **{f"_{name}": value for name, value in row.items()}, **times}
        yield record


def iso(stamp: float | None) -> str | None:
    """Seconds since 1970 as ISO 8601, in UTC."""
    return datetime.fromtimestamp(stamp, UTC).isoformat(timespec="milliseconds") if stamp else None
