"""`gossamer` that dies of SIGKILL at a chosen moment: STRIKE="SqliteStore.judge after 1" is after it judged."""

import functools
import inspect
import os
import signal
from typing import Any

from gossamer import cli
from gossamer.storage import sqlite_items
from gossamer.storage.archive import Archive
from gossamer.storage.sqlite import SqliteStore

OWNERS = {"SqliteStore": SqliteStore, "Archive": Archive}
#: Small, so that there are moments between two of them.
sqlite_items.GROUP = 20


def struck(method: Any, when: str, nth: int) -> Any:
    """A method whose process dies before or after its n-th call."""
    calls = 0

    def die(now: str) -> None:
        if now == when and calls == nth:
            os.kill(os.getpid(), signal.SIGKILL)

    @functools.wraps(method)
    def plain(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        die("before")
        result = method(*args, **kwargs)
        die("after")
        return result

    @functools.wraps(method)
    async def waiting(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        die("before")
        result = await method(*args, **kwargs)
        die("after")
        return result

    return waiting if inspect.iscoroutinefunction(method) else plain


def main() -> None:
    """Run the command, until then."""
    if strike := os.environ.get("STRIKE"):
        where, when, nth = strike.split()
        owner, _, name = where.partition(".")
        setattr(OWNERS[owner], name, struck(getattr(OWNERS[owner], name), when, int(nth)))
    cli.main()


if __name__ == "__main__":
    main()
