"""The sitemaps suite through our reader."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import corpora

pytestmark = pytest.mark.suite


def test_every_sitemap_of_the_suite_is_read() -> None:
    """The runner fails once it has told this score: it opens a file that is kept from us."""
    done = subprocess.run(
        [sys.executable, str(corpora("suites", "sitemaps", "run.py")), "--adapter", "sitemap_adapter:locations"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent), "PYTHONUNBUFFERED": "1"},
    )
    told = re.search(r"^scrapy-sitemap (\d+)/(\d+)$", done.stdout, re.MULTILINE)
    assert told, done.stderr[-2000:]
    assert told.groups() == ("11", "11"), done.stdout
