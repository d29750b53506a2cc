"""What commands share that work on a store beside a service: the desk, and who sits at it."""

from __future__ import annotations

import getpass
from collections.abc import Awaitable, Callable
from typing import TypeVar

from gossamer import settings
from gossamer.errors import StoreError
from gossamer.library import wait
from gossamer.storage import opening
from gossamer.storage.desk import Desk
from gossamer.trail import Asker

T = TypeVar("T")


def me() -> Asker:
    """Whoever typed the command, for the trail."""
    try:
        return Asker(getpass.getuser(), "cli")
    except (KeyError, OSError):  # a user that has no name, as in some containers
        return Asker("somebody", "cli")


def at_desk(store: str | None, work: Callable[[Desk], Awaitable[T]], *, make: bool = False) -> T:
    """Open the store beside whoever works on it, and do something there. Only with `make` is one made if there is none.

    Raises StoreError.
    """
    place = settings.read({"store": store} if store else {}).place.store
    if not make and not opening.exists(place):
        raise StoreError(f"there is no store at {place}: `gossamer serve` makes one, or give another path with --store")

    async def do() -> T:
        async with opening.desk(place) as desk:
            return await work(desk)

    return wait(do())
