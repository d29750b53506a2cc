"""Tables of companies as files: TOML, or CSV. Read without trust, and written so that no half of one is left."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any, Final

import msgspec

from gossamer import ConfigError
from gossamer.packs.jobs.model import OPERATIONS

__all__ = ["Entry", "checked", "load", "write"]

#: Bytes of a table.
_LARGEST: Final = 16 << 20


class Entry(msgspec.Struct, frozen=True):
    """One company of a table."""

    name: str
    also: tuple[str, ...] = ()
    operation: str | None = None
    country: str | None = None


def load(path: Path) -> list[Entry]:
    """The companies of a file: TOML, or CSV with a line of names first. Raises ConfigError, saying what is wrong."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise ConfigError(f"{path} is larger than {_LARGEST >> 20} MB: that is no table of companies")
        text = data.decode("utf-8-sig")
    except OSError as why:
        raise ConfigError(f"{path} cannot be read: {why.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not written in UTF-8") from None
    return _of_csv(text, path) if path.suffix.lower() == ".csv" else _of_toml(text, path)


def _of_toml(text: str, path: Path) -> list[Entry]:
    try:
        told = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as why:
        raise ConfigError(f"{path} is not TOML: {why}") from None
    rows = told.get("company", [])
    if not isinstance(rows, list) or set(told) - {"company"}:
        raise ConfigError(f"{path} is no table of companies: it holds [[company]] tables, and nothing else")
    return [_entry(row, f"{path}, company {n}") for n, row in enumerate(rows, 1)]


def _of_csv(text: str, path: Path) -> list[Entry]:
    try:
        rows = list(csv.DictReader(io.StringIO(text)))
    except csv.Error as why:
        raise ConfigError(f"{path} is not CSV: {why}") from None
    found = []
    for n, row in enumerate(rows, 2):
        told: dict[str, Any] = {str(key).strip().lower(): value for key, value in row.items() if key and value}
        if also := told.pop("also", None):
            told["also"] = [one.strip() for one in also.split("|") if one.strip()]
        found.append(_entry(told, f"{path}, line {n}"))
    return found


def _entry(row: Any, where: str) -> Entry:
    known = {"name", "also", "operation", "country"}
    if not isinstance(row, dict) or not isinstance(row.get("name"), str) or not row["name"].strip():
        raise ConfigError(f"{where}: it has no name")
    if extra := sorted(set(row) - known):
        raise ConfigError(f"{where}: {extra[0]!r} is not known: a company has {', '.join(sorted(known))}")
    also = row.get("also", [])
    if not isinstance(also, list) or not all(isinstance(one, str) for one in also):
        raise ConfigError(f"{where}: also is a list of the ways the name is written")
    return Entry(" ".join(row["name"].split()), tuple(also), *checked(row.get("operation"), row.get("country"), where))


def checked(operation: Any, country: Any, where: str) -> tuple[str | None, str | None]:
    """An operation and a country as somebody wrote them. Raises ConfigError for what is neither."""
    if operation is not None and operation not in OPERATIONS:
        raise ConfigError(f"{where}: operation {str(operation)[:80]!r} is none of {', '.join(OPERATIONS)}")
    if country is None:
        return operation, None
    if not isinstance(country, str) or not re.fullmatch(r"[A-Za-z]{2}", country.strip()):
        raise ConfigError(f"{where}: country {str(country)[:80]!r} cannot be used: write two letters, like US")
    return operation, country.strip().upper()


def write(path: Path, entry: Entry) -> None:
    """Add a company to a table, which is there as a whole at every moment. What stands in it is kept as it is."""
    book = load(path) if path.exists() else []
    text = path.read_text("utf-8-sig") if path.exists() else ""
    if text and not text.endswith("\n"):
        text += "\n"
    text += _csv_row(entry, first=not book and not text) if path.suffix.lower() == ".csv" else _toml_table(entry, text)
    path = path.resolve()  # a link stays one
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with fresh.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, fresh)
        fresh.replace(path)
    except OSError as why:
        fresh.unlink(missing_ok=True)
        raise ConfigError(f"{path} cannot be written: {why.strerror}") from None


def _toml_table(entry: Entry, before: str) -> str:
    lines = ["[[company]]", f"name = {_quoted(entry.name)}"]
    if entry.also:
        lines.append(f"also = [{', '.join(map(_quoted, entry.also))}]")
    lines += [f"{name} = {_quoted(value)}" for name, value in _told(entry)]
    return ("\n" if before else "") + "\n".join(lines) + "\n"


def _told(entry: Entry) -> list[tuple[str, str]]:
    given = (("operation", entry.operation), ("country", entry.country))
    return [(name, value) for name, value in given if value]


def _quoted(text: str) -> str:
    # JSON's escapes are TOML's, but for DEL, which TOML wants escaped too.
    return msgspec.json.encode(text).decode().replace("\x7f", "\\u007f")


def _csv_row(entry: Entry, *, first: bool) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if first:
        writer.writerow(("name", "also", "operation", "country"))
    writer.writerow((entry.name, "|".join(entry.also), entry.operation or "", entry.country or ""))
    return out.getvalue()
