"""Who walks runs now, as far as rows tell it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import msgspec

from gossamer.storage.desk import Desk, Reading

#: Seconds without a heartbeat after which a worker is taken for dead, or heartbeats that it missed if they are rarer.
SILENT = 10.0
MISSED = 3
#: Workers that are shown.
MOST_WORKERS = 100

_WORKERS = "select name, pid, started, at, data from worker order by at desc limit :n"
_ALIVE = "select 1 from worker where at > :since limit 1"


class WorkerRow(msgspec.Struct, frozen=True):
    """A process that walks runs."""

    name: str
    pid: int
    started: float
    #: Its last heartbeat.
    at: float
    alive: bool
    #: What it is at: runs, counters, latency, waits, memory, as its heartbeat tells them.
    data: dict[str, Any]


async def workers(desk: Reading) -> list[WorkerRow]:
    """Every worker that is remembered, the one that was heard last first."""
    now = time.time()
    found = [(*row[:4], object_of(row[4])) for row in await desk.rows(_WORKERS, n=MOST_WORKERS)]
    return [
        WorkerRow(name, pid, started, at, at > now - silent_after(data), data) for name, pid, started, at, data in found
    ]


async def living(desk: Reading) -> list[WorkerRow]:
    """The workers of a cluster that live."""
    return [each for each in await workers(desk) if each.alive and each.data.get("kind") == "worker"]


async def anybody_works(desk: Desk) -> bool:
    """Whether any worker lives."""
    return await desk.row(_ALIVE, since=time.time() - SILENT) is not None


def silent_after(data: Mapping[str, Any]) -> float:
    """Seconds without a heartbeat after which a worker is taken for dead, by what it told in its last one."""
    beat = data.get("beat")
    return max(SILENT, MISSED * beat) if isinstance(beat, int | float) and beat < 3600 else SILENT


def object_of(data: str | None) -> dict[str, Any]:
    """A JSON object, empty where there is none."""
    try:
        found = msgspec.json.decode(data or "{}")
    except msgspec.DecodeError:
        return {}
    return found if isinstance(found, dict) else {}
