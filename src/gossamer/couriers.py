"""Alerts on their way: each receiver has a courier, who brings it what is due, again and again until it is taken.

Before he goes, he writes into the row until when he is away: nobody else goes meanwhile, and should he never return,
somebody will go again. So a message arrives at least once, under an id by which a receiver knows it again.
"""

from __future__ import annotations

import random
import time

import msgspec

from gossamer.errors import Undelivered
from gossamer.messages import Message, Receiver, one_line
from gossamer.storage.desk import Desk, Row
from gossamer.telemetry import log

#: Times that one message is brought to one receiver; then it has failed. With the waits between: about ten hours.
TRIES = 16
#: Seconds until the second try; each is three times as long as the one before.
FIRST_WAIT = 5.0
LONGEST_WAIT = 3600.0
#: Seconds that a courier may be away: longer than any receiver's deadline.
AWAY = 120.0
#: Messages on one round.
ROUND = 20
#: Seconds after which a message is given up whose receiver is in nobody's settings any more.
ORPHANED = 86400.0

_DUE = """
select alert.id, attempts, key, kind, title, body, at, scraper, run_id
from dispatch join alert on alert.id = alert_id
where state = 'waiting' and target = :target and (next_at <= :now or next_at > :far)
order by next_at, alert_id limit :limit
"""
_LEAVE = """
update dispatch set attempts = attempts + 1, next_at = :until
where alert_id = :alert and target = :target and state = 'waiting' and attempts = :attempts
"""
_SENT = """
update dispatch set state = 'sent', next_at = :now, error = ''
where alert_id = :alert and target = :target and state = 'waiting'
"""
_NOT_SENT = """
update dispatch set state = :state, next_at = :next_at, error = :error
where alert_id = :alert and target = :target and state = 'waiting' and attempts = :attempts
"""
_ORPHANS = "select distinct target from dispatch where state = 'waiting' and next_at < :before limit 100"
_GIVE_UP = """
update dispatch set state = 'failed', error = 'no such receiver is set any more'
where state = 'waiting' and target = :target and next_at < :before
"""


class Waits(msgspec.Struct, frozen=True):
    """How often something is tried, and how long is waited meanwhile."""

    first: float = FIRST_WAIT
    longest: float = LONGEST_WAIT
    tries: int = TRIES
    #: How long a courier may be away before another one goes.
    away: float = AWAY

    def before(self, attempt: int) -> float:
        """Seconds until the next try after so many; not the same for all, so that not all come at once."""
        wait = min(self.longest, self.first * 3.0 ** (attempt - 1))
        return wait * random.uniform(0.8, 1.0)


class Courier:
    """Brings one receiver what waits for it."""

    def __init__(self, desk: Desk, receiver: Receiver, waits: Waits) -> None:
        self._desk = desk
        self._waits = waits
        self.receiver = receiver

    async def go(self) -> int:
        """One round: everything that is due; returns how much of it was taken. Raises StoreError."""
        now = time.time()
        # Later than anything is ever put off: the clock was set back since.
        far = now + self._waits.longest + self._waits.away
        taken = 0
        for row in await self._desk.rows(_DUE, target=self.receiver.target, now=now, far=far, limit=ROUND):
            taken += await self._bring(row)
        return taken

    async def _bring(self, row: Row) -> bool:
        alert, attempts, key, kind, title, body, at, scraper, run = row
        which = {"alert": alert, "target": self.receiver.target}
        if attempts >= self._waits.tries:  # whoever went last did not return
            await self._put_off(which, attempts, "the last try was interrupted")
            return False
        async with self._desk.writing() as writing:
            if not await writing.run(_LEAVE, until=time.time() + self._waits.away, attempts=attempts, **which):
                return False  # somebody else is on his way
        try:
            await self.receiver.tell(Message(key, kind, title, body, at, scraper, run))
        except Undelivered as error:
            await self._put_off(which, attempts + 1, str(error))
            return False
        async with self._desk.writing() as writing:
            await writing.run(_SENT, now=time.time(), **which)
        log.info("alert.sent", alert=alert, kind=kind, target=self.receiver.target)
        return True

    async def _put_off(self, which: dict[str, object], attempts: int, why: str) -> None:
        over = attempts >= self._waits.tries
        error = one_line(f"given up after {attempts} tries: {why}" if over else why)
        state, next_at = ("failed", time.time()) if over else ("waiting", time.time() + self._waits.before(attempts))
        async with self._desk.writing() as writing:
            await writing.run(_NOT_SENT, state=state, next_at=next_at, error=error, attempts=attempts, **which)
        tell = log.error if over else log.warning
        tell("alert.failed" if over else "alert.later", target=self.receiver.target, tries=attempts, why=why)


async def give_up_orphans(desk: Desk, known: set[str]) -> None:
    """Let go of what waits for receivers that are in nobody's settings any more. Raises StoreError."""
    before = time.time() - ORPHANED
    for (target,) in await desk.rows(_ORPHANS, before=before):
        if target not in known:
            async with desk.writing() as writing:
                await writing.run(_GIVE_UP, target=target, before=before)
