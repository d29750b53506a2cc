"""Keeps a server for the process that started it: when that one dies, however it dies, the server goes too.

    python -I tests/keeper.py '{"commands": [[...]], "user": "postgres", "env": {}, "folder": "/tmp/x", "signal": 3}'

Says the id of each process it started, a line each. What it is told by is the end of its standard input.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

#: Seconds a server has to stop by itself.
PATIENCE = 5.0


def keep(told: dict[str, object]) -> int:
    """Start the servers, wait until one of them ends or nobody needs them any more."""
    folder = str(told["folder"])
    started: list[subprocess.Popen[bytes]] = []
    over = threading.Event()
    with open(os.path.join(folder, "log"), "ab") as log:
        for command in told["commands"]:  # type: ignore[attr-defined]
            server = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                user=told["user"],  # type: ignore[arg-type]
                group=told["user"],  # type: ignore[arg-type]
                extra_groups=None if told["user"] is None else [],
                env=told["env"],  # type: ignore[arg-type]
                start_new_session=True,
            )
            started.append(server)
            print(server.pid, flush=True)
            threading.Thread(target=lambda one=server: (one.wait(), over.set()), daemon=True).start()
    threading.Thread(target=_wait_for_the_end, args=(over,), daemon=True).start()
    over.wait()
    for server in reversed(started):
        _stop(server, int(str(told["signal"])))
    return 0


def _wait_for_the_end(over: threading.Event) -> None:
    line = sys.stdin.readline()
    if line == "":  # nobody said anything: whoever started us is gone, and what is in the folder is needed no more
        gone.set()
    over.set()


def _stop(server: subprocess.Popen[bytes], how: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(server.pid, how)
        until = time.monotonic() + PATIENCE
        while server.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        os.killpg(server.pid, signal.SIGKILL)


if __name__ == "__main__":
    gone = threading.Event()
    # Ctrl-C is for the tests; they let go of us when they are through with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked = json.loads(sys.argv[1])
    keep(asked)
    if gone.is_set():
        shutil.rmtree(asked["folder"], ignore_errors=True)
