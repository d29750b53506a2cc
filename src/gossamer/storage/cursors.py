"""Cursor files: how far an export has come, so that the next one gives only what happened since."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import msgspec

from gossamer.clock import iso
from gossamer.errors import ConfigError
from gossamer.storage.records import Choice
from gossamer.storage.store import Store

#: Runs looked at to find the first that is still known.
_EARLY = 1_000


class Cursor(msgspec.Struct, frozen=True):
    """The place in a store's log of changes up to which all is exported."""

    #: When the first run of the store began: tells one store from another, wherever it lies.
    store: float
    #: What the export was asked for.
    asked: dict[str, Any]
    position: int = 0
    written: str | None = None


async def read(path: Path, store: Store, choice: Choice) -> Cursor:
    """The cursor in a file, or a new one if there is none.

    Raises ConfigError if it belongs to another store or another question, or is none.
    """
    now = Cursor(await _born(store), _asked(choice))
    found = _found(path)
    if found is None:
        return now
    if found.store != now.store or found.position > await store.item_cursor():
        raise ConfigError(f"the cursor file {path} belongs to another store: give it a cursor file of its own")
    if found.asked != now.asked:
        raise ConfigError(
            f"the cursor file {path} belongs to an export of {_told(found.asked)}, not of {_told(now.asked)}: "
            "give each its own"
        )
    return found


def _found(path: Path) -> Cursor | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Cursor)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"the cursor file {path} cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ConfigError(f"{path} is no cursor file: give another name, or remove it to begin anew") from None


def check(path: Path) -> None:
    """Raises ConfigError if no cursor file could be kept there: better before anything is written than after."""
    folder = path.resolve().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ConfigError(f"the cursor file {path} cannot be written: check that its folder is there, and yours")


def keep(path: Path, cursor: Cursor, position: int) -> None:
    """Write the new position down, so that a reader finds the old file or the new one. Raises ConfigError."""
    made = msgspec.structs.replace(cursor, position=position, written=iso(time.time()))
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(made)) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise ConfigError(f"the cursor file {path} cannot be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


def _asked(choice: Choice) -> dict[str, Any]:
    asked = {"scraper": choice.scraper, "kind": choice.kind, "where": choice.where}
    return {name: value for name, value in asked.items() if value is not None}


def _told(asked: dict[str, Any]) -> str:
    return " ".join(f"--{name} {value}" for name, value in asked.items()) or "everything"


async def _born(store: Store) -> float:
    for number in range(1, _EARLY):
        run = await store.run(number)
        if run is not None:
            return run.created
    return 0.0
