"""`gossamer doctor`: what is wrong with this machine, its settings and its scrapers, and how to fix it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gossamer import settings, telemetry, terminal, urls
from gossamer.cli_options import StoreOption, interrupted
from gossamer.errors import ConfigError
from gossamer.library import wait

if TYPE_CHECKING:  # 100 ms to load: not for every other command
    from gossamer.doctor.finding import Finding
    from gossamer.doctor.jobs import Trial

err = Console(stderr=True, highlight=False, emoji=False)

#: Letters of a URL that are shown.
_WIDEST = 70
_STYLES = {"ok": "green", "absent": "dim", "warning": "yellow", "problem": "bold red"}
_WORDS = {"ok": "ok", "absent": "not there", "warning": "warning", "problem": "problem"}


@interrupted("nothing was stored or changed")
def doctor_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="With --scrapers: a scraper, a file or a pack [all that are listed]"),
    ] = None,
    scrapers: Annotated[bool, typer.Option("--scrapers", help="Try scrapers instead, on one page each")] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="With --scrapers: ask the demo sites instead of the real ones of packs")
    ] = False,
    param: Annotated[
        list[str] | None, typer.Option(help="With --scrapers: a parameter for them (repeatable)", metavar="K=V")
    ] = None,
    deadline: Annotated[str, typer.Option(help="With --scrapers: time for each of them", metavar="TIME")] = "60s",
    offline: Annotated[bool, typer.Option("--offline", help="Ask no host and no server")] = False,
    host: Annotated[list[str] | None, typer.Option(help="Look at this host, too (repeatable)", metavar="HOST")] = None,
    store: StoreOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, on stdout")] = False,
) -> None:
    """Look for what is wrong, and say how to fix it: the program, its settings, scrapers, store, machine and network.

    Of hosts, those that listed scrapers begin at are asked for their robots.txt, once. Nothing is stored or changed.
    Exit code 1: there is a problem.

    \b
    gossamer doctor
    gossamer doctor --offline
    gossamer doctor --host example.org
    gossamer doctor --scrapers
    gossamer doctor --scrapers art nba.espn
    gossamer doctor --scrapers jobs --demo
    """
    telemetry.configure("error", "human", lambda text: None)
    if scrapers:
        trials = _trials(names or [], demo=demo, params=settings.params(param), deadline=deadline, store=store)
        _show_trials(trials, as_json=as_json, demo=demo)
        raise typer.Exit(0 if all(_fine(each) for each in trials) else 1)
    if names or demo or param:
        raise ConfigError("names, --demo and --param are for --scrapers: gossamer doctor --scrapers NAME")
    from gossamer.doctor import examine, finding

    flags = {"store": store} if store is not None else {}
    asked = [urls.typed(each) for each in host or ()]
    with _saying() as say:
        found = wait(examine.examine(flags, offline=offline, hosts=asked, say=say))
    healthy = finding.healthy(found)
    if as_json:
        typer.echo(msgspec.json.encode({"ok": healthy, "checks": found}).decode())
    else:
        _console().print(_table(found))
        _sum_up(finding.counts(found))
    raise typer.Exit(0 if healthy else 1)


@contextmanager
def _saying() -> Iterator[Callable[[str], None]]:
    """Says on a terminal what is being looked at."""
    if not err.is_terminal:
        yield lambda text: None
        return
    with err.status("looking ...") as status:
        yield lambda text: status.update(f"looking at {text} ...")


def _console() -> Console:
    return Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)


# -- what was found --------------------------------------------------------------------------------------------


def _table(findings: Sequence[Finding]) -> Table:
    made = Table(header_style="dim", box=None)
    for column in ("area", "what", "state"):
        made.add_column(column, no_wrap=column != "what", overflow="fold")
    made.add_column("seen, and how to fix it", overflow="fold")
    before = ""
    for each in findings:
        area = Text(each.area if each.area != before else "", style="bold")
        made.add_row(
            area, Text(each.name), Text(_WORDS[each.state], style=_STYLES[each.state]), _told(each.text, each.fix)
        )
        before = each.area
    return made


def _told(seen: str, fix: str) -> Text:
    """What was seen, and below it what to do."""
    parts = [(seen, "")] if seen else []
    if fix:
        parts.append((f"{chr(10) if seen else ''}fix: {fix}", "cyan"))
    return Text.assemble(*parts)


def _sum_up(counts: dict[Any, int]) -> None:
    parts = [f"{n:,} {_WORDS[state]}" for state, n in counts.items() if n]
    bad = counts.get("problem", 0)
    text = f"{sum(counts.values()):,} looked at: {', '.join(parts)}"
    err.print(text, markup=False, soft_wrap=True, style="red" if bad else "green")


# -- scrapers --------------------------------------------------------------------------------------------------


def _trials(names: list[str], *, demo: bool, params: dict[str, str], deadline: str, store: str | None) -> list[Trial]:
    from gossamer.doctor import trials

    try:
        seconds = settings.duration(deadline)
    except ValueError as why:
        raise ConfigError(f"--deadline = {deadline!r} cannot be used: {why}") from None
    read = settings.read({"store": store} if store is not None else {})
    with _saying() as say:
        return wait(trials.trials(read, names, demo=demo, params=params, deadline=seconds, say=say))


def _fine(trial: Trial) -> bool:
    from gossamer.doctor.trials import FINE

    return trial.status in FINE


def _short(url: str) -> str:
    """As much of a URL as tells it from others; the JSON form has all of it."""
    return f"{url[:_WIDEST]}..." if len(url) > _WIDEST else url


def _show_trials(found: Sequence[Trial], *, as_json: bool, demo: bool) -> None:
    from gossamer.doctor.trials import fix

    bad = sum(not _fine(each) for each in found)
    if as_json:
        told = [{**msgspec.to_builtins(each), "fine": _fine(each), "fix": fix(each, demo=demo)} for each in found]
        typer.echo(msgspec.json.encode({"ok": not bad, "scrapers": told}).decode())
        return
    out = _console()
    out.print(_tried(found))
    for each in found:
        _tell(out, each, fix(each, demo=demo))
    text = f"{terminal.many(len(found), 'scraper')} tried on one page each: {len(found) - bad:,} fine, {bad:,} not"
    err.print(text, markup=False, soft_wrap=True, style="red" if bad else "green")


def _tried(found: Sequence[Trial]) -> Table:
    columns = ("scraper", "status", "url", "items", "links", "fields", "took")
    rows = []
    for each in found:
        style = "green" if each.status == "ok" else "yellow" if _fine(each) else "bold red"
        fields = f"{each.filled} of {each.fields}" if each.fields else "-"
        status = Text(each.status, style=style)
        rows.append(
            (each.name, status, _short(each.url) or "-", each.items, each.found, fields, terminal.span(each.seconds))
        )
    return terminal.table("", columns, rows, numbers=columns[3:], least=("url", "fields", "links"))


def _tell(out: Console, trial: Trial, fix: str) -> None:
    """What is to be said of one, below the table: URLs and commands in one piece, so that they can be copied."""
    from gossamer.doctor.trials import seen

    text = seen(trial)
    if not (text or fix):
        return
    out.print(Text.assemble((f"{trial.name}: ", "bold"), text or trial.status))
    if trial.url and not _fine(trial):
        out.print(Text(f"  page: {trial.url}"), soft_wrap=True)
    if fix:
        out.print(Text(f"  fix: {fix}", style="cyan"), soft_wrap=True)
