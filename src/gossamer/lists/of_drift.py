"""What the drift gate says of runs: why one is suspect, what it is compared with, and what is held back of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from gossamer.drift import Alarm
from gossamer.lists import paging
from gossamer.lists.of_workers import object_of
from gossamer.profiles import Profile
from gossamer.storage.desk import Desk

#: Runs before a run among which the last good one is looked for, and those of them whose profile is read.
MOST_BEFORE = 50
MOST_READ = 10
#: Records that are shown of what is held back.
MOST_HELD = 10

_ALARMS = "select run_id, alarm from profile where run_id in ({})"
_JUDGED = """
select run.scraper, run.verdict, run.params, run.options, profile.at, profile.data, profile.alarm
from run left join profile on profile.run_id = run.id where run.id = :run
"""
_BEFORE = """
select run.id, run.params, run.options from profile join run on run.id = profile.run_id
where profile.scraper = :scraper and profile.run_id < :run and run.verdict in ('learning', 'good', 'accepted')
order by profile.run_id desc limit :n
"""
_PROFILE = "select data from profile where run_id = :run"
_HELD = "select kind, key, url, data from staged where run_id = :run limit :n"
#: What makes runs of one scraper different ones, besides their parameters.
_NARROWED = ("scope", "include", "exclude", "depth")


class HeldItem(msgspec.Struct, frozen=True):
    """A record that is held back."""

    kind: str
    key: str
    url: str
    data: dict[str, Any]


class Judged(msgspec.Struct, frozen=True):
    """What the gate says of one run, beside the last good one."""

    run: int
    scraper: str
    verdict: str
    #: When it was judged; None: it was not.
    at: float | None
    profile: Profile | None
    alarm: Alarm | None
    #: The last good run before it, and what that was like.
    good: int | None
    good_profile: Profile | None
    #: Some of what it found, if that is held back.
    held: list[HeldItem]


async def alarms(desk: Desk, runs: Iterable[int]) -> dict[int, Alarm]:
    """Run -> why it is suspect, for those of some runs that are or were."""
    names = {f"r{n}": run for n, run in enumerate(runs)}
    if not names:
        return {}
    found = await desk.rows(_ALARMS.format(", ".join(f":{name}" for name in names)), **names)
    read = {run: _decoded(alarm, Alarm) for run, alarm in found if alarm}
    return {run: alarm for run, alarm in read.items() if alarm is not None}


async def judged(desk: Desk, run_id: int) -> Judged | None:
    """One run; None if there is none of this number."""
    row = await desk.row(_JUDGED, run=run_id) if 0 < run_id <= paging.TOP else None
    if row is None:
        return None
    scraper, verdict, params, options, at, data, alarm = row
    good, good_profile = await _last_good(desk, run_id, scraper, params, object_of(options))
    held = await desk.rows(_HELD, run=run_id, n=MOST_HELD)
    return Judged(
        run=run_id,
        scraper=scraper,
        verdict=verdict,
        at=at,
        profile=_decoded(data, Profile),
        alarm=_decoded(alarm, Alarm),
        good=good,
        good_profile=good_profile,
        held=[HeldItem(kind, key, url, object_of(each)) for kind, key, url, each in held],
    )


async def _last_good(
    desk: Desk, run_id: int, scraper: str, params: str, options: Mapping[str, Any]
) -> tuple[int | None, Profile | None]:
    """The newest good run before one that had the same to do, and ended with all of it done."""
    before = await desk.rows(_BEFORE, scraper=scraper, run=run_id, n=MOST_BEFORE)
    alike = [run for run, its, chosen in before if its == params and _narrowed(object_of(chosen)) == _narrowed(options)]
    for run in alike[:MOST_READ]:
        row = await desk.row(_PROFILE, run=run)
        found = _decoded(row[0], Profile) if row else None
        if found is not None and not found.partial:
            return run, found
    return None, None


def _narrowed(options: Mapping[str, Any]) -> list[Any]:
    return [options.get(name) for name in _NARROWED]


def _decoded(data: str | None, form: Any) -> Any:
    """What was written about a run; None if another version did, which knew other things."""
    try:
        return msgspec.json.decode(data, type=form) if data else None
    except msgspec.DecodeError:
        return None
