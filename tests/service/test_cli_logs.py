"""`gossamer logs`: events of the store and of the log files, as lines, as JSON, and as they come."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gossamer.events import Events
from gossamer.logfiles import LogFiles
from gossamer.storage.sqlite_desk import SqliteDesk
from tests.cli import sentence, start, typed

STORE = "gossamer.db"


def keep(*heard: dict[str, Any], runs: int = 2) -> None:
    """Put events into the store, and runs for them to belong to."""

    async def do() -> None:
        async with SqliteDesk(STORE) as desk:
            events = Events(desk)
            async with desk.writing() as writing:
                for number in range(1, runs + 1):
                    await writing.run(
                        "insert into run (id, scraper, ref, signature, params, options, state, created) "
                        "values (:id, 'shop', '', '', '{}', '{}', 'running', 0) on conflict do nothing",
                        id=number,
                    )
            for event in heard:
                events.hear(event)
            await events.flush()

    asyncio.run(do())


def story() -> None:
    keep(
        {"event": "run.start", "level": "info", "run": 1, "scraper": "shop", "resumed": False},
        {
            "event": "page.unreadable",
            "level": "warning",
            "run": 1,
            "scraper": "shop",
            "url": "http://a/",
            "why": "no price",
        },
        {"event": "run.start", "level": "info", "run": 2, "scraper": "art"},
        {"event": "sink.broken", "level": "error", "why": "no key", "exception": "Traceback\n  x\nValueError: no"},
    )


def lines(*args: object) -> list[str]:
    """What it shows, without the time."""
    done = typed("logs", *args)
    assert (done.returncode, done.stderr) == (0, "")
    return [line[20:] if line[:2] == "20" else line for line in done.stdout.splitlines()]


def test_events_are_shown_oldest_first_with_their_run(tmp_path: Path) -> None:
    story()
    assert lines() == [
        "info    run 1 (shop) run.start: resumed=False",
        "warning run 1 (shop) page.unreadable: no price (url=http://a/)",
        "info    run 2 (art) run.start",
        "error   sink.broken: no key",
        "    Traceback",
        "      x",
        "    ValueError: no",
    ]


def test_run_level_scraper_and_number_choose(tmp_path: Path) -> None:
    story()
    assert len(lines(1)) == 2
    assert lines("--scraper", "art") == ["info    run 2 (art) run.start"]
    assert lines("--level", "warning", 1) == ["warning run 1 (shop) page.unreadable: no price (url=http://a/)"]
    assert lines("-n", 1)[0] == "error   sink.broken: no key"


def test_json_has_every_fact() -> None:
    story()
    told = [json.loads(line) for line in typed("logs", "--json").stdout.splitlines()]
    assert told[1].pop("timestamp").startswith("20")
    assert told[1] == {
        "level": "warning",
        "event": "page.unreadable",
        "run": 1,
        "scraper": "shop",
        "message": "no price (url=http://a/)",
        "url": "http://a/",
        "why": "no price",
    }
    assert told[3]["exception"].endswith("ValueError: no")


def test_what_is_wrong_is_said_in_a_sentence() -> None:
    assert "there is no store at gossamer.db" in sentence(typed("logs"), 2)
    keep(runs=1)
    assert sentence(typed("logs", 9), 2) == "gossamer: there is no run 9: `gossamer runs` lists them"
    assert "write one of debug, info, warning, error" in sentence(typed("logs", "--level", "loud"), 2)
    assert "the store has no events yet" in sentence(typed("logs"), 0)
    assert "ask for another run, level or scraper" in sentence(typed("logs", 1), 0)
    assert "there are no log files in gossamer.db.logs" in sentence(typed("logs", "--files"), 2)


def test_a_hostile_event_does_nothing_to_a_terminal() -> None:
    evil = "\x1b[2J\r\n2026-01-01 12:00:00 info run.end [bold]x[/bold] \u202e"
    files = LogFiles("gossamer.db.logs")
    event = {"event": evil, "level": "warning", "run": 1, "scraper": evil, "why": evil, evil: evil, "exception": evil}
    keep(event)
    files.take(event)
    files.close()
    for given in ((), ("--files",)):
        shown = typed("logs", *given).stdout
        assert len([line for line in shown.splitlines() if not line.startswith("    ")]) == 1
        assert all(line.isprintable() for line in shown.splitlines())
        assert "[bold]x[/bold]" in shown


def test_log_files_have_what_the_store_has_not() -> None:
    files = LogFiles("gossamer.db.logs")
    for n in range(200):
        files.take(
            {"timestamp": "2026-11-16T07:00:00Z", "level": "debug", "event": "walk.done", "run": n % 2 + 1, "n": n}
        )
    files.take({"timestamp": "soon", "level": "error", "event": "odd", "scraper": "shop"})
    files.close()
    with Path("gossamer.db.logs/all.log").open("a") as opened:
        opened.write("no JSON\n[1]\n")
    assert len(lines("--files")) == 100
    assert lines("--files", 2, "-n", 2) == [
        "debug   run 2 (None) walk.done: n=197",
        "debug   run 2 (None) walk.done: n=199",
    ]
    assert lines("--files", "--level", "info") == ["- error   odd"]
    assert lines("--files", "--scraper", "shop") == ["- error   odd"]


def test_old_log_files_are_read_as_far_as_needed(tmp_path: Path) -> None:
    files = LogFiles("logs", largest=2_000)
    for n in range(200):
        files.take({"event": "x", "n": n})
        files.flush() if n % 10 == 0 else None
    files.close()
    done = typed("logs", "--files", "--json", "-n", 150, GOSSAMER_LOG_DIR="logs")
    assert [json.loads(line)["n"] for line in done.stdout.splitlines()] == list(range(50, 200))


# -- as they come ------------------------------------------------------------------------------------------------


class Following:
    """The command with --follow, as a process, and the lines it has shown so far."""

    def __init__(self, folder: Path, *args: object, **env: str) -> None:
        self.process = start("logs", "--follow", "--json", *args, cwd=folder, **env)
        self.lines: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(json.loads(line))

    def wait_for(self, n: int) -> list[dict[str, Any]]:
        end = time.monotonic() + 30
        while len(self.lines) < n:
            assert time.monotonic() < end, self.lines
            time.sleep(0.02)
        return self.lines

    def stop(self, number: int = signal.SIGINT) -> tuple[int, str]:
        self.process.send_signal(number)
        code = self.process.wait(20)
        self._reader.join(10)
        assert self.process.stderr is not None
        assert self.process.stdout is not None
        said = self.process.stderr.read()
        self.process.stderr.close()
        self.process.stdout.close()
        return code, said


def test_following_shows_what_comes_and_ctrl_c_ends_it_well(tmp_path: Path) -> None:
    story()
    following = Following(tmp_path, 1)
    following.wait_for(2)
    keep({"event": "run.end", "level": "info", "run": 2}, {"event": "run.end", "level": "info", "run": 1, "n": 1})
    assert [event["event"] for event in following.wait_for(3)] == ["run.start", "page.unreadable", "run.end"]
    assert following.lines[-1]["n"] == 1
    assert following.stop() == (0, "")


def test_following_the_files_goes_on_when_they_are_turned_over(tmp_path: Path) -> None:
    files = LogFiles("logs", largest=1_500)
    files.take({"event": "x", "n": 0})
    files.flush()
    following = Following(tmp_path, "--files", GOSSAMER_LOG_DIR="logs")
    following.wait_for(1)
    for n in range(1, 100):
        files.take({"event": "x", "n": n})
        if n % 40 == 0:
            files.flush()
            following.wait_for(n + 1)
    files.close()
    assert [event["n"] for event in following.wait_for(100)] == list(range(100))
    assert Path("logs/all.log.1").exists()
    assert following.stop() == (0, "")


def test_who_closes_the_pipe_is_left_alone(tmp_path: Path) -> None:
    story()
    command = f"{sys.executable} -m gossamer logs | head -n 1"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 1)


def test_on_a_terminal_there_are_colours(tmp_path: Path) -> None:
    story()
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200"}
    env.pop("NO_COLOR", None)
    with subprocess.Popen(
        [sys.executable, "-m", "gossamer", "logs"], cwd=tmp_path, stdout=theirs, stderr=subprocess.STDOUT, env=env
    ) as process:
        process.wait(30)
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert b"\x1b[33mwarning" in shown
    assert b"\x1b[31merror" in shown


@pytest.mark.parametrize("look", [lambda: typed("logs"), lambda: typed("logs", "--json")])
def test_a_store_in_use_can_be_looked_at(look: Callable[[], Any], tmp_path: Path) -> None:
    """Whoever works on it is not disturbed: no lock is taken."""
    story()
    code = f"""
import asyncio
from gossamer import runs
async def hold():
    async with runs.open_parts({STORE!r}):
        print("held", flush=True)
        await asyncio.sleep(60)
asyncio.run(hold())
"""
    holder = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert look().returncode == 0
    finally:
        holder.kill()
        holder.communicate()
