"""The dispatcher of a service: has what waits carried to workers, again and again, until somebody does it.

Any number of dispatchers may do this at the same time: a ticket is issued once in the time of a lease, and is only a
hint. What needs no walking, a person's word on a suspect run, is done here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from gossamer import judging
from gossamer.errors import GossamerError, StoreError
from gossamer.storage.desk import Desk
from gossamer.storage.shared import Shared, Ticket
from gossamer.telemetry import log

#: Seconds between two looks, unless somebody says that there is something new.
LOOK = 1.0
#: Tickets that wait for a broker that is away; more are issued again some time.
MOST = 10_000
#: Seconds without a heartbeat after which a worker is taken for dead.
DEAD = 30.0

_WISHES = """
select id, wanted from run where wanted in ('accept', 'reject') and state not in ('pending', 'running')
order by id limit 100
"""
_UNWISH = "update run set wanted = '' where id = :run"
_WORKERS = """
select count(*) from worker where at > extract(epoch from clock_timestamp()) - :age and data like '%"kind":"worker"%'
"""


class Dispatcher:
    """Issues tickets for all that waits. `publish` gives them to the broker; it blocks."""

    def __init__(self, store: Shared, desk: Desk, publish: Callable[[list[Ticket]], None], lease: float) -> None:
        self._store = store
        self._desk = desk
        self._publish = publish
        self._lease = lease
        self._look = asyncio.Event()
        #: Tickets that were issued, and that the broker did not take yet.
        self._unsent: list[Ticket] = []
        #: Why nothing can be carried to workers just now; "" if it can.
        self.trouble = ""

    def poke(self) -> None:
        """There may be something new."""
        self._look.set()

    async def run(self) -> None:
        """Look for ever."""
        while True:
            try:
                await self.look()
                self.trouble = ""
            except StoreError as why:  # the store, or the broker: either may come back
                if str(why) != self.trouble:
                    log.warning("dispatcher.waits", why=str(why))
                self.trouble = str(why)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._look.wait(), LOOK)
            self._look.clear()

    async def look(self) -> None:
        """Issue tickets for what nobody does, and carry out what was decided."""
        await self._decide()
        # Without workers, tickets would only pile up at the broker.
        workers = await self._desk.row(_WORKERS, age=DEAD)
        if workers is None or not workers[0]:
            return
        issued = await self._store.reconcile(self._lease)
        self._unsent = list(dict.fromkeys([*self._unsent, *issued]))[:MOST]
        if self._unsent:
            await asyncio.to_thread(self._publish, self._unsent)
            self._unsent = []

    async def _decide(self) -> None:
        for run_id, wanted in await self._desk.rows(_WISHES):
            try:
                _, items = await judging.decide(self._store, run_id, accept=wanted == "accept")
                log.info("run.decided", run=run_id, wanted=wanted, items=items)
            except StoreError:
                raise
            except GossamerError as why:
                log.warning("run.undecided", run=run_id, wanted=wanted, why=str(why))
            async with self._desk.writing() as writing:
                await writing.run(_UNWISH, run=run_id)
