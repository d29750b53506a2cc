"""A store of each kind, for what holds of both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import stores


@pytest.fixture(params=stores.KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty store of each kind."""
    stores.choose(request.param)
    yield stores.at(tmp_path / "store.db")
    stores.choose(stores.USUAL)
