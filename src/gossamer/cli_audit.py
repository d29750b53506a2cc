"""`gossamer audit`: every host held against what was promised, on the screen or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import msgspec
import typer
from rich.console import Console, Group, RenderableType
from rich.text import Text

from gossamer import runs, settings, terminal, urls
from gossamer.audit import Audit, Auditor, HostAudit
from gossamer.cli_options import StoreOption, run_number
from gossamer.errors import ConfigError
from gossamer.library import wait
from gossamer.storage.store import RobotsNote, Store

#: Hosts shown in the table: those with breaches, then the busiest.
MOST_HOSTS = 40
#: Breaches shown; the JSON form has more.
MOST_BREACHES = 25


def audit_command(
    run: Annotated[
        int | None, typer.Argument(parser=run_number, metavar="RUN", help="The run's number [all runs]")
    ] = None,
    store: StoreOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, on stdout")] = False,
) -> None:
    """Prove from the log of what was fetched that every host was treated as promised. Exit code 1: one was not.

    \b
    gossamer audit
    gossamer audit 3 --json
    """
    path = settings.read({"store": store} if store else {}).place.store

    async def look() -> Audit:
        async with runs.open_store(path) as opened:
            return await of_store(opened, run)

    found = wait(look())
    if as_json:
        typer.echo(msgspec.json.encode({"clean": found.clean, **msgspec.to_builtins(found)}).decode())
    else:
        out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)
        out.print(render(found), soft_wrap=True)
    if not found.clean:
        raise typer.Exit(1)


async def of_store(store: Store, run: int | None) -> Audit:
    """The audit of one run, or of everything in a store. Raises ConfigError if there is no such run."""
    if run is not None and await store.run(run) is None:
        raise ConfigError(f"there is no run {run}: `gossamer runs` lists them")
    versions: dict[str, Sequence[RobotsNote]] = {}
    auditor = Auditor(await store.starts(run), await store.notices(None), lambda origin: versions[origin])
    host = ""
    async for line in store.fetch_log(run):
        if line.host != host:
            host = line.host
            versions.clear()
        origin = urls.origin(line.url)
        if origin not in versions:
            versions[origin] = await store.robots(origin)
        auditor.feed(line)
    return auditor.result()


# -- on the screen ---------------------------------------------------------------------------------------------


def render(audit: Audit) -> RenderableType:
    """An audit for people: hosts, what was heard from them, breaches, and a verdict."""
    if not audit.fetches and not any(host.loaded for host in audit.hosts):
        return Text("nothing was fetched: there is nothing to audit")
    parts: list[RenderableType] = [_hosts([*audit.hosts, *audit.domains])]
    parts += [Text(line) for line in _heard(audit)]
    parts += [Text(note) for note in audit.notes]
    told = audit.breaches[:MOST_BREACHES]
    parts += [Text(f"breach of {breach.rule}, run {breach.run}: {breach.text}", style="red") for breach in told]
    if audit.breach_count > len(told):
        parts.append(Text(f"and {audit.breach_count - len(told):,} more breaches: --json tells of more", style="red"))
    parts.append(_verdict(audit))
    return Group(*parts)


def _hosts(hosts: Sequence[HostAudit]) -> RenderableType:
    shown = sorted(hosts, key=lambda host: (-host.breach_count, -host.fetches))[:MOST_HOSTS]
    columns = (
        "host",
        "fetches",
        "in 1 s",
        "in 60 s",
        "shortest gap",
        "promised",
        "at once",
        "of",
        "robots",
        "breaches",
    )
    title = "" if len(shown) == len(hosts) else f"{len(shown)} of {len(hosts):,} hosts; --json has all"
    return terminal.table(title, columns, [_row(host) for host in shown], numbers=columns[1:])


def _row(host: HostAudit) -> tuple[object, ...]:
    promised = max((limit.interval for limit in host.limits), default=0.0)
    checked = sum(decision.count for decision in host.decisions if decision.fetched)
    return (
        host.host,
        host.fetches,
        host.in_a_second,
        host.in_a_minute,
        "-" if host.shortest_gap is None else f"{host.shortest_gap:.3f} s",
        f"{max(promised, host.asked_gap):g} s" if promised or host.asked_gap else "none",
        host.at_once,
        min((limit.per_host for limit in host.limits if limit.per_host), default=0) or "-",
        f"{checked} checked" if checked else "-",
        host.breach_count,
    )


def _heard(audit: Audit) -> list[str]:
    """Every Retry-After and Crawl-delay, a line each; many of one host in one line."""
    lines = []
    for host in audit.hosts:
        waits = host.retry_after
        if waits:
            longest, kept = max(wait.seconds for wait in waits), sum(wait.kept for wait in waits)
            late = [wait.next - wait.at - wait.seconds for wait in waits if wait.next is not None and wait.kept]
            after = f"; the first request came {terminal.span(min(late))} or more after it was over" if late else ""
            lines.append(
                f"{host.host}: Retry-After heard {terminal.many(len(waits), 'time')}, up to {terminal.span(longest)}, "
                f"kept {kept} of {len(waits)}{after}"
            )
        if host.crawl_delays:
            delay = host.crawl_delays[-1]
            lines.append(
                f"{host.host}: {delay.detail or f'Crawl-delay {delay.seconds:g} s'}, {terminal.moment(delay.at)}"
            )
    return lines[: 2 * MOST_HOSTS]


def _verdict(audit: Audit) -> Text:
    hosts = terminal.many(len(audit.hosts), "host")
    what = f"{terminal.many(audit.fetches, 'request')} to {hosts}"
    if audit.clean:
        return Text(f"kept: {what}, no limit exceeded (to {audit.tolerance * 1000:g} ms)", style="green")
    count = "1 breach" if audit.breach_count == 1 else f"{audit.breach_count:,} breaches"
    return Text(f"broken: {what}, {count}", style="bold red")
