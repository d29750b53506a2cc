"""The seat of whoever walks a store's runs for a service: one process has it, others wait beside it as spares."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Protocol, Self


class Seat(Protocol):
    """Taken by `async with`, which raises StoreBusy if another process has it."""

    async def lost(self) -> None:
        """Wait until another has it, which may never happen."""


class FileSeat:
    """The seat of a SQLite store: who works on the file has it, and nobody takes it away."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    async def lost(self) -> None:
        """As in `Seat`."""
        await asyncio.Event().wait()
