"""`gossamer schedule`: when scrapers run by themselves, and what came of it. Works with and without a service."""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import typer
from rich.console import Console

from gossamer import health, schedules, settings, terminal, timetable
from gossamer.catalog import Catalog, told
from gossamer.cli_desk import at_desk, me
from gossamer.cli_options import StoreOption
from gossamer.clock import iso
from gossamer.errors import ConfigError, GossamerError
from gossamer.health import Health
from gossamer.schedules import Entry, Firing
from gossamer.storage import opening
from gossamer.storage.desk import Desk

T = TypeVar("T")

#: A worker that was not heard of for so many seconds is dead.
DEAD = 10.0

schedule_app = typer.Typer(
    name="schedule",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="When scrapers run by themselves under `gossamer serve`: see it, change it, pause it.",
)
err = Console(stderr=True, highlight=False, emoji=False)
out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)


def _complete(typed: str) -> list[str]:
    with suppress(GossamerError):
        found = at_desk(None, lambda desk: desk.rows("select name from schedule order by name limit 1000"))
        return [name for (name,) in found if name.startswith(typed)]
    return []


Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The schedule: as its scraper is called", autocompletion=_complete)
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object a line")]


# -- looking ---------------------------------------------------------------------------------------------------


@schedule_app.command("list")
def list_command(store: StoreOption = None, as_json: AsJson = False) -> None:
    """Show all schedules: when each comes due, when it runs next, and what came of the last time.

    \b
    gossamer schedule list
    gossamer schedule list --json
    """

    async def look(desk: Desk, catalog: Catalog) -> list[tuple[Entry, Health, Firing | None]]:
        odd = await health.odd_ones(desk)
        found = []
        for entry in await schedules.listed(desk, catalog):
            last = await schedules.history(desk, entry.schedule.name, limit=1)
            found.append((entry, odd.get(entry.schedule.scraper, Health()), last[0] if last else None))
        return found

    found = _at(store, look)
    if as_json:
        for entry, state, last in found:
            typer.echo(msgspec.json.encode(_told(entry, state, last)).decode())
        return
    if not found:
        _say('no schedule yet: write every = "6h" on a scraper, or gossamer schedule set SCRAPER --every 6h')
        return
    columns = ("schedule", "scraper", "when", "next run", "last", "state")
    rows = [
        (e.schedule.name, e.schedule.scraper, e.schedule.trigger, terminal.moment(e.next_at), _last(f), _state(e, h))
        for e, h, f in found
    ]
    out.print(terminal.table("", columns, rows))


def _last(firing: Firing | None) -> str:
    return f"{terminal.moment(firing.at)} {firing.what}" if firing else "-"


def _state(entry: Entry, state: Health) -> str:
    if entry.problem:
        return entry.problem
    if not entry.schedule.enabled:
        return "paused"
    if state.breaker == health.CLOSED:
        return "on"
    held = f", held until {terminal.moment(state.open_until)}" if state.open_until > time.time() else ""
    return f"{'paused: ' if held else ''}failed {state.streak} times in a row{held}"


def _told(entry: Entry, state: Health, last: Firing | None) -> dict[str, Any]:
    """A schedule as `--json` prints it."""
    told = msgspec.structs.asdict(entry.schedule)
    del told["trusted"]
    told |= {"anchor": iso(entry.schedule.anchor), "trigger": entry.schedule.trigger}
    told |= {"next_due": iso(entry.next_due), "next_at": iso(entry.next_at), "problem": entry.problem}
    told |= {"declared": entry.declared, "overrides": entry.overrides, "breaker": state.breaker}
    return told | {"held_until": iso(state.open_until), "last": _firing(last) if last else None}


def _firing(firing: Firing) -> dict[str, Any]:
    return {**msgspec.structs.asdict(firing), "due": iso(firing.due), "at": iso(firing.at)}


@schedule_app.command("history")
def history_command(
    name: Name,
    limit: Annotated[int, typer.Option(min=1, max=100_000, metavar="N", help="How many, newest first")] = 20,
    store: StoreOption = None,
    as_json: AsJson = False,
) -> None:
    """Show what came of the due times of a schedule: the run, or why there was none.

    \b
    gossamer schedule history art
    gossamer schedule history art --limit 100 --json
    """
    found = _at(store, lambda desk, catalog: schedules.history(desk, name, limit=limit))
    if as_json:
        for firing in found:
            typer.echo(msgspec.json.encode(_firing(firing)).decode())
        return
    if not found:
        _say(f"{name} has not come due yet")
        return
    rows = [(terminal.moment(f.due), f.what, f.run, f.state or "-", f.detail or "-") for f in found]
    out.print(terminal.table("", ("due", "what", "run", "state", "detail"), rows, numbers=("run",)))


# -- changing --------------------------------------------------------------------------------------------------


@schedule_app.command("set")
def set_command(
    name: Name,
    every: Annotated[str | None, typer.Option(metavar="TIME", help="Time between two runs: 15m, 6h, 1d")] = None,
    cron: Annotated[str | None, typer.Option(metavar="CRON", help="When: '0 6 * * mon-fri', @daily")] = None,
    timezone: Annotated[str | None, typer.Option(metavar="ZONE", help="What the hours of --cron mean [UTC]")] = None,
    jitter: Annotated[str | None, typer.Option(metavar="TIME", help="Put each run off by up to so long")] = None,
    first_delay: Annotated[str | None, typer.Option(metavar="TIME", help="How long the first run waits")] = None,
    misfire: Annotated[
        str | None, typer.Option(metavar="WHAT", help="What was missed: coalesce, skip, all [coalesce]")
    ] = None,
    overlap: Annotated[str | None, typer.Option(metavar="WHAT", help="While it is at work: skip, queue [skip]")] = None,
    pause_after: Annotated[
        str | None, typer.Option(metavar="N", help="Back off after so many failed runs in a row; none: never [3]")
    ] = None,
    silence: Annotated[
        str | None, typer.Option(metavar="TIME", help="Alert if there are no new items for so long; none: never")
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option(metavar="K=V", help="A parameter for the scraper (repeatable)")
    ] = None,
    reset: Annotated[
        list[str] | None, typer.Option(metavar="OPTION", help="Back to what the file says: every, ..., all")
    ] = None,
    scraper: Annotated[
        str | None, typer.Option(metavar="SCRAPER", help="Make one more schedule, with this NAME, for a scraper")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Change a schedule, or make one. What you set here outlives changes of the scraper's file.

    \b
    gossamer schedule set art --every 12h --jitter 10m
    gossamer schedule set art --cron '0 6 * * mon-fri' --timezone Europe/Berlin
    gossamer schedule set art --reset all
    gossamer schedule set art-full --scraper art --cron '0 3 * * sun' --param full=yes
    """
    given = {"every": every, "cron": cron, "timezone": timezone, "jitter": jitter, "first_delay": first_delay}
    given |= {"misfire": misfire, "overlap": overlap, "pause_after": pause_after, "silence": silence}
    changes: dict[str, Any] = dict.fromkeys(_reset(reset or []))
    changes |= {option: value for option, value in given.items() if value is not None}
    if param:
        changes["params"] = settings.params(param)
    if not changes:
        raise ConfigError("nothing is to be changed: give --every, --cron, --jitter ..., or --reset")

    async def do(desk: Desk, catalog: Catalog) -> Entry:
        known = {entry.schedule.name: entry.schedule.scraper for entry in await schedules.listed(desk)}
        if name in known and scraper in (None, known[name]):
            return await schedules.change(desk, name, changes, by=me())
        if scraper is None and name not in catalog:
            raise await schedules.unknown(desk, name, catalog)
        return await schedules.add(desk, catalog, name, scraper or name, changes, by=me())

    _tell(_at(store, do, make=True))


def _reset(options: list[str]) -> list[str]:
    """Fields that are to be as the file says."""
    names = [option.lstrip("-").replace("-", "_") for option in options]
    names = ["params" if name == "param" else name for name in names]
    return [name for name in timetable.FIELDS if name != "enabled"] if "all" in names else names


def _tell(entry: Entry) -> None:
    """One line on a schedule that was changed."""
    schedule = entry.schedule
    when = schedule.trigger or "nothing says when"
    if not schedule.enabled:
        _say(f"{schedule.name}: {when}; paused: {terminal.program()} schedule resume {schedule.name}")
    else:
        _say(f"{schedule.name}: {when}; next run {terminal.moment(entry.next_at)}")


@schedule_app.command("pause")
def pause_command(name: Name, store: StoreOption = None) -> None:
    """Start no more runs by a schedule, until `resume`. One that is under way goes on.

    \b
    gossamer schedule pause art
    """
    _tell(_at(store, lambda desk, catalog: schedules.pause(desk, name, by=me())))


@schedule_app.command("resume")
def resume_command(name: Name, store: StoreOption = None) -> None:
    """Start runs by a schedule again, from its next due time on.

    \b
    gossamer schedule resume art
    """
    _tell(_at(store, lambda desk, catalog: schedules.enable(desk, name, by=me())))


@schedule_app.command("run")
def run_command(name: Name, store: StoreOption = None) -> None:
    """Start what a schedule starts now, and leave its due times as they are. Prints the run's number.

    \b
    gossamer schedule run art
    """

    async def do(desk: Desk, catalog: Catalog) -> tuple[int, bool]:
        run = await schedules.run_now(desk, catalog, name, by=me())
        worker = await desk.row("select 1 from worker where at > :at limit 1", at=time.time() - DEAD)
        return run, worker is not None

    run, walked = _at(store, do)
    typer.echo(str(run))
    if walked:
        _say(f"run {run} begins: {terminal.program()} status {run}")
    else:
        _say(f"run {run} waits, for no service works on this store: start {terminal.program()} serve")


@schedule_app.command("remove")
def remove_command(name: Name, store: StoreOption = None) -> None:
    """Remove a schedule that was made with `set`, or whose scraper is gone; its history too.

    \b
    gossamer schedule remove art-full
    """
    _at(store, lambda desk, catalog: schedules.remove(desk, catalog, name, by=me()))
    _say(f"removed {name}")


# -- plumbing --------------------------------------------------------------------------------------------------


def _at(store: str | None, work: Callable[[Desk, Catalog], Awaitable[T]], *, make: bool = False) -> T:
    """Do something with the schedules of a store, brought in line with what scrapers declare now.

    A store is made for schedules that there are, or are to be; not by looking for some.
    """
    place = settings.read({"store": store} if store else {}).place
    catalog = Catalog(place.scrapers, Path.cwd())
    for broken in catalog.broken:
        _say(f"cannot use {broken.told}")
    make = make and bool(catalog.scrapers)
    make = make or any(timetable.declared(found.scraper) for found in catalog.scrapers.values())

    async def do(desk: Desk) -> T:
        await told(desk, catalog)
        await schedules.sync(desk, catalog)
        return await work(desk, catalog)

    if not make and not opening.exists(place.store):
        raise ConfigError(
            f"there is no store {place.store}, and no scraper here says when it runs: write every = '6h' on one, "
            "or list its file in gossamer.toml"
        )
    return at_desk(store, do, make=make)


def _say(text: str) -> None:
    err.print(text, markup=False, soft_wrap=True)
