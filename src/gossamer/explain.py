"""Plain words about a URL or a run, from what the store remembers."""

from __future__ import annotations

import time

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from gossamer import runs, settings, terminal
from gossamer.errors import ConfigError
from gossamer.scope import Scope
from gossamer.storage.store import Store, UrlStory
from gossamer.values import Run, RunState

_RULES = {
    "scope": "it lies outside the run's scope",
    "exclude": "an --exclude expression matches it",
    "include": "no --include expression matches it",
    "depth": "it lies deeper than --depth allows",
    "robots": "robots.txt forbids it",
    "content_type": "its media type is not read",
}


async def url_story(store: Store, url: str) -> tuple[bool, str]:
    """Whether any run knows the URL, and what there is to say."""
    stories = await store.why(url)
    if stories:
        return True, "\n\n".join([url, *(_told(story) for story in stories)])
    guesses = [line for run in await store.runs(limit=5) if (line := await _guess(store, run, url))]
    return False, "\n".join([f"{url}\nno run in this store has met this URL", *guesses])


async def _guess(store: Store, run: Run, url: str) -> str | None:
    """Why a run that never met the URL would not walk it, or that no page linked to it."""
    config = settings.read({k: v for k, v in run.options.items() if k != "store"}).config
    scope = Scope(config)
    scope.start(await store.roots(run.id, by_host=config.scope != "prefix"))
    rule = scope.leaves(url)
    what = f"would drop it: {_RULES[rule]}" if rule else "would walk it, but found no link to it"
    return f"run {run.id} ({run.scraper}) {what}"


def _told(story: UrlStory) -> str:
    what = "" if story.method == "GET" else f"{story.method} for {story.handler}, "
    lines = [f"run {story.run} ({story.scraper}): {what}{_state(story)}"]
    if story.detail:
        lines.append(f"because: {story.detail}")
    if story.found_on:
        lines.append(f"found on {story.found_on}, {terminal.many(story.depth, 'link')} from a start")
    elif story.depth == 0:
        lines.append("a start URL")
    for started, elapsed, status, reason in story.fetches:
        lines.append(f"attempt at {terminal.moment(started)}: {reason} (status {status or '-'}) in {elapsed:.2f} s")
    if story.claims > 1:
        lines.append(f"was in flight at {story.claims - 1} earlier stop{'s' if story.claims > 2 else ''}")
    if story.state == "done" and story.reason == "ok":
        items = ", ".join(f"{kind} {key}" for kind, key in story.items[:10]) or "none"
        more = f" and {len(story.items) - 10} more" if len(story.items) > 10 else ""
        lines.append(f"items: {items}{more}")
    return "\n  ".join(lines)


def _state(story: UrlStory) -> str:
    fetched = ""
    if story.started:
        fetched = f"fetched {terminal.moment(story.started)}, status {story.status or '-'}"
        fetched += f", {story.size or 0:,} bytes in {story.elapsed or 0:.2f} s"
    if story.state == "done":
        return f"done, {fetched}" + ("" if story.reason == "ok" else f" ({story.reason})")
    if story.state == "skipped":
        rule = _RULES.get(story.reason or "", story.reason)
        return f"skipped: {rule}" + (f"; {fetched}" if fetched else "")
    if story.state == "failed":
        return f"failed after {_tries(story.attempts + 1)}: {story.reason}" + (f"; {fetched}" if fetched else "")
    return _waiting(story)


def _tries(number: int) -> str:
    return "1 try" if number == 1 else f"{number} tries"


def _waiting(story: UrlStory) -> str:
    if story.in_flight and story.run_state == "running":
        return "being walked now, or was when the run was killed"
    if story.not_before > time.time():
        return f"waiting until {terminal.moment(story.not_before)} after {story.reason} (attempt {story.attempts})"
    if story.run_state != "running":
        return f"waiting: the run is {story.run_state}; `gossamer resume {story.run}` goes on"
    return f"waiting for its turn on {story.host}"


async def run_story(store: Store, run_id: int | None) -> RenderableType:
    """A run: what it did, what waits, how each host was treated."""
    if run_id is None:
        newest = await store.runs(limit=1)
        run = newest[0] if newest else None
    else:
        run = await store.run(run_id)
    if run is None:
        raise ConfigError(f"there is no run {run_id or ''}".rstrip() + ": `gossamer runs` lists them")
    run = await as_it_is(store, run)
    left = await store.pending(run.id)
    report = runs.report(run)
    lines = [
        terminal.summary(report, run.scraper),
        f"  state {run.state}{f' ({run.reason})' if run.reason else ''}, started {terminal.moment(run.created)}",
        f"  {terminal.many(left.settled, 'walk')} ended, {left.waiting:,} waiting"
        + (f", the next not before {terminal.moment(left.due)}" if left.due else ""),
    ]
    if run.by_reason:
        ordered = sorted(run.by_reason.items(), key=lambda pair: -pair[1])
        lines.append("  endings: " + ", ".join(f"{n:,} {reason}" for reason, n in ordered))
    return Group(Text("\n".join(lines)), Text(), await host_table(store, run.id))


async def as_it_is(store: Store, run: Run) -> Run:
    """A run as it is now: one that nobody works on, though it was never ended, has been killed."""
    if run.state is not RunState.RUNNING or await store.worker() is not None:
        return run
    return msgspec.structs.replace(run, state=RunState.KILLED)


async def host_table(store: Store, run_id: int) -> RenderableType:
    """How each host of a run was treated."""
    rows = []
    for host in await store.host_table(run_id):
        span = (host["last"] or 0) - (host["first"] or 0)
        pace = f"{(host['pages'] - 1) / span:.1f}/s" if span > 0.5 else "-"
        note = await store.source(host["host"])
        held = max(0.0, note.ready_at - time.time()) if note else 0.0
        rows.append(
            (
                host["host"],
                host["pages"],
                host["failed"],
                host["skipped"],
                host["retries"],
                host["waiting"],
                terminal.size(host["size"]),
                pace,
                terminal.span(held) if held > 0.1 else "-",
            )
        )
    columns = ("host", "pages", "failed", "skipped", "retries", "waiting", "bytes", "pace", "held for")
    return terminal.table("hosts", columns, rows, numbers=columns[1:])
