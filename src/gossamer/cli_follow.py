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
from rich.markup import escape
from rich.status import Status

from gossamer import redaction, runs, telemetry, terminal
from gossamer.cluster import offering
from gossamer.cluster.offering import Look
from gossamer.library import wait
from gossamer.runs import Plan, Report
from gossamer.settings import Place
from gossamer.storage import opening
from gossamer.storage.shared import Shared

err = Console(stderr=True, highlight=False, emoji=False)
#: Seconds between two lines where there is no terminal.
NOW_AND_THEN = 10.0

Tell = Callable[[Plan, Report, None], None]


def follow_on_cluster(plans: list[Plan], tell: Tell, *, as_json: bool) -> NoReturn:
    """Have workers walk plans, look on, and say how they ended. Ctrl-C leaves them at work."""
    place = plans[0].settings.place
    telemetry.configure(place.log_level, place.log_format, secrets=redaction.secrets_of(plans[0].settings))
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
    left = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, left.set)
    async with opening.working(place.store) as opened, opening.looking(place.store) as desk:
        store = cast("Shared", opened)
        offered = [await offering.offer(store, asked, publish, place.lease) for asked in plans]
        if not place.quiet:
            names = ", ".join(f"{run.scraper} is run {run.id}" for run in offered)
            err.print(f"handed to workers: {names}", markup=False)
        async with _shown(quiet=place.quiet) as show:
            looks = (offering.follow(store, desk, run, place.broker or "") for run in offered)
            return list(await asyncio.gather(*(_follow(each, show, left, place) for each in looks)))


async def _follow(
    looks: AsyncIterator[Look], show: Callable[[int, str, str], None], left: asyncio.Event, place: Place
) -> Report | None:
    async for look in looks:
        run = look.run
        told = f"{run.scraper}: {run.state}, {terminal.many(run.pages, 'page')}, {terminal.many(run.items, 'item')}"
        told += f", {look.rate:.1f}/s, {terminal.many(look.walked, 'shard')} being walked"
        show(run.id, told, look.why)
        if left.is_set():
            program, option = terminal.program(), terminal.store_option(place.store)
            err.print(
                f"run {run.id} goes on without you: {program} cluster status{option} shows it, "
                f"{program} cluster cancel {run.id}{option} stops it",
                markup=False,
                soft_wrap=True,
            )
            return None
    return runs.report(run)


@asynccontextmanager
async def _shown(*, quiet: bool) -> AsyncIterator[Callable[[int, str, str], None]]:
    """Show one line for all runs on a terminal; elsewhere a line now and then, and at once why nothing goes on."""
    lines: dict[int, str] = {}
    if quiet:
        yield lambda run, told, why: None
        return
    if not err.is_terminal:
        said: dict[int, tuple[float, str]] = {}

        def tell(run: int, told: str, why: str) -> None:
            last, reason = said.setdefault(run, (time.monotonic(), ""))
            if time.monotonic() - last >= NOW_AND_THEN or (why and why != reason):
                said[run] = time.monotonic(), why
                err.print(_joined(told, why), markup=False, soft_wrap=True)

        yield tell
        return
    with Status("", console=err) as status:

        def show(run: int, told: str, why: str) -> None:
            lines[run] = escape(_joined(told, why))
            status.update("\n".join(lines.values()))

        yield show


def _joined(told: str, why: str) -> str:
    return f"{told}; {why}" if why else told
