"""`gossamer replay`: archived pages read again with today's code, and what that changes."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console, Group, RenderableType
from rich.text import Text

from gossamer import replay, settings, telemetry, terminal
from gossamer.cli_options import StoreOption, amount, run_number
from gossamer.comparison import Difference, State
from gossamer.errors import ConfigError
from gossamer.library import wait
from gossamer.replay import Asked, FieldStory, Reason, Replayed, Sight, Teller

#: Letters of a value, of a field's examples, and of the lines of one difference.
WIDE = 200
SHORT = 40
LINES = 40
#: Rows of a table, and reasons, that are shown.
ROWS = 40
REASONS = 10

err = Console(stderr=True, highlight=False, emoji=False)
out = Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)

_SIGNS = {State.NEW: "+", State.GONE: "-", State.CHANGED: "~", State.BACK: "^"}


def replay_command(
    scraper: Annotated[
        str, typer.Argument(metavar="SCRAPER", help="file.py, file.py:Class, module:Class, or a scraper's name")
    ],
    store: StoreOption = None,
    run: Annotated[
        int | None,
        typer.Option(parser=run_number, help="Only pages of this run [the newest of each page]", metavar="N"),
    ] = None,
    url: Annotated[str | None, typer.Option(help="Only pages whose URL matches", metavar="REGEX")] = None,
    warc: Annotated[
        Path | None, typer.Option(help="Read the pages of this WARC file instead of the archive", metavar="FILE")
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option(help="A parameter for the scraper [as its runs had] (repeatable)", metavar="K=V")
    ] = None,
    limit: Annotated[int | None, typer.Option(parser=amount, help="At most so many pages", metavar="N")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=256, help="Processes that read [one for each core]", metavar="N")
    ] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Show every difference, not only how many")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Write what is found into the store")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object; with --diff, before it one for each difference")
    ] = False,
) -> None:
    """Read the archived pages of a scraper again with today's code, and show what that changes. Nothing is fetched.

    Nothing is written either, unless --apply says so.

    \b
    gossamer replay quotes.py
    gossamer replay quotes.py --diff
    gossamer replay quotes.py --url '/page/[0-9]+' --run 12
    gossamer replay quotes.py --apply
    gossamer replay quotes.py --warc site.warc.gz
    """
    place = settings.read({"store": store} if store else {}).place
    telemetry.configure(place.log_level, place.log_format, telemetry.to_stderr)
    asked = Asked(
        scraper=scraper,
        run=run,
        url=_pattern(url),
        limit=limit,
        workers=workers,
        apply=apply,
        listed=place.scrapers,
        warc=str(warc) if warc is not None else None,
        params=settings.params(param),
    )
    made = _shown(place.store, asked, quiet=quiet or place.quiet, tell=_teller(as_json) if diff else None)
    if as_json:
        typer.echo(msgspec.json.encode(made).decode())
        return
    out.print(render(made), soft_wrap=True)
    for line in _advice(made, asked, terminal.store_option(place.store), diff=diff):
        err.print(line, markup=False, soft_wrap=True)


def _pattern(given: str | None) -> re.Pattern[str] | None:
    try:
        return None if given is None else re.compile(given)
    except re.error as why:
        raise ConfigError(f"--url {given!r} cannot be used: {why}") from None


def _shown(store: str, asked: Asked, *, quiet: bool, tell: Teller | None) -> Replayed:
    """Replay with a bar that shows how far it has come."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("reading again"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(
        *columns, TextColumn("{task.description}"), console=err, transient=True, disable=quiet or not err.is_terminal
    )
    task = bar.add_task("", total=None)

    def watch(sight: Sight) -> None:
        told = f"{sight.items:,} items" + (f", {sight.failed:,} failed" if sight.failed else "")
        bar.update(task, completed=sight.done, total=max(sight.total, sight.done), description=told)

    with bar:
        return wait(replay.replay(store, asked, watch, tell))


# -- differences -----------------------------------------------------------------------------------------------


def _teller(as_json: bool) -> Teller:
    if as_json:
        return lambda each: typer.echo(msgspec.json.encode(told(each)).decode())
    return lambda each: out.print(picture(each), soft_wrap=True)


def told(each: Difference) -> dict[str, Any]:
    """A difference as JSON."""
    return {
        "what": each.state.name.lower(),
        "kind": each.kind,
        "key": each.key,
        "url": each.url,
        "fields": {delta.path: [delta.before, delta.after] for delta in each.deltas},
        "record": msgspec.json.decode(each.after or each.before or "null"),
    }


def picture(each: Difference) -> Text:
    """A difference for people: what was and what is, one under the other."""
    text = Text(f"{_SIGNS[each.state]} {each.state.name.lower()} {each.kind} ", style="bold")
    text.append(f"{each.key[:WIDE]}", style="cyan")
    text.append(f"  {each.url}\n", style="dim")
    lines = list(_lines(each))
    for sign, line in lines[:LINES]:
        text.append(f"  {sign} {line}\n", style="red" if sign == "-" else "green")
    if len(lines) > LINES:
        text.append(f"    and {len(lines) - LINES:,} more lines: --json has all\n", style="dim")
    text.rstrip()
    return text


def _lines(each: Difference) -> Iterator[tuple[str, str]]:
    if each.before is None or each.after is None:
        sign = "+" if each.before is None else "-"
        record = msgspec.json.decode(each.after or each.before or "{}")
        yield from ((sign, f"{name}: {short(value)}") for name, value in record.items())
        return
    for delta in each.deltas:
        if delta.before is not None:
            yield "-", f"{delta.path}: {short(delta.before)}"
        if delta.after is not None:
            yield "+", f"{delta.path}: {short(delta.after)}"


def short(value: Any, wide: int = WIDE) -> str:
    """A value in one line."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    text = " ".join(text.split())
    return text if len(text) <= wide else f"{text[: wide - 1]}…"


# -- the summary -----------------------------------------------------------------------------------------------


def render(made: Replayed) -> RenderableType:
    """How a replay went, for people."""
    took = f"{terminal.span(made.seconds)} ({made.pages_per_second:,.0f} pages/s)"
    parts: list[RenderableType] = [
        Text(f"{made.scraper}: {terminal.many(made.pages, 'page')} read again in {took}, {_items(made)}", style="bold")
    ]
    if made.fields:
        parts.append(_fields(made.fields))
    parts += _reasons(made.failures, made.failed, "page", "could not be read")
    parts += _reasons(made.rejects, made.rejected, "record", "became no item")
    if made.skipped:
        parts.append(Text(f"{made.skipped:,} of the file's answers are no pages: redirects and errors", style="dim"))
    if made.broken:
        parts.append(Text(f"{made.broken}; what was whole was read", style="yellow"))
    if made.links:
        lead = "leads" if made.links == 1 else "lead"
        told = f"{terminal.many(made.links, 'link')} {lead} to pages that no run has asked for: a run would"
        parts.append(Text(f"{told}\n  for example {made.new_links[0]}"))
    return Group(*parts)


def _items(made: Replayed) -> str:
    told = [f"{made.same:,} of {terminal.many(made.items, 'item')} the same"]
    told += [f"{n:,} {word}" for word in ("changed", "new", "back", "gone") if (n := getattr(made, word))]
    if made.older:
        told.append(f"{made.older:,} not compared, for the store has them from later pages")
    return ", ".join(told)


def _fields(stories: list[FieldStory]) -> RenderableType:
    rows = [(s.kind, s.field, s.changed, s.filled or None, s.emptied or None, _example(s)) for s in stories[:ROWS]]
    title = "" if len(stories) <= ROWS else f"{ROWS} of {len(stories):,} fields; --json has all"
    columns = ("kind", "field", "changed", "filled", "emptied", "for example")
    return terminal.table(title, columns, rows, numbers=("changed", "filled", "emptied"))


def _example(story: FieldStory) -> str:
    key, before, after = story.examples[0]
    was, now = ("-" if value is None else short(value, SHORT) or '""' for value in (before, after))
    return f"{short(key, SHORT)}: {was} → {now}"


def _reasons(reasons: list[Reason], count: int, noun: str, what: str) -> Iterator[RenderableType]:
    if not count:
        return
    yield Text(f"{terminal.many(count, noun)} {what}:", style="red")
    for reason in reasons[:REASONS]:
        yield Text(f"  {reason.count:,}  {short(reason.why, 400)}, for example {reason.url}")
    if len(reasons) > REASONS:
        yield Text(f"  and for {len(reasons) - REASONS:,} other reasons: --json has all", style="dim")


def _advice(made: Replayed, asked: Asked, option: str, *, diff: bool) -> Iterator[str]:
    """What to do next."""
    new = made.changed + made.new + made.back
    if made.run is not None:
        yield f"written as run {made.run}: {terminal.program()} changes --since 1h{option} shows it"
        if made.gone and not made.whole:
            yield "what is gone was left as it is: without --url and --limit, --apply marks it"
    elif new + made.gone:
        more = "" if diff else ", --diff shows every difference"
        yield f"nothing was written: --apply does that{more}" if asked.warc is None else f"nothing was written{more}"
    else:
        yield "nothing was written, and there is nothing to write"
