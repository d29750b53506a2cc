"""What people ask of runs, hosts and URLs: written down as rows, for whoever walks the runs to heed.

Every deed is one transaction with the line of the trail that tells of it. Nothing here walks, waits or fetches: a start
is a pending run, a cancel is a wish that stands in the run's row.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from gossamer import redaction, registry, runs, settings, trail, urls
from gossamer.catalog import Catalog
from gossamer.crawler import Submitted
from gossamer.declared import Declared
from gossamer.errors import AlreadyActive, ConfigError, NotFound, NotPossible, Refused
from gossamer.fetch import addresses
from gossamer.lists import stories
from gossamer.registry import Found
from gossamer.settings import Pace
from gossamer.storage import counting, rows
from gossamer.storage.desk import Desk, Writing
from gossamer.storage.store import Draft
from gossamer.telemetry import log
from gossamer.trail import Asker
from gossamer.values import Request, RunState, Verdict

#: Knobs that may come over the network. None of them names code, a file, a proxy, a header or a browser's flag.
SAFE = (
    "rate",
    "per_host",
    "concurrency",
    "timeout",
    "retries",
    "depth",
    "max_pages",
    "max_items",
    "max_per_host",
    "revisit",
    "max_wait",
)
#: URLs in one batch, and characters of one of them.
MOST_URLS = 10_000
LONGEST_URL = 8_192
#: Characters of the parameters of a run, as JSON.
MOST_PARAMS = 20_000
#: Looks for a URL that some run knows, each at thousands of requests.
MOST_LOOKS = 100
#: Rows deleted in one transaction: a crawl waits meanwhile.
CHUNK = 2_000
#: Ended runs of each scraper that are kept however old they are: the drift gate compares with them.
KEPT_RUNS = 10

#: The option in which a run keeps who paused it.
PAUSED_BY = "paused_by"
#: How far a run may go before others or behind them, and the most workers that a limit may say.
MOST_PRIORITY = 9
MOST_WORKERS = 10_000
#: States of a run that has not ended.
ACTIVE = (RunState.PENDING, RunState.RUNNING)


class UrlAnswer(msgspec.Struct, frozen=True):
    """What became of one URL of a batch."""

    url: str
    ok: bool
    #: Why not, in a sentence.
    why: str = ""


class Submitting(msgspec.Struct, frozen=True):
    """What became of a batch. `run` is None if no URL of it can be used."""

    run: int | None
    verdicts: list[UrlAnswer]


# -- starting --------------------------------------------------------------------------------------------------

_ACTIVE = """
select id from run where scraper = :scraper and state = :state and (via <> 'cli' or cluster = 1) order by id limit 1
"""
_NEW = """
insert into run (scraper, ref, signature, params, options, reading, state, created, asked_by, via, trusted, seeded)
values (:scraper, :ref, :signature, :params, :options, :reading, 'pending', :now, :asked_by, :via, :trusted, :seeded)
returning id
"""
_SCRAPER = "select enabled, config from scraper where name = :name"


async def prepare(
    desk: Desk,
    found: Found,
    *,
    params: Mapping[str, Any] | None = None,
    knobs: Mapping[str, Any] | None = None,
    trusted: bool = False,
) -> Draft:
    """A run of a scraper as it would be written down, with what was configured for it. Raises ConfigError.

    Unless they are `trusted`, parameters come over the network: a run that has some may not start at private
    addresses, and none of them may name a file.
    """
    params, knobs = dict(params or {}), dict(knobs or {})
    check_params(params)
    for name in params if not trusted else ():
        if name in found.scraper.local:
            raise Refused(f"{name} names a file of the machine that walks the run: say it from a shell there")
    await asyncio.to_thread(_check_by_making, found, params)
    row = await desk.row(_SCRAPER, name=found.scraper.name)
    if row is not None and not row[0]:
        raise NotPossible(f"{found.scraper.name} is disabled: enable it first")
    configured = msgspec.json.decode(row[1]) if row is not None else {}
    # What was configured passed when it was; a file that has become politer since still has the last word.
    kept = {
        name: value for name, value in configured.items() if name not in knobs and not _too_fast(found, name, value)
    }
    given = {**kept, **checked_knobs(found, knobs)}
    draft = runs.draft_of(runs.plan(found, params, given, prefix=""))
    # Whoever walks it knows of budgets only what stands in its row.
    budgets = {name: given[name] for name in runs.BUDGETS if name in given}
    return msgspec.structs.replace(draft, options={**draft.options, **budgets}, trusted=not params)


def _check_by_making(found: Found, params: Mapping[str, Any]) -> None:
    """Have a scraper that says which parameters it takes look at their values. Raises ConfigError."""
    if not (found.scraper.takes and params):
        return
    try:
        found.scraper(params)
    except ConfigError:
        raise
    except Exception as error:  # noqa: BLE001 - the author's mistake: the run will say it, with the line
        log.info("scraper.unmade", scraper=found.scraper.name, why=type(error).__name__)


async def begin(writing: Writing, draft: Draft, by: Asker, *, seeded: bool = False, alone: bool = True) -> int:
    """Write a run down, pending, in somebody's transaction. Raises AlreadyActive, unless it need not be `alone`."""
    if alone:
        for state in ACTIVE:
            active = await writing.row(_ACTIVE, scraper=draft.scraper, state=state)
            if active is not None:
                raise AlreadyActive(draft.scraper, active[0])
    row = await writing.row(
        _NEW,
        scraper=draft.scraper,
        ref=draft.ref,
        signature=draft.signature,
        params=rows.encode(draft.params).decode(),
        options=rows.encode(draft.options).decode(),
        reading=rows.encode(draft.reading).decode(),
        now=time.time(),
        asked_by=by.name,
        via=by.via,
        trusted=int(draft.trusted),
        seeded=int(seeded),
    )
    assert row is not None
    run: int = row[0]
    await trail.note(writing, by, "run.start", run, scraper=draft.scraper, params=draft.params, options=draft.options)
    return run


async def start(
    desk: Desk,
    found: Found,
    *,
    params: Mapping[str, Any] | None = None,
    knobs: Mapping[str, Any] | None = None,
    by: Asker,
) -> int:
    """Ask for a run of a scraper; returns its number. Raises AlreadyActive if one waits or goes on."""
    draft = await prepare(desk, found, params=params, knobs=knobs)
    async with desk.writing() as writing:
        return await begin(writing, draft, by)


async def start_all(desk: Desk, catalog: Catalog, *, by: Asker) -> dict[str, int | str]:
    """Ask for a run of every scraper: name -> the run's number, or why there is none."""
    answers: dict[str, int | str] = {}
    for name, found in catalog.scrapers.items():
        try:
            if found.scraper.paused:
                raise NotPossible(f"{name} ships paused, and runs when it is asked for by name: {found.scraper.paused}")
            answers[name] = await start(desk, found, by=by)
        except ConfigError as why:
            answers[name] = str(why)
    return answers


def check_params(params: Mapping[str, Any]) -> None:
    """Raises Refused for parameters that are no small JSON object, or that hold secrets: they are kept in clear."""
    try:
        told = msgspec.json.encode(params)
    except (TypeError, ValueError, RecursionError) as why:
        raise Refused(f"the parameters cannot be used: {why}") from None
    if len(told) > MOST_PARAMS:
        raise Refused(f"the parameters are too long: give at most {MOST_PARAMS:,} characters of JSON")
    _refuse_secrets(params)


def _refuse_secrets(params: Mapping[str, Any]) -> None:
    """Raises Refused, naming the parameter but not what it says, if one is a secret, however deep it lies."""
    instead = "parameters are kept in clear, so put it into the environment of the service and read it there"
    left: list[tuple[str, str, Any]] = [("", "", params)]
    while left:
        place, name, value = left.pop()
        if value is None or isinstance(value, bool) or value in ("", [], {}):
            continue
        if redaction.is_credential_name(name):
            raise Refused(f"the parameter {place[:80]!r} looks like a secret: {instead}")
        if isinstance(value, str) and redaction.has_login(value):
            raise Refused(f"the parameter {place[:80]!r} holds a URL with a login: {instead}")
        if isinstance(value, Mapping):
            left += [(f"{place[:80]}.{key}".lstrip("."), str(key), each) for key, each in value.items()]
        elif isinstance(value, list | tuple):
            left += [(place, "", each) for each in value]


def checked_knobs(found: Found, knobs: Mapping[str, Any]) -> dict[str, Any]:
    """Knobs that came over the network, if they may. Raises Refused, naming what may not."""
    for name, value in knobs.items():
        if name not in SAFE:
            raise Refused(f"{name[:80]!r} cannot be set from here: {', '.join(SAFE)} can; others belong in a file")
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise Refused(f"{name} = {value!r:.80} cannot be used: write a number or a text")
        if _too_fast(found, name, value):
            own = _own_pace(found)
            raise Refused(f"rate = {value!r:.40} is faster than the scraper's own {own}: only its file may say that")
    return dict(knobs)


def _own_pace(found: Found) -> Pace:
    pace: Pace = settings.read({}, own=found.scraper.knobs(), owner=found.scraper.__name__).config.rate
    return pace


def _too_fast(found: Found, name: str, value: object) -> bool:
    """Whether a pace is faster than the scraper's own. One that cannot be read is for others to refuse."""
    if name != "rate":
        return False
    try:
        return Pace.of(value).interval < _own_pace(found).interval * (1 - 1e-9)
    except ValueError:
        return False


# -- runs that exist -------------------------------------------------------------------------------------------

_FIELDS = (
    "scraper",
    "state",
    "reason",
    "verdict",
    "seeded",
    "options",
    "failed",
    "via",
    "seconds",
    "items",
    "new_items",
    "wanted",
    "cluster",
)
_RUN = f"select {', '.join(_FIELDS)} from run where id = :run"  # noqa: S608
# Who goes on after its end is innocent until it ends a process again.
_STATE = """
update run set state = :state, reason = :reason, ended = :ended, wanted = '', crashes = 0, alone = 0 where id = :run
"""
# Budgets are of one start: they count from here.
_BEGUN = "update run set begun_pages = pages, begun_items = items, options = :options where id = :run"
# Tickets of before are of no use to workers that come now. Whoever is at a lease at the same time sees to it.
_UNTICKET = """
update lease set ticket_at = null where run_id = :run
    and shard in (select shard from lease where run_id = :run and ticket_at is not null for update skip locked)
"""
_OPTIONS = "update run set options = :options where id = :run"
_WANT = "update run set wanted = :wanted where id = :run"
_WAITS = "select 1 from request where run_id = :run and state = 0 limit 1"


async def _found(writing: Writing, run_id: int) -> dict[str, Any]:
    row = await writing.row(_RUN + writing.dialect.locked, run=run_id)
    if row is None:
        raise NotFound(f"there is no run {run_id}: look at the list of runs")
    return dict(zip(_FIELDS, row, strict=True))


async def _go_on(writing: Writing, run_id: int, run: Mapping[str, Any]) -> None:
    """Have a run walked again: until its next end it counts for nothing."""
    if run["state"] in counting.ENDED:
        success, failure = counting.counts_as(run["state"], run["reason"], run["verdict"])
        names = {"seconds": run["seconds"], "items": run["items"], "new": run["new_items"]}
        await writing.run(counting.TAKE_BACK, scraper=run["scraper"], success=success, failure=failure, **names)
    options = {name: value for name, value in msgspec.json.decode(run["options"]).items() if name != PAUSED_BY}
    await writing.run(_STATE, run=run_id, state=RunState.PENDING, reason="", ended=None)
    await writing.run(_BEGUN, run=run_id, options=rows.encode(options).decode())
    if writing.dialect.shared:
        await writing.run(_UNTICKET, run=run_id)


async def cancel(desk: Desk, run_id: int, *, by: Asker) -> None:
    """Stop a run: one that waits ends now, one that goes on when its walks have ended. It can be resumed."""
    async with desk.writing() as writing:
        run = await _found(writing, run_id)
        if run["state"] == RunState.PENDING:
            await _end(writing, run_id, run, RunState.CANCELLED, "cancelled")
        elif run["state"] == RunState.RUNNING:
            await writing.run(_WANT, run=run_id, wanted="cancel")
        else:
            raise NotPossible(f"run {run_id} has ended ({run['state']}): there is nothing to cancel")
        await trail.note(writing, by, "run.cancel", run_id, scraper=run["scraper"])


async def pause_run(desk: Desk, run_id: int, *, by: Asker) -> None:
    """Have a run rest until somebody resumes it: one that waits at once, one that goes on when its walks have ended."""
    async with desk.writing() as writing:
        run = await _found(writing, run_id)
        if (run["state"], run["reason"]) == (RunState.STOPPED, "paused"):
            raise NotPossible(f"run {run_id} is paused already: resume it when it shall go on")
        if run["state"] not in ACTIVE:
            raise NotPossible(f"run {run_id} has ended ({run['state']}): there is nothing to pause")
        if run["via"] == "cli" and not run["cluster"]:
            raise NotPossible(f"run {run_id} is walked in a terminal: press Ctrl-C there, and resume it later")
        if run["wanted"] == "cancel":
            raise NotPossible(f"run {run_id} is being cancelled: resume it when it has ended")
        # A host that goes on takes runs with it that waited for it, but none that somebody paused.
        options = {**msgspec.json.decode(run["options"]), PAUSED_BY: by.name}
        await writing.run(_OPTIONS, run=run_id, options=rows.encode(options).decode())
        if run["state"] == RunState.PENDING:
            await _end(writing, run_id, run, RunState.STOPPED, "paused")
        else:
            await writing.run(_WANT, run=run_id, wanted="pause")
        await trail.note(writing, by, "run.pause", run_id, scraper=run["scraper"])


async def _end(writing: Writing, run_id: int, run: Mapping[str, Any], state: RunState, reason: str) -> None:
    """End a run that nobody walks: people did it, so it counts neither as a success nor as a failure."""
    now = time.time()
    sums = {"seconds": run["seconds"], "items": run["items"], "new": 0, "success": 0, "failure": 0}
    await writing.run(_STATE, run=run_id, state=state, reason=reason, ended=now)
    await writing.run(counting.KNOW, scraper=run["scraper"])
    await writing.run(counting.ADD, scraper=run["scraper"], run=run_id, state=state, reason=reason, now=now, **sums)


async def resume(desk: Desk, run_id: int, *, by: Asker) -> None:
    """Go on with a run that did not finish."""
    async with desk.writing() as writing:
        run = await _found(writing, run_id)
        await _may_go_on(writing, run_id, run)
        waits = await writing.row(_WAITS, run=run_id)
        if run["seeded"] and waits is None and run["verdict"] != Verdict.PENDING:
            raise NotPossible(f"run {run_id} has finished: nothing of it waits")
        await _go_on(writing, run_id, run)
        await trail.note(writing, by, "run.resume", run_id, scraper=run["scraper"])


async def _may_go_on(writing: Writing, run_id: int, run: Mapping[str, Any]) -> None:
    if run["state"] in ACTIVE and run["wanted"] in ("pause", "cancel"):
        raise NotPossible(
            f"run {run_id} is about to {'pause' if run['wanted'] == 'pause' else 'stop'}: resume it when it has ended"
        )
    if run["state"] in ACTIVE and (run["via"] != "cli" or run["cluster"]):
        raise NotPossible(f"run {run_id} is {run['state']} already")
    if run["verdict"] == Verdict.REJECTED:
        raise NotPossible(f"run {run_id} was rejected: start a new one")
    if any(word in msgspec.json.decode(run["options"]) for word in ("replay", "import")):
        raise NotPossible(f"run {run_id} is no crawl: it cannot be walked again")
    for state in ACTIVE:
        active = await writing.row(_ACTIVE, scraper=run["scraper"], state=state)
        if active is not None:
            raise AlreadyActive(run["scraper"], active[0])


async def set_priority(desk: Desk, run_id: int, priority: int, *, by: Asker) -> None:
    """Which of several runs workers take first: the highest. Heeded at once by those that look for work."""
    if not -MOST_PRIORITY <= priority <= MOST_PRIORITY:
        raise Refused(f"{priority} cannot be a priority: write a number from -{MOST_PRIORITY} to {MOST_PRIORITY}")
    async with desk.writing() as writing:
        run = await _found(writing, run_id)
        await writing.run("update run set priority = :priority where id = :run", run=run_id, priority=priority)
        await trail.note(writing, by, "run.priority", run_id, scraper=run["scraper"], priority=priority)


async def set_workers(desk: Desk, run_id: int, workers: int | None, *, by: Asker) -> None:
    """The most workers that walk a run at the same time; None: no limit. Those beyond it end their slices first."""
    if workers is not None and not 1 <= workers <= MOST_WORKERS:
        raise Refused(f"{workers} workers cannot be a limit: write a number from 1 to {MOST_WORKERS:,}, or none")
    async with desk.writing() as writing:
        run = await _found(writing, run_id)
        await writing.run("update run set workers = :workers where id = :run", run=run_id, workers=workers)
        told = "none" if workers is None else workers
        await trail.note(writing, by, "run.workers", run_id, scraper=run["scraper"], workers=told)


_REVIVE = """
update request set state = 0, not_before = 0, attempts = 0, token = null where run_id = :run and state = 3
"""
_UNCOUNT = "update run set failed = failed - :n, settled = settled - :n where id = :run"
_FAILED = "select reason, count(*) from request where run_id = :run and state = 3 group by reason"
_UNCOUNT_REASON = "update run_reason set n = n - :n where run_id = :run and reason = :reason"


async def retry_failed(desk: Desk, run_id: int, *, by: Asker) -> int:
    """Walk the URLs of a run again that failed: the same run goes on. Returns how many there are."""
    async with desk.writing() as writing:
        run = await _found(writing, run_id)
        await _may_go_on(writing, run_id, run)
        if not run["failed"]:
            raise NotPossible(f"no URL of run {run_id} failed: there is nothing to retry")
        by_reason = await writing.rows(_FAILED, run=run_id)
        for reason, n in by_reason:
            await writing.run(_UNCOUNT_REASON, run=run_id, reason=reason or "", n=n)
        revived = await writing.run(_REVIVE, run=run_id)
        await writing.run(_UNCOUNT, run=run_id, n=revived)
        await _go_on(writing, run_id, run)
        await trail.note(writing, by, "run.retry", run_id, scraper=run["scraper"], urls=revived)
        return revived


async def decide(desk: Desk, run_id: int, *, accept: bool, by: Asker) -> None:
    """Say of a suspect run whether its items come through. Done by whoever walks runs, at once."""
    async with desk.writing() as writing:
        run = await _found(writing, run_id)
        if run["verdict"] != Verdict.SUSPECT:
            told = f" but {run['verdict']}" if run["verdict"] else ""
            raise NotPossible(f"run {run_id} is not suspect{told}: nothing to decide")
        if run["state"] in ACTIVE:
            raise NotPossible(f"run {run_id} is {run['state']}: decide when it has ended")
        wanted = "accept" if accept else "reject"
        await writing.run(_WANT, run=run_id, wanted=wanted)
        await trail.note(writing, by, f"run.{wanted}", run_id, scraper=run["scraper"])


# -- deleting --------------------------------------------------------------------------------------------------

_CHILDREN = (
    'delete from "{table}" where id in (select id from "{table}" where run_id = :run limit :n)',
    ("request", "fetch", "reject", "staged", "start"),
)
_SIGHTINGS = """
delete from sighting where run_id = :run
    and item_id in (select item_id from sighting where run_id = :run limit :n)
"""
_REST = tuple(f"delete from {table} where run_id = :run" for table in ("run_reason", "lease", "profile"))  # noqa: S608
_OLD = """
select id, scraper, ended from run where state = :state and id > :after and ended < :before
    and verdict not in ('suspect', 'pending') order by id limit 500
"""
_NEWEST = """
select id from run where scraper = :scraper and state in ('finished', 'stopped', 'failed', 'cancelled')
order by id desc limit :n
"""


async def delete_run(desk: Desk, run_id: int, *, by: Asker) -> None:
    """Delete an ended run with what it knew of URLs. The items it found stay."""
    async with desk.writing() as writing:
        run = await _found(writing, run_id)
        if run["state"] in ACTIVE:
            raise NotPossible(f"run {run_id} is {run['state']}: cancel it first")
        if run["verdict"] in (Verdict.SUSPECT, Verdict.PENDING):
            raise NotPossible(f"run {run_id} holds items back: accept or reject it first")
        await trail.note(writing, by, "run.delete", run_id, scraper=run["scraper"])
    await _delete(desk, run_id)


async def _delete(desk: Desk, run_id: int) -> None:
    """In pieces, the run's own row last: who is killed half-way can delete it again."""
    pattern, tables = _CHILDREN
    for statement in (*(pattern.format(table=table) for table in tables), _SIGHTINGS):
        gone = CHUNK
        while gone >= CHUNK:
            async with desk.writing() as writing:
                gone = await writing.run(statement, run=run_id, n=CHUNK)
            await asyncio.sleep(0.001)  # lets a crawl write that waits
    async with desk.writing() as writing:
        for statement in _REST:
            await writing.run(statement, run=run_id)
        await writing.run("delete from run where id = :run", run=run_id)


async def delete_runs(desk: Desk, older_than: float, *, by: Asker) -> int:
    """Delete runs that ended more than so many seconds ago, but the newest of each scraper. Returns how many."""
    before, deleted = time.time() - older_than, 0
    kept: dict[str, set[int]] = {}
    for state in (RunState.FINISHED, RunState.STOPPED, RunState.FAILED, RunState.CANCELLED):
        after = 0
        while found := await desk.rows(_OLD, state=state, before=before, after=after):
            for run_id, scraper, _ in found:
                after = run_id
                if scraper not in kept:
                    newest = await desk.rows(_NEWEST, scraper=scraper, n=KEPT_RUNS)
                    kept[scraper] = {row[0] for row in newest}
                if run_id not in kept[scraper]:
                    await _delete(desk, run_id)
                    deleted += 1
    async with desk.writing() as writing:
        await trail.note(writing, by, "runs.delete", "", older_than=older_than, deleted=deleted)
    return deleted


# -- URLs ------------------------------------------------------------------------------------------------------

_ADD_REQUEST = """
insert into request (run_id, digest, url, host, shard, handler, extra, depth, priority, hops, found_on, state, reason)
values (:run, :digest, :url, :host, :shard, :handler, :extra, :depth, :priority, :hops, :found_on, :state, :reason)
on conflict do nothing
"""
_REQUEST = (
    "digest",
    "url",
    "host",
    "shard",
    "handler",
    "extra",
    "depth",
    "priority",
    "hops",
    "found_on",
    "state",
    "reason",
)


async def _add(writing: Writing, run_id: int, requests: Sequence[Request]) -> None:
    made = [dict(zip(_REQUEST, rows.request_row(request, 0, n), strict=True)) for n, request in enumerate(requests)]
    await writing.many(_ADD_REQUEST, [{"run": run_id, **row} for row in made])


async def submit(desk: Desk, given: Sequence[str], parser: str, *, by: Asker) -> Submitting:
    """Hand URLs in to be read with a parser: one run for all that can be used, and a verdict on each."""
    if not given:
        raise Refused("no URL was given: hand in at least one")
    if len(given) > MOST_URLS:
        raise Refused(f"{len(given):,} URLs are too many at once: hand in at most {MOST_URLS:,}")
    Declared(where="", parser=parser)  # raises ConfigError for one that is not known
    private = settings.read().config.allow_private
    verdicts, usable = await asyncio.to_thread(_look_at, given, private)
    if not usable:
        return Submitting(None, verdicts)
    found = Found(Submitted, "gossamer.crawler:Submitted")
    draft = await prepare(desk, found, params={"parser": parser})
    unique = urls.digest("submitted", uuid.uuid4().bytes)
    draft = msgspec.structs.replace(draft, signature=unique)
    async with desk.writing() as writing:
        run = await begin(writing, draft, by, seeded=True, alone=False)
        await _add(writing, run, [Request(url) for url in usable])
        await trail.note(writing, by, "urls.submit", run, urls=len(usable), refused=len(given) - len(usable))
    return Submitting(run, verdicts)


def _look_at(given: Sequence[str], private: bool) -> tuple[list[UrlAnswer], list[str]]:
    verdicts: list[UrlAnswer] = []
    usable: dict[str, None] = {}
    for text in given:
        try:
            url = checked_url(text, private=private)
        except ConfigError as why:
            verdicts.append(UrlAnswer(urls.shown(text[:500])[1:-1], ok=False, why=str(why)))
            continue
        known = url in usable
        usable[url] = None
        verdicts.append(UrlAnswer(url, ok=not known, why="it is in the batch already" if known else ""))
    return verdicts, list(usable)


def checked_url(text: str, *, private: bool = False) -> str:
    """A URL that came over the network, in its usual form. Raises Refused.

    Names are looked up when it is fetched; that one leads to a private address is found out then.
    """
    if len(text) > LONGEST_URL:
        raise Refused(f"it is longer than {LONGEST_URL:,} characters")
    if not text.lower().lstrip().startswith(("http://", "https://")):
        raise Refused("it is no URL: write one that begins with https:// or http://")
    try:
        url, login = urls.with_login(text.strip())
    except (ConfigError, ValueError):
        raise Refused("it is no URL that can be fetched") from None
    if login is not None:
        raise Refused("it holds a login: secrets do not belong in URLs")
    kind = None if private else addresses.forbidden_host(urls.hostname(url))
    if kind is not None:
        raise Refused(f"it leads to {kind}, which nobody may be sent to from here")
    return url


_KNOWN = """
select request.run_id, run.ref, run.params, run.options, run.trusted
from request join run on run.id = request.run_id where request.id = :request
"""
# As it was asked for then: with its method, its body and its handler.
_AGAIN = """
insert into request (run_id, digest, url, host, shard, handler, extra, depth, priority, hops)
select :run, digest, url, host, shard, handler, extra, 0, priority, 0 from request where id = :request
"""


async def refetch(desk: Desk, url: str, *, by: Asker) -> int:
    """Fetch a known URL again, as the newest run that knew it did, and nothing else. Returns the new run's number."""
    clean = _any_url(url)
    request = await _newest(desk, clean)
    row = await desk.row(_KNOWN, request=request) if request is not None else None
    if row is None:
        raise NotFound(f"no run knows {url[:200]}: hand it in as a new one instead")
    of, ref, params, options, trusted = row
    run_options = msgspec.json.decode(options)
    knobs = {name: value for name, value in run_options.items() if name in settings.KNOBS}
    knobs |= {"depth": 0, "revisit": "always", "drift": "off", "gone": "never"}
    found = await asyncio.to_thread(registry.load_all, ref)
    draft = runs.draft_of(runs.plan(found[0], msgspec.json.decode(params), knobs))
    draft = msgspec.structs.replace(
        draft,
        signature=urls.digest("refetch", uuid.uuid4().bytes),
        options={**draft.options, **knobs, "of": run_options.get("of", of)},
        trusted=bool(trusted),
    )
    async with desk.writing() as writing:
        run = await begin(writing, draft, by, seeded=True, alone=False)
        await writing.run(_AGAIN, run=run, request=request)
        await trail.note(writing, by, "url.refetch", clean, run=run)
    return run


def _any_url(text: str) -> str:
    try:
        return urls.with_login(text.strip()[:LONGEST_URL])[0]
    except (ConfigError, ValueError):
        raise Refused(f"{text[:200]!r} is no URL: write one that begins with https:// or http://") from None


async def _newest(desk: Desk, url: str) -> int | None:
    """The request of the newest run that knows a URL."""
    cursor: str | None = None
    for _ in range(MOST_LOOKS):
        found = await stories.why(desk, url, limit=1, cursor=cursor)
        if found.stories:
            return found.stories[0].request
        cursor = found.next
        if cursor is None:
            break
    return None


async def mark_url(desk: Desk, url: str, active: bool, *, by: Asker) -> None:
    """Say that a URL is not to be fetched any more, or that it is again."""
    clean = _any_url(url)
    digest = urls.digest(urls.comparable(clean))
    async with desk.writing() as writing:
        if active:
            await writing.run("delete from mark where digest = :digest", digest=digest)
        else:
            await writing.run(
                "insert into mark (digest, url, by, at) values (:digest, :url, :by, :at) on conflict do nothing",
                digest=digest,
                url=clean,
                by=by.name,
                at=time.time(),
            )
        await trail.note(writing, by, "url.activate" if active else "url.deactivate", clean)


# -- hosts -----------------------------------------------------------------------------------------------------

_RULE = """
insert into source (host, last_hit, ready_at, {column}, ruled_by) values (:host, 0, 0, :value, :by)
on conflict (host) do update set {column} = :value, ruled_by = :by
"""


#: The newest runs that stopped because hosts were paused, this one among them.
_STOPPED = """
select id from run where state = 'stopped' and reason = 'paused' and via <> 'cli'
    and exists (select 1 from request where run_id = run.id and host = :host and state = 0)
order by id desc limit 100
"""


async def pause_host(desk: Desk, host: str, paused: bool, *, by: Asker) -> None:
    """Leave a host alone, whatever runs want of it; or let them go on, those too that stopped because of it."""
    host = _host(host)
    async with desk.writing() as writing:
        await writing.run(_RULE.format(column="paused"), host=host, value=int(paused), by=by.name)
        await trail.note(writing, by, "source.pause" if paused else "source.resume", host)
        for (run_id,) in [] if paused else await writing.rows(_STOPPED, host=host):
            run = await _found(writing, run_id)
            if PAUSED_BY in msgspec.json.decode(run["options"]):
                continue
            try:
                await _may_go_on(writing, run_id, run)
            except NotPossible:
                continue  # a newer run of the scraper is at it
            await _go_on(writing, run_id, run)


async def set_budget(desk: Desk, host: str, pages: int | None, *, by: Asker) -> None:
    """The most pages of a host that one run walks; None: no limit. Runs heed it that begin later."""
    host = _host(host)
    if pages is not None and not 1 <= pages < 2**31:
        raise Refused(f"{pages} pages cannot be a budget: write a number from 1")
    async with desk.writing() as writing:
        await writing.run(_RULE.format(column="budget"), host=host, value=pages, by=by.name)
        await trail.note(writing, by, "source.budget", host, pages=pages)


def _host(text: str) -> str:
    """A host as the store knows it: in small letters, with a port that is not the usual one."""
    text = text.strip()
    try:
        host = urls.host(urls.absolute(f"http://{text}/")) if 0 < len(text) <= 300 else ""
    except (ConfigError, ValueError):
        host = ""
    if not host or "/" in text or "@" in text:
        raise Refused(f"{text[:100]!r} is no host: write one like example.org")
    return host


# -- scrapers --------------------------------------------------------------------------------------------------

_KNOW = "insert into scraper (name) values (:name) on conflict do nothing"
_CONFIGURE = "update scraper set enabled = :enabled, config = :config where name = :name"


async def configuration(desk: Desk, name: str) -> tuple[bool, dict[str, Any]]:
    """Whether a scraper is enabled, and the knobs that people set for it."""
    row = await desk.row(_SCRAPER, name=name)
    return (True, {}) if row is None else (bool(row[0]), msgspec.json.decode(row[1]))


async def configure(
    desk: Desk, found: Found, changes: Mapping[str, Any], *, enabled: bool | None = None, by: Asker
) -> tuple[bool, dict[str, Any]]:
    """Set knobs for a scraper (None takes one back), enable or disable it. Returns what holds then."""
    name = found.scraper.name
    given = {knob: value for knob, value in changes.items() if value is not None}
    runs.plan(found, {}, checked_knobs(found, given), prefix="")  # raises ConfigError for a value that cannot be used
    for knob in changes:
        checked_knobs(found, {knob: 1} if knob != "rate" else {})
    async with desk.writing() as writing:
        await writing.run(_KNOW, name=name)
        row = await writing.row(_SCRAPER, name=name)
        assert row is not None
        config = {**msgspec.json.decode(row[1]), **given}
        config = {knob: value for knob, value in config.items() if changes.get(knob, value) is not None}
        now_enabled = bool(row[0]) if enabled is None else enabled
        told = msgspec.json.encode(config).decode()
        await writing.run(_CONFIGURE, name=name, enabled=int(now_enabled), config=told)
        await trail.note(writing, by, "scraper.configure", name, enabled=enabled, changes=dict(changes))
    return now_enabled, config
