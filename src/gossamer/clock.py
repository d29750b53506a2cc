"""The time by which waits are measured: seconds since 1970, told by a clock that nobody can set."""

from __future__ import annotations

import time

_OFFSET = time.time() - time.monotonic()


def now() -> float:
    """Seconds since 1970, as it was known when the process began, and counted on from there.

    A wait that is kept in the store must outlive the process, so it needs a date; but should the system's
    clock be set back meanwhile, the wait must not become longer.
    """
    return _OFFSET + time.monotonic()
