"""Time: a clock for waits that nobody can set, and how moments are written."""

from __future__ import annotations

import time
from datetime import UTC, datetime

_OFFSET = time.time() - time.monotonic()
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now() -> float:
    """Seconds since 1970, as it was known when the process began, and counted on from there.

    A wait that is kept in the store must outlive the process, so it needs a date; but should the system's
    clock be set back meanwhile, the wait must not become longer.
    """
    return _OFFSET + time.monotonic()


def steady() -> float:
    """Seconds that nobody can set, and that pass while the machine sleeps too: others do not sleep with it."""
    return time.clock_gettime(_STEADY)


def iso(stamp: float | None) -> str | None:
    """Seconds since 1970 as ISO 8601, in UTC; None for none."""
    return datetime.fromtimestamp(stamp, UTC).isoformat(timespec="milliseconds") if stamp else None
