"""What tests share: a local site, a fresh store, the command line as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from gossamer.testing import Site

ROOT = Path(__file__).parent.parent
#: Where the outside suites and fixtures are.
CORPORA = Path(os.environ.get("GOSSAMER_CORPORA", ROOT.parent / "shared")).resolve()


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Names of tests that are the same in every process: packed bytes hold the time they were packed at."""
    return f"{argname} of {len(val)} bytes" if isinstance(val, bytes) else None


@pytest.fixture
def site() -> Iterator[Site]:
    """A local site that serves what the test tells it to."""
    with Site() as started:
        yield started


@pytest.fixture(autouse=True)
def _log_as_new() -> None:
    """Whatever a test before this one wanted to hear of the log, this one hears what it asks for."""
    structlog.reset_defaults()


@pytest.fixture
def store(tmp_path: Path) -> str:
    """The path of a store that does not exist yet."""
    return str(tmp_path / "store.db")


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test works in a folder of its own, untouched by the settings of whoever runs it.

    Scraper files it imported there are forgotten: the next test has another `quotes.py`.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in [name for name in os.environ if name.startswith("GOSSAMER_") and name != "GOSSAMER_CORPORA"]:
        monkeypatch.delenv(name)
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def gossamer(tmp_path: Path) -> Cli:
    """The command `gossamer` as a process: `gossamer("crawl", url, "--json")`."""

    def call(*args: object, timeout: float = 60, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "gossamer", *map(str, args)],
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "200", **env},
        )

    return call


def corpora(*parts: str) -> Path:
    """A folder of the outside suites or fixtures; skips the test, saying why, where it is absent."""
    path = CORPORA.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is absent: set GOSSAMER_CORPORA to where the outside suites are")
    return path


def json_lines(text: str) -> list[Any]:
    """What a command printed, one JSON value a line."""
    return [json.loads(line) for line in text.splitlines() if line.strip()]
