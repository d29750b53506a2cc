"""Who a process is to others, and whether it is dead."""

from __future__ import annotations

import os
import subprocess
import sys

from gossamer import owners


def test_a_process_has_one_name() -> None:
    assert owners.me() == owners.me()
    assert owners.told(owners.me()).endswith(f":{os.getpid()}")
    assert not owners.dead(owners.me())


def test_a_process_of_this_machine_is_known_to_be_dead() -> None:
    told = "import sys; from gossamer import owners; print(owners.me(), flush=True); sys.stdin.read()"
    process = subprocess.Popen([sys.executable, "-c", told], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    name = process.stdout.readline().strip()
    assert not owners.dead(name)
    process.communicate()
    assert owners.dead(name)


def test_of_others_nobody_can_say() -> None:
    here, pid, place, began, own = owners.me().split(":")
    assert not owners.dead(":".join([here, "1", "other-machine", "1", own]))
    assert not owners.dead("me")
    assert owners.dead(":".join([here, pid, place, str(int(began) + 1), own]))  # its number is another's by now
