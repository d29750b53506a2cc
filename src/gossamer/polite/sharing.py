"""A pace that several processes keep together, for a host that all of them ask."""

from __future__ import annotations

from typing import Protocol


class Sharing(Protocol):
    """What a request needs of it, from before it leaves until it was answered."""

    async def enter(self, host: str, most: int) -> bool:
        """Open a request; False if `most` are open over all processes."""

    async def turn(self, host: str, interval: float) -> float:
        """Take the host's next turn among all: 0, or the seconds until it may be asked again."""

    async def hold(self, host: str, seconds: float, why: str) -> None:
        """Nobody asks the host for so long."""

    async def leave(self, host: str) -> None:
        """A request was answered, or given up."""
