"""No browser outlives us: whatever is killed, no process and no folder is left."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.fetch import keeper
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.agents import Identity
from gossamer.fetch.browser import Browser
from gossamer.fetch.way import Way
from gossamer.settings import ScraperConfig
from gossamer.testing import Site
from gossamer.values import Request

pytestmark = [pytest.mark.crash, pytest.mark.usefixtures("chromium")]

CHILD = """
import asyncio, sys
from gossamer import telemetry
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.agents import Identity
from gossamer.fetch.browser import Browser
from gossamer.fetch.way import Way
from gossamer.settings import ScraperConfig
from gossamer.values import Request

async def main():
    async with Browser() as browser:
        way = Way(Identity("x"), Addresses(private=True))
        await browser.fetch(Request(sys.argv[1]), ScraperConfig(), way)
        print(browser._current.folder, flush=True)
        if sys.argv[2] == "stay":
            await asyncio.sleep(600)

telemetry.configure_unless_done()
asyncio.run(main())
"""


class Child:
    """A process of ours, with a browser that has shown a page."""

    def __init__(self, url: str, then: str, tmp: Path) -> None:
        self.tmp = tmp
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD, url, then],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "TMPDIR": str(tmp)},
        )
        assert self.process.stdout is not None
        self.folder = self.process.stdout.readline().strip()
        self.drivers = keeper.drivers_of(self.process.pid)
        self.group = self._group()

    def _group(self) -> list[int]:
        """Every process below ours, the keeper aside."""
        parents = {pid: parent for pid, parent, _ in keeper.processes()}
        below = {self.process.pid}
        while more := {pid for pid, parent in parents.items() if parent in below} - below:
            below |= more
        return sorted(below - {self.process.pid})

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextlib.contextmanager
def child(site: Site, then: str, tmp: Path) -> Iterator[Child]:
    site.page("/", "<p>x</p>")
    made = Child(site.url("/"), then, tmp)
    try:
        yield made
    finally:
        made.close()


def alive(pids: list[int]) -> list[int]:
    """Those that still run; one that is dead and not yet buried does not."""
    return [pid for pid in pids if _state(pid) not in ("", "Z", "X")]


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]
    except OSError:
        return ""


def assert_nothing_left(left: Child) -> None:
    """Within a few seconds."""
    until = time.monotonic() + 15
    while time.monotonic() < until and (alive(left.group) or list(left.tmp.iterdir())):
        time.sleep(0.05)
    assert alive(left.group) == []
    assert keeper.living(left.folder) == set()
    assert list(left.tmp.iterdir()) == []


@pytest.fixture
def tmp(tmp_path: Path) -> Iterator[Path]:
    """A short one: Chromium puts a socket there, whose path may have 108 characters."""
    with tempfile.TemporaryDirectory(prefix="gr-", ignore_cleanup_errors=True) as made:
        yield Path(made)


def test_a_clean_end_leaves_nothing(site: Site, tmp: Path) -> None:
    with child(site, "end", tmp) as ours:
        assert ours.process.wait(20) == 0
        assert list(tmp.iterdir()) == []
        assert_nothing_left(ours)


@pytest.mark.parametrize("whole_group", [False, True])
def test_kill_9_leaves_nothing(site: Site, tmp: Path, whole_group: bool) -> None:
    """Ours alone, or all in its process group, the driver too."""
    with child(site, "stay", tmp) as ours:
        assert len(ours.group) > 3
        assert len(ours.drivers) == 1
        assert Path(ours.folder).is_dir()
        if whole_group:
            os.killpg(ours.process.pid, signal.SIGKILL)
        else:
            ours.process.kill()
        ours.process.wait(10)
        assert_nothing_left(ours)


def test_a_killed_browser_is_replaced(site: Site) -> None:
    """Its driver, or itself."""
    site.page("/", "<p>x</p>")
    way, config = Way(Identity("x"), Addresses(private=True)), ScraperConfig()

    async def main() -> None:
        async with Browser() as browser:
            for kill_driver in (True, False):
                await browser.fetch(Request(site.url("/")), config, way)
                now = browser._current
                assert now is not None
                assert now.folder is not None
                for pid in keeper.drivers_of(os.getpid()) if kill_driver else keeper.living(now.folder):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                await asyncio.sleep(0.2)
            assert b"<p>x</p>" in (await browser.fetch(Request(site.url("/")), config, way)).body

    asyncio.run(main())


def test_folders_whose_keeper_was_killed_too_are_swept_up(tmp: Path) -> None:
    stale, young, other = (tmp / f"{keeper.PREFIX}{name}" for name in ("stale", "young", "locked"))
    for folder in (stale, young, other):
        folder.mkdir()
        (folder / "profile").mkdir()
    lock = keeper._locked(str(other))
    for folder in (stale, other):
        os.utime(folder, (0, 0))
    sleeper = subprocess.Popen(["sleep", "60"], env={"TMPDIR": str(stale), "PATH": os.environ["PATH"]})
    keeper.sweep(str(tmp))
    assert sleeper.wait(5) == -signal.SIGKILL
    assert (stale.exists(), young.exists(), other.exists()) == (False, True, True)
    assert lock is not None
    os.close(lock)
