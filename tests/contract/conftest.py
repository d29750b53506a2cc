"""The stores that the contract is held against. A new kind of store is one more line in KINDS."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from gossamer.storage.postgres import PostgresStore
from gossamer.storage.sqlite import MEMORY, SqliteStore
from gossamer.storage.store import Store
from tests.databases import postgres_url

#: Opens one and the same store, as often as it is called.
Opener = Callable[[], AbstractAsyncContextManager[Store]]


def _postgres(folder: Path) -> Opener:
    """A fresh database of a server that is started for the tests; where there is none, the test is skipped."""
    url = postgres_url()
    return lambda: PostgresStore(url, most=4)


#: Name -> what makes an opener of a new store, given a folder.
KINDS: dict[str, Callable[[Path], Opener]] = {
    "sqlite-file": lambda folder: lambda: SqliteStore(str(folder / "store.db")),
    "sqlite-memory": lambda folder: lambda: SqliteStore(MEMORY),
    "postgres": _postgres,
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
