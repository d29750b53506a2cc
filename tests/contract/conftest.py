"""The stores that the contract is held against. A new kind of store is one more line in KINDS."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from gossamer.storage.sqlite import MEMORY, SqliteStore
from gossamer.storage.store import Store

#: Opens one and the same store, as often as it is called.
Opener = Callable[[], AbstractAsyncContextManager[Store]]

#: Name -> what makes an opener of a new store, given a folder.
KINDS: dict[str, Callable[[Path], Opener]] = {
    "sqlite-file": lambda folder: lambda: SqliteStore(str(folder / "store.db")),
    "sqlite-memory": lambda folder: lambda: SqliteStore(MEMORY),
}
#: Those that are still there when opened again.
LASTING = [name for name in KINDS if name != "sqlite-memory"]


@pytest.fixture(params=KINDS)
def store(request: Any, tmp_path: Path) -> Opener:
    """A new store of each kind: `async with store() as opened`."""
    return KINDS[request.param](tmp_path)


@pytest.fixture(params=LASTING)
def lasting(request: Any, tmp_path: Path) -> Opener:
    """A new store of each kind that outlives its process."""
    return KINDS[request.param](tmp_path)
