"""Plain words about a URL or a run, from what the store remembers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from rich.console import Group, RenderableType
from rich.text import Text

from gossamer import runs, settings, terminal, urls
from gossamer.errors import ConfigError
from gossamer.polite import robots
from gossamer.scope import Scope
from gossamer.storage.store import Mark, RobotsNote, SourceNote, Store, UrlStory
from gossamer.values import Run, RunState

_RULES = {
    "scope": "it lies outside the run's scope",
    "exclude": "an --exclude expression matches it",
    "include": "no --include expression matches it",
    "depth": "it lies deeper than --depth allows",
    "robots": "robots.txt forbids it",
    "content_type": "its media type is not read",
    "trap_path": "its path is of an endless URL space: it repeats itself, or has a far date or session in it (traps)",
    "trap_query": "its query is one of too many on one path (max_queries), or has a far date or session in it (traps)",
    "host_budget": "enough pages of its host are walked (max_per_host)",
    "inactive": "somebody marked it as inactive",
}
#: What a reason means that does not explain itself.
_REASONS = {
    "address": "its address is a private one, which nobody allowed",
    "blocked": "a captcha or a login wall stood there instead of the page",
    "bomb": "its body unpacks to far more than it seems (max_ratio)",
    "file": "saved as a file",
    "first_byte": "no answer began in time (first_byte)",
    "fresh": "an earlier run read it recently enough (revisit)",
    "headers": "its headers are too large (max_headers)",
    "proxy": "the proxy did not do its part",
    "retry": "the scraper's validate asked for another try",
    "timeout": "no complete answer came in time (timeout)",
    "too_large": "its body is too large (max_body)",
    "unchanged": "it is as an earlier run read it (revisit)",
}

#: Reasons of walks that ended well, or that a rule ended.
NO_FAILURES = frozenset({"ok", "unchanged", "fresh", "file", *_RULES})


def meaning(reason: str) -> str:
    """What a reason means, in a few words; empty if it explains itself."""
    return _RULES.get(reason) or _REASONS.get(reason, "")


async def url_story(store: Store, url: str) -> tuple[bool, str]:
    """Whether any run knows the URL, and what there is to say."""
    stories = await store.why(url)
    mark = await store.mark(url)
    head = url if mark is None else f"{url}\n{mark_line(mark)}"
    if stories:
        told = [_told(story, await _verdict(store, story)) for story in stories]
        host = await _host_story(store, stories[0].host)
        return True, "\n\n".join([head, *told, *([host] if host else [])])
    guesses = [line for run in await store.runs(limit=5) if (line := await _guess(store, run, url))]
    return False, "\n".join([f"{head}\nno run in this store has met this URL", *guesses])


def mark_line(mark: Mark) -> str:
    """That a URL was taken out, by whom, and how that is taken back."""
    who = mark.by or "somebody"
    when = terminal.moment(mark.at)
    return f"deactivated by {who} at {when}: runs skip it until somebody activates it again"


async def _verdict(store: Store, story: UrlStory) -> str | None:
    """What robots.txt says of a URL, by the version that held when it was fetched, and the line that decides."""
    starts = await store.starts(story.run)
    at = story.started or time.time()
    limits = next((start.limits for start in reversed(starts) if start.at <= at), starts[0].limits if starts else {})
    versions = await store.robots(urls.origin(story.url))
    note = next((note for note in versions if note.fetched <= at), versions[-1] if versions else None)
    return robots_line(story, limits, note)


def robots_line(story: UrlStory, limits: Mapping[str, Any], note: RobotsNote | None) -> str | None:
    """What robots.txt said of a URL, by the limits and the version that held; None if nobody had to ask it."""
    if story.state == "skipped" and story.reason != "robots" and not story.started:
        return None
    if not limits.get("robots", True):
        return "robots.txt: not asked (robots = false)"
    if note is None:
        return None
    verdict = robots.of(note, limits.get("agent", "gossamer")).verdict(story.url)
    allowed = "allowed" if verdict.allowed else "forbidden"
    because = note.closed or verdict.because or "no line speaks of it"
    return f"robots.txt of {terminal.moment(note.fetched)}: {allowed}, {because}"


async def _host_story(store: Store, host: str) -> str | None:
    """How its host is treated, if it is not as usual."""
    note = await store.source(host)
    told = host_lines(note, await _delay(store, note)) if note is not None else []
    return f"host {host}: " + "; ".join(told) if told else None


def host_lines(note: SourceNote, delay: str) -> list[str]:
    """How a host is treated, if it is not as usual; `delay` says what its robots.txt asks for."""
    told = []
    if note.breaker != "closed":
        until = f" until {terminal.moment(note.open_until)}" if note.open_until > time.time() else ""
        told.append(f"its breaker is {note.breaker.replace('_', '-')}{until}")
    if note.ready_at > time.time() and note.why:
        told.append(f"it is left alone until {terminal.moment(note.ready_at)}: {note.why}")
    if note.crawl_delay:
        told.append(delay)
    if note.interval:
        told.append(f"it taught us to leave {note.interval:.2g} s between requests")
    return told


async def _delay(store: Store, note: SourceNote) -> str:
    """What a host's robots.txt asks for, and what is kept of it."""
    asked = [each.detail for each in await store.notices(note.host) if each.kind == "crawl_delay"]
    return asked[-1] if asked else f"robots.txt asks for {note.crawl_delay:g} s between requests"


async def _guess(store: Store, run: Run, url: str) -> str | None:
    """Why a run that never met the URL would not walk it, or that no page linked to it."""
    scope = scope_of(run.options)
    scope.start(await store.roots(run.id, by_host=scope.kind != "prefix"))
    return f"run {run.id} ({run.scraper}) {guess(scope, url)}"


def scope_of(options: Mapping[str, Any]) -> Scope:
    """The scope of a run, as its knobs say it, before it has been told any start URL."""
    # What else stands among them says what kind of run it is: "replay", "of".
    knobs = {name: value for name, value in options.items() if name in settings.KNOBS and name != "store"}
    return Scope(settings.read(knobs).config)


def guess(scope: Scope, url: str) -> str:
    """Why a run of this scope that never met the URL would not walk it."""
    rule = scope.leaves(url)
    return f"would drop it: {_RULES[rule]}" if rule else "would walk it, but found no link to it"


def _told(story: UrlStory, verdict: str | None = None) -> str:
    return "\n  ".join(sentences(story, verdict))


def sentences(story: UrlStory, verdict: str | None = None) -> list[str]:
    """What a run knows of a URL, line by line; `verdict` is what robots.txt said."""
    what = "" if story.method == "GET" else f"{story.method} for {story.handler}, "
    lines = [f"run {story.run} ({story.scraper}): {what}{_state(story)}"]
    if story.detail:
        lines.append(story.detail if story.state == "done" else f"because: {story.detail}")
    if story.found_on:
        lines.append(f"found on {story.found_on}, {terminal.many(story.depth, 'link')} from a start")
    elif story.depth == 0:
        lines.append("a start URL")
    for started, elapsed, status, reason, detail in story.fetches:
        line = f"attempt at {terminal.moment(started)}: {reason} (status {status or '-'}) in {elapsed:.2f} s"
        lines.append(f"{line}; {detail}" if detail else line)
    if verdict:
        lines.append(verdict)
    stops = story.claims - 1 - story.attempts  # each attempt is claimed once
    if stops > 0:
        lines.append(f"was in flight at {terminal.many(stops, 'earlier stop')}")
    if story.state == "done" and story.reason in ("ok", "unchanged", "fresh", "file"):
        items = ", ".join(f"{kind} {key}" for kind, key in story.items[:10]) or "none"
        more = f" and {len(story.items) - 10} more" if len(story.items) > 10 else ""
        held = " (held back by the drift gate: `gossamer drift`)" if story.held else ""
        lines.append(f"items: {items}{more}{held}")
    for step, reason in story.rejects[:10]:
        lines.append(f"a record became no item: {reason} (step {step})")
    return lines


def _state(story: UrlStory) -> str:
    fetched = ""
    if story.started:
        fetched = f"fetched {terminal.moment(story.started)}, status {story.status or '-'}"
        fetched += f", {story.size or 0:,} bytes in {story.elapsed or 0:.2f} s"
    if story.state == "done":
        how = "" if story.reason == "ok" else f" ({_REASONS.get(story.reason or '', story.reason)})"
        return f"done, {fetched}{how}" if fetched else f"done{how}"
    if story.state == "skipped":
        rule = _RULES.get(story.reason or "", story.reason)
        return f"skipped: {rule}" + (f"; {fetched}" if fetched else "")
    if story.state == "failed":
        meant = f", {_REASONS[story.reason]}" if story.reason in _REASONS else ""
        what = f"failed after {_tries(story.attempts + 1)}: {story.reason}{meant}"
        return what + (f"; {fetched}" if fetched else "")
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
    if told := "; ".join(_reading(run.reading)):
        lines.append(f"  read with: {told}")
    if run.verdict:
        lines.append(f"  drift gate: {run.verdict}" + (" (`gossamer drift`)" if run.verdict == "suspect" else ""))
    if run.by_reason:
        ordered = sorted(run.by_reason.items(), key=lambda pair: -pair[1])
        lines.append("  endings: " + ", ".join(f"{n:,} {reason}" for reason, n in ordered))
    return Group(Text("\n".join(lines)), Text(), await host_table(store, run.id))


def _reading(reading: Mapping[str, Any]) -> Iterator[str]:
    """What pages were read with: `steps clean@2, tidy@1`."""
    for name, value in reading.items():
        if name == "gone":
            continue
        texts = [f"{key} {each}" for key, each in value.items()] if isinstance(value, dict) else value
        yield f"{name} {', '.join(map(str, texts)) if isinstance(texts, list) else texts}"


async def as_it_is(store: Store, run: Run) -> Run:
    """A run as it is now: one that nobody works on, though it was never ended, has been killed."""
    if run.state is not RunState.RUNNING or await store.walked(run.id) is not None:
        return run
    return msgspec.structs.replace(run, state=RunState.KILLED)


async def host_table(store: Store, run_id: int) -> RenderableType:
    """How each host of a run was treated."""
    rows = []
    for host in await store.host_table(run_id):
        span = (host["last"] or 0) - (host["first"] or 0)
        pace = f"{(host['pages'] - 1) / span:.1f}/s" if span > 0.5 else "-"
        note = await store.source(host["host"])
        held = max(0.0, max(note.ready_at, note.open_until) - time.time()) if note else 0.0
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
                _treatment(note, await _delay(store, note) if note.crawl_delay else "") if note else "-",
            )
        )
    columns = ("host", "pages", "failed", "skipped", "retries", "waiting", "bytes", "pace", "held for", "notes")
    least = ("pace", "bytes", "retries", "skipped", "held for", "waiting", "failed")
    return terminal.table("hosts", columns, rows, numbers=columns[1:-1], least=least)


def _treatment(note: SourceNote, delay: str) -> str:
    """How a host is treated, in a few words."""
    told = []
    if note.breaker != "closed":
        told.append(f"breaker {note.breaker.replace('_', '-')}")
    if delay:
        told.append(delay)
    if note.interval:
        told.append(f"slowed to {note.interval:.2g} s")
    if note.why and note.ready_at > time.time():
        told.append(note.why)
    return "; ".join(told) or "-"


async def source_table(store: Store) -> RenderableType:
    """Every host that the store remembers."""
    rows = []
    for note in await store.sources():
        held = max(0.0, max(note.ready_at, note.open_until) - time.time())
        latency = f"{note.latency:.2f} s" if note.latency else "-"
        rows.append(
            (
                note.host,
                terminal.moment(note.last_hit),
                terminal.span(held) if held > 0.1 else "-",
                latency,
                _treatment(note, await _delay(store, note) if note.crawl_delay else ""),
            )
        )
    columns = ("host", "last asked", "held for", "answers in", "notes")
    return terminal.table("", columns, rows, least=("answers in", "last asked", "held for"))
