"""All that the doctor looks at, in one order; what fails in a look is itself a finding."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from importlib.metadata import entry_points

from gossamer import registry, terminal
from gossamer.doctor import browser, configured, database, machine, network, parent, program, store
from gossamer.doctor.finding import Area, Finding, State, told
from gossamer.doctor.jobs import Known, Loaded, Wanted
from gossamer.settings import Settings
from gossamer.storage import naming

_area = Area("scrapers")
#: The order in which areas are told of.
ORDER = ("program", "settings", "scrapers", "store", "servers", "machine", "network", "robots", "browser", "doctor")


async def examine(
    flags: Mapping[str, str], *, offline: bool = False, hosts: Sequence[str] = (), say: Callable[[str], None]
) -> list[Finding]:
    """Look at everything. `hosts` are more URLs whose hosts are looked at; `say` hears what is being looked at."""
    began = machine.moments()
    say("the program and its settings")
    found = await _safely("program", asyncio.to_thread(lambda: list(program.look())))
    read, of_settings = configured.look(flags)
    found += of_settings
    say("the scrapers that are listed")
    loaded = await _scrapers(read)
    found += loaded[1]
    say("store, machine, network and browser")
    known = loaded[0]
    wants_browser = read.config.render or any(each.render for each in known)
    looks = [
        _safely("store", _store(read.place.store, offline=offline)),
        _safely("servers", configured.servers(read, offline=offline)),
        _safely("settings", configured.proxies(read, os.environ, offline=offline)),
        _safely("machine", _machine(read, offline=offline)),
        _safely("browser", _one(browser.look(wanted=wants_browser))),
    ]
    if not offline:
        looks.append(_safely("network", network.look(network.targets(known, hosts))))
    for some in await asyncio.gather(*looks):
        found += some
    found.append(machine.steady(began, machine.moments()))
    return sorted(found, key=lambda each: ORDER.index(each.area))


async def _store(given: str, *, offline: bool) -> list[Finding]:
    if naming.is_postgres(given):
        return await database.look(given, offline=offline)
    return await asyncio.to_thread(lambda: list(store.look(given)))


async def _machine(read: Settings, *, offline: bool) -> list[Finding]:
    given = read.place.store
    if naming.is_postgres(given):
        newest = None if offline else await database.newest(given)
    else:
        newest = await asyncio.to_thread(store.newest, given)
    return await asyncio.to_thread(lambda: list(machine.look(read.config, newest)))


async def _one(look: Awaitable[Finding]) -> list[Finding]:
    return [await look]


async def _safely(area: str, look: Awaitable[list[Finding]]) -> list[Finding]:
    """A look that fails is told of, and the others go on."""
    try:
        return await look
    except Exception as error:  # noqa: BLE001 - a broken machine breaks in ways nobody foresaw
        text = f"the look at {area} failed: {type(error).__name__}: {told(error)}"
        return [Area("doctor").problem(area, text, "tell us: it should not")]


# -- scrapers --------------------------------------------------------------------------------------------------


def offered() -> list[Wanted]:
    """What installed packages offer."""
    return [
        Wanted(point.value, f"{point.name} of an installed package") for point in entry_points(group=registry.GROUP)
    ]


async def load_listed(read: Settings) -> list[Loaded]:
    """Load all scrapers that are known by name."""
    wanted = [Wanted(ref, ref) for ref in read.place.scrapers] + offered()
    return await parent.load(wanted) if wanted else []


async def _scrapers(read: Settings) -> tuple[list[Known], list[Finding]]:
    try:
        loaded = await load_listed(read)
    except Exception as error:  # noqa: BLE001 - the same
        fix = "see that a process can be started: memory, process limit"
        return [], [_area.problem("scrapers", f"no child process could be asked: {told(error)}", fix)]
    known = [each for some in loaded for each in some.scrapers]
    return known, list(of_scrapers(loaded))


def of_scrapers(loaded: Sequence[Loaded]) -> Iterable[Finding]:
    """What became of loading scrapers: one finding for all that are well, one for each that is not."""
    known = [each for some in loaded for each in some.scrapers]
    if not loaded:
        packs = ", ".join(registry.packs())
        yield _area.absent(
            "scrapers",
            "none is listed",
            f'list yours in gossamer.toml, like scrapers = ["quotes.py"]{f", or packs: {packs}" if packs else ""}',
        )
    elif known:
        names = ", ".join(each.name for each in known[:8]) + (" ..." if len(known) > 8 else "")
        yield _area.ok("scrapers", f"{terminal.many(len(known), 'scraper')} can be loaded: {names}")
    for some in loaded:
        if some.error:
            yield _area.problem(
                some.wanted.label,
                f"cannot be loaded: {some.error}",
                "mend it, or take it out of scrapers in gossamer.toml",
            )
    for each in known:
        if each.lacking:
            what, _, how = each.lacking.partition(": ")
            yield _area.problem(each.name, f"needs a browser: {what}", how)
        if each.unclear and not each.starts and "--param" not in each.unclear:
            yield _area.warning(
                each.name,
                f"does not say where it begins: {each.unclear}",
                f"mend it: gossamer doctor --scrapers {each.name}",
            )


def worst(findings: Iterable[Finding]) -> State:
    """The worst state among findings."""
    order = list(State)
    return max((each.state for each in findings), key=order.index, default=State.OK)
