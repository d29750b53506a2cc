"""The IETF's cookie cases through our jar: no change may score less than the last one did."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import corpora
from tests.suites import runners

pytestmark = pytest.mark.suite

#: Cookie headers exactly as expected, of 84.
FLOOR = 84


def cookies(suites: Path, adapter: str, python: str = sys.executable) -> runners.Scores:
    """Cookie headers sent after answers that set cookies."""
    return runners._run(python, suites / "cookies" / "run.py", "--adapter", adapter)


def test_no_score_falls() -> None:
    """Every case is answered exactly."""
    scores = cookies(corpora("suites"), "cookie_adapter:cookie")
    assert scores["cookies/shared: exact"][0] >= FLOOR
