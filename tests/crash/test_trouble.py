"""What a machine does to a crawl: a full disk, a store that may not be written, a clock that goes backwards,
SIGTERM, a power cut. The run stops in good order or goes on; the same command then completes it.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gossamer.testing import Answer, Hit, Site
from tests.crash.chaos import GOSSAMER, ROOT, TOO_LONG, Job, Place, Quiet, left, told

pytestmark = pytest.mark.crash

QuietOf = Callable[[Job], Quiet]


def wait_until(event: Callable[[], bool]) -> None:
    """Wait for something that must come soon."""
    deadline = time.monotonic() + TOO_LONG / 2
    while not event():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.002)


def complete(job: Job, store: Path, quiet: Quiet) -> None:
    """The same command again completes the run, with the data of a quiet one."""
    assert job.start(store).wait(TOO_LONG) == 0, told(store).read_text()
    assert left(store).differs(quiet.left) == []


def one_sentence(stderr: str) -> str:
    """What was told, which must be no more than a line for a person."""
    lines = [line for line in stderr.splitlines() if line.startswith("gossamer: ")]
    assert len(lines) == 1, stderr
    assert "Traceback" not in stderr
    assert "Error" not in stderr
    return lines[0]


# -- disk full -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [0, 20_000, 150_000, 400_000])
def test_on_a_full_disk_a_crawl_stops_with_a_sentence_and_goes_on_when_there_is_room(
    place: Place, crawl_job: Job, quiet: QuietOf, tmp_path: Path, room: int
) -> None:
    """Whether it fills up while the store is made, filled or ended: code 2, no stack trace, nothing lost."""
    expected = quiet(crawl_job)
    place.again()
    store = tmp_path / "store.db"
    # A pipe for stderr: there may be no room for that either.
    process = crawl_job.start(store, stderr=subprocess.PIPE)
    # No file of this process may grow beyond this; Python ignores the signal, so writes fail as on a full disk.
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (room, room))
    _, stderr = process.communicate(timeout=TOO_LONG)
    assert process.returncode == 2, stderr
    assert str(store) in one_sentence(stderr)
    complete(crawl_job, store, expected)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for little."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(folder)], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_really_full_is_called_full(
    place: Place, crawl_job: Job, quiet: QuietOf, small_disk: Path
) -> None:
    """The system says so, and we pass it on; with more room the same command completes."""
    expected = quiet(crawl_job)
    place.again()
    store = small_disk / "store.db"
    process = crawl_job.start(store, stderr=subprocess.PIPE)
    _, stderr = process.communicate(timeout=TOO_LONG)
    assert process.returncode == 2, stderr
    assert "is full: free some space" in one_sentence(stderr)
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    complete(crawl_job, store, expected)


# -- read-only -------------------------------------------------------------------------------------------------


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Path]:
    """A folder in which one may look, not write."""
    folder = tmp_path / "guarded"
    folder.mkdir(mode=0o555)
    yield folder
    folder.chmod(0o755)


#: Root may write whatever the rights say; without this one capability it may not (PR_CAPBSET_DROP, CAP_DAC_OVERRIDE).
_AS_OTHERS = "import ctypes, os, sys; ctypes.CDLL(None).prctl(24, 1); os.execv(sys.argv[1], sys.argv[1:])"


def bound_by_rights(*args: object) -> subprocess.CompletedProcess[str]:
    """`gossamer`, to which the rights of files and folders apply even if root calls it."""
    command = [sys.executable, "-c", _AS_OTHERS, GOSSAMER, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=TOO_LONG, cwd="/")


def test_a_folder_that_may_not_be_written_is_refused_in_a_sentence(place: Place, guarded: Path) -> None:
    """Before anything is asked of the site."""
    place.again()
    refused = bound_by_rights("crawl", place.url + "/p/0", "--store", guarded / "store.db")
    assert refused.returncode == 2
    assert "cannot be written" in one_sentence(refused.stderr)
    assert not place.asked()


@pytest.mark.parametrize("killed", [False, True], ids=["ended", "killed"])
def test_a_store_that_may_not_be_written_is_refused_to_crawls_and_shown_to_readers(
    place: Place, crawl_job: Job, guarded: Path, killed: bool
) -> None:
    """Whether the run in it has ended or was killed and left its write-ahead log."""
    place.again()
    store = guarded / "store.db"
    guarded.chmod(0o755)
    process = crawl_job.start(store)
    wait_until(lambda: process.poll() is not None or (killed and len(place.asked()) > 60))
    process.kill()
    process.wait()
    told(store).unlink()
    for file in guarded.iterdir():
        file.chmod(0o444)
    guarded.chmod(0o555)
    refused = bound_by_rights(*crawl_job.args, "--store", store)
    assert refused.returncode == 2
    assert "cannot be written" in one_sentence(refused.stderr)
    shown = bound_by_rights("export", "pages", "--store", store)
    assert shown.returncode == 0, shown.stderr
    assert len(shown.stdout.splitlines()) == left(store).pages.total()


# -- the clock -------------------------------------------------------------------------------------------------


class Clocked:
    """A crawl of a site under a clock that can be set."""

    def __init__(self, site: Site, folder: Path) -> None:
        self._clock = folder / "clock"
        self._store = folder / "store.db"
        self._url = site.url("/")
        self.set(0)

    def set(self, wrong_by: float) -> None:
        """Let the clock be wrong by so many seconds from now on."""
        # Never empty, even for a moment: it is read all the time.
        fresh = self._clock.with_suffix(".new")
        fresh.write_text(str(wrong_by))
        fresh.replace(self._clock)

    def start(self) -> subprocess.Popen[bytes]:
        """Start the crawl, or go on with it."""
        crawl = ["crawl", self._url, "--rate", "none", "--quiet", "--store", str(self._store)]
        return subprocess.Popen(
            [sys.executable, "-m", "tests.crash.clocked", *crawl],
            cwd=ROOT,
            env={**os.environ, "CLOCK": str(self._clock)},
        )

    def pages(self) -> int:
        """Pages fetched and read."""
        return int(left(self._store).counters["pages"])


def test_a_clock_set_back_does_not_hold_up_retries(site: Site, tmp_path: Path) -> None:
    """Pages that wait to be tried again wait as long as they were to, not an hour more."""
    clocked = Clocked(site, tmp_path)
    later = threading.Timer(0.05, clocked.set, [-3600])
    tries: dict[str, int] = {}

    def busy_at_first(hit: Hit) -> Answer:
        if not tries:
            later.start()
        tries[hit.path] = tries.get(hit.path, 0) + 1
        return Answer(status=408 if tries[hit.path] < 3 else 200)  # which opens no breaker

    # Many, so that some of them surely wait when the clock is set.
    site.page("/", "".join(f"<a href='/busy/{n}'>x</a>" for n in range(20)))
    site.handler("/busy/*", busy_at_first)
    assert clocked.start().wait(20) == 0
    assert clocked.pages() == 21


def test_a_clock_set_back_between_two_starts_holds_nothing_up_and_breaks_no_promise(site: Site, tmp_path: Path) -> None:
    """A wait that was promised to a host is kept, from the new start on; not an hour longer."""
    clocked = Clocked(site, tmp_path)
    site.page("/", "<a href='/busy'>x</a>")
    site.flaky("/busy", status=429, retry_after="2")
    clocked.set(3600)
    process = clocked.start()
    wait_until(lambda: "/busy" in site.paths())
    time.sleep(0.3)  # for the answer to be settled
    process.kill()
    process.wait()
    clocked.set(0)
    assert clocked.start().wait(20) == 0
    assert clocked.pages() == 2
    first, second = (hit.at for hit in site.hits if hit.path == "/busy")
    assert second - first >= 2


# -- SIGTERM ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [1, 2], ids=["in good order", "at once"])
def test_sigterm_ends_with_code_130_and_the_same_command_goes_on(
    place: Place, crawl_job: Job, quiet: QuietOf, tmp_path: Path, times: int
) -> None:
    """Asked once, walks finish and nothing is fetched twice; asked twice, it stops at once. Nothing is lost."""
    expected = quiet(crawl_job)
    place.again()
    store = tmp_path / "store.db"
    process = crawl_job.start(store)
    wait_until(lambda: len(place.asked()) > 60)
    for _ in range(times):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.005)
    assert process.wait(10) == 130
    assert "the same command" in told(store).read_text()
    assert left(store).counters["state"] == "cancelled"
    complete(crawl_job, store, expected)
    again = (place.asked() - expected.asked).total()
    assert again == 0 if times == 1 else again <= 16


# -- a power cut -----------------------------------------------------------------------------------------------


def test_after_a_power_cut_the_store_is_whole_and_the_run_goes_on(
    place: Place, crawl_job: Job, quiet: QuietOf, tmp_path: Path
) -> None:
    """What a disk may hold then: the files as they were, or without the end of the log, or with rubbish there."""
    expected = quiet(crawl_job)
    place.again()
    rng = random.Random()
    store = tmp_path / "store.db"
    process = crawl_job.start(store)
    copies = []
    for n in range(3):
        wait_until(lambda n=n: len(place.asked()) > 40 + 60 * n)
        process.send_signal(signal.SIGSTOP)
        copies.append(_copy(store, tmp_path / f"copy{n}.db"))
        process.send_signal(signal.SIGCONT)
    assert process.wait(TOO_LONG) == 0
    for copy, damage in zip(copies, (_none, _cut, _spoil), strict=True):
        damage(Path(f"{copy}-wal"), rng)
        with sqlite3.connect(copy) as db:
            assert db.execute("pragma integrity_check").fetchall() == [("ok",)]
        db.close()
        found = left(copy)
        done = sum(n for page, n in found.pages.items() if page[1] == "done")
        assert done == found.counters["pages"] == found.counters["items"] == found.items.total()
        complete(crawl_job, copy, expected)


def _copy(store: Path, to: Path) -> Path:
    for end in ("", "-wal"):
        shutil.copyfile(f"{store}{end}", f"{to}{end}")
    return to


def _none(log: Path, rng: random.Random) -> None:
    """The disk had everything."""


def _cut(log: Path, rng: random.Random) -> None:
    """The last writes never reached the disk."""
    size = log.stat().st_size
    os.truncate(log, size - rng.randrange(size // 3))


def _spoil(log: Path, rng: random.Random) -> None:
    """The last writes reached the disk in part."""
    with log.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(size - rng.randrange(size // 3))
        file.write(rng.randbytes(2000))
