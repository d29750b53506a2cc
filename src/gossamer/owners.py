"""Who a process is to others, and whether one of this machine is dead: what it held need not be waited for then."""

from __future__ import annotations

import os
import socket
import uuid
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def _place() -> str:
    """This machine since it was started, and this space of process numbers: containers have their own."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()[:8]
        return f"{boot}-{os.stat('/proc/self/ns/pid').st_ino:x}"
    except OSError:
        return ""  # no Linux: nobody is known to be dead, and leases have to run out


def _began(pid: int) -> str | None:
    """When a process began, as the kernel counts it: tells it from another that got its number since."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


def me() -> str:
    """A name for this process that no other has: machine, number, and what tells others whether it is dead."""
    return _named(os.getpid())


@lru_cache(maxsize=1)
def _named(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}:{_place()}:{_began(pid)}:{uuid.uuid4().hex[:8]}"


def dead(owner: str) -> bool:
    """Whether an owner was a process of this machine that is no more. Of others nobody can say."""
    parts = owner.split(":")
    if len(parts) < 5 or not _place() or parts[2] != _place() or not parts[1].isdecimal():
        return False
    return _began(int(parts[1])) != parts[3]


def told(owner: str) -> str:
    """An owner as people know it: machine and process number."""
    return ":".join(owner.split(":")[:2])
