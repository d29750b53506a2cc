"""What people said of hosts and URLs, read from the store for the gate of a process that walks runs."""

from __future__ import annotations

from gossamer.polite.gate import Gate
from gossamer.polite.orders import Orders
from gossamer.storage.desk import Desk

_RULED = "select host, paused, budget, ruled_by from source where paused = 1 or budget is not null limit 10000"
_MARKS = "select count(*), max(at) from mark"
_MARKED = "select digest from mark limit 1000000"


class Ordering:
    """Keeps a gate's orders up to date: few rows, read anew each time; marks only where there are others."""

    def __init__(self, desk: Desk, gate: Gate) -> None:
        self._desk = desk
        self._gate = gate
        self._marks: tuple[object, ...] = ()

    async def read(self) -> None:
        """Heed pauses, budgets and marks from now on."""
        ruled = await self._desk.rows(_RULED)
        known = await self._desk.row(_MARKS)
        inactive = self._gate.orders.inactive
        if known is not None and known != self._marks:
            inactive = frozenset(digest for (digest,) in await self._desk.rows(_MARKED))
            self._marks = known
        self._gate.orders = Orders(
            paused={host: by or "somebody" for host, paused, _, by in ruled if paused},
            budgets={host: budget for host, _, budget, _ in ruled if budget is not None},
            inactive=inactive,
        )
