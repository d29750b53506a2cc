"""`gossamer run --cluster`: runs are handed to workers, and their progress is followed from here."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, NoReturn, cast

import msgspec
import typer
from rich.console import Console
from rich.status import Status

from gossamer import runs, terminal
from gossamer.library import wait
from gossamer.runs import Plan, Report
from gossamer.settings import Place
from gossamer.storage import opening
from gossamer.storage.shared import Shared

err = Console(stderr=True, highlight=False, emoji=False)
#: Seconds without a worker after which that is said.
ALONE = 5.0
#: Seconds between two lines where there is no terminal.
NOW_AND_THEN = 10.0

Tell = Callable[[Plan, Report, None], None]


def follow_on_cluster(plans: list[Plan], tell: Tell, *, as_json: bool) -> NoReturn:
    """Have workers walk plans, look on, and say how they ended. Ctrl-C leaves them at work."""
    place = plans[0].settings.place
    from gossamer.cluster import offering

    publish = offering.publisher(place)
    reports = wait(_follow_all(plans, place, publish))
    code = 0
    for asked, report in zip(plans, reports, strict=True):
        if report is None:
            code = 130
            continue
        if not place.quiet:
            tell(asked, report, None)
        if as_json:
            typer.echo(msgspec.json.encode(report).decode())
        code = max(code, report.exit_code)
    raise typer.Exit(code)


async def _follow_all(plans: list[Plan], place: Place, publish: Any) -> list[Report | None]:
    from gossamer.cluster import offering

    left = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, left.set)
    async with opening.working(place.store) as opened:
        store = cast("Shared", opened)
        offered = [await offering.offer(store, asked, publish, place.lease) for asked in plans]
        if not place.quiet:
            names = ", ".join(f"{run.scraper} is run {run.id}" for run in offered)
            err.print(f"handed to workers: {names}", markup=False)
        async with _shown(quiet=place.quiet) as show:
            return list(await asyncio.gather(*(_follow(store, run.id, show, left, place) for run in offered)))


async def _follow(
    store: Shared, run_id: int, show: Callable[[int, str], None], left: asyncio.Event, place: Place
) -> Report | None:
    from gossamer.cluster import offering

    idle = 0.0
    async for look in offering.follow(store, run_id):
        run = look.run
        told = f"{run.scraper}: {run.state}, {terminal.many(run.pages, 'page')}, {terminal.many(run.items, 'item')}"
        told += f", {look.rate:.1f}/s, {terminal.many(look.walked, 'shard')} being walked"
        idle = 0.0 if look.walked or run.state != "pending" else idle + offering.LOOK
        if idle > ALONE:
            told += "; no worker has taken it yet: start one with `gossamer worker`"
        show(run_id, told)
        if left.is_set():
            program, option = terminal.program(), terminal.store_option(opening.shown(place.store))
            err.print(
                f"run {run_id} goes on without you: {program} cluster status{option} shows it, "
                f"{program} cluster cancel {run_id}{option} stops it",
                markup=False,
                soft_wrap=True,
            )
            return None
    return runs.report(run)


@asynccontextmanager
async def _shown(*, quiet: bool) -> AsyncIterator[Callable[[int, str], None]]:
    """Show one line for all runs on a terminal; elsewhere, a line now and then."""
    lines: dict[int, str] = {}
    if quiet:
        yield lambda run, told: None
        return
    if not err.is_terminal:
        said: dict[int, float] = {}

        def tell(run: int, told: str) -> None:
            if time.monotonic() - said.setdefault(run, time.monotonic()) >= NOW_AND_THEN:
                said[run] = time.monotonic()
                err.print(told, markup=False, soft_wrap=True)

        yield tell
        return
    with Status("", console=err) as status:

        def show(run: int, told: str) -> None:
            lines[run] = told
            status.update("\n".join(lines.values()))

        yield show
