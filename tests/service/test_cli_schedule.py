"""`gossamer schedule`, on a store with and without a service."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from gossamer import cli
from gossamer.clock import iso
from tests.conftest import Cli, json_lines
from tests.service.timed import HOUR, stage, write


@pytest.fixture
def gossamer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command in this process: starting one takes a second, and here are many."""

    def call(*args: object, **env: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["gossamer", *map(str, args)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        told = capsys.readouterr()
        code = ended.value.code
        return subprocess.CompletedProcess([*map(str, args)], code if isinstance(code, int) else 0, told.out, told.err)

    return call


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A file with two scrapers, of which one says when it runs."""
    write(tmp_path, "nba", name="nba.py")
    return write(tmp_path, "art", every='"6h"', jitter='"10m"')


def test_list_shows_what_files_declare_before_any_service_was_there(gossamer: Cli, shelf: Path) -> None:
    done = gossamer("schedule", "list")
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if line.split()[:1] == ["art"])
    assert "every 6h" in line
    assert line.rstrip().endswith("on")
    (told,) = json_lines(gossamer("schedule", "list", "--json").stdout)
    assert (told["name"], told["every"], told["jitter"], told["misfire"]) == ("art", "6h", 600, "coalesce")
    assert told["last"] is None
    assert told["next_due"] < told["next_at"]


def test_where_there_is_nothing_it_says_what_to_do_and_makes_no_store(gossamer: Cli, tmp_path: Path) -> None:
    done = gossamer("schedule", "list")
    assert done.returncode == 2
    assert "write every = '6h' on one" in done.stderr
    assert not list(tmp_path.glob("*.db"))


def test_set_changes_makes_and_takes_back(gossamer: Cli, shelf: Path) -> None:
    done = gossamer("schedule", "set", "art", "--cron", "0 6 * * mon-fri", "--timezone", "Europe/Berlin")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("art: 0 6 * * mon-fri (Europe/Berlin); next run 20")
    assert gossamer("schedule", "set", "nba", "--every", "1d", "--pause-after", "none").returncode == 0
    full = gossamer("schedule", "set", "art-full", "--scraper", "art", "--every", "7d", "--param", "full=yes")
    assert full.returncode == 0, full.stderr
    told = {each["name"]: each for each in json_lines(gossamer("schedule", "list", "--json").stdout)}
    assert told["art"]["overrides"] == {"cron": "0 6 * * mon-fri", "timezone": "Europe/Berlin"}
    assert (told["nba"]["every"], told["nba"]["pause_after"]) == ("1d", None)
    assert (told["art-full"]["scraper"], told["art-full"]["params"]) == ("art", {"full": "yes"})
    assert "art: every 6h" in gossamer("schedule", "set", "art", "--reset", "all").stderr
    assert gossamer("schedule", "remove", "art-full").returncode == 0
    refused = gossamer("schedule", "remove", "art")
    assert refused.returncode == 2
    assert "pause it, or take it out of the file" in refused.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("set", "art", "--every", "often"), "every = 'often' cannot be used: write a time"),
        (("set", "art", "--cron", "0 25 * * *"), "'25' is no hour: it goes from 0 to 23"),
        (("set", "art", "--timezone", "Mars"), "write a time zone by its name"),
        (("set", "art", "--every", "6h", "--cron", "@daily"), "both say when"),
        (("set", "art"), "nothing is to be changed"),
        (("set", "art", "--reset", "evry"), "did you mean 'every'"),
        (("set", "arts", "--every", "6h"), "no schedule is called 'arts': did you mean 'art'?"),
        (("set", "x", "--scraper", "nb", "--every", "6h"), "no scraper is called 'nb': did you mean 'nba'?"),
        (("pause", "arts"), "no schedule is called 'arts': did you mean 'art'?"),
        (("run", "xyz"), "`gossamer schedule list` shows those there are"),
        (("history", "arts"), "did you mean 'art'?"),
        (("remove", "arts"), "did you mean 'art'?"),
    ],
)
def test_errors_say_what_to_do_next(gossamer: Cli, shelf: Path, args: tuple[str, ...], said: str) -> None:
    done = gossamer("schedule", *args)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_pause_and_resume(gossamer: Cli, shelf: Path) -> None:
    assert "paused: " in gossamer("schedule", "pause", "art").stderr
    assert gossamer("schedule", "list").stdout.rstrip().endswith("paused")
    assert "next run 20" in gossamer("schedule", "resume", "art").stderr


def test_run_writes_a_pending_run_and_says_who_walks_it(gossamer: Cli, shelf: Path, tmp_path: Path) -> None:
    first = gossamer("schedule", "run", "art")
    assert (first.returncode, first.stdout.strip()) == (0, "1"), first.stderr
    assert "start gossamer serve" in first.stderr
    again = gossamer("schedule", "run", "art")
    assert again.returncode == 2
    assert "art is already at it" in again.stderr
    with closing(sqlite3.connect(tmp_path / "gossamer.db")) as db, db:
        # Not one of the command line's own, which the service leaves to whoever typed it.
        assert db.execute("select scraper, state, via from run").fetchall() == [("art", "pending", "schedule")]
        db.execute("update run set state = 'finished'")
        db.execute("insert into worker (name, pid, started, at) values ('w', 1, 0, ?)", (time.time() + 60,))
    assert "run 2 begins" in gossamer("schedule", "run", "art").stderr


def test_history_tells_what_came_of_each_due_time(gossamer: Cli, shelf: Path) -> None:
    assert "has not come due yet" in gossamer("schedule", "history", "art").stderr

    async def main() -> None:
        now = time.time()
        async with stage(shelf, now, "gossamer.db") as on:
            for hours in (7, 13):
                await on.look(now + hours * HOUR)

    asyncio.run(main())
    told = json_lines(gossamer("schedule", "history", "art", "--json").stdout)
    assert [(each["what"], each["run"], each["state"]) for each in told] == [
        ("skipped", 1, "pending"),
        ("fired", 1, "pending"),
    ]
    assert "run 1 was still going on" in gossamer("schedule", "history", "art", "--limit", 1).stdout


def test_a_failing_scraper_is_told_of(gossamer: Cli, shelf: Path, tmp_path: Path) -> None:
    gossamer("schedule", "list")
    with closing(sqlite3.connect(tmp_path / "gossamer.db")) as db, db:
        db.execute(
            "insert into scraper (name, streak, breaker, openings, open_until) values ('art', 3, 'open', 1, ?)",
            (time.time() + 900,),
        )
    assert "paused: failed 3 times in a row, held until" in gossamer("schedule", "list").stdout


def test_the_next_run_is_not_before_a_pause_is_over(gossamer: Cli, shelf: Path, tmp_path: Path) -> None:
    gossamer("schedule", "list")
    until = time.time() + 30 * 86400
    with closing(sqlite3.connect(tmp_path / "gossamer.db")) as db, db:
        db.execute(
            "insert into scraper (name, streak, breaker, openings, open_until) values ('art', 3, 'open', 1, ?)",
            (until,),
        )
    told = json_lines(gossamer("schedule", "list", "--json").stdout)[0]
    assert told["next_at"] == told["held_until"] == iso(until)


def test_who_started_a_run_from_the_command_line_is_told_so(gossamer: Cli, shelf: Path, tmp_path: Path) -> None:
    gossamer("schedule", "run", "art")
    with closing(sqlite3.connect(tmp_path / "gossamer.db")) as db:
        assert db.execute("select via from trail where action = 'run.start'").fetchall() == [("cli",)]
        assert db.execute("select via from run").fetchall() == [("schedule",)]


def test_names_are_completed(gossamer: Cli, shelf: Path) -> None:
    gossamer("schedule", "list")
    env = {"_GOSSAMER_COMPLETE": "complete_bash", "COMP_WORDS": "gossamer schedule pause a", "COMP_CWORD": "3"}
    command = Path(sys.executable).with_name("gossamer")
    done = subprocess.run([command], capture_output=True, text=True, env={**os.environ, **env})
    assert done.stdout.split() == ["art"]


@pytest.mark.parametrize("command", ["list", "set", "pause", "resume", "run", "history", "remove"])
def test_help_shows_examples(gossamer: Cli, command: str) -> None:
    assert f"gossamer schedule {command}" in gossamer("schedule", command, "--help").stdout
