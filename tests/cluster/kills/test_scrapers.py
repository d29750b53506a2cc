"""Scrapers that are not where they should be, that block, that end their process: they cost only themselves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cluster.kills.stage import Stage

pytestmark = [pytest.mark.crash, pytest.mark.timeout(300)]

#: It must not be made where it is asked for, only where it is walked.
LEAVES = """
import os, sys
from gossamer import Scraper


class Leaves(Scraper):
    name = "leaves"
    start_urls = ["http://127.0.0.1:9/"]

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        if "station_process" in " ".join(sys.orig_argv):
            sys.exit(3)

    def parse(self, page):
        yield {}
"""
SLEEPS = """
import time
from gossamer import Scraper


class Sleeps(Scraper):
    name = "sleeps"

    def start(self):
        time.sleep(20)
        yield "http://127.0.0.1:9/"

    def parse(self, page):
        yield {}
"""


def test_a_scraper_is_known_by_its_name_where_its_file_lies_elsewhere(tmp_path: Path) -> None:
    """Whoever asks may be another machine, with other folders. Of those who walk, the ones that have it do."""
    with Stage(tmp_path) as stage:
        elsewhere = tmp_path / "laptop"
        elsewhere.mkdir()
        os.rename(tmp_path / "graph.py", elsewhere / "graph.py")
        run = stage.start(scraper="laptop/graph.py")
        os.rename(elsewhere / "graph.py", tmp_path / "graph.py")
        stage.workers(2)
        stage.check(run)


def test_a_scraper_that_no_worker_has_fails_and_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with Stage(tmp_path) as stage:
        (tmp_path / "gone.py").write_text(LEAVES.replace("leaves", "gone"))
        run = stage.start(scraper="gone.py")
        (tmp_path / "gone.py").unlink()
        stage.workers(2)
        ended = stage.until_ended(run)
        assert ended["state"] == "failed"
        assert "there is no file" in ended["reason"]
        assert f"knows no scraper 'gone' either (in {tmp_path})" in ended["reason"]


def test_one_that_ends_its_process_and_one_that_blocks_hold_nobody_up(tmp_path: Path) -> None:
    with Stage(tmp_path, pages=300) as stage:
        stage.workers(1)
        for name, text in (("leaves.py", LEAVES), ("sleeps.py", SLEEPS)):
            (tmp_path / name).write_text(text)
        run, leaves, sleeps = stage.start(), stage.start(scraper="leaves.py"), stage.start(scraper="sleeps.py")
        starting = f"select 1 from run where id = {sleeps} and state = 'running' and seeded = 0"
        stage.until(lambda: bool(stage.rows(starting)), "start() is called")
        pages = stage.pages_of(run)
        stage.until_pages(run, pages + 30)
        assert stage.rows(starting), "the other run went on only when start() had ended"
        ended = stage.until_ended(leaves)
        assert (ended["state"], ended["reason"]) == ("failed", "config: Leaves cannot be made: SystemExit: 3")
        assert stage.until_ended(sleeps)["reason"] == "start_failed"
        stage.check(run)
        assert "station.died" not in stage.told()
