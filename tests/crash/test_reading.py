"""Killed while items are held back, judged and let through: what is current in the end is what a quiet run leaves."""

from __future__ import annotations

import asyncio
import functools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gossamer.storage.archive import Archive, archive_of
from gossamer.storage.sqlite import SqliteStore
from gossamer.storage.store import Wanted
from tests.crash.chaos import ROOT, TOO_LONG, WIDTH, Place

pytestmark = pytest.mark.crash

SCRAPER = ROOT / "tests" / "crash" / "stall.py"
#: One after the other, each met by the process that goes on after the one before: before, between and after all that
#: is done when nothing is left to fetch.
MOMENTS = (
    "Archive.keep after 2",
    "SqliteStore.judge before 1",
    "SqliteStore.judge after 1",
    "SqliteStore._promote_group after 1",
    "SqliteStore._promote_group after 3",
    "SqliteStore.mark_gone after 1",
    "SqliteStore.end_run after 1",
)


class Stall:
    """A store, and the commands that work on it."""

    def __init__(self, place: Place, store: Path) -> None:
        self.place = place
        self.store = store

    def start(self, *words: str, season: str = "", strike: str = "") -> subprocess.Popen[str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith("GOSSAMER_")}
        env |= {"SEASON": season, "STRIKE": strike, "PYTHONPATH": str(ROOT)}
        pace = ("--rate", "none", "--per-host", str(WIDTH), "--concurrency", str(WIDTH))
        run = ("run", str(SCRAPER), "--param", f"at={self.place.url}", *pace)
        with self.store.with_suffix(".stderr").open("a") as stderr:
            return subprocess.Popen(
                [sys.executable, "-m", "tests.crash.struck", *(words or run), "--store", str(self.store)],
                cwd=self.store.parent,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                text=True,
                env=env,
            )

    def do(self, *words: str, **how: Any) -> int:
        code = self.start(*words, **how).wait(TOO_LONG)
        assert code in (0, 4, -signal.SIGKILL), self.said()
        return code

    def said(self) -> str:
        file = self.store.with_suffix(".stderr")
        return file.read_text() if file.exists() else ""

    def copy(self, folder: Path) -> Stall:
        for file in self.store.parent.glob("store.db*"):
            shutil.copy(file, folder)
        return Stall(self.place, folder / "store.db")

    def left(self) -> dict[str, Any]:
        assert "Traceback" not in self.said()
        return asyncio.run(_left(self.store))


async def _left(path: Path) -> dict[str, Any]:
    """All that is known of runs, items and pages, but for when and in which order it came. Nothing is there twice."""
    async with SqliteStore(str(path), owner=False) as store:
        runs = await store.runs()
        names = ("id", "state", "reason", "verdict", "pages", "items", "rejected", "failed", "skipped", "settled")
        left: dict[str, Any] = {"runs": [[getattr(run, name) for name in names] for run in runs]}
        left["alarms"] = [bool(judged and judged.alarm) for judged in [await store.judgement(run.id) for run in runs]]
        items = [item async for item in store.items(Wanted(gone=True))]
        left["items"] = Counter((i.kind, i.key, i.data, i.gone is None, i.times_seen) for i in items)
        for run in runs:
            held = [item async for item in store.items(Wanted(run=run.id, held=True))]
            left[f"held of {run.id}"] = Counter((i.kind, i.key, i.data) for i in held)
            seen = [item async for item in store.items(Wanted(run=run.id))]
            left[f"seen by {run.id}"] = Counter((i.kind, i.key) for i in seen)
        changes = [change async for change in store.changes(0.0)]
        left["changes"] = Counter((c.what, c.run, c.kind, c.key, c.before, c.after) for c in changes)
        left["rejects"] = Counter([(r.run, r.step, r.reason, r.data) async for r in store.rejects(None, None)])
        pages = [page async for page in store.pages()]
        left["pages"] = Counter((p["run"], p["url"], p["state"], p["reason"]) for p in pages)
    async with Archive(archive_of(str(path)), owner=False) as archive:
        kept = [page async for page in archive.pages(newest=False)]
        # A page that was kept and not settled is kept again: each is there once.
        left["archive"] = Counter((p.run, p.request.url, p.response.body) for p in kept)
    read = Counter((p["run"], p["url"]) for p in pages if p["reason"] in ("ok", "handler"))
    assert not read - Counter({(run, url): n for (run, url, _), n in left["archive"].items()})
    return left


@pytest.fixture(scope="module")
def learned(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Stall:
    """A store with three good runs."""
    stall = Stall(place, tmp_path_factory.mktemp("stall") / "store.db")
    place.again()
    for _ in range(3):
        assert stall.do() == 0, stall.said()
    return stall


@pytest.fixture(scope="module")
def quiet(learned: Stall, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """What an uninterrupted run of a season leaves."""

    @functools.cache
    def of(season: str) -> dict[str, Any]:
        stall = learned.copy(tmp_path_factory.mktemp(f"quiet-{season}"))
        assert stall.do(season=season) == {"sale": 0, "broken": 4}[season]
        if season == "broken":
            assert stall.do("drift", "accept", "4") == 0
        return stall.left()

    return of


def differences(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {name: (one.get(name), other[name]) for name in other if one.get(name) != other[name]}


def test_killed_at_every_turn_of_judging_a_good_run_leaves_what_a_quiet_one_does(
    learned: Stall, quiet: Callable[[str], dict[str, Any]], tmp_path: Path
) -> None:
    expected = quiet("sale")
    assert {what for what, *_ in expected["changes"]} == {"new", "changed", "gone"}
    stall = learned.copy(tmp_path)
    for moment in MOMENTS:
        assert stall.do(season="sale", strike=moment) == -signal.SIGKILL, f"{moment}: {stall.said()}"
    assert differences(stall.left(), expected) == {}


def test_killed_at_every_turn_of_judging_a_broken_run_it_is_suspect_and_what_is_accepted_comes_through(
    learned: Stall, quiet: Callable[[str], dict[str, Any]], tmp_path: Path
) -> None:
    expected = quiet("broken")
    stall = learned.copy(tmp_path)
    before = stall.left()
    for moment in ("SqliteStore._settle before 3", "SqliteStore.judge after 1", "SqliteStore.end_run after 1"):
        assert stall.do(season="broken", strike=moment) == -signal.SIGKILL, f"{moment}: {stall.said()}"
        now = stall.left()
        assert (now["items"], now["changes"]) == (before["items"], before["changes"])
    for moment in ("SqliteStore.decide after 1", "SqliteStore._promote_group after 2"):
        assert stall.do("drift", "accept", "4", strike=moment) == -signal.SIGKILL
    assert stall.do("drift", "accept", "4") == 0
    assert differences(stall.left(), expected) == {}


def test_killed_at_any_moment_a_held_run_leaves_what_a_quiet_one_does(
    learned: Stall, quiet: Callable[[str], dict[str, Any]], tmp_path: Path
) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # shown if it fails
    rng = random.Random(seed)
    expected, stall = quiet("sale"), learned.copy(tmp_path)
    for _ in range(3):
        process = stall.start(season="sale")
        time.sleep(rng.uniform(0.5, 2.0))
        process.kill()
        if process.wait(TOO_LONG) == 0 or stall.left()["runs"][0][:2] == [4, "finished"]:
            break
    else:
        assert stall.do(season="sale") == 0, stall.said()
    assert differences(stall.left(), expected) == {}
