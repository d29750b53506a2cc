"""Log files: whole lines, in the right files, turned over, whoever else writes and whatever the disk does."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from gossamer import logfiles, telemetry
from gossamer.errors import ConfigError
from gossamer.logfiles import BACKUPS, LONGEST_LINE, LogFiles, files_for, line
from gossamer.telemetry import log


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder for logs; the world's logging is put back afterwards."""
    level = logging.getLogger().level
    yield tmp_path / "logs"
    telemetry.close()
    structlog.reset_defaults()
    logging.getLogger().setLevel(level)


def events_of(path: Path) -> list[dict[str, Any]]:
    """Every line of a file and of its old ones, oldest first: each is a whole JSON object."""
    old = sorted(path.parent.glob(f"{path.name}.*"), key=lambda each: -int(each.suffix[1:]))
    return [json.loads(text) for each in (*old, path) if each.exists() for text in each.read_bytes().splitlines()]


def names_of(folder: Path, name: str) -> list[str]:
    return [event["event"] for event in events_of(folder / f"{name}.log")]


def test_all_files_are_there_from_the_start(folder: Path) -> None:
    LogFiles(folder).close()
    assert sorted(path.name for path in folder.glob("*.log")) == sorted(f"{name}.log" for name in BACKUPS)


# -- which file --------------------------------------------------------------------------------------------------


def test_events_go_where_they_belong(folder: Path) -> None:
    shown: list[str] = []
    telemetry.configure("debug", "json", shown.append, folder=folder)
    log.debug("walk.done", run=1, scraper="shop")
    log.info("run.end", run=1, scraper="shop")
    log.error("sink.broken", run=1, scraper="shop")
    log.info("store.slow", seconds=2)
    log.debug("lease.not_released", run=1)
    log.critical("process.crashed")
    telemetry.close()
    everything = ["walk.done", "run.end", "sink.broken", "store.slow", "lease.not_released", "process.crashed"]
    assert names_of(folder, "all") == everything
    assert names_of(folder, "errors") == ["sink.broken", "process.crashed"]
    assert names_of(folder, "scrapers") == ["run.end", "sink.broken"]
    assert names_of(folder, "database") == ["store.slow", "lease.not_released"]
    assert [json.loads(text)["event"] for text in shown] == everything


def test_a_line_says_when_how_bad_what_and_of_which_run(folder: Path) -> None:
    telemetry.configure("warning", "human", lambda text: None, folder=folder)
    with structlog.contextvars.bound_contextvars(run=3, scraper="shop"):
        log.warning("page.unreadable", url="http://a.org/ä", why="no price", n=1 << 70, odd={1, 2})
    telemetry.close()
    text = (folder / "scrapers.log").read_text()
    begins = (
        r'\{"timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z","level":"warning","event":"page\.unreadable","run":3,'
    )
    assert re.match(begins + '"scraper":"shop",', text.replace(" ", ""))
    event = json.loads(text)
    assert (event["url"], event["why"], int(event["n"])) == ("http://a.org/ä", "no price", 1 << 70)


@pytest.mark.parametrize(
    ("level", "shown", "kept"),
    [("debug", "diwe", "diwe"), ("info", "iwe", "iwe"), ("warning", "we", "iwe"), ("error", "e", "iwe")],
)
def test_files_have_info_and_above_and_debug_where_that_is_asked_for(
    folder: Path, level: str, shown: str, kept: str
) -> None:
    lines: list[str] = []
    telemetry.configure(level, "json", lines.append, folder=folder)
    for say in (log.debug, log.info, log.warning, log.error):
        say(say.__name__[0])
    telemetry.close()
    assert "".join(json.loads(text)["event"] for text in lines) == shown
    assert "".join(names_of(folder, "all")) == kept


def test_who_only_keeps_events_is_not_told_of_every_page(folder: Path) -> None:
    telemetry.configure("warning", "human", lambda text: None, hear=lambda event: None)
    assert not telemetry.heard("info")
    telemetry.configure("warning", "human", lambda text: None, folder=folder)
    assert telemetry.heard("info")
    assert not telemetry.heard("debug")


def test_what_libraries_say_is_there_too(tmp_path: Path) -> None:
    code = """
import logging
from gossamer import telemetry
telemetry.configure("warning", "human", folder="logs")
logging.getLogger("uvicorn").info("quiet")
logging.getLogger("uvicorn").warning("slow %s", "http://u:p@a/")
try:
    1 / 0
except ZeroDivisionError:
    logging.getLogger("alembic.runtime").exception("odd")
logging.getLogger("broken").warning("%d", "no number")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=30)
    events = events_of(tmp_path / "logs" / "all.log")
    assert [(event["level"], event["logger"]) for event in events] == [
        ("warning", "uvicorn"),
        ("error", "alembic.runtime"),
    ]
    assert events[0]["why"] == "slow http://***@a/"
    assert "ZeroDivisionError" in events[1]["exception"]
    assert names_of(tmp_path / "logs", "database") == ["library"]
    assert "why='slow http://***@a/'" in done.stderr
    assert "quiet" not in done.stderr


# -- what a page may say -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "a\nb",
        'x"}\n{"event":"run.end"}',
        "\x1b[31mred",
        "a\r\nb",
        "\x00",
        "\x85",
        "\u2028",
        "\u202ekcab",
        "\ud800",
        "\x9b2J",
    ],
)
def test_nothing_a_page_says_makes_a_line_of_its_own_or_moves_a_cursor(text: str) -> None:
    made = line({"event": f"x{text}", text: 1, "why": text, "deep": {"a": [text]}})
    assert made.endswith(b"}\n")
    assert made[:-1].decode().isprintable()
    assert json.loads(made)["why"] == text


def test_a_huge_event_becomes_a_short_line(folder: Path) -> None:
    files = LogFiles(folder)
    files.take({"event": "x" * 100_000, "run": 3, "level": "info", "why": "y" * 100_000})
    files.close()
    event = events_of(folder / "all.log")[0]
    assert (event["run"], event["level"], len(event["event"]), event["cut"]) == (3, "info", 200, "200,044 characters")
    assert (folder / "all.log").stat().st_size < LONGEST_LINE


def test_what_cannot_be_written_as_json_harms_nobody(folder: Path) -> None:
    class Odd:
        def __str__(self) -> str:
            raise ValueError

    deep: list[Any] = []
    deep.append(deep)
    files = LogFiles(folder)
    for value in (Odd(), deep, {(1, 2): 3}, float("nan"), 1 << 100, b"\xff"):
        files.take({"event": "x", "value": value})
    files.take({"event": "y"})
    files.close()
    assert names_of(folder, "all")[-1] == "y" or files.lost
    assert "y" in names_of(folder, "all")


# -- turning over ------------------------------------------------------------------------------------------------


def test_files_are_turned_over_and_the_oldest_go(folder: Path) -> None:
    files = LogFiles(folder, largest=2_000)
    for n in range(400):
        files.take({"event": "run.end", "level": "error", "run": 1, "n": n, "pad": "x" * 50})
        if n % 5 == 0:
            files.flush()
    files.close()
    for name, kept in {**BACKUPS, "database": 0}.items():
        there = sorted(path.name for path in folder.glob(f"{name}.log*"))
        assert there == sorted([f"{name}.log"] + [f"{name}.log.{n + 1}" for n in range(kept)])
        assert all((folder / each).stat().st_size <= 2_000 for each in there)
        if name != "database":
            numbers = [event["n"] for event in events_of(folder / f"{name}.log")]
            assert numbers == list(range(numbers[0], 400))
    assert {oct(path.stat().st_mode)[-3:] for path in folder.iterdir()} == {"600"}


WRITER = """
import sys
from gossamer.logfiles import LogFiles
files = LogFiles("logs", largest=int(sys.argv[2]), backups={"all": 1000, "errors": 3, "scrapers": 1000, "database": 1})
for n in range(int(sys.argv[3])):
    files.take({"event": "x", "level": "info", "who": sys.argv[1], "n": n, "run": 1, "pad": "p" * (n % 97)})
    if n % 50 == 0:
        import time; time.sleep(0.002)
files.close()
print(files.lost)
"""


def test_two_processes_write_to_one_folder_and_no_line_is_lost_torn_or_doubled(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER]
    writers = [
        subprocess.Popen([*command, who, "8000", "3000"], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        for who in "abc"
    ]
    assert [writer.communicate(timeout=50)[0] for writer in writers] == ["0\n"] * 3
    for name in ("all", "scrapers"):
        events = events_of(tmp_path / "logs" / f"{name}.log")
        assert len(list((tmp_path / "logs").glob(f"{name}.log.*"))) > 5
        for who in "abc":
            assert [event["n"] for event in events if event["who"] == who] == list(range(3000))


def test_a_process_that_is_killed_leaves_at_most_half_a_line_which_the_next_one_ends(folder: Path) -> None:
    folder.mkdir()
    (folder / "all.log").write_bytes(b'{"event":"whole"}\n{"event":"ha')
    files = LogFiles(folder)
    files.take({"event": "next"})
    files.close()
    lines = (folder / "all.log").read_bytes().splitlines()
    assert [lines[0], lines[1], json.loads(lines[2])["event"]] == [b'{"event":"whole"}', b'{"event":"ha', "next"]


def test_a_file_that_somebody_takes_away_is_made_again(folder: Path) -> None:
    files = LogFiles(folder)
    files.take({"event": "a"})
    files.flush()
    (folder / "all.log").rename(folder / "moved")
    files.take({"event": "b"})
    files.close()
    assert names_of(folder, "all") == ["b"]


def test_no_link_leads_elsewhere(folder: Path, tmp_path: Path) -> None:
    folder.mkdir()
    (tmp_path / "precious").write_text("precious")
    (folder / "all.log").symlink_to(tmp_path / "precious")
    files = LogFiles(folder)
    files.take({"event": "x"})
    files.close()
    assert (tmp_path / "precious").read_text() == "precious"
    assert files.lost == 1


# -- trouble -----------------------------------------------------------------------------------------------------

FULL = """
import resource, signal
from gossamer import telemetry
telemetry.configure("warning", "human", folder="logs")
telemetry.log.info("before", pad="x" * 3000)
telemetry.flush()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
for n in range(50):
    telemetry.log.info("during", n=n, pad="y" * 500)
telemetry.flush()
print("still here", telemetry.lost() > 0)
"""


def test_a_full_disk_costs_lines_and_nothing_else(tmp_path: Path) -> None:
    """Played by a limit on the size of files, at which the system writes half of what it is given, and then refuses."""
    done = subprocess.run([sys.executable, "-c", FULL], cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert done.stdout == "still here True\n", done.stderr
    assert done.stderr.count("cannot be written") == 1
    assert "events are lost" in done.stderr
    assert names_of(tmp_path / "logs", "all") == ["before", "log.lost"]  # and no half of a line


def test_what_was_lost_is_said_when_there_is_room_again(folder: Path) -> None:
    files = LogFiles(folder)
    files.lost = 7
    files.take({"event": "x"})
    files.close()
    told = events_of(folder / "all.log")
    assert [event["event"] for event in told] == ["x", "log.lost"]
    assert told[1]["events"] == 7


def test_who_logs_never_waits_for_the_disk(folder: Path) -> None:
    """Somebody holds the folder's lock, as one does whose disk hangs: events are taken, and beyond a bound lost."""
    files = LogFiles(folder)
    with (folder / ".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        began = time.process_time()
        for n in range(20_000):
            files.take({"event": "x", "n": n, "pad": "p" * 1000})
        assert files.lost > 5_000
        assert files._size < logfiles.MOST_WAITING + 2_000
        assert time.process_time() - began < 10
    files.close()
    events = events_of(folder / "all.log")
    assert len([event for event in events if event["event"] == "x"]) == 20_000 - files.lost


def test_a_folder_that_cannot_be_used_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"log folder .*file/logs cannot be used .*: give another as log_dir"):
        telemetry.configure("info", "human", folder=tmp_path / "file" / "logs")


def test_stderr_that_cannot_be_written_ends_nothing(tmp_path: Path) -> None:
    code = "from gossamer import telemetry as t\nt.configure('info', 'human')\nt.log.info('x')\nprint('still here')"
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=full, text=True, timeout=30)
    assert done.stdout == "still here\n"


def test_what_an_exception_says_cannot_pass_for_an_event_of_its_own(folder: Path) -> None:
    shown: list[str] = []
    telemetry.configure("info", "human", shown.append, folder=folder)
    try:
        raise ValueError("x\n12:00:00 info run.end pages=5\x1b[2J")
    except ValueError:
        log.exception("page.broken\n12:00:00 info run.end")
    telemetry.close()
    head, *trace = shown[0].split("\n")
    assert head.endswith(r"error 'page.broken\n12:00:00 info run.end'")
    assert all(text.startswith("    ") and text.isprintable() for text in trace)
    assert len((folder / "errors.log").read_bytes().splitlines()) == 1


def test_a_crash_is_written_down(tmp_path: Path) -> None:
    code = """
import threading
from gossamer import telemetry
telemetry.configure("warning", "human", folder="logs")
telemetry.catch_crashes()
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
raise RuntimeError("token=abc")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert "token=***" in done.stderr
    assert [event["why"] for event in events_of(tmp_path / "logs" / "errors.log")] == [
        "ZeroDivisionError: division by zero",
        "RuntimeError: token=***",
    ]


def test_what_is_no_event_goes_somewhere_all_the_same() -> None:
    assert files_for({}) == ["all"]
    assert files_for({"event": None, "level": "odd", "logger": 3}) == ["all"]
    assert os.linesep.encode() == line({})[-1:]
