"""Having a run walked by workers: it is written down, a ticket is given to the broker, and whoever asked looks on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import msgspec

from gossamer import lists, owners, runs
from gossamer.errors import ConfigError, StoreAway, StoreError
from gossamer.runs import Plan
from gossamer.settings import Place
from gossamer.storage import opening
from gossamer.storage.desk import Reading
from gossamer.storage.shared import Shared, Ticket
from gossamer.telemetry import log
from gossamer.values import CONDUCTOR, Run, RunState

#: Seconds between two looks at a run that workers walk.
LOOK = 0.5
#: Seconds in which workers begin a run, if nothing is wrong.
ALONE = 5.0
_WALKER = """
select owner from lease where shard = -1 and owner is not null and until > extract(epoch from clock_timestamp()) limit 1
"""
#: Knobs that are never written down, so that workers cannot have them from whoever asks.
_OWN = ("headers", "proxies")


class Look(msgspec.Struct, frozen=True):
    """How a run gets on."""

    run: Run
    #: Shards that are being walked, and pages a second lately.
    walked: int
    rate: float
    #: Why nobody walks it, or why nothing can be said of it; empty: there is no such reason.
    why: str = ""


def publisher(place: Place) -> Callable[[list[Ticket]], None]:
    """Who gives tickets to the broker. Raises ConfigError where there is nothing that workers could share."""
    if not opening.is_postgres(place.store):
        raise ConfigError("workers share a postgresql:// store: give one with --store, or leave --cluster out")
    try:
        from gossamer import workers
    except ImportError as error:
        raise ConfigError(
            f"the cluster is not installed (there is no {error.name}): pip install 'gossamer[cluster]'"
        ) from None
    return workers.publisher(place)


async def offer(store: Shared, asked: Plan, publish: Callable[[list[Ticket]], None], lease: float) -> Run:
    """Have workers walk a plan: a new run, or the unfinished one that it means. Raises ConfigError."""
    config, origins = asked.settings.config, asked.settings.origins
    if config.dry_run:
        raise ConfigError("a dry run stores nothing, and workers know only what is stored: leave --cluster out")
    for name in _OWN:
        if origins.get(name, "").startswith("--"):
            raise ConfigError(
                f"{name} may hold secrets and are not handed to workers: set them in the scraper, or in gossamer.toml "
                "where the workers run"
            )
    run, _ = await runs.find_or_make(store, asked)
    # What is said now holds; and a budget counts from each start: that of an earlier one is over.
    budgets = {name: getattr(config, name) for name in runs.BUDGETS}
    asked_for = {**run.options, **runs.draft_of(asked).options, **budgets}
    options = {name: value for name, value in asked_for.items() if value is not None}
    if run.state == RunState.RUNNING and options != run.options:
        log.warning("run.goes_on", run=run.id, why="it goes on as it was begun: cancel it first, to have it otherwise")
    await store.offer(run.id, options, config.workers)
    tickets = await store.issue(run.id, {CONDUCTOR}, lease)
    try:
        if tickets:
            await asyncio.to_thread(publish, tickets)
    except StoreError as why:  # workers look for runs by themselves, a little later
        log.warning("run.unpublished", run=run.id, why=str(why))
    found = await store.run(run.id)
    assert found is not None
    return found


async def follow(store: Shared, desk: Reading, run: Run, broker: str) -> AsyncIterator[Look]:
    """Look on until a run has ended; the last look is that of its end. A store that is away is waited for."""
    marks: list[tuple[float, int]] = []
    began = time.monotonic()
    while True:
        try:
            found, standing = await store.run(run.id), await store.standing(run.id)
            if found is None or standing is None:
                raise ConfigError(f"run {run.id} is no more: somebody deleted it")
            run, now = found, time.monotonic()
            marks = [mark for mark in marks if mark[0] > now - 10] + [(now, run.pages)]
            passed = now - marks[0][0]
            waits = run.state == RunState.PENDING and not standing.walked
            why = await _why_it_waits(desk, broker, long=now - began > ALONE) if waits else ""
            yield Look(run, standing.walked, (run.pages - marks[0][1]) / passed if passed > 0 else 0.0, why)
        except StoreAway as error:
            yield Look(run, 0, 0.0, f"{error}; workers go on as soon as it is back")
        if run.state not in (RunState.PENDING, RunState.RUNNING):
            return
        await asyncio.sleep(LOOK)


async def _why_it_waits(desk: Reading, broker: str, *, long: bool) -> str:
    """Why nobody has begun a run yet, as far as the rows tell; `long`: for longer than it should take."""
    walker = await desk.row(_WALKER)
    if walker is not None:
        return f"{owners.told(walker[0])} walks this store by itself: workers begin when that has ended"
    living = await lists.living(desk)
    if not living:
        return "no worker lives: start one with `gossamer worker`"
    if not long:
        return ""
    listened = {str(each.data.get("broker", "")) for each in living}
    if opening.shown(broker) not in listened:
        return f"workers hear of work at {', '.join(sorted(listened))}, not at {opening.shown(broker)}: it takes longer"
    count = f"{len(living):,} worker{'' if len(living) == 1 else 's'}"
    return f"of {count} that live, none has begun it yet: `gossamer cluster status` says what they do"
