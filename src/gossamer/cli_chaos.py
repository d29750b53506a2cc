"""`gossamer chaos`: a scraper against a misbehaving copy of its own site, and what that cost."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.console import Console, Group, RenderableType
from rich.text import Text

from gossamer import registry, settings, telemetry, terminal
from gossamer.library import wait
from gossamer.registry import Found

if TYPE_CHECKING:  # 50 ms to load: not for every other command
    from gossamer.chaos import Findings
    from gossamer.chaos.stage import Weather

#: Differences and lost pages that are shown; the JSON form has more.
MOST_SHOWN = 5

err = Console(stderr=True, highlight=False, emoji=False)


def chaos_command(
    scraper: Annotated[
        str, typer.Argument(metavar="SCRAPER", help="file.py, file.py:Class, module:Class, or a registered name")
    ],
    pages: Annotated[
        Path | None,
        typer.Option(
            "--pages",
            metavar="DIR",
            file_okay=False,
            help="A folder of saved pages; while it is empty, they are saved there from the real site first",
        ),
    ] = None,
    max_pages: Annotated[int, typer.Option(min=1, max=100_000, metavar="N", help="How many pages to save")] = 50,
    faults: Annotated[float, typer.Option(min=0.0, max=1.0, metavar="SHARE", help="Share of pages with a fault")] = 0.5,
    seed: Annotated[int, typer.Option(metavar="N", help="Another seed, other faults")] = 1,
    param: Annotated[
        list[str] | None, typer.Option(help="A parameter for the scraper (repeatable)", metavar="K=V")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing until the end")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end, on stdout")] = False,
) -> None:
    """See what a scraper does when its site misbehaves: it runs on saved pages, without and with faults.

    The pages are saved from the real site first, politely; all the rest happens on this machine. Exit code 1: its
    items are not the same with faults as without.

    \b
    gossamer chaos quotes.py
    gossamer chaos quotes.py --pages saved/ --max-pages 200
    gossamer chaos quotes.py --pages saved/ --faults 0.9 --seed 7
    """
    from gossamer.chaos.stage import Weather

    found = registry.find(scraper, settings.read().place.scrapers)
    telemetry.configure("error", "human", telemetry.to_stderr)
    weather = Weather(seed=seed, share=faults, hard=min(0.04, faults / 5))
    with tempfile.TemporaryDirectory(prefix="gossamer-chaos-") as work:
        doing = _chaos(found, settings.params(param), pages, max_pages, weather, Path(work), quiet=quiet)
        findings = wait(doing)
    if as_json:
        typer.echo(msgspec.json.encode({"clean": findings.clean, **msgspec.to_builtins(findings)}).decode())
    else:
        out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)
        out.print(render(findings), soft_wrap=True)
    if not findings.clean:
        raise typer.Exit(1)


async def _chaos(
    found: Found, params: dict[str, Any], folder: Path | None, most: int, weather: Weather, work: Path, *, quiet: bool
) -> Findings:
    from gossamer.chaos import load, record, torment

    def say(text: str) -> None:
        if not quiet:
            err.print(text, markup=False, soft_wrap=True)

    kept = folder or work / "pages"
    if not kept.is_dir() or not any(kept.iterdir()):
        say(f"saving up to {most:,} pages of {found.scraper.name}, at its own pace")
        await record(found, params, {"max_pages": most}, kept, work)
    return await torment(found, params, {}, load(kept), weather, work, say)


# -- on the screen ---------------------------------------------------------------------------------------------


def render(findings: Findings) -> RenderableType:
    """Findings for people: what each fault led to, what was lost, and a verdict."""
    parts: list[RenderableType] = []
    if findings.faults:
        columns = ("fault", "what it was", "pages", "served", "read", "how its requests ended")
        rows = [
            (story.fault, story.about, story.pages, story.served, story.read, _reasons(story.reasons))
            for story in findings.faults
        ]
        parts.append(terminal.table("", columns, rows, numbers=("pages", "served", "read")))
    for what, examples in findings.items_compared.examples.items():
        for example in examples[:MOST_SHOWN]:
            fields = f" ({', '.join(example.fields)})" if example.fields else ""
            parts.append(Text(f"{what}: {example.kind} {example.key}{fields}", style="red"))
    for lost in findings.lost_pages[:MOST_SHOWN]:
        fault = f", it met {lost.fault}" if lost.fault else ""
        parts.append(Text(f"not read: {lost.url}: {lost.reason}{fault}", style="red"))
    if findings.unsteady:
        parts.append(Text(f"not compared, because they change each time: {', '.join(findings.unsteady)}"))
    parts.append(_verdict(findings))
    return Group(*parts)


def _reasons(reasons: dict[str, int]) -> str:
    return ", ".join(f"{reason} {count}" for reason, count in reasons.items())


def _verdict(findings: Findings) -> Text:
    found = findings.items_compared
    met = f"{terminal.many(findings.saved, 'saved page')}, {findings.retried:,} retries"
    if findings.clean:
        return Text(
            f"same data: {terminal.many(findings.items, 'item')} with and without faults ({met})", style="green"
        )
    if found.same:
        return Text(f"same data, but the run ended early: {findings.ended} ({met})", style="bold red")
    counts = {name: getattr(found, name) for name in ("missing", "doubled", "new", "different")}
    told = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return Text(f"other data: of {terminal.many(findings.items, 'item')}: {told} ({met})", style="bold red")
