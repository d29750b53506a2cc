"""The command line as a process: what a person types, sees, and gets back."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest import mock

from gossamer import cli
from gossamer.testing import Site

#: What `--json` prints, and nothing else.
REPORT = {
    "run",
    "status",
    "reason",
    "pages",
    "items",
    "failed",
    "skipped",
    "retried",
    "bytes",
    "seconds",
    "pages_per_second",
    "rejected",
    "verdict",
    "undelivered",
    "by_reason",
}


def sentence(done: subprocess.CompletedProcess[str], code: int) -> str:
    """What a command that ended early says on stderr: checked to be for people, with nothing on stdout."""
    assert done.returncode == code, done
    assert "Traceback" not in done.stdout + done.stderr
    assert done.stdout == ""
    return done.stderr.strip()


def typed(*args: object, **env: str) -> subprocess.CompletedProcess[str]:
    """The command in this process: for the many small questions whose answer needs no process of its own."""
    out, err = io.StringIO(), io.StringIO()
    argv = ["gossamer", *map(str, args)]
    code = 0
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", argv),
        mock.patch.dict(os.environ, env),
    ):
        try:
            cli.main()
        except SystemExit as end:
            code = int(end.code or 0)
    return subprocess.CompletedProcess(argv, code, out.getvalue(), err.getvalue())


def start(*args: object, cwd: Path, **env: str) -> subprocess.Popen[str]:
    """The command, started and left to itself."""
    return subprocess.Popen(
        [sys.executable, "-m", "gossamer", *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "200", **env},
    )


def wait_for_hits(site: Site, n: int, seconds: float = 15) -> None:
    """Wait until a site has been asked some times."""
    end = time.monotonic() + seconds
    while len(site.hits) < n:
        assert time.monotonic() < end, f"only {len(site.hits)} requests came in {seconds} s"
        time.sleep(0.005)


def interrupt(command: subprocess.Popen[str], number: int = signal.SIGINT) -> subprocess.CompletedProcess[str]:
    """Send a signal, and wait for the end."""
    command.send_signal(number)
    return ended(command)


def ended(command: subprocess.Popen[str]) -> subprocess.CompletedProcess[Any]:
    """Wait for the end of a command."""
    out, err = command.communicate(timeout=20)
    return subprocess.CompletedProcess(command.args, command.returncode, out, err)
