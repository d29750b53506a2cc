"""`gossamer drift`: what the drift gate says of runs, and a person's word on a suspect one."""

from __future__ import annotations

import sys
from contextlib import aclosing
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console, Group, RenderableType
from rich.text import Text

from gossamer import judging, runs, settings, terminal
from gossamer.cli_options import MOST, StoreOption
from gossamer.drift import Alarm
from gossamer.errors import ConfigError
from gossamer.library import wait
from gossamer.profiles import Profile
from gossamer.storage.store import Judgement, Store, Wanted
from gossamer.values import Run, Verdict

#: Runs shown in the table.
SHOWN = 50

_WORDS = ("accept", "reject")


def drift_command(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[accept|reject] [RUN]", help="A run's number; accept or reject to decide on it"),
    ] = None,
    store: StoreOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line")] = False,
) -> None:
    """Show which runs broke the pattern of the runs before them, and decide what becomes of their items.

    \b
    gossamer drift
    gossamer drift 12
    gossamer drift accept 12
    gossamer drift reject 12
    """
    verb, run = _read_words(words or [])
    path = settings.read({"store": store} if store else {}).place.store
    if verb is not None:
        _decide(path, run, accept=verb == "accept")
        return

    async def look() -> tuple[list[tuple[Run, Judgement | None]], bool]:
        async with runs.open_store(path) as opened:
            return await _judged(opened, run), run is not None and await _holds(opened, run)

    found, holds = wait(look())
    if as_json:
        for each, judged in found:
            typer.echo(msgspec.json.encode(_as_json(each, judged)).decode())
        return
    out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)
    if run is not None:
        out.print(_story(*found[0], path, holds=holds), soft_wrap=True)
    elif found:
        out.print(_table(found))
    else:
        typer.echo("no run was judged yet: the gate learns from three good runs of a scraper", err=True)


def _read_words(words: list[str]) -> tuple[str | None, int | None]:
    verb = words[0] if words and words[0] in _WORDS else None
    rest = words[1:] if verb else words
    if len(rest) > 1 or (rest and not (rest[0].isdecimal() and int(rest[0]) <= MOST)):
        raise ConfigError(f"drift {' '.join(words)!r} cannot be read: write drift, drift 12, or drift accept 12")
    return verb, int(rest[0]) if rest else None


def _decide(path: str, run: int | None, *, accept: bool) -> None:
    async def do() -> tuple[Run, int, bool]:
        async with runs.open_store(path) as there:  # before one is made where there is none
            held = run is None or await _holds(there, run)
        async with runs.open_parts(path) as parts:
            return *(await judging.decide(parts.store, run, accept=accept)), held

    decided, through, held = wait(do())
    if accept:
        word = (
            f"accepted: {terminal.many(through, 'item')} came through; what run {decided.id} is like is the pattern now"
        )
    elif held:
        word = "rejected: what it found is discarded, and what was current stays so"
    else:
        word = "rejected: it is not learned from; nothing of it was held back"
    typer.echo(f"run {decided.id} ({decided.scraper}) is {word}", err=True)


async def _holds(store: Store, run_id: int) -> bool:
    """Whether items of a run are held back."""
    held: Any = store.items(Wanted(run=run_id, held=True))
    async with aclosing(held):
        return await anext(held, None) is not None


async def _judged(store: Store, run_id: int | None) -> list[tuple[Run, Judgement | None]]:
    if run_id is not None:
        run = await store.run(run_id)
        if run is None:
            raise ConfigError(f"there is no run {run_id}: `gossamer runs` lists them")
        return [(run, await store.judgement(run_id))]
    found = [run for run in await store.runs(10_000) if run.verdict is not Verdict.NONE]
    return [(run, await store.judgement(run.id)) for run in found[:SHOWN]]


def _as_json(run: Run, judged: Judgement | None) -> dict[str, object]:
    alarm = judging.alarm_of(judged) if judged else None
    return {
        "run": run.id,
        "scraper": run.scraper,
        "verdict": run.verdict,
        "items": run.items,
        "alarm": msgspec.to_builtins(alarm),
        "profile": msgspec.json.decode(judged.profile) if judged else None,
    }


def _table(found: list[tuple[Run, Judgement | None]]) -> RenderableType:
    rows = []
    for run, judged in found:
        alarm = judging.alarm_of(judged) if judged else None
        told = f"{alarm.cause}: {', '.join(alarm.fields) or alarm.findings[0].told}" if alarm else "-"
        rows.append((run.id, run.scraper, run.verdict, run.items, terminal.moment(run.created), told))
    return terminal.table(
        "", ("run", "scraper", "verdict", "items", "started", "alarm"), rows, numbers=("run", "items")
    )


def _story(run: Run, judged: Judgement | None, path: str, *, holds: bool) -> RenderableType:
    """What the gate says of one run, and what can be done."""
    loose = run.verdict is Verdict.SUSPECT and not holds
    lines = [
        f"run {run.id} ({run.scraper}): {'suspect; nothing of it is held back' if loose else _meaning(run.verdict)}"
    ]
    alarm = judging.alarm_of(judged) if judged else None
    if alarm is not None:
        lines += _alarm(alarm)
    if run.verdict is Verdict.SUSPECT:
        option, program = terminal.store_option(path), terminal.program()
        lines.append(f"  it is right all the same: {program} drift accept {run.id}{option}")
        lines.append(
            f"  it is wrong: {program} drift reject {run.id}{option}, mend the scraper, and replay or run again"
        )
        if holds:
            lines.append(f"  what it found: {program} export items --run {run.id} --held{option}")
    parts: list[RenderableType] = [Text("\n".join(lines))]
    if judged is not None:
        parts += [Text(), _fields(msgspec.json.decode(judged.profile, type=Profile))]
    return Group(*parts)


def _meaning(verdict: Verdict) -> str:
    return {
        Verdict.NONE: "nobody has judged it",
        Verdict.LEARNING: "good as far as can be told: the gate still learns",
        Verdict.PENDING: "its items are held back until it has ended: `gossamer resume` goes on with it",
        Verdict.GOOD: "good: it keeps to the pattern of the runs before it",
        Verdict.SUSPECT: "suspect: its items are held back, and what was current stays so",
        Verdict.ACCEPTED: "suspect, and accepted",
        Verdict.REJECTED: "suspect, and rejected",
    }[verdict]


def _alarm(alarm: Alarm) -> list[str]:
    lines = [f"  likely cause: {alarm.cause} ({alarm.because})"]
    lines += [f"  - {finding.told}" for finding in alarm.findings[:20]]
    if len(alarm.findings) > 20:
        lines.append(f"  - and {len(alarm.findings) - 20} more")
    return lines + [f"  look at {url}" for url in alarm.samples]


def _fields(profile: Profile) -> RenderableType:
    rows = []
    for kind, each in profile.kinds.items():
        for name, field in each.fields.items():
            usual = ", ".join(sorted(field.shapes, key=lambda shape: -field.shapes[shape])[:3])
            rows.append((kind, name, f"{field.filled:.0%}", ", ".join(field.types), usual))
    return terminal.table("what its items are like", ("kind", "field", "filled", "type", "looks like"), rows[:100])
