"""What goes on now, for all who look on: read from the store once, however many they are."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from gossamer.errors import StoreError
from gossamer.lists.of_workers import object_of, silent_after
from gossamer.storage.desk import Desk
from gossamer.telemetry import log

#: Seconds between two looks: while somebody looks on, and otherwise.
LOOK = 1.0
REST = 5.0
#: Events kept for one who looks on and is slow; older ones are left out.
KEPT = 256
#: Seconds without a heartbeat after which a worker is dead for sure; most are earlier, as they say themselves.
DEAD = 120.0
#: Runs told of at most, and the hosts of one with the most to do.
MOST_RUNS = 200
MOST_HOSTS = 20


class ActiveRun(msgspec.Struct, frozen=True):
    """A run that waits or goes on."""

    id: int
    scraper: str
    state: str
    via: str
    asked_by: str
    created: float
    started: float | None
    seconds: float
    settled: int
    pages: int
    items: int
    failed: int
    skipped: int
    retried: int
    size: int
    verdict: str
    wanted: str
    #: Known to wait, of them not before some time, and being walked.
    waiting: int = 0
    parked: int = 0
    flying: int = 0
    #: Pages a second, lately.
    rate: float = 0.0
    #: Seconds that what is known to wait will take; None if nobody can say.
    eta: float | None = None
    #: The host that keeps it from ending sooner.
    slowest: str = ""
    #: The hosts with the most to do: host, waiting, flying, next_in, why, interval, hits.
    hosts: list[dict[str, Any]] = []
    #: Whether whoever walks it has said how much there is to do.
    heard: bool = False
    #: Processes that are at it.
    workers: int = 0

    @property
    def share(self) -> float:
        """How much of what is known was done: 0 to 1. It goes back when pages lead to more pages."""
        known = self.settled + self.waiting + self.parked + self.flying
        return self.settled / known if known and self.heard else 0.0


class LiveEvent(msgspec.Struct, frozen=True):
    """Something that changed."""

    id: int
    #: "run": a run waits or goes on; "ended": one does no more; "alert": somebody should hear of something.
    kind: str
    data: dict[str, Any]


_ACTIVE = """
select id, scraper, state, via, asked_by, created, started, seconds, settled, pages, items, failed, skipped, retried,
    size, verdict, wanted
from run where state = :state order by id desc limit :n
"""
_ENDED = "select id, scraper, state, reason, pages, items, failed, seconds, verdict, new_items from run where id = :run"
_WORKERS = "select name, at, data from worker where at > :since order by name limit 1000"
_ALERTS = "select id, kind, scraper, run_id, title, at from alert where id > :after order by id limit 20"
_LAST_ALERT = "select coalesce(max(id), 0) from alert"


class Live:
    """Who looks on hears of what changes; who only asks has `active`, which is never older than a few seconds."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.active: list[ActiveRun] = []
        #: Names of the processes that walk runs.
        self.workers: list[str] = []
        self._listeners: set[_Listener] = set()
        self._wake = asyncio.Event()
        self._numbers = 0
        self._alert: int | None = None

    async def run(self) -> None:
        """Look for ever."""
        while True:
            try:
                await self.look()
            except StoreError as why:
                log.warning("live.store", why=str(why))
            self._wake.clear()
            try:
                async with asyncio.timeout(LOOK if self._listeners else REST):
                    await self._wake.wait()
                await asyncio.sleep(0.05)  # many who come at once cause one look
            except TimeoutError:
                pass

    def poke(self) -> None:
        """Look now."""
        self._wake.set()

    async def look(self) -> None:
        """Read what goes on, and tell those who look on what is different."""
        now = time.time()
        workers = [
            (name, told)
            for name, at, data in await self._desk.rows(_WORKERS, since=now - DEAD)
            if at > now - silent_after(told := object_of(data))
        ]
        at_work = _by_run(told for _, told in workers)
        found = [
            _run(row, at_work)
            for state in ("running", "pending")
            for row in await self._desk.rows(_ACTIVE, state=state, n=MOST_RUNS)
        ]
        before = {run.id: run for run in self.active}
        self.active, self.workers = found, [name for name, _ in workers]
        if not self._listeners:
            return
        for run in found:
            if before.pop(run.id, None) != run:
                self._tell("run", {**msgspec.to_builtins(run), "share": round(run.share, 4)})
        for run_id in before:
            await self._tell_end(run_id)
        await self._tell_alerts()

    async def _tell_end(self, run_id: int) -> None:
        row = await self._desk.row(_ENDED, run=run_id)
        names = ("id", "scraper", "state", "reason", "pages", "items", "failed", "seconds", "verdict", "new_items")
        if row is not None and row[2] not in ("running", "pending"):
            self._tell("ended", dict(zip(names, row, strict=True)))

    async def _tell_alerts(self) -> None:
        if self._alert is None:
            newest = await self._desk.row(_LAST_ALERT)
            self._alert = newest[0] if newest else 0
        for number, kind, scraper, run_id, title, at in await self._desk.rows(_ALERTS, after=self._alert):
            self._alert = number
            self._tell(
                "alert", {"id": number, "kind": kind, "scraper": scraper, "run": run_id, "title": title, "at": at}
            )

    def _tell(self, kind: str, data: dict[str, Any]) -> None:
        self._numbers += 1
        event = LiveEvent(self._numbers, kind, data)
        for listener in self._listeners:
            listener.hear(event)

    @asynccontextmanager
    async def listen(self) -> AsyncIterator[AsyncIterator[LiveEvent | None]]:
        """Hear of what changes from now on; None comes now and then when nothing does, to show that all is well."""
        listener = _Listener()
        for run in self.active:
            data = {**msgspec.to_builtins(run), "share": round(run.share, 4)}
            listener.hear(LiveEvent(self._numbers, "run", data))
        self._listeners.add(listener)
        self.poke()
        try:
            yield listener.events()
        finally:
            self._listeners.discard(listener)


class _Listener:
    """One who looks on."""

    def __init__(self) -> None:
        self._kept: deque[LiveEvent] = deque(maxlen=KEPT)
        self._some = asyncio.Event()

    def hear(self, event: LiveEvent) -> None:
        self._kept.append(event)
        self._some.set()

    async def events(self) -> AsyncIterator[LiveEvent | None]:
        while True:
            while self._kept:
                yield self._kept.popleft()
            self._some.clear()
            try:
                async with asyncio.timeout(15):
                    await self._some.wait()
            except TimeoutError:
                yield None


def _by_run(workers: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Run -> what each process that is at it says of it."""
    found: dict[str, list[dict[str, Any]]] = {}
    for told in workers:
        runs = told.get("runs")
        for run, said in runs.items() if isinstance(runs, dict) else ():
            if isinstance(said, dict):
                found.setdefault(run, []).append(said)
    return found


def _run(row: tuple[Any, ...], at_work: dict[str, list[dict[str, Any]]]) -> ActiveRun:
    told = at_work.get(str(row[0]), []) if row[2] == "running" else []
    return ActiveRun(*row, **{**_together(told), "heard": bool(told), "workers": len(told)})


def _together(told: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What several processes say of one run, as one: each tells only of the hosts that it holds."""
    names = ("waiting", "parked", "flying", "rate", "eta", "slowest", "hosts")
    if len(told) < 2:
        return {name: value for said in told for name, value in said.items() if name in names}
    # It ends when the last of them does.
    last = max(told, key=lambda said: said.get("eta") or 0.0)
    hosts = [host for said in told for host in said.get("hosts", ())]
    hosts.sort(key=lambda host: (-host.get("waiting", 0), str(host.get("host", ""))))
    sums = {name: sum(said.get(name) or 0 for said in told) for name in ("waiting", "parked", "flying")}
    return {
        **sums,
        "rate": round(sum(said.get("rate") or 0.0 for said in told), 2),
        "eta": last.get("eta"),
        "slowest": last.get("slowest", ""),
        "hosts": hosts[:MOST_HOSTS],
    }
