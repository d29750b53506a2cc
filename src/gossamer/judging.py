"""The drift gate at work: items are held back, runs are judged when they end, and a person has the last word."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import msgspec

from gossamer import drift, profiles
from gossamer.drift import Alarm
from gossamer.errors import ConfigError
from gossamer.profiles import Profile
from gossamer.settings import ScraperConfig
from gossamer.storage.store import Judgement, Store
from gossamer.telemetry import log
from gossamer.values import Lease, Run, RunState, Verdict

#: Items of a run that are looked at.
SAMPLE = 20_000

#: Causes that the site itself showed, also where no page could be read.
_SEEN = ("blocked", "moved")

_profile = msgspec.json.Decoder(Profile).decode
_alarm = msgspec.json.Decoder(Alarm).decode


def alarm_of(judgement: Judgement) -> Alarm | None:
    """The alarm that was written about a run."""
    return _alarm(judgement.alarm) if judgement.alarm else None


async def past(store: Store, run: Run) -> list[Profile]:
    """The profiles that a run is compared with, newest first; none if there are not enough.

    What a person accepted is the pattern from then on, whatever was before.
    """
    found: list[Profile] = []
    for each in await store.past(run.id, 5 * drift.COMPARED):
        with suppress(msgspec.ValidationError):  # another version wrote it, which knew other things
            profile = _profile(each.profile)
            found += [] if profile.partial else [profile]
        if each.verdict is Verdict.ACCEPTED:
            return found[: drift.COMPARED]
    return found[: drift.COMPARED] if len(found) >= drift.ENOUGH else []


async def hold(store: Store, lease: Lease, run: Run, config: ScraperConfig) -> None:
    """Before a run begins, or goes on: hold its items back if there are good runs to judge it by.

    Not those of a run that a person accepted. Raises StoreError for one that was rejected.
    """
    if config.drift == "quarantine" and run.verdict is not Verdict.ACCEPTED and await past(store, run):
        await store.hold(lease)


async def judge(store: Store, lease: Lease, state: RunState, reason: str, config: ScraperConfig) -> None:
    """When a run has done what it could, and before that is written down: say whether it keeps to the pattern, let
    its items through if it does, and mark what is gone. Who is killed half-way does it again."""
    run = await _known(store, lease.run)
    whole = state is RunState.FINISHED and reason == "done"
    if config.drift != "off":
        # A run that failed at its start has done all it could.
        await _judge(store, lease, run, partial=not whole and reason != "start_failed")
    if (await _known(store, run.id)).verdict is Verdict.PENDING:  # it is off, or there is nothing left to judge by
        await store.judge(lease, Verdict.GOOD, _empty(), None)
    await store.promote()
    if whole and (await _known(store, run.id)).verdict is not Verdict.SUSPECT:
        gone = await store.mark_gone(lease, config.gone)
        if gone:
            log.info("items.gone", items=gone)


async def _known(store: Store, run_id: int) -> Run:
    run = await store.run(run_id)
    assert run is not None
    return run


async def _judge(store: Store, lease: Lease, run: Run, *, partial: bool) -> None:
    known = await past(store, run)
    if not known and (not run.items or partial):
        return  # nothing to learn, and nothing to compare it with
    sample = await store.sample(run.id, SAMPLE)
    facts = await store.facts(run.id)
    # Half a second for 20,000 items: in a thread, so that other runs go on.
    profile = await asyncio.to_thread(profiles.profile, run, facts, sample, partial=partial)
    told = msgspec.json.encode(profile).decode()
    if run.verdict is Verdict.ACCEPTED:  # a person's word holds
        before = await store.judgement(run.id)
        await store.judge(lease, run.verdict, told, before.alarm if before else None)
        return
    alarm = drift.judge(profile, known) if known else None
    if alarm is not None and not run.pages and alarm.cause not in _SEEN:
        # That a site is down is told by the run's state: there is nothing to hold back, nor to decide on.
        await store.judge(lease, Verdict.NONE, _empty(), None)
        return
    if alarm is not None:
        alarm = msgspec.structs.replace(alarm, samples=await _samples(store, run, alarm, facts.barren, sample))
        log.warning("run.suspect", run=run.id, cause=alarm.cause, fields=alarm.fields, because=alarm.because)
    verdict = Verdict.SUSPECT if alarm else Verdict.GOOD if known else Verdict.LEARNING
    await store.judge(lease, verdict, told, msgspec.json.encode(alarm).decode() if alarm else None)


def _empty() -> str:
    return msgspec.json.encode(Profile(0, 0, 0, 0.0, {}, {}, {}, partial=True)).decode()


async def _samples(
    store: Store, run: Run, alarm: Alarm, barren: list[str], items: list[tuple[str, str, str]]
) -> list[str]:
    """Pages that show what is wrong: those that lack the fields, those without items, those that failed."""
    found: dict[str, None] = {}
    lacking = {(finding.kind, finding.field) for finding in alarm.findings if finding.what == "filled"}
    for kind, url, data in items:
        filled = {path for path, value in profiles.flat(msgspec.json.decode(data)) if not profiles.empty(value)}
        if any(kind == of and field not in filled for of, field in lacking):
            found[url] = None
        if len(found) >= drift.SAMPLES:
            break
    found |= dict.fromkeys(barren[: drift.SAMPLES])
    if len(found) < drift.SAMPLES:
        found |= dict.fromkeys(await _troubled(store, run))
    if len(found) < drift.SAMPLES:
        found |= dict.fromkeys(url for _, url, _ in items)
    return list(found)[: drift.SAMPLES]


async def _troubled(store: Store, run: Run) -> list[str]:
    """A few URLs of a run that did not end well."""
    found: list[str] = []
    async for page in store.pages(run.id, None):
        if page["state"] in ("failed", "skipped") or page["reason"] == "redirect":
            found.append(page["url"])
        if len(found) >= drift.SAMPLES:
            break
    return found


async def decide(store: Store, run_id: int | None, *, accept: bool) -> tuple[Run, int]:
    """Carry out what a person says of a suspect run: the newest if none is named. Returns it, and items let through.

    Raises ConfigError if it is not suspect.
    """
    left = await store.promote()  # what a killed process did not get to
    verdict = Verdict.ACCEPTED if accept else Verdict.REJECTED
    if left and run_id is not None and (known := await store.run(run_id)) and known.verdict is verdict:
        return known, left
    run = await _suspect(store, run_id)
    await store.decide(run.id, verdict)
    through = await store.promote()
    if accept:
        await _let_go(store, run)
    return run, through


async def _let_go(store: Store, run: Run) -> None:
    """Mark as gone what an accepted run did not see, if it saw all there was, and no later run has seen more."""
    later = any(each.id > run.id and each.scraper == run.scraper for each in await store.runs(1_000))
    if run.state is RunState.FINISHED and run.reason == "done" and not later:
        await store.mark_gone(run.id, run.reading.get("gone", 1))


async def _suspect(store: Store, run_id: int | None) -> Run:
    if run_id is None:
        found = [run for run in await store.runs(1_000) if run.verdict is Verdict.SUSPECT]
        if not found:
            raise ConfigError("no run is suspect: nothing to decide")
        if len(found) > 1:
            names = ", ".join(str(run.id) for run in found[:10])
            raise ConfigError(f"{len(found)} runs are suspect ({names}): say which one")
        return found[0]
    run = await store.run(run_id)
    if run is None:
        raise ConfigError(f"there is no run {run_id}: `gossamer runs` lists them")
    if run.verdict is not Verdict.SUSPECT:
        raise ConfigError(
            f"run {run_id} is not suspect{f' but {run.verdict}' if run.verdict else ''}: nothing to decide"
        )
    return run
