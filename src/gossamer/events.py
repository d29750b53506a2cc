"""The events worth keeping, in the store: warnings, and how runs, schedules, alerts and breakers went.

Whoever logs only puts them into a queue; they are written in groups, once a second. Neither a flood of warnings nor a
store that cannot be written costs more than the queue: what does not fit is dropped, counted, and said.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec
from structlog.typing import EventDict

from gossamer.errors import StoreError
from gossamer.storage.desk import Desk, Reading, Row, Writing
from gossamer.telemetry import log

#: Events the store keeps: the newest.
KEPT = 100_000
#: Events that wait to be written; important ones have as much room again.
WAITING = 2_000
#: Events of one name and run that are kept in a minute; important ones have ten times as many.
A_MINUTE = 100
#: Seconds between two writings.
EVERY = 1.0
#: Events written in one transaction.
GROUP = 500
#: Old events deleted in one transaction.
SWEEP = 2_000
#: Characters of a message, and of the facts of an event.
LONGEST = 500
MOST_FACTS = 4_000

LEVELS = ("debug", "info", "warning", "error", "critical")
#: Of events at info, those are kept whose name begins so.
LASTING = frozenset(
    {"run", "schedule", "alert", "breaker", "drift", "host", "sink", "scraper", "service", "runner", "worker"}
    | {"account", "token", "login"}
)

_COLUMNS = ("at", "level", "name", "run_id", "scraper", "message", "data")
#: What has a column of its own.
_APART = frozenset({"timestamp", "level", "event", "run", "scraper"})


class Kept(msgspec.Struct, frozen=True):
    """An event of the store."""

    id: int
    at: float
    level: str
    name: str
    run: int | None
    scraper: str
    message: str
    data: dict[str, Any]


class New(msgspec.Struct, frozen=True):
    """An event that is to be kept."""

    at: float
    level: str
    name: str
    run_id: int | None
    scraper: str
    message: str
    data: str


def is_kept(event: Mapping[str, Any]) -> bool:
    """Whether an event is one for the store."""
    level = event.get("level", "info")
    if level in ("warning", "error", "critical"):
        return True
    return level == "info" and str(event.get("event", "")).partition(".")[0] in LASTING


class Events:
    """Hears events, from any thread, and has the important ones written.

    `hear` goes to `telemetry.configure`, and `run` to a task: when that is cancelled, what waits is written first.
    """

    def __init__(self, desk: Desk, kept: int = KEPT) -> None:
        """Events go through `desk` into the store, which has the newest `kept` of them."""
        self._desk = desk
        self._kept = kept
        self._since_sweep = SWEEP  # the first group looks
        self._waiting: deque[New] = deque()
        self._minute = 0
        self._counts: dict[tuple[str, object], int] = {}
        self._failing = False
        #: Events that were worth keeping and are not kept.
        self.dropped = 0
        self._told = 0

    def hear(self, event: EventDict) -> None:
        """Take an event whose secrets are gone. Never waits."""
        if not is_kept(event):
            return
        important = event.get("level") != "warning"
        room = 2 * WAITING if important else WAITING
        if len(self._waiting) >= room or self._is_flood(event, 10 * A_MINUTE if important else A_MINUTE):
            self.dropped += 1
            return
        self._waiting.append(_new(event))

    def _is_flood(self, event: EventDict, most: int) -> bool:
        """Whether enough of the same was kept this minute: a site that fails on every page is told of, not copied."""
        minute = int(time.monotonic() // 60)
        if minute != self._minute or len(self._counts) > 10_000:
            self._minute, self._counts = minute, {}
        what = (str(event.get("event", "")), event.get("run"))
        self._counts[what] = self._counts.get(what, 0) + 1
        return self._counts[what] > most

    async def run(self) -> None:
        """Write what was heard, once a second, until cancelled."""
        try:
            while True:
                await asyncio.sleep(EVERY)
                await self.flush()
        finally:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.flush(), 5.0)

    async def flush(self) -> None:
        """Write what waits. What the store cannot take now is tried again with the next group."""
        if self.dropped > self._told and len(self._waiting) < 2 * WAITING:
            self._waiting.append(_losses(self.dropped - self._told))
            self._told = self.dropped
        while self._waiting:
            group = [self._waiting.popleft() for _ in range(min(GROUP, len(self._waiting)))]
            try:
                await self._write(group)
            except StoreError as why:
                self._waiting.extendleft(reversed(group))
                if not self._failing:
                    self._failing = True
                    log.warning("events.unwritten", why=str(why))
                return
            except BaseException:
                self._waiting.extendleft(reversed(group))
                raise
            self._failing = False

    async def _write(self, group: list[New]) -> None:
        async with self._desk.writing() as writing:
            for first in range(0, len(group), _ROWS):
                await _insert(writing, group[first : first + _ROWS])
            if self._since_sweep + len(group) >= SWEEP // 2:
                swept = await _sweep(writing, self._kept)
                self._since_sweep = SWEEP if swept == SWEEP else 0
            else:
                self._since_sweep += len(group)


def _losses(number: int) -> New:
    told = f"{number:,} events were not kept: too many came at once. The log files may have them"
    data = msgspec.json.encode({"events": number}).decode()
    return New(time.time(), "warning", "events.dropped", None, "", told, data)


def _new(event: Mapping[str, Any]) -> New:
    facts = {name: value for name, value in event.items() if name not in _APART}
    run = event.get("run")
    return New(
        at=time.time(),
        level=str(event.get("level", "info")),
        name=_line(event.get("event", ""))[:200],
        run_id=run if isinstance(run, int) and 0 < run < 1 << 62 else None,
        scraper=_line(event.get("scraper") or "")[:200],
        message=_message(facts),
        data=_facts(facts),
    )


def _message(facts: Mapping[str, Any]) -> str:
    """What an event says, in one line: why, and else its facts."""
    why = facts.get("why")
    if isinstance(why, str) and why:
        others = [f"{name}={_line(facts[name])}" for name in ("url", "host", "sink") if facts.get(name)]
        return _line(why, LONGEST - 1) + (f" ({', '.join(others)})"[:LONGEST] if others else "")
    told = ", ".join(f"{name}={_line(value, 200)}" for name, value in facts.items() if name != "exception")
    return told[:LONGEST]


def _line(value: object, longest: int = LONGEST) -> str:
    """A value on one line, in which nothing can be hidden from whoever reads it on a terminal."""
    text = " ".join(str(value)[: 2 * longest].split())[:longest]
    return text if text.isprintable() else repr(text)[1:-1]


def _facts(facts: Mapping[str, Any]) -> str:
    """The facts as JSON; of too many, the first that fit."""
    trace = facts.get("exception")
    facts = {**facts, "exception": trace[-MOST_FACTS // 2 :]} if isinstance(trace, str) else facts
    while True:
        try:
            made = msgspec.json.encode(facts, enc_hook=str).decode()
        except (TypeError, ValueError, OverflowError, RecursionError):
            return "{}"
        if len(made) <= MOST_FACTS:
            return made
        largest = max(facts, key=lambda name: len(str(facts[name])))
        if len(str(facts[largest])) <= 40:
            return "{}"
        facts = {**facts, largest: str(facts[largest])[: len(str(facts[largest])) // 2]}


# -- in the store ------------------------------------------------------------------------------------------------

#: Events in one statement.
_ROWS = 50
_INSERT = "insert into event (at, level, name, run_id, scraper, message, data) values "
_SWEEP = "delete from event where id in (select id from event where id <= :least order by id limit :most)"


async def _insert(writing: Writing, group: list[New]) -> None:
    values: list[str] = []
    names: dict[str, Any] = {}
    for n, each in enumerate(group):
        values.append("(" + ", ".join(f":{column}{n}" for column in _COLUMNS) + ")")
        names |= {f"{column}{n}": getattr(each, column) for column in _COLUMNS}
    await writing.run(_INSERT + ", ".join(values), **names)


async def _sweep(writing: Writing, kept: int) -> int:
    """Delete some of what is too old. Numbers only grow, so the newest are known without counting."""
    newest = await writing.row("select max(id) from event")
    least = (newest[0] if newest and newest[0] else 0) - kept
    return await writing.run(_SWEEP, least=least, most=SWEEP) if least > 0 else 0


_SELECT = "select id, at, level, name, run_id, scraper, message, data from event where "
_WANTED = " and level in (:l0, :l1, :l2, :l3, :l4) and (:scraper = '' or scraper = :scraper)"
_AFTER = _SELECT + "id > :after" + _WANTED + " order by id limit :most"
_AFTER_IN_RUN = _SELECT + "run_id = :run and id > :after" + _WANTED + " order by id limit :most"
_LAST = _SELECT + "id > 0" + _WANTED + " order by id desc limit :most"
_LAST_IN_RUN = _SELECT + "run_id = :run" + _WANTED + " order by id desc limit :most"


async def tail(
    desk: Reading,
    run: int | None = None,
    after_id: int = 0,
    *,
    level: str = "debug",
    scraper: str = "",
    most: int = 500,
) -> list[Kept]:
    """Events that came after one, oldest first: of a run or of all, of a level and above."""
    names = {**_filters(level, scraper), "after": after_id, "most": most}
    if run is None:
        return _read(await desk.rows(_AFTER, **names))
    return _read(await desk.rows(_AFTER_IN_RUN, run=run, **names))


async def last(
    desk: Reading, run: int | None = None, *, level: str = "debug", scraper: str = "", most: int = 100
) -> list[Kept]:
    """The newest events, oldest first."""
    names = {**_filters(level, scraper), "most": most}
    if run is None:
        return _read(await desk.rows(_LAST, **names))[::-1]
    return _read(await desk.rows(_LAST_IN_RUN, run=run, **names))[::-1]


def _filters(level: str, scraper: str) -> dict[str, str]:
    wanted = LEVELS[LEVELS.index(level) :]
    return {**{f"l{n}": wanted[n] if n < len(wanted) else "" for n in range(len(LEVELS))}, "scraper": scraper}


def _read(rows: list[Row]) -> list[Kept]:
    return [
        Kept(number, at, level, name, run, scraper, message, msgspec.json.decode(data))
        for number, at, level, name, run, scraper, message, data in rows
    ]
