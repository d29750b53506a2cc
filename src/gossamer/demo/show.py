"""`gossamer demo`: three scrapers on three demo sites and the packs on theirs, then what they brought."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
from rich.console import Console

from gossamer import registry, runs, terminal
from gossamer.demo import packs
from gossamer.demo.packs import PackSites
from gossamer.demo.scrapers import Books, Museum, Weather
from gossamer.demo.sites import DemoSites
from gossamer.registry import Found
from gossamer.runs import Parts, Plan, Report
from gossamer.scraper import Scraper
from gossamer.storage.store import Store, Wanted
from gossamer.terminal import Screen


async def demo(store: str, screen: Screen, out: Console) -> None:
    """Run the demo: sites, scrapers, tables, and what to try next."""
    with DemoSites() as sites, PackSites() as of_packs:
        hosts = {Books: sites.bookshop, Weather: sites.weather, Museum: sites.museum}
        plans = [_plan(scraper, site.url("/"), store) for scraper, site in hosts.items()]
        plans += [_pack_plan(found, of_packs, store) for found in registry.in_packs() if packs.is_ours(found)]
        screen.say("three demo sites are up: " + ", ".join(f"{n} at {h}" for n, h in sites.hosts().items()))
        screen.say(
            f"so are small copies of the {len(of_packs.hosts)} sites that the packs know: {len(plans)} scrapers "
            "are at work on all of them"
        )
        async with runs.open_parts(store, archive=True) as parts:
            async with screen:
                reports = await asyncio.gather(*(runs.execute(parts, asked, screen.watch) for asked in plans))
            await _show(parts, plans, reports, {host: name for name, host in sites.hosts().items()}, out)
        _next(out, store, sites, reports[len(hosts) - 1].run)


def _plan(scraper: type[Scraper], site: str, store: str) -> Plan:
    found = Found(scraper, f"{scraper.__module__}:{scraper.__name__}")
    return runs.plan(found, {"site": site}, {"store": store}, fresh=True)


def _pack_plan(found: Found, sites: PackSites, store: str) -> Plan:
    return runs.plan(found, packs.params(found), {"store": store, **sites.knobs()}, fresh=True)


async def _show(
    parts: Parts, plans: Sequence[Plan], reports: Sequence[Report], names: dict[str, str], out: Console
) -> None:
    """What was collected, by whom, and how the hosts were treated."""
    rows = []
    for asked, report in zip(plans, reports, strict=True):
        odd = terminal.reasons(report)
        rows.append((asked.found.scraper.name, report.pages, report.items, terminal.span(report.seconds), odd))
    columns = ("scraper", "pages", "items", "took", "not read")
    out.print()
    out.print(terminal.table("what the scrapers did", columns, rows, numbers=columns[1:4]))
    run_ids = [report.run for report in reports]
    await _show_items(parts.store, run_ids, out)
    await _show_hosts(parts, run_ids, names, out)


async def _show_items(store: Store, run_ids: Sequence[int], out: Console) -> None:
    kinds: Counter[str] = Counter()
    samples: dict[str, dict[str, Any]] = {}
    for run in run_ids:
        async for item in store.items(Wanted(run=run)):
            kinds[item.kind] += 1
            samples.setdefault(item.kind, item.record())
    out.print()
    rows = [(kind, n, _short(samples[kind])) for kind, n in kinds.items()]
    out.print(terminal.table("what was collected", ("kind", "items", "the first of them"), rows, numbers=("items",)))


async def _show_hosts(parts: Parts, run_ids: Sequence[int], names: dict[str, str], out: Console) -> None:
    """How the three demo sites were treated: those of the packs have a page or two each."""
    rows = []
    for run in run_ids:
        for row in await parts.store.host_table(run):
            if row["host"] not in names:
                continue
            door = parts.gate.doors[row["host"]]
            span = row["last"] - row["first"]
            rows.append(
                (
                    names[row["host"]],
                    row["pages"],
                    row["failed"],
                    row["skipped"],
                    row["retries"],
                    f"{1 / door.interval:.3g}/s",
                    f"{(row['pages'] - 1) / span:.1f}/s",
                    terminal.span(door.waited) if door.waited else "-",
                )
            )
    columns = ("host", "pages", "failed", "skipped", "retries", "allowed", "kept", "held")
    out.print()
    out.print(terminal.table("how the demo sites were treated", columns, rows, numbers=columns[1:]))


def _short(record: dict[str, Any]) -> str:
    known = {name: value for name, value in record.items() if value not in (None, [], "")}
    text = msgspec.json.encode(known).decode()
    return text if len(text) <= 110 else text[:107] + "..."


def _next(out: Console, store: str, sites: DemoSites, run: int) -> None:
    gossamer, option = terminal.program(), terminal.store_option(store)
    demo_option = terminal.store_option(store, "demo.db")
    lines = [
        "",
        "try next:",
        f"  {gossamer} demo --serve{demo_option}",
        "      the dashboard, on what was just collected",
        f"  {gossamer} export items{option} --kind opportunity --unique fingerprint --format csv",
        f"  {gossamer} why {sites.bookshop.url('/admin/')}{option}",
        f"  {gossamer} status {run}{option}",
        f"  {gossamer} list",
        "      what the packs collect from the real sites, and how often",
    ]
    out.print("\n".join(lines), markup=False, soft_wrap=True)
