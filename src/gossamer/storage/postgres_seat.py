"""The seat of a PostgreSQL store: a lock that a session has, and leaves when its process dies or is cut off."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self

import asyncpg

from gossamer.errors import StoreBusy, StoreError
from gossamer.storage.postgres_pool import CONNECTING, FAILURES, PostgresPool

#: The advisory lock of the seat.
SEAT = (7362, 0)
#: Seconds between two looks whether it is still ours.
LOOK = 1.0


class PostgresSeat(PostgresPool):
    """As `Seat`. If two believe to have it for a moment, nothing is lost: leases keep them apart."""

    def __init__(self, url: str) -> None:
        super().__init__(url, most=1)
        self._db: asyncpg.Connection | None = None

    async def __aenter__(self) -> Self:
        try:
            await self._check_form()
            await self._take()
        except FAILURES as error:
            raise self._spoken(error) from error
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        if self._db is not None:
            self._db.terminate()
            self._db = None

    async def _take(self) -> None:
        self._db = await self._connect()
        if not await self._db.fetchval(f"select pg_try_advisory_lock({SEAT[0]}, {SEAT[1]})"):
            self._leave()
            raise StoreBusy(f"another service walks the runs of {self.shown}: this one takes over when it ends")

    async def lost(self) -> None:
        """As in `Seat`. Where the database was away for a moment, whoever comes first has it then."""
        while True:
            await asyncio.sleep(LOOK)
            try:
                if self._db is None:
                    await self._take()
                assert self._db is not None
                await self._db.fetchval("select 1", timeout=CONNECTING)
            except StoreBusy:
                return
            except (*FAILURES, StoreError):
                self._leave()
