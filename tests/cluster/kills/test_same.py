"""One scraper, every place: the same items, byte for byte, from SQLite, from PostgreSQL and from two workers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.demo.sites import DemoSites
from tests.cluster.kills.stage import Stage
from tests.databases import postgres_url

# The museum is slow, and slower still where its answers are: on a busy machine.
pytestmark = [pytest.mark.crash, pytest.mark.timeout(900)]

#: The demo scrapers, and the sites they are at home on.
SCRAPERS = {"Books": "bookshop", "Weather": "weather", "Museum": "museum"}


@pytest.fixture(scope="module")
def demo() -> Iterator[DemoSites]:
    with DemoSites(remember=False) as sites:
        yield sites


def words(demo: DemoSites, scraper: str) -> list[str]:
    site = f"http://{demo.hosts()[SCRAPERS[scraper]]}/"
    return ["run", f"gossamer.demo.scrapers:{scraper}", "--param", f"site={site}"]


def exported(folder: Path, demo: DemoSites, store: str) -> bytes:
    """Everything that the three scrapers find, walked by one process each."""
    for scraper in SCRAPERS:
        gossamer(folder, *words(demo, scraper), "--store", store)
    return gossamer(folder, "export", "items", "--sort", "key", "--store", store)


def gossamer(folder: Path, *given: str) -> bytes:
    done = subprocess.run(
        [sys.executable, "-m", "gossamer", *given], cwd=folder, capture_output=True, env=os.environ, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_the_demo_scrapers_find_the_same_wherever_they_run(tmp_path: Path, demo: DemoSites) -> None:
    (tmp_path / "alone").mkdir()
    (tmp_path / "shared").mkdir()
    on_sqlite = exported(tmp_path / "alone", demo, "alone.db")
    assert on_sqlite.count(b"\n") > 100
    assert exported(tmp_path / "alone", demo, postgres_url()) == on_sqlite
    with Stage(tmp_path / "shared", hosts=1, pages=1) as stage:
        stage.workers(2)
        for scraper in SCRAPERS:
            gossamer(stage.folder, *words(demo, scraper), "--cluster")
        assert gossamer(stage.folder, "export", "items", "--sort", "key") == on_sqlite
