"""Having a run walked by workers: it is written down, a ticket is given to the broker, and whoever asked looks on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import msgspec

from gossamer import runs
from gossamer.errors import ConfigError, StoreError
from gossamer.runs import Plan
from gossamer.settings import Place
from gossamer.storage import opening
from gossamer.storage.shared import Shared, Ticket
from gossamer.telemetry import log
from gossamer.values import CONDUCTOR, Run, RunState

#: Seconds between two looks at a run that workers walk.
LOOK = 0.5
#: Knobs that are never written down, so that workers cannot have them from whoever asks.
_OWN = ("headers", "proxies")


class Look(msgspec.Struct, frozen=True):
    """How a run gets on."""

    run: Run
    #: Shards that are being walked, and pages a second lately.
    walked: int
    rate: float


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
    # A budget counts from each start: that of an earlier one is over.
    budgets = {name: getattr(config, name) for name in runs.BUDGETS}
    options = {name: value for name, value in {**run.options, **budgets}.items() if value is not None}
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


async def follow(store: Shared, run_id: int) -> AsyncIterator[Look]:
    """Look on until a run has ended; the last look is that of its end."""
    marks: list[tuple[float, int]] = []
    while True:
        run, standing = await store.run(run_id), await store.standing(run_id)
        if run is None or standing is None:
            raise ConfigError(f"run {run_id} is no more: somebody deleted it")
        now = time.monotonic()
        marks = [mark for mark in marks if mark[0] > now - 10] + [(now, run.pages)]
        passed = now - marks[0][0]
        yield Look(run, standing.walked, (run.pages - marks[0][1]) / passed if passed > 0 else 0.0)
        if run.state not in (RunState.PENDING, RunState.RUNNING):
            return
        await asyncio.sleep(LOOK)
