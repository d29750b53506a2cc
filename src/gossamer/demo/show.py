"""`gossamer demo`: three scrapers on three demo sites, then what they brought."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import msgspec
from rich.console import Console

from gossamer import runs, terminal
from gossamer.demo.scrapers import Books, Museum, Weather
from gossamer.demo.sites import DemoSites
from gossamer.registry import Found
from gossamer.runs import Parts, Plan
from gossamer.scraper import Scraper
from gossamer.storage.store import Store, Wanted
from gossamer.terminal import Screen


async def demo(store: str, screen: Screen, out: Console) -> None:
    """Run the demo: sites, scrapers, tables, and what to try next."""
    with DemoSites() as sites:
        hosts = {Books: sites.bookshop, Weather: sites.weather, Museum: sites.museum}
        plans = [_plan(scraper, site.url("/"), store) for scraper, site in hosts.items()]
        screen.say("three demo sites are up: " + ", ".join(f"{n} at {h}" for n, h in sites.hosts().items()))
        async with runs.open_parts(store, archive=True) as parts:
            async with screen:
                reports = await asyncio.gather(*(_one(parts, asked, screen) for asked in plans))
            for asked, report in zip(plans, reports, strict=True):
                screen.say(terminal.summary(report, asked.found.scraper.name))
            run_ids = [report.run for report in reports]
            await _show_items(parts.store, run_ids, out)
            await _show_hosts(parts, run_ids, {host: name for name, host in sites.hosts().items()}, out)
        _next(out, store, sites, run_ids[-1])


async def _one(parts: Parts, asked: Plan, screen: Screen) -> runs.Report:
    return await runs.execute(parts, asked, screen.watch)


def _plan(scraper: type[Scraper], site: str, store: str) -> Plan:
    found = Found(scraper, f"{scraper.__module__}:{scraper.__name__}")
    return runs.plan(found, {"site": site}, {"store": store}, fresh=True)


async def _show_items(store: Store, run_ids: list[int], out: Console) -> None:
    kinds: Counter[str] = Counter()
    samples: dict[str, dict[str, Any]] = {}
    for run in run_ids:
        async for item in store.items(Wanted(run=run)):
            kinds[item.kind] += 1
            samples.setdefault(item.kind, item.record())
    out.print()
    rows = [(kind, n, _short(samples[kind])) for kind, n in kinds.items()]
    out.print(terminal.table("what was collected", ("kind", "items", "the first of them"), rows, numbers=("items",)))


async def _show_hosts(parts: Parts, run_ids: list[int], names: dict[str, str], out: Console) -> None:
    rows = []
    for run in run_ids:
        for row in await parts.store.host_table(run):
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
    out.print(terminal.table("how the hosts were treated", columns, rows, numbers=columns[1:]))


def _short(record: dict[str, Any]) -> str:
    text = msgspec.json.encode(record).decode()
    return text if len(text) <= 110 else text[:107] + "..."


def _next(out: Console, store: str, sites: DemoSites, run: int) -> None:
    gossamer, option = terminal.program(), terminal.store_option(store)
    lines = [
        "",
        "try next:",
        f"  {gossamer} export items{option} --scraper demo.books --format csv",
        f"  {gossamer} why {sites.bookshop.url('/admin/')}{option}",
        f"  {gossamer} status {run}{option}",
    ]
    out.print("\n".join(lines), markup=False, soft_wrap=True)
