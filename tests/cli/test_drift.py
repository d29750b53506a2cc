"""`gossamer drift` and `gossamer changes` where something is in the way: one sentence, and what to do."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gossamer.testing import Answer, Site
from tests.cli import typed

SHOP = """
from gossamer import Scraper

class Shop(Scraper):
    key = "name"
    rate = "none"
    drift = {drift!r}

    def start(self):
        return [self.params["site"]]

    def parse(self, page):
        for thing in page.css("li"):
            yield {{"name": thing.css("a").text, "price": thing.css(".price").text}}
"""


def things(mark: str = "price") -> str:
    return "".join(f"<li><a>Thing {n}</a> <b class={mark}>£{n}.50</b></li>" for n in range(20))


@pytest.fixture
def broken(site: Site, request: Any) -> tuple[str, ...]:
    """Three good runs, and the command that makes a broken one."""
    Path("shop.py").write_text(SHOP.format(drift=getattr(request, "param", "quarantine")))
    command = ("run", "shop.py", "--param", f"site={site.url('/')}")
    site.page("/", things())
    for _ in range(3):
        assert typed(*command).returncode == 0
    site.page("/", things("amount"))
    return command


def test_a_run_is_decided_on_once_and_not_while_another_works(site: Site, broken: tuple[str, ...]) -> None:
    said = typed(*broken)
    assert (said.returncode, "so its items are held back" in said.stderr) == (4, True)
    site.handler("/", lambda hit: Answer(body=things("amount"), latency=2.0))
    with subprocess.Popen([sys.executable, "-m", "gossamer", *broken], stderr=subprocess.DEVNULL) as running:
        deadline = time.monotonic() + 20
        while "pending" not in typed("drift").stdout and time.monotonic() < deadline:
            time.sleep(0.05)
        busy = typed("drift", "accept", "4")
        assert (busy.returncode, "is in use by process" in busy.stderr) == (2, True)
        running.wait(30)
    assert typed("drift", "accept").stderr == "gossamer: 2 runs are suspect (5, 4): say which one\n"
    assert "run 4 (shop) is accepted: 20 items came through" in typed("drift", "accept", "4").stderr
    for word in ("accept", "reject"):
        again = typed("drift", word, "4")
        assert (again.returncode, again.stderr) == (
            2,
            "gossamer: run 4 is not suspect but accepted: nothing to decide\n",
        )
    assert "discarded" in typed("drift", "reject").stderr
    assert typed("drift", "accept").stderr == "gossamer: no run is suspect: nothing to decide\n"


@pytest.mark.parametrize("broken", ["warn"], indirect=True)
def test_where_it_only_warns_nothing_is_said_to_be_held_back(broken: tuple[str, ...]) -> None:
    said = typed(*broken)
    assert (said.returncode, "suspect" in said.stderr, "held back" in said.stderr) == (4, True, False)
    story = typed("drift", "4").stdout
    assert "suspect; nothing of it is held back" in story
    assert "--held" not in story
    assert "nothing of it was held back" in typed("drift", "reject", "4").stderr


def test_a_store_that_is_not_there_is_not_made() -> None:
    for words in (("drift",), ("drift", "accept"), ("drift", "reject", "1"), ("changes",), ("rejects",)):
        said = typed(*words)
        assert (said.returncode, said.stderr.startswith("gossamer: there is no store at gossamer.db")) == (2, True)
    assert not Path("gossamer.db").exists()


@pytest.mark.parametrize("since", ["nonsense", "-1d", "", "0", "nan", "9" * 30 + "d"])
def test_an_age_that_cannot_be_read_is_told(since: str) -> None:
    said = typed("changes", f"--since={since}")
    assert (said.returncode, said.stderr) == (
        2,
        f"gossamer: --since {since!r} cannot be used: write an age like 6h, 1d or 7d, or all\n",
    )
